"""Take the pictures of pages that the site and the README show.

python -m figures.site           take them, of the site that `make docs` has built
python -m figures.site --check   fail if what they show is no longer what the book says

So that this can be checked, each has the source of what it shows inside it.
"""

import argparse
import inspect
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import Browser

from benchmarks.browser import CHROMIUM, chromium
from figures.example import ROOT, fenced, write_example
from labml_rl.dqn.plain import learn

FOLDER = ROOT / "docs" / "assets" / "screenshots"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@dataclass(frozen=True)
class Shot:
    """
    Args:
        name: of its pictures, one for each colour scheme.
        source: the code that it is a picture of.
        first: words of the paragraph at the top; none for the top of the page.
        width: of the window, in pixels.
        height: the same.
    """

    name: str
    source: str
    first: str
    width: int
    height: int

    def path(self, scheme: str) -> Path:
        """Where its picture in a colour scheme is."""
        return FOLDER / f"{self.name}-{scheme}.png"


PAGE = Shot("page", inspect.getsource(learn), "Play one step of each game", 1380, 780)
# So narrow that the list of pages is hidden and the words are large enough to read.
EXAMPLE = Shot("example", fenced("python"), "", 1000, 680)


def built_example(folder: Path) -> Path:
    """The page of the press's example, on a site of its own."""
    config = fenced("yaml").replace("name: material", "name: material\n  font: false")
    palette = """
  palette:
    - {media: "(prefers-color-scheme: light)", scheme: default}
    - {media: "(prefers-color-scheme: dark)", scheme: slate}
"""
    write_example(folder, config.replace("\nplugins:", f"{palette}plugins:"))
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet"],
        cwd=folder,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    return folder / "site" / "your_package" / "kiln" / "index.html"


def take(browser: Browser, shot: Shot, file: Path) -> None:
    """Take a picture of a page in each colour scheme."""
    for scheme in SCHEMES:
        page = browser.new_page(
            viewport={"width": shot.width, "height": shot.height}, color_scheme=scheme
        )
        page.goto(file.as_uri())
        if shot.first:
            first = page.get_by_text(shot.first)
            first.evaluate("e => scrollTo(0, e.getBoundingClientRect().top - 64)")
        page.wait_for_timeout(500)
        page.screenshot(path=shot.path(scheme))
        add_source(shot.path(scheme), shot.source)
        page.close()


def main() -> None:
    """Write all pictures, or with `--check` only look at them."""
    parser = argparse.ArgumentParser(description="Take the pictures of the site.")
    parser.add_argument("--check", action="store_true", help="only compare")
    if parser.parse_args().check:
        old = [
            shot.path(scheme).name
            for shot in (PAGE, EXAMPLE)
            for scheme in SCHEMES
            if source_in(shot.path(scheme)) != shot.source
        ]
        if old:
            sys.exit(f"{', '.join(old)}: what they show has changed since, take anew")
        return
    page = ROOT / "site" / "labml_rl" / "dqn" / "plain.html"
    if not page.exists() or not CHROMIUM:
        sys.exit(
            "this needs Chromium in the PATH and the site in site/: run `make docs`"
        )
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
    ):
        take(browser, PAGE, page)
        take(browser, EXAMPLE, built_example(Path(folder)))


def add_source(path: Path, source: str) -> None:
    """Write into a picture what it shows."""
    inside = PngInfo()
    inside.add_text("Source", source)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
        few.save(path, pnginfo=inside, optimize=True)


def source_in(path: Path) -> str | None:
    """What a picture shows."""
    with Image.open(path) as picture:
        source: str | None = picture.info.get("Source")
    return source


if __name__ == "__main__":
    main()
