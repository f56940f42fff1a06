"""
What readers search for is mostly in the book, and seldom in the press. A reader who
searches for the name of a chapter wants the chapter, and not what was measured of it.
"""

from typing import Any

from mkdocs.structure.pages import Page

# Pages of settings and of other algorithms only name what a chapter explains. And the
# terms of the field are explained on the first page of the book.
BOOSTS = {
    "sidebyside/": 0.2,
    "results.md": 0.5,
    "benchmarks/": 0.5,
    "notation.md": 0.8,
    "papers.md": 0.5,
    "questions.md": 1.2,
    "index.md": 1.2,
    "labml_rl/game.md": 1.4,
    "labml_rl/returns.md": 1.3,
    "labml_rl/a2c/index.md": 1.3,
    "labml_rl/ppo/index.md": 1.3,
    "labml_rl/ppo/novelty.md": 1.3,
    "labml_rl/replay/index.md": 1.3,
    "labml_rl/dqn/index.md": 1.3,
    "labml_rl/dqn/exploring.md": 1.4,
    "labml_rl/dqn/drq.md": 0.8,
    "labml_rl/watch/index.md": 1.3,
    "labml_rl/watch/video.md": 1.4,
    "labml_rl/index.md": 1.4,
}


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Rank the press and the benchmarks below the book in what search finds."""
    for where, boost in BOOSTS.items():
        if page.file.src_uri.startswith(where):
            page.meta.setdefault("search", {}).setdefault("boost", boost)
