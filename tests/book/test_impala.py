"""IMPALA: V-trace, actors that play meanwhile, and the loop."""

import csv
import time
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Discrete
from hypothesis import given
from hypothesis import strategies as st

from labml_rl.a2c import experiment as a2c
from labml_rl.a2c import policy_loss
from labml_rl.environments import environment_makers
from labml_rl.graphs import held_by
from labml_rl.impala import vtrace
from labml_rl.impala.actors import Actors
from labml_rl.impala.experiment import (
    Experiment,
    Settings,
    SmallExperiment,
    SmallSettings,
)
from labml_rl.networks import ActorCritic, log_probs_of
from labml_rl.process import WorkerError
from labml_rl.returns import Rollout, discounted_returns
from labml_rl.runs import checkpoint
from labml_rl.speed import SpeedSettings
from labml_rl.worker import available_cores
from tests.book.test_examples import numbers, table
from tests.book.test_learning import frames_until
from tests.book.test_players import Tame
from tests.book.test_returns import FRACTIONS, rollouts, same
from tests.book.test_worker import Fragile

RUNS = Path(__file__).parents[2] / "results" / "runs"
TINY = replace(SmallSettings(), num_envs=4, steps=8, total_frames=4_000)
EXACT = SpeedSettings(precision="float32")
CART: Any = gymnasium.make("CartPole-v1").observation_space

# --- V-trace ---


def targets_by_hand(rollout, ratios, discount, rho, c):
    """The sum of the paper's equation (1), term by term, and the advantages."""
    steps, games = rollout.rewards.shape
    following = np.zeros((steps, games))
    for t, game in np.ndindex(steps, games):
        if rollout.terminated[t, game]:
            continue
        values = rollout.values[1:]
        if rollout.truncated[t, game]:
            values = rollout.final_values
        following[t, game] = values[t, game].item()
    values = rollout.values[:-1].numpy()
    errors = rollout.rewards.numpy() + discount * following - values
    targets = np.zeros((steps, games))
    for first, game in np.ndindex(steps, games):
        target, weight = values[first, game], 1.0
        for t in range(first, steps):
            target += weight * min(rho, ratios[t, game]) * errors[t, game]
            weight *= discount * min(c, ratios[t, game])
            if rollout.ends[t, game]:
                break
        targets[first, game] = target
    advantages = np.zeros((steps, games))
    for t, game in np.ndindex(steps, games):
        after = following[t, game]
        if t + 1 < steps and not rollout.ends[t, game]:
            after = targets[t + 1, game]
        gain = rollout.rewards[t, game].item() + discount * after - values[t, game]
        advantages[t, game] = min(rho, ratios[t, game]) * gain
    return targets, advantages


@given(rollouts(), FRACTIONS, st.floats(0.1, 3), FRACTIONS, st.integers(0, 2**32))
def test_vtrace_is_the_sum_of_the_paper(rollout, discount, rho, share, seed):
    c = max(rho * share, 0.01)
    dice = np.random.default_rng(seed)
    log_ratios = dice.normal(size=rollout.rewards.shape)
    found = vtrace(
        rollout,
        torch.tensor(log_ratios),
        discount=discount,
        ratio_clip=rho,
        trace_clip=c,
    )
    expected = targets_by_hand(rollout, np.exp(log_ratios), discount, rho, c)
    for one, other in zip(found, expected, strict=True):
        same(one, other)


@given(rollouts(), FRACTIONS)
def test_of_the_latest_policy_it_is_what_a2c_learns_from(rollout, discount):
    log_ratios = torch.zeros_like(rollout.rewards)
    targets, advantages = vtrace(rollout, log_ratios, discount=discount)
    returns = discounted_returns(rollout, discount=discount)
    same(targets, returns)
    same(advantages, returns - rollout.values[:-1])


def test_the_example_of_the_page():
    rows = table(str(vtrace.__doc__), "step $t$")
    names = ("reward $r_t$", "value $V(o_t)$", "$\\pi / \\mu$")
    rewards, values, ratios = (torch.tensor(numbers(rows[name])) for name in names)
    rollout = Rollout(
        rewards=rewards[:, None],
        values=torch.cat([values, torch.tensor([9.0])])[:, None],
        terminated=torch.tensor([[False], [False], [True]]),
        truncated=torch.zeros(3, 1, dtype=torch.bool),
    )
    log_ratios = ratios.log()[:, None]
    targets, advantages = vtrace(rollout, log_ratios, discount=0.9)
    latest, _ = vtrace(rollout, 0 * log_ratios, discount=0.9)
    assert numbers(rows["$\\rho_t$ and $c_t$"]) == ratios.clamp(max=1).tolist()
    for name, found in {
        "what follows, $F_t$": rollout.following,
        "target $v_t$": targets,
        "advantage $\\hat{A}_t$": advantages,
        "target if $\\mu$ were $\\pi$": latest,
    }.items():
        assert numbers(rows[name]) == pytest.approx(found[:, 0].tolist())


def between(played, learns):
    """The policy of the page: the smaller of both, scaled to a sum of 1."""
    smaller = np.minimum(played, learns)
    return smaller / smaller.sum()


@pytest.mark.parametrize("trace_clip", [1.0, 0.5, 0.1])
def test_the_values_become_those_of_a_policy_between_the_two(trace_clip):
    """Two steps of two actions each, all four ways as often as they are played."""
    rows = table(str(vtrace.__doc__), "policy")
    played, learns = (numbers(rows[f"$\\{name}$, which {does}"]) for name, does in
                      (("mu", "played"), ("pi", "learns")))  # fmt: skip
    policy = between(np.array(played), np.array(learns))
    shown = numbers(rows["the same, scaled to a sum of 1"])
    assert np.round(policy, 2).tolist() == shown

    # Each way as often as it would be played, in a hundred games.
    pays = np.array([[1.0, -2.0], [0.5, 3.0]])
    often = [[round(100 * a * b) for b in played] for a in played]
    games = [(a, b) for a, b in np.ndindex(2, 2) for _ in range(often[a][b])]
    assert len(games) == 100
    actions: Any = np.array(games).T  # (2, 100)
    rewards = torch.tensor(np.stack([pays[0][actions[0]], pays[1][actions[1]]]))
    ratios = torch.tensor((np.array(learns) / np.array(played))[actions])
    ends = torch.tensor([[False], [True]]).expand(2, 100)
    first = second = 0.0
    changes = []
    for _ in range(200):
        rollout = Rollout(
            rewards=rewards,
            values=torch.tensor([[first], [second], [7.0]]).double().expand(3, 100),
            terminated=ends,
            truncated=torch.zeros_like(ends),
        )
        targets, _ = vtrace(rollout, ratios.log(), discount=0.9, trace_clip=trace_clip)
        before = first
        first, second = targets.mean(1).tolist()
        changes.append(abs(first - before))
    expected = policy @ pays[1]
    assert second == pytest.approx(expected)
    assert first == pytest.approx(policy @ pays[0] + 0.9 * expected)
    assert changes[-1] < 1e-9
    # Values of the policy that learns, or of the one that played, would be others.
    for other in (played, learns):
        assert abs(np.array(other) @ pays[1] - second) > 0.1


def test_what_makes_no_sense_to_vtrace():
    rollout = Rollout(
        rewards=torch.zeros(2, 3),
        values=torch.zeros(3, 3),
        terminated=torch.zeros(2, 3, dtype=torch.bool),
        truncated=torch.zeros(2, 3, dtype=torch.bool),
    )
    good = torch.zeros(2, 3)
    with pytest.raises(ValueError, match=r"log_ratios \(3, 3\), rewards \(2, 3\)"):
        vtrace(rollout, torch.zeros(3, 3), discount=0.9)
    with pytest.raises(ValueError, match="log_ratios must be numbers that were seen"):
        vtrace(rollout, good.clone().requires_grad_(), discount=0.9)
    with pytest.raises(ValueError, match="discount must be between 0 and 1, not 2"):
        vtrace(rollout, good, discount=2.0)
    for clips in ({"trace_clip": 2.0}, {"trace_clip": 0.0}, {"ratio_clip": 0.5}):
        with pytest.raises(ValueError, match="trace_clip must be above 0 and not"):
            vtrace(rollout, good, discount=0.9, **clips)


# --- the actors ---


def cart(network: Any, make: Any = None, **options: Any) -> Actors:
    makers, names = environment_makers("CartPole-v1", 4, seed=1)
    return Actors(
        make or makers,
        names,
        network,
        (CART, Discrete(2)),
        steps=6,
        settings=EXACT,
        **{"generator": torch.Generator().manual_seed(1), **options},
    )


def a_network() -> ActorCritic:
    torch.manual_seed(1)
    network = ActorCritic((4,), 2)
    with torch.no_grad():
        network.policy.weight.mul_(100)
    return network


def change(network: Any) -> None:
    with torch.no_grad():
        for each in network.parameters():
            each.add_(0.3 * torch.randn_like(each))


@pytest.mark.usefixtures("nobody_stays")
@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("lag", [0, 1, 3])
def test_they_play_with_weights_that_are_as_old_as_was_asked_for(lag, workers):
    network = a_network()
    weights = []
    with closing(cart(network, lag=lag, workers=workers)) as actors:
        others = max(workers - (lag == 0), 0)
        assert len(actors.players.workers) == others
        for update in range(6):
            samples = actors.sample()
            weights.append(deepcopy(network))
            with torch.no_grad():
                said = [
                    log_probs_of(each(samples.observations)[0], samples.actions)
                    for each in weights
                ]
            played_with = max(update - lag, 0)
            torch.testing.assert_close(samples.log_probs, said[played_with])
            for older in range(played_with):
                assert not torch.allclose(samples.log_probs, said[older])
            change(network)


@pytest.mark.usefixtures("nobody_stays")
def test_it_does_not_matter_who_plays():
    rollouts: list[Any] = []
    for workers in (0, 1, 3):
        network = a_network()
        with closing(cart(network, workers=workers)) as actors:
            for _ in range(4):
                torch.manual_seed(len(rollouts) % 4)
                samples = actors.sample()
                kept = samples.observations.clone(), samples.actions.clone()
                rollouts.append((*kept, samples.rollout.rewards))
                change(network)
    for one, two, three in zip(*(rollouts[i : i + 4] for i in (0, 4, 8)), strict=True):
        for first, *others in zip(one, two, three, strict=True):
            for other in others:
                assert torch.equal(first, other)


class Patient(gymnasium.Env[Any, Any]):
    """Its steps take until there is a file."""

    observation_space: Any = CART
    action_space = Discrete(2)

    def __init__(self, path: Path) -> None:
        self.path = path

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return np.zeros(4, np.float32), {}

    def step(self, action: Any) -> Any:
        while not self.path.exists():
            time.sleep(0.01)
        return np.ones(4, np.float32), 1.0, False, False, {}


@pytest.mark.usefixtures("nobody_stays")
def test_nobody_waits_for_those_who_play(tmp_path):
    """They could not have played, and the learner has its rollout and goes on."""
    path = tmp_path / "go"
    path.touch()
    makers = [partial(Patient, path)] * 4
    with closing(cart(a_network(), makers, workers=2)) as actors:
        actors.sample()
        # Those of the next may have begun already.
        actors.finish()
        path.unlink()
        samples = actors.sample()
        assert actors.playing
        seen = samples.observations.clone()
        time.sleep(0.2)
        assert torch.equal(samples.observations, seen)
        # Two have not answered, and can't have.
        assert not any(each._connection.poll() for each in actors.players.workers)
        path.touch()
        assert actors.sample().rollout.rewards.sum() == 24


@pytest.mark.usefixtures("nobody_stays")
def test_the_learner_keeps_its_sheet_while_others_write():
    network = a_network()
    with closing(cart(network, workers=2)) as actors:
        samples = actors.sample()
        kept = [each.clone() for each in actors.sheet.parts()]
        actors.finish()
        theirs = actors.players.sheet
        assert not torch.equal(theirs.observations, kept[0])
        for part, before in zip(actors.sheet.parts(), kept, strict=True):
            torch.testing.assert_close(part, before, equal_nan=True)
        assert samples.observations.data_ptr() == actors.sheet.observations.data_ptr()


def test_all_that_a_network_keeps_is_copied():
    class Counting(ActorCritic):
        count: torch.Tensor

        def __init__(self) -> None:
            super().__init__((4,), 2)
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))

    network = Counting()
    with closing(cart(network, workers=0)) as actors:
        actors.sample()
        change(network)
        network.count.fill_(7)
        actors.sample()
        pairs = zip(held_by(network), held_by(actors.old), strict=True)
        for one, other in pairs:
            assert torch.equal(one, other)
            assert one.data_ptr() != other.data_ptr()


@pytest.mark.usefixtures("nobody_stays")
@pytest.mark.parametrize(
    ("action", "cause"),
    [(1, "KeyError: 'the brick is missing'"), (2, "killed by SIGKILL")],
)
def test_an_actor_that_fails_is_named_and_nobody_is_left(action, cause):
    network = ActorCritic((100,), 7)
    with torch.no_grad():
        network.policy.bias[action] = 1000.0
    makers: list[Any] = [Fragile, Tame]
    actors = Actors(
        makers,
        ["fragile", "tame"],
        network,
        (Fragile.observation_space, Fragile.action_space),
        steps=3,
        settings=EXACT,
        workers=2,
    )
    with pytest.raises(WorkerError, match="player 0 with game 0 ") as caught:
        actors.sample()
    assert cause in str(caught.value)
    assert not any(each.process.is_alive() for each in actors.players.workers)
    actors.close()


def test_states_for_other_games_are_refused():
    with closing(cart(a_network(), workers=0)) as actors:
        actors.sample()
        states = actors.get_states()
        with pytest.raises(ValueError, match="5 states for 4 games"):
            actors.set_states([*states, states[0]])


# --- the experiment ---


def changes_of(experiment: Any, rate: float, updates: int = 4) -> list[torch.Tensor]:
    """The weights after some steps of plain descent, and not of RMSProp."""
    parameters = list(experiment.network.parameters())
    experiment.optimizer = torch.optim.SGD(parameters, lr=rate)
    experiment.first_rates = [rate]
    for _ in range(updates):
        experiment.advance()
    return [each.detach().clone() for each in parameters]


def test_with_actors_that_wait_it_is_a2c():
    """But for the sum in place of a mean."""
    common: dict[str, Any] = {
        "game": "CartPole-v1",
        "num_envs": 4,
        "steps": 8,
        "workers": 0,
        "device": "cpu",
        "precision": "float32",
        "total_frames": 4_000,
        "max_gradient_norm": 1e9,
    }
    with closing(a2c.Experiment(a2c.Settings(**common))) as other:
        expected = changes_of(other, 32 * 0.003)
    begun: list[torch.Tensor] = []
    for lag in (0, 2):
        with closing(Experiment(Settings(**common, lag=lag))) as experiment:
            begun = [each.detach().clone() for each in experiment.network.parameters()]
            found = changes_of(experiment, 0.003)
        alike = [
            torch.allclose(one, two, atol=1e-6, rtol=1e-4)
            for one, two in zip(found, expected, strict=True)
        ]
        assert all(alike) if lag == 0 else not all(alike)
    assert not all(map(torch.equal, begun, expected))


def test_what_it_learns_from_is_what_the_network_says_now():
    """The values of today, and ratios between today and when it was played."""
    noted: list[Any] = []

    class Noting(Experiment):
        def learn(self, samples):
            self.network.requires_grad_(False)
            sheet = self.games.sheet
            logits, values = self.network(sheet.observations)
            kept = replace(samples, actions=samples.actions.clone())
            noted.append((kept, logits[:-1], values))
            self.network.requires_grad_(True)
            return super().learn(samples)

    settings = replace(TINY, lag=2, learning_rate=0.1, max_gradient_norm=1e9)
    given_to: list[Any] = []

    def watched(rollout, log_ratios, **options):
        given_to.append((rollout, log_ratios, options))
        return vtrace(rollout, log_ratios, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("labml_rl.impala.experiment.vtrace", watched)
        with closing(Noting(settings)) as experiment:
            metrics = [experiment.advance()[0] for _ in range(4)]
    for seen, noted_then, given_then in zip(metrics, noted, given_to, strict=True):
        samples, logits, values = noted_then
        rollout, log_ratios, options = given_then
        torch.testing.assert_close(rollout.values, values)
        assert torch.equal(rollout.rewards, samples.rollout.rewards)
        now = log_probs_of(logits, samples.actions)
        torch.testing.assert_close(log_ratios, now - samples.log_probs)
        expected = {"discount": 0.99, "ratio_clip": 1.0, "trace_clip": 1.0}
        assert options == expected
        ratios = log_ratios.exp()
        divergence = (ratios - 1 - log_ratios).mean().item()
        assert seen["divergence"] == pytest.approx(divergence, abs=1e-6)
    assert metrics[0]["divergence"] == pytest.approx(0, abs=1e-6)
    last = metrics[-1]["divergence"]
    assert last is not None
    assert last > 1e-4


@pytest.mark.usefixtures("nobody_stays")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"lag": 0},
        {"lag": 3},
        {"game": "Pong", "workers": 2},
        {"game": "Pong", "workers": 1, "precision": "bfloat16", "blocks": False},
    ],
    ids=["pole", "no lag", "lag", "actors", "16 bits"],
)
@pytest.mark.parametrize("updates", [1, 3])
def test_a_run_that_was_interrupted_comes_to_the_same_end(tmp_path, changes, updates):
    settings = replace(TINY, **changes)
    with closing(Experiment(settings)) as experiment:
        for _ in range(updates):
            experiment.advance()
        checkpoint.save(tmp_path / "state", experiment.get_state())
        rest = [experiment.advance() for _ in range(5)]
        with closing(Experiment(settings)) as again:
            again.set_state(checkpoint.load(tmp_path / "state"))
            for each in rest:
                assert again.advance() == each
            for one, other in zip(
                experiment.network.parameters(), again.network.parameters(), strict=True
            ):
                assert torch.equal(one, other)


def test_a_run_that_did_not_stop_to_be_saved_is_no_other():
    ends = []
    for saves in (False, True):
        with closing(Experiment(replace(TINY, lag=2))) as experiment:
            for _ in range(5):
                if saves:
                    experiment.get_state()
                metrics, _ = experiment.advance()
            ends.append(metrics)
    assert ends[0] == ends[1]


@pytest.mark.parametrize("forgotten", ["sheet", "past"])
def test_a_rollout_on_its_way_is_not_forgotten(tmp_path, forgotten):
    settings = replace(TINY, lag=3)
    with closing(SmallExperiment(settings)) as experiment:
        for _ in range(4):
            experiment.advance()
        checkpoint.save(tmp_path / "state", experiment.get_state())
        rest = [experiment.advance() for _ in range(4)]
    state = checkpoint.load(tmp_path / "state")
    for each in state["rollout"][forgotten]:
        for part in each if forgotten == "past" else [each]:
            part.zero_()
    with closing(SmallExperiment(settings)) as again:
        again.set_state(state)
        assert [again.advance() for _ in range(4)] != rest


def test_a_checkpoint_grows_by_no_more_than_it_says(tmp_path):
    for lag in (0, 1, 4):
        with closing(SmallExperiment(replace(TINY, lag=lag))) as experiment:
            sizes = []
            for _ in range(7):
                checkpoint.save(tmp_path / "state", experiment.get_state())
                size = (tmp_path / "state").stat().st_size
                sizes.append(size)
                experiment.advance()
            assert sizes[0] < sizes[-1] <= 1.05 * (sizes[0] + experiment.growth)


@pytest.mark.usefixtures("same_threads_afterwards")
def test_the_learner_takes_the_cores_that_actors_leave(monkeypatch):
    found = []

    class Noting(Experiment):
        def learn(self, samples):
            found.append(torch.get_num_threads())
            return super().learn(samples)

    torch.set_num_threads(4)
    for workers in (1, 3, 0):
        for lag in (0, 1):
            settings = replace(TINY, game="Pong", num_envs=3, steps=2)
            settings = replace(settings, lag=lag, workers=workers)
            with closing(Noting(settings)) as experiment:
                experiment.advance()
    assert found == [4, 3, 4, 1, 4, 4]
    assert torch.get_num_threads() == 4


def test_half_of_the_cores_are_for_actors(monkeypatch):
    for cores, workers in ((1, 1), (2, 1), (3, 1), (16, 8)):
        monkeypatch.setattr(
            "labml_rl.impala.experiment.available_cores", lambda cores=cores: cores
        )
        assert Settings(device="cpu").decided().workers == workers
        assert Settings(device="cpu", workers=5).decided().workers == 5
    assert Settings(device="cpu", lag=0).decided().workers == available_cores()


def test_what_makes_no_sense_to_impala():
    for wrong in ({"players": False}, {"halves": True, "workers": 2}):
        with pytest.raises(ValueError, match="actors have the network and games of"):
            Settings(**wrong)
    with pytest.raises(ValueError, match=r"trace_clip must be at most 1\.0, not 2"):
        Settings(trace_clip=2.0)
    with pytest.raises(ValueError, match="lag must be at least 0"):
        Settings(lag=-1)
    with pytest.raises(ValueError, match="ratio_clip must be above 0"):
        Settings(ratio_clip=0.0, trace_clip=0.0)


def test_the_settings_are_the_authors():
    found = Settings()
    assert (found.num_envs, found.steps) == (32, 20)
    assert (found.learning_rate, found.rms_epsilon) == (6e-4, 0.01)
    assert (found.max_gradient_norm, found.discount) == (40.0, 0.99)
    assert (found.value_coefficient, found.entropy_coefficient) == (0.5, 0.01)
    assert (found.ratio_clip, found.trace_clip, found.lag) == (1.0, 1.0, 1)


def test_the_epsilon_is_as_large_as_the_page_says():
    """Nearly all gradients are cut, and then their squares are a tenth of it."""
    found = Settings()
    with (RUNS / "impala" / "breakout" / "seed-1" / "progress.csv").open() as file:
        norms = [float(row["gradient_norm"]) for row in csv.DictReader(file)]
    assert np.mean(np.array(norms) > found.max_gradient_norm) > 0.95
    weights = sum(each.numel() for each in ActorCritic((4, 84, 84), 4).parameters())
    assert round(weights, -5) == 1_700_000
    mean = found.max_gradient_norm**2 / weights
    assert mean == pytest.approx(0.001, rel=0.1)
    assert mean < 0.1 * found.rms_epsilon
    # With a mean of the losses in place of their sum, and the usual gradient.
    usual = np.median(norms) / (found.num_envs * found.steps)
    ours = found.max_gradient_norm / np.sqrt(mean + found.rms_epsilon)
    theirs = usual / np.sqrt(usual**2 / weights + found.rms_epsilon)
    assert ours / theirs == pytest.approx(100, rel=0.5)


# --- learning ---


def test_the_pole_is_balanced():
    good, solved = frames_until(
        SmallSettings(), 150, 475, experiment_class=SmallExperiment
    )
    assert solved <= SmallSettings().total_frames
    assert good <= 0.25 * SmallSettings().total_frames


def of_other_actions(monkeypatch):
    """An action is praised for what another brought."""
    monkeypatch.setattr(
        "labml_rl.impala.experiment.log_probs_of",
        lambda logits, actions: log_probs_of(logits, 1 - actions),
    )


def with_sign(monkeypatch):
    monkeypatch.setattr(
        "labml_rl.impala.experiment.policy_loss", lambda *given: -policy_loss(*given)
    )


@pytest.mark.long
@pytest.mark.parametrize("plant", [of_other_actions, with_sign])
def test_with_a_bug_it_learns_nothing(plant, monkeypatch):
    plant(monkeypatch)
    reached = frames_until(
        SmallSettings(), 150, part=0.25, experiment_class=SmallExperiment
    )
    assert reached == [float("inf")]
