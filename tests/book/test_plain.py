"""PPO on one page: the same as PPO on many."""

import contextlib
from copy import deepcopy
from itertools import islice
from typing import Any

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from labml_rl.environments import make_environments
from labml_rl.networks import ActorCritic
from labml_rl.ppo import plain
from labml_rl.ppo.experiment import Experiment, Settings
from labml_rl.small import PPOSettings

GAME: dict[str, Any] = {
    "game": "Pong",
    "steps": 8,
    "num_envs": 2,
    "minibatches": 4,
    "workers": 0,
    "precision": "float32",
    "players": False,
    "blocks": False,
}


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (PPOSettings(), {}),
        (Settings(**GAME), {"clip_rewards": True, "episodic_life": True}),
    ],
)
@pytest.mark.usefixtures("catch")
def test_it_learns_what_the_experiment_learns(settings, options):
    with contextlib.closing(Experiment(settings)) as experiment:
        network = deepcopy(experiment.network)
        assert isinstance(network, ActorCritic)
        games = make_environments(
            settings.game, settings.num_envs, seed=1, workers=0, copy=False, **options
        )
        generator = torch.Generator().manual_seed(0)
        generator.set_state(experiment.generator.get_state())
        frames_per_step = 4 if options else 1
        names = (
            *("steps", "epochs", "minibatches", "learning_rate", "discount"),
            *("gae_lambda", "clip", "value_coefficient", "entropy_coefficient"),
        )
        learning = plain.learn(
            games,
            network,
            total_steps=settings.total_frames // frames_per_step,
            generator=generator,
            **{name: getattr(settings, name) for name in names},
        )
        before = parameters_to_vector(network.parameters()).detach().clone()

        for played, score in islice(learning, 3):  # noqa: B007
            experiment.advance()
            assert experiment.frames == played * frames_per_step
        scores = [each["r"] for each in experiment.recent]
    expected = parameters_to_vector(experiment.network.parameters())
    found = parameters_to_vector(network.parameters())
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)
    assert (found - before).abs().max() > 1e-3
    assert score == pytest.approx(sum(scores) / max(len(scores), 1))


def test_the_page_runs(monkeypatch, capsys):
    learn = plain.learn
    monkeypatch.setattr(plain, "learn", lambda *given: learn(*given, total_steps=512))
    threads = torch.get_num_threads()
    plain.main()
    torch.set_num_threads(threads)
    assert capsys.readouterr().out.count("mean score") == 2
