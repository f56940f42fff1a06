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
        ("'\\0123'\n", "se", "\\012"),
        ("1j\n", "mf", "1j"),
        ("0XFF\n", "mh", "0XFF"),
        ("''', '''.join(x)\n", "s1", "''', '''"),
        ("'''Text.'''\n", "sd", "'''Text.'''"),
    ],
)
def test_colours(text, css, piece):
    assert (css, piece) in [(c, text[a:b]) for c, a, b in colours(text, lex(text))]
