"""What do mistakes look like?

.venv/bin/python -m benchmarks.mistakes           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.mistakes --quick   # one seed, only printed

PPO learns to balance the pole, without a mistake and with each of those of
`labml_rl/mistakes.py`, over the same seeds. What is recorded is what a run writes down,
over the frames played. No time is taken, so the machine need not be quiet.
"""

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

from benchmarks.record import ROOT, found_by, provenance, write
from labml_rl.mistakes import MISTAKES
from labml_rl.small import SmallPPO

RECORD = ROOT / "results" / "benchmarks" / "mistakes.json"
PACKAGES = ("gymnasium", "numpy", "torch")
VARIANTS = {"right": SmallPPO} | MISTAKES
FRAMES, POINTS, SEEDS = 100_000, 30, (1, 2, 3, 4, 5)
COLUMNS = ("score", "entropy", "explained_variance", "clip_fraction")
Curves = dict[str, list[float]]


def learn(variant: str, seed: int) -> Curves:
    """Each column at `POINTS` marks on the way, as a mean since the mark before."""
    torch.set_num_threads(1)
    kind = VARIANTS[variant]
    experiment = kind(kind.settings_class(seed=seed, total_frames=FRAMES))
    curves: Curves = {name: [] for name in COLUMNS}
    seen: Curves = {name: [] for name in COLUMNS}
    try:
        while len(curves["score"]) < POINTS:
            numbers, _ = experiment.advance()
            score = mean([each["r"] for each in experiment.recent] or [0])
            for name, values in seen.items():
                values.append(score if name == "score" else float(numbers[name] or 0))
            if experiment.frames >= (len(curves["score"]) + 1) * FRAMES / POINTS:
                for name, values in seen.items():
                    curves[name].append(float(f"{mean(values):.4g}"))
                    values.clear()
    finally:
        experiment.close()
    return curves


def apart(task: tuple[str, int]) -> Curves:
    """The same, in a process of its own."""
    variant, seed = task
    curves: Curves = found_by("benchmarks.mistakes", "--only", variant, str(seed))
    print(f"{variant:16} seed {seed}: {curves['score'][-1]:.0f}", flush=True)
    return curves


def summary(runs: dict[str, Curves]) -> dict[str, Any]:
    """All curves of a variant, and what can be said of them in a line."""
    last = [each["score"][-1] for each in runs.values()]
    middles = {
        name: median(number for each in runs.values() for number in each[name])
        for name in COLUMNS
    }
    return {
        "curves": runs,
        "best": max(max(each["score"]) for each in runs.values()),
        "at_the_end": round(mean(last), 1),
        "lowest_at_the_end": min(last),
        "highest_at_the_end": max(last),
        "all_the_way": round(mean(mean(each["score"]) for each in runs.values()), 1),
        "median": {name: float(f"{each:.3g}") for name, each in middles.items()},
    }


def main() -> None:
    """Learn with each, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, not recorded")
    parser.add_argument("--only", nargs=2, metavar=("VARIANT", "SEED"))
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    if options.only:
        variant, seed = options.only
        print(json.dumps(learn(variant, int(seed))))
        return
    record = provenance("benchmarks.mistakes", PACKAGES)
    seeds = SEEDS[:1] if options.quick else SEEDS
    tasks = [(name, seed) for seed in seeds for name in VARIANTS]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(tasks, pool.map(apart, tasks), strict=True))
    record |= {"frames": FRAMES, "seeds": len(seeds), "columns": COLUMNS}
    record["variants"] = {
        name: summary({str(seed): found[name, seed] for seed in seeds})
        for name in VARIANTS
    }
    if not options.quick:
        write(record, options.output)


if __name__ == "__main__":
    main()
