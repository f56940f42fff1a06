"""Draw the figures of many games: that of `labml_rl/watch/many.py`, from Rainbow's
scores in 54 of them, `results/published/hessel2018.csv`, and, for the page of results,
the curves of the five that stand for 57, from `results/runs/`.

python -m figures.many           write them to docs/assets/figures/
python -m figures.many --check   fail if they are not what the records say
"""

import csv
from math import log10
from pathlib import Path
from statistics import fmean, median

import numpy as np

from benchmarks import shelf
from figures.curves import drawn, round_numbers
from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, line, write_or_check
from labml_rl.watch.many import human_normalised, interquartile_mean

SCORES = Path(__file__).parents[1] / "results" / "published" / "hessel2018.csv"
LEFT, RIGHT, TOP, BOTTOM = 78, WIDTH - 20, 52, 250
SIDES = (
    ("ppo", "PPO", COLOURS[0]),
    ("pqn", "PQN", COLOURS[1]),
    ("a2c", "A2C", COLOURS[2]),
    ("large-epsilon", "A2C, large epsilon", FAINT),
)
PANELS_TOP, WIDE, HIGH, BELOW = 92, 150, 90, 58
POINTS = 200  # of a curve that sums up others
LEFTS = (54, WIDTH - 20 - WIDE)
LOWEST, HIGHEST = 0.001, 1000.0  # of the scale, where 1 is the human


def normalised(algorithm: str) -> dict[str, float]:
    """The human-normalised score of an algorithm in each game, the worst first."""
    with SCORES.open(encoding="utf-8") as file:
        found = {
            row["game"]: float(human_normalised(row["game"], float(row[algorithm])))
            for row in csv.DictReader(file)
        }
    return dict(sorted(found.items(), key=lambda each: each[1]))


def draw(scores: dict[str, float]) -> str:
    """A dot for each game, and a line for each average."""
    values = list(scores.values())
    averages = (
        ("mean", fmean(values), COLOURS[1]),
        ("interquartile mean", float(interquartile_mean([values])), COLOURS[0]),
        ("median", median(values), COLOURS[2]),
    )
    drawing = Drawing(308, "Rainbow's human-normalised scores in 54 games")
    drawing.words(20, 30, "Rainbow in 54 games, worst first, human-normalised", size=14)

    def height(score: float) -> float:
        share = log10(score / LOWEST) / log10(HIGHEST / LOWEST)
        return BOTTOM - share * (BOTTOM - TOP)

    for power in range(-2, 4):
        y = height(10.0**power)
        line(drawing, [(LEFT, y), (RIGHT, y)], stroke=FAINT, stroke_dasharray="2 5")
        words = f"{10.0**power:,.0%}"
        drawing.words(LEFT - 8, y + 4, words, colour=FAINT, size=12, text_anchor="end")

    # The middle half, between two lines.
    step = (RIGHT - LEFT) / len(values)
    out = len(values) // 4
    for x in (LEFT + out * step, RIGHT - out * step):
        line(drawing, [(x, TOP), (x, BOTTOM)], stroke=FAINT, stroke_opacity="0.6")
    drawing.words(
        (LEFT + RIGHT) / 2,
        BOTTOM + 20,
        "the middle half",
        colour=FAINT,
        size=13,
        text_anchor="middle",
    )
    for _, score, colour in averages:
        line(drawing, [(LEFT, height(score)), (RIGHT, height(score))], stroke=colour)
    for place, score in enumerate(values):
        x = LEFT + (place + 0.5) * step
        drawing.mark("circle", cx=x, cy=height(score), r=3, fill="#eef1f6")
    for x, (name, score, colour) in zip((20, 142, 322), averages, strict=True):
        words = f"{name} {score:,.0%}"
        drawing.words(x, BOTTOM + 44, words, colour=colour, size=13)
    return drawing.svg()


Curve = list[tuple[float, float]]


def curves_of(side: str) -> dict[str, Curve]:
    """The curve of each of the five games."""
    algorithm, seed = shelf.IN_FIVE[side]
    return {
        name: shelf.curve_of(shelf.KEPT / algorithm / name / seed)
        for name in shelf.FIVE_GAMES
    }


def middle(curves: dict[str, Curve]) -> Curve:
    """The interquartile mean over frames: the middle half of the five games."""
    begin = max(curve[0][0] for curve in curves.values())
    end = min(curve[-1][0] for curve in curves.values())
    found = []
    for frames in np.linspace(begin, end, POINTS):
        scores = [
            human_normalised(name, np.interp(frames, *np.transpose(curve)))
            for name, curve in curves.items()
        ]
        found.append((float(frames), float(interquartile_mean([scores]))))
    return found


def draw_five() -> str:
    """A panel for each game, two in a row, and one for all of them together."""
    drawing = Drawing(PANELS_TOP + 3 * (HIGH + BELOW) - 20, "Curves of five games")
    drawing.words(20, 30, "Mean score of the last hundred games", size=14)
    for place, (_, words, colour) in enumerate(SIDES):
        drawing.words(20 + 60 * place, 54, words, colour=colour, size=13)

    names = shelf.FIVE_GAMES
    titles = {key.lower(): title for key, title in shelf.TITLES.items()}
    sides = [(curves_of(side), colour) for side, _, colour in SIDES]
    panels = [
        (
            titles.get(name, name.capitalize()),
            ",.10g",
            [(curves[name], colour) for curves, colour in sides],
        )
        for name in names
    ]
    together = [(middle(curves), colour) for curves, colour in sides]
    panels.append(("Interquartile mean", ".0%", together))
    for place, panel in enumerate(panels):
        row, column = divmod(place, 2)
        draw_panel(drawing, (LEFTS[column], PANELS_TOP + row * (HIGH + BELOW)), *panel)
    return drawing.svg()


def draw_panel(
    drawing: Drawing,
    corner: tuple[float, float],
    title: str,
    shown: str,
    curves: list[tuple[Curve, str]],
) -> None:
    """Curves below a title, and dashed lines at round numbers."""
    left, top = corner
    heights = [score for curve, _ in curves for _, score in curve]
    low, high = min(heights), max(heights)
    frames = max(curve[-1][0] for curve, _ in curves)

    def at(x: float, score: float) -> tuple[float, float]:
        share = (score - low) / (high - low)
        return left + x / frames * WIDE, top + (1 - share) * HIGH

    drawing.words(left, top - 10, title, size=13)
    for score in round_numbers(low, high):
        _, y = at(0, score)
        ends = [(left, y), (left + WIDE, y)]
        line(drawing, ends, stroke=FAINT, stroke_dasharray="2 5")
        words = format(score, shown).replace("-", "−")
        drawing.words(left - 5, y + 4, words, colour=FAINT, size=12, text_anchor="end")
    for curve, colour in curves:
        points = drawn(at(*point) for point in curve)
        line(drawing, points, stroke=colour, stroke_width="2")
    for x, words, anchor in (
        (left, "0", "start"),
        (left + WIDE, f"{frames / 1e6:.0f}M frames", "end"),
    ):
        y = top + HIGH + 20
        drawing.words(x, y, words, colour=FAINT, size=12, text_anchor=anchor)


def figures() -> dict[str, str]:
    """The figures by the names of their files."""
    return {
        "many-averages.svg": draw(normalised("rainbow")),
        "five-games.svg": draw_five(),
    }


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(figures(), program="figures.many", truth="the records say")


if __name__ == "__main__":
    main()
