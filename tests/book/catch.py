"""A console with one small game, which can be learned from its pixels in a minute.

A ball falls, and the paddle should be below it when it comes down. As on the real
console, the ball is drawn in even frames and the paddle in odd ones, so that only a
maximum shows both; nothing falls until the button is pressed; and a ball that is missed
costs a life. The game ends with the third life, or with the eighth ball. It knows
chance: where the next ball falls. Who sees both sprites catches all eight.
"""

from typing import Any

import numpy as np
from ale_py import Action

from labml_rl.screen import Pixels

HEIGHT, WIDTH = 210, 160
BALLS, LIVES = 8, 3
FALLS = 12  # pixels a frame
MOVES = 10
BALL, PADDLE = 20, 40  # wide
PLACES = (0, 70, 140)  # where a ball can fall
COLOURS = np.array([(0, 0, 0), (240, 240, 240), (200, 72, 72)], np.uint8)


class Catch:
    """The console. It has the methods that `labml_rl.game` needs of an emulator."""

    def __init__(self, seed: int) -> None:
        self.dice = np.random.default_rng(seed)
        self.frame = 0
        self.reset_game()

    def reset_game(self) -> None:
        self.balls, self.left, self.paddle = BALLS, LIVES, (WIDTH - PADDLE) // 2
        self.falls = False
        self.drop()

    def drop(self) -> None:
        self.column = PLACES[self.dice.integers(len(PLACES))]
        self.row = 8

    def act(self, action: Action, /) -> float:
        self.frame += 1
        self.falls |= action == Action.FIRE
        direction = (action == Action.RIGHT) - (action == Action.LEFT)
        self.paddle = min(max(self.paddle + MOVES * direction, 0), WIDTH - PADDLE)
        if not self.falls:
            return 0.0
        self.row += FALLS
        if self.row < HEIGHT - 16:
            return 0.0
        self.balls -= 1
        caught = -BALL < self.column - self.paddle < PADDLE
        self.left -= not caught
        self.drop()
        return float(caught)

    def game_over(self, *, with_truncation: bool) -> bool:
        return self.left == 0 or self.balls == 0

    def lives(self) -> int:
        return self.left

    def getMinimalActionSet(self) -> list[Action]:  # noqa: N802
        return [Action.NOOP, Action.FIRE, Action.RIGHT, Action.LEFT]

    def getScreenDims(self) -> tuple[int, int]:  # noqa: N802
        return HEIGHT, WIDTH

    def getScreen(self, numbers: Pixels, /) -> None:  # noqa: N802
        numbers[:] = 0
        if self.frame % 2:
            numbers[-16:-8, self.paddle : self.paddle + PADDLE] = 2
        else:
            numbers[self.row : self.row + 16, self.column : self.column + BALL] = 1

    def getScreenRGB(self, screen: Pixels, /) -> None:  # noqa: N802
        numbers = np.empty((HEIGHT, WIDTH), np.uint8)
        self.getScreen(numbers)
        screen[:] = COLOURS[numbers]

    def cloneSystemState(self) -> Any:  # noqa: N802
        raise NotImplementedError("this game is never saved")

    def restoreSystemState(self, state: Any, /) -> None:  # noqa: N802
        raise NotImplementedError("this game is never saved")
