"""
The shapes that the book states, compared with those that are seen when it runs.

A shape stands behind a line, as `# (T, N)`, or in a docstring, as "shape `(T, N)`" of
an argument, of an attribute or of what is returned. Within one call a letter is one
number, wherever it stands. A dimension that is called like a variable or an attribute
is the number which that has.
"""

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

Shape = tuple[str, ...]
Assigns = ast.Assign | ast.AnnAssign | ast.Return
RETURN = "return"

HEADER = re.compile(r"(Args|Returns|Yields|Raises):")
ENTRY = re.compile(r"(\w+): +(.*)")
# Up to the end of a sentence.
REST = r"(?:(?!\. )[^`])*"
STATED = re.compile(
    rf"\bshape `(\([^`]*\))`((?:{REST}\bor\b{REST}`\([^`]*\)`)*)", re.IGNORECASE
)
COMMENT = re.compile(r"# (\(.*)")
LETTER = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?'*")


@dataclass(frozen=True)
class Claim:
    """
    Args:
        path: the file that makes it.
        line: where it stands.
        what: an expression; or the name of an argument or an attribute; or `return` for
            what a call returns, and `return 0` for the first part of that.
        shapes: one of these is said to be its shape.
        each: of several things that are returned, each is said to have it.
    """

    path: str
    line: int
    what: str
    shapes: tuple[Shape, ...]
    each: bool = False

    @property
    def is_returned(self) -> bool:
        """Whether it is said of what a call returns."""
        return self.what.partition(" ")[0] == RETURN

    def __str__(self) -> str:
        said = " or ".join(f"({', '.join(shape)})" for shape in self.shapes)
        return f"{self.path}:{self.line}: {self.what}: {said}"


@dataclass
class Claims:
    """
    What a function or a class says.

    Args:
        entries: in its docstring.
        behind: after its statements, by the lines of each.
    """

    entries: list[Claim] = field(default_factory=list)
    behind: dict[range, list[Claim]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Claim]:
        yield from self.entries
        for claims in self.behind.values():
            yield from claims


# --- reading ---


def shape_of(text: str) -> Shape:
    """The dimensions of `(T, N)`."""
    inner = text.strip().removeprefix("(").removesuffix(")")
    return tuple(each.strip() for each in inner.split(",") if each.strip())


def stated(text: str) -> list[tuple[Shape, ...]]:
    """All shapes in a description, each with those that it may be instead."""
    return [
        tuple(map(shape_of, [first, *re.findall(r"`(\([^`]*\))`", others)]))
        for first, others in STATED.findall(text)
    ]


def described(doc: str) -> Iterator[tuple[str, str, int]]:
    """
    The descriptions in a docstring.

    Yields:
        The name of an argument or `return`, its description on one line, and in which
        line of the docstring that begins.
    """
    found: list[tuple[str, list[str], int]] = []
    kind, indent = "", None
    for number, line in enumerate(doc.splitlines()):
        bare, here = line.strip(), len(line) - len(line.lstrip())
        if match := HEADER.fullmatch(bare):
            kind, indent = match[1], None
            if kind == "Returns":
                found.append((RETURN, [], number))
        elif kind in ("Args", "Returns") and bare:
            indent = here if indent is None else indent
            entry = ENTRY.fullmatch(bare)
            if here < indent:
                kind = ""
            elif kind == "Args" and here == indent and entry:
                found.append((entry[1], [entry[2]], number))
            else:
                found[-1][1].append(bare)
    for name, text, number in found:
        yield name, " ".join(text), number


def entries(node: Any, path: str) -> list[Claim]:
    """What the docstring of a function or a class says."""
    found: list[Claim] = []
    before: tuple[Shape, ...] = ()
    first = node.body[0].lineno
    for name, text, number in described(ast.get_docstring(node, clean=False) or ""):
        line = first + number
        shapes = stated(text)
        if name == RETURN:
            each = "all of shape" in text
            for part, shape in enumerate(shapes):
                what = f"{RETURN} {part}" if len(shapes) > 1 else RETURN
                found.append(Claim(path, line, what, shape, each))
            continue
        if not shapes and before and re.search(r"\bthe same\b", text):
            shapes = [before]
        before = shapes[0] if shapes else ()
        # What a function gives, or what is in a dictionary, has no name here.
        if shapes and not re.match(r"gives\b|.*\bof shape\b", text):
            found.append(Claim(path, line, name, shapes[0]))
    return found


def behind(node: Assigns, comment: str, path: str) -> list[Claim]:
    """
    What a comment behind a statement says: a shape for all that it assigns or returns,
    or one for each.
    """
    said = [
        tuple(map(shape_of, re.findall(r"\([^()]*\)", each)))
        for each in re.split(r"(?<=\)), (?=\()", comment)
    ]
    line = node.end_lineno or 0
    if isinstance(node, ast.Return):
        several = [f"{RETURN} {part}" for part in range(len(said))]
        names = several if len(said) > 1 else [RETURN]
    else:
        (target,) = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [ast.unparse(part) for part in parts]
        said = said * len(names) if len(said) == 1 else said
    assert len(names) == len(said), f"{path}:{line}: {comment} of {', '.join(names)}?"
    return [
        Claim(path, line, name, shapes)
        for name, shapes in zip(names, said, strict=True)
    ]


def statements(node: ast.AST) -> Iterator[Assigns]:
    """Those of a function that assign or return, without those of functions in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Assigns):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            yield from statements(child)


def is_abstract(node: ast.FunctionDef) -> bool:
    """Whether it is only there to be overridden."""
    return "abstractmethod" in map(ast.unparse, node.decorator_list)


def read(file: Path, path: str) -> tuple[dict[int, Claims], dict[str, Claims]]:
    """
    Args:
        file: a module.
        path: how to call it.

    Returns:
        What its functions claim, by their first lines, and what its classes claim of
        their attributes, by their qualified names.
    """
    text = file.read_text()
    comments: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        match = COMMENT.fullmatch(token.string)
        if match and token.line[: token.start[1]].strip():
            comments[token.start[0]] = match[1]
    functions: dict[int, Claims] = {}
    classes: dict[str, Claims] = {}

    def visit(node: ast.AST, scope: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = scope
            if isinstance(child, ast.ClassDef):
                classes[scope + child.name] = Claims(entries(child, path))
                inner = f"{scope}{child.name}."
            elif isinstance(child, ast.FunctionDef) and not is_abstract(child):
                found = Claims(entries(child, path))
                for each in statements(child):
                    last = each.end_lineno or 0
                    if last in comments:
                        lines = range(each.lineno, last + 1)
                        found.behind[lines] = behind(each, comments.pop(last), path)
                decorators = [each.lineno for each in child.decorator_list]
                functions[min([child.lineno, *decorators])] = found
                inner = f"{scope}{child.name}.<locals>."
            visit(child, inner)

    visit(ast.parse(text), "")
    # They are of no statement: move them, or say it in another way.
    assert not comments, f"{path}: whose are the shapes of lines {sorted(comments)}?"
    return functions, classes


# --- comparing ---


@dataclass
class World:
    """
    The numbers of letters, as far as they are known, and dimensions that have to wait
    until they are.
    """

    numbers: dict[str, Fraction] = field(default_factory=dict)
    waiting: list[tuple[str, int]] = field(default_factory=list)


class Letters:
    """
    The letters of one call. Where a claim has several shapes, each makes a world of its
    own, and those die out with which a later one does not agree.

    Args:
        known: what a name stands for besides, or `None`.
    """

    def __init__(self, known: Callable[[str], int | None]) -> None:
        self.known = known
        self.worlds = [World()]

    def fit(self, claim: Claim, shape: tuple[int, ...]) -> bool:
        """Whether one of the shapes of a claim can be this one."""
        found = [
            after
            for world in self.worlds
            for said in claim.shapes
            if (after := self._after(world, said, shape))
        ]
        self.worlds = found or self.worlds
        return bool(found)

    def _after(self, world: World, said: Shape, shape: tuple[int, ...]) -> World | None:
        if "…" in said:
            before = said.index("…")
            after = len(said) - before - 1
            if len(shape) < before + after:
                return None
            said = (*said[:before], *said[before + 1 :])
            shape = (*shape[:before], *shape[len(shape) - after :])
        if len(said) != len(shape):
            return None
        waiting = [*world.waiting, *zip(said, shape, strict=True)]
        new = World(dict(world.numbers), waiting)
        return new if self._settle(new) else None

    def _settle(self, world: World) -> bool:
        """Compare what can be compared, and learn letters that stand alone."""
        for item in [*world.waiting]:
            dimension, size = item
            letters = LETTER.findall(dimension)
            numbers = {letter: self._number(world, letter) for letter in letters}
            unknown = [letter for letter, number in numbers.items() if number is None]
            if len(unknown) > 1:
                continue
            world.waiting.remove(item)
            if not unknown:
                if value(dimension, numbers) != size:
                    return False
                continue
            # Its dimension is a straight line through two points.
            zero, one = (value(dimension, numbers | {unknown[0]: n}) for n in (0, 1))
            world.numbers[unknown[0]] = (size - zero) / (one - zero)
            return self._settle(world)
        return True

    def _number(self, world: World, letter: str) -> Fraction | None:
        if letter in world.numbers:
            return world.numbers[letter]
        number = self.known(letter)
        return None if number is None else Fraction(number)


def value(dimension: str, numbers: Any) -> Fraction:
    """What `T + 1`, `16 · C`, `H / 4` or `N W` comes to."""
    total, sign = Fraction(0), 1
    for term in re.split(r" ([+-]) ", dimension):
        if term in ("+", "-"):
            sign = 1 if term == "+" else -1
            continue
        product, divide = Fraction(1), False
        for factor in term.replace("·", " ").split():
            if factor == "/":
                divide = True
                continue
            number = Fraction(factor) if factor.isdigit() else numbers[factor]
            product = product / number if divide else product * number
        total += sign * product
    return total


# --- looking on ---


class Watcher:
    """
    Looks on while the modules of a package run, and compares.

    Args:
        root: the folder that the package lies in.
        package: its name.
    """

    def __init__(self, root: Path, package: str) -> None:
        self.sizes: dict[str, int] = {}
        self.functions: dict[tuple[str, int], Claims] = {}
        self.classes: dict[tuple[str, str], Claims] = {}
        for file in sorted((root / package).rglob("*.py")):
            path = file.relative_to(root)
            functions, classes = read(file, path.as_posix())
            module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            for line, claims in functions.items():
                self.functions[str(file), line] = claims
            for name, claims in classes.items():
                self.classes[module, name] = claims
        self.seen: defaultdict[Claim, set[tuple[int, ...]]] = defaultdict(set)
        self.wrong: dict[Claim, str] = {}
        self._of_code: dict[CodeType, Claims | None] = {}

    @property
    def claims(self) -> set[Claim]:
        """All that the package claims."""
        every = (*self.functions.values(), *self.classes.values())
        return {claim for claims in every for claim in claims}

    @contextmanager
    def watching(self, **sizes: int) -> Iterator[None]:
        """
        Look on.

        Args:
            sizes: what some letters stand for, in all calls.
        """
        self.sizes, before = sizes, sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if code not in self._of_code:
            where = code.co_filename, code.co_firstlineno
            found = self.functions.get(where, Claims())
            self._of_code[code] = found if any(found) or makes_one(code) else None
        claims = self._of_code[code]
        return None if claims is None else Call(self, claims, frame).event


def makes_one(code: CodeType) -> bool:
    """
    Whether it makes an object, whose attributes a class may describe. In a tuple with
    names it is a function without one.
    """
    return code.co_name == "__init__" or "_cls" in code.co_varnames


class Call:
    """One call of a function."""

    def __init__(self, watcher: Watcher, claims: Claims, frame: FrameType) -> None:
        self.watcher, self.claims, self.frame = watcher, claims, frame
        self.letters = Letters(self._known)
        self.at: range | None = None
        for claim in claims.entries:
            if claim.what in frame.f_locals:
                self.compare(claim, frame.f_locals[claim.what])

    def _known(self, letter: str) -> int | None:
        """A size, or the number that a variable or an attribute is."""
        if letter in self.watcher.sizes:
            return self.watcher.sizes[letter]
        for expression in () if letter.endswith("'") else (letter, f"self.{letter}"):
            try:
                found = eval(expression, self.frame.f_globals, self.frame.f_locals)
                return int(found)
            except (NameError, AttributeError, TypeError, ValueError, RuntimeError):
                continue
        return None

    def event(self, frame: FrameType, event: str, arg: Any) -> Any:
        """The next line, or the end."""
        ends, at = event == "return", self.at
        if event == "exception":
            self.at = None
        elif ends or event == "line":
            if at and (ends or frame.f_lineno not in at):
                for claim in self.claims.behind[at]:
                    if claim.is_returned:
                        self.returned(claim, arg)
                    else:
                        found = eval(claim.what, frame.f_globals, frame.f_locals)
                        self.compare(claim, found)
            lines = self.claims.behind
            self.at = next((each for each in lines if frame.f_lineno in each), None)
        if ends:
            for claim in self.claims.entries:
                if claim.is_returned:
                    self.returned(claim, arg)
            if makes_one(frame.f_code):
                self.made()
        return self.event

    def returned(self, claim: Claim, value: Any) -> None:
        """What a call returned, or a part of it."""
        part = claim.what.removeprefix(RETURN)
        if part and isinstance(value, tuple):
            value = value[int(part)]
        self.compare(claim, value)

    def made(self) -> None:
        """The attributes that a class describes."""
        variables = self.frame.f_locals
        made = next(iter(variables.values()))
        kind = made if "_cls" in variables else type(made)
        for each in kind.__mro__:
            claims = self.watcher.classes.get((each.__module__, each.__qualname__))
            for claim in claims or ():
                of_object = getattr(made, claim.what, None)
                self.compare(claim, variables.get(claim.what, of_object))

    def compare(self, claim: Claim, value: Any) -> None:
        """Look whether the claim is true. Of what is `None` nothing is claimed."""
        if isinstance(value, tuple) and not claim.each:
            # One of them is meant.
            shapes = [each.shape for each in value if hasattr(each, "shape")]
            if not any(self.letters.fit(claim, tuple(shape)) for shape in shapes):
                self.watcher.wrong.setdefault(claim, f"none of {shapes}")
            self.watcher.seen[claim].update(map(tuple, shapes))
        elif isinstance(value, list | tuple):
            for each in value:
                self.compare(claim, each)
        elif value is not None:
            shape = getattr(value, "shape", None)
            if shape is None or not self.letters.fit(claim, tuple(shape)):
                numbers = [world.numbers for world in self.letters.worlds]
                said = f"{type(value).__name__} of shape {shape}, where {numbers}"
                self.watcher.wrong.setdefault(claim, said)
            self.watcher.seen[claim].add(tuple(shape or ()))
