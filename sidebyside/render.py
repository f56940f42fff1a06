"""
---
title: Render
summary: From rows to Markdown, through templates that a site can replace.
---

# Render

The last stage writes a page as Markdown with a little HTML around it, and not as
finished HTML. The site's own Markdown does the rest, so that admonitions, tables and
links work in a module as they do in any page of the site, search finds the prose, and
links are checked.
"""

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from textwrap import shorten

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, TemplateNotFound
from jinja2.meta import find_referenced_templates

from sidebyside.errors import PressError
from sidebyside.guard import lookalike
from sidebyside.links import Place
from sidebyside.marks import number_of
from sidebyside.read import Source
from sidebyside.weave import Page, one_line, plain, public_names

PAGE = "sidebyside/page.md"
REFERENCE = "sidebyside/reference.md"
# Where the reference of a module is, unless a site says otherwise.
PAGE_OF_REFERENCE = "reference/{module}.md"
# The fast one is not always there.
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
THEME = Path(str(files("sidebyside") / "theme"))
# Not a list, a heading, a picture or a box.
TEXT = re.compile(r"(?!\d+[.)] )[`*]{0,3}\w")


def environment(folders: Sequence[Path] = ()) -> Environment:
    """
    ## Templates

    A site replaces one with a file of the same name, in the folder that `custom_dir`
    names under `theme` in `mkdocs.yml`. The press's own are in `sidebyside/theme/`:

    | template | what it makes |
    |---|---|
    | `sidebyside/page.md` | each page of a module |
    | `sidebyside/error.md` | the page that a server shows for a module with a mistake |
    | `sidebyside/reference.md` | each page of the [reference][sidebyside.reference] |
    | `partials/actions.html` | the line above a page: its file, and what a copy needs |

    Begin with a copy of the press's own. In the first two, keep all HTML comments: they
    are the marks by which prose and code [stay in their places][sidebyside.guard]. The
    command line uses no templates but the press's own.

    Args:
        folders: where to look for templates before looking among the press's own.
    """
    # Markdown is not HTML, so Jinja must not escape it. HTML in these templates is
    # escaped where it is made, in `highlight`, or by the filter `e`.
    return Environment(
        loader=FileSystemLoader([*folders, THEME]),
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )


def render(
    page: Page,
    templates: Environment,
    reference: str = "",
    needs: Sequence[Source] | None = None,
) -> str:
    """
    ## A page as Markdown

    Args:
        page: the page.
        templates: what [environment][] made.
        reference: the page with the reference of a module, if there is one; see
            [page_of_reference][].
        needs: what a copy [needs][sidebyside.references.needs], if that is known.
    """
    meta = {**page.meta, "title": page.title, "source": page.source.path}
    if description := description_of(page):
        meta["description"] = description
    # With `template`, MkDocs chooses the theme's template for a page.
    meta.pop("template", None)
    # And the press's own template would count what an author has written as `needs`.
    meta.pop("needs", None)
    if needs is not None:
        meta["needs"] = [each.path for each in needs]
    # To the plugin Macros, braces in code would be a template, and it would run them.
    meta["render_macros"] = False
    meta = lookalike(meta)
    front = yaml.dump(
        meta, Dumper=DUMPER, allow_unicode=True, sort_keys=False, width=1000
    )
    texts = (
        page.title,
        *(text for row in page.rows for text in (row.heading, row.prose)),
    )
    template = templates.get_template(PAGE)
    entries = entries_of(page, reference) if reference else {}
    return template.render(
        page=page, front=front, number=number_of(texts), entries=entries
    )


def description_of(page: Page) -> str:
    """
    Args:
        page: a page.

    Returns:
        What search engines and feeds are told about it: its summary, or else the first
        paragraph, if that is only text.
    """
    given = page.meta.get("summary", page.meta.get("description"))
    if given is not None:
        return one_line(given)
    row = page.rows[0] if page.rows else None
    if row is None or not (row.level == 1 or page.source.docstring):
        return ""
    paragraph = row.prose.strip().partition("\n\n")[0]
    is_text = TEXT.match(paragraph) and not re.search(r"[$<|{]", paragraph)
    return shorten(plain(paragraph), 300, placeholder="…") if is_text else ""


def texts_of(templates: Environment) -> dict[str, str]:
    """
    Args:
        templates: what [environment][] made.

    Returns:
        The text of a page's template, and of all templates that it is made of, by name.
    """
    found: dict[str, str] = {}
    names = [PAGE]
    while names:
        name = names.pop()
        if name in found or templates.loader is None:
            continue
        # It may include one that need not be there.
        with suppress(TemplateNotFound):
            text, path, _ = templates.loader.get_source(templates, name)
            found[name] = text
            parts = find_referenced_templates(templates.parse(text, name, path))
            names += filter(None, parts)
    return found


def entries_of(page: Page, reference: str) -> dict[str, str]:
    """Links to the reference, by the anchors of a page's public definitions."""
    where = page_of_reference(page.source.module, reference)
    return {
        row.anchor: Place(where, row.public).seen_from(page.source.page)
        for row in page.rows
        if row.public
    }


def page_of_reference(module: str, reference: str) -> str:
    """
    Args:
        module: the name of a module.
        reference: a page, with `{module}` for that name, or `{package}` for its first
            part.

    Returns:
        The page of this module.
    """
    return reference.format(module=module, package=module.partition(".")[0])


def looked_up(sources: Sequence[Source]) -> set[str]:
    """
    The names of the modules that mkdocstrings finds. It reads only UTF-8. In a package
    it leaves out folders without an `__init__.py`, and it wants names without a dot.
    """
    packages = {each.module for each in sources if each.is_package}
    found: set[str] = set()
    for source in sources:
        parts = source.module.split(".")
        around = [".".join(parts[:end]) in packages for end in range(1, len(parts))]
        file = source.path.removesuffix(".py").removesuffix("/__init__")
        if (
            around == sorted(around)
            and file.endswith("/".join(parts))
            # ASCII is the same in nearly all encodings.
            and (source.encoding.startswith("utf-8") or source.text.isascii())
        ):
            found.add(source.module)
    return found


def render_reference(
    sources: Sequence[Source],
    found: Collection[str],
    templates: Environment,
    reference: str,
) -> dict[str, str]:
    """
    ## The reference as Markdown

    Each module that has something to import has a page, if mkdocstrings finds it, and
    so has each package, as an index. [mkdocstrings][sidebyside.reference] fills them.

    Args:
        sources: all modules.
        found: the names of those that mkdocstrings [finds][looked_up].
        templates: what [environment][] made.
        reference: their pages, with `{module}` for the name of each.

    Returns:
        The pages, by path.
    """
    entries: dict[str, list[str]] = {}
    for source in sources:
        _, *names = public_names(source) or [""]
        if names and source.module in found:
            entries[source.module] = names
    packages = {each.module.partition(".")[0] for each in sources}
    template = templates.get_template(REFERENCE)
    pages: dict[str, str] = {}
    for name in sorted(packages | entries.keys()):
        here = page_of_reference(name, reference)
        index = page_of_reference(name.partition(".")[0], reference)
        modules = []
        for module, names in entries.items() if name in packages else ():
            if module.partition(".")[0] == name:
                there = Place(page_of_reference(module, reference), "")
                links = [
                    (each, there._replace(anchor=f"{module}.{each}").seen_from(here))
                    for each in names
                    if "." not in each
                ]
                modules.append((module, there.seen_from(here), links))
        pages[here] = template.render(
            name=name,
            is_index=name in packages,
            modules=modules,
            has_entries=name in entries,
            index=Place(index, "").seen_from(here),
        )
    return pages


def render_error(error: PressError, templates: Environment) -> str:
    """
    ## A page for a mistake

    While an author is at work, a module with a mistake becomes a page that says so.

    Args:
        error: what is wrong with it.
        templates: what [environment][] made.
    """
    template = templates.get_template("sidebyside/error.md")
    title = lookalike(f"Not yet: {error.path}")
    number = number_of((error.path, error.found, error.remedy))
    return template.render(title=title, error=error, number=number)
