"""What a benchmark leaves behind: every sample, and what is needed to judge it."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import mean, median
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "results" / "benchmarks"
BFLOAT16_UNITS = ("amx_bf16", "avx512_bf16")


@dataclass(frozen=True)
class Series:
    """Samples of one quantity, with their median and their range."""

    samples: tuple[float, ...]
    median: float
    low: float
    high: float


def series(samples: Sequence[float]) -> Series:
    """Sum up samples. Four digits are more than a noisy machine gives."""
    rounded = tuple(float(f"{sample:.4g}") for sample in samples)
    return Series(rounded, median(rounded), min(rounded), max(rounded))


def spread(taken: Mapping[str, Any], digits: str = ".0f") -> str:
    """The median of a series and its range, in so many digits."""
    low, middle, high = taken["low"], taken["median"], taken["high"]
    return f"{middle:{digits}} ({low:{digits}}–{high:{digits}})"


def significant(number: float) -> float:
    """Three digits."""
    return float(f"{number:.3g}")


def interleave(
    contestants: Mapping[str, Callable[[], float]], repeats: int, thrown_away: int = 1
) -> dict[str, Series]:
    """
    Let each contestant run once, then all of them again. A machine that slows down
    halfway then slows all of them down, and not only the last.

    Args:
        contestants: for each name, a function that runs once and returns the seconds,
            or whatever else is measured.
        repeats: how many samples to take of each.
        thrown_away: how many to take first, and not to keep.
    """
    samples: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(thrown_away + repeats):
        for name, run in contestants.items():
            seconds = run()
            if turn >= thrown_away:
                samples[name].append(seconds)
    return {name: series(taken) for name, taken in samples.items()}


def scores_at(experiment: Any, points: int) -> Iterator[float]:
    """
    Let an experiment learn to the end of its plan.

    Args:
        experiment: of an algorithm.
        points: how many marks there are on the way, all equally far apart.

    Yields:
        The mean score of the last hundred games at each mark, 0 if there were none.
    """
    planned = experiment.settings.total_frames
    for mark in range(1, points + 1):
        while experiment.frames * points < mark * planned:
            experiment.advance()
        yield mean([each["r"] for each in experiment.recent] or [0.0])


def comparison(
    contestants: Mapping[str, Series], ours: str, peer: str, **more: Any
) -> dict[str, Any]:
    """Two contestants, and the median of ours as a multiple of that of the peer."""
    ratio = contestants[ours].median / contestants[peer].median
    return {
        **more,
        **{name: asdict(taken) for name, taken in contestants.items()},
        "ratio": significant(ratio),
        "speedup": significant(1 / ratio),
    }


def git(*arguments: str) -> str:
    """What git says."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def started(module: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    """
    Another process, which works while this one goes on.

    Args:
        module: the program.
        arguments: of its command line.
        variables: of its environment, besides those of this process.
    """
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer_of(process: subprocess.Popen[str]) -> Any:
    """What a process finds out: the last line that it prints, as JSON."""
    stdout, stderr = process.communicate()
    if process.returncode:
        sys.exit(f"{process.args!r} failed:\n{stderr}")
    return json.loads(stdout.splitlines()[-1])


def found_by(module: str, *arguments: str) -> Any:
    """Start another process, wait for it, and return what it finds out."""
    return answer_of(started(module, *arguments))


def cpu_info() -> dict[str, str]:
    """What the system says about its last core, or nothing if it is not Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition(":") for line in lines)
    return {name.strip(): value.strip() for name, _, value in pairs}


def bfloat16_units(info: Mapping[str, str]) -> str:
    """What it has for numbers of 16 bits. Processors of one name may differ in that."""
    flags = info.get("flags", "").split()
    return ", ".join(each for each in BFLOAT16_UNITS if each in flags) or "none"


def provenance(program: str, packages: Sequence[str]) -> dict[str, Any]:
    """
    Where, when and with what the numbers were taken.

    Args:
        program: the module that was run.
        packages: those that the numbers depend on.
    """
    info = cpu_info()
    return {
        "command": " ".join(["python", "-m", program, *sys.argv[1:]]),
        "commit": git("rev-parse", "HEAD"),
        "dirty": bool(git("status", "--porcelain", "--", ".", ":!results")),
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {
            "cpu": info.get("model name") or platform.processor() or platform.machine(),
            "bfloat16": bfloat16_units(info),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "load": round(os.getloadavg()[0], 2),
        },
        "versions": {package: version(package) for package in packages},
    }


def write(record: Mapping[str, Any], path: Path) -> None:
    """Write a record. Lists of samples stay on one line, so that diffs are readable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(record) + "\n", encoding="utf-8")


def text(value: Any, depth: int = 0) -> str:
    """A value as JSON, with objects over several lines and lists on one."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    margin = "  " * (depth + 1)
    items = ",\n".join(
        f"{margin}{json.dumps(str(key))}: {text(item, depth + 1)}"
        for key, item in value.items()
    )
    return f"{{\n{items}\n{'  ' * depth}}}"
