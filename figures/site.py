"""Take the pictures of the site that its home page and the README show.

They are of the site in `site/`, so run `make docs` first.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "site" / "labml_rl" / "ppo" / "index.html"
SECTION = "clipped_policy_loss"
FOLDER = ROOT / "docs" / "assets" / "screenshots"


def main() -> None:
    """Write one picture for each colour scheme."""
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
        for scheme in ("light", "dark"):
            page = browser.new_page(
                viewport={"width": 1380, "height": 780}, color_scheme=scheme
            )
            page.goto(f"{PAGE.as_uri()}#{SECTION}")
            page.wait_for_timeout(500)
            page.screenshot(path=FOLDER / f"page-{scheme}.png")
        browser.close()


if __name__ == "__main__":
    main()
