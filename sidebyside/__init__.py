r"""
---
title: The press
summary: How annotated Python becomes the pages of this book.
---

# The press

These pages are made by a small program of ours, and it is written in the way that it
asks of others. So its chapters, too, are its modules. You can read about reinforcement
learning without them. Read on if you want such pages of your own code, or wonder how
the left side of a page comes to know the right.

It takes four stages from a file to a page. Each is a function without side effects, and
each has a page that explains it:

1. [read][sidebyside.read]: bytes become lines, tokens and a syntax tree.
2. [split][sidebyside.split]: lines become sections, each with its prose and its code.
3. [weave][sidebyside.weave]: sections become the rows of a page, with
   [links][sidebyside.links], [lists of arguments][sidebyside.fields],
   [formulas][sidebyside.mathematics] and [colours][sidebyside.highlight] in place.
4. [render][sidebyside.render]: rows become Markdown, through templates.

The press never imports or runs a module that it renders. It reads text.

## Your own modules

The site engine is MkDocs, and the press is a [plugin][sidebyside.plugin] for it. To
install both, go to a copy of this project's repository, and type:

```sh
pip install '.[docs]'
```

Then `mkdocs.yml` takes these lines:

```yaml
theme:
  name: material
  # The outline goes to the left: code wants the room.
  features: [toc.integrate]
plugins:
  - search
  - sidebyside:
      packages: [your_package]
nav:
  - your_package/index.md
  - your_package/module.md # made from module.py
```

Without `nav`, MkDocs lists all pages by itself. With the plugin `literate-nav`, a line
`- Code: your_package/` stands for all pages of the package. Its
[options][sidebyside.plugin.Options] leave modules out, and more.

The plugin adds the extensions of Markdown that it needs. With these besides, prose may
have tabs, tasks and diagrams, headings have links, and a link to a heading that does
not exist is a warning. (For diagrams Material asks another host for Mermaid.)

```yaml
markdown_extensions:
  - pymdownx.tabbed:
      alternate_style: true
  - pymdownx.tasklist
  - pymdownx.superfences:
      custom_fences:
        - name: mermaid
          class: mermaid
          format: !!python/name:pymdownx.superfences.fence_code_format
  - toc:
      permalink: true
validation:
  links:
    anchors: warn
```

## How a module is written

The conventions are pylit's.

- A module's docstring may open with front matter between two lines `---`: a `title`, a
  `summary` for search engines, and [`symbols`][sidebyside.symbols], which tie formulas
  to names. What else it says, such as `tags`, reaches the site engine. Then comes
  `# Title`.
- The docstring of a class or function is the prose beside its signature, and beside its
  body up to the first comment. It may begin with a heading.
- A string right behind an assignment, in a module or a class, is the prose beside it.
- `Args:`, `Returns:` and `Raises:` are written in Google's style and without types,
  which come from the signature.
- A block of whole-line comments begins a section, wherever it stands, even in a call.
- A `#` alone on a line begins a section without prose.
- Lines that are only drawn, `# -----`, vanish. `# ---- Helpers ----` is a title.
- Other comments stay in the code: those behind code, those in a signature, those that
  speak to tools, such as `# noqa`, and licences at the top.
- Docstrings with a backslash are raw: an `r` stands before their quotes.
- A piece of a session that begins with `>>>` is set as code, with or without a fence.

Prose is Markdown as everywhere on the site, but for what [would break a
page][sidebyside.guard]:

- `[Game.step][]` [links][sidebyside.links] to a definition, and `[the game](game.py)`
  to a module.
- `$\gamma$` is a [formula][sidebyside.mathematics]. So is what stands between two `$$`,
  and `\begin{align}` up to `\end{align}` on lines of its own; but not what stands
  between `\(` and `\)`, or in a fence.
- The path of a picture starts at the page. That of `tide/__init__.py` is
  `tide/index.md`, so `![A wave](wave.svg)` is `docs/tide/wave.svg`.
- Most tags of HTML, `[TOC]` and `--8<--` are shown as they were written.
- `__name__` is not bold: it is a name.

[One file][sidebyside.standalone] has no scripts. So nothing lights up in it, and it has
no tabs and diagrams.

## Code of others

Code that was written for another tool comes out well, too: docstrings in the styles of
Google, [NumPy and Sphinx][sidebyside.fields], the common parts of
[reStructuredText][sidebyside.rst], docstrings of variables, examples for `doctest`, and
modules that were annotated for pylit. Comments may have
[frames][sidebyside.prose.undecorated] and mark the [cells][sidebyside.split.CELL] of a
notebook. Where no docstring has a heading, [the outline names the classes and
functions][sidebyside.weave.outlined]. Where a module begins with a long text, [that
text has the page to itself][sidebyside.weave.is_essay]. Prose may have
[films][sidebyside.markdown.Films] in it, and [pictures that
move][sidebyside.markdown.Series].

Where the tests have been recorded, a page lists [those that run each
function][sidebyside.tested].

What it does not do: it runs no code, so it shows no outputs and makes no plots, as
[mkdocs-gallery](https://smarie.github.io/mkdocs-gallery/) does; it makes no notebooks;
and it knows Python alone, where [Pycco](https://pycco-docs.github.io/pycco/) knows more
than a dozen languages.

## And besides

Without a site, the [command line][sidebyside.cli] makes one HTML file of a module, or
Markdown for another engine, and [checks][sidebyside.check] the prose of a package.

A mistake in a module stops the build, with a message that names the file and the line.
While you write, `mkdocs serve` goes on, and shows the mistake in place of the page
until you have mended it.
"""
