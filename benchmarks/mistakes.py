"""What do mistakes look like?

.venv/bin/python -m benchmarks.mistakes           # all of PPO, into results/benchmarks/
.venv/bin/python -m benchmarks.mistakes dqn       # all of DQN
.venv/bin/python -m benchmarks.mistakes --quick   # one seed, only printed

PPO learns to balance the pole, without a mistake and with each of those in
`labml_rl/mistakes.py`, over the same seeds; or DQN learns to swing up the rods, with
those in `labml_rl/dqn/mistakes.py`. What is recorded is what a run writes down, over
the frames played. Nothing is timed, so the machine need not be quiet.
"""

import argparse
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

from benchmarks.record import RECORDS, found_by, provenance, significant, write
from labml_rl.dqn.mistakes import MISTAKES as DQN_MISTAKES
from labml_rl.dqn.mistakes import Right as RightDQN
from labml_rl.mistakes import MISTAKES as PPO_MISTAKES
from labml_rl.runs.experiment import Experiment
from labml_rl.small import SmallPPO

PACKAGES = ("gymnasium", "numpy", "torch")
POINTS = 30
Curves = dict[str, list[float]]


@dataclass(frozen=True)
class Page:
    """
    An algorithm, and its mistakes.

    Args:
        record: the name of the file.
        variants: the right program, `right`, and each wrong one.
        frames: of each run.
        seeds: of the runs.
        columns: what is recorded, the score first.
        lowest: what counts as the score until an episode has ended.
    """

    record: str
    variants: Mapping[str, type[Experiment[Any]]]
    frames: int
    seeds: tuple[int, ...]
    columns: tuple[str, ...]
    lowest: float

    @property
    def path(self) -> Path:
        """Where the record is."""
        return RECORDS / self.record


PAGES = {
    "ppo": Page(
        record="mistakes.json",
        variants={"right": SmallPPO} | PPO_MISTAKES,
        frames=100_000,
        seeds=(1, 2, 3, 4, 5),
        columns=("score", "entropy", "explained_variance", "clip_fraction"),
        lowest=0,
    ),
    # The settings were chosen with other seeds.
    "dqn": Page(
        record="mistakes-dqn.json",
        variants={"right": RightDQN} | DQN_MISTAKES,
        frames=60_000,
        seeds=(31, 32, 33, 34, 35),
        columns=("score", "action_value", "td_error"),
        lowest=-500,
    ),
}


def learn(page: Page, variant: str, seed: int) -> Curves:
    """Each column at `POINTS` marks on the way, as a mean since the mark before."""
    torch.set_num_threads(1)
    kind = page.variants[variant]
    experiment = kind(kind.settings_class(seed=seed, total_frames=page.frames))
    curves: Curves = {name: [] for name in page.columns}
    seen: Curves = {name: [] for name in page.columns}
    try:
        while len(curves["score"]) < POINTS:
            numbers, _ = experiment.advance()
            score = mean([each["r"] for each in experiment.recent] or [page.lowest])
            for name, values in seen.items():
                values.append(score if name == "score" else float(numbers[name] or 0))
            if experiment.frames >= (len(curves["score"]) + 1) * page.frames / POINTS:
                for name, values in seen.items():
                    curves[name].append(float(f"{mean(values):.4g}"))
                    values.clear()
    finally:
        experiment.close()
    return curves


def apart(of: str, task: tuple[str, int]) -> Curves:
    """The same, in its own process."""
    variant, seed = task
    curves: Curves = found_by("benchmarks.mistakes", of, "--one", variant, str(seed))
    print(f"{variant:16} seed {seed}: {curves['score'][-1]:.0f}", flush=True)
    return curves


def summary(runs: dict[str, Curves]) -> dict[str, Any]:
    """All curves of a variant, and what can be said about them in a line."""
    last = [each["score"][-1] for each in runs.values()]
    middles = {
        name: median(number for each in runs.values() for number in each[name])
        for name in next(iter(runs.values()))
    }
    return {
        "curves": runs,
        "best": max(max(each["score"]) for each in runs.values()),
        "at_the_end": round(mean(last), 1),
        "lowest_at_the_end": min(last),
        "highest_at_the_end": max(last),
        "all_the_way": round(mean(mean(each["score"]) for each in runs.values()), 1),
        "median": {name: significant(each) for name, each in middles.items()},
    }


def main() -> None:
    """Learn with each, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("of", nargs="?", choices=PAGES, default="ppo")
    parser.add_argument("--quick", action="store_true", help="one seed, not recorded")
    parser.add_argument(
        "--one",
        nargs=2,
        metavar=("VARIANT", "SEED"),
        help="for the program itself: one of them, here",
    )
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    page = PAGES[options.of]
    if options.one:
        variant, seed = options.one
        print(json.dumps(learn(page, variant, int(seed))))
        return
    record = provenance("benchmarks.mistakes", PACKAGES)
    seeds = page.seeds[:1] if options.quick else page.seeds
    tasks = [(name, seed) for seed in seeds for name in page.variants]
    with ThreadPoolExecutor(2) as pool:
        learned = pool.map(partial(apart, options.of), tasks)
        found = dict(zip(tasks, learned, strict=True))
    record |= {"frames": page.frames, "seeds": len(seeds), "columns": page.columns}
    record["variants"] = {
        name: summary({str(seed): found[name, seed] for seed in seeds})
        for name in page.variants
    }
    if not options.quick:
        write(record, options.output or page.path)


if __name__ == "__main__":
    main()
