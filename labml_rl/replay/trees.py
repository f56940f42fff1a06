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
there is the call, half a microsecond or two, and hardly what is in it. A row is a few
calls, so there should be few rows:

- **Wide nodes.** To add up 32 numbers that lie side by side costs little more than to
  add up two.
- **No top.** A thousand numbers are added up in a microsecond. So a row that is no
  longer than that has nothing above it, and whoever wants to know the sum of all adds
  it up.

For a million, that leaves three rows in place of 21: the numbers, 32,768 sums of 32,
and 1,024 sums of these.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTH = 32  # children of a node
TOP = 1024  # nodes that may have no parent

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
        top: how long the last row may be, at least 1.
    """

    def __init__(
        self,
        places: int,
        combine: Any,
        nothing: float,
        *,
        width: int = WIDTH,
        top: int = TOP,
    ) -> None:
        self.combine, self.width = combine, width

        # The first row has the numbers themselves. Each is filled up so that every
        # node above it has all its children.
        self.rows: list[Numbers] = []
        length = places
        while length > top:
            nodes = -(-length // width)
            self.rows.append(np.full(nodes * width, nothing))
            length = nodes
        self.rows.append(np.full(length, nothing))

    @property
    def leaves(self) -> Numbers:
        """The numbers."""
        return self.rows[0]

    @property
    def root(self) -> float:
        """All of them, combined: what a root would say."""
        return float(self.combine.reduce(self.rows[-1]))

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
            places = places // self.width
            children = below.reshape(-1, self.width).take(places, axis=0)  # (B, width)
            above[places] = self.combine.reduce(children, axis=1)

    def rebuild(self) -> None:
        """Compute all rows from the first."""
        for below, above in pairwise(self.rows):
            nodes = below.reshape(-1, self.width)
            above[: len(nodes)] = self.combine.reduce(nodes, axis=1)


class SumTree(Tree):
    """
    ## A tree of sums

    Args:
        places: how many numbers, none of which may be negative.
        options: see [Tree][].
    """

    def __init__(self, places: int, **options: int) -> None:
        super().__init__(places, np.add, 0.0, **options)

    def find(self, sums: Numbers) -> Places:
        r"""
        ### Whom the dart hit

        Args:
            sums: where on the line, from 0 to below the sum of all, shape `(B,)`.

        Returns:
            The smallest $i$ for which the first $i + 1$ numbers have a sum above this,
            shape `(B,)`. A number that is 0 is never found.
        """
        # In the last row, all look at the same numbers.
        ends = self.rows[-1].cumsum()
        sums = np.minimum(sums, np.nextafter(ends[-1], 0))
        places = ends.searchsorted(sums, side="right")
        sums = sums - (ends[places] - self.rows[-1][places])

        # Below it, each looks at the children of a node of its own.
        begins = np.arange(len(sums)) * self.width
        for row in reversed(self.rows[:-1]):
            children = row.reshape(-1, self.width).take(places, axis=0)  # (B, width)
            ends = children.cumsum(axis=1)

            # !!! warning "The ends of a piece"
            #     The same numbers, added up in another order, have another last digit.
            #     So a dart at the very end of a node can be beyond the last of its
            #     children, or before the first. It is moved back to the edge, where it
            #     hits one that is not 0. Without this, a step is drawn once in a few
            #     weeks that was never there.
            sums = np.minimum(np.maximum(sums, 0), np.nextafter(ends[:, -1], 0))
            child = (ends > sums[:, None]).argmax(axis=1)
            hit = begins + child
            sums = sums - (ends.take(hit) - children.take(hit))
            places = places * self.width + child
        return places


class MinTree(Tree):
    """
    ## A tree of minima

    Args:
        places: how many numbers. Those that are not set are infinite.
        options: see [Tree][].
    """

    def __init__(self, places: int, **options: int) -> None:
        super().__init__(places, np.minimum, np.inf, **options)
