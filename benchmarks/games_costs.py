"""What the parts of a step cost: the emulator, a picture, the way to the agent."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.record import significant
from labml_rl.game import FRAMES_PER_STEP, make_game
from labml_rl.process import Worker
from labml_rl.screen import preprocess

OBSERVATION = np.zeros((4, 84, 84), np.uint8)


class Echo:
    """Answers with what it was made with."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def ask(self) -> Any:
        """The answer."""
        return self.answer

    def close(self) -> None:
        """Nothing is open."""


def echo_of_observation() -> Echo:
    """The answer is what a game of the usual kind shows."""
    return Echo(OBSERVATION)


def each(run: Callable[[], object], times: int) -> float:
    """Microseconds that one call takes, in the quickest tenth of all calls."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return float(np.quantile(taken, 0.1) * 1e6)


def costs(times: int) -> dict[str, float]:
    """All of them, in microseconds."""
    game = make_game("Breakout", seed=1, episodic_life=False)
    game.reset()
    emulator, random = game._emulator, np.random.default_rng(0)
    actions = game._actions
    colours = np.zeros((2, *emulator.getScreenDims(), 3), np.uint8)
    place = np.zeros_like(OBSERVATION)

    def step() -> None:
        if any(game.step(int(random.integers(len(actions))))[2:4]):
            game.reset()

    def four_frames() -> None:
        action = actions[random.integers(len(actions))]
        for _ in range(FRAMES_PER_STEP):
            emulator.act(action)
        if emulator.game_over(with_truncation=False):
            emulator.reset_game()

    def recipe() -> None:
        emulator.getScreenRGB(colours[0])
        emulator.getScreenRGB(colours[1])
        preprocess(colours)

    found = {
        "step": each(step, times),
        "emulator": each(four_frames, times),
        "reset": each(emulator.reset_game, times // 20),
        "recipe": each(recipe, times),
        "copy": each(lambda: np.copyto(place, OBSERVATION), times),
    }
    for name, make in (("worker", Echo), ("worker_observation", echo_of_observation)):
        with Worker(make, name=name) as worker:
            found[name] = each(lambda worker=worker: worker.ask("ask"), times)  # type: ignore[misc]
    return {name: significant(value) for name, value in found.items()}
