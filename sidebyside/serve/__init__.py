"""
---
title: Serving
summary: How a saved change reaches its page within a second.
---

# Serving

An author saves a module, and looks at the page. In between comes a complete build:
MkDocs has no other kind that leaves all links right. So that it does not feel like one,
whatever has not changed since the previous build is not made again, and the server
looks at its files more often.

An earlier build is used only while an author is at work. A build that is published
starts from scratch.

What is kept of a page has pages of its own: [its HTML][sidebyside.serve.rendered],
[what the theme puts around it][sidebyside.serve.filled], and [the links that lead to
the reference][sidebyside.serve.autorefs].
"""

import gc
import logging
import os
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar

from jinja2 import BytecodeCache, Environment, FileSystemLoader
from jinja2.bccache import Bucket
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page
from mkdocs.theme import Theme
from mkdocs.utils import write_file
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingEmitter

# Everything that a result depends on. While that is the same, nothing is made again.
Key = tuple[Any, ...]

# How often the server looks for changes, and how long it waits for more, in seconds.
LOOK_EVERY = 0.1
WAIT_FOR_MORE = 0.02


class Patient(PollingEmitter):
    """
    ## A folder that comes back

    Switching to a branch without a package, and back, takes its folder away for a
    moment. Watchdog's own emitter would stop looking for good then. This one waits for
    the folder.

    It does not look during a build either, which would get slower. Whatever changes
    then is found right after.
    """

    is_building: ClassVar[bool] = False

    def queue_events(self, timeout: float) -> None:
        """Look for changes, if there is anything to look at, and time to do so."""
        has_stopped = self.stopped_event.wait(timeout)
        if not (has_stopped or Patient.is_building) and os.path.exists(self.watch.path):
            super().queue_events(0)


def look_often(server: LiveReloadServer) -> None:
    """
    ## Looking more often

    MkDocs looks at its files twice a second and then waits for another tenth. A book
    has a few hundred files, which can be looked at in milliseconds.

    Args:
        server: a server that has not been started.
    """
    # One that two plugins watch is there twice.
    watched = [
        path for path, times in server._watched_paths.items() for _ in range(times)
    ]
    for path in watched:
        server.unwatch(path)
    observer = BaseObserver(Patient, timeout=LOOK_EVERY)
    server.observer = observer  # type: ignore[assignment]
    server.build_delay = WAIT_FOR_MORE
    for path in watched:
        server.watch(path)


def keep_what_is_there() -> None:
    """
    ## Garbage

    What the first build leaves behind will be there as long as the server is: its
    modules and the pages that it keeps. Python's collector need not go through it in
    every later build.

    What a later build makes is garbage when the next begins, but by then it counts as
    old, and the collector seldom looks at what is old: in this book it would wait for
    two hundred builds, and half a gigabyte. So from here on it looks after sixteen or
    so.
    """
    gc.collect()
    gc.freeze()
    # It waits until there is a quarter as much again as it has last seen. What is
    # frozen should not count.
    gc.collect()
    gc.set_threshold(gc.get_threshold()[0], 3, 2)


class CompiledTemplates(BytecodeCache):
    """
    ## Compiled templates

    Jinja compiles each template of the theme to Python, and MkDocs makes it start again
    in each build. Jinja itself notices if a template has changed.
    """

    def __init__(self) -> None:
        self.compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, if there is something for it."""
        if bucket.key in self.compiled:
            bucket.bytecode_from_string(self.compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what is in the bucket."""
        self.compiled[bucket.key] = bucket.bytecode_to_string()


def skip_hidden(theme: Theme) -> None:
    """
    ## Fewer files of the theme

    In each build MkDocs lists all files of the theme, and drops those that are hidden:
    in Material, fourteen thousand icons. Here those are not listed.

    Args:
        theme: the theme of a build that is about to begin.
    """
    get_env = theme.get_env

    def with_fewer() -> Environment:
        env = get_env()
        loader = env.loader
        assert isinstance(loader, FileSystemLoader)
        fewer = partial(visible, loader.searchpath)
        loader.list_templates = fewer  # type: ignore[method-assign]
        return env

    theme.get_env = with_fewer  # type: ignore[method-assign]


def visible(folders: Iterable[str]) -> list[str]:
    """The files in some folders, without those in hidden ones."""
    found: set[str] = set()
    for folder in folders:
        for path, inside, names in os.walk(folder):
            inside[:] = [name for name in inside if not name.startswith(".")]
            here = os.path.relpath(path, folder).replace(os.sep, "/")
            found.update(names if here == "." else (f"{here}/{n}" for n in names))
    return sorted(found)


class KeptFiles:
    """
    ## Kept files

    In each build MkDocs empties the folder of the site, copies all pictures, films and
    styles into it, and writes all pages. Here each file gets a second name in a hidden
    folder of the site, which MkDocs leaves alone. While the file is the same, it only
    needs its first name back.
    """

    def __init__(self) -> None:
        self.known: dict[str, Key] = {}
        self.unsaid: set[str] = set()

    def remember(self, file: File) -> None:
        """
        Have a file come from the previous build, if it can, or else keep it for the
        next.

        Args:
            file: a file that is about to be copied.
        """
        copy_file = file.copy_file

        def from_memory(dirty: bool = False) -> None:
            content = file._content
            source = stamp(str(file.abs_src_path)) if content is None else content
            self.put(file, source, partial(copy_file, dirty))

        file.copy_file = from_memory  # type: ignore[method-assign]

    def write(self, output: str, file: File) -> str:
        """
        Write a page, or have it come from the previous build.

        Args:
            output: the whole page.
            file: its file.

        Returns:
            What is left for MkDocs to write: nothing, or a page that is blank anyway.
        """
        skipped = SKIPPED.format(file.src_uri)
        if not output.strip():
            self.unsaid.discard(skipped)
            return output

        def write() -> None:
            content = output.encode("utf-8", errors="xmlcharrefreplace")
            write_file(content, file.abs_dest_path)

        self.put(file, output, write)
        self.unsaid.add(skipped)
        return ""

    def path_of(self, file: File) -> str:
        """The second name of a file."""
        return os.path.join(str(file.dest_dir), KEPT, file.dest_uri)

    def put(self, file: File, content: object, write: Callable[[], None]) -> None:
        """
        Give a file its first name back, if it is the same, or else write it.

        Args:
            file: a file of the site.
            content: everything that it is made from.
            write: makes it.
        """
        path = file.abs_dest_path
        kept = self.path_of(file)
        # Another plugin may have written into the file, and so changed it under both
        # names. So the time when it was written is compared, too.
        with suppress(OSError):
            if self.known.get(kept) == (content, stamp(kept)):
                name_too(kept, path)
                return
        write()
        # Not all file systems can give a file two names.
        with suppress(OSError):
            name_too(path, kept)
            self.known[kept] = content, stamp(kept)

    def is_to_be_said(self, record: logging.LogRecord) -> bool:
        """
        Whether a message should be shown. MkDocs would say of each page that was
        written here that it is empty.
        """
        return record.msg not in self.unsaid


KEPT = ".sidebyside"
SKIPPED = "Page skipped: '{}'. Generated empty output."


def name_too(path: str, name: str) -> None:
    """Give a file a second name, and take that name from any other."""
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with suppress(FileNotFoundError):
        os.unlink(name)
    os.link(path, name)


def stamp(path: str) -> Key:
    """Which file it is, when it was written, and how long it is."""
    status = os.stat(path)
    return path, status.st_ino, status.st_mtime_ns, status.st_size


class ReadPages:
    """
    ## Front matter

    Each page begins with a few lines of YAML, which take time to read.
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, str, MutableMapping[str, Any]]] = {}

    def remember(self, page: Page) -> None:
        """
        Have a page take its front matter from the previous build, if it can, or else
        keep it for the next.

        Args:
            page: a page that is about to be read, from memory.
        """
        read_source, uri = page.read_source, page.file.src_uri

        def from_memory(config: MkDocsConfig) -> None:
            source = page.file.content_string
            before, markdown, meta = self.known.get(uri, ("", "", {}))
            if before == source:
                page.markdown, page.meta = markdown, deepcopy(meta)
            else:
                read_source(config)
                self.known[uri] = source, page.markdown or "", deepcopy(page.meta)

        page.read_source = from_memory  # type: ignore[method-assign]
