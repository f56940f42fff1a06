"""The pages of benchmarks say what the records say, and do not build without them."""

import copy
import html
import json
import re

import pytest
from mkdocs.config import load_config
from mkdocs.utils.meta import get_data

from benchmarks import evidence, material
from hooks import results
from hooks.results import VALUE, fill_in, shown
from labml_rl.__main__ import WAITING
from tests.press.sites import build
from tests.site.conftest import ROOT

PAGES = [
    f"benchmarks/{path.stem}"
    for path in sorted((ROOT / "docs" / "benchmarks").glob("*.md"))
]


def markdown_of(page):
    return (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")


def record_of(page):
    _, meta = get_data(markdown_of(page))
    return results.record_of(meta, ROOT / "results")


def rows(text):
    """The rows of all tables of a page, each as the words in its cells."""
    for row in re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL):
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)
        yield [html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in cells]


def spread(taken, digits):
    median, low, high = (
        format(taken[key], digits) for key in ("median", "low", "high")
    )
    return f"{median} ({low}–{high})"


def verdict(met):
    return "met" if met else "missed"


def test_the_page_of_the_press_has_the_numbers_of_its_record(site):
    record = record_of("benchmarks/press")
    text = (site / "benchmarks" / "press.html").read_text(encoding="utf-8")
    found = {row[0]: row[1:] for row in rows(text)}
    assert found["commit"] == [record["commit"]]
    assert found["command"] == [record["command"]]
    for name in ("book", "library"):
        each = record["site"][name]
        assert found[f"the {name}, seconds"] == [
            spread(each["ours"], ".2f"),
            spread(each["peer"], ".2f"),
            format(each["ratio"], ".2f"),
            f"at most 1.5 ({verdict(each['ratio'] <= 1.5)})",
        ]
        each = record["press"][name]
        for words, ours, speed in (
            ("Markdown", each["ours"], each["speedup"]),
            ("HTML", each["to_html"], each["to_html"]["speedup"]),
        ):
            assert found[f"the {name}, to {words}, seconds"] == [
                spread(ours, ".2f"),
                spread(each["peer"], ".2f"),
                format(speed, ".2f"),
                f"at least 3 ({verdict(speed >= 3)})",
            ]
    for each in record["growth"].values():
        assert found[f"{each['lines']:,}"] == [
            spread(each, ".3g"),
            str(each["microseconds_a_line"]),
        ]
    each = record["save"]["book"]
    assert found["one save, seconds"][:2] == [
        spread(each["ours"], ".2f"),
        spread(each["peer"], ".2f"),
    ]
    assert found["one save, seconds"][3].endswith(
        f"({verdict(each['ours']['median'] <= 1)})"
    )
    for name, digits in (("kilobytes", ".0f"), ("shift", ".3f")):
        each = record["weight"][name]
        row = found["weight, kilobytes" if name == "kilobytes" else "layout shift"]
        low, high = (format(each[key], digits) for key in ("low", "high"))
        assert row[:2] == [format(each["median"], digits), f"{low}–{high}"]


@pytest.mark.parametrize("page", PAGES)
def test_no_number_was_typed(page):
    """What is left in the tables without the values has no digit but in targets."""
    for line in markdown_of(page).splitlines():
        if line.startswith("|"):
            names = "Stable-Baselines3|16 bits|32 bits in place of 16"
            words = re.sub(rf"\{{\{{.*?\}}\}}|{names}", "", line)
            assert not re.search(r"\d", words), line


@pytest.mark.parametrize("page", PAGES)
def test_each_value_is_needed(page):
    """Without it, or with another name for it, the page does not build."""
    markdown = markdown_of(page)
    keys = {m["keys"] for m in re.finditer(rf"\{{\{{{VALUE.pattern}\}}\}}", markdown)}
    assert len(keys) > 15
    for each in keys:
        record = copy.deepcopy(record_of(page))
        *way, last = each.split(".")
        holder = record
        for key in way:
            holder = holder[key]
        holder[f"{last}_renamed"] = holder.pop(last)
        with pytest.raises(ValueError, match=re.escape(f"`{last}` is missing")):
            fill_in(markdown, record)


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ("{{ a.c }}", "there is no `a.c`: `c` is missing."),
        ("{{ a }}", "`a` is not a single value."),
        ("{{ a.b | .2q }}", "`{{ a.b | .2q }}`: 1.25 has no format `.2q`."),
        ("{{a.b}}", "`{{a.b}}` names no value."),
    ],
)
def test_a_build_stops_at_what_is_not_in_the_record(tmp_path, asked, complaint):
    (tmp_path / "mkdocs.yml").write_text(
        f"site_name: x\ntheme: mkdocs\nhooks: ['{ROOT / 'hooks' / 'results.py'}']\n"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(
        f"---\nrecord: r.json\n---\n\n{asked}\n"
    )
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "r.json").write_text(json.dumps({"a": {"b": 1.25}}))
    done = build(tmp_path, strict=False)
    assert done.returncode == 1
    assert f"index.md: r.json: {complaint}" in done.stderr
    assert "Traceback" not in done.stderr


def test_other_records_have_names_of_their_own(tmp_path):
    for name in ("mine", "other"):
        (tmp_path / f"{name}.json").write_text(json.dumps({name: 1}))
    meta = {"record": "mine.json", "other_records": {"amd": "other.json"}}
    assert results.record_of(meta, tmp_path) == {"mine": 1, "amd": {"other": 1}}
    meta["other_records"] = {"mine": "other.json"}
    with pytest.raises(ValueError, match=r"mine\.json has a `mine` of its own"):
        results.record_of(meta, tmp_path)


def test_the_page_of_ppo_has_the_numbers_of_the_crowd(site):
    crowd = record_of("benchmarks/policies")["crowd"]
    text = (site / "benchmarks" / "policies.html").read_text(encoding="utf-8")
    found = {row[0]: row[1:] for row in rows(text)}
    for words, name in (
        ("this book, as labml-rl waits", "short"),
        ("this book, as PyTorch waits", "long"),
        ("this book, with a single thread", "single"),
    ):
        crowds = ("alone", "beside", "twice")
        assert found[words] == [spread(crowd[each][name], ",.0f") for each in crowds]
    assert crowd["waiting"] == WAITING


@pytest.mark.parametrize("page", [*PAGES, "results"])
def test_the_first_cell_says_what_a_row_is_of(site, page):
    text = (site / f"{page}.html").read_text(encoding="utf-8")
    body = [part.split("</tbody>")[0] for part in text.split("<tbody>")[1:]]
    rows = [row for part in body for row in part.split("<tr>")[1:]]
    assert len(rows) > 5
    assert all(re.match(r'\s*<th scope="row"', row) for row in rows)


@pytest.mark.parametrize(
    ("value", "target", "words"),
    [
        (1.5, "<=1.5", "at most 1.5 (met)"),
        (1.51, "<=1.5", "at most 1.5 (**missed**)"),
        (0.7, "<=.5", "at most 0.5 (**missed**)"),
        (-2, "<=-1", "at most −1 (met)"),
        (1, ">=1", "at least 1 (met)"),
        (0.99, ">=1", "at least 1 (**missed**)"),
        (7000, "<=7500", "at most 7,500 (met)"),
    ],
)
def test_a_target_is_judged_by_the_record(value, target, words):
    assert shown(value, target) == words


@pytest.mark.parametrize("whole", [False, True])
def test_the_sites_that_are_timed_have_all_that_they_ask_for(tmp_path, whole):
    modules = material.Modules(material.book().modules[:2])
    ours, peer = material.book_sites(modules, tmp_path, whole)
    for site, plugin in ((ours, True), (peer, False)):
        config = load_config(str(site.folder / "mkdocs.yml"))
        assert ("sidebyside" in config.plugins) == plugin
        assert ("mkdocstrings" in config.plugins) == (plugin and whole)
        if not whole:
            site.build()
            assert (site.folder / "site" / "index.html").exists()


@pytest.fixture(scope="module")
def runs():
    return record_of("results")


def words_of(command: str) -> str:
    words = " ".join(f"<span>{word}</span>" for word in command.split())
    return f'<code class="book-command">{words}</code>'


def test_a_run_has_a_table(runs):
    page = fill_in("{{ table of ppo.pong.seed-1 }}", runs)
    run = runs["ppo"]["pong"]["seed-1"]
    assert f">The record of {words_of(run['command'])}</summary>" in page
    rows = [row for row in page.splitlines() if row.startswith("| ")]
    table = dict(row.strip("| ").split(" | ") for row in rows)
    changed = "yes" if run["uncommitted_changes"] else "no"
    assert table["changes beyond that commit"] == changed
    assert table["files of its code that have changed since then"] == run["code"]
    hours = f"{run['hours']:.2f} hours"
    assert table["frames"].startswith(f"{run['frames']:,} in {hours}, ")
    mean, error = run["mean"], run["standard_error"]
    scored = f"{mean:.1f} ± {error:.1f} (standard error)"
    assert table[f"the agent's mean of {run['games']} games"] == scored
    assert "by evaluation" not in page


def test_a_short_run_took_minutes(runs):
    page = fill_in("{{ table of small-ppo.cartpolev1.seed-1 }}", runs)
    minutes = runs["small-ppo"]["cartpolev1"]["seed-1"]["minutes"]
    assert f" in {minutes:.1f} minutes, " in page


def test_a_command_does_not_say_where_its_runs_were_kept(runs):
    command = runs["fast-dqn"]["mspacman"]["seed-2"]["command"]
    assert command == (
        "python -m labml_rl.dqn.mspacman --total-frames 5_000_000 --seed 2"
    )


def test_the_best_of_a_run_is_in_its_table(runs):
    page = fill_in("{{ table of fast-dqn.mspacman.seed-1 }}", runs)
    best = runs["fast-dqn"]["mspacman"]["seed-1"]["best"]
    assert f"| that after {best['millions']:.1f} million frames, with" in page
    assert f"| its mean of {best['games']} other games | {best['mean']:,.1f} ±" in page


def test_a_number_below_zero_has_a_minus_sign(runs):
    page = fill_in("{{ fast-dqn.pong.seed-1.lowest | .0f }}", runs)
    assert page == "−8"
    run = fill_in("{{ table of fast-dqn.pong.seed-1 }}", runs)
    assert words_of("labml-rl train fast-dqn").removesuffix("</code>") in run


def test_a_command_is_not_cut_within_a_word():
    page = fill_in("{{ a | command }}", {"a": "train --rate 1e-3 && echo '<b>'"})
    assert page == words_of("train --rate 1e-3 &amp;&amp; echo &#x27;&lt;b&gt;&#x27;")


def test_each_kept_run_is_on_the_page_of_results(runs):
    """With a table, and a row in the one of all runs."""
    page = markdown_of("results")
    for algorithm, games in runs.items():
        for game, seeds in games.items() if algorithm != "five" else ():
            for seed in seeds:
                keys = f"{algorithm}.{game}.{seed}"
                assert f"\n{{{{ table of {keys} }}}}\n" in page
                in_five = rf"{keys}\.mean \| ,\.1f }}}} ±"
                assert re.search(rf"\| {{{{ (score of {keys} }}}} \||{in_five})", page)


def test_a_run_has_cells_that_say_what_it_has_come_to(runs):
    run = runs["ppo"]["pong"]["seed-1"]
    assert fill_in("{{ score of ppo.pong.seed-1 }}", runs).split(" | ") == [
        f"{run['mean']:.1f} ± {run['standard_error']:.1f}",
        f"{run['human_normalised']:.0%}",
        f"{run['frames']:,}",
        f"{run['hours']:.2f}",
    ]
    small = runs["small-rnd"]["deepseav0"]["seed-14"]
    assert fill_in("{{ score of small-rnd.deepseav0.seed-14 }}", runs).split(" | ") == [
        "−0.0005 ± 0",
        f"{small['frames']:,}",
        f"{small['minutes']:.1f}",
    ]


def test_a_run_has_cells_that_say_how_far_it_had_got():
    record = {"run": {"on_the_way": {"1": -20.44, "2": 99.5, "10": 1234.5}}}
    page = fill_in("| {{ milestones of run }} |", record)
    assert page == "| −20.4 | 99.5 |  |  |  | 1,234 |  |  |"
    assert tuple(map(int, results.MILESTONES)) == evidence.MILESTONES


def test_small_scores_have_the_digits_that_they_need(runs):
    for keys, shown_as in (
        ("small-rnd.deepseav0.seed-11", "0.99; 0.99, 0.99"),
        ("small-rnd.deepseav0.seed-14", "−0.0005; −0.0005, −0.0005"),
        ("small-ppo.cartpolev1.seed-1", "500.0; 500, 500"),
    ):
        assert shown_as in fill_in(f"{{{{ table of {keys} }}}}", runs)


@pytest.mark.parametrize("what", ["table", "score", "milestones"])
@pytest.mark.parametrize(
    ("keys", "complaint"),
    [
        ("ppo.tetris.seed-1", r"`ppo\.tetris\.seed-1(\.\w+)?`: `tetris` is missing\."),
        ("ppo.pong", r"`ppo\.pong\.\w+`: `\w+` is missing\."),
        ("ppo.pong.seed-1.frames", r"`ppo\.pong\.seed-1\.frames\.\w+`: "),
    ],
)
def test_nothing_is_said_of_a_run_that_is_not_there(runs, what, keys, complaint):
    with pytest.raises(ValueError, match=f"there is no {complaint}"):
        fill_in(f"{{{{ {what} of {keys} }}}}", runs)
