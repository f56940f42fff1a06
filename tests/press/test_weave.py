"""Rows of a page: their anchors, headings and the place of their prose."""

import re
from textwrap import indent
from typing import Any

import pytest
from markdown import Markdown

from sidebyside.catalogue import catalogue
from sidebyside.errors import PressError
from sidebyside.fields import types_of
from sidebyside.links import pictures_in, set_links
from sidebyside.mathematics import find
from sidebyside.read import read
from sidebyside.render import environment, render
from sidebyside.split import comment_text, prose_blocks, split
from sidebyside.weave import is_essay, outlined, public_names, weave
from tests.press.texts import GAME_SOURCE, PLACES, WORKER_SOURCE, html_of, prose

# ---- Anchors

BEFORE = b"def f():\n    # First words of a comment.\n    x = 1\n\ny = 2\n"
AFTER = b"# New.\nz = 3\n\ndef g(): pass\n\n" + BEFORE + b"\n# More.\n"


def test_anchors_survive_edits_elsewhere():
    anchors = [
        {row.anchor for row in weave(read(data, "m.py", "m"), {}).rows}
        for data in (BEFORE, AFTER)
    ]
    assert {"f", "f--first-words-of-a-comment", "y-2"} <= anchors[0]
    assert anchors[0] <= anchors[1]


def test_a_heading_does_not_take_the_name_of_a_definition():
    source = read(b'"""# Weave"""\n\ndef weave():\n    pass\n', "m.py", "m")
    assert [row.anchor for row in weave(source, {}).rows] == ["weave-2", "weave"]


@pytest.mark.parametrize(
    ("heading", "shown", "title"),
    [
        (
            "How [two][] and :func:`two` work",
            "How [`two`](#two) and [`two`](#two) work",
            "How two and two work",
        ),
        ("Of :mod:`book.m` (x)", "Of `book.m` (x)", "Of book.m (x)"),
        ("As [one's][d] x[i][j]", "As [one's][d] x[i][j]", "As one's x[i][j]"),
        ("The [game](game.py)", "The [game](game.md)", "The game"),
    ],
)
def test_links_in_headings(heading, shown, title):
    text = f'"""# {heading}\n\n[d]: https://a.org\n"""\ndef two():\n    "Two."\n'
    source = read(text.encode(), "book/m.py", "book.m")
    page = weave(source, catalogue([source, GAME_SOURCE]))
    assert (page.rows[0].heading, page.title, page.rows[0].title) == (
        shown,
        title,
        title,
    )


def test_a_link_in_a_heading_leads_somewhere():
    source = read(b"x = 1\n\n\n# ## Of [nope][]\ny = 2\n", "book/m.py", "book.m")
    with pytest.raises(PressError, match=r"^book/m\.py:4: a link to `nope`"):
        weave(source, {})


def test_anchors_are_unique():
    data = b"# Same words.\nx = 1\n# Same words.\ny = 2\ndef f(): pass\ndef f(): pass\n"
    anchors = [row.anchor for row in weave(read(data, "m.py", "m"), {}).rows]
    assert anchors == ["same-words", "same-words-2", "f", "f-2"]


# ---- Essays

PARAGRAPHS = "A line.\n\n" * 15


def rows_of(code: str):
    return weave(read(code.encode(), "m.py", "m"), {}).rows


@pytest.mark.parametrize(
    ("text", "imports", "is_essay"),
    [
        (f"# T\n\n{PARAGRAPHS}## More\n\nAnd more.\n", 4, True),
        (f"# T\n\n{PARAGRAPHS}## More\n\nAnd more.\n", 30, False),
        # The heading that it begins with stands above both columns anyway.
        (f"# T\n\n{PARAGRAPHS}And more.\n", 4, False),
        (f"# T\n\n{PARAGRAPHS}```sh\n## More\n```\n", 4, False),
        ("# T\n\nA line.\n\n## More\n\nAnd more.\n", 0, False),
    ],
)
def test_what_begins_a_module_may_be_an_essay(text, imports, is_essay):
    code = f'"""\n{text}"""\n\n' + "import os\n" * imports
    (row,) = rows_of(code)
    assert row.essay is is_essay
    page = render(weave(read(code.encode(), "m.py", "m"), {}), environment())
    assert ('<section class="sbs-row sbs-essay" markdown>' in page) is is_essay


def test_a_definition_stands_beside_its_prose():
    text = f"## T\n\n{PARAGRAPHS}### More\n\nAnd more.\n"
    docstring = '    """\n' + indent(text, "    ") + '    """\n'
    assert not any(row.essay for row in rows_of(f"def f():\n{docstring}"))
    comment = "".join(f"# {line}".rstrip() + "\n" for line in text.splitlines())
    (row,) = rows_of(f"{comment}x = 1\n")
    assert row.essay


def test_a_long_text_without_code_has_the_page_to_itself():
    lines = f"## T\n\n{PARAGRAPHS}".splitlines()
    comment = "".join(f"# {line}".rstrip() + "\n" for line in lines)
    *_, row = rows_of(f"x = 1\n\n{comment}")
    assert row.essay
    assert not row.code
    *_, row = rows_of("x = 1\n\n# ## T\n#\n# A line.\n")
    assert not row.essay


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("Iterator[int]", ["int"]),
        ("AsyncGenerator[list[str], None]", ["list[str]"]),
        ("abc.Iterator[int]", ["int"]),
        ("Generator", []),
        ("list[int]", []),
    ],
)
def test_what_is_yielded_is_of_the_first_type(returns, expected):
    html = html_of("F.\n\nYields:\n    each number.", f"def f() -> {returns}")
    assert re.findall(r'class="sbs-type">([^<]+)<', html) == expected


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("def f(x: int, /, *, y: str): pass\n", {"x": "int", "y": "str"}),
        (
            "class C:\n    x: int\n    def __init__(self, x: str): ...\n",
            {"x": "str"},
        ),
        (
            "def f() -> Annotated[int, 'seconds']: pass\n",
            {"return": "Annotated[int, 'seconds']"},
        ),
    ],
)
def test_types_of_any_signature(text, types):
    node = read(text.encode(), "m.py", "m").definitions[0].node
    assert types_of(node) == types


def test_a_short_fence_in_a_long_one_is_code():
    code = "So:\n- x\n```\nSo:\n- y\n```\n"
    assert code in html_of(f"````\n{code}````\n\nMore.")


def test_a_table_in_a_fence_is_code():
    assert "x\n| a |\n|---|\n" in html_of("```\nx\n| a |\n|---|\n```")


def test_an_example_below_a_title_of_numpy_is_code():
    assert "```" not in html_of("F.\n\nNotes\n-----\nSo:\n\n    >>> 1\n    1\n")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (":param z: it.\n:type z: list of\n    str or int\n", "list of str or int"),
        (":param int z: it.\n:type z: int\n", "int"),
    ],
)
def test_a_type_in_sphinxs_style_is_whole_and_said_once(text, shown):
    html = html_of(text)
    assert f">{shown}</code>" in html
    assert f"{shown}, {shown}" not in html


def test_a_box_in_numpys_list_keeps_its_text():
    html = html_of("F.\n\nReturns\n-------\n!!! note\n    In a box.\n")
    assert re.search(r"Note</p>\s*<p>In a box.</p>\s*</div>", html)


def test_of_a_warning_there_may_be_nothing_to_say():
    html = html_of("F.\n\nWarns:\n    UserWarning\n    FutureWarning: soon.\n")
    assert "<code>UserWarning</code>" in html


def test_a_formula_behind_words_between_dollars_is_one():
    assert [f.tex for f in find(r"Set $HOME and then ($\pi$).")] == [r"\pi"]
    assert [f.display for f in find("\\begin{alignat}{2}\na &= b\n\\end{alignat}")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def f():\n    x = 1\n    # Of f.\ndef g():\n    pass\n",
            [("f", ""), ("f", "Of f."), ("g", "")],
        ),
        (
            "def f():\n    x = 1\n    # Of f.\n# Of none.\ny = 2\n",
            [("f", ""), ("f", "Of f."), ("", "Of none.")],
        ),
        ('"""M."""\nfrom a import b\n\n# Copyright A.\nx = 1\n', [("", "M.")]),
        ("#: How many.\n#: Not less.\nx = 1\n", [("", "How many.\nNot less.")]),
    ],
)
def test_whose_a_comment_is(text, expected):
    found = split(read(text.encode(), "m.py", "m"))
    assert [(s.scope, s.prose.text) for s in found] == expected


def test_the_first_of_several_names_has_the_docstring():
    source = read(b"x = y = 1\n'''Of x.'''\n", "m.py", "m")
    assert [attribute.name for attribute in source.attributes] == ["x"]


def test_a_decorator_may_begin_above_its_expression():
    source = read(b"x = 1\n@(\n    a\n)\ndef f():\n    pass\n", "m.py", "m")
    assert [(d.first, d.header) for d in source.definitions] == [(2, 5)]


def test_a_title_in_a_comment_may_stand_below_the_first_line():
    source = read(b"#!/usr/bin/env python\n# # Title\nx = 1\n", "m.py", "m")
    page = weave(source, {})
    assert page.title == "Title"
    assert [(row.heading, row.anchor) for row in page.rows] == [("Title", "title")]


def test_a_sign_at_the_end_is_no_frame():
    (block,) = prose_blocks(read(b"# ## About C#\n", "m.py", "m"))
    assert comment_text(block) == ["## About C#"]


def test_a_role_with_words_may_begin_with_a_dot():
    text = set_links(prose(":meth:`a <.Worker.step>`"), "", WORKER_SOURCE, PLACES).text
    assert text == "[a](#Worker.step)"


def test_a_picture_is_found_by_its_label():
    found = pictures_in("![Two\nWords][]\n\n[two words]: a.png")
    assert [picture.address for picture in found] == ["a.png"]


def test_pictures_make_an_essay_longer():
    pictures = "\n\n".join(f"![A](a{n}.png)" for n in range(3))
    assert is_essay(prose(f"## A\n\n{pictures}\n\nText."), 1)


def test_a_broken_formula_may_have_backticks():
    wrong: list[Any] = []
    html = html_of("A $\\text{`a`} \\frac$ here.", report=wrong.append)
    assert wrong
    assert "<code>$\\text{`a`} \\frac$</code>" in html


def test_what_is_public():
    assert public_names(read(b"def f(): ...", "a/_b.py", "a._b")) == {}
    inner = read(b"class _A:\n    class B: ...\n", "m.py", "m")
    assert public_names(inner) == {"": "m"}
    source = read(b'def f():\n    """F."""\n    # Text.\n    x = 1\n', "m.py", "m")
    assert [row.public for row in weave(source, {}).rows] == ["m.f", ""]


def test_a_heading_in_a_body_leaves_the_outline_alone():
    text = (
        b"# # T\n\ndef f():\n    x = 1\n    # ### In f\n    y = 1\n"
        b"\ndef g():\n    pass\n"
    )
    assert outlined(read(text, "m.py", "m")) == {"f": 2, "g": 2}


def test_the_title_of_a_section_has_no_marks():
    (row,) = rows_of('def f():\n    """## A *long* `x`, $y$"""\n')
    assert row.title == "A long x, y"


def test_a_formula_by_itself_is_joined_to_nothing():
    assert "sbs-join" not in Markdown(extensions=["sidebyside"]).convert("$$x$$.")


def test_a_series_keeps_its_class():
    md = Markdown(extensions=["sidebyside", "attr_list"])
    html = md.convert('![a](a.svg "A")\n![b](b.svg "B")\n{ .wide }')
    assert 'class="wide sbs-series"' in html
