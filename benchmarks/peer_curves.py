"""Does another library learn a game faster than this book, with the same algorithm?

.venv/bin/python -m benchmarks.peer_curves a2c-breakout   # into results/benchmarks/
.venv/bin/python -m benchmarks.peer_curves a2c-breakout --quick   # only printed

Stable-Baselines3 learns with the settings of the run that this book has recorded,
such as `results/runs/a2c/breakout/seed-1`: the same learning rate at each frame,
the same games. The games are those of this book, which tests show to be the same as
Stable-Baselines3's; everything that learns is theirs. What is recorded is the mean
score of the last hundred games, over the frames played. Nothing is timed, so the
machine need not be quiet.
"""

import argparse
import csv
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from stable_baselines3.common.vec_env import VecEnv

from benchmarks.record import RECORDS, ROOT, provenance, write
from labml_rl.a2c import experiment as a2c
from labml_rl.batch import Games
from labml_rl.environments import frames_per_step, scores_of
from labml_rl.ppo import experiment as ppo
from labml_rl.worker import make_games

RUNS = ROOT / "results" / "runs"
PACKAGES = ("ale-py", "numpy", "stable-baselines3", "torch")
EVERY = 40_000

# The learning rate, given how much of the frames is left.
Rate = Callable[[float], float]


@dataclass(frozen=True)
class Plan:
    """An algorithm and a game: how many frames to play, and where the record goes."""

    algorithm: str
    game: str
    frames: int
    record: str

    @property
    def run(self) -> Path:
        """The run of this book."""
        return RUNS / self.algorithm / self.game / "seed-1"


PLANS = {
    f"{each.algorithm}-{each.game}": each
    for each in (
        Plan("a2c", "spaceinvaders", 3_000_000, "peer_a2c.json"),
        Plan("a2c", "breakout", 4_000_000, "peer_a2c-breakout.json"),
        Plan("ppo", "mspacman", 2_000_000, "peer_ppo-mspacman.json"),
    )
}


class Theirs(VecEnv):  # type: ignore[misc]
    """Games of this book, as Stable-Baselines3 wants to play them."""

    def __init__(self, games: Games) -> None:
        self.games = games
        self.recent: deque[float] = deque(maxlen=100)
        super().__init__(
            games.num_envs, games.single_observation_space, games.single_action_space
        )

    def reset(self) -> Any:
        """Begin."""
        return self.games.reset()[0]

    def step_async(self, actions: Any) -> None:
        """Hand out the actions."""
        self.games.step_async(actions)

    def step_wait(self) -> Any:
        """What came of them, with the last observation of each episode in its info."""
        after, rewards, terminated, truncated, infos = self.games.step_wait()
        self.recent.extend(each["r"] for each in scores_of(infos))
        ends = terminated | truncated
        each: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(ends):
            each[row]["terminal_observation"] = infos["final_obs"][row]
            each[row]["TimeLimit.truncated"] = bool(truncated[row])
        return after, rewards.astype(np.float32), ends, each

    def close(self) -> None:
        """End the workers."""
        self.games.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Nothing is known about a single game."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be changed."""
        raise AttributeError(attr_name)

    def env_method(self, method_name: str, *args: Any, **more: Any) -> list[Any]:
        """Nothing can be called."""
        raise AttributeError(method_name)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """The scores are kept here."""
        return [False] * self.num_envs


class Marks(BaseCallback):  # type: ignore[misc]
    """Notes the mean score of the last hundred games, and the entropy of the policy."""

    def __init__(self, games: Theirs, per_step: int) -> None:
        super().__init__()
        self.games, self.per_step = games, per_step
        self.curve: list[float | None] = []
        self.entropy: list[float | None] = []

    def _on_rollout_end(self) -> None:
        if self.num_timesteps * self.per_step >= (len(self.curve) + 1) * EVERY:
            recent = self.games.recent
            self.curve.append(round(mean(recent), 1) if recent else None)
            found = self.logger.name_to_value.get("train/entropy_loss")
            self.entropy.append(None if found is None else round(-float(found), 3))
            print(f"{len(self.curve) * EVERY:,} frames: {self.curve[-1]}", flush=True)

    def _on_step(self) -> bool:
        return True


def their_a2c(settings: a2c.Settings, games: Theirs, rate: Rate) -> A2C:
    """Their A2C. Its loss of the critic has no factor of a half."""
    return A2C(
        "CnnPolicy",
        games,
        learning_rate=rate,
        n_steps=settings.steps,
        gamma=settings.discount,
        ent_coef=settings.entropy_coefficient,
        vf_coef=settings.value_coefficient / 2,
        max_grad_norm=settings.max_gradient_norm,
        policy_kwargs={
            "optimizer_class": RMSpropTFLike,
            "optimizer_kwargs": {
                "alpha": settings.decay,
                "eps": settings.rms_epsilon,
            },
        },
        seed=settings.seed,
        device="cpu",
    )


def their_ppo(settings: ppo.Settings, games: Theirs, rate: Rate) -> PPO:
    """Their PPO. Adam's epsilon is part of their policy; the half is as above."""
    return PPO(
        "CnnPolicy",
        games,
        learning_rate=rate,
        n_steps=settings.steps,
        batch_size=settings.steps * settings.num_envs // settings.minibatches,
        n_epochs=settings.epochs,
        gamma=settings.discount,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.entropy_coefficient,
        vf_coef=settings.value_coefficient / 2,
        max_grad_norm=settings.max_gradient_norm,
        seed=settings.seed,
        device="cpu",
    )


# Settings and experiment of this book, and their counterpart in that library.
ALGORITHMS: dict[str, tuple[Any, Any, Any]] = {
    "a2c": (a2c.Settings, a2c.Experiment, their_a2c),
    "ppo": (ppo.Settings, ppo.Experiment, their_ppo),
}


def learn(algorithm: str, kept: dict[str, Any], frames: int) -> dict[str, Any]:
    """What Stable-Baselines3 learns with the settings of a run in so many frames."""
    settings_class, experiment, make = ALGORITHMS[algorithm]
    settings: a2c.Settings | ppo.Settings = settings_class(**kept)
    per_step = frames_per_step(settings.game)
    steps, plan = frames // per_step, settings.total_frames // per_step
    games = Theirs(
        make_games(
            settings.game,
            settings.num_envs,
            seed=settings.seed,
            **experiment.game_options(settings),
            **experiment.training_options(settings),
        )
    )

    # It is told how much of these frames is left, but the run was planned for more.
    def rate(left: float) -> float:
        return settings.learning_rate * (1 - (1 - left) * steps / plan)

    model = make(settings, games, rate)
    marks = Marks(games, per_step)
    try:
        model.learn(steps, callback=marks, log_interval=10**9)
    finally:
        games.close()
    return {"curve": marks.curve, "entropy": marks.entropy}


def ours(run: Path, every: int, count: int) -> dict[str, Any]:
    """What this book had learned after as many frames, in the run that is kept."""
    with open(run / "progress.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, Any] = {"curve": [], "entropy": []}
    for mark in range(1, count + 1):
        row = next(row for row in rows if int(row["frames"]) >= mark * every)
        score = row["return_mean"]
        found["curve"].append(round(float(score), 1) if score else None)
        found["entropy"].append(round(float(row["entropy"]), 3))
    return found


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """The curve, and its mean over the last quarter."""
    last = found["curve"][-max(len(found["curve"]) // 4, 1) :]
    return found | {
        "last_quarter": round(mean(each for each in last if each is not None), 1),
        "entropy_at_the_end": found["entropy"][-1],
    }


def main() -> None:
    """Learn, compare, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", choices=PLANS, help="algorithm and game")
    parser.add_argument("--quick", action="store_true", help="three marks, unrecorded")
    parser.add_argument("--output", type=Path, help="where to, if not as usual")
    options = parser.parse_args()
    plan = PLANS[options.run]
    record = provenance("benchmarks.peer_curves", PACKAGES)
    kept = json.loads((plan.run / "run.json").read_text(encoding="utf-8"))["settings"]
    frames = 3 * EVERY if options.quick else plan.frames
    theirs = summary(learn(plan.algorithm, kept, frames))
    book = summary(ours(plan.run, EVERY, len(theirs["curve"])))
    for name, each in (("this book", book), ("Stable-Baselines3", theirs)):
        print(f"{name:20} {each['last_quarter']:8} {each['entropy_at_the_end']}")
    record |= {"frames": frames, "every": EVERY, "book": book, "theirs": theirs}
    if not options.quick:
        write(record, options.output or RECORDS / plan.record)


if __name__ == "__main__":
    main()
