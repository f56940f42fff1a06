"""
---
title: Actors
summary: Processes that play the next rollout while this one learns from the last.
---

# Actors

Who plays while the learner learns? The same [players](../players.py) as for A2C and
PPO, each with a few games and the network. Two things are different.

**They have weights of their own.** The learner changes its weights all the time, and a
rollout should be played by one policy from its first step to its last, so that it is
clear which it was. So there are two networks. Whenever a rollout begins, the learner's
weights are copied into the actors' network.

**What they write is copied.** The actors have one [sheet][labml_rl.sampling.Sheet], and
write over it in the next round. So the learner first copies it to its own sheet. (If
the network is on a GPU, that has to be done anyway.) At each X in this picture, the
weights go up and the sheet comes down:

```text
actors    play 2      play 3      play 4
                  X           X
learner   learn 1     learn 2     learn 3
```

Espeholt et al. (2018) have no rounds like these. Their actors send a few steps whenever
they have them, and take whatever weights are the latest by then. So no two runs of the
same program go the same way. Here they all meet at the end of each rollout, as in
[Cleanba](https://arxiv.org/abs/2310.00036). One side may then have to wait. But an
actor is always one update behind, and on a processor a run can be [repeated, and
resumed](../runs/experiment.py) with the same numbers.

Is it faster? Only if something was idle before. On two cores, players and PyTorch's
threads keep both cores busy anyway, and with actors a run is [a little
slower](../../benchmarks/lag.md#is-it-faster). They are for machines on which a GPU and
the cores would wait for each other. We have measured none of those.
"""

from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl.batch import MakeEnv
from labml_rl.graphs import held_by, take_over
from labml_rl.players import Players
from labml_rl.runs.checkpoint import State
from labml_rl.sampling import Samples, Sheet
from labml_rl.speed import SpeedSettings


class Actors:
    """
    ## The actors

    Each request for [samples][Actors.sample] gets the rollout that was played
    meanwhile.

    Args:
        makers: a function for each environment, which makes it.
        names: what to call each of them in an error.
        network: that of the learner, on any device.
        spaces: those of an environment: of observations and of actions.
        steps: $T$, how many to play in each environment.
        settings: how fast to be, on the processor.
        lag: by how many updates the actors are behind. With 0 they wait for the
            learner, and with 1 they play while it learns. With more they play with
            weights that are older than they need to be, to see what that does.
        workers: how many of them there are. `None` is one for each core, and with 0
            this process plays, and nothing is learned meanwhile.
        generator: the dice for the actions, on the processor. `None` takes PyTorch's
            own.

    Raises:
        ValueError: if there is [no room][labml_rl.players.check_room].
        WorkerError: if an environment can't be made, or has different spaces.
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
        lag: int = 1,
        workers: int | None = None,
        generator: torch.Generator | None = None,
    ) -> None:
        self.network, self.lag = network, lag
        self.old = deepcopy(network).cpu()
        self.players = Players(
            makers,
            names,
            self.old,
            spaces,
            steps=steps,
            settings=settings,
            workers=workers,
            generator=generator,
            busy=lag > 0,
        )
        device = next(network.parameters()).device
        theirs = self.players.sheet.parts()
        self.sheet = Sheet(*(torch.empty_like(each, device=device) for each in theirs))
        self.past: deque[list[Tensor]] = deque(maxlen=max(lag, 1))
        self.playing = False

        # The scores of the games that ended in a rollout that has been played, and that
        # nobody has asked for yet. None if there is no such rollout.
        self.scores: list[dict[str, float]] | None = None

    def sample(self) -> Samples:
        """
        ### A rollout

        Returns:
            What was seen. Its observations and actions are those of the learner's
            sheet, and the next call overwrites them.
        """
        if self.scores is None and not self.playing:
            self.begin()
        self.finish()
        scores, self.scores = self.scores, None
        self.sheet.copy_(self.players.sheet)
        if self.lag > 0:
            self.begin()
        return self.sheet.samples(scores or [])

    def begin(self) -> None:
        """
        ### The next rollout

        The present weights are put at the end of a queue of as many copies as `lag`
        says, and the actors play with the oldest. With a lag of 1 the only copy is one
        update old when their rollout is learned from.
        """
        self.past.append([each.detach().clone() for each in held_by(self.network)])
        take_over(self.old, self.past[0])
        self.players.begin()
        self.playing = True

    def finish(self) -> None:
        """Wait until all have played."""
        if self.playing:
            self.playing = False
            self.scores = self.players.finish()

    def get_states(self) -> list[Any]:
        """The states of all games, [to be saved][labml_rl.batch.Games.get_states]."""
        self.finish()
        return self.players.get_states()

    def set_states(self, states: Sequence[Any]) -> Any:
        """Go on from there, with a new rollout."""
        self.finish()
        self.scores = None
        return self.players.set_states(states)

    def get_rollout(self) -> State:
        """
        ### A rollout on its way

        When a run whose actors are behind is saved, there is a rollout that nobody has
        learned from yet.

        Returns:
            The actors' sheet, its scores, and the last weights that were copied.
        """
        self.finish()
        return {
            "sheet": self.players.sheet.parts(),
            "scores": self.scores,
            "past": list(self.past),
        }

    def set_rollout(self, state: State) -> None:
        """Go on from there."""
        self.players.sheet.copy_(Sheet(*state["sheet"]))
        self.scores = state["scores"]
        self.past.clear()
        self.past.extend(state["past"])

    def close(self) -> None:
        """Close workers and environments."""
        self.players.close()
