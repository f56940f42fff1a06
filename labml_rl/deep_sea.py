r"""
---
title: The deep sea
summary: >-
  A small problem with one treasure, behind twenty right moves in a row: to see whether
  an agent explores.
---

# The deep sea

Here is a small problem that shows whether an agent explores. A diver begins at the
upper left corner of a square of 20 rows and 20 columns. In each step it sinks by a row,
and goes a column to the left or to the right. (At the left edge, a step to the left
only takes it down.) After 19 steps it is at the bottom, and the 20th ends the episode.
There is one treasure, worth a point, in the lower right corner, for a diver that goes
to the right there once more. So it has to go to the right in each of the 20 steps. And
each step to the right costs a little: 0.0005. This is a sea of five rows (`o` is the
diver, `T` the treasure), without the cells of the square that can't be reached:

```text
o
. .
. . .
. . . .
. . . . T
```

So an agent that tries things out at random finds the treasure once in $2^{20}$
episodes, a million or so. Until then, all that can be learned is that it costs less to
go to the left. An agent that *explores* needs far fewer: only 210 cells can be reached,
with two things to try in each.

```sh
labml-rl train small-rnd
labml-rl train small-ppo \
    --total-frames 400_000 \
    --game labml_rl.deep_sea:DeepSea-v0
```

The first is [curious](ppo/novelty.py), and finds it. The second is not, and does not.
[Here are both](../results.md#the-deep-sea-by-rnd).

The problem comes from [Osband et al. (2019)](https://arxiv.org/abs/1703.07608), and is
best known from [bsuite](https://arxiv.org/abs/1908.03568). As there, nobody tells the
agent which of its two actions goes to the right. That was drawn once for each cell, and
never changes. If it were the same action in all cells, an agent could come upon the
treasure just by always doing the same thing, without exploring.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

Seen = NDArray[np.float32]

COST = 0.01  # of going to the right all the way
MAP_SEED = 0  # decides which action goes to the right in each cell


class DeepSea(gymnasium.Env[Seen, Any]):
    """
    ## The environment

    What is seen is a number for each cell: 1 where the diver is, and 0 elsewhere. When
    the episode is over, the diver is nowhere. There is no chance in it, so a seed
    changes nothing.

    Args:
        size: how many rows, and columns.

    Raises:
        ValueError: if the size is below 2.
    """

    def __init__(self, size: int = 20) -> None:
        if size < 2:
            raise ValueError(f"size must be at least 2, not {size}")
        self.size = size
        self.observation_space = Box(0.0, 1.0, (size * size,), np.float32)
        self.action_space = Discrete(2)
        dice = np.random.default_rng(MAP_SEED)
        self.right = dice.integers(2, size=(size, size))
        self.row, self.column = size, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Seen, dict[str, Any]]:
        """Begin at the upper left corner."""
        super().reset(seed=seed)
        self.row = self.column = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """
        Returns:
            What is seen, the reward, and whether it is over: after as many steps as
            there are rows, it is.

        Raises:
            ResetNeeded: if it is over already, or has not begun.
            ValueError: if there is no such action.
        """
        if self.row == self.size:
            raise ResetNeeded("call reset() first: there is no episode going on")
        if action not in (0, 1):
            raise ValueError(f"action must be 0 or 1, not {action}")
        reward = 0.0
        if action == self.right[self.row, self.column]:
            reward -= COST / self.size
            if self.column == self.size - 1:
                reward += 1.0  # The treasure: only going right each time leads here.
            self.column = min(self.column + 1, self.size - 1)
        else:
            self.column = max(self.column - 1, 0)
        self.row += 1
        return self._seen(), reward, self.row == self.size, False, {}

    def _seen(self) -> Seen:
        cells = np.zeros((self.size, self.size), np.float32)
        if self.row < self.size:
            cells[self.row, self.column] = 1.0
        return cells.ravel()


gymnasium.register("DeepSea-v0", entry_point=f"{__name__}:DeepSea")
