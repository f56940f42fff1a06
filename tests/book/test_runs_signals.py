"""Runs that are told to stop, or are killed."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from labml_rl import runs
from labml_rl.process import STOP_SIGNALS
from labml_rl.runs.signals import HINT, Ear
from tests.book.interrupted import (
    Pressing,
    assert_same_run,
    assert_shown,
    curve_of,
    let_go,
    start,
    wait_until_held,
)
from tests.book.tiny_runs import Settings, Tiny


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
