"""
---
title: Names
summary: What each name in the code stands for, if that is certain.
---

# Names

In the code on a page, a name leads to its definition. Python's own rules decide which
one it means, from [what each scope binds][sidebyside.scopes]; that two things are
spelled alike counts for nothing. The type of `self.options` is known if it is written
down somewhere, and so `self.options.stack` leads to the field of that class.

A wrong link is worse than none. Where a name could mean two things, say a module or
what stands in for it if the import fails, it leads nowhere.
"""

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence

from sidebyside.bindings import may_bring, scopes
from sidebyside.inventory import Entry
from sidebyside.read import Definer, Source
from sidebyside.scopes import (
    CLASS,
    COMPREHENSION,
    FUNCTION,
    MODULE,
    Binding,
    Position,
    Scope,
    Scopes,
    Way,
    find,
    method_of,
)
from sidebyside.things import (
    CALLABLE,
    COROUTINE,
    DISPLAYS,
    ENUMS,
    FAITHFUL,
    ITERABLE,
    MANAGER,
    MANAGERS,
    OPTIONAL,
    PROPERTIES,
    Thing,
    Type,
    What,
    awaited,
    is_overload,
    is_sequel,
    item_of,
    merged,
    named_outside,
    value_of,
)

# Expressions nested or linked deeper than this are left alone.
DEPTH = 40
LOCAL = (FUNCTION, COMPREHENSION)
# What is asked for most. Python 3.11 is slow to find a member of an enumeration.
VALUE, OUTSIDE = What.VALUE, What.OUTSIDE


class Book:
    """
    ## The book

    All modules together, so that names can be followed from one to another.

    Args:
        sources: the modules.
        outside: [what is documented elsewhere][sidebyside.inventory], by full name.
    """

    def __init__(
        self, sources: Iterable[Source], outside: Mapping[str, Entry] | None = None
    ) -> None:
        self.outside = outside or {}
        self.modules: dict[str, Scopes] = {s.module: scopes(s) for s in sources}
        self.packages = {module.partition(".")[0] for module in self.modules}
        self.classes: dict[str, Scope] = {}
        self.functions: dict[str, list[tuple[Definer, Scope]]] = {}
        self.quoted: dict[int, ast.expr] = {}
        self.late: set[int] = set()
        for module in self.modules.values():
            self.quoted |= module.quoted
            self.late |= module.late
            for node, scope in module.definitions:
                name = f"{scope.name}.{node.name}"
                self.functions.setdefault(name, []).append((node, scope))
            self.classes |= {scope.name: scope for scope in module.classes}
        # Two classes or two functions of one name: there is no telling which of them a
        # name inside belongs to.
        self.doubtful = {n for n, found in self.functions.items() if len(found) > 1}
        # What was found out is remembered: by the identity of a node or of a list of
        # bindings, and otherwise by name.
        self.known: dict[int, Thing | None] = {}
        self.meanings: dict[int, Thing | None] = {}
        self.exported: dict[tuple[str, str], bool] = {}
        self.starred: dict[tuple[str, str], Thing | None] = {}
        self.orders: dict[str, tuple[str, ...]] = {}
        self.depth = 0

    # ---- Names

    def look_up(
        self, name: str, scope: Scope, at: Position, late: bool = False
    ) -> Thing | None:
        """
        ### A name in a scope

        A name that no scope binds is a built-in, unless a module imports `*` from
        somewhere unknown.
        """
        if found := find(name, scope, at, late):
            owner, bindings = found
            if owner.stars and not late:
                # Until the module binds it, it is what a `*` above has brought.
                waits = at < bindings[0].end and not scope.around(FUNCTION)
                above = (star for star, line in owner.stars if waits and line < at[0])
                if any(self.is_exported_by(name, star) for star in above):
                    return self.from_stars(name, owner)
            return self.meaning(name, owner, bindings)
        module = scope.around(MODULE)
        if module and module.stars:
            if any(star not in self.modules for star, _ in module.stars):
                return None
            thing = self.from_stars(name, module)
            if thing or self.is_exported(name, module):
                return thing
        return named_outside(name) if hasattr(builtins, name) else None

    def meaning(
        self, name: str, scope: Scope, bindings: Sequence[Binding]
    ) -> Thing | None:
        """
        ### A name with its bindings

        Several bindings are fine if they make one thing together: the getter and the
        setter of a property, the assignments to one variable. A function here and an
        import there is too much, and so are two functions.
        """
        key = id(bindings)
        if key not in self.meanings:
            self.meanings[key] = None
            self.meanings[key] = self._meaning(name, scope, bindings)
        return self.meanings[key]

    def _meaning(
        self, name: str, scope: Scope, bindings: Sequence[Binding]
    ) -> Thing | None:
        first = bindings[0]
        full = f"{scope.name}.{name}"
        if not (
            first.known
            and (len(bindings) == 1 or are_alike(bindings))
            and not self.is_doubtful(name, scope, first)
        ):
            return None
        if first.node:
            sort = What.CLASS if isinstance(first.node, ast.ClassDef) else What.FUNCTION
            same = all(is_sequel(b.node, name) for b in bindings[1:]) or all(
                is_overload(b.node) for b in bindings[:-1]
            )
            return Thing(sort, full, Type(full)) if same else None
        if first.origin:
            return self.imported(first.origin)
        if first.value and first.scope is scope and self.is_enum(scope):
            return Thing(VALUE, full, Type(scope.name))
        value = self.type_of(bindings, scope)
        if scope.kind in (MODULE, CLASS):
            return Thing(VALUE, full, value.type if value else None)
        return value and value._replace(name="")

    def is_enum(self, scope: Scope) -> bool:
        """Whether what a class assigns to is a member of it, and not what it seems."""
        return scope.kind is CLASS and bool({*self.order(scope.name)} & ENUMS)

    def is_doubtful(self, name: str, scope: Scope, first: Binding) -> bool:
        """
        Whether a name may come from a later `*`, or its scope exists twice. A `*` that
        brings what an import has already brought changes nothing.
        """
        if scope.name in self.doubtful:
            return True
        if not scope.stars:
            return False
        later = {
            star
            for star, line in scope.stars
            if line > first.line and self.is_exported_by(name, star)
        }
        if not later:
            return False
        if not first.origin or not later <= self.modules.keys():
            return True
        things = {self.member_of_module(star, name) for star in later}
        return things != {self.imported(first.origin)}

    def imported(self, origin: str) -> Thing | None:
        """What a full name stands for, as an import finds it."""
        if origin.partition(".")[0] not in self.packages:
            return named_outside(origin)
        module, _, name = origin.rpartition(".")
        if module in self.modules and (thing := self.member_of_module(module, name)):
            return thing
        return Thing(What.MODULE, origin) if origin in self.modules else None

    def member_of_module(self, module: str, name: str) -> Thing | None:
        """What a module of the book has under a name."""
        scope = self.modules[module].module
        if bindings := scope.bindings.get(name):
            return self.guarded(lambda: self.meaning(name, scope, bindings))
        if thing := self.guarded(lambda: self.from_stars(name, scope)):
            return thing
        inner = f"{module}.{name}"
        return Thing(What.MODULE, inner) if inner in self.modules else None

    def from_stars(self, name: str, module: Scope) -> Thing | None:
        """A name that came with `from module import *`, if all of these agree on it."""
        key = (module.name, name)
        if key not in self.starred:
            self.starred[key] = None
            stars = {s for s, _ in module.stars if self.is_exported_by(name, s)}
            things = {
                self.member_of_module(star, name)
                if star in self.modules and may_bring(self.modules[star].module, name)
                else None
                for star in stars
            }
            self.starred[key] = things.pop() if len(things) == 1 else None
        return self.starred[key]

    def is_exported(self, name: str, module: Scope) -> bool:
        """Whether any `*` of a module brings this name."""
        return any(self.is_exported_by(name, star) for star, _ in module.stars)

    def is_exported_by(self, name: str, module: str) -> bool:
        """Whether `from module import *` brings this name, as far as one can tell."""
        key = (module, name)
        if key not in self.exported:
            # Modules that import `*` from each other bring nothing by that.
            self.exported[key] = False
            self.exported[key] = self._is_exported_by(name, module)
        return self.exported[key]

    def _is_exported_by(self, name: str, module: str) -> bool:
        if module not in self.modules:
            return True
        scope = self.modules[module].module
        brings = may_bring(scope, name)
        if brings is False or (brings and "__all__" in scope.bindings):
            return brings
        has = name in scope.bindings or f"{module}.{name}" in self.modules
        return has or self.is_exported(name, scope)

    def is_variable(self, node: ast.Name, scope: Scope) -> bool:
        """
        Whether a name is that of a variable in a function. Such a variable leads
        nowhere, and what it holds matters only where an attribute of it is asked for.
        """
        owner, bindings = scope, scope.bindings.get(node.id)
        # Most names are bound in this very scope, and need not be looked for.
        if not (bindings and scope.kind in LOCAL) and scope.kind is not MODULE:
            at = node.lineno, node.col_offset
            owner, bindings = find(node.id, scope, at) or (scope, None)
        if not bindings or owner.kind not in LOCAL:
            return False
        return not (bindings[0].node or bindings[0].origin)

    # ---- Expressions

    def evaluate(self, node: ast.expr | None, scope: Scope) -> Thing | None:
        """
        ### An expression

        Each is looked at once. Those that depend on each other in a circle, or come at
        the end of a very long chain, stay unknown.
        """
        if node is None:
            return None
        key = id(node)
        if key not in self.known:
            self.known[key] = None
            if self.depth < DEPTH:
                self.depth += 1
                self.known[key] = self._evaluate(node, scope)
                self.depth -= 1
        return self.known[key]

    def guarded(self, ask: Callable[[], Thing | None]) -> Thing | None:
        """Ask, unless too many questions are already waiting for this answer."""
        if self.depth >= DEPTH:
            return None
        self.depth += 1
        thing = ask()
        self.depth -= 1
        return thing

    def _evaluate(self, node: ast.expr, scope: Scope) -> Thing | None:
        thing: Thing | None = None
        match node:
            case ast.Name(id=name):
                at = node.lineno, node.col_offset
                thing = self.look_up(name, scope, at, id(node) in self.late)
            case ast.Attribute(value=value, attr=name):
                base = self.evaluate(value, scope)
                thing = base and self.member(base, name, scope)
            case ast.Call(func=function):
                called = self.evaluate(function, scope)
                thing = called and self.result(called, node, scope)
            case ast.Subscript(value=value):
                whole = self.evaluate(value, scope)
                thing = whole and self.part(whole, node, scope)
            case ast.Constant(value=str() | bytes() as value):
                thing = Thing(VALUE, type=Type(type(value).__name__))
            case ast.NamedExpr(value=value):
                inner = self.evaluate(value, scope)
                thing = inner and inner._replace(name="")
            case ast.Await(value=value):
                inner = self.evaluate(value, scope)
                thing = inner and value_of(awaited(inner.type))
            case ast.BoolOp(op=ast.Or(), values=values):
                thing = self.common(values, scope)
            case ast.IfExp(body=body, orelse=orelse):
                thing = self.common([body, orelse], scope)
            case _ if type(node) in DISPLAYS:
                thing = Thing(VALUE, type=Type(DISPLAYS[type(node)]))
        return thing

    def common(self, nodes: Sequence[ast.expr], scope: Scope) -> Thing | None:
        """The value of `a or b`, or `a if x else b`, if its parts agree on a type."""
        things = [
            self.evaluate(node, scope)
            for node in nodes
            if not (isinstance(node, ast.Constant) and node.value is None)
        ]
        kinds = {t.type if t and t.what is VALUE else None for t in things}
        return value_of(kinds.pop()) if len(kinds) == 1 else None

    def member(self, base: Thing, name: str, scope: Scope) -> Thing | None:
        """
        ### `base.name`

        Args:
            base: what comes before the dot.
            name: what comes after it.
            scope: where this is used, since `__names` are private to their class.
        """
        what, full, kind = base
        if what is OUTSIDE and full:
            return named_outside(f"{full}.{name}")
        if what is What.MODULE:
            return self.member_of_module(full, name)
        if what in (OUTSIDE, What.FUNCTION) or not (kind and kind.name):
            return None
        is_private = name.startswith("__") and not name.endswith("__")
        if is_private and not self.is_own(name, base, scope):
            return None
        found = self.inherited(kind.name, name, skip=what is What.SUPER)
        if found and found.what is What.FUNCTION:
            # What it may return as `Self`.
            found = found._replace(type=kind)
        if found and what is not What.CLASS:
            return self.bound(found)
        return found

    def is_own(self, name: str, base: Thing, scope: Scope) -> bool:
        """
        Whether `base.__name` is what the class around it has under that name: Python
        looks for `_Class__name`, with the class in which the expression is written.
        """
        around = scope.around(CLASS)
        return (
            around is not None
            and base.what is not What.SUPER
            and base.type is not None
            and around.name == base.type.name
            and (name in around.bindings or name in around.attributes)
        )

    def inherited(self, of: str, name: str, skip: bool = False) -> Thing | None:
        """
        ### Looking through a class and its bases

        The search goes in Python's order. It ends at the first base that is not in the
        book: there is no telling what that has.
        """
        for base in self.order(of)[skip:]:
            scope = self.classes.get(base)
            if scope is None:
                outside = f"{base}.{name}"
                return named_outside(outside) if outside in self.outside else None
            if base in self.doubtful:
                return None
            own = scope.bindings.get(name)
            # Assigning to a property calls its setter, and hides nothing.
            is_hidden = not (own and own[0].node)
            if bindings := (is_hidden and scope.attributes.get(name)) or own:
                return self.meaning(name, scope, bindings)
        return None

    def order(self, name: str) -> tuple[str, ...]:
        """
        ### The order of bases

        The C3 linearization, as Python computes it. A base that can't be resolved is
        an empty name, where every search ends.
        """
        if name not in self.orders:
            self.orders[name] = (name, "")
            if self.depth >= DEPTH:
                return self.orders[name]
            scope = self.classes.get(name)
            if scope is None or not isinstance(scope.node, ast.ClassDef):
                self.orders[name] = (name,)
            elif scope.parent:
                bases = [
                    self.name_of_base(base, scope.parent) for base in scope.node.bases
                ]
                # Python drops it, too, if another base has parameters.
                bases = [base for base in bases if base != "typing.Generic"]
                self.depth += 1
                order = (name, *merged(bases, [*map(self.order, bases)]))
                self.depth -= 1
                self.orders[name] = order if len(order) < DEPTH else (name, "")
        return self.orders[name]

    def name_of_base(self, node: ast.expr, scope: Scope) -> str:
        """The full name of a base class; empty if unknown."""
        thing = self.evaluate(node, scope)
        if thing and thing.what in (What.CLASS, OUTSIDE) and thing.type:
            return thing.type.name
        return ""

    def bound(self, thing: Thing) -> Thing:
        """What an attribute gives on an instance: a property gives its value."""
        if thing.what is not What.FUNCTION:
            return thing
        node, scope = self.functions[thing.name][0]
        if not self.decorators(node, scope) & PROPERTIES:
            return thing
        returned = self.returned(node, scope, thing.type)
        return Thing(VALUE, thing.name, returned)

    def decorators(self, node: Definer, scope: Scope) -> set[str]:
        """The full names of a definition's decorators; empty for those not known."""
        names = set()
        for decorator in node.decorator_list:
            bare = decorator.func if isinstance(decorator, ast.Call) else decorator
            thing = self.evaluate(bare, scope)
            names.add(thing.name if thing else "")
        return names

    def result(self, called: Thing, node: ast.Call, scope: Scope) -> Thing | None:
        """### What a call returns"""
        match called:
            case Thing(What.OUTSIDE, name="super"):
                return self.above(node, scope)
            case Thing(What.CLASS, type=kind):
                return Thing(VALUE, type=kind)
            case Thing(What.OUTSIDE, type=Type(name=name)) if entry := self.outside.get(
                name
            ):
                return Thing(VALUE, type=called.type) if entry.is_class else None
            case Thing(What.FUNCTION, name=name, type=kind):
                return value_of(self.called(name, kind))
            case Thing(What.VALUE, type=Type(name=name, parameters=(*_, returned))) if (
                name in CALLABLE
            ):
                return value_of(returned)
        return None

    def above(self, node: ast.Call, scope: Scope) -> Thing | None:
        """What `super()` gives, or `super(Class, self)`."""
        if node.args:
            first = self.evaluate(node.args[0], scope)
            if first and first.what is What.CLASS:
                return Thing(What.SUPER, type=first.type)
            return None
        function = scope.around(FUNCTION)
        owner = method_of(function) if function else None
        return Thing(What.SUPER, type=Type(owner.name)) if owner else None

    def called(self, name: str, of: Type | None) -> Type | None:
        """
        The type that a function of the book returns, if it says so; as a method, `of`
        an object of some type.
        """
        (definition, scope), *others = self.functions[name]
        if others:
            return None
        decorators = self.decorators(definition, scope)
        kind = self.returned(definition, scope, of)
        if decorators & MANAGERS and len(decorators) == 1 and kind and kind.parameters:
            return Type(MANAGER, kind.parameters[:1])
        if not decorators <= FAITHFUL:
            return None
        # A function that is `async` returns what has to be awaited, unless it yields.
        waits = isinstance(definition, ast.AsyncFunctionDef)
        yields = kind and kind.name in ITERABLE and ".Async" in kind.name
        if waits and kind and not yields:
            return Type(COROUTINE, (kind,))
        return kind

    def returned(self, node: Definer, scope: Scope, of: Type | None) -> Type | None:
        """The type in the signature of a function."""
        if isinstance(node, ast.ClassDef):
            return None
        return self.annotated(node.returns, scope, of)

    def part(self, whole: Thing, node: ast.Subscript, scope: Scope) -> Thing | None:
        """### `whole[…]`: parameters of a class, or a part of a value"""
        if whole.what in (What.CLASS, OUTSIDE) and whole.type:
            inside = node.slice
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            # `tuple[X, ...]` is to `tuple` what `list[X]` is to `list`.
            kinds = tuple(
                self.annotated(part, scope)
                for part in parts
                if not (isinstance(part, ast.Constant) and part.value is ...)
            )
            return Thing(whole.what, type=Type(whole.type.name, kinds))
        kind = whole.type
        if whole.what is not VALUE or kind is None:
            return None
        if isinstance(node.slice, ast.Slice):
            # What `__getitem__` makes of a slice may be anything.
            return None if kind.name in self.classes else whole._replace(name="")
        if kind.name == "dict" and len(kind.parameters) == 2:
            return value_of(kind.parameters[1])
        is_list = kind.name in ("list", "collections.abc.Sequence", "collections.deque")
        return value_of(item_of(kind)) if is_list else None

    # ---- Types

    def type_of(self, bindings: Sequence[Binding], scope: Scope) -> Thing | None:
        """
        ### The type of a variable

        What its annotation says or, if it is bound only once, what its value shows.

        Returns:
            A value of that type, or a class if the variable is `cls`.
        """
        declared = [b for b in bindings if b.annotation]
        kinds = {self.annotated(b.annotation, b.scope) for b in declared}
        only, *others = bindings
        # A parameter that is assigned to may become anything.
        if declared and not (others and declared[0].is_parameter):
            return value_of(kinds.pop()) if len(kinds) == 1 else None
        if others:
            return None
        if only.position == 0:
            owner = method_of(scope)
            if owner and not only.annotation and scope.node:
                return self.self_of(owner, scope.node)
        if only.value is None:
            return None
        thing = self.evaluate(only.value, only.scope)
        return thing and self.by_way(only.way, thing)

    def self_of(self, owner: Scope, node: Definer) -> Thing | None:
        """What the first parameter of a method is: an instance, or the class."""
        decorators = self.decorators(node, owner)
        implicit = ("__new__", "__init_subclass__", "__class_getitem__")
        is_class = "classmethod" in decorators or node.name in implicit
        what = What.CLASS if is_class else VALUE
        return Thing(what, type=Type(owner.name))

    def by_way(self, way: Way, thing: Thing) -> Thing | None:
        """What `for`, `with` or `except` make of a value."""
        kind = thing.type
        match way:
            case Way.PLAIN if thing.what is VALUE:
                return Thing(VALUE, type=kind)
            case Way.ITEM if thing.what is VALUE and kind:
                return value_of(item_of(kind))
            case Way.ENTER if thing.what is VALUE and kind:
                return self.entered(kind, "__enter__")
            case Way.AENTER if thing.what is VALUE and kind:
                return self.entered(kind, "__aenter__")
            case Way.RAISED if thing.what in (What.CLASS, OUTSIDE):
                return value_of(kind)
        return None

    def entered(self, kind: Type, name: str) -> Thing | None:
        """What `with value as name` binds the name to."""
        if kind.name == MANAGER:
            return value_of(kind.parameters[0])
        entering = self.inherited(kind.name, name)
        if entering and entering.what is What.FUNCTION:
            returned = self.called(entering.name, kind)
            return value_of(awaited(returned) or returned)
        return None

    def annotated(
        self, node: ast.expr | None, scope: Scope, of: Type | None = None
    ) -> Type | None:
        """
        ### The type that an annotation names

        `X | None` is taken for `X`: code that asks for an attribute has made sure that
        the value is not `None`. Any other choice between types is unknown.
        """
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = self.quoted.get(id(node))
        match node:
            case (
                ast.BinOp(op=ast.BitOr(), left=sole, right=ast.Constant(value=None))
                | ast.BinOp(op=ast.BitOr(), left=ast.Constant(value=None), right=sole)
            ):
                return self.annotated(sole, scope, of)
        thing = self.evaluate(node, scope)
        if thing is None or thing.what not in (What.CLASS, OUTSIDE):
            return None
        kind = thing.type
        if kind and kind.name == "typing.Self":
            owner = scope.around(CLASS)
            return (of or Type(owner.name)) if owner else None
        if kind and kind.name in OPTIONAL:
            return kind.parameters[0] if kind.parameters else None
        return kind


def are_alike(bindings: Sequence[Binding]) -> bool:
    """Whether all of these are definitions of one sort, one import, or assignments."""
    return len({(type(b.node), b.origin, b.known) for b in bindings}) == 1
