r"""
---
title: The best so far
summary: >-
  How to measure an agent now and then while it learns, in separate games, and keep the
  best.
---

# The best so far

An agent does not get better all the time. DQN above all has bad hours, in which it
plays worse than it did before, and a run may end in one of them. So it is usual to
measure the agent now and then, and to keep a copy of the best one, as the [authors of
DQN](https://doi.org/10.1038/nature14236) did. Here it is [a
setting][labml_rl.runs.experiment.Settings] of every run:

```sh
labml-rl train fast-dqn --game MsPacman \
    --evaluate-every-frames 500_000
labml-rl watch runs/fast-dqn/ms_pacman/seed-1 --best
```

The folder of the run then has two more files: `evaluations.csv`, with a row for each
time the agent was measured, and `best.safetensors`, with the weights of the best.

## Why not by the scores of training

Each training game gives a score for free. But that is the score of an agent that is
trying things out, and changing while it plays. Here the agent stays as it is, decides
[in the way that is usual for its algorithm](agent.py), and plays games that it never
learns from. These games are the same each time, so no agent has an easier task than
another.

!!! warning "The best has been lucky"
    Of twenty agents that play equally well, one has the highest score, and luck chose
    it: that score is too high, by about two standard errors. It is good for choosing,
    but should never be published. What counts is what the chosen one scores afterwards,
    in games with [yet other seeds][labml_rl.watch.scores.seed_of].

!!! warning "Other seeds may give the same games"
    In Breakout and Ms. Pac-Man, [four games are nearly all there
    are](__init__.py#how-many-games) for an agent of [DrQ](../dqn/drq.py) or PQN. It is
    chosen by these four, and plays them again afterwards, and its luck is still in the
    score. `--epsilon 0.05` or `--sticky-actions 0.25` measures it in games that it was
    not chosen by.

!!! warning "A run must not notice"
    To measure an agent, a new network is made. Its weights begin at random, which uses
    up some of PyTorch's random numbers. Training would then go on with others, and end
    differently, just because the agent was measured. So the state of the random numbers
    is saved first, and put back afterwards.
"""

import csv
import io
import math
from collections.abc import Callable
from typing import Any

import torch

from labml_rl.runs import checkpoint
from labml_rl.runs.experiment import Experiment
from labml_rl.runs.folder import RunFolder, write_whole
from labml_rl.runs.record import origin
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.scores import CHOOSING, measure

Row = dict[str, Any]


class Later(Exception):  # noqa: N818 - it is no mistake
    """The games that measure can wait: the run is to stop."""


class Best:
    """
    ## The best of a run

    Args:
        folder: of the run.
        experiment: whose agent is measured, as its settings say.
    """

    def __init__(self, folder: RunFolder, experiment: Experiment[Any]) -> None:
        self._folder, self._experiment = folder, experiment
        self.rows: list[Row] = []

    @property
    def due(self) -> bool:
        """Whether it is time. Frames decide that, not a clock."""
        every = self._experiment.settings.evaluate_every_frames
        if not every:
            return False
        last = self.rows[-1]["frames"] if self.rows else 0
        return self._experiment.frames // every > last // every

    def look(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """
        ### Measure, and keep

        Args:
            is_stopped: whether to leave it for later, asked again and again.

        Raises:
            RunError: if the scores can't be written, or if [the folder is another
                run's now][labml_rl.runs.folder.RunFolder.check_held].
            CheckpointError: if the weights can't be written.
        """
        experiment, settings = self._experiment, self._experiment.settings
        weights = experiment.network.state_dict()
        saved = Saved(type(experiment), settings, weights, experiment.frames)
        devices = [experiment.device] if experiment.device.type == "cuda" else []

        def ask() -> None:
            if is_stopped():
                raise Later

        try:
            ask()
            with torch.random.fork_rng(devices):
                result = measure(
                    saved,
                    Protocol(),
                    games=settings.evaluation_games,
                    workers=settings.workers,
                    device=str(experiment.device),
                    purpose=CHOOSING,
                    before_step=ask,
                )
        except Later:
            return

        # Of two that are equal, the first stays.
        before = max((row["return_mean"] for row in self.rows), default=-math.inf)
        self._folder.check_held()
        if result.mean > before:
            of = origin(experiment.algorithm, settings)
            state = {"network": weights, "frames": experiment.frames, "of": of}
            checkpoint.save(self._folder.best, state)
        self.rows.append(
            {
                "frames": experiment.frames,
                "games": len(result.points),
                "return_mean": result.mean,
                "standard_error": result.standard_error,
            }
        )
        self._write()

    def _write(self) -> None:
        text = io.StringIO()
        file = csv.DictWriter(text, list(self.rows[0]), lineterminator="\n")
        file.writeheader()
        file.writerows(self.rows)
        write_whole(self._folder.evaluations, text.getvalue())

    def get_state(self) -> list[Row]:
        """
        ### The state

        A run that goes on from a checkpoint repeats what it had done since, to the same
        numbers. Until then, `best.safetensors` may hold a better agent than the run
        knows of: one that it will come upon again.
        """
        return [dict(row) for row in self.rows]

    def set_state(self, state: list[Row]) -> None:
        """Go on from what [Best.get_state][] returned."""
        self.rows = state
        if self.rows:
            self._write()
        else:
            self._folder.evaluations.unlink(missing_ok=True)
