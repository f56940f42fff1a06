"""
---
title: Options
summary: What `mkdocs.yml` can tell the plugin.
---

# Options

In `mkdocs.yml`, [the plugin](plugin.py) can be told:

| option | what it says |
|---|---|
| `packages` | the folders of Python files to render |
| `exclude` | what in them gets no page |
| `reference` | the pages of the [reference][sidebyside.reference] |
| `inventories` | documentation that names in the code lead to |
| `tests` | a record of [the tests][sidebyside.tested] that run the code |

Only `packages` must be given.

Paths are relative to `mkdocs.yml`. In a project with a folder `src`, the package is
`src/kiln`, and its pages are `kiln/…`. With all options:

```yaml
- sidebyside:
    packages: [src/kiln]
    exclude: [tests, _version.py, "kiln/_vendor/*"]
    reference: reference/{module}.md
    inventories:
      https://docs.example.org/clay/: clay.inv
    tests: tests/record.json
```

A pattern of `exclude` without a slash is compared with the names of files and
folders, and one with a slash with the whole path, from the package or from
`mkdocs.yml`. Environments and what tools have built, such as `venv` and `build`,
are left out anyway, and so are pages that `exclude_docs` names.

`{module}` in `reference` stands for the name of a module, and `{package}` for that
of its package. Each definition leads to its entry there, and [from there
back][sidebyside.reference].

[Some other plugins][sidebyside.others] need a certain place in the list, or another
option.

What the press itself writes on a page is in English, whatever the language of the
theme: "Used in", "Arguments", "Copy module". [Templates of your
own][sidebyside.render.environment] can say something else, except in the lists of
arguments and on the buttons.

The keys `j` and `k` lead from section to section, and Material has some of its own.
To have none of them, put this into a file that `extra_javascript` names:

```js
const keep = e => "jknp,.sf/".includes(e.key) && e.stopImmediatePropagation();
addEventListener("keydown", keep, true);
```

The press knows where Python, NumPy, PyTorch and a few others are documented. To
link to other documentation, download the file `objects.inv` that is beside its
first page, and write the address of the documentation, a colon, and the path of the
file.
"""

import logging
import os
import posixpath
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config import config_options as option
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import Files

from sidebyside.press import named_from, packages_meant
from sidebyside.render import PAGE_OF_REFERENCE, page_of_reference

log = get_plugin_logger("sidebyside")

OTHER_THEME = (
    "The pages of modules are made for the theme Material. "
    "Write `theme: {name: material}` into mkdocs.yml."
)
NO_PACKAGES = "Name the folder of your package, such as `packages: [src/kiln]`."
OTHER_REFERENCE = (
    "The extension `sidebyside.reference` makes links for the page `{0}`, and the "
    "plugin for `{1}`. Write `sidebyside.reference: {{page: '{1}'}}` into the options "
    "of mkdocstrings."
)
WRONG_REFERENCE = (
    "Name the page of a module, such as `reference/{module}.md`, or one that you have "
    "written, such as `reference/{package}.md` for the name of your package."
)
NO_MKDOCSTRINGS = (
    "reference: the plugin mkdocstrings makes what is on these pages. Add it to the "
    "plugins in mkdocs.yml, with the extension `sidebyside.reference`."
)
NO_EXTENSION = (
    "reference: docstrings are shown there as they are, and lead to no page. Write "
    "`extensions: [sidebyside.reference: {{page: '{}'}}]` into the options of "
    "mkdocstrings."
)


class Options(Config):  # type: ignore[no-untyped-call]
    """
    ## As MkDocs checks them

    A folder or a file that is not there is an error.
    """

    packages = option.ListOfItems(option.Dir(exists=True))
    exclude = option.ListOfItems(option.Type(str), default=[])
    reference = option.Type(str, default="")
    inventories = option.DictOfItems(option.File(exists=True), default={})
    tests = option.Optional(option.File(exists=True))

    @property
    def makes_reference(self) -> bool:
        """Whether the pages of the reference are made, and not written by hand."""
        return "{module" in self.reference

    def references_of(self, modules: Iterable[str]) -> set[str]:
        """
        Args:
            modules: their names.

        Returns:
            Where the reference of each package is, if there is one.
        """
        packages = {name.partition(".")[0] for name in modules}
        where = self.reference
        return {page_of_reference(each, where) for each in packages if where}


def check(options: Options, config: MkDocsConfig) -> None:
    """
    ## Slips

    With another theme, everything would be built, and nothing would be where it
    should. For the themes that come with MkDocs, that is a warning, which fails a
    strict build. A theme that is not known here may have styles of its own.

    Args:
        options: those of the plugin.
        config: those of the site.

    Raises:
        PluginError: if one is wrong; the message says what would be right.
    """
    if not any(Path(folder).parent.name == "material" for folder in config.theme.dirs):
        known = config.theme.name in ("mkdocs", "readthedocs")
        log.log(logging.WARNING if known else logging.INFO, OTHER_THEME)
    root = root_of(config)
    if not options.packages:
        raise PluginError(f"packages: {NO_PACKAGES}")
    for package in map(Path, options.packages):
        if meant := packages_meant(package):
            paths = ", ".join(f"`{named_from(path, root)}`" for path in meant)
            named = named_from(package, root)
            raise PluginError(
                f"packages: `{named}` is no package. Did you mean {paths}?"
            )
    try:
        page = page_of_reference("kiln.fire", options.reference)
    except (LookupError, ValueError, AttributeError, TypeError):
        raise PluginError(f"reference: {WRONG_REFERENCE}") from None
    is_inside = not posixpath.normpath(page).startswith(("/", "../"))
    if options.makes_reference and not (page.endswith(".md") and is_inside):
        raise PluginError(f"reference: {WRONG_REFERENCE}")
    if options.makes_reference and "mkdocstrings" not in config.plugins:
        raise PluginError(NO_MKDOCSTRINGS)


def check_reference(
    options: Options, config: MkDocsConfig, files: Files, modules: Iterable[str]
) -> None:
    """
    ## Slips about the reference

    Args:
        options: those of the plugin.
        config: those of the site.
        files: its files.
        modules: the names of all modules.

    Raises:
        PluginError: if a page of the reference that is written by hand is missing.
    """
    # The plugin itself makes these pages for all packages that can be read.
    by_hand = set() if options.makes_reference else options.references_of(modules)
    for page in by_hand:
        if not files.get_file_from_path(page):
            wrong = f"reference: there is no page `{page}`"
            raise PluginError(f"{wrong}. {WRONG_REFERENCE}")
    known = [*pages_of_extension(config)]
    if options.makes_reference and not known:
        log.info(NO_EXTENSION.format(options.reference))
    for page in known:
        if options.reference and page != options.reference:
            log.warning(OTHER_REFERENCE.format(page, options.reference))


def pages_of_extension(config: MkDocsConfig) -> Iterator[str]:
    """The pages for which mkdocstrings is told to use the press's extension."""
    plugin: Any = config.plugins.get("mkdocstrings")
    handlers = plugin.config.handlers if plugin else {}
    options = handlers.get("python", {}).get("options", {})
    for extension in options.get("extensions", []):
        named = extension if isinstance(extension, dict) else {extension: {}}
        for name, given in named.items():
            if str(name).startswith("sidebyside.reference"):
                yield (given or {}).get("page", PAGE_OF_REFERENCE)


def root_of(config: MkDocsConfig) -> Path:
    """The folder of `mkdocs.yml`. With `-f`, MkDocs has that path as it was typed."""
    return Path(os.path.abspath(config.config_file_path)).parent
