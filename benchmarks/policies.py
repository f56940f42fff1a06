"""How fast PPO learns on Atari, beside other libraries, in one run.

.venv/bin/python -m benchmarks.policies           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.policies --quick   # once each, only printed

The work is the same for all: Breakout, 8 games, rollouts of 128 steps, 4 epochs of 4
minibatches of 256, the Nature network, Adam; lives end episodes, rewards are clipped.
The numbers are steps of the agent a second, playing and learning together, after the
first update. Each sample runs in its own process.
"""

import argparse
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.policies_learners import LEARNERS, WITHOUT
from benchmarks.record import (
    RECORDS,
    found_by,
    interleave,
    provenance,
    significant,
    spread,
    write,
)

RECORD = RECORDS / "policies.json"
PACKAGES = (
    *("ale-py", "envpool", "gymnasium", "labml-nn", "numpy"),
    *("stable-baselines3", "torch"),
)
PEERS = ("plain", "sb3", "labml")


def sample(learner: str, updates: int) -> float:
    """Steps a second of one learner, in its own process."""
    found = found_by("benchmarks.policies_learners", learner, str(updates))
    return float(found["steps_per_second"])


def measure(
    names: tuple[str, ...], repeats: int, updates: int, thrown_away: int
) -> dict[str, Any]:
    """Samples of all, in turns, and how many times as fast as each of them ours is."""
    samplers = {name: partial(sample, name, updates) for name in names}
    found = interleave(samplers, repeats, thrown_away)
    ours = found["ours"].median
    measured: dict[str, Any] = {
        name: {**asdict(each), "ours_is_times": significant(ours / each.median)}
        for name, each in found.items()
    }
    if peers := [found[name].median for name in PEERS if name in found]:
        measured["ours_is_times_the_fastest"] = significant(ours / max(peers))
    return measured


def table(found: dict[str, Any]) -> str:
    """The results as lines of text."""
    lines = [f"{'':24}{'steps a second':>24}{'ours is … times':>18}"]
    for name, each in found.items():
        if isinstance(each, dict):
            rate = spread(each)
            lines.append(f"{name:24}{rate:>24}{each['ours_is_times']:>18.2f}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each, not recorded")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--updates", type=int, default=8, help="of each sample")
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    repeats, updates = (1, 3) if options.quick else (options.repeats, options.updates)

    record: dict[str, Any] = {
        **provenance("benchmarks.policies", PACKAGES),
        "updates": updates,
    }
    for part, names in (
        ("peers", tuple(LEARNERS)),
        ("without", ("ours", *WITHOUT)),
    ):
        record[part] = measure(names, repeats, updates, 0 if options.quick else 1)
        print(f"{part}\n{table(record[part])}", flush=True)
    if not options.quick:
        write(record, options.output)


if __name__ == "__main__":
    main()
