"""How fast the replay memory and DQN are, beside other libraries, in one run.

.venv/bin/python -m benchmarks.values           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.values --quick   # once each, only printed

Three things are measured: steps added to a memory of 16,384 steps of 8 games, and drawn
from it in batches; steps drawn and given new priorities, with trees of a million and no
pictures; and steps of the agent a second while DQN learns Breakout, with the same
settings for all. Each sample runs in its own process.
"""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.record import (
    RECORDS,
    found_by,
    provenance,
    series,
    significant,
    spread,
    write,
)
from benchmarks.values_learners import (
    BATCHES,
    CAPACITY,
    LEARNERS,
    LEAVES,
    MEMORIES,
    SETTINGS,
    TREES,
)

RECORD = RECORDS / "values.json"
PACKAGES = (
    *("ale-py", "gymnasium", "labml-nn", "numpy"),
    *("stable-baselines3", "torch"),
)
PARTS: dict[str, Mapping[str, Any]] = {
    "replay": MEMORIES,
    "trees": TREES,
    "learn": LEARNERS,
}
PEERS = ("plain", "sb3")


def sample(part: str, contestant: str, setting: tuple[str, ...]) -> dict[str, float]:
    """One sample, in its own process."""
    found: dict[str, float] = found_by(
        "benchmarks.values_learners", part, contestant, *setting
    )
    return found


def measure(part: str, repeats: int, *setting: str) -> dict[str, Any]:
    """Samples of all, in turns, and how many times as fast as each of them ours is."""
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in PARTS[part]}
    for _ in range(repeats):
        for name, samples in taken.items():
            samples.append(sample(part, name, setting))
    found: dict[str, Any] = {}
    for name, samples in taken.items():
        found[name] = {}
        for number in samples[0]:
            found[name][number] = asdict(series([one[number] for one in samples]))
    for numbers in found.values():
        for number, each in numbers.items():
            if number != "bytes_a_step":
                ours = found["ours"][number]["median"]
                each["ours_is_times"] = significant(ours / each["median"])
    print(" ".join([part, *setting]) + ": the last column is how many times ours is")
    print(table(found), flush=True)
    return found


def learn(repeats: int) -> dict[str, Any]:
    """The whole loop, with all settings."""
    found: dict[str, Any] = {}
    for setting in SETTINGS:
        found[setting] = measure("learn", repeats, setting)
        found[setting]["ours_is_times_the_fastest"] = min(
            found[setting][peer]["steps"]["ours_is_times"] for peer in PEERS
        )
    return found


def table(found: dict[str, Any]) -> str:
    """The results as lines of text."""
    lines = []
    for name, numbers in found.items():
        for number, each in numbers.items():
            rate = spread(each, ",.0f")
            times = each.get("ours_is_times", "")
            lines.append(f"  {name:22}{number:14}{rate:>32}{times:>10}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each, not recorded")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--part", choices=list(PARTS), help="this one alone, not recorded"
    )
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    repeats = 1 if options.quick else options.repeats
    record: dict[str, Any] = provenance("benchmarks.values", PACKAGES) | {
        "batches": BATCHES,
        "capacity": CAPACITY,
        "leaves": LEAVES,
        "settings": SETTINGS,
        "repeats": repeats,
    }
    for part in PARTS if options.part is None else [options.part]:
        is_loop = part == "learn"
        record[part] = learn(repeats) if is_loop else measure(part, repeats)
    if not options.quick and options.part is None:
        write(record, options.output)


if __name__ == "__main__":
    main()
