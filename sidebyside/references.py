"""
---
title: References
summary: Each name in the code, with its place in the text and what it stands for.
---

# References

This page goes through all the names in a module, asks [Names][sidebyside.names] what
each one stands for, and writes down where in the text it is.
"""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from sidebyside.bindings import origin_of, scopes
from sidebyside.names import Book
from sidebyside.read import Source, once

# ## References
#
# A name in the code, and what it stands for: its line, counted from 1; where it begins
# and ends in that line, in characters; what it stands for, by its full name, such as
# `labml_rl.game.Game.step`; and whether it is in an import. There are so many of these
# that they are plain tuples.
Reference = tuple[int, int, int, str, bool]


def references(book: Book, source: Source) -> tuple[Reference, ...]:
    """
    ## All references of a module

    Args:
        book: the book.
        source: one of its modules.

    Returns:
        What its names stand for, in the order of the text. Some may be documented
        nowhere.
    """
    columns = Columns(source)
    found: list[Reference | None] = []
    # Parts come after the expression that they are part of. In reverse, each part is
    # known by the time that the whole is looked at.
    for node, scope, in_import in reversed(book.modules[source.module].uses):
        match node:
            case ast.Name() if book.is_variable(node, scope):
                continue
            case ast.Name(id=name) | ast.Attribute(attr=name):
                thing = book.evaluate(node, scope)
                if thing and thing.name:
                    found.append(columns.ending(node, name, thing.name))
            case ast.alias(name=name) if in_import == name:
                found += columns.dotted(node, 0, name)
            case ast.alias(name=name):
                if thing := book.imported(in_import):
                    found.append(columns.starting(node, name, thing.name))
            # The dot of `from . import a` is not a name.
            case ast.ImportFrom(module=str(module), level=level):
                parents = in_import.removesuffix(module)
                if at := columns.behind(node, "." * level + module):
                    found += columns.dotted(node, at + level, module, parents)
    ordered = sorted(filter(None, found), key=lambda r: (r[0], r[1], -r[2]))
    return tuple(without_overlaps(ordered))


def reach(sources: Sequence[Source]) -> dict[str, set[str]]:
    """
    ## How far names lead

    A name leads from one module into another by an import, and further by the imports
    there. What the rest of a book defines makes no difference to it.

    Args:
        sources: all modules of a book.

    Returns:
        For the name of each module, the names of all modules that decide what the names
        in it stand for. The module itself is one of them.
    """
    below: defaultdict[str, set[str]] = defaultdict(set)
    for source in sources:
        parts = source.module.split(".")
        for end in range(1, len(parts) + 1):
            below[".".join(parts[:end])].add(source.module)
    modules = {source.module for source in sources}
    direct: dict[str, set[str]] = {}
    for source in sources:
        names = imported(source)
        parents = {name.rpartition(".")[0] for name in names}
        direct[source.module] = (parents & modules).union(
            *(below[name] for name in names & below.keys())
        )
    return closed(direct)


def closed(direct: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """What each module leads to, in any number of steps, and the module itself."""
    found: dict[str, set[str]] = {}
    for module in direct:
        reached = new = {module}
        while new:
            new = set().union(*(direct[name] for name in new)) - reached
            reached = reached | new
        found[module] = reached
    return found


@once
def imported(source: Source) -> set[str]:
    """
    The full names of everything a module imports. `import a.b` gives it all of `a`.
    """
    # A `*` may bring the modules of a package.
    stars = [star for star, _ in scopes(source).module.stars]
    names = {*stars, *(f"{star}.*" for star in stars)}
    for node, _, name in scopes(source).uses:
        if isinstance(node, ast.alias):
            names.add(name.partition(".")[0] if name == node.name else name)
    return names


def needs(sources: Sequence[Source]) -> dict[str, list[Source]]:
    """
    ## What a copy needs

    To copy a module, you also need those that it imports, and those that they import.

    Args:
        sources: all modules of a book.

    Returns:
        For the name of each module with code, the others that it needs, in the order of
        their names. If one of these is not in the book, the list would be too short, so
        there is none.
    """
    by_name = {source.module: source for source in sources}
    direct: dict[str, set[str]] = {}
    incomplete: set[str] = set()
    for source in sources:
        direct[source.module] = set()
        for name in imported_when_run(source):
            parts = name.split(".")
            around = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
            if module := next((each for each in around if each in by_name), ""):
                direct[source.module].add(module)
                # Of `kiln.ash.cold`, only `cold` may be something other than a module.
                if name.removeprefix(module).count(".") > 1:
                    incomplete.add(source.module)
    reached = closed(direct)
    return {
        source.module: [
            by_name[name] for name in sorted(reached[source.module] - {source.module})
        ]
        for source in sources
        if not all(is_text(node) for node in source.tree.body)
        and not incomplete & reached[source.module]
    }


def is_text(node: ast.AST) -> bool:
    """Whether a statement is nothing but a string, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@once
def imported_when_run(source: Source) -> set[str]:
    """
    The full names of everything that is imported for more than types. A name that is
    certainly that of a module is followed by `.*`.
    """
    names: set[str] = set()
    calls = "import_module" in source.text
    nodes: list[ast.AST] = [source.tree]
    while nodes:
        match nodes.pop():
            case ast.Import(names=aliases):
                names.update(f"{alias.name}.*" for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases, level=level):
                base = origin_of(module or "", level, source)
                names.update(f"{base}.{alias.name}" for alias in aliases)
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if (
                "import_module"
                in (getattr(function, "id", ""), getattr(function, "attr", ""))
            ):
                module = name.lstrip(".")
                level = len(name) - len(module)
                names.add(f"{origin_of(module, level, source)}.*")
            case ast.If(test=test, orelse=otherwise) if "TYPE_CHECKING" in (
                getattr(test, "id", ""),
                getattr(test, "attr", ""),
            ):
                nodes += otherwise
            case ast.expr() if not calls:
                pass  # Most nodes are parts of expressions, where only calls import.
            case node:
                nodes += ast.iter_child_nodes(node)
    return names


class Columns:
    """
    ## Places in the text

    The syntax tree counts columns in bytes, and this page in characters. Each place is
    compared with the text before it becomes a link; where the two differ, there is no
    link.
    """

    def __init__(self, source: Source) -> None:
        self.lines = source.lines
        self.tables: dict[int, dict[int, int]] = {}

    def character(self, line: int, column: int) -> int:
        """A column in characters; -1 if there is no such place."""
        if not 0 < line <= len(self.lines):
            return -1
        text = self.lines[line - 1]
        if text.isascii():
            return column
        if line not in self.tables:
            sizes = (len(character.encode()) for character in text)
            places = accumulate(sizes, initial=0)
            self.tables[line] = {place: at for at, place in enumerate(places)}
        return self.tables[line].get(column, -1)

    def behind(self, node: ast.ImportFrom, text: str) -> int:
        """How far after the start of an import a text begins; 0 if not after `from`."""
        column = self.character(node.lineno, node.col_offset)
        line = self.lines[node.lineno - 1][column:]
        at = len(line) - len(line.removeprefix("from").lstrip())
        return at if line.startswith(text, at) else 0

    def at(
        self, line: int, column: int, text: str, name: str, is_import: bool
    ) -> Reference | None:
        """A reference, if this text is at that place."""
        end = column + len(text)
        if column < 0 or self.lines[line - 1][column:end] != text:
            return None
        return line, column, end, name, is_import

    def ending(
        self, node: ast.Name | ast.Attribute, text: str, name: str
    ) -> Reference | None:
        """A name at the end of an expression: `c` in `a.b.c`."""
        line = node.end_lineno or node.lineno
        end = self.character(line, node.end_col_offset or 0)
        return self.at(line, end - len(text), text, name, False)

    def starting(self, node: ast.alias, text: str, name: str) -> Reference | None:
        """A name at the beginning of `name as other`."""
        column = self.character(node.lineno, node.col_offset)
        return self.at(node.lineno, column, text, name, True)

    def dotted(
        self, node: ast.alias | ast.ImportFrom, skip: int, text: str, parents: str = ""
    ) -> Iterator[Reference | None]:
        """Each part of a dotted module name."""
        column = self.character(node.lineno, node.col_offset) + skip
        full = parents
        for part in text.split("."):
            full += part
            yield self.at(node.lineno, column, part, full, True)
            column += len(part) + 1
            full += "."


def without_overlaps(references: Iterable[Reference]) -> Iterator[Reference]:
    """Odd code can make two references claim one place. The first gets it."""
    before = after = 0
    for reference in references:
        line, column, end, *_ = reference
        if line != before or column >= after:
            before, after = line, end
            yield reference
