"""
---
title: Things
summary: What can be known about an expression without running it.
---

# Things

To find out where `game.options.stack` leads, you have to know what `game` is. This page
defines the terms for such knowledge: an expression is a module, a class, a function, or
a value of some type.
"""

import ast
from collections.abc import Sequence
from enum import Enum, auto
from functools import cache
from typing import NamedTuple

from sidebyside.read import Definer


class What(Enum):
    """What sort of thing an expression stands for."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    VALUE = auto()
    SUPER = auto()
    OUTSIDE = auto()  # anything that is not defined in the book


class Type(NamedTuple):
    """
    ## Types

    Args:
        name: the full name of the class; empty if only the parameters matter.
        parameters: what is in its brackets, as far as that is known.
    """

    name: str
    parameters: "tuple[Type | None, ...]" = ()


class Thing(NamedTuple):
    """
    ## Things

    What is known about an expression.

    Args:
        what: its sort.
        name: its full name; empty if it has none, like the result of a call.
        type: for a value, its type. For a class, the type of its instances.
    """

    what: What
    name: str = ""
    type: Type | None = None


ITERABLE = {
    *("list", "set", "frozenset", "tuple", "collections.deque"),
    *(
        f"{module}.{name}"
        for module in ("typing", "collections.abc")
        for kind in ("Iterable", "Iterator", "Sequence", "Collection", "Generator")
        for name in (kind, f"Async{kind}")
    ),
}
DISPLAYS: dict[type[ast.expr], str] = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.JoinedStr: "str",
}
OPTIONAL = ("typing.Optional", "typing.Final", "typing.ClassVar", "typing.Annotated")
PROPERTIES = {"property", "functools.cached_property", "abc.abstractproperty"}
# Decorators that do not change what a call returns.
FAITHFUL = {
    *("staticmethod", "classmethod", "functools.cache", "functools.lru_cache"),
    *("abc.abstractmethod", "typing.final", "typing.override"),
}
CALLABLE = ("typing.Callable", "collections.abc.Callable")
MANAGER = "contextlib.contextmanager"
MANAGERS = {MANAGER, "contextlib.asynccontextmanager"}
ENUMS = {f"enum.{name}" for name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag")}
COROUTINE = "collections.abc.Coroutine"


# What older code calls the types that are built in.
OLDER = ("Dict", "FrozenSet", "List", "Set", "Tuple")
BUILT_IN = {f"typing.{name}": name.lower() for name in OLDER}


@cache
def named_outside(name: str) -> Thing:
    """Something that is not defined in the book, made once: many uses lead to it."""
    return Thing(What.OUTSIDE, name, Type(BUILT_IN.get(name, name)))


def value_of(kind: Type | None) -> Thing | None:
    """A value of a type; nothing if the type is not known."""
    return Thing(What.VALUE, type=kind) if kind else None


def awaited(kind: Type | None) -> Type | None:
    """What `await` makes of a type that a function of the book returns."""
    return kind.parameters[0] if kind and kind.name == COROUTINE else None


def item_of(kind: Type) -> Type | None:
    """The type of the items that a loop over a container gives; for a `dict`, keys."""
    if kind.name == "dict" and len(kind.parameters) == 2:
        return kind.parameters[0]
    alike = kind.name in ITERABLE and kind.parameters
    if not alike or (kind.name == "tuple" and len(kind.parameters) > 1):
        return None
    return kind.parameters[0]


def merged(bases: Sequence[str], orders: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """
    ## C3

    The order in which Python looks through a class and its bases is called C3. It takes
    the first class that does not come after another in any of the orders, again and
    again. If there is no such class, Python refuses the program.

    Args:
        bases: the bases, as they are written.
        orders: the order of each.
    """
    rows = [[*row][::-1] for row in (*orders, bases) if row]
    done: list[str] = []
    while rows:
        behind = {name for row in rows for name in row[:-1]}
        head = next((row[-1] for row in rows if row[-1] not in behind), None)
        if head is None:
            return (*done, "")
        done.append(head)
        rows = [row[:-1] if row[-1] == head else row for row in rows]
        rows = [row for row in rows if row]
    return tuple(done)


def is_sequel(node: Definer | None, name: str) -> bool:
    """
    ## Several definitions of one name

    Returns:
        Whether a definition only adds to the one before: `@name.setter`.
    """
    return any(
        isinstance(d, ast.Attribute)
        and isinstance(d.value, ast.Name)
        and d.value.id == name
        and d.attr in ("getter", "setter", "deleter")
        for d in (node.decorator_list if node else ())
    )


def is_overload(node: Definer | None) -> bool:
    """Whether a definition only declares a type, for the one that follows."""
    return any(
        (isinstance(d, ast.Name) and d.id == "overload")
        or (isinstance(d, ast.Attribute) and d.attr == "overload")
        for d in (node.decorator_list if node else ())
    )
