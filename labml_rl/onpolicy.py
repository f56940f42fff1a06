r"""
---
title: What A2C and PPO share
summary: Settings, games, network and sampler of the algorithms that learn a policy.
---

# What A2C and PPO share

[A2C](a2c/__init__.py) and [PPO](ppo/__init__.py) differ in their settings, in their
optimisers and in how they learn from a rollout. What they have in common is here, once:
the settings that both need, and an experiment that has everything but an optimiser and
an update. So the difference between [the page of A2C](a2c/experiment.py) and [that of
PPO](ppo/experiment.py) is the difference between the algorithms.
([IMPALA](impala/experiment.py) is built on the same base.)

There are two layers. The lower one has what an agent needs if it learns from its
[latest play](sampling.py), as [PQN](pqn/__init__.py) does, too. The upper one adds what
belongs to a policy.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

import torch
from gymnasium.spaces import Box, Discrete
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.batch import Games, MakeEnv, spaces_of_first
from labml_rl.environments import (
    environment_makers,
    frames_per_step,
    has_channels_last,
)
from labml_rl.graphs import Recorded, asked
from labml_rl.networks import ActorCritic
from labml_rl.players import Players
from labml_rl.runs.experiment import Playing
from labml_rl.sampling import Sampler, Samples, Sheet, check_spaces, memory_of
from labml_rl.speed import (
    SpeedExperiment,
    SpeedSettings,
    few_threads,
    in_precision,
    preparer,
)
from labml_rl.worker import ParallelGames, played, shares


@dataclass(frozen=True, kw_only=True)
class RolloutSettings(SpeedSettings):
    """
    ## Settings of a rollout

    They are added to [those of the machine][labml_rl.speed.SpeedSettings].

    Args:
        steps: for how many steps each game is played before the network learns.
        learning_rate: of the optimiser, at the beginning.
        discount: the discount factor: what a reward that comes a step later is worth,
            as a fraction of one that comes now.
        max_gradient_norm: longer gradients are cut to this length, all weights taken
            together.
        players: on a processor, let [each process](players.py) ask the network about
            its own games.
        halves: on a GPU, or without players, play the games in two halves that [take
            turns][labml_rl.sampling.take_turns]. Each has as many workers as the
            settings say.
        graphs: on a GPU, [record](graphs.py) what it does in a step, and replay it.
    """

    steps: int
    learning_rate: float
    discount: float = 0.99
    max_gradient_norm: float = 0.5
    players: bool = True
    halves: bool = False
    graphs: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.require(self, "steps", at_least=1)
        runs.require(self, "learning_rate", "max_gradient_norm", above=0)
        runs.require(self, "discount", at_least=0, at_most=1)
        if self.halves and (self.num_envs < 2 or self.workers == 0):
            raise ValueError(
                "halves needs 2 games or more, and processes that play them: not "
                f"num_envs={self.num_envs} and workers={self.workers}"
            )


def check_cut(settings: RolloutSettings, minibatches: int) -> None:
    """
    Args:
        settings: of an algorithm that learns from a rollout in parts.
        minibatches: how many parts.

    Raises:
        ValueError: if they can't all have the same size.
    """
    batch = settings.num_envs * settings.steps
    if minibatches < 1 or batch % minibatches:
        raise ValueError(
            f"a batch of {settings.num_envs} · {settings.steps} = {batch} steps can't "
            f"be cut into {minibatches} minibatches of one size"
        )


class Source(Playing, Protocol):
    """
    ## Where rollouts come from

    A [sampler](sampling.py), [players](players.py), or [actors](impala/actors.py).
    """

    sheet: Sheet

    def sample(self) -> Samples:
        """
        Returns:
            The next rollout.
        """


S = TypeVar("S", bound=RolloutSettings)


class RolloutExperiment(SpeedExperiment[S]):
    """
    ## The experiment of a rollout

    To [what repeats, saves and resumes updates](runs/experiment.py), this adds what an
    algorithm needs if it learns from its latest play: games, and something that plays
    them and writes down what happens.

    Args:
        settings: of the algorithm.

    Raises:
        ValueError: if `graphs` is set without a GPU, or if the games [can't be
            played][labml_rl.sampling.check_spaces].
    """

    # The names by which an algorithm asks its network for more than a call gives.
    asks_for: ClassVar[tuple[str, ...]] = ()

    games: Source
    observation_space: Box

    def __init__(self, settings: S) -> None:
        super().__init__(settings)
        if settings.graphs and self.device.type != "cuda":
            raise ValueError(
                f"graphs is for a GPU, and the network is on the {self.device}: leave "
                "it out"
            )
        options = self.game_options(settings) | self.training_options(settings)
        makers, names = environment_makers(
            settings.game, settings.num_envs, seed=settings.seed, **options
        )
        spaces = check_spaces(*spaces_of_first(makers, names))
        self.observation_space, self.num_actions = spaces[0], int(spaces[1].n)
        self.network = self.make_network(settings, *spaces).to(self.device)
        self.check_network()
        self.optimizer = self.make_optimizer()

        # A step of learning is a plain call, or is replayed from [a record](graphs.py).
        self.how = Recorded(self.device, self.network) if settings.graphs else asked
        self.actor = self.make_actor()
        self.games = self.make_players(makers, names, spaces)

    def make_actor(self) -> nn.Module:
        """
        Returns:
            The network that plays. It is the one that learns, unless an algorithm
            [learns while it plays](ppo/overlap.py).
        """
        return self.network

    def check_network(self) -> None:
        """
        Raises:
            ValueError: if the network lacks something that the algorithm asks it for,
                or remembers something that the algorithm does not ask for.
        """
        named = type(self.network).__qualname__
        for name in self.asks_for:
            if not hasattr(self.network, name):
                raise ValueError(
                    f"a network for {self.algorithm} needs "
                    f"{' and '.join(self.asks_for)}, and {named} has no {name}"
                )
        if memory_of(self.network) and "memory" not in self.asks_for:
            raise ValueError(
                f"{named} has a number called memory, so it is one that remembers, and "
                f"{self.algorithm} can't teach it: use recurrent-ppo, or give that "
                "number another name"
            )

    def make_players(
        self,
        makers: Sequence[MakeEnv],
        names: Sequence[str],
        spaces: tuple[Box, Discrete],
    ) -> Source:
        """
        ### Who plays

        Either the network comes to the games, or the games come to the network.

        Args:
            makers: a function for each game, which makes it.
            names: what to call each of them in an error.
            spaces: those of a game: of observations and of actions.

        Returns:
            The source of the [samples][labml_rl.sampling.Samples].

        Raises:
            ValueError: if there are to be halves where nothing could take turns.
        """
        settings = self.settings
        if settings.players and self.device.type == "cpu":
            if settings.halves:
                raise ValueError(
                    "halves is for games that come to the network. On a processor each "
                    "player has games of its own: add --no-players, or leave --halves"
                )
            return Players(
                makers,
                names,
                self.actor,
                spaces,
                steps=settings.steps,
                settings=settings,
                workers=settings.workers,
                generator=self.generator,
            )
        with ExitStack() as stack:
            batches = [
                stack.enter_context(each) for each in self.make_batches(makers, names)
            ]
            sampler = Sampler(
                batches,
                self.actor,
                steps=settings.steps,
                device=self.device,
                generator=self.generator,
                prepare=preparer(self.actor, settings),
                graphs=settings.graphs,
            )
            stack.pop_all()
        return sampler

    def make_batches(
        self, makers: Sequence[MakeEnv], names: Sequence[str]
    ) -> Iterator[Games]:
        """
        ### Whole or in halves

        Args:
            makers: a function for each game, which makes it.
            names: what to call each of them in an error.

        Yields:
            All games, or each half of them, to be played by turns. With halves, this
            process does not [play too][labml_rl.worker.ParallelGames].
        """
        workers = self.settings.workers
        if not self.settings.halves:
            yield played(makers, names, workers=workers, copy=False)
            return
        for rows in shares(len(makers), 2):
            yield ParallelGames(
                makers[rows],
                names=names[rows],
                workers=workers,
                copy=False,
                first=rows.start,
            )

    @abstractmethod
    def make_optimizer(self) -> torch.optim.Optimizer:
        """
        Returns:
            The optimiser of the algorithm, for the weights of the network. They may be
            in groups with their own learning rates.
        """

    def play(self, sample: Callable[[], Samples] | None = None) -> Samples:
        """
        ### Play

        Args:
            sample: what plays; `None` is the [source][Source] of the experiment.

        Returns:
            The next rollout.
        """
        settings = self.settings
        with few_threads(settings), in_precision(settings, self.device):
            samples = (sample or self.games.sample)()
        steps = settings.steps * settings.num_envs
        self.frames += steps * frames_per_step(settings.game)
        self.scores += samples.scores
        return samples


@dataclass(frozen=True, kw_only=True)
class PolicySettings(RolloutSettings):
    """
    ## Settings of a policy

    The values are those of the authors' programs for Atari. [Other problems](small.py)
    want others.

    Args:
        learning_rate: of the optimiser, at the beginning. It goes down to 0 in a
            straight line.
        value_coefficient: the weight of the critic's loss, which [not everybody
            counts alike][labml_rl.a2c.value_loss].
        entropy_coefficient: the weight of the entropy bonus, which pays the agent for
            being undecided.
    """

    value_coefficient: float = 0.5
    entropy_coefficient: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        runs.require(self, "value_coefficient", "entropy_coefficient", at_least=0)


P = TypeVar("P", bound=PolicySettings)


class PolicyExperiment(RolloutExperiment[P]):
    """
    ## The experiment of a policy

    This adds three things: a network with a policy and a value, a second look at each
    observation while it learns, and a learning rate that goes down.

    Args:
        settings: of the algorithm.
    """

    def __init__(self, settings: P) -> None:
        super().__init__(settings)
        # Noted now: in a run that is resumed, the optimiser soon gets lower ones.
        self.first_rates = [float(each["lr"]) for each in self.optimizer.param_groups]

    @staticmethod
    def needs_plan(settings: PolicySettings) -> str:
        """
        Returns:
            What keeps a run from [being made longer][labml_rl.runs.loop.resume].
        """
        return "the learning rate goes down to 0 at the planned end"

    @staticmethod
    def make_network(
        settings: Any, observation_space: Box, action_space: Discrete
    ) -> nn.Module:
        """
        ### A custom network

        Override this to let PPO and A2C learn with a network of your own. For a batch
        of observations it has to give logits, shape `(B, A)`, and values, shape `(B,)`:

        ```python
        from torch import nn
        from labml_rl import runs, small

        class MyNetwork(nn.Module):
            def __init__(self, count, actions):
                super().__init__()
                self.hidden = nn.Linear(count, 64)
                self.policy = nn.Linear(64, actions)
                self.value = nn.Linear(64, 1)

            def forward(self, observations):
                seen = self.hidden(observations).tanh()
                values = self.value(seen).squeeze(-1)
                return self.policy(seen), values

        class Mine(small.SmallPPO):
            algorithm = "my-ppo"

            @staticmethod
            def make_network(settings, seen, actions):
                (count,) = seen.shape
                return MyNetwork(count, int(actions.n))

        if __name__ == "__main__":
            runs.main(Mine)
        ```

        This one learns [the pole](small.py). For games, derive from
        [PPO](ppo/experiment.py) or [A2C](a2c/experiment.py).

        Pictures come as bytes. On a machine that has units for it, the whole network
        computes [with 16 bits][labml_rl.speed.precision_of]. A head should not:
        [in_full][labml_rl.networks.in_full] keeps it out of that.

        !!! warning "If it has a `body`"
            While it learns, a network whose `body` has a method `prepared`, as [that of
            the book][labml_rl.bodies.NatureBody.prepared] does, gets its observations
            in the order that this method gives them. Then nothing but the body may look
            at them. Under any other name, or with `--no-blocks`, they come as they are.

        The network plays and learns in the same mode, that of training. Dropout or
        batch norm would make it answer differently when it looks again. If it keeps a
        number that is not a weight, such as a mean of observations, make a buffer of
        it, and change that in place: [players](players.py) see nothing else.

        Args:
            settings: of the algorithm.
            observation_space: that of one game.
            action_space: the same.

        Returns:
            Policy and value for these spaces.
        """
        return ActorCritic(
            observation_space.shape,
            action_space.n,
            channels_last=has_channels_last(observation_space),
        )

    @staticmethod
    def think(network: nn.Module, observations: Tensor) -> runs.Thoughts:
        """
        Returns:
            The probabilities of the actions, and the value.
        """
        logits, values = network(observations)
        return runs.Thoughts(logits.softmax(-1), values)

    def evaluate(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """
        ### Look again

        While it played, the network answered much of this already. To compute it again
        is still faster: to keep what a gradient needs would mean many small backward
        passes instead of one.

        Args:
            observations: shape `(B, …)`.

        Returns:
            Logits, shape `(B, A)`, and values, shape `(B,)`, with gradients.
        """
        with in_precision(self.settings, self.device):
            logits, values = self.network(observations)
        return logits.float(), values.float()

    def anneal(self) -> float:
        """
        ### Smaller steps

        At first everything is wrong, and large steps are good. Towards the end, what
        was learned should no longer be disturbed. So the learning rate goes down to 0
        in a straight line, which is called **annealing**. It goes by the frames that
        were played before an update: the first update has the full rate, and the last
        still a little. The price: from its first update on, a run planned to be twice
        as long learns differently, and one that is over can't just [go
        on][labml_rl.runs.loop.lengthen].

        Other numbers can go down as well, such as the clip of PPO, as in its paper. The
        settings are those of the whole run. So lend the experiment others for each
        update:

        ```python
        from dataclasses import replace
        from labml_rl import runs
        from labml_rl.ppo import experiment as ppo

        class Fading(ppo.Experiment):
            algorithm = "fading-ppo"

            def update(self):
                kept = self.settings
                left = 1 - self.frames / kept.total_frames
                self.settings = replace(
                    kept, clip=left * kept.clip
                )
                metrics = super().update()
                self.settings = kept
                return metrics

        if __name__ == "__main__":
            runs.main(Fading)
        ```

        Leave `graphs` and `compile` off then. [A record](graphs.py) would go on with
        the first of these numbers, and each new one has to be compiled again.

        Returns:
            The learning rate, from now until the next update; that of the first group,
            if the optimiser has several.
        """
        left = 1 - self.frames / self.settings.total_frames
        rates = [first * max(left, 0.0) for first in self.first_rates]
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate
        return rates[0]
