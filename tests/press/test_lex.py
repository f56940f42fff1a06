"""The lexer finds what Python's own tokenizer finds."""

import io
import sys
import tokenize
from pathlib import Path

import pytest

from sidebyside.lex import END, FORMAT, OTHER, format_pieces, lex
from tests.press.test_lossless import OURS, STANDARD_LIBRARY

KINDS = {
    tokenize.NAME: "n",
    tokenize.NUMBER: "d",
    tokenize.STRING: "s",
    tokenize.COMMENT: "c",
    tokenize.OP: "opaz",
}
# From Python 3.12 and, for template strings, 3.14.
BEGINS = {getattr(tokenize, f"{kind}STRING_START", None) for kind in "FT"}
ENDS = {getattr(tokenize, f"{kind}STRING_END", None) for kind in "FT"}


def by_python(text: str) -> list[tuple[str, int, int]]:
    """Python's tokens, with f-strings in one piece, as they are since ever."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    depth = 0
    begin = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type in BEGINS:
            begin = begin if depth else start
            depth += 1
        elif token.type in ENDS:
            depth -= 1
            if not depth:
                found.append((FORMAT, begin, end))
        elif depth == 0 and token.type in KINDS:
            is_format = token.type == tokenize.STRING and "f" in (
                token.string[: token.string.index(token.string[-1])].lower()
            )
            found.append((FORMAT if is_format else KINDS[token.type], start, end))
    return found


def check(text: str) -> None:
    ours = [token for token in lex(text) if token[0] != END]
    for mine, other in zip(ours, by_python(text), strict=True):
        assert mine[1:] == other[1:], text[other[1] : other[2]]
        assert mine[0] in other[0], text[other[1] : other[2]]


def text_of(path: Path) -> str | None:
    with tokenize.open(path) as file:
        text = file.read()
    # Python's tokenizer and `str.splitlines` differ about these.
    return None if set(text) & set("\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029") else text


@pytest.mark.parametrize("path", [*OURS, *STANDARD_LIBRARY], ids=lambda path: path.name)
def test_the_tokens_are_those_of_python(path):
    text = text_of(path)
    if text is None:
        text = path.read_text().replace("\x0c", " ")
    check(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1_0.e-5_0J + .5j - 0xFf_0or 1if y else 1.\n",
        "a = b'\\'' rb\"\\\"\" u'x' Rb'''\\''' '''\n",
        "a = '''x''y'' ' \\''''; b = \"\"\n",
        "f'{x!r:>{w}}' f'{{}}' f'{x:=5}' f'{x!=y}' f'{d[\"a\"]}' f'\\N{DASH}{x}'\n",
        "f'''{\nx:{a}{b}}'''\nrf'\\'{x}\\{x}' fR\"\\N{x}\"\n",
        "f'{(lambda: 1)()}' f'{x[1:2]}' f'{f\"{y}\"}' f'{x=}' f'{x = !r}'\n",
        "x = a \\\n  + b\nif True:\n\tpass\n",
        "x: int = y if (z := 1) else ...\n@a.b\ndef f(*a, **k) -> None: x @= a\n",
        "",
        "# only this",
    ],
)
def test_what_is_hard(text):
    check(text)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="not Python before 3.12")
def test_quotes_in_f_strings():
    check("f'{d['a']}' f\"{f\"{x:{\"1\"}}\"}\"\nf'{\n x # '\n}'\n")


def test_the_pieces_of_an_f_string():
    text = "rf'a{b!r:>{c}}\\n' "
    assert "".join(text[a:b] for _, a, b in format_pieces(text, 0)) == text.rstrip()
    text = "f'\\n{x:d}'"
    assert [(kind, text[a:b]) for kind, a, b in format_pieces(text, 0)] == [
        ("s", "f'"),
        ("b", "\\n"),
        ("i", "{"),
        ("n", "x"),
        ("i", ":"),
        ("s", "d"),
        ("i", "}"),
        ("s", "'"),
    ]


def test_rare_letters_are_not_lost():
    text = "℘ = 1\nक्ष = 2\n"
    found = lex(text)
    assert "".join(text[a:b] for _, a, b in found) == text.replace(" ", "")
    assert OTHER in {kind for kind, _, _ in found}


def test_a_colon_in_brackets_begins_no_format():
    text = "f'{d[1:n]}'"
    found = [(kind, text[a:b]) for kind, a, b in format_pieces(text, 0)]
    assert ("n", "n") in found
