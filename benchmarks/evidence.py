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
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

from benchmarks import shelf
from benchmarks.record import ROOT, write
from figures import curves
from figures.drawing import FOLDER
from labml_rl.runs import checkpoint
from labml_rl.runs.command import experiment_of
from labml_rl.runs.record import origin
from labml_rl.watch.agent import Protocol, Saved
from labml_rl.watch.many import (
    estimated_median,
    interquartile_mean,
    normalised_scores,
)
from labml_rl.watch.scores import measure

SUMMARY = ROOT / "results" / "runs.json"
FILMS = ROOT / "docs" / "assets" / "films"
GAMES = 30
STILL_QUALITY = 60  # of 100

# What a run computed with. Older ones let the machine choose, and did not note its
# choice.
PRECISIONS = {"auto": "bfloat16 or float32, as the machine chose (not recorded)"}

# After these millions of frames, the page says how far each run had got.
MILESTONES = (1, 2, 4, 6, 8, 10, 20, 40)

# What another library learned with the settings of a run: its name, and the record. Not
# all of the record is for the page.
CURVES = ("curve", "entropy")


def keep(folder: Path, *, agent: bool = False) -> None:
    """Copy the files that say how a run went, and let its agent play."""
    record = json.loads((folder / "run.json").read_text())
    seed = f"seed-{shelf.seed_of(record)}"
    kept = shelf.KEPT / shelf.kind_of(record) / shelf.name_of(record) / seed
    if not shelf.curve_of(folder):
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
        keep_film(folder / "film.mp4", FILMS / f"{shelf.figure_name(kept)}.mp4")


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
        evaluations = shelf.evaluations_of(folder)
        frames, mean = max(evaluations, key=lambda each: each[1])
        chosen = {
            "evaluations": len(evaluations),
            "best": {
                "millions": frames / 1e6,
                "chosen_with": mean,
                **summary_of_scores(folder / "scores-best.json"),
            },
        }
    if peer := shelf.peer_of(folder):
        chosen["peer"] = {
            key: {name: value for name, value in part.items() if name not in CURVES}
            if isinstance(part, dict)
            else part
            for key, part in peer[1].items()
        }
    sessions = record["sessions"]
    first = sessions[0]
    precision = record["settings"]["precision"]
    curve = shelf.curve_of(folder)
    published = shelf.PUBLISHED.get(shelf.name_of(record), {})
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


def sum_up() -> dict[str, Any]:
    """All runs that are kept, by algorithm, game and seed."""
    found: dict[str, Any] = {}
    for path in sorted(shelf.KEPT.glob("*/*/seed-*/run.json")):
        algorithm, game, seed = path.parent.parts[-3:]
        found.setdefault(algorithm, {}).setdefault(game, {})[seed] = summary_of(
            path.parent
        )
    five = {
        side: five_of(found[algorithm], seed)
        for side, (algorithm, seed) in shelf.IN_FIVE.items()
        if found.get(algorithm, {}).keys() >= shelf.FIVE_GAMES.keys()
    }
    return found | ({"five": five} if five else {})


def five_of(games: dict[str, Any], seed: str) -> dict[str, float]:
    """What the page says about an algorithm that has played the five games."""
    scores = normalised_scores(
        {game: [games[name][seed]["mean"]] for name, game in shelf.FIVE_GAMES.items()}
    )
    return {
        "interquartile_mean": float(interquartile_mean(scores)),
        "mean": float(scores.mean()),
        "median": float(np.median(scores.mean(axis=0))),
        "estimated_median": float(estimated_median(scores)),
    }


def main() -> None:
    """Keep, sum up, draw."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--agents", action="store_true")
    given = parser.parse_args()
    for folder in given.folders:
        keep(folder, agent=given.agents)
    write(sum_up(), SUMMARY)
    for name, figure in curves.figures().items():
        (FOLDER / name).write_text(figure)


if __name__ == "__main__":
    main()
