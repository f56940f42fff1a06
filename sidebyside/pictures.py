"""
---
title: Pictures
summary: >-
  Pictures keep their place on a page before they are loaded, and are loaded when a
  reader comes near.
---

# Pictures

Two things about the pictures of a page trouble those who read it. All of them are
loaded at once, even those at the end, to which many readers never come. And until a
picture is there, nobody knows how tall it will be. Follow a link to a section, and
it moves away while the pictures above it arrive.

A browser avoids both if the page says how large each picture is, and that it may wait.
The size stands in the file. So a site of the press needs nothing more than
`![words](picture.svg)`.
"""

import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import imagesize

from sidebyside.links import file_of

# An image, or something in which an image does not count.
IMAGE = re.compile(
    r"""<(?:img\b(?:[^<>"']|"[^"]*"|'[^']*')*>|!--.*?-->"""
    r"|(?i:script|style|template|textarea)\b"
    r".*?</(?i:script|style|template|textarea)\s*>)",
    re.DOTALL,
)
SOURCE = re.compile(r"""\ssrc\s*=\s*(?:"([^"]*)"|'([^']*)')""")
LENGTH = re.compile(rb"""\s(width|height)\s*=\s*["'][\d.]+(?:px)?["']""")


def make_room(html: str, page: str, find: Callable[[str], str | None]) -> str:
    """
    ## For each picture

    The first one of a page may be in sight at once, so only those after it wait. What
    the author says of a picture, `{ width=320 }` or `{ loading=eager }`, is left as it
    is. In styles of one's own, whatever sets the height of a picture should set
    `width: auto` as well, or else its width is now that of the file.

    Args:
        html: what a page shows.
        page: its address in the site.
        find: says where the file of an address lies, if there is one.

    Returns:
        The same, with the size of each picture that lies in the site.
    """
    folder, first = posixpath.dirname(page), True

    def roomy(match: re.Match[str]) -> str:
        nonlocal first
        image, more = match[0], ""
        source = SOURCE.search(image)
        if not source or not image.startswith("<img"):
            return image
        at = file_of(source[1] or source[2] or "", folder)
        size = size_of((at and find(at)) or "")
        if size and not re.search(r"\s(?:width|height|style|srcset)\s*=", image):
            more = f' width="{size[0]}" height="{size[1]}"'
        if not first and not re.search(r"\sloading\s*=", image):
            more += ' loading="lazy"'
        first = False
        return f"<img{more}{image[len('<img') :]}"

    return IMAGE.sub(roomy, html)


def size_of(path: str) -> tuple[int, int] | None:
    """
    Args:
        path: of a picture.

    Returns:
        How wide and how high it is shown, in pixels, or nothing if the file does not
        say so.
    """
    try:
        return size_at(path, Path(path).stat().st_mtime_ns)
    except (OSError, ValueError):
        return None  # a file that is broken, or no picture


@cache
def size_at(path: str, changed: int) -> tuple[int, int] | None:
    """
    ## Drawings

    A drawing that gives only the proportion of its sides, with a `viewBox`, is as wide
    as there is room, and should stay so.

    Args:
        path: of a picture.
        changed: when it last changed, so that a changed one is looked at anew.

    Returns:
        See [size_of][].
    """
    if path.endswith(".svg"):
        root = Path(path).read_bytes().partition(b"<svg")[2].partition(b">")[0]
        if len(set(LENGTH.findall(root))) < 2:
            return None
    width, height = (round(length) for length in imagesize.get(path))
    return (width, height) if width > 0 and height > 0 else None
