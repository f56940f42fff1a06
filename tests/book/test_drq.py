"""DrQ: what is done to pictures, and that DQN sees them so."""

from contextlib import closing
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box

from labml_rl.dqn import drq, experiment
from labml_rl.dqn.augmentation import brighten, shift
from labml_rl.dqn.drq import Experiment, Settings
from tests.book.catch import BALLS
from tests.book.test_learning_values import CATCH, learned

MARK, HALF = 0.8 * BALLS, 32_000
TINY = Settings(game="Pong", workers=0, warm_up_steps=60, capacity=400, turns=4)


def dice(seed=0):
    return torch.Generator().manual_seed(seed)


def pictures(*shape, seed=0):
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=dice(seed))


# --- moved ---


@pytest.mark.parametrize("shape", [(60, 4, 84, 84), (60, 3, 10, 17), (60, 1, 3, 5)])
def test_all_pictures_of_an_observation_are_moved_alike(shape):
    """As by hand: with four more pixels at each edge, and a window cut out."""
    before = pictures(*shape)
    after = shift(before, dice(1))
    height, width = shape[2:]
    padded = np.pad(before.numpy(), ((0, 0), (0, 0), (4, 4), (4, 4)), mode="edge")
    for row in range(shape[0]):
        fitting = [
            (down, across)
            for down in range(9)
            for across in range(9)
            if np.array_equal(
                padded[row, :, down : down + height, across : across + width],
                after[row],
            )
        ]
        # Of three rows nothing but the first may be left, or the last, and then it
        # doesn't matter how much further they moved.
        assert len(fitting) == 1 or (shape[-2] == 3 and fitting)


def test_each_place_is_as_likely_as_the_others():
    # The pixel in the middle says from where it comes.
    image = torch.arange(81, dtype=torch.uint8).view(1, 1, 9, 9)
    moved = shift(image.expand(16_200, -1, -1, -1), dice())
    counts = torch.bincount(moved[:, 0, 4, 4].long(), minlength=81)
    assert counts.shape == (81,)
    # 200 of each are expected, give or take 14.
    assert counts.min() > 140
    assert counts.max() < 260


def test_how_far_is_said():
    before = pictures(8, 2, 9, 9)
    assert torch.equal(shift(before, dice(), most=0), before)
    image = torch.arange(81, dtype=torch.uint8).view(1, 1, 9, 9)
    moved = shift(image.expand(900, -1, -1, -1), dice(), most=1)
    around = {9 * row + column for row in (3, 4, 5) for column in (3, 4, 5)}
    assert set(moved[:, 0, 4, 4].tolist()) == around


# --- brighter ---


def test_an_observation_is_brighter_all_over():
    before = pictures(200, 4, 12, 12)
    after = brighten(before, dice(1))
    assert after.dtype == torch.uint8
    factors = 1 + 0.05 * torch.randn(200, 1, generator=dice(1)).clamp(-2, 2)
    expected = np.minimum(
        np.round(before.numpy() * factors.view(200, 1, 1, 1).numpy()), 255
    )
    np.testing.assert_array_equal(after, expected)
    assert 0.9 <= factors.min() < 0.92
    assert 1.08 < factors.max() <= 1.1


def test_black_stays_black_and_white_is_the_brightest():
    before = torch.tensor([0, 255], dtype=torch.uint8).expand(100, 2)
    after = brighten(before, dice())
    assert (after[:, 0] == 0).all()
    assert after[:, 1].min() >= 229
    assert after[:, 1].max() == 255


def test_nothing_is_darker_than_black():
    before = torch.full((500, 1), 200, dtype=torch.uint8)
    after = brighten(before, dice(), spread=0.9).flatten()
    factors = 1 + 0.9 * torch.randn(500, generator=dice()).clamp(-2, 2)
    assert (factors < 0).any()
    assert (after[factors < 0] == 0).all()


def test_floats_are_refused():
    """As whole numbers they would all be 0."""
    with pytest.raises(TypeError, match="must be uint8, not torch"):
        brighten(torch.rand(2, 4, 12, 12), dice())


# --- the experiment ---


def test_both_observations_are_varied_each_in_its_own_way(monkeypatch):
    told = []

    def listen(_, batch):
        told.append(batch)
        return torch.zeros(len(batch.actions)), {}

    monkeypatch.setattr(experiment.Experiment, "losses", listen)
    with closing(Experiment(TINY)) as each:
        each.play(80)
        batch = each.memory.sample(32)
        # The picture of what is seen now, as what is seen next.
        same = replace(batch, next_observations=batch.observations)
        state = each.generator.get_state()
        each.losses(same)
        each.generator.set_state(state)
        expected = [each.vary(batch.observations) for _ in range(2)]
    (seen,) = told
    assert torch.equal(seen.observations, expected[0])
    assert torch.equal(seen.next_observations, expected[1])
    assert not torch.equal(expected[0], expected[1])
    assert not torch.equal(expected[0], batch.observations)
    assert torch.equal(seen.returns, batch.returns)
    assert torch.equal(seen.actions, batch.actions)


def test_channels_that_come_last_are_moved_as_well():
    """Green stays green: no pixel gets the colour of another."""
    with closing(Experiment(TINY)) as each:
        each.observation_space = Box(0, 255, (20, 30, 3), np.uint8)
        first = pictures(10, 3, 20, 30)
        state = each.generator.get_state()
        last = each.vary(first.movedim(1, -1))
        each.generator.set_state(state)
        expected = brighten(shift(first, each.generator), each.generator)
        assert torch.equal(last.movedim(-1, 1), expected)


@pytest.mark.parametrize("parts", [{}, {"distributional": True}, {"quantiles": 4}])
def test_the_targets_are_those_of_the_network_itself(parts):
    with closing(Experiment(replace(TINY, **parts))) as each:
        assert each.target is each.network
        each.play(80)
        before = [weight.clone() for weight in each.network.parameters()]
        each.learn()
        after = list(each.network.parameters())
        assert any(not torch.equal(*both) for both in zip(before, after, strict=True))
        assert all(weight.requires_grad for weight in after)


def test_double_q_learning_changes_nothing():
    """Who chooses and who says what it is worth are the same."""
    losses = []
    for double in (False, True):
        with closing(Experiment(replace(TINY, double=double))) as each:
            each.play(80)
            # A target network, if there were one, would now say something else.
            for _ in range(2):
                each.sync()
                for weight in each.network.parameters():
                    torch.nn.init.normal_(weight, std=0.05)
            losses.append(each.learn()["loss"].item())
    assert losses[0] == losses[1]


def test_the_settings_are_those_of_drq_with_another_epsilon():
    settings = Settings()
    assert settings.total_frames == 4 * 100_000
    assert settings.capacity == 100_000
    assert (settings.n, settings.batch_size, settings.learn_every_steps) == (10, 32, 1)
    assert (settings.learning_rate, settings.adam_epsilon) == (1e-4, 1.5e-4)
    assert (settings.epsilon_end, settings.epsilon_steps) == (0.01, 5_000)
    assert settings.dueling
    assert not settings.noisy
    assert Experiment.evaluation_epsilon == 0.001


def test_blocks_can_not_be_moved_by_a_pixel():
    with pytest.raises(ValueError, match="blocks must be off: drq moves pictures"):
        Settings(blocks=True)


def test_without_pictures_it_says_so():
    settings = replace(TINY, game="CartPole-v1")
    with pytest.raises(ValueError, match=r"needs pictures of bytes, not Box.* dqn on"):
        Experiment(settings)


CATCH_DRQ = Settings(**{**asdict(CATCH), "blocks": False, "dueling": True})


@pytest.mark.usefixtures("catch")
@pytest.mark.timeout(600)
def test_a_game_is_learned_from_pictures_that_move(monkeypatch):
    """Random play catches one ball of eight. Pictures in disorder teach nothing."""
    settings = replace(CATCH_DRQ, total_frames=HALF)
    assert learned(settings, MARK, experiment_class=Experiment) >= MARK
    monkeypatch.setattr(drq, "shift", lambda seen, generator: seen.flip(0))
    assert learned(settings, MARK, experiment_class=Experiment) < MARK
