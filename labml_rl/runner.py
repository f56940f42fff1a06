"""
---
title: One step in all games
summary: A step of several environments, and what follows the end of an episode.
---

# One step in all games

For a while, everything that happens in one game is alike: the same level, the same
life, the same mistake. An agent that learned from one game alone would adapt to what it
had seen last, and forget the rest. So most algorithms play eight or sixteen games at
once, each at a different point, and learn from all of them together. And a network
answers for sixteen observations in hardly more time than for one.

This page and the next three make several environments into one. This one has the core
of it, [Runner][]: it gives each of its environments an action, and puts what comes back
into one [Batch][]. That would be a loop of three lines if games did not end.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, SupportsFloat, cast

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Dict, Space, Tuple
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import create_empty_array
from numpy.typing import NDArray

Infos = list[dict[str, Any]]
Spaces = tuple[Space[Any], Space[Any]]  # of observations and of actions


@dataclass(frozen=True)
class Batch:
    """
    ## A batch

    Every game has its row in these arrays, and writes what happens straight into it.
    Nothing has to be gathered afterwards.

    Args:
        observations: shape `(num_envs, …)`; for a space of dictionaries or tuples, a
            dictionary or tuple of such arrays.
        rewards: float64, shape `(num_envs,)`.
        terminated: bool, shape `(num_envs,)`.
        truncated: bool, shape `(num_envs,)`.
    """

    observations: Any
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    @staticmethod
    def empty(space: Space[Any], num_envs: int) -> "Batch":
        """
        Args:
            space: that of one environment's observations.
            num_envs: how many environments.

        Raises:
            ValueError: if an observation has no fixed size.
        """
        observations = create_empty_array(space, num_envs)
        if not _all_arrays(space, observations):
            raise ValueError(
                "observations must be arrays of a fixed size, or dictionaries or "
                f"tuples of such; those of {space} are not"
            )
        return Batch(
            observations,
            np.zeros(num_envs),
            np.zeros(num_envs, np.bool_),
            np.zeros(num_envs, np.bool_),
        )

    def rows(self, start: int, stop: int) -> "Batch":
        """The rows from `start` up to `stop`. They share the same memory."""
        return Batch(
            _at(self.observations, slice(start, stop)),
            self.rewards[start:stop],
            self.terminated[start:stop],
            self.truncated[start:stop],
        )


# Where a size is not fixed, Gymnasium gives tuples, too: empty ones.
def _all_arrays(space: Space[Any], batch: Any) -> bool:
    if isinstance(space, Dict):
        return all(_all_arrays(part, batch[key]) for key, part in space.items())
    if isinstance(space, Tuple):
        return all(map(_all_arrays, space, batch))
    return isinstance(batch, np.ndarray)


def _at(batch: Any, rows: slice) -> Any:
    if isinstance(batch, dict):
        return {key: _at(value, rows) for key, value in batch.items()}
    if isinstance(batch, tuple):
        return tuple(_at(value, rows) for value in batch)
    return batch[rows]


def _put(batch: Any, row: int, observation: Any) -> None:
    if isinstance(batch, dict):
        for key, value in batch.items():
            _put(value, row, observation[key])
    elif isinstance(batch, tuple):
        for value, part in zip(batch, observation, strict=True):
            _put(value, row, part)
    else:
        found = np.asarray(observation)
        kind, expected = found.dtype.kind, batch.dtype.kind
        # NumPy would write one number into all places, and cut 0.7 down to 0.
        is_cut = kind in "fc" and expected not in "fc"
        if found.shape != batch.shape[1:] or is_cut:
            raise ValueError(
                f"the space of the observations says {batch.dtype} of shape "
                f"{batch.shape[1:]}, and this is {found.dtype} of shape {found.shape}"
            )
        batch[row] = found
        # It would also write 300 as 44.
        may_wrap = found.dtype != batch.dtype and kind in "iu" and expected in "iu"
        if may_wrap and not np.array_equal(batch[row], found):
            raise ValueError(
                f"an observation has numbers from {found.min()} to {found.max()}, and "
                f"its space says {batch.dtype}, which can't hold them"
            )


def spaces_of(env: gymnasium.Env[Any, Any]) -> Spaces:
    """The spaces of its observations and of its actions."""
    return env.observation_space, env.action_space


class SavesState(Protocol):
    """
    ## Saved games

    Some environments can be left in the middle of an episode and [continued
    later][labml_rl.game.Game.get_state], or in another process.
    """

    def get_state(self) -> Any:
        """
        Returns:
            Numbers, strings, bytes, arrays, and lists and dictionaries of these.
        """

    def set_state(self, state: Any, /) -> Any:
        """
        Args:
            state: what [SavesState.get_state][] returned.

        Returns:
            The observation that the agent had when the state was saved.
        """


def begun(answer: Any) -> tuple[Any, dict[str, Any]]:
    """
    Args:
        answer: what an environment's `reset` returned.

    Returns:
        The first observation, and `info`.

    Raises:
        TypeError: if there is only an observation, as there was before Gymnasium.
    """
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise TypeError(
            "reset() must return the first observation and a dictionary, as "
            f"`return observation, {{}}`, not {type(answer).__name__}"
        )
    if not isinstance(answer[1], dict):
        raise TypeError(
            "the second of what reset() returns must be a dictionary, not "
            f"{type(answer[1]).__name__}"
        )
    return answer


def stepped(answer: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
    """
    Args:
        answer: what an environment's `step` returned.

    Returns:
        The same.

    Raises:
        TypeError: unless there are five things, of which the last is a dictionary and
            the two ends are not. Before Gymnasium there were four, with one end for
            both.
    """
    several = isinstance(answer, tuple | list)
    if not several or len(answer) != 5:
        found = len(answer) if several else type(answer).__name__
        raise TypeError(
            "step() must return five things, as `return observation, reward, "
            f"terminated, truncated, {{}}`, not {found}"
        )
    if not isinstance(answer[4], dict):
        raise TypeError(
            "the last of what step() returns must be a dictionary, not "
            f"{type(answer[4]).__name__}"
        )
    # No dictionary with something in it is false, whatever it says of each agent.
    if isinstance(answer[2], dict) or isinstance(answer[3], dict):
        raise TypeError(
            "terminated and truncated must be True or False, not a dictionary: there "
            "is one agent here"
        )
    return tuple(answer)


@contextmanager
def staying(name: str) -> Iterator[None]:
    """
    Closing the window of a game may end the program with it. But a run that ends
    without a word would look complete.

    Args:
        name: of the environment that is used inside.

    Raises:
        RuntimeError: for a `sys.exit` inside.
    """
    try:
        yield
    except SystemExit as error:
        raise RuntimeError(f"{name} called sys.exit({error.code!r})") from error


def _saving(env: gymnasium.Env[Any, Any]) -> SavesState:
    if not hasattr(env, "get_state"):
        raise TypeError(
            f"{env} cannot be saved: it has no get_state. "
            "labml_rl.environments.Resumable around it gives it one"
        )
    return cast(SavesState, env)


# The state of an environment whose episode is over, and which is waiting for its reset.
OVER = "the episode is over"


class Runner:
    """
    ## Playing a few of them

    The runner does with each of its environments what is asked of them all.

    Args:
        envs: the environments.
        names: what to call each of them in an error.
        autoreset_mode: see [below][Runner._step].
    """

    def __init__(
        self,
        envs: Sequence[gymnasium.Env[Any, Any]],
        names: Sequence[str],
        autoreset_mode: AutoresetMode,
    ) -> None:
        self.envs, self.names = envs, names
        self._mode = autoreset_mode
        self._over = [False] * len(envs)

    def write_to(self, batch: Batch) -> None:
        """
        Say where the results go. An environment that can [write there
        itself][labml_rl.game.Game.observe_into], as a game can, needs no copy.
        """
        self._batch = batch
        self._places: list[Any] = [None] * len(self.envs)
        for row, env in enumerate(self.envs):
            if hasattr(env, "observe_into"):
                self._places[row] = batch.observations[row]
                env.observe_into(self._places[row])

    def check_spaces(self, spaces: Spaces) -> None:
        """
        Args:
            spaces: what all environments should have.

        Raises:
            ValueError: if one has different spaces.
        """
        for name, env in zip(self.names, self.envs, strict=True):
            for kind, found, expected in zip(
                ("observation", "action"), spaces_of(env), spaces, strict=True
            ):
                if found != expected:
                    raise ValueError(
                        f"all environments must have the same {kind} space. That of "
                        f"{name} is {found}, that of the first is {expected}"
                    )

    def reset(self, requests: Sequence[tuple[bool, dict[str, Any]]]) -> Infos:
        """Begin an episode in each that was asked for one, with its arguments."""

        def reset(row: int) -> dict[str, Any]:
            wanted, arguments = requests[row]
            if not wanted:
                return {}
            observation, info = begun(self.envs[row].reset(**arguments))
            self._write(row, observation)
            self._over[row] = False
            return info

        return self._each(reset)

    def step(self, actions: Sequence[Any]) -> Infos:
        """One action in each."""
        return self._each(lambda row: self._step(row, actions[row]))

    def call(
        self, requests: Sequence[tuple[str, tuple[Any, ...], dict[str, Any]]]
    ) -> list[Any]:
        """Call a method of each, or look at an attribute."""

        def call(row: int) -> Any:
            name, arguments, options = requests[row]
            found = self.envs[row].get_wrapper_attr(name)
            return found(*arguments, **options) if callable(found) else found

        return self._each(call)

    def set_attr(self, requests: Sequence[tuple[str, Any]]) -> list[None]:
        """Set an attribute of each."""
        return self._each(lambda row: self.envs[row].set_wrapper_attr(*requests[row]))

    def get_state(self, _: Sequence[None]) -> list[Any]:
        """The state of each, to continue from later."""

        def get_state(row: int) -> Any:
            state = _saving(self.envs[row]).get_state()
            return {OVER: state} if self._over[row] else state

        return self._each(get_state)

    def set_state(self, states: Sequence[Any]) -> list[None]:
        """Continue each from where it was."""

        def set_state(row: int) -> None:
            state = states[row]
            over = isinstance(state, dict) and state.keys() == {OVER}
            observation = _saving(self.envs[row]).set_state(
                state[OVER] if over else state
            )
            self._write(row, observation)
            self._over[row] = over

        return self._each(set_state)

    def _each(self, do: Callable[[int], Any]) -> list[Any]:
        # An error says where it happened.
        done: list[Any] = []
        try:
            for row in range(len(self.envs)):
                done.append(do(row))
        except Exception as error:
            error.add_note(f"This happened in {self.names[len(done)]}.")
            raise
        except SystemExit:
            with staying(self.names[len(done)]):
                raise
        return done

    def _step(self, row: int, action: Any) -> dict[str, Any]:
        """
        ### When an episode ends

        The other games go on, so a new episode must begin in this one. There are three
        ways, and Gymnasium has names for them. Say step 7 ends an episode with the
        observation z, and the next episode begins with q0. A step returns:

        ```text
        step        7    8    9
        SAME_STEP   q0   q1   q2    z is in final_obs
        NEXT_STEP   z    q0   q1    step 8 pays nothing
        DISABLED    z    -    -     until it is reset
        ```

        - `SAME_STEP`, the default of this book: at once, in the same step. The
          observation of that step is then the *first of the next* episode. The last one
          of the old episode is in `infos["final_obs"]`, and the `info` that came with
          it in `infos["final_info"]`, with the score if the game is finished.
        - `NEXT_STEP`, Gymnasium's default since 1.0: in the step after, which ignores
          its action and pays nothing. That step is not experience, and whatever learns
          must leave it out. (Gymnasium 0.29 did as `SAME_STEP` does, with
          `final_observation` for `final_obs`. Stable-Baselines3 still does so, with
          `terminal_observation`. CleanRL's programs are for 0.29. With a newer
          version, they learn from the step that is not experience.)
        - `DISABLED`: when the agent asks for it, with
          `reset(options={"reset_mask": mask})`.

        !!! warning "Which observation is the last?"
            An algorithm that asks how much reward was still to come after a *truncated*
            episode must look at `final_obs`. The observation itself belongs to another
            episode.
        """
        env = self.envs[row]
        info: dict[str, Any]
        reward: SupportsFloat = 0.0
        terminated = truncated = False
        if not self._over[row]:
            answer = stepped(env.step(action))
            observation, reward, terminated, truncated, info = answer
        elif self._mode == AutoresetMode.NEXT_STEP:
            observation, info = begun(env.reset())
        else:
            raise ResetNeeded('reset it with options={"reset_mask": …} first')

        over = terminated or truncated
        if over and self._mode == AutoresetMode.SAME_STEP:
            # The next episode may begin with the same dictionary, filled anew.
            final = {"final_obs": self._kept(observation), "final_info": dict(info)}
            observation, info = begun(env.reset())
            info = info | final
            over = False

        self._over[row] = over
        self._write(row, observation)
        self._batch.rewards[row] = float(reward)
        self._batch.terminated[row] = terminated
        self._batch.truncated[row] = truncated
        return info

    # What is written to the batch gets the type of the space. A final observation is
    # never written there, so it gets that type here.
    def _kept(self, observation: Any) -> Any:
        batch = self._batch.observations
        if isinstance(batch, np.ndarray):
            kept = np.empty_like(batch[:1])
            _put(kept, 0, observation)
            return kept[0]
        return deepcopy(observation)

    def _write(self, row: int, observation: Any) -> None:
        place = self._places[row]
        if observation is place:
            return
        if place is not None:
            # A class derived from Game may return something else than it has written.
            # It still needs what it has written, but from now on elsewhere.
            cast(Any, self.envs[row]).observe_into(place.copy())
            self._places[row] = None
        _put(self._batch.observations, row, observation)

    def close(self) -> None:
        """Close all. If one fails to close, the others are closed all the same."""
        with ExitStack() as stack:
            for name, env in zip(self.names, self.envs, strict=True):
                stack.enter_context(staying(name))
                stack.callback(env.close)
