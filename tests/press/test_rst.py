"""What was written for Sphinx is Markdown on the page, and nothing of it is lost."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sidebyside.catalogue import catalogue
from sidebyside.mathematics import FormulaError
from sidebyside.read import read
from sidebyside.rst import set_rst
from sidebyside.weave import weave
from tests.press.texts import html_of, prose


def squeezed(text):
    """Markdown without blank lines."""
    return "\n".join(line for line in text.split("\n") if line)


def check_set(text, expected):
    """Whether a text becomes another one; `None` if it stays as it is."""
    made = squeezed(set_rst(prose(text)).text)
    assert made == (squeezed(text) if expected is None else expected)


# ---- Words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":math:`x^2`, :math:`a\n b`", "$x^2$, $a\n b$"),
        (r":math:`n`\ -th :math:`n`\ th", r"$n$-th $n$th"),
        # A backslash and a blank join, but not what Markdown would take for one.
        (r":math:`n`\ D :math:`n`\ :math:`k`", r"$n$ D $n$ $k$"),
        (r":attr:`x`\ `= 1`. Then :attr:`y`", ":attr:`x` `= 1`. Then :attr:`y`"),
        (r":attr:`x`\ =\ ``y``\ :attr:`z`", ":attr:`x`=``y`` :attr:`z`"),
        (r"``int``\ s, *n*\ th, **a**\ b", "``int``s, *n*th, **a**b"),
        (r"m\ :math:`^2`, H\ :sub:`2`\ O", "m$^2$, H<sub>2</sub>O"),
        (r"`words <https://a.b>`_\ s", "[words](https://a.b)s"),
        (r"``\ `` `a\ ` :x:`y` a\ b $a^*\ b$", ""),
        (r":math:`\mbox{a}`", r"$\text{a}$"),
        (":math:`(kH, kW)` :math:`Id`", r"$\relax (kH, kW)$ $\relax Id$"),
        (":external:py:class:`~a.B` :any:`c`", ":class:`~a.B` :obj:`c`"),
        (":ref:`the\nwords <label>`", "the\nwords"),
        (":doc:`words <a/b>` :doc:`a/b`", "words `a/b`"),
        (":file:`x.py` :pep:`8` :sup:`2`", "`x.py` PEP 8 <sup>2</sup>"),
        (
            "`words <https://a.b>`_ `<https://c.d>`__",
            "[words](https://a.b) <https://c.d>",
        ),
        ("`some\nwords <https://a.b/c(d)>`_", "[some\nwords](<https://a.b/c(d)>)"),
        ("`words <https://a.b/\nc>`_\nx", "[words](https://a.b/c)\nx"),
        ("One [1]_, [CIT]_ and [2]_[3]_.", r"One [1], [CIT] and \[2\][3]."),
        (
            "See `A b`_ and Link_.\n\n.. _a b: https://a.b\n.. _Link:\n   https://c.d",
            None,
        ),
        # What is none of this.
        ("``:math:`x` `` and `:math:` and x_1_ and a[i]_x", ""),
        ("```\n:math:`x`\n```\n\n  [1]_", "```\n:math:`x`\n```\n\n  [1]"),
        ("`name`_ and :unknown:`x`", ""),
        ("_[a][b]_ and :unknown:`x`", ""),
        (r"``a\` :math:`x` b`` and `\` \`", ""),
        # A literal may end with a backtick, to Markdown only in front of a blank.
        (
            r"``\:math:`x```, ``:func:`f``` and ``y``.",
            r"`` \:math:`x` ``, `` :func:`f` `` and ``y``.",
        ),
        (r"A \` and :math:`x`, \\:math:`y`", r"A \` and $x$, \\$y$"),
        ("::", ""),
        (":code:`a<int>` :file:`~/.netrc`", "`a<int>` `~/.netrc`"),
        (":option:`words <-x>`", "words"),
        (":py:type:`a.b` :cls:`C`", ":class:`a.b` :class:`C`"),
        (":func:`python:a.b` :class:`~numpy:C`", ":func:`a.b` :class:`~C`"),
        (":meth:`words <python:a.b>` :ref:`a:b`", ":meth:`words <a.b>` :ref:`a:b`"),
        (":DOI:`10.1/2`", "[doi:10.1/2](https://doi.org/10.1/2)"),
        ("A `b`_.\n\n..\n\n.. _b: https://a.b", "A [b](https://a.b)."),
    ],
)
def test_words(text, expected):
    if expected is None:
        expected = "See [A b](https://a.b) and [Link](https://c.d)."
    assert set_rst(prose(text)).text == (expected or text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A |b c| and |b c|_.", "A few :class:`W` more and few :class:`W` more."),
        ("`|b c|` ``|b c|`` |b| a|b", "`|b c|` ``|b c|`` |b| a|b"),
        ("==  ======\nA   |b c|\n==  ======\n1   2\n==  ======", None),
        ("Text::\n\n    |b c|", "Text:\n```text\n|b c|\n```"),
    ],
)
def test_a_name_between_bars_stands_for_words(text, expected):
    text = f"{text}\n\n.. |b c| replace:: few :class:`W`\n   more\n"
    made = squeezed(set_rst(prose(text)).text)
    assert made == (expected or "| A | few :class:`W` more |\n|---|---|\n| 1 | 2 |")
    assert set_rst(prose(text), is_docstring=False).text.endswith("`W`\n   more")


def test_a_role_makes_a_formula_of_words():
    html = html_of(":math:`(kH, kW)`, :math:`Id` and $two words$")
    assert html.count("<math") == 2
    assert "$two words$" in html


def test_each_line_keeps_its_number():
    made = set_rst(
        prose("`a <https://a.b/\nc>`_\n:math:`x`\n\n.. note::\n\n   One\n\nTwo")
    )
    numbers = {text.strip(): number for number, text in made.lines}
    assert numbers["[a](https://a.b/c)"] == 10
    assert numbers["$x$"] == 12
    assert numbers["One"] == 16
    assert numbers["Two"] == 18
    assert [n for n, _ in made.lines] == sorted(n for n, _ in made.lines)


def test_where_there_is_only_an_address_no_code_is_lost():
    """Not even that of the next section."""
    for docstring in (".. _kiln: https://kiln.example", ".. _kiln: :fire(0)\n"):
        text = f"x = 1\n'''{docstring}'''\n\n\ndef f():\n    return 2\n"
        source = read(text.encode(), "m.py", "m")
        rows = weave(source, catalogue([source])).rows
        shown = [source.lines[number - 1] for row in rows for number, _ in row.code]
        assert shown == ["x = 1\n", "def f():\n", "    return 2\n"]


def test_sessions_are_left_alone():
    text = "Words\n\n>>> f(':math:`x`')\n[1]_\n\n.. note::\n    >>> g('::')\n"
    assert ":math:`x`" in set_rst(prose(text)).text
    html = html_of(text)
    assert html.count("<pre>") == 2
    assert ">>> g('::')\n</code></pre></div>\n</div>" in html


# ---- Directives


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ".. note:: One\n   two.\n\n   Three.",
            "!!! note\n    One\n    two.\n    Three.",
        ),
        (".. Warning::\n\n  One", "!!! warning\n    One"),
        (".. seealso:: :func:`f`", '!!! info "See also"\n    :func:`f`'),
        (".. deprecated:: 2.9", '!!! warning "Deprecated since version 2.9"'),
        (
            ".. versionadded:: 1.2 With words",
            '!!! info "Added in version 1.2"\n    With words',
        ),
        (".. version-added:: 1.2", '!!! info "Added in version 1.2"'),
        (
            ".. version-deprecated:: 2\n  x",
            '!!! warning "Deprecated since version 2"\n    x',
        ),
        (":meta private:", ""),
        ("A.\n\n:param x: y\n:meta hide-value:", "A.\n:param x: y"),
        ('.. admonition:: A "title"\n\n   x', "!!! note \"A 'title'\"\n    x"),
        (
            ".. tip::\n\n   .. note::\n\n      x\n\n   y",
            "!!! tip\n    !!! note\n        x\n    y",
        ),
        (".. code-block:: c\n   :linenos:\n\n   x;\n     y", "```c\nx;\n  y\n```"),
        (".. code::\n\n   x", "```python\nx\n```"),
        (
            ".. sourcecode:: sh\n   :caption: Words\n\n   ```",
            "Words\n````sh\n```\n````",
        ),
        (".. math:: x\n   y", "$$\nx\ny\n$$"),
        (".. math ::\n   :label: a\n\n   x\n\n   y", "$$\nx\n$$\n$$\ny\n$$"),
        # Within an environment, a blank line ends nothing.
        (
            ".. math::\n\n   \\begin{array}{c}\n   x\n\n   y\n   \\end{array}\n\n   z",
            "$$\n\\begin{array}{c}\nx\ny\n\\end{array}\n$$\n$$\nz\n$$",
        ),
        (".. math::\n\n   \\begin{a}\n\n   y", "$$\n\\begin{a}\ny\n$$"),
        (
            ".. math::\n\n   a &= b \\\\\n   c &= d",
            "$$\\begin{aligned}\na &= b \\\\\nc &= d\n\\end{aligned}$$",
        ),
        (
            ".. math::\n   \\begin{align}\n   x\n   \\end{align}",
            "\\begin{align}\nx\n\\end{align}",
        ),
        (
            ".. figure:: a b.png\n   :alt: [A]\n   :width: 10px\n\n   Words.",
            "![A](ab.png){ width=10 }\nWords.",
        ),
        (
            ".. image:: a.png\n   :target: https://a.b",
            "[![](a.png)](https://a.b)",
        ),
        (".. rubric:: Words", "**Words**"),
        (".. autosummary::\n   :toctree: x\n\n   a.b", "- :obj:`a.b`"),
        (".. [1] One\n   two\n.. [#] Three", "- [1] One\n    two\n- [#] Three"),
        # What speaks to Sphinx alone.
        (".. currentmodule:: a\n\nx", "x"),
        (".. py:currentmodule:: a\n.. index:: b\n.. highlight:: c\n\nx", "x"),
        (".. autofunction:: a\n   :noindex:\n\nx", "x"),
        (".. a comment\n   on two lines\n\nx", "x"),
        (".. _label:\n\nx", "x"),
        # What is not known stays.
        (".. unknown:: x\n   :a: b\n\n   y", None),
        (".. |a| image:: b.png\n\nx |a|", None),
        ("```\n.. |a| replace:: b\n```\n\n|a|", None),
        (".. plot:: a/file.py", None),
        ("... and so on", None),
        ("```\n.. note:: x\n```", None),
        (".. image:: a.png\n   :width: 50%", "![](a.png)"),
        (
            ".. image:: a.png\n   :width: 300\n   :target: b.html",
            "[![](a.png){ width=300 }](b.html)",
        ),
        # MyST has them in fences.
        ("```{figure} a.png\n:width: 140px\n:name: x\n```", "![](a.png){ width=140 }"),
        ("- a\n\n  ```{note}\n  One\n  ```", "- a\n    !!! note\n        One"),
        ("````{tip}\n```\nx\n```\n````", "!!! tip\n    ```\n    x\n    ```"),
        ("```{math}\na^2\n```", "$$\na^2\n$$"),
        ("```{python}\nx\n```\n\n```\n```{note}\nx\n```", None),
        ("```{note}\nx", None),
    ],
)
def test_directives(text, expected):
    check_set(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("| One\n| *two*\n|   in\n  on", "One  \n*two*  \n\xa0\xa0in  \n  on"),
        ("T\n\n| One\n|\n| two", "T\nOne  \n  \ntwo  "),
        (":Author: A. B.\n:Date:   2020", "- **Author:** A. B.\n- **Date:** 2020"),
        (
            "T\n\n:Licence: of\n   the GPL\n:Note:",
            "T\n- **Licence:** of\n  the GPL\n- **Note:**",
        ),
        (
            ":copyright: (c) A,\n   B\n:license: BSD",
            "- **Copyright:** (c) A,\n  B\n- **License:** BSD",
        ),
        # What only begins like that.
        (":return: one\n:version: two", None),
        ("| a | b |\n|---|---|\n| c | d |", None),
        ("| a\n|---\n| c", None),
        ("a\n| b", None),
        (":Note: this\nis no list", None),
        (":param x: what\n:Note: that", None),
        ("```\n| a\n```", None),
    ],
)
def test_lines_that_stay_lines(text, expected):
    check_set(text, expected)


def test_items_without_a_number_get_one():
    text = "Do\n#. one::\n\n     #. x\n\n#. two\n\n   #. three"
    check_set(text, "Do\n1. one:\n    ```text\n    #. x\n    ```\n1. two\n   1. three")
    html = html_of("#. one\n#. two")
    assert "<li>one</li>\n<li>two</li>\n</ol>" in html


def test_bullets_that_markdown_does_not_know():
    text = "Do\n• one::\n\n     • x\n\n• two\n\n>>> f()\n• y"
    code = "```text\n    • x\n    ```"
    check_set(text, f"Do\n- one:\n    {code}\n- two\n```pycon\n>>> f()\n• y\n```")
    assert html_of("• one\n  ◦ two").count("<li>") == 2


def test_a_comment_of_python_may_begin_with_dots():
    text = ".. and so on\n\n:math:`x`"
    assert set_rst(prose(text), is_docstring=False).text == ".. and so on\n\n$x$"
    source = read(b"x = 1\n# .. and so on\ny = 1\n", "m.py", "m")
    assert ".. and so on" in weave(source, {}).rows[-1].prose


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Text::\n\n  f(x)\n    y\n\nNext", "Text:\n```text\nf(x)\n  y\n```\nNext"),
        ("Text ::\n\n  f(x)", "Text\n```python\nf(x)\n```"),
        ("::\n\n  $ ls", "```console\n$ ls\n```"),
        ("Text::\n  >>> 1", "Text:\n```pycon\n>>> 1\n```"),
        ("Text::\n\n>>> 1", "Text:\n```pycon\n>>> 1\n```"),
        ("Text ::\n>>> 1\n\nx", "Text\n```pycon\n>>> 1\n```\nx"),
        ("Text\n\n::\n\n>>> 1", "Text\n```pycon\n>>> 1\n```"),
        ("- a::\n\n  >>> 1", "- a:\n    ```pycon\n    >>> 1\n    ```"),
        ("Text::\n\nmore\n\n>>> 1", "Text::\nmore\n```pycon\n>>> 1\n```"),
        ("- a::\n\n    b\n\n- c", "- a:\n    ```text\n    b\n    ```\n- c"),
        ("- a\n\n  So::\n\n      b", "- a\n  So:\n    ```text\n    b\n    ```"),
        (
            "Usage:\n    python a.py --b \\\n        --c\n    D=1 python -m e",
            "Usage:\n    ```sh\n    python a.py --b \\\n        --c\n"
            "    D=1 python -m e\n    ```",
        ),
        ("Usage:\n    python is good.", "Usage:\n    python is good."),
        ("Usage: so::\n\n  f(1)", "Usage: so:\n```python\nf(1)\n```"),
        ("Text::\nmore", "Text::\nmore"),
        ("Text::", "Text::"),
        ("Note::\n\n    Text", "Note:\n    Text"),
    ],
)
def test_code_below_two_colons(text, expected):
    assert squeezed(set_rst(prose(text)).text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "These:\n\n    `a`\n        One.\n\n        .. note:: Two.\n\n"
            "    ``b``\n        Three.\n\nWords.",
            "These:\n`a`\n    One.\n    !!! note\n        Two.\n"
            "``b``\n    Three.\nWords.",
        ),
        # Code, what is not announced, and what belongs to an item.
        ("These:\n\n    `a`\n    b", "These:\n```\n`a`\nb\n```"),
        ("These\n\n    `a`\n        b", "These\n```\n`a`\n    b\n```"),
        ("- These:\n\n    `a`\n        b", None),
        ("```\nThese:\n\n    `a`\n        b\n```", None),
        (":param x: These:\n\n    `a`\n        b", None),
    ],
)
def test_a_list_of_names_that_is_only_indented(text, expected):
    check_set(text, expected)


def test_a_title_with_two_colons_is_a_title():
    html = html_of(
        "F.\n\nArgs::\n    y: one\n\nExamples::\n\n    f(1)\n\nNote::\n  Two"
    )
    assert "<dt><code>y</code></dt>" in html
    assert "<code>f(1)\n</code>" in html
    assert '<div class="admonition note">' in html
    assert html.count("sbs-fields") == 2


def test_boxes_and_code_stay_in_lists_of_arguments():
    html = html_of(
        "F.\n\nParameters\n----------\nx : int\n    One.\n\n    .. versionadded:: 2\n"
        "       Two.\n\n    Code::\n\n        f(1)\n\n    Three.\ny : int\n\n"
        ".. versionchanged:: 3\n\nReturns\n-------\nz : int"
    )
    assert html.count("<dl>") == 2
    inside = html.partition("</dl>")[0]
    assert all(word in inside for word in ("Two.", "f(1)", "Three.", "<code>y</code>"))
    assert "Changed in version 3" in html.partition("</dl>")[2]


# ---- Tables


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "==  ==\nA   B\n==  ==\n1   a|b c\n    d\n\n2   e\n==  ==\n\nx",
            "| A | B |\n|---|---|\n| 1 | a\\|b c d |\n| 2 | e |\nx",
        ),
        ("==  ==\n1   2\n==  ==", "|  |  |\n|---|---|\n| 1 | 2 |"),
        (
            "+---+---+\n| A | B |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+",
            "| A | B |\n|---|---|\n| 1 | 2 3 |",
        ),
        (
            "==============  ==\nA               B\n==============  ==\n"
            ":math:`|x|` |   `|`\n==============  ==",
            "| A | B |\n|---|---|\n| $|x|$ \\| | `|` |",
        ),
        # What is not simple is shown as it was drawn.
        (
            "==  ==\nA and\n------\n1   2\n==  ==",
            "```text\n==  ==\nA and\n------\n1   2\n==  ==\n```",
        ),
        (
            "+----+\n| a  |\n|  b |\n+----+",
            "```text\n+----+\n| a  |\n|  b |\n+----+\n```",
        ),
        (
            "Key:\n  +--- a\n  v   | no |\n+===+=====+\n| x | |\n+---+-----+\nMore.",
            "Key:\n```text\n  +--- a\n  v   | no |\n+===+=====+\n| x | |\n"
            "+---+-----+\n```\nMore.",
        ),
        (
            "Key:\n+-+--+\n|a|b |\n+-+--+",
            "Key:\n```text\n+-+--+\n|a|b |\n+-+--+\n```",
        ),
        # So are trees and the like.
        (
            "Folders:\nruns\n├── a\n│   └── b\n└── c\nMore.",
            "Folders:\n```text\nruns\n├── a\n│   └── b\n└── c\n```\nMore.",
        ),
        (
            "Words.\n\n     ┌───┐\n┌────┤ a │\n     └───┘",
            "Words.\n```text\n     ┌───┐\n┌────┤ a │\n     └───┘\n```",
        ),
        (
            "Tree:\n  runs\n  |-- a\n  |   `-- b\n  `-- c",
            "Tree:\n```text\nruns\n|-- a\n|   `-- b\n`-- c\n```",
        ),
        ("One │ alone\nis none", None),
        # And these are no tables.
        ("==  ==\n1   2", None),
        ("+-- a\n+-- b\n+---+", None),
        ("a = = b", None),
    ],
)
def test_tables(text, expected):
    check_set(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            " Title\n   :header-rows: 1\n   :widths: 1 2\n   :align: left\n\n"
            "   * - A\n     - B\n"
            "   * - a|b\n       c\n     -\n\n   * - ``d``\n     - e",
            "Title\n| A | B |\n|---|---|\n| a\\|b c |  |\n| ``d`` | e |",
        ),
        ("\n\n   - * 1\n     * :math:`2`", "|  |  |\n|---|---|\n| 1 | $2$ |"),
        # What is not simple stays a list.
        (
            " T\n   :header-rows: 2\n\n   * - a\n   * - b\n   * - c",
            "T\n* - a\n* - b\n* - c",
        ),
        ("\n\n   * - a\n     - b\n   * - c", "* - a\n  - b\n* - c"),
        (" T\n\n   * - a\n\n       b", "T\n* - a\n    b"),
        ("\n\n   * - - a", "* - - a"),
        ("\n\n   * - a::\n   * - b", "* - a::\n* - b"),
        ("\n\n   * - `a\n     - b` c", "* - `a\n  - b` c"),
        ("\n\n   * - a\n     b", "* - a\n  b"),
        ("\n\n   * a", None),
        ("\n\n   a", None),
        ("", None),
    ],
)
def test_tables_that_are_written_as_lists(text, expected):
    text = f".. list-table::{text}"
    check_set(text, expected)


def test_the_rows_of_a_list_keep_their_numbers():
    text = ".. list-table::\n   :header-rows: 1\n\n   * - One\n\n   * - Two\n\nx"
    numbers = {line: number for number, line in set_rst(prose(text)).lines}
    assert (numbers["| One |"], numbers["| Two |"], numbers["x"]) == (13, 15, 17)
    assert html_of(f"F.\n\n{text}").count("<th>") == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            ' T\n   :header: A, "B, b"\n\n   1, "2, |3|"\n   4,\n\nEnd.',
            "T\n| A | B, b |\n|---|---|\n| 1 | 2, \\|3\\| |\n| 4 |  |\nEnd.",
        ),
        (
            "\n   :header-rows: 1\n\n   A, B\n   1, 2",
            "| A | B |\n|---|---|\n| 1 | 2 |",
        ),
        ("\n\n   1, 2", "|  |  |\n|---|---|\n| 1 | 2 |"),
        # What is not so simple stays.
        ("\n   :file: x.csv", None),
        ("\n\n   1, 2\n   3", None),
        ('\n\n   1, "2\n   3", 4', None),
        ("\n\n   1, - a", None),
        ('\n\n   1", "2\n   3", "4', None),
        ("", None),
    ],
)
def test_tables_that_are_written_with_commas(text, expected):
    text = f".. csv-table::{text}"
    check_set(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One.\n\nTwo\n~~~~\nWords.", "One.\nTwo\n----\nWords."),
        ("  Two\n  ^^^^^\n  Words.", "  Two\n  -----\n  Words."),
        # And these are fences, or nothing.
        ("Use:\n~~~~\nx\n~~~~", None),
        ("Use it\n~~~\nx\n~~~", None),
        ("A long\nparagraph\n~~~~~~~~~~\nx\n~~~~~~~~~~", None),
        ("```\nTwo\n~~~~\n```", None),
        ("~~~~\nx\n~~~~", None),
    ],
)
def test_underlined_titles(text, expected):
    check_set(text, expected)


# ---- Nothing is lost

LINES = [
    "{0}",
    "{0}:",
    "{0}::",
    "- {0}",
    "- {0}::",
    "1. {0}",
    "Args:",
    "Args::",
    "Returns:",
    "Raises:",
    "Note:",
    "Example:",
    "See Also:",
    "{0}: {1}",
    "{0} ({1}): {2}",
    "bool: {0}",
    "Parameters",
    "Notes",
    "----------",
    "~~~~~~~~~~",
    "{0} : {1}",
    ":param {0}: {1}",
    ":type {0}: {1}",
    ":rtype: {0}",
    ">>> {0}({1})",
    "```",
    "$$",
    "!!! note",
    "| {0} | {1} |",
    "|---|---|",
    ".. note:: {0}",
    ".. note::",
    ".. versionadded:: {0} {1}",
    ".. admonition:: {0}",
    ".. unknown:: {0}",
    ".. math:: {0}",
    ".. code-block:: python",
    ".. image:: {0}.png",
    ".. rubric:: {0}",
    ".. list-table:: {0}",
    ".. csv-table:: {0}",
    ':header: {0}, "{1}"',
    '{0}, "{1}"',
    ":header-rows: 1",
    "* - {0}",
    "* - `{0}",
    "  - {0} {1}",
    ".. [1] {0}",
    ".. [{0}]",
    "|it| |{0}| {1}|",
    ".. |{0}| image:: {1}",
    "`{0} <https://{1}>`_ and [{2}]_",
    "`{0}",
    ":class:`{0}` :math:`{1}` :file:`{2}`",
    "====  ====",
    "{0}  {1}",
    "+----+----+",
    "",
    "",
    "",
]


@st.composite
def docstrings(draw):
    chosen = st.tuples(
        st.sampled_from(LINES), st.sampled_from([0, 0, 0, 2, 4, 4, 6, 8])
    )
    lines = []
    for n, (line, indent) in enumerate(draw(st.lists(chosen, max_size=14))):
        words = [f"word{n}{letter}" for letter in "xyz"]
        lines.append(" " * indent + line.format(*words) if line else "")
    return "\n".join(["F.", "", *lines])


def test_a_bracket_in_a_formula_is_no_reference():
    html = html_of(r"Its part is $[x]_+ = \max(0, x)$, as in [1]_ and `a`_.")
    assert r"[x]_+ = \max(0, x)" in html


# Of a row with four cells, Markdown's tables of two columns leave out two.
TOO_WIDE = re.compile(r"^ *\|---\|---\|\n(?:.+\n)* *\|it\|", re.MULTILINE)


@given(docstrings())
@example("F.\n\n- word0x\n  - word1x word1y\n|it| |word2x| word2y|")
def test_each_word_is_still_there(text):
    assume(not TOO_WIDE.search(text))
    try:
        html = html_of(text, report=lambda error: None)
    except FormulaError:
        return  # A page with it is not made, and the author is told.
    missing = [word for word in re.findall(r"word\d+[xyz]", text) if word not in html]
    assert missing == []


def test_a_comment_that_announces_the_code_beside_it_ends_with_one_colon():
    source = (
        "def f():\n    # Say::\n    #\n    g()\n\n    #\n    # ::\n    #\n    h()\n"
    )
    rows = weave(read(source.encode(), "a.py", "a"), {}).rows
    assert [row.prose for row in rows if row.prose] == ["Say:"]


@pytest.mark.parametrize("margin", ["    ", "        "])
def test_code_in_an_item_of_sphinx_stays_in_its_list(margin):
    code = f"{margin}code(a)"
    html = html_of(f"Do.\n\n:param a: the a. So::\n\n{code}\n\n:param b: the b.")
    assert html.count("Arguments") == 1
    assert re.search(r"<dd>\s*<p>the a. So:</p>.*?code.*?</dd>\s*<dt>", html, re.DOTALL)


def test_a_table_may_end_where_the_next_item_begins():
    rule = "    =====  ====="
    html = html_of(
        f"F.\n\nParameters\n----------\nx : str\n    One of:\n\n{rule}\n"
        f"    a      first\n    b      second\n{rule}\ny : int\n    Y."
    )
    assert "=====" not in html
    assert "<td>second</td>" in html
    assert html.count("<dt>") == 2
