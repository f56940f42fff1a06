"""
---
title: Workers
summary: One process for each game, so that many are played at once.
---

# Workers

An agent learns best from many games at once: what happens in one game for a while is
much alike, what happens in sixteen is not. Played one after another, they would leave
all cores of the machine but one idle. So each game gets a process of its own, a
**worker**, and the agent talks to it through a pipe:

```text
the agent                     a worker
-----------------             ---------------------
send_step(action) - action -> game.step(action)
                              ... four frames
receive()         <- result - observation, reward,
                              terminated, truncated,
                              info
```

Sending and receiving are separate, and that is the whole trick: hand *every* worker its
request first, and only then wait for the first answer. In the meantime all of them
play.

```python
from labml_rl.worker import game_workers

if __name__ == "__main__":
    with game_workers("Pong", count=8, seed=1) as workers:
        for worker in workers:
            worker.send_reset()
        for worker in workers:
            obs, info = worker.receive()
```

A first version of this is quickly written. A week later a mistake in one game makes the
whole program hang, and the processes of a program that died at night still run in the
morning. The workers of this page do neither.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Any, Self

import gymnasium
import numpy as np

from labml_rl.game import make_game

MakeEnv = Callable[[], gymnasium.Env[Any, Any]]


def worker_process(connection: Connection, make_env: MakeEnv) -> None:
    """
    ## In the worker

    The process makes its environment and then does what it is told, until it is told to
    stop.

    Args:
        connection: its end of the pipe. Requests arrive as `(command, argument)`,
            answers leave as `(succeeded, result)`.
        make_env: makes the environment.
    """
    # Ctrl-C reaches every process in a terminal. What follows from it is for the parent
    # to decide; workers that died of it would only fill the screen with tracebacks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()

    try:
        with contextlib.closing(make_env()) as env:
            while True:
                command, argument = _next_request(connection)
                if command == "step":
                    connection.send((True, _step(env, argument)))
                elif command == "reset":
                    connection.send((True, env.reset(**argument)))
                else:
                    break

    # Whatever went wrong, the parent is told. If it no longer listens, there is nobody
    # to tell.
    except Exception:
        with contextlib.suppress(OSError):
            connection.send((False, traceback.format_exc()))


def _leave_with_parent() -> None:
    """
    ### When the parent is gone

    A parent that is killed cannot say goodbye. This thread hears of it all the same,
    and ends the process at once, whatever the game is doing.

    !!! warning "The pipe does not tell"
        It would, by closing, if the parent alone had the other end. But a forked
        process starts with copies of all that its parent had open, and so the workers
        hold open the pipes of each other, and of themselves. Each waits for the rest to
        leave.

    Python gives every process a *sentinel* that closes when its parent ends. Later
    workers have copies of that as well; but nobody has one of the last worker's. It
    leaves, its copies close, the next one leaves, and so on to the first.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a process of its own"
    wait([parent.sentinel])
    os._exit(1)


def _next_request(connection: Connection) -> tuple[str, Any]:
    try:
        command, argument = connection.recv()
    except (EOFError, OSError):
        return "close", None
    return command, argument


def _step(env: gymnasium.Env[Any, Any], action: Any) -> tuple[Any, ...]:
    """
    ### The next episode begins at once

    The only sensible answer to the end of an episode is a reset, so the worker does it
    without being asked. The observation that it sends is then the *first of the next*
    episode. The last one of the old is in `info["final_obs"]`, and the `info` that came
    with it in `info["final_info"]`, the score of a finished game among it. (A game that
    ends between two of its lives has its score in the `info` of the reset.)

    !!! warning "Which observation is the last?"
        An algorithm that asks how much reward was still to come after a *truncated*
        episode must look at `final_obs`. The observation itself belongs to another
        episode. Many early programs threw the last one away, so that theirs had nothing
        to look at.

    Gymnasium calls this `AutoresetMode.SAME_STEP`. Its own default, `NEXT_STEP`, spends
    an extra step on the reset, in which the action does nothing. Such a step is no
    experience, and whatever learns must leave it out.

    Returns:
        Observation, reward, `terminated`, `truncated`, `info`.
    """
    observation, reward, terminated, truncated, info = env.step(action)
    if terminated or truncated:
        final = {"final_obs": observation, "final_info": info}
        observation, info = env.reset()
        info = info | final
    return observation, reward, terminated, truncated, info


class WorkerError(RuntimeError):
    """
    ## When a worker fails

    The parent gets this error in place of the answer: with the worker's name, and the
    traceback of what happened there. If the process died without a word, the error says
    what it died of.
    """


class Worker:
    """
    ## In the parent

    Any Gymnasium environment can be put into a worker:

    ```python
    with Worker(partial(gymnasium.make, "CartPole-v1"), name="pole") as worker:
        observation, info = worker.reset(seed=1)
        observation, reward, terminated, truncated, info = worker.step(0)
    ```

    The constructor does not wait for the environment to be made, so that several
    workers start up at the same time.

    Args:
        make_env: makes the environment, over there. Unless the process is forked, this
            function has to travel, which those do that stand at the top level of a
            module, and a `functools.partial` of one.
        name: for error messages: whatever tells this worker from the others.
        start_method: `"fork"`, `"spawn"` or `"forkserver"`; `None` is Python's default.

    Raises:
        TypeError: if `make_env` cannot travel.
    """

    def __init__(
        self, make_env: MakeEnv, *, name: str, start_method: str | None = None
    ) -> None:
        self.name = name
        self._waiting = False
        context: Any = multiprocessing.get_context(start_method)
        self._connection, child = context.Pipe()

        # Python ends its *daemon* processes when it exits itself, be it through an
        # exception or Ctrl-C.
        self.process = context.Process(
            target=worker_process,
            args=(child, make_env),
            name=name,
            daemon=True,
        )
        try:
            self.process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            self._connection.close()
            raise TypeError(
                f"{name}: {make_env!r} cannot be sent to another process ({error}). "
                "A function at the top level of a module can, or a partial of one"
            ) from error

        # A worker can die halfway through an answer. The parent then stops waiting for
        # the rest only if nobody but the worker has the worker's end open.
        finally:
            child.close()

    def send_step(self, action: Any) -> None:
        """Send an action and do not wait; [Worker.receive][] has the result."""
        self._send("step", action)

    def send_reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> None:
        """Ask for a new episode and do not wait, as above."""
        self._send("reset", {"seed": seed, "options": options})

    def _send(self, command: str, argument: Any) -> None:
        if self._connection.closed:
            raise WorkerError(f"{self.name} is closed")
        if self._waiting:
            raise RuntimeError(f"receive() what {self.name} was asked for before")
        self._waiting = True

        # A worker that is dead has perhaps said why. `receive` will find out.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connection.send((command, argument))

    def receive(self) -> tuple[Any, ...]:
        """
        ### Wait for the answer

        It waits for the pipe *and* for the end of the process. Whoever waits for the
        pipe alone can wait for ever.

        Returns:
            What the environment's `step` or `reset` returned, with [the next episode
            begun if one ended][_step].

        Raises:
            WorkerError: if the environment raised an exception, or the process died.
        """
        if not self._waiting:
            raise RuntimeError(f"{self.name} was not asked for anything")
        self._waiting = False
        wait([self._connection, self.process.sentinel])
        try:
            if not self._connection.poll():
                raise EOFError
            succeeded, result = self._connection.recv()
        except (EOFError, OSError):
            self.process.join(5)
            succeeded, result = False, _cause_of_death(self.process.exitcode)
        if not succeeded:
            self.close()
            raise WorkerError(f"{self.name}: {result}")
        answer: tuple[Any, ...] = result
        return answer

    def step(self, action: Any) -> tuple[Any, ...]:
        """Send an action and wait for its result."""
        self.send_step(action)
        return self.receive()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, ...]:
        """Ask for a new episode and wait for its first observation and `info`."""
        self.send_reset(seed=seed, options=options)
        return self.receive()

    def close(self) -> None:
        """
        ### The end

        First politely, so that the environment can close its files. A worker that is
        still busy five seconds later is killed. Closing twice does no harm.
        """
        if not self._connection.closed:
            with contextlib.suppress(OSError):
                self._connection.send(("close", None))
            self._connection.close()
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cause_of_death(exitcode: int | None) -> str:
    if exitcode is None:
        return "it hung up, but is still running"
    if exitcode < 0:
        return f"killed by {signal.Signals(-exitcode).name}"
    return f"exited with code {exitcode}"


def spawn_seeds(seed: int, count: int) -> list[int]:
    """
    ## Seeds

    Games with one seed play one game: the same no-ops and, as long as the agent does
    the same, the same everything. Eight such workers are one worker, eight times as
    slow.

    !!! warning "`seed + i` is no better"
        Runs are repeated with seeds 1, 2, 3 to see how much is luck. With `seed + i`,
        run 1 plays the games 1 to 8 and run 2 the games 2 to 9: seven of eight are the
        same, and the runs agree more than they should.

    So the seeds are drawn from the run's seed by a hash, NumPy's `SeedSequence`. More
    games do not change the seeds of those before.

    Args:
        seed: that of the run.
        count: how many games.

    Returns:
        As many seeds, all different, as good as independent of those of any other run.
    """
    drawn = np.random.SeedSequence(seed).generate_state(count, np.uint64)
    return [int(each) for each in drawn]


@contextlib.contextmanager
def game_workers(
    game: str,
    *,
    count: int,
    seed: int,
    start_method: str | None = None,
    **options: Any,
) -> Iterator[list[Worker]]:
    """
    ## Many games

    Args:
        game: its name, as in [labml_rl.game.make_game][].
        count: how many workers.
        seed: each gets a seed of its own, [drawn from this one][spawn_seeds].
        start_method: see [Worker][].
        options: any of [labml_rl.game.GameOptions][].

    Returns:
        A context manager for the list of workers. It closes all of them, however it is
        left.
    """
    with contextlib.ExitStack() as stack:
        workers = []
        for index, game_seed in enumerate(spawn_seeds(seed, count)):
            make_env = partial(make_game, game, seed=game_seed, **options)
            name = f"worker {index} ({game}, seed {game_seed})"
            worker = Worker(make_env, name=name, start_method=start_method)
            workers.append(stack.enter_context(worker))
        yield workers
