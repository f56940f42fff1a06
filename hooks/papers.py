"""
The page of papers says on which pages of the book each is cited. It has all that are
cited, and no other: what is missing or left over is a warning, which stops a strict
build.
"""

import logging
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

log = logging.getLogger("mkdocs.hooks.papers")

PAGE = "papers.md"
# Where papers are. Any other link leads to a program, or to its documentation.
PAPER = re.compile(
    r'href="(https?://(?:arxiv\.org|(?:dl\.acm|doi)\.org|openreview\.net'
    r"|(?:proceedings|papers)\.[\w.]+|incompleteideas\.net|joschu\.net"
    r'|iclr-blog-track\.github\.io)/[^"]+)"'
)
ENTRY = re.compile(r'<li>(?:(?!</li>).)*?href="(?P<paper>[^"]+)".*?</li>', re.DOTALL)


def on_env(env: Any, files: Files, **_: Any) -> None:
    """Complete the page of papers, once all others are there."""
    pages = {f.src_uri: f.page for f in files.documentation_pages() if f.page}
    page = pages.pop(PAGE)
    html = page.content or ""
    cited = citations(pages.values())
    listed = [entry["paper"] for entry in ENTRY.finditer(html)]
    for paper in sorted(cited.keys() - set(listed)):
        where = cited[paper][0].file.src_uri
        log.warning(f"{PAGE}: {paper}, which {where} cites, is not there.")
    for paper in sorted(set(listed) - cited.keys()):
        log.warning(f"{PAGE}: {paper} is cited on no page.")

    def completed(entry: re.Match[str]) -> str:
        links = [
            f'<a href="{get_relative_url(each.file.url, page.file.url)}">'
            f"{escape(str(each.title), quote=False)}</a>"
            for each in cited.get(entry["paper"], ())
        ]
        where = f'<span class="book-cited">In {", ".join(links)}</span>'
        return entry[0].removesuffix("</li>").rstrip() + where + "</li>"

    page.content = ENTRY.sub(completed, html)


def citations(pages: Iterable[Page]) -> dict[str, list[Page]]:
    """
    Args:
        pages: all pages of the site but that of papers.

    Returns:
        For the address of each paper, the pages that lead to it, chapters first.
    """
    cited: dict[str, list[Page]] = {}
    for page in sorted(pages, key=lambda p: not p.file.src_uri.startswith("labml_rl")):
        # The reference repeats the prose of the book.
        if page.file.src_uri.startswith("reference/"):
            continue
        for paper in dict.fromkeys(PAPER.findall(page.content or "")):
            cited.setdefault(paper, []).append(page)
    return cited
