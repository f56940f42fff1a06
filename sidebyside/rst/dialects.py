"""
---
title: Epytext and MyST
summary: Two relatives of reStructuredText, turned into it.
---

# Epytext and MyST

Two other kinds of markup are so close to [reStructuredText][sidebyside.rst] that a few
words make the difference. They are turned into it before anything else happens.
"""

import re

from sidebyside.prose import Prose, open_fence
from sidebyside.rst.directives import BOXES

# The lists of Epytext, and its code. A docstring of that kind is recognised by one of
# these words.
EPYTEXT = re.compile(
    r"^@(?:arg|cvar|except|ivar|keyword|param|raises?|returns?|rtype|type|var)"
    r"(?: +[\w.*]+)?:",
    re.MULTILINE,
)
TAGGED = re.compile(r"^@(?P<word>[a-z]+)(?P<what> +[\w.*]+)?:", re.MULTILINE)
BRACED = re.compile(r"\b[CL]\{([^{}`\n]+)\}")

# A directive in a fence, and those directives that are not boxes.
MYST = re.compile(r"(?P<margin> *)`{3,}\{(?P<name>[a-z-]+)\} *(?P<words>[^`]*)")
DRAWINGS = {"figure", "image", "math"}


def set_epytext(prose: Prose) -> Prose:
    """
    ## Epytext

    Twisted and projects like it write `@param x:` for `:param x:`, and `L{x}` or `C{x}`
    for code. A docstring without the first is not searched for the second.
    """
    if "@" not in prose.text or not EPYTEXT.search(prose.text):
        return prose
    text = TAGGED.sub(r":\g<word>\g<what>:", prose.text)
    return prose.with_text(BRACED.sub(r"`\1`", text))


def set_myst(prose: Prose) -> Prose:
    """
    ## MyST

    Markdown for Sphinx has directives in fences, such as `{note}` or `{figure} ant.png`
    after the backticks. Boxes, pictures and formulas become those of
    reStructuredText, and any other fence stays a fence.

    Args:
        prose: any prose.
    """
    if "```{" not in prose.text:
        return prose
    done = list(prose.lines)
    at = 0
    while at < len(done):
        number, text = done[at]
        at += 1
        fence = open_fence(text, "")
        if not fence:
            continue
        begins = at
        while at < len(done) and open_fence(done[at][1], fence):
            at += 1
        found = MYST.fullmatch(text)
        if not found or at == len(done) or found["name"] not in {*BOXES, *DRAWINGS}:
            at += 1
            continue
        margin = found["margin"]
        done[begins - 1] = number, f"{margin}.. {found['name']}:: {found['words']}"
        for n, (line, inside) in enumerate(done[begins:at], start=begins):
            done[n] = line, inside and f"{margin}   {inside.removeprefix(margin)}"
        done[at] = done[at][0], ""
        at += 1
    return Prose(tuple(done))
