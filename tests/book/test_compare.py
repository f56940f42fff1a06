"""Comparing: runs that differ in game and seed only are one side."""

import json
import re
import shutil
from dataclasses import fields
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest

from benchmarks.record import ROOT
from labml_rl import runs
from labml_rl.ppo import experiment as ppo
from labml_rl.runs import checkpoint
from labml_rl.runs.command import dispatch
from labml_rl.runs.games import GameSettings
from labml_rl.small import SmallDQN, SmallPPO
from labml_rl.speed import SpeedSettings
from labml_rl.watch import compare
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.compare import MAY_DIFFER, Side, main, sides_of, table_of
from labml_rl.watch.many import (
    RANDOM_AND_HUMAN,
    WEIGHTS,
    estimated_median,
    human_normalised,
    interquartile_mean,
    interval,
)
from labml_rl.watch.scores import measure
from tests.book.tiny_runs import Settings, Tiny


def trained(folder, **settings):
    return runs.train(Tiny, Settings(total_frames=8, **settings), folder=folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two games with two seeds, and one of the four with twice the frames."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        trained(folder / f"cart-{seed}", seed=seed)
        trained(folder / f"acrobot-{seed}", seed=seed, game="Acrobot-v1")
    settings = Settings(total_frames=16, seed=1)
    runs.train(Tiny, settings, folder=folder / "longer")
    return folder


def compared(capsys, *typed):
    main(Tiny, [str(each) for each in typed], program="labml-rl")
    return capsys.readouterr().out.splitlines()


def folders_of(side):
    return {
        game: {seed: folder for seed, (folder, _) in runs.items()}
        for game, runs in side.runs.items()
    }


def test_runs_of_another_game_or_seed_are_one_side(folder):
    names = ("cart-1", "acrobot-2", "longer", "cart-2", "acrobot-1")
    first, second = sides_of([folder / name for name in names], Tiny)
    assert folders_of(first) == {
        "CartPole-v1": {1: folder / "cart-1", 2: folder / "cart-2"},
        "Acrobot-v1": {2: folder / "acrobot-2", 1: folder / "acrobot-1"},
    }
    assert folders_of(second) == {"CartPole-v1": {1: folder / "longer"}}
    assert first.named([first, second]) == "TINY after 8 frames"
    assert second.named([first, second]) == "TINY after 16 frames"


def test_where_it_was_computed_makes_no_side(folder, tmp_path):
    trained(tmp_path / "run", seed=3, workers=1, evaluate_every_frames=4)
    (side,) = sides_of([folder / "cart-1", tmp_path / "run"], Tiny)
    assert len(side.runs["CartPole-v1"]) == 2
    assert {field.name for field in fields(ppo.Settings)} > MAY_DIFFER


def test_another_setting_makes_another_side(folder, tmp_path):
    trained(tmp_path / "run", num_envs=3)
    sides = sides_of([folder / "cart-1", tmp_path / "run"], Tiny)
    names = [side.named(sides).split("; ") for side in sides]
    assert names[0] == ["TINY after 8 frames", "num_envs 2"]
    assert names[1][1:] == ["num_envs 3"]


def test_another_state_of_your_own_code_makes_another_side(folder, tmp_path):
    shutil.copytree(folder / "cart-2", tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    own = record["sessions"][0]["own_sources"]
    assert Path(__file__).with_name("tiny_runs.py").as_posix() in own
    for source in own.values():
        source["fingerprint"] = "0123456789abcdef"
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    sides = sides_of([folder / "cart-1", tmp_path / "run"], Tiny)
    assert "code 0123456789abcdef" in sides[1].named(sides)


def test_the_best_are_named_so(tmp_path, capsys):
    settings = Settings(total_frames=16, evaluate_every_frames=8, evaluation_games=1)
    runs.train(Tiny, settings, folder=tmp_path / "run")
    said = compared(capsys, tmp_path / "run", "--best", "--games", "1")
    assert "A: TINY the best of 16 frames" in said


def test_the_table_has_what_the_agents_score(folder, capsys):
    said = compared(capsys, folder / "cart-1", folder / "cart-2", "--games", "3")
    means = [
        measure(Saved.of(folder / name, Tiny), Protocol(), games=3).mean
        for name in ("cart-1", "cart-2")
    ]
    for line, name, mean in zip(said, ("cart-1", "cart-2"), means, strict=False):
        assert line.startswith(f"{folder / name}: mean {mean:,.2f} ±")
    assert said[3] == "A: TINY after 8 frames"
    error = stdev(means) / 2**0.5
    points = f"{sum(means) / 2:,.1f} ± {error:,.1f}"
    assert said[6].split(maxsplit=1) == ["CartPole-v1", points]
    assert said[8].startswith("Nothing is summed up: no game that a human")
    assert said[10] == (
        "A: Actions are drawn from its policy. Whole episodes, sums of rewards. Seed 0."
    )


def test_an_algorithm_of_your_own_beside_one_of_the_book(folder, tmp_path, capsys):
    settings = SmallPPO.settings_class(total_frames=8, num_envs=2, steps=4)
    runs.train(SmallPPO, settings, folder=tmp_path / "ppo")
    said = compared(capsys, folder / "cart-1", tmp_path / "ppo", "--games", "1")
    assert "A: TINY after 8 frames" in said
    assert "B: SMALL-PPO after 8 frames" in said
    assert said[-1].startswith("A, B: Actions are drawn from its policy.")
    (row,) = (line for line in said if line.startswith("CartPole-v1"))
    assert len(row.split()) == 3
    with pytest.raises(SystemExit) as exit_:
        dispatch(["compare", str(tmp_path / "ppo"), "--games", "1"])
    assert exit_.value.code == 0
    assert "A: SMALL-PPO after 8 frames" in capsys.readouterr().out
    with pytest.raises(SystemExit) as exit_:
        dispatch(["compare", str(folder / "cart-1")])
    assert exit_.value.code == 2
    assert "no algorithm 'tiny'" in capsys.readouterr().err


def test_one_of_your_own_with_the_name_of_the_book_is_not_the_books(folder, tmp_path):
    class Impostor(SmallPPO):
        """It says that it is PPO."""

    settings = SmallPPO.settings_class(total_frames=8, num_envs=2, steps=4)
    runs.train(SmallPPO, settings, folder=tmp_path / "ppo")
    (side,) = sides_of([tmp_path / "ppo"], Impostor)
    _, saved = side.runs["CartPole-v1"][1]
    assert saved.experiment_class is SmallPPO


def test_the_same_class_may_have_been_in_another_module(folder):
    """That of the program that was typed is in `__main__`."""
    here = type("Tiny", (Tiny,), {"__module__": "__main__"})
    (side,) = sides_of([folder / "cart-1"], here)
    _, saved = side.runs["CartPole-v1"][1]
    assert saved.experiment_class is here


def test_how_each_side_played_is_said_of_each(folder, tmp_path, capsys):
    settings = SmallDQN.settings_class(total_frames=200, warm_up_steps=152)
    runs.train(SmallDQN, settings, folder=tmp_path / "dqn")
    *_, first, second = compared(
        capsys, folder / "cart-1", tmp_path / "dqn", "--games", "1"
    )
    assert first.startswith("A: Actions are drawn from its policy.")
    assert second.startswith("B: It takes the best action, and any with probability")


POINTS = {game: [1e3 * n, 1.5e3 * n, 4e3 * n] for n, game in enumerate(WEIGHTS, 1)}


def of_five():
    """What random play and the human score in the five games."""
    return {game: RANDOM_AND_HUMAN[game] for game in WEIGHTS}


def rows(*sides):
    """What the table says in each row, without spaces."""
    return {
        re.split(" {2,}", line.strip())[0]: re.split(" {2,}", line.strip())[1:]
        for line in table_of(sides)
    }


def test_all_that_stands_below_the_games():
    first = Side("ppo", 4, points={**POINTS, "pong": [1, 2, 3]})
    second = Side(
        "a2c", 4, points={game: [p / 2 for p in POINTS[game]] for game in POINTS}
    )
    found = rows(first, second)
    assert table_of([first, second])[:2] == [
        "A: PPO after 4 frames",
        "B: A2C after 4 frames",
    ]
    scores = [side.scores(list(WEIGHTS)) for side in (first, second)]
    assert scores[0].shape == (3, 5)
    assert scores[0][1, 4] == human_normalised("Qbert", POINTS["qbert"][1])
    assert found["pong"] == ["2.0 ± 0.6", "64%", "not played"]
    for name, statistic in (
        ("interquartile mean", interquartile_mean),
        ("mean", np.mean),
        ("median", lambda each: np.median(each.mean(axis=0))),
        ("median of 57, about", estimated_median),
    ):
        assert found[name] == [f"{statistic(each):,.0%}" for each in scores]
    assert (
        len({found[name][0] for name in ("interquartile mean", "mean", "median")}) == 3
    )
    spans = [interval(each) for each in scores]
    assert found["95% interval"] == [f"{a:,.0%} to {b:,.0%}" for a, b in spans]
    assert f"human-normalised, {', '.join(WEIGHTS)}:" in found, "not Pong"


def test_the_example_of_the_page_is_what_the_kept_runs_come_to():
    kept = ROOT / "results" / "runs"
    sides = []
    for algorithm, seed in (("ppo", "seed-1"), ("a2c", "seed-2")):
        side = Side(algorithm, 0)
        for game in WEIGHTS:
            folder = kept / algorithm / game.replace("_", "") / seed
            side.frames = json.loads((folder / "run.json").read_text())["frames"]
            scores = json.loads((folder / "scores.json").read_text())
            side.points[game] = [scores["mean"]]
        sides.append(side)
    assert "\n".join(table_of(sides)) in compare.__doc__
    five = json.loads((ROOT / "results" / "runs.json").read_text())["five"]
    before, now = (
        f"{five[side]['interquartile_mean']:.0%}" for side in ("large-epsilon", "a2c")
    )
    assert f"reached {before} in these games, instead of {now}" in compare.__doc__


def test_a_median_of_which_nobody_knows_anything_is_called_so():
    good = Side("ppo", 4, points={g: [human] for g, (_, human) in of_five().items()})
    bad = Side(
        "a2c", 4, points={g: [random + 1] for g, (random, _) in of_five().items()}
    )
    assert table_of([good])[-1].split()[-1] == "85%"
    assert "too low to be trusted" in table_of([good, bad])[-1]


def test_columns_are_as_wide_as_it_takes():
    """Some scores have seven digits, and some games long names."""
    games = {
        "video_pinball": [400_603.2, 1e6],
        "labml_rl.hidden:HiddenCartPole-v1": [500.0, 400.0],
    }
    sides = [Side("ppo", 4, points=games), Side("dqn", 4, points=games)]
    found = rows(*sides)
    assert len(found["video_pinball"]) == 2
    assert found["video_pinball"][0].endswith(" 48,479%")
    assert len(found["labml_rl.hidden:HiddenCartPole-v1"]) == 2
    widths = {len(line) for line in table_of(sides)[3:] if line.endswith(("%", "A"))}
    assert len(widths) == 1


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ({"pong": [1.0]}, {"breakout": [1.0]}, "no game that a human is known for"),
        ({"pong": [1.0, 2.0], "qbert": [1.0]}, {"pong": [1.0], "qbert": [1.0]}, "more"),
    ],
)
def test_why_nothing_is_summed_up(first, second, reason):
    last = table_of([Side("ppo", 4, points=first), Side("a2c", 4, points=second)])[-1]
    assert last.startswith(
        f"Nothing is summed up: {'a side has ' * (reason == 'more')}"
    )
    assert reason in last


def test_of_two_seeds_there_is_no_interval():
    found = rows(Side("ppo", 4, points={"pong": [1.0, 9.0], "qbert": [1.0, 2.0]}))
    assert "interquartile mean" in found
    assert "95% interval" not in found
    assert "median of 57, about" not in found


def test_one_run_of_one_game_is_not_summed_up():
    last = table_of([Side("ppo", 4, points={"pong": [20.2]})])[-1]
    assert last.split() == ["pong", "20.2", f"{human_normalised('pong', 20.2):.0%}"]


def test_what_can_not_be_compared(folder, tmp_path):
    with pytest.raises(runs.RunError, match="nothing is not the folder of a run"):
        sides_of([folder / "cart-1", folder / "nothing"], Tiny)
    shutil.copytree(folder / "cart-1", tmp_path / "above" / "it" / "run")
    near = re.escape(f"it has no run.json. {tmp_path / 'above' / 'it' / 'run'} is one")
    for above in (tmp_path / "above", tmp_path / "above" / "it"):
        with pytest.raises(runs.RunError, match=near):
            sides_of([above], Tiny)
    for again in ("cart-1", "copy"):
        if again == "copy":
            shutil.copytree(folder / "cart-1", tmp_path / again)
        place = {"cart-1": folder, "copy": tmp_path}[again] / again
        message = f"{place} has the settings, the game and the seed of {folder}/cart-1"
        with pytest.raises(runs.RunError, match=re.escape(message)):
            sides_of([folder / "cart-1", place], Tiny)


def test_two_algorithms_of_your_own_are_one_experiment(folder):
    class Other(Tiny):
        algorithm = "other"

    with pytest.raises(runs.RunError, match="'tiny', and this is the program of 'oth"):
        sides_of([folder / "cart-1"], Other)


def test_a_run_has_as_many_frames_as_its_checkpoint(folder, tmp_path):
    """One that is killed before it has written `run.json` is further than that says."""
    shutil.copytree(folder / "cart-1", tmp_path / "killed")
    file = tmp_path / "killed" / "run.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"frames": 0}))
    (side,) = sides_of([tmp_path / "killed", folder / "cart-2"], Tiny)
    assert side.frames == 8


def test_help_says_that_it_takes_the_folder_of_each_run(capsys):
    with pytest.raises(SystemExit):
        compared(capsys, "--help")
    said = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "RUN ... the folder of each run. (required)" in said


def test_more_sides_than_letters(monkeypatch, folder):
    monkeypatch.setattr("labml_rl.watch.compare.ascii_uppercase", "A")
    with pytest.raises(runs.RunError, match="these are 2 sides"):
        sides_of([folder / "cart-1", folder / "longer"], Tiny)


def test_what_is_missing_is_missed_before_anybody_plays(folder, tmp_path, capsys):
    shutil.copytree(folder / "cart-2", tmp_path / "broken")
    (tmp_path / "broken" / "checkpoint.safetensors").unlink()
    with pytest.raises(checkpoint.CheckpointError) as caught:
        compared(capsys, folder / "cart-1", tmp_path / "broken")
    words = r"no .*checkpoint\.safetensors any more; this trains the agent anew: \w"
    assert re.search(words, str(caught.value))
    with pytest.raises(runs.RunError, match="has no best agent"):
        compared(capsys, folder / "cart-1", "--best")
    with pytest.raises(runs.RunError, match="sticky_actions is for Atari games"):
        compared(capsys, folder / "cart-1", "--sticky-actions", "0.25")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("typed", "message"),
    [([], "compare which runs"), (["a", "--games", "0"], "games must be at least 1")],
)
def test_what_makes_no_sense_is_refused(capsys, typed, message):
    with pytest.raises(SystemExit):
        compared(capsys, *typed)
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_a_game_has_one_name_however_it_is_spelled(tmp_path):
    for seed, game in ((1, "Pong"), (2, "pong")):
        trained(tmp_path / f"{seed}", seed=seed, game=game)
    (side,) = sides_of([tmp_path / "1", tmp_path / "2"], Tiny)
    assert side.runs.keys() == {"pong"}


def test_all_play_as_was_typed(folder, capsys):
    typed = ("--games", "3", "--greedy", "--seed", "5")
    first, *_, last = compared(capsys, folder / "cart-1", *typed)
    protocol = Protocol(greedy=True, seed=5)
    mean = measure(Saved.of(folder / "cart-1", Tiny), protocol, games=3).mean
    assert f"mean {mean:,.2f} ±" in first
    assert last.startswith("A: It takes the likeliest action.")
    assert last.endswith("Seed 5.")


def test_the_median_of_57_knows_its_games_in_any_order():
    usual, other = (
        Side("ppo", 4, points=dict(items))
        for items in (POINTS.items(), reversed(POINTS.items()))
    )
    name = "median of 57, about"
    assert rows(other)[name] == rows(usual)[name]


def test_both_sides_need_three_seeds_for_an_interval():
    three = {"pong": [1.0, 2.0, 3.0], "qbert": [4.0, 5.0, 6.0]}
    two = {game: points[:2] for game, points in three.items()}
    found = rows(Side("ppo", 4, points=three), Side("a2c", 4, points=two))
    assert "interquartile mean" in found
    assert "95% interval" not in found


@pytest.mark.parametrize(("count", "warned"), [(3, True), (9, True), (10, False)])
def test_an_interval_of_few_runs_is_called_too_narrow(count, warned):
    said = table_of([Side("ppo", 4, points={"pong": [*map(float, range(count))]})])
    (place,) = (n for n, line in enumerate(said) if line.startswith("  95% interval"))
    assert said[place + 1].startswith(f"  (of {count} runs it is too narrow") == warned


def test_a_game_that_is_not_summed_up_may_have_more_runs():
    both = {"pong": [1.0], "qbert": [1.0]}
    first = Side("ppo", 4, points={**both, "amidar": [1.0, 2.0]})
    assert "interquartile mean" in rows(first, Side("a2c", 4, points=both))


def test_a_cell_by_hand():
    assert compare.cell("CartPole-v1", [1.0, 2.0, 6.0]) == "3.0 ± 1.5"


def test_how_often_equal_algorithms_are_three_standard_errors_apart():
    """As often as the page says, with runs on a bell curve."""
    pattern = r"once in (\d+) times with two runs each, once in (\d+) with three, "
    pattern += r"and once in (\d+) with five"
    (said,) = re.findall(pattern, " ".join((compare.__doc__ or "").split()))
    dice = np.random.default_rng(0)
    for runs_of_each, times in zip((2, 3, 5), map(int, said), strict=True):
        first, second = dice.normal(size=(2, 100_000, runs_of_each))
        variances = (first.var(1, ddof=1) + second.var(1, ddof=1)) / 2 / runs_of_each
        apart = abs(first.mean(1) - second.mean(1)) > 3 * np.sqrt(variances)
        assert 1 / apart.mean() == pytest.approx(times, rel=0.05)


def test_how_the_best_was_looked_for_makes_a_side(tmp_path):
    usual = {"evaluate_every_frames": 4, "evaluation_games": 1}
    others = ({"evaluate_every_frames": 8}, {"evaluation_games": 2})
    for name, changes in zip("abc", ({}, *others), strict=True):
        trained(tmp_path / name, **usual | changes)
    sides = sides_of([tmp_path / name for name in "abc"], Tiny, best=True)
    assert [side.named(sides).split("; ")[1:] for side in sides] == [
        ["evaluated every 4", "evaluation games 1"],
        ["evaluated every 8", "evaluation games 1"],
        ["evaluated every 4", "evaluation games 2"],
    ]


def test_where_runs_have_come_equally_far_their_plan_tells_them_apart():
    sides = [Side("ppo", 8, {"total_frames": total}) for total in (8, 16)]
    assert [side.named(sides) for side in sides] == [
        "PPO after 8 frames; total_frames 8",
        "PPO after 8 frames; total_frames 16",
    ]


def test_a_setting_that_one_side_alone_has_tells_them_apart():
    sides = [Side("ppo", 8, {"code": "x"}), Side("ppo", 8)]
    assert sides[0].named(sides) == "PPO after 8 frames; code x"


def test_the_code_of_all_sessions_counts():
    sessions = [{"own_sources": {"a.py": {"fingerprint": each}}} for each in "xyx"]
    assert compare.fingerprints({"sessions": sessions}) == "x y"


def test_no_setting_of_the_machine_makes_a_side():
    machine, game = (
        {field.name for field in fields(kind)} for kind in (SpeedSettings, GameSettings)
    )
    assert machine - game < MAY_DIFFER
