r"""
---
title: Replay
summary: >-
  A replay memory for many games at once: frames kept once, stacks that never cross the
  edge of an episode, n-step returns.
symbols:
  rewards: 'r_t'
  discount: '\gamma'
  returns: 'R_t^{(n)}'
---

# Replay

In a second of play an agent sees nearly the same picture fifteen times. A network that
learns from one step after the other learns about this second, and forgets what it knew
of all the others (*catastrophic forgetting*). And once it has learned from a step, the
step is thrown away, though there was more to learn from it.

A **replay memory**, or replay buffer, is the answer to both ([Lin,
1992](https://doi.org/10.1007/BF00992699)). Every step goes into it (what was seen,
done, earned and seen next: a *transition*), the newest in place of the oldest. The
network learns from steps that are drawn at random from the last million, which are
hours of play. So a batch has a bit of everything in it, and each step is learned from
several times, eight on average in [DQN](../dqn/__init__.py). (Papers give the *replay
ratio*: batches for each step that is played, here a quarter.)

Not every algorithm can do this. [A2C](../a2c/__init__.py) asks how good its own actions
are, and an hour ago another agent was playing. DQN learns how good an action is if the
agent plays *well* afterwards, and for that it does not matter who took it.

## In a program

At the end of this page there is a [ReplayMemory][]:

```python
from labml_rl.environments import (
    final_observations,
    make_environments,
)
from labml_rl.replay import ReplayMemory

games = make_environments("Pong", 16, seed=1)
memory = ReplayMemory(
    games.single_observation_space,
    games.num_envs,
    capacity=1_000_000,
    stack=4,
    n=1,
    discount=0.99,
)
obs, _ = games.reset()
memory.begin(obs)
...  # and in each step:
obs, rewards, terminated, truncated, infos = games.step(
    actions
)
ends = terminated | truncated
final = None
if ends.any():
    final = final_observations(infos, ends)
memory.add(
    actions,
    rewards,
    terminated,
    truncated,
    obs,
    final_observations=final,
)
batch = memory.sample(32)
```

A single Gymnasium environment gives no batches, and its next episode has to be begun
for it. The last observation is copied before that, since some environments write all of
them into the same array. With a memory for one game:

```python
memory.begin(obs[None])
...  # and in each step:
obs, reward, terminated, truncated, _ = env.step(action)
final = None
if terminated or truncated:
    final = obs[None].copy()
    obs, _ = env.reset()
memory.add(
    np.array([action]),
    np.array([reward]),
    np.array([terminated]),
    np.array([truncated]),
    obs[None],
    final_observations=final,
)
```
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from numpy.typing import NDArray
from torch import Tensor

from labml_rl.replay.frames import Places
from labml_rl.replay.rings import TERMINATED, Rings


@dataclass(frozen=True, kw_only=True)
class Batch:
    r"""
    ## A batch

    The target of a step is `returns + discounts * values`, for any $n$ and for all ways
    in which an episode may end. The values are those of the next observations.

    Args:
        observations: $o_t$, shape `(B, …)`.
        actions: $a_t$, int64, shape `(B,)`.
        returns: the rewards of up to $n$ steps, discounted and added up, float32, shape
            `(B,)`.
        discounts: how much the value of the next observation counts, the same.
        next_observations: $o_{t+n}$, or the final one, shape `(B, …)`.
        weights: how much each step counts in the loss, float32, shape `(B,)`.
        places: where the steps are in the memory, shape `(B,)`.
    """

    observations: Tensor
    actions: Tensor
    returns: Tensor
    discounts: Tensor
    next_observations: Tensor
    weights: Tensor
    places: Places

    def to(self, device: torch.device | str) -> "Batch":
        """
        Returns:
            The same on this device.
        """
        moved: dict[str, Any] = {
            name: each.to(device) if isinstance(each, Tensor) else each
            for name, each in vars(self).items()
        }
        return Batch(**moved)


class ReplayMemory(Rings):
    r"""
    ## The memory

    Steps are kept in arrays, and the number of a step in them is its **place**. First
    comes the first place of each game, then the second of each, and so on. So what a
    game did next is as many places further on as there are games. Some places have no
    step to learn from, such as the newest of each game: what follows it is not there
    yet. All this is on [the page about the rings](rings.py).

    Args:
        observation_space: that of one game.
        num_envs: how many games.
        capacity: how many steps to keep, of all games together.
        stack: how many pictures there are in an observation. With 1, observations are
            kept as they are.
        n: how many rewards of a step are counted, see [Rings.look_ahead][].
        discount: $\gamma$, from 0 to 1.
        blocks: give stacks [in blocks][labml_rl.bodies.as_blocks], if they can be cut.
        seed: of the dice that draw.

    Raises:
        ValueError: if a number makes no sense, or if the capacity is too small.
    """

    def __init__(
        self,
        observation_space: Box,
        num_envs: int,
        *,
        capacity: int,
        stack: int = 1,
        n: int = 1,
        discount: float = 0.99,
        blocks: bool = False,
        seed: int | np.random.SeedSequence | None = None,
    ) -> None:
        if not 0 <= discount <= 1:
            raise ValueError(f"discount must be between 0 and 1, not {discount}")
        super().__init__(
            observation_space,
            num_envs,
            capacity=capacity,
            stack=stack,
            n=n,
            blocks=blocks,
        )
        self.discount = discount
        self._powers = (discount ** np.arange(n + 1)).astype(np.float32)
        self._dice = np.random.default_rng(seed)

    def check(self, batch_size: int) -> None:
        """
        Raises:
            ValueError: if fewer than `batch_size` can be drawn, or if it is below 1.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        # The newest steps of each game can't be drawn yet: what follows them is not
        # there. Count exactly only if there may be too few others.
        incomplete = self.num_envs * (self.frames.stack + self.n)
        if len(self) - incomplete < batch_size:
            ready = int(self.can_be_drawn(np.arange(self.written)).sum())
            if batch_size > ready:
                raise ValueError(
                    f"can't draw {batch_size} steps: there are {len(self)} in the "
                    f"memory, of which {ready} are complete"
                )

    def sample(self, batch_size: int) -> Batch:
        """
        ### Draw

        Draw a place at random, and draw again where there is nothing to learn from. So
        all steps that can be drawn are equally likely, and no list of them has to be
        kept.

        Args:
            batch_size: how many steps. The same may come twice.

        Raises:
            ValueError: if fewer than that can be drawn.
        """
        self.check(batch_size)
        drawn = np.empty(0, np.int64)
        while len(drawn) < batch_size:
            places = self._dice.integers(self.written, size=batch_size - len(drawn))
            drawn = np.concatenate([drawn, places[self.can_be_drawn(places)]])
        return self.batch(drawn)

    def batch(self, places: Places, weights: NDArray[Any] | None = None) -> Batch:
        r"""
        ### Put together

        Args:
            places: of steps that [can be drawn][Rings.can_be_drawn], shape
                `(B,)`.
            weights: how much each counts in the loss; `None` is 1.

        Returns:
            All that there is to learn from them.
        """
        # For each step the places of the next $n$, its own among them, what came of
        # these, and which of them still count, since no episode has ended before.
        ahead, outcomes, alive = self.look_ahead(places)  # (B, n)

        # $$R_t^{(n)} = r_t + \gamma r_{t+1} + \dots + \gamma^{n-1} r_{t+n-1}$$
        rewards = np.where(alive, self.rewards[ahead], 0)  # (B, n)
        returns = (rewards * self._powers[:-1]).sum(axis=1)

        # The value of what follows $m$ steps later counts $\gamma^m$, and nothing if
        # the last of them has ended the game. Here $m$ is `taken`, and what follows is
        # $m$ places further in the same game. After the last place comes the first.
        taken = alive.sum(axis=1)
        last = np.take_along_axis(outcomes, taken[:, None] - 1, axis=1)[:, 0]
        discounts = np.where(last == TERMINATED, 0, self._powers[taken])
        following = (places + self.num_envs * taken) % self.size
        observations, next_observations = self.stacks(places, following)
        if weights is None:
            weights = np.ones(len(places))
        return Batch(
            observations=observations,
            actions=torch.from_numpy(self.actions[places].astype(np.int64)),
            returns=torch.from_numpy(returns.astype(np.float32)),
            discounts=torch.from_numpy(discounts.astype(np.float32)),
            next_observations=next_observations,
            weights=torch.from_numpy(weights.astype(np.float32)),
            places=places,
        )

    def get_state(self) -> dict[str, Any]:
        """
        ### Saved with the run

        A run that went on with an empty memory would not learn from the same steps as
        one that never stopped. So [a checkpoint](../runs/checkpoint.py) has all of it,
        7 GB in the end.

        Returns:
            The state. Its arrays are views of the memory, so use it at once.
        """
        return super().get_state() | {"dice": self._dice.bit_generator.state}

    def set_state(self, state: dict[str, Any]) -> None:
        """
        Args:
            state: what [ReplayMemory.get_state][] returned, of a memory for the same
                games. What was read from a file is not copied, and the memory writes
                over it: for a second memory, read it again.

        Raises:
            ValueError: if it is that of another memory. This one is then unchanged.
        """
        super().set_state(state)
        self._dice.bit_generator.state = state["dice"]


# ## Questions
#
# 1. A memory has a million steps of a single game. How long was that game played?
# 2. A batch of 32 is drawn after every fourth step. How often is a step drawn, on
#    average, before it is overwritten? How many are never drawn?
# 3. With $n = 3$ and $\gamma = 0.9$, a step is paid 1, so is the next, and that ends
#    the game. What do `returns` and `discounts` say of it? And if it was cut off there?
#
# ??? tip "Answers"
#     1. Four million frames, at 60 a second, are 18.5 hours.
#     2. Eight times: while it is there, eight million steps are drawn. A single draw
#        misses it with probability $1 - 10^{-6}$, so all of them do with
#        $(1 - 10^{-6})^{8 \cdot 10^6} \approx e^{-8} = 0.0003$: one in three thousand.
#     3. 1.9 and 0. If it was cut off, 1.9 and $0.9^2 = 0.81$, for the value of the
#        final observation.
