"""How fast PPO learns beside other programs on the same cores, in one run.

.venv/bin/python -m benchmarks.crowd           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.crowd --quick   # once each, only printed

The work is that of `benchmarks.policies`. It is done alone, beside a program that keeps
one core busy, and twice at once, where the sum of both counts. This book waits in three
ways: as PyTorch's threads do by default, as `labml-rl` has them wait, and with a single
thread, which has no other to wait for. Each sample runs in its own process, or in two.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.policies import PACKAGES
from benchmarks.record import (
    RECORDS,
    Series,
    answer_of,
    interleave,
    provenance,
    significant,
    spread,
    started,
    write,
)
from labml_rl.__main__ import WAITING

RECORD = RECORDS / "crowd.json"

# Who learns, and what the environment of the process says.
CONTESTANTS: dict[str, tuple[str, dict[str, str]]] = {
    "short": ("ours", WAITING),
    "long": ("ours", {}),
    "single": ("ours", {"OMP_NUM_THREADS": "1"}),
    "plain": ("plain", {}),
}


@contextmanager
def busy(programs: int) -> Iterator[None]:
    """Keep this many cores busy."""
    command = [sys.executable, "-c", "while True: pass"]
    running = [subprocess.Popen(command) for _ in range(programs)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def sample(name: str, updates: int, *, at_once: int = 1, beside: int = 0) -> float:
    """Steps a second of all that learn at once, each in its own process."""
    learner, variables = CONTESTANTS[name]
    program = "benchmarks.policies_learners"
    with busy(beside):
        learning = [
            started(program, learner, str(updates), **variables) for _ in range(at_once)
        ]
        found = [answer_of(each) for each in learning]
    return sum(float(each["steps_per_second"]) for each in found)


CROWDS: dict[str, dict[str, int]] = {
    "alone": {},
    "beside": {"beside": 1},
    "twice": {"at_once": 2},
}


def described(found: dict[str, Series]) -> dict[str, Any]:
    """Samples of one crowd, and how many times as fast as each of them `short` is."""
    return {
        name: {
            **asdict(each),
            "short_is_times": significant(found["short"].median / each.median),
        }
        for name, each in found.items()
    }


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each, not recorded")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--updates", type=int, default=4, help="of each sample")
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    repeats, updates = (1, 2) if options.quick else (options.repeats, options.updates)

    record: dict[str, Any] = {
        **provenance("benchmarks.crowd", PACKAGES),
        "updates": updates,
        "waiting": WAITING,
    }
    for crowd, how in CROWDS.items():
        samplers = {n: partial(sample, n, updates, **how) for n in CONTESTANTS}
        record[crowd] = described(interleave(samplers, repeats, thrown_away=0))
        for name, each in record[crowd].items():
            print(f"{crowd:8}{name:8}{spread(each):>20}", flush=True)
    if not options.quick:
        write(record, options.output)


if __name__ == "__main__":
    main()
