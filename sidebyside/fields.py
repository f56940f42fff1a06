"""
---
title: Fields
summary: "Args, Returns and Raises: from three styles to a list with types."
---

# Fields

A docstring in Google's style ends with `Args:`, `Returns:` and `Raises:`, each with an
indented list. Markdown knows nothing of that style and would run the list together into
one paragraph. This page turns each into a definition list, and fills in the types from
the signature. A nested list, a box or a fence below an item keeps its own layout.

In the same style, `Note:` and `Warning:` with indented text below become boxes. Code
below `Example:`, or below an item, has [a fence][sidebyside.rst.indented.open_code] by
now.

Code that was written for Sphinx has [other styles][sidebyside.styles]: NumPy's, with a
line of dashes below `Parameters`, and `:param name:`. These become the same lists, and
so does a [definition list][set_terms] of reStructuredText.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from sidebyside.prose import (
    BOX,
    DASHES,
    LISTS,
    TITLES,
    Lines,
    Prose,
    dedented,
    fences,
    indentation,
    is_title,
    leveled,
    moved,
    trimmed,
    within,
)
from sidebyside.read import Definer, tree_of
from sidebyside.rst import directives
from sidebyside.rst.directives import DEEPEST
from sidebyside.rst.indented import deeper
from sidebyside.styles import (
    COLON,
    NAME,
    NAMES,
    PROSE,
    ROUND,
    Entry,
    Listing,
    clean,
    colons,
    goes_on,
    google_entries,
    indented,
    is_block,
    numpy_entries,
    sphinx_lists,
    underlined,
)

# The boxes of Google's style, each with its kind.
BOXES = {title: kind for kind, title in directives.BOXES.values()}
BOXES |= {"Notes": "note", "Warnings": "warning"}

# A term of reStructuredText, if it is a name or a value: `x : int`, `'linear'`.
VALUE = rf"""(?:'[^'\n]+'|"[^"\n]+"|``[^`\n]+``)(?: {ROUND})?"""
WORD = rf"(?:{NAME}|{VALUE})"
TERM = re.compile(
    rf"(?P<name>{WORD}(?:, *{WORD})*)"
    # `x : int`, and ``x (`int`, *optional*):``, as Hugging Face writes it.
    rf"(?:(?P<colon> ?: )(?P<type>\S[^\n]*)| (?P<round>(?=\(\[?`){ROUND}):)?"
)
SIGNS = re.compile(r":\n|\n(?::|---|===)")  # what the lists of all styles have
TERMS = re.compile(rf"^(?P<margin> *){TERM.pattern}\n(?P=margin) +\S", re.MULTILINE)

# The first parameter of these is the type that is yielded.
GIVES = re.compile("(?:Async)?(?:Iterator|Iterable|Generator)")
QUOTED = re.compile(r"""(['"])([^'"]*)\1""")


def types_of(node: Definer) -> dict[str, str]:
    """
    ## Types

    The types that a definition declares for its parameters or, if it is a class, for
    its fields and the parameters of its `__init__`.
    """
    if isinstance(node, ast.ClassDef):
        types: dict[str, str] = {}
        for statement in node.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                    types[name] = spelled(annotation)
                case ast.FunctionDef(name="__init__"):
                    types |= types_of(statement)
        return types
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    parameters += [extra for extra in (node.args.vararg, node.args.kwarg) if extra]
    types = {p.arg: spelled(p.annotation) for p in parameters if p.annotation}
    match node.returns:
        case None | ast.Constant(value=None | "None"):
            pass
        case (
            ast.Subscript(value=ast.Name(id=name), slice=given)
            | ast.Subscript(value=ast.Attribute(attr=name), slice=given)
        ) as returns:
            types["return"] = spelled(returns)
            if GIVES.fullmatch(name):
                first = given.elts[0] if isinstance(given, ast.Tuple) else given
                types["yield"] = spelled(first)
        case returns:
            types["return"] = spelled(returns)
    return types


def spelled(node: ast.expr) -> str:
    """
    A type as text, without the quotes around names that are defined only later. Most
    types are a single name, for which `unparse` would take too long.
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    text = ast.unparse(node)
    # In `Literal` and `Annotated`, what is quoted may be a value, and not a type.
    if "'" not in text or "Literal[" in text or "Annotated[" in text:
        return text
    # And so is what is no Python, such as the axes in `Float[Tensor, "b h w"]`.
    return QUOTED.sub(lambda found: found[2 if tree_of(found[2]) else 0], text)


def has_fields(prose: Prose) -> bool:
    """Whether there is a list or the like in some prose."""
    text = prose.text
    may_be = text.startswith(":") or SIGNS.search(text)
    if may_be and any(
        line in TITLES or is_title(line) or COLON.match(line) for _, line in prose.lines
    ):
        return True
    return "\n " in text and TERMS.search(text) is not None


def set_fields(
    prose: Prose, types: Mapping[str, str] | None = None, *, is_module: bool = False
) -> Prose:
    """
    ## The lists

    Args:
        prose: a docstring, or other prose.
        types: what [types_of][] found for the definition that it belongs to. Without a
            definition, a line of dashes makes a heading, as in Markdown.
        is_module: whether it is the docstring of a module, where a line of dashes makes
            a heading of all but the titles of lists.

    Returns:
        The same prose with its lists of arguments and the like as definition lists.
    """
    return Prose(tuple(_set(prose.lines, types, is_module)))


def _set(
    lines: Lines, types: Mapping[str, str] | None, is_module: bool
) -> Iterator[tuple[int, str]]:
    is_docstring = types is not None or is_module
    around: list[tuple[int, str]] = []
    for piece in pieces(lines, types is not None, is_module):
        if not isinstance(piece, Listing):
            around.append(piece)
            continue
        yield from set_terms(around) if is_docstring else around
        around = []
        yield from caption(piece.number, piece.title)
        yield from definitions(piece, types or {})
    yield from set_terms(around) if is_docstring else around


def listings(prose: Prose) -> Iterator[Listing]:
    """The lists of a docstring, for callers that need the names in them."""
    if has_fields(prose):
        for piece in pieces(prose.lines, True):
            if isinstance(piece, Listing):
                yield piece


def pieces(
    lines: Lines, is_docstring: bool, is_module: bool = False
) -> Iterator[Listing | tuple[int, str]]:
    """Prose as its lists, and the lines around them."""
    at = 0
    is_code = fences(lines)
    while at < len(lines):
        number, text = lines[at]
        if is_code[at] or not (":" in (text[:1], text[-1:]) or text in TITLES):
            yield number, text
            at += 1
        elif (section := underlined(lines, at)) and (
            is_docstring or (is_module and section[0] in LISTS)
        ):
            title, body = section
            at += 2
            if title in LISTS:
                at += len(body)
                yield Listing(number, text, title, (*numpy_entries(body, title),))
            else:
                yield from caption(number, title)
        elif COLON.match(text):
            body = tuple(colons(lines[at:]))
            at += len(body)
            yield from sphinx_lists(body)
            yield lines[at - 1][0], ""
        elif body := below(lines, at):
            at += 1 + len(body)
            yield from google_section(number, text, body)
            yield lines[at - 1][0], ""
        else:
            yield number, text
            at += 1


def google_section(
    number: int, text: str, body: Lines
) -> Iterator[Listing | tuple[int, str]]:
    """
    ## Below a title with a colon

    Args:
        number: the number of a line.
        text: that line, `Args:` or another title.
        body: the lines that are indented below it.
    """
    title = TITLES[text[:-1]]
    if title in LISTS:
        yield Listing(number, text, title, (*google_entries(body, title),))
    elif title in BOXES:
        yield from directives.head_of_box(number, BOXES[title], title)
        yield from moved(leveled(dedented(body)), "    ")
    else:
        yield from caption(number, title)
        yield from leveled(dedented(body))


def below(lines: Lines, at: int) -> Lines:
    """The lines that are indented below a title in Google's style."""
    body = indented(lines[at + 1 :]) if is_title(lines[at][1]) else ()
    return body if any(text for _, text in body) else ()


def caption(number: int, title: str) -> Lines:
    """The title of a list."""
    return (number, ""), (number, title), (number, "{ .sbs-fields }"), (number, "")


def definitions(
    listing: Listing, types: Mapping[str, str], depth: int = 0
) -> Iterator[tuple[int, str]]:
    """Each item as a term with its type, and a definition."""
    comes_back = listing.title in ("Returns", "Yields")
    for number, name, kind, text in listing.entries:
        keys = {"Returns": "return", "Yields": "yield"}
        known = types.get(keys.get(listing.title, name.lstrip("*")), "")
        if comes_back and (name or is_block(text)):
            known = ""
        shown = kind or known
        is_name = bool(listing.title or kind)
        terms = [f"`{name}`" if is_name and "`" not in name else name] if name else []
        terms += [f"`{shown}`{{ .sbs-type }}"] if shown else []
        yield number, ""
        if terms:
            yield number, " ".join(terms)
        mark = ":   " if terms else ""
        if mark and is_block(text):
            yield number, mark
            yield number, ""
            mark = "    "
        body = leveled(set_terms(dedented(text), depth + 1))
        for at, line in body or ((number, ""),):
            yield at, f"{mark}{line}" if line or mark.strip() else ""
            mark = "    " if terms else ""
    yield listing.number, ""


def set_terms(lines: Sequence[tuple[int, str]], depth: int = 0) -> Lines:
    """
    ## reStructuredText's style

    A line with deeper ones directly below it is a term with its definition. By that
    rule, any sentence whose second line hangs would be a term, so here only names and
    values are terms.

    Args:
        lines: the lines of a docstring around its lists, or those of an item.
        depth: how many lists are around them.

    Returns:
        The same lines with definition lists as in Markdown.
    """
    # Most prose has no line that is indented.
    if not any(text[:1] == " " for _, text in lines):
        return tuple(lines)
    done: list[tuple[int, str]] = []
    is_code = fences(lines)
    at = 0
    while at < len(lines):
        number, text = lines[at]
        before = done[-1][1] if done else ""
        is_behind = not before or BOX.match(before) or DASHES.fullmatch(before)
        begins = not is_code[at] and is_behind
        found, end = terms(lines, at) if begins and depth < DEEPEST else ((), at)
        deep = within(done, indentation(text)) if found else ""
        # A mere name is a term only with several words below it, and neither at the
        # very beginning nor where Markdown would see indented code.
        is_place = bool(done) and len(deep) == indentation(text)
        if found and (
            not NAMES.fullmatch(text.strip())
            or (is_place and " " in found[0].text[0][1].strip())
        ):
            made = definitions(Listing(number, text, "", found), {}, depth)
            done += moved(made, deep)
            at = end
        else:
            done.append((number, text))
            at += 1
    return tuple(done)


def terms(lines: Sequence[tuple[int, str]], at: int) -> tuple[tuple[Entry, ...], int]:
    """The items of the definition list that begins with a line, and where it ends."""
    margin = indentation(lines[at][1])
    found: list[Entry] = []
    end = at
    while at + 1 < len(lines):
        number, text = lines[at]
        if not text and found:
            at += 1
            continue
        term = TERM.fullmatch(text, margin)
        if not term or indentation(text) != margin:
            break
        # After the first item a colon needs no blank in front of it, and a box that was
        # written right below a term has a blank line above it by now.
        gap = bool(found) and not lines[at + 1][1] and is_block(lines[at + 2 : at + 3])
        if indentation(lines[at + 1 + gap][1]) <= margin:
            break
        if (term["colon"] or term["round"]) and PROSE.match(term["name"]):
            break
        if term["colon"] == ": " and not found:
            break
        body = deeper(tuple(lines[at + 1 :]), margin)
        found.append(defined(number, term, trimmed(body)))
        end = at = at + 1 + len(body)
    return tuple(found), end


def defined(number: int, term: re.Match[str], body: Lines) -> Entry:
    """A term with its definition. A name without a type is shown as it is written."""
    name, kind = term["name"], clean(term["type"] or (term["round"] or "")[1:-1])
    if kind:
        name = clean(name).replace("\\", "")
        if goes_on(kind, body):
            # That is no type: the definition begins on the line of its term.
            return Entry(number, f"`{name}`", "", ((number, kind), *body))
    elif "*" in name and "`" not in name:
        name = f"`{name}`"
    return Entry(number, name, kind, body)
