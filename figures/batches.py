"""Draw the figures of `labml_rl/process.py` and `labml_rl/worker.py` from what was
measured, `results/benchmarks/games.json`.

python -m figures.batches           write them to docs/assets/figures/, as each new
                                    record does
python -m figures.batches --check   fail if they are not what the record says
"""

import json
from typing import Any

from benchmarks.record import RECORDS
from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, line, write_or_check

RECORD = RECORDS / "games.json"
LEFT, RIGHT = 20, WIDTH - 20
COSTS = (
    ("step", "a step of a game"),
    ("emulator", "of that, four frames of the emulator"),
    ("worker_observation", "a worker answers with an observation"),
    ("worker", "a worker answers with nothing"),
    ("copy", "an observation is copied in memory"),
)
LINES = (
    ("emulator", "the bare emulator", FAINT),
    ("joined", "make_games", COLOURS[0]),
    ("parallel", "ParallelGames", COLOURS[1]),
)


def draw_costs(record: Any) -> str:
    """A bar for each part of a step."""
    costs = record["costs"]
    height = 42 + 42 * len(COSTS)
    drawing = Drawing(height, "What the parts of a step cost, in microseconds")
    drawing.words(LEFT, 30, "microseconds", colour=FAINT, size=13)
    longest = max(costs[name] for name, _ in COSTS)
    for row, (name, words) in enumerate(COSTS):
        y, cost = 58 + 42 * row, costs[name]
        drawing.words(LEFT, y, words, size=13)
        drawing.words(RIGHT, y, f"{cost:,.3g}", size=13, text_anchor="end")
        drawing.mark(
            "rect",
            x=LEFT,
            y=y + 6,
            width=max(1.0, round(cost / longest * (RIGHT - LEFT), 1)),
            height=8,
            fill=COLOURS[0] if name in ("step", "emulator") else COLOURS[1],
        )
    return drawing.svg()


def draw_workers(record: Any) -> str:
    """Steps a second of eight games, with more and more workers."""
    found = record["by_workers"]
    counts = sorted(found, key=int)
    drawing = Drawing(300, "Steps a second of eight games, by the number of workers")
    left, right, top, bottom = 56, WIDTH - 30, 96, 240
    highest = max(found[count][who]["median"] for count in counts for who, *_ in LINES)
    drawing.words(LEFT, 30, "Eight games of Breakout, steps a second", size=14)
    for row, (who, words, colour) in enumerate(LINES):
        drawing.words(LEFT + 145 * row, 56, words, colour=colour, size=13)
        points = []
        for place, count in enumerate(counts):
            rate = found[count][who]["median"]
            x = left + place / (len(counts) - 1) * (right - left)
            y = bottom - rate / highest * (bottom - top)
            points.append((x, y))
            drawing.mark("circle", cx=round(x, 1), cy=round(y, 1), r=3, fill=colour)
        line(drawing, points, stroke=colour, stroke_width="2")
    for rate in range(0, int(highest) + 1, 2000):
        y = bottom - rate / highest * (bottom - top)
        line(drawing, [(left, y), (right, y)], stroke=FAINT, stroke_dasharray="2 5")
        number = f"{rate:,}"
        drawing.words(left - 8, y + 4, number, colour=FAINT, size=12, text_anchor="end")
    for place, count in enumerate(counts):
        x = left + place / (len(counts) - 1) * (right - left)
        drawing.words(
            x, bottom + 22, count, colour=FAINT, size=12, text_anchor="middle"
        )
    middle = (left + right) / 2
    drawing.words(middle, bottom + 44, "workers", size=13, text_anchor="middle")
    return drawing.svg()


def figures() -> dict[str, str]:
    """The figures by the names of their files."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    return {
        "batches-costs.svg": draw_costs(record),
        "batches-workers.svg": draw_workers(record),
    }


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(figures(), program="figures.batches", truth="the record says")


if __name__ == "__main__":
    main()
