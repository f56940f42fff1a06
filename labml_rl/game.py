"""
---
title: The game, frame by frame
summary: An exact Gymnasium environment for every Atari game, straight on the emulator.
---

# The game, frame by frame

The console draws sixty pictures a second. An agent that had to decide at every one of
them would make the same decision nearly every time, and learn slowly. So nearly
everybody follows the recipe of [Mnih et al.
(2015)](https://doi.org/10.1038/nature14236): hold each action for four frames (**frame
skip**), make [one small picture](screen.py) of the last two, and show the network the
latest four such pictures (**frame stacking**).

The recipe is short, but it hides a dozen traps, and widely used libraries fall into
some of them. This page builds it one step at a time. By the end you will have
[make_game][], which turns a name into an environment for
[Gymnasium](https://gymnasium.farama.org), the interface that most libraries share:

```python
from labml_rl.game import make_game

game = make_game("Breakout", seed=1)
obs, info = game.reset()  # uint8, (4, 84, 84)
obs, reward, terminated, truncated, info = game.step(2)
```

`reset` begins an episode, and `step` plays one action, here number 2, and says what
came of it, in five parts, which are explained [beside the class][Game]. (With old
versions of Gym, which Gymnasium continues, `reset` gave only the observation, and
`step` four parts. Programs that were written for these find *too many values to
unpack*.)

## What the agent sees

One picture shows where things are. Four pictures, from the latest four actions, also
show where they are going. This stack is one **observation**.

![Four pictures of Breakout with a ring around the ball, which moves down and to the
left](../assets/figures/game-stack.png)

*Breakout. One observation, the oldest picture first, row by row, with a ring around the
ball.*
"""

import difflib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from operator import index
from pathlib import Path
from typing import Any, Protocol, SupportsIndex

import gymnasium
import numpy as np
from ale_py import Action, ALEInterface, ALEState, LoggerMode, roms
from gymnasium.error import InvalidAction, ResetNeeded, UnsupportedMode
from gymnasium.spaces import Box, Discrete

from labml_rl.screen import SIZE, Display, Pixels, Screens, in_colour

# A **frame** is one picture of the emulator; a **step** is one action of the agent. A
# score after 10 million *frames* is a score after 2.5 million *steps*, and results have
# been misread by this factor.
FRAMES_PER_STEP = 4

# All positions of the joystick, without and with the button.
ALL_ACTIONS = [Action(number) for number in range(18)]


class Emulator(Display, Protocol):
    """
    ## The emulator

    The Arcade Learning Environment, or ALE, of [Bellemare et al.
    (2013)](https://doi.org/10.1613/jair.3912) emulates the console. For the maximum of
    two frames, its own Gymnasium environment, `ALE/…-v5`, would have to copy all four
    of a step. This page talks to the emulator itself, `ALEInterface`, and fetches only
    what the agent will see.

    Besides [its screens][Display], these methods are all that a game needs from the
    emulator. Anything else that has them will do: the tests use a small scripted game,
    which dies exactly where a test wants it to.
    """

    def reset_game(self) -> None: ...
    def act(self, action: Action, /) -> float: ...  # one frame; its points
    def game_over(self, *, with_truncation: bool) -> bool: ...
    def lives(self) -> int: ...  # always 0 in games that have none
    def getMinimalActionSet(self) -> list[Action]: ...  # what has an effect
    def cloneSystemState(self) -> Any: ...  # an ALEState
    def restoreSystemState(self, state: Any, /) -> None: ...


@dataclass(frozen=True)
class GameOptions:
    """
    ## The options

    The defaults are for *training*, as in Mnih et al. (2015), with three exceptions.
    Games are cut off after half an hour, as in later papers. Mnih et al. paid only the
    sign of a reward, which is `clip_rewards=True`; here that is left to the algorithm.
    And in many games nothing happens until the joystick's only button, *fire*, is
    pressed. Their agents had to do that themselves, which is `fire_at_start=False`.
    ([Smaller things](dqn/settings.py) differ, too.) To *evaluate* an agent, play whole
    games: `episodic_life=False`.

    Raises:
        ValueError: if an option makes no sense; the message says what would.
    """

    # ### What the agent sees: the stack
    #
    # `stack` pictures in an observation: 4, or 1 for a network that has a memory of its
    # own. PyTorch wants them in front, `(4, 84, 84)`; with `channels_last` they come as
    # `(84, 84, 4)`, for which it says that it *expected input to have 4 channels, but
    # got 84*. And `crop_scoreboard` [cuts the picture][labml_rl.screen.shrink] to the
    # playing field.
    stack: int = 4
    channels_last: bool = False
    crop_scoreboard: bool = False

    # ### What it can do: sticky actions
    #
    # The agent can take the actions that do something in this game; or, with
    # `full_action_space`, all 18 positions of the joystick and the button, so that one
    # network can play every game.
    #
    # `sticky_actions` is the probability, in each frame, that the emulator ignores the
    # action and repeats the one before, so that no agent can learn a game by heart.
    # [Machado et al. (2018)](https://doi.org/10.1613/jair.5699) recommend 0.25. But
    # most published scores are from games without sticky actions, so here they are off.
    # A score means little unless this number is given with it.
    full_action_space: bool = False
    sticky_actions: float = 0.0

    # ### How a game begins: no-ops
    #
    # Nothing in the console is random: the same actions always give the same game. To
    # vary it, the first few frames are played without an action: these are the
    # *no-ops*. Their number, from 1 to `noop_max`, is drawn for each game. Some games
    # then wait for the button, so it is pressed once if `fire_at_start` is set.
    noop_max: int = 30
    fire_at_start: bool = True

    # ### How it ends: the loss of a life
    #
    # With `episodic_life` an episode is done at the loss of each life, so that the
    # agent learns what a life is worth. Mnih et al. (2015) train that way; Machado et
    # al. (2018) advise ending it only with the game.
    #
    # After `max_frames` frames, half an hour of play, the game is cut off.
    episodic_life: bool = True
    max_frames: int = 108_000

    # ### What it is paid: clipped rewards
    #
    # Its reward is the points of the game; or, with `clip_rewards`, only their sign, so
    # that one learning rate suits both Pong, where a goal is 1 point, and games that
    # give thousands. The price: in Ms. Pac-Man a dot brings 10 points and a ghost 200
    # or more, and to the agent they are worth the same. The reported score is never
    # clipped.
    #
    # There is no negative reward for dying. It is bad enough that nothing more comes
    # after the end of an episode.
    clip_rewards: bool = False

    # ### What people see
    #
    # With `"rgb_array"`, [Game.render][] returns the screen as a player would see it.
    render_mode: str | None = None

    def __post_init__(self) -> None:
        for name in ("stack", "noop_max", "max_frames"):
            if not isinstance(number := getattr(self, name), int | np.integer):
                raise ValueError(f"{name} must be a whole number, not {number!r}")
        for name, value in vars(self).items():
            default = getattr(GameOptions, name)
            if isinstance(default, bool) and not isinstance(value, bool | np.bool_):
                # To Python "no" is as true as "yes".
                raise ValueError(f"{name} must be True or False, not {value!r}")
        sticky = self.sticky_actions
        if isinstance(sticky, bool | np.bool_) or not isinstance(
            sticky, int | float | np.number
        ):
            raise ValueError(f"sticky_actions must be a number, not {sticky!r}")
        shortest = shortest_cap(self.noop_max)
        rules = {
            "stack": (self.stack >= 1, "at least 1"),
            "noop_max": (self.noop_max >= 0, "at least 0"),
            "sticky_actions": (0 <= self.sticky_actions <= 1, "between 0 and 1"),
            "max_frames": (self.max_frames >= shortest, f"at least {shortest}"),
            "render_mode": (
                self.render_mode in (None, "rgb_array"),
                "None or 'rgb_array'",
            ),
        }
        for name, (holds, rule) in rules.items():
            if not holds:
                raise ValueError(f"{name} must be {rule}, not {getattr(self, name)!r}")


def shortest_cap(noop_max: int) -> int:
    """
    The no-ops and the button must fit under the cap, or no game would ever begin.

    Args:
        noop_max: the option of that name.

    Returns:
        The smallest value that `max_frames` may have.
    """
    return noop_max + FRAMES_PER_STEP + 1


class Game(gymnasium.Env[Pixels, SupportsIndex]):
    """
    ## The game

    A step holds one action for four frames, and takes the maximum of the last two:

    ```text
    frame    0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15
    action  a0 a0 a0 a0 a1 a1 a1 a1 a2 a2 a2 a2 a3 a3 a3 a3
    max     -- -- m0 m0 -- -- m1 m1 -- -- m2 m2 -- -- m3 m3
    stack         m0          m1          m2          m3
    ```

    The agent acts 15 times a second. What it sees after action `a3` is the stack of
    `m0` to `m3`: a quarter of a second of play.

    An **episode** is the stretch of play that an agent learns from as a whole. It ends
    in one of two ways, which must not be mixed up: `terminated` means that nothing
    follows, `truncated` that we stopped watching. With `episodic_life` a game has
    several episodes, one for each life.

    *Scores* are those of whole games. When a game, and not just a life, is over or cut
    off, `info` has an entry for it: the raw points, the steps of the agent, and the
    frames of the emulator, no-ops included. Another entry says whether it was cut off.
    The number of lives is in `info` at every step.

    ```python
    {
        "lives": 0,
        "episode": {"r": 9.0, "l": 741, "frames": 2981},
        "cut_off": False,
    }
    ```

    So a game needs no `RecordEpisodeStatistics` of Gymnasium's, and can't have one: it
    would find the name `"episode"` taken, and stop.

    Args:
        load: makes an emulator with a game in it, from a seed for the emulator's
            *dice*, its random number generator.
        options: see [GameOptions][].
        seed: decides everything random; `None` draws one.
        same_start: whether a reset always puts the emulator into the same state, so
            that [the state can be put back][Game._switch_on] in place of a reset.
    """

    metadata = gymnasium.Env.metadata | {
        "render_modes": ["rgb_array"],
        "render_fps": 60 // FRAMES_PER_STEP,
    }

    def __init__(
        self,
        load: Callable[[int], Emulator],
        options: GameOptions | None = None,
        seed: int | None = None,
        *,
        same_start: bool = False,
    ) -> None:
        self.options = options or GameOptions()
        self._same_start = same_start
        self.render_mode = self.options.render_mode
        self._load = load
        self._load_emulator(seed)

        # The minimal set has only actions that have an effect, so it shows whether the
        # button has one.
        self._actions = self._emulator.getMinimalActionSet()
        self._has_fire = Action.FIRE in self._actions
        if self.options.full_action_space:
            self._actions = ALL_ACTIONS
        self.action_space: Discrete = Discrete(len(self._actions))

        # Observations are bytes, 28 KB each. As `float64` they would be 226 KB.
        # Division by 255 happens once, in the network.
        shape = [SIZE, SIZE]
        shape.insert(2 if self.options.channels_last else 0, self.options.stack)
        self.observation_space = Box(0, 255, tuple(shape), np.uint8)
        self._observation = np.zeros(shape, np.uint8)
        self.observe_into(self._observation)
        self._returns_copies = True

    def _load_emulator(self, seed: int | None) -> None:
        """
        ### One seed for all that is random

        The seed decides the number of no-ops, and sets the emulator's dice, for sticky
        actions.

        !!! warning "A new game is not a fresh console"
            In a dozen games, Beam Rider and Tennis among them, the emulator remembers
            something from the game before. And it looks at its seed only when it loads
            a game. So a seed reproduces a run only together with a fresh emulator.
        """
        super().reset(seed=None if seed is None else index(seed))
        self._emulator = self._load(int(self.np_random.integers(2**31)))
        crop = self.options.crop_scoreboard
        self._screens = Screens(self._emulator, crop_scoreboard=crop)
        self._in_episode = self._life_lost = False
        self._start: Any = None

    @property
    def goes_on(self) -> bool:
        """Whether the next `reset` goes on with the same game, after a lost life."""
        return self._life_lost

    def get_action_meanings(self) -> list[str]:
        """
        Returns:
            The name of each action, by its number: `["NOOP", "FIRE", "RIGHT", "LEFT"]`.
        """
        return [action.name for action in self._actions]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Pixels, dict[str, Any]]:
        """
        ### The beginning of an episode

        After a lost life the game goes on. In any other case a new one begins.

        !!! warning "A lost life must not restart the game"
            It does in Gymnasium's `AtariPreprocessing` with `terminal_on_life_loss`,
            and in ALE's vector environment with `episodic_life`. Their agents play the
            opening over and over, and hardly ever see what comes after it. EnvPool does
            go on, but with up to 30 no-ops after each life: half a second in which
            everything moves but the agent. And its stack still holds pictures from the
            life before.

        Args:
            seed: begin afresh, exactly as [make_game][] does with this seed.
            options: `{"new_game": True}` abandons the game in progress.

        Returns:
            The first observation, and `info`. If the old game ended during the reset,
            between two lives, where no step could report it, `info` has its score.
        """
        info: dict[str, Any] = {}
        if seed is not None:
            self._load_emulator(seed)

        # After a lost life, one step without an action is enough. Then the button is
        # pressed again: Breakout serves no ball without it. Either can end the game, so
        # check.
        goes_on = self._life_lost and not (options or {}).get("new_game", False)
        if goes_on:
            self._play(Action.NOOP, FRAMES_PER_STEP)
            self._fire()
            goes_on = not self._is_over()
            if not goes_on:
                info = self._score()

        # A game that ends before the agent has done anything does not count.
        while not goes_on:
            self._new_game()
            goes_on = not self._is_over()

        self._in_episode, self._life_lost = True, False
        self._lives = self._emulator.lives()
        return self._observe(first=True), info | {"lives": self._lives}

    def _new_game(self) -> None:
        """
        ### A new game

        The number of no-ops is drawn by this game's own generator: with a global one,
        no seed would reproduce any game.

        Points that come in before the agent's first action count towards the score. The
        agent is not paid for them.
        """
        noops = 0
        if self.options.noop_max > 0:
            drawn = self.np_random.integers(1, self.options.noop_max, endpoint=True)
            noops = int(drawn)
        self._switch_on(noops)
        self._return, self._steps, self._frames = 0.0, 0, 0
        self._play(Action.NOOP, noops)
        self._fire()

    def _switch_on(self, noops: int) -> None:
        """
        ### Off and on again

        A reset takes as long as seventy frames, since the emulator plays for a second
        until the game is ready. While one of eight games does this, the other seven
        wait. But in many games a reset always ends in [the same
        state][labml_rl.game.SAME_START]. So this state is kept. The next time, it is
        put back, which takes about as long as one frame.

        !!! warning "What is on the screen is not in the state"
            After the state is put back, the screen still shows the end of the game
            before, until the next frame is drawn. With two or more no-ops nobody sees
            that. With fewer, the console is switched off and on after all.

        Args:
            noops: how many frames will be played before anyone looks.
        """
        if self._start is not None and noops > 1:
            self._emulator.restoreSystemState(self._start)
            return
        self._emulator.reset_game()
        self._screens.fetch()
        self._screens.repeat()
        if self._same_start:
            self._start = self._emulator.cloneSystemState()

    def _fire(self) -> None:
        if self._has_fire and self.options.fire_at_start and not self._is_over():
            self._play(Action.FIRE, FRAMES_PER_STEP)

    def step(
        self, action: SupportsIndex
    ) -> tuple[Pixels, float, bool, bool, dict[str, Any]]:
        """
        ### One action

        Args:
            action: its number, from 0 to `action_space.n - 1`. A number from NumPy or
                PyTorch will do, but not an array of several.

        Returns:
            The observation, the points that were scored, `terminated`, `truncated`, and
            `info`. If a life is lost in the step in which the game is cut off, both are
            true, and `terminated` counts.

        Raises:
            ResetNeeded: before the first `reset`, and after the end of an episode.
            InvalidAction: if there is no such action. The emulator would not complain.
        """
        if not self._in_episode:
            raise ResetNeeded("call reset() first: there is no episode going on")
        try:
            number = index(action)
        except TypeError:
            number = -1
        if not 0 <= number < len(self._actions):
            meanings = ", ".join(self.get_action_meanings())
            raise InvalidAction(f"no action {action!r}; from 0 on they are {meanings}")

        lives_before = self._lives
        points = self._play(self._actions[number], FRAMES_PER_STEP)
        self._steps += 1
        self._lives = self._emulator.lives()

        # The cap is no rule of the game: the agent could have gone on scoring. Taken
        # for an end, it would teach that the best positions are worth nothing.
        is_over, game_over = self._is_over(), self._game_over()
        truncated = is_over and not game_over

        # !!! warning "Zero lives is not the end"
        #     In Bank Heist, Donkey Kong, Frogger and others, the last life is played
        #     with the counter at 0. Only `game_over` ends a game; hence the `0 <`.
        life_lost = self.options.episodic_life and 0 < self._lives < lives_before
        terminated = game_over or life_lost
        self._in_episode = not (terminated or truncated)
        self._life_lost = life_lost and not is_over

        info = {"lives": self._lives} | (self._score() if is_over else {})
        reward = float(np.sign(points)) if self.options.clip_rewards else points
        return self._observe(), reward, terminated, truncated, info

    def _play(self, action: Action, frames: int) -> float:
        """
        ### Four frames

        Only the screens of a step's last two frames are fetched.

        !!! warning "When the end comes early"
            If a game ends in the first two frames of a step, the last screens fetched
            are those of the step before. Baselines, Stable-Baselines3, EnvPool,
            Gymnasium and ALE's vector environment return these, a moment long gone, as
            the final observation; `AtariPreprocessing` of Gymnasium and ALE's vector
            environment never show the final frame, whichever of the four it is. Here it
            is shown on its own, and so it is if it is the third.

        Args:
            action: what is held down throughout.
            frames: how many, unless the game ends or is cut off before then.

        Returns:
            The points scored.
        """
        points = 0.0
        frames = min(frames, self.options.max_frames - self._frames)
        for to_come in reversed(range(frames)):
            points += self._emulator.act(action)
            self._frames += 1
            game_over = self._game_over()
            if game_over or to_come < 2:
                self._screens.fetch()
            if game_over:
                if to_come > 0:
                    self._screens.repeat()
                break
        self._return += points
        return points

    def _game_over(self) -> bool:
        return self._emulator.game_over(with_truncation=False)

    def _is_over(self) -> bool:
        return self._game_over() or self._frames >= self.options.max_frames

    def _score(self) -> dict[str, Any]:
        # The names `r` and `l` are Gymnasium's.
        score = {"r": self._return, "l": self._steps, "frames": self._frames}
        return {"episode": score, "cut_off": not self._game_over()}

    def _observe(self, *, first: bool = False) -> Pixels:
        """
        ### The stack

        The new picture pushes out the oldest. At the beginning of an episode there is
        no past, and the first picture stands in for it: nothing has moved yet.

        Every observation is a new array. If you keep one, it is still the same a step
        later.
        """
        picture = self._screens.picture()  # (84, 84)
        self._stack[:-1] = picture if first else self._stack[1:]
        self._stack[-1] = picture
        return self._observation.copy() if self._returns_copies else self._observation

    def observe_into(self, observation: Pixels) -> None:
        """
        ### Without a copy

        If you copy the observations anyway, because they go [to another
        process](worker.py) or into a batch, you can have them written straight there.

        Args:
            observation: is what `reset` and `step` return from now on, each time with
                new contents. Shape and type are those of the observation space.

        Raises:
            ValueError: if they are not.
        """
        space = self.observation_space
        if (observation.shape, observation.dtype) != (space.shape, space.dtype):
            raise ValueError(
                f"observations are {space.dtype} of shape {space.shape}, "
                f"not {observation.dtype} of shape {observation.shape}"
            )
        # The stack goes on with the pictures that it has.
        observation[:] = self._observation
        self._observation, self._returns_copies = observation, False
        axis = -1 if self.options.channels_last else 0
        self._stack = np.moveaxis(observation, axis, 0)  # (stack, 84, 84)

    _SAVED = ("_return", "_steps", "_frames", "_lives", "_in_episode", "_life_lost")

    def get_state(self) -> dict[str, Any]:
        """
        ### Saved games

        A run of many hours can be interrupted. To continue it with the very same games,
        you need everything that decides how they go on: the console with its dice, the
        dice for the no-ops, the pictures in the stack, and a few counters.

        A game can't be copied. But another that was made in the same way can be given
        its state. So you can try out what comes of an action and go back (*tree
        search*).

        !!! warning "Where it is not exact"
            ALE's state does not have everything. It lacks the action that was last
            held, so with sticky actions the first repetition may be of the wrong one.
            [Four games][labml_rl.game.NOT_WHOLE] can go on differently even without
            them.

        Returns:
            Numbers, bytes and an array. No code is run to read it. (But the emulator
            trusts the bytes. Given others, it may crash.)

        Raises:
            ResetNeeded: before the first `reset`: there is nothing to save.
        """
        if not hasattr(self, "_lives"):
            raise ResetNeeded("call reset() first: no game has begun")
        # The state of the *system* has the emulator's dice; that of the game does not.
        saved = {name: getattr(self, name) for name in self._SAVED}
        emulator = self._emulator.cloneSystemState().serialize()
        dice = self.np_random.bit_generator.state
        stack = self._stack.copy()
        return saved | {"emulator": emulator, "dice": dice, "stack": stack}

    def set_state(self, state: dict[str, Any]) -> Pixels:
        """
        Args:
            state: what [Game.get_state][] returned, for the same game with the same
                options.

        Returns:
            The observation that the agent had when the state was saved.

        Raises:
            ValueError: if it is from another game, as far as can be told. This game is
                then as it was before.
        """
        missing = {*self._SAVED, "emulator", "dice", "stack"} - state.keys()
        if missing:
            raise ValueError(f"no state of a game: it has no {', '.join(missing)}")
        shapes = np.shape(state["stack"]), self._stack.shape
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"the state is of a game with other options: it has a stack of shape "
                f"{shapes[0]}, and this game one of {shapes[1]}"
            )
        before = self._emulator.cloneSystemState()
        try:
            self._emulator.restoreSystemState(ALEState(state["emulator"]))
            self.np_random.bit_generator.state = state["dice"]
        except Exception as error:
            self._emulator.restoreSystemState(before)
            raise ValueError("the state is of no use here: another game?") from error
        self._stack[:] = state["stack"]
        for name in self._SAVED:
            setattr(self, name, state[name])
        return self._observation.copy() if self._returns_copies else self._observation

    def __getstate__(self) -> Any:
        raise TypeError(
            "a game can't be copied or pickled. Make another in the same way, and "
            "set_state(get_state()) makes them equal"
        )

    def render(self) -> Pixels:
        """
        Returns:
            The current frame in its own colours, shape `(height, width, 3)`. After
            [set_state][Game.set_state] it is the frame from before that, until the next
            step: the screen is not part of a state.

        Raises:
            UnsupportedMode: unless the game was made with `render_mode="rgb_array"`.
        """
        if self.render_mode is None:
            raise UnsupportedMode("make the game with render_mode='rgb_array'")
        return in_colour(self._emulator)


@cache
def available_games() -> tuple[str, ...]:
    """
    ## Games by name

    No ROM has to be found: the games come with ALE. A few that it lists cannot be
    played by a single player, and are left out. (If ALE was built without games, they
    are looked for in the folder that the environment variable `ALE_ROMS_DIR` names.)

    Returns:
        All names, in ALE's spelling: `"ms_pacman"`.
    """
    paths = {name: _rom(name) for name in roms.get_all_rom_ids()}
    return tuple(
        name
        for name, path in paths.items()
        if path.is_file() and ALEInterface.isSupportedROM(path)
    )


def make_game(game: str, *, seed: int | None = None, **options: Any) -> Game:
    """
    ### Make a game

    ```python
    # to train, and to evaluate
    make_game("Pong", seed=1)
    make_game("Pong", seed=2, episodic_life=False)
    ```

    It is a Gymnasium environment, so other libraries can learn to play it, for instance
    Stable-Baselines3:

    ```python
    from functools import partial
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import (
        DummyVecEnv,
    )

    make = partial(make_game, "Pong", clip_rewards=True)
    PPO("CnnPolicy", DummyVecEnv([make] * 8)).learn(10_000)
    ```

    !!! warning "Not with `make_vec_env`"
        It puts a `Monitor` around each game, which writes its own score over that of
        the game. `ep_rew_mean` is then a mean over single lives and clipped rewards,
        not over whole games and points.

    The `evaluate_policy` of Stable-Baselines3 knows nothing of lives. Give it whole
    games and raw points:
    `DummyVecEnv([partial(make_game, "Pong", episodic_life=False)])`.

    Where a program wants a name, `gymnasium.make` knows the games as
    `"labml_rl.worker:labml_rl/Atari-v0"`, with `game="Pong"` after it.

    Args:
        game: its name in any spelling: `MsPacman`, `ms_pacman`, `Ms. Pac-Man`.
        seed: decides everything random in it; `None` draws one.
        options: any of [GameOptions][].

    Raises:
        ValueError: if there is no such game, with the nearest name if one is near; or
            if an option makes no sense.
        TypeError: if there is no such option.
        gymnasium.error.Error: if the seed is below 0.
    """
    chosen = GameOptions(**options)
    same_start = find_game(game) in SAME_START and not chosen.sticky_actions
    load = loader(game, chosen)
    return Game(load, chosen, seed, same_start=same_start)


# ### Games that forget
#
# In these games a reset [always ends in the same state][Game._switch_on], whatever was
# played before it. In most others a clock or a counter runs on through a reset, and in
# some [the game remembers more][Game._load_emulator]: these really are switched off and
# on. So are games with sticky actions, and those below, since their state does not hold
# everything.
SAME_START = frozenset(
    {
        *("air_raid", "amidar", "asterix", "atlantis2", "atlantis", "basic_math"),
        *("battle_zone", "blackjack", "bowling", "breakout", "carnival", "casino"),
        *("centipede", "defender", "donkey_kong", "double_dunk", "et", "flag_capture"),
        *("frogger", "gopher", "jamesbond", "journey_escape", "keystone_kapers"),
        *("king_kong", "lost_luggage", "mr_do", "ms_pacman", "name_this_game"),
        *("othello", "pacman", "pong", "road_runner", "robotank", "skiing"),
        *("space_invaders", "tic_tac_toe_3d", "trondead", "turmoil", "video_checkers"),
        *("video_chess", "video_pinball", "wizard_of_wor", "word_zapper"),
    }
)

# ### Games that can't be saved whole
#
# The emulator's state does not hold everything about these, so [a saved
# game][Game.get_state] can go on differently.
NOT_WHOLE = frozenset({"koolaid", "qbert", "tetris", "yars_revenge"})


def loader(game: str, options: GameOptions | None = None) -> Callable[[int], Emulator]:
    """
    ### Other modes

    A console has switches for variants of a game and for its difficulty, which [Machado
    et al. (2018)](https://doi.org/10.1613/jair.5699) made part of ALE. An emulator can
    be set to one of them before a game gets it. In this mode the invaders are
    invisible:

    ```python
    from labml_rl.game import Game, loader

    def invisible(seed):
        emulator = loader("SpaceInvaders")(seed)
        emulator.setMode(8)
        emulator.setDifficulty(1)
        return emulator

    game = Game(invisible, seed=1)
    ```

    `getAvailableModes()` and `getAvailableDifficulties()` say which ones there are. If
    you keep the emulator, you can look into it while the game goes on: `getRAM()` has
    the 128 bytes of the console's memory.

    Args:
        game: its name in any spelling.
        options: see [GameOptions][]. Only those that the emulator itself acts on are
            used.

    Returns:
        What [Game][] calls `load`: it makes an emulator from a seed.

    Raises:
        ValueError: if there is no such game, with the nearest name if one is near.
    """
    return partial(_load, find_game(game), options or GameOptions())


def find_game(game: str) -> str:
    """
    Args:
        game: a name in any spelling.

    Returns:
        The name in ALE's spelling.

    Raises:
        ValueError: if there is no such game, with the nearest name if one is near.
    """
    names = {name.replace("_", ""): name for name in available_games()}
    letters = "".join(filter(str.isalnum, game.lower()))
    if letters not in names:
        near = difflib.get_close_matches(letters, names, n=1)
        nearest = f"; the nearest is {names[near[0]]!r}" if near else ""
        raise ValueError(
            f"no game {game!r}{nearest}. `labml-rl games`, or "
            "labml_rl.game.available_games(), lists them all"
        )
    return names[letters]


def _load(name: str, options: GameOptions, seed: int) -> Emulator:
    # Errors only: every process would print a banner otherwise.
    ALEInterface.setLoggerMode(LoggerMode.Error)
    emulator = ALEInterface()
    emulator.setInt("random_seed", seed)

    # The emulator's own default is 0.25. Without this line, actions are sticky.
    emulator.setFloat("repeat_action_probability", options.sticky_actions)
    emulator.loadROM(_rom(name))
    return emulator


# ALE's own function looks nowhere else once `ALE_ROMS_DIR` is set, and fails at the
# first game that is missing there.
def _rom(name: str) -> Path:
    path = Path(roms.__file__).with_name(f"{name}.bin")
    elsewhere = os.environ.get("ALE_ROMS_DIR")
    return path if path.is_file() or not elsewhere else Path(elsewhere, path.name)


# ## Questions
#
# 1. A run took 10 million frames. How many actions is that? And how long would it have
#    taken on the console?
# 2. In Breakout, with `episodic_life`, the second of the five balls is lost. What do
#    `terminated`, `truncated` and `info["lives"]` say? What does the next `reset` do?
# 3. With `clip_rewards`, a brick in the upper rows breaks. The reward is 1, and the
#    score of the game has grown by 7. Is that a bug?
#
# ??? tip "Answers"
#     1. Two and a half million, and at 60 frames a second 46 hours.
#     2. `True`, `False` and 3: nothing follows in this episode, and nobody stopped
#        watching. The game goes on: `reset` serves the third ball.
#     3. No. The agent is paid the sign of the points. A score is always the points.
