"""The reference and the annotated pages lead to each other; no name comes twice."""

import re
from collections import Counter

import griffe
import pytest

from sidebyside.prose import Prose
from sidebyside.reference import AnnotatedPages, digest, without_links


@pytest.mark.parametrize("package", ["labml_rl", "sidebyside"])
def test_each_definition_leads_to_its_entry_and_back(site, package):
    entries = {
        (page.name, name): text
        for page in (site / "reference").glob(f"{package}*.html")
        for name, text in re.findall(
            r'<h\d id="([\w.]+)" class="doc doc-heading">(.*?)(?=<h\d id=|\Z)',
            page.read_text(encoding="utf-8"),
            re.DOTALL,
        )
    }
    checked = 0
    for page in sorted((site / package).glob("*.html")):
        text = page.read_text(encoding="utf-8")
        for section in text.split('<section class="sbs-row"')[1:]:
            link = re.search(r'class="sbs-entry"[^>]*href="([^"]*)"', section)
            if not link:
                continue
            anchor = section.split('id="', 1)[1].split('"', 1)[0]
            address, _, name = link[1].partition("#")
            entry = entries[address.removeprefix("../reference/"), name]
            assert f'href="../{package}/{page.name}#{anchor}"' in entry, name
            checked += 1
    assert checked > 10


def test_no_name_is_defined_twice(site):
    for page in site.rglob("*.html"):
        ids = re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8"))
        twice = [name for name, count in Counter(ids).items() if count > 1]
        assert not twice, (page.name, twice)


def test_the_reference_has_the_signature_the_types_and_the_arguments(site):
    text = (site / "reference" / "labml_rl.screen.html").read_text(encoding="utf-8")
    entry = text.split('id="labml_rl.screen.preprocess"')[1].split("<h")[0]
    words = re.sub(r"<[^>]+>", "", entry)
    assert "crop_scoreboard" in words
    assert "Args:" not in words, "they are set as a list"
    assert "bool" in words
    assert "First the maximum, then grey, then the new size." in words
    assert "it is the output array" not in words.lower(), "the rest is on the page"


def is_of(module, name):
    """Names of classes begin with capitals, and those of modules do not."""
    parts = name.split(".")
    last = next((i for i, part in enumerate(parts) if part[0].isupper()), -1)
    return module == ".".join(parts[:last])


def entry_of(site, name):
    pages = (site / "reference").glob("*.html")
    (page,) = (each for each in pages if is_of(each.stem, name))
    text = page.read_text("utf-8")
    entry = text.split(f'id="{name}" class="doc doc-heading"')[1].split("<h")[0]
    return " ".join(re.sub(r"<[^>]+>", "", entry).split())


def test_what_is_returned_is_one_thing(site):
    entry = entry_of(site, "labml_rl.batch.Games.step")
    assert "and the same key with an underscore says which of them count" in entry


def test_a_sentence_that_announces_a_formula_has_it(site):
    assert "its advantage: ρ" in entry_of(site, "labml_rl.ppo.clipped_policy_loss")
    assert "many games, σn" in entry_of(
        site, "labml_rl.watch.scores.Result.standard_error"
    )
    entry = entry_of(site, "labml_rl.process.Worker")
    assert "an environment for example. Parameters:" in entry


def test_a_picture_is_not_what_is_said_of_a_thing(site):
    entry = entry_of(site, "labml_rl.mistakes.WrongSign.make_batch")
    assert "The annotated code The agent learns, and well" in entry


def test_variables_are_shortened_too(site):
    text = (site / "reference" / "sidebyside.split.html").read_text(encoding="utf-8")
    entry = text.split('id="sidebyside.split.CELL"')[1].split("<h2")[0]
    assert "Editors and Jupytext mark the cells" in entry
    assert "<h6" not in text
    link = 'href="../sidebyside/split.html#CELL"'
    assert f"<a {link}>The annotated code</a>" in entry


def test_links_become_words_and_code_stays():
    text = "In [the game](game.py), `infos['a']['b']` and [Game.step][] have [it][x]."
    assert without_links(text) == (
        "In the game, `infos['a']['b']` and Game.step have it."
    )


def docstrings(names, folder, **options):
    """What modules say in the reference of their package."""
    read = griffe.load(
        "kiln",
        search_paths=[folder],
        extensions=griffe.load_extensions(AnnotatedPages(**options)),
    )
    return [getattr(read[name].docstring, "value", "") for name in names]


def test_a_namespace_is_a_package_too(tmp_path):
    (tmp_path / "kiln" / "hot").mkdir(parents=True)
    text = '"""\n---\nsummary: First.\n---\n\nSecond.\n"""\n'
    (tmp_path / "kiln" / "hot" / "__init__.py").write_text(text)
    (said,) = docstrings(["hot"], tmp_path)
    assert said == "[The annotated code](../kiln/hot/index.md)\n\nFirst."


@pytest.mark.parametrize("pattern", ["tests", "kiln/tests/*", "src/kiln/tests/*"])
def test_what_has_no_page_keeps_its_docstrings(tmp_path, monkeypatch, pattern):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "src"
    package = folder / "kiln"
    (package / "tests").mkdir(parents=True)
    for name in ("__init__", "tests/__init__", "tests/heat"):
        (package / f"{name}.py").write_text('"""First.\n\nSecond."""\n')
    (package / "hot.py").write_text('"""First."""\n')
    hot, heat = docstrings(["hot", "tests.heat"], folder, exclude=[pattern])
    assert "The annotated code" in hot
    assert heat == "First.\n\nSecond."


def test_what_is_kept_of_a_docstring():
    def kept(text):
        return digest(Prose(tuple(enumerate(text.split("\n"), start=1))))

    assert kept("It is so.\n\n$$x$$") == "It is so.\n"
    assert kept("![A wave](a.png)\n\nA wave.") == "A wave.\n"
    assert kept("What it does:\n\n- this") == "What it does.\n"
    assert without_links("[a](b.md) [c](https://d.org)") == "a [c](https://d.org)"
