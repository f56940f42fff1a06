"""
---
title: Bindings
summary: One walk through a syntax tree finds everything that each scope binds.
---

# Bindings

In Python a dozen kinds of statement can give a name its meaning: an assignment, a loop,
an import, a pattern. This page walks through the syntax tree of a module once, opens a
[scope][sidebyside.scopes] where Python does, and writes down what is bound there and
what is used.
"""

import ast
import sys
from collections.abc import Callable, Iterable
from typing import Any

from sidebyside.read import Definer, Source, once, tree_of
from sidebyside.scopes import (
    CLASS,
    COMPREHENSION,
    FUNCTION,
    MODULE,
    TYPE,
    Binding,
    Kind,
    Scope,
    Scopes,
    Use,
    Way,
    class_of,
    owner_of,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
Step = Callable[["Walk", Any, Scope], None]
STEPS: dict[type[ast.AST], Step] = {}
# The fields of each type of node that may hold other nodes, the last one first. The
# nodes that say whether a name is read and what an operator does have no parts.
NO_PARTS = ("ctx", "op", "ops", "kwd_attrs")
PARTS = {
    kind: [name for name in kind._fields[::-1] if name not in NO_PARTS]
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def on(*names: str) -> Callable[[Step], Step]:
    """Register what to do at nodes of these types, if this Python has them."""

    def register(step: Step) -> Step:
        for name in names:
            if hasattr(ast, name):
                STEPS[getattr(ast, name)] = step
        return step

    return register


class Walk:
    """
    ## The walk

    It keeps its own stack, so that no program is nested too deeply for it. Each node is
    visited once, with the scope that it is in.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.module = Scope(MODULE, source.module, None)
        self.scopes = [self.module]
        self.uses: list[Use] = []
        self.definitions: list[tuple[Definer, Scope]] = []
        self.stores: list[tuple[ast.Attribute, Scope, Binding]] = []
        self.quoted: dict[int, ast.expr] = {}
        self.late: set[int] = set()
        self.groups: set[int] = set()
        self.stack: list[tuple[ast.AST, Scope]] = []
        self.through(source.tree, self.module)
        self.settle()

    def through(self, node: ast.AST, scope: Scope) -> None:
        """Visit all parts of a node, and their parts."""
        self.into(node, scope)
        while self.stack:
            node, scope = self.stack.pop()
            STEPS.get(type(node), Walk.into)(self, node, scope)

    def into(self, node: ast.AST, scope: Scope) -> None:
        """Go on with all parts of a node."""
        # `PARTS` names the last part first, so that the first one ends on top.
        for name in PARTS[type(node)]:
            part = getattr(node, name, None)
            if isinstance(part, ast.AST):
                self.stack.append((part, scope))
            elif part and isinstance(part, list):
                self.push(part, scope)

    def push(self, nodes: Iterable[ast.AST | None], scope: Scope) -> None:
        """Go on with these nodes, the first one first."""
        self.stack += [(node, scope) for node in nodes if node][::-1]

    def open(
        self, kind: Kind, name: str, parent: Scope, node: Definer | None = None
    ) -> Scope:
        """Open a scope."""
        scope = Scope(kind, name, parent, node)
        self.scopes.append(scope)
        return scope

    def assign(self, target: ast.AST, scope: Scope, binding: Binding) -> None:
        """Bind a name or an attribute; look for names in any other target."""
        match target:
            case ast.Name(id=name):
                scope.bind(name, binding)
            case ast.Attribute():
                self.stores.append((target, scope, binding))
                self.uses.append((target, scope, ""))
                self.push([target.value], scope)
            case _:
                self.push([target], scope)

    def annotation(self, node: ast.expr | None, scope: Scope) -> None:
        """
        ### Annotations

        A string in an annotation is an expression too, if it parses as one. Its
        positions are counted from its own beginning, and have to be shifted.
        """
        parts = [node] if node else []
        if node and self.annotates_late():
            self.late.update(map(id, ast.walk(node)))
        while parts:
            part = parts.pop()
            match part:
                case ast.Name():
                    continue  # as most annotations are
                case ast.Subscript(
                    value=ast.Name(id="Literal") | ast.Attribute(attr="Literal")
                ):
                    continue
                case ast.Subscript(
                    value=ast.Name(id="Annotated") | ast.Attribute(attr="Annotated"),
                    slice=ast.Tuple(elts=[first, *_]),
                ):
                    parts.append(first)
                case ast.Constant(value=str(text)):
                    if expression := parsed(part, text):
                        self.quoted[id(part)] = expression
                        self.late.update(map(id, ast.walk(expression)))
                        self.push([expression], scope)
                case _:
                    for name in PARTS[type(part)]:
                        inside = getattr(part, name, None)
                        inside = inside if isinstance(inside, list) else [inside]
                        parts += [p for p in inside if isinstance(p, ast.expr)]
        self.push([node], scope)

    def annotates_late(self) -> bool:
        """Whether Python leaves annotations alone until somebody asks for them."""
        future = self.module.bindings.get("annotations")
        declared = future is not None and future[0].origin == "__future__.annotations"
        return declared or sys.version_info >= (3, 14)

    def settle(self) -> None:
        """
        ### What can be told only at the end

        The bindings of `global` and `nonlocal` names belong to the scope that these
        words name, and `self.name = …` to the class, if `self` is the first parameter
        of a method.
        """
        for scope in self.scopes:
            for name, is_global in scope.elsewhere.items():
                owner = self.module if is_global else owner_of(name, scope)
                for binding in scope.bindings.pop(name, []):
                    if owner:
                        owner.bind(name, Binding(binding.line, binding.end, scope))
        for target, scope, binding in self.stores:
            if isinstance(target.value, ast.Name):
                owner = class_of(target.value, scope)
                if owner:
                    own = [*owner.bindings.get(target.attr, ())]
                    owner.attributes.setdefault(target.attr, own).append(binding)


@once
def scopes(source: Source) -> Scopes:
    """
    ## From a module to its scopes

    Args:
        source: the module.
    """
    walk = Walk(source)
    return Scopes(
        walk.module,
        tuple(walk.uses),
        tuple(walk.definitions),
        tuple(scope for scope in walk.scopes if scope.kind is CLASS),
        walk.quoted,
        walk.late,
    )


@once
def imports(source: Source) -> dict[str, str]:
    """The names that a module imports, each with the full name of what it means."""
    bindings = scopes(source).module.bindings
    return {name: last.origin for name, (*_, last) in bindings.items() if last.origin}


def origin_of(name: str, level: int, source: Source) -> str:
    """
    Args:
        name: what is imported, as the import spells it, without dots in front.
        level: how many dots are in front of it.
        source: the module that imports it.

    Returns:
        Its full name.
    """
    package = source.module.split(".")
    package = package if source.is_package else package[:-1]
    parents = package[: max(len(package) - level + 1, 0)] if level else []
    return ".".join([*parents, *filter(None, [name])])


def may_bring(module: Scope, name: str) -> bool | None:
    """
    Args:
        module: a module's scope.
        name: one that it has, or may have.

    Returns:
        Whether `from module import *` brings it, if it is there; `None` if there is no
        telling, because `__all__` is put together from several lists.
    """
    match module.bindings.get("__all__"):
        case [Binding(value=ast.List(elts=elts) | ast.Tuple(elts=elts))]:
            return any(isinstance(e, ast.Constant) and e.value == name for e in elts)
        case None:
            return not name.startswith("_")
        case _:
            return None


def parsed(string: ast.Constant, text: str) -> ast.expr | None:
    """A string as an expression, at its own place in the file."""
    match tree_of(text):
        case ast.Module(body=[ast.Expr(value=expression)]):
            pass
        case _:
            return None
    # This supposes one quote and no prefix. Otherwise no name is found at the place
    # worked out here, and there is no link.
    for node in ast.walk(expression):
        if isinstance(node, ast.expr):
            node.lineno += string.lineno - 1
            node.end_lineno = (node.end_lineno or 1) + string.lineno - 1
            node.col_offset += string.col_offset + 1
            node.end_col_offset = (node.end_col_offset or 0) + string.col_offset + 1
    return expression


def binding_at(at: Any, scope: Scope, **more: Any) -> Binding:
    """A binding at a node's place."""
    return Binding(at.lineno, (at.end_lineno, at.end_col_offset), scope, **more)


# ---- Names


@on("Name")
def _name(walk: Walk, node: ast.Name, scope: Scope) -> None:
    if isinstance(node.ctx, ast.Load):
        walk.uses.append((node, scope, ""))
    else:
        known = isinstance(node.ctx, ast.Store)
        scope.bind(node.id, binding_at(node, scope, known=known))


@on("Constant")
def _constant(walk: Walk, node: ast.Constant, scope: Scope) -> None:
    """Do nothing: a constant has no parts."""


@on("Attribute")
def _attribute(walk: Walk, node: ast.Attribute, scope: Scope) -> None:
    if isinstance(node.ctx, ast.Store):
        walk.stores.append((node, scope, binding_at(node, scope)))
    walk.uses.append((node, scope, ""))
    walk.stack.append((node.value, scope))


@on("JoinedStr", "TemplateStr")
def _joined(walk: Walk, node: ast.JoinedStr, scope: Scope) -> None:
    if sys.version_info >= (3, 12):
        walk.into(node, scope)
        return
    # Before, positions inside an f-string are anybody's guess. So uses are forgotten.
    stack, uses = walk.stack, walk.uses
    walk.stack, walk.uses = [], []
    walk.through(node, scope)
    walk.stack, walk.uses = stack, uses


# ---- Assignments


@on("Assign")
def _assign(walk: Walk, node: ast.Assign, scope: Scope) -> None:
    binding = binding_at(node, scope, value=node.value)
    for target in node.targets:
        walk.assign(target, scope, binding)
    walk.stack.append((node.value, scope))


@on("AnnAssign")
def _annotated(walk: Walk, node: ast.AnnAssign, scope: Scope) -> None:
    binding = binding_at(node, scope, annotation=node.annotation, value=node.value)
    walk.assign(node.target, scope, binding)
    walk.annotation(node.annotation, scope)
    walk.push([node.value], scope)


@on("AugAssign")
def _augmented(walk: Walk, node: ast.AugAssign, scope: Scope) -> None:
    walk.assign(node.target, scope, binding_at(node, scope))
    walk.stack.append((node.value, scope))


@on("NamedExpr")
def _walrus(walk: Walk, node: ast.NamedExpr, scope: Scope) -> None:
    # `:=` in a comprehension binds in the function around it.
    owner: Scope = scope
    while owner.kind is COMPREHENSION and owner.parent:
        owner = owner.parent
    owner.bind(node.target.id, binding_at(node, scope, value=node.value))
    walk.push([node.value], scope)


@on("For", "AsyncFor")
def _for(walk: Walk, node: ast.For, scope: Scope) -> None:
    walk.assign(
        node.target,
        scope,
        binding_at(node.iter, scope, value=node.iter, way=Way.ITEM),
    )
    walk.push([node.iter, *node.body, *node.orelse], scope)


@on("With", "AsyncWith")
def _with(walk: Walk, node: ast.With, scope: Scope) -> None:
    way = Way.ENTER if isinstance(node, ast.With) else Way.AENTER
    for item in node.items:
        value = item.context_expr
        if target := item.optional_vars:
            walk.assign(target, scope, binding_at(target, scope, value=value, way=way))
    walk.push([*(item.context_expr for item in node.items), *node.body], scope)


@on("TryStar")
def _try_star(walk: Walk, node: ast.TryStar, scope: Scope) -> None:
    # `except* Error as name` gives a group, and not an `Error`.
    walk.groups.update(id(handler) for handler in node.handlers)
    walk.into(node, scope)


@on("ExceptHandler")
def _except(walk: Walk, node: ast.ExceptHandler, scope: Scope) -> None:
    if node.name:
        value = None if id(node) in walk.groups else node.type
        binding = binding_at(node.type or node, scope, value=value, way=Way.RAISED)
        scope.bind(node.name, binding)
    walk.push([node.type, *node.body], scope)


@on("MatchAs", "MatchStar", "MatchMapping")
def _capture(walk: Walk, node: Any, scope: Scope) -> None:
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    if name:
        scope.bind(name, binding_at(node, scope))
    walk.into(node, scope)


@on("Global", "Nonlocal")
def _declared(walk: Walk, node: ast.Global | ast.Nonlocal, scope: Scope) -> None:
    # In a module itself, `global` changes nothing.
    for name in node.names if scope.kind is not MODULE else ():
        scope.elsewhere[name] = isinstance(node, ast.Global)


# ---- Imports


@on("Import")
def _import(walk: Walk, node: ast.Import, scope: Scope) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        origin = alias.name if alias.asname else name
        scope.bind(name, binding_at(node, scope, origin=origin))
        walk.uses.append((alias, scope, alias.name))


@on("ImportFrom")
def _import_from(walk: Walk, node: ast.ImportFrom, scope: Scope) -> None:
    origin = origin_of(node.module or "", node.level, walk.source)
    walk.uses.append((node, scope, origin))
    for alias in node.names:
        if alias.name == "*":
            walk.module.stars.append((origin, node.lineno))
            continue
        full = f"{origin}.{alias.name}"
        scope.bind(alias.asname or alias.name, binding_at(node, scope, origin=full))
        walk.uses.append((alias, scope, full))


# ---- What opens a scope


@on("FunctionDef", "AsyncFunctionDef")
def _function(walk: Walk, node: Function, scope: Scope) -> None:
    scope.bind(node.name, binding_at(node, scope, node=node))
    name = f"{scope.name}.{node.name}"
    outer = type_parameters(walk, node, scope)
    walk.definitions.append((node, outer))
    inner = walk.open(FUNCTION, name, outer, node)
    walk.push(node.body, inner)
    parameters(walk, node.args, outer, inner)
    walk.annotation(node.returns, outer)
    walk.push(node.decorator_list, scope)


@on("Lambda")
def _lambda(walk: Walk, node: ast.Lambda, scope: Scope) -> None:
    inner = walk.open(FUNCTION, f"{scope.name}.<lambda>", scope)
    walk.push([node.body], inner)
    parameters(walk, node.args, scope, inner)


def parameters(walk: Walk, node: ast.arguments, outer: Scope, inner: Scope) -> None:
    """Bind parameters inside; their types and defaults belong outside."""
    positional = [*node.posonlyargs, *node.args]
    for position, argument in enumerate([*positional, *node.kwonlyargs]):
        binding = binding_at(
            argument,
            outer,
            annotation=argument.annotation,
            position=position if position < len(positional) else -1,
            is_parameter=True,
        )
        inner.bind(argument.arg, binding)
        walk.annotation(argument.annotation, outer)
    for argument in filter(None, (node.vararg, node.kwarg)):
        inner.bind(argument.arg, binding_at(argument, outer, is_parameter=True))
        walk.annotation(argument.annotation, outer)
    walk.push([*node.defaults, *node.kw_defaults], outer)


@on("ClassDef")
def _class(walk: Walk, node: ast.ClassDef, scope: Scope) -> None:
    walk.definitions.append((node, scope))
    scope.bind(node.name, binding_at(node, scope, node=node))
    name = f"{scope.name}.{node.name}"
    outer = type_parameters(walk, node, scope)
    walk.push(node.body, walk.open(CLASS, name, outer, node))
    walk.push([*node.bases, *node.keywords], outer)
    walk.push(node.decorator_list, scope)


@on("TypeAlias")
def _alias(walk: Walk, node: Any, scope: Scope) -> None:
    scope.bind(node.name.id, binding_at(node, scope, value=node.value))
    walk.push([node.value], type_parameters(walk, node, scope))


def type_parameters(walk: Walk, node: Any, scope: Scope) -> Scope:
    """The scope of `[T]` in `def f[T]`; without a `[T]`, the scope around it."""
    found = getattr(node, "type_params", None)
    if not found:
        return scope
    inner = walk.open(TYPE, scope.name, scope)
    for parameter in found:
        inner.bind(parameter.name, binding_at(parameter, scope, known=False))
        walk.into(parameter, inner)
    return inner


@on("ListComp", "SetComp", "DictComp", "GeneratorExp")
def _comprehension(walk: Walk, node: Any, scope: Scope) -> None:
    inner = walk.open(COMPREHENSION, scope.name, scope)
    first = node.generators[0].iter
    for generator in node.generators:
        value = generator.iter
        where = scope if value is first else inner
        binding = binding_at(generator.target, where, value=value, way=Way.ITEM)
        walk.assign(generator.target, inner, binding)
        walk.push([None if value is first else value, *generator.ifs], inner)
    is_dict = isinstance(node, ast.DictComp)
    walk.push([node.key, node.value] if is_dict else [node.elt], inner)
    # The first iterable is evaluated outside, where the comprehension is.
    walk.push([first], scope)
