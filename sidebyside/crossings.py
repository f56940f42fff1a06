"""
---
title: Crossings
summary: From names to links in the code, and back from a definition to its uses.
---

# Crossings

A reader of code keeps asking two questions. What is this name? And who uses it? An
editor answers both, and so does a page of this book. Its
[references][sidebyside.references] say what each name stands for; here they become
links, in both directions.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sidebyside.anchors import anchored
from sidebyside.highlight import Link, opening
from sidebyside.inventory import Entry
from sidebyside.links import Place
from sidebyside.names import Book
from sidebyside.read import Source
from sidebyside.references import Reference, references
from sidebyside.weave import Crossing, Use

# Every reader of code knows these. A link at each would be noise.
WELL_KNOWN = {
    *("bool", "bytes", "dict", "float", "int", "len", "list", "object", "print"),
    *("range", "set", "str", "tuple", "type"),
}


class Spot(NamedTuple):
    """
    ## Where a line is shown

    Args:
        place: its section on the pages.
        scope: the qualified name of the definition around it.
    """

    place: Place
    scope: str


def spots(source: Source) -> list[Spot]:
    """A spot for each line. Line 0 does not exist; it makes the numbers agree."""
    found = [Spot(Place(source.page, ""), "")]
    for anchor, section in anchored(source):
        lines = section.spans[-1].stop - section.spans[0].first
        found += [Spot(Place(source.page, anchor), section.scope)] * lines
    return found


# What was asked, and what the answer was: `None` if there was no such name.
Answers = dict[str, Place | None]


class Asked(Mapping[str, Place]):
    """
    ## What a page asked for

    A page links to only a few of all definitions. When one of the others moves, the
    page need not be made again. So this mapping notes what it was asked, and what it
    answered. The notes are kept, and not the mapping, or each page would keep alive the
    catalogue of the build that made it.

    Args:
        places: what can be asked for.
    """

    def __init__(self, places: Mapping[str, Place]) -> None:
        self.places = places
        self.answers: Answers = {}

    def __getitem__(self, name: str) -> Place:
        """Answer, and note the answer."""
        self.answers[name] = self.places.get(name)
        return self.places[name]

    def __iter__(self) -> Iterator[str]:
        """Only a mistake asks for all names, and no page with a mistake is kept."""
        return iter(self.places)

    def __len__(self) -> int:
        """How many names can be asked for."""
        return len(self.places)


def are_same(answers: Answers, places: Mapping[str, Place]) -> bool:
    """Whether a page that asked would get the same answers."""
    return all(places.get(name) == was for name, was in answers.items())


class Known:
    """
    ## What is known of a module

    When an author saves one module, most others are as they were.

    Args:
        references: what its names stand for.
    """

    def __init__(self, references: tuple[Reference, ...]) -> None:
        self.references = references
        self.answers: Answers | None = None
        self.links: dict[int, list[Link]] = {}


def cross(
    sources: Iterable[Source],
    places: Mapping[str, Place],
    outside: Mapping[str, Entry],
    use_directory_urls: bool | None = False,
    known: dict[Source, Known] | None = None,
) -> dict[str, Crossing]:
    """
    ## All crossings of a book

    Args:
        sources: its modules.
        places: what [catalogue][sidebyside.catalogue.catalogue] found in them.
        outside: what is documented elsewhere.
        use_directory_urls: see [Place.url_from][sidebyside.links.Place.url_from].
        known: what is known of modules from the build before. For a module it holds as
            long as `outside`, `use_directory_urls` and the code of all modules that it
            [reaches][sidebyside.references.reach] are the same. Anything found here is
            added.

    Returns:
        For the name of each module, [what others say][Crossing] of its page.
    """
    sources = tuple(sources)
    known = {} if known is None else known
    book = Book(sources, outside)
    links: dict[str, dict[int, list[Link]]] = {}
    uses: defaultdict[Place, dict[tuple[str, str], Use]] = defaultdict(dict)
    pages = {source.page: source for source in sources}
    shared = names_that_share(pages, places)
    rank = {(places[name].page, of): n for n, (name, of) in enumerate(shared.items())}
    attributes = instance_attributes(book)
    for source in sources:
        by_line = spots(source)
        if source not in known:
            known[source] = Known(references(book, source))
        module = known[source]
        found = module.references
        if module.answers is None or not are_same(module.answers, places):
            asked = Asked(places)
            module.links = code_links(
                found, by_line, asked, outside, use_directory_urls
            )
            module.answers = asked.answers
        links[source.module] = module.links
        for line, _, _, name, is_import in found:
            if is_import or name in attributes or name not in places:
                continue
            spot = by_line[line]
            full = f"{source.module}.{spot.scope}" if spot.scope else source.module
            place = places[name]
            of = shared.get(name, "")
            if (of, full) in uses[place] or is_inside(spot, place):
                continue
            shown = spot.scope if spot.scope and spot.place.page == place.page else full
            href = spot.place.url_from(place.page, use_directory_urls)
            uses[place][of, full] = Use(shown, href, of)

    by_page: defaultdict[str, dict[str, tuple[Use, ...]]] = defaultdict(dict)
    for place, users in uses.items():
        if place.anchor:
            ordered = sorted(
                users.values(), key=lambda use: rank.get((place.page, use.of), 0)
            )
            by_page[place.page][place.anchor] = tuple(ordered)
    return {
        source.module: Crossing(links[source.module], by_page[source.page])
        for source in sources
    }


def names_that_share(
    pages: Mapping[str, Source], places: Mapping[str, Place]
) -> dict[str, str]:
    """
    The names that share a section with others, as where a module sets its constants.
    Each is given as code in that section would write it, without the module. A reader
    who looks at the uses of such a section asks which of the names is used. Names that
    a class or a function defines are part of it, and are not among these.

    Args:
        pages: the modules, by the paths of their pages.
        places: where the definitions of the book are.
    """
    sections: defaultdict[Place, list[str]] = defaultdict(list)
    for name, place in places.items():
        if not place.anchor or place.page not in pages:
            continue
        # A package may have another name for it.
        if name.startswith(f"{pages[place.page].module}."):
            sections[place].append(name)
    found: dict[str, str] = {}
    for place, names in sections.items():
        module = pages[place.page].module
        if len(names) > 1 and f"{module}.{place.anchor}" not in names:
            around = f"{module}.{place.anchor.partition('--')[0]}."
            for name in names:
                short = name.removeprefix(around)
                found[name] = short.removeprefix(f"{module}.")
    return found


def is_inside(spot: Spot, place: Place) -> bool:
    """Whether a line belongs to the section, or to the class or function in it."""
    within = f"{spot.scope}.".startswith(f"{place.anchor}.")
    return spot.place == place or (spot.place.page == place.page and within)


def code_links(
    references: Iterable[Reference],
    by_line: list[Spot],
    places: Mapping[str, Place],
    outside: Mapping[str, Entry],
    use_directory_urls: bool | None,
) -> dict[int, list[Link]]:
    """
    ## Links in the code

    A name that leads to its own section needs no link. Of all links on a page that lead
    to one place, the Tab key stops only at the first. Otherwise a reader without a
    mouse would press it hundreds of times to get past the code. The script of the page
    opens the links of a section for readers who reach it with the keyboard.

    Args:
        references: the references of one module.
        by_line: its [spots][].
        places: where the definitions of the book are.
        outside: what is documented elsewhere.
        use_directory_urls: see [Place.url_from][sidebyside.links.Place.url_from].
    """
    links: defaultdict[int, list[Link]] = defaultdict(list)
    page = by_line[0].place.page
    whole_page = Place(page, "")
    # A module has few names, and uses each of them many times.
    leads: dict[str, tuple[Place | None, str]] = {}
    met: set[str] = set()
    for line, column, end, name, _ in references:
        if name not in leads:
            href = ""
            if place := places.get(name):
                href = place.url_from(page, use_directory_urls)
            elif name in outside and name not in WELL_KNOWN:
                href = outside[name].url
            leads[name] = place, href
        place, href = leads[name]
        if not href or place in (whole_page, by_line[line].place):
            continue
        tag = opening(href, place is None, href not in met)
        links[line].append((column, end, tag))
        met.add(href)
    return dict(links)


def instance_attributes(book: Book) -> set[str]:
    """
    What methods assign to `self`. The section that does so is mostly `__init__`, and
    code that uses the attribute does not use `__init__`.
    """
    return {
        f"{scope.name}.{name}"
        for module in book.modules.values()
        for scope in module.classes
        for name in scope.attributes
        if name not in scope.bindings
    }
