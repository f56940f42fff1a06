"""
---
title: What is left out
summary: Definitions without prose, and arguments that their lists leave out.
---

# What is left out

A reader trusts a list of arguments to be complete, and a name in it to be a parameter.
These [rules][sidebyside.check.rules] compare the prose of definitions with their code.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sidebyside.anchors import described
from sidebyside.check.habits import has_title
from sidebyside.fields import listings
from sidebyside.findings import Finding, found
from sidebyside.prose import Prose
from sidebyside.read import Definer, Definition, Source
from sidebyside.split import split
from sidebyside.styles import NAMES, Listing
from sidebyside.things import is_overload
from sidebyside.weave import public_names

# What turns the annotations in a class into fields.
OF_FIELDS = re.compile(
    r"\b(dataclass|define|frozen|mutable|attrs|NamedTuple|TypedDict|BaseModel)\b"
)
# A decorator that leaves a class as it is.
PLAIN = re.compile(r"\b(final|total_ordering|runtime_checkable|unique|deprecated)\b")
# A field that can't be passed as an argument.
NOT_TAKEN = re.compile(r"\binit=False\b")


def without_prose(source: Source) -> Iterator[Finding]:
    """
    ## SBS401: public definitions without prose

    A comment above a definition counts as prose, as a docstring does, and so does one
    with the title of the module. Overloads, overrides, setters and stubs are spoken for
    by what they belong to.
    """
    public = public_names(source)
    if public and not (source.docstring or has_title(source)) and source.tree.body:
        yield found(
            source, 1, "SBS401", "a module without prose", "Begin it with a docstring."
        )
    for section in split(source):
        definition = section.definition
        if definition is None or section.prose.lines or is_spoken_for(definition):
            continue
        if section.scope not in public:
            continue
        yield found(
            source,
            definition.node.lineno,
            "SBS401",
            f"the {section.kind} `{section.scope}` without prose",
            "Say in a docstring what it is for.",
        )


def is_spoken_for(definition: Definition) -> bool:
    """Whether a definition has its prose elsewhere: an overload, a setter, a stub …"""
    node = definition.node
    names = {ast.unparse(decorator) for decorator in node.decorator_list}
    tails = {name.rpartition(".")[2] for name in names}
    if tails & {"overload", "override", "setter", "deleter"}:
        return True
    return definition.last == definition.header


def arguments(source: Source) -> Iterator[Finding]:
    """
    ## SBS402 and SBS403: arguments

    An `Args:` that names some parameters must name them all. `*args` and `**kwargs` may
    be left out, and so may names with an underscore.
    """
    classes = {each.name for each in source.definitions if each.is_class}
    for section in described(source).sections:
        documented = [*documented_arguments(section.prose)]
        if not documented or section.definition is None:
            continue
        is_method = section.scope.rpartition(".")[0] in classes
        names, optional, closed = parameters(section.definition.node, is_method)
        # A property may give a function whose parameters its docstring lists.
        heads = section.definition.node.decorator_list
        closed = closed and not any("property" in ast.unparse(each) for each in heads)
        for listing, name, line in documented:
            if closed and name not in names | optional:
                yield found(
                    source,
                    line,
                    "SBS402",
                    f"`{listing.written}` of `{section.scope}` has `{name}`, "
                    "which is no parameter",
                    "Name the parameter as the signature does, or remove it.",
                    at=name,
                )
        # A list of some keywords alone need not name all arguments.
        wholes = (each for each in documented if each[0].title == "Arguments")
        for listing, _, line in islice(wholes, 1):
            for name in names - {name for _, name, _ in documented}:
                yield found(
                    source,
                    line,
                    "SBS403",
                    f"`{listing.written}` of `{section.scope}` leaves `{name}` out",
                    "Say what it is.",
                )


def documented_arguments(prose: Prose) -> Iterator[tuple[Listing, str, int]]:
    """The names in lists of arguments, each with its list and its line."""
    for listing in listings(prose):
        if listing.title not in ("Arguments", "Keyword arguments", "Other arguments"):
            continue
        for entry in listing.entries:
            # `x1, x2, ...` stands for what a star takes, and `None` for nothing.
            if "..." in entry.name or entry.name == "None":
                continue
            for name in entry.name.split(","):
                if NAMES.fullmatch(name.strip()):
                    yield listing, name.strip().lstrip("*"), entry.number


def parameters(node: Definer, is_method: bool) -> tuple[set[str], set[str], bool]:
    """
    What a definition takes.

    Args:
        node: a class or a function.
        is_method: whether it is defined in a class.

    Returns:
        The names that `Args:` must have, those that it may have, and whether these are
        all: a class without an `__init__` of its own may inherit others.
    """
    if isinstance(node, ast.ClassDef):
        maker, is_closed = maker_of(node)
        if maker:
            names, extra, is_all = parameters(maker, is_method=True)
            return names, extra, is_all and is_closed
        fields = {
            statement.target.id
            for statement in node.body
            if isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and "ClassVar" not in ast.unparse(statement.annotation)
            and not statement.target.id.startswith("_")
            and not (statement.value and NOT_TAKEN.search(ast.unparse(statement.value)))
        }
        heads = [*node.decorator_list, *node.bases]
        if any(OF_FIELDS.search(ast.unparse(head)) for head in heads):
            return fields, set(), not node.bases
        # In other classes an annotation says which type an attribute has, and no more.
        return set(), fields, is_closed and not node.bases
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    named = arguments.kwonlyargs
    hidden = {a.arg for a in (*positional, *named) if a.arg.startswith("_")}
    # The first parameter of a method is the object that it is called on, whatever its
    # name. A function that is made a method later may list it, but need not.
    decorators = map(ast.unparse, node.decorator_list)
    has_object = is_method and "staticmethod" not in decorators
    if positional and (has_object or positional[0].arg in ("self", "cls")):
        hidden.add(positional[0].arg)
    names = {a.arg for a in (*positional, *named)} - hidden
    extra = {a.arg for a in (arguments.vararg, arguments.kwarg) if a}
    # What `**options` takes may be listed by name.
    return names, extra | hidden, arguments.kwarg is None


def maker_of(node: ast.ClassDef) -> tuple[Definer | None, bool]:
    """
    Args:
        node: a class.

    Returns:
        What it is made by, its `__init__` or `__new__`, and whether that is certain: a
        decorator, a metaclass or an `if` may bring in another.
    """

    def makers(statements: Iterable[ast.AST]) -> Iterator[Definer]:
        for each in statements:
            if isinstance(each, Definer) and each.name in ("__init__", "__new__"):
                yield each

    maker = next((m for m in makers(node.body) if not is_overload(m)), None)
    blocks = (each for each in node.body if isinstance(each, ast.If | ast.Try))
    is_hidden = any(next(makers(ast.walk(each)), None) for each in blocks)
    heads = (ast.unparse(each) for each in node.decorator_list)
    is_plain = all(PLAIN.search(each) or OF_FIELDS.search(each) for each in heads)
    return maker, is_plain and not node.keywords and not is_hidden
