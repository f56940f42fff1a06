r"""
---
title: Weave
summary: From sections to the rows of a page, with links, formulas and colours in place.
---

# Weave

A module has been cut [into sections][sidebyside.split], and each has [an
anchor][sidebyside.anchors]. This stage turns each of them into a row that a template
can set: prose as Markdown with its links resolved and its formulas checked, and code as
HTML with its colours and line numbers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sidebyside.anchors import (
    HEADING,
    anchored,
    described,
    is_stub,
    leading_heading,
)
from sidebyside.errors import PressError, Report, stop
from sidebyside.fields import has_fields, set_fields, types_of
from sidebyside.highlight import Link, highlight
from sidebyside.links import Place, labels_of, set_labels, set_links
from sidebyside.lists import keep_lines, open_lists, open_tables
from sidebyside.mathematics import FormulaError, continued, find, typeset
from sidebyside.prose import Prose, fences
from sidebyside.read import Source
from sidebyside.split import CODE, Kind, Section
from sidebyside.symbols import set_symbols

# Prose with at least this many lines, and this many for each line of code, may be [an
# essay][is_essay].
LEAST_ESSAY, ESSAY = 24, 3


CodeLine = tuple[int, str]  # its number in the file, and its HTML


class Use(NamedTuple):
    """
    A place that uses a definition: its name, and the address of a link to it. Where a
    section defines several things, also which of them it uses.
    """

    name: str
    target: str
    of: str = ""


class RunBy(NamedTuple):
    """
    The tests that run a section: how many, or `None` if its code has changed since they
    were recorded; and the first few, by file.
    """

    total: int | None
    named: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Crossing:
    """
    ## What others say of this page

    Args:
        links: for each line number, the links in its code.
        uses: for each anchor, the places that use what is defined there.
        tests: for each anchor, [the tests][sidebyside.tested] that run the code there.
    """

    links: Mapping[int, Sequence[Link]] = field(default_factory=dict)
    uses: Mapping[str, tuple[Use, ...]] = field(default_factory=dict)
    tests: Mapping[str, RunBy] = field(default_factory=dict)


class Row(NamedTuple):
    """
    ## Rows

    A section as it is on the page.

    Args:
        anchor: its name in links, unique on its page.
        title: what a search result calls it.
        level: the level of its heading; 0 if it has none.
        heading: the heading that its prose begins with, as Markdown.
        prose: the rest of its prose, as Markdown.
        code: its lines of code, without blank ones at its ends.
        uses: where else in the book its definition is used.
        tests: which tests run it, if that is known.
        public: the full name of what it defines, if others may import that.
        outline: its level in the outline, if it is listed there without a heading.
        essay: whether its prose is above its code, and [not beside
            it][sidebyside.weave.is_essay].
    """

    anchor: str
    title: str
    level: int
    heading: str
    prose: str
    code: tuple[CodeLine, ...]
    uses: tuple[Use, ...]
    tests: RunBy | None
    public: str
    outline: int
    essay: bool


@dataclass(frozen=True)
class Page:
    """
    ## Pages

    Args:
        source: the module that it was made from.
        meta: its front matter.
        title: its title.
        rows: its rows, in the order of the file.
    """

    source: Source
    meta: Mapping[str, Any]
    title: str
    rows: tuple[Row, ...]


def weave(
    source: Source,
    places: Mapping[str, Place],
    report: Report = stop,
    crossing: Crossing | None = None,
) -> Page:
    """
    ## A page

    In the prose of each section, [symbols][sidebyside.symbols] get their names and
    [formulas][check_formulas] are checked. Then [lists of
    arguments][sidebyside.fields], [other lists][sidebyside.lists] and
    [links][sidebyside.links] are set, in this order.

    Args:
        source: the module.
        places: what [catalogue][sidebyside.catalogue.catalogue] found in the book.
        report: what to do if the front matter is not YAML, a formula can't be set, or
            a link leads nowhere.
        crossing: the links in its code, and the uses of its definitions.
    """
    crossing = crossing or Crossing()
    meta, _, mistake = described(source)
    if mistake:
        report(mistake)
    html = highlight(source.text, source.tokens, crossing.links)
    public = public_names(source)
    levels = outlined(source)
    rows: list[Row] = []
    labels, local = labels_of(section.prose for _, section in anchored(source))
    for anchor, section in anchored(source):
        # In this order a formula with symbols is set only once.
        prose = set_symbols(section.prose, meta.get("symbols", {}))
        prose = check_formulas(prose, source.path, report)
        prose = set_labels(prose, anchor, local)
        first = prose.lines[:1]
        level, heading, prose = leading_heading(prose)
        code = tuple(code_lines(section, source, html))
        definition = section.definition
        essay = not definition and is_essay(prose, len(code))
        if level:
            line = Prose(first).with_text(heading)
            line = set_links(line, section.scope, source, places, report, labels=labels)
            heading = without_own(line.text, source.page)
        if has_fields(prose):
            types = types_of(definition.node) if definition else None
            prose = set_fields(prose, types, is_module=section.kind is Kind.MODULE)
        prose = open_lists(open_tables(prose), continued(prose.text))
        prose = keep_lines(prose)
        prose = set_links(prose, section.scope, source, places, report, labels=labels)
        rows.append(
            Row(
                anchor=anchor,
                title=(heading and plain(heading))
                or section.scope
                or one_line(meta.get("title", "")),
                level=level,
                heading=heading,
                prose=prose.text,
                code=code,
                uses=crossing.uses.get(anchor, ()),
                tests=crossing.tests.get(anchor),
                public=public.get(section.scope, "") if definition else "",
                outline=levels.get(anchor, 0),
                essay=essay,
            )
        )
    first_heading = plain(rows[0].heading) if rows and rows[0].level == 1 else ""
    title = one_line(meta.get("title") or first_heading or source.module)
    return Page(source, meta, title, tuple(rows))


def public_names(source: Source) -> dict[str, str]:
    """
    The full names of a module's definitions, without those that nobody else should or
    could import: names that begin with an underscore, and what is defined inside
    functions.
    """
    private = any(part.startswith("_") for part in source.module.split("."))
    return {} if private else reachable(source)


def reachable(source: Source) -> dict[str, str]:
    """The names that would be public if the module were."""
    full: dict[str, str] = {"": source.module}
    classes = {""}
    for definition in source.definitions:
        around, _, name = definition.name.rpartition(".")
        if around in classes and around in full and not name.startswith("_"):
            full[definition.name] = f"{source.module}.{definition.name}"
        if definition.is_class:
            classes.add(definition.name)
    return full


def outlined(source: Source) -> dict[str, int]:
    """
    ## An outline without headings

    Most code that was written for other tools has no headings, and an outline of
    nothing but the title helps nobody. So if no class and no function of a module has a
    heading, the outline lists them all, below whatever headings there are.

    Returns:
        The levels of such sections, by anchor.
    """
    public = reachable(source)
    levels: dict[str, int] = {}
    above = 1
    for anchor, section in anchored(source):
        lines = section.prose.lines
        heading = HEADING.fullmatch(lines[0][1]) if lines else None
        if section.definition:
            if heading:
                return {}
            if not is_stub(section, source) and public.pop(section.scope, ""):
                levels[anchor] = above + 1 + section.scope.count(".")
        elif heading and not section.scope:
            above = len(heading["marks"])
    return levels


def check_formulas(prose: Prose, path: str, report: Report = stop) -> Prose:
    """
    ## Formulas

    They are set by a Markdown extension, long after this stage, when it is no longer
    known which file a text came from. So each is set once here, while it still is.

    Returns:
        The same prose, in which formulas that can't be set are code.
    """
    text = prose.text
    pieces: list[str] = []
    end = 0
    for formula in find(text):
        try:
            typeset(formula.tex, formula.display)
        except FormulaError as error:
            tex = text[formula.start : formula.stop]
            report(
                PressError(
                    path,
                    prose.line_at(formula.start),
                    f"the formula `{formula.tex}` can't be set: {error}",
                    "Correct it, or write `\\$` if a dollar was meant.",
                    at=tex,
                )
            )
            ticks = "`" * (max(map(len, re.findall("`+", tex)), default=0) + 1)
            pieces += [text[end : formula.start], f"{ticks}{tex}{ticks}"]
            end = formula.stop
    return prose.with_text("".join([*pieces, text[end:]]))


def is_essay(prose: Prose, code: int) -> bool:
    """
    ## Essays

    A module may begin with a whole chapter, with headings in it, and then have a few
    imports. With only those beside it, most of the column of code would be empty. So
    such prose goes across the page, and the two columns begin below it. What explains a
    definition is always beside it, however long. Where there is no code at all, a long
    text needs no headings to have the page to itself.

    Args:
        prose: what a section says, without the heading that it begins with.
        code: how many lines of code it has.

    Returns:
        Whether it has headings or no code, and is several times as long as its code. A
        picture counts as eight lines.
    """
    lines = len(prose.lines) + 7 * sum("![" in text for _, text in prose.lines)
    if lines < max(LEAST_ESSAY, ESSAY * (code + 1)):
        return False
    if not code:
        return True
    fenced = fences(prose.lines)
    return any(
        HEADING.fullmatch(text) and not inside
        for (_, text), inside in zip(prose.lines, fenced, strict=True)
    )


def without_own(heading: str, page: str) -> str:
    """A heading in which the page's own name is not a link."""
    address = re.escape(Place(page, "").seen_from(page))
    return re.sub(rf"\[([^\[\]]*)\]\({address}\)", r"\1", heading)


def code_lines(
    section: Section, source: Source, html: Sequence[str]
) -> Iterator[CodeLine]:
    """A section's code, without blank lines at its ends and where prose was."""
    for span in section.spans:
        if span.role is CODE:
            first, stop = span.first, span.stop
            while first < stop and not source.lines[first - 1].strip():
                first += 1
            while first < stop and not source.lines[stop - 2].strip():
                stop -= 1
            yield from enumerate(html[first - 1 : stop - 1], first)


def one_line(value: object) -> str:
    """What the front matter gives as a title, whatever it is, as one line of text."""
    return " ".join(re.sub(r"[\0-\x1f\x7f\ud800-\udfff]", " ", str(value)).split())


def plain(markdown: str) -> str:
    """A heading without Markdown's marks, for a title."""
    link = r"\[([^\[\]]*)\]\([^)]*\)|(?<![\w\]])\[([^\[\]]+)\]\[[^\[\]]*\]"
    words = re.sub(link, r"\1\2", markdown)
    return re.sub("[`*$]", "", words).strip()
