"""Draw the figure of `labml_rl/bodies.py` from the network itself.

python -m figures.networks           write it to docs/assets/figures/
python -m figures.networks --check   fail if it differs from what the network does
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from figures.drawing import COLOURS, FAINT, GROUND, TEXT, Drawing, write_or_check
from labml_rl.bodies import NatureBody
from labml_rl.game import make_game
from labml_rl.screen import SIZE, Pixels

NAME = "networks-shapes.svg"
LEFT, RIGHT = 26, 236  # where drawings begin, and where words do
SCALE = 2  # for one pixel of the picture
SIDE = SIZE * SCALE
MIDDLE = LEFT + SIDE / 2
DEPTH = 0.8  # for one channel
GAP = 46  # between two boxes
BALL = (23, 63)  # where it is in the picture


@dataclass(frozen=True)
class Stage:
    """What comes out of a convolution, and what one place of it sees of the picture."""

    shape: tuple[int, ...]
    kernel: int
    stride: int
    sees: int  # pixels each way
    spacing: int  # pixels from the view of one place to that of the next

    def at(self, *pixel: int) -> tuple[int, ...]:
        """The place that sees this pixel nearest its middle."""
        return tuple(
            min(max(round((each - self.sees / 2) / self.spacing), 0), places - 1)
            for each, places in zip(pixel, self.shape[:0:-1], strict=True)
        )


def stages(body: NatureBody) -> list[Stage]:
    """Run the body once, and look at each of its convolutions."""
    found: list[Stage] = []
    numbers = torch.zeros(1, *body.shape)
    sees = spacing = 1
    for layer in body.layers:
        numbers = layer(numbers)
        if isinstance(layer, nn.Conv2d):
            kernel, stride = layer.kernel_size[0], layer.stride[0]
            sees, spacing = sees + (kernel - 1) * spacing, spacing * stride
            shape = tuple(numbers.shape[1:])
            found.append(Stage(shape, kernel, stride, sees, spacing))
    return found


def picture() -> Pixels:
    """Return a picture of Breakout with the ball in it."""
    game = make_game("Breakout", seed=1)
    observation, _ = game.reset()
    for _ in range(8):
        observation, *_ = game.step(0)
    newest: Pixels = observation[-1]
    return newest


def step(drawing: Drawing, y: float, *lines: str, xs: tuple[float, ...] = ()) -> None:
    """Point down from here to what follows, and say what is done."""
    for x in xs or (MIDDLE,):
        line = f"M{x:g} {y + 8:g}V{y + GAP - 6:g}m-4 -5l4 5l4 -5"
        drawing.mark("path", d=line, fill="none", stroke=FAINT, stroke_width=1.5)
    middle = y + GAP / 2 + 6 - 9 * (len(lines) - 1)
    drawing.words(RIGHT, middle, *lines, colour=FAINT, size=14)


def box(drawing: Drawing, y: float, stage: Stage, colour: str) -> float:
    """Draw a box to scale, with the place that sees the ball. Return its end."""
    channels, height, width = stage.shape
    high, wide, deep = height * SCALE, width * SCALE, channels * DEPTH
    x = MIDDLE - (wide + deep) / 2
    front = y + deep / 2
    style: dict[str, str | float] = {"stroke": GROUND, "stroke_width": 1}
    top = f"M{x:g} {front:g}l{deep:g} {-deep / 2:g}h{wide:g}l{-deep:g} {deep / 2:g}z"
    side = (
        f"M{x + wide:g} {front:g}l{deep:g} {-deep / 2:g}v{high:g}"
        f"l{-deep:g} {deep / 2:g}z"
    )
    drawing.mark("path", d=top, fill=colour, fill_opacity=0.55, **style)
    drawing.mark("path", d=side, fill=colour, fill_opacity=0.35, **style)
    drawing.mark("rect", x=x, y=front, width=wide, height=high, fill=colour, **style)
    place_x, place_y = (place * SCALE for place in stage.at(*BALL))
    drawing.mark(
        "rect",
        x=x + place_x,
        y=front + place_y,
        width=SCALE,
        height=SCALE,
        fill=GROUND,
    )
    return front + high


def pixels(drawing: Drawing, x: float, y: float, grey: Pixels) -> None:
    """Draw a picture: a rectangle for each run of equal pixels in equal rows."""
    row = 0
    while row < len(grey):
        rows = 1
        while row + rows < len(grey) and np.array_equal(grey[row], grey[row + rows]):
            rows += 1
        edges = [0, *(np.flatnonzero(np.diff(grey[row])) + 1), grey.shape[1]]
        for start, stop in pairwise(edges):
            drawing.mark(
                "rect",
                x=x + start * SCALE,
                y=y + row * SCALE,
                width=(stop - start) * SCALE,
                height=rows * SCALE,
                fill="#" + f"{grey[row, start]:02x}" * 3,
                shape_rendering="crispEdges",
            )
        row += rows


def draw() -> str:
    """Return the figure as SVG."""
    body = NatureBody((4, SIZE, SIZE))
    layers = stages(body)
    drawing = Drawing(636, "What becomes of one observation in the Nature network")

    # The stack, with what one place of each layer sees of it.
    top = 40.0
    for behind in (3, 2, 1):
        drawing.mark(
            "rect",
            x=LEFT + 6 * behind,
            y=top - 6 * behind,
            width=SIDE,
            height=SIDE,
            fill="#000",
            stroke=FAINT,
            stroke_width=1,
        )
    pixels(drawing, LEFT, top, picture())
    drawing.words(RIGHT, top + 14, times(*body.shape))
    drawing.words(RIGHT, top + 34, "four pictures, as bytes", colour=FAINT, size=14)
    drawing.words(RIGHT, top + 88, "One place of a box sees", colour=FAINT, size=14)
    for row, (layer, colour) in enumerate(zip(layers, COLOURS, strict=True)):
        left, above = (layer.spacing * place * SCALE for place in layer.at(*BALL))
        side = layer.sees * SCALE
        drawing.mark(
            "rect",
            x=LEFT + left,
            y=top + above,
            width=side,
            height=side,
            fill="none",
            stroke=colour,
            stroke_width=2,
        )
        text = f"{times(layer.sees, layer.sees)} pixels"
        drawing.words(RIGHT, top + 108 + row * 20, text, colour=colour, size=14)

    bottom = top + SIDE
    for layer, colour in zip(layers, COLOURS, strict=True):
        text = f"{times(layer.kernel, layer.kernel)} window, stride {layer.stride}"
        step(drawing, bottom, *(["divided by 255"] if layer == layers[0] else []), text)
        start = bottom + GAP
        bottom = box(drawing, start, layer, colour)
        drawing.words(
            RIGHT, (start + bottom) / 2 + 6, times(*layer.shape), colour=colour
        )

    step(drawing, bottom, "linear layer")
    wide, bottom = body.features * 0.36, bottom + GAP
    drawing.mark("rect", x=MIDDLE - wide / 2, y=bottom, width=wide, height=8, fill=TEXT)
    drawing.words(RIGHT, bottom + 10, f"{body.features} features")

    # The heads: a square for each action, and one for the value.
    bottom += 8
    step(drawing, bottom, "a linear layer for each", xs=(MIDDLE - 50, MIDDLE + 50))
    bottom += GAP
    for x in (*(MIDDLE - 50 + 14 * (k - 1.5) for k in range(4)), MIDDLE + 50):
        drawing.mark("rect", x=x - 5, y=bottom, width=10, height=10, fill=TEXT)
    for x, text in ((MIDDLE - 50, "policy"), (MIDDLE + 50, "value")):
        drawing.words(x, bottom + 28, text, size=14, text_anchor="middle")
    drawing.words(
        RIGHT, bottom + 10, "a logit for each action,", "and one number", size=14
    )

    return drawing.svg()


def times(*sizes: int) -> str:
    """Return sizes as they are written: 4 × 84 × 84."""
    return " × ".join(map(str, sizes))


def main() -> None:
    """Write the figure, or check it."""
    write_or_check({NAME: draw()}, program="figures.networks", truth="the network does")


if __name__ == "__main__":
    main()
