"""Draw how things fit together: agent and game, the parts of DQN, pairs of networks.

python -m figures.sketches           write them to docs/assets/figures/
python -m figures.sketches --check   fail if they differ
"""

from figures.drawing import COLOURS, FAINT, WIDTH, Drawing, write_or_check
from figures.networks import SIDE, picture, pixels

BLUE, ORANGE, GREEN = COLOURS
HIGH = 44  # of a box


def box(
    drawing: Drawing, x: float, y: float, wide: float, words: str, *, colour: str
) -> None:
    """Draw a box with words in its middle; `y` is that of its middle."""
    drawing.mark(
        "rect",
        x=x,
        y=y - HIGH / 2,
        width=wide,
        height=HIGH,
        rx=6,
        fill="none",
        stroke=colour,
        stroke_width=2,
    )
    drawing.words(x + wide / 2, y + 5, words, colour=colour, text_anchor="middle")


def arrow(drawing: Drawing, *points: tuple[float, float]) -> None:
    """Draw a line through points, with a head at its end."""
    (before_x, before_y), (x, y) = points[-2:]
    across, down = (x > before_x) - (x < before_x), (y > before_y) - (y < before_y)
    path = "M" + "L".join(f"{a:g} {b:g}" for a, b in points)
    # The two ends of the head, a little behind the tip and to both sides of it.
    for side in (-5, 5):
        a, b = x - 7 * across + side * down, y - 7 * down + side * across
        path += f"M{a:g} {b:g}L{x:g} {y:g}"
    drawing.mark("path", d=path, fill="none", stroke=FAINT, stroke_width=2)


def draw_loop() -> str:
    """The agent and the game take turns."""
    top, left = 70.0, WIDTH - 24 - SIDE
    drawing = Drawing(
        int(top + SIDE + 62), "The agent acts, and the game answers with what it shows"
    )
    pixels(drawing, left, top, picture())
    middle, agent = top + SIDE / 2, 24.0
    box(drawing, agent, middle, 104, "agent", colour=BLUE)
    drawing.words(left, top + SIDE + 22, "environment", colour=GREEN)

    up, down = middle - HIGH / 2 - 6, middle + HIGH / 2 + 6
    arrow(drawing, (agent + 52, up), (agent + 52, top + 14), (left - 8, top + 14))
    low = top + SIDE - 14
    arrow(drawing, (left - 8, low), (agent + 52, low), (agent + 52, down))
    drawing.words(agent, 30, "action", size=15)
    drawing.words(agent, 50, "which buttons it presses", colour=FAINT, size=13)
    drawing.words(agent, low + 26, "observation and reward", size=15)
    drawing.words(
        agent, low + 46, "what it sees, what it is paid", colour=FAINT, size=13
    )
    return drawing.svg()


def draw_distillation() -> str:
    """Two networks see one observation, and one learns to answer like the other."""
    drawing = Drawing(
        190, "Two networks see one observation; how far apart are their answers?"
    )
    rows = (
        (56.0, "target", GREEN, "never learns"),
        (134.0, "predictor", ORANGE, "learns to agree"),
    )
    middle = (rows[0][0] + rows[1][0]) / 2
    box(drawing, 20, middle, 62, "o", colour=FAINT)
    for y, name, colour, what in rows:
        arrow(drawing, (51, middle + (26 if y > middle else -26)), (51, y), (108, y))
        box(drawing, 112, y, 104, name, colour=colour)
        drawing.words(
            164,
            y + (40 if y > middle else -30),
            what,
            colour=FAINT,
            size=13,
            text_anchor="middle",
        )
        arrow(drawing, (222, y), (250, y))
        drawing.words(258, y + 5, "512 numbers", colour=colour, size=14)
        arrow(drawing, (366, y), (386, y), (386, middle + (14 if y > middle else -16)))
    drawing.words(WIDTH - 16, middle + 5, "how far apart?", size=14, text_anchor="end")
    return drawing.svg()


def draw_streams() -> str:
    """One body, and two streams whose sum is the action values."""
    drawing = Drawing(
        200, "A body, two streams behind it, and the sum of what they say"
    )
    rows = ((56.0, "V(o)", GREEN), (140.0, "A(o, a)", ORANGE))
    middle = (rows[0][0] + rows[1][0]) / 2
    box(drawing, 16, middle, 62, "body", colour=BLUE)
    for y, name, colour in rows:
        towards = 1 if y > middle else -1
        arrow(drawing, (47, middle + 26 * towards), (47, y), (98, y))
        box(drawing, 102, y, 100, "512 units", colour=colour)
        arrow(drawing, (206, y), (232, y))
        box(drawing, 236, y, 76, name, colour=colour)
        arrow(drawing, (316, y), (376, y), (376, middle + 26 * towards))
    box(drawing, 328, middle, 96, "Q(o, a)", colour=FAINT)
    for y, words in (
        (rows[0][0] - 30, "one number"),
        (rows[1][0] + 40, "one for each action, less their mean"),
    ):
        drawing.words(274, y, words, colour=FAINT, size=13, text_anchor="middle")
    return drawing.svg()


def draw_dqn() -> str:
    """Who tells whom what in DQN."""
    drawing = Drawing(
        312, "The network plays and learns; memory and target network help it"
    )
    left, right, wide = 24.0, WIDTH - 24.0 - 120, 120.0
    top, low, branch = 52.0, 194.0, 124.0
    box(drawing, left, top, wide, "game", colour=FAINT)
    box(drawing, right, top, wide, "memory", colour=GREEN)
    box(drawing, left, low, wide, "network", colour=BLUE)
    box(drawing, right, low, wide, "target", colour=ORANGE)
    box(drawing, (WIDTH - 64) / 2, low, 64, "loss", colour=FAINT)
    above, below = low - HIGH / 2, low + HIGH / 2
    at, middle, beyond = left + 24, WIDTH / 2, right + wide / 2
    arrow(drawing, (at, above - 4), (at, top + HIGH / 2 + 4))
    arrow(drawing, (left + wide + 4, top), (right - 4, top))
    arrow(drawing, (beyond, top + HIGH / 2 + 4), (beyond, above - 4))
    arrow(drawing, (beyond, branch), (left + 100, branch), (left + 100, above - 4))
    arrow(drawing, (left + wide + 4, low), (middle - 36, low))
    arrow(drawing, (right - 4, low), (middle + 36, low))
    arrow(
        drawing,
        (middle, below + 4),
        (middle, below + 32),
        (left + 88, below + 32),
        (left + 88, below + 4),
    )
    arrow(
        drawing,
        (at, below + 4),
        (at, below + 66),
        (beyond, below + 66),
        (beyond, below + 4),
    )
    for x, y, words, anchor in (
        (at + 8, branch + 24, "action", "start"),
        (middle, top - 12, "each step", "middle"),
        (middle, branch - 10, "a batch of old steps", "middle"),
        ((left + wide + middle - 32) / 2, low - 12, "Q", "middle"),
        ((right + middle + 32) / 2, low - 12, "y", "middle"),
        ((left + 88 + middle) / 2, below + 24, "gradient", "middle"),
        (middle, below + 84, "a copy, now and then", "middle"),
    ):
        drawing.words(x, y, words, colour=FAINT, size=13, text_anchor=anchor)
    return drawing.svg()


def figures() -> dict[str, str]:
    """The figures by the names of their files."""
    return {
        "agent-and-game.svg": draw_loop(),
        "dqn-parts.svg": draw_dqn(),
        "dueling-streams.svg": draw_streams(),
        "rnd-networks.svg": draw_distillation(),
    }


def main() -> None:
    """Write the figures, or check them."""
    write_or_check(figures(), program="figures.sketches", truth="is drawn")


if __name__ == "__main__":
    main()
