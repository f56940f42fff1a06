"""
---
title: Catalogue
summary: Everything in a book that a link can lead to, by all the names that it has.
---

# Catalogue

A definition is known by its full name, `kiln.fire.Fire`. If `kiln/__init__.py` imports
it, it is also known as `kiln.Fire`, and that is what most people write. This page lists
all names of a book, each with its place on the pages. [Links][sidebyside.links] in
prose and [in code][sidebyside.crossings] look names up in this list.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from sidebyside.anchors import anchored
from sidebyside.bindings import imports, may_bring, scopes
from sidebyside.links import Place
from sidebyside.read import Source
from sidebyside.scopes import variables


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
    ## Other names for the same thing

    A class that has another name has its methods under that name, too.

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
    ### Imported from where it was imported

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
    ### Imported with a star

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
