"""
---
title: Examples
summary: Pieces of interactive sessions, which have prompts and no fences.
---

# Examples

A docstring may show how its function is used, as a piece of an interactive session with
`>>>` in front of each line. To Markdown that is a quotation within a quotation within a
quotation. So this page finds each session, and puts a fence around it.
"""

import re
from collections.abc import Sequence

from sidebyside.prose import Prose, fenced, indentation, open_fence, within

TO_DOCTEST = re.compile(
    r"(?<=\S)[ ]*#\s*doctest:\s*(?:[+-]\w+[\s,]*)+$|^\s*<BLANKLINE>\s*$"
)


def open_examples(prose: Prose) -> Prose:
    """
    ## A fence for each session

    A session, as `doctest` runs it, is code: from its first `>>>` up to a blank line,
    and beyond that if another `>>>` follows. This function puts a fence around it.

    Anything meant only for `doctest`, such as `# doctest: +SKIP`, is left out.

    Args:
        prose: any prose.
    """
    if ">>> " not in prose.text:
        return prose
    done: list[tuple[int, str]] = []
    fence = ""
    at = 0
    while at < len(prose.lines):
        number, text = prose.lines[at]
        fence = open_fence(text, fence)
        is_code = not fence and text.lstrip(" ").startswith(">>> ")
        if not is_code:
            done.append((number, text))
            at += 1
            continue
        margin = indentation(text)
        deep = within(done, margin)
        body = example(prose.lines[at:], margin)
        at += len(body)
        shown = [(n, TO_DOCTEST.sub("", line[margin:])) for n, line in body]
        done += fenced(shown, "pycon", deep)
    return Prose(tuple(done))


def example(lines: Sequence[tuple[int, str]], margin: int) -> Sequence[tuple[int, str]]:
    """
    ## Where a session ends

    Returns:
        The lines of the session that these lines begin with.
    """
    prompt, comment = " " * margin + ">>> ", " " * margin + "# "
    end = 0
    for at, (_, text) in enumerate(lines):
        if not text.strip():
            rest = (line for _, line in lines[at:] if line.strip())
            follows = next(rest, "")
            while follows.startswith(comment):
                # To Markdown, a comment above a prompt is the title of a page.
                follows = next(rest, "")
            if not follows.startswith(prompt):
                break
        elif indentation(text) < margin:
            break
        else:
            end = at + 1
    return lines[:end]
