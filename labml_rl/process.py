"""
---
title: A process that can be trusted
summary: An object in its own process, which answers, or says why not.
---

# A process that can be trusted

Played [one after another](batch.py), games leave all but one of the machine's cores
idle. Python's threads would not help, since they take turns. So games go into separate
processes, **workers**. The agent talks to a worker through a pipe:

```text
the agent                     a worker
-----------------             -----------------------
send(...) ------- pipe -----> does it
...
receive() <------ pipe ------ "done", and the result
```

Sending and receiving are separate, and that is the whole trick: hand *every* worker its
request first, and only then wait for the first answer.

## What a message costs

The sender packs the message. The system copies it into the pipe, wakes the other
process up, and copies it out again, and the receiver unpacks it. Then the answer goes
back the same way.

![Bars: a step of a game takes longest, nearly all of it in the emulator. Next comes a
worker that answers with an observation, then one that answers with nothing, and last
an observation that is copied in memory](../assets/figures/batches-costs.svg)

*The quickest tenth of many tries, from [this record](../benchmarks/games.md).*

So a message is cheap compared with a step of a game, but not free. One that carries an
observation costs more, and a copy in memory that both processes see takes next to no
time. So [workers](worker.py) send few messages, each for several games, and no
observations.

What no program can get around is the emulator itself. The number of steps that it plays
with nothing around it is the *ceiling* for everything that is measured.

## What can go wrong

A first version of this is quickly written. A week later a mistake in one game makes the
whole program hang, and the processes of a program that died in the night are still
running in the morning. With the [Worker][] of this page, neither happens.
"""

import contextlib
import multiprocessing
import os
import pickle
import select
import signal
import socket
import struct
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.heap import Arena
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import Any, Self

# These ask a program to stop: Ctrl-C, a machine that shuts down, a terminal that is
# closed. Windows has neither the last of these nor workers: there, only what plays in
# one process can be used.
STOP_SIGNALS = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
)

# A request that does not fit into the pipe waits until the worker reads. A worker that
# reads nothing for this many seconds is given up on.
SEND_SECONDS = 60

# Longer waits are made of such slices. See [below][Worker._wait].
SLICE_SECONDS = 1.0

# How long a waiting process stays awake. See [SpinWait][].
SPIN_SECONDS = 0.001


def worker_process(connection: Connection, make: Callable[[], Any]) -> None:
    """
    ## In the worker

    The process makes an object, and then calls whichever of its methods it is told to,
    until it is told to stop.

    Args:
        connection: its end of the pipe. Requests arrive as `(method, arguments)`, and
            answers leave as `(succeeded, result)`.
        make: makes the object.
    """
    # Signals that ask a program to stop often reach all of its processes. What happens
    # next is for the parent to decide: [a run](runs/signals.py) completes the update
    # that it is in, and needs its workers for that. So the workers do not listen.
    for each in STOP_SIGNALS:
        signal.signal(each, signal.SIG_IGN)

    # !!! warning "What a program ignores, those that it starts ignore as well"
    #     An environment may start a simulator in a process of its own, and end it with
    #     `terminate()`, which is a SIGTERM. A simulator that ignored it would live on.
    #     A signal that is heard, and not heeded, is not passed on like that.
    signal.signal(signal.SIGTERM, lambda *_: None)
    signal.siginterrupt(signal.SIGTERM, False)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    threading.Thread(target=_leave_with_parent, daemon=True).start()

    # !!! warning "A fork has no threads"
    #     PyTorch computes with several threads, and keeps them. A forked process has
    #     none of them, but believes that it does, and the first large product would
    #     wait for them for ever. With one thread there is nothing to wait for, and the
    #     other cores have their own workers.
    torch = sys.modules.get("torch")
    if torch:
        torch.set_num_threads(1)
    else:
        os.environ["OMP_NUM_THREADS"] = "1"  # it may be loaded later

    # Nor has it dice of its own. NumPy's and PyTorch's are copies of the parent's, and
    # all workers would throw the same. So each adds its name to the seed.
    name = zlib.crc32(multiprocessing.current_process().name.encode())
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed([numpy.random.randint(2**31), name])
    if torch:
        torch.manual_seed(int(torch.randint(2**31, ())) + name)

    spin = SpinWait(connection.fileno())
    try:
        with contextlib.closing(make()) as made:
            while True:
                spin.wait()
                method, arguments = _next_request(connection)
                if method is None:
                    break
                _send(connection, (True, getattr(made, method)(*arguments)))

    # Whatever went wrong, the parent is told. If it is no longer listening, there is
    # nobody to tell.
    except Exception:
        with contextlib.suppress(OSError):
            _send(connection, (False, traceback.format_exc()))


class SpinWait:
    """
    ### Awake

    A process that waits is put to sleep, and so is a core that has nothing else to do.
    Waking both takes longer than everything else about a message. And when games are
    played without a pause, no process waits for long.

    So a process that had to wait for less than a millisecond the last time stays awake
    for a millisecond this time, and looks again and again whether there is something to
    read. (Locks do the same, which is called *adaptive spinning*.) In between it offers
    its core to others.

    Args:
        files: the numbers of the files to listen to.
    """

    def __init__(self, *files: int) -> None:
        self._poll = select.poll()
        for file in files:
            self._poll.register(file, select.POLLIN)
        self._soon = False  # whether the last wait was a short one

    def wait(self, seconds: float | None = None) -> list[int]:
        """
        Args:
            seconds: how long to wait at most; `None` means as long as it takes.

        Returns:
            Those of the files that have something to read, or that the other end has
            closed. The list is empty if there are none in time.
        """
        start = time.perf_counter()
        ready = self._poll.poll(0)
        while not ready and self._soon and time.perf_counter() < start + SPIN_SECONDS:
            os.sched_yield()  # "after you", to whoever wants this core
            ready = self._poll.poll(0)
        ready = ready or self._poll.poll(None if seconds is None else 1000 * seconds)
        self._soon = time.perf_counter() < start + SPIN_SECONDS
        return [file for file, _ in ready]


def _leave_with_parent() -> None:
    """
    ### When the parent is gone

    A parent that is killed cannot say goodbye. This thread hears of it all the same,
    and ends the process at once, whatever the game is doing.

    !!! warning "The pipe does not tell"
        It would, by closing, if the parent alone had the other end. But a forked
        process starts with copies of everything that its parent had open, and so the
        workers hold each other's pipes open, and their own. Each waits for the rest to
        leave.

    Python gives every process a *sentinel* that closes when its parent ends. Later
    workers have copies of that as well, but no process has a copy of the last worker's
    sentinel. That worker leaves, its copies close, the one before it leaves, and so on
    back to the first.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a process of its own"
    wait([parent.sentinel])
    os._exit(1)


def _next_request(connection: Connection) -> tuple[str | None, tuple[Any, ...]]:
    try:
        return _receive(connection)
    except (EOFError, OSError):
        return None, ()


# `Connection.send` would set up a pickler with abilities that no message needs, which
# takes longer than everything else.
def _packed(message: tuple[Any, Any]) -> bytes:
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def _send(connection: Connection, message: tuple[Any, Any]) -> None:
    connection.send_bytes(_packed(message))


def _receive(connection: Connection) -> tuple[Any, Any]:
    return pickle.loads(connection.recv_bytes())


class Parcel:
    """
    ### What it is sent

    A process that is not forked gets `make` from its parent through a pipe, and a pipe
    holds 64 KB. If there is more, the parent waits until the process has read some of
    it. What if the process dies before that? Python's own `multiprocessing` then waits
    for ever. And such processes do die: for instance, if the program has no
    `if __name__ == "__main__":`. So `make` travels in memory that both see, and the
    pipe only says where that is.

    It is opened [where the object is made][worker_process]. If that fails, the parent
    is told, as it is of any other mistake.

    Args:
        make: makes the object.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __call__(self) -> Any:
        """Make it. A process that was forked has nothing to open."""
        return self._make()

    def __reduce__(self) -> tuple[Any, ...]:
        packed = ForkingPickler.dumps(self._make)
        self._memory = Arena(len(packed))
        self._memory.buffer[:] = packed
        return partial, (_open_and_make, self._memory)


def _open_and_make(memory: Arena) -> Any:
    try:
        make = pickle.loads(memory.buffer)
    except AttributeError as error:
        if "main__" in str(error):
            error.add_note(NOT_THERE)
        raise
    return make()


NOT_THERE = (
    "A process that is not forked has what modules define when they are imported. It "
    "has nothing from a notebook, and nothing from below `if __name__ == "
    '"__main__":`. So what makes an environment or a network needs a module of its '
    "own. With workers=0, all is done in this process"
)


def time_for(method: str, timeout: float | None) -> float | None:
    """
    Some environments can only be brought back to where they were by [playing the whole
    episode again][labml_rl.environments.Resumable].

    Args:
        method: what a worker is asked to do.
        timeout: the seconds that it has for a step.

    Returns:
        The same, or `None` for going on from a saved state.
    """
    return None if method in ("set_state", "set_states") else timeout


class WorkerError(RuntimeError):
    """
    ## When a worker fails

    The parent gets this error in place of the answer, with the worker's name and the
    traceback of what happened there.
    """


class WorkerDiedError(WorkerError):
    """
    ### Without a word

    If the process died before it could say anything, the error says what it died of.
    Most often the system killed it because there was no memory left.

    Args:
        message: with the worker's name.
        exitcode: of the process. Below 0, it is minus the number of a signal; `None`
            means that the process is still running.
    """

    def __init__(self, message: str, exitcode: int | None = None) -> None:
        super().__init__(message)
        self.exitcode = exitcode


class Worker:
    """
    ## In the parent

    Anything with methods can be put into a worker, an environment for example:

    ```python
    from functools import partial
    import gymnasium
    from labml_rl.process import Worker

    if __name__ == "__main__":
        make = partial(gymnasium.make, "CartPole-v1")
        with Worker(make, name="pole") as worker:
            obs, info = worker.ask("reset")
            obs, reward, *_ = worker.ask("step", 0)
    ```

    The constructor does not wait for the object to be made, so that several workers
    start up at the same time.

    Args:
        make: makes the object, over there. Unless the process is forked, this function
            has to travel. One at the top level of a module can, and so can a
            `functools.partial` of it. A `lambda` cannot.
        name: for error messages: whatever tells this worker from the others.
        start_method: `"fork"`, which copies this process; `"spawn"`, which starts a new
            Python; `"forkserver"`, which copies one that was started for that; `None`
            is Python's default.

    Raises:
        TypeError: if `make` cannot travel.
        WorkerError: if this process may not start others.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        *,
        name: str,
        start_method: str | None = None,
    ) -> None:
        if multiprocessing.current_process().daemon:
            raise WorkerError(
                f"{name} can't be started: this process is a daemon itself, as those "
                "of multiprocessing.Pool are, and may start no others. With workers=0 "
                "all is done in this process"
            )
        self.name = name
        self._waiting = False
        self._parent = os.getpid()
        context: Any = multiprocessing.get_context(start_method)
        self._connection, child = context.Pipe()
        with socket.socket(fileno=os.dup(self._connection.fileno())) as pipe:
            # A program can set a time limit for all sockets. That is not meant for this
            # one.
            pipe.setblocking(True)
            patience = struct.pack("ll", SEND_SECONDS, 0)
            pipe.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)

        self.process = context.Process(
            target=worker_process, args=(child, Parcel(make)), name=name, daemon=True
        )
        try:
            with _signals_held_back(context.get_start_method()):
                self.process.start()

                # A program that ends waits for its processes, after sending a SIGTERM
                # to those that are *daemons*. These workers would ignore it. So they
                # are killed just before that, or when they are forgotten.
                self._kill = Finalize(self, _kill, (self.process,), exitpriority=0)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            self._connection.close()
            raise TypeError(
                f"{name} cannot be sent to another process ({error}). What makes it "
                "must be a function at the top level of a module, or a partial of one"
            ) from error

        # A worker can die halfway through an answer. The parent then stops waiting for
        # the rest only if no process but the worker has the worker's end open.
        finally:
            child.close()
        self._answered = self._connection.fileno()
        self._spin = SpinWait(self._answered, self.process.sentinel)

    def send(self, method: str, *arguments: Any) -> None:
        """
        Ask for something and do not wait; [Worker.receive][] has the result. Arguments
        that can't be packed raise what `pickle` raises.

        Raises:
            WorkerError: if the worker is closed, or does not even read the request. It
                is then closed.
            RuntimeError: if the last answer was not received yet.
        """
        if self._connection.closed:
            raise WorkerError(f"{self.name} is closed")
        if self._waiting:
            raise RuntimeError(f"receive() what {self.name} was asked for before")
        request = _packed((method, arguments))
        self._waiting = True

        # A worker that is dead may have said why. `receive` will find out.
        try:
            self._connection.send_bytes(request)
        except (BrokenPipeError, ConnectionResetError):
            pass
        except BlockingIOError as error:
            self.close(0)
            raise WorkerError(
                f"{self.name}: has not read its request for {SEND_SECONDS} seconds"
            ) from error

    def receive(self, timeout: float | None = None, waited: float = 0.0) -> Any:
        """
        ### Wait for the answer

        It waits for the pipe *and* for the end of the process. Waiting for the pipe
        alone could take for ever.

        Args:
            timeout: how many seconds to wait at most; `None` means as long as it takes.
            waited: how many of them have already passed. A slice is left in any case.

        Returns:
            What the method returned.

        Raises:
            WorkerError: if it raised an exception, or if there was no answer in time.
                The worker is then closed.
            WorkerDiedError: if the process died. The worker is then closed, too.
            RuntimeError: if it was not asked for anything.
        """
        if not self._waiting:
            raise RuntimeError(f"{self.name} was not asked for anything")
        ready = self._wait(timeout, waited)
        self._waiting = False
        if not ready:
            self.close(0)
            raise WorkerError(f"{self.name}: no answer within {timeout:.3g} seconds")
        try:
            if self._answered not in ready:
                raise EOFError
            succeeded, result = _receive(self._connection)
        except (EOFError, OSError):
            self.process.join(5)
            exitcode = self.process.exitcode
            self.close()
            words = f"{shortened(self.name)}: {_cause_of_death(exitcode)}"
            raise WorkerDiedError(words, exitcode) from None
        if not succeeded:
            self.close()
            raise WorkerError(f"{self.name}: {result}")
        return result

    def _wait(self, timeout: float | None, waited: float) -> list[int]:
        """
        ### Time that counts

        Ctrl-Z stops this process together with its workers, and so does pausing a
        container. But the clock goes on, and an hour later no worker has had a single
        second of it. So the clock is ignored here. The wait is made up of slices, which
        are counted, and an hour like that counts as one slice.
        """
        if timeout is None:
            return self._spin.wait()
        left = max(timeout - waited, min(timeout, SLICE_SECONDS))
        while not (ready := self._spin.wait(min(left, SLICE_SECONDS))):
            left -= SLICE_SECONDS
            if left <= 0:
                break
        return ready

    def ask(self, method: str, *arguments: Any) -> Any:
        """Ask for something and wait for the result."""
        self.send(method, *arguments)
        return self.receive()

    def close(self, patience: float = 5) -> None:
        """
        ### The end

        First politely, so that the environment can close its files. A worker that is
        still busy after that is killed. Closing twice does no harm.

        !!! warning "A copy"
            A process that is forked from the parent has a copy of this object, and of
            its end of the pipe. The worker is still the parent's. So only the parent
            says goodbye, and others just hang up.

        Args:
            patience: how many seconds the worker may go on for.
        """
        self.say_goodbye()
        if os.getpid() != self._parent:
            return
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self._kill.cancel()

    def say_goodbye(self) -> None:
        """Tell the worker to stop, and do not wait until it has."""
        if self._connection.closed:
            return

        # Where the pipe has no room for the message, nobody is reading.
        room = select.poll()
        room.register(self._connection, select.POLLOUT)
        if os.getpid() == self._parent and room.poll(0):
            with contextlib.suppress(OSError):
                _send(self._connection, (None, ()))
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def close_all(workers: Iterable[Worker], patience: float = 5) -> None:
    """
    ### The end of several

    All are told to stop before the first is waited for.

    Args:
        workers: the workers.
        patience: see [Worker.close][].
    """
    workers = list(workers)
    for worker in workers:
        worker.say_goodbye()
    for worker in workers:
        worker.close(patience)


@contextlib.contextmanager
def _signals_held_back(start_method: str) -> Iterator[None]:
    """
    ### A signal at the wrong moment

    A process that has just been started does not ignore anything yet. But it inherits
    which signals are *blocked*, and these wait until it is ready for them. The same
    goes for the server from which `"forkserver"` forks.
    """
    # The first process that is not forked brings a helper with it, and while Python
    # starts the helper, it would let the signals through.
    if start_method != "fork":
        resource_tracker.ensure_running()
    blocked_before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)

    # Only this thread blocks them. In a notebook there are others: one of those takes
    # the signal, and Python answers it here, in the main thread. If that were done
    # between the fork and the next line, nobody would know of the new process. So the
    # signal is noted, and answered later.
    came: list[int] = []
    answers: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for each in STOP_SIGNALS:
                answer = signal.getsignal(each)
                # Python does not know of an answer written in C, and could not put it
                # back.
                if answer not in (None, signal.SIG_IGN):
                    answers[each] = answer
                    signal.signal(each, lambda number, _: came.append(number))
        yield
    finally:
        for each, answer in answers.items():
            signal.signal(each, answer)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked_before)
        for number in came:
            signal.raise_signal(number)


def _kill(process: BaseProcess) -> None:
    process.kill()

    # What nobody waits for stays as a zombie, and keeps two descriptors.
    process.join(1)


def shortened(name: str) -> str:
    """
    ### In a few words

    A worker may be named after everything in it, as in `one (a, b), two (c, d), …`.

    Args:
        name: of a worker, perhaps with a list in it.

    Returns:
        The same with the first and the last of the list.
    """
    first, *rest = name.split("), ")
    return f"{first}), … {rest[-1]}" if rest[1:] else name


def _cause_of_death(exitcode: int | None) -> str:
    if exitcode is None:
        return "it hung up, but is still running"
    if exitcode == -signal.SIGKILL:
        return "killed by SIGKILL, often because memory ran out"
    if exitcode < 0:
        return f"killed by {_name_of(-exitcode)}"
    return f"exited with code {exitcode}"


def _name_of(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # one of those for real time
        return f"signal {number}"
