"""What `benchmarks.values` measures, each sample a program of its own.

python -m benchmarks.values_learners replay CONTESTANT
python -m benchmarks.values_learners trees CONTESTANT
python -m benchmarks.values_learners learn CONTESTANT SETTING
"""

# Each of them imports what it needs when it is chosen: the others may not be installed.
# ruff: noqa: PLC0415

import argparse
import json
import operator
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.games_players import raw_console
from benchmarks.policies_learners import gymnasium_game
from benchmarks.policies_learners import labml as page_of_labml

GAMES, CAPACITY = 8, 16_384  # steps in the memory: a power of two, as labml wants it
STACK = (4, 84, 84)
BATCHES = {"small": 32, "large": 256}
Numbers = dict[str, float]


def labml(page: str) -> Any:
    """A page of `labml_nn`. Those of DQN import a package for logs, but can do
    without."""
    stub: Any = types.ModuleType("labml")
    stub.tracker = types.SimpleNamespace(add=lambda *_: None)
    sys.modules.setdefault("labml", stub)
    return page_of_labml(page)


# --- the memory ---


class Memory:
    """A memory under test: filled beyond its capacity, then asked for batches."""

    bytes_a_step: float

    def add(self) -> None:
        """One step of all games."""

    def sample(self, batch: int) -> Any:
        """What a learner would get."""


@cache
def pictures() -> Any:
    """
    Observations of a few steps, over and over. Their pictures are noise: nobody here
    looks at them.
    """
    shape = (16, GAMES, *STACK[1:])
    noise = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    return np.stack([np.roll(noise, ago, axis=0) for ago in (3, 2, 1, 0)], axis=2)


class Ours(Memory):
    """The memory of this book."""

    def __init__(self, **options: Any) -> None:
        from gymnasium.spaces import Box

        from labml_rl.replay import ReplayMemory

        kind = options.pop("kind", ReplayMemory)
        space = Box(0, 255, STACK, np.uint8)
        options = {
            "capacity": CAPACITY,
            "stack": 4,
            "blocks": True,
            "seed": 1,
        } | options
        self.memory = kind(space, GAMES, **options)
        self.memory.begin(np.repeat(pictures()[0][:, -1:], STACK[0], axis=1))
        self.zeros, self.no = np.zeros(GAMES, np.int64), np.zeros(GAMES, np.bool_)
        self.t = 0
        memory = self.memory
        parts = (memory.actions, memory.rewards, memory.outcomes, memory.ages)
        rows = memory.tree.rows if kind is not ReplayMemory else []
        size = sum(each.nbytes for each in (memory.frames.kept, *parts, *rows))
        self.bytes_a_step = size / CAPACITY

    def add(self) -> None:
        """One step of all games."""
        self.t = (self.t + 1) % len(pictures())
        self.memory.add(self.zeros, self.zeros, self.no, self.no, pictures()[self.t])

    def sample(self, batch: int) -> Any:
        """A batch."""
        return self.memory.sample(batch)


def ours_prioritised() -> Memory:
    """The same with priorities."""
    from labml_rl.replay.prioritised import PrioritisedMemory

    return Ours(kind=PrioritisedMemory)


class SB3(Memory):
    """Stable-Baselines3's."""

    def __init__(self, *, optimised: bool) -> None:
        from gymnasium.spaces import Box, Discrete
        from stable_baselines3.common.buffers import ReplayBuffer

        self.memory = ReplayBuffer(
            CAPACITY,
            Box(0, 255, STACK, np.uint8),
            Discrete(4),
            device="cpu",
            n_envs=GAMES,
            optimize_memory_usage=optimised,
            handle_timeout_termination=not optimised,
        )
        self.zeros = np.zeros(GAMES)
        self.infos: list[dict[str, Any]] = [{} for _ in range(GAMES)]
        self.t = 0
        memory = self.memory
        arrays = [memory.observations, memory.actions, memory.rewards, memory.dones]
        if not optimised:
            arrays.append(memory.next_observations)
        self.bytes_a_step = sum(each.nbytes for each in arrays) / CAPACITY

    def add(self) -> None:
        """One step of all games."""
        before, self.t = self.t, (self.t + 1) % len(pictures())
        self.memory.add(
            pictures()[before],
            pictures()[self.t],
            *(self.zeros, self.zeros, self.zeros, self.infos),
        )

    def sample(self, batch: int) -> Any:
        """A batch."""
        return self.memory.sample(batch)


class LabML(Memory):
    """That of `labml_nn`, which always has priorities."""

    def __init__(self) -> None:
        self.memory = labml("dqn.replay_buffer").ReplayBuffer(CAPACITY, 0.6)
        self.t = 0
        # The numbers in the trees are objects, which take another 24 bytes each.
        trees = (self.memory.priority_sum, self.memory.priority_min)
        size = sum(each.nbytes for each in self.memory.data.values())
        self.bytes_a_step = (size + sum(map(sys.getsizeof, trees))) / CAPACITY

    def add(self) -> None:
        """One step of all games, one after the other."""
        before, self.t = self.t, (self.t + 1) % len(pictures())
        for game in range(GAMES):
            self.memory.add(
                pictures()[before, game], 0, 0.0, pictures()[self.t, game], False
            )

    def sample(self, batch: int) -> Any:
        """A batch."""
        return self.memory.sample(batch, 0.4)


MEMORIES: dict[str, Callable[[], Memory]] = {
    "ours": Ours,
    "ours_without_blocks": partial(Ours, blocks=False),
    "ours_prioritised": ours_prioritised,
    "sb3": partial(SB3, optimised=False),
    "sb3_optimised": partial(SB3, optimised=True),
    "labml": LabML,
}


def measure_memory(name: str) -> Numbers:
    """Steps added and drawn in a second, and bytes for each step that is kept."""
    torch.set_num_threads(1)
    memory = MEMORIES[name]()
    for _ in range(CAPACITY // GAMES + 10):
        memory.add()
    adds = 2000 // GAMES
    started = time.perf_counter()
    for _ in range(adds):
        memory.add()
    found = {
        "added": adds * GAMES / (time.perf_counter() - started),
        "bytes_a_step": memory.bytes_a_step,
    }
    for size, batch in BATCHES.items():
        for _ in range(3):
            memory.sample(batch)
        batches = 12_800 // batch
        started = time.perf_counter()
        for _ in range(batches):
            memory.sample(batch)
        found[f"drawn_{size}"] = batches * batch / (time.perf_counter() - started)
    return found


# --- the trees ---

LEAVES = 2**20


def our_trees() -> Callable[[int], None]:
    """Draw, weigh, and change: what `PrioritisedMemory` does, without pictures."""
    from labml_rl.replay.trees import SumTree

    dice = np.random.default_rng(1)
    tree = SumTree(LEAVES)
    tree.leaves[:LEAVES] = dice.random(LEAVES) + 0.01
    tree.rebuild()

    def once(batch: int) -> None:
        places = tree.draw(batch, dice)
        powers = tree.leaves[places]
        _ = (powers.min() / powers) ** 0.4
        tree.set(places, (dice.random(batch) + 0.01) ** 0.6)

    return once


def labml_trees() -> Callable[[int], None]:
    """Theirs, also without pictures."""
    kind = labml("dqn.replay_buffer").ReplayBuffer
    theirs = kind(1, 0.6)
    dice = np.random.default_rng(1)
    leaves = (dice.random(LEAVES) + 0.01).tolist()
    theirs.capacity = theirs.size = LEAVES
    theirs.data = {}
    combines: dict[str, Callable[[float, float], float]] = {
        "priority_sum": operator.add,
        "priority_min": min,
    }
    for name, combine in combines.items():
        tree = [0.0] * LEAVES + leaves
        for node in reversed(range(1, LEAVES)):
            tree[node] = combine(tree[2 * node], tree[2 * node + 1])
        setattr(theirs, name, tree)

    def once(batch: int) -> None:
        samples = theirs.sample(batch, 0.4)
        theirs.update_priorities(samples["indexes"], dice.random(batch) + 0.01)

    return once


TREES = {"ours": our_trees, "labml": labml_trees}


def measure_trees(name: str) -> Numbers:
    """Steps drawn and given new priorities, in a second."""
    once, found = TREES[name](), {}
    for size, batch in BATCHES.items():
        once(batch)
        rounds, started = 0, time.perf_counter()
        while time.perf_counter() - started < 1:
            once(batch)
            rounds += 1
        found[f"steps_{size}"] = rounds * batch / (time.perf_counter() - started)
    return found


# --- the whole loop ---

# Those of Nature, but with Adam, which all have; and many games with large batches.
SETTINGS: dict[str, dict[str, int]] = {
    "nature": {"games": 1, "batch": 32, "every": 4},
    "many": {"games": 8, "batch": 256, "every": 64},
}
WARM_UP, EXPLORED, SYNC, KEPT, RATE = 1_024, 256, 10_000, 16_384, 1e-4


def ours(*, games: int, batch: int, every: int, **changes: Any) -> Iterator[int]:
    """The DQN of this book, with its defaults except for some changes."""
    from labml_rl.dqn.experiment import Experiment
    from labml_rl.dqn.settings import Settings

    experiment = Experiment(
        Settings(
            game="Breakout",
            num_envs=games,
            capacity=KEPT,
            warm_up_steps=WARM_UP,
            learn_every_steps=every,
            batch_size=batch,
            sync_every_steps=SYNC,
            optimizer_name="adam",
            learning_rate=RATE,
            epsilon_steps=EXPLORED,
            turns=4,
            device="cpu",
            **changes,
        )
    )
    try:
        while True:
            experiment.advance()
            yield experiment.steps
    finally:
        experiment.close()


class Network(nn.Module):
    """The network of Nature as it is usually written."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4),
            nn.ReLU(),
            nn.Conv2d(32, 64, 4, stride=2),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(3136, 512),
            nn.ReLU(),
            nn.Linear(512, actions),
        )

    def forward(self, observations: Any) -> Any:
        """Observations are bytes."""
        return self.layers(observations / 255.0)


def plain(*, games: int, batch: int, every: int) -> Iterator[int]:
    """A loop in the manner of CleanRL: float32, whole stacks, one function."""
    from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

    many = SyncVectorEnv if games == 1 else AsyncVectorEnv
    envs = many([gymnasium_game] * games, autoreset_mode=AutoresetMode.SAME_STEP)
    actions_of = int(envs.single_action_space.n)  # type: ignore[attr-defined]
    network, target = Network(actions_of), Network(actions_of)
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    places = KEPT // games
    kept: dict[str, Any] = {
        "before": np.zeros((places, games, *STACK), np.uint8),
        "after": np.zeros((places, games, *STACK), np.uint8),
        "actions": np.zeros((places, games), np.int64),
        "rewards": np.zeros((places, games), np.float32),
        "ends": np.zeros((places, games), np.float32),
    }
    seen, _ = envs.reset(seed=1)
    steps = t = 0
    while True:
        epsilon = 1 - 0.9 * min(max(steps - WARM_UP, 0) / EXPLORED, 1)
        if np.random.random() < epsilon:
            actions = np.random.randint(actions_of, size=games)
        else:
            with torch.no_grad():
                actions = network(torch.tensor(seen)).argmax(1).numpy()
        after, rewards, terminated, truncated, infos = envs.step(actions)
        last = after.copy()
        for game in np.flatnonzero(terminated | truncated):
            last[game] = infos["final_obs"][game]
        for name, each in (
            ("before", seen),
            ("after", last),
            ("actions", actions),
            ("rewards", rewards),
            ("ends", terminated),
        ):
            kept[name][t % places] = each
        seen, t, steps = after, t + 1, steps + games
        if steps >= WARM_UP and steps % every == 0:
            rows = np.random.randint(min(t, places), size=batch)
            columns = np.random.randint(games, size=batch)
            before, after_it, done, paid, ends = (
                torch.tensor(each[rows, columns]) for each in kept.values()
            )
            with torch.no_grad():
                aim = paid + 0.99 * target(after_it).max(1).values * (1 - ends)
            found = network(before).gather(1, done[:, None])[:, 0]
            loss = nn.functional.smooth_l1_loss(found, aim)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if steps % SYNC < games:
            target.load_state_dict(network.state_dict())
        if steps % (4 * every) == 0:
            yield steps


def sb3(*, games: int, batch: int, every: int) -> Iterator[int]:
    """Stable-Baselines3's DQN."""
    from stable_baselines3 import DQN
    from stable_baselines3.common.atari_wrappers import AtariWrapper
    from stable_baselines3.common.vec_env import (
        DummyVecEnv,
        SubprocVecEnv,
        VecFrameStack,
    )

    def game() -> Any:
        return AtariWrapper(raw_console("breakout"))

    many = DummyVecEnv if games == 1 else SubprocVecEnv
    learner = DQN(
        "CnnPolicy",
        VecFrameStack(many([game] * games), 4),
        buffer_size=KEPT,
        learning_starts=WARM_UP,
        batch_size=batch,
        train_freq=every // games,
        gradient_steps=1,
        target_update_interval=SYNC,
        learning_rate=RATE,
        exploration_initial_eps=0.1,
        exploration_final_eps=0.1,
        optimize_memory_usage=True,
        replay_buffer_kwargs={"handle_timeout_termination": False},
        seed=1,
        device="cpu",
    )
    learner.learn(WARM_UP, reset_num_timesteps=False)
    while True:
        learner.learn(256, reset_num_timesteps=False)
        yield learner.num_timesteps


LEARNERS: dict[str, Callable[..., Iterator[int]]] = {
    "ours": ours,
    "plain": plain,
    "sb3": sb3,
    "without_keep_memory": partial(ours, keep_memory=False),
}


def measure_learner(name: str, setting: str) -> Numbers:
    """Steps a second, once it has learned for a while and hardly explores."""
    rounds = LEARNERS[name](**SETTINGS[setting])
    steps = next(rounds)
    while steps < WARM_UP + 2 * EXPLORED:
        steps = next(rounds)
    begun, started = steps, time.perf_counter()
    while steps - begun < 1_024 or time.perf_counter() - started < 5:
        steps = next(rounds)
    return {"steps": (steps - begun) / (time.perf_counter() - started)}


MEASURES: dict[str, Callable[..., Numbers]] = {
    "replay": measure_memory,
    "trees": measure_trees,
    "learn": measure_learner,
}


def main() -> None:
    """Take one sample, and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=list(MEASURES))
    parser.add_argument("contestant")
    parser.add_argument("setting", nargs="?", choices=list(SETTINGS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    setting = [options.setting] if options.setting else []
    found = MEASURES[options.part](options.contestant, *setting)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
