"""
---
title: Prose
summary: Text that remembers which line of the file it came from.
---

# Prose

The prose that an author writes is taken apart and put back together several times on
its way to the page. A mistake that is found on the way must be reported with its line
in the file, so each line of text carries that number with it.
"""

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

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


# What begins an item of a list, by CommonMark's rule: an ordered list may interrupt a
# paragraph only if it starts with 1, so that a year at the start of a line stays text.
ITEM = re.compile(r"(?P<indent> *)(?P<mark>[-*+]|(?P<number>\d+)[.)]) +\S")
ITEMS = re.compile(f"^{ITEM.pattern}", re.MULTILINE)
BOX = re.compile(r" *(?:!!!|\?\?\?\+?|===) *\S")
# Other things that have text indented below them: a definition, and a footnote.
AROUND = re.compile(rf"{BOX.pattern}| *:(?: |$)| *\[\^[^\]]+\]:")
# The line below the head of a table.
COLUMNS = re.compile(r"^ *\|(?: *:?-+:? *\|)+ *$", re.MULTILINE)
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
    """The marks of the fence that is open after a line; empty if none is."""
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


# ## Lines that are only drawn
#
# Many authors draw a line above a comment, or all around it. To Markdown such a line is
# a rule or a fence, or it makes a heading of the paragraph above. In a comment it is
# decoration, and vanishes. In a docstring it is whatever Markdown says it is.

MAYBE_DRAWN = re.compile(
    r"[-=*_~#]{3}|[-=*_] [-=*_] |^ *#|/{10}|[─━═]{2}|[–—]{3}", re.MULTILINE
)
DRAWN = re.compile(
    r" *(?:([-=*_])\1{2,}#*|#+|[~/]{10,}|([-=*_])(?: \2){2,}|[-=*_~#]{6,}) *"
)
# `--- Helpers ---`, `----Helpers----`, `--- Helpers` and `Helpers ------`.
TITLED = (
    re.compile(
        r"(?:[-=~*_]{2,}|#{3,}) +(?P<title>\w.{0,99}?) +(?:[-=~*_]{2,}|#{3,})#?"
    ),
    re.compile(r"([-=*])\1{3,}(?P<title>\w.{0,99}?)\1{4,}#?"),
)
TITLED_ALONE = (
    *TITLED,
    re.compile(r"(?:-{3,}|={3,}|#{7,}) +(?P<title>\w[^|=]{0,59})(?<![.,;:])"),
    re.compile(r"(?P<title>\w[^|=]{0,59}?) +([-=*#])\2{5,}"),
)
# `── Helpers ────`: the same with signs that no keyboard has. A line with corners and
# the like belongs to a drawing.
STROKES = str.maketrans("─━═–—", "-----")
STROKED = re.compile(
    r" *+(?:(?:[─━═]{2,}+|[–—]{3,}+)[^─-╿–—]*+(?:[─━═–—]{2,}+)?"
    r"|\w[^─-╿–—]*+(?:[─━═]{5,}+|[–—]{5,}+)) *+"
)
SHORT = re.compile(r"[\w\"'(`](?:(?!\. ).){0,59}(?<![,;:])")


def undecorated(lines: Sequence[str], mark: str) -> list[str]:
    """
    ### Out of the frame

    A short line in a frame, or underlined, or with dashes at its sides is a title. A
    paragraph in a frame is not.

    Args:
        lines: a comment, without its `#`.
        mark: what makes a title of a line: `## {}`, or `**{}**`.

    Returns:
        The same number of lines, without the indentation that they share.
    """
    if not MAYBE_DRAWN.search("\n".join(lines)):
        margin = min((indentation(line) for line in lines if line), default=0)
        return [line[margin:] for line in lines]
    drawn = drawn_lines([*map(on_keyboard, lines)])
    written = [line for at, line in enumerate(lines) if line and at not in drawn]
    margin = min(map(indentation, written), default=max(map(len, lines)))
    # A line that is indented further than the words belongs to a drawing, and stays.
    drawn = {at for at in drawn if indentation(lines[at]) <= margin}
    texts = ["" if at in drawn else line[margin:] for at, line in enumerate(lines)]
    if drawn and all(line.endswith("#") for line in written):
        texts = [text.rstrip("# ") for text in texts]
    # A lone `##` is as good as a blank line.
    return titled(texts, {at for at in drawn if len(lines[at]) > 3}, mark)


def on_keyboard(line: str) -> str:
    """A line that is drawn, or has dashes at its sides, with plain dashes."""
    return line.translate(STROKES) if STROKED.fullmatch(line) else line


def drawn_lines(lines: Sequence[str]) -> set[int]:
    """Which lines are only drawn, counted from 0. Those in a fence are not."""
    drawn: set[int] = set()
    fence = ""
    before = ""
    for at, line in enumerate(lines):
        tildes = len(line) > 3 and not line.strip("~") and len(line) == len(before)
        if not fence and (tildes or DRAWN.fullmatch(line)):
            drawn.add(at)
        else:
            fence = open_fence(line, fence)
        before = line
    return drawn


def titled(texts: list[str], drawn: Container[int], mark: str) -> list[str]:
    """
    ### Titles

    Args:
        texts: the lines of a comment.
        drawn: those that were only drawn, and are empty now.
        mark: what makes a title of a line.
    """
    done = [*texts]
    fence = ""
    alone = sum(map(bool, texts)) == 1
    for at, text in enumerate(texts):
        fence = open_fence(text, fence)
        if fence or not text or (at and texts[at - 1]):
            continue
        follows = at + 1 < len(texts) and texts[at + 1] != ""
        framed = at + 1 in drawn or (at - 1 in drawn and alone)
        patterns = TITLED if follows else TITLED_ALONE
        plain = on_keyboard(text)
        if framed and SHORT.fullmatch(text):
            title = text
        elif found := next(filter(None, (p.fullmatch(plain) for p in patterns)), None):
            title = found["title"]
        else:
            continue
        is_bold = mark.startswith("*")
        done[at] = title if is_bold and "*" in title else mark.format(title)
        # After a title in bold words, the two blanks make the line end.
        done[at] += "  " * (follows and is_bold)
    return done


UNDERLINE = re.compile(r"={3,}|~{3,}|\*{3,}|#{3,}")


def open_title(prose: Prose) -> Prose:
    """
    ### Titles of modules

    At the top of a module's docstring, an underlined title is the title of the page.

    Args:
        prose: the docstring of a module.
    """
    lines = prose.lines
    first = int(bool(lines) and UNDERLINE.fullmatch(lines[0][1]) is not None)
    if len(lines) < first + 2 or not UNDERLINE.fullmatch(lines[first + 1][1]):
        return prose
    number, title = lines[first]
    title = title.strip()
    # Between two drawn lines a title may be long.
    if not ((title and first) or SHORT.fullmatch(title)):
        return prose
    return Prose(((number, f"# {title}"), *lines[first + 2 :]))


def lower_titles(prose: Prose) -> Prose:
    """
    ### Titles of definitions

    A page has one title. A line that is underlined like one in the docstring of a class
    or a function is a heading below it.

    Args:
        prose: the docstring of a definition.
    """
    if "\n===" not in prose.text:
        return prose
    done = [*prose.lines]
    for at, ((number, text), is_code) in enumerate(
        zip(prose.lines, fences(prose.lines), strict=True)
    ):
        above = [line for _, line in prose.lines[max(at - 2, 0) : at]]
        is_title = bool(above) and bool(above[-1]) and not (above[:-1] or [""])[0]
        # What a session of `doctest` prints is not a title.
        is_title = is_title and not is_code and not above[-1].lstrip().startswith(">>>")
        if is_title and re.fullmatch("={3,}", text):
            done[at] = (number, "-" * len(text))
    return Prose(tuple(done))


def open_lists(prose: Prose, formulas: Container[int] = ()) -> Prose:
    """
    ## Lists without a blank line

    Python-Markdown wants a blank line before a list; many authors, like most other
    Markdown engines, do not. This function puts one there, and also where numbers
    follow bullets. And an item written `1)`, which Python-Markdown does not know
    either, gets a dot.

    Python-Markdown also wants four blanks in front of anything nested in an item.
    Others want only as many as there are in front of the text of the item, and these
    become four. Anything with four more in front of it than the text around it is code,
    but authors like to indent their lists: such a list is moved back to where that text
    begins.

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
        signs = {
            mark and (mark.lastgroup, mark["sign"])
            for n in heads
            for mark in [marks[n]]
        }
        if len(heads) > 1 and len(signs) == 1 and None not in signs:
            for head in heads[first == begin :]:
                number, text = done[head - 1]
                done[head - 1] = number, f"{text.rstrip()}  "
    return Prose(tuple(done))


def is_year(item: re.Match[str], column: int, kinds: Container[str]) -> bool:
    """
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
    ### Nested lists

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


TO_DOCTEST = re.compile(
    r"(?<=\S)[ ]*#\s*doctest:\s*(?:[+-]\w+[\s,]*)+$|^\s*<BLANKLINE>\s*$"
)


def open_examples(prose: Prose) -> Prose:
    """
    ## Examples without a fence

    A piece of an interactive session, as `doctest` runs it, is code: from its first
    `>>>` up to a blank line, and beyond that if another `>>>` follows. To Markdown it
    is a quotation within a quotation within a quotation. This function puts a fence
    around it.

    Anything meant only for `doctest`, such as `# doctest: +SKIP`, is left out.

    Args:
        prose: any prose.
    """
    if ">>> " not in prose.text:
        return prose
    done: list[tuple[int, str]] = []
    fence = ""
    at = 0
    while at < len(prose.lines):
        number, text = prose.lines[at]
        fence = open_fence(text, fence)
        is_code = not fence and text.lstrip(" ").startswith(">>> ")
        if not is_code:
            done.append((number, text))
            at += 1
            continue
        margin = indentation(text)
        deep = within(done, margin)
        body = example(prose.lines[at:], margin)
        at += len(body)
        shown = [(n, TO_DOCTEST.sub("", line[margin:])) for n, line in body]
        done += fenced(shown, "pycon", deep)
    return Prose(tuple(done))


def example(lines: Sequence[tuple[int, str]], margin: int) -> Sequence[tuple[int, str]]:
    """The session that these lines begin with."""
    prompt, comment = " " * margin + ">>> ", " " * margin + "# "
    end = 0
    for at, (_, text) in enumerate(lines):
        if not text.strip():
            rest = (line for _, line in lines[at:] if line.strip())
            follows = next(rest, "")
            while follows.startswith(comment):
                # To Markdown, a comment above a prompt is the title of a page.
                follows = next(rest, "")
            if not follows.startswith(prompt):
                break
        elif indentation(text) < margin:
            break
        else:
            end = at + 1
    return lines[:end]


def dedented(lines: Lines) -> Lines:
    """Lines without the indentation that they share."""
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
    """Whether a line is only a name, with its description indented below."""
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
