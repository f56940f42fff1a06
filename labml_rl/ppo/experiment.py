r"""
---
title: PPO, the experiment
summary: The loop of PPO with the settings of its authors, and how to run it.
symbols:
  advantages: '\hat{A}_t'
  returns: 'G_t'
---

# PPO, the experiment

Here the parts come together: [games, network and sampler](../onpolicy.py),
[advantages](../returns.py), and [the losses of PPO](__init__.py). What is left to write
is short.

```sh
labml-rl train ppo --game Breakout
labml-rl train small-ppo
```

The first takes an hour or so. The second [balances a pole](../small.py), takes half
a minute or more, and is the one to try first.

## The whole of it

```text
until all frames are played:
    play 128 steps in each of 8 games
    compute advantages and targets
    4 times:
        shuffle the 1,024 steps
        for each of 4 minibatches of 256:
            one step of Adam on the loss
```

## What it has learned

![The mean score of the last hundred games of PPO in Breakout, over the frames played,
and those of two runs of A2C, one that is ahead for most of the time, and one far below:
it ends at 428](../../assets/figures/run-ppo-breakout-seed-1.svg)

*Breakout, with as many frames as in the [paper](https://arxiv.org/abs/1707.06347),
beside [A2C](../a2c/experiment.py). The lower of its two runs has [an epsilon that is
too large][labml_rl.a2c.RMSProp]. The other is ahead of PPO nearly all the way. In
[whole games](../watch/__init__.py#what-a-score-means) it scores less in the end, 391 ±
15 points to PPO's 434 ± 17 (after the ± is the [standard
error][labml_rl.watch.scores.Result.standard_error]), which may be chance. The dashed
lines are what others score.*

![The first two minutes of a game of Breakout, and beside it what the agent expects and
how likely it is to take each
action](../../assets/films/run-ppo-breakout-seed-1.mp4){ width=1280 height=720 }

*Two minutes of that agent. For more than a minute it takes brick after brick from
below. Then the ball gets through to the other side of the wall, and what the agent
expects (the orange curve) jumps: up there, the ball earns points by itself.*

![The mean score of the last hundred games of PPO in Pong, over the frames played, and
those of two runs of A2C, which rise later and less: it ends at
20](../../assets/figures/run-ppo-pong-seed-1.svg)

*Pong, where a game goes to 21 points. With a quarter of the frames of the paper it wins
nearly every game. The thin curves are those of A2C. ([Another
seed](../../results.md#pong-by-ppo) begins to win two million frames earlier, and ends
at 17.)*

![The mean score of the last hundred games of PPO in Space Invaders, over the frames
played, and those of three runs of A2C, two that are a little higher in the end, and one
that stays flat: it ends at 481](../../assets/figures/run-ppo-spaceinvaders-seed-1.svg)

*Space Invaders, beside [A2C](../a2c/experiment.py) with as many frames. (The flat curve
has the large epsilon. At the very left only the shortest games have ended, so all
curves begin below random play.) In whole games PPO scores 478 points and, with another
seed, 509; A2C 501 and 598.*

Each run, with its command, its machine and its agent's scores, is on the [results
page](../../results.md).

## What is not in the formula: implementation details

Between [the objective](__init__.py) and an agent that plays are many small decisions,
on most of which the paper is silent ([37 of
them](https://iclr-blog-track.github.io/2022/03/25/ppo-implementation-details/)). Two
groups have measured what some of them are worth. A is [Andrychowicz et al.
(2021)](https://arxiv.org/abs/2006.05990), who trained 250,000 agents with many settings
at once. E is [Engstrom et al. (2020)](https://arxiv.org/abs/2005.12729), who switched
four decisions on and off; "much (E)" means that their best agents needed it. These are
the decisions that are on the pages of this book:

| decision | how much it matters |
|---|---|
| the policy [begins undecided][labml_rl.networks.ActorCritic] | much (A) |
| all weights [begin orthogonal][labml_rl.networks.orthogonal_] | much (E), little (A) |
| the learning rate [goes down](../onpolicy.py) | much (E), little (A) |
| each pass in [another order][Experiment.update] | some (A) |
| long gradients [are cut][Experiment.learn] | little (A) |
| advantages [of one size][labml_rl.ppo.normalised] in a minibatch | little (A) |
| values [that are clipped][labml_rl.ppo.value_loss] | none (E), harm (A) |
| Adam's [larger epsilon][Experiment.make_optimizer] | not known; A used $10^{-7}$ |

E also finds that decisions of this kind account for most of what PPO gains over TRPO,
[its predecessor](__init__.py). Both used simulated robots, and no Atari games. So the
book decides as the authors' code does, except that it does not clip the values. The
fourth decision of E is not on these pages: rewards are divided by how far returns
differ (*reward scaling*), and that mattered a great deal. In Atari games, clipping
takes its place. For lists of numbers, A advises shifting and scaling what is seen
(*observation normalization*), which nothing does here [unless you
do](../environments.py#a-custom-environment).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor, nn

from labml_rl.a2c import total_loss
from labml_rl.graphs import Recorded, check_rates, copied
from labml_rl.networks import entropy_of, log_probs_of
from labml_rl.onpolicy import PolicySettings, check_cut
from labml_rl.ppo import (
    clip_fraction,
    clipped_policy_loss,
    divergence,
    explained_variance,
    normalised,
    value_loss,
)
from labml_rl.ppo.overlap import OverlapExperiment
from labml_rl.returns import gae
from labml_rl.runs import require
from labml_rl.sampling import Samples
from labml_rl.speed import make_adam, means_of, numbers_of


@dataclass(frozen=True, kw_only=True)
class Settings(PolicySettings):
    """
    ## Settings, or hyperparameters

    These are the settings of Schulman et al. (2017) for Atari, from their table 5.
    Where the table says nothing, or something other than their code, they are those of
    the code, which is what everyone compares with. The discount, 0.99, and the pay for
    being undecided, 0.01, are [those of A2C][labml_rl.onpolicy.PolicySettings], too.

    Args:
        steps: for how many steps each game is played before the network learns. All
            games together then make the batch: for games, of 8 · 128 = 1,024 steps.
        epochs: how many times it learns from each batch. The table has 3, the code 4.
        minibatches: into how many parts the batch is cut, each for one step of the
            optimiser.
        learning_rate: of Adam, at the beginning. It goes down to 0 in a straight line.
        adam_epsilon: what keeps Adam from dividing by zero. From the code.
        gae_lambda: how far the advantages trust what was seen over what was expected.
        clip: how far from 1 the ratio of an action may move and still pay. In the
            table, and at first in the code, it goes down to 0 with the learning rate.
            In the code of today it stays.
        value_clip: the same for values, in points of reward; None does not clip them.
        value_coefficient: the weight of the critic's loss. From the code. In the table
            it is 1, for a loss without the half: four times as much.
        max_divergence: early stopping. Learn no more from a batch once the mean
            `divergence` of an epoch is above this, in nats; None never stops. Not in
            the paper.
        compile: make [one program of network and losses][Experiment.losses], for a GPU.
            PyTorch takes its time over that, once, in the first update.
        overlap: on a GPU, or without players, [learn from one rollout while the next is
            played](overlap.py).
    """

    steps: int = 128
    epochs: int = 4
    minibatches: int = 4
    learning_rate: float = 2.5e-4
    adam_epsilon: float = 1e-5
    gae_lambda: float = 0.95
    clip: float = 0.1
    value_clip: float | None = None
    value_coefficient: float = 0.5
    max_divergence: float | None = None
    compile: bool = False
    overlap: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "epochs", at_least=1)
        require(self, "clip", "value_clip", "max_divergence", "adam_epsilon", above=0)
        require(self, "gae_lambda", at_least=0, at_most=1)
        check_cut(self, self.minibatches)
        if self.num_envs * self.steps // self.minibatches < 2:
            raise ValueError(
                "a minibatch must have at least 2 steps, or its advantages have no "
                "standard deviation"
            )


class Experiment(OverlapExperiment):
    """
    ## The experiment

    PPO only has to say which optimiser it wants, what one update is, and what one step
    in it is. The rest is there already, as [for A2C](../a2c/experiment.py).

    Args:
        settings: see above.
    """

    algorithm = "ppo"
    settings_class = Settings

    def __init__(self, settings: Settings) -> None:
        # This comes before the games are made: if `torch.compile` refuses, there are
        # none left open.
        self.compute = type(self).losses
        if settings.compile:
            self.compute = torch.compile(self.compute)
        super().__init__(settings)

    def make_optimizer(self) -> torch.optim.Optimizer:
        r"""
        ### Adam, and its epsilon

        Adam divides by the root of the mean square of a gradient, plus $\epsilon$. With
        PyTorch's default of $10^{-8}$, a weight whose gradients are about $10^{-7}$
        moves as fast as any other. With the authors' `1e-5` it moves at a hundredth of
        the speed.

        Returns:
            Adam.
        """
        settings = self.settings
        return make_adam(
            self.network.parameters(),
            lr=settings.learning_rate,
            eps=settings.adam_epsilon,
            recorded=self.device if settings.graphs else None,
        )

    def update(self) -> dict[str, float]:
        r"""
        ### Play, then learn

        All games go on for $T$ steps, and the optimiser goes through these steps
        several times, a minibatch at a time. Then what was seen is thrown away. (With
        `overlap`, the next rollout is [played meanwhile](overlap.py).)

        Returns:
            The means over all minibatches.
        """
        learning_rate = self.anneal()
        batch = self.make_batch(self.rollout())
        explained = explained_variance(batch.values, batch.returns)
        learned: list[dict[str, Tensor]] = []
        self.learn_from(batch, learned)

        #
        metrics = means_of(learned)
        metrics["explained_variance"] = explained.item()
        metrics["learning_rate"] = learning_rate
        return metrics

    def passes(
        self, batch: "Batch", learned: list[dict[str, Tensor]]
    ) -> Iterator[None]:
        """
        ### Several times through it

        This generator stops at each `yield`. It goes on [at
        once][labml_rl.ppo.overlap.OverlapExperiment.learn_from], unless games are
        played in between.

        Args:
            batch: what to learn from.
            learned: what is measured in each step is added to it.

        Yields:
            Nothing, after each step of the optimiser.
        """
        settings = self.settings
        if isinstance(self.how, Recorded):
            check_rates(self.optimizer)

        # What a game shows within a few steps looks nearly the same, and would pull in
        # one direction, so each pass has a different order.
        for _ in range(settings.epochs):
            count = len(batch)
            order = torch.randperm(count, generator=self.generator, device=self.device)
            for rows in order.chunk(settings.minibatches):
                # `how` calls `learn`, on a GPU perhaps as [a record](../graphs.py).
                # In a record, the next step writes over these numbers, so they are
                # copied.
                seen = self.how(self.learn, batch.rows(rows))
                learned.append(copied(seen))
                yield

            # The clip is [no fence][labml_rl.ppo.clipped_policy_loss]. This is one:
            # **early stopping**.
            if settings.max_divergence is not None:
                last = means_of(learned[-settings.minibatches :])
                if last["divergence"] > settings.max_divergence:
                    break

    def make_batch(self, samples: Samples) -> "Batch":
        r"""
        ### What to learn from

        Args:
            samples: what was seen.

        Returns:
            The same as one long list, with advantages, and with targets for the values.
        """
        settings = self.settings
        advantages = gae(
            samples.rollout,
            discount=settings.discount,
            gae_lambda=settings.gae_lambda,
        )  # (T, N)

        # The targets of the values are the advantages on top of what was expected.
        # $$G_t = \hat{A}_t + V(o_t)$$
        old_values = samples.rollout.values[:-1]  # (T, N)
        returns = advantages + old_values  # (T, N)

        # From here on it no longer matters which step came after which, and all games
        # are one long list.
        return Batch(
            samples.observations.flatten(0, 1),
            samples.actions.flatten(),
            samples.log_probs.flatten(),
            advantages.flatten(),
            returns.flatten(),
            old_values.flatten(),
        )

    def learn(self, batch: "Batch") -> dict[str, Tensor]:
        r"""
        ### One step of the optimiser

        Args:
            batch: the steps to learn from.

        Returns:
            What is worth plotting, by name.
        """
        self.optimizer.zero_grad()
        seen = self.compute(self, batch)
        seen["loss"].backward()

        # Long gradients are cut, as [in A2C](../a2c/experiment.py). The authors' limit
        # is low, and in the recorded runs gradients are often cut.
        seen["gradient_norm"] = nn.utils.clip_grad_norm_(
            self.network.parameters(), self.settings.max_gradient_norm
        )
        self.optimizer.step()
        return numbers_of(seen, self.device)

    def answers(self, batch: "Batch") -> tuple[Tensor, Tensor]:
        """
        Args:
            batch: the steps to learn from.

        Returns:
            What the network [says of them
            now][labml_rl.onpolicy.PolicyExperiment.evaluate].
        """
        return self.evaluate(batch.observations)

    def losses(self, batch: "Batch") -> dict[str, Tensor]:
        r"""
        ### The loss

        The network answers anew for each minibatch, because it has changed since the
        last one. An algorithm that adds something of its own adds it to the `loss`
        here. What it needs for that may be there already: the `divergence` has a
        gradient, as a penalty must, and so do the `entropy` and the two losses.

        There are some fifty small operations in this, and as many again on the way
        back. A GPU [waits for Python](../graphs.py) between them. With the setting
        `compile`, `torch.compile` makes one program of it all, with fewer operations.
        On a processor the compiled step took a little longer.

        Args:
            batch: the steps to learn from.

        Returns:
            The `loss`, of which the gradient is taken, and what else is worth drawing:
            each gets [a column of the curve](../runs/curve.py).
        """
        return self.losses_of(batch, *self.answers(batch))

    def losses_of(
        self, batch: "Batch", logits: Tensor, values: Tensor
    ) -> dict[str, Tensor]:
        """
        An algorithm whose network says more than this [asks it
        itself][labml_rl.ppo.rnd.Experiment.losses], and gets the rest from here.

        Args:
            batch: the steps to learn from.
            logits: what the network says of them now, shape `(B, A)`.
            values: the same, shape `(B,)`.

        Returns:
            The `loss`, and what else is worth drawing.
        """
        settings = self.settings
        log_probs = log_probs_of(logits, batch.actions)  # (B,)

        policy = clipped_policy_loss(
            log_probs,
            batch.log_probs,
            normalised(batch.advantages),
            clip=settings.clip,
        )
        value = value_loss(
            values,
            batch.returns,
            old_values=batch.values,
            clip=settings.value_clip,
        )
        entropy = entropy_of(logits).mean()
        loss = total_loss(
            policy,
            value,
            entropy,
            value_coefficient=settings.value_coefficient,
            entropy_coefficient=settings.entropy_coefficient,
        )

        return {
            "loss": loss,
            "policy_loss": policy,
            "value_loss": value,
            "entropy": entropy,
            "divergence": divergence(log_probs, batch.log_probs),
            "clip_fraction": clip_fraction(
                log_probs, batch.log_probs, clip=settings.clip
            ),
        }


@dataclass(frozen=True)
class Batch:
    r"""
    ## A batch

    Args:
        observations: $o$, shape `(B, …)`.
        actions: $a$, shape `(B,)`.
        log_probs: $\log \pi(a \mid o)$ of the policy that played, or of that which
            [begins to learn][labml_rl.ppo.overlap.OverlapExperiment.from_here]; the
            same.
        advantages: $\hat{A}$, the same.
        returns: $G$, the same.
        values: $V(o)$ of the network that played, the same.
    """

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    values: Tensor

    def __len__(self) -> int:
        """How many steps."""
        return len(self.actions)

    def copy(self) -> Self:
        """The same, in memory of its own."""
        return replace(
            self, **{name: each.clone() for name, each in vars(self).items()}
        )

    def rows(self, which: Tensor) -> "Batch":
        """
        ### Some of its steps

        `observations[which]` would do the same, but goes through a picture number by
        number. `index_select` copies it in one piece, and takes a sixth of the time.

        Args:
            which: steps, by number.

        Returns:
            A batch of these alone.
        """
        rows = {name: each.index_select(0, which) for name, each in vars(self).items()}
        return replace(self, **rows)


# ## If you come from elsewhere
#
# The same settings have other names in other programs, and some count something else:
#
# | here | Stable-Baselines3 | CleanRL |
# |---|---|---|
# | `num_envs` | `n_envs` of `make_vec_env` | `num_envs` |
# | `steps` | `n_steps` | `num_steps` |
# | `epochs` | `n_epochs` | `update_epochs` |
# | `minibatches`, how many | `batch_size`, how large each is | `num_minibatches` |
# | `discount` | `gamma` | `gamma` |
# | `clip` | `clip_range` | `clip_coef` |
# | `value_clip` off | `clip_range_vf` off | `clip_vloss` on |
# | `value_coefficient` 0.5 | `vf_coef` 0.25 | `vf_coef` 0.5 |
# | `entropy_coefficient` | `ent_coef` | `ent_coef` |
# | `max_gradient_norm` | `max_grad_norm` | `max_grad_norm` |
# | `max_divergence` | 1.5 times their `target_kl` | `target_kl` |
# | `total_frames`, 4 a step | `total_timesteps` | `total_timesteps` |
#
# The critic's loss in Stable-Baselines3 has no half in it, so its 0.5 is 1.0 here, and
# its `clip_range_vf` always takes the clipped error. `max_divergence` is compared with
# the mean of a pass, where Stable-Baselines3 looks at each minibatch, and CleanRL at
# the last one of a pass. Of the curves, `divergence` is their `approx_kl`,
# `clip_fraction` their `clip_fraction` or `clipfrac`, and `return_mean` their
# `ep_rew_mean` or `episodic_return`. Stable-Baselines3's `entropy_loss` is minus our
# `entropy`, and its `value_loss` twice ours. Our curves are drawn over frames, and
# theirs over steps: in an Atari game, what is at 4 million here is at 1 million there.
