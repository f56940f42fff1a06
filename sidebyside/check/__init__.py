r"""
---
title: Check
summary: What is wrong with the prose of a module, with its place and what to do.
---

# Check

A build stops at the first module with a mistake. `sidebyside check` looks for all
mistakes, and also for bad habits that no build can see: code that was commented out and
is now shown on the page as if it were prose, arguments that were renamed everywhere but
in the docstring. It looks only at modules. Pages that are written by hand are checked
when the site is built.

```sh
# file:line:column: CODE message (remedy)
sidebyside check package
# All but the rules that begin with SBS4:
sidebyside check --ignore SBS4 .
# All but the files and folders of this name:
sidebyside check --exclude tests .
# Notes beside the lines of a pull request:
sidebyside check --format github .
```

Name all packages of a site in one command, if there are links from one to another.
There is no file of settings. For pre-commit, a local hook has `entry: sidebyside check
--exclude tests`, `language: system` and `types: [python]`: it names each file that has
changed.

## The rules

| code | what is wrong |
|---|---|
| SBS101 | The module is not Python. |
| SBS102 | The front matter is not what it should be. |
| SBS201 | A formula can't be set. |
| SBS202 | A link to a definition leads nowhere. |
| SBS203 | A link has a scheme that could run a script, and is left out of the page. |
| SBS204 | A symbol of the front matter is in no code, or in no formula. |
| SBS205 | Two dollars are not part of a formula, and would be shown as they are. |
| SBS206 | A picture does not exist. |
| SBS207 | A link leads to a page that does not exist. |
| SBS301 | A comment is code, and would be shown as prose. |
| SBS302 | A docstring has backslashes, and is not raw. |
| SBS303 | A nested list is not indented enough, and collapses into the outer one. |
| SBS304 | A heading skips a level, or there is a second title. |
| SBS401 | A public module, class or function has no prose. |
| SBS402 | `Args:` names something that is not a parameter. |
| SBS403 | `Args:` leaves a parameter out. |

A build of a site stops at SBS101, SBS201 and SBS202, and at SBS102 except for a
misspelt key. With `--strict` it also fails on a `$$` that is not part of a formula, and
on pictures and pages that do not exist. The other rules are only for this command.

A comment silences rules in its line, or in the docstring that it comes after:
`# noqa: SBS403`. Other linters don't know these rules; Ruff keeps such comments with
`external = ["SBS"]`.

Each rule is a function from a module to what it finds. Those with a 1 or a 2 are in
[Rules][sidebyside.check.rules], those with a 3 in [Bad
habits][sidebyside.check.habits], and those with a 4 in [What is left
out][sidebyside.check.gaps].
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from sidebyside.check import gaps, habits, rules
from sidebyside.errors import PressError
from sidebyside.findings import Finding
from sidebyside.links import Place
from sidebyside.read import Source

RULES = (
    *("SBS101", "SBS102"),
    *("SBS201", "SBS202", "SBS203", "SBS204", "SBS205", "SBS206", "SBS207"),
    *("SBS301", "SBS302", "SBS303", "SBS304"),
    *("SBS401", "SBS402", "SBS403"),
)
# Those that depend on what other modules have.
LEAVING = {"SBS202", "SBS207"}
NOQA = re.compile(r"#\s*noqa:(.*)", re.IGNORECASE)


def check(
    source: Source, places: Mapping[str, Place], docs: Path | None = None
) -> list[Finding]:
    """
    ## All rules

    Args:
        source: the module.
        places: what can be linked to.
        docs: the folder of the site's documents. Without it, pictures and pages are
            not looked for.
    """
    every: Sequence[Callable[[Source], Iterable[Finding]]] = (
        rules.what_stops_a_build,
        partial(rules.links, places=places),
        rules.addresses,
        rules.symbols,
        rules.dollars,
        partial(rules.pictures, docs=docs),
        partial(rules.pages, places=places, docs=docs),
        habits.commented_out,
        habits.backslashes,
        habits.nested_lists,
        habits.headings,
        gaps.without_prose,
        gaps.arguments,
    )
    silent = silenced(source)
    found = (finding for rule in every for finding in rule(source))
    return sorted(
        each for each in found if not each.code.startswith(silent.get(each.line, ()))
    )


def silenced(source: Source) -> dict[int, tuple[str, ...]]:
    """For each line, what a comment in it, or after its docstring, silences."""
    found = {
        number: tuple(re.findall(r"\bSBS\d*", comment[1].upper()))
        for number, line in enumerate(source.lines, start=1)
        if (comment := NOQA.search(line))
    }
    for docstring in habits.docstrings(source):
        for number in range(docstring.first, docstring.last):
            found[number] = found.get(number, ()) + found.get(docstring.last, ())
    return found


def unreadable(error: PressError) -> Finding:
    """The finding for a module that can't be read at all."""
    return Finding(
        error.path, error.line, error.column, "SBS101", error.found, error.remedy
    )


def chosen(codes: Iterable[str]) -> tuple[str, ...]:
    """
    ## Choosing rules

    Args:
        codes: rules, or the beginnings that several of them share.

    Raises:
        ValueError: if there is no such rule. Its text is what was asked for.
    """
    wanted = tuple(code.strip().upper() for code in codes if code.strip())
    for code in wanted:
        if not any(rule.startswith(code) for rule in RULES):
            raise ValueError(code)
    return wanted
