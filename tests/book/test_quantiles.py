"""Quantiles: the loss that finds them, and DQN with them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from labml_rl.dqn.dueling import DuelingNetwork
from labml_rl.dqn.experiment import Experiment
from labml_rl.dqn.noisy import NoisyLinear, add_noise
from labml_rl.dqn.quantiles import (
    QuantileNetwork,
    leaning,
    levels_of,
    quantile_loss,
    quantile_targets,
)
from labml_rl.networks import QNetwork
from tests.book.test_distribution import TINY


def numbers(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(shape, generator=generator, dtype=torch.float64)


def by_the_paper(quantiles, targets):
    """Equation 10 of Dabney et al., with a limit of 1, one pair at a time."""
    count = len(quantiles)
    total = 0.0
    for i in range(count):
        level = (2 * (i + 1) - 1) / (2 * count)
        for target in targets:
            u = target - quantiles[i]
            round_bottom = u * u / 2 if abs(u) <= 1 else abs(u) - 0.5
            total += abs(level - (u < 0)) * round_bottom / len(targets)
    return total


def distance(these, those):
    """How far probability has to be carried, as the area between two curves."""
    at = np.sort(np.concatenate([these, those]))
    below = [
        np.searchsorted(np.sort(each), at[:-1], side="right") / len(each)
        for each in (these, those)
    ]
    return (np.abs(below[0] - below[1]) * np.diff(at)).sum()


# --- what a quantile is ---


def test_levels_are_the_middles():
    assert levels_of(4).tolist() == [1 / 8, 3 / 8, 5 / 8, 7 / 8]
    assert levels_of(1).tolist() == [0.5]
    with pytest.raises(ValueError, match="at least 1 quantile, not 0"):
        levels_of(0)


def test_the_middles_are_the_best_choice():
    dice = np.random.default_rng(1)
    returns = np.sort(dice.gamma(2.0, size=4000))
    levels = levels_of(5).double().numpy()
    best = distance(np.quantile(returns, levels), returns)
    for _ in range(100):
        others = np.sort(np.clip(levels + 0.05 * dice.normal(size=5), 0, 1))
        assert distance(np.quantile(returns, others), returns) > best


@pytest.mark.parametrize("level", [0.05, 0.3, 0.5, 0.9])
def test_a_quantile_is_where_the_loss_is_smallest(level):
    """Errors are so large here that the round bottom is of no matter."""
    returns = 1000 * numbers(2001)
    quantile = returns.quantile(level)
    costs = [
        leaning(returns - quantile - shift, torch.tensor(level).double()).mean()
        for shift in (-50, 0, 50)
    ]
    assert costs[1] < min(costs[0], costs[2])


def test_within_the_round_bottom_it_is_an_expectile():
    """The warning of the page: a mean in which one side counts more."""
    returns = numbers(2001) / 20
    assert returns.abs().max() < 0.5
    level = torch.tensor(0.9).double()
    atom = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([atom], max_iter=200, tolerance_change=1e-14)

    def closure():
        optimizer.zero_grad()
        cost = leaning(returns - atom, level).mean()
        cost.backward()
        return cost

    optimizer.step(closure)
    counts = torch.where(returns > atom, level, 1 - level)
    mean = (counts * returns).sum() / counts.sum()
    assert atom.item() == pytest.approx(mean.item(), abs=1e-6)
    assert returns.mean() < atom < returns.quantile(0.9)


# --- the loss ---


def test_the_loss_is_that_of_the_paper():
    quantiles, targets = numbers(9, 7), numbers(9, 7, seed=1)
    weights = torch.rand(9, dtype=torch.float64)
    expected = [
        by_the_paper(*each)
        for each in zip(quantiles.tolist(), targets.tolist(), strict=True)
    ]
    loss, _ = quantile_loss(quantiles, targets)
    assert loss.item() == pytest.approx(np.mean(expected))
    loss, _ = quantile_loss(quantiles, targets, weights)
    assert loss.item() == pytest.approx(np.mean(weights.numpy() * expected))


def test_the_surprise_is_how_far_the_two_are_apart():
    quantiles, targets = numbers(9, 7), numbers(9, 7, seed=1)
    _, surprises = quantile_loss(quantiles.requires_grad_(), targets)
    assert not surprises.requires_grad
    expected = [
        distance(*each)
        for each in zip(quantiles.detach().numpy(), targets.numpy(), strict=True)
    ]
    np.testing.assert_allclose(surprises, expected)
    loss, nothing = quantile_loss(targets.flip(-1), targets)
    assert nothing.tolist() == [0] * 9
    assert loss > 0


def learned(loss_of):
    """Four atoms that learn from returns of −30, −10, 10 and 30, by hand."""
    atoms = torch.zeros(1, 4, requires_grad=True)
    optimizer = torch.optim.Adam([atoms], lr=0.5)
    targets = torch.tensor([[-30.0, -10.0, 10.0, 30.0]])
    for _ in range(1000):
        optimizer.zero_grad()
        loss_of(atoms, targets).backward()
        optimizer.step()
    return atoms.detach()[0].tolist()


def pairs(atoms, targets):
    return targets[:, None, :] - atoms[:, :, None], levels_of(4)[:, None]


def test_the_atoms_come_to_the_quantiles():
    found = learned(lambda atoms, targets: quantile_loss(atoms, targets)[0])
    assert found == pytest.approx([-30, -10, 10, 30], abs=1)


def test_the_other_way_round_they_have_the_same_mean():
    """A slip of the page: each atom learns what another should."""

    def wrong(atoms, targets):
        errors, levels = pairs(atoms, targets)
        return leaning(-errors, levels).mean(-1).sum()

    found = learned(wrong)
    assert found == pytest.approx([30, 10, -10, -30], abs=1)


def test_with_rows_for_columns_all_learn_the_same():
    def wrong(atoms, targets):
        errors, levels = pairs(atoms, targets)
        return leaning(errors, levels.T).mean(-1).sum()

    found = learned(wrong)
    assert max(found) - min(found) < 1e-3


def test_the_mean_of_both_sums_has_a_smaller_gradient():
    atoms, targets = torch.zeros(1, 4, requires_grad=True), numbers(1, 4).float()
    (good,) = torch.autograd.grad(quantile_loss(atoms, targets)[0], atoms)
    (small,) = torch.autograd.grad(leaning(*pairs(atoms, targets)).mean(), atoms)
    torch.testing.assert_close(4 * small, good)


def test_targets_are_shrunk_and_moved():
    following = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    returns, discounts = torch.tensor([10.0, 5.0]), torch.tensor([0.5, 0.0])
    found = quantile_targets(following, returns, discounts)
    assert found.tolist() == [[10.5, 11.0], [5.0, 5.0]]


def test_other_shapes_are_refused():
    one = torch.ones(2)
    with pytest.raises(ValueError, match="following must have shape"):
        quantile_targets(torch.ones(3, 4), one, one)
    with pytest.raises(ValueError, match="same shape"):
        quantile_targets(torch.ones(2, 4), one, torch.ones(1))
    with pytest.raises(ValueError, match="same shape"):
        quantile_loss(torch.ones(2, 3), torch.ones(2, 4))
    with pytest.raises(ValueError, match="same shape"):
        quantile_loss(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 1))
    with pytest.raises(ValueError, match=r"detach\(\)"):
        quantile_loss(torch.ones(2, 3), torch.ones(2, 3).requires_grad_())


# --- in DQN ---


@pytest.mark.parametrize("kind", [QNetwork, DuelingNetwork])
@pytest.mark.parametrize("shape", [(4,), (4, 84, 84)])
def test_a_call_gives_the_means(kind, shape):
    network = QuantileNetwork(kind(shape, 3, atoms=5))
    observations = torch.ones(2, *shape, dtype=torch.uint8)
    with torch.no_grad():
        quantiles = network.quantiles(observations)
        assert quantiles.shape == (2, 3, 5)
        torch.testing.assert_close(network(observations), quantiles.mean(-1))
    add_noise(network, 0.5)
    assert any(isinstance(each, NoisyLinear) for each in network.modules())


@pytest.mark.parametrize("double", [False, True])
def test_learning_from_a_batch_by_hand(double):
    settings = replace(TINY, quantiles=5, double=double, n=2)
    experiment = Experiment(settings)
    experiment.play(60)
    with torch.no_grad():
        for each in experiment.target.parameters():
            each.add_(0.1 * torch.randn_like(each))
    weights = torch.linspace(0.1, 1.0, 16)
    batch = replace(experiment.memory.sample(16), weights=weights)
    surprises, seen = experiment.losses(batch)
    network, target = experiment.network, experiment.target
    assert isinstance(network, QuantileNetwork)
    assert isinstance(target, QuantileNetwork)
    with torch.no_grad():
        online = network.quantiles(batch.next_observations).double().numpy()
        other = target.quantiles(batch.next_observations).double().numpy()
        now = network.quantiles(batch.observations).double().numpy()
    losses, gaps, apart = [], [], []
    for row in range(16):
        best = (online if double else other)[row].mean(-1).argmax()
        discount = batch.discounts[row].item()
        targets = batch.returns[row].item() + discount * other[row, best]
        taken = now[row, batch.actions[row]]
        losses.append(by_the_paper(taken, targets))
        gaps.append(abs(targets.mean() - taken.mean()))
        apart.append(distance(taken, targets))
    np.testing.assert_allclose(surprises, apart, rtol=1e-4, atol=1e-5)
    weighed = np.mean(weights.numpy() * losses)
    assert seen["loss"].item() == pytest.approx(weighed, rel=1e-4)
    assert seen["td_error"].item() == pytest.approx(np.mean(gaps), rel=1e-3)
    action = batch.actions.numpy()
    values = now[np.arange(16), action].mean()
    assert seen["action_value"].item() == pytest.approx(values, rel=1e-4)
    experiment.close()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="quantiles must be at least 1, not 0"):
        replace(TINY, quantiles=0)
    with pytest.raises(ValueError, match="choose one of them"):
        replace(TINY, quantiles=5, distributional=True)

    class Own(Experiment):
        @staticmethod
        def make_network(settings, observation_space, action_space) -> nn.Module:
            return QNetwork((4,), 2)

    with pytest.raises(ValueError, match="must make a QuantileNetwork, not QNetwork"):
        Own(replace(TINY, quantiles=5))
