r"""
---
title: Rules
summary: What can be wrong with prose, one function for each mistake.
---

# Rules

Each function looks for one thing in a whole module, and yields what it finds. A rule
that cries wolf is soon ignored, so where one has to guess, it would rather miss
something.

The rules on this page are about what does not work, such as a link that leads nowhere.
Others are about [bad habits][sidebyside.check.habits], and about [what is left
out][sidebyside.check.gaps].
"""

import glob
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from html import unescape
from pathlib import Path
from unicodedata import normalize

from sidebyside.anchors import described
from sidebyside.errors import PressError
from sidebyside.findings import Finding, found
from sidebyside.front import SYMBOLS, pattern_of_key
from sidebyside.guard import is_safe
from sidebyside.lex import NAME
from sidebyside.links import (
    Place,
    file_of,
    labels_of,
    page_at,
    pictures_in,
    set_links,
    still_of,
)
from sidebyside.mathematics import find, in_formulas, unpaired
from sidebyside.prose import CODE, Prose
from sidebyside.read import Source
from sidebyside.symbols import occurrences
from sidebyside.weave import check_formulas

# What the press looks for in the front matter.
KEYS = ("title", "summary", "symbols")


def what_stops_a_build(source: Source) -> Iterator[Finding]:
    """
    ## SBS102 and SBS201: what stops a build

    A misspelt key of the front matter does not stop one, but is reported as well: it
    would have no effect.
    """
    errors: list[tuple[str, PressError]] = []
    meta, sections, mistake = described(source)
    if mistake:
        errors.append(("SBS102", mistake))
    for key in meta:
        # Other keys are for the site engine, so only a near miss is reported.
        meant = get_close_matches(str(key), KEYS, n=1, cutoff=0.8)
        if meant and meant[0] not in meta:
            line = line_of(str(key), source)
            words = f"the front matter has `{key}`"
            remedy = f"Did you mean `{meant[0]}`?"
            errors.append(("SBS102", PressError(source.path, line, words, remedy)))
    for section in sections:
        check_formulas(
            section.prose, source.path, lambda e: errors.append(("SBS201", e))
        )
    for code, error in errors:
        at = error.at.partition("\n")[0]
        if at not in source.lines[error.line - 1]:
            # In a docstring that is not raw, each backslash is written twice.
            at = "$"
        yield found(source, error.line, code, error.found, error.remedy, at=at)


def links(source: Source, places: Mapping[str, Place]) -> Iterator[Finding]:
    """## SBS202: links that lead nowhere"""
    errors: list[PressError] = []
    sections = described(source).sections
    labels, _ = labels_of(section.prose for section in sections)
    for section in sections:
        prose, scope = section.prose, section.scope
        set_links(prose, scope, source, places, errors.append, labels=labels)
    for error in errors:
        yield found(
            source, error.line, "SBS202", error.found, error.remedy, at=error.at
        )


ADDRESS = re.compile(
    CODE
    + r"""
    | (?<=\w)\[\w*\]\(
    | \]\(\s*<?(?P<inline>[^\s)>][^)>\n]*)
    | ^[ ]{0,3}\[(?!\^)[^\]\n]+\]:\s*<?(?P<reference>[^\s>]+)
      (?=>?[ ]*(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))?[ ]*$)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def addresses_in(source: Source) -> Iterator[tuple[Prose, int, str]]:
    """Yields, for each link, the prose, its place in the text, and its address."""
    for prose in proses(source):
        is_formula = in_formulas(prose.text)
        for match in ADDRESS.finditer(prose.text):
            address = match["inline"] or match["reference"]
            if address and not is_formula(match.start()):
                yield prose, match.start(), address


def addresses(source: Source) -> Iterator[Finding]:
    """## SBS203: addresses that could run a script"""
    for prose, start, address in addresses_in(source):
        if not is_safe(address):
            scheme = unescape(address).partition(":")[0].strip()
            yield found(
                source,
                prose.line_at(start),
                "SBS203",
                f"a link with the scheme `{scheme}:`",
                "Link to a page, or write the address as code.",
                at=address,
            )


def symbols(source: Source) -> Iterator[Finding]:
    """
    ## SBS204: symbols of nothing

    A symbol ties formulas to code. One that is missing from the code, or from all
    formulas, ties nothing. On a page without definitions, symbols tie its formulas
    together.
    """
    wanted: dict[str, str] = described(source).meta.get("symbols", {})
    if not wanted:
        return
    names = {
        normalize("NFKC", source.text[a:b])
        for kind, a, b in source.tokens
        if kind == NAME
    }
    anywhere = tuple(wanted.values())
    written = {
        symbol[0]
        for prose in proses(source)
        for formula in find(prose.text)
        for symbol in occurrences(formula.tex, anywhere)
    }
    for name, tex in wanted.items():
        if source.definitions and normalize("NFKC", name) not in names:
            message = f"the symbol `{name}` is no name of this module"
            remedy = "Give the name that the code has, or remove the line."
        elif tex not in written:
            message = f"the symbol `{tex}` of `{name}` is in no formula of this module"
            remedy = "Write it as the formulas have it, or remove the line."
        else:
            continue
        line = line_of(name, source, of_symbols=True)
        yield found(source, line, "SBS204", message, remedy, at=name)


def line_of(key: str, source: Source, *, of_symbols: bool = False) -> int:
    """
    Args:
        key: a key of the front matter, or a name below `symbols`.
        source: the module.
        of_symbols: whether it is such a name.

    Returns:
        The line that says what it is, or the one with `symbols` if that says it all.
    """
    lines = source.docstring.lines if source.docstring else ()
    number = source.docstring.first if source.docstring else 1
    texts = [text or "" for text in lines]
    first = texts.index("---") if "---" in texts else 0
    if of_symbols:
        first = next((n for n, t in enumerate(texts) if SYMBOLS.search(t)), first)
    begin = pattern_of_key(key)
    for at, text in enumerate(texts[first + 1 :], start=first + 1):
        if text == "---":
            break
        if begin.match(text):
            return number + at
    return number + first


def dollars(source: Source, *, words: bool = True) -> Iterator[Finding]:
    """
    ## SBS205: dollars without a formula

    A formula ends at a blank line. If its second `$$` comes only after one, there is no
    formula, and the reader sees TeX. Nor are [words][sidebyside.mathematics] between
    two dollars a formula.

    Args:
        source: the module.
        words: whether to look for words between dollars, too. A build does not: their
            author may never have thought of formulas.
    """
    for prose in proses(source):
        for offset in unpaired(prose.text):
            if prose.text.startswith("$$", offset):
                dollar = "$$"
                message = "a `$$` that is not part of a formula"
                remedy = (
                    r"Leave no blank line and no other `$` in the formula, or write "
                    r"`\$\$`."
                )
            elif not words:
                continue
            else:
                dollar = "$"
                message = "words between two dollars, which are no formula"
                remedy = (
                    r"Write `\$` for a dollar, and `\text{…}` for words in formulas."
                )
            line = prose.line_at(offset)
            yield found(source, line, "SBS205", message, remedy, at=dollar)


def pictures(source: Source, docs: Path | None) -> Iterator[Finding]:
    """
    ## SBS206: pictures that do not exist

    A path starts at the page, [and not at the module][sidebyside].

    Args:
        source: the module.
        docs: the documents of the site; without them, there is no telling what exists.
    """
    if docs is None:
        return
    page = source.page
    for prose in proses(source):
        for picture in pictures_in(prose.text):
            # A film needs a still as well.
            for address in filter(None, (picture.address, still_of(picture.address))):
                path = file_of(address, posixpath.dirname(page))
                if path is None or (docs / path).is_file():
                    continue
                yield found(
                    source,
                    prose.line_at(picture.start),
                    "SBS206",
                    f"the picture `{address}`, which is not in `{docs.resolve().name}`",
                    where_it_is(path, page, docs),
                    at=picture.address,
                )


def where_it_is(path: str, page: str, docs: Path) -> str:
    """A remedy: another place that has a picture of that name, if there is one."""
    name = posixpath.basename(path)
    for file in sorted(docs.rglob(glob.escape(name))):
        meant = Place(file.relative_to(docs).as_posix(), "").seen_from(page)
        meant = f"<{meant}>" if " " in meant else meant
        return f"Did you mean `{meant}`?"
    return f"Put it there, or mend its path, which starts at `{page}`."


def pages(
    source: Source, places: Mapping[str, Place], docs: Path | None
) -> Iterator[Finding]:
    """
    ## SBS207: pages that do not exist

    A link may lead to a module, `[the game](game.py)`, or to a page that was written by
    hand, `[results](../results.md)`.

    Args:
        source: the module.
        places: what can be linked to.
        docs: the documents of the site; without them, there is no telling what exists.
    """
    if docs is None:
        return
    page = source.page
    modules = {name for name, place in places.items() if not place.anchor}
    for prose, start, with_title in addresses_in(source):
        address = with_title.partition(" ")[0]
        path = file_of(address, posixpath.dirname(page)) or ""
        if not path.endswith((".md", ".py")):
            continue
        if page_at(path, places) or (docs / path).is_file():
            continue
        # A page of the reference, which a build makes, is called after its module.
        if posixpath.basename(path).removesuffix(".md") in modules:
            continue
        made = {place.page for place in places.values()}
        if path not in made:
            yield found(
                source,
                prose.line_at(start),
                "SBS207",
                f"a link to `{address}`, which is no page",
                nearest_page(path, page, made, docs),
                at=address,
            )


def nearest_page(path: str, page: str, made: Collection[str], docs: Path) -> str:
    """A remedy: the page that was probably meant."""
    written = (file.relative_to(docs).as_posix() for file in docs.rglob("*.md"))
    wanted = re.sub(r"(/__init__)?\.py$", ".md", path)
    every = sorted({*made, *written})
    # A page of that name elsewhere is more likely than another name.
    namesakes = [
        p for p in every if posixpath.basename(p) == posixpath.basename(wanted)
    ]
    if close := get_close_matches(
        wanted, namesakes, n=1, cutoff=0
    ) or get_close_matches(wanted, every, n=1):
        meant = close[0]
        if path.endswith(".py") and meant in made:
            # A link to a module leads to its source, and in the site to its page.
            meant = re.sub(r"\bindex\.md$", "__init__.md", meant)[:-2] + "py"
        return f"Did you mean `{Place(meant, '').seen_from(page)}`?"
    return f"Mend its path, which starts at `{page}`."


def proses(source: Source) -> Iterator[Prose]:
    """All the prose of a module, without front matter."""
    for section in described(source).sections:
        yield section.prose
