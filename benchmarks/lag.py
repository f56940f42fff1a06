"""What does it cost to learn from an old policy, and what does it gain?

.venv/bin/python -m benchmarks.lag           # all, into results/benchmarks/
.venv/bin/python -m benchmarks.lag --quick   # one seed and one round, only printed

IMPALA balances the pole with actors that are 0 to 64 updates behind, with V-trace and
without, each with the same seeds. What is recorded is the mean score of the last
hundred episodes, over the frames played. Then Pong is played and learned, with actors
that wait for the learner and with actors that do not: how many frames a second is that?
"""

import argparse
import json
import time
from contextlib import closing
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor

from benchmarks.record import (
    RECORDS,
    comparison,
    found_by,
    interleave,
    provenance,
    scores_at,
    write,
)
from labml_rl.impala import experiment as impala
from labml_rl.impala import vtrace
from labml_rl.returns import Rollout

RECORD = RECORDS / "lag.json"
PACKAGES = ("gymnasium", "numpy", "torch")
LAGS, POINTS, SEEDS, SOLVED = (1, 4, 16, 64), 40, (1, 2, 3, 4, 5), 475
ROUNDS, SECONDS = 7, 20.0


def blind(
    rollout: Rollout, log_ratios: Tensor, **options: Any
) -> tuple[Tensor, Tensor]:
    """V-trace that takes what it gets for the play of today's policy."""
    return vtrace(rollout, torch.zeros_like(log_ratios), **options)


def learn(kind: str, lag: int, seed: int) -> list[float]:
    """The mean score at each of `POINTS` marks on the way."""
    torch.set_num_threads(1)
    impala.__dict__["vtrace"] = {"vtrace": vtrace, "nothing": blind}[kind]
    settings = impala.SmallSettings(seed=seed, lag=lag)
    with closing(impala.SmallExperiment(settings)) as experiment:
        return [round(score, 1) for score in scores_at(experiment, POINTS)]


def frames_a_second(lag: int, seconds: float) -> float:
    """Frames a second of Pong, with the settings of the book."""
    settings = impala.Settings(game="Pong", lag=lag)
    with closing(impala.Experiment(settings)) as experiment:
        for _ in range(3):
            experiment.advance()
        frames, begin = experiment.frames, time.perf_counter()
        while time.perf_counter() < begin + seconds:
            experiment.advance()
        return (experiment.frames - frames) / (time.perf_counter() - begin)


def apart(*arguments: Any) -> Any:
    """One of these in its own process."""
    return found_by("benchmarks.lag", "--one", *map(str, arguments))


def summary(curves: dict[str, list[float]]) -> dict[str, Any]:
    """All curves of a variant, and what they come to."""
    return {
        "curves": curves,
        "solved": sum(max(each) >= SOLVED for each in curves.values()),
        "at_the_end": round(mean(each[-1] for each in curves.values())),
        "lowest_at_the_end": round(min(each[-1] for each in curves.values())),
        "all_the_way": round(mean(mean(each) for each in curves.values())),
    }


def main() -> None:
    """Learn with each, play with both, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short, not recorded")
    parser.add_argument(
        "--one",
        nargs="+",
        metavar="ARGUMENT",
        help="for the program itself: one of them, here",
    )
    parser.add_argument("--output", type=Path, default=RECORD)
    options = parser.parse_args()
    if options.one:
        kind, *numbers = options.one
        if kind == "speed":
            print(json.dumps(frames_a_second(int(numbers[0]), float(numbers[1]))))
        else:
            print(json.dumps(learn(kind, *map(int, numbers))))
        return
    record = provenance("benchmarks.lag", PACKAGES)
    rounds, seconds = (1, 5.0) if options.quick else (ROUNDS, SECONDS)
    speed = interleave(
        {
            "actors": lambda: apart("speed", 1, seconds),
            "turns": lambda: apart("speed", 0, seconds),
        },
        rounds,
        thrown_away=0 if options.quick else 1,
    )
    record["speed"] = comparison(speed, ours="actors", peer="turns")
    print(f"actors: {record['speed']['ratio']} times as many frames a second")
    variants = [
        ("vtrace", 0),
        *((k, lag) for lag in LAGS for k in ("vtrace", "nothing")),
    ]
    record["variants"] = {}
    for kind, lag in variants:
        curves = {
            str(seed): apart(kind, lag, seed)
            for seed in (SEEDS[:1] if options.quick else SEEDS)
        }
        found = record["variants"][f"{kind}_{lag}"] = summary(curves)
        print(f"{kind:8} lag {lag:2}: {found['all_the_way']} all the way", flush=True)
    record |= {
        "frames": impala.SmallSettings().total_frames,
        "seeds": len(SEEDS),
        "solved_at": SOLVED,
    }
    if not options.quick:
        write(record, options.output)


if __name__ == "__main__":
    main()
