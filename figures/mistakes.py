"""Draw the figures of `labml_rl/mistakes.py` from what was learned with each mistake,
`results/benchmarks/mistakes.json`.

python -m figures.mistakes           write them to docs/assets/figures/
python -m figures.mistakes --check   fail if they are not what the record says
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from figures.networks import COLOURS, FAINT, FOLDER, WIDTH, Drawing, write_or_check
from figures.policies import line

RECORD = Path(__file__).parents[1] / "results" / "benchmarks" / "mistakes.json"
RIGHT, WRONG, _ = COLOURS
EDGE, GAP, TOP, BOTTOM = 20, 14, 48, 128
PANEL = (WIDTH - 2 * EDGE - 3 * GAP) / 4
Curves = list[list[float]]


@dataclass(frozen=True)
class Panel:
    """One curve of a run, and from where to where it is drawn."""

    column: str
    title: str
    low: float
    high: float
    top: str  # what the upper edge is

    def points(self, left: float, curve: list[float]) -> list[tuple[float, float]]:
        """A line. What is beyond an edge is drawn at the edge."""
        found = []
        for place, number in enumerate(curve):
            share = (number - self.low) / (self.high - self.low)
            y = BOTTOM - min(max(share, 0.0), 1.0) * (BOTTOM - TOP)
            found.append((left + place / (len(curve) - 1) * PANEL, y))
        return found


PANELS = (
    Panel("score", "score", 0.0, 500.0, "500"),
    Panel("entropy", "entropy", 0.0, math.log(2), "log 2"),
    Panel("explained_variance", "explained", -1.0, 1.0, "1"),
    Panel("clip_fraction", "clipped", 0.0, 0.5, "½"),
)


def draw(name: str, right: Any, wrong: Any) -> str:
    """A panel for each curve: the range without the mistake, and each run with it."""
    drawing = Drawing(142, f"Curves of PPO with the mistake {name}, and without")
    for place, panel in enumerate(PANELS):
        left = EDGE + place * (PANEL + GAP)
        drawing.words(left, 22, panel.title, size=14)
        drawing.words(
            left + PANEL, 40, panel.top, colour=FAINT, size=11, text_anchor="end"
        )
        for height in (0.0, 0.5, 1.0) if panel.low < 0 else (0.0, 1.0):
            y = BOTTOM - height * (BOTTOM - TOP)
            style = {"stroke_dasharray": "2 5"} if height else {}
            line(drawing, [(left, y), (left + PANEL, y)], stroke=FAINT, **style)
        runs: Curves = [each[panel.column] for each in right["curves"].values()]
        by_time = list(zip(*runs, strict=True))
        above = panel.points(left, [max(each) for each in by_time])
        below = panel.points(left, [min(each) for each in by_time])
        outline = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in above + below[::-1])
        drawing.mark("path", d=outline + "z", fill=RIGHT, fill_opacity="0.35")
        for curves in wrong["curves"].values():
            points = panel.points(left, curves[panel.column])
            line(drawing, points, stroke=WRONG, stroke_width="1.5")
    return Xml.tostring(drawing.root, encoding="unicode") + "\n"


def figures() -> dict[str, str]:
    """A figure for each mistake, by the name of its file."""
    variants = json.loads(RECORD.read_text(encoding="utf-8"))["variants"]
    right = variants.pop("right")
    return {
        f"mistake-{name}.svg": draw(name, right, each)
        for name, each in variants.items()
    }


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(
        figures(), FOLDER, program="figures.mistakes", truth="the record says"
    )


if __name__ == "__main__":
    main()
