"""PPO, DQN and PQN on one page: the same as on many."""

import contextlib
import sys
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from torch.nn.utils import parameters_to_vector

from figures import site as pictures
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn import plain as plain_dqn
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.environments import make_environments
from labml_rl.networks import ActorCritic, QNetwork
from labml_rl.ppo import plain
from labml_rl.ppo.experiment import Experiment, Settings
from labml_rl.pqn import PQNetwork
from labml_rl.pqn import experiment as pqn
from labml_rl.pqn import plain as plain_pqn
from labml_rl.replay import ReplayMemory
from labml_rl.sampling import Sampler, check_spaces
from labml_rl.small import PPOSettings, PQNSettings
from tests.book.test_learning_values import CART, CATCH

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


def twins(experiment: Any, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Network, games and dice as those of an experiment that has just begun."""
    settings = experiment.settings
    games = make_environments(
        settings.game, settings.num_envs, seed=1, workers=0, copy=False, **options
    )
    generator = torch.Generator().manual_seed(0)
    generator.set_state(experiment.generator.get_state())
    return deepcopy(experiment.network), games, generator


def assert_same(
    experiment: Any, network: Any, score: float, *, rtol: float, atol: float
) -> None:
    """The network has learned what the experiment has, and its games scored as much."""
    expected = parameters_to_vector(experiment.network.parameters())
    found = parameters_to_vector(network.parameters())
    torch.testing.assert_close(found, expected, rtol=rtol, atol=atol)
    scores = [each["r"] for each in experiment.recent]
    assert score == pytest.approx(sum(scores) / max(len(scores), 1))


def assert_learns_the_same(
    experiment: Any,
    kind: type[Any],
    learn: Any,
    names: tuple[str, ...],
    options: dict[str, Any],
) -> Any:
    """
    Three updates of an experiment that learns from its latest play, and of its page,
    with the settings of these names. Returns the network of the page.
    """
    settings = experiment.settings
    network, games, generator = twins(experiment, options)
    assert isinstance(network, kind)
    frames_per_step = 4 if options else 1
    learning = learn(
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
    assert_same(experiment, network, score, rtol=1e-4, atol=1e-6)
    assert (parameters_to_vector(network.parameters()) - before).abs().max() > 1e-3
    return network


def test_it_writes_down_what_the_sampler_does():
    """With episodes that end, that are cut off, and that go on in the next rollout."""
    torch.manual_seed(1)
    network = ActorCritic((4,), 2)
    batches = [
        make_environments(
            "CartPole-v1", 5, seed=1, workers=0, copy=False, max_episode_steps=15
        )
        for _ in range(2)
    ]
    dice = [torch.Generator().manual_seed(2) for _ in batches]
    sampler = Sampler(batches[0], network, steps=8, generator=dice[0])
    seen = torch.from_numpy(batches[1].reset()[0])
    terminated = truncated = 0
    for _ in range(6):
        expected = sampler.sample()
        observations, actions, log_probs, rollout, scores = plain.play(
            batches[1], network, seen, steps=8, generator=dice[1]
        )
        seen = observations[-1]
        assert torch.equal(observations[:-1], expected.observations)
        assert torch.equal(actions, expected.actions)
        torch.testing.assert_close(log_probs, expected.log_probs)
        for name, each in vars(rollout).items():
            other = getattr(expected.rollout, name)
            torch.testing.assert_close(each, other, equal_nan=True)
        assert scores == [each["r"] for each in expected.scores]
        terminated += int(rollout.terminated.sum())
        truncated += int(rollout.truncated.sum())
    assert terminated > 0
    assert truncated > 0


def test_steps_in_which_nothing_is_played_are_refused():
    games = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    for learning in (
        plain.learn(games, ActorCritic((4,), 2)),
        plain_pqn.learn(games, PQNetwork((4,), 2)),
    ):
        with pytest.raises(ValueError, match="made with autoreset_mode=SAME_STEP"):
            next(learning)


def test_dqn_learns_after_whole_steps_of_all_games():
    games = make_environments("CartPole-v1", 8, seed=1, workers=0, copy=False)
    memory: Any = None
    learning = plain_dqn.learn(
        games, QNetwork((4,), 2), memory, torch.Generator(), learn_every_steps=4
    )
    with pytest.raises(ValueError, match="must be a multiple of the 8 games, not 4"):
        next(learning)


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (PPOSettings(), {}),
        (Settings(**GAME), {"clip_rewards": True, "episodic_life": True}),
    ],
)
@pytest.mark.usefixtures("catch")
def test_it_learns_what_the_experiment_learns(settings, options):
    names = (
        *("steps", "epochs", "minibatches", "learning_rate", "discount"),
        *("gae_lambda", "clip", "value_coefficient", "entropy_coefficient"),
    )
    with contextlib.closing(Experiment(settings)) as experiment:
        assert_learns_the_same(experiment, ActorCritic, plain.learn, names, options)


@pytest.mark.parametrize(
    ("settings", "options", "stack"),
    [
        (CART, {}, 1),
        (
            replace(CATCH, blocks=False, precision="float32"),
            {"clip_rewards": True, "episodic_life": True},
            4,
        ),
    ],
)
@pytest.mark.usefixtures("catch")
def test_dqn_learns_what_the_experiment_learns(
    settings: DQNSettings, options: dict[str, Any], stack: int
):
    settings = replace(settings, warm_up_steps=208, sync_every_steps=48, turns=60)
    settings = replace(settings, max_gradient_norm=1.0)
    steps = settings.turns * settings.learn_every_steps // settings.num_envs
    with contextlib.closing(dqn.Experiment(settings)) as experiment:
        network, games, generator = twins(experiment, options)
        assert isinstance(network, QNetwork)
        memory = ReplayMemory(
            check_spaces(games.single_observation_space, games.single_action_space)[0],
            settings.num_envs,
            capacity=settings.capacity,
            stack=stack,
            discount=settings.discount,
            seed=np.random.SeedSequence(settings.seed).spawn(3)[2],
        )
        names = (
            *("warm_up_steps", "batch_size", "sync_every_steps", "learning_rate"),
            *("epsilon_end", "epsilon_steps", "max_gradient_norm"),
            "learn_every_steps",
        )
        learning = plain_dqn.learn(
            *(games, network, memory, generator),
            **{name: getattr(settings, name) for name in names},
        )
        before = parameters_to_vector(network.parameters()).detach().clone()
        for played, score in islice(learning, steps):  # noqa: B007
            pass
        experiment.advance()
        assert experiment.steps == played
    assert_same(experiment, network, score, rtol=1e-3, atol=1e-5)
    assert (parameters_to_vector(network.parameters()) - before).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        (replace(PQNSettings(), epsilon_steps=3_000), {}),
        (
            pqn.Settings(**GAME, epsilon_steps=20),
            {"clip_rewards": True, "episodic_life": True},
        ),
    ],
)
@pytest.mark.usefixtures("catch")
def test_pqn_learns_what_the_experiment_learns(settings, options):
    names = (
        *("steps", "epochs", "minibatches", "learning_rate", "discount"),
        *("td_lambda", "epsilon_start", "epsilon_end", "epsilon_steps"),
        "max_gradient_norm",
    )
    with contextlib.closing(pqn.Experiment(settings)) as experiment:
        network = assert_learns_the_same(
            experiment, PQNetwork, plain_pqn.learn, names, options
        )
        assert network.epsilon == experiment.network.epsilon


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize(
    ("page", "steps", "lines"),
    [(plain, 512, 2), (plain_dqn, 4_000, 1), (plain_pqn, 4_096, 2)],
)
def test_the_pages_run(page, steps, lines, monkeypatch, capsys):
    monkeypatch.setattr(page, "learn", partial(page.learn, total_steps=steps))
    page.main()
    assert capsys.readouterr().out.count("mean score") == lines


def test_the_pictures_of_pages_show_the_code_as_it_is(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["figures.site", "--check"])
    pictures.main()
    for name in ("PAGE", "EXAMPLE"):
        shot = getattr(pictures, name)
        monkeypatch.setattr(pictures, name, replace(shot, source=shot.source + "#"))
        old = rf"^{shot.name}-light\.png, {shot.name}-dark\.png: what they show has"
        with pytest.raises(SystemExit, match=old):
            pictures.main()
        monkeypatch.setattr(pictures, name, shot)
