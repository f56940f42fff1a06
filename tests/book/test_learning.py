"""Do they learn? Small problems, solved in seconds; and not with a bug in the loss."""

import math
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributions import Categorical

from labml_rl import a2c, small
from labml_rl.a2c import experiment as a2c_experiment
from labml_rl.dqn import experiment as dqn_experiment
from labml_rl.dqn import taken
from labml_rl.impala import experiment as impala_experiment
from labml_rl.mistakes import MISTAKES
from labml_rl.networks import log_probs_of
from labml_rl.onpolicy import PolicyExperiment
from labml_rl.ppo import experiment as ppo_experiment
from labml_rl.ppo import recurrent
from labml_rl.pqn import experiment as pqn_experiment
from labml_rl.returns import Rollout
from labml_rl.runs import checkpoint
from tests.book.catch import BALLS
from tests.book.test_mistakes import NOTHING_LEARNED, some

PPO_CART = small.PPOSettings(total_frames=200_000)
A2C_CART = small.A2CSettings(total_frames=300_000)
PQN_CART = small.PQNSettings()

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
PQN_CATCH = pqn_experiment.Settings(
    game="Pong",
    workers=0,
    total_frames=120_000,
    num_envs=16,
    steps=16,
    minibatches=4,
    learning_rate=1e-3,
    td_lambda=0.9,
    epsilon_end=0.02,
    epsilon_steps=6_000,
)
EXPERIMENTS = {
    small.PPOSettings: small.SmallPPO,
    small.A2CSettings: small.SmallA2C,
    small.PQNSettings: small.SmallPQN,
    ppo_experiment.Settings: ppo_experiment.Experiment,
    a2c_experiment.Settings: a2c_experiment.Experiment,
    pqn_experiment.Settings: pqn_experiment.Experiment,
}


pytestmark = pytest.mark.timeout(900)


# CartPole counts as solved with a mean of 475 of 500 steps. On another processor, where
# numbers are rounded in another way, it is another run. So there is time enough: with
# each of eight seeds, PPO took less than half of it. A mark that is passed long before,
# after a quarter of the time; in what part of it, at most; and the part in which a bug
# keeps it from that.
SOLVED, GOOD = 475, 150
IN_TIME, WITH_BUG = 0.5, 0.35


def frames_until(settings, *marks, part=1.0, experiment_class=None):
    """
    After how many frames the mean of the last hundred scores came to each of the marks,
    or infinity. It learns no longer than it must, or than this part of the time.
    """
    experiment = (experiment_class or EXPERIMENTS[type(settings)])(settings)
    best, reached = -math.inf, [math.inf] * len(marks)
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


def check_it_goes_on(experiment_class, settings, path, kept):
    """To the same end as if it had not stopped, unless it forgets what it has kept."""
    with closing(experiment_class(settings)) as experiment:
        for _ in range(3):
            experiment.advance()
        checkpoint.save(path, experiment.get_state())
        for _ in range(3):
            experiment.advance()
        expected = deepcopy(experiment.network.state_dict())
    for forgets in (False, True):
        state = checkpoint.load(path)
        assert state[kept].any()
        if forgets:
            state[kept].zero_()
        with closing(experiment_class(settings)) as other:
            other.set_state(state)
            for _ in range(3):
                other.advance()
            found = other.network.state_dict()
        same = all(torch.equal(found[name], expected[name]) for name in expected)
        assert same != forgets


@pytest.mark.parametrize(
    "settings",
    [PPO_CART, A2C_CART, pytest.param(PQN_CART, marks=pytest.mark.long)],
    ids=["ppo", "a2c", "pqn"],
)
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
        (PQN_CATCH, 0.5),
        pytest.param(
            replace(PPO_CATCH, precision="float32", blocks=False),
            0.5,
            marks=pytest.mark.long,
        ),
    ],
    ids=["ppo", "a2c", "pqn", "ppo without tricks"],
)
def test_a_game_is_learned_from_its_pixels(settings, caught):
    """Random play catches one ball of eight."""
    assert frames_until(settings, caught * BALLS) < [math.inf]


def with_sign(monkeypatch):
    good = a2c.policy_loss
    monkeypatch.setattr(a2c_experiment, "policy_loss", lambda *a: -good(*a))


def without_mask(monkeypatch):
    """The pole falls, and the agent is told that it goes on."""
    following = property(lambda rollout: rollout.values[1:])
    monkeypatch.setattr(Rollout, "following", following)
    nothing = property(lambda rollout: torch.zeros_like(rollout.terminated))
    monkeypatch.setattr(Rollout, "ends", nothing)


def of_other_actions(monkeypatch):
    """The advantages of each step are given to the one after it."""
    monkeypatch.setattr(
        a2c_experiment, "log_probs_of", lambda x, a: log_probs_of(x, a.roll(1, 0))
    )


BUGS = [with_sign, without_mask, of_other_actions]


@pytest.mark.parametrize("plant", some(BUGS, with_sign))
def test_with_a_bug_a2c_learns_nothing(plant, monkeypatch):
    plant(monkeypatch)
    assert frames_until(A2C_CART, GOOD, part=WITH_BUG) == [math.inf]


def of_values_upside_down(monkeypatch):
    """The errors pull the other way."""
    good = a2c.value_loss
    monkeypatch.setattr(
        pqn_experiment, "value_loss", lambda v, g: good(v, 2 * v.detach() - g)
    )


def of_actions_not_taken(monkeypatch):
    """The value of another action is learned."""
    monkeypatch.setattr(pqn_experiment, "taken", lambda v, a: taken(v, 1 - a))


PQN_BUGS = [without_mask, of_values_upside_down, of_actions_not_taken]


@pytest.mark.parametrize("plant", some(PQN_BUGS))
def test_with_a_bug_pqn_learns_nothing(plant, monkeypatch):
    """In as much time as it may take without."""
    plant(monkeypatch)
    assert frames_until(PQN_CART, GOOD, part=IN_TIME) == [math.inf]


@pytest.mark.parametrize("name", some(NOTHING_LEARNED, "no-ends"))
def test_with_a_mistake_of_the_book_ppo_learns_nothing(name):
    planted = MISTAKES[name]
    reached = frames_until(PPO_CART, GOOD, part=WITH_BUG, experiment_class=planted)
    assert reached == [math.inf]


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


# What both do in an update, with a few steps.
SHORT: dict[str, Any] = {"num_envs": 2, "steps": 8, "entropy_coefficient": 0.3}
BOTH = pytest.mark.parametrize(
    "settings",
    [
        replace(PPO_CART, **SHORT, minibatches=2, epochs=4),
        replace(A2C_CART, **SHORT),
    ],
    ids=["ppo", "a2c"],
)


def begun(settings):
    return closing(EXPERIMENTS[type(settings)](settings))


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("settings", [PPO_CATCH, A2C_CATCH], ids=["ppo", "a2c"])
def test_the_learning_rate_goes_down_to_nothing(settings):
    """In a straight line, over four updates of two games with four frames a step."""
    rate, frames = settings.learning_rate, 2 * 4 * 4
    settings = replace(settings, num_envs=2, steps=4, total_frames=4 * frames)
    with begun(settings) as experiment:
        for update in range(4):
            metrics, _ = experiment.advance()
            expected = rate * (1 - update / 4)
            assert metrics["learning_rate"] == pytest.approx(expected)
            (group,) = experiment.optimizer.param_groups
            assert group["lr"] == metrics["learning_rate"]
            assert experiment.frames == (update + 1) * frames
        assert experiment.done


class Grouped(small.SmallPPO):
    """The body learns in small steps."""

    def make_optimizer(self):
        network: Any = self.network
        small = {"params": network.body.parameters(), "lr": 1e-4}
        return torch.optim.Adam([small, {"params": network.policy.parameters()}], 1e-2)


def test_whose_learning_rate_goes_down_is_as_the_questions_say():
    page = Path(__file__).parents[2] / "docs" / "questions.md"
    text = page.read_text(encoding="utf-8")
    assert "Those of PPO, IMPALA and A2C go down to zero" in " ".join(text.split())
    for falls in (ppo_experiment, impala_experiment, a2c_experiment):
        assert issubclass(falls.Experiment, PolicyExperiment)
    for stays in (dqn_experiment, pqn_experiment):
        assert not issubclass(stays.Experiment, PolicyExperiment)


def test_each_group_has_a_learning_rate_of_its_own_and_keeps_it():
    """In a run that goes on, too: the optimiser that was saved has the later rates."""
    settings = replace(PPO_CART, **SHORT, minibatches=2, total_frames=4 * 16)
    state = None
    for update in range(4):
        with closing(Grouped(settings)) as experiment:
            if state is not None:
                experiment.set_state(state)
            metrics, _ = experiment.advance()
            state = experiment.get_state()
            rates = [each["lr"] for each in experiment.optimizer.param_groups]
        left = 1 - update / 4
        assert rates == pytest.approx([1e-4 * left, 1e-2 * left])
        assert metrics["learning_rate"] == rates[0]


@BOTH
def test_long_gradients_are_cut(settings, monkeypatch):
    lengths: list[float] = []
    with begun(replace(settings, max_gradient_norm=1e-3)) as experiment:
        step = experiment.optimizer.step

        def watched():
            gradients = [each.grad for each in experiment.network.parameters()]
            lengths.append(torch.nn.utils.get_total_norm(gradients).item())
            step()

        monkeypatch.setattr(experiment.optimizer, "step", watched)
        metrics, _ = experiment.advance()
    assert lengths == pytest.approx([1e-3] * len(lengths), rel=0.01)
    assert metrics["gradient_norm"] > 0.01, "how long they were before"


def test_the_optimisers_are_as_the_settings_say():
    with begun(replace(PPO_CART, learning_rate=0.5, adam_epsilon=0.25)) as experiment:
        assert isinstance(experiment.optimizer, torch.optim.Adam)
        (group,) = experiment.optimizer.param_groups
        assert (group["lr"], group["eps"]) == (0.5, 0.25)
    changed = replace(A2C_CART, learning_rate=0.5, decay=0.75, rms_epsilon=0.25)
    with begun(changed) as experiment:
        (group,) = experiment.optimizer.param_groups
        assert (group["lr"], group["decay"], group["epsilon"]) == (0.5, 0.75, 0.25)


def test_the_loss_of_a_minibatch_by_hand():
    """After the network has changed, and with all that there is in it."""
    settings = replace(
        PPO_CART, **SHORT, clip=0.2, value_clip=0.1, value_coefficient=0.7
    )
    with begun(settings) as experiment:
        batch = experiment.make_batch(experiment.play())
        batch = batch.rows(torch.tensor([1, 14, 3, 8, 10, 6]))
        with torch.no_grad():
            for each in experiment.network.parameters():
                each.add_(0.3 * torch.randn_like(each))
        found = experiment.losses(batch)
        logits, values = experiment.network(batch.observations)
    policy = Categorical(logits=logits)
    entropy = policy.entropy().mean()
    ratios = (policy.log_prob(batch.actions) - batch.log_probs).exp()
    clipped = ratios.clamp(0.8, 1.2)
    advantages = batch.advantages - batch.advantages.mean()
    advantages = advantages / batch.advantages.std()
    gains = torch.minimum(ratios * advantages, clipped * advantages)
    near = batch.values + (values - batch.values).clamp(-0.1, 0.1)
    errors, near_errors = values - batch.returns, near - batch.returns
    worse = torch.maximum(errors.square(), near_errors.square()) / 2
    torch.testing.assert_close(found["entropy"], entropy)
    torch.testing.assert_close(found["policy_loss"], -gains.mean())
    torch.testing.assert_close(found["value_loss"], worse.mean())
    expected = -gains.mean() + 0.7 * worse.mean() - 0.3 * entropy
    torch.testing.assert_close(found["loss"], expected)
    # Something was clipped of either.
    assert (ratios != clipped).any()
    assert (near_errors.abs() > errors.abs()).any()


@pytest.mark.parametrize(
    ("base", "compiles"),
    [
        (small.SmallPPO, False),
        (small.SmallPPO, True),
        (recurrent.SmallExperiment, False),
    ],
    ids=["ppo", "compiled", "recurrent"],
)
def test_a_penalty_on_the_divergence_keeps_the_policy_where_it_is(
    base, compiles, monkeypatch
):
    """As somebody would write it who derives an experiment, with a number to draw."""
    compiler = torch.compile
    monkeypatch.setattr(
        torch, "compile", lambda losses: compiler(losses, backend="aot_eager")
    )

    def losses(self, batch):
        seen = base.losses(self, batch)
        penalised = seen["loss"] + self.weight * seen["divergence"]
        return seen | {"loss": penalised, "weight": self.weight}

    settings = replace(
        base.settings_class(),
        **SHORT,
        minibatches=1,
        max_divergence=None,
        compile=compiles,
        learning_rate=0.01,
        total_frames=1_000,
    )
    far = {}
    for weight in (None, 0.0, 1_000.0):
        own = {} if weight is None else {"losses": losses, "weight": weight}
        with closing(type("Own", (base,), own)(settings)) as experiment:
            far[weight] = [experiment.advance()[0]["divergence"] for _ in range(3)]
    assert far[None] == far[0.0]
    assert far[0.0][-1] > 0.01
    assert far[1_000.0][-1] < 0.3 * far[0.0][-1]


class Numbered(small.SmallPPO):
    """What the network expected when it played are the numbers of the steps."""

    def make_batch(self, samples):
        batch = super().make_batch(samples)
        numbers = torch.arange(float(len(batch.values)))
        self.batch, self.learned = replace(batch, values=numbers), []
        return self.batch

    def learn(self, batch):
        self.learned.append(batch.values.tolist())
        return super().learn(batch)


def test_each_pass_has_all_steps_in_another_order():
    settings = replace(PPO_CART, **SHORT, minibatches=2, epochs=4)
    with closing(Numbered(settings)) as experiment:
        metrics, _ = experiment.advance()
    first, second = experiment.learned[::2], experiment.learned[1::2]
    orders = {tuple(a + b) for a, b in zip(first, second, strict=True)}
    assert len(orders) == 4
    assert all(sorted(order) == list(range(16)) for order in orders)

    # The critic is measured by what it said then, and by what came.
    batch = experiment.batch
    unforeseen = (batch.returns - batch.values).var() / batch.returns.var()
    assert metrics["explained_variance"] == pytest.approx(1 - unforeseen.item())


def test_an_early_stop_looks_at_the_mean_of_a_pass():
    """The second pass goes too far, and the first did with its last step alone."""
    went = iter([0.0, 0.03, 0.0, 0.042, 9.0, 9.0])

    class Going(small.SmallPPO):
        def learn(self, batch):
            return super().learn(batch) | {"divergence": torch.tensor(next(went))}

    settings = replace(PPO_CART, **SHORT, minibatches=2, epochs=3, max_divergence=0.02)
    with closing(Going(settings)) as experiment:
        experiment.advance()
    assert list(went) == [9.0, 9.0]


def test_the_clip_fraction_by_hand():
    ratios = torch.tensor([0.75, 0.85, 1.1, 1.15, 1.25, 1.5])
    with begun(replace(PPO_CART, **SHORT, clip=0.2)) as experiment:
        batch = experiment.make_batch(experiment.play()).rows(torch.arange(6))
        batch = replace(batch, log_probs=batch.log_probs - ratios.log())
        found = experiment.losses(batch)
    assert found["clip_fraction"] == 0.5


@pytest.mark.parametrize("settings", [PPO_CART, PQN_CART], ids=["ppo", "pqn"])
def test_what_is_measured_is_the_mean_of_all_passes(settings):
    short = replace(settings, num_envs=2, steps=8, minibatches=2, epochs=2)
    losses = iter([1.0, 2.0, 3.0, 6.0])
    with begun(short) as experiment:
        learn = experiment.learn

        def noted(batch):
            return learn(batch) | {"loss": torch.tensor(next(losses))}

        experiment.learn = noted
        metrics, _ = experiment.advance()
    assert metrics["loss"] == 3
