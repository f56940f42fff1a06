r"""
---
title: The Markdown extension
summary: Formulas and finished code pass through Markdown untouched.
---

# The Markdown extension

A formula is full of characters that mean something in Markdown: in $a_1 b_1$ the
underscores would become emphasis. And code that is HTML already should not be parsed
again. This extension takes both out of the text before Markdown looks at it, and
Markdown puts them back when it is done.

It works in every page of a site, whether that was made from a module or written by
hand, and in every engine that uses Python-Markdown.
"""

import re
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from sidebyside.mathematics import find, typeset

CODE = re.compile(r"^<!-- code -->\n(.*?)^<!-- /code -->$", re.DOTALL | re.MULTILINE)


class FinishedCode(Preprocessor):
    """
    ## Finished code

    The code of a row is HTML with a blank line here and there. Markdown's own search
    for HTML would crawl through every tag of it.
    """

    def run(self, lines: list[str]) -> list[str]:
        """Replace each piece of code by a placeholder."""
        store = self.md.htmlStash.store
        text = CODE.sub(lambda match: store(match[1].rstrip()), "\n".join(lines))
        return text.split("\n")


class Formulas(Preprocessor):
    """
    ## Formulas

    This runs after fenced blocks have been taken out, so a dollar in one of them is
    safe.
    """

    def run(self, lines: list[str]) -> list[str]:
        """Replace each formula by a placeholder for what KaTeX made of it."""
        text = "\n".join(lines)
        pieces: list[str] = []
        end = 0
        for formula in find(text):
            html = typeset(formula.tex, formula.display)
            pieces += [text[end : formula.start], self.md.htmlStash.store(html)]
            end = formula.stop
        return "".join([*pieces, text[end:]]).split("\n")


class SideBySideExtension(Extension):
    """
    ## The extension

    `SuperFences` and `fenced_code` take fenced blocks out at priority 25. Code must be
    gone before that, since a string in it may look like a fence; formulas may go only
    afterwards.
    """

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register both with a converter."""
        md.preprocessors.register(FinishedCode(md), "sidebyside_code", 28)
        md.preprocessors.register(Formulas(md), "sidebyside_formulas", 24)
        if "$" not in md.ESCAPED_CHARS:
            md.ESCAPED_CHARS = [*md.ESCAPED_CHARS, "$"]


def makeExtension(**options: Any) -> SideBySideExtension:  # noqa: N802
    """What Python-Markdown calls to make an extension from its name."""
    return SideBySideExtension(**options)
