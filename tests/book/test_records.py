"""What the benchmarks make of their samples, by hand."""

import json
from dataclasses import replace
from itertools import combinations
from statistics import mean, median
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import (
    crowd,
    games,
    gpu,
    lag,
    mistakes,
    peer_curves,
    policies,
    record,
    tricks,
    values,
)
from benchmarks.games_players import Task
from benchmarks.record import ROOT
from tests.book.test_sampling import counters

FOLDER = ROOT / "results" / "benchmarks"
RECORDS = sorted(FOLDER.glob("*.json"))


def parts(value):
    """All objects in a record."""
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from parts(each)


def about(number):
    return pytest.approx(number, rel=0.006)  # three digits


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_sums_up_its_samples(path):
    found = json.loads(path.read_text(encoding="utf-8"))
    for each in parts(found):
        if taken := each.get("samples"):
            assert each["median"] == pytest.approx(median(taken))
            assert (each["low"], each["high"]) == (min(taken), max(taken))
        for key, ours in (("ours_is_times", "ours"), ("short_is_times", "short")):
            for peer in each.values():
                if ours in each and isinstance(peer, dict) and key in peer:
                    assert peer[key] == about(each[ours]["median"] / peer["median"])
        if "ours_is_times_the_fastest" in each:
            peers = [each[name] for name in values.PEERS]
            rates = [peer.get("steps", peer)["ours_is_times"] for peer in peers]
            assert each["ours_is_times_the_fastest"] == min(rates)
        if "microseconds_a_line" in each:
            assert each["microseconds_a_line"] == about(
                each["median"] / each["lines"] * 1e6
            )
        if "ratio" in each:
            ours, peer = (
                each[who]["median"]
                for who in (("ours", "peer") if "ours" in each else ("actors", "turns"))
            )
            assert each["ratio"] == about(ours / peer)
            assert each["speedup"] == about(peer / ours)


@pytest.mark.parametrize(("of", "digits"), [(lag, 0), (tricks, 3)])
def test_curves_are_summed_up(of, digits):
    curves = {"1": [0.0, 480.0, 2.0], "2": [3.0, 300.0, 6.0]}
    found = of.summary(curves)
    assert found["at_the_end"] == 4
    assert found["lowest_at_the_end"] == 2
    assert found["all_the_way"] == pytest.approx(791 / 6, abs=0.51 * 10**-digits)
    assert found.get("solved", 1) == 1  # at 475, once


def test_turns_are_taken_and_the_first_is_thrown_away():
    seconds = iter([9.0, 90.0, 1.0, 10.0, 5.0, 40.0, 3.0, 20.0])
    found = record.interleave(
        dict.fromkeys(("ours", "peer"), lambda: next(seconds)), repeats=3
    )
    assert found["ours"] == record.Series((1, 5, 3), 3, 1, 5)
    assert found["peer"] == record.Series((10, 40, 20), 20, 10, 40)
    compared = record.comparison(found, "ours", "peer")
    assert (compared["ratio"], compared["speedup"]) == (0.15, 6.67)


def test_the_fastest_of_the_others_counts(monkeypatch):
    rates = {"ours": 300.0, "plain": 100.0, "sb3": 60.0, "labml": 50.0}
    monkeypatch.setattr(policies, "sample", lambda name, updates: rates[name])
    found = policies.measure(tuple(rates), 1, 1, 0)
    assert found["sb3"]["ours_is_times"] == 5
    assert found["ours_is_times_the_fastest"] == 3
    monkeypatch.setattr(
        values, "sample", lambda part, name, _: {"steps": rates.get(name, 1.0)}
    )
    assert values.learn(1)["many"]["ours_is_times_the_fastest"] == 3


def test_two_that_learn_at_once_are_added_up(monkeypatch):
    monkeypatch.setattr(crowd, "started", lambda *_, **__: None)
    rates = iter([2.0, 3.0])
    monkeypatch.setattr(crowd, "answer_of", lambda _: {"steps_per_second": next(rates)})
    assert crowd.sample("short", 1, at_once=2) == 5


def test_this_book_on_a_gpu_is_compared_with_as_many_games():
    rates = {"ours_8": 30, "plain_8": 10, "ours_128": 80, "plain_128": 20}
    found = gpu.compared({"rates": {name: {"median": n} for name, n in rates.items()}})
    assert found["rates"]["plain_8"]["ours_is_times"] == 3
    assert found["rates"]["plain_128"]["ours_is_times"] == 4


def test_steps_a_second_are_those_of_all_games(monkeypatch):
    def measured(_, text):
        seconds = 2.0 if "envpool" in text else 1.0
        return {"seconds": seconds, "processes": 1, "pss_mb": 30.0, "rss_mb": 60.0}

    monkeypatch.setattr(games, "found_by", measured)
    task = Task("envpool", "pong", 8, 2, warm_up=1, steps=100)
    tasks = {"envpool": task, "emulator": replace(task, player="emulator")}
    found = games.contest(tasks, 1)
    assert found["envpool"]["median"] == 8 * 100 / 2
    assert found["envpool"]["of_emulator"] == 0.5
    assert found["envpool"]["pss_mb"] == 30


@pytest.mark.parametrize("state", ["", " M labml_rl/game.py"])
def test_a_record_says_which_code_it_was(monkeypatch, state):
    monkeypatch.setattr(
        record, "git", lambda *asked: "c0ffee" if asked[1:] == ("HEAD",) else state
    )
    found = record.provenance("benchmarks.lag", ("numpy",))
    assert (found["commit"], found["dirty"]) == ("c0ffee", bool(state))
    assert record.bfloat16_units({"flags": "fpu amx_bf16"}) == "amx_bf16"


@pytest.mark.parametrize(
    ("of", "name"),
    [
        (lag, "lag"),
        (tricks, "tricks"),
        (tricks, "tricks-overlap"),
        (mistakes, "mistakes"),
        (mistakes, "mistakes-dqn"),
    ],
)
def test_a_record_says_what_its_curves_come_to(of, name):
    record = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for each in record["variants"].values():
        assert of.summary(each["curves"]) == each


@pytest.mark.parametrize(("column", "times"), [("end", 13), ("way", 5)])
def test_how_often_chance_would_do_as_much_as_v_trace(column, times):
    """Of all ways to deal the ten runs to two sides, where actors are 16 behind."""
    variants = json.loads((FOLDER / "lag.json").read_text())["variants"]
    runs = [
        curve[-1] if column == "end" else mean(curve)
        for name in ("vtrace_16", "nothing_16")
        for curve in variants[name]["curves"].values()
    ]
    gaps = [
        abs(2 * sum(side) - sum(runs)) for side in combinations(runs, len(runs) // 2)
    ]
    as_wide = sum(gap >= gaps[0] - 1e-6 for gap in gaps)
    assert round(len(gaps) / as_wide) == times
    said = " ".join((ROOT / "docs" / "benchmarks" / "lag.md").read_text().split())
    assert "one time in thirteen at the end, and one time in five all the way" in said


@pytest.mark.parametrize("plan", peer_curves.PLANS.values(), ids=peer_curves.PLANS)
def test_both_libraries_are_taken_at_the_same_frames(plan):
    record = json.loads((FOLDER / plan.record).read_text(encoding="utf-8"))
    theirs = record["theirs"]
    found = peer_curves.ours(plan.run, record["every"], len(theirs["curve"]))
    assert peer_curves.summary(found) == record["book"]
    curves = {name: theirs[name] for name in ("curve", "entropy")}
    assert peer_curves.summary(curves) == theirs


def test_their_learning_rate_goes_down_as_that_of_the_run(monkeypatch):
    rates: list[float] = []

    class Model:
        def learn(self, steps: int, **_: Any) -> None:
            assert steps == 1_000_000

    def make(settings, games, rate):
        rates.extend(rate(left) / settings.learning_rate for left in (1, 0.5, 0))
        return Model()

    settings, experiment, _ = peer_curves.ALGORITHMS["a2c"]
    monkeypatch.setitem(peer_curves.ALGORITHMS, "a2c", (settings, experiment, make))
    monkeypatch.setattr(peer_curves, "make_games", lambda *_, **__: counters())
    peer_curves.learn("a2c", {"game": "Pong", "total_frames": 40_000_000}, 4_000_000)
    assert rates == pytest.approx([1, 0.95, 0.9])


@pytest.mark.parametrize("algorithm", ["a2c", "ppo"])
def test_their_loss_of_the_critic_has_no_half(monkeypatch, algorithm):
    asked: dict[str, Any] = {}
    for name in ("A2C", "PPO"):
        monkeypatch.setattr(peer_curves, name, lambda *_, **given: asked.update(given))
    settings_class, _, make = peer_curves.ALGORITHMS[algorithm]
    settings = settings_class(value_coefficient=0.6)
    make(settings, None, None)
    assert asked["vf_coef"] == 0.3


def test_their_marks_are_counted_in_frames():
    logger = SimpleNamespace(name_to_value={"train/entropy_loss": -0.5})
    games: Any = SimpleNamespace(recent=[1.0, 3.0])
    marks = peer_curves.Marks(games, per_step=4)
    marks.model = SimpleNamespace(logger=logger)
    for marks.num_timesteps in (9_999, 10_000, 19_999, 20_001):
        marks._on_rollout_end()
    assert marks.curve == [2, 2]
    assert marks.entropy == [0.5, 0.5]


def test_mistakes_are_measured_at_even_marks(monkeypatch):
    class Experiment:
        settings_class = SimpleNamespace
        frames = 0
        recent: tuple[dict[str, float], ...] = ()

        def __init__(self, settings: Any) -> None:
            assert (settings.seed, settings.total_frames) == (7, 100)

        def advance(self) -> tuple[dict[str, float], None]:
            self.frames += 10
            self.recent = ({"r": self.frames},)
            return {"loss": self.frames / 10}, None

        def close(self) -> None:
            pass

    monkeypatch.setattr(mistakes, "POINTS", 2)
    page: Any = SimpleNamespace(
        variants={"it": Experiment}, frames=100, columns=("score", "loss"), lowest=0
    )
    found = mistakes.learn(page, "it", 7)
    assert found == {"score": [30, 80], "loss": [3, 8]}
