r"""
---
title: The press
summary: How annotated Python becomes the pages of this book.
---

# The press

These pages are made by `sidebyside`, a program that comes with them. It turns annotated
Python modules into pages, with the prose on the left and the code on the right. It is
annotated itself, so its own modules are the chapters that follow. You can read about
reinforcement learning without them.

In these chapters, *the book* means all the modules of one site, whatever they are
about.

A file becomes a page in four stages. Each is a function without side effects, and each
has a page that explains it:

1. [read][sidebyside.read]: bytes become lines, tokens and a syntax tree.
2. [split][sidebyside.split]: lines become sections, each with its prose and its code.
   Prose that was written for another tool becomes Markdown, and each section gets [a
   name][sidebyside.anchors].
3. [weave][sidebyside.weave]: sections become the rows of a page, with
   [links][sidebyside.links], [lists of arguments][sidebyside.fields] and
   [colours][sidebyside.highlight] in place, and each
   [formula][sidebyside.mathematics] checked.
4. [render][sidebyside.render]: rows become Markdown, through templates.

The site engine, usually MkDocs, turns this Markdown into HTML, like that of any page.
The press adds [an extension][sidebyside.markdown] to it, which sets the formulas and
[keeps prose in its place][sidebyside.guard].

The chapters follow a file through these stages: how it becomes sections, what happens
to their prose and to the names in their code, and how they become pages. After that
come [the plugin][sidebyside.plugin], which makes a site of them, and [the command
line][sidebyside.cli].

The press never imports or runs a module that it renders. It reads text.

## Your own modules

The site engine is MkDocs, and the press is a [plugin][sidebyside.plugin] for it. Both
need Python 3.11 or newer. Install them from a copy of this project's repository, into
the environment of your own project:

```sh
pip install 'path/to/the/copy[docs]'
```

Then write a first page, `docs/index.md`, and a `mkdocs.yml` beside the folder `docs`:

```yaml
site_name: Your project
theme:
  name: material
  # The outline goes to the left: code wants the room.
  features: [toc.integrate]
plugins:
  - search
  - sidebyside:
      packages: [your_package]
nav:
  - index.md
  - your_package/index.md # made from your_package/__init__.py
  - your_package/kiln.md # made from your_package/kiln.py
```

```sh
mkdocs serve # shows the site, and each change as you save it
mkdocs build # writes the site into the folder site/
```

Unless you set `NO_MKDOCS_2_WARNING=1`, the theme says in each build that its life ends
in May 2027. Its successor, Zensical, does not run this plugin, but it builds [what
`sidebyside markdown` writes][sidebyside.cli]. MkDocs 2 will have no plugins either:
stay with MkDocs 1, or take ProperDocs, which goes on from there.

Without `nav`, MkDocs lists all pages by itself. With another plugin,
`mkdocs-literate-nav`, a line `- Code: your_package/` stands for all pages of the
package. The press has [options][sidebyside.options] for leaving modules out, and
for other things.

The plugin adds the Markdown extensions that it needs. With the following as well, prose
can have tabs, task lists and diagrams, headings get links, and a link to a heading that
does not exist gives a warning.

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

To Material's search, `np.clip(x)` is one word, which nobody finds who looks for "clip".
With this in place of `- search`, names are cut at dots, brackets and underscores:

```yaml
  - search:
      separator: '[\s\-,:!=\[\]()"`/_]+|\.(?!\d)|&[lg]t;'
```

## How a module is written

Here is a small module, `your_package/kiln.py`:

```python
'''
---
summary: How a kiln gets hot.
symbols:
  heat: 'T'
---

# The kiln

A kiln gets hotter as long as it burns, but never hotter than 1200 degrees.
'''


def fire(heat: float, minutes: int) -> float:
    '''
    ## Fire

    Args:
        heat: how hot the kiln is, in degrees.
        minutes: for how long it burns.

    Returns:
        How hot it is then.
    '''
    # A hot kiln loses more than a cold one:
    #
    # $$T \leftarrow T + 12 - 0.01 \, T$$
    for _ in range(minutes):
        heat += 12 - 0.01 * heat
    return heat
```

This is the page that it becomes:

![The kiln's page. On the left its title and text, then Fire, its arguments with their
types, and the formula; on the right the signature of fire, and the
loop](../assets/screenshots/example-light.png#only-light)![The same in
dark colours](../assets/screenshots/example-dark.png#only-dark)

The text below the title opens the page. Then `fire` has its own row, with the docstring
beside the signature and the types of the arguments filled in. The comment begins
another row, beside the loop. And a reader who points at $T$ sees `heat` light up in the
code. (The docstrings have single quotes only because this page is itself a docstring.)

Such a row is a *section* of the module: a piece of prose, and the code it is about. The
conventions are those of pylit, which labml.ai used for its annotated implementations.

- A module's docstring may open with front matter between two lines of `---`: a `title`,
  a `summary` for search engines (otherwise they are given the first paragraph), and
  [`symbols`][sidebyside.symbols], which tie formulas to names. Most other keys, such as
  `tags` but not `template`, are passed on to the site engine. Then comes `# Title`.
- The docstring of a class or function is the prose beside its signature, and beside its
  body up to the first comment. It may begin with a heading.
- A string right after an assignment, in a module or a class, is the prose beside it.
- `Args:`, `Returns:` and `Raises:` are written in Google's style and without types,
  which come from the signature.
- A block of whole-line comments begins a section, wherever it is, even inside a call.
- A `#` alone on a line begins a section without prose.
- Lines that are only drawn, such as `# -----`, are left out. `# ---- Helpers ----` is a
  title.
- Other comments stay in the code: those at the end of a line of code, those inside a
  signature, those meant for tools, such as `# noqa`, and licences at the top.
- Docstrings with a backslash are raw, with an `r` before their quotes.
- An example for `doctest`, which begins with `>>>`, is set as code, with or without a
  fence.

Prose is Markdown, as on every page of the site, except for anything that [would break a
page][sidebyside.guard]:

- `[Game.step][]` [links][sidebyside.links] to a definition, and `[the game](game.py)`
  to a module.
- `$\gamma$` is a [formula][sidebyside.mathematics]. So is anything between two `$$`, or
  from `\begin{align}` to `\end{align}` on lines of their own. Text between `\(` and
  `\)`, or in a fence, is not.
- The path of a picture starts from the page, not from the module. The page of
  `tide/__init__.py` is `tide/index.md`, so in that module `![A wave](wave.svg)` means
  the file `docs/tide/wave.svg`.
- `![A game](game.mp4)` is a [film][sidebyside.markdown.Films], and several pictures can
  get [a slider][sidebyside.markdown.Series].
- Most HTML tags, `[TOC]` and `--8<--` are shown as they were written.
- Blanks at the end of a line mean nothing. To begin a new line, write `<br>`. Where
  each line of a paragraph begins with a label, as in `seed: the seed`, [the lines
  stay][sidebyside.lists.keep_lines].
- `__name__` is not bold: it is a name.

## Other people's code

Code that was written for another tool comes out well, too: docstrings in the styles of
Google, [NumPy, Sphinx and Hugging Face][sidebyside.fields], the common parts of
[reStructuredText][sidebyside.rst] and [MyST][sidebyside.rst.dialects.set_myst], the
lists of Epytext, docstrings of variables, examples for `doctest`, and modules that were
annotated for pylit. Comments may have [frames][sidebyside.drawn.undecorated] and mark
the [cells][sidebyside.split.CELL] of a notebook. Where no docstring has a heading, [the
outline names the classes and functions][sidebyside.weave.outlined]. Where a module
begins with a long text that has headings, [that text spans the
page][sidebyside.weave.is_essay], and the two columns begin below it.

Where the tests have been recorded, a page lists [those that run each
function][sidebyside.tested].

## What it does not do

The press runs no code, so a page shows no output and no plots: for these there is
[mkdocs-gallery](https://smarie.github.io/mkdocs-gallery/). The press makes no
notebooks. It can leave out modules, but hides no code of those that have a page. And it
knows only Python: for other languages there is
[Pycco](https://pycco-docs.github.io/pycco/).

## Without a site

The [command line][sidebyside.cli] turns a module into [one HTML
file][sidebyside.standalone], or into Markdown for another site engine.

## Mistakes

A link to a definition that does not exist, a formula that can't be set, front matter
that is not YAML, and a module that is not Python stop the build. The message says where
the mistake is, and what would be right:

```text
your_package/kiln.py:10: a link to `fir`, which is defined nowhere. Did you mean `fire`?
```

While you write, `mkdocs serve` keeps running, and shows the mistake in place of the
page until you have corrected it.

For continuous integration there are two commands. Both fail if something is wrong:

```sh
sidebyside check your_package
mkdocs build --strict
```

The first [looks for bad habits as well][sidebyside.check], such as commented-out code.
The second also stops at anything that is otherwise only a warning, such as a picture
that does not exist.

## How pages look

Colours and fonts are those of the theme. To change them, or the layout, add your own
stylesheet to `extra_css`. This one gives the prose more room:

```css
.md-main {
  --sbs-prose-width: 45%;
}
```

What is on a page, and in what order, is decided by [templates that a site can
replace][sidebyside.render.environment].
"""
