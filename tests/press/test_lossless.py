"""The law of the split: each line belongs to one span, and joined they are the file."""

import ast
import io
import re
import sysconfig
import tokenize
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidebyside.catalogue import catalogue
from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.inventory import inventory
from sidebyside.press import module_name
from sidebyside.read import Source, read
from sidebyside.split import Role, Section, split
from sidebyside.weave import weave

ROOT = Path(__file__).parents[2]
OURS = sorted(
    path
    for folder in ("labml_rl", "sidebyside", "figures", "tests")
    for path in (ROOT / folder).rglob("*.py")
)
STANDARD_LIBRARY = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))


def check_law(data: bytes, source: Source, sections: tuple[Section, ...]) -> None:
    spans = [span for section in sections for span in section.spans]
    stops = [1, *(span.stop for span in spans)]
    assert [span.first for span in spans] == stops[:-1], "a gap or an overlap"
    assert stops[-1] == len(source.lines) + 1, "lines behind the last span"
    assert all(span.first < span.stop for span in spans), "an empty span"

    pieces = (
        line for span in spans for line in source.lines[span.first - 1 : span.stop - 1]
    )
    assert "".join(pieces).encode(source.encoding) == data


def without_prose(source: Source, sections: tuple[Section, ...]) -> str:
    """The program that is left when docstrings are `...` and comments are gone."""
    kept: list[str] = []
    for section in sections:
        for span in section.spans:
            lines = source.lines[span.first - 1 : span.stop - 1]
            if span.role is Role.CODE:
                kept += lines
            for line in lines if span.role is Role.PROSE else ():
                indentation = line[: len(line) - len(line.lstrip(" \t\f"))]
                if not line[len(indentation) :].startswith("#"):
                    kept.append(f"{indentation}...\n")
                    break
    return "".join(kept)


def dump_without_docstrings(text: str) -> str:
    """The tree, without those of variables, too."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                node.value = ast.Constant(...)
            case _:
                pass
    return ast.dump(tree)


def check_program(data: bytes) -> None:
    source = read(data, "module.py", "module")
    sections = split(source)
    check_law(data, source, sections)

    # What is shown as prose is no code, and what is code is not shown as prose.
    code = without_prose(source, sections)
    assert dump_without_docstrings(code) == dump_without_docstrings(
        "".join(source.lines)
    )


@pytest.mark.filterwarnings("ignore:.*invalid escape sequence")
@pytest.mark.parametrize("path", OURS, ids=lambda p: str(p.relative_to(ROOT)))
def test_our_modules(path):
    check_program(path.read_bytes())


def test_standard_library():
    """The law holds for code that was never annotated, bar what Python can't read."""
    checked = 0
    for path in STANDARD_LIBRARY:
        data = path.read_bytes()
        try:
            source = read(data, path.name, path.stem)
        except PressError:
            with pytest.raises((SyntaxError, ValueError)):
                compile(data, path.name, "exec")
            continue
        check_law(data, source, split(source))
        checked += 1
    assert checked > 100


PAGES = [
    read(
        path.read_bytes(),
        str(path.relative_to(ROOT)),
        module_name(path, ROOT / package),
    )
    for package in ("labml_rl", "sidebyside")
    for path in sorted((ROOT / package).rglob("*.py"))
]


@cache
def book():
    places = catalogue(PAGES)
    return places, cross(PAGES, places, inventory())


@pytest.mark.parametrize("source", PAGES, ids=lambda source: source.path)
def test_each_line_of_code_is_shown_once(source):
    places, crossings = book()
    shown: dict[int, str] = {}
    for row in weave(source, places, crossing=crossings[source.module]).rows:
        for number, html in row.code:
            assert number not in shown, "shown twice"
            shown[number] = unescape(re.sub(r"<[^>]*>", "", html))
    expected = {
        number: source.lines[number - 1].rstrip("\r\n")
        for section in split(source)
        for span in section.spans
        if span.role is Role.CODE
        for number in range(span.first, span.stop)
        if source.lines[number - 1].strip()
    }
    assert {n: text for n, text in shown.items() if text.strip()} == expected


# ---- Generated programs

COMMENTS = st.sampled_from(
    [
        *("# text", "#", "# noqa", "# ## Heading", "#text", "#: attribute", "# é – ü"),
        *("# ----", "# --- text ---", "#########", "#   text   #", "# Copyright"),
    ]
)
SIMPLE = st.sampled_from(
    [
        ["x = 1"],
        ["x = 1  # trailing"],
        ["pass; y = '# no comment'"],
        ["x = (", "    # inside", "    1,", ")"],
        ["f(a,", "  # inside", "", "  # again", "  b)"],
        ['s = """', "# not a comment", "  # nor this", '"""'],
        ["s = 'a' \\", "    'b'"],
        ['"""a string on its own"""'],
        ["x: C = [", "    # inside", "]", '"""Of a variable.', "", 'On lines."""'],
        ["x = [", "# at the margin", "]"],
        ["f'{x!r:>{1}}' # trailing"],
        ["@(", "    # odd", "    d)", "def g(): pass"],
    ]
)
DOCSTRINGS = st.sampled_from(
    [
        [],
        ['"""One line."""'],
        ['r"""', "Text with \\frac.", "", "    indented", '"""'],
        ["'single quotes'"],
        ['"""glued""" "together"'],
        ['"""followed"""; x = 1'],
        ['"""with a pragma"""  # noqa'],
        ['("""in parentheses""")'],
        ["'''", "# looks like a comment", "'''"],
    ]
)
HEADERS = st.sampled_from(
    [
        ["def f():"],
        ["def f(a, b=(1,", "        2)) -> int:"],
        ["@decorated", "def f(", "    a,", "    # in the signature", "    b,", "):"],
        ["class C:"],
        ["@a", "# between", "@b(", "  1)", "class C(Base,", "        metaclass=M):"],
        ["async def f():"],
        ["if x:"],
        ["for x in y:"],
        ["try:"],
        ["with a as b:"],
    ]
)


@st.composite
def blocks(draw, depth=0):
    """Lines of a block of statements at the margin."""
    lines = []
    for _ in range(draw(st.integers(1, 4 if depth else 6))):
        lines += [""] * draw(st.integers(0, 2))
        lines += draw(st.lists(COMMENTS, max_size=3))
        if depth < 3 and draw(st.booleans()):
            header = draw(HEADERS)
            body = [*draw(DOCSTRINGS), *draw(blocks(depth=depth + 1))]
            indent = draw(st.sampled_from(["    ", "\t", " "]))
            lines += header
            lines += draw(st.lists(COMMENTS.map(indent.__add__), max_size=1))
            lines += indented(body, indent)
            if header == ["try:"]:
                lines += ["finally:", f"{indent}pass"]
        else:
            lines += draw(SIMPLE)
    return lines


def indented(lines, indent):
    """Indent a block, but not the inside of its strings."""
    done = []
    in_string = False
    for line in lines:
        done.append(line if in_string or not line else indent + line)
        quotes = line.count('"""') + line.count("'''")
        in_string ^= bool(quotes % 2)
    return done


@st.composite
def programs(draw):
    lines = [*draw(DOCSTRINGS), *draw(blocks())]
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    cookie, encoding = draw(
        st.sampled_from(
            [
                ([], "utf-8"),
                ([], "utf-8-sig"),
                (["# -*- coding: latin-1 -*-"], "latin-1"),
                (["#!/usr/bin/python", "# vim: set fileencoding=utf-8 :"], "utf-8"),
            ]
        )
    )
    text = end.join([*cookie, *lines]) + draw(st.sampled_from(["", end, end + "\f"]))
    return text.encode(encoding, errors="replace")


@given(programs())
def test_generated_programs(data):
    check_program(data)


@given(st.binary(max_size=60))
def test_anything_is_read_or_refused_with_a_line(data):
    try:
        source = read(data, "module.py", "module")
    except PressError as error:
        message = str(error)
    else:
        check_law(data, source, split(source))
        return
    assert re.match(r"module\.py:\d+: ", message)


def test_generated_programs_are_python():
    """The strategy above makes what it claims to make."""
    example = "\n".join(indented(["x = '''", "# s", "'''"], "    "))
    tokens = tokenize.generate_tokens(io.StringIO(f"if x:\n{example}\n").readline)
    assert tokenize.COMMENT not in {token.type for token in tokens}
