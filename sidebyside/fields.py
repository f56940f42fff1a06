"""
---
title: Fields
summary: "Args, Returns and Raises: from Google style to a list with types."
---

# Fields

A docstring in Google's style ends with `Args:`, `Returns:` and `Raises:`, each with an
indented list. Markdown knows nothing of that style and would run the list together into
one paragraph. This stage turns each into a definition list, and fills in the types from
the signature, where they are written once already.
"""

import ast
import re
from collections.abc import Iterator, Mapping

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
    return any(title_of(text) for _, text in prose.lines)


def set_fields(prose: Prose, types: Mapping[str, str]) -> Prose:
    """
    ## The lists

    Args:
        prose: a docstring.
        types: what [types_of][] found for the definition that it belongs to.

    Returns:
        The same prose with its `Args:` and the like set as definition lists.
    """
    return Prose(tuple(_set(prose.lines, types)))


def title_of(text: str) -> str:
    """The title of the list that begins with a line; empty if none does."""
    return TITLES.get(text[:-1], "") if text.endswith(":") else ""


def _set(lines: Lines, types: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    at = 0
    while at < len(lines):
        number, text = lines[at]
        title = title_of(text)
        body = tuple(indented(lines[at + 1 :])) if title else ()
        if not any(text for _, text in body):
            yield number, text
            at += 1
            continue
        at += 1 + len(body)
        yield number, ""
        yield number, title
        yield number, "{ .sbs-fields }"
        yield number, ""
        if title in ("Returns", "Yields"):
            yield from returned(body, types.get("return", ""))
        else:
            yield from items(body, types)
        yield lines[min(at, len(lines)) - 1][0], ""


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
