"""The page of Ms. Pac-Man does what it says, in small."""

import csv
import json
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import av
import pytest

from labml_rl.dqn import fast, mspacman
from labml_rl.runs import command
from labml_rl.runs.folder import RunError, RunFolder
from labml_rl.watch import best
from labml_rl.watch.agent import Protocol, Saved

OPTIONS = (
    *("--total-frames", "3_072", "--warm-up-steps", "320", "--capacity", "2_000"),
    *("--evaluate-every-frames", "1_536", "--evaluation-games", "1", "--turns", "1"),
    *("--workers", "0"),
)


@pytest.mark.parametrize("every", ["0", "4_000"])
def test_a_run_without_a_best_is_refused_before_it_begins(every, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match=f"evaluate_every_frames is {int(every):,}, and"):
        mspacman.main([*OPTIONS, "--evaluate-every-frames", every])
    assert not (tmp_path / "runs").exists()


@pytest.mark.timeout(900)
def test_from_the_first_frame_to_the_film(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # Long enough for a film, and no longer.
    short = Protocol(frames_cap=400)
    for module in (mspacman, best):
        monkeypatch.setattr(module, "Protocol", lambda: short)
    played = mspacman.play
    monkeypatch.setattr(mspacman, "play", lambda folder: played(folder, games=2))

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as once:
        once.setattr("labml_rl.watch.best.Best.look", stop)
        with pytest.raises(BaseException, match="Stopped"):
            mspacman.main([*OPTIONS, "--checkpoint-minutes", "0"])
    mspacman.main(OPTIONS)

    folder = tmp_path / "runs" / "fast-dqn" / "ms_pacman" / "seed-1"
    record = json.loads((folder / "run.json").read_text())
    assert record["finished"]
    assert len(record["sessions"]) == 2
    assert record["command"].startswith("python -m labml_rl.dqn.mspacman --total")
    with (folder / "evaluations.csv").open() as file:
        looks = list(csv.DictReader(file))
    assert [int(row["frames"]) for row in looks] == [1_536, 3_072]
    chosen = Saved.of(folder, fast.Experiment, best=True)
    assert chosen.frames in (1_536, 3_072)

    with pytest.raises(RunError, match="with another double and another learning_rate"):
        mspacman.main([*OPTIONS, "--no-double", "--learning-rate", "0.5"])

    out = capsys.readouterr().out
    assert "2 games" in out
    assert f"MsPacman, FAST-DQN after {chosen.frames:,} frames." in out
    with av.open(folder / "film.mp4") as film:
        assert sum(1 for _ in film.decode(video=0)) > 60


def test_a_game_that_is_not_there_is_answered_with_a_sentence(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        command.run(mspacman.main, ["--game", "Pacmann"])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("labml-rl: ")
    assert "'Pacmann'" in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_that_is_noted_can_be_typed(monkeypatch):
    noted = []
    monkeypatch.setattr(mspacman, "train", lambda *given: noted.append(given[-1]))
    monkeypatch.setattr(mspacman, "play", lambda folder: None)
    mspacman.main([])
    mspacman.main(["--folder", "my runs"])
    program = "python -m labml_rl.dqn.mspacman"
    assert noted == [program, f"{program} --folder 'my runs'"]


def test_a_game_may_be_spelled_in_another_way(tmp_path):
    record: dict[str, Any] = {"algorithm": "fast-dqn", "frames": 4, "sessions": []}
    record |= {"finished": False, "settings": asdict(mspacman.Settings().decided())}
    (tmp_path / "run.json").write_text(json.dumps(record))
    place = RunFolder(tmp_path)
    mspacman.check_same(place, mspacman.Settings(game="ms_pacman"))
    with pytest.raises(RunError, match="with another game\\."):
        mspacman.check_same(place, mspacman.Settings(game="Pong"))


def test_it_shows_four_moments():
    seen = mspacman.look()
    assert seen.shape == (4, 84, 84)
    assert all((a != b).any() for a, b in pairwise(seen))
