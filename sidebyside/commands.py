"""
---
title: Commands
summary: What each command does, with what was said on the command line.
---

# Commands

[The command line][sidebyside.cli] has four commands. Each is a function here that
returns the exit status. They all say first what can't be done, and write at the end.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

from sidebyside.catalogue import catalogue
from sidebyside.check import LEAVING, RULES, check, unreadable
from sidebyside.check.rules import dollars
from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.findings import Finding
from sidebyside.inventory import Entry, inventory, own_inventory
from sidebyside.marks import BEGINS
from sidebyside.press import (
    Module,
    WithOutside,
    WithUnread,
    asset_bytes,
    assets,
    excluding,
    find_modules,
    load,
    load_all,
    make,
    module_name,
    modules_in,
    named_from,
    names_around,
    package_of,
    packages_meant,
)
from sidebyside.read import Source
from sidebyside.render import environment, render
from sidebyside.standalone import missing_pictures, standalone
from sidebyside.tested import Recorded, read_record, record, with_tests

# For each kind of link, what `cross` calls it.
LINKS = {"sources": None, "folders": True, "files": False}
# What only the press writes on a page of HTML.
MARK_OF_HTML = b'<meta name="generator" content="sidebyside">'
NO_FILES = "{}: no Python files in this folder"
SAME_PAGE = "another module has the page `{}`"
RENAME = "Rename one of them, or leave it out with `--exclude`."


class UsageError(Exception):
    """A command that can't be carried out, in one line."""


def write_page(options: argparse.Namespace) -> int:
    """
    ## `sidebyside page`

    Links to other modules and pages become plain words. They are not mistakes if the
    package of the file has what they name. So where there are such links, the whole
    package is read too. Pictures are looked for where the site would have them, or
    beside the module if there is no site.
    """
    file = existing(options.file)
    if file.is_dir():
        raise UsageError(f"{file}: a folder; name one file, or use `markdown`")
    # A package is called after its folder.
    stem = file.stem if file.stem != "__init__" else file.resolve().parent.name
    output: Path = options.output or Path(f"{stem}.html")
    if output.exists() and output.samefile(file):
        raise UsageError(f"{output}: is the module itself; give the page another name")
    if options.output is None:
        check_ours([output], MARK_OF_HTML, "give the page another name with `-o`")
    package = package_of(file)
    here = Path.cwd()
    path = str(file)
    if file.resolve().is_relative_to(here):
        # A path through a link, such as `/tmp` on a Mac, may seem to begin elsewhere.
        is_here = Path(os.path.abspath(file)).is_relative_to(here)
        path = named_from(file if is_here else file.resolve(), here)
    name = module_name(file.resolve(), package) if package else file.stem
    outside = known_outside(options.inventory)
    source = load(Module(file, path, name))
    docs = folder_at(options.docs) if options.docs else documents_of(package)
    root = docs or file.parent
    folder = (root / source.page).parent if docs else root

    places = catalogue([source])
    linked = WithOutside(places, outside)
    mistakes: list[PressError] = []
    make(source, linked, mistakes.append)
    if mistakes:
        beside = sorted(file.parent.glob("*.py"))
        around = (
            find_modules(package, package.parent)
            if package
            else [Module(each, str(each), each.stem) for each in beside]
        )
        others = load_all(around, lambda error: None)
        mistakes.clear()
        all_places = WithOutside(catalogue([source, *others]), outside)
        make(source, all_places, mistakes.append)
    mistakes += [*lone_dollars(source), *missing_pictures(source, folder, root)]
    if give_up(mistakes, options.strict):
        return 1
    crossings = cross([source], places, outside)
    crossing = with_tests(crossings, [source], recorded(options.tests))[source.module]
    page = make(source, linked, lambda error: None, crossing)
    if not file.resolve().is_relative_to(here):
        # The page may travel, and where it was made is nobody's business.
        shown = named_from(file.resolve(), package.parent) if package else file.name
        page = replace(page, source=replace(source, path=shown))
    html = standalone(page, environment(), folder, root)
    # The name of a file is on the page, and may have bytes that are not letters.
    write_out(output, html.encode(errors="replace"))
    return 0


def write_out(output: Path, data: bytes) -> None:
    """Write a file, or to the standard output stream if it is called `-`."""
    if str(output) == "-":
        sys.stdout.buffer.write(data)
    else:
        output.write_bytes(data)


def check_ours(paths: Iterable[Path], mark: bytes, remedy: str) -> None:
    """
    Refuse to write over what the press has not written.

    Args:
        paths: the files that will be written.
        mark: what is in each file that the press has made.
        remedy: what the user can do instead.

    Raises:
        UsageError: if one of them is there already, without the mark.
    """
    for path in paths:
        if path.exists() and mark not in path.read_bytes():
            raise UsageError(
                f"{path}: is there already, and the press did not make it; {remedy}"
            )


def write_markdown(options: argparse.Namespace) -> int:
    """
    ## `sidebyside markdown`

    All pages are made before the first is written.
    """
    package = existing(options.package)
    if not package.is_dir():
        raise UsageError(f"{package}: not a folder; for one file, use `page`")
    if str(options.output) == "-":
        raise UsageError("-: not a folder, and there are many pages")
    check_package(package)
    package = package.resolve()
    root = package.parents[len(names_around(package))]
    used: set[str] = set()
    modules = find_modules(package, root, options.exclude, Path.cwd(), used)
    say_unused(options.exclude, used)
    if not modules:
        raise UsageError(NO_FILES.format(options.package))

    mistakes: list[PressError] = []
    outside = known_outside(options.inventory)
    sources = load_all(modules, mistakes.append)
    places = catalogue(sources)
    linked = WithOutside(places, outside)
    crossings = cross(sources, places, outside, LINKS.get(options.links))
    crossings = with_tests(crossings, sources, recorded(options.tests))
    templates = environment()
    texts: dict[str, str] = {}
    for source in sources:
        try:
            crossing = crossings[source.module]
            if not options.links:
                crossing = replace(crossing, links={}, uses={})
            page = make(source, linked, mistakes.append, crossing)
            if source.page in texts:
                raise PressError(source.path, 1, SAME_PAGE.format(source.page), RENAME)
        except PressError as error:
            mistakes.append(error)
        else:
            texts[source.page] = render(page, templates)
            mistakes += lone_dollars(source)
    # A page names a file from its package, and a message from the current folder.
    here = Path.cwd()
    if give_up(
        [each.in_file(named_from(root / each.path, here)) for each in mistakes],
        options.strict,
    ):
        return 1

    pages = [options.output / name for name in texts]
    check_ours(pages, BEGINS.encode(), "write to another folder with `-o`")
    for name, text in texts.items():
        path = options.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for asset in assets():
        path = options.output / "assets" / "sidebyside" / asset
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(asset_bytes(asset))
    inside = options.output.joinpath(*names_around(package), package.name)
    say_left(inside, {options.output / module.page for module in modules})
    return 0 if len(texts) == len(modules) else 1


def lone_dollars(source: Source) -> Iterator[PressError]:
    """A mistake for each `$$` that a page would show as it is."""
    for each in dollars(source, words=False):
        yield PressError(each.path, each.line, each.message, each.remedy)


def say_left(folder: Path, pages: set[Path]) -> None:
    """Name the pages in a folder that were made from modules that no longer exist."""
    for path in sorted({*folder.rglob("*.md")} - pages):
        if BEGINS.encode() in path.read_bytes():
            print(f"{path}: is the page of no module; delete it", file=sys.stderr)


def write_findings(options: argparse.Namespace) -> int:
    """
    ## `sidebyside check`

    A folder may be a package, part of one, or a place that has packages in it.
    """
    here = Path.cwd()
    wanted: dict[Path, Module] = {}
    known: dict[Path, Module] = {}
    docs: dict[str, Path | None] = {}
    used: set[str] = set()
    for path in left_in(options.paths, here, options.exclude, used):
        inside: dict[Path, Module] = {}
        whole = path.resolve()
        if path.is_file():
            package = package_of(path)
            name = module_name(whole, package or whole.parent)
            inside[whole] = Module(path, str(path), name)
            docs[str(path)] = documents_of(package or whole.parent)
            if package:
                around = [*modules_in(package, here, options.exclude, used)]
            else:
                # The file may import the modules beside it.
                folder = whole.parent
                beside = (
                    Module(each, named_from(each, here), module_name(each, folder))
                    for each in sorted(folder.glob("*.py"))
                )
                around = [(folder, module) for module in beside]
        else:
            around = [*modules_in(path, here, options.exclude, used)]
        for package, module in around:
            known[module.file] = module
            if path.is_dir() and module.file.is_relative_to(whole):
                # Messages name a file from the folder as the user has typed it.
                named = str(path / module.file.relative_to(whole))
                inside[module.file] = replace(module, path=named)
                docs[named] = documents_of(package)
        if not inside:
            raise UsageError(NO_FILES.format(path))
        wanted |= inside
    say_unused(options.exclude, used)
    if options.docs:
        docs = dict.fromkeys(docs, folder_at(options.docs))

    others = [module for file, module in known.items() if file not in wanted]
    outside = known_outside(options.inventory)
    codes = {
        code
        for code in RULES
        if code.startswith(tuple(options.select or ["SBS"]))
        and not code.startswith(tuple(options.ignore))
    }
    findings = findings_in([*wanted.values()], others, outside, docs, codes)
    if options.format == "json":
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        on_github = options.format == "github"
        lines = (f"{each.as_command() if on_github else each}\n" for each in findings)
        print("".join(lines), end="")
    return 1 if findings else 0


def findings_in(
    wanted: Sequence[Module],
    others: Sequence[Module],
    outside: Mapping[str, Entry],
    docs: Mapping[str, Path | None],
    codes: Set[str],
) -> list[Finding]:
    """
    A package may have thousands of modules, and what is checked before each commit is
    one or two. So the others are read only if something links to what these two do not
    have.

    Args:
        wanted: the modules to be checked.
        others: those that they may link to.
        outside: what is documented elsewhere.
        docs: for each path of a module, the documents of its site.
        codes: the rules that are asked for.
    """

    def check_all(sources: Sequence[Source], modules: Sequence[Module]) -> None:
        readable = {source.module for source in known}
        missing = [module for module in modules if module.name not in readable]
        places = WithUnread(catalogue(known), missing, readable)
        linked = WithOutside(places, outside)
        for source in sources:
            every = check(source, linked, docs[source.path])
            found[source.path] = [each for each in every if each.code in codes]

    unread: list[PressError] = []
    found: dict[str, list[Finding]] = {}
    known = load_all(wanted, unread.append)
    check_all(known, wanted)
    doubtful = [
        source
        for source in known
        if any(each.code in LEAVING for each in found[source.path])
    ]
    if doubtful and others:
        known += load_all(others, report=lambda error: None)
        check_all(doubtful, [*wanted, *others])
    broken = [each for each in map(unreadable, unread) if each.code in codes]
    return sorted(chain(broken, *found.values()))


def left_in(
    paths: Sequence[Path], here: Path, exclude: Sequence[str], used: set[str]
) -> Iterator[Path]:
    """
    The paths that were named, without the files that are to be left out: what runs
    before each commit names all files that have changed.
    """
    for path in map(existing, paths):
        matching: set[str] = set()
        if path.is_file():
            package = package_of(path)
            typed = named_from(path, here)
            whole = named_from(path.resolve(), package.parent) if package else typed
            matching = excluding(typed.split("/"), whole.split("/"), typed, exclude)
        used |= matching
        if not matching:
            yield path


def write_tests(options: argparse.Namespace) -> int:
    """
    ## `sidebyside tests`

    coverage.py has noted only line numbers. The code on those lines is read now, so
    make the record right after running the tests, before anything is changed.
    """
    old = recorded(options.output if options.output.exists() else None)
    sources: list[Source] = []
    lines: dict[str, Mapping[int, Sequence[str]]] = {}
    used: set[str] = set()
    own: set[str] = set()
    seen = contexts_in(existing(options.coverage))
    for named in map(existing, options.packages):
        if not named.is_dir():
            raise UsageError(f"{named}: not a folder")
        check_package(named)
        package = named.resolve()
        around = names_around(package)
        own.add(".".join((*around, package.name)))
        root = package.parents[len(around)]
        for module in find_modules(package, root, options.exclude, Path.cwd(), used):
            sources.append(load(module))
            lines[module.path] = seen.get(module.file.resolve(), {})
    say_unused(options.exclude, used)
    contexts = {
        name for ran in lines.values() for found in ran.values() for name in found
    }
    if not contexts:
        raise UsageError(f"{options.coverage}: has seen nothing of these packages")
    if contexts == {""}:
        remedy = "run pytest with --cov-context=test"
        raise UsageError(f"{options.coverage}: knows of no tests; {remedy}")
    kept = {
        name: old[name]
        for name in old
        if not any(f"{name}.".startswith(f"{package}.") for package in own)
    }
    made = record(sources, lines, kept=kept)
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    write_out(options.output, text.encode())
    return 0


def contexts_in(file: Path) -> dict[Path, Mapping[int, Sequence[str]]]:
    """For each file that coverage.py has seen, the contexts of its lines."""
    try:
        # No other command needs it, so it may be missing.
        from coverage import CoverageData, CoverageException  # noqa: PLC0415
    except ModuleNotFoundError:
        raise UsageError("coverage.py is missing: pip install pytest-cov") from None
    data = CoverageData(basename=str(file))
    try:
        data.read()
        return {
            Path(path).resolve(): data.contexts_by_lineno(path)
            for path in data.measured_files()
        }
    except CoverageException as error:
        raise UsageError(f"{file}: {error}") from None


def recorded(path: Path | None) -> Recorded:
    """
    ## What several commands need

    Returns:
        The tests that were recorded, if there is a record.
    """
    if path is None:
        return {}
    try:
        return read_record(existing(path).read_bytes())
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None


def known_outside(own: Sequence[tuple[str, str]]) -> dict[str, Entry]:
    """Where names are documented, by the press's lists and those that were given."""
    entries = inventory()
    for address, path in own:
        try:
            entries = entries | own_inventory(
                address, existing(Path(path)).read_bytes()
            )
        except ValueError as error:
            raise UsageError(f"{path}: {error}") from None
    return entries


def say_unused(exclude: Sequence[str], used: set[str]) -> None:
    """Name the patterns that left nothing out: one of them may be misspelt."""
    for pattern in exclude:
        if pattern not in used:
            print(f"--exclude: nothing matches {pattern}", file=sys.stderr)


def check_package(folder: Path) -> None:
    """
    Refuse a folder that was probably not meant.

    Raises:
        UsageError: if it is [the folder above a package][packages_meant].
    """
    if meant := packages_meant(folder):
        paths = ", ".join(map(str, meant))
        raise UsageError(f"{folder}: no package; did you mean {paths}?")


def documents_of(package: Path | None) -> Path | None:
    """The folder where MkDocs would have the documents of a package's site, if any."""
    if package is None:
        return None
    root = package.parent
    root = root.parent if root.name == "src" else root
    return root / "docs" if (root / "docs").is_dir() else None


def existing(path: Path) -> Path:
    """The same path, or a `UsageError` if nothing is there."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    return path


def folder_at(path: Path) -> Path:
    """The same path, or a `UsageError` if it leads to no folder."""
    if not existing(path).is_dir():
        raise UsageError(f"{path}: not a folder")
    return path


def give_up(mistakes: Sequence[PressError], strict: bool) -> bool:
    """Print what is wrong, and say whether the command has to stop because of it."""
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    return strict and bool(mistakes)
