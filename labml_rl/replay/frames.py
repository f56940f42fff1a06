"""
---
title: Each frame once
summary: >-
  How a million observations of four pictures each fit into 7 GB, and come out in the
  order that the network likes.
---

# Each frame once

An observation of a game is a stack of the latest four pictures. The next one has three
of these in it, and a new one. A memory that keeps whole observations keeps each picture
four times. Many keep the next observation of each step as well, which makes it eight:

| what is kept of a step | bytes | a million steps |
|---|---|---|
| two stacks | 56,448 | 56 GB |
| one stack | 28,224 | 28 GB |
| one picture | 7,056 | 7 GB |

This page keeps one picture, and puts the stacks together again when they are wanted.
Which pictures belong in a stack, [the rings](rings.py) say.

```python
import numpy as np
from labml_rl.replay.frames import Frames

frames = Frames(
    (4, 84, 84), np.uint8, stack=4, places=1_000_000
)
observations = np.zeros((2, 4, 84, 84), np.uint8)
# where to, (N,), and what, (N, 4, 84, 84)
frames.write(np.array([0, 1]), observations)
# where the pictures of each stack are, (B, 4); what
# comes back is (B, 4, 84, 84)
(stacks,) = frames.read(np.array([[0, 0, 0, 1]]))
```
"""

import contextlib
import os
import weakref
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from labml_rl.bodies import as_blocks, shape_in_blocks

# Where Linux says how much memory a container may use, and where older machines do.
MEMORY_MAX = Path("/sys/fs/cgroup/memory.max")
MEMORY_LIMIT = Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")

Places = NDArray[np.int64]


class Frames:
    """
    ## The pictures

    All pictures are in one array, and the number of a picture in it is its **place**.

    Args:
        shape: of one observation. Its first axis is the stack, the newest picture last.
        dtype: of its numbers.
        stack: how many pictures there are in it. With 1, observations are kept as they
            are, whatever their shape: a list of numbers, for instance.
        places: how many pictures to keep.
        blocks: give stacks [in blocks][labml_rl.bodies.as_blocks], if they can be cut.

    Raises:
        ValueError: if an observation is not a stack of that many, or if the machine has
            not enough memory.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: DTypeLike,
        *,
        stack: int,
        places: int,
        blocks: bool = False,
    ) -> None:
        if stack < 1 or (stack > 1 and not is_stack(tuple(shape), stack)):
            raise ValueError(
                f"an observation of shape {tuple(shape)} is no stack of {stack} "
                "pictures, with the stack in front"
            )
        self.shape, self.stack = tuple(shape), stack
        self.channels = shape[0] // stack if stack > 1 else 0
        one = (self.channels, *shape[1:]) if stack > 1 else self.shape

        # A program that asks for memory gets a promise. The system keeps it page by
        # page, as something is written.
        #
        # !!! warning "A promise can be broken"
        #     Nothing fails here if the machine has too little. Hours later, as the
        #     memory fills up, the system ends the program without a word. So what can
        #     never fit is refused at once.
        needed = places * prod(one) * np.dtype(dtype).itemsize
        there = memory_of_machine()
        if there is not None and needed > there:
            raise ValueError(
                f"a capacity of {places:,} steps needs {needed / 1e9:,.1f} GB of "
                f"memory, and this machine has {there / 1e9:,.1f}: choose a smaller one"
            )
        self.kept: NDArray[Any] = np.zeros((places, *one), dtype)

        # In blocks, a picture has 16 bytes for each of 21 × 21 squares.
        cut = blocks and stack > 1 and self.kept.dtype == np.uint8 and len(shape) == 3
        self.blocks = shape_in_blocks(self.shape) if cut else ()
        self._squares = prod(self.blocks[:2])
        self._free: list[NDArray[np.uint8]] = []

    # A complex number in NumPy has 16 bytes, as a square has, and NumPy never looks
    # inside when it only copies. So each square is moved as one number. (The view is
    # made anew each time: one that is kept would be cut off from the pictures if the
    # memory is copied or pickled.)
    @property
    def _words(self) -> NDArray[Any]:
        words = self.kept.reshape(len(self.kept), -1).view(np.complex128)
        return words.reshape(len(self.kept), self._squares, self.channels)

    def check(self, observations: NDArray[Any], count: int) -> None:
        """
        Args:
            observations: what is to be written.
            count: how many there should be.

        Raises:
            ValueError: if there are more or fewer, if their shape is not the one given,
                or if their type does not fit here.
        """
        if not isinstance(observations, np.ndarray):
            raise ValueError(
                f"observations must be an array, not {type(observations).__name__}"
            )
        expected = (count, *self.shape)
        # NumPy would write 300 as 44 where there is room for a byte. Digits of a float
        # may be lost, but words and objects are no numbers.
        found, here = observations.dtype, self.kept.dtype
        whole = here.kind in "biu"
        cut = not np.can_cast(found, here, "safe" if whole else "same_kind")
        if observations.shape != expected or cut:
            raise ValueError(
                f"observations must be {self.kept.dtype} of shape {expected}, not "
                f"{observations.dtype} of shape {observations.shape}"
            )

    def check_first(self, observations: NDArray[Any]) -> None:
        """
        A stack is put together again from the pictures of its episode. Before the first
        observation there are none, so [the first picture is
        repeated][labml_rl.replay.rings.Rings.stacks], and the agent must have seen just
        that.

        Args:
            observations: the first of episodes, shape `(N, …)`.

        Raises:
            ValueError: if one of them holds two different pictures.
        """
        if self.stack == 1 or not len(observations):
            return
        pictures = observations.reshape(len(observations), self.stack, -1)
        if (pictures != pictures[:, -1:]).any():
            raise ValueError(
                f"the first observation of an episode must be {self.stack} times the "
                "same picture. Some games begin with black ones in front; and whatever "
                "was played before begin() is not known here"
            )

    def newest(self, observations: NDArray[Any]) -> NDArray[Any]:
        """The newest picture of each, shape `(N, …)`: that is what is kept."""
        return observations[:, -self.channels :] if self.stack > 1 else observations

    def check_next(self, before: NDArray[Any], observations: NDArray[Any]) -> None:
        """
        After the first of an episode, each stack must be the one before with one more
        picture.

        Args:
            before: the newest picture that was seen before, shape `(N, …)`.
            observations: what came next, shape `(N, …)`.

        Raises:
            ValueError: if the second newest picture in one of these is not that one.
        """
        second = observations[:, -2 * self.channels : -self.channels]
        if (second != before).any():
            raise ValueError(
                "each observation must be the one before with one new picture at its "
                f"end: the other {self.stack - 1} would be put together wrongly. A "
                "wrapper that skips frames belongs below the one that stacks them. A "
                "stack of 1 keeps observations as they are"
            )

    def write(self, places: Places, observations: NDArray[Any]) -> None:
        """
        ### Write

        Args:
            places: where to, shape `(N,)`.
            observations: the newest picture of each is kept, shape `(N, …)`.
        """
        observations = self.newest(observations)
        if self.blocks:
            pictures = torch.from_numpy(np.array(observations))
            in_blocks = as_blocks(pictures).numpy()  # (N, H', W', C')
            observations = in_blocks.reshape(len(places), *self.kept.shape[1:])
        self.kept[places] = observations

    def read(self, *places: Places) -> list[Tensor]:
        """
        ### Read

        The stacks come out as the network wants them: square by square, and in each
        square 16 bytes of each of the four pictures.

        Args:
            places: of all pictures of each stack, the newest last, shape `(B, stack)`,
                for one set of stacks or for several of the same size.

        Returns:
            The stacks of each set, of shape `(B, 21, 21, 64)` [in
            blocks][labml_rl.bodies.as_blocks], or `(B, …)` as they were.
        """
        if not self.blocks:
            shape = (-1, *self.shape)
            return [torch.from_numpy(self.kept[each].reshape(shape)) for each in places]

        # A processor reads again in no time what it has just read. So one stack is
        # looked up and sorted before the next. And the stack of the next observation,
        # which has three of the same four pictures, comes right after it.
        rooms = [self._room(len(each)) for each in places]
        words, kept = [each.view(np.complex128) for each in rooms], self._words
        for number in range(len(places[0])):
            for room, each in zip(words, places, strict=True):
                room[number] = kept[each[number]].swapaxes(0, 1)
        return [torch.from_numpy(each).view(-1, *self.blocks) for each in rooms]

    def _room(self, count: int) -> NDArray[np.uint8]:
        """
        ### Memory that is used again

        A batch of 256 steps needs 14 MB. The system gives new memory page by page, and
        clears each, which takes nearly as long as filling it. So when the last tensor
        that looks at a batch is gone, its memory is kept for a later one.

        Returns:
            Room for that many stacks, with anything in it.
        """
        shape = (count, self._squares, self.stack, self.blocks[2] // self.stack)
        room = self._free.pop() if self._free else np.empty(0, np.uint8)
        if room.shape != shape:
            room = np.empty(shape, np.uint8)
        given = room.view()
        weakref.finalize(given, self._free.append, room).atexit = False
        return given


def is_stack(shape: tuple[int, ...], stack: int) -> bool:
    """
    Args:
        shape: of an observation.
        stack: how many pictures should be in it.

    Returns:
        Whether its first axis is a stack: by itself, as Gymnasium's
        `FrameStackObservation` has it, or together with the channels of a picture. A
        picture [whose channels come last][labml_rl.environments.has_channels_last] has
        its rows there.
    """
    if len(shape) == 3 and shape[0] != stack:
        channels_last = shape[2] < min(shape[:2])
        return shape[0] % stack == 0 and not channels_last
    return len(shape) > 1 and shape[0] == stack


def memory_of_machine() -> int | None:
    """
    Returns:
        How many bytes of memory the machine has, or a container on it may use; or
        `None` where the system, such as Windows, does not say.
    """
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
    # Where there is no limit, the file says "max", or is not there.
    for file in (MEMORY_MAX, MEMORY_LIMIT):
        with contextlib.suppress(OSError, ValueError):
            there = min(there, int(file.read_text(encoding="ascii")))
    return there
