"""
---
title: The loop
summary: Train, save, stop cleanly, and go on.
---

# The loop

Around all learning there is a loop: update, record, save now and then. It is on this
page, with two functions for your own programs:

```python
from labml_rl import runs
from labml_rl.small import PPOSettings, SmallPPO

if __name__ == "__main__":
    runs.train(SmallPPO, PPOSettings(seed=2))
```

If it was stopped, this goes on with it:

```python
folder = "runs/small-ppo/CartPole-v1/seed-2"
if __name__ == "__main__":
    runs.resume(SmallPPO, folder)
```

For many runs, put a loop around the two. A folder is named after algorithm, game and
seed alone, so where anything else differs, give each run a folder. Stopped and started
again, this goes on from where it was:

```python
from pathlib import Path

if __name__ == "__main__":
    for rate in (1e-3, 3e-4):
        for seed in (1, 2):
            folder = f"runs/rate-{rate}/seed-{seed}"
            if Path(folder, "run.json").exists():
                runs.resume(SmallPPO, folder)
                continue
            way = PPOSettings(
                seed=seed, learning_rate=rate
            )
            runs.train(SmallPPO, way, folder=folder)
```

On the command line these are `labml-rl train` and `labml-rl resume`. (If your own
program shares its cores with others, see [several runs at
once](../speed.py#several-runs-at-once).) Both functions work in a *Jupyter* notebook,
too, where the button that stops a cell works like Ctrl-C. But where processes are not
forked, as on a Mac, or on Linux from Python 3.14 on, a worker can't find what is
defined in the notebook. A network or an environment needs a module of its own, or the
setting `workers=0`. (For a network, `players=False` will do.)

A run can end in six ways, and for each it is clear what is left:

| what happens | what is left |
|---|---|
| it has had all its frames | the last checkpoint |
| Ctrl-C, or the machine asks it to stop | a new checkpoint, made after its update |
| Ctrl-C once more, two seconds later or more | the previous checkpoint |
| `kill -9`, a power failure | the previous checkpoint, about five minutes old at most |
| a loss is NaN, the disk is full | the previous checkpoint, and an error that says so |
| a worker is killed | the previous checkpoint, and an error that says so |
"""

import contextlib
import shlex
import shutil
import signal
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, fields
from importlib import import_module
from inspect import getattr_static, isfunction
from pathlib import Path
from typing import Any

import torch

from labml_rl.algorithms import ALGORITHMS, PACKAGE
from labml_rl.environments import is_atari
from labml_rl.game import NOT_WHOLE, find_game
from labml_rl.runs import checkpoint
from labml_rl.runs.bar import Bar, say
from labml_rl.runs.curve import Curve, said_once
from labml_rl.runs.experiment import Experiment, NotFiniteError, Settings, find_device
from labml_rl.runs.folder import RunError, RunFolder, default_folder
from labml_rl.runs.record import (
    check_algorithm,
    check_origin,
    is_of_the_book,
    new_record,
    origin,
    session,
    settings_of,
)
from labml_rl.runs.signals import Ear, Stopped
from labml_rl.worker import quota

CHECKPOINT_MINUTES = 5.0


class Run:
    """
    ## A run

    An experiment, a folder that is [claimed][RunFolder.claim], and what the two have to
    do with each other.

    Args:
        experiment: what is run.
        folder: where it leaves its traces.
        record: what `run.json` says.
    """

    def __init__(
        self, experiment: Experiment[Any], folder: RunFolder, record: dict[str, Any]
    ) -> None:
        self.experiment, self.folder, self.record = experiment, folder, record
        self.curve = Curve(folder, experiment)
        # The pages about watching import this one, so they can't be imported at the
        # top.
        best = import_module("..watch.best", __package__)
        self.best = best.Best(folder, experiment)
        self._saved_frames = 0
        self.begun = False  # whether there is an update to be kept

    def save(self) -> None:
        """
        ### Save

        Raises:
            CheckpointError: if that fails. The previous checkpoint is as it was.
            RunError: if `run.json` can't be written, or if [the folder is another run's
                now][RunFolder.check_held].
        """
        self.folder.check_held()
        self._write_checkpoint()
        # The games that measure the last agent may be still to come.
        self._write_record(finished=self.experiment.done and not self.best.due)

    def _write_record(self, *, finished: bool) -> None:
        self.record |= {
            "frames": self.experiment.frames,
            "seconds": round(self.curve.seconds, 1),
            "finished": finished,
        }
        self.folder.write_record(self.record)

    def _write_checkpoint(self) -> None:
        state = self.experiment.get_state() | {
            "of": origin(self.experiment.algorithm, self.experiment.settings),
            "settings": asdict(self.experiment.settings),
            "curve": self.curve.get_state(),
            "evaluations": self.best.get_state(),
        }
        checkpoint.save(self.folder.checkpoint, state)
        self._saved_frames = self.experiment.frames

    def begin(self) -> None:
        """
        ### Before the first frame

        The first checkpoint is written before anything has been learned. If there is no
        room for it, or no permission, it is better to hear of that now than in the
        morning.

        Raises:
            RunError: if there is not enough room, or if `run.json` can't be written.
            CheckpointError: if no checkpoint can be written.
        """
        self.record["sessions"].append(session(0, type(self.experiment)))
        self.save()

        # The last one is larger, and the one before stays while it is being written.
        first = self.folder.checkpoint.stat().st_size
        needed = 2 * (first + self.experiment.growth)
        free = shutil.disk_usage(self.folder.path).free
        if free < needed:
            raise RunError(
                f"there is no room for checkpoints in {self.folder}: they need "
                f"{needed / 2**20:,.1f} MiB, and {free / 2**20:,.1f} MiB are free"
            )

    def restore(self) -> None:
        """
        ### Before the next frame

        Raises:
            CheckpointError: if the checkpoint is missing, broken, or of another run.
            RunError: if a setting in `run.json` is not what it was.
        """
        state = checkpoint.load(self.folder.checkpoint)
        of = origin(self.experiment.algorithm, self.experiment.settings)
        check_origin(self.folder.checkpoint, state, of)
        self._check_settings(state.pop("settings", {}))
        try:
            self.curve.set_state(state.pop("curve"))
            self.best.set_state(state.pop("evaluations"))
            self.experiment.set_state(state)
        except KeyError as error:
            # An environment that plays its episode again may raise one of its own.
            if not raised_by_the_book(error):
                raise
            raise checkpoint.CheckpointError(
                f"{self.folder.checkpoint} is not a checkpoint of this run, to go on "
                f"from: it has no {error}"
            ) from error
        self._saved_frames = self.experiment.frames
        self.begun = self.experiment.updates > 0
        now = session(self.experiment.frames, type(self.experiment))
        self.record["sessions"].append(now)
        self.folder.write_record(self.record)

    # (A checkpoint may be older than a setting, or than this check.)
    def _check_settings(self, were: dict[str, Any]) -> None:
        now = asdict(self.experiment.settings)
        if self.experiment.needs_plan(self.experiment.settings) is None:
            were = were | {"total_frames": now["total_frames"]}
        if changed := [
            f"{name} was {value!r} and is {now[name]!r}"
            for name, value in were.items()
            if name in now and now[name] != value
        ]:
            raise RunError(
                f"{self.folder.record} was changed: {', '.join(changed)}. No settings "
                "would lead to the numbers of such a run, so put it back as it was, or "
                "begin another run"
            )

    def go_on(self, checkpoint_minutes: float) -> None:
        """
        ### To the end

        The clock decides when a checkpoint is written, and nothing else. So a run on a
        slow disk learns the same.

        Args:
            checkpoint_minutes: how much work to risk.

        Raises:
            Stopped: if it was stopped.
            NotFiniteError: if a number is not finite; it says what to do.
            RunError: if something else than a checkpoint can't be written, or if [the
                folder is another run's now][RunFolder.check_held].
            CheckpointError: if a checkpoint can't be written.
        """
        bar = Bar(self.experiment)
        closing = contextlib.closing
        with said_once(), closing(bar), closing(self.curve), Ear() as ear:
            self.curve.begin()
            try:
                self._loop(bar, ear, 60 * checkpoint_minutes)
            except NotFiniteError as error:
                raise NotFiniteError(
                    f"{error}. The last good checkpoint, of {self._saved_frames:,} "
                    f"frames, is {self.folder.checkpoint}. With these settings the run "
                    "would come to the same point again, so begin another: with a "
                    "smaller learning rate, with shorter gradients, or in float32. If "
                    "the environment is your own, look first whether all its rewards "
                    "and observations are finite: check_env of Gymnasium does"
                ) from error
            except KeyboardInterrupt as error:
                number = ear.heard or signal.SIGINT
                raise Stopped(number, f"Stopped at once. {self._left()}") from error
            except Exception as error:
                if self.begun and self.folder.is_held():
                    error.add_note(self._left())
                raise
            if not self.experiment.done:
                assert ear.heard is not None
                raise Stopped(ear.heard, f"Stopped. {self._left()}")

    def _loop(self, bar: Bar, ear: Ear, seconds: float) -> None:
        due = time.monotonic() + seconds
        while True:
            # Stopping a run need not wait for games that only measure. They are played
            # when it goes on.
            if self.best.due:
                self.best.look(lambda: bool(ear.heard) and not self.experiment.done)
            if self.experiment.done or ear.heard is not None:
                break
            metrics, _ = self.experiment.advance()
            self.folder.check_held()
            try:
                self.curve.add(metrics)
            except RunError:
                # A disk that is full may still have room for the checkpoint. The run
                # does not count as finished then, since its curve is not.
                self.begun = True
                self._write_checkpoint()
                with contextlib.suppress(RunError):
                    self._write_record(finished=False)
                raise
            self.begun = True
            bar.show()
            if time.monotonic() >= due:
                self.save()
                due = time.monotonic() + seconds
        self.save()

    def _left(self) -> str:
        if not self.folder.checkpoint.exists():
            return f"There is no {self.folder.checkpoint} any more to go on from"
        return (
            f"The checkpoint {self.folder.checkpoint} is of {self._saved_frames:,} "
            f"frames; to go on from there: {self.folder.resumed_by}"
        )


def train(
    experiment_class: type[Experiment[Any]],
    settings: Settings,
    *,
    folder: str | Path | None = None,
    runs: str | Path = "runs",
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
    command: str | None = None,
    program: str | None = None,
) -> Path:
    """
    ## Train

    A run that fails in its first update leaves nothing behind, so that you can try
    again at once. Its folder stays only if it fails because a number is not finite.

    Args:
        experiment_class: that of the algorithm.
        settings: its own.
        folder: where to keep it; `None` is [a folder below `runs`][default_folder].
        runs: the folder of all runs.
        checkpoint_minutes: how often to save a checkpoint, and so how much work is at
            risk.
        command: noted in `run.json` as the way to do the same again.
        program: on whose command line the run can be [resumed][way_to_resume].

    Returns:
        The folder of the run.

    Raises:
        RunError: if it can't begin, if the settings are those of another algorithm or
            can't be kept, if an algorithm of your own has no name, has the name of one
            of the book's, or has a method that should be static, or if the curve can't
            be written or the folder has become another run's.
        CheckpointError: if a checkpoint can't be written.
        Stopped: if it was stopped.
        NotFiniteError: if a number is not finite.
        WorkerError: if a game fails in another process, or the process dies.
    """
    check_minutes(checkpoint_minutes)
    wanted, found = experiment_class.settings_class, type(settings)
    # With a setting more than those, a run could be neither resumed nor watched.
    if not isinstance(settings, wanted) or (
        {each.name for each in fields(found)} - {each.name for each in fields(wanted)}
    ):
        raise RunError(
            f"{experiment_class.__qualname__} needs settings of its own, "
            f"{wanted.__module__}.{wanted.__qualname__}, and these are "
            f"{found.__module__}.{found.__qualname__}. An experiment of your own says "
            f"which it has: settings_class = {found.__qualname__}"
        )
    name = getattr(experiment_class, "algorithm", "")
    if not name or name == ".." or Path(name).name != name:
        raise RunError(
            f"{experiment_class.__qualname__} needs the name of its algorithm, with "
            f'which a folder can be named, as algorithm = "my-dqn"; it has {name!r}'
        )
    if name in ALGORITHMS and not is_of_the_book(experiment_class):
        raise RunError(
            f"{experiment_class.__qualname__} is not the {name} of the book, and its "
            'runs would be taken for those. Give it a name of its own: algorithm = "…"'
        )
    for each, right in vars(Experiment).items():
        own = getattr_static(experiment_class, each)
        if isinstance(right, staticmethod) and isfunction(own):
            raise RunError(
                f"{experiment_class.__qualname__}.{each} needs @staticmethod in front "
                "of it, and no self: an agent is watched without an experiment"
            )
    path = folder
    if path is None:
        with refused():
            path = default_folder(runs, experiment_class.algorithm, settings)
    if command is None:
        name = f"{experiment_class.__module__}.{experiment_class.__qualname__}"
        command = f"runs.train({name}, {settings!r})"

    with contextlib.ExitStack() as stack:
        way = way_to_resume(
            experiment_class, path, program, checkpoint_minutes=checkpoint_minutes
        )
        planned = experiment_class.needs_plan(settings) is not None
        place = stack.enter_context(RunFolder(path, resumed_by=way, planned=planned))
        place.claim()
        # PyTorch has a thread for each core of the machine, even in a container that
        # has the time of a few. There they would wait for each other most of the time.
        threads = torch.get_num_threads()
        stack.callback(torch.set_num_threads, threads)
        torch.set_num_threads(min(threads, quota()))
        try:
            with refused():
                settings = settings.decided()
                experiment = experiment_class(settings)
            stack.callback(experiment.close)
            record = new_record(experiment_class, command, settings)
            run = Run(experiment, place, record)
            run.begin()
        except BaseException:
            place.discard()
            raise
        try:
            run.go_on(checkpoint_minutes)
        except Exception as error:
            if not run.begun and not isinstance(error, NotFiniteError):
                place.discard()
            raise
    return Path(path)


def way_to_resume(
    experiment_class: type[Experiment[Any]],
    path: str | Path,
    program: str | None = None,
    *,
    total_frames: int | None = None,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
) -> str:
    """
    ### How to go on with it

    Args:
        experiment_class: that of the algorithm.
        path: the folder of the run.
        program: the beginning of its command line; `None` is that of the book, if it
            [knows the algorithm](../algorithms.py).
        total_frames: if it is to be [longer][lengthen].
        checkpoint_minutes: how often to save a checkpoint. `run.json` does not have
            that, since it changes no number.

    Returns:
        What to type; a line of Python where there is no program.
    """
    options = {}
    if total_frames is not None:
        options["total_frames"] = f"{total_frames:_}"
    if checkpoint_minutes != CHECKPOINT_MINUTES:
        options["checkpoint_minutes"] = f"{checkpoint_minutes:g}"
    if program is None and not is_of_the_book(experiment_class):
        given = "".join(f", {name}={value}" for name, value in options.items())
        return f"runs.resume({experiment_class.__qualname__}, {str(path)!r}{given})"
    given = "".join(
        f" --{name.replace('_', '-')} {value}" for name, value in options.items()
    )
    # What begins with a hyphen would be taken for an option.
    named = f"./{path}" if str(path).startswith("-") else str(path)
    return f"{program or 'labml-rl'} resume {shlex.quote(named)}{given}"


def resume(
    experiment_class: type[Experiment[Any]],
    folder: str | Path,
    *,
    total_frames: int | None = None,
    checkpoint_minutes: float = CHECKPOINT_MINUTES,
    program: str | None = None,
) -> Path:
    """
    ## Resume

    It goes on with the same numbers as if it had never stopped. Where that is known to
    be [otherwise][why_not_the_same], it says so in a line.

    Args:
        experiment_class: that of the algorithm.
        folder: of the run. If it is finished, nothing is done.
        total_frames: make it [longer][lengthen] than planned.
        checkpoint_minutes: how often to save a checkpoint, and so how much work is at
            risk.
        program: on whose command line the run can be [resumed again][way_to_resume].

    Returns:
        The folder.

    Raises:
        RunError: if there is no such run, if it is one of another algorithm, if it is
            running right now, if its settings are not what they were, if it can't be
            made longer, if its device is not here, or if the curve can't be written or
            the folder has become another run's.
        CheckpointError: if its checkpoint does not fit, or if one can't be written.
        Stopped: if it was stopped.
        NotFiniteError: if a number is not finite.
        WorkerError: if a game fails in another process, or the process dies.
    """
    check_minutes(checkpoint_minutes)
    with contextlib.ExitStack() as stack:
        way = way_to_resume(
            experiment_class, folder, program, checkpoint_minutes=checkpoint_minutes
        )
        place = stack.enter_context(RunFolder(folder, resumed_by=way))
        record = place.reopen()
        check_algorithm(place, record, experiment_class.algorithm)
        if total_frames is not None:
            lengthen(experiment_class, place, record, total_frames)
            longer = way_to_resume(
                experiment_class, folder, program, total_frames=total_frames
            )
            # Without a program, both are lines of Python.
            is_python = record["command"].startswith("runs.train(")
            record["command"] += ("; " if is_python else " && ") + longer
        if record["finished"]:
            return Path(folder)
        with refused():
            settings = settings_of(record, experiment_class.settings_class)
            check_device(settings.device)
            experiment = experiment_class(settings)
        stack.callback(experiment.close)
        run = Run(experiment, place, record)
        # It goes on with its own number of threads, and leaves the program's as it was.
        stack.callback(torch.set_num_threads, torch.get_num_threads())
        with refused():
            run.restore()
        if reason := why_not_the_same(experiment):
            say(
                "From here on, the numbers may differ from those of a run that never "
                f"stopped: {reason}"
            )
        run.go_on(checkpoint_minutes)
    return Path(folder)


def why_not_the_same(experiment: Experiment[Any]) -> str | None:
    """
    ### Why the numbers may differ

    A run goes on [in the same way](experiment.py), unless the emulator [keeps something
    to itself][labml_rl.game.Game.get_state].

    Args:
        experiment: of a run that goes on.

    Returns:
        What the emulator has not saved of its games, in words; `None` if there is
        nothing.
    """
    settings = experiment.settings
    if not is_atari(settings.game):
        return None
    if experiment.game_options(settings).get("sticky_actions"):
        return "which action a sticky one repeats is not in the emulator's state"
    if find_game(settings.game) in NOT_WHOLE:
        return "the emulator's state does not have all of this game"
    return None


def check_device(name: str) -> None:
    """
    Args:
        name: where the network of a run has been.

    Raises:
        ValueError: if there is no such device here.
    """
    try:
        find_device(name)
    except ValueError as error:
        raise ValueError(
            f"{error}. A run goes on where it began. Its agent can be watched "
            "anywhere, and a new run can begin with its weights: "
            "labml_rl/runs/loop.py, Longer than planned, says how"
        ) from error


def lengthen(
    experiment_class: type[Experiment[Any]],
    folder: RunFolder,
    record: dict[str, Any],
    total_frames: int,
) -> None:
    """
    ### Longer than planned

    The curve is still rising, but the run is over. If nothing in it [depends on how
    long it was planned to be][Experiment.needs_plan], it may go on, and ends with the
    same weights as one that was planned to be that long from the beginning. If
    something does depend on it, no settings could repeat the longer run, and it is
    refused.

    That is the case with A2C, PPO and IMPALA, whose learning rate is 0 at the end. But
    a new run can begin with the weights that the old one ended with (*fine-tuning*). It
    counts its frames from 0, its optimiser remembers nothing, and its learning rate
    begins anew. Give it the game of the old run (here `--game Pong`), and leave the old
    checkpoint where it is, since the new run reads it again whenever it is resumed:

    ```python
    from labml_rl import runs
    from labml_rl.ppo import experiment as ppo
    from labml_rl.runs import checkpoint

    OLD = "runs/ppo/pong/seed-1/checkpoint.safetensors"

    class Further(ppo.Experiment):
        algorithm = "further-ppo"

        def __init__(self, settings):
            super().__init__(settings)
            old = checkpoint.load(OLD, only=("network",))
            checkpoint.load_weights(
                self.network, old["network"]
            )

    if __name__ == "__main__":
        runs.main(Further)
    ```

    The same can be done with DQN, which then also explores anew: with
    `--epsilon-start 0.1` it trusts what it knows, once the warm-up is over.

    Another game has other actions, and so another head. There, take over the body
    alone:

    ```python
    weights = {
        name.removeprefix("body."): each
        for name, each in old["network"].items()
        if name.startswith("body.")
    }
    checkpoint.load_weights(self.network.body, weights)
    ```

    If you don't know beforehand how long a run is to be, you can keep the rate as it
    is. Then nothing in it depends on the plan, and it may be made longer at any time:

    ```python
    class Steady(ppo.Experiment):
        algorithm = "steady-ppo"

        def anneal(self):
            return self.settings.learning_rate

        @staticmethod
        def needs_plan(settings):
            return None
    ```

    Args:
        experiment_class: that of the algorithm.
        folder: of the run.
        record: what `run.json` says. It is changed to the longer plan.
        total_frames: how many frames it is to have.

    Raises:
        RunError: if it can't be made longer, or if that many would not make it so.
    """
    settings = settings_of(record, experiment_class.settings_class)
    if total_frames <= settings.total_frames:
        raise RunError(
            f"{folder} is a run of {settings.total_frames:,} frames, and can only be "
            f"made longer than that, not {total_frames:,}. To go on with it as it is, "
            "leave that out"
        )
    if reason := experiment_class.needs_plan(settings):
        raise RunError(
            f"{folder} can't be made longer: {reason}. Begin another run, in another "
            f"folder, of {total_frames:_} frames"
        )
    record["settings"]["total_frames"] = total_frames
    record["finished"] = False


@contextlib.contextmanager
def refused() -> Iterator[None]:
    """
    Anything in the book that is given a value that makes no sense raises a
    `ValueError`. Here each becomes a `RunError`, so that a mistyped name is answered
    with a sentence.

    One from elsewhere, such as an environment of your own, is a mistake in that code.
    It stays as it is, since you need the traceback to find the mistake.

    Raises:
        RunError: for each `ValueError` of the book inside.
    """
    try:
        yield
    except ValueError as error:
        if not raised_by_the_book(error):
            raise
        raise RunError(str(error)) from error


def raised_by_the_book(error: Exception) -> bool:
    """Whether it was raised by a line of the book, and not by one that it called."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    module = frame.f_globals.get("__name__", "")
    return f"{module}.".startswith(f"{PACKAGE}.")


def check_minutes(minutes: float) -> None:
    """
    Raises:
        RunError: if there can't be that many from one checkpoint to the next.
    """
    if not minutes >= 0:
        raise RunError(f"checkpoint_minutes must be at least 0, not {minutes}")
