"""Comparing: runs that differ in game and seed only are one side."""

import shutil
from statistics import stdev

import pytest

from labml_rl import runs
from labml_rl.runs import checkpoint
from labml_rl.runs.command import dispatch
from labml_rl.small import SmallPPO
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.compare import Side, main, sides_of, table_of
from labml_rl.watch.many import FIVE, human_normalised, interval, median_of_57
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


def test_runs_of_another_game_or_seed_are_one_side(folder):
    names = ("cart-1", "acrobot-2", "longer", "cart-2", "acrobot-1")
    first, second = sides_of([folder / name for name in names], Tiny)
    assert first.runs == {
        "CartPole-v1": [(folder / "cart-1", Tiny), (folder / "cart-2", Tiny)],
        "Acrobot-v1": [(folder / "acrobot-2", Tiny), (folder / "acrobot-1", Tiny)],
    }
    assert second.runs == {"CartPole-v1": [(folder / "longer", Tiny)]}
    assert first.named([first, second]) == "TINY after 8 frames, total_frames 8"
    assert first.named([first]) == "TINY after 8 frames"


def test_where_it_was_computed_makes_no_side(folder, tmp_path):
    trained(tmp_path / "run", seed=3, workers=0, evaluate_every_frames=4)
    (side,) = sides_of([folder / "cart-1", tmp_path / "run"], Tiny)
    assert len(side.runs["CartPole-v1"]) == 2


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
    assert said[6].split(maxsplit=1) == [
        "CartPole-v1",
        f"{sum(means) / 2:,.1f} ± {error:,.1f}",
    ]
    # No human tester is known for it, so nothing is summed up.
    *_, empty, protocol = said[6:]
    assert len(said) == 9
    assert empty == ""
    assert protocol.startswith("Actions are drawn from its policy. Whole episodes")


def test_an_algorithm_of_your_own_beside_one_of_the_book(folder, tmp_path, capsys):
    settings = SmallPPO.settings_class(total_frames=8, num_envs=2, steps=4)
    runs.train(SmallPPO, settings, folder=tmp_path / "ppo")
    said = compared(capsys, folder / "cart-1", tmp_path / "ppo", "--games", "1")
    assert "A: TINY after 8 frames" in said
    assert "B: SMALL-PPO after 8 frames" in said
    assert len(said[6].split()) == 2
    with pytest.raises(SystemExit) as exit_:
        dispatch(["compare", str(tmp_path / "ppo"), "--games", "1"])
    assert exit_.value.code == 0
    assert "A: SMALL-PPO after 8 frames" in capsys.readouterr().out
    with pytest.raises(SystemExit) as exit_:
        dispatch(["compare", str(folder / "cart-1")])
    assert exit_.value.code == 2
    assert "tiny" in capsys.readouterr().err


def test_all_that_stands_below_the_games():
    points = {game: [1_000.0 * n, 1_500.0 * n] for n, game in enumerate(FIVE, 1)}
    first = Side({"algorithm": "ppo", "frames": "4"}, points={**points, "pong": [1, 2]})
    second = Side(
        {"algorithm": "a2c", "frames": "4"},
        points={game: [x / 2 for x in both] for game, both in points.items()},
    )
    scores = first.scores(list(FIVE))
    assert scores.shape == (2, 5)
    assert scores[1, 4] == human_normalised("Qbert", points["qbert"][1])
    lines = table_of([first, second])
    rows = {line[:22].strip(): line[22:].split() for line in lines}
    assert lines[:2] == ["A: PPO after 4 frames", "B: A2C after 4 frames"]
    assert rows["qbert"][:4] == ["6,250.0", "±", "1,250.0", "46%"]
    assert rows["qbert"][4:] == ["3,125.0", "±", "625.0", "22%"]
    assert rows["pong"] == ["1.5", "±", "0.5", "63%", "not", "played"]
    low, high = interval(scores)
    assert rows["95% of the draws"][:3] == [f"{low:.0%}", "to", f"{high:.0%}"]
    assert rows["mean"][0] == f"{scores.mean():.0%}"
    assert rows["median of 57, about"][0] == f"{median_of_57(scores):.0%}"
    assert lines[-1] == "not counted there: pong"
    assert "human-normalised, games: 5" in lines
    assert all(len(line) <= 22 + 2 * 28 for line in lines)


def test_one_run_of_one_game_is_not_summed_up():
    side = Side({"algorithm": "ppo", "frames": "4"}, points={"pong": [20.2]})
    assert table_of([side])[-1].split() == ["pong", "20.2", "116%"]
    assert f"{human_normalised('pong', 20.2):.0%}" == "116%"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cart-1", "cart-1"], "cart-1 is a run that was given before"),
        (["cart-1", "nothing"], "nothing is not the folder of a run"),
        (
            ["cart-1", "cart-2", "acrobot-1"],
            "TINY after 8 frames: 2 of CartPole-v1, and 1 of Acrobot-v1",
        ),
    ],
)
def test_what_can_not_be_compared(folder, names, message):
    with pytest.raises(runs.RunError, match=message):
        sides_of([folder / name for name in names], Tiny)


def test_more_sides_than_letters(tmp_path, monkeypatch, folder):
    monkeypatch.setattr("labml_rl.watch.compare.ascii_uppercase", "A")
    with pytest.raises(runs.RunError, match="these are 2 sides"):
        sides_of([folder / "cart-1", folder / "longer"], Tiny)


def test_what_is_missing_is_missed_before_anybody_plays(folder, tmp_path, capsys):
    shutil.copytree(folder / "cart-2", tmp_path / "broken")
    (tmp_path / "broken" / "checkpoint.safetensors").unlink()
    with pytest.raises(checkpoint.CheckpointError, match=r"checkpoint\.safetensors"):
        compared(capsys, folder / "cart-1", tmp_path / "broken")
    with pytest.raises(runs.RunError, match="has no best agent"):
        compared(capsys, folder / "cart-1", "--best")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("typed", "message"),
    [([], "compare which runs"), (["a", "--games", "0"], "games must be at least 1")],
)
def test_what_makes_no_sense_is_refused(capsys, typed, message):
    with pytest.raises(SystemExit):
        compared(capsys, *typed)
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())
