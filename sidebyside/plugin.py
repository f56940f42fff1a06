"""
---
title: The MkDocs plugin
summary: A thin layer between the press and the site engine.
---

# The MkDocs plugin

The modules that come before this one in the navigation depend on no site engine. The
plugin [hands the press the modules][sidebyside.pages], and hands MkDocs the pages that
are made from them. [The first page](__init__.py#your-own-modules) shows what
`mkdocs.yml` needs, and [Options](options.py) what else it can say.

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
import logging
import os
import posixpath
import re
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
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
from mkdocs.utils import dirname_to_title

from sidebyside.errors import PressError
from sidebyside.fonts import with_fonts
from sidebyside.guard import lookalike
from sidebyside.links import file_of, pictures_in, set_links_by_hand
from sidebyside.options import Options, check, check_reference, root_of
from sidebyside.others import Aside, keep_from_notebooks
from sidebyside.pages import SAME_PAGE, Pages
from sidebyside.pictures import make_room
from sidebyside.press import ASSETS, EXTENSIONS, asset_bytes, assets, named_from
from sidebyside.prose import Prose
from sidebyside.read import undisturbed
from sidebyside.render import PAGE, REFERENCE, THEME, page_of_reference
from sidebyside.rst.indented import open_code
from sidebyside.search import Searched
from sidebyside.serve import (
    CompiledTemplates,
    KeptFiles,
    Patient,
    ReadPages,
    keep_what_is_there,
    look_often,
    skip_hidden,
)
from sidebyside.serve.autorefs import ListedNames, ResolvedReferences, forget_reference
from sidebyside.serve.filled import FilledTemplates
from sidebyside.serve.rendered import RenderedPages
from sidebyside.weave import check_formulas

log = get_plugin_logger("sidebyside")
BUILD_LOG = logging.getLogger("mkdocs.commands.build")

LONG_GONE = 10  # builds without a file, until it is forgotten
STYLES = ("katex/katex.min.css", "sidebyside.css")
STILL = re.compile(r'<video\b[^<>]*\sposter="([^"]*)"')
SCRIPT = "assets/sidebyside/sidebyside.js"
SAME_REFERENCE = (
    "`{}` and a page of the reference would be the same page, `{}`. "
    "Delete that file, or name another folder in `reference`."
)


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
        self.templates_of_theme = CompiledTemplates()
        self.filled = FilledTemplates()
        self.kept = KeptFiles()
        self.preloading: dict[str, tuple[str, str | None]] = {}
        self.env: Any = None
        self.searched = Searched()
        self.referring = ResolvedReferences()
        self.pages = Pages()
        self.listed = ListedNames()
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
                self.pages.make(self.config, config, serving=self.serving)
            except TemplateError as error:
                # The site may have a template of its own, with a mistake in it.
                raise PluginError(f"{place_in(error)}: {error.message}") from error

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """
        Add the pages, the modules themselves, and the press's styles and fonts.

        MkDocs would let a page of a module replace one that was written by hand. Here
        that stops the build.
        """
        pages = self.pages
        self.searched.take_part(config, self.serving)
        keep_from_notebooks(config, pages.written.values())
        root = root_of(config)
        docs = named_from(Path(config.docs_dir), root)
        # `README.md` is the page of its folder, and so is `index.md`. So files are
        # compared by their addresses in the site.
        taken = {
            file.dest_uri: f"{docs}/{file.src_uri}"
            for file in files
            if file.inclusion is not InclusionLevel.EXCLUDED
        }
        packages = self.config.references_of(pages.modules.values())
        reference = self.config.reference
        documented = {
            page_of_reference(name, reference): file
            for file, name in pages.modules.items()
            if reference
        }
        written = documented | pages.written
        for path, content in pages.files:
            inclusion = InclusionLevel.UNDEFINED
            if path not in pages.written and path not in packages:
                inclusion = InclusionLevel.NOT_IN_NAV
            elif not path.endswith(".md"):
                # Its page leads there, even if scripts among the documents are hidden.
                inclusion = InclusionLevel.INCLUDED
            file = File.generated(config, path, content=content, inclusion=inclusion)
            if path.endswith(".md"):
                named = pages.sources.get(path, path)
                if other := taken.get(file.dest_uri):
                    if path not in pages.written:
                        raise PluginError(SAME_REFERENCE.format(other, path))
                    paths = f"`{named}` and `{other}`"
                    raise PluginError(SAME_PAGE.format(paths, path))
                taken[file.dest_uri] = named
            # Other plugins look at the module itself for its authors, or its language.
            # And some expect every file to be somewhere.
            file.abs_src_path = str(written.get(path, THEME / REFERENCE))
            if path in pages.sources:
                file.edit_uri = named_from(pages.written[path], Path(config.docs_dir))
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
                if path not in self.pages.sources:
                    continue
                made = self.pages.made.get(path)
                if each.title is None and made and made.untitled:
                    each.title = lookalike(made.untitled.rpartition(".")[2])
                if config.nav is None and is_made_up:
                    section.title = lookalike(folder)
        check_reference(self.config, config, files, self.pages.modules.values())

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
            is_module = page.file.src_uri in self.pages.sources
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
            self.pages.places,
            modules=self.pages.modules,
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
            if where := self.config.reference:
                modules, made = self.pages.modules.values(), self.rendered.rendered
                self.listed.admit_new(files, where, modules, self.pages.places, made)
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
            *(self.preloading, self.pages.loaded, self.pages.made),
            *(self.listed.known, self.kept.known),
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
        """Have pages [ask for the fonts][sidebyside.fonts] of their formulas."""
        uri = page.file.src_uri
        before, text = self.preloading.get(uri, ("", None))
        # A page that is kept from the previous build is the very same object.
        if output is not before:
            text = with_fonts(output, page.url)
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
