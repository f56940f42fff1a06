r"""
---
title: Mistakes, and what they look like
summary: >-
  Fifteen mistakes, planted in PPO on purpose, and the curves of the agents that learned
  with them.
---

# Mistakes, and what they look like

Most programs with a mistake stop, or say something that is plainly wrong. A program
that learns does neither. It learns from wrong numbers as eagerly as from right ones,
comes to some score, and nobody can tell from the score whether that is a mistake, bad
luck, or a learning rate.

So here are fifteen mistakes that people make. Each is planted in
[PPO](ppo/experiment.py) on purpose, and balances [the pole](small.py) with five seeds,
or tries to. The code beside each section is the mistake: what a class does other than
the right program. Try one yourself, beside the right program, and look at both curves:

```sh
labml-rl train small-ppo
python -m labml_rl.mistakes ends-late
tensorboard --logdir runs
```

## From what you see to where to look

| what you see | look at |
|---|---|
| a score below that of random play | [signs][WrongSign], [ends][NoEnds] |
| the entropy stays where it began | [what is seen][OneBuffer], [shapes][EveryPair] |
| the same, with a gradient of thousands | [the size of rewards][LargeRewards] |
| the entropy is soon 0, the score low | [what belongs to what][GamesMixed] |
| the entropy stops far above 0 | [a softmax too many][TwiceSoftmax] |
| nothing is ever clipped | [old probabilities][NewLogProbs] |
| most ratios are clipped | [what is seen when learning][NextObservation] |
| it learns, and the critic explains nothing | [shapes in its loss][CriticOfPairs] |
| the score rises, and falls for good | [whose end it is][EndsLate] |
| others learn faster | [where it stops][NothingAfter], [gradients][OldGradients] |
| nothing | [time limits][TimeLimit], [what comes after them][NextEpisode] |

## What is not here

The pole is a small problem, and forgives much. What costs a tenth of the score here may
cost a game all of it.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import gymnasium
import torch
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.networks import log_probs_of
from labml_rl.ppo import normalised
from labml_rl.ppo.experiment import Batch
from labml_rl.sampling import Samples
from labml_rl.small import SmallPPO

# ## Nothing is learned
#
# A mistake that is seen at once is a good mistake.


class WrongSign(SmallPPO):
    """
    ### The wrong sign

    An optimiser makes a number smaller, and the objective of a policy should become
    larger, so there is a minus somewhere. There are others: an advantage is what came
    minus what was expected, and here it is the other way round. Two are as bad as none.

    The agent learns, and well: it learns to let the pole fall as soon as it can. Its
    policy becomes certain, and its critic foresees everything. So a score *below* that
    of random play is a good sign. All parts work, and one of them pulls the other way.
    """

    algorithm = "wrong-sign"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with advantages that are upside down.
        """
        batch = super().make_batch(samples)
        return replace(batch, advantages=batch.values - batch.returns)


class OneBuffer(SmallPPO):
    """
    ### One array for all observations

    Environments that are made to be fast write each observation into the same array.
    Whoever puts that array into a list 32 times has 32 times the last observation. (The
    games of this book copy, [unless told not to][labml_rl.batch.SerialGames].)

    The actions that were good and those that were bad belong to the same observation
    now, so there is nothing to learn. The entropy hardly moves.
    """

    algorithm = "one-buffer"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with what was seen last in all its steps.
        """
        last = samples.observations[-1:].expand_as(samples.observations)
        return super().make_batch(replace(samples, observations=last))


class GamesMixed(SmallPPO):
    r"""
    ### Two orders of one list

    A rollout has shape $(T, N)$, and the learner wants one long list. If one array is
    turned round on the way, step after step of one game, while the others stay moment
    after moment of all games, each advantage belongs to another action. All shapes are
    right.
    """

    algorithm = "games-mixed"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with the advantages of other steps.
        """
        batch = super().make_batch(samples)
        advantages = batch.advantages.view(samples.actions.shape)
        return replace(batch, advantages=advantages.T.flatten())


class EveryPair(SmallPPO):
    r"""
    ### Every pair of steps

    Somewhere a tensor has shape $(B, 1)$, and another $(B,)$. Their product has shape
    $(B, B)$: the ratio of every step, times the advantage of every other. Its mean is a
    number, as it should be, and no library objects. (The losses of this book
    [do][labml_rl.a2c.policy_loss].)

    The normalised advantages have a mean of 0, so the mean over all pairs is 0 for
    whatever policy, but for what is clipped. Nothing moves: no entropy, and no ratio.
    """

    algorithm = "every-pair"

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """
        Returns:
            What it should be, with a policy's loss over all pairs of steps.
        """
        seen = super().losses(batch)
        logits, _ = self.evaluate(batch.observations)
        log_probs = log_probs_of(logits, batch.actions)
        ratios = (log_probs - batch.log_probs).exp()[:, None]  # (B, 1)
        advantages = normalised(batch.advantages)  # (B,)

        clip = self.settings.clip
        clipped = ratios.clamp(1 - clip, 1 + clip)
        gains = torch.min(ratios * advantages, clipped * advantages)  # (B, B)
        return seen | {"loss": seen["loss"] - seen["policy_loss"] - gains.mean()}


class NextObservation(SmallPPO):
    r"""
    ### One step off

    A loop that plays has the old observation and the new one at hand, and it is easy to
    write down the wrong one beside the action. Then $o_{t+1}$ is the reason for $a_t$,
    though it is what came of it.

    Look at what is clipped. Before the first step of an update, the network that learns
    *is* the one that played, and all ratios are 1. If they are not, it is not given
    what it was given when it played. That is worth a line in any program of PPO: on
    the first minibatch of the first epoch, the ratio is 1.
    """

    algorithm = "next-observation"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with observations that came after the actions.
        """
        later = samples.observations.roll(-1, 0)
        return super().make_batch(replace(samples, observations=later))


class NoEnds(SmallPPO):
    """
    ### Episodes without an end

    The pole falls, the next episode begins in the same array, and nobody told the
    returns about it. So what follows a fall is worth as much as what follows anything
    else.

    Each step is paid with a point, and the points never end, whatever the agent does.
    Falling is no loss any more.
    """

    algorithm = "no-ends"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with returns over the ends of episodes.
        """
        nothing = torch.zeros_like(samples.rollout.ends)
        rollout = replace(samples.rollout, terminated=nothing, truncated=nothing)
        return super().make_batch(replace(samples, rollout=rollout))


# ## It learns, but badly
#
# These are worse. There is a curve, it goes up, and in a paper it would be a baseline.


class EndsLate(SmallPPO):
    """
    ### The end comes a step late

    Many programs keep, beside an observation, whether an episode *begins* with it. The
    recursion asks whether one *ended*. Whoever copies the one from here and the other
    from there has ends [that are a row too late][labml_rl.returns.gae].

    At first nothing can be seen. The last step of an episode is followed by a new pole
    that stands upright, and so falling seems to be worth a lot. The better the agent
    plays, the more it is worth.
    """

    algorithm = "ends-late"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with ends that are a step late.
        """
        late = samples.rollout.ends.roll(1, 0)
        late[0] = False
        rollout = replace(
            samples.rollout, terminated=late, truncated=torch.zeros_like(late)
        )
        return super().make_batch(replace(samples, rollout=rollout))


class NothingAfter(SmallPPO):
    """
    ### A rollout that stops is no end

    After 32 steps the rollout stops, and most poles still stand. What is left of these
    episodes is what the critic expects of them. Forget it, and the last steps of each
    rollout seem to lead to nothing.

    Where in a rollout a step is says nothing of how good it is, and no observation
    shows it. To the critic it is noise, and it can't foresee it.
    """

    algorithm = "nothing-after"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, as if nothing came after the last step.
        """
        values = samples.rollout.values.clone()
        values[-1] = 0
        rollout = replace(samples.rollout, values=values)
        return super().make_batch(replace(samples, rollout=rollout))


class LargeRewards(SmallPPO):
    """
    ### Rewards of another size

    All rewards are a hundred times as large, as they are in another game. It is no
    mistake of the program, but of whoever left [them as they
    are][labml_rl.wrappers.frames.ClipReward].

    The advantages are made to one size in any case. But the critic's errors are a
    hundred times as large, and so is its gradient, in the tens of thousands. Actor and
    critic share a body, and the gradient of both is cut to a length of a half. Of what
    is left, next to nothing is the actor's.
    """

    algorithm = "large-rewards"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with rewards that are a hundred times as large.
        """
        rewards = 100 * samples.rollout.rewards
        rollout = replace(samples.rollout, rewards=rewards)
        return super().make_batch(replace(samples, rollout=rollout))


class TwiceSoftmax(SmallPPO):
    r"""
    ### Probabilities in place of logits

    The network ends with a softmax, since a policy is made of probabilities. What draws
    the actions takes them for [logits](networks.py), and makes a softmax of them again.

    Probabilities lie between 0 and 1. Taken for logits, they differ by 1 at most, and
    the likelier of two actions can't have more than $e / (e + 1)$, which is 73%. So the
    agent does the wrong thing every fourth time, for ever. The entropy can't go below
    0.58.
    """

    algorithm = "twice-softmax"

    @staticmethod
    def make_network(
        settings: Any,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
    ) -> nn.Module:
        """
        Returns:
            A network that gives probabilities, and values.
        """
        right = SmallPPO.make_network(settings, observation_space, action_space)
        return _Probabilities(right)


class _Probabilities(nn.Module):
    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        logits, values = self.network(observations)
        return logits.softmax(-1), values


class CriticOfPairs(SmallPPO):
    r"""
    ### The critic learns every pair

    [Every pair][EveryPair] once more, now in the loss of the critic: its head gives
    shape $(B, 1)$, the returns have $(B,)$, and their difference is $(B, B)$.

    Each value is pulled towards all returns of the batch, and so towards their mean,
    whatever is seen. The agent still learns, from returns alone and with all their
    noise. A critic that explains nothing from the first frame to the last is what gives
    this away.
    """

    algorithm = "critic-of-pairs"

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """
        Returns:
            What it should be, with a critic's loss over all pairs of steps.
        """
        seen = super().losses(batch)
        _, values = self.evaluate(batch.observations)
        errors = values[:, None] - batch.returns  # (B, B)
        change = 0.5 * errors.square().mean() - seen["value_loss"]
        return seen | {"loss": seen["loss"] + self.settings.value_coefficient * change}


class NewLogProbs(SmallPPO):
    r"""
    ### The ratio of a policy to itself

    The ratio compares with the policy that *played*. If the old probabilities are
    computed when they are needed, and not kept from the time of play, the network that
    learns is compared with itself.

    All ratios are 1, so nothing is clipped and the divergence is 0, always. What is
    left is a policy gradient with [twenty epochs](small.py) and nothing to stop it: the
    first few rollouts make the policy certain of whatever worked in them.
    """

    algorithm = "new-log-probs"

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """
        Returns:
            What it should be, for old probabilities that are new.
        """
        logits, _ = self.evaluate(batch.observations)
        fresh = log_probs_of(logits.detach(), batch.actions)
        return super().losses(replace(batch, log_probs=fresh))


class OldGradients(SmallPPO):
    """
    ### Gradients that are never zeroed

    PyTorch adds each gradient to what is there. Without `zero_grad`, it is the sum over
    all of the past.

    This ought to be fatal, and it is not. The gradient is [cut to one
    length][labml_rl.ppo.experiment.Experiment.learn] before each step, with all that is
    in it, so the past becomes less with each step and does not pile up. It acts as a
    momentum that nobody chose.
    """

    algorithm = "old-gradients"

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Returns:
            The optimiser, which zeroes nothing.
        """
        optimizer = super().make_optimizer()
        optimizer.zero_grad = lambda set_to_none=True: None  # type: ignore[method-assign]
        return optimizer


# ## Nobody notices
#
# And these are the worst. They are found by reading, or by a test that works out a case
# by hand.


class TimeLimit(SmallPPO):
    """
    ### A time limit that is taken for the end

    After 500 steps the episode is cut off, and the pole still stands. [It would have
    gone on][labml_rl.returns.Rollout.following], so it must not count as a fall.

    The pole that stood until the end is told 500 steps later that it fell. Here that is
    one step of 500, and the curves look like those of the right program.
    """

    algorithm = "time-limit"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with time limits that are ends.
        """
        rollout = replace(samples.rollout, terminated=samples.rollout.ends)
        return super().make_batch(replace(samples, rollout=rollout))


class NextEpisode(SmallPPO):
    r"""
    ### The beginning of the next episode

    Where an episode is cut off, its value is to be that of its *last* observation. Most
    batches of games begin the next episode in the same step, and give the first
    observation of that one. The last has to be [asked for](batch.py).

    A pole that stands is worth as much as one that has just been set up. So here the
    two are nearly equal, and again nothing can be seen.
    """

    algorithm = "next-episode"

    def make_batch(self, samples: Samples) -> Batch:
        """
        Returns:
            The batch, with values of the next episodes' first observations.
        """
        rollout = samples.rollout
        rollout = replace(rollout, final_values=rollout.values[1:])
        return super().make_batch(replace(samples, rollout=rollout))


# ## All of them

MISTAKES: dict[str, type[SmallPPO]] = {
    each.algorithm: each
    for each in (
        *(WrongSign, OneBuffer, GamesMixed, EveryPair, NextObservation, NoEnds),
        *(EndsLate, NothingAfter, LargeRewards, TwiceSoftmax),
        *(CriticOfPairs, NewLogProbs, OldGradients),
        *(TimeLimit, NextEpisode),
    )
}


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """
    ### Make one

    `python -m labml_rl.mistakes wrong-sign` takes the options of [any
    run](runs/command.py), and goes on like one: `python -m labml_rl.mistakes wrong-sign
    watch runs/wrong-sign/CartPole-v1/seed-1`.

    Args:
        argv: what was typed; `None` looks it up.
    """
    name, *rest = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name not in MISTAKES:
        usage = f"usage: python -m labml_rl.mistakes MISTAKE [OPTIONS]\n\n{_NAMES}"
        if name in ("-h", "--help"):
            print(usage)
            sys.exit(0)
        sys.exit(f"no mistake {name!r}\n{usage}")
    runs.main(MISTAKES[name], rest, program=f"python -m labml_rl.mistakes {name}")


_NAMES = f"MISTAKE is one of {', '.join(MISTAKES)}."

if __name__ == "__main__":
    main()
