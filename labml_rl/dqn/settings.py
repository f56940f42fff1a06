"""
---
title: The settings of DQN
summary: The settings of Nature, complete, with their units, and a switch for each part.
---

# The settings of DQN

These are the settings of [Mnih et al. (2015)](https://doi.org/10.1038/nature14236), all
of them, and a switch for each part that came later. (The paper appeared in the journal
*Nature*, and this book calls its settings by that name.) Where the authors' table and
their program differ, we follow the program: the scores were made with it. A run is 38
days of play: to try it out, there are [faster ones](fast.py). Clipped rewards, and
episodes that end with each life, are among [the settings of Atari
games](../runs/games.py).

The game differs from theirs in five ways:

- [The button][labml_rl.game.Game.reset] is pressed for the agent.
- Before the first picture of an episode their stack has black ones, and ours repeats
  the first.
- After a lost life, their agent does nothing for up to half a second, 31 frames. Ours
  waits for one step.
- In theirs, a step in which a life is lost ends at once. Here it goes on to its fourth
  frame.
- Games are cut off after 108,000 frames, as in later papers. Their program lets
  training games go on.

Three habits of their program, none of them in the paper, are not in ours. It puts a row
or a column of zeros on each side of the picture. It draws sixteen batches at once, so
that most of them know nothing of the last steps. And of two actions that are worth
exactly the same it takes either, where we take the first.

!!! note "Units"
    *Steps* are always steps of the agent, counted over all games together. Each is four
    frames of the emulator.

    | setting | steps | frames |
    |---|---|---|
    | memory | 1,000,000 | 4,000,000 |
    | warm-up | 50,000 | 200,000 |
    | exploring less and less | 1,000,000 | 4,000,000 |
    | from one batch to the next | 4 | 16 |
    | from one target network to the next | 10,000 | 40,000 |
    | the run | 50,000,000 | 200,000,000 |

## If you come from elsewhere

| here | Stable-Baselines3 | CleanRL |
|---|---|---|
| `capacity` | `buffer_size` | `buffer_size` |
| `warm_up_steps` | `learning_starts` | `learning_starts` |
| `learn_every_steps` | `train_freq` | `train_frequency` |
| `batch_size` | `batch_size` | `batch_size` |
| `sync_every_steps` | `target_update_interval` | `target_network_frequency` |
| `discount` | `gamma` | `gamma` |
| `epsilon_start` | `exploration_initial_eps` | `start_e` |
| `epsilon_end` | `exploration_final_eps` | `end_e` |
| `epsilon_steps`, steps | `exploration_fraction`, of the run | the same |
| `max_gradient_norm` | `max_grad_norm` | none |
| 1, always | `tau` | `tau` |
| `n` | `n_steps` | `n_step`, in its Rainbow |
| `priority_exponent` | none | `prioritized_replay_alpha`, in its Rainbow |
| `atoms` | none | `n_atoms`, in its C51 and Rainbow |
| `lowest_return`, `highest_return` | none | `v_min`, `v_max` |

`train_freq` of Stable-Baselines3 counts steps of each environment, and its warm-up is
part of the time in which it explores less and less, as CleanRL's is. Here that time
begins after the warm-up. With a `tau` below 1, the target network is not replaced but
moved by that fraction (a *soft* or *Polyak* update). For that, override
[sync][labml_rl.dqn.experiment.Experiment.sync], and have it called much more often,
with a small `sync_every_steps`.
"""

from dataclasses import dataclass
from typing import Literal

from labml_rl.dqn.distribution import make_atoms
from labml_rl.environments import frames_per_step, is_atari
from labml_rl.runs import require
from labml_rl.speed import SpeedSettings

OptimizerName = Literal["rmsprop", "adam"]


@dataclass(frozen=True, kw_only=True)
class Settings(SpeedSettings):
    """
    ## The settings

    Args:
        total_frames: how long to learn, in frames of the emulator. There are 4 in a
            step of the agent, and 1 if the environment is not an Atari game.
        num_envs: how many games are played at once.
        capacity: of the memory, in steps. A million take 7 GB, and 14 GB on the disk:
            each checkpoint has them all, and the one before stays until the next is
            complete.
        stack: how many pictures there are in an observation, so that the memory keeps
            each once. None is what an Atari game has, and 1 for everything else.
        warm_up_steps: how many to play at random before anything is learned.
        learn_every_steps: how many to play from one batch to the next.
        batch_size: how many steps there are in a batch.
        sync_every_steps: how many to play until the target network is replaced. Those
            of the warm-up are counted, too.
        discount: the discount factor: what a reward that comes a step later is worth,
            as a fraction of one that comes now.
        optimizer_name: `rmsprop` is the authors', `adam` everyone else's.
        learning_rate: of the optimiser.
        rms_decay: of RMSProp's means.
        rms_epsilon: what keeps RMSProp from dividing by zero. Theirs is 0.01 for losses
            that are added up over the batch of 32.
        adam_epsilon: the same for Adam.
        max_gradient_norm: longer gradients are cut to this length; None cuts none.
        epsilon_start: the probability of an action at random, at the beginning.
        epsilon_end: the same at the end.
        epsilon_steps: how many steps after the warm-up it takes to get there.
        double: let the network that learns choose the action whose value goes into the
            target.
        dueling: have a stream for values and one for advantages.
        n: how many rewards to count before the target trusts the network.
        distributional: learn [how likely each return is](distribution.py), and not only
            the mean.
        atoms: how many returns the distribution tells apart.
        lowest_return: the first of them.
        highest_return: the last.
        quantiles: learn this many [quantiles of the returns](quantiles.py), 200 in the
            paper, and not only their mean. None learns no quantiles.
        noisy: explore by [noise in the weights](noisy.py), with epsilon or, if its
            start and end are 0, without.
        noise: how much of it there is at the beginning.
        prioritised: draw surprising steps more often.
        priority_exponent: how much more often. With 0, all are alike.
        importance_start: how much of that is corrected in the loss, at the beginning.
            At the end it is 1: all of it.
        turns: how often to play and learn before anything is written down.
    """

    total_frames: int = 200_000_000
    num_envs: int = 1
    capacity: int = 1_000_000
    stack: int | None = None
    warm_up_steps: int = 50_000
    learn_every_steps: int = 4
    batch_size: int = 32
    sync_every_steps: int = 10_000
    discount: float = 0.99
    optimizer_name: OptimizerName = "rmsprop"
    learning_rate: float = 2.5e-4
    rms_decay: float = 0.95
    rms_epsilon: float = 0.01 / 32**2
    adam_epsilon: float = 1e-5
    max_gradient_norm: float | None = None
    epsilon_start: float = 1.0
    epsilon_end: float = 0.1
    epsilon_steps: int = 1_000_000
    double: bool = False
    dueling: bool = False
    n: int = 1
    distributional: bool = False
    atoms: int = 51
    lowest_return: float = -10.0
    highest_return: float = 10.0
    quantiles: int | None = None
    noisy: bool = False
    noise: float = 0.5
    prioritised: bool = False
    priority_exponent: float = 0.6
    importance_start: float = 0.4
    turns: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "stack", "quantiles", at_least=1)
        counts = ("learn_every_steps", "batch_size", "sync_every_steps", "turns", "n")
        require(self, *counts, "epsilon_steps", at_least=1)
        fractions = ("epsilon_start", "epsilon_end", "discount", "importance_start")
        require(self, *fractions, "rms_decay", at_least=0, at_most=1)
        above_nothing = ("learning_rate", "rms_epsilon", "adam_epsilon")
        require(self, *above_nothing, "max_gradient_norm", above=0)
        require(self, "priority_exponent", "noise", at_least=0)
        make_atoms(self.lowest_return, self.highest_return, self.atoms)

        if self.distributional and self.quantiles:
            raise ValueError(
                "distributional and quantiles are two ways to learn the same: choose "
                "one of them"
            )

        # All games take a step at once.
        every, games = self.learn_every_steps, self.num_envs
        if every % games and games % every:
            raise ValueError(
                f"with {games} games, learn_every_steps must be a multiple of {games} "
                f"or go into it, and {every} does not"
            )

        # The first batch must find enough steps.
        needed = self.batch_size + games * self.n
        if self.warm_up_steps < needed:
            raise ValueError(
                f"warm_up_steps must be at least {needed} for a batch of "
                f"{self.batch_size} with n = {self.n}, not {self.warm_up_steps}"
            )
        steps = self.total_frames // frames_per_step(self.game)
        if steps <= self.warm_up_steps:
            raise ValueError(
                f"warm_up_steps must be fewer than the run has, or nothing is learned: "
                f"{self.total_frames:,} frames are {steps:,} steps, not more than "
                f"{self.warm_up_steps:,}"
            )
        # When the memory is full, the pictures of the oldest steps are gone.
        pictures = self.stack or (4 if is_atari(self.game) else 1)
        least = 2 * (needed + games * pictures)
        if self.capacity < least:
            raise ValueError(
                f"capacity must be at least {least} for batches of "
                f"{self.batch_size} from {games} games, not {self.capacity}"
            )
