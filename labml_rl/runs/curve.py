"""
---
title: The curve
summary: >-
  How a run is getting on, as rows of a CSV file and in TensorBoard, the same after any
  number of stops.
---

# The curve

This is what everybody looks at: how the score rises with the frames. Each row of the
curve says what the run has been doing since the row before.

| column | what it holds |
|---|---|
| `frames` | how many it has had |
| `updates` | how many rounds of playing and learning it has had |
| `seconds` | how long it has taken, without the time in which it was stopped |
| `steps_per_second` | how many steps of the agent a second, since the row before |
| `episodes` | how many games have ended |
| `return_mean` | the points of a game, averaged over the last 100 that ended |
| `length_mean` | its length in steps, averaged likewise |
| and so on | what the algorithm measures, averaged since the row before |

Everything that an algorithm's [update][labml_rl.runs.experiment.Experiment.update]
returns gets a column, so a new name there is a new column. In an experiment derived
from PPO, add it to the dictionary that
[losses][labml_rl.ppo.experiment.Experiment.losses] returns, and in one derived from DQN
to [that of DQN][labml_rl.dqn.experiment.Experiment.losses] and to `measured`. Of what
an environment says in its `info`, only the score gets this far.

A cell is empty where there was nothing to measure, as before the first game has ended.

`tensorboard --logdir runs` draws the curves of all runs below that folder. If you use
Weights & Biases, call `wandb.init(sync_tensorboard=True)` before
[train][labml_rl.runs.loop.train], and they are there as well.

Runs that differ only in the seed have their rows at the same frames, once they are all
over and if none was made longer. So their mean, and how far apart they are, take only a
few lines:

```python
from glob import glob
import numpy as np

paths = glob("runs/ppo/breakout/*/progress.csv")
curves = [
    np.genfromtxt(path, delimiter=",", names=True)
    for path in paths
]
scores = [curve["return_mean"] for curve in curves]
mean = np.mean(scores, axis=0)
lowest = np.min(scores, axis=0)
highest = np.max(scores, axis=0)
```

Ten million frames are 2,442 updates of PPO, and 31,250 of A2C. Nobody wants that many
rows. So a curve has 500 at most, and one of a run that was made longer a few hundred
more.

!!! warning "Which average?"
    The 100 games that ended last are not the 100 that began last. If an agent sometimes
    plays long and well, its good games are counted late. And all 100 were played by an
    agent that was still trying things out, and still changing. The curve tells you
    whether it learns. [How well it plays](../watch/scores.py) is another question.
"""

import contextlib
import csv
import io
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from torch.utils.tensorboard import SummaryWriter

from labml_rl.environments import frames_per_step
from labml_rl.runs.experiment import Experiment, Metrics
from labml_rl.runs.folder import RunFolder, write_whole, writing

ROWS = 500

OF_THE_RUN = {
    "updates",
    "seconds",
    "steps_per_second",
    "episodes",
    "return_mean",
    "length_mean",
}

Row = dict[str, float | None]


class Curve:
    """
    ## The curve

    Args:
        folder: where it is written.
        experiment: whose curve it is.
    """

    def __init__(self, folder: RunFolder, experiment: Experiment[Any]) -> None:
        self._path = folder.curve
        self._experiment = experiment
        self._frames_per_step = frames_per_step(experiment.settings.game)
        self.rows: list[Row] = []
        self._sums: dict[str, float] = {}  # of what was measured since the last row
        self._counts: dict[str, int] = {}  # and how often
        self._before = 0.0
        self._began = time.monotonic()
        self._events: SummaryWriter | None = None

    @property
    def seconds(self) -> float:
        """How long the run has been going, over all sessions."""
        return self._before + time.monotonic() - self._began

    def begin(self) -> None:
        """
        ### At the beginning of a session

        All rows so far are in the [checkpoint][Curve.get_state], and the file is
        written anew from there. What the run did after that checkpoint is done again,
        so those rows must go. TensorBoard's files can't be shortened, so it is told
        from which frame on to forget what it has.

        Raises:
            RunError: if it can't be written.
        """
        self._began = time.monotonic()
        header = [_as_csv(self.rows[0])] if self.rows else []
        lines = [_as_csv(row.values()) for row in self.rows]
        write_whole(self._path, "".join(header + lines))
        with writing(self._path.parent):
            self._events = SummaryWriter(
                self._path.parent, purge_step=self._experiment.frames + 1
            )
            self._events.flush()

    def add(self, metrics: Metrics) -> None:
        """
        ### After an update

        Whether a row is due depends on the frames alone, and not on any clock. A row is
        in both files when this returns. TensorBoard's thread would write it a moment
        later, by the path of the file, and by then the folder may be [another
        run's][RunFolder.check_held].

        Args:
            metrics: what the update measured.

        Raises:
            KeyError: if their names are not the same as before, or if one is that of a
                column that every curve has.
            RunError: if the row can't be written.
        """
        if not self._sums and not self.rows:
            if taken := metrics.keys() & {"frames", *OF_THE_RUN}:
                raise KeyError(
                    f"each curve has columns of these names: {', '.join(sorted(taken))}"
                )
            self._forget(metrics)
        if strange := metrics.keys() ^ self._sums.keys():
            raise KeyError(f"not in each update: {', '.join(sorted(strange))}")
        for name, value in metrics.items():
            if value is not None:
                self._sums[name] += value
                self._counts[name] += 1
        if self._due():
            row = self._next_row()
            self._forget(self._sums)
            self._write(row)

    # The names are kept, and their order, which is that of the columns.
    def _forget(self, names: Iterable[str]) -> None:
        self._sums = dict.fromkeys(names, 0.0)
        self._counts = dict.fromkeys(names, 0)

    def _due(self) -> bool:
        def place(frames: float) -> int:
            return int(frames * ROWS // self._experiment.settings.total_frames)

        last = self.rows[-1]["frames"] if self.rows else 0
        return place(self._experiment.frames) > place(last or 0)

    def _next_row(self) -> Row:
        experiment, recent = self._experiment, self._experiment.recent
        last: Row = self.rows[-1] if self.rows else {"frames": 0, "seconds": 0.0}
        seconds = self.seconds
        frames = experiment.frames - (last["frames"] or 0)
        took = seconds - (last["seconds"] or 0)

        # Before the first game has ended there is no score, and that is not a score of
        # zero.
        means: Row = {"return_mean": None, "length_mean": None}
        if recent:
            means["return_mean"] = sum(score["r"] for score in recent) / len(recent)
            means["length_mean"] = sum(score["l"] for score in recent) / len(recent)
        return {
            "frames": experiment.frames,
            "updates": experiment.updates,
            "seconds": seconds,
            "steps_per_second": frames / self._frames_per_step / took,
            "episodes": experiment.episodes,
            **means,
            **{name: self._mean(name) for name in self._sums},
        }

    def _mean(self, name: str) -> float | None:
        count = self._counts[name]
        return self._sums[name] / count if count else None

    def _write(self, row: Row) -> None:
        header = "" if self.rows else _as_csv(row)
        self.rows.append(row)
        with writing(self._path), open(self._path, "a", encoding="utf-8") as file:
            file.write(header + _as_csv(row.values()))

        assert self._events is not None, "begin() comes first"
        with writing(self._path.parent):
            for name, value in row.items():
                if value is not None and name != "frames":
                    group = "run" if name in OF_THE_RUN else "learning"
                    self._events.add_scalar(f"{group}/{name}", value, row["frames"])
            self._events.flush()

    def get_state(self) -> dict[str, Any]:
        """
        ### The state

        The rows are part of it. So going on does not depend on a file that another
        program may have open, or that had not reached the disk when the power failed.
        """
        return {
            "rows": [dict(row) for row in self.rows],
            "sums": dict(self._sums),
            "counts": dict(self._counts),
            "seconds": self.seconds,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from what [Curve.get_state][] returned."""
        self.rows, self._sums = state["rows"], state["sums"]
        self._counts, self._before = state["counts"], state["seconds"]

    def close(self) -> None:
        """
        Close TensorBoard's file. What it can't write now, it could not write before.
        """
        if self._events is not None:
            with contextlib.suppress(OSError):
                self._events.close()


@contextlib.contextmanager
def said_once() -> Iterator[None]:
    """
    ### A full disk

    TensorBoard writes in its own thread. When that fails, Python prints some forty
    lines about where the thread was, and the same error is raised here, where it is
    reported in a sentence. So inside this context, the thread says nothing.
    """
    before = threading.excepthook

    def hook(error: threading.ExceptHookArgs) -> None:
        if not isinstance(error.exc_value, OSError):
            before(error)

    threading.excepthook = hook
    try:
        yield
    finally:
        threading.excepthook = before


def _as_csv(cells: Iterable[Any]) -> str:
    # Eight digits are more than any of these numbers is good for.
    short = [f"{cell:.8g}" if isinstance(cell, float) else cell for cell in cells]
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(short)
    return line.getvalue()
