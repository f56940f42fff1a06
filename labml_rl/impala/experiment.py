r"""
---
title: IMPALA, the experiment
summary: The loop of IMPALA with the settings of its authors, and how to run it.
symbols:
  targets: 'v_t'
  advantages: '\hat{A}_t'
---

# IMPALA, the experiment

Here the parts come together: [games and network](../onpolicy.py), [actors](actors.py),
and [V-trace](__init__.py). The rest is [A2C](../a2c/experiment.py): the same optimiser,
and the same losses, but added up over all steps where A2C takes their mean.

```sh
labml-rl train impala --game Pong
labml-rl train small-impala
```

The second balances a pole, takes a minute or less, and is the one to try first.

## The whole of it

```text
until all frames are played:
    wait for the actors' 20 steps in each of 32 games
    let them go on, with the weights of now
    look at these steps again
    V-trace: targets and advantages
    one step of RMSProp on the loss of all 640
```

## What it has learned

![The mean score of the last hundred games of IMPALA in Breakout, over the frames
played, and far above it those of PPO: it ends at
140](../../assets/figures/run-impala-breakout-seed-1.svg)

*Breakout, with the authors' settings and a fifth of their frames.*

PPO gets more out of the same number of frames (it has a better *sample efficiency*).
Its network learns ten times as often, and its runs took two or three times as long.
IMPALA is for those who have more frames than they can learn from: the authors' actors
played up to 250,000 a second (of DeepMind Lab, not of Atari). [More about this
run](../../results.md#breakout-by-impala).

## What it costs to be late

![Four pictures of scores over the frames, one for each lag, with five thin lines and a
thick one for the runs with V-trace and as many without: 1 and 4 updates behind all come
to 500, 16 behind three with V-trace do and one without, and 64 behind
none](../../assets/figures/impala-lag.svg)

*The pole. Thin: one run each. Thick: the mean of five.*

A lag of one update or four makes no difference here, with V-trace or without. Sixteen
does: then most runs learn with V-trace, and most collapse without it. (With five runs
each, chance alone makes such a difference one time in thirteen.) With 64, even V-trace
is not enough: where two policies differ a lot, many actions hardly count. [How that was
measured](../../benchmarks/lag.md).

## What to watch

One curve matters more than elsewhere: `divergence`, how far the policy has moved since
the actors had it. In the recorded runs of Breakout and the pole it is mostly below
0.01, and never reaches a tenth. If yours stays above a tenth, take smaller steps
(`--learning-rate`), or put fewer updates between actors and learner (`--lag`). Long
gradients are no cause for alarm: they are those of a sum over 640 steps, with a
`gradient_norm` of 30 to 1,600 in Breakout.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
from gymnasium.spaces import Box, Discrete
from torch import nn

from labml_rl.a2c import experiment as a2c
from labml_rl.a2c import policy_loss, total_loss, value_loss
from labml_rl.batch import MakeEnv
from labml_rl.impala import vtrace
from labml_rl.impala.actors import Actors
from labml_rl.networks import entropy_of, log_probs_of
from labml_rl.ppo import divergence
from labml_rl.runs import State, require
from labml_rl.sampling import Samples
from labml_rl.speed import Precision, few_threads, means_of
from labml_rl.worker import available_cores


@dataclass(frozen=True, kw_only=True)
class Settings(a2c.Settings):
    r"""
    ## Settings

    Those of Espeholt et al. (2018) for Atari, from their table G.1. They had 200
    million frames, where a run of this book has ten unless you say otherwise. With 640
    steps to an update, ten million are only 3,907 updates, so expect little of them: in
    [Pong](../../results.md#pong-by-impala), it still loses by 20 points after that
    many.

    The two clips are $\bar{\rho}$ and $\bar{c}$ of [V-trace][labml_rl.impala.vtrace].
    The network is [that of A2C](../bodies.py). Their best scores are those of a deeper
    one. Their small one has two convolutions in a figure of the paper, and three in the
    text.

    Args:
        num_envs: how many games are played at once.
        steps: for how many steps each game is played before the network learns.
        workers: how many actors there are. None is one for every second core: the
            others learn meanwhile. With a GPU, or without a lag, it is one for each.
        learning_rate: of RMSProp, at the beginning. It goes down to 0 in a straight
            line.
        max_gradient_norm: longer gradients are cut to this length. It seems large. But
            the loss is a sum over all steps of a batch, for games 640. In the recorded
            run of Breakout nearly all are longer.
        players: has to be on. The actors have the network in any case.
        halves: has to be off. The actors have games of their own.
        graphs: has to be off. The actors play on the processor.
        rms_epsilon: what keeps RMSProp from dividing by zero. It is large: gradients
            that were cut to a length of 40 have, over 1.7 million weights, a mean
            square of 0.001. So for most weights the root is nearly the same, as [in
            A2C with a large epsilon][labml_rl.a2c.RMSProp], and steps are short.
        ratio_clip: a larger ratio counts as this one.
        trace_clip: the same, where it says how far back an error is felt.
        lag: by how many updates the actors [are behind][labml_rl.impala.actors.Actors].
    """

    num_envs: int = 32
    steps: int = 20
    learning_rate: float = 6e-4
    max_gradient_norm: float = 40.0
    rms_epsilon: float = 0.01
    ratio_clip: float = 1.0
    trace_clip: float = 1.0
    lag: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "ratio_clip", "trace_clip", above=0)
        require(self, "trace_clip", at_most=self.ratio_clip)
        require(self, "lag", at_least=0)
        if self.halves or self.graphs or not self.players:
            raise ValueError(
                "IMPALA's actors have the network and games of their own: leave "
                "--halves, --graphs and --no-players"
            )

    def decided(self) -> Self:
        """
        Returns:
            The same [with all decided][labml_rl.runs.experiment.Settings.decided] that
            depends on the machine.
        """
        decided = super().decided()
        on_processor = torch.device(decided.device).type == "cpu"
        if self.workers is None and self.lag > 0 and on_processor:
            decided = replace(decided, workers=max(available_cores() // 2, 1))
        return decided


class Experiment(a2c.Experiment):
    """
    ## The experiment

    It is that of [A2C][labml_rl.a2c.experiment.Experiment], with different players and
    a different update.

    Args:
        settings: see above.
    """

    algorithm = "impala"
    settings_class = Settings
    settings: Settings
    games: Actors

    def make_players(
        self,
        makers: Sequence[MakeEnv],
        names: Sequence[str],
        spaces: tuple[Box, Discrete],
    ) -> Actors:
        """
        ### Who plays

        Actors, and always on the processor. Where the learner is on a GPU, they have
        the precision that is fast on the processor, and throw PyTorch's own dice, since
        those of the run are on the GPU.

        Args:
            makers: a function for each game, which makes it.
            names: what to call each of them in an error.
            spaces: those of a game: of observations and of actions.

        Returns:
            The actors.
        """
        settings = self.settings
        on_processor = self.device.type == "cpu"
        if not on_processor:
            settings = replace(settings, device="cpu")
            if settings.precision != "float32":
                settings = replace(settings, precision="auto").decided()
        return Actors(
            makers,
            names,
            self.network,
            spaces,
            steps=settings.steps,
            settings=settings,
            lag=settings.lag,
            workers=settings.workers,
            generator=self.generator if on_processor else None,
        )

    def update(self) -> dict[str, float]:
        """
        ### Learn, while others play

        Returns:
            What is worth plotting.
        """
        learning_rate = self.anneal()
        samples = self.play()

        # The actors have gone on, on their own cores, and the other cores are for the
        # learner.
        busy = len(self.games.players.workers) if self.settings.lag else 0
        left = max(torch.get_num_threads() - busy, 1)
        with few_threads(self.settings, left):
            return self.learn(samples) | {"learning_rate": learning_rate}

    def learn(self, samples: Samples) -> dict[str, float]:
        r"""
        ### One step of the optimiser

        Args:
            samples: what the actors have seen.

        Returns:
            What is worth plotting. The `divergence` is how far the policy has moved
            since the actors had it.
        """
        settings = self.settings

        # What the network says now, including what it says of the observations after
        # the last step.
        observations = self.games.sheet.observations  # (T + 1, N, …)
        logits, values = self.evaluate(observations.flatten(0, 1))
        values = values.view(observations.shape[:2])  # (T + 1, N)
        logits = logits.view(*values.shape, -1)[:-1]  # (T, N, A)
        log_probs = log_probs_of(logits, samples.actions)  # (T, N)

        # Ratios are computed from logarithms: then a probability that is rounded to 0
        # can do no harm.
        log_ratios = log_probs.detach() - samples.log_probs  # (T, N)
        targets, advantages = vtrace(
            replace(samples.rollout, values=values.detach()),
            log_ratios,
            discount=settings.discount,
            ratio_clip=settings.ratio_clip,
            trace_clip=settings.trace_clip,
        )

        # $$-\log \pi(a_t \mid o_t) \, \hat{A}_t \qquad
        # \tfrac{1}{2} \big( V(o_t) - v_t \big)^2$$
        policy = policy_loss(log_probs, advantages)
        value = value_loss(values[:-1], targets)
        entropy = entropy_of(logits).mean()
        loss = total_loss(
            policy,
            value,
            entropy,
            value_coefficient=settings.value_coefficient,
            entropy_coefficient=settings.entropy_coefficient,
        )

        # The authors add up the losses of all steps, where A2C takes their mean.
        # RMSProp divides by how large gradients are, so that might seem to matter
        # little. But its mean of squares begins with 1, and [its
        # epsilon][labml_rl.impala.experiment.Settings] stays, however small they are.
        # So with the mean of the losses, steps would be a hundred times shorter.
        self.optimizer.zero_grad()
        (loss * targets.numel()).backward()
        parameters = self.network.parameters()
        norm = nn.utils.clip_grad_norm_(parameters, settings.max_gradient_norm)
        self.optimizer.step()

        #
        seen = {
            "loss": loss,
            "policy_loss": policy,
            "value_loss": value,
            "entropy": entropy,
            "divergence": divergence(log_probs, samples.log_probs),
            "gradient_norm": norm,
        }
        return means_of([seen])

    @property
    def growth(self) -> int:
        """
        Returns:
            By how many bytes the last checkpoint will be larger than the first: for
            each weight, RMSProp remembers one average, and the actors one number for
            each update that they are behind.
        """
        weights = sum(each.nbytes for each in self.network.parameters())
        return (1 + max(self.settings.lag, 1)) * weights

    def get_state(self) -> State:
        """
        ### Saved with the run

        Returns:
            The state, and [what is on its
            way][labml_rl.impala.actors.Actors.get_rollout].
        """
        return super().get_state() | {"rollout": self.games.get_rollout()}

    def set_state(self, state: State) -> Any:
        """
        Args:
            state: what [Experiment.get_state][] returned.

        Returns:
            The observations on which the agent has not acted yet.
        """
        observations = super().set_state(state)
        self.games.set_rollout(state["rollout"])
        return observations


@dataclass(frozen=True, kw_only=True)
class SmallSettings(Settings):
    """
    ## For the pole

    Eight games instead of 32, a larger learning rate, and no pay for being undecided.
    All other numbers are as for games. Messages to other processes would take longer
    than so small a network. So this process plays, and then learns, but what it learns
    from is one update old all the same.

    The learning rate was chosen from two, with the seeds 101 and 102.
    """

    game: str = "CartPole-v1"
    total_frames: int = 400_000
    num_envs: int = 8
    workers: int | None = 0
    device: str = "cpu"
    precision: Precision = "float32"
    learning_rate: float = 5e-3
    entropy_coefficient: float = 0.0


class SmallExperiment(Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "small-impala"
    settings_class = SmallSettings
