"""The learners that `benchmarks.policies` measures, each a program of its own.

python -m benchmarks.policies_learners NAME UPDATES
"""

# Each of them imports what it needs when it is chosen: the others may not be installed.
# ruff: noqa: PLC0415

import argparse
import importlib
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.games_players import raw_console

GAMES, STEPS, EPOCHS, MINIBATCH = 8, 128, 4, 256
Learner = Callable[[], Iterator[None]]  # an update each time it is asked


def ours(**changes: Any) -> Iterator[None]:
    """The PPO of this book, with its defaults except for some changes."""
    from labml_rl.ppo.experiment import Experiment, Settings

    settings = Settings(**{**asdict(Settings()), "device": "cpu", **changes})
    return updates_of(Experiment(settings))


def updates_of(experiment: Any) -> Iterator[None]:
    """The updates of an experiment of this book."""
    try:
        while True:
            experiment.advance()
            yield
    finally:
        experiment.close()


class Network(nn.Module):
    """The Nature network as it is usually written: floats, divided, in order."""

    def __init__(self, actions: int) -> None:
        super().__init__()

        def begin(layer: Any, gain: float = 2**0.5) -> Any:
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
            return layer

        self.body = nn.Sequential(
            begin(nn.Conv2d(4, 32, 8, stride=4)),
            nn.ReLU(),
            begin(nn.Conv2d(32, 64, 4, stride=2)),
            nn.ReLU(),
            begin(nn.Conv2d(64, 64, 3)),
            nn.ReLU(),
            nn.Flatten(),
            begin(nn.Linear(3136, 512)),
            nn.ReLU(),
        )
        self.policy = begin(nn.Linear(512, actions), 0.01)
        self.value = begin(nn.Linear(512, 1), 1.0)

    def forward(self, observations: Any) -> Any:
        """Observations are floats from 0 to 255."""
        features = self.body(observations / 255.0)
        return self.policy(features), self.value(features).squeeze(-1)


Losses = Callable[..., Any]


def plain_losses(
    log_probs: Any, values: Any, old_log_probs: Any, advantages: Any, returns: Any
) -> Any:
    """The losses of PPO, written out."""
    ratios = (log_probs - old_log_probs).exp()
    clipped = ratios.clamp(0.9, 1.1)
    policy = torch.max(-advantages * ratios, -advantages * clipped).mean()
    return policy + 0.25 * (values - returns).square().mean()


def labml_losses(
    log_probs: Any, values: Any, old_log_probs: Any, advantages: Any, returns: Any
) -> Any:
    """Those of `labml_nn`."""
    theirs = labml("ppo")
    policy = theirs.ClippedPPOLoss()(log_probs, old_log_probs, advantages, 0.1)
    before = returns - advantages
    return policy + 0.5 * theirs.ClippedValueFunctionLoss()(
        values, before, returns, 0.1
    )


def labml(page: str) -> Any:
    """One of the RL modules of `labml_nn`. Python warns about their comments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"labml_nn.rl.{page}")


@dataclass(frozen=True)
class Size:
    """How much is played between two updates, and in what parts it is learned from."""

    games: int = GAMES
    steps: int = STEPS
    minibatch: int = MINIBATCH


PAPER = Size()


def loop(
    envs: Any,
    losses: Losses = plain_losses,
    *,
    size: Size = PAPER,
    device: str = "cpu",
) -> Iterator[None]:
    """
    A loop in the manner of CleanRL: float32, all in one function.

    Args:
        envs: a vector environment of Gymnasium's interface.
        losses: of policy and values.
        size: of rollout and minibatches.
        device: where the network is.
    """

    def there(array: Any) -> torch.Tensor:
        return torch.tensor(np.asarray(array), dtype=torch.float32).to(device)

    zeros = partial(torch.zeros, device=device)
    space = getattr(envs, "single_action_space", envs.action_space)
    network = Network(int(space.n)).to(device)
    optimizer = torch.optim.Adam(network.parameters(), lr=2.5e-4, eps=1e-5)
    shape = (size.steps, size.games)
    observations = zeros(*shape, 4, 84, 84)
    actions = zeros(shape, dtype=torch.int64)
    log_probs, rewards, ends = zeros(shape), zeros(shape), zeros(shape)
    values = zeros(size.steps + 1, size.games)
    seen = there(envs.reset()[0])
    while True:
        with torch.no_grad():
            for t in range(size.steps):
                observations[t] = seen
                logits, values[t] = network(seen)
                policy = torch.distributions.Categorical(logits=logits)
                actions[t] = policy.sample()
                log_probs[t] = policy.log_prob(actions[t])
                after, reward, terminated, truncated, _ = envs.step(
                    actions[t].cpu().numpy()
                )
                rewards[t] = there(reward)
                ends[t] = there(terminated | truncated)
                seen = there(after)
            values[-1] = network(seen)[1]
            advantages, later = zeros(shape), zeros(size.games)
            for t in reversed(range(size.steps)):
                goes_on = 1 - ends[t]
                error = rewards[t] + 0.99 * values[t + 1] * goes_on - values[t]
                later = error + 0.99 * 0.95 * goes_on * later
                advantages[t] = later
        flat = [
            each.reshape(-1, *each.shape[2:])
            for each in (
                *(observations, actions, log_probs),
                *(advantages, advantages + values[:-1]),
            )
        ]
        rows = np.arange(size.steps * size.games)
        for _ in range(EPOCHS):
            np.random.shuffle(rows)
            for start in range(0, len(rows), size.minibatch):
                seen_then, done, old, gained, aim = (
                    each[rows[start : start + size.minibatch]] for each in flat
                )
                logits, found = network(seen_then)
                policy = torch.distributions.Categorical(logits=logits)
                gained = (gained - gained.mean()) / (gained.std() + 1e-8)
                new = policy.log_prob(done)
                loss = losses(new, found, old, gained, aim)
                loss = loss - 0.01 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        yield


def plain(
    size: Size = PAPER, *, threads: int = 2, device: str = "cpu"
) -> Iterator[None]:
    """The loop over EnvPool, as CleanRL has it."""
    import envpool

    return loop(
        envpool.make(
            "Breakout-v5",
            env_type="gymnasium",
            num_envs=size.games,
            num_threads=threads,
            episodic_life=True,
            reward_clip=True,
            seed=1,
        ),
        size=size,
        device=device,
    )


def gymnasium_game() -> Any:
    """One game in Gymnasium's wrappers."""
    from gymnasium.wrappers import (
        AtariPreprocessing,
        FrameStackObservation,
        TransformReward,
    )

    game = AtariPreprocessing(raw_console("breakout"), terminal_on_life_loss=True)
    return FrameStackObservation(
        TransformReward(game, lambda reward: np.sign(float(reward))), 4
    )


def with_labml() -> Iterator[None]:
    """
    The losses of `labml_nn`, and a process for each game, as it has them. Its own
    workers are for a Gym that no longer exists, so Gymnasium's take their place.
    """
    from gymnasium.vector import AsyncVectorEnv

    return loop(AsyncVectorEnv([gymnasium_game] * GAMES), labml_losses)


def sb3(device: str = "cpu") -> Iterator[None]:
    """Stable-Baselines3's PPO."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.atari_wrappers import AtariWrapper
    from stable_baselines3.common.vec_env import SubprocVecEnv, VecFrameStack

    def game() -> Any:
        return AtariWrapper(raw_console("breakout"))

    envs = VecFrameStack(SubprocVecEnv([game] * GAMES), 4)
    learner = PPO(
        "CnnPolicy",
        envs,
        n_steps=STEPS,
        batch_size=MINIBATCH,
        n_epochs=EPOCHS,
        learning_rate=2.5e-4,
        clip_range=0.1,
        ent_coef=0.01,
        seed=1,
        device=device,
    )
    while True:
        learner.learn(STEPS * GAMES, reset_num_timesteps=False)
        yield


LEARNERS: dict[str, Learner] = {
    "ours": ours,
    "plain": plain,
    "sb3": sb3,
    "labml": with_labml,
}

# The same with one trick fewer, and with none; and with 16 bits where `auto` would not
# use them.
WITHOUT: dict[str, Learner] = {
    "with_bfloat16": partial(ours, precision="bfloat16"),
    "without_bfloat16": partial(ours, precision="float32"),
    "without_blocks": partial(ours, blocks=False),
    "without_few_threads": partial(ours, few_threads=False),
    "without_players": partial(ours, players=False),
    "without_keep_memory": partial(ours, keep_memory=False),
    "without_any": partial(
        ours,
        precision="float32",
        blocks=False,
        few_threads=False,
        players=False,
        keep_memory=False,
    ),
}


def main() -> None:
    """Time some updates, after one that is not counted, and print the rate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("learner", choices=[*LEARNERS, *WITHOUT])
    parser.add_argument("updates", type=int)
    options = parser.parse_args()
    updates = (LEARNERS | WITHOUT)[options.learner]()
    next(updates)
    started = time.perf_counter()
    for _ in range(options.updates):
        next(updates)
    seconds = time.perf_counter() - started
    rate = options.updates * GAMES * STEPS / seconds
    print(json.dumps({"steps_per_second": rate}))


if __name__ == "__main__":
    main()
