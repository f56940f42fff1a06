r"""
---
title: One file
summary: A module as a single HTML file that needs nothing else, not even a network.
---

# One file

Sometimes a page has to travel: as an attachment, into an archive, to a machine without
a network. This chapter turns one module into one HTML file, with everything that it
needs inside: styles, colours, the pictures in its prose, and those of KaTeX's fonts
that its formulas use. The file loads nothing from any host. It holds no script either,
so no symbols light up on it, and tabs, diagrams and films do not work.

The licences of all this are in the file as well, since they ask to stay with it.

The columns, the rows and the colours come from the same stylesheet as those of a site.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from mimetypes import guess_type
from pathlib import Path
from xml.etree.ElementTree import Element

from jinja2 import Environment
from markdown import Markdown
from markdown.treeprocessors import Treeprocessor

from sidebyside.anchors import described
from sidebyside.errors import PressError, too_deep
from sidebyside.links import file_of, pictures_in
from sidebyside.press import ASSETS, EXTENSIONS, asset_bytes
from sidebyside.read import Source
from sidebyside.render import description_of, render
from sidebyside.weave import Page

FONT_FACE = re.compile(
    r"@font-face\{[^}]*font-family:\"?(?P<family>\w+)\"?;font-style:(?P<style>\w+);"
    r"font-weight:(?P<weight>\w+);src:url\((?P<path>[^)]*)\)[^}]*\}"
)
# A page in one file takes its fonts from KaTeX's own styles.
STYLED_FACE = re.compile(r"@font-face \{[^}]*\}\s*")
RULE = re.compile(r"(?P<selector>[^{}]+)\{(?P<body>[^{}]*)\}")
DARK = re.compile(r"[\w.]*\[data-md-color-scheme=\"?slate\"?\][^{}]*\{[^{}]*\}")


def standalone(page: Page, templates: Environment, folder: Path, root: Path) -> str:
    """
    ## A page in one file

    Args:
        page: the page.
        templates: what [environment][sidebyside.render.environment] made.
        folder: where the page's links to pictures start from.
        root: the folder whose pictures may be put into the page.

    Raises:
        PressError: if its prose is nested too deeply for Markdown.
    """
    _, _, text = render(page, templates).removeprefix("---\n").partition("\n---\n")
    md = Markdown(
        extensions=[*EXTENSIONS, "toc"],
        extension_configs={
            "toc": {"permalink": True},
            "pymdownx.highlight": {"guess_lang": False},
        },
    )
    # After all that sets an address, and after the guard.
    md.treeprocessors.register(Pictures(md, folder, root), "sidebyside_pictures", 1)
    md.treeprocessors.register(Links(md), "sidebyside_links", 0.5)
    try:
        body = md.convert(text)
    except RecursionError:
        raise too_deep(page.source.path) from None
    style = STYLED_FACE.sub("", asset_bytes(Path("sidebyside.css")).decode())
    template = templates.get_template("sidebyside/standalone.html")
    return template.render(
        page=page,
        body=body,
        styles=[formula_style(body), licences("LICENSE") + style, dark(style)],
        summary=description_of(page),
    )


def licences(*names: str) -> str:
    """What has to stay with each copy of a stylesheet or a font, as a comment."""
    texts = [(ASSETS / name).read_text(encoding="utf-8") for name in names]
    return "/*\n{}*/\n".format("\n".join(texts))


def dark(css: str) -> str:
    """
    ## Light and dark

    On a site, a script writes into an attribute which colours are wanted. Without one,
    the same rules go by the reader's system.

    Args:
        css: the stylesheet of a site.
    """
    rules = (re.sub('="?slate"?', "", rule) for rule in DARK.findall(css))
    # Paper is white, whatever the screen is.
    return "@media screen and (prefers-color-scheme: dark) {\n" + "\n".join(rules) + "}"


def formula_style(html: str) -> str:
    """
    ## KaTeX's styles, with the fonts that are needed

    All the fonts together weigh 260 kB, and most pages need three of the twenty. The
    stylesheet tells which: a rule that sets a font counts if the page has all the
    classes that it asks for.

    Args:
        html: the page.
    """
    if "<sbs-math" not in html:
        return ""
    folder = ASSETS / "katex"
    css = (folder / "katex.min.css").read_text(encoding="utf-8")
    classes = {
        c for names in re.findall(r'class="([^"]*)"', html) for c in names.split()
    }
    wanted = [
        rule["body"]
        for rule in RULE.finditer(FONT_FACE.sub("", css))
        if any(
            classes.issuperset(re.findall(r"\.([\w-]+)", selector))
            for selector in rule["selector"].split(",")
        )
    ]

    def embedded(face: re.Match[str]) -> str:
        """A font as part of the stylesheet, or nothing if no formula needs it."""
        # A rule for italics or bold that names no font is meant for all of them.
        ours = [b for b in wanted if face["family"] in b or "KaTeX_" not in b]
        needs = [face["family"]]
        if face["style"] == "italic":
            needs.append("font-style:italic")
        if face["weight"] == "700":
            needs.append("font-weight:(700|bold)")
        if not all(any(re.search(n, body) for body in ours) for n in needs):
            return ""
        return face[0].replace(face["path"], data_uri(folder / face["path"]))

    kept = licences("katex/LICENSE", "katex/fonts/LICENSE")
    return kept + FONT_FACE.sub(embedded, css)


def kind_of(file: Path) -> str:
    """A file's media type, by its name. In Python 3.12, WebP is not an official one."""
    return guess_type(file.name, strict=False)[0] or ""


def data_uri(file: Path) -> str:
    """A file as an address that holds its content."""
    kind = "font/woff2" if file.suffix == ".woff2" else kind_of(file)
    return f"data:{kind};base64,{b64encode(file.read_bytes()).decode('ascii')}"


def missing_pictures(source: Source, folder: Path, root: Path) -> Iterator[PressError]:
    """
    ## Pictures that are not there

    Args:
        source: the module.
        folder: where the page's links to pictures start from.
        root: the folder whose pictures may be put into the page.

    Returns:
        A mistake for each picture that will be missing from the page.
    """
    name = root.resolve().name
    for section in described(source).sections:
        prose = section.prose
        for picture in pictures_in(prose.text):
            path = file_of(picture.address, "")
            if path and not is_below(folder / path, root):
                yield PressError(
                    source.path,
                    prose.line_at(picture.start),
                    f"the picture `{picture.address}` is not in `{name}`",
                    "Put it there, or name the documents of the site with `--docs`.",
                )


def is_below(file: Path, root: Path) -> bool:
    """Whether there is such a file, in this folder or deeper."""
    try:
        # The path may begin in the folder that the page has in the site, and that is
        # nowhere on the disk.
        file = file.resolve()
        return file.is_file() and file.is_relative_to(root.resolve())
    except OSError:
        # No file can have such a name.
        return False


class Pictures(Treeprocessor):
    """
    ## Pictures

    A picture inside the given folder becomes part of the page. Any other would mean a
    request to some host, and is shown as a link with its description.
    """

    def __init__(self, md: Markdown, folder: Path, root: Path) -> None:
        super().__init__(md)
        self.folder = folder.absolute()
        self.root = root.resolve()

    def run(self, root: Element) -> None:
        """Put in the pictures of a page."""
        in_links = {image for link in root.iter("a") for image in link.iter("img")}
        for image in list(root.iter("img")):
            address = image.get("src", "")
            path = file_of(address, "")
            file = (self.folder / (path or "")).resolve()
            is_picture = kind_of(file).startswith("image/")
            if path and is_picture and is_below(file, self.root):
                # `#only-dark` tells when to show a picture, here as in a theme.
                _, mark, name = address.partition("#")
                image.set("src", data_uri(file) + mark + name)
            else:
                image.tag = "span" if image in in_links else "a"
                image.text = image.get("alt") or address
                image.attrib = {} if image in in_links else {"href": address}


class Links(Treeprocessor):
    """
    ## Links

    A link to another page of the site would lead nowhere from here, so it becomes plain
    words.
    """

    def run(self, root: Element) -> None:
        """Keep the links that lead to a place on this page, or to another site."""
        for link in root.iter("a"):
            address = link.get("href", "")
            if not address.startswith("#") and not re.match(r"[\w+.-]+:", address):
                link.tag = "span"
                link.attrib = {}
