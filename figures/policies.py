"""Draw figures of returns, A2C and PPO from what computes them.

python -m figures.policies           write them to docs/assets/figures/
python -m figures.policies --check   fail if they differ from what the losses do
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from figures.drawing import COLOURS, FAINT, TEXT, WIDTH, Drawing, line, write_or_check
from labml_rl.impala import vtrace
from labml_rl.ppo import clipped_policy_loss
from labml_rl.returns import Rollout, gae, n_step_returns

BLUE, ORANGE, GREEN = COLOURS
CLIP = 0.2
LAMBDAS = (0.0, 0.5, 0.8, 0.9, 0.95, 1.0)
NS = (1, 2, 3, 5, 8, 12)
RATIOS, AHEAD, TRIES = (1.1, 0.9), 20, 24
PANEL, TOP, BOTTOM = 190, 56, 206
LEFTS = (20, WIDTH - 20 - PANEL)
Points = NDArray[np.float64]


def what_ppo_goes_up_on(ratios: Points, advantage: float) -> Points:
    """The clipped objective, as the book computes it, for each ratio by itself."""
    found = [
        -clipped_policy_loss(
            torch.tensor([np.log(ratio)]),
            torch.zeros(1, dtype=torch.float64),
            torch.tensor([advantage], dtype=torch.float64),
            clip=CLIP,
        ).item()
        for ratio in ratios
    ]
    return np.array(found)


def draw_clip() -> str:
    """Return the figure of the clipped objective."""
    drawing = Drawing(262, "The clipped objective for a good and for a bad action")
    ratios = np.linspace(0.4, 1.6, 121)

    def across(ratio: float) -> float:
        return (ratio - 0.4) / 1.2 * PANEL

    for left, advantage, colour, title in (
        (LEFTS[0], 1.0, BLUE, "it was good"),
        (LEFTS[1], -1.0, ORANGE, "it was bad"),
    ):
        gain = what_ppo_goes_up_on(ratios, advantage)
        zero = TOP + 150 if advantage > 0 else TOP
        drawing.words(left, 32, title, colour=colour)
        for edge in (1 - CLIP, 1 + CLIP):
            line(
                drawing,
                [(left + across(edge), TOP), (left + across(edge), BOTTOM)],
                stroke=FAINT,
                stroke_dasharray="2 4",
            )
        line(drawing, [(left, zero), (left + PANEL, zero)], stroke=FAINT)
        below_or_above = 15 if advantage < 0 else -6
        drawing.words(left + 2, zero + below_or_above, "0", colour=FAINT, size=13)
        for heights, style in (
            (ratios * advantage, {"stroke_dasharray": "5 5", "stroke_width": "1.5"}),
            (gain, {"stroke_width": "3"}),
        ):
            line(
                drawing,
                [
                    (left + across(ratio), zero - each * 90)
                    for ratio, each in zip(ratios, heights, strict=True)
                ],
                stroke=colour,
                **style,
            )
        drawing.mark(
            "circle", cx=left + across(1), cy=zero - advantage * 90, r=5, fill=TEXT
        )
        for ratio, label in ((1 - CLIP, "1 − ε"), (1 + CLIP, "1 + ε")):
            drawing.words(
                left + across(ratio),
                BOTTOM + 20,
                label,
                colour=FAINT,
                size=13,
                text_anchor="middle",
            )
        drawing.words(
            left + across(1), BOTTOM + 42, "ratio", size=14, text_anchor="middle"
        )
    return drawing.svg()


def draw_baseline() -> str:
    """Return the figure of returns with and without a baseline."""
    drawing = Drawing(276, "Returns of two actions, with and without a baseline")
    dice = np.random.default_rng(4)
    paid = [5 + 1.2 * dice.normal(size=24), 8 + 1.2 * dice.normal(size=24)]
    scale, middle = 14.0, float(np.mean(paid))
    for left, baseline, title in (
        (LEFTS[0], 0.0, "the return"),
        (LEFTS[1], middle, "less its average"),
    ):
        zero = 222.0 if not baseline else 140.0
        drawing.words(left, 32, title)
        line(drawing, [(left, zero), (left + PANEL, zero)], stroke=FAINT)
        for column, (each, colour) in enumerate(zip(paid, (ORANGE, BLUE), strict=True)):
            x = left + PANEL * (0.3 + 0.4 * column)
            shifts = np.linspace(-22, 22, len(each))[dice.permutation(len(each))]
            for shift, value in zip(shifts, each - baseline, strict=True):
                drawing.mark(
                    "circle",
                    cx=round(x + shift, 1),
                    cy=round(zero - scale * value, 1),
                    r=2.5,
                    fill=colour,
                    fill_opacity=0.6,
                )
            tip = round(zero - scale * (each.mean() - baseline), 1)
            head = 6 if tip < zero else -6
            line(drawing, [(x, zero), (x, tip)], stroke=TEXT, stroke_width="2.5")
            line(
                drawing,
                [(x - 5, tip + head), (x, tip), (x + 5, tip + head)],
                stroke=TEXT,
                stroke_width="2.5",
            )
            drawing.words(
                x,
                254,
                ("left", "right")[column],
                colour=colour,
                size=14,
                text_anchor="middle",
            )
        drawing.words(left + PANEL - 6, zero - 6, "0", colour=FAINT, size=13)
    return drawing.svg()


def draw_n_step(n: int) -> str:
    """Return the figure of how much each reward counts in a return, and the value."""
    drawing = Drawing(232, f"What counts in a return, n = {n}")
    steps, discount = 12, 0.9
    left, bottom = 24, 176
    column = (WIDTH - 2 * left) / (steps + 1)
    zeros = torch.zeros(steps, 1, dtype=torch.float64)
    drawing.words(left, 32, "what counts, and how much")
    drawing.words(WIDTH - left, 32, f"n = {n}", colour=BLUE, size=14, text_anchor="end")
    line(drawing, [(left, bottom), (WIDTH - left, bottom)], stroke=FAINT)

    def counts(rewards: torch.Tensor, values: torch.Tensor) -> float:
        nothing = torch.zeros_like(zeros, dtype=torch.bool)
        rollout = Rollout(
            rewards=rewards, values=values, terminated=nothing, truncated=nothing
        )
        return float(n_step_returns(rollout, discount=discount, n=n)[0, 0])

    # A return is a sum. How much a part counts is the sum with that part alone at 1.
    for place in range(steps + 1):
        rewards, values = zeros.clone(), torch.zeros(steps + 1, 1, dtype=torch.float64)
        values[place] = 1
        rewards[place : place + 1] = 1
        for weight, colour in (
            (counts(rewards, torch.zeros_like(values)), BLUE),
            (counts(zeros, values), ORANGE),
        ):
            if weight:
                height = round(weight * 120, 1)
                drawing.mark(
                    "rect",
                    x=round(left + place * column + 6, 1),
                    y=bottom - height,
                    width=round(column - 12, 1),
                    height=height,
                    fill=colour,
                )
        if place in (0, 1, steps):
            drawing.words(
                round(left + (place + 0.5) * column, 1),
                bottom + 18,
                "t" if not place else f"t+{place}",
                colour=FAINT,
                size=13,
                text_anchor="middle",
            )
    for x, name, colour in (
        (left, "rewards that were seen", BLUE),
        (left + 190, "a value of the network", ORANGE),
    ):
        drawing.mark("rect", x=x, y=206, width=12, height=12, fill=colour)
        drawing.words(x + 20, 217, name, size=13)
    return drawing.svg()


def draw_gae(gae_lambda: float) -> str:
    """Return the figure of how far back a surprise goes; faintly, for other lambdas."""
    drawing = Drawing(262, "The advantages of the steps before a surprise")
    steps, last, paid = 24, 5, 20
    rewards = torch.zeros(steps, 1, dtype=torch.float64)
    rewards[paid] = 1
    ends = torch.zeros(steps, 1, dtype=torch.bool)
    ends[last] = True
    rollout = Rollout(
        rewards=rewards,
        values=torch.zeros(steps + 1, 1, dtype=torch.float64),
        terminated=ends,
        truncated=torch.zeros_like(ends),
    )
    left, right, top, bottom = 48, WIDTH - 24, 70, 222

    def at(step: float, advantage: float) -> tuple[float, float]:
        across = left + (step + 0.5) / steps * (right - left)
        return across, bottom - advantage * (bottom - top)

    drawing.words(left, 32, "advantages")
    edge = at(last + 0.5, 0)[0]
    line(drawing, [(edge, top), (edge, bottom)], stroke=FAINT, stroke_dasharray="2 4")
    drawing.words(
        edge - 6,
        (top + bottom) / 2,
        "an episode ends",
        colour=FAINT,
        size=13,
        text_anchor="end",
    )
    line(drawing, [(left, bottom), (right, bottom)], stroke=FAINT)
    for height in (0, 1):
        y = at(0, height)[1] + 4
        drawing.words(
            left - 8, y, f"{height}", colour=FAINT, size=13, text_anchor="end"
        )

    def points(gae_lambda: float) -> list[tuple[float, float]]:
        found = gae(rollout, discount=0.99, gae_lambda=gae_lambda)[:, 0].tolist()
        return [at(step, advantage) for step, advantage in enumerate(found)]

    for other in LAMBDAS:
        shared = points(other)[last + 1 : paid + 1]
        line(drawing, shared, stroke=FAINT, stroke_width="1", stroke_opacity="0.35")
    line(
        drawing, points(gae_lambda)[last + 1 : paid + 1], stroke=BLUE, stroke_width="2"
    )
    for x, y in points(gae_lambda):
        drawing.mark("circle", cx=round(x, 1), cy=round(y, 1), r=3, fill=BLUE)
    drawing.words(
        right, 32, f"λ = {gae_lambda:g}", colour=BLUE, size=14, text_anchor="end"
    )
    middle = at(paid, 0)[0]
    drawing.words(middle, bottom + 20, "surprise", size=13, text_anchor="middle")
    drawing.words(left, bottom + 20, "steps", size=13)
    return drawing.svg()


def weights(ratios: Points, clip: float) -> Points:
    """How much a reward counts after 1, 2, 3 … steps, with these ratios."""
    found = []
    for step in range(len(ratios)):
        rewards = torch.zeros(ratios.shape, dtype=torch.float64)
        rewards[step] = 1
        no = torch.zeros(ratios.shape, dtype=torch.bool)
        values = torch.zeros(len(ratios) + 1, ratios.shape[1], dtype=torch.float64)
        rollout = Rollout(rewards=rewards, values=values, terminated=no, truncated=no)
        targets, _ = vtrace(
            rollout,
            torch.from_numpy(np.log(ratios)),
            discount=1.0,
            ratio_clip=clip,
            trace_clip=clip,
        )
        found.append(targets[0].numpy())
    return np.array(found)


def draw_ratios() -> str:
    """Return the figure of products of ratios, and of ratios that are cut off at 1."""
    drawing = Drawing(276, "What rewards count by products of ratios, whole and cut")
    drawn = np.random.default_rng(1).choice(RATIOS, (AHEAD, TRIES))
    ratios = np.hstack([drawn, np.tile(RATIOS, (AHEAD, 1))])
    low, high = np.log(0.1), np.log(10.0)
    lefts, wide = (48.0, 246.0), 150.0

    def at(left: float, step: int, weight: float) -> tuple[float, float]:
        share = (np.log(weight) - low) / (high - low)
        return left + step / AHEAD * wide, BOTTOM - share * (BOTTOM - TOP)

    for left, title, clip, colour in (
        (lefts[0], "as they are", 1e9, ORANGE),
        (lefts[1], "cut off at 1", 1.0, BLUE),
    ):
        drawing.words(left, 32, title, colour=colour)
        for weight in (0.1, 1.0, 10.0):
            ends = [at(left, step, weight) for step in (0, AHEAD)]
            line(drawing, ends, stroke=FAINT, stroke_dasharray="2 5")
            if left == lefts[0]:
                x, y = ends[0]
                drawing.words(
                    x - 6,
                    y + 4,
                    f"{weight:g}",
                    colour=FAINT,
                    size=13,
                    text_anchor="end",
                )
        for column, counts in enumerate(weights(ratios, clip).T.tolist()):
            points = [at(left, step, each) for step, each in enumerate([1.0, *counts])]
            alike = column >= TRIES
            style = {"stroke_width": "2.5"} if alike else {"stroke_opacity": "0.5"}
            line(drawing, points, stroke=colour, **style)
            if alike:
                x, y = points[-1]
                words = f"{counts[-1]:.2g}"
                drawing.words(x + 5, y + 4, words, size=13)
        for step, anchor in ((0, "start"), (AHEAD, "end")):
            drawing.words(
                left + step / AHEAD * wide,
                BOTTOM + 20,
                f"{step}",
                colour=FAINT,
                size=13,
                text_anchor=anchor,
            )
        drawing.words(
            left + wide / 2, BOTTOM + 42, "steps", size=14, text_anchor="middle"
        )
    return drawing.svg()


FIGURES: dict[str, Callable[[], str]] = {
    "a2c-baseline.svg": draw_baseline,
    "ppo-clip.svg": draw_clip,
    "vtrace-ratios.svg": draw_ratios,
    **{f"gae-{each:g}.svg": partial(draw_gae, each) for each in LAMBDAS},
    **{f"n-step-{n}.svg": partial(draw_n_step, n) for n in NS},
}


def main() -> None:
    """Write the figures, or check them."""
    drawn = {name: draw() for name, draw in FIGURES.items()}
    write_or_check(drawn, program="figures.policies", truth="the losses do")


if __name__ == "__main__":
    main()
