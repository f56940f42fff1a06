"""
---
title: Anchors
summary: The sections of a module, with their prose as Markdown, and a name for each.
---

# Anchors

[Split][sidebyside.split] has cut the module into sections. Here their prose becomes
Markdown, whatever tool it was written for, and each gets an **anchor**: its name in
links. All later stages begin with the result.
"""

import re
from itertools import islice
from typing import Any, NamedTuple

from sidebyside.drawn import lower_titles, open_title
from sidebyside.errors import PressError
from sidebyside.front import front_matter
from sidebyside.prose import Prose, stripped
from sidebyside.read import Source, once
from sidebyside.rst import set_rst
from sidebyside.split import Kind, Section, overloads, split

HEADING = re.compile(r"(?P<marks>#{1,6}) +(?P<text>.*?)(?: +#+)? *")


class Described(NamedTuple):
    """
    ## Sections in Markdown

    The front matter and the sections, and what is wrong with the front matter. The
    mistake is not raised here: other modules may link to these sections, and [the page
    itself][sidebyside.weave.weave] reports it.
    """

    meta: dict[str, Any]
    sections: tuple[Section, ...]
    mistake: PressError | None


@once
def described(source: Source) -> Described:
    """The sections of a module, and its front matter, taken out of them."""
    sections = split(source)
    meta: dict[str, Any] = {}
    mistake = None
    if sections and sections[0].kind is Kind.MODULE:
        try:
            meta, prose = front_matter(sections[0].prose, source)
            if source.docstring:
                prose = open_title(prose)
            sections = (sections[0]._replace(prose=prose), *sections[1:])
        except PressError as error:
            mistake = error
    return Described(meta, tuple([in_markdown(each) for each in sections]), mistake)


def in_markdown(section: Section) -> Section:
    """
    ## From any style to Markdown

    Titles that are [underlined][lower_titles] and [reStructuredText][set_rst] become
    Markdown.

    Returns:
        The same section, with its prose as Markdown and a fence around each example.
    """
    prose = lower_titles(section.prose) if section.definition else section.prose
    prose = set_rst(prose, section.kind is not Kind.COMMENT)
    return section if prose is section.prose else section._replace(prose=prose)


@once
def anchored(source: Source) -> tuple[tuple[str, Section], ...]:
    """
    ## Sections with their anchors

    This is what most later stages ask for.
    """
    anchors = Anchors(source)
    return tuple(
        (anchors.name(section, leading_heading(section.prose)[1]), section)
        for section in described(source).sections
    )


def is_stub(section: Section, source: Source) -> bool:
    """Whether a section is a definition that only [declares types][overloads]."""
    found = section.definition
    return found is not None and found.first in overloads(source)


def leading_heading(prose: Prose) -> tuple[int, str, Prose]:
    """
    ## Headings

    The heading that a section begins with goes above both of its columns, and into the
    outline.

    Returns:
        Its level, 0 if there is none; its text; and the prose after it.
    """
    if prose.lines and (match := HEADING.fullmatch(prose.lines[0][1])):
        return len(match["marks"]), match["text"], stripped(prose.lines[1:])
    return 0, "", prose


class Anchors:
    """
    ## Names that last

    A link to a section should survive edits elsewhere in the file, so anchors are made
    from names and words and never from line or section numbers: `Game.step` for the
    method, `Game.lives` for an attribute with a docstring,
    `Game.step--only-frames-3-and-4` for a comment in it that begins with these words.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.taken: set[str] = set()
        # The heading "Weave" must not take the name of the function `weave`.
        self.definitions = {definition.name for definition in source.definitions}
        self.reserved = self.definitions | {a.name for a in source.attributes}

    def name(self, section: Section, heading: str) -> str:
        """A name for a section, unique on its page."""
        reserved = self.reserved
        if section.definition:
            stub = is_stub(section, self.source)
            name, reserved = section.scope + "--overload" * stub, set()
        elif section.kind is Kind.ATTRIBUTE:
            name, reserved = section.scope, self.definitions
        elif heading:
            name = slug(heading, words=12)
        else:
            text = section.prose.text or first_code(section, self.source)
            words = slug(text, words=5)
            name = f"{section.scope}--{words}" if section.scope else words
        # Ids with two underscores in front belong to a theme's switches.
        is_like_a_switch = name.startswith("__") and not name.endswith("__")
        name = f"-{name}" if is_like_a_switch else name or "section"
        unique = name
        count = 1
        while unique in self.taken or unique in reserved:
            count += 1
            unique = f"{name}-{count}"
        self.taken.add(unique)
        return unique


def first_code(section: Section, source: Source) -> str:
    """The first line of a section that is not blank."""
    first, stop = section.spans[0].first, section.spans[-1].stop
    return next(filter(str.strip, source.lines[first - 1 : stop - 1]), "")


def slug(text: str, words: int) -> str:
    """The first few words of a text, for an anchor."""
    found = re.finditer(r"\w+", text.lower())
    return "-".join(word[0] for word in islice(found, words))
