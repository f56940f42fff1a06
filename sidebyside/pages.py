"""
---
title: The pages of a site
summary: All modules become pages, and a mistake in one stops a build, but no server.
---

# The pages of a site

[The press][sidebyside.press] makes one page. A site has many, and there may be mistakes
in some. A build stops at a mistake. A server shows it on the page of its module, and
makes the others again, but only those that have changed.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger

from sidebyside.catalogue import catalogue
from sidebyside.check.rules import dollars
from sidebyside.crossings import Answers, Asked, Known, are_same, cross
from sidebyside.errors import PressError
from sidebyside.findings import Finding
from sidebyside.inventory import Entry, inventory, own_inventory
from sidebyside.links import Place
from sidebyside.options import Options, root_of
from sidebyside.press import (
    Module,
    WithOutside,
    WithUnread,
    bytes_of,
    find_modules,
    make,
    named_from,
    names_around,
)
from sidebyside.read import Source, read
from sidebyside.references import needs, reach
from sidebyside.render import (
    environment,
    looked_up,
    render,
    render_error,
    render_reference,
    texts_of,
)
from sidebyside.serve import CompiledTemplates
from sidebyside.split import code_of
from sidebyside.tested import Recorded, read_record, with_tests
from sidebyside.weave import Crossing

log = get_plugin_logger("sidebyside")

SAME_PAGE = (
    "{} would be the same page, `{}`. "
    "Rename one of them, or leave the module out with `exclude`."
)
NOT_THERE = "exclude: nothing matches `{}`."
NO_MODULES = "packages: there are no Python files in `{}`, or all are left out."


class Made(NamedTuple):
    """
    A page that was made, in this build or an earlier one.

    Args:
        parts: what it was made of.
        answers: the places that it asked for.
        text: the page, as Markdown.
        dollars: those on it that are not part of a formula.
        untitled: the name of its module, if it has no other title.
    """

    parts: tuple[Any, ...]
    answers: Answers
    text: str
    dollars: Sequence[Finding]
    untitled: str


class Pages:
    """
    ## All modules

    All builds of a server have one such object, so that each can use what the one
    before has made.
    """

    def __init__(self) -> None:
        self.serving = False
        self.templates = CompiledTemplates()
        self.loaded: dict[str, tuple[bytes, Source]] = {}
        self.codes: dict[str, str] = {}
        self.known: dict[Source, Known] = {}
        self.made: dict[str, Made] = {}
        self.files: list[tuple[str, str | bytes]] = []
        self.places: Mapping[str, Place] = {}
        self.modules: dict[Path, str] = {}
        self.sources: dict[str, str] = {}
        self.written: dict[str, Path] = {}
        self.around: tuple[dict[str, Entry], bool] = {}, False

    def make(self, options: Options, config: MkDocsConfig, *, serving: bool) -> None:
        """
        ### Only what changed

        A build makes all pages. A server makes a page again only if its module has
        changed, or something in other modules that the page has asked for.

        Args:
            options: those of the plugin.
            config: those of the site.
            serving: whether an author is at work.

        Raises:
            PluginError: if something is wrong, and nobody is at work.
        """
        self.serving = serving
        custom = [Path(config.theme.custom_dir)] if config.theme.custom_dir else []
        templates = environment(custom)
        templates.bytecode_cache = self.templates
        self.files = []
        outside = inventory() | own_inventories(options.inventories)
        sources, unread = self.load_all(self.find(options, config))
        places: Mapping[str, Place] = catalogue(sources)
        if unread:
            readable = {source.module for source in sources}
            places = WithUnread(places, [m for m, _ in unread.values()], readable)
        self.places, linked = places, WithOutside(places, outside)
        for module, mistake in unread.values():
            self.mistake(module.page, mistake, templates)
        design = texts_of(templates)
        around = outside, config.use_directory_urls
        self.forget_changed(sources, around)
        crossings = cross(sources, places, *around, self.known)
        crossings = with_tests(crossings, sources, recorded(options.tests))
        self.sources = {}
        copied, found = needs(sources), looked_up(sources)
        for source in sources:
            self.files.append(
                (source.path, "".join(source.lines).encode(source.encoding))
            )
            if source.module in unread:
                continue
            self.sources[source.page] = source.path
            crossing = crossings[source.module]
            needed = copied.get(source.module)
            reference = options.reference if source.module in found else ""
            try:
                text = self.make_page(
                    source,
                    crossing,
                    linked,
                    design,
                    templates,
                    needed=needed,
                    reference=reference,
                )
                self.files.append((source.page, text))
            except PressError as error:
                self.mistake(source.page, error, templates)
        if options.makes_reference:
            entries = render_reference(sources, found, templates, options.reference)
            self.files += entries.items()

    def make_page(
        self,
        source: Source,
        crossing: Crossing,
        linked: Mapping[str, Place],
        design: object,
        templates: Any,
        *,
        needed: Sequence[Source] | None,
        reference: str,
    ) -> str:
        """
        Args:
            source: a module.
            crossing: what leads from it to others, and back.
            linked: the places of all names.
            design: the text of the template and of those that it includes, which
                differs if the site has changed one.
            templates: what [environment][sidebyside.render.environment] made.
            needed: the modules that a copy needs.
            reference: the page of the reference, if the module is in it.

        Returns:
            Its page as Markdown.
        """
        where = source.page
        # A page is made of these, of the places that it asks for, and of nothing else.
        paths = None if needed is None else [each.path for each in needed]
        parts = (source, crossing, design, reference, paths)
        made = self.made.get(where)
        if not made or parts != made.parts or not are_same(made.answers, linked):
            asked = Asked(linked)
            mistakes: list[PressError] = []
            page = make(source, asked, mistakes.append, crossing)
            self.give_up(mistakes)
            text = render(page, templates, reference, needed)
            untitled = source.module if page.title == source.module else ""
            shown = [*dollars(source, words=False)]
            made = Made(parts, asked.answers, text, shown, untitled)
            self.made[where] = made
        # Those that would be shown on the page: a strict build fails on a warning.
        for finding in made.dollars:
            log.warning(str(finding))
        return made.text

    def find(self, options: Options, config: MkDocsConfig) -> list[Module]:
        """
        All modules. One that is listed twice has one page, but two modules that would
        have the same page stop the build.

        Args:
            options: those of the plugin.
            config: those of the site. MkDocs itself would leave out what matches
                `exclude_docs`.
        """
        root, hidden = root_of(config), config.exclude_docs
        # The site has a copy of each module. If its folder is inside a package, the
        # copies are not modules of that package.
        site = Path(os.path.abspath(config.site_dir))
        self.modules = {}
        pages: dict[str, Module] = {}
        used: set[str] = set()
        for package in map(Path, options.packages):
            # The site has a copy of each file, at the path by which messages name it.
            # So that path must not begin with `../`.
            is_inside = package.is_relative_to(root)
            base = root if is_inside else package.parents[len(names_around(package))]
            found = find_modules(package, base, options.exclude, root, used)
            if not found:
                log.warning(NO_MODULES.format(named_from(package, root)))
            for module in found:
                file = Path(os.path.abspath(module.file))
                if file in self.modules or file.is_relative_to(site):
                    continue
                if hidden and hidden.match_file(module.page):
                    continue
                self.modules[file] = module.name
                if other := pages.get(module.page):
                    paths = f"`{other.path}` and `{module.path}`"
                    raise PluginError(SAME_PAGE.format(paths, module.page))
                pages[module.page] = module
        for pattern in options.exclude:
            if pattern not in used:
                log.info(NOT_THERE.format(pattern))
        self.written = {
            path: module.file
            for module in pages.values()
            for path in (module.page, module.path)
        }
        return [*pages.values()]

    def load_all(
        self, modules: Iterable[Module]
    ) -> tuple[list[Source], dict[str, tuple[Module, PressError]]]:
        """
        Read all modules.

        Returns:
            The modules, and those that can't be read, by name, each with its mistake.
        """
        sources: list[Source] = []
        unread: dict[str, tuple[Module, PressError]] = {}
        for module in modules:
            try:
                sources.append(self.load(module))
            except PressError as error:
                unread[module.name] = module, error
                # What the module was before is the best that is known of it.
                if module.path in self.loaded:
                    sources.append(self.loaded[module.path][1])
        return sources, unread

    def load(self, module: Module) -> Source:
        """Read a module, unless it is the same as in the previous build."""
        data = bytes_of(module)
        before, source = self.loaded.get(module.path, (b"", None))
        # A package that became part of another has other names.
        if source is None or before != data or source.module != module.name:
            source = read(data, module.path, module.name)
            self.loaded[module.path] = data, source
        return source

    def forget_changed(
        self, sources: Sequence[Source], around: tuple[dict[str, Entry], bool]
    ) -> None:
        """
        Keep what is known about the code of a module only while nothing has changed
        that its names could lead to.

        Args:
            sources: all modules.
            around: what else the links in code depend on.
        """
        codes = {source.module: code_of(source) for source in sources}
        is_same = codes.keys() == self.codes.keys() and around == self.around
        changed = {name for name in codes if codes[name] != self.codes.get(name)}
        known = self.known if is_same else {}
        reached = reach(sources) if known else {}
        self.known = {
            source: known[source]
            for source in sources
            if source in known and not changed & reached[source.module]
        }
        self.codes, self.around = codes, around

    def give_up(self, mistakes: Sequence[PressError]) -> None:
        """
        A build reports all mistakes on a page. A server shows the first one there.

        Args:
            mistakes: those of a page, in the order in which they were found.

        Raises:
            PressError: if there is one.
        """
        if mistakes and self.serving:
            raise mistakes[0]
        for each in mistakes[:-1]:
            log.error(str(each))
        if mistakes:
            raise mistakes[-1]

    def mistake(self, page: str, error: PressError, templates: Any) -> None:
        """
        ### A mistake in a module

        A build stops at it. A server that an author is looking at shows it on the page,
        and goes on. Links to what was on the page still find something there. And the
        page keeps its title, or all others would have to be made again.
        """
        if not self.serving:
            raise PluginError(str(error)) from error
        log.warning(str(error))
        places = (each for each in self.places.values() if each.page == page)
        anchors = dict.fromkeys(each.anchor for each in places if each.anchor)
        targets = "".join(f'<i id="{anchor}"></i>' for anchor in anchors)
        text = render_error(error, templates)
        if page in self.made:
            front = self.made[page].text.partition("\n---\n")[0]
            text = front + "".join(text.partition("\n---\n")[1:])
        self.files.append((page, f"{text}\n<div>{targets}</div>\n"))


def own_inventories(files: Mapping[str, str]) -> dict[str, Entry]:
    """
    ## Files that the options name

    Returns:
        What the site's own inventories list.
    """
    entries: dict[str, Entry] = {}
    for address, path in files.items():
        try:
            entries |= own_inventory(address, Path(path).read_bytes())
        except ValueError as error:
            raise PluginError(f"inventories: {path}: {error}") from None
    return entries


def recorded(path: str | None) -> Recorded:
    """The tests that were recorded, if there is a record."""
    if not path:
        return {}
    try:
        return read_record(Path(path).read_bytes())
    except ValueError as error:
        raise PluginError(f"tests: {path}: {error}") from None
