r"""
---
title: Rings
summary: >-
  Where the steps of many games are kept, and which of them are complete: over the write
  head, the edges of episodes, and n steps ahead.
---

# Rings

[The memory](__init__.py) draws steps. This page keeps them, and answers two questions
about each: which pictures belong to its observation, and is anything missing that is
needed to learn from it?

Each game has a **ring** of places (a *ring buffer*, or *circular buffer*), and a write
head that goes around it: when all are full, the newest picture takes the place of the
oldest. A place holds [one picture](frames.py), the newest of an observation, and what
the agent then did. The head is at the newest of all. Here is a ring with the end of an
episode in it:

```text
place        3   4   5   6   7   8   9
picture     p6  p7  p8  p9  q0  q1  q2
action      a6  a7  a8   -  b0  b1   -
                     |   |   |       |
           the last step |   |       the head
               its final |   the first of
             observation |   the next episode
```

The **final observation** is one that the agent never acts on. Games that begin the next
episode at once hand it over [separately][labml_rl.environments.final_observations], and
here it gets a place of its own. So what followed a step is always in the next place,
whether the episode went on, was terminated, or was cut off. The price is one more place
for each episode.

!!! warning "Truncated is not terminated"
    Many memories have one array `done`. Stable-Baselines3's can tell the two apart, but
    not together with its `optimize_memory_usage`: there the next observation of a step
    is that of the next place, and after an end it belongs to another episode.
"""

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from torch import Tensor

from labml_rl.replay.frames import Frames, Places

# What came of the step at a place. Nothing yet, where the head is; and nothing ever,
# after a final observation.
NOTHING, WENT_ON, TERMINATED, TRUNCATED = range(4)


class Rings:
    """
    ## The rings

    Places are numbered across all rings: the first place of each game, then the second
    of each, and so on. So one step back in the same game is as many places back as
    there are games.

    Args:
        observation_space: that of one game.
        num_envs: how many games.
        capacity: how many places, of all games together. A step takes one, and so does
            a final observation.
        stack: how many pictures there are in an observation, see [Frames][].
        n: how far [to look ahead][Rings.look_ahead].
        blocks: give stacks [in blocks][labml_rl.bodies.as_blocks], if they can be cut.

    Raises:
        ValueError: if a ring would be too small for the stack and `n`, or if
            observations are not arrays.
    """

    def __init__(
        self,
        observation_space: Box,
        num_envs: int,
        *,
        capacity: int,
        stack: int,
        n: int,
        blocks: bool,
    ) -> None:
        for name, number in (("n", n), ("num_envs", num_envs)):
            if number < 1:
                raise ValueError(f"{name} must be at least 1, not {number}")

        if not isinstance(observation_space, Box):
            raise ValueError(
                f"observations must be arrays, not {observation_space}. Gymnasium's "
                "FlattenObservation makes one array of numbers and of dictionaries"
            )

        # A step can be drawn when its stack is complete, which takes up to `stack`
        # places, and when `n` more have been written after it.
        ring = capacity // num_envs
        if ring < stack + n:
            raise ValueError(
                f"a capacity of {capacity} steps is too small: {num_envs} games with "
                f"stacks of {stack} and n = {n} need at least {num_envs * (stack + n)}"
            )
        self.num_envs, self.n = num_envs, n
        self.size = ring * num_envs
        shape, dtype = observation_space.shape, observation_space.dtype
        self.frames = Frames(shape, dtype, stack=stack, places=self.size, blocks=blocks)
        self.actions = np.zeros(self.size, np.int32)
        self.rewards = np.zeros(self.size, np.float32)
        self.outcomes = np.zeros(self.size, np.uint8)

        # How many pictures of the same episode come before each, up to those of a
        # stack.
        self.ages = np.zeros(self.size, np.min_scalar_type(stack))
        self._back = np.arange(stack)[::-1]
        self._ahead = np.arange(n)
        self._forget()

    def _forget(self) -> None:
        # The head of each ring, and how many places of it are written. Before there is
        # a picture, a head is one place before the first: its number is negative.
        self.heads = np.arange(self.num_envs) - self.num_envs
        self.filled = np.zeros(self.num_envs, np.int64)
        self.outcomes[:] = NOTHING
        self._steps = 0
        self._seen: NDArray[Any] | None = None

    def __len__(self) -> int:
        """How many steps there are."""
        return self._steps

    @property
    def nbytes(self) -> int:
        """How much memory it takes when it is full."""
        arrays = (self.frames.kept, self.actions, self.rewards, self.outcomes)
        return sum(each.nbytes for each in (*arrays, self.ages))

    @property
    def written(self) -> int:
        """How many places are in use. There is nothing after them."""
        return int(self.filled.max()) * self.num_envs

    def begin(self, observations: NDArray[Any]) -> None:
        """
        ### Begin

        Args:
            observations: the first of every game, shape `(N, …)`. What was in the
                memory before is forgotten.

        Raises:
            ValueError: if their shape is not the one given, if their type has [no room
                here][labml_rl.replay.frames.Frames.check], or if they are not [the
                first][labml_rl.replay.frames.Frames.check_first] of episodes.
        """
        self.frames.check(observations, self.num_envs)
        self.frames.check_first(observations)
        self._forget()
        everybody = np.arange(self.num_envs)
        self._write(everybody, observations, first=np.ones(self.num_envs, np.bool_))
        if self.frames.stack > 1:
            self._seen = self.frames.newest(observations).copy()

    def add(
        self,
        actions: NDArray[Any],
        rewards: NDArray[Any],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        observations: NDArray[Any],
        *,
        final_observations: NDArray[Any] | None = None,
    ) -> None:
        """
        ### One step of all games

        !!! warning "The step that nobody played"
            By default, a Gymnasium batch begins the next episode only in the step after
            an end, and says that this step brought 0. Nothing here can tell it from a
            step that was played, and the network would learn that games begin where
            others end. So make the games with `autoreset_mode=SAME_STEP`, as all in
            this book are.

        Args:
            actions: those taken on the observations before, by number, shape `(N,)`.
            rewards: what each brought, the same.
            terminated: whether the episode ended with it, the same.
            truncated: whether it was cut off after it.
            observations: those after it; where an episode ended, the first of the next.
                Shape `(N, …)`.
            final_observations: the last one of each episode that ended, in the order of
                the games. May be left out if none did.

        Raises:
            ValueError: if the memory was not begun, if the actions are not numbered
                from 0, if a reward is not finite, if anything has the wrong shape or
                type, if a stack does not [follow the one
                before][labml_rl.replay.frames.Frames.check_next], or if there is not
                one final observation for each end. Nothing is written then.
        """
        actions, rewards = np.asarray(actions), np.asarray(rewards, np.float32)
        terminated, truncated = np.asarray(terminated), np.asarray(truncated)
        for name, each in (
            ("actions", actions),
            ("rewards", rewards),
            ("terminated", terminated),
            ("truncated", truncated),
        ):
            if each.shape != (self.num_envs,):
                raise ValueError(
                    f"{name} must have shape {(self.num_envs,)}, one for each game, "
                    f"not {each.shape}"
                )
            if name in ("terminated", "truncated") and each.dtype != np.bool_:
                raise ValueError(f"{name} must be True or False, not {each.dtype}")
        ends = np.logical_or(terminated, truncated)
        over = np.flatnonzero(ends)
        given = 0 if final_observations is None else len(final_observations)
        if not self.filled.all():
            raise ValueError("begin() the memory with the first observations")
        if given != len(over):
            raise ValueError(
                f"{len(over)} of {self.num_envs} episodes ended, and there are "
                f"{given} final observations"
            )
        if actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be whole numbers, not {actions.dtype}")
        if actions.min() < 0:
            raise ValueError(f"actions are numbered from 0, and one is {actions.min()}")
        most = np.iinfo(self.actions.dtype).max
        if actions.max() > most:
            raise ValueError(f"actions go to {most} here, and one is {actions.max()}")
        if not np.isfinite(rewards).all():
            raise ValueError(f"rewards must be finite, not {rewards}")
        self.frames.check(observations, self.num_envs)
        self.frames.check_first(observations[ends])
        if final_observations is not None:
            self.frames.check(final_observations, len(over))
        self._check_next(observations, final_observations, ends)
        now = self.heads
        self.actions[now], self.rewards[now] = actions, rewards
        self.outcomes[now] = np.where(
            terminated, TERMINATED, np.where(truncated, TRUNCATED, WENT_ON)
        )
        self._steps += self.num_envs
        if final_observations is not None and len(over):
            self._write(over, final_observations, first=np.zeros(len(over), np.bool_))
        self._write(np.arange(self.num_envs), observations, first=ends)

    def _check_next(
        self,
        observations: NDArray[Any],
        final_observations: NDArray[Any] | None,
        ends: NDArray[np.bool_],
    ) -> None:
        if self.frames.stack == 1:
            return
        # After a checkpoint, the pictures seen last are not at hand.
        if self._seen is not None:
            # A slice copies nothing, and usually no episode ends.
            rows = ~ends if ends.any() else slice(None)
            self.frames.check_next(self._seen[rows], observations[rows])
            if final_observations is not None:
                self.frames.check_next(self._seen[ends], final_observations)
        self._seen = self.frames.newest(observations).copy()

    def _write(
        self,
        games: NDArray[np.int64],
        observations: NDArray[Any],
        *,
        first: NDArray[np.bool_],
    ) -> None:
        """
        ### The head moves on

        Args:
            games: which of them.
            observations: of each.
            first: whether they are the first of an episode.
        """
        before = self.heads[games]
        places = (before + self.num_envs) % self.size
        grown = np.minimum(self.ages[before] + 1, self.frames.stack - 1)
        self.ages[places] = np.where(first, 0, grown)
        self.frames.write(places, observations)

        # What was here is gone, and nothing has come of this observation yet.
        self._steps -= int(np.count_nonzero(self.outcomes[places]))
        self.outcomes[places] = NOTHING
        self.heads[games] = places
        self.filled[games] = np.minimum(
            self.filled[games] + 1, self.size // self.num_envs
        )

    def stacks(self, *places: Places) -> list[Tensor]:
        """
        ### Stacks

        A stack has its newest picture and those before it, as far as its episode goes
        back. Beyond that, the first is repeated, as [the game
        does][labml_rl.game.Game._observe].

        !!! warning "Across the edge"
            Without that, the first stacks of an episode have the end of another in
            them: a ball that was lost is still flying there. These are the very stacks
            in which the agent has to serve.

        Args:
            places: of the newest pictures, for each set of stacks, shape `(B,)`.

        Returns:
            Each set of observations, shape `(B, …)`.
        """
        pictures = []
        for newest in places:
            back = np.minimum(self._back, self.ages[newest][:, None])  # (B, stack)
            pictures.append((newest[:, None] - self.num_envs * back) % self.size)
        return self.frames.read(*pictures)

    def look_ahead(self, places: Places) -> tuple[Places, NDArray[Any], NDArray[Any]]:
        r"""
        ### n steps

        A target [counts $n$ rewards][labml_rl.dqn.td_loss] before it trusts the
        network. [Rainbow](../dqn/rainbow.py) uses an $n$ of 3. [Fedus et al.
        (2020)](https://arxiv.org/abs/2007.06700) find that of its parts, this is the
        one that makes a larger memory useful.

        An episode may end within these $n$ steps. Then fewer rewards are counted, and
        what follows is the final observation. Take the step at place 4 in the drawing
        at the top, with a single game and $n = 3$. If the game was over after the step
        at place 5, these are

        | array | first | second | third |
        |---|---|---|---|
        | `ahead` | 4 | 5 | 6 |
        | `outcomes` | went on | terminated | nothing |
        | `alive` | yes | yes | no |

        Two rewards count, and the final observation is two places after place 4.

        Args:
            places: of steps, shape `(B,)`.

        Returns:
            The places of $n$ steps from each, what came of them, and which of them are
            still in its episode, all of shape `(B, n)`.
        """
        ahead = (places[:, None] + self.num_envs * self._ahead) % self.size  # (B, n)
        outcomes = self.outcomes[ahead]
        alive = np.ones(ahead.shape, np.bool_)
        goes_on = outcomes[:, :-1] == WENT_ON
        np.logical_and.accumulate(goes_on, axis=1, out=alive[:, 1:])
        return ahead, outcomes, alive

    def can_be_drawn(self, places: Places) -> NDArray[np.bool_]:
        """
        ### What can be drawn

        Not every step can. The oldest picture of its stack may have been overwritten:
        the head comes around from behind. Or what comes after it may not be there yet:
        the head is just ahead.

        ![Twelve places with pictures of three episodes and a write head among them;
        three stacks are marked](../../assets/figures/replay-ring.svg)

        *A small ring, after its head has gone around, with pictures of three episodes:
        s, p and q. The brackets are the stacks of s1, s3 and p5. Solid squares can be
        drawn. A final observation can't, nor can the place of the head, nor those just
        after it.*

        !!! warning "Over the head"
            A stack that reaches over the head has pictures from now and from hours ago
            in it. In a memory of a million steps there are few of them, and nobody
            would ever notice. In a small one, every batch has some.

        Args:
            places: any, shape `(B,)`.

        Returns:
            Whether there is a complete step, shape `(B,)`.
        """
        # How far is the step behind its head, counted in places of its own ring? The
        # oldest picture of its stack is `ages` places further back, and must be among
        # those that are filled.
        games = places % self.num_envs
        behind = (self.heads[games] - places) % self.size // self.num_envs
        has_past = behind + self.ages[places] < self.filled[games]

        # At the head, nothing has come yet, and after a final observation nothing ever
        # will. If one of these is met within $n$ places, and before the episode ends,
        # the step is not complete.
        _, outcomes, alive = self.look_ahead(places)
        has_future = ((outcomes != NOTHING) | ~alive).all(axis=1)
        return has_past & has_future

    def get_state(self) -> dict[str, Any]:
        """
        ### The state

        Returns:
            All that is written, and where. Its arrays are views, so use it at once.
        """
        arrays = ("actions", "rewards", "outcomes", "ages")
        return {name: getattr(self, name)[: self.written] for name in arrays} | {
            "kept": self.frames.kept[: self.written],
            "heads": self.heads,
            "filled": self.filled,
            "steps": self._steps,
            "described": self.described,
        }

    @property
    def described(self) -> str:
        """What must be the same in a memory that goes on with the state of another."""
        frames = self.frames
        return (
            f"{self.size} places for {self.num_envs} games, observations "
            f"{frames.shape} of {frames.kept.dtype}, stacks of {frames.stack}"
            f"{', in blocks' if frames.blocks else ''}"
        )

    def set_state(self, state: dict[str, Any]) -> None:
        """
        Args:
            state: what [Rings.get_state][] returned, for the same games, which then go
                on from where they were. The next step is added to what they showed
                last. With others, it would join two games. What was read from a file is
                not copied, and the memory writes over it: for a second memory, read it
                again.

        Raises:
            ValueError: if it is of another memory. Everything is then as it was.
        """
        if state["described"] != self.described:
            raise ValueError(
                f"this replay memory was of other games: {state['described']}. Here it "
                f"would be {self.described}"
            )
        # What was read from a file was a tensor, and is ours. It is not copied, which
        # would need room for two. Anything else belongs to another memory, or may be
        # needed once more.
        kept = state["kept"]
        written = len(kept)
        self._forget()
        if written == self.size and isinstance(kept.base, Tensor):
            self.frames.kept = kept
        else:
            self.frames.kept[:written] = kept
        for name in ("actions", "rewards", "outcomes", "ages"):
            getattr(self, name)[:written] = state[name]
        self.heads, self.filled = state["heads"].copy(), state["filled"].copy()
        self._steps = state["steps"]
