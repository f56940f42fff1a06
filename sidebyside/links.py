"""
---
title: Links
summary: "[Game.step][] finds the definition, or stops the build."
---

# Links

In prose, `[Game.step][]` leads to the definition of that name, and `[one
step][Game.step]` does so with words of the author's choice. A name is looked up from
the inside out: first in the definitions around it, including classes, then in its
module, then among the module's imports, then in the whole book, and last [where others
have documented it][sidebyside.press.WithOutside], as with
`[xml.etree.ElementTree.Element][]`. A name that is found nowhere stops the build, and
the message suggests the nearest name that exists.

Code that was written for Sphinx says ``:meth:`Game.step` `` instead. That becomes a
link if it can, and code if not.

`[the game](game.py)` leads from module to module where the code is read in an editor or
on the pages of its repository. In the book it leads from page to page. Modules that
were annotated for pylit name the page itself, `game.html`, or a package by its folder,
and these links lead there, too.

A picture has an address, as a link has. So pictures and films are found here as well.

## From pages that are written by hand

On a page written by hand, `[the game](../labml_rl/game.py)` leads to the page of the
module, whether the path follows the files on disk or the pages on the site. And
`[one step][labml_rl.game.Game.step]` leads to a definition, by its full name.
"""

import os
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Set
from difflib import get_close_matches
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from sidebyside.bindings import imports
from sidebyside.errors import PressError, Report, stop
from sidebyside.mathematics import in_formulas
from sidebyside.prose import CODE, INDEX, Prose
from sidebyside.read import Source

# An index of an index, `rewards[t][n]`, is not a link, and neither is an image. In the
# words of a link, code and pictures may have brackets; all others need a backslash. All
# of this begins with one of a few signs, so most letters need not be looked at twice.
LINK = re.compile(
    r"""
    (?=[:\\`~>\[(]|^[ ])(?:
      (?<![\w:`]):(?:py:)?(?:attr|class|const|data|exc|func|meth|mod|obj|ref|term)
      :`(?P<role>[^`\n]+)` |
      (?<![\])\\!\w])\[`(?P<face>~?[A-Za-z_]\w*(?:\.\w+)*(?:\(\))?)`\](?![\[(:]) |
      (?<![\w`\\])`(?P<short>~[A-Za-z_]\w*(?:\.\w+)+)`(?!`) |
    """
    + CODE
    + r"""
    | (?<![^\W_])(?<![^\W_]_)(?<![^\W_]__)(?<![\])\\!=])
      \[(?P<text>(?:!\[[^\[\]]*\]\([^()]*\) | [^\[\]\\`] | \\.
        | (?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))++)\]\[(?P<name>[^\[\]\n]*)\]
    | (?<=\])\(<?(?P<file>[^\s()<>\#:]+)(?=[>\s)\#])
    | ^[ ]{0,3}\[[^\[\]\n^][^\[\]\n]*\]:[ ]*\n?[ ]*<?(?P<target>[^\s<>\#:]+)
      (?=[^\s<>]*>?[ ]*(?:["'(].*)?$))
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
# Without one of these there is none, as in most texts.
SIGNS = re.compile(r"\][(\[:]|[:\[]`|`~")
NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
# What defines a label, and what uses it. `[0]: first` has no address, and is text.
LABEL = re.compile(
    CODE
    + rf"""
    | ^[ ]{{0,3}}\[(?P<note>\^[^\[\]\s]+)\](?=:)
    | ^[ ]{{0,3}}\[(?!{INDEX})
      (?P<own>[^\[\]\n^][^\[\]\n]*)\]
      (?=:[ ]*\n?[ ]*(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s<]\S*))[ ]*
        (?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))?[ ]*$)
    | (?<!\\)\[(?P<used>[^\[\]]+)\](?P<behind>\[\]|(?=[\[(]))?
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
PICTURE = re.compile(
    CODE
    + r"""
    | (?<!\\)!\[(?P<alt>(?:[^\[\]]|\[[^\[\]]*\])*)\]
      (?: \(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<inline>(?:[^\s()]|\([^\s()]*\))+))
        | \[(?P<name>[^\[\]]*)\] )
    | <img\b[^<>]*?\ssrc\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


class Place(NamedTuple):
    """
    ## Where a definition is shown

    Args:
        page: the path of its page among the site's sources.
        anchor: its anchor on that page; empty for the page itself.
    """

    page: str
    anchor: str

    def seen_from(self, page: str) -> str:
        """A Markdown link's target that leads here from another page."""
        path = "" if page == self.page else relative(self.page, page)
        return (
            f"{path}#{self.anchor}" if self.anchor else path or posixpath.basename(page)
        )

    def url_from(self, page: str, use_directory_urls: bool | None) -> str:
        """
        The address that leads here from another page, for HTML that is finished and
        will not pass through the site engine's own links.

        Args:
            page: the path of the other page among the site's sources.
            use_directory_urls: whether the page `a/b.md` is the folder `a/b/`, and not
                the file `a/b.html`; `None` if the site engine itself turns a link to
                `a/b.md` into one to its page, in HTML too.
        """
        if use_directory_urls is None:
            return self.seen_from(page)
        anchor = f"#{self.anchor}" if self.anchor else ""
        if page == self.page and anchor:
            return anchor
        here, there = (address(path, use_directory_urls) for path in (page, self.page))
        path = relative(there, here)
        return f"{path}/{anchor}" if use_directory_urls else path + anchor


class Elsewhere(Place):
    """A place in other documentation. Its `page` is an address, with the anchor."""

    def seen_from(self, page: str) -> str:
        """The same address, wherever it is linked from."""
        return self.page

    def url_from(self, page: str, use_directory_urls: bool | None) -> str:
        """The same address, wherever it is linked from."""
        return self.page


@cache
def relative(there: str, here: str) -> str:
    """The path from one page to another, kept: there are many links and few pages."""
    return posixpath.relpath(there or ".", posixpath.dirname(here) or ".")


def address(page: str, use_directory_urls: bool) -> str:
    """Where the page of a source is in the finished site."""
    path = page.removesuffix(".md")
    if not use_directory_urls:
        return f"{path}.html"
    # The slash at the end makes it a folder, from which relative paths start.
    folder, slash, name = path.rpartition("/")
    return folder + slash if name == "index" else f"{path}/"


def resolve(
    name: str, scope: str, source: Source, places: Mapping[str, Place]
) -> Place | None:
    """
    ## Looking a name up

    Args:
        name: the name in the link.
        scope: the qualified name of the definition that the prose belongs to.
        source: the module that the prose is in.
        places: every definition and module of the book, by full name.
    """
    known = imports(source)
    head, _, tail = name.partition(".")
    scopes = scope.split(".") if scope else []
    candidates = [
        ".".join([source.module, *scopes[:depth], name])
        for depth in range(len(scopes), -1, -1)
    ]
    if head in known:
        candidates.append(".".join(filter(None, (known[head], tail))))
    candidates += [name, f"{source.module.split('.')[0]}.{name}"]
    return next((places[c] for c in candidates if c in places), None)


def set_links(
    prose: Prose,
    scope: str,
    source: Source,
    places: Mapping[str, Place],
    report: Report = stop,
    *,
    labels: Set[str] = frozenset(),
) -> Prose:
    """
    ## Setting links

    Args:
        prose: any prose of the module.
        scope: the definition that it belongs to.
        source: the module.
        places: every definition and module of the book, by full name.
        report: what to do about a name that is defined nowhere. If it returns, the
            link becomes plain words.
        labels: those that are [known on the whole page][labels_of].

    Returns:
        The prose, with links to definitions as ordinary Markdown links, so that the
        site engine checks them again along with its own, and with links to modules as
        links to their pages.
    """
    here = source.page

    def named(name: str, line: int, written: str) -> Place | None:
        if place := resolve(name, scope, source, places):
            return place
        if not line:
            return NOWHERE
        remedy = nearest(name, source.module, places)
        found = UNKNOWN.format(name)
        report(PressError(source.path, line, found, remedy, at=written))
        return NOWHERE

    def module(address: str) -> Place | None:
        return page_at(file_of(address, posixpath.dirname(here)), places)

    return replaced(prose, here, named, module, labels)


def set_links_by_hand(
    prose: Prose,
    here: str,
    places: Mapping[str, Place],
    *,
    modules: Mapping[Path, str],
    folder: Path,
    report: Report,
) -> Prose:
    """
    ### On a page that is written by hand

    Names other than those of the book are left alone: another plugin may know them.

    Args:
        prose: the page.
        here: its path among the site's sources.
        places: every definition and module of the book, by full name.
        modules: the name of each module, by its file.
        folder: where the page is on disk.
        report: what to do about a name of the book that is defined nowhere. If it
            returns, the link stays as it is.
    """
    packages = {name.partition(".")[0] for name in modules.values()}

    def named(name: str, line: int, written: str) -> Place | None:
        if line and name.partition(".")[0] in packages and name not in places:
            remedy = nearest(name, "", places)
            report(PressError(here, line, UNKNOWN.format(name), remedy, at=written))
        return places.get(name)

    def module(address: str) -> Place | None:
        path = file_of(address, posixpath.dirname(here))
        if path and address.endswith(".py"):
            on_disk = Path(os.path.abspath(folder / unquote(address)))
            if on_disk in modules:
                return places.get(modules[on_disk])
            return page_at(path, places)
        return None

    return replaced(prose, here, named, module)


UNKNOWN = "a link to `{}`, which is defined nowhere"
NOWHERE = Place("", "")


def replaced(
    prose: Prose,
    here: str,
    named: Callable[[str, int, str], Place | None],
    module: Callable[[str], Place | None],
    labels: Set[str] = frozenset(),
) -> Prose:
    """
    ### Both kinds

    Args:
        prose: any prose.
        here: the page that it is on.
        named: finds a definition from its name, the line of the link (0 if the name
            need not be found), and what is written there. If it finds nothing, the link
            stays as it is; `NOWHERE` turns it into plain words.
        module: finds the page of a module from an address.
        labels: the labels of addresses that are defined outside this prose. A link that
            uses one is an ordinary Markdown link.
    """
    text = prose.text
    if not SIGNS.search(text):
        return prose
    references = labels | dict(labels_in(text)).keys()
    is_formula = in_formulas(text)
    pieces: list[str] = []
    end = 0
    for match in LINK.finditer(text):
        if is_formula(match.start()):
            continue
        if match["file"] or match["target"]:
            group = "file" if match["file"] else "target"
            if place := module(match[group]):
                pieces += [text[end : match.start(group)], place.seen_from(here)]
                end = match.end(group)
            continue
        if role := match["role"] or match["face"] or match["short"]:
            shown, name = in_role(role)
            place = named(name, 0, match[0])
            # To other authors `~mask.bool` may be code, and [`x`] a list of one.
            is_sure = match["role"] or (match["face"] and role.startswith("~"))
            is_label = normal(f"`{role}`") in references
            if is_label or (place is NOWHERE and not is_sure):
                continue
        elif words := match["text"]:
            label = match["name"] or words
            name = label.strip("` \n").removesuffix("()")
            is_name = NAME.fullmatch(name) is not None
            # An empty second bracket is always a link.
            is_meant = is_name or (name and not match["name"])
            if not is_meant or normal(label) in references:
                continue
            place = named(name, prose.line_at(match.start()), match[0])
            if place is NOWHERE and not is_name:
                continue
            shown = words if match["name"] or "`" in words else f"`{words.strip(' ')}`"
        else:
            continue
        if place is None:
            continue
        link = shown if place is NOWHERE else f"[{shown}]({place.seen_from(here)})"
        pieces += [text[end : match.start()], link]
        end = match.end()
    pieces.append(text[end:])
    return prose.with_text("".join(pieces))


def normal(label: str) -> str:
    """The label of a reference, as Markdown compares it with others."""
    return " ".join(label.split()).casefold()


def labels_of(proses: Iterable[Prose]) -> tuple[set[str], set[str]]:
    """
    ### Labels

    `[^1]: …` defines a note, and `[docs]: …` an address. To Markdown, a label that one
    piece of a page defines is known in all others. So a comment at the end of a module
    can define the labels that the whole module uses. But two docstrings that call their
    first note `1` would share one. And an address for `[1]` would make a link of every
    `[1]` in the prose of the page.

    Args:
        proses: those of all sections of a page.

    Returns:
        The labels that are known on the whole page, and those that are known only in
        their own sections: more than one section defines them, or they are the numbers
        of addresses.
    """
    times = Counter(label for prose in proses for label in dict(labels_in(prose.text)))
    own = {label for label, count in times.items() if count > 1 or label.isdigit()}
    return times.keys() - own, own


def labels_in(text: str) -> Iterator[tuple[str, str]]:
    """
    The labels that a text defines, as Markdown compares them, each with its address. A
    note has no address.
    """
    if "]:" in text:
        for match in LABEL.finditer(text):
            if note := match["note"]:
                yield note, ""
            elif label := match["own"]:
                yield normal(label), match["angled"] or match["bare"] or ""


def set_labels(prose: Prose, anchor: str, local: Container[str]) -> Prose:
    """
    The prose of a section, with its own labels made different from those of any other
    section.

    Args:
        prose: the prose.
        anchor: its anchor.
        local: the labels that are known only in their own sections.
    """
    # To Markdown, labels of links are the same in capitals, and two anchors may differ
    # only in capitals. So labels of links get the number of a line, and not an anchor.
    labels = {
        label: f"^{anchor}-{label[1:]}"
        if label.startswith("^")
        else f"{label}-{prose.line_at(0)}"
        for label, _ in labels_in(prose.text)
        if label in local
    }
    if not labels:
        return prose
    text = prose.text
    is_formula = in_formulas(text)
    pieces: list[str] = []
    end = 0
    for match in LABEL.finditer(text):
        label = match["note"] or match["own"] or match["used"] or ""
        is_note = label.startswith("^")
        new = labels.get(label if is_note else normal(label))
        at = text.find("[", match.start())
        if new is None or is_formula(at):
            continue
        stop = at + len(label) + 2
        if match["used"] and not is_note and text[at - 1 : at] != "]":
            # `a[1]` in indented code has an index, and not a label.
            is_deep = text.startswith("    ", text.rfind("\n", 0, at) + 1)
            if match["behind"] == "" or (is_deep and text[at - 1].isalnum()):
                continue
            # `[docs]` or `[docs][]`, where the label is what is shown.
            at, stop = stop, match.end()
        # The prose must have as many lines as before.
        pieces += [text[end:at], f"[{new}]", "\n" * text.count("\n", at, stop)]
        end = stop
    return prose.with_text("".join([*pieces, text[end:]]))


def in_role(role: str) -> tuple[str, str]:
    """
    What a role of Sphinx shows, and the name that it leads to. A name in brackets as
    Hugging Face writes it, or one that begins with `~`, is treated as the inside of a
    role.
    """
    if titled := re.fullmatch(r"(.+?)\s*<([^<>]+)>", role):
        return titled[1], titled[2].lstrip("~!.")
    name = role.lstrip("~!.").removesuffix("()")
    return f"`{name.rpartition('.')[2] if role.startswith('~') else name}`", name


def page_at(path: str | None, places: Mapping[str, Place]) -> Place | None:
    """The page of the module that a path leads to, if it leads to one."""
    name = module_in(path or "")
    place = places.get(name)
    if place is None or place.anchor or isinstance(place, Elsewhere):
        return None
    # While a package can't be read, any name in it leads to the package's own page.
    return place if module_in(place.page.removesuffix(".md")) == name else None


def module_in(file: str) -> str:
    """The dotted name of the module that a file, a page or a folder stands for."""
    path = re.sub(r"\.(?:py|html)$", "", file)
    return re.sub(r"/(?:__init__|index)$", "", path).replace("/", ".")


class Picture(NamedTuple):
    """
    ## Pictures

    Args:
        start: where it is in the text, in characters.
        address: where it can be found, as the author wrote it.
        is_html: whether it is written as HTML, and not as Markdown.
    """

    start: int
    address: str
    is_html: bool


def pictures_in(text: str) -> Iterator[Picture]:
    """
    Yields the pictures of a Markdown text, in order. Those in code do not count.

    Args:
        text: a page, or a piece of one.
    """
    if "![" not in text and "<img" not in text:
        return
    references = dict(labels_in(text))
    is_formula = in_formulas(text)
    for match in PICTURE.finditer(text):
        if is_formula(match.start()):
            continue
        named = match["name"] or match["alt"]
        html = match["double"] or match["single"]
        address = html or match["angled"] or match["inline"]
        if named is not None and address is None:
            address = references.get(normal(named))
        if address:
            yield Picture(match.start(), address, html is not None)


def still_of(address: str) -> str | None:
    """
    ## Films

    A picture whose file is a film becomes a player. Until it is started, it shows a
    still: a picture of the same name beside the film, `game.webp` for `game.mp4`.

    Args:
        address: of a picture, or its path.

    Returns:
        Where the still is, or nothing if this is not a film.
    """
    film = re.fullmatch(r"(.+)\.(?:mp4|webm)", address)
    return f"{film[1]}.webp" if film else None


def file_of(address: str, folder: str) -> str | None:
    """
    The file that an address names.

    Args:
        address: an address, as it is written.
        folder: the folder from which it starts.

    Returns:
        The path of the file, or nothing if the address leads to another site, starts at
        the root of this one, or is only an anchor.
    """
    path = unquote(re.split("[?#]", unescape(address), maxsplit=1)[0])
    if re.match(r"/|[\w+.-]+:|\Z", path) or "\0" in path:
        return None
    return posixpath.normpath(posixpath.join(folder, path))


def nearest(name: str, module: str, places: Mapping[str, Place]) -> str:
    """
    A remedy: the name that was probably meant. Most often the name is right as it was
    written, and only the part that should come before it is missing.
    """
    inside = f"{module}."
    if ends := [full for full in places if full.endswith(f".{name}")]:
        full = min(ends, key=lambda end: (not end.startswith(inside), len(end), end))
        return f"Did you mean `{full.removeprefix(inside)}`?"
    here = (full.removeprefix(inside) for full in places)
    close = get_close_matches(name, {*here, *places}, n=1)
    if close:
        return f"Did you mean `{close[0]}`?"
    return (
        "Name a module, class or function of these packages, "
        "or use a plain Markdown link."
    )
