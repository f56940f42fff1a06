"""Other libraries' Atari environments, set up so that they can be compared with ours.

Chance is the same on both sides. The emulators have the same seed, and the number of
no-ops comes from two copies of one generator, or from what the peer says that it was.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import ale_py
import gymnasium
import numpy as np
from ale_py import ALEInterface, LoggerMode, roms
from ale_py.vector_env import AtariVectorEnv
from gymnasium.spaces import Box, Discrete

from benchmarks.games_players import camel
from labml_rl.game import Emulator, Game, GameOptions
from labml_rl.screen import Pixels

gymnasium.register_envs(ale_py)


def emulator(name: str, seed: int = 0, sticky_actions: float = 0.0) -> ALEInterface:
    """Load a game by ALE's name for it."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setInt("random_seed", seed)
    ale.setFloat("repeat_action_probability", sticky_actions)
    path = roms.get_rom_path(name)
    assert path is not None
    ale.loadROM(path)
    return ale


class Greyed:
    """A console on a television without colours: ALE's own greys, and nothing else.

    Our game on this console takes the maximum of greys. Who takes it of ALE's greys
    must show the same to the last bit.
    """

    def __init__(self, ale: Any) -> None:
        self.ale = ale

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ale, name)

    def getScreenRGB(self, screen: Pixels, /) -> None:  # noqa: N802
        height, width, _ = screen.shape
        grey = np.empty((height, width), np.uint8)
        self.ale.getScreenGrayscale(grey)
        screen[:] = grey[..., None]


def our_game(name: str, *, greyed: bool = False, seed: int = 0, **options: Any) -> Game:
    """Make our game, in colour or in ALE's greys."""
    chosen = GameOptions(**options)

    def load(dice: int) -> Emulator:
        ale: Any = emulator(name, dice, chosen.sticky_actions)
        return Greyed(ale) if greyed else ale

    return Game(load, chosen, seed)


def console(
    name: str, *, max_frames: int = 108_000, sticky_actions: float = 0.0
) -> gymnasium.Env[Any, Any]:
    """Make Gymnasium's environment for a game, one frame a step."""
    return gymnasium.make(
        f"ALE/{camel(name)}-v5",
        frameskip=1,
        repeat_action_probability=sticky_actions,
        max_num_frames_per_episode=max_frames,
    )


def ale_vector(name: str, count: int, **options: Any) -> AtariVectorEnv:
    """Make ALE's vector environment: whole games, without FIRE and clipping."""
    chosen: dict[str, Any] = {
        "num_threads": 1,
        "use_fire_reset": False,
        "reward_clipping": False,
        "autoreset_mode": "SameStep",
    }
    return AtariVectorEnv(name, count, **(chosen | options))


def share_dice(ours: Game, theirs: gymnasium.Env[Any, Any]) -> None:
    """Let both draw the same from now on: the no-ops, and what the emulator draws."""
    peer: Any = theirs.unwrapped
    emulator: Any = ours._emulator
    peer.np_random = copy.deepcopy(ours.np_random)
    peer.ale.setInt("random_seed", emulator.getInt("random_seed"))
    peer.load_game()


class Replay:
    """In place of a generator: it "draws" what it was told."""

    def __init__(self) -> None:
        self.drawn = 0

    def integers(self, *_: Any, **__: Any) -> int:
        return self.drawn


class FakeConsole(gymnasium.Env[Any, Any]):
    """A scripted emulator as the environment that the peers' wrappers expect."""

    def __init__(self, atari: Any) -> None:
        self.ale = atari
        self._frameskip = 1
        height, width = atari.getScreenDims()
        self.observation_space = Box(0, 255, (height, width, 3), np.uint8)
        self.action_space = Discrete(len(atari.getMinimalActionSet()))

    def get_action_meanings(self) -> list[str]:
        return [action.name for action in self.ale.getMinimalActionSet()]

    def _screen(self) -> Pixels:
        screen = np.empty(self.observation_space.shape or (), np.uint8)
        self.ale.getScreenRGB(screen)
        return screen

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.ale.reset_game()
        return self._screen(), {"lives": self.ale.lives()}

    def step(self, action: Any) -> Any:
        points = self.ale.act(self.ale.getMinimalActionSet()[action])
        over = self.ale.game_over(with_truncation=False)
        return self._screen(), points, over, False, {"lives": self.ale.lives()}


@dataclass(frozen=True)
class Moment:
    """What both sides answered to one action.

    Args:
        ours: observation, reward, `terminated`, `truncated`.
        theirs: the same.
        info: ours.
        previous: the observation that the peer gave before.
        frames: how many frames the step took: fewer than 4 if the game ended in it.
        age: how many steps the episode is old; the last `age` pictures are its own.
    """

    ours: tuple[Any, ...]
    theirs: tuple[Any, ...]
    info: dict[str, Any]
    previous: Any
    frames: int
    age: int

    @property
    def over(self) -> bool:
        """Whether the peer's game or episode ended."""
        return bool(self.theirs[2] or self.theirs[3])


Reset = Callable[[Game], Pixels]
Check = Callable[[Pixels, Any], None]


def just_reset(game: Game) -> Pixels:
    """Begin an episode."""
    return game.reset()[0]


def side_by_side(
    ours: Game,
    theirs: gymnasium.Env[Any, Any],
    steps: int,
    *,
    reset: Reset = just_reset,
    first: Check | None = None,
) -> Iterator[Moment]:
    """
    Do the same random actions on both sides.

    Args:
        steps: how many.
        reset: begins an episode of ours as the peer begins its own.
        first: looks at the first observations of both in each episode.
    """
    random = np.random.default_rng(steps)
    actions = random.integers(ours.action_space.n, size=steps)
    before, age, frame = None, 0, 0
    for action in actions:
        if before is None:
            # The peer may have ended what for us goes on, or the other way round. A
            # test that expects so does not get here.
            expected = reset(ours)
            before, peer_info = theirs.reset()
            if first:
                first(expected, before)
            age, frame = 0, peer_info.get("episode_frame_number", 0)
            # Who makes steps in `reset` gives away no info. The frames count on.
            frame = frame or theirs.unwrapped.ale.getEpisodeFrameNumber()  # type: ignore[attr-defined]
        observation, *ends, info = ours.step(action)
        their_observation, *their_ends, peer_info = theirs.step(action)
        age += 1
        now = peer_info["episode_frame_number"]
        yield Moment(
            ours=(observation, *ends),
            theirs=(their_observation, *their_ends),
            info=info,
            previous=before,
            frames=now - frame,
            age=age,
        )
        before = None if their_ends[1] or their_ends[2] else their_observation
        frame = now
