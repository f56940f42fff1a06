"""
---
title: Wrappers that act
summary: No-ops, repeated frames, lives and the button, and every way a game can end.
---

# Wrappers that act

Some wrappers do not leave all the acting to the agent. They let frames pass, hold its
action for four of them, or press a button before its episode begins. They are hard to
get right because a game can end at any time, even when it is a wrapper's turn.

These wrappers pass on everything that happens meanwhile, except points: the agent is
not paid for what it has not done.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete

from labml_rl.game import FRAMES_PER_STEP
from labml_rl.wrappers.frames import Start, Step


class NoopStart(gymnasium.Wrapper):
    """
    ## No-ops

    The first few frames of a game are played [without an
    action][labml_rl.game.GameOptions]. Their number is drawn for each game. They are
    counted in *frames*, so this wrapper belongs below the one that repeats actions.

    !!! warning "Whose dice?"
        The environment's own, `np_random`, which `reset(seed=…)` sets. NumPy's global
        generator ties all games in a process together. And `action_space.sample()` has
        its own generator, which `reset` leaves alone. With either, the seed given to
        `reset` reproduces nothing.

    Args:
        env: with an action called `NOOP`.
        noop_max: the number of no-ops is drawn from 1 to this one.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], noop_max: int = 30) -> None:
        super().__init__(env)
        if noop_max < 1:
            raise ValueError(f"noop_max must be at least 1, not {noop_max}")
        self._noop_max = noop_max
        self._noop = number_of("NOOP", self)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """A game that ends during its no-ops is replaced by another, with new ones."""
        observation, info = self.env.reset(seed=seed, options=options)
        count = int(self.np_random.integers(1, self._noop_max, endpoint=True))
        for _ in range(count):
            observation, _, terminated, truncated, info = self.env.step(self._choose())

            # The seed is not given again: it would bring back this game and its end.
            if terminated or truncated:
                return self.reset(options=options)
        return observation, info

    def _choose(self) -> int:
        return self._noop


class RandomStart(NoopStart):
    """
    ### Random actions instead

    Random actions vary the beginning more, but can cost a life. They are drawn from
    those of the environment below.
    """

    def _choose(self) -> int:
        space = self.env.action_space
        assert isinstance(space, Discrete), "with NOOP there are numbered actions"
        return int(space.start + self.np_random.integers(space.n))


class SkipFrames(gymnasium.Wrapper):
    """
    ## Four frames a step

    Hold each action for a few frames, add up the points, and show the last observation.

    Args:
        env: where one step is one frame.
        frames: how many.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], frames: int = FRAMES_PER_STEP
    ) -> None:
        super().__init__(env)
        if frames < 1:
            raise ValueError(f"frames must be at least 1, not {frames}")
        self._frames = frames
        self._ended_early = False

        # So that a recorded video runs at the speed of the game.
        fps = env.metadata.get("render_fps", 60) / frames
        self.metadata = env.metadata | {"render_fps": fps}

    def step(self, action: Any) -> Step:
        """
        Play the frames. A game that is over cannot be cut off any more, so it is not
        `truncated`, even in the last frame that it was allowed.
        """
        points = 0.0
        for to_come in reversed(range(self._frames)):
            observation, reward, terminated, truncated, info = self.env.step(action)
            points += float(reward)
            self._ended_early = terminated and not truncated and to_come > 0
            if terminated or truncated:
                break
        return observation, points, terminated, truncated and not terminated, info


class RepeatAndMax(SkipFrames):
    """
    ### And the maximum of the last two

    [Many games](../screen.py) draw half of their objects in the even frames and half in
    the odd ones. The maximum of two frames, for each pixel and colour, shows both.

    The two come from a `StackFrames(env, 2)` further down, below the no-ops. So the
    first picture of an episode has all the objects as well.

    !!! warning "When the end comes early"
        A game can end in the first frames of a step. Baselines, Stable-Baselines3 and
        Gymnasium have then stored none of them, and return the frames of the step
        *before*. Here the final frame is shown on its own.

    Raises:
        ValueError: if the observations below are not two frames, of shape `(2, height,
            width, colours)`.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], frames: int = FRAMES_PER_STEP
    ) -> None:
        super().__init__(env, frames)
        space = env.observation_space
        if not isinstance(space, Box) or len(space.shape) != 4 or space.shape[0] != 2:
            raise ValueError(
                "RepeatAndMax needs the last two frames, (2, height, width, 3), and "
                f"not {space.shape}: put StackFrames(env, 2) below it"
            )
        low, high = space.low[0], space.high[0]
        self.observation_space = Box(low, high, dtype=low.dtype.type)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """Show the maximum of the two frames before the first step."""
        frames, info = self.env.reset(seed=seed, options=options)
        return frames.max(axis=0), info

    def step(self, action: Any) -> Step:
        """Show the maximum of the last two frames."""
        frames, points, terminated, truncated, info = super().step(action)
        shown = frames[-1:] if self._ended_early else frames
        return shown.max(axis=0), points, terminated, truncated, info


class MaxBetweenFrames(gymnasium.Wrapper):
    """
    ### The same with two wrappers

    `SkipFrames(NoopStart(MaxBetweenFrames(env)))` is another way, without the stack:
    the maximum of every frame and the one before, and every fourth of these. It shows
    the same pictures, with one exception. Where a game ends early in a step, the frame
    before the last is in the final picture, too.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not isinstance(env.observation_space, Box):
            raise ValueError(
                f"MaxBetweenFrames needs arrays, in a Box, not {env.observation_space}"
            )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """Show the first frame as it is."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._before = np.array(observation)  # Some write all into one array.
        return self._before.copy(), info

    def step(self, action: Any) -> Step:
        """Show the maximum of this frame and the one before."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        both = np.maximum(observation, self._before)
        self._before = np.array(observation)
        return both, float(reward), terminated, truncated, info


class EpisodicLife(gymnasium.Wrapper):
    """
    ## One life, one episode

    An agent learns from the end of an episode that nothing good follows. So that it
    learns what a life is worth, a lost life ends the episode, but not the game: the
    next episode begins where this one ended.

    !!! warning "Three ways to get it wrong"
        *Restarting the game*, as [some do][labml_rl.game.Game.reset].

        *Taking zero lives for the end.* In [some games][labml_rl.game.Game.step] the
        last life is played with the counter at 0. Hence the `0 <` below.

        *Not checking the step that `reset` lets pass.* It can end the game, and then
        Baselines goes on with a game that is over.

    Args:
        env: with an action `NOOP`, and with `"lives"` in every `info`.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._noop = number_of("NOOP", self)
        self.life_lost = False  # the episode is over and the game is not

    @property
    def goes_on(self) -> bool:
        """As for [a game][labml_rl.game.Game.goes_on], for the wrappers around it."""
        return self.life_lost

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """
        After a lost life, let one step pass and go on. Begin a new game if there is no
        old one, if that step ends it, or if a `seed` or `{"new_game": True}` asks for
        it.

        Returns:
            The first observation, and `info`, with the score of a game that ended here.

        Raises:
            ValueError: if `info` has no number of lives.
        """
        info: dict[str, Any] = {}
        give_up = seed is not None or (options or {}).get("new_game", False)
        over = give_up or not self.life_lost
        if not over:
            observation, _, terminated, truncated, info = self.env.step(self._noop)
            over = terminated or truncated
        if over:
            observation, new_info = self.env.reset(seed=seed, options=options)
            info = info | new_info
        if "lives" not in info:
            raise ValueError("EpisodicLife needs the number of lives in info['lives']")
        self.life_lost, self._lives = False, info["lives"]
        return observation, info

    def step(self, action: Any) -> Step:
        """
        Play on. The episode ends if there are fewer lives than before, but still some.

        Raises:
            ResetNeeded: between two lives.
        """
        if self.life_lost:
            raise ResetNeeded("call reset() first: a life was lost")
        observation, reward, terminated, truncated, info = self.env.step(action)
        fewer = 0 < info["lives"] < self._lives
        self._lives = info["lives"]
        self.life_lost = fewer and not (terminated or truncated)
        return observation, float(reward), terminated or fewer, truncated, info


class FireStart(gymnasium.Wrapper):
    """
    ## The button

    Some games wait for the button: Breakout serves no ball before it is pressed. That
    has to be done after each life, so this wrapper goes *around* [EpisodicLife][].

    !!! warning "By now the game may be over"
        Then the first observation of the new game is the one to return. Baselines and
        Stable-Baselines3 begin a new game and return the last observation of the old.
        They also press action 2, whatever that is.

    Args:
        env: with an action called `FIRE`.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        self._fire = number_of("FIRE", self)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """
        Press the button for one step.

        Returns:
            The observation after it, and `info`, with the score of a game that ended
            between two lives.
        """
        _, info = self.env.reset(seed=seed, options=options)
        observation, _, terminated, truncated, new_info = self.env.step(self._fire)
        info = info | new_info

        # A life that the button cost ends no episode, for none has begun.
        episodic = self.env.has_wrapper_attr("life_lost")
        if episodic and self.env.get_wrapper_attr("life_lost"):
            self.env.set_wrapper_attr("life_lost", False)
        elif terminated or truncated:
            observation, new_info = self.reset(options=options)
            info = info | new_info
        return observation, info


def number_of(name: str, wrapper: gymnasium.Wrapper) -> int:
    """
    ## Actions by name

    Number 1 is `FIRE` in Breakout and `UP` in Ms. Pac-Man. Only the name is safe.

    Args:
        name: in capitals, as ALE writes it.
        wrapper: will press it in the environment below.

    Raises:
        ValueError: if there is no such action.
    """
    env, what = wrapper.env, wrapper.class_name()
    if not env.has_wrapper_attr("get_action_meanings"):
        raise ValueError(f"{what} needs an environment with get_action_meanings()")
    meanings: list[str] = env.get_wrapper_attr("get_action_meanings")()
    if name not in meanings:
        raise ValueError(f"{what} needs an action {name}, and there are {meanings}")
    return meanings.index(name)
