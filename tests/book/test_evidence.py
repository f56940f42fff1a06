"""What is kept of runs, and what the site says of them."""

import csv
import json
import re
import shutil
from collections import Counter
from dataclasses import asdict
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree as Xml

import numpy as np
import pytest
from PIL import Image

from benchmarks import evidence, shelf
from benchmarks.record import ROOT, text
from figures import curves
from figures.drawing import FOLDER
from hooks.results import on_pre_build, with_state_of_code
from labml_rl import watch
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.fingerprint import fingerprint
from labml_rl.ppo.experiment import Experiment, Settings
from labml_rl.runs import train
from labml_rl.runs.command import experiment_of
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.picture import HEIGHT, WIDTH
from labml_rl.watch.scores import measure
from labml_rl.watch.video import Video

README = ROOT / "README.md"
KEPT_AGENTS = sorted(shelf.KEPT.glob("*/*/*/checkpoint.safetensors"))
SETTINGS = Settings(
    game="CartPole-v1",
    workers=0,
    total_frames=2_000,
    evaluate_every_frames=1_000,
    steps=32,
    minibatches=1,
    seed=3,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "cart"
    train(Experiment, SETTINGS, folder=folder)
    # Where the book was unpacked from a ZIP, it has none.
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    record["sessions"][0]["commit"] = "0123456789abcdef" * 2 + "01234567"
    (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return folder


@pytest.fixture
def kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(evidence, "FILMS", tmp_path / "films")
    evidence.keep(folder, agent=True)
    return tmp_path / "kept" / "ppo" / "cartpolev1" / "seed-3"


def test_all_switches_of_dqn_are_in_the_name_of_a_run():
    kinds = DQNSettings.__annotations__.items()
    switches = {name for name, kind in kinds if kind is bool}
    assert switches | {"quantiles"} == {*shelf.PARTS}, "add it to PARTS"


def test_each_run_is_kept_under_what_it_is():
    for path in shelf.KEPT.glob("*/*/*/run.json"):
        assert shelf.kind_of(json.loads(path.read_text())) == path.parts[-4]


@pytest.mark.parametrize(
    ("algorithm", "settings", "kind"),
    [
        ("fast-dqn", {"double": True}, "fast-dqn"),
        ("fast-dqn", {"double": False}, "fast-dqn-no-double"),
        ("fast-dqn", {"dueling": True, "quantiles": 8}, "fast-dqn-dueling-quantiles"),
        ("dqn", {"double": True}, "dqn-double"),
        ("rainbow", {"noisy": False, "epsilon_end": 0.1}, "rainbow-no-noisy"),
    ],
)
def test_parts_that_are_switched_make_a_run_another(algorithm, settings, kind):
    record = {"algorithm": algorithm, "settings": settings}
    assert shelf.kind_of(record) == kind


def test_a_run_is_kept_as_it_was(folder, kept):
    for name in ("run.json", "progress.csv"):
        assert (kept / name).read_bytes() == (folder / name).read_bytes()
    scores = json.loads((kept / "scores.json").read_text())
    assert len(scores["points"]) == evidence.GAMES
    points = np.array(scores["points"])
    assert scores["mean"] == pytest.approx(points.mean())
    assert scores["median"] == np.median(points)
    error = points.std(ddof=1) / len(points) ** 0.5
    assert scores["standard_error"] == pytest.approx(error)


def test_an_agent_that_is_kept_scores_the_same(kept):
    agent = Saved.of(kept, Experiment)
    scores = json.loads((kept / "scores.json").read_text())
    result = measure(agent, Protocol(**scores["protocol"]), games=evidence.GAMES)
    assert list(result.points) == scores["points"]


def test_the_agent_of_the_readme_is_there():
    (promised,) = re.findall(r"labml-rl watch (results/\S+)", README.read_text())
    assert ROOT / promised / "checkpoint.safetensors" in KEPT_AGENTS


@pytest.mark.parametrize("path", KEPT_AGENTS, ids=lambda path: path.parts[-4])
def test_agents_of_the_book_can_be_watched(path):
    """Thirty seconds of a game, in which an agent that learned nothing has a point."""
    saved = Saved.of(path.parent, experiment_of(path.parent))
    result = measure(saved, Protocol(frames_cap=1_800), games=1, workers=0)
    assert result.points[0] >= 5


def test_the_summary_says_what_the_record_says(kept):
    found = evidence.sum_up()["ppo"]["cartpolev1"]["seed-3"]
    record = json.loads((kept / "run.json").read_text())
    assert found["frames"] == record["frames"] >= SETTINGS.total_frames
    assert found["hours"] * 3600 == pytest.approx(record["seconds"])
    assert found["minutes"] * 60 == pytest.approx(record["seconds"])
    assert found["commit"] == record["sessions"][0]["commit"][:12]
    with (kept / "progress.csv").open() as file:
        last = list(csv.DictReader(file))[-1]
    assert found["last_hundred"] == float(last["return_mean"])


def test_a_run_may_have_been_of_two_commits(kept):
    """What has changed in between is not the code of today, whichever that is."""
    record = json.loads((kept / "run.json").read_text())
    (first,) = record["sessions"]
    second = json.loads(json.dumps(first)) | {"commit": "f" * 40}
    second["sources"]["labml_rl/speed.py"] = "another"
    record["sessions"].append(second)
    (kept / "run.json").write_text(json.dumps(record))
    found = evidence.sum_up()["ppo"]["cartpolev1"]["seed-3"]
    assert found["commit"] == f"{first['commit'][:12]}, then {'f' * 12}"
    was = first["sources"]
    assert found["sources"] == was | {
        "labml_rl/speed.py": f"{was['labml_rl/speed.py']}, then another"
    }


def test_a_film_is_kept_with_a_still(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(evidence, "FILMS", tmp_path / "films")
    shades = np.arange(9, dtype=np.uint8) * 20
    with Video(folder / "film.mp4", 15) as film:
        for shade in shades:
            film.add(np.full((HEIGHT, WIDTH, 3), shade))
    evidence.keep(folder)
    kept = tmp_path / "films" / "run-ppo-cartpolev1-seed-3.mp4"
    assert kept.read_bytes() == (folder / "film.mp4").read_bytes()
    with Image.open(kept.with_suffix(".webp")) as still:
        assert still.size == (WIDTH, HEIGHT)
        colours = np.asarray(still.convert("RGB"))
        assert np.abs(colours - float(shades[6])).max() < 5
    (folder / "film.mp4").unlink()


def test_a_folder_holds_one_run(folder, kept, tmp_path):
    """What an earlier run of this name has left would be taken for that of this one."""
    assert (kept / "checkpoint.safetensors").exists()
    new = tmp_path / "new"
    shutil.copytree(folder, new)
    for name in ("evaluations.csv", "best.safetensors"):
        (new / name).unlink()
    evidence.keep(new)
    names = {each.name for each in kept.iterdir()}
    assert names == {"run.json", "progress.csv", "scores.json"}


def test_a_run_in_which_no_game_has_ended_is_not_kept(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(evidence, "FILMS", tmp_path / "films")
    new = tmp_path / "new"
    shutil.copytree(folder, new)
    progress = new / "progress.csv"
    with progress.open(newline="") as file:
        rows = [row | {"return_mean": ""} for row in csv.DictReader(file)]
    with progress.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(SystemExit, match="no game has ended"):
        evidence.keep(new)
    assert not (tmp_path / "kept").exists()


def test_a_flat_curve_is_drawn(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "curve_of", lambda _: [(0.0, 7.0), (8.0, 7.0)])
    monkeypatch.setattr(shelf, "evaluations_of", lambda _: [])
    assert "nan" not in curves.draw(kept)


def test_the_best_is_measured_again(kept):
    with (kept / "evaluations.csv").open() as file:
        looks = list(csv.DictReader(file))
    found = evidence.sum_up()["ppo"]["cartpolev1"]["seed-3"]
    assert found["evaluations"] == len(looks) == 2
    highest = max(looks, key=lambda row: float(row["return_mean"]))
    assert found["best"]["chosen_with"] == float(highest["return_mean"])
    assert found["best"]["millions"] == float(highest["frames"]) / 1e6
    again = json.loads((kept / "scores-best.json").read_text())
    assert found["best"]["mean"] == again["mean"] != found["best"]["chosen_with"]
    assert len(again["points"]) == evidence.GAMES
    assert again["frames"] == int(highest["frames"])


def test_the_curve_is_drawn_from_the_record(kept):
    (figure,) = curves.figures().values()
    assert figure.count("<circle") == 2  # one for each evaluation
    points = figure.split("stroke-width")[0].count("L")
    assert ">PPO, CartPole<" in figure
    assert ", seed 3<" in figure
    assert points >= len(shelf.curve_of(kept)) - 1


def test_a_mark_far_above_a_curve_is_written_and_not_drawn(kept, monkeypatch):
    monkeypatch.setitem(shelf.PUBLISHED, "cartpolev1", {"human": 9e5, "random": 1})
    (figure,) = curves.figures().values()
    assert "above: human 900,000<" in figure
    assert figure.count("stroke-dasharray") == 1


def test_marks_that_are_close_together_are_named_together(kept, monkeypatch):
    monkeypatch.setitem(shelf.PUBLISHED, "cartpolev1", {"random": 1, "human": 1.01})
    (figure,) = curves.figures().values()
    assert ">human 1.01; random 1<" in figure
    assert figure.count("stroke-dasharray") == 2


def texts_and_curves(path):
    """Each text of a figure with its box, and the points of all lines not dashed."""
    root = Xml.parse(path).getroot()
    paths = root.iter("{http://www.w3.org/2000/svg}path")
    points = [
        tuple(map(float, point.split()))
        for each in paths
        if not each.get("stroke-dasharray")
        for point in each.attrib["d"][1:].split("L")
    ]
    for each in root.iter("{http://www.w3.org/2000/svg}text"):
        x, y, size = (float(each.attrib[key]) for key in ("x", "y", "font-size"))
        words = each.text or ""
        wide = 0.5 * size * len(words)
        left = (
            x - {"start": 0, "middle": 0.5, "end": 1}[each.attrib["text-anchor"]] * wide
        )
        yield words, (left, left + wide, y - 0.8 * size, y), points


@pytest.mark.parametrize("path", sorted(FOLDER.glob("run-*.svg")), ids=lambda p: p.stem)
def test_no_curve_strikes_words_out(path):
    texts = list(texts_and_curves(path))
    assert len(texts) > 5
    for words, (left, right, top, bottom), points in texts:
        inside = [p for p in points if left < p[0] < right and top < p[1] < bottom]
        assert not inside, words


@pytest.mark.parametrize(("planned", "shown"), [(3, 10), (10, 10), (11, 40), (99, 0)])
def test_a_curve_is_drawn_beside_runs_with_the_same_plan(
    tmp_path, monkeypatch, planned, shown
):
    monkeypatch.setattr(shelf, "KEPT", tmp_path)
    for seed, total in enumerate((10, 40, 10, 40)):
        folder = tmp_path / "a2c" / "pong" / f"seed-{seed}"
        folder.mkdir(parents=True)
        record = {"settings": {"total_frames": total}}
        (folder / "run.json").write_text(json.dumps(record))
        (folder / "progress.csv").write_text(f"frames,return_mean\n{total},{seed}\n")
    curves = [shelf.curve_of(each) for each in shelf.runs_of("a2c", "pong", planned)]
    seen = [(frames, seed) for ((frames, seed),) in curves]
    every = [(10, 0), (40, 1), (10, 2), (40, 3)]
    assert seen == [each for each in every if shown in (0, each[0])]


@pytest.mark.parametrize(
    ("game", "front", "others", "curves"),
    [
        ("breakout", 1, {"seeds 2 and 3"}, 3),
        ("roadrunner", 2, {"seeds 1 and 3"}, 3),
        ("mspacman", 1, {"seeds 2 and 3", "DQN"}, 5),
        ("pong", 1, {"seeds 2 and 3", "DQN"}, 5),
    ],
)
def test_seeds_that_are_drawn_together_have_one_figure(game, front, others, curves):
    (figure,) = FOLDER.glob(f"run-drq-{game}-*.svg")
    words = {words for words, *_ in texts_and_curves(figure)}
    assert others | {f"mean score, last 100 games, seed {front}"} < words
    dashed = figure.read_text().count("stroke-dasharray")
    assert figure.read_text().count("<path") == dashed + curves


@pytest.mark.parametrize(
    ("low", "high", "numbers"),
    [
        (-20.7, 20.7, [-20, -10, 0, 10, 20]),
        (1.7, 434, [100, 200, 300, 400]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (70, 270, [100, 150, 200, 250]),
    ],
)
def test_an_axis_has_round_numbers(low, high, numbers):
    assert curves.round_numbers(low, high) == pytest.approx(numbers)


def test_all_that_is_kept_is_on_the_site():
    """After another run is kept, `python -m benchmarks.evidence` brings it there."""
    assert evidence.SUMMARY.read_text() == text(evidence.sum_up()) + "\n"
    for name, figure in curves.figures().items():
        assert (FOLDER / name).read_text() == figure


CURVE = re.compile(r"ends at\s+(\S+)\]\([^)]*/run-(.*)-(\w+)-(seed-\d+)\.svg\)")


def test_who_hears_of_a_curve_hears_where_it_ends():
    runs = json.loads((ROOT / "results" / "runs.json").read_text())
    found = [
        match
        for path in (ROOT / "labml_rl").rglob("*.py")
        for match in CURVE.findall(path.read_text(encoding="utf-8"))
    ]
    assert len(found) > 5
    for said, algorithm, game, seed in found:
        ended = f"{runs[algorithm][game][seed]['last_hundred']:,.0f}"
        assert said == ended.replace("-", "−")


def test_code_that_has_changed_is_called_so(tmp_path):
    (tmp_path / "a.py").write_text("a")
    record = {"run": {"sources": {"a.py": fingerprint("a  # that is all")}}}
    assert with_state_of_code(record, tmp_path)["run"]["code"] == "none"
    (tmp_path / "a.py").write_text("b")
    on_pre_build()
    found = with_state_of_code(record, tmp_path)["run"]["code"]
    assert found == "1 of 1"
    (tmp_path / "a.py").write_text("a = (")
    on_pre_build()
    assert with_state_of_code(record, tmp_path)["run"]["code"] == found
    (tmp_path / "a.py").unlink()
    on_pre_build()
    assert with_state_of_code(record, tmp_path)["run"]["code"] == found


def test_prose_does_not_change_a_fingerprint_and_code_does():
    plain = "def f(x):\n    return 2 * x\n"
    prose = (
        '"A module."\n\n# Why?\ndef f(x):\n'
        "    '''Twice.'''\n\n    # So.\n    return 2 * x\n"
    )
    assert fingerprint(prose) == fingerprint(plain)
    for other in ("3 * x", "2 * y", "2 * x, 'Twice.'", "2 + x"):
        assert fingerprint(plain.replace("2 * x", other)) != fingerprint(plain)
    # The same with every version of Python, or the site would say that code changed.
    anything = (
        "def f(x, /, *, y=()):\n    return [f'{x!r:>{y}}' for _ in ()]\n\n\n"
        "class A:\n    def g(self):\n        pass\n"
    )
    assert fingerprint(anything) == "fcc017541d97793b"
    assert fingerprint("x = 'a, type_params=[]'") != fingerprint("x = 'a'")
    only = "class A:\n    'Nothing else.'\n"
    assert fingerprint(only) != fingerprint(only + "\n    b = 1\n")


def test_the_score_in_the_readme_is_the_recorded_one():
    seeds = json.loads(evidence.SUMMARY.read_text())["ppo"]["breakout"]
    said = " ".join(README.read_text().split())
    long = [each for each in seeds.values() if each["millions"] >= 40]
    *scores, last = (f"{each['mean']:.0f}" for each in long)
    first = ", ".join(scores)
    assert f"PPO scores {first} and {last} points with three seeds" in said
    summary = seeds["seed-1"]
    assert f"after {summary['millions']:.0f} million frames" in said
    for who in ("random", "human"):
        assert f"{summary['published'][who]:g}" in said


def test_a_human_normalised_score_is_1_where_the_human_is(kept, monkeypatch):
    mean = json.loads((kept / "scores.json").read_text())["mean"]

    def normalised(**marks: float) -> Any:
        monkeypatch.setitem(shelf.PUBLISHED, "cartpolev1", marks)
        found = evidence.sum_up()["ppo"]["cartpolev1"]["seed-3"]
        return found.get("human_normalised")

    assert normalised(random=mean - 30, human=mean) == pytest.approx(1)
    assert normalised(random=mean, human=mean + 30) == pytest.approx(0)
    assert normalised(random=mean - 60, human=mean - 30) == pytest.approx(2)
    assert normalised(human=mean) is None


def test_settings_are_kept(kept):
    record = json.loads((kept / "run.json").read_text())
    assert record["settings"] == asdict(SETTINGS.decided())


@pytest.mark.parametrize(
    ("run", "game", "seed", "times"),
    [
        *(("drq", "mspacman", seed, n) for seed, n in ((1, 28), (2, 26), (3, 23))),
        *(("drq", "breakout", seed, n) for seed, n in ((1, 26), (2, 27), (3, 30))),
        ("pqn", "mspacman", 1, 24),
    ],
)
def test_many_games_with_four_beginnings_are_the_same(run, game, seed, times):
    """Of agents that nearly always take the best action."""
    file = shelf.KEPT / run / game / f"seed-{seed}" / "scores.json"
    points = Counter(json.loads(file.read_text())["points"])
    assert points.total() == 30
    assert sum(count for _, count in points.most_common(4)) == times


def test_the_page_on_watching_has_the_score_of_thirty_games():
    """Beside that of eight, which is higher by chance."""
    file = shelf.KEPT / "ppo" / "breakout" / "seed-1" / "scores.json"
    scores = json.loads(file.read_text())
    said = f"[{scores['mean']:.0f} ± {scores['standard_error']:.0f}]"
    assert f"the same agent has {said}" in " ".join((watch.__doc__ or "").split())


def test_the_scores_on_the_page_of_drq_are_the_recorded_ones():
    page = " ".join((ROOT / "labml_rl/dqn/drq.py").read_text().split())
    runs = [*(shelf.KEPT / "drq").glob("*/*")]
    games = Counter(each.parent.name for each in runs)
    assert games == {"breakout": 3, "pong": 3, "mspacman": 3, "roadrunner": 3}
    for run in runs:
        game = run.parent.name
        scores = json.loads((run / "scores.json").read_text())
        digits = 0 if scores["mean"] > 100 else 1
        mean, error = scores["mean"], scores["standard_error"]
        said = f"{mean:,.{digits}f} ± {error:.{digits}f}".replace("-", "−")
        published = shelf.PUBLISHED[game]["drq"]
        assert said in page
        assert f" {published:,.{digits}f}".replace(" -", " −") in page


def test_how_far_apart_seeds_of_drq_can_be():
    """In Road Runner and Ms. Pac-Man, in thirty games of each agent."""
    files = sorted((shelf.KEPT / "drq/roadrunner").glob("*/scores.json"))
    first, second, _ = (json.loads(file.read_text()) for file in files)
    assert second["mean"] / first["mean"] == pytest.approx(4, abs=0.1)
    assert second["mean"] > 2 * shelf.PUBLISHED["roadrunner"]["human"]
    assert 1.9 < min(second["points"]) / max(first["points"]) < 2

    folders = sorted((shelf.KEPT / "drq/mspacman").iterdir())
    means = [json.loads((each / "scores.json").read_text())["mean"] for each in folders]
    curves = [shelf.curve_of(each)[-1][1] for each in folders]
    published = shelf.PUBLISHED["mspacman"]["drq"]
    assert [mean > published for mean in means] == [False, False, True]
    assert 1.8 < max(means) / min(means) < 2
    assert means.index(max(means)) != curves.index(max(curves))


def test_how_much_sooner_drq_is_where_dqn_gets():
    """In Ms. Pac-Man, by the last hundred games of training."""
    frames, score = shelf.curve_of(shelf.KEPT / "drq/mspacman/seed-1")[-1]
    for seed, times in ((1, 4), (2, 8)):
        slow = shelf.curve_of(shelf.KEPT / f"fast-dqn/mspacman/seed-{seed}")
        there = next(at for at, mean in slow if mean >= score)
        assert times < there / frames < times + 1
        _, then = min(slow, key=lambda each: abs(each[0] - frames))
        for run in (shelf.KEPT / "drq/mspacman").iterdir():
            _, reached = shelf.curve_of(run)[-1]
            assert reached / then > 2.5


def test_what_the_page_says_of_drq_in_pong():
    folders = sorted((shelf.KEPT / "drq/pong").iterdir())
    files = (folder / "scores.json" for folder in folders)
    first, *others = (json.loads(file.read_text()) for file in files)
    assert first["points"].count(-13) in (13, 14)
    even = [abs(points) <= 1 for points in first["points"]]
    assert sum(even) == 6
    for each in others:
        assert max(each["points"]) <= -10  # no game that was cut off
        assert 1 < 21 + each["mean"] < 4  # a few points a game
    for folder in folders:
        with (folder / "progress.csv").open() as file:
            *_, last = csv.DictReader(file)
        assert int(last["episodes"]) < 110


def test_what_the_page_says_of_drq_in_breakout():
    folders = sorted((shelf.KEPT / "drq/breakout").iterdir())
    for folder in folders:
        frames, score = shelf.curve_of(folder)[-1]
        for slow in (shelf.KEPT / "ppo/breakout").glob("seed-[123]"):
            curve = shelf.curve_of(slow)
            there = next(at for at, mean in curve if mean >= score)
            assert 3 < there / frames < 6.5
        assert json.loads((folder / "scores.json").read_text())["mean"] > score

    # A single game of the third run, and none of those that its agent plays in the end.
    with (folders[2] / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    one = [
        float(after["return_mean"] or 0) - float(before["return_mean"] or 0)
        for before, after in pairwise(rows)
        if int(before["episodes"]) + 1 == int(after["episodes"]) > 100
    ]
    assert 3.5 < max(one) < 4
    points = json.loads((folders[2] / "scores.json").read_text())["points"]
    assert set(points) == {3, 12, 15, 37}


def test_what_the_page_says_of_the_best_of_the_second_seed():
    """It had the highest mean of ten, and scores less than the last agent."""
    folder = shelf.KEPT / "fast-dqn" / "mspacman" / "seed-2"
    looks = dict(shelf.evaluations_of(folder))
    best, last = (
        json.loads((folder / f"{name}.json").read_text())
        for name in ("scores-best", "scores")
    )
    assert len(looks) == 10
    assert max(looks, key=looks.__getitem__) == best["frames"]
    assert best["mean"] < last["mean"]


def test_the_best_plays_for_its_own_scores(folder, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(shelf, "KEPT", tmp_path)
    monkeypatch.setattr(Saved, "of", lambda *_, best=False: best)
    monkeypatch.setattr(
        evidence, "score", lambda best, path: seen.append((path.name, best))
    )
    evidence.keep(folder)
    assert seen == [("scores.json", False), ("scores-best.json", True)]
