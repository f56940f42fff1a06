"""Draw the figures of `labml_rl/replay` and `labml_rl/dqn` from what these do.

python -m figures.values           write them to docs/assets/figures/
python -m figures.values --check   fail if they differ from what the modules do
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box

from figures.drawing import (
    COLOURS,
    FAINT,
    GROUND,
    TEXT,
    WIDTH,
    Drawing,
    line,
    write_or_check,
)
from figures.policies import BOTTOM, LEFTS, PANEL, TOP
from labml_rl.dqn import following_values, huber
from labml_rl.dqn.distribution import make_atoms, project
from labml_rl.dqn.quantiles import leaning, levels_of
from labml_rl.replay import ReplayMemory
from labml_rl.replay.prioritised import PrioritisedMemory
from labml_rl.replay.trees import SumTree

BLUE, ORANGE, GREEN = COLOURS
PLACES, STACK = 12, 4
LENGTHS = (7, 3, 99)  # steps of the episodes that are in the memory
STEPS = 14
ERRORS = (2.0, 1.0, 0.5, 0.1)
EXPONENTS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
REWARDS = (0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
COUNTS = (1, 2, 3, 4, 8, 16)  # of quantiles
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
PRIORITIES = (3, 2, 1, 6, 4, 6, 2, 5)
HIT = 4  # the place of the priority that the darts lead to
ACTIONS, DRAWS = 18, 100_000


def in_panel(
    left: float, low: float, high: float, error: float, value: float
) -> tuple[float, float]:
    """Where a point is in a panel whose values go from `low` to `high`."""
    across = left + (error + 3) / 6 * PANEL
    return across, BOTTOM - (value - low) / (high - low) * (BOTTOM - TOP)


def draw_huber() -> str:
    """Return the figure of the Huber loss and of its slope."""
    drawing = Drawing(262, "The Huber loss beside the square, and their slopes")
    errors = torch.linspace(-3, 3, 121, dtype=torch.float64, requires_grad=True)
    losses = huber(errors)
    (slopes,) = torch.autograd.grad(losses.sum(), errors)
    x = errors.detach().numpy()
    curves = (
        ("the loss", losses.detach().numpy(), x**2 / 2, 0.0, 4.5),
        ("its slope", slopes.numpy(), x, -3.0, 3.0),
    )
    for left, (title, found, square, low, high) in zip(LEFTS, curves, strict=True):
        at = partial(in_panel, left, low, high)
        drawing.words(left, 32, title)
        for name, colour, before in (("Huber", BLUE, 54), ("square", ORANGE, 0)):
            drawing.words(
                left + PANEL - before,
                32,
                name,
                colour=colour,
                size=13,
                text_anchor="end",
            )
        for edge in (-1, 1):
            line(
                drawing,
                [at(edge, low), at(edge, high)],
                stroke=FAINT,
                stroke_dasharray="2 4",
            )
            drawing.words(
                at(edge, low)[0],
                BOTTOM + 20,
                f"{edge}".replace("-", "−"),
                colour=FAINT,
                size=13,
                text_anchor="middle",
            )
        line(drawing, [at(-3, 0), at(3, 0)], stroke=FAINT)
        for slope, beside, anchor in ((1, 3, "end"), (-1, -3, "start")):
            if low < slope < high and low < 0:
                x_of, y_of = at(beside, slope)
                words = f"{slope}".replace("-", "−")
                y = y_of + 17 if slope > 0 else y_of - 7
                drawing.words(x_of, y, words, colour=FAINT, size=13, text_anchor=anchor)
        for values, colour, width in ((square, ORANGE, "1.5"), (found, BLUE, "3")):
            line(
                drawing,
                [at(*each) for each in zip(x, values, strict=True)],
                stroke=colour,
                stroke_width=width,
            )
        drawing.words(
            left + PANEL / 2, BOTTOM + 42, "error", size=14, text_anchor="middle"
        )
    return drawing.svg()


def played() -> tuple[ReplayMemory, dict[int, tuple[int, int]]]:
    """A small ring, and for each of its places the episode and the time in it."""
    space = Box(0, 255, (STACK, 8, 8), np.uint8)
    memory = ReplayMemory(space, 1, capacity=PLACES, stack=STACK)
    picture, no, yes = np.zeros((1, *space.shape), np.uint8), [False], [True]
    memory.begin(picture)
    shown, episode, t = {int(memory.heads[0]): (0, 0)}, 0, 0
    for _ in range(STEPS):
        t += 1
        over = t == LENGTHS[episode]
        before = int(memory.heads[0])
        memory.add(
            np.zeros(1, np.int64),
            np.zeros(1),
            np.array(yes if over else no),
            np.array(no),
            picture,
            final_observations=picture if over else None,
        )
        shown[(before + 1) % PLACES] = (episode, t)
        if over:
            episode, t = episode + 1, 0
            shown[(before + 2) % PLACES] = (episode, 0)
    return memory, shown


def draw_ring() -> str:
    """Return the figure of a ring, its head, and three stacks."""
    memory, shown = played()
    drawing = Drawing(214, "A ring of places, its write head, and three stacks")
    side = (WIDTH - 40) / PLACES
    head = int(memory.heads[0])
    drawable = memory.can_be_drawn(np.arange(PLACES))

    def middle(place: int) -> float:
        return 20 + (place + 0.5) * side

    for place, (episode, t) in sorted(shown.items()):
        colour = COLOURS[episode]
        drawing.mark(
            "rect",
            x=round(20 + place * side + 1.5, 1),
            y=70,
            width=round(side - 3, 1),
            height=30,
            rx=3,
            fill=colour if drawable[place] else GROUND,
            stroke=colour,
            stroke_width=1.5,
        )
        drawing.words(
            round(middle(place), 1),
            90,
            f"{'pqs'[episode]}{t}",
            colour=GROUND if drawable[place] else colour,
            size=13,
            text_anchor="middle",
        )
    x = round(middle(head), 1)
    line(drawing, [(x, 46), (x, 64)], stroke=TEXT, stroke_width="2")
    line(drawing, [(x - 5, 58), (x, 64), (x + 5, 58)], stroke=TEXT, stroke_width="2")
    drawing.words(x, 36, "head", size=14, text_anchor="middle")

    # For three of them, the pictures of the stack.
    middle_of_episode = int(np.flatnonzero(drawable & (memory.ages == STACK - 1))[-1])
    begins = next(place for place, (_, t) in shown.items() if t == 1 and place < head)
    oldest = (head + 1) % PLACES
    for row, (place, back, text) in enumerate(
        (
            (begins, min(1, int(memory.ages[begins])), "the first picture stands in"),
            (middle_of_episode, STACK - 1, "four neighbours"),
            (oldest, 0, "what came before is overwritten"),
        )
    ):
        y = 118 + 30 * row
        left, right = middle(place - back), middle(place)
        good = bool(drawable[place])
        colour = COLOURS[shown[place][0]] if good else FAINT
        line(
            drawing,
            [(left, y - 8), (left, y), (right, y), (right, y - 8)],
            stroke=colour,
            stroke_width="2",
        )
        after = place < PLACES / 2
        drawing.words(
            round(right + 10 if after else left - 10, 1),
            y + 3,
            text,
            colour=colour,
            size=13,
            text_anchor="start" if after else "end",
        )
    return drawing.svg()


def draw_priorities(exponent: float) -> str:
    """Return the figure of how often surprising steps are drawn."""
    drawing = Drawing(252, "How wrong the network was, and how often a step is drawn")
    count = len(ERRORS)
    memory = PrioritisedMemory(
        Box(0, 1, (1,)), 1, capacity=2 * count, stack=1, exponent=exponent
    )
    nothing, no = np.zeros((1, 1), np.float32), np.zeros(1, np.bool_)
    memory.begin(nothing)
    for _ in range(count):
        memory.add(np.zeros(1, np.int64), np.zeros(1), no, no, nothing)
    places = np.flatnonzero(memory.can_be_drawn(np.arange(memory.size)))
    memory.update(places, np.array(ERRORS))
    shares = memory.tree.leaves[places] / memory.tree.root
    rows: Any = (
        ("how wrong the network was", ORANGE, ERRORS, 28.0, "{:g}"),
        ("how often the step is drawn", BLUE, shares, 100.0, "{:.0%}"),
    )
    for row, (title, colour, heights, scale, words) in enumerate(rows):
        ground = 112 + 116 * row
        drawing.words(20, ground - 84, title, size=14, colour=colour)
        line(drawing, [(20, ground), (WIDTH - 20, ground)], stroke=FAINT)
        for column, each in enumerate(heights):
            middle, height = 80 + 94 * column, round(float(each) * scale, 1)
            drawing.mark(
                "rect",
                x=middle - 24,
                y=ground - height,
                width=48,
                height=height,
                fill=colour,
            )
            drawing.words(
                middle,
                ground - height - 6,
                words.format(float(each)),
                size=13,
                text_anchor="middle",
            )
    drawing.words(
        WIDTH - 20, 28, f"α = {exponent:g}", colour=BLUE, size=14, text_anchor="end"
    )
    return drawing.svg()


def draw_projection(reward: float) -> str:
    """Return the figure of how a target is made, in three rows."""
    drawing = Drawing(352, "How the target of a distribution is made, in three rows")
    atoms = make_atoms(-2.0, 2.0, 5)
    follows = torch.tensor([0.0, 0.0, 0.5, 0.5, 0.0])
    discount = 0.5
    target = project(
        follows[None], atoms, torch.tensor([reward]), torch.tensor([discount])
    )[0]

    def across(value: float) -> float:
        return WIDTH / 2 + value * 72

    rows = (
        ("what follows, by the target network", atoms, follows, BLUE),
        (f"times 0.5, and {reward:g} more", reward + discount * atoms, follows, ORANGE),
        ("shared by the atoms beside it: the target", atoms, target, GREEN),
    )
    for row, (title, places, probs, colour) in enumerate(rows):
        ground = 100 + 113 * row
        drawing.words(20, ground - 72, title, size=14, colour=colour)
        line(drawing, [(20, ground), (WIDTH - 20, ground)], stroke=FAINT)
        for atom in atoms.tolist():
            x = across(atom)
            line(drawing, [(x, ground), (x, ground + 5)], stroke=FAINT)
            drawing.words(
                x,
                ground + 19,
                f"{atom:g}".replace("-", "−"),
                colour=FAINT,
                size=13,
                text_anchor="middle",
            )
        for place, prob in zip(places.tolist(), probs.tolist(), strict=True):
            if prob > 1e-6:
                height = round(prob * 60, 1)
                drawing.mark(
                    "rect",
                    x=across(place) - 9,
                    y=ground - height,
                    width=18,
                    height=height,
                    fill=colour,
                )
                drawing.words(
                    across(place),
                    ground - height - 5,
                    f"{prob:g}",
                    size=12,
                    text_anchor="middle",
                )
    return drawing.svg()


def draw_quantiles(count: int) -> str:
    """Return the figure of a distribution, and of what its quantiles say about it."""
    drawing = Drawing(312, "How likely a return is to be less, and what atoms say")
    x = np.linspace(-2, 2, 401)
    either = [1 / (1 + np.exp(-(x - side) / 0.15)) for side in (-1, 1)]
    below = (either[0] + either[1]) / 2
    levels = levels_of(count).numpy()
    places = np.interp(levels, below, x)
    left, right, top, ground = 56.0, WIDTH - 20.0, 52.0, 236.0

    def at(value: float, prob: float) -> tuple[float, float]:
        across = left + (value + 2) / 4 * (right - left)
        return across, ground - prob * (ground - top)

    drawing.words(20, 30, "how likely a return is to be less", size=14, colour=BLUE)
    drawing.words(
        WIDTH - 20, 30, "what atoms say", size=14, colour=ORANGE, text_anchor="end"
    )
    for prob in (0, 1):
        line(drawing, [at(-2, prob), at(2, prob)], stroke=FAINT)
        height = at(-2, prob)[1] + 5
        drawing.words(
            left - 8, height, f"{prob}", colour=FAINT, size=13, text_anchor="end"
        )
    for value in range(-2, 3):
        across = at(value, 0)[0]
        words = f"{value}".replace("-", "−")
        drawing.words(
            across, ground + 40, words, colour=FAINT, size=13, text_anchor="middle"
        )
    curve = [at(*each) for each in zip(x, below, strict=True)]
    line(drawing, curve, stroke=BLUE, stroke_width="3")
    stairs = [at(-2, 0)]
    for step, (place, level) in enumerate(zip(places, levels, strict=True)):
        stairs += [at(place, step / count), at(place, (step + 1) / count)]
        line(
            drawing,
            [at(place, level), (at(place, 0)[0], ground + 8)],
            stroke=FAINT,
            stroke_dasharray="2 4",
        )
    line(drawing, [*stairs, at(2, 1)], stroke=ORANGE, stroke_width="2")
    for place, level in zip(places, levels, strict=True):
        for y in (at(place, level)[1], ground + 14):
            drawing.mark(
                "circle", cx=round(at(place, 0)[0], 1), cy=round(y, 1), r=4, fill=ORANGE
            )
    middle = (left + right) / 2
    drawing.words(middle, ground + 62, "the return", size=14, text_anchor="middle")
    return drawing.svg()


def draw_leaning(level: float) -> str:
    """Return the figure of the loss of a quantile, and of its slope."""
    drawing = Drawing(290, "What an error costs at a level, and the slope of that")
    errors = torch.linspace(-3, 3, 241, dtype=torch.float64, requires_grad=True)
    costs = leaning(errors, torch.tensor(level, dtype=torch.float64))
    (slopes,) = torch.autograd.grad(costs.sum(), errors)
    x = errors.detach().numpy()
    sides = np.where(x < 0, level - 1, level)
    curves = (
        ("what it costs", costs.detach().numpy(), sides * x, 0.0, 2.7),
        ("its slope", slopes.numpy(), sides, -1.0, 1.0),
    )
    for left, (title, found, sharp, low, high) in zip(LEFTS, curves, strict=True):
        at = partial(in_panel, left, low, high)
        drawing.words(left, 32, title)
        line(drawing, [at(-3, 0), at(3, 0)], stroke=FAINT)
        line(drawing, [at(0, low), at(0, high)], stroke=FAINT, stroke_dasharray="2 4")
        for values, style in (
            (sharp, {"stroke": ORANGE, "stroke_width": "1.5"}),
            (found, {"stroke": BLUE, "stroke_width": "3"}),
        ):
            line(
                drawing,
                [at(*each) for each in zip(x, values, strict=True)],
                **style,
            )
        for error, words in ((-2, "below"), (0, "0"), (2, "above")):
            drawing.words(
                at(error, 0)[0],
                BOTTOM + 20,
                words,
                colour=FAINT,
                size=13,
                text_anchor="middle",
            )
    drawing.words(
        WIDTH - 20, 32, f"τ = {level:g}", colour=BLUE, size=14, text_anchor="end"
    )
    for left in LEFTS:
        drawing.words(
            left + PANEL / 2, BOTTOM + 42, "error", size=14, text_anchor="middle"
        )
    for left, words, colour in (
        (LEFTS[0], "without the round bottom", ORANGE),
        (LEFTS[1], "with it", BLUE),
    ):
        drawing.words(left, BOTTOM + 68, words, colour=colour, size=13)
    return drawing.svg()


def draw_tree() -> str:
    """Return the figure of a sum tree, and of the way that the darts take down it."""
    drawing = Drawing(214, "A tree of sums, and the way down to one of its numbers")
    tree = SumTree(len(PRIORITIES), width=2, top=1)
    tree.set(np.arange(len(PRIORITIES)), np.array(PRIORITIES, float))
    left, wide, high = 20.0, 330.0, 30.0
    scale, before = wide / tree.root, tree.root
    rows = list(reversed(tree.rows))
    for row, numbers in enumerate(rows):
        y = 46 + 42 * row
        on_the_way = HIT // 2 ** (len(rows) - 1 - row)
        begin = 0.0
        for place, number in enumerate(numbers.tolist()):
            hit = place == on_the_way
            drawing.mark(
                "rect",
                x=round(left + begin * scale + 1, 1),
                y=y,
                width=round(number * scale - 2, 1),
                height=high,
                rx=2,
                fill=ORANGE if hit else GROUND,
                stroke=ORANGE if hit else BLUE,
                stroke_width=1.5,
            )
            drawing.words(
                round(left + (begin + number / 2) * scale, 1),
                y + 20,
                f"{number:g}",
                colour=GROUND if hit else BLUE,
                size=13,
                text_anchor="middle",
            )
            begin += number
        if row:
            drawing.words(
                WIDTH - 20,
                y + 20,
                f"{numbers[on_the_way]:g} of {before:g}",
                colour=ORANGE,
                size=13,
                text_anchor="end",
            )
        before = numbers[on_the_way]
    drawing.words(left, 30, "each sum above its two parts", size=14)
    drawing.words(WIDTH - 20, 30, "hit", colour=ORANGE, size=14, text_anchor="end")
    return drawing.svg()


def draw_overestimation() -> str:
    """Return the figure of the largest estimate, and of what another says there."""
    drawing = Drawing(276, "Estimates of eighteen values that are all 0")
    dice = np.random.default_rng(33)
    first, second = torch.from_numpy(dice.normal(size=(2, DRAWS, ACTIONS)))
    best = int(first[0].argmax())
    zero, scale = 132.0, 32.0
    for left, title, estimates, colour, found in (
        (LEFTS[0], "one chooses", first, BLUE, following_values(first)),
        (LEFTS[1], "the other says", second, ORANGE, following_values(second, first)),
    ):
        drawing.words(left, 32, title, colour=colour)
        drawing.words(left, zero - 6, "0", colour=FAINT, size=13)
        line(drawing, [(left, zero), (left + PANEL, zero)], stroke=FAINT)
        for action, estimate in enumerate(estimates[0].tolist()):
            x = round(left + (action + 1.5) / (ACTIONS + 1) * PANEL, 1)
            y = round(zero - scale * estimate, 1)
            drawing.mark("circle", cx=x, cy=y, r=3, fill=colour)
            if action == best:
                ring: dict[str, str | float] = {"stroke": TEXT, "stroke_width": 2}
                drawing.mark("circle", cx=x, cy=y, r=8, fill="none", **ring)
        middle = left + PANEL / 2
        drawing.words(
            middle, 232, "actions", colour=FAINT, size=13, text_anchor="middle"
        )
        mean = round(float(found.mean()), 2) + 0.0  # and no minus before a 0
        words = f"the ring: {mean:.2f} on average"
        drawing.words(middle, 256, words, size=14, text_anchor="middle")
    return drawing.svg()


FIGURES: dict[str, Callable[[], str]] = {
    "dqn-huber.svg": draw_huber,
    "dqn-overestimation.svg": draw_overestimation,
    "replay-ring.svg": draw_ring,
    "replay-tree.svg": draw_tree,
    **{
        f"priorities-{each:g}.svg": partial(draw_priorities, each) for each in EXPONENTS
    },
    **{f"quantiles-{each}.svg": partial(draw_quantiles, each) for each in COUNTS},
    **{f"leaning-{each:g}.svg": partial(draw_leaning, each) for each in LEVELS},
    **{f"projection-{each:g}.svg": partial(draw_projection, each) for each in REWARDS},
}


def main() -> None:
    """Write the figures, or check them."""
    drawn = {name: draw() for name, draw in FIGURES.items()}
    write_or_check(drawn, program="figures.values", truth="is done")


if __name__ == "__main__":
    main()
