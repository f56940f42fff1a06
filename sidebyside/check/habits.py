r"""
---
title: Bad habits
summary: Code that was commented out, and other prose that means something else.
---

# Bad habits

A page with these can be made, and says something other than its author meant. Each
rule is a function, as on the page about [what does not work][sidebyside.check.rules].
"""

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import groupby

from sidebyside.anchors import HEADING, described, leading_heading
from sidebyside.check.rules import proses
from sidebyside.findings import Finding, found
from sidebyside.mathematics import continued
from sidebyside.prose import DASHES, ITEM, TITLES, Prose, fences, indentation
from sidebyside.read import Docstring, Source, docstring_lines, tree_of
from sidebyside.split import comment_text, prose_blocks


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


def visible(prose: Prose) -> Iterator[tuple[int, str]]:
    """The lines of some prose that are neither in a fenced block nor in a formula."""
    formulas = continued(prose.text)
    is_code = fences(prose.lines)
    for index, line in enumerate(prose.lines):
        if not is_code[index] and index not in formulas:
            yield line
