"""Draw the figure of `labml_rl/speed.py` from what was learned with the tricks and
without, `results/benchmarks/tricks.json`.

python -m figures.tricks           write it to docs/assets/figures/
python -m figures.tricks --check   fail if it is not what the record says
"""

import json
from collections.abc import Callable, Collection
from statistics import mean
from typing import Any

from benchmarks.record import RECORDS
from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, line, write_or_check

RECORD = RECORDS / "tricks.json"
LINES = (
    ("all", "all three", COLOURS[0]),
    ("without_bfloat16", "with 32 bits", COLOURS[1]),
    ("without_any", "none of the three", COLOURS[2]),
)
LEFT, RIGHT, TOP, BOTTOM = 56, WIDTH - 24, 76, 240


def draw(record: Any) -> str:
    """A thin line for each run, and a thick one for the mean of its kind."""
    drawing = Drawing(300, "Balls caught over the frames, with the tricks and without")
    drawing.words(20, 30, "Balls caught, in per cent", size=14)

    def at(way: float, share: float) -> tuple[float, float]:
        return LEFT + way * (RIGHT - LEFT), BOTTOM - share * (BOTTOM - TOP)

    for share in (0.0, 0.5, 1.0):
        y = BOTTOM - share * (BOTTOM - TOP)
        line(drawing, [(LEFT, y), (RIGHT, y)], stroke=FAINT, stroke_dasharray="2 5")
        drawing.words(
            LEFT - 8, y + 4, f"{share:.0%}", colour=FAINT, size=12, text_anchor="end"
        )
    for column, (name, words, colour) in enumerate(LINES):
        drawing.words(20 + 140 * column, 54, words, colour=colour, size=13)
        draw_runs(drawing, record["variants"][name]["curves"].values(), at, colour)
    for share in (0.0, 0.5, 1.0):
        drawing.words(
            LEFT + share * (RIGHT - LEFT),
            BOTTOM + 22,
            f"{share * record['frames']:,.0f}",
            colour=FAINT,
            size=12,
            text_anchor="end" if share == 1 else "middle",
        )
    drawing.words(
        (LEFT + RIGHT) / 2, BOTTOM + 44, "frames", size=13, text_anchor="middle"
    )
    return drawing.svg()


def draw_runs(
    drawing: Drawing,
    curves: Collection[list[float]],
    at: Callable[[float, float], tuple[float, float]],
    colour: str,
) -> None:
    """A thin line for each run, and a thick one for their mean.

    Args:
        drawing: where they are drawn.
        curves: the numbers of each run, at marks that are equally far apart.
        at: gives the place of a number, from how far along the way its mark is.
        colour: of all of them.
    """

    def points(curve: list[float]) -> list[tuple[float, float]]:
        return [at((i + 1) / len(curve), number) for i, number in enumerate(curve)]

    for curve in curves:
        line(drawing, points(curve), stroke=colour, stroke_opacity="0.35")
    middle = [mean(each) for each in zip(*curves, strict=True)]
    line(drawing, points(middle), stroke=colour, stroke_width="2.5")


def figures() -> dict[str, str]:
    """The figure by the name of its file."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return {"speed-tricks.svg": draw(record)}


def main() -> None:
    """Write the figure, or check it."""
    write_or_check(figures(), program="figures.tricks", truth="the record says")


if __name__ == "__main__":
    main()
