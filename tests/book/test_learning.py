"""Do they learn? Small problems, solved in seconds; and not with a bug in the loss."""

import math
from dataclasses import replace

import pytest
import torch

from labml_rl import small
from labml_rl.a2c import experiment as a2c_experiment
from labml_rl.ppo import experiment as ppo_experiment
from labml_rl.returns import Rollout
from tests.book.catch import BALLS

PPO_CART = small.PPOSettings(total_frames=100_000)
A2C_CART = small.A2CSettings(total_frames=200_000)

# Any game would do: the console is another one.
PPO_CATCH = ppo_experiment.Settings(
    game="Pong", workers=0, total_frames=120_000, steps=64, learning_rate=5e-4
)
A2C_CATCH = a2c_experiment.Settings(
    game="Pong",
    workers=0,
    total_frames=160_000,
    num_envs=8,
    learning_rate=2e-3,
    decay=0.95,
)
EXPERIMENTS = {
    small.PPOSettings: small.SmallPPO,
    small.A2CSettings: small.SmallA2C,
    ppo_experiment.Settings: ppo_experiment.Experiment,
    a2c_experiment.Settings: a2c_experiment.Experiment,
}


pytestmark = pytest.mark.timeout(900)


# CartPole counts as solved with a mean of 475 of 500 steps. A mark that is passed long
# before, after a quarter of the time; in what part of it, at most; and the part in
# which a bug keeps it from that.
SOLVED, GOOD = 475, 150
IN_TIME, WITH_BUG = 0.5, 0.35


def frames_until(settings, *marks, part=1.0):
    """
    After how many frames the mean of the last hundred scores came to each of the marks,
    or infinity. It learns no longer than it must, or than this part of the time.
    """
    experiment = EXPERIMENTS[type(settings)](settings)
    best, reached = 0.0, [math.inf] * len(marks)
    try:
        while not experiment.done and experiment.frames < part * settings.total_frames:
            experiment.advance()
            if len(experiment.recent) == experiment.recent.maxlen:
                scores = [each["r"] for each in experiment.recent]
                best = max(best, sum(scores) / len(scores))
            for index, mark in enumerate(marks):
                if best >= mark:
                    reached[index] = min(reached[index], experiment.frames)
            if math.inf not in reached:
                break
    finally:
        experiment.close()
    print(f"{best} after {experiment.frames} of {settings.total_frames} frames")
    return reached


@pytest.mark.parametrize("settings", [PPO_CART, A2C_CART], ids=["ppo", "a2c"])
def test_cartpole_is_solved(settings):
    """It is, and half of the time is enough to be good."""
    good, solved = frames_until(settings, GOOD, SOLVED)
    assert solved < math.inf
    assert good <= IN_TIME * settings.total_frames


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize(
    ("settings", "caught"),
    [
        (PPO_CATCH, 0.9),
        (A2C_CATCH, 0.9),
        # Slower, and so no longer than it takes to see that it learns.
        (replace(PPO_CATCH, precision="float32", blocks=False), 0.5),
    ],
    ids=["ppo", "a2c", "ppo without tricks"],
)
def test_a_game_is_learned_from_its_pixels(settings, caught):
    """Random play catches one ball of eight."""
    assert frames_until(settings, caught * BALLS) < [math.inf]


def with_sign(monkeypatch):
    for where, name in (
        (a2c_experiment, "policy_loss"),
        (ppo_experiment, "clipped_policy_loss"),
    ):
        good = getattr(where, name)
        monkeypatch.setattr(where, name, lambda *a, f=good, **o: -f(*a, **o))


def without_mask(monkeypatch):
    """The pole falls, and the agent is told that it goes on."""
    following = property(lambda rollout: rollout.values[1:])
    monkeypatch.setattr(Rollout, "following", following)
    nothing = property(lambda rollout: torch.zeros_like(rollout.terminated))
    monkeypatch.setattr(Rollout, "ends", nothing)


def of_other_actions(monkeypatch):
    """The advantages of each step are given to the one after it."""
    for where in (a2c_experiment, ppo_experiment):
        good = where.log_probs_of
        monkeypatch.setattr(
            where, "log_probs_of", lambda x, a, f=good: f(x, a.roll(1, 0))
        )


BUGS = [with_sign, without_mask, of_other_actions]


@pytest.mark.parametrize("settings", [PPO_CART, A2C_CART], ids=["ppo", "a2c"])
@pytest.mark.parametrize("plant", BUGS, ids=[bug.__name__ for bug in BUGS])
def test_with_a_bug_it_learns_nothing(settings, plant, monkeypatch):
    plant(monkeypatch)
    assert frames_until(settings, GOOD, part=WITH_BUG) == [math.inf]


def test_a_gradient_through_the_advantage_is_no_quiet_bug(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "detach", lambda tensor: tensor)
    with pytest.raises(ValueError, match="advantages must be numbers that were"):
        frames_until(A2C_CART, GOOD)


def test_batches_that_cannot_be_cut_are_refused():
    with pytest.raises(ValueError, match=r"8 · 100 = 800 steps .* 3 minibatches"):
        ppo_experiment.Settings(steps=100, minibatches=3)
    with pytest.raises(ValueError, match="at least 2 steps"):
        ppo_experiment.Settings(num_envs=1, steps=4, minibatches=4)
    with pytest.raises(ValueError, match="steps must be at least 1"):
        a2c_experiment.Settings(steps=0)
    with pytest.raises(ValueError, match="learning_rate must be above 0"):
        a2c_experiment.Settings(learning_rate=-1.0)


def test_an_early_stop_learns_less():
    """With a limit that any step passes, there is one epoch in place of twenty."""
    calls = []

    class Counting(ppo_experiment.Experiment):
        def learn(self, batch):
            calls.append(len(batch.actions))
            return super().learn(batch)

    for limit, epochs in ((None, 20), (1e-12, 1)):
        calls.clear()
        settings = ppo_experiment.Settings(
            **{**vars(PPO_CART), "max_divergence": limit, "minibatches": 2}
        )
        experiment = Counting(settings)
        experiment.advance()
        experiment.close()
        assert len(calls) == 2 * epochs
