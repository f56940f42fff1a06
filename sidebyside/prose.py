"""
---
title: Prose
summary: Text that remembers which line of the file it came from.
---

# Prose

What the author wrote for the reader is taken apart and put together several times on
its way to the page. Whatever turns out to be wrong on that way must be reported with
its line in the file, so each line of text carries that number along.
"""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cached_property

# A fenced block or a code span. Patterns that look for something in Markdown try this
# first, so that they never find it in code.
CODE = r"""
    ^[ >]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ >]*(?P=fence)[`~]*[ ]*$|\Z)
    | (?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)
"""


@dataclass(frozen=True)
class Prose:
    """
    ## Lines with their numbers

    Args:
        lines: each line of text, with the number of the source line it came from.
    """

    lines: tuple[tuple[int, str], ...] = ()

    @cached_property
    def text(self) -> str:
        """The prose as one text."""
        return "\n".join(text for _, text in self.lines)

    def line_at(self, offset: int) -> int:
        """
        The source line of a place in the text.

        Args:
            offset: the place, in characters from the beginning of `text`.
        """
        return self.lines[self.text.count("\n", 0, offset)][0]

    def with_text(self, text: str) -> "Prose":
        """The same lines with other words. `text` must have as many lines."""
        if text == self.text:
            return self
        texts = text.split("\n") if self.lines else []
        numbers = (number for number, _ in self.lines)
        return Prose(tuple(zip(numbers, texts, strict=True)))


def stripped(lines: Iterable[tuple[int, str]]) -> Prose:
    """Prose without blank lines at its ends."""
    kept = list(lines)
    while kept and not kept[0][1].strip():
        del kept[0]
    while kept and not kept[-1][1].strip():
        del kept[-1]
    return Prose(tuple(kept))


# What begins an item of a list, by the rule of CommonMark: an ordered list may
# interrupt a paragraph only if it starts with 1, so that a year at the start of a line
# stays text.
ITEM = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|(?P<number>\d+)[.)]) +\S")
FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")


def open_lists(prose: Prose, formulas: Container[int] = ()) -> Prose:
    """
    ## Lists without a blank line

    Python-Markdown wants a blank line before a list, and many authors, like most other
    Markdown engines, do not. This puts one there.

    Args:
        prose: any prose.
        formulas: its lines on which a [formula][sidebyside.mathematics.continued] goes
            on, counted from 0. A minus there begins no item.
    """
    done: list[tuple[int, str]] = []
    fence = ""
    in_list = False
    for index, (number, text) in enumerate(prose.lines):
        if mark := FENCE.match(text):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        item = None if fence or index in formulas else ITEM.match(text)
        if not text.strip():
            in_list = False
        elif item:
            first = item["number"] in (None, "1")
            if not in_list and first and done and done[-1][1].strip():
                done.append((number, ""))
            in_list = True
        done.append((number, text))
    return Prose(tuple(done))
