r"""
---
title: DQN, the experiment
summary: The loop of DQN with the settings of Nature, and a switch for each improvement.
symbols:
  targets: 'y_t'
---

# DQN, the experiment

Here the parts come together: games, [network](../networks.py),
[memory](../replay/__init__.py), [exploring](exploring.py), and [the loss of
DQN](__init__.py).

```sh
labml-rl train dqn --game Breakout
labml-rl train fast-dqn --game Pong
labml-rl train small-dqn
```

The first has the [settings of *Nature*](settings.py), and takes days. [The fast
settings](fast.py) take an hour or more, and their page shows [what was
learned](fast.py#what-it-has-learned). [Two rods on a hook][labml_rl.small.DQNSettings]
take a minute.

## The whole of it

```text
play 50,000 steps at random, and keep them
until all frames are played:
    play 4 steps, at random with probability epsilon
    put them into the memory
    draw 32 steps from the memory
    make their targets with the target network
    one step of the optimiser on the loss
    every 10,000 steps:
        copy the network to the target network
```

## What to watch

The curves of DQN mislead more than [those of PPO][labml_rl.ppo.divergence]. What they
look like with [fifteen mistakes](mistakes.py) is on a page of its own. This is roughly
what they were in the [recorded runs](../../results.md) of [fast DQN](fast.py):

| curve | mean, over a batch, of | Pong | Ms. Pac-Man |
|---|---|---|---|
| `action_value` | the value of the action | −1.8 to 0.9 | 0 to 9 |
| `td_error` | how far it is from its target | 0.05 to 0.12 | 0.2 to 0.8 |

While `epsilon` is high, no score can be good.

### When the loss goes up

The loss of DQN may well be *increasing* while the agent learns: there is more to
predict. But if `td_error` is many times as large as in the table, or far smaller,
something is wrong. And a loss that decreases is no proof that the agent [plays any
better](mistakes.py).

### When Q-values explode, or are all the same

Action values should be like the returns. If they grow and the score does not, something
is wrong. With rewards of −1, 0 and 1 and $\gamma = 0.99$, no return is beyond
$\pm 100$, which is $1 / (1 - \gamma)$. Larger action values are certainly wrong: they
feed on themselves.

On most screens the values of all actions are nearly the same, and that is no mistake. A
wrong move can often be taken back. If it only loses two steps, and what follows is
worth 5, its value is lower by $5 \cdot (1 - 0.99^2)$, which is not quite 0.1.

### When the score falls

Since the values are so close, a little learning can change which is the largest.
[Schaul et al. (2022)](https://arxiv.org/abs/2206.00730) measured it in games: a handful
of batches change the best action on a large part of all screens. A reward that suddenly
drops, and comes back, is normal, and the last network need not be a good one. A run can
[keep the best](../watch/best.py).

## What came later

Each improvement that came after DQN is a switch, and the next pages explain them:

```sh
labml-rl train dqn --game Breakout --double \
    --dueling --max-gradient-norm 10 --n 3 \
    --prioritised --learning-rate 6.25e-5
```

This cuts gradients as [one of the papers](dueling.py) does, and has the learning rate
of [another](../replay/prioritised.py).
"""

from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.batch import Games
from labml_rl.bodies import FirstConvolution, NatureBody, VectorBody
from labml_rl.dqn import following_values, taken, td_loss
from labml_rl.dqn.distribution import (
    DistributionNetwork,
    distribution_loss,
    expectation,
    following_probs,
    make_atoms,
    project,
)
from labml_rl.dqn.dueling import DuelingNetwork
from labml_rl.dqn.exploring import Linear, explore
from labml_rl.dqn.noisy import NoisyLinear, add_noise
from labml_rl.dqn.quantiles import QuantileNetwork, quantile_loss, quantile_targets
from labml_rl.dqn.rmsprop import CentredRMSProp
from labml_rl.dqn.settings import Settings
from labml_rl.environments import (
    final_observations,
    frames_per_step,
    has_channels_last,
    is_atari,
    scores_of,
)
from labml_rl.networks import QNetwork
from labml_rl.replay import Batch, ReplayMemory
from labml_rl.replay.prioritised import PrioritisedMemory
from labml_rl.runs.checkpoint import load_weights
from labml_rl.sampling import check_spaces
from labml_rl.speed import (
    SpeedExperiment,
    check_action_values,
    few_threads,
    in_precision,
    make_adam,
    means_of,
    numbers_of,
    precision_of,
    preparer,
)


class Experiment(SpeedExperiment[Settings]):
    """
    ## The experiment

    When the agent is measured, one action in twenty is random, as in *Nature*.

    Args:
        settings: [those of Nature](settings.py), or others with the same names.
    """

    algorithm = "dqn"
    settings_class = Settings
    evaluation_epsilon = 0.05
    games: Games
    observation_space: Box

    # What [losses][Experiment.losses] measures.
    measured: ClassVar[tuple[str, ...]] = ("loss", "td_error", "action_value")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        # If there is no room for the memory, nothing else would close the games.
        with ExitStack() as stack:
            games = self.games = stack.enter_context(self.make_games(copy=False))
            spaces = check_spaces(
                games.single_observation_space, games.single_action_space
            )
            self.observation_space, self.num_actions = spaces[0], int(spaces[1].n)
            self.network = self.make_network(settings, *spaces).to(self.device)
            check_switches(self.network, settings)
            self.prepare = preparer(self.network, settings)
            self.target = self.make_target()
            self.optimizer = self.make_optimizer()
            self.memory = self.make_memory()
            self.observations, _ = self.games.reset()
            self.memory.begin(self.observations)
            check_action_values(
                self.network, self.shown(), self.num_actions, self.settings
            )
            stack.pop_all()

    @staticmethod
    def needs_plan(settings: Settings) -> str | None:
        """
        A run can be [made longer][labml_rl.runs.loop.resume] if nothing in it was
        planned from its length.

        Returns:
            What keeps a run from being made longer, if anything does.
        """
        if settings.prioritised:
            return "the weights of prioritised replay are exact at the planned end"
        return None

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> nn.Module:
        """
        ### A network of your own

        Override this, and DQN learns with any network that gives action values, shape
        `(B, A)`, for a batch of observations. What the [page of
        policies][labml_rl.onpolicy.PolicyExperiment.make_network] says of one holds
        here, too, and a head that answers with 16 bits is
        [refused][labml_rl.speed.check_action_values].

        Args:
            settings: of the algorithm.
            observation_space: that of one game.
            action_space: the same.

        Returns:
            Action values for these spaces.
        """
        make = DuelingNetwork if settings.dueling else QNetwork
        network: nn.Module = make(
            observation_space.shape,
            action_space.n,
            channels_last=has_channels_last(observation_space),
            atoms=settings.atoms if settings.distributional else settings.quantiles,
        )
        if settings.quantiles:
            network = QuantileNetwork(network)
        if settings.distributional:
            atoms = make_atoms(
                settings.lowest_return, settings.highest_return, settings.atoms
            )
            network = DistributionNetwork(network, atoms)
        if settings.noisy:
            add_noise(network, settings.noise)
        return network

    @staticmethod
    def think(network: nn.Module, observations: Tensor) -> runs.Thoughts:
        """
        Returns:
            The action values; the largest is the value, and that action is taken. If
            there are distributions, that of this action, too.
        """
        chances = atoms = None
        if isinstance(network, DistributionNetwork):
            atoms = network.atoms
            probs = network.log_probs(observations).exp()  # (N, A, K)
            action_values = expectation(probs, atoms)  # (N, A)
            chances = following_probs(probs, action_values)  # (N, K)
        else:
            action_values = network(observations)
        best = action_values.max(-1)
        takes = nn.functional.one_hot(best.indices, action_values.shape[-1])
        return runs.Thoughts(takes.float(), best.values, action_values, chances, atoms)

    def make_target(self) -> nn.Module:
        """
        ### The target network

        Its weights stand still for thousands of steps. With [16
        bits][labml_rl.speed.precision_of] those of its body are rounded once, when they
        are copied, instead of once for each batch. The numbers are the same.

        If [sync][Experiment.sync] is your own, nothing is rounded. It may move the
        target by a fraction of the way, and with 16 bits such small steps would be
        rounded away: the target would stay where it is for ever.

        Returns:
            A copy of the network, which does not learn.
        """
        target = deepcopy(self.network).requires_grad_(False)
        body = getattr(target, "body", None)
        if type(self).sync is not Experiment.sync:
            return target
        if body is None or type(body) not in (NatureBody, VectorBody):
            return target  # one of your own may have layers that compute in full
        for layer in body.modules():
            # The first layer divides its weights, and rounds them after that.
            rounds = isinstance(layer, nn.Conv2d | nn.Linear)
            if rounds and not isinstance(layer, FirstConvolution):
                layer.to(precision_of(self.settings, self.device))
        return target

    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Returns:
            The one that the settings ask for.
        """
        settings = self.settings
        parameters = self.network.parameters()
        if settings.optimizer_name == "adam":
            return make_adam(
                parameters, lr=settings.learning_rate, eps=settings.adam_epsilon
            )
        return CentredRMSProp(
            parameters,
            lr=settings.learning_rate,
            decay=settings.rms_decay,
            epsilon=settings.rms_epsilon,
        )

    def make_memory(self) -> ReplayMemory:
        """
        Returns:
            An empty memory, with its own dice.

        Raises:
            ValueError: if the settings ask for a stack that the game does not have, or
                for more than the machine has room for.
        """
        settings, space = self.settings, self.observation_space
        known = space.shape[0] if is_atari(settings.game) else 1
        stack = known if settings.stack is None else settings.stack
        # With a stack of 2, each step would keep two of the four pictures, and the next
        # step would keep one of these again.
        if is_atari(settings.game) and stack not in (1, known):
            raise ValueError(
                f"stack must be {known} for an Atari game, or 1 to keep whole stacks, "
                f"not {stack}"
            )
        options: dict[str, Any] = {
            "capacity": settings.capacity,
            "stack": stack,
            "n": settings.n,
            "discount": settings.discount,
            "blocks": self.keeps_blocks,
            "seed": np.random.SeedSequence(settings.seed).spawn(3)[2],
        }
        if not settings.prioritised:
            return ReplayMemory(space, settings.num_envs, **options)
        exponent = settings.priority_exponent
        return PrioritisedMemory(space, settings.num_envs, exponent=exponent, **options)

    @property
    def keeps_blocks(self) -> bool:
        """
        Whether the memory keeps [sorted pixels][labml_rl.speed.preparer]. It knows only
        the order of [the book's body][labml_rl.bodies.NatureBody.prepared]. If a body
        likes another, each batch is sorted when it is drawn.
        """
        return getattr(self.prepare, "__func__", None) is NatureBody.prepared

    @property
    def steps(self) -> int:
        """How many steps of the agent have been played, in all games together."""
        return self.frames // frames_per_step(self.settings.game)

    @property
    def epsilon(self) -> float:
        """
        ### How much it explores

        In the warm-up, before anything is learned, it only explores, and then less and
        less.
        """
        settings = self.settings
        if self.steps < settings.warm_up_steps:
            return 1.0
        schedule = Linear(
            settings.epsilon_start, settings.epsilon_end, settings.epsilon_steps
        )
        return schedule(self.steps - settings.warm_up_steps)

    @property
    def importance(self) -> float:
        r"""
        ### How exact the weights are

        Returns:
            $\beta$ of [prioritised replay](../replay/prioritised.py), which is 1 at the
            end of the run.
        """
        settings = self.settings
        steps = settings.total_frames // frames_per_step(settings.game)
        return Linear(settings.importance_start, 1.0, steps)(self.steps)

    def update(self) -> dict[str, float | None]:
        """
        ### Play, learn, and again

        One turn with the settings of *Nature* is four steps and one batch. An update is
        as many turns as the settings say: after each update the run writes down how it
        is going, and doing so after every batch would take too long.

        Returns:
            The means over all batches. In the warm-up there are none, and their losses
            are `None`.

        Raises:
            ValueError: if [losses][Experiment.losses] gives other names than those in
                `measured`.
            NotFiniteError: see [learn][Experiment.learn].
        """
        settings = self.settings
        every, games = settings.learn_every_steps, settings.num_envs
        sync_every = settings.sync_every_steps

        # All games take a step at once. With 16 of them and a batch for every 64 steps,
        # a turn is four steps of each and one batch. With a batch for every 4, it is
        # one step of each and four batches.
        plays, batches = max(every // games, 1), max(games // every, 1)
        learned: list[dict[str, Tensor]] = []
        for _ in range(settings.turns):
            before = self.steps
            self.play(plays)

            # When learning begins, the target network is what the network is. It has
            # been so from the start, unless the network was given [the weights of
            # another run][labml_rl.runs.loop.lengthen].
            if before < settings.warm_up_steps <= self.steps:
                self.target.load_state_dict(self.network.state_dict())
            if self.steps >= settings.warm_up_steps:
                learned += [self.learn() for _ in range(batches)]
            if self.steps // sync_every > before // sync_every:
                self.sync()
            if self.done:
                break
        metrics: dict[str, float | None] = dict.fromkeys(self.measured)
        if learned:
            found = means_of(learned)
            if strange := found.keys() ^ metrics.keys():
                raise ValueError(
                    "losses() must give what is named in measured, and nothing else; "
                    f"only one of the two has {', '.join(sorted(strange))}"
                )
            metrics |= found
        return metrics | {"epsilon": self.epsilon, "remembered": len(self.memory)}

    @torch.no_grad()
    def play(self, plays: int) -> None:
        """
        ### Play

        All games take a step at once, and [the memory][labml_rl.replay.rings.Rings.add]
        gets all that came of it.

        Args:
            plays: how many steps of each game.
        """
        settings = self.settings
        shape = (settings.num_envs, self.num_actions)
        with few_threads(settings), in_precision(settings, self.device):
            for _ in range(plays):
                chosen = explore(self.answer, shape, self.epsilon, self.generator)
                actions = chosen.cpu().numpy()  # (N,)

                after, rewards, terminated, truncated, infos = self.games.step(actions)
                ends = terminated | truncated
                final = final_observations(infos, ends) if ends.any() else None
                self.memory.add(
                    actions,
                    rewards,
                    terminated,
                    truncated,
                    after,
                    final_observations=final,
                )
                self.observations = after
                self.frames += settings.num_envs * frames_per_step(settings.game)
                if infos:
                    self.scores += scores_of(infos)

    def answer(self) -> Tensor:
        """
        Returns:
            What the network says of all actions, in all games, shape `(N, A)`.
        """
        return self.network(self.shown())

    def shown(self) -> Tensor:
        """
        Returns:
            What the games show now, as the network likes it, shape `(N, …)`.
        """
        seen = torch.from_numpy(self.observations).to(self.device)
        return seen if self.prepare is None else self.prepare(seen)

    def losses(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        r"""
        ### The loss

        An algorithm with another loss, or with something to add to this one, overrides
        this.

        Args:
            batch: the steps to learn from.

        Returns:
            The errors $\delta_t$, shape `(B,)`, for a memory with priorities. Then the
            `loss`, whose gradient is taken, and what else is worth plotting: all that
            is named in `measured`.
        """
        if self.settings.distributional:
            return self.distribution_losses(batch)
        if self.settings.quantiles:
            return self.quantile_losses(batch)

        # When a weight is first needed in 16 bits, PyTorch makes a copy of it and keeps
        # that. In older versions, [a copy made without a gradient never gets
        # one](https://github.com/pytorch/pytorch/issues/112583). So the call that needs
        # a gradient comes first.
        with in_precision(self.settings, self.device):
            action_values = self.network(batch.observations)  # (B, A)
            targets = self.targets(batch)  # (B,)
        values = taken(action_values, batch.actions)
        loss, errors = td_loss(values, targets, batch.weights)
        return errors, {
            "loss": loss,
            "td_error": errors.abs().mean(),
            "action_value": values.mean(),
        }

    @torch.no_grad()
    def targets(self, batch: Batch) -> Tensor:
        r"""
        ### The targets

        The rewards, and what the target network says of what follows them.

        Args:
            batch: the same.

        Returns:
            $y_t$, shape `(B,)`.
        """
        target_values = self.target(batch.next_observations)  # (B, A)
        online_values = None
        if self.settings.double:
            online_values = self.network(batch.next_observations)  # (B, A)

        # $$y_t = R_t^{(n)} + \gamma^n \bar{V}_{t+n}$$
        following = following_values(target_values, online_values)
        return batch.returns + batch.discounts * following

    def distribution_losses(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """
        ### The loss of a distribution

        If the network learns [how likely each return is](distribution.py), this takes
        the place of the loss and the targets above. (If you override one of these,
        override this, too, or leave the switch alone.) The same is measured, with the
        means of the distributions.

        Args:
            batch: the steps to learn from.

        Returns:
            As [above][Experiment.losses]. A memory with priorities is told the
            divergences.
        """
        network, target = self.network, self.target
        assert isinstance(network, DistributionNetwork)
        assert isinstance(target, DistributionNetwork)
        with in_precision(self.settings, self.device):
            log_probs = network.log_probs(batch.observations)  # (B, A, K)
            with torch.no_grad():
                following = target.log_probs(batch.next_observations).exp()
                if self.settings.double:
                    means = network(batch.next_observations)  # (B, A)
                else:
                    means = expectation(following, target.atoms)  # (B, A)
        best = following_probs(following, means)  # (B, K)
        target_probs = project(best, network.atoms, batch.returns, batch.discounts)

        log_probs = taken(log_probs, batch.actions)  # (B, K)
        loss, divergences = distribution_loss(log_probs, target_probs, batch.weights)
        values = expectation(log_probs.detach().exp(), network.atoms)  # (B,)
        errors = expectation(target_probs, network.atoms) - values
        return divergences, {
            "loss": loss,
            "td_error": errors.abs().mean(),
            "action_value": values.mean(),
        }

    def quantile_losses(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """
        ### The loss of quantiles

        The same again, for a network that learns [where the returns
        are](quantiles.py).

        Args:
            batch: the steps to learn from.

        Returns:
            As [above][Experiment.losses]. A memory with priorities is told how far the
            atoms are from their targets.
        """
        network, target = self.network, self.target
        assert isinstance(network, QuantileNetwork)
        assert isinstance(target, QuantileNetwork)
        with in_precision(self.settings, self.device):
            quantiles = network.quantiles(batch.observations)  # (B, A, K)
            with torch.no_grad():
                following = target.quantiles(batch.next_observations)  # (B, A, K)
                if self.settings.double:
                    means = network(batch.next_observations)  # (B, A)
                else:
                    means = following.mean(-1)  # (B, A)
        best = taken(following, means.argmax(-1))  # (B, K)
        targets = quantile_targets(best, batch.returns, batch.discounts)

        quantiles = taken(quantiles, batch.actions)  # (B, K)
        loss, surprises = quantile_loss(quantiles, targets, batch.weights)
        values = quantiles.detach().mean(-1)  # (B,)
        errors = targets.mean(-1) - values
        return surprises, {
            "loss": loss,
            "td_error": errors.abs().mean(),
            "action_value": values.mean(),
        }

    def learn(self) -> dict[str, Tensor]:
        """
        ### Learn from a batch

        A memory with priorities is told afterwards how wrong the network was.

        Returns:
            What is worth plotting, by name.

        Raises:
            NotFiniteError: if the memory would be told of an error that is not finite.
        """
        settings = self.settings
        if isinstance(self.memory, PrioritisedMemory):
            self.memory.importance = self.importance
        batch = self.memory.sample(settings.batch_size).to(self.device)
        if self.prepare is not None and not self.keeps_blocks:
            batch = replace(
                batch,
                observations=self.prepare(batch.observations),
                next_observations=self.prepare(batch.next_observations),
            )
        errors, seen = self.losses(batch)

        self.optimizer.zero_grad()
        seen["loss"].backward()
        if settings.max_gradient_norm is not None:
            parameters = self.network.parameters()
            nn.utils.clip_grad_norm_(parameters, settings.max_gradient_norm)
        self.optimizer.step()
        if isinstance(self.memory, PrioritisedMemory):
            errors = errors.cpu()
            if not errors.isfinite().all():
                raise runs.NotFiniteError(
                    f"a priority is not finite after {self.frames:,} frames, in update "
                    f"{self.updates + 1:,}"
                )
            self.memory.update(batch.places, errors)
        return numbers_of(seen, self.device)

    def sync(self) -> None:
        """
        ### The target network moves on

        It becomes what the network has become.
        """
        self.target.load_state_dict(self.network.state_dict())

    @property
    def growth(self) -> int:
        """
        How many bytes larger the last checkpoint will be than the first: the memory
        will be full at the end, unless the run is too short for that.
        """
        settings = self.settings
        steps = settings.total_frames // frames_per_step(settings.game)
        full = min(steps / self.memory.size, 1.0)
        return super().growth + int(full * self.memory.nbytes)

    def get_state(self) -> runs.State:
        """
        Returns:
            All that decides what happens next, the memory included.
        """
        return super().get_state() | {
            "target": self.target.state_dict(),
            "replay": self.memory.get_state(),
        }

    def set_state(self, state: runs.State) -> Any:
        """Go on from a [checkpoint](../runs/checkpoint.py)."""
        self.memory.set_state(state["replay"])
        load_weights(self.target, state["target"])
        self.observations = super().set_state(state)
        return self.observations


def check_switches(network: nn.Module, settings: Settings) -> None:
    """
    ## Switches that the network must have

    [A network of your own][Experiment.make_network] may know nothing of them.

    Args:
        network: what [Experiment.make_network][] has made.
        settings: what is wanted.

    Raises:
        ValueError: if something is switched on that this network does not have.
    """
    kinds = {"distributional": DistributionNetwork, "quantiles": QuantileNetwork}
    for name, kind in kinds.items():
        if getattr(settings, name) and not isinstance(network, kind):
            raise ValueError(
                f"with {name}, make_network must make a {kind.__name__}, not "
                f"{type(network).__name__}"
            )
    layers = (isinstance(each, NoisyLinear) for each in network.modules())
    if settings.noisy and not any(layers):
        raise ValueError(
            "with noisy, make_network must make a network with noise, and this one has "
            "none. add_noise puts some in"
        )
