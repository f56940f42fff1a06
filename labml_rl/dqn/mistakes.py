r"""
---
title: Mistakes in DQN
summary: >-
  Fifteen mistakes, planted in DQN on purpose, and the curves of the agents that learned
  with them.
---

# Mistakes in DQN

[The page on mistakes](../mistakes.py) has fifteen in PPO. Here are fifteen that people
make in DQN, each planted on purpose in the [experiment](experiment.py), which then has
five tries to swing up [the two rods][labml_rl.small.DQNSettings]. The code beside a
section is the mistake: it is all that its class does differently from the right
program.

```sh
labml-rl train small-dqn
python -m labml_rl.dqn.mistakes no-target
tensorboard --logdir runs
```
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, NoReturn

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from labml_rl import mistakes
from labml_rl.dqn import huber, taken
from labml_rl.replay import Batch, ReplayMemory
from labml_rl.small import SmallDQN

Losses = tuple[Tensor, dict[str, Tensor]]


def report(values: Tensor, targets: Tensor, losses: Tensor) -> Losses:
    """
    ## For losses that are wrong

    Some mistakes are in the loss, and these write their own.

    Args:
        values: $Q(o_t, a_t)$, shape `(B,)`.
        targets: $y_t$, the same.
        losses: of any shape.

    Returns:
        What [losses][labml_rl.dqn.experiment.Experiment.losses] returns, with the mean
        of these.
    """
    errors = (targets - values).detach()
    return errors, {
        "loss": losses.mean(),
        "td_error": errors.abs().mean(),
        "action_value": values.mean(),
    }


# ## Nothing is learned


class NotNegative(SmallDQN):
    """
    ### Values that can't be negative

    A network for pictures or words often ends in a ReLU, a softmax or a sigmoid. An
    action value is a sum of rewards and may be any number, so behind the last layer of
    this network there must be nothing. Here there is a ReLU.
    """

    algorithm = "not-negative"

    @staticmethod
    def make_network(
        settings: Any,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
    ) -> nn.Module:
        """
        Returns:
            A network whose values are 0 or more.
        """
        network = SmallDQN.make_network(settings, observation_space, action_space)
        return nn.Sequential(network, nn.ReLU())


class OtherWeights(SmallDQN):
    """
    ### The optimiser of another network

    An optimiser is made for certain weights. If the network is copied, or made anew,
    *after* that, it goes on with weights that nobody uses.
    """

    algorithm = "other-weights"

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Returns:
            An optimiser whose weights are those of a copy.
        """
        optimizer = super().make_optimizer()
        (group,) = optimizer.param_groups
        group["params"] = list(deepcopy(self.network).parameters())
        return optimizer


class BestNotTaken(SmallDQN):
    """
    ### The value of the best action

    The error is that of the action that was *taken*. In place of it, this takes the
    largest value, as the target does.
    """

    algorithm = "best-not-taken"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            What it should be, as if the best action had been taken each time.
        """
        with torch.no_grad():
            best = self.network(batch.observations).argmax(-1)  # (B,)
        return super().losses(replace(batch, actions=best))


class MoreAndMore(SmallDQN):
    r"""
    ### It explores more and more

    Some programs ask whether a random number is *below* $\varepsilon$, and others
    whether it is *above*. Take half from here and half from there, and the agent begins
    by trusting a network that knows nothing, and ends by playing at random.
    """

    algorithm = "more-and-more"

    @property
    def epsilon(self) -> float:
        """How much it explores: what it should not."""
        settings = self.settings
        return settings.epsilon_start + settings.epsilon_end - super().epsilon


class AllPairs(SmallDQN):
    """
    ### All pairs of steps

    Somewhere a tensor has shape $(B, 1)$, and another $(B,)$. Their difference has
    shape $(B, B)$: the error of each value with the target of every step.
    """

    algorithm = "all-pairs"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            A loss over all pairs of steps.
        """
        values = taken(self.network(batch.observations), batch.actions)
        targets = self.targets(batch)
        return report(values, targets, huber(targets - values[:, None]))


# ## It learns, but badly


class OneArray(SmallDQN):
    """
    ### The array that was written over

    A step is kept with the observation before it and the one after it. Environments
    that are made to be fast write each observation into the same array. Who keeps the
    old one by its name, `old = new`, keeps the new one twice.
    """

    algorithm = "one-array"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            What it should be, if one looked at the next observation both times.
        """
        return super().losses(replace(batch, observations=batch.next_observations))


class NeverCopied(SmallDQN):
    """
    ### The target network stays what it was

    Nobody ever copies the weights.
    """

    algorithm = "never-copied"

    def sync(self) -> None:
        """Nothing."""


class NoTarget(SmallDQN):
    """
    ### There is no target network

    Or there is, but it is the same object: `target = network` makes no copy.
    """

    algorithm = "no-target"

    def make_target(self) -> nn.Module:
        """
        Returns:
            The network that learns.
        """
        return self.network


class ClippedErrors(SmallDQN):
    """
    ### The error that was clipped

    [What should be clipped is the gradient][labml_rl.dqn.huber].
    """

    algorithm = "clipped-errors"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            The squares of errors that are cut off at 1.
        """
        values = taken(self.network(batch.observations), batch.actions)
        targets = self.targets(batch)
        errors = (targets - values).clamp(-1, 1)
        return report(values, targets, 0.5 * errors.square())


class ThroughTargets(SmallDQN):
    """
    ### A gradient through the target

    With a target network, nothing can flow back through the target. Without one,
    something does, unless somebody writes `detach`.
    """

    algorithm = "through-targets"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            A loss whose targets come from the network that learns, with their gradient.
        """
        values = taken(self.network(batch.observations), batch.actions)
        following = self.network(batch.next_observations).max(-1).values
        targets = batch.returns + batch.discounts * following
        return report(values, targets, huber(targets - values))


class NotZeroed(SmallDQN):
    """
    ### Gradients that are never zeroed

    Without `zero_grad`, each step is made with the sum of all gradients so far.
    """

    algorithm = "not-zeroed"

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Returns:
            The optimiser, which zeroes nothing.
        """
        optimizer = super().make_optimizer()
        optimizer.zero_grad = lambda set_to_none=True: None  # type: ignore[method-assign]
        return optimizer


class Hundredfold(SmallDQN):
    """
    ### Rewards of another size

    All rewards are a hundred times as large.
    """

    algorithm = "hundredfold"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            What it should be, for these rewards.
        """
        return super().losses(replace(batch, returns=100 * batch.returns))


# ## Nobody notices


class Endless(SmallDQN):
    """
    ### Episodes without an end

    After the last step nothing follows, and the target should be its reward alone.
    """

    algorithm = "endless"

    def losses(self, batch: Batch) -> Losses:
        """
        Returns:
            What it should be, if something always followed.
        """
        always = torch.full_like(batch.discounts, self.settings.discount)
        return super().losses(replace(batch, discounts=always))


class LimitsAreEnds(SmallDQN):
    """
    ### A time limit that is taken for the end

    After 500 steps the episode is cut off, wherever the rods are.
    """

    algorithm = "limits-are-ends"

    def make_memory(self) -> ReplayMemory:
        """
        Returns:
            A memory that writes down each limit as an end.
        """
        memory = super().make_memory()
        add = memory.add

        def wrong(
            actions: NDArray[Any],
            rewards: NDArray[Any],
            terminated: NDArray[np.bool_],
            truncated: NDArray[np.bool_],
            *observations: NDArray[Any],
            **final: Any,
        ) -> None:
            ends = terminated | truncated
            add(actions, rewards, ends, ends & False, *observations, **final)

        memory.add = wrong  # type: ignore[method-assign]
        return memory


class SameDice(SmallDQN):
    """
    ### Dice that are made anew

    Somebody wants a program whose runs can be repeated, and makes the dice, with their
    seed, in the function that draws. So they fall the same way each time.
    """

    algorithm = "same-dice"

    def make_memory(self) -> ReplayMemory:
        """
        Returns:
            A memory that makes new dice for each batch.
        """
        memory = super().make_memory()
        sample = memory.sample

        def wrong(batch_size: int) -> Batch:
            memory._dice = np.random.default_rng(self.settings.seed)
            return sample(batch_size)

        memory.sample = wrong  # type: ignore[method-assign]
        return memory


# ## All of them

MISTAKES: Mapping[str, type[SmallDQN]] = {
    each.algorithm: each
    for each in (
        *(NotNegative, OtherWeights, BestNotTaken, MoreAndMore, AllPairs),
        *(OneArray, NeverCopied, NoTarget, ClippedErrors),
        *(ThroughTargets, NotZeroed, Hundredfold),
        *(Endless, LimitsAreEnds, SameDice),
    )
}


def main() -> NoReturn:
    """
    ### Make one

    `python -m labml_rl.dqn.mistakes no-target` takes the options of [any
    run](../runs/command.py), and goes on like one.
    """
    mistakes.main(mistakes=MISTAKES, program="python -m labml_rl.dqn.mistakes")


if __name__ == "__main__":
    main()
