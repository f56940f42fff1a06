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
"""

import gc
import logging
import os
import sys
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager, suppress
from copy import copy, deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from jinja2 import BytecodeCache, Environment, FileSystemLoader, Template
from jinja2.bccache import Bucket
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure import StructureItem
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, TableOfContents
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


@dataclass(frozen=True)
class Rendered:
    """What MkDocs makes of a page's Markdown, and what other plugins note about it."""

    said: Sequence[logging.LogRecord]
    registered: Sequence[tuple[Any, Any]]
    handlers: Sequence[str]
    content: str | None
    toc: TableOfContents
    title: str | None
    anchors: set[str] | None
    links: dict[str, dict[str, str]] | None


class AskedFiles(Files):
    """
    ## Which files a page asked for

    MkDocs looks up what each link and each picture leads to. A page with links to three
    files need not be made again when an author adds a fourth to the site.

    Args:
        files: the files of the site.
    """

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.answers: dict[str, Key] = {}

    def get_file_from_path(self, path: str) -> File | None:
        """Answer, and note the answer."""
        file = super().get_file_from_path(path)
        self.answers[path] = known_of(file)
        return file


def known_of(file: File | None) -> Key:
    """What a link to a file depends on."""
    return () if file is None else (file.src_uri, file.dest_uri, file.inclusion)


class RenderedPages:
    """
    ## Rendered pages

    Turning Markdown into HTML is the longest step in making a page. The page comes out
    the same if what it is made from is the same: its Markdown, the options, and the
    files that it links to.
    """

    def __init__(self) -> None:
        self.rendered: dict[str, tuple[Key, dict[str, Key], Rendered]] = {}
        self.site: tuple[Files | None, Key] = None, ()

    def remember(self, page: Page, is_module: bool) -> None:
        """
        Have a page take its HTML from the previous build, if it can, or else keep it
        for the next.

        Args:
            page: a page that is about to be rendered.
            is_module: whether it is made from a module.
        """
        render = page.render

        def from_memory(config: MkDocsConfig, files: Files) -> None:
            uri = page.file.src_uri
            if self.site[0] is not files:
                self.site = files, key_of_site(config)
            # With this a page depends on files that only Snippets knows, and another
            # plugin may have put it there. On a module's page it is only text.
            shows_others = not is_module and SNIPPET in (page.markdown or "")
            # And this puts pictures themselves on the page.
            if shows_others or "pymdownx.b64" in config.markdown_extensions:
                render(config, files)
                return
            # All that a page's HTML depends on.
            key = self.site[1], repr(page.meta), page.markdown
            before, answers, rendered = self.rendered.get(uri, ((), {}, None))
            is_same = before == key and all(
                known_of(files.get_file_from_path(path)) == was
                for path, was in answers.items()
            )
            if is_same and rendered:
                restore(page, rendered, config, files)
            else:
                asked = AskedFiles(files)
                with registered(config) as anchors, heard() as said:
                    render(config, asked)
                rendered = rendering_of(page, config, anchors, said)
                self.rendered[uri] = key, asked.answers, rendered

        page.render = from_memory  # type: ignore[method-assign]


class ResolvedReferences:
    """
    ## Resolved references

    When all pages are there, the plugin autorefs goes through them and turns what
    refers to other pages into links. It parses each reference to do so, and the pages
    of mkdocstrings have thousands. A page comes out the same while it is the same, and
    while all anchors are where they were.
    """

    def __init__(self) -> None:
        self.resolved: dict[str, tuple[Key, str]] = {}
        self.waiting: dict[str, Key] = {}
        self.aside: dict[str, str] = {}
        self.anchors: Key = ()
        self.complaints = Heard(logging.WARNING)

    def before(self, config: MkDocsConfig, files: Files) -> None:
        """
        Have autorefs find nothing on pages without references, or with known ones.

        Args:
            config: the options of the site.
            files: its files, with all pages.
        """
        self.waiting, self.aside = {}, {}
        pages = [file.page for file in files if file.page and file.page.content]
        anchors = anchors_of(config)
        # Backlinks are known to autorefs only once it has gone through all pages.
        if not anchors or any("<backlinks" in (page.content or "") for page in pages):
            return
        if anchors != self.anchors:
            self.resolved = {}
        self.anchors = anchors
        for page in pages:
            uri, content = page.file.src_uri, page.content or ""
            key = content, page.url
            before, resolved = self.resolved.get(uri, ((), ""))
            if "autoref" not in content:
                self.aside[uri] = content
            elif before == key:
                self.aside[uri] = resolved
            else:
                self.waiting[uri] = key
                continue
            page.content = ""
        self.complaints.said.clear()
        logging.getLogger("mkdocs.plugins").addHandler(self.complaints)

    def after(self, files: Files) -> None:
        """
        Give the pages that were set aside their content back, and keep that of the
        others, which has its links now.

        Args:
            files: the files of the site.
        """
        logging.getLogger("mkdocs.plugins").removeHandler(self.complaints)
        for file in files:
            if file.page is None:
                continue
            if (content := self.aside.pop(file.src_uri, None)) is not None:
                file.page.content = content
            elif key := self.waiting.pop(file.src_uri, None):
                self.resolved[file.src_uri] = key, file.page.content or ""
        # A link that leads nowhere must be reported in each build, so nothing is kept.
        if self.complaints.said:
            self.resolved = {}


def anchors_of(config: MkDocsConfig) -> Key:
    """All anchors that autorefs knows of, and what they are called."""
    autorefs: Any = config.plugins.get("autorefs")
    if autorefs is None:
        return ()
    names = ("_primary_url_map", "_secondary_url_map", "_abs_url_map", "_title_map")
    maps = [getattr(autorefs, name, {}) for name in names]
    # How it makes links depends on features of the theme as well.
    ways = ("_link_titles", "_strip_title_tags")
    return (
        repr(autorefs.config),
        *(getattr(autorefs, name, None) for name in ways),
        *({name: str(where) for name, where in each.items()} for each in maps),
    )


class FilledTemplates:
    """
    ## Filled templates

    The theme's templates are filled for every page, and each page has the navigation in
    it. A page comes out the same if everything that a template may look at is the same:
    what is on the page, the titles of all pages, the options, and the templates
    themselves.

    !!! warning "Templates that show other pages"

        If a template of yours shows the text or the outline of other pages, it shows
        what they were when this page was last filled.
    """

    def __init__(self) -> None:
        self.filled: dict[str, tuple[Key, str]] = {}
        self.site: tuple[Navigation | None, Key] = None, ()

    def remember(
        self, template: Template, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """
        Have a page take its text from the previous build, if it can, or else keep it
        for the next.

        Args:
            template: the page's template, which is about to be filled.
            page: the page.
            config: the options of the site.
            nav: its navigation, with all its pages.
        """

        def from_memory(context: dict[str, Any]) -> str:
            # Something that another plugin has added may differ in ways unknown here.
            if not (context.keys() <= CONTEXT and vars(page).keys() <= ON_PAGES):
                return Template.render(template, context)
            if self.site[0] is not nav:
                pages = [file.page for file in context["pages"] if file.page]
                key = key_of_theme(config, nav, pages, template.environment)
                self.site = nav, key
            uri = page.file.src_uri
            key = key_of_filled(page, self.site[1])
            before, text = self.filled.get(uri, ((), ""))
            if before != key:
                text = Template.render(template, context)
                self.filled[uri] = key, text
            return text

        template.render = from_memory  # type: ignore[method-assign]


# What MkDocs gives to templates.
CONTEXT = {
    *("base_url", "build_date_utc", "config", "extra_css", "extra_javascript"),
    *("mkdocs_version", "nav", "page", "pages"),
}
# What MkDocs puts on a page, and what the code above puts there to make it sooner.
ON_PAGES = {
    *("abs_url", "canonical_url", "children", "content", "edit_url", "file"),
    *("links_to_anchors", "markdown", "meta", "next_page", "parent"),
    *("present_anchor_ids", "previous_page", "title", "toc", "update_date"),
    *("_Page__active", "_title_from_render", "read_source", "render"),
}


def key_of_theme(
    config: MkDocsConfig, nav: Navigation, pages: Iterable[Page], env: Environment
) -> Key:
    """What the templates of all pages depend on."""

    def outline(items: Iterable[StructureItem]) -> list[Any]:
        return [
            (x.title, getattr(x, "url", ""), outline(getattr(x, "children", ()) or ()))
            for x in items
        ]

    options = {name: value for name, value in config.items() if name not in OBJECTS}
    known = env.globals.items()
    return (
        repr(options),
        *key_of_all(config),
        repr({name: value for name, value in known if not callable(value)}),
        repr(outline(nav.items)),
        # The page of a mistake comes first, and that changes no other.
        sorted((page.url, repr((page.title, page.meta))) for page in pages),
        *stamps(config.theme.dirs, config.theme.custom_dir),
    )


# Options that are objects, and different ones in each build.
OBJECTS = {"plugins", "markdown_extensions", "hooks"}


def stamps(folders: Iterable[str], own: str | None) -> Iterator[Key]:
    """
    The [stamp][] of each template in some folders. A site's own templates may include,
    say, a drawing from its assets.
    """
    for folder in folders:
        for name in visible([folder]):
            if folder == own or not name.startswith("assets/"):
                yield stamp(os.path.join(folder, name))


def stamp(path: str) -> Key:
    """Which file it is, when it was written, and how long it is."""
    status = os.stat(path)
    return path, status.st_ino, status.st_mtime_ns, status.st_size


def key_of_filled(page: Page, site: Key) -> Key:
    """All that the text of a page depends on, including what is the same for all."""

    def outline(links: Iterable[AnchorLink]) -> list[Any]:
        return [(x.title, x.id, x.level, outline(x.children)) for x in links]

    there = (page.title, page.url, page.canonical_url, page.edit_url, page.meta)
    beside = (page.previous_page, page.next_page)
    others = tuple(each and (each.title, each.url) for each in beside)
    return (
        *(site, page.content, page.markdown),
        *(repr(there), repr(others), repr(outline(page.toc))),
    )


def key_of_site(config: MkDocsConfig) -> Key:
    """What the HTML of all pages depends on."""
    # A plugin's Markdown extension is a different object in each build.
    extensions: list[Any] = config.markdown_extensions
    return (
        *(e if isinstance(e, str) else repr(type(e)) for e in extensions),
        repr((config.mdx_configs, config.use_directory_urls, config.validation)),
        *key_of_all(config),
        *map(stamp, appended(config)),
        # What these show in turn is known only to the extension.
        *(object() for path in appended(config) if shows_files(path)),
    )


def key_of_all(config: MkDocsConfig) -> Key:
    """What both depend on: the options of plugins such as mkdocstrings, and icons."""
    # A hook is a plugin without options.
    options = (getattr(plugin, "config", None) for plugin in config.plugins.values())
    return *map(repr, options), *map(stamp, own_icons(config))


def appended(config: MkDocsConfig) -> Iterator[str]:
    """The files that Snippets appends to each page, such as a glossary."""
    options = config.mdx_configs.get("pymdownx.snippets", {})
    folders = options.get("base_path", ["."])
    for each in [folders] if isinstance(folders, str) else folders:
        folder = os.path.dirname(each) if os.path.isfile(each) else each
        # Lines or a section may be named after a colon.
        names = (name.partition(":")[0] for name in options.get("auto_append", []))
        paths = (os.path.join(folder, name) for name in names)
        yield from filter(os.path.isfile, paths)


SNIPPET = "-8<-"


def shows_files(path: str) -> bool:
    """Whether Snippets might find something to show in a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return SNIPPET in file.read()


def own_icons(config: MkDocsConfig) -> list[str]:
    """The icons of the site, which are in hidden folders."""
    options = config.mdx_configs.get("pymdownx.emoji", {}).get("options", {})
    folders = [*options.get("custom_icons", [])]
    if config.theme.custom_dir:
        folders.append(os.path.join(config.theme.custom_dir, ".icons"))
    return sorted(
        os.path.join(path, name)
        for folder in folders
        for path, _, names in os.walk(folder)
        for name in names
    )


@contextmanager
def registered(config: MkDocsConfig) -> Iterator[list[tuple[Any, Any]]]:
    """
    Note what is registered with the plugin autorefs while a page is rendered: anchors
    on it to which other pages can refer. In each build the plugin starts without any.
    """
    anchors: list[tuple[Any, Any]] = []
    autorefs: Any = config.plugins.get("autorefs")
    if autorefs is None:
        yield anchors
        return
    register = autorefs.register_anchor

    def register_anchor(page: Page, *args: Any, **options: Any) -> None:
        anchors.append((args, options))
        register(page, *args, **options)

    autorefs.register_anchor = register_anchor
    try:
        yield anchors
    finally:
        del autorefs.register_anchor


def outline_like(toc: TableOfContents) -> TableOfContents:
    """A copy of an outline: other plugins add to what they find on a page."""

    def again(links: Iterable[AnchorLink]) -> list[AnchorLink]:
        copies = [copy(link) for link in links]
        for link in copies:
            link.children = again(link.children)
        return copies

    return TableOfContents(again(toc))


def handlers_of(config: MkDocsConfig) -> Any:
    """
    What the plugin mkdocstrings has for each language that it has met, if the site has
    it. In each build it starts without any, and writes styles for those that it has.
    """
    plugin: Any = config.plugins.get("mkdocstrings")
    return plugin.handlers if plugin and plugin.plugin_enabled else None


def forget_reference(config: MkDocsConfig) -> None:
    """
    ## What would never be forgotten

    A function of mkdocstrings remembers for each template whether there is one, and
    with it the environment that it is in. Through that it holds all pages of the build
    that made a page of the reference. And griffe, which reads the modules for it,
    remembers the fields of each dataclass, and so all modules around it. A server would
    keep each such build for ever.

    Args:
        config: the options of the site, all of whose pages have been rendered.
    """
    handlers = handlers_of(config)
    for handler in handlers.seen_handlers if handlers else ():
        for test in handler.env.tests.values():
            if hasattr(test, "cache_clear"):
                test.cache_clear()
    griffe = sys.modules.get("griffe._internal.extensions.dataclasses")
    fields: Any = getattr(griffe, "_dataclass_parameters", None)
    if hasattr(fields, "cache_clear"):
        fields.cache_clear()


class Heard(logging.Handler):
    """What was said."""

    def __init__(self, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self.said: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.said.append(record)


@contextmanager
def heard() -> Iterator[list[logging.LogRecord]]:
    """Listen to what is said about a page, such as that a link on it leads nowhere."""
    handler, log = Heard(), logging.getLogger("mkdocs")
    log.addHandler(handler)
    try:
        yield handler.said
    finally:
        log.removeHandler(handler)


def rendering_of(
    page: Page,
    config: MkDocsConfig,
    anchors: Sequence[tuple[Any, Any]],
    said: Sequence[logging.LogRecord],
) -> Rendered:
    """What rendering has left on a page."""
    links = page.links_to_anchors
    handlers = handlers_of(config)
    return Rendered(
        said,
        anchors,
        [handler.name for handler in handlers.seen_handlers] if handlers else [],
        page.content,
        outline_like(page.toc),
        page._title_from_render,
        page.present_anchor_ids,
        None if links is None else {file.src_uri: to for file, to in links.items()},
    )


def restore(page: Page, rendered: Rendered, config: MkDocsConfig, files: Files) -> None:
    """
    Put on a page what its rendering left there in an earlier build. Links lead to the
    files of this build.
    """
    for record in rendered.said:
        logging.getLogger(record.name).handle(record)
    autorefs: Any = config.plugins.get("autorefs")
    for args, options in rendered.registered:
        autorefs.register_anchor(page, *args, **options)
    for name in rendered.handlers:
        handlers_of(config).get_handler(name)
    page.content = rendered.content
    page.toc = outline_like(rendered.toc)
    page._title_from_render = rendered.title
    page.present_anchor_ids = rendered.anchors
    if rendered.links is not None:
        targets: dict[File, dict[str, str]] = {}
        for uri, links in rendered.links.items():
            if file := files.get_file_from_path(uri):
                targets[file] = links
        page.links_to_anchors = targets
