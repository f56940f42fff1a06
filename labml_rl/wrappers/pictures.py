"""
---
title: Wrappers that change what is seen
summary: Stacks along any axis, grey, area interpolation, order of channels, floats.
---

# Wrappers that change what is seen

The wrappers on this page look but do not touch: they change observations and leave the
game as it is. So they can be left out, exchanged and put in another order, as long as
each finds the shape that it needs. One that does not find it says so when it is made.

None of them writes to an observation that it has already returned.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import cv2
import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from labml_rl.screen import SIZE, Pixels
from labml_rl.wrappers.frames import Start, Step


class StackFrames(gymnasium.Wrapper):
    """
    ## The stack

    The last few observations in one. The pipeline has it twice: two frames, to take
    their maximum; and four pictures, to see what moves.

    At the beginning of an episode, when there are not enough, the first stands in for
    those that are missing.

    Args:
        env: with observations that are arrays.
        count: how many.
        axis: where the stack goes. 0 turns `(84, 84)` into `(4, 84, 84)`, and −1 into
            `(84, 84, 4)`.
        concatenate: join along an existing axis, and make no new one. Then −1 turns
            `(84, 84, 3)` into `(84, 84, 12)`.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        count: int,
        axis: int = 0,
        concatenate: bool = False,
    ) -> None:
        super().__init__(env)
        if count < 1:
            raise ValueError(f"the count must be at least 1, not {count}")
        self._count, self._axis, self._concatenate = count, axis, concatenate
        self._latest: deque[NDArray[Any]] = deque(maxlen=count)
        self.observation_space = changed(self, lambda one: self._join([one] * count))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> Start:
        """Fill the stack with the first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._latest.extend([np.array(observation)] * self._count)
        return self._join(self._latest), info

    def step(self, action: Any) -> Step:
        """Push out the oldest observation."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._latest.append(np.array(observation))  # Some write all into one array.
        return self._join(self._latest), float(reward), terminated, truncated, info

    # !!! warning "A new array each time"
    #     It is quicker to move everything up by one *in the same array*, and to return
    #     that. But then all observations are one array, and a replay memory is full of
    #     copies of the latest.
    def _join(self, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        join = np.concatenate if self._concatenate else np.stack
        return join(arrays, axis=self._axis)


class Grey(gymnasium.ObservationWrapper):
    """
    ## Grey

    How bright a colour is to the eye, $0.299 R + 0.587 G + 0.114 B$. The maximum of two
    frames is taken in colour, so it comes before this.

    Args:
        env: with pictures `(height, width, 3)` of bytes.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        shape = env.observation_space.shape
        if shape is None or len(shape) != 3 or shape[2] != 3:
            raise ValueError(f"Grey needs pictures (height, width, 3), not {shape}")
        check_bytes(self)
        self.observation_space = Box(0, 255, shape[:2], np.uint8)

    def observation(self, observation: Pixels) -> Pixels:
        """
        Returns:
            Shape `(height, width)`.
        """
        return np.asarray(cv2.cvtColor(observation, cv2.COLOR_RGB2GRAY), np.uint8)


class Resize(gymnasium.ObservationWrapper):
    """
    ## Another size

    Each new pixel is the average of everything that it covers. OpenCV calls this *area
    interpolation*. Bilinear interpolation, its default, [can skip
    pixels][labml_rl.screen.shrink].

    !!! warning "Two arguments to get wrong"
        In `cv2.resize(picture, size, cv2.INTER_AREA)` the third is the *output*, and
        the interpolation stays bilinear, without complaint. It must be named. And
        `size` is `(width, height)`, the other way round from a shape, which nobody
        notices as long as pictures are square.

    Args:
        env: with pictures `(height, width)` or `(height, width, colours)` of bytes.
        height: of the new picture, in pixels.
        width: of the new picture, in pixels.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], height: int = SIZE, width: int = SIZE
    ) -> None:
        super().__init__(env)
        if height < 1 or width < 1:
            raise ValueError(f"no picture is {height} pixels high and {width} wide")
        shape = env.observation_space.shape
        if shape is None or len(shape) not in (2, 3) or shape[2:] > (4,):
            raise ValueError(
                "Resize needs single pictures, (height, width) or with up to 4 colours,"
                f" not {shape}"
            )
        check_bytes(self)
        self._size, self._shape = (width, height), (height, width, *shape[2:])
        self.observation_space = Box(0, 255, self._shape, np.uint8)

    def observation(self, observation: Pixels) -> Pixels:
        """
        Returns:
            Shape `(height, width)` or `(height, width, colours)`.
        """
        small = cv2.resize(observation, self._size, interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.uint8).reshape(self._shape)


class CropRows(gymnasium.ObservationWrapper):
    """
    ### Without the scoreboard

    [Mnih et al. (2013)](https://arxiv.org/abs/1312.5602) shrink to 84 × 110 and keep 84
    rows, but don't say which. `CropRows(Resize(env, 110, 84), 18, 84)` is [what the
    book does][labml_rl.screen.shrink].

    Args:
        env: with pictures.
        top: the first row to keep, counted from 0.
        height: how many to keep.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], top: int, height: int) -> None:
        super().__init__(env)
        self._rows = slice(top, top + height)
        shape = env.observation_space.shape
        if not shape or not 0 <= top < top + height <= shape[0]:
            raise ValueError(f"{shape} has no rows {top} to {top + height - 1}")
        self.observation_space = changed(self, self.observation)

    def observation(self, observation: NDArray[Any]) -> NDArray[Any]:
        """
        Returns:
            These rows, with all their columns.
        """
        return observation[self._rows].copy()


class MoveChannels(gymnasium.ObservationWrapper):
    """
    ## Channels in front

    Colour pictures have their colours last, and PyTorch wants them first.

    Args:
        env: with observations that are arrays.
        source: the axis to move.
        destination: where it goes. −1 and 0 turn `(84, 84, 3)` into `(3, 84, 84)`; 0
            and −1 undo that.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], source: int = -1, destination: int = 0
    ) -> None:
        super().__init__(env)
        self._source, self._destination = source, destination
        self.observation_space = changed(self, self.observation)

    def observation(self, observation: NDArray[Any]) -> NDArray[Any]:
        """
        Returns:
            A new array, laid out in memory in the new order.
        """
        return np.moveaxis(observation, self._source, self._destination).copy("C")


class ScaleToFloat(gymnasium.ObservationWrapper):
    """
    ## From bytes to numbers from 0 to 1

    A network learns best from small numbers. This book divides by 255 inside the
    network, and keeps bytes until then: a stack of four takes 28 KB in bytes and 113 KB
    in `float32`.

    Args:
        env: with observations of bytes.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        if env.observation_space.dtype != np.uint8:
            raise ValueError(
                f"ScaleToFloat needs bytes, not {env.observation_space.dtype}: twice "
                "divided by 255, every picture is black"
            )
        self.observation_space = changed(self, self.observation)

    def observation(self, observation: Pixels) -> NDArray[np.float32]:
        """
        Returns:
            The same shape, `float32`.
        """
        return observation.astype(np.float32) / np.float32(255)


def check_bytes(wrapper: gymnasium.Wrapper) -> None:
    """
    ### Bytes, or floats?

    Where bytes are expected, a picture with floats from 0 to 1 would come out black.

    Raises:
        ValueError: if the observations are not bytes.
    """
    dtype = wrapper.env.observation_space.dtype
    if dtype != np.uint8:
        raise ValueError(
            f"{wrapper.class_name()} needs bytes from 0 to 255, not {dtype}"
        )


def changed(wrapper: gymnasium.Wrapper, function: Any) -> Box:
    """
    ## The new space

    The smallest and the largest observation, changed as any other would be.

    Args:
        wrapper: around an environment with observations that are arrays.
        function: what the wrapper does to an observation.

    Returns:
        The space of what comes out.

    Raises:
        ValueError: if the observations are not arrays.
    """
    space = wrapper.env.observation_space
    if not isinstance(space, Box):
        raise ValueError(f"{wrapper.class_name()} needs arrays, in a Box, not {space}")
    low, high = function(space.low), function(space.high)
    return Box(low, high, dtype=low.dtype.type)
