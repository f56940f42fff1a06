r"""
---
title: Playing to learn
summary: >-
  How the network plays many games at once, and what is kept for the learner.
symbols:
  observations: 'o_t'
  actions: 'a_t'
  logits: '\ell_a'
  log_probs: '\log \pi(a_t \mid o_t)'
---

# Playing to learn

A2C and PPO play and learn in turn. First the network plays for a while, all games at
once, and everything is written down. Then the network is changed so that what went well
becomes likelier. Then it plays again, and what was written down is thrown away: it
shows the play of an agent that no longer exists. Algorithms that may only learn from
their own latest play are called **on-policy**.

This page covers the first half: a [player][Player], a [sheet][Sheet] on which it
writes, and a [sampler][Sampler], which lets the player go on for $T$ steps from where
it stopped, and gives back [what was seen][Samples]:

```python
from labml_rl.environments import make_environments
from labml_rl.networks import ActorCritic
from labml_rl.sampling import Sampler

games = make_environments(
    "Pong", 8, seed=1, workers=0, copy=False
)
network = ActorCritic((4, 84, 84), 6)
sampler = Sampler(games, network, steps=128)
samples = sampler.sample()
# (128, 8, 4, 84, 84)
samples.observations.shape
```
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise, zip_longest
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete, Space
from gymnasium.vector import AutoresetMode
from torch import Tensor

from labml_rl.batch import Games
from labml_rl.environments import final_observations, scores_of
from labml_rl.graphs import Recorded, asked
from labml_rl.networks import draw, log_probs_of
from labml_rl.returns import Rollout

# A network that remembers also gets what it remembered, and gives what it remembers
# now.
ActorCriticFunction = Callable[..., tuple[Tensor, ...]]
Prepare = Callable[[Tensor], Tensor]


@dataclass(frozen=True, kw_only=True)
class Samples:
    r"""
    ## What was seen

    All that a learner needs from $T$ steps in $N$ games. The probability of each action
    is kept as well: after the first step of learning, the network would give another.

    What follows an observation is in the next row, unless an episode ended with this
    step. What was seen after the last step is in row $T$ of the sheet,
    `sampler.sheet.observations`.

    Args:
        observations: $o_t$, shape `(T, N, …)`.
        actions: $a_t$, int64, shape `(T, N)`.
        log_probs: $\log \pi(a_t \mid o_t)$ of the network that played, shape `(T, N)`.
        rollout: rewards, values and ends, which [returns are made of](returns.py).
        scores: of the games that ended; see [scores_of][].
        memories: what the network [remembered](ppo/remembering.py) before the first of
            these steps, shape `(N, M)`.
    """

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    rollout: Rollout
    scores: list[dict[str, float]]
    memories: Tensor


@dataclass(frozen=True)
class Sheet:
    r"""
    ## The sheet it is written on

    Everything is written into arrays that are made once, each number in the place where
    the learner will look for it. (Others call it the *rollout buffer*.)

    Args:
        observations: $o_t$ and, at the end, one that has not been acted on yet. Its
            value stands for all that is to come. Shape `(T + 1, N, …)`.
        memories: what the network remembers before each of these, shape
            `(T + 1, N, M)`. $M$ is 0, unless the network is [one that
            remembers](ppo/remembering.py).
        dice: a number from 0 to 1 for each action, shape `(T, N)`.
        actions: $a_t$, int64, shape `(T, N)`.
        logits: $\ell_a$, shape `(T, N, A)`.
        values: $V(o_t)$, shape `(T + 1, N)`.
        final_values: of [the last observations][labml_rl.returns.Rollout] of episodes
            that were cut off, and NaN elsewhere, shape `(T, N)`.
        rewards: what the games say, in main memory, shape `(T, N)`.
        terminated: the same.
        truncated: the same.
    """

    observations: Tensor
    memories: Tensor
    dice: Tensor
    actions: Tensor
    logits: Tensor
    values: Tensor
    final_values: Tensor
    rewards: Tensor
    terminated: Tensor
    truncated: Tensor

    @staticmethod
    def empty(
        observations: Tensor, steps: int, num_actions: int, memory: int = 0
    ) -> "Sheet":
        """
        Args:
            observations: any, like those to come, shape `(N, …)`.
            steps: $T$.
            num_actions: $A$.
            memory: $M$.

        Raises:
            ValueError: if there are no steps.
        """
        if steps < 1:
            raise ValueError(f"steps must be at least 1, not {steps}")
        count = len(observations)
        zeros = partial(torch.zeros, device=observations.device)
        return Sheet(
            observations=observations.new_zeros((steps + 1, *observations.shape)),
            memories=zeros(steps + 1, count, memory),
            dice=zeros(steps, count),
            actions=zeros(steps, count, dtype=torch.int64),
            logits=zeros(steps, count, num_actions),
            values=zeros(steps + 1, count),
            final_values=zeros(steps, count),
            rewards=zeros(steps, count, device="cpu"),
            terminated=zeros(steps, count, dtype=torch.bool, device="cpu"),
            truncated=zeros(steps, count, dtype=torch.bool, device="cpu"),
        )

    def parts(self) -> list[Tensor]:
        """All of these, in order."""
        return list(vars(self).values())

    def columns(self, rows: slice) -> "Sheet":
        """The columns of some of the games. They share memory with it."""
        return Sheet(*(part[:, rows] for part in self.parts()))

    def share(self) -> "Sheet":
        """Put it into memory that other processes can see."""
        for part in self.parts():
            part.share_memory_()
        return self

    def copy_(self, other: "Sheet") -> None:
        """Write down what is on another sheet of the same size."""
        for part, written in zip(self.parts(), other.parts(), strict=True):
            part.copy_(written)

    def throw(self, generator: torch.Generator | None) -> None:
        """Throw the dice."""
        self.dice.uniform_(generator=generator)

    def samples(self, scores: list[dict[str, float]]) -> Samples:
        """
        Returns:
            What was seen. Its observations and actions are those of the sheet, and will
            be written over.
        """
        device = self.values.device
        return Samples(
            observations=self.observations[:-1],
            actions=self.actions,
            log_probs=log_probs_of(self.logits, self.actions),
            rollout=Rollout(
                rewards=self.rewards.to(device, copy=True),
                values=self.values.clone(),
                terminated=self.terminated.to(device, copy=True),
                truncated=self.truncated.to(device, copy=True),
                final_values=self.final_values.clone(),
            ),
            scores=scores,
            memories=self.memories[0].clone(),
        )


class Player:
    r"""
    ## The player

    What the agent does next depends on what it sees. So at each step the games wait for
    the network, and then the network waits for the games, $T$ times, and anything done
    in between costs time. Hence each observation goes straight from the [memory of the
    games](worker.py) to its place on the sheet, as bytes, and the learner will find it
    there. Anything that can be computed for all steps at once is left for the end.

    Args:
        games: what is played. They are reset, without a seed. Make them with
            `copy=False`, since their observations are copied here anyway.
        network: gives logits and values for observations, as
            [ActorCritic][labml_rl.networks.ActorCritic] does.
        sheet: where everything is written down.
        prepare: puts observations into the order that [the network likes
            best][labml_rl.bodies.NatureBody.prepared], and in which they are kept.
        graphs: [record](graphs.py) what a GPU does in a step, and replay it.

    Raises:
        ValueError: if the games do not begin the next episode in the step that ends the
            one before.
    """

    def __init__(
        self,
        games: Games,
        network: ActorCriticFunction,
        sheet: Sheet,
        prepare: Prepare | None = None,
        *,
        graphs: bool = False,
    ) -> None:
        mode = games.metadata.get("autoreset_mode")
        if mode != AutoresetMode.SAME_STEP:
            raise ValueError(
                f"the games must be made with autoreset_mode=SAME_STEP, not {mode}: "
                "the step after an end would be taken for experience"
            )
        self.games, self.network, self.sheet = games, network, sheet
        self.prepare = prepare or as_they_are
        self.how = Recorded(sheet.values.device, network) if graphs else asked
        self.begin(games.reset()[0])

    def seen(self, observations: Any) -> Tensor:
        """
        Args:
            observations: an array from the games.

        Returns:
            The same, in the form that the network gets.
        """
        device = self.sheet.values.device
        return self.prepare(torch.from_numpy(observations).to(device))

    def begin(self, observations: Any) -> None:
        """Go on from these, shape `(N, …)`: those of games that were just restored."""
        self.sheet.observations[-1] = self.seen(observations)

    def play(self) -> list[dict[str, float]]:
        """
        ### T steps

        Returns:
            The scores of the games that ended.
        """
        return take_turns([self])

    @torch.no_grad()
    def moves(self, scores: list[dict[str, float]]) -> Iterator[None]:
        r"""
        This generator stops at the `yield`, where the games have their actions, and the
        player would only wait.

        No gradients are kept for any of this. The learner [looks
        again][labml_rl.onpolicy.PolicyExperiment.evaluate] at what it learns from.

        Args:
            scores: those of the games that end are added to this list.

        Yields:
            Nothing, once for each step.
        """
        sheet = self.sheet
        rewards, terminated, truncated = (
            each.numpy() for each in (sheet.rewards, sheet.terminated, sheet.truncated)
        )
        sheet.final_values.fill_(torch.nan)

        # It goes on where the last rollout stopped.
        sheet.observations[0] = sheet.observations[-1]
        sheet.memories[0] = sheet.memories[-1]
        for t in range(len(sheet.actions)):
            decision = self.how(
                self.decision,
                Situation(sheet.observations[t], sheet.memories[t], sheet.dice[t]),
            )
            sheet.logits[t], sheet.values[t] = decision.logits, decision.values
            sheet.actions[t] = decision.actions
            after = decision.memories

            self.games.step_async(decision.actions.cpu().numpy())
            yield
            played = self.games.step_wait()
            shown, rewards[t], terminated[t], truncated[t], infos = played
            sheet.observations[t + 1] = self.seen(shown)

            # Where an episode was cut off, what would have followed is worth what the
            # network says of its last observation. That is rare, and not worth a place
            # in the batch.
            if truncated[t].any():
                last = self.seen(final_observations(infos, truncated[t]))
                rows = torch.from_numpy(np.flatnonzero(truncated[t])).to(last.device)
                _, values, _ = self.ask(last, after[rows])
                sheet.final_values[t, rows] = values.to(sheet.final_values.dtype)

            # What is remembered of an episode ends with it.
            if self.remembers:
                ended = torch.from_numpy(terminated[t] | truncated[t]).to(after.device)
                sheet.memories[t + 1] = after.masked_fill(ended[:, None], 0.0)
            if infos:
                scores += scores_of(infos)
        _, sheet.values[-1], _ = self.ask(sheet.observations[-1], sheet.memories[-1])

    def decision(self, situation: "Situation") -> "Decision":
        """
        ### Decide

        Args:
            situation: what all games show.

        Returns:
            What the network says of it, and what is done.
        """
        logits, values, after = self.ask(situation.observations, situation.memories)
        actions = draw(logits, situation.dice)  # (N,)
        return Decision(logits, values, after, actions)

    @property
    def remembers(self) -> bool:
        """Whether the network remembers anything."""
        return self.sheet.memories.shape[-1] > 0

    def ask(
        self, observations: Tensor, memories: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """
        ### Ask the network

        Args:
            observations: shape `(N, …)`.
            memories: what it remembers of each of these games, shape `(N, M)`.

        Returns:
            Logits, shape `(N, A)`, values, shape `(N,)`, and what it remembers now,
            shape `(N, M)`.

        Raises:
            ValueError: if the network gives other shapes. A single value would be
                written down for all games.
        """
        after = memories
        if self.remembers:
            logits, values, after = self.network(observations, memories)
        else:
            logits, values = self.network(observations)
        count, actions = len(observations), self.sheet.logits.shape[-1]
        if logits.shape != (count, actions) or values.shape != (count,):
            raise ValueError(
                f"for {count} games of {actions} actions the network must give logits "
                f"of shape {(count, actions)} and values of shape {(count,)}, not "
                f"{tuple(logits.shape)} and {tuple(values.shape)}"
            )
        return logits, values, after

    def ready(self) -> None:
        """Do nothing. An answer means that the player and its games have been made."""

    def get_states(self) -> list[Any]:
        """What the [games][labml_rl.batch.Games.get_states] say."""
        return self.games.get_states()

    def set_states(self, states: Sequence[Any]) -> Any:
        """
        Let the [games][labml_rl.batch.Games.set_states] go on from these.

        Returns:
            The observations that the agent had when the states were saved.
        """
        observations = self.games.set_states(states)
        self.begin(observations)
        return observations

    def close(self) -> None:
        """Close the games."""
        self.games.close()


@dataclass(frozen=True)
class Situation:
    """
    ## What it decides on

    What the network is asked in a step, in one piece, so that it can be
    [recorded](graphs.py).

    Args:
        observations: what the games show, shape `(N, …)`.
        memories: what the network remembers of them, shape `(N, M)`.
        dice: a number from 0 to 1 for each, shape `(N,)`.
    """

    observations: Tensor
    memories: Tensor
    dice: Tensor


@dataclass(frozen=True)
class Decision:
    """
    ## What it decides

    Args:
        logits: shape `(N, A)`.
        values: shape `(N,)`.
        memories: what the network remembers now, shape `(N, M)`.
        actions: int64, shape `(N,)`.
    """

    logits: Tensor
    values: Tensor
    memories: Tensor
    actions: Tensor


def take_turns(
    players: Sequence[Player], *others: Iterator[None]
) -> list[dict[str, float]]:
    """
    ## Taking turns

    One player waits for its games, and then the games wait for the player. Two can do
    better, each with half of the games. While the first half is played, the second
    player asks the network, and then the other way round:

    ```text
    network  A     B     A     B     A     B
    games      A A A B B B A A A B B B A A A B B B
    ```

    This pays off where the network is on a GPU and the games take longer than its
    answers, that is, with several games for each core. Where the network is on the same
    cores as the games, it is better to have [many players](players.py).

    Args:
        players: each with its own games and its own columns of one sheet.
        others: what else is to be done, a part of it in each turn, such as
            [learning][labml_rl.ppo.overlap.beside].

    Returns:
        The scores of the games that ended.
    """
    scores: list[dict[str, float]] = []
    moves = (player.moves(scores) for player in players)
    for _ in zip_longest(*moves, *others):
        pass  # Each has handed out its actions.
    return scores


class Sampler:
    """
    ## The sampler

    It has the sheet, the dice, and a player for each batch of games. Several [take
    turns][take_turns].

    Args:
        games: a batch, or several; see [Player][], as for `network` and `prepare`.
        network: that of the agent.
        steps: $T$, how many to play in each game.
        device: where the network is, and where the rollout is to be.
        generator: the dice for the actions, on the same device.
        prepare: what is done to observations.
        graphs: [record](graphs.py) what a GPU does in a step, and replay it.

    Raises:
        ValueError: if there are no steps, if the games do not begin the next episode in
            the step that ends the one before, if their actions can't be counted, or if
            batches differ in what is seen and done in them.
        TypeError: if the games are [no batch][check_batch] that it can play.
    """

    def __init__(
        self,
        games: Games | Sequence[Games],
        network: ActorCriticFunction,
        *,
        steps: int,
        device: torch.device | str = "cpu",
        generator: torch.Generator | None = None,
        prepare: Prepare | None = None,
        graphs: bool = False,
    ) -> None:
        batches = list(games) if isinstance(games, Sequence) else [games]
        for batch in batches:
            check_batch(batch)
        spaces = [(b.single_observation_space, b.single_action_space) for b in batches]
        if not spaces or any(each != spaces[0] for each in spaces):
            raise ValueError(f"games of one kind are needed, not those of {spaces}")
        observations, actions = check_spaces(*spaces[0])
        edges = [0, *accumulate(batch.num_envs for batch in batches)]
        first = blank(observations, edges[-1], prepare).to(device)
        memory = memory_of(network)
        self.sheet = Sheet.empty(first, steps, int(actions.n), memory)
        self.generator = generator
        self.shares = [slice(*each) for each in pairwise(edges)]
        self.players = [
            Player(batch, network, self.sheet.columns(rows), prepare, graphs=graphs)
            for batch, rows in zip(batches, self.shares, strict=True)
        ]

    def sample(self, *meanwhile: Iterator[None]) -> Samples:
        """
        Args:
            meanwhile: what else is to be done, [by turns][take_turns].

        Returns:
            What was seen in the next $T$ steps. Its observations and actions are the
            sampler's own arrays, and the next call overwrites them.
        """
        self.sheet.throw(self.generator)
        return self.sheet.samples(take_turns(self.players, *meanwhile))

    def get_states(self) -> list[Any]:
        """The states of all games, [to be saved][labml_rl.batch.Games.get_states]."""
        return [state for player in self.players for state in player.get_states()]

    def set_states(self, states: Sequence[Any]) -> Any:
        """
        Go on from there.

        Returns:
            The observations that the agent had then, of all games.

        Raises:
            ValueError: if there are more states than games, or fewer.
        """
        pairs = zip(self.players, dealt(states, self.shares), strict=True)
        return np.concatenate([each.set_states(part) for each, part in pairs])

    def close(self) -> None:
        """Close all games."""
        with ExitStack() as stack:
            for player in self.players:
                stack.callback(player.close)


def dealt(states: Sequence[Any], shares: Sequence[slice]) -> list[Sequence[Any]]:
    """
    Args:
        states: of all games.
        shares: which of the games each player has.

    Returns:
        The states for each player.

    Raises:
        ValueError: if there are more states than games, or fewer.
    """
    if len(states) != shares[-1].stop:
        raise ValueError(f"{len(states)} states for {shares[-1].stop} games")
    return [states[rows] for rows in shares]


def memory_of(network: ActorCriticFunction) -> int:
    """
    Returns:
        How many numbers a network [remembers](ppo/remembering.py) of each game: $M$.
    """
    memory = getattr(network, "memory", 0)
    return int(memory) if isinstance(memory, int | np.integer) else 0


def as_they_are(observations: Tensor) -> Tensor:
    """Observations that need not be prepared."""
    return observations


def blank(space: Box, num_envs: int, prepare: Prepare | None) -> Tensor:
    """
    Returns:
        Observations that show nothing, as they are kept, shape `(N, …)`.
    """
    nothing = np.zeros((num_envs, *space.shape), space.dtype)
    return (prepare or as_they_are)(torch.from_numpy(nothing))


def check_batch(games: Any) -> None:
    """
    ## What can be played

    A player hands out the actions, and waits for the games [later][take_turns]. Most
    batches of other libraries do both in one call, and so do Gymnasium's
    `SyncVectorEnv` and its wrappers for whole batches.

    Args:
        games: what is to be played.

    Raises:
        TypeError: if they can't be asked for a step first and waited for later.
    """
    for name in ("single_observation_space", "step_async", "step_wait"):
        if not hasattr(games, name):
            raise TypeError(
                f"{type(games).__name__} has no {name}, and is no batch of games as it "
                "is needed here. SerialGames of labml_rl.batch makes one of functions "
                "that make an environment each. Wrappers belong around each of these"
            )


def check_spaces(observations: Space[Any], actions: Space[Any]) -> tuple[Box, Discrete]:
    """
    ### What is seen and done

    Args:
        observations: the space of an environment's observations.
        actions: the same.

    Returns:
        Both.

    Raises:
        ValueError: unless the observations are arrays (of bytes, if they are pictures)
            and the actions are numbered from 0.
    """
    if not isinstance(observations, Box):
        raise ValueError(
            f"observations must be arrays, not those of {observations}. Gymnasium's "
            "FlattenObservation makes one array of numbers and of dictionaries: "
            "register a function that wraps the environment in it, under a name of "
            "its own"
        )
    if len(observations.shape) == 3 and observations.dtype != np.uint8:
        raise ValueError(
            f"pictures must be bytes from 0 to 255, not {observations.dtype}: the "
            "network divides by 255 itself. Leave out the wrapper that does so before. "
            "What is no picture, such as a board, FlattenObservation makes a vector of"
        )
    if not isinstance(actions, Discrete) or actions.start != 0:
        remedy = (
            "Some environments have an option for that, as CarRacing-v3 has "
            "continuous=False"
        )
        if isinstance(actions, Discrete):
            remedy = (
                f"Gymnasium's TransformAction can add {actions.start} to each before "
                "the environment gets it"
            )
        elif isinstance(actions, Box):
            remedy = f"Gymnasium's DiscretizeAction numbers a few of them. {remedy}"
        elif isinstance(actions, MultiDiscrete | MultiBinary):
            remedy = (
                "Number all their combinations: Gymnasium's TransformAction can make "
                "one of each number, as np.unravel_index does"
            )
        raise ValueError(
            f"actions must be numbered from 0, Discrete(n); these are {actions}. "
            f"{remedy}"
        )
    return observations, actions
