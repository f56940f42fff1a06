r"""
---
title: An experiment
summary: What a run consists of, so that it can be stopped anywhere and go on unchanged.
---

# An experiment

An **experiment** is an algorithm at work on a game: games, a network, an optimiser, and
dice, that is, generators of random numbers. Each algorithm of this book has its own
experiment, and all have to be seeded, watched, stopped, saved and continued. What
that takes is on this page, once. An algorithm derives its experiment from
[Experiment][], and adds how it plays and learns. Here is a complete one. It looks no
further than the next reward, so it will not get far:

```python
import torch
from labml_rl import runs
from labml_rl.environments import (
    frames_per_step,
    has_channels_last,
    scores_of,
)
from labml_rl.networks import ActorCritic

class OneStep(runs.Experiment[runs.Settings]):
    algorithm = "one-step"
    settings_class = runs.Settings

    def __init__(self, settings):
        super().__init__(settings)
        self.games = games = self.make_games()
        self.network = self.make_network(
            settings,
            games.single_observation_space,
            games.single_action_space,
        ).to(self.device)
        self.optimizer = torch.optim.Adam(
            self.network.parameters()
        )
        self.observations, _ = games.reset()

    @staticmethod
    def make_network(settings, seen, actions):
        return ActorCritic(
            seen.shape,
            actions.n,
            channels_last=has_channels_last(seen),
        )

    @staticmethod
    def think(network, observations):
        logits, values = network(observations)
        chances = logits.softmax(-1)
        return runs.Thoughts(chances, values)

    def update(self):
        seen = torch.from_numpy(self.observations)
        logits, values = self.network(
            seen.to(self.device)
        )
        actions = torch.multinomial(
            logits.softmax(-1),
            1,
            generator=self.generator,
        )
        self.observations, rewards, *_, infos = (
            self.games.step(actions[:, 0].cpu().numpy())
        )
        gains = torch.tensor(rewards) - values.cpu()
        log_probs = logits.log_softmax(-1).cpu()
        taken = log_probs.gather(1, actions.cpu())[:, 0]
        loss = (
            gains.square() - gains.detach() * taken
        ).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.frames += len(rewards) * frames_per_step(
            self.settings.game
        )
        self.scores += scores_of(infos)
        return {"loss": loss.item()}

    def set_state(self, state):
        self.observations = super().set_state(state)
        return self.observations

if __name__ == "__main__":
    runs.main(OneStep)
```

Saved in a file, this is already a program.
`python one_step.py --game CartPole-v1 --workers 0` trains, and can be interrupted,
resumed and watched.

## The same numbers: reproducibility

A run that was stopped and continued must come to the same end as one that was not, bit
for bit. Not that anyone needs these very numbers. But "about the same" can't be tested,
and what can't be tested breaks. An optimiser that forgets its averages, or dice that
start over, cost a little of the score at each stop, and nobody ever finds out why.

So everything that decides what happens next is in the state: weights, the optimiser's
averages, all dice, and the games in the middle of play. So is the number of threads:
with a different one, PyTorch adds in a different order, and the last digits differ.
(On a CPU there are two exceptions: a machine with fewer cores, and what [the emulator
keeps to itself][labml_rl.game.Game.get_state].)

!!! warning "On a GPU"
    A GPU adds numbers in the order in which its threads arrive, and each order rounds
    differently. There, two runs with the same seed come to different results, stopped
    or not. The state is complete all the same. (Your own program can ask for a fixed
    order, with `torch.use_deterministic_algorithms(True)`. Nobody has tried it here.)
"""

import inspect
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Protocol,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import torch
from torch import Tensor, nn

from labml_rl.batch import Games
from labml_rl.environments import make_environments
from labml_rl.runs.checkpoint import State, load_weights
from labml_rl.worker import available_cores

Score = dict[str, float]
Metrics = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """
    ## Settings

    Everything that decides the course of a run is in one place, and never changes. Each
    algorithm adds its own. The program's `--help` is made from this list.

    To add a setting, or to change a default, derive from the algorithm's settings. The
    `@dataclass` line is needed there, too:

    ```python
    from dataclasses import dataclass
    from labml_rl.ppo import experiment as ppo

    @dataclass(frozen=True, kw_only=True)
    class Settings(ppo.Settings):
        learning_rate: float = 1e-3
        penalty: float = 0.5

    class Penalised(ppo.Experiment):
        algorithm = "penalised-ppo"
        settings_class = Settings
    ```

    The experiment then sees it as `self.settings.penalty`, and its program as
    `--penalty`.

    Args:
        game: an Atari game, such as `Breakout`, or a Gymnasium environment, such as
            `CartPole-v1`. One of your own is `package:Name-v1`, with the package that
            registers it.
        seed: decides everything random. Runs with different seeds show how much of a
            result is luck.
        total_frames: how long to learn, in frames of the emulator. There are 4 in a
            step of the agent, and 1 if the environment is not an Atari game. The last
            update is a whole one, so there may be a few more.
        num_envs: how many games are played at once. With more of them, and nothing else
            changed, the same number of frames makes fewer updates.
        workers: how many processes play them. None means one for each core; with 0, the
            agent's own process plays them all.
        device: where the network is: `cpu`, `cuda`, or `auto` for a GPU if there is
            one. (The GPU of a Mac is `mps`. Nobody has tried it.)
        evaluate_every_frames: how often [the agent is
            measured](../watch/best.py), and kept if it is the best so far; 0 means
            never.
        evaluation_games: how many games it plays each time.
    """

    game: str = "Breakout"
    seed: int = 1
    total_frames: int = 10_000_000
    num_envs: int = 8
    workers: int | None = None
    device: str = "auto"
    evaluate_every_frames: int = 0
    evaluation_games: int = 16

    def __post_init__(self) -> None:
        check_heard(type(self))
        check_kinds(self)
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{each.name} must be a number, not {value}")
        require(self, "total_frames", "num_envs", "evaluation_games", at_least=1)
        require(self, "seed", "workers", "evaluate_every_frames", at_least=0)

    def decided(self) -> Self:
        """
        ### On this machine

        Some settings may be left to the machine: how many workers there are, and
        whether to use a GPU. They are decided when a run begins, and written down. Then
        the run is resumed in the same way on any machine: which worker plays which game
        may change the last digit of a number.

        Returns:
            The same, with nothing left open.

        Raises:
            ValueError: if there is no such device.
        """
        workers = available_cores() if self.workers is None else self.workers
        return replace(self, workers=workers, device=str(find_device(self.device)))


def check_heard(settings_class: type[Settings]) -> None:
    """
    ### Settings that nothing reads

    `@dataclass` makes a setting of each name that has a type after it. Without
    `@dataclass`, or without the type, Python makes an ordinary attribute, which nothing
    reads, and the run learns with a different number from the one written there.

    Args:
        settings_class: of an algorithm.

    Raises:
        ValueError: if something in it, or in a class it derives from, is not a setting.
    """
    known = {each.name: each.default for each in fields(settings_class)}
    for each in settings_class.__mro__:
        ignored = {
            name
            for name in known.keys() & vars(each).keys()
            if getattr(settings_class, name) is not known[name]
        }
        if "__dataclass_fields__" not in vars(each):
            own = inspect.get_annotations(each).items()
            ignored |= {name for name, kind in own if "ClassVar" not in str(kind)}
        if ignored:
            raise ValueError(
                f"{each.__qualname__} needs @dataclass(frozen=True, kw_only=True), and "
                "a type after each name, or its settings are ignored: "
                f"{', '.join(sorted(ignored))}"
            )


KINDS = {
    bool: "True or False",
    int: "an int, a whole number without a point",
    float: "a number",
}


def check_kinds(settings: Settings) -> None:
    """
    ### Settings of the wrong kind

    Python accepts any value for a setting. With `double="no"` double would be switched
    on, and with `optimizer_name="sgd"` a run would learn with RMSProp and record SGD. A
    program refuses such values when they are typed; this does the same in Python.

    Args:
        settings: those to check. Any of your own that are neither a switch nor a number
            nor a choice are not looked at.

    Raises:
        ValueError: if one is of the wrong kind; the message says which, and what would
            be right.
    """
    hints = get_type_hints(type(settings))  # types, even where they are kept as text
    for each in fields(settings):
        value = getattr(settings, each.name)
        hint = hints[each.name]
        kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        if value is None and NoneType in kinds:
            continue
        kind, *others = (kind for kind in kinds if kind is not NoneType)
        if get_origin(kind) is Literal:
            fits = value in get_args(kind)
            right = " or ".join(map(repr, get_args(kind)))
        elif isinstance(kind, type) and kind in KINDS:
            fits = isinstance(value, int | float if kind is float else kind)
            # To Python, `True` is a number, too.
            fits &= kind is bool or not isinstance(value, bool)
            right = KINDS[kind]
        else:
            continue
        if not fits and not others:
            raise ValueError(f"{each.name} must be {right}, not {value!r}")


def require(
    settings: object,
    *names: str,
    at_least: float = -math.inf,
    above: float = -math.inf,
    at_most: float = math.inf,
) -> None:
    """
    ### Settings that make sense

    A run with a setting that makes no sense fails after an hour, or, worse, does not
    fail.

    Args:
        settings: those to check.
        names: which of them the limits are for. `None` is within all limits.
        at_least: the lowest.
        above: what all must exceed.
        at_most: the highest.

    Raises:
        ValueError: if one is out of bounds; the message says which, and what would be
            right.
    """
    words = {"at least": at_least, "above": above, "at most": at_most}
    given = {word: limit for word, limit in words.items() if math.isfinite(limit)}
    limits = " and ".join(f"{word} {limit}" for word, limit in given.items())
    if given.keys() == {"at least", "at most"}:
        limits = f"between {at_least} and {at_most}"
    for name in names:
        value = getattr(settings, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{name} must be a number, not {value!r}")
        if not (value >= at_least and value > above and value <= at_most):
            raise ValueError(f"{name} must be {limits}, not {value}")


def find_device(name: str) -> torch.device:
    """
    A GPU may be there and be of no use: it is older than all that this PyTorch was
    built for, or another program has it. PyTorch finds that out only when it computes.
    So it computes something here.

    Args:
        name: as in [Settings][].

    Raises:
        ValueError: if there is no such device, or if nothing can be computed on it.
    """
    meant, remedy = name, ""
    if name == "auto":
        meant = "cuda" if torch.cuda.is_available() else "cpu"
        remedy = ". The device 'cpu' does without it"
    try:
        device = torch.device(meant)
        torch.ones(1, device=device)
        torch.Generator(device)
    except (RuntimeError, AssertionError, ImportError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise ValueError(
            f"there is no device {meant!r} here: {reason}{remedy}"
        ) from error
    return device


@dataclass(frozen=True)
class Thoughts:
    """
    ## Thoughts

    What a network has to say about a few observations, for [those who watch it
    play](../watch/__init__.py).

    Args:
        probabilities: with which the agent takes each action, shape `(N, A)`.
        values: the return that it expects, shape `(N,)`.
        action_values: the return that it expects of each action, shape `(N, A)`, if it
            has learned that.
        chances: how likely each return is after the best action, shape `(N, K)`, if it
            has learned [that](../dqn/distribution.py).
        atoms: these returns, shape `(K,)`.
        memories: what it [remembers](../ppo/remembering.py) in the next step, shape
            `(N, M)`, if it does.
    """

    probabilities: Tensor
    values: Tensor
    action_values: Tensor | None = None
    chances: Tensor | None = None
    atoms: Tensor | None = None
    memories: Tensor | None = None


class NotFiniteError(ArithmeticError):
    """
    ## When numbers explode: NaN

    A weight that has become infinite, or NaN, stays that way, and makes the loss and
    all other weights so. A run that has reached this point learns nothing more, but
    still plays, and draws curves. So it stops with this error, before it writes a
    checkpoint.
    """


def as_number(name: str, value: Any) -> float | None:
    """
    Args:
        name: of what an update measured.
        value: what it found; a tensor or an array with a single entry will do.

    Returns:
        The number. A tensor would keep alive all that was computed for it.

    Raises:
        TypeError: if it is not a number.
    """
    if value is None:
        return None
    try:
        # NumPy makes no number of an array that has a dimension.
        return float(value.item() if isinstance(value, np.ndarray) else value)
    except (TypeError, ValueError, RuntimeError) as error:
        shape = f" of shape {tuple(value.shape)}" if hasattr(value, "shape") else ""
        raise TypeError(
            f"update() must return numbers, and {name} is a "
            f"{type(value).__name__}{shape}"
        ) from error


class Playing(Protocol):
    """
    ## What is saved of games

    A batch of [games][labml_rl.batch.Games] can do this, and so can anything that plays
    them.
    """

    def get_states(self) -> list[Any]:
        """The state of every game."""

    def set_states(self, states: Sequence[Any]) -> Any:
        """Go on from there, with the observations that are returned."""

    def close(self) -> None:
        """Close the games."""


S = TypeVar("S", bound=Settings)


class Experiment(ABC, Generic[S]):
    """
    ## The experiment

    Once made, the experiment of an algorithm has the attributes `games`, `network` and
    `optimizer`.

    Args:
        settings: of the algorithm.

    Raises:
        ValueError: if they ask for something that is not here.
    """

    algorithm: ClassVar[str]  # its name: "ppo"
    settings_class: ClassVar[type[Settings]] = Settings

    # How its agents decide when it counts: with None they draw actions from the policy.
    # With a number they take the best action, or, with this probability, any.
    evaluation_epsilon: ClassVar[float | None] = None

    games: Playing
    network: nn.Module
    optimizer: torch.optim.Optimizer

    def __init__(self, settings: S) -> None:
        self.settings = settings
        self.device = find_device(settings.device)
        self.frames = self.updates = self.episodes = 0

        # The games that ended, with points `r` and steps `l`: those of this update, and
        # the last hundred.
        self.scores: list[Score] = []
        self.recent: deque[Score] = deque(maxlen=100)

        # !!! warning "One seed for everything"
        #     Dice with the same seed throw the same numbers. If the weights and the
        #     actions were drawn from such dice, the first actions would follow from the
        #     weights. So each has its own seed, drawn from the run's, and none of these
        #     is a game's.
        dice = np.random.SeedSequence(settings.seed).spawn(2)
        weights, actions = (int(each.generate_state(1)[0]) for each in dice)
        torch.manual_seed(weights)
        self.generator = torch.Generator(self.device).manual_seed(actions)

    @staticmethod
    def game_options(settings: Any) -> dict[str, Any]:
        """
        ### What an algorithm says of itself

        Args:
            settings: its own.

        Returns:
            Options that change the game itself, such as sticky actions or another
            stack. They hold when the agent is watched, too.
        """
        return {}

    @staticmethod
    def needs_plan(settings: Any) -> str | None:
        """
        ### Can a run be made longer?

        Args:
            settings: of the algorithm.

        Returns:
            What makes a run of 10 million frames different from the first half of one
            of 20 million. `None` if nothing does.
        """
        return None

    @staticmethod
    @abstractmethod
    def make_network(
        settings: Any, observation_space: Any, action_space: Any
    ) -> nn.Module:
        """
        Args:
            settings: of the algorithm.
            observation_space: that of one game.
            action_space: the same.

        Returns:
            The network, in main memory.
        """

    @staticmethod
    @abstractmethod
    def think(network: Any, observations: Tensor) -> Thoughts:
        """
        A network that [remembers][labml_rl.ppo.recurrent.Experiment.think] gets its
        notes as a third argument.

        Args:
            network: one of [Experiment.make_network][].
            observations: shape `(N, …)`, on the network's device.
        """

    @abstractmethod
    def update(self) -> Metrics:
        """
        One round of playing and learning. It counts up `frames`, and adds to `scores`
        those of the games that ended.

        Returns:
            What is worth plotting: losses and the like, under the same names each time.
            A value is `None` where there was nothing to measure: the loss of a round
            that only played.
        """

    def make_games(self, **options: Any) -> Games:
        """
        ### The parts

        Args:
            options: those for [make_environments][] that do not hold when the agent is
                watched, such as `copy=False`.

        Returns:
            As many games as the settings say.
        """
        settings = self.settings
        return make_environments(
            settings.game,
            settings.num_envs,
            seed=settings.seed,
            workers=settings.workers,
            **self.game_options(settings),
            **options,
        )

    def advance(self) -> tuple[Metrics, list[Score]]:
        """
        ### One update

        Returns:
            What [Experiment.update][] measured, and the scores of the games that ended.

        Raises:
            NotFiniteError: if one of these numbers, or a weight, is not finite.
            TypeError: if it did not return numbers by name.
            ValueError: if it has not counted up `frames`, or has changed the settings.
        """
        settings, before = self.settings, self.frames
        metrics = self.update()
        if self.settings is not settings and self.settings != settings:
            raise ValueError(
                "after update() the settings must be what they were before, or the run "
                "can't be resumed. They can be lent for an update: "
                "labml_rl/onpolicy.py, Smaller steps, says how"
            )
        if self.frames <= before:
            raise ValueError(
                "update() must count up frames, or the run never ends: there were "
                f"{before:,} before, and are {self.frames:,} now"
            )
        if not isinstance(metrics, Mapping):
            raise TypeError(
                "update() must return what is worth plotting, by name, as "
                f"`return {{'loss': …}}`, not {type(metrics).__name__}"
            )
        self.updates += 1
        now = f"after {self.frames:,} frames, in update {self.updates:,}"
        metrics = {name: as_number(name, value) for name, value in metrics.items()}
        for name, value in metrics.items():
            if value is not None and not math.isfinite(value):
                raise NotFiniteError(f"{name} is {value} {now}")

        # A loss can still be fine when the step after it spoils the weights. The length
        # of all weights together is finite if each of them is.
        if not nn.utils.get_total_norm(self.network.parameters()).isfinite():
            raise NotFiniteError(f"a weight of the network is not finite {now}")

        scores, self.scores = self.scores, []
        self.recent.extend(scores)
        self.episodes += len(scores)
        return metrics, scores

    @property
    def done(self) -> bool:
        """
        ### When it is over

        A run ends when it has had all its frames. Override this to stop training early,
        such as when the last hundred episodes were good enough: the game is *solved*.

        ```python
        from labml_rl import runs, small

        class Enough(small.SmallPPO):
            algorithm = "enough-ppo"

            @property
            def done(self):
                points = [each["r"] for each in self.recent]
                good = len(points) == 100
                good = good and sum(points) >= 47_500
                return super().done or good

        if __name__ == "__main__":
            runs.main(Enough)
        ```

        It then counts as finished. But a hundred lucky games would end it as well.

        Returns:
            Whether this was the last update.
        """
        return self.frames >= self.settings.total_frames

    @property
    def growth(self) -> int:
        """
        How many bytes larger the last checkpoint will be than the first, about: for
        each weight, Adam will remember two averages.
        """
        return 2 * sum(each.nbytes for each in self.network.parameters())

    def get_state(self) -> State:
        """
        ### The state

        An algorithm that has more to remember adds it to the dictionary.

        Returns:
            A tree that [checkpoint.save][labml_rl.runs.checkpoint.save] takes. Its
            tensors are the ones that learning will go on changing; `copy.deepcopy`
            keeps them as they are.
        """
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "games": self.games.get_states(),
            "dice": self._get_dice(),
            "threads": torch.get_num_threads(),
            "frames": self.frames,
            "updates": self.updates,
            "episodes": self.episodes,
            "recent": list(self.recent),
        }

    def set_state(self, state: State) -> Any:
        """
        An experiment with the same settings goes on from there.

        Args:
            state: what [Experiment.get_state][] returned.

        Returns:
            The observations on which the agent has not acted yet. An algorithm keeps
            these somewhere, and must put them back there.

        Raises:
            CheckpointError: if the weights are those of another network.
            ValueError: if the run was on another kind of device.
        """
        load_weights(self.network, state["network"])
        load_optimizer(self.optimizer, state["optimizer"])
        self._set_dice(state["dice"])
        # Older checkpoints do not say. More threads than cores would be very slow.
        threads = state.get("threads", torch.get_num_threads())
        torch.set_num_threads(min(threads, available_cores()))
        self.frames, self.updates = state["frames"], state["updates"]
        self.episodes = state["episodes"]
        self.recent = deque(state["recent"], maxlen=self.recent.maxlen)
        return self.games.set_states(state["games"])

    # A GPU has dice of its own, and so has every generator.
    def _get_dice(self) -> dict[str, Any]:
        dice = {"cpu": torch.get_rng_state(), "actions": self.generator.get_state()}
        if self.device.type == "cuda":
            dice["cuda"] = torch.cuda.get_rng_state(self.device)
        return dice | {"device": self.device.type}

    def _set_dice(self, dice: dict[str, Any]) -> None:
        if dice["device"] != self.device.type:
            raise ValueError(
                f"this run was on {dice['device']}, and here it would go on on "
                f"{self.device.type}, with other dice. Resume it on a machine like the "
                "first"
            )
        torch.set_rng_state(dice["cpu"])
        self.generator.set_state(dice["actions"])
        if self.device.type == "cuda":
            torch.cuda.set_rng_state(dice["cuda"], self.device)

    def close(self) -> None:
        """Close the games."""
        self.games.close()


def load_optimizer(optimizer: torch.optim.Optimizer, state: State) -> None:
    """
    ## What the optimiser remembers

    For each weight, Adam keeps averages of its gradients.

    !!! warning "In which order"
        It lays them out in memory as the weights are. A file knows nothing of layouts,
        and what is read from one is laid out row by row. Weights need not be: with
        `channels_last`, for instance. With `fused=True` Adam goes through both in the
        order of memory, without looking, and each weight gets the averages of another.
        There is no error, and the agent is a little worse after each stop. So the
        averages are laid out again here.

    Args:
        optimizer: of the same parameters.
        state: its `state_dict()`.
    """
    # A learning rate that is a tensor may be known to a CUDA graph by its address.
    kept = [
        {name: each for name, each in group.items() if isinstance(each, Tensor)}
        for group in optimizer.param_groups
    ]
    optimizer.load_state_dict(state)
    for group, tensors in zip(optimizer.param_groups, kept, strict=True):
        for name, tensor in tensors.items():
            group[name] = tensor.copy_(torch.as_tensor(group[name]))
    for parameter, averages in optimizer.state.items():
        for name, average in averages.items():
            if not isinstance(average, Tensor):
                continue
            # The state may be that of an experiment that goes on learning.
            mine = average.clone()
            if average.shape == parameter.shape:
                mine = torch.empty_like(parameter, dtype=average.dtype).copy_(average)
            averages[name] = mine.detach()
