r"""
---
title: Guard
summary: Whatever a docstring holds, it stays prose, and stays in its place.
---

# Guard

A docstring may hold anything: `Returns <class 'dict'>`, half a table in HTML, a fence
that is never closed, a link that runs a script. Nobody wrote it for a web page, and the
page must not break. Four promises are kept here, for every page that is made from a
module:

1. What looks like HTML is shown as it was written. A few harmless tags, such as
   `<kbd>` and `<sub>`, are honoured, if they are closed in the same paragraph.
2. The prose of one section can't reach into the next.
3. No attribute, no link and no element that an extension makes can run a script, and
   none can lie over the rest of the page.
4. Nothing from another file gets in but pictures, whatever extensions the site has,
   and whatever [other plugins][sidebyside.others].

(The plugin `markdown-exec` runs the code of each fence that asks for it. Leave it out
of a site about other people's modules.)

The pages of a site that are written by hand are trusted, and left alone.

## How it works

The [template][sidebyside.render] puts each piece of prose between two marks, and
[the Markdown extension][sidebyside.markdown] takes all the pieces out of the page
before anything else looks at it. Each is parsed by itself, so a fence or a `</div>`
finds nothing beyond its own section to close or to swallow.

In a piece, each `<` is replaced by a sign that Markdown does not know. It goes through
all of Markdown's stages as a letter would, in text, in code and in attributes alike,
and comes out as `&lt;` at the end. So there is no need to guess what Markdown would
have taken for code and what for HTML. The same is done with [what was not meant as
Markdown][sidebyside.guard.guarded].

The [marks](marks.py) carry a number that none in the prose of the page has, so no prose
can forge one.
"""

import re
from datetime import date
from functools import lru_cache
from html import escape, unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from markdown.util import AMP_SUBSTITUTE, ETX, STX

from sidebyside.prose import CODE, INDEX

# Markdown removes these two control characters from what it reads, so no source text
# can contain a sign that is made with them.
LESS = f"{STX}lt{ETX}"
SIGNS = {
    "{": f"{STX}lb{ETX}",
    "*": f"{STX}as{ETX}",
    "_": f"{STX}un{ETX}",
    "[": f"{STX}ls{ETX}",
    "!": f"{STX}ex{ETX}",
    "?": f"{STX}qu{ETX}",
    "#": f"{STX}nu{ETX}",
    ":": f"{STX}co{ETX}",
}

# After a brace: `{ .class }`, `{: #anchor }`, `{ key=value }`, and the marks of edits.
ATTRIBUTES_OF = r":? *(?:[.#][^\W\d]|[\w-]+=[^\s}])[^{}\n]*\}|\+\+|--|==|~~|>>"

# What Markdown would take for its own, though it was not meant so. Every match begins
# with one of a few characters, so most letters need not be looked at twice.
NOT_MEANT = re.compile(
    r"(?=[{*_\[#!?: ])(?:"
    rf"\{{(?!{ATTRIBUTES_OF})"
    # `*n*th` and `**P**roximal` are meant,
    r"|(?P<meant>(?<![\w*)\]}])(?P<stars>\*{1,2})\w+(?P=stars)(?=\w))"
    # and the stars of `2*x**n` are not. (Some languages have no blanks between words.)
    r"|(?<=[\w)\]}])(?<![\u3040-\u9fff\uac00-\ud7af])\*{1,2}(?=\w)"
    # Nor those of `f(*args, **kwargs)`.
    r"|(?<![\w*\\])\*{1,2}"
    r"(?=\w+(?:[)\]}]|,(?:[^*()\[\]{}\n]|\*{1,2}(?=\w))*[)\]}]))"
    # And `2*(a + b)`.
    r"|(?:(?<=[\d)\]}])|(?<=(?<![\w*])\w))\*{1,2}(?=\()"
    # The underscores of `{a}_{b}`. Between letters, Markdown leaves them alone.
    rf"|(?<=\}})_|_(?=\{{(?!{ATTRIBUTES_OF}))"
    # `[0]: first`, but not an address.
    rf"|^ {{0,3}}\[(?={INDEX})"
    # `handlers[0](event)`, but not an address.
    r"|(?<=[\w\]])\[(?=[^\[\]\n]*\]\((?:[^()\s/.#]*\)|[^()\s]*\s+[^\s\"'(]))"
    # `#123` at the start of a line, an item or a definition. In a heading, a blank
    # follows.
    r"|(?:^|(?<=[-*+.)>] )|(?<=:   )) *#{1,6}(?=[^#\s])"
    # A table of contents.
    r"|^ {0,3}\[(?=TOC\] *$)"
    # What mkdocstrings puts a docstring in place of.
    r"|:::"
    # `??? why`, but not a box: that has a title in quotes, or something in it.
    r"|^ *(?:!!!|\?\?\?)"
    r"(?=[^\n\"]*(?:\Z|\n(?:[ \t]*\n)*(?:[ \t]*\Z| {0,3}\S)))"
    r")",
    re.MULTILINE,
)

# `[words](<address>)` and `[label]: <address>`.
ANGLED = re.compile(
    CODE
    + r"""
    | (?P<before>\]\(|^[ ]{0,3}\[[^\[\]\n]+\]:[ ]*)<(?P<address>[^<>\n]+)>
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)

INLINE = (
    "a|abbr|b|cite|code|del|dfn|div|em|figcaption|figure|i|ins|kbd|mark|p|q|s|samp"
    "|small|span|strong|sub|sup|u|var"
)
GIVEN = r"""\s+[a-zA-Z-]+(?:="[^"]*"|='[^']*')?"""
# A picture without an address is not one.
EMPTY = rf"br|hr|img(?=(?:{GIVEN})*?\s+src=)|wbr"
# A long tail without a closing tag would be searched again from each opening one.
TAG = (
    rf"{LESS}(?:(?P<empty>{EMPTY})|(?P<tag>{INLINE}))"
    rf"(?P<attributes>(?:{GIVEN})*)\s*/?>"
    rf"(?(tag)(?P<body>[^\0]{{0,1000}}?){LESS}/(?P=tag)>)"
)
ATTRIBUTE = re.compile(r"([a-zA-Z-]+)(?:=\"([^\"]*)\"|='([^']*)')?")
AUTOLINK = rf"{LESS}((?:https?|ftp)://[^\s<>\"{STX}]+)>"
OUR_ANCHOR = re.compile(r"^(#{1,6} .*?)( \{ #[^ {}]+ \})$", re.DOTALL)

SCHEMES = ("http", "https", "ftp", "mailto", "tel")
ADDRESSES = ("href", "src", "cite")
ATTRIBUTES = re.compile(
    "abbr|align|alt|class|colspan|dir|height|id|lang|loading|open|rel|reversed|role"
    "|rowspan|scope|start|target|title|type|value|width|aria-[a-z]+|data-sbs-[a-z]+"
    "|data-(lang|line|linenos|search-exclude|tabs|title)"
)
# The names that tie the buttons of content tabs, `input`, to their words, `label`. No
# author can write these elements, and those that an extension makes have such names.
TABS = re.compile("__tabbed_[0-9_]+")
# With the theme's own classes, a link could lie over the whole page. Those of buttons
# and tags are meant for authors.
THEMES = re.compile(r"(?<!\S)md-(?!button|tag)")
# Elements that run or load something, or swallow what comes after them. No prose is
# made of these, but some extensions let an author name any element.
ACTIVE = {
    *("applet", "base", "embed", "form", "frame", "frameset", "iframe", "link"),
    *("meta", "noembed", "noframes", "noscript", "object", "plaintext", "script"),
    *("style", "template", "textarea", "title", "xmp"),
}


def guarded(text: str) -> str:
    """
    ## Prose without HTML

    Args:
        text: prose as Markdown, without fenced blocks and formulas.

    Returns:
        The same, with the sign in place of each `<`, and with signs in place of what
        was not meant as Markdown, such as the stars of a product or the braces of a
        dictionary. Markdown would take these for its own, and lose some of what is
        around them. In a heading of ours, all braces before the anchor are replaced,
        since they would be taken for part of it.
    """
    if heading := OUR_ANCHOR.match(text.strip("\n")):
        text = heading[1].replace("{", SIGNS["{"]) + heading[2]
    if "<" in text:
        text = ANGLED.sub(bare, text)
    return NOT_MEANT.sub(signs_of, text).replace("<", LESS)


def bare(found: re.Match[str]) -> str:
    """
    An address without the angle brackets that it may be in: their `<` would get a sign.
    Only inside them may an address have blanks and round brackets, so these are written
    as numbers.
    """
    if found["before"] is None:
        return found[0]
    return found["before"] + re.sub(
        "[ ()]", lambda sign: f"%{ord(sign[0]):X}", found["address"]
    )


def signs_of(found: re.Match[str]) -> str:
    """What was found, with signs for its characters, unless it is meant as Markdown."""
    if found["meant"]:
        return found[0]
    return "".join(SIGNS.get(character, character) for character in found[0])


def unguarded(html: str) -> str:
    """Finished HTML, with each sign replaced by what it stands for."""
    return without_signs(html).replace(LESS, "&lt;")


def without_signs(text: str) -> str:
    """A text with each sign replaced by the character that it stands for."""
    if STX in text:
        for character, sign in SIGNS.items():
            text = text.replace(sign, character)
    return text


def is_safe(address: str) -> bool:
    """
    ## Links

    An address is safe without a scheme, or with one from a short list. It is looked at
    as a browser would see it: with entities resolved and blanks ignored, in capitals or
    not.
    """
    text = as_seen(address)
    if STX in text:
        return False
    text = re.sub(r"[\0-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f]", "", text)
    try:
        urlsplit(text)
    except ValueError:
        # A program that looks for broken links in the finished page would fail on it.
        return False
    scheme, colon, _ = text.partition(":")
    return not colon or bool(re.search("[/?#]", scheme)) or scheme.lower() in SCHEMES


def as_seen(value: str) -> str:
    """The value of an attribute as a browser will see it."""
    text = re.sub(f"{STX}(\\d+){ETX}", lambda match: chr(int(match[1])), value)
    text = text.replace(AMP_SUBSTITUTE, "&").replace(LESS, "<")
    return unescape(without_signs(text))


# Most attributes are a few classes, again and again.
@lru_cache(maxsize=1024)
def is_kept(tag: str, name: str, value: str) -> bool:
    """Whether an attribute is one that an author may set to this value."""
    name = name.lower()
    if name in ADDRESSES:
        return is_safe(value)
    value = as_seen(value)
    if tag in ("input", "label"):
        is_tied = name in ("for", "id", "name") and TABS.fullmatch(value)
        if is_tied or name == "checked":
            return True
    if name == "class":
        return THEMES.search(value) is None
    if name == "style":  # which is how Markdown aligns the columns of a table
        return bool(re.fullmatch(r"text-align: (left|right|center);", value))
    # The theme's own switches have ids with two underscores in front, and none at the
    # end.
    if name == "id" and value.startswith("__") and not value.startswith("__codeline"):
        return value.endswith("__")
    return ATTRIBUTES.fullmatch(name) is not None


def disarm(tree: Element) -> None:
    """
    ## Attributes

    `{ onclick=… }` after a paragraph sets an attribute just as HTML would. All
    attributes that are not known to be harmless are removed from a page's tree. A link
    or picture that has lost its address becomes mere text, since site engines rely on
    there being one. So does an element that would run or load something.
    """
    for element in tree.iter():
        if element.tag in ACTIVE:
            element.tag = "span"
        for name, value in [*element.attrib.items()]:
            # In `{ .wide open }`, there is no value.
            if not is_kept(element.tag, name, value or ""):
                del element.attrib[name]
        if element.tag == "img" and "src" not in element.attrib:
            element.tag = "span"
            element.text = element.attrib.pop("alt", "")
        if element.tag == "a" and "href" not in element.attrib:
            element.tag = "span"


LOOKALIKES = str.maketrans({"<": "‹", ">": "›", '"': "”"})


def lookalike(value: Any) -> Any:
    """
    ## Front matter

    Titles and summaries go through the templates of themes, some of which escape them
    twice, some once, and some never. So the characters that would need escaping are
    replaced by others that look alike.

    Args:
        value: what the front matter holds: text, or lists and mappings of it.
    """
    match value:
        case str():
            text = re.sub(r"&(?=#?\w+;)", "＆", value).translate(LOOKALIKES)
            return re.sub(r"[\0-\x08\x0b-\x1f\x7f\ud800-\udfff]", "", text)
        case list():
            return [lookalike(item) for item in value]
        case dict():
            return {lookalike(key): lookalike(item) for key, item in value.items()}
        case bool() | int() | float() | date() | None:
            return value
    # YAML has sets and bytes, too, and a theme would print what they hold.
    return lookalike(str(value))


class Disarm(HTMLParser):
    """
    ### In what is HTML already

    A fenced block is HTML long before the tree is made, and its first line may set
    attributes too.
    """

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.html: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write a tag with the attributes that are kept."""
        kept = [(name, value or "") for name, value in attrs]
        kept = [(name, value) for name, value in kept if is_kept(tag, name, value)]
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept)
        self.html.append(f"<{tag}{attributes}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write a tag without content."""
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Write a closing tag."""
        self.html.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Write text."""
        self.html.append(data)

    def handle_entityref(self, name: str) -> None:
        """Write an entity."""
        self.html.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        """Write a numbered entity."""
        self.html.append(f"&#{name};")


def disarmed(html: str) -> str:
    """Finished HTML without attributes that could do harm."""
    parser = Disarm()
    parser.feed(html)
    parser.close()
    return "".join(parser.html)
