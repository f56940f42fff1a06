"""The benchmark of games measures what it says, with a few steps of each player."""

import math
import os
import signal
import subprocess
import sys
import time

import pytest

from benchmarks import peer_curves
from benchmarks.games import contest, table
from benchmarks.games_players import Task, descendants, measure, memory
from tests.book.test_sampling import counters


def task(player: str, **more: int) -> Task:
    sizes = {"games": 2, "workers": 2, "warm_up": 2, "steps": 4}
    return Task(player, "pong", **(sizes | more))


@pytest.mark.parametrize(
    ("player", "processes"),
    [("parallel", 3), ("serial", 1), ("native", 1), ("envpool", 1), ("emulator", 3)],
)
def test_players_play(player, processes):
    if player == "envpool":
        pytest.importorskip("envpool", reason="`make bench-setup` installs it")
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


# ----------------------------------------------- another library on games of this book


def test_it_is_told_what_happened_at_the_end_of_an_episode():
    games = peer_curves.Theirs(counters())
    assert games.reset().tolist() == [[100], [200]]
    for step in range(1, 6):
        games.step_async([0, 0])
        after, rewards, ends, infos = games.step_wait()
        assert ends.tolist() == [step == 3, step == 5]
        assert rewards.tolist() == [step if step < 4 else step - 3, step]
        if step == 3:
            assert after[0] == 100
            assert infos[0]["terminal_observation"] == 103
            assert not infos[0]["TimeLimit.truncated"]
        if step == 5:
            assert infos[1]["terminal_observation"] == 205
            assert infos[1]["TimeLimit.truncated"]
    assert list(games.recent) == [6, 15]
    games.close()


def test_both_curves_are_taken_at_the_same_frames():
    found = peer_curves.ours(
        peer_curves.PLANS["a2c-spaceinvaders"].run, peer_curves.EVERY, 5
    )
    assert len(found["curve"]) == len(found["entropy"]) == 5
    # Random play scores 148, and is as undecided as one can be with six actions.
    assert 100 < found["curve"][4] < 200
    assert found["entropy"][0] == pytest.approx(math.log(6), abs=1e-3)
    summed = peer_curves.summary({"curve": [None, 1, 2, 3], "entropy": [4, 3, 2, 1]})
    assert (summed["last_quarter"], summed["entropy_at_the_end"]) == (3, 1)
