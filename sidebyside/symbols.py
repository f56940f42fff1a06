r"""
---
title: Symbols
summary: Pointing at a symbol in a formula lights up its name in code, and vice versa.
---

# Symbols

A formula says $\hat{A}_t$ and the code says `advantages`. The author writes down once,
in the front matter of the module, that these are the same thing:

```yaml
symbols:
  advantages: '\hat{A}_t'
  rewards: 'r_t'
```

From then on, pointing at $\hat{A}_t$ in any formula of the page lights up `advantages`
in the code, and pointing at `advantages` lights up the formulas. It works with the
keyboard too: a formula that has the focus lights up all the names in it, each in its
own colour. Two names may share a symbol, which then lights up both.

The page itself only carries the names, as attributes of the symbols. A small script
does the rest, and without it nothing is missing but the light.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache

from sidebyside.mathematics import TEXT, FormulaError, find, typeset
from sidebyside.prose import Prose

# With a sign above it, or in another alphabet, it is a different symbol: $\hat{A}$ is
# not $A$. And text in a formula is not a symbol.
ANOTHER = re.compile(
    r"\\(?:(?:wide)?(?:hat|tilde)|bar|vec|d?dot|check|breve|acute|grave|overline"
    r"|underline|math(?:cal|bb|rm|bf|sf|it|tt|frak|scr)|operatorname\*?|boldsymbol|bm)"
    r"\s*\{?\s*$"
)
WORDS = re.compile(TEXT)


def set_symbols(prose: Prose, symbols: Mapping[str, str]) -> Prose:
    r"""
    ## Naming the symbols

    Args:
        prose: any prose of a module.
        symbols: for each name in the code, its TeX.

    Returns:
        The prose, with the symbols in its formulas wrapped in `\htmlData`, which KaTeX
        turns into an attribute.
    """
    if not symbols:
        return prose
    text = prose.text
    pieces: list[str] = []
    end = 0
    for formula in find(text):
        whole = text[formula.start : formula.stop]
        pieces += [text[end : formula.start], named(whole, symbols)]
        end = formula.stop
    return prose.with_text("".join([*pieces, text[end:]]))


def named(formula: str, symbols: Mapping[str, str]) -> str:
    """
    ### In one formula

    A formula that would break stays as it is: light is not worth a formula.

    Args:
        formula: the formula with its dollars.
        symbols: for each name in the code, its TeX.
    """
    names: dict[str, list[str]] = {}
    for name, tex in symbols.items():
        names.setdefault(tex, []).append(name)

    wrapped, end = "", 0
    for match in occurrences(formula, tuple(names)):
        symbol = match[0]
        for name in names[symbol]:
            # The outer braces let a symbol be a subscript, as in $V_\pi$.
            symbol = rf"{{\htmlData{{sbs={name}}}{{{symbol}}}}}"
        wrapped += formula[end : match.start()] + symbol
        end = match.end()
    wrapped += formula[end:]
    try:
        for made in find(wrapped):
            typeset(made.tex, made.display)
    except FormulaError:
        return formula
    return wrapped


def occurrences(formula: str, symbols: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """Where symbols are in a formula, each by itself, and not in words."""
    words = [range(*match.span()) for match in WORDS.finditer(formula)]
    for match in pattern(symbols).finditer(formula):
        at = match.start()
        if not (ANOTHER.search(formula, 0, at) or any(at in each for each in words)):
            yield match


@cache
def pattern(symbols: tuple[str, ...]) -> re.Pattern[str]:
    r"""
    ### What counts as the symbol

    TeX is text, and in text the symbol `r_t` also occurs in `r_t^2` and in `\bar_t`. A
    match must not go on in either direction: no letter in front of a letter, none after
    a letter, and no index or exponent after it, since $x_i^2$ is not $x_i$.

    The longest symbol goes first, or $\pi_\theta$ would light up as $\pi$.
    """
    alternatives = []
    for tex in sorted(symbols, key=len, reverse=True):
        before = r"(?<![A-Za-z\\])" if tex[:1].isalpha() else ""
        # In `a^x_i`, `x_i` is not a symbol: `x` is the exponent of `a`, and `i` its
        # index.
        before += r"(?<![_^])" if re.search(r"[_^]", tex) else ""
        after = r"(?![A-Za-z])" if tex[-1:].isalpha() else ""
        alternatives.append(before + re.escape(tex) + after + r"(?!\s*[_^'])")
    return re.compile("|".join(alternatives))
