"""
---
title: How well it plays
summary: Whole games, raw points, and as many of them as it takes to be sure.
---

# How well it plays

This page lets an agent play whole games, and counts its points. It is for programs; on
the command line, [`labml-rl watch`](__init__.py) does the same.

```python
from labml_rl.ppo.experiment import Experiment
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.scores import measure

run = "results/runs/ppo/breakout/seed-1"
saved = Saved.of(run, Experiment)
result = measure(saved, Protocol(), games=10)
result.mean, result.standard_error
```

Games are played for three purposes, each with its own seeds: to measure an agent, to
film it, and to [choose the best](best.py).

Any other policy can be measured by the same rules. It needs no run, and no network:

```python
import torch
from torch import nn
from labml_rl import runs
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.scores import measure

def policy(observations):  # bytes, (N, 4, 84, 84)
    return torch.randint(4, (len(observations),))

class Mine(runs.Experiment):
    algorithm = "mine"

    @staticmethod
    def make_network(settings, seen, actions):
        return nn.Identity()

    @staticmethod
    def think(network, observations):
        chosen = policy(observations)
        probs = nn.functional.one_hot(chosen, 4).float()
        values = torch.zeros(len(probs))
        return runs.Thoughts(probs, values)

settings = runs.Settings(game="Breakout")
saved = Saved(Mine, settings, {}, frames=0)
result = measure(saved, Protocol(), games=10)
```
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, median, stdev

import numpy as np

from labml_rl.environments import ended, make_environments
from labml_rl.watch.agent import Agent, Protocol, Saved

AT_ONCE = 16
MEASURING, FILMING, CHOOSING = range(3)


@dataclass(frozen=True)
class Played:
    """
    ## A game

    Args:
        points: all that were scored in it. In environments other than Atari games, the
            score that the environment itself gives in `info`, or the sum of the
            rewards.
        steps: how many actions it had.
        capped: whether it was cut off.
    """

    points: float
    steps: int
    capped: bool


@dataclass(frozen=True)
class Result:
    """
    ## The result

    Args:
        played: all games, none left out.
    """

    played: tuple[Played, ...]

    @property
    def points(self) -> list[float]:
        """Those of each game."""
        return [game.points for game in self.played]

    @property
    def mean(self) -> float:
        """The average."""
        return fmean(self.points)

    @property
    def median(self) -> float:
        """As many games are better as are worse."""
        return median(self.points)

    @property
    def deviation(self) -> float:
        """The standard deviation: how far apart games are. NaN for a single one."""
        return stdev(self.points) if len(self.points) > 1 else float("nan")

    @property
    def standard_error(self) -> float:
        r"""
        ### How sure

        Measured again, the average would differ. The standard error is how far it
        typically is from the average of very many games,

        $$\frac{\sigma}{\sqrt{n}}$$

        for $n$ games with the standard deviation $\sigma$. Two agents whose averages
        are less than three of these apart may well be equally good. (The difference
        between two averages has a standard error, too, $\sqrt{2}$ times as large if
        both have the same. So three standard errors of an average are about two of the
        difference. By chance alone, equal agents come out that far apart once in thirty
        times, and once in twenty with ten games each.)

        !!! warning "It is about this agent"
            Another training seed gives another agent, and no number of games with one
            of them can tell how far apart the two are. [Agarwal et al.
            (2021)](https://arxiv.org/abs/2108.13264) show how misleading a few seeds
            can be. The next page has [what they recommend](many.py).
        """
        return self.deviation / math.sqrt(len(self.points))


def seed_of(protocol: Protocol, purpose: int) -> int:
    """
    ## Seeds

    Nothing should be measured with the dice of training. The seeds of training are
    drawn from small numbers, and those of this page from a large one, of 63 bits.

    Args:
        protocol: has the seed that was asked for.
        purpose: to measure, to film or to [choose](best.py), so that no game serves two
            of these.
    """
    dice = np.random.SeedSequence([protocol.seed, purpose], spawn_key=(purpose,))
    return int(dice.generate_state(1, np.uint64)[0]) >> 1


def games_of_each(games: int) -> list[int]:
    """
    ## Who plays what

    Several environments are at work at once. How many games each of them plays is
    settled before the first begins: of 100 games, four of the 16 play seven, and twelve
    play six.

    !!! warning "The first ten to end"
        It is tempting to let sixteen games run and to count those that end first. But
        short games end first. In games where a good agent plays for long, the average
        of these is too low, and where good agents are quick, it is too high.

    Args:
        games: how many in all.

    Returns:
        The number of games of each environment.
    """
    environments = min(games, AT_ONCE)
    return [
        games // environments + (row < games % environments)
        for row in range(environments)
    ]


def measure(
    saved: Saved,
    protocol: Protocol,
    *,
    games: int = 10,
    workers: int | None = None,
    device: str = "auto",
    purpose: int = MEASURING,
    report: Callable[[Played], None] = lambda _: None,
    before_step: Callable[[], None] = lambda: None,
) -> Result:
    """
    ## Play and count

    Args:
        saved: the agent.
        protocol: how it plays.
        games: how many.
        workers: how many processes play them; `None` is one for each core.
        device: see [Agent][labml_rl.watch.agent.Agent].
        purpose: see [seed_of][].
        report: is told of each game as soon as it ends.
        before_step: is called before each step. Anything it raises ends the
            measurement.

    Returns:
        All games: those of the first environment, those of the second, and so on. The
        same call gives the same games.

    Raises:
        ValueError: if that can't be played.
        CheckpointError: if the network does not fit the game.
        NotFiniteError: if what the network says is not finite.
        WorkerError: if a game fails in another process, or the process dies.
    """
    if games < 1:
        raise ValueError(f"games must be at least 1, not {games}")
    to_play = games_of_each(games)
    played: list[list[Played]] = [[] for _ in to_play]
    with make_environments(
        saved.settings.game,
        len(to_play),
        seed=seed_of(protocol, purpose),
        workers=workers,
        **saved.game_options(protocol),
    ) as environments:
        agent = Agent(
            saved,
            environments.single_observation_space,
            environments.single_action_space,
            protocol,
            device,
            purpose=purpose,
        )
        observations, _ = environments.reset()
        while any(len(p) < n for p, n in zip(played, to_play, strict=True)):
            before_step()
            actions, _ = agent.act(observations)
            observations, _, terminated, truncated, infos = environments.step(actions)
            agent.forget(terminated | truncated)
            for row, points, steps, capped in ended(infos):
                if len(played[row]) < to_play[row]:
                    game = Played(points, steps, capped)
                    played[row].append(game)
                    report(game)
    return Result(tuple(game for row in played for game in row))
