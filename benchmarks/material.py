"""What is measured: two sets of modules, each as two sites and as a pile of files."""

import re
import shutil
import subprocess
import sys
import sysconfig
import time
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from mkdocs.utils.yaml import yaml_load

from benchmarks.record import ROOT
from sidebyside.catalogue import catalogue
from sidebyside.errors import PressError
from sidebyside.press import Module, find_modules, load, make

BOOK = ("labml_rl", "sidebyside")
LIBRARY = """
site_name: The standard library
use_directory_urls: false
theme: {name: material, font: false}
markdown_extensions:
  - admonition
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - tables
  - toc: {permalink: true}
  - pymdownx.highlight
  - pymdownx.superfences
"""


@dataclass(frozen=True)
class Modules:
    """A set of modules. `left_out` counts those in which the press finds a mistake."""

    modules: tuple[Module, ...]
    left_out: int = 0

    @property
    def lines(self) -> int:
        """The lines of all of them."""
        return sum(m.file.read_bytes().count(b"\n") for m in self.modules)

    def describe(self) -> dict[str, int]:
        """Their number, for the record."""
        return {
            "modules": len(self.modules),
            "lines": self.lines,
            "left_out": self.left_out,
        }


def book() -> Modules:
    """The modules of this book, with those of the press."""
    return Modules(
        tuple(
            module for package in BOOK for module in find_modules(ROOT / package, ROOT)
        )
    )


def library(limit: int | None) -> Modules:
    """
    The top-level modules of Python's standard library. They were not written for the
    press, and here and there it takes something for a formula that is not one. A build
    stops at that, so such modules are left out, for the peer too.
    """
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:limit]
    modules = [Module(path, path.name, f"library.{path.stem}") for path in paths]
    sources = {module: load(module) for module in modules}
    places = catalogue(sources.values())
    good = []
    for module, source in sources.items():
        mistakes: list[PressError] = []
        make(source, places, mistakes.append)
        if not mistakes:
            good.append(module)
    return Modules(tuple(good), len(modules) - len(good))


def fenced(module: Module) -> str:
    """A module as MkDocs' users have it today: a page with one fenced block."""
    with tokenize.open(module.file) as file:
        code = file.read()
    longest = max(map(len, re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"# {module.name}\n\n{fence}python\n{code.rstrip()}\n{fence}\n"


@dataclass(frozen=True)
class Site:
    """A site that can be built: its folder, with `mkdocs.yml` in it."""

    folder: Path

    def command(self, *arguments: str | Path) -> list[str]:
        """How to call MkDocs on it."""
        return [sys.executable, "-m", "mkdocs", *map(str, arguments)]

    def build(self) -> float:
        """Build it in its own process, as an author does, and time that."""
        start = time.perf_counter()
        done = subprocess.run(
            self.command("build", "--quiet", "--site-dir", self.folder / "site"),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"{self.folder} does not build:\n{done.stderr}")
        return seconds


def write_fenced(modules: Iterable[Module], docs: Path) -> None:
    """Put the pages of the peer where those of the press would be."""
    for module in modules:
        path = docs / module.page
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(fenced(module), encoding="utf-8")


def library_sites(modules: Modules, folder: Path) -> tuple[Site, Site]:
    """The library as two sites: through the plugin, and as fenced blocks."""
    ours, peer = Site(folder / "ours"), Site(folder / "peer")
    for site in (ours, peer):
        (site.folder / "docs").mkdir(parents=True)
        (site.folder / "docs" / "index.md").write_text("# The standard library\n")
    (ours.folder / "library").mkdir()
    for module in modules.modules:
        shutil.copy(module.file, ours.folder / "library")
    plugins = "plugins: [search, {sidebyside: {packages: [library]}}]\n"
    (ours.folder / "mkdocs.yml").write_text(LIBRARY + plugins)
    (peer.folder / "mkdocs.yml").write_text(LIBRARY + "plugins: [search]\n")
    write_fenced(modules.modules, peer.folder / "docs")
    return ours, peer


def book_sites(modules: Modules, folder: Path, whole: bool) -> tuple[Site, Site]:
    """
    This book as two sites. Both have its hand-written pages, its theme and its options;
    the peer lacks the press.

    Args:
        modules: the modules of the book.
        folder: where to put them.
        whole: whether ours is the site as readers know it. It then has the reference,
            which takes another plugin as long to make as all the rest together, and
            which the peer does not have.
    """
    ours, peer = Site(folder / "ours"), Site(folder / "peer")
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("docs", "overrides", "hooks"):
        for site in (ours, peer):
            shutil.copytree(ROOT / name, site.folder / name, ignore=ignored)
    for name in BOOK:
        shutil.copytree(ROOT / name, ours.folder / name, ignore=ignored)
    for site in (ours, peer):
        shutil.copy(ROOT / "CONTRIBUTING.md", site.folder)
    (ours.folder / "results").mkdir()
    shutil.copy(ROOT / "results" / "tests.json", ours.folder / "results")
    write_fenced(modules.modules, peer.folder / "docs")

    write_config(peer, ("mkdocstrings", "sidebyside"))
    write_config(ours, () if whole else ("mkdocstrings",))
    return ours, peer


def write_config(site: Site, without: tuple[str, ...]) -> None:
    """
    Write the options of this book, without these plugins and whatever needs them. The
    pages that show the records are left out as well: they can't be built before there
    are any.
    """
    with (ROOT / "mkdocs.yml").open(encoding="utf-8") as file:
        config: dict[str, Any] = yaml_load(file)
    for key in ("plugins", "markdown_extensions"):
        config[key] = [entry for entry in config[key] if name_of(entry) not in without]
    with_records = ["questions.md", "results.md"]
    left_out = ["Benchmarks", *with_records]
    shutil.rmtree(site.folder / "docs" / "benchmarks", ignore_errors=True)
    for name in with_records:
        (site.folder / "docs" / name).unlink(missing_ok=True)
    if "mkdocstrings" in without:
        for entry in config["plugins"]:
            if name_of(entry) == "sidebyside":
                entry["sidebyside"].pop("reference", None)
        left_out.append("Reference")
        shutil.rmtree(site.folder / "docs" / "reference", ignore_errors=True)
    if "sidebyside" in without:
        # These read the short way and the papers in the modules, which the peer lacks.
        for hook in ("way", "papers"):
            config["hooks"].remove(f"hooks/{hook}.py")
    config["nav"] = [entry for entry in config["nav"] if name_of(entry) not in left_out]
    (site.folder / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False))


def name_of(entry: Any) -> str:
    """The name of an entry of `mkdocs.yml`, with or without options."""
    return str(next(iter(entry)) if isinstance(entry, dict) else entry)
