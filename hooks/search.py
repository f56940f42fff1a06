"""
What readers search for is mostly in the book, and seldom in the press. Whoever searches
for the name of a chapter means the chapter, and not what was measured of it.
"""

from typing import Any

from mkdocs.structure.pages import Page

# Much is compared with PPO, at less length than its own chapter has. And the words of
# the field are explained on the first page of the book.
BOOSTS = {
    "sidebyside/": 0.2,
    "results.md": 0.6,
    "benchmarks/": 0.7,
    "labml_rl/ppo/index.md": 1.1,
    "labml_rl/index.md": 1.4,
}


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Put the press and the benchmarks behind the book in what search finds."""
    for where, boost in BOOSTS.items():
        if page.file.src_uri.startswith(where):
            page.meta.setdefault("search", {}).setdefault("boost", boost)
