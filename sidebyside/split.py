"""
---
title: Split
summary: From a module to sections, each with its prose and its code, and no line lost.
---

# Split

The second stage cuts a module into sections: pieces of prose, each with the code it is
about. A reader sees one section as one row of the page.

A section is made of *spans*: neighbouring lines that are all prose, or all code.

One law holds for every file: **each line belongs to exactly one span of exactly one
section, and joining the spans gives the file back, byte for byte.** A generator that
keeps this law can't lose a line of anybody's program.
"""

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, pairwise
from typing import NamedTuple

from sidebyside.drawn import undecorated
from sidebyside.prose import Prose, fences, stripped
from sidebyside.read import Comment, Definition, Docstring, Source, once
from sidebyside.things import is_overload


class Role(StrEnum):
    """
    ## What a line is for

    Every line is either prose or code. Blank lines count as code, since a copy of the
    code needs them.
    """

    PROSE = "prose"
    CODE = "code"


# Every span asks for these, and Python 3.11 is slow to find a member of an enumeration.
PROSE, CODE = Role


class Kind(StrEnum):
    """What began a section."""

    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    ATTRIBUTE = "attribute"
    COMMENT = "comment"
    CODE = "code"


DEFINITIONS = (Kind.CLASS, Kind.FUNCTION)


class Span(NamedTuple):
    """
    ## Spans

    Neighbouring lines with the same role: `first` up to, but not including, `stop`,
    counted from 1.
    """

    role: Role
    first: int
    stop: int


class Section(NamedTuple):
    """
    ## Sections

    Args:
        kind: what began it.
        scope: the qualified name of the definition that it belongs to; empty outside
            all definitions. For a class, function or attribute, its own name.
        defines: the qualified names of the definitions that begin in it, without those
            that only [declare types][overloads].
        spans: its lines, in order and without gaps.
        prose: the text of its prose spans, without quotes, `#` and indentation.
        definition: the class or function that began it. Another may have the same
            name, so a name alone would not say which one this is.
    """

    kind: Kind
    scope: str
    defines: tuple[str, ...]
    spans: tuple[Span, ...]
    prose: Prose
    definition: Definition | None


Block = tuple[Comment, ...]


@once
def split(source: Source) -> tuple[Section, ...]:
    """
    ## From lines to sections

    Three questions are asked of each line. Is it prose? Does a section begin with it?
    Whose is it? The answers are collected first, each from the comments, docstrings and
    definitions that decide it, and then the file is cut in one pass.
    """
    scopes = scopes_by_line(source)
    blocks = prose_blocks(source)
    prose: dict[int, str | None] = {}
    starts: dict[int, tuple[Kind, str]] = {1: (Kind.MODULE, "")}
    began: dict[int, Definition] = {}

    # A string that holds a notebook's Markdown is prose, and not code.
    prose.update(chain.from_iterable(map(docstring_text, source.cells)))

    # A block of comments begins a section, wherever it is: at the top, in a body, in
    # the middle of a call.
    for block in blocks:
        prose.update(zip((c.line for c in block), comment_text(block), strict=True))
        starts[block[0].line] = (Kind.COMMENT, scopes[block[0].line])

    # Code that follows a definition is about something else, and begins a section.
    ends = [definition.last for definition in source.definitions]
    ends += [attribute.docstring.last for attribute in source.attributes]
    for end in ends:
        line = next_text(end + 1, source)
        if line is not None and line not in prose:
            starts.setdefault(line, (Kind.CODE, scopes[line]))

    # A definition begins a section, and takes with it a block of comments directly
    # above it. Comments between its signature and its docstring join it. So does the
    # body, up to its first comment: what a docstring promises is best read beside the
    # code that keeps the promise.
    above = {block[-1].line + 1: block for block in blocks}
    for definition in source.definitions:
        kind = Kind.CLASS if definition.is_class else Kind.FUNCTION
        first = first_line(above, definition.first, definition.node.col_offset)
        starts.pop(definition.first, None)
        starts[first] = (kind, definition.name)
        began[first] = definition
        if definition.docstring:
            prose.update(docstring_text(definition.docstring))
            for line in range(definition.first + 1, definition.docstring.first):
                starts.pop(line, None)

    # A variable that has a docstring begins a section, too, with its value.
    for attribute in source.attributes:
        first = first_line(above, attribute.first, attribute.column)
        starts[first] = (Kind.ATTRIBUTE, attribute.name)
        prose.update(docstring_text(attribute.docstring))
        for line in range(attribute.first + 1, attribute.docstring.first):
            starts.pop(line, None)

    # The module's docstring is the first section, and the licence, the shebang and the
    # like above it are that section's code.
    if source.docstring:
        for line in range(1, source.docstring.first):
            prose.pop(line, None)
            starts.pop(line, None)
        starts[1] = (Kind.MODULE, "")
        prose.update(docstring_text(source.docstring))

    # Without a docstring, the first section is a comment that begins with the title,
    # `# # Title`.
    elif blocks and "".join(comment_text(blocks[0])).startswith("# "):
        title = blocks[0][0].line
        above_it = source.lines[: title - 1]
        if not any(line.partition("#")[0].strip() for line in above_it):
            starts[1] = starts.pop(title)

    begins = {each.docstring.first for each in source.definitions if each.docstring}
    cuts = [*cut_lines(source, starts), len(source.lines) + 1]
    stubs = overloads(source)
    names = {d.first: d.name for d in source.definitions if d.first not in stubs}
    return tuple(
        Section(
            *starts[first],
            defines=tuple([names[n] for n in range(first, stop) if n in names]),
            spans=(cut := tuple(spans(first, stop, prose))),
            prose=gather(cut, prose, begins),
            definition=began.get(first),
        )
        for first, stop in pairwise(cuts)
    )


@once
def overloads(source: Source) -> set[int]:
    """
    The first lines of definitions that only declare types for a later one. Links lead
    to the later one, which has the prose.
    """
    stubs: dict[str, set[int]] = {}
    found: set[int] = set()
    for definition in source.definitions:
        if is_overload(definition.node):
            stubs.setdefault(definition.name, set()).add(definition.first)
        else:
            found |= stubs.pop(definition.name, set())
    return found


@once
def code_of(source: Source) -> str:
    """The code of a module, without prose and without blank lines."""
    return "".join(
        line
        for section in split(source)
        for span in section.spans
        if span.role is CODE
        for line in source.lines[span.first - 1 : span.stop - 1]
        if line.strip()
    )


def cut_lines(source: Source, starts: dict[int, tuple[Kind, str]]) -> Iterator[int]:
    """
    ### Stubs

    The methods of a protocol, `def lives(self) -> int: ...`, say all they have to say
    in one line. A row for each would tear the class apart, so they stay beside the
    prose of the class, as long as nothing in between has its own row.

    Args:
        source: the module.
        starts: the lines where a section might begin, with its kind and scope.
    """
    stubs = {
        definition.first
        for definition in source.definitions
        if definition.last == definition.header and not definition.docstring
    }
    open_definition = ""
    for line, (kind, scope) in sorted(starts.items()):
        around = scope.rpartition(".")[0] if line in stubs else scope
        joins = kind is Kind.CODE or line in stubs
        if joins and around and around == open_definition:
            continue
        if line <= len(source.lines):
            yield line
        open_definition = scope if kind in DEFINITIONS else ""


def first_line(above: dict[int, Block], line: int, column: int) -> int:
    """
    Where the section of a definition begins: with the block of comments above it, if
    there is one. A mere title, `# ---- Helpers ----`, stays apart: it covers more than
    this definition.

    Args:
        above: the blocks, by the lines that follow them.
        line: the first line of the definition.
        column: where it begins.
    """
    block = above.get(line)
    if not block or block[0].column != column or is_title(block):
        return line
    return block[0].line


def is_title(block: Block) -> bool:
    """Whether a block is nothing but a title that was drawn, not written as one."""
    titles = [
        text.startswith(("## ", "**")) and text not in comment.text
        for text, comment in zip(comment_text(block), block, strict=True)
        if text
    ]
    return titles == [True]


def spans(first: int, stop: int, prose: Container[int]) -> Iterator[Span]:
    """Cut the lines from `first` up to `stop` where their role changes."""
    is_prose = first in prose
    for line in range(first + 1, stop):
        if (line in prose) != is_prose:
            yield Span(PROSE if is_prose else CODE, first, line)
            first, is_prose = line, not is_prose
    yield Span(PROSE if is_prose else CODE, first, stop)


def gather(
    cut: Iterable[Span], prose: Mapping[int, str | None], begins: Container[int]
) -> Prose:
    """
    The prose of a section.

    Args:
        cut: its spans.
        prose: the text of each line that has any.
        begins: where docstrings begin.
    """
    lines: list[tuple[int, str]] = []
    parts = (range(span.first, span.stop) for span in cut if span.role is PROSE)
    for line in chain.from_iterable(parts):
        # Comments above a definition, those below its signature, and its docstring are
        # separate paragraphs.
        if lines and (line - 1 not in prose or line in begins):
            lines.append((line, ""))
        text = prose[line]
        if text is not None:
            lines.append((line, text))
    return stripped(lines)


def comment_blocks(source: Source) -> Iterator[Block]:
    """
    ## Comments

    Comments on neighbouring lines, with their `#` in the same column, make up a block.
    Comments meant for a tool, such as `# noqa`, belong to no block.
    """
    block: list[Comment] = []
    for comment in source.comments:
        if comment.is_pragma:
            continue
        if block and (comment.line, comment.column) != (
            block[-1].line + 1,
            block[-1].column,
        ):
            yield tuple(block)
            block = []
        block.append(comment)
    if block:
        yield tuple(block)


def prose_blocks(source: Source) -> list[Block]:
    """
    The blocks of comments that are prose. Those inside a signature are not, since there
    the docstring is the prose. Nor are those inside a value that has a docstring. A
    licence at the top of the file, even one below its docstring or its imports, is for
    lawyers, and stays with the code.
    """
    signatures = [(d.first, d.header) for d in source.definitions]
    values = [(a.first, a.header) for a in source.attributes]
    whole = {
        line
        for first, last in signatures + values
        for line in range(first + 1, last + 1)
    }
    begins = source.docstring is not None
    lines = (
        statement.lineno
        for statement in source.tree.body[begins:]
        if not isinstance(statement, ast.Import | ast.ImportFrom)
    )
    code = next(lines, len(source.lines) + 1)
    return [
        block
        for block in comment_blocks(source)
        if block[0].line not in whole
        and not (block[0].line < code and is_licence(block))
    ]


CELL = re.compile(
    r"(?: ?%%+(?: +(?:auto #?\d+|\S+\.ipynb #?[\w-]+"
    r"|(?![\w-]+=)(?P<title>(?:\d+[.)] +)?[^\W\d].{0,99}?)))?| \+)"
    r"(?: *\[(?:code|markdown|md|raw)\])?"
    r"(?: +(?>[\w-]+=(?:[\"[{].*|true|false)|\{.*\}))*"
    r"| In ?\[[\d ]*\]:| -"
)
"""
### Cells

Editors and Jupytext mark the cells of a notebook with comments: `# %% Title
[markdown]`, `# In[3]:`, `# + tags=["a"]` and `# -`. Such a line begins a section, and
is not prose, except for the title that it may have. The Markdown below `[markdown]` may
be in comments or in a string.
"""


DOUBLED = re.compile(r"#+ (?=\s*[^#\s][^#]*$)")
"""
### Comments with two signs

Several lines that begin with `## ` are a paragraph, and a lone one is the title of a
section, as `# ## Title` is.
"""


# Words of those who say who may copy a file, what Jupytext writes above a notebook, and
# what a tool is told that runs a script (PEP 723).
LICENCE = re.compile(
    r"\b(?:copyright|SPDX-License-Identifier|licen[cs]ed (?:to|under)|licen[cs]e block"
    r"|all rights reserved|public domain)\b|^#\s?jupyter:$|^# /// [\w-]+$",
    re.IGNORECASE,
)


def is_licence(block: Block) -> bool:
    """Whether a block of comments says who may copy the file."""
    return any(LICENCE.search(comment.text) for comment in block)


def comment_text(block: Block) -> list[str]:
    """
    The text of a block, without the `# ` and the indentation that its lines share,
    marks of [cells][CELL], and lines that are [only
    drawn][sidebyside.drawn.undecorated].
    """
    mark = "**{}**" if block[0].column else "## {}"
    texts = [comment.text.removeprefix("#").removeprefix(":") for comment in block]
    texts = [text.expandtabs().rstrip() for text in texts]
    doubled = [*map(DOUBLED.match, texts)]
    if any(doubled):
        # Markdown would take each of these lines for the title of a page.
        plain = "{}" if sum(map(bool, doubled)) > 1 else mark
        for number, (match, text) in enumerate(zip(doubled, texts, strict=True)):
            if match:
                texts[number] = f" {plain.format(text[match.end() :])}"
    cells = [*map(CELL.fullmatch, texts)]
    if any(cells):
        inside = fences([*enumerate(texts)])
        for number, (cell, is_code) in enumerate(zip(cells, inside, strict=True)):
            if cell and not is_code:
                title = cell["title"]
                texts[number] = f" {mark.format(title)}" if title else ""
    return undecorated(texts, mark)


def docstring_text(docstring: Docstring) -> Iterator[tuple[int, str | None]]:
    """The lines of a docstring with their numbers."""
    return zip(range(docstring.first, docstring.last + 1), docstring.lines, strict=True)


def next_text(line: int, source: Source) -> int | None:
    """The first line from `line` on that is not blank, if there is one."""
    for number in range(line, len(source.lines) + 1):
        if source.lines[number - 1].strip():
            return number
    return None


def scopes_by_line(source: Source) -> list[str]:
    """
    For each line, the qualified name of the innermost definition around it. Line 0 does
    not exist; its entry makes the numbers agree.
    """
    scopes = [""] * (len(source.lines) + 1)
    # Outer definitions come before those inside them, which then paint over them.
    for definition in source.definitions:
        lines = slice(definition.first, definition.last + 1)
        scopes[lines] = [definition.name] * (lines.stop - lines.start)
    return scopes
