r"""
---
title: Two hours of play (DrQ, Atari 100k)
summary: >-
  DQN with 100,000 steps in all (Atari 100k): a batch after every step, and each picture
  a little different every time it is learned from.
---

# Two hours of play (DrQ, Atari 100k)

The human tester in *Nature* had [practised each game for about two
hours](../watch/many.py#one-scale), and the DQN there plays each for 38 days. What can
an agent learn in the same two hours? The question is one of *sample efficiency*, and
known as **Atari 100k** ([Kaiser et al.,
2020](https://arxiv.org/abs/1903.00374)): 100,000 steps of the agent, which are 400,000
frames, or 1 hour and 51 minutes. A single core that multiplies with [16
bits][labml_rl.speed.precision_of] needs about an hour for that, so anyone can try.

```sh
labml-rl train drq --game Breakout
```

## Learn more from each step

With so few steps, play is dear, and a batch is cheap. So there is a batch after *every*
step, where DQN has one after four, and a step is learned from 32 times on average (a
*replay ratio* of 1). And ten rewards are counted [before the network is
trusted][labml_rl.dqn.td_loss], so that news of a reward gets back to where it was
earned in fewer batches. Learning more often does a lot by itself. [Kielak
(2020)](https://arxiv.org/abs/2003.10181) changed little else in [Rainbow](rainbow.py).
[Van Hasselt et al. (2019)](https://arxiv.org/abs/1906.05243) also counted more rewards,
and made its network smaller. Both were about as good as far more complicated agents,
*model-based* ones, that had been made for this question.

## Learn nothing by heart

But 100,000 pictures are few for a network with three million weights. What keeps it
from learning them by heart is [the page before](augmentation.py): each time that a
picture is learned from, it is moved by a few pixels, and made a little brighter or
darker. [Kostrikov et al. (2021)](https://arxiv.org/abs/2004.13649) found that this
alone makes DQN good at this task, and called it **DrQ**, data-regularised Q.

## No target network

In DrQ the network is copied to the target network after every batch. So the two are
always the same when the next batch comes, and one will do. [A target that stands
still](__init__.py#two-remedies-replay-and-a-target-network) is there to keep errors
from feeding on themselves. Here something else may do that: ten rewards that were
really earned come before the first guess, and hardly any two guesses about the same
screen are made from the same picture.

## What it is worth

The usual 26 games, after two hours each,
[human-normalised](../watch/many.py#one-scale), from table A.1 of [Schwarzer et al.
(2023)](https://arxiv.org/abs/2305.19452):

| agent | mean | median |
|---|---|---|
| Rainbow with other numbers (DER) | 35% | 19% |
| DrQ, with the ε of this page | 46% | 31% |
| SPR, with weights that are reset (SR-SPR) | 127% | 68% |
| BBF | 225% | 92% |

The last two also predict what they will see next, and their networks are partly reset
on the way ([D'Oro et al., 2023](https://openreview.net/forum?id=OpC-9aBBVJe)). BBF
takes hours on a large GPU, since it learns from each step eight times as often as DrQ,
with a much larger network.

## What it has learned

![The mean scores of the last hundred games of DrQ in Breakout with three seeds, over
the frames played: all rise in nearly straight lines, and end at 16, 13
and 17](../../assets/figures/run-drq-breakout-seed-1.svg)

*Breakout in two hours, with three seeds. The jump in one of the curves is a single
game, which paid more than 350 points.*

The agents score 19.0 ± 1.1, 14.5 ± 0.8 and 17.4 ± 2.3 in whole games after that. The
DrQ of Schwarzer et al. scores 19.8. (Random play scores 1.7, and a human tester 31.8.)
In Pong, where they give −9.1, the three agents score −12.0 ± 1.2, −19.2 ± 0.4 and −17.5
± 0.4, and in Ms. Pac-Man, where they give 1,218, 901 ± 55, 667 ± 47 and 1,255 ± 37. (In
Breakout and in Ms. Pac-Man most of the thirty games of an agent are [one of
four](../watch/__init__.py#how-many-games), so there the ± says little.)

In Road Runner, where they give 11,211, it is 4,450 ± 303, 17,863 ± 314 and 3,007 ± 182.
The second of these agents has found out that the coyote who is after it can be led
under a truck, which pays 1,000 points. So one run says little about how well an
algorithm learns. All runs, with their commands, are on the [results
page](../../results.md#two-hours-of-play-by-drq).

![A game of Breakout. Beside it are the value that the agent expects and what it expects
of each action](../../assets/films/run-drq-breakout-seed-1.mp4){ width=1280 height=720 }

*A whole game of the agent with seed 1. It has learned to meet the ball, and nothing yet
of tunnels through the wall.*
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl.dqn import experiment, settings
from labml_rl.dqn.augmentation import brighten, shift
from labml_rl.environments import has_channels_last
from labml_rl.replay import Batch


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    r"""
    ## The settings

    They are those of DrQ(ε), as [Agarwal et al.
    (2021)](https://arxiv.org/abs/2108.13264) call it: DrQ with an ε that goes down to
    0.01 instead of 0.1, and is 0.001 instead of 0.05 when the score is measured. They
    found that this alone makes it a lot better. The settings here are theirs, [in
    Dopamine](https://github.com/google/dopamine/blob/master/dopamine/labs/atari_100k/configs/DrQ_eps.gin).
    The game and the network are not quite the same:

    - [The button][labml_rl.game.Game.reset] is pressed for the agent. The first picture
      of an episode stands in for those before it, where theirs are black. A step in
      which a life is lost goes on to its fourth frame, and a step without an action
      follows. Theirs ends at once, and the agent plays on. And theirs takes the
      maximum of two frames in grey, [where ours is of
      colours][labml_rl.screen.preprocess].
    - Each stream of the network has [a hidden layer of its
      own](dueling.py#where-the-streams-part). Theirs share one. Their convolutions put
      zeros around the picture, so that they see 11 × 11 places, and not 7 × 7.
    - Weights begin [as PyTorch draws them][labml_rl.networks.QNetwork], and all
      advantages at 0. The gradient of the two streams is [made smaller](dueling.py)
      before it goes into the body.
    - Their pictures move by up to four pixels one way, and by up to three the other.
      What gets brighter is not rounded, and may be above 255.

    The memory has room for nearly all steps of the run, in 0.7 GB. (The end of each
    life [takes a place, too](../replay/rings.py). Theirs keeps all steps.) Pictures are
    not kept [in blocks][labml_rl.bodies.as_blocks], since then they could not be moved
    by a pixel.

    Args:
        total_frames: how long to learn, in frames of the emulator, four to a step.
        capacity: of the memory, in steps.
        warm_up_steps: how many to play at random before anything is learned.
        learn_every_steps: how many to play from one batch to the next.
        sync_every_steps: changes nothing, since there is no target network.
        optimizer_name: `rmsprop` or `adam`.
        learning_rate: of the optimiser.
        adam_epsilon: what keeps Adam from dividing by zero.
        epsilon_end: the probability of an action at random, at the end.
        epsilon_steps: how many steps after the warm-up it takes to get there.
        double: changes nothing, since there is no target network.
        dueling: have a stream for values and one for advantages.
        n: how many rewards to count before the network is trusted.
        blocks: has to be off. Pictures are moved by single pixels.
    """

    total_frames: int = 400_000
    capacity: int = 100_000
    warm_up_steps: int = 1_600
    learn_every_steps: int = 1
    optimizer_name: settings.OptimizerName = "adam"
    learning_rate: float = 1e-4
    adam_epsilon: float = 1.5e-4
    epsilon_end: float = 0.01
    epsilon_steps: int = 5_000
    dueling: bool = True
    n: int = 10
    blocks: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.blocks:
            raise ValueError("blocks must be off: drq moves pictures by single pixels")


class Experiment(experiment.Experiment):
    """
    ## The experiment

    [DQN](experiment.py), with other pictures and one network fewer.

    Args:
        settings: see above.
    """

    algorithm = "drq"
    settings_class = Settings
    evaluation_epsilon = 0.001

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> nn.Module:
        """
        Returns:
            [That of DQN][labml_rl.dqn.experiment.Experiment.make_network].

        Raises:
            ValueError: if there are no pictures to move.
        """
        shape, dtype = observation_space.shape, observation_space.dtype
        if len(shape) != 3 or dtype != np.uint8:
            raise ValueError(
                f"drq needs pictures of bytes, not {observation_space}: train dqn on it"
            )
        return experiment.Experiment.make_network(
            settings, observation_space, action_space
        )

    def make_target(self) -> nn.Module:
        """
        ### Its own target

        The targets come [from the network itself](#no-target-network), whatever
        [sync][labml_rl.dqn.experiment.Experiment.sync] does. For a target network,
        override this.
        """
        return self.network

    def losses(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """
        ### Seen anew

        What is seen now and what is seen next are each moved in their own way.

        Args:
            batch: the steps to learn from.

        Returns:
            [The same][labml_rl.dqn.experiment.Experiment.losses], of other pictures.
        """
        seen, following = map(self.vary, (batch.observations, batch.next_observations))
        return super().losses(
            replace(batch, observations=seen, next_observations=following)
        )

    def vary(self, pictures: Tensor) -> Tensor:
        """
        Args:
            pictures: as the memory has them, shape `(B, …)`.

        Returns:
            The same, [moved][shift] and [brighter or darker][brighten].
        """
        is_last = has_channels_last(self.observation_space)
        if is_last:
            pictures = pictures.movedim(-1, 1)
        varied = brighten(shift(pictures, self.generator), self.generator)
        return varied.movedim(1, -1) if is_last else varied


# ## Questions
#
# 1. Why does it not matter here whether double Q-learning is on?
# 2. A batch of 32 after each of 100,000 steps: how often is the last step learned from?
#
# ??? tip "Answers"
#     1. It lets one network choose the action and another say what that is worth. Here
#        both are the same network, and it chooses the action with its own largest
#        value.
#     2. Never, unless it ends a life: otherwise it can't be drawn [before what follows
#        it is there][labml_rl.replay.rings.Rings.can_be_drawn]. The first steps are
#        drawn most often, some 130 times each. They were played at random.
