r"""
---
title: Sums over a million numbers
summary: >-
  Sum trees and min trees in NumPy: to draw in proportion, and to change what is drawn,
  without going through all of it.
---

# Sums over a million numbers

Say that each of a million steps has a priority, and is to be drawn as often as that
says. Put the priorities end to end on a line, throw a dart at it, and see whose piece
it hit. But where does each piece begin? The sums of all priorities before it would tell
at once. They are all different after a single one has changed, and each batch changes
32.

A **tree** of sums is between the two. It keeps the sums of pieces, and sums of these,
and so on. Here are eight priorities, in a tree where each node has two children:

```text
                29
        12              17
     5       7      10       7
   3   2   1   6   4   6   2   5
```

To change one, go from it up to the root, and add up again on the way. To find whom a
dart at 13.5 has hit, go down. It is not on the left, which has 12. So go right, with
1.5 left of it. Now the left has 10, and then 4: it hit the fifth.

A tree for $n$ numbers has $\log_2 n$ rows above them, 20 for a million. Counted from
the root, row $i$ has $2^i$ nodes, and there are $2^i - 1$ in all rows above it. (In
`labml_nn`'s page the rows have other sizes. Its program does not use them.)

## In NumPy

A program that goes up and down in a loop of Python spends nearly all of its time in
Python. NumPy can do the same for a whole batch at once, row by row. What costs time
there is the call, a microsecond or two, whatever is in it. A row is a few calls, so
there should be few rows. With sixteen children to a node in place of two there are
five, and to add up sixteen numbers that lie side by side costs nothing more.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 16  # children of a node

Numbers = NDArray[np.float64]
Places = NDArray[np.int64]


class Tree:
    """
    ## A tree

    Args:
        places: how many numbers.
        combine: what makes one number of two: `np.add`, or `np.minimum`.
        nothing: what changes nothing if it is combined with others. All begin as this.
        width: how many children a node has, at least 2.
    """

    def __init__(
        self, places: int, combine: Any, nothing: float, *, width: int = WIDTH
    ) -> None:
        self.combine, self.width = combine, width

        # The first row has the numbers themselves. Each is filled up so that every
        # node has all its children. The root has no parent, and no need of that.
        self.rows: list[Numbers] = []
        length = places
        while True:
            nodes = -(-length // width)
            self.rows.append(np.full(nodes * width, nothing))
            length = nodes
            if nodes == 1:
                break
        self.rows.append(np.full(1, nothing))

    @property
    def leaves(self) -> Numbers:
        """The numbers."""
        return self.rows[0]

    @property
    def root(self) -> float:
        """All of them, combined."""
        return float(self.rows[-1][0])

    def set(self, places: Places, numbers: Numbers | float) -> None:
        """
        ### Change

        Nodes are computed again from their children. To add the difference would be
        one step less, and each rounding would stay in the sum for ever.

        Args:
            places: which numbers. If one comes twice, the last counts.
            numbers: what they are from now on.
        """
        self.rows[0][places] = numbers
        for below, above in pairwise(self.rows):
            children = below.reshape(-1, self.width)  # (nodes, width)
            places = places // self.width

            # Near the root there are fewer nodes than were asked for. To compute all of
            # them once is less than to look up some of them many times.
            if len(children) <= len(places):
                above[: len(children)] = self.combine.reduce(children, axis=1)
            else:
                of_each = children.take(places, axis=0)  # (B, width)
                above[places] = self.combine.reduce(of_each, axis=1)

    def rebuild(self) -> None:
        """Compute all rows from the first."""
        for below, above in pairwise(self.rows):
            nodes = self.combine.reduce(below.reshape(-1, self.width), axis=1)
            above[: len(nodes)] = nodes


class SumTree(Tree):
    """
    ## A tree of sums

    Args:
        places: how many numbers, none of which may be negative.
        width: how many children a node has.
    """

    def __init__(self, places: int, *, width: int = WIDTH) -> None:
        super().__init__(places, np.add, 0.0, width=width)

    def find(self, sums: Numbers) -> Places:
        r"""
        ### Whom the dart hit

        Args:
            sums: where on the line, from 0 to below the root, shape `(B,)`.

        Returns:
            The smallest $i$ for which the first $i + 1$ numbers have a sum above this,
            shape `(B,)`. A number that is 0 is never found.
        """
        places = np.zeros(len(sums), np.int64)
        begin_of_row = np.arange(len(sums)) * self.width
        for row in reversed(self.rows[:-1]):
            children = row.reshape(-1, self.width).take(places, axis=0)  # (B, width)
            ends = children.cumsum(axis=1)
            child = np.count_nonzero(ends <= sums[:, None], axis=1)

            # !!! warning "The end of the line"
            #     The same numbers, added up in another order, have another last digit.
            #     So a dart just below the end of a node can be beyond the last of its
            #     children. It is given to the last that is not 0. Without this, a
            #     step is drawn once in a few weeks that was never there.
            if child.max(initial=0) == self.width:
                last = self.width - 1 - (children[:, ::-1] > 0).argmax(axis=1)
                child = np.minimum(child, last)
            hit = begin_of_row + child
            sums = sums - (ends.take(hit) - children.take(hit))
            places = places * self.width + child
        return places


class MinTree(Tree):
    """
    ## A tree of minima

    Args:
        places: how many numbers. Those that are not set are infinite.
        width: how many children a node has.
    """

    def __init__(self, places: int, *, width: int = WIDTH) -> None:
        super().__init__(places, np.minimum, np.inf, width=width)
