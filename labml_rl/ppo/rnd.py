r"""
---
title: PPO that is curious
summary: >-
  Random network distillation in the loop of PPO: two critics, two kinds of reward, and
  a novelty that does not end with an episode.
symbols:
  advantages: '\hat{A}_t'
---

# PPO that is curious

Here [the reward for what is new](novelty.py) meets [the loop of PPO](experiment.py).
The games, the objective and the optimiser stay what they are. In each step the agent
now earns two things, points and novelty, and these are kept apart to the end:

| | points | novelty |
|---|---|---|
| comes from | the game | the predictor's error at $o_{t+1}$ |
| is made one size by | taking the sign, in Atari | dividing by how far returns differ |
| discount $\gamma$ | 0.999 | 0.99 |
| ends with the episode | yes | no |
| critic | one | another |
| counts | twice | once |

The advantage of an action is the sum of both, $2\hat{A}_t + \hat{A}^n_t$, and the
policy learns from that. (The $n$ is for novelty.)

```sh
labml-rl train small-rnd
labml-rl train rnd --game MontezumaRevenge
```

The first finds [a treasure in the deep sea](../deep_sea.py), behind twenty right moves
in a row. It takes a few minutes, and is the one to try first. The second is that of
[Burda et al. (2019)](https://arxiv.org/abs/1810.12894). It has two *billion* frames,
for which two cores would need nine days at the speed of the first minute.

## What it has learned

![The mean score of the last hundred games of RND in the deep sea, over the frames
played, and that of PPO, which stays at 0: after half of the frames it rises at once,
and ends at 1](../../assets/figures/run-small-rnd-deepseav0-seed-11.svg)

*The deep sea, beside PPO that is not curious.*

Three seeds were tried, and all found the treasure. In the end they fetch it in every
episode, for 0.99 points, which is the maximum. With `--novelty-coefficient 0` the same
program did not find it in 20,000 episodes, and neither did PPO with the settings of the
pole. All that these two learned is that it costs less to go to the left. [All of these
runs are recorded](../../results.md#the-deep-sea-by-rnd).

The authors' agents scored 8,152 points in Montezuma's Revenge, with a network that
[remembers](remembering.py), and PPO without novelty scored 2,497. We have no machine
for so many frames, and no run of a game to show. In [a later
comparison](https://arxiv.org/abs/2109.11052), with Rainbow in place of PPO, agents with
such rewards were better in Montezuma's Revenge, and hardly anywhere else.

## Why does novelty not end with an episode?

Suppose it did. Then death would cost all the novelty that was still to come, and the
agent would be afraid of anything dangerous. But it loses little by dying: it goes on
exploring in the next episode. So the return of novelty runs on across the end of one
episode into the next, and death costs what it costs to find the way back.

The return of points must end with the episode. If it ran on, an agent could find points
that come early, die on purpose, and take them again.

This is why there are two critics. Their returns have different ends and different
discounts, so one number can't stand for both.
"""

from dataclasses import dataclass
from typing import Any

import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.environments import has_channels_last, is_atari
from labml_rl.networks import ActorCritic, in_full, orthogonal_
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import value_loss
from labml_rl.ppo.novelty import Moments, Novelty
from labml_rl.returns import Rollout, gae
from labml_rl.runs.checkpoint import State
from labml_rl.sampling import Samples
from labml_rl.speed import Precision, in_precision


@dataclass(frozen=True, kw_only=True)
class Settings(ppo.Settings):
    """
    ## Settings

    Those of Burda et al. (2019), from their appendix, except for two: their games are
    cut off after 18,000 frames, and begin without [no-ops][labml_rl.game.GameOptions].
    Where they say nothing, the settings are [those of
    PPO][labml_rl.ppo.experiment.Settings], and so not always those of [their
    program](https://github.com/openai/random-network-distillation). There the learning
    rate stays the same, no gradient is cut, advantages are left at their size, and the
    critics count twice as much. Adam's epsilon is 1e-8, and a minibatch is all steps of
    a quarter of the games. The policy has another network, and the leaky ReLUs have a
    slope of a fifth.

    Args:
        points_coefficient: how much the advantages of points count.
        novelty_coefficient: how much those of novelty count.
        novelty_discount: the discount factor of novelty.
        predictor_share: the part of each minibatch that the predictor learns from. The
            more games there are, the sooner it knows everything, and with 128 this
            keeps it from being too quick.
        total_frames: how long to learn, in frames of the emulator.
        num_envs: how many games are played at once.
        learning_rate: of Adam, at the beginning.
        discount: the discount factor of points. Where they are few, they should still
            count from afar.
        entropy_coefficient: of the entropy bonus. Curiosity makes the agent try things
            out, too.
        episodic_life: in Atari games, an episode ends with each life that is lost.
        sticky_actions: the probability that an Atari game ignores an action and repeats
            the one before. So no sequence of moves can be learned by heart.
        blocks: has to be off. [The body](../bodies.py) is not the only part that looks
            at observations.
    """

    points_coefficient: float = 2.0
    novelty_coefficient: float = 1.0
    novelty_discount: float = 0.99
    predictor_share: float = 0.25
    total_frames: int = 2_000_000_000
    num_envs: int = 128
    learning_rate: float = 1e-4
    discount: float = 0.999
    entropy_coefficient: float = 0.001
    episodic_life: bool = False
    sticky_actions: float = 0.25
    blocks: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.require(self, "points_coefficient", "novelty_coefficient", at_least=0)
        runs.require(self, "novelty_discount", at_least=0, at_most=1)
        runs.require(self, "predictor_share", above=0, at_most=1)
        if self.blocks:
            raise ValueError(
                "blocks is for networks of which only the body sees the pictures, and "
                "the predictor sees them, too: add --no-blocks"
            )


class CuriousActorCritic(ActorCritic):
    """
    ## Two critics

    [Policy and value][labml_rl.networks.ActorCritic], a second value for the novelty
    that is still to come, and [what finds out how new something is][Novelty].

    Args:
        shape: of one observation.
        num_actions: how many actions there are.
        channels_last: see [Novelty][], as for `newest`.
        newest: whether novelty is that of the last channel.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        num_actions: Any,
        *,
        channels_last: bool = False,
        newest: bool = False,
    ) -> None:
        super().__init__(shape, num_actions, channels_last=channels_last)
        self.novelty_value = nn.Linear(self.body.features, 1)
        orthogonal_(self.novelty_value, gain=1.0)
        self.novelty = Novelty(shape, channels_last=channels_last, newest=newest)

        # How far returns of novelty differ from each other.
        self.paid = Moments()

    def both(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            Logits, shape `(N, A)`, and values of points and of novelty, shapes `(N,)`.
        """
        features = self.body(observations)  # (N, F)
        logits = in_full(self.policy, features)  # (N, A)
        if self.value_body is not None:
            features = self.value_body(observations)  # (N, F)
        values = in_full(self.value, features).squeeze(-1)  # (N,)
        return logits, values, in_full(self.novelty_value, features).squeeze(-1)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """
        Whoever plays or watches need not know of any novelty.

        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            Logits, shape `(N, A)`, and values of points, shape `(N,)`.
        """
        logits, values, _ = self.both(observations)
        return logits, values


@dataclass(frozen=True)
class Batch(ppo.Batch):
    r"""
    ## A batch with novelty

    In [a batch of PPO][labml_rl.ppo.experiment.Batch], returns and values are those of
    points. Here the advantages are those of both kinds in one.

    Args:
        novelty_returns: $G^n$, shape `(B,)`.
        novelty_values: what the other critic says before it learns from this; the same.
            Without `overlap`, that is what it said when it played.
    """

    novelty_returns: Tensor
    novelty_values: Tensor


class Experiment(ppo.Experiment):
    """
    ## The experiment

    Args:
        settings: see above.
    """

    algorithm = "rnd"
    settings_class = Settings
    asks_for = ("both", "novelty", "paid")
    settings: Settings
    network: CuriousActorCritic

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.so_far = torch.zeros(settings.num_envs, device=self.device)
        self.found: dict[str, float] = {}

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> CuriousActorCritic:
        """
        For a network of your own, derive from [CuriousActorCritic][] and override this.

        Args:
            settings: of the algorithm.
            observation_space: that of one game.
            action_space: the same.

        Returns:
            Policy, values and novelty for these spaces.
        """
        return CuriousActorCritic(
            observation_space.shape,
            action_space.n,
            channels_last=has_channels_last(observation_space),
            newest=is_atari(settings.game),
        )

    def update(self) -> dict[str, float]:
        """
        Returns:
            What PPO measures, and the `novelty` that was paid in a step, on average.
        """
        return super().update() | self.found

    @torch.no_grad()
    def make_batch(self, samples: Samples) -> Batch:
        r"""
        ### What to learn from

        Args:
            samples: what was seen.

        Returns:
            The batch.
        """
        settings, network = self.settings, self.network
        batch = super().make_batch(samples)

        # What a step is paid for is where it led. After the last step that is an
        # observation that nobody has acted on yet, and after one that ended an episode
        # it is the beginning of the next. (The first rollout is scaled by its own mean
        # and variance. The authors get theirs beforehand, from random play.)
        observations = self.games.sheet.observations  # (T + 1, N, …)
        for each in observations[1:]:
            network.novelty.add(each)
        errors = torch.stack([network.novelty(each) for each in observations[1:]])
        rewards = self.sized(errors)  # (T, N)
        with in_precision(settings, self.device):
            values = torch.stack([network.both(each)[2] for each in observations])

        # Nothing ever ends.
        never = torch.zeros_like(rewards, dtype=torch.bool)
        novelty = Rollout(
            rewards=rewards, values=values.float(), terminated=never, truncated=never
        )
        advantages = gae(
            novelty,
            discount=settings.novelty_discount,
            gae_lambda=settings.gae_lambda,
        )
        old_values = novelty.values[:-1]  # (T, N)
        self.found = {"novelty": rewards.mean().item()}
        both = (
            settings.points_coefficient * batch.advantages
            + settings.novelty_coefficient * advantages.flatten()
        )
        return Batch(
            **(vars(batch) | {"advantages": both}),
            novelty_returns=(advantages + old_values).flatten(),
            novelty_values=old_values.flatten(),
        )

    def sized(self, errors: Tensor) -> Tensor:
        r"""
        ### Novelty of one size

        Errors have no unit. So each game adds up its own, with less weight on what is
        long past, and all errors are divided by the standard deviation of these sums:

        $$s_t = n_t + \gamma s_{t-1}$$

        With $\gamma = 0.5$, errors of 4, 2 and 1 make sums of 4, 4 and 3. Their
        standard deviation is 0.47, so 8.5, 4.2 and 2.1 are paid.

        This is a return that looks back instead of ahead, and varies as much. Its mean
        is not taken away: novelty is always worth something.

        Args:
            errors: $n_t$, shape `(T, N)`.

        Returns:
            What is paid, the same.
        """
        sums = torch.empty_like(errors)
        for t, each in enumerate(errors):
            self.so_far = each + self.settings.novelty_discount * self.so_far
            sums[t] = self.so_far
        self.network.paid.add(sums.flatten())
        return errors / self.network.paid.deviation

    def losses(self, batch: ppo.Batch) -> dict[str, Tensor]:
        """
        ### The loss

        That of PPO, and on top of it the errors of the other critic and of the
        predictor. The agent is paid with the very error that the predictor has to make
        smaller.

        Args:
            batch: the steps to learn from.

        Returns:
            The `loss`, and what else is worth drawing.
        """
        assert isinstance(batch, Batch)
        settings, network = self.settings, self.network
        with in_precision(settings, self.device):
            logits, values, novelty_values = network.both(batch.observations)
        seen = self.losses_of(batch, logits.float(), values.float())
        critic = value_loss(
            novelty_values.float(),
            batch.novelty_returns,
            old_values=batch.novelty_values,
            clip=settings.value_clip,
        )

        # A minibatch is in no order, so its first part is as good as any.
        share = max(int(settings.predictor_share * len(batch)), 1)
        error = network.novelty(batch.observations[:share]).mean()
        return seen | {
            "loss": seen["loss"] + settings.value_coefficient * critic + error,
            "novelty_value_loss": critic,
            "prediction_loss": error,
        }

    def get_state(self) -> State:
        """
        ### Saved with the run

        Returns:
            The state, and what each game has gathered. Everything else that is
            remembered of what was seen is in the network.
        """
        return super().get_state() | {"so_far": self.so_far}

    def set_state(self, state: State) -> Any:
        """
        Args:
            state: what [Experiment.get_state][] returned.

        Returns:
            The observations on which the agent has not acted yet.
        """
        observations = super().set_state(state)
        self.so_far = state["so_far"].to(self.device)
        return observations


@dataclass(frozen=True, kw_only=True)
class SmallSettings(Settings):
    """
    ## For the deep sea

    Settings for [a treasure](../deep_sea.py) that is found within a few minutes. The
    predictor learns from everything. Novelty counts for as long as an episode takes,
    20 steps or so. And the policy is paid more for being undecided than in games: with
    less, it was sure of its way before it had found one.

    Some twenty-five sets of settings were tried, each with some of the seeds 1 to 4.
    With most of them, one or two of the four never found the treasure. With this one
    all did, within a quarter of the run. The curves have other seeds, and those needed
    about half of it.
    """

    game: str = "labml_rl.deep_sea:DeepSea-v0"
    total_frames: int = 400_000
    num_envs: int = 64
    workers: int | None = 0
    device: str = "cpu"
    precision: Precision = "float32"
    steps: int = 32
    learning_rate: float = 1e-3
    clip: float = 0.2
    discount: float = 0.99
    novelty_discount: float = 0.95
    entropy_coefficient: float = 0.03
    predictor_share: float = 1.0
    sticky_actions: float = 0.0


class SmallExperiment(Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "small-rnd"
    settings_class = SmallSettings
