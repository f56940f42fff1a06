"""PPO that is curious: what is new, what is paid for it, and what is found with it."""

from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from labml_rl import small
from labml_rl.deep_sea import DeepSea
from labml_rl.networks import ActorCritic
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo.novelty import Moments, Novelty
from labml_rl.ppo.rnd import CuriousActorCritic, Experiment, Settings, SmallExperiment
from labml_rl.ppo.rnd import SmallSettings as Small
from tests.book.test_learning import check_it_goes_on, frames_until

TINY = Small(num_envs=4, steps=8, total_frames=4_000)
PIXELS: dict[str, Any] = {
    "game": "Pong",
    "precision": "float32",
    "num_envs": 4,
    "steps": 8,
    "workers": 0,
}


# --- what is usual ---


def test_heaps_that_are_put_together_are_one_heap():
    dice = np.random.default_rng(1)
    heaps = [dice.normal(each, 1 + each, (10 + each, 3)) for each in range(5)]
    moments = Moments((3,))
    for heap in heaps:
        moments.add(torch.from_numpy(heap))
    whole = np.concatenate(heaps)
    assert moments.mean.numpy() == pytest.approx(whole.mean(0), rel=1e-5)
    assert moments.variance.numpy() == pytest.approx(whole.var(0), rel=1e-5)
    assert moments.count.item() == len(whole)


def test_what_never_differs_can_be_divided_by():
    moments = Moments()
    moments.add(torch.full((7,), 3.0))
    assert moments.variance.item() == 0
    assert moments.deviation.item() > 0


# --- how new it is ---


def test_novelty_is_the_mean_square_of_the_error():
    novelty = Novelty((3,))
    seen = torch.randn(50, 3) * torch.tensor([1.0, 10.0, 0.1]) + 5
    novelty.add(seen)
    scaled = (seen - seen.mean(0)) / seen.std(0, correction=0)
    apart = novelty.predictor(scaled) - novelty.target(scaled)
    torch.testing.assert_close(novelty(seen), (apart**2).mean(1), rtol=1e-4, atol=1e-5)
    # Beyond five standard deviations, all is the same.
    far = seen.mean(0) + torch.tensor([[6.0], [60.0]]) * seen.std(0)
    first, second = novelty(far)
    assert first.item() == second.item()


def test_the_predictor_has_two_layers_more_than_the_target():
    novelty = Novelty((4, 36, 36), newest=True)
    eyes = [(32, 1, 8, 8), (64, 32, 4, 4), (64, 64, 3, 3), (512, 64)]
    for part, more in ((novelty.target, 0), (novelty.predictor, 2)):
        weights = [each.detach() for each in part.parameters() if each.dim() > 1]
        assert [tuple(each.shape) for each in weights] == eyes + more * [(512, 512)]
        for each in weights:
            sizes = torch.linalg.svdvals(each.flatten(1))
            torch.testing.assert_close(sizes, torch.full_like(sizes, 2**0.5))


def test_only_the_predictor_learns():
    novelty = Novelty((3,))
    novelty(torch.randn(5, 3)).mean().backward()
    assert all(each.grad is not None for each in novelty.predictor.parameters())
    assert all(each.grad is None for each in novelty.target.parameters())
    assert not any(each.requires_grad for each in novelty.target.parameters())


def test_what_was_seen_is_less_new_than_what_was_not():
    torch.manual_seed(1)
    cells = torch.eye(40)
    novelty = Novelty((40,))
    novelty.add(cells)
    before = novelty(cells).detach()
    optimizer = torch.optim.Adam(novelty.predictor.parameters(), lr=1e-3)
    for _ in range(200):
        optimizer.zero_grad()
        novelty(cells[:20]).mean().backward()
        optimizer.step()
    after = novelty(cells).detach()
    assert after[:20].mean() < before[:20].mean() / 50
    assert after[20:].mean() > before[20:].mean() / 5


@pytest.mark.parametrize("channels_last", [False, True])
def test_of_pictures_the_newest_counts_and_channels_may_be_last(channels_last):
    torch.manual_seed(1)
    shape = (36, 40, 4) if channels_last else (4, 36, 40)
    novelty = Novelty(shape, channels_last=channels_last, newest=True)
    pictures = torch.randint(256, (3, 4, 36, 40), dtype=torch.uint8)
    others = torch.cat([pictures[:, :3].flip(0), pictures[:, 3:]], 1)
    found = []
    for each in (pictures, others):
        ordered = each.permute(0, 2, 3, 1) if channels_last else each
        novelty.usual = Moments((1, 36, 40))
        novelty.add(ordered)
        found.append(novelty(ordered))
    assert torch.equal(*found)
    assert found[0].shape == (3,)
    assert len(found[0].unique()) == 3
    assert novelty.usual.mean.shape == (1, 36, 40)


# --- what is paid ---


def test_policy_and_points_are_those_of_an_actor_critic_with_two_values():
    network = CuriousActorCritic((3,), 2)
    seen = torch.randn(5, 3)
    logits, values, novelty_values = network.both(seen)
    assert all(map(torch.equal, network(seen), (logits, values)))
    assert all(map(torch.equal, ActorCritic.forward(network, seen), (logits, values)))
    assert novelty_values.shape == values.shape == (5,)
    assert not torch.equal(values, novelty_values)


def test_novelty_runs_on_over_the_end_of_an_episode():
    """Each number of a batch is that of the plain sums, with ends for points alone."""
    settings = replace(TINY, steps=45, novelty_discount=0.9, gae_lambda=0.7)
    with closing(SmallExperiment(settings)) as experiment:
        experiment.advance()
        samples = experiment.play()
        network, gamma = experiment.network, settings.novelty_discount
        so_far, paid = experiment.so_far.clone(), deepcopy(network.paid)
        seen = experiment.games.sheet.observations
        points = ppo.Experiment.make_batch(experiment, samples)
        batch = experiment.make_batch(samples)
        with torch.no_grad():
            errors = network.novelty(seen[1:].flatten(0, 1)).unflatten(0, (45, 4))
            values = network.both(seen.flatten(0, 1))[2].unflatten(0, (46, 4))
    assert samples.rollout.terminated.sum() == 8  # two episodes of 20 steps in each
    sums = []
    for each in errors:
        so_far = each + gamma * so_far
        sums.append(so_far)
    paid.add(torch.cat(sums))
    rewards = errors / paid.deviation
    deltas = rewards + gamma * values[1:] - values[:-1]
    expected = torch.zeros_like(deltas)
    for t in range(45):
        for k in range(45 - t):
            expected[t] += (gamma * 0.7) ** k * deltas[t + k]
    close: Any = {"atol": 1e-4, "rtol": 1e-4}
    whole = 2 * points.advantages + expected.flatten()
    torch.testing.assert_close(batch.advantages, whole, **close)
    old_values = values[:-1].flatten()
    torch.testing.assert_close(batch.novelty_values, old_values, **close)
    returns = expected.flatten() + old_values
    torch.testing.assert_close(batch.novelty_returns, returns, **close)
    assert torch.equal(batch.returns, points.returns)
    assert torch.equal(batch.values, points.values)


@pytest.mark.parametrize("settings", [TINY, Settings(**PIXELS)])
def test_before_the_first_step_all_ratios_are_one(settings):
    with closing(Experiment(settings)) as experiment:
        batch = experiment.make_batch(experiment.play())
        seen = experiment.losses(batch)
        _, values, novelty_values = experiment.network.both(batch.observations)
    assert abs(seen["divergence"].item()) < 1e-9
    torch.testing.assert_close(values, batch.values, atol=1e-5, rtol=0)
    errors = novelty_values - batch.novelty_returns
    critic = errors.square().mean() / 2
    torch.testing.assert_close(seen["novelty_value_loss"], critic)
    expected = seen["policy_loss"] + 0.5 * (seen["value_loss"] + critic)
    expected -= settings.entropy_coefficient * seen["entropy"]
    expected += seen["prediction_loss"]
    torch.testing.assert_close(seen["loss"], expected)


def test_the_predictor_learns_from_its_share(monkeypatch):
    asked = []
    good = Novelty.forward
    with closing(SmallExperiment(replace(TINY, predictor_share=0.3))) as experiment:
        batch = experiment.make_batch(experiment.play())

        def counted(self, observations):
            asked.append(len(observations))
            return good(self, observations)

        monkeypatch.setattr(Novelty, "forward", counted)
        experiment.losses(batch)
        experiment.losses(batch.rows(torch.arange(2)))
    assert asked == [9, 1]  # of 32 and of 2


@pytest.mark.usefixtures("nobody_stays")
def test_players_see_what_one_process_sees():
    found = []
    for each in ({"workers": 2}, {"players": False}):
        settings = Settings(**PIXELS | {"sticky_actions": 0.0} | each)
        with closing(Experiment(settings)) as experiment:
            experiment.advance()
            found.append(experiment.make_batch(experiment.play()))
    players, alone = found
    assert torch.equal(players.actions, alone.actions)
    close: Any = {"atol": 1e-3, "rtol": 1e-3}
    torch.testing.assert_close(players.novelty_returns, alone.novelty_returns, **close)


def test_a_run_that_was_interrupted_comes_to_the_same_end(tmp_path):
    check_it_goes_on(SmallExperiment, TINY, tmp_path / "state", "so_far")


# --- the deep sea ---


def test_the_deep_sea_is_an_environment_as_gymnasium_wants_it():
    env = gymnasium.make("labml_rl.deep_sea:DeepSea-v0")
    check_env(env.unwrapped, skip_render_check=True)


def dive(env, rights):
    """The return of going to the right where it says so, and the columns."""
    env.reset()
    total, columns = 0.0, []
    for right in rights:
        there = env.right[env.row, env.column]
        seen, reward, over, truncated, _ = env.step(int(there if right else 1 - there))
        assert not truncated
        assert over == (env.row == env.size)
        assert seen.sum() == (not over)
        if not over:
            assert seen[env.row * env.size + env.column] == 1
        total += reward
        columns.append(env.column)
    return total, columns


def test_the_treasure_is_at_the_end_of_the_right():
    env = DeepSea()
    assert dive(env, [True] * 20)[0] == pytest.approx(0.99)
    assert dive(env, [False] * 20) == (0.0, [0] * 20)
    assert dive(env, [True] * 19 + [False])[0] == pytest.approx(-0.0095)
    zigzag, columns = dive(env, [True, False] * 10)
    assert zigzag == pytest.approx(-0.005)
    assert columns == [1, 0] * 10
    # Which action it is differs from cell to cell, and not from diver to diver.
    assert 0.4 < env.right.mean() < 0.6
    assert np.array_equal(env.right, DeepSea().right)


def test_a_dive_that_is_over_or_makes_no_sense_says_so():
    env = DeepSea(2)
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(0)
    env.reset()
    with pytest.raises(ValueError, match="action must be 0 or 1, not 2"):
        env.step(2)
    with pytest.raises(ValueError, match="size must be at least 2, not 1"):
        DeepSea(1)


# What is reached by those who found the treasure, and by nobody else.
FOUND = 0.9


def reached(settings, experiment_class=SmallExperiment):
    (frames,) = frames_until(settings, FOUND, experiment_class=experiment_class)
    return frames < np.inf


def forgets_to_learn(monkeypatch):
    good = Experiment.losses

    def without(self, batch):
        seen = good(self, batch)
        return seen | {"loss": seen["loss"] - seen["prediction_loss"]}

    monkeypatch.setattr(Experiment, "losses", without)


def pays_for_what_is_known(monkeypatch):
    good = Experiment.sized
    monkeypatch.setattr(Experiment, "sized", lambda self, errors: -good(self, errors))


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_treasure_is_found_by_the_curious():
    assert reached(Small())


@pytest.mark.timeout(900)
@pytest.mark.long
@pytest.mark.parametrize("mistake", [forgets_to_learn, pays_for_what_is_known])
def test_a_mistake_and_the_treasure_is_not_found(mistake, monkeypatch):
    mistake(monkeypatch)
    assert not reached(Small())


@pytest.mark.timeout(900)
@pytest.mark.long
def test_ppo_that_is_not_curious_does_not_find_it():
    settings = small.PPOSettings(game=Small().game, total_frames=400_000)
    assert not reached(settings, small.SmallPPO)


# --- settings ---


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"blocks": True}, "add --no-blocks"),
        ({"predictor_share": 0.0}, "predictor_share must be above 0"),
        ({"predictor_share": 1.1}, "at most 1"),
        ({"novelty_discount": 1.1}, "novelty_discount must be between 0 and 1"),
        ({"novelty_coefficient": -1.0}, "novelty_coefficient must be at least 0"),
        ({"points_coefficient": -1.0}, "points_coefficient must be at least 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changes)


def test_values_of_novelty_are_clipped_around_what_they_were():
    settings = replace(TINY, value_clip=0.01)
    with closing(SmallExperiment(settings)) as experiment:
        batch = experiment.make_batch(experiment.play())
        old = batch.novelty_values - 0.5  # so all of them have moved further
        batch = replace(batch, novelty_values=old)
        seen = experiment.losses(batch)
        values = experiment.network.both(batch.observations)[2]
    errors = values - batch.novelty_returns
    clipped = old + 0.01 - batch.novelty_returns
    critic = torch.max(errors.square(), clipped.square()).mean() / 2
    torch.testing.assert_close(seen["novelty_value_loss"], critic)
    assert critic > errors.square().mean() / 2


def test_in_atari_games_the_newest_picture_is_new_and_elsewhere_all_of_it():
    seen = gymnasium.spaces.Box(0, 255, (4, 84, 84), np.uint8)
    for game, channels in (("Pong", 1), ("labml_rl.deep_sea:DeepSea-v0", 4)):
        settings = Settings(**PIXELS | {"game": game})
        network = Experiment.make_network(settings, seen, gymnasium.spaces.Discrete(2))
        assert network.novelty.usual.mean.shape == (channels, 84, 84)


@pytest.mark.parametrize("shape", [(3,), (4, 84, 84)])
def test_the_critic_of_novelty_begins_as_the_other_and_teaches_its_body(shape):
    network = CuriousActorCritic(shape, 2)
    assert network.novelty_value.weight.norm().item() == pytest.approx(1)
    dtype = torch.float32 if len(shape) == 1 else torch.uint8
    network.both(torch.ones(2, *shape, dtype=dtype))[2].sum().backward()
    body = network.value_body or network.body
    assert all(each.grad is not None for each in body.parameters())


def test_points_and_novelty_count_as_the_settings_say():
    settings = replace(TINY, points_coefficient=3.0, novelty_coefficient=0.0)
    with closing(SmallExperiment(settings)) as experiment:
        samples = experiment.play()
        points = ppo.Experiment.make_batch(experiment, samples)
        batch = experiment.make_batch(samples)
        seen = experiment.games.sheet.observations[1:]
        with torch.no_grad():
            errors = experiment.network.novelty(seen.flatten(0, 1))
        paid = errors.mean() / experiment.network.paid.deviation
    torch.testing.assert_close(batch.advantages, 3 * points.advantages)
    assert experiment.found["novelty"] == pytest.approx(paid.item(), rel=1e-4)
