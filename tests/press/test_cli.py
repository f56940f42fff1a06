"""The press as a program."""

import errno
import mimetypes
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sidebyside import __main__, cli, commands
from sidebyside.cli import main
from sidebyside.press import ASSETS, excluding, named_from, python_files
from tests.press.sites import DOT, listed

ROOT = Path(__file__).parents[2]
MODULE = '''r"""
---
title: A & B
summary: What "it" is.
---

# A & B

With $\\mathcal{L}_t$, ![a dot](dot.png), ![elsewhere](https://example.org/x.png)
and [other][book.other].
"""

import os


class Thing:
    """
    ## The thing

    See [Thing.run][].

    ```python
    print("<fenced>")
    ```
    """

    def run(self) -> int:
        # A comment about marsupials.
        return len("<b>")
'''


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "book"
    package.mkdir()
    (package / "__init__.py").write_text('"""# The book"""\n')
    (package / "thing.py").write_text(MODULE)
    (package / "other.py").write_text(
        '"""# Other\n\nTo [Thing][book.thing.Thing]."""\n'
    )
    (package / "dot.png").write_bytes(DOT)
    return package


# ---- page


def page(*words):
    assert main(["page", "book/thing.py", *words]) == 0
    return Path("thing.html").read_text()


def test_a_page_is_complete(book, capsys):
    html = page()
    assert capsys.readouterr().err == ""
    assert "<title>A &amp; B</title>" in html
    assert '<meta name="description" content="What &#34;it&#34; is.">' in html
    assert '<h2 id="Thing">The thing' in html
    assert 'id="Thing.run--a-comment-about-marsupials"' in html
    assert '<a href="#Thing.run"><code>Thing.run</code></a>' in html
    assert "&lt;fenced&gt;" in html
    assert "<sbs-math" in html
    assert "and other.</p>" in html, "a link that leads to no page of this file"
    assert ".sbs-row" in html


def test_files_without_a_package_know_those_beside_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text('"""To [it][b.f], and back."""\n\nimport b\n')
    (tmp_path / "b.py").write_text('"""Text."""\n\n\ndef f():\n    """Do."""\n')
    assert main(["page", "a.py", "--strict"]) == 0
    for words in (["a.py"], ["a.py", "b.py"], ["."]):
        assert main(["check", *words]) == 0, words
    assert capsys.readouterr() == ("", "")


def test_a_package_is_read_only_for_a_link_that_leads_away(book, monkeypatch):
    def read(modules, report):
        raise AssertionError("the package was read")

    monkeypatch.setattr(commands, "load_all", read)
    (book / "alone.py").write_text('"""To [f][]."""\n\n\ndef f():\n    """Do."""\n')
    assert main(["page", "book/alone.py"]) == 0
    with pytest.raises(AssertionError, match="was read"):
        page()


def test_a_page_asks_nothing_of_any_host(book):
    html = page()
    assert "<script" not in html
    assert "<link" not in html
    assert "@import" not in html
    assert 'src="data:image/png;base64,iVBORw0KG' in html
    assert re.findall(r'src="(?!data:)', html) == []
    assert all(url.startswith("data:") for url in re.findall(r"url\(([^)]*)", html))
    assert '<a href="https://example.org/x.png">elsewhere</a>' in html
    assert "default-src 'none'" in html


def test_pictures_of_every_kind_are_put_in(book, monkeypatch):
    # Some machines have no list of kinds, and some versions of Python a short one.
    monkeypatch.setattr(mimetypes, "_db", mimetypes.MimeTypes())
    kinds = ("avif", "gif", "jpg", "png", "svg", "webp")
    for kind in kinds:
        (book / f"a.{kind}").write_bytes(DOT)
    words = "\n\n".join(f"![A](a.{kind})" for kind in kinds)
    (book / "thing.py").write_text(f'"""{words}"""\n')
    assert page().count('src="data:image/') == len(kinds)


def fonts(html: str) -> set[str]:
    faces = re.findall(r"@font-face\{([^}]*)\}", html)
    return {
        "".join(re.findall(r"font-(?:family|weight|style):\"?(\w+)", face))
        for face in faces
    }


@pytest.mark.parametrize(
    ("tex", "more"),
    [
        ("x", set()),
        (r"\mathcal{L}", {"KaTeX_Caligraphicnormal400"}),
        (r"\mathbb{E}", {"KaTeX_AMSnormal400"}),
        (r"\mathbf{x}", {"KaTeX_Mainnormal700"}),
        (r"\mathsf{x}", {"KaTeX_SansSerifnormal400"}),
        (r"\big( \Bigg(", {"KaTeX_Size1normal400", "KaTeX_Size4normal400"}),
    ],
)
def test_only_fonts_that_are_needed_are_put_in(book, tex, more):
    (book / "thing.py").write_text(f'r"""$x$ ${tex}$"""\n')
    found = fonts(page())
    assert {"KaTeX_Mainnormal400", "KaTeX_Mathitalic400", *more} <= found
    assert len(found) <= 3 + len(more)


def test_without_formulas_there_is_no_katex(book):
    (book / "thing.py").write_text('"""Text."""\n')
    assert "KaTeX_" not in page()


def test_a_page_has_the_licences_of_what_is_in_it(book):
    """Whoever is sent the file has nothing else."""
    html = page()
    for name in ("LICENSE", "katex/LICENSE", "katex/fonts/LICENSE"):
        assert (ASSETS / name).read_text(encoding="utf-8") in html, name
    (book / "thing.py").write_text('"""Text."""\n')
    assert "Khan" not in page()


def test_dark_colours_go_by_the_system(book):
    html = page()
    assert html.count("@media screen and (prefers-color-scheme: dark)") >= 2
    dark = html.rpartition("@media screen and (prefers-color-scheme: dark)")[2]
    assert "--md-code-hl-keyword-color" in dark
    assert "slate" not in dark.partition("</style>")[0]


def test_pictures_of_a_site_are_found(book, capsys):
    docs = Path("documents/assets")
    docs.mkdir(parents=True)
    (docs / "far.png").write_bytes(DOT)
    (book / "thing.py").write_text('"""![far](../assets/far.png)"""\n')
    assert "data:image" not in page()
    assert "is not in" in capsys.readouterr().err
    assert "data:image" in page("--docs", "documents")
    Path("documents").rename("docs")
    assert "data:image" in page()
    assert not capsys.readouterr().err


def test_a_picture_for_the_dark_is_shown_in_the_dark(book):
    (book / "thing.py").write_text(
        '"""![a](dot.png#only-light)![b](dot.png#only-dark)![c](dot.png)"""\n'
    )
    html = page()
    sources = re.findall(r'<img[^>]* src="data:image/png;base64,[^"#]*(#?[^"]*)"', html)
    assert sources == ["#only-light", "#only-dark", ""]
    style = re.findall(r'img:is\(\[src\$="(#only-\w+)"\].*?\) \{ (\S+ \w+)', html)
    assert style == [
        ("#only-dark", "display: none"),
        ("#only-dark", "display: inline"),
        ("#only-light", "display: none"),
    ]


def test_links_to_other_pages_are_words(book):
    (book / "thing.py").write_text(
        '"""[Page](other.py#Other), [guide](../guide.md), [this][book.thing], '
        '[f][book.thing.f],\n[there](https://example.org/x.md)."""\n'
        "def f(): ...\n"
    )
    html = page()
    for words in ("Page", "guide", "this"):
        assert f"<span>{words}</span>" in html
    assert '<a href="#f">f</a>' in html
    assert '<a href="https://example.org/x.md">there</a>' in html


def test_no_picture_comes_from_outside(book):
    Path("secret.png").write_bytes(DOT)
    (book / "thing.py").write_text('"""![x](../secret.png)"""\n')
    assert "data:image" not in page()


def test_a_missing_picture_is_said(book, capsys):
    (book / "thing.py").write_text(
        '"""Text.\n\n![x](no.png) ![d](dot.png) ![h](https://x.y/z.png)\n'
        '<img src="../up.png">\n"""\n'
    )
    Path("up.png").write_bytes(DOT)
    page()
    remedy = "Put it there, or name the documents of the site with `--docs`."
    assert capsys.readouterr().err.splitlines() == [
        f"book/thing.py:3: the picture `no.png` is not in `book`. {remedy}",
        f"book/thing.py:4: the picture `../up.png` is not in `book`. {remedy}",
    ]
    assert main(["page", "book/thing.py", "--strict"]) == 1


def test_a_page_does_not_say_where_it_was_made(book, monkeypatch, tmp_path):
    (tmp_path / "desk").mkdir()
    monkeypatch.chdir(tmp_path / "desk")
    assert main(["page", str(book / "thing.py")]) == 0
    html = Path("thing.html").read_text()
    assert '<p class="sbs-source">book/thing.py</p>' in html
    assert str(tmp_path) not in html


def test_a_page_does_not_say_through_which_link_it_was_found(book, tmp_path_factory):
    link = tmp_path_factory.mktemp("home") / "link"
    link.symlink_to(book.parent)
    assert main(["page", str(link / "book" / "thing.py")]) == 0
    assert '<p class="sbs-source">book/thing.py</p>' in Path("thing.html").read_text()


def test_a_module_of_no_package_may_be_anywhere(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "alone.py").write_text('"""# Alone"""\nx = 1\n')
    assert main(["page", str(tmp_path / "alone.py")]) == 0
    html = Path("alone.html").read_text()
    assert ">alone.py<" in html
    assert str(tmp_path) not in html


def test_a_page_can_be_piped(book, capsys):
    assert main(["page", "book/thing.py", "-o", "-"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
    assert not Path("-").exists()


@pytest.fixture
def clay(book):
    """The options for documentation that knows `clay.f`."""
    Path("clay.inv").write_bytes(
        listed("clay.f py:function 1 api.html#$ -", "json.dumps py:function 1 j.html -")
    )
    return "--inventory", "https://clay.example/", "clay.inv"


def test_names_lead_to_documentation_of_ones_choice(book, clay):
    (book / "thing.py").write_text("import clay\nimport json\n\nclay.f(json.dumps)\n")
    html = page(*clay)
    assert 'href="https://clay.example/api.html#clay.f"' in html
    assert 'href="https://clay.example/j.html"' in html, "it may be a translation"


def test_names_that_the_site_knows_are_no_findings(book, clay, capsys):
    (book / "thing.py").write_text('"""# A thing\n\nMade by [clay.f][]."""\n')
    check = ["check", "book/thing.py", "--select", "SBS202"]
    assert main(check) == 1
    assert "clay.f" in capsys.readouterr().out
    assert main([*check, *clay]) == 0


def test_a_page_written_by_hand_is_not_written_over(book, capsys):
    """Not even if it is about the press."""
    for path in (Path("docs/book/thing.md"), Path("thing.html")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("About sidebyside\n")
    assert main(["markdown", "book", "-o", "docs"]) == 2
    assert main(["page", "book/thing.py"]) == 2
    said = capsys.readouterr().err
    assert said.count("is there already, and the press did not make it") == 2
    assert Path("docs/book/thing.md").read_text() == "About sidebyside\n"
    assert Path("thing.html").read_text() == "About sidebyside\n"
    Path("docs/book/thing.md").unlink()
    Path("thing.html").unlink()
    for _ in range(2):
        assert main(["markdown", "book", "-o", "docs"]) == 0
        assert main(["page", "book/thing.py"]) == 0


def test_mistakes_are_said_and_lived_with(book, capsys):
    (book / "thing.py").write_text('r"""See [Nothing][], $\\frac{$."""\n')
    html = page()
    said = capsys.readouterr().err.splitlines()
    assert [line[:17] for line in said] == ["book/thing.py:1: "] * 2
    assert "See <code>Nothing</code>, <code>$\\frac{$</code>." in html


def test_what_can_be_linked_to_is_said(book, capsys):
    (book / "thing.py").write_text('"""See [Qqqqq][]."""\n')
    page()
    assert "a module, class or function of these packages" in capsys.readouterr().err


def test_strictly_mistakes_are_failures(book, capsys):
    (book / "thing.py").write_text('"""See [Nothing][]."""\n')
    assert main(["page", "book/thing.py", "--strict"]) == 1
    assert not Path("thing.html").exists()


def test_strictly_no_dollars_are_left(book, capsys):
    (book / "thing.py").write_text('"""\n# T\n\n$$\na\n\nb\n$$\n"""\n')
    assert main(["page", "book/thing.py", "--strict"]) == 1
    assert main(["markdown", "book", "-o", "out", "--strict"]) == 1
    assert capsys.readouterr().err.count("thing.py:4: a `$$` that is not part of") == 2
    assert not Path("thing.html").exists()
    assert not Path("out").exists()
    assert main(["page", "book/thing.py"]) == 0


def test_the_page_of_a_package_has_its_name(book, monkeypatch):
    assert main(["page", "book/__init__.py"]) == 0
    assert "<title>The book</title>" in Path("book.html").read_text()
    monkeypatch.chdir(book)
    assert main(["page", "__init__.py"]) == 0
    assert "<title>The book</title>" in Path("book.html").read_text()


def test_what_is_not_python_is_a_failure(book, capsys):
    (book / "thing.py").write_text("x = (\n")
    assert main(["page", "book/thing.py"]) == 1
    assert capsys.readouterr().err.startswith("book/thing.py:1: this is not Python")


# ---- What can be wrong with a command


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["page", "none.py"], "sidebyside: none.py: no such file or folder"),
        (
            ["page", "book"],
            "sidebyside: book: a folder; name one file, or use `markdown`",
        ),
        (
            ["page", "book/thing.py", "-o", "book/../book/thing.py"],
            "sidebyside: book/../book/thing.py: is the module itself; "
            "give the page another name",
        ),
        (
            ["page", "book/thing.py", "-o", "no/where.html"],
            "sidebyside: no/where.html: no such file or directory",
        ),
        (
            ["page", "book/thing.py", "-o", "book"],
            "sidebyside: book: is a directory",
        ),
        (
            ["markdown", "book/thing.py", "-o", "out"],
            "sidebyside: book/thing.py: not a folder; for one file, use `page`",
        ),
        (
            ["markdown", "book", "-o", "-"],
            "sidebyside: -: not a folder, and there are many pages",
        ),
        (
            ["markdown", "src", "-o", "out"],
            "sidebyside: src: no package; did you mean src/kiln?",
        ),
        (
            ["page", "book/thing.py", "--inventory", "https://x.y", "book/thing.py"],
            "sidebyside: book/thing.py: this is no `objects.inv`",
        ),
        (
            ["check", "book", "--inventory", "x.y", "book/thing.py"],
            "sidebyside: book/thing.py: `x.y` is no address, such as "
            "`https://docs.example.org/`",
        ),
        (["check", "empty"], "sidebyside: empty: no Python files in this folder"),
        (["markdown", "none", "-o", "out"], "sidebyside: none: no such file or folder"),
        (
            ["markdown", "book", "-o", "book/thing.py"],
            "sidebyside: book/thing.py/book: not a directory",
        ),
    ],
)
def test_a_wrong_command_is_answered_in_one_line(book, capsys, words, message):
    Path("empty").mkdir()
    Path("src/kiln").mkdir(parents=True)
    Path("src/kiln/__init__.py").write_text("")
    assert main(words) == 2
    assert capsys.readouterr().err == f"{message}\n"


@pytest.mark.parametrize(
    "words", [["page", "book/thing.py", "-o", "-"], ["check", "book"]]
)
def test_whoever_has_read_enough_is_left_in_peace(book, words):
    (book / "other.py").write_text("# [Nothing][]\n")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "sidebyside", *words],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("kind", [errno.EPIPE, errno.EINVAL])
def test_on_windows_whoever_has_read_enough_is_left_in_peace(
    book, monkeypatch, capsys, kind
):
    """It has no SIGPIPE, and calls a pipe that nobody reads an invalid argument."""

    def fails(_: object) -> int:
        raise OSError(kind, os.strerror(kind))

    monkeypatch.setattr(cli, "write_findings", fails)
    monkeypatch.setattr(cli, "print_no_more", lambda: None)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(signal, "SIGPIPE")
    assert main(["check", "book"]) == 141
    assert capsys.readouterr().err == ""


def test_whoever_stops_it_is_left_in_peace(monkeypatch, capsys):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", stopped)
    assert __main__.main() == 128 + signal.SIGINT
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("out", ["-", "/dev/full"])
def test_a_full_disk_is_said_in_one_line(book, out):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sidebyside", "page", "book/thing.py", "-o", out],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.stderr == "sidebyside: no space left on device\n"
    assert done.returncode == 2


@pytest.mark.parametrize("program", [["-m", "sidebyside"]])
def test_the_program_can_be_started(program):
    done = subprocess.run(
        [sys.executable, *program, "--help"], capture_output=True, text=True, check=True
    )
    for command in ("page", "markdown", "check"):
        assert command in done.stdout


def test_the_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert re.match(r"sidebyside \d", capsys.readouterr().out)


def test_what_is_not_installed_is_named(tmp_path):
    """With a Python that has the press, and nothing of what it needs."""
    (tmp_path / "sidebyside").symlink_to(ROOT / "sidebyside")
    done = subprocess.run(
        [sys.executable, "-S", "-m", "sidebyside", "check", "."],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert re.fullmatch(
        r"sidebyside: this needs \w+, which is not installed\. In a copy of the book's "
        r"repository, pip install '\.\[press\]' installs it\n",
        done.stderr,
    )


@pytest.mark.parametrize("encoding", ["ascii:strict", "cp1252:strict"])
def test_what_the_terminal_lacks_is_spelt_out(tmp_path, encoding):
    (tmp_path / "a.py").write_text('"""[γ][] is not here."""\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sidebyside", "check", "a.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert not done.stderr
    assert "\\u03b3" in done.stdout


def test_without_anywhere_to_print_to_the_status_is_the_same(tmp_path):
    (tmp_path / "a.py").write_text('"""[g][] is not here."""\n', encoding="utf-8")
    command = f"{shlex.quote(sys.executable)} -m sidebyside check a.py >&-"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")


def test_another_drive_has_no_path_from_here(monkeypatch):
    def refused(*_: object) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    monkeypatch.setattr(os.path, "relpath", refused)
    assert named_from(Path("/d/a.py"), Path("/c")) == "/d/a.py"


# ---- markdown


def test_markdown_for_a_package(book, capsys):
    assert main(["markdown", "book", "-o", "out"]) == 0
    out = Path("out")
    made = {p.relative_to(out).as_posix() for p in out.rglob("*.md")}
    assert made == {"book/index.md", "book/thing.md", "book/other.md"}
    assert "(thing.md#Thing)" in (out / "book/other.md").read_text()
    assert (out / "assets/sidebyside/sidebyside.css").exists()
    assert list(out.rglob("*.woff2"))
    ours = (ROOT / "LICENSE").read_bytes()
    assert (out / "assets/sidebyside/LICENSE").read_bytes() == ours
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], "Thing</span>"),
        (["--links", "sources"], '<a href="thing.md#Thing">Thing</a>'),
        (["--links", "folders"], '<a href="../thing/#Thing">Thing</a>'),
        (["--links", "files"], '<a href="thing.html#Thing">Thing</a>'),
    ],
)
def test_names_in_the_code_of_markdown_can_be_links(book, options, code):
    (book / "other.py").write_text("from .thing import Thing\n\nx = Thing()\n")
    assert main(["markdown", "book", "-o", "out", *options]) == 0
    made = Path("out/book/other.md").read_text()
    assert code in made
    assert ("Thing</a>" in made) == bool(options)
    thing = Path("out/book/thing.md").read_text()
    assert ("Used in 1 place" in thing) == bool(options)
    assert "(other.md" in thing


def test_markdown_leaves_out_what_is_not_python(book, capsys):
    (book / "broken.py").write_text("x = (\n")
    assert main(["markdown", "book", "-o", "out"]) == 1, "a page is missing"
    assert Path("out/book/thing.md").exists()
    assert "book/broken.py:1: " in capsys.readouterr().err
    assert not Path("out/book/broken.md").exists()
    assert main(["markdown", "book", "-o", "out2", "--strict"]) == 1
    assert not Path("out2").exists()


def test_markdown_of_a_part_has_its_names_from_the_whole(book, capsys):
    (book / "part").mkdir()
    (book / "part" / "__init__.py").write_text("")
    (book / "part" / "one.py").write_text("# See [f][book.part.one.f].\ndef f(): ...\n")
    assert main(["markdown", "book/part", "-o", "out"]) == 0
    assert capsys.readouterr().err == ""
    made = {p.relative_to("out").as_posix() for p in Path("out").rglob("*.md")}
    assert made == {"book/part/index.md", "book/part/one.md"}


def test_markdown_names_a_file_so_that_an_editor_finds_it(book, monkeypatch, capsys):
    Path("src").mkdir()
    book.rename("src/book")
    Path("src/book/broken.py").write_text("x = (\n")
    assert main(["markdown", "src/book", "-o", "out"]) == 1
    assert capsys.readouterr().err.startswith("src/book/broken.py:1: ")
    monkeypatch.chdir("src/book")
    assert main(["markdown", ".", "-o", "../../out"]) == 1
    assert capsys.readouterr().err.startswith("broken.py:1: ")
    page = Path("../../out/book/index.md").read_text()
    assert "source: book/__init__.py\n" in page


def test_no_page_replaces_another(book, capsys):
    (book / "index.py").write_text("")
    assert main(["markdown", "book", "-o", "out"]) == 1
    assert capsys.readouterr().err == (
        "book/index.py:1: another module has the page `book/index.md`. "
        "Rename one of them, or leave it out with `--exclude`.\n"
    )
    assert main(["markdown", "book", "-o", "out", "--exclude", "index.py"]) == 0


def test_what_nobody_wrote_is_left_out(book):
    for path in ("venv/x.py", "env/x.py", "node_modules/a/x.py", "dist/x.py"):
        (book / path).parent.mkdir(parents=True)
        (book / path).write_text("x = (\n")
    (book / "env" / "pyvenv.cfg").write_text("")
    for path in ("build/__init__.py", "build/tests/x.py", "build/deep/x.py"):
        (book / path).parent.mkdir(parents=True, exist_ok=True)
        (book / path).write_text('"""Text."""\n')
    words = ["--exclude", "tests/", "--exclude", "book/build/d*"]
    assert main(["markdown", "book", "-o", "out", *words]) == 0
    made = {p.relative_to("out").as_posix() for p in Path("out").rglob("*.md")}
    three = {"book/index.md", "book/thing.md", "book/other.md"}
    assert made == {*three, "book/build/index.md"}


def test_what_is_left_out_may_be_named_with_backslashes_on_windows(monkeypatch):
    monkeypatch.setattr(os, "sep", "\\")
    whole = ("book", "_vendor", "x.py")
    fits = {r".\lib\book\_vendor", "_vendor\\", r"book\_vendor\*.py"}
    patterns = [*fits, r"lib\other\*"]
    typed = "lib/book/_vendor/x.py"
    assert excluding(whole[1:], whole, typed, patterns) == fits


def test_what_is_left_out_may_be_named_from_here(book, capsys):
    Path("lib").mkdir()
    book.rename("lib/book")
    Path("lib/book/bad.py").write_text("x = (\n")
    for pattern in ("bad.py", "book/bad.py", "lib/book/bad.py", "./lib/book/b*"):
        words = ["lib/book", "--exclude", pattern]
        main(["markdown", *words, "-o", "out"])
        main(["check", *words])
        said = capsys.readouterr()
        assert "bad.py" not in said.out + said.err
    words += ["--exclude", "none/"]
    assert main(["markdown", *words, "-o", "out"]) == 0
    assert "--exclude: nothing matches none/\n" in capsys.readouterr().err
    assert main(["check", *words, "--select", "SBS2"]) == 0
    assert "--exclude: nothing matches none/\n" in capsys.readouterr().err
    # A link to what is left out leads nowhere, also if only one file is looked at.
    for path in ("lib/book", "lib/book/thing.py"):
        words = [path, "--exclude", "other.py", "--exclude", "bad.py"]
        assert main(["check", *words, "--select", "SBS202"]) == 1


def test_pages_that_were_left_are_named(book, capsys):
    old = [book / f"{name}.py" for name in ("a", "b", "c", "d", "e")]
    for file in old:
        file.write_text('"""# Old"""\n')
    assert main(["markdown", "book", "-o", "out"]) == 0
    Path("out/book/hand.md").write_text("# By hand\n")
    for file in old:
        file.unlink()
    (book / "thing.py").write_text("x = (\n")
    capsys.readouterr()
    assert main(["markdown", "book", "-o", "out"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if "no module" in line] == [
        f"{Path('out/book', file.stem)}.md: is the page of no module; delete it"
        for file in old
    ]


def test_what_a_site_has_is_left_out(book, capsys):
    shutil.copytree("book", "book/site/book")
    Path("book/site/assets/sidebyside").mkdir(parents=True)
    Path("book/site/book/thing.py").write_text("x = (\n")
    main(["check", "."])
    assert "book/site/book/thing.py:1" in capsys.readouterr().out
    Path("book/site/404.html").write_text("")
    main(["check", "."])
    assert "book/site" not in capsys.readouterr().out
    assert main(["markdown", "book", "-o", "out"]) == 0
    assert not Path("out/book/site").exists()


ZENSICAL = """
site_name: Small
use_directory_urls: {folders}
{extensions}
extra_css:
  - assets/sidebyside/katex/katex.min.css
  - assets/sidebyside/sidebyside.css
"""
EXTENSIONS = re.findall(r"^markdown_extensions:\n(?:  - .*\n)+", cli.__doc__, re.M)[0]


def built_by_zensical(tmp_path: Path, package: Path, folders: bool) -> int:
    """Build a package with another engine, check it, and count the links in code."""
    pytest.importorskip("zensical")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "index.md").write_text("# Home\n")
    (tmp_path / "mkdocs.yml").write_text(
        ZENSICAL.format(folders=str(folders).lower(), extensions=EXTENSIONS)
    )
    words = ["markdown", str(package), "-o", str(docs), "--links", "sources"]
    assert main(words) == 0
    subprocess.run(
        [sys.executable, "-m", "zensical", "build", "-f", "mkdocs.yml"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    pages = sorted((docs / package.name).rglob("*.md"))
    assert len(pages) == len(list(package.rglob("*.py")))
    followed = 0
    for path in pages:
        made = path.read_text()
        html = tmp_path / "site" / path.relative_to(docs).with_suffix(".html")
        if folders and path.stem != "index":
            html = html.with_suffix("") / "index.html"
        text = html.read_text()
        for code in re.findall(r'<span class="sbs-line".*', text):
            for href in re.findall(r'<a href="([^":]+)"', code):
                address, _, anchor = href.partition("#")
                target = html.parent / address if address else html
                target = target / "index.html" if target.is_dir() else target
                text_there = target.read_text()
                assert not anchor or f'id="{anchor}"' in text_there, (path, href)
                followed += 1
        anchors = re.findall(r"\{ #(\S+) \}|class=\"sbs-link\" id=\"(\S+?)\"", made)
        for anchor in map("".join, anchors):
            assert f'id="{anchor}"' in text, (path, anchor)
        prose = re.sub("(?ms)<!-- code.*?<!-- /code|^```.*?^```", "", made)
        assert ("$" in prose) <= ("<sbs-math" in text)
        assert text.count("sbs-code sbs-text") == made.count("sbs-code sbs-text")
        assert "<!-- prose" not in text
        assert "\x02" not in text
    return followed


@pytest.mark.timeout(900)
def test_another_engine_builds_the_markdown_of_a_book(tmp_path):
    assert built_by_zensical(tmp_path, ROOT / "labml_rl", folders=False) > 100
    first = (tmp_path / "site/labml_rl/index.html").read_text()
    assert "Nobody wrote down how to play Breakout" in first


def test_another_engine_makes_folders_of_pages(book, tmp_path):
    """With links from one folder of modules to another, and back."""
    (book / "other.py").write_text(
        "# $x$, and [a thing](thing.py#Thing).\n"
        "from .part.one import f\nfrom .thing import Thing\n\nThing(f)\n"
    )
    (book / "part").mkdir()
    (book / "part" / "__init__.py").write_text("")
    (book / "part" / "one.py").write_text(
        "from ..thing import Thing\n\n\ndef f():\n    return Thing()\n"
    )
    assert built_by_zensical(tmp_path, book, folders=True) >= 6


def test_a_picture_without_words_is_shown_as_its_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text('"""# T\n\n![](https://a.org/b.png)\n"""\n')
    assert main(["page", "a.py"]) == 0
    html = Path("a.html").read_text()
    assert ">https://a.org/b.png</a>" in html
    assert 'class="headerlink"' in html


def test_what_an_editor_leaves_is_no_module(tmp_path):
    for name in ("__init__.py", ".#a.py"):
        (tmp_path / name).write_text("")
    assert python_files(tmp_path) == [tmp_path / "__init__.py"]
