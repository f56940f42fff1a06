"""Options of the test suite."""

import os
import signal

import pytest
from hypothesis import settings

# Several tests run at once, and the threads of each would wait for those of the others.
# Before anything imports PyTorch; programs that a test starts have it from here, too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# What the tests compare bit for bit is equal on a processor, and not on a GPU. One file
# of tests is for that alone, and asks for it.
if not os.environ.get("TEST_GPU"):
    os.environ["CUDA_VISIBLE_DEVICES"] = ""

# Who is started in the background of a script, or by nohup, ignores signals, and so do
# all programs that it starts. Those of the tests are to hear them.
for each in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(each) is signal.SIG_IGN:
        signal.signal(each, signal.SIG_DFL)

# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="write the golden files of tests/press anew; review the diff",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: many tests wait for processes or for a browser."""
    from labml_rl.worker import available_cores  # noqa: PLC0415 - it imports NumPy

    return available_cores() + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Those that may take long begin first, so that none is left over at the end.

    With `--dist worksteal` each worker has its share of the list, one behind the other,
    so each share has to begin with its part of them.
    """
    shares = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for item in items if item.get_closest_marker("timeout")]
    short = [item for item in items if not item.get_closest_marker("timeout")]

    def part(of: list[pytest.Item], share: int) -> list[pytest.Item]:
        return of[len(of) * share // shares : len(of) * (share + 1) // shares]

    items[:] = [
        item
        for share in range(shares)
        for item in part(long, share) + part(short, share)
    ]
