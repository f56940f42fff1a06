"""
---
title: To be stopped
summary: Ctrl-C between two updates, and not in the middle of one.
---

# To be stopped

Hardly a run of three days goes through without somebody stopping it. This page listens
for that, so that [the loop](loop.py) can save first.
"""

import contextlib
import os
import signal
import threading
from types import FrameType
from typing import Any

from labml_rl.process import STOP_SIGNALS


class Stopped(KeyboardInterrupt):
    """
    ## Stopped

    A run that somebody stopped ends with this. In a notebook, Ctrl-C always ends with
    it.

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

    Ctrl-C sends the signal SIGINT, a machine that shuts down SIGTERM, and a terminal
    that is closed SIGHUP. Python would end the program in the middle of whatever it is
    doing. Inside `with Ear() as ear:` they only leave a note, and the loop looks at it
    between two updates.

    Often all processes of a program get the signal. [Workers][labml_rl.process.Worker]
    ignore it, so that the update can be ended with their help.

    The second Ctrl-C works as ever, for those who can't wait.
    """

    def __init__(self) -> None:
        self.heard: int | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Ear":
        # Only the main thread may listen.
        if threading.current_thread() is not threading.main_thread():
            return self
        for each in STOP_SIGNALS:
            # `nohup` has a program ignore some, and that is to stay so.
            before = signal.getsignal(each)
            if before not in (signal.SIG_IGN, None):
                self._before[each] = before
                signal.signal(each, self._hear)
        return self

    def _hear(self, number: int, _: FrameType | None) -> None:
        self.heard = number
        self._restore()

        # `print` could be in the middle of a line of its own.
        with contextlib.suppress(OSError):
            os.write(2, b"\nStopping after this update. Ctrl-C stops at once.\n")

    def _restore(self) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)
        self._before = {}

    def __exit__(self, *_: object) -> None:
        self._restore()
