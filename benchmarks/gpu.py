"""How fast PPO learns on a GPU, beside other libraries, and what the games allow.

python -m benchmarks.gpu           # all, into results/benchmarks/
python -m benchmarks.gpu --quick   # a second each, only printed
python -m benchmarks.gpu --only games_128,ours_128

The work is that of `benchmarks.policies`: Breakout, the Nature network, 4 epochs, Adam;
first with its 8 games, and then with 128. The numbers are steps of the agent a second,
in windows of a few seconds, after a few updates that are not counted. Each learner has
its own process, with the machine to itself.
"""

# Each of them imports what it needs when it is chosen: the others may not be installed.
# ruff: noqa: PLC0415

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmarks.games_players import Task, measure
from benchmarks.policies_learners import PAPER, Size, ours, plain, sb3, updates_of
from benchmarks.record import RECORDS, found_by, provenance, series, significant, write
from labml_rl.worker import available_cores

RECORD = RECORDS / "gpu.json"
PACKAGES = ("ale-py", "envpool", "gymnasium", "numpy", "stable-baselines3", "torch")
MANY = Size(games=128, steps=32, minibatch=512)
WINDOWS = 3
WARM_UP = 2  # updates, in which steps are recorded, and programs tried


def this_book(size: Size, **changes: Any) -> Iterator[None]:
    """PPO of this book, on the GPU."""
    given: dict[str, Any] = {
        "device": "cuda",
        "num_envs": size.games,
        "steps": size.steps,
        "minibatches": size.games * size.steps // size.minibatch,
        "graphs": True,
    }
    return ours(**(given | changes))


def impala() -> Iterator[None]:
    """IMPALA of this book: it learns on the GPU, while its actors play on the CPU."""
    from labml_rl.impala.experiment import Experiment, Settings

    settings = Settings(device="cuda", num_envs=IMPALA.games, steps=IMPALA.steps)
    return updates_of(Experiment(settings))


IMPALA = Size(games=128, steps=20)
ALL = {"halves": True, "graphs": True, "overlap": True}
Learner = Callable[[], Iterator[None]]
LEARNERS: dict[str, tuple[Size, Learner]] = {
    "ours_8": (PAPER, partial(this_book, PAPER)),
    "ours_8_with_overlap": (PAPER, partial(this_book, PAPER, overlap=True)),
    "ours_8_without_graphs": (PAPER, partial(this_book, PAPER, graphs=False)),
    "plain_8": (PAPER, partial(plain, threads=8, device="cuda")),
    "sb3_8": (PAPER, partial(sb3, "cuda")),
    "ours_128": (MANY, partial(this_book, MANY, **ALL)),
    "ours_128_without_overlap": (
        MANY,
        partial(this_book, MANY, **ALL | {"overlap": False}),
    ),
    "ours_128_without_graphs": (
        MANY,
        partial(this_book, MANY, **ALL | {"graphs": False}),
    ),
    "ours_128_without_halves": (
        MANY,
        partial(this_book, MANY, **ALL | {"halves": False}),
    ),
    "ours_128_with_float32": (
        MANY,
        partial(this_book, MANY, **ALL | {"precision": "float32"}),
    ),
    "ours_128_without_any": (
        MANY,
        partial(this_book, MANY, graphs=False),
    ),
    "plain_128": (MANY, partial(plain, MANY, threads=16, device="cuda")),
    "impala_128": (IMPALA, impala),
}

# Nobody learns: what the games and the emulator allow.
PLAYERS = {
    "games_128": Task("parallel", "breakout", 128, 16, 40, 250),
    "envpool_128": Task("envpool", "breakout", 128, 16, 40, 250),
}


def learned(name: str, seconds: float) -> list[float]:
    """Steps a second of one learner, in each window."""
    size, learner = LEARNERS[name]
    updates = learner()
    for _ in range(WARM_UP):
        next(updates)
    rates = []
    for _ in range(WINDOWS):
        count, started = 0, time.perf_counter()
        while (passed := time.perf_counter() - started) < seconds:
            next(updates)
            count += 1
        rates.append(count * size.games * size.steps / passed)
    updates.close()  # type: ignore[attr-defined]
    return rates


def played(name: str) -> list[float]:
    """Steps a second of games that are played at random, in each window."""
    task = PLAYERS[name]
    return [task.games * task.steps / measure(task).seconds for _ in range(WINDOWS)]


def main() -> None:
    """Measure, print, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="briefly, not recorded")
    parser.add_argument("--only", help="some, by name, with commas; not recorded")
    parser.add_argument("--output", type=Path, default=RECORD)
    parser.add_argument("--one", help="for the program itself: one of them, here")
    parser.add_argument("--seconds", type=float, default=2.5, help="of each window")
    options = parser.parse_args()
    seconds = 0.5 if options.quick else options.seconds
    if options.one:
        found = (
            learned(options.one, seconds)
            if options.one in LEARNERS
            else played(options.one)
        )
        print(json.dumps(found))
        return

    names = options.only.split(",") if options.only else [*PLAYERS, *LEARNERS]
    record: dict[str, Any] = provenance("benchmarks.gpu", PACKAGES)
    record["machine"]["gpu"] = torch.cuda.get_device_name()
    record["machine"]["available_cores"] = available_cores()
    cudnn = torch.backends.cudnn.version()
    record["versions"]["cudnn"] = cudnn
    record["seconds"] = seconds
    record["rates"] = {}
    for name in names:
        rates = found_by("benchmarks.gpu", "--one", name, "--seconds", str(seconds))
        each = asdict(series(rates))
        record["rates"][name] = each
        print(f"{name:26}{each['median']:>8.0f} ({each['low']:.0f}–{each['high']:.0f})")

        # Now, and not at the end: a GPU is often on loan, and may be called back.
        if not options.quick and options.only is None:
            write(compared(record), options.output)


def compared(record: dict[str, Any]) -> dict[str, Any]:
    """Add how many times as fast as each of them this book is, with as many games."""
    rates = record["rates"]
    for name, each in rates.items():
        ours_too = "ours_8" if name.endswith("_8") or "_8_" in name else "ours_128"
        if ours_too in rates:
            times = rates[ours_too]["median"] / each["median"]
            each["ours_is_times"] = significant(times)
    return record


if __name__ == "__main__":
    main()
