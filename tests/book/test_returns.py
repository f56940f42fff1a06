"""Returns and advantages: each identity of the page against its sums, done by hand."""

import importlib
import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import TimeLimit
from hypothesis import given
from hypothesis import strategies as st
from stable_baselines3.common.buffers import RolloutBuffer

from labml_rl.batch import SerialGames
from labml_rl.returns import Rollout, discounted_returns, gae, n_step_returns

FRACTIONS = st.floats(0, 1)


def rollout_with(terminated, truncated, seed=0, dtype=torch.float64):
    """Random numbers, with ends at these places, and NaN where nobody may look."""
    dice = np.random.default_rng(seed)
    steps, games = np.shape(terminated)
    final_values = np.where(truncated, dice.normal(size=(steps, games)), np.nan)
    return Rollout(
        rewards=torch.tensor(dice.normal(size=(steps, games)), dtype=dtype),
        values=torch.tensor(dice.normal(size=(steps + 1, games)), dtype=dtype),
        terminated=torch.tensor(terminated, dtype=torch.bool),
        truncated=torch.tensor(truncated, dtype=torch.bool),
        final_values=torch.tensor(final_values, dtype=dtype),
    )


@st.composite
def rollouts(draw, truncation=True):
    games = draw(st.integers(1, 3))
    # 0: the episode goes on, 1: it is terminated, 2: truncated, 3: both.
    row = st.lists(st.integers(0, 3 if truncation else 1), min_size=games)
    ends = draw(st.lists(row.map(lambda r: r[:games]), min_size=1, max_size=8))
    ends = np.array(ends, dtype=np.int64)
    return rollout_with(ends & 1, ends & 2, draw(st.integers(0, 2**32)))


def return_by_hand(rollout, t, game, discount, n):
    """One reward after the other, and then the value of what follows."""
    total = 0.0
    for k in range(n):
        step = t + k
        total += discount**k * rollout.rewards[step, game].item()
        if rollout.terminated[step, game]:
            return total
        if rollout.truncated[step, game]:
            rest = rollout.final_values[step, game].item()
            return total + discount ** (k + 1) * rest
        if step == len(rollout.rewards) - 1:
            return total + discount ** (k + 1) * rollout.values[-1, game].item()
    return total + discount**n * rollout.values[t + n, game].item()


def by_hand(rollout, discount, n):
    steps, games = rollout.rewards.shape
    return np.array(
        [
            [return_by_hand(rollout, t, game, discount, n) for game in range(games)]
            for t in range(steps)
        ]
    )


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["rewards", "values", "terminated", "truncated", "final_values"]
)
def test_arrays_of_numpy_are_no_tensors(name):
    rollout = rollout_with(np.zeros((3, 2)), np.zeros((3, 2)), dtype=torch.float32)
    with pytest.raises(TypeError, match=f"{name} must be a tensor, not ndarray: "):
        replace(rollout, **{name: getattr(rollout, name).numpy()})
    if name != "final_values":
        with pytest.raises(TypeError, match=f"{name} must be a tensor, not NoneType"):
            replace(rollout, **{name: None})


# --- the sums ---


@given(rollouts(), FRACTIONS)
def test_discounted_returns_are_their_sum(rollout, discount):
    found = discounted_returns(rollout, discount=discount)
    same(found, by_hand(rollout, discount, n=1000))


@given(rollouts(), FRACTIONS, st.integers(1, 10))
def test_n_step_returns_are_their_sum(rollout, discount, n):
    same(n_step_returns(rollout, discount=discount, n=n), by_hand(rollout, discount, n))


@given(rollouts(), FRACTIONS, st.integers(0, 3))
def test_with_all_steps_they_are_the_discounted_returns(rollout, discount, more):
    n = len(rollout.rewards) + more
    same(
        n_step_returns(rollout, discount=discount, n=n),
        discounted_returns(rollout, discount=discount),
    )


@given(rollouts(), FRACTIONS, FRACTIONS)
def test_advantages_are_the_double_sum(rollout, discount, gae_lambda):
    steps, games = rollout.rewards.shape
    expected = np.zeros((steps, games))
    for t in range(steps):
        for game in range(games):
            for k in range(steps - t):
                step = t + k
                # The error of one step: its return of one reward, less its value.
                error = return_by_hand(rollout, step, game, discount, n=1)
                error -= rollout.values[step, game].item()
                expected[t, game] += (discount * gae_lambda) ** k * error
                if rollout.ends[step, game]:
                    break
    same(gae(rollout, discount=discount, gae_lambda=gae_lambda), expected)


@given(rollouts(), FRACTIONS, st.floats(0, 0.8))
def test_advantages_are_the_mixture_of_all_n(rollout, discount, gae_lambda):
    mixture = np.zeros(rollout.rewards.shape)
    weights = 0.0
    # After 150 steps, 0.8 to the power of that many is nothing.
    for n in range(1, 151):
        weight = (1 - gae_lambda) * gae_lambda ** (n - 1)
        returns = n_step_returns(rollout, discount=discount, n=n)
        mixture += weight * (returns - rollout.values[:-1]).numpy()
        weights += weight
    assert weights == pytest.approx(1)
    same(gae(rollout, discount=discount, gae_lambda=gae_lambda), mixture)


@given(st.integers(1, 8), st.floats(0, 1, exclude_max=True))
def test_the_last_part_of_the_mixture_has_the_rest_of_the_weight(parts, gae_lambda):
    """K parts: all but the last as ever, and the last with what the others leave."""
    terminated = np.zeros((parts, 1))
    terminated[-1] = 1
    rollout = rollout_with(terminated, np.zeros((parts, 1)))
    weights = [(1 - gae_lambda) * gae_lambda ** (n - 1) for n in range(1, parts)]
    weights.append(gae_lambda ** (parts - 1))
    assert sum(weights) == pytest.approx(1)
    mixture = sum(
        weight * (return_by_hand(rollout, 0, 0, 0.9, n) - rollout.values[0, 0].item())
        for n, weight in enumerate(weights, start=1)
    )
    same(gae(rollout, discount=0.9, gae_lambda=gae_lambda)[0, 0], mixture)


@given(rollouts(), FRACTIONS, st.integers(1, 8))
def test_errors_telescope(rollout, discount, n):
    """The advantage of n steps is the discounted sum of n errors."""
    errors = gae(rollout, discount=discount, gae_lambda=0.0)
    steps, games = errors.shape
    expected = n_step_returns(rollout, discount=discount, n=n) - rollout.values[:-1]
    for t in range(steps):
        for game in range(games):
            total = 0.0
            for k in range(min(n, steps - t)):
                total += discount**k * errors[t + k, game].item()
                if rollout.ends[t + k, game]:
                    break
            assert total == pytest.approx(expected[t, game].item(), abs=1e-9)


# --- the ends of the scale ---


@given(rollouts(), FRACTIONS)
def test_with_lambda_0_the_advantage_is_the_error_of_one_step(rollout, discount):
    same(
        gae(rollout, discount=discount, gae_lambda=0.0),
        by_hand(rollout, discount, n=1) - rollout.values[:-1].numpy(),
    )


@given(rollouts(), FRACTIONS)
def test_with_lambda_1_the_advantage_is_the_return_less_the_value(rollout, discount):
    same(
        gae(rollout, discount=discount, gae_lambda=1.0),
        discounted_returns(rollout, discount=discount) - rollout.values[:-1],
    )


def test_a_return_by_mental_arithmetic():
    rollout = Rollout(
        rewards=torch.tensor([[1.0], [2.0], [4.0]]),
        values=torch.tensor([[9.0], [9.0], [9.0], [8.0]]),
        terminated=torch.zeros(3, 1, dtype=torch.bool),
        truncated=torch.zeros(3, 1, dtype=torch.bool),
    )
    # 4 + 8/2 = 8, 2 + 8/2 = 6, 1 + 6/2 = 4
    found = discounted_returns(rollout, discount=0.5)
    assert found.tolist() == [[4.0], [6.0], [8.0]]


# --- the ends of episodes ---


def test_what_follows_a_step():
    rollout = Rollout(
        rewards=torch.zeros(4, 1),
        values=torch.tensor([[10.0], [11.0], [12.0], [13.0], [14.0]]),
        terminated=torch.tensor([[False], [True], [False], [True]]),
        truncated=torch.tensor([[False], [False], [True], [True]]),
        final_values=torch.tensor([[torch.nan], [torch.nan], [99.0], [99.0]]),
    )
    # The last one is both, and then nothing follows.
    assert rollout.following.flatten().tolist() == [11.0, 0.0, 99.0, 0.0]
    assert rollout.ends.flatten().tolist() == [False, True, True, True]


@given(rollouts(), FRACTIONS, FRACTIONS, st.data())
def test_nothing_after_an_end_reaches_back(rollout, discount, gae_lambda, data):
    """Whatever the next episode brings, the one before has what it had."""
    end = data.draw(st.integers(0, len(rollout.rewards) - 1))
    rollout.truncated[end] = True
    rollout.final_values[end] = 0.5
    rewards, values = rollout.rewards.clone(), rollout.values.clone()
    rewards[end + 1 :] = torch.nan
    values[end + 1 :] = torch.nan
    other = replace(rollout, rewards=rewards, values=values)
    for function in (
        discounted_returns,
        partial(n_step_returns, n=3),
        partial(gae, gae_lambda=gae_lambda),
    ):
        same(
            function(other, discount=discount)[: end + 1],
            function(rollout, discount=discount)[: end + 1],
        )


def test_games_have_nothing_to_do_with_each_other():
    ends = np.array([[0, 1, 0], [0, 0, 2], [1, 0, 0], [0, 0, 0]])
    together = rollout_with(ends == 1, ends == 2)
    for game in range(3):
        column = slice(game, game + 1)
        alone = Rollout(
            **{name: each[:, column] for name, each in vars(together).items()}
        )
        for function in (
            discounted_returns,
            partial(n_step_returns, n=2),
            partial(gae, gae_lambda=0.9),
        ):
            same(
                function(together, discount=0.9)[:, column],
                function(alone, discount=0.9),
            )


def test_truncated_is_worth_more_than_terminated():
    """A point in each step for ever, and a network that knows it."""
    steps, discount = 5, 0.9
    worth = 1 / (1 - discount)
    over = torch.zeros(steps, 1, dtype=torch.bool)
    over[2] = True
    never = torch.zeros_like(over)
    world = partial(
        Rollout,
        rewards=torch.ones(steps, 1),
        values=torch.full((steps + 1, 1), worth),
        final_values=torch.full((steps, 1), worth),
    )
    cut_off = world(terminated=never, truncated=over)
    lost = world(terminated=over, truncated=never)
    # Who is only cut off has lost nothing, so nothing is better or worse than expected.
    advantages = gae(cut_off, discount=discount, gae_lambda=0.95)
    assert advantages.abs().max() < 1e-5
    advantages = gae(lost, discount=discount, gae_lambda=0.95)
    assert (advantages[:3] < -1).all()
    assert advantages[3:].abs().max() < 1e-5


# --- the games of this book ---


class Count(gymnasium.Env):
    """It shows how often it was called on, and ends with action 1."""

    observation_space = Box(0, np.inf, (1,), np.float32)
    action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.count = 0
        return np.array([self.count], np.float32), {}

    def step(self, action):
        self.count += 1
        return np.array([self.count], np.float32), 1.0, bool(action == 1), False, {}


def test_the_recipe_of_the_page_with_games_that_are_cut_off():
    def value_of(observations):
        return torch.as_tensor(observations[:, 0]) * 10.0

    # Both are cut off after three steps. The second is lost in its second one before.
    actions = np.array([[0, 0], [0, 1], [0, 0], [0, 0], [0, 0]])
    steps, count = actions.shape
    games = SerialGames([lambda: TimeLimit(Count(), 3)] * count)
    observations, _ = games.reset()
    values, final_values = [], torch.full((steps, count), torch.nan)
    rewards, ends = [], []
    for t in range(steps):
        values.append(value_of(observations))
        observations, reward, terminated, truncated, infos = games.step(actions[t])
        rewards.append(torch.as_tensor(reward, dtype=torch.float32))
        ends.append((torch.as_tensor(terminated), torch.as_tensor(truncated)))
        if truncated.any():
            last = np.stack(infos["final_obs"][truncated])
            final_values[t, truncated] = value_of(last)
    values.append(value_of(observations))
    games.close()

    rollout = Rollout(
        rewards=torch.stack(rewards),
        values=torch.stack(values),
        terminated=torch.stack([each[0] for each in ends]),
        truncated=torch.stack([each[1] for each in ends]),
        final_values=final_values,
    )
    assert rollout.following.T.tolist() == [
        [10, 20, 30, 10, 20],
        [10, 0, 10, 20, 30],
    ]


# --- peers ---


def labml_nn_gae():
    with warnings.catch_warnings():
        # Its docstrings have backslashes that Python warns of.
        warnings.simplefilter("ignore")
        return importlib.import_module("labml_nn.rl.ppo.gae").GAE


def advantages_of_labml_nn(rollout, done, discount, gae_lambda):
    """Its arrays have a row for each game, and values the one after the last step."""
    steps, games = rollout.rewards.shape
    estimate = labml_nn_gae()(games, steps, discount, gae_lambda)
    found = estimate(
        done.T.numpy().astype(np.float64),
        rollout.rewards.T.numpy(),
        rollout.values.T.numpy(),
    )
    return found.T  # It answers in float32.


@given(rollouts(truncation=False), FRACTIONS, FRACTIONS)
def test_gae_is_that_of_labml_nn_where_nothing_is_truncated(
    rollout, discount, gae_lambda
):
    theirs = advantages_of_labml_nn(rollout, rollout.terminated, discount, gae_lambda)
    ours = gae(rollout, discount=discount, gae_lambda=gae_lambda)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def test_labml_nn_takes_a_time_limit_for_the_end():
    """What the page says of it."""
    never, over = np.zeros((3, 1)), np.ones((3, 1))
    rollout = rollout_with(never, over)
    theirs = advantages_of_labml_nn(rollout, rollout.ends, 0.9, 0.9)
    lost = replace(rollout, terminated=rollout.truncated)
    same_as_lost = gae(lost, discount=0.9, gae_lambda=0.9)
    np.testing.assert_allclose(theirs, same_as_lost, rtol=1e-5, atol=1e-5)
    ours = gae(rollout, discount=0.9, gae_lambda=0.9)
    assert (abs(theirs - ours.numpy()) > 0.01).all()


@given(rollouts(), FRACTIONS, FRACTIONS)
def test_gae_is_that_of_stable_baselines3(rollout, discount, gae_lambda):
    """It adds what follows a truncation to the reward, and its ends are a row later."""
    steps, games = rollout.rewards.shape
    buffer = RolloutBuffer(
        steps, Box(0, 1, (1,)), Discrete(2), "cpu", gae_lambda, discount, games
    )
    cut_off = (rollout.truncated & ~rollout.terminated).numpy()
    buffer.rewards = rollout.rewards.numpy() + discount * np.where(
        cut_off, rollout.final_values.numpy(), 0.0
    )
    buffer.values = rollout.values[:-1].numpy()
    ends = rollout.ends.numpy()
    buffer.episode_starts[1:] = ends[:-1]
    buffer.compute_returns_and_advantage(rollout.values[-1], ends[-1])
    ours = gae(rollout, discount=discount, gae_lambda=gae_lambda)
    np.testing.assert_allclose(ours, buffer.advantages, rtol=1e-5, atol=1e-5)
    # And the target of the values is what the page says.
    np.testing.assert_allclose(
        ours + rollout.values[:-1], buffer.returns, rtol=1e-5, atol=1e-5
    )


# --- tensors ---


def test_without_final_observations_it_can_be_that_of_rsl_rl():
    """It adds the discounted value of the observation before to the last reward."""
    dice = np.random.default_rng(1)
    ends = dice.integers(0, 3, size=(50, 4))  # 1: terminated, 2: a time limit
    rollout = rollout_with(ends == 1, ends == 2)
    values, dones = rollout.values, rollout.ends
    rewards = rollout.rewards + 0.99 * values[:-1] * rollout.truncated
    expected, later = torch.empty_like(rewards), torch.zeros(4).double()
    for t in reversed(range(50)):
        errors = rewards[t] + 0.99 * ~dones[t] * values[t + 1] - values[t]
        later = expected[t] = errors + 0.99 * 0.95 * ~dones[t] * later
    found = gae(
        replace(rollout, final_values=values[:-1]), discount=0.99, gae_lambda=0.95
    )
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("steps", [1, 5])
def test_shapes_and_types(steps, dtype):
    rollout = rollout_with(np.zeros((steps, 2)), np.zeros((steps, 2)), dtype=dtype)
    for found in (
        rollout.following,
        discounted_returns(rollout, discount=0.9),
        n_step_returns(rollout, discount=0.9, n=2),
        gae(rollout, discount=0.9, gae_lambda=0.9),
    ):
        assert (found.shape, found.dtype) == ((steps, 2), dtype)


def test_no_gradient_goes_through_and_nothing_is_changed():
    rollout = rollout_with([[0, 1], [0, 0]], [[1, 0], [0, 0]])
    rollout = replace(
        rollout,
        rewards=rollout.rewards.requires_grad_(),
        values=rollout.values.requires_grad_(),
        final_values=rollout.final_values.requires_grad_(),
    )
    before = {name: each.detach().clone() for name, each in vars(rollout).items()}
    for found in (
        rollout.following,
        discounted_returns(rollout, discount=0.9),
        n_step_returns(rollout, discount=0.9, n=2),
        gae(rollout, discount=0.9, gae_lambda=0.9),
    ):
        assert not found.requires_grad
    for name, each in vars(rollout).items():
        torch.testing.assert_close(each, before[name], rtol=0, atol=0, equal_nan=True)


GOOD: dict[str, Any] = {
    "rewards": torch.zeros(3, 2),
    "values": torch.zeros(4, 2),
    "terminated": torch.zeros(3, 2, dtype=torch.bool),
    "truncated": torch.zeros(3, 2, dtype=torch.bool),
    "final_values": torch.zeros(3, 2),
}


@pytest.mark.parametrize(
    ("name", "tensor", "message"),
    [
        ("rewards", torch.zeros(3), r"rewards must .* \(T, N\) .* not \(3,\)"),
        ("rewards", torch.zeros(0, 2), r"T > 0, not \(0, 2\)"),
        ("values", torch.zeros(3, 2), r"values must have shape \(4, 2\), not \(3, 2\)"),
        ("values", torch.zeros(4), r"values must have shape \(4, 2\), not \(4,\)"),
        ("terminated", GOOD["terminated"][:2], r"terminated must .* not \(2, 2\)"),
        ("truncated", GOOD["terminated"][:, :1], r"truncated must .* not \(3, 1\)"),
        ("final_values", torch.zeros(4, 2), r"final_values must .* not \(4, 2\)"),
    ],
)
def test_wrong_shapes_are_refused(name, tensor, message):
    with pytest.raises(ValueError, match=message):
        Rollout(**{**GOOD, name: tensor})


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("rewards", torch.int64),
        ("rewards", torch.bfloat16),
        ("values", torch.bfloat16),
        ("values", torch.float64),
        ("terminated", torch.float32),
        ("truncated", torch.uint8),
        ("final_values", torch.float16),
    ],
)
def test_wrong_types_are_refused(name, dtype):
    with pytest.raises(TypeError, match=rf"{name} must be .*, not {dtype}"):
        Rollout(**{**GOOD, name: GOOD[name].to(dtype)})


def test_final_values_are_asked_for_where_they_are_needed():
    some = torch.tensor([[False, False], [True, False], [False, False]])
    without = partial(Rollout, **{**GOOD, "final_values": None})
    with pytest.raises(ValueError, match="final_values are missing"):
        without(truncated=some)
    # Nothing follows an episode that was terminated, too.
    lost = without(terminated=some, truncated=some)
    assert lost.following[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("number", [-0.1, 1.1, float("nan")])
def test_numbers_out_of_bounds_are_refused(number):
    rollout = Rollout(**GOOD)
    with pytest.raises(ValueError, match="discount must be between 0 and 1"):
        discounted_returns(rollout, discount=number)
    with pytest.raises(ValueError, match="discount must be between 0 and 1"):
        n_step_returns(rollout, discount=number, n=1)
    with pytest.raises(ValueError, match="discount must be between 0 and 1"):
        gae(rollout, discount=number, gae_lambda=0.5)
    with pytest.raises(ValueError, match="gae_lambda must be between 0 and 1"):
        gae(rollout, discount=0.5, gae_lambda=number)


def test_no_reward_at_all_is_no_return():
    with pytest.raises(ValueError, match="n must be at least 1, not 0"):
        n_step_returns(Rollout(**GOOD), discount=0.9, n=0)
