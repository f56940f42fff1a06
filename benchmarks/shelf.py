"""The runs that are kept: their names and curves, and what each is drawn beside."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.record import RECORDS, ROOT
from labml_rl.runs.command import find_experiment
from labml_rl.watch.many import (
    RANDOM_AND_HUMAN,
    WEIGHTS,
)

KEPT = ROOT / "results" / "runs"

# Random play, a human tester and DQN, from table 2 of the extended data of Mnih et al.
# (2015); PPO and A2C from table 6 of Schulman et al. (2017); DrQ from table A.1 of
# Schwarzer et al. (2023).
PUBLISHED: dict[str, dict[str, float]] = {
    "cartpolev1": {"the maximum": 500.0},
    "hiddencartpolev1": {"the maximum": 500.0},
    "deepseav0": {"the maximum": 0.99},
    "breakout": {
        **{"random": 1.7, "human": 31.8},
        **{"ppo": 274.8, "a2c": 303.0, "dqn": 401.2, "drq": 19.8},
    },
    "mspacman": {
        **{"random": 307.3, "human": 15_693.0},
        **{"ppo": 2_096.5, "a2c": 1_626.9, "dqn": 2_311.0, "drq": 1_218.1},
    },
    "pong": {
        **{"random": -20.7, "human": 9.3},
        **{"ppo": 20.7, "a2c": 19.7, "dqn": 18.9, "drq": -9.1},
    },
    "roadrunner": {"random": 11.5, "human": 7_845.0, "drq": 11_211.4},
    "spaceinvaders": {
        **{"random": 148.0, "human": 1652.0},
        **{"ppo": 942.5, "a2c": 744.5, "dqn": 1976.0},
    },
}

# The five games that stand for 57, by the name that `name_of` gives them. Those who
# chose them measure against another human, and have Phoenix, which is not in that
# table.
FIVE_GAMES = {game.replace("_", ""): game for game in WEIGHTS}
PUBLISHED |= {
    name: dict(zip(("random", "human"), RANDOM_AND_HUMAN[game], strict=True))
    for name, game in FIVE_GAMES.items()
}

# Who has learned them, and with which seed. (In all games, the first seed of A2C had an
# epsilon that is too large.)
IN_FIVE = {
    "ppo": ("ppo", "seed-1"),
    "pqn": ("pqn", "seed-1"),
    "a2c": ("a2c", "seed-2"),
    "large-epsilon": ("a2c", "seed-1"),
}

# Names of games as they are written in prose.
TITLES = {
    "Acrobot-v1": "Acrobot",
    "BattleZone": "Battle Zone",
    "CartPole-v1": "CartPole",
    "labml_rl.deep_sea:DeepSea-v0": "the deep sea",
    "labml_rl.hidden:HiddenCartPole-v1": "hidden CartPole",
    "DoubleDunk": "Double Dunk",
    "MsPacman": "Ms. Pac-Man",
    "NameThisGame": "Name This Game",
    "Qbert": "Q*bert",
    "RoadRunner": "Road Runner",
    "SpaceInvaders": "Space Invaders",
}

PEERS = {
    "a2c-spaceinvaders-seed-1": ("Stable-Baselines3", "peer_a2c.json"),
    "a2c-breakout-seed-1": ("Stable-Baselines3", "peer_a2c-breakout.json"),
    "ppo-mspacman-seed-1": ("Stable-Baselines3", "peer_ppo-mspacman.json"),
}

# What an algorithm is drawn beside: the runs of another in the same game.
BESIDE = {
    **{"fast-rainbow": "fast-dqn", "fast-dqn-quantiles": "fast-dqn"},
    **{"ppo": "a2c", "pqn": "a2c", "impala": "ppo"},
    **{"recurrent-ppo": "ppo", "small-recurrent-ppo": "small-ppo"},
    **{"small-rnd": "small-ppo", "drq": "fast-dqn"},
}
BESIDE_IN = {
    "mspacman": {"a2c": "ppo", "ppo": "fast-dqn", "pqn": "fast-dqn"},
    # That of DQN would hide in the line of random play.
    "breakout": {"pqn": "ppo", "fast-dqn": "pqn", "drq": ""},
}

# Runs that are drawn beside another one of the same algorithm, and what the pages call
# the difference in that one.
BESIDE_RUN = {
    f"a2c-{game}-seed-2": ("seed-1", "large epsilon")
    for game in ("breakout", "spaceinvaders")
} | {"impala-pong-seed-2": ("seed-1", "large epsilon")}

# Runs that differ only in their seeds, and are drawn together: which is in front.
TOGETHER = {
    **{("drq", game): "seed-1" for game in ("breakout", "mspacman", "pong")},
    ("drq", "roadrunner"): "seed-2",
}
NAMES = {
    **{"rainbow": "Rainbow", "recurrent-ppo": "recurrent PPO", "rnd": "RND"},
    **{"dqn-quantiles": "DQN with quantiles", "drq": "DrQ"},
}

# What makes an algorithm a different one.
PARTS = ("double", "dueling", "prioritised", "distributional", "quantiles", "noisy")


def kind_of(record: dict[str, Any]) -> str:
    """The algorithm of a run, with the parts that its settings switch on, or off."""
    kind = str(record["algorithm"])
    usual = find_experiment(kind).settings_class()
    for part in PARTS:
        has = bool(getattr(usual, part, False))
        if bool(record["settings"].get(part, has)) != has:
            kind += f"-{'no-' * has}{part}"
    return kind


def figure_name(kept: Path) -> str:
    """What the figures of a run are called."""
    return "-".join(("run", *kept.parts[-3:]))


def name_of(record: dict[str, Any]) -> str:
    """The game of a run, in one word and small letters, without its module."""
    game = record["settings"]["game"].rpartition(":")[2]
    return "".join(filter(str.isalnum, game)).lower()


def seed_of(record: dict[str, Any]) -> int:
    """The seed of a run."""
    return int(record["settings"]["seed"])


def points_in(table: Path) -> list[tuple[float, float]]:
    """Frames, and the mean score at that time, where there was one."""
    with table.open() as file:
        return [
            (float(row["frames"]), float(row["return_mean"]))
            for row in csv.DictReader(file)
            if row["return_mean"]
        ]


def curve_of(folder: Path) -> list[tuple[float, float]]:
    """Frames, and the mean score of the last hundred games, where there were any."""
    return points_in(folder / "progress.csv")


def settings_of(folder: Path) -> dict[str, Any]:
    """The settings of a run that is kept."""
    settings: dict[str, Any] = json.loads((folder / "run.json").read_text())["settings"]
    return settings


def by_seed(folders: Iterable[Path]) -> list[Path]:
    """Runs of the same game, by their seeds: 2 comes before 10."""
    return sorted(folders, key=lambda each: int(each.name.removeprefix("seed-")))


def runs_of(algorithm: str, game: str, frames: int) -> list[Path]:
    """
    The runs of a game that are kept, by their seeds: of those that were planned for
    this many frames or more, the shortest. (With a longer plan, the learning rate goes
    down more slowly.)
    """
    runs = by_seed((KEPT / algorithm / game).glob("seed-*"))
    plans = {each: settings_of(each)["total_frames"] for each in runs}
    shortest = min((plan for plan in plans.values() if plan >= frames), default=None)
    return [each for each, plan in plans.items() if shortest in (None, plan)]


def evaluations_of(folder: Path) -> list[tuple[float, float]]:
    """Frames, and the mean score in games that were played to choose the best."""
    path = folder / "evaluations.csv"
    return points_in(path) if path.exists() else []


def peer_of(folder: Path) -> tuple[str, dict[str, Any]] | None:
    """Another library's name, and what it learned with the settings of a run."""
    name, file = PEERS.get("-".join(folder.parts[-3:]), ("", ""))
    path = RECORDS / file
    return (name, json.loads(path.read_text())) if name and path.exists() else None


def peer_curve(record: dict[str, Any]) -> list[tuple[float, float]]:
    """Frames, and the mean score of the last hundred games of that library."""
    return [
        (number * record["every"], score)
        for number, score in enumerate(record["theirs"]["curve"], start=1)
        if score is not None
    ]


def others_of(folder: Path) -> dict[str, list[list[tuple[float, float]]]]:
    """The curves of other runs that a curve is drawn beside, by their names.

    They are those of other seeds, of another seed with another setting, and of another
    algorithm.
    """
    algorithm, game, seed = folder.parts[-3:]
    if varied := BESIDE_RUN.get(f"{algorithm}-{game}-{seed}"):
        other, words = varied
        return {f"{family_of(algorithm)}, {words}": [curve_of(folder.parent / other)]}
    found: dict[str, list[list[tuple[float, float]]]] = {}
    if beside := (BESIDE | BESIDE_IN.get(game, {})).get(algorithm):
        for run in runs_of(beside, game, settings_of(folder)["total_frames"]):
            name = f"{family_of(beside)}{changed_in(run)}"
            found.setdefault(name, []).append(curve_of(run))
    seeds: dict[str, list[list[tuple[float, float]]]] = {}
    if (algorithm, game) in TOGETHER:
        rest = by_seed(each for each in folder.parent.glob("seed-*") if each != folder)
        numbers = " and ".join(each.name.removeprefix("seed-") for each in rest)
        seeds[f"seeds {numbers}"] = [curve_of(each) for each in rest]
    return seeds | dict(sorted(found.items()))


def changed_in(folder: Path) -> str:
    """In words, how a run differs from another that it is drawn beside."""
    algorithm, game, seed = folder.parts[-3:]
    for run, (other, words) in BESIDE_RUN.items():
        if run.startswith(f"{algorithm}-{game}-") and other == seed:
            return f", {words}"
    return ""


def family_of(algorithm: str) -> str:
    """What an algorithm is called, without what its settings are for."""
    family = algorithm.removeprefix("fast-").removeprefix("small-")
    return NAMES.get(family, family.upper())
