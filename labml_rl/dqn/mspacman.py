r"""
---
title: Ms. Pac-Man, from the first frame to the film
summary: >-
  A whole project on one page: what the agent sees, its training, the choice of the
  best, its score, and a film of it.
---

# Ms. Pac-Man, from the first frame to the film

All the parts of DQN are there now. This page puts them to use: train an agent, keep the
best one, measure it, and see how it plays. All of it is one command,

```sh
python -m labml_rl.dqn.mspacman \
    --total-frames 5_000_000
```

and it takes an hour and a half or so on two cores. What is shown below comes from it.
If it is stopped with Ctrl-C, the same command goes on where it left off. (It then names
`labml-rl resume`, which trains to the end, but makes no film.) A run that has begun
keeps its number of frames.

## The game

Ms. Pac-Man eats dots in a maze, 10 points each. Four ghosts chase her. There are four
power pills in the corners: for a while after one of these she can eat the ghosts, which
brings 200 points, then 400, 800 and 1,600. She has three lives. A maze is done when its
last dot is eaten, and then another comes.

It is a hard game for DQN. What matters most is rare and far off: the last dots are far
from all the others, and a pill should be kept until the ghosts are near. A human tester
scored 15,693 points and DQN 2,311, after 200 million frames ([Mnih et al.,
2015](https://doi.org/10.1038/nature14236), extended data, table 2). Random play scores
307.

## What the agent sees

![Four grey pictures of the maze, each a little later than the one before, with a ring
around the same place: a ghost is there in the first and in the
last](../../assets/figures/mspacman-frames.png)

This is an observation: four pictures of 84 × 84 pixels, in reading order, each four
frames after the one before. A single picture does not show where anyone is going. Two
would, if all ghosts were in both. But this game draws its four ghosts in turn, and each
is often in only one frame of four, so that the [maximum of two frames](../screen.py)
misses some. Look into the rings: the first and the last picture show a ghost, and the
two between them do not. In a stack of four, nearly every ghost is there at least once.
"""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from labml_rl import runs
from labml_rl.dqn import fast
from labml_rl.game import make_game
from labml_rl.runs import command
from labml_rl.runs.folder import RunError, RunFolder, default_folder
from labml_rl.runs.loop import refused
from labml_rl.runs.record import check_algorithm, settings_of
from labml_rl.screen import Pixels
from labml_rl.watch import summary
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.scores import Result, measure
from labml_rl.watch.video import film


def look(steps: int = 100) -> Pixels:
    """
    ### The observation above

    Buttons are pressed at random for a hundred steps, and then we look.

    Args:
        steps: how many.

    Returns:
        The observation after that, shape `(4, 84, 84)`.
    """
    game = make_game("MsPacman", seed=1)
    dice = np.random.default_rng(1)
    observation, _ = game.reset()
    for _ in range(steps):
        action = int(dice.integers(game.action_space.n))
        observation, _, over, _, _ = game.step(action)
        assert not over
    return observation


@dataclass(frozen=True, kw_only=True)
class Settings(fast.Settings):
    """
    ## The settings

    They are [the fast ones](fast.py), for this game. Every half million frames [the
    agent is measured, and the best is kept](../watch/best.py).
    """

    game: str = "MsPacman"
    evaluate_every_frames: int = 500_000


def train(settings: Settings, keeping: command.Keeping, typed: str) -> Path:
    """
    ## Train

    The [experiment](experiment.py) plays and learns, and the [loop](../runs/loop.py)
    writes down how it goes.

    Args:
        settings: what is trained.
        keeping: where to keep it.
        typed: the command.

    Returns:
        The folder of the run, which is complete.

    Raises:
        RunError: if no agent would be measured on the way. The film is of the best.
    """
    if not 0 < settings.evaluate_every_frames <= settings.total_frames:
        raise RunError(
            "the film is of the best agent that was measured on the way, and none "
            f"would be: evaluate_every_frames is {settings.evaluate_every_frames:,}, "
            f"and the run has {settings.total_frames:,} frames. Say from 1 to that many"
        )
    folder = keeping.folder
    if folder is None:
        with refused():
            folder = default_folder(keeping.runs, fast.Experiment.algorithm, settings)
    minutes = keeping.checkpoint_minutes
    place = RunFolder(folder)
    if place.record.exists():
        check_same(place, settings)
        return runs.resume(fast.Experiment, folder, checkpoint_minutes=minutes)
    return runs.train(
        fast.Experiment,
        settings,
        folder=folder,
        checkpoint_minutes=minutes,
        command=typed,
    )


def check_same(place: RunFolder, settings: Settings) -> None:
    """
    ### The same settings as before

    Args:
        place: a folder with a run.
        settings: those to go on with.

    Raises:
        RunError: if the run has others, or is of another algorithm. How many processes
            play and how long the run is do not count, nor does what is left to the
            machine.
    """
    record = place.read_record()
    check_algorithm(place, record, fast.Experiment.algorithm)
    found = settings_of(record, Settings)
    names = {
        each.name
        for each in fields(Settings)
        if each.name not in ("workers", "total_frames")
        and getattr(settings, each.name) != "auto"
    }
    # However the name of a game is spelled, it has the same folder.
    with refused():
        if default_folder("", "", found) == default_folder("", "", settings):
            names -= {"game", "seed"}
    if other := [n for n in sorted(names) if getattr(found, n) != getattr(settings, n)]:
        raise RunError(
            f"{place} has a run already, with another {' and another '.join(other)}. "
            "To go on with it, leave that as it was. To begin another run, choose "
            "another --folder"
        )


def play(folder: Path, games: int = 30) -> Result:
    """
    ## Measure, and film

    What the best scored in the games that it was chosen by is too high. So [it plays
    other games now][labml_rl.watch.scores.seed_of].

    Args:
        folder: of the run.
        games: how many.

    Returns:
        What it scored in these. The film is in the folder.
    """
    best, protocol = Saved.of(folder, fast.Experiment, best=True), Protocol()
    result = measure(best, protocol, games=games)
    film(best, protocol, folder / "film.mp4")
    print(summary(result))
    print(best.described(protocol))
    return result


def main(arguments: Sequence[str]) -> None:
    """
    ## From the first frame to the film

    Args:
        arguments: what was typed.
    """
    program = "python -m labml_rl.dqn.mspacman"
    settings, keeping = command.parse(
        {"settings": Settings, "keeping": command.Keeping},
        arguments,
        command=program,
        description="Train an agent in Ms. Pac-Man, and film the best.",
    )
    typed = f"{program} {shlex.join(arguments)}".strip()
    play(train(settings, keeping, typed))


# ## What came of it
#
# ![A game of Ms. Pac-Man, and beside it what the agent expects of each
# action](../../assets/films/run-fast-dqn-mspacman-seed-1.mp4){ width=1280 height=720 }
#
# It has learned to eat its way along. What it expects falls as the dots around it run
# out.
#
# ![The score of training over the frames, and dots for the agents that were
# measured](../../assets/figures/run-fast-dqn-mspacman-seed-1.svg)
#
# The line is the average of the last hundred games of training. A dot is an agent that
# was measured, in games for choosing. The [page of results](../../results.md) has the
# scores in games that it was not chosen by. The run has a fortieth of the frames of
# Mnih et al. (2015). After two and a half million, the curve fell by a fifth, came up
# again, and ended a little above where it had been.
# [PPO](../../results.md#ms-pac-man-by-ppo), with twice as many frames, scores half as
# much.
#
# To go on with it, type `labml-rl resume runs/fast-dqn/ms_pacman/seed-1 --total-frames
# 10_000_000`. To try an idea of your own, begin with [a problem that takes a
# minute](../small.py).
#
# This is the last chapter. If you want to read on, [Sutton and
# Barto](http://incompleteideas.net/book/the-book-2nd.html) have the theory, of which
# this book has only what it needs, and [Spinning Up](https://spinningup.openai.com) the
# algorithms for continuous actions. On these games, others have gone further:
# [R2D2](https://openreview.net/forum?id=r1lyTjAqYX), with a DQN that remembers, and
# many actors; [Agent57](https://arxiv.org/abs/2003.13350), the first to be above the
# human tester in all of the 57; [MuZero](https://doi.org/10.1038/s41586-020-03051-4),
# which learns to predict what matters, and searches ahead; and
# [Dreamer](https://arxiv.org/abs/2301.04104), which practises in what it predicts.
if __name__ == "__main__":
    command.run(main, sys.argv[1:])
