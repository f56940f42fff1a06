"""
Readers of the short way are led from each of its pages to the next. The order is that
of the list on the first page.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

FIRST = "labml_rl/index.md"

# By its end the reader knows enough for a section of the front page.
HOME, THEN = "index.md", ("#make-it-your-own", "Make it your own")
LIST = re.compile(r"### The short way\n(.*?)\n### ", re.DOTALL)
LINK = re.compile(r"\]\(([\w/]+)\.py\)")


def way(source: str) -> list[str]:
    """
    Args:
        source: of the module that has the list.

    Returns:
        The pages of the short way, each once, in order.

    Raises:
        PluginError: if there is no such list.
    """
    found = LIST.search(source)
    names = LINK.findall(found[1]) if found else []
    if not names:
        raise PluginError("labml_rl/__init__.py has no links in The short way")
    pages = [f"labml_rl/{name.replace('__init__', 'index')}.md" for name in names]
    return list(dict.fromkeys([FIRST, *pages]))


@cache
def pages_of(root: Path) -> list[str]:
    """The pages of the short way of this book, looked up once per build."""
    return way((root / "labml_rl" / "__init__.py").read_text(encoding="utf-8"))


def on_pre_build(**_: Any) -> None:
    """Look at the list anew."""
    pages_of.cache_clear()


def on_page_context(context: Any, page: Page, config: Any, nav: Navigation) -> None:
    """Say at the foot of each page of the short way which page is next."""
    names = pages_of(Path(config.config_file_path).parent)
    if page.file.src_uri not in names:
        return
    here = names.index(page.file.src_uri)
    is_last = page.file.src_uri == names[-1]
    name = HOME if is_last else names[here + 1]
    following = next((each for each in nav.pages if each.file.src_uri == name), None)
    if following is None:
        raise PluginError(f"the short way goes to {name}, which is no page")
    address = get_relative_url(following.file.url, page.file.url)
    title = following.title
    if is_last:
        address, title = address + THEN[0], THEN[1]
    page.content = (
        f'{page.content}\n<p class="book-way">The short way, {here + 1} of '
        f'{len(names)}. <span>Next: <a href="{address}">{title}</a></span>'
        "</p>\n"
    )
