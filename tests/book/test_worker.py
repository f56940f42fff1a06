"""Games in other processes: what happens when they fail, and that nothing is left."""

import contextlib
import copy
import gc
import importlib
import json
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError
from gymnasium.spaces import Box, Discrete

from labml_rl.process import WorkerError
from labml_rl.worker import ParallelGames, available_cores, make_games

START_METHODS = ["fork", "spawn", "forkserver"]
# Two that are there at the same time can go on, also into processes that are forked.
MEETING = multiprocessing.get_context("fork").Barrier(2)


def mark(pid: Any) -> int:
    """What tells a process from another, as a brightness: never 0."""
    return 1 + int(pid) % 255


class Fragile(gymnasium.Env[Any, Any]):
    """Its actions are the things that can go wrong."""

    action_space = Discrete(7)
    observation_space = Box(0, 255, (100,), np.uint8)

    def __init__(self, breaks: str = "", trace: Path | None = None) -> None:
        # The parent makes the first of all once, too.
        if breaks == "constructor":
            raise FileNotFoundError("no such game")
        self.breaks, self.trace = breaks, trace

    def reset(self, *, seed=None, options=None):
        if self.breaks == "reset":
            raise ValueError("no way to begin")
        return np.zeros(100, np.uint8), {}

    def step(self, action):
        if action == 1:
            raise KeyError("the brick is missing")
        if action == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        if action == 3:
            time.sleep(3600)
        if action == 4:
            os._exit(3)
        if action == 5:
            time.sleep(0.5)
        if action == 6:
            MEETING.wait(60)
        return np.full(100, mark(os.getpid()), np.uint8), 0.0, False, False, {}

    def close(self):
        if self.trace is not None:
            self.trace.write_text("closed")


def fragile(count: int = 4, **options: Any) -> ParallelGames:
    chosen: dict[str, Any] = {"workers": 2, "start_method": "fork"} | options
    names = [f"Fragile, seed {seed}" for seed in range(10, 10 + count)]
    return ParallelGames([Fragile] * count, names=names, **chosen)


def nobody_is_left(games: ParallelGames) -> bool:
    return not any(worker.process.is_alive() for worker in games.workers)


# ------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    ("action", "cause"),
    [
        (1, "KeyError: 'the brick is missing'"),
        (2, "killed by SIGKILL"),
        (3, "no answer within 3 seconds"),
        (4, "exited with code 3"),
    ],
)
@pytest.mark.parametrize("start_method", START_METHODS)
def test_a_failure_is_reported_and_all_workers_are_gone(start_method, action, cause):
    games = fragile(start_method=start_method)
    games.reset()
    # The one that does not answer is not waited for as long as it takes to start up.
    if action == 3:
        games._timeout = 3.0
    with pytest.raises(WorkerError) as caught:
        games.step([0, 0, 0, action])
    message = str(caught.value)
    assert (
        "worker 1 with game 2 (Fragile, seed 12), game 3 (Fragile, seed 13)" in message
    )
    assert cause in message
    if action == 1:
        assert "This happened in game 3 (Fragile, seed 13)." in message
        assert "in step" in message
    assert nobody_is_left(games)
    with pytest.raises(ClosedEnvironmentError):
        games.reset()
    with fragile(start_method=start_method) as again:
        again.reset()
        assert again.step([0, 0, 0, 0])[0].any()


@pytest.mark.usefixtures("nobody_stays")
@pytest.mark.parametrize("breaks", ["constructor", "reset"])
def test_games_that_do_not_begin(breaks):
    makers: list[Any] = [Fragile, Fragile, partial(Fragile, breaks)]

    def begin() -> None:
        with ParallelGames(makers, workers=2) as games:
            games.reset()

    when = {"constructor": "while game 2 was made", "reset": "in game 2"}[breaks]
    with pytest.raises(WorkerError, match=rf"(?s)worker 1.*This happened {when}"):
        begin()


@pytest.mark.usefixtures("nobody_stays")
def test_a_first_game_that_cannot_be_made_needs_no_worker():
    with pytest.raises(FileNotFoundError, match="no such game") as caught:
        ParallelGames([partial(Fragile, "constructor")])
    assert caught.value.__notes__ == ["This happened while game 0 was made."]


@pytest.mark.usefixtures("nobody_stays")
def test_a_function_that_cannot_travel_is_refused_and_nobody_is_left():
    with pytest.raises(TypeError, match="top level of a module"):
        ParallelGames([Fragile, lambda: Fragile("")], workers=2, start_method="spawn")


def test_ctrl_c_while_waiting_ends_all(monkeypatch):
    games = fragile()
    games.reset()
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    receive = games.workers[0].receive

    def waiting(*arguments: Any) -> Any:
        timer.start()
        return receive(*arguments)

    monkeypatch.setattr(games.workers[0], "receive", waiting)
    with pytest.raises(KeyboardInterrupt):
        games.step([3, 0, 0, 0])
    assert nobody_is_left(games)
    with fragile() as again:
        again.reset()


def test_a_request_that_does_not_reach_one_worker_ends_all(monkeypatch):
    games = fragile()
    games.reset()

    def fail(*_: Any) -> None:
        raise WorkerError("worker 1: has not read its request")

    monkeypatch.setattr(games.workers[1], "send", fail)
    with pytest.raises(WorkerError, match="has not read"):
        games.step([0, 0, 0, 0])
    assert nobody_is_left(games)
    assert games.closed


def test_a_request_that_can_not_be_packed_ends_all():
    games = fragile()
    games.reset()
    with pytest.raises((AttributeError, pickle.PicklingError)):
        games.reset(options={"level": lambda: 1})
    assert nobody_is_left(games)
    assert games.closed


# ---------------------------------------------------------------------------- the end


def test_closing_closes_the_environments(tmp_path):
    makers = [partial(Fragile, trace=tmp_path / str(number)) for number in range(5)]
    games = ParallelGames(makers, workers=2)
    for trace in tmp_path.iterdir():
        trace.unlink()  # that of the one which was made in this process
    games.close()
    games.close()
    assert len(list(tmp_path.iterdir())) == 5
    assert nobody_is_left(games)


class Slow(Fragile):
    """Goes on from where it was, but slowly."""

    def get_state(self):
        return {}

    def set_state(self, state):
        time.sleep(1)
        return self.observation_space.sample()


def test_to_go_on_may_take_longer_than_a_step():
    with ParallelGames([Slow, Slow], workers=1) as games:
        games.reset()
        states = games.get_states()
        games._timeout = 0.05
        games.set_states(states)


def test_closing_in_the_middle_of_a_step():
    games = fragile()
    games.reset()
    games.step_async([5, 5, 5, 5])
    games.close()
    assert nobody_is_left(games)


def test_processes_can_not_be_copied():
    with ParallelGames([Fragile]) as games:
        for copy_of in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=r"Make others .* set_states"):
                copy_of(games)


@pytest.mark.parametrize("workers", [0, -1])
def test_there_is_at_least_one_worker(workers):
    with pytest.raises(ValueError, match=f"workers must be at least 1, not {workers}"):
        ParallelGames([Fragile], workers=workers)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_there_is_time_to_answer(timeout):
    with pytest.raises(ValueError, match=f"timeout must be above 0, not {timeout}"):
        ParallelGames([Fragile], timeout=timeout)


def test_games_that_are_forgotten_are_closed():
    games = fragile()
    processes = [worker.process for worker in games.workers]
    del games
    for process in processes:
        process.join(10)
        assert process.exitcode == 0


@pytest.mark.usefixtures("nobody_stays")
def test_a_forked_process_that_forgets_its_copy_leaves_the_games_alone():
    with fragile() as games:
        games.reset()
        copy = multiprocessing.get_context("fork").Process(target=games.__del__)
        copy.start()
        copy.join()
        assert copy.exitcode == 0
        assert games.step([0, 0, 0, 0])[0].any()


@pytest.mark.usefixtures("nobody_stays")
def test_a_hundred_games_leave_nothing_behind():
    def descriptors() -> list[str]:
        paths = []
        for number in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                paths.append(os.readlink(f"/proc/self/fd/{number}").partition("[")[0])
        return sorted(paths)

    def segments() -> list[str]:
        # Other tests run beside this one, and name theirs by their own processes.
        return [each for each in os.listdir("/dev/shm") if str(os.getpid()) in each]

    gc.collect()  # what other tests left to collect
    counts = []
    for round_ in range(50):
        with fragile(2) as games:
            games.reset()
            games.step([0, 0])
        if round_ in (20, 49):
            counts.append((descriptors(), segments(), threading.active_count()))
    assert counts[0] == counts[1]


# ------------------------------------------------------------------------- the workers


@pytest.mark.parametrize(
    ("games", "workers", "shares"),
    [(8, 2, [4, 4]), (8, 3, [2, 3, 3]), (3, 8, [1, 1, 1]), (5, 1, [5])],
)
def test_games_are_shared_out_evenly(games, workers, shares):
    with fragile(games, workers=workers) as batch:
        batch.reset()
        marks = batch.step([0] * games)[0][:, 0].tolist()
    found = [marks.count(mark(worker.process.pid)) for worker in batch.workers]
    assert found == shares


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("150000 100000", 2), ("50000 100000", 1), ("max 100000", 64), ("", 64)],
)
def test_cores_of_a_container(monkeypatch, tmp_path, limit, cores):
    file = tmp_path / "cpu.max"
    file.write_text(limit)
    monkeypatch.setattr("labml_rl.worker.CPU_MAX", file)
    monkeypatch.setattr("labml_rl.worker.CPU_QUOTA", tmp_path / "nowhere")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)))
    assert available_cores() == cores
    file.unlink()
    assert available_cores() == 64


@pytest.mark.parametrize(("quota", "cores"), [("765000", 8), ("-1", 64), ("", 64)])
def test_cores_of_a_container_on_an_older_machine(monkeypatch, tmp_path, quota, cores):
    for name, text in (("QUOTA", quota), ("PERIOD", "100000")):
        (tmp_path / name).write_text(f"{text}\n")
        monkeypatch.setattr(f"labml_rl.worker.CPU_{name}", tmp_path / name)
    monkeypatch.setattr("labml_rl.worker.CPU_MAX", tmp_path / "nowhere")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)))
    assert available_cores() == cores


def test_a_worker_for_each_core():
    with fragile(8, workers=None) as games:
        assert len(games.workers) == min(8, available_cores())
    assert 1 <= available_cores() <= (os.cpu_count() or 1)


def test_workers_play_while_the_agent_does_something_else():
    with fragile(2) as games:
        games.reset()
        games.step_async([5, 5])
        for worker in games.workers:
            assert worker._spin.wait(60), "nobody has asked for its answer yet"
        assert games.step_wait()[0].all()


def test_workers_play_at_the_same_time():
    with fragile(2) as games:
        games.reset()
        games.step([6, 6])  # one after another they would wait for ever


def test_who_joins_has_the_last_share_and_one_worker_less():
    with fragile(5, joins=True) as games:
        games.reset()
        marks = games.step([0] * 5)[0][:, 0].tolist()
    (worker,) = games.workers
    assert marks == [mark(worker.process.pid)] * 2 + [mark(os.getpid())] * 3


def test_a_failure_in_the_own_share_ends_all():
    games = fragile(4, joins=True)
    games.reset()
    with pytest.raises(KeyError, match="brick") as caught:
        games.step([0, 0, 0, 1])
    assert caught.value.__notes__ == ["This happened in game 3 (Fragile, seed 13)."]
    assert nobody_is_left(games)
    assert games.closed


def test_who_joins_closes_its_own_environments(tmp_path):
    makers = [partial(Fragile, trace=tmp_path / str(number)) for number in range(4)]
    games = ParallelGames(makers, workers=2, joins=True)
    for trace in tmp_path.iterdir():
        trace.unlink()
    games.close()
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("start_method", START_METHODS)
def test_the_start_method_is_used(start_method):
    with make_games("Pong", 1, seed=1, joins=False, start_method=start_method) as games:
        assert isinstance(games, ParallelGames)
        kind = type(games.workers[0].process).__name__.lower()
        assert kind.startswith(start_method)
        assert games.reset()[0].shape == (1, 4, 84, 84)


def test_figures_say_what_the_record_says(monkeypatch, tmp_path):
    # Not above: workers that are spawned import this module, and this imports PyTorch.
    batches = importlib.import_module("figures.batches")
    monkeypatch.setattr(sys, "argv", ["figures.batches", "--check"])
    batches.main()
    record = json.loads(batches.RECORD.read_text())
    record["costs"]["worker"] *= 2
    monkeypatch.setattr(batches, "RECORD", tmp_path / "games.json")
    batches.RECORD.write_text(json.dumps(record))
    with pytest.raises(SystemExit, match=r"batches-costs\.svg"):
        batches.main()
