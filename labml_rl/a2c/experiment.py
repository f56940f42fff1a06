r"""
---
title: A2C, the experiment
summary: The loop of A2C with the settings of Mnih et al., and how to run it.
symbols:
  returns: 'G_t'
  advantages: '\hat{A}_t'
---

# A2C, the experiment

Here the parts come together: [games, network and sampler](../onpolicy.py),
[returns](../returns.py), and [the losses of A2C](__init__.py). What is left to write
fits on one screen. (The *sampler* plays a few steps in all games, and gives back what
was seen, done and earned as *samples*.)

```sh
labml-rl train a2c --game SpaceInvaders
labml-rl train small-a2c
```

The first takes half an hour or so. The second [balances a pole](../small.py), takes a
minute or so, and is the one to try first.

## The whole of it

```text
until all frames are played:
    play 5 steps in each of 16 games
    compute the returns of these 80 steps
    one step of RMSProp on the loss of all 80
```

(Why 5 steps in each of 16 games, *parallel environments*, and not 80 in one? Steps in a
row look alike. One game alone would pull the network to [wherever that game is just
now](../runner.py). And the network answers for 16 in hardly more time than for one.)

Of the curves that a run draws (`tensorboard --logdir runs` shows them, and they are in
`progress.csv` in its folder), look at `entropy`: it begins at $\log A$ and falls, in
the first run below from 1.39 to 0.9 within eight million frames, and then stays between
0.7 and 1.1. Don't look at `policy_loss`: in games it stays near 0, with a good agent
and with a bad one.

## What it has learned

![The mean score of the last hundred games of A2C in Breakout, over the frames played,
and far below it that of a run with a large epsilon: it ends at
442](../../assets/figures/run-a2c-breakout-seed-2.svg)

*The mean score of the last hundred games of training, over the frames played, as in all
such curves of this book. This one is Breakout, with one seed and as many frames as in
the [paper on PPO](https://arxiv.org/abs/1707.06347), where A2C came to 303. The thin
curve is an earlier run, with [an epsilon that is too large][labml_rl.a2c.RMSProp]: for
ten million frames there is hardly any progress. [How we found
out](../../results.md#breakout-by-a2c).*

![The mean score of the last hundred games of A2C in Space Invaders, over the frames
played: it rises for fifteen million frames, then hardly any more, and ends at
707](../../assets/figures/run-a2c-spaceinvaders-seed-3.svg)

*Space Invaders, with as many frames. In the paper A2C came to 744.5, the mean of three
seeds. Between one and three million frames it looks as if there were nothing more to
learn. [With the large
epsilon](../../results.md#space-invaders-in-ten-million-frames) it looks the same, and
stays like that for all of its ten million frames.*

![The mean score of the last hundred games of A2C in Pong, over the frames played: it
stays near −20 for two and a half million frames, and ends at
15](../../assets/figures/run-a2c-pong-seed-1.svg)

*Pong, with ten million frames. In the paper A2C came to 19.7, with four times as many.
([Another seed](../../results.md#pong-by-a2c) begins later, and ends at 5.)*

![The mean score of the last hundred games of A2C in CartPole, over the frames played:
it ends at 500](../../assets/figures/run-small-a2c-cartpolev1-seed-3.svg)

*CartPole, where no game lasts longer than 500 steps, and each step is worth a point.*

The curve of CartPole falls several times. Nothing in A2C asks how far a step takes the
*policy*, and after a step too far, much has to be learned again. That is where
[PPO](../ppo/__init__.py) begins.

Each run, with its command, its machine and its agent's scores, is on the [results
page](../../results.md).
"""

from dataclasses import dataclass

import torch
from torch import nn

from labml_rl.a2c import RMSProp, policy_loss, total_loss, value_loss
from labml_rl.networks import entropy_of, log_probs_of
from labml_rl.onpolicy import PolicyExperiment, PolicySettings
from labml_rl.returns import discounted_returns
from labml_rl.runs import require
from labml_rl.speed import means_of


@dataclass(frozen=True, kw_only=True)
class Settings(PolicySettings):
    """
    ## Settings

    Those of Mnih et al. (2016), and where they say nothing, those of the A2C in
    Baselines, by which the method is known, with two exceptions: its epsilon [is too
    large][labml_rl.a2c.RMSProp], and its last version gives the critic twice the
    weight, since its loss has no [half][labml_rl.a2c.value_loss]. Four numbers are [the
    same for A2C and PPO][labml_rl.onpolicy.PolicySettings]: the discount is 0.99, $c_v$
    is 0.5, $c_e$ is 0.01, and gradients are cut to a length of 0.5. The network is that
    of Baselines, too. That of Mnih et al. was smaller.

    Args:
        num_envs: how many games are played at once.
        steps: for how many steps each game is played before the network learns.
        learning_rate: of RMSProp, at the beginning. It goes down to 0 in a straight
            line. In Baselines it begins at 7e-4.
        decay: of RMSProp's mean of squares.
        rms_epsilon: what keeps RMSProp from dividing by zero. In Baselines it is 1e-5.
    """

    num_envs: int = 16
    steps: int = 5
    learning_rate: float = 7e-4
    decay: float = 0.99
    rms_epsilon: float = 1e-10

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "decay", at_least=0, at_most=1)
        require(self, "rms_epsilon", above=0)


class Experiment(PolicyExperiment[Settings]):
    """
    ## The experiment

    A2C only has to say which optimiser it wants, and what one update is. [Games,
    network and sampler](../onpolicy.py) are there already, and so is [the rest of a
    run](../runs/__init__.py), from the progress bar to the checkpoints.

    Args:
        settings: see above.
    """

    algorithm = "a2c"
    settings_class = Settings

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Returns:
            RMSProp, [the right one][labml_rl.a2c.RMSProp].
        """
        settings = self.settings
        return RMSProp(
            self.network.parameters(),
            lr=settings.learning_rate,
            decay=settings.decay,
            epsilon=settings.rms_epsilon,
        )

    def update(self) -> dict[str, float]:
        r"""
        ### Play, then learn

        This is one update. All games go on for $T$ steps, the optimiser takes one step,
        and then what was seen is thrown away. Only the weights remember it. Three
        things are [the same for all policies](../onpolicy.py): `anneal` sets the
        present learning rate, `play` plays all games, and `evaluate` asks the network
        once more.

        Returns:
            What is worth plotting.
        """
        settings = self.settings
        learning_rate = self.anneal()
        samples = self.play()

        # All rewards that were seen count, and the value of the last observation stands
        # for the rest. With $T = 5$, the first step of a rollout gets a 5-step return,
        # the next a 4-step return, and so on; the last counts a single reward.
        returns = discounted_returns(samples.rollout, discount=settings.discount)

        # What the network answered while it played is computed a second time, now with
        # gradients.
        logits, values = self.evaluate(samples.observations.flatten(0, 1))
        values = values.view_as(returns)  # (T, N)
        logits = logits.view(*returns.shape, -1)  # (T, N, A)

        # $$\hat{A}_t = G_t - V(o_t)$$
        advantages = returns - values.detach()  # (T, N)
        policy = policy_loss(log_probs_of(logits, samples.actions), advantages)
        value = value_loss(values, returns)
        entropy = entropy_of(logits).mean()
        loss = total_loss(
            policy,
            value,
            entropy,
            value_coefficient=settings.value_coefficient,
            entropy_coefficient=settings.entropy_coefficient,
        )

        # #### Gradient clipping
        #
        # Now and then a gradient is many times as long as usual, and the step would
        # undo much of what was learned. So it is cut to `max_gradient_norm` first, and
        # keeps its direction: **gradient clipping**.
        self.optimizer.zero_grad()
        loss.backward()
        parameters = self.network.parameters()
        norm = nn.utils.clip_grad_norm_(parameters, settings.max_gradient_norm)
        self.optimizer.step()

        #
        seen = {
            "loss": loss,
            "policy_loss": policy,
            "value_loss": value,
            "entropy": entropy,
            "gradient_norm": norm,
        }
        return means_of([seen]) | {"learning_rate": learning_rate}
