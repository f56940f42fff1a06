r"""
---
title: Which one is better
summary: Several runs of several algorithms, played, normalised, and set side by side.
---

# Which one is better

Two algorithms have been trained on some games, each with one seed or more. This page
lets all their agents play, and sets their scores side by side:

```sh
labml-rl compare runs/ppo/*/seed-* runs/a2c/*/seed-*
```

```text
A: PPO after 4,001,792 frames
B: A2C after 4,000,000 frames

                                     A                B
battle_zone            12,100.0    28%   1,733.3    -2%
double_dunk               -12.6   273%     -17.1    67%
name_this_game          4,113.7    32%   2,350.0     1%
phoenix                 3,888.3    48%   3,648.3    45%
qbert                     706.7     4%     590.8     3%

human-normalised, all games:
interquartile mean                 36%              16%
mean                               77%              23%
median                             32%               3%
median of 57, about                28%               2%
  (below 40% it is too low to be trusted)
```

That is what it says of the book's [runs in five
games](../../results.md#five-games-by-ppo-pqn-and-a2c), one of PPO and one of A2C (the
one with seed 2) in each. There is a row for each game: the mean score of its runs, with
the standard error of that mean if there are several, and how far it is [from random
play to a human][labml_rl.watch.many.human_normalised]. Below them is a summary of the
games that all sides have played and for which a human tester's score is known. It gives
the [usual averages][labml_rl.watch.many.interquartile_mean], an
[interval][labml_rl.watch.many.interval] if each side has three seeds or more, and the
[median of 57 games][labml_rl.watch.many.estimated_median] if the five that predict it
are among them, as here.

The standard error of a few runs is a rough guess itself. So the rule that [games
have][labml_rl.watch.scores.Result.standard_error] is too bold for runs. By chance
alone, the means of equal algorithms come out three standard errors apart once in 6
times with two runs each, once in 10 with three, and once in 15 with five. (That is for
one game. With ten games, one of them will often be like that.)

You need not say which run is on which side. Runs that differ only in their game and
seed, or in how they were computed, belong together. Where another setting is different,
or the number of frames, there are two sides, and the program says how they differ. The
only *code* that it compares is your own. The commits in `run.json` tell you whether the
book's code was the same.

An algorithm of your own is compared by [your own program](../runs/command.py), which
knows the book's as well: `python mine.py compare runs/*/pong/seed-*`. To compare two of
your own, make them one experiment, with a setting that switches between them. Then they
are two sides.

!!! warning "What a comparison has to have"
    The same games and frames for both, the same protocol, and as much care with the
    settings of the one as with those of the other. (With [an epsilon that is too
    large][labml_rl.a2c.RMSProp], A2C reached 4% in these games, instead of 16%.) This
    program shows the frames. Below the table it shows the protocol of each side as well
    (left out above), since by default [all play as in their training](agent.py), and
    that need not be the same: DQN takes one action in twenty at random. The rest is up
    to you.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated, Any

import gymnasium
import numpy as np
import tyro

from labml_rl.algorithms import ALGORITHMS
from labml_rl.environments import is_atari
from labml_rl.game import find_game
from labml_rl.runs.command import experiment_of, harmless, parse
from labml_rl.runs.experiment import Experiment, require
from labml_rl.runs.folder import RunError, RunFolder
from labml_rl.runs.loop import refused
from labml_rl.watch import summary
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.many import (
    LEAST_MEDIAN,
    RANDOM_AND_HUMAN,
    WEIGHTS,
    Scores,
    estimated_median,
    human_normalised,
    interquartile_mean,
    interval,
    normalised_scores,
)
from labml_rl.watch.scores import measure

# Two runs that belong together may differ in what is played, in the seed, and in how
# and where they were computed. [None of that][labml_rl.speed] is meant to change what
# is learned.
MAY_DIFFER = {
    *("game", "seed", "workers", "device", "precision", "compile", "players", "halves"),
    *("graphs", "blocks", "few_threads", "keep_memory"),
    *("evaluate_every_frames", "evaluation_games"),
}

# From two runs, the bootstrap makes an interval that is [much too
# narrow][labml_rl.watch.many.interval]. From a few it is still so narrow that the table
# has to say so.
ENOUGH_RUNS, MANY_RUNS = 3, 10


@dataclass(frozen=True, kw_only=True)
class Comparing:
    """
    ## What is asked for

    Args:
        folders: the folder of each run.
        best: compare the [best so far](best.py) of each run, instead of the last.
        games: how many each agent plays.
        workers: how many processes play. None means one for each core.
        device: where the networks are: `cpu`, `cuda`, or `auto` for a GPU if there is
            one.
    """

    folders: Annotated[
        tuple[Path, ...],
        tyro.conf.Positional,
        tyro.conf.arg(metavar="RUN ...", help_behavior_hint="(required)"),
    ]
    best: bool = False
    games: int = 30
    workers: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if not self.folders:
            raise ValueError("compare which runs? Give the folder of each")
        require(self, "games", at_least=1)


@dataclass
class Side:
    """
    ## A side

    Args:
        algorithm: its name.
        frames: how many each of its runs has had.
        settings: what else they have in common.
        best: whether the best of each run plays, and not the last.
        runs: the folder of each run and what it has saved, by game and seed.
        points: what their agents score, the mean of each, in the same order.
        protocols: how they play, in words.
    """

    algorithm: str
    frames: int
    settings: dict[str, Any] = field(default_factory=dict)
    best: bool = False
    runs: dict[str, dict[int, tuple[Path, Saved]]] = field(default_factory=dict)
    points: dict[str, list[float]] = field(default_factory=dict)
    protocols: set[str] = field(default_factory=set)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What two runs of one side have in common."""
        return self.algorithm, self.frames, self.settings

    def named(self, sides: Sequence["Side"]) -> str:
        """
        Args:
            sides: all of them.

        Returns:
            What it is called, with the settings in which it differs from another side
            with its algorithm.
        """
        rivals = [each for each in sides if each.algorithm == self.algorithm]
        differ = {
            name
            for rival in rivals
            for name in rival.settings.keys() | self.settings.keys()
            if rival.settings.get(name) != self.settings.get(name)
        }
        if any(rival.frames != self.frames for rival in rivals):
            differ.discard("total_frames")  # that is said already
        when = "the best of" if self.best else "after"
        name = f"{self.algorithm.upper()} {when} {self.frames:,} frames"
        settings = [f"{name} {self.settings.get(name)}" for name in sorted(differ)]
        return "; ".join([name, *settings])

    def scores(self, games: Sequence[str]) -> Scores:
        """Its human-normalised scores in some games, shape `(R, G)`."""
        return normalised_scores({game: self.points[game] for game in games})


def sides_of(
    folders: Sequence[Path],
    own: type[Experiment[Any]] | None = None,
    protocol: Protocol | None = None,
    *,
    best: bool = False,
) -> list[Side]:
    """
    ## Who is on which side

    Args:
        folders: of the runs.
        own: an experiment that is not the book's, if one is to be compared.
        protocol: how all of them will play.
        best: whether the [best so far](best.py) of each run is to play.

    Returns:
        The sides, in the order in which the first run of each was given.

    Raises:
        RunError: if there is no such run, or if one is given twice.
        CheckpointError: if a checkpoint can't be read.
        ValueError: if a game can't be played like this.
    """
    sides: list[Side] = []
    for folder in folders:
        record = RunFolder(folder).read_record()
        kind = record["algorithm"]
        # Not by its module: the same class may be in `__main__` now, or have been then.
        if own is None or kind in ALGORITHMS:
            experiment = experiment_of(folder)
        elif kind == own.algorithm:
            experiment = own
        else:
            raise RunError(
                f"{folder} is a run of {kind!r}, and this is the program of "
                f"{own.algorithm!r}. To compare two of your own, make them one "
                "experiment, with a setting that switches between them"
            )

        # It is loaded now, so that anything missing is noticed before any game is
        # played.
        saved = Saved.of(folder, experiment, best=best)
        values = asdict(saved.settings)
        settings = {
            key: value for key, value in values.items() if key not in MAY_DIFFER
        }
        if own_code := fingerprints(record):
            settings["code"] = own_code
        if best:
            # How often, and how well, the best was looked for.
            settings["evaluated every"] = values["evaluate_every_frames"]
            settings["evaluation games"] = values["evaluation_games"]
        # A run that was killed may have got further than `run.json` says.
        frames = record["frames"] if best else saved.frames
        new = Side(kind, frames, settings, best)
        side = next((each for each in sides if each.kind == new.kind), new)
        if side is new:
            sides.append(new)
        side.protocols.add(saved.conditions(protocol or Protocol()))
        game = values["game"]
        runs = side.runs.setdefault(find_game(game) if is_atari(game) else game, {})
        if values["seed"] in runs:
            before, _ = runs[values["seed"]]
            raise RunError(
                f"{folder} has the settings, the game and the seed of {before}: give "
                "one of the two"
            )
        runs[values["seed"]] = folder, saved
    if len(sides) > len(ascii_uppercase):
        raise RunError(
            f"these are {len(sides)} sides, since all of them differ in more than game "
            f"and seed. There is room for {len(ascii_uppercase)}"
        )
    return sides


def fingerprints(record: dict[str, Any]) -> str:
    """
    Args:
        record: what `run.json` says.

    Returns:
        The fingerprints of the modules of your own that the run was made with.
    """
    return " ".join(
        dict.fromkeys(
            source["fingerprint"]
            for session in record["sessions"]
            for source in session.get("own_sources", {}).values()
        )
    )


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
        ValueError: if that can't be played, such as on a device that is not here.
        CheckpointError: if a checkpoint is not of its network.
        NotFiniteError: if what a network says is not finite.
        WorkerError: if a game fails in another process, or the process dies.
    """
    agents = [
        (side, game, folder, saved)
        for side in sides
        for game, runs in side.runs.items()
        for folder, saved in runs.values()
    ]
    for side, game, folder, saved in agents:
        result = measure(
            saved,
            protocol,
            games=comparing.games,
            workers=comparing.workers,
            device=comparing.device,
        )
        side.points.setdefault(game, []).append(result.mean)
        print(harmless(f"{folder}: {summary(result)}"), flush=True)


def cell(game: str, points: Sequence[float]) -> str:
    """
    Returns:
        A mean score, with its standard error if there are several runs, and with how
        far it is on the way from random play to a human, if that is known.
    """
    if not points:
        return "not played"
    words = f"{np.mean(points):,.1f}"
    if len(points) > 1:
        words += f" ± {np.std(points, ddof=1) / sqrt(len(points)):,.1f}"
    if game in RANDOM_AND_HUMAN:
        words += f" {human_normalised(game, points).mean():>6,.0%}"
    return words


def rows_of(sides: Sequence[Side]) -> Iterator[tuple[str, list[str]]]:
    """
    ## Row by row

    Args:
        sides: with their points.

    Yields:
        What a row is about, and what it says of each side. Where it is the same for
        all, nothing is said of any side.
    """
    games = list(dict.fromkeys(game for side in sides for game in side.points))
    for game in games:
        yield game, [cell(game, side.points.get(game, [])) for side in sides]

    counted = [
        game
        for game in games
        if game in RANDOM_AND_HUMAN and all(game in side.points for side in sides)
    ]
    if len(games) < 2 and all(len(p) < 2 for s in sides for p in s.points.values()):
        return
    yield "", []
    if not counted:
        yield (
            "Nothing is summed up: no game that a human is known for is on all sides "
            "(0% is random play, 100% a human tester)",
            [],
        )
        return
    counts = {len(side.points[game]) for side in sides for game in counted}
    if any(len({len(side.points[game]) for game in counted}) > 1 for side in sides):
        yield (
            "Nothing is summed up: a side has more runs of one game than of another",
            [],
        )
        return
    named = "all games" if counted == games else ", ".join(counted)
    yield f"human-normalised, {named}:", []
    scores = [side.scores(counted) for side in sides]
    yield "interquartile mean", [f"{interquartile_mean(s):,.0%}" for s in scores]
    if min(counts) >= ENOUGH_RUNS:
        spans = [interval(each) for each in scores]
        yield "  95% interval", [f"{low:,.0%} to {high:,.0%}" for low, high in spans]
        if min(counts) < MANY_RUNS:
            yield f"  (of {min(counts)} runs it is too narrow for that)", []
    yield "mean", [f"{each.mean():,.0%}" for each in scores]
    yield "median", [f"{np.median(each.mean(axis=0)):,.0%}" for each in scores]
    if set(counted) >= WEIGHTS.keys():
        medians = [estimated_median(side.scores(list(WEIGHTS))) for side in sides]
        yield "median of 57, about", [f"{each:,.0%}" for each in medians]
        if min(medians) < LEAST_MEDIAN:
            yield f"  (below {LEAST_MEDIAN:.0%} it is too low to be trusted)", []


def table_of(sides: Sequence[Side]) -> list[str]:
    """
    ## Side by side

    Args:
        sides: with their points.

    Returns:
        The lines of the table, with columns as wide as they need to be.
    """
    letters = list(ascii_uppercase[: len(sides)])
    rows = [("", letters), *rows_of(sides)]
    first = max(len(name) for name, cells in rows if cells) + 1
    widths = [
        max(len(cells[side]) for _, cells in rows if cells) + 3
        for side in range(len(sides))
    ]
    lines = [f"{x}: {s.named(sides)}" for x, s in zip(letters, sides, strict=True)]
    lines.append("")
    for name, cells in rows:
        line = name.ljust(first) if cells else name
        for width, words in zip(widths, cells, strict=False):
            line += words.rjust(width)
        lines.append(line)
    return lines


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
        CheckpointError: if a checkpoint can't be read, or is not of its network.
    """
    comparing, protocol = parse(
        {"comparing": Comparing, "protocol": Protocol},
        arguments,
        command=f"{program} compare",
        description="Let the agents of several runs play, and set them side by side.",
    )
    try:
        with refused():
            sides = sides_of(comparing.folders, own, protocol, best=comparing.best)
            play(sides, comparing, protocol)
    except gymnasium.error.Error as error:
        raise RunError(str(error)) from error
    print("", *map(harmless, table_of(sides)), "", sep="\n")

    # Sides that play alike share a line.
    said: dict[str, list[str]] = {}
    for letter, side in zip(ascii_uppercase, sides, strict=False):
        for conditions in sorted(side.protocols):
            said.setdefault(conditions, []).append(letter)
    for conditions, letters in said.items():
        print(harmless(f"{', '.join(letters)}: {conditions}"))
