r"""
---
title: Watching an agent play
summary: >-
  How to measure a trained agent so that the number means something, and how to film it.
---

# Watching an agent play

After hours of training there is a file with a few million numbers. How well does it
play? And how does it *look* when it plays? One command answers both:

```sh
labml-rl watch results/runs/ppo/breakout/seed-1
labml-rl watch runs/ppo/breakout/seed-1 --games 100
labml-rl watch runs/ppo/breakout/seed-1 --video b.mp4
```

The run in `results` comes with the book, and those in `runs` are yours. The first line
lets an agent play ten games, and prints what it scored in each and on average. The
second lets yours play a hundred. The third makes [a film](video.py) as well, which
shows [what the agent expects](picture.py), and what it is about to do.

## What a score means

"It scores 400 in Breakout" can mean many things. An agent is measured by an
**evaluation**, and two evaluations can be compared only if all of these were the same:

- **Whole games.** In training, an episode may end with each lost life. A score is for
  the whole game: in Breakout, for all five lives.
- **Raw points.** In training, rewards may be clipped to their sign: a 7-point brick
  counts as 1. A score counts all 7.
- **How it decides.** The agents of A2C, PPO and IMPALA learned with actions drawn from
  their policy, and play that way here. Those of DQN take the best action, or with
  probability 0.05 one at random, as its authors did. With DrQ and PQN that probability
  is 0.001. `--greedy` and `--epsilon` change that. Being greedy (in other libraries:
  *deterministic*) is [not always better](#is-greedy-better).
- **How games begin and end.** They begin with up to 30
  [no-ops][labml_rl.game.GameOptions], so that they don't all begin alike, and end after
  30 minutes, 108,000 frames, at the latest. Without that cap, an agent that runs away
  for ever never gets a score. With a longer cap, scores are higher wherever an agent
  can play on and on.
- **Sticky actions** or not: whether the game now and then ignores an action and repeats
  the one before. As in training; `--sticky-actions` changes that.
- **Who presses the button.** In Breakout there is no ball until someone presses it. If
  that was done [for the agent in its training][labml_rl.game.Game.reset], it has never
  seen a screen without a ball, and may wait for ever. So the button is pressed here as
  well. With `--no-serve` only the first ball of a game is served; after a lost life it
  is left to the agent.
- **New seeds.** They draw different numbers of no-ops, and throw different dice for the
  agent and for sticky actions. Without sticky actions there are only thirty beginnings,
  and training has seen them all. Apart from these, only chance in the agent's actions
  makes two games differ. With `--greedy` there is no chance: many Atari games then have
  only thirty different courses, or [fewer](#how-many-games).

All this is printed below the scores, and belongs wherever they are quoted.

A point is worth little in one game and much in another. So to compare across games,
papers give [human-normalised](many.py#one-scale) scores, 0% for random play and 100%
for that of a human tester. How to turn many such scores into one number is on [its own
page](many.py).

Most of these rules are those of the papers that the algorithms come from. [Machado et
al. (2018)](https://doi.org/10.1613/jair.5699) propose others, and many newer papers
follow them: actions are sticky with a probability of 0.25, a lost life does not end an
episode, an agent has all 18 actions in every game, and the scores are those of training
games, at several moments, and not those of the best agent. With
`--sticky-actions 0.25 --no-episodic-life --full-action-space` a run is trained like
that, and its curve has the scores.

## Is greedy better?

Taking the most likely action each time sounds like playing without slips. But an agent
that always takes the same action when it sees the same can be caught in a loop, and
nothing gets it out again. Try it with the agent of [the
film](../ppo/experiment.py#what-it-has-learned):

```sh
labml-rl watch results/runs/ppo/breakout/seed-1 \
    --games 8 --frames-cap 20000 --greedy
```

All eight games are still going when they are cut off, with 302 to 423 points: the agent
returns a ball that flies the same way for ever, and hits no brick. Without `--greedy`,
seven of the eight are over by then, and the mean is 517 ± 68 instead of 381 ± 18. How
much better that is, eight games can't tell: two of them are above 700, and in thirty
the same agent has [434 ± 17](../../results.md#breakout-by-ppo).

## How many games

Ten games (*episodes*) whose standard deviation is a third of their mean give an average
that is right to about a tenth. That is its [standard
error][labml_rl.watch.scores.Result.standard_error], which is printed beside it. If two
agents differ by less than three times that, it may be luck: play more games. To compare
two *algorithms*, no number of games is enough: train several seeds of each, and [set
them side by side](compare.py). With three seeds, [the
interval][labml_rl.watch.many.interval] that it shows is much too narrow, and with ten
it is nearly right. And don't measure many checkpoints to report the best score: [that
one has been lucky](best.py#why-not-by-the-scores-of-training).

!!! warning "Thirty games that are four"
    For its first 264 frames Ms. Pac-Man does not listen to anyone, and by then the
    no-ops are long over. All they change is in which of every four frames the agent
    acts, so there are four beginnings, and not thirty. So it is in Breakout, where no
    ball flies before the button is pressed. An agent of
    [DrQ](../../results.md#two-hours-of-play-by-drq) takes its best action except in one
    of a thousand steps: of one agent's thirty games in Ms. Pac-Man, 28 end with one of
    four scores, and of another's in Breakout all thirty. Their standard error says how
    sure the mean of these four is, and nothing about games that go a little
    differently. With `--epsilon 0.05` or `--sticky-actions 0.25`, hardly two games are
    alike.

!!! warning "Scores that begin again, and a game that stops"
    In many games the score has six digits. After 999,999 comes 0, and ALE takes the
    difference for a reward: in Asterix, Ms. Pac-Man, Up'n Down and Video Pinball it is
    nearly minus a million. An agent that is paid the sign gets −1 for its best move,
    and its best game has a low score, or one below 0.

    Breakout has two walls, and no third: with 864 points the game goes on, but there is
    nothing left to hit. And after 65,536 frames, eighteen minutes, its ball is gone for
    good, whatever is left to play with. Nothing can be scored from then on, but the
    game is only over when it is cut off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import gymnasium
import tyro

from labml_rl.runs.command import experiment_of, harmless, parse
from labml_rl.runs.experiment import Experiment
from labml_rl.runs.folder import RunError
from labml_rl.runs.loop import refused
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.picture import in_digits
from labml_rl.watch.scores import Played, Result, measure


@dataclass(frozen=True, kw_only=True)
class Watching:
    """
    ## What is asked for

    Args:
        run: the folder of the run.
        best: watch [the best so far](best.py), instead of the last.
        games: how many to play and count; 0 only makes the film.
        video: where to write a film of one more game, an mp4.
        all_frames: film all 60 frames a second, instead of 15 pictures.
        workers: how many processes play. None means one for each core.
        device: where the network is: `cpu`, `cuda`, or `auto` for a GPU if there is
            one.
    """

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    best: bool = False
    games: int = 10
    video: Path | None = None
    all_frames: bool = False
    workers: int | None = None
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.games < 0 or (self.games == 0 and self.video is None):
            raise ValueError(
                f"games must be at least 1, or 0 with a video, not {self.games}"
            )
        if self.video is not None and self.video.suffix != ".mp4":
            raise ValueError(f"the name of the video must end in .mp4: {self.video}")
        if self.all_frames and self.video is None:
            raise ValueError("all_frames is for a film; video says where to write one")


def watch(
    experiment_class: type[Experiment[Any]], watching: Watching, protocol: Protocol
) -> Result | None:
    """
    ## Watch

    Args:
        experiment_class: that of the algorithm.
        watching: what is asked for.
        protocol: how the agent plays.

    Returns:
        The games that were counted, if there were any.

    Raises:
        RunError: if there is no such run, or no game that can be played like this.
        CheckpointError: if the checkpoint is not of this network.
        NotFiniteError: if what the network says is not finite.
        WorkerError: if a game fails in another process, or the process dies.
    """
    saved = Saved.of(watching.run, experiment_class, best=watching.best)
    try:
        with refused():
            # The film comes first. Anything missing to make one is noticed at once.
            if watching.video is not None:
                # What writes films is needed for nothing else, and may not be there.
                game = import_module(".video", __package__).film(
                    saved,
                    protocol,
                    watching.video,
                    all_frames=watching.all_frames,
                    device=watching.device,
                )
                print(f"{watching.video}: {in_words(game)}; it does not count")
            result = None
            if watching.games:
                result = measure(
                    saved,
                    protocol,
                    games=watching.games,
                    workers=watching.workers,
                    device=watching.device,
                    report=lambda game: print(in_words(game), flush=True),
                )
                print(summary(result))
            print(harmless(saved.described(protocol)))
    except gymnasium.error.DependencyNotInstalled as error:
        raise RunError(f"to film {saved.settings.game}, {error}") from error
    except gymnasium.error.Error as error:
        raise RunError(str(error)) from error
    return result


def in_words(game: Played) -> str:
    """
    ## In words

    Returns:
        One game in a line.
    """
    cut = ", then cut off" if game.capped else ""
    steps = "step" if game.steps == 1 else "steps"
    return f"{in_points(game.points)} in {game.steps:,} {steps}{cut}"


def in_points(points: float) -> str:
    """
    Returns:
        A score with its unit.
    """
    return f"{in_digits(points)} {'point' if points == 1 else 'points'}"


def summary(result: Result) -> str:
    """
    Returns:
        All games in a line.
    """
    points = result.points
    if len(points) == 1:
        return f"{in_points(points[0])} in a single game, which proves little"
    worst, best = in_digits(min(points)), in_digits(max(points))
    return (
        f"mean {result.mean:,.2f} ± {result.standard_error:,.2f} (standard error), "
        f"median {result.median:,.2f}, standard deviation {result.deviation:,.2f}, "
        f"from {worst} to {best}, {len(points)} games"
    )


def main(
    experiment_class: type[Experiment[Any]] | None,
    arguments: Sequence[str],
    *,
    program: str,
) -> None:
    """
    ## The command

    Args:
        experiment_class: that of the algorithm; `None` finds it.
        arguments: what was typed after `watch`.
        program: what was typed before.
    """
    watching, protocol = parse(
        {"watching": Watching, "protocol": Protocol},
        arguments,
        command=f"{program} watch",
        description="Let a trained agent play whole games, and film it.",
    )
    watch(experiment_class or experiment_of(watching.run), watching, protocol)


# ## Questions
#
# 1. In ten games an agent scores 400 on average, with a standard deviation of 120.
#    Another scores 460, with the same deviation. Is it better?
# 2. How many games would it take for both standard errors to be 12?
# 3. The curve of a run ends at 300, and the agent scores 350 when it is watched. Which
#    is right?
#
# ??? tip "Answers"
#     1. Nobody knows yet. Each mean has a standard error of $120 / \sqrt{10} = 38$, and
#        60 is less than three times that.
#     2. A hundred: $120 / \sqrt{100} = 12$.
#     3. Both. The curve is of the last hundred games of training, by an agent that was
#        still changing, and with DQN one that explored at a different rate. When it is
#        watched, the final agent plays other games.
