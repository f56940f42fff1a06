"""
---
title: Stopping a run
summary: Ctrl-C between two updates, and not in the middle of one.
---

# Stopping a run

Few three-day runs finish without being stopped on the way. This page listens for that,
so that [the loop](loop.py) can save first.

On a cluster, Slurm asks with SIGTERM when the time is up, and kills after half a
minute. `docker stop` waits for ten seconds. A checkpoint of DQN, 7 GB, may take longer
than that, and then the run goes on from the one before. So let Slurm ask earlier. This
script, submitted again, goes on where the run was:

```sh
#!/bin/sh
#SBATCH --signal=TERM@120
run=runs/ppo/breakout/seed-1
if [ -e $run/run.json ]
then srun labml-rl resume $run
else srun labml-rl train ppo --folder $run
fi
```
"""

import atexit
import contextlib
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, ClassVar

from labml_rl.process import STOP_SIGNALS

# What comes so soon after a signal is its echo. Later, these come from someone in a
# hurry.
ECHO_SECONDS = 2.0
IN_A_HURRY = (signal.SIGINT, signal.SIGTERM)
HINT = b"\nStopping after this update. Ctrl-C after two seconds stops at once.\n"


class Stopped(KeyboardInterrupt):
    """
    ## Stopped

    A run that is stopped ends with this. In a notebook, Ctrl-C always ends with it.

    Args:
        number: of the signal.
        message: what is left, and how to go on.
    """

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.signal = number


class Ear:
    """
    ## Listening for signals

    Ctrl-C sends the signal SIGINT, a machine that is shutting down SIGTERM, and a
    terminal that is closed SIGHUP. Python would end the program in the middle of
    whatever it is doing. Inside `with Ear() as ear:` they only leave a note, and the
    loop looks at it between two updates.

    Often all processes of a program get the signal. [Workers][labml_rl.process.Worker]
    ignore it, so that they can help to finish the update.

    A second Ctrl-C, two seconds or more later, stops at once, for those who can't wait,
    and so does a second SIGTERM. Both raise a `KeyboardInterrupt`, so that the program
    can still say what is left.

    !!! warning "Once is not always one signal"
        A shell whose terminal is closed sends its programs SIGHUP twice within a
        millisecond, systemd sends SIGHUP right after SIGTERM, and a program that has
        started another often passes on a Ctrl-C that the other has already had. None of
        these is meant as a second signal. So for two seconds all are ignored, and a
        further SIGHUP always is.
    """

    latest: ClassVar[float] = -math.inf  # when one last heard a first signal

    def __init__(self) -> None:
        self.heard: int | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Ear":
        # Only the main thread may listen.
        if threading.current_thread() is not threading.main_thread():
            return self
        for each in STOP_SIGNALS:
            # `nohup` makes a program ignore some, and it must go on doing so.
            before = signal.getsignal(each)
            if before not in (signal.SIG_IGN, None):
                self._before[each] = before
                signal.signal(each, self._hear)
        return self

    def _hear(self, number: int, _: FrameType | None) -> None:
        if self.heard is None:
            self.heard = number
            Ear.latest = time.monotonic()

            # `print` could itself be in the middle of a line. And if 2 was closed from
            # the start, it may now be the number of some other file.
            if sys.__stderr__ is not None:
                with contextlib.suppress(OSError):
                    os.write(2, HINT)
        elif number in IN_A_HURRY and not is_echo():
            self.heard = number
            self._restore()
            raise KeyboardInterrupt

    def _restore(self) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)
        self._before = {}

    def __exit__(self, *_: object) -> None:
        self._restore()


def is_echo() -> bool:
    """Whether a signal that comes now is an echo of the latest."""
    return time.monotonic() - Ear.latest < ECHO_SECONDS


@contextlib.contextmanager
def tidy() -> Iterator[None]:
    """
    ## Stopping anything else

    By default, SIGTERM and SIGHUP end a program at once, and half a film stays on the
    disk. Inside this context they end it as Ctrl-C does: all that is open is closed on
    the way out, and what is half written is deleted.

    While things are being closed, an echo does nothing: it would cut off the words that
    say how to go on.

    Raises:
        Stopped: if one of them comes. It says nothing, since nothing is left.
    """

    def stop(number: int, _: FrameType | None) -> None:
        if not is_echo():
            Ear.latest = time.monotonic()
            raise Stopped(number, "")

    def stop_later(number: int, _: FrameType | None) -> None:
        if not is_echo():
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

    before = {}
    is_ending = False
    if threading.current_thread() is threading.main_thread():
        for each in STOP_SIGNALS:
            # A program that answers it in another way, or ignores it, is to go on doing
            # so.
            if signal.getsignal(each) in (signal.SIG_DFL, signal.default_int_handler):
                before[each] = signal.signal(each, stop)
    try:
        yield
    except KeyboardInterrupt:
        is_ending = True
        raise
    finally:
        for each, handler in before.items():
            signal.signal(each, stop_later if is_ending else handler)
            # Without this, the last thing that Python did would be to give the signal
            # back to the system.
            if is_ending:
                atexit.register(signal.signal, each, signal.SIG_IGN)
