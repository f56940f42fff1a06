r"""
---
title: Lex
summary: From text to tokens, faster than Python's own tokenizer.
---

# Lex

A program is made of tokens: names, numbers, strings, operators, comments. The press
needs them twice: to find out what is prose, and to colour what is code. Python's own
tokenizer and Pygments, the usual library for colours, took most of the time of a build,
so this page does without either.

One regular expression describes all tokens. It can be that simple because Python has
already parsed the text: only correct programs get here. The tests compare it with
Python's tokenizer, token by token, on the modules of the standard library.
"""

import re
from typing import NamedTuple

# The kinds of tokens, one letter each. A module has thousands of tokens, so they are
# plain tuples: the kind, and where the token begins and ends in the text.
NAME = "n"
NUMBER = "d"
STRING = "s"
FORMAT = "f"  # an f-string, from its prefix to its last quote
OPERATOR = "o"
PUNCTUATION = "p"
OPEN = "a"
CLOSE = "z"
COMMENT = "c"
END = "e"  # the end of a line, wherever it stands
OTHER = "x"  # a letter so rare that regular expressions don't know it for one

# Only in f-strings, which are taken apart separately.
ESCAPE = "b"
FIELD = "i"  # the braces around an expression, and what says how to show it

Token = tuple[str, int, int]

# What is between quotes. A backslash takes the next character with it.
INSIDE = {
    '"""': r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*',
    "'''": r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*",
    '"': r'[^"\\\n]*(?:\\.[^"\\\n]*)*',
    "'": r"[^'\\\n]*(?:\\.[^'\\\n]*)*",
}
QUOTED = "|".join(quote + inside + quote for quote, inside in INSIDE.items())

PLAIN_PREFIX = "[rRbBuU]|[bB][rR]|[rR][bB]"
FORMAT_PREFIX = "[fFtT][rR]?|[rR][fFtT]"

# The commonest tokens come first, so that few alternatives are tried in vain. A name is
# a prefix only if a quote follows, and not always then: `x or"y"`.
TOKEN = re.compile(
    rf"""
    [ \t\f]*+(?:\\\n[ \t\f]*+)*+
    (?:
        (?P<{NAME}>[^\W\d]\w*+(?:(?!["'])|(?<!\b[bfrtuBFRTU])(?<!\b[bfrtBFRT]{{2}})))
      | (?P<{END}>\n)
      | (?P<{OPEN}>[(\[{{])
      | (?P<{CLOSE}>[)\]}}])
      | (?P<{PUNCTUATION}>:(?!=)|[,;])
      | (?P<{STRING}>(?:{PLAIN_PREFIX})?(?:{QUOTED}))
      | (?P<{FORMAT}>(?:{FORMAT_PREFIX})(?:\"\"\"|'''|"|'))
      | (?P<{NUMBER}>
            0[xX][\da-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
          | (?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?[jJ]?
        )
      | (?P<{COMMENT}>\#[^\n]*)
      | (?P<{OPERATOR}>
            \.\.\. | -> | := | != | //=? | \*\*=? | <<=? | >>=?
          | [-+*/%@&|^=<>]=? | [.~!]
        )
      | (?P<{OTHER}>\S)
    )
    """,
    re.VERBOSE | re.DOTALL,
)


def lex(text: str) -> list[Token]:
    r"""
    ## All tokens of a program

    Args:
        text: a program that Python has parsed, with `\n` at the end of each line.
    """
    tokens: list[Token] = []
    at: int | None = 0
    while at is not None:
        at = lex_up_to_format(text, at, tokens)
    return tokens


def lex_up_to_format(text: str, at: int, tokens: list[Token]) -> int | None:
    """
    The tokens up to and including the next f-string.

    Returns:
        Where to go on; `None` at the end of the text.
    """
    append = tokens.append
    for found in TOKEN.finditer(text, at):
        kind = found.lastgroup or OTHER
        start, end = found.span(kind)
        if kind == FORMAT:
            end = format_pieces(text, start)[-1][2]
            append((FORMAT, start, end))
            return end
        append((kind, start, end))
    return None


# ## F-strings
#
# An f-string may hold any expression, and since Python 3.12 the expression may hold the
# very quotes that the f-string is written with. So its end is found by going through
# it.

PIECE = re.compile(
    r"""
    (?P<plain>[^{}\\"'\n]+ | \{\{ | \}\} | \n)
  | (?P<escape>\\(?:N\{[^}]*\} | [^{}]))
  | (?P<lone>\\)
  | (?P<open>\{)
  | (?P<close>\})
  | (?P<quote>\"\"\" | ''' | ["'])
    """,
    re.VERBOSE | re.DOTALL,
)
QUOTE = re.compile("\"\"\"|'''|\"|'")


class Quotes(NamedTuple):
    """The quotes around an f-string, and whether it is raw."""

    mark: str
    raw: bool


def format_pieces(text: str, start: int) -> list[Token]:
    """
    ### The pieces of an f-string

    Args:
        text: the program.
        start: where the f-string's prefix begins.

    Returns:
        Its text and its escapes, the braces of its fields, and all tokens in these
        fields. The last piece ends with the last quote.
    """
    opening = QUOTE.search(text, start)
    assert opening
    pieces: list[Token] = [(STRING, start, opening.end())]
    raw = "r" in text[start : opening.start()].lower()
    at = format_text(text, opening.end(), Quotes(opening[0], raw), pieces)
    pieces.append((STRING, at, at + len(opening[0])))
    return pieces


def format_text(
    text: str, at: int, quotes: Quotes, pieces: list[Token], in_field: bool = False
) -> int:
    """
    ### Between the fields

    Args:
        text: the program.
        at: where to begin.
        quotes: the quotes around the f-string.
        pieces: where the pieces go.
        in_field: whether this is what comes after the colon in a field.

    Returns:
        Where the closing quote or, in a field, the closing brace begins.
    """
    while found := PIECE.match(text, at):
        kind, end = found.lastgroup, found.end()
        if kind == "quote" and not in_field and found[0].startswith(quotes.mark):
            return at
        if in_field and text[at] == "}":
            return at
        if kind == "open" or (in_field and text[at] == "{"):
            end = format_field(text, at, quotes, pieces)
        elif kind == "quote":
            end = at + 1
            pieces.append((STRING, at, end))
        elif quotes.raw and kind == "escape":
            # A raw string has no escapes, but a quote after a backslash doesn't end it.
            end = at + 2 if text[at + 1] != "N" else at + 1
            pieces.append((STRING, at, end))
        else:
            pieces.append((ESCAPE if kind == "escape" else STRING, at, end))
        at = end
    return at


def format_field(text: str, at: int, quotes: Quotes, pieces: list[Token]) -> int:
    """
    ### A field

    Args:
        text: the program.
        at: where its opening brace is.
        quotes: the quotes around the f-string.
        pieces: where the pieces go.

    Returns:
        Where it ends.
    """
    pieces.append((FIELD, at, at + 1))
    at += 1
    depth = 0
    while found := TOKEN.match(text, at):
        kind = found.lastgroup or OTHER
        start, at = found.span(kind)
        if depth == 0 and text[start] == ":":
            # `{x:=5}` shows x with the format `=5`. It assigns nothing.
            pieces.append((FIELD, start, start + 1))
            at = format_text(text, start + 1, quotes, pieces, in_field=True)
            pieces.append((FIELD, at, at + 1))
            return at + 1
        if depth == 0 and text[start] == "}":
            pieces.append((FIELD, start, at))
            return at
        if kind == FORMAT:
            nested = format_pieces(text, start)
            pieces += nested
            at = nested[-1][2]
            continue
        depth += {OPEN: 1, CLOSE: -1}.get(kind, 0)
        pieces.append((kind, start, at))
    return at
