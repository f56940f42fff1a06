"""Which tests run a section: from what coverage.py has seen to what a page shows."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import CoverageData

from sidebyside.catalogue import catalogue
from sidebyside.cli import main
from sidebyside.crossings import cross
from sidebyside.read import read
from sidebyside.render import environment, render
from sidebyside.tested import (
    bodies,
    in_words,
    name_of,
    read_record,
    record,
    run_by,
    with_tests,
)
from sidebyside.weave import RunBy, weave
from tests.press.sites import build

KILN = '''"""# The kiln"""

HOT = 1_000


class Kiln:
    """## A kiln"""

    heat: int = 0

    def fire(self, degrees: int = 900) -> int:
        """
        ### Fire

        It gets hot.
        """
        self.heat += degrees

        # Not too hot.
        if self.heat > HOT:
            # It is switched off.
            self.heat = 0
        return self.heat

    def cool(self) -> None:
        """### Cool"""
        self.heat = 0


def unused() -> int:
    """## Not used"""
    return 1


def declared(
    x: int,
) -> int: ...
'''
TESTS = """
import pytest
from kiln import Kiln


@pytest.mark.parametrize("degrees", [1, 2])
def test_it_gets_hot(degrees):
    assert Kiln().fire(degrees) == degrees


def test_it_fires():
    Kiln().fire()


def test_it_is_switched_off():
    assert Kiln().fire(2_000) == 0


class TestCooling:
    def test_it_cools(self):
        kiln = Kiln()
        kiln.fire()
        kiln.cool()
        assert kiln.heat == 0
"""


def kiln(text=KILN):
    return read(text.encode(), "kiln.py", "kiln")


def line_of(code, text=KILN):
    (number,) = (n for n, line in enumerate(text.split("\n"), 1) if code in line)
    return number


def recorded(source, ran):
    made = json.dumps(record([source], {source.path: ran}))
    return read_record(made.encode())


def test_lines_of_bodies():
    found = {KILN.split("\n")[number - 1].strip() for number in bodies(kiln())}
    assert found == {
        "self.heat += degrees",
        "if self.heat > HOT:",
        "self.heat = 0",
        "return self.heat",
        "return 1",
    }


@pytest.mark.parametrize(
    "context",
    [
        "tests/test_a.py::test_b|run",
        "tests/test_a.py::test_b|setup",
        "tests/test_a.py::test_b (call)",
        "tests/test_a.py::test_b[1-a (call)]|run",
        "tests/test_a.py::test_b[x[0]|y\nz] (teardown)",
        "tests/test_a.py::test_b",
    ],
)
def test_the_name_of_a_test_is_without_its_parameters(context):
    assert name_of(context) == "tests/test_a.py::test_b"


def test_those_that_know_most_come_first(monkeypatch):
    ran = {
        line_of("+= degrees"): ["t.py::test_all", "t.py::test_b[1]", "t.py::test_b[2]"],
        line_of("return 1"): ["t.py::test_all", ""],
    }
    found = run_by(kiln(), recorded(kiln(), ran))
    assert found["Kiln.fire"] == RunBy(2, (("t.py", ("b", "all")),))
    assert found["unused"] == RunBy(1, (("t.py", ("all",)),))
    monkeypatch.setattr("sidebyside.tested.NAMED", 1)
    first = run_by(kiln(), recorded(kiln(), ran))
    assert first["Kiln.fire"] == RunBy(2, (("t.py", ("b",)),))


def test_what_is_run_by_an_import_is_not_tested():
    ran = {number: ["t.py::test_all"] for number in range(1, KILN.count("\n") + 1)}
    found = run_by(kiln(), recorded(kiln(), ran))
    assert found.keys() == {"Kiln.fire", "Kiln.cool", "unused"}
    signature = {line_of("def cool"): ["t.py::test_all"]}
    assert run_by(kiln(), recorded(kiln(), signature))["Kiln.cool"] == RunBy(0)


def test_a_comment_has_a_list_if_few_come_by():
    everyone = [f"t.py::test_{n}" for n in range(5)]
    ran = {line_of("+= degrees"): everyone, line_of("if self.heat"): everyone[:3]}
    few = {line_of("# It is switched off.") + 1: everyone[:2]}
    found = run_by(kiln(), recorded(kiln(), ran | few))
    assert found["Kiln.fire"].total == 5
    assert "Kiln.fire--not-too-hot" not in found
    assert found["Kiln.fire--it-is-switched-off"].total == 2
    none = run_by(kiln(), recorded(kiln(), ran))
    assert none["Kiln.fire--it-is-switched-off"] == RunBy(0)


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("It gets hot.", "It gets very hot.", False),
        (
            "# It is switched off.",
            "# It is switched off.\n            # And cold.",
            False,
        ),
        ('"""# The kiln"""\n', '"""# The kiln"""\nimport os\n', False),
        ("self.heat += degrees", "self.heat -= degrees", True),
        ("return self.heat", "return -self.heat", True),
    ],
)
def test_a_list_is_of_this_code(old, new, changed):
    ran = {line_of("+= degrees"): ["t.py::test_a"], line_of("return 1"): ["t.py::b"]}
    before = recorded(kiln(), ran)
    text = KILN.replace(old, new)
    assert text != KILN
    found = run_by(kiln(text), before)
    assert found["Kiln.fire"].total == (None if changed else 1)
    assert found["unused"].total == 1

    # What a comment begins is of the function: a list there would be of the old one.
    inside = [anchor for anchor in found if anchor.startswith("Kiln.fire--")]
    assert bool(inside) is not changed


def test_where_nothing_begins_nothing_is_said():
    """The rest of a call is run with its beginning."""
    body = "    g(\n        # Warm.\n        3,\n    )\n    # Its type.\n    x: int\n"
    text = f"def f():\n{body}"
    assert run_by(kiln(text), recorded(kiln(text), {})) == {"f": RunBy(0)}


def test_an_overload_runs_nothing():
    text = (
        "from typing import overload\n\n\n@overload\ndef f(x: int) -> int: ...\n"
        "@overload\ndef f(x: str) -> str:\n    ...\ndef f(x):\n    return x\n"
    )
    source = kiln(text)
    found = run_by(source, recorded(source, {line_of("return", text): ["t.py::a"]}))
    assert [each.total for each in found.values()] == [1]


def test_a_getter_is_not_its_setter():
    """Its comment has a list of its own, whatever becomes of the other."""
    text = (
        "class Kiln:\n    @property\n    def heat(self):\n        if self.lit:\n"
        "            return self.now\n        # Nobody has lit it.\n"
        "        return 0\n\n    @heat.setter\n    def heat(self, value):\n"
        "        self.now = value\n"
    )
    many = [f"t.py::{letter}" for letter in "abcde"]
    ran = {line_of("if self.lit", text): many, line_of("= value", text): many[:1]}
    before = recorded(kiln(text), ran | {line_of("return 0", text): many[:2]})

    def comments(text):
        found = run_by(kiln(text), before).items()
        return [shown.total for anchor, shown in found if "nobody" in anchor]

    assert comments(text) == [2]
    assert comments(text.replace("= value", "= -value")) == [2]
    assert comments(text.replace("return 0", "return 1")) == []


def test_what_is_new_has_no_list():
    ran = {line_of("return 1"): ["t.py::test_a"]}
    text = KILN + "\n\ndef new():\n    return 2\n"
    assert "new" not in run_by(kiln(text), recorded(kiln(), ran))
    assert run_by(read(KILN.encode(), "o.py", "o"), recorded(kiln(), ran)) == {}


def test_what_was_recorded_of_others_is_kept():
    one, other = kiln(), read(KILN.encode(), "other.py", "other")
    before = recorded(one, {line_of("return 1"): ["t.py::test_z", "t.py::test_a"]})
    ran = {other.path: {line_of("return 1"): ["t.py::test_m", "t.py::test_a"]}}
    made = record([other], ran, kept=before)
    assert made["tests"] == ["t.py::test_a", "t.py::test_m", "t.py::test_z"]
    after = read_record(json.dumps(made).encode())
    assert after["kiln"] == before["kiln"]
    assert run_by(other, after)["unused"] == RunBy(2, (("t.py", ("a", "m")),))


def test_of_a_package_of_which_a_part_is_recorded_the_rest_is_kept(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    seen = CoverageData("seen")
    seen.set_context("t.py::test_it")
    # The tests may have run in a folder with two names, such as `/tmp` on a Mac.
    Path("link").symlink_to(tmp_path)
    for part in ("fire", "fireproof"):
        Path(f"kiln/{part}").mkdir(parents=True)
        Path(f"kiln/{part}/__init__.py").write_text("def f():\n    return 1\n")
        seen.add_lines({str(tmp_path / f"link/kiln/{part}/__init__.py"): [2]})
    Path("kiln/__init__.py").write_text("")
    seen.write()

    command = ["tests", "--coverage", "seen", "-o", "tests.json"]
    assert main([*command, "kiln"]) == 0
    whole = Path("tests.json").read_text()
    assert '"kiln.fireproof"' in whole
    more = json.loads(whole)
    more["modules"]["kiln.fire.gone"] = more["modules"]["kiln.fire"]
    Path("tests.json").write_text(json.dumps(more))
    assert main([*command, "kiln/fire", "--exclude", "none"]) == 0
    assert Path("tests.json").read_text() == whole
    assert capsys.readouterr().err == "--exclude: nothing matches none\n"


def test_names_are_text_and_no_html():
    names = [f"<b>.py::test_<script>_{n}" for n in range(20)]
    source = kiln()
    crossings = cross([source], catalogue([source]), {})
    made = recorded(source, {line_of("+= degrees"): names})
    crossing = with_tests(crossings, [source], made)["kiln"]
    text = render(weave(source, {}, crossing=crossing), environment())
    assert "Run by 20 tests" in text
    assert '<summary aria-label="Kiln.fire: run by 20 tests"' in text
    assert "<p><code>&lt;b&gt;.py</code></p>" in text
    assert "<li>&lt;script&gt; 0</li>" in text
    assert "<p>and 8 more</p>" in text
    assert "<script" not in text
    assert text.count("Run by no test") == 4


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"tests": [], "modules": []}',
        b'{"tests": [], "modules": {"a": {"f": {"code": "", "total": 1}}}}',
        b'{"tests": [], "modules": {"a": {"f": {"code": "", "tests": []}}}}',
        b'{"tests": [], "modules": {"a": {"f": {"total": 1, "tests": []}}}}',
    ],
)
def test_a_file_that_is_no_record_is_refused(data, tmp_path, capsys):
    (tmp_path / "kiln.py").write_text(KILN)
    (tmp_path / "tests.json").write_bytes(data)
    words = ["page", str(tmp_path / "kiln.py"), "-o", str(tmp_path / "page.html")]
    assert main([*words, "--tests", str(tmp_path / "tests.json")]) == 2
    said = capsys.readouterr().err
    assert "tests.json: is no record of tests; `sidebyside tests` makes one" in said
    assert not (tmp_path / "page.html").exists()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A package whose tests have been run, with what coverage.py has seen."""
    root = tmp_path_factory.mktemp("project")
    (root / "kiln").mkdir()
    (root / "kiln" / "__init__.py").write_text(KILN)
    (root / "tests").mkdir()
    (root / "tests" / "test_kiln.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--cov=kiln"]
    # These tests may be recorded themselves.
    unrecorded = {k: v for k, v in os.environ.items() if not k.startswith("COV")}
    for context in (["--cov-context=test"], []):
        done = subprocess.run(
            [*command, *context, "--cov-report="],
            cwd=root,
            env=unrecorded,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        (root / ".coverage").rename(root / ("seen" if context else "without"))
    return root


def test_from_a_run_of_the_tests_to_a_page(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main(["tests", "kiln", "--coverage", "seen", "-o", "tests.json"]) == 0
    assert not capsys.readouterr().err
    assert main(["tests", "kiln", "--coverage", "seen", "-o", "-"]) == 0
    assert capsys.readouterr().out == Path("tests.json").read_text()
    (project / "mkdocs.yml").write_text(
        "site_name: S\nuse_directory_urls: false\n"
        "theme: {name: material, font: false}\n"
        "plugins:\n  - search\n  - sidebyside: {packages: [kiln], tests: tests.json}\n"
    )
    (project / "docs").mkdir()
    done = build(project)
    assert done.returncode == 0, done.stderr
    html = (project / "site" / "kiln" / "index.html").read_text()
    assert "Run by 4 tests" in html
    assert "<li>it gets hot</li>" in html
    assert "<li>Cooling: it cools</li>" in html
    assert "<p><code>tests/test_kiln.py</code></p>" in html
    assert html.count("Run by no test") == 1
    index = (project / "site" / "search" / "search_index.json").read_text()
    assert "It gets hot" in index
    assert "it gets hot" not in index

    # Of another package, nothing is lost.
    before = Path("tests.json").read_text()
    Path("glaze").mkdir()
    Path("glaze/__init__.py").write_text("def f():\n    return 1\n")
    assert main(["tests", "glaze", "--coverage", "seen", "-o", "tests.json"]) == 2
    assert Path("tests.json").read_text() == before
    assert main(["tests", "kiln", "--coverage", "seen", "-o", "tests.json"]) == 0
    assert Path("tests.json").read_text() == before

    # Of a module that is gone, nothing is kept.
    made = json.loads(before)
    made["modules"]["kiln.gone"] = made["modules"]["kiln"]
    Path("tests.json").write_text(json.dumps(made))
    assert main(["tests", "kiln", "--coverage", "seen", "-o", "tests.json"]) == 0
    assert Path("tests.json").read_text() == before

    # The code of one is another now, and the rest is as it was.
    file = project / "kiln" / "__init__.py"
    file.write_text(KILN.replace("self.heat += degrees", "self.heat += 2 * degrees"))
    assert main(["page", str(file), "-o", "page.html", "--tests", "tests.json"]) == 0
    page = (project / "page.html").read_text()
    assert "Changed since its tests were recorded" in page
    assert "Cooling: it cools" in page
    assert main(["markdown", "kiln", "-o", "out", "--tests", "tests.json"]) == 0
    assert "Cooling: it cools" in (project / "out" / "kiln" / "index.md").read_text()
    file.write_text(KILN)

    Path("tests.json").write_text("[]")
    assert "tests.json: is no record of tests" in build(project).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["kiln"], ".coverage: no such file or folder"),
        (["kiln", "--coverage", "without"], "--cov-context=test"),
        (["kiln", "--coverage", "tests/test_kiln.py"], "tests/test_kiln.py: "),
        (["tests", "--coverage", "seen"], "seen: has seen nothing of these packages"),
        (["kiln/__init__.py", "--coverage", "seen"], "__init__.py: not a folder"),
        (
            ["kiln", "--coverage", "seen", "--exclude", "__init__.py"],
            "seen: has seen nothing of these packages",
        ),
        ([".", "--coverage", "seen"], ".: no package; did you mean "),
    ],
)
def test_what_gives_no_record_is_named(project, words, said, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main(["tests", *words, "-o", "none.json"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not Path("none.json").exists()


def test_a_function_in_one_line_is_run_by_an_import():
    assert bodies(kiln("def f(): return 1\n")) == set()


def test_a_class_of_tests_is_named_without_its_first_word():
    assert in_words("a.py::TestKiln::test_heat") == ("a.py", "Kiln: heat")
    assert in_words("a.py::test_the_latest_test") == ("a.py", "the latest test")
