"""
---
title: Fields
summary: "Args, Returns and Raises: from three styles to a list with types."
---

# Fields

A docstring in Google's style ends with `Args:`, `Returns:` and `Raises:`, each with an
indented list. Markdown knows nothing of that style and would run the list together into
one paragraph. This stage turns each into a definition list, and fills in the types from
the signature. A nested list, a box or a fence below an item keeps its own layout.

In the same style, `Note:` and `Warning:` with indented text below become boxes. Code
below `Example:`, or below an item, has [a fence][sidebyside.rst.open_code] by now.

Code that was written for Sphinx has other styles: NumPy's, with a line of dashes below
`Parameters`, and `:param name:`. These become the same lists, and so does a
[definition list][set_terms] of reStructuredText.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from sidebyside import rst
from sidebyside.prose import (
    BOX,
    DASHES,
    FENCE,
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
    open_fence,
    trimmed,
    within,
)
from sidebyside.prose import ITEM as BULLET
from sidebyside.read import Definer, tree_of
from sidebyside.rst import DEEPEST, deeper

# The boxes of Google's style, each with its kind.
BOXES = {title: kind for kind, title in rst.BOXES.values()}
BOXES |= {"Notes": "note", "Warnings": "warning"}

SPHINX = {
    "Arguments": ("param", "parameter", "arg", "argument", "key", "keyword"),
    "Attributes": ("var", "ivar", "cvar"),
    "Raises": ("raises", "raise", "except", "exception"),
    "Returns": ("return", "returns"),
    "Yields": ("yield", "yields"),
    "types": ("type", "vartype", "rtype"),
}
WORDS = {word: title for title, words in SPHINX.items() for word in words}
COLON = re.compile(
    rf":(?P<word>{'|'.join(WORDS)})(?: +(?P<what>[^:\s][^:]*))? ?:(?: +|$)"
)
# Sphinx knows more words than these, and a project may have its own.
OTHER = re.compile(r":[A-Za-z][^:`]*:(?: |$)")

ROLE = r":[\w:]+:`[^`\n]*`"
ROUND = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
SQUARE = r"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*\]"
# `name: text`, `name (type): text`, `one, two: text` and `*names: text`, with or
# without backticks.
NAME = r"(?::[\w:]+:)?`?~?(?:\\?\*){0,2}\w[\w.]*`?"
ITEM = re.compile(
    rf"(?P<name>{NAME}(?:, *{NAME})*|``\w[\w.]*``)(?: *(?P<type>{ROUND}))? *:(?:\s+|$)"
)
NAMES = re.compile(rf"{NAME}(?:, *{NAME})*(?:, *\.\.\.)?")
# Errors without a description.
ERROR = r"(?:\w+\.)*[A-Z]\w*"
ERRORS = re.compile(rf"{ERROR}(?:, *{ERROR})*")

# A term of reStructuredText, if it is a name or a value: `x : int`, `'linear'`.
VALUE = rf"""(?:'[^'\n]+'|"[^"\n]+"|``[^`\n]+``)(?: {ROUND})?"""
WORD = rf"(?:{NAME}|{VALUE})"
TERM = re.compile(
    rf"(?P<name>{WORD}(?:, *{WORD})*)"
    # `x : int`, and ``x (`int`, *optional*):``, as Hugging Face writes it.
    rf"(?:(?P<colon> ?: )(?P<type>\S[^\n]*)| (?P<round>(?=\(\[?`){ROUND}):)?"
)
SENTENCE = re.compile(r"\b(?:\w+ ){4}\w+")
TERMS = re.compile(rf"^(?P<margin> *){TERM.pattern}\n(?P=margin) +\S", re.MULTILINE)

# What `Returns:` begins with, if that might be a type.
HEAD = re.compile(
    rf"(?P<head>(?:{ROLE}|`[^`\n]*`|{ROUND}|{SQUARE}|[^:`()\[\]])+):\s+\S"
)
ATOM = rf"(?:[A-Za-z_]\w*(?:\.\w+)*(?:{SQUARE})?|{ROUND}|'\w+'|\"\w+\")"
TYPE = re.compile(rf"{ATOM}(?:(?: ?\| ?| or | of |, ){ATOM})*")
# Types that look like words, and words that look like types.
SMALL = re.compile(
    r"(?:(?:or|of|optional|int|float|complex|bool|str|string|bytes|bytearray|object"
    r"|dict|dictionary|list|tuple|set|frozenset|type|callable|function|module|generator"
    r"|iterator|iterable|sequence|mapping|array|ndarray|tensor)s?\b\W*)+"
)
PROSE = re.compile(
    "False|True|(?:Notes?|Warnings?|Tips?|Examples?|Hints?|Important|Caution|Default"
    "|Usage|Otherwise|or|of|optional|Remarks?|Returns?|See|TODO|Todo|Yields?)$"
)
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
    if "\n " in text and TERMS.search(text):
        return True
    signs = (":\n", "\n:", "\n---", "\n===")
    may_be = text.startswith(":") or any(sign in text for sign in signs)
    return may_be and any(
        line in TITLES or is_title(line) or COLON.match(line) for _, line in prose.lines
    )


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


class Entry(NamedTuple):
    """
    ## Items

    Args:
        number: its line.
        name: what it is about, if it has a name.
        type: the type, if that is written here.
        text: what is said about it.
    """

    number: int
    name: str
    type: str
    text: Lines


class Listing(NamedTuple):
    """
    A list, whatever the style.

    Args:
        number: the line that it begins with.
        written: that line.
        title: its title on the page.
        entries: its items.
    """

    number: int
    written: str
    title: str
    entries: tuple[Entry, ...]


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
        if SENTENCE.search(kind) and body[0][1][:1].islower():
            # That is no type: the definition begins on the line of its term.
            return Entry(number, f"`{name}`", "", ((number, kind), *body))
    elif "*" in name and "`" not in name:
        name = f"`{name}`"
    return Entry(number, name, kind, body)


def is_block(text: Sequence[tuple[int, str]]) -> bool:
    """Whether a text begins with a fence, a box or a formula."""
    first = text[0][1].lstrip() if text else ""
    return bool(FENCE.match(first) or BOX.match(first)) or first == "$$"


def below(lines: Lines, at: int) -> Lines:
    """The lines that are indented below a title in Google's style."""
    body = indented(lines[at + 1 :]) if is_title(lines[at][1]) else ()
    return body if any(text for _, text in body) else ()


def indented(lines: Lines) -> Lines:
    """The lines up to the first that is neither blank nor indented."""
    return tuple(takewhile(lambda line: line[1][:1] in ("", " "), lines))


def google_section(
    number: int, text: str, body: Lines
) -> Iterator[Listing | tuple[int, str]]:
    """
    ## Google's style

    Args:
        number: the number of a line.
        text: that line, `Args:` or another title.
        body: the lines that are indented below it.
    """
    title = TITLES[text[:-1]]
    if title in LISTS:
        yield Listing(number, text, title, (*google_entries(body, title),))
    elif title in BOXES:
        yield from boxed(number, title, body)
    else:
        yield from caption(number, title)
        yield from leveled(dedented(body))


def google_entries(body: Lines, title: str) -> Iterator[Entry]:
    """
    Items of the form `name (type): text`, with more text below that may be indented. A
    return value has at most a type in front, and is otherwise one text.
    """
    lines = dedented(body)
    starts = [*item_starts(lines, title)]
    first = starts[0][0] if starts else len(lines)
    if any(text for _, text in lines[:first]):
        yield Entry(lines[0][0], "", "", lines[:first])
    stops = [at for at, *_ in starts[1:]]
    for (at, name, kind, rest), stop in zip(starts, [*stops, len(lines)], strict=False):
        number = lines[at][0]
        text = (*(((number, rest),) if rest else ()), *hung(lines[at + 1 : stop]))
        yield Entry(number, name, kind, text)


def item_starts(lines: Lines, title: str) -> Iterator[tuple[int, str, str, str]]:
    """The lines that begin an item, each with its name, its type, and the rest."""
    outer = [
        at
        for at, ((_, text), is_code) in enumerate(
            zip(lines, fences(lines), strict=True)
        )
        if text and text[0] != " " and not is_code
    ]
    items = [(at, ITEM.match(lines[at][1])) for at in outer]
    comes_back = title in ("Returns", "Yields")
    # Several names may come back. A single word with a colon is more likely to begin a
    # sentence.
    has_names = (
        comes_back
        and len(items) > 1
        and not leading_type(lines[outer[0]][1])
        and all(item and not PROSE.match(item["name"]) for _, item in items)
    )
    for at, item in items:
        text = lines[at][1]
        if item and (not comes_back or item["type"] or has_names):
            name = clean(item["name"]).replace("\\", "")
            yield at, name, clean((item["type"] or "")[1:-1]), text[item.end() :]
        elif comes_back and (kind := leading_type(text)):
            yield at, "", clean(kind), text[len(kind) + 1 :].lstrip()
        elif title in ("Raises", "Warns") and ERRORS.fullmatch(clean(text)):
            yield at, clean(text), "", ""


def hung(lines: Lines) -> Lines:
    """
    The lines below the first one of an item. Those that hang, which means that they are
    indented, are moved to the left. From the first line that is not indented on, all
    stay where they are: an indented line there belongs to a line above it, like the
    body of a fence or of a box.
    """
    outer = (at for at, (_, text) in enumerate(lines) if text and text[0] != " ")
    end = next(outer, len(lines))
    return *dedented(lines[:end]), *lines[end:]


def leading_type(text: str) -> str:
    """The type that a line begins with, if it begins with one and a colon."""
    found = HEAD.match(text)
    if not found:
        return ""
    kind = clean(found["head"])
    if not TYPE.fullmatch(kind) or PROSE.match(kind):
        return ""
    # A single word is a type if it is a well-known one, or written like a class.
    sure = re.search(r"^\(|[\[|]|\w\.\w", kind) or SMALL.fullmatch(kind)
    if sure or (kind[0].isupper() and " " not in kind) or " or " in kind:
        return found["head"]
    return ""


def clean(text: str) -> str:
    """A name or a type without backticks and roles."""
    text = text.replace("*optional*", "optional")
    if "`" not in text:
        return text
    text = re.sub(r"\[`~?([\w.]+)`\]", r"\1", text)
    return re.sub(r"(?::[\w:]+:)?`~?([^`]*)`", r"\1", text).replace("`", "")


def boxed(number: int, title: str, body: Lines) -> Iterator[tuple[int, str]]:
    """A note or a warning as a box."""
    yield from rst.head_of_box(number, BOXES[title], title)
    yield from moved(leveled(dedented(body)), "    ")


def underlined(lines: Lines, at: int) -> tuple[str, Lines] | None:
    """The section of NumPy's style that begins with a line: its title and its lines."""
    title = TITLES.get(lines[at][1])
    if not title:
        return None
    if at + 1 == len(lines) or not DASHES.fullmatch(lines[at + 1][1]):
        return None
    end = at + 2
    while end < len(lines) and not (
        end + 1 < len(lines) and DASHES.fullmatch(lines[end + 1][1])
    ):
        end += 1
    return title, lines[at + 2 : end]


def numpy_entries(body: Lines, title: str) -> Iterator[Entry]:
    """
    ## NumPy's style

    Items of the form `name : type`, each with indented text below it. A return value
    needs no name, and some authors describe it in a sentence instead. Some indent the
    whole list.
    """
    front = indented(body)
    body = (*trimmed(front), *body[len(front) :])
    at = 0
    while at < len(body):
        number, head = body[at]
        if is_block(body[at : at + 1]) or BULLET.match(head):
            block = block_at(body, at)
            at += len(block)
            yield Entry(number, "", "", block)
            continue
        text = indented(body[at + 1 :])
        at += 1 + len(text)
        if not head:
            # Indented lines after a block belong to it.
            if any(line for _, line in text):
                yield Entry(number, "", "", text)
            continue
        name, colon, kind = map(str.strip, clean(head).partition(" : "))
        if not colon and (match := re.match(rf"({NAMES.pattern}) ?:(?: +|$)", head)):
            name, colon, kind = clean(match[1]), ":", clean(head[match.end() :])
        name = name.replace("\\", "")
        if title == "See also" and re.fullmatch(r"[\w.]+(?:, *[\w.]+)*", name):
            # As roles, these names lead to their definitions, if those are known.
            name = ", ".join(f":obj:`{each}`" for each in re.split(", *", name))
        if title in ("Methods", "See also"):
            yield Entry(number, name, "", ((number, kind), *text) if kind else text)
        elif title in ("Returns", "Yields") and not colon:
            if " " in head and not any(line for _, line in text):
                yield Entry(number, "", "", ((number, head),))
            else:
                yield Entry(number, "", name, text)
        elif not colon and not NAMES.fullmatch(head):
            yield Entry(number, "", "", ((number, head), *text))
        else:
            yield Entry(number, name, kind, text)


def block_at(lines: Lines, at: int) -> Lines:
    """The fence, the box, the formula or the list that begins with a line."""
    first = lines[at][1]
    if BULLET.match(first):
        ends = (
            end
            for end in range(at + 1, len(lines))
            if lines[end][1].lstrip() == lines[end][1] != ""
            and not BULLET.match(lines[end][1])
        )
        return lines[at : next(ends, len(lines))]
    if BOX.match(first):
        return lines[at], *indented(lines[at + 1 :])
    fence = open_fence(first, "")
    for end in range(at + 1, len(lines)):
        text = lines[end][1]
        if not open_fence(text, fence) if fence else text == "$$":
            return lines[at : end + 1]
    return lines[at:]


def colons(lines: Lines) -> Iterator[tuple[int, str]]:
    """
    ## Sphinx's style

    The lines of a list whose items begin with `:param name:` and the like.
    """
    for at, (number, text) in enumerate(lines):
        if not text:
            follows = next((line for _, line in lines[at:] if line), "")
            if not follows.startswith(" ") and not COLON.match(follows):
                return
        yield number, text


def sphinx_lists(body: Lines) -> Iterator[Listing | tuple[int, str]]:
    """
    The lists in the lines that [colons][] finds: of arguments, of errors, and so on.
    Lines that belong to no list come below them, as they were written.
    """
    entries = [*sphinx_entries(body)]
    for title in SPHINX:
        if ours := [entry for kind, entry in entries if kind == title]:
            yield Listing(body[0][0], ":param:", title, (*ours,))
    for kind, entry in entries:
        if not kind:
            yield from ((entry.number, ""), *entry.text)


def sphinx_entries(body: Lines) -> Iterator[tuple[str, Entry]]:
    """
    Items of the form `:param name: text`, each with the title that it belongs to. Items
    of no list have an empty title.
    """
    types: dict[str, list[Entry]] = {}
    found: list[tuple[str, Entry]] = []
    starts = [
        at
        for at, (_, text) in enumerate(body)
        if text[:1] == ":" and (COLON.match(text) or OTHER.match(text))
    ]
    for start, stop in zip(starts, [*starts[1:], len(body)], strict=True):
        number, first = body[start]
        more = dedented(body[start + 1 : stop])
        if match := COLON.match(first):
            what = (match["what"] or "").replace("\\", "").strip()
            *kind, name = [what] if NAMES.fullmatch(what) else what.split() or [""]
            text = first[match.end() :]
            if match["word"] in SPHINX["types"]:
                words = " ".join([text, *(line.strip() for _, line in more)])
                typed = Entry(number, name, clean(words).strip(), ())
                types.setdefault(name, []).append(typed)
            else:
                entry = Entry(number, name, " ".join(kind), ((number, text), *more))
                found.append((WORDS[match["word"]], entry))
        else:
            yield "", Entry(number, "", "", body[start:stop])
    for title, entry in found:
        # Without a name, a type is that of the return value, and not of an error.
        given = [] if title == "Raises" else types.pop(entry.name, [])
        kinds = [entry.type, *(each.type for each in given)]
        yield title, entry._replace(type=", ".join(dict.fromkeys(filter(None, kinds))))
    for name, lost in types.items():
        yield from (("Arguments" if name else "Returns", entry) for entry in lost)
