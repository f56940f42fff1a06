"""
---
title: Pictures
summary: >-
  Pictures keep their place on a page before they are loaded, and are loaded when a
  reader comes near.
---

# Pictures

Pictures trouble the readers of a page in two ways. All of them are loaded at once, even
those that many readers never reach. And until a picture is there, the browser does not
know how tall it will be. Follow a link to a section, and the section moves away while
the pictures above it arrive.

A browser avoids both if the page says how large each picture is, and that it may wait.
The press finds the size in the file, so `![words](picture.svg)` is enough.
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

    The first picture of a page may be in sight at once, so only those after it wait.
    Anything the author says about a picture, such as `{ width=320 }` or
    `{ loading=eager }`, is left as it is. If your own styles set the height of a
    picture, they should set `width: auto` as well, or else its width is now that of the
    file.

    Args:
        html: what a page shows.
        page: its address in the site.
        find: says where the file of an address is, if there is one.

    Returns:
        The same, with the size of each picture whose file is in the site.
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
        The width and the height at which it is shown, in pixels, or nothing if the file
        does not give them.
    """
    try:
        return size_at(path, Path(path).stat().st_mtime_ns)
    except (OSError, ValueError):
        return None  # a file that is broken, or no picture


@cache
def size_at(path: str, changed: int) -> tuple[int, int] | None:
    """
    ## Drawings

    A drawing that gives only the proportions of its sides, with a `viewBox`, is as wide
    as the space for it, and should stay so.

    Args:
        path: of a picture.
        changed: when it last changed, so that a changed one is looked at again.

    Returns:
        See [size_of][].
    """
    if path.endswith(".svg"):
        root = Path(path).read_bytes().partition(b"<svg")[2].partition(b">")[0]
        if len(set(LENGTH.findall(root))) < 2:
            return None
    width, height = (round(length) for length in imagesize.get(path))
    return (width, height) if width > 0 and height > 0 else None
