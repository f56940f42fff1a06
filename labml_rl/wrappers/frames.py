"""
---
title: Frames, points and actions
summary: The two ends of the pipeline, and a score that nothing on the way can distort.
---

# Frames, points and actions

The pipeline has two ends. At the bottom is the bare emulator, which plays a single
frame at a time, and at the top the agent, which chooses an action four frames long.
This page has both, and what must be done there: at the bottom the score is added up,
before anything changes it; at the top the agent is given its actions and its reward.
"""

from collections.abc import Callable
from operator import index
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded, UnsupportedMode
from gymnasium.spaces import Box, Discrete

from labml_rl.game import ALL_ACTIONS, Emulator
from labml_rl.screen import Pixels, in_colour

# What `reset` returns: an observation and `info`. And what `step` returns: observation,
# reward, `terminated`, `truncated`, `info`.
Start = tuple[Any, dict[str, Any]]
Step = tuple[Any, float, bool, bool, dict[str, Any]]


class Frames(gymnasium.Env[Pixels, int | np.integer[Any]]):
    """
    ## One frame a step

    ALE's own environment would do as well, with these two arguments:

    ```python
    gymnasium.make(
        "ALE/Breakout-v5",
        frameskip=1,
        repeat_action_probability=0,
    )
    ```

    Without them, it holds each action for four frames, and in each of these, with a
    probability of 0.25, repeats the previous action instead. No wrapper around it can
    undo that.

    This one draws its random numbers in the same order as [Game][labml_rl.game.Game],
    so that the two can be compared. And it always has all 18 actions, so that the
    wrappers that press a button find it.

    Args:
        load: makes an emulator with a game in it, from a seed for the emulator's dice.
        max_frames: after this many the game is cut off. That is truncation: it could
            have gone on.
        render_mode: `"rgb_array"` or `None`.
        seed: decides everything random; `None` draws one.
    """

    metadata = gymnasium.Env.metadata | {
        "render_modes": ["rgb_array"],
        "render_fps": 60,
    }

    def __init__(
        self,
        load: Callable[[int], Emulator],
        max_frames: int = 108_000,
        render_mode: str | None = None,
        seed: int | None = None,
    ) -> None:
        self._load, self._max_frames = load, max_frames
        self.render_mode = render_mode
        self._load_emulator(seed)
        self.action_space: Discrete = Discrete(len(ALL_ACTIONS))
        shape = (*self._emulator.getScreenDims(), 3)
        self.observation_space = Box(0, 255, shape, np.uint8)

    # Only a fresh emulator looks at its seed and knows nothing of earlier games.
    def _load_emulator(self, seed: int | None) -> None:
        super().reset(seed=None if seed is None else index(seed))
        self._emulator = self._load(int(self.np_random.integers(2**31)))
        self._in_game = False

    def get_action_meanings(self) -> list[str]:
        """
        Returns:
            The names of all actions: `"NOOP"`, which does nothing, `"FIRE"`, and so on.
        """
        return [action.name for action in ALL_ACTIONS]

    def minimal_actions(self) -> list[str]:
        """
        Returns:
            The names of the actions that do something in this game.
        """
        return [action.name for action in self._emulator.getMinimalActionSet()]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Pixels, dict[str, Any]]:
        """
        Begin a new game; with a `seed`, on a new emulator.

        Returns:
            The screen, in most games of shape `(210, 160, 3)`, and `info`, which has
            the number of lives: `{"lives": 5}`.
        """
        if seed is not None:
            self._load_emulator(seed)
        self._emulator.reset_game()
        self._frames, self._in_game = 0, True
        return in_colour(self._emulator), {"lives": self._emulator.lives()}

    def step(
        self, action: int | np.integer[Any]
    ) -> tuple[Pixels, float, bool, bool, dict[str, Any]]:
        """
        Play one frame.

        Returns:
            The screen, the points, `terminated`, `truncated`, and `info`. If a game is
            over in the very frame in which it would be cut off, both are true.

        Raises:
            ResetNeeded: if no game is going on.
            InvalidAction: if there is no such action. The emulator would not complain.
        """
        if not self._in_game:
            raise ResetNeeded("call reset() first: there is no game going on")
        check_action(self, action)
        points = float(self._emulator.act(ALL_ACTIONS[action]))
        self._frames += 1
        terminated = self._emulator.game_over(with_truncation=False)
        truncated = self._frames >= self._max_frames
        self._in_game = not (terminated or truncated)
        info = {"lives": self._emulator.lives()}
        return in_colour(self._emulator), points, terminated, truncated, info

    def render(self) -> Pixels:
        """
        Returns:
            The screen as it is.

        Raises:
            UnsupportedMode: unless made with `render_mode="rgb_array"`.
        """
        if self.render_mode is None:
            raise UnsupportedMode("make the game with render_mode='rgb_array'")
        return in_colour(self._emulator)


class EpisodeStatistics(gymnasium.Wrapper):
    """
    ## The score

    The points of a whole game, as they came in. This wrapper goes directly around the
    frames. Further out there are rewards that have been clipped, and games that have
    been cut into lives. And some points never get there: those of the frames in which a
    wrapper acts by itself.

    !!! warning "The score of a life is not a score"
        Statistics around [EpisodicLife][labml_rl.wrappers.acting.EpisodicLife] report
        each life as a separate game. In Breakout, with its five lives, that is about a
        fifth of the true score, and nobody can tell from the report.

    When a game is over, `info` gets two entries like these:

    ```python
    {
        "episode": {"r": 9.0, "l": 741, "frames": 2981},
        "cut_off": False,  # by the cap on its frames
    }
    ```

    The steps of the agent, `"l"`, cannot be counted from here, where no-ops look like
    any other action. [CountSteps][] does it from the top; without it, `"l"` is left
    out.
    """

    agent_steps: int | None = None  # `None` where nobody counts them
    _frames: int | None = None  # `None` before the first game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """Start from 0."""
        self.episode_returns, self._frames = 0.0, 0
        if self.agent_steps is not None:
            self.agent_steps = 0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> Step:
        """
        Add what this frame brings; report at the end.

        Raises:
            ResetNeeded: before the first `reset`.
        """
        if self._frames is None:
            raise ResetNeeded("call reset() first: there is no game going on")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.episode_returns += float(reward)
        self._frames += 1

        # A game that ends before the agent has done anything does not count.
        if (terminated or truncated) and self.agent_steps != 0:
            score = {"r": self.episode_returns, "frames": self._frames}
            if self.agent_steps is not None:
                score["l"] = self.agent_steps

            # An environment may have one dictionary for all its steps. Written into
            # that, the score would be reported once more with each of them.
            info = info | {"episode": score, "cut_off": truncated and not terminated}
        return observation, float(reward), terminated, truncated, info


class CountSteps(gymnasium.Wrapper):
    """
    ### The steps of the agent

    On top of all the other wrappers, each step is one of the agent's.

    Raises:
        ValueError: if there is no [EpisodeStatistics][] further down to count for.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not env.has_wrapper_attr("agent_steps"):
            raise ValueError("CountSteps needs an EpisodeStatistics further down")
        env.set_wrapper_attr("agent_steps", 0)

    def step(self, action: Any) -> Step:
        """Count, and pass the action on."""
        steps = self.env.get_wrapper_attr("agent_steps")
        self.env.set_wrapper_attr("agent_steps", steps + 1)
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except Exception:  # a step that was refused
            self.env.set_wrapper_attr("agent_steps", steps)
            raise
        return observation, float(reward), terminated, truncated, info


class MinimalActions(gymnasium.ActionWrapper):
    """
    ## The agent's actions

    Pong listens to 6 of the 18 actions, and an agent would waste its time on the rest.
    Two games, Backgammon and Video Checkers, do not even listen to `NOOP`, which
    other wrappers need. So this one goes further up than those that act by themselves.

    Args:
        env: with [Frames][] at the bottom.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if not env.has_wrapper_attr("minimal_actions"):
            raise ValueError("MinimalActions needs Frames at the bottom")
        self._names: list[str] = env.get_wrapper_attr("minimal_actions")()
        meanings: list[str] = env.get_wrapper_attr("get_action_meanings")()
        self._numbers = [meanings.index(name) for name in self._names]
        self.action_space = Discrete(len(self._names))

    def get_action_meanings(self) -> list[str]:
        """
        Returns:
            The names of the actions that are left.
        """
        return list(self._names)

    def action(self, action: int | np.integer[Any]) -> int:
        """
        Returns:
            The number of this action among all 18.

        Raises:
            InvalidAction: if there is no such action.
        """
        check_action(self, action)
        return self._numbers[action]


class ClipReward(gymnasium.RewardWrapper):
    """
    ## The agent's reward

    The agent is paid only the sign of the points, which is called **reward clipping**:
    then [one learning rate suits all games][labml_rl.game.GameOptions]. But the agent
    does not learn which points are worth more, and may play quite differently from one
    that is paid in full ([van Hasselt et al., 2016](https://arxiv.org/abs/1602.07714),
    who bring targets to one size instead).
    """

    def reward(self, reward: Any) -> float:
        """
        Returns:
            −1, 0 or 1.
        """
        return float(np.sign(float(reward)))


def check_action(env: gymnasium.Env[Any, Any], action: Any) -> None:
    """
    ### No such action

    In a list, −1 is the last entry, and the emulator takes any number for an action.

    Raises:
        InvalidAction: if the action is not in the action space.
    """
    if not env.action_space.contains(action):
        meanings = ", ".join(env.get_wrapper_attr("get_action_meanings")())
        raise InvalidAction(f"no action {action!r}; from 0 on they are {meanings}")
