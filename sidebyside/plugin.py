"""
---
title: The MkDocs plugin
summary: A thin layer between the press and the site engine.
---

# The MkDocs plugin

Everything above this page is independent of any site engine. The plugin hands the
modules to the press, and the pages that come back to MkDocs. In `mkdocs.yml` it takes
three lines:

```yaml
plugins:
  - sidebyside:
      packages: [labml_rl]
```

The page of `labml_rl/game.py` is then `labml_rl/game.md`, in the navigation and in
links.
"""

import gc
import os
import posixpath
import re
from pathlib import Path
from typing import Any, Literal

from mkdocs.config import config_options as option
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page as SitePage

from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.inventory import inventory
from sidebyside.links import Place, file_of, page_of, pictures_in, set_links_by_hand
from sidebyside.press import ASSETS, EXTENSIONS, Module, find_modules, make
from sidebyside.prose import Prose
from sidebyside.read import Source, read, undisturbed
from sidebyside.references import Reference
from sidebyside.render import PAGE, THEME, environment, render, render_error
from sidebyside.serve import (
    Asked,
    CompiledTemplates,
    FilledTemplates,
    RenderedPages,
    Searched,
    keep_what_is_there,
    look_often,
    skip_hidden,
)
from sidebyside.split import code_of
from sidebyside.weave import catalogue, check_formulas

log = get_plugin_logger("sidebyside")

STYLES = ("katex/katex.min.css", "sidebyside.css")
SCRIPT = "assets/sidebyside/sidebyside.js"


class Options(Config):  # type: ignore[no-untyped-call]
    """
    ## Options

    `packages` lists the folders of Python files to render, relative to `mkdocs.yml`. If
    there is a [reference][sidebyside.reference], `reference` is its page, with
    `{package}` for the name of the package, and each definition leads to its entry.
    """

    packages = option.ListOfItems(option.Dir(exists=True))
    reference = option.Type(str, default="")


class SideBySidePlugin(BasePlugin[Options]):  # type: ignore[no-untyped-call]
    """
    ## The plugin

    MkDocs calls its methods, each at one point of a build, in the order in which they
    stand here.
    """

    def __init__(self) -> None:
        self.serving = False
        self.thresholds = gc.get_threshold()
        self.rendered = RenderedPages()
        self.templates = CompiledTemplates()
        self.filled = FilledTemplates()
        self.env: Any = None
        self.blocks: list[str] = []
        self.searched = Searched()
        self.is_known = False
        self.loaded: dict[str, tuple[bytes, Source]] = {}
        self.codes: dict[str, str] = {}
        self.references: dict[Source, tuple[Reference, ...]] = {}
        self.made: dict[str, tuple[Any, Asked[Place], str]] = {}
        self.files: list[tuple[str, str | bytes]] = []
        self.places: dict[str, Place] = {}
        self.modules: dict[Path, str] = {}

    def on_startup(
        self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool
    ) -> None:
        """
        Remember whether an author is at work.

        A build makes some millions of objects, few of which are garbage before its end.
        So Python's collector need not look for any after each seven hundred.
        """
        self.serving = command == "serve"
        self.thresholds = gc.get_threshold()
        gc.set_threshold(50_000, *self.thresholds[1:])

    def on_shutdown(self) -> None:
        """Leave Python as it was."""
        gc.set_threshold(*self.thresholds)

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Add templates, styles and Markdown extensions, and watch the modules."""
        if str(THEME) not in config.theme.dirs:
            config.theme.dirs.insert(1 if config.theme.custom_dir else 0, str(THEME))
        styles = [f"assets/sidebyside/{style}" for style in STYLES]
        config.extra_css = [*styles, *(c for c in config.extra_css if c not in styles)]
        if SCRIPT not in config.extra_javascript:
            config.extra_javascript.append(SCRIPT)
        for extension in EXTENSIONS:
            if extension not in config.markdown_extensions:
                config.markdown_extensions.append(extension)
        for package in self.config.packages:
            if package not in config.watch:
                config.watch.append(package)
        skip_hidden(config.theme)
        return config

    @undisturbed()
    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """
        ### All modules, before anything is written

        MkDocs empties the folder of the site right after this. A mistake in a module
        raised here leaves the site of the last build as it was.
        """
        root = Path(config.config_file_path).parent
        custom = [Path(config.theme.custom_dir)] if config.theme.custom_dir else []
        templates = environment(custom)
        self.files = []
        self.modules = {}
        sources: list[Source] = []
        for package in map(Path, self.config.packages):
            for module in find_modules(package, root):
                self.modules[Path(os.path.abspath(module.file))] = module.name
                try:
                    sources.append(self.load(module))
                except PressError as error:
                    self.mistake(module.page, error, templates)
        self.places = places = catalogue(sources)
        design = templates.loader and templates.loader.get_source(templates, PAGE)[0]
        codes = {source.module: code_of(source) for source in sources}
        known = self.references if codes == self.codes else {}
        self.references = {s: known[s] for s in sources if s in known}
        self.codes = codes
        crossings = cross(
            sources, places, inventory(), config.use_directory_urls, self.references
        )
        for source in sources:
            data = "".join(source.lines).encode(source.encoding)
            self.files.append((source.path, data))
            where = page_of(source.module, source.is_package)
            try:
                # A page is made of these, of the places that it asks for, and of
                # nothing else.
                crossing = crossings[source.module]
                parts = (source, crossing, design)
                before, asked, text = self.made.get(where, ((), Asked(places), ""))
                if parts != before or not asked.is_same_in(places):
                    asked = Asked(places)
                    page = make(source, asked, crossing=crossing)
                    text = render(page, templates, self.config.reference)
                    self.made[where] = parts, asked, text
                self.files.append((where, text))
            except PressError as error:
                self.mistake(where, error, templates)

    def load(self, module: Module) -> Source:
        """Read a module, if it is another than in the build before."""
        data = module.file.read_bytes()
        before, source = self.loaded.get(module.path, (b"", None))
        if source is None or before != data:
            source = read(data, module.path, module.name)
            self.loaded[module.path] = data, source
        return source

    def mistake(self, page: str, error: PressError, templates: Any) -> None:
        """
        ### A mistake in a module

        A build stops at it. A server that an author is looking at shows it on the page,
        and goes on.
        """
        if not self.serving:
            raise PluginError(str(error)) from error
        log.warning(str(error))
        self.files.append((page, render_error(error.path, error, templates)))

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add the pages, the modules themselves, and the press's styles and fonts."""
        for path, content in self.files:
            files.append(File.generated(config, path, content=content))
        for asset in ASSETS.rglob("*"):
            if asset.suffix in (".css", ".woff2") or asset.name == "sidebyside.js":
                path = f"assets/sidebyside/{asset.relative_to(ASSETS).as_posix()}"
                if not files.get_file_from_path(path):
                    files.append(File.generated(config, path, abs_src_path=str(asset)))
        return files

    def on_page_markdown(
        self, markdown: str, *, page: SitePage, config: MkDocsConfig, files: Files
    ) -> str | None:
        """
        ### Pages that are written by hand

        Their formulas are checked here, and their pictures in HTML. Those in Markdown
        MkDocs looks for, and so it does for all of a page that was made from a module,
        where HTML becomes Markdown's elements. And [links][sidebyside.links] to modules
        and definitions lead to their pages.
        """
        # With `--8<--` a page depends on files that only the extension knows.
        if self.serving and "--8<--" not in markdown:
            self.rendered.remember(page)
        if page.file.generated_by is not None:
            return None
        lines = page.file.content_string.split("\n")
        prose = Prose(tuple(enumerate(lines, start=1)))
        try:
            check_formulas(prose, page.file.src_uri)
        except PressError as error:
            raise PluginError(str(error)) from error
        for picture in pictures_in(prose.text):
            # Nobody turns an address in HTML around: it starts at the finished page.
            path = file_of(picture.address, posixpath.dirname(page.file.dest_uri))
            there = (file.dest_uri for file in files)
            if picture.is_html and path and path not in there:
                where = f"{page.file.src_uri}:{prose.line_at(picture.start)}"
                log.warning(f"{where}: the picture `{picture.address}` does not exist.")
        # Without the front matter, which MkDocs has taken away.
        text = markdown.split("\n")
        return set_links_by_hand(
            Prose(tuple(enumerate(text, start=len(lines) - len(text) + 1))),
            page.file.src_uri,
            self.places,
            modules=self.modules,
            folder=Path(page.file.abs_src_path or "").parent,
            report=lambda error: log.warning(str(error)),
        ).text

    def on_env(self, env: Any, *, config: MkDocsConfig, files: Files) -> None:
        """Keep the theme's templates from one build to the next."""
        self.env = env
        if self.serving and env.bytecode_cache is None:
            env.bytecode_cache = self.templates

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Any
    ) -> LiveReloadServer:
        """Look for changes more often than MkDocs would."""
        look_often(server)
        keep_what_is_there()
        return server

    @event_priority(100)
    def _name_sections(
        self, context: Any, *, page: SitePage, config: MkDocsConfig, nav: Any
    ) -> None:
        r"""
        ### What search sees

        Material's search leads to headings, and most sections have none: a page with
        fifty headings would be no easier to read. So each section gets a heading while
        the index is made, and loses it again before the page is written.

        Search looks at every element of a page and wants only its words. Most elements
        are colours in code and parts of formulas, so the page goes without them for as
        long, and without all else that search leaves out.
        """
        self.is_known = self.serving and self.searched.before(page, config)
        self.blocks = []
        named = SECTION.sub(
            r'\g<0><h6 id="\g<id>" class="sbs-search">\g<title></h6>',
            page.content or "",
        )
        page.content = BLOCK.sub(self._take, named)

    def _take(self, block: re.Match[str]) -> str:
        self.blocks.append(block["inside"])
        words = TAG.sub("", block["inside"]) if block["tag"] == "code" else ""
        number = len(self.blocks) - 1
        return f'{block["begin"]} data-sbs-block="{number}">{words}</{block["tag"]}>'

    def _give_back(self, block: re.Match[str]) -> str:
        number = int(block[1])
        return f">{self.blocks[number]}</" if number < len(self.blocks) else block[0]

    @event_priority(-100)
    def _unname_sections(
        self, context: Any, *, page: SitePage, config: MkDocsConfig, nav: Any
    ) -> None:
        if self.serving:
            template = self.env.get_template(page.meta.get("template", "main.html"))
            self.filled.remember(template, page, config, nav)
        if self.is_known:
            self.searched.recall(page, config)
            return
        whole = TAKEN.sub(self._give_back, page.content or "")
        page.content = NAME.sub("", whole)
        if self.serving:
            self.searched.learn(page, config)

    on_page_context = CombinedEvent(_name_sections, _unname_sections)


SECTION = re.compile(
    r'<section class="sbs-row" (?=[^>]*\bid="(?P<id>[^"]*)")'
    r'(?=[^>]*\bdata-title="(?P<title>[^"]*)")[^>]*>'
)
BLOCK = re.compile(
    r'(?P<begin><(?P<tag>(?<=<div class="sbs-code highlight"><pre><)code|sbs-math'
    r'|details(?= class="sbs-uses"))[^>]*)>(?P<inside>.*?)</(?P=tag)>',
    re.DOTALL,
)
TAKEN = re.compile(r' data-sbs-block="(\d+)">[^<]*</')
TAG = re.compile(r"<[^>]*>")
NAME = re.compile(r'<h6 id="[^"]*" class="sbs-search">[^<]*</h6>')
