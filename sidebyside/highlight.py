"""
---
title: Highlight
summary: The whole file is coloured once, then cut by line.
---

# Highlight

Colouring one section at a time goes wrong wherever a section ends inside something: a
comment in the middle of a call leaves two halves, neither of which is Python. So the
file is coloured as a whole, and the result is cut where its lines end.

The colours have the names that Pygments gave them, which every theme knows. But
Pygments spends most of its time finding out what we know already: where each token
begins and ends. So the few rules that turn a token into a colour are our own.
"""

import builtins
import keyword
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import accumulate

from sidebyside.lex import (
    CLOSE,
    COMMENT,
    END,
    ESCAPE,
    FIELD,
    FORMAT,
    NAME,
    NUMBER,
    OPEN,
    OPERATOR,
    PUNCTUATION,
    STRING,
    Token,
    format_pieces,
)

# Operators and brackets, which make up half of all tokens, have no colour of their own.
WORDS = {
    **{
        name: "ne"
        if isinstance(value, type) and issubclass(value, BaseException)
        else "nb"
        for name, value in vars(builtins).items()
        if not name.startswith("_")
    },
    **dict.fromkeys(("self", "cls", "NotImplemented", "Ellipsis"), "bp"),
    **dict.fromkeys(keyword.kwlist, "k"),
    **dict.fromkeys(("and", "in", "is", "not", "or"), "ow"),
    **dict.fromkeys(("False", "None", "True"), "kc"),
    **dict.fromkeys(("from", "import"), "kn"),
}
SHADOWED = ("nb", "ne", "bp")
SOFT = ("case", "lazy", "match", "type")
PATTERN_BEGINS = re.compile(r"[ \t]*(?:[\"'({\[\w*-])")
ESCAPED = re.compile(
    r"(\\(?:N\{[^}]*\}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[0-7]{1,3}|.))",
    re.DOTALL,
)
PREFIX = re.compile(r"[a-zA-Z]*")
TABS = re.compile(r"^((?:<span[^>]*>)?)(\t+)")

Piece = tuple[str, int, int]  # a colour, and where the text that has it begins and ends


# Where a link begins and ends in its line, in characters, and the [tag][opening] that
# opens it.
Link = tuple[int, int, str]


def highlight(
    text: str, tokens: Sequence[Token], links: Mapping[int, Sequence[Link]]
) -> list[str]:
    """
    ## One line of HTML for each line of code

    Args:
        text: the whole file.
        tokens: what [lex][sidebyside.lex.lex] found in it.
        links: for each line number, its links, in order and without overlaps.

    Returns:
        As many lines of HTML, without line ends.
    """
    html: list[str] = []
    add = html.append
    ahead = in_text(text, links)
    begin = ahead[-1][0]
    same, start, end = "", 0, 0
    for piece in (*colours(text, tokens), ("", len(text), len(text))):
        css, after, stop = piece
        if css == same and after == end:
            end = stop
            continue
        # A piece is complete, and what comes between it and the next has no colour.
        if begin < end:
            add(linked((same, start, end), text, ahead))
            begin = ahead[-1][0]
        else:
            add(KNOWN[same, text[start:end]])
        if begin < after:
            add(linked(("", end, after), text, ahead))
            begin = ahead[-1][0]
        elif end < after:
            add(KNOWN["", text[end:after]])
        same, start, end = piece
    done = "".join(html).split("\n")[:-1]
    return [*map(with_tabs, done)] if "\t" in text else done


def in_text(
    text: str, links: Mapping[int, Sequence[Link]]
) -> list[tuple[int, int, str]]:
    """
    Where each link begins and ends in the whole text, and its tag; the last one first.
    Below them all is one beyond the end of any text, so that there is always a next one
    to compare with.
    """
    found: list[tuple[int, int, str]] = []
    before = [0, *accumulate(map(len, text.split("\n")))]
    for number, here in sorted(links.items()):
        first = before[number - 1] + number - 1
        found += [(first + column, first + end, tag) for column, end, tag in here]
    return [*found, (sys.maxsize, sys.maxsize, "")][::-1]


def linked(piece: Piece, text: str, ahead: list[tuple[int, int, str]]) -> str:
    """
    A piece with the links that begin in it. One that goes on after its end begins again
    in the next piece.
    """
    css, start, end = piece
    begin, stop, tag = ahead[-1]
    if begin == start and stop == end:
        # Most often it is a link from one end to the other.
        ahead.pop()
        return whole(css, tag, text[start:end])
    html = ""
    while ahead[-1][0] < end:
        begin, stop, tag = ahead.pop()
        here = min(stop, end)
        html += f"{KNOWN['', text[start:begin]]}{tag}{KNOWN['', text[begin:here]]}</a>"
        if here < stop:
            ahead.append((here, stop, tag))
        start = here
    return coloured(css, html + KNOWN["", text[start:end]])


@cache
def whole(css: str, tag: str, word: str) -> str:
    """A piece that is a link from one end to the other, kept like its tag."""
    return coloured(css, f"{tag}{escape(word)}</a>")


def with_tabs(html: str) -> str:
    """
    Markdown would turn tabs into blanks, and count all the tags as columns. The tabs
    that a line begins with are put in a box, so that they are counted from its left
    edge, and not from that of the line number.
    """
    html = TABS.sub(r'\1<span class="sbs-tab">\2</span>', html)
    return html.replace("\t", "&#9;")


class Known(dict[tuple[str, str], str]):
    """
    ## Known pieces

    Code says the same words again and again. Each is turned into HTML only once. Long
    pieces, most of them comments and strings, seldom come again, and are not kept.
    """

    def __missing__(self, piece: tuple[str, str]) -> str:
        """The HTML of a piece that is not known yet."""
        css, text = piece
        html = coloured(css, escape(text))
        if len(text) < LONG:
            self[piece] = html
        return html


LONG = 40  # letters
KNOWN = Known()


def coloured(css: str, html: str) -> str:
    """
    HTML in a colour, if it has one. Anything that runs over several lines is closed at
    the end of each and opened again on the next, since the text will be cut there.
    """
    if css and "\n" in html:
        return "\n".join(coloured(css, line) for line in html.split("\n"))
    return f'<span class="{css}">{html}</span>' if css and html.strip() else html


def colours(  # noqa: PLR0912, PLR0915
    text: str, tokens: Sequence[Token]
) -> Iterator[Piece]:
    """
    ## Colours

    What a name is depends on what comes before it. `def` makes the next name that of a
    function, `import` that of a module, and after a dot `list` is not a built-in.

    Args:
        text: the whole file.
        tokens: all of its tokens, or those of an expression.

    Yields:
        The name of a colour, and where it begins and ends. Nothing is yielded for a
        token without a colour.
    """
    # One loop with few calls: otherwise a build would spend its time in them. The
    # commonest tokens come first.
    first = True  # whether a statement begins here
    coming = ""  # the colour of the names to come
    after_dot = False
    depth = 0
    match_column = -1  # where the last `match` stands
    for index, (kind, start, end) in enumerate(tokens):
        if kind == NAME:
            word = text[start:end]
            css = WORDS.get(word, "n")
            if after_dot:
                css = "n"
            elif first and word in SOFT:
                column = start - text.rfind("\n", 0, start)
                if is_soft_keyword(text, tokens, index, column, match_column):
                    if word == "lazy":
                        yield "kn", start, end  # and `import` is as at the beginning
                        continue
                    css = "k"
                    match_column = column if word == "match" else match_column
            elif css in SHADOWED and depth and text[end] == "=" != text[end + 1]:
                # `sorted(x, key=list)` calls no `key`, and `f(type=1)` no `type`. But
                # `def f(x: int=1)` has a type.
                is_type = text[tokens[index - 1][1]] in ":|"
                css = css if is_type else "n"
            if css == "n" or css in SHADOWED:
                if coming:
                    css = coming
                    coming = coming if coming in ("nn", "nd") else ""
            elif word == "def":
                coming = "nf"
            elif word == "class":
                coming = "nc"
            elif css == "kn":
                # The names that are imported *from* a module are ordinary ones.
                coming = "nn" if first else ""
            yield css, start, end
        elif kind == END:
            if not depth:
                first = True
                coming = ""
            continue
        elif kind == PUNCTUATION:
            # After a semicolon, another statement begins.
            first = not depth and text[start] == ";"
            after_dot = False
            continue
        elif kind == OPERATOR:
            sign = text[start:end]
            if sign == ".":
                after_dot = not coming
                if coming:
                    yield coming, start, end
                first = False
                continue
            if first and sign == "@":
                coming = "nd"
                yield "nd", start, end
        elif kind == OPEN:
            depth += 1
            coming = ""
        elif kind == CLOSE:
            depth -= 1
        elif kind == STRING:
            alone = first and index + 1 < len(tokens) and tokens[index + 1][0] == END
            yield from string_colours(text, start, end, alone)
        elif kind == NUMBER:
            yield number_colour(text[start:end]), start, end
        elif kind == COMMENT:
            yield "c1", start, end
            continue
        elif kind == FORMAT:
            yield from format_colours(text, start)
        first = False
        after_dot = False


def is_soft_keyword(
    text: str, tokens: Sequence[Token], index: int, column: int, match_column: int
) -> bool:
    """
    ### Words that are keywords only at times

    `match x:` begins a statement and `match(x)` calls a function. A line that begins
    with `match` and ends with a colon can't be anything else, and neither can one that
    begins with `type` and another name. A `case` belongs to a `match`, and `lazy`,
    since Python 3.15, to an `import`.

    Args:
        text: the whole file.
        tokens: its tokens.
        index: which of them is the word.
        column: where the word is in its line.
        match_column: where the `match` before it is; -1 if there is none.
    """
    _, start, end = tokens[index]
    word = text[start:end]
    behind = tokens[index + 1] if index + 1 < len(tokens) else (END, end, end)
    following = text[behind[1] : behind[2]]
    if word == "lazy":
        return following in ("import", "from")
    if word == "type":
        return behind[0] == NAME and not keyword.iskeyword(following)
    if not PATTERN_BEGINS.match(text, end):
        return False
    if word == "case" and not 0 <= match_column < column:
        return False
    depth = 0
    last = ""
    for kind, start, end in tokens[index + 1 :]:
        if kind == END and not depth:
            break
        depth += {OPEN: 1, CLOSE: -1}.get(kind, 0)
        if kind not in (END, COMMENT):
            last = text[start:end]
        if word == "case" and last == ":" and not depth:
            return True
    return last == ":"


def string_colours(text: str, start: int, end: int, alone: bool) -> Iterator[Piece]:
    """A string with its prefix and escapes. `alone`: it is a statement by itself."""
    prefix = PREFIX.match(text, start)
    opening = prefix.end() if prefix else start
    css = "s2" if text[opening] == '"' else "s1"
    if alone and text.startswith(('"""', "'''"), opening):
        yield "sd", start, end
        return
    if opening > start:
        yield "sa", start, opening
    if "r" in text[start:opening].lower() or "\\" not in text[opening:end]:
        yield css, opening, end
        return
    at = opening
    for piece in ESCAPED.split(text[opening:end]):
        if piece:
            yield ("se" if piece[0] == "\\" else css), at, at + len(piece)
        at += len(piece)


def number_colour(number: str) -> str:
    """The colour of a number: in hexadecimal, binary, octal, with a point, or whole."""
    special = {"x": "mh", "b": "mb", "o": "mo"}.get(number[1:2].lower())
    if special:
        return special
    return "mf" if set(number) & set(".eEjJ") else "mi"


def format_colours(text: str, start: int) -> Iterator[Piece]:
    """An f-string, with its expressions coloured as code."""
    (_, _, opening), *pieces = format_pieces(text, start)
    prefix = PREFIX.match(text, start)
    quote = prefix.end() if prefix else start
    css = "s2" if text[quote] == '"' else "s1"
    yield "sa", start, quote
    yield css, quote, opening
    special = {STRING: css, ESCAPE: "se", FIELD: "si"}
    inside: list[Token] = []
    depth = 0
    for piece in pieces:
        kind, begin, end = piece
        is_field = kind == FIELD
        depth += {"{": 1, "}": -1}.get(text[begin], 0) if is_field else 0
        # A string in a field is one of its tokens. Text after a colon is not, but has
        # the same colour.
        if kind in special and (is_field or kind == ESCAPE or not depth):
            yield from colours(text, inside)
            inside = []
            yield special[kind], begin, end
        else:
            inside.append(piece)
    yield from colours(text, inside)


@cache
def opening(href: str, is_outside: bool = False, is_stop: bool = True) -> str:
    """
    ## Links

    Args:
        href: where a link leads.
        is_outside: whether that is on another site.
        is_stop: whether the Tab key stops at it.

    Returns:
        The tag that opens it, kept because many links lead to the same place.
    """
    attributes = f'href="{escape(href)}"'
    attributes += ' class="sbs-out" rel="noopener"' if is_outside else ""
    attributes += "" if is_stop else ' tabindex="-1"'
    return f"<a {attributes}>"
