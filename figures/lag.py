"""Draw the figure of `labml_rl/impala/experiment.py` from what was learned with actors
that are behind, `results/benchmarks/lag.json`.

python -m figures.lag           write it to docs/assets/figures/
python -m figures.lag --check   fail if it is not what the record says
"""

import json
from typing import Any

from benchmarks.record import RECORDS
from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, line, write_or_check
from figures.tricks import draw_runs

RECORD = RECORDS / "lag.json"
KINDS = (
    ("vtrace", "with V-trace", COLOURS[0]),
    ("nothing", "without", COLOURS[1]),
)
LAGS = (1, 4, 16, 64)
MOST = 500  # points
TOP, WIDE, HIGH, BELOW = 96, 160, 100, 60
LEFTS = (48, WIDTH - 20 - WIDE)


def draw(record: Any) -> str:
    """A panel for each lag, two in a row."""
    height = TOP + 2 * HIGH + BELOW + 56
    drawing = Drawing(height, "Scores over the frames, by how far actors are behind")
    drawing.words(20, 30, "Score, by how many updates the actors are behind", size=14)
    for place, (_, words, colour) in enumerate(KINDS):
        drawing.words(20 + 120 * place, 54, words, colour=colour, size=13)
    for place, lag in enumerate(LAGS):
        row, column = divmod(place, 2)
        panel(drawing, LEFTS[column], TOP + row * (HIGH + BELOW), record, lag)
    drawing.words(WIDTH / 2, height - 14, "frames", size=13, text_anchor="middle")
    return drawing.svg()


def panel(drawing: Drawing, left: float, top: float, record: Any, lag: int) -> None:
    """A thin line for each run, and thick ones for the means of those with V-trace and
    of those without.
    """

    def at(share: float, score: float) -> tuple[float, float]:
        return left + share * WIDE, top + (1 - score / MOST) * HIGH

    drawing.words(left, top - 10, f"{lag} behind", size=13)
    for score in (0, MOST // 2, MOST):
        x, y = at(0, score)
        line(
            drawing, [at(0, score), at(1, score)], stroke=FAINT, stroke_dasharray="2 5"
        )
        drawing.words(
            x - 6, y + 4, f"{score}", colour=FAINT, size=12, text_anchor="end"
        )
    for share, anchor in ((0, "start"), (1, "end")):
        x, y = at(share, 0)
        words = f"{share * record['frames']:,}"
        drawing.words(x, y + 20, words, colour=FAINT, size=12, text_anchor=anchor)
    for kind, _, colour in KINDS:
        curves = record["variants"][f"{kind}_{lag}"]["curves"].values()
        draw_runs(drawing, curves, at, colour)


def figures() -> dict[str, str]:
    """The figure by the name of its file."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return {"impala-lag.svg": draw(record)}


def main() -> None:
    """Write the figure, or check it."""
    write_or_check(figures(), program="figures.lag", truth="the record says")


if __name__ == "__main__":
    main()
