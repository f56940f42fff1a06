"""What a module is cut into: comments in frames, cells, variables."""

import re

import pytest

from sidebyside.catalogue import catalogue
from sidebyside.read import read
from sidebyside.split import comment_text, prose_blocks, split
from sidebyside.weave import weave
from tests.press.texts import as_page

# ---- Comments


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Frames
        ("# -----\n# Two words.\n# And more.\n# -----", "\nTwo words.\nAnd more.\n"),
        ("# ====\n# Helpers\n# ====", "\n## Helpers\n"),
        ("#~~~~~~~~~~~\n# Helpers\n#~~~~~~~~~~~", "\n## Helpers\n"),
        ("########\n#  Box  #\n########", "\n## Box\n"),
        ("# Helpers\n# ~~~~~~~\n# Words", "## Helpers\n\nWords"),
        ("# -----\n# One. Two\n# -----", "\nOne. Two\n"),
        ("# ------\n# Helpers", "\n## Helpers"),
        ("#//////////\n# Helpers\n#//////////", "\n## Helpers\n"),
        ("# ------\n# Words\n#\n# More", "\nWords\n\nMore"),
        ("# One\n# two\n# -----\n# Three", "One\ntwo\n\nThree"),
        ("# One\n# - - -\n# -=-=-=-=-\n# ---#", "## One\n\n\n"),
        ("#-----\n# Two words.\n# And more.", "\nTwo words.\nAnd more."),
        ("# -----", ""),
        ("#\n# -----", "\n"),
        # Dashes at the sides
        ("# ===== Helpers =====", "## Helpers"),
        ("# ---- Helpers ----\n# Words", "## Helpers\nWords"),
        ("#----Helpers----", "## Helpers"),
        ("# --- Helpers", "## Helpers"),
        ("# Helpers ---------", "## Helpers"),
        ("######## Helpers ########", "## Helpers"),
        ("if x:\n    # ---- Helpers ----\n    # Words", "**Helpers**  \nWords"),
        ("if x:\n    # --- a * b ---\n    pass", "a * b"),
        # Signs that no keyboard has
        ("# ── Helpers ─────────", "## Helpers"),
        ("# ── Helpers ────\n# Words", "## Helpers\nWords"),
        ("# ═════════\n#  Helpers\n# ═════════", "\n## Helpers\n"),
        ("# –––– Helpers ––––", "## Helpers"),
        ("# Helpers ━━━━━━", "## Helpers"),
        ("# ─────────", ""),
        ("if x:\n    # ── 1. Helpers ──\n    pass", "**1. Helpers**"),
        ("# a ── b", None),
        ("# ── a │ b ──", None),
        ("# One — or two — words", None),
        # Two signs
        ("## One comment\n## in two lines", "One comment\nin two lines"),
        ("## Helpers\n# Words", "## Helpers\nWords"),
        ("##  Helpers", "##  Helpers"),
        ("if x:\n    ## Helpers\n    pass", "**Helpers**"),
        # What is none of that
        ("# ## Heading\n# Words", None),
        ("# ~~~\n# -----\n# ~~~", None),
        ("# ```\n# -----\n# ```", None),
        ("# Code:\n#\n#     a\n#     -----", None),
        ("# ***bold*** words --- and\n# x == y", None),
        ("# a | b\n# --- | ---", None),
        ("# name  size\n# ----  ----", None),
        ("# a = ---------", None),
        ("# --- they said, and\n# went.", None),
    ],
)
def test_lines_that_are_only_drawn(lines, expected):
    program = lines if "pass" in lines or "if" not in lines else f"{lines}\n    pass"
    source = read(f"{program}\n".encode(), "m.py", "m")
    text = "\n".join(comment_text(prose_blocks(source)[0]))
    if expected is None:
        expected = re.sub(r"^# ?", "", lines, flags=re.MULTILINE)
    assert text == expected


def test_a_drawn_title_is_no_part_of_what_follows():
    source = read(
        b"# ---- Helpers ----\ndef f(): pass\n# ## Heading\ndef g(): pass\n",
        "m.py",
        "m",
    )
    rows = weave(source, {}).rows
    assert [(row.anchor, row.heading) for row in rows] == [
        ("helpers", "Helpers"),
        ("f", ""),
        ("g", "Heading"),
    ]


def test_underlined_titles_of_docstrings():
    for text in ("Title\n~~~~~\n\nWords", "=====\nTitle\n=====\nWords"):
        html = as_page(f'"""\n{text}\n"""\n')
        assert html.count("<h1") == 1
        assert '<h1 id="title">Title</h1>' in html
        assert "<p>Words</p>" in html
    text = "***All*** of it\nTitle\n====="
    assert "of it\nTitle" in as_page(f'"""\n{text}\n"""\n')
    line, title = "=" * 75, "Series, " * 8 + "and their sums"
    html = as_page(f'"""\n{line}\n{title}\n{line}\n\nWords\n"""\n')
    assert f">{title}</h1>" in html
    assert "=====" not in html
    assert ">Title</h2>" in as_page('"""\nWords\n\nTitle\n-----\n"""\n')


# ---- Docstrings of variables


def test_a_cell_of_a_notebook_may_be_a_string():
    text = (
        "# %%\nx = 1\n\n# %% [markdown]\n'''\n## Title\n\nOf y.\n'''\ny = 2\n"
        "# %%\nprint(x)\n# %% A [md]\n'''B.'''\n\n# %%\n'code'\n"
    )
    source = read(text.encode(), "m.py", "m")
    rows = [
        (row.heading, row.prose, [number for number, _ in row.code])
        for row in weave(source, catalogue([source])).rows
    ]
    assert rows == [
        *(("", "", [2]), ("Title", "Of y.", [10]), ("", "", [12])),
        *(("A", "B.", []), ("", "", [17])),
    ]
    assert source.attributes == ()


def test_marks_of_nbdev_are_no_prose():
    for mark in ("auto #0", "../nbs/a.ipynb #c28669c", "../nbs/a.ipynb #dd6-f7a"):
        source = read(f"# %% {mark}\nx = 1\n".encode(), "m.py", "m")
        assert split(source)[-1].prose.text == ""


def test_a_comment_above_a_docstring_is_a_paragraph():
    text = '# One.\ndef f():\n    # Two.\n    """Three."""\n'
    assert (
        split(read(text.encode(), "m.py", "m"))[-1].prose.text
        == "One.\n\nTwo.\n\nThree."
    )


def test_a_variable_with_a_docstring_is_a_section():
    source = read(
        b"x = 1\n# Above.\nN = [\n    # In.\n]\n# Between.\n'''Of N.'''\ny = 2\n"
        b"class C:\n    '''Of C.'''\n    z: int\n    a: int = 1\n    '''Of a.'''\n"
        b"    def a(self):\n        b = 1\n        '''No docstring.'''\n",
        "m.py",
        "m",
    )
    rows = weave(source, catalogue([source])).rows
    assert [(row.anchor, row.prose) for row in rows] == [
        ("x-1", ""),
        ("N", "Above.\n\nBetween.\nOf N."),
        ("y-2", ""),
        ("C", "Of C."),
        ("C.a-2", "Of a."),
        ("C.a", ""),
    ]
    assert [number for number, _ in rows[1].code] == [3, 4, 5]
    assert catalogue([source])["m.N"].anchor == "N"
