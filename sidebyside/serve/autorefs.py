"""
---
title: Autorefs
summary: How a server gets along with two plugins that make and link the reference.
---

# Autorefs

The pages of [the reference][sidebyside.reference] are filled by the plugin
mkdocstrings, and another, autorefs, turns names on all pages into links. Both expect
that each build makes everything, but in [a server][sidebyside.serve] most pages come
from an earlier build. So what they found there is kept, and handed to them again.
"""

import logging
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from logging.handlers import BufferingHandler
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from sidebyside.links import Place
from sidebyside.render import page_of_reference
from sidebyside.serve import Key


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
        self.complaints = BufferingHandler(sys.maxsize)
        self.complaints.setLevel(logging.WARNING)

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
        self.complaints.flush()
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
        if self.complaints.buffer:
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


class ListedNames:
    """
    ## What the reference does not have yet

    A page of the reference stays as it was made. Links to what its module has gained
    since then are not mistakes of the pages that have them.
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[object, set[str]]] = {}

    def admit_new(
        self,
        files: Files,
        reference: str,
        modules: Iterable[str],
        places: Mapping[str, Place],
        made: Mapping[str, object],
    ) -> None:
        """
        Args:
            files: the files of the site, with all pages.
            reference: the page of a module, with `{module}` for its name.
            modules: the names of all modules.
            places: the places of all names.
            made: what was made of each page.
        """
        pages = {
            place.page: page_of_reference(module, reference)
            for module in modules
            if (place := places.get(module))
        }
        names: defaultdict[str, set[str]] = defaultdict(set)
        for name, place in places.items():
            names[pages.get(place.page, "")].add(name)
        for uri, defined in names.items():
            file = files.get_file_from_path(uri)
            before, listed = self.known.get(uri, (None, set()))
            if made.get(uri) is not before:
                self.known[uri] = made.get(uri), defined
            elif file and file.page and file.page.present_anchor_ids is not None:
                new = defined - listed
                file.page.present_anchor_ids = file.page.present_anchor_ids | new


@contextmanager
def registered(config: MkDocsConfig) -> Iterator[list[tuple[Any, Any]]]:
    """
    ## What other plugins note

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
