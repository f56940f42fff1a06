"""DQN: its losses against formulas, other libraries and a game that can be solved."""

import importlib
import itertools
import platform
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import smooth_l1_loss

from labml_rl import runs
from labml_rl.bodies import NatureBody, VectorBody, as_blocks
from labml_rl.dqn import following_values, huber, taken, td_loss
from labml_rl.dqn.dueling import DuelingNetwork
from labml_rl.dqn.experiment import Experiment
from labml_rl.dqn.exploring import Linear, explore
from labml_rl.dqn.rmsprop import CentredRMSProp
from labml_rl.dqn.settings import Settings
from labml_rl.networks import QNetwork, in_full
from labml_rl.speed import in_precision
from tests.book.peers_of_dqn import labml_dqn

__all__ = ["labml_dqn"]


def normal(*shape, seed=0, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


# --- targets and loss ---


@pytest.mark.parametrize("double", [False, True])
def test_targets_are_those_of_the_textbook(double):
    target, online = normal(50, 4), normal(50, 4, seed=1)
    found = following_values(target, online if double else None)
    for row in range(50):
        values = target[row].tolist()
        by = online[row].tolist() if double else values
        assert found[row].item() == values[by.index(max(by))]


def test_double_is_never_above_the_maximum():
    target, online = normal(500, 6), normal(500, 6, seed=1)
    double, plain = following_values(target, online), following_values(target)
    assert (double <= plain).all()
    assert torch.equal(following_values(target, target), plain)


def test_the_example_of_the_coins():
    coins = torch.tensor(list(itertools.product([1.0, -1.0], repeat=2)))
    assert following_values(coins).mean() == 0.5
    # All pairs of two estimates and two others.
    one, other = coins.repeat_interleave(4, 0), coins.repeat(4, 1)
    assert following_values(one, other).mean() == 0


def test_huber_is_a_square_and_then_a_line():
    errors = torch.linspace(-5, 5, 101, dtype=torch.float64, requires_grad=True)
    found = huber(errors)
    expected = [e**2 / 2 if abs(e) <= 1 else abs(e) - 0.5 for e in errors.tolist()]
    np.testing.assert_allclose(found.detach(), expected)
    # What goes on is the error, cut off.
    (slope,) = torch.autograd.grad(found.sum(), errors)
    np.testing.assert_allclose(slope, np.clip(errors.tolist(), -1, 1))


def test_huber_finds_less_than_the_mean_of_what_is_rare_and_large():
    returns = torch.tensor([0.0] * 9 + [10.0])
    values = torch.linspace(-1, 11, 12_001)
    losses = huber(returns - values[:, None]).mean(-1)
    assert values[losses.argmin()].item() == pytest.approx(1 / 9, abs=2e-3)
    assert returns.mean().item() == 1


def test_the_example_of_three_steps():
    discount, rewards, following = 0.99, (0, 0, 1), 2.5
    target = sum(r * discount**k for k, r in enumerate(rewards))
    target += discount**3 * following
    assert f"$0.99^2 + 0.99^3 \\cdot 2.5 = {target:.2f}$" in str(td_loss.__doc__)


def test_the_loss_is_that_of_the_textbook():
    values, targets = normal(30, scale=3), normal(30, seed=1, scale=3)
    weights = normal(30, seed=2).abs()
    loss, errors = td_loss(values, targets, weights)
    delta = targets.numpy() - values.numpy()
    each = np.where(np.abs(delta) <= 1, delta**2 / 2, np.abs(delta) - 0.5)
    assert loss.item() == pytest.approx((weights.numpy() * each).mean())
    np.testing.assert_allclose(errors, delta)
    plain, _ = td_loss(values, targets)
    torch.testing.assert_close(plain, smooth_l1_loss(values, targets))


def test_the_gradient_goes_through_one_side_and_one_action():
    action_values = normal(5, 3).requires_grad_()
    actions = torch.tensor([0, 2, 1, 1, 0])
    loss, errors = td_loss(taken(action_values, actions), normal(5, seed=1))
    loss.backward()
    expected = torch.zeros(5, 3, dtype=torch.float64)
    expected[torch.arange(5), actions] = -errors.clamp(-1, 1) / 5
    torch.testing.assert_close(action_values.grad, expected)
    assert not errors.requires_grad
    with pytest.raises(ValueError, match="targets must be numbers that were seen"):
        td_loss(normal(3), normal(3).requires_grad_())


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="same shape"):
        td_loss(normal(3), normal(3, 1))
    with pytest.raises(ValueError, match="same shape"):
        td_loss(normal(3), normal(3), normal(3, 1))
    with pytest.raises(ValueError, match="same shape"):
        following_values(normal(3, 2), normal(3, 4))


def test_labml_has_the_same_loss(labml_dqn):
    """It has double Q-learning, always; and δ with the other sign."""
    action_values, online, target = (normal(40, 4, seed=k, scale=2) for k in range(3))
    actions = torch.randint(4, (40,))
    done, rewards = (normal(40, seed=3) > 1).double(), normal(40, seed=4)
    weights = normal(40, seed=5).abs()
    theirs, their_loss = labml_dqn.QFuncLoss(0.9)(
        action_values, actions, online, target, done, rewards, weights
    )
    targets = rewards + 0.9 * (1 - done) * following_values(target, online)
    loss, errors = td_loss(taken(action_values, actions), targets, weights)
    torch.testing.assert_close(loss, their_loss)
    torch.testing.assert_close(-errors, theirs)


# --- the dueling network ---


class TestDueling:
    def test_the_mean_of_the_action_values_is_the_value(self):
        network = DuelingNetwork((4,), 3)
        nn.init.normal_(network.advantage.weight)  # it begins at 0
        seen = torch.randn(7, 4)
        answers = network(seen)
        assert answers.shape == (7, 3)
        hidden = network.hidden(network.body(seen))
        values, advantages = hidden.chunk(2, -1)
        torch.testing.assert_close(answers.mean(-1), network.value(values)[:, 0])
        advantages = network.advantage(advantages)
        torch.testing.assert_close(
            answers - answers.mean(-1, keepdim=True),
            advantages - advantages.mean(-1, keepdim=True),
        )

    def test_with_pictures_the_streams_part_behind_the_convolutions(self):
        network = DuelingNetwork((4, 84, 84), 6)
        sizes = {
            name: tuple(each.shape)
            for name, each in network.named_parameters()
            if each.dim() == 2
        }
        assert sizes == {
            "hidden.0.weight": (1024, 3136),
            "value.weight": (1, 512),
            "advantage.weight": (6, 512),
        }
        pictures = torch.randint(256, (2, 4, 84, 84), dtype=torch.uint8)
        torch.testing.assert_close(network(pictures), network(as_blocks(pictures)))

    def test_labml_combines_the_streams_in_the_same_way(self, labml_dqn):
        """Its streams part later; so their layers are put behind our body."""
        theirs = importlib.import_module("labml_nn.rl.dqn.model").Model()
        pictures = torch.rand(2, 4, 84, 84)
        features = theirs.activation(
            theirs.lin(theirs.conv(pictures).reshape(2, 7 * 7 * 64))
        )
        ours = DuelingNetwork((512,), 4)
        ours.body = nn.Identity()  # type: ignore[assignment]
        ours.hidden = nn.Sequential(nn.Linear(512, 512), nn.ReLU())
        ours.value, ours.advantage = theirs.state_value[2], theirs.action_value[2]
        with torch.no_grad():
            for part in ("weight", "bias"):
                both = [
                    getattr(each[0], part)
                    for each in (theirs.state_value, theirs.action_value)
                ]
                getattr(ours.hidden[0], part).copy_(torch.cat(both))
        torch.testing.assert_close(ours(features), theirs(pictures))

    def test_the_gradient_of_the_body_is_scaled(self):
        torch.manual_seed(1)
        network = DuelingNetwork((4,), 3)
        nn.init.normal_(network.advantage.weight)  # it begins at 0
        seen = torch.randn(5, 4)
        network(seen).sum().backward()
        found = next(network.body.parameters()).grad
        assert found is not None
        hidden = network.hidden(network.body(seen)).chunk(2, -1)
        values, advantages = network.value(hidden[0]), network.advantage(hidden[1])
        answers = values + advantages - advantages.mean(-1, keepdim=True)
        (expected,) = torch.autograd.grad(
            answers.sum(), next(network.body.parameters())
        )
        torch.testing.assert_close(found, expected / 2**0.5)


@pytest.mark.parametrize("wrong", [(5, 1), (4,), (1,), ()])
def test_there_is_one_action_for_each_row(wrong):
    """Memories of others have actions of shape (B, 1), and a loss would come of it."""
    with pytest.raises(ValueError, match=r"actions must have shape \(5,\), one for"):
        taken(torch.zeros(5, 3), torch.zeros(wrong).long())


# --- exploring ---


def test_schedules():
    schedule = Linear(1.0, 0.1, 1000)
    assert [schedule(x) for x in (-5, 0, 500, 1000, 5000)] == pytest.approx(
        [1, 1, 0.55, 0.1, 0.1]
    )
    assert Linear(1.0, 0.1, 0)(0) == 0.1
    assert Linear(1.0, 0.1, 0)(-5) == 1.0


def explored(epsilon, count):
    """Actions of so many games, of which the second of four is the best."""
    best = torch.tensor([0.0, 5.0, 1.0, 2.0]).expand(count, 4)
    dice = torch.Generator().manual_seed(1)
    return explore(lambda: best, (count, 4), epsilon, dice)


def test_actions_are_explored_as_often_as_epsilon_says():
    actions = explored(0.2, 40_000)
    found = torch.bincount(actions, minlength=4) / len(actions)
    # Five standard deviations.
    np.testing.assert_allclose(found, [0.05, 0.85, 0.05, 0.05], atol=0.009)
    assert (explored(0.0, 100) == 1).all()
    for epsilon in (-0.1, 1.1):
        with pytest.raises(ValueError, match="between 0 and 1"):
            explored(epsilon, 1)


def test_no_dice_are_thrown_but_those_that_are_given():
    before = torch.get_rng_state()
    explored(0.5, 8)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_network_is_asked_only_if_a_game_wants_to_know():
    asked, dice = [], torch.Generator().manual_seed(1)

    def think():
        asked.append(True)
        return torch.tensor([[0.0, 5.0]])

    for _ in range(2_000):
        explore(think, (1, 2), 0.3, dice)
    assert 0.65 < len(asked) / 2_000 < 0.75
    explore(lambda: pytest.fail("nobody wants to know"), (8, 2), 1.0, dice)


@pytest.mark.parametrize("wrong", [(1, 4), (8, 5), (8, 4, 3), (4,)])
def test_the_network_has_a_value_for_each_action_of_each_game(wrong):
    dice = torch.Generator().manual_seed(1)
    with pytest.raises(ValueError, match=r"8 games the values of 4 actions, shape \(8"):
        explore(lambda: torch.zeros(wrong), (8, 4), 0.0, dice)


# --- the optimiser ---


class TestCentredRMSProp:
    def test_three_steps_by_hand(self):
        weight = nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
        optimizer = CentredRMSProp([weight], lr=0.1, decay=0.9, epsilon=0.01)
        mean = square = 0.0
        expected = 2.0
        for gradient in (3.0, -1.0, 0.5):
            weight.grad = torch.tensor([gradient], dtype=torch.float64)
            optimizer.step()
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.9 * square + 0.1 * gradient**2
            expected -= 0.1 * gradient / np.sqrt(square - mean**2 + 0.01)
        assert weight.item() == pytest.approx(expected)

    def test_a_sum_with_their_epsilon_is_a_mean_with_ours(self):
        """The warning of the page, in numbers."""
        ends = []
        for scale, epsilon in ((32.0, 0.01), (1.0, 0.01 / 32**2)):
            weight = nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
            optimizer = CentredRMSProp([weight], lr=0.01, epsilon=epsilon)
            for step in range(20):
                weight.grad = scale * torch.tensor([np.sin(step)]) * 0.01
                optimizer.step()
            ends.append(weight.item())
        assert ends[0] == pytest.approx(ends[1], rel=1e-12)

    def test_its_constants_are_those_of_the_settings(self):
        (group,) = CentredRMSProp([nn.Parameter(torch.ones(1))], lr=1.0).param_groups
        assert group["decay"] == Settings.rms_decay
        assert group["epsilon"] == Settings.rms_epsilon

    @pytest.mark.parametrize(("size", "shorter"), [(1e-4, 32), (1e4, 1)])
    def test_a_mean_with_their_epsilon_makes_short_steps_of_small_gradients(
        self, size, shorter
    ):
        moved = []
        for gradient in (size, size / 32):
            weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
            weight.grad = torch.full_like(weight, gradient)
            CentredRMSProp([weight], lr=1.0, epsilon=0.01).step()
            moved.append(weight.item())
        assert moved[0] / moved[1] == pytest.approx(shorter, rel=1e-3)

    def test_what_has_no_gradient_stays_and_rounding_does_no_harm(self):
        still, weight = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(50))
        optimizer = CentredRMSProp([still, weight], lr=1e-3, epsilon=1e-12)
        for _ in range(300):
            weight.grad = torch.linspace(1 / 3, 1000 / 3, 50)
            optimizer.step()
        assert still.item() == 1
        assert weight.isfinite().all()
        CentredRMSProp([still], lr=1.0).step()
        assert still.item() == 1


# --- the target network ---


@pytest.mark.parametrize("game", ["Breakout", "CartPole-v1"])
@pytest.mark.parametrize("dueling", [False, True])
@pytest.mark.parametrize("precision", ["bfloat16", "float32"])
def test_rounded_once_the_target_network_says_the_same(game, dueling, precision):
    settings = Settings(
        game=game,
        capacity=300,
        warm_up_steps=100,
        dueling=dueling,
        precision=precision,
    )
    experiment = Experiment(settings)
    with torch.no_grad(), in_precision(settings, experiment.device):
        seen = torch.from_numpy(experiment.observations)
        for _ in range(2):
            answer = experiment.network(seen)
            assert answer.dtype == torch.float32
            assert torch.equal(experiment.target(seen), answer)
            for each in experiment.network.parameters():
                each.mul_(1.01)
            torch.clear_autocast_cache()
            assert not torch.equal(experiment.target(seen), experiment.network(seen))
            experiment.sync()
    target: Any = experiment.target
    kinds = {each.dtype for each in target.body.layers[2:].parameters()}
    assert kinds == {getattr(torch, precision)}
    experiment.close()


class InFull(nn.Module):
    """A body that computes in 32 bits, whatever is around it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 8)

    def forward(self, observations):
        with torch.autocast("cpu", enabled=False):
            return self.layer(observations.float())


class OfOnesOwn(Experiment):
    @staticmethod
    def make_network(settings, observation_space, action_space):
        network = QNetwork(observation_space.shape, action_space.n)
        network.body, network.head = InFull(), nn.Linear(8, 2)  # type: ignore[assignment]
        return network


def test_learning_begins_with_a_target_network_that_knows_what_the_network_knows():
    """A run may begin with the weights of another, and be replaced much later."""
    settings = Settings(
        game="CartPole-v1",
        device="cpu",
        precision="float32",
        workers=0,
        total_frames=400,
        capacity=400,
        warm_up_steps=100,
        batch_size=8,
        sync_every_steps=10_000,
        turns=1,
    )
    with closing(Experiment(settings)) as experiment:
        for each in experiment.network.parameters():
            nn.init.constant_(each, 0.1)
        while experiment.steps < 100:
            experiment.advance()
        weights = list(experiment.target.parameters())
        assert all((each == 0.1).all() for each in weights)
        experiment.advance()
        assert all((each == 0.1).all() for each in weights)
        assert any((each != 0.1).any() for each in experiment.network.parameters())


def test_the_target_network_leaves_a_body_of_ones_own_as_it_is():
    settings = Settings(
        game="CartPole-v1",
        workers=0,
        num_envs=1,
        capacity=300,
        warm_up_steps=100,
        precision="bfloat16",
    )
    with closing(OfOnesOwn(settings)) as experiment:
        assert {each.dtype for each in experiment.target.parameters()} == {
            torch.float32
        }
        for _ in range(2):
            experiment.advance()


class Derived(VectorBody):
    """With a layer of its own, which computes in full."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__(shape)
        self.more = nn.Linear(self.features, self.features)

    def forward(self, observations):
        return in_full(self.more, super().forward(observations))


def test_the_target_network_leaves_what_is_derived_from_a_body_as_it_is():
    class OfDerived(Experiment):
        @staticmethod
        def make_network(settings, observation_space, action_space):
            network = QNetwork(observation_space.shape, action_space.n)
            network.body = Derived(observation_space.shape)
            return network

    settings = replace(SHORT, precision="bfloat16")
    with closing(OfDerived(settings)) as experiment:
        assert isinstance(experiment.target, QNetwork)
        assert isinstance(experiment.target.body, Derived)
        assert experiment.target.body.more.weight.dtype == torch.float32


class Flat(nn.Module):
    """A body that likes its pixels in one row, and says what it was shown."""

    features = 16

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4 * 84 * 84, 16)
        self.shown: set[tuple[int, ...]] = set()

    def prepared(self, observations):
        return observations.flatten(1)

    def forward(self, observations):
        self.shown.add(tuple(observations.shape[1:]))
        return self.layer(observations / 255.0).relu()


class Reversed(NatureBody):
    """The book's body, with another order of its own."""

    def prepared(self, observations):
        return super().prepared(observations.flip(1))


def tiny_pong(make_body):
    class OfBody(Experiment):
        @staticmethod
        def make_network(settings, observation_space, action_space):
            network = QNetwork(observation_space.shape, action_space.n)
            network.body = make_body()
            network.head = nn.Linear(network.body.features, action_space.n)
            return network

    settings = Settings(
        game="Pong",
        workers=0,
        num_envs=2,
        capacity=200,
        warm_up_steps=20,
        batch_size=4,
        learn_every_steps=4,
        precision="float32",
    )
    return OfBody(settings)


def test_a_body_of_ones_own_learns_from_the_order_that_it_plays_with(monkeypatch):
    with closing(tiny_pong(Flat)) as experiment:
        for _ in range(10):
            experiment.advance()
        assert isinstance(experiment.network, QNetwork)
        assert experiment.network.body.shown == {(4 * 84 * 84,)}

    with closing(tiny_pong(lambda: Reversed((4, 84, 84)))) as experiment:
        seen = []
        losses = experiment.losses

        def look(batch):
            seen.append(batch)
            return losses(batch)

        monkeypatch.setattr(experiment, "losses", look)
        for _ in range(10):
            experiment.advance()
        batch = seen[-1]
        whole = experiment.memory.batch(batch.places)
        for found, kept in (
            (batch.observations, whole.observations),
            (batch.next_observations, whole.next_observations),
        ):
            assert torch.equal(found, experiment.network.body.prepared(kept))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (lambda values: values[:, :1], r"\(2, 1\)"),
        (lambda values: (values, values.mean()), "tuple"),
        (lambda values: values[0], r"\(2,\)"),
    ],
)
def test_what_a_network_of_ones_own_answers_is_looked_at_before_the_warm_up(
    answer, found, tmp_path
):
    class Wrong(QNetwork):
        def forward(self, observations):
            return answer(super().forward(observations))

    class OfWrong(Experiment):
        algorithm = "wrong"

        @staticmethod
        def make_network(settings, observation_space, action_space):
            return Wrong(observation_space.shape, action_space.n)

    message = rf"Wrong must answer 2 observations with .* 2 actions.* not {found}"
    settings = Settings(game="CartPole-v1", workers=0, num_envs=2)
    with pytest.raises(runs.RunError, match=message):
        runs.train(OfWrong, settings, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


class Weighed(Experiment):
    """With a plain number to draw."""

    measured = (*Experiment.measured, "weight")

    def losses(self, batch):
        errors, seen = super().losses(batch)
        return errors, seen | {"weight": 0.5}


SHORT = Settings(
    game="CartPole-v1", workers=0, num_envs=1, capacity=300, warm_up_steps=100
)


def test_what_is_drawn_may_be_a_plain_number():
    with closing(Weighed(SHORT)) as experiment:
        seen = [experiment.advance()[0]["weight"] for _ in range(2)]
    assert seen[-1] == 0.5


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (torch.ones(7), r"must be single numbers, and weight has shape \(7,\)"),
        (None, "only one of the two has weight"),
    ],
)
def test_what_can_not_be_drawn_is_refused(more, message):
    class Wrong(Experiment):
        measured = Experiment.measured if more is None else Weighed.measured

        def losses(self, batch):
            errors, seen = super().losses(batch)
            return errors, seen | {"weight": 0.5 if more is None else more}

    with closing(Wrong(SHORT)) as experiment:
        experiment.play(SHORT.warm_up_steps)
        with pytest.raises(ValueError, match=message):
            experiment.advance()


# --- memory that is kept ---

# Each tensor is a little larger than the one before, which nobody needs any more. How
# many pages does the system have to clear?
PAGES = """
import resource, sys, torch
from labml_rl.speed import SpeedSettings, keep_memory

def cleared():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for size in range(1, 28):
        torch.full((size, 1 << 18), 1.0)  # as many MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

keep_memory(SpeedSettings(keep_memory=False))
without = cleared()
keep_memory(SpeedSettings())
print(without, cleared(), cleared())
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="it is the C library that keeps it"
)
def test_memory_that_is_needed_again_is_kept():
    done = subprocess.run(
        [sys.executable, "-c", PAGES], capture_output=True, text=True, check=True
    )
    without, first, second = map(int, done.stdout.split())
    # The sum of all, the largest, and nothing.
    assert without > 5 * first
    assert second * 5 < first
