r"""
---
title: Many games, one number
summary: >-
  How the scores of many games and many runs become one number, and how sure it is.
symbols:
  normalised: 's_g'
  WEIGHTS: 'w_g'
---

# Many games, one number

Is a new algorithm better than an old one? A single game can't tell: what helps in Pong
may do harm in Q\*bert. So papers take many games, 57 as a rule, and train several
agents for each, from different seeds. That makes hundreds of scores, and everyone wants
*one* number.

There are several such numbers, and they need not agree on which algorithm is better.
This page computes the usual ones, and how sure they are, and shows how five games can
stand for 57. [With runs of your own](compare.py), `labml-rl compare` does it. In a
program:

```python
from labml_rl.watch.many import (
    interquartile_mean,
    interval,
    normalised_scores,
)

# What two agents, from two seeds, scored in each game.
points = {"Pong": [20.2, 19.9], "Breakout": [434, 412]}
scores = normalised_scores(points)
interquartile_mean(scores), interval(scores)
```

A single environment of your own needs no common scale. Give a row for each run, and one
column:

```python
import numpy as np

interval(np.array([[434.0], [412.0], [441.0]]))
```
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labml_rl.game import find_game

Scores = NDArray[np.float64]

# ## One scale
#
# A hundred points are a lot in Breakout, and nothing in Q\*bert. On a scale that all
# games share, random play is 0 and a human tester is 1:
#
# $$\frac{\text{score} - \text{random play}}{\text{human} - \text{random play}}$$
#
# That is the **human-normalised** score (human-*normalized*), mostly in per cent. Here
# is what random play scores, and the human, in the 57 games of the papers. The numbers
# are those of [DQN Zoo](https://github.com/google-deepmind/dqn_zoo), in its
# `atari_data.py`.
#
# !!! warning "Which human"
#     In Ms. Pac-Man, the tester behind these numbers had 6,951.6 points, and the one in
#     [*Nature*](https://doi.org/10.1038/nature14236), who played 49 games (extended
#     data, table 2), 15,693. An agent with 3,000 points is at 41% by one and at 18% by
#     the other. So such a score means nothing unless it says whose numbers it uses. Nor
#     is 100% the play of a master: the tester in *Nature* had practised each game for
#     about two hours. [Toromanoff et al. (2019)](https://arxiv.org/abs/1908.04683)
#     compare agents with people's world records instead.
_TABLE = """
    alien 227.8 7127.7, amidar 5.8 1719.5, assault 222.4 742, asterix 210 8503.3,
    asteroids 719.1 47388.7, atlantis 12850 29028.1, bank_heist 14.2 753.1,
    battle_zone 2360 37187.5, beam_rider 363.9 16926.5, berzerk 123.7 2630.4,
    bowling 23.1 160.7, boxing 0.1 12.1, breakout 1.7 30.5, centipede 2090.9 12017,
    chopper_command 811 7387.8, crazy_climber 10780.5 35829.4, defender 2874.5 18688.9,
    demon_attack 152.1 1971, double_dunk -18.6 -16.4, enduro 0 860.5,
    fishing_derby -91.7 -38.7, freeway 0 29.6, frostbite 65.2 4334.7,
    gopher 257.6 2412.5, gravitar 173 3351.4, hero 1027 30826.4, ice_hockey -11.2 0.9,
    jamesbond 29 302.8, kangaroo 52 3035, krull 1598 2665.5,
    kung_fu_master 258.5 22736.3, montezuma_revenge 0 4753.3, ms_pacman 307.3 6951.6,
    name_this_game 2292.3 8049, phoenix 761.4 7242.6, pitfall -229.4 6463.7,
    pong -20.7 14.6, private_eye 24.9 69571.3, qbert 163.9 13455,
    riverraid 1338.5 17118, road_runner 11.5 7845, robotank 2.2 11.9,
    seaquest 68.4 42054.7, skiing -17098.1 -4336.9, solaris 1236.3 12326.7,
    space_invaders 148 1668.7, star_gunner 664 10250, surround -10 6.5,
    tennis -23.8 -8.3, time_pilot 3568 5229.2, tutankham 11.4 167.6,
    up_n_down 533.4 11693.2, venture 0 1187.5, video_pinball 16256.9 17667.9,
    wizard_of_wor 563.5 4756.5, yars_revenge 3092.9 54576.9, zaxxon 32.5 9173.3
"""
RANDOM_AND_HUMAN = {
    game: (float(random), float(human))
    for game, random, human in map(str.split, _TABLE.split(","))
}


def human_normalised(game: str, points: ArrayLike) -> Scores:
    """
    Args:
        game: its name, in [any spelling][labml_rl.game.find_game].
        points: what was scored, any shape.

    Returns:
        The same on the common scale, where 1 is the human.

    Raises:
        ValueError: if there is no such game, or if it is not one of the 57.
    """
    name = find_game(game)
    if name not in RANDOM_AND_HUMAN:
        raise ValueError(
            f"{game} is not one of the 57 games that a human tester is known for. "
            "labml_rl.watch.many.RANDOM_AND_HUMAN has them all"
        )
    random, human = RANDOM_AND_HUMAN[name]
    return (np.asarray(points, dtype=np.float64) - random) / (human - random)


def normalised_scores(points: Mapping[str, ArrayLike]) -> Scores:
    """
    Args:
        points: what each run scored, by game.

    Returns:
        The same on the common scale, shape `(R, G)`: a row for each of `R` runs, and a
        column for each of `G` games.

    Raises:
        ValueError: if a game is not one of the 57, or has more runs than another, or
            something else than a list of scores.
    """
    for game, each in points.items():
        if np.ndim(each) != 1:
            raise ValueError(
                f"{game} must have a list of scores, one of each run, not {each!r}"
            )
    columns = [human_normalised(game, each) for game, each in points.items()]
    counts = {game: np.size(each) for game, each in points.items()}
    if len(set(counts.values())) != 1:
        raise ValueError(f"every game must have as many runs as the others: {counts}")
    return checked(np.stack(columns, axis=1))


def checked(scores: ArrayLike) -> Scores:
    """
    Args:
        scores: shape `(…, R, G)`.

    Returns:
        The same in an array.

    Raises:
        ValueError: if the shape is wrong, or a score is not a number.
    """
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim < 2 or not array.size:
        raise ValueError(
            "scores must have a row for each run and a column for each game, and not "
            f"the shape {array.shape}"
        )
    if np.isnan(array).any():
        raise ValueError("a score is NaN: a run is missing, or went wrong")
    return array


def interquartile_mean(scores: ArrayLike) -> Scores:
    """
    ## Which average

    These are the best scores of [Rainbow](../dqn/rainbow.py) in 200 million frames, in
    the 54 of the 57 games for which we have them from [its
    paper](https://arxiv.org/abs/1710.02298). Each dot is a game:

    ![Human-normalised scores of Rainbow in 54 games, from the worst to the best, on a
    scale that goes up by factors of ten: the median is 227%, the interquartile mean
    271%, and the mean 1,389%, which only eight games
    reach](../../assets/figures/many-averages.svg)

    - The **mean** is 1,389%, and only eight games are that good. Nearly half of it
      comes from a single game. In Video Pinball the tester was hardly better than
      random play, so Rainbow is at 36,689%. For a high mean, work on Video Pinball.
    - The **median** is 227%: half of the games are better, and half are worse. It does
      not say how much worse. An agent that scores 0 in 26 of the 54 games can have the
      same median.
    - The **interquartile mean**, or IQM, is the mean of the middle half, 271%. A
      quarter of all scores is left out at the top, where one game can outweigh all the
      others, and a quarter at the bottom. [Agarwal et al.
      (2021)](https://arxiv.org/abs/2108.13264) recommend it, since it is not as easily
      moved by chance as the median. Their library,
      [rliable](https://github.com/google-research/rliable), has it, and much more.

    Two of its measures are not averages. The **probability of improvement** is how
    often a run of one algorithm scores more than one of the other, averaged over the
    games. A **performance profile** is a curve: the share of runs that are above a
    score, for each score.

    Here the score of each run counts on its own; those of one game are not averaged
    first. In the example at the top, they are 115.0% and 115.9% in Pong, and 1,425% and
    1,501% in Breakout. A quarter of four is one, which is left out at each end. So what
    counts is the mean of 115.9% and 1,425%, which is 770%.

    Args:
        scores: human-normalised, shape `(…, R, G)` for `R` runs of `G` games.

    Returns:
        Their interquartile mean, shape `(…)`. If a quarter is not a whole number of
        scores, it is rounded down.

    Raises:
        ValueError: if the shape is wrong, or a score is not a number.
    """
    array = checked(scores)
    each = np.sort(array.reshape(*array.shape[:-2], -1))  # (…, R · G)
    out = each.shape[-1] // 4
    return each[..., out : each.shape[-1] - out].mean(axis=-1)


def interval(
    scores: ArrayLike,
    statistic: Callable[[Scores], Scores] = interquartile_mean,
    *,
    draws: int = 2_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """
    ## How sure

    With other seeds there would have been other agents, and another number. How
    different could it be? Hardly anyone can train everything a hundred times to find
    out. The **bootstrap** pretends to have done so: from the runs that there are it
    draws just as many, some of them twice and some not at all, and computes the number
    anew. It does so two thousand times. The middle 95% of all these numbers span the
    **interval**. (To [bootstrap](../returns.py) a return is something else: the two
    have only their name in common.)

    If the intervals of two algorithms are far apart, seeds are an unlikely reason. If
    they overlap, that does not prove that the two are equally good.

    Runs are drawn for each game separately. Otherwise a draw might have no Pong at all,
    and three of Q\\*bert. This is called *stratified*.

    !!! warning "With few runs it is too narrow"
        Three runs can be drawn in only a few ways, and all the results lie between the
        worst and the best of the three. We tried it out with made-up scores: normally
        distributed, with a standard deviation of a third of a game's mean. (These means
        differ widely: nine of ten lie between 0.2 and 5.) How often is the true number
        in the interval? It should be 95 times out of 100. With three runs of each of
        five games it was 77, with ten 91. With 57 games it was 87 with three runs, and
        93 with ten.

    And no interval knows what else was different: the code, the settings, how long the
    agents were trained, and how often someone had tried before.

    Args:
        scores: human-normalised, shape `(R, G)`.
        statistic: what is computed from scores of shape `(…, R, G)`. Its result has
            the shape `(…)`. For the mean, that is `lambda s: s.mean(axis=(-2, -1))`.
        draws: how often.
        confidence: what share of the draws lies in the interval.
        seed: of the draws.

    Returns:
        Where it begins, and where it ends.

    Raises:
        ValueError: if a score is not a number, if an argument makes no sense, or if
            there are fewer than two runs of each game, since one does not say how far
            apart runs are.
    """
    array = checked(scores)
    if array.ndim != 2 or not 0 < confidence < 1 or draws < 1:
        raise ValueError(
            "scores must have the shape (R, G), not "
            f"{array.shape}; confidence must be between 0 and 1, not {confidence}; and "
            f"draws at least 1, not {draws}"
        )
    runs, games = array.shape
    if runs < 2:
        raise ValueError(
            "with a single run of each game, nobody knows how far runs are apart: an "
            "interval takes at least two"
        )
    dice = np.random.default_rng(seed)
    drawn = dice.integers(runs, size=(draws, runs, games))
    numbers = statistic(array[drawn, np.arange(games)])  # (draws,)
    if np.shape(numbers) != (draws,):
        raise ValueError(
            f"of scores with the shape {(draws, runs, games)}, the statistic must "
            f"return {(draws,)}, not {np.shape(numbers)}: it sums up the last two axes"
        )
    beyond = (1 - confidence) / 2
    low, high = np.quantile(numbers, [beyond, 1 - beyond])
    return float(low), float(high)


# ## Five games for 57
#
# 57 games with five seeds are 285 training runs, and hardly anyone outside a few large
# firms does that. But games are alike: an algorithm that is good at one is mostly good
# at its relatives. So [Aitchison et al. (2023)](https://arxiv.org/abs/2210.02019)
# looked for the five games that best predict the median of all 57, given the published
# scores of 62 algorithms. They found these, with these weights. [In this book PPO, PQN
# and A2C](../../results.md#five-games-by-ppo-pqn-and-a2c) have learned them:
WEIGHTS = {
    "battle_zone": 0.3820,
    "double_dunk": 0.0679,
    "name_this_game": 0.3108,
    "phoenix": 0.1241,
    "qbert": 0.0805,
}

# The authors used only algorithms whose median is above this.
LEAST_MEDIAN = 0.4


def estimated_median(scores: ArrayLike) -> Scores:
    r"""
    ### The estimate

    With the score $s_g$ of each of the five, human-normalised and in per cent, the
    median is about

    $$10^{\sum_g w_g \log_{10} (1 + \max(0, s_g))} - 1$$

    per cent. So the logarithms of the scores are averaged: doubling the score in Battle
    Zone counts the same, whether from 20 to 40 or from 200 to 400. Here is what it says
    of the seven algorithms in Rainbow's paper, and the median of all games, as the
    paper gives it. (The prioritised and the dueling one use double Q-learning, too.)

    | algorithm | five games | 57 games |
    |---|---|---|
    | DQN | 90% | 79% |
    | [double](../dqn/__init__.py) DQN | 109% | 117% |
    | prioritised | 156% | 140% |
    | dueling | 139% | 151% |
    | distributional | 153% | 164% |
    | noisy | 106% | 118% |
    | Rainbow | 225% | 223% |

    No estimate is off by more than a seventh. But prioritised DQN, which is the fourth
    best by 57 games, is the second best by five: five games cannot tell apart what is
    this close together. The authors give 10% as the mean error for algorithms that the
    weights were not fitted to.

    !!! warning "Not for agents that have learned little"
        All 62 algorithms had a median of more than 40%. Nobody has tried the estimate
        on an agent that is worse than that. And it is a little off in any case: as the
        weights add up to 0.965, an agent that plays like the human in all five games
        gets 85%.

    Args:
        scores: human-normalised, 1 for the human, shape `(…, R, 5)`: the games of
            [WEIGHTS][] in that order, with `R` runs, whose mean counts.

    Returns:
        The estimate, 1 for the human, shape `(…)`.

    Raises:
        ValueError: if there are not five games, or if a score is not a number.
    """
    array = checked(scores)
    if array.shape[-1] != len(WEIGHTS):
        raise ValueError(
            f"the last axis must have the five games {', '.join(WEIGHTS)}, and not "
            f"{array.shape[-1]}"
        )
    normalised = 100 * array.mean(axis=-2)  # (…, 5)
    logarithms = np.log10(1 + np.maximum(0, normalised))
    return (10 ** (logarithms @ np.array(list(WEIGHTS.values()))) - 1) / 100
