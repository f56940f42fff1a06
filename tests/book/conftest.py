"""What several tests of the book need."""

import math
import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from labml_rl import game, runs
from labml_rl.process import STOP_SIGNALS
from labml_rl.runs.signals import Ear
from tests.book.catch import Catch
from tests.book.tiny_runs import Settings, Tiny


@pytest.fixture(scope="session", autouse=True)
def _logs_of_peers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Stable-Baselines3 makes a folder for its logs, and would leave it in `/tmp`."""
    os.environ["SB3_LOGDIR"] = str(tmp_path_factory.mktemp("sb3"))


@pytest.fixture
def catch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small console in place of ALE's. No two of its games begin alike."""
    monkeypatch.setattr(game, "_load", lambda name, options, seed: Catch(seed))
    monkeypatch.setattr(game, "SAME_START", frozenset())


@pytest.fixture
def same_signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Python answers signals as before: a program that was stopped hears no echoes."""
    monkeypatch.setattr(Ear, "latest", -math.inf)
    before = {each: signal.getsignal(each) for each in STOP_SIGNALS}
    yield
    for each, handler in before.items():
        signal.signal(each, handler)


@pytest.fixture
def same_threads_afterwards() -> Iterator[None]:
    """PyTorch computes with as many threads as before."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def nobody_stays() -> Iterator[None]:
    """No process is left after the test that was not there before it."""
    before = set(multiprocessing.active_children())
    yield
    assert set(multiprocessing.active_children()) <= before


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never interrupted."""
    path = tmp_path_factory.mktemp("whole") / "run"
    return runs.train(Tiny, Settings(), folder=path)
