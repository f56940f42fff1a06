"""PPO that learns from one rollout while it plays the next."""

import contextlib
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from labml_rl.graphs import WARM_UP
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import recurrent, rnd
from labml_rl.runs import checkpoint
from tests.book import test_graphs
from tests.book.fake_graphs import pretend
from tests.book.test_learning import frames_until

SIZE: dict[str, Any] = test_graphs.SIZE | {
    "epochs": 3,
    "few_threads": False,  # or it would add up in another order
    "learning_rate": 1e-3,
}
OVERLAP = ppo.Settings(**SIZE, overlap=True)
UPDATES = 4


def weights_of(network: torch.nn.Module) -> torch.Tensor:
    """
    As they are now. One that still had a gradient would keep what a recorded step
    wants to make anew: where gradients are added up, and on which stream.
    """
    return parameters_to_vector(network.parameters()).detach().clone()


def advanced(experiment: Any, updates: int = UPDATES) -> tuple[Any, Any, Any]:
    """What it measured, what it learned, and what the games show in the end."""
    with contextlib.closing(experiment):
        metrics = [experiment.advance()[0] for _ in range(updates)]
        seen = experiment.games.sheet.observations.clone()
        return metrics, weights_of(experiment.network), seen


def after_each_other(experiment: Any) -> Any:
    """It plays a rollout, and then it learns from the one before."""

    def learn_and_play(steps: Any) -> None:
        latest = experiment.play()
        for _ in steps:
            pass
        experiment.latest = latest

    experiment.learn_and_play = learn_and_play
    return experiment


def check_same(one: tuple[Any, Any, Any], other: tuple[Any, Any, Any]) -> None:
    assert one[0] == other[0]
    assert torch.equal(one[1], other[1])
    assert torch.equal(one[2], other[2])


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("experiment_class", "settings"),
    [
        (ppo.Experiment, OVERLAP),
        (ppo.Experiment, replace(OVERLAP, max_divergence=1e-4)),
        (rnd.Experiment, rnd.Settings(**SIZE, overlap=True)),
        (recurrent.Experiment, recurrent.Settings(**SIZE, overlap=True)),
    ],
    ids=["ppo", "ppo that stops early", "rnd", "recurrent"],
)
def test_by_turns_it_learns_what_it_learns_after_each_other(
    experiment_class, settings, precision
):
    """
    It is so with 16 bits, too: neither of the two networks sees weights of yesterday.
    """
    settings = replace(settings, precision=precision)
    check_same(
        advanced(experiment_class(settings)),
        advanced(after_each_other(experiment_class(settings))),
    )


@pytest.mark.usefixtures("catch")
def test_who_plays_is_one_update_behind():
    with contextlib.closing(ppo.Experiment(OVERLAP)) as experiment:
        first = weights_of(experiment.network)
        experiment.advance()
        second = weights_of(experiment.network)
        assert torch.equal(weights_of(experiment.actor), first)
        assert not torch.equal(second, first)

        # Two rollouts have been played, and one was learned from.
        assert experiment.frames == 2 * 4 * (SIZE["num_envs"] * SIZE["steps"])
        experiment.advance()
        assert torch.equal(weights_of(experiment.actor), second)


@pytest.mark.usefixtures("catch")
def test_who_plays_has_all_that_the_network_keeps():
    """A buffer that no checkpoint has, too."""

    class Counting(ppo.Experiment):
        @staticmethod
        def make_network(settings, observation_space, action_space):
            network = ppo.Experiment.make_network(
                settings, observation_space, action_space
            )
            network.register_buffer("count", torch.zeros(1), persistent=False)
            return network

        def update(self):
            (count,) = self.network.buffers()
            count.add_(1)
            return super().update()

    with contextlib.closing(Counting(OVERLAP)) as experiment:
        for _ in range(3):
            experiment.advance()
        assert experiment.actor.count == experiment.network.count == 3


def test_weights_that_were_loaded_play_from_the_first_rollout_on(monkeypatch):
    with contextlib.closing(ppo.Experiment(OVERLAP)) as experiment:
        with torch.no_grad():
            for weights in experiment.network.parameters():
                weights.mul_(0.5)
        played: list[torch.Tensor] = []
        play = experiment.play

        def watched(*sample: Any) -> Any:
            played.append(weights_of(experiment.actor))
            return play(*sample)

        monkeypatch.setattr(experiment, "play", watched)
        loaded = weights_of(experiment.network)
        experiment.advance()
    assert len(played) == 2
    assert all(torch.equal(weights, loaded) for weights in played)


@pytest.mark.parametrize(
    ("experiment_class", "settings"),
    [
        (ppo.Experiment, OVERLAP),
        (rnd.Experiment, rnd.Settings(**SIZE, overlap=True)),
        (recurrent.Experiment, recurrent.Settings(**SIZE, overlap=True)),
    ],
    ids=["ppo", "rnd", "recurrent"],
)
@pytest.mark.parametrize("before", [0, 2])
def test_a_run_that_was_stopped_goes_on_the_same(
    experiment_class, settings, before, tmp_path
):
    never_stopped = advanced(experiment_class(settings))
    path = tmp_path / "checkpoint.safetensors"
    with contextlib.closing(experiment_class(settings)) as experiment:
        metrics = [experiment.advance()[0] for _ in range(before)]
        checkpoint.save(path, experiment.get_state())
    resumed = experiment_class(settings)
    resumed.set_state(checkpoint.load(path))
    rest, weights, seen = advanced(resumed, updates=UPDATES - before)
    check_same((metrics + rest, weights, seen), never_stopped)


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize(
    "experiment_class", [ppo.Experiment, rnd.Experiment, recurrent.Experiment]
)
def test_the_clip_counts_from_who_begins_to_learn(experiment_class):
    """In the first step that is nowhere; from who played, it would be a way."""
    settings = experiment_class.settings_class(
        **SIZE | {"learning_rate": 0.003}, overlap=True, precision="float32"
    )
    experiment: Any = experiment_class(settings)
    with contextlib.closing(experiment):
        experiment.advance()
        divergences = []
        for _ in range(2):
            batch = experiment.make_batch(experiment.latest).copy()
            learned: list[dict[str, torch.Tensor]] = []
            steps = experiment.steps_of(batch, learned)
            while not learned:
                next(steps)
            divergences.append(learned[0]["divergence"].item())
            experiment.advance()
            experiment.from_here = lambda batch: batch
    from_here, from_who_played = divergences
    assert abs(from_here) < 1e-6
    assert from_who_played > 1e-5


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_recorded_it_learns_the_same(precision, monkeypatch):
    pretend(monkeypatch)
    settings = replace(OVERLAP, precision=precision)
    plain = test_graphs.prepared(ppo.Experiment(settings))
    recorded = test_graphs.recorded(ppo.Experiment(settings))
    (player,) = recorded.games.players
    check_same(advanced(recorded), advanced(plain))
    steps = UPDATES * SIZE["epochs"] * SIZE["minibatches"]
    assert recorded.how.graph.replays == steps - WARM_UP
    assert player.how.graph.replays == (UPDATES + 1) * SIZE["steps"] - WARM_UP


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("catch")
def test_a_game_is_learned_from_its_pixels():
    settings = ppo.Settings(
        game="Pong",
        workers=0,
        players=False,
        total_frames=120_000,
        steps=64,
        learning_rate=5e-4,
        overlap=True,
    )
    assert frames_until(settings, 7.2) < [float("inf")]


@pytest.mark.usefixtures("nobody_stays")
def test_what_goes_wrong_while_they_play_ends_it():
    """The games have been asked for a step, and nobody takes the answer."""
    settings = replace(OVERLAP, workers=1, halves=True)
    experiment: Any = ppo.Experiment(settings)
    with contextlib.closing(experiment):
        experiment.advance()
        experiment.learn = fail
        with pytest.raises(ArithmeticError, match="no step"):
            experiment.advance()


def fail(_: Any) -> Any:
    raise ArithmeticError("no step")


def test_players_who_have_their_own_games_refuse():
    with pytest.raises(ValueError, match="add --no-players, or leave --overlap"):
        ppo.Experiment(replace(OVERLAP, players=True))
