"""
---
title: Anything to play
summary: Atari games and any other environment of Gymnasium, by name, many at once.
---

# Anything to play

An algorithm that learns to play Pong can learn to balance a pole: it needs observations
and rewards, and does not ask where they come from. That helps you to find mistakes: one
shows up in CartPole within a minute, and in Pong after an hour.

This page finds environments by name, and makes a batch of them:

```python
from labml_rl.environments import make_environments

games = make_environments("Pong", 8, seed=1, workers=0)
carts = make_environments(
    "CartPole-v1", 8, seed=1, workers=0
)
```

Without `workers=0` they are played in [separate processes](worker.py).

Both can be saved in the middle of an episode and continued later. [A run that was
interrupted](runs/__init__.py) goes on exactly as if it had not been.

## A custom environment

Write an environment of your own as [Gymnasium
says](https://gymnasium.farama.org/introduction/create_custom_env/), with observations
that are numbers or pictures and with numbered actions, and register it where it is
defined:

```python
# mine.py
import gymnasium
from gymnasium.wrappers import FlattenObservation

def make(**options):
    env = gymnasium.make("Blackjack-v1", **options)
    return FlattenObservation(env)

gymnasium.register("Cards-v0", entry_point=make)
```

The example takes an existing one, Blackjack, and a wrapper that makes one array out of
everything that is seen. The module and a colon in front of its name say where it is
registered. The module must be where Python looks for modules. With `python -m`, the
folder that you are in is such a place:

```sh
python -m labml_rl train small-ppo --game mine:Cards-v0
python -m labml_rl watch runs/small-ppo/mine:Cards-v0/seed-1
```

Before an agent learns from it, let Gymnasium look for mistakes in it, with `check_env`
of `gymnasium.utils.env_checker`. Four more things matter here:

- **Episodes must end.** There is no score before that, and measuring an agent means
  waiting for one. If yours might go on for ever, register it with a limit, such as
  `max_episode_steps=1000`.
- **Its seed decides everything.** Take all random numbers from `self.np_random`, which
  `super().reset(seed=seed)` seeds. A run that is resumed [plays its episodes
  again][labml_rl.environments.Resumable], and random numbers from anywhere else would
  lead them astray, without a word.
- **Its own processes** can't be those of Python's `multiprocessing`, unless you add
  `--workers 0`: a worker may start none. The environment's `close` must end whatever
  it starts with `subprocess`.
- **Threads of a library** such as JAX are missing in a worker that is a fork (as on
  Linux before Python 3.14), and it waits for them. Add `--workers 0` there, too.

!!! warning "The agent does what pays"
    It looks for the largest return, and not for what you meant by it. An agent that was
    paid for riding a bicycle towards a goal, and lost nothing by riding away from it,
    rode in circles. (This is called *reward hacking*.) So pay for the result that you
    want, and [look at the agent](watch/video.py) before you believe its score.

    If that result is too rare, hints can be added: **reward shaping**. One kind of hint
    leaves the best policy what it is. Give each state a number that says how promising
    it is, and 0 to what comes after the end. Pay for each step the discount times the
    number of the next state, less that of the present one. Over an episode, discounted,
    all of that adds up to minus the number of the first state, whatever the agent does
    ([Ng et al., 1999](https://dl.acm.org/doi/10.5555/645528.657613), who also tell of
    the bicycle).

    Multiplying all rewards by the same number above 0 leaves it what it is, too. Adding
    the same number to all does not, where the agent has a say in when an episode ends.
    In [Acrobot][labml_rl.small.DQNSettings] each step costs a point, except for the one
    that reaches the line. So the agent hurries. Add 2 to all of them. With a discount
    of 0.99, reaching the line in a hundred steps is then worth 64, and never reaching
    it 100.

!!! warning "Nothing is scaled"
    Rewards are clipped in Atari games alone, and only bytes are divided by 255. All
    other numbers are taken as they are, and with rewards in the hundreds an agent
    [learns badly][labml_rl.mistakes.LargeRewards]. So bring both to about 1, by factors
    that you choose:

    ```python
    env = RecordEpisodeStatistics(env)  # raw scores
    env = TransformReward(env, lambda r: r / 100)
    ```

    Gymnasium has these two. Its `NormalizeReward` and `NormalizeObservation` find their
    numbers during play, and a run does not save these. If you resumed it or watched its
    agent, you would begin with others.

If an action is an amount, such as a torque, let the agent choose among a few amounts:
Gymnasium's `DiscretizeAction`, around the environment, numbers them. Some environments
have an option for that, such as `continuous=False` of `CarRacing-v3`.
(PPO can learn amounts, too, but this book's does not. The head of its
[network](networks.py) would have to give a mean and a width in place of logits, and a
loop of your own would have to write the steps down.)
"""

import math
import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any, SupportsFloat

import gymnasium
import numpy as np
from gymnasium.error import NameNotFound, ResetNeeded
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete
from numpy.typing import NDArray

from labml_rl.batch import Games, MakeEnv, spawn_seeds
from labml_rl.game import FRAMES_PER_STEP, find_game, make_game
from labml_rl.runner import stepped
from labml_rl.worker import played


class Resumable(gymnasium.Wrapper[Any, Any, Any, Any]):
    """
    ## An environment that can be saved

    An Atari game [knows how][labml_rl.game.Game.get_state]. Other environments keep
    what they know in their own variables, and nobody can tell in which. But nearly all
    of them do the same when they are given the same seed and the same actions. So it is
    enough to write down these two: *the state is how you got there*. The price: going
    on from it takes as long as the episode has taken so far.

    For that, each episode begins with a seed of its own. All of these are drawn from
    `seed`, so one seed still decides everything. As with a game, `info` has the score
    of an episode that ends.

    !!! warning "A game with something around it"
        An Atari game in a wrapper or [a pipeline of your own](wrappers/__init__.py)
        ends up here, too. An episode of it may be one of five lives, and a seed would
        [begin a new game][labml_rl.game.Game.reset]. So if anything inside has an
        attribute `goes_on`, as the game and
        [EpisodicLife][labml_rl.wrappers.acting.EpisodicLife] of this book do, each
        *game* gets a seed, and between its lives it goes on.

    Args:
        env: any environment that its seed makes repeatable.
        seed: the first; `None` draws one.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], *, seed: int | None = None
    ) -> None:
        super().__init__(env)
        self._dice = np.random.default_rng(seed)
        self._episode_seed: int | None = None
        self._has_lives = env.has_wrapper_attr("goes_on")
        self._goes_on = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """
        Args:
            seed: begin afresh with this one.
            options: passed on. An episode that began with options can't be saved.

        Returns:
            The first observation, and `info`.
        """
        if self._goes_on and seed is None and not options:
            return self._go_on()
        if seed is not None:
            self._dice = np.random.default_rng(seed)
        return self._begin(int(self._dice.integers(2**31)), options)

    def _begin(
        self, seed: int, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self._episode_seed, self._options = seed, options
        self._actions: list[Any] = []
        self._return, self._steps, self._goes_on = 0.0, 0, False
        return self.env.reset(seed=seed, options=options)

    def _go_on(self) -> tuple[Any, dict[str, Any]]:
        self._actions.append(None)
        self._goes_on = False
        observation, info = self.env.reset()
        # Between two lives, the game may have ended, and another may have begun.
        if has_points(info):
            info = info | {"episode": self._score(info)}
            self._return, self._steps = 0.0, 0
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """
        Returns:
            What the environment returns. At the end of an episode, the sum of its
            rewards and the number of its steps are in `info["episode"]`, as far as the
            environment put nothing there itself, and `info["cut_off"]` says whether it
            was cut off.

        Raises:
            ResetNeeded: before the first `reset`.
            TypeError: if the reward is not a number, or if the environment returns
                other than five things.
            ValueError: if the reward is not finite.
        """
        self._check_begun()
        noted = self._noted(action)
        answer = stepped(self.env.step(action))
        observation, reward, terminated, truncated, info = answer
        self._actions.append(noted)
        try:
            points = float(reward)
        except (TypeError, ValueError) as error:
            raise TypeError(f"a reward must be a number, not {reward!r}") from error
        if not math.isfinite(points):
            raise ValueError(f"a reward must be finite, not {points}")
        self._return += points
        self._steps += 1
        lost = terminated and self._has_lives
        self._goes_on = lost and bool(self.env.get_wrapper_attr("goes_on"))
        over = (terminated or truncated) and not self._goes_on
        if over:
            cut_off = info.get("cut_off", False) or (truncated and not terminated)
            info = info | {"episode": self._score(info), "cut_off": cut_off}
        return observation, reward, terminated, truncated, info

    # The environment may know the points, but not how many steps they took.
    def _score(self, info: dict[str, Any]) -> dict[str, Any]:
        known = info["episode"] if has_points(info) else {"r": self._counted()}
        # In a batch of Gymnasium's own, a whole number would cut the points of the
        # games after it.
        points = float(known["r"])
        if not math.isfinite(points):
            raise ValueError(f"a score must be finite, not {points}")
        return {"l": self._steps} | known | {"r": points}

    # A wrapper that counts raw points reports them at an end. If a limit further out
    # cuts the episode off, it sees no end, and reports nothing: so ask it. The rewards
    # that come out here may be clipped or scaled.
    def _counted(self) -> float:
        if self.env.has_wrapper_attr("episode_returns"):
            counted = self.env.get_wrapper_attr("episode_returns")
            if isinstance(counted, SupportsFloat):  # others have a list there
                return float(counted)
        return self._return

    def _noted(self, action: Any) -> Any:
        space = self.action_space
        if isinstance(space, Box | MultiBinary | MultiDiscrete):
            action = np.asarray(action, space.dtype)
        elif isinstance(space, Discrete):
            action = np.asarray(action).item()
        return space.to_jsonable([action])

    def get_state(self) -> dict[str, Any]:
        """
        Returns:
            The seed of the episode, all actions in it so far, with `None` where a game
            went on after a life, and the dice for the seeds of the episodes to come.

        Raises:
            ValueError: if the episode began with options.
            ResetNeeded: before the first `reset`.
        """
        self._check_begun()
        if self._options:
            raise ValueError(f"an episode with options can't be saved: {self._options}")
        return {
            "dice": self._dice.bit_generator.state,
            "seed": self._episode_seed,
            "actions": list(self._actions),
        }

    def _check_begun(self) -> None:
        if self._episode_seed is None:
            raise ResetNeeded("call reset() first: there is no episode going on")

    def set_state(self, state: dict[str, Any]) -> Any:
        """
        Play the episode again, up to where it was.

        Args:
            state: what [Resumable.get_state][] returned.

        Returns:
            The observation that the agent had when the state was saved.

        Raises:
            ValueError: if it is the state of something else.
        """
        missing = {"dice", "seed", "actions"} - state.keys()
        if missing:
            raise ValueError(f"no state of an episode: it has no {', '.join(missing)}")
        observation, _ = self._begin(state["seed"])
        for noted in state["actions"]:
            if noted is None:
                observation, _ = self._go_on()
            else:
                (action,) = self.action_space.from_jsonable(noted)
                observation, *_ = self.step(action)
        self._dice.bit_generator.state = state["dice"]
        return observation


def is_atari(name: str) -> bool:
    """
    ## By name

    Gymnasium's names end in a version, `CartPole-v1`, or have a module in front. Names
    of games do neither.

    Args:
        name: of a game or an environment.

    Returns:
        Whether to look for it among the games.

    Raises:
        ValueError: if the version is missing, or if it is one of Gymnasium's names for
            an Atari game.
    """
    # Blackjack-v1 is no game for the Atari, though there is one of that name, too.
    found = gymnasium.registry.get(name)
    prefix, suffix = r"^(ale_py:)?(ALE/)?", r"(-ram)?(NoFrameskip|Deterministic)?-v\d+$"
    game = re.sub(f"{prefix}|{suffix}", "", name)
    if game != name and _is_game(game) and (found is None or "game" in found.kwargs):
        raise ValueError(
            f"{name!r} is Gymnasium's Atari. This book has a pipeline of its own: "
            f"{game!r} is the name of the game"
        )
    if found is not None and not _is_game(name):
        return False
    versions = [
        each.id
        for each in gymnasium.registry.values()
        if each.name.lower() == name.lower() and each.namespace is None
    ]
    if versions and not _is_game(name):
        raise ValueError(
            f"no game {name!r}. Names of Gymnasium end in a version: {versions[-1]!r}"
        )
    return not re.search("-v|:|/", name)


def _is_game(name: str) -> bool:
    try:
        find_game(name)
    except ValueError:
        return False
    return True


def environment_makers(
    name: str, num_envs: int, *, seed: int | None = None, **options: Any
) -> tuple[list[MakeEnv], list[str]]:
    """
    ## Many by name

    Args:
        name: an Atari game, as in [make_game][labml_rl.game.make_game], or an
            environment that Gymnasium knows. With `package:` in front, the package that
            registers it is imported first.
        num_envs: how many.
        seed: each gets a seed of its own, [drawn from this
            one][labml_rl.batch.spawn_seeds]; `None` draws one.
        options: of a [game][labml_rl.game.GameOptions]; or what `gymnasium.make` takes.

    Returns:
        A function for each environment, which makes it, and what to call each.

    Raises:
        ValueError: if the seed, the number of environments or [the name][is_atari]
            makes no sense. Whether there is such a game or environment, and whether it
            has these options, turns out only when it is made.
    """
    seeds = spawn_seeds(seed, num_envs)
    make = (
        partial(make_game, name, **options)
        if is_atari(name)
        else partial(_make, name, options)
    )
    makers: list[MakeEnv] = [partial(make, seed=each) for each in seeds]
    return makers, [f"{name}, seed {each}" for each in seeds]


def make_environments(
    name: str,
    num_envs: int,
    *,
    seed: int | None = None,
    workers: int | None = None,
    copy: bool = True,
    **options: Any,
) -> Games:
    """
    Args:
        name: see [environment_makers][], as for `num_envs`, `seed` and `options`.
        num_envs: how many at once.
        seed: decides everything random; `None` draws one.
        workers: how many processes; `None` is one for each core, and 0 plays them all
            in this one. For an environment as light as CartPole, that is the fastest.
        copy: whether the agent gets its own copies of the observations.
        options: of each.

    Raises:
        ValueError: if there is no such environment, or if Gymnasium can't make it.
        TypeError: if it has no such option.
        WorkerError: if one can't be made in a worker.
    """
    makers, names = environment_makers(name, num_envs, seed=seed, **options)
    return played(makers, names, workers=workers, copy=copy)


def _make(name: str, options: dict[str, Any], *, seed: int) -> Resumable:
    try:
        return Resumable(gymnasium.make(name, **options), seed=seed)
    except (gymnasium.error.Error, ImportError) as error:
        raise ValueError(no_environment(name, error)) from error


def no_environment(name: str, error: Exception) -> str:
    """
    Args:
        name: of what was not found.
        error: what Gymnasium said.

    Returns:
        A sentence, with a remedy.
    """
    hint = ""
    package = re.split(r"[.:]", name)[0]
    if str(error).startswith(tuple(f"No module named '{package}{end}" for end in "'.")):
        hint = " (`python -m labml_rl` looks for modules in this folder, too)"
    elif isinstance(error, NameNotFound) and ":" not in name:
        hint = f" (one of your own needs its module in front, as in mine:{name})"
    return f"no environment {name!r}: {error}{hint}"


@cache
def frames_per_step(name: str) -> int:
    """
    ## Frames and steps

    Finding out what a name means takes up to a millisecond, and this is asked at each
    step. So the answer is kept.

    Returns:
        How many frames of the emulator go by in one step of the agent: 4 in an Atari
        game. All other environments have no frames, and each step is counted as one.
    """
    return FRAMES_PER_STEP if is_atari(name) else 1


def scores_of(infos: dict[str, Any]) -> list[dict[str, float]]:
    """
    ## Scores

    A game's score comes with its last step, or, if it ended between two of its lives,
    with the reset after that.

    Args:
        infos: those of a step of [Games][labml_rl.batch.Games].

    Returns:
        The scores of all games that ended with it: `r`, the points, and `l`, the steps.
    """
    return [{"r": points, "l": steps} for _, points, steps, _ in ended(infos)]


def ended(infos: dict[str, Any]) -> list[tuple[int, float, int, bool]]:
    """
    Args:
        infos: those of a step.

    Returns:
        Which games ended with it: the row, the points, the steps, and whether the game
        was cut off, which it may have been between two lives.
    """
    found = []
    for info in (infos.get("final_info", {}), infos):
        if has_score(info):
            scores, over = info["episode"], info["_episode"]
            cut_off = info.get("cut_off", np.zeros_like(over))
            for row in np.flatnonzero(over):
                points, steps = float(scores["r"][row]), int(scores["l"][row])
                found.append((int(row), points, steps, bool(cut_off[row])))
    return found


def has_points(info: dict[str, Any]) -> bool:
    """
    Whether it has the points of an episode. Some environments have something else under
    that name, such as a number.
    """
    score = info.get("episode")
    return isinstance(score, dict) and "r" in score


def has_score(info: dict[str, Any]) -> bool:
    """Whether it has these, and the steps that they took."""
    return has_points(info) and "l" in info["episode"]


def has_channels_last(space: Box) -> bool:
    """
    ## Which way round

    Most Gymnasium environments give pictures with their channels last, `(96, 96, 3)`.
    The games in this book have them first, `(4, 84, 84)`.

    Args:
        space: that of one observation.

    Returns:
        Whether the last axis of a picture is the shortest.
    """
    shape: Sequence[int] = space.shape
    return len(shape) == 3 and shape[2] < min(shape[:2])


def final_observations(infos: dict[str, Any], rows: NDArray[np.bool_]) -> Any:
    """
    ## Last observations

    Args:
        infos: those of a step.
        rows: in which environments an episode ended with it, shape `(num_envs,)`.

    Returns:
        The last observation of each, shape `(rows.sum(), …)`.

    Raises:
        ValueError: if the games do not report them.
    """
    if "final_obs" not in infos:
        raise ValueError(
            "an episode ended, and infos has no final_obs: make the games with "
            "autoreset_mode=SAME_STEP"
        )
    return np.stack(list(infos["final_obs"][rows]))
