"""Distributions of returns, noise in the weights, and both of them in DQN."""

import csv
import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from torch import nn

from labml_rl import runs
from labml_rl.dqn import distribution, following_values, rainbow, taken
from labml_rl.dqn.distribution import (
    DistributionNetwork,
    distribution_loss,
    expectation,
    following_probs,
    make_atoms,
    project,
)
from labml_rl.dqn.dueling import DuelingNetwork
from labml_rl.dqn.experiment import Experiment
from labml_rl.dqn.noisy import NoisyLinear, add_noise
from labml_rl.dqn.rainbow import FastSettings
from labml_rl.dqn.rainbow import Settings as PaperSettings
from labml_rl.dqn.settings import Settings
from labml_rl.networks import QNetwork
from labml_rl.replay import prioritised
from labml_rl.watch.agent import Agent, Protocol, Saved
from tests.book.test_examples import numbers, table

ROOT = Path(__file__).parents[2]
TINY = Settings(
    game="CartPole-v1",
    workers=0,
    num_envs=4,
    total_frames=4_000,
    capacity=2_000,
    warm_up_steps=200,
    learn_every_steps=4,
    batch_size=16,
    lowest_return=0.0,
    highest_return=100.0,
    optimizer_name="adam",
    precision="float32",
)


def distributions(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).softmax(-1)


def by_the_paper(probs, atoms, returns, discounts):
    """Algorithm 1 of Bellemare et al., an atom at a time, with an atom that is hit."""
    lowest, highest = atoms[0], atoms[-1]
    width = (highest - lowest) / (len(atoms) - 1)
    target = np.zeros_like(probs)
    for row, column in itertools.product(*map(range, probs.shape)):
        moved = returns[row] + discounts[row] * atoms[column]
        at = (min(max(moved, lowest), highest) - lowest) / width
        below, above = math.floor(at), math.ceil(at)
        if below == above:
            target[row, below] += probs[row, column]
        else:
            target[row, below] += probs[row, column] * (above - at)
            target[row, above] += probs[row, column] * (at - below)
    return target


# --- the projection ---


@pytest.mark.parametrize(("lowest", "highest", "count"), [(-10, 10, 51), (0, 3, 2)])
def test_the_projection_is_that_of_the_paper(lowest, highest, count):
    atoms = torch.linspace(lowest, highest, count, dtype=torch.float64)
    probs = distributions(60, count)
    dice = torch.Generator().manual_seed(1)
    returns = 6 * torch.randn(60, generator=dice, dtype=torch.float64)
    discounts = torch.rand(60, generator=dice, dtype=torch.float64)
    returns[:20] = returns[:20].round()  # of clipped rewards
    discounts[:10] = 0  # the end of a game
    discounts[10:15] = 1
    found = project(probs, atoms, returns, discounts)
    expected = by_the_paper(*(x.numpy() for x in (probs, atoms, returns, discounts)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(-1), 1)


def test_the_projection_keeps_the_mean_within_the_range():
    atoms = torch.linspace(-10, 10, 51, dtype=torch.float64)
    probs = distributions(40, 51)
    returns = torch.linspace(-1, 1, 40, dtype=torch.float64)
    discounts = torch.full((40,), 0.9, dtype=torch.float64)
    found = expectation(project(probs, atoms, returns, discounts), atoms)
    expected = returns + discounts * expectation(probs, atoms)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # Beyond it, all is taken for the last atom.
    far = project(probs, atoms, returns + 1000, discounts)
    assert far[:, -1].tolist() == pytest.approx([1] * 40)


def test_the_example_of_the_page():
    target = project(
        torch.tensor([[0, 0, 0.5, 0.5, 0]]),
        make_atoms(-2, 2, 5),
        torch.tensor([0.75]),
        torch.tensor([0.5]),
    )
    assert target.tolist() == [[0, 0, 0.125, 0.75, 0.125]]


def test_an_atom_that_was_hit_keeps_its_probability():
    """The end of a game with a reward of 0, and the warning of the page."""
    atoms = make_atoms(-10, 10, 51)
    target = project(distributions(1, 51), atoms, torch.zeros(1), torch.zeros(1))
    assert target[0, 25].item() == pytest.approx(1)
    assert target.sum().item() == pytest.approx(1)


@pytest.mark.parametrize(
    ("lowest", "highest", "count", "says"),
    [
        (-10, 10, 1, "at least 2 atoms, not 1"),
        (5, 5, 51, "must be above the lowest, 5, not 5"),
        (5, -5, 51, "must be above the lowest, 5, not -5"),
    ],
)
def test_atoms_that_make_no_sense_are_refused(lowest, highest, count, says):
    with pytest.raises(ValueError, match=says):
        make_atoms(lowest, highest, count)
    with pytest.raises(ValueError, match=says):
        Settings(lowest_return=lowest, highest_return=highest, atoms=count)


def test_other_shapes_are_refused():
    atoms, one = make_atoms(-1, 1, 3), torch.ones(2)
    with pytest.raises(ValueError, match=r"probs must have shape \(2, 3\)"):
        project(distributions(2, 4), atoms, one, one)
    with pytest.raises(ValueError, match="same shape"):
        project(distributions(2, 3), atoms, one, torch.ones(1))
    with pytest.raises(ValueError, match=r"values must have shape \(2, 5\)"):
        following_probs(distributions(2, 5, 3), torch.zeros(2, 4))
    with pytest.raises(ValueError, match="same shape"):
        distribution_loss(distributions(2, 3).log(), distributions(2, 4))
    with pytest.raises(ValueError, match="same shape"):
        distribution_loss(
            distributions(2, 3).log(), distributions(2, 3), torch.ones(2, 1)
        )
    with pytest.raises(ValueError, match=r"detach\(\)"):
        distribution_loss(
            distributions(2, 3).log(), distributions(2, 3).requires_grad_()
        )


# --- the loss ---


def test_the_loss_is_the_divergence():
    logits = torch.randn(9, 5, dtype=torch.float64, requires_grad=True)
    targets, weights = distributions(9, 5, seed=1), torch.rand(9).double()
    targets[0] = torch.tensor([0, 0, 1, 0, 0])  # log 0 must do no harm
    loss, divergences = distribution_loss(logits.log_softmax(-1), targets, weights)
    expected = nn.functional.kl_div(
        logits.log_softmax(-1), targets, reduction="none"
    ).sum(-1)
    np.testing.assert_allclose(divergences, expected.detach(), atol=1e-12)
    np.testing.assert_allclose(loss.item(), (weights * expected).mean().item())

    # Its gradient is that of the cross-entropy, and one can say it by hand.
    (slope,) = torch.autograd.grad(loss, logits)
    by_hand = weights[:, None] * (logits.detach().softmax(-1) - targets) / 9
    np.testing.assert_allclose(slope, by_hand, atol=1e-12)
    assert not divergences.requires_grad
    same, nothing = distribution_loss(targets.clamp(min=1e-300).log(), targets)
    assert same.item() == pytest.approx(0, abs=1e-12)
    assert nothing.abs().max() < 1e-12


@pytest.mark.parametrize("double", [False, True])
def test_what_follows_is_the_distribution_of_the_best_action(double):
    atoms = make_atoms(-1, 1, 7).double()
    target, online = distributions(30, 4, 7), distributions(30, 4, 7, seed=1)
    chooser = expectation(online if double else target, atoms)
    found = following_probs(target, chooser)
    for row in range(30):
        best = chooser[row].argmax()
        assert torch.equal(found[row], target[row, best])
    # The mean of it is what DQN without distributions would say.
    means = expectation(target, atoms)
    expected = following_values(means, chooser if double else None)
    np.testing.assert_allclose(expectation(found, atoms), expected)


# --- the networks ---


@pytest.mark.parametrize("kind", [QNetwork, DuelingNetwork])
@pytest.mark.parametrize("shape", [(4,), (4, 84, 84)])
def test_a_call_gives_the_means_of_the_distributions(kind, shape):
    atoms = make_atoms(-3, 5, 11)
    network = DistributionNetwork(kind(shape, 6, atoms=11), atoms)
    seen = torch.zeros((2, *shape), dtype=torch.uint8 if len(shape) == 3 else None)
    log_probs = network.log_probs(seen)
    assert log_probs.shape == (2, 6, 11)
    np.testing.assert_allclose(log_probs.exp().sum(-1).detach(), 1, rtol=1e-5)
    expected = log_probs.exp() @ atoms
    np.testing.assert_allclose(network(seen).detach(), expected.detach(), atol=1e-5)
    assert taken(log_probs, torch.tensor([5, 0])).shape == (2, 11)
    # The atoms are settings, and no weights.
    assert "atoms" not in network.state_dict()


def test_each_atom_has_a_value_and_advantages_of_its_own():
    network = DuelingNetwork((4,), 3, atoms=5)
    nn.init.normal_(network.advantage.weight)  # it begins at 0
    numbers = torch.randn(7, 4)
    for_value, for_advantage = network.hidden(network.body(numbers)).chunk(2, -1)
    values = network.value(for_value)  # (7, 5)
    advantages = network.advantage(for_advantage).view(7, 3, 5)
    found = network(numbers)
    for action, atom in itertools.product(range(3), range(5)):
        expected = (
            values[:, atom]
            + advantages[:, action, atom]
            - advantages[:, :, atom].mean(1)
        )
        np.testing.assert_allclose(
            found[:, action, atom].detach(), expected.detach(), atol=1e-6
        )
    # The mean over the actions is the value.
    np.testing.assert_allclose(found.mean(1).detach(), values.detach(), atol=1e-6)


@pytest.mark.parametrize("atoms", [None, 5])
@pytest.mark.parametrize("shape", [(0,), (3,), (3, 2)])
def test_the_mean_is_over_the_actions_however_observations_are_laid_out(shape, atoms):
    network = DuelingNetwork((4,), 3, atoms=atoms)
    nn.init.normal_(network.advantage.weight)  # it begins at 0
    observations = torch.rand(*shape, 4)
    found = network(observations)
    alone = network(observations.view(-1, 4))
    assert found.shape == (*shape, *alone.shape[1:])
    torch.testing.assert_close(found.view_as(alone), alone)


@pytest.mark.parametrize("atoms", [None, 7])
@pytest.mark.parametrize("noisy", [False, True])
def test_at_first_no_action_is_better(atoms, noisy):
    network = DuelingNetwork((4, 84, 84), 6, atoms=atoms)
    if noisy:
        add_noise(network)
    network.eval()
    found = network(torch.randint(0, 256, (3, 4, 84, 84), dtype=torch.uint8))
    assert torch.equal(found, found[:, :1].expand_as(found))
    assert found.std() > 0


def test_noise_put_into_a_network_that_is_measured_is_off():
    network = nn.Sequential(nn.Linear(6, 4)).eval()
    numbers = torch.randn(5, 6)
    before = network(numbers)
    add_noise(network)
    assert torch.equal(network(numbers), before)


def noisy_layer():
    torch.manual_seed(1)
    layer = NoisyLinear(6, 4)
    with torch.no_grad():
        for each in layer.parameters():
            each.normal_()
    return layer


def test_noise_is_that_of_the_paper():
    """With its matrix of noise, made as in the paper, for each row."""
    layer, numbers = noisy_layer(), torch.randn(5, 6)
    torch.manual_seed(3)
    found = layer(numbers)
    torch.manual_seed(3)
    u, v = torch.randn(5, 6), torch.randn(5, 4)
    before, after = u.sign() * u.abs().sqrt(), v.sign() * v.abs().sqrt()
    for row in range(5):
        weight = layer.weight + layer.weight_noise * torch.outer(
            after[row], before[row]
        )
        bias = layer.bias + layer.bias_noise * after[row]
        expected = weight @ numbers[row] + bias
        np.testing.assert_allclose(
            found[row].detach(), expected.detach(), rtol=1e-4, atol=1e-5
        )


def test_the_noise_has_no_mean_and_is_as_large_as_it_should_be():
    layer, numbers = noisy_layer(), torch.randn(6)
    torch.manual_seed(0)
    with torch.no_grad():
        answers = layer(numbers.expand(200_000, 6))
        mean = layer.eval()(numbers[None])[0]
    # The mean of f(u)² is that of |u|, the root of 2 / pi.
    each = math.sqrt(2 / math.pi)
    spread = layer.weight_noise.square() @ numbers.square() * each**2
    # Inputs share no noise, and the bias has that of the output.
    spread = spread + layer.bias_noise.square() * each
    np.testing.assert_allclose(answers.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(answers.var(0), spread.detach(), rtol=0.05)


def test_each_row_has_noise_of_its_own_and_each_call():
    layer, numbers = noisy_layer(), torch.ones(3, 6)
    with torch.no_grad():
        once, again = layer(numbers), layer(numbers)
        assert len(once.unique(dim=0)) == 3
        assert not torch.equal(once, again)
        layer.eval()
        assert torch.equal(layer(numbers), layer(numbers))


def test_noise_is_learned():
    """Where it only does harm, it gets smaller."""
    torch.manual_seed(0)
    layer = NoisyLinear(8, 1)
    before = layer.weight_noise.abs().mean().item()
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
    for _ in range(300):
        numbers = torch.randn(64, 8)
        loss = (layer(numbers)[:, 0] - numbers.sum(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert layer.weight_noise.abs().mean().item() < before / 4


def noises(network: nn.Module) -> list[float]:
    """How large the noise of each layer is at first: one number a layer."""
    layers = [each for each in network.modules() if isinstance(each, NoisyLinear)]
    return [
        noise * each.in_features**0.5
        for each in layers
        for noise in each.weight_noise.unique().tolist()
    ]


def test_only_linear_layers_become_noisy_and_means_stay():
    network = QNetwork((4, 84, 84), 6)
    before = {name: each.clone() for name, each in network.state_dict().items()}
    add_noise(network, 0.1)
    kinds = [type(each) for each in network.modules() if hasattr(each, "weight")]
    assert kinds.count(NoisyLinear) == 2
    assert nn.Linear not in kinds
    after = network.state_dict()
    assert all(torch.equal(after[name], each) for name, each in before.items())
    assert noises(network) == pytest.approx([0.1] * 2)


# --- in DQN ---


def test_learning_from_a_batch_by_hand():
    settings = replace(TINY, distributional=True, double=True, n=2)
    experiment = Experiment(settings)
    experiment.play(60)
    with torch.no_grad():
        for each in experiment.target.parameters():
            each.add_(0.1 * torch.randn_like(each))
    weights = torch.linspace(0.1, 1.0, 16)
    batch = replace(experiment.memory.sample(16), weights=weights)
    errors, seen = experiment.losses(batch)
    network, target = experiment.network, experiment.target
    assert isinstance(network, DistributionNetwork)
    assert isinstance(target, DistributionNetwork)
    atoms = np.linspace(0, 100, 51)
    with torch.no_grad():
        online = network.log_probs(batch.next_observations).exp().numpy()
        other = target.log_probs(batch.next_observations).exp().numpy()
        now = network.log_probs(batch.observations).numpy()
    losses, gaps = [], []
    for row in range(16):
        best = (online[row] @ atoms).argmax()
        expected = by_the_paper(
            other[row, best][None].astype(np.float64),
            atoms,
            batch.returns[row][None].numpy(),
            batch.discounts[row][None].numpy(),
        )[0]
        log_p = now[row, batch.actions[row]]
        there = expected > 0
        losses.append(
            (expected[there] * (np.log(expected[there]) - log_p[there])).sum()
        )
        gaps.append(abs(expected @ atoms - np.exp(log_p) @ atoms))
    np.testing.assert_allclose(errors, losses, rtol=1e-4, atol=1e-5)
    weighed = np.mean(weights.numpy() * losses)
    assert seen["loss"].item() == pytest.approx(weighed, rel=1e-4)
    assert seen["td_error"].item() == pytest.approx(np.mean(gaps), rel=1e-3)
    experiment.close()


def test_noise_explores_without_epsilon():
    settings = replace(TINY, noisy=True, epsilon_start=0.0, epsilon_end=0.0)
    experiment = Experiment(settings)
    assert experiment.epsilon == 1
    while experiment.steps < 200:
        experiment.update()
    assert experiment.epsilon == 0
    # All games see the same, and do not all do the same.
    with torch.no_grad():
        for each in experiment.network.modules():
            if isinstance(each, NoisyLinear):
                each.weight_noise.fill_(1.0)
    experiment.observations = np.zeros_like(experiment.observations)
    with torch.no_grad():
        answers = experiment.answer()
    assert len(answers.unique(dim=0)) == 4
    experiment.close()


def test_with_16_bits_the_target_is_rounded_and_the_rest_is_not():
    settings = replace(TINY, distributional=True, noisy=True, dueling=True)
    experiment = Experiment(replace(settings, precision="bfloat16"))
    target: Any = experiment.target
    layer = target.body.layers[0]
    assert isinstance(layer, NoisyLinear)
    assert layer.weight.dtype == layer.weight_noise.dtype == torch.bfloat16
    experiment.play(60)
    errors, seen = experiment.losses(experiment.memory.sample(16))
    assert errors.dtype == seen["loss"].dtype == torch.float32
    experiment.sync()
    assert layer.weight_noise.dtype == torch.bfloat16
    experiment.close()


@pytest.mark.parametrize(
    ("distributional", "says"),
    [(True, "DistributionNetwork, not QNetwork"), (False, "add_noise")],
)
def test_a_network_of_ones_own_must_have_what_is_switched_on(distributional, says):
    class Own(Experiment):
        @staticmethod
        def make_network(settings, observation_space, action_space):
            return QNetwork(observation_space.shape, action_space.n)

    Own(TINY).close()
    with pytest.raises(ValueError, match=says):
        Own(replace(TINY, distributional=distributional, noisy=not distributional))


def test_a_layer_without_bias_cannot_be_noisy():
    with pytest.raises(ValueError, match="1 has no bias"):
        add_noise(nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2, bias=False)))


def test_an_agent_is_watched_without_noise(tmp_path):
    settings = replace(TINY, noisy=True, distributional=True)
    runs.train(Experiment, replace(settings, total_frames=400), folder=tmp_path / "run")
    saved = Saved.of(tmp_path / "run", Experiment)
    env = gymnasium.make("CartPole-v1")
    spaces = env.observation_space, env.action_space
    agent = Agent(saved, *spaces, Protocol(), "cpu")
    seen = np.ones((3, 4), np.float32)
    (_, once), (_, again) = agent.act(seen), agent.act(seen)
    assert torch.equal(once.values, again.values)
    assert once.values.unique().numel() == 1
    # What it says of returns belongs to the best action.
    assert once.chances is not None
    assert once.atoms is not None
    means = expectation(once.chances, once.atoms)
    np.testing.assert_allclose(means, once.values, rtol=1e-4)
    assert once.chances.shape == (3, 51)


def test_a_lost_point_is_told_from_a_long_rally():
    """
    The reason for it all: two places with the same mean. In one, a coin decides between
    a point won and a point lost. In the other, nothing happens.
    """
    torch.manual_seed(0)
    atoms = make_atoms(-1, 1, 3)
    network = DistributionNetwork(QNetwork((1,), 1, atoms=3), atoms)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    places = torch.tensor([[0.0], [0.0], [1.0], [1.0]])
    points = torch.tensor([1.0, -1.0, 0.0, 0.0])
    targets = project(torch.full((4, 3), 1 / 3), atoms, points, torch.zeros(4))
    for _ in range(300):
        log_probs = taken(network.log_probs(places), torch.zeros(4).long())
        loss, _ = distribution_loss(log_probs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        coin, quiet = network.log_probs(places[::2]).exp()[:, 0].tolist()
        means = network(places)[:, 0]
    assert coin == pytest.approx([0.5, 0, 0.5], abs=0.05)
    assert quiet == pytest.approx([0, 1, 0], abs=0.05)
    assert means.abs().max() < 0.05


@pytest.mark.parametrize("settings", [PaperSettings(), FastSettings()])
def test_rainbow_has_all_six(settings):
    parts = ("double", "dueling", "prioritised", "distributional", "noisy")
    assert all(getattr(settings, part) for part in parts)
    assert (settings.n, settings.priority_exponent) == (3, 0.5)
    assert (settings.atoms, settings.lowest_return) == (51, -10)
    assert settings.highest_return == 10


def test_the_recorded_run_of_rainbow_is_as_the_page_says():
    found = numbers(table(str(rainbow.__doc__), "million")["this run"][:3])
    run = ROOT / "results" / "runs" / "fast-rainbow" / "pong" / "seed-1"
    with (run / "progress.csv").open() as file:
        rows = [
            (float(row["frames"]), float(row["return_mean"] or "nan"))
            for row in csv.DictReader(file)
        ]
    for million, score in zip((3e6, 4e6, 5e6), found, strict=True):
        _, nearest = min((abs(frames - million), mean) for frames, mean in rows)
        assert nearest == pytest.approx(score, abs=0.06)


def test_the_epsilons_of_the_pages_are_those_of_the_papers():
    assert "--adam-epsilon 3.1e-4" in str(distribution.__doc__)
    assert pytest.approx(3.1e-4, rel=0.01) == 0.01 / 32
    assert "--rms-epsilon 6.1e-7" in str(prioritised.__doc__)
    assert Settings().rms_epsilon / 16 == pytest.approx(6.1e-7, rel=0.01)


@pytest.mark.parametrize("changes", [{"noisy": False}, {"noise": 0.0}])
def test_rainbow_without_noise_wants_an_epsilon(changes):
    with pytest.raises(ValueError, match="nothing tries out other actions: give eps"):
        PaperSettings(**changes)
    PaperSettings(**changes, epsilon_start=1.0, epsilon_end=0.01)
    FastSettings(**changes)


def test_the_memory_is_told_the_divergences(monkeypatch):
    settings = replace(TINY, distributional=True, prioritised=True)
    experiment = Experiment(settings)
    experiment.play(60)
    told = []
    monkeypatch.setattr(
        type(experiment.memory),
        "update",
        lambda memory, places, errors: told.append(errors),
    )
    batch = experiment.memory.sample(settings.batch_size)
    monkeypatch.setattr(type(experiment.memory), "sample", lambda *_: batch)
    expected, seen = experiment.losses(batch)
    experiment.learn()
    assert len(told) == 1
    np.testing.assert_allclose(told[0], expected)
    assert expected.mean().item() != pytest.approx(seen["td_error"].item(), rel=0.1)
    experiment.close()


def test_the_noise_is_as_large_as_the_settings_say():
    experiment = Experiment(replace(TINY, noisy=True, noise=0.1))
    found = noises(experiment.network)
    assert found
    assert found == pytest.approx([0.1] * len(found))
    experiment.close()
