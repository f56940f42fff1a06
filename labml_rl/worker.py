"""
---
title: Workers
summary: Games in several processes, a few in each, with one memory for all.
---

# Workers

The pages before this one made the parts, and here they are put together: each
[worker][labml_rl.process.Worker] has a [runner][labml_rl.runner.Runner], and the agent
sees one [VectorEnv](batch.py), as with Gymnasium's `AsyncVectorEnv` and
Stable-Baselines3's `SubprocVecEnv`.

```python
from labml_rl.worker import make_games

if __name__ == "__main__":
    games = make_games("Pong", num_envs=8, seed=1)
    with games:
        obs, infos = games.reset()
        for _ in range(1000):
            actions = games.action_space.sample()
            obs, rewards, *ends, infos = games.step(
                actions
            )
```

!!! warning "A program that runs twice"
    Where processes are not forked, as on a Mac, and on Linux from Python 3.14 on, each
    one imports the program that it belongs to. Whatever is below `if __name__ ==
    "__main__":` is then left out. The rest runs once more: without that line, a worker
    would start workers. Python ends it with a `RuntimeError` about the *bootstrapping
    phase* and `freeze_support`, and the agent hears that it *exited with code 1*.

    A notebook can't be imported, nor can a program that comes from standard input. What
    is defined there does not exist for such a worker, and Python *can't pickle* a
    lambda or another local object for it. So environments belong in a module.

The new thing is what does *not* go through the pipe. An observation takes 28 KB, and
[the page before](process.py) shows what it costs to send it. So the game [writes its
picture][labml_rl.game.Game.observe_into] where the agent will read it, in memory that
both processes see, and the pipe carries a few bytes.

```text
the agent                     a worker
-----------------             -----------------------
actions --------- pipe -----> four games, one step each
...                           ... observations, rewards
...                               into shared memory
infos <---------- pipe ------ done
```
"""

import contextlib
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Space
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory

from labml_rl.batch import (
    Games,
    MakeEnv,
    SerialGames,
    listed,
    make_all,
    spaces_of_first,
    spawn_seeds,
)
from labml_rl.game import make_game
from labml_rl.process import Worker, close_all, time_for
from labml_rl.runner import Batch, Runner, Spaces

# Where Linux says how much processor time a container may use, and over what period.
# (Older machines have two files for that.)
CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
CPU_QUOTA = Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us")
CPU_PERIOD = CPU_QUOTA.with_name("cpu.cfs_period_us")


class SharedBatch:
    """
    ## One memory for all

    A [Batch][labml_rl.runner.Batch] in memory that this process and its workers see. It
    has no name and no file by which it could be left behind: when the last process that
    uses it is gone, however it went, the memory is freed.

    Args:
        space: that of one environment's observations.
        num_envs: how many environments.
        start_method: that of the workers.

    Raises:
        ValueError: if observations of this space have no fixed size.
    """

    def __init__(
        self, space: Space[Any], num_envs: int, start_method: str | None
    ) -> None:
        context: Any = multiprocessing.get_context(start_method)
        self._space, self._num_envs = space, num_envs
        Batch.empty(space, 1)  # complains where there is no fixed size
        self._observations = create_shared_memory(space, num_envs, context)
        self._rewards = context.RawArray("d", num_envs)
        self._ends = context.RawArray("b", 2 * num_envs)

    def batch(self) -> Batch:
        """The memory as arrays."""
        ends = np.frombuffer(self._ends, np.bool_)
        return Batch(
            read_from_shared_memory(self._space, self._observations, self._num_envs),
            np.frombuffer(self._rewards, np.float64),
            ends[: self._num_envs],
            ends[self._num_envs :],
        )


def make_runner(
    makers: Sequence[MakeEnv],
    names: Sequence[str],
    *,
    shared: SharedBatch,
    first: int,
    spaces: Spaces,
    autoreset_mode: AutoresetMode,
) -> Runner:
    """
    ## A worker's games

    They are made in the worker.

    Args:
        makers: make the environments.
        names: what to call them.
        shared: the memory that all of them share.
        first: the row of the first of these environments.
        spaces: what all environments should have.
        autoreset_mode: what follows [the end of an
            episode][labml_rl.runner.Runner._step].
    """
    envs = make_all(makers, names)
    runner = Runner(envs, names, autoreset_mode)
    with contextlib.ExitStack() as stack:
        stack.callback(runner.close)
        runner.check_spaces(spaces)
        runner.write_to(shared.batch().rows(first, first + len(envs)))
        stack.pop_all()
    return runner


class ParallelGames(Games):
    """
    ## All together

    Several games in each worker, and not a worker for each game: on two cores, eight
    processes would only wait for their turn, and send eight messages where two will do.

    ![A chart of steps a second for one, two, four and eight workers, by ParallelGames,
    make_games and the bare emulator](../assets/figures/batches-workers.svg)

    *Measured on two cores, where two workers are enough. The bare emulator is the
    ceiling. [The record](../benchmarks/games.md) also has the memory, and other
    libraries.*

    Any Gymnasium environments can be played like this. The first is made once more in
    this process, to see what its observations look like, and closed at once.

    Args:
        make_envs: a function for each environment, which makes it [in the
            worker][labml_rl.process.Worker].
        names: what to call each environment in an error.
        workers: how many; `None` is one for each core that this process may use.
        autoreset_mode: what follows [the end of an
            episode][labml_rl.runner.Runner._step].
        copy: whether the agent gets [its own copies][labml_rl.batch.Games] of the
            observations.
        joins: whether this process takes [the place of one
            worker][ParallelGames._receive].
        start_method: see [labml_rl.process.Worker][].
        timeout: the seconds after which a worker that does not answer is given up on;
            `None` means never. To [go on from a saved
            state][labml_rl.environments.Resumable], it has all the time it needs.
        first: the number of the first of these games in an error, where there are
            others before them.

    Raises:
        ValueError: if there are no environments or no workers, or if observations have
            no fixed size.
        WorkerError: if an environment can't be made in a worker, or has different
            spaces from the first. Whatever goes wrong with one in this process is
            raised as it is, with a note of which one it was: different spaces are a
            `ValueError` there.
    """

    def __init__(
        self,
        make_envs: Iterable[MakeEnv],
        *,
        names: Iterable[str] | None = None,
        workers: int | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        copy: bool = True,
        joins: bool = False,
        start_method: str | None = None,
        timeout: float | None = 60.0,
        first: int = 0,
    ) -> None:
        self.workers: list[Worker] = []
        self._own: Runner | None = None
        autoreset_mode = AutoresetMode(autoreset_mode)
        makers, called = listed(make_envs, names, first)
        if workers is not None and workers < 1:
            raise ValueError(f"workers must be at least 1, not {workers}")
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout must be above 0, not {timeout}")
        num_envs = len(makers)
        spaces = spaces_of_first(makers, called)
        shared = SharedBatch(spaces[0], num_envs, start_method)
        super().__init__(
            spaces,
            num_envs,
            shared.batch(),
            autoreset_mode=autoreset_mode,
            copy=copy,
        )
        self._timeout = timeout

        self._rows = shares(num_envs, workers or available_cores())
        makes = [
            partial(
                make_runner,
                makers[rows],
                called[rows],
                shared=shared,
                first=rows.start,
                spaces=spaces,
                autoreset_mode=autoreset_mode,
            )
            for rows in self._rows
        ]
        own = makes.pop() if joins else None
        try:
            for number, make in enumerate(makes):
                name = f"worker {number} with {', '.join(called[self._rows[number]])}"
                self.workers.append(Worker(make, name=name, start_method=start_method))
            self._own = own() if own else None
        except BaseException:
            self._give_up()
            raise
        self.render_mode = self.call("render_mode")[0]

    def _send(self, method: str, requests: Sequence[Any]) -> None:
        try:
            for worker, rows in zip(self.workers, self._rows, strict=False):
                worker.send(method, requests[rows])
        except BaseException:
            self._give_up()
            raise
        self._own_request = method, requests[self._rows[-1]]

    def _receive(self) -> list[Any]:
        """
        ### Nobody waits

        On two cores, the agent's process and two workers are one too many. Four times a
        step one of them has a message for another, which can read it only when it is
        [awake][labml_rl.process.SpinWait] and has a core. With `joins` the agent's own
        process plays the last share of the games in the time that it would spend
        waiting. Of the four messages, two are left.

        Then it has no time for anything else, though. Leave all games to workers if the
        agent is to [do something meanwhile][labml_rl.batch.Games.step_async], or if you
        do not trust the environments: when one of them hangs, nobody can give up on
        *this* process.

        ### One for all

        If one worker fails, there is no batch. So all of them are ended, and the agent
        gets the error. The same happens if Ctrl-C comes while it waits, since an answer
        could be half read; and if a request can't be sent to one of them, since others
        have theirs already.
        """
        begun = time.monotonic()
        answers: list[Any] = []
        try:
            method, requests = self._own_request
            own = getattr(self._own, method)(requests) if self._own else []
            limit = time_for(method, self._timeout)
            for worker in self.workers:
                answers += worker.receive(limit, time.monotonic() - begun)
        except BaseException:
            self._give_up()
            raise
        return answers + own

    def _give_up(self) -> None:
        self.closed = True
        close_all(self.workers, patience=0)

        # What was wrong with an environment may keep it from closing, too.
        with contextlib.suppress(Exception):
            if self._own:
                self._own.close()

    def close_extras(self) -> None:
        """Close workers and environments."""
        with contextlib.ExitStack() as stack:
            if self._own:
                stack.callback(self._own.close)
            close_all(self.workers)

    def __del__(self) -> None:
        # Games that were forgotten.
        self.close()

    def __getstate__(self) -> Any:
        raise TypeError(
            "games in processes of their own can't be copied. Make others in the same "
            "way, and set_states(get_states()) makes them equal"
        )


def shares(num_envs: int, processes: int) -> list[slice]:
    """
    Returns:
        Which games each process plays. Eight games for three processes are split into
        2, 3 and 3, and each process has at least one.
    """
    count = min(processes, num_envs)
    edges = [num_envs * number // count for number in range(count + 1)]
    return [slice(first, stop) for first, stop in pairwise(edges)]


def available_cores() -> int:
    """
    Returns:
        How many cores this process may run on. A process can be kept off some, and a
        container may have only a share of the time of all of them.
    """
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return max(1, min(cores, quota()))


def quota() -> int:
    """How many cores' worth of time a container has, if this is one."""
    for files in ([CPU_MAX], [CPU_QUOTA, CPU_PERIOD]):
        # There is no such file, or no limit: it is "max", or -1.
        with contextlib.suppress(OSError, ValueError):
            words = " ".join(each.read_text(encoding="ascii") for each in files)
            microseconds, period = map(int, words.split())
            if microseconds > 0:
                return math.ceil(microseconds / period)
    return sys.maxsize


def make_games(
    game: str,
    num_envs: int,
    *,
    seed: int | None = None,
    workers: int | None = None,
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
    copy: bool = True,
    joins: bool = True,
    start_method: str | None = None,
    timeout: float | None = 60.0,
    **options: Any,
) -> Games:
    """
    ## Many Atari games

    Args:
        game: its name, as in [labml_rl.game.make_game][].
        num_envs: how many games.
        seed: each gets a seed of its own, [drawn from this
            one][labml_rl.batch.spawn_seeds]; `None` draws one.
        workers: how many; `None` is one for each core, and with 0 they are
            [played in this process][labml_rl.batch.SerialGames].
        autoreset_mode: see [ParallelGames][], as for those that follow.
        copy: whether the agent gets its own copies of the observations.
        joins: whether this process plays some of the games itself, in place of one
            worker. If so, `workers=1` starts none. Say `False` if it is to do something
            else [while they are played][labml_rl.batch.Games.step_async].
        start_method: how workers are started.
        timeout: how many seconds a worker may take to answer.
        options: any of [labml_rl.game.GameOptions][].

    Returns:
        The games, as one `VectorEnv`.

    Raises:
        ValueError: if there is no such game, or if an option or a number makes no
            sense.
        TypeError: if there is no such option.
        WorkerError: if a worker can't be started, or can't make its games.
    """
    seeds = spawn_seeds(seed, num_envs)
    makers = [partial(make_game, game, seed=each, **options) for each in seeds]
    return played(
        makers,
        [f"{game}, seed {each}" for each in seeds],
        workers=workers,
        autoreset_mode=autoreset_mode,
        copy=copy,
        joins=joins,
        start_method=start_method,
        timeout=timeout,
    )


def played(
    makers: Sequence[MakeEnv],
    names: Sequence[str],
    *,
    workers: int | None,
    autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
    copy: bool = True,
    joins: bool = True,
    **processes: Any,
) -> Games:
    """
    ### In processes or here

    Args:
        makers: a function for each environment, which makes it.
        names: what messages call them.
        workers: see [make_games][], as for `autoreset_mode`, `copy` and `joins`.
        autoreset_mode: what happens at an episode's end.
        copy: whether observations are copied.
        joins: whether this process plays, too.
        processes: what else [ParallelGames][] is told.

    Returns:
        The environments, as one `VectorEnv`.

    Raises:
        ValueError: if the number of workers is below 0.
    """
    if workers is not None and workers < 0:
        raise ValueError(f"workers must be at least 0, not {workers}")
    common: dict[str, Any] = {
        "names": names,
        "autoreset_mode": autoreset_mode,
        "copy": copy,
    }
    if workers == 0:
        return SerialGames(makers, **common)
    return ParallelGames(makers, workers=workers, joins=joins, **common, **processes)


# Gymnasium's own functions find the games as well, once this module is imported:
#
# ```python
# import gymnasium
# import labml_rl.worker
#
# gymnasium.make("labml_rl/Atari-v0", game="Pong")
# if __name__ == "__main__":
#     gymnasium.make_vec(
#         "labml_rl/Atari-v0", num_envs=8, game="Pong"
#     )
# ```
#
# A copy of the book inside a package has a name with dots, which Gymnasium does not
# allow.
gymnasium.register(
    "labml_rl/Atari-v0".replace(".", "-"),
    entry_point=f"{make_game.__module__}:make_game",
    vector_entry_point=f"{__name__}:make_games",
)
