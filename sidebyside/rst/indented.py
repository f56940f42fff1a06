"""
---
title: Indented code
summary: Where code has no fence around it, and how one is put there.
---

# Indented code

In Markdown, and in reStructuredText as well, code needs no fence: it may be indented
below two colons, or only be indented. But whatever looks for formulas and links has to
know what is code. So each such piece gets its fence here.
"""

import ast
import re
from itertools import groupby

from sidebyside.prose import (
    AROUND,
    DASHES,
    FENCE,
    LISTS,
    TITLES,
    Lines,
    Prose,
    fenced,
    indentation,
    is_title,
    open_fence,
    trimmed,
    within,
)
from sidebyside.prose import ITEM as BULLET
from sidebyside.read import tree_of

# An item of a list of arguments, which may end in `::` as well.
FIELD = re.compile(r" *[`*\\]{0,3}\w[\w.]*`?(?: ?\(.*\))?:(?: .*)?::")

# And one in Sphinx's style, such as `:param name: text::`.
COLONED = re.compile(r" *:[A-Za-z][^:`]*: .*::")

# Command lines for programs in Python, `SEED=3 python train.py --fast`. After a
# backslash, one goes on below.
COMMANDS = re.compile(
    r"(?:(?:[A-Z]\w*=\S* )*(?:(?:python3?|torchrun)(?: -{1,2}[\w=-]+)* [\w./-]+\.py\b"
    r"|python3? -m \w|pip3? install )(?:[^\n]|(?<=\\)\n)*+(?:\n+|\Z))++"
)

# Titles that always have code below them.
EXAMPLES = {"Example", "Examples", "Usage"}


def literal(
    lines: Lines, before: list[tuple[int, str]], is_docstring: bool
) -> tuple[Lines, Lines]:
    """
    ## Code below two colons

    Args:
        lines: a line that ends with two colons, and all lines after it.
        before: the lines above it.
        is_docstring: whether this is a docstring. The end of a comment announces the
            code beside it.

    Returns:
        The line and those of the code, and what they become; nothing, if the line can
        stay as it is.
    """
    number, text = lines[0]
    margin = indentation(text)
    bullet = BULLET.match(text)
    base = bullet.end() - 1 if bullet else margin
    body = deeper(lines[1:], base)
    first = next((line for _, line in body if line), "")
    head = text[:-2].rstrip()
    words = f"{head}:" if text[-3:-2].strip() else head
    said = ((number, words),) if words.strip() else ()
    if not first or (words and is_title(words) and TITLES[words[:-1]] not in EXAMPLES):
        # `Args::` is a title all the same. One colon is also enough where no code
        # follows, and in front of an example, which needs no indentation.
        follows = next((line for _, line in lines[1:] if line), "")
        is_example = follows.startswith(" " * base + ">>> ")
        # A comment in pylit's style ends like this: the code that it announces is
        # beside it.
        taken = is_title(words) or is_example or not (is_docstring or follows)
        return (lines[:1], said) if taken else ((), ())
    if (margin and FIELD.fullmatch(text)) or COLONED.fullmatch(text):
        # The item may go on after the code, with less indentation.
        body = deeper(lines[1:], indentation(first) - 1)
        deep = " " * (margin + 4)
    elif is_title(words) and not margin:
        deep = " " * 4
    elif bullet:
        deep = within([*before, (number, text)], indentation(first))
    else:
        deep = within(before, margin)
    plain = trimmed(body)
    made = fenced(plain, language_of(plain) or "text", deep)
    return lines[: 1 + len(body)], (*said, *made)


LONG = 100
# Indented text after a blank line or one of these titles, or at the very beginning.
INSIDE = re.compile(
    rf"\n\n |^(?:{'|'.join(EXAMPLES)}):\n |\A [\s\S]*:\n ", re.MULTILINE
)
# Text that is indented below these is not code. Nor is text that begins with one.
HOLDS = re.compile(rf"{BULLET.pattern}|{AROUND.pattern}| *(?:\.\.|[:<>|\\])")
# Nor is text that begins with a formula, which then stands alone.
FORMULA = re.compile(r" *(?:\$(?! )|\\begin\{)")
# A line that may be a term, if the next line hangs below it.
TERM = re.compile(r""" *(?:(['"]|``)[^'"`]+\1|[\w.,*`\\ ]+ : )""")


def open_code(prose: Prose) -> Prose:
    """
    ## Code that is only indented

    To Markdown, text indented by four blanks after a blank line is code, unless it
    belongs to an item, a box or the like. This function puts a fence around it, so that
    whatever looks for formulas and links recognises it as code. Text that does belong
    to an item or a box is code if Python can read it and it does something. When in
    doubt, this leaves it as it is.

    Args:
        prose: prose whose examples have their fences.
    """
    lines = prose.lines
    if not INSIDE.search(prose.text):
        return prose
    done: list[tuple[int, str]] = []
    fence = ""
    holds = listed = False
    least = 4
    at = 0
    while at < len(lines):
        text = lines[at][1]
        above = lines[at - 1][1] if at else ""
        around, fence = fence, open_fence(text, fence)
        margin = indentation(text)
        is_text = bool(text) and not (around or fence)
        if is_text and not margin:
            least = least_of(lines, at)
        begins = not above or (is_title(above) and TITLES[above[:-1]] in EXAMPLES)
        may_be = is_text and holds and begins and margin >= least
        deep = within(done, margin) if may_be else ""
        if deep and (code := leading_code(lines, at)):
            plain = trimmed(code)
            done += fenced(plain, language_of(plain), deep)
            at += len(code)
            continue
        if is_text and not (holds or above) and margin >= 4:
            body = deeper(lines[at:], 3)
            hangs = at + 1 < len(lines) and indentation(lines[at + 1][1]) > margin
            other = HOLDS.match(text) or (hangs and TERM.match(text))
            plain = tuple((number, line[4:]) for number, line in body)
            if FORMULA.match(text):
                done += plain
                at += len(body)
                continue
            if not (other or any(FENCE.match(line) for _, line in body)):
                done += fenced(plain, "")
                at += len(body)
                continue
            holds = True
        elif text and not around:
            if above and DASHES.fullmatch(text):
                holds = listed = TITLES.get(above) in LISTS
            elif not (above or margin):
                holds = listed
            hangs = bool(above) and margin > indentation(above)
            holds = holds or hangs or is_title(text) or bool(HOLDS.match(text))
        done.append(lines[at])
        at += 1
    return Prose(tuple(done))


def least_of(lines: Lines, at: int) -> int:
    """
    The least that code has to be indented in the section that a line begins.

    Args:
        lines: all lines.
        at: where that line is. It is not indented.
    """
    text = lines[at][1]
    if not is_title(text):
        return 4
    title = TITLES[text[:-1]]
    behind = (lines[place][1] for place in range(at + 1, len(lines)))
    base = indentation(next(filter(None, behind), ""))
    # In a list, what is not indented further is an item.
    return base + (title in LISTS and title not in ("Returns", "Yields"))


def leading_code(lines: Lines, begin: int) -> Lines:
    """
    The code that begins with a line, if any does, up to a fence or to words. Lines that
    are indented further than its first line belong to it.

    Args:
        lines: all lines.
        begin: where that line is.
    """
    margin = indentation(lines[begin][1])
    if BULLET.match(lines[begin][1]):
        # To Python, `* a = b` is an assignment.
        return ()
    # A statement may have blank lines in it. Looking far ahead for its end, at each
    # paragraph of a long text, would take too long.
    near = deeper(lines[begin : begin + LONG], margin - 1)
    if len(near) < LONG and language_of(trimmed(near)) == "python":
        return near
    end = at = begin
    behind = (lines[place] for place in range(begin, len(lines)))
    for is_blank, group in groupby(behind, key=lambda line: not line[1]):
        part = tuple(group)
        at += len(part)
        if is_blank:
            continue
        goes_on = indentation(part[0][1]) > margin
        is_fence = any(FENCE.match(text) for _, text in part)
        is_left = any(indentation(text) < margin for _, text in part)
        if is_fence or is_left or not (goes_on or language_of(trimmed(part))):
            break
        end = at
    return lines[begin:end]


def deeper(lines: Lines, margin: int) -> Lines:
    """
    The lines up to the first that is not indented by more than a margin, without blank
    ones at the end.
    """
    end = 0
    for at, (_, text) in enumerate(lines):
        if text and indentation(text) <= margin:
            break
        if text:
            end = at + 1
    return lines[:end]


def language_of(lines: Lines) -> str:
    """Which language code is in; empty if it may not be code."""
    text = "\n".join(text for _, text in lines).strip("\n")
    if text.startswith(">>> "):
        return "pycon"
    if text.startswith("$ "):
        return "console"
    if COMMANDS.fullmatch(text):
        return "sh"
    return "python" if is_python(text) else ""


def is_python(text: str) -> bool:
    """Whether a text is Python that does something."""
    if not re.search(r"\w\(|[=@]|^(import|from) ", text, re.MULTILINE):
        return False
    tree = tree_of(text)
    return tree is not None and any(map(is_deed, tree.body))


def is_deed(statement: ast.stmt) -> bool:
    """Whether a statement does something. Words may look like a name or a type."""
    match statement:
        case ast.Expr(value=value):
            return isinstance(value, ast.Call | ast.Await)
        case ast.AnnAssign(value=None):
            return False
    return True
