"""The losses of A2C and PPO: against sums done by hand, and against other libraries."""

import csv
import importlib
import sys
import warnings
from copy import deepcopy
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from torch.nn.functional import cross_entropy

from figures import policies as figure
from labml_rl import a2c, ppo
from labml_rl.networks import ActorCritic, draw, entropy_of, log_probs_of

ROOT = Path(__file__).parents[2]


def normal(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def labml_ppo():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("labml_nn.rl.ppo")


def test_log_probabilities_are_those_of_the_softmax():
    logits, actions = normal(5, 3, 4) * 3, torch.randint(4, (5, 3))
    expected = torch.distributions.Categorical(logits=logits)
    torch.testing.assert_close(
        log_probs_of(logits, actions), expected.log_prob(actions)
    )
    torch.testing.assert_close(entropy_of(logits), expected.entropy())


def test_extreme_logits_neither_overflow_nor_vanish():
    logits = torch.tensor([[1e4, 0.0, -1e4]])
    assert log_probs_of(logits, torch.tensor([2])).item() == -2e4
    assert entropy_of(logits).item() == 0


def test_actions_are_drawn_as_often_as_the_policy_says():
    logits = torch.log(torch.tensor([0.1, 0.2, 0.7])).expand(20_000, 3)
    drawn = draw(logits, torch.rand(20_000, generator=torch.Generator().manual_seed(1)))
    found = torch.bincount(drawn, minlength=3) / len(drawn)
    # Four standard deviations.
    np.testing.assert_allclose(found, [0.1, 0.2, 0.7], atol=0.013)


def test_a_dart_at_the_very_end_hits_the_last_action():
    assert draw(normal(50, 4), torch.ones(50)).tolist() == [3] * 50


def test_actions_of_many_steps_are_drawn_at_once():
    logits, dice = normal(7, 3, 3) * 3, torch.rand(7, 3)
    found = draw(logits, dice)
    rows = [draw(*each) for each in zip(logits, dice, strict=True)]
    assert torch.equal(found, torch.stack(rows))


class TestA2C:
    def test_the_gradient_is_that_of_the_expected_payment(self):
        """Weighted by its probability, each action's gradient adds up to that of J."""
        logits = normal(4).requires_grad_()
        pay = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
        (expected,) = torch.autograd.grad((logits.softmax(-1) * pay).sum(), logits)

        for baseline in (0.0, 7.0):
            found = torch.zeros(4, dtype=torch.float64)
            for action in range(4):
                log_probs = log_probs_of(logits[None], torch.tensor([action]))
                loss = a2c.policy_loss(log_probs, pay[[action]] - baseline)
                (gradient,) = torch.autograd.grad(loss, logits)
                found -= logits.softmax(-1)[action].detach() * gradient
            torch.testing.assert_close(found, expected)

    def test_with_advantages_of_one_it_is_cross_entropy(self):
        logits, actions = normal(6, 4), torch.tensor([0, 3, 1, 1, 2, 0])
        found = a2c.policy_loss(log_probs_of(logits, actions), torch.ones(6).double())
        torch.testing.assert_close(found, cross_entropy(logits, actions))

    def test_total(self):
        found = a2c.total_loss(
            torch.tensor(3.0),
            torch.tensor(5.0),
            torch.tensor(2.0),
            value_coefficient=0.5,
            entropy_coefficient=0.1,
        )
        assert found.item() == pytest.approx(3 + 2.5 - 0.1 * 2)

    def test_value_loss(self):
        found = a2c.value_loss(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0]))
        assert found.item() == 1.0

    def test_an_advantage_with_a_gradient_is_refused(self):
        with pytest.raises(ValueError, match=r"detach\(\)"):
            a2c.policy_loss(normal(3), normal(3).requires_grad_())

    def test_what_a_gradient_through_the_advantage_does_to_the_critic(self):
        """With it, the loss is smallest where the value is too large by H / c."""
        logits, weight = normal(5), 0.5
        entropy = entropy_of(logits)
        value = (3 + entropy / weight).requires_grad_()
        log_probs = logits.log_softmax(-1)
        losses = [
            -log_prob * (3 - value)
            + weight * a2c.value_loss(value, value.new_tensor(3))
            for log_prob in log_probs
        ]
        expected = (log_probs.exp() * torch.stack(losses)).sum()
        (gradient,) = torch.autograd.grad(expected, value)
        assert gradient.item() == pytest.approx(0, abs=1e-12)
        assert entropy > 1

    def test_other_shapes_are_refused(self):
        message = r"same shape: values \(3, 1\), returns \(3,\)"
        with pytest.raises(ValueError, match=message):
            a2c.value_loss(normal(3, 1), normal(3))
        with pytest.raises(ValueError, match="same shape"):
            a2c.policy_loss(normal(3, 1), normal(3))

    def test_returns_with_a_gradient_are_refused(self):
        """With one, both sides of the error move, and nothing may be learned."""
        values = normal(3).requires_grad_()
        for value_loss in (a2c.value_loss, ppo.value_loss):
            with pytest.raises(ValueError, match=r"returns.*detach\(\)"):
                value_loss(values, values + 1)


class TestRMSProp:
    def test_two_steps_by_hand(self):
        weight = torch.nn.Parameter(torch.tensor([2.0], dtype=torch.float64))
        optimizer = a2c.RMSProp([weight], lr=0.1, decay=0.9, epsilon=0.01)
        squares, expected = 1.0, 2.0
        for gradient in (3.0, -1.0):
            weight.grad = torch.tensor([gradient], dtype=torch.float64)
            optimizer.step()
            squares = 0.9 * squares + 0.1 * gradient**2
            expected -= 0.1 * gradient / np.sqrt(squares + 0.01)
        assert weight.item() == pytest.approx(expected)

    def test_squares_come_down_as_slowly_as_the_page_says(self):
        updates = np.log(1e-8) / np.log(0.99)
        assert 1_800 < updates < 1_900
        assert "nearly two thousand" in str(a2c.RMSProp.__doc__)

    @pytest.mark.parametrize(("epsilon", "divides"), [(1e-5, False), (1e-10, True)])
    def test_a_large_epsilon_leaves_plain_gradient_descent(self, epsilon, divides):
        """Of two weights, one with gradients ten times as large as the other's."""
        weight = torch.nn.Parameter(torch.zeros(2))
        optimizer = a2c.RMSProp([weight], lr=7e-4, epsilon=epsilon)
        for _ in range(3_000):
            before = weight.detach().clone()
            weight.grad = torch.tensor([1e-4, 1e-3])
            optimizer.step()
        small, large = (before - weight).abs().tolist()
        assert large / small == pytest.approx(1 if divides else 10, rel=0.05)

    def test_gradients_of_the_recorded_run_are_as_small_as_the_page_says(self):
        """Those of the first ten million frames, in which it stood still."""
        run = ROOT / "results" / "runs" / "a2c" / "breakout" / "seed-1"
        with (run / "progress.csv").open() as file:
            rows = list(csv.DictReader(file))
        early = [row for row in rows if float(row["frames"]) <= 10e6]
        norm = np.median([float(row["gradient_norm"]) for row in early])
        weights = sum(each.numel() for each in ActorCritic((4, 84, 84), 4).parameters())
        assert round(weights, -5) == 1_700_000
        assert norm == pytest.approx(0.1, rel=0.3)
        assert 1000 * norm**2 / weights < 1000 * 1e-8 <= 1e-5
        assert max(float(row["return_mean"]) for row in early) < 4

    def test_it_goes_on_from_a_saved_state(self):
        def make():
            torch.manual_seed(1)
            layer = torch.nn.Linear(3, 2)
            return layer, a2c.RMSProp(list(layer.parameters()), lr=0.1)

        def step(layer, optimizer):
            optimizer.zero_grad()
            layer(torch.ones(1, 3)).square().sum().backward()
            optimizer.step()

        layer, optimizer = make()
        step(layer, optimizer)
        other, resumed = make()
        other.load_state_dict(layer.state_dict())
        resumed.load_state_dict(deepcopy(optimizer.state_dict()))
        step(layer, optimizer)
        step(other, resumed)
        torch.testing.assert_close(layer.weight, other.weight, rtol=0, atol=0)

    def test_what_has_no_gradient_stays(self):
        weight = torch.nn.Parameter(torch.ones(1))
        a2c.RMSProp([weight], lr=1.0).step()
        assert weight.item() == 1.0


class TestPPO:
    # A clip of 0.1. The last is what d loss / d log_prob must be, less the mean.
    CASES = (
        ("good, as it was", 1.0, 1.0, 1.0),
        ("good, likelier by enough", 1.2, 1.0, 0.0),
        ("good, went the wrong way", 0.8, 1.0, 0.8),
        ("bad, as it was", 1.0, -1.0, -1.0),
        ("bad, less likely by enough", 0.8, -1.0, 0.0),
        ("bad, went the wrong way", 1.2, -1.0, -1.2),
    )

    @pytest.mark.parametrize(
        ("ratio", "advantage", "pull"),
        [case[1:] for case in CASES],
        ids=[case[0] for case in CASES],
    )
    def test_where_the_gradient_stops(self, ratio, advantage, pull):
        log_probs = torch.tensor([ratio]).log().requires_grad_()
        loss = ppo.clipped_policy_loss(
            log_probs, torch.zeros(1), torch.tensor([advantage]), clip=0.1
        )
        (gradient,) = torch.autograd.grad(loss, log_probs)
        assert gradient.item() == pytest.approx(-pull)

    @pytest.mark.parametrize("clip", [0.0, -0.1, float("nan")])
    def test_a_clip_is_above_zero(self, clip):
        each = torch.zeros(2)
        with pytest.raises(ValueError, match="clip must be above 0"):
            ppo.clipped_policy_loss(each, each, each, clip=clip)
        with pytest.raises(ValueError, match="clip must be above 0"):
            ppo.value_loss(each, each, old_values=each, clip=clip)

    def test_it_believes_no_more_than_there_is(self):
        log_probs, old, advantages = normal(64), normal(64, seed=1), normal(64, seed=2)
        for each in zip(log_probs, old, advantages, strict=True):
            new, before, advantage = (number[None] for number in each)
            loss = ppo.clipped_policy_loss(new, before, advantage, clip=0.1)
            assert -loss <= (new - before).exp() * advantage

    def test_the_first_step_is_that_of_a2c(self):
        log_probs, advantages = normal(8).requires_grad_(), normal(8, seed=1)
        found = ppo.clipped_policy_loss(
            log_probs, log_probs.detach(), advantages, clip=0.2
        )
        (gradient,) = torch.autograd.grad(found, log_probs)
        (expected,) = torch.autograd.grad(
            a2c.policy_loss(log_probs, advantages), log_probs
        )
        torch.testing.assert_close(gradient, expected)

    def test_labml_has_the_same_losses(self):
        theirs = labml_ppo()
        log_probs, old, advantages = normal(64), normal(64, seed=1), normal(64, seed=2)
        policy = theirs.ClippedPPOLoss()
        torch.testing.assert_close(
            ppo.clipped_policy_loss(log_probs, old, advantages, clip=0.1),
            policy(log_probs, old, advantages, 0.1),
        )
        assert ppo.clip_fraction(log_probs, old, clip=0.1) == policy.clip_fraction
        torch.testing.assert_close(
            ppo.value_loss(log_probs, advantages, old_values=old, clip=0.1),
            theirs.ClippedValueFunctionLoss()(log_probs, old, advantages, 0.1),
        )

    def test_without_a_clip_the_values_are_a2cs(self):
        values, returns = normal(9), normal(9, seed=1)
        assert ppo.value_loss(values, returns) == a2c.value_loss(values, returns)

    @pytest.mark.parametrize("value_clip", [None, 0.05])
    def test_stable_baselines3_logs_the_same_numbers(self, value_clip):
        """Watch a few minibatches of its training, and compute them again."""
        theirs = PPO(
            "MlpPolicy",
            "CartPole-v1",
            n_steps=64,
            batch_size=16,
            n_epochs=3,
            clip_range_vf=value_clip,
            learning_rate=0.01,
            seed=1,
            device="cpu",
        )
        seen, evaluate = [], theirs.policy.evaluate_actions

        def watched(*arguments):
            found = evaluate(*arguments)
            seen.append([each.detach() for each in found])
            return found

        batches, get = [], theirs.rollout_buffer.__class__.get

        def watched_get(buffer, size):
            for batch in get(buffer, size):
                batches.append(batch)
                yield batch

        with (
            mock.patch.object(theirs.policy, "evaluate_actions", watched),
            mock.patch.object(theirs.rollout_buffer.__class__, "get", watched_get),
        ):
            theirs.learn(64)
        assert len(seen) == len(batches) == 12

        ours = []
        for (values, log_probs, entropy), batch in zip(seen, batches, strict=True):
            old = batch.old_log_prob
            policy = ppo.clipped_policy_loss(
                log_probs, old, ppo.normalised(batch.advantages), clip=0.2
            )
            # They leave out the half, and weigh by 0.5 later. And of the two errors of
            # a clipped value they don't take the larger, but the clipped one.
            moved = values.flatten() - batch.old_values
            if value_clip is not None:
                moved = moved.clamp(-value_clip, value_clip)
            value = ppo.value_loss(batch.old_values + moved, batch.returns)
            ours.append(
                [
                    policy,
                    2 * value,
                    -entropy.mean(),
                    ppo.clip_fraction(log_probs, old, clip=0.2),
                ]
            )
        logged = theirs.logger.name_to_value
        names = ("policy_gradient_loss", "value_loss", "entropy_loss", "clip_fraction")
        np.testing.assert_allclose(
            np.mean(ours, axis=0),
            [logged[f"train/{name}"] for name in names],
            rtol=1e-5,
            atol=1e-7,
        )
        # Of this one they log the mean of the last epoch alone.
        last = [
            ppo.divergence(log_probs, batch.old_log_prob).item()
            for (_, log_probs, _), batch in zip(seen[-4:], batches[-4:], strict=True)
        ]
        assert np.mean(last) == pytest.approx(logged["train/approx_kl"], rel=1e-4)

    def test_what_is_constant_must_have_no_gradient(self):
        for which in (1, 2):
            given = [normal(3), normal(3), normal(3)]
            given[which].requires_grad_()
            with pytest.raises(ValueError, match=r"detach\(\)"):
                ppo.clipped_policy_loss(*given, clip=0.1)

    def test_bad_clips_are_refused(self):
        with pytest.raises(ValueError, match=r"above 0, not -0\.1"):
            ppo.clipped_policy_loss(normal(3), normal(3), normal(3), clip=-0.1)
        with pytest.raises(ValueError, match="old_values are needed"):
            ppo.value_loss(normal(3), normal(3), clip=0.1)
        old = normal(3).requires_grad_()
        with pytest.raises(ValueError, match=r"above 0, not -0\.1"):
            ppo.value_loss(normal(3), normal(3), old_values=old.detach(), clip=-0.1)
        with pytest.raises(ValueError, match=r"old_values.*detach\(\)"):
            ppo.value_loss(normal(3), normal(3), old_values=old, clip=0.1)

    def test_old_values_are_not_broadcast(self):
        with pytest.raises(ValueError, match="same shape"):
            ppo.value_loss(normal(3), normal(3), old_values=normal(3, 1), clip=0.1)

    def test_the_losses_broadcast_nothing_either(self):
        for which in range(3):
            given = [normal(3), normal(3), normal(3)]
            given[which] = normal(3, 1)
            with pytest.raises(ValueError, match="same shape"):
                ppo.clipped_policy_loss(*given, clip=0.1)
        with pytest.raises(ValueError, match="same shape"):
            ppo.value_loss(normal(3, 1), normal(3))

    def test_what_is_only_watched_must_fit_together_too(self):
        for watch in (
            ppo.divergence,
            lambda one, other: ppo.clip_fraction(one, other, clip=0.1),
            ppo.explained_variance,
        ):
            with pytest.raises(ValueError, match="same shape"):
                watch(normal(3, 1), normal(3))

    def test_one_advantage_is_not_normalised_to_nan(self):
        with pytest.raises(ValueError, match="no standard deviation"):
            ppo.normalised(normal(1))

    def test_advantages_that_are_all_the_same_are_not_normalised_to_nan(self):
        assert not ppo.normalised(torch.full((4,), 0.5)).any()


@pytest.mark.parametrize(("epsilon", "speed"), [(1e-8, 1), (1e-5, 0.01)])
def test_what_the_epsilon_of_adam_does_to_small_gradients(epsilon, speed):
    weights = [torch.nn.Parameter(torch.zeros(1).double()) for _ in range(2)]
    adam = torch.optim.Adam(weights, lr=0.1, eps=epsilon)
    for _ in range(20):
        for weight, gradient in zip(weights, (1.0, 1e-7), strict=True):
            weight.grad = torch.full_like(weight, gradient)
        adam.step()
    assert (weights[1] / weights[0]).item() == pytest.approx(speed, rel=0.1)


def test_the_figures_are_what_the_losses_do(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["figures.policies", "--check"])
    figure.main()
    ratios = np.array([0.5, 1.0, 1.5])
    np.testing.assert_allclose(figure.what_ppo_goes_up_on(ratios, 1), [0.5, 1, 1.2])
    np.testing.assert_allclose(figure.what_ppo_goes_up_on(ratios, -1), [-0.8, -1, -1.5])
    monkeypatch.setattr("figures.drawing.FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"a2c-baseline\.svg"):
        figure.main()


class TestWhatToWatch:
    def test_the_divergence_is_estimated_without_bias(self):
        old, new = normal(1, 5), normal(1, 5, seed=1)
        probabilities = old.softmax(-1)[0]
        actions = torch.arange(5)
        each = torch.stack(
            [
                ppo.divergence(
                    log_probs_of(new, action[None]), log_probs_of(old, action[None])
                )
                for action in actions
            ]
        )
        expected = torch.distributions.kl_divergence(
            torch.distributions.Categorical(logits=old),
            torch.distributions.Categorical(logits=new),
        )
        torch.testing.assert_close((probabilities * each).sum(), expected[0])
        assert (each >= 0).all()

    @pytest.mark.parametrize("apart", [1e-7, 1e-5, 1e-3, 0.1])
    def test_no_part_of_the_estimate_is_below_zero_in_float32(self, apart):
        """A ratio that is rounded near 1 is further from 1 than what is left."""
        new, old = apart * normal(1000), torch.zeros(())
        each = torch.stack([ppo.divergence(one, old) for one in new.float()])
        assert (each >= 0).all()
        expected = (new.expm1() - new).mean().item()
        assert each.mean().item() == pytest.approx(expected, rel=0.1, abs=0)

    def test_the_gradient_of_the_estimate_is_that_of_the_divergence(self):
        old, new = normal(5), normal(5, seed=1).requires_grad_()
        each = torch.stack(
            [
                ppo.divergence(*(log_probs_of(of, action) for of in (new, old)))
                for action in torch.arange(5)
            ]
        )
        (found,) = torch.autograd.grad((old.softmax(-1) * each).sum(), new)
        torch.testing.assert_close(found, new.detach().softmax(-1) - old.softmax(-1))

    def test_the_gradient_of_another_divergence_is_refused(self):
        """Drawn from the policy that learns, with a reference that does not."""
        learns, reference = normal(5).requires_grad_(), normal(5, seed=1)
        one, other = learns.log_softmax(-1), reference.log_softmax(-1)
        with pytest.raises(ValueError, match="old_log_probs must be numbers"):
            ppo.divergence(other, one)

        # What the gradient would have been, and what a reward in its place leads to.
        chances = one.detach().exp()
        wanted, others, instead, would = (
            torch.autograd.grad(each, learns, retain_graph=True)[0]
            for each in (
                (one.exp() * (one - other)).sum(),
                (other.exp() * (other - one)).sum(),
                (chances * one * (one - other).detach()).sum(),
                (chances * ((other - one).exp() - 1 - (other - one))).sum(),
            )
        )
        torch.testing.assert_close(instead, wanted)
        torch.testing.assert_close(would, others)
        assert not torch.allclose(would, wanted, atol=0.01)

    def test_the_estimate_varies_less_than_the_plain_one(self):
        old = normal(1, 5)
        new = old + 0.1 * normal(1, 5, seed=1)
        dice = torch.rand(500, generator=torch.Generator().manual_seed(1))
        actions = draw(old.expand(500, 5), dice)
        before, after = (
            log_probs_of(each.expand(500, 5), actions) for each in (old, new)
        )
        pairs = zip(after, before, strict=True)
        ours = torch.stack([ppo.divergence(*pair) for pair in pairs])
        plain = before - after
        assert (plain < 0).any()
        assert 10 * ours.std() < plain.std()

    @pytest.mark.parametrize("game", ["breakout", "pong"])
    def test_the_recorded_runs_are_as_the_page_says(self, game):
        record = ROOT / "results" / "runs" / "ppo" / game / "seed-1" / "progress.csv"
        with record.open() as file:
            found = [float(row["divergence"]) for row in csv.DictReader(file)]
        assert max(found) < 5e-3
        assert found[-1] < 1e-5

    def test_explained_variance(self):
        returns = normal(50)
        assert ppo.explained_variance(returns, returns) == 1
        assert ppo.explained_variance(torch.zeros(50).double(), returns) == 0
        assert ppo.explained_variance(-returns, returns) < 0

    @pytest.mark.parametrize("always", [0.1, 97.3, 0.0])
    def test_where_all_returns_are_the_same_nothing_is_explained(self, always):
        returns = torch.full((1023,), always)
        assert ppo.explained_variance(torch.randn(1023), returns) == 0

    @pytest.mark.parametrize("always", [0.1, 97.3, 0.0])
    def test_where_all_advantages_are_the_same_no_action_is_praised(self, always):
        found = ppo.normalised(torch.full((1023,), always))
        assert torch.equal(found, torch.zeros(1023))
        # NaN is not the same as NaN, and must not be hidden.
        assert ppo.normalised(torch.full((1023,), torch.nan)).isnan().all()

    @pytest.mark.parametrize("steps", [2, 40])
    def test_normalised(self, steps):
        found = ppo.normalised(normal(steps) * 5 + 3)
        assert found.mean().item() == pytest.approx(0, abs=1e-12)
        assert found.std().item() == pytest.approx(1)
