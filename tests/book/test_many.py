"""Many games, one number: by hand, by chance, and against what was published."""

import re
import sys
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.shelf import PUBLISHED
from figures import many as figure
from labml_rl.game import available_games
from labml_rl.watch.many import (
    RANDOM_AND_HUMAN,
    WEIGHTS,
    estimated_median,
    human_normalised,
    interquartile_mean,
    interval,
    normalised_scores,
)

SHAPES = st.tuples(st.integers(1, 5), st.integers(1, 7))
SCORES = arrays(np.float64, SHAPES, elements=st.floats(-1e3, 1e3))


def test_the_57_games():
    assert len(RANDOM_AND_HUMAN) == 57
    assert set(RANDOM_AND_HUMAN) < set(available_games())
    assert all(random < human for random, human in RANDOM_AND_HUMAN.values())
    assert set(WEIGHTS) < set(RANDOM_AND_HUMAN)


def test_random_play_is_the_same_for_all_papers():
    names = {name.replace("_", ""): name for name in RANDOM_AND_HUMAN}
    shared = PUBLISHED.keys() & names.keys()
    assert len(shared) > 3
    for game in shared:
        assert RANDOM_AND_HUMAN[names[game]][0] == PUBLISHED[game]["random"]


def test_human_normalised():
    for game, ends in RANDOM_AND_HUMAN.items():
        np.testing.assert_allclose(human_normalised(game, ends), [0, 1], atol=1e-12)
    # What the page says of the two humans.
    assert f"{human_normalised('MsPacman', 3_000):.0%}" == "41%"
    nature = PUBLISHED["mspacman"]
    lead = nature["human"] - nature["random"]
    assert f"{(3_000 - nature['random']) / lead:.0%}" == "18%"
    with pytest.raises(ValueError, match="the nearest is 'pong'"):
        human_normalised("Pongg", 1)
    with pytest.raises(ValueError, match="Pooyan is not one of the 57 games"):
        human_normalised("Pooyan", 1)


def test_scores_of():
    points = {"Pong": [20.2, 19.9, -3.0], "breakout": [434, 412, 1.7]}
    scores = normalised_scores(points)
    assert scores.shape == (3, 2)
    assert scores[1, 1] == human_normalised("Breakout", 412)
    assert scores[2, 0] == human_normalised("Pong", -3)
    with pytest.raises(ValueError, match=r"as the others: \{'Pong': 2, 'qbert': 1\}"):
        normalised_scores({"Pong": [1, 2], "qbert": [3]})
    with pytest.raises(ValueError, match=r"as the others: \{\}"):
        normalised_scores({})
    with pytest.raises(ValueError, match="a score is NaN"):
        normalised_scores({"Pong": [np.nan]})
    for wrong in (20.2, [[20.2, 19.9]]):
        with pytest.raises(ValueError, match="Pong must have a list of scores"):
            normalised_scores({"Pong": wrong, "qbert": wrong})


def test_the_middle_half_by_hand():
    scores = np.array([[8.0, 1.0, 4.0, 2.0], [3.0, 90.0, -70.0, 5.0]])
    assert interquartile_mean(scores) == (2 + 3 + 4 + 5) / 4
    # A quarter of 6 is one and a half: one is left out at each end.
    assert interquartile_mean([[9, 1, 2, 3, 4, -9]]) == (1 + 2 + 3 + 4) / 4
    assert interquartile_mean([[1, 2, 9]]) == 4


@given(SCORES, st.randoms())
def test_laws_of_the_interquartile_mean(scores, dice):
    found = interquartile_mean(scores)
    assert scores.min() - 1e-9 <= found <= scores.max() + 1e-9
    mixed = scores.ravel().tolist()
    dice.shuffle(mixed)
    np.testing.assert_allclose(interquartile_mean([mixed]), found, atol=1e-9)
    # All are above 7,000 then, so that no digits cancel.
    moved = interquartile_mean(3 * scores + 10_000)
    np.testing.assert_allclose(moved, 3 * found + 10_000, rtol=1e-13)
    # Doubling is exact, but for numbers that are next to nothing.
    twice = interquartile_mean(np.stack([scores, 2 * scores]))
    np.testing.assert_allclose(twice, [found, 2 * found], atol=1e-300)


def test_no_single_game_moves_it_far():
    scores = np.linspace(0, 1, 20).reshape(4, 5)
    before = interquartile_mean(scores)
    scores[3, 4] = 1e9
    assert interquartile_mean(scores) == before


def mean_of_all(scores):
    return scores.mean(axis=(-2, -1))


def test_runs_are_drawn_in_each_game_by_itself():
    """Where the runs of a game are alike, no draw makes a difference."""
    low, high = interval(np.tile([0.1, 5.0, 90.0], (4, 1)), mean_of_all)
    assert low == pytest.approx(high) == pytest.approx(95.1 / 3)


def test_an_interval_by_hand():
    """Two runs of one game: their mean is 0, 1/2 or 1, with chances 1, 2 and 1."""
    scores = [[0.0], [1.0]]
    assert interval(scores, mean_of_all) == (0, 1)
    assert interval(scores, mean_of_all, confidence=0.4) == (0.5, 0.5)
    with pytest.raises(ValueError, match="at least two"):
        interval([[1.0, 2.0]])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], "a row for each run"),
        (np.zeros((0, 3)), r"not the shape \(0, 3\)"),
        ([[1.0, 2.0, np.nan, 4.0]] * 2, "a score is NaN"),
    ],
)
@pytest.mark.parametrize("function", [interquartile_mean, interval, estimated_median])
def test_what_are_no_scores(function, scores, message):
    with pytest.raises(ValueError, match=message):
        function(scores)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws at least 1, not 0"),
        ({"confidence": 95}, "between 0 and 1, not 95"),
        ({"statistic": np.mean}, r"must return \(2000,\), not \(\)"),
    ],
)
def test_what_makes_no_interval(options, message):
    with pytest.raises(ValueError, match=message):
        interval([[1.0], [2.0]], **options)


def coverage(runs, games, repeats, seed=0, draws=500):
    """How often the interval has the true number in it."""
    dice = np.random.default_rng(seed)
    hits = []
    for _ in range(repeats):
        means = dice.lognormal(size=games)

        def play(count, means=means):
            return means * dice.normal(1, 1 / 3, size=(count, len(means)))

        low, high = interval(play(runs), draws=draws)
        hits.append(low <= interquartile_mean(play(2_000)) <= high)
    return 100 * np.mean(hits)


def said(pattern, documented):
    """The whole numbers that a docstring has in these places."""
    (found,) = re.findall(pattern, " ".join(documented.__doc__.split()))
    return [int(each) for each in found]


COVERAGE = (
    r"With three runs of each of five games it was (\d+), with ten (\d+). "
    r"With 57 games it was (\d+) with three runs, and (\d+) with ten"
)


def test_with_few_runs_an_interval_is_too_narrow():
    three, ten, *_ = said(COVERAGE, interval)
    assert coverage(3, 5, 400) == pytest.approx(three, abs=5)
    assert coverage(10, 5, 400) == pytest.approx(ten, abs=5)


@pytest.mark.long
@pytest.mark.parametrize("place", range(4))
def test_how_narrow_it_is(place):
    games, runs = divmod(place, 2)
    found = coverage((3, 10)[runs], (5, 57)[games], 2_000, draws=1_000)
    assert found == pytest.approx(said(COVERAGE, interval)[place], abs=2)


def test_the_estimate_by_hand():
    scores = [1.0, 2.0, 0.5, -3.0, 10.0]
    total = sum(
        weight * np.log10(1 + max(0, 100 * score))
        for weight, score in zip(WEIGHTS.values(), scores, strict=True)
    )
    assert estimated_median([scores]) == pytest.approx((10**total - 1) / 100)
    assert estimated_median([[-1.0] * 5]) == 0
    # Runs are averaged first.
    pair = [[s + 1 for s in scores], [s - 1 for s in scores]]
    assert estimated_median(pair) == pytest.approx(estimated_median([scores]))
    assert interval(pair, estimated_median)[0] < estimated_median([scores])
    with pytest.raises(ValueError, match=r"battle_zone, .* and not 4"):
        estimated_median([scores[:4]])


# Table 2 of Hessel et al. (2018).
MEDIANS = {
    **{"dqn": 79, "ddqn": 117, "prioritised": 140, "dueling": 151},
    **{"distributional": 164, "noisy": 118, "rainbow": 223},
}


def test_the_estimates_of_the_page_are_those_of_the_published_scores():
    page = estimated_median.__doc__ or ""
    rows = re.findall(r"\| (.*?) \| (\d+)% \| (\d+)% \|", page)
    names = [
        name.lower().replace("[double](../dqn/__init__.py) ", "d") for name, *_ in rows
    ]
    assert names == list(MEDIANS)
    for name, (_, five, of_57) in zip(names, rows, strict=True):
        scores = figure.normalised(name)
        found = estimated_median([[scores[game] for game in WEIGHTS]])
        assert f"{found:.0%}" == f"{five}%"
        assert int(of_57) == MEDIANS[name]
        assert abs(int(five) / int(of_57) - 1) < 1 / 7
        # Three of the 57 are missing here.
        assert 100 * median(scores.values()) == pytest.approx(MEDIANS[name], rel=0.12)


def test_who_plays_like_the_human_is_at_85():
    assert sum(WEIGHTS.values()) == pytest.approx(0.965, abs=5e-4)
    assert f"{estimated_median(np.ones((1, 5))):.0%}" == "85%"


def test_the_averages_of_the_page_are_those_of_the_published_scores():
    page = " ".join((interquartile_mean.__doc__ or "").split())
    scores = np.array(list(figure.normalised("rainbow").values()))
    mean = scores.mean()
    assert f"The **mean** is {mean:,.0%}," in page
    assert f"The **median** is {np.median(scores):.0%}:" in page
    assert f"the mean of the middle half, {interquartile_mean([scores]):.0%}" in page
    assert f"Rainbow is at {scores.max():,.0%}" in page
    assert (scores >= mean).sum() == 8
    assert 0.45 < scores.max() / len(scores) / mean < 0.5
    assert len(scores) == 54
    scores[np.argsort(scores)[:26]] = 0
    assert f"The **median** is {np.median(scores):.0%}:" in page


def test_the_figure_is_what_the_scores_say(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["figures.many", "--check"])
    figure.main()
    changed = figure.SCORES.read_text().replace(",62010\n", ",52010\n")
    monkeypatch.setattr(figure, "SCORES", tmp_path / "scores.csv")
    figure.SCORES.write_text(changed)
    with pytest.raises(SystemExit, match=r"many-averages\.svg"):
        figure.main()


def test_an_interval_leaves_out_half_at_each_end():
    """A fifth of the draws; with two fifths, it would begin and end at a half."""
    assert interval([[0.0], [1.0]], mean_of_all, confidence=0.6) == (0, 1)


def test_of_three_runs_the_mean_counts():
    scores = np.array([1.0, 2.0, 0.5, -3.0, 10.0])
    three = [scores + 2, scores - 1, scores - 1]
    assert estimated_median(three) == pytest.approx(estimated_median([scores]))
