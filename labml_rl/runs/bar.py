"""
---
title: How far it has got
summary: A progress bar in a terminal, and a line a minute everywhere else.
---

# How far it has got

If you wait for hours, you want to know how many, and whether it is worth it. In a
terminal, a run shows a bar with the frames, the speed, the time left, and the current
average score. Where nobody is watching, in a cluster's log file for instance, a bar
would be a megabyte of junk. There the run prints a line a minute.
"""

import contextlib
import os
import sys
import time
from typing import Any

from tqdm import tqdm

from labml_rl.runs.experiment import Experiment

SECONDS_PER_LINE = 60
LEAST_ROWS = 3  # of a terminal, for a bar to be drawn


class Bar:
    """
    ## The bar

    It writes to standard error, and leaves standard output to results.

    Args:
        experiment: whose progress it shows.
    """

    def __init__(self, experiment: Experiment[Any]) -> None:
        self._experiment = experiment
        self._first, self._began = experiment.frames, time.monotonic()
        self._next_line = self._began
        self._said = self._first  # frames, in the last line
        self._bar: tqdm[Any] | None = None
        if sys.stderr is not None and sys.stderr.isatty() and _has_room():
            self._bar = tqdm(
                total=experiment.settings.total_frames,
                initial=experiment.frames,
                unit=" frames",
                unit_scale=True,
                dynamic_ncols=True,
            )

    def show(self) -> None:
        """After each update."""
        # A terminal that was closed, or a pipe to `head`, must not end a run.
        with contextlib.suppress(OSError):
            if self._bar is not None:
                self._bar.set_postfix_str(self._score(), refresh=False)
                # The last update may go a little beyond the end.
                shown = min(self._experiment.frames, self._bar.total)
                self._bar.update(shown - self._bar.n)
            elif time.monotonic() >= self._next_line:
                self._next_line = time.monotonic() + SECONDS_PER_LINE
                self._said = self._experiment.frames
                say(self._line())

    def _line(self) -> str:
        frames, total = self._experiment.frames, self._experiment.settings.total_frames
        speed = (frames - self._first) / (time.monotonic() - self._began)
        left = tqdm.format_interval(max(0, total - frames) / speed)
        return (
            f"{frames:,} of {total:,} frames, {speed:,.0f} a second, "
            f"{left} left, {self._score()}"
        )

    def _score(self) -> str:
        recent = self._experiment.recent
        if not recent:
            return "no game has ended yet"
        return f"return {sum(score['r'] for score in recent) / len(recent):.1f}"

    def close(self) -> None:
        """Leave the bar as it is, or say in a line how far the run got."""
        if self._bar is not None:
            with contextlib.suppress(OSError):
                self._bar.close()
        elif self._experiment.frames > self._said:
            say(self._line())


def say(line: str) -> None:
    """
    ## A line of text

    It goes to standard error, if that is open.

    Args:
        line: what to say.
    """
    with contextlib.suppress(OSError):
        if sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)


def _has_room() -> bool:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).lines >= LEAST_ROWS
    except OSError:
        return True
