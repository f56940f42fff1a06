r"""
---
title: Rules
summary: What can be wrong with prose, one function for each habit.
---

# Rules

Each function looks for one thing in a whole module, and yields what it finds. A rule
that cries wolf is soon ignored, so where one has to guess, it would rather miss
something.
"""

import ast
import builtins
import glob
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from html import unescape
from itertools import groupby, islice
from pathlib import Path
from unicodedata import normalize

from sidebyside.errors import PressError
from sidebyside.fields import NAMES, Listing, listings
from sidebyside.findings import Finding, found
from sidebyside.guard import is_safe
from sidebyside.lex import NAME
from sidebyside.links import (
    Place,
    file_of,
    labels_of,
    page_at,
    pictures_in,
    set_links,
    still_of,
)
from sidebyside.mathematics import continued, find, in_formulas, unpaired
from sidebyside.prose import (
    CODE,
    DASHES,
    ITEM,
    TITLES,
    Prose,
    fences,
    indentation,
)
from sidebyside.read import (
    Definer,
    Definition,
    Docstring,
    Source,
    docstring_lines,
    tree_of,
)
from sidebyside.split import comment_text, prose_blocks, split
from sidebyside.symbols import occurrences
from sidebyside.things import is_overload
from sidebyside.weave import (
    HEADING,
    SYMBOLS,
    check_formulas,
    described,
    leading_heading,
    pattern_of_key,
    public_names,
)

# What the press looks for in the front matter.
KEYS = ("title", "summary", "symbols")


def what_stops_a_build(source: Source) -> Iterator[Finding]:
    """
    ## SBS102 and SBS201: what stops a build

    A misspelt key of the front matter does not stop one, but is reported as well: it
    would have no effect.
    """
    errors: list[tuple[str, PressError]] = []
    meta, sections, mistake = described(source)
    if mistake:
        errors.append(("SBS102", mistake))
    for key in meta:
        # Other keys are for the site engine, so only a near miss is reported.
        meant = get_close_matches(str(key), KEYS, n=1, cutoff=0.8)
        if meant and meant[0] not in meta:
            line = line_of(str(key), source)
            words = f"the front matter has `{key}`"
            remedy = f"Did you mean `{meant[0]}`?"
            errors.append(("SBS102", PressError(source.path, line, words, remedy)))
    for section in sections:
        check_formulas(
            section.prose, source.path, lambda e: errors.append(("SBS201", e))
        )
    for code, error in errors:
        at = error.at.partition("\n")[0]
        if at not in source.lines[error.line - 1]:
            # In a docstring that is not raw, each backslash is written twice.
            at = "$"
        yield found(source, error.line, code, error.found, error.remedy, at=at)


def links(source: Source, places: Mapping[str, Place]) -> Iterator[Finding]:
    """## SBS202: links that lead nowhere"""
    errors: list[PressError] = []
    sections = described(source).sections
    labels, _ = labels_of(section.prose for section in sections)
    for section in sections:
        prose, scope = section.prose, section.scope
        set_links(prose, scope, source, places, errors.append, labels=labels)
    for error in errors:
        yield found(
            source, error.line, "SBS202", error.found, error.remedy, at=error.at
        )


# What turns the annotations in a class into fields.
OF_FIELDS = re.compile(
    r"\b(dataclass|define|frozen|mutable|attrs|NamedTuple|TypedDict|BaseModel)\b"
)
# A decorator that leaves a class as it is.
PLAIN = re.compile(r"\b(final|total_ordering|runtime_checkable|unique|deprecated)\b")
# A field that can't be passed as an argument.
NOT_TAKEN = re.compile(r"\binit=False\b")
ADDRESS = re.compile(
    CODE
    + r"""
    | (?<=\w)\[\w*\]\(
    | \]\(\s*<?(?P<inline>[^\s)>][^)>\n]*)
    | ^[ ]{0,3}\[(?!\^)[^\]\n]+\]:\s*<?(?P<reference>[^\s>]+)
      (?=>?[ ]*(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))?[ ]*$)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def addresses_in(source: Source) -> Iterator[tuple[Prose, int, str]]:
    """Yields, for each link, the prose, its place in the text, and its address."""
    for prose in proses(source):
        is_formula = in_formulas(prose.text)
        for match in ADDRESS.finditer(prose.text):
            address = match["inline"] or match["reference"]
            if address and not is_formula(match.start()):
                yield prose, match.start(), address


def addresses(source: Source) -> Iterator[Finding]:
    """## SBS203: addresses that could run a script"""
    for prose, start, address in addresses_in(source):
        if not is_safe(address):
            scheme = unescape(address).partition(":")[0].strip()
            yield found(
                source,
                prose.line_at(start),
                "SBS203",
                f"a link with the scheme `{scheme}:`",
                "Link to a page, or write the address as code.",
                at=address,
            )


def symbols(source: Source) -> Iterator[Finding]:
    """
    ## SBS204: symbols of nothing

    A symbol ties formulas to code. One that is missing from the code, or from all
    formulas, ties nothing. On a page without definitions, symbols tie its formulas
    together.
    """
    wanted: dict[str, str] = described(source).meta.get("symbols", {})
    if not wanted:
        return
    names = {
        normalize("NFKC", source.text[a:b])
        for kind, a, b in source.tokens
        if kind == NAME
    }
    anywhere = tuple(wanted.values())
    written = {
        symbol[0]
        for prose in proses(source)
        for formula in find(prose.text)
        for symbol in occurrences(formula.tex, anywhere)
    }
    for name, tex in wanted.items():
        if source.definitions and normalize("NFKC", name) not in names:
            message = f"the symbol `{name}` is no name of this module"
            remedy = "Give the name that the code has, or remove the line."
        elif tex not in written:
            message = f"the symbol `{tex}` of `{name}` is in no formula of this module"
            remedy = "Write it as the formulas have it, or remove the line."
        else:
            continue
        line = line_of(name, source, of_symbols=True)
        yield found(source, line, "SBS204", message, remedy, at=name)


def line_of(key: str, source: Source, *, of_symbols: bool = False) -> int:
    """
    Args:
        key: a key of the front matter, or a name below `symbols`.
        source: the module.
        of_symbols: whether it is such a name.

    Returns:
        The line that says what it is, or the one with `symbols` if that says it all.
    """
    lines = source.docstring.lines if source.docstring else ()
    number = source.docstring.first if source.docstring else 1
    texts = [text or "" for text in lines]
    first = texts.index("---") if "---" in texts else 0
    if of_symbols:
        first = next((n for n, t in enumerate(texts) if SYMBOLS.search(t)), first)
    begin = pattern_of_key(key)
    for at, text in enumerate(texts[first + 1 :], start=first + 1):
        if text == "---":
            break
        if begin.match(text):
            return number + at
    return number + first


def dollars(source: Source, *, words: bool = True) -> Iterator[Finding]:
    """
    ## SBS205: dollars without a formula

    A formula ends at a blank line. If its second `$$` comes only after one, there is no
    formula, and the reader sees TeX. Nor are [words][sidebyside.mathematics] between
    two dollars a formula.

    Args:
        source: the module.
        words: whether to look for words between dollars, too. A build does not: their
            author may never have thought of formulas.
    """
    for prose in proses(source):
        for offset in unpaired(prose.text):
            if prose.text.startswith("$$", offset):
                dollar = "$$"
                message = "a `$$` that is not part of a formula"
                remedy = (
                    r"Leave no blank line and no other `$` in the formula, or write "
                    r"`\$\$`."
                )
            elif not words:
                continue
            else:
                dollar = "$"
                message = "words between two dollars, which are no formula"
                remedy = (
                    r"Write `\$` for a dollar, and `\text{…}` for words in formulas."
                )
            line = prose.line_at(offset)
            yield found(source, line, "SBS205", message, remedy, at=dollar)


def pictures(source: Source, docs: Path | None) -> Iterator[Finding]:
    """
    ## SBS206: pictures that do not exist

    A path starts at the page, [and not at the module][sidebyside].

    Args:
        source: the module.
        docs: the documents of the site; without them, there is no telling what exists.
    """
    if docs is None:
        return
    page = source.page
    for prose in proses(source):
        for picture in pictures_in(prose.text):
            # A film needs a still as well.
            for address in filter(None, (picture.address, still_of(picture.address))):
                path = file_of(address, posixpath.dirname(page))
                if path is None or (docs / path).is_file():
                    continue
                yield found(
                    source,
                    prose.line_at(picture.start),
                    "SBS206",
                    f"the picture `{address}`, which is not in `{docs.resolve().name}`",
                    where_it_is(path, page, docs),
                    at=picture.address,
                )


def where_it_is(path: str, page: str, docs: Path) -> str:
    """A remedy: another place that has a picture of that name, if there is one."""
    name = posixpath.basename(path)
    for file in sorted(docs.rglob(glob.escape(name))):
        meant = Place(file.relative_to(docs).as_posix(), "").seen_from(page)
        meant = f"<{meant}>" if " " in meant else meant
        return f"Did you mean `{meant}`?"
    return f"Put it there, or mend its path, which starts at `{page}`."


def pages(
    source: Source, places: Mapping[str, Place], docs: Path | None
) -> Iterator[Finding]:
    """
    ## SBS207: pages that do not exist

    A link may lead to a module, `[the game](game.py)`, or to a page that was written by
    hand, `[results](../results.md)`.

    Args:
        source: the module.
        places: what can be linked to.
        docs: the documents of the site; without them, there is no telling what exists.
    """
    if docs is None:
        return
    page = source.page
    modules = {name for name, place in places.items() if not place.anchor}
    for prose, start, with_title in addresses_in(source):
        address = with_title.partition(" ")[0]
        path = file_of(address, posixpath.dirname(page)) or ""
        if not path.endswith((".md", ".py")):
            continue
        if page_at(path, places) or (docs / path).is_file():
            continue
        # A page of the reference, which a build makes, is called after its module.
        if posixpath.basename(path).removesuffix(".md") in modules:
            continue
        made = {place.page for place in places.values()}
        if path not in made:
            yield found(
                source,
                prose.line_at(start),
                "SBS207",
                f"a link to `{address}`, which is no page",
                nearest_page(path, page, made, docs),
                at=address,
            )


def nearest_page(path: str, page: str, made: Collection[str], docs: Path) -> str:
    """A remedy: the page that was probably meant."""
    written = (file.relative_to(docs).as_posix() for file in docs.rglob("*.md"))
    wanted = re.sub(r"(/__init__)?\.py$", ".md", path)
    every = sorted({*made, *written})
    # A page of that name elsewhere is more likely than another name.
    namesakes = [
        p for p in every if posixpath.basename(p) == posixpath.basename(wanted)
    ]
    if close := get_close_matches(
        wanted, namesakes, n=1, cutoff=0
    ) or get_close_matches(wanted, every, n=1):
        meant = close[0]
        if path.endswith(".py") and meant in made:
            # A link to a module leads to its source, and in the site to its page.
            meant = re.sub(r"\bindex\.md$", "__init__.md", meant)[:-2] + "py"
        return f"Did you mean `{Place(meant, '').seen_from(page)}`?"
    return f"Mend its path, which starts at `{page}`."


def commented_out(source: Source) -> Iterator[Finding]:
    """
    ## SBS301: code that was commented out

    A paragraph of a comment is code if Python understands all of it, and it does
    something: an assignment, a call, a loop, or an `else:` that has lost its `if`.
    Words that happen to be Python, such as `x or y` or `Note: this`, do nothing. Fenced
    and indented code was meant to be read.
    """
    for block in prose_blocks(source):
        numbers = (comment.line for comment in block)
        lines = [*zip(numbers, comment_text(block), strict=True)]
        lines = [
            (number, "" if is_code else text)
            for (number, text), is_code in zip(lines, fences(lines), strict=True)
        ]
        for blank, group in groupby(lines, key=lambda line: not line[1].strip()):
            paragraph = list(group)
            text = "\n".join(text for _, text in paragraph)
            if not blank and does_something(text):
                line = paragraph[0][0]
                yield found(
                    source,
                    line,
                    "SBS301",
                    f"a comment that is code, `{paragraph[0][1].strip()}`",
                    "Delete it, or put it into a fenced block if it is to be read.",
                )


# What can't begin a program: something has to come before it.
BRANCH = re.compile(r"(?:(?P<condition>elif|else)|except|finally)\b.*:(?P<alone> *\n)?")


def does_something(text: str) -> bool:
    """Whether a text is Python that does something."""
    if text.startswith(" ") or not re.search(r"[=(:]|\b(import|del|return)\b", text):
        return False
    branch = BRANCH.match(text)
    if branch:
        head = "if x:" if branch["condition"] else "try:"
        text = f"{head}\n    pass\n{text}"
    tree = tree_of(text)
    if tree is None:
        return False
    if branch and branch["alone"]:
        return True
    statements = branches(tree.body[0]) if branch else tree.body
    match statements:
        case [ast.If() | ast.For() | ast.While() | ast.With() as one]:
            # In one line, `if needed: grow` is a note.
            statements = statements if "\n" in text else one.body
    return any(is_deed(each, text) for each in statements)


def branches(statement: ast.stmt) -> list[ast.stmt]:
    """The statements in all but the first branch of a statement."""
    match statement:
        case ast.If(orelse=rest):
            return rest
        case ast.Try(handlers=handlers, orelse=rest, finalbody=last):
            return [*(each for one in handlers for each in one.body), *rest, *last]
    return []


def is_deed(statement: ast.stmt, text: str) -> bool:
    """Whether a statement in a text does something, and is not only words."""
    match statement:
        case (
            ast.Expr(value=ast.Call(func=function))
            | ast.Raise(exc=ast.Call(func=function))
        ):
            # Words have a space before a bracket: `YYYYMMDD (8)` is not a call.
            return not re.search(rf"{re.escape(ast.unparse(function))}\s+\(", text)
        case ast.Expr(value=ast.Await() | ast.Yield() | ast.YieldFrom()):
            return True
        case ast.AnnAssign(annotation=kind, value=value):
            return value is not None and is_type(kind)
        case (
            ast.Expr()
            | ast.Pass()
            | ast.Break()
            | ast.Continue()
            | ast.Global()
            | ast.Nonlocal()
            | ast.Raise()
            | ast.Assert()
            # This says which shape something has.
            | ast.Assign(targets=[ast.Attribute(attr="shape")], value=ast.Tuple())
        ):
            return False
        case ast.Return(value=value):
            return isinstance(value, ast.Call | ast.Tuple | ast.Subscript)
    return True


def is_type(node: ast.expr) -> bool:
    """Whether what follows a colon may be a type: `x: int = 1`, not `Note: x = 1`."""
    match node:
        case ast.Name(id=name):
            return hasattr(builtins, name) or name[0].isupper()
        case ast.Subscript() | ast.Attribute() | ast.BinOp() | ast.Constant():
            return True
    return False


# What means something else in a raw docstring.
ESCAPED = re.compile(r"\\(?P<kept>\\[A-Za-z]+|[\"'])|(?<!\\)(?:\\\\)*\\\n")


def backslashes(source: Source) -> Iterator[Finding]:
    r"""
    ## SBS302: backslashes

    Where a docstring that is not raw has `\frac`, Python sees a form feed and `rac`.
    The page shows what the author meant; `help()` does not. In a raw one, nothing is an
    escape, so what was written as one has to change.
    """
    for docstring in docstrings(source):
        literal = source.literal_at(docstring.first)
        prefix = literal[: literal.index(literal[-1])]
        if "r" in prefix.lower():
            continue
        if escape := re.search(r"(?<!\\)(?:\\\\)*(\\[^\\\n\"'])", literal):
            offset = literal.count("\n", 0, escape.start(1))
            remedy = 'Begin it with `r"""`'
            raw = docstring_lines(f"r{literal.removeprefix(prefix)}")
            if raw != docstring_lines(literal) and (other := ESCAPED.search(literal)):
                instead = f"write `{other['kept']}` for `{other[0]}`"
                joined = "join the lines that a backslash joins"
                remedy += f", and {instead if other['kept'] else joined}"
            yield found(
                source,
                docstring.first + offset,
                "SBS302",
                f"a docstring with `{escape[1]}` that is not raw",
                f"{remedy}.",
                at=escape[1],
            )


def docstrings(source: Source) -> Iterator[Docstring]:
    """All docstrings of a module, its own first."""
    if source.docstring:
        yield source.docstring
    for definition in source.definitions:
        if definition.docstring:
            yield definition.docstring
    for attribute in source.attributes:
        yield attribute.docstring
    yield from source.cells


def nested_lists(source: Source) -> Iterator[Finding]:
    """
    ## SBS303: nested lists

    What is nested in an item must be as far to the right as that item's text, or
    further. With fewer blanks before it, it joins the outer list.
    """
    for prose in proses(source):
        # The items that are open: for each, its column and that of its text.
        outer: list[tuple[int, int]] = []
        above = ""
        for number, text in visible(prose):
            before, above = above, text
            if not text:
                continue
            item, indent = ITEM.match(text), indentation(text)
            if not item:
                # A paragraph is in the items that begin to the left of it.
                while outer and indent < outer[-1][1] and not (indent and before):
                    outer.pop()
                continue
            while outer and indent < outer[-1][0]:
                outer.pop()
            margin, words = outer[-1] if outer else (0, 0)
            if margin < indent < words:
                yield found(
                    source,
                    number,
                    "SBS303",
                    f"a nested item that is indented by {indent - margin}",
                    f"Indent it by {words - margin}, or the item joins the outer list.",
                    at=text.strip(),
                )
            else:
                outer.append((indent, item.end() - 1))


def headings(source: Source) -> Iterator[Finding]:
    """
    ## SBS304: headings

    Where a module has no title, its name is the title of the page.
    """
    is_named = not (has_title(source) or described(source).mistake)
    level = int(is_named)
    for prose in proses(source):
        for number, this, text in headings_in(prose):
            last, level = level, this
            if level == 1 and last:
                message = "a second title on the page"
                message += ", below the name of the module" * is_named
                remedy = "Begin it with `##`; a page has one title."
                if not text.startswith("#"):
                    remedy = f"Write `## {text}` for both lines; a page has one title."
            elif last and level > last + 1:
                message = f"a heading of level {level} below one of level {last}"
                remedy = f"Begin it with `{'#' * (last + 1)}`."
            else:
                continue
            yield found(source, number, "SBS304", message, remedy, at=text)


def has_title(source: Source) -> bool:
    """Whether the prose of a module begins with the title of its page."""
    sections = described(source).sections
    return bool(sections) and leading_heading(sections[0].prose)[0] == 1


def headings_in(prose: Prose) -> Iterator[tuple[int, int, str]]:
    """
    The headings in some prose: the line of each, its level, and its marks. One that is
    underlined has its words instead.
    """
    before = [(0, ""), (0, "")]
    for number, text in visible(prose):
        (_, first), (above, title) = before
        heading = HEADING.fullmatch(text)
        if heading and heading["text"]:
            yield number, len(heading["marks"]), heading["marks"]
        elif (
            DASHES.fullmatch(text)
            and above == number - 1
            and not (first or title in TITLES)
            and re.match(r"\w", title)
        ):
            yield above, 1 if text[0] == "=" else 2, title
        before = [before[1], (number, text)]


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
            for name in sorted(names - {name for _, name, _ in documented}):
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
    if is_method and "staticmethod" not in map(ast.unparse, node.decorator_list):
        hidden |= {a.arg for a in positional[:1]}
        del positional[:1]
    elif positional and positional[0].arg in ("self", "cls"):
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


def proses(source: Source) -> Iterator[Prose]:
    """All the prose of a module, without front matter."""
    for section in described(source).sections:
        yield section.prose


def visible(prose: Prose) -> Iterator[tuple[int, str]]:
    """The lines of some prose that are neither in a fenced block nor in a formula."""
    formulas = continued(prose.text)
    is_code = fences(prose.lines)
    for index, line in enumerate(prose.lines):
        if not is_code[index] and index not in formulas:
            yield line
