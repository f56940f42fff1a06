"""
---
title: From screens to a picture
summary: Two screens of the console become one small grey picture, exactly and fast.
---

# From screens to a picture

An Atari 2600 draws sixty pictures a second, 160 pixels wide, 210 high, in colour. A
neural network that looked at all of them would spend its time on pictures that hardly
differ, are larger than it needs, and in some cases lack half of their objects. This
page turns them into what nearly every agent since [Mnih et al.
(2015)](https://doi.org/10.1038/nature14236) gets to see: the last two frames of every
four, in one picture of 84 × 84 grey pixels.

It does so twice. [preprocess][] is the recipe, a few lines long, and easy to get wrong.
[Screens][] gives the same picture to the last bit in less than half the time.

## Why two frames

The console can draw only a few moving objects at once. Many games get round that by
drawing some of them in the even frames and the others in the odd ones (*flickering*).
On an old television the two blend into one. A program that looks at every fourth frame
of the game below sees either the rocks or its own ship, never both.

![Three pictures of the game Asteroids: a frame with the ship alone, the next frame with
four rocks and no ship, and a picture that has both](../assets/figures/game-flicker.png)

*Asteroids. Left and middle: two frames, one sixtieth of a second apart. Right: for each
pixel and colour, the larger of the two values.*

This maximum (*max-pooling* of frames, in Gymnasium) then loses its colours
(*grayscale*), which the network can do without, and is shrunk to 84 × 84 pixels. (It is
a square because the GPU convolutions of [Mnih et al.
(2013)](https://arxiv.org/abs/1312.5602) took nothing else.)

![The last picture in grey; and the same, square and
coarser](../assets/figures/game-shrink.png)

*Left: grey, still 160 × 210. Right: 84 × 84, as the network gets it.*
"""

from math import gcd
from typing import Any, NamedTuple, Protocol

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
        Gymnasium, EnvPool and ALE's own vector environment turn the frames grey first.
        In Breakout it makes no difference. In Ms. Pac-Man nine pictures in ten differ,
        by up to some 40 of 255, and a network trained on one does not see quite the
        same game in the other.

    Args:
        screens: the last two frames, in either order, shape `(2, height, width, 3)`.
        crop_scoreboard: leave out the scoreboard, as described [below][shrink].

    Returns:
        A new array, shape `(84, 84)`.
    """
    screen = np.maximum(screens[0], screens[1])  # (height, width, 3)

    # Grey is the luminance, $0.299 R + 0.587 G + 0.114 B$: how bright a colour is to
    # the eye. It is rounded to the nearest whole number. (`astype(np.uint8)` would
    # round down, and many pixels would be too dark by 1.)
    grey = cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY)  # (height, width)
    return shrink(np.asarray(grey, np.uint8), crop_scoreboard=crop_scoreboard)


def shrink(grey: Pixels, *, crop_scoreboard: bool = False) -> Pixels:
    """
    ### The new size

    !!! warning "The third argument of `cv2.resize` is not the interpolation"
        It is the output array. `cv2.resize(grey, (84, 84), cv2.INTER_AREA)` runs
        without complaint, and uses bilinear interpolation. That skips pixels when the
        new size is less than half: a small ball can vanish. `INTER_AREA` averages over
        everything that a new pixel covers.

    The scoreboard can be cut off. [Mnih et al. (2013)](https://arxiv.org/abs/1312.5602)
    keep 84 of 110 rows, roughly those of the playing area, but don't say which. Here
    the cut is the same for every game.

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

    The recipe handles 100,000 bytes a frame. The emulator itself stores a third of
    that, one byte for each pixel: the *number* of its colour in a palette. It looks the
    colours up only when it is asked for them. With 128 colours there are not many pairs
    to take the maximum of, nor many greys. So all of them go into a table, once, and
    each pixel then costs one lookup.

    For that, an emulator must have the methods below. ALE, [the one that this book
    uses](game.py), has them.
    """

    def getScreenDims(self) -> tuple[int, int]: ...  # height, width
    def getScreen(self, numbers: Pixels, /) -> None: ...  # writes into it
    def getScreenRGB(self, screen: Pixels, /) -> None: ...  # writes into it


def in_colour(display: Display) -> Pixels:
    """
    Returns:
        What it shows, as people see it, shape `(height, width, 3)`.
    """
    screen = np.empty((*display.getScreenDims(), 3), np.uint8)
    display.getScreenRGB(screen)
    return screen


class Frame(NamedTuple):
    """
    ### Eight at a time

    To find what has changed, two frames are compared eight pixels at a time, as numbers
    of 64 bits: **words**.

    Args:
        screen: the colour number of each pixel, shape `(height, width)`.
        pixels: the same memory, shape `(words, 8)`.
        words: the same memory, shape `(words,)`.
    """

    screen: Pixels
    pixels: Pixels
    words: NDArray[np.uint64]

    @staticmethod
    def black(height: int, width: int) -> "Frame":
        """A frame of zeros."""
        screen = np.zeros((height, width), np.uint8)
        return Frame(screen, screen.reshape(-1, 8), screen.reshape(-1).view(np.uint64))


class Screens:
    """
    ### Tile by tile

    The averaging takes longer than everything else. But 84 rows are two fifths of 210.
    So five rows become two, the next five the next two, and so on. In the same way 40
    columns become 21. What happens in one such **tile** has no effect on any other, and
    most tiles look as they did a step ago. These stay as they are.

    Args:
        display: where the frames come from. Their width is a multiple of 8.
        crop_scoreboard: as above. In a tile, 21 rows then become 11.
    """

    def __init__(self, display: Display, *, crop_scoreboard: bool = False) -> None:
        self._display = display
        height, width = display.getScreenDims()
        self._last = Frame.black(height, width)
        self._before = Frame.black(height, width)
        self._differ = np.zeros(0, np.intp)  # in which words the two differ

        # The maximum of the two in grey, and the picture. Both can be seen as tiles.
        new_height, top = (110, 18) if crop_scoreboard else (SIZE, 0)
        tiles = gcd(height, new_height), gcd(width // 8, SIZE)  # down, across
        grey = np.zeros((height, width), np.uint8)
        small = np.zeros((new_height, SIZE), np.uint8)
        self._grey_pixels = grey.reshape(-1, 8)  # (words, 8)
        self._grey_tiles = _in_tiles(grey, tiles)
        self._small_tiles = _in_tiles(small, tiles)
        self._picture = small[top : top + SIZE]

        # Which words of the grey are out of date; and in which tile each word is.
        words = len(self._grey_pixels)
        self._stale = np.ones(words, np.bool_)
        in_tiles = _in_tiles(np.arange(words).reshape(height, -1), tiles)
        self._tile_of_word = np.empty(words, np.intp)
        for tile, inside in enumerate(in_tiles.reshape(tiles[0] * tiles[1], -1)):
            self._tile_of_word[inside] = tile

        self._colours = np.zeros((256, 3), np.uint8)
        self._known = b""  # the numbers of those that have been seen
        display.getScreen(self._last.screen)
        self._learn_colours()

    def fetch(self) -> None:
        """
        Fetch the frame that the emulator shows now. It takes the place of the older of
        the two.
        """
        last, before = self._last, self._before = self._before, self._last
        self._display.getScreen(last.screen)
        self._differ = (last.words != before.words).nonzero()[0]
        self._stale[self._differ] = True

        # A new colour can only be where something has changed. Take all the known ones
        # away, and see whether any are left.
        if last.pixels[self._differ].tobytes().translate(None, self._known):
            self._learn_colours()

    def repeat(self) -> None:
        """Forget the older frame: the last stands in for both."""
        self._before.screen[:] = self._last.screen
        self._differ = self._differ[:0]

    def _learn_colours(self) -> None:
        """
        ### The palette

        It is not the same for all games, and the emulator does not say which it uses.
        But whenever a new number turns up, the same screen in colour says what it
        means. After the first minute of a game that hardly ever happens.
        """
        numbers = self._last.screen
        self._colours[numbers] = in_colour(self._display)
        self._known = bytes({*self._known, *numbers.tobytes()})

        # The recipe once more, on a screen of 256 × 256 pixels with all pairs on it.
        pairs = np.maximum(self._colours[:, None], self._colours[None, :])
        grey = np.asarray(cv2.cvtColor(pairs, cv2.COLOR_RGB2GRAY), np.uint8)
        self._grey_of_two = grey
        self._grey_of_one = grey.diagonal().copy()

    def picture(self) -> Pixels:
        """
        ### One picture

        Returns:
            What [preprocess][] makes of the two frames, shape `(84, 84)`. The next call
            changes it.
        """
        stale, differ = self._stale.nonzero()[0], self._differ
        if not len(stale):
            return self._picture

        # The grey of the last frame; and where the two differ, that of the pair.
        grey = np.asarray(cv2.LUT(self._last.pixels[stale], self._grey_of_one))
        self._grey_pixels[stale] = grey
        two = self._last.pixels[differ], self._before.pixels[differ]
        self._grey_pixels[differ] = self._grey_of_two[two]

        # The tiles that changed, one below the other, make a tall picture, and a single
        # call shrinks it.
        changed = np.zeros(self._grey_tiles.shape[:2], np.bool_)
        changed.reshape(-1)[self._tile_of_word[stale]] = True
        large = self._grey_tiles[changed]  # (tiles, rows, columns)
        rows, columns = self._small_tiles.shape[2:]
        size = (columns, len(large) * rows)
        below = large.reshape(-1, large.shape[2])
        small = cv2.resize(below, size, interpolation=cv2.INTER_AREA)
        self._small_tiles[changed] = small.reshape(-1, rows, columns)

        # Where the two frames differ, this picture is a mixture. The next one will
        # differ, even if nothing moves any more.
        self._stale[stale] = False
        self._stale[differ] = True
        return self._picture


def _in_tiles(array: NDArray[Any], tiles: tuple[int, int]) -> NDArray[Any]:
    # The same memory, with axes for (tile down, tile across, row in it, column in it).
    (down, across), (height, width) = tiles, array.shape
    apart = array.reshape(down, height // down, across, width // across)
    return apart.swapaxes(1, 2)
