"""What the code of other packages showed: each case is the smallest that does."""

import pytest
from markdown import Markdown

from sidebyside.check import check
from sidebyside.press import EXTENSIONS
from sidebyside.read import read
from sidebyside.render import environment, render
from sidebyside.weave import weave


def html(text: str) -> str:
    source = read(text.encode(), "m.py", "m")
    page = render(weave(source, {}), environment())
    return Markdown(extensions=[*EXTENSIONS]).convert(page.partition("\n---\n")[2])


def docstring(*lines: str) -> str:
    body = "".join(f"    {line}".rstrip() + "\n" for line in lines)
    return f'def f(a):\n    r"""\n{body}    """\n'


@pytest.mark.parametrize(
    ("text", "has", "has_not"),
    [
        (
            docstring("F.", "", "Explanation", "====", "", "W."),
            "<h2",
            ">Explanation</h1>",
        ),
        (
            docstring("a (`int`, *optional*):", "    A.", "b (`int`):", "    B."),
            '<dt><code>b</code> <code class="sbs-type">int</code></dt>',
            "*optional*",
        ),
        (
            docstring("F.", "", ".. container:: x", "", "    Words."),
            "<p>Words.</p>",
            ".. ",
        ),
        (docstring("See :doi:`10.1/2`."), 'href="https://doi.org/10.1/2"', ":doi:"),
        (docstring("See :paramref:`.c.x`."), "<code>c.x</code>", ":paramref:"),
        (docstring("See :rst:dir:`math`."), "<code>math</code>", ":rst:"),
        ("# Not <img> but words.\nx = 1\n", "&lt;img&gt; but", "<img"),
        (
            docstring("F.", "", ">>> f(1)", "2", "", "# the same", ">>> f(a=1)", "2"),
            "# the same",
            "the same</h1>",
        ),
        ("# The _repr_pretty_ method.\nx = 1\n", "_repr_pretty_", "<em>"),
        ("# As self._loss.x and score_.\nx = 1\n", "self._loss.x and", "<em>"),
        (docstring("Of these:", "", "0) a", "1) b"), '<ol start="0">', "0)"),
        ("# p=[a.p, b.p][best], q\nx = 1\n", "p=[a.p, b.p][best], q", '<a href=""'),
        (docstring("F.", "", ":return : a word"), ">Returns<", ":return"),
        (
            docstring(
                ".. math::", "", r"    \textrm{if $t_{i+1}$, $0$,}", "", "    C = 2"
            ),
            "sbs-math",
            "$$",
        ),
        (
            docstring("F.", "", "@param a: the C{int}.", "@return: it."),
            "<code>a</code>",
            "@",
        ),
        (
            docstring(
                "a: x", "", "@param a: the C{int}.", "@returns: it.", "@note: N."
            ),
            ">Returns<",
            "@",
        ),
        (docstring('>>> print("=" * 5)', "====="), "=====", "-----"),
        ("# Between 1 and\n# 0. Then it ends.\nx = 1\n", "0. Then", "<ol"),
        (docstring("See :doc:`../index`."), "<code>../index</code>", ":doc:"),
        (docstring("See :py:obj:`~.foo.Bar`."), "<code>Bar</code>", ":py:"),
        (docstring("See :cpp:expr:`!x`."), "<code>!x</code>", ":cpp:"),
        (
            '# <img alt="a > b" src="x.png">\nx = 1\n',
            '<img alt="a &gt; b" src="x.png"',
            "&lt;img",
        ),
        ('# An <img data-src="x"> here.\nx = 1\n', "&lt;img", "<img"),
        (
            docstring("F.", "", ":param a, b : both"),
            "<dt><code>a, b</code></dt>",
            "sbs-type",
        ),
        (
            docstring(
                "F.", "", ">>> f(1)", "", "# one thing", "# on two", ">>> f(2)", "2"
            ),
            "on two",
            "on two</h1>",
        ),
    ],
)
def test_habits_of_others(text, has, has_not):
    prose = html(text).partition('class="sbs-code')[0]
    assert has in prose
    assert has_not not in prose


def test_what_is_no_mistake():
    text = (
        "class A:\n    '''A.'''\n\n    def f(self, x):\n        '''\n        F.\n\n"
        "        Parameters\n        ----------\n        self : A\n            It.\n"
        "        x : A\n            X.\n        '''\n        # g.shape = (n, k)\n"
        "        return x\n"
    )
    found = check(read(text.encode(), "m.py", "m"), {})
    assert [each.code for each in found if each.code not in ("SBS401",)] == []
