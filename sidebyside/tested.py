r"""
---
title: Tests beside the code
summary: Which tests run a piece of code, according to coverage.py.
---

# Tests beside the code

A reader who copies a function wants to know *which parts* of it are tested, and by
what. The names of good tests say just that, but nobody reads them: they are in another
folder.

[coverage.py](https://coverage.readthedocs.io) can note for each line which tests have
run it. So a page can list them, below the prose of each function. The press makes a
record of this, a file to be committed, so that a site can be built without running any
tests:

```sh
pip install pytest-cov
pytest --cov=your_package --cov-context=test
sidebyside tests your_package -o tests.json
```

If `tests.json` is there already, what it says about other packages is kept. In
`mkdocs.yml`, `tests: tests.json` tells the plugin about it.

## What counts

Only lines in the bodies of functions count. Code outside them is run by whichever test
imports the module first.

Some tests run half of the program, and some a single function. Those that run the
fewest sections say the most about each of them, so they come first, and only the first
few are named. A test with many sets of parameters counts as one test.

A comment in a body [begins a new section](split.py). That section gets its own list
where fewer than half of the function's tests run it, as is often the case below an
`if`.

## Until the code changes

The record has a fingerprint of the code of each section. Where the code has changed
since, the page says so, and lists no tests, either for the function or for the sections
in its body. A change of prose does not count.
"""

import ast
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sidebyside.anchors import anchored
from sidebyside.read import BLOCKS, Source, once, statements
from sidebyside.split import Kind, Role, Section
from sidebyside.weave import Crossing, RunBy

# How many tests are named for a section.
NAMED = 12
# What follows the name of a test: its parameters, or what coverage.py and pytest-cov
# have added.
BEHIND = re.compile(r"\[.*|\|.*| \((?:setup|call|teardown)\)$", re.DOTALL)

Ran = Mapping[int, Iterable[str]]


class Entry(NamedTuple):
    """
    What was recorded about a section: the fingerprint of its code, how many tests ran
    it, and the names of the first few.
    """

    code: str
    total: int
    tests: tuple[str, ...]


# Entries by module, and within each module by anchor.
Recorded = Mapping[str, Mapping[str, Entry]]


@once
def bodies(source: Source) -> set[int]:
    """
    ## The bodies of functions

    Returns:
        The lines on which a statement in them begins. Docstrings, and names that are
        only declared, do not count.
    """
    # The lines of a signature are run whenever the function is defined.
    return {
        statement.lineno
        for function in source.definitions
        if not function.is_class
        for statement in within(function.node)
        if statement.lineno > function.header and not is_silent(statement)
    }


def within(parent: ast.AST) -> Iterator[ast.stmt]:
    """The statements in a definition, and those nested in them."""
    waiting = [parent]
    while waiting:
        for child in statements(waiting.pop()):
            if isinstance(child, ast.stmt):
                yield child
            if type(child) in BLOCKS:
                waiting.append(child)


def is_silent(statement: ast.stmt) -> bool:
    """Whether a statement does nothing when it is reached."""
    match statement:
        case ast.Global() | ast.Nonlocal() | ast.AnnAssign(value=None):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
    return False


def name_of(context: str) -> str:
    """The test that a context of coverage.py stands for, without its parameters."""
    return BEHIND.sub("", context)


def record(
    sources: Iterable[Source],
    ran: Mapping[str, Ran],
    kept: Recorded = MappingProxyType({}),
) -> dict[str, Any]:
    """
    ## The record

    Args:
        sources: the modules.
        ran: for the path of each module, the contexts in which its lines were run, by
            line number.
        kept: what was recorded about other modules.

    Returns:
        What can be written as JSON: the names of tests, and for each section of each
        module the fingerprint of its code, how many tests ran it, and the first few, as
        indices into the list of names.
    """
    tests = {
        (source.module, part.anchor, part.code): {
            name_of(context)
            for line in part.lines
            for context in ran.get(source.path, {}).get(line, ())
        }
        - {""}
        for source in sources
        for part in code_with_bodies(source)
    }
    breadth = Counter(name for names in tests.values() for name in names)
    entries: defaultdict[str, dict[str, Entry]] = defaultdict(dict)
    for (module, anchor, code), names in tests.items():
        first = sorted(names, key=lambda name: (breadth[name], name))[:NAMED]
        entries[module][anchor] = Entry(code, len(names), tuple(first))

    # A name is written once.
    modules = {**kept, **entries}
    every = [entry for found in modules.values() for entry in found.values()]
    known = sorted({name for entry in every for name in entry.tests})
    places = {name: place for place, name in enumerate(known)}
    return {
        "tests": known,
        "modules": {
            module: {
                anchor: entry._asdict()
                | {"tests": [places[name] for name in entry.tests]}
                for anchor, entry in modules[module].items()
            }
            for module in sorted(modules)
        },
    }


class Part(NamedTuple):
    """
    A section with its anchor, the lines of bodies in it, and the fingerprint of its
    code.
    """

    anchor: str
    section: Section
    lines: set[int]
    code: str


@once
def code_with_bodies(source: Source) -> tuple[Part, ...]:
    """
    The sections that contain part of the body of a function. The section of the
    function itself counts together with all those that its comments begin.
    """
    found: list[Part] = []
    inside = bodies(source)
    of_scope: defaultdict[str, list[Section]] = defaultdict(list)
    for _, section in anchored(source):
        of_scope[section.scope].append(section)
    for anchor, section in anchored(source):
        whole = section.kind is Kind.FUNCTION
        lines = lines_of(of_scope[section.scope] if whole else [section])
        if whole and section.definition:
            # An overload has the name of the function that does the work.
            own = section.definition
            lines &= {*range(own.first, own.last + 1)}
        if lines & inside:
            code = fingerprint(lines, source)
            found.append(Part(anchor, section, lines & inside, code))
    return tuple(found)


def lines_of(sections: Iterable[Section]) -> set[int]:
    """The line numbers of the code in some sections."""
    return {
        line
        for section in sections
        for span in section.spans
        if span.role is Role.CODE
        for line in range(span.first, span.stop)
    }


def fingerprint(lines: Iterable[int], source: Source) -> str:
    """Eight digits that change with the code, and not with the prose around it."""
    texts = (source.lines[line - 1].rstrip() for line in sorted(lines))
    return hashlib.sha256("\n".join(filter(None, texts)).encode()).hexdigest()[:8]


@lru_cache(maxsize=1)
def read_record(data: bytes) -> Recorded:
    """
    ## Read again

    Args:
        data: what is in the file.

    Raises:
        ValueError: if that is not a record.
    """
    try:
        said = json.loads(data)
        names = [str(name) for name in said["tests"]]
        return {
            module: {
                anchor: Entry(
                    str(entry["code"]),
                    int(entry["total"]),
                    tuple(names[place] for place in entry["tests"]),
                )
                for anchor, entry in entries.items()
            }
            for module, entries in said["modules"].items()
        }
    except (ValueError, LookupError, TypeError, AttributeError):
        wrong = "is no record of tests; `sidebyside tests` makes one"
        raise ValueError(wrong) from None


def run_by(source: Source, recorded: Recorded) -> dict[str, RunBy]:
    """
    ## What a page shows

    Args:
        source: its module.
        recorded: what [read_record][] read.

    Returns:
        For each anchor, the tests that run the code there.
    """
    entries = recorded.get(source.module)
    if not entries:
        return {}
    parts = code_with_bodies(source)
    # A getter and a setter have one name, and so have the functions of two branches.
    functions = {
        (section.scope, line): (entries.get(anchor), code)
        for anchor, section, _, code in parts
        if section.kind is Kind.FUNCTION and (own := section.definition)
        for line in range(own.first, own.last + 1)
    }
    found: dict[str, RunBy] = {}
    for anchor, section, _, code in parts:
        entry = entries.get(anchor)
        if entry is None:
            continue
        place = section.scope, section.spans[-1].first
        around, code_around = functions.get(place, (None, ""))
        if section.kind is Kind.FUNCTION or around is None:
            changed = entry.code != code
            shown = RunBy(None) if changed else RunBy(entry.total, by_file(entry.tests))
            found[anchor] = shown
        # Where a function has changed, that is said once, and nothing is said about the
        # sections that its comments begin: other tests may run them now.
        elif around.code == code_around and 2 * entry.total < around.total:
            found[anchor] = RunBy(entry.total, by_file(entry.tests))
    return found


def with_tests(
    crossings: Mapping[str, Crossing], sources: Iterable[Source], recorded: Recorded
) -> dict[str, Crossing]:
    """The crossings of all pages, each with the tests that [run_by][] finds."""
    return {
        source.module: replace(crossings[source.module], tests=run_by(source, recorded))
        for source in sources
    }


@cache
def in_words(name: str) -> tuple[str, str]:
    """A test's file and what it says, kept because many sections name the same test."""
    file, *inside = name.split("::")
    words = [re.sub(r"^test_?", "", part, flags=re.IGNORECASE) for part in inside]
    return file, ": ".join(words).replace("_", " ").strip() or name


def by_file(names: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """
    ### Names as sentences

    Args:
        names: the names of tests, as pytest has them:
            `tests/test_kiln.py::test_it_gets_hot`.

    Returns:
        For each file, what its tests say: "it gets hot".
    """
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        file, said = in_words(name)
        files[file].append(said)
    return tuple((file, tuple(said)) for file, said in files.items())
