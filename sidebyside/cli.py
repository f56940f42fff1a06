"""
---
title: The command line
summary: The press for anybody's code, with or without a site.
---

# The command line

The press does not need a site, and it does not need code that was written for it:

```sh
# One HTML file that needs nothing else:
sidebyside page module.py
# Markdown for the site engine of your choice:
sidebyside markdown package -o docs
# What is wrong with the prose, and where:
sidebyside check package
# Which tests run the code, for the pages:
sidebyside tests package -o tests.json
```

To get the program, go to a copy of this project's repository, and type:

```sh
pip install '.[press]'
```

`--exclude` leaves out files and folders, as [the plugin][sidebyside.options]
does. With `--inventory`, names may lead to documentation of your choice. And `--tests`
shows [which tests][sidebyside.tested] run the code. `sidebyside COMMAND --help` lists
all options.

## For another site engine

`sidebyside markdown` writes a page for each module, and the styles and the script that
go with them into `assets/sidebyside/`. The engine must convert Markdown with
Python-Markdown, and be told about the extensions and the styles. For Zensical, or for
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

Names in the code can be links, and a definition can show where it is used. But these
links are HTML, and engines differ in what they make of that. So both are left out,
unless an option says for which engine the pages are:

| option | for which engine |
|---|---|
| `--links sources` | Zensical, which makes a link to `game.md` lead to its page |
| `--links folders` | MkDocs, where `game.md` becomes the folder `game/` |
| `--links files` | MkDocs with `use_directory_urls: false` |

## Mistakes

`page` and `markdown` do not stop at a mistake in the prose. They say on the standard
error stream where it is, and set a link that leads nowhere as words and a broken
formula as code. A module that is not Python has no page. With `--strict` they write
nothing if anything is wrong.

The exit status of `page` and `markdown` is 0 if every page was written, whatever was
wrong with the prose, and 1 if not. That of `check` is 0 if it finds nothing, and 1 if
it finds something. For any command it is 2 if an option is wrong, or if a file other
than a module can't be read or written.
"""

import argparse
import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from sidebyside.check import chosen
from sidebyside.commands import (
    LINKS,
    UsageError,
    write_findings,
    write_markdown,
    write_page,
    write_tests,
)
from sidebyside.errors import PressError
from sidebyside.read import undisturbed

# The status with which a program ends that nobody reads. Windows has no such signal.
READ_ENOUGH = 128 + getattr(signal, "SIGPIPE", 13)


def main(arguments: Sequence[str] | None = None) -> int:
    """
    ## The program

    Args:
        arguments: the words after the name of the program, if they are not those that
            Python was started with.

    Returns:
        The exit status.
    """
    options = parser().parse_args(arguments)
    # A character that the terminal lacks is no reason to say nothing.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with undisturbed():
            status: int = options.run(options)
        sys.stdout.flush()
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
        if is_unread(error):
            # Whoever read what was printed has had enough: `sidebyside check . | head`.
            print_no_more()
            return READ_ENOUGH
        reason = (error.strerror or str(error)).lower()
        # The error of a file that can't be written to its end, on a full disk, names no
        # file.
        named = f"{error.filename}: " if error.filename else ""
        print(f"sidebyside: {named}{reason}", file=sys.stderr)
        if not named:
            print_no_more()
        return 2
    return status


def is_unread(error: OSError) -> bool:
    """
    Whether nobody reads what is printed any more. On Windows, a pipe that nobody reads
    may be no broken pipe, but an invalid argument.
    """
    is_invalid = error.errno == errno.EINVAL and error.filename is None
    return isinstance(error, BrokenPipeError) or (
        sys.platform == "win32" and is_invalid
    )


def print_no_more() -> None:
    """Forget what could not be printed. Python would try once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser() -> argparse.ArgumentParser:
    """What can be said on the command line."""
    top = argparse.ArgumentParser(
        prog="sidebyside",
        description="Python modules as pages: prose on the left, code on the right.",
    )
    top.add_argument("--version", action="version", version=version())
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    one = commands.add_parser("page", help="make one HTML file of one module")
    one.add_argument("file", metavar="FILE", type=Path, help="a Python file")
    one.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        help="where to write it; if not given, the name of the module with .html, in "
        "the current folder; `-` is the standard output stream",
    )
    one.set_defaults(run=write_page)

    many = commands.add_parser("markdown", help="make Markdown of a package")
    many.add_argument("package", metavar="PACKAGE", type=Path, help="a folder")
    many.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        required=True,
        help="the folder to write to, such as docs",
    )
    many.add_argument(
        "--links",
        choices=tuple(LINKS),
        help="where links in the code lead: to page.md, to page/ or to page.html; "
        "if not given, the code has no links, and no definition says where it is used",
    )
    many.set_defaults(run=write_markdown)

    lint = commands.add_parser("check", help="say what is wrong with the prose")
    lint.add_argument(
        "paths", metavar="PATH", type=Path, nargs="+", help="a Python file or a folder"
    )
    for option, words in (
        ("--select", "use only these rules: SBS1, or SBS101,SBS201"),
        ("--ignore", "do not use these rules"),
    ):
        lint.add_argument(
            option, metavar="CODES", type=codes, action="extend", default=[], help=words
        )
    lint.add_argument(
        "--format",
        choices=("text", "json", "github"),
        default="text",
        help="for whom to print it: a person, a program, or GitHub's Actions",
    )
    lint.set_defaults(run=write_findings)

    tests = commands.add_parser("tests", help="record which tests run the code")
    tests.add_argument(
        "packages", metavar="PACKAGE", type=Path, nargs="+", help="a folder"
    )
    tests.add_argument(
        "--coverage",
        metavar="FILE",
        type=Path,
        default=Path(".coverage"),
        help="what coverage.py has seen; .coverage if not given",
    )
    tests.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        required=True,
        help="a JSON file; `-` is the standard output stream",
    )
    tests.set_defaults(run=write_tests)

    for command in (one, many):
        command.add_argument(
            "--strict",
            action="store_true",
            help="write nothing if anything is wrong, and fail",
        )
        command.add_argument(
            "--tests",
            metavar="FILE",
            type=Path,
            help="the record of tests to show on the pages",
        )
    for command in (one, many, lint):
        command.add_argument(
            "--inventory",
            metavar=("ADDRESS", "FILE"),
            nargs=2,
            action="append",
            default=[],
            help="the address of some documentation, and its file `objects.inv`",
        )
    for command in (one, lint):
        command.add_argument(
            "--docs",
            metavar="DIR",
            type=Path,
            help="the documents of the site, where its pictures lie; by default the "
            "folder `docs` beside the package, if there is one",
        )
    for command in (many, lint, tests):
        command.add_argument(
            "--exclude",
            metavar="PATTERN",
            action="append",
            default=[],
            help="files and folders to leave out: tests, or 'package/_vendor/*'",
        )
    return top


def version() -> str:
    """What `--version` says. The press may be in a folder, without being installed."""
    try:
        return f"sidebyside {metadata.version('labml-rl')}"
    except metadata.PackageNotFoundError:
        return "sidebyside, not installed"


def codes(words: str) -> tuple[str, ...]:
    """Rules, as they are named on the command line."""
    try:
        return chosen(words.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"no rule begins with {error}") from None
