"""Processes that ask the network themselves: the same as one that asks for all."""

import os
import shutil
import signal
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete

from labml_rl import runs
from labml_rl.batch import SerialGames, spaces_of_first
from labml_rl.environments import environment_makers
from labml_rl.networks import ActorCritic
from labml_rl.players import Players
from labml_rl.ppo.experiment import Experiment, Settings
from labml_rl.process import WorkerError
from labml_rl.runs import checkpoint
from labml_rl.sampling import Sampler, check_spaces
from labml_rl.speed import SpeedSettings, few_threads, in_precision, preparer
from tests.book.test_worker import START_METHODS, Fragile

EXACT = SpeedSettings(precision="float32")
SPACES = Box(0, 255, (4, 84, 84), np.uint8), Discrete(4)


def breakout(count: int, make: Any, **options: Any) -> Any:
    """A sampler or players for some games, which do what any policy does."""
    torch.manual_seed(1)
    network = ActorCritic((4, 84, 84), 4)
    with torch.no_grad():
        network.policy.weight.mul_(100)
    makers, names = environment_makers("Breakout", count, seed=1)
    generator = torch.Generator().manual_seed(1)
    return network, make(makers, names, network, generator, **options)


def one(makers: Any, names: Any, network: Any, generator: Any) -> Sampler:
    return Sampler(
        SerialGames(makers, names=names, copy=False),
        network,
        steps=6,
        generator=generator,
        prepare=preparer(network, EXACT),
    )


def several(makers: Any, names: Any, network: Any, generator: Any, **how: Any) -> Any:
    return Players(
        *(makers, names, network, SPACES),
        steps=6,
        settings=EXACT,
        generator=generator,
        **how,
    )


def nobody_is_left(players: Players) -> bool:
    return not any(worker.process.is_alive() for worker in players.workers)


@pytest.mark.parametrize("workers", [0, 1, 2, 3, 9])
def test_it_does_not_matter_who_plays_which_game(workers):
    network, sampler = breakout(5, one)
    its_network, players = breakout(5, several, workers=workers)
    assert len(players.workers) == min(max(workers, 1), 5) - 1
    for change in (1.0, 0.9):
        # What the agent has learned, all players know at once.
        with torch.no_grad():
            for each in (*network.parameters(), *its_network.parameters()):
                each.mul_(change)
        expected, found = sampler.sample(), players.sample()
        assert torch.equal(found.observations, expected.observations)
        assert torch.equal(found.actions, expected.actions)
        torch.testing.assert_close(found.log_probs, expected.log_probs)
        torch.testing.assert_close(found.rollout.values, expected.rollout.values)
        for name in ("rewards", "terminated", "truncated"):
            ours, theirs = (getattr(each.rollout, name) for each in (found, expected))
            assert torch.equal(ours, theirs)
        assert found.actions.unique().numel() > 1
    sampler.close()
    players.close()
    assert nobody_is_left(players)


def test_who_has_not_begun_does_not_finish():
    _, players = breakout(2, several, workers=1)
    with pytest.raises(ValueError, match=r"begin\(\) first"):
        players.finish()
    players.begin()
    with pytest.raises(ValueError, match=r"finish\(\) first"):
        players.begin()
    players.finish()
    with pytest.raises(ValueError, match=r"begin\(\) first"):
        players.finish()
    players.close()


@pytest.mark.parametrize("start_method", START_METHODS)
def test_however_they_are_started(start_method):
    _, players = breakout(2, several, workers=2, start_method=start_method)
    samples = players.sample()
    assert samples.observations.flatten(2).any(-1).all(), "each game was seen"
    assert (samples.rollout.values != 0).all()
    players.close()
    assert nobody_is_left(players)


def test_weights_that_were_replaced_are_noticed():
    """The workers would play on with the old ones."""
    network, players = breakout(2, several, workers=2)
    new = {name: each + 1 for name, each in network.state_dict().items()}
    network.load_state_dict(new)
    players.sample()
    network.load_state_dict(new, assign=True)
    with pytest.raises(ValueError, match="write new ones into the old ones"):
        players.sample()
    players.close()
    assert nobody_is_left(players)


class Centred(ActorCritic):
    """It subtracts a mean, which is no weight."""

    mean: torch.Tensor

    def __init__(self) -> None:
        super().__init__((4,), 2)
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return super().forward(observations - self.mean)


def test_buffers_that_were_replaced_are_noticed():
    """A mean of observations is one, and the workers would go on with the old one."""
    network = Centred()
    makers, names = environment_makers("CartPole-v1", 2, seed=1)
    players = Players(
        makers,
        names,
        network,
        check_spaces(*spaces_of_first(makers, names)),
        steps=2,
        settings=SpeedSettings(),
        workers=2,
    )
    network.mean += 1
    players.sample()
    network.mean = network.mean + 1
    with pytest.raises(ValueError, match=r"weights or buffers .* write new ones into"):
        players.sample()
    players.close()
    assert nobody_is_left(players)


def test_they_go_on_where_they_were():
    _, players = breakout(3, several, workers=2)
    players.sample()
    states = players.get_states()
    dice = players.generator.get_state()
    expected = players.sample()
    kept = expected.observations.clone(), expected.actions.clone()
    players.close()

    _, others = breakout(3, several, workers=3)
    others.sample()
    others.sample()
    observations = others.set_states(states)
    others.generator.set_state(dice)
    found = others.sample()
    assert torch.equal(found.observations, kept[0])
    assert torch.equal(found.actions, kept[1])
    before = others.own[0].seen(observations)
    assert torch.equal(found.observations[0], before)
    others.close()


class Tame(Fragile):
    """Nothing goes wrong here, whatever is done."""

    def step(self, action):
        return super().step(0)


def fragile(action: int, make: Any = Fragile) -> Players:
    """Two games of a worker in which something happens, and two in which nothing."""
    network = ActorCritic((100,), 7)
    with torch.no_grad():
        network.policy.bias[action] = 1000.0
    names = [f"Fragile, seed {seed}" for seed in range(10, 14)]
    return Players(
        *([Fragile, make, Tame, Tame], names, network),
        (Fragile.observation_space, Fragile.action_space),
        steps=3,
        settings=EXACT,
        workers=2,
        start_method="fork",
    )


@pytest.mark.parametrize(
    ("action", "cause"),
    [
        (1, "KeyError: 'the brick is missing'"),
        (2, "killed by SIGKILL"),
        (3, "no answer within 2 seconds"),
        (4, "exited with code 3"),
    ],
)
def test_a_player_that_fails_is_named_and_nobody_is_left(action, cause):
    players = fragile(action)
    # The one that does not answer is not waited for as long as it takes to start up.
    if action == 3:
        players.timeout = 2.0
    with pytest.raises(WorkerError) as caught:
        players.sample()
    message = str(caught.value)
    assert "player 0 with game 0 (Fragile, seed 10), game 1 (Frag" in message
    assert cause in message
    assert nobody_is_left(players)
    with pytest.raises(WorkerError, match="is closed"):
        players.sample()
    players.close()


@pytest.mark.parametrize("breaks", ["constructor", "reset"])
def test_a_game_that_does_not_begin(breaks):
    cause = {"constructor": "no such game", "reset": "no way to begin"}[breaks]
    with pytest.raises(WorkerError, match=cause):
        fragile(0, partial(Fragile, breaks))


@pytest.mark.usefixtures("nobody_stays")
def test_a_game_of_the_own_share_that_does_not_begin():
    makers: list[Any] = [Tame, partial(Fragile, "constructor")]
    with pytest.raises(FileNotFoundError, match="no such game") as caught:
        Players(
            *(makers, ["a", "b"], ActorCritic((100,), 7)),
            (Fragile.observation_space, Fragile.action_space),
            steps=3,
            settings=EXACT,
            workers=2,
        )
    assert "while game 1 (b) was made" in "".join(caught.value.__notes__)


def test_games_that_do_not_begin_are_closed(tmp_path):
    makers: list[Any] = [Tame, partial(Fragile, "reset", tmp_path / "own")]
    with pytest.raises(ValueError, match="no way to begin"):
        Players(
            *(makers, ["a", "b"], ActorCritic((100,), 7)),
            (Fragile.observation_space, Fragile.action_space),
            steps=3,
            settings=EXACT,
            workers=2,
        )
    assert (tmp_path / "own").exists()
    with pytest.raises(WorkerError, match="no way to begin"):
        fragile(0, partial(Fragile, "reset", tmp_path / "there"))
    assert (tmp_path / "there").exists()


def test_an_experiment_says_which_game_can_not_be_made(monkeypatch):
    def makers(*_: Any, **__: Any) -> Any:
        return [partial(Fragile, "constructor")], ["Fragile, seed 10"]

    monkeypatch.setattr("labml_rl.onpolicy.environment_makers", makers)
    with pytest.raises(FileNotFoundError, match="no such game") as caught:
        Experiment(Settings(game="Breakout", num_envs=1))
    notes = ["This happened while Fragile, seed 10 was made."]
    assert caught.value.__notes__ == notes


class Small(Tame):
    observation_space = Box(0, 255, (1,), np.uint8)


class Undecided(Tame):
    action_space = Discrete(3)


@pytest.mark.usefixtures("nobody_stays")
@pytest.mark.parametrize("other", [Small, Undecided])
@pytest.mark.parametrize(("place", "error"), [(0, WorkerError), (2, ValueError)])
def test_games_that_are_not_alike_are_refused(other, place, error):
    makers: list[Any] = [Tame] * 4
    makers[place] = other
    with pytest.raises(error, match=f"game {place}"):
        Players(
            *(makers, ["a", "b", "c", "d"], ActorCritic((100,), 7)),
            (Fragile.observation_space, Fragile.action_space),
            steps=3,
            settings=EXACT,
            workers=2,
            start_method="fork",
        )


@pytest.mark.parametrize("numbers", [{"steps": 0}, {"steps": 3, "workers": -1}])
def test_numbers_that_make_no_sense_are_refused(numbers):
    with pytest.raises(ValueError, match="must be at least"):
        Players(
            *([Tame] * 4, ["a", "b", "c", "d"], ActorCritic((100,), 7)),
            (Fragile.observation_space, Fragile.action_space),
            settings=EXACT,
            **numbers,
        )


def test_a_failure_in_the_own_share_ends_all():
    players = fragile(0)
    games: Any = players.own[0].games
    games._runner.envs[1].step = lambda action: 1 / 0
    with pytest.raises(ZeroDivisionError) as caught:
        players.sample()
    assert "game 3 (Fragile, seed 13)" in "".join(caught.value.__notes__)
    assert nobody_is_left(players)


def test_too_little_shared_memory_is_noticed_before_it_is_written_to(monkeypatch):
    left = 40 * 2**20
    usage = shutil.disk_usage("/")._replace(free=left)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(ValueError, match=r"share 69 MiB .* has 40 left.* but IMPALA"):
        Experiment(Settings(game="Breakout", num_envs=18, workers=2))
    Experiment(Settings(game="Breakout", num_envs=8, workers=2)).close()


SMALL = Settings(
    game="Breakout",
    num_envs=4,
    steps=8,
    workers=2,
    minibatches=2,
    total_frames=4 * 4 * 8 * 6,
)


def weights_after(updates: int, settings: Settings, state: Any = None) -> Any:
    experiment = Experiment(settings)
    try:
        if state is not None:
            experiment.set_state(state)
        while experiment.updates < updates:
            experiment.advance()
        return [each.clone() for each in experiment.network.parameters()], (
            experiment.get_state()
        )
    finally:
        experiment.close()


def test_a_run_with_players_goes_on_with_the_same_numbers():
    whole, _ = weights_after(4, SMALL)
    _, state = weights_after(2, SMALL)
    again, _ = weights_after(4, SMALL, state)
    for a, b in zip(whole, again, strict=True):
        assert torch.equal(a, b)


class Interrupted(Experiment):
    """The power fails in the third update."""

    algorithm = "interrupted"
    works = True

    def advance(self):
        if self.updates == 2 and not Interrupted.works:
            Interrupted.works = True
            raise InterruptedError
        return super().advance()


def test_a_run_goes_on_the_same_on_more_cores(tmp_path, monkeypatch):
    settings = replace(SMALL, workers=None)

    def cores(number: int) -> None:
        monkeypatch.setattr("labml_rl.runs.experiment.available_cores", lambda: number)
        monkeypatch.setattr("labml_rl.players.available_cores", lambda: number)

    cores(2)
    whole = runs.train(Interrupted, settings, folder=tmp_path / "whole")
    monkeypatch.setattr(Interrupted, "works", False)
    path = tmp_path / "run"
    with pytest.raises(InterruptedError):
        runs.train(Interrupted, settings, folder=path, checkpoint_minutes=0)
    cores(4)
    runs.resume(Interrupted, path)
    expected, found = (
        checkpoint.load(each / "checkpoint.safetensors")["network"]
        for each in (whole, path)
    )
    for name, weights in expected.items():
        assert torch.equal(weights, found[name]), name


def test_it_learns_the_same_without_players():
    """In 32 bits, and for as long as no rounding changes an action."""
    settings = replace(SMALL, precision="float32")
    with_players, _ = weights_after(2, settings)
    for other in (replace(settings, players=False), replace(settings, workers=0)):
        without, _ = weights_after(2, other)
        for a, b in zip(with_players, without, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-3, atol=2e-4)


def test_players_elsewhere_answer_in_the_same_precision():
    """The first two of four games are those of another process."""
    settings = replace(SMALL, precision="bfloat16")
    experiment = Experiment(settings)
    samples = experiment.play()
    found = samples.rollout.values[:-1, :2]
    off = {}
    for precision in ("bfloat16", "float32"):
        other = replace(settings, precision=precision)
        device = experiment.device
        with torch.no_grad(), few_threads(other), in_precision(other, device):
            seen = samples.observations[:, :2]
            expected = torch.stack([experiment.network(each)[1] for each in seen])
        off[precision] = (found - expected).abs().max().item()
    experiment.close()
    assert 10 * off["bfloat16"] < off["float32"]


def test_who_is_killed_takes_the_players_along():
    players = fragile(0)
    (worker,) = players.workers
    os.kill(worker.process.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="killed by SIGKILL"):
        players.sample()


def test_games_in_halves_come_to_the_network_by_turns():
    options: dict[str, Any] = {
        "game": "Breakout",
        "num_envs": 3,
        "steps": 6,
        "minibatches": 2,
        "device": "cpu",
        "precision": "float32",
        "players": False,
    }
    found = []
    for workers, halves in ((1, True), (0, False)):
        torch.manual_seed(1)
        experiment = Experiment(Settings(**options, workers=workers, halves=halves))
        network: Any = experiment.network
        with torch.no_grad():
            network.policy.weight.mul_(100)
        found.append(experiment.play())
        states = experiment.games.get_states()
        assert len(states) == 3
        experiment.close()
    by_turns, whole = found
    assert torch.equal(by_turns.observations, whole.observations)
    assert torch.equal(by_turns.actions, whole.actions)
    assert whole.actions.unique().numel() > 1
    torch.testing.assert_close(by_turns.log_probs, whole.log_probs)


def test_halves_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="2 games or more"):
        Settings(halves=True, num_envs=1, minibatches=1)
    with pytest.raises(ValueError, match="workers=0"):
        Settings(halves=True, workers=0)
    with pytest.raises(ValueError, match="--no-players"):
        Experiment(Settings(halves=True, device="cpu", workers=1))


def test_games_of_the_own_share_are_closed_too():
    _, players = breakout(2, several, workers=1)
    players.close()
    assert [player.games.closed for player in players.own] == [True]


@pytest.mark.usefixtures("nobody_stays")
def test_a_game_of_the_second_half_has_its_own_number(monkeypatch):
    def makers(*_: Any, **__: Any) -> Any:
        return [Fragile] * 3 + [partial(Fragile, "constructor")], ["a", "b", "c", "d"]

    monkeypatch.setattr("labml_rl.onpolicy.environment_makers", makers)
    settings = Settings(num_envs=4, workers=1, halves=True, players=False)
    with pytest.raises(WorkerError, match=r"game 3 \(d\)"):
        Experiment(settings)
