"""How fast the press is, beside its peers, in one run.

.venv/bin/python -m benchmarks.press           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.press --quick   # a small part of it, only printed
"""

import argparse
import os
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import alone, material
from benchmarks.browser import (
    OpenPage,
    chromium,
    first_visit,
    serving,
    web_server,
)
from benchmarks.material import Modules
from benchmarks.record import (
    RECORDS,
    comparison,
    interleave,
    provenance,
    series,
    significant,
    spread,
    write,
)

RECORD = RECORDS / "press.json"
PACKAGES = (
    *("mkdocs", "mkdocs-material", "markdown", "pymdown-extensions", "pygments"),
    *("jinja2", "quickjs-ng", "watchdog", "pycco", "playwright"),
)
PARTS = ("site", "press", "growth", "save", "weight")


@dataclass(frozen=True)
class Setup:
    """
    Args:
        book: the modules of this book.
        library: those of the standard library.
        folder: where files may be put.
        repeats: how many samples are taken of each contestant.
        sizes: the lengths of the files that show how the time grows.
    """

    book: Modules
    library: Modules
    folder: Path
    repeats: int
    sizes: tuple[int, ...]

    def fresh(self, name: str) -> Path:
        """An empty folder."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def site(setup: Setup) -> dict[str, Any]:
    """Whole builds: MkDocs with the press, and without it."""
    found = {}
    for name in ("book", "library"):
        folder = setup.fresh(f"site-{name}")
        repeats = setup.repeats
        if name == "book":
            modules = setup.book
            ours, peer = material.book_sites(modules, folder, whole=False)
            # A build takes seconds, and a busy host can do a lot in that time.
            repeats *= 3
        else:
            modules = setup.library
            ours, peer = material.library_sites(modules, folder)
        taken = interleave({"ours": ours.build, "peer": peer.build}, repeats)
        found[name] = comparison(taken, "ours", "peer", **modules.describe())
    return found


def press(setup: Setup) -> dict[str, Any]:
    """The press alone, and pycco."""
    found = {}
    for name, modules in (("book", setup.book), ("library", setup.library)):
        runs = alone.contestants(modules, setup.fresh(f"press-{name}"))
        taken = interleave(runs, setup.repeats)
        found[name] = comparison(taken, "ours", "peer", **modules.describe())
        html = comparison(taken, "to_html", "peer")
        found[name]["to_html"]["speedup"] = html["speedup"]
    return found


def growth(setup: Setup) -> dict[str, Any]:
    """The press alone, on files of very different lengths."""
    files = alone.growing(setup.library, setup.sizes, setup.fresh("growth"))
    runs = {name: run for name, (_, run) in files.items()}
    found = {}
    for name, taken in interleave(runs, setup.repeats).items():
        lines = files[name][0]
        per_line = significant(taken.median / lines * 1e6)
        found[name] = {"lines": lines, **asdict(taken), "microseconds_a_line": per_line}
    return found


def save(setup: Setup) -> dict[str, Any]:
    """From saving a source to the new text in the browser, with a server for each."""
    ours, peer = material.book_sites(setup.book, setup.fresh("save"), whole=True)
    page = "labml_rl/game"
    with serving(ours) as at_ours, serving(peer) as at_peer, chromium() as browser:
        pages = {
            "ours": OpenPage(
                browser,
                f"{at_ours}/{page}.html",
                ours.folder / f"{page}.py",
                "\n\n# Wombat {}\nx = 1\n",
            ),
            "peer": OpenPage(
                browser,
                f"{at_peer}/{page}.html",
                peer.folder / "docs" / f"{page}.md",
                "\nWombat {}\n",
            ),
        }
        saves = {name: page.save for name, page in pages.items()}
        taken = interleave(saves, 3 * setup.repeats)
    return {"book": comparison(taken, "ours", "peer")}


def weight(setup: Setup) -> dict[str, Any]:
    """What a first visit loads that Material alone would not, and how much moves."""
    ours, peer = material.book_sites(setup.book, setup.fresh("weight"), whole=True)
    ours.build()
    peer.build()
    pages: dict[str, Any] = {}
    with (
        web_server(ours.folder / "site") as at_ours,
        web_server(peer.folder / "site") as at_peer,
        chromium() as browser,
    ):
        for module in setup.book.modules:
            page = module.page.removesuffix(".md") + ".html"
            loaded, shift = first_visit(browser, at_ours, page)
            without, _ = first_visit(browser, at_peer, page)
            document = loaded.pop(f"/{page}")
            beyond = {path: n for path, n in loaded.items() if path not in without}
            # Keys in a record have no dots in them.
            pages[page.removesuffix(".html")] = {
                "document": document,
                "beyond_material": sum(beyond.values()),
                "kilobytes": round((document + sum(beyond.values())) / 1000, 1),
                "document_of_peer": without[f"/{page}"],
                "shift": round(shift, 4),
            }
    heaviest = max(pages, key=lambda page: float(pages[page]["kilobytes"]))
    return {
        "kilobytes": asdict(series([page["kilobytes"] for page in pages.values()])),
        "heaviest": heaviest,
        "shift": asdict(series([page["shift"] for page in pages.values()])),
        "pages": pages,
    }


def table(found: dict[str, Any]) -> str:
    """All results as lines of text."""
    lines = [f"{'':24} {'ours':>18} {'peer':>18} {'ratio':>7}"]
    for part in ("site", "press", "save"):
        for name, each in found.get(part, {}).items():
            ours, peer = (spread(each[who], ".3g") for who in ("ours", "peer"))
            ratio = f"{each['ratio']:.2f}"
            lines.append(f"{part + ', ' + name:24} {ours:>18} {peer:>18} {ratio:>7}")
            if "to_html" in each:
                html = spread(each["to_html"], ".3g")
                ratio = f"{1 / each['to_html']['speedup']:.2f}"
                lines.append(f"{'  with its HTML':24} {html:>18} {peer:>18} {ratio:>7}")
    for each in found.get("growth", {}).values():
        per_line = f"{each['microseconds_a_line']} µs a line"
        took = spread(each, ".3g")
        lines.append(f"{each['lines']:>17} lines {took:>19} {per_line:>20}")
    if "weight" in found:
        kilobytes, shift = found["weight"]["kilobytes"], found["weight"]["shift"]
        lines.append(
            f"weight: {kilobytes['median']} kB, {kilobytes['low']} to "
            f"{kilobytes['high']}; shift at most {shift['high']}"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="few modules, once")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    os.environ["NO_MKDOCS_2_WARNING"] = "1"

    found: dict[str, Any] = {}
    before = provenance("benchmarks.press", PACKAGES)
    with tempfile.TemporaryDirectory() as folder:
        setup = Setup(
            book=material.book(),
            library=material.library(12 if options.quick else None),
            folder=Path(folder),
            repeats=1 if options.quick else options.repeats,
            sizes=(100, 1000) if options.quick else (100, 1000, 10_000, 100_000),
        )
        for part in (site, press, growth, save, weight):
            if not options.parts or part.__name__ in options.parts:
                found[part.__name__] = part(setup)
                print(table({part.__name__: found[part.__name__]}), flush=True)

    # A record is written whole or not at all.
    output = options.output
    if output is None and not options.quick and len(found) == len(PARTS):
        output = RECORD
    if output:
        write({**before, **found}, output)
        print(f"Written to {output}")


if __name__ == "__main__":
    main()
