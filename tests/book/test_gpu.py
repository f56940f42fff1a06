"""On a GPU, if there is one and it is asked for: with TEST_GPU=1 in the environment.

What is compared bit for bit elsewhere is compared to a few digits here.
"""

import contextlib
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from labml_rl import runs, small
from labml_rl.bodies import NatureBody
from labml_rl.networks import ActorCritic
from labml_rl.ppo import experiment as ppo
from labml_rl.runs import checkpoint
from labml_rl.runs.command import find_experiment
from labml_rl.speed import in_precision, precision_of
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.scores import measure
from tests.book.test_graphs import (
    check_each_call_is_done_once,
    check_what_waits_is_not_recorded,
)
from tests.book.test_learning import SOLVED, frames_until
from tests.book.test_overlap import after_each_other, weights_of

pytestmark = [
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU, or unasked for"),
    pytest.mark.timeout(300),
]
TINY: dict[str, dict[str, Any]] = {
    "a2c": {"num_envs": 4},
    "impala": {"num_envs": 4, "workers": 2},
    "ppo": {"num_envs": 4, "steps": 16},
    "recurrent-ppo": {"num_envs": 4, "steps": 16},
    "rnd": {"num_envs": 4, "steps": 16},
    "dqn": {"capacity": 400, "warm_up_steps": 40},
    "fast-dqn": {"capacity": 1000, "warm_up_steps": 400},
    "rainbow": {"capacity": 400, "warm_up_steps": 40},
    "fast-rainbow": {"capacity": 1000, "warm_up_steps": 400},
    "drq": {"capacity": 400, "warm_up_steps": 60},
    "pqn": {"num_envs": 4, "steps": 8, "minibatches": 2},
}
GPU = torch.device("cuda")
CATCH = ppo.Settings(game="Pong", workers=0, total_frames=120_000, steps=64)


def learned(settings, updates=2):
    """Weights after some updates, and what was measured in them."""
    with contextlib.closing(ppo.Experiment(settings)) as experiment:
        metrics = [experiment.advance()[0] for _ in range(updates)]
        weights = weights_of(experiment.network)
    return weights.cpu(), metrics


@pytest.mark.parametrize("blocks", [False, True])
def test_the_network_answers_as_on_a_processor(blocks, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    torch.manual_seed(0)
    network = ActorCritic((4, 84, 84), 6)
    seen = torch.randint(0, 256, (64, 4, 84, 84), dtype=torch.uint8)
    expected = network(seen)
    network.cuda()
    seen = seen.cuda()
    if blocks:
        assert isinstance(network.body, NatureBody)
        seen = network.body.prepared(seen)
    for answer, right in zip(network(seen), expected, strict=True):
        torch.testing.assert_close(answer.cpu(), right, rtol=1e-4, atol=1e-4)
    settings = ppo.Settings()
    assert precision_of(settings, torch.device("cuda")) == torch.bfloat16
    with in_precision(settings, torch.device("cuda")):
        answers = network(seen)
    for answer, right in zip(answers, expected, strict=True):
        assert answer.dtype == torch.float32
        torch.testing.assert_close(answer.cpu(), right, rtol=0.05, atol=0.05)


@pytest.mark.parametrize("algorithm", TINY)
def test_each_algorithm_learns_there_and_goes_on(algorithm, tmp_path):
    """It plays, learns, is saved, restored, and plays on."""
    experiment_class = find_experiment(algorithm)
    given: dict[str, Any] = {"game": "Pong", "workers": 0, "device": "cuda"}
    given |= TINY[algorithm]
    settings = experiment_class.settings_class(**given)
    path = tmp_path / "checkpoint.safetensors"
    with contextlib.closing(experiment_class(settings)) as experiment:
        before = parameters_to_vector(experiment.network.parameters()).clone()
        while torch.equal(
            before, parameters_to_vector(experiment.network.parameters())
        ):
            assert experiment.frames < 10_000
            experiment.advance()
        checkpoint.save(path, experiment.get_state())
        frames = experiment.frames
        after = parameters_to_vector(experiment.network.parameters())
    with contextlib.closing(experiment_class(settings)) as experiment:
        experiment.set_state(checkpoint.load(path))
        assert experiment.frames == frames
        weights = parameters_to_vector(experiment.network.parameters())
        assert weights.is_cuda
        assert torch.equal(weights, after)
        experiment.advance()
        assert experiment.frames > frames


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("graphs", [False, True])
def test_a_game_is_learned_from_its_pixels_there(graphs):
    settings = replace(CATCH, learning_rate=5e-4, device="cuda", graphs=graphs)
    assert frames_until(settings, 7.2) < [float("inf")]


def test_cartpole_is_solved_there():
    settings = small.PPOSettings(total_frames=200_000, device="cuda")
    (solved,) = frames_until(settings, SOLVED)
    assert solved < float("inf")


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("how", ["compile", "graphs"])
def test_one_program_learns_the_same(how, precision):
    """In the first update to a few digits; then the games begin to differ."""
    settings = replace(
        CATCH, device="cuda", num_envs=4, steps=32, precision=precision, seed=3
    )
    (plain, metrics), (other, its_metrics) = (
        learned(each, updates=1)
        for each in (
            settings,
            replace(settings, compile=how == "compile", graphs=how == "graphs"),
        )
    )
    assert its_metrics[0] == pytest.approx(metrics[0], rel=0.05, abs=0.01)
    torch.testing.assert_close(other, plain, rtol=0.0, atol=0.01)


def test_what_is_recorded_is_done_once_in_each_call():
    check_each_call_is_done_once(GPU)


def test_what_waits_for_the_gpu_is_not_recorded():
    check_what_waits_is_not_recorded(GPU)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("algorithm", ["ppo", "rnd", "pqn", "a2c"])
@pytest.mark.usefixtures("catch")
def test_who_plays_by_the_record_sees_what_was_learned(algorithm, precision):
    """The network says the same of what is on the sheet, after each update."""
    experiment_class = find_experiment(algorithm)
    given: dict[str, Any] = {"game": "Pong", "workers": 0, "device": "cuda"}
    given |= TINY[algorithm] | {"graphs": True, "precision": precision}
    settings = experiment_class.settings_class(**given)
    experiment: Any = experiment_class(settings)
    with contextlib.closing(experiment):
        sheet = experiment.games.sheet
        for _ in range(4):
            experiment.play()
            precise = in_precision(experiment.settings, experiment.device)
            with precise, torch.no_grad():
                for seen, said in zip(sheet.observations, sheet.values, strict=True):
                    _, values = experiment.network(seen)
                    torch.testing.assert_close(values, said, rtol=0.02, atol=0.02)
            before = sheet.values.clone()
            experiment.advance()
            for each in experiment.network.parameters():
                each.data.mul_(1.1)
        assert not torch.allclose(before, sheet.values)


@pytest.mark.usefixtures("catch")
def test_the_rate_of_a_recorded_step_goes_down():
    """Where it is 0, nothing moves."""
    settings = replace(
        CATCH, device="cuda", num_envs=4, steps=32, graphs=True, total_frames=8_192
    )
    with contextlib.closing(ppo.Experiment(settings)) as experiment:
        moved = []
        while not experiment.done:
            before = weights_of(experiment.network)
            experiment.advance()
            after = weights_of(experiment.network)
            moved.append((after - before).abs().mean().item())
        experiment.frames = settings.total_frames
        before = after
        experiment.update()
        after = weights_of(experiment.network)
    assert len(moved) == 16
    assert 0 < moved[-1] < moved[8]
    assert torch.equal(before, after)


@pytest.mark.parametrize("graphs", [False, True])
def test_halves_play_and_learn_there(graphs):
    settings = ppo.Settings(
        game="Pong", num_envs=4, workers=1, steps=16, halves=True, device="cuda"
    )
    _, metrics = learned(replace(settings, graphs=graphs))
    assert all(metrics[-1][name] is not None for name in ("loss", "entropy"))


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("graphs", [False, True])
def test_a_game_is_learned_while_it_is_played_there(graphs):
    settings = replace(
        CATCH, learning_rate=5e-4, device="cuda", graphs=graphs, overlap=True
    )
    assert frames_until(settings, 7.2) < [float("inf")]


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("graphs", [False, True])
def test_by_turns_it_learns_what_it_learns_after_each_other(graphs, precision):
    """In two updates, to a few digits: the streams wait for each other."""
    settings = replace(
        CATCH, device="cuda", num_envs=4, steps=32, precision=precision, overlap=True
    )
    settings = replace(settings, graphs=graphs, seed=3)
    with contextlib.closing(ppo.Experiment(settings)) as experiment:
        metrics = [experiment.advance()[0] for _ in range(2)]
        weights = weights_of(experiment.network)
    other = after_each_other(ppo.Experiment(settings))
    with contextlib.closing(other):
        its_metrics = [other.advance()[0] for _ in range(2)]
        its_weights = weights_of(other.network)
    for one, another in zip(metrics, its_metrics, strict=True):
        assert one == pytest.approx(another, rel=0.05, abs=0.01)
    torch.testing.assert_close(weights, its_weights, rtol=0.0, atol=0.01)


def test_its_agent_is_watched_there_and_on_a_processor(tmp_path):
    settings = small.PPOSettings(device="cuda", total_frames=2_000)
    folder = runs.train(small.SmallPPO, settings, folder=tmp_path / "run")
    for device in ("cuda", "cpu"):
        saved = Saved.of(folder, small.SmallPPO)
        found = measure(saved, Protocol(), games=2, workers=0, device=device)
        assert len(found.played) == 2
