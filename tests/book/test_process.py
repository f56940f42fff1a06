"""Processes: what they answer, how they fail, and that none of them stays behind."""

import contextlib
import gc
import importlib
import itertools
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from labml_rl import process
from labml_rl.process import (
    STOP_SIGNALS,
    SpinWait,
    Worker,
    WorkerDiedError,
    WorkerError,
    shortened,
)
from tests.book.program_with_workers import Slow

START_METHODS = ["fork", "spawn", "forkserver"]


class Counter(gymnasium.Env[int, str]):
    """Counts its steps; its actions are the things that can go wrong."""

    def __init__(self, trace: Path | None = None, barrier: Any = None) -> None:
        self.trace = trace
        self.barrier = barrier
        self.episodes = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        self.episodes += 1
        return 0, {"episodes": self.episodes, "seed": seed, "options": options}

    def begin(self, seed, options):
        return self.reset(seed=seed, options=options)

    def step(self, action):
        self.steps += 1
        info: dict[str, Any] = {"steps": self.steps}
        if action == "raise":
            raise KeyError("the brick is missing")
        if action == "raise EOFError":
            raise EOFError("not the pipe's")
        if action == "exit":
            sys.exit(3)
        if action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "unpicklable":
            info["function"] = lambda: None
        if action == "meet":
            self.barrier.wait(60)
        return self.steps, 1.0, action == "terminate", action == "truncate", info

    def close(self):
        if self.trace is not None:
            self.trace.write_text("closed")


def broken() -> gymnasium.Env[Any, Any]:
    raise FileNotFoundError("no such game")


def local_function() -> Callable[[], Counter]:
    def make() -> Counter:
        return Counter()

    return make


def worker(**options: Any) -> Worker:
    return Worker(partial(Counter, **options), name="the counter")


# ------------------------------------------------------------------ the answers


def test_arguments_arrive():
    with worker() as there:
        _, info = there.ask("begin", 4, {"new_game": True})
    assert info == {"episodes": 1, "seed": 4, "options": {"new_game": True}}


def test_workers_play_at_the_same_time():
    # Each step waits until the other has begun too; one after the other would not end.
    barrier = multiprocessing.get_context("fork").Barrier(2)
    make = partial(Counter, barrier=barrier)
    with contextlib.ExitStack() as stack:
        both = [
            stack.enter_context(Worker(make, name=name, start_method="fork"))
            for name in ("one", "two")
        ]
        for each in both:
            each.ask("reset")
        for each in both:
            each.send("step", "meet")
        assert [each.receive()[0] for each in both] == [1, 1]


# ------------------------------------------------------------------- the failures


@pytest.mark.parametrize("start_method", START_METHODS)
def test_exception_arrives_with_the_workers_name_and_traceback(start_method):
    with Worker(Counter, name="worker 7", start_method=start_method) as there:
        there.ask("reset")
        with pytest.raises(WorkerError) as caught:
            there.ask("step", "raise")
    message = str(caught.value)
    assert message.startswith("worker 7: Traceback")
    assert "in step" in message
    assert "KeyError: 'the brick is missing'" in message


def test_exception_before_the_first_request_arrives():
    with (
        Worker(broken, name="worker 7") as there,
        pytest.raises(WorkerError, match=r"worker 7(?s:.*)no such game"),
    ):
        there.ask("reset")


def test_exception_that_looks_like_a_closed_pipe_arrives():
    with worker() as there:
        there.ask("reset")
        with pytest.raises(WorkerError, match="not the pipe's"):
            there.ask("step", "raise EOFError")


def test_answer_that_cannot_be_sent_is_reported():
    with worker() as there:
        there.ask("reset")
        with pytest.raises(WorkerError, match="pickle"):
            there.ask("step", "unpicklable")


def test_worker_that_exits_without_a_word_is_noticed():
    with worker() as there:
        there.ask("reset")
        with pytest.raises(WorkerError, match="the counter: exited with code 3"):
            there.ask("step", "exit")


@pytest.mark.parametrize("start_method", START_METHODS)
def test_worker_that_is_killed_during_a_step_is_noticed(start_method):
    with Worker(Counter, name="worker 7", start_method=start_method) as there:
        there.ask("reset")
        with pytest.raises(WorkerError, match="worker 7: killed by SIGKILL"):
            there.ask("step", "kill")


def test_worker_that_is_killed_between_two_steps_is_noticed():
    with worker() as there:
        there.ask("reset")
        os.kill(there.process.pid or 0, signal.SIGKILL)
        there.process.join()
        with pytest.raises(WorkerError, match="killed by SIGKILL"):
            there.ask("step", "go on")


def test_a_worker_that_died_has_a_short_name():
    with Worker(Counter, name="worker 0 with a (1, 2), b (3), c (4)") as there:
        there.ask("reset")
        with pytest.raises(
            WorkerDiedError, match=r"0 with a \(1, 2\), … c \(4\): exited"
        ):
            there.ask("step", "exit")
    for short in ("player 1", "player 1 with a (1, 2), b (3, 4)"):
        assert shortened(short) == short


def test_a_signal_without_a_name_has_its_number():
    number = signal.SIGRTMIN + 6
    with worker() as there:
        there.ask("reset")
        os.kill(there.process.pid or 0, number)
        there.process.join()
        with pytest.raises(WorkerError, match=f"killed by signal {number}"):
            there.ask("step", "go on")


def test_worker_that_is_killed_halfway_through_an_answer_is_noticed():
    with Worker(Slow, name="slow") as there:
        there.ask("reset")
        there.send("step", 0)
        # The answer does not fit into the pipe, so once it begins it does not end.
        wait([there._connection])
        os.kill(there.process.pid or 0, signal.SIGKILL)
        with pytest.raises(WorkerError, match="slow: killed by SIGKILL"):
            there.receive()


def test_dead_worker_is_noticed_though_its_end_of_the_pipe_is_open(monkeypatch):
    # A process that is forked at the wrong moment, by another thread, holds a copy.
    copies = []
    make_pipe = multiprocessing.context.BaseContext.Pipe

    def pipe_with_a_copy(context, duplex=True):
        ours, workers = make_pipe(context, duplex)
        copies.append(os.dup(workers.fileno()))
        return ours, workers

    monkeypatch.setattr(multiprocessing.context.BaseContext, "Pipe", pipe_with_a_copy)
    with worker() as there:
        there.ask("reset")
        with pytest.raises(WorkerError, match="killed by SIGKILL"):
            there.ask("step", "kill")
    (copy,) = copies
    os.close(copy)


def test_one_failure_leaves_the_other_workers_alone():
    with worker() as one, worker() as two:
        one.ask("reset")
        two.ask("reset")
        one.send("step", "raise")
        two.send("step", "go on")
        with pytest.raises(WorkerError):
            one.receive()
        assert two.receive()[0] == 1


def test_failed_worker_is_closed():
    with worker() as there:
        there.ask("reset")
        with pytest.raises(WorkerError):
            there.ask("step", "raise")
        assert not there.process.is_alive()
        with pytest.raises(WorkerError, match="the counter is closed"):
            there.ask("step", "go on")


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_function_that_cannot_travel_is_refused(start_method):
    with pytest.raises(
        TypeError, match=r"cannot be sent to another process.*top level"
    ):
        Worker(local_function(), name="worker 7", start_method=start_method)


def errors_of(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    ended = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=100
    )
    return ended.stderr


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_program_that_starts_workers_when_it_is_imported_does_not_hang(
    tmp_path, start_method
):
    # What the worker is given is more than a pipe holds, and nobody there to take it.
    program = tmp_path / "unguarded.py"
    program.write_text(
        "from functools import partial\n"
        "from labml_rl.process import Worker\n"
        "make = partial(dict, large=bytes(1_000_000))\n"
        f"with Worker(make, name='one', start_method={start_method!r}) as there:\n"
        "    there.ask('copy')\n"
    )
    errors = errors_of(str(program))
    assert "WorkerDiedError: one: exited with code 1" in errors
    assert "if __name__ == '__main__'" in errors


@pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
def test_function_that_is_not_there_at_the_other_end_is_reported(start_method):
    program = (
        "from labml_rl.process import Worker\n"
        "def make(): return {}\n"
        f"with Worker(make, name='one', start_method={start_method!r}) as there:\n"
        "    there.ask('copy')\n"
    )
    error = errors_of("-c", program).partition("WorkerError: one: Traceback")[2]
    assert "Can't get attribute 'make' on <module '__main__'" in error
    assert "needs a module of its own" in error


def test_what_is_defined_too_late_for_another_process_is_named_with_a_remedy(tmp_path):
    program = tmp_path / "late.py"
    program.write_text(
        "from labml_rl.process import Worker\n"
        "if __name__ == '__main__':\n"
        "    def make(): return {}\n"
        "    with Worker(make, name='one', start_method='spawn') as there:\n"
        "        there.ask('copy')\n"
    )
    error = errors_of(str(program))
    assert "Can't get attribute 'make' on <module '__mp_main__'" in error
    assert "nothing from below `if __name__" in error


def refusal() -> str:
    with pytest.raises(WorkerError) as caught:
        worker()
    return str(caught.value)


def test_a_process_that_may_start_no_others_is_told_so():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        said = pool.apply_async(refusal).get(60)
    assert said.startswith("the counter can't be started")
    assert "workers=0" in said


def test_function_of_any_kind_can_be_forked():
    with Worker(local_function(), name="forked", start_method="fork") as there:
        assert there.ask("reset")[0] == 0


def test_asking_twice_and_receiving_nothing_are_refused():
    with worker() as there:
        with pytest.raises(RuntimeError, match="was not asked"):
            there.receive()
        there.send("reset")
        with pytest.raises(RuntimeError, match="receive"):
            there.send("step", "go on")
        assert there.receive()[0] == 0


def test_a_request_that_can_not_be_sent_leaves_the_worker_as_it_was():
    with worker() as there:
        with pytest.raises((AttributeError, pickle.PicklingError)):
            there.ask("begin", lambda: 0, None)
        assert there.ask("reset")[0] == 0


# ------------------------------------------------------------------------ the end


def test_closing_closes_the_environment_and_twice_does_no_harm(tmp_path):
    there = worker(trace=tmp_path / "trace")
    there.ask("reset")
    there.close()
    there.close()
    assert (tmp_path / "trace").read_text() == "closed"
    assert there.process.exitcode == 0


def test_closing_ends_a_worker_that_waits_with_its_answer():
    there = Worker(Slow, name="slow")
    there.ask("reset")
    there.send("step", 0)
    there.close(patience=0.5)
    assert not there.process.is_alive()


def test_closing_kills_a_worker_that_hangs():
    there = Worker(Slow, name="slow")
    there.ask("reset")
    there.send("step", 1)
    there.close(patience=0.5)
    assert there.process.exitcode == -signal.SIGKILL


def test_a_worker_that_hangs_and_is_forgotten_is_killed():
    there = Worker(Slow, name="slow")
    there.ask("reset")
    there.send("step", 1)
    process = there.process
    del there
    gc.collect()
    process.join(10)
    assert process.exitcode == -signal.SIGKILL


def test_of_a_worker_that_is_forgotten_no_zombie_stays():
    there = worker()
    there.ask("reset")
    number = there.process.pid or 0
    del there
    gc.collect()
    with pytest.raises(ChildProcessError):
        os.waitpid(number, os.WNOHANG)


def test_a_copy_in_a_forked_process_is_closed_and_the_worker_stays():
    with worker() as there:
        there.ask("reset")
        copy = multiprocessing.get_context("fork").Process(target=there.close)
        copy.start()
        copy.join()
        assert copy.exitcode == 0
        assert there.ask("step", "go on")[0] == 1


def test_leaving_by_an_exception_closes():
    there = worker()

    def fail() -> None:
        with there:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert there.process.exitcode == 0


def test_worker_that_hangs_is_given_up():
    with Worker(Slow, name="slow") as there:
        there.ask("reset")
        there.send("step", 1)
        with pytest.raises(WorkerError, match=r"slow: no answer within 0\.5 seconds"):
            there.receive(timeout=0.5)
        assert there.process.exitcode == -signal.SIGKILL


def test_worker_that_does_not_read_is_given_up(monkeypatch):
    monkeypatch.setattr("labml_rl.process.SEND_SECONDS", 1)
    there = Worker(partial(time.sleep, 100), name="slow")
    with pytest.raises(WorkerError, match="slow: has not read its request for 1 sec"):
        there.send("echo", bytes(10_000_000))
    assert there.process.exitcode == -signal.SIGKILL


def test_a_time_limit_for_all_sockets_is_none_for_the_pipe():
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(30)
    try:
        with Worker(Slow, name="slow") as there:
            assert os.get_blocking(there._connection.fileno())
            # More than a pipe holds.
            assert there.ask("reset")[0].size == 10_000_000
    finally:
        socket.setdefaulttimeout(before)


def test_closing_does_not_wait_for_room_in_the_pipe():
    there = Worker(partial(time.sleep, 100), name="slow")
    there._connection.send_bytes(b"")
    flags = os.get_blocking(there._connection.fileno())
    os.set_blocking(there._connection.fileno(), False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(there._connection.fileno(), bytes(1000))
    os.set_blocking(there._connection.fileno(), flags)
    started = time.monotonic()
    there.close(0)
    assert time.monotonic() - started < 10
    assert there.process.exitcode == -signal.SIGKILL


def test_seconds_that_were_waited_already_count():
    with Worker(Slow, name="slow") as there:
        there.ask("reset")
        there.send("step", 1)
        started = time.monotonic()
        with pytest.raises(WorkerError, match="no answer within 60 seconds"):
            there.receive(timeout=60, waited=59.5)
        assert time.monotonic() - started < 20


class Interrupted:
    """What a worker is waited for with, if all was stopped as soon as that began."""

    def __init__(self, spin: SpinWait) -> None:
        self.wait_on, self.asked = spin.wait, 0

    def wait(self, seconds: float) -> list[int]:
        self.asked += 1
        # When it goes on, the time is over, and the worker has not had any of it.
        return [] if self.asked == 1 else self.wait_on(seconds)


def test_time_in_which_all_were_stopped_does_not_count():
    with Worker(Slow, name="slow") as there:
        there.ask("reset")
        spin: Any = Interrupted(there._spin)
        there._spin = spin
        there.send("step", 0)
        assert there.receive(timeout=60)[0].size == 10_000_000
        assert spin.asked > 1


def test_time_in_which_all_were_stopped_before_does_not_count():
    """In the middle of the share that the agent plays itself, for one."""
    with Worker(Slow, name="slow") as there:
        there.ask("reset")
        there.send("step", 0)
        assert there.receive(timeout=60, waited=3600)[0].size == 10_000_000


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_waiting_finds_what_is_there_and_no_more(pipe):
    other = os.pipe()
    spin = SpinWait(pipe[0], other[0])
    assert spin.wait(0.01) == []
    os.write(other[1], b"x")
    assert spin.wait() == [other[0]]
    os.write(pipe[1], b"x")
    os.close(other[1])
    assert set(spin.wait()) == {pipe[0], other[0]}
    os.close(other[0])


def test_who_waited_for_a_moment_stays_awake_the_next_time(pipe, monkeypatch):
    monkeypatch.setattr(process, "SPIN_SECONDS", 1e9)
    looks: list[None] = []

    def look():
        looks.append(None)
        if len(looks) == 3:
            os.write(pipe[1], b"x")

    monkeypatch.setattr(os, "sched_yield", look)
    spin = SpinWait(pipe[0])
    assert spin.wait(0) == []
    assert not looks
    assert spin.wait(0) == [pipe[0]]
    assert len(looks) == 3


def test_who_waited_for_long_sleeps_the_next_time(pipe, monkeypatch):
    looks: list[None] = []
    monkeypatch.setattr(os, "sched_yield", lambda: looks.append(None))
    monkeypatch.setattr(process, "SPIN_SECONDS", 0)
    spin = SpinWait(pipe[0])
    assert spin.wait(0.01) == []
    monkeypatch.setattr(process, "SPIN_SECONDS", 1e9)
    assert spin.wait(0.01) == []
    assert not looks


def test_who_stays_awake_does_so_for_a_while_only(pipe, monkeypatch):
    spin = SpinWait(pipe[0])
    clock = itertools.count()
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    monkeypatch.setattr(process, "SPIN_SECONDS", 10)
    looks: list[None] = []
    monkeypatch.setattr(os, "sched_yield", lambda: looks.append(None))
    assert spin.wait(0) == []
    assert not looks
    assert spin.wait(0.01) == []
    assert 0 < len(looks) < 10


def test_answer_in_time_is_an_answer():
    with worker() as there:
        there.send("reset")
        assert there.receive(timeout=60)[0] == 0


def end_of_program(
    start_method: str, ending: str, number: signal.Signals | None = None
) -> tuple[int, str]:
    """Send a signal to a program and all its workers. Wait until none of them is left.

    Returns:
        Its exit status, and what it wrote to standard error.
    """
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.book.program_with_workers", start_method, ending],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent.parent,
        start_new_session=True,
    )
    with program:
        assert program.stdout is not None
        try:
            assert program.stdout.readline() == "busy\n"
            if number is not None:
                os.killpg(program.pid, number)
            # Standard output ends when the last process that has it is gone.
            _, errors = program.communicate(timeout=240)
        except BaseException:
            os.killpg(program.pid, signal.SIGKILL)
            raise
    return program.returncode, errors


@pytest.mark.parametrize("ending", ["normal", "exception", "killed", "in a process"])
@pytest.mark.parametrize("start_method", START_METHODS)
def test_no_worker_outlives_its_program(start_method, ending):
    status, errors = end_of_program(start_method, ending)
    failed = ending == "exception"
    assert errors.count("Traceback") == failed, errors
    assert ("ZeroDivisionError" in errors) == failed
    assert status == {"exception": 1, "killed": -9}.get(ending, 0)


@pytest.mark.parametrize("number", STOP_SIGNALS)
@pytest.mark.parametrize("start_method", START_METHODS)
def test_no_worker_outlives_a_signal_to_all(start_method, number):
    status, errors = end_of_program(start_method, "ctrl-c", number)
    interrupted = number == signal.SIGINT
    assert errors.count("Traceback") == interrupted, errors
    assert ("KeyboardInterrupt" in errors) == interrupted
    assert status == -number


@pytest.mark.parametrize("number", STOP_SIGNALS)
@pytest.mark.parametrize("start_method", START_METHODS)
def test_workers_go_on_after_a_signal_to_all(start_method, number):
    """Their parent, which does not mind, has three more answers before it ends them."""
    status, errors = end_of_program(start_method, "told", number)
    assert (status, errors) == (0, "")


def test_worker_ignores_signals_from_its_first_moment():
    assert end_of_program("fork", "told at once") == (0, "")


class Simulated:
    """Something that is simulated by a process of its own."""

    def __init__(self) -> None:
        self.simulator = subprocess.Popen(["sleep", "60"])

    def number(self):
        return self.simulator.pid

    def close(self):
        self.simulator.terminate()
        self.simulator.wait()


@pytest.mark.parametrize("start_method", START_METHODS)
def test_what_an_environment_starts_can_be_terminated(start_method):
    """Programs ignore what the program ignored that started them."""
    with Worker(Simulated, name="simulated", start_method=start_method) as worker:
        number = worker.ask("number")
        began = time.monotonic()
        worker.close(patience=30)
    try:
        assert time.monotonic() - began < 20
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_worker_starts_is_answered_afterwards(number, monkeypatch):
    """Also where another thread takes it, as those of a notebook do."""
    started = threading.Event()

    def take() -> None:
        started.wait()
        signal.pthread_kill(threading.get_ident(), number)

    def answer(*_: object) -> None:
        raise KeyboardInterrupt

    other, before = threading.Thread(target=take), signal.signal(number, answer)
    start = multiprocessing.process.BaseProcess.start
    alive: list[bool] = []

    def interrupted(process: Any) -> None:
        start(process)
        started.set()
        other.join()
        alive.append(process.is_alive())

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", interrupted)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            Worker(Thinker, name="thinker", start_method="fork")
        assert signal.getsignal(number) is answer
    finally:
        started.set()
        signal.signal(number, before)
    assert alive == [True]
    gc.collect()
    assert not multiprocessing.active_children()


class Thinker:
    """Computes with PyTorch."""

    def think(self) -> float:
        return float((torch.ones(600, 600) @ torch.ones(600, 600)).sum())

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked there")
def test_a_forked_worker_can_compute_as_well():
    """Threads that its parent has, and that it has not, would be waited for."""
    torch.set_num_threads(2)
    expected = Thinker().think()
    with Worker(Thinker, name="thinker", start_method="fork") as worker:
        worker.send("think")
        assert worker.receive(30) == expected


class Thrower:
    """Throws the dice that its whole process shares."""

    def throw(self) -> list[float]:
        return [np.random.random(), float(torch.rand(()))]

    def close(self) -> None:
        """Nothing is open."""


class Late:
    """Loads PyTorch when it is made."""

    def __init__(self) -> None:
        self.torch = importlib.import_module("torch")

    def threads(self) -> int:
        return int(self.torch.get_num_threads())

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.usefixtures("same_threads_afterwards")
@pytest.mark.parametrize("start_method", START_METHODS)
def test_a_worker_computes_with_one_thread(start_method, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    torch.set_num_threads(2)
    with Worker(Late, name="late", start_method=start_method) as worker:
        assert worker.ask("threads") == 1


@pytest.mark.parametrize("start_method", START_METHODS)
def test_workers_throw_different_numbers(start_method):
    """A fork copies the dice of its parent."""
    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(Worker(Thrower, name=name, start_method=start_method))
            for name in ("one", "two")
        ]
        one, two = (worker.ask("throw") for worker in workers)
    assert all(first != second for first, second in zip(one, two, strict=True))


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked there")
def test_a_forked_worker_throws_what_follows_from_the_seed():
    def thrown() -> list[float]:
        np.random.seed(1)
        torch.manual_seed(1)
        with Worker(Thrower, name="one", start_method="fork") as worker:
            numbers: list[float] = worker.ask("throw")
        return numbers

    assert thrown() == thrown()
