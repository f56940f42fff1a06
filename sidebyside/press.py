"""
---
title: The press as a whole
summary: From a folder of Python files to pages, for the plugin and the command line.
---

# The press as a whole

The plugin and the command line want the same thing: all the modules of a folder as
pages, with links between them. This is the one place where files are read.
"""

import builtins
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from sidebyside.errors import PressError, Report, stop, too_deep
from sidebyside.inventory import Entry
from sidebyside.links import Elsewhere, Place
from sidebyside.read import Source, page_of, read
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
# Files beside a package that are not among its modules.
BESIDE = {"setup.py", "conftest.py", "noxfile.py"}
# Files that are in the folder of a project, but never in one that is imported.
OF_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
# Other people's code, and what tools have made of yours.
NOT_WRITTEN = {"build", "dist", "node_modules", "site-packages", "venv"}
# Comments that have lines of their own, in a stylesheet and in a script.
COMMENTS = re.compile(rb"^[ \t]*(?:/\*.*?\*/|//[^\n]*)\n", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """
    ## A module on disk

    Args:
        file: where it is.
        path: the file, as messages name it.
        name: its dotted name, `labml_rl.game`.
    """

    file: Path
    path: str
    name: str

    @property
    def page(self) -> str:
        """Where its page is among the sources of a site."""
        return page_of(self.name, self.file.name == "__init__.py")


def find_modules(
    package: Path,
    root: Path,
    exclude: Sequence[str] = (),
    here: Path | None = None,
    used: set[str] | None = None,
) -> list[Module]:
    """
    ## Finding them

    Args:
        package: a folder of Python files. If it is part of a package, its modules take
            their names from the whole.
        root: the folder from which messages name files.
        exclude: patterns of what to leave out, such as `tests` or `_version.py`. One
            without a slash is compared with the names of files and folders, and one
            with a slash with the whole path: `kiln/_vendor/*`.
        here: the folder from which such a path may begin as well; `root` if not given.
        used: gets the patterns that left something out.
    """
    around = names_around(package)
    found: list[Module] = []
    for file in python_files(package):
        inside = file.relative_to(package).parts
        whole = (*around, package.name, *inside)
        matching = excluding(inside, whole, named_from(file, here or root), exclude)
        if used is not None:
            used |= matching
        if not matching:
            name = module_name(file, package, around)
            found.append(Module(file, named_from(file, root), name))
    return found


def python_files(folder: Path) -> list[Path]:
    """
    The Python files in a folder, without what is not meant to be read: names that begin
    with a dot, environments, and what tools have built. But a package may be called
    `build`, too.
    """
    found: list[Path] = []
    for path, inside, names in os.walk(folder):
        here = Path(path)
        inside[:] = [name for name in inside if is_written(here / name)]
        found += [
            here / name
            for name in names
            if name.endswith(".py")
            and not name.startswith(".")
            and (here / name).is_file()
        ]
    return sorted(found)


def is_written(folder: Path) -> bool:
    """
    Whether what is in a folder was written by hand, as far as can be told from outside.
    A built site has a copy of each module.
    """
    if folder.name.startswith(".") or (folder / "pyvenv.cfg").is_file():
        return False
    if (folder / "assets" / "sidebyside").is_dir() and (folder / "404.html").is_file():
        return False
    return folder.name not in NOT_WRITTEN or (folder / "__init__.py").is_file()


def excluding(
    inside: Sequence[str], whole: Sequence[str], typed: str, exclude: Sequence[str]
) -> set[str]:
    """
    The patterns that name a file, or a folder that it is in.

    Args:
        inside: the parts of its path, from the folder that is searched.
        whole: the same, from the folder that its package is in.
        typed: its path as a user would type it.
        exclude: the patterns.
    """
    paths = [
        "/".join(parts[:end])
        for parts in (inside, whole, typed.split("/"))
        for end in range(1, len(parts) + 1)
    ]
    # On Windows, paths are typed with backslashes.
    slashed = {pattern: pattern.replace(os.sep, "/").rstrip("/") for pattern in exclude}
    return {
        pattern
        for pattern, path in slashed.items()
        for name in (paths if "/" in path else inside)
        if fnmatchcase(name, path.removeprefix("./"))
    }


def named_from(file: Path, root: Path) -> str:
    """A file's path as seen from a folder, with slashes on every system."""
    try:
        return Path(os.path.relpath(file, root)).as_posix()
    except ValueError:
        # On Windows, the file may be on another drive, to which no such path leads.
        return file.as_posix()


def module_name(path: Path, package: Path, around: Sequence[str] = ()) -> str:
    """The dotted name of a file in a package, or in a part of one."""
    inside = path.relative_to(package).with_suffix("").parts
    parts = [*around, package.name, *inside]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def names_around(folder: Path) -> tuple[str, ...]:
    """The names of the packages that a part of a package is in."""
    whole = package_of(folder / "__init__.py")
    if whole is None:
        return ()
    return folder.resolve().relative_to(whole.parent).parts[:-1]


def package_of(file: Path) -> Path | None:
    """The outermost package that a file belongs to, if it belongs to one."""
    found: Path | None = None
    for folder in file.resolve().parents:
        if not (folder / "__init__.py").is_file():
            break
        found = folder
    return found


def packages_meant(folder: Path) -> list[Path]:
    """
    ## A folder above the package

    In a project whose package is `src/kiln`, naming `src` is an easy slip. The pages
    would come out as `src/kiln/…`, and `import kiln` would lead nowhere. A folder
    without an `__init__.py` can also be a namespace, whose name is part of every
    import. So the imports decide, or a package in it with the same name, or a file that
    belongs beside packages, such as `pyproject.toml`. And a folder with modules of its
    own is taken as it is, unless they are a project's `setup.py` and the like.

    Args:
        folder: what was named.

    Returns:
        The packages in it, if one of them was probably meant.
    """
    inside = sorted(
        file.parent
        for pattern in ("*/__init__.py", "src/*/__init__.py")
        for file in folder.glob(pattern)
    )
    if not inside or any(file.name not in BESIDE for file in folder.glob("*.py")):
        return []
    imported = imported_in(folder)
    names = {package.name for package in inside} - sys.stdlib_module_names
    is_no_name = folder.name == "src" or not folder.name.isidentifier()
    is_project = any((folder / name).is_file() for name in OF_PROJECTS)
    is_slip = folder.name not in imported and (
        is_no_name or is_project or names & imported
    )
    return inside if is_slip or folder.name in names else []


def is_namespace(folder: Path) -> bool:
    """Whether a folder has only packages in it, which import each other by its name."""
    inside = any(folder.glob("*/__init__.py")) and not any(folder.glob("*.py"))
    return inside and folder.name in imported_in(folder)


def imported_in(folder: Path) -> set[str]:
    """The first parts of the names that the modules in a folder import."""
    files = python_files(folder)
    texts = (file.read_text(encoding="utf-8", errors="ignore") for file in files)
    return {name for text in texts for name in IMPORT.findall(text)}


def modules_in(
    folder: Path, root: Path, exclude: Sequence[str], used: set[str]
) -> Iterator[tuple[Path, Module]]:
    """
    ## Any folder

    The modules of the package that a folder belongs to, or of all packages in it, and
    those that belong to none.

    Args:
        folder: a folder.
        root: the folder from which messages name files.
        exclude: patterns of what to leave out.
        used: gets the patterns that left something out.

    Returns:
        Each module, with its package, or with the folder if it belongs to none.
    """
    folder = folder.resolve()
    whole = package_of(folder / "__init__.py")
    if whole is None and is_namespace(folder):
        whole = folder
    packages: dict[Path, Path] = {}
    namespaces: dict[Path, bool] = {}
    for file in python_files(whole or folder):
        if file.parent not in packages:
            package = whole or package_of(file)
            around = package.parent if package else folder
            if around not in namespaces:
                is_inside = around != folder and around.is_relative_to(folder)
                namespaces[around] = is_inside and is_namespace(around)
            packages[file.parent] = around if namespaces[around] else package or folder
        package = packages[file.parent]
        inside = file.relative_to(whole or folder).parts
        from_package = file.relative_to(package.parent).parts
        typed = named_from(file, root)
        matching = excluding(inside, from_package, typed, exclude)
        used |= matching
        if not matching:
            yield package, Module(file, typed, module_name(file, package))


def load(module: Module) -> Source:
    """
    ## Reading one

    Raises:
        PressError: if it is not Python, or can't be read at all.
    """
    return read(bytes_of(module), module.path, module.name)


def bytes_of(module: Module) -> bytes:
    """
    The content of a module's file.

    Raises:
        PressError: if it can't be read.
    """
    try:
        return module.file.read_bytes()
    except OSError as error:
        wrong = f"the file can't be read: {error.strerror}"
        remedy = "Let it be read, or leave it out."
        raise PressError(module.path, 1, wrong, remedy) from error


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


class WithOutside(Mapping[str, Place]):
    """
    ## What others have documented

    In prose, `[xml.etree.ElementTree.Element][]` leads where the same name in the code
    leads. A name without a dot must be one of Python's own, such as `KeyError`: a
    module such as `copy` shares its name with many functions, one of which may have
    been meant.

    Args:
        places: what can be linked to in the book. That comes first.
        outside: other names, in full, with [where they are documented][Entry].
    """

    def __init__(
        self, places: Mapping[str, Place], outside: Mapping[str, Entry]
    ) -> None:
        self.places = places
        self.outside = outside

    def __getitem__(self, name: str) -> Place:
        """Find it in the book, or else outside it."""
        if name in self.places:
            return self.places[name]
        if "." in name or hasattr(builtins, name):
            return Elsewhere(self.outside[name].url, "")
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """Only those of the book, which are suggested in place of a misspelt name."""
        return iter(self.places)

    def __len__(self) -> int:
        """How many there are in the book."""
        return len(self.places)


class WithUnread(Mapping[str, Place]):
    """
    ## What can't be read

    For a module that is not Python, one mistake is reported: its own. Links into it are
    not mistakes of the pages that have them, since what it defines is not known. So
    they lead to its page.

    Args:
        places: what can be linked to.
        unread: the modules that can't be read now.
        readable: the names of those that can be, or could be read before.
    """

    def __init__(
        self,
        places: Mapping[str, Place],
        unread: Iterable[Module],
        readable: Collection[str],
    ) -> None:
        self.places = places
        self.unread = {module.name: Place(module.page, "") for module in unread}
        self.readable = readable

    def __getitem__(self, name: str) -> Place:
        """Find what is known, or the page of the module that would know."""
        if name in self.places:
            return self.places[name]
        module = name
        while module and module not in self.unread and module not in self.readable:
            module = module.rpartition(".")[0]
        return self.unread[module]

    def __iter__(self) -> Iterator[str]:
        """Only what is known can be suggested in place of a misspelt name."""
        return iter(self.places)

    def __len__(self) -> int:
        """How much is known."""
        return len(self.places)


def make(
    source: Source,
    places: Mapping[str, Place],
    report: Report = stop,
    crossing: Crossing | None = None,
) -> Page:
    """
    ## Making a page

    This does what [weave][] does, but whatever exhausts Python's stack is a mistake
    like any other.

    Args:
        source: the module.
        places: what can be linked to.
        report: what to do about mistakes in it.
        crossing: what [cross][sidebyside.crossings.cross] found for it.
    """
    try:
        return weave(source, places, report, crossing)
    except RecursionError:
        raise too_deep(source.path) from None


def asset_bytes(asset: Path) -> bytes:
    """
    ## Styles, script and fonts

    The bytes that are sent for one of the [assets][], without the comments, which make
    up a third of our style and script.
    """
    content = (ASSETS / asset).read_bytes()
    if asset.name not in ("sidebyside.css", "sidebyside.js"):
        return content
    return COMMENTS.sub(b"", content)


def assets() -> list[Path]:
    """The files that a reader's browser needs, and the licences they come under."""
    return [
        file.relative_to(ASSETS)
        for file in sorted(ASSETS.rglob("*"))
        if file.suffix in (".css", ".woff2")
        or file.name in ("sidebyside.js", "LICENSE")
    ]
