"""What readers search for is mostly in the book, and seldom in the press."""

from typing import Any

from mkdocs.structure.pages import Page


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Put the modules of the press behind the book in what search finds."""
    if page.file.src_uri.startswith("sidebyside/"):
        page.meta.setdefault("search", {}).setdefault("boost", 0.2)
