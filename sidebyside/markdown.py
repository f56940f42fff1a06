r"""
---
title: The Markdown extension
summary: Formulas and finished code pass through Markdown; prose stays in its place.
---

# The Markdown extension

A formula is full of characters that mean something in Markdown: in $a_1 b_1$ the
underscores would become emphasis. And code that is already HTML should not be parsed
again. This extension takes both out of the text before Markdown looks at it, and
Markdown puts them back when it is done. The extension also turns [films][Films] into
players, and makes sliders for [pictures that belong together][Series].

It works on every page of a site, and in every engine that uses Python-Markdown. On a
page that was made from a module, it also makes sure that [prose stays
prose][sidebyside.guard].
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.extensions.toc import nest_toc_tokens
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import ETX, HTML_PLACEHOLDER_RE, STX, AtomicString

from sidebyside.guard import (
    ATTRIBUTE,
    AUTOLINK,
    TAG,
    disarm,
    disarmed,
    guarded,
    unguarded,
)
from sidebyside.links import still_of
from sidebyside.marks import PAGE, replaced
from sidebyside.mathematics import FormulaError, find, typeset

SNIPPET = re.compile(r"^([ \t]*;*)(-+8<-+)")
HEADINGS = {f"h{level}" for level in range(1, 7)}
ANNOTATION = re.compile(r"<annotation[^>]*>(.*?)</annotation>", re.DOTALL)
PLACEHOLDER = re.compile(f"{STX}sbs-prose:(\\d+){ETX}")
# What must not begin a line.
BEHIND = re.compile("[-.,;:!?)'’”…]+")
BOXES = '</span><span class="katex-base">'
# What some stages of Markdown look for. Most pieces of prose are short and have none of
# it, and setting up an HTML parser for each takes longer than finding that out.
LOOKS_FOR = {
    "fenced_code_block": ("```", "~~~"),
    "mkdocs_raw_html": ("<",),
    "html_block": ("<", "&"),
}


class Pieces(Preprocessor):
    """
    ## Pieces of a page

    The first line of a page that was made from a module has the number of the marks on
    that page. Any other page is written by hand, and needs no guard.

    The code of a row is HTML with a blank line here and there, and Markdown's own
    search for HTML would crawl through every tag of it. So it is stored as it is. Prose
    is kept for later, when [Apart][] parses it.
    """

    def __init__(self, md: Markdown) -> None:
        super().__init__(md)
        self.is_made = False
        self.has_outline = False
        self.prose: list[str] = []
        self.later: list[tuple[Preprocessor, tuple[str, ...]]] = []

    def run(self, lines: list[str]) -> list[str]:
        """Replace each piece with a placeholder."""
        text = "\n".join(lines)
        page = PAGE.match(text)
        self.is_made = bool(page)
        self.has_outline = False
        self.prose = []
        self.later = []
        if page is None:
            return lines
        self.has_outline = "data-sbs-outline=" in text
        self.later = [*self.behind()]
        store = self.md.htmlStash.store
        # Prose goes first: it may contain a mark of code, but code can't contain one of
        # prose.
        text = replaced(text[page.end() :], "prose", page[1], self.keep)
        text = replaced(text, "code", page[1], lambda code: store(code.rstrip()))
        return text.split("\n")

    def behind(self) -> Iterator[tuple[Preprocessor, tuple[str, ...]]]:
        """The stages after this one, each with the signs that it looks for."""
        registry = self.md.preprocessors
        signs = {id(registry[n]): s for n, s in LOOKS_FOR.items() if n in registry}
        stages = [*registry]
        for stage in stages[stages.index(self) + 1 :]:
            yield stage, signs.get(id(stage), ("",))

    def keep(self, prose: str) -> str:
        """Keep a piece of prose, and return its placeholder."""
        self.prose.append(prose)
        return f"\n{STX}sbs-prose:{len(self.prose) - 1}{ETX}\n"


class Snippets(Preprocessor):
    """
    ## No files in a page

    The extension `pymdownx.snippets` puts a file in place of `--8<-- "name"`, anywhere
    on a page, and before its pieces are kept. What is in that file could end a piece,
    and a module could show any file of the site. So on a page that was made from a
    module, such a line gets a semicolon, which tells the extension that it is only
    text.
    """

    def run(self, lines: list[str]) -> list[str]:
        """Put a semicolon into each such line."""
        if "snippet" not in self.md.preprocessors:
            return lines
        text = "\n".join(lines)
        if "8<" not in text or not PAGE.match(text):
            return lines
        return [SNIPPET.sub(r"\1;\2", line) for line in lines]


class Apart(BlockProcessor):
    """
    ## Each piece by itself

    A piece goes through everything that Markdown does to a page, from the fenced blocks
    on, but by itself. So it can't close or swallow what is around it.
    """

    def __init__(self, md: Markdown, kept: Pieces) -> None:
        super().__init__(md.parser)
        self.md = md
        self.kept = kept

    def test(self, parent: Element, block: str) -> bool:
        """Whether a block is a placeholder."""
        return PLACEHOLDER.fullmatch(block.strip()) is not None

    def run(self, parent: Element, blocks: list[str]) -> None:
        """Parse the piece that a placeholder stands for."""
        match = PLACEHOLDER.fullmatch(blocks.pop(0).strip())
        if match is None or int(match[1]) >= len(self.kept.prose):
            return
        # One line end at least, as Markdown gives every page.
        lines = [*self.kept.prose[int(match[1])].split("\n"), ""]
        store = self.md.htmlStash
        for stage, signs in self.kept.later:
            before = len(store.rawHtmlBlocks)
            text = "\n".join(lines)
            if isinstance(stage, Formulas):
                # Formulas are trusted, and what is not a formula by now is only text.
                lines = guarded("\n".join(stage.set(lines))).split("\n")
                continue
            if not any(sign in text for sign in signs):
                continue
            with any_fence(stage), guarded_fences(stage):
                lines = stage.run(lines)
            for n, html in enumerate(store.rawHtmlBlocks[before:], start=before):
                store.rawHtmlBlocks[n] = disarmed(html) if isinstance(html, str) else ""
        self.parser.parseChunk(parent, "\n".join(lines))


@contextlib.contextmanager
def guarded_fences(stage: Any) -> Iterator[None]:
    """
    ### What turns out to be no fence

    Below a line of indented code, a fence turns out not to be one when the page is
    parsed, and `pymdownx.superfences` puts it back. By then the guard has finished, so
    what is kept is guarded at once.

    Args:
        stage: a preprocessor. Only the one for fences keeps anything.
    """
    extension = getattr(stage, "extension", None)
    kept = getattr(getattr(extension, "stash", None), "stash", {})
    before = set(kept)
    yield
    for key in kept.keys() - before:
        text, column = kept[key]
        kept[key] = guarded(text), column


@contextlib.contextmanager
def any_fence(stage: Any) -> Iterator[None]:
    """
    ### Fences of other engines

    The marks of a fence may be followed by something that only one engine understands:
    `{code-cell} python`, or `rust,no_run`. If such a fence did not count, its last line
    would begin one, and everything after it would be turned inside out. So it is plain
    code. With another backtick in that place, it is a piece of code in a line.

    Args:
        stage: a preprocessor. Only the one for fences has such a switch.
    """
    config = getattr(stage, "config", {})
    before = config.get("relaxed_headers")
    if before is None:
        yield
        return
    take = stage.handle_unrecognized

    def handle_unrecognized(m: re.Match[str]) -> Any:
        return "`" not in (m["unrecognized"] or "") and take(m)

    # The stage has read this option by now, and goes by its own copy.
    config["relaxed_headers"] = stage.relaxed_headers = True
    stage.handle_unrecognized = handle_unrecognized
    try:
        yield
    finally:
        config["relaxed_headers"] = stage.relaxed_headers = before
        del stage.handle_unrecognized


class Tags(InlineProcessor):
    """
    ## A few tags

    The tags that authors of docstrings do use become elements, so that they are closed
    whatever happens. All others stay text.
    """

    def handleMatch(  # type: ignore[override]  # noqa: N802
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        """Turn a tag into an element."""
        return self.element(m), m.start(), m.end()

    def element(self, tag: re.Match[str]) -> Element:
        """An element, with those inside it."""
        element = Element(tag["tag"] or tag["empty"])
        for name, double, single in ATTRIBUTE.findall(tag["attributes"]):
            element.set(name.lower(), double or single)
        body, end = tag["body"] or "", 0
        last: Element | None = None
        for inner in INNER.finditer(body):
            put(element, last, body[end : inner.start()])
            last, end = self.element(inner), inner.end()
            element.append(last)
        put(element, last, body[end:])
        return element


INNER = re.compile(TAG)


def put(element: Element, last: Element | None, text: str) -> None:
    """Put a text after the last child of an element, or into it if it has none."""
    if last is None:
        element.text = text
    else:
        last.tail = text


class Autolinks(InlineProcessor):
    """
    ## Addresses

    `<https://…>` is a link, in prose as elsewhere.
    """

    def handleMatch(  # type: ignore[override]  # noqa: N802
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        """Turn an address into a link."""
        element = Element("a", href=m[1])
        element.text = m[1]
        return element, m.start(), m.end()


class Addresses(InlineProcessor):
    """
    An address without brackets is a link, too, in a page that was made from a module.
    A sign that ends the sentence, or closes a bracket that was opened before the
    address, is not part of it.
    """

    ANCESTOR_EXCLUDES = ("a",)

    def __init__(self, md: Markdown, kept: Pieces) -> None:
        super().__init__(rf"(?<![\w/])https?://\w[^\s<>\"|*`{STX}{ETX}\\]*", md)
        self.kept = kept

    def handleMatch(  # type: ignore[override]  # noqa: N802
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int] | tuple[None, None, None]:
        """Turn an address into a link."""
        if not self.kept.is_made:
            return None, None, None
        address = m[0]
        while address[-1] in ".,;:!?'_]}" or (
            address[-1] == ")" and address.count("(") < address.count(")")
        ):
            address = address[:-1]
        element = Element("a", href=address)
        element.text = AtomicString(address)
        return element, m.start(), m.start() + len(address)


class Names(InlineProcessor):
    """
    ## Names that are not bold

    On a page that was made from a module, `__init__` is a name, and so is the anchor
    after a heading. By Markdown's rules the underscores would make either bold. And
    stars between two quotes are stars.
    """

    def __init__(self, md: Markdown, kept: Pieces) -> None:
        super().__init__(
            r"(?<= \{ )#[\w.-]+(?= \})|__[A-Za-z]\w*__(?!\w)"
            r"|(?<!\w)_[A-Za-z]\w*_\w+_(?!\w)|(?<=\w\.)_[A-Za-z]\w*"
            r"|(?<=')\*+(?=')|(?<=\")\*+(?=\")",
            md,
        )
        self.kept = kept

    def handleMatch(  # type: ignore[override]  # noqa: N802
        self, m: re.Match[str], data: str
    ) -> tuple[str, int, int] | tuple[None, None, None]:
        """Leave what was found as it is."""
        return (m[0], *m.span()) if self.kept.is_made else (None, None, None)


class Disarming(Treeprocessor):
    """
    ## The last look

    When the tree of a page that was made from a module is complete, all attributes that
    [could do harm][sidebyside.guard.disarm] are removed.
    """

    def __init__(self, md: Markdown, kept: Pieces) -> None:
        super().__init__(md)
        self.kept = kept

    def run(self, root: Element) -> None:
        """Remove attributes that could do harm."""
        if self.kept.is_made:
            disarm(root)
            unwrap(root)


def unwrap(root: Element) -> None:
    """Remove the paragraph that Markdown puts around a lone `<p>` or `<div>`."""
    for parent in [*root.iter()]:
        for at, child in enumerate(parent):
            if child.tag != "p" or [e.tag for e in child] not in (["p"], ["div"]):
                continue
            if not (child.text or child[0].tail or "").strip():
                child[0].tail = child.tail
                parent[at] = child[0]


class Outline(Treeprocessor):
    """
    ## The outline

    Classes and functions that have no heading are in the outline all the same, where
    [weave][sidebyside.weave.outlined] says so. This adds them to what the extension
    `toc` has found. Headings in the prose of one of them belong to it.
    """

    def __init__(self, md: Markdown, kept: Pieces) -> None:
        super().__init__(md)
        self.kept = kept

    def run(self, root: Element) -> None:
        """Put classes and functions in their places between the headings."""
        found = getattr(self.md, "toc_tokens", [])
        if not self.kept.has_outline:
            return
        headings = {token["id"]: token for token in flat(found)}
        bottom = getattr(self.md.treeprocessors["toc"], "toc_bottom", 6) if found else 0
        tokens: list[Any] = []
        level = 0
        for element in root.iter():
            if element.tag == "section":
                level = 0
            elif element.get("class") == "sbs-link":
                outline = element.attrib.pop("data-sbs-outline", "")
                level = int(outline) if re.fullmatch("[1-6]", outline) else 0
                if 0 < level <= bottom:
                    name = element.get("data-title", "").rpartition(".")[2]
                    entry = {"level": level, "id": element.get("id", ""), "name": name}
                    tokens.append({**entry, "html": name, "data-toc-label": ""})
            elif token := headings.pop(element.get("id", ""), None):
                tokens.append({**token, "level": max(token["level"], level + 1)})
        self.md.toc_tokens = nest_toc_tokens(tokens)  # type: ignore[attr-defined]


def flat(tokens: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries of an outline, one after the other."""
    for token in tokens:
        yield token
        yield from flat(token["children"])


class Labels(Treeprocessor):
    """
    ### Formulas in headings

    In the outline and in an anchor, a formula is its TeX. The extension `toc` would
    take all the text that a formula has once it is set: it is there three times.
    """

    def run(self, root: Element) -> None:
        """Tell `toc` what to take."""
        if "toc" not in self.md.treeprocessors:
            return
        toc: Any = self.md.treeprocessors["toc"]
        for heading in root.iter():
            if heading.tag not in HEADINGS:
                continue
            whole = "".join(heading.itertext())
            label = HTML_PLACEHOLDER_RE.sub(self._tex, whole)
            if label != whole:
                heading.set("data-toc-label", label)
                if "id" not in heading.attrib:
                    heading.set("id", toc.slugify(label, toc.sep))

    def _tex(self, place: re.Match[str]) -> str:
        formula = ANNOTATION.search(str(self.md.htmlStash.rawHtmlBlocks[int(place[1])]))
        return unescape(formula[1]) if formula else place[0]


class Films(Treeprocessor):
    """
    ## Films

    `![A game of Pong](pong.mp4)` becomes a player. Nothing of the film is loaded until
    a reader starts it, and [a still][sidebyside.links.still_of] is shown until then. As
    with any picture, `{ width=640 height=360 }` after it keeps its place free on the
    page.
    """

    def run(self, root: Element) -> None:
        """Turn pictures whose file is a film into players."""
        for image in root.iter("img"):
            address = image.get("src", "")
            if still := still_of(address):
                words = image.attrib.pop("alt", "")
                image.tag = "video"
                image.attrib |= {"controls": "", "muted": "", "playsinline": ""}
                image.attrib |= {"preload": "none", "poster": still}
                image.set("aria-label", words)
                SubElement(image, "a", href=address).text = words


class Series(Treeprocessor):
    """
    ## Pictures that move

    What happens if a number gets larger? An author draws the same picture for several
    values of it, gives each a title, and puts one below another, with nothing between
    them:

    ```markdown
    ![One step is praised](0.svg "λ = 0")
    ![Some steps before it, too](8.svg "λ = 0.8")
    ![All of them](1.svg "λ = 1")
    ```

    A reader sees the first, and a slider under it with its title. Without scripts, all
    are shown. On paper, only the one that was seen last is shown.
    """

    def run(self, root: Element) -> None:
        """Mark each paragraph that has nothing but pictures with titles."""
        for paragraph in root.iter("p"):
            pictures = list(paragraph)
            between = [paragraph.text, *(each.tail for each in pictures)]
            if (
                len(pictures) > 1
                and all(each.tag == "img" and each.get("title") for each in pictures)
                and all("\n" in (each.tail or "") for each in pictures[:-1])
                and not any((text or "").strip() for text in between)
            ):
                named = paragraph.get("class")
                paragraph.set("class", f"{named} sbs-series" if named else "sbs-series")


class Signs(Postprocessor):
    """
    ## Signs

    The guard's signs become what they stand for, when everything else is done.
    """

    def run(self, text: str) -> str:
        """Resolve the signs."""
        return unguarded(text)


class Formulas(Preprocessor):
    """
    ## Formulas

    This runs after fenced blocks have been taken out, so a dollar in one of them is
    safe.
    """

    def __init__(self, md: Markdown, kept: Pieces) -> None:
        super().__init__(md)
        self.kept = kept

    def run(self, lines: list[str]) -> list[str]:
        """Set the formulas of a page that is written by hand."""
        return lines if self.kept.is_made else self.set(lines, must=True)

    def set(self, lines: list[str], must: bool = False) -> list[str]:
        """
        Replace each formula by a placeholder for what KaTeX made of it.

        Args:
            lines: a page, or a piece of one.
            must: whether a formula that can't be set is an error, and not just text.
        """
        text = "\n".join(lines)
        done: list[str] = []
        end = 0
        for formula in find(text):
            try:
                html = typeset(formula.tex, formula.display)
            except FormulaError:
                if must:
                    raise
                continue
            done.append(text[end : formula.start])
            end = formula.stop
            if not formula.display and (behind := BEHIND.match(text, end)):
                html = joined(html, behind[0])
                end = behind.end()
            done.append(self.md.htmlStash.store(html))
        return "".join([*done, text[end:]]).split("\n")


def joined(html: str, behind: str) -> str:
    """
    A formula with what comes right after it. A browser would break the line between the
    two, as after any box, even in front of a comma. So here it may break the line only
    where KaTeX's boxes meet.
    """
    html = html.replace(BOXES, BOXES.replace("><", "><wbr><"))
    return f'<span class="sbs-join">{html}{behind}</span>'


class SideBySideExtension(Extension):
    """
    ## The extension

    `SuperFences` and `fenced_code` take fenced blocks out at priority 25. Code must be
    gone before that, since a string in it may look like a fence; formulas may go only
    afterwards.
    """

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register all of it with a converter."""
        kept = Pieces(md)
        # `pymdownx.snippets` puts files in at 32, and anything higher comes before it.
        md.preprocessors.register(Snippets(md), "sidebyside_snippets", 33)
        md.preprocessors.register(kept, "sidebyside_pieces", 28)
        md.preprocessors.register(Formulas(md, kept), "sidebyside_formulas", 24)
        md.parser.blockprocessors.register(Apart(md, kept), "sidebyside_apart", 200)
        md.inlinePatterns.register(Autolinks(AUTOLINK, md), "sidebyside_autolinks", 125)
        md.inlinePatterns.register(Tags(TAG, md), "sidebyside_tags", 95)
        # After links and tags, which may contain an address, and before emphasis.
        md.inlinePatterns.register(Addresses(md, kept), "sidebyside_addresses", 85)
        # Numbers after bullets are a separate list, and a list whose first item was
        # written as 3 is numbered from 3 on.
        lists: Any = md.parser.blockprocessors
        lists["olist"].SIBLING_TAGS = ["ol"]
        lists["ulist"].SIBLING_TAGS = ["ul"]
        lists["olist"].LAZY_OL = False
        # Emphasis is set from 60 on.
        md.inlinePatterns.register(Names(md, kept), "sidebyside_names", 65)
        # Attribute lists are set at 8; the table of contents is made at 5.
        md.treeprocessors.register(Disarming(md, kept), "sidebyside_disarming", 6)
        md.treeprocessors.register(Labels(md), "sidebyside_labels", 5.5)
        md.treeprocessors.register(Outline(md, kept), "sidebyside_outline", 4)
        # At 0, MkDocs changes the addresses of pictures to those of the finished site,
        # and films take theirs from there.
        md.treeprocessors.register(Films(md), "sidebyside_films", -1)
        md.treeprocessors.register(Series(md), "sidebyside_series", -2)
        md.postprocessors.register(Signs(md), "sidebyside_signs", 5)
        if "$" not in md.ESCAPED_CHARS:
            md.ESCAPED_CHARS = [*md.ESCAPED_CHARS, "$"]
