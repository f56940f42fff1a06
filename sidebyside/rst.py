r"""
---
title: reStructuredText
summary: From the markup of Sphinx to Markdown.
---

# reStructuredText

Much code has docstrings for Sphinx, in a markup other than Markdown. This stage turns
the common parts of that markup into Markdown. It leaves anything it does not know as it
is, so that the reader at least sees what the author wrote.

| in a docstring | on the page |
|---|---|
| ``:math:`x^2` ``, `.. math::` | a formula |
| `.. note::`, `.. versionadded:: 2.0` and the like | a box |
| `.. code-block:: c`, and text indented below `::` | code |
| `.. image:: x.png`, `.. figure:: x.png` | a picture |
| `.. list-table::`, `.. csv-table::` | a table, or lists if it holds too much |
| `` `words <address>`_ `` | a link |
| `[1]_` and `.. [1] words` | a list of references |
| `.. |name| replace:: words` | these words in place of each `|name|` |
| lines that begin with `|` | lines that stay lines |
| ``` ``int``\ s ``` | `int`s |
| `:Author: somebody` | a list |
| `#. words` | an item of a numbered list |
| `.. index::`, `.. autofunction::`, `.. a comment`, `:meta private:` | nothing |

Names such as ``:class:`Game` `` are left for [links][sidebyside.links].

There are two passes. The first is for *directives*, which begin with two dots. It comes
before [sessions of `doctest` get their fences][open_examples], since a directive may
hold a session. The second is for the words in a line, including *roles* such as
``:math:`x` ``. It comes after the fences, since anything that looks like a role in a
piece of code is not one.
"""

import ast
import csv
import re
from collections.abc import Iterator
from itertools import chain, groupby, pairwise, takewhile

from sidebyside.mathematics import BEHIND, in_formulas, is_words
from sidebyside.prose import (
    AROUND,
    CODE,
    DASHES,
    FENCE,
    LISTS,
    TITLES,
    Lines,
    Prose,
    example,
    fenced,
    fences,
    indentation,
    is_term,
    is_title,
    moved,
    open_examples,
    open_fence,
    stripped,
    trimmed,
    within,
)
from sidebyside.prose import ITEM as BULLET
from sidebyside.read import tree_of

# Without one of these there is nothing to do.
SIGNS = (
    *("::", ":`", "`_", "`\\ ", "]_", ".. ", "#. ", "== ", "+--", "~~~", "^^^", "| "),
    "\n:",
)

MARK = re.compile(r" *\.\.(?: +(?P<rest>.*))?")
DIRECTIVE = re.compile(r"(?P<name>[\w:-]*\w) ?::(?: +(?P<words>.*))?")
REFERENCE = re.compile(r"\[(?P<label>#?[\w.-]+|[#*])\](?: +(?P<words>.*))?")
TARGET = re.compile(r"_`?(?P<name>[^`:]+|_)`?: *(?P<address>.*)")
WORDING = re.compile(
    r"\|(?P<name>[^|\s](?:[^|]*[^|\s])?)\| replace::(?: +(?P<words>.*))?"
)
OPTION = re.compile(
    r" *:(?P<name>align|alt|caption|class|context|dedent|emphasize-lines|fig\w+|force"
    r"|format|header-rows|height|hide|include-source|label|lineno-start|linenos|name"
    r"|nofigs|nosignatures|nowrap|number-lines|options|pyversion|recursive|scale"
    r"|skipif|target|template|toctree|widths?):(?: +(?P<value>.*))?"
)
# An item of a list of arguments, which may end in `::` as well.
FIELD = re.compile(r" *[`*\\]{0,3}\w[\w.]*`?(?: ?\(.*\))?:(?: .*)?::")

# And one in Sphinx's style, such as `:param name: text::`.
COLONED = re.compile(r" *:[A-Za-z][^:`]*: .*::")

# Lines of a verse or an address, and facts about a module at its top.
LINE = re.compile(r" *\|(?: (?P<words>[^|]*))?")
FACT = re.compile(
    r" *:(?P<name>[A-Z][\w -]*|author|contact|copyright|date|licen[cs]e|organization"
    r"|status|version):(?: +(?P<words>.*))?"
)

# The lists of Epytext, and its code. A docstring of that kind is recognised by one of
# these words.
EPYTEXT = re.compile(
    r"^@(?:arg|cvar|except|ivar|keyword|param|raises?|returns?|rtype|type|var)"
    r"(?: +[\w.*]+)?:",
    re.MULTILINE,
)
TAGGED = re.compile(r"^@(?P<word>[a-z]+)(?P<what> +[\w.*]+)?:", re.MULTILINE)
BRACED = re.compile(r"\b[CL]\{([^{}`\n]+)\}")

# What Sphinx is told about the thing itself.
META = re.compile(r" *:meta (?:private|public|hide-value):")

# Words that announce a list.
ANNOUNCES = re.compile(r"(?!:|[-*+>|#] |\d+[.)] )\S.*[^:]:")

# Titles that always have code below them.
EXAMPLES = {"Example", "Examples", "Usage"}
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
# A directive in a fence, and those directives that are not boxes.
MYST = re.compile(r"(?P<margin> *)`{3,}\{(?P<name>[a-z-]+)\} *(?P<words>[^`]*)")
DRAWINGS = {"figure", "image", "math"}
# Directives meant for Sphinx, and not for a reader.
HIDDEN = re.compile(
    "(current)?module|index|highlight|auto(?!summary)[a-z]+|contents|default-role"
    "|rst-class|sectionauthor|codeauthor|tabularcolumns|testsetup|testcleanup|toctree"
)
# Directives that only enclose some text.
BARE = {"compound", "container", "only"}
RULE = re.compile(r" *=+(?: +=+)+")
UNDERLINE = re.compile(r" *(?:~{3,}|\^{3,})")
DRAWN = re.compile(r" *\+--[+-]*-\+")
EDGE = re.compile(r" *\+(?:-+\+|=+\+)+")
# A row of a table that is written as a list, one of its cells, and what is not plain
# text in a cell.
ROW = re.compile(r"[-*+] +(?=[-*+](?: |$))")
CELL = re.compile(r" *(?P<mark>[-*+])(?: +(?P<words>.*))?")
MORE = re.compile(r"[-*+] |\d+[.)] |\.\. |>>> |`{3}|~{3}|\$\$")
BARS = re.compile(r"(?P<whole>(?P<tick>`+)[^`]+(?P=tick)(?!`)|\$[^$ ][^$]*\$)|\|")
DEEPEST = 20
NO_BREAK = "\N{NO-BREAK SPACE}"
SESSION = r"(?P<session>^[ ]*(?:>>>|\.\.\.)[ ][^\n]*)"


def set_rst(prose: Prose, is_docstring: bool = True) -> Prose:
    """
    ## Both passes

    Args:
        prose: any prose.
        is_docstring: whether it may have reStructuredText's comments. In prose that is
            itself a Python comment, two dots are only two dots.

    Returns:
        The same prose as Markdown, with a fence around each example.
    """
    prose = set_myst(set_back(set_epytext(prose) if is_docstring else prose))
    text = prose.text
    if not (text.startswith(":") or any(map(text.__contains__, SIGNS))):
        return open_code(open_examples(prose))
    lines = tuple(blocks(prose.lines, is_docstring))
    targets = dict(targets_in(prose.lines)) if ".. _" in text else {}
    made = open_code(open_examples(stripped(lines)))
    if is_docstring and "| replace::" in text:
        # A definition whose line is still there was part of some code.
        there = {line.strip() for _, line in lines}
        made = set_wordings(made, dict(wordings_in(prose.lines, there)))
    return set_words(made, targets)


def set_epytext(prose: Prose) -> Prose:
    """
    ### Epytext

    Twisted and projects like it write `@param x:` for `:param x:`, and `L{x}` or `C{x}`
    for code. A docstring without the first is not searched for the second.
    """
    if "@" not in prose.text or not EPYTEXT.search(prose.text):
        return prose
    text = TAGGED.sub(r":\g<word>\g<what>:", prose.text)
    return prose.with_text(BRACED.sub(r"`\1`", text))


def set_myst(prose: Prose) -> Prose:
    """
    ### MyST

    Markdown for Sphinx has directives in fences, such as `{note}` or `{figure} ant.png`
    after the backticks. Boxes, pictures and formulas become those of
    reStructuredText, and any other fence stays a fence.

    Args:
        prose: any prose.
    """
    if "```{" not in prose.text:
        return prose
    done = list(prose.lines)
    at = 0
    while at < len(done):
        number, text = done[at]
        at += 1
        fence = open_fence(text, "")
        if not fence:
            continue
        begins = at
        while at < len(done) and open_fence(done[at][1], fence):
            at += 1
        found = MYST.fullmatch(text)
        if not found or at == len(done) or found["name"] not in {*BOXES, *DRAWINGS}:
            at += 1
            continue
        margin = found["margin"]
        done[begins - 1] = number, f"{margin}.. {found['name']}:: {found['words']}"
        for n, (line, inside) in enumerate(done[begins:at], start=begins):
            done[n] = line, inside and f"{margin}   {inside.removeprefix(margin)}"
        done[at] = done[at][0], ""
        at += 1
    return Prose(tuple(done))


def set_back(prose: Prose) -> Prose:
    """
    ### Lists that are only indented

    A list of terms may be further to the right than the words that announce it. To
    Markdown it would then be code, so it is moved to the left.

    Args:
        prose: any prose.
    """
    if ":\n\n " not in prose.text:
        return prose
    lines = prose.lines
    is_code = fences(lines)
    starts = [
        at
        for at in range(2, len(lines))
        if is_term(lines, at)
        and not is_code[at]
        and indentation(lines[at][1])
        and not lines[at - 1][1]
        and ANNOUNCES.fullmatch(lines[at - 2][1])
    ]
    done = list(lines)
    for at in starts:
        body = deeper(lines[at:], 0)
        margin = min(indentation(text) for _, text in body if text)
        done[at : at + len(body)] = [(number, text[margin:]) for number, text in body]
    return Prose(tuple(done))


def wordings_in(lines: Lines, there: set[str]) -> Iterator[tuple[str, str]]:
    """The names that stand for words, each with its words, except those in code."""
    for at, (_, text) in enumerate(lines):
        mark = MARK.fullmatch(text)
        wording = WORDING.fullmatch(mark["rest"] or "") if mark else None
        if wording and text.strip() not in there:
            below = deeper(lines[at + 1 :], indentation(text))
            said = [wording["words"] or "", *(line for _, line in below)]
            if words := " ".join(" ".join(said).split()):
                yield wording["name"], words


def set_wordings(prose: Prose, wordings: dict[str, str]) -> Prose:
    """
    ### Names that stand for words

    Args:
        prose: prose without directives. In a table it has a backslash before each bar.
        wordings: what each name stands for.

    Returns:
        The same prose with these words, except in code.
    """
    if not wordings:
        return prose
    names = "|".join(map(re.escape, wordings))
    pattern = re.compile(
        rf"(?P<bar>\\?\|)(?P<name>{names})(?P=bar)(?:__?(?!\w))?|{SESSION}|{CODE}",
        re.VERBOSE | re.MULTILINE | re.DOTALL,
    )
    return prose.with_text(
        pattern.sub(lambda found: wordings.get(found["name"], found[0]), prose.text)
    )


def targets_in(lines: Lines) -> Iterator[tuple[str, str]]:
    """The names of links, with their addresses, from lines like `.. _name: address`."""
    for at, (_, text) in enumerate(lines):
        mark = MARK.fullmatch(text)
        target = TARGET.fullmatch(mark["rest"] or "") if mark else None
        if target:
            below = deeper(lines[at + 1 :], indentation(text))
            address = target["address"] + "".join(line for _, line in below)
            if address.strip():
                yield target["name"].casefold(), address


def blocks(lines: Lines, is_docstring: bool, depth: int = 0) -> list[tuple[int, str]]:
    """
    ## Directives

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
        rest = lines[at:]
        taken: Lines = ()
        if not before and underlines(text, done):
            fence = ""
            taken = rest[:1]
            done.append((number, re.sub("[~^]", "-", text)))
        elif not (before or fence) and text:
            if text.lstrip().startswith("#. "):
                text = text.replace("#", "1", 1)
                rest = ((number, text), *rest[1:])
            if is_docstring and META.fullmatch(text):
                taken = rest[:1]
            elif text.lstrip().startswith(">>> "):
                taken = tuple(example(rest, indentation(text)))
                done += taken
            elif (mark := MARK.fullmatch(text)) and depth < DEEPEST:
                taken, made = marked(rest, mark["rest"] or "", is_docstring, depth)
                deep = within(done, indentation(text))
                done += moved(made, deep)
            elif text.endswith("::"):
                taken, made = literal(rest, done, is_docstring)
                done += made
            elif text.lstrip()[:1] in ("|", ":") and not (done and done[-1][1]):
                taken, made = kept_apart(rest)
                done += made
            elif RULE.fullmatch(text) or (
                DRAWN.fullmatch(text) and not (done and done[-1][1])
            ):
                taken, made = table(rest)
                deep = within(done, indentation(text))
                done += moved(made, deep)
            elif text.lstrip().startswith(("+-", "+=")):
                taken, made = drawing(rest)
                deep = within(done, indentation(text))
                done += moved(made, deep)
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
    Args:
        name: which directive it is.
        head: the number of its line, and the words after its name.
        body: the lines below it.

    Returns:
        What it becomes; `None` if it is not known. The lines of a directive that only
        encloses some text, such as a box, still have to go through [blocks][].
    """
    number, words = head
    options, body = with_options(body)
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
        made = table_of_lists(head, options, body) or as_lists(head, body)
    elif name == "csv-table":
        made = table_of_values(head, options, body)
    elif name == "autosummary":
        names = ((n, f"- :obj:`{text.strip()}`") for n, text in body if text)
        made = (number, ""), *names, (number, "")
    return made


def box(name: str, number: int, words: str, body: Lines) -> Lines:
    """A box: a blank line, its head, and its contents, not indented yet."""
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
) -> Lines:
    """Code in a fence, below its caption."""
    number, words = head
    is_language = re.fullmatch(r"[\w+#.-]*", words)
    said = options.get("caption", "" if is_language else words)
    caption = ((number, ""), (number, said)) if said else ()
    return *caption, *fenced(body, (is_language and words) or FENCES[name])


def with_options(body: Lines) -> tuple[dict[str, str], Lines]:
    """The options that a directive begins with, and the lines after them."""
    options: dict[str, str] = {}
    at = 0
    while at < len(body) and (found := OPTION.fullmatch(body[at][1])):
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


def in_katex(tex: str) -> str:
    """A formula, with KaTeX's name for a command that it knows by another."""
    return tex.replace(r"\mbox{", r"\text{")


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


def url(address: str) -> str:
    """An address, as Markdown wants it after the words of a link."""
    address = "".join(address.split())
    return f"<{address}>" if re.search(r"[()]", address) else address


def literal(
    lines: Lines, before: list[tuple[int, str]], is_docstring: bool
) -> tuple[Lines, Lines]:
    """
    ### Code below two colons

    Args:
        lines: a line that ends with two colons, and all lines after it.
        before: the lines above it.
        is_docstring: whether this is a docstring. The end of a comment announces the
            code beside it.

    Returns:
        The line and those of the code, and what they become; nothing, if the line can
        stay as it is.
    """
    number, text = lines[0]
    margin = indentation(text)
    bullet = BULLET.match(text)
    base = bullet.end() - 1 if bullet else margin
    body = deeper(lines[1:], base)
    first = next((line for _, line in body if line), "")
    head = text[:-2].rstrip()
    words = f"{head}:" if text[-3:-2].strip() else head
    said = ((number, words),) if words.strip() else ()
    if not first or (words and is_title(words) and TITLES[words[:-1]] not in EXAMPLES):
        # `Args::` is a title all the same. One colon is also enough where no code
        # follows, and in front of an example, which needs no indentation.
        follows = next((line for _, line in lines[1:] if line), "")
        is_example = follows.startswith(" " * base + ">>> ")
        # A comment in pylit's style ends like this: the code that it announces is
        # beside it.
        taken = is_title(words) or is_example or not (is_docstring or follows)
        return (lines[:1], said) if taken else ((), ())
    if (margin and FIELD.fullmatch(text)) or COLONED.fullmatch(text):
        # The item may go on after the code, with less indentation.
        body = deeper(lines[1:], indentation(first) - 1)
        deep = " " * (margin + 4)
    elif is_title(words) and not margin:
        deep = " " * 4
    elif bullet:
        deep = within([*before, (number, text)], indentation(first))
    else:
        deep = within(before, margin)
    plain = trimmed(body)
    made = fenced(plain, language_of(plain) or "text", deep)
    return lines[: 1 + len(body)], (*said, *made)


LONG = 100
# Indented text after a blank line or a title.
INSIDE = re.compile(r"[\n:]\n ")
# Text that is indented below these is not code. Nor is text that begins with one.
HOLDS = re.compile(rf"{BULLET.pattern}|{AROUND.pattern}| *(?:\.\.|[:<>|\\])")
# Nor is text that begins with a formula, which then stands alone.
FORMULA = re.compile(r" *(?:\$(?! )|\\begin\{)")
# A line that may be a term, if the next line hangs below it.
TERM = re.compile(r""" *(?:(['"]|``)[^'"`]+\1|[\w.,*`\\ ]+ : )""")


def open_code(prose: Prose) -> Prose:
    """
    ### Code that is only indented

    To Markdown, text indented by four blanks after a blank line is code, unless it
    belongs to an item, a box or the like. This function puts a fence around it, so that
    whatever looks for formulas and links recognises it as code. Text that does belong
    to an item or a box is code if Python can read it and it does something. When in
    doubt, this leaves it as it is.

    Args:
        prose: prose whose examples have their fences.
    """
    lines = prose.lines
    if not INSIDE.search(prose.text):
        return prose
    done: list[tuple[int, str]] = []
    fence = ""
    holds = listed = False
    least = 4
    at = 0
    while at < len(lines):
        text = lines[at][1]
        above = lines[at - 1][1] if at else ""
        around, fence = fence, open_fence(text, fence)
        margin = indentation(text)
        is_text = bool(text) and not (around or fence)
        if is_text and not margin:
            least = least_of(lines, at)
        begins = not above or (is_title(above) and TITLES[above[:-1]] in EXAMPLES)
        may_be = is_text and holds and begins and margin >= least
        deep = within(done, margin) if may_be else ""
        if deep and (code := leading_code(lines, at)):
            plain = trimmed(code)
            done += fenced(plain, language_of(plain), deep)
            at += len(code)
            continue
        if is_text and not (holds or above) and margin >= 4:
            body = deeper(lines[at:], 3)
            hangs = at + 1 < len(lines) and indentation(lines[at + 1][1]) > margin
            other = HOLDS.match(text) or (hangs and TERM.match(text))
            plain = tuple((number, line[4:]) for number, line in body)
            if FORMULA.match(text):
                done += plain
                at += len(body)
                continue
            if not (other or any(FENCE.match(line) for _, line in body)):
                done += fenced(plain, "")
                at += len(body)
                continue
            holds = True
        elif text and not around:
            if above and DASHES.fullmatch(text):
                holds = listed = TITLES.get(above) in LISTS
            elif not (above or margin):
                holds = listed
            hangs = bool(above) and margin > indentation(above)
            holds = holds or hangs or is_title(text) or bool(HOLDS.match(text))
        done.append(lines[at])
        at += 1
    return Prose(tuple(done))


def least_of(lines: Lines, at: int) -> int:
    """
    The least that code has to be indented in the section that a line begins.

    Args:
        lines: all lines.
        at: where that line is. It is not indented.
    """
    text = lines[at][1]
    if not is_title(text):
        return 4
    title = TITLES[text[:-1]]
    behind = (lines[place][1] for place in range(at + 1, len(lines)))
    base = indentation(next(filter(None, behind), ""))
    # In a list, what is not indented further is an item.
    return base + (title in LISTS and title not in ("Returns", "Yields"))


def leading_code(lines: Lines, begin: int) -> Lines:
    """
    The code that begins with a line, if any does, up to a fence or to words. Lines that
    are indented further than its first line belong to it.

    Args:
        lines: all lines.
        begin: where that line is.
    """
    margin = indentation(lines[begin][1])
    if BULLET.match(lines[begin][1]):
        # To Python, `* a = b` is an assignment.
        return ()
    # A statement may have blank lines in it. Looking far ahead for its end, at each
    # paragraph of a long text, would take too long.
    near = deeper(lines[begin : begin + LONG], margin - 1)
    if len(near) < LONG and language_of(trimmed(near)) == "python":
        return near
    end = at = begin
    behind = (lines[place] for place in range(begin, len(lines)))
    for is_blank, group in groupby(behind, key=lambda line: not line[1]):
        part = tuple(group)
        at += len(part)
        if is_blank:
            continue
        goes_on = indentation(part[0][1]) > margin
        is_fence = any(FENCE.match(text) for _, text in part)
        is_left = any(indentation(text) < margin for _, text in part)
        if is_fence or is_left or not (goes_on or language_of(trimmed(part))):
            break
        end = at
    return lines[begin:end]


def deeper(lines: Lines, margin: int) -> Lines:
    """
    The lines up to the first that is not indented by more than a margin, without blank
    ones at the end.
    """
    end = 0
    for at, (_, text) in enumerate(lines):
        if text and indentation(text) <= margin:
            break
        if text:
            end = at + 1
    return lines[:end]


def language_of(lines: Lines) -> str:
    """Which language code is in; empty if it may not be code."""
    text = "\n".join(text for _, text in lines).strip("\n")
    if text.startswith(">>> "):
        return "pycon"
    if text.startswith("$ "):
        return "console"
    return "python" if is_python(text) else ""


def is_python(text: str) -> bool:
    """Whether a text is Python that does something."""
    if not re.search(r"\w\(|[=@]|^(import|from) ", text, re.MULTILINE):
        return False
    tree = tree_of(text)
    return tree is not None and any(map(is_deed, tree.body))


def is_deed(statement: ast.stmt) -> bool:
    """Whether a statement does something. Words may look like a name or a type."""
    match statement:
        case ast.Expr(value=value):
            return isinstance(value, ast.Call | ast.Await)
        case ast.AnnAssign(value=None):
            return False
    return True


def table(lines: Lines) -> tuple[Lines, Lines]:
    """
    ## Tables

    A table whose cells are simple becomes one in Markdown. Any other is shown as it was
    drawn.

    Returns:
        Its lines, and what they become.
    """
    margin = indentation(lines[0][1])
    if RULE.fullmatch(lines[0][1]):
        own, rows_of = lines[: end_of_table(lines)], columns
    else:
        own = tuple(takewhile(lambda line: line[1].lstrip()[:1] in ("+", "|"), lines))
        rows_of = grid
    if len(own) < 3:
        return (), ()
    rows = rows_of([text[margin:] for _, text in own])
    first, last = own[0][0], own[-1][0]
    if not rows:
        return own, fenced(trimmed(own), "text")
    return own, (*in_markdown([(first, row) for row in rows]), (last, ""))


def drawing(lines: Lines) -> tuple[Lines, Lines]:
    """
    Anything drawn with the signs of a table, but not in a way that can be read as one,
    such as a table with words around it. It is shown as it was drawn, too.

    Returns:
        Its lines, and what they become.
    """
    own = tuple(
        takewhile(lambda line: line[1].lstrip()[:1] == "+" or "|" in line[1], lines)
    )
    if sum(EDGE.match(text) is not None for _, text in own) < 2:
        return (), ()
    return own, fenced(trimmed(own), "text")


def in_markdown(rows: list[tuple[int, list[str]]]) -> Lines:
    """Rows of cells with the numbers of their lines, as a table in Markdown."""
    made = [(n, f"| {' | '.join(map(without_bars, row))} |") for n, row in rows]
    made.insert(1, (made[0][0], "|" + "---|" * len(rows[0][1])))
    return (made[0][0], ""), *made


def without_bars(cell: str) -> str:
    """A cell whose bars do not end it. In code and formulas they would not anyway."""
    return BARS.sub(lambda found: found["whole"] or r"\|", cell)


def table_of_lists(
    head: tuple[int, str], options: dict[str, str], body: Lines
) -> Lines | None:
    """
    ### Tables written as lists

    Each item of the list is a row, and is itself a list of cells.

    Returns:
        The table below its title; nothing, if a cell is more than a few words.
    """
    rows: list[tuple[int, list[str]]] = []
    margin = inner = -1
    for number, line in body:
        text = line
        if row := ROW.match(text):
            margin = row.end()
            rows.append((number, []))
            text = " " * margin + text[margin:]
        cell = CELL.fullmatch(text)
        if not text:
            # After a blank line a cell does not go on.
            inner = -1
        elif rows and cell and cell.start("mark") == margin:
            rows[-1][1].append(cell["words"] or "")
            inner = cell.start("words")
        elif rows and indentation(text) == inner:
            rows[-1][1][-1] += f" {text.strip()}"
        else:
            return None
    cells = [cell for _, row in rows for cell in row]
    widths = {len(row) for _, row in rows}
    heads = options.get("header-rows", "0").strip()
    if len(widths) != 1 or heads not in ("0", "1") or any(map(is_more, cells)):
        return None
    return titled(head, rows, has_head=heads == "1")


def as_lists(head: tuple[int, str], body: Lines) -> Lines | None:
    """The lists that a table was written as, if its cells hold too much for a table."""
    first = next((text for _, text in body if text), "")
    if not ROW.match(first):
        return None
    number, title = head
    lead = ((number, ""), (number, title)) if title else ()
    return *lead, (number, ""), *body, (body[-1][0], "")


def titled(
    head: tuple[int, str], rows: list[tuple[int, list[str]]], *, has_head: bool
) -> Lines:
    """A table below its title. In Markdown its first row is always its head."""
    number, title = head
    if not has_head:
        rows.insert(0, (rows[0][0], [""] * len(rows[0][1])))
    lead = ((number, ""), (number, title)) if title else ()
    return *lead, *in_markdown(rows), (rows[-1][0], "")


def table_of_values(
    head: tuple[int, str], options: dict[str, str], body: Lines
) -> Lines | None:
    """
    ### Tables written as values with commas

    Returns:
        The table below its title; nothing, if a cell is more than a few words.
    """
    # The row of titles is written as an option, `:header:`.
    header = ""
    while body and body[0][1].startswith(":"):
        if found := re.fullmatch(":header: +(.+)", body[0][1]):
            header, body = found[1], body[1:]
        if not found and not OPTION.fullmatch(body[0][1]):
            return None
        more, body = with_options(body)
        options |= more
    lines = [(number, text) for number, text in body if text]
    if header:
        lines.insert(0, (head[0], header))
    if not lines or any(text.count('"') % 2 for _, text in lines):
        return None
    values = csv.reader((text for _, text in lines), skipinitialspace=True)
    try:
        cells = [[cell.strip() for cell in row] for row in values]
    except csv.Error:
        return None
    # A quote after a word closes nothing, and the next one may open a cell that never
    # ends.
    is_even = len(cells) == len(lines) and len({len(row) for row in cells}) == 1
    if not is_even or any(map(is_more, chain(*cells))):
        return None
    rows = [(number, row) for (number, _), row in zip(lines, cells, strict=True)]
    heads = options.get("header-rows", "0").strip()
    return titled(head, rows, has_head=bool(header) or heads == "1")


def is_more(cell: str) -> bool:
    """Whether a cell is more than words, or would reach into the next one."""
    plain = re.sub(r"(`+)[^`]+\1(?!`)", "", cell)
    return bool(MORE.match(cell)) or cell.endswith("::") or "`" in plain


def end_of_table(lines: Lines) -> int:
    """How many lines a table has, up to a rule with nothing below it; 0 without one."""
    margin = indentation(lines[0][1])
    for at, (_, text) in enumerate(lines):
        if text and indentation(text) < margin:
            break
        behind = lines[at + 1][1] if at + 1 < len(lines) else ""
        is_last = not behind or indentation(behind) < margin
        if at > 1 and is_last and RULE.fullmatch(text):
            return at + 1
    return 0


def columns(lines: list[str]) -> list[list[str]]:
    """The rows of a table between lines of `=`; none, if it is not simple."""
    spans = [match.span() for match in re.finditer("=+", lines[0])]
    rows: list[list[str]] = []
    has_head = False
    for text in lines[1:-1]:
        if RULE.fullmatch(text) and not has_head and rows:
            rows = [joined(rows)]
            has_head = True
            continue
        gaps = [text[end:start] for (_, end), (start, _) in pairwise(spans)]
        if "".join(gaps).strip() or re.fullmatch(r"[-=]+( +[-=]+)*", text):
            return []
        stops = [end for _, end in spans[:-1]] + [len(text)]
        row = [text[a:b].strip() for (a, _), b in zip(spans, stops, strict=True)]
        if row[0] or not rows:
            rows.append(row)
        else:
            rows[-1] = joined([rows[-1], row])
    return rows if has_head or not rows else [[""] * len(spans), *rows]


def joined(rows: list[list[str]]) -> list[str]:
    """Several lines of cells as one row."""
    return [" ".join(filter(None, cells)) for cells in zip(*rows, strict=True)]


def grid(lines: list[str]) -> list[list[str]]:
    """The rows of a table that is drawn with `+`, `-` and `|`; none, if not simple."""
    places = [at for at, sign in enumerate(lines[0]) if sign == "+"]
    # A single column is a drawing.
    if len(places) < 3:
        return []
    rows: list[list[str]] = []
    has_head = False
    is_new = True
    for text in lines:
        corners = [at for at, sign in enumerate(text) if sign == "+"]
        if corners == places and re.fullmatch(r"[+=-]+", text):
            has_head = has_head or ("=" in text and len(rows) == 1)
            is_new = True
            continue
        if len(text) != places[-1] + 1 or any(text[at] != "|" for at in places):
            return []
        cells = [text[a + 1 : b].strip() for a, b in pairwise(places)]
        rows = [*rows, cells] if is_new else [*rows[:-1], joined([rows[-1], cells])]
        is_new = False
    return rows if has_head or not rows else [[""] * len(rows[0]), *rows]


WORDS = re.compile(
    r"""
      (?<![\w:`]):(?P<role>[A-Za-z][\w:+-]*):`(?P<of>(?:[^`\n]|\n(?!\s*\n))+)`
      (?P<glue>\\[ ])?
    | (?P<joint>(?P<word>(?<![\w*\\])(?P<stars>\*{1,2})\w+(?P=stars))\\[ ]
      | (?<=[`_])\\[ ] | (?<=\S)\\[ ](?=`|:[a-z][\w:+-]*:`))
    | (?<![\w`\\])`(?P<title>[^`<>]+?)\s*<(?P<address>[^`<>]+)>`__?(?!\w)
    | (?<![\w`\\])`<(?P<only>[^`<>\s]+)>`__?(?!\w)
    | (?<![\w`\\])`(?P<name>[^`<>]+)`_(?!\w)
    | (?<![\w`\\])(?P<bare>[A-Za-z0-9]+)_(?![\w`])
    | (?<!\])\[(?P<label>\#?[\w.-]+|[#*])\]_(?!\w)
    | (?<![`\\])``(?P<literal>(?!`)(?:(?!``)[^\n])+`)``(?!`)
    |"""
    + f"{SESSION}|{CODE}",
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
ENDS = re.compile(BEHIND)
KEPT = re.compile(r":(?!su[bp]:|math:)[a-z][\w:+-]*:`")
# Roles that lead to names. Anything before the kind is dropped, and the rest is left
# for [links][sidebyside.links].
NAMED = re.compile(
    "(?:external(?:[+][a-z]+)?:)?(?:py:)?"
    "(?P<kind>attr|class|const|data|exc|func|meth|mod|obj|ref|term|any|cls|type)"
)
# A name may be looked for in the documentation of a project: `python:re.search`.
PROJECT = re.compile(
    r"^([~!]?|[^<]*<[~!]?)[A-Za-z][\w-]*:(?=[A-Za-z_][\w.]*(?:\(\))?>?$)"
)
# These lead somewhere, too, and may have words of their own in front.
LINKED = {
    *("confval", "doc", "download", "envvar", "keyword", "option", "paramref"),
    *("setting", "token"),
}
# And these lead to well-known places.
KNOWN = {
    "arxiv": "https://arxiv.org/abs/",
    "doi": "https://doi.org/",
    "pypi": "https://pypi.org/project/",
}
CODES = {
    *("c", "code", "command", "expr", "file", "kbd", "literal", "mimetype", "program"),
    *("rc", "samp"),
}


def set_words(prose: Prose, targets: dict[str, str]) -> Prose:
    """
    ## Words

    Args:
        prose: prose without directives.
        targets: the addresses of its links, where these are given elsewhere.

    Returns:
        The same prose with formulas and links as in Markdown.
    """
    text = prose.text
    has_words = targets or any(sign in text for sign in (":`", "`_", "]_", "\\ "))
    if not (prose.lines and has_words):
        return prose

    is_formula = in_formulas(text)

    def shown(found: re.Match[str]) -> str:
        is_bare = found["label"] or found["bare"] or found["name"] or found["joint"]
        if is_bare and is_formula(found.start()):
            return found[0]
        made = word(found, targets)
        return made + "\0" * (found[0].count("\n") - made.count("\n"))

    numbers = iter(number for number, _ in prose.lines)
    done: list[tuple[int, str]] = []
    for line in WORDS.sub(shown, text).split("\n"):
        done.append((next(numbers), line.replace("\0", "")))
        # An address that went over several lines has been joined.
        for _ in range(line.count("\0")):
            next(numbers)
    return Prose(tuple(done))


def word(found: re.Match[str], targets: dict[str, str]) -> str:
    """What a match of `WORDS` becomes."""
    behind = found.string[found.end() : found.end() + 1]
    if found["role"]:
        made = role(found)
        return made + gap(made, found) if found["glue"] else made
    if found["joint"]:
        return found["word"] or gap(found.string[found.start() - 1], found)
    if found["address"]:
        address = targets.get(found["address"].rstrip("_").casefold(), found["address"])
        return f"[{found['title']}]({url(address)})"
    made = found[0]
    if literal := found["literal"]:
        # In Markdown, code that ends with a backtick needs a blank after it.
        made = f"`` {literal} ``"
    elif found["only"]:
        made = f"<{found['only']}>"
    elif name := found["name"] or found["bare"]:
        address = targets.get(" ".join(name.split()).casefold(), "")
        made = f"[{name}]({url(address)})" if address else made
    elif found["label"]:
        made = label(found["label"], behind)
    return made


def gap(before: str, found: re.Match[str]) -> str:
    """
    What replaces a backslash and a blank, which join two pieces of a word: a blank,
    where Markdown would see no end between them, and otherwise nothing.

    Args:
        before: some text that ends with the first piece.
        found: the match that ends in front of the second one.
    """
    text, end = found.string, found.end()
    is_one = (
        (before[-1] == "`" and text.startswith("`", end))
        or (before[-1] == "$" and not ENDS.match(text, end))
        or (before[-1] == "$" and text.startswith(":math:", end))
        or KEPT.match(text, end)
    )
    return " " if is_one else ""


def role(found: re.Match[str]) -> str:
    """What is shown for a role."""
    kind, text = found["role"].lower(), found["of"]
    if kind == "math" and "$" not in text and text.strip():
        tex = in_katex(text.strip())
        # In this role even words are a formula. With a command in front, they are
        # taken for one.
        return rf"$\relax {tex}$" if is_words(tex) else f"${tex}$"
    named = NAMED.fullmatch(kind)
    if named and "\n" not in text:
        name = named["kind"]
        name = {"any": "obj", "cls": "class", "type": "class"}.get(name, name)
        if name not in ("ref", "term"):
            text = PROJECT.sub(r"\1", text)
        return f":{name}:`{text}`"
    if kind in ("sub", "sup"):
        return f"<{kind}>{text}</{kind}>"
    if kind in ("pep", "rfc"):
        return f"{kind.upper()} {text}"
    domain, _, name = kind.rpartition(":")
    with_words = re.fullmatch(r"(.+?)\s*<([^<>]+)>", text, re.DOTALL)
    made = found[0]
    if kind in KNOWN:
        words, of = with_words.groups() if with_words else (f"{kind}:{text}", text)
        made = f"[{words}]({url(KNOWN[kind] + of)})"
    elif name in CODES:
        made = f"`{text}`"
    elif named or domain or name in LINKED:
        short = re.sub(r"^[~!]?\.?(?=\w)", "", text)
        made = with_words[1] if with_words else f"`{short}`"
    return made


def label(text: str, behind: str = "") -> str:
    """A label such as `[1]`, which Markdown must not take for part of a link."""
    return rf"\[{text}\]" if behind and behind in "[(:" else f"[{text}]"
