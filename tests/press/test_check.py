"""The linter: each rule, what it leaves alone, and how it says so."""

import inspect
import json
import re
import textwrap
from pathlib import Path

import pytest

from sidebyside import check as page
from sidebyside import press
from sidebyside.catalogue import catalogue
from sidebyside.check import RULES, check, gaps, habits, rules
from sidebyside.cli import main
from sidebyside.findings import found
from sidebyside.read import read


def findings(text):
    source = read(text.encode(), "book/m.py", "book.m")
    return check(source, catalogue([source]))


def codes(text):
    return [(finding.line, finding.code) for finding in findings(text)]


def test_the_page_lists_the_rules():
    listed = re.findall(r"^\| (SBS\d+) \|", page.__doc__ or "", re.MULTILINE)
    assert listed == list(RULES)
    code = "".join(map(inspect.getsource, (rules, habits, gaps)))
    found = re.findall(r'"(SBS\d+)"', code)
    assert {*found, "SBS101"} == {*RULES}, "RULES and the page want all, and no others"


DOC = '"""# Title"""\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Front matter and formulas
        ('"""\n---\ntitle: a: b\n---\n"""\n', [(3, "SBS102")]),
        (DOC + "# One.\n#\n# $\\frac{$ and $\\alph$.\nx = 1\n", [(4, "SBS201")] * 2),
        ('"""\n---\ntags: [a]\nsymbol: {}\n---\n\n# T\n"""\n', [(4, "SBS102")]),
        ('"""\n---\ntitle: A\nsubtitle: B\ntitles: C\n---\n\n# T\n"""\n', []),
        # Links
        (DOC + "# See [Nope][] and [m][].\nx = 1\n", [(2, "SBS202")]),
        (DOC + "# See [x](JavaScript:alert(1)).\nx = 1\n", [(2, "SBS203")]),
        (DOC + "# See [x][y].\n#\n# [y]: data:text/html,x\nx = 1\n", [(4, "SBS203")]),
        (DOC + "# See `[x](javascript:y)` and [x](y.md).\nx = 1\n", []),
        # Symbols
        (
            '"""\n---\nsymbols:\n  φ: "x"\n  ϑ: "y"\n---\n\n$x y$\n"""\n\n\n'
            "def _f(ϕ, θ): pass\n",
            [],
        ),
        (
            '"""\n---\nsymbols:\n  x: "x_t"\n  gone: "y"\n---\n\n$x_t y$\n"""\n'
            "class _C:\n    x = 1\n",
            [(5, "SBS204")],
        ),
        (
            '"""\n---\nsymbols:\n  x: "x_t"\n  y: "y"\n---\n\n$x_{t+1}$, `$x_t$`\n"""\n'
            "class _C:\n    # $y$\n    x, y = 1\n",
            [(4, "SBS204")],
        ),
        # A page of words
        ('"""\n---\nsymbols:\n  x: "x"\n  y: "y"\n---\n\n$x$\n"""\n', [(5, "SBS204")]),
        # What is no symbol lights nothing.
        (
            'r"""\n---\nsymbols:\n  x: "A"\n---\n\n$\\hat{A} \\text{A}$\n"""\nx = 1\n',
            [(4, "SBS204")],
        ),
        # A name may be a key as well, and all symbols may be on one line.
        (
            '"""\n---\ntitle: T\nsymbols:\n  title: "q"\n---\n\n$x$\n"""\nx = 1\n',
            [(5, "SBS204")],
        ),
        (
            '"""\n---\ntitle: T\nsymbols: {x: q}\n---\n\nx: $x$\n"""\nx: int = 1\n',
            [(4, "SBS204")],
        ),
        # Dollars
        (DOC + "# $$\n# x\n#\n# - y\n# $$\nx = 1\n", [(2, "SBS205"), (6, "SBS205")]),
        (DOC + "# $$x = 1$y$$\nx = 1\n", [(2, "SBS205")] * 2),
        (DOC + "# $$\n# x\n# - y\n# $$, `$$` and \\$\\$.\nx = 1\n", []),
        (DOC + "# Two.\n# $HOME and $PATH it$\nx = 1\n", [(3, "SBS205")]),
        (DOC + "# $Id$ costs 5$ or 6$\nx = 1\n", []),
        # Code in comments
        (DOC + "# x = f(1)\ny = 2\n", [(2, "SBS301")]),
        (DOC + "# Text.\n#\n# for x in y:\n#     print(x)\nz = 1\n", [(4, "SBS301")]),
        (DOC + "# import os\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# raise ValueError('x')\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# else:\n#     f(x)\nz = 1\n", [(2, "SBS301")]),
        (
            DOC + "# elif y > 1:\n#     z = 2\n# else:\n#     pass\nz = 1\n",
            [(2, "SBS301")],
        ),
        (DOC + "# except ValueError as e:\n#     pass\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# finally: f(x)\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# else: nothing\n#\n# finally: done\n#\n# else: raise\nz = 1\n", []),
        (DOC + "# except x: y\n#\n# raise Error (2)\n#\n# else (2): z\nz = 1\n", []),
        (DOC + "# print(x)\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# if x: f(y)\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# if needed: grow\n#\n# with care: go\nz = 1\n", []),
        (DOC + "# Words\nz = 1\n", []),
        (DOC + "# x or y\nz = 1\n", []),
        (DOC + "# Note: this\nz = 1\n", []),
        (DOC + "# Note: z = 1\n#\n# Hence: f(z) = 2\nz = 1\n", []),
        (
            DOC + "# y: int = 1\n#\n# y: list[x] = 1\nz = 1\n",
            [(2, "SBS301"), (4, "SBS301")],
        ),
        (DOC + "# a, b\n#\n# 'text'\n#\n# pass\nz = 1\n", []),
        (DOC + "# YYYYMMDD (8)\nz = 1\n", []),
        (DOC + "# return\nz = 1\n", []),
        (DOC + "# ```python\n# x = f(1)\n#\n# y = 2\n# ```\nz = 1\n", []),
        (DOC + "# For example:\n#\n#     x = f(1)\nz = 1\n", []),
        (DOC + "z = 1  # x = f(1)\n", []),
        (DOC + "# noqa: F401\nz = 1\n", []),
        (DOC + "# for each in all_of_them:\n#     pass\nz = 1\n", [(2, "SBS301")]),
        # An address may be given once for all the module.
        (
            '"""# T\n\n[there]: https://example.org/\n"""\n\n\ndef f():\n'
            '    """It is [there][], or [so][there]."""\n',
            [],
        ),
        # Backslashes
        ('"""# T\n\n$\\\\frac12$ but $\\theta$"""\n', [(3, "SBS302")]),
        ('r"""# T\n\n$\\theta$"""\n', []),
        (DOC + "x = 1\n'''$\\theta$'''\n", [(3, "SBS302")]),
        ('"""\\\n# T\n\n$\\\\theta$ and \\"x\\""""\n', []),
        # Lists
        (
            DOC + "# 1. one\n#   - two\n#   - three\nx = 1\n",
            [(3, "SBS303"), (4, "SBS303")],
        ),
        (DOC + "# - one\n#  - two\nx = 1\n", [(3, "SBS303")]),
        (DOC + "# - one\n#   - two\n#     - three\n# - four\nx = 1\n", []),
        (DOC + "# 1. one\n#    - two\nx = 1\n", []),
        (DOC + "# - one\n#   - two\n#    - three\nx = 1\n", [(4, "SBS303")]),
        (DOC + "# 1. one\n# 10. ten\n#    - two\nx = 1\n", [(4, "SBS303")]),
        (DOC + "# - one\n#   - two\n#\n#    Text.\n#    - three\nx = 1\n", []),
        (DOC + "# - one\n#   - two\n#     - three\n#   - four\nx = 1\n", []),
        (DOC + "# - one\n#     - two\n# - three\nx = 1\n", []),
        (DOC + "# - one\n#   more of it\n# - two\nx = 1\n", []),
        (DOC + "# $$\n# - x\n#  - y\n# $$\nx = 1\n", []),
        # Headings
        (DOC + "# # Again\nx = 1\n", [(2, "SBS304")]),
        (DOC + "# ### Too deep\nx = 1\n", [(2, "SBS304")]),
        (DOC + "# ## A\nx = 1\n# ### B\ny = 1\n# ## C\nz = 1\n", []),
        (DOC + "# ```\n# # no heading\n# ```\nx = 1\n", []),
        # A page without a title begins with the name of its module.
        ('"""Text."""\n# ### Too deep\nx = 1\n', [(2, "SBS304")]),
        ('"""Text.\n\n# T\n"""\n', [(3, "SBS304")]),
        ('"""Text.\n\n## A\n"""\n', []),
        ('"""\n---\ntitle: a: b\n---\n\n# T\n"""\n', [(3, "SBS102")]),
        # A heading may be underlined.
        ('"""# T\n\nAgain\n=====\n\nText.\n"""\n', [(3, "SBS304")]),
        ('"""# T\n\nOne\n---\n\n### Two\n"""\n', []),
        ('"""# T\n\nText,\nmore\n---\n\n### Two\n"""\n', [(7, "SBS304")]),
        # Prose
        ("x = 1\n", [(1, "SBS401")]),
        ("", []),
        ("# %% [markdown]\n# # Title\n\n# %%\nx = 1\n", []),
        ("# ## Not the title\nx = 1\n", [(1, "SBS401")]),
        (DOC + "# %% [md]\n'''\n\\alpha\n'''\nx = 1\n", [(4, "SBS302")]),
        (
            DOC + "class C:\n    def f(self):\n        return 1\n",
            [(2, "SBS401"), (3, "SBS401")],
        ),
        (DOC + "# What it is.\ndef f():\n    return 1\n", []),
        (DOC + "def _f():\n    return 1\n", []),
        (DOC + "def f():\n    '''Text.'''\n    def g():\n        return 1\n", []),
        (DOC + "@overload\ndef f(x):\n    ...\n", []),
        (DOC + "class P:\n    '''Text.'''\n    def f(self): ...\n", []),
        # Two of one name, each with its own parameters.
        (
            DOC + "if x:\n    def f(a):\n        '''A.\n\n        Args:\n"
            "            a: one.\n        '''\n"
            "else:\n    def f(b):\n        '''B.\n\n        Args:\n"
            "            b: one.\n        '''\n",
            [],
        ),
        (
            DOC + "class P:\n    '''Text.'''\n    @x.setter\n"
            "    def x(self, v):\n        pass\n"
            "    @x.deleter\n    def x(self):\n        pass\n",
            [],
        ),
        (
            DOC + "class P:\n    '''Text.'''\n    @overload\n    def f(self, x: int):\n"
            "        ...\n    @overload\n    def f(self, x: str):\n        ...\n"
            "    def f(self, x):\n        '''Text.'''\n        return x\n",
            [],
        ),
        (
            DOC + "class P:\n    '''Text.'''\n    @property\n    def x(self):\n"
            "        return 1\n    @x.setter\n    def x(self, v):\n        pass\n",
            [(5, "SBS401")],
        ),
        # Arguments
        (
            DOC + "def f(a, b, *c, _d, **e):\n    '''T.\n\n    Args:\n"
            "        a: x\n    '''\n",
            [(6, "SBS403")],
        ),
        (
            DOC + "def f(a):\n    '''T.\n\n    Args:\n        a: x\n"
            "            z: not one\n"
            "        b: y\n    '''\n",
            [(8, "SBS402")],
        ),
        (
            DOC
            + "@dataclass(frozen=True)\n"
            + "class C:\n    '''T.\n\n    Args:\n        a: x\n        b: y\n    '''\n"
            "    a: int\n    c: int\n    n: ClassVar[int]\n",
            [(7, "SBS403"), (8, "SBS402")],
        ),
        (
            DOC
            + "class C(NamedTuple):\n    '''T.\n\n    Args:\n        a: x\n    '''\n"
            "    a: int\n    c: int\n",
            [(6, "SBS403")],
        ),
        # What only says the type of an attribute may be there, and need not.
        (
            DOC + "class C(Base):\n    '''T.\n\n    Args:\n        a: x\n        b: y\n"
            "    '''\n    a: int\n    c: int\n",
            [],
        ),
        (
            DOC + "class C(Base):\n    '''T.\n\n    Args:\n        a: x\n    '''\n",
            [],
        ),
        (
            DOC + "def f(a, b, *, c):\n    '''T.\n\n    Args:\n"
            "        a (tuple(int, int)): x\n        b: y\n\n"
            "    Keyword Args:\n        c: z\n        d: z\n    '''\n",
            [(11, "SBS402")],
        ),
        # A list of keywords need not be one of all arguments.
        (
            DOC + "def f(a, *, c):\n    '''T.\n\n    Keyword Args:\n"
            "        c: z\n    '''\n",
            [],
        ),
        (
            DOC + "def f(a, b, c, d):\n    '''T.\n\n    Parameters\n"
            "    ----------\n    a, b : int\n        Text.\n    e : str\n"
            "    Words that are no name.\n\n    Other Parameters\n"
            "    ----------------\n    c : int, optional\n    '''\n",
            [(7, "SBS403"), (9, "SBS402")],
        ),
        (
            DOC + "def f(*a):\n    '''T.\n\n    Parameters\n    ----------\n"
            "    a1, a2, ... : int\n        Text.\n    '''\n",
            [],
        ),
        (
            DOC + "def f():\n    '''T.\n\n    Parameters\n    ----------\n"
            "    None\n    '''\n",
            [],
        ),
        (
            DOC + "def f(a, b, *c):\n    '''T.\n\n    :param a: x\n"
            "    :param str z: y\n    :type z: str\n    :return: x\n    '''\n",
            [(5, "SBS403"), (6, "SBS402")],
        ),
        (
            DOC + "class C:\n    '''T.\n\n    Args:\n        a: x\n    '''\n"
            "    def __init__(self, a):\n        self.a: int = a\n",
            [],
        ),
        # The first parameter of a method is what it is called with.
        *(
            (
                DOC + f"class C:\n    '''T.'''\n    {head}\n        '''T.\n\n"
                "        Args:\n            x: y\n        '''\n        return 1\n",
                expected,
            )
            for head, expected in [
                ("def f(this, x):", []),
                ("@classmethod\n    def f(klass, x):", []),
                ("@staticmethod\n    def f(a, x):", [(9, "SBS403")]),
                ("@staticmethod\n    def f(cls, x):", []),
                ("def f(this, /, *, a, x):", [(8, "SBS403")]),
            ]
        ),
        # And that of a function is like the others.
        (
            DOC + "def f(cls, x):\n    '''T.\n\n    Args:\n        cls: x\n"
            "        x: y\n    '''\n",
            [],
        ),
        (DOC + "def f(self, x):\n    '''T.\n\n    Args:\n        x: y\n    '''\n", []),
        # Not all fields are taken.
        (
            DOC
            + "@dataclass\nclass C:\n    '''T.\n\n    Args:\n        a: x\n    '''\n"
            "    a: int\n    b: int = field(init=False)\n",
            [],
        ),
        (DOC + "def f(a):\n    '''Text.'''\n", []),
        ("# %% [markdown]\n'''\n# T\n\n\\alpha\n'''\nx = 1\n", [(5, "SBS302")]),
        (DOC + "# ## A\nx = 1\n# # B\ny = 1\n", [(4, "SBS304")]),
        (DOC + "# - one\n#   - two\n#\n# Words.\n#\n#  - three\nx = 1\n", []),
        (
            DOC + "class P(Q):\n    '''T.'''\n    @override\n    def f(self):\n"
            "        return 1\n",
            [],
        ),
        (
            DOC + "@dataclass\nclass C:\n    '''T.\n\n    Args:\n        a: x\n"
            "    '''\n    a: int\n    _b: int = 0\n",
            [],
        ),
        (DOC + "# return f(x)[0]\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# return x, y\nz = 1\n", [(2, "SBS301")]),
        (DOC + "# y = f(x)\n# pass\nz = 1\n", [(2, "SBS301")]),
        (DOC + "def f():\n    '''T.\n\n    \\alpha'''\n", [(5, "SBS302")]),
        # All but the first parameter of a method have to be there, and a class is made
        # with those of its `__init__`, wherever that is.
        (
            DOC + "class C:\n    '''T.'''\n    def f(self, a, b):\n        '''T.\n\n"
            "        Args:\n            a: x\n        '''\n",
            [(8, "SBS403")],
        ),
        (
            DOC + "class C:\n    '''T.\n\n    Args:\n        a: x\n    '''\n"
            "    def _f(self, b): pass\n    def __init__(self, a): pass\n",
            [],
        ),
        (
            '"""\n---\nsymbols:\n  x: "x"\n  "y": "y"\n---\n\n$x$\n"""\n',
            [(5, "SBS204")],
        ),
    ],
)
def test_rules(text, expected):
    assert codes(text) == expected


def test_a_finding_says_where_what_and_what_to_do():
    (finding,) = findings(
        DOC + "def f():\n    x = [\n        # See [Nope][].\n    ]\n"
    )[1:]
    assert str(finding).startswith(
        "book/m.py:4:15: SBS202 a link to `Nope`, which is defined nowhere ("
    )
    assert str(finding).endswith(")")


def test_each_link_of_a_line_has_its_own_column():
    text = DOC + "# See [os.path][],  [os][], [its\n# path][os.path].\nx = 1\n"
    assert [(each.line, each.column) for each in findings(text)] == [
        (2, 7),
        (2, 21),
        (2, 29),
    ]


def test_each_formula_of_a_line_has_its_own_column():
    text = DOC + "# $a$, $\\b$, $c^d^e$ and $$f\n# \\g$$\nx = 1\n"
    text += 'def f():\n    """A $\\\\b$."""\n'
    assert [(each.line, each.column) for each in findings(text)] == [
        (2, 8),
        (2, 14),
        (2, 26),
        (6, 10),
    ]


@pytest.mark.parametrize(
    ("docstring", "more"),
    [
        (r"$\gamma$ and $a \\ b$", ""),
        (r"$\\hat{x}$ but $\gamma$", r", and write `\hat` for `\\hat`"),
        (r"\"So\" $\gamma$", r', and write `"` for `\"`'),
        ("\\\n$\\gamma$", ", and join the lines that a backslash joins"),
    ],
)
def test_a_raw_docstring_has_no_escapes(docstring, more):
    (finding,) = findings(f'"""# T\n\n{docstring}"""\n')
    assert finding.code == "SBS302"
    assert finding.remedy == f'Begin it with `r"""`{more}.'


def test_a_title_that_is_underlined_has_two_lines():
    (finding,) = findings('"""# T\n\nMore\n====\n"""\n')
    assert finding.remedy == "Write `## More` for both lines; a page has one title."
    (finding,) = findings('"""Text.\n\n# T\n"""\n')
    assert "a second title on the page, below the name" in finding.message


def test_a_name_that_is_none_to_yaml_can_be_quoted():
    text = '"""\n---\nsymbols:\n  {}: q\n---\n\n# $q$\n"""\non = 1\n'
    (finding,) = findings(text.format("on"))
    assert finding.remedy == "Put the name into quotes, such as `'on'`."
    assert findings(text.format("'on'")) == []


# ---- Pictures


PICTURES = [
    # The page of `book/m.py` is `book/m.md`, so its pictures are one folder up.
    ("![A](../img/a.png)", []),
    ("![A](../img/a.png#only-light)", []),
    ("![A](../img/b%20c.png) ![A](<../img/b c.png> 'Title')", []),
    ("![A [1]](../img/a_(1).png)", []),
    ("![A](https://example.com/a.png) ![A](//example.com/a.png) ![A](/a.png)", []),
    ("`![A](gone.png)` \\![A](gone.png) [A](gone.png)", []),
    ('<img src="../img/a.png">', []),
    ("![A](img/a.png)", ["img/a.png"]),
    ("![A](../img)", ["../img"]),
    ("![A\nof two lines](gone.png 'Title')", ["gone.png"]),
    ("[![A](gone.png)](https://example.com)", ["gone.png"]),
    ("![A][pic] ![pic][] ![pic]\n\n[pic]: gone.png", ["gone.png", "gone.png"]),
    ('<img alt="A" src="gone.png"/> <img src=\'none.png\'>', ["gone.png", "none.png"]),
    ('<figure>\n<img\nsrc="gone.png">\n</figure>', ["gone.png"]),
    ('<imgs src="gone.png"> <img data-src="gone.png">', []),
    ("![A film](../img/a.mp4)", []),
    ("![A film](../img/b.mp4)", ["../img/b.webp"]),
    ("![A film](c.webm)", ["c.webm", "c.webp"]),
]


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "docs" / "img"
    folder.mkdir(parents=True)
    for name in (
        "a.png",
        "b c.png",
        "a_(1).png",
        "d[1].png",
        "a.mp4",
        "a.webp",
        "b.mp4",
    ):
        (folder / name).write_bytes(b"")
    return tmp_path / "docs"


@pytest.mark.parametrize(("text", "missing"), PICTURES)
def test_pictures_that_do_not_exist(pictures, text, missing):
    source = read(f'r"""# T\n\n{text}\n"""\n'.encode(), "book/m.py", "book.m")
    found = check(source, catalogue([source]), pictures)
    assert [f.code for f in found] == ["SBS206"] * len(missing)
    assert [f.message.split("`")[1] for f in found] == missing
    assert check(source, catalogue([source])) == [], "nobody knows what there is"


@pytest.mark.parametrize(
    ("path", "address", "remedy"),
    [
        ("book/m.py", "img/a.png", "Did you mean `../img/a.png`?"),
        ("book/m.py", "b%20c.png", "Did you mean `<../img/b c.png>`?"),
        ("book/m.py", "d%5B1%5D.png", "Did you mean `../img/d[1].png`?"),
        ("book/in/__init__.py", "../img/a.png", "Did you mean `../../img/a.png`?"),
        (
            "book/in/__init__.py",
            "../../img/z.png",
            "Put it there, or mend its path, which starts at `book/in/index.md`.",
        ),
    ],
)
def test_a_picture_has_a_line_and_a_remedy(pictures, path, address, remedy):
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    text = f'"""# T"""\n# One line.\n# A ![picture]({address}).\nx = 1\n'
    source = read(text.encode(), path, module)
    (finding,) = check(source, catalogue([source]), pictures)
    assert (finding.line, finding.column) == (3, 3 + len("A ![picture]("))
    assert finding.message == f"the picture `{address}`, which is not in `docs`"
    assert finding.remedy == remedy


# ---- Pages


@pytest.mark.parametrize(
    ("text", "wrong", "remedy"),
    [
        ("[A](m.py) [B](../book/m.py#f) [C](m.md)", None, None),
        ("[A](../results.md#one) [B][to]\n\n[to]: ../results.md", None, None),
        ("[A](https://x.org/gone.py) `[B](gone.py)` [C](gone.txt)", None, None),
        ("[A](n.py)", "n.py", "Did you mean `m.py`?"),
        ("[A](results.md 'Title')", "results.md", "Did you mean `../results.md`?"),
        ("[A](results.py)", "results.py", "Did you mean `../results.md`?"),
        ("[A](a/quite/long/way/m.md)", "a/quite/long/way/m.md", "you mean `m.md`?"),
        (
            "[A][to]\n\n[to]: quite/another/place.py",
            "quite/another/place.py",
            "Mend its path, which starts",
        ),
    ],
)
def test_pages_that_do_not_exist(pictures, text, wrong, remedy):
    (pictures / "results.md").write_text("# Results")
    source = read(f'r"""# T\n\n{text}\n"""\n'.encode(), "book/m.py", "book.m")
    places = catalogue([source])
    found = [f for f in check(source, places, pictures) if f.code == "SBS207"]
    assert [f.message for f in found] == (
        [f"a link to `{wrong}`, which is no page"] if wrong else []
    )
    assert all(remedy in f.remedy for f in found)
    assert check(source, places) == [], "nobody knows what there is"


def test_pages_of_the_reference_are_made_later(pictures):
    text = '"""# T\n\n[A](../reference/book.m.md) [B](../reference/book.n.md)"""\n'
    source = read(text.encode(), "book/m.py", "book.m")
    (finding,) = check(source, catalogue([source]), pictures)
    assert finding.message == "a link to `../reference/book.n.md`, which is no page"


def test_a_definition_has_no_page_of_its_own(pictures):
    text = '"""# T\n\nSee [F](m/f.py)."""\n\n\ndef f():\n    """F."""\n'
    source = read(text.encode(), "book/m.py", "book.m")
    (finding,) = check(source, catalogue([source]), pictures)
    assert finding.message == "a link to `m/f.py`, which is no page"


# ---- On the command line


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "book"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text('"""# Book\n\nSee [f][book.inner.f]."""\n')
    (package / "inner" / "__init__.py").write_text(
        '"""# Inner"""\n\n\ndef f(a):\n    """To [the book][book]."""\n'
    )
    return package


def test_all_is_well(book, capsys):
    assert main(["check", "book"]) == 0
    assert main(["check", "book/inner"]) == 0, "links may leave what is looked at"
    assert main(["check", "book/inner/__init__.py", "book/__init__.py"]) == 0
    assert capsys.readouterr().out == ""


def test_a_namespace_is_part_of_the_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("src/clay/kiln").mkdir(parents=True)
    Path("src/clay/kiln/__init__.py").write_text('"""# Kiln"""\n')
    Path("src/clay/kiln/fire.py").write_text(
        '"""# Fire, of [the kiln][clay.kiln]"""\nfrom clay.kiln import x\n'
    )
    for path in ("src/clay", "src", "."):
        assert main(["check", path]) == 0, capsys.readouterr().out
    Path("docs").mkdir()
    Path("src/clay/kiln/fire.py").write_text('"""# Fire ![A](a.png)"""\nimport clay\n')
    for path in ("src/clay", "src", "."):
        assert main(["check", path]) == 1
        assert "which starts at `clay/kiln/fire.md`" in capsys.readouterr().out


@pytest.mark.parametrize("path", ["src", ".", "src/book", "src/book/inner"])
def test_a_folder_in_which_packages_lie(book, capsys, path):
    Path("src").mkdir()
    book.rename("src/book")
    Path("docs").mkdir()
    Path("docs/guide.md").write_text("# Guide")
    Path("setup.py").write_text('"""# Of no package, to [the package](src/book)"""')
    Path(".venv/lib").mkdir(parents=True)
    Path(".venv/lib/m.py").write_text("x = (\n")
    init = Path("src/book/inner/__init__.py")
    text = '"""# Inner\n\nThe [guide]({}guide.md)."""\n\n\ndef f():\n    """F."""\n'
    init.write_text(text.format("../../"))
    assert main(["check", path]) == 0, capsys.readouterr().out
    init.write_text(text.format("../"))
    assert main(["check", path]) == 1
    said = capsys.readouterr().out
    assert "__init__.py:3:13: SBS207 " in said
    assert "Did you mean `../../guide.md`?" in said


def test_the_documents_have_a_name_from_inside_them_too(book, monkeypatch, capsys):
    (book / "inner" / "__init__.py").write_text('"""# Inner ![A](a.png)"""\n')
    (book.parent / "docs").mkdir()
    monkeypatch.chdir(book.parent / "docs")
    assert main(["check", "../book", "--docs", "."]) == 1
    assert "`a.png`, which is not in `docs`" in capsys.readouterr().out


def test_what_cannot_be_read_is_one_finding(book, capsys):
    """Nobody knows what it defines, so links into it are not wrong."""
    links = "[1](other.py), [2][book.other.Shape], [3][book.thing.Shape]"
    (book / "thing.py").write_text(f'"""# A\n\n{links}\n"""\n')
    (book / "other.py").write_text("class Shape\n")
    assert main(["check", "book", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["path"], each["code"]) for each in found] == [
        ("book/other.py", "SBS101"),
        ("book/thing.py", "SBS202"),
    ]
    assert main(["check", "book/thing.py"]) == 1
    assert capsys.readouterr().out.count("SBS") == 1


@pytest.mark.parametrize(
    ("text", "ignored", "others"),
    [
        ("Alone.", "", False),
        ("The [shape][book.thing.Shape].", "", False),
        ("The [other][book.other].", "", True),
        ("The [other](other.py).", "", True),
        ("The [other][book.other].", "SBS2", False),
    ],
)
def test_other_modules_are_read_only_for_links(
    book, monkeypatch, text, ignored, others
):
    Path("docs").mkdir()
    (book / "thing.py").write_text(
        f'"""# A\n\n{text}\n"""\n\n\nclass Shape:\n    """## A shape"""\n'
    )
    (book / "other.py").write_text('"""# Other"""\n')
    read: list[str] = []
    load = press.load

    def noted(module):
        read.append(module.name)
        return load(module)

    monkeypatch.setattr(press, "load", noted)
    assert main(["check", "book/thing.py", "--ignore", ignored]) == 0
    assert ("book.other" in read) == others
    assert read.count("book.thing") == 1


def test_pictures_are_looked_for_beside_the_package(book, capsys):
    module = book / "inner" / "__init__.py"
    module.write_text(module.read_text().replace("# Inner", "# Inner ![A](../a.png)"))
    assert main(["check", "book"]) == 0, "there are no documents"
    (book.parent / "docs").mkdir()
    for path in ("book", "book/inner", "book/inner/__init__.py"):
        assert main(["check", path]) == 1
        assert "__init__.py:1:17: SBS206 " in capsys.readouterr().out
    (book.parent / "site").mkdir()
    (book.parent / "site" / "book").mkdir()
    (book.parent / "site" / "book" / "a.png").write_bytes(b"")
    assert main(["check", "book", "--docs", "site"]) == 0
    assert main(["check", "book", "--docs", "nowhere"]) == 2
    assert main(["check", "book", "--docs", "book/__init__.py"]) == 2


@pytest.mark.parametrize("path", ["tools", "tools/run.py"])
def test_pictures_of_a_script_are_looked_for_beside_its_folder(book, capsys, path):
    (book.parent / "docs").mkdir()
    (book.parent / "tools").mkdir()
    Path("tools/run.py").write_text('"""# Run ![A](a.png)"""\n')
    assert main(["check", path]) == 1
    assert "run.py:1:15: SBS206 " in capsys.readouterr().out


def test_findings_are_sorted_and_fail(book, capsys):
    (book / "broken.py").write_text("x = (\n")
    (book / "alone.py").write_text("# x = 1\ny = 2\n")
    assert main(["check", "book"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["book/alone.py:1:1:", "SBS301"],
        ["book/alone.py:1:1:", "SBS401"],
        ["book/broken.py:1:5:", "SBS101"],
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--select", "SBS4"], {"SBS401"}),
        (["--select", "sbs101,SBS301"], {"SBS101", "SBS301"}),
        (["--select", "SBS101, "], {"SBS101"}),
        (["--select", "SBS101", "--select", "SBS301"], {"SBS101", "SBS301"}),
        (["--ignore", "SBS1", "--ignore", "SBS4"], {"SBS301"}),
        (["--select", "SBS3", "--ignore", "SBS301"], set()),
    ],
)
def test_rules_can_be_chosen(book, capsys, options, expected):
    (book / "broken.py").write_text("x = (\n")
    (book / "alone.py").write_text("# x = 1\ny = 2\n")
    assert main(["check", "book", *options, "--format", "json"]) == bool(expected)
    assert {f["code"] for f in json.loads(capsys.readouterr().out)} == expected


def test_formats_for_programs(book, capsys):
    (book / "odd,name.py").write_text("# x = '100%'\ny = 2\n")
    main(["check", "book", "--ignore", "SBS4", "--format", "json"])
    (finding,) = json.loads(capsys.readouterr().out)
    assert finding["path"] == "book/odd,name.py"
    assert (finding["line"], finding["column"]) == (1, 1)
    main(["check", "book", "--ignore", "SBS4", "--format", "github"])
    assert capsys.readouterr().out == (
        "::error file=book/odd%2Cname.py,line=1,col=1,title=SBS301::"
        "a comment that is code, `x = '100%25'` "
        "(Delete it, or put it into a fenced block if it is to be read)\n"
    )


def test_notes_on_github_name_files_from_the_repository(
    book, capsys, monkeypatch, tmp_path
):
    """Also where the command is started in a folder of it, or names one above."""
    (book / "alone.py").write_text("# x = 1\ny = 2\n")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    (tmp_path / "docs").mkdir()
    for folder, path in (("book", "."), ("docs", "../book"), (".", str(book))):
        monkeypatch.chdir(tmp_path / folder)
        main(["check", path, "--select", "SBS301", "--format", "github"])
        assert capsys.readouterr().out.startswith("::error file=book/alone.py,line=1,")
    # What is elsewhere keeps its name.
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "docs"))
    main(["check", "book", "--select", "SBS301", "--format", "github"])
    assert capsys.readouterr().out.startswith("::error file=book/alone.py,line=1,")


def test_an_empty_line_has_one_column(book, capsys):
    (book / "bare.py").write_text("\ndef f():\n    return 1\n")
    main(["check", "book/bare.py", "--select", "SBS401"])
    said = capsys.readouterr().out
    assert said.startswith("book/bare.py:1:1: SBS401 a module without prose")


def test_a_comment_silences_rules(book, capsys):
    (book / "quiet.py").write_text(
        textwrap.dedent(
            """
            def f(a, b):  # noqa: ARG001, SBS401
                return a


            def g(a, b):
                '''For [Nothing][].

                Args:
                    a: one.
                    c: none.
                    d: none.  # noqa: SBS402
                '''  # noqa: D1, sbs403, SBS202
                return a


            def h(a):  # noqa
                return a
            """
        )
    )
    assert main(["check", "book/quiet.py"]) == 1
    said = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in said] == [
        "book/quiet.py:1:1: SBS401 a module without prose",
        "book/quiet.py:11:9: SBS402 `Args:` of `g` has `c`, which is no parameter",
        "book/quiet.py:17:1: SBS401 the function `h` without prose",
    ]


def test_a_rule_that_does_not_exist(book, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["check", "book", "--select", "SBS9"])
    assert caught.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith("argument --select: no rule begins with SBS9")


def test_a_folder_that_does_not_exist(capsys):
    assert main(["check", "nowhere"]) == 2
    assert capsys.readouterr().err == "sidebyside: nowhere: no such file or folder\n"


def test_what_is_not_looked_at(book, capsys):
    for path in ("venv/bad.py", "tests/bad.py", "book/tests/bad.py", "book/_v/bad.py"):
        Path(path).parent.mkdir(exist_ok=True)
        Path(path).write_text("x = (\n")
    Path("venv/pyvenv.cfg").write_text("")
    assert main(["check", "."]) == 1
    said = capsys.readouterr().out
    assert "SBS101" in said
    assert "venv" not in said
    words = ["--exclude", "tests", "--exclude", "book/_v/*"]
    assert main(["check", ".", *words]) == 0
    assert capsys.readouterr().out == ""
    # What runs before each commit names each file that has changed.
    paths = [f"{folder}/bad.py" for folder in ("tests", "book/tests", "book/_v")]
    assert main(["check", *paths, *words]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["check", *paths, "book/tests"]) == 1
    assert capsys.readouterr().out.count("SBS101") == 3


def test_where_the_syntax_is_wrong(book, capsys):
    (book / "thing.py").write_text('if True:\n    print "x"\n')
    main(["check", "book"])
    said = capsys.readouterr().out
    assert said.startswith("book/thing.py:2:5: SBS101 this is not Python: Missing par")
    assert "Did you mean print(...)? (Mend the syntax" in said


@pytest.mark.filterwarnings("error")
def test_what_python_has_to_say_about_comments_is_of_no_interest():
    assert findings('# x = compile("\\d", y)\npass\n')


@pytest.mark.parametrize(
    "prose",
    [
        r"Its size is $[x]_+ = \max(0, x)$, and $f[x]_\theta$.",
        r"All of $\hat{x}[t][n]$, $[x][y]$ and $\{a\}[b][]$.",
        "As $[a](z.py)$ and $![q](r.png)$ and $[a](x:y)$.",
        "[^1]: Note: this one.",
        "[^2]: setup.py does it.",
        "It says arr[0](std::move(x)).",
        "[x]: int: the x",
    ],
)
def test_what_is_no_link(prose):
    assert findings(f'r"""\n# A\n\n{prose}\n"""\n') == []


MADE = """class A{head}:
    \"\"\"
    A.

    Args:
        a: one.
        b: two.
    \"\"\"
{body}"""


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("(metaclass=M)", "    x = 1\n"),
        ("(Base, TypedDict)", "    a: int\n"),
        ("", "    if X:\n        def __init__(self, a, b): pass\n"),
        (
            "",
            "    @overload\n    def __init__(self, a): ...\n"
            "    def __init__(self, a, b): pass\n",
        ),
    ],
)
def test_what_a_class_is_made_with_may_be_out_of_sight(head, body):
    text = MADE.format(head=head, body=body)
    assert "SBS402" not in dict(codes(text)).values()
    empty = MADE.format(head="", body="")
    plain = MADE.format(head="", body="    def __init__(self, a): pass\n")
    for text in (empty, plain):
        assert "SBS402" not in dict(codes(f"@strange\n{text}")).values()
    assert "SBS402" in dict(codes(plain)).values()


def test_a_finding_without_a_place_is_at_the_first_word():
    source = read(b"class C:\n    x = 1\n", "m.py", "m")
    assert found(source, 2, "SBS1", "x", "y").column == 5
