"""
---
title: Marks
summary: How the press finds the pieces of its pages again.
---

# Marks

[A template](render.py) writes a page as Markdown. Before that becomes HTML, other
plugins may read it, and write into it. So that the press finds its own pieces again,
each has a comment on the line before it and on the line after it:

```html
<!-- sidebyside:1 -->

<!-- prose:1 -->
## The kiln
<!-- /prose:1 -->

<!-- code:1 -->
<div class="sbs-code sbs-text highlight">…</div>
<!-- /code:1 -->
```

The first line says that this page was made from a module, and has the number of all its
marks. It is [one that occurs in no such comment][number_of] in the module, so a
docstring can't forge a mark.
"""

import re
from collections.abc import Callable, Iterable

from markdown.util import ETX, STX

# What only the press writes on a page.
BEGINS = "<!-- sidebyside:"
FIRST = BEGINS + "{} -->\n"
PAGE = re.compile(r"\s*" + FIRST.format(r"(\d+)"))


def number_of(texts: Iterable[str]) -> int:
    """
    ## The number of a page

    Args:
        texts: everything that the author of a page wrote.

    Returns:
        The smallest number whose marks occur nowhere in them.
    """
    # Markdown will remove control characters, and turn tabs into blanks.
    plain = (text.replace(STX, "").replace(ETX, "") for text in texts)
    taken = {int(n) for text in plain for n in re.findall(r":(\d{1,9})\s*-->", text)}
    return next(n for n in range(1, len(taken) + 2) if n not in taken)


def number_on(text: str) -> str | None:
    """
    Args:
        text: a page, as Markdown without its front matter.

    Returns:
        The number of its marks; `None` if it was written by hand.
    """
    page = PAGE.match(text)
    return page[1] if page else None


def marks(kind: str, number: str) -> tuple[str, str]:
    """
    Args:
        kind: `prose` or `code`.
        number: that of the page.

    Returns:
        What is before a piece of that kind and what is after it.
    """
    return f"<!-- {kind}:{number} -->\n", f"<!-- /{kind}:{number} -->"


def replaced(text: str, kind: str, number: str, take: Callable[[str], str]) -> str:
    """
    Args:
        text: a page.
        kind: `prose` or `code`.
        number: that of the page.
        take: turns a piece into what to put there.

    Returns:
        The page with something else in place of all its pieces of this kind.
    """
    begin, end = marks(kind, number)
    before, *pieces = text.split(begin)
    done = [before]
    for piece in pieces:
        inside, _, behind = piece.partition(end)
        done += take(inside), behind
    return "".join(done)
