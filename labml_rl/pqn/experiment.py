r"""
---
title: PQN, the experiment
summary: The loop of PQN with the settings of Gallici et al., and how to run it.
symbols:
  returns: 'G_t'
  values: 'Q(o_t, a_t)'
---

# PQN, the experiment

Here the parts come together: [games and sampler](../onpolicy.py), and [network and
targets](__init__.py). (There is also [all of it on one page](plain.py).)

```sh
labml-rl train pqn --game SpaceInvaders
labml-rl train small-pqn
```

The first takes an hour or two on two cores. The second [balances a pole](../small.py),
takes a minute or so, and is the one to try first.

## The whole of it

```text
until all frames are played:
    play 32 steps in each of 128 games,
        at random with probability epsilon
    compute the targets
    2 times:
        shuffle the 4,096 steps
        for each of 32 minibatches of 128:
            one step of RAdam on the loss
```

Put it beside [the loop of PPO](../ppo/experiment.py). What is missing is all that a
policy needs: how likely actions were, ratios, a clip, a bonus for being undecided. In
its place there is one number, $\varepsilon$.

## What it has learned

![The mean score of the last hundred games of PQN in Space Invaders, over the frames
played, and those of three runs of A2C, which are ahead at first and then below it: it
ends at 632](../../assets/figures/run-pqn-spaceinvaders-seed-1.svg)

*Space Invaders, ten million frames in 41 minutes on one core, beside three runs of
[A2C](../a2c/experiment.py) with as many. (One of them had [an epsilon that is too
large][labml_rl.a2c.RMSProp].)*

Epsilon goes down over the first million frames, and until then A2C is ahead. From two
million on, PQN is ahead. In whole games its agent scores 742 points, those of A2C 501
and 598 (and 251 with the large epsilon), and those of [PPO](../ppo/experiment.py) with
as many frames 478 and 509. It is one game, and one seed of PQN.

![The mean score of the last hundred games of PQN in Pong, over the frames played: it
stays near −20 for five million frames, when those of two runs of A2C have begun to
rise, crosses both by the end, and ends at
17](../../assets/figures/run-pqn-pong-seed-1.svg)

*Pong, with the same settings, and A2C with two seeds (the thin curves).*

Pong takes patience. After 3.9 million frames this agent still lost nearly every point,
where two runs of [DQN](../dqn/fast.py) had reached −15 and −14, and the run was taken
for a failure and stopped. Lengthened, it made up for that in a little more than three
million frames, and after 8.7 million it scores 18.8 in whole games. With another seed
it took a million frames longer.

![The mean score of the last hundred games of PQN in Breakout, over the frames played,
and those of three runs of PPO, which are below it from three million on: it ends at
160](../../assets/figures/run-pqn-breakout-seed-1.svg)

*Breakout, again with the same settings, and PPO with three seeds.*

In Breakout it learns from the first million frames on. After ten million it has 160
points, and 239 with another seed. At that point three runs of PPO have 64 to 106, and
one of A2C has 192. That says less than it seems to: those four were planned for forty
million frames, and their learning rates go down slowly. With [forty million frames of
its own](../../results.md#breakout-by-pqn-in-40-million-frames), an agent of PQN scores
450 points in whole games, and the three of PPO 412 to 441. In [Ms.
Pac-Man](../../results.md#ms-pac-man-by-pqn), where PPO hardly learns in ten million
frames, PQN has 1,835 points after as many, and PPO 751. In [five
games](../../results.md#five-games-by-ppo-pqn-and-a2c) with four million frames each,
PQN is ahead in two, and PPO in two others.

![The mean score of the last hundred games of PQN in CartPole, over the frames played:
it ends at 500](../../assets/figures/run-small-pqn-cartpolev1-seed-11.svg)

*CartPole, where no game lasts longer than 500 steps, and each step is a point. The
settings are [small ones][labml_rl.small.PQNSettings].*

Each run, with its command, is on the [page of results](../../results.md).

## What to watch

| curve | in Space Invaders | when something is wrong |
|---|---|---|
| `action_value` | like the returns: 2 to 4 | grows, the score does not |
| `td_error` | about 0.2, then 0.1 | many times as large, and growing |
| `gradient_norm` | 1 to 2, then below 1 | at its limit of 10 all the time |
| `epsilon` | goes down in a straight line | high: then no score can be good |
"""

from dataclasses import dataclass
from typing import Any

import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.a2c import value_loss
from labml_rl.dqn import taken
from labml_rl.dqn.exploring import Linear
from labml_rl.environments import frames_per_step, has_channels_last
from labml_rl.graphs import Recorded, check_rates, copied
from labml_rl.onpolicy import RolloutExperiment, RolloutSettings, check_cut
from labml_rl.pqn import PQNetwork, epsilon_greedy, lambda_returns
from labml_rl.sampling import blank
from labml_rl.speed import check_action_values, in_precision, means_of, preparer


@dataclass(frozen=True, kw_only=True)
class Settings(RolloutSettings):
    """
    ## Settings

    Those of the authors' [program](https://github.com/mttga/purejaxql) for Atari,
    except for three things: the length, how [the weights
    begin][labml_rl.pqn.PQNetwork], which is orthogonal here, and drawn from a normal
    distribution there, and what the norms add to a variance before they divide by its
    root: 0.00001, as PyTorch does, where Flax adds 0.000001. Theirs plays 40 million
    frames, and lets epsilon go down over a tenth of them. Here it is a tenth of 10
    million. For a run like theirs, give
    `--total-frames 40_000_000 --epsilon-steps 1_000_000`.

    Args:
        num_envs: how many games are played at once.
        steps: for how many steps each game is played before the network learns. All
            games together then make the batch: for games, of 128 · 32 = 4,096 steps.
        epochs: how often it learns from each batch.
        minibatches: into how many parts the batch is cut, each for one step of the
            optimiser.
        learning_rate: of RAdam, from beginning to end.
        max_gradient_norm: longer gradients are cut to this length. In Pong and Space
            Invaders hardly any are, in Ms. Pac-Man many, and on the pole most, until it
            stands.
        td_lambda: how far the targets trust what was seen over what was expected.
        epsilon_start: how likely it is to act at random, at the beginning.
        epsilon_end: the same at the end.
        epsilon_steps: how many steps it takes to get there: for games, a tenth of the
            steps of a run of 10 million frames.
    """

    num_envs: int = 128
    steps: int = 32
    epochs: int = 2
    minibatches: int = 32
    learning_rate: float = 2.5e-4
    max_gradient_norm: float = 10.0
    td_lambda: float = 0.65
    epsilon_start: float = 1.0
    epsilon_end: float = 0.001
    epsilon_steps: int = 250_000

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.require(self, "epochs", "epsilon_steps", at_least=1)
        fractions = ("td_lambda", "epsilon_start", "epsilon_end")
        runs.require(self, *fractions, at_least=0, at_most=1)
        check_cut(self, self.minibatches)


class Experiment(RolloutExperiment[Settings]):
    """
    ## The experiment

    What is not here is [common to all that learn from their latest
    play](../onpolicy.py).

    When the agent is measured, it acts at random once in a thousand steps, as at the
    end of its training in games. (The test games of the authors have no such steps.)

    Args:
        settings: see above.
    """

    algorithm = "pqn"
    settings_class = Settings
    evaluation_epsilon = 0.001
    asks_for = ("action_values", "epsilon")
    network: PQNetwork

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> PQNetwork:
        """
        ### A network of your own

        Override this. PQN asks its network for `action_values(observations)`, sets its
        buffer `epsilon`, and plays by the logits and values that it gives when it is
        called. The short way is to derive from [PQNetwork][labml_rl.pqn.PQNetwork], and
        put another body into it. What the [page of
        policies][labml_rl.onpolicy.PolicyExperiment.make_network] says holds here, too.

        Args:
            settings: of the algorithm.
            observation_space: that of one game.
            action_space: the same.

        Returns:
            Action values for these spaces, and a policy that is made of them.
        """
        return PQNetwork(
            observation_space.shape,
            int(action_space.n),
            channels_last=has_channels_last(observation_space),
        )

    @staticmethod
    def think(network: PQNetwork, observations: Tensor) -> runs.Thoughts:
        """
        Returns:
            The action values; the largest is the value, and that action is taken.
        """
        action_values = network.action_values(observations)
        takes = epsilon_greedy(action_values, 0.0)
        return runs.Thoughts(takes, action_values.max(-1).values, action_values)

    def check_network(self) -> None:
        """
        Raises:
            ValueError: if the network lacks something, or its action values [can't be
                told apart][labml_rl.speed.check_action_values].
        """
        super().check_network()
        prepare = preparer(self.network, self.settings)
        shown = blank(self.observation_space, self.settings.num_envs, prepare)
        check_action_values(
            self.network,
            shown.to(self.device),
            self.num_actions,
            self.settings,
            ask=lambda network, observations: network.action_values(observations),
        )

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Adam divides each gradient by the size that it usually has. After a few batches
        it can't know that size yet, but its steps are full-sized already. RAdam ([Liu
        et al., 2020](https://arxiv.org/abs/1908.03265)) goes by how many batches there
        have been. The first five steps are not divided at all, the sixth is a fortieth
        of Adam's, and then they grow.

        Returns:
            RAdam.
        """
        # All weights at once: a call for each layer would take longer.
        return torch.optim.RAdam(
            self.network.parameters(),
            lr=self.settings.learning_rate,
            foreach=True,
            capturable=self.settings.graphs,
        )

    @property
    def epsilon(self) -> float:
        """
        How much it explores: less and less, in a straight line. It stays the same for a
        whole rollout.
        """
        settings = self.settings
        schedule = Linear(
            settings.epsilon_start, settings.epsilon_end, settings.epsilon_steps
        )
        return schedule(self.frames // frames_per_step(settings.game))

    def update(self) -> dict[str, float]:
        """
        ### Play, then learn

        All games are played for another $T$ steps, and the optimiser goes through these
        steps twice, a minibatch at a time.

        Returns:
            The means over all minibatches.
        """
        settings = self.settings
        epsilon = self.epsilon
        self.network.epsilon.fill_(epsilon)
        samples = self.play()

        # What the network said while it played is kept for the whole update, so the
        # targets do stand still: for 64 steps of the optimiser, where those of DQN do
        # for 2,500.
        returns = lambda_returns(
            samples.rollout,
            discount=settings.discount,
            td_lambda=settings.td_lambda,
        )  # (T, N)

        # From here on it no longer matters which step came after which.
        batch = Batch(
            samples.observations.flatten(0, 1),
            samples.actions.flatten(),
            returns.flatten(),
        )
        if isinstance(self.how, Recorded):
            check_rates(self.optimizer, constant=settings.learning_rate)
        learned: list[dict[str, Tensor]] = []
        for _ in range(settings.epochs):
            steps = returns.numel()
            order = torch.randperm(steps, generator=self.generator, device=self.device)
            for rows in order.chunk(settings.minibatches):
                picked = (each.index_select(0, rows) for each in vars(batch).values())
                learned.append(copied(self.how(self.learn, Batch(*picked))))
        return means_of(learned) | {"epsilon": epsilon}

    def learn(self, batch: "Batch") -> dict[str, Tensor]:
        r"""
        ### One step of the optimiser

        The loss is that [of a critic][labml_rl.a2c.value_loss] that answers for one
        action:

        $$L = \tfrac{1}{2} \operatorname{mean} \big( (Q(o_t, a_t) - G_t)^2 \big)$$

        Args:
            batch: the steps to learn from.

        Returns:
            What is worth plotting, by name.
        """
        with in_precision(self.settings, self.device):
            action_values = self.network.action_values(batch.observations)  # (B, A)
        values = taken(action_values, batch.actions)  # (B,)
        loss = value_loss(values, batch.returns)

        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(
            self.network.parameters(), self.settings.max_gradient_norm
        )
        self.optimizer.step()

        #
        values = values.detach()
        return {
            "loss": loss.detach(),
            "td_error": (batch.returns - values).abs().mean(),
            "action_value": values.mean(),
            "gradient_norm": norm,
        }


@dataclass(frozen=True)
class Batch:
    r"""
    ## A batch

    Args:
        observations: $o_t$, shape `(B, …)`.
        actions: $a_t$, shape `(B,)`.
        returns: $G_t$, the same.
    """

    observations: Tensor
    actions: Tensor
    returns: Tensor
