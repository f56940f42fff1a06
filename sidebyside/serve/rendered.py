"""
---
title: Kept HTML
summary: A server turns a page's Markdown into HTML only if something in it has changed.
---

# Kept HTML

For each page, [a server][sidebyside.serve] keeps the HTML that its Markdown became, and
everything that this was made from. Other plugins note things meanwhile, such as the
anchors on a page, and begin each build without them. So these are kept as well.
"""

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from logging.handlers import BufferingHandler
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, TableOfContents

from sidebyside.serve import Key, stamp
from sidebyside.serve.autorefs import handlers_of, registered


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


def outline_like(toc: TableOfContents) -> TableOfContents:
    """A copy of an outline: other plugins add to what they find on a page."""

    def again(links: Iterable[AnchorLink]) -> list[AnchorLink]:
        copies = [copy(link) for link in links]
        for link in copies:
            link.children = again(link.children)
        return copies

    return TableOfContents(again(toc))


@contextmanager
def heard() -> Iterator[list[logging.LogRecord]]:
    """Listen to what is said about a page, such as that a link on it leads nowhere."""
    handler, log = BufferingHandler(sys.maxsize), logging.getLogger("mkdocs")
    log.addHandler(handler)
    try:
        yield handler.buffer
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
        # A page with a link to a file that is gone is rendered again.
        page.links_to_anchors = {
            files.src_uris[uri]: links for uri, links in rendered.links.items()
        }
