"""
---
title: The folder of a run
summary: Where a run keeps its settings, its curve and its checkpoint.
---

# The folder of a run

A curve is worth something only as long as you know what it is a curve of. So all that a
run leaves behind is in one folder, together with what is needed to run it again:

```text
runs/ppo/breakout/seed-1/
    run.json                 what was run, and on what
    progress.csv             the curve
    checkpoint.safetensors   to go on from
    evaluations.csv          how it plays, if asked for
    best.safetensors         the best of these
    events.out.tfevents…     the curve, for TensorBoard
    .lock                    held by whoever runs it
```

There is one checkpoint, the latest. To keep agents of several ages, copy `run.json` and
`checkpoint.safetensors` into a folder of their own now and then, even while the run
goes on: both are always whole. Such a folder can be watched like any other. And it can
be resumed: then it is a branch of the run.

This page creates such a folder, and makes sure that no run ever overwrites another.
That could happen more easily than you think: you call up a command from the shell's
history, and a week's work is gone.
"""

import contextlib
import fcntl
import json
import os
import shlex
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labml_rl.environments import is_atari
from labml_rl.game import find_game
from labml_rl.runs.checkpoint import PARTIAL, whole
from labml_rl.runs.experiment import Settings

EVENTS = "events.out.tfevents."  # what TensorBoard calls its files


class RunError(RuntimeError):
    """
    ## When something is in the way

    Its message is for the person at the keyboard: what is wrong, and what to do.
    """


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """
    Wrap this around anything that writes.

    Raises:
        RunError: if it fails; the message names the file and the reason.
    """
    try:
        yield
    # TensorBoard can't write to a folder whose name is not UTF-8.
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RunError(f"{path} can't be written: {reason}") from error


def write_whole(path: Path, text: str) -> None:
    """Write a file that [nobody finds half written][labml_rl.runs.checkpoint.whole]."""
    with writing(path), whole(path) as file:
        file.write(text.encode())


def default_folder(root: str | Path, algorithm: str, settings: Settings) -> Path:
    """
    ## Where it is

    Args:
        root: the folder of all runs.
        algorithm: its name.
        settings: of the run.

    Returns:
        `root/ppo/breakout/seed-1`, however the name of the game was spelled.

    Raises:
        ValueError: if there is no such game.
    """
    game = settings.game
    name = find_game(game) if is_atari(game) else game.replace("/", "-")
    return Path(root) / algorithm / name / f"seed-{settings.seed}"


class RunFolder:
    """
    ## The folder

    ```python
    from labml_rl.runs.folder import RunFolder

    with RunFolder("runs/ppo/pong/seed-1") as folder:
        folder.claim()
        ...
    ```

    Args:
        path: where it is.
        resumed_by: what to type to go on with the run in it.
        planned: whether the run follows a plan, and so [can't be made
            longer][labml_rl.runs.experiment.Experiment.needs_plan].
    """

    def __init__(
        self,
        path: str | Path,
        *,
        resumed_by: str = "runs.resume",
        planned: bool = False,
    ) -> None:
        self._given, self.resumed_by, self.planned = Path(path), resumed_by, planned
        # An environment may change the folder that a relative path starts from.
        self.path = self._given.absolute()
        self.record = self.path / "run.json"
        self.curve = self.path / "progress.csv"
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.evaluations = self.path / "evaluations.csv"
        self.best = self.path / "best.safetensors"
        self.lock = self.path / ".lock"
        self._lock: int | None = None
        self._made: list[Path] = []

    def __str__(self) -> str:
        return str(self._given)

    def claim(self) -> None:
        """
        ### For a new run

        Raises:
            RunError: if there is something in it, or if it can't be written to.
        """
        with writing(self.path):
            self._check_free()
            chain = (self.path, *self.path.parents)
            self._made = [each for each in chain if not each.exists()]
            self.path.mkdir(parents=True, exist_ok=True)
        self._take()

        # Another program may have been faster.
        self._check_free()

    def _check_free(self) -> None:
        if self.record.exists():
            record = self.read_record()
            kind, remedy = "run", f"To go on with it: {self.resumed_by}. "
            if record["finished"]:
                kind = "complete run"
                remedy = (
                    f"To make it longer: {self.resumed_by}, with more total_frames. "
                )
                if self.planned:
                    remedy = ""
            raise RunError(
                f"{self} has a {kind} already, of {record['frames']:,} frames. "
                f"{remedy}To run another: choose another seed, or another folder"
            )
        if self.path.exists() and not self.path.is_dir():
            raise RunError(f"{self} is no folder. Choose another")
        if not self.path.exists():
            return

        # Half-written files can be ignored: a program was killed while it was starting.
        names = {each.name for each in self.path.iterdir()}
        found = {each for each in names if not each.endswith(PARTIAL)}
        found.discard(self.lock.name)
        if found == {self.checkpoint.name}:
            raise RunError(
                f"{self} has a checkpoint, but no run.json, which would say of "
                "what. If a run was killed there while it began, nothing is lost with "
                f"it: rm {shlex.quote(str(self.checkpoint))}"
            )
        if found:
            raise RunError(
                f"{self} is not empty ({', '.join(sorted(found)[:3])}), and not a "
                "run. Choose another folder"
            )

    def reopen(self) -> dict[str, Any]:
        """
        ### To go on with one

        Returns:
            What `run.json` says.

        Raises:
            RunError: if there is no run in it, or if it is already running.
        """
        self.read_record()
        self._take()
        return self.read_record()

    def _take(self) -> None:
        """
        ### One at a time

        Two programs that went on with the same run would overwrite each other's
        checkpoints. So a program that works on a folder holds a lock on a file in it.
        The system takes the lock back when the program ends, however it ends.

        On a local disk, the worker processes share the lock. When the program is killed
        they notice, and leave. That takes a moment, so we wait.
        """
        try:
            options = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            self._lock = os.open(self.lock, options, 0o666)
        except FileNotFoundError as error:
            raise RunError(f"{self} was taken back just now; try again") from error
        except OSError:
            # It may be another user's, and then anyone who may read it can lock it.
            try:
                self._lock = os.open(self.lock, os.O_RDONLY)
            except OSError:
                return
        patience = time.monotonic() + 3
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() < patience:
                    time.sleep(0.1)
                    continue
                self._release()
                raise RunError(f"{self} is running right now") from error
            except OSError:
                # Some file systems on other machines have no locks.
                self._release()
            else:
                # Its last owner may have removed the folder, and this file with it.
                if os.fstat(self._lock).st_nlink == 0:
                    self._release()
                    self._take()
            return

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def check_held(self) -> None:
        """
        ### Still the same

        Somebody may move or remove the folder of a run while it goes on, and begin
        another run in its place. That one's files are not to be overwritten.

        Raises:
            RunError: if that has happened.
        """
        if not self.is_held():
            raise RunError(
                f"{self} was moved or removed while this run went on, and another run "
                "has begun there. This one stops here, and writes nothing more"
            )

    def is_held(self) -> bool:
        """
        Returns:
            Whether no other run has begun in it. (If it is only gone, whoever writes to
            it next will notice.)
        """
        if self._lock is None:
            return True
        try:
            found = os.stat(self.lock)
        except OSError:
            return True
        return os.path.samestat(os.fstat(self._lock), found)

    def discard(self) -> None:
        """Remove a claimed folder whose run could not begin."""
        if not self.is_held():
            return
        states = (self.checkpoint, self.best)
        tables = (self.record, self.curve, self.evaluations)
        events = self.path.glob(f"{EVENTS}*")
        # Whatever is in the way of this was in the way of the run, and was reported.
        with contextlib.suppress(OSError):
            for path in (*states, *tables, *events, self.lock):
                path.unlink(missing_ok=True)
            for path in self._made:
                path.rmdir()

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            # After this, the workers no longer have a lock to share.
            fcntl.flock(self._lock, fcntl.LOCK_UN)
        self._release()

    def write_record(self, record: dict[str, Any]) -> None:
        """Write `run.json`, whole or not at all."""
        write_whole(self.record, json.dumps(record, indent=2) + "\n")

    def read_record(self) -> dict[str, Any]:
        """
        Raises:
            RunError: if `run.json` can't be read.
        """
        try:
            record: dict[str, Any] = json.loads(self.record.read_text("utf-8"))
        except (FileNotFoundError, NotADirectoryError) as error:
            below = [*self._given.glob("*/run.json"), *self._given.glob("*/*/run.json")]
            near = f". {min(below).parent} is one" if below else ""
            raise RunError(
                f"{self} is not the folder of a run: it has no run.json{near}"
            ) from error
        except (OSError, ValueError) as error:
            raise RunError(f"{self.record} can't be read: {error}") from error
        needed: dict[str, type] = {"algorithm": str, "settings": dict}
        needed |= {"frames": int, "finished": bool, "sessions": list}
        if not isinstance(record, dict) or not all(
            isinstance(record.get(name), kind) for name, kind in needed.items()
        ):
            raise RunError(f"{self.record} is not what a run has written")
        return record
