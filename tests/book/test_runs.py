"""Runs: however often one is interrupted, it comes to the same end."""

import ast
import contextlib
import csv
import errno
import fcntl
import inspect
import json
import math
import operator
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Literal, NamedTuple

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.envs.classic_control import CartPoleEnv
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.summary.writer.record_writer import RecordWriter
from torch.utils.tensorboard import SummaryWriter

from labml_rl import runs, worker
from labml_rl.batch import SerialGames, spawn_seeds
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn import fast
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.fingerprint import fingerprint
from labml_rl.players import Players
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import rnd
from labml_rl.process import STOP_SIGNALS
from labml_rl.runs import checkpoint, curve, loop, record
from labml_rl.runs.bar import Bar
from labml_rl.runs.command import find_experiment
from labml_rl.runs.experiment import find_device
from labml_rl.runs.folder import RunFolder, default_folder
from labml_rl.runs.games import GameSettings
from labml_rl.runs.signals import HINT, Ear
from labml_rl.sampling import Sampler
from labml_rl.small import PPOSettings, SmallPPO
from labml_rl.worker import available_cores
from tests.book.future_settings import FutureSettings
from tests.book.tiny_runs import HELD, Settings, Tiny

ROOT = Path(__file__).parents[2]
TIMES = ("seconds", "steps_per_second")


def curve_of(path: Path) -> list[dict[str, str]]:
    """The curve, without the columns that no two runs have in common."""
    with open(path / "progress.csv", encoding="utf-8", newline="") as file:
        return [
            {name: value for name, value in row.items() if name not in TIMES}
            for row in csv.DictReader(file)
        ]


def end_of(path: Path) -> dict[str, torch.Tensor]:
    """All that is left in the checkpoint, but for times."""
    state = checkpoint.load(path / "checkpoint.safetensors")
    del state["curve"], state["settings"]
    flat: dict[str, torch.Tensor] = {}
    flat["text"] = checkpoint._flatten(state, "", flat)
    return flat


def assert_same_run(a: Path, b: Path) -> None:
    assert curve_of(a) == curve_of(b)
    ends = end_of(a), end_of(b)
    assert ends[0].pop("text") == ends[1].pop("text")
    assert ends[0].keys() == ends[1].keys()
    for name, value in ends[0].items():
        assert torch.equal(value, ends[1][name]), name


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never interrupted."""
    path = tmp_path_factory.mktemp("whole") / "run"
    return runs.train(Tiny, Settings(), folder=path)


def test_a_run_leaves_all_that_is_needed_to_judge_it(whole):
    record = json.loads((whole / "run.json").read_text())
    assert record["algorithm"] == "tiny"
    assert record["frames"] == 640
    assert record["finished"]
    assert record["settings"]["game"] == "CartPole-v1"
    assert record["settings"]["steps"] == 4
    assert (
        eval(
            record["command"].removeprefix("runs.train(tests.book.tiny_runs.Tiny, ")[
                :-1
            ],
            {"Settings": Settings},
        )
        == Settings()
    )
    (session,) = record["sessions"]
    git = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    if commit.returncode == 0:
        assert session["commit"] == commit.stdout.strip()
    assert session["versions"]["torch"] == metadata.version("torch")
    assert session["machine"]["cores"] == os.cpu_count()
    assert "labml_rl/runs/loop.py" in session["sources"]

    rows = curve_of(whole)
    assert len(rows) == 80  # updates of 8 frames; there would be room for 500
    assert [int(row["frames"]) for row in rows] == list(range(8, 641, 8))
    assert rows[0]["return_mean"] == ""
    assert float(rows[-1]["return_mean"]) > 5
    assert rows[-1]["return_mean"] == rows[-1]["length_mean"]  # CartPole pays each step


def test_a_commit_is_noted_only_where_the_book_is_in_it(tmp_path, monkeypatch):
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        command = ["git", *who, "-c", "commit.gpgsign=false", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode().strip()

    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(record, "PACKAGE", package)
    git("init")
    git("commit", "--allow-empty", "--message", "Another program")
    assert record.session(0, Tiny)["commit"] is None
    assert record.session(0, Tiny)["uncommitted_changes"] is None

    git("add", ".")
    git("commit", "--message", "The book")
    assert record.session(0, Tiny)["commit"] == git("rev-parse", "HEAD")
    assert record.session(0, Tiny)["uncommitted_changes"] is False
    (package / "__init__.py").write_text("changed = True")
    assert record.session(0, Tiny)["uncommitted_changes"] is True


def test_the_commit_and_the_code_of_an_experiment_of_ones_own(whole):
    """Of all that it is derived from, down to what the book has."""
    (session,) = json.loads((whole / "run.json").read_text())["sessions"]
    ((file, own),) = session["own_sources"].items()
    assert file == inspect.getsourcefile(Tiny)
    assert own["fingerprint"] == fingerprint(Path(file).read_text(encoding="utf-8"))
    assert own.keys() == {"fingerprint", "commit", "uncommitted_changes"}
    derived = record.session(0, Failing)["own_sources"]
    assert derived.keys() == {file, __file__}
    assert not record.session(0, ppo.Experiment)["own_sources"]


@pytest.mark.parametrize(
    "written",
    [b"\xef\xbb\xbfx = 1\n", b"# -*- coding: latin-1 -*-\nx = 1  # \xfc\n"],
    ids=["mark", "latin-1"],
)
def test_code_of_ones_own_may_be_written_as_python_reads_it(
    written, tmp_path, monkeypatch
):
    file = tmp_path / "mine.py"
    file.write_bytes(written)
    mine = ModuleType("mine")
    mine.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "mine", mine)
    own = record.session(0, type("Mine", (Tiny,), {"__module__": "mine"}))[
        "own_sources"
    ]
    assert own[str(file)]["fingerprint"] == fingerprint("x = 1\n")


def test_code_of_ones_own_may_be_in_a_module_that_was_loaded_by_hand():
    mine = type("Mine", (Tiny,), {"__module__": "of_nobody"})
    (file,) = record.session(0, mine)["own_sources"]
    assert file == inspect.getsourcefile(Tiny)


@pytest.mark.parametrize(
    "name", ["make_network", "think", "game_options", "needs_plan"]
)
def test_what_needs_no_experiment_is_static(name, tmp_path):
    wrong = type("Wrong", (Tiny,), {name: lambda self, *given: None})
    with pytest.raises(runs.RunError, match=rf"Wrong\.{name} needs @staticmethod"):
        runs.train(wrong, Settings(), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_longer_run_without_a_program_is_two_lines_of_python(tmp_path):
    path = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    runs.resume(Tiny, path, total_frames=16)
    command = json.loads((path / "run.json").read_text())["command"]
    assert [type(line.value) for line in ast.parse(command).body] == [ast.Call] * 2


def test_the_same_seed_is_the_same_run_and_another_is_not(whole, tmp_path):
    again = runs.train(
        Tiny, Settings(), folder=tmp_path / "again", checkpoint_minutes=0
    )
    assert_same_run(whole, again)
    other = runs.train(Tiny, Settings(seed=2), folder=tmp_path / "other")
    assert curve_of(whole) != curve_of(other)


class PowerFailureError(Exception):
    pass


class Failing(Tiny):
    """The power fails in the middle of an update, again and again."""

    fails_at: tuple[int, ...] = ()

    def update(self) -> dict[str, float]:
        metrics = super().update()
        if self.updates in Failing.fails_at:
            Failing.fails_at = tuple(
                each for each in Failing.fails_at if each != self.updates
            )
            raise PowerFailureError
        return metrics


def broken_off(
    path: Path,
    updates: int,
    settings: Settings | None = None,
    *,
    minutes: float = loop.CHECKPOINT_MINUTES,
) -> Path:
    """The folder of a run in which the power has failed after so many updates."""
    Failing.fails_at = (updates,)
    with pytest.raises(PowerFailureError):
        runs.train(
            Failing, settings or Settings(), folder=path, checkpoint_minutes=minutes
        )
    return path


@pytest.mark.parametrize(
    "saves_after_each", [pytest.param(True, marks=pytest.mark.long), False]
)
def test_a_run_that_failed_three_times_is_the_same(
    whole, tmp_path, monkeypatch, saves_after_each
):
    path = tmp_path / "run"
    minutes = 0 if saves_after_each else 5
    Failing.fails_at = (1, 33, 79)
    with pytest.raises(PowerFailureError) as caught:
        runs.train(Failing, Settings(), folder=path, checkpoint_minutes=minutes)
    left = f"of {8 * saves_after_each} frames; to go on from there: "
    way = loop.way_to_resume(Failing, path, checkpoint_minutes=minutes)
    assert f"{left}{way}" in caught.value.__notes__[0]
    for _ in range(2):
        with pytest.raises(PowerFailureError):
            runs.resume(Failing, path, checkpoint_minutes=minutes)
    runs.resume(Failing, path, checkpoint_minutes=minutes)
    assert_same_run(whole, path)

    sessions = json.loads((path / "run.json").read_text())["sessions"]
    begun = [0, 8, 33 * 8, 79 * 8] if saves_after_each else [0, 0, 0, 0]
    assert [session["from_frames"] for session in sessions] == begun


def test_a_run_that_failed_between_two_rows_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(curve, "ROWS", 7)
    once = runs.train(Tiny, Settings(), folder=tmp_path / "once")
    assert len(curve_of(once)) == 7
    Failing.fails_at = (3, 15, 33)
    path = tmp_path / "run"
    with pytest.raises(PowerFailureError):
        runs.train(Failing, Settings(), folder=path, checkpoint_minutes=0)
    for _ in range(2):
        with pytest.raises(PowerFailureError):
            runs.resume(Failing, path, checkpoint_minutes=0)
    runs.resume(Failing, path)
    assert_same_run(once, path)


def assert_shown(path: Path) -> EventAccumulator:
    """TensorBoard has each row of the curve."""
    events = EventAccumulator(str(path))
    events.Reload()
    shown = {each.step: each.value for each in events.Scalars("learning/loss")}
    rows = {int(row["frames"]): float(row["loss"]) for row in curve_of(path)}
    assert list(shown) == list(rows)
    assert np.allclose(list(shown.values()), list(rows.values()))
    return events


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


@contextlib.contextmanager
def start(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The experiment in a program of its own, which is held in the middle."""
    command = [sys.executable, "-m", "tests.book.tiny_runs", *arguments]
    held = ["--hold", str(folder) + "-goes-on", "--checkpoint-minutes", "0"]
    with subprocess.Popen(
        [*command, *held, "--folder", str(folder)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        try:
            yield program
        except BaseException:
            os.killpg(program.pid, signal.SIGKILL)
            raise


def wait_until_held(path: Path) -> int:
    frames = 8 * (HELD - 1)
    for _ in range(4_000):
        if (path / "run.json").exists():
            reached = json.loads((path / "run.json").read_text())["frames"]
            if reached == frames:
                return frames
        time.sleep(0.05)
    raise AssertionError(f"no checkpoint of {frames} frames")


def let_go(path: Path) -> None:
    Path(f"{path}-goes-on").touch()


def test_kill_9(whole, tmp_path):
    """With workers, which hear of it and leave."""
    path = tmp_path / "run"
    with start("--workers", "2", folder=path) as program:
        frames = wait_until_held(path)
        program.kill()
        program.communicate()
    assert json.loads((path / "run.json").read_text())["frames"] == frames
    let_go(path)
    time.sleep(1)  # TensorBoard's files are in order by seconds, and then by process
    runs.resume(Tiny, path)
    assert_same_run(whole, path)
    assert_shown(path)


@pytest.mark.parametrize(
    ("workers", "number"),
    [(0, signal.SIGINT), (2, signal.SIGINT), (2, signal.SIGTERM)],
)
def test_a_signal_to_all_processes_stops_it_cleanly(whole, tmp_path, workers, number):
    path = tmp_path / "run"
    with start("--workers", str(workers), folder=path) as program:
        frames = wait_until_held(path)
        os.killpg(program.pid, number)
        assert program.stderr is not None
        heard = any("Stopping after this update" in line for line in program.stderr)
        assert heard
        let_go(path)
        # Standard error ends when the last process that has it is gone.
        _, said = program.communicate()
    assert program.returncode == 128 + number
    # It may have been heard just before the update that was held.
    record = json.loads((path / "run.json").read_text())
    assert record["frames"] in (frames, frames + 8)
    assert (
        f"Stopped. The checkpoint {path / 'checkpoint.safetensors'} "
        f"is of {record['frames']} frames; to go on from there: "
        f"python -m tests.book.tiny_runs resume {path}" in said
    )
    assert "Traceback" not in said
    with pytest.raises(SystemExit) as caught:
        runs.main(Tiny, ["resume", str(path)])
    assert caught.value.code == 0
    assert_same_run(whole, path)


class Pressing(Tiny):
    """Somebody presses Ctrl-C in the middle of an update."""

    times = 1
    number = signal.SIGINT

    def update(self) -> dict[str, float]:
        if self.updates == 10:
            for _ in range(self.times):
                signal.raise_signal(self.number)
        return super().update()


class PressingTwice(Pressing):
    times = 2


def test_ctrl_c_once_and_twice(tmp_path, monkeypatch):
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(runs.Stopped, match=r"Stopped\. .* is of 88 frames"):
        runs.train(Pressing, Settings(), folder=tmp_path / "once")
    # Two that come together are one.
    with pytest.raises(runs.Stopped, match=r"Stopped\. .* is of 88 frames"):
        runs.train(PressingTwice, Settings(), folder=tmp_path / "echo")
    monkeypatch.setattr("labml_rl.runs.signals.ECHO_SECONDS", 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        monkeypatch.setattr(PressingTwice, "number", number)
        left = r"Stopped at once\. .* is of 0 frames"
        with pytest.raises(runs.Stopped, match=left) as caught:
            runs.train(PressingTwice, Settings(), folder=tmp_path / number.name)
        assert caught.value.signal == number
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture
def escaped() -> Iterator[list[int]]:
    """The signals that an Ear has let through, which would have ended the program."""
    numbers: list[int] = []
    before = {
        each: signal.signal(each, lambda number, _: numbers.append(number))
        for each in STOP_SIGNALS
    }
    yield numbers
    for each, handler in before.items():
        signal.signal(each, handler)


def test_a_signal_and_its_echo_are_one(escaped):
    with Ear() as ear:
        for name in ("SIGTERM", "SIGHUP", "SIGHUP", "SIGTERM", "SIGINT"):
            signal.raise_signal(signal.Signals[name])
    assert (ear.heard, escaped) == (signal.SIGTERM, [])


class Echoing(Pressing):
    """What started it hands on the signal while the run is being closed."""

    def close(self) -> None:
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.raise_signal(each)
        super().close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_echo_cuts_off_no_words(tmp_path, monkeypatch, capsys, same_signals, number):
    monkeypatch.setattr(Echoing, "number", number)
    with pytest.raises(SystemExit) as caught:
        runs.main(Echoing, ["--folder", str(tmp_path / "run")])
    assert caught.value.code == 128 + number
    assert "is of 88 frames; to go on from there: " in capsys.readouterr().err
    # Until the program has ended, one more does nothing either.
    for each in STOP_SIGNALS:
        signal.raise_signal(each)


@pytest.mark.parametrize("again", [signal.SIGINT, signal.SIGTERM])
def test_a_terminal_that_is_closed_is_in_no_hurry(monkeypatch, escaped, again):
    monkeypatch.setattr("labml_rl.runs.signals.ECHO_SECONDS", 0)
    with Ear() as ear:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(again)
    assert (ear.heard, escaped) == (again, [])


def test_nothing_is_written_where_standard_error_was_closed(monkeypatch, escaped):
    written = []
    monkeypatch.setattr("os.write", lambda *what: written.append(what))
    for there in (sys.__stderr__, None):
        monkeypatch.setattr("sys.__stderr__", there)
        with Ear():
            signal.raise_signal(signal.SIGINT)
        assert written == [(2, HINT)]
    assert escaped == []


def test_what_nohup_has_a_program_ignore_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Ear() as ear:
            signal.raise_signal(signal.SIGHUP)
            assert ear.heard is None
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_run_in_a_thread_needs_no_signals(tmp_path):
    settings = Settings(total_frames=80)
    thread = threading.Thread(
        target=runs.train, args=(Tiny, settings), kwargs={"folder": tmp_path / "run"}
    )
    thread.start()
    thread.join()
    assert len(curve_of(tmp_path / "run")) == 10


@pytest.mark.parametrize(
    ("spoil_at", "what"), [(-5, "loss is nan"), (5, "a weight of the network is not")]
)
def test_nan_stops_it_and_the_last_good_checkpoint_stays(tmp_path, spoil_at, what):
    path = tmp_path / "run"
    with pytest.raises(runs.NotFiniteError, match=what) as caught:
        runs.train(Tiny, Settings(spoil_at=spoil_at), folder=path, checkpoint_minutes=0)
    message = str(caught.value)
    assert "after 40 frames, in update 5" in message
    assert f"of 32 frames, is {path / 'checkpoint.safetensors'}" in message
    assert "smaller learning rate" in message
    state = checkpoint.load(path / "checkpoint.safetensors")
    assert state["frames"] == 32
    assert all(each.isfinite().all() for each in state["network"].values())


def test_a_second_run_never_overwrites_a_first(whole):
    before = {each.name: each.read_bytes() for each in whole.iterdir()}
    with pytest.raises(runs.RunError, match=r"complete run already, of 640 .*resume"):
        runs.train(Tiny, Settings(), folder=whole)
    assert {each.name: each.read_bytes() for each in whole.iterdir()} == before


def test_what_can_not_be_made_longer_is_not_said_to_be(tmp_path):
    path = runs.train(Planned, Settings(total_frames=8), folder=tmp_path / "run")
    with pytest.raises(runs.RunError, match=r"complete run already, of 8 .*") as caught:
        runs.train(Planned, Settings(), folder=path)
    assert "longer" not in str(caught.value)
    assert "choose another seed" in str(caught.value)


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(runs.RunError, match=r"not empty \(thesis.tex\)"):
        runs.train(Tiny, Settings(), folder=tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_program_that_was_killed_while_it_began(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    (path / "checkpoint.safetensors.partial").touch()
    runs.train(Tiny, Settings(), folder=path)
    for each in path.iterdir():
        if each.name != "checkpoint.safetensors":
            each.unlink()
    before = (path / "checkpoint.safetensors").read_bytes()
    with pytest.raises(runs.RunError, match=r"no run.json.*: rm .*checkpoint\.safe"):
        runs.train(Tiny, Settings(), folder=path)
    assert (path / "checkpoint.safetensors").read_bytes() == before
    (path / "checkpoint.safetensors").unlink()
    runs.train(Tiny, Settings(), folder=path)


def waits_in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 2))
    impatient = SimpleNamespace(monotonic=clock.__next__, sleep=time.sleep)
    monkeypatch.setattr("labml_rl.runs.folder.time", impatient)


def test_two_programs_can_not_go_on_with_one_run(tmp_path, monkeypatch):
    path = broken_off(tmp_path / "run", 5)
    with RunFolder(path) as first:
        first.reopen()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            runs.resume(Tiny, path)
        monkeypatch.undo()
    runs.resume(Tiny, path)


def test_two_programs_on_two_machines_can_not_either(tmp_path, monkeypatch):
    """The file systems between them lock only what is open for writing."""
    flock = fcntl.flock

    def strict(handle: int, how: int) -> None:
        mode = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE
        if how & fcntl.LOCK_EX and mode == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(handle, how)

    runs.train(Tiny, Settings(total_frames=8), folder=tmp_path)
    monkeypatch.setattr(fcntl, "flock", strict)
    with RunFolder(tmp_path) as first:
        first.reopen()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            runs.resume(Tiny, tmp_path)


def test_a_folder_that_can_not_be_cleared_hides_no_error(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path / "run")
    folder.claim()

    def read_only(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    folder.discard()


def discard_at_next_lock(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a folder back while somebody else waits for its lock."""
    flock = fcntl.flock

    def discarded_meanwhile(handle: int, how: int) -> None:
        monkeypatch.undo()
        folder.discard()
        folder.__exit__()
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", discarded_meanwhile)


def test_a_folder_that_is_taken_back_is_said_to_be(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with RunFolder(path) as first, RunFolder(path) as second:
        first.claim()
        discard_at_next_lock(first, monkeypatch)
        with pytest.raises(runs.RunError, match="was taken back just now; try again"):
            second.claim()


def test_a_lock_that_is_taken_back_is_no_lock(tmp_path, monkeypatch):
    """Somebody waits for the folder of a run that can't begin."""
    first = RunFolder(tmp_path)
    first.claim()
    discard_at_next_lock(first, monkeypatch)
    with RunFolder(tmp_path) as second, RunFolder(tmp_path) as third:
        second.claim()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            third.claim()


def test_two_programs_can_not_begin_one_run(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with RunFolder(path) as first:
        first.claim()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            runs.train(Tiny, Settings(total_frames=8), folder=path)
        monkeypatch.undo()
    runs.train(Tiny, Settings(total_frames=8), folder=path)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(runs.RunError, match="Permission denied"):
        runs.train(Tiny, Settings(), folder=tmp_path / "run")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everywhere")
def test_a_folder_that_may_not_be_searched(tmp_path):
    tmp_path.chmod(0)
    with pytest.raises(runs.RunError, match="Permission denied"):
        runs.train(Tiny, Settings(), folder=tmp_path / "run")


def test_a_place_where_there_can_be_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(runs.RunError, match="can't be written: Not a directory"):
        runs.train(Tiny, Settings(), folder=tmp_path / "file" / "run")


def test_no_room_is_noticed_before_the_first_frame(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    with pytest.raises(runs.RunError, match="no room for checkpoints"):
        runs.train(Tiny, Settings(), folder=tmp_path / "a" / "run")
    assert os.listdir(tmp_path) == []


def test_room_is_asked_for_the_memory_that_will_be_full(tmp_path, monkeypatch):
    """The first checkpoint holds next to none of it, and the last one all."""
    usage = shutil.disk_usage(tmp_path)._replace(free=500_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    settings = DQNSettings(game="Pong", workers=0, capacity=250_000, warm_up_steps=40)
    with pytest.raises(runs.RunError, match="no room for checkpoints"):
        runs.train(dqn.Experiment, settings, folder=tmp_path / "run")
    # A short run never fills it.
    short = replace(settings, total_frames=320)
    runs.train(dqn.Experiment, short, folder=tmp_path / "run")


@pytest.mark.parametrize(
    ("experiment", "settings", "refuses"),
    [
        (dqn.Experiment, DQNSettings(workers=0), "dqn.experiment.ReplayMemory"),
        (ppo.Experiment, ppo.Settings(workers=0, players=False), "onpolicy.Sampler"),
    ],
)
def test_games_are_closed_if_the_rest_can_not_be_made(
    monkeypatch, experiment, settings, refuses
):
    def no_room(*_: Any, **__: Any) -> None:
        raise MemoryError

    made = []

    class Noted(SerialGames):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr(f"labml_rl.{refuses}", no_room)
    monkeypatch.setattr("labml_rl.worker.SerialGames", Noted)
    with pytest.raises(MemoryError):
        experiment(replace(settings, game="CartPole-v1"))
    (games,) = made
    assert games.closed


def test_a_disk_that_is_full_at_once_has_nothing_left_on_it(tmp_path, monkeypatch):
    replace = os.replace

    def full(old: Path, new: Path) -> None:
        if new.name == "run.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(old, new)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(runs.RunError, match=r"run\.json can't be written: No space"):
        runs.train(Tiny, Settings(), folder=tmp_path / "a" / "run")
    assert os.listdir(tmp_path) == []


def test_a_file_system_without_locks_is_good_enough(tmp_path, monkeypatch):
    def flock(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("labml_rl.runs.folder.fcntl.flock", flock)
    runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")


def test_a_disk_that_fills_up_later_costs_what_was_since_the_last_one(
    whole, tmp_path, monkeypatch
):
    path = tmp_path / "run"
    save, saved = checkpoint.save, []

    def fails_the_third_time(*arguments: Any) -> None:
        saved.append(1)
        if len(saved) == 3:
            raise checkpoint.CheckpointError("No space left on device")
        save(*arguments)

    monkeypatch.setattr(checkpoint, "save", fails_the_third_time)
    with pytest.raises(runs.CheckpointError, match="No space left"):
        runs.train(Tiny, Settings(), folder=path, checkpoint_minutes=0)
    monkeypatch.undo()
    assert json.loads((path / "run.json").read_text())["frames"] == 8
    runs.resume(Tiny, path)
    assert_same_run(whole, path)


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


class Sticky(Tiny):
    """Its games ignore an action now and then."""

    @staticmethod
    def game_options(settings: Any) -> dict[str, Any]:
        return {"sticky_actions": 0.25}


def test_an_atari_game_goes_on_in_the_middle(tmp_path):
    settings = Settings(game="ms pacman", total_frames=384, workers=1)
    whole = runs.train(Tiny, settings, runs=tmp_path / "whole")
    assert whole == tmp_path / "whole" / "tiny" / "ms_pacman" / "seed-1"
    path = broken_off(tmp_path / "run", 7, settings, minutes=0)
    runs.resume(Failing, path)
    assert_same_run(whole, path)


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


def test_a_run_that_fails_in_its_first_update_leaves_nothing(tmp_path):
    """Whoever writes an algorithm tries again with the same command."""
    path = tmp_path / "runs" / "run"
    Failing.fails_at = (0,)
    with pytest.raises(PowerFailureError) as caught:
        runs.train(Failing, Settings(), folder=path)
    assert not hasattr(caught.value, "__notes__")
    assert not list(tmp_path.iterdir())
    runs.train(Failing, Settings(), folder=path)


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


def test_a_run_that_would_never_end_says_so(tmp_path):
    class Endless(Tiny):
        def update(self) -> Any:
            before = self.frames
            metrics = super().update()
            self.frames = before
            return metrics

    with pytest.raises(ValueError, match=r"update\(\) must count up frames, or"):
        runs.train(Endless, Settings(), folder=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_run_whose_settings_change_says_so_at_once(tmp_path):
    class Fading(Tiny):
        def update(self) -> Any:
            metrics = super().update()
            self.settings = replace(self.settings, steps=3)
            return metrics

    with pytest.raises(ValueError, match=r"after update\(\) the settings must be"):
        runs.train(Fading, Settings(), folder=tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "a/b", "..", None])
def test_an_algorithm_needs_a_name_that_a_folder_can_have(tmp_path, name):
    class Nameless(Tiny):
        algorithm = name

    with pytest.raises(runs.RunError, match=f"Nameless needs the name .* {name!r}"):
        runs.train(Nameless, Settings(), runs=tmp_path)
    assert not list(tmp_path.iterdir())


def test_how_a_run_is_resumed_from_python_and_from_a_program():
    assert loop.way_to_resume(Tiny, "a b") == "runs.resume(Tiny, 'a b')"
    assert loop.way_to_resume(Tiny, "a b", "python c.py") == "python c.py resume 'a b'"
    assert loop.way_to_resume(ppo.Experiment, "a") == "labml-rl resume a"
    assert loop.way_to_resume(ppo.Experiment, "-a") == "labml-rl resume ./-a"
    longer = loop.way_to_resume(ppo.Experiment, "a", total_frames=2000)
    assert longer == "labml-rl resume a --total-frames 2_000"
    seldom = loop.way_to_resume(Tiny, "a", "c.py", checkpoint_minutes=60.0)
    assert seldom == "c.py resume a --checkpoint-minutes 60"
    often = loop.way_to_resume(Tiny, "a", checkpoint_minutes=0.5)
    assert often == "runs.resume(Tiny, 'a', checkpoint_minutes=0.5)"


def test_how_often_it_was_saved_is_in_what_is_said_to_type(tmp_path):
    options: dict[str, Any] = {"checkpoint_minutes": 30, "program": "mine"}
    again = "resume .* --checkpoint-minutes 30$"
    with pytest.raises(runs.Stopped, match=again):
        runs.train(Pressing, Settings(), folder=tmp_path / "run", **options)
    with pytest.raises(runs.Stopped, match=r"resume .*/run$"):
        runs.train(Pressing, Settings(), folder=tmp_path / "b" / "run", program="mine")


def test_a_run_that_can_not_go_on_the_same_says_so(tmp_path, capsys):
    said = []
    for name, game in (("a", "Pong"), ("b", "Qbert"), ("c", "Pong")):
        settings = Settings(game=game, total_frames=64)
        experiment = {"c": Sticky}.get(name, Tiny)
        path = runs.train(experiment, settings, folder=tmp_path / name)
        assert "may differ" not in capsys.readouterr().err
        runs.resume(experiment, path, total_frames=96)
        said.append(capsys.readouterr().err)
        runs.resume(experiment, path)
        assert "may differ" not in capsys.readouterr().err, "it is complete"
    same, qbert, sticky = said
    assert "may differ" not in same
    assert "may differ from those of a run that never stopped: the emul" in qbert
    assert "stopped: which action a sticky one repeats" in sticky


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("num_envs", 2, "num_envs was 4 and is 2"),
        ("seed", 5, "seed was 1 and is 5"),
    ],
)
def test_settings_that_were_edited_are_named(tmp_path, name, value, said):
    path = runs.train(Tiny, Settings(num_envs=4), folder=tmp_path / "run")
    file = path / "run.json"
    record = json.loads(file.read_text()) | {"finished": False}
    before = record["settings"] | {}
    record["settings"][name] = value
    file.write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match=f"{file} was changed: {said}"):
        runs.resume(Tiny, path)
    # Put back, it goes on; and a run may be longer than it was.
    longer = before["total_frames"] + 16
    record["settings"] = before | {"total_frames": longer}
    file.write_text(json.dumps(record))
    runs.resume(Tiny, path)
    assert json.loads(file.read_text())["frames"] == longer


def test_a_plan_that_was_edited_is_named(tmp_path):
    class Planned(Tiny):
        @staticmethod
        def needs_plan(settings: Any) -> str:
            return "it follows one"

    path = runs.train(Planned, Settings(), folder=tmp_path / "run")
    file = path / "run.json"
    record = json.loads(file.read_text()) | {"finished": False}
    record["settings"]["total_frames"] += 8
    file.write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match=f"{file} was changed: total_frames was"):
        runs.resume(Planned, path)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rate", "much", "rate must be a number, not 'much'"),
        ("how", "soon", "how must be 'slow' or 'fast', not 'soon'"),
        ("seed", "one", "seed must be"),
    ],
)
def test_types_that_are_kept_as_text_are_looked_at(name, value, said):
    with pytest.raises(ValueError, match=said):
        FutureSettings(**{name: value})
    FutureSettings(rate=1, how="fast", workers=None)


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


class Moved(Tiny):
    """While it learns, somebody moves its folder away.

    At once, as a folder is not deleted: TensorBoard's thread may write a file into one
    that is half deleted.
    """

    folder: ClassVar[Path]

    def update(self) -> Any:
        if self.frames:
            self.folder.rename(self.folder.with_name("away"))
            raise OSError("the network is down")
        return super().update()


def test_a_folder_that_is_gone_is_not_said_to_be_there(tmp_path):
    Moved.folder = tmp_path / "run"
    with pytest.raises(OSError, match="is down") as caught:
        runs.train(Moved, Settings(), folder=tmp_path / "run")
    (note,) = caught.value.__notes__
    file = tmp_path / "run" / "checkpoint.safetensors"
    assert note == f"There is no {file} any more to go on from"


class Replaced(Tiny):
    """While it learns, its folder is moved away, and another run begins there."""

    folder: ClassVar[Path]
    fails: ClassVar[bool]

    def update(self) -> Any:
        if self.frames and not self.folder.with_name("away").exists():
            self.folder.rename(self.folder.with_name("away"))
            runs.train(Tiny, Settings(total_frames=8), folder=self.folder)
            if self.fails:
                raise OSError("the network is down")
        return super().update()


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("minutes", [0, 5])
def test_a_folder_in_which_another_run_has_begun_is_that_runs(
    tmp_path, monkeypatch, fails, minutes
):
    # TensorBoard's thread, which opens its file anew for each record, may be late.
    writers = []

    def late(self, data, write=RecordWriter.write):
        writers.append(self)
        if self is writers[0]:
            time.sleep(0.05)
        write(self, data)

    monkeypatch.setattr(RecordWriter, "write", late)
    Replaced.folder, Replaced.fails = tmp_path / "run", fails
    says = "the network is down" if fails else "another run has begun there"
    with pytest.raises((OSError, runs.RunError), match=says) as caught:
        runs.train(
            Replaced, Settings(), folder=Replaced.folder, checkpoint_minutes=minutes
        )
    assert not hasattr(caught.value, "__notes__")
    alone = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "alone")
    assert_same_run(alone, Replaced.folder)
    assert len(list(Replaced.folder.glob("events*"))) == 1
    assert json.loads((Replaced.folder / "run.json").read_text())["finished"]


def test_who_can_not_begin_takes_nothing_of_another_run_away(tmp_path):
    first = RunFolder(tmp_path / "run")
    first.claim()
    (tmp_path / "run").rename(tmp_path / "away")
    runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    first.discard()
    assert RunFolder(tmp_path / "run").read_record()["frames"] == 8


def test_a_folder_without_a_lock_is_held(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.check_held()
    with folder:
        folder.claim()
        folder.lock.unlink()
        folder.check_held()


def test_a_curve_that_was_deleted_comes_back(whole, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(runs.Stopped):
        runs.train(Pressing, Settings(), folder=path)
    (path / "progress.csv").unlink()
    runs.resume(Tiny, path)
    assert curve_of(path) == curve_of(whole)


def test_settings_of_another_algorithm_are_refused(tmp_path):
    """Those of what an experiment is derived from are not its own, either."""
    path = tmp_path / "run"
    with pytest.raises(runs.RunError, match=r"Tiny needs .*Settings, and these are"):
        runs.train(Tiny, ppo.Settings(), folder=path)
    with pytest.raises(runs.RunError, match=r"dqn\.fast\.Settings, and these are"):
        runs.train(fast.Experiment, DQNSettings(), folder=path)
    assert not path.exists()


@dataclass(frozen=True, kw_only=True)
class More(Settings):
    more: int = 1


def test_settings_that_the_experiment_does_not_know_are_refused(tmp_path):
    """Nobody could go on with such a run, or watch it."""
    path = tmp_path / "run"
    with pytest.raises(runs.RunError, match=r"Tiny needs .* settings_class = More"):
        runs.train(Tiny, More(), folder=path)
    with pytest.raises(runs.RunError, match=r"settings_class = Settings"):
        runs.train(ppo.Experiment, rnd.Settings(), folder=path)
    assert not path.exists()
    # Other defaults are fine.
    settings = PPOSettings(total_frames=256)
    path = runs.train(ppo.Experiment, settings, folder=path)
    found = json.loads((path / "run.json").read_text())
    assert vars(record.settings_of(found, ppo.Settings)) == vars(settings.decided())


def test_an_experiment_without_settings_of_its_own_has_those_of_all(tmp_path):
    class Plain(Tiny):
        algorithm = "plain"
        settings_class: ClassVar[Any] = runs.Experiment.settings_class

        def update(self) -> dict[str, float]:
            self.frames += 1
            return {}

    settings = runs.Settings(game="CartPole-v1", total_frames=8, workers=0)
    path = runs.train(Plain, settings, folder=tmp_path / "run")
    assert runs.resume(Plain, path) == path


def test_a_setting_beyond_its_limits_is_told_all_of_them():
    for limits, words in (
        ({"above": 0, "at_most": 1}, "above 0 and at most 1"),
        ({"at_least": 0, "at_most": 1}, "between 0 and 1"),
        ({"at_most": 1}, "at most 1"),
    ):
        with pytest.raises(ValueError, match=f"total_frames must be {words}, not 5$"):
            runs.require(Settings(total_frames=5), "total_frames", **limits)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("double", "no", "True or False"),
        ("double", 1, "True or False"),
        ("optimizer_name", "sgd", "'rmsprop' or 'adam'"),
        ("precision", "float16", "'auto' or 'float32' or 'bfloat16'"),
        ("total_frames", 4e7, "an int, a whole number without a point"),
        ("workers", 1.0, "an int, a whole number without a point"),
        ("stack", "4", "an int, a whole number without a point"),
        ("quantiles", True, "an int, a whole number without a point"),
        ("max_gradient_norm", True, "a number"),
        ("learning_rate", None, "a number"),
        ("max_gradient_norm", "10", "a number"),
    ],
)
def test_a_setting_of_another_kind_is_refused(name, value, right):
    """Most would be taken for something else, without a word."""
    message = f"{name} must be {right}, not {value!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        DQNSettings(**{name: value})


def test_settings_of_your_own_may_be_of_any_kind():
    @dataclass(frozen=True, kw_only=True)
    class Own(Settings):
        scale: float = 1
        either: int | str = "auto"
        choice: Literal["a", "b"] | None = None
        widths: tuple[int, ...] = (64, 64)
        quoted: "int" = 3

    assert Own().scale == 1
    assert Own(either=4, choice="b", widths=(), quoted=4).either == 4
    wrong: Any = "c"
    with pytest.raises(ValueError, match="choice must be 'a' or 'b', not 'c'"):
        Own(choice=wrong)


class Planned(Tiny):
    @staticmethod
    def needs_plan(settings: Any) -> str:
        return "the clock runs down"


def test_a_run_can_be_made_longer(tmp_path):
    """It ends where one ends that was planned so, and says how it came there."""
    planned = runs.train(Tiny, Settings(total_frames=960), folder=tmp_path / "planned")
    path = runs.train(Tiny, Settings(), folder=tmp_path / "run", command="run")
    assert runs.resume(Tiny, path, total_frames=960) == path
    assert_same_run(planned, path)
    record = json.loads((path / "run.json").read_text())
    assert record["finished"]
    assert record["frames"] == record["settings"]["total_frames"] == 960
    assert record["command"] == (
        f"run && runs.resume(Tiny, '{path}', total_frames=960)"
    )
    assert [each["from_frames"] for each in record["sessions"]] == [0, 640]


def test_a_longer_run_that_is_killed_is_not_finished(tmp_path):
    path = runs.train(Tiny, Settings(), folder=tmp_path / "run")
    Failing.fails_at = (100,)
    with pytest.raises(PowerFailureError):
        runs.resume(Failing, path, total_frames=960)
    assert not json.loads((path / "run.json").read_text())["finished"]
    runs.resume(Tiny, path)
    assert json.loads((path / "run.json").read_text())["frames"] == 960


def test_what_follows_a_plan_is_not_made_longer(tmp_path):
    path = runs.train(Planned, Settings(), folder=tmp_path / "run")
    before = (path / "run.json").read_bytes()
    for frames, message in ((640, "only be made longer"), (960, "the clock runs down")):
        with pytest.raises(runs.RunError, match=message):
            runs.resume(Planned, path, total_frames=frames)
    assert (path / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("algorithm", "options", "may"),
    [
        ("ppo", {}, False),
        ("a2c", {}, False),
        ("dqn", {}, True),
        ("dqn", {"prioritised": True}, False),
        ("fast-dqn", {}, True),
    ],
)
def test_which_algorithms_follow_a_plan(algorithm, options, may):
    experiment = find_experiment(algorithm)
    settings = experiment.settings_class(**options)
    assert (experiment.needs_plan(settings) is None) == may


CHOSEN: list[dict[str, Any]] = [
    {
        "clip_rewards": True,
        "episodic_life": True,
        "sticky_actions": 0.0,
        "full_action_space": False,
    },
    {
        "clip_rewards": False,
        "episodic_life": False,
        "sticky_actions": 0.25,
        "full_action_space": True,
    },
]


def test_nothing_that_is_chosen_of_a_game_is_left_out():
    for chosen in CHOSEN:
        assert chosen.keys() == GameSettings.__annotations__.keys(), "add it to CHOSEN"


@pytest.mark.parametrize("chosen", CHOSEN, ids=["as usual", "all else"])
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("ppo", {"players": True}),
        ("ppo", {"players": False}),
        ("dqn", {"capacity": 200, "warm_up_steps": 40}),
    ],
    ids=["ppo", "ppo without players", "dqn"],
)
def test_what_is_chosen_of_a_game_is_so_in_the_games(algorithm, options, chosen):
    found = find_experiment(algorithm)
    settings = found.settings_class(
        game="Breakout", workers=0, num_envs=2, **options, **chosen
    )
    with contextlib.closing(found(settings)) as experiment:
        games: Any = experiment.games
        if isinstance(games, Players):
            games = games.own[0].games
        elif isinstance(games, Sampler):
            games = games.players[0].games
        for each in games.get_attr("options"):
            assert {name: getattr(each, name) for name in chosen} == chosen


def test_other_settings_than_those_of_today_are_named(tmp_path):
    path = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    record = json.loads((path / "run.json").read_text())
    record["settings"]["momentum"] = 0.9
    record["finished"] = False
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match="of another version: momentum is unknown"):
        runs.resume(Tiny, path)
    record["sessions"] = [{}]
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match="Its commit was None"):
        runs.resume(Tiny, path)
    record["settings"] = vars(Settings()) | {"num_envs": "two"}
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match=r"run\.json make no sense: num_envs must"):
        runs.resume(Tiny, path)
    for damaged, said in (("{", "can't be read"), ("[]", "is not what a run has")):
        (path / "run.json").write_text(damaged)
        with pytest.raises(runs.RunError, match=rf"run\.json {said}"):
            runs.resume(Tiny, path)


@pytest.mark.usefixtures("same_threads_afterwards")
def test_a_run_goes_on_with_as_many_threads():
    """Another number of them adds up in another order."""
    with contextlib.closing(Tiny(Settings(total_frames=16))) as experiment:
        torch.set_num_threads(1)
        state = experiment.get_state()
        torch.set_num_threads(2)
        experiment.set_state(state)
        assert torch.get_num_threads() == 1
        experiment.set_state(state | {"threads": 10_000})
        assert torch.get_num_threads() == available_cores()
        del state["threads"]  # as in an older checkpoint
        torch.set_num_threads(1)
        experiment.set_state(state)
        assert torch.get_num_threads() == 1


def counting_threads(experiment: type[Tiny]) -> tuple[type[Tiny], list[int]]:
    """The same, and how many threads there were in each of its updates."""
    seen: list[int] = []

    def update(self: Tiny) -> dict[str, float]:
        seen.append(torch.get_num_threads())
        return experiment.update(self)

    return type("Counting", (experiment,), {"update": update}), seen


@pytest.mark.usefixtures("same_threads_afterwards")
def test_a_run_has_no_more_threads_than_a_container_has_cores(tmp_path, monkeypatch):
    limit = tmp_path / "cpu.max"
    limit.write_text("100000 100000")
    monkeypatch.setattr(worker, "CPU_MAX", limit)
    torch.set_num_threads(2)
    counting, seen = counting_threads(Tiny)
    path = runs.train(counting, Settings(total_frames=8), folder=tmp_path / "run")
    record = json.loads((path / "run.json").read_text())
    assert {*seen, record["sessions"][0]["machine"]["threads"]} == {1}
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("same_threads_afterwards")
def test_what_follows_a_run_has_as_many_threads_as_before(tmp_path):
    torch.set_num_threads(1)
    broken_off(tmp_path / "run", 4, minutes=0)
    torch.set_num_threads(2)
    counting, seen = counting_threads(Failing)
    runs.resume(counting, tmp_path / "run")
    assert {*seen} == {1}
    assert torch.get_num_threads() == 2


def test_a_run_that_is_older_than_a_setting_goes_on(tmp_path):
    """It has the default, with which everything is as it was."""
    path = broken_off(tmp_path / "run", 4, minutes=0) / "run.json"
    record = json.loads(path.read_text())
    del record["settings"]["hold"]
    path.write_text(json.dumps(record))
    runs.resume(Failing, tmp_path / "run")
    found = json.loads(path.read_text())
    assert found["finished"]


def test_a_checkpoint_of_another_run_is_refused(whole, tmp_path):
    path = broken_off(tmp_path / "run", 1, Settings(game="Acrobot-v1"))
    file = path / "checkpoint.safetensors"
    file.write_bytes((whole / "checkpoint.safetensors").read_bytes())
    said = r"is of tiny in CartPole-v1, and the run is of tiny in Acrobot-v1\. Put"
    with pytest.raises(runs.CheckpointError, match=said):
        runs.resume(Tiny, path)


def test_a_checkpoint_that_is_none_of_a_run_is_refused(tmp_path):
    """What is kept of the best agent is not enough to go on."""
    path = broken_off(tmp_path / "run", 1)
    state = checkpoint.load(path / "checkpoint.safetensors", only=("network",))
    checkpoint.save(path / "checkpoint.safetensors", state)
    with pytest.raises(runs.CheckpointError, match="is of no run, and"):
        runs.resume(Tiny, path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "Pog"}, "nearest is 'pong'"),
        ({"game": "Cart-v1"}, r"no environment 'Cart-v1'.* in front, as in mine:Cart"),
        (
            {"game": "HalfCheetah-v5"},
            r"no environment 'HalfCheetah-v5': MuJoCo [^()]*$",
        ),
        ({"device": "abacus"}, "no device 'abacus' here"),
    ],
)
def test_what_is_not_there_is_named_and_nothing_is_left(tmp_path, settings, message):
    with pytest.raises(runs.RunError, match=message):
        runs.train(Tiny, Settings(**settings), runs=tmp_path)
    assert os.listdir(tmp_path) == []


def test_what_an_optimiser_remembers_is_not_shared():
    """Of a state in memory, two experiments can go on without disturbing each other."""
    settings = PPOSettings(total_frames=5_000)
    with (
        contextlib.closing(SmallPPO(settings)) as one,
        contextlib.closing(SmallPPO(settings)) as other,
    ):
        one.advance()
        state = deepcopy(one.get_state())
        losses = []
        for each in (one, other):
            each.set_state(state)
        for each in (one, other, one, other):
            losses.append(each.update()["loss"])
    assert losses[0] == losses[1]
    assert losses[2] == losses[3]
    mine, theirs = (
        {each.data_ptr() for kept in states.values() for each in kept.values()}
        for states in (one.optimizer.state, other.optimizer.state)
    )
    assert not mine & theirs


@pytest.mark.parametrize("workers", [0, 1])
def test_a_mistake_in_ones_own_environment_keeps_its_traceback(tmp_path, workers):
    """Its `ValueError` is no answer to what was typed."""
    settings = Settings(game="labml_rl_tests/Mistaken-v0", workers=workers)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        runs.train(Tiny, settings, runs=tmp_path)
    assert caught.traceback[-1].name == "mistaken"
    assert "This happened" in " ".join(caught.value.__notes__)
    assert os.listdir(tmp_path) == []


def mistaken() -> gymnasium.Env[Any, Any]:
    return int("CartPole-v1")  # type: ignore[return-value]


gymnasium.register("labml_rl_tests/Mistaken-v0", f"{__name__}:mistaken")


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_a_gpu_on_which_nothing_can_be_computed_is_no_device(monkeypatch, name):
    """Such as one of 2016, for which today's PyTorch is no longer built."""
    ones = torch.ones

    def on_no_gpu(*shape, device):
        if device.type == "cuda":
            raise torch.AcceleratorError(
                "CUDA error: no kernel image is available for execution on the device\n"
                "Search for `cudaErrorNoKernelImageForDevice'."
            )
        return ones(*shape, device=device)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "empty", lambda *_, device: None)
    monkeypatch.setattr(torch, "Generator", lambda device: None)
    monkeypatch.setattr(torch, "ones", on_no_gpu)
    with pytest.raises(
        ValueError, match=r"no device .cuda. here: .* no kernel"
    ) as said:
        find_device(name)
    assert ("'cpu' does without" in str(said.value)) == (name == "auto")
    assert find_device("cpu").type == "cpu"


def test_a_run_does_not_go_on_where_its_device_is_missing(tmp_path):
    folder = tmp_path / "run"
    runs.train(Tiny, Settings(), folder=folder)
    record = json.loads((folder / "run.json").read_text())
    record["settings"]["device"] = "cuda:77"
    (folder / "run.json").write_text(json.dumps(record | {"finished": False}))
    with pytest.raises(
        runs.RunError,
        match=r"no device 'cuda:77' here: .* Its agent can be watched anywhere",
    ):
        runs.resume(Tiny, folder)


@pytest.mark.parametrize(
    "wrong", [{"num_envs": 0}, {"total_frames": 0}, {"seed": -1}, {"workers": -1}]
)
def test_settings_that_make_no_sense(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        Settings(**wrong)


class Undecorated(Settings):
    steps: int = 8
    beta: float = 1.0
    known: ClassVar[int] = 3


class Untyped(Settings):
    steps = 8


@dataclass(frozen=True, kw_only=True)
class Derived(Undecorated):
    gamma: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Mine(Settings):
    """Settings of one's own."""

    steps: int = 8
    beta: float = 1.0
    known: ClassVar[int] = 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Undecorated, r"Undecorated needs @dataclass\(.*ignored: beta, steps$"),
        (Derived, r"Undecorated needs @dataclass\(.*ignored: beta, steps$"),
        (Untyped, "Untyped needs .* ignored: steps$"),
    ],
)
def test_settings_that_nobody_would_hear_are_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_settings_of_ones_own_are_heard(tmp_path):
    class Experiment(Tiny):
        algorithm = "mine"
        settings_class = Mine

    with pytest.raises(SystemExit):
        runs.main(Experiment, ["--beta", "2", "--folder", str(tmp_path / "run")])
    written = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert (written["steps"], written["beta"]) == (8, 2.0)
    assert "known" not in written


class Colour(Enum):
    RED = 1


class Way(StrEnum):
    FAST = "fast"


class Size(NamedTuple):
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: int = 3


@dataclass(frozen=True, kw_only=True)
class WithOwn(Settings):
    """Settings of one's own, of any kind."""

    own: Any = None


@pytest.mark.parametrize(
    "value",
    [
        *([1, 2], ((1, [2]),), {1: 2}, {"a": (1,)}, Inner(), Path("there"), Colour.RED),
        *(Way.FAST, {"a": Way.FAST}, Size(1, 2), (3, (Size(1, 2),)), signal.SIGINT),
    ],
    ids=str,
)
def test_settings_that_would_not_come_back_are_refused(value, tmp_path):
    class Experiment(Tiny):
        algorithm = "mine"
        settings_class = WithOwn

    with pytest.raises(runs.RunError, match="the setting own would not come back"):
        runs.train(Experiment, WithOwn(own=value), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "value",
    [(64, 64), ((1, "a"), (True, None)), {"a": 1}, (), "there", np.float64(0.1)],
    ids=str,
)
def test_settings_that_come_back_are_as_they_were(value, tmp_path):
    class Experiment(Tiny):
        algorithm = "mine"
        settings_class = WithOwn

    settings = WithOwn(own=value, total_frames=8)
    path = runs.train(Experiment, settings, folder=tmp_path / "run")
    found = json.loads((path / "run.json").read_text())
    assert record.settings_of(found, WithOwn) == settings.decided()


def test_the_settings_of_the_page_are_settings():
    page = inspect.getdoc(runs.Settings) or ""
    names: dict[str, Any] = {"__name__": __name__}
    exec(page.split("```python\n")[1].split("```")[0], names)
    settings = names["Penalised"].settings_class(penalty=2.0)
    assert (settings.learning_rate, settings.penalty) == (1e-3, 2.0)


def test_dice_of_weights_and_actions_are_apart():
    experiment = Tiny(Settings())
    weights = torch.initial_seed()
    assert weights != experiment.generator.initial_seed()
    settings = experiment.settings
    games = spawn_seeds(settings.seed, settings.num_envs)
    assert {weights, experiment.generator.initial_seed()}.isdisjoint(games)
    experiment.close()


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


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_what_is_infinite_stops_it_as_well(number):
    class Spoilt(Tiny):
        def spoilt(self, metrics: dict[str, float]) -> dict[str, float]:
            return metrics | {"loss": number}

    class Heavy(Tiny):
        def spoilt(self, metrics: dict[str, float]) -> dict[str, float]:
            torch.nn.init.constant_(next(self.network.parameters()), number)
            return metrics

    for kind, said in ((Spoilt, f"loss is {number}"), (Heavy, "a weight of the net")):
        with (
            contextlib.closing(kind(Settings())) as experiment,
            pytest.raises(runs.NotFiniteError, match=said),
        ):
            experiment.advance()


def test_what_is_left_is_said_of_a_run_that_goes_on_too(tmp_path):
    """It fails in the first update after it was resumed."""
    path = broken_off(tmp_path / "run", 3, minutes=0)
    Failing.fails_at = (3,)
    with pytest.raises(PowerFailureError) as caught:
        runs.resume(Failing, path)
    (note,) = caught.value.__notes__
    assert "is of 24 frames; to go on from there: " in note


def test_there_must_be_room_for_two(tmp_path, monkeypatch):
    """While the last checkpoint is written, the one before is there."""
    settings = Settings(total_frames=8)
    path = runs.train(Tiny, settings, folder=tmp_path / "run")
    last = (path / "checkpoint.safetensors").stat().st_size
    usage = shutil.disk_usage(tmp_path)
    for part, fits in ((1.6, False), (2.4, True)):
        now = usage._replace(free=int(part * last))
        monkeypatch.setattr(shutil, "disk_usage", lambda _, now=now: now)
        with contextlib.nullcontext() if fits else pytest.raises(runs.RunError):
            runs.train(Tiny, settings, folder=tmp_path / "another")


def test_a_run_whose_last_row_was_not_written_is_not_finished(
    whole, tmp_path, monkeypatch
):
    path, write = tmp_path / "run", curve.Curve._write

    def full(self: Any, row: Any) -> None:
        write(self, row)
        if self._experiment.done:
            raise runs.RunError("progress.csv can't be written")

    monkeypatch.setattr(curve.Curve, "_write", full)
    with pytest.raises(runs.RunError, match="can't be written"):
        runs.train(Tiny, Settings(), folder=path)
    monkeypatch.undo()
    assert not json.loads((path / "run.json").read_text())["finished"]
    (path / "progress.csv").unlink()
    runs.resume(Tiny, path)
    assert_same_run(whole, path)


def test_numbers_that_explode_at_once_leave_their_folder(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(runs.NotFiniteError, match="of 0 frames, is"):
        runs.train(Tiny, Settings(spoil_at=-1), folder=path)
    assert json.loads((path / "run.json").read_text())["frames"] == 0


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


def test_the_time_before_a_stop_is_kept(tmp_path, monkeypatch):
    now = [50.0]
    monkeypatch.setattr(curve, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with contextlib.closing(Tiny(Settings())) as experiment:
        before = curve.Curve(RunFolder(tmp_path), experiment)
        now[0] += 15
        state = before.get_state()
        after = curve.Curve(RunFolder(tmp_path), experiment)
        after.set_state(state)
        now[0] += 20
        assert after.get_state()["seconds"] == 35


def test_the_folder_of_an_environment_has_its_name_in_one_piece():
    settings = Settings(game="mine/Walk-v0", seed=3)
    found = default_folder("runs", "tiny", settings)
    assert found == Path("runs/tiny/mine-Walk-v0/seed-3")


def writes_meanwhile(
    first: RunFolder, frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody waits for the lock, who has it writes `run.json` and goes."""
    flock = fcntl.flock

    def written_meanwhile(handle: int, how: int) -> None:
        monkeypatch.undo()
        first.write_record(RECORD | {"frames": frames})
        first.__exit__()
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", written_meanwhile)


RECORD = {"algorithm": "tiny", "settings": {}, "finished": False, "sessions": []}


def test_what_somebody_else_has_begun_meanwhile_is_not_overwritten(
    tmp_path, monkeypatch
):
    with RunFolder(tmp_path) as first, RunFolder(tmp_path) as second:
        first.claim()
        writes_meanwhile(first, 8, monkeypatch)
        with pytest.raises(runs.RunError, match="has a run already, of 8 frames"):
            second.claim()


def test_what_somebody_else_has_done_meanwhile_is_read(tmp_path, monkeypatch):
    with RunFolder(tmp_path) as first, RunFolder(tmp_path) as second:
        first.claim()
        first.write_record(RECORD | {"frames": 8})
        writes_meanwhile(first, 16, monkeypatch)
        assert second.reopen()["frames"] == 16


def test_who_is_about_to_leave_is_waited_for(tmp_path, monkeypatch):
    """The workers of a program that was killed have its lock a little longer."""
    flock, tried = fcntl.flock, []

    def held(handle: int, how: int) -> None:
        tried.append(how)
        if len(tried) == 1:
            raise BlockingIOError
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", held)
    with RunFolder(tmp_path) as folder:
        folder.claim()
    assert len(tried) == 3  # twice to have it, and once to give it back


@pytest.mark.parametrize("name", ["algorithm", "frames", "finished", "sessions"])
def test_a_record_that_lacks_something_is_none(name, tmp_path):
    path = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    found = json.loads((path / "run.json").read_text())
    del found[name]
    (path / "run.json").write_text(json.dumps(found))
    with pytest.raises(runs.RunError, match=r"run\.json is not what a run has written"):
        runs.resume(Tiny, path)


def test_an_environment_that_goes_elsewhere_takes_no_run_along(tmp_path, monkeypatch):
    """There, a run of the same name may lie, and would be overwritten."""
    reset, elsewhere = CartPoleEnv.reset, tmp_path / "elsewhere"
    (elsewhere / "runs" / "one").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def away(self: Any, *, seed: int | None = None, options: Any = None) -> Any:
        os.chdir(elsewhere)
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(CartPoleEnv, "reset", away)
    found = runs.train(Tiny, Settings(total_frames=16), folder="runs/one")
    assert found == Path("runs/one")
    assert not list((elsewhere / "runs" / "one").iterdir())
    assert checkpoint.load(tmp_path / "runs/one/checkpoint.safetensors")["frames"] == 16


def test_what_an_environment_lacks_is_not_missed_in_the_checkpoint(
    tmp_path, monkeypatch
):
    """It plays its episode again, and may have been changed meanwhile."""
    path = broken_off(tmp_path / "run", 3, minutes=0)
    monkeypatch.setattr(CartPoleEnv, "step", lambda *_: operator.getitem({}, "gold"))
    with pytest.raises(KeyError, match="gold"):
        runs.resume(Tiny, path)


def test_a_checkpoint_that_lacks_something_is_refused(tmp_path):
    path = broken_off(tmp_path / "run", 1)
    state = checkpoint.load(path / "checkpoint.safetensors")
    for name in ("optimizer", "curve", "evaluations", "frames"):
        rest = {key: value for key, value in state.items() if key != name}
        checkpoint.save(path / "checkpoint.safetensors", rest)
        with pytest.raises(runs.CheckpointError, match=f"it has no '{name}'"):
            runs.resume(Tiny, path)
