"""How fast the replay memory and DQN are, beside other libraries, in one run.

.venv/bin/python -m benchmarks.values           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.values --quick   # once each, only printed

Three things are measured: steps added to a memory of 16,384 steps of 8 games, and drawn
from it in batches; steps drawn and given new priorities, with trees of a million and no
pictures; and steps of the agent a second while DQN learns Breakout, with the same
settings for all. Each sample is a process of its own.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.record import ROOT, provenance, series, write
from benchmarks.values_learners import LEARNERS, MEMORIES, SETTINGS, TREES

RECORD = ROOT / "results" / "benchmarks" / "values.json"
PACKAGES = (
    *("ale-py", "gymnasium", "labml-nn", "numpy"),
    *("stable-baselines3", "torch"),
)
BATCHES = (32, 256)
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "replay": (tuple(MEMORIES), tuple(map(str, BATCHES))),
    "trees": (tuple(TREES), tuple(map(str, BATCHES))),
    "learn": (tuple(LEARNERS), tuple(SETTINGS)),
}


def sample(part: str, contestant: str, what: str) -> dict[str, float]:
    """One sample, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.values_learners"]
    done = subprocess.run(
        [*command, part, contestant, what],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{part} {contestant} {what} failed:\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(part: str, what: str, repeats: int) -> dict[str, Any]:
    """Samples of all, taken in turns, and how many times as fast as each ours is."""
    contestants, _ = PARTS[part]
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name in contestants:
            taken[name].append(sample(part, name, what))
    found: dict[str, Any] = {}
    for name, samples in taken.items():
        found[name] = {}
        for number in samples[0]:
            each = series([one[number] for one in samples])
            found[name][number] = {
                "median": each.median,
                "low": each.low,
                "high": each.high,
                "samples": each.samples,
            }
    for numbers in found.values():
        for number, each in numbers.items():
            if number != "bytes_a_step":
                ours = found["ours"][number]["median"]
                each["ours_is_times"] = float(f"{ours / each['median']:.3g}")
    return found


def table(found: dict[str, Any]) -> str:
    """The results as lines of text."""
    lines = []
    for name, numbers in found.items():
        for number, each in numbers.items():
            rate = f"{each['median']:,.0f} ({each['low']:,.0f}–{each['high']:,.0f})"
            times = each.get("ours_is_times", "")
            lines.append(f"  {name:22}{number:14}{rate:>32}{times:>10}")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="once each, not recorded")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--part", choices=list(PARTS), help="this one alone")
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    repeats = 1 if options.quick else options.repeats
    record: dict[str, Any] = provenance("benchmarks.values", PACKAGES)
    for part, (_, whats) in PARTS.items():
        if options.part in (None, part):
            record[part] = {}
            for what in whats:
                record[part][what] = measure(part, what, repeats)
                print(
                    f"{part} {what}: the last column is how many times as fast ours is"
                )
                print(table(record[part][what]), flush=True)
    if not options.quick and options.part is None:
        write(record, options.output)


if __name__ == "__main__":
    main()
