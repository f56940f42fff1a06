"""
---
title: ALE's own batch of games
summary: The emulator's vector environment, in C++ threads, behind the same interface.
---

# ALE's own batch of games

The emulator's authors have written their own vector environment, in C++: threads in
place of processes, and no Python between one frame and the next. [NativeGames][] puts
it behind the interface of [the other batches](batch.py), so that a loop that plays one
can play the other:

```python
from labml_rl.native import NativeGames

with NativeGames("Pong", num_envs=8, seed=1) as games:
    obs, infos = games.reset()
```

It starts up at once, and no process can be left behind. It [is no
faster](../benchmarks/games.md) than the workers of this book, since both spend their
time in the same emulator; and it plays by its own rules.

!!! warning "What is different"
    This is true of ale-py 0.12.

    - **Greys.** It turns frames grey before it takes their maximum, so in some games
      [the picture differs][labml_rl.screen.preprocess].
    - **The beginning.** It presses the button *before* the no-ops, for one frame. There
      are 0 to `noop_max - 2` no-ops, and in games without a button up to one more.
      The first stack is three black pictures and one real one.
    - **A lost life.** The game goes on at once: nobody presses the button again, and
      the stack is not started again.
    - **The end.** The final picture never shows the final frame.
    - **The cap** counts frames after the no-ops.
    - **All actions** are nine in Lost Luggage and Skiing: those without the button.
    - **No saved games.** `get_states`, `set_states`, `call`, `get_attr`, `set_attr` and
      `render` raise a `NotImplementedError`. So a [run](runs/__init__.py), which saves
      its games, can't use these.

    A network trained with one of the two may do worse with the other.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from ale_py.vector_env import AtariVectorEnv
from gymnasium.vector import AutoresetMode

from labml_rl.batch import Games, spawn_seeds
from labml_rl.game import GameOptions, find_game
from labml_rl.runner import Batch, Infos
from labml_rl.screen import SIZE

# The options that it has. All others are refused.
PASSED_ON = (
    *("stack", "full_action_space", "sticky_actions", "noop_max", "fire_at_start"),
    *("episodic_life", "max_frames", "clip_rewards"),
)


class NativeGames(Games):
    """
    ## The same interface

    Args:
        game: its name, as in [labml_rl.game.make_game][].
        num_envs: how many games.
        seed: each gets a seed of its own, [drawn from this
            one][labml_rl.batch.spawn_seeds]; `None` draws one.
        threads: how many; `None` is one for each core.
        options: any of [labml_rl.game.GameOptions][], except for the few that ALE's
            environment does not have.

    Raises:
        ValueError: if an option is not available or makes no sense, if there is no such
            game, or if there are to be none.
        TypeError: if there is no such option.
    """

    def __init__(
        self,
        game: str,
        num_envs: int,
        *,
        seed: int | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        self._seeds = spawn_seeds(seed, num_envs)
        chosen = GameOptions(**options)
        for each in fields(chosen):
            changed = getattr(chosen, each.name) != each.default
            if changed and each.name not in PASSED_ON:
                raise ValueError(f"ALE's vector environment has no {each.name}")

        # It has two ways to end an episode with a life. One restarts the whole game,
        # and is called `episodic_life`. The other is the one meant here.
        self._ale = AtariVectorEnv(
            find_game(game),
            num_envs,
            num_threads=threads or 0,
            img_height=SIZE,
            img_width=SIZE,
            stack_num=chosen.stack,
            full_action_space=chosen.full_action_space,
            repeat_action_probability=chosen.sticky_actions,
            noop_max=chosen.noop_max,
            use_fire_reset=chosen.fire_at_start,
            life_loss_info=chosen.episodic_life,
            max_num_frames_per_episode=chosen.max_frames,
            reward_clipping=False,
            autoreset_mode=AutoresetMode.SAME_STEP,
        )
        self._options = chosen
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, np.int64)  # in steps
        self._lives = np.zeros(num_envs, np.int64)
        ale = self._ale
        spaces = ale.single_observation_space, ale.single_action_space
        super().__init__(
            spaces,
            num_envs,
            Batch.empty(spaces[0], num_envs),
            autoreset_mode=AutoresetMode.SAME_STEP,
            copy=False,  # it returns a new array each time
        )

    def _send(self, method: str, requests: Sequence[Any]) -> None:
        if method == "step":
            self._ale.send(np.array(requests))
        elif method == "reset":
            self._infos_of_reset = self._reset(requests)
        else:
            raise NotImplementedError(f"ALE's vector environment has no {method}")

    def _reset(self, requests: Sequence[tuple[bool, dict[str, Any]]]) -> Infos:
        # ALE takes seeds of 31 bits, and −1 for none.
        rows = [row for row, (wanted, _) in enumerate(requests) if wanted]
        seeds = np.full(len(rows), -1)
        for index, row in enumerate(rows):
            seed = requests[row][1]["seed"]
            if seed is None:
                seed = self._seeds[row]
            seeds[index] = seed % 2**31 if seed >= 0 else -1
            self._seeds[row] = -1  # later resets go on from there
        observations, infos = self._ale.ale.reset(np.array(rows), seeds)
        none = np.zeros(self.num_envs, np.bool_)
        self._batch = Batch(observations, np.zeros(self.num_envs), none, none)
        self._returns[rows] = self._lengths[rows] = 0
        self._lives = infos["lives"]
        return [{"lives": int(lives)} for lives in self._lives]

    def _receive(self) -> list[Any]:
        """
        ### Scores

        ALE does not keep them, so they are added up here, before rewards are clipped.
        An episode that ended without a lost life was the last of its game.
        """
        if self._asked_for == "reset":
            return self._infos_of_reset
        observations, points, terminated, truncated, found = self._ale.recv()
        self._returns += points
        self._lengths += 1
        infos: Infos = [{"lives": int(lives)} for lives in found["lives"]]
        for row in np.flatnonzero(terminated | truncated):
            final: dict[str, Any] = {}
            if truncated[row] or found["lives"][row] >= self._lives[row]:
                length = int(self._lengths[row])
                final["episode"] = {"r": float(self._returns[row]), "l": length}
                self._returns[row] = self._lengths[row] = 0
            infos[row] |= {"final_obs": found["final_obs"][row], "final_info": final}

        self._lives = found["lives"]
        rewards = np.sign(points) if self._options.clip_rewards else points
        self._batch = Batch(
            observations, rewards.astype(np.float64), terminated, truncated
        )
        return infos

    def close_extras(self) -> None:
        """Its threads end with the object."""
        del self._ale
