"""
---
title: The press as a whole
summary: From a folder of Python files to pages, for whoever wants them.
---

# The press as a whole

The plugin and the command line want the same thing: all the modules of a folder as
pages, with links between them. This is the one place where files are read.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sidebyside.errors import PressError, Report, stop
from sidebyside.links import Place, page_of
from sidebyside.read import Source, read
from sidebyside.weave import Crossing, Page, weave

ASSETS = Path(__file__).parent / "assets"
EXTENSIONS = (
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "pymdownx.details",
    "pymdownx.highlight",
    "pymdownx.superfences",
    "tables",
    "sidebyside",
)


@dataclass(frozen=True)
class Module:
    """
    ## A module on disk

    Args:
        file: where it lies.
        path: the file, as messages name it.
        name: its dotted name, `labml_rl.game`.
    """

    file: Path
    path: str
    name: str

    @property
    def page(self) -> str:
        """Where its page lies among the sources of a site."""
        return page_of(self.name, self.file.name == "__init__.py")


def find_modules(package: Path, root: Path) -> list[Module]:
    """
    ## Finding them

    Args:
        package: a folder of Python files.
        root: the folder from which messages name files.
    """
    return [
        Module(file, named_from(file, root), module_name(file, package))
        for file in sorted(package.rglob("*.py"))
        # What begins with a dot, such as `.venv`, is nobody's chapter.
        if not any(part.startswith(".") for part in file.relative_to(package).parts)
    ]


def named_from(file: Path, root: Path) -> str:
    """A file's path as seen from a folder, with slashes on every system."""
    return Path(os.path.relpath(file, root)).as_posix()


def module_name(path: Path, package: Path) -> str:
    """The dotted name of a file in a package."""
    parts = [package.name, *path.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(file: Path) -> Path | None:
    """The outermost package that a file belongs to, if it belongs to one."""
    found: Path | None = None
    for folder in file.resolve().parents:
        if not (folder / "__init__.py").is_file():
            break
        found = folder
    return found


def packages_in(folder: Path) -> list[Path]:
    """
    The packages that a folder is made of: the one that it belongs to, or those that lie
    in it, and it for what belongs to none of them.
    """
    if around := package_of(folder / "__init__.py"):
        return [around]
    modules = find_modules(folder.resolve(), folder)
    return [
        *sorted({p for m in modules if (p := package_of(m.file))}),
        folder.resolve(),
    ]


def load(module: Module) -> Source:
    """
    ## Reading one

    Raises:
        PressError: if it is not Python.
    """
    return read(module.file.read_bytes(), module.path, module.name)


def load_all(modules: Iterable[Module], report: Report = stop) -> list[Source]:
    """
    ## Reading all

    Args:
        modules: the modules.
        report: what to do about one that is not Python. If it returns, that one is
            left out.
    """
    sources: list[Source] = []
    for module in modules:
        try:
            sources.append(load(module))
        except PressError as error:
            report(error)
    return sources


def make(
    source: Source,
    places: Mapping[str, Place],
    report: Report = stop,
    crossing: Crossing | None = None,
) -> Page:
    """
    ## Making a page

    As [weave][] does, but for code of any depth: what exhausts Python's stack is a
    mistake like any other, with the name of its file.

    Args:
        source: the module.
        places: what can be linked to.
        report: what to do about mistakes in it.
        crossing: what [cross][sidebyside.crossings.cross] found for it.
    """
    try:
        return weave(source, places, report, crossing)
    except RecursionError:
        raise PressError(
            source.path,
            1,
            "something in this file is nested too deeply",
            "Take it apart, or leave the file out.",
        ) from None
