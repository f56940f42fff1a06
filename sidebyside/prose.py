"""
---
title: Prose
summary: Text that remembers which line of the file it came from.
---

# Prose

The prose that an author writes is taken apart and put back together several times on
its way to the page. A mistake that is found on the way must be reported with its line
in the file, so each line of text carries that number with it.

Below are also the small tools that several of the next pages share. They tell where a
fence is, what begins an item of a list, and which lines are titles; and they move lines
to the right and to the left.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

# A fenced block or a code span. Patterns that look for something in Markdown try this
# first, so that they never find it in code. A backtick after a backslash begins
# neither.
CODE = r"""
    \\[\\`]
    | ^[ >]*(?P<fence>`{3,}(?![^\n]*`)|~{3,})[^\n]*\n
      .*?(?:^[ >]*(?P=fence)[`~]*[ ]*$|\Z)
    | (?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)
"""

# Lines of text, each with the number of the source line it came from.
Lines = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Prose:
    """
    ## Lines with their numbers

    Args:
        lines: each line of text, with the number of the source line it came from.
    """

    lines: Lines

    @cached_property
    def text(self) -> str:
        """The prose as one text."""
        return "\n".join([text for _, text in self.lines])

    def line_at(self, offset: int) -> int:
        """
        The source line of a place in the text.

        Args:
            offset: the place, in characters from the beginning of `text`.
        """
        return self.lines[self.text.count("\n", 0, offset)][0]

    def with_text(self, text: str) -> "Prose":
        """The same lines with other words. `text` must have just as many lines."""
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


# ## What a line begins with
#
# What begins an item of a list, by CommonMark's rule: an ordered list may interrupt a
# paragraph only if it starts with 1, so that a year at the start of a line stays text.
ITEM = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|(?P<number>\d+)[.)]) +\S")
BOX = re.compile(r" *(?:!!!|\?\?\?\+?|===) *\S")
# Other things that have text indented below them: a definition, and a footnote.
AROUND = re.compile(rf"{BOX.pattern}| *:(?: |$)| *\[\^[^\]]+\]:")
FENCE = re.compile(r"[ >]*(`{3,}(?!.*`)|~{3,})")
# An item in a list of arguments without a title: `x, y : int`.
TERM = re.compile(r"[*`\\]*\w[\w.*`\\]*(?:, [*\w.`\\]+)* : +\S")
NAME_ALONE = re.compile(r" *(?P<ticks>`{1,2})[^`]+(?P=ticks)")
# `[0]: first` after its bracket. To Markdown, and to nobody else, that defines an
# address. It fits into verbose patterns, too.
INDEX = r"-?\d+\]:[ ]*[^\s/.\#:@]+(?:\s|$)"

# The titles of lists and the like in docstrings, as authors write them, and as the page
# shows them. In Google's style a colon follows; in NumPy's, a line of dashes.
TITLES = {
    "Args": "Arguments",
    "Arguments": "Arguments",
    "Parameters": "Arguments",
    "Params": "Arguments",
    "Keyword Args": "Keyword arguments",
    "Keyword args": "Keyword arguments",
    "Keyword Arguments": "Keyword arguments",
    "Keyword arguments": "Keyword arguments",
    "Keyword Parameters": "Keyword arguments",
    "Other Args": "Other arguments",
    "Other Arguments": "Other arguments",
    "Other Parameters": "Other arguments",
    "Other Params": "Other arguments",
    "Attributes": "Attributes",
    "Exceptions": "Raises",
    "Raise": "Raises",
    "Raises": "Raises",
    "Receives": "Receives",
    "Return": "Returns",
    "Returns": "Returns",
    "Warns": "Warns",
    "Yield": "Yields",
    "Yields": "Yields",
    "See Also": "See also",
    "See also": "See also",
    "Example": "Example",
    "Examples": "Examples",
    "Methods": "Methods",
    "References": "References",
    "Shape": "Shape",
    "Usage": "Usage",
    "Caution": "Caution",
    "Hint": "Hint",
    "Important": "Important",
    "Note": "Note",
    "Notes": "Notes",
    "Tip": "Tip",
    "TODO": "To do",
    "Todo": "To do",
    "Warning": "Warning",
    "Warnings": "Warnings",
}
DASHES = re.compile(r"[-=]{3,}")
# The titles that have items below them. All others have prose.
LISTS = {
    "Arguments",
    "Attributes",
    "Keyword arguments",
    "Methods",
    "Other arguments",
    "Raises",
    "Receives",
    "Returns",
    "See also",
    "Warns",
    "Yields",
}


def open_fence(text: str, before: str) -> str:
    """
    ## Fences

    Returns:
        The marks of the fence that is open after a line; empty if none is.
    """
    mark = FENCE.match(text)
    if mark is None:
        return before
    if not before:
        return mark[1]
    return "" if mark[1].startswith(before) else before


def has_fences(lines: Iterable[tuple[int, str]]) -> bool:
    """Whether there may be a fence in some lines. Most have none."""
    text = "".join([text for _, text in lines])
    return "```" in text or "~~~" in text


def fences(lines: Sequence[tuple[int, str]]) -> list[bool]:
    """Which lines are in a fence, including those with its marks."""
    found = [False] * len(lines)
    fence = ""
    if has_fences(lines):
        for at, (_, text) in enumerate(lines):
            before, fence = fence, open_fence(text, fence)
            found[at] = bool(before or fence)
    return found


def dedented(lines: Lines) -> Lines:
    """
    ## Moving lines

    Returns:
        Lines without the indentation that they share.
    """
    margin = min((indentation(text) for _, text in lines if text), default=0)
    return tuple((number, text[margin:]) for number, text in lines)


def trimmed(lines: Lines) -> Lines:
    """Lines without the indentation that they share, or blank lines around them."""
    return dedented(stripped(lines).lines)


def moved(lines: Iterable[tuple[int, str]], deep: str) -> Lines:
    """Lines moved to the right by some blanks."""
    return tuple((number, deep + text if text else "") for number, text in lines)


def fenced(lines: Iterable[tuple[int, str]], language: str, deep: str = "") -> Lines:
    """Code in a fence that is longer than any fence inside the code."""
    lines = stripped(lines).lines
    if not lines:
        return ()
    ticks = re.findall("`{3,}", "\n".join(text for _, text in lines))
    mark = "`" * max([3, *(len(each) + 1 for each in ticks)])
    first, last = lines[0][0], lines[-1][0]
    return (
        (first, ""),
        (first, f"{deep}{mark}{language}"),
        *moved(lines, deep),
        (last, deep + mark),
        (last, ""),
    )


def within(lines: Sequence[tuple[int, str]], margin: int) -> str:
    """
    The blanks that Markdown wants in front of something that comes after these lines:
    four more than the list or box around it has. In a list of arguments or the like, it
    keeps the blanks it has: [that list][sidebyside.fields] is indented afresh later.
    """
    outer = margin
    for at in reversed(range(len(lines)) if margin else ()):
        text = lines[at][1]
        if text.strip() and indentation(text) < outer:
            outer = indentation(text)
            if is_title(text.strip()):
                return " " * margin
            if ITEM.match(text) or AROUND.match(text):
                return " " * 4 * (outer // 4 + 1)
            if not outer:
                is_field = text[0] == ":" or TERM.match(text) or is_term(lines, at)
                is_field = is_field or is_listed(lines[:at])
                return " " * margin if is_field else ""
    return ""


def leveled(lines: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """
    The same lines, with each fence moved to where Markdown sees its marks. Four blanks
    further to the right than the text around the fence, the marks would be code
    themselves.
    """
    if not has_fences(lines):
        return [*lines]
    done: list[tuple[int, str]] = []
    fence = ""
    back = 0
    for number, text in lines:
        before, fence = fence, open_fence(text, fence)
        if fence and not before:
            margin = indentation(text)
            back = margin - len(within(done, margin))
            back = back if back >= 4 else 0
        inside = before or fence
        done.append((number, text[min(back, indentation(text)) :] if inside else text))
    return done


def is_term(lines: Sequence[tuple[int, str]], at: int) -> bool:
    """
    ## Titles and terms

    Returns:
        Whether a line is only a name, with its description indented below.
    """
    text = lines[at][1]
    is_name = NAME_ALONE.fullmatch(text) and at + 1 < len(lines)
    return bool(is_name) and indentation(lines[at + 1][1]) > indentation(text)


def is_title(text: str) -> bool:
    """Whether a line is the title of a list or the like, in Google's style."""
    return text.endswith(":") and text[:-1] in TITLES


def is_listed(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether the last section in these lines is a list in NumPy's style."""
    for at in range(len(lines) - 1, 0, -1):
        if DASHES.fullmatch(lines[at][1]):
            return TITLES.get(lines[at - 1][1]) in LISTS
    return False


def indentation(text: str) -> int:
    """How many blanks a line begins with."""
    return len(text) - len(text.lstrip(" "))
