"""
---
title: The picture of a thinking agent
summary: The game, and beside it what the agent expects and what it is about to do.
---

# The picture of a thinking agent

A film of a game shows what an agent does. It does not show that the agent saw the
danger coming, or did not care which way to go. So the pictures of this page have the
game on the left. On the right is what the network says of it: the return that it
expects, as a curve of the last twenty seconds, and what it thinks of each action.

![The maze of Ms. Pac-Man; to its right a curve of what the agent expects, with green
marks below it, and nine bars, of which one is
orange](../../assets/films/run-fast-dqn-mspacman-seed-1.webp)

*[Ms. Pac-Man](../dqn/mspacman.py), played by DQN. The green marks are points that were
scored. The bars show what DQN and PQN expect of each action, drawn so that the best has
a full one and the worst a short one, however close they are; with A2C and PPO they show
how likely each is to be taken. The action that was taken is orange. [The picture at
full size](../../assets/films/run-fast-dqn-mspacman-seed-1.webp).*

If an agent has learned [how likely each return is](../dqn/distribution.py), that is
shown behind its curve, in blue. Where the blue splits in two, the agent knows that
something is about to be decided, but not how.
"""

from collections import deque
from dataclasses import dataclass
from functools import cache
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from labml_rl.screen import Pixels

WIDTH, HEIGHT = 1280, 720
MARGIN = 40
LEFT, RIGHT = 600, WIDTH - MARGIN  # of the panel beside the game
CURVE_TOP, CURVE_BOTTOM = 182, 400
START = LEFT + 70  # of the curve; numbers are to the left of it
BARS_TOP, BARS_BOTTOM = 470, HEIGHT - MARGIN

Colour = tuple[int, int, int]
Words = tuple[
    str, tuple[int, int], str, Colour, int
]  # text, where, anchor, colour, size

# The colours of this site at night.
GROUND: Colour = (23, 28, 39)
RAISED: Colour = (33, 40, 55)
TEXT: Colour = (221, 225, 234)
FAINT: Colour = (163, 171, 187)
LINE: Colour = (245, 160, 92)
RULE: Colour = (58, 68, 88)
POINTS: Colour = (143, 220, 143)
LOST: Colour = (226, 104, 104)
LIKELY: Colour = (98, 148, 214)


@dataclass(frozen=True, kw_only=True)
class Said:
    """
    ## What is said

    Args:
        score: so far, this step included.
        points: those scored in this step.
        value: the return that the agent expects.
        bars: a number for each action: its probability, or what the agent expects of
            it.
        action: the one that it takes.
        returns: those that it tells apart, if it knows [how likely each
            is](../dqn/distribution.py).
        chances: how likely it says each of these is.
    """

    score: float
    points: float
    value: float
    bars: tuple[float, ...]
    action: int
    returns: tuple[float, ...] = ()
    chances: tuple[float, ...] = ()


@cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """The one that comes with Pillow, so that the picture is the same everywhere."""
    found = ImageFont.load_default(size)
    assert isinstance(found, ImageFont.FreeTypeFont)
    return found


def in_digits(points: float) -> str:
    """Points are whole numbers in Atari games, and seldom elsewhere."""
    return f"{points:,.0f}" if points == round(points) else f"{points:,.2f}"


class Painter:
    """
    ## The painter

    Args:
        title: what is played.
        subtitle: who plays it, and how; up to two lines.
        actions: their names.
        value_is: what the value counts.
        bars_are_values: whether the bars are action values, or probabilities.
        steps_shown: how far back the curve goes.
    """

    def __init__(
        self,
        title: str,
        subtitle: str,
        actions: tuple[str, ...],
        *,
        value_is: str,
        bars_are_values: bool,
        steps_shown: int,
    ) -> None:
        self._actions, self._are_values = actions, bars_are_values
        self._seen: deque[Said] = deque(maxlen=steps_shown)

        # What never changes is drawn once.
        image = Image.new("RGB", (WIDTH, HEIGHT), GROUND)
        draw = ImageDraw.Draw(image)
        draw.text((LEFT, MARGIN), title, TEXT, font(34))
        draw.text((LEFT, MARGIN + 44), subtitle, FAINT, font(17), spacing=6)
        draw.text((LEFT, CURVE_TOP - 30), value_is, FAINT, font(17))
        bars_are = "how likely it is to take each action"
        if bars_are_values:
            bars_are = f"{value_is}, for each action"
        draw.text((LEFT, BARS_TOP - 34), bars_are, FAINT, font(17))
        draw.rectangle((LEFT, CURVE_TOP, RIGHT, CURVE_BOTTOM), RAISED)
        self._ground = np.array(image)

    def panel(self, said: Said) -> Pixels:
        """
        Args:
            said: the latest step.

        Returns:
            The picture without the game, shape `(720, 1280, 3)`.
        """
        self._seen.append(said)
        picture = self._ground.copy()
        words = [
            *self._curve(picture),
            *self._bars(picture, said),
            (in_digits(said.score), (RIGHT, MARGIN), "ra", TEXT, 34),
            (f"{said.value:.2f}", (RIGHT, CURVE_TOP - 33), "ra", LINE, 20),
        ]
        image = Image.fromarray(picture)
        draw = ImageDraw.Draw(image)
        for text, place, anchor, colour, size in words:
            draw.text(place, text, colour, font(size), anchor=anchor)
        return np.array(image)

    def _curve(self, picture: Pixels) -> list[Words]:
        values = np.array([each.value for each in self._seen])
        low, high = self._range(values)

        # A curve that hardly moves must not look like mountains.
        room = max(high - low, 0.1 * abs(high), 0.1)
        bottom, top = CURVE_BOTTOM - 36, CURVE_TOP + 22
        middle, pixels, centre = (bottom + top) / 2, bottom - top, (low + high) / 2

        def place(value: Any) -> Any:
            return middle - (value - centre) / room * pixels

        steps = np.arange(len(values))[::-1] / max((self._seen.maxlen or 0) - 1, 1)
        x = RIGHT - 14 - (RIGHT - 14 - START) * steps

        # Where there is a distribution, it lies behind the curve: the brighter a place,
        # the likelier its return.
        if any(each.chances for each in self._seen):
            rows = np.arange(CURVE_TOP, CURVE_BOTTOM - 22)
            returns = centre + (middle - rows) / pixels * room
            self._fan(picture, rows, returns, x)

        words: list[Words] = []
        for value in dict.fromkeys((low, high)):
            height = round(place(value))
            cv2.line(picture, (START, height), (RIGHT - 14, height), RULE)
            words.append((f"{value:.2f}", (START - 10, height), "rm", FAINT, 13))

        # In sixteenths of a pixel, so that it moves smoothly.
        line = (16 * np.stack([x, place(values)], axis=1)).astype(np.int32)
        cv2.polylines(picture, [line], False, LINE, 2, cv2.LINE_AA, 4)
        end = (int(line[-1, 0]), int(line[-1, 1]))
        cv2.circle(picture, end, 5 * 16, LINE, -1, cv2.LINE_AA, 4)
        for said, at in zip(self._seen, x.astype(int), strict=True):
            if said.points:
                colour = POINTS if said.points > 0 else LOST
                corners = (at - 1, CURVE_BOTTOM - 18), (at + 1, CURVE_BOTTOM - 8)
                cv2.rectangle(picture, *corners, colour, -1)
        return words

    def _range(self, values: Any) -> tuple[float, float]:
        """How low and how high the curve goes, with all that is not unlikely."""
        ends = [float(values.min()), float(values.max())]
        for said in self._seen:
            ends += [
                value
                for value, chance in zip(said.returns, said.chances, strict=True)
                if chance > 0.02
            ]
        return min(ends), max(ends)

    def _fan(self, picture: Pixels, rows: Any, returns: Any, x: Any) -> None:
        columns = []
        for said in self._seen:
            chances = np.zeros(len(rows))
            if said.chances:
                chances = np.interp(returns, said.returns, said.chances, 0, 0)
                chances /= max(said.chances)
            columns.append(chances)
        left, right = int(x[0]), int(x[-1]) + 1
        size = (right - left, len(rows))
        shown = cv2.resize(np.stack(columns, 1), size)[:, :, None]  # (rows, width, 1)
        ground, likely = np.array(RAISED), np.array(LIKELY)
        place = picture[rows[0] : rows[-1] + 1, left:right]
        place[:] = (ground + shown * (likely - ground)).astype(np.uint8)

    def _bars(self, picture: Pixels, said: Said) -> list[Words]:
        numbers = np.array(said.bars)
        lengths = numbers
        if self._are_values:
            # The worst action has a short bar, the best a full one.
            lengths = 0.08 + 0.92 * (numbers - numbers.min()) / max(
                np.ptp(numbers), 1e-9
            )

        # Up to nine actions go into one column, and eighteen into two.
        columns = 1 if len(numbers) <= 9 else 2
        rows = -(-len(numbers) // columns)
        height = min((BARS_BOTTOM - BARS_TOP) / rows, 44)
        width = (RIGHT - LEFT - 30 * (columns - 1)) / columns
        size = 17 if columns == 1 else 13
        words: list[Words] = []
        for action, (name, number) in enumerate(
            zip(self._actions, numbers, strict=True)
        ):
            column, row = divmod(action, rows)
            left = LEFT + round(column * (width + 30))
            top = BARS_TOP + round(row * height)
            bottom = top + round(height) - 6
            start, stop = left + 9 * size, left + round(width) - 4 * size
            colour = LINE if action == said.action else FAINT
            cv2.rectangle(picture, (start, top), (stop, bottom), RAISED, -1)
            end = start + round(float(lengths[action]) * (stop - start))
            if end > start:
                cv2.rectangle(picture, (start, top), (end, bottom), colour, -1)
            middle = (top + bottom) // 2
            text = f"{number:.2f}" if self._are_values else f"{number:.0%}"
            chosen = TEXT if action == said.action else FAINT
            words.append((name, (left, middle), "lm", chosen, size))
            words.append((text, (left + round(width), middle), "rm", chosen, size))
        return words

    @staticmethod
    def place(panel: Pixels, screen: Pixels) -> Pixels:
        """
        ### The game

        The pixels of an old console are squares, and stay squares: each becomes three
        by three. Anything larger is made to fit.

        Args:
            panel: what [Painter.panel][] returned.
            screen: shape `(height, width, 3)`.

        Returns:
            Both together, a new array.
        """
        picture = panel.copy()
        room_x, room_y = LEFT - 2 * MARGIN, HEIGHT - 2 * MARGIN
        height, width = screen.shape[:2]
        scale = min(room_x / width, room_y / height)
        scale = int(scale) if scale >= 1 else scale
        size = (round(width * scale), round(height * scale))
        how = cv2.INTER_NEAREST if scale >= 1 else cv2.INTER_AREA
        left = MARGIN + (room_x - size[0]) // 2
        top = MARGIN + (room_y - size[1]) // 2
        scaled = cv2.resize(screen, size, interpolation=how)
        picture[top : top + size[1], left : left + size[0]] = scaled
        return picture
