"""The best so far: chosen by games of its own, and no run notices."""

import csv
import os
import shutil
import signal
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import torch

from labml_rl import runs
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.runs import checkpoint
from labml_rl.runs.folder import RunError, RunFolder
from labml_rl.watch.agent import Agent, Protocol, Saved
from labml_rl.watch.best import Best
from labml_rl.watch.scores import CHOOSING, Played, Result, measure
from tests.book.interrupted import curve_of, end_of
from tests.book.tiny_runs import Settings, Tiny

LOOKING: Any = {"evaluate_every_frames": 160, "evaluation_games": 16}


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("looked") / "run"
    return runs.train(Tiny, Settings(**LOOKING), folder=folder)


def evaluations_of(folder: Path) -> list[dict[str, float]]:
    with (folder / "evaluations.csv").open() as file:
        return [
            {name: float(value) for name, value in row.items()}
            for row in csv.DictReader(file)
        ]


def test_a_run_does_not_notice(looked, tmp_path):
    unseen = runs.train(Tiny, Settings(), folder=tmp_path / "unseen")
    assert curve_of(looked) == curve_of(unseen)
    ends = end_of(looked), end_of(unseen)
    for name in ends[0].keys() - {"text"}:
        assert torch.equal(ends[0][name], ends[1][name]), name
    assert not (unseen / "evaluations.csv").exists()
    assert not (unseen / "best.safetensors").exists()


def test_the_best_is_the_one_that_scored_best_in_games_for_choosing(looked):
    rows = evaluations_of(looked)
    assert [row["frames"] for row in rows] == [160, 320, 480, 640]
    means = [row["return_mean"] for row in rows]
    assert len(set(means)) > 1
    saved = Saved.of(looked, Tiny, best=True)
    chosen = rows[means.index(max(means))]
    assert saved.frames == chosen["frames"]
    again = measure(saved, Protocol(), games=16, workers=0, purpose=CHOOSING)
    assert again.mean == chosen["return_mean"] == max(means)
    assert again.standard_error == chosen["standard_error"]
    assert measure(saved, Protocol(), games=16, workers=0) != again


def test_of_two_that_are_equal_the_first_stays(tmp_path, monkeypatch):
    alike = Result((Played(3.0, 1, False), Played(4.0, 1, False)))
    monkeypatch.setattr("labml_rl.watch.best.measure", lambda *_, **__: alike)
    settings = Settings(**LOOKING, total_frames=320)
    folder = runs.train(Tiny, settings, folder=tmp_path / "run")
    assert [row["return_mean"] for row in evaluations_of(folder)] == [3.5] * 2
    assert Saved.of(folder, Tiny, best=True).frames == 160


def test_a_run_that_was_stopped_finds_the_same_best(looked, tmp_path, monkeypatch):
    class PowerFailureError(Exception):
        pass

    fails_at = {25, 45, 61}
    advance = Tiny.advance

    def failing(self):
        found = advance(self)
        if self.updates in fails_at:
            fails_at.remove(self.updates)
            raise PowerFailureError
        return found

    monkeypatch.setattr(Tiny, "advance", failing)
    folder = tmp_path / "run"
    with pytest.raises(PowerFailureError):
        runs.train(Tiny, Settings(**LOOKING), folder=folder, checkpoint_minutes=0)
    with pytest.raises(PowerFailureError):
        runs.resume(Tiny, folder)  # it dies long after its last checkpoint
    with pytest.raises(PowerFailureError):
        runs.resume(Tiny, folder, checkpoint_minutes=0)
    runs.resume(Tiny, folder)
    assert not fails_at
    assert evaluations_of(folder) == evaluations_of(looked)
    bests = [checkpoint.load(each / "best.safetensors") for each in (folder, looked)]
    assert bests[0]["frames"] == bests[1]["frames"]
    for name, weight in bests[0]["network"].items():
        assert torch.equal(weight, bests[1]["network"][name]), name


def test_games_that_measure_keep_nobody_waiting(looked, tmp_path, monkeypatch):
    """Ctrl-C while they are played: they begin again when the run goes on."""
    act, acted = Agent.act, []

    def interrupted(self, observations):
        acted.append(1)
        if len(acted) == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return act(self, observations)

    monkeypatch.setattr(Agent, "act", interrupted)
    folder = tmp_path / "run"
    with pytest.raises(runs.Stopped):
        runs.train(Tiny, Settings(**LOOKING), folder=folder)
    assert len(acted) == 30
    assert not (folder / "evaluations.csv").exists()
    runs.resume(Tiny, folder)
    assert evaluations_of(folder) == evaluations_of(looked)


def test_without_a_best_there_is_a_sentence(tmp_path):
    folder = runs.train(Tiny, Settings(), folder=tmp_path / "run")
    with pytest.raises(RunError, match="evaluate_every_frames is 0"):
        Saved.of(folder, Tiny, best=True)
    with pytest.raises(ValueError, match="every_frames must be at least 0, not"):
        Settings(evaluate_every_frames=-1)
    with pytest.raises(ValueError, match="evaluation_games must be at least 1"):
        Settings(evaluation_games=0)


def test_evaluations_that_cannot_be_written_stop_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "labml_rl.watch.best.write_whole",
        lambda path, _: (_ for _ in ()).throw(RunError(f"{path} can't be written")),
    )
    folder = tmp_path / "run"
    with pytest.raises(RunError, match=r"evaluations\.csv can't be written"):
        runs.train(Tiny, Settings(**LOOKING), folder=folder)
    monkeypatch.undo()
    runs.resume(Tiny, folder)
    assert len(evaluations_of(folder)) == 4
    shutil.rmtree(folder)


def test_dqn_is_measured_as_its_authors_did(looked):
    saved = Saved(dqn.Experiment, DQNSettings(game="Breakout"), {}, 4)
    assert saved.epsilon(Protocol()) == 0.05
    assert saved.epsilon(Protocol(epsilon=0.0)) == 0
    assert "It takes the best action, and any with probability 0.05." in (
        saved.described(Protocol())
    )
    drawn = Saved.of(looked, Tiny)
    assert drawn.epsilon(Protocol()) == 0
    assert "Actions are drawn from its policy. " in drawn.described(Protocol())


def test_a_run_that_is_over_is_measured_once_more_whoever_stops_it(
    tmp_path, monkeypatch
):
    act = Agent.act
    pressed: list[int] = []

    def interrupted(self, observations):
        if not pressed:
            pressed.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return act(self, observations)

    monkeypatch.setattr(Agent, "act", interrupted)
    settings = Settings(**LOOKING, total_frames=160)
    folder = runs.train(Tiny, settings, folder=tmp_path / "run")
    assert pressed
    assert [row["frames"] for row in evaluations_of(folder)] == [160]


def test_a_run_is_finished_when_its_last_agent_has_been_measured(tmp_path, monkeypatch):
    """A checkpoint falls due after the last update, and the power fails after it."""

    def fails(*_: Any, **__: Any) -> Result:
        raise MemoryError

    monkeypatch.setattr("labml_rl.watch.best.measure", fails)
    settings = Settings(**LOOKING, total_frames=160)
    folder = tmp_path / "run"
    with pytest.raises(MemoryError):
        runs.train(Tiny, settings, folder=folder, checkpoint_minutes=0)
    monkeypatch.undo()
    assert RunFolder(folder).read_record()["frames"] == 160
    runs.resume(Tiny, folder)
    assert [row["frames"] for row in evaluations_of(folder)] == [160]
    assert RunFolder(folder).read_record()["finished"]


def test_the_best_is_not_written_into_the_folder_of_another_run(tmp_path, monkeypatch):
    folder = tmp_path / "run"

    def moved(*_: Any, **__: Any) -> Result:
        folder.rename(tmp_path / "away")
        runs.train(Tiny, Settings(total_frames=8), folder=folder)
        return Result((Played(3.0, 1, False), Played(4.0, 1, False)))

    monkeypatch.setattr("labml_rl.watch.best.measure", moved)
    with pytest.raises(RunError, match="another run has begun there"):
        runs.train(Tiny, Settings(**LOOKING), folder=folder)
    assert not (folder / "best.safetensors").exists()
    assert not (folder / "evaluations.csv").exists()


@pytest.mark.parametrize(
    ("scores", "best"), [((3, 5, 4, 4.5, 2, 1), 200), ((-21,) * 6, 104)]
)
def test_it_is_measured_after_each_multiple_and_the_best_of_all_stays(
    scores, best, tmp_path, monkeypatch
):
    """In updates of 8 frames, of which 100 is no multiple."""
    found = iter(scores)

    def measured(*_: Any, **__: Any) -> Result:
        return Result((Played(next(found), 1, False),))

    monkeypatch.setattr("labml_rl.watch.best.measure", measured)
    settings = Settings(evaluate_every_frames=100)
    folder = runs.train(Tiny, settings, folder=tmp_path / "run")
    frames = [row["frames"] for row in evaluations_of(folder)]
    assert frames == [104, 200, 304, 400, 504, 600]
    assert Saved.of(folder, Tiny, best=True).frames == best


def test_what_is_to_be_done_again_is_not_in_the_file(tmp_path):
    row = {"games": 1.0, "return_mean": 2.0, "standard_error": 0.5}
    two = [{"frames": frames} | row for frames in (8.0, 16.0)]
    with closing(Tiny(Settings())) as experiment:
        best = Best(RunFolder(tmp_path), experiment)
        for rows in (two, two[:1]):
            best.set_state(rows)
            assert evaluations_of(tmp_path) == rows
        for _ in range(2):
            best.set_state([])
            assert not (tmp_path / "evaluations.csv").exists()
