"""What a run writes down while it goes on: curve, progress and TensorBoard."""

import contextlib
import csv
import errno
import fcntl
import json
import os
import pty
import struct
import sys
import termios
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import SummaryWriter

from labml_rl import runs
from labml_rl.runs import checkpoint, curve, loop
from labml_rl.runs.bar import Bar
from labml_rl.runs.folder import RunFolder
from tests.book.interrupted import (
    Failing,
    PowerFailureError,
    assert_same_run,
    assert_shown,
    curve_of,
)
from tests.book.tiny_runs import Settings, Tiny


def test_tensorboard_shows_each_frame_once(tmp_path):
    path = tmp_path / "run"
    Failing.fails_at = (30, 50)
    for attempt in range(3):
        if attempt:
            time.sleep(1)  # its files are in order by seconds, and then by their names
        try:
            if attempt == 0:
                # The last row is in the checkpoint, and is not done again.
                settings = Settings(total_frames=480)
                runs.train(Failing, settings, folder=path, checkpoint_minutes=0)
            else:
                runs.resume(Failing, path)
        except PowerFailureError:
            assert attempt < 2
    events = assert_shown(path)
    returns = events.Scalars("run/return_mean")
    assert returns[-1].value == pytest.approx(float(curve_of(path)[-1]["return_mean"]))


def test_a_curve_that_can_not_be_written_ends_it_with_a_checkpoint(
    whole, tmp_path, monkeypatch, capfd
):
    """TensorBoard writes in a thread, which would print where it was."""
    path, write = tmp_path / "run", RecordWriter.write

    def full(*arguments: Any) -> None:
        if (path / "progress.csv").read_text().count("\n") > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(*arguments)

    monkeypatch.setattr(RecordWriter, "write", full)
    with pytest.raises(runs.RunError, match="run can't be written: No space") as caught:
        runs.train(Tiny, Settings(), folder=path)
    monkeypatch.undo()
    assert "Traceback" not in capfd.readouterr().err
    frames = checkpoint.load(path / "checkpoint.safetensors", only=("frames",))
    assert frames["frames"] >= 16
    record = json.loads((path / "run.json").read_text())
    assert (record["frames"], record["finished"]) == (frames["frames"], False)
    assert f"of {frames['frames']} frames; to go on" in "".join(caught.value.__notes__)
    runs.resume(Tiny, path)
    assert_same_run(whole, path)


def test_a_checkpoint_waits_until_tensorboard_has_its_rows(tmp_path, monkeypatch):
    """However slow the disk is."""
    write, add, save = RecordWriter.write, SummaryWriter.add_scalar, checkpoint.save
    added, written, behind = [], [], []

    def noted(*arguments: Any) -> None:
        added.append(1)
        add(*arguments)

    def slow(*arguments: Any) -> None:
        time.sleep(0.02)
        write(*arguments)
        written.append(1)

    def compared(*arguments: Any) -> None:
        behind.append(len(added) - len(written))
        save(*arguments)

    monkeypatch.setattr(SummaryWriter, "add_scalar", noted)
    monkeypatch.setattr(RecordWriter, "write", slow)
    monkeypatch.setattr(checkpoint, "save", compared)
    settings = Settings(total_frames=16)
    runs.train(Tiny, settings, folder=tmp_path / "run", checkpoint_minutes=0)

    # Some rows that are no scalars, such as the settings, are written before the first.
    assert len(behind) > 2
    assert len(set(behind[1:])) == 1, behind
    assert len(added) > 10


def test_a_long_run_has_no_more_than_500_rows(tmp_path):
    settings = Settings(total_frames=1202 * 2, num_envs=1, steps=2)
    path = runs.train(Tiny, settings, folder=tmp_path / "run")
    rows = curve_of(path)
    assert len(rows) == 500
    assert int(rows[-1]["frames"]) == 2404

    # Each row has the average of the updates since the one before.
    before = 0
    for row in rows:
        updates = int(row["updates"])
        assert float(row["round"]) == pytest.approx((before + updates - 1) / 2)
        before = updates


def test_checkpoints_are_as_many_minutes_apart_as_was_said(tmp_path, monkeypatch):
    """By a clock that goes on by a minute in each update, of 8 frames."""
    now, saved, save = [1_000.0], [], checkpoint.save

    class Lasting(Tiny):
        def update(self) -> dict[str, float]:
            now[0] += 60
            return super().update()

    def noted(path: Path, state: dict[str, Any]) -> None:
        saved.append(state["frames"])
        save(path, state)

    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr(loop, "time", clock)
    monkeypatch.setattr(checkpoint, "save", noted)
    settings = Settings(total_frames=96)
    runs.train(Lasting, settings, folder=tmp_path / "run", checkpoint_minutes=5)
    assert saved == [0, 40, 80, 96]


class Reordering(Tiny):
    """What it measures comes in another order each time."""

    def update(self) -> dict[str, float]:
        found = super().update()
        return dict(reversed(found.items())) if self.updates % 2 else found


def test_each_column_holds_one_thing_whatever_the_order(tmp_path):
    for experiment in (Tiny, Reordering):
        runs.train(experiment, Settings(), folder=tmp_path / experiment.__name__)
    written = (tmp_path / name / "progress.csv" for name in ("Tiny", "Reordering"))
    tables = [list(csv.DictReader(file.read_text().splitlines())) for file in written]
    clock = {"seconds", "steps_per_second"}
    one, other = ([{k: r[k] for k in r.keys() - clock} for r in t] for t in tables)
    assert one == other


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (None, TypeError, r"update\(\) must return .*, not NoneType"),
        ({"frames": 1.0}, KeyError, "each curve has columns of these names: frames"),
        ({"loss": "low"}, TypeError, "loss is a str"),
    ],
)
def test_so_does_one_whose_first_update_returns_no_numbers(
    tmp_path, returned, error, words
):
    class Unfinished(Tiny):
        def update(self) -> Any:
            super().update()
            return returned

    path = tmp_path / "run"
    for _ in range(2):
        with pytest.raises(error, match=words) as caught:
            runs.train(Unfinished, Settings(), folder=path)
        assert not hasattr(caught.value, "__notes__")
        assert not path.exists()


class Measuring(Tiny):
    """It measures something in its own way."""

    found: ClassVar[Any] = None

    def update(self) -> Any:
        return {**super().update(), "found": self.found}


@pytest.mark.parametrize(
    "number",
    [
        *(torch.tensor(0.5), torch.full((1, 1), 0.5)),
        *(np.float32(0.5), np.full((), 0.5), np.full(1, 0.5), np.full((1, 1), 0.5)),
        0.5,
    ],
    ids=repr,
)
def test_what_is_measured_may_be_a_number_of_any_kind(tmp_path, monkeypatch, number):
    monkeypatch.setattr(Measuring, "found", number)
    path = runs.train(Measuring, Settings(total_frames=8), folder=tmp_path / "run")
    assert {row["found"] for row in curve_of(path)} == {"0.5"}


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (torch.zeros(3), r"found is a Tensor of shape \(3,\)"),
        (np.zeros((2, 2)), r"found is a ndarray of shape \(2, 2\)"),
        ("much", "found is a str$"),
    ],
)
def test_what_is_measured_must_be_a_number(tmp_path, monkeypatch, found, said):
    monkeypatch.setattr(Measuring, "found", found)
    with pytest.raises(TypeError, match=rf"must return numbers, and {said}"):
        runs.train(Measuring, Settings(), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_without_a_terminal_there_is_a_line_a_minute(capsys, monkeypatch):
    experiment = Tiny(Settings())
    now = [100.0]
    monkeypatch.setattr("labml_rl.runs.bar.time.monotonic", lambda: now[0])
    bar = Bar(experiment)
    for _ in range(8):
        now[0] += 20
        experiment.advance()
        bar.show()
    bar.close()
    experiment.close()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 + 1, "and one for the end"
    assert lines[0].startswith("8 of 640 frames, 0 a second, 26:20 left, ")
    assert lines[-1].startswith("64 of 640 frames, ")


def test_nothing_is_left_of_a_run_that_went_a_little_further(capsys, monkeypatch):
    experiment = Tiny(Settings(total_frames=6))
    bar = Bar(experiment)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    in_terminal = Bar(experiment)
    experiment.advance()
    for each in (bar, in_terminal):
        each.show()
        each.close()
    experiment.close()
    said = capsys.readouterr().err
    assert "8 of 6 frames" in said
    assert " 00:00 left" in said
    assert "6.00/6.00" in said


def test_in_a_terminal_there_is_a_bar(capsys, monkeypatch):
    experiment = Tiny(Settings())
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bar = Bar(experiment)
    for _ in range(30):
        experiment.advance()
    bar.show()
    bar.close()
    experiment.close()
    said = capsys.readouterr().err
    assert "240/640" in said
    assert "return " in said


@pytest.mark.parametrize("rows", [0, 2, 3])
def test_a_terminal_without_rows_has_no_bar(rows, monkeypatch):
    """Some programs open one that is of no size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", rows, 80, 0, 0))
    experiment = Tiny(Settings())
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setattr("labml_rl.runs.bar.SECONDS_PER_LINE", 0)
        bar = Bar(experiment)
        experiment.advance()
        bar.show()
        bar.close()
        print("THE END", file=terminal, flush=True)
        # What was written arrives bit by bit.
        said = ""
        while "THE END" not in said:
            said += os.read(ours, 4096).decode()
        monkeypatch.undo()
    os.close(ours)
    experiment.close()
    assert ("8 of 640 frames, " in said) == (rows < 3)
    assert ("8.00/640" in said) == (rows == 3)


@pytest.fixture
def drawn(tmp_path):
    """A curve that has not begun, and its experiment."""
    with RunFolder(tmp_path) as place:
        experiment = Tiny(Settings())
        found = curve.Curve(place, experiment)
        yield found, experiment
        found.close()
        experiment.close()


def test_a_row_by_hand(tmp_path, drawn, monkeypatch):
    """Of an Atari game, with four frames to a step, and points that are no steps."""
    _, experiment = drawn
    now = [50.0]
    monkeypatch.setattr(curve, "time", SimpleNamespace(monotonic=lambda: now[0]))
    experiment.settings = Settings(game="Pong", total_frames=8_000)
    before = {"frames": 400, "seconds": 990.0}
    with contextlib.closing(curve.Curve(RunFolder(tmp_path), experiment)) as found:
        since = {"sums": {"loss": 0.0}, "counts": {"loss": 0}}
        found.set_state({"rows": [before], **since, "seconds": 1_000})
        found.begin()
        experiment.frames, experiment.updates, experiment.episodes = 4_400, 9, 2
        experiment.recent.extend([{"r": 7.0, "l": 3}, {"r": 8.0, "l": 5}])
        now[0] += 15
        found.add({"loss": 0.5})
        assert found.rows == [
            before,
            {
                "frames": 4_400,
                "updates": 9,
                "seconds": 1_015,
                "steps_per_second": 4_000 / 4 / 25,
                "episodes": 2,
                "return_mean": 7.5,
                "length_mean": 4,
                "loss": 0.5,
            },
        ]


def test_all_games_that_end_are_counted():
    with contextlib.closing(Tiny(Settings())) as experiment:
        scores = [score for _ in range(80) for score in experiment.advance()[1]]
        assert experiment.episodes == len(scores) > 5
        assert list(experiment.recent) == scores


def test_the_curve_wants_the_same_metrics_each_time(drawn):
    drawn, experiment = drawn
    drawn.begin()
    experiment.settings = Settings(total_frames=10**9)
    drawn.add({"loss": 1.0})
    for strange in ({"entropy": 1.0}, {}, {"loss": 1.0, "entropy": 1.0}):
        with pytest.raises(KeyError, match=r"entropy|loss"):
            drawn.add(strange)


def test_what_is_measured_has_names_of_its_own(drawn):
    drawn, _ = drawn
    drawn.begin()
    with pytest.raises(KeyError, match="of these names: episodes, frames"):
        drawn.add({"loss": 1.0, "frames": 2.0, "episodes": 3.0})


def test_the_curve_wants_the_same_metrics_after_each_row(drawn):
    drawn, experiment = drawn
    drawn.begin()
    experiment.frames = 320
    drawn.add({"loss": 1.0})
    experiment.frames = 640
    with pytest.raises(KeyError, match="entropy"):
        drawn.add({"loss": 1.0, "entropy": 1.0})
    assert len(drawn.rows) == 1


def test_the_curve_wants_the_same_after_a_row_without_any(drawn):
    """Its first line has the names of all columns, and is written already."""
    drawn, experiment = drawn
    drawn.begin()
    experiment.frames = 320
    drawn.add({})
    experiment.frames = 640
    with pytest.raises(KeyError, match="loss"):
        drawn.add({"loss": 1.0})
    drawn.add({})
    assert len(drawn.rows) == 2


def test_after_a_stop_the_score_is_still_that_of_a_hundred_games():
    score = {"r": 1.0, "l": 1}
    with contextlib.closing(Tiny(Settings())) as experiment:
        experiment.recent.extend([score] * 100)
        experiment.set_state(experiment.get_state())
        assert len(experiment.recent) == 100
        experiment.recent.append(score)
        assert len(experiment.recent) == 100


def test_what_was_played_before_a_stop_took_no_time_since(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("labml_rl.runs.bar.time.monotonic", lambda: now[0])
    with contextlib.closing(Tiny(Settings())) as experiment:
        for _ in range(10):
            experiment.advance()
        Bar(experiment).close()
        assert capsys.readouterr().err == "", "there is nothing new"
        bar = Bar(experiment)
        now[0] += 4
        experiment.advance()
        experiment.recent.clear()
        experiment.recent.extend([{"r": 6.0, "l": 1}, {"r": 8.0, "l": 2}])
        bar.show()
        bar.close()
        said = capsys.readouterr().err
        assert said == "88 of 640 frames, 2 a second, 04:36 left, return 7.0\n"
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        Bar(experiment).close()
    assert "88.0/640" in capsys.readouterr().err


def test_a_pipe_that_nobody_reads_ends_no_run(monkeypatch):
    def broken(*_: Any) -> None:
        raise BrokenPipeError

    pipe = SimpleNamespace(isatty=lambda: False, write=broken, flush=broken)
    monkeypatch.setattr(sys, "stderr", pipe)
    with contextlib.closing(Tiny(Settings())) as experiment:
        bar = Bar(experiment)
        for _ in range(2):
            experiment.advance()
            bar.show()
        bar.close()


def test_threads_say_again_what_goes_wrong(tmp_path, monkeypatch):
    told: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", told.append)
    with curve.said_once():
        thread = threading.Thread(target=int, args=("nothing",))
        thread.start()
        thread.join()
    assert [each.exc_type for each in told] == [ValueError]
    assert threading.excepthook == told.append
