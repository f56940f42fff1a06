"""The scripted emulator at the bottom of a pipeline of wrappers."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from ale_py import Action

from labml_rl.game import GameOptions
from labml_rl.screen import Pixels
from labml_rl.wrappers import Frames, wrap
from tests.book.fake_atari import FakeAtari, Script, draw

PALETTE = np.random.default_rng(0).integers(0, 256, (128, 3), np.uint8)


class ColourAtari(FakeAtari):
    """A fake console that is asked for its screens in colour."""

    def getScreenRGB(self, screen: Pixels, /) -> None:  # noqa: N802
        screen[:] = draw(self.games, self.frame)

    def frames(self, *, seed: int | None = 0, **options: Any) -> Frames:
        return Frames(self.load, seed=seed, **options)

    def wrapped(
        self, *, seed: int | None = 0, **options: Any
    ) -> gymnasium.Env[Any, Any]:
        """Make the whole pipeline; without no-ops and FIRE unless asked for."""
        quiet = {"noop_max": 0, "fire_at_start": False}
        chosen = GameOptions(**(quiet | options))
        limits = {"max_frames": chosen.max_frames, "render_mode": chosen.render_mode}
        return wrap(self.frames(seed=seed, **limits), chosen)


class NoiseAtari(ColourAtari):
    """A quick one with a small screen of noise, another in each frame of each game."""

    def getScreenDims(self) -> tuple[int, int]:  # noqa: N802
        return 42, 32

    def getScreen(self, numbers: Pixels, /) -> None:  # noqa: N802
        noise = np.random.default_rng([self.games, self.frame])
        numbers[:] = noise.integers(0, 128, numbers.shape, np.uint8)

    def getScreenRGB(self, screen: Pixels, /) -> None:  # noqa: N802
        numbers = np.zeros(screen.shape[:2], np.uint8)
        self.getScreen(numbers)
        screen[:] = PALETTE[numbers]


def consoles(
    scripts: Sequence[Script],
    actions: Sequence[Action] = (Action.NOOP, Action.FIRE, Action.RIGHT),
) -> tuple[NoiseAtari, NoiseAtari]:
    """Return two consoles that play the same, for the game and for the wrappers."""
    return NoiseAtari(scripts, actions), NoiseAtari(scripts, actions)


def same(one: Any, other: Any) -> bool:
    """Compare what `step` or `reset` returned, arrays byte for byte."""
    return (
        one[0].dtype == other[0].dtype
        and np.array_equal(one[0], other[0])
        and one[1:] == other[1:]
        and [type(value) for value in one] == [type(value) for value in other]
    )
