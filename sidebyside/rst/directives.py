"""
---
title: Directives
summary: Boxes, pictures, formulas and code, as Sphinx knows them.
---

# Directives

In reStructuredText, two dots begin a *directive* such as `.. note::`, but also a
reference, the address of a link (a *target*), or a comment. The lines that belong to
any of these are indented below it. This is the first of [the two
passes][sidebyside.rst]. Titles and tables have lines of their own as well, but no dots.
They are handled in this pass, too.
"""

import re
from collections.abc import Iterator
from itertools import groupby

from sidebyside.prose import (
    Lines,
    fenced,
    indentation,
    moved,
    open_fence,
    trimmed,
    within,
)
from sidebyside.rst.examples import example
from sidebyside.rst.indented import deeper, literal
from sidebyside.rst.roles import in_katex, label, url
from sidebyside.rst.tables import (
    as_lists,
    drawn,
    table_of_lists,
    table_of_values,
)

MARK = re.compile(r" *\.\.(?: +(?P<rest>.*))?")
DIRECTIVE = re.compile(r"(?P<name>[\w:-]*\w) ?::(?: +(?P<words>.*))?")
REFERENCE = re.compile(r"\[(?P<label>#?[\w.-]+|[#*])\](?: +(?P<words>.*))?")
WORDING = re.compile(
    r"\|(?P<name>[^|\s](?:[^|]*[^|\s])?)\| replace::(?: +(?P<words>.*))?"
)
OPTION = re.compile(
    r" *:(?P<name>align|alt|caption|class|context|dedent|emphasize-lines|fig\w+|force"
    r"|format|header(?:-rows)?|height|hide|include-source|label|lineno-start|linenos"
    r"|name|nofigs|nosignatures|nowrap|number-lines|options|pyversion|recursive|scale"
    r"|skipif|target|template|toctree|widths?):(?: +(?P<value>.*))?"
)

# Lines of a verse or an address, and facts about a module at its top.
LINE = re.compile(r" *\|(?: (?P<words>[^|]*))?")
FACT = re.compile(
    r" *:(?P<name>[A-Z][\w -]*|author|contact|copyright|date|licen[cs]e|organization"
    r"|status|version):(?: +(?P<words>.*))?"
)

# What Sphinx is told about the thing itself.
META = re.compile(r" *:meta (?:private|public|hide-value):")

# The kinds of boxes, and their titles.
BOXES = {
    "admonition": ("note", ""),
    "attention": ("warning", "Attention"),
    "caution": ("warning", "Caution"),
    "danger": ("danger", "Danger"),
    "deprecated": ("warning", "Deprecated since version {}"),
    "error": ("danger", "Error"),
    "hint": ("tip", "Hint"),
    "important": ("info", "Important"),
    "note": ("note", "Note"),
    "seealso": ("info", "See also"),
    "tip": ("tip", "Tip"),
    "todo": ("note", "To do"),
    "topic": ("note", ""),
    "version-added": ("info", "Added in version {}"),
    "version-changed": ("info", "Changed in version {}"),
    "version-deprecated": ("warning", "Deprecated since version {}"),
    "version-removed": ("warning", "Removed in version {}"),
    "versionadded": ("info", "Added in version {}"),
    "versionchanged": ("info", "Changed in version {}"),
    "versionremoved": ("warning", "Removed in version {}"),
    "warning": ("warning", "Warning"),
}
FENCES = {
    "code": "python",
    "code-block": "python",
    "doctest": "pycon",
    "ipython": "ipython",
    "parsed-literal": "text",
    "plot": "python",
    "sourcecode": "python",
    "testcode": "python",
    "testoutput": "text",
}
# Directives meant for Sphinx, and not for a reader.
HIDDEN = re.compile(
    "(current)?module|index|highlight|auto(?!summary)[a-z]+|contents|default-role"
    "|rst-class|sectionauthor|codeauthor|tabularcolumns|testsetup|testcleanup|toctree"
)
# Directives that only enclose some text.
BARE = {"compound", "container", "only"}
UNDERLINE = re.compile(r" *(?:~{3,}|\^{3,})")
# An item that Markdown does not know as one.
ITEM = re.compile(r" *(?P<mark>#\.|[•‣⁃◦▪●]) +\S")
DEEPEST = 20
NO_BREAK = "\N{NO-BREAK SPACE}"


def blocks(lines: Lines, is_docstring: bool, depth: int = 0) -> list[tuple[int, str]]:
    """
    ## Line by line

    Args:
        lines: the lines of some prose.
        is_docstring: whether comments are left out.
        depth: how many boxes are around them.

    Returns:
        The same lines in Markdown.
    """
    done: list[tuple[int, str]] = []
    fence = ""
    at = 0
    while at < len(lines):
        number, text = lines[at]
        before, fence = fence, open_fence(text, fence)
        begins = not (done and done[-1][1])
        rest = lines[at:]
        taken: Lines = ()
        if not before and underlines(text, done):
            fence = ""
            taken = rest[:1]
            done.append((number, re.sub("[~^]", "-", text)))
        elif not (before or fence) and text:
            if item := ITEM.match(text):
                known = "1." if item["mark"] == "#." else "-"
                text = text.replace(item["mark"], known, 1)
                rest = ((number, text), *rest[1:])
            if is_docstring and META.fullmatch(text):
                taken = rest[:1]
            elif text.lstrip().startswith(">>> "):
                taken = tuple(example(rest, indentation(text)))
                done += taken
            elif (mark := MARK.fullmatch(text)) and depth < DEEPEST:
                taken, made = marked(rest, mark["rest"] or "", is_docstring, depth)
                done += moved(made, within(done, indentation(text)))
            elif text.endswith("::"):
                taken, made = literal(rest, done, is_docstring)
                done += made
            elif (found := drawn(rest, begins))[0]:
                taken, made = found
                done += moved(made, within(done, indentation(text)))
            elif begins and text.lstrip()[:1] in ("|", ":"):
                taken, made = kept_apart(rest)
                done += made
        if not taken:
            done.append((number, text))
        at += len(taken) or 1
    return done


def underlines(text: str, before: list[tuple[int, str]]) -> bool:
    """
    Whether a line makes a title of the one above it. Markdown uses `=` and `-` for
    that, and would take `~` for the beginning of a fence.

    Args:
        text: the line.
        before: the lines above it.
    """
    if not (UNDERLINE.fullmatch(text) and before):
        return False
    title = before[-1][1]
    stands_alone = len(before) == 1 or not before[-2][1]
    is_words = bool(title) and indentation(title) == indentation(text)
    return stands_alone and is_words and title[-1] != ":" and len(text) >= len(title)


def marked(
    lines: Lines, words: str, is_docstring: bool, depth: int
) -> tuple[Lines, Lines]:
    """
    Anything that begins with two dots: a directive, a reference, a target or a comment.

    Returns:
        Its lines, and what they become.
    """
    number, first = lines[0]
    body = deeper(lines[1:], indentation(first))
    own = lines[: 1 + len(body)]
    plain = trimmed(body)
    if found := DIRECTIVE.fullmatch(words):
        name = found["name"].lower().removeprefix("py:")
        made = directive(name, (number, found["words"] or ""), plain)
        if made is None:
            return (), ()
        if name in BOXES or name in BARE:
            at, deep = (2, "    ") if name in BOXES else (1, "")
            inner = blocks(made[at:], is_docstring, depth + 1)
            return own, (*made[:at], *moved(inner, deep), (own[-1][0], ""))
        return own, made
    if found := REFERENCE.fullmatch(words):
        item = f"- {label(found['label'])} {found['words'] or ''}".rstrip()
        return own, ((number, item), *moved(plain, "    "))
    if is_docstring and (WORDING.fullmatch(words) or not words.startswith("|")):
        return own, ((number, ""),)
    return (), ()


def directive(name: str, head: tuple[int, str], body: Lines) -> Lines | None:
    """
    ### One directive

    Args:
        name: which directive it is.
        head: the number of its line, and the words after its name.
        body: the lines below it.

    Returns:
        What it becomes; `None` if it is not known. The lines of a directive that only
        encloses some text, such as a box, still have to go through [blocks][].
    """
    number, words = head
    options, body = with_options(name, body)
    lead = ((number, words),) if words else ()
    made: Lines | None = None
    if HIDDEN.fullmatch(name):
        made = ((number, ""),)
    elif name in BOXES:
        made = box(name, number, words, body)
    elif name in BARE:
        made = (number, ""), *body
    elif name == "math":
        made = formulas((*lead, *body))
    elif name in FENCES and not (name == "plot" and words):
        made = code(name, head, options, body)
    elif name in ("image", "figure") and words:
        made = picture(number, words.strip(), options, body)
    elif name == "rubric":
        made = (number, ""), (number, f"**{words}**"), (number, ""), *body
    elif name == "list-table":
        made = captioned(number, words, table_of_lists(options, body) or as_lists(body))
    elif name == "csv-table":
        made = captioned(number, words, table_of_values(number, options, body))
    elif name == "autosummary":
        names = ((n, f"- :obj:`{text.strip()}`") for n, text in body if text)
        made = (number, ""), *names, (number, "")
    return made


def box(name: str, number: int, words: str, body: Lines) -> Lines:
    """
    ### Boxes

    Returns:
        A blank line, the head of a box, and its contents, not indented yet.
    """
    kind, title = BOXES[name]
    if not title:
        title, words = words, ""
    elif "{}" in title:
        version, _, words = words.partition(" ")
        title = title.format(version)
    lead = ((number, words),) if words else ()
    return *head_of_box(number, kind, title.replace('"', "'")), *lead, *body


def head_of_box(number: int, kind: str, title: str) -> Lines:
    """A blank line and the head. A title that says only the kind is left out."""
    shown = f' "{title}"' if title and title.lower() != kind else ""
    return (number, ""), (number, f"!!! {kind}{shown}")


def code(
    name: str, head: tuple[int, str], options: dict[str, str], body: Lines
) -> Lines | None:
    """Code in a fence, below its caption."""
    number, words = head
    is_language = re.fullmatch(r"[\w+#.-]*", words)
    said = options.get("caption", "" if is_language else words)
    made = fenced(body, (is_language and words) or FENCES[name])
    return captioned(number, said, made)


def captioned(number: int, title: str, made: Lines | None) -> Lines | None:
    """A table or some code, if it is there, below its title, if it has one."""
    if made is None or not title:
        return made
    return (number, ""), (number, title), *made


def with_options(name: str, body: Lines) -> tuple[dict[str, str], Lines]:
    """The options that a directive begins with, and the lines after them."""
    options: dict[str, str] = {}
    at = 0
    while at < len(body) and (found := OPTION.fullmatch(body[at][1])):
        # Only a table of values has a row of titles here. Elsewhere these are words.
        if found["name"] == "header" and not (name == "csv-table" and found["value"]):
            break
        options[found["name"]] = found["value"] or ""
        at += 1
    return options, trimmed(body[at:]) if at else body


def formulas(body: Lines) -> Lines:
    """
    ### Formulas

    A blank line ends a formula and begins another. In Sphinx, rows need no environment;
    in TeX they do.
    """
    made: list[tuple[int, str]] = []
    whole: Lines = ()
    last_of = max((n for n, text in body if text), default=0)
    for lines in paragraphs(tuple((n, in_katex(text)) for n, text in body)):
        # Within an environment, a blank line is only a blank line.
        part = (*whole, *lines)
        tex = "\n".join(text for _, text in part)
        if tex.count("\\begin{") > tex.count("\\end{") and part[-1][0] != last_of:
            whole = part
            continue
        whole = ()
        first, last = part[0][0], part[-1][0]
        begin = end = "$$"
        if "\\begin{" not in tex and (r"\\" in tex or re.search(r"(?<!\\)&", tex)):
            begin, end = r"$$\begin{aligned}", r"\end{aligned}$$"
        elif re.match(r"\\begin\{(align|alignat|equation|gather)\*?\}", tex):
            begin = end = ""
        made += [(first, ""), *([(first, begin)] if begin else []), *part]
        made += [*([(last, end)] if end else []), (last, "")]
    return tuple(made)


def paragraphs(lines: Lines) -> Iterator[Lines]:
    """Some lines as paragraphs, without the blank lines between these."""
    for is_text, part in groupby(lines, key=lambda line: bool(line[1])):
        if is_text:
            yield tuple(part)


def kept_apart(lines: Lines) -> tuple[Lines, Lines]:
    """
    ## Lines that stay lines

    Markdown would run them into one paragraph.

    Args:
        lines: they begin with a paragraph, of lines with a bar in front of each, or of
            lines such as `:Name: words`. A line that is indented below one of them
            belongs to it.

    Returns:
        The lines of that paragraph, and the same in Markdown; nothing, if they are
        neither.
    """
    paragraph = next(paragraphs(lines))
    first = paragraph[0][1]
    pattern = LINE if LINE.fullmatch(first) else FACT
    deep = first[: indentation(first)]
    made: list[tuple[int, str]] = []
    for number, text in paragraph:
        found = pattern.fullmatch(text)
        if found is None and (not made or indentation(text) <= len(deep)):
            return (), ()
        if found is None:
            made.append((number, f"{deep}  {text.strip()}"))
        elif pattern is FACT:
            name = found["name"][0].upper() + found["name"][1:]
            words = f"- **{name}:** {found['words'] or ''}"
            made.append((number, deep + words.rstrip()))
        else:
            words = (found["words"] or "").rstrip()
            inside = indentation(words)
            made.append((number, f"{deep}{NO_BREAK * inside}{words[inside:]}  "))
    return paragraph, tuple(made)


def picture(number: int, address: str, options: dict[str, str], body: Lines) -> Lines:
    """### Pictures, each with what is said below it"""
    words = re.sub(r"[\[\]]", "", options.get("alt", ""))
    size = re.match(r"\d+(?=(px)? *$)", options.get("width", ""))
    shown = f"![{words}]({url(address)})"
    if size:
        shown += f"{{ width={size[0]} }}"
    if "target" in options:
        shown = f"[{shown}]({url(options['target'])})"
    return (number, ""), (number, shown), (number, ""), *body
