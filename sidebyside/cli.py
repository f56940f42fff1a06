"""
---
title: The command line
summary: The press for anybody's code, with or without a site.
---

# The command line

The press does not need a site, and it does not need code that was written for it:

```sh
sidebyside page module.py             # one HTML file that needs nothing else
sidebyside markdown package -o docs   # Markdown for the site engine of your choice
sidebyside check package              # what is wrong with the prose, and where
```

## For another site engine

`sidebyside markdown` writes a page for each module, and the styles and the script that
go with them into `assets/sidebyside/`. The engine must convert Markdown with
Python-Markdown, and be told of the extensions and of the styles. For Zensical, or for
MkDocs without the plugin, that is

```yaml
markdown_extensions:
  - admonition
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.superfences
  - tables
  - sidebyside
extra_css:
  - assets/sidebyside/katex/katex.min.css
  - assets/sidebyside/sidebyside.css
extra_javascript:
  - assets/sidebyside/sidebyside.js
```

Names in the code can be links, but the code is HTML already, and engines differ in what
they make of a link in HTML. So say which one it is for, or the code has no links:

| option | for which engine |
|---|---|
| `--links sources` | Zensical, which finds the page to a link that leads to `game.md` |
| `--links folders` | MkDocs, where `game.md` becomes the folder `game/` |
| `--links files` | MkDocs with `use_directory_urls: false` |

## Mistakes

Both commands go on at a mistake in the prose, say on the standard error stream where it
is, and set a link that leads nowhere as words and a broken formula as code. With
`--strict` they write nothing and fail. The exit status is 0 if all is well, 1 if the
code has mistakes, and 2 if the command itself is wrong.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sidebyside.check import check, chosen, unreadable
from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.findings import Finding
from sidebyside.inventory import inventory
from sidebyside.press import (
    ASSETS,
    Module,
    find_modules,
    load,
    load_all,
    make,
    module_name,
    named_from,
    package_of,
    packages_in,
)
from sidebyside.read import undisturbed
from sidebyside.render import environment, render
from sidebyside.standalone import standalone
from sidebyside.weave import catalogue

# For each kind of links, what `cross` calls it.
LINKS = {"sources": None, "folders": True, "files": False}
NO_FILES = "{}: no Python files in this folder"


class UsageError(Exception):
    """A command that can't be carried out, in one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """
    ## The program

    Args:
        arguments: the words behind the name of the program, unless they are those that
            Python was started with.

    Returns:
        The exit status.
    """
    options = parser().parse_args(arguments)
    try:
        with undisturbed():
            status: int = options.run(options)
    except UsageError as error:
        print(f"sidebyside: {error}", file=sys.stderr)
        return 2
    except PressError as error:
        print(error, file=sys.stderr)
        return 1
    except RecursionError:
        print("sidebyside: something here is nested too deeply", file=sys.stderr)
        return 1
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        print(f"sidebyside: {error.filename}: {reason}", file=sys.stderr)
        return 2
    return status


def parser() -> argparse.ArgumentParser:
    """What can be said on the command line."""
    top = argparse.ArgumentParser(
        prog="sidebyside",
        description="Python modules as pages: prose on the left, code on the right.",
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("page", help="make one HTML file of one module")
    one.add_argument("file", metavar="FILE", type=Path, help="a Python file")
    one.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        help="where to write it; FILE.html in the current folder if not given",
    )
    one.add_argument(
        "--docs",
        metavar="DIR",
        type=Path,
        help="the documents of the site, where its pictures lie; the folder `docs` "
        "beside the package, if there is one and nothing else is said",
    )
    one.set_defaults(run=write_page)

    many = commands.add_parser("markdown", help="make Markdown of a package")
    many.add_argument("package", metavar="PACKAGE", type=Path, help="a folder")
    many.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="where to"
    )
    many.add_argument(
        "--links",
        choices=tuple(LINKS),
        help="where links in the code lead: to page.md, to page/ or to page.html",
    )
    many.set_defaults(run=write_markdown)

    lint = commands.add_parser("check", help="say what is wrong with the prose")
    lint.add_argument(
        "paths", metavar="PATH", type=Path, nargs="+", help="a Python file or a folder"
    )
    for option, words in (
        ("--select", "look for these alone: SBS1, or SBS101,SBS201"),
        ("--ignore", "do not look for these"),
    ):
        lint.add_argument(
            option, metavar="CODES", type=codes, action="extend", default=[], help=words
        )
    lint.add_argument(
        "--docs",
        metavar="DIR",
        type=Path,
        help="the documents of the site, where its pictures lie; the folder `docs` "
        "beside the package, if there is one and nothing else is said",
    )
    lint.add_argument(
        "--format",
        choices=("text", "json", "github"),
        default="text",
        help="for whom to print it: a person, a program, or GitHub's Actions",
    )
    lint.set_defaults(run=write_findings)

    for command in (one, many):
        command.add_argument(
            "--strict", action="store_true", help="fail if anything is wrong"
        )
    return top


def write_page(options: argparse.Namespace) -> int:
    """
    ## `sidebyside page`

    Links to other modules and pages can lead nowhere from a single file, and become
    plain words. They are no mistake if the package of the file has what they name, so
    that is read too. Pictures are looked for where the site would have them, or beside
    the module if there is no site.
    """
    file = existing(options.file)
    if file.is_dir():
        raise UsageError(f"{file}: a folder; name one file, or use `markdown`")
    package = package_of(file)
    here = Path.cwd()
    path = named_from(file, here) if file.resolve().is_relative_to(here) else str(file)
    name = module_name(file.resolve(), package) if package else file.stem
    source = load(Module(file, path, name))
    around = find_modules(package, package.parent) if package else []
    others = load_all(around, report=lambda error: None)

    mistakes: list[PressError] = []
    make(source, catalogue([source, *others]), mistakes.append)
    if give_up(mistakes, options.strict):
        return 1
    places = catalogue([source])
    crossing = cross([source], places, inventory())[source.module]
    page = make(source, places, lambda error: None, crossing)
    docs = existing(options.docs) if options.docs else documents_of(package)
    root = docs or file.parent
    folder = (root / page.path).parent if docs else root
    html = standalone(page, environment(), folder, root)
    output: Path = options.output or Path(f"{file.stem}.html")
    output.write_text(html, encoding="utf-8")
    return 0


def write_markdown(options: argparse.Namespace) -> int:
    """
    ## `sidebyside markdown`

    All pages are made before the first is written.
    """
    package = existing(options.package)
    if not package.is_dir():
        raise UsageError(f"{package}: not a folder; for one file, use `page`")
    package = package.resolve()
    modules = find_modules(package, package.parent)
    if not modules:
        raise UsageError(NO_FILES.format(options.package))

    mistakes: list[PressError] = []
    sources = load_all(modules, mistakes.append)
    places = catalogue(sources)
    crossings = cross(sources, places, inventory(), LINKS.get(options.links))
    templates = environment()
    texts: dict[str, str] = {}
    for source in sources:
        try:
            crossing = crossings[source.module]
            if not options.links:
                crossing = replace(crossing, links={})
            page = make(source, places, mistakes.append, crossing)
        except PressError as error:
            mistakes.append(error)
        else:
            texts[page.path] = render(page, templates)
    if give_up(mistakes, options.strict):
        return 1

    for name, text in texts.items():
        path = options.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for asset in assets():
        path = options.output / "assets" / "sidebyside" / asset
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ASSETS / asset).read_bytes())
    return 0


def write_findings(options: argparse.Namespace) -> int:
    """
    ## `sidebyside check`

    A folder may be a package, a part of one, or a place where packages lie. Links may
    lead to whatever these have. What is not looked at is read for that alone. Pictures
    are looked for among the documents of the site, if it is known where these are.
    """
    here = Path.cwd()
    wanted: dict[Path, Module] = {}
    known: dict[Path, Module] = {}
    docs: dict[str, Path | None] = {}
    for path in map(existing, options.paths):
        inside: dict[Path, Module] = {}
        seen: set[Path] = set()
        if path.is_file():
            package = package_of(path)
            name = module_name(path.resolve(), package or path.resolve().parent)
            inside[path.resolve()] = Module(path, str(path), name)
            packages = [package] if package else []
            docs[str(path)] = documents_of(package)
        else:
            packages = packages_in(path)
        for package in packages:
            around = [m for m in find_modules(package, here) if m.file not in seen]
            seen.update(module.file for module in around)
            known |= {module.file: module for module in around}
            for module in around if path.is_dir() else ():
                if module.file.is_relative_to(path.resolve()):
                    shown = shown_in(path, module.file)
                    inside[module.file] = replace(module, path=shown)
                    docs[shown] = documents_of(package)
        if not inside:
            raise UsageError(NO_FILES.format(path))
        wanted |= inside
    if options.docs:
        docs = dict.fromkeys(docs, existing(options.docs))

    findings: list[Finding] = []
    unread: list[PressError] = []
    sources = load_all(wanted.values(), unread.append)
    others = [module for file, module in known.items() if file not in wanted]
    places = catalogue([*sources, *load_all(others, report=lambda error: None)])
    findings += map(unreadable, unread)
    for source in sources:
        findings += check(source, places, docs[source.path])
    findings = [
        finding
        for finding in sorted(findings)
        if finding.code.startswith(tuple(options.select or ["SBS"]))
        and not finding.code.startswith(tuple(options.ignore))
    ]
    if options.format == "json":
        print(json.dumps([finding.as_dict() for finding in findings], indent=2))
    elif options.format == "github":
        print("".join(f"{finding.as_command()}\n" for finding in findings), end="")
    else:
        print("".join(f"{finding}\n" for finding in findings), end="")
    return 1 if findings else 0


def shown_in(folder: Path, file: Path) -> str:
    """How to name a file, after the folder that the user has named."""
    return str(folder / file.relative_to(folder.resolve()))


def documents_of(package: Path | None) -> Path | None:
    """The documents of a site that has this package, where MkDocs would have them."""
    if package is None:
        return None
    root = package.parent
    root = root.parent if root.name == "src" else root
    return root / "docs" if (root / "docs").is_dir() else None


def codes(words: str) -> tuple[str, ...]:
    """Rules, as they are named on the command line."""
    try:
        return chosen(words.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"no rule begins with {error}") from None


def assets() -> list[Path]:
    """The files that a reader's browser needs."""
    return [
        file.relative_to(ASSETS)
        for file in sorted(ASSETS.rglob("*"))
        if file.suffix in (".css", ".woff2") or file.name == "sidebyside.js"
    ]


def existing(path: Path) -> Path:
    """A path that leads somewhere."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    return path


def give_up(mistakes: Sequence[PressError], strict: bool) -> bool:
    """Say what is wrong, and whether to go on all the same."""
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    return strict and bool(mistakes)
