"""Docstrings out of their quotes, and errors that say where."""

import pytest

from sidebyside.errors import PressError
from sidebyside.read import docstring_lines, read
from sidebyside.split import split


@pytest.mark.parametrize(
    ("literal", "lines"),
    [
        ('"""One line."""', ("One line.",)),
        ("'single'", ("single",)),
        ('r"""\n    A\n      B\n    """', ("", "A", "  B", "")),
        ('"""First\n\tTab\n"""', ("First", "Tab", "")),
        # Raw: nothing is touched.
        (r'r"""$\frac{a}{b}$ \" \\"""', (r"$\frac{a}{b}$ \" \\",)),
        # Cooked: the escapes that an author had to write are undone, and those that
        # Python would have eaten are what the author meant.
        (r'"""$\\theta \frac12$ \"\'"""', (r"""$\theta \frac12$ "'""",)),
        # A line that a backslash divides is one, and has no indentation but its own.
        ('"""\\\nText"""', (None, "Text")),
        ('"""\\\n  A\n\n  B"""', (None, "A", "", "B")),
        ('"""\n  a, \\\nb, \\\n  c\n    d"""', ("", "a, b,   c", None, None, "  d")),
        ('r"""\n  a \\\nb"""', ("", "  a \\", "b")),
        # Rows end with two backslashes, which Python would have made one of ...
        (
            '"""$$a_\\hat{b}\\\\\nc \\\\ \\theta$$"""',
            ("$$a_\\hat{b}\\\\", "c \\\\ \\theta$$"),
        ),
        # ... unless the author thought of that everywhere.
        ('"""$$b\\\\\\\\\nc$$ C:\\\\d"""', ("$$b\\\\", "c$$ C:\\d")),
        ('U"""ü"""', ("ü",)),
        ('""""quoted" first"""', ('"quoted" first',)),
    ],
)
def test_docstring_lines(literal, lines):
    assert docstring_lines(literal) == lines


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x = 1\ny = (\n", "module.py:2: this is not Python: '(' was never closed"),
        (b"x = 1\n  y = 2\n", "module.py:2: this is not Python: unexpected indent"),
        (b"x = '\xff'\n", "module.py:1: "),
        (b"# coding: no-such\n", "module.py:1: the file cannot be decoded: unknown"),
        (b"# coding: no\n# \xe9", "module.py:1: the file cannot be decoded: unknown"),
        (b"# coding: ascii\nx = 1\n# \xe9", "module.py:3: the file cannot be decoded"),
        (b"# A\n# \xe9", "module.py:2: the file cannot be decoded: the byte 0xe9 is"),
        (b"x\r# \xe9", "module.py:2: the file cannot be decoded: the byte 0xe9 is"),
        (b"a\r\nb\nc\n\xff", "module.py:4: the file cannot be decoded: the byte 0xff"),
        (b"x = 1\0\n", "module.py:1: "),
    ],
)
def test_what_is_not_python_is_refused_with_its_line(data, message):
    with pytest.raises(PressError) as caught:
        read(data, "module.py", "module")
    assert str(caught.value).startswith(message)
    assert str(caught.value).endswith("."), "there is a remedy, as a sentence"


def test_a_definition_owns_the_comments_at_its_end():
    source = read(
        b"def f():\n    x = 1\n\n    # Of f.\n# Not of f.\ny = 2\n", "m.py", "m"
    )
    assert [(d.name, d.first, d.last) for d in source.definitions] == [("f", 1, 4)]


def test_a_divided_line_is_one_and_those_below_keep_their_numbers():
    text = 'def f():\n  """\n  Is \\\none.\n\n  Two.\n  """\n  # A.\n  x = 1\n'
    prose = [section.prose.lines for section in split(read(text.encode(), "m.py", "m"))]
    assert prose == [((3, "Is one."), (5, ""), (6, "Two.")), ((8, "A."),)]


def test_words_behind_a_docstring_are_its_last():
    text = (
        "def f():\n    '''One.'''  # TODO: two\n"
        "def g():\n    '''\n    One.\n    '''  #: Three.\n"
        "def h():\n    '''One.'''  # noqa: D205\n"
        "def i():\n    '''One.'''  # ------\n"
    )
    prose = [section.prose.lines for section in split(read(text.encode(), "m.py", "m"))]
    assert [lines for lines in prose if lines] == [
        ((2, "One. TODO: two"),),
        ((5, "One."), (6, "Three.")),
        ((8, "One."),),
        ((10, "One."),),
    ]


def test_definitions_inside_statements_are_found():
    source = read(
        b"if a:\n  def f(): pass\nelse:\n  class C:\n    def g(self): pass\n",
        "m.py",
        "m",
    )
    assert [d.name for d in source.definitions] == ["f", "C", "C.g"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "# NOQA",
            "# noqa: F401",
            "# nosec B101",
            "# cspell:disable",
            "# vim: set ts=4",
        ),
        *("# vi: x", "# -*- mode -*-", "# pylint: disable=x", "# flake8: x"),
        *(
            "# isort:skip",
            "# yapf: disable",
            "# %%time",
            "#%%bash",
            "# pragma: no cover",
        ),
        *("# type: ignore", "# fmt: off", "# ruff: noqa", "# mypy: x", "# pyright: x"),
        *("# region", "#region A part of it", "# endregion", "#!/bin/sh", "# nopep8"),
        "# sphinx_gallery_thumbnail_number = 2",
        *("# pyrefly: ignore [x]", "# ty: ignore", "# pyre-fixme[16]: x"),
        *("# pyre-strict", "# @formatter:off", "# numpydoc ignore=PR01"),
        *("# cSpell:words kiln", "# spellchecker:disable-line", "# spell-checker: x"),
        *("# NOSONAR", "# nosemgrep: a.b", "# skipcq: PYL-W0212", "# sourcery skip: x"),
        *("# --8<-- [start:part]", "# -8<- [ end : part ]", "# [START a_part]"),
        *('# <editor-fold desc="A">', "# </editor-fold>"),
        *(
            "# %matplotlib inline",
            "#%load_ext x",
            "# !pip install x",
            "# !python3 x.py",
        ),
        *("#| label: fig-x", "#|export", "# | echo: false", "#|   - A caption"),
        "#| default_exp core",
    ],
)
def test_what_is_said_to_tools_is_not_prose(text):
    source = read(f"x = 1\n{text}\n".encode(), "m.py", "m")
    assert source.comments[0].is_pragma


@pytest.mark.parametrize(
    "text",
    [
        "# pylint: disable=unspecified-encoding",
        "# type: ignore[encoding]",
        "# -*- coding: utf-8 -*-",
    ],
)
def test_only_an_encoding_must_be_in_the_first_lines(text):
    source = read(f"x = 1\ny = 1\n{text}\n".encode(), "m.py", "m")
    assert source.comments[0].is_pragma


@pytest.mark.parametrize(
    "text",
    [
        *("# region of interest", "# regions", "# Types: two", "# types: a", "# 50%%"),
        *("# %s is a name", "# %timely", "# !pipes", "# ! pip"),
        *(
            "# See # noqa",
            "# Below, #!python",
            "# [START] it",
            "# -8<- means: cut here",
        ),
        *("# | a: b | c |", "# |---|---|", "#| In a box,", "# || x"),
        *("# formats: x", "# the pragma: x", "# A vim: x", "# nosecond", "# coding: x"),
    ],
)
def test_what_is_said_to_readers_is_prose(text):
    source = read(f"x = 1\ny = 1\n{text}\n".encode(), "m.py", "m")
    assert not source.comments[0].is_pragma


@pytest.mark.parametrize(
    "text",
    [
        *("# Copyright 2020 A. B.\n# It does this.", "# SPDX-License-Identifier: MIT"),
        '# /// script\n# dependencies = [\n#   "clay",\n# ]\n# ///',
        *(
            "# -----\n# Licensed under the MIT licence.",
            "#!x\n\n# Copyright\n\n# Public domain",
        ),
    ],
)
def test_a_licence_stays_with_the_code(text):
    source = read(f"{text}\n\n# Words.\nx = 1\n# Copyright\n".encode(), "m.py", "m")
    assert [s.prose.text for s in split(source)] == ["", "Words.", "Copyright"]


@pytest.mark.parametrize(
    "data", [b'x = "\xe9"\n', b"# coding: foo\nx = 1\n", b"# coding: rot13\nx = 1\n"]
)
def test_a_file_in_no_known_encoding_is_not_called_wrong_python(data):
    with pytest.raises(PressError, match=r"cannot be decoded.*Save it as UTF-8"):
        read(data, "m.py", "m")


def test_a_licence_may_stand_below_the_imports():
    text = '"""M."""\nimport os\n# fmt: off\n\n# Copyright A.\nfrom a import b\n'
    source = read(f"{text}\n# Words.\nx = 1\n# Copyright\n".encode(), "m.py", "m")
    prose = [section.prose.text for section in split(source)]
    assert prose == ["M.", "Words.", "Copyright"]
