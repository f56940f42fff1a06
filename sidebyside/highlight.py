"""
---
title: Highlight
summary: The whole file is coloured once, then cut by line.
---

# Highlight

Colouring one section at a time goes wrong wherever a section ends inside something: the
comment in the middle of a call leaves two halves, neither of which is Python. So the
file is coloured as a whole, and the result is cut where its lines end.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from operator import itemgetter

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES

LEXER = PythonLexer()


@dataclass(frozen=True)
class Link:
    """
    ## Links in code

    Args:
        column: where it begins in its line, in characters.
        end: where it ends.
        href: where it leads.
        is_outside: whether that is another site.
        is_stop: whether the Tab key stops at it. Code is full of names, and a reader
            without a mouse should meet each only once.
    """

    column: int
    end: int
    href: str
    is_outside: bool = False
    is_stop: bool = True


def highlight(
    lines: Sequence[str], links: Mapping[int, Sequence[Link]] | None = None
) -> list[str]:
    """
    ## One line of HTML for each line of code

    Tokens that run over several lines, such as long strings, are closed at the end of
    each line and opened again on the next.

    Args:
        lines: the whole file.
        links: for the number of a line, its links in order and apart from each other.

    Returns:
        As many lines of HTML, without line ends.
    """
    text = "\n".join(line.rstrip("\r\n") for line in lines)
    links = links or {}
    done: list[str] = []
    line: list[tuple[str, str]] = []
    for _, kind, value in LEXER.get_tokens_unprocessed(text):
        css = STANDARD_TYPES.get(kind, "")
        first, *rest = value.split("\n")
        line.append((css, first))
        for part in rest:
            done.append(spans(line, links.get(len(done) + 1, ())))
            line = [(css, part)]
    done.append(spans(line, links.get(len(done) + 1, ())))
    return done[: len(lines)]


def spans(line: Iterable[tuple[str, str]], links: Sequence[Link] = ()) -> str:
    """
    The HTML of a line, given as pieces of text with their colours. Neighbours of the
    same colour share an element, which halves the weight of a page.
    """
    html: list[str] = []
    for css, group in groupby(cut(line, links), key=itemgetter(0)):
        pieces = [(text, link) for _, text, link in group]
        inside = "".join(
            anchor("".join(text for text, _ in linked), link)
            for link, linked in groupby(pieces, key=itemgetter(1))
        )
        plain = not css or not any(text.strip() for text, _ in pieces)
        html.append(inside if plain else f'<span class="{css}">{inside}</span>')
    return "".join(html)


def cut(
    line: Iterable[tuple[str, str]], links: Sequence[Link]
) -> Iterator[tuple[str, str, Link | None]]:
    """Cut pieces of text where a link begins or ends."""
    ahead = iter(links)
    link = next(ahead, None)
    column = 0
    for css, text in line:
        start, end = column, column + len(text)
        while link and link.column < end:
            begin, stop = max(link.column, column), min(link.end, end)
            yield css, text[column - start : begin - start], None
            yield css, text[begin - start : stop - start], link
            column = stop
            if link.end > end:
                break
            link = next(ahead, None)
        yield css, text[column - start :], None
        column = end


def anchor(text: str, link: Link | None) -> str:
    """Text as HTML, as a link if it is one."""
    if not link or not text:
        return escape(text)
    attributes = f'href="{escape(link.href)}"'
    attributes += ' class="sbs-out" rel="noopener"' if link.is_outside else ""
    attributes += "" if link.is_stop else ' tabindex="-1"'
    return f"<a {attributes}>{escape(text)}</a>"
