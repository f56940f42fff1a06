"""
---
title: Fields
summary: "Args, Returns and Raises: from three styles to a list with types."
---

# Fields

A docstring in Google's style ends with `Args:`, `Returns:` and `Raises:`, each with an
indented list. Markdown knows nothing of that style and would run the list together into
one paragraph. This stage turns each into a definition list, and fills in the types from
the signature, where they are written once already.

Code that was written for Sphinx has other styles: NumPy's, with a line of dashes below
`Parameters`, and `:param name:`. They become the same lists.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sidebyside.prose import Prose
from sidebyside.read import Definer

Lines = tuple[tuple[int, str], ...]

TITLES = {
    "Args": "Arguments",
    "Arguments": "Arguments",
    "Attributes": "Attributes",
    "Raises": "Raises",
    "Returns": "Returns",
    "Yields": "Yields",
}

# NumPy's lists, and its sections that are prose.
LISTS = {
    "Attributes": "Attributes",
    "Other Parameters": "Other arguments",
    "Parameters": "Arguments",
    "Raises": "Raises",
    "Returns": "Returns",
    "See Also": "See also",
    "Warns": "Warns",
    "Yields": "Yields",
}
TEXTS = {"Examples", "Methods", "Notes", "References", "Warnings"}
DASHES = re.compile(r"[-=]{3,}")

SPHINX = {
    "Arguments": ("param", "parameter", "arg", "argument", "key", "keyword"),
    "Attributes": ("var", "ivar", "cvar"),
    "Raises": ("raises", "raise", "except", "exception"),
    "Returns": ("return", "returns"),
    "Yields": ("yield", "yields"),
    "types": ("type", "vartype", "rtype"),
}
WORDS = {word: title for title, words in SPHINX.items() for word in words}
COLON = re.compile(rf":(?P<word>{'|'.join(WORDS)})(?: +(?P<what>[^:]+))?:(?: +|$)")

# `name: text`, `name (type): text` and `*names: text`, with or without backticks.
ITEM = re.compile(r"`?(?P<name>\*{0,2}[\w.]+)`?(?: \((?P<type>[^)]*)\))?:(?:\s+|$)")


def types_of(node: Definer) -> dict[str, str]:
    """
    ## Types

    The types that a definition declares for its parameters or, if it is a class, for
    its fields and the parameters of its `__init__`.
    """
    if isinstance(node, ast.ClassDef):
        types: dict[str, str] = {}
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    types[name] = spelled(annotation)
                case ast.FunctionDef(name="__init__"):
                    types |= types_of(statement)
        return types
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    parameters += [extra for extra in (node.args.vararg, node.args.kwarg) if extra]
    types = {p.arg: spelled(p.annotation) for p in parameters if p.annotation}
    if node.returns and not isinstance(node.returns, ast.Constant):
        types["return"] = spelled(node.returns)
    return types


def spelled(node: ast.expr) -> str:
    """A type as text. Most are a single name, for which `unparse` takes its time."""
    return node.id if isinstance(node, ast.Name) else ast.unparse(node)


def has_fields(prose: Prose) -> bool:
    """Whether there is a list in a docstring, so that the types are wanted."""
    return any(
        title_of(text) or text in LISTS or text in TEXTS or COLON.match(text)
        for _, text in prose.lines
    )


def set_fields(prose: Prose, types: Mapping[str, str]) -> Prose:
    """
    ## The lists

    Args:
        prose: a docstring.
        types: what [types_of][] found for the definition that it belongs to.

    Returns:
        The same prose with its lists of arguments and the like as definition lists.
    """
    return Prose(tuple(_set(prose.lines, types)))


def title_of(text: str) -> str:
    """The title of the list that begins with a line; empty if none does."""
    return TITLES.get(text[:-1], "") if text.endswith(":") else ""


def _set(lines: Lines, types: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(lines):
        number, text = lines[at]
        if section := underlined(lines, at):
            title, body = section
            yield from caption(number, title)
            if text in LISTS:
                at += len(body)
                yield from definitions(numpy_entries(body, title), title, types)
            at += 2
            continue
        if COLON.match(text):
            body = tuple(colons(lines[at:]))
            at += len(body)
            entries = [*sphinx_entries(body)]
            for title in SPHINX:
                if ours := [entry for kind, entry in entries if kind == title]:
                    yield from caption(number, title)
                    yield from definitions(ours, title, types)
            yield lines[at - 1][0], ""
            continue
        title = title_of(text)
        body = tuple(indented(lines[at + 1 :])) if title else ()
        if not any(text for _, text in body):
            yield number, text
            at += 1
            continue
        at += 1 + len(body)
        yield from caption(number, title)
        if title in ("Returns", "Yields"):
            yield from returned(body, types.get("return", ""))
        else:
            yield from items(body, types)
        yield lines[min(at, len(lines)) - 1][0], ""


def caption(number: int, title: str) -> Lines:
    """The title of a list."""
    return (number, ""), (number, title), (number, "{ .sbs-fields }"), (number, "")


def indented(lines: Lines) -> Iterator[tuple[int, str]]:
    """The lines up to the first that is neither blank nor indented."""
    for number, text in lines:
        if text and not text.startswith(" "):
            return
        yield number, text


def items(body: Lines, types: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Each `name: text` as a term with its type, and a definition."""
    margin = margin_of(body)
    for number, text in body:
        line = text[margin:]
        item = ITEM.match(line)
        if item:
            name = item["name"]
            kind = item["type"] or types.get(name.lstrip("*"), "")
            yield number, ""
            yield number, f"`{name}`" + (f" `{kind}`{{ .sbs-type }}" if kind else "")
            yield number, f":   {line[item.end() :]}"
        else:
            yield number, f"    {line.lstrip()}" if line else ""


def returned(body: Lines, kind: str) -> Iterator[tuple[int, str]]:
    """What comes back, with its type as the term."""
    margin = margin_of(body)
    if not kind:
        for number, text in body:
            yield number, text[margin:]
        return
    first = body[0][0]
    yield first, f"`{kind}`{{ .sbs-type }}"
    for at, (number, text) in enumerate(body):
        yield number, (f":   {text[margin:]}" if at == 0 else f"    {text[margin:]}")


def margin_of(body: Lines) -> int:
    """The indentation that all lines of a field share."""
    return min(len(text) - len(text.lstrip()) for _, text in body if text)


class Entry(NamedTuple):
    """
    ## Other styles

    An item of a list in NumPy's style or in Sphinx's.

    Args:
        number: its line.
        name: what it is about, if it has a name.
        type: the type, if that is written here.
        text: what is said of it.
    """

    number: int
    name: str
    type: str
    text: Lines


def definitions(
    entries: Iterable[Entry], title: str, types: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    """Each item as a term with its type, and a definition."""
    for number, name, kind, text in entries:
        known = types.get("return" if title == "Returns" else name.lstrip("*"), "")
        shown = kind or ("" if name and title == "Returns" else known)
        terms = [f"`{name}`"] if name else []
        terms += [f"`{shown}`{{ .sbs-type }}"] if shown else []
        yield number, ""
        if terms:
            yield number, " ".join(terms)
        margin = margin_of(text) if any(line for _, line in text) else 0
        mark = ":   " if terms else ""
        for at, line in text or ((number, ""),):
            yield at, f"{mark}{line[margin:]}" if line or mark.strip() else ""
            mark = "    " if terms else ""
    yield number, ""


def underlined(lines: Lines, at: int) -> tuple[str, Lines] | None:
    """The section of NumPy's style that begins with a line: its title and its lines."""
    title = lines[at][1]
    if title not in LISTS and title not in TEXTS:
        return None
    if at + 1 == len(lines) or not DASHES.fullmatch(lines[at + 1][1]):
        return None
    end = at + 2
    while end < len(lines) and not (
        end + 1 < len(lines) and DASHES.fullmatch(lines[end + 1][1])
    ):
        end += 1
    return LISTS.get(title, title), lines[at + 2 : end]


def numpy_entries(body: Lines, title: str) -> Iterator[Entry]:
    """
    Items of the form `name : type`, each with indented text below it. What is returned
    needs no name, and some authors describe it in a sentence instead.
    """
    at = 0
    while at < len(body):
        number, head = body[at]
        text = tuple(indented(body[at + 1 :]))
        at += 1 + len(text)
        name, colon, kind = map(str.strip, head.replace("`", "").partition(" : "))
        if title == "See also" and head:
            yield Entry(number, name, "", ((number, kind), *text) if kind else text)
        elif colon or (head and title not in ("Returns", "Yields")):
            yield Entry(number, name, kind, text)
        elif " " in head and not any(line for _, line in text):
            yield Entry(number, "", "", ((number, head),))
        elif head:
            yield Entry(number, "", name, text)


def colons(lines: Lines) -> Iterator[tuple[int, str]]:
    """The lines of a list in Sphinx's style."""
    for at, (number, text) in enumerate(lines):
        if not text:
            follows = next((line for _, line in lines[at:] if line), "")
            if not follows.startswith(" ") and not COLON.match(follows):
                return
        yield number, text


def sphinx_entries(body: Lines) -> Iterator[tuple[str, Entry]]:
    """Items of the form `:param name: text`, each with the title that it belongs to."""
    types: dict[str, Entry] = {}
    found: list[tuple[str, Entry]] = []
    starts = [at for at, (_, text) in enumerate(body) if COLON.match(text)]
    for start, stop in zip(starts, [*starts[1:], len(body)], strict=True):
        number, first = body[start]
        more = body[start + 1 : stop]
        margin = margin_of(more) if any(text for _, text in more) else 0
        if match := COLON.match(first):
            *kind, name = (match["what"] or "").replace("\\", "").split() or [""]
            text = first[match.end() :]
            rest = tuple((n, line[margin:]) for n, line in more)
            if match["word"] in SPHINX["types"]:
                types[name] = Entry(number, name, text.replace("`", ""), rest)
            else:
                entry = Entry(number, name, " ".join(kind), ((number, text), *rest))
                found.append((WORDS[match["word"]], entry))
    for title, entry in found:
        typed = types.pop(entry.name, entry)
        yield title, entry._replace(type=entry.type or typed.type)
    for name, entry in types.items():
        yield "Arguments" if name else "Returns", entry
