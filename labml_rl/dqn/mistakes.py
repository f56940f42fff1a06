r"""
---
title: Mistakes in DQN
summary: >-
  Fifteen mistakes, planted in DQN on purpose, and the curves of the agents that learned
  with them.
---

# Mistakes in DQN

DQN learns by making an error small: the difference between what the network says of a
step, and the reward with what it says of the next one. So there are ways to make it
small without playing well: the loss decreases, and the score does not improve. One is
to say of everything that it is as bad as can be. Another is to aim at targets that
never move. Five of the mistakes below find such ways. With these the error is *less
than half* that of the right program.

Here are fifteen mistakes that people make, like those [in PPO](../mistakes.py). Each is
planted in the [experiment](experiment.py), which then has five tries to swing up [the
two rods][labml_rl.small.DQNSettings], each with its own seed. The code beside a section
is all that its class does differently from the right program. Try one, and lay its
curves over those of the right program:

```sh
python -m labml_rl.dqn.mistakes right
python -m labml_rl.dqn.mistakes no-target
tensorboard --logdir runs
```

## How to read the figures

Each shows three curves that every run writes down, over its 60,000 frames:

- **score**, the mean of the last hundred episodes, from −500 to 0
- **action value**, the mean over the batches, from −100 to 0: all [that can be
  right][labml_rl.small.DQNSettings]
- **error**, the mean size of the temporal-difference error, from 0 to 3

The orange lines are the five runs with the mistake. The blue area is where the five
runs without one lie. Anything beyond an edge is drawn at the edge, and until something
is learned, value and error count as 0. The numbers are on [a page of their
own](../../benchmarks/mistakes.md#dqn).

## When DQN does not learn: what to look at

If you are *debugging* a DQN that is not learning, begin here.

| what you see | look at |
|---|---|
| values stay near 0, and the error stays 1 | [the last layer][NotNegative] |
| the same, but one seed does well | [the optimiser][OtherWeights] |
| values stay near −1, and the error near 0 | [who copies?][NeverCopied] |
| a small error, values near −100 | [actions][BestNotTaken], [shapes][AllPairs] |
| values near −100, a small error from early on | [observations][OneArray] |
| a small error, and values that rise | [where the gradient flows][ThroughTargets] |
| a large error soon after the start | [is the target a copy?][NoTarget] |
| an error that grows, a score that falls | [what is clipped][ClippedErrors] |
| an error that grows, a score that is late | [old gradients][NotZeroed] |
| errors in the hundreds, values in the thousands | [the size of rewards][Hundredfold] |
| a score that is best in the beginning | [how it explores][MoreAndMore] |
| nothing unusual | [ends][Endless], [limits][LimitsAreEnds], [dice][SameDice] |
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from torch import Tensor, nn

from labml_rl import mistakes
from labml_rl.dqn import huber, taken
from labml_rl.replay import Batch, ReplayMemory
from labml_rl.small import DQNSettings, SmallDQN

Losses = tuple[Tensor, dict[str, Tensor]]


def report(values: Tensor, targets: Tensor, losses: Tensor) -> Losses:
    """
    ## For losses that are wrong

    Some mistakes are in the loss, and these compute their own.

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


@dataclass(frozen=True, kw_only=True)
class Settings(DQNSettings):
    """
    ## The right program

    The mistakes were planted in a program that is older than [the one that swings up
    the rods best][labml_rl.small.DQNSettings], and differs from it in three numbers.
    There is a single reward in each target, as in the paper. It learns in larger steps,
    and aims at a newer copy of itself. These numbers were chosen from a dozen sets,
    with other seeds than those of the curves.
    """

    n: int = 1
    learning_rate: float = 1e-3
    sync_every_steps: int = 200


class Right(SmallDQN):
    """
    ### Without a mistake

    Args:
        settings: see above.
    """

    algorithm = "right"
    settings_class = Settings


# ## Nothing is learned
#
# A mistake that is seen at once is a good one. But look at the score, not at the error.


class NotNegative(Right):
    """
    ### Values that can't be negative

    A network for pictures or words often ends in a ReLU, a softmax or a sigmoid. An
    action value is a sum of rewards and may be any number, so after the last layer of
    this network there must be nothing. Here there is a ReLU.
    """

    algorithm = "not-negative"

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> nn.Module:
        """
        ![The score is at the bottom, the action value at 0, and the error at
        1](../../assets/figures/mistake-not-negative.svg)

        All that could be right lies below 0, and the network can say nothing below 0.
        So it says 0 to everything, and from there no gradient leads back: where the
        input of a ReLU is negative, it has none. The error is 1, the point that each
        step costs, and stays there.

        Returns:
            A network whose values are 0 or more.
        """
        network = Right.make_network(settings, observation_space, action_space)
        return nn.Sequential(network, nn.ReLU())


class OtherWeights(Right):
    """
    ### The optimiser of another network

    An optimiser is made for certain weights. If the network is copied, or made anew,
    *after* that, the optimiser goes on with weights that nothing uses.
    """

    algorithm = "other-weights"

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        ![The score is at the bottom, but with one seed it rises as it should; the
        action value stays at 0, and the error at
        1](../../assets/figures/mistake-other-weights.svg)

        The loss is right, and it has a gradient, but nothing ever moves. The curves are
        those of a network with random weights, whose values are all near 0, so that
        each step is off by about the point that it costs.

        One of the five swings the rods up all the same, nearly as well as the right
        program: there are random networks that can. So a score that rises is no proof
        that anything is learned. (It rises because there is less and less exploring.)
        To be sure, compare a weight before and after.

        Returns:
            An optimiser whose weights are those of a copy.
        """
        optimizer = super().make_optimizer()
        (group,) = optimizer.param_groups
        group["params"] = list(deepcopy(self.network).parameters())
        return optimizer


class BestNotTaken(Right):
    """
    ### The value of the best action

    The error is that of the action that was *taken*. This takes the largest value
    instead, as the target does.
    """

    algorithm = "best-not-taken"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score is at the bottom or goes back to it, the action value falls to −95,
        and the error becomes smaller and
        smaller](../../assets/figures/mistake-best-not-taken.svg)

        What came of one action is learned about another. So whatever the network takes
        for the best is made as good or bad as what was really done, and soon all
        actions are worth the same, nearly −100, since from most places most actions
        lead nowhere. In the end the error is an eighth of that of the right program.

        Returns:
            What it should be, as if the best action had been taken each time.
        """
        with torch.no_grad():
            best = self.network(batch.observations).argmax(-1)  # (B,)
        return super().losses(replace(batch, actions=best))


class MoreAndMore(Right):
    r"""
    ### It explores more and more

    Some programs ask whether a random number is *below* $\varepsilon$, and others
    whether it is *above*. Mix the two, and the agent begins by trusting a network that
    knows nothing, and ends by playing at random.
    """

    algorithm = "more-and-more"

    @property
    def epsilon(self) -> float:
        """
        ![The score rises at first and then falls to the bottom; the action value is as
        it should be with most seeds, and the error is smaller than it should be with
        all but one](../../assets/figures/mistake-more-and-more.svg)

        At first the agent hardly explores, and does what its network says, which is the
        best part of the run. The values look right with most seeds, since DQN learns
        what the *best* actions are worth from whatever it is shown. But there is less
        and less to see: random play does not reach the line. Look at `epsilon`, which
        must go down.

        Returns:
            How much it explores.
        """
        settings = self.settings
        return settings.epsilon_start + settings.epsilon_end - super().epsilon


class AllPairs(Right):
    """
    ### All pairs of steps

    Somewhere a tensor has shape $(B, 1)$, and another $(B,)$. Their difference has
    shape $(B, B)$: the error of each value against the target of every step.
    """

    algorithm = "all-pairs"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score is at the bottom for a long time, the action value falls to −95, and
        the error is less than half of what it should
        be](../../assets/figures/mistake-all-pairs.svg)

        Each value is pulled towards all targets of the batch, and so towards the one in
        their middle, whatever is seen and done. Once all values are the same, all
        targets are, and the error is small. (The [loss of this
        book][labml_rl.dqn.td_loss] refuses shapes that differ.)

        Returns:
            A loss over all pairs of steps.
        """
        values = taken(self.network(batch.observations), batch.actions)
        targets = self.targets(batch)
        return report(values, targets, huber(targets - values[:, None]))


class OneArray(Right):
    """
    ### The array that was written over

    A step is kept with the observation before it and the one after it. Environments
    that are made to be fast write each observation into the same array. If you write
    `old = new` to keep the old one, you have made no copy, and soon have the new one
    twice.
    """

    algorithm = "one-array"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score never rises above −350, the action value falls to −95, and the error
        is a fifth of what it should be](../../assets/figures/mistake-one-array.svg)

        The agent is told that from where it *arrived*, its action led to where it
        arrived. For most actions that is wrong, and there is only one answer that
        contradicts nothing: that no action leads anywhere. (The games of this book copy
        [unless told not to][labml_rl.batch.SerialGames], and the memory copies, too.)

        Returns:
            What it should be, if you looked at the next observation both times.
        """
        return super().losses(replace(batch, observations=batch.next_observations))


class NeverCopied(Right):
    """
    ### The target network stays what it was

    Nobody ever copies the weights.
    """

    algorithm = "never-copied"

    def sync(self) -> None:
        """
        ![The score is near the bottom with four seeds and rises slowly with one; the
        action value stays at −1, and the error is next to
        nothing](../../assets/figures/mistake-never-copied.svg)

        This has the most beautiful error of all. The target is the reward and the
        answer of a network that never changes, so it stands still, and is soon learned.
        What has then been learned is the next reward, −1, and how the next observation
        looks to a network with random weights.

        Copying every 10,000 steps in a run that has 10,000 leads here, too.
        """


# ## It learns, but badly
#
# Here a score goes up, or begins to, and you might look for a better learning rate.


class NoTarget(Right):
    """
    ### There is no target network

    Or there is, but it is the same object: `target = network` makes no copy.
    """

    algorithm = "no-target"

    def make_target(self) -> nn.Module:
        """
        ![The score rises later than it should, and then falls with most seeds; the
        error is seven times as large soon after the beginning, and one and a half times
        at the end](../../assets/figures/mistake-no-target.svg)

        Each step of the optimiser moves the targets as well, those of all similar
        observations at once, and they move in the same direction as the values. So the
        values run ahead: they are soon four times as far below 0 as they should be at
        that time. The error is large almost from the start, and what the agent has
        learned it forgets again.

        Returns:
            The network that learns.
        """
        return self.network


class ClippedErrors(Right):
    """
    ### The error that was clipped

    An error that is cut off at 1, and then squared, looks like what the paper says.
    [What should be cut off is the gradient][labml_rl.dqn.huber].
    """

    algorithm = "clipped-errors"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score rises at first as it should with most seeds, and then falls; the
        action value does not fall as far as it should with most seeds, and the error
        grows up to three times as
        large](../../assets/figures/mistake-clipped-errors.svg)

        An error of more than 1 has no gradient. So small errors get smaller, large ones
        are left alone, and whatever is too far off to be learned makes more of its
        kind, since the targets of other steps come from it.

        Returns:
            The squares of errors that are cut off at 1.
        """
        values = taken(self.network(batch.observations), batch.actions)
        targets = self.targets(batch)
        errors = (targets - values).clamp(-1, 1)
        return report(values, targets, 0.5 * errors.square())


class ThroughTargets(Right):
    """
    ### A gradient through the target

    With a target network, nothing can flow back through the target. Without one,
    something does, unless you write `detach`.
    """

    algorithm = "through-targets"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score rises later than it should, and falls again with most seeds; the
        action value falls to −50 at most and rises again, and the error is less than
        half as large](../../assets/figures/mistake-through-targets.svg)

        The network may make the error smaller from both sides: it can learn from what
        came, or expect less of what comes, until that fits. It does both. The error is
        small, and the values say nothing about returns: with most seeds they go *up*,
        while the score rises and while it falls. (This is the *residual gradient* of
        [Baird, 1995](https://doi.org/10.1016/B978-1-55860-377-6.50013-X). He did this
        on purpose, since it never diverges, and found it slow.)

        Returns:
            A loss whose targets come from the network that learns, with their gradient.
        """
        values = taken(self.network(batch.observations), batch.actions)
        following = self.network(batch.next_observations).max(-1).values
        targets = batch.returns + batch.discounts * following
        return report(values, targets, huber(targets - values))


class NotZeroed(Right):
    """
    ### Gradients that are never zeroed

    Without `zero_grad`, each step is made with the sum of all gradients so far.
    """

    algorithm = "not-zeroed"

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        ![The score rises late and slowly, the action value is as it should be, and the
        error is three times as large](../../assets/figures/mistake-not-zeroed.svg)

        In PPO the same mistake [goes unnoticed][labml_rl.mistakes.OldGradients], since
        gradients are cut to a length that a new one mostly exceeds by far. Here they
        are cut to 10, and few are that long. But their sum mostly is, and what the
        newest batch has to say is a small part of it. So each turn comes late, like a
        heavy ship's.

        Returns:
            The optimiser, which zeroes nothing.
        """
        optimizer = super().make_optimizer()
        optimizer.zero_grad = lambda *_: None  # type: ignore[method-assign]
        return optimizer


class Hundredfold(Right):
    """
    ### Rewards of another size

    All rewards are a hundred times as large, as they are in another game. Somebody left
    [them as they are][labml_rl.wrappers.frames.ClipReward].
    """

    algorithm = "hundredfold"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score rises late and slowly; action value and error are beyond the
        edge](../../assets/figures/mistake-hundredfold.svg)

        [An error of a hundred pulls no harder than one of 1][labml_rl.dqn.huber]. So
        the gradient says up or down, and hardly ever how far. After a quarter of the
        run the values are about a hundred times those of the right program, as they
        should be. But the errors are some two hundred times as large, and the small
        differences between actions are probably lost in them.

        Returns:
            What it should be, for these rewards.
        """
        return super().losses(replace(batch, returns=100 * batch.returns))


# ## Nobody notices
#
# These wait for another problem, or for a longer run.


class Endless(Right):
    """
    ### Episodes without an end

    After the last step nothing follows, and the target should be its reward alone.
    """

    algorithm = "endless"

    def losses(self, batch: Batch) -> Losses:
        """
        ![The score is as it should be with most seeds, and so is the action value; the
        error is half as large](../../assets/figures/mistake-endless.svg)

        The agent does nearly as well, and the error is *smaller*. After the step that
        reaches the line, the right program counts nothing, and this one counts what the
        network thinks of the place where the rods then are. Nobody ever corrects that
        thought, but it is much the same for all places above the line. As long as that
        is better than never getting there, which is worth −100, it is better to get
        there soon, and the best action mostly stays the best. The error is smaller
        since the values no longer jump to 0 at the line, and a jump is hard to learn.

        In a game that you should *not* end, the same mistake [is
        fatal][labml_rl.mistakes.NoEnds].

        Returns:
            What it should be, if something always followed.
        """
        always = torch.full_like(batch.discounts, self.settings.discount)
        return super().losses(replace(batch, discounts=always))


class LimitsAreEnds(Right):
    """
    ### A time limit that is taken for the end

    After 500 steps the episode is cut off, wherever the rods are. [It would have gone
    on](../replay/__init__.py), so something follows.
    """

    algorithm = "limits-are-ends"

    def make_memory(self) -> ReplayMemory:
        """
        ![All curves look like those of the right
        program](../../assets/figures/mistake-limits-are-ends.svg)

        Only an agent that plays badly meets the limit, in one step out of five hundred.
        For each of these steps, the network learns that nothing had to be paid after
        it. That is too little to notice, and soon there are none of them. With [the
        pole][labml_rl.mistakes.TimeLimit] it is the good agents that meet it.

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


class SameDice(Right):
    """
    ### Dice that are made anew

    To have runs that can be repeated, a program makes the dice, with their seed, in the
    function that draws. So they fall the same way each time.
    """

    algorithm = "same-dice"

    def make_memory(self) -> ReplayMemory:
        """
        ![All curves are as they should be until shortly before the end, where action
        value and error go up or down, and the score falls a little with most
        seeds](../../assets/figures/mistake-same-dice.svg)

        The same dice point at the same *fraction* of what is in the memory, and as that
        grows, they pick other steps. After 50,000 frames the memory is full. From then
        on they pick the same 128 places of 50,000 again and again, and the last sixth
        of the curves shows it: the network knows these steps by heart, and nothing
        corrects it elsewhere. Give it `--total-frames 150_000`. In the one run that we
        looked at, the values rose far above 0, where nothing can be right, and the
        score fell to nearly that of random play.

        (The memory keeps [the state of its dice](../replay/__init__.py) with a run, so
        runs can be repeated all the same.)

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

MISTAKES: dict[str, type[Right]] = {
    each.algorithm: each
    for each in (
        *(NotNegative, OtherWeights, BestNotTaken, MoreAndMore),
        *(AllPairs, OneArray, NeverCopied),
        *(NoTarget, ClippedErrors, ThroughTargets, NotZeroed, Hundredfold),
        *(Endless, LimitsAreEnds, SameDice),
    )
}


def main() -> NoReturn:
    """
    ### Make one

    `python -m labml_rl.dqn.mistakes no-target` takes the options of [any
    run](../runs/command.py), and goes on like one.
    """
    program = "python -m labml_rl.dqn.mistakes"
    mistakes.main(mistakes={"right": Right} | MISTAKES, program=program)


if __name__ == "__main__":
    main()
