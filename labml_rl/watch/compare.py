r"""
---
title: Which one is better
summary: Several runs of several algorithms, played, normalised, and set side by side.
---

# Which one is better

Two algorithms have been trained on some games, each with a few seeds. This page lets
all their agents play, and sets side by side what they score:

```sh
labml-rl compare runs/ppo/*/seed-* runs/a2c/*/seed-*
```

```text
A: PPO after 4,001,792 frames
B: A2C after 4,000,000 frames

                                 A                B
qbert                 5,120    37%     1,034     7%
…
```

There is a row for each game: the mean score of all runs, and how far that is [from
random play to a human][labml_rl.watch.many.human_normalised]. Below them all the games
are summed up, as far as both sides have played them: the [three
averages][labml_rl.watch.many.interquartile_mean], the
[interval][labml_rl.watch.many.interval] if there are several seeds, and the [median of
57 games][labml_rl.watch.many.median_of_57] if the five that tell it are among them.

Nothing has to be said of who is on which side. Runs that differ in their game and seed
only belong together. Where anything else is different, in one learning rate or in how
long they were trained, these are two sides, and it says in which.

An algorithm of your own is compared by [your own program](../runs/command.py), which
knows the book's as well: `python mine.py compare runs/*/pong/seed-*`.

!!! warning "What a comparison has to have"
    The same games, the same number of frames, the same protocol for both, and as much
    care with the settings of the one as with those of the other. This program sees to
    the protocol, and shows the frames. The rest is up to you.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from string import ascii_uppercase
from typing import Annotated, Any

import gymnasium
import numpy as np
import tyro

from labml_rl.environments import is_atari
from labml_rl.game import find_game
from labml_rl.runs.command import experiment_of, parse
from labml_rl.runs.experiment import Experiment
from labml_rl.runs.folder import RunError, RunFolder
from labml_rl.runs.loop import refused
from labml_rl.watch import summary
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.many import (
    FIVE,
    RANDOM_AND_HUMAN,
    Scores,
    human_normalised,
    interquartile_mean,
    interval,
    median_of_57,
)
from labml_rl.watch.scores import measure

# What may differ between two runs that belong together: what is played, the seed, and
# what changes where and when a run is computed and measured, but not what it learns.
APART = {
    *("game", "seed", "workers", "device", "precision"),
    *("evaluate_every_frames", "evaluation_games"),
}


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """
    ## What is asked for

    Args:
        folders: those of the runs.
        best: compare the [best so far](best.py) of each run, in place of the last.
        games: how many each agent plays.
        workers: how many processes play. None is one for each core.
        device: where the networks are: `cpu`, `cuda`, or `auto` for a GPU if there is
            one.
    """

    folders: Annotated[
        tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")
    ]
    best: bool = False
    games: int = 30
    workers: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if not self.folders:
            raise ValueError("compare which runs? Give the folder of each")
        if self.games < 1:
            raise ValueError(f"games must be at least 1, not {self.games}")


@dataclass
class Side:
    """
    ## A side

    Args:
        kind: what its runs have in common: algorithm, frames and settings, by name.
        runs: the folders of its runs and the experiment of each, by game.
        points: what its agents scored, the mean of each, by game.
        protocols: how they played, in words.
    """

    kind: dict[str, str]
    runs: dict[str, list[tuple[Path, type[Experiment[Any]]]]] = field(
        default_factory=dict
    )
    points: dict[str, list[float]] = field(default_factory=dict)
    protocols: list[str] = field(default_factory=list)

    def named(self, sides: Sequence["Side"]) -> str:
        """
        Args:
            sides: all of them.

        Returns:
            What it is called, with the settings in which it is not like another side
            with its algorithm.
        """
        algorithm, frames, *settings = self.kind
        rivals = [s.kind for s in sides if s.kind[algorithm] == self.kind[algorithm]]
        differ = [
            f"{name} {self.kind[name]}"
            for name in settings
            if any(rival[name] != self.kind[name] for rival in rivals)
        ]
        name = f"{self.kind[algorithm].upper()} after {self.kind[frames]} frames"
        return ", ".join([name, *differ])

    def scores(self, games: Sequence[str]) -> Scores:
        """Human-normalised scores, shape `(R, G)`."""
        return np.stack([human_normalised(g, self.points[g]) for g in games], axis=1)


def sides_of(
    folders: Sequence[Path],
    own: type[Experiment[Any]] | None = None,
    *,
    best: bool = False,
) -> list[Side]:
    """
    ## Who is on which side

    Args:
        folders: of the runs.
        own: an experiment that is not the book's, if one is to be compared.
        best: whether the [best so far](best.py) of each run is to play.

    Returns:
        The sides, in the order in which the first run of each was given.

    Raises:
        RunError: if there is no such run, if one is given twice, or if a side has more
            runs of one game than of another.
        CheckpointError: if a checkpoint can't be read.
    """
    sides: list[Side] = []
    seen: list[tuple[dict[str, str], str, int]] = []
    for folder in folders:
        record = RunFolder(folder).read_record()
        experiment = own
        if own is None or record["algorithm"] != own.algorithm:
            experiment = experiment_of(folder)
        assert experiment is not None

        # It is loaded now, so that what is missing is missed before anybody plays.
        settings = Saved.of(folder, experiment, best=best).settings
        kind = {"algorithm": record["algorithm"], "frames": f"{record['frames']:,}"}
        for name, value in asdict(settings).items():
            if name not in APART:
                kind[name] = str(value)
        game = find_game(settings.game) if is_atari(settings.game) else settings.game
        if (kind, game, settings.seed) in seen:
            raise RunError(
                f"{folder} is a run that was given before: settings, game and seed are "
                "the same"
            )
        seen.append((kind, game, settings.seed))
        side = next((each for each in sides if each.kind == kind), None)
        if side is None:
            side = Side(kind)
            sides.append(side)
        side.runs.setdefault(game, []).append((folder, experiment))
    if len(sides) > len(ascii_uppercase):
        raise RunError(
            f"these are {len(sides)} sides, since all of them differ in more than game "
            f"and seed. There is room for {len(ascii_uppercase)}"
        )
    for side in sides:
        counts = sorted((len(runs), game) for game, runs in side.runs.items())
        (few, least), (many, most) = counts[0], counts[-1]
        if few != many:
            raise RunError(
                f"{side.named(sides)}: {many} of {most}, and {few} of {least}. A "
                "comparison takes as many runs of each game"
            )
    return sides


def play(sides: Sequence[Side], comparing: Comparing, protocol: Protocol) -> None:
    """
    ## All play

    Each run gets a line as soon as its agent has played, so that nothing is lost if the
    rest takes too long.

    Args:
        sides: get the points.
        comparing: what is asked for.
        protocol: how all of them play.

    Raises:
        RunError: if a run has no agent that could be measured, or no game that can be
            played like this.
        CheckpointError: if a checkpoint is not of its network.
    """
    for side in sides:
        for game, runs in side.runs.items():
            side.points[game] = []
            for folder, experiment in runs:
                saved = Saved.of(folder, experiment, best=comparing.best)
                result = measure(
                    saved,
                    protocol,
                    games=comparing.games,
                    workers=comparing.workers,
                    device=comparing.device,
                )
                side.points[game].append(result.mean)
                # Without the game and the algorithm, which come first.
                side.protocols.append(saved.described(protocol).partition(". ")[2])
                print(f"{folder}: {summary(result)}", flush=True)


def row(name: str, cells: Sequence[str]) -> str:
    """A line of the table."""
    return f"{name:22}" + "".join(f"{each:>28}" for each in cells)


def cell(game: str, points: list[float] | None) -> str:
    """
    Returns:
        A mean score, with its standard error if there are several runs, and with how
        far it is on the way from random play to a human, if that is known.
    """
    if points is None:
        return "not played"
    words = f"{fmean(points):,.1f}"
    if len(points) > 1:
        words += f" ± {stdev(points) / sqrt(len(points)):,.1f}"
    if game in RANDOM_AND_HUMAN:
        words += f"{human_normalised(game, points).mean():>8.0%}"
    return words


def table_of(sides: Sequence[Side]) -> list[str]:
    """
    ## Side by side

    Args:
        sides: with their points.

    Returns:
        The lines of the table.
    """
    letters = ascii_uppercase[: len(sides)]
    lines = [f"{x}: {s.named(sides)}" for x, s in zip(letters, sides, strict=True)]
    lines += ["", row("", letters)]
    games = list(dict.fromkeys(game for side in sides for game in side.points))
    for game in games:
        lines.append(row(game, [cell(game, side.points.get(game)) for side in sides]))
    counted = [
        game
        for game in games
        if game in RANDOM_AND_HUMAN and all(game in side.points for side in sides)
    ]
    scores = [side.scores(counted) for side in sides] if counted else []
    if all(each.size < 2 for each in scores):
        return lines
    lines += ["", f"human-normalised, games: {len(counted)}"]
    lines.append(row("interquartile mean", percent(map(interquartile_mean, scores))))
    if all(len(each) > 1 for each in scores):
        spans = (map("{:.0%}".format, interval(each)) for each in scores)
        lines.append(row("  95% of the draws", [" to ".join(each) for each in spans]))
    lines.append(row("mean", percent(each.mean() for each in scores)))
    lines.append(row("median", percent(np.median(s.mean(axis=0)) for s in scores)))
    if set(counted) >= FIVE.keys():
        five = (side.scores(list(FIVE)) for side in sides)
        lines.append(row("median of 57, about", percent(map(median_of_57, five))))
    if left_out := [game for game in games if game not in counted]:
        lines.append(f"not counted there: {', '.join(left_out)}")
    return lines


def percent(scores: Iterable[Any]) -> list[str]:
    """
    Returns:
        Each in words.
    """
    return [f"{score:.0%}" for score in scores]


def main(
    own: type[Experiment[Any]] | None, arguments: Sequence[str], *, program: str
) -> None:
    """
    ## The command

    Args:
        own: an experiment that is not the book's, if one is to be compared.
        arguments: what was typed after `compare`.
        program: what was typed before.

    Raises:
        RunError: if something can't be compared.
    """
    comparing, protocol = parse(
        {"comparing": Comparing, "protocol": Protocol},
        arguments,
        command=f"{program} compare",
        description="Let the agents of several runs play, and set them side by side.",
    )
    sides = sides_of(comparing.folders, own, best=comparing.best)
    try:
        with refused():
            play(sides, comparing, protocol)
    except gymnasium.error.Error as error:
        raise RunError(str(error)) from error
    print("", *table_of(sides), "", sep="\n")
    for protocol_in_words in dict.fromkeys(
        words for side in sides for words in side.protocols
    ):
        print(protocol_in_words)
