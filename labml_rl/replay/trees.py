r"""
---
title: Sums over a million numbers
summary: >-
  A sum tree in NumPy: how to draw in proportion, and change what is drawn, without
  going through all of it.
---

# Sums over a million numbers

Say that each of a million steps has a priority, and is to be drawn as often as that
says. Put the priorities end to end on a line, throw a dart at it, and see whose piece
it hit. But where does each piece begin? You could add up all the priorities before it,
anew for each dart. Or you could keep these sums, and look them up. But then each new
priority changes all the sums after it, and each batch brings 32 new priorities.

A **sum tree** (in Baselines, a *segment tree*) is between these two. It keeps the sums
of a few priorities each, the sums of a few of these, and so on. Here are eight
priorities, in a tree where each node has two children:

![Four rows of boxes, each as wide as its number is large: 29; 12 and 17; 5, 7, 10 and
7; and the priorities 3, 2, 1, 6, 4, 6, 2 and 5. The 29, the 17, the 10 and the 4 are
filled](../../assets/figures/replay-tree.svg)

*The priorities are in the bottom row. A box above them is the sum of the two below it,
and as wide as both. Orange: the way down in the example.*

To change one, go from it up to the root, and add up again on the way. To draw one, go
down. At the root there are 12 on the left and 17 on the right, so throw a dart at a
line of these two pieces, and go where it hits. Say it is the right: there are 10 and 7,
so throw again. The 4 in the bottom row is hit with probability

$$\frac{17}{29} \cdot \frac{10}{17} \cdot \frac{4}{10} = \frac{4}{29}$$

which is its share of the whole. Each sum on the way appears once above a fraction line
and once below the next, and cancels.

A tree of pairs for $n$ numbers has $\log_2 n$ rows above them, 20 for a million.

## In NumPy

NumPy can go up or down for a whole batch at once, row by row. There the call costs the
time, half a microsecond or more, and its contents hardly any. A row is a few calls, so
there should be few rows:

- **Wide nodes.** Adding up 32 numbers that are side by side costs little more than
  adding up two.
- **No top.** A thousand numbers are added up in microseconds. So a row that is no
  longer than that has nothing above it, and each draw begins by adding it up.

For a million, that leaves three rows instead of 21: the numbers, 31,250 sums of 32, and
977 sums of these.
"""

import math

import numpy as np
from numpy.typing import NDArray

WIDTH = 32  # children of a node
TOP = 1024  # nodes that may have no parent

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


class SumTree:
    """
    ## The tree

    It keeps numbers that are not negative, and draws their places.

    Args:
        places: how many numbers. All are 0 at first: there is nothing to draw.
        width: how many children a node has, at least 2.
        top: how long the last row may be, at least 1.

    Raises:
        ValueError: if the width or the top is less. The rows would never end.
    """

    def __init__(self, places: int, *, width: int = WIDTH, top: int = TOP) -> None:
        if width < 2 or top < 1:
            raise ValueError(
                f"width must be at least 2 and top at least 1, not {width} and {top}"
            )
        self.width = width

        # The first row has the numbers themselves. Each row that has one above it is
        # padded, so that every node above it has all its children.
        self.rows: list[Numbers] = []
        length = places
        while length > top:
            nodes = -(-length // width)
            self.rows.append(np.zeros(nodes * width))
            length = nodes
        self.rows.append(np.zeros(length))

    # The same memory, with the children of each node side by side. The views are made
    # anew each time. If they were kept, those of a tree that was copied or pickled
    # would be of other rows.
    @property
    def _children(self) -> list[Numbers]:
        return [row.reshape(-1, self.width) for row in self.rows[:-1]]

    @property
    def leaves(self) -> Numbers:
        """The numbers. After writing here, [rebuild][SumTree.rebuild] the rest."""
        return self.rows[0]

    @property
    def root(self) -> float:
        """The sum of all: what a root would say."""
        return float(self.rows[-1].sum())

    def set(self, places: Places, numbers: Numbers | float) -> None:
        """
        ### Change

        Nodes are computed again from their children. If the difference were added, each
        rounding error would stay in the sum for ever.

        Args:
            places: which numbers. If one comes twice, the last counts.
            numbers: what they are from now on: 0, which is never drawn, or at least
                1e-300.
        """
        self.leaves[places] = numbers
        for children, above in zip(self._children, self.rows[1:], strict=True):
            places = places // self.width
            above[places] = np.add.reduce(children.take(places, axis=0), axis=1)

    def rebuild(self) -> None:
        """Compute everything from the numbers."""
        for children, above in zip(self._children, self.rows[1:], strict=True):
            above[: len(children)] = children.sum(axis=1)

    def draw(self, count: int, dice: np.random.Generator) -> Places:
        r"""
        ### Draw

        In the last row, the line is cut into as many equal parts as there are darts,
        and each part gets one. Every number is still drawn as often as it should be on
        average, but the draws are better mixed.

        Args:
            count: how many to draw, at least 1. The same may come twice.
            dice: for the darts.

        Returns:
            Places, each as often as its number says, shape `(count,)`. One whose number
            is 0 is never drawn.

        Raises:
            ValueError: if all numbers are 0.
        """
        darts = dice.random((len(self.rows), count))

        # In the last row, all darts are thrown at the same line. The last part ends
        # where the line does, and rounding must not let a dart fly beyond.
        ends = self.rows[-1].cumsum()
        end = float(ends[-1])
        if not end > 0:
            raise ValueError("there is nothing to draw: all numbers are 0")
        first = (np.arange(count) + darts[0]) * (end / count)
        first = np.minimum(first, math.nextafter(end, 0))
        places: Places = ends.searchsorted(first, side="right")

        # Below it, a new dart is thrown for each, at the children of its own node.
        #
        # !!! warning "Throw again"
        #     One dart would be enough: what is left of it, after all that lies before
        #     the node, says where it hits in the row below. But the same numbers, added
        #     up in another order, give another last digit. So now and then what is left
        #     lies beyond the last child, or before the first, and a step is drawn that
        #     was never there.
        for children, dart in zip(reversed(self._children), darts[1:], strict=True):
            ends = children.take(places, axis=0).cumsum(axis=1)  # (B, width)
            hit = ends > (dart * ends[:, -1])[:, None]
            places = places * self.width + hit.argmax(axis=1)
        return places
