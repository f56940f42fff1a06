"""Does DQN learn? Small problems, with each of its parts; and not with a bug in it."""

import csv
import math
from collections import deque
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from torch.nn.functional import smooth_l1_loss

from labml_rl import runs
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn import fast, td_loss
from labml_rl.dqn.distribution import project
from labml_rl.dqn.mistakes import MISTAKES
from labml_rl.dqn.quantiles import quantile_loss, quantile_targets
from labml_rl.dqn.settings import Settings
from labml_rl.replay import ReplayMemory
from labml_rl.replay.prioritised import PrioritisedMemory
from labml_rl.replay.rings import Rings
from labml_rl.runs import checkpoint, command
from labml_rl.small import SmallDQN
from tests.book import test_prioritised, test_replay
from tests.book.catch import BALLS
from tests.book.test_mistakes import some
from tests.book.test_mistakes_dqn import NOTHING_LEARNED

CART = Settings(
    game="CartPole-v1",
    workers=0,
    num_envs=8,
    total_frames=60_000,
    capacity=50_000,
    warm_up_steps=1_000,
    learn_every_steps=8,
    batch_size=128,
    sync_every_steps=1_000,
    discount=0.95,
    optimizer_name="adam",
    learning_rate=1e-3,
    max_gradient_norm=10.0,
    epsilon_end=0.01,
    epsilon_steps=10_000,
    turns=16,
    precision="float32",
)
CATCH = Settings(
    game="Pong",
    workers=0,
    num_envs=8,
    total_frames=60_000,
    capacity=20_000,
    warm_up_steps=500,
    learn_every_steps=16,
    batch_size=32,
    sync_every_steps=400,
    optimizer_name="adam",
    learning_rate=1e-3,
    epsilon_end=0.01,
    epsilon_steps=2_000,
    turns=16,
)
# Steps that a pole stands. The marks of the planted bugs, and the time they have. (With
# noise, five seeds of nine never come to 200, and all to 170.)
ENOUGH, GOOD, HALF = 150, 100, 16_000
PARTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "double": {"double": True},
    "dueling": {"dueling": True},
    "n-step": {"n": 3},
    # Its errors are larger than those of other batches, so its steps should be shorter:
    # a quarter, as the paper has it.
    "prioritised": {"prioritised": True, "learning_rate": 2.5e-4},
    "distributional": {
        "distributional": True,
        "lowest_return": 0.0,
        "highest_return": 20.0,
    },
    "quantiles": {"quantiles": 8},
    "noisy": {"noisy": True, "epsilon_start": 0.0, "epsilon_end": 0.0},
}
# For pixels, which take more time.
PARTS_TOGETHER: dict[str, dict[str, Any]] = {
    "double, dueling, n-step, prioritised": {
        "double": True,
        "dueling": True,
        "n": 3,
        "prioritised": True,
    },
    "all six, as in Rainbow": {
        "double": True,
        "dueling": True,
        "n": 3,
        "distributional": True,
        "noisy": True,
        "noise": 0.1,
        "prioritised": True,
        "priority_exponent": 0.5,
        "learning_rate": 2.5e-4,
        "max_gradient_norm": 10.0,
    },
    **PARTS,
}


pytestmark = pytest.mark.timeout(900)


def learned(settings, enough, last=20, experiment_class=dqn.Experiment):
    """The best mean of the last few scores, once it is enough, or time is up."""
    experiment = experiment_class(settings)
    best, scores = -math.inf, deque[float](maxlen=last)
    try:
        while not experiment.done and best < enough:
            _, ended = experiment.advance()
            scores.extend(each["r"] for each in ended)
            if len(scores) == last:
                best = max(best, sum(scores) / last)
    finally:
        experiment.close()
    return best


# These are shown by what bugs do to them, and that of plain DQN without one, too.
OTHERS = ("plain", "distributional", "quantiles")


@pytest.mark.parametrize("part", some(PARTS, *(PARTS.keys() - OTHERS)))
def test_cartpole_is_learned(part):
    """Random play comes to 20 steps, and 500 are all there are."""
    assert learned(replace(CART, **PARTS[part]), ENOUGH) >= ENOUGH


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize(
    "part", some(PARTS_TOGETHER, "plain", "double, dueling, n-step, prioritised")
)
def test_a_game_is_learned_from_its_pixels(part):
    """Random play catches one ball of eight."""
    settings = replace(CATCH, **PARTS_TOGETHER[part])
    assert learned(settings, 0.8 * BALLS) >= 0.8 * BALLS


# --- planted bugs ---


def without_mask(monkeypatch):
    """The pole falls, and the agent is told that it goes on."""
    good = ReplayMemory.batch

    def bad(memory, places, weights=None):
        batch = good(memory, places, weights)
        return replace(batch, discounts=torch.full_like(batch.discounts, 0.95))

    monkeypatch.setattr(ReplayMemory, "batch", bad)


def with_sign(monkeypatch):
    """The errors pull the other way."""
    good = td_loss
    monkeypatch.setattr(dqn, "td_loss", lambda v, t, w: good(v, 2 * v.detach() - t, w))


BUGS = [without_mask, with_sign]


def test_with_a_bug_in_the_distribution_it_learns_nothing(monkeypatch):
    """The target is that of a pole that never falls."""
    settings = replace(CART, total_frames=HALF, **PARTS["distributional"])
    assert learned(settings, GOOD) >= GOOD
    monkeypatch.setattr(
        dqn, "project", lambda p, z, r, d: project(p, z, r, torch.full_like(d, 0.95))
    )
    assert learned(settings, GOOD) < GOOD


def test_with_a_bug_in_the_quantiles_it_learns_nothing(monkeypatch):
    """The same."""
    settings = replace(CART, total_frames=HALF, **PARTS["quantiles"])
    assert learned(settings, GOOD) >= GOOD
    monkeypatch.setattr(
        dqn,
        "quantile_targets",
        lambda z, r, d: quantile_targets(z, r, torch.full_like(d, 0.95)),
    )
    assert learned(settings, GOOD) < GOOD


@pytest.mark.long
def test_with_errors_of_quantiles_that_pull_the_other_way_it_learns_nothing(
    monkeypatch,
):
    settings = replace(CART, total_frames=HALF, **PARTS["quantiles"])
    monkeypatch.setattr(
        dqn,
        "quantile_loss",
        lambda z, y, w: quantile_loss(z, 2 * z.detach() - y, w),
    )
    assert learned(settings, GOOD) < GOOD


@pytest.mark.parametrize("plant", BUGS, ids=[bug.__name__ for bug in BUGS])
def test_with_a_bug_it_learns_nothing(plant, monkeypatch):
    plant(monkeypatch)
    assert learned(replace(CART, total_frames=HALF), GOOD) < GOOD


def test_without_it_is_good_in_the_same_time():
    assert learned(replace(CART, total_frames=HALF), GOOD) >= GOOD


def swung_up(kind):
    """
    Whether the mean of the last fifty scores came to −200 in a third of the run.
    Random play comes to −500, and −70 or so is the best that there is.
    """
    scores = deque[float](maxlen=50)
    settings = kind.settings_class(seed=2, total_frames=20_000)
    with closing(kind(settings)) as experiment:
        while not experiment.done:
            _, ended = experiment.advance()
            scores.extend(each["r"] for each in ended)
            if len(scores) == 50 and sum(scores) / 50 > -200:
                return True
    return False


def test_the_rods_are_swung_up():
    assert swung_up(SmallDQN)


@pytest.mark.parametrize("name", some(NOTHING_LEARNED, "never-copied"))
def test_with_a_mistake_of_the_book_they_are_not(name):
    assert not swung_up(MISTAKES[name])


def across_episodes(monkeypatch):
    def bad(rings, *places):
        back = rings.num_envs * rings._back
        return rings.frames.read(
            *((newest[:, None] - back) % rings.size for newest in places)
        )

    monkeypatch.setattr(Rings, "stacks", bad)


def over_the_head(monkeypatch):
    def bad(rings, places):
        _, outcomes, alive = rings.look_ahead(places)
        return ((outcomes != 0) | ~alive).all(axis=1)

    monkeypatch.setattr(Rings, "can_be_drawn", bad)


def over_the_end(monkeypatch):
    """Rewards of the next episode are counted, as if none had ended."""
    good = Rings.look_ahead

    def bad(rings, places):
        ahead, outcomes, alive = good(rings, places)
        return ahead, outcomes, np.ones_like(alive)

    monkeypatch.setattr(Rings, "look_ahead", bad)


def truncated_is_terminated(monkeypatch):
    monkeypatch.setattr("labml_rl.replay.rings.TRUNCATED", 2)


@pytest.mark.parametrize(
    "plant", [across_episodes, over_the_head, over_the_end, truncated_is_terminated]
)
def test_a_bug_in_the_memory_is_found(plant, monkeypatch):
    play = test_replay.Play(2, 4)
    memory = test_replay.memory_for(play, 60, n=2)
    play.play(memory, 70)
    test_replay.assert_all_right(play, memory)
    plant(monkeypatch)
    play = test_replay.Play(2, 4)
    memory = test_replay.memory_for(play, 60, n=2)
    play.play(memory, 70)
    with pytest.raises(AssertionError):
        test_replay.assert_all_right(play, memory)


def unweighted(weights):
    return np.ones_like(weights)


def upside_down(weights):
    return 1 / weights


def half_weighted(weights):
    return weights**0.5


@pytest.mark.parametrize("wrong", [unweighted, upside_down, half_weighted])
def test_wrong_importance_weights_are_found(wrong, monkeypatch):
    good = ReplayMemory.batch
    monkeypatch.setattr(
        ReplayMemory,
        "batch",
        lambda memory, places, weights: good(memory, places, wrong(weights)),
    )
    with pytest.raises(AssertionError):
        test_prioritised.test_weights_are_those_of_the_paper(1.0)
    with pytest.raises(AssertionError):
        test_prioritised.test_with_weights_the_mean_over_batches_is_that_of_the_memory()


# --- the experiment ---

SMALL = replace(
    CART,
    num_envs=2,
    capacity=500,
    warm_up_steps=60,
    learn_every_steps=2,
    batch_size=16,
    sync_every_steps=50,
    epsilon_steps=300,
    turns=25,
)
ALL: dict[str, Any] = {
    "double": True,
    "dueling": True,
    "n": 3,
    "prioritised": True,
    "distributional": True,
    "noisy": True,
}
ATOMS = ALL | {"distributional": False, "quantiles": 7}
PONG: dict[str, Any] = {"game": "Pong", "learn_every_steps": 8, "turns": 5}


@pytest.mark.parametrize(
    "changes",
    [{}, ALL, ATOMS, PONG | ALL],
    ids=["plain", "all", "quantiles", "game"],
)
def test_a_run_that_was_interrupted_comes_to_the_same_end(tmp_path, changes):
    settings = replace(SMALL, **changes)
    experiment = dqn.Experiment(settings)
    for _ in range(8):
        experiment.advance()
    checkpoint.save(tmp_path / "state", experiment.get_state())
    rest = [experiment.advance() for _ in range(4)]
    again = dqn.Experiment(settings)
    again.set_state(checkpoint.load(tmp_path / "state"))
    for metrics, scores in rest:
        assert (metrics, scores) == again.advance()
        assert (metrics["loss"] or 0) > 0
    for network in ("network", "target"):
        for a, b in zip(
            getattr(experiment, network).parameters(),
            getattr(again, network).parameters(),
            strict=True,
        ):
            assert torch.equal(a, b)
    assert (
        experiment.steps
        == again.steps
        == 12 * settings.turns * settings.learn_every_steps
    )
    experiment.close()
    again.close()


def test_a_target_network_that_was_kept_in_full_goes_on_the_same(tmp_path):
    """Checkpoints had it so, before it was rounded when it is copied."""
    settings = replace(SMALL, precision="bfloat16", **PONG)
    experiment, again = dqn.Experiment(settings), dqn.Experiment(settings)
    for _ in range(2):
        experiment.advance()
    experiment.sync()
    state = experiment.get_state()
    rounded = state["target"]
    state["target"] = experiment.network.state_dict()
    checkpoint.save(tmp_path / "state", state)
    again.set_state(checkpoint.load(tmp_path / "state"))
    found = again.target.state_dict()
    assert any(
        not torch.equal(rounded[name], state["target"][name]) for name in rounded
    )
    for name, each in rounded.items():
        assert found[name].dtype == each.dtype
        assert torch.equal(found[name], each)
    assert experiment.advance() == again.advance()
    experiment.close()
    again.close()


def test_what_was_not_learned_yet_is_not_drawn(tmp_path, monkeypatch):
    measured: list[Any] = []
    update = dqn.Experiment.update

    def noted(experiment):
        measured.append(update(experiment))
        return measured[-1]

    monkeypatch.setattr(dqn.Experiment, "update", noted)
    monkeypatch.setattr("labml_rl.runs.curve.ROWS", 5)
    settings = replace(SMALL, total_frames=500, warm_up_steps=160)
    folder = runs.train(dqn.Experiment, settings, folder=tmp_path / "run")
    with (folder / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    # Of two updates each. The warm-up ends in the second of the second row.
    assert len(rows) == 5
    for name in dqn.Experiment.measured:
        assert [each[name] is None for each in measured[:4]] == [True] * 3 + [False]
        assert rows[0][name] == ""
        assert float(rows[1][name]) == pytest.approx(measured[3][name])
        mean = (measured[4][name] + measured[5][name]) / 2
        assert float(rows[2][name]) == pytest.approx(mean)
    assert float(rows[0]["epsilon"]) == 1


class Careless(gymnasium.Env[Any, Any]):
    """It says that it shows int32, and shows what NumPy makes by itself."""

    observation_space = Box(0, 100, (2,), np.int32)
    action_space = Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.array([0, 1]), {}

    def step(self, action):
        self.steps += 1
        return np.array([self.steps, 1]), 1.0, self.steps == 5, False, {}


def test_all_that_is_remembered_is_of_the_type_of_the_space():
    where = f"{__name__}:Careless"
    gymnasium.register("Careless", where, disable_env_checker=True)
    try:
        with closing(dqn.Experiment(replace(SMALL, game="Careless"))) as experiment:
            experiment.advance()
            assert experiment.episodes > 0
    finally:
        del gymnasium.registry["Careless"]


def test_learning_from_a_batch_by_hand(monkeypatch):
    """With two networks that differ, and a memory that hears of the errors."""
    settings = replace(
        SMALL,
        total_frames=200,
        double=True,
        prioritised=True,
        priority_exponent=0.9,
        importance_start=0.2,
    )
    with closing(dqn.Experiment(settings)) as experiment:
        for _ in range(2):
            experiment.advance()
        assert experiment.importance == pytest.approx(0.6)
        for each in experiment.target.parameters():
            each.add_(0.3 * torch.randn_like(each))
        network, target = deepcopy(experiment.network), experiment.target
        memory: Any = experiment.memory
        assert isinstance(memory, PrioritisedMemory)
        powers = memory.tree.leaves.copy()
        sample, drawn = memory.sample, []

        def noted(size):
            drawn.append(sample(size))
            return drawn[-1]

        monkeypatch.setattr(memory, "sample", noted)
        loss, error, value = (each.item() for each in experiment.learn().values())

    (batch,) = drawn
    with torch.no_grad():
        best = network(batch.next_observations).argmax(1)
        expected = target(batch.next_observations)[range(16), best]
        values = network(batch.observations)[range(16), batch.actions]
    targets = batch.returns + batch.discounts * expected
    weights = (powers[batch.places].min() / powers[batch.places]) ** 0.6
    losses = smooth_l1_loss(values, targets, reduction="none")
    assert weights.min() < 0.9
    assert loss == pytest.approx((torch.from_numpy(weights) * losses).mean().item())
    assert error == pytest.approx((targets - values).abs().mean().item())
    assert value == pytest.approx(values.mean().item())
    np.testing.assert_allclose(
        memory.tree.leaves[batch.places],
        ((targets - values).abs().double() + 1e-6) ** 0.9,
        rtol=1e-3,
        atol=1e-5,
    )


@pytest.mark.parametrize("limit", [1e-3, None])
def test_long_gradients_are_cut_if_that_is_wanted(limit, monkeypatch):
    lengths: list[float] = []
    settings = replace(SMALL, max_gradient_norm=limit)
    with closing(dqn.Experiment(settings)) as experiment:
        step = experiment.optimizer.step

        def watched():
            gradients: Any = [each.grad for each in experiment.network.parameters()]
            lengths.append(torch.nn.utils.get_total_norm(gradients).item())
            step()

        monkeypatch.setattr(experiment.optimizer, "step", watched)
        for _ in range(2):
            experiment.advance()
    if limit is None:
        assert min(lengths) > 0.01
    else:
        assert lengths == pytest.approx([limit] * len(lengths), rel=0.01)
    assert len(lengths) > 10


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        (
            {"optimizer_name": "rmsprop", "rms_decay": 0.75, "rms_epsilon": 0.25},
            {"decay": 0.75, "epsilon": 0.25},
        ),
        ({"optimizer_name": "adam", "adam_epsilon": 0.25}, {"eps": 0.25}),
    ],
    ids=["rmsprop", "adam"],
)
def test_the_optimiser_is_as_the_settings_say(changes, kept):
    settings = replace(SMALL, learning_rate=0.5, **changes)
    with closing(dqn.Experiment(settings)) as experiment:
        (group,) = experiment.optimizer.param_groups
        assert group["lr"] == 0.5
        assert {name: group[name] for name in kept} == kept


def test_a_prioritised_memory_hears_of_no_errors_that_are_not_finite():
    experiment = dqn.Experiment(replace(SMALL, prioritised=True))
    while experiment.steps < SMALL.warm_up_steps:
        experiment.advance()
    torch.nn.init.constant_(next(experiment.network.parameters()), torch.nan)
    with pytest.raises(runs.NotFiniteError, match="a priority is not finite after 1"):
        experiment.advance()
    experiment.close()


def test_the_memory_of_other_settings_is_refused():
    experiment, other = (
        dqn.Experiment(SMALL),
        dqn.Experiment(replace(SMALL, num_envs=1)),
    )
    with pytest.raises(ValueError, match="this replay memory was of other games"):
        other.set_state(experiment.get_state())
    for each in (experiment, other):
        each.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"turns": 0}, "turns must be at least 1"),
        ({"n": 0}, "n must be at least 1"),
        ({"epsilon_end": 1.5}, "epsilon_end must be between 0 and 1"),
        ({"importance_start": -1.0}, "importance_start must be between 0 and 1"),
        ({"priority_exponent": -1.0}, "priority_exponent must be at least 0"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"num_envs": 8, "learn_every_steps": 12}, "multiple of 8 or go into it"),
        ({"warm_up_steps": 32}, "warm_up_steps must be at least 33 for a batch of 32"),
        ({"capacity": 73}, "capacity must be at least 74"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Settings(**changes)


def test_it_plays_and_learns_and_syncs_as_often_as_it_should(monkeypatch):
    """Four steps a batch with one game; two batches a step with eight."""
    for games, every, batches in ((1, 4, 1), (8, 4, 2)):
        experiment = dqn.Experiment(
            replace(SMALL, num_envs=games, learn_every_steps=every, turns=100)
        )
        calls: list[str] = []
        for name in ("learn", "sync", "play"):
            good = getattr(experiment, name)
            monkeypatch.setattr(
                experiment,
                name,
                lambda *a, g=good, n=name, c=calls: (c.append(n), g(*a))[1],
            )
        experiment.advance()
        steps = max(games, every) * 100
        assert experiment.steps == steps
        late = sum(
            k >= 60 for k in range(max(games, every), steps + 1, max(games, every))
        )
        assert calls.count("learn") == late * batches
        assert calls.count("sync") == steps // 50
        assert calls.count("play") == 100
        experiment.close()


def test_what_a_name_means_is_not_asked_in_each_step(monkeypatch):
    """To find a game by its name takes longer than a step of the pole."""
    with closing(dqn.Experiment(SMALL)) as experiment:
        experiment.advance()

        def asked(name):
            raise AssertionError(f"asked what {name} is")

        monkeypatch.setattr("labml_rl.environments.is_atari", asked)
        experiment.advance()
        assert experiment.epsilon < 1


def test_it_explores_in_the_warm_up_and_then_less_and_less():
    experiment = dqn.Experiment(SMALL)
    assert experiment.epsilon == 1
    experiment.frames = 59
    assert experiment.epsilon == 1
    experiment.frames = 60 + 150
    assert experiment.epsilon == pytest.approx((1 + 0.01) / 2)
    experiment.frames = 90_000
    assert experiment.epsilon == 0.01
    experiment.frames = SMALL.total_frames // 2
    assert experiment.importance == pytest.approx(0.7)
    experiment.close()


def test_it_thinks_in_action_values_and_takes_the_best():
    experiment = dqn.Experiment(SMALL)
    thoughts = experiment.think(experiment.network, torch.randn(5, 4))
    assert thoughts.action_values is not None
    assert torch.equal(thoughts.values, thoughts.action_values.max(-1).values)
    best = thoughts.action_values.argmax(-1)
    assert torch.equal(thoughts.probabilities.argmax(-1), best)
    assert thoughts.probabilities.sum() == 5
    experiment.close()


def test_the_fast_settings_are_found_by_name():
    found = command.find_experiment("fast-dqn")
    assert found is fast.Experiment
    settings = fast.Settings(
        game="CartPole-v1",
        workers=0,
        total_frames=2_000,
        warm_up_steps=600,
        turns=4,
        capacity=2_000,
    )
    assert settings.double
    assert settings.n == 3
    experiment = found(settings)
    while not experiment.done:
        metrics, _ = experiment.advance()
    assert (metrics["loss"] or 0) > 0
    experiment.close()


@pytest.mark.parametrize("prioritised", [False, True])
def test_the_memory_is_as_the_settings_say(prioritised):
    settings = replace(SMALL, prioritised=prioritised, discount=0.9, n=3)
    with closing(dqn.Experiment(settings)) as experiment:
        memory = experiment.memory
        experiment.advance()
        batch = memory.sample(16)
    assert isinstance(memory, PrioritisedMemory) == prioritised
    assert (memory.discount, memory.n) == (0.9, 3)
    assert batch.discounts.max().item() == pytest.approx(0.9**3)


def test_weights_are_exact_at_the_end_also_where_a_step_is_four_frames():
    with closing(dqn.Experiment(replace(CATCH, importance_start=0.4))) as experiment:
        for frames, expected in ((0, 0.4), (30_000, 0.7), (60_000, 1.0)):
            experiment.frames = frames
            assert experiment.importance == pytest.approx(expected)
