"""Draw the figures of `labml_rl/mistakes.py` and `labml_rl/dqn/mistakes.py` from what
was learned with each mistake, in `results/benchmarks/`.

python -m figures.mistakes           write them to docs/assets/figures/
python -m figures.mistakes --check   fail if they are not what the record says
"""

import json
import math
from dataclasses import dataclass
from typing import Any

from benchmarks.record import RECORDS
from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, line, write_or_check

RIGHT, WRONG, _ = COLOURS
EDGE, GAP, TOP, BOTTOM = 20, 14, 48, 128
HEIGHT = 152
Curves = list[list[float]]


@dataclass(frozen=True)
class Panel:
    """One curve of a run, and the range in which it is drawn."""

    column: str
    title: str
    low: float
    high: float
    top: str  # what the upper edge is
    bottom: str  # and the lower one

    def points(
        self, left: float, width: float, curve: list[float]
    ) -> list[tuple[float, float]]:
        """A line. What is beyond an edge is drawn at the edge."""
        found = []
        for place, number in enumerate(curve):
            share = (number - self.low) / (self.high - self.low)
            y = BOTTOM - min(max(share, 0.0), 1.0) * (BOTTOM - TOP)
            found.append((left + place / (len(curve) - 1) * width, y))
        return found


# For each record: the algorithm, and the curves.
PAGES = {
    "mistakes.json": (
        "PPO",
        (
            Panel("score", "score", 0.0, 500.0, "500", "0"),
            Panel("entropy", "entropy", 0.0, math.log(2), "log 2", "0"),
            Panel("explained_variance", "explained", -1.0, 1.0, "1", "−1"),
            Panel("clip_fraction", "clipped", 0.0, 0.5, "½", "0"),
        ),
    ),
    "mistakes-dqn.json": (
        "DQN",
        (
            Panel("score", "score", -500.0, 0.0, "0", "−500"),
            Panel("action_value", "action value", -100.0, 0.0, "0", "−100"),
            Panel("td_error", "error", 0.0, 3.0, "3", "0"),
        ),
    ),
}


def draw(title: str, panels: tuple[Panel, ...], right: Any, wrong: Any) -> str:
    """A panel for each curve: the range without the mistake, and each run with it."""
    drawing = Drawing(HEIGHT, title)
    width = (WIDTH - 2 * EDGE - (len(panels) - 1) * GAP) / len(panels)
    for place, panel in enumerate(panels):
        left = EDGE + place * (width + GAP)
        drawing.words(left, 22, panel.title, size=14)
        for at, words in ((40, panel.top), (BOTTOM + 17, panel.bottom)):
            drawing.words(
                left + width, at, words, colour=FAINT, size=14, text_anchor="end"
            )
        for height in (0.0, 0.5, 1.0) if panel.low < 0 < panel.high else (0.0, 1.0):
            y = BOTTOM - height * (BOTTOM - TOP)
            style = {"stroke_dasharray": "2 5"} if height else {}
            line(drawing, [(left, y), (left + width, y)], stroke=FAINT, **style)
        runs: Curves = [each[panel.column] for each in right["curves"].values()]
        by_time = list(zip(*runs, strict=True))
        above = panel.points(left, width, [max(each) for each in by_time])
        below = panel.points(left, width, [min(each) for each in by_time])
        outline = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in above + below[::-1])
        drawing.mark("path", d=outline + "z", fill=RIGHT, fill_opacity="0.35")
        for curves in wrong["curves"].values():
            points = panel.points(left, width, curves[panel.column])
            line(drawing, points, stroke=WRONG, stroke_width="1.5")
    return drawing.svg()


def figures() -> dict[str, str]:
    """A figure for each mistake, by the name of its file."""
    found = {}
    for record, (algorithm, panels) in PAGES.items():
        text = (RECORDS / record).read_text(encoding="utf-8")
        variants = json.loads(text)["variants"]
        right = variants.pop("right")
        for name, each in variants.items():
            title = f"Curves of {algorithm} with the mistake {name}, and without"
            found[f"mistake-{name}.svg"] = draw(title, panels, right, each)
    return found


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(figures(), program="figures.mistakes", truth="the record says")


if __name__ == "__main__":
    main()
