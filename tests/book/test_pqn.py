"""PQN: its targets, its network, its loop."""

from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from hypothesis import given
from torch import nn

from labml_rl import pqn, small
from labml_rl.bodies import NatureBody, as_blocks
from labml_rl.networks import draw
from labml_rl.players import Players
from labml_rl.pqn import (
    PlaceNorm,
    PQNetwork,
    add_norms,
    epsilon_greedy,
    lambda_returns,
)
from labml_rl.pqn.experiment import Batch, Experiment, Settings
from labml_rl.returns import Rollout, discounted_returns
from labml_rl.runs import checkpoint
from labml_rl.watch.agent import Protocol, Saved
from tests.book.test_examples import numbers, table
from tests.book.test_returns import FRACTIONS, rollouts, same

TINY = Settings(
    game="CartPole-v1",
    workers=0,
    precision="float32",
    num_envs=4,
    steps=8,
    minibatches=4,
    total_frames=4_000,
    epsilon_steps=100,
)


def seen(*shape):
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, shape, generator=generator, dtype=torch.uint8)


# --- targets ---


@given(rollouts(), FRACTIONS, FRACTIONS)
def test_targets_are_the_recursion_of_the_page(rollout, discount, td_lambda):
    steps, games = rollout.rewards.shape
    expected = np.zeros((steps, games))
    for game in range(games):
        for t in reversed(range(steps)):
            follows = rollout.values[t + 1, game].item()
            if rollout.terminated[t, game]:
                follows = 0.0
            elif rollout.truncated[t, game]:
                follows = rollout.final_values[t, game].item()
            mixed = follows
            if not rollout.ends[t, game] and t + 1 < steps:
                later = expected[t + 1, game]
                mixed = (1 - td_lambda) * follows + td_lambda * later
            expected[t, game] = rollout.rewards[t, game].item() + discount * mixed
    same(lambda_returns(rollout, discount=discount, td_lambda=td_lambda), expected)


@given(rollouts(), FRACTIONS)
def test_at_its_ends_lambda_is_one_step_or_all_of_them(rollout, discount):
    one = rollout.rewards + discount * rollout.following
    same(lambda_returns(rollout, discount=discount, td_lambda=0.0), one)
    every = discounted_returns(rollout, discount=discount)
    same(lambda_returns(rollout, discount=discount, td_lambda=1.0), every)


def test_no_gradient_goes_through_the_targets():
    ends = torch.zeros(2, 1, dtype=torch.bool)
    rollout = Rollout(
        rewards=torch.ones(2, 1),
        values=torch.ones(3, 1).requires_grad_(),
        terminated=ends,
        truncated=ends,
    )
    assert not lambda_returns(rollout, discount=0.9, td_lambda=0.5).requires_grad


def test_the_weight_of_the_page_runs_away_and_with_equal_features_it_does_not():
    begin = "steps learned from"
    rows = table(str(pqn.__doc__), begin)
    steps = [int(cell) for cell in rows[begin]]
    for second in (2, 1):
        name = f"$w$, features 1 and {second}"
        weight, found = 1.0, []
        for step in range(max(steps) + 1):
            if step in steps:
                found.append(round(weight, 2))
            weight += 0.1 * (0 + 0.99 * second * weight - weight) * 1
        assert numbers(rows[name]) == pytest.approx(found)


# --- policy ---


def test_the_policy_is_that_of_the_page():
    values = torch.tensor([[0.0, 3.0, 1.0, 2.0], [5.0, 4.0, 4.0, 4.0]])
    found = epsilon_greedy(values, 0.1)
    others = 0.1 / 4
    expected = [[others, 0.9 + others, others, others]]
    expected.append([0.9 + others, others, others, others])
    torch.testing.assert_close(found, torch.tensor(expected))
    assert epsilon_greedy(values, 1.0).tolist() == [[0.25] * 4] * 2
    assert epsilon_greedy(values, 0.0).tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    # Of values that are equal, one is the best.
    assert epsilon_greedy(torch.zeros(1, 3), 0.0).tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_actions_are_drawn_as_often_as_epsilon_says(epsilon):
    network = PQNetwork((3,), 4)
    network.epsilon.fill_(epsilon)
    one = torch.tensor([[0.3, -1.0, 2.0]])
    with torch.no_grad():
        logits, _ = network(one.expand(20_000, 3))
        best = int(network.action_values(one).argmax())
    dice = torch.rand(20_000, generator=torch.Generator().manual_seed(1))
    often = torch.bincount(draw(logits, dice), minlength=4) / 20_000
    expected = torch.full((4,), epsilon / 4)
    expected[best] += 1 - epsilon
    torch.testing.assert_close(often, expected, atol=0.01, rtol=0)
    # What is never to be done is never done.
    assert (often[expected == 0] == 0).all()


# --- the network ---


@pytest.mark.parametrize(("shape", "last"), [((4, 84, 84), False), ((84, 84, 3), True)])
def test_the_network_is_the_authors_layer_by_layer(shape, last):
    """Convolutions with a norm over the channels of each place, in plain PyTorch."""
    network = PQNetwork(shape, 6, channels_last=last)
    for each in network.parameters():
        nn.init.normal_(each, std=0.05)
    kinds = [type(each).__name__ for each in network.body.layers]
    assert kinds == [
        *("FirstConvolution", "PlaceNorm", "ReLU"),
        *("Conv2d", "PlaceNorm", "ReLU") * 2,
        *("Flatten", "Linear", "LayerNorm", "ReLU"),
    ]
    observations = seen(5, *shape)
    numbers = observations.permute(0, 3, 1, 2) if last else observations
    x = numbers.double() / 255
    network64 = deepcopy(network).double()
    for layer in network64.body.layers:
        match layer:
            case nn.Conv2d():
                x = nn.functional.conv2d(x, layer.weight, layer.bias, layer.stride)
            case nn.LayerNorm():
                assert layer.eps == 1e-5
                dims = [1]
                mean = x.mean(dims, keepdim=True)
                var = x.var(dims, unbiased=False, keepdim=True)
                x = (x - mean) / (var + layer.eps).sqrt()
                size = [1, -1] + [1] * (x.ndim - 2)
                x = layer.weight.view(size) * x + layer.bias.view(size)
            case nn.Linear():
                x = x @ layer.weight.T + layer.bias
            case _:
                x = layer(x)
    expected = x @ network64.head.weight.T + network64.head.bias
    with torch.no_grad():
        found = network.action_values(observations)
        policy, best = network(observations)
    torch.testing.assert_close(found.double(), expected, atol=2e-4, rtol=1e-3)
    torch.testing.assert_close(best, found.max(-1).values)
    torch.testing.assert_close(policy.exp(), torch.full((5, 6), 1 / 6))


def test_observations_in_blocks_are_the_same_to_it():
    network = PQNetwork((4, 84, 84), 6)
    observations = seen(3, 4, 84, 84)
    with torch.no_grad():
        whole = network.action_values(observations)
        blocks = network.action_values(as_blocks(observations))
    torch.testing.assert_close(whole, blocks, atol=1e-4, rtol=1e-4)


def test_all_observations_are_equally_large_behind_a_norm():
    norm = PlaceNorm(32)
    dice = torch.Generator().manual_seed(1)
    pictures = torch.randn(2, 32, 5, 7, generator=dice)
    pictures *= torch.tensor([1e-2, 1e3]).view(2, 1, 1, 1)
    found = norm(pictures)
    assert found.shape == pictures.shape
    torch.testing.assert_close(found.mean(1), torch.zeros(2, 5, 7), atol=1e-5, rtol=0)
    length = found.square().sum(1).sqrt()
    torch.testing.assert_close(length[1], torch.full((5, 7), 32**0.5))
    # Numbers of a hundredth are nearly lost in the epsilon, and still larger than that.
    assert (length[0] > 0.9 * 32**0.5).all()


def test_numbers_that_are_all_equal_become_0():
    assert not PlaceNorm(32)(torch.full((1, 32, 2, 2), 7.0)).any()


def test_a_body_has_its_norms_once():
    body = NatureBody((4, 84, 84))
    before = [each for each in body.layers if isinstance(each, nn.Conv2d | nn.Linear)]
    add_norms(body)
    after = [each for each in body.layers if isinstance(each, nn.Conv2d | nn.Linear)]
    assert [id(each) for each in before] == [id(each) for each in after]
    sizes = [e.normalized_shape for e in body.layers if isinstance(e, nn.LayerNorm)]
    assert sizes == [(32,), (64,), (64,), (512,)]


# --- the experiment ---


def test_steps_of_the_optimiser_by_hand():
    """Seven, since RAdam begins to divide with the sixth."""
    settings = replace(TINY, max_gradient_norm=0.05, learning_rate=0.1)
    observations, actions = torch.randn(6, 4), torch.tensor([0, 1, 1, 0, 1, 0])
    returns = torch.linspace(-3, 3, 6)
    with closing(Experiment(settings)) as experiment:
        network = deepcopy(experiment.network)
        batch = Batch(observations, actions, returns)
        found = [experiment.learn(batch) for _ in range(7)]
        moved = list(experiment.network.parameters())
    optimizer = torch.optim.RAdam(network.parameters(), lr=0.1)
    for seen in found:
        values = network.action_values(observations)[range(6), actions]
        loss = (values - returns).square().mean() / 2
        assert seen["loss"].item() == pytest.approx(loss.item())
        assert seen["action_value"].item() == pytest.approx(values.mean().item())
        error = (values - returns).abs().mean()
        assert seen["td_error"].item() == pytest.approx(error.item())
        optimizer.zero_grad()
        loss.backward()
        length = nn.utils.clip_grad_norm_(network.parameters(), 0.05)
        assert seen["gradient_norm"].item() == pytest.approx(length.item())
        assert length > 0.05
        optimizer.step()
    for one, other in zip(network.parameters(), moved, strict=True):
        torch.testing.assert_close(one, other)


class Watched(Experiment):
    """It notes from what it learns, and does not."""

    def __init__(self, settings):
        super().__init__(settings)
        self.noted: list[tuple[torch.Tensor, ...]] = []

    def learn(self, batch):
        self.noted.append((batch.observations, batch.actions, batch.returns))
        return {"loss": batch.returns.new_zeros(())}


def test_each_pass_has_all_steps_in_another_order():
    with closing(Watched(replace(TINY, epochs=3))) as experiment:
        experiment.advance()
        sheet: Any = experiment.games.sheet
        noted = experiment.noted
    assert len(noted) == 3 * 4
    assert {len(actions) for _, actions, _ in noted} == {8}
    orders = set()
    every = sheet.observations[:-1].flatten(0, 1)
    for epoch in range(3):
        part = noted[4 * epoch : 4 * epoch + 4]
        observations = torch.cat([each for each, _, _ in part])
        at = (observations[:, None] == every[None]).all(-1).int().argmax(1)
        assert sorted(at.tolist()) == list(range(32))
        actions = torch.cat([each for _, each, _ in part])
        assert torch.equal(actions, sheet.actions.flatten()[at])
        orders.add(tuple(at.tolist()))
    assert len(orders) == 3


class Changing(Watched):
    """Its weights become others with each batch."""

    def learn(self, batch):
        for each in self.network.parameters():
            each.data.add_(0.1 * torch.randn_like(each))
        return super().learn(batch)


def test_the_targets_are_of_the_network_that_played():
    """The largest action values of then, over the whole update."""
    with closing(Changing(replace(TINY, epochs=2, minibatches=1))) as experiment:
        network = deepcopy(experiment.network)
        experiment.advance()
        sheet: Any = experiment.games.sheet
        first, second = experiment.noted
    with torch.no_grad():
        values = network.action_values(sheet.observations.flatten(0, 1))
    best = values.max(-1).values.view(9, 4)
    torch.testing.assert_close(sheet.values, best)
    assert not (sheet.terminated | sheet.truncated).any()
    later = best[-1]
    for t in reversed(range(8)):
        mixed = 0.35 * best[t + 1] + 0.65 * later if t < 7 else best[-1]
        later = sheet.rewards[t] + 0.99 * mixed
        for game in range(4):
            for observations, _, returns in (first, second):
                row = (observations == sheet.observations[t, game]).all(-1).nonzero()
                torch.testing.assert_close(returns[row.item()], later[game])


def test_it_explores_less_and_less():
    """Four games of eight steps an update, and epsilon as it was when they began."""
    settings = replace(TINY, epsilon_start=0.9, epsilon_end=0.1)
    with closing(Experiment(settings)) as experiment:
        for steps in (0, 32, 64, 96, 128):
            expected = max(0.9 - 0.8 * steps / 100, 0.1)
            metrics, _ = experiment.advance()
            assert metrics["epsilon"] == pytest.approx(expected)
            assert experiment.network.epsilon.item() == pytest.approx(expected)


def test_epsilon_counts_steps_and_not_frames():
    settings = replace(TINY, game="Pong", num_envs=2, steps=4, minibatches=2)
    settings = replace(settings, epsilon_end=0.0, epsilon_steps=16)
    with closing(Watched(settings)) as experiment:
        found = [experiment.advance()[0]["epsilon"] for _ in range(3)]
    assert found == [1.0, 0.5, 0.0]


@pytest.mark.usefixtures("nobody_stays")
def test_epsilon_reaches_those_who_play_elsewhere():
    """With an epsilon of 0 all actions are the best, and with 1 they are not."""
    settings = replace(TINY, workers=2, steps=40, minibatches=1, epochs=1)
    settings = replace(settings, epsilon_end=0.0, epsilon_steps=1)
    with closing(Watched(settings)) as experiment:
        for is_first in (True, False):
            experiment.advance()
            sheet: Any = experiment.games.sheet
            with torch.no_grad():
                now = sheet.observations[:-1].flatten(0, 1)
                best = experiment.network.action_values(now).argmax(-1)
            is_best = (best.view_as(sheet.actions) == sheet.actions).float().mean(0)
            assert isinstance(experiment.games, Players)
            assert len(experiment.games.workers) == 1
            assert (is_best < 0.9).all() if is_first else (is_best == 1).all()


@pytest.mark.usefixtures("nobody_stays")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"game": "Pong", "workers": 2},
        {"game": "Pong", "players": False, "precision": "bfloat16"},
    ],
    ids=["pole", "players", "16 bits"],
)
def test_a_run_that_was_interrupted_comes_to_the_same_end(tmp_path, changes):
    settings = replace(TINY, steps=4, minibatches=2, **changes)
    with closing(Experiment(settings)) as experiment:
        for _ in range(3):
            experiment.advance()
        checkpoint.save(tmp_path / "state", experiment.get_state())
        rest = [experiment.advance() for _ in range(3)]
        with closing(Experiment(settings)) as again:
            again.set_state(checkpoint.load(tmp_path / "state"))
            for each in rest:
                assert again.advance() == each
            for one, other in zip(
                experiment.network.parameters(), again.network.parameters(), strict=True
            ):
                assert torch.equal(one, other)


def test_its_agent_takes_the_best_action():
    network = PQNetwork((4,), 3)
    thoughts = Experiment.think(network, torch.randn(5, 4))
    assert thoughts.action_values is not None
    best = thoughts.action_values.max(-1)
    assert torch.equal(thoughts.values, best.values)
    assert torch.equal(thoughts.probabilities.argmax(-1), best.indices)
    assert thoughts.probabilities.sum() == 5
    saved = Saved(Experiment, TINY, network.state_dict(), 0)
    said = saved.how_it_decides(Protocol())
    assert said == "It takes the best action, and any with probability 0.001"


def test_the_settings_are_the_authors():
    """But for epsilon, whose part of a run is theirs."""
    found = Settings()
    assert (found.num_envs, found.steps) == (128, 32)
    assert (found.epochs, found.minibatches) == (2, 32)
    assert (found.learning_rate, found.max_gradient_norm) == (2.5e-4, 10.0)
    assert (found.discount, found.td_lambda) == (0.99, 0.65)
    assert (found.epsilon_start, found.epsilon_end) == (1.0, 0.001)
    assert found.epsilon_steps * 4 * 10 == found.total_frames == 10_000_000


def test_it_has_no_settings_that_do_nothing():
    names = set(vars(TINY))
    assert not names & {"entropy_coefficient", "value_coefficient", "clip"}
    assert Experiment.needs_plan(TINY) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minibatches": 5}, r"4 · 8 = 32 steps can't be cut into 5 minibatches"),
        ({"minibatches": 0}, "into 0 minibatches"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"epsilon_steps": 0}, "epsilon_steps must be at least 1"),
        ({"epsilon_end": -0.1}, "epsilon_end must be between 0 and 1"),
        ({"epsilon_start": 1.5}, "epsilon_start must be between 0 and 1"),
        ({"td_lambda": 1.5}, "td_lambda must be between 0 and 1"),
        ({"discount": 1.5}, "discount must be between 0 and 1"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"steps": 0}, "steps must be at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changes)


def test_a_number_that_is_out_of_bounds_has_the_name_that_was_given():
    nothing = torch.zeros(1, 1)
    never = torch.zeros(1, 1, dtype=torch.bool)
    rollout = Rollout(
        rewards=nothing, values=torch.zeros(2, 1), terminated=never, truncated=never
    )
    for name in ("discount", "td_lambda"):
        numbers = {"discount": 0.9, "td_lambda": 0.9} | {name: 1.5}
        with pytest.raises(ValueError, match=f"^{name} must be between 0 and 1"):
            lambda_returns(rollout, **numbers)


def test_observations_without_a_body_are_refused():
    with pytest.raises(ValueError, match="with a shape of 3 numbers, or vectors"):
        Experiment.make_network(
            TINY, Box(0, 255, (84, 84), dtype=np.uint8), Discrete(2)
        )


def test_the_small_settings_are_for_the_pole():
    assert small.SmallPQN.settings_class is small.PQNSettings
    assert small.PQNSettings().game == "CartPole-v1"


@pytest.mark.parametrize("shape", [(4,), (4, 84, 84)])
def test_the_weights_begin_orthogonal(shape):
    network = PQNetwork(shape, 6)
    layers = [e for e in network.body.layers if isinstance(e, nn.Conv2d | nn.Linear)]
    for layer, gain in (*((each, 2**0.5) for each in layers), (network.head, 1.0)):
        sizes = torch.linalg.svdvals(layer.weight.flatten(1))
        torch.testing.assert_close(sizes, torch.full_like(sizes, gain))
