r"""
---
title: Other plugins
summary: How pages that were made from modules get through the hands of other plugins.
---

# Other plugins

A page that was made from a module passes through all the plugins of a site, as any page
does. Most of them do it good. But some carry out orders in the text, some put links
where they see two brackets, and some write a line above it. In a module, all of that is
code, or words about code.

In `mkdocs.yml`, plugins that look for pages, such as `redirects`, have to be listed
after the press, but `gen-files` before it: a page that one of its scripts opens, even
to read it, would become the module itself. `i18n` reads only pages that are files: make
these files with [`sidebyside markdown`][sidebyside.cli]. For
`git-revision-date-localized`, the page of a module is as new as the build; tell it to
`exclude` such pages.
"""

import glob
import re
from collections.abc import Iterable
from pathlib import Path

from markdown.util import ETX, STX
from mkdocs.config.defaults import MkDocsConfig

from sidebyside.guard import SIGNS
from sidebyside.marks import FIRST, marks, number_on, replaced

# In prose, what another plugin may take for an order, and what stands for the code.
ORDER = re.compile(r"\{(?=[{%#!])")
PLACE = re.compile(f"{STX}sbs-code:(\\d+){ETX}")


class Aside:
    """
    ## Only text

    To some plugins `{% include "a.txt" %}` is an order, and `[[0]]` a link, even in
    code. On a page that was made from a module they are only text. So other plugins
    find neither its code, nor braces that could be an order.
    """

    def __init__(self) -> None:
        self.number: str | None = None
        self.code: list[str] = []

    def take(self, markdown: str) -> str | None:
        """
        Args:
            markdown: a page, before any other plugin has seen it.

        Returns:
            The page that others are to see; `None` if it was not made from a module.
        """
        self.number, self.code = number_on(markdown), []
        if self.number is None:
            return None

        def set_aside(code: str) -> str:
            self.code.append(code)
            return f"{STX}sbs-code:{len(self.code) - 1}{ETX}"

        # Markdown would remove these two signs. So none in a docstring is one of ours.
        plain = markdown.replace(STX, "").replace(ETX, "")
        return ORDER.sub(SIGNS["{"], replaced(plain, "code", self.number, set_aside))

    def put_back(self, markdown: str) -> str | None:
        """
        Some plugins write something above the text. The mark of a page that was made
        from a module has to come first all the same, or [the
        guard][sidebyside.guard] would take the page for one that was written by hand.

        Args:
            markdown: the same page, after all other plugins.

        Returns:
            The page with all that was set aside; `None` if there is nothing to do.
        """
        if self.number is None:
            return None
        text = markdown.replace(SIGNS["{"], "{")
        before, first, after = text.partition(FIRST.format(self.number))
        begin, end = marks("code", self.number)
        after = PLACE.sub(lambda at: begin + self.code[int(at[1])] + end, after)
        return first + before + after if first else None


def keep_from_notebooks(config: MkDocsConfig, modules: Iterable[Path]) -> None:
    """
    ## No notebooks

    The plugin `mkdocs-jupyter` takes every Python file for a notebook, and so each
    module, and the page that was made from it.

    Args:
        config: the options of the site.
        modules: their files.
    """
    if notebooks := config.plugins.get("mkdocs-jupyter"):
        paths = {glob.escape(str(file)) for file in modules}
        ignored = notebooks.config["ignore"]
        notebooks.config["ignore"] = [*ignored, *sorted(paths - {*ignored})]
