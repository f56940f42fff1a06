"""
---
title: Styles
summary: The three styles of docstrings in which arguments are listed, item by item.
---

# Styles

Three tools have given their names to three styles of docstrings: Google's, NumPy's and
Sphinx's. Each lists arguments, return values and errors in its own way. This page takes
such a list apart, and what [becomes of it][sidebyside.fields] is the same for all.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from sidebyside.prose import (
    BOX,
    DASHES,
    FENCE,
    TITLES,
    Lines,
    dedented,
    fences,
    open_fence,
    trimmed,
)
from sidebyside.prose import ITEM as BULLET

SPHINX = {
    "Arguments": (
        *("param", "parameter", "arg", "argument"),
        *("key", "keyword", "kwarg", "kwparam"),
    ),
    "Attributes": ("var", "ivar", "cvar"),
    "Raises": ("raises", "raise", "except", "exception"),
    "Returns": ("return", "returns"),
    "Yields": ("yield", "yields"),
    "types": ("type", "vartype", "rtype"),
}
WORDS = {word: title for title, words in SPHINX.items() for word in words}
COLON = re.compile(
    rf":(?P<word>{'|'.join(WORDS)})(?: +(?P<what>[^:\s][^:]*))? ?:(?: +|$)"
)
# Sphinx knows more words than these, and a project may have its own.
OTHER = re.compile(r":[A-Za-z][^:`]*:(?: |$)")

ROLE = r":[\w:]+:`[^`\n]*`"
ROUND = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
SQUARE = r"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]"
# `name: text`, `name (type): text`, `one, two: text` and `*names: text`, with or
# without backticks.
NAME = r"(?::[\w:]+:)?`?~?(?:\\?\*){0,2}\w[\w.]*`?"
ITEM = re.compile(
    rf"(?P<name>{NAME}(?:, *{NAME})*|``\w[\w.]*``)(?: *(?P<type>{ROUND}))? *:(?:\s+|$)"
)
NAMES = re.compile(rf"{NAME}(?:, *{NAME})*(?:, *\.\.\.)?")
# Errors without a description.
ERROR = r"(?:\w+\.)*[A-Z]\w*"
ERRORS = re.compile(rf"{ERROR}(?:, *{ERROR})*")

# What `Returns:` begins with, if that might be a type.
HEAD = re.compile(
    rf"(?P<head>(?:{ROLE}|`[^`\n]*`|{ROUND}|{SQUARE}|[^:`()\[\]])+):\s+\S"
)
ATOM = rf"(?:[A-Za-z_]\w*(?:\.\w+)*(?:{SQUARE})?|{ROUND}|'\w+'|\"\w+\")"
TYPE = re.compile(rf"{ATOM}(?:(?: ?\| ?| or | of |, ){ATOM})*")
# Types that look like words, and words that look like types.
SMALL = re.compile(
    r"(?:(?:or|of|optional|int|float|complex|bool|str|string|bytes|bytearray|object"
    r"|dict|dictionary|list|tuple|set|frozenset|type|callable|function|module|generator"
    r"|iterator|iterable|sequence|mapping|array|ndarray|tensor)s?\b\W*)+"
)
PROSE = re.compile(
    "False|True|(?:Notes?|Warnings?|Tips?|Examples?|Hints?|Important|Caution|Default"
    "|Usage|Otherwise|or|of|optional|Remarks?|Returns?|See|TODO|Todo|Yields?)$"
)


class Entry(NamedTuple):
    """
    ## Items

    Args:
        number: its line.
        name: what it is about, if it has a name.
        type: the type, if that is written here.
        text: what is said about it.
    """

    number: int
    name: str
    type: str
    text: Lines


class Listing(NamedTuple):
    """
    A list, whatever the style.

    Args:
        number: the line that it begins with.
        written: that line.
        title: its title on the page.
        entries: its items.
    """

    number: int
    written: str
    title: str
    entries: tuple[Entry, ...]


def google_entries(body: Lines, title: str) -> Iterator[Entry]:
    """
    ## Google's style

    Items of the form `name (type): text`, with more text below that may be indented. A
    return value has at most a type in front, and is otherwise one text.
    """
    lines = dedented(body)
    starts = [*item_starts(lines, title)]
    first = starts[0][0] if starts else len(lines)
    if any(text for _, text in lines[:first]):
        yield Entry(lines[0][0], "", "", lines[:first])
    stops = [at for at, *_ in starts[1:]]
    for (at, name, kind, rest), stop in zip(starts, [*stops, len(lines)], strict=False):
        number = lines[at][0]
        text = (*(((number, rest),) if rest else ()), *hung(lines[at + 1 : stop]))
        yield Entry(number, name, kind, text)


def item_starts(lines: Lines, title: str) -> Iterator[tuple[int, str, str, str]]:
    """The lines that begin an item, each with its name, its type, and the rest."""
    outer = [
        at
        for at, ((_, text), is_code) in enumerate(
            zip(lines, fences(lines), strict=True)
        )
        if text and text[0] != " " and not is_code
    ]
    items = [(at, ITEM.match(lines[at][1])) for at in outer]
    comes_back = title in ("Returns", "Yields")
    # Several names may come back. A single word with a colon is more likely to begin a
    # sentence.
    has_names = (
        comes_back
        and len(items) > 1
        and not leading_type(lines[outer[0]][1])
        and all(item and not PROSE.match(item["name"]) for _, item in items)
    )
    for at, item in items:
        text = lines[at][1]
        if item and (not comes_back or item["type"] or has_names):
            name = clean(item["name"]).replace("\\", "")
            yield at, name, clean((item["type"] or "")[1:-1]), text[item.end() :]
        elif comes_back and (kind := leading_type(text)):
            yield at, "", clean(kind), text[len(kind) + 1 :].lstrip()
        elif title in ("Raises", "Warns") and ERRORS.fullmatch(clean(text)):
            yield at, clean(text), "", ""


def hung(lines: Lines) -> Lines:
    """
    The lines below the first one of an item. Those that hang, which means that they are
    indented, are moved to the left. From the first line that is not indented on, all
    stay where they are: an indented line there belongs to a line above it, like the
    body of a fence or of a box.
    """
    outer = (at for at, (_, text) in enumerate(lines) if text and text[0] != " ")
    end = next(outer, len(lines))
    return *dedented(lines[:end]), *lines[end:]


def leading_type(text: str) -> str:
    """The type that a line begins with, if it begins with one and a colon."""
    found = HEAD.match(text)
    if not found:
        return ""
    kind = clean(found["head"])
    if not TYPE.fullmatch(kind) or PROSE.match(kind):
        return ""
    # A single word is a type if it is a well-known one, or written like a class.
    sure = re.search(r"^\(|[\[|]|\w\.\w", kind) or SMALL.fullmatch(kind)
    if sure or (kind[0].isupper() and " " not in kind) or " or " in kind:
        return found["head"]
    return ""


def clean(text: str) -> str:
    """A name or a type without backticks and roles."""
    text = text.replace("*optional*", "optional")
    if "`" not in text:
        return text
    text = re.sub(r"\[`~?([\w.]+)`\]", r"\1", text)
    return re.sub(r"(?::[\w:]+:)?`~?([^`]*)`", r"\1", text).replace("`", "")


def underlined(lines: Lines, at: int) -> tuple[str, Lines] | None:
    """The section of NumPy's style that begins with a line: its title and its lines."""
    title = TITLES.get(lines[at][1])
    if not title:
        return None
    if at + 1 == len(lines) or not DASHES.fullmatch(lines[at + 1][1]):
        return None
    end = at + 2
    while end < len(lines) and not (
        end + 1 < len(lines) and DASHES.fullmatch(lines[end + 1][1])
    ):
        end += 1
    return title, lines[at + 2 : end]


def numpy_entries(body: Lines, title: str) -> Iterator[Entry]:
    """
    ## NumPy's style

    Items of the form `name : type`, each with indented text below it. A return value
    needs no name, and some authors describe it in a sentence instead. Some indent the
    whole list.
    """
    front = indented(body)
    body = (*trimmed(front), *body[len(front) :])
    at = 0
    while at < len(body):
        number, head = body[at]
        if is_block(body[at : at + 1]) or BULLET.match(head):
            block = block_at(body, at)
            at += len(block)
            yield Entry(number, "", "", block)
            continue
        text = indented(body[at + 1 :])
        at += 1 + len(text)
        if not head:
            # Indented lines after a block belong to it.
            if any(line for _, line in text):
                yield Entry(number, "", "", text)
            continue
        name, colon, kind = map(str.strip, clean(head).partition(" : "))
        if not colon and (match := re.match(rf"({NAMES.pattern}) ?:(?: +|$)", head)):
            name, colon, kind = clean(match[1]), ":", clean(head[match.end() :])
        name = name.replace("\\", "")
        if title == "See also" and re.fullmatch(r"[\w.]+(?:, *[\w.]+)*", name):
            # As roles, these names lead to their definitions, if those are known.
            name = ", ".join(f":obj:`{each}`" for each in re.split(", *", name))
        if title in ("Methods", "See also") or goes_on(kind, text):
            below = dedented(text)
            yield Entry(number, name, "", ((number, kind), *below) if kind else below)
        elif title in ("Returns", "Yields") and not colon:
            if " " in head and not any(line for _, line in text):
                yield Entry(number, "", "", ((number, head),))
            else:
                yield Entry(number, "", name, text)
        elif not colon and not NAMES.fullmatch(head):
            yield Entry(number, "", "", ((number, head), *text))
        else:
            yield Entry(number, name, kind, text)


SENTENCE = re.compile(r"\b(?:\w+ ){4}\w+")


def goes_on(kind: str, below: Lines) -> bool:
    """
    Whether what looks like the type of an argument is a sentence, which goes on below.

    Args:
        kind: what is behind the colon.
        below: the lines below it.
    """
    first = below[0][1].lstrip() if below else ""
    return first[:1].islower() and SENTENCE.search(kind) is not None


def block_at(lines: Lines, at: int) -> Lines:
    """The fence, the box, the formula or the list that begins with a line."""
    first = lines[at][1]
    if BULLET.match(first):
        ends = (
            end
            for end in range(at + 1, len(lines))
            if lines[end][1].lstrip() == lines[end][1] != ""
            and not BULLET.match(lines[end][1])
        )
        return lines[at : next(ends, len(lines))]
    if BOX.match(first):
        return lines[at], *indented(lines[at + 1 :])
    fence = open_fence(first, "")
    for end in range(at + 1, len(lines)):
        text = lines[end][1]
        if not open_fence(text, fence) if fence else text == "$$":
            return lines[at : end + 1]
    return lines[at:]


def is_block(text: Sequence[tuple[int, str]]) -> bool:
    """Whether a text begins with a fence, a box or a formula."""
    first = text[0][1].lstrip() if text else ""
    return bool(FENCE.match(first) or BOX.match(first)) or first == "$$"


def indented(lines: Lines) -> Lines:
    """The lines up to the first that is neither blank nor indented."""
    return tuple(takewhile(lambda line: line[1][:1] in ("", " "), lines))


def colons(lines: Lines) -> Iterator[tuple[int, str]]:
    """
    ## Sphinx's style

    The lines of a list whose items begin with `:param name:` and the like.
    """
    for at, (number, text) in enumerate(lines):
        if not text:
            follows = next((line for _, line in lines[at:] if line), "")
            if not follows.startswith(" ") and not COLON.match(follows):
                return
        yield number, text


def sphinx_lists(body: Lines) -> Iterator[Listing | tuple[int, str]]:
    """
    The lists in the lines that [colons][] finds: of arguments, of errors, and so on.
    Lines that belong to no list come below them, as they were written.
    """
    entries = [*sphinx_entries(body)]
    for title in SPHINX:
        if ours := [entry for kind, entry in entries if kind == title]:
            yield Listing(body[0][0], ":param:", title, (*ours,))
    for kind, entry in entries:
        if not kind:
            yield from ((entry.number, ""), *entry.text)


def sphinx_entries(body: Lines) -> Iterator[tuple[str, Entry]]:
    """
    Items of the form `:param name: text`, each with the title that it belongs to. Items
    of no list have an empty title.
    """
    types: dict[str, list[Entry]] = {}
    found: list[tuple[str, Entry]] = []
    starts = [
        at
        for at, (_, text) in enumerate(body)
        if text[:1] == ":" and (COLON.match(text) or OTHER.match(text))
    ]
    for start, stop in zip(starts, [*starts[1:], len(body)], strict=True):
        number, first = body[start]
        more = dedented(body[start + 1 : stop])
        if match := COLON.match(first):
            what = (match["what"] or "").replace("\\", "").strip()
            *kind, name = [what] if NAMES.fullmatch(what) else what.split() or [""]
            text = first[match.end() :]
            if match["word"] in SPHINX["types"]:
                words = " ".join([text, *(line.strip() for _, line in more)])
                typed = Entry(number, name, clean(words).strip(), ())
                types.setdefault(name, []).append(typed)
            else:
                entry = Entry(number, name, " ".join(kind), ((number, text), *more))
                found.append((WORDS[match["word"]], entry))
        else:
            yield "", Entry(number, "", "", body[start:stop])
    for title, entry in found:
        # Without a name, a type is that of the return value, and not of an error.
        given = [] if title == "Raises" else types.pop(entry.name, [])
        kinds = [entry.type, *(each.type for each in given)]
        yield title, entry._replace(type=", ".join(dict.fromkeys(filter(None, kinds))))
    for name, lost in types.items():
        yield from (("Arguments" if name else "Returns", entry) for entry in lost)
