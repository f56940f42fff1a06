r"""
---
title: Mistakes in PPO
summary: >-
  Fifteen mistakes, planted in PPO on purpose, and the curves of the agents that learned
  with them.
---

# Mistakes in PPO

Most programs with a mistake stop, or say something that is plainly wrong. A program
that learns does neither. It learns from wrong numbers as eagerly as from right ones,
comes to some score, and nobody can tell from the score whether that is a mistake, bad
luck, or a learning rate.

So here are fifteen mistakes that people make. Each is planted on purpose in
[PPO](ppo/experiment.py), which then has five tries to balance [the pole](small.py),
each with another seed. (There are fifteen more [for DQN](dqn/mistakes.py).) The code
beside a section is the mistake: it is all that its class does differently from the
right program. Try one, and lay its curves over those of the right program:

```sh
labml-rl train small-ppo --total-frames 100_000 \
    --folder runs/right/CartPole-v1/seed-1
python -m labml_rl.mistakes ends-late \
    --total-frames 100_000
tensorboard --logdir runs
```

## How to read the figures

Each shows four curves that [every run writes down](ppo/__init__.py), over its 100,000
frames:

- **score**, the mean of the last hundred episodes, from 0 to 500
- **entropy**, from 0, where the policy is certain, to $\log 2$, where it has no idea
- **explained**, the part of the returns that the critic foresaw, from −1 to 1
- **clipped**, the share of ratios beyond the clip, from 0 to a half

The orange lines are the five runs with the mistake. The blue area is where the five
runs without one lie. (Once the pole stands, `explained` falls far below 0, and [nothing
is wrong][labml_rl.ppo.explained_variance].) Anything beyond an edge is drawn at the
edge. The numbers are on [a page of their own](../benchmarks/mistakes.md).

## When PPO does not learn: what to look at

If you are *debugging* a PPO agent that is not learning, begin here.

| what you see | look at |
|---|---|
| all seeds end below random play | [signs][WrongSign], [orders][GamesMixed] |
| the entropy stays where it began | [what is seen][OneBuffer], [shapes][EveryPair] |
| gradients in the thousands, nothing clipped | [the size of rewards][LargeRewards] |
| a low score, and `explained` far below 0 | [ends][NoEnds] |
| the entropy stops early, with all seeds alike | [a softmax too many][TwiceSoftmax] |
| nothing is ever clipped | [old probabilities][NewLogProbs], [shapes][EveryPair] |
| half of all ratios are clipped, or more | [what the learner sees][NextObservation] |
| it learns, and `explained` stays 0 | [shapes in the critic's loss][CriticOfPairs] |
| it begins well, and then falls behind | [whose end it is][EndsLate] |
| the same, and `explained` stays at a quarter | [where a rollout stops][NothingAfter] |
| nothing unusual | [zeros][OldGradients], [limits][TimeLimit], [starts][NextEpisode] |

## What is not here

Settings that are no good: a learning rate that is too large, or a network that is too
small. And the pole is a small problem. An Atari game is slower to show the same things,
and a mistake that costs a tenth here may cost more there.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.networks import log_probs_of
from labml_rl.ppo import normalised
from labml_rl.ppo.experiment import Batch
from labml_rl.runs.experiment import Experiment
from labml_rl.sampling import Samples
from labml_rl.small import SmallPPO

# ## Nothing is learned
#
# A mistake that is seen at once is a good one.


class WrongSign(SmallPPO):
    """
    ### The wrong sign

    An advantage is what came minus what was expected, and here it is the other way
    round.
    """

    algorithm = "wrong-sign"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score stays at the bottom, the entropy falls to 0 at once, and the critic
        explains everything](../assets/figures/mistake-wrong-sign.svg)

        The agent learns, and well: it learns to let the pole fall as soon as it can. An
        agent that always pushes to the same side drops it after nine or ten steps, and
        random play takes twenty. So a score *below* that of random play is a clue: the
        policy has changed, and is certain of the wrong thing.

        Returns:
            The batch, with advantages that are upside down.
        """
        batch = super().make_batch(samples)
        return replace(batch, advantages=batch.values - batch.returns)


class OneBuffer(SmallPPO):
    """
    ### One array for all observations

    Environments that are made to be fast write each observation into the same array.
    Put that array into a list 32 times, and the list has the last observation 32 times;
    here that is the last one that was acted on. (The games of this book copy, [unless
    told not to][labml_rl.batch.SerialGames].)
    """

    algorithm = "one-buffer"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score stays at that of random play, the entropy at log 2, and the critic
        explains nothing](../assets/figures/mistake-one-buffer.svg)

        All 32 steps of a game have the same observation now, whether their actions were
        good or bad. Neither actor nor critic can tell these steps apart, so there is
        nothing to learn.

        Returns:
            The batch, with what was seen last in all its steps.
        """
        last = samples.observations[-1:].expand_as(samples.observations)
        return super().make_batch(replace(samples, observations=last))


class GamesMixed(SmallPPO):
    """
    ### Two orders of one list

    A rollout has shape $(T, N)$, and the learner wants one long list: first all games
    at step 0, then all at step 1, and so on. If one of the arrays is listed game by
    game, each advantage goes to the wrong action. All shapes are right.
    """

    algorithm = "games-mixed"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score stays at the bottom, the entropy falls to 0 sooner or later, and the
        critic explains everything](../assets/figures/mistake-games-mixed.svg)

        To the policy, such advantages are noise. But it follows that noise twenty times
        a batch, until it is certain of something and has nothing left to try.

        Returns:
            The batch, with the advantages of other steps.
        """
        batch = super().make_batch(samples)
        advantages = batch.advantages.view(samples.actions.shape)
        return replace(batch, advantages=advantages.T.flatten())


class EveryPair(SmallPPO):
    """
    ### Every pair of steps

    Somewhere a tensor has shape $(B, 1)$, and another $(B,)$. Their product has shape
    $(B, B)$: the ratio of every step, times the advantage of every other. Its mean is a
    number, as it should be, and no library objects. (The losses of this book
    [do][labml_rl.a2c.policy_loss].)
    """

    algorithm = "every-pair"

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """
        ![Score, entropy and ratios stay where they began, and the critic explains four
        fifths](../assets/figures/mistake-every-pair.svg)

        [Normalised][labml_rl.ppo.normalised] advantages have a mean of 0. So each ratio
        is multiplied by 0 in the end, unless it is clipped, and none ever gets that
        far. The policy does not move. The critic, whose loss is right, learns what
        random play is worth.

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


class NoEnds(SmallPPO):
    """
    ### Episodes without an end

    The pole falls, the next episode begins in the same array, and nobody told the
    returns about it. So what follows a fall is worth as much as what follows anything
    else.
    """

    algorithm = "no-ends"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score stays low, the entropy falls to 0, rises for a while and falls
        again, and what the critic explains is mostly far below
        0](../assets/figures/mistake-no-ends.svg)

        Each step earns a point, and the points never end, whatever the agent does. So
        all returns are alike, but for the noise in them. That is how it looks to a
        critic when the pole stands, but here it falls all the time.

        Returns:
            The batch, with returns over the ends of episodes.
        """
        nothing = torch.zeros_like(samples.rollout.ends)
        rollout = replace(samples.rollout, terminated=nothing, truncated=nothing)
        return super().make_batch(replace(samples, rollout=rollout))


# ## It learns, but badly
#
# These are worse. With most seeds there is a curve that goes up, and in a paper it
# would be a baseline.


class NextObservation(SmallPPO):
    """
    ### One step off

    A loop that plays has the old observation and the new one at hand, and it is easy to
    write down the wrong one beside the action. Then $o_{t+1}$ seems to be the reason
    for $a_t$, when it is the result.
    """

    algorithm = "next-observation"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score stays low, with one exception; with three seeds half of all ratios
        or more are clipped, and with two the entropy mostly lies at
        0](../assets/figures/mistake-next-observation.svg)

        Look at what is clipped. Before the first step of an update, the network that
        learns *is* the one that played, and all ratios are 1. If they are not, the
        network is not shown what it was shown when it played, or the old probabilities
        are those of other actions. That is worth a check in any program of PPO.

        Returns:
            The batch, with observations that came after the actions.
        """
        later = samples.observations.roll(-1, 0)
        return super().make_batch(replace(samples, observations=later))


class EndsLate(SmallPPO):
    """
    ### The end comes a step late

    Many programs keep, alongside an observation, whether an episode *begins* with it.
    The recursion asks whether one *ended*. Copy the array from one program and the
    recursion from another, and the ends are [a row too late][labml_rl.returns.gae].
    """

    algorithm = "ends-late"

    def make_batch(self, samples: Samples) -> Batch:
        r"""
        ![The score rises nearly as it should at first, and then falls behind, or falls;
        early on, the critic explains less than it should, and the entropy is
        higher](../assets/figures/mistake-ends-late.svg)

        The step with which a pole falls seems to lead to a new pole that stands
        upright, and the first step of the new pole seems to be the end. With
        $\lambda = 0.8$ most of the blame still comes back to the fall, so the agent
        learns. But about a fifth of what a new pole is worth stays with the fall, and
        the better the agent plays, the more that is. Up to a hundred points only the
        critic shows the mistake: it explains less than it should.

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

    After 32 steps the rollout stops, and most poles still stand. For the rest of these
    episodes, the returns count the critic's value of the last observation. Leave it
    out, and the last steps of each rollout seem to lead to nothing.
    """

    algorithm = "nothing-after"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score rises as fast as it should at first, and then falls behind or stops,
        and the critic explains a quarter or
        so](../assets/figures/mistake-nothing-after.svg)

        No observation says how far a rollout has come. So the critic foresees about a
        quarter of what comes, with some seeds less, and to the actor the rest is noise.

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

    All rewards are a hundred times as large, as they might be in another game. The
    mistake is not the program's, but that of whoever left [them as they
    are][labml_rl.wrappers.frames.ClipReward].
    """

    algorithm = "large-rewards"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![The score rises slowly, the entropy falls slowly, and nothing is
        clipped](../assets/figures/mistake-large-rewards.svg)

        Advantages are brought to one size in any case. But the critic's errors are a
        hundred times as large, and its gradient is in the thousands. Then [the gradient
        of actor and critic together][labml_rl.ppo.experiment.Experiment.learn] is cut
        to a length of a half. Of what is left, next to nothing is the actor's. Adam
        could make up for that, since it scales each weight by itself, but these
        gradients are smaller than [its
        epsilon][labml_rl.ppo.experiment.Experiment.make_optimizer].

        Returns:
            The batch, with rewards that are a hundred times as large.
        """
        rewards = 100 * samples.rollout.rewards
        rollout = replace(samples.rollout, rewards=rewards)
        return super().make_batch(replace(samples, rollout=rollout))


class TwiceSoftmax(SmallPPO):
    """
    ### Probabilities in place of logits

    The network ends with a softmax, since a policy is made of probabilities. The part
    that draws the actions takes these for [logits](networks.py), and applies a softmax
    to them again.
    """

    algorithm = "twice-softmax"

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> nn.Module:
        """
        ![The score stops rising early, and the entropy stops falling, with all five
        seeds at the same height](../assets/figures/mistake-twice-softmax.svg)

        Probabilities lie between 0 and 1. Taken for logits, they differ by 1 at most,
        and the likelier of two actions can't have more than $e / (e + 1)$, which is
        73%. So the agent does the wrong thing every fourth time, for ever. The entropy
        can't go below 0.58.

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
    """
    ### The critic learns every pair

    [Every pair][EveryPair] once more, now in the loss of the critic: its head gives
    shape $(B, 1)$, the returns have $(B,)$, and their difference is $(B, B)$.
    """

    algorithm = "critic-of-pairs"

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        r"""
        ![The score rises to half of what it should be at best, and the critic explains
        nothing from beginning to end](../assets/figures/mistake-critic-of-pairs.svg)

        Each value is pulled towards all returns of the batch, and so towards their
        mean, whatever is seen. The agent still learns, since a fall is a bad surprise
        all the same. But only the last few steps before it are blamed, the good with
        the bad: with $\gamma \lambda = 0.78$, three steps earlier the blame is half. A
        critic that explains nothing from the first frame to the last is the sign of
        this mistake.

        Returns:
            What it should be, with a critic's loss over all pairs of steps.
        """
        seen = super().losses(batch)
        _, values = self.evaluate(batch.observations)
        errors = values[:, None] - batch.returns  # (B, B)
        change = 0.5 * errors.square().mean() - seen["value_loss"]
        return seen | {"loss": seen["loss"] + self.settings.value_coefficient * change}


class NewLogProbs(SmallPPO):
    """
    ### The ratio of a policy to itself

    The ratio compares with the policy that *played*. If the old probabilities are
    computed anew for each step of the optimiser, and not kept from the time of play,
    the network that learns is compared with itself.
    """

    algorithm = "new-log-probs"

    def losses(self, batch: Batch) -> dict[str, Tensor]:
        """
        ![The score rises slowly, and with two seeds falls back to the bottom; the
        entropy falls too soon, and nothing is ever
        clipped](../assets/figures/mistake-new-log-probs.svg)

        All ratios are 1, so nothing is clipped and the divergence is 0, always. What is
        left is a policy gradient with [twenty epochs](small.py) and nothing to stop it.
        The first few rollouts make the policy certain of whatever worked in them.

        Returns:
            What it should be, for old probabilities that are new.
        """
        logits, _ = self.evaluate(batch.observations)
        fresh = log_probs_of(logits.detach(), batch.actions)
        return super().losses(replace(batch, log_probs=fresh))


# ## Nobody notices
#
# And these are the worst. They wait to do harm in another problem, and are found by
# reading the code, or by a test that works out a case by hand.


class OldGradients(SmallPPO):
    """
    ### Gradients that are never zeroed

    PyTorch adds each gradient to what is there. Without `zero_grad`, it is the sum over
    all of the past.
    """

    algorithm = "old-gradients"

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        ![All curves look like those of the right
        program](../assets/figures/mistake-old-gradients.svg)

        This ought to be fatal, and nothing comes of it. Before each step, the gradient
        is [cut to a length of a half][labml_rl.ppo.experiment.Experiment.learn], with
        all the past in it. A new gradient is mostly much longer than that, so it counts
        for more than all the old ones. Switch the cut off with
        `--max-gradient-norm 1e9`, and see.

        Returns:
            The optimiser, which zeroes nothing.
        """
        optimizer = super().make_optimizer()
        optimizer.zero_grad = lambda *_: None  # type: ignore[method-assign]
        return optimizer


class TimeLimit(SmallPPO):
    """
    ### A time limit that is taken for the end

    After 500 steps the episode is cut off, and the pole still stands. [It would have
    gone on][labml_rl.returns.Rollout.following], so it must not count as a fall.
    """

    algorithm = "time-limit"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![With four seeds of five the score comes close to that of the right program,
        and the other curves look right](../assets/figures/mistake-time-limit.svg)

        Only an agent that plays well meets the limit. Then its best episodes end with a
        bad surprise that it can't see coming. Here it costs a tenth of the score on
        average, more than half of which is one seed's. An agent that keeps the pole up
        for 450 steps does not look like a mistake.

        Returns:
            The batch, with time limits that are ends.
        """
        rollout = replace(samples.rollout, terminated=samples.rollout.ends)
        return super().make_batch(replace(samples, rollout=rollout))


class NextEpisode(SmallPPO):
    """
    ### The beginning of the next episode

    Where an episode is cut off, what would have followed is worth the value of its
    *last* observation. Most batches of games begin the next episode in the same step,
    and give the first observation of that one. The last has to be [looked for
    elsewhere][labml_rl.runner.Runner._step].
    """

    algorithm = "next-episode"

    def make_batch(self, samples: Samples) -> Batch:
        """
        ![All curves look like those of the right
        program](../assets/figures/mistake-next-episode.svg)

        A pole that stands is worth about as much as one that was just set up, so
        nothing can be seen. In a game with levels, the first is not worth what the last
        is.

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
        *(WrongSign, OneBuffer, GamesMixed, EveryPair, NoEnds),
        *(NextObservation, EndsLate, NothingAfter, LargeRewards),
        *(TwiceSoftmax, CriticOfPairs, NewLogProbs),
        *(OldGradients, TimeLimit, NextEpisode),
    )
}


def main(
    argv: Sequence[str] | None = None,
    *,
    mistakes: Mapping[str, type[Experiment[Any]]] = MISTAKES,
    program: str = "python -m labml_rl.mistakes",
) -> NoReturn:
    """
    ### Make one

    `python -m labml_rl.mistakes wrong-sign` takes the options of [any
    run](runs/command.py), and is used like one:
    `python -m labml_rl.mistakes wrong-sign watch runs/wrong-sign/CartPole-v1/seed-1`.

    Args:
        argv: what was typed; `None` looks it up.
        mistakes: those of this page, or [of another](dqn/mistakes.py).
        program: how it was called.
    """
    name, *rest = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name not in mistakes:
        names = f"MISTAKE is one of {', '.join(mistakes)}."
        usage = f"usage: {program} MISTAKE [OPTIONS]\n\n{names}"
        if name in ("-h", "--help"):
            print(usage)
            sys.exit(0)
        print(f"no mistake {name!r}\n{usage}", file=sys.stderr)
        sys.exit(2)
    runs.main(mistakes[name], rest, program=f"{program} {name}")


if __name__ == "__main__":
    main()
