"""Runs that are interrupted, and whether two of them were the same."""

import contextlib
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from labml_rl import runs
from labml_rl.runs import checkpoint, loop
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


def assert_shown(path: Path) -> EventAccumulator:
    """TensorBoard has each row of the curve."""
    events = EventAccumulator(str(path))
    events.Reload()
    shown = {each.step: each.value for each in events.Scalars("learning/loss")}
    rows = {int(row["frames"]): float(row["loss"]) for row in curve_of(path)}
    assert list(shown) == list(rows)
    assert np.allclose(list(shown.values()), list(rows.values()))
    return events


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


class Pressing(Tiny):
    """Somebody presses Ctrl-C in the middle of an update."""

    times = 1
    number = signal.SIGINT

    def update(self) -> dict[str, float]:
        if self.updates == 10:
            for _ in range(self.times):
                signal.raise_signal(self.number)
        return super().update()
