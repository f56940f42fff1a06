"""
---
title: From screens to a picture
summary: Two screens of the console become one small grey picture, exactly and fast.
---

# From screens to a picture

An Atari 2600 draws sixty pictures a second, 160 pixels wide, 210 high, in colour. A
neural network that looked at all of them would spend its time on pictures that hardly
differ, larger than it needs, and some with half of their objects missing. This page
makes of them what nearly every agent since [Mnih et al.
(2015)](https://doi.org/10.1038/nature14236) gets to see: the last two frames of every
four, in one picture of 84 × 84 grey pixels.

It does so twice. [preprocess][] is the recipe, four lines long, and easy to get wrong.
[Screens][] gives the same picture to the last bit in less than half the time. With
that, [the game](game.py) spends most of its time in the emulator, and there is not much
left to save.

## Why two frames

The console can draw only a few moving objects at once. Many games get round that by
drawing some of them in the even frames and the others in the odd ones. On an old
television the two melt together. A program that looks at every fourth frame of the game
below sees either the rocks or its own ship, never both.

![Three pictures of the game Asteroids: a frame with the ship alone, the next frame with
four rocks and no ship, and a picture that has both](../assets/figures/game-flicker.png)

*Asteroids. Left and middle: two frames, one sixtieth of a second apart. Right: for each
pixel and colour, the larger of the two values.*

This maximum then loses its colours, which the network can do without, and is shrunk to
84 × 84 pixels.

![The last picture in grey; and the same, square and
coarser](../assets/figures/game-shrink.png)

*Left: grey, still 160 × 210. Right: 84 × 84, as the network gets it.*
"""

from math import gcd
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

SIZE = 84  # pixels: the width and the height of a picture

Pixels = NDArray[np.uint8]


def preprocess(screens: Pixels, *, crop_scoreboard: bool = False) -> Pixels:
    """
    ## The recipe

    First the maximum, then grey, then the new size. The order matters.

    !!! warning "The maximum of colours, not of greys"
        Mnih et al. (2015) take it for each *colour* of each pixel, on the full screen.
        Gymnasium, EnvPool and ALE's own vector environment turn the frames grey before
        that. In Breakout it makes no difference. In Ms. Pac-Man nearly every picture is
        another, by up to 37 of 255, and a network trained on one does not see quite the
        same game in the other. CleanRL shrinks in colour, which differs by rounding
        alone.

    Args:
        screens: the last two frames, in either order, shape `(2, height, width, 3)`.
        crop_scoreboard: leave out the scoreboard, as described [below][shrink].

    Returns:
        A new array, shape `(84, 84)`.
    """
    screen = np.maximum(screens[0], screens[1])  # (height, width, 3)

    # Grey is the luminance, $0.299 R + 0.587 G + 0.114 B$: how bright a colour is to
    # the eye.
    grey = cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY)  # (height, width)
    return shrink(np.asarray(grey, np.uint8), crop_scoreboard=crop_scoreboard)


def shrink(grey: Pixels, *, crop_scoreboard: bool = False) -> Pixels:
    """
    ### The new size

    !!! warning "The third argument of `cv2.resize` is not the interpolation"
        It is the output array. `cv2.resize(grey, (84, 84), cv2.INTER_AREA)` runs
        without a complaint, and uses bilinear interpolation, which at half the size
        skips pixels: a small ball can vanish. `INTER_AREA` averages over all that a new
        pixel covers.

    The scoreboard can be cut off. The cut is that of [Mnih et al.
    (2013)](https://arxiv.org/abs/1312.5602): the same for every game, wherever it shows
    its score.

    ![Breakout with and without its scoreboard](../assets/figures/game-crop.png)

    Args:
        grey: shape `(height, width)`.
        crop_scoreboard: scale to 84 × 110 and keep the 84 rows from 18 on. Rows are
            counted from 0.

    Returns:
        A new array, shape `(84, 84)`.
    """
    height, top = (110, 18) if crop_scoreboard else (SIZE, 0)
    size = (SIZE, height)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)[top : top + SIZE]  # (84, 84)


class Display(Protocol):
    """
    ## The same, faster

    The recipe handles 100,000 bytes a frame. The emulator itself needs a third of that:
    it keeps the screen as *numbers* of colours, one byte a pixel, and looks the colours
    up in a palette when somebody asks for them. With 128 colours there are not many
    pairs to take the maximum of, nor many greys. So all of them go into a table, once,
    and a pixel costs one look into it.

    This is what that needs of an emulator; ALE's has it.
    """

    def getScreenDims(self) -> tuple[int, int]: ...  # (height, width)
    def getScreen(self, numbers: Pixels, /) -> None: ...  # writes into it
    def getScreenRGB(self, screen: Pixels, /) -> None: ...  # writes into it


class Screens:
    """
    ### Strip by strip

    The averaging takes longer than all the rest. But 84 rows are two fifths of 210. So
    five rows become two, the next five the next two, and what happens in one such
    **strip** does not matter to any other. Most strips look as they did a step ago;
    these stay as they are.

    Args:
        display: where the frames come from. They are as wide as a multiple of 8.
        crop_scoreboard: as above. Strips of 21 rows then become 11.
    """

    def __init__(self, display: Display, *, crop_scoreboard: bool = False) -> None:
        self._display = display
        height, width = display.getScreenDims()
        new_height, top = (110, 18) if crop_scoreboard else (SIZE, 0)
        strips = gcd(height, new_height)

        # The last two frames, as numbers of colours, a strip in each row.
        self._screen_shape = (height, width)
        self._last = np.zeros((strips, height * width // strips), np.uint8)
        self._before = np.zeros_like(self._last)
        self._differ = np.zeros(strips, np.bool_)  # in which strips the two differ
        self._changed = np.ones(strips, np.bool_)  # which are not in the picture yet

        small = np.zeros((strips, new_height // strips, SIZE), np.uint8)
        self._small = small
        self._picture = small.reshape(new_height, SIZE)[top : top + SIZE]

        self._colours = np.zeros((256, 3), np.uint8)
        self._known = np.zeros(256, np.bool_)
        self._grey_of_two = np.zeros((256, 256), np.uint8)
        self._grey_of_one = np.zeros(256, np.uint8)
        display.getScreen(self._last.reshape(self._screen_shape))
        self._learn_colours()
        self.repeat()

    def fetch(self) -> None:
        """
        Fetch the frame that the emulator shows now. It takes the place of the older of
        the two.
        """
        self._last, self._before = self._before, self._last
        self._display.getScreen(self._last.reshape(self._screen_shape))

        # To find what has changed, the frames are compared eight pixels at a time, as
        # numbers of 64 bits. Only there can be a new colour.
        differ = self._last.view(np.uint64) != self._before.view(np.uint64)
        self._differ = differ.any(axis=1)
        self._changed |= self._differ
        numbers = self._last.reshape(-1, 8)[differ.reshape(-1).nonzero()[0]]
        if not self._known[numbers].all():
            self._learn_colours()

    def repeat(self) -> None:
        """Forget the older frame: the last stands for both."""
        self._before[:] = self._last
        self._differ[:] = False

    def _learn_colours(self) -> None:
        """
        ### The palette

        It is not the same for all games: television in Europe had other colours than in
        America, and some games come from there. The emulator does not tell which
        palette it uses. But whenever a number turns up that is new, the same screen in
        colour says what it means. After the first minute of a game that hardly ever
        happens.
        """
        numbers = self._last.reshape(self._screen_shape)
        colours = np.empty((*self._screen_shape, 3), np.uint8)
        self._display.getScreenRGB(colours)
        self._colours[numbers] = colours
        self._known[numbers] = True

        # The recipe once more, on a screen of 256 × 256 pixels with all pairs on it.
        pairs = np.maximum(self._colours[:, None], self._colours[None, :])
        self._grey_of_two = np.asarray(
            cv2.cvtColor(pairs, cv2.COLOR_RGB2GRAY), np.uint8
        )
        self._grey_of_one = self._grey_of_two.diagonal().copy()

    def picture(self) -> Pixels:
        """
        ### One picture

        Returns:
            What [preprocess][] makes of the two frames, shape `(84, 84)`. The next call
            changes it.
        """
        changed = self._changed.nonzero()[0]
        if len(changed):
            last, before = (
                self._last[changed],
                self._before[changed],
            )  # (strips, pixels)
            grey = self._grey(last, before).reshape(-1, self._screen_shape[1])
            size = (SIZE, len(changed) * self._small.shape[1])
            small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
            self._small[changed] = small.reshape(len(changed), -1, SIZE)

        # Where the two frames differ, this picture is a mixture. The next is another,
        # even if nothing moves any more.
        self._changed = self._differ.copy()
        return self._picture

    def _grey(self, last: Pixels, before: Pixels) -> Pixels:
        # It is the grey of one colour, except where there are two.
        grey = np.asarray(cv2.LUT(last, self._grey_of_one), np.uint8)
        differ = (last.view(np.uint64) != before.view(np.uint64)).reshape(-1)
        two = differ.nonzero()[0]
        eights = last.reshape(-1, 8)[two], before.reshape(-1, 8)[two]
        grey.reshape(-1, 8)[two] = self._grey_of_two[eights]
        return grey
