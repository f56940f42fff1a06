r"""
---
title: Search
summary: How a site's search is made to lead to the sections of a page.
---

# Search

A site's search parses each page that has been made, and puts one entry for each heading
into an index. Pages of the press need two things from it. A section without a heading
must be found as well. And colours in code and parts of formulas, which make up most of
a page, must be left out: they take a long time to parse and contain no words. So search
and the reader are shown different pages.
"""

import re
from functools import partial
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page

# A row that has a title but no heading.
SECTION = re.compile(
    r'<div class="sbs-link" (?=[^>]*\bid="(?P<id>[^"]*)")'
    r'(?=[^>]*\bdata-title="(?P<title>[^"]*)")[^>]*>.*?</div>'
)
# Code, in a row or in prose, and what has no words of its own.
BLOCK = re.compile(
    r'<div class="(?:sbs-code sbs-text )?highlight"><pre>(?:<span></span>)?<code>'
    r"(?P<code>.*?)</code></pre></div>"
    r"|<sbs-math(?P<display> class=\"display\")?[ >](?P<math>.*?)</sbs-math>"
    r'|<details class="sbs-uses".*?</details>'
    r'|<a class="headerlink"[^>]*>[^<]*</a>',
    re.DOTALL,
)
LESS = 0.4  # what a section without a heading counts
# The names under which the plugin may be known.
SEARCH = ("search", "material/search")
TAG = re.compile(r"<[^>]*>")
# What a formula says to a screen reader, and what in that can't be said in a line.
SAID = re.compile(r"<semantics>(.*?)<annotation", re.DOTALL)
BUILT = re.compile(r"<(?!/|m(?:row|i|n|o|text)\b)")


def words_of(html: str) -> str:
    r"""
    ## What is shown

    Material's search leads to headings, and most sections have none. So each section
    gets one here. The text of code remains. Formulas on lines of their own go, and so
    do links that lead to the section itself or to where a name is used. A formula in a
    sentence leaves what can be written in a line, or three dots, so that the sentence
    can still be read.

    Args:
        html: a page, as it will be read.

    Returns:
        The page, as search will see it.
    """
    named = SECTION.sub(r'<h6 id="\g<id>">\g<title></h6>', html)
    return BLOCK.sub(only_words, named)


def only_words(block: re.Match[str]) -> str:
    """Code without its colours, a word for a formula, and nothing for the rest."""
    if (code := block["code"]) is not None:
        return f"<pre><code>{TAG.sub('', code)}</code></pre>"
    if block["math"] is None or block["display"]:
        return ""
    said = SAID.search(block["math"])
    return TAG.sub("", said[1]) if said and not BUILT.search(said[1]) else "…"


class Searched:
    """
    ## In its place

    The index has one method that takes a page. While it is at work, the page holds what
    search should see.

    In later builds of a server, the entries of a page that has not changed are put into
    the new index as they were, and search finds the page empty. Plugins that come after
    search find it as search would have left it.
    """

    def __init__(self) -> None:
        self.known: dict[str, tuple[Any, list[Any]]] = {}
        self.contents: dict[str, str] = {}
        self.is_known = False

    def take_part(self, config: MkDocsConfig, is_serving: bool) -> None:
        """
        Come between search and the pages of a build.

        Args:
            config: the options of the site, whose search has made its index.
            is_serving: whether other builds will follow.
        """
        index = index_of(config)
        if index is None:
            return
        add = index.add_entry_from_context
        # MkDocs' own search has a list with another name, and parses every page.
        entries: list[Any] = getattr(index, "entries", [])
        is_kept = is_serving and hasattr(index, "entries")

        def instead(page: Page) -> None:
            whole, uri = page.content or "", page.file.src_uri
            key = whole, page.url, page.title, repr(page.meta)
            before, found = self.known.get(uri, (None, []))
            self.is_known = is_kept and before == key
            if self.is_known:
                entries.extend(found)
                page.content = ""
                return
            first = len(entries)
            page.content = words_of(whole)
            try:
                add(page)
            finally:
                page.content = whole
            # Whoever searches for a word is more likely to mean a section with that
            # word in its heading than a definition with it in its name.
            named = {match["id"] for match in SECTION.finditer(whole)}
            for entry in entries[first:]:
                if entry["location"].partition("#")[2] in named:
                    entry["boost"] = entry.get("boost", 1) * LESS
            if is_kept:
                self.known[uri] = key, entries[first:]

        index.add_entry_from_context = instead
        if is_kept:
            self.come_after(config)

    def come_after(self, config: MkDocsConfig) -> None:
        """
        Give each page its content back before any other plugin looks at it.

        Args:
            config: the options of the site.
        """
        methods = config.plugins.events["page_context"]
        for place, method in enumerate(methods):
            plugin = getattr(method, "__self__", None)
            if plugin and plugin in (config.plugins.get(name) for name in SEARCH):
                methods[place] = partial(self.searched, method)

    def searched(self, search: Any, context: Any, *, page: Page, **others: Any) -> Any:
        """
        Args:
            search: what search does with a page.
            context: what templates are given.
            page: the page.
            others: what else MkDocs hands to plugins.
        """
        found = search(context, page=page, **others)
        self.give_back(page)
        return found

    def give_back(self, page: Page) -> None:
        """
        Give a page that search found empty the content that it had in the previous
        build. For any other page that search knows, keep the content for the next
        build.

        Args:
            page: a page that search is done with.
        """
        uri = page.file.src_uri
        if self.is_known:
            page.content, self.is_known = self.contents[uri], False
        elif uri in self.known:
            self.contents[uri] = page.content or ""


def index_of(config: MkDocsConfig) -> Any:
    """The index of the site's search, if it has one."""
    for name in SEARCH:
        plugin = config.plugins.get(name)
        if index := getattr(plugin, "search_index", None):
            return index
    return None
