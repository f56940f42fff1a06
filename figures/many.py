"""Draw the figure of `labml_rl/watch/many.py` from what Rainbow scored in 54 games,
`results/published/hessel2018.csv`.

The scores are those of the tables of Hessel et al. (2018), after 200 million frames and
with up to 30 no-ops, as the data of Aitchison et al. (2022) have them. James Bond is
missing there. River Raid and Up'n Down are rounded there, and so are left out.

python -m figures.many           write them to docs/assets/figures/
python -m figures.many --check   fail if they are not what the records say
"""

import csv
from math import log10
from pathlib import Path
from statistics import fmean, median
from xml.etree import ElementTree as Xml

from figures.networks import COLOURS, FAINT, FOLDER, WIDTH, Drawing, write_or_check
from figures.policies import line
from labml_rl.watch.many import (
    human_normalised,
    interquartile_mean,
)

SCORES = Path(__file__).parents[1] / "results" / "published" / "hessel2018.csv"
LEFT, RIGHT, TOP, BOTTOM = 78, WIDTH - 20, 52, 250
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
    drawing.words(20, 30, "Rainbow in 54 games, human-normalised", size=14)

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
    return Xml.tostring(drawing.root, encoding="unicode") + "\n"


def figures() -> dict[str, str]:
    """The figures by the names of their files."""
    return {
        "many-averages.svg": draw(normalised("rainbow")),
    }


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(figures(), FOLDER, program="figures.many", truth="the records say")


if __name__ == "__main__":
    main()
