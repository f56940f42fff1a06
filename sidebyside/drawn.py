"""
---
title: Titles and rules that are drawn
summary: Frames and rules around comments vanish, and the titles in them are kept.
---

# Titles and rules that are drawn

Many authors draw a line above a comment, or all around it. To Markdown such a line is a
rule or a fence, or it makes a heading of the paragraph above. In a comment it is
decoration, and vanishes. In a docstring it is whatever Markdown says it is. But a page
has only one title, so a title that is underlined there may get another level.

Around a few words, such lines make a title. This page finds the titles of comments, of
modules and of definitions.
"""

import re
from collections.abc import Container, Sequence

from sidebyside.prose import Prose, fences, indentation, open_fence

MAYBE_DRAWN = re.compile(
    r"[-=*_~#]{3}|[-=*_] [-=*_] |^ *#|/{10}|[─━═]{2}|[–—]{3}", re.MULTILINE
)
DRAWN = re.compile(
    r" *(?:([-=*_])\1{2,}#*|#+|[~/]{10,}|([-=*_])(?: \2){2,}|[-=*_~#]{6,}) *"
)
# `--- Helpers ---`, `----Helpers----`, `--- Helpers` and `Helpers ------`.
TITLED = (
    re.compile(
        r"(?:[-=~*_]{2,}|#{3,}) +(?P<title>\w.{0,99}?) +(?:[-=~*_]{2,}|#{3,})#?"
    ),
    re.compile(r"([-=*])\1{3,}(?P<title>\w.{0,99}?)\1{4,}#?"),
)
TITLED_ALONE = (
    *TITLED,
    re.compile(r"(?:-{3,}|={3,}|#{7,}) +(?P<title>\w[^|=]{0,59})(?<![.,;:])"),
    re.compile(r"(?P<title>\w[^|=]{0,59}?) +([-=*#])\2{5,}"),
)
# `── Helpers ────`: the same with signs that no keyboard has. A line with corners and
# the like belongs to a drawing.
STROKES = str.maketrans("─━═–—", "-----")
STROKED = re.compile(
    r" *+(?:(?:[─━═]{2,}+|[–—]{3,}+)[^─-╿–—]*+(?:[─━═–—]{2,}+)?"
    r"|\w[^─-╿–—]*+(?:[─━═]{5,}+|[–—]{5,}+)) *+"
)
SHORT = re.compile(r"[\w\"'(`](?:(?!\. ).){0,59}(?<![,;:])")


def undecorated(lines: Sequence[str], mark: str) -> list[str]:
    """
    ## Comments without their frames

    A short line in a frame, or underlined, or with dashes at its sides is a title. A
    paragraph in a frame is not.

    Args:
        lines: a comment, without its `#`.
        mark: what makes a title of a line: `## {}`, or `**{}**`.

    Returns:
        The same number of lines, without the indentation that they share.
    """
    if not MAYBE_DRAWN.search("\n".join(lines)):
        margin = min((indentation(line) for line in lines if line), default=0)
        return [line[margin:] for line in lines]
    drawn = drawn_lines([*map(on_keyboard, lines)])
    written = [line for at, line in enumerate(lines) if line and at not in drawn]
    margin = min(map(indentation, written), default=max(map(len, lines)))
    # A line that is indented further than the words belongs to a drawing, and stays.
    drawn = {at for at in drawn if indentation(lines[at]) <= margin}
    texts = ["" if at in drawn else line[margin:] for at, line in enumerate(lines)]
    if drawn and all(line.endswith("#") for line in written):
        texts = [text.rstrip("# ") for text in texts]
    # A lone `##` is as good as a blank line.
    return titled(texts, {at for at in drawn if len(lines[at]) > 3}, mark)


def on_keyboard(line: str) -> str:
    """A line that is drawn, or has dashes at its sides, with plain dashes."""
    return line.translate(STROKES) if STROKED.fullmatch(line) else line


def drawn_lines(lines: Sequence[str]) -> set[int]:
    """Which lines are only drawn, counted from 0. Those in a fence are not."""
    drawn: set[int] = set()
    fence = ""
    before = ""
    for at, line in enumerate(lines):
        tildes = len(line) > 3 and not line.strip("~") and len(line) == len(before)
        if not fence and (tildes or DRAWN.fullmatch(line)):
            drawn.add(at)
        else:
            fence = open_fence(line, fence)
        before = line
    return drawn


def titled(texts: list[str], drawn: Container[int], mark: str) -> list[str]:
    """
    ## Titles of comments

    Only the first line of a paragraph can be a title. If more text follows right below
    it, dashes at one side are not enough, since the line may begin a sentence.

    Args:
        texts: the lines of a comment.
        drawn: those that were only drawn, and are empty now.
        mark: what makes a title of a line.
    """
    done = [*texts]
    fence = ""
    alone = sum(map(bool, texts)) == 1
    for at, text in enumerate(texts):
        fence = open_fence(text, fence)
        if fence or not text or (at and texts[at - 1]):
            continue
        follows = at + 1 < len(texts) and texts[at + 1] != ""
        framed = at + 1 in drawn or (at - 1 in drawn and alone)
        patterns = TITLED if follows else TITLED_ALONE
        plain = on_keyboard(text)
        if framed and SHORT.fullmatch(text):
            title = text
        elif found := next(filter(None, (p.fullmatch(plain) for p in patterns)), None):
            title = found["title"]
        else:
            continue
        is_bold = mark.startswith("*")
        done[at] = title if is_bold and "*" in title else mark.format(title)
        # After a title in bold words, the two blanks make the line end.
        done[at] += "  " * (follows and is_bold)
    return done


UNDERLINE = re.compile(r"={3,}|~{3,}|\*{3,}|#{3,}")


def open_title(prose: Prose) -> Prose:
    """
    ## Titles of modules

    At the top of a module's docstring, an underlined title is the title of the page.

    Args:
        prose: the docstring of a module.
    """
    lines = prose.lines
    first = int(bool(lines) and UNDERLINE.fullmatch(lines[0][1]) is not None)
    if len(lines) < first + 2 or not UNDERLINE.fullmatch(lines[first + 1][1]):
        return prose
    number, title = lines[first]
    title = title.strip()
    # Between two drawn lines a title may be long.
    if not ((title and first) or SHORT.fullmatch(title)):
        return prose
    return Prose(((number, f"# {title}"), *lines[first + 2 :]))


def lower_titles(prose: Prose) -> Prose:
    """
    ## Titles of definitions

    A page has one title. A line that is underlined like one in the docstring of a class
    or a function is a heading below it.

    Args:
        prose: the docstring of a definition.
    """
    if "\n===" not in prose.text:
        return prose
    done = [*prose.lines]
    for at, ((number, text), is_code) in enumerate(
        zip(prose.lines, fences(prose.lines), strict=True)
    ):
        above = [line for _, line in prose.lines[max(at - 2, 0) : at]]
        is_title = bool(above) and bool(above[-1]) and not (above[:-1] or [""])[0]
        # What a session of `doctest` prints is not a title.
        is_title = is_title and not is_code and not above[-1].lstrip().startswith(">>>")
        if is_title and re.fullmatch("={3,}", text):
            done[at] = (number, "-" * len(text))
    return Prose(tuple(done))
