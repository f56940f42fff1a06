"""
---
title: Kept pages
summary: A server fills the theme's templates only for pages that have changed.
---

# Kept pages

The theme puts everything else around the HTML of a page. [A server][sidebyside.serve]
keeps what comes out of that, too.
"""

import os
from collections.abc import Iterable, Iterator
from typing import Any

from jinja2 import Environment, Template
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure import StructureItem
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink

from sidebyside.serve import Key, stamp, visible
from sidebyside.serve.rendered import key_of_all


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
