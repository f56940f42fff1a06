"""
---
title: Scopes
summary: Which names a module binds, where, and what it says about each.
---

# Scopes

The name `step` can be a dozen things in one file: a method here, a parameter there, a
loop variable somewhere else. Which one a line means is decided by *scope*, and Python's
rules for that are exact. This page defines the terms for two things: what each scope
binds, and where names are used. [Bindings][sidebyside.bindings] writes both down, and
[Names][sidebyside.names] then brings the two together.
"""

import ast
import builtins
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from sidebyside.read import Definer


class Kind(Enum):
    """What opened a scope."""

    MODULE = auto()
    CLASS = auto()
    FUNCTION = auto()
    COMPREHENSION = auto()
    TYPE = auto()  # the type parameters of `def f[T]` and `class C[T]`


# Every name asks for these, and Python 3.11 is slow to find a member of an enumeration.
MODULE, CLASS, FUNCTION, COMPREHENSION, TYPE = Kind


class Way(Enum):
    """How a name gets its value, where that is not by a plain `=`."""

    PLAIN = auto()
    ITEM = auto()  # for name in value
    ENTER = auto()  # with value as name
    AENTER = auto()  # async with value as name
    RAISED = auto()  # except value as name


# A line and a column, as the syntax tree counts them.
Position = tuple[int, int]


class Binding(NamedTuple):
    """
    ## Bindings

    One place where a name gets a meaning. A name can have several.

    Args:
        line: where its statement begins.
        end: where that statement ends; until then, the name had another meaning.
        scope: the scope of its annotation and its value.
        node: the class or function, if it is a definition.
        origin: the full name of what was imported, if it is an import.
        annotation: the type that it is given there.
        value: the expression that it comes from.
        way: how it comes from there.
        position: its position, if it is a positional parameter; -1 for anything else.
        is_parameter: whether it is a parameter of any sort.
        known: false if all that is certain is *that* something is bound.
    """

    line: int
    end: Position
    scope: "Scope"
    node: Definer | None = None
    origin: str = ""
    annotation: ast.expr | None = None
    value: ast.expr | None = None
    way: Way = Way.PLAIN
    position: int = -1
    is_parameter: bool = False
    known: bool = True


@dataclass(eq=False, slots=True)
class Scope:
    """
    ## Scopes

    Args:
        kind: what opened it.
        name: the qualified name of what opened it, including the module's.
        parent: the scope around it.
        node: the class or function; `None` for the others.
        bindings: what it binds.
        elsewhere: the names that it declares `global` or `nonlocal`.
        attributes: for a class, what its methods assign to `self`, after what the class
            itself assigns to the same name.
        stars: for a module, the modules that it imports `*` from, with the line.
        found: for a function, what has been looked up in it already.
    """

    kind: Kind
    name: str
    parent: "Scope | None" = field(repr=False)
    node: Definer | None = field(default=None, repr=False)
    bindings: dict[str, list[Binding]] = field(default_factory=dict, repr=False)
    elsewhere: dict[str, bool] = field(default_factory=dict, repr=False)
    attributes: dict[str, list[Binding]] = field(default_factory=dict, repr=False)
    stars: list[tuple[str, int]] = field(default_factory=list, repr=False)
    found: dict[str, "Found | None"] = field(default_factory=dict, repr=False)

    def bind(self, name: str, binding: Binding) -> None:
        """Write down that the name is bound here."""
        self.bindings.setdefault(name, []).append(binding)

    def around(self, kind: Kind) -> "Scope | None":
        """The nearest scope of a kind, which may be this one."""
        scope: Scope | None = self
        while scope and scope.kind is not kind:
            scope = scope.parent
        return scope


# ## Uses
#
# A place where a name is used: the name, the attribute, or the part of an import; the
# scope that it is in; and for a part of an import, the name in full. There are so many
# of these that they are plain tuples.
Use = tuple[ast.Name | ast.Attribute | ast.alias | ast.ImportFrom, Scope, str]


@dataclass(frozen=True)
class Scopes:
    """
    ## All of a module

    Args:
        module: the outermost scope.
        uses: where names are used. An expression comes before its parts.
        definitions: every class and function with the scope that its name is bound in
            or, if it has type parameters, with theirs.
        classes: the scope that each class opened.
        quoted: annotations in quotes, by the identity of the string, as expressions.
        late: what is looked up only after the whole module has run, by identity.
    """

    module: Scope
    uses: tuple[Use, ...] = field(repr=False)
    definitions: tuple[tuple[Definer, Scope], ...] = field(repr=False)
    classes: tuple[Scope, ...] = field(repr=False)
    quoted: dict[int, ast.expr] = field(repr=False)
    late: set[int] = field(repr=False)


# A scope, and what it binds a name to.
Found = tuple[Scope, list[Binding]]


def find(name: str, scope: Scope, at: Position, late: bool = False) -> Found | None:
    """
    ## Looking a name up

    From the inside out, as Python does. The body of a class is seen by the statements
    directly in it, and by nothing inside them: a method doesn't see its neighbours.

    In a module and in a class, a name has its outer meaning until it is bound:
    `list = list(x)` calls the built-in. In a function it is the function's own
    throughout.

    Args:
        name: the name.
        scope: where it is used.
        at: where in the text it is used.
        late: whether it is in an annotation that may name a class of the module that
            comes only later.

    Returns:
        The scope that binds it, with the bindings; `None` if no scope does.
    """
    # In a function the place does not matter, and most names occur more than once.
    if scope.kind is not FUNCTION:
        return search(name, scope, at, late)
    if name not in scope.found:
        scope.found[name] = search(name, scope, at)
    return scope.found[name]


def search(name: str, scope: Scope, at: Position, late: bool = False) -> Found | None:
    """Look up a name that has not been looked up before."""
    here: Scope | None = scope
    direct = in_order = True
    too_early = None
    while here:
        kind = here.kind
        if direct or kind is not CLASS:
            if here.elsewhere.get(name):
                here, direct, in_order = here.around(MODULE), False, False
                continue
            in_order = in_order and kind is not FUNCTION
            if bindings := here.bindings.get(name):
                if not (in_order and is_early(bindings, kind, at, late)):
                    return here, bindings
                # An annotation may look ahead. So remember these bindings, in case the
                # name has no outer meaning.
                too_early = too_early or (here, bindings)
        direct = direct and kind is TYPE
        here = here.parent
    return None if hasattr(builtins, name) else too_early


def is_early(bindings: list[Binding], kind: Kind, at: Position, late: bool) -> bool:
    """Whether a name of a module or a class does not have its own meaning yet."""
    if late and kind is MODULE and isinstance(bindings[0].node, ast.ClassDef):
        return False
    return kind in (MODULE, CLASS) and at < begins(bindings)


def begins(bindings: list[Binding]) -> Position:
    """
    Where a name of a module or a class begins to have its own meaning. `x: int` alone
    gives it none.
    """
    ends = (b.end for b in bindings if b.value or not b.annotation)
    return next(ends, (sys.maxsize, 0))


def variables(module: Scopes) -> Iterator[tuple[str, int]]:
    """
    ## What a module assigns to

    The variables of the module and of its classes, and what methods assign to `self`.
    Of several assignments the first counts or, to `self`, the first in `__init__`.

    Args:
        module: the module.

    Returns:
        The full name of each, with the line of its definition.
    """
    for scope in (module.module, *module.classes):
        for name, bindings in scope.bindings.items():
            if not any(b.node or b.origin or not b.known for b in bindings):
                yield f"{scope.name}.{name}", bindings[0].line
        for name, bindings in scope.attributes.items():
            if name not in scope.bindings:
                early = [b for b in bindings if b.scope.name.endswith(".__init__")]
                yield f"{scope.name}.{name}", (early or bindings)[0].line


def owner_of(name: str, scope: Scope) -> Scope | None:
    """The function around a scope that owns a `nonlocal` name."""
    here = scope.parent
    while here:
        owns = name in here.bindings and name not in here.elsewhere
        if here.kind is FUNCTION and owns:
            return here
        here = here.parent
    return None


def class_of(node: ast.Name, scope: Scope) -> Scope | None:
    """The class whose method has this name as its first parameter."""
    found = find(node.id, scope, (node.lineno, node.col_offset))
    if not found:
        return None
    owner, bindings = found
    is_first = len(bindings) == 1 and bindings[0].position == 0
    return method_of(owner) if is_first else None


def method_of(scope: Scope) -> Scope | None:
    """The class that a function is a method of, unless it is static."""
    parent = scope.parent
    if parent and parent.kind is TYPE:
        parent = parent.parent
    if not parent or parent.kind is not CLASS or scope.node is None:
        return None
    decorators = scope.node.decorator_list
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in decorators)
    return None if static else parent
