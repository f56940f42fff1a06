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

import re
from pathlib import Path
from typing import Any, Literal

from mkdocs.config import config_options as option
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority, get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page as SitePage

from sidebyside.crossings import cross
from sidebyside.errors import PressError
from sidebyside.inventory import inventory
from sidebyside.links import page_of
from sidebyside.press import ASSETS, EXTENSIONS, find_modules, load, make
from sidebyside.prose import Prose
from sidebyside.read import Source
from sidebyside.render import THEME, environment, render, render_error
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
        self.files: list[tuple[str, str | bytes]] = []

    def on_startup(
        self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool
    ) -> None:
        """Remember whether an author is at work."""
        self.serving = command == "serve"

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
        return config

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
        sources: list[Source] = []
        for package in map(Path, self.config.packages):
            for module in find_modules(package, root):
                try:
                    sources.append(load(module))
                except PressError as error:
                    self.mistake(module.page, error, templates)
        places = catalogue(sources)
        crossings = cross(sources, places, inventory(), config.use_directory_urls)
        for source in sources:
            data = "".join(source.lines).encode(source.encoding)
            self.files.append((source.path, data))
            where = page_of(source.module, source.is_package)
            try:
                page = make(source, places, crossing=crossings[source.module])
                text = render(page, templates, self.config.reference)
                self.files.append((where, text))
            except PressError as error:
                self.mistake(where, error, templates)

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
    ) -> None:
        """Check the formulas of the pages that are written by hand."""
        if page.file.generated_by is not None:
            return
        lines = page.file.content_string.split("\n")
        prose = Prose(tuple(enumerate(lines, start=1)))
        try:
            check_formulas(prose, page.file.src_uri)
        except PressError as error:
            raise PluginError(str(error)) from error

    @event_priority(100)
    def _name_sections(
        self, context: Any, *, page: SitePage, config: MkDocsConfig, nav: Any
    ) -> None:
        r"""
        ### What search sees

        Material's search leads to headings, and most sections have none: a page with
        fifty headings would be no easier to read. So each section gets a heading while
        the index is made, and loses it again before the page is written.
        """
        page.content = SECTION.sub(
            r'\g<0><h6 id="\g<id>" class="sbs-search">\g<title></h6>',
            page.content or "",
        )

    @event_priority(-100)
    def _unname_sections(
        self, context: Any, *, page: SitePage, config: MkDocsConfig, nav: Any
    ) -> None:
        page.content = NAME.sub("", page.content or "")

    on_page_context = CombinedEvent(_name_sections, _unname_sections)


SECTION = re.compile(
    r'<section class="sbs-row" (?=[^>]*\bid="(?P<id>[^"]*)")'
    r'(?=[^>]*\bdata-title="(?P<title>[^"]*)")[^>]*>'
)
NAME = re.compile(r'<h6 id="[^"]*" class="sbs-search">[^<]*</h6>')
