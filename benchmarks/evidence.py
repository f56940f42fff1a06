"""Keep a run as evidence: its record, its curve, and what its agent scores.

python -m benchmarks.evidence FOLDER …    keep these runs, in results/runs/
python -m benchmarks.evidence             only sum up and draw what is kept

With `--agents`, the networks are kept as well, so that `labml-rl watch` finds them. A
network for Atari takes 7 MB.

A run is kept with its settings, commit, machine and versions (`run.json`) and its
curve (`progress.csv`). Its agent, as it was at the end, plays thirty whole games with
seeds of their own (`scores.json`). If the run was to keep the best agent by evaluation,
so does that one (`evaluations.csv`, `scores-best.json`). All runs are summed up in
`results/runs.json`, from which the page draws its numbers, and each has its curve in
`docs/assets/figures/`. A film in the folder (`film.mp4`) goes to `docs/assets/films/`,
with a still from it.
"""

import argparse
import csv
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import chain, islice
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

from benchmarks.record import RECORDS, ROOT, write
from figures.drawing import COLOURS, FAINT, FOLDER, WIDTH, Drawing, line
from labml_rl.runs import checkpoint
from labml_rl.runs.command import experiment_of, find_experiment
from labml_rl.runs.record import origin
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.many import (
    RANDOM_AND_HUMAN,
    WEIGHTS,
    estimated_median,
    interquartile_mean,
    normalised_scores,
)
from labml_rl.watch.scores import measure

KEPT = ROOT / "results" / "runs"
SUMMARY = ROOT / "results" / "runs.json"
FILMS = ROOT / "docs" / "assets" / "films"
GAMES = 30
STILL_QUALITY = 60  # of 100

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

# What a run computed with. Older ones let the machine choose, and did not note its
# choice.
PRECISIONS = {"auto": "bfloat16 or float32, as the machine chose (not recorded)"}

# Names of marks whose lines are closer than this, in pixels, would be struck through.
# Such names go together above the highest line.
CROWDED = 20
WIDTH_OF_LETTER = 7  # in pixels, at most, on average
LEFT, RIGHT, TOP, BOTTOM = 50, WIDTH - 20, 60, 240
APART = 2  # pixels between two points of a curve

# After these millions of frames, the page says how far each run had got.
MILESTONES = (1, 2, 4, 6, 8, 10, 20, 40)

# What another library learned with the settings of a run: its name, and the record. Not
# all of the record is for the page.
CURVES = ("curve", "entropy")
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
    "mspacman": {"ppo": "fast-dqn", "pqn": "fast-dqn"},
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
AFTER = {
    "ppo": "PPO's paper, 40M",
    "a2c": "A2C's paper, 40M",
    "dqn": "DQN's paper, 200M",
    "drq": "DrQ of others, 400k",
}


def keep(folder: Path, *, agent: bool = False) -> None:
    """Copy the files that say how a run went, and let its agent play."""
    record = json.loads((folder / "run.json").read_text())
    kept = KEPT / kind_of(record) / name_of(record) / f"seed-{seed_of(record)}"
    if not curve_of(folder):
        raise SystemExit(f"{folder}: no game has ended, so there is nothing to keep.")
    kept.mkdir(parents=True, exist_ok=True)
    for name in ("run.json", "progress.csv", "evaluations.csv"):
        if (folder / name).exists():
            shutil.copyfile(folder / name, kept / name)
        else:
            (kept / name).unlink(missing_ok=True)
    # What an earlier run of this name has left would be taken for this one's.
    for name in ("scores.json", "scores-best.json", "checkpoint.safetensors"):
        (kept / name).unlink(missing_ok=True)
    experiment_class = experiment_of(folder)
    saved = Saved.of(folder, experiment_class)
    score(saved, kept / "scores.json")
    if agent:
        keep_agent(saved, kept / "checkpoint.safetensors")
    if (folder / "best.safetensors").exists():
        best = Saved.of(folder, experiment_class, best=True)
        score(best, kept / "scores-best.json")
    if (folder / "film.mp4").exists():
        keep_film(folder / "film.mp4", FILMS / f"{figure_name(kept)}.mp4")


def kind_of(record: dict[str, Any]) -> str:
    """The algorithm of a run, with the parts that its settings switch on, or off."""
    kind = str(record["algorithm"])
    usual = find_experiment(kind).settings_class()
    for part in PARTS:
        has = bool(getattr(usual, part, False))
        if bool(record["settings"].get(part, has)) != has:
            kind += f"-{'no-' * has}{part}"
    return kind


def keep_agent(saved: Saved, path: Path) -> None:
    """Write a checkpoint with what is needed to watch an agent, and nothing else."""
    algorithm = saved.experiment_class.algorithm
    state = {"network": saved.weights, "frames": saved.frames}
    checkpoint.save(path, state | {"of": origin(algorithm, saved.settings)})


def keep_film(film: Path, kept: Path) -> None:
    """
    Copy a film, and put a still beside it, from two thirds of the way through. A page
    loads the still before anybody has asked for the film, so it should be small.
    """
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(film, kept)
    with av.open(kept) as opened:
        count = opened.streams.video[0].frames
        frame = next(islice(opened.decode(video=0), 2 * count // 3, None))
    still = Image.fromarray(frame.to_ndarray(format="rgb24"))
    still.save(kept.with_suffix(".webp"), quality=STILL_QUALITY, method=6)


def figure_name(kept: Path) -> str:
    """What the figures of a run are called."""
    return "-".join(("run", *kept.parts[-3:]))


def score(saved: Saved, path: Path) -> None:
    """Let an agent play, and write down what it scores."""
    protocol = Protocol()
    result = measure(saved, protocol, games=GAMES)
    scores = {
        "frames": saved.frames,
        "protocol": asdict(protocol),
        "in_words": saved.described(protocol),
        "points": result.points,
        "mean": result.mean,
        "median": result.median,
        "standard_error": result.standard_error,
    }
    path.write_text(json.dumps(scores, indent=1) + "\n")


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


def summary_of_scores(path: Path) -> dict[str, Any]:
    """What the page says about an agent's games."""
    scores = json.loads(path.read_text())
    return {
        "games": len(scores["points"]),
        "mean": scores["mean"],
        "median": scores["median"],
        "standard_error": scores["standard_error"],
        "lowest": min(scores["points"]),
        "highest": max(scores["points"]),
        "in_words": scores["in_words"],
    }


def on_the_way(curve: list[tuple[float, float]]) -> dict[str, float]:
    """The mean score of the last hundred games at each of the milestones."""
    return {
        str(millions): next(score for x, score in curve if x >= millions * 1e6)
        for millions in MILESTONES
        if curve[-1][0] >= millions * 1e6
    }


def then(values: Iterable[str]) -> str:
    """What all sessions of a run have in common, or what each had, if they differ."""
    return ", then ".join(dict.fromkeys(values))


def summary_of(folder: Path) -> dict[str, Any]:
    """What the page says about a run."""
    record = json.loads((folder / "run.json").read_text())
    chosen: dict[str, Any] = {}
    if (folder / "scores-best.json").exists():
        evaluations = evaluations_of(folder)
        frames, mean = max(evaluations, key=lambda each: each[1])
        chosen = {
            "evaluations": len(evaluations),
            "best": {
                "millions": frames / 1e6,
                "chosen_with": mean,
                **summary_of_scores(folder / "scores-best.json"),
            },
        }
    if peer := peer_of(folder):
        chosen["peer"] = {
            key: {name: value for name, value in part.items() if name not in CURVES}
            if isinstance(part, dict)
            else part
            for key, part in peer[1].items()
        }
    sessions = record["sessions"]
    first = sessions[0]
    precision = record["settings"]["precision"]
    curve = curve_of(folder)
    published = PUBLISHED.get(name_of(record), {})
    scores = summary_of_scores(folder / "scores.json")
    if {"random", "human"} <= published.keys():
        lead = published["human"] - published["random"]
        scores["human_normalised"] = (scores["mean"] - published["random"]) / lead
    return {
        "command": record["command"],
        "commit": then((each["commit"] or "unknown")[:12] for each in sessions),
        "uncommitted_changes": any(each["uncommitted_changes"] for each in sessions),
        "sources": {
            name: then(each["sources"].get(name, "") for each in sessions)
            for name in sorted(set().union(*(each["sources"] for each in sessions)))
        },
        "frames": record["frames"],
        "millions": record["frames"] / 1e6,
        "hours": record["seconds"] / 3600,
        "minutes": record["seconds"] / 60,
        "frames_per_second": record["frames"] / record["seconds"],
        "sessions": len(record["sessions"]),
        "processor": first["machine"]["processor"],
        "cores": first["machine"]["cores"],
        "threads": then(
            str(each["machine"].get("threads", "not recorded")) for each in sessions
        ),
        "gpu": ", ".join(first["machine"]["gpu"]) or "none",
        "torch": first["versions"]["torch"],
        "precision": PRECISIONS.get(precision, precision),
        "last_hundred": curve[-1][1],
        "best_hundred": max(score for _, score in curve),
        "on_the_way": on_the_way(curve),
        "published": published,
        **scores,
        **chosen,
    }


def drawn(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """
    The points of a curve that are drawn, two pixels apart. More would make a page heavy
    and look the same.
    """
    every = list(points)
    kept = every[:1]
    for point in every[1:-1]:
        if point[0] - kept[-1][0] >= APART:
            kept.append(point)
    return kept + every[1:][-1:]


def round_numbers(low: float, high: float) -> list[float]:
    """Round numbers between two others, which are at least three steps apart."""
    size = 10 ** floor(log10(high - low))
    step = next(size * n for n in (2, 1, 0.5, 0.2) if high - low >= 3 * size * n)
    return [step * n for n in range(ceil(low / step), floor(high / step) + 1)]


def marks_of(record: dict[str, Any]) -> list[tuple[str, float]]:
    """Who else has played the game of a run, and what they scored."""
    published = PUBLISHED.get(name_of(record), {})
    marks = [(who, score) for who, score in published.items() if who not in AFTER]
    family = family_of(kind_of(record)).lower()
    if family in published:
        marks.append((AFTER[family], published[family]))
    return marks


def together(
    marks: list[tuple[str, float]], height: Callable[[float], float]
) -> list[list[tuple[str, float]]]:
    """Marks from the highest down, with those that are close together in one list."""
    groups: list[list[tuple[str, float]]] = []
    for each in sorted(marks, key=lambda mark: mark[1], reverse=True):
        if groups and height(each[1]) - height(groups[-1][-1][1]) < CROWDED:
            groups[-1].append(each)
        else:
            groups.append([each])
    return groups


def told(marks: list[tuple[str, float]]) -> str:
    """Marks in words, with their numbers."""
    words = (f"{who.partition(',')[0]} {score:,.10g}" for who, score in marks)
    return "; ".join(words).replace("-", "−")


def is_free(
    place: tuple[float, str],
    y: float,
    words: str,
    lines: list[list[tuple[float, float]]],
) -> bool:
    """Whether no line goes through words that begin, or end, at a place."""
    begin, end = across(place, words)
    return not any(
        begin < a < end and y - 13 < b < y + 5 for each in lines for a, b in each
    )


def across(place: tuple[float, str], words: str) -> tuple[float, float]:
    """From where to where words go that begin, or end, at a place."""
    x, anchor = place
    wide = WIDTH_OF_LETTER * len(words)
    return (x, x + wide) if anchor == "start" else (x - wide, x)


def draw_marks(
    drawing: Drawing,
    marks: list[tuple[str, float]],
    heights: list[float],
    lines: list[list[tuple[float, float]]],
) -> list[tuple[float, float]]:
    """
    Marks that are close together: a dashed line for each, and one name for all.

    Returns:
        Where their name is, as a line, which has no points if there was no room.
    """
    for y in heights:
        ends = [(LEFT, y), (RIGHT, y)]
        line(drawing, ends, stroke=FAINT, stroke_dasharray="3 4")

    # The name goes where the curve is far away, or where there is no curve.
    words = told(marks) if len(marks) > 1 else marks[0][0]
    y, first, last = heights[0], lines[0][0][1], lines[0][-1][1]
    places = [(LEFT + 4, "start"), (RIGHT, "end")]
    if abs(first - y) <= abs(last - y):
        places.reverse()
    farther = range(LEFT + 44, RIGHT - WIDTH_OF_LETTER * len(words), 40)
    places += [(x, "start") for x in farther]
    free = [each for each in places if is_free(each, y - 5, words, lines)]
    if not free:
        return []
    x, anchor = free[0]
    drawing.words(x, y - 5, words, colour=FAINT, size=13, text_anchor=anchor)
    return under(free[0], y - 5, words)


def under(place: tuple[float, str], y: float, words: str) -> list[tuple[float, float]]:
    """Words as points, from their heads to their feet, where no others should be."""
    begin, end = across(place, words)
    return [(x, at) for x in np.arange(begin, end, APART) for at in (y - 10, y)]


def draw_groups(
    drawing: Drawing,
    groups: list[list[tuple[str, float]]],
    height: Callable[[float], float],
    lines: list[list[tuple[float, float]]],
) -> list[list[tuple[float, float]]]:
    """
    All marks. Names that the curves leave no room for go together at the top.

    Returns:
        Where the other names are, as lines.
    """
    unnamed: list[tuple[str, float]] = []
    names: list[list[tuple[float, float]]] = []
    for group in groups:
        name = draw_marks(drawing, group, [height(y) for _, y in group], lines)
        names.append(name)
        if not name:
            unnamed += group
    if unnamed:
        # On the left may be the name of a mark at the very top.
        is_taken = height(groups[0][0][1]) < TOP + 8 and groups[0][0] not in unnamed
        x, anchor = (RIGHT, "end") if is_taken else (LEFT, "start")
        words = f"dashed: {told(unnamed)}"
        drawing.words(x, 48, words, colour=FAINT, size=13, text_anchor=anchor)
    return names


def draw_beside(
    drawing: Drawing,
    lines: list[list[tuple[float, float]]],
    others: list[list[tuple[float, float]]],
    name: str,
    **style: Any,
) -> list[tuple[float, float]]:
    """
    Other curves, with their name above the end of the highest; or below them, if
    another curve goes through there, or if that is where the title is; or between them,
    if the frames are there; or, for faint ones, at the bottom, if there is no room
    nearby; or far above.

    Args:
        drawing: where to.
        lines: all other curves of the picture.
        others: these curves.
        name: what they are of.
        style: of their lines.

    Returns:
        Where their name is, as a line.
    """
    for each in others:
        line(drawing, each, **style)
    x, y = min((each[-1] for each in others), key=lambda end: end[1])
    wide = WIDTH_OF_LETTER * len(name)
    lowest = max(b for each in others for a, b in each if a >= x - wide)
    places = [each for each in (y - 8, lowest + 18) if TOP + 8 < each < BOTTOM + 4]
    free = [each for each in places if is_free((x, "end"), each, name, lines)]
    farther: list[float] = []
    if lowest + 18 >= BOTTOM + 4:
        below = (y + down for down in range(32, 120, 8))
        farther = [each for each in below if each < BOTTOM + 4]
    if not farther and style["stroke"] == FAINT:
        farther = [BOTTOM - up for up in range(8, 120, 8)]
    farther += [y - up for up in range(16, 120, 8) if y - up > TOP + 8]
    every = [*lines, *others]
    free += (each for each in farther if is_free((x, "end"), each, name, every))
    y = free[0] if free else y - 8
    drawing.words(x, y, name, colour=style["stroke"], size=13, text_anchor="end")
    return under((x, "end"), y, name)


def draw_peer(
    drawing: Drawing, curve: list[tuple[float, float]], name: str, *, beside: bool
) -> None:
    """The curve of another library, beside other curves or not, and its name."""
    colour = COLOURS[1 if beside else 2]
    line(drawing, curve, stroke=colour)
    x, y = curve[-1]
    # Below the axis are the frames.
    below = y + (56 if beside else 28)
    x, y = (x, below) if below < BOTTOM + 4 else (LEFT + 4, y - 12)
    drawing.words(x, y, name, colour=colour, size=13)


def short(number: float) -> str:
    """A round number of frames: 0, 50k or 10M."""
    if number >= 1e6:
        return f"{number / 1e6:g}M"
    return f"{number / 1e3:g}k" if number else "0"


def draw_frames(drawing: Drawing, frames: float, seed: int) -> None:
    """The numbers below a curve, what they count, and what the curve is of."""
    for number in round_numbers(0, frames):
        x = LEFT + number / frames * (RIGHT - LEFT)
        drawing.words(
            min(x, RIGHT),
            BOTTOM + 22,
            short(number),
            colour=FAINT,
            size=13,
            text_anchor="middle" if x < RIGHT - 20 else "end",
        )
    drawing.words(RIGHT, BOTTOM + 42, "frames", size=13, text_anchor="end")
    words = f"mean score, last 100 games, seed {seed}"
    drawing.words(LEFT, BOTTOM + 42, words, colour=FAINT, size=13)


def draw(folder: Path) -> str:
    """The curve of a run, with what others score, as SVG."""
    record = json.loads((folder / "run.json").read_text())
    curve = curve_of(folder)
    algorithm, game = kind_of(record), record["settings"]["game"]
    marks = marks_of(record)
    name = f"{family_of(algorithm)}, {TITLES.get(game, game)}"
    drawing = Drawing(290, f"The curve of {name}")
    evaluations, peer = evaluations_of(folder), peer_of(folder)
    their_curve = peer_curve(peer[1]) if peer else []
    named = {
        name: [[each for each in other if each[0] <= curve[-1][0]] for other in others]
        for name, others in others_of(folder).items()
    }
    others = [*chain(*named.values())]
    beside = list(chain(evaluations, their_curve, *others))
    heights = [score for _, score in (*curve, *beside)]

    # A mark that is far above anything that was reached would squash the curve flat.
    # Where nothing was reached, it is flat anyway.
    reached = max(heights)
    far = 2 * abs(reached) or float("inf")
    above = [(who, score) for who, score in marks if score > far]
    marks = [each for each in marks if each not in above]
    heights += [score for _, score in marks]
    # A flat line has no height, and is drawn at the bottom.
    low, high = min(heights), max(heights) + (len({*heights}) == 1)
    frames = curve[-1][0]

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + x / frames * (RIGHT - LEFT)
        return across, BOTTOM - (y - low) / (high - low) * (BOTTOM - TOP)

    def write_height(score: float) -> None:
        # There is no room for six digits.
        digits = ".0f" if abs(score) >= 10_000 else ".10g"
        number, y = f"{score:,{digits}}".replace("-", "−"), at(0, score)[1]
        size = 13 if len(number) < 6 else 11
        drawing.words(
            LEFT - 6, y + 4, number, colour=FAINT, size=size, text_anchor="end"
        )

    drawing.words(LEFT, 30, name)
    if above:
        drawing.words(
            RIGHT,
            48,
            f"above: {told(above)}",
            colour=FAINT,
            size=13,
            text_anchor="end",
        )
    first = drawn(at(*point) for point in curve)
    behind = {
        name: [drawn(at(*point) for point in each) for each in group]
        for name, group in named.items()
    }
    lines = [first, *chain(*behind.values())]
    groups = together(marks, lambda score: at(0, score)[1])
    alone = [group[0][1] for group in groups if len(group) == 1]
    for score in alone:
        write_height(score)
    for height in round_numbers(low, high):
        y = at(0, height)[1]
        if all(abs(y - at(0, score)[1]) >= CROWDED - 4 for score in alone):
            write_height(height)
    names = draw_groups(drawing, groups, lambda score: at(0, score)[1], lines)
    there = [*lines, *names] + [
        [(float(x), at(0, score)[1]) for x in range(LEFT, RIGHT, APART)]
        for _, score in marks
    ]
    for stroke, (whose, mine) in zip((COLOURS[2], FAINT), behind.items(), strict=False):
        besides = [each for each in there if each not in mine]
        there.append(draw_beside(drawing, besides, mine, whose, stroke=stroke))
    line(drawing, first, stroke=COLOURS[0], stroke_width="2.5")
    if peer:
        theirs = drawn(at(*point) for point in their_curve)
        draw_peer(drawing, theirs, peer[0], beside=bool(others))
    for x, y in (at(*point) for point in evaluations):
        drawing.mark("circle", cx=x, cy=y, r=4, fill=COLOURS[1])
    drawing.words(
        RIGHT,
        30,
        f"{curve[-1][1]:,.4g} at the end".replace("-", "−"),
        colour=COLOURS[0],
        size=13,
        text_anchor="end",
    )
    draw_frames(drawing, frames, seed_of(record))
    return drawing.svg()


def sum_up() -> dict[str, Any]:
    """All runs that are kept, by algorithm, game and seed."""
    found: dict[str, Any] = {}
    for path in sorted(KEPT.glob("*/*/seed-*/run.json")):
        algorithm, game, seed = path.parent.parts[-3:]
        found.setdefault(algorithm, {}).setdefault(game, {})[seed] = summary_of(
            path.parent
        )
    five = {
        side: five_of(found[algorithm], seed)
        for side, (algorithm, seed) in IN_FIVE.items()
        if found.get(algorithm, {}).keys() >= FIVE_GAMES.keys()
    }
    return found | ({"five": five} if five else {})


def five_of(games: dict[str, Any], seed: str) -> dict[str, float]:
    """What the page says about an algorithm that has played the five games."""
    scores = normalised_scores(
        {game: [games[name][seed]["mean"]] for name, game in FIVE_GAMES.items()}
    )
    return {
        "interquartile_mean": float(interquartile_mean(scores)),
        "mean": float(scores.mean()),
        "median": float(np.median(scores.mean(axis=0))),
        "estimated_median": float(estimated_median(scores)),
    }


def figures() -> dict[str, str]:
    """
    The figure of each run, by the name of its file. Those of the five games are
    together in one, which `figures.many` draws.
    """
    found: dict[str, str] = {}
    for folder in sorted(each.parent for each in KEPT.glob("*/*/seed-*/run.json")):
        algorithm, game, seed = folder.parts[-3:]
        is_in_front = TOGETHER.get((algorithm, game), seed) == seed
        if game not in FIVE_GAMES and is_in_front:
            found[f"{figure_name(folder)}.svg"] = draw(folder)
    return found


def main() -> None:
    """Keep, sum up, draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--agents", action="store_true")
    given = parser.parse_args()
    for folder in given.folders:
        keep(folder, agent=given.agents)
    write(sum_up(), SUMMARY)
    for name, figure in figures().items():
        (FOLDER / name).write_text(figure)


if __name__ == "__main__":
    main()
