"""
---
title: What was run
summary: Settings, commit, versions and machine, so that a curve can be trusted later.
---

# What was run

A curve without its settings is worthless, and after a year nobody remembers them. So
each run writes down, in `run.json`, everything you need to know to do the same again:
the command, every setting, the commit of the code, the versions of what it builds on,
and the machine. Only then is a run **reproducible**.
"""

import contextlib
import json
import os
import platform
import subprocess
import sys
import tokenize
from dataclasses import asdict, fields
from datetime import UTC, datetime
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from labml_rl.algorithms import ALGORITHMS
from labml_rl.fingerprint import fingerprint
from labml_rl.runs.checkpoint import CheckpointError
from labml_rl.runs.experiment import Experiment, Settings
from labml_rl.runs.folder import RunError

PACKAGE = Path(__file__).parents[1]
PACKAGES = (
    "labml-rl",
    "torch",
    "numpy",
    "gymnasium",
    "ale-py",
    "opencv-python-headless",
    "safetensors",
)


def new_record(
    experiment_class: type[Experiment[Any]], command: str, settings: Settings
) -> dict[str, Any]:
    """
    ## What was run

    Args:
        experiment_class: that of the algorithm.
        command: one that does the same again.
        settings: all of them, even those that nobody changed. Defaults change over the
            years.

    Returns:
        What is in `run.json`: this, how far the run got, how long that took, and for
        each [session][] when it began, at which frame, and on what.

    Raises:
        RunError: if a setting would not [come back][settings_of] from there as it was.
    """
    check_kept(settings)
    return {
        "algorithm": experiment_class.algorithm,
        "experiment": place_of(experiment_class),
        "command": command,
        "settings": asdict(settings),
        "frames": 0,
        "seconds": 0.0,
        "finished": False,
        "sessions": [],
    }


def check_kept(settings: Settings) -> None:
    """
    ### What can be kept

    JSON has no paths and no classes, can't tell lists from tuples, and makes a plain
    number of an `IntEnum`. Noticing that only when a run is resumed would be too late.

    Args:
        settings: of a new run.

    Raises:
        RunError: if one would not come back as it was; the message says which.
    """
    for each in fields(settings):
        value = getattr(settings, each.name)
        try:
            back = from_json(json.loads(json.dumps(value)))
            kept = value == back and not has_names(value)
        except (TypeError, ValueError):
            kept = False
        if not kept:
            raise RunError(
                f"the setting {each.name} would not come back from run.json as it is, "
                f"{value!r}. Use a number, a string, True, False, None, or a tuple of "
                "these"
            )


def has_names(value: Any) -> bool:
    """
    Returns:
        Whether it is a tuple, a number or a string with a name, or has one in it.
    """
    if isinstance(value, Enum) or hasattr(value, "_fields"):
        return True
    parts = value.items() if isinstance(value, dict) else value
    return isinstance(value, dict | tuple) and any(has_names(each) for each in parts)


def from_json(value: Any) -> Any:
    """
    Returns:
        The same with tuples for lists. Settings don't change, and so have no lists.
    """
    if isinstance(value, list):
        return tuple(from_json(each) for each in value)
    return value


def place_of(experiment_class: type[Experiment[Any]]) -> str:
    """
    Returns:
        Where it is defined. Two experiments may have the same name.
    """
    return f"{experiment_class.__module__}:{experiment_class.__qualname__}"


def is_of_the_book(experiment_class: type[Experiment[Any]]) -> bool:
    """
    Returns:
        Whether the book's own program [knows it](../algorithms.py).
    """
    return ALGORITHMS.get(experiment_class.algorithm) == place_of(experiment_class)


def settings_of(record: dict[str, Any], settings_class: type[Settings]) -> Settings:
    """
    A run may be older than a setting. Then it gets the default: a setting added to an
    algorithm must have a default that leaves everything as it was.

    Args:
        record: what `run.json` says.
        settings_class: that of the algorithm.

    Raises:
        RunError: if today's algorithm has no such settings, or refuses them.
    """
    found = {name: from_json(value) for name, value in record["settings"].items()}
    known = {each.name for each in fields(settings_class)}
    strange = found.keys() - known
    if strange:
        what = [f"{name} is unknown" for name in sorted(strange)]
        commits = {str(each.get("commit")) for each in record["sessions"]}
        raise RunError(
            f"the settings of the run are of another version: {', '.join(what)}. Its "
            f"commit was {' or '.join(sorted(commits))}"
        )
    try:
        return settings_class(**found)
    except (TypeError, ValueError) as error:
        raise RunError(f"the settings in run.json make no sense: {error}") from error


def check_algorithm(path: object, record: dict[str, Any], algorithm: str) -> None:
    """
    Args:
        path: the folder of a run.
        record: what its `run.json` says.
        algorithm: what it should be a run of.

    Raises:
        RunError: if it is one of another.
    """
    if record["algorithm"] != algorithm:
        raise RunError(f"{path} is a run of {record['algorithm']}, not of {algorithm}")


def origin(algorithm: str, settings: Settings) -> str:
    """
    ## Whose checkpoint it is

    Two games may have networks of the same shape. So a checkpoint says what it is of.
    """
    return f"{algorithm} in {settings.game}"


def check_origin(path: str | Path, state: dict[str, Any], of: str) -> None:
    """
    Args:
        path: of a checkpoint.
        state: what is in it.
        of: what it should be [of][origin].

    Raises:
        CheckpointError: if it is of something else.
    """
    found = state.get("of", "no run")
    if found != of:
        raise CheckpointError(
            f"{path} is of {found}, and the run is of {of}. Put the file of this "
            "run in its place"
        )


def session(frames: int, experiment_class: type[Experiment[Any]]) -> dict[str, Any]:
    """
    ## The machine it ran on

    Args:
        frames: how many the run has had when this session begins.
        experiment_class: that of the algorithm.

    Returns:
        The time, the commit, the versions, the machine, and a
        [fingerprint](../fingerprint.py) of each module of the book that is in use. From
        these you can tell later whether the curve was made by the code that is shown
        beside it. For an experiment of your own, the fingerprint and the commit of its
        module are noted as well. What that module imports, such as a network in another
        file, is not covered.
    """
    return {
        "from_frames": frames,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        **_commit(PACKAGE / "__init__.py", "."),
        "versions": {"python": platform.python_version(), **_versions()},
        "machine": machine(),
        "sources": _sources(),
        "own_sources": _own_sources(experiment_class),
    }


# The commit counts only if the file is in it. Otherwise it was installed, and the
# repository around it is another one.
def _commit(file: Path, what: str) -> dict[str, Any]:
    if _git(file.parent, "ls-files", "--error-unmatch", file.name) is None:
        return {"commit": None, "uncommitted_changes": None}
    changes = _git(file.parent, "status", "--porcelain", "--", what)
    return {
        "commit": _git(file.parent, "rev-parse", "HEAD"),
        "uncommitted_changes": bool(changes),
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def machine() -> dict[str, Any]:
    """
    Returns:
        Processor, cores, threads, memory, GPU and system. Speeds mean nothing without
        these, and with a different number of threads the last digits differ.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "memory_gib": round(memory / 2**30, 1),
        "gpu": [torch.cuda.get_device_name(each) for each in gpus],
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _sources() -> dict[str, str]:
    files = {getattr(each, "__file__", None) for each in list(sys.modules.values())}
    found = {}
    for file in files:
        if file and file.endswith(".py") and file.startswith(f"{PACKAGE}{os.sep}"):
            name = Path(file).relative_to(PACKAGE.parent).as_posix()
            found[name] = fingerprint(Path(file).read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


# Whatever an experiment of your own is derived from, down to the book's.
def _own_sources(experiment_class: type[Experiment[Any]]) -> dict[str, Any]:
    found = {}
    for each in experiment_class.__mro__:
        # A module may have been loaded by hand, and then Python does not list it.
        name = getattr(sys.modules.get(each.__module__), "__file__", None)
        if not issubclass(each, Experiment) or not name:
            continue
        file = Path(name)
        if file.suffix == ".py" and not file.is_relative_to(PACKAGE):
            # An editor may have put a mark in front of it, or saved it in another
            # encoding.
            with tokenize.open(file) as text:
                source = fingerprint(text.read())
            found[str(file)] = {"fingerprint": source, **_commit(file, file.name)}
    return found
