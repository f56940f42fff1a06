r"""
---
title: Learning while it plays
summary: How PPO learns from one rollout on a GPU while the next is played.
---

# Learning while it plays

While a GPU learns from a rollout, no game is played, and all cores are idle. With the
setting `overlap`, PPO does both at the same time:

```text
without   play   1   2   3
          learn    1   2   3

with      play   1 2 3 4
          learn    1 2 3
```

For that, there are two networks. One learns from what was played last. Meanwhile the
other, a copy made when the update begins, plays the next rollout. So the policy that
played is no longer the one that begins to learn: it is one update older. The last
rollout of a run is thrown away. (The idea is that of [IMPALA](../impala/__init__.py),
which also corrects its returns for the older policy. PPO does not.)

With 128 games on [sixteen cores and a large GPU](../../benchmarks/gpu.md), PPO then
plays and learns as many steps as the games alone allow. Three samples could not tell
whether that is more than without `overlap`. On a processor that does the learning as
well, nothing is idle, and there is nothing to gain.

A small game is learned [just as
well](../../benchmarks/tricks.md#learning-while-it-plays) in the end, as far as five
runs can tell, but a little later. How much later depends on [the policy from which the
clip counts][OverlapExperiment.from_here].
"""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from labml_rl.graphs import held_by, take_over
from labml_rl.networks import log_probs_of
from labml_rl.onpolicy import PolicyExperiment
from labml_rl.runs.checkpoint import State
from labml_rl.sampling import Sampler, Samples, Sheet

# PPO's experiment is built on this page. While this page is imported, these two do not
# exist yet, so types that need them are in quotes.
if TYPE_CHECKING:
    from labml_rl.ppo.experiment import Batch, Settings


class OverlapExperiment(PolicyExperiment["Settings"]):
    """
    ## What PPO is built on

    [The experiment of PPO](experiment.py) says how to make a batch out of a rollout,
    and what the steps of the optimiser are. It asks this one for [the
    rollout][OverlapExperiment.rollout], and has it [take the
    steps][OverlapExperiment.learn_from].

    Args:
        settings: those of PPO.
    """

    def __init__(self, settings: "Settings") -> None:
        super().__init__(settings)

        # With `overlap`: the rollout that was played while the network learned, and
        # that it has not learned from yet.
        self.latest: Samples | None = None

        # What a GPU has to do for the learner, [on a list of its own][beside].
        self.stream: torch.cuda.Stream | None = None
        if settings.overlap and self.device.type == "cuda":
            self.stream = torch.cuda.Stream(self.device)

    def make_actor(self) -> nn.Module:
        """
        ### Who plays

        Returns:
            The network that plays: a copy, or the one that learns.

        Raises:
            ValueError: if it is to be a copy, and the games are with the players.
        """
        settings = self.settings
        if not settings.overlap:
            return super().make_actor()
        if settings.players and self.device.type == "cpu":
            raise ValueError(
                "overlap is for games that come to the network. On a processor each "
                "player has games of its own: add --no-players, or leave --overlap"
            )
        return deepcopy(self.network)

    def rollout(self) -> Samples:
        """
        ### What to learn from

        Without `overlap`, `latest` is always None.

        Returns:
            The rollout that was played during the last update. If there is none, one
            that is played now.
        """
        if self.settings.overlap:
            # A buffer that no checkpoint has counts, too.
            take_over(self.actor, held_by(self.network))
        return self.play() if self.latest is None else self.latest

    def learn_from(self, batch: "Batch", learned: list[dict[str, Tensor]]) -> None:
        """
        ### Take the steps

        The next rollout is written where this one is, so this one is copied first.

        Args:
            batch: what to learn from.
            learned: what is measured in each step is added to it.
        """
        if self.settings.overlap:
            self.learn_and_play(self.steps_of(batch.copy(), learned))
        else:
            for _ in self.passes(batch, learned):
                pass

    def learn_and_play(self, steps: Iterator[None]) -> None:
        """
        ### Take them by turns

        A step of learning is asked for [whenever all games are being played][beside].

        Args:
            steps: those of the optimiser.
        """
        assert isinstance(self.games, Sampler)
        sample = partial(self.games.sample, beside(steps, self.stream))
        self.latest = self.play(sample)

    def steps_of(
        self, batch: "Batch", learned: list[dict[str, Tensor]]
    ) -> Iterator[None]:
        """
        Args:
            batch: what to learn from.
            learned: what is measured in each step is added to it.

        Yields:
            Nothing, after a second look at the batch, and after each step.
        """
        batch = self.from_here(batch)
        yield
        yield from self.passes(batch, learned)

    @torch.no_grad()
    def from_here(self, batch: "Batch") -> "Batch":
        r"""
        ### Where the clip counts from

        The [clip][labml_rl.ppo.clipped_policy_loss] is meant to keep an update from
        going too far. But too far from what? If it counts from the policy that played,
        the update before has already used up part of the way, and a small game [took
        one and a half times as many
        frames](../../benchmarks/tricks.md#learning-while-it-plays) to be learned
        halfway. So before learning begins, the network says how likely it finds these
        actions *now*, and the clip counts from there. [Hilton et al.
        (2022)](https://arxiv.org/abs/2110.00641) tell these two policies apart: the one
        that played, and the *proximal* one, which the new one should stay near. (They
        also weigh each step by the ratio of the two. Here they are a single update
        apart, and count as one.)

        Args:
            batch: what to learn from.

        Returns:
            The same, with the present probabilities.
        """
        rows = torch.arange(len(batch), device=self.device)
        parts = [batch.rows(r) for r in rows.chunk(self.settings.minibatches)]
        now = [log_probs_of(self.answers(each)[0], each.actions) for each in parts]
        return replace(batch, log_probs=torch.cat(now))

    @abstractmethod
    def passes(
        self, batch: "Batch", learned: list[dict[str, Tensor]]
    ) -> Iterator[None]:
        """
        ### What PPO says

        Args:
            batch: what to learn from.
            learned: what is measured in each step is to be added to it.

        Yields:
            Nothing, after each step of the optimiser.
        """

    @abstractmethod
    def answers(self, batch: "Batch") -> tuple[Tensor, Tensor]:
        """
        Args:
            batch: some steps.

        Returns:
            What the network says of them now.
        """

    def get_state(self) -> State:
        """
        ### Saved with the run

        Returns:
            The state, and the rollout that nobody has learned from yet.
        """
        state = super().get_state()
        if self.settings.overlap:
            state["played"] = self.latest is not None
            state["sheet"] = self.games.sheet.parts()
        return state

    def set_state(self, state: State) -> Any:
        """
        Args:
            state: what [get_state][OverlapExperiment.get_state] returned.

        Returns:
            The observations on which the agent has not acted yet.
        """
        observations = super().set_state(state)
        if self.settings.overlap:
            self.games.sheet.copy_(Sheet(*state["sheet"]))
            self.latest = self.games.sheet.samples([]) if state["played"] else None
        return observations


def beside(steps: Iterator[None], stream: torch.cuda.Stream | None) -> Iterator[None]:
    """
    ## Taking turns with the games

    While all games are played, Python may as well ask the GPU for a step of learning.
    With two players, [each with half of the games][labml_rl.sampling.take_turns]:

    ```text
    network  A     B     A     B     A     B
    learner     1           2           3
    games      A A A B B B A A A B B B A A A B B B
    ```

    A GPU does what it is asked for in the order in which it was asked. So the second
    question of player A would wait for the whole first step of learning. With two lists
    of orders, called *streams*, it does not: the GPU works at both.

    What learns must be a different network from the one that plays.

    Args:
        steps: does one step each time that it is asked for the next.
        stream: the learner's list of orders; `None` is for a processor, which has no
            such list.

    Yields:
        Nothing, after each step.
    """
    kind = "cpu" if stream is None else "cuda"
    if stream is not None:
        stream.wait_stream(torch.cuda.current_stream(stream.device))
    while True:
        # Meanwhile the players are inside an autocast, which remembers weights [that
        # have been converted](../graphs.py). A learner inside it would never see what
        # it learns.
        with (
            nullcontext() if stream is None else torch.cuda.stream(stream),
            torch.autocast(kind, enabled=False, cache_enabled=False),
        ):
            # `next` gives None after a step, and True when there are none left.
            if next(steps, True):
                break
        yield
    if stream is not None:
        torch.cuda.current_stream(stream.device).wait_stream(stream)
