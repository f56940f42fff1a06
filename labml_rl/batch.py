"""
---
title: Many games at once
summary: Several environments as one VectorEnv of Gymnasium.
---

# Many games at once

This page makes several environments into one, a
[VectorEnv](https://gymnasium.farama.org/api/vector/) or **vectorised environment**
(*vectorized*) of Gymnasium. It takes a batch of actions and returns a batch of
everything else:

```python
from functools import partial
from labml_rl.batch import SerialGames, spawn_seeds
from labml_rl.game import make_game

games = SerialGames(
    partial(make_game, "Pong", seed=seed)
    for seed in spawn_seeds(1, 8)
)
obs, infos = games.reset()  # (8, 4, 84, 84)
actions = games.action_space.sample()
obs, rewards, terminated, truncated, infos = games.step(
    actions
)
```

[SerialGames][] plays them one after another, in this process, as `SyncVectorEnv` and
`DummyVecEnv` of other libraries do. That is the simplest way, and the best for finding
mistakes. [A later page](worker.py) spreads them over processes, behind the same
interface, [Games][].
"""

import contextlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.error import (
    AlreadyPendingCallError,
    ClosedEnvironmentError,
    InvalidAction,
    NoAsyncCallError,
)
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from labml_rl.runner import Batch, Infos, Runner, Spaces, spaces_of, staying

MakeEnv = Callable[[], gymnasium.Env[Any, Any]]

# These change the state of a game. All other methods only ask.
PLAYING = ("reset", "step", "set_state")


def spawn_seeds(seed: int | None, count: int) -> list[int]:
    """
    ## Seeds

    Games with the same seed begin with the same no-ops and, as long as the agent does
    the same, go on in the same way. An agent that always takes the best action then
    plays one game eight times over. An agent that draws its actions gets eight games,
    but they all begin alike.

    !!! warning "`seed + i` is no better"
        Runs are repeated with seeds 1, 2, 3 to see how much is luck. With `seed + i`,
        run 1 plays the games 1 to 8 and run 2 the games 2 to 9: seven of eight are the
        same, and the runs agree more than they should. Gymnasium's own vector
        environments count up like this.

    So the seeds are drawn from the run's seed by a hash, NumPy's `SeedSequence`. Adding
    games does not change the seeds of those before.

    Args:
        seed: that of the run; `None` draws one.
        count: how many games.

    Returns:
        That many seeds, all different, and practically independent of those of any
        other run.

    Raises:
        ValueError: if there are to be none, or if the seed is below 0.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 game, not {count}")
    # They are of 63 bits, so that they fit wherever a whole number does. NumPy's old
    # generators, which dm_control still has, take 32: pass them `seed % 2**32`.
    drawn = np.random.SeedSequence(seed).generate_state(count, np.uint64)
    return [int(each) >> 1 for each in drawn]


class Games(VectorEnv[Any, Any, NDArray[Any]]):
    """
    ## The interface

    This is what the agent deals with, wherever the games are played.

    Whatever an environment raises is raised here, too, with a note that says which one
    it was. From a worker it comes as a [WorkerError][labml_rl.process.WorkerError]. The
    games are closed then, unless all of them are in this process and were only asked
    something.

    Args:
        spaces: of the observations and of the actions of each environment.
        num_envs: how many environments.
        batch: where the environments write.
        autoreset_mode: what follows [the end of an
            episode][labml_rl.runner.Runner._step]. Gymnasium's wrappers that change the
            observations of a batch accept every mode except `SAME_STEP`.
        copy: whether `reset` and `step` return copies of the observations. If not,
            they return the arrays that the games write to, and the next step changes
            them before the agent's eyes.
    """

    def __init__(
        self,
        spaces: Spaces,
        num_envs: int,
        batch: Batch,
        *,
        autoreset_mode: AutoresetMode,
        copy: bool,
    ) -> None:
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces
        self.observation_space = batch_space(spaces[0], num_envs)
        self.action_space = batch_space(spaces[1], num_envs)
        self.metadata = self.metadata | {"autoreset_mode": autoreset_mode}
        self._batch = batch
        self._copy = copy
        self._asked_for: str | None = None

    # Two things are left open: how to ask a [Runner][] for something, and how to wait
    # for its answer. Requests and answers have an entry for each environment.
    @abstractmethod
    def _send(self, method: str, requests: Sequence[Any]) -> None: ...

    @abstractmethod
    def _receive(self) -> list[Any]: ...

    def _ask(self, method: str, requests: Sequence[Any]) -> None:
        if self.closed:
            raise ClosedEnvironmentError(f"{method}: the games are closed")
        if self._asked_for is not None:
            raise AlreadyPendingCallError(
                f"{method}: wait for the {self._asked_for} first", self._asked_for
            )
        self._send(method, requests)
        self._asked_for = method

    def _answer(self, method: str) -> list[Any]:
        if self._asked_for != method:
            raise NoAsyncCallError(f"nobody asked for a {method}", method)
        try:
            return self._receive()
        finally:
            self._asked_for = None

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """
        ### Reset

        Args:
            seed: [seeds are drawn][spawn_seeds] from it for all environments; or a
                list, with one for each.
            options: passed on to the environments. With `"reset_mask"`, a boolean array
                of shape `(num_envs,)`, only those are reset for which it is true.

        Returns:
            Observations and infos.

        Raises:
            ValueError: if there are not as many seeds, or entries in the mask, as
                environments.
            gymnasium.error.Error: if the seed is below 0.
        """
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
            seeds: Sequence[int | None] = spawn_seeds(int(seed), self.num_envs)
        else:
            seeds = [None] * self.num_envs if seed is None else list(seed)
            seeds = [each if each is None else int(each) for each in seeds]
        own = None if options is None else dict(options)
        mask = list((own or {}).pop("reset_mask", [True] * self.num_envs))
        for what, given in (("seeds", seeds), ("entries in reset_mask", mask)):
            if len(given) != self.num_envs:
                raise ValueError(
                    f"{len(given)} {what} for {self.num_envs} environments"
                )
        arguments = [{"seed": each, "options": own} for each in seeds]
        self._ask("reset", list(zip(mask, arguments, strict=True)))
        infos = self._infos(self._answer("reset"))
        return self._observations(), infos

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """
        ### One step of each

        Args:
            actions: one for each environment.

        Returns:
            Observations, rewards (float64), `terminated` and `truncated` (bool), all
            with a row for each environment, and infos. In the infos, each key has an
            array with these rows, and the same key with an underscore says which of
            them count. So the scores of finished games are in
            `infos["final_info"]["episode"]["r"]`, and `infos["final_info"]["_episode"]`
            says in which rows. (An episode that ended with the loss of a life has no
            score, and if no others ended, there is no `"episode"`:
            [scores_of][labml_rl.environments.scores_of] allows for both. An environment
            of your own has scores if [Resumable][labml_rl.environments.Resumable] or
            Gymnasium's `RecordEpisodeStatistics` is around it.)

        Raises:
            InvalidAction: if there are too few or too many, if their shape is wrong, or
                if they are numbered and there is no such action. One with several parts
                is for the environment to check.
            ResetNeeded: before the first `reset`, and with `DISABLED` after the end of
                an episode.
        """
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: Any) -> None:
        """
        ### Meanwhile

        With worker processes, this only hands out the actions. Whatever the agent does
        before it calls [Games.step_wait][] happens while the games are played. Those in
        its own process are played only when it waits: all of [SerialGames][], and with
        `joins` [a share of ParallelGames][labml_rl.worker.ParallelGames].

        Args:
            actions: one for each environment.

        Raises:
            InvalidAction: as [Games.step][] does.
        """
        try:
            each = self._one_each(actions)
        except (TypeError, ValueError, LookupError) as error:
            raise InvalidAction(f"{actions!r} is not in {self.action_space}") from error
        self._ask("step", each)

    def _one_each(self, actions: Any) -> list[Any]:
        if isinstance(self.single_action_space, Discrete):
            chosen = np.asarray(actions)
            each: list[Any] = chosen.tolist()
            low = self.single_action_space.start
            high = low + self.single_action_space.n
            if (
                chosen.shape != (self.num_envs,)
                or chosen.dtype.kind not in "iu"
                or not all(low <= action < high for action in each)
            ):
                raise InvalidAction(f"{actions!r} is not in {self.action_space}")
        else:
            # The caller may write the next actions into the same array.
            each = list(iterate(self.action_space, deepcopy(actions)))
            if len(each) != self.num_envs:
                raise InvalidAction(f"{len(each)} actions for {self.num_envs} games")
            expected, found = self.action_space.shape, np.shape(actions)
            if isinstance(self.action_space, Box) and found != expected:
                raise InvalidAction(f"actions must have shape {expected}, not {found}")
        return each

    def step_wait(
        self,
    ) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """
        Returns:
            What [Games.step][] returns.
        """
        infos = self._infos(self._answer("step"))
        batch = self._batch
        return (
            self._observations(),
            batch.rewards.copy(),
            batch.terminated.copy(),
            batch.truncated.copy(),
            infos,
        )

    def _observations(self) -> Any:
        batch = self._batch.observations
        return deepcopy(batch) if self._copy else batch

    def _infos(self, infos: Infos) -> dict[str, Any]:
        together: dict[str, Any] = {}
        for row, info in enumerate(infos):
            try:
                together = self._add_info(together, info, row)
            except Exception as error:
                error.add_note(
                    f"This happened with the infos of environment {row}, {info}. What "
                    "has one key must be of one type and shape in all environments"
                )
                raise
        return together

    # Gymnasium gives the array of a key the type of the first number, and if that is a
    # whole number, NumPy would cut the 0.7 of the next environment down to 0.
    def _add_info(
        self, vector_infos: dict[str, Any], env_info: dict[str, Any], env_num: int
    ) -> dict[str, Any]:
        for key, value in env_info.items():
            known = vector_infos.get(key)
            if isinstance(known, np.ndarray) and known.dtype.kind in "biu":
                found = np.asarray(value).dtype
                if found.kind in "biuf" and not np.can_cast(found, known.dtype):
                    wide = np.promote_types(found, known.dtype)
                    vector_infos[key] = known.astype(wide)
        return super()._add_info(vector_infos, env_info, env_num)

    def call(self, name: str, *arguments: Any, **options: Any) -> tuple[Any, ...]:
        """
        Call a method of every environment, or look at an attribute. What a wrapper does
        not have is looked for in the environment below it.

        Args:
            name: of the method.
            arguments: for it, as are the `options`.

        Returns:
            Their answers, in order.
        """
        self._ask("call", [(name, arguments, options)] * self.num_envs)
        return tuple(self._answer("call"))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """
        Look at an attribute of every environment.

        Returns:
            Their attributes, in order.
        """
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """
        Set an attribute of every environment: its level, for instance, so that it gets
        harder as the agent gets better. In a wrapped environment it is set where it is
        found.

        !!! warning "An opponent that learns"
            Workers get a copy of the value, and environments in this process get the
            value itself. If that is the network that learns, it goes on learning there.
            So set a `deepcopy` of it. And the state of an environment that is [replayed
            from its actions][labml_rl.environments.Resumable] does not know of what was
            set: set it again before [Games.set_states][].

        Args:
            name: the attribute.
            values: a list or a tuple with one for each, or one for all.

        Raises:
            ValueError: if there are too few or too many.
        """
        several = isinstance(values, list | tuple)
        each = list(values) if several else [values] * self.num_envs
        if len(each) != self.num_envs:
            raise ValueError(f"{len(each)} values for {self.num_envs} environments")
        self._ask("set_attr", [(name, value) for value in each])
        self._answer("set_attr")

    def get_states(self) -> list[Any]:
        """
        ### Saved games

        Returns:
            The state of each, as [its `get_state`][labml_rl.game.Game.get_state]
            describes it.

        Raises:
            TypeError: if the environments can't be saved.
            NotImplementedError: if they are [ALE's own][labml_rl.native.NativeGames].
        """
        self._ask("get_state", [None] * self.num_envs)
        return self._answer("get_state")

    def set_states(self, states: Sequence[Any]) -> Any:
        """
        Continue from saved states, in this process or in another.

        Args:
            states: what [Games.get_states][] returned, for games made in the same way.

        Returns:
            The observations that the agent had when the states were saved.

        Raises:
            ValueError: if there are not as many as there are environments.
        """
        if len(states) != self.num_envs:
            raise ValueError(f"{len(states)} states for {self.num_envs} environments")
        self._ask("set_state", list(states))
        self._answer("set_state")
        return self._observations()

    def render(self) -> tuple[Any, ...]:
        """
        Returns:
            What `render` returns, for each environment.
        """
        return self.call("render")

    def close(self, **_: Any) -> None:
        """
        Close all. Closing twice does no harm, even if it failed for one of them.
        Arguments, such as Gymnasium's `timeout`, change nothing.
        """
        try:
            super().close()
        finally:
            self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SerialGames(Games):
    """
    ## One after another

    Args:
        make_envs: a function for each environment, which makes it.
        names: what to call each of them in an error.
        autoreset_mode: what follows [the end of an
            episode][labml_rl.runner.Runner._step].
        copy: whether the agent gets [its own copies][Games].
        first: the number of the first, in an error, if there are others before it.
        spaces: what all environments should have; `None` is what the first has.

    Raises:
        ValueError: if there are no environments, if their spaces are not the same, or
            if observations have no fixed size. Those that were made are closed.
    """

    def __init__(
        self,
        make_envs: Iterable[MakeEnv],
        *,
        names: Iterable[str] | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.SAME_STEP,
        copy: bool = True,
        first: int = 0,
        spaces: Spaces | None = None,
    ) -> None:
        # Gymnasium's own batches also take its name, such as "NextStep".
        autoreset_mode = AutoresetMode(autoreset_mode)
        makers, called = listed(make_envs, names, first)
        envs = make_all(makers, called)
        self._runner = Runner(envs, called, autoreset_mode)

        # If something fails on the way, the stack closes the games. If nothing does,
        # `pop_all` tells it to leave them open.
        with contextlib.ExitStack() as stack:
            stack.callback(self._runner.close)
            spaces = spaces or spaces_of(envs[0])
            self._runner.check_spaces(spaces)
            batch = Batch.empty(spaces[0], len(envs))
            super().__init__(
                spaces, len(envs), batch, autoreset_mode=autoreset_mode, copy=copy
            )
            self._runner.write_to(batch)
            stack.pop_all()
        self.render_mode = envs[0].render_mode

    def _send(self, method: str, requests: Sequence[Any]) -> None:
        self._request = method, requests

    def _receive(self) -> list[Any]:
        """
        If one game fails to play, or Ctrl-C comes in the middle, some have played this
        step and others have not. So all of them are given up, as [those in
        workers][labml_rl.worker.ParallelGames._receive] are. A question that a game
        can't answer does no harm.
        """
        method, requests = self._request
        try:
            return getattr(self._runner, method)(requests)
        except BaseException as error:
            if isinstance(error, Exception) and method not in PLAYING:
                raise
            self.closed = True

            # What was wrong with an environment may keep it from closing, too.
            with contextlib.suppress(Exception):
                self._runner.close()
            raise

    def close_extras(self) -> None:
        """Close all environments."""
        self._runner.close()


def listed(
    make_envs: Iterable[MakeEnv], names: Iterable[str] | None, first: int = 0
) -> tuple[list[MakeEnv], list[str]]:
    """
    The arguments of [SerialGames][] as lists.

    Returns:
        The functions, and a name for each. All games are counted from 0, as rows are.

    Raises:
        ValueError: if there are none, or not as many names.
    """
    makers = list(make_envs)
    if not makers:
        raise ValueError("no games: make_envs is empty")
    called = [f"game {row}" for row in range(first, first + len(makers))]
    if names is not None:
        given = list(names)
        if len(given) != len(makers):
            raise ValueError(f"{len(given)} names for {len(makers)} environments")
        called = [f"{a} ({b})" for a, b in zip(called, given, strict=True)]
    return makers, called


def make_all(makers: Sequence[MakeEnv], names: Sequence[str]) -> list[Any]:
    """
    Args:
        makers: make the environments.
        names: what to call them.

    Returns:
        The environments. If one can't be made, the error says which, and those made
        before it are closed.
    """
    with contextlib.ExitStack() as stack:
        envs = []
        for make_env, name in zip(makers, names, strict=True):
            try:
                with staying(name):
                    envs.append(make_env())
            except Exception as error:
                error.add_note(f"This happened while {name} was made.")
                raise
            stack.enter_context(staying(name))
            stack.callback(envs[-1].close)
        stack.pop_all()
    return envs


def spaces_of_first(makers: Sequence[MakeEnv], names: Sequence[str]) -> Spaces:
    """
    Args:
        makers: make the environments. The first is made, and closed again.
        names: what to call them.

    Returns:
        Its spaces, of observations and of actions. If it can't be made, the error says
        which it was.
    """
    (first,) = make_all(makers[:1], names[:1])
    with staying(names[0]), contextlib.closing(first):
        return spaces_of(first)
