"""The colours of code."""

import pytest

from sidebyside.highlight import colours
from sidebyside.lex import lex


@pytest.mark.parametrize(
    ("text", "css", "piece"),
    [
        ("f(list==1)\n", "nb", "list"),
        ("import a as b, c\n", "nn", "b"),
        ("import a as b, c\n", "nn", "c"),
        ("match x:\n    case 1: f()\n", "k", "case"),
        ("match x:\n    case 1: ...\ncase (1): int\n", "n", "case"),
        ("x = 1\nmatch (\n    y\n):\n    case 1: f()\n", "k", "match"),
        ("lazy import a\n", "kn", "lazy"),
        ("lazy import a\n", "nn", "a"),
        ("lazy from a import b\n", "n", "b"),
        ("lazy = a\n", "n", "lazy"),
        ("x = (a\n    @ b)\n", "n", "b"),
        ("x.list\n", "n", "list"),
        ("f(\n    list=1)\n", "n", "list"),
        ("def f(x: list=1): ...\n", "nb", "list"),
        ("def f(x: A | list=1): ...\n", "nb", "list"),
        ("f'\\n{x:>{int}}'\n", "nb", "int"),
        ("'\\0123'\n", "se", "\\012"),
        ("f'{f\"{list}\"}'\n", "nb", "list"),
        ("1j\n", "mf", "1j"),
        ("0XFF\n", "mh", "0XFF"),
        ("''', '''.join(x)\n", "s1", "''', '''"),
        ("'''Text.'''\n", "sd", "'''Text.'''"),
    ],
)
def test_colours(text, css, piece):
    assert (css, piece) in [(c, text[a:b]) for c, a, b in colours(text, lex(text))]
