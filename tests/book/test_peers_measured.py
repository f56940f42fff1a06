"""The benchmark of games measures what it says, with a few steps of each player."""

import os
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.games import contest, table
from benchmarks.games_players import Task, descendants, measure, memory


def task(player: str, **more: int) -> Task:
    sizes = {"games": 2, "workers": 2, "warm_up": 2, "steps": 4}
    return Task(player, "pong", **(sizes | more))


@pytest.mark.parametrize(
    ("player", "processes"),
    [("parallel", 3), ("serial", 1), ("native", 1), ("envpool", 1), ("emulator", 3)],
)
def test_players_play(player, processes):
    if player == "envpool":
        pytest.importorskip("envpool", reason="`make bench` installs EnvPool")
    measured = measure(task(player))
    assert measured.seconds > 0
    assert measured.processes >= processes
    assert 20 < measured.pss_mb <= measured.rss_mb


def test_descendants_and_their_memory():
    sleep = "import subprocess; subprocess.run(['sleep', '300'])"
    child = subprocess.Popen([sys.executable, "-c", sleep])
    deadline = time.monotonic() + 120
    while len(family := descendants(child.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    try:
        assert family[0] == child.pid
        assert len(family) == 2
        assert set(family) < set(descendants(os.getpid()))
        assert memory(family) > memory(family[1:]) > (0, 0)
    finally:
        for process in family:
            os.kill(process, signal.SIGKILL)
        child.wait()


def test_a_contest_of_two_has_samples_and_a_table():
    found = {"pong": contest({"emulator": task("emulator")}, repeats=1)}
    each = found["pong"]["emulator"]
    assert len(each["samples"]) == 1
    assert each["of_emulator"] == 1
    assert each["processes"] >= 3
    assert "emulator" in table("games", found)
