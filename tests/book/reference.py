"""What a picture must be, written apart from the code under test."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from labml_rl.screen import Pixels


def picture(*screens: Pixels, crop: bool = False) -> Pixels:
    """Turn the screens that came last into what the network sees, to the last bit."""
    grey = cv2.cvtColor(np.max(np.stack(screens), axis=0), cv2.COLOR_RGB2GRAY)
    size = (84, 110) if crop else (84, 84)
    small = np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), np.uint8)
    return small[18:102] if crop else small


def picture_by_definition(first: Pixels, second: Pixels, height: int) -> NDArray[Any]:
    """Do the same without OpenCV and without rounding."""
    colours = np.maximum(first, second).astype(np.float64)
    grey = colours @ np.array([0.299, 0.587, 0.114])
    rows, columns = grey.shape
    small: NDArray[Any] = averages(height, rows) @ grey @ averages(84, columns).T
    return small


def averages(new: int, old: int) -> NDArray[Any]:
    """Return the share that each old pixel has in each new one, `(new, old)`."""
    scale = old / new
    shares = np.zeros((new, old))
    for i in range(new):
        for j in range(old):
            shares[i, j] = (
                max(0.0, min(j + 1, (i + 1) * scale) - max(j, i * scale)) / scale
            )
    return shares
