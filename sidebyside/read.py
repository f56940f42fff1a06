r"""
---
title: Read
summary: From the bytes of a file to lines, tokens and a syntax tree.
---

# Read

The first stage turns the bytes of a Python file into what the other stages need: its
lines, its comments, its docstrings and its definitions.

Everything here comes from Python's own syntax tree and from [tokens][sidebyside.lex]. A
regular expression over lines would be shorter, and wrong as soon as a string holds a
`#` or there is a comment inside a call.
"""

import ast
import gc
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from itertools import chain
from pathlib import PurePath
from typing import TypeVar

from sidebyside.errors import PressError, too_deep
from sidebyside.lex import CLOSE, COMMENT, END, NAME, OPEN, STRING, Token, lex

Definer = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

T = TypeVar("T")
PYTHON = "{}.{}".format(*sys.version_info)
LONE = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z]")
SOME = re.compile(r"\\(\\(?=[A-Za-z])|[\"'])")
ALL = re.compile(r"\\([\\\"'])")
CONTINUED = re.compile(r"(?<!\\)((?:\\\\)*)\\\n")

MARKDOWN = re.compile(r"# ?%%.*\[(?:markdown|md)\]")
# Comments meant for a tool and not for a reader. They stay in the code.
TOOLS = (
    "autopep8|basedpyright|black|codespell|c[sS]pell|cython|@formatter|fmt|flake8|isort"
    "|mypy|pragma|pyink|pylint|pyre|pyrefly|pyright|pytype|ruff|skipcq"
    "|spell-?checker|ty|type|usort|vim?|yapf"
)
# Commands for a notebook, where a module has them as comments.
MAGIC = (
    r"%(?:autoreload|cd|conda|env|load_ext|matplotlib|pip|pylab|run|time|timeit)\b"
    r"|!(?:apt|conda|curl|git|pip|python|wget)3?\s"
)
PRAGMA = re.compile(
    # What Quarto and nbdev are told about a cell. A row of a table ends in `|`.
    r"#(!| ?\|(?!.*\|\s*$)(?: ?[a-z][\w-]*(?::.*)?| {2,}- .*| default_exp .*)$"
    rf"|:?\s*+((?i:noqa|nosec|nosemgrep|nosonar)\b|(?:{TOOLS}):|-\*-|%%\w|{MAGIC}"
    r"|nopep8\b|noinspection\b|pyre-\w|numpydoc ignore=|sourcery skip\b"
    r"|</?editor-fold\b"
    # Where a part of the file begins or ends that is shown elsewhere.
    r"|-+8<-+ *\[ *(?:start|end) *:|\[(?:START|END) [\w-]+\]\s*$"
    r"|sphinx_gallery_\w+\s*[=:]"
    r"|endregion\b|region(?:\s+(?!of\b|is\b)\S+(?:\s+\S+){0,4})?$"
    r"|(?P<cookie>.*?coding[:=])))"
)


@dataclass(frozen=True)
class Comment:
    """
    ## Whole-line comments

    A comment that has its line to itself. One after code belongs to that code.

    Args:
        line: its line, counted from 1.
        column: where its `#` is, counted from 0.
        text: the comment from its `#` on.
    """

    line: int
    column: int
    text: str

    @property
    def is_pragma(self) -> bool:
        """Whether it is meant for a tool: `# noqa`, `# %%time`, a coding cookie, …"""
        found = PRAGMA.match(self.text)
        return found is not None and (self.line <= 2 or not found["cookie"])


@dataclass(frozen=True)
class Docstring:
    r"""
    ## Docstrings, as they are written

    The docstring is cut from the *source text*. Python's own `__doc__` has already
    replaced `\f` and `\t` by control characters, which eats the beginning of `\frac`
    and `\theta` in every docstring that is not raw.

    Args:
        first: the line with the opening quotes.
        last: the line with the closing quotes.
        lines: the text of each of these lines, without quotes and indentation; `None`
            for one that a backslash joins to another, which has the words of both.
    """

    first: int
    last: int
    lines: tuple[str | None, ...]


@dataclass(frozen=True)
class Definition:
    """
    ## Definitions

    A class or a function, with the lines that a reader would say belong to it.

    Args:
        name: its qualified name, with dots: `Game.step`.
        node: its place in the syntax tree.
        first: the line of its first decorator or, without decorators, of `def`.
        header: the line on which its signature ends.
        last: the last line of its body, including comments at its end.
        docstring: its docstring, if that has its lines to itself.
    """

    name: str
    node: Definer = field(repr=False)
    first: int
    header: int
    last: int
    docstring: Docstring | None

    @property
    def is_class(self) -> bool:
        """Whether this is a class, and not a function."""
        return isinstance(self.node, ast.ClassDef)


@dataclass(frozen=True)
class Attribute:
    """
    ## Attributes

    A variable of a module or a class that has its own docstring: a string after its
    assignment, which Sphinx and other tools have made a convention.

    Args:
        name: its qualified name, with dots: `Game.lives`.
        first: the line on which its assignment begins.
        header: the line on which its assignment ends.
        column: where it begins, counted from 0.
        docstring: the string right after it.
    """

    name: str
    first: int
    header: int
    column: int
    docstring: Docstring


@dataclass(frozen=True, eq=False)
class Source:
    """
    ## A module, read

    Args:
        path: the file, as messages name it.
        module: its dotted name, `labml_rl.game`.
        encoding: the encoding that it declares, in Python's spelling.
        lines: its lines; joined, they give the file back.
        tree: its syntax tree.
    """

    path: str
    module: str
    encoding: str
    lines: tuple[str, ...]
    tree: ast.Module = field(repr=False)

    def literal_at(self, line: int) -> str:
        """The docstring that begins on a line, as it is written, with its quotes."""
        string = self._layout.strings[line]
        return self.text[string.start : string.end]

    @cached_property
    def is_package(self) -> bool:
        """Whether this is the `__init__.py` of a package."""
        return PurePath(self.path).name == "__init__.py"

    @cached_property
    def page(self) -> str:
        """Where its page is among the sources of a site."""
        return page_of(self.module, self.is_package)

    @cached_property
    def text(self) -> str:
        r"""The text as Python reads it: with `\n` at the end of each line."""
        text = "".join(self.lines)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text if text.endswith("\n") or not text else text + "\n"

    @cached_property
    def tokens(self) -> list[Token]:
        """Its tokens, including those of comments and line ends."""
        return lex(self.text)

    @cached_property
    def comments(self) -> tuple[Comment, ...]:
        """The comments that have their lines to themselves, in order."""
        return self._layout.comments

    @cached_property
    def _layout(self) -> "Layout":
        return layout(self.text, self.tokens)

    @cached_property
    def docstring(self) -> Docstring | None:
        """The module's docstring."""
        return self._docstring(self.tree)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """Every class and function, including nested ones, in the order of the file."""
        return tuple(self._definitions(self.tree, prefix=""))

    def _definitions(self, parent: ast.AST, prefix: str) -> Iterator[Definition]:
        for node in statements(parent):
            if type(node) not in BLOCKS:
                continue  # as most statements are
            if isinstance(node, Definer):
                name = prefix + node.name
                yield Definition(
                    name=name,
                    node=node,
                    first=self._first_line(node),
                    header=self._layout.ends[node.lineno],
                    last=self._last_line(node),
                    docstring=self._docstring(node),
                )
                yield from self._definitions(node, prefix=f"{name}.")
            else:
                yield from self._definitions(node, prefix)

    @cached_property
    def attributes(self) -> tuple[Attribute, ...]:
        """The variables that have docstrings, in the order of the file."""
        found = [self.docstring, *(d.docstring for d in self.definitions)]
        known = {docstring.first for docstring in found if docstring}
        # Most modules have no other strings that have lines to themselves.
        if self._layout.strings.keys() <= known:
            return ()
        return tuple(self._attributes(self.tree, prefix=""))

    def _attributes(self, parent: ast.AST, prefix: str) -> Iterator[Attribute]:
        for block in BLOCKS[type(parent)]:
            before: ast.AST | None = None
            for node in getattr(parent, block):
                if isinstance(node, ast.ClassDef):
                    yield from self._attributes(node, f"{prefix}{node.name}.")
                elif type(node) in BLOCKS and not isinstance(node, Definer):
                    yield from self._attributes(node, prefix)
                match before, node:
                    case (
                        ast.Assign(targets=[ast.Name(id=name), *_])
                        | ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(),
                    ) if (docstring := self._string(node)) and not self._is_cell(node):
                        last = before.end_lineno or before.lineno
                        column = before.col_offset
                        place = (before.lineno, last, column)
                        yield Attribute(prefix + name, *place, docstring)
                before = node

    @cached_property
    def cells(self) -> tuple[Docstring, ...]:
        """The strings that are a notebook's Markdown, below `# %% [markdown]`."""
        strings = (self._string(node) for node in self.tree.body if self._is_cell(node))
        return tuple(
            string for string in strings if string and string != self.docstring
        )

    def _is_cell(self, node: ast.stmt) -> bool:
        above = self.lines[node.lineno - 2] if node.lineno > 1 else ""
        return MARKDOWN.fullmatch(above.rstrip()) is not None

    def _first_line(self, node: Definer) -> int:
        if not node.decorator_list:
            return node.lineno
        # The tree gives the line of the decorator's expression. Its `@` may be on a
        # line above.
        line = node.decorator_list[0].lineno
        while not self.lines[line - 1].lstrip().startswith("@"):
            line -= 1
        return line

    def _last_line(self, node: Definer) -> int:
        # The tree ends a body with its last statement. Comments below it that are
        # indented further than the `def` or `class` still belong to it.
        last = node.end_lineno or node.lineno
        columns = self._layout.columns
        line = last + 1
        while line <= len(self.lines):
            if columns.get(line, -1) > node.col_offset:
                last = line
            elif self.lines[line - 1].strip():
                break
            line += 1
        return last

    def _docstring(self, node: Definer | ast.Module) -> Docstring | None:
        return self._string(node.body[0]) if node.body else None

    def _string(self, statement: ast.stmt) -> Docstring | None:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case _:
                return None
        # A docstring that shares a line with code, or is glued together from several
        # strings, stays code.
        string = self._layout.strings.get(statement.lineno)
        if not string or string.last != statement.end_lineno:
            return None
        lines = docstring_lines(self.literal_at(statement.lineno))
        if re.search(r"\w", string.words):
            lines = *lines[:-1], f"{lines[-1]} {string.words}".lstrip()
        return Docstring(statement.lineno, string.last, lines)


def page_of(module: str, is_package: bool) -> str:
    """The path of a module's page: its name as a path, or `index` in a package."""
    # A folder whose name begins with a dot would make a path that begins at the root.
    path = module.strip(".").replace(".", "/")
    return f"{path}/index.md" if is_package else f"{path}.md"


# Where a statement holds other statements. Expressions, which can hold no definitions,
# make up most of a tree, and are not looked at.
INSIDE = ("body", "handlers", "orelse", "finalbody", "cases")
BLOCKS: dict[type[ast.AST], tuple[str, ...]] = {
    kind: tuple(name for name in INSIDE if name in kind._fields)
    for kind in vars(ast).values()
    if isinstance(kind, type)
    and issubclass(kind, ast.Module | ast.stmt | ast.excepthandler | ast.match_case)
    and {*INSIDE} & {*kind._fields}
}


def statements(parent: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases directly inside a node."""
    for name in BLOCKS[type(parent)]:
        yield from getattr(parent, name)


@dataclass(frozen=True)
class String:
    """
    ## Strings with their lines to themselves

    Args:
        last: the line on which it ends.
        start: where it begins in the text.
        end: where it ends.
        words: those of a comment behind it.
    """

    last: int
    start: int
    end: int
    words: str = ""


@dataclass(frozen=True)
class Layout:
    """
    ## How tokens lie on lines

    Args:
        comments: the comments that have their lines to themselves.
        columns: their columns, by line.
        strings: the strings that have their lines to themselves, by the line on which
            each begins.
        ends: for each line, the one on which the statement that it is part of ends.
    """

    comments: tuple[Comment, ...]
    columns: dict[int, int]
    strings: dict[int, String]
    ends: list[int]


def layout(text: str, tokens: list[Token]) -> Layout:
    """
    ### One pass over the tokens

    A statement ends at the end of a line, unless a bracket is open. Lines without a
    statement belong to the statement that follows.

    Args:
        text: the text of a module.
        tokens: its tokens.
    """
    comments: list[Comment] = []
    strings: dict[int, String] = {}
    ends = [0]
    line, margin = 1, 0  # the current line, and where it begins in the text
    depth = 0
    in_statement = False
    alone: tuple[int, String] | None = None  # a string with nothing else so far
    for kind, start, end in tokens:
        if kind == NAME:
            alone = None
            in_statement = True
        elif kind == END:
            # Lines may also end after a backslash, which is not a token.
            line += text.count("\n", margin, end)
            margin = end
            if in_statement and not depth:
                if alone:
                    strings[alone[0]] = alone[1]
                ends += [line - 1] * (line - len(ends))
                in_statement = False
            if not depth:
                alone = None
        elif kind == COMMENT:
            column = start - text.rfind("\n", 0, start) - 1
            if not text[start - column : start].strip(" \t\f"):
                here = line + text.count("\n", margin, start)
                comments.append(Comment(here, column, text[start:end].rstrip()))
            elif alone and not PRAGMA.match(text[start:end]):
                # A docstring's line is not shown as code, so this is its last line.
                words = text[start:end].strip("#: \t")
                alone = alone[0], replace(alone[1], words=words)
        elif kind == STRING and not in_statement:
            first = line + text.count("\n", margin, start)
            last = first + text.count("\n", start, end)
            alone = (first, String(last, start, end))
            in_statement = True
        else:
            alone = None
            in_statement = True
            depth += (kind == OPEN) - (kind == CLOSE)
    columns = {comment.line: comment.column for comment in comments}
    return Layout(tuple(comments), columns, strings, ends)


def once(stage: Callable[[Source], T]) -> Callable[[Source], T]:
    """
    ## Once for each module

    Several stages need the same result from another: the catalogue, the links in code
    and the page itself all need a module's sections. This decorator keeps what a stage
    has made of a module for as long as the module itself is kept.
    """
    key = f"{stage.__module__}.{stage.__qualname__}"

    @wraps(stage)
    def remembered(source: Source) -> T:
        if key not in source.__dict__:
            source.__dict__[key] = stage(source)
        made: T = source.__dict__[key]
        return made

    return remembered


@contextmanager
def undisturbed(settles: bool = True) -> Iterator[None]:
    """
    ## Without looking for garbage

    A book is some hundred thousand objects, and all of them are needed until its pages
    are made. Python's collector would look for garbage among them again and again, find
    none, and take up a fifth of the time.

    Afterwards it would look at all of them together. Objects that were frozen and
    thawed (see `gc.freeze`) count as old, and it seldom looks at old ones. If some are
    frozen already, those stay as they are.

    Args:
        settles: whether to freeze and thaw. Even asking how many objects are frozen
            takes a long time where there are many.
    """
    collects = gc.isenabled()
    settles = settles and not gc.get_freeze_count()
    gc.disable()
    try:
        yield
    finally:
        if collects and settles:
            gc.freeze()
            gc.unfreeze()
        if collects:
            gc.enable()


def tree_of(text: str) -> ast.Module | None:
    """
    ### Whether a piece is Python

    Args:
        text: any text, from a comment for instance.

    Returns:
        Its tree; `None` if it is not Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def docstring_lines(literal: str) -> tuple[str | None, ...]:
    r"""
    ### Out of the quotes

    Takes quotes and indentation off, and leaves backslashes alone. In a docstring that
    is not raw, an author had to write two backslashes for one, and `\"` for a quote;
    those few escapes are undone. All others, `\frac` for instance, were never meant as
    escapes.

    A line that ends with a backslash forms one line with the next, however far to the
    left the next one begins: only the indentation of whole lines counts.

    Args:
        literal: a string as it is in the source, with its prefix and quotes.

    Returns:
        As many lines as the literal has, with `None` for each line whose words are on
        another.
    """
    prefix = literal[: literal.index(literal[-1])]
    quotes = 3 if literal[len(prefix) :].startswith(literal[-1] * 3) else 1
    text = literal[len(prefix) + quotes : -quotes]
    if "\\" in text and "r" not in prefix.lower():
        # Python reads no file with a null in it, so a null can mark where a backslash
        # has joined two lines.
        text = CONTINUED.sub("\\1\0", text)
        # Whoever writes `\hat` with one backslash ends a row of a formula with two, and
        # not with four.
        text = (SOME if LONE.search(text) else ALL).sub(r"\1", text)
    written = text.replace("\0", "").expandtabs().split("\n")
    first, *rest = map(str.rstrip, written)
    margin = min((len(line) - len(line.lstrip()) for line in rest if line), default=0)
    lines = (first.lstrip(), *(line[margin:] for line in rest))
    if "\0" not in text:
        return lines
    return tuple(chain(*map(divided, lines, text.split("\n"))))


def divided(line: str, written: str) -> Iterator[str | None]:
    """
    Args:
        line: a line as it is read.
        written: the same with a null wherever a backslash divides it.

    Returns:
        Its words in place of the first piece that has any, and `None` for the others.
    """
    pieces = written.split("\0")
    first = next((at for at, piece in enumerate(pieces) if piece.strip()), 0)
    return (line if at == first else None for at in range(len(pieces)))


def encoding_of(data: bytes) -> str:
    """
    The encoding that a file declares.

    Raises:
        ValueError: if there is no encoding of that name, or the file is not written in
            it.
    """
    # `tokenize` asks for the first two lines. These may end with `\r`, too, which a
    # file's own `readline` does not recognise.
    head = iter(line.rstrip() + b"\n" for line in data.splitlines()[:3])
    try:
        return tokenize.detect_encoding(lambda: next(head, b""))[0]
    except SyntaxError as error:
        # Where bytes are not UTF-8, this raises an error that names the first of them.
        if error.msg.startswith("invalid"):
            data.decode()
        raise ValueError(error.msg) from None


def read(data: bytes, path: str, module: str) -> Source:
    """
    ## From bytes

    Args:
        data: the content of the file, in whatever encoding it declares.
        path: the file, as messages name it.
        module: its dotted name.

    Raises:
        PressError: if this is not Python.
    """
    try:
        encoding = encoding_of(data)
        text = data.decode(encoding)
        # Python warns of `\frac` in a string that is not raw. The page shows it
        # correctly.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, filename=path)
        # With `newline=""` every way to end a line is recognised, and none is changed.
        lines = tuple(io.StringIO(text, newline=""))
        source = Source(path, module, encoding, lines, tree)
        # Ask for these here, where a mistake can be reported.
        _ = source.tokens, source.definitions
    except SyntaxError as error:
        raise PressError(
            path,
            error.lineno or 1,
            f"this is not Python: {(error.msg or 'invalid').rstrip('.')}",
            f"Mend the syntax, or `exclude` the file; the press reads what Python "
            f"{PYTHON} reads.",
            column=max(error.offset or 1, 1),
        ) from None
    except (RecursionError, MemoryError):
        raise too_deep(path) from None
    except (LookupError, ValueError) as error:
        line, words = 1, str(error)
        if isinstance(error, UnicodeDecodeError):
            line, words = undecoded(data, error)
        raise PressError(
            path,
            line,
            f"the file cannot be decoded: {words}",
            "Save it as UTF-8, or declare its encoding on the first line.",
        ) from None
    return source


def undecoded(data: bytes, error: UnicodeDecodeError) -> tuple[int, str]:
    """The line of the first byte that is not text, and what is wrong with it."""
    before = data[: error.start].decode(error.encoding, "replace")
    line = sum(1 for _ in io.StringIO(f"{before}x", newline=""))
    return line, f"the byte 0x{data[error.start]:02x} is not {error.encoding.upper()}"
