r"""
---
title: Weave
summary: From sections to the rows of a page, with links, formulas and colours in place.
---

# Weave

[Split][sidebyside.split] has cut the module into sections. This stage turns each of
them into a row that a template can set: prose as Markdown with its links resolved and
its formulas checked, code as HTML with its colours and line numbers, and an anchor that
others can link to.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import yaml
from yaml.constructor import ConstructorError

from sidebyside.bindings import imports, may_bring, scopes
from sidebyside.errors import PressError, Report, stop
from sidebyside.fields import has_fields, set_fields, types_of
from sidebyside.highlight import Link, highlight
from sidebyside.links import Place, labels_of, set_labels, set_links
from sidebyside.mathematics import FormulaError, continued, find, typeset
from sidebyside.prose import (
    Prose,
    fences,
    keep_lines,
    lower_titles,
    open_lists,
    open_tables,
    open_title,
    stripped,
)
from sidebyside.read import Source, once
from sidebyside.rst import set_rst
from sidebyside.scopes import variables
from sidebyside.split import CODE, Kind, Section, overloads, split
from sidebyside.symbols import set_symbols

# Prose with at least this many lines, and this many for each line of code, may be [an
# essay][is_essay].
LEAST_ESSAY, ESSAY = 24, 3
HEADING = re.compile(r"(?P<marks>#{1,6}) +(?P<text>.*?)(?: +#+)? *")
SYMBOLS = re.compile(r"""(?:^|[{,])\s*["']?symbols["']?\s*:""")
# In double quotes, YAML turns the `\t` of the TeX `\theta` into a tab, and so on.
LOST = "\a\b\t\n\v\f\r\x1b\x85\u2028\u2029"
ESCAPES = dict(zip(LOST, map("\\{}".format, "abtnvfreNLP"), strict=True))
ESCAPED = re.compile("[\0-\x1f\x85\u2028\u2029]")
# Nobody would write more letters, more levels, or more values on one level, into front
# matter.
LONG, DEEP, WIDE = 10_000, 20, 10_000
# A merge has the key `<<`, or any key with a tag that says so.
MERGES = re.compile("<<|!")


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


def catalogue(sources: Iterable[Source]) -> dict[str, Place]:
    """
    ## What can be linked to

    Every module, definition and variable of a book, by full name, with its place on the
    pages. What a package imports into its `__init__.py` is listed under that name as
    well.
    """
    sources = tuple(sources)
    places: dict[str, Place] = {}
    for source in sources:
        places[source.module] = Place(source.page, "")
        anchors = [""] * (len(source.lines) + 1)
        for anchor, section in anchored(source):
            first, stop = section.spans[0].first, section.spans[-1].stop
            anchors[first:stop] = [anchor] * (stop - first)
            for name in section.defines:
                places.setdefault(f"{source.module}.{name}", Place(source.page, anchor))
        for name, line in variables(scopes(source)):
            places.setdefault(name, Place(source.page, anchors[line]))

    add_passed_on(places, sources)
    # From the inside out, since a package may import what a package inside it has
    # imported.
    packages = [source for source in sources if source.is_package]
    for package in sorted(packages, key=lambda p: p.module.count("."), reverse=True):
        known = sorted(places)
        for name, full in imports(package).items():
            add_alias(places, f"{package.module}.{name}", full, known)
    add_passed_on(places, sources)
    add_starred(places, {source.module: source for source in sources})
    return places


def add_alias(
    places: dict[str, Place], alias: str, full: str, known: Sequence[str]
) -> None:
    """
    Args:
        places: what can be linked to so far. More is added.
        alias: another name for a thing, which may be there in its own right.
        full: the name that it is known by, if at all.
        known: all names, sorted.
    """
    if full in places:
        for member in (full, *inside(full, known)):
            places.setdefault(f"{alias}{member.removeprefix(full)}", places[member])


def inside(name: str, known: Sequence[str]) -> Sequence[str]:
    """Of all names, sorted, those that go on after this one and a dot."""
    # Right after the dot comes the slash.
    first, stop = (bisect_left(known, name + sign) for sign in "./")
    return known[first:stop]


def add_passed_on(places: dict[str, Place], sources: Iterable[Source]) -> None:
    """
    What one module has imported, another may import from there.

    Args:
        places: what can be linked to so far. More is added.
        sources: all modules.
    """
    origins = {
        f"{source.module}.{name}": full
        for source in sources
        for name, full in imports(source).items()
    }
    aliases: dict[str, str] = {}
    for name in {*origins.values()} & origins.keys() - places.keys():
        full, passed = origins[name], {name}
        while full in origins and full not in places and full not in passed:
            passed.add(full)
            full = origins[full]
        if full in places:
            aliases[name] = full
    known = sorted(places) if aliases else []
    for name, full in aliases.items():
        add_alias(places, name, full, known)


def add_starred(places: dict[str, Place], sources: Mapping[str, Source]) -> None:
    """
    What a module gets by `from … import *` is listed under the module's name as well.

    Args:
        places: what can be linked to so far. More is added.
        sources: all modules, by name.
    """
    stars = {
        name: [star for star, _ in scopes(source).module.stars if star in sources]
        for name, source in sources.items()
    }
    # A star may bring what another one has brought, so this goes on until none does.
    # But a module that takes everything from the package around it contains itself once
    # more, and itself again in that, for ever. So modules come only with what they
    # define.
    parts = [name.split(".") for name in sources]
    around = {".".join(each[:end]) for each in parts for end in range(1, len(each) + 1)}
    first, before = {*places}, -1
    while any(stars.values()) and before < len(places):
        before, known = len(places), sorted(places)
        for module, star in ((m, star) for m, each in stars.items() for star in each):
            for member in inside(star, known):
                inner = member.removeprefix(f"{star}.")
                name = inner.partition(".")[0]
                if f"{star}.{name}" in around and member not in first:
                    continue
                if may_bring(scopes(sources[star]).module, name):
                    places.setdefault(f"{module}.{inner}", places[member])


def is_stub(section: Section, source: Source) -> bool:
    """Whether a section is a definition that only [declares types][overloads]."""
    found = section.definition
    return found is not None and found.first in overloads(source)


class Described(NamedTuple):
    """The front matter and the sections, and what is wrong with the front matter."""

    meta: dict[str, Any]
    sections: tuple[Section, ...]
    mistake: PressError | None


@once
def described(source: Source) -> Described:
    """The sections of a module, and its front matter, taken out of them."""
    sections = split(source)
    meta: dict[str, Any] = {}
    mistake = None
    if sections and sections[0].kind is Kind.MODULE:
        try:
            meta, prose = front_matter(sections[0].prose, source)
            if source.docstring:
                prose = open_title(prose)
            sections = (sections[0]._replace(prose=prose), *sections[1:])
        except PressError as error:
            mistake = error
    return Described(meta, tuple([in_markdown(each) for each in sections]), mistake)


def in_markdown(section: Section) -> Section:
    """A section whose prose is Markdown, with a fence around each example."""
    prose = lower_titles(section.prose) if section.definition else section.prose
    prose = set_rst(prose, section.kind is not Kind.COMMENT)
    return section if prose is section.prose else section._replace(prose=prose)


@once
def anchored(source: Source) -> tuple[tuple[str, Section], ...]:
    """The sections of a module, each with its anchor."""
    anchors = Anchors(source)
    return tuple(
        (anchors.name(section, leading_heading(section.prose)[1]), section)
        for section in described(source).sections
    )


def weave(
    source: Source,
    places: Mapping[str, Place],
    report: Report = stop,
    crossing: Crossing | None = None,
) -> Page:
    """
    ## A page

    Args:
        source: the module.
        places: what [catalogue][] found in the book.
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


def front_matter(prose: Prose, source: Source) -> tuple[dict[str, Any], Prose]:
    """
    ## Front matter

    A module's docstring may open with YAML between two lines `---`, for what a page has
    and a module does not: a title, a summary.

    Args:
        prose: the module's docstring.
        source: the module.

    Returns:
        What the front matter says, and the prose after it.
    """
    texts = [text for _, text in prose.lines]
    if not texts or texts[0] != "---":
        return {}, prose
    number = prose.lines[0][0]
    if "---" not in texts[1:]:
        raise PressError(
            source.path,
            number,
            "the front matter has no end",
            "Close it with a second line `---`.",
        )
    end = texts.index("---", 1)
    text = "\n".join(texts[1:end])
    try:
        # Names that merge others, each several times, can stand for values without end.
        few = text.count("*") < 20 or "&" not in text or not MERGES.search(text)
        meta = (parsed(text) or {}) if few else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        remedy = (
            "Write `key: value` lines, and put quotes around a value that has a colon."
        )
        if "escape" in problem:
            remedy = "Put a value that has a backslash into single quotes."
        raise PressError(
            source.path,
            number + 1 + (mark.line if mark else 0),
            f"the front matter is not YAML: {problem}",
            remedy,
        ) from None
    except RecursionError:
        meta = None
    if not ends(meta):
        raise PressError(
            source.path,
            number,
            "the front matter is nested too deeply, or in itself",
            "Write `key: value` lines, such as `title: The game`.",
        )
    if not isinstance(meta, dict):
        raise PressError(
            source.path,
            number,
            f"the front matter is a {type(meta).__name__}, not a mapping",
            "Write `key: value` lines, such as `title: The game`.",
        )
    symbols = meta.get("symbols", {})
    if mistake := mistake_in_symbols(symbols):
        name, words, remedy = mistake
        begin = next((n for n, t in enumerate(texts) if SYMBOLS.search(t)), 0)
        lines = range(begin + 1, end) if name else ()
        key = pattern_of_key(name)
        line = next((n for n in lines if key.match(texts[n])), begin)
        raise PressError(source.path, number + line, words, remedy)
    return meta, stripped(prose.lines[end + 1 :])


def pattern_of_key(key: str) -> re.Pattern[str]:
    """A pattern for the beginning of the line of front matter that sets a key."""
    return re.compile(rf"\s*['\"]?{re.escape(key)}['\"]?\s*:")


def mistake_in_symbols(symbols: Any) -> tuple[str, str, str] | None:
    """The first entry of `symbols` that is wrong: its name, what is wrong, a remedy."""
    each = r"Write a line `name: '\tex'` for each, indented below `symbols:`."
    if not isinstance(symbols, dict):
        return "", "`symbols` is not a mapping of names to TeX", each
    for name, tex in symbols.items():
        if name is None or isinstance(name, bool):
            words = f"`symbols` has a name that YAML takes for `{name}`"
            return str(name), words, "Put the name into quotes, such as `'on'`."
        if not isinstance(name, str) or not name.isidentifier():
            last = str(name).rpartition(".")[2]
            remedy = f"Write `{last}`." if last.isidentifier() else each
            return str(name), f"`symbols` has `{name}`, which is no name", remedy
        if not isinstance(tex, str) or not tex:
            words = f"the symbol of `{name}` is empty, or no text to YAML"
            return name, words, f"Put it into quotes: `{name}: '…'`."
        if ESCAPED.search(tex):
            meant = ESCAPED.sub(lambda sign: ESCAPES.get(sign[0], "…"), tex)
            words = f"the symbol of `{name}` has lost a backslash to YAML"
            return name, words, f"Put it into single quotes: `{name}: '{meant}'`."
    return None


class Checked(yaml.SafeLoader):
    """
    ### What YAML lets through

    To YAML, 2024-02-30 is a date. To Python it is a mistake, and the error has no line.
    """

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """
        Make what a node says.

        Raises:
            ConstructorError: if it makes no sense; the error has its line.
        """
        try:
            return super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError) as error:
            # YAML's own readers fail on an unknown word in ways that say nothing.
            said = str(error) if isinstance(error, ValueError) else "a wrong value"
            raise ConstructorError(None, None, said, node.start_mark) from None


def parsed(text: str) -> Any:
    """What YAML says. The fast loader may be missing, and is vague about mistakes."""
    # Nor does it stop at thousands of nested brackets, too many for Python.
    fast = getattr(yaml, "CSafeLoader", Checked) if len(text) < LONG else Checked
    try:
        return yaml.load(text, fast)
    except (yaml.YAMLError, ValueError, LookupError, AttributeError):
        return yaml.load(text, Checked)


def ends(value: Any) -> bool:
    """
    ### What has no end

    With `a: &x [*x]` a list contains itself, and a few lines of such names can stand
    for more values than a computer holds.

    Args:
        value: what YAML made of the front matter; `None` if that had no end.
    """
    if value is None:
        return False
    level = [value]
    for _ in range(DEEP):
        level = [
            item
            for each in level
            if isinstance(each, dict | list | tuple)
            for item in (each.values() if isinstance(each, dict) else each)
        ]
        if not level or len(level) > WIDE:
            break
    return not level


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


def leading_heading(prose: Prose) -> tuple[int, str, Prose]:
    """
    ## Headings

    The heading that a section begins with goes above both of its columns, and into the
    outline.

    Returns:
        Its level, 0 if there is none; its text; and the prose after it.
    """
    if prose.lines and (match := HEADING.fullmatch(prose.lines[0][1])):
        return len(match["marks"]), match["text"], stripped(prose.lines[1:])
    return 0, "", prose


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


class Anchors:
    """
    ## Anchors

    A link to a section should survive edits elsewhere in the file, so anchors are made
    from names and words and never from line or section numbers: `Game.step` for the
    method, `Game.lives` for an attribute with a docstring,
    `Game.step--only-frames-3-and-4` for a comment in it that begins with these words.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.taken: set[str] = set()
        # The heading "Weave" must not take the name of the function `weave`.
        self.definitions = {definition.name for definition in source.definitions}
        self.reserved = self.definitions | {a.name for a in source.attributes}

    def name(self, section: Section, heading: str) -> str:
        """A name for a section, unique on its page."""
        reserved = self.reserved
        if section.definition:
            stub = is_stub(section, self.source)
            name, reserved = section.scope + "--overload" * stub, set()
        elif section.kind is Kind.ATTRIBUTE:
            name, reserved = section.scope, self.definitions
        elif heading:
            name = slug(heading, words=12)
        else:
            text = section.prose.text or first_code(section, self.source)
            words = slug(text, words=5)
            name = f"{section.scope}--{words}" if section.scope else words
        # Ids with two underscores in front belong to a theme's switches.
        is_like_a_switch = name.startswith("__") and not name.endswith("__")
        name = f"-{name}" if is_like_a_switch else name or "section"
        unique = name
        count = 1
        while unique in self.taken or unique in reserved:
            count += 1
            unique = f"{name}-{count}"
        self.taken.add(unique)
        return unique


def first_code(section: Section, source: Source) -> str:
    """The first line of a section that is not blank."""
    first, stop = section.spans[0].first, section.spans[-1].stop
    return next(filter(str.strip, source.lines[first - 1 : stop - 1]), "")


def slug(text: str, words: int) -> str:
    """The first few words of a text, for an anchor."""
    found = re.finditer(r"\w+", text.lower())
    return "-".join(word[0] for word in islice(found, words))


def one_line(value: object) -> str:
    """What the front matter gives as a title, whatever it is, as one line of text."""
    return " ".join(re.sub(r"[\0-\x1f\x7f\ud800-\udfff]", " ", str(value)).split())


def plain(markdown: str) -> str:
    """A heading without Markdown's marks, for a title."""
    link = r"\[([^\[\]]*)\]\([^)]*\)|(?<![\w\]])\[([^\[\]]+)\]\[[^\[\]]*\]"
    words = re.sub(link, r"\1\2", markdown)
    return re.sub("[`*$]", "", words).strip()
