"""An emulator that does what a test's script says, and remembers all that was done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from ale_py import Action

from labml_rl.game import Game, GameOptions
from labml_rl.screen import Pixels

HEIGHT, WIDTH = 210, 160


@dataclass(frozen=True)
class Script:
    """What happens in one game. Frames are counted from 1; 0 is before the first."""

    over_at: int | None = None
    lives: Mapping[int, int] = field(default_factory=lambda: {0: 3})
    points: Mapping[int, float] = field(default_factory=dict)


class FakeAtari:
    """A console whose every frame looks different.

    Args:
        scripts: one for each game; the last goes for all games after it.
        actions: the actions that do something.
    """

    def __init__(
        self,
        scripts: Sequence[Script] = (Script(),),
        actions: Sequence[Action] = (Action.NOOP, Action.FIRE, Action.RIGHT),
    ) -> None:
        self.scripts = scripts
        self.actions = list(actions)
        self.games = 0
        self.frame = 0
        self.seeds: list[int] = []
        self.played: list[list[Action]] = []  # the actions of each game, frame by frame
        self.pictures_fetched = 0
        self.numbers: dict[tuple[int, ...], int] = {}  # of the colours drawn so far

    def load(self, seed: int) -> Self:
        self.seeds.append(seed)
        return self

    @property
    def script(self) -> Script:
        return self.scripts[min(self.games, len(self.scripts)) - 1]

    def reset_game(self) -> None:
        self.games += 1
        self.frame = 0
        self.played.append([])

    def act(self, action: Action, /) -> float:
        assert not self.game_over(with_truncation=False), (
            "the game was over before this"
        )
        self.frame += 1
        self.played[-1].append(action)
        return self.script.points.get(self.frame, 0)

    def game_over(self, *, with_truncation: bool) -> bool:
        assert not with_truncation, "a truncated game is not over"
        over_at = self.script.over_at
        return over_at is not None and self.frame >= over_at

    def lives(self) -> int:
        return next(
            lives
            for since, lives in sorted(self.script.lives.items(), reverse=True)
            if self.frame >= since
        )

    def cloneSystemState(self) -> Any:  # noqa: N802
        raise NotImplementedError("a script can't be saved")

    def restoreSystemState(self, state: Any, /) -> None:  # noqa: N802
        raise NotImplementedError("a script can't be saved")

    def getScreenDims(self) -> tuple[int, int]:  # noqa: N802
        return HEIGHT, WIDTH

    def getScreen(self, numbers: Pixels, /) -> None:  # noqa: N802
        self.pictures_fetched += 1
        numbers[:] = self.draw_numbers()

    def getScreenRGB(self, screen: Pixels, /) -> None:  # noqa: N802
        numbers = self.draw_numbers()
        palette = np.array(sorted(self.numbers, key=self.numbers.__getitem__), np.uint8)
        screen[:] = palette[numbers]

    def draw_numbers(self) -> Pixels:
        """Give each colour that turns up the next number."""
        red, green, blue = np.moveaxis(draw(self.games, self.frame).astype(int), -1, 0)
        packed = red << 16 | green << 8 | blue
        colours, where = np.unique(packed.reshape(-1), return_inverse=True)
        numbers = []
        for each in colours.tolist():
            colour = each >> 16, each >> 8 & 255, each & 255
            numbers.append(self.numbers.setdefault(colour, len(self.numbers)))
        return np.array(numbers, np.uint8)[where].reshape(HEIGHT, WIDTH)

    def getMinimalActionSet(self) -> list[Action]:  # noqa: N802
        return self.actions

    def game(self, *, seed: int | None = 0, **options: Any) -> Game:
        """Make the environment; without no-ops and FIRE unless a test asks for them."""
        quiet = {"noop_max": 0, "fire_at_start": False}
        return Game(self.load, GameOptions(**(quiet | options)), seed)


def draw(game: int, frame: int) -> Pixels:
    """Draw a frame: a block of its own, and a red or a blue sprite that flickers."""
    screen = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
    screen[:8] = 20 * game % 256
    row, column = divmod(frame, 16)
    screen[16 + 8 * row : 24 + 8 * row, 10 * column : 10 * column + 10] = (90, 140, 200)
    sprite = (250, 0, 0) if frame % 2 else (0, 0, 250)
    screen[150:190, 60:100] = sprite
    return screen
