"""The curves of the runs that are kept."""

import json
from collections.abc import Callable, Iterable
from itertools import chain
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import shelf
from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, line, write_or_check

# Names of marks whose lines are closer than this, in pixels, would be struck through.
# Such names go together above the highest line.
CROWDED = 20
WIDTH_OF_LETTER = 7  # in pixels, at most, on average
LEFT, RIGHT, TOP, BOTTOM = 50, WIDTH - 20, 60, 240
APART = 2  # pixels between two points of a curve
AFTER = {
    "ppo": "PPO's paper, 40M",
    "a2c": "A2C's paper, 40M",
    "dqn": "DQN's paper, 200M",
    "drq": "DrQ of others, 400k",
}


def drawn(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """
    The points of a curve that are drawn, two pixels apart. More would make a page heavy
    and look the same.
    """
    every = list(points)
    kept = every[:1]
    for point in every[1:-1]:
        if point[0] - kept[-1][0] >= APART:
            kept.append(point)
    return kept + every[1:][-1:]


def round_numbers(low: float, high: float) -> list[float]:
    """Round numbers between two others, which are at least three steps apart."""
    size = 10 ** floor(log10(high - low))
    step = next(size * n for n in (2, 1, 0.5, 0.2) if high - low >= 3 * size * n)
    return [step * n for n in range(ceil(low / step), floor(high / step) + 1)]


def marks_of(record: dict[str, Any]) -> list[tuple[str, float]]:
    """Who else has played the game of a run, and what they scored."""
    published = shelf.PUBLISHED.get(shelf.name_of(record), {})
    marks = [(who, score) for who, score in published.items() if who not in AFTER]
    family = shelf.family_of(shelf.kind_of(record)).lower()
    if family in published:
        marks.append((AFTER[family], published[family]))
    return marks


def together(
    marks: list[tuple[str, float]], height: Callable[[float], float]
) -> list[list[tuple[str, float]]]:
    """Marks from the highest down, with those that are close together in one list."""
    groups: list[list[tuple[str, float]]] = []
    for each in sorted(marks, key=lambda mark: mark[1], reverse=True):
        if groups and height(each[1]) - height(groups[-1][-1][1]) < CROWDED:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def told(marks: list[tuple[str, float]]) -> str:
    """Marks in words, with their numbers."""
    words = (f"{who.partition(',')[0]} {score:,.10g}" for who, score in marks)
    return "; ".join(words).replace("-", "−")


def is_free(
    place: tuple[float, str],
    y: float,
    words: str,
    lines: list[list[tuple[float, float]]],
) -> bool:
    """Whether no line goes through words that begin, or end, at a place."""
    begin, end = across(place, words)
    return not any(
        begin < a < end and y - 13 < b < y + 5 for each in lines for a, b in each
    )


def across(place: tuple[float, str], words: str) -> tuple[float, float]:
    """From where to where words go that begin, or end, at a place."""
    x, anchor = place
    wide = WIDTH_OF_LETTER * len(words)
    return (x, x + wide) if anchor == "start" else (x - wide, x)


def draw_marks(
    drawing: Drawing,
    marks: list[tuple[str, float]],
    heights: list[float],
    lines: list[list[tuple[float, float]]],
) -> list[tuple[float, float]]:
    """
    Marks that are close together: a dashed line for each, and one name for all.

    Returns:
        Where their name is, as a line, which has no points if there was no room.
    """
    for y in heights:
        ends = [(LEFT, y), (RIGHT, y)]
        line(drawing, ends, stroke=FAINT, stroke_dasharray="3 4")

    # The name goes where the curve is far away, or where there is no curve.
    words = told(marks) if len(marks) > 1 else marks[0][0]
    y, first, last = heights[0], lines[0][0][1], lines[0][-1][1]
    places = [(LEFT + 4, "start"), (RIGHT, "end")]
    if abs(first - y) <= abs(last - y):
        places.reverse()
    farther = range(LEFT + 44, RIGHT - WIDTH_OF_LETTER * len(words), 40)
    places += [(x, "start") for x in farther]
    free = [each for each in places if is_free(each, y - 5, words, lines)]
    if not free:
        return []
    x, anchor = free[0]
    drawing.words(x, y - 5, words, colour=FAINT, size=13, text_anchor=anchor)
    return under(free[0], y - 5, words)


def under(place: tuple[float, str], y: float, words: str) -> list[tuple[float, float]]:
    """Words as points, from their heads to their feet, where no others should be."""
    begin, end = across(place, words)
    return [(x, at) for x in np.arange(begin, end, APART) for at in (y - 10, y)]


def draw_groups(
    drawing: Drawing,
    groups: list[list[tuple[str, float]]],
    height: Callable[[float], float],
    lines: list[list[tuple[float, float]]],
) -> list[list[tuple[float, float]]]:
    """
    All marks. Names that the curves leave no room for go together at the top.

    Returns:
        Where the other names are, as lines.
    """
    unnamed: list[tuple[str, float]] = []
    names: list[list[tuple[float, float]]] = []
    for group in groups:
        name = draw_marks(drawing, group, [height(y) for _, y in group], lines)
        names.append(name)
        if not name:
            unnamed += group
    if unnamed:
        # On the left may be the name of a mark at the very top.
        is_taken = height(groups[0][0][1]) < TOP + 8 and groups[0][0] not in unnamed
        x, anchor = (RIGHT, "end") if is_taken else (LEFT, "start")
        words = f"dashed: {told(unnamed)}"
        drawing.words(x, 48, words, colour=FAINT, size=13, text_anchor=anchor)
    return names


def draw_beside(
    drawing: Drawing,
    lines: list[list[tuple[float, float]]],
    others: list[list[tuple[float, float]]],
    name: str,
    **style: Any,
) -> list[tuple[float, float]]:
    """
    Other curves, with their name above the end of the highest; or below them, if
    another curve goes through there, or if that is where the title is; or between them,
    if the frames are there; or, for faint ones, at the bottom, if there is no room
    nearby; or far above.

    Args:
        drawing: where to.
        lines: all other curves of the picture.
        others: these curves.
        name: what they are of.
        style: of their lines.

    Returns:
        Where their name is, as a line.
    """
    for each in others:
        line(drawing, each, **style)
    x, y = min((each[-1] for each in others), key=lambda end: end[1])
    wide = WIDTH_OF_LETTER * len(name)
    lowest = max(b for each in others for a, b in each if a >= x - wide)
    places = [each for each in (y - 8, lowest + 18) if TOP + 8 < each < BOTTOM + 4]
    free = [each for each in places if is_free((x, "end"), each, name, lines)]
    farther: list[float] = []
    if lowest + 18 >= BOTTOM + 4:
        below = (y + down for down in range(32, 120, 8))
        farther = [each for each in below if each < BOTTOM + 4]
    if not farther and style["stroke"] == FAINT:
        farther = [BOTTOM - up for up in range(8, 120, 8)]
    farther += [y - up for up in range(16, 120, 8) if y - up > TOP + 8]
    every = [*lines, *others]
    free += (each for each in farther if is_free((x, "end"), each, name, every))
    y = free[0] if free else y - 8
    drawing.words(x, y, name, colour=style["stroke"], size=13, text_anchor="end")
    return under((x, "end"), y, name)


def draw_peer(
    drawing: Drawing, curve: list[tuple[float, float]], name: str, *, beside: bool
) -> None:
    """The curve of another library, beside other curves or not, and its name."""
    colour = COLOURS[1 if beside else 2]
    line(drawing, curve, stroke=colour)
    x, y = curve[-1]
    # Below the axis are the frames.
    below = y + (56 if beside else 28)
    x, y = (x, below) if below < BOTTOM + 4 else (LEFT + 4, y - 12)
    drawing.words(x, y, name, colour=colour, size=13)


def short(number: float) -> str:
    """A round number of frames: 0, 50k or 10M."""
    if number >= 1e6:
        return f"{number / 1e6:g}M"
    return f"{number / 1e3:g}k" if number else "0"


def draw_frames(drawing: Drawing, frames: float, seed: int) -> None:
    """The numbers below a curve, what they count, and what the curve is of."""
    for number in round_numbers(0, frames):
        x = LEFT + number / frames * (RIGHT - LEFT)
        drawing.words(
            min(x, RIGHT),
            BOTTOM + 22,
            short(number),
            colour=FAINT,
            size=13,
            text_anchor="middle" if x < RIGHT - 20 else "end",
        )
    drawing.words(RIGHT, BOTTOM + 42, "frames", size=13, text_anchor="end")
    words = f"mean score, last 100 games, seed {seed}"
    drawing.words(LEFT, BOTTOM + 42, words, colour=FAINT, size=13)


def draw(folder: Path) -> str:
    """The curve of a run, with what others score, as SVG."""
    record = json.loads((folder / "run.json").read_text())
    curve = shelf.curve_of(folder)
    algorithm, game = shelf.kind_of(record), record["settings"]["game"]
    marks = marks_of(record)
    name = f"{shelf.family_of(algorithm)}, {shelf.TITLES.get(game, game)}"
    drawing = Drawing(290, f"The curve of {name}")
    evaluations, peer = shelf.evaluations_of(folder), shelf.peer_of(folder)
    their_curve = shelf.peer_curve(peer[1]) if peer else []
    named = {
        name: [[each for each in other if each[0] <= curve[-1][0]] for other in others]
        for name, others in shelf.others_of(folder).items()
    }
    others = [*chain(*named.values())]
    beside = list(chain(evaluations, their_curve, *others))
    heights = [score for _, score in (*curve, *beside)]

    # A mark that is far above anything that was reached would squash the curve flat.
    # Where nothing was reached, it is flat anyway.
    reached = max(heights)
    far = 2 * abs(reached) or float("inf")
    above = [(who, score) for who, score in marks if score > far]
    marks = [each for each in marks if each not in above]
    heights += [score for _, score in marks]
    # A flat line has no height, and is drawn at the bottom.
    low, high = min(heights), max(heights) + (len({*heights}) == 1)
    frames = curve[-1][0]

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + x / frames * (RIGHT - LEFT)
        return across, BOTTOM - (y - low) / (high - low) * (BOTTOM - TOP)

    def write_height(score: float) -> None:
        # There is no room for six digits.
        digits = ".0f" if abs(score) >= 10_000 else ".10g"
        number, y = f"{score:,{digits}}".replace("-", "−"), at(0, score)[1]
        size = 13 if len(number) < 6 else 11
        drawing.words(
            LEFT - 6, y + 4, number, colour=FAINT, size=size, text_anchor="end"
        )

    drawing.words(LEFT, 30, name)
    if above:
        drawing.words(
            RIGHT,
            48,
            f"above: {told(above)}",
            colour=FAINT,
            size=13,
            text_anchor="end",
        )
    first = drawn(at(*point) for point in curve)
    behind = {
        name: [drawn(at(*point) for point in each) for each in group]
        for name, group in named.items()
    }
    lines = [first, *chain(*behind.values())]
    groups = together(marks, lambda score: at(0, score)[1])
    alone = [group[0][1] for group in groups if len(group) == 1]
    for score in alone:
        write_height(score)
    for height in round_numbers(low, high):
        y = at(0, height)[1]
        if all(abs(y - at(0, score)[1]) >= CROWDED - 4 for score in alone):
            write_height(height)
    names = draw_groups(drawing, groups, lambda score: at(0, score)[1], lines)
    there = [*lines, *names] + [
        [(float(x), at(0, score)[1]) for x in range(LEFT, RIGHT, APART)]
        for _, score in marks
    ]
    for stroke, (whose, mine) in zip((COLOURS[2], FAINT), behind.items(), strict=False):
        besides = [each for each in there if each not in mine]
        there.append(draw_beside(drawing, besides, mine, whose, stroke=stroke))
    line(drawing, first, stroke=COLOURS[0], stroke_width="2.5")
    if peer:
        theirs = drawn(at(*point) for point in their_curve)
        draw_peer(drawing, theirs, peer[0], beside=bool(others))
    for x, y in (at(*point) for point in evaluations):
        drawing.mark("circle", cx=x, cy=y, r=4, fill=COLOURS[1])
    drawing.words(
        RIGHT,
        30,
        f"{curve[-1][1]:,.4g} at the end".replace("-", "−"),
        colour=COLOURS[0],
        size=13,
        text_anchor="end",
    )
    draw_frames(drawing, frames, shelf.seed_of(record))
    return drawing.svg()


def figures() -> dict[str, str]:
    """
    The figure of each run, by the name of its file. Those of the five games are
    together in one, which `figures.many` draws.
    """
    found: dict[str, str] = {}
    for folder in sorted(
        each.parent for each in shelf.KEPT.glob("*/*/seed-*/run.json")
    ):
        algorithm, game, seed = folder.parts[-3:]
        is_in_front = shelf.TOGETHER.get((algorithm, game), seed) == seed
        if game not in shelf.FIVE_GAMES and is_in_front:
            found[f"{shelf.figure_name(folder)}.svg"] = draw(folder)
    return found


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(figures(), program="figures.curves", truth="the records say")


if __name__ == "__main__":
    main()
