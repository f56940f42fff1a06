"""What a module could do to whoever makes a page of it, and must not."""

import os
import re
import zlib
from pathlib import Path

import pytest
from markdown import Markdown

from sidebyside import findings, mathematics
from sidebyside.cli import main
from sidebyside.errors import PressError
from sidebyside.guard import is_safe, lookalike
from sidebyside.inventory import HEADER, sphinx_entries
from sidebyside.links import file_of
from sidebyside.mathematics import FormulaError, typeset
from sidebyside.press import EXTENSIONS, Module, find_modules, load
from sidebyside.read import read
from sidebyside.reference import without_html
from sidebyside.render import environment, render_error
from sidebyside.weave import weave
from tests.press.sites import build

SCRIPT = "<script>document.title = 'mine'</script>"
CONFIG = """
site_name: Small
use_directory_urls: false
theme: {name: material, font: false}
plugins: [search, sidebyside: {packages: [book]}]
markdown_extensions: [pymdownx.snippets]
"""
MODULES = {
    "sets": f"---\ntitle: x\nsubtitle: !!set {{{SCRIPT!r}}}\n---\n\n# T\n",
    "pairs": f"---\ntitle: x\nauthor: !!omap [{{{SCRIPT!r}: 1}}]\n---\n\n# T\n",
    "redirect": (
        "---\ntitle: x\ntemplate: redirect.html\n"
        "location: javascript:alert(1)//\n---\n\n# T\n\nHere.\n"
    ),
    "snippet": (
        '# A\n\n--8<-- "book/evil.txt"\n\n;--8<-- "book/evil.txt"\n\n'
        "--8<--\nbook/evil.txt\n--8<--\n"
    ),
    "address": "# A\n\nOpen http://host[:port]/path, or [it](http://[x), please.\n",
    "outline": '<div class="sbs-link" data-sbs-outline="x">y</div>\n',
}


def test_no_script_and_no_file_comes_into_a_site(tmp_path):
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n")
    book = tmp_path / "book"
    book.mkdir()
    (book / "evil.txt").write_text(f"<!-- /prose:1 -->\n\n{SCRIPT}\n")
    for name, text in MODULES.items():
        (book / f"{name}.py").write_text(f'r"""\n{text}"""\n')
    done = build(tmp_path, "--quiet", strict=False)
    assert done.returncode == 0, done.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        assert SCRIPT not in page.read_text(), page
        assert "javascript:" not in page.read_text(), page
    site = tmp_path / "site" / "book"
    assert "Here." in (site / "redirect.html").read_text()
    shown = (site / "snippet.html").read_text()
    assert shown.count("book/evil.txt") == 3
    assert shown.count("–8") + shown.count("--8") == 4
    assert "http://host[:port]/path, or it, please." in re.sub(
        "<[^>]*>", "", (site / "address.html").read_text()
    )


def test_front_matter_of_any_kind_is_text():
    for value in ({"<b>"}, b"<b>", [("<b>", 1)], ("<b>",), {"a": [{"<b>"}]}):
        assert "<" not in str(lookalike(value))
    assert lookalike({"a": [True, 1, 2.5, None]}) == {"a": [True, 1, 2.5, None]}


def test_the_page_for_a_mistake_quotes_it(tmp_path):
    path = 'book/<i>"a.py'
    mistake = PressError(path, 3, f"`$x$` {SCRIPT} is wrong", "Mend it.")
    page = render_error(mistake, environment())
    html = Markdown(extensions=[*EXTENSIONS]).convert(page.partition("\n---\n")[2])
    assert SCRIPT not in html
    assert "&lt;script&gt;" in html
    assert "<i>" not in page.partition("\n---\n")[0]


def test_a_package_whose_name_begins_with_a_dot_stays_in_its_folder(tmp_path):
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "mine.py").write_text('"""# Hi"""\n')
    assert main(["markdown", str(tmp_path / ".tmp"), "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "tmp" / "mine.md").exists()


@pytest.mark.parametrize(("names", "times"), [(32, 2), (10, 9)])
@pytest.mark.parametrize("merge", ["<<", "!!merge x"])
def test_names_that_stand_for_more_names(names, times, merge):
    lines = ["a0: &a0 {k: v}"]
    for i in range(1, names):
        lines.append(f"a{i}: &a{i} {{{merge}: [{', '.join([f'*a{i - 1}'] * times)}]}}")
    text = "\n".join(['"""', "---", *lines, "---", "", "# X", '"""', ""])
    with pytest.raises(PressError, match="nested too deeply, or in itself"):
        weave(read(text.encode(), "m.py", "m"), {})


def test_a_formula_that_has_no_end_is_given_up(monkeypatch):
    monkeypatch.setattr(mathematics, "LONGEST", 1)
    monkeypatch.setattr(mathematics, "engine", mathematics.Engine())
    assert "katex" in typeset("x + 1.5", False)
    with pytest.raises(FormulaError, match="interrupted"):
        typeset(r"\def\a#1{" + "#1" * 900 + r"}\a{\a{x}}", False)


def test_a_formula_can_not_paint_over_the_page_or_say_what_it_is():
    assert "height:200em" not in typeset(r"\rule{200em}{200em}", False)
    assert "data-md-component" not in typeset(
        r"\htmlData{md-component=header}{z}", False
    )
    assert 'data-sbs="x"' in typeset(r"\htmlData{sbs=x}{z}", False)


def test_the_reference_shows_tags_and_obeys_none():
    text = f"First {SCRIPT} `<b>` ``a ` <b>`` x < y <https://a.org> <!-- x -->"
    assert without_html(text) == (
        "First &lt;script>document.title = 'mine'&lt;/script> `<b>` ``a ` <b>`` x < y "
        "<https://a.org> &lt;!-- x -->"
    )


def test_addresses_that_are_none():
    assert not is_safe("http://[x")
    assert file_of("a%00.png", "") is None


def test_a_picture_with_an_impossible_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(f'"""# A\n\n![x]({"a" * 5000}.png) ![y](a%00.png)\n"""\n')
    assert main(["page", "m.py"]) == 0
    assert "<img" not in Path("m.html").read_text()


def test_an_inventory_that_unpacks_without_end():
    packed = zlib.compress(bytes(65 << 20))
    with pytest.raises(ValueError, match="far too long"):
        [*sphinx_entries(HEADER + b"#\n#\n#\n" + packed)]


def test_what_is_no_file_is_no_module(tmp_path):
    (tmp_path / "a.py").write_text("")
    (tmp_path / "zero.py").symlink_to("/dev/zero")
    (tmp_path / "nowhere.py").symlink_to("nothing")
    assert [each.name for each in find_modules(tmp_path, tmp_path)] == [
        f"{tmp_path.name}.a"
    ]


def test_a_finding_is_one_line_and_gives_a_terminal_no_orders():
    finding = findings.Finding("a.py", 1, 1, "SBS000", "x\n::stop\x1b[2J", "Mend it.")
    assert str(finding) == r"a.py:1:1: SBS000 x\n::stop\x1b[2J (Mend it)"


def test_no_page_of_somebody_else_is_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("book").mkdir()
    Path("book/__init__.py").write_text('"""# Book"""\n')
    Path("docs/book").mkdir(parents=True)
    Path("docs/book/index.md").write_text("By hand.\n")
    assert main(["markdown", "book", "-o", "docs"]) == 2
    assert "docs/book/index.md: is there already" in capsys.readouterr().err
    assert Path("docs/book/index.md").read_text() == "By hand.\n"
    Path("index.py").write_text('"""# Home"""\n')
    Path("index.html").write_text("By hand.\n")
    assert main(["page", "index.py"]) == 2
    assert "index.html: is there already" in capsys.readouterr().err
    # What the press has made, it makes anew.
    for _ in range(2):
        assert main(["markdown", "book", "-o", "out"]) == 0
        assert main(["page", "book/__init__.py"]) == 0


def test_a_file_that_cannot_be_read_is_named(tmp_path, monkeypatch, capsys):
    """A folder in place of it, as it may come to be while somebody looks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").mkdir()
    module = Module(Path("m.py"), "m.py", "m")
    with pytest.raises(PressError, match=r"^m.py:1: the file can't be read: Is a dir"):
        load(module)


def test_a_name_that_is_no_text_is_shown_as_far_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"caf\xe9.py")
    Path(name).write_text("x = 1\n")
    assert main(["page", name, "-o", "out.html"]) == 0
    assert "caf?.py" in Path("out.html").read_text(encoding="utf-8")


def test_a_dot_is_no_name(tmp_path, monkeypatch):
    """A link that shows nothing would be one that the Tab key stops at."""
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "a.py").write_text("x = 1\n")
    (package / "b.py").write_text("from . import a\nimport p\nfrom .a import x\n")
    monkeypatch.chdir(tmp_path)
    assert main(["markdown", "p", "-o", "out", "--links", "folders"]) == 0
    page = (tmp_path / "out" / "p" / "b.md").read_text(encoding="utf-8")
    assert '<a href="../">p</a>' in page
    assert re.findall(r'href="\.\./[^>]*>([^<]*)<', page) == ["a", "p", "a", "x"]


def test_what_a_star_brings_is_found_in_prose(tmp_path, monkeypatch, capsys):
    """And what it does not bring, is not."""
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("from .a import *\n")
    (package / "a.py").write_text("from .c import *\ndef f(): pass\ndef _g(): pass\n")
    (package / "c.py").write_text('__all__ = ["h"]\ndef h(): pass\ndef k(): pass\n')
    (package / "b.py").write_text(
        '"""# B\n\n[f][], [p.f][], [p.h][] and [p.a.h][]."""\nfrom p.a import *\n'
    )
    monkeypatch.chdir(tmp_path)
    assert main(["check", "p", "--select", "SBS202"]) == 0
    (package / "b.py").write_text('"""# B\n\n[p._g][] and [p.k][]."""\n')
    capsys.readouterr()
    assert main(["check", "p", "--select", "SBS202"]) == 1
    assert capsys.readouterr().out.count("SBS202") == 2
