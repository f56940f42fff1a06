"""How fast many games are played, beside other libraries, in one run.

.venv/bin/python -m benchmarks.games           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.games --quick   # a small part of it, only printed

All players keep to the same rules as far as they can: 4 frames a step, the maximum of
the last two, grey, 84 × 84, 4 in a stack, up to 30 no-ops and FIRE at the start, whole
games, raw rewards, no sticky actions; with two processes or threads, unless a player
can only have a process for each game. The actions are random, the same for all.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.games_costs import costs as measure_costs
from benchmarks.games_players import PLAYERS, Measured, Task
from benchmarks.record import (
    Series,
    found_by,
    interleave,
    provenance,
    significant,
    spread,
    write,
)
from figures.batches import RECORD, figures
from figures.drawing import FOLDER

PACKAGES = (
    *("ale-py", "envpool", "gymnasium", "numpy", "opencv-python-headless"),
    *("stable-baselines3", "torch"),
)
GAMES = ("breakout", "pong", "space_invaders")
PARTS = ("games", "by_games", "by_workers", "costs")
ONE_PROCESS_EACH = ("gymnasium", "sb3")
PEER, CEILING = "envpool", "emulator"


@dataclass(frozen=True)
class Setup:
    """
    Args:
        names: the games that are played.
        repeats: how many samples are taken of each player, after one that is not kept.
        steps: of all games of a sample together.
        counts: how many games at once, to show how the numbers grow.
        workers: how many workers, to show the same.
    """

    names: tuple[str, ...]
    repeats: int
    steps: int
    counts: tuple[int, ...]
    workers: tuple[int, ...]

    def task(self, player: str, game: str, games: int = 8, workers: int = 2) -> Task:
        """The same number of steps in all, however many games share them."""
        steps = self.steps // games
        return Task(player, game, games, workers, warm_up=steps // 4, steps=steps)

    @property
    def growth(self) -> "Setup":
        """What shows how something grows: half the steps, two thirds of the samples."""
        return replace(self, repeats=(2 * self.repeats + 2) // 3, steps=self.steps // 2)


@dataclass(frozen=True)
class Sampler:
    """
    Args:
        task: what is measured.
        seen: all measurements so far.
    """

    task: Task
    seen: list[Measured]

    def __call__(self) -> float:
        """Measure again. Return how many steps an agent plays in a second."""
        text = json.dumps(asdict(self.task))
        measured = Measured(**found_by("benchmarks.games_players", text))
        self.seen.append(measured)
        return self.task.games * self.task.steps / measured.seconds


def contest(
    tasks: Mapping[str, Task], repeats: int, thrown_away: int = 1
) -> dict[str, Any]:
    """Steps a second and memory of each, beside peer and ceiling if these are there."""
    samplers = {name: Sampler(task, []) for name, task in tasks.items()}
    rates = interleave(samplers, repeats, thrown_away)
    return {
        name: summary(rates[name], samplers[name].seen)
        | {
            f"of_{other}": significant(rates[name].median / rates[other].median)
            for other in (PEER, CEILING)
            if other in rates
        }
        for name in tasks
    }


def summary(rates: Series, seen: Sequence[Measured]) -> dict[str, Any]:
    """What is written down about a player."""
    return {
        **asdict(rates),
        "processes": max(each.processes for each in seen),
        "pss_mb": median(each.pss_mb for each in seen),
        "rss_mb": median(each.rss_mb for each in seen),
    }


def games(setup: Setup) -> dict[str, Any]:
    """Eight games, two workers."""
    return {
        name: contest({who: setup.task(who, name) for who in PLAYERS}, setup.repeats)
        for name in setup.names
    }


def by_games(setup: Setup) -> dict[str, Any]:
    """More and more games, two workers."""
    task = partial(setup.growth.task, game=setup.names[0])
    return {
        str(count): contest(
            {who: task(who, games=count) for who in PLAYERS},
            setup.growth.repeats,
            thrown_away=0,
        )
        for count in setup.counts
    }


def by_workers(setup: Setup) -> dict[str, Any]:
    """Eight games, more and more workers, for all that have that choice."""
    task = partial(setup.growth.task, game=setup.names[0])
    choosers = [who for who in PLAYERS if who not in ("serial", *ONE_PROCESS_EACH)]
    return {
        str(count): contest(
            {who: task(who, workers=count) for who in choosers},
            setup.growth.repeats,
            thrown_away=0,
        )
        for count in setup.workers
    }


def costs(setup: Setup) -> dict[str, float]:
    """What the parts of a step cost, in microseconds."""
    return measure_costs(setup.steps // 4)


def table(part: str, found: dict[str, Any]) -> str:
    """All results of a part as lines of text."""
    if part == "costs":
        return "\n".join(f"{name:22}{value:>10} µs" for name, value in found.items())
    head = ("steps a second", f"of {PEER}", f"of {CEILING}", "processes", "PSS, MB")
    lines = []
    for name, players in found.items():
        lines.append(
            f"{part + ', ' + name:22}" + "".join(f"{each:>19}" for each in head)
        )
        for who, each in players.items():
            cells = (
                spread(each),
                *(f"{each.get(f'of_{other}', nan):.2f}" for other in (PEER, CEILING)),
                f"{each['processes']}",
                f"{each['pss_mb']:.0f}",
            )
            lines.append(f"  {who:20}" + "".join(f"{cell:>19}" for cell in cells))
    return "\n".join(lines)


FULL = Setup(
    names=GAMES,
    repeats=3,
    steps=8_000,
    counts=(1, 4, 16),  # and 8, which is above
    workers=(1, 2, 4, 8),
)
QUICK = Setup(names=GAMES[:1], repeats=1, steps=1600, counts=(2, 16), workers=(1, 2))


def main() -> None:
    """Measure, print and write down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=None)
    parser.add_argument("--quick", action="store_true", help="one game, few steps")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    setup = QUICK if options.quick else FULL
    if options.repeats:
        setup = replace(setup, repeats=options.repeats)

    before = provenance("benchmarks.games", PACKAGES)
    found: dict[str, Any] = {}
    for part in (games, by_games, by_workers, costs):
        name = part.__name__
        if not options.parts or name in options.parts:
            found[name] = part(setup)
            print(table(name, found[name]), flush=True)

    # A record is written whole or not at all.
    output = options.output
    if output is None and not options.quick and len(found) == len(PARTS):
        output = RECORD
    if output:
        write({**before, "setup": asdict(setup), **found}, output)
        print(f"Written to {output}")
    if output == RECORD:
        for name, figure in figures().items():
            (FOLDER / name).write_text(figure, encoding="utf-8")


if __name__ == "__main__":
    main()
