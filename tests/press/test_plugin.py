"""The plugin in real builds of a small site."""

import json
import os
import re
from html import unescape
from pathlib import Path

import pytest

from figures.example import FIRST_PAGE, fenced, write_example
from sidebyside.mathematics import typeset
from sidebyside.pictures import IMAGE, make_room
from sidebyside.press import ASSETS, asset_bytes, packages_meant
from sidebyside.search import words_of
from sidebyside.serve import KEPT
from tests.press.sites import CONFIG, DOT, MODULES, REFERENCE, build, listed


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(
        "# Home\n\nSee [it](book/game.md#Game).\n"
    )
    (tmp_path / "book").mkdir()
    for name, text in MODULES.items():
        (tmp_path / "book" / name).write_text(text)
    return tmp_path


def test_a_site_is_built(site):
    done = build(site)
    assert done.returncode == 0, done.stderr
    html = (site / "site" / "book" / "game.html").read_text()
    assert '<h2 id="Game">One <em>game</em></h2>' in html
    assert 'id="Game.step--a-phrase-about-marsupials"' in html
    assert "&#x27;&lt;b&gt;&#x27;" in html
    assert '<meta name="description" content="About $x$.">' in html
    assert '<a href="#Game.step"><code>Game.step</code></a>' in html
    assert "<h6" not in html, "the names of sections are for search alone"
    assert re.findall(r"const href of (.*)\)", html) == [
        '["../assets/sidebyside/katex/fonts/Main-Letters.woff2", '
        '"../assets/sidebyside/katex/fonts/Math-Letters.woff2"]'
    ]
    assert (site / "site" / "book" / "game.py").read_text() == MODULES["game.py"]
    home = (site / "site" / "book" / "index.html").read_text()
    assert '<a href="game.html">the game</a>' in home
    assert "-Letters" not in home, "it has no formula"
    assert (site / "site" / ".nojekyll").is_file(), "GitHub leaves out __init__.py"
    assert not (site / "site" / KEPT).exists(), "that is for servers"
    # What the reader view of browsers (Mozilla's Readability) takes for text.
    blocks = re.findall(r'<div class="(sbs-(?:prose|code)[^"]*)"', html)
    assert len(blocks) > 3
    assert all("text" in block for block in blocks)


def test_fonts_are_named_before_others_change_the_page(site):
    (site / "hook.py").write_text(
        "from mkdocs.plugins import event_priority\n\n\n"
        "@event_priority(10)\ndef on_post_page(output, **_):\n"
        "    return output.replace('\"', '')\n"
    )
    with (site / "mkdocs.yml").open("a") as config:
        config.write("hooks: [hook.py]\n")
    assert build(site).returncode == 0
    assert "Main-Letters" in (site / "site" / "book" / "game.html").read_text()


def navigation(site):
    """The navigation of the first page, a line for each label."""
    assert build(site).returncode == 0
    page = (site / "site" / "index.html").read_text()
    nav = page.split('<nav class="md-nav md-nav--primary')[1].split("</div>\n")[0]
    words = re.findall(r'<span class="md-ellipsis">\s*(.*?)\s*</span>', nav, re.DOTALL)
    return [re.sub(r"<.*?>", "", word).strip() for word in words]


def test_the_navigation_names_modules_as_their_package_does(site):
    (site / "book" / "deep").mkdir()
    for name in ("__init__", "one", "two_words"):
        (site / "book" / "deep" / f"{name}.py").write_text("x = 1\n")
    # A package need not have an `__init__.py`.
    (site / "book" / "wide").mkdir()
    (site / "book" / "wide" / "three.py").write_text("x = 1\n")
    configured(site, ("nav: [index.md, book/index.md, book/game.md]\n", ""))
    names = ["Home", "book", "The book", "The game", "deep", "deep", "one", "two_words"]
    assert navigation(site) == [*names, "wide", "three"]
    page = (site / "site" / "book" / "deep" / "one.html").read_text()
    assert "<title>book.deep.one - Small</title>" in page
    # Names that an author gives stay, and so do those of modules far from each other.
    code = "{Code: [book/game.md, book/deep/two_words.md]}"
    deep = "{Deep: [book/deep/index.md, {1: book/deep/one.md}]}"
    configured(site, ("plugins:", f"nav: [index.md, {code}, {deep}]\nplugins:"))
    names = ["Code", "The game", "book.deep.two_words", "Deep", "deep", "1"]
    assert navigation(site) == ["Home", *names]


NAMING = """
from mkdocs.plugins import event_priority

@event_priority(50)
def on_nav(nav, **_):
    nav.items[1].title = "The kiln"
"""


def test_names_that_another_plugin_has_given_stay(site):
    configured(site, ("nav: [index.md, book/index.md, book/game.md]\n", ""))
    (site / "naming.py").write_text(NAMING)
    configured(site, ("site_name: Small", "site_name: Small\nhooks: [naming.py]"))
    assert navigation(site)[:2] == ["Home", "The kiln"]


def test_pages_by_hand_keep_the_buttons_of_the_theme(site):
    (site / "docs" / "index.md").write_text("---\nsource: elsewhere\n---\n# Home\n")
    buttons = "[content.action.edit, content.action.view]"
    theme = f"features: {buttons}, icon: {{edit: material/pencil}}, font: false"
    configured(
        site,
        ("font: false", theme),
        ("plugins:", "repo_url: https://github.com/a/b\nplugins:"),
    )
    assert build(site).returncode == 0
    html = (site / "site" / "index.html").read_text()
    assert 'href="https://github.com/a/b/edit/master/docs/index.md"' in html
    assert 'href="https://github.com/a/b/raw/master/docs/index.md"' in html
    assert "M20.71 7.04" in html, "the pencil"
    assert "sbs-source" not in html
    module = (site / "site" / "book" / "game.html").read_text()
    assert '<p class="sbs-source">' in module
    assert 'href="https://github.com/a/b/blob/master/book/game.py"' in module
    assert "md-content__button" not in module


def test_a_page_says_what_a_copy_of_its_module_needs(site):
    (site / "book" / "house.py").write_text("from book import game\n")
    (site / "book" / "town.py").write_text("from book.house import game\n")
    assert build(site, strict=False).returncode == 0
    pages = {
        name: (site / "site" / "book" / f"{name}.html").read_text()
        for name in ("index", "game", "house", "town")
    }
    assert "Needs" not in pages["index"], "it has no code"
    assert "Needs no other module" in pages["game"]
    assert "<summary>Needs 1 other module</summary>" in pages["house"]
    assert "<summary>Needs 2 other modules</summary>" in pages["town"]
    links = re.findall(r'<li><a href="(\S+)" download', pages["town"])
    assert links == ["game.py", "house.py"]


def test_search_leads_to_the_section(site):
    assert build(site).returncode == 0
    index = (site / "site" / "search" / "search_index.json").read_text()
    entry = next(e for e in json.loads(index)["docs"] if "marsup" in e["text"])
    assert entry["location"] == "book/game.html#Game.step--a-phrase-about-marsupials"
    assert entry["title"] == "Game.step"
    assert "annotation" not in index
    assert "katex" not in index


def test_content_tabs_in_a_module(site):
    """Their buttons and labels have attributes that no author can set elsewhere."""
    config = (
        CONFIG + "markdown_extensions:\n  - pymdownx.tabbed: {alternate_style: true}\n"
    )
    (site / "mkdocs.yml").write_text(config)
    text = '# Text.\n#\n# === "A"\n#\n#     One.\n#\n# === "B"\n#\n#     Two.\n'
    more = "#\n# ![x](y.png){ name=body for=__search checked=1 }\nx = 1\n"
    (site / "book" / "game.py").write_text(MODULES["game.py"] + "\n\n" + text + more)
    (site / "docs" / "book").mkdir()
    (site / "docs" / "book" / "y.png").write_bytes(b"")
    done = build(site)
    assert done.returncode == 0, done.stderr
    html = (site / "site" / "book" / "game.html").read_text()
    for part in (
        'data-tabs="1:2"',
        '<input checked="checked" id="__tabbed_1_1" name="__tabbed_1" type="radio"',
        '<label for="__tabbed_1_2">B</label>',
    ):
        assert part in html
    assert '<img alt="x" src="y.png" />' in html


def test_the_reference_and_its_extension_agree_on_the_page(site):
    (site / "docs" / "api.md").write_text("# The reference\n\n::: book.game\n")
    options = "{options: {extensions: [EXTENSION], show_if_no_docstring: true}}"
    config = CONFIG.replace("[book]\n", "[book]\n      reference: api.md\n").replace(
        "validation",
        f"  - mkdocstrings: {{handlers: {{python: {options}}}}}\nvalidation",
    )
    (site / "mkdocs.yml").write_text(
        config.replace("EXTENSION", "sidebyside.reference")
    )
    done = build(site)
    remedy = re.search("Write `(sidebyside.reference: .*)` into the o", done.stderr)
    assert remedy
    assert remedy[1] == "sidebyside.reference: {page: 'api.md'}"
    right = config.replace("EXTENSION", remedy[1])
    (site / "mkdocs.yml").write_text(right)
    assert "sidebyside.reference" not in build(site).stderr


def test_what_is_said_of_the_extension_is_yaml(site):
    """With a page for each module there are braces in it."""
    old, new = REFERENCE
    given = "[{sidebyside.reference: {page: 'ref/{module}.md'}}]"
    assert given in new
    configured(site, (old, new.replace(given, "[]")))
    said = build(site).stderr
    assert "lead to no page" in said
    (remedy,) = re.findall("Write `extensions: (.*)` into the options", said)
    configured(site, ("extensions: []", "extensions: [sidebyside.reference]"))
    said = build(site).stderr
    (page,) = re.findall("Write `(sidebyside.reference: .*)` into the options", said)
    assert remedy == f"[{page}]"
    configured(site, ("[sidebyside.reference]", remedy))
    assert "sidebyside.reference" not in build(site).stderr


def test_a_page_of_the_reference_may_begin_with_the_package(site):
    old, new = REFERENCE
    new = new.replace(
        "reference: ref/{module}.md", "reference: '{package}/r/{module}.md'"
    )
    configured(
        site, (old, new.replace("'ref/{module}.md'", "'{package}/r/{module}.md'"))
    )
    done = build(site)
    assert done.returncode == 0, done.stderr
    assert (site / "site" / "book" / "r" / "book.game.html").is_file()


def test_what_the_reference_leaves_out_is_named_from_the_site(site):
    """Also where that is not the current folder."""
    (site / "lib").mkdir()
    (site / "book").rename(site / "lib" / "book")
    own = site / "lib" / "book" / "own.py"
    own.write_text('def f():\n    """One.\n\n    Two."""\n')
    (site / "docs" / "ref.md").write_text("# R\n\n::: book.game\n\n::: book.own\n")
    exclude = "exclude: [lib/book/own.py]"
    extension = f"{{sidebyside.reference: {{{exclude}, page: ref.md}}}}"
    options = f"{{paths: [lib], options: {{extensions: [{extension}]}}}}"
    configured(
        site,
        (
            "[book]\n",
            f"[lib/book]\n      {exclude}\n      reference: ref.md\n"
            f"  - mkdocstrings: {{handlers: {{python: {options}}}}}\n",
        ),
    )
    for folder, given in ((site, ()), (site / "lib", ("-f", "../mkdocs.yml"))):
        done = build(folder, *given)
        assert done.returncode == 0, done.stderr
        assert "<p>Two.</p>" in (site / "site" / "ref.html").read_text()


def test_each_module_has_a_page_of_the_reference(site):
    configured(site, REFERENCE, ("book/game.md]", "book/game.md, ref/book.md]"))
    (site / "book" / "_secret.py").write_text(
        '"""Not told."""\n\n\nclass Hidden: ...\n'
    )
    (site / "book" / "empty.py").write_text('"""# Nothing to import"""\n')
    done = build(site, "--strict")
    assert "WARNING" not in done.stderr
    pages = sorted(path.name for path in (site / "site" / "ref").iterdir())
    assert pages == ["book.game.html", "book.html"]
    entry = "book.game.html#book.game.Game"
    index = (site / "site" / "ref" / "book.html").read_text()
    assert index.count(f'<a href="{entry}"><code>Game</code></a>') == 1
    assert "Game.step" not in index
    assert "<h1" in index
    of_game = (site / "site" / "ref" / "book.game.html").read_text()
    assert '<h1 id="book.game" class="doc doc-heading">' in of_game
    assert 'href="../book/game.html#Game.step">The annotated code' in of_game
    assert '<a href="book.html">All names of <code>book</code></a>' in of_game
    assert "book.game.html" not in navigation(site)
    page = (site / "site" / "book" / "game.html").read_text()
    assert re.findall(r'class="sbs-entry"[^>]*href="([^"]*)"', page) == [
        f"../ref/{entry}",
        f"../ref/{entry}.step",
    ]


def test_a_navigation_that_mkdocs_makes_has_one_page_of_the_reference(site):
    nav = "nav: [index.md, book/index.md, book/game.md]"
    configured(site, REFERENCE, (nav, ""))
    lines = navigation(site)
    assert "Reference: book" in lines
    assert not any("book.game" in line for line in lines)


def test_what_a_package_itself_has_is_below_the_index(site):
    configured(site, REFERENCE, ("book/game.md]", "book/game.md, ref/book.md]"))
    with (site / "book" / "__init__.py").open("a") as file:
        file.write('\n\ndef read():\n    """Read it."""\n')
    assert build(site, "--strict").returncode == 0
    index = (site / "site" / "ref" / "book.html").read_text()
    assert '<a href="#book.read"><code>read</code></a>' in index
    assert '<h3 id="book.read" class="doc doc-heading">' in index


def test_what_mkdocstrings_does_not_find_has_no_page_of_the_reference(site):
    configured(site, REFERENCE, ("book/game.md]", "book/game.md, ref/book.md]"))
    code = '"""# Caf\xe9"""\n\n\ndef lost():\n    """Lost."""\n'
    (site / "book" / "scripts").mkdir()
    (site / "book" / "scripts" / "run.py").write_text(code, encoding="utf-8")
    (site / "book" / "two.dots.py").write_text(code, encoding="utf-8")
    old = f"# coding: latin-1\n{code}"
    (site / "book" / "old.py").write_text(old, encoding="latin-1")
    assert build(site, strict=False).returncode == 0
    pages = sorted(path.name for path in (site / "site" / "ref").iterdir())
    assert pages == ["book.game.html", "book.html"]
    assert "lost" not in (site / "site" / "ref" / "book.html").read_text()
    for name in ("scripts/run", "old"):
        page = (site / "site" / "book" / f"{name}.html").read_text()
        assert "lost" in page
        assert "sbs-entry" not in page


def test_an_index_of_nothing_does_not_lead_to_itself(site):
    configured(site, REFERENCE, ("book/game.md]", "ref/book.md]"))
    (site / "book" / "__init__.py").write_text('"""# The book"""\n')
    (site / "book" / "game.py").unlink()
    (site / "docs" / "index.md").write_text("# Home\n")
    assert build(site, strict=False).returncode == 0
    index = (site / "site" / "ref" / "book.html").read_text()
    assert "<h1" in index
    assert "All names" not in index


def test_pages_of_the_reference_are_markdown(site):
    configured(site, REFERENCE, ("{module}.md\n", "{module}\n"))
    assert "reference: Name the page of a module" in refused(site)


def test_what_an_author_needs_is_not_what_a_copy_needs(site):
    with (site / "book" / "prose.py").open("w") as file:
        file.write('"""\n---\nneeds: 3\n---\n\n# Prose\n"""\n')
    assert build(site, strict=False).returncode == 0
    assert "Needs" not in (site / "site" / "book" / "prose.html").read_text()


def test_pages_of_the_reference_need_somebody_to_fill_them(site):
    configured(site, ("[book]", "[book]\n      reference: ref/{module}.md"))
    assert "reference: the plugin mkdocstrings makes what is on" in refused(site)


def test_a_second_build_writes_the_same(site):
    build(site)
    first = (site / "site" / "book" / "game.html").read_bytes()
    build(site)
    assert (site / "site" / "book" / "game.html").read_bytes() == first


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("x = (\n", "book/game.py:1: this is not Python"),
        (
            '"""\n---\ntitle: a: b\n---\n"""\n',
            "book/game.py:3: the front matter is not YAML",
        ),
        ("# Text.\n#\n# $\\frac{a$\n", "book/game.py:3: the formula `\\frac{a`"),
        ("# See [Gaem][].\nclass Game: pass\n", "book/game.py:1: a link to `Gaem`"),
    ],
)
def test_a_mistake_stops_the_build_and_leaves_the_old_site(site, broken, message):
    page = site / "site" / "book" / "game.html"
    page.parent.mkdir(parents=True)
    page.write_text("The old site")
    (site / "book" / "game.py").write_text(broken)
    done = build(site)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert page.read_text() == "The old site"


def test_dollars_without_a_formula_stop_a_strict_build(site):
    game = site / "book" / "game.py"
    text = r"# For example, $$f = \begin{cases}1 & \text{if $x$}\\0\end{cases}$$."
    game.write_text(f"{MODULES['game.py']}{text}\n# costs $two words$\n")
    done = build(site)
    assert done.returncode == 0, done.stderr
    game.write_text(f"{MODULES['game.py']}# Then $$x\n#\n# and on$$.\n")
    assert "book/game.py:20:8: SBS205 a `$$` that is not part of a f" in refused(site)
    assert build(site, strict=False).returncode == 0


def test_a_broken_formula_in_a_hand_written_page_stops_the_build(site):
    (site / "docs" / "index.md").write_text(
        "---\ntitle: x\n---\n# Home\n\n$\\frac{a$\n"
    )
    done = build(site)
    assert done.returncode != 0
    assert "index.md:6: the formula `\\frac{a` can't be set" in done.stderr


def test_a_link_to_an_anchor_that_is_gone_stops_the_build(site):
    (site / "docs" / "index.md").write_text("# Home\n\nSee [it](book/game.md#Gmae).\n")
    done = build(site)
    assert done.returncode != 0
    assert "does not contain an anchor '#Gmae'" in done.stderr


def test_a_page_that_is_written_by_hand_links_to_modules_and_names(site):
    (site / "docs" / "more").mkdir()
    (site / "docs" / "more" / "guide.md").write_text(
        "---\ntitle: G\ndescription: Set $A_B_C$ first\n---\n# G\n\n"
        "```pip install x``` installs it.\n\n    echo $A_B_C$ [a][book.gaem]\n\n"
        "[disk](../../book/game.py) [site](../book/game.py#Game)"
        " [book](../../book/__init__.py) [one step][book.game.Game.step] [book.game][]"
        " [another's][elsewhere.name] `[code](../../book/game.py)` [Game][]\n"
    )
    done = build(site)
    assert done.returncode == 0, done.stderr
    html = (site / "site" / "more" / "guide.html").read_text()
    for link in (
        '<a href="../book/game.html">disk</a>',
        '<a href="../book/game.html#Game">site</a>',
        '<a href="../book/index.html">book</a>',
        '<a href="../book/game.html#Game.step">one step</a>',
        '<a href="../book/game.html"><code>book.game</code></a>',
        "[another's][elsewhere.name]",
        "<code>[code](../../book/game.py)</code>",
        "<code>pip install x</code>",
        "echo $A_B_C$ [a][book.gaem]",
    ):
        assert link in html


def test_all_mistakes_of_a_page_are_named(site):
    game = site / "book" / "game.py"
    game.write_text('"""\n[a][Gaem]\n\n[b][Gmae] and $\\\\frac$\n"""\n')
    done = build(site)
    assert done.returncode != 0
    places = [done.stderr.index(f"game.py:{line}: a link to") for line in (2, 4)]
    assert places == sorted(places)
    assert "Gaem" in done.stderr
    assert "Gmae" in done.stderr


def test_a_page_that_is_written_by_hand_names_what_there_is(site):
    (site / "docs" / "index.md").write_text(
        "---\ntitle: x\n---\n\n# Home\n\nSee [it][book.game.Gaem].\n"
    )
    done = build(site)
    assert done.returncode != 0
    assert (
        "index.md:7: a link to `book.game.Gaem`, which is defined nowhere. "
        "Did you mean `book.game.Game`?" in done.stderr
    )


@pytest.mark.parametrize(
    ("page", "text", "message"),
    [
        ("docs/index.md", "![A](gone.png)", "contains a link 'gone.png'"),
        (
            "docs/index.md",
            'A <img src="gone.png">.',
            "index.md:3: the picture `gone.png` does not exist",
        ),
        (
            "docs/index.md",
            '<p>\n<img src="book/gone.png"></p>',
            "index.md:4: the picture `book/gone.png` does not exist",
        ),
        ("book/game.py", "![A](a.png)", "contains a link 'a.png'"),
        ("book/game.py", '<img src="a.png">', "contains a link 'a.png'"),
    ],
)
def test_a_picture_that_does_not_exist_stops_a_strict_build(site, page, text, message):
    wraps = '"""{}"""\nclass Game: pass\n' if page.endswith(".py") else "{}"
    (site / "docs" / "a.png").write_bytes(b"")
    (site / page).write_text(wraps.format(f"# Title\n\n{text}\n"))
    (site / "docs" / "more.md").write_text('# M\n\n`<img src="x">` <img src="a.png">\n')
    done = build(site)
    assert done.returncode != 0
    (warning,) = re.findall("WARNING.*", done.stderr)
    assert message in warning


def test_a_picture_that_is_left_out_does_not_exist(site):
    (site / "docs" / "dot.png").write_bytes(DOT)
    (site / "docs" / "index.md").write_text("# Home\n\n<img src='dot.png'>\n")
    assert build(site).returncode == 0
    with (site / "mkdocs.yml").open("a") as config:
        config.write("exclude_docs: '*.png'\n")
    done = build(site)
    assert done.returncode != 0
    assert "index.md:3: the picture `dot.png` does not exist" in done.stderr


def test_a_picture_is_where_a_plugin_has_put_it(site):
    (site / "docs" / "dot.png").write_bytes(DOT)
    (site / "docs" / "index.md").write_text(
        "# Home\n\n<img src='a/dot.png'> <img src='dot.png'>\n"
    )
    hooked(
        site,
        "def on_files(files, **_):\n"
        "    files.get_file_from_path('dot.png').dest_uri = 'a/dot.png'\n",
    )
    (warning,) = re.findall("WARNING.*", build(site).stderr)
    assert "the picture `dot.png` does not exist" in warning


def drawn(attributes):
    return f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}></svg>'.encode()


PICTURES = {
    "first.svg": drawn('viewBox="0 0 9 9" width="440" height="142.4"'),
    "second.svg": drawn("width='30px' height='20'"),
    "stretched.svg": drawn('viewBox="0 0 9 2"'),
    "half.svg": drawn('viewBox="0 0 9 2" width="40"'),
    "share.svg": drawn('viewBox="0 0 9 2" width="100%" height="100%"'),
    "broken.png": b"\x89PNG\r\n\x1a\n",
    "empty.png": b"",
    "a b.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\7\0\0\0\5\x08\0\0\0\0",
}


SCRIPT = """<script>const shown = "<img src='pictures/second.svg'>";</script>

<!-- <img src="pictures/second.svg" alt="gone"> -->
"""


def images(site, page):
    html = (site / "site" / page).read_text()
    # What only looks like a picture is left alone.
    assert (page == "index.html") == (SCRIPT.split("\n", maxsplit=1)[0] in html)
    html = re.sub(r"<!--.*?-->|<script.*?</script>", "", html, flags=re.DOTALL)
    found = (dict(re.findall(r'(\S+)="([^"]*)"', tag)) for tag in IMAGE.findall(html))
    return {each.get("alt"): each for each in found}


@pytest.mark.parametrize("folders", ["false", "true"])
def test_pictures_keep_their_place_and_wait(site, folders):
    """On a page of a module, and on one that was written by hand."""
    config = CONFIG.replace("urls: false", f"urls: {folders}")
    (site / "mkdocs.yml").write_text(
        config + "markdown_extensions: [attr_list, md_in_html]\n"
    )
    for name, content in PICTURES.items():
        path = site / "docs" / "pictures" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    links = "".join(f"![{name}](../pictures/{name})\n" for name in PICTURES)
    links = links.replace("(../pictures/a b.png)", "(../pictures/a%20b.png)")
    more = (
        "![own](../pictures/second.svg){ width=15 }\n"
        "![now](../pictures/second.svg){ loading=eager }\n"
        "![elsewhere](https://example.com/second.svg)\n"
    )
    text = MODULES["game.py"]
    text = text.replace("# The game\n", f"# The game\n\n{links}\n{more}")
    (site / "book" / "game.py").write_text(text)
    (site / "docs" / "index.md").write_text(
        (f"# Home\n\n{SCRIPT}\n{links}\n{more}").replace("../pictures", "pictures")
    )
    done = build(site)
    assert done.returncode == 0, done.stderr
    of_module = "book/game/index.html" if folders == "true" else "book/game.html"
    for page in (of_module, "index.html"):
        found = images(site, page)
        size = {name: (it.get("width"), it.get("height")) for name, it in found.items()}
        assert size["first.svg"] == ("440", "142")
        assert size["second.svg"] == ("30", "20")
        assert size["a b.png"] == ("7", "5")
        assert size["own"] == ("15", None)
        assert size["now"] == ("30", "20")
        for name in ("stretched.svg", "half.svg", "share.svg", "broken.png"):
            assert size[name] == (None, None), name
        assert size["empty.png"] == (None, None)
        assert size["elsewhere"] == (None, None)
        waits = {name for name, it in found.items() if it.get("loading") == "lazy"}
        shown = {name for name in found if name != "logo"}
        assert waits & shown == shown - {"first.svg", "now"}


def test_a_film_is_a_player(site):
    (site / "docs" / "films").mkdir()
    for name in ("f.mp4", "f.webp"):
        (site / "docs" / "films" / name).write_bytes(b"")
    written = '![A <b>game</b>](../films/f.mp4){ width=640 height=360 onclick="x" }'
    (site / "book" / "game.py").write_text(
        f'"""# T\n\n{written}\n"""\nclass Game: ...\n'
    )
    (site / "docs" / "index.md").write_text("# Home\n\n![By hand](films/f.mp4)\n")
    assert build(site).returncode == 0
    (player,) = re.findall(
        "<video.*?</video>", (site / "site" / "book" / "game.html").read_text()
    )
    attributes = set(re.findall(r'[\w-]+="[^"]*"', player.split(">")[0]))
    assert attributes == {
        'controls=""',
        'muted=""',
        'playsinline=""',
        'preload="none"',
        'src="../films/f.mp4"',
        'poster="../films/f.webp"',
        'width="640"',
        'height="360"',
        'aria-label="A &lt;b&gt;game&lt;/b&gt;"',
    }
    assert '<a href="../films/f.mp4">A &lt;b&gt;game&lt;/b&gt;</a></video>' in player
    home = (site / "site" / "index.html").read_text()
    assert 'src="films/f.mp4"' in home
    assert 'poster="films/f.webp"' in home
    (site / "docs" / "films" / "f.webp").unlink()
    said = refused(site)
    assert "book/game.md: the still of a film, `../films/f.webp`, does not ex" in said
    assert "index.md: the still of a film, `films/f.webp`, does not exist." in said
    # Where each page is a folder, addresses in HTML begin there.
    (site / "docs" / "dot.png").write_bytes(DOT)
    (site / "docs" / "more.md").write_text('# More\n\n<img src="dot.png">\n')
    (site / "docs" / "films" / "f.webp").write_bytes(b"")
    configured(site, ("urls: false", "urls: true"))
    (warning,) = re.findall("WARNING.*", build(site).stderr)
    assert "more.md:3: the picture `dot.png` does not exist" in warning


def test_pictures_with_titles_become_a_series(site):
    for name in ("a", "b"):
        (site / "docs" / f"{name}.svg").write_text("<svg/>")
    one, other = '![One](../a.svg "n = 1")', '![Two](../b.svg "n = 2")'
    prose = {
        "series": f"{one}\n{other}",
        "alone": one,
        "untitled": f"{one}\n![Two](../b.svg)",
        "between": f"{one}\nor\n{other}",
        "behind": f"{one}\n{other}\nor",
        "row": f"{one} {other}",
        "film": f'{one}\n![Two](../b.mp4 "n = 2")',
    }
    for name in ("b.mp4", "b.webp"):
        (site / "docs" / name).write_bytes(b"")
    text = "\n\n".join(f"## {name}\n\n{each}" for name, each in prose.items())
    both = f'    """\n    {one}\n    {other}\n    """\n'
    (site / "book" / "game.py").write_text(f'"""# T\n\n{text}\n"""\nclass A:\n{both}')
    (site / "docs" / "index.md").write_text(
        f"# H\n\n{prose['series']}\n".replace("../", "")
    )
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "game.html").read_text()
    for name in prose:
        part = html.partition(f'<h2 id="{name}">')[2].partition("</p>")[0]
        assert ('<p class="sbs-series">' in part) == (name == "series"), name
    method = html.rpartition('<p class="sbs-series">')[2].partition("</p>")[0]
    assert re.findall(r'title="([^"]*)"', method) == ["n = 1", "n = 2"]
    for page, count in (("book/game.html", 2), ("index.html", 1)):
        html = (site / "site" / page).read_text()
        assert html.count('<p class="sbs-series">') == count


def test_a_mistake_in_a_template_is_named(site):
    folder = site / "overrides" / "sidebyside"
    folder.mkdir(parents=True)
    template = folder / "page.md"
    configured(site, ("font: false", "font: false, custom_dir: overrides"))
    for wrong, where in [
        ("# Text\n{% for x in %}\n", f"{template}:2: Expected an expression"),
        ("{{ page.no.such }}\n", f"{template}:1: "),
        ("\n{% include 'more.md' %}\n", f"{folder.parent / 'more.md'}:1: 'no' is und"),
    ]:
        (folder.parent / "more.md").write_text("{{ no }}")
        template.write_text(wrong)
        done = build(site)
        assert done.returncode == 1
        assert where in done.stderr
        assert "Traceback" not in done.stderr


def test_a_site_can_replace_a_template(site):
    folder = site / "overrides" / "sidebyside"
    folder.mkdir(parents=True)
    (folder / "page.md").write_text("# {{ page.title }}\n\nMy own template.\n")
    (folder.parent / "partials").mkdir()
    (folder.parent / "partials" / "actions.html").write_text("My own buttons.")
    config = CONFIG.replace("font: false", "font: false, custom_dir: overrides")
    (site / "mkdocs.yml").write_text(config.replace("#Game", ""))
    (site / "docs" / "index.md").write_text("# Home\n")
    (site / "book" / "__init__.py").write_text("")
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "game.html").read_text()
    assert "My own template." in html
    assert "My own buttons." in html


@pytest.mark.parametrize("folder", ["docs", "overrides"])
def test_a_site_can_replace_styles(site, folder):
    config = CONFIG.replace("font: false", "font: false, custom_dir: overrides")
    (site / "mkdocs.yml").write_text(config)
    (site / "overrides").mkdir()
    assets = site / folder / "assets" / "sidebyside"
    (assets / "katex").mkdir(parents=True)
    (assets / "sidebyside.css").write_text("/* ours */")
    (assets / "katex" / "katex.min.css").write_text("/* ours too */")
    done = build(site)
    assert done.returncode == 0, done.stderr
    made = site / "site" / "assets" / "sidebyside"
    assert (made / "sidebyside.css").read_text() == "/* ours */"
    assert (made / "katex" / "katex.min.css").read_text() == "/* ours too */"
    assert list((made / "katex" / "fonts").glob("*.woff2")), "the rest is there"


def configured(site: Path, *changes: tuple[str, str]) -> Path:
    """The site, with changes in its configuration."""
    text = (site / "mkdocs.yml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (site / "mkdocs.yml").write_text(text)
    return site


def refused(site: Path) -> str:
    """What is said when a build is refused."""
    done = build(site)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_part_of_a_package_has_its_names_from_the_whole(site):
    (site / "book" / "part").mkdir()
    (site / "book" / "part" / "__init__.py").write_text("")
    (site / "book" / "part" / "one.py").write_text("from book.part.two import f\n\nf()")
    (site / "book" / "part" / "two.py").write_text("def f(): ...\n")
    (site / "docs" / "index.md").write_text("# Home\n")
    configured(site, ("[book]", "[book/part]"), (", book/index.md, book/game.md", ""))
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "part" / "one.html").read_text()
    assert 'href="two.html#f"' in html
    assert not (site / "site" / "part").exists()


def test_a_folder_src_is_not_part_of_a_name(site):
    (site / "src").mkdir()
    (site / "book").rename(site / "src" / "book")
    (site / "docs" / "index.md").write_text(
        "# Home\n\n[hand](../src/book/game.py#Game) [site](book/game.md#Game)\n"
    )
    configured(site, ("[book]", "[src/book]"))
    done = build(site)
    assert done.returncode == 0, done.stderr
    html = (site / "site" / "index.html").read_text()
    for words in ("hand", "site"):
        assert f'<a href="book/game.html#Game">{words}</a>' in html
    assert not (site / "site" / "src" / "book" / "game.html").exists()
    (site / "src" / "book" / "game.py").write_text("x = (\n")
    assert "src/book/game.py:1: this is not Python" in refused(site)


@pytest.mark.parametrize("code", ["from kiln import *\n", "from . import *\n"])
def test_the_folder_above_a_package_is_no_package(site, code):
    (site / "src" / "kiln").mkdir(parents=True)
    (site / "src" / "kiln" / "__init__.py").write_text(code)
    configured(site, ("[book]", "[src]"))
    assert "packages: `src` is no package. Did you mean `src/kiln`?" in refused(site)


@pytest.mark.parametrize(
    ("files", "meant"),
    [
        ({"ns/kiln/__init__.py": "from ns.kiln import x"}, []),
        ({"ns/kiln/__init__.py": "from . import x"}, []),
        ({"ns/kiln/__init__.py": "", "ns/run.py": "import kiln"}, []),
        ({"ns/json/__init__.py": "import json"}, []),
        ({"ns/__init__.py": "", "ns/kiln/__init__.py": "import kiln"}, []),
        ({"ns/kiln/__init__.py": "", "ns/kiln/a.py": "import kiln"}, ["kiln"]),
        ({"my-kiln/kiln/__init__.py": "", "my-kiln/b/c.py": ""}, ["kiln"]),
        ({"my-kiln/kiln/__init__.py": "", "my-kiln/setup.py": ""}, ["kiln"]),
        ({"my-kiln/src/kiln/__init__.py": "", "my-kiln/noxfile.py": ""}, ["kiln"]),
        ({"mine/kiln/__init__.py": "", "mine/setup.py": ""}, ["kiln"]),
        ({"mine/src/kiln/__init__.py": "", "mine/pyproject.toml": ""}, ["kiln"]),
        ({"ns/kiln/__init__.py": "import ns.kiln", "ns/pyproject.toml": ""}, []),
        ({"kiln/kiln/__init__.py": "", "kiln/conftest.py": "import kiln"}, ["kiln"]),
    ],
)
def test_what_is_no_package(tmp_path, files, meant):
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    folder = tmp_path / next(iter(files)).partition("/")[0]
    assert [path.name for path in packages_meant(folder)] == meant


def test_a_page_by_hand_is_not_replaced(site):
    (site / "docs" / "book").mkdir()
    (site / "docs" / "book" / "game.md").write_text("# By hand\n")
    assert (
        "`book/game.py` and `docs/book/game.md` would be the same page, `book/game.md`"
        in refused(site)
    )


def test_a_page_of_the_reference_by_hand_is_not_replaced(site):
    configured(site, REFERENCE)
    (site / "docs" / "ref").mkdir()
    (site / "docs" / "ref" / "book.game.md").write_text("# By hand\n")
    assert (
        "`docs/ref/book.game.md` and a page of the reference would be the same page, "
        "`ref/book.game.md`. Delete that file, or name another folder in `reference`."
        in refused(site)
    )


def test_a_readme_is_the_page_of_its_folder(site):
    (site / "book" / "README.py").write_text('"""# Read me"""\n')
    assert "`book/__init__.py` and `book/README.py` would be the same" in refused(site)
    (site / "book" / "README.py").unlink()
    (site / "docs" / "book").mkdir()
    (site / "docs" / "book" / "README.md").write_text("# By hand\n")
    assert (
        "`book/__init__.py` and `docs/book/README.md` would be the same page"
        in refused(site)
    )
    with (site / "mkdocs.yml").open("a") as config:
        config.write("exclude_docs: README.md\n")
    assert build(site).returncode == 0


def test_no_two_modules_have_one_page(site):
    (site / "more" / "book").mkdir(parents=True)
    (site / "more" / "book" / "game.py").write_text("")
    configured(site, ("[book]", "[book, book, more/book]"))
    assert (
        "`book/game.py` and `more/book/game.py` would be the same page, `book/game.md`"
        in refused(site)
    )


def test_a_package_that_is_listed_twice_has_its_pages_once(site):
    configured(site, ("[book]", "[book, ./book]"))
    done = build(site)
    assert done.returncode == 0, done.stderr


def test_a_package_outside_stays_inside_the_site(site):
    folder = site / "project"
    folder.mkdir()
    for name in ("mkdocs.yml", "docs"):
        (site / name).rename(folder / name)
    configured(folder, ("[book]", "[../book]"))
    before = (site / "book" / "game.py").stat().st_mtime_ns
    assert build(folder).returncode == 0
    assert (folder / "site" / "book" / "game.py").exists()
    assert not (folder / "book").exists()
    assert (site / "book" / "game.py").stat().st_mtime_ns == before


def test_a_site_inside_the_package_is_not_rendered(site):
    configured(site, ("[book]", "[.]"))
    for _ in range(2):
        assert build(site, strict=False).returncode == 0
        assert len([*site.rglob("game.html")]) == 1


def test_no_package_is_a_mistake(site):
    configured(site, ("[book]", "[]"))
    assert "packages: Name the folder of your package" in refused(site)


def test_the_path_of_the_configuration_may_be_relative(site):
    (site / "lib").mkdir()
    (site / "book").rename(site / "lib" / "book")
    configured(site, ("[book]", "[lib/book]"))
    made = []
    for options in ((), ("-f", "mkdocs.yml"), ("-f", "lib/../mkdocs.yml")):
        assert build(site, *options).returncode == 0
        made.append((site / "site" / "book" / "game.html").read_text())
    assert "lib/book/game.py" in made[0]
    assert made[1:] == made[:1] * 2


def test_a_package_without_modules_is_named(site):
    (site / "empty").mkdir()
    configured(site, ("[book]", "[book, empty]"))
    assert "no Python files in `empty`" in build(site).stderr


def test_what_is_excluded_has_no_page(site):
    for path in ("tests/one.py", "_vendor/two.py", "deep/three.py", "deep/four.py"):
        (site / "book" / path).parent.mkdir(exist_ok=True)
        (site / "book" / path).write_text("")
    (site / "book" / "venv" / "lib").mkdir(parents=True)
    (site / "book" / "venv" / "lib" / "x.py").write_text("")
    exclude = '[book]\n      exclude: [tests, "_v*", "book/deep/th*.py"]'
    configured(site, ("[book]", exclude))
    done = build(site)
    assert done.returncode == 0, done.stderr
    made = {
        p.relative_to(site / "site").as_posix() for p in site.rglob("book/**/*.html")
    }
    assert made == {"book/index.html", "book/game.html", "book/deep/four.html"}
    assert "exclude:" not in done.stderr
    configured(site, ('"_v*"', '"_v*", none.py'))
    done = build(site)
    assert done.returncode == 0, "the file may not have been made yet"
    assert "exclude: nothing matches `none.py`." in done.stderr


@pytest.mark.parametrize("theme", ["", "theme: readthedocs"])
def test_another_theme_is_named(site, theme):
    configured(site, ("theme: {name: material, font: false}", theme))
    (site / "docs" / "index.md").write_text("# Home\n")
    assert "made for the theme Material" in refused(site)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("ref/{package}.md", "reference: there is no page `ref/book.md`"),
        *(
            (f"ref/{wrong}.md", "reference: Name the page of a module")
            for wrong in (
                "{name}",
                "{package.name}",
                "{package[x]}",
                "{package:x}",
                "{0}",
            )
        ),
        ("'{package'", "reference: Name the page of a module"),
        ("/ref/{module}.md", "reference: Name the page of a module"),
        ("../ref/{module}.md", "reference: Name the page of a module"),
        ("ref/../../{module}.md", "reference: Name the page of a module"),
    ],
)
def test_a_reference_that_is_not_there_is_one_mistake(site, reference, message):
    configured(site, ("[book]", f"[book]\n      reference: {reference}"))
    assert message in refused(site)


def test_inventories_of_ones_own(site):
    (site / "docs" / "index.md").write_text("# Home\n")
    (site / "book" / "game.py").write_text(
        '"""[Pot][] and [glazed][clay.pots.glaze]"""\n\n'
        "import json\n\n"
        "from clay.pots import Pot, glaze\n\n\nPot().burn()\nglaze()\njson.dumps(1)\n"
    )
    (site / "clay.inv").write_bytes(
        listed(
            "clay.pots py:module 0 api/pots.html#module-$ -",
            "clay.pots.Pot py:class 1 api/pots.html#$ -",
            "clay.pots.Pot.burn py:method 1 api/pots.html#$ -",
            "clay.pots.glaze py:function 1 api/glaze.html#how glaze a pot",
            # It may be a translation.
            "json.dumps py:function 1 api/json.html#$ -",
        )
    )
    own = "[book]\n      inventories:\n        https://clay.example/en: clay.inv"
    configured(site, ("[book]", own))
    done = build(site)
    assert done.returncode == 0, done.stderr
    html = (site / "site" / "book" / "game.html").read_text()
    for address in (
        "pots.html#clay.pots.Pot.burn",
        "glaze.html#how",
        "json.html#json.dumps",
    ):
        assert f'href="https://clay.example/en/api/{address}"' in html
    prose = html.partition('<div class="sbs-code')[0]
    for address in ("pots.html#clay.pots.Pot", "glaze.html#how"):
        assert f'href="https://clay.example/en/api/{address}"' in prose
    (site / "clay.inv").write_bytes(b"<!doctype html>")
    assert "clay.inv: this is no `objects.inv`" in refused(site)


def test_a_page_leads_to_its_module_in_the_repository(site):
    repo = "site_name: Small\nrepo_url: https://github.com/someone/small"
    configured(site, ("site_name: Small", repo))
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "game.html").read_text()
    assert 'href="https://github.com/someone/small/blob/master/book/game.py"' in html


def test_so_does_that_of_a_package_outside_the_folder_of_the_site(site):
    folder = site / "website"
    folder.mkdir()
    for name in ("mkdocs.yml", "docs"):
        (site / name).rename(folder / name)
    repo = "site_name: Small\nrepo_url: https://github.com/someone/small"
    edit = "edit_uri: edit/main/website/docs/"
    configured(folder, ("[book]", "[../book]"), ("site_name: Small", f"{repo}\n{edit}"))
    assert build(folder).returncode == 0
    html = (folder / "site" / "book" / "game.html").read_text()
    assert 'href="https://github.com/someone/small/blob/main/book/game.py"' in html


def test_the_name_of_a_file_is_text(site):
    (site / "book" / "<img src=x onerror=x()>").mkdir()
    (site / "book" / "<img src=x onerror=x()>" / "__init__.py").write_text("x = 1\n")
    (site / "book" / "<img src=x onerror=x()>.py").write_text("x = 1\n")
    (site / "book" / 'a" onclick="x()" b=".py').write_text("x = 1\n")
    nav = "nav: [index.md, book/index.md, book/game.md]\n"
    repo = "site_name: Small\nrepo_url: https://github.com/someone/small"
    configured(site, (nav, ""), ("site_name: Small", repo))
    assert build(site, strict=False).returncode == 0
    pages = [*(site / "site" / "book").rglob("*.html")]
    assert len(pages) == 5
    for page in pages:
        assert "<img src=x" not in page.read_text()
        assert not re.search('<[^>]* onclick="x', page.read_text())


def test_other_plugins_are_told_where_a_page_was_written(site):
    """Those that ask Git for a date, for instance."""
    (site / "hook.py").write_text(
        "def on_page_markdown(markdown, page, config, files):\n"
        "    print(page.file.src_uri, page.file.abs_src_path)\n"
    )
    configured(site, ("site_name: Small", "site_name: Small\nhooks: [hook.py]"))
    done = build(site)
    assert f"book/game.md {site / 'book' / 'game.py'}\n" in done.stdout


def hooked(site: Path, code: str) -> None:
    """Have a site run some code as a plugin would."""
    (site / "hook.py").write_text(code)
    configured(site, ("site_name: Small", "site_name: Small\nhooks: [hook.py]"))


EDITOR = r"""
import re

def on_page_markdown(markdown, **_):
    text = re.sub(r"\{[{%].*?[%}]\}", "SECRET", markdown)
    text = re.sub(r"\[\[.*?\]\]", "LINK", text)
    return f"!!! note\n    Of old.\n\n{text}\n\nEnd."
"""
EDITED = '''"""# Edited

Says {% include "a.txt" %} and {{ read_csv("a.csv") }} to <i onclick=x>you.

\x02sbs-code:0\x03
"""
A = x[[0]]  # {% include 'a.txt' %}
B = "{{ b }} {# c #} \\x02"
'''


def test_other_plugins_leave_code_and_braces_as_they_are(site):
    """And what they write above it does not keep prose from being prose."""
    hooked(site, EDITOR)
    (site / "book" / "edited.py").write_text(EDITED)
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "edited.html").read_text()
    text = unescape(re.sub("<[^>]*>", "", html.partition("<article")[2]))
    code = EDITED.rpartition('"""\n')[2]
    assert code.strip() in text
    assert text.count("x[[0]]") == 1
    assert 'Says {% include "a.txt" %} and {{ read_csv("a.csv") }} to <i on' in text
    assert "sbs-code:0" in text
    assert "SECRET" not in text
    assert '<p class="admonition-title">Note</p>\n<p>Of old.</p>' in html
    assert "<p>End.</p>" in html
    assert "prose:1" not in html


def test_no_docstring_of_another_module_gets_into_a_page(site):
    configured(site, REFERENCE)
    (site / "book" / "game.py").write_text('"""# Game\n\n::: book.own\n"""\n')
    (site / "book" / "own.py").write_text('"""Own."""\nA = 1\n"""Wombats."""\n')
    assert build(site, strict=False).returncode == 0
    html = (site / "site" / "book" / "game.html").read_text()
    assert "<p>::: book.own</p>" in html
    assert "Wombats" not in html


def test_each_file_is_somewhere(site):
    """Some plugins look at the path of each."""
    configured(site, REFERENCE)
    hooked(
        site,
        "def on_env(env, files, **_):\n"
        "    assert all(open(file.abs_src_path) for file in files)\n"
        "    print(files.src_uris['ref/book.game.md'].abs_src_path)\n",
    )
    done = build(site)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{site / 'book' / 'game.py'}\n"


def test_what_mkdocs_leaves_out_has_no_page(site):
    """And no code leads there. But a page that there is has its module beside it."""
    with (site / "mkdocs.yml").open("a") as config:
        config.write("exclude_docs: |\n  *.py\n  book/own/\n")
    (site / "book" / "own").mkdir()
    (site / "book" / "own" / "kept.py").write_text("from book.game import Game\n")
    assert build(site).returncode == 0
    assert not (site / "site" / "book" / "own").exists()
    assert "own/kept" not in (site / "site" / "book" / "game.html").read_text()
    assert (site / "site" / "book" / "game.py").exists()


def test_no_module_becomes_a_notebook(site):
    hooked(
        site,
        "from mkdocs.config import config_options\n"
        "from mkdocs.plugins import BasePlugin\n\n\n"
        "class Notebooks(BasePlugin):\n"
        "    config_scheme = [('ignore', config_options.Type(list, default=['a']))]\n"
        "    def on_post_build(self, **_):\n"
        "        print(self.config['ignore'])\n\n\n"
        "def on_config(config):\n"
        "    plugin = Notebooks()\n"
        "    plugin.load_config({})\n"
        "    config.plugins['mkdocs-jupyter'] = plugin\n",
    )
    modules = [str(site / "book" / name) for name in ("__init__.py", "game.py")]
    assert f"{['a', *modules]}\n" in build(site).stdout


def outline(html: str) -> list[tuple[int, str, str]]:
    """The entries of a table of contents: depth, address, words."""
    toc = html.partition('data-md-component="toc"')[2]
    entries: list[tuple[int, str, str]] = []
    depth = 1
    parts = re.finditer(
        r'<ul|</ul>|<a href="(#[^"]*)"[^>]*>\s*<span[^>]*>\s*(.*?)\s*</span>', toc, re.S
    )
    for part in parts:
        depth += {"<ul": 1, "</u": -1}.get(part[0][:3], 0)
        if not depth:
            break
        if part[1]:
            entries.append((depth, part[1], part[2]))
    return entries


OUTLINE = '''"""Says what it is."""
import typing

A = 1


class Pot:
    """A pot.

    ## Care

    It breaks.
    """

    def burn(self):
        """Burn it."""

    @property
    def colour(self): ...

    @colour.setter
    def colour(self, value): ...

    def _hidden(self):
        """Not to be seen."""


def glaze():
    """Glaze."""

    def inner():
        """Inner."""


# ## More
x = 1


# Of whole degrees, or in words.
@typing.overload
def fire(a: int): ...
@typing.overload
def fire(a: str): ...
def fire(a):
    """Fire."""


burnt = fire(1)


class Kiln:
    """Kiln."""
'''


def test_the_outline_names_what_has_no_heading(site):
    (site / "docs" / "index.md").write_text("# Home\n")
    (site / "book" / "game.py").write_text(OUTLINE)
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "game.html").read_text()
    assert outline(html) == [
        (1, "#Pot", "Pot"),
        (2, "#care", "Care"),
        (2, "#Pot.burn", "burn"),
        (2, "#Pot.colour", "colour"),
        (1, "#glaze", "glaze"),
        (1, "#more", "More"),
        (2, "#fire", "fire"),
        (2, "#Kiln", "Kiln"),
    ]
    assert "data-sbs-outline" not in html
    # Of several overloads, links lead to the one with the prose.
    row = html.partition('<div class="sbs-link" data-title="fire" id="fire">')[2]
    assert "<p>Fire.</p>" in row.partition("<section")[0]
    assert '<a href="#fire"' in html.partition("burnt")[2]
    for _, address, _ in outline(html):
        assert f'id="{address[1:]}"' in html


def test_an_outline_with_headings_is_the_authors(site):
    (site / "docs" / "index.md").write_text("# Home\n")
    text = OUTLINE.replace('"""Kiln."""', '"""\n    ## The kiln\n    """')
    (site / "book" / "game.py").write_text(text)
    assert build(site).returncode == 0
    html = (site / "site" / "book" / "game.html").read_text()
    assert [address for _, address, _ in outline(html)] == ["#care", "#more", "#Kiln"]


@pytest.mark.parametrize("name", ["sidebyside.css", "sidebyside.js"])
def test_comments_of_style_and_script_are_not_sent(name):
    """They are whole without: each line of theirs is there, and stands in its order."""
    source = (ASSETS / name).read_text(encoding="utf-8").splitlines()
    sent = asset_bytes(Path(name)).decode().splitlines()
    rest = iter(source)
    assert all(line in rest for line in sent)
    assert not any(line.lstrip().startswith(("/*", "//")) for line in sent)
    assert sum(map(len, sent)) < 0.8 * sum(map(len, source))
    text = "".join(sent)
    assert text.count("{") == text.count("}") > 40, "no rule has lost its end"


def test_extensions_that_darken_pages_understand_each_gradient():
    """Dark Reader leaves one as it is that has a variable for a length."""
    css = (ASSETS / "sidebyside.css").read_text(encoding="utf-8")
    gradients = re.findall(r"gradient\([^;]*;", css)
    assert gradients
    assert not [each for each in gradients if "-width" in each]


@pytest.mark.parametrize(
    ("file", "name"), [(FIRST_PAGE, "kiln"), ("README.md", "module")]
)
def test_the_first_page_tells_how_to_begin(tmp_path, file, name):
    """With the `mkdocs.yml` and the module of that page there is a site."""
    module = write_example(tmp_path, fenced("yaml", file), name)
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "your_package" / module.stem / "index.html").read_text()
    assert '<h1 id="the-kiln">The kiln' in page
    assert page.count('class="sbs-row"') == 3
    assert 'data-sbs="heat"' in page
    types = re.findall(r'<code class="sbs-type">(.*?)</code>', page)
    assert [re.sub("<[^>]+>", "", each) for each in types] == ["float", "int", "float"]
    # And with a slip, what the page says of it.
    module.write_text(module.read_text().replace("A kiln gets", "To [fir][]: it gets"))
    said = fenced("text").replace("kiln.py", module.name)
    assert said in build(tmp_path).stderr


def test_what_search_is_not_shown():
    uses = '<details class="sbs-uses">Used in <a>f</a></details>'
    assert words_of(uses) == words_of(typeset("x", True)) == ""
    assert words_of(typeset(r"\frac{a}{b}", False)) == "…"


def test_a_picture_that_its_author_wants_at_once_does_not_wait():
    image = '<img src="b.svg" loading="eager">'
    assert make_room(image, "i.html", lambda _: None) == image


def test_a_picture_whose_height_an_author_gives_keeps_it(tmp_path):
    picture = tmp_path / "a.svg"
    picture.write_text('<svg width="30" height="20"></svg>')
    image = '<img src="a.svg"><img src="b.svg" height="9">'
    html = make_room(image, "i.html", lambda _: str(picture))
    assert html.endswith('<img loading="lazy" src="b.svg" height="9">')


def test_a_picture_that_was_changed_has_its_new_size(tmp_path):
    picture = tmp_path / "a.svg"
    for width in (30, 40):
        picture.write_text(f'<svg width="{width}" height="20"></svg>')
        os.utime(picture, (width, width))
        html = make_room('<img src="a.svg">', "i.html", lambda _: str(picture))
        assert f'width="{width}"' in html
