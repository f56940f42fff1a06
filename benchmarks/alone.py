"""The press alone, against pycco, and how its time grows with the length of a file."""

import ast
import gc
import time
import tokenize
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment
from markdown import Markdown
from pycco.main import generate_documentation

from benchmarks.material import Modules
from sidebyside.catalogue import catalogue
from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.inventory import inventory
from sidebyside.press import EXTENSIONS, Module, load_all, make
from sidebyside.read import undisturbed
from sidebyside.render import environment, render


def ignore(_: PressError) -> None:
    """Go on after a mistake."""


@undisturbed()
def press(modules: Sequence[Module], templates: Environment) -> list[str]:
    """From files to the Markdown of their pages, as the plugin does it in a build."""
    sources = load_all(modules)
    places = catalogue(sources)
    crossings = cross(sources, places, inventory(), use_directory_urls=False)
    return [
        render(make(source, places, ignore, crossings[source.module]), templates)
        for source in sources
    ]


def timed(run: Callable[[], object]) -> float:
    """How long something takes. What others left behind is cleared away first."""
    gc.collect()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def contestants(modules: Modules, folder: Path) -> dict[str, Callable[[], float]]:
    """
    Three programs in one process, all loaded and warm, each from files to text in
    memory. Pycco also turns its comments into HTML; the press leaves that to the site.
    So the third goes on to HTML as well, with Python-Markdown and all the extensions
    that the press asks for.
    """
    templates = environment()
    markdown = Markdown(extensions=list(EXTENSIONS))

    def to_html() -> None:
        for page in press(modules.modules, templates):
            markdown.reset()
            markdown.convert(page.partition("\n---\n")[2])

    def pycco() -> None:
        for module in modules.modules:
            generate_documentation(str(module.file), outdir=str(folder))

    return {
        "ours": lambda: timed(lambda: press(modules.modules, templates)),
        "peer": lambda: timed(pycco),
        "to_html": lambda: timed(to_html),
    }


def cut_to(modules: Modules, lines: int) -> str:
    """
    One file of at most this many lines: modules one after another, cut off where a
    statement ends.
    """
    pieces: list[str] = []
    total = 0
    for module in modules.modules:
        with tokenize.open(module.file) as file:
            text = file.read()
        kept = text.splitlines()
        if total + len(kept) > lines:
            ends = [statement.end_lineno or 0 for statement in ast.parse(text).body]
            fitting = (end for end in ends if total + end <= lines)
            kept = kept[: max(fitting, default=0)]
        pieces += kept
        total += len(kept)
        if total >= lines * 0.98:
            break
    return "\n".join(pieces) + "\n"


def growing(
    modules: Modules, sizes: Sequence[int], folder: Path
) -> dict[str, tuple[int, Callable[[], float]]]:
    """For each size a file of about that many lines, and the press at work on it."""
    templates = environment()
    found: dict[str, tuple[int, Callable[[], float]]] = {}
    for size in sizes:
        code = cut_to(modules, size)
        path = folder / f"lines_{size}.py"
        path.write_text(code, encoding="utf-8")
        one = [Module(path, path.name, path.stem)]

        def run(one: list[Module] = one) -> float:
            return timed(lambda: press(one, templates))

        found[str(size)] = (code.count("\n"), run)
    return found
