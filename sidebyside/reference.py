"""
---
title: The reference
summary: An index of everything that can be imported, with links to the annotated pages.
---

# The reference

An annotated page is for reading. If you already know what `make_game` does, and want to
look up one argument, a reference is better: every public name, with its signature, and
nothing around it.

The signatures, types and lists of arguments come from
[mkdocstrings](https://mkdocstrings.github.io). The prose stays where it is. So that no
name is explained in two places, each entry keeps the first paragraph and the arguments
of its docstring, and leads to the annotated page for the rest.

This module is an extension of griffe, which reads the code for mkdocstrings:

```yaml
plugins:
  - mkdocstrings:
      handlers:
        python:
          options:
            extensions:
              - sidebyside.reference:
                  page: reference/{module}.md
                  exclude: [tests]
```

`page` has to be the same as `reference` among [the plugin's
options][sidebyside.options], by which the pages of modules lead to the
reference. With `{module}` in it, each module has a page of its own there, and the
plugin writes them all. That of the package, `reference/kiln.md` for the package `kiln`,
is an index of the others. It alone goes into the navigation.

A small package can make do with one page that you write yourself. Name it
`reference/{package}.md`, or without braces. Such a page says

```markdown
::: kiln
```

and needs `show_submodules: true` beside `extensions`.

In a project with a folder `src`, mkdocstrings also needs `paths: [src]` beside
`options`.

A server makes the reference only once, since that takes seconds. To see it change,
restart the server.
"""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import griffe

from sidebyside.anchors import HEADING, described
from sidebyside.catalogue import catalogue
from sidebyside.press import find_modules, load_all
from sidebyside.prose import LISTS, TITLES, Prose, is_title
from sidebyside.render import PAGE_OF_REFERENCE, page_of_reference
from sidebyside.split import Kind

# A last sentence that ends with a colon, if there is one before it.
ANNOUNCED = re.compile(r"(?s)(?<=[.!?])\s+(?:(?![.!?]\s).)*:\Z")
# A link, or a piece of code, in which brackets mean something else.
LINK = re.compile(
    r"(?P<code>`[^`]*`)|\[(?P<words>[^\]]+)\](?:\[[^\]]*\]|\((?!https?:)[^)]*\))"
)
# What could begin a tag, or a piece of code.
TAG = re.compile(
    r"(?P<code>(?P<ticks>`+).+?(?P=ticks))|<(?=[a-zA-Z/!?])(?!https?:)", re.DOTALL
)


class AnnotatedPages(griffe.Extension):
    """
    ## The extension

    Args:
        page: where the reference of a module is among the site's sources, with
            `{module}` for its name, or `{package}` for that of its package.
        exclude: the same patterns as in [the plugin's
            options][sidebyside.options]. What has no page keeps its docstrings.
    """

    def __init__(
        self, page: str = PAGE_OF_REFERENCE, exclude: Sequence[str] = ()
    ) -> None:
        self.page = page
        self.exclude = exclude

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Shorten all docstrings of a package, once griffe has read it."""
        # A namespace has a list of folders in place of a file.
        path = pkg.filepath
        folders = path if isinstance(path, list) else [path.parent]
        # A module that is not Python yet is the plugin's to complain about.
        modules = [
            module
            for folder in folders
            for module in find_modules(
                folder, folder.parent, self.exclude, site_of(folder)
            )
        ]
        sources = load_all(modules, report=lambda error: None)
        places = catalogue(sources)
        for source in sources:
            here = page_of_reference(source.module, self.page)
            read = described(source)
            texts = {source.module: str(read.meta.get("summary", ""))}
            for section in read.sections:
                variable = section.kind is Kind.ATTRIBUTE
                # A stub in the section of its class has no prose of its own.
                for name in [*section.defines, *[section.scope] * variable]:
                    own = (section.definition or variable) and name == section.scope
                    full = f"{source.module}.{name}"
                    texts[full] = digest(section.prose) if own else ""
            for name, text in texts.items():
                link = f"[The annotated code]({places[name].seen_from(here)})"
                shorten(pkg, name, f"{link}\n\n{without_html(without_links(text))}")


def site_of(folder: Path) -> Path:
    """The folder of `mkdocs.yml`: with `-f`, that is not always the current one."""
    around = (Path.cwd(), *folder.parents)
    return next((each for each in around if (each / "mkdocs.yml").is_file()), around[0])


def shorten(package: griffe.Module, name: str, text: str) -> None:
    """
    ### One docstring

    Args:
        package: the package as griffe has read it.
        name: the full name of one of its objects.
        text: the new docstring.
    """
    path = name.split(".")[1:]
    try:
        found = package[path] if path else package
    # A function inside a function has no entry.
    except KeyError:
        return
    if not found.is_alias:
        # The fields of a named tuple are arguments that griffe does not know of, and
        # would warn about. What is returned is one thing, however many lines describe
        # it.
        found.docstring = griffe.Docstring(
            text,
            parent=found,
            parser="google",
            parser_options={"warnings": False, "returns_multiple_items": False},
        )


def digest(prose: Prose) -> str:
    """
    ## What is kept of a docstring

    Args:
        prose: the docstring.

    Returns:
        Its first paragraph that is not a picture, and its lists of arguments and the
        like. If the paragraph is a single sentence that ends in a formula, the formula
        is part of it. Anything else that is only announced is on the annotated page.
    """
    texts = [text for _, text in prose.lines]
    starts = (i for i, t in enumerate(texts) if is_title(t) and TITLES[t[:-1]] in LISTS)
    first_field = next(starts, len(texts))
    lines = (text for text in texts[:first_field] if not HEADING.fullmatch(text))
    paragraphs = ["\n".join(group) for is_one, group in groupby(lines, bool) if is_one]
    # A picture says nothing without the words about it.
    told = (i for i, text in enumerate(paragraphs) if not text.startswith("!["))
    first, following, *_ = [*paragraphs[next(told, len(paragraphs)) :], "", ""]
    said = ANNOUNCED.sub("", first)
    if following.startswith("$$") and not said.endswith((".", "?", "!", ")")):
        said = f"{said}\n\n{following}"
    elif said.endswith(":"):
        said = f"{said[:-1]}."
    return "\n".join([said, "", *texts[first_field:]])


def without_html(text: str) -> str:
    """Tags in a docstring are shown and not obeyed, here as on its page."""
    return TAG.sub(lambda found: found["code"] or "&lt;", text)


def without_links(text: str) -> str:
    """
    A text whose links are mere words, except those to other sites: the others start at
    the annotated page, and would lead nowhere from here.
    """
    return LINK.sub(lambda found: found["code"] or found["words"], text)
