"""
---
title: The MkDocs plugin
summary: A thin layer between the press and the site engine.
---

# The MkDocs plugin

The modules that come before this one in the navigation depend on no site engine. The
plugin hands the press the modules, and hands MkDocs the pages that are made from them.
[The first page](__init__.py#your-own-modules) shows what `mkdocs.yml` needs, and
[Options](options.py) what else it can say.

The page of `labml_rl/game.py` is `labml_rl/game.md`, in the navigation and in links.
Pages are made for the theme Material, and need it.

If `mkdocs.yml` says where the repository is, each page has a link to its module there.
MkDocs assumes that the branch is `master`, so any other has to be named:

```yaml
repo_url: https://github.com/you/your-project
edit_uri: edit/main/docs/
```
"""

import atexit
import gc
import json
import logging
import os
import posixpath
import re
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any, Literal

from jinja2 import TemplateError, TemplateSyntaxError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure import StructureItem
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page as SitePage
from mkdocs.utils import dirname_to_title, get_relative_url

from sidebyside.crossings import Answers, Asked, Known, are_same, cross
from sidebyside.errors import PressError
from sidebyside.findings import Finding
from sidebyside.guard import lookalike
from sidebyside.inventory import Entry, inventory, own_inventory
from sidebyside.links import Place, file_of, pictures_in, set_links_by_hand
from sidebyside.options import Options, check, check_reference, root_of
from sidebyside.others import Aside, keep_from_notebooks
from sidebyside.pictures import make_room
from sidebyside.press import (
    ASSETS,
    EXTENSIONS,
    Module,
    WithOutside,
    WithUnread,
    asset_bytes,
    assets,
    bytes_of,
    find_modules,
    make,
    named_from,
    names_around,
)
from sidebyside.prose import Prose
from sidebyside.read import Source, read, undisturbed
from sidebyside.references import needs, reach
from sidebyside.render import (
    PAGE,
    REFERENCE,
    THEME,
    environment,
    looked_up,
    page_of_reference,
    render,
    render_error,
    render_reference,
    texts_of,
)
from sidebyside.rst import open_code
from sidebyside.rules import dollars
from sidebyside.search import Searched
from sidebyside.serve import (
    CompiledTemplates,
    FilledTemplates,
    KeptFiles,
    Patient,
    ReadPages,
    RenderedPages,
    ResolvedReferences,
    forget_reference,
    keep_what_is_there,
    look_often,
    skip_hidden,
)
from sidebyside.split import code_of
from sidebyside.tested import Recorded, read_record, with_tests
from sidebyside.weave import Crossing, catalogue, check_formulas

log = get_plugin_logger("sidebyside")
BUILD_LOG = logging.getLogger("mkdocs.commands.build")

LONG_GONE = 10  # builds without a file, until it is forgotten
STYLES = ("katex/katex.min.css", "sidebyside.css")
STYLE = '<link rel="stylesheet"'
FONTS = "assets/sidebyside/katex/fonts"
FONT_OF = {
    "<sbs-math": "KaTeX_Main-Regular",
    'class="mord mathnormal': "KaTeX_Math-Italic",
    'class="mop op-symbol large-op': "KaTeX_Size2-Regular",
}
PRELOAD = """<script>
if (location.protocol != "file:") for (const href of %s) {
  const link = {rel: "preload", as: "font", crossOrigin: "", href};
  document.head.append(Object.assign(document.createElement("link"), link));
}
</script>
"""
STILL = re.compile(r'<video\b[^<>]*\sposter="([^"]*)"')
SCRIPT = "assets/sidebyside/sidebyside.js"
SAME_PAGE = (
    "{} would be the same page, `{}`. "
    "Rename one of them, or leave the module out with `exclude`."
)
SAME_REFERENCE = (
    "`{}` and a page of the reference would be the same page, `{}`. "
    "Delete that file, or name another folder in `reference`."
)
NOT_THERE = "exclude: nothing matches `{}`."
NO_MODULES = "packages: there are no Python files in `{}`, or all are left out."


class SideBySidePlugin(BasePlugin[Options]):  # type: ignore[no-untyped-call]
    """
    ## The plugin

    MkDocs calls the methods whose names begin with `on_`, each at its own point in a
    build. Except for `on_shutdown` and `on_serve`, they are in that order here.
    """

    def __init__(self) -> None:
        self.serving = False
        self.thresholds = gc.get_threshold()
        self.read = ReadPages()
        self.rendered = RenderedPages()
        self.templates = CompiledTemplates()
        self.templates_of_theme = CompiledTemplates()
        self.filled = FilledTemplates()
        self.kept = KeptFiles()
        self.preloading: dict[str, tuple[str, str | None]] = {}
        self.env: Any = None
        self.searched = Searched()
        self.referring = ResolvedReferences()
        self.loaded: dict[str, tuple[bytes, Source]] = {}
        self.codes: dict[str, str] = {}
        self.known: dict[Source, Known] = {}
        self.made: dict[str, tuple[Any, Answers, str]] = {}
        self.files: list[tuple[str, str | bytes]] = []
        self.places: Mapping[str, Place] = {}
        self.modules: dict[Path, str] = {}
        self.sources: dict[str, str] = {}
        self.dollars: dict[str, list[Finding]] = {}
        self.untitled: dict[str, str] = {}
        self.written: dict[str, Path] = {}
        self.listed: dict[str, tuple[object, set[str]]] = {}
        self.around: tuple[dict[str, Entry], bool] = {}, False
        self.gone: dict[str, int] = {}
        self.aside = Aside()

    def on_startup(
        self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool
    ) -> None:
        """
        Remember whether an author is at work.

        A build makes millions of objects, few of which are garbage before its end. So
        Python's collector may look for it less often. Looking for it when Python exits
        would take a fifth of the build, so everything is frozen first.
        """
        atexit.register(gc.freeze)
        self.serving = command == "serve"
        self.thresholds = gc.get_threshold()
        gc.set_threshold(50_000, *self.thresholds[1:])
        if self.serving:
            BUILD_LOG.addFilter(self.kept.is_to_be_said)

    def on_shutdown(self) -> None:
        """Leave Python as it was."""
        BUILD_LOG.removeFilter(self.kept.is_to_be_said)
        gc.set_threshold(*self.thresholds)

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Add templates, styles and Markdown extensions, and watch the modules."""
        check(self.config, config)
        if str(THEME) not in config.theme.dirs:
            config.theme.dirs.insert(1 if config.theme.custom_dir else 0, str(THEME))
        styles = [f"assets/sidebyside/{style}" for style in STYLES]
        config.extra_css = [*styles, *(c for c in config.extra_css if c not in styles)]
        if SCRIPT not in config.extra_javascript:
            config.extra_javascript.append(SCRIPT)
        for extension in EXTENSIONS:
            if extension not in config.markdown_extensions:
                config.markdown_extensions.append(extension)
        files = [*self.config.inventories.values(), self.config.tests]
        for path in (*self.config.packages, *files):
            if path and path not in config.watch:
                config.watch.append(path)
        skip_hidden(config.theme)
        return config

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """
        ### All modules, before anything is written

        MkDocs empties the folder of the site right after this. A mistake that is raised
        here leaves the site of the last build as it was.
        """
        Patient.is_building = True
        # A server has frozen what is old, and counting it takes longer than making a
        # page.
        with undisturbed(settles=not self.serving):
            try:
                self.make_pages(config)
            except TemplateError as error:
                # The site may have a template of its own, with a mistake in it.
                raise PluginError(f"{place_in(error)}: {error.message}") from error

    def make_pages(self, config: MkDocsConfig) -> None:
        """
        ### Only what changed

        A build makes all pages. A server makes a page again only if its module has
        changed, or something in other modules that the page has asked for.

        Args:
            config: the options of the site.
        """
        root = root_of(config)
        custom = [Path(config.theme.custom_dir)] if config.theme.custom_dir else []
        templates = environment(custom)
        templates.bytecode_cache = self.templates
        self.files = []
        outside = inventory() | self.own_inventories()
        sources: list[Source] = []
        unread: dict[str, tuple[Module, PressError]] = {}
        site = Path(os.path.abspath(config.site_dir))
        for module in self.find(root, site, config.exclude_docs):
            try:
                sources.append(self.load(module))
            except PressError as error:
                unread[module.name] = module, error
                # What the module was before is the best that is known of it.
                if module.path in self.loaded:
                    sources.append(self.loaded[module.path][1])
        places: Mapping[str, Place] = catalogue(sources)
        if unread:
            pages = {n: Place(module.page, "") for n, (module, _) in unread.items()}
            readable = {source.module for source in sources} - unread.keys()
            places = WithUnread(places, pages, readable)
        self.places, linked = places, WithOutside(places, outside)
        for module, mistake in unread.values():
            self.mistake(module.page, mistake, templates)
        design = texts_of(PAGE, templates)
        codes = {source.module: code_of(source) for source in sources}
        around = outside, config.use_directory_urls
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
        crossings = with_tests(
            cross(sources, places, *around, self.known), sources, self.recorded()
        )
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
            reference = self.config.reference if source.module in found else ""
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
        if self.config.makes_reference:
            entries = render_reference(sources, found, templates, self.config.reference)
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
        before, answers, text = self.made.get(where, ((), {}, ""))
        if parts != before or not are_same(answers, linked):
            asked = Asked(linked)
            mistakes: list[PressError] = []
            page = make(source, asked, mistakes.append, crossing)
            self.give_up(mistakes)
            text = render(page, templates, reference, needed)
            self.made[where] = parts, asked.answers, text
            self.dollars[where] = [*dollars(source, words=False)]
            self.untitled.pop(where, None)
            if page.title == source.module:
                self.untitled[where] = source.module
        # Those that would be shown on the page: a strict build fails on a warning.
        for finding in self.dollars[where]:
            log.warning(str(finding))
        return text

    def find(self, root: Path, site: Path, hidden: Any = None) -> list[Module]:
        """
        All modules. One that is listed twice has one page, but two modules that would
        have the same page stop the build.

        Args:
            root: the folder of `mkdocs.yml`.
            site: that of the site, which has a copy of each module. If it is inside a
                package, the copies are not modules of that package.
            hidden: the patterns of pages that MkDocs itself would leave out.
        """
        self.modules = {}
        pages: dict[str, Module] = {}
        used: set[str] = set()
        for package in map(Path, self.config.packages):
            # The site has a copy of each file, at the path by which messages name it.
            # So that path must not begin with `../`.
            is_inside = package.is_relative_to(root)
            base = root if is_inside else package.parents[len(names_around(package))]
            found = find_modules(package, base, self.config.exclude, root, used)
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
        for pattern in self.config.exclude:
            if pattern not in used:
                log.info(NOT_THERE.format(pattern))
        self.written = {
            path: module.file
            for module in pages.values()
            for path in (module.page, module.path)
        }
        return [*pages.values()]

    def own_inventories(self) -> dict[str, Entry]:
        """What the site's own inventories list."""
        entries: dict[str, Entry] = {}
        for address, path in self.config.inventories.items():
            try:
                entries |= own_inventory(address, Path(path).read_bytes())
            except ValueError as error:
                raise PluginError(f"inventories: {path}: {error}") from None
        return entries

    def recorded(self) -> Recorded:
        """The tests that were recorded, if there is a record."""
        path = self.config.tests
        if not path:
            return {}
        try:
            return read_record(Path(path).read_bytes())
        except ValueError as error:
            raise PluginError(f"tests: {path}: {error}") from None

    def load(self, module: Module) -> Source:
        """Read a module, unless it is the same as in the previous build."""
        data = bytes_of(module)
        before, source = self.loaded.get(module.path, (b"", None))
        # A package that became part of another has other names.
        if source is None or before != data or source.module != module.name:
            source = read(data, module.path, module.name)
            self.loaded[module.path] = data, source
        return source

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
        places = [each for each in self.places.values() if each.page == page]
        anchors = {each.anchor for each in places} - {""}
        targets = "".join(
            f'<i id="{escape(anchor)}"></i>' for anchor in sorted(anchors)
        )
        text = render_error(error, templates)
        if page in self.made:
            front = self.made[page][2].partition("\n---\n")[0]
            text = front + "".join(text.partition("\n---\n")[1:])
        self.files.append((page, f"{text}\n<div>{targets}</div>\n"))

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """
        Add the pages, the modules themselves, and the press's styles and fonts.

        MkDocs would let a page of a module replace one that was written by hand. Here
        that stops the build.
        """
        self.searched.take_part(config, self.serving)
        keep_from_notebooks(config, self.written.values())
        root = root_of(config)
        docs = named_from(Path(config.docs_dir), root)
        # `README.md` is the page of its folder, and so is `index.md`. So files are
        # compared by their addresses in the site.
        taken = {
            file.dest_uri: f"{docs}/{file.src_uri}"
            for file in files
            if file.inclusion is not InclusionLevel.EXCLUDED
        }
        packages = self.config.references_of(self.modules.values())
        reference = self.config.reference
        documented = {
            page_of_reference(name, reference): file
            for file, name in self.modules.items()
            if reference
        }
        written = documented | self.written
        for path, content in self.files:
            inclusion = InclusionLevel.UNDEFINED
            if path not in self.written and path not in packages:
                inclusion = InclusionLevel.NOT_IN_NAV
            elif not path.endswith(".md"):
                # Its page leads there, even if scripts among the documents are hidden.
                inclusion = InclusionLevel.INCLUDED
            file = File.generated(config, path, content=content, inclusion=inclusion)
            if path.endswith(".md"):
                named = self.sources.get(path, path)
                if other := taken.get(file.dest_uri):
                    if path not in self.written:
                        raise PluginError(SAME_REFERENCE.format(other, path))
                    paths = f"`{named}` and `{other}`"
                    raise PluginError(SAME_PAGE.format(paths, path))
                taken[file.dest_uri] = named
            # Other plugins look at the module itself for its authors, or its language.
            # And some expect every file to be somewhere.
            file.abs_src_path = str(written.get(path, THEME / REFERENCE))
            if path in self.sources:
                file.edit_uri = named_from(self.written[path], Path(config.docs_dir))
            files.append(file)
        for asset in assets():
            path = f"assets/sidebyside/{asset.as_posix()}"
            if not files.get_file_from_path(path):
                content = asset_bytes(asset)
                file = File.generated(config, path, content=content)
                file.abs_src_path = str(ASSETS / asset)
                files.append(file)
        return files

    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
        """
        ### Names in the navigation

        A module without a title is called `kiln.fire` on its page. In the navigation,
        where it is among the other modules of `kiln`, the last part is enough. And
        where MkDocs makes the navigation by itself, it would write *Kiln* for `kiln`.

        This also looks for the pages of the reference, before each definition leads
        there.
        """
        for section in sections_of(nav.items):
            pages = [each for each in section.children if isinstance(each, SitePage)]
            folders = {posixpath.dirname(each.file.src_uri) for each in pages}
            if len(folders) != 1:
                continue
            folder = posixpath.basename(*folders)
            # Another plugin may have given the section a title of its own.
            is_made_up = section.title == dirname_to_title(folder)
            for each in pages:
                path = each.file.src_uri
                if path not in self.sources:
                    continue
                if each.title is None and path in self.untitled:
                    name = self.untitled[path].rpartition(".")[2]
                    each.title = lookalike(name)
                if each.is_index and config.nav is None and is_made_up:
                    section.title = lookalike(folder)
        check_reference(self.config, config, files, self.modules.values())

    def on_pre_page(
        self, page: SitePage, *, config: MkDocsConfig, files: Files
    ) -> None:
        """Keep the front matter of a page that a build has made, for the next build."""
        is_made = page.file.generated_by is not None
        # With this event, another plugin may put other text in place of the page's.
        if self.serving and is_made and not config.plugins.events["page_read_source"]:
            self.read.remember(page)

    # [Other plugins][sidebyside.others] come between these two.
    @event_priority(1000)
    def _set_aside_code(self, markdown: str, **_: Any) -> str | None:
        return self.aside.take(markdown)

    @event_priority(-1000)
    def _put_code_back(self, markdown: str, **_: Any) -> str | None:
        return self.aside.put_back(markdown)

    def _read_page(
        self, markdown: str, *, page: SitePage, config: MkDocsConfig, files: Files
    ) -> str | None:
        """
        ### Pages that are written by hand

        Their formulas are checked here, and so are the pictures that they have as HTML.
        MkDocs itself checks those in Markdown. And [links][sidebyside.links] to modules
        and definitions lead to their pages. None of this happens in front matter or in
        code, indented or in a fence.
        """
        if self.serving:
            is_module = page.file.src_uri in self.sources
            self.rendered.remember(page, is_module)
        if page.file.generated_by is not None:
            return None
        # MkDocs has taken the front matter away, so the first line here is a later line
        # of the file.
        text = markdown.split("\n")
        first = page.file.content_string.count("\n") - len(text) + 2
        prose = open_code(Prose(tuple(enumerate(text, start=first))))
        try:
            check_formulas(prose, page.file.src_uri)
        except PressError as error:
            raise PluginError(str(error)) from error
        for picture in pictures_in(prose.text):
            # MkDocs leaves an address in HTML as it is: it starts at the finished page.
            path = file_of(picture.address, posixpath.dirname(page.file.dest_uri))
            if not picture.is_html or not path:
                continue
            file = file_at(path, files)
            if file is None or file.inclusion is InclusionLevel.EXCLUDED:
                where = f"{page.file.src_uri}:{prose.line_at(picture.start)}"
                log.warning(f"{where}: the picture `{picture.address}` does not exist.")
        return set_links_by_hand(
            prose,
            page.file.src_uri,
            self.places,
            modules=self.modules,
            folder=Path(page.file.abs_src_path or "").parent,
            report=lambda error: log.warning(str(error)),
        ).text

    on_page_markdown = CombinedEvent(_set_aside_code, _read_page, _put_code_back)

    def on_page_content(
        self, html: str, *, page: SitePage, config: MkDocsConfig, files: Files
    ) -> str | None:
        """
        ### Pictures

        Those that are in the site [keep their place][sidebyside.pictures] on the page.
        And MkDocs does not know that a film needs a still.
        """
        for still in STILL.findall(html):
            path = file_of(still, posixpath.dirname(page.file.dest_uri))
            if path and file_at(path, files) is None:
                where = page.file.src_uri
                log.warning(f"{where}: the still of a film, `{still}`, does not exist.")
        if "<img" not in html:
            return None

        def find(address: str) -> str | None:
            file = file_at(address, files)
            return file.abs_src_path if file else None

        return make_room(html, page.file.dest_uri, find)

    def _keep_templates(self, env: Any, *, config: MkDocsConfig, files: Files) -> None:
        """Keep the theme's templates from one build to the next."""
        self.env = env
        if self.serving and env.bytecode_cache is None:
            env.bytecode_cache = self.templates_of_theme

    # Autorefs comes at -50, between these two.
    @event_priority(-49)
    def _set_aside(self, env: Any, *, config: MkDocsConfig, files: Files) -> None:
        if self.serving:
            self.referring.before(config, files)

    @event_priority(-51)
    def _take_back(self, env: Any, *, config: MkDocsConfig, files: Files) -> None:
        if self.serving:
            self.referring.after(files)
            self.admit_new_names(files)
            forget_reference(config)
            self.forget(files)
            for file in files.media_files():
                self.kept.remember(file)

    on_env = CombinedEvent(_keep_templates, _set_aside, _take_back)

    def forget(self, files: Files) -> None:
        """
        ### What is gone

        A file that comes back, as with another branch, is found as it was left. But one
        that has not been there for ten builds has been renamed or removed.

        Args:
            files: the files of the site, with all pages.
        """
        known: tuple[dict[str, Any], ...] = (
            *(self.read.known, self.rendered.rendered, self.referring.resolved),
            *(self.searched.known, self.searched.contents, self.filled.filled),
            *(self.preloading, self.loaded, self.made, self.dollars, self.untitled),
            *(self.listed, self.kept.known),
        )
        there = {file.src_uri for file in files} | {*map(self.kept.path_of, files)}
        gone = {name for each in known for name in each} - there
        self.gone = {name: self.gone.get(name, 0) + 1 for name in gone}
        for name, builds in self.gone.items():
            if builds > LONG_GONE:
                if name in self.kept.known:
                    with suppress(OSError):
                        os.unlink(name)
                for each in known:
                    each.pop(name, None)

    def admit_new_names(self, files: Files) -> None:
        """
        ### What the reference does not have yet

        A page of the reference stays as it was made. Links to what its module has
        gained since then are not mistakes of the pages that have them.

        Args:
            files: the files of the site, with all pages.
        """
        if not self.config.reference:
            return
        lists: dict[str, str] = {}
        for module in self.modules.values():
            if place := self.places.get(module):
                lists[place.page] = page_of_reference(module, self.config.reference)
        names: defaultdict[str, set[str]] = defaultdict(set)
        for name, place in self.places.items():
            names[lists.get(place.page, "")].add(name)
        for uri, defined in names.items():
            file, made = files.get_file_from_path(uri), self.rendered.rendered.get(uri)
            before, listed = self.listed.get(uri, (None, set()))
            if made is not before:
                self.listed[uri] = made, defined
            elif file and file.page and file.page.present_anchor_ids is not None:
                new = defined - listed
                file.page.present_anchor_ids = file.page.present_anchor_ids | new

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Any
    ) -> LiveReloadServer:
        """Look for changes more often than MkDocs would."""
        look_often(server)
        keep_what_is_there()
        return server

    @event_priority(-100)
    def on_page_context(
        self, context: Any, *, page: SitePage, config: MkDocsConfig, nav: Any
    ) -> None:
        """Keep what the templates make of a page when all plugins are done with it."""
        if self.serving:
            template = self.env.get_template(page.meta.get("template", "main.html"))
            self.filled.remember(template, page, config, nav)

    # Minify, for instance, would leave nothing that looks like a style.
    @event_priority(50)
    def _preload_fonts(
        self, output: str, *, page: SitePage, config: MkDocsConfig
    ) -> str | None:
        """
        ### Fonts of formulas

        A browser asks for a font when it comes upon a letter that needs it. By then it
        has drawn the text, and draws it again, with formulas of a different width, as
        soon as the font arrives. So pages with formulas say at the start which fonts
        nearly all formulas need.

        A script does this, since browsers refuse it to a page that was opened from
        disk, and complain.
        """
        uri = page.file.src_uri
        before, text = self.preloading.get(uri, ("", None))
        # A page that is kept from the previous build is the very same object.
        if output is before:
            return text
        fonts = [
            get_relative_url(f"{FONTS}/{font}.woff2", page.url)
            for part, font in FONT_OF.items()
            if part in output
        ]
        text = None
        if fonts:
            text = output.replace(STYLE, PRELOAD % json.dumps(fonts) + STYLE, 1)
        if self.serving:
            self.preloading[uri] = output, text
        return text

    @event_priority(-1000)
    def _keep_page(self, output: str, *, page: SitePage, config: MkDocsConfig) -> str:
        """Keep the page itself when all plugins are done with it."""
        return self.kept.write(output, page.file) if self.serving else output

    on_post_page = CombinedEvent(_preload_fonts, _keep_page)

    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """
        Look for changes again.

        GitHub Pages serve no file whose name begins with an underscore, and that is the
        `__init__.py` of each package, unless there is a file `.nojekyll`.
        """
        Path(config.site_dir, ".nojekyll").touch()
        Patient.is_building = False

    def on_build_error(self, *, error: Exception) -> None:
        """Look for changes after a mistake, too."""
        Patient.is_building = False


def place_in(error: TemplateError) -> str:
    """The template in which a mistake is, and its line."""
    if isinstance(error, TemplateSyntaxError):
        return f"{error.filename}:{error.lineno}"
    # Of a mistake that was found while a template was filled in, Jinja makes the
    # traceback say where that was.
    frames = reversed(traceback.extract_tb(error.__traceback__))
    inside = next((f for f in frames if not f.filename.endswith(".py")), None)
    return f"{inside.filename}:{inside.lineno}" if inside else PAGE


def sections_of(items: Iterable[StructureItem]) -> Iterator[Section]:
    """All sections of a navigation, including nested ones."""
    for item in items:
        if isinstance(item, Section):
            yield item
            yield from sections_of(item.children)


def file_at(path: str, files: Files) -> File | None:
    """
    The file at a path of the site. Most files have the same path as their source, so
    that is tried first.
    """
    file = files.get_file_from_path(path)
    if file and file.dest_uri == path:
        return file
    return next((each for each in files if each.dest_uri == path), None)
