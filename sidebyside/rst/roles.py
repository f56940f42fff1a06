r"""
---
title: Roles
summary: What stands in a line of reStructuredText, from links to small formulas.
---

# Roles

Within a line, reStructuredText marks words with *roles*, such as ``:math:`x` ``, and
has links, labels, and a way to join two pieces of a word. This is the second of [the
two passes][sidebyside.rst].
"""

import re

from sidebyside.mathematics import BEHIND, in_formulas, is_words
from sidebyside.prose import CODE, Prose

SESSION = r"(?P<session>^[ ]*(?:>>>|\.\.\.)[ ][^\n]*)"
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


def url(address: str) -> str:
    """An address, as Markdown wants it after the words of a link."""
    address = "".join(address.split())
    return f"<{address}>" if re.search(r"[()]", address) else address


def in_katex(tex: str) -> str:
    """A formula, with KaTeX's name for a command that it knows by another."""
    return tex.replace(r"\mbox{", r"\text{")
