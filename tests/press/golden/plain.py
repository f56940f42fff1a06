"""Cups of clay, in code that has no headings."""

from typing import overload

LARGE = 3
SMALL = 1


class Cup:
    """A cup."""

    size: int = SMALL
    handle: bool = True

    def fill(self) -> int:
        """Fill it."""
        return self.size * LARGE

    def _wash(self) -> None:
        """Nobody else's business."""


# ## Selling


@overload
def price(cup: Cup) -> int: ...
@overload
def price(cup: None) -> None: ...
def price(cup):
    """What it costs."""
    return cup and cup.size * LARGE
