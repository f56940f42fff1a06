"""Prioritised replay: trees against sums, chances and weights against the paper."""

import importlib
import pickle
import random
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labml_rl.replay.prioritised import EPSILON, PrioritisedMemory
from labml_rl.replay.trees import SumTree
from labml_rl.runs import checkpoint
from tests.book.peers_of_dqn import labml_dqn
from tests.book.test_replay import Play, assert_all_right, memory_for

__all__ = ["labml_dqn"]
NUMBERS = st.lists(st.sampled_from([0.0, 1e-9, 0.5, 1.0, 3.0, 1e6]), min_size=1)


# --- trees ---


class Loaded:
    """Dice that show what they are told, from 0 up to all but 1."""

    def __init__(self, *, shown: float | None = None, seed: int = 0):
        self.shown, self.dice = shown, np.random.default_rng(seed)

    def random(self, shape):
        if self.shown is not None:
            return np.full(shape, self.shown)
        return self.dice.choice([0.0, 0.25, 0.5, 1 - 2**-53], shape)


@settings(deadline=None)
@given(NUMBERS, st.integers(2, 17), st.integers(1, 9), st.integers(0, 2**32))
def test_a_tree_knows_the_sum(numbers, width, top, seed):
    numbers = np.array(numbers)
    tree = SumTree(len(numbers), width=width, top=top)
    assert tree.root == 0
    # Set in parts, in any order, some of them twice, and to something else at first.
    dice = np.random.default_rng(seed)
    order = dice.integers(len(numbers), size=2 * len(numbers))
    for part in (*np.array_split(order, 3), order[:0], np.arange(len(numbers))):
        tree.set(part, dice.permutation(numbers)[part])
        assert tree.root == pytest.approx(tree.leaves.sum())
    tree.set(np.arange(len(numbers)), numbers)
    root = tree.root
    assert root == pytest.approx(numbers.sum())
    for below, above in pairwise(tree.rows):
        above[: len(below) // width] = -1
    tree.rebuild()
    assert tree.rows[-1].size <= top
    assert tree.root == root


def by_hand(tree, darts):
    """One dart a row: in the last at everything, then at the children of a node."""
    top = tree.rows[-1]
    place = int(np.searchsorted(np.cumsum(top), darts[0], side="right"))
    for row, dart in zip(reversed(tree.rows[:-1]), darts[1:], strict=True):
        ends = np.cumsum(row[place * tree.width : (place + 1) * tree.width])
        place = place * tree.width + int(
            np.searchsorted(ends, dart * ends[-1], "right")
        )
    return place


@settings(deadline=None)
@given(NUMBERS, st.integers(2, 17), st.integers(1, 9))
def test_each_dart_hits_whose_piece_of_the_line_it_is(numbers, width, top):
    tree = SumTree(len(numbers), width=width, top=top)
    tree.set(np.arange(len(numbers)), np.array(numbers))
    if tree.root == 0:
        return
    found = tree.draw(50, np.random.default_rng(3))
    darts = np.random.default_rng(3).random((len(tree.rows), 50))
    darts[0] = (np.arange(50) + darts[0]) / 50 * tree.root
    assert found.tolist() == [by_hand(tree, each) for each in darts.T]


@pytest.mark.parametrize("wrong", [{"width": 1}, {"width": 0}, {"top": 0}])
def test_rows_that_would_never_end_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 2 and top at least 1"):
        SumTree(5_000, **wrong)


@pytest.mark.parametrize("places", [10, 5_000])
def test_of_nothing_but_zeros_none_is_drawn(places):
    with pytest.raises(ValueError, match="all numbers are 0"):
        SumTree(places).draw(3, np.random.default_rng(1))


@pytest.mark.parametrize(("width", "top"), [(2, 1), (3, 5), (8, 4), (32, 1024)])
def test_numbers_are_drawn_as_often_as_they_say(width, top):
    numbers = np.random.default_rng(1).random(100) ** 3
    numbers[::7] = 0
    tree = SumTree(100, width=width, top=top)
    tree.set(np.arange(100), numbers)
    draws, dice = 100_000, np.random.default_rng(2)
    found = np.concatenate([tree.draw(50, dice) for _ in range(draws // 50)])
    counts, chances = np.bincount(found, minlength=100), numbers / numbers.sum()
    deviation = np.sqrt(draws * chances * (1 - chances))
    # Darts in parts of the line vary less than independent ones would.
    assert (np.abs(counts - draws * chances) <= 5 * deviation).all()


@pytest.mark.parametrize("top", [1, 3, 100])
@pytest.mark.parametrize("shown", [0.0, 1 - 2**-53, None])
def test_a_dart_at_an_edge_never_hits_what_is_not_there(top, shown):
    """Half of the numbers are 0, and darts fall where one piece touches the next."""
    dice = np.random.default_rng(1)
    for seed in range(300):
        numbers = dice.random(27) * (dice.random(27) < 0.5)
        if seed % 3 == 0:
            numbers = np.where(numbers > 0, 1e-300, 0)
        numbers[dice.integers(27)] = 0.1
        tree = SumTree(27, width=3, top=top)
        tree.set(np.arange(27), numbers)
        loaded: Any = Loaded(shown=shown, seed=seed)
        found = tree.draw(40, loaded)
        assert (numbers[found] > 0).all()


@pytest.mark.parametrize("copied", [deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_a_tree_that_was_copied_goes_on_by_itself(copied):
    tree = SumTree(3000)
    tree.set(np.arange(3000), np.ones(3000))
    other = copied(tree)
    other.set(np.arange(3000), np.zeros(3000))
    other.set(np.array([7]), np.array([5.0]))
    assert (tree.root, other.root) == (3000, 5)
    assert set(other.draw(50, np.random.default_rng(0)).tolist()) == {7}


def test_the_example_of_the_page():
    tree = SumTree(8, width=2, top=1)
    tree.set(np.arange(8), np.array([3.0, 2, 1, 6, 4, 6, 2, 5]))
    assert [row[:8].tolist() for row in reversed(tree.rows)] == [
        [29],
        [12, 17],
        [5, 7, 10, 7],
        [3, 2, 1, 6, 4, 6, 2, 5],
    ]
    # At the root, at 17 of 29, at 10 of 17, at the 4 of 10: a dart for each row.
    assert by_hand(tree, [0.0, 0.5, 0.5, 0.3]) == 4
    dice: Any
    for shown, place in ((0.0, 0), (0.5, 5)):
        dice = Loaded(shown=shown)
        assert tree.draw(1, dice) == [place]


def test_a_row_of_a_binary_tree_is_as_large_as_the_page_says():
    """labml's page has ⌈N / (D − i + 1)⌉, which is right for the last two."""
    tree = SumTree(2**6, width=2, top=1)
    for i, row in enumerate(reversed(tree.rows)):
        assert len(row) == 2**i
        assert sum(len(above) for above in tree.rows[len(tree.rows) - i :]) == 2**i - 1


# --- against labml ---


def test_labml_finds_the_same_and_weighs_it_the_same(labml_dqn, monkeypatch):
    """
    Where all places are in use: a ring of ours always has one that is not. Theirs
    divides all weights by another number.
    """
    theirs = importlib.import_module("labml_nn.rl.dqn.replay_buffer").ReplayBuffer(
        16, 0.6
    )
    picture = np.zeros((4, 84, 84), np.uint8)
    for _ in range(16):
        theirs.add(picture, 0, 0.0, picture, False)
    dice = np.random.default_rng(1)
    priorities = dice.random(16) * 5 + 0.01
    theirs.update_priorities(range(16), priorities)

    ours = SumTree(16)
    ours.set(np.arange(16), priorities**0.6)
    assert ours.root == pytest.approx(theirs._sum())
    darts = (np.arange(500) + np.random.default_rng(2).random(500)) / 500 * ours.root
    assert ours.draw(500, np.random.default_rng(2)).tolist() == [
        theirs.find_prefix_sum_idx(dart) for dart in darts
    ]

    monkeypatch.setattr(random, "random", iter(dice.random(50)).__next__)
    sampled = theirs.sample(50, beta=0.7)
    powers = ours.leaves[sampled["indexes"]]
    weights = (powers.min() / powers) ** 0.7
    expected = sampled["weights"] / sampled["weights"].max()
    np.testing.assert_allclose(weights, expected, rtol=1e-6)


# --- the memory ---


def prioritised(play, capacity, **options):
    return memory_for(play, capacity, kind=PrioritisedMemory, **options)


def drawable(memory):
    return np.flatnonzero(memory.can_be_drawn(np.arange(memory.size)))


@settings(max_examples=60, deadline=None)
@given(
    num_envs=st.integers(1, 3),
    stack=st.integers(1, 4),
    n=st.integers(1, 4),
    more=st.integers(0, 20),
    steps=st.integers(0, 60),
    ends=st.sampled_from([0.0, 0.2, 1.0]),
    seed=st.integers(0, 2**32),
)
def test_what_has_a_priority_is_what_can_be_drawn(
    *, num_envs, stack, n, more, steps, ends, seed
):
    play = Play(num_envs, stack, seed, ends=ends)
    memory = prioritised(play, num_envs * (stack + n + more), n=n)
    play.play(memory, 0)
    known: dict[int, float] = {}
    for _ in range(steps):
        before = set(drawable(memory))
        play.play(memory, 1, begin=False)
        now = drawable(memory)
        assert np.flatnonzero(memory.tree.leaves).tolist() == now.tolist()

        # The heads move by two at most. What is not near them keeps its priority, and
        # what is new gets the largest.
        for place in now:
            if place not in before:
                assert memory.tree.leaves[place] == memory.largest
            elif place in known:
                assert memory.tree.leaves[place] in (known[place], memory.largest)
        if len(now):
            some = play.dice.permutation(now)[:5]
            memory.update(some, play.dice.normal(size=len(some)))
        known = {place: memory.tree.leaves[place] for place in now}
    assert memory.tree.root == pytest.approx(memory.tree.leaves.sum())
    assert_all_right(play, memory)


def with_errors(exponent, importance=0.4, steps=100, capacity=60):
    play = Play(2, 3, ends=0.3)
    options: dict[str, Any] = {"exponent": exponent, "importance": importance}
    memory = prioritised(play, capacity, n=2, **options)
    play.play(memory, steps)
    places = drawable(memory)
    errors = play.dice.normal(size=len(places)) * 3
    memory.update(places, torch.from_numpy(errors))
    return memory, places, np.abs(errors) + EPSILON


@pytest.mark.parametrize("exponent", [0.0, 0.6, 1.0])
def test_steps_are_drawn_as_often_as_their_priority_says(exponent):
    memory, places, priorities = with_errors(exponent)
    expected = priorities**exponent / (priorities**exponent).sum()
    counts, batches, size = np.zeros(memory.size), 1500, 20
    for _ in range(batches):
        np.add.at(counts, memory.sample(size).places, 1)
    draws = batches * size
    assert counts.sum() == counts[places].sum() == draws
    # Darts in pieces of the line vary less than independent ones would.
    deviation = np.sqrt(draws * expected * (1 - expected))
    assert (np.abs(counts[places] - draws * expected) < 5 * deviation + 1).all()


@pytest.mark.parametrize("importance", [0.0, 0.5, 1.0])
def test_weights_are_those_of_the_paper(importance):
    memory, places, priorities = with_errors(0.6, importance)
    chances = priorities**0.6 / (priorities**0.6).sum()
    weight_of = (1 / (len(places) * chances)) ** importance
    weight_of = dict(zip(places, weight_of, strict=True))
    batch = memory.sample(20)
    expected = np.array([weight_of[each] for each in batch.places])
    found = batch.weights.numpy()
    np.testing.assert_allclose(found, expected / expected.max(), rtol=1e-5)
    assert found.max() == 1


def test_divided_by_the_largest_of_the_memory_weights_would_be_next_to_nothing():
    """A million errors on a bell curve, and batches of 256, as the page has it."""
    dice = np.random.default_rng(1)
    for spread in (0.05, 0.3):
        powers = (np.abs(dice.normal(0, spread, 1_000_000)) + EPSILON) ** 0.6
        tree = SumTree(len(powers))
        tree.leaves[: len(powers)] = powers
        tree.rebuild()
        drawn = powers[[tree.draw(256, dice) for _ in range(100)]]  # (100, 256)
        assert 0.0005 < (powers.min() / drawn).mean() < 0.0025
        assert 0.14 < (drawn.min(axis=1, keepdims=True) / drawn).mean() < 0.19


def test_with_weights_the_mean_over_batches_is_that_of_the_memory():
    """
    Any number that a step may have: its own place, say. What all weights of a batch are
    divided by is put back.
    """
    memory, places, priorities = with_errors(0.6, importance=1.0)
    chances = priorities**0.6 / (priorities**0.6).sum()
    chance_of = dict(zip(places, chances, strict=True))
    batches, size = 3000, 20
    weighted = plain = 0.0
    for _ in range(batches):
        batch = memory.sample(size)
        rewards = memory.rewards[batch.places]
        smallest = min(chance_of[each] for each in batch.places)
        largest = 1 / (len(places) * smallest)
        weighted += (batch.weights.numpy() * rewards).mean() * largest / batches
        plain += rewards.mean() / batches
    truth = memory.rewards[places].mean()
    squares = (memory.rewards[places] ** 2 / chances).mean() / len(places)
    spread = np.sqrt(squares / (batches * size))
    assert abs(weighted - truth) < 5 * spread
    # And it is not for want of a difference.
    assert (
        abs(plain - truth) > abs((chances * memory.rewards[places]).sum() - truth) / 2
    )


def test_priorities_take_memory_too():
    """Which is counted before a run begins, for its checkpoints."""
    memory, _, _ = with_errors(0.6)
    without = super(type(memory), memory).nbytes
    assert memory.nbytes == without + memory.get_state()["priorities"].nbytes


@pytest.mark.parametrize("capacity", [60, 3000])
def test_saved_and_restored_it_draws_the_same(tmp_path, capacity):
    """The larger one has sums in its tree, which are not in the file."""
    memory, _, _ = with_errors(0.6, capacity=capacity)
    checkpoint.save(tmp_path / "state", memory.get_state())
    play = Play(2, 3, ends=0.3)
    other = prioritised(play, capacity, n=2, exponent=0.6, seed=9)
    other.set_state(checkpoint.load(tmp_path / "state"))
    assert other.largest == memory.largest > 1
    for _ in range(3):
        a, b = memory.sample(16), other.sample(16)
        for name, each in vars(a).items():
            assert np.array_equal(each, vars(b)[name]), name
        for each in (memory, other):
            each.update(a.places, np.arange(16.0))
    assert memory.tree.root == pytest.approx(other.tree.root, rel=1e-12)
    with pytest.raises(ValueError, match="without priorities"):
        other.set_state(memory_for(play, 60, n=2).get_state())
    with pytest.raises(ValueError, match=r"with priorities and n = 3. Here .* n = 2"):
        other.set_state(prioritised(play, 60, n=3).get_state())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.nan, "that of place .* is nan"),
        (np.inf, "is inf"),
        (-1.0, r"is -1\.0"),
        (0.0, r"is 0\.0"),
    ],
)
def test_priorities_that_make_no_sense_are_refused_and_change_nothing(bad, message):
    memory, places, _ = with_errors(0.6)
    before, root = memory.tree.leaves.copy(), memory.tree.root
    with pytest.raises(ValueError, match=message):
        memory.set_priorities(places[:3], np.array([1.0, bad, 2.0]))
    if not bad <= 0:
        with pytest.raises(ValueError, match=r"must be finite"):
            memory.update(places[:3], np.array([1.0, bad, 2.0]))
    assert np.array_equal(memory.tree.leaves, before)
    assert memory.tree.root == root


def test_places_without_a_step_are_refused():
    memory, places, _ = with_errors(0.6)
    for place in (memory.heads[0], memory.size, -1):
        with pytest.raises(ValueError, match="has no step that can be drawn"):
            memory.update(np.array([places[0], place]), np.ones(2))
    with pytest.raises(ValueError, match=r"shape \(2,\).* have shape \(1,\)"):
        memory.update(places[:2], np.ones(1))
    with pytest.raises(ValueError, match=r"shape \(2,\).* have shape \(2, 1\)"):
        memory.update(places[:2], np.ones((2, 1)))
    memory.update(places[:0], np.ones(0))


def test_numbers_that_make_no_sense_are_refused():
    for exponent in (-0.1, np.inf, np.nan):
        with pytest.raises(ValueError, match="exponent must be at least 0"):
            prioritised(Play(1, 2), 20, exponent=exponent)
    for importance in (2.0, np.nan):
        with pytest.raises(ValueError, match="importance must be between 0 and 1"):
            prioritised(Play(1, 2), 20, importance=importance)
        memory = prioritised(Play(1, 2), 20)
        with pytest.raises(ValueError, match="importance must be between 0 and 1"):
            memory.importance = importance
        assert memory.importance == 0.4
    with pytest.raises(ValueError, match="can't draw 1 steps"):
        prioritised(Play(1, 2), 20).sample(1)
    # However small, a priority does not vanish, and however large, it has an end.
    play = Play(1, 2)
    memory = prioritised(play, 20, exponent=100.0)
    play.play(memory, 10)
    places = drawable(memory)
    memory.update(places, np.zeros(len(places)))
    assert memory.tree.leaves[places].min() > 0
    memory.update(places, np.full(len(places), 1e6))
    assert np.isfinite([memory.tree.root, memory.largest]).all()
    drawn = [memory.sample(len(places)).places for _ in range(20)]
    assert {*np.concatenate(drawn)} == {*places}


def test_what_is_new_gets_the_largest_priority_that_there_ever_was():
    play = Play(1, 1, ends=0.0)
    memory = prioritised(play, 20)
    play.play(memory, 6)
    assert set(memory.tree.leaves[drawable(memory)]) == {1.0}
    memory.update(drawable(memory), np.full(len(drawable(memory)), 5.0))
    largest = (5 + EPSILON) ** memory.exponent
    memory.update(drawable(memory), np.full(len(drawable(memory)), 0.1))
    before = set(drawable(memory))
    play.play(memory, 1, begin=False)
    (new,) = set(drawable(memory)) - before
    assert memory.largest == pytest.approx(largest)
    assert memory.tree.leaves[new] == pytest.approx(largest)
