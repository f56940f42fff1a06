r"""
---
title: Exploring, epsilon-greedy
summary: >-
  Epsilon-greedy: actions at random, in many games at once, and ever fewer of them.
symbols:
  epsilon: '\varepsilon'
---

# Exploring, epsilon-greedy

An agent that always does what it believes to be best will never find out that it was
wrong. It has to try other things now and then: **exploration**, alongside the
**exploitation** of what it knows. DQN does that in the simplest way there is, called
**ε-greedy** or epsilon-greedy: with probability $\varepsilon$ it takes an action at
random, and otherwise it is *greedy* and takes the best. At first it knows nothing, and
$\varepsilon$ is 1. Then $\varepsilon$ goes down in a straight line, [to
0.1](settings.py) and no further: the network goes on changing, and what it thinks bad
today must still be tried now and then.

(A2C and PPO need no $\varepsilon$. They [draw their actions][labml_rl.networks.draw]
from a policy, and [are paid][labml_rl.a2c.total_loss] for being undecided.)
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from labml_rl.returns import check_fraction


@dataclass(frozen=True)
class Linear:
    r"""
    ## In a straight line

    A number that goes from one value to another, and stays there: a *linear schedule*.
    ($\varepsilon$ is said to *decay*, or to be *annealed*.)

    !!! warning "Frames or steps?"
        The [paper of DQN](https://doi.org/10.1038/nature14236) and the authors' program
        count differently:

        | number | the paper counts | the program counts |
        |---|---|---|
        | 1,000,000 until $\varepsilon$ is 0.1 | frames | steps of the agent |
        | 50,000 before anything is learned | frames | steps of the agent |
        | 10,000 to the next target network | batches | steps of the agent |

        The paper itself shows that the program is right: its 50 million frames are "38
        days", and 38 days at 60 frames a second are 200 million. So where it says
        frames, it counts steps. If you take its first number for frames, your agent
        explores for only a quarter of the time. In this book the names of settings say
        what they count.

    Args:
        start: the value at the beginning.
        end: the value from `steps` on.
        steps: how long it takes, in whatever is counted. With 0, the value is the end
            at once.
    """

    start: float
    end: float
    steps: float

    def __call__(self, steps: float) -> float:
        """
        Args:
            steps: how many have gone by. Before the first, the value is the start.

        Returns:
            The value now.
        """
        if steps >= self.steps:
            return self.end
        if steps <= 0:
            return self.start
        return self.start + (self.end - self.start) * steps / self.steps


def explore(
    think: Callable[[], Tensor],
    shape: tuple[int, int],
    epsilon: float,
    generator: torch.Generator,
) -> Tensor:
    r"""
    ## An action for each game

    Each game throws its own dice. With one throw for all, all sixteen games would
    explore in a step, or none. The dice are thrown first, and the network is asked only
    if some game is not to explore.

    !!! warning "Any action, even the best"
        The best action can be drawn at random, too. Of $A$ actions, it is taken with
        probability $1 - \varepsilon + \varepsilon / A$: with $\varepsilon = 0.1$ and
        four actions 0.925, and not 0.9.

    Args:
        think: gives $Q(o, a)$, shape `(N, A)`.
        shape: `(N, A)`, how many games there are, and how many actions.
        epsilon: $\varepsilon$, from 0 to 1.
        generator: the dice, on the device of the network.

    Returns:
        Actions, shape `(N,)`.

    Raises:
        ValueError: if `epsilon` is not a probability, or if `think` gives another
            shape.
    """
    check_fraction("epsilon", epsilon)
    count, actions = shape
    device = generator.device
    anything = torch.randint(actions, (count,), generator=generator, device=device)
    instead = torch.rand(count, generator=generator, device=device) < epsilon
    if instead.all():
        return anything
    values = think()
    if values.shape != shape:
        raise ValueError(
            f"the network must give {count} games the values of {actions} actions, "
            f"shape {shape}, not {tuple(values.shape)}"
        )
    return torch.where(instead, anything, values.argmax(-1))


# ## Questions
#
# 1. With $\varepsilon = 0.1$ and 18 actions, how often is the best one taken?
# 2. In 16 games at once, how often does none of them explore?
# 3. $\varepsilon$ goes from 1 to 0.1 within a million steps. What is it after a million
#    *frames*?
#
# ??? tip "Answers"
#     1. In $1 - 0.1 + 0.1 / 18 = 0.906$ of all steps.
#     2. In $0.9^{16} = 0.185$ of all steps.
#     3. 0.775: that is a quarter of the way.
