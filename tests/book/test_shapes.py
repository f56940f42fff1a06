"""Every shape that the book states is that which is seen when it runs."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.record import ROOT
from labml_rl import mistakes, returns, screen, small
from labml_rl.a2c import experiment as a2c
from labml_rl.dqn import drq, mspacman
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn import mistakes as mistakes_of_dqn
from labml_rl.dqn import plain as plain_dqn
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.environments import make_environments
from labml_rl.game import loader, make_game
from labml_rl.impala import experiment as impala
from labml_rl.networks import ActorCritic, QNetwork
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import plain as plain_ppo
from labml_rl.ppo import recurrent, rnd
from labml_rl.pqn import PQNetwork
from labml_rl.pqn import experiment as pqn
from labml_rl.pqn import plain as plain_pqn
from labml_rl.replay import ReplayMemory
from labml_rl.runs import train
from labml_rl.sampling import check_spaces
from labml_rl.watch import Watching, many, watch
from labml_rl.watch.agent import Protocol
from labml_rl.wrappers.frames import Frames
from labml_rl.wrappers.pictures import Grey, Resize
from tests.book.shapes import Watcher

pytestmark = pytest.mark.timeout(600)

# No two of these are alike, so that a letter can't pass for another: games, steps,
# actions of MsPacman, atoms, units of a memory, and steps of a batch (PPO: 6 · 7 / 2).
GAMES, STEPS, ACTIONS, ATOMS, UNITS, BATCH = 6, 7, 9, 11, 13, 20
PIXELS: dict[str, Any] = {
    "game": "MsPacman",
    "num_envs": GAMES,
    "workers": 0,
    "total_frames": 10_000,
    "device": "cpu",
}
ROLLOUT: dict[str, Any] = {**PIXELS, "steps": STEPS, "players": False}
REMEMBERING: dict[str, Any] = {**ROLLOUT, "minibatches": 2, "units": UNITS}
MEMORY: dict[str, Any] = {
    **PIXELS,
    "capacity": 600,
    "warm_up_steps": 48,
    "learn_every_steps": GAMES,
    "batch_size": BATCH,
    "sync_every_steps": 60,
    "turns": 3,
    "epsilon_steps": 20,
}
CART: dict[str, Any] = {"num_envs": GAMES, "total_frames": 10_000, "device": "cpu"}
ATOMS_TOO: dict[str, Any] = {"distributional": True, "atoms": ATOMS}


def learners() -> Iterator[tuple[Any, Any]]:
    """Experiments and settings, which together go through all kinds of learning."""
    yield ppo.Experiment, ppo.Settings(**ROLLOUT, minibatches=2)
    yield ppo.Experiment, ppo.Settings(**ROLLOUT, minibatches=2, blocks=False)
    yield recurrent.Experiment, recurrent.Settings(**REMEMBERING)
    yield rnd.Experiment, rnd.Settings(**ROLLOUT, minibatches=2)
    yield a2c.Experiment, a2c.Settings(**ROLLOUT)
    yield impala.Experiment, impala.Settings(**PIXELS, steps=STEPS)
    yield pqn.Experiment, pqn.Settings(**ROLLOUT, minibatches=2)
    for changes in (
        {},
        {"blocks": False, "stack": 1},
        {"double": True, "n": 3, "prioritised": True, "capacity": 3_000},
        {"dueling": True, "noisy": True},
        {"prioritised": True, "double": True} | ATOMS_TOO,
        {"dueling": True, "noisy": True} | ATOMS_TOO,
        {"prioritised": True, "double": True, "quantiles": ATOMS},
        {"dueling": True, "noisy": True, "quantiles": ATOMS},
    ):
        yield dqn.Experiment, DQNSettings(**MEMORY | changes)
    yield drq.Experiment, drq.Settings(**MEMORY | {"n": 3})


def learners_of_a_minute() -> Iterator[tuple[Any, Any]]:
    """The same for small problems, with mistakes whose shapes are their point."""
    yield small.SmallA2C, small.A2CSettings(**CART, steps=STEPS)
    hidden = recurrent.SmallSettings(**CART, steps=STEPS, units=UNITS, minibatches=2)
    yield recurrent.SmallExperiment, hidden
    yield rnd.SmallExperiment, rnd.SmallSettings(**CART, steps=STEPS, minibatches=2)
    for each in (mistakes.EveryPair, mistakes.CriticOfPairs):
        yield each, small.PPOSettings(**CART, steps=STEPS)
    swinging = small.DQNSettings(**CART, learn_every_steps=GAMES, turns=50)
    yield mistakes_of_dqn.BestNotTaken, swinging
    yield mistakes_of_dqn.AllPairs, swinging


def plain() -> None:
    """The algorithms on one page."""
    options: dict[str, Any] = {"seed": 1, "workers": 0, "copy": False}
    rollout: dict[str, Any] = {"steps": STEPS, "minibatches": 2, "total_steps": 50}
    with make_environments("CartPole-v1", GAMES, **options) as games:
        for _ in plain_ppo.learn(games, ActorCritic((4,), 2), **rollout):
            pass
        for _ in plain_pqn.learn(games, PQNetwork((4,), 2), **rollout):
            pass
        space, _ = check_spaces(
            games.single_observation_space, games.single_action_space
        )
        memory = ReplayMemory(space, GAMES, capacity=600)
        for _ in plain_dqn.learn(
            games,
            QNetwork((4,), 2),
            memory,
            torch.Generator(),
            total_steps=150,
            warm_up_steps=100,
            learn_every_steps=GAMES,
            batch_size=BATCH,
        ):
            pass


def watched(folder: Path) -> None:
    """An agent that is trained, filmed and measured."""
    settings = DQNSettings(**MEMORY | ATOMS_TOO | {"total_frames": 300})
    run = train(dqn.Experiment, settings, folder=folder / "run")
    asked: dict[str, Any] = {
        "games": 2,
        "workers": 1,
        "video": folder / "film.mp4",
        "device": "cpu",
    }
    watch(dqn.Experiment, Watching(run=run, **asked), Protocol(frames_cap=160))
    remembering = recurrent.Settings(**REMEMBERING | {"total_frames": 300})
    run = train(recurrent.Experiment, remembering, folder=folder / "recurrent")
    asked["video"] = None
    watch(recurrent.Experiment, Watching(run=run, **asked), Protocol(frames_cap=160))


def pieces() -> None:
    """What no experiment does by itself."""
    rollout = returns.Rollout(
        rewards=torch.rand(STEPS, GAMES),
        values=torch.rand(STEPS + 1, GAMES),
        terminated=torch.rand(STEPS, GAMES) < 0.2,
        truncated=torch.zeros(STEPS, GAMES, dtype=torch.bool),
        final_values=torch.full((STEPS, GAMES), torch.nan),
    )
    returns.n_step_returns(rollout, discount=0.9, n=3)
    screen.preprocess(np.zeros((2, 210, 160, 3), np.uint8))
    mspacman.look(10)
    Resize(Grey(Frames(loader("Pong"), seed=1)), 84, 84).reset()
    with make_game("Pong", seed=1, render_mode="rgb_array") as game:
        game.reset()
        game.render()
    many.interval(np.random.default_rng(1).random((STEPS, GAMES)))
    five = many.normalised_scores({game: range(STEPS) for game in many.WEIGHTS})
    many.estimated_median(np.stack([five, five]))


@pytest.fixture(scope="module")
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Watcher:
    """It has seen all that is above."""
    found = Watcher(ROOT, "labml_rl")
    with found.watching(T=STEPS, A=ACTIONS):
        for kind, settings in learners():
            with closing(kind(settings)) as experiment:
                for _ in range(4):
                    experiment.update()
        watched(tmp_path_factory.mktemp("run"))
    with found.watching(T=STEPS):
        for kind, settings in learners_of_a_minute():
            with closing(kind(settings)) as experiment:
                for _ in range(4):
                    experiment.update()
        plain()
    with found.watching():
        pieces()
    return found


def test_every_shape_of_the_book_was_seen_and_is_what_it_says(watcher: Watcher):
    wrong = [f"{claim}, and it is a {what}" for claim, what in watcher.wrong.items()]
    assert not wrong, "\n".join(sorted(wrong))
    unseen = [str(claim) for claim in watcher.claims - watcher.seen.keys()]
    missing = "nothing that runs above has these, as in learners():\n"
    assert not unseen, missing + "\n".join(sorted(unseen))


# --- those who look on ---

STATED = """
from collections import namedtuple
from dataclasses import dataclass


class Array:
    def __init__(self, *shape):
        self.shape = shape


@dataclass
class Pair:
    '''
    Args:
        left: shape `(N, A)`.
        right: the same.
    '''

    left: Array
    right: Array


def f(x, y, width=3):
    '''
    Args:
        x: numbers, shape `(N, A)`; or `(N, A, K)` with atoms.
        y: others, shape `(A,)`.

    Returns:
        Both, shape `(N + 1, width)`, and the rest, shape `(…, A)`.
    '''
    wide = Array(
        *x.shape, 1
    )  # (N, A, 1) or (N, A, K, 1)
    one, other = y, Array(3 * y.shape[0])  # (A,), (3 · A,)
    return Array(x.shape[0] + 1, 3), x
"""
TRUE = [("", "")]
FALSE = [
    ("numbers, shape `(N, A)`; or `(N, A, K)`", "numbers, shape `(N,)`; or `(A,)`"),
    ("others, shape `(A,)`", "others, shape `(N,)`"),
    ("`(N + 1, width)`", "`(N, width)`"),
    ("`(N + 1, width)`", "`(N + 1, A)`"),
    ("`(…, A)`", "`(A, …)`"),
    ("# (N, A, 1) or", "# (N, A, 2) or"),
    ("(3 · A,)", "(2 · A,)"),
    ("left: shape `(N, A)`", "left: shape `(N, N)`"),
    ("right: the same", "right: shape `(A, N)`"),
]


def looked_at(folder: Path, text: str) -> tuple[Watcher, dict[str, Any]]:
    """Somebody who knows what a package states, and the names in that package."""
    (folder / "stated").mkdir()
    file = folder / "stated" / "__init__.py"
    file.write_text(text)
    watcher = Watcher(folder, "stated")
    names: dict[str, Any] = {"__name__": "stated"}
    exec(compile(text, str(file), "exec"), names)
    return watcher, names


@pytest.mark.parametrize(("old", "new"), TRUE + FALSE)
def test_what_is_wrong_is_seen(old: str, new: str, tmp_path: Path):
    text = STATED.replace(old, new)
    assert (text != STATED) == bool(old)
    watcher, names = looked_at(tmp_path, text)
    array = names["Array"]
    with watcher.watching():
        names["Pair"](array(2, 5), array(2, 5))
        names["f"](array(2, 5), array(5))
    assert watcher.claims == watcher.seen.keys()
    assert bool(watcher.wrong) == bool(old)


def test_letters_may_be_known_before(tmp_path: Path):
    watcher, names = looked_at(tmp_path, STATED)
    array = names["Array"]
    for actions in (5, 6):
        with watcher.watching(A=actions):
            names["f"](array(2, 5), array(5))
        assert bool(watcher.wrong) == (actions == 6)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    g(x)  # (N,)\n",
        "x = 1  # (N,)\n",
        "def f(x):\n    y = 2  # (N,), (A,)\n    return y\n",
    ],
    ids=["of a call", "outside", "too many"],
)
def test_a_shape_of_nothing_is_refused(text: str, tmp_path: Path):
    with pytest.raises(AssertionError, match=r"stated/__init__\.py"):
        looked_at(tmp_path, text)
