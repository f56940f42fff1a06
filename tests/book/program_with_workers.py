"""A program that starts workers and then ends in the way that it is told to.

    python -m tests.book.program_with_workers START_METHOD ENDING

It prints a line once its workers are busy. The workers share its standard output, so
that whoever reads that until its end knows that none of them is left.
"""

import multiprocessing
import os
import signal
import sys
import time
from typing import Any

import gymnasium
import numpy as np

from labml_rl.process import STOP_SIGNALS, Worker


class Slow(gymnasium.Env[Any, Any]):
    """Answers with more bytes than a pipe holds. Action 1 never ends."""

    observation_space = gymnasium.spaces.Box(0, 255, (10_000_000,), np.uint8)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return np.zeros(10_000_000, np.uint8), {}

    def step(self, action):
        while action == 1:
            time.sleep(1)
        return np.zeros(10_000_000, np.uint8), 0.0, False, False, {}


def die_young() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def play(start_method: str, ending: str) -> None:
    told = []
    if ending == "told":
        for each in STOP_SIGNALS:
            signal.signal(each, lambda number, _: told.append(number))
    if ending == "told at once":
        os.register_at_fork(after_in_child=die_young)
    workers = [
        Worker(Slow, name=f"worker {index}", start_method=start_method)
        for index in range(3)
    ]
    for worker in workers:
        worker.ask("reset")
    # The first waits for a request, the second until its answer is fetched, and the
    # third hangs.
    workers[1].send("step", 0)
    workers[2].send("step", 1)
    print("busy", flush=True)
    if ending == "exception":
        raise ZeroDivisionError("the program has failed")
    if ending == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if ending == "ctrl-c":
        workers[2].receive()
    if ending == "told":
        while not told:
            time.sleep(0.01)
        time.sleep(0.2)  # in which workers could die of it
        for _ in range(3):
            workers[0].ask("step", 0)
        workers[1].receive()
        for worker in workers:
            worker.close(patience=0.5)


def main() -> None:
    start_method, ending = sys.argv[1:]
    if ending == "in a process":
        context = multiprocessing.get_context("fork")
        process = context.Process(target=play, args=(start_method, ending))
        process.start()
        process.join()
        sys.exit(process.exitcode)
    play(start_method, ending)


if __name__ == "__main__":
    main()
