"""
---
title: Everyone plays
summary: Each process has the network and some games, and plays without asking anyone.
---

# Everyone plays

[One player](sampling.py) with many games asks the network about all of them, hands out
actions, and plays its share of the games while the [workers](worker.py) play theirs.
But while it asks, the workers have nothing to do, and their cores are idle:

```text
the agent  network games network games network games
a worker           games         games         games
```

All that the agent knows is a few megabytes of weights, and they stay what they are
until the rollout is complete. So bring the network to the games: every process has one,
and plays its games by itself, step after step, on a core of its own. They all meet
once, at the end of the rollout:

```text
the agent  net games net games net games
a worker   net games net games net games
```

Nothing is sent but "play" and, when it is done, the scores. The weights and [the
sheet][labml_rl.sampling.Sheet] are in memory that all of them can see. The agent learns
in that memory, so next time they all play with what it has learned.

The steps to learn from are the same whichever process plays which game, since the agent
throws the dice for all of them. But an answer for four observations may be rounded
differently from one for eight. So a run [notes how many
play][labml_rl.runs.experiment.Settings], and goes on with the same number.

PPO was measured on two cores of [three processors](../benchmarks/policies.md). On two
of the processors the gain was a tenth or less, which may be chance. On the third it was
a fifth, and from 7% to 34% in single turns. The more cores there are, the more of them
would be idle without this.

The price is that the agent's process plays, too. A worker whose game hangs is given up
on after a while. When a game hangs in the agent's own process, so does the run.

```python
from labml_rl.batch import spaces_of_first
from labml_rl.environments import environment_makers
from labml_rl.networks import ActorCritic
from labml_rl.players import Players
from labml_rl.speed import SpeedSettings

if __name__ == "__main__":
    games = environment_makers("Pong", 8, seed=1)
    seen, actions = spaces = spaces_of_first(*games)
    network = ActorCritic(seen.shape, actions.n)
    players = Players(
        *games, network, spaces,
        steps=128, settings=SpeedSettings(),
    )
    samples = players.sample()
    print(samples.actions.shape)  # (128, 8)
    players.close()
```

All this is right for a small network on a processor. With a GPU, one large question is
cheaper than many small ones, and there the games are [brought to the
network][labml_rl.sampling.Sampler].
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import nn

from labml_rl.batch import MakeEnv, SerialGames, listed
from labml_rl.graphs import addresses, check_addresses
from labml_rl.process import Worker, close_all, time_for
from labml_rl.sampling import Player, Samples, Sheet, blank, dealt, memory_of
from labml_rl.speed import SpeedSettings, in_precision, keep_memory, preparer
from labml_rl.worker import available_cores, shares

CPU = torch.device("cpu")
SHARED = Path("/dev/shm")


class RemotePlayer(Player):
    """
    ## In a worker

    A [player][labml_rl.sampling.Player] that makes its games itself, and has [one
    thread][labml_rl.speed.few_threads]: the other cores have their own players.

    Args:
        make_games: makes its games.
        network: that of the agent, whose weights are in shared memory.
        sheet: the columns of these games.
        settings: how fast to be.
    """

    def __init__(
        self,
        make_games: Callable[[], SerialGames],
        network: nn.Module,
        sheet: Sheet,
        settings: SpeedSettings,
    ) -> None:
        torch.set_num_threads(1)
        keep_memory(settings)
        self.settings = settings
        with contextlib.ExitStack() as stack:
            games = stack.enter_context(make_games())
            super().__init__(games, network, sheet, preparer(network, settings))
            stack.pop_all()

    def play(self) -> list[dict[str, float]]:
        """Play, in the [precision][labml_rl.speed.in_precision] that is wanted."""
        with in_precision(self.settings, CPU):
            return super().play()


class Players:
    """
    ## All of them

    Players give [samples][Players.sample] just as a
    [Sampler][labml_rl.sampling.Sampler] does.

    Args:
        makers: a function for each environment, which makes it.
        names: what to call each of them in an error.
        network: that of the agent. Its weights and buffers are moved to memory that all
            see, and from then on must be changed in place, as optimisers do.
        spaces: those of an environment: of observations and of actions.
        steps: $T$, how many to play in each environment.
        settings: how fast to be.
        workers: how many play, including this process. `None` is one for each core, and
            0 or 1 is this process alone.
        generator: the dice for the actions.
        start_method: see [labml_rl.process.Worker][].
        timeout: the seconds after which a player that has not answered is given up on.
            `None` is a minute, plus a second for each step.
        busy: whether this process has [something else to do](impala/actors.py) while
            they play. Then it plays only if `workers` is 0, and with 1 a single worker
            does.

    Raises:
        ValueError: if there are no steps, if `workers` is negative, or if there is [no
            room][check_room].
        WorkerError: if an environment can't be made in a worker, or has different
            spaces. An error in one that belongs to this process is raised as it is,
            with a note that says which one it was. Different spaces are then a
            `ValueError`.
    """

    def __init__(
        self,
        makers: Sequence[MakeEnv],
        names: Sequence[str],
        network: nn.Module,
        spaces: tuple[Box, Discrete],
        *,
        steps: int,
        settings: SpeedSettings,
        workers: int | None = None,
        generator: torch.Generator | None = None,
        start_method: str | None = None,
        timeout: float | None = None,
        busy: bool = False,
    ) -> None:
        if workers is not None and workers < 0:
            raise ValueError(f"workers must be at least 0, not {workers}")
        makers, called = listed(makers, names)
        prepare = preparer(network, settings)
        blanks = blank(spaces[0], len(makers), prepare)
        memory = memory_of(network)
        sheet = Sheet.empty(blanks, steps, int(spaces[1].n), memory)
        check_room(sum(each.nbytes for each in (*sheet.parts(), *network.parameters())))
        self.sheet = sheet.share()
        self.generator = generator
        self.timeout = 60.0 + steps if timeout is None else timeout
        self.network = network.share_memory()
        self._shared = addresses(network)

        # The last share is that of this process, unless it is busy: it has one player
        # of its own, or none.
        count = available_cores() if workers is None else workers
        self.shares = shares(len(makers), max(count, 1))
        others = len(self.shares) if busy and count > 0 else len(self.shares) - 1
        self.workers: list[Worker] = []
        self.own: list[Player] = []
        self._played: list[Any] | None = None
        with contextlib.ExitStack() as stack:
            stack.callback(self._give_up)
            for number, rows in enumerate(self.shares):
                columns = self.sheet.columns(rows)
                make_games = partial(
                    SerialGames,
                    makers[rows],
                    names=names[rows],
                    copy=False,
                    first=rows.start,
                    spaces=spaces,
                )
                if number < others:
                    make = partial(RemotePlayer, make_games, network, columns, settings)
                    name = f"player {number} with {', '.join(called[rows])}"
                    worker = Worker(make, name=name, start_method=start_method)
                    self.workers.append(worker)
                else:
                    games = stack.enter_context(make_games())
                    self.own.append(Player(games, network, columns, prepare))
            self._ask(Player.ready)
            stack.pop_all()

    def sample(self) -> Samples:
        """
        ### A rollout

        Returns:
            What all have seen. Its observations and actions are those of the sheet, and
            the next call overwrites them.
        """
        self.begin()
        return self.sheet.samples(self.finish())

    def begin(self) -> None:
        """
        The first half of a rollout: let the others begin, and do not wait for them.
        This process plays its own share, if it has one, before the call returns.

        Raises:
            ValueError: if weights or buffers of the network were replaced, such as the
                mean of all observations. The others would go on with the old ones. And
                if the last rollout was not finished.
        """
        if self._played is not None:
            raise ValueError("finish() first: they play already")
        if self.workers:
            since = "the players were made, and these don't see them"
            check_addresses(self.network, self._shared, since)
        self.sheet.throw(self.generator)
        self._played = self._begin(Player.play)

    def finish(self) -> list[dict[str, float]]:
        """
        The second half: wait until all have played.

        Returns:
            The scores of the games that ended.

        Raises:
            ValueError: if no rollout was begun.
        """
        if self._played is None:
            raise ValueError("begin() first: nobody plays")
        played, self._played = self._played, None
        return list(chain(*self._finish(Player.play, played)))

    def _ask(
        self, method: Callable[..., Any], arguments: Sequence[tuple[Any, ...]] = ()
    ) -> list[Any]:
        return self._finish(method, self._begin(method, arguments))

    def _begin(
        self, method: Callable[..., Any], arguments: Sequence[tuple[Any, ...]] = ()
    ) -> list[Any]:
        """If one fails, there is no rollout, and all are ended."""
        given = list(arguments) or [()] * len(self.shares)
        others = len(self.workers)
        with self._or_give_up():
            for worker, each in zip(self.workers, given[:others], strict=True):
                worker.send(method.__name__, *each)
            own = zip(self.own, given[others:], strict=True)
            return [method(player, *each) for player, each in own]

    def _finish(self, method: Callable[..., Any], own: list[Any]) -> list[Any]:
        limit = time_for(method.__name__, self.timeout)
        with self._or_give_up():
            return [*(each.receive(limit) for each in self.workers), *own]

    def get_states(self) -> list[Any]:
        """The states of all games, [to be saved][labml_rl.batch.Games.get_states]."""
        return list(chain(*self._ask(Player.get_states)))

    def set_states(self, states: Sequence[Any]) -> Any:
        """
        Go on from there.

        Returns:
            The observations that the agent had then, of all games.

        Raises:
            ValueError: if there are more states than games, or fewer.
        """
        each = [(part,) for part in dealt(states, self.shares)]
        return np.concatenate(self._ask(Player.set_states, each))

    @contextlib.contextmanager
    def _or_give_up(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        close_all(self.workers, patience=0)

    def close(self) -> None:
        """Close workers and environments."""
        close_all(self.workers)
        for player in self.own:
            player.close()


def check_room(needed: int) -> None:
    """
    ## Room for it

    On Linux, shared memory is in `/dev/shm`, and some containers have little of it:
    Docker's have 64 MB, unless you ask for more. PyTorch's error would name no remedy.

    Args:
        needed: how many bytes.

    Raises:
        ValueError: if there is less.
    """
    if not SHARED.is_dir():
        return
    free = shutil.disk_usage(SHARED).free
    if free < needed:
        raise ValueError(
            f"players share {needed / 2**20:,.0f} MiB of memory, and {SHARED} has "
            f"{free / 2**20:,.0f} left. Docker has more with --shm-size 1g. Fewer "
            "games need less (--num-envs), and without players there is no need of any "
            "(--no-players, which all have but IMPALA)"
        )
