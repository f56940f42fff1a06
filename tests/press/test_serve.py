"""What is kept between builds changes nothing but the time."""

import filecmp
import gc
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from griffe import ModulesCollection
from jinja2 import Environment, Template
from material.extensions import emoji
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import meta, write_file
from mkdocs.utils.meta import get_data
from mkdocs_autorefs._internal import plugin as autorefs
from watchdog.events import FileSystemEventHandler
from watchdog.observers.api import BaseObserver

from sidebyside import cli, serve
from sidebyside.crossings import Asked, are_same
from sidebyside.links import Place, page_at
from sidebyside.plugin import BUILD_LOG, LONG_GONE
from sidebyside.press import Module, WithUnread
from sidebyside.read import PYTHON
from sidebyside.render import THEME
from sidebyside.serve import KEPT, LOOK_EVERY, WAIT_FOR_MORE, Patient, look_often
from tests.press.sites import CONFIG, DOT, MODULES, listed
from tests.press.sites import REFERENCE as REFERENCE_OF_MODULES

MORE = (
    MODULES["game.py"] + "\n\n# A phrase about wombats, and [Game.run][].\nx = Game()\n"
).replace("step", "run")

REFERENCE = ("packages: [book]", "packages: [book]\n      reference: one.md")

NEW = "{% block footer %}A new template{% endblock %}"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.setattr(MkDocsConfig.plugins, "plugin_cache", {})
    monkeypatch.chdir(tmp_path)
    Path("mkdocs.yml").write_text(CONFIG)
    Path("docs").mkdir()
    Path("docs/index.md").write_text("# Home\n\nSee [it](book/game.md#Game), $x$.\n")
    Path("book").mkdir()
    for name, text in MODULES.items():
        Path("book", name).write_text(text)
    return tmp_path


def built(folder: str, command: Literal["build", "serve"]) -> Path:
    """A site as MkDocs makes it. While it serves, it keeps its plugins."""
    with pytest.MonkeyPatch.context() as patch:
        if command == "build":
            patch.setattr(MkDocsConfig.plugins, "plugin_cache", {})
        config = load_config("mkdocs.yml", site_dir=folder)
    config.plugins.on_startup(command=command, dirty=False)
    try:
        build(config)
    finally:
        config.plugins.on_shutdown()
    return Path(folder)


def write_all(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)


def check_same(one: Path, other: Path) -> None:
    # A server has a folder of its own in the site.
    names = {p.relative_to(one) for p in one.rglob("*") if p.is_file()}
    names = {name for name in names if name.parts[0] != KEPT}
    assert names == {p.relative_to(other) for p in other.rglob("*") if p.is_file()}
    names = {name for name in names if not name.name.startswith("sitemap")}
    _, different, errors = filecmp.cmpfiles(one, other, names, shallow=False)
    assert not different
    assert not errors


@pytest.mark.filterwarnings("default")
def test_a_site_that_is_served_is_the_one_that_is_built(project):
    built("served", "serve")
    built("served", "serve")
    check_same(built("served", "serve"), built("fresh", "build"))

    # A module, a link to it and a hand-written page change, one after the other.
    Path("book/game.py").write_text(MORE)
    built("served", "serve")
    check_same(built("served", "serve"), built("fresh", "build"))
    Path("docs/index.md").write_text("# Home\n\nAnother $y$.\n")
    built("served", "serve")
    check_same(built("served", "serve"), built("fresh", "build"))
    assert "wombats" in Path("served/search/search_index.json").read_text()


@pytest.mark.filterwarnings("default")
def test_links_in_code_follow_what_they_lead_to(project):
    """Through prose that moves a definition, another name, and another file."""
    Path("docs/index.md").write_text("# Home\n")
    game, user, other = (Path("book", f"{x}.py") for x in ("game", "user", "play"))
    user.write_text("from book.game import Game\n\nGame().step()\n")
    for change in (
        lambda: None,
        lambda: game.write_text("# Prose.\n" + game.read_text()),
        lambda: game.write_text(game.read_text().replace("step", "run")),
        lambda: user.write_text(user.read_text().replace("step", "run")),
        lambda: (game.rename(other), Path("book/__init__.py").write_text("")),
        lambda: user.write_text(user.read_text().replace("book.game", "book.play")),
    ):
        change()
        check_same(built("served", "serve"), built("fresh", "build"))
    page = Path("served/book/user.html").read_text()
    assert 'href="play.html#Game.run"' in page


@pytest.mark.filterwarnings("default")
def test_what_a_copy_needs_and_what_a_module_is_called_is_never_old(project):
    """Other modules change the one, and a folder that becomes a package the other."""
    texts = {
        "docs/index.md": "# Home\n",
        "in/book/town.py": "from book import house\n",
        "in/book/house.py": "from book import game\n",
    }
    write_all({f"in/book/{name}": text for name, text in MODULES.items()} | texts)
    config = CONFIG.replace("[book]", "[in/book]").partition("nav:")[0]
    Path("mkdocs.yml").write_text(config)
    for change in (
        lambda: None,
        lambda: Path("in/book/house.py").write_text("x = 1\n"),
        lambda: Path("in/__init__.py").write_text(""),
    ):
        change()
        check_same(built("served", "serve"), built("fresh", "build"))
        shutil.rmtree("fresh")
    assert "in.book.town" in Path("served/in/book/town.html").read_text()


@pytest.mark.filterwarnings("default")
def test_what_a_template_shows_is_never_old(project):
    Path("over").mkdir()
    template = Path("over/main.html")
    template.write_text('{% extends "base.html" %}')
    config = Path("mkdocs.yml")
    config.write_text(
        CONFIG.replace("name: material", "name: material, custom_dir: over")
    )

    # Each of these changes pages whose own text stays as it was.
    for change in (
        lambda: None,
        lambda: Path("docs/index.md").write_text("# A house\n"),
        lambda: template.write_text(template.read_text() + NEW),
        lambda: config.write_text(config.read_text().replace("Small", "A library")),
    ):
        built("served", "serve")
        change()
        check_same(built("served", "serve"), built("fresh", "build"))
    page = Path("served/book/game.html").read_text()
    assert all(new in page for new in ("A house", "A new template", "A library"))


@pytest.mark.filterwarnings("default")
def test_references_of_other_plugins_stay(project):
    """Autorefs forgets in each build where the anchors are that it once saw."""
    Path("docs/one.md").write_text("# The reference\n\n::: book.game\n")
    Path("docs/two.md").write_text("See [a house][] and [a shed][].\n")
    Path("docs/zoo.md").write_text("# Zoo\n\n## A shed\n\nFor wombats.\n")
    # After a warning of autorefs, nothing that it has made is kept.
    Path("book/game.py").write_text(MODULES["game.py"].replace("[Game.step][]", "it"))
    home = Path("docs/index.md")
    home.write_text("# Home\n\n## A house\n\nOf wood.\n")
    Path("mkdocs.yml").write_text(
        CONFIG.replace(*REFERENCE).replace(
            "  - sidebyside", "  - autorefs\n  - mkdocstrings\n  - sidebyside"
        )
    )
    for change in (
        lambda: None,
        lambda: Path("book/__init__.py").write_text("# Prose.\n"),
        lambda: home.write_text(home.read_text() + "\nWith a roof.\n"),
        # The title of a link is that of the section.
        lambda: home.write_text(home.read_text().replace("house", "hut {#a-house}")),
    ):
        change()
        built("served", "serve")
        fresh = built("fresh", "build")
        # The inventory is for other sites, and nobody takes it from an author's.
        Path("served/objects.inv").write_bytes(Path("fresh/objects.inv").read_bytes())
        check_same(Path("served"), fresh)
    page = Path("served/two.html").read_text()
    assert 'href="index.html#a-house"' in page
    assert 'href="zoo.html#a-shed"' in page


@pytest.mark.filterwarnings("default")
def test_pages_of_the_reference_are_those_of_a_build(project):
    Path("mkdocs.yml").write_text(CONFIG.replace(*REFERENCE_OF_MODULES))
    for change in (
        lambda: None,
        lambda: Path("book/__init__.py").write_text("# Prose.\n"),
        lambda: Path("book/more.py").write_text(MODULES["game.py"]),
    ):
        change()
        built("served", "serve")
        fresh = built("fresh", "build")
        Path("served/objects.inv").write_bytes(Path("fresh/objects.inv").read_bytes())
        check_same(Path("served"), fresh)
    assert "book.more.Game" in Path("served/ref/book.more.html").read_text()


@pytest.mark.filterwarnings("default")
def test_a_build_that_made_a_page_of_the_reference_is_forgotten(project):
    def sites() -> dict[type, int]:
        gc.collect()
        there = Counter(map(type, gc.get_objects()))
        return {kind: there[kind] for kind in (Files, ModulesCollection)}

    dated = (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Game:\n    a: int\n"
    )
    Path("mkdocs.yml").write_text(CONFIG.replace(*REFERENCE_OF_MODULES))
    before = sites()
    for number in range(5):
        Path(f"book/more{number}.py").write_text(dated)
        built("served", "serve")
    # That of the last build is still there.
    assert all(count - before[kind] <= 1 for kind, count in sites().items())


@pytest.mark.filterwarnings("default")
def test_a_file_that_is_gone_for_long_is_forgotten(project, rendered):
    Path("docs/index.md").write_text("# Home\n")
    Path("book/__init__.py").write_text("")
    game, away = Path("book/game.py"), Path("away.py")
    built("served", "serve")
    game.rename(away)
    built("served", "serve")
    away.rename(game)
    rendered.clear()
    built("served", "serve")
    assert rendered == []

    for number in range(30):
        next(Path("book").glob("g*.py")).rename(f"book/g{number}.py")
        built("served", "serve")
    pages = [*Path("served", serve.KEPT, "book").glob("g*.html")]
    assert len(pages) == LONG_GONE + 1
    plugin: Any = load_config("mkdocs.yml").plugins["sidebyside"]
    parts = [each for each in vars(plugin).values() if hasattr(each, "__dict__")]
    kept = [it for part in (plugin, *parts) for it in vars(part).items()]
    known = [(name, it) for name, it in kept if isinstance(it, dict)]
    assert {"loaded", "made", "rendered", "resolved"} <= {name for name, _ in known}
    for name, it in known:
        assert not [key for key in it if "g3." in str(key)], name
    check_same(built("served", "serve"), built("fresh", "build"))


@pytest.mark.filterwarnings("default")
def test_a_server_starts_before_a_package_has_a_page_of_the_reference(project):
    Path("mkdocs.yml").write_text(CONFIG.replace(*REFERENCE_OF_MODULES))
    Path("docs/index.md").write_text("# Home\n")
    Path("book/__init__.py").unlink()
    game = Path("book/game.py")
    code = game.read_text()
    game.write_text("def (")
    built("served", "serve")
    assert not Path("served/ref").exists()
    game.write_text(code)
    built("served", "serve")
    assert Path("served/ref/book.game.html").exists()


@pytest.mark.filterwarnings("default")
def test_a_reference_that_leads_nowhere_is_said_in_each_build(
    project, caplog, monkeypatch
):
    """One that leads somewhere is looked up once."""
    found: list[str] = []
    fix_refs = vars(autorefs)["fix_refs"]

    def fixing(html, *args, **options):
        found.extend(re.findall("<autoref ", html))
        return fix_refs(html, *args, **options)

    monkeypatch.setattr(autorefs, "fix_refs", fixing)
    home = Path("docs/index.md")
    home.write_text("# Home\n\n## A house\n\nNot [a shed][], but [a house][].\n")
    Path("mkdocs.yml").write_text(
        CONFIG.replace("  - sidebyside", "  - autorefs\n  - sidebyside")
    )
    for _ in range(3):
        caplog.clear()
        built("served", "serve")
        assert "Could not find cross-reference target 'a shed'" in caplog.text
    home.write_text(home.read_text().replace("## A house", "## A shed"))
    caplog.clear()
    check_same(built("served", "serve"), built("fresh", "build"))
    assert "target 'a house'" in caplog.text
    assert "target 'a shed'" not in caplog.text
    home.write_text("# Home\n\n## A house\n\nHere is [a house][].\n")
    for _ in range(2):
        check_same(built("served", "serve"), built("fresh", "build"))
    assert 'href="#a-house"' in Path("served/index.html").read_text()
    found.clear()
    built("served", "serve")
    assert found == []
    built("fresh", "build")
    assert found

    # After a build that fails halfway, no page is older than its file.
    def fail(*args, **options):
        raise RuntimeError("a plugin's mistake")

    with monkeypatch.context() as patch:
        patch.setattr(autorefs, "fix_refs", fail)
        write_all({"docs/one.md": "# One\n", "docs/two.md": "In [a house][].\n"})
        with pytest.raises(RuntimeError):
            built("served", "serve")
    Path("docs/one.md").write_text("# One\n\nAlso in [a house][].\n")
    check_same(built("served", "serve"), built("fresh", "build"))


@pytest.mark.filterwarnings("default")
def test_pages_that_show_other_files_and_pages_are_never_old(project):
    """What Snippets puts into a page or below it, and what the tags say of others."""
    docs, config = Path("docs"), Path("mkdocs.yml")
    for name in ("part", "words"):
        Path(f"{name}.txt").write_text(f"Some {name}.\n")
    (docs / "one.md").write_text('# One\n\n-8<- "part.txt"\n')
    (docs / "tags.md").write_text("# Tags\n\n<!-- material/tags -->\n")
    (docs / "two.md").write_text("---\ntags: [few]\n---\n# Two\n")
    snippets = "{base_path: ['.'], auto_append: [words.txt]}"
    config.write_text(
        CONFIG.replace("  - search\n", "  - search\n  - tags\n")
        + f"markdown_extensions:\n  - pymdownx.snippets: {snippets}\n"
    )
    for change in (
        lambda: None,
        lambda: Path("part.txt").write_text("Another part.\n"),
        lambda: Path("words.txt").write_text("Other words.\n"),
        lambda: (docs / "two.md").write_text("---\ntags: [many]\n---\n# Two\n"),
        lambda: Path("book/game.py").write_text(MORE),
    ):
        change()
        check_same(built("served", "serve"), built("fresh", "build"))
    page = Path("served/one.html").read_text()
    assert "Another part." in page
    assert "Other words." in page
    assert 'href="two.html"' in Path("served/tags.html").read_text()


def test_pictures_that_are_put_on_pages_are_never_old(project):
    dot = Path("docs/dot.png")
    Path("docs/one.md").write_text("# One\n\n![A dot](dot.png)\n")
    Path("mkdocs.yml").write_text(
        CONFIG + "markdown_extensions:\n  - pymdownx.b64: {base_path: docs}\n"
    )
    for content in (DOT, DOT + b"more"):
        dot.write_bytes(content)
        check_same(built("served", "serve"), built("fresh", "build"))
        assert b64encode(content).decode() in Path("served/one.html").read_text()


@pytest.fixture
def rendered(monkeypatch):
    """The pages that are made of Markdown, one after the other."""
    found: list[str] = []
    render = Page.render

    def rendering(page, *args):
        found.append(page.file.src_uri)
        render(page, *args)

    monkeypatch.setattr(Page, "render", rendering)
    return found


@pytest.mark.filterwarnings("default")
def test_only_what_changed_is_rendered_again(project, rendered, monkeypatch):
    """A line of a module that looks like a file to show there is none."""
    compiled: set[str | None] = set()
    compile_template = Environment.compile

    def compiling(env, source, name=None, *args):
        compiled.add(name)
        return compile_template(env, source, name, *args)

    monkeypatch.setattr(Environment, "compile", compiling)
    Path("docs/one.md").write_text('# One\n\n-8<- "part.txt"\n')
    Path("part.txt").write_text("Some part.\n")
    Path("book/notes.py").write_text('"""\n# Notes\n\n-8<- "part.txt"\n"""\n')
    snippets = "{base_path: ['.']}"
    Path("mkdocs.yml").write_text(
        f"{CONFIG}markdown_extensions:\n  - pymdownx.snippets: {snippets}\n"
    )
    built("served", "serve")
    Path("book/game.py").write_text(MODULES["game.py"] + "\n\n# More.\nx = 1\n")
    check_same(built("served", "serve"), built("fresh", "build"))
    rendered.clear()
    assert {"main.html", "sidebyside/page.md"} < compiled
    compiled.clear()
    Path("book/game.py").write_text(MODULES["game.py"])
    built("served", "serve")
    assert sorted(rendered) == ["book/game.md", "one.md"]
    # Search compiles a few of its own.
    assert not {"main.html", "sidebyside/page.md"} & compiled


@pytest.fixture
def copied(monkeypatch):
    """The names of the files that are copied."""
    names: list[str] = []
    copy_file = File.copy_file

    def note(file, *args):
        names.append(file.src_uri)
        copy_file(file, *args)

    monkeypatch.setattr(File, "copy_file", note)
    return names


@pytest.mark.filterwarnings("default")
def test_only_files_that_changed_are_copied_again(project, copied):
    source, picture = Path("docs/dot.png"), Path("served/dot.png")
    source.write_bytes(DOT)
    built("served", "serve")
    assert {"dot.png", "book/game.py", "assets/sidebyside/sidebyside.js"} <= {*copied}
    for change, names in (
        (lambda: None, []),
        (lambda: source.write_bytes(DOT + b"1"), ["dot.png"]),
        (lambda: Path("book/game.py").write_text(MORE), ["book/game.py"]),
        # As a plugin does that makes files smaller, when all are there.
        (lambda: picture.write_bytes(b"another"), ["dot.png"]),
        (lambda: shutil.rmtree("served"), None),
        (lambda: None, []),
    ):
        change()
        copied.clear()
        built("served", "serve")
        assert names is None or copied == names
        assert picture.read_bytes() == source.read_bytes()
        check_same(Path("served"), built("fresh", "build"))
    source.unlink()
    built("served", "serve")
    assert not picture.exists()


@pytest.mark.filterwarnings("default")
def test_files_are_copied_where_none_can_have_two_names(project, copied, monkeypatch):
    def fail(*args):
        raise OSError("not here")

    Path("docs/dot.png").write_bytes(DOT)
    built("served", "serve")
    monkeypatch.setattr(os, "link", fail)
    for _ in range(2):
        copied.clear()
        built("served", "serve")
        assert "dot.png" in copied
        check_same(Path("served"), built("fresh", "build"))


@pytest.mark.filterwarnings("default")
def test_only_pages_that_changed_are_written_again(project, monkeypatch, caplog):
    written = []

    def note(content, path):
        written.append(Path(path).name)
        write_file(content, path)

    monkeypatch.setattr(serve, "write_file", note)
    caplog.set_level("INFO")
    Path("over").mkdir()
    Path("over/none.html").write_text("")
    with open("mkdocs.yml", "a") as file:
        file.write("theme: {name: material, custom_dir: over}\n")
    home, page = Path("docs/index.md"), Path("served/book/game.html")
    pages = ["index.html", "game.html"]
    for change, names in (
        (lambda: None, pages),
        (lambda: None, []),
        (lambda: home.write_text("# Home\n\nSee *it*.\n"), ["index.html"]),
        # As a plugin does that makes pages smaller, when all are there.
        (lambda: page.write_text("another"), ["game.html"]),
        (lambda: shutil.rmtree("served"), pages),
        (lambda: home.write_text("---\ntemplate: none.html\n---\n\n# Home\n"), None),
        (lambda: None, None),
    ):
        change()
        written.clear()
        caplog.clear()
        built("served", "serve")
        skipped = [m for m in caplog.messages if "skipped" in m]
        # MkDocs says that of pages without anything.
        is_empty = "template" in home.read_text()
        assert len(skipped) == is_empty
        assert names is None or {*written} == {*names}
        check_same(Path("served"), built("fresh", "build"))


HOOK = """
def on_page_markdown(markdown, page, **_):
    page.meta.setdefault("seen", []).append(1)
    return markdown + f"\\n\\nSeen {len(page.meta['seen'])} times.\\n"
"""
READING = """
from pathlib import Path
def on_page_read_source(page, **_):
    return Path("other.md").read_text() if page.file.src_uri == "book/game.md" else None
"""


@pytest.mark.filterwarnings("default")
def test_front_matter_is_read_when_it_is_new(project, monkeypatch):
    read = []

    def note(source):
        read.append(source.partition("\n---\n")[0])
        return get_data(source)

    monkeypatch.setattr(meta, "get_data", note)
    Path("hook.py").write_text(HOOK)
    with open("mkdocs.yml", "a") as file:
        file.write("hooks: [hook.py]\n")
    game = Path("book/game.py")
    titled = '"""\n---\ntitle: A castle\n---\n"""\n'
    for change, times in (
        (lambda: None, 2),
        (lambda: None, 0),
        (lambda: game.write_text(titled + MODULES["game.py"]), 1),
        (lambda: None, 0),
    ):
        change()
        read.clear()
        built("served", "serve")
        assert sum("title:" in front for front in read) == times
        check_same(Path("served"), built("fresh", "build"))
    assert "Seen 1 times" in Path("served/book/game.html").read_text()
    Path("reading.py").write_text(READING)
    Path("mkdocs.yml").write_text(f"{CONFIG}hooks: [reading.py]\n")
    for words in ("Wombats", "Foxes"):
        Path("other.md").write_text(f"# {words}\n")
        check_same(built("served", "serve"), built("fresh", "build"))
        assert words in Path("served/book/game.html").read_text()


@pytest.mark.filterwarnings("default")
def test_a_page_leads_to_the_reference_that_is_named_now(project):
    config = Path("mkdocs.yml")
    for name in ("one", "two"):
        Path(f"docs/{name}.md").write_text("# The reference\n")
    for change in (
        lambda: config.write_text(CONFIG.replace(*REFERENCE)),
        lambda: config.write_text(config.read_text().replace("one.md", "two.md")),
        lambda: config.write_text(CONFIG),
    ):
        change()
        check_same(built("served", "serve"), built("fresh", "build"))
        page = Path("served/book/game.html").read_text()
        assert ("two.html#book.game.Game" in page) == ("two.md" in config.read_text())


@pytest.mark.parametrize("command", ["build", "serve"])
def test_python_is_left_as_it_was(project, command):
    before = gc.get_threshold(), [*BUILD_LOG.filters]
    config = load_config("mkdocs.yml")
    config.plugins.on_startup(command=command, dirty=False)
    assert gc.get_threshold() != before[0]
    config.plugins.on_shutdown()
    assert (gc.get_threshold(), BUILD_LOG.filters) == before


def test_what_pages_are_made_of_is_watched(project):
    """And what is named because of another site engine is there once."""
    write_all({"clay.inv": "", "record.json": ""})
    more = "inventories: {https://clay.example/: clay.inv}\n      tests: record.json"
    named = re.findall("```yaml\n(.*?)```", cli.__doc__, re.DOTALL)
    text = CONFIG.replace("[book]", f"[book]\n      {more}")
    Path("mkdocs.yml").write_text(text + "".join(named))
    config = load_config("mkdocs.yml")
    config = config.plugins.on_config(config)
    watched = {Path(path).name for path in config.watch}
    assert watched == {"book", "clay.inv", "record.json"}
    # And of the theme, only what a site needs is looked at.
    templates = config.theme.get_env().list_templates()
    assert "main.html" in templates
    assert not [name for name in templates if name.startswith(".icons")]
    for each in (config.extra_css, config.extra_javascript, config.markdown_extensions):
        assert len({*map(str, each)}) == len(each)


AT_THE_END = """
import atexit, gc
from sidebyside.plugin import SideBySidePlugin

atexit.register(lambda: print(gc.get_freeze_count() > 10_000))
plugin = SideBySidePlugin()
plugin.on_startup(command="build", dirty=False)
plugin.on_shutdown()
print(gc.get_freeze_count() > 10_000)
"""


def test_when_python_ends_it_does_not_look_for_garbage():
    said = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["False", "True"]


def test_the_server_looks_often(tmp_path):
    server = LiveReloadServer(
        lambda: None, host="127.0.0.1", port=0, root=str(tmp_path)
    )
    (tmp_path / "docs").mkdir()
    for path in (tmp_path, tmp_path / "docs", tmp_path / "docs"):
        server.watch(str(path))
    look_often(server)
    watched = {str(tmp_path): 1, str(tmp_path / "docs"): 2}
    assert dict(server._watched_paths) == watched
    assert {emitter.watch.path for emitter in server.observer.emitters} == {*watched}
    assert {emitter.timeout for emitter in server.observer.emitters} == {LOOK_EVERY}
    server.server_close()


@contextmanager
def watched(folder: Path) -> Iterator[threading.Event]:
    """What is set when `new.py` has been seen in a folder."""
    seen = threading.Event()

    class Watcher(FileSystemEventHandler):
        def on_any_event(self, event):
            if str(event.src_path).endswith("new.py"):
                seen.set()

    observer = BaseObserver(Patient, timeout=0.01)
    observer.schedule(Watcher(), str(folder), recursive=True)
    observer.start()
    try:
        yield seen
    finally:
        observer.stop()
        observer.join()


def test_a_folder_that_was_away_for_a_moment_is_watched_again(tmp_path):
    folder, away = tmp_path / "package", tmp_path / "away"
    folder.mkdir()
    with watched(folder) as seen:
        folder.rename(away)
        time.sleep(0.2)
        away.rename(folder)
        (folder / "new.py").write_text("")
        assert seen.wait(30)


def test_what_changes_in_a_build_is_seen_after_it(tmp_path, monkeypatch):
    with watched(tmp_path) as seen:
        time.sleep(0.1)
        monkeypatch.setattr(Patient, "is_building", True)
        time.sleep(0.1)
        (tmp_path / "new.py").write_text("")
        assert not seen.wait(0.3)
        monkeypatch.setattr(Patient, "is_building", False)
        assert seen.wait(30)


@pytest.mark.filterwarnings("default")
def test_nobody_looks_in_a_build_and_somebody_after_each(project, monkeypatch):
    states: list[bool] = []
    render = Page.render

    def note(*args):
        states.append(Patient.is_building)
        render(*args)

    monkeypatch.setattr(Page, "render", note)
    built("served", "serve")
    assert states
    assert all(states)
    assert not Patient.is_building

    def fail(*args):
        raise RuntimeError("a plugin's mistake")

    monkeypatch.setattr(Page, "render", fail)
    Path("docs/index.md").write_text("# Another\n")
    with pytest.raises(RuntimeError):
        built("served", "serve")
    assert not Patient.is_building


def test_what_the_first_build_has_left_is_not_looked_through(project):
    server = LiveReloadServer(lambda: None, host="127.0.0.1", port=0, root=str(project))
    config = load_config("mkdocs.yml")
    frozen, thresholds = gc.get_freeze_count(), gc.get_threshold()
    try:
        served = config.plugins.on_serve(server, config=config, builder=lambda: None)
        assert served is server
        assert server.build_delay == WAIT_FOR_MORE
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        server.server_close()


def test_what_later_builds_leave_behind_does_not_pile_up(project):
    """It is needed while a build goes on, and so it is old when it becomes garbage."""
    config = load_config("mkdocs.yml")
    config.plugins.on_startup(command="serve", dirty=False)
    most, objects = 0, 60_000
    try:
        serve.keep_what_is_there()
        for _ in range(120):
            site: list[list[object]] = [[] for _ in range(objects)]
            site[0].append(site)
            most = max(most, len(gc.get_objects()))
    finally:
        config.plugins.on_shutdown()
        gc.unfreeze()
    assert most < 10 * objects


def test_what_notes_questions_is_as_large_as_what_answers():
    places = {"a": Place("a.md", ""), "b": Place("b.md", "")}
    asked = Asked(places)
    assert len(asked) == len([*asked]) == 2
    assert are_same(asked.answers, {})
    assert asked["a"] == places["a"]
    assert not are_same(asked.answers, {})
    unread = WithUnread(places, [Module(Path("c.py"), "c.py", "c")], {"a", "b"})
    assert len(unread) == len([*unread]) == 2
    assert unread["c.d"] == Place("c.md", "")
    with pytest.raises(KeyError):
        unread["d"]
    # A picture that lies in a package is no name in it.
    assert page_at("c.py", unread) == page_at("c/__init__.py", unread) == unread["c"]
    assert page_at("c/wave.svg", unread) is None


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("was_good", [True, False])
def test_a_module_that_cannot_be_read_breaks_no_other_page(project, was_good, caplog):
    user, game = Path("book/user.py"), Path("book/game.py")
    # Without a link of MkDocs' own to what is not there yet.
    Path("docs/index.md").write_text("# Home\n")
    user.write_text(
        '"""See [run][book.game.Game.run] and [Game][book.game.Game]."""\n'
        "from book.game import Game\n\nx = Game()\n"
    )
    game.write_text(MORE if was_good else "x = (\n")
    built("served", "serve")
    before = re.findall("(?s)<article.*", Path("served/book/user.html").read_text())
    game.write_text(f"{MORE}\n\nx = (\n")
    caplog.clear()
    built("served", "serve")
    mistake = Path("served/book/game.html").read_text()
    assert "this is not Python" in mistake
    assert 'id=""' not in mistake
    page = re.findall("(?s)<article.*", Path("served/book/user.html").read_text())
    assert 'href="game.html' in page[0]
    assert page == before
    assert [r.message for r in caplog.records if r.levelname == "WARNING"] == [
        "sidebyside: book/game.py:26: this is not Python: '(' was never closed. "
        f"Mend the syntax, or `exclude` the file; the press reads what Python {PYTHON} "
        "reads."
    ]
    # What the module does not define is said once it can be read.
    game.write_text(MORE.replace("run", "walk"))
    built("served", "serve")
    assert "which is defined nowhere" in Path("served/book/user.html").read_text()


@pytest.mark.filterwarnings("default")
def test_a_page_shows_its_first_mistake_in_each_build(project):
    """Also one that was never made without."""
    Path("mkdocs.yml").write_text(CONFIG.partition("nav:")[0])
    Path("docs/index.md").write_text("# Home\n")
    Path("book/game.py").write_text('"""[a][Gaem], [b][Gmae]"""\n')
    for _ in range(2):
        built("served", "serve")
        page = Path("served/book/game.html").read_text()
        assert "<code>Gaem</code>, which is defined nowhere" in page
        assert "<code>Gmae</code>" not in page


@pytest.mark.filterwarnings("default")
def test_for_a_mistake_no_other_page_is_made_again(project, monkeypatch, rendered):
    """It takes no longer than any other change, and neither does its end."""
    game = Path("book/game.py")
    built("served", "serve")
    filled: list[str] = []
    fill = Template.render

    def filling(template, *args, **variables):
        if args and args[0].get("page"):
            filled.append(args[0]["page"].file.src_uri)
        return fill(template, *args, **variables)

    monkeypatch.setattr(Template, "render", filling)
    good = game.read_text()
    for text in (f"{good}\n\nx = (\n", f"{good}\n\n# Two wombats.\nx = 1\n"):
        rendered.clear()
        filled.clear()
        game.write_text(text)
        built("served", "serve")
        assert rendered == filled == ["book/game.md"]
        assert Path("served/book/game.py").exists()


@pytest.mark.filterwarnings("default")
def test_a_new_file_makes_only_those_pages_again_that_ask_for_it(project, rendered):
    """A picture, say; and so does one that is gone."""
    home, game = Path("docs/index.md"), Path("book/game.py")
    home.write_text("# Home\n\n![A wombat](wombat.png)\n")
    game.write_text('"""# The game\n\n![Another](../den/another.png)\n"""\n')
    built("served", "serve")
    for name, asks in (
        ("wombat.png", "index.md"),
        ("den/another.png", "book/game.md"),
        ("den/of-nobody.png", None),
    ):
        path = Path("docs", name)
        path.parent.mkdir(exist_ok=True)
        for change in (lambda p=path: p.write_bytes(DOT), path.unlink):
            change()
            rendered.clear()
            built("served", "serve")
            assert rendered == [asks] * bool(asks)
            shutil.rmtree("fresh", ignore_errors=True)
            check_same(built("served", "serve"), built("fresh", "build"))


@pytest.mark.filterwarnings("default")
def test_options_of_extensions_are_never_old(project):
    for anchors in ("false", "true"):
        Path("mkdocs.yml").write_text(
            f"{CONFIG}markdown_extensions:\n  - toc: {{permalink: {anchors}}}\n"
        )
        check_same(built("served", "serve"), built("fresh", "build"))


@pytest.mark.filterwarnings("default")
def test_addresses_are_those_of_the_options(project):
    Path("docs/dot.png").write_bytes(DOT)
    Path("docs/more.md").write_text("# More\n\n![A dot](dot.png)\n")
    Path("clay.inv").write_bytes(listed("clay.f py:function 1 api.html#$ -"))
    code = "import clay\nfrom book.game import Game\n\nGame(clay.f())\n"
    Path("book/user.py").write_text(code)
    for folders, host, address in (
        ("false", "one", "game.html#Game"),
        ("true", "one", "../game/#Game"),
        ("true", "two", "../game/#Game"),
    ):
        own = f"[book]\n      inventories: {{https://{host}.example: clay.inv}}"
        Path("mkdocs.yml").write_text(
            CONFIG.replace("urls: false", f"urls: {folders}").replace("[book]", own)
        )
        shutil.rmtree("fresh", ignore_errors=True)
        check_same(built("served", "serve"), built("fresh", "build"))
        name = "user/index.html" if folders == "true" else "user.html"
        page = Path("served/book", name).read_text()
        assert f'href="{address}"' in page
        assert f'href="https://{host}.example/api.html#clay.f"' in page


HOOKS = """
from pathlib import Path
def on_page_context(context, page, **_):
    words = Path("said.txt").read_text()
    {}
def on_env(env, **_):
    words = Path("said.txt").read_text()
    {}
"""
WITH_WORDS = """
{% extends "base.html" %}
{% block footer %}{{ words }}
{{ page.meta.words if page }}{{ page.next_page.title if page }}{% endblock %}
"""


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("to_page", "to_all"),
    [
        ('page.content += f"<p>{words} {len(page.content)}</p>"', ""),
        ('if not page.is_homepage: page.meta["words"] = words', ""),
        ("for each in page.toc.items[0].children: each.title = words", ""),
        ('page.next_page = type("Page", (), {"title": words, "url": ""})', ""),
        ('context["words"] = words', ""),
        ("", 'env.globals["words"] = words'),
    ],
)
def test_a_hook_finds_pages_whole_and_what_it_adds_is_never_old(
    project, to_page, to_all
):
    """Also those that search has been shown nothing of, since it knows them."""
    write_all({"hook.py": HOOKS.format(to_page, to_all), "over/main.html": WITH_WORDS})
    Path("mkdocs.yml").write_text(
        CONFIG.replace("name: material", "name: material, custom_dir: over")
    )
    with open("mkdocs.yml", "a") as file:
        file.write("hooks: [hook.py]\n")
    for words in ("One phrase", "One phrase", "Another"):
        Path("said.txt").write_text(words)
        check_same(built("served", "serve"), built("fresh", "build"))
        assert words in Path("served/book/game.html").read_text()


SECTION = """
from pathlib import Path
def on_nav(nav, **_):
    nav.items[1].title = Path("said.txt").read_text()
"""
ON_PAGE = """
from pathlib import Path
def on_page_context(context, page, **_):
    page.mood = Path("mood.txt").read_text()
"""
SHOWING = """
{% extends "base.html" %}{% block footer %}
{% include ".icons/a.svg" %}{% include "assets/b.svg" %}
{{ page.markdown if page }}{{ page.mood if page }}
{% for each in pages %}{{ each.page.title }}{% endfor %}{% endblock %}
"""


@pytest.mark.filterwarnings("default")
def test_whatever_a_template_shows_is_never_old(project):
    """Titles of sections, other pages, drawings, and what plugins put on a page."""
    texts = {
        "hook.py": SECTION,
        "other.py": ON_PAGE,
        "said.txt": "One part",
        "mood.txt": "glad",
        "over/main.html": SHOWING,
        "over/.icons/a.svg": "<svg>1</svg>",
        "over/assets/b.svg": "<svg>2</svg>",
        "docs/out.md": "# A page of its own\n",
    }
    write_all(texts)
    config = CONFIG.replace("name: material", "name: material, custom_dir: over")
    config = config.replace("book/index.md, book/game.md", "{A: [book/index.md]}")
    Path("mkdocs.yml").write_text(f"{config}hooks: [hook.py]\n")
    for name, text in (
        ("said.txt", "Another part"),
        ("over/.icons/a.svg", "<svg>a</svg>"),
        ("over/assets/b.svg", "<svg>b</svg>"),
        ("docs/out.md", "# A title of its own\n"),
        # It shows nothing.
        ("docs/index.md", "# Home\n\nSee [it](book/game.md#Game), $x$.\n\n[x]: y\n"),
        # With this no page is kept any more.
        ("mkdocs.yml", f"{config}hooks: [hook.py, other.py]\n"),
        ("mood.txt", "sleepy"),
    ):
        built("served", "serve")
        Path(name).write_text(text)
        check_same(built("served", "serve"), built("fresh", "build"))


ADDING = """
def on_page_markdown(markdown, page, **_):
    return markdown + '\\n\\n--8<-- "part.txt"\\n' if page.is_homepage else None
"""
EXTENSIONS = """
hooks: [hook.py]
markdown_extensions:
  - pymdownx.snippets: {base_path: [all], auto_append: ["all.txt:1:2"]}
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
      emoji_generator: !!python/name:material.extensions.emoji.to_svg
      options: {custom_icons: [icons]}
"""


@pytest.mark.filterwarnings("default")
def test_files_that_only_extensions_read_are_never_old(project):
    """What a hook and other files show, lines of a file, and icons."""
    texts = {
        "hook.py": ADDING,
        "all/part.txt": "One part\n",
        "all/more.txt": "One more\n",
        "all/all.txt": "One line\nA second\nA third\n",
        "icons/mine/a.svg": '<svg xmlns="http://www.w3.org/2000/svg"><g id="a"/></svg>',
    }
    write_all(texts)
    Path("mkdocs.yml").write_text(CONFIG + EXTENSIONS)
    Path("docs/out.md").write_text("# Out\n\n:mine-a:\n")
    for name, old, new in (
        ("all/part.txt", "One", "Another"),
        ("all/all.txt", "One", "Another"),
        ("icons/mine/a.svg", 'id="a"', 'id="b"'),
        ("mkdocs.yml", "base_path: [all]", "base_path: [all/all.txt]"),
        ("all/all.txt", "Another", "One"),
        ("mkdocs.yml", "base_path: [all/all.txt]", "base_path: all"),
        # With this no page is kept any more.
        ("all/all.txt", "A second", '--8<-- "more.txt"'),
        ("all/more.txt", "One", "Another"),
    ):
        built("served", "serve")
        # Material keeps the text of an icon as long as the program runs.
        emoji._load.cache_clear()
        Path(name).write_text(Path(name).read_text().replace(old, new))
        check_same(built("served", "serve"), built("fresh", "build"))


@pytest.mark.filterwarnings("default")
def test_what_other_options_make_of_a_page_is_never_old(project):
    """How MkDocs checks links, and the plugins autorefs and mkdocstrings."""
    home, config = Path("docs/index.md"), Path("mkdocs.yml")
    home.write_text(
        "# Home\n\n## A house\n\n[It](/book/game.md), [too][a-house], and "
        '<autoref identifier="book.game.Game" backlink-type="referenced-by" '
        'backlink-anchor="a-house">this</autoref>.\n'
    )
    # After a warning of autorefs, nothing that it has made is kept.
    Path("book/game.py").write_text(MODULES["game.py"].replace("[Game.step][]", "it"))
    Path("docs/one.md").write_text("# The reference\n\n::: book.game\n")
    config.write_text(
        CONFIG.replace(
            "  - sidebyside", "  - autorefs\n  - mkdocstrings\n  - sidebyside"
        )
    )
    source = "mkdocstrings: {handlers: {python: {options: {show_source: false}}}}"
    for old, new in (
        ("anchors: warn", "anchors: warn, absolute_links: relative_to_docs"),
        ("- autorefs", "- autorefs: {link_titles: false}"),
        ("- autorefs: {link_titles: false}", "- autorefs"),
        ("font: false", "font: false, features: [navigation.instant.preview]"),
        ("- mkdocstrings", f"- {source}"),
        ("show_source: false", "show_source: false, backlinks: flat"),
    ):
        built("served", "serve")
        config.write_text(config.read_text().replace(old, new))
        built("served", "serve")
        fresh = built("fresh", "build")
        Path("served/objects.inv").write_bytes(Path("fresh/objects.inv").read_bytes())
        check_same(Path("served"), fresh)
    assert 'class="doc doc-backlinks"' in Path("served/one.html").read_text()


@pytest.mark.filterwarnings("default")
def test_what_is_wrong_is_said_until_it_is_right(project, caplog):
    """Of links by MkDocs, and of dollars: at both a strict build fails."""
    home, game = Path("docs/index.md"), Path("book/game.py")
    home.write_text("# Home\n\n[Nothing](nothing.md), [gone](book/game.md#gone)\n")
    game.write_text(f'{MODULES["game.py"]}\n\ndef f():\n    """Costs $$ and $5."""\n')
    for _ in range(3):
        caplog.clear()
        built("served", "serve")
        assert "contains a link 'nothing.md'" in caplog.text
        assert "does not contain an anchor '#gone'" in caplog.text
        assert "book/game.py:23:14: SBS205" in caplog.text
    home.write_text("# Home\n")
    game.write_text(MODULES["game.py"])
    caplog.clear()
    built("served", "serve")
    assert not [r for r in caplog.records if r.levelname == "WARNING"]


@pytest.mark.filterwarnings("default")
def test_nobody_is_warned_of_what_the_reference_does_not_have_yet(project, caplog):
    """It is made once, and what a module has since then is not in it."""
    Path("mkdocs.yml").write_text(CONFIG.replace(*REFERENCE_OF_MODULES))
    for text in ("def f(): ...", "def g(): ...", "class C:\n    def h(self): ..."):
        built("served", "serve")
        with open("book/game.py", "a") as file:
            file.write(f"\n\n{text}\n")
        caplog.clear()
        built("served", "serve")
        assert not [r for r in caplog.records if r.levelname == "WARNING"]
    assert '#book.game.C"' in Path("served/book/game.html").read_text()


@pytest.mark.filterwarnings("default")
def test_a_template_that_another_includes_is_never_old(project):
    page = (THEME / "sidebyside/page.md").read_text()
    folder = Path("over/sidebyside")
    folder.mkdir(parents=True)
    more = '{% include "sidebyside/none.md" ignore missing %}'
    (folder / "page.md").write_text(
        page + '\n{% include "sidebyside/foot.md" %}\n' + more
    )
    Path("mkdocs.yml").write_text(
        CONFIG.replace("name: material", "name: material, custom_dir: over")
    )
    for name, words in (("foot", "One foot"), ("foot", "Two feet"), ("none", "A leg")):
        (folder / f"{name}.md").write_text(f"{words}\n")
        check_same(built("served", "serve"), built("fresh", "build"))
        assert words in Path("served/book/game.html").read_text()


@pytest.mark.filterwarnings("default")
def test_another_file_of_the_same_age_is_another(project):
    """Also of the same length; and one that was changed where it is: clocks jump."""
    picture, other = Path("docs/dot.png"), Path("other.png")
    picture.write_bytes(DOT + b"1")
    built("served", "serve")
    other.write_bytes(DOT + b"2")
    shutil.copystat(picture, other)
    other.replace(picture)
    built("served", "serve")
    assert Path("served/dot.png").read_bytes() == DOT + b"2"
    before = picture.stat()
    picture.write_bytes(DOT + b"34")
    os.utime(picture, ns=(before.st_atime_ns, before.st_mtime_ns))
    built("served", "serve")
    assert Path("served/dot.png").read_bytes() == DOT + b"34"
    # The name of an icon is that of its file.
    icon = serve.stamp("docs/dot.png")
    assert icon != serve.stamp(str(picture.rename("docs/another.png")))
