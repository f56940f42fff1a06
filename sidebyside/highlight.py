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

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from operator import itemgetter

from pygments.lexers.python import PythonLexer
from pygments.token import STANDARD_TYPES

LEXER = PythonLexer()


def highlight(lines: Sequence[str]) -> list[str]:
    """
    ## One line of HTML for each line of code

    Tokens that run over several lines, such as long strings, are closed at the end of
    each line and opened again on the next.

    Args:
        lines: the whole file.

    Returns:
        As many lines of HTML, without line ends.
    """
    text = "\n".join(line.rstrip("\r\n") for line in lines)
    done: list[str] = []
    line: list[tuple[str, str]] = []
    for _, kind, value in LEXER.get_tokens_unprocessed(text):
        css = STANDARD_TYPES.get(kind, "")
        first, *rest = value.split("\n")
        line.append((css, first))
        for part in rest:
            done.append(spans(line))
            line = [(css, part)]
    done.append(spans(line))
    return done[: len(lines)]


def spans(line: Iterable[tuple[str, str]]) -> str:
    """
    The HTML of a line, given as pieces of text with their colours. Neighbours of the
    same colour share an element, which halves the weight of a page.
    """
    html: list[str] = []
    for css, group in groupby(line, key=itemgetter(0)):
        text = escape("".join(piece for _, piece in group))
        plain = not css or not text.strip()
        html.append(text if plain else f'<span class="{css}">{text}</span>')
    return "".join(html)
