"""Symbols in formulas carry the names that they stand for in the code."""

import re

import pytest

from sidebyside.errors import PressError
from sidebyside.mathematics import find, typeset
from sidebyside.prose import Prose
from sidebyside.read import read
from sidebyside.symbols import set_symbols
from sidebyside.weave import weave

SYMBOLS = {
    "advantages": r"\hat{A}_t",
    "rewards": "r_t",
    "policy": r"\pi",
    "parameters": r"\theta",
    "policies": r"\pi_\theta",
    "n": "n",
}


def names(text: str) -> list[str]:
    """The names that the formulas of a text carry on the page, in order."""
    prose = set_symbols(Prose(tuple(enumerate(text.split("\n"), 1))), SYMBOLS)
    html = "".join(typeset(f.tex, f.display) for f in find(prose.text))
    return re.findall(r'data-sbs="(\w+)"', html)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"$\hat{A}_t = r_t$", ["advantages", "rewards"]),
        ("$$\n\\frac{\\hat{A}_t}\n{r_t}\n$$", ["advantages", "rewards"]),
        ("$r_{t+1}$ and $r_tx$", []),
        (r"$\bar{r}_t$ and $xr_t$", []),
        (r"$\hat{A}_t^2$ and $r_t'$", []),
        (r"$V_\pi(s)$", ["policy"]),
        (r"$\pi_\theta + \pi$", ["policies", "policy"]),
        (r"$a_{r_t} + a^{\pi}$", ["rewards", "policy"]),
        (r"$\sin n + \nu$", ["n"]),
        (r"$2a\pi$", ["policy"]),
        (r"$\hat\theta + \mathcal{n} + \operatorname{n} + \tilde \pi$", []),
        (r"$\text{n of n} + n$", ["n"]),
        ("`$r_t$`", []),
        ("no formula, r_t", []),
    ],
)
def test_symbols_are_found_where_they_stand_alone(text, expected):
    assert sorted(names(text)) == sorted(expected)


def test_a_symbol_may_have_two_names():
    prose = set_symbols(Prose(((1, "$r_t$"),)), {"reward": "r_t", "rewards": "r_t"})
    html = typeset(prose.text.strip("$"), False)
    assert sorted(re.findall(r'data-sbs="(\w+)"', html)) == ["reward", "rewards"]


def test_only_names_pass_into_the_page():
    """KaTeX is trusted with the one command, and not with links or styles."""
    html = typeset(r"\href{javascript:alert(1)}{x} \htmlStyle{color:red}{y}", False)
    assert "<a " not in html
    assert "href=" not in html
    assert "color:red;" not in html


def test_a_symbol_that_would_break_a_formula_leaves_it_alone():
    # In the columns of an array `c` is no symbol, and a command there is a mistake.
    prose = Prose(((1, r"$\begin{array}{c} 1 \end{array}$"),))
    assert set_symbols(prose, {"centre": "c"}) == prose


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        (" a list", "4: `symbols` is not a mapping"),
        (" [x]", "4: `symbols` is not a mapping"),
        (" {a b: x}", "4: `symbols` has `a b`, which is no name. Write a line"),
        (
            "\n  a: b\n  self.rate: r",
            "6: `symbols` has `self.rate`, which is no name. Write `rate`.",
        ),
        ("\n  1: b", "5: `symbols` has `1`, which is no name."),
        (
            " {a: 1}",
            "4: the symbol of `a` is empty, or no text to YAML. Put it into quotes",
        ),
        ("\n  b: c\n  a: {c}", "6: the symbol of `a` is empty, or no text to YAML."),
        ("\n  a: ''", "5: the symbol of `a` is empty, or no text to YAML."),
        (
            '\n  a: "x"\n  b: "\\beta_\\theta"',
            "6: the symbol of `b` has lost a backslash to YAML. Put it into single "
            "quotes: `b: '\\beta_\\theta'`.",
        ),
        ('\n  a: "A_\\theta"', "5: the symbol of `a` has lost a backslash to YAML."),
        (
            '\n  a: "\\Pi \\Lambda"',
            "5: the symbol of `a` has lost a backslash to YAML. Put it into single "
            "quotes: `a: '\\Pi \\Lambda'`.",
        ),
        (
            '\n  a: "\\pi"',
            "5: the front matter is not YAML: found unknown escape character 'p'. "
            "Put a value that has a backslash into single quotes.",
        ),
    ],
)
def test_symbols_that_are_none_are_refused_with_their_line(symbols, message):
    text = f'"""\n---\ntitle: T\nsymbols:{symbols}\n---\n"""\n'
    with pytest.raises(PressError, match=rf"^m\.py:{re.escape(message)}"):
        weave(read(text.encode(), "m.py", "m"), {})


def test_a_symbol_with_two_names_is_copied_without_them():
    text = set_symbols(Prose(((1, "$x$"),)), {"a": "x", "b": "x"}).text
    assert ">{{x}}</annotation>" in typeset(text.strip("$"), False)


def test_words_around_a_symbol_stay():
    text = set_symbols(Prose(((1, "Let $x$ be"), (2, "$y$, so."))), {"a": "x"}).text
    assert text == r"Let ${\htmlData{sbs=a}{x}}$ be" + "\n$y$, so."


def test_the_longest_symbol_goes_first():
    text = set_symbols(Prose(((1, "$f(x)$"),)), {"f": "f", "value": "f(x)"}).text
    assert text == r"${\htmlData{sbs=value}{f(x)}}$"
