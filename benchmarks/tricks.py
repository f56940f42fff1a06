"""Do the tricks that make PPO faster change what it learns?

.venv/bin/python -m benchmarks.tricks             # all, into results/benchmarks/
.venv/bin/python -m benchmarks.tricks --overlap   # learning while it plays, and not
.venv/bin/python -m benchmarks.tricks --quick     # one seed, only printed

PPO learns the small game of the tests from its pixels, with all tricks, with 32 bits
instead of 16, and without any trick, each with the same seeds. What is recorded is the
share of the balls that the last hundred games have caught, over the frames played.
Nothing is timed, so the machine need not be quiet.
"""

import argparse
import json
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.record import RECORDS, found_by, provenance, scores_at, write
from labml_rl import game
from labml_rl.ppo.experiment import Experiment, Settings
from tests.book.catch import BALLS, Catch

PACKAGES = ("gymnasium", "numpy", "torch")
VARIANTS: dict[str, dict[str, Any]] = {
    "all": {},
    "without_bfloat16": {"precision": "float32"},
    "without_any": {"precision": "float32", "blocks": False, "few_threads": False},
}
OVERLAP: dict[str, dict[str, Any]] = {
    "after_each_other": {"players": False},
    "overlap": {"players": False, "overlap": True},
    "from_who_played": {"players": False, "overlap": True},
}
FRAMES, POINTS, SEEDS = 120_000, 40, (1, 2, 3, 4, 5)


def learn(variant: str, seed: int) -> list[float]:
    """The share of balls caught, at each of `POINTS` marks on the way."""
    game._load = lambda name, options, seed: Catch(seed)
    game.SAME_START = frozenset()
    experiment = Experiment(
        Settings(
            game="Pong",  # any game would do: the console is replaced
            workers=0,
            seed=seed,
            total_frames=FRAMES,
            steps=64,
            learning_rate=5e-4,
            **(VARIANTS | OVERLAP)[variant],
        )
    )
    if variant == "from_who_played":  # the clip is counted from there
        experiment.from_here = lambda batch: batch  # type: ignore[method-assign]
    with closing(experiment):
        scores = scores_at(experiment, POINTS)
        return [round(score / BALLS, 4) for score in scores]


def apart(variant: str, seed: int) -> list[float]:
    """The same, in its own process."""
    caught: list[float] = found_by("benchmarks.tricks", "--one", variant, str(seed))
    return caught


def summary(curves: dict[str, list[float]]) -> dict[str, Any]:
    """All curves of a variant, and their mean at the end and all the way."""
    return {
        "curves": curves,
        "at_the_end": round(mean(each[-1] for each in curves.values()), 3),
        "lowest_at_the_end": round(min(each[-1] for each in curves.values()), 3),
        "all_the_way": round(mean(mean(each) for each in curves.values()), 3),
    }


def main() -> None:
    """Learn with each, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed, not recorded")
    parser.add_argument("--overlap", action="store_true", help="this alone")
    parser.add_argument(
        "--one",
        nargs=2,
        metavar=("VARIANT", "SEED"),
        help="for the program itself: one of them, here",
    )
    parser.add_argument("--output", type=Path, help="instead of results/benchmarks/")
    options = parser.parse_args()
    if options.one:
        variant, seed = options.one
        print(json.dumps(learn(variant, int(seed))))
        return
    record = provenance("benchmarks.tricks", PACKAGES)
    variants = OVERLAP if options.overlap else VARIANTS
    usual = "tricks-overlap.json" if options.overlap else "tricks.json"
    found: dict[str, dict[str, list[float]]] = {name: {} for name in variants}
    for seed in SEEDS[:1] if options.quick else SEEDS:
        for name, curves in found.items():
            curves[str(seed)] = apart(name, seed)
            print(f"{name:18} seed {seed}: {curves[str(seed)][-1]:.3f}", flush=True)
    record |= {"frames": FRAMES, "seeds": len(SEEDS)}
    record["variants"] = {name: summary(curves) for name, curves in found.items()}
    if not options.quick:
        write(record, options.output or RECORDS / usual)


if __name__ == "__main__":
    main()
