"""Take the pictures of the site that its home page and the README show.

python -m figures.site           take them, of the site that `make docs` has built
python -m figures.site --check   fail if what they show is no longer what the book says

So each has the source of what it shows inside it.
"""

import argparse
import inspect
import shutil
import sys
from pathlib import Path
from typing import Literal

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from playwright.sync_api import sync_playwright

from labml_rl.dqn.plain import learn

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "site" / "labml_rl" / "dqn" / "plain.html"
SHOWN = learn
FIRST = "Play one step of each game"  # the paragraph at the top
SOURCE = inspect.getsource(SHOWN)
FOLDER = ROOT / "docs" / "assets" / "screenshots"
PICTURES: dict[Literal["light", "dark"], Path] = {
    "light": FOLDER / "page-light.png",
    "dark": FOLDER / "page-dark.png",
}


def main() -> None:
    """Write one picture for each colour scheme, or with `--check` only look at them."""
    parser = argparse.ArgumentParser(description="Take the pictures of the site.")
    parser.add_argument("--check", action="store_true", help="only compare")
    if parser.parse_args().check:
        old = [path.name for path in PICTURES.values() if source_in(path) != SOURCE]
        if old:
            sys.exit(f"{', '.join(old)}: {SHOWN.__name__} has changed since, take anew")
        return
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not PAGE.exists() or not chromium:
        sys.exit(
            "this needs Chromium in the PATH and the site in site/: run `make docs`"
        )
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        for scheme, path in PICTURES.items():
            page = browser.new_page(
                viewport={"width": 1380, "height": 780}, color_scheme=scheme
            )
            page.goto(PAGE.as_uri())
            first = page.get_by_text(FIRST)
            first.evaluate("e => scrollTo(0, e.getBoundingClientRect().top - 102)")
            page.wait_for_timeout(500)
            page.screenshot(path=path)
            add_source(path)
        browser.close()


def add_source(path: Path) -> None:
    """Write into a picture what it is of."""
    inside = PngInfo()
    inside.add_text("Source", SOURCE)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE)
        few.save(path, pnginfo=inside, optimize=True)


def source_in(path: Path) -> str | None:
    """What a picture is of."""
    with Image.open(path) as picture:
        source: str | None = picture.info.get("Source")
    return source


if __name__ == "__main__":
    main()
