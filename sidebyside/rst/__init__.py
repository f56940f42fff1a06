r"""
---
title: reStructuredText
summary: From the markup of Sphinx to Markdown.
---

# reStructuredText

Much code has docstrings for Sphinx, in a markup other than Markdown. This page turns
the common parts of that markup into Markdown. It leaves anything it does not know as it
is, so that the reader at least sees what the author wrote.

| in a docstring | on the page |
|---|---|
| ``:math:`x^2` ``, `.. math::` | a formula |
| `.. note::`, `.. versionadded:: 2.0` and the like | a box |
| `.. code-block:: c`, and text indented below `::` | code |
| `.. image:: x.png`, `.. figure:: x.png` | a picture |
| `.. list-table::`, `.. csv-table::` | a table, or lists if it holds too much |
| `` `words <address>`_ `` | a link |
| `[1]_` and `.. [1] words` | a list of references |
| `.. |name| replace:: words` | these words in place of each `|name|` |
| lines that begin with `|` | lines that stay lines |
| ``` ``int``\ s ``` | `int`s |
| `:Author: somebody` | a list |
| `#. words` | an item of a numbered list |
| `.. index::`, `.. autofunction::`, `.. a comment`, `:meta private:` | nothing |

Names such as ``:class:`Game` `` are left for [links][sidebyside.links].

There are two passes. The first is for [directives][sidebyside.rst.directives], which
begin with two dots, and for [tables][sidebyside.rst.tables]. It comes before [sessions
of `doctest`][open_examples] and [indented code][sidebyside.rst.indented] get their
fences, since a directive may hold a session. The second is for the words in a line,
including [roles][sidebyside.rst.roles] such as ``:math:`x` ``. It comes after the
fences, since anything that looks like a role in a piece of code is not one.

[Epytext and MyST][sidebyside.rst.dialects] become reStructuredText before that.
"""

import re
from collections.abc import Iterator

from sidebyside.prose import CODE, Lines, Prose, fences, indentation, is_term, stripped
from sidebyside.rst.dialects import set_epytext, set_myst
from sidebyside.rst.directives import MARK, WORDING, blocks
from sidebyside.rst.examples import open_examples
from sidebyside.rst.indented import deeper, open_code
from sidebyside.rst.roles import SESSION, set_words

# Without one of these there is nothing to do.
SIGNS = re.compile(
    r"::|:`|`_|`\\ |\]_|\.\. |#\. |== |\+--|~~~|\^\^\^|\| |\n:|[─-╿•‣⁃◦▪●]|[|`]-- "
)
TARGET = re.compile(r"_`?(?P<name>[^`:]+|_)`?: *(?P<address>.*)")

# Words that announce a list.
ANNOUNCES = re.compile(r"(?!:|[-*+>|#] |\d+[.)] )\S.*[^:]:")


def set_rst(prose: Prose, is_docstring: bool = True) -> Prose:
    """
    ## Both passes

    Args:
        prose: any prose.
        is_docstring: whether it may have reStructuredText's comments. In prose that is
            itself a Python comment, two dots are only two dots.

    Returns:
        The same prose as Markdown, with a fence around each example.
    """
    prose = set_myst(set_back(set_epytext(prose) if is_docstring else prose))
    text = prose.text
    if not (text.startswith(":") or SIGNS.search(text)):
        return open_code(open_examples(prose))
    lines = tuple(blocks(prose.lines, is_docstring))
    targets = dict(targets_in(prose.lines)) if ".. _" in text else {}
    made = open_code(open_examples(stripped(lines)))
    if is_docstring and "| replace::" in text:
        # A definition whose line is still there was part of some code.
        there = {line.strip() for _, line in lines}
        made = set_wordings(made, dict(wordings_in(prose.lines, there)))
    return set_words(made, targets)


def set_back(prose: Prose) -> Prose:
    """
    ### Lists that are only indented

    A list of terms may be further to the right than the words that announce it. To
    Markdown it would then be code, so it is moved to the left.

    Args:
        prose: any prose.
    """
    if ":\n\n " not in prose.text:
        return prose
    lines = prose.lines
    is_code = fences(lines)
    starts = [
        at
        for at in range(2, len(lines))
        if is_term(lines, at)
        and not is_code[at]
        and indentation(lines[at][1])
        and not lines[at - 1][1]
        and ANNOUNCES.fullmatch(lines[at - 2][1])
    ]
    done = list(lines)
    for at in starts:
        body = deeper(lines[at:], 0)
        margin = min(indentation(text) for _, text in body if text)
        done[at : at + len(body)] = [(number, text[margin:]) for number, text in body]
    return Prose(tuple(done))


def wordings_in(lines: Lines, there: set[str]) -> Iterator[tuple[str, str]]:
    """The names that stand for words, each with its words, except those in code."""
    for at, (_, text) in enumerate(lines):
        mark = MARK.fullmatch(text)
        wording = WORDING.fullmatch(mark["rest"] or "") if mark else None
        if wording and text.strip() not in there:
            below = deeper(lines[at + 1 :], indentation(text))
            said = [wording["words"] or "", *(line for _, line in below)]
            if words := " ".join(" ".join(said).split()):
                yield wording["name"], words


def set_wordings(prose: Prose, wordings: dict[str, str]) -> Prose:
    """
    ### Names that stand for words

    Args:
        prose: prose without directives. In a table it has a backslash before each bar.
        wordings: what each name stands for.

    Returns:
        The same prose with these words, except in code.
    """
    if not wordings:
        return prose
    names = "|".join(map(re.escape, wordings))
    pattern = re.compile(
        rf"(?P<bar>\\?\|)(?P<name>{names})(?P=bar)(?:__?(?!\w))?|{SESSION}|{CODE}",
        re.VERBOSE | re.MULTILINE | re.DOTALL,
    )
    return prose.with_text(
        pattern.sub(lambda found: wordings.get(found["name"], found[0]), prose.text)
    )


def targets_in(lines: Lines) -> Iterator[tuple[str, str]]:
    """The names of links, with their addresses, from lines like `.. _name: address`."""
    for at, (_, text) in enumerate(lines):
        mark = MARK.fullmatch(text)
        target = TARGET.fullmatch(mark["rest"] or "") if mark else None
        if target:
            below = deeper(lines[at + 1 :], indentation(text))
            address = target["address"] + "".join(line for _, line in below)
            if address.strip():
                yield target["name"].casefold(), address
