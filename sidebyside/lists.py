"""
---
title: Lists and tables
summary: Lists, tables and lines with labels, as people write them in comments.
---

# Lists and tables

In comments and docstrings, people write lists as they would in a letter: right below
the sentence that announces them, and indented by as much as looks right.
Python-Markdown would run such a list into the sentence. This page changes little,
mostly blank lines and indentation, so that it becomes the list that its author meant.

[Lists of arguments][sidebyside.fields] have been set by then. All others are set here.
"""

import re
from collections.abc import Container
from itertools import pairwise

from sidebyside.prose import (
    AROUND,
    BOX,
    ITEM,
    Prose,
    fences,
    indentation,
    open_fence,
)

ITEMS = re.compile(f"^{ITEM.pattern}", re.MULTILINE)
# The line below the head of a table.
COLUMNS = re.compile(r"^ *\|(?: *:?-+:? *\|)+ *$", re.MULTILINE)


def open_lists(prose: Prose, formulas: Container[int] = ()) -> Prose:
    """
    ## Lists without a blank line

    Python-Markdown wants a blank line before a list; many authors, like most other
    Markdown engines, do not. This function puts one there, and also where numbers
    follow bullets. And an item written `1)`, which Python-Markdown does not know
    either, gets a dot.

    Python-Markdown also wants four blanks in front of anything nested in an item.
    Others are content with as many as there are in front of the text of the item. Where
    an author has written only these, they become four. Anything with four more in front
    of it than the text around it is code, but authors like to indent their lists: such
    a list is moved back to where that text begins.

    After a blank line, anything nested takes all lines up to the next blank one. So a
    blank line is put in front of an item that continues the outer list.

    Args:
        prose: any prose.
        formulas: its lines that continue a [formula][sidebyside.mathematics.continued],
            counted from 0. A minus there does not begin an item.
    """
    if not ITEMS.search(prose.text):
        return prose
    done: list[tuple[int, str]] = []
    fence = ""
    in_list = False
    kinds: dict[str, bool] = {}  # for each indentation, whether its items have numbers
    nest = Nest()
    deep = column = nested = 0
    for index, (number, line) in enumerate(prose.lines):
        text = line
        around, fence = fence, open_fence(text, fence)
        item = None if fence or index in formulas else ITEM.match(text)
        is_code = bool(item) and nest.in_code(text)
        year = item and in_list and not is_code and is_year(item, column, kinds)
        if is_code or year:
            item = None
        text = re.sub(r"\d(?=[.)])", r"\g<0>\\", text, count=1) if year else text
        if not text.strip():
            in_list = False
        elif item:
            indent, is_number = item["indent"], bool(item["number"])
            kinds = {each: kinds[each] for each in kinds if len(each) <= len(indent)}
            before = kinds.get(indent)
            begins = not in_list or before is (not is_number)
            above = done[-1][1].rstrip() if done else ""
            # A sentence may go on with a zero. So a list may begin with one only below
            # a blank line or a colon.
            first = item["number"] in (None, "1") or (
                item["number"] == "0" and above[-1:] in ("", ":")
            )
            if begins and first and done and done[-1][1].strip():
                done.append((number, ""))
            if item["mark"].endswith(")") and (first or before is is_number):
                text = f"{indent}{item['number']}.{text[item.end('mark') :]}"
            in_list = True
            column = len(indent)
            kinds[indent] = is_number
        if text and not around:
            # What goes on with the text of an item need not be moved to the right.
            goes_on = in_list and not (item or fence)
            begins = not (done and done[-1][1].strip())
            if not goes_on:
                deep = nest.deep(line, item, begins)
            elif deep > 0 or indentation(text) < column:
                deep = 0
        back = min(-deep, indentation(text))
        made = " " * deep + text[max(back, 0) :] if text else ""
        is_behind = bool(done and done[-1][1].strip())
        if item and is_behind and indentation(made) // 4 < nested:
            done.append((number, ""))
            is_behind = False
        if not is_behind:
            nested = indentation(made) // 4
        done.append((number, made))
    return Prose(tuple(done))


# What a line may begin with that is one of several, though it has no bullet: a few
# words with a colon, a dash or an arrow behind them, a number or a letter in brackets,
# or the option of a program.
LABEL = re.compile(
    r" *+(?:[\w.`'\"(*][\w.`'\"()*-]*(?: [\w.`'\"*]++){0,2}+ *+(?P<sign>:|--?|[-=]>)"
    r" +\S|(?P<bracket>\(?(?:\d{1,2}|[a-z])\)) +\S|(?P<option>--?)\w[\w-]*,? +\S)"
)


def keep_lines(prose: Prose) -> Prose:
    """
    ## Lines with labels

    To Markdown, the lines of a paragraph are one text. But where each begins with a
    label, `seed: the seed` or `(1) sample`, its author meant a list, and each stays a
    line. All must have the same sign behind the label: two lines of a sentence rarely
    do. The first may announce the others, and those that are indented further go on
    with the one above.

    Args:
        prose: any prose, with blank lines around its lists.
    """
    lines = prose.lines
    marks = [
        mark if (mark := LABEL.match(line)) and not ITEM.match(line) else None
        for _, line in lines
    ]
    if not any(above and below for above, below in pairwise(marks)):
        return prose
    done = list(lines)
    is_code = fences(lines)
    ends = [at for at, (_, line) in enumerate(lines) if is_code[at] or not line.strip()]
    for before, end in pairwise([-1, *ends, len(lines)]):
        begin = before + 1
        first = begin + (begin < end and lines[begin][1].endswith(":"))
        margin = indentation(lines[first][1]) if first < end else 0
        heads = [n for n in range(first, end) if indentation(lines[n][1]) <= margin]
        labels = [marks[n] for n in heads]
        signs = {label and (label.lastgroup, label["sign"]) for label in labels}
        if len(heads) > 1 and len(signs) == 1 and None not in signs:
            for head in heads[first == begin :]:
                number, text = done[head - 1]
                done[head - 1] = number, f"{text.rstrip()}  "
    return Prose(tuple(done))


def is_year(item: re.Match[str], column: int, kinds: Container[str]) -> bool:
    """
    ## Numbers that begin no item

    Whether a number in the text of an item, such as a year, is part of that text. A
    nested list would begin with 1.

    Args:
        item: a line that may be an item.
        column: where the item above it begins.
        kinds: the indentations of all lists that are open.
    """
    indent = item["indent"]
    begins = item["number"] in (None, "1")
    return not begins and len(indent) > column and indent not in kinds


def open_tables(prose: Prose) -> Prose:
    """
    ## Tables without a blank line

    Tables are like lists: text directly above one keeps it from being a table.

    Args:
        prose: any prose.
    """
    if "|" not in prose.text or not COLUMNS.search(prose.text):
        return prose
    done: list[tuple[int, str]] = []
    is_code = fences(prose.lines)
    for at, (number, text) in enumerate(prose.lines):
        below = prose.lines[at + 1][1] if at + 1 < len(prose.lines) else ""
        is_head = text.lstrip().startswith("|") and COLUMNS.fullmatch(below)
        above = done[-1][1] if done else ""
        is_words = bool(above) and not above.lstrip().startswith("|")
        is_below = indentation(above) <= indentation(text)
        if is_head and is_words and is_below and not is_code[at]:
            done.append((number, ""))
        done.append((number, text))
    return Prose(tuple(done))


class Nest:
    """
    ## Nested lists

    What a line may be nested in. `open` holds the items that are open, and boxes that
    were moved with them: for each, its column, that of its text, how far it was moved,
    and the column at which anything nested in it has to begin. `around` holds the boxes
    and the like around all these, each as the column of its contents.
    """

    def __init__(self) -> None:
        self.open: list[tuple[int, int, int, int]] = []
        self.around = [0]
        self.code: int | None = None  # its column, if code is only indented

    def in_code(self, text: str) -> bool:
        """Whether a line continues code that is only indented."""
        return self.code is not None and indentation(text) >= self.code

    def deep(self, text: str, item: re.Match[str] | None, begins: bool) -> int:
        """
        How far a line has to be moved to the right.

        Args:
            text: the line.
            item: what it begins with, if it begins an item.
            begins: whether it is the first line, or comes after a blank one.

        Returns:
            By how many blanks; below 0, if it has too many.
        """
        margin = indentation(text)
        while self.open and margin < self.open[-1][1]:
            self.open.pop()
        while margin < self.around[-1]:
            self.around.pop()
        deep, inner = 0, self.around[-1]
        if self.open:
            outer, _, moved, inner = self.open[-1]
            # With four blanks more than an item, a line is nested for Python-Markdown,
            # too.
            deep = moved if margin >= outer + 4 else max(moved, inner - margin)
        code = inner + 4 - deep
        too_deep = margin >= code and (inner > 0 or not self.open)
        is_code = too_deep and not item and (begins or self.code is not None)
        self.code = code if is_code else None
        if item and too_deep:
            deep = inner - margin
        if item:
            inner = (margin + deep) // 4 * 4 + 4
            self.open.append((margin, item.end() - 1, deep, inner))
        elif deep and BOX.match(text):
            self.open.append((margin, margin + 1, deep, 0))
        elif not (self.open or is_code) and AROUND.match(text):
            self.around.append(margin + 4)
        return deep
