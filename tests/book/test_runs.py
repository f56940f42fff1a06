"""Runs: however often one is interrupted, it comes to the same end."""

import ast
import contextlib
import inspect
import json
import math
import operator
import os
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from gymnasium.envs.classic_control import CartPoleEnv

from labml_rl import runs, worker
from labml_rl.batch import spawn_seeds
from labml_rl.fingerprint import fingerprint
from labml_rl.players import Players
from labml_rl.ppo import experiment as ppo
from labml_rl.runs import checkpoint, curve, loop, record
from labml_rl.runs.command import find_experiment
from labml_rl.runs.folder import RunFolder
from labml_rl.runs.games import GameSettings
from labml_rl.sampling import Sampler
from labml_rl.small import PPOSettings, SmallPPO
from labml_rl.worker import available_cores
from tests.book.future_settings import FutureSettings
from tests.book.interrupted import (
    ROOT,
    Failing,
    PowerFailureError,
    Pressing,
    assert_same_run,
    broken_off,
    curve_of,
)
from tests.book.tiny_runs import Settings, Tiny


def test_a_run_leaves_all_that_is_needed_to_judge_it(whole):
    record = json.loads((whole / "run.json").read_text())
    assert record["algorithm"] == "tiny"
    assert record["frames"] == 640
    assert record["finished"]
    assert record["settings"]["game"] == "CartPole-v1"
    assert record["settings"]["steps"] == 4
    assert (
        eval(
            record["command"].removeprefix("runs.train(tests.book.tiny_runs.Tiny, ")[
                :-1
            ],
            {"Settings": Settings},
        )
        == Settings()
    )
    (session,) = record["sessions"]
    git = ["git", "rev-parse", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    if commit.returncode == 0:
        assert session["commit"] == commit.stdout.strip()
    assert session["versions"]["torch"] == metadata.version("torch")
    assert session["machine"]["cores"] == os.cpu_count()
    assert "labml_rl/runs/loop.py" in session["sources"]

    rows = curve_of(whole)
    assert len(rows) == 80  # updates of 8 frames; there would be room for 500
    assert [int(row["frames"]) for row in rows] == list(range(8, 641, 8))
    assert rows[0]["return_mean"] == ""
    assert float(rows[-1]["return_mean"]) > 5
    assert rows[-1]["return_mean"] == rows[-1]["length_mean"]  # CartPole pays each step


def test_a_commit_is_noted_only_where_the_book_is_in_it(tmp_path, monkeypatch):
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=A", "-c", "user.email=a@b.c")
        command = ["git", *who, "-c", "commit.gpgsign=false", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        return done.stdout.decode().strip()

    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(record, "PACKAGE", package)
    git("init")
    git("commit", "--allow-empty", "--message", "Another program")
    assert record.session(0, Tiny)["commit"] is None
    assert record.session(0, Tiny)["uncommitted_changes"] is None

    git("add", ".")
    git("commit", "--message", "The book")
    assert record.session(0, Tiny)["commit"] == git("rev-parse", "HEAD")
    assert record.session(0, Tiny)["uncommitted_changes"] is False
    (package / "__init__.py").write_text("changed = True")
    assert record.session(0, Tiny)["uncommitted_changes"] is True


def test_the_commit_and_the_code_of_an_experiment_of_ones_own(whole):
    """Of all that it is derived from, down to what the book has."""
    (session,) = json.loads((whole / "run.json").read_text())["sessions"]
    ((file, own),) = session["own_sources"].items()
    assert file == inspect.getsourcefile(Tiny)
    assert own["fingerprint"] == fingerprint(Path(file).read_text(encoding="utf-8"))
    assert own.keys() == {"fingerprint", "commit", "uncommitted_changes"}
    derived = record.session(0, Failing)["own_sources"]
    assert derived.keys() == {file, inspect.getsourcefile(Failing)}
    assert not record.session(0, ppo.Experiment)["own_sources"]


@pytest.mark.parametrize(
    "written",
    [b"\xef\xbb\xbfx = 1\n", b"# -*- coding: latin-1 -*-\nx = 1  # \xfc\n"],
    ids=["mark", "latin-1"],
)
def test_code_of_ones_own_may_be_written_as_python_reads_it(
    written, tmp_path, monkeypatch
):
    file = tmp_path / "mine.py"
    file.write_bytes(written)
    mine = ModuleType("mine")
    mine.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "mine", mine)
    own = record.session(0, type("Mine", (Tiny,), {"__module__": "mine"}))[
        "own_sources"
    ]
    assert own[str(file)]["fingerprint"] == fingerprint("x = 1\n")


def test_code_of_ones_own_may_be_in_a_module_that_was_loaded_by_hand():
    mine = type("Mine", (Tiny,), {"__module__": "of_nobody"})
    (file,) = record.session(0, mine)["own_sources"]
    assert file == inspect.getsourcefile(Tiny)


@pytest.mark.parametrize(
    "name", ["make_network", "think", "game_options", "needs_plan"]
)
def test_what_needs_no_experiment_is_static(name, tmp_path):
    wrong = type("Wrong", (Tiny,), {name: lambda self, *given: None})
    with pytest.raises(runs.RunError, match=rf"Wrong\.{name} needs @staticmethod"):
        runs.train(wrong, Settings(), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_longer_run_without_a_program_is_two_lines_of_python(tmp_path):
    path = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    runs.resume(Tiny, path, total_frames=16)
    command = json.loads((path / "run.json").read_text())["command"]
    assert [type(line.value) for line in ast.parse(command).body] == [ast.Call] * 2


def test_the_same_seed_is_the_same_run_and_another_is_not(whole, tmp_path):
    again = runs.train(
        Tiny, Settings(), folder=tmp_path / "again", checkpoint_minutes=0
    )
    assert_same_run(whole, again)
    other = runs.train(Tiny, Settings(seed=2), folder=tmp_path / "other")
    assert curve_of(whole) != curve_of(other)


@pytest.mark.parametrize(
    "saves_after_each", [pytest.param(True, marks=pytest.mark.long), False]
)
def test_a_run_that_failed_three_times_is_the_same(
    whole, tmp_path, monkeypatch, saves_after_each
):
    path = tmp_path / "run"
    minutes = 0 if saves_after_each else 5
    Failing.fails_at = (1, 33, 79)
    with pytest.raises(PowerFailureError) as caught:
        runs.train(Failing, Settings(), folder=path, checkpoint_minutes=minutes)
    left = f"of {8 * saves_after_each} frames; to go on from there: "
    way = loop.way_to_resume(Failing, path, checkpoint_minutes=minutes)
    assert f"{left}{way}" in caught.value.__notes__[0]
    for _ in range(2):
        with pytest.raises(PowerFailureError):
            runs.resume(Failing, path, checkpoint_minutes=minutes)
    runs.resume(Failing, path, checkpoint_minutes=minutes)
    assert_same_run(whole, path)

    sessions = json.loads((path / "run.json").read_text())["sessions"]
    begun = [0, 8, 33 * 8, 79 * 8] if saves_after_each else [0, 0, 0, 0]
    assert [session["from_frames"] for session in sessions] == begun


def test_a_run_that_failed_between_two_rows_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(curve, "ROWS", 7)
    once = runs.train(Tiny, Settings(), folder=tmp_path / "once")
    assert len(curve_of(once)) == 7
    Failing.fails_at = (3, 15, 33)
    path = tmp_path / "run"
    with pytest.raises(PowerFailureError):
        runs.train(Failing, Settings(), folder=path, checkpoint_minutes=0)
    for _ in range(2):
        with pytest.raises(PowerFailureError):
            runs.resume(Failing, path, checkpoint_minutes=0)
    runs.resume(Failing, path)
    assert_same_run(once, path)


@pytest.mark.parametrize(
    ("spoil_at", "what"), [(-5, "loss is nan"), (5, "a weight of the network is not")]
)
def test_nan_stops_it_and_the_last_good_checkpoint_stays(tmp_path, spoil_at, what):
    path = tmp_path / "run"
    with pytest.raises(runs.NotFiniteError, match=what) as caught:
        runs.train(Tiny, Settings(spoil_at=spoil_at), folder=path, checkpoint_minutes=0)
    message = str(caught.value)
    assert "after 40 frames, in update 5" in message
    assert f"of 32 frames, is {path / 'checkpoint.safetensors'}" in message
    assert "smaller learning rate" in message
    state = checkpoint.load(path / "checkpoint.safetensors")
    assert state["frames"] == 32
    assert all(each.isfinite().all() for each in state["network"].values())


def test_what_can_not_be_made_longer_is_not_said_to_be(tmp_path):
    path = runs.train(Planned, Settings(total_frames=8), folder=tmp_path / "run")
    with pytest.raises(runs.RunError, match=r"complete run already, of 8 .*") as caught:
        runs.train(Planned, Settings(), folder=path)
    assert "longer" not in str(caught.value)
    assert "choose another seed" in str(caught.value)


class Sticky(Tiny):
    """Its games ignore an action now and then."""

    @staticmethod
    def game_options(settings: Any) -> dict[str, Any]:
        return {"sticky_actions": 0.25}


def test_an_atari_game_goes_on_in_the_middle(tmp_path):
    settings = Settings(game="ms pacman", total_frames=384, workers=1)
    whole = runs.train(Tiny, settings, runs=tmp_path / "whole")
    assert whole == tmp_path / "whole" / "tiny" / "ms_pacman" / "seed-1"
    path = broken_off(tmp_path / "run", 7, settings, minutes=0)
    runs.resume(Failing, path)
    assert_same_run(whole, path)


def test_a_run_that_fails_in_its_first_update_leaves_nothing(tmp_path):
    """Whoever writes an algorithm tries again with the same command."""
    path = tmp_path / "runs" / "run"
    Failing.fails_at = (0,)
    with pytest.raises(PowerFailureError) as caught:
        runs.train(Failing, Settings(), folder=path)
    assert not hasattr(caught.value, "__notes__")
    assert not list(tmp_path.iterdir())
    runs.train(Failing, Settings(), folder=path)


def test_a_run_that_would_never_end_says_so(tmp_path):
    class Endless(Tiny):
        def update(self) -> Any:
            before = self.frames
            metrics = super().update()
            self.frames = before
            return metrics

    with pytest.raises(ValueError, match=r"update\(\) must count up frames, or"):
        runs.train(Endless, Settings(), folder=tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_a_run_whose_settings_change_says_so_at_once(tmp_path):
    class Fading(Tiny):
        def update(self) -> Any:
            metrics = super().update()
            self.settings = replace(self.settings, steps=3)
            return metrics

    with pytest.raises(ValueError, match=r"after update\(\) the settings must be"):
        runs.train(Fading, Settings(), folder=tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "a/b", "..", None])
def test_an_algorithm_needs_a_name_that_a_folder_can_have(tmp_path, name):
    class Nameless(Tiny):
        algorithm = name

    with pytest.raises(runs.RunError, match=f"Nameless needs the name .* {name!r}"):
        runs.train(Nameless, Settings(), runs=tmp_path)
    assert not list(tmp_path.iterdir())


def test_how_a_run_is_resumed_from_python_and_from_a_program():
    assert loop.way_to_resume(Tiny, "a b") == "runs.resume(Tiny, 'a b')"
    assert loop.way_to_resume(Tiny, "a b", "python c.py") == "python c.py resume 'a b'"
    assert loop.way_to_resume(ppo.Experiment, "a") == "labml-rl resume a"
    assert loop.way_to_resume(ppo.Experiment, "-a") == "labml-rl resume ./-a"
    longer = loop.way_to_resume(ppo.Experiment, "a", total_frames=2000)
    assert longer == "labml-rl resume a --total-frames 2_000"
    seldom = loop.way_to_resume(Tiny, "a", "c.py", checkpoint_minutes=60.0)
    assert seldom == "c.py resume a --checkpoint-minutes 60"
    often = loop.way_to_resume(Tiny, "a", checkpoint_minutes=0.5)
    assert often == "runs.resume(Tiny, 'a', checkpoint_minutes=0.5)"


def test_how_often_it_was_saved_is_in_what_is_said_to_type(tmp_path):
    options: dict[str, Any] = {"checkpoint_minutes": 30, "program": "mine"}
    again = "resume .* --checkpoint-minutes 30$"
    with pytest.raises(runs.Stopped, match=again):
        runs.train(Pressing, Settings(), folder=tmp_path / "run", **options)
    with pytest.raises(runs.Stopped, match=r"resume .*/run$"):
        runs.train(Pressing, Settings(), folder=tmp_path / "b" / "run", program="mine")


def test_a_run_that_can_not_go_on_the_same_says_so(tmp_path, capsys):
    said = []
    for name, game in (("a", "Pong"), ("b", "Qbert"), ("c", "Pong")):
        settings = Settings(game=game, total_frames=64)
        experiment = {"c": Sticky}.get(name, Tiny)
        path = runs.train(experiment, settings, folder=tmp_path / name)
        assert "may differ" not in capsys.readouterr().err
        runs.resume(experiment, path, total_frames=96)
        said.append(capsys.readouterr().err)
        runs.resume(experiment, path)
        assert "may differ" not in capsys.readouterr().err, "it is complete"
    same, qbert, sticky = said
    assert "may differ" not in same
    assert "may differ from those of a run that never stopped: the emul" in qbert
    assert "stopped: which action a sticky one repeats" in sticky


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("num_envs", 2, "num_envs was 4 and is 2"),
        ("seed", 5, "seed was 1 and is 5"),
    ],
)
def test_settings_that_were_edited_are_named(tmp_path, name, value, said):
    path = runs.train(Tiny, Settings(num_envs=4), folder=tmp_path / "run")
    file = path / "run.json"
    record = json.loads(file.read_text()) | {"finished": False}
    before = record["settings"] | {}
    record["settings"][name] = value
    file.write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match=f"{file} was changed: {said}"):
        runs.resume(Tiny, path)
    # Put back, it goes on; and a run may be longer than it was.
    longer = before["total_frames"] + 16
    record["settings"] = before | {"total_frames": longer}
    file.write_text(json.dumps(record))
    runs.resume(Tiny, path)
    assert json.loads(file.read_text())["frames"] == longer


def test_a_plan_that_was_edited_is_named(tmp_path):
    class Planned(Tiny):
        @staticmethod
        def needs_plan(settings: Any) -> str:
            return "it follows one"

    path = runs.train(Planned, Settings(), folder=tmp_path / "run")
    file = path / "run.json"
    record = json.loads(file.read_text()) | {"finished": False}
    record["settings"]["total_frames"] += 8
    file.write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match=f"{file} was changed: total_frames was"):
        runs.resume(Planned, path)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rate", "much", "rate must be a number, not 'much'"),
        ("how", "soon", "how must be 'slow' or 'fast', not 'soon'"),
        ("seed", "one", "seed must be"),
    ],
)
def test_types_that_are_kept_as_text_are_looked_at(name, value, said):
    with pytest.raises(ValueError, match=said):
        FutureSettings(**{name: value})
    FutureSettings(rate=1, how="fast", workers=None)


def test_a_curve_that_was_deleted_comes_back(whole, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(runs.Stopped):
        runs.train(Pressing, Settings(), folder=path)
    (path / "progress.csv").unlink()
    runs.resume(Tiny, path)
    assert curve_of(path) == curve_of(whole)


class Planned(Tiny):
    @staticmethod
    def needs_plan(settings: Any) -> str:
        return "the clock runs down"


def test_a_run_can_be_made_longer(tmp_path):
    """It ends where one ends that was planned so, and says how it came there."""
    planned = runs.train(Tiny, Settings(total_frames=960), folder=tmp_path / "planned")
    path = runs.train(Tiny, Settings(), folder=tmp_path / "run", command="run")
    assert runs.resume(Tiny, path, total_frames=960) == path
    assert_same_run(planned, path)
    record = json.loads((path / "run.json").read_text())
    assert record["finished"]
    assert record["frames"] == record["settings"]["total_frames"] == 960
    assert record["command"] == (
        f"run && runs.resume(Tiny, '{path}', total_frames=960)"
    )
    assert [each["from_frames"] for each in record["sessions"]] == [0, 640]


def test_a_longer_run_that_is_killed_is_not_finished(tmp_path):
    path = runs.train(Tiny, Settings(), folder=tmp_path / "run")
    Failing.fails_at = (100,)
    with pytest.raises(PowerFailureError):
        runs.resume(Failing, path, total_frames=960)
    assert not json.loads((path / "run.json").read_text())["finished"]
    runs.resume(Tiny, path)
    assert json.loads((path / "run.json").read_text())["frames"] == 960


def test_what_follows_a_plan_is_not_made_longer(tmp_path):
    path = runs.train(Planned, Settings(), folder=tmp_path / "run")
    before = (path / "run.json").read_bytes()
    for frames, message in ((640, "only be made longer"), (960, "the clock runs down")):
        with pytest.raises(runs.RunError, match=message):
            runs.resume(Planned, path, total_frames=frames)
    assert (path / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("algorithm", "options", "may"),
    [
        ("ppo", {}, False),
        ("a2c", {}, False),
        ("dqn", {}, True),
        ("dqn", {"prioritised": True}, False),
        ("fast-dqn", {}, True),
    ],
)
def test_which_algorithms_follow_a_plan(algorithm, options, may):
    experiment = find_experiment(algorithm)
    settings = experiment.settings_class(**options)
    assert (experiment.needs_plan(settings) is None) == may


CHOSEN: list[dict[str, Any]] = [
    {
        "clip_rewards": True,
        "episodic_life": True,
        "sticky_actions": 0.0,
        "full_action_space": False,
    },
    {
        "clip_rewards": False,
        "episodic_life": False,
        "sticky_actions": 0.25,
        "full_action_space": True,
    },
]


def test_nothing_that_is_chosen_of_a_game_is_left_out():
    for chosen in CHOSEN:
        assert chosen.keys() == GameSettings.__annotations__.keys(), "add it to CHOSEN"


@pytest.mark.parametrize("chosen", CHOSEN, ids=["as usual", "all else"])
@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("ppo", {"players": True}),
        ("ppo", {"players": False}),
        ("dqn", {"capacity": 200, "warm_up_steps": 40}),
    ],
    ids=["ppo", "ppo without players", "dqn"],
)
def test_what_is_chosen_of_a_game_is_so_in_the_games(algorithm, options, chosen):
    found = find_experiment(algorithm)
    settings = found.settings_class(
        game="Breakout", workers=0, num_envs=2, **options, **chosen
    )
    with contextlib.closing(found(settings)) as experiment:
        games: Any = experiment.games
        if isinstance(games, Players):
            games = games.own[0].games
        elif isinstance(games, Sampler):
            games = games.players[0].games
        for each in games.get_attr("options"):
            assert {name: getattr(each, name) for name in chosen} == chosen


def test_other_settings_than_those_of_today_are_named(tmp_path):
    path = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    record = json.loads((path / "run.json").read_text())
    record["settings"]["momentum"] = 0.9
    record["finished"] = False
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match="of another version: momentum is unknown"):
        runs.resume(Tiny, path)
    record["sessions"] = [{}]
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match="Its commit was None"):
        runs.resume(Tiny, path)
    record["settings"] = vars(Settings()) | {"num_envs": "two"}
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(runs.RunError, match=r"run\.json make no sense: num_envs must"):
        runs.resume(Tiny, path)
    for damaged, said in (("{", "can't be read"), ("[]", "is not what a run has")):
        (path / "run.json").write_text(damaged)
        with pytest.raises(runs.RunError, match=rf"run\.json {said}"):
            runs.resume(Tiny, path)


@pytest.mark.usefixtures("same_threads_afterwards")
def test_a_run_goes_on_with_as_many_threads():
    """Another number of them adds up in another order."""
    with contextlib.closing(Tiny(Settings(total_frames=16))) as experiment:
        torch.set_num_threads(1)
        state = experiment.get_state()
        torch.set_num_threads(2)
        experiment.set_state(state)
        assert torch.get_num_threads() == 1
        experiment.set_state(state | {"threads": 10_000})
        assert torch.get_num_threads() == available_cores()
        del state["threads"]  # as in an older checkpoint
        torch.set_num_threads(1)
        experiment.set_state(state)
        assert torch.get_num_threads() == 1


def counting_threads(experiment: type[Tiny]) -> tuple[type[Tiny], list[int]]:
    """The same, and how many threads there were in each of its updates."""
    seen: list[int] = []

    def update(self: Tiny) -> dict[str, float]:
        seen.append(torch.get_num_threads())
        return experiment.update(self)

    return type("Counting", (experiment,), {"update": update}), seen


@pytest.mark.usefixtures("same_threads_afterwards")
def test_a_run_has_no_more_threads_than_a_container_has_cores(tmp_path, monkeypatch):
    limit = tmp_path / "cpu.max"
    limit.write_text("100000 100000")
    monkeypatch.setattr(worker, "CPU_MAX", limit)
    torch.set_num_threads(2)
    counting, seen = counting_threads(Tiny)
    path = runs.train(counting, Settings(total_frames=8), folder=tmp_path / "run")
    record = json.loads((path / "run.json").read_text())
    assert {*seen, record["sessions"][0]["machine"]["threads"]} == {1}
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("same_threads_afterwards")
def test_what_follows_a_run_has_as_many_threads_as_before(tmp_path):
    torch.set_num_threads(1)
    broken_off(tmp_path / "run", 4, minutes=0)
    torch.set_num_threads(2)
    counting, seen = counting_threads(Failing)
    runs.resume(counting, tmp_path / "run")
    assert {*seen} == {1}
    assert torch.get_num_threads() == 2


def test_a_run_that_is_older_than_a_setting_goes_on(tmp_path):
    """It has the default, with which everything is as it was."""
    path = broken_off(tmp_path / "run", 4, minutes=0) / "run.json"
    record = json.loads(path.read_text())
    del record["settings"]["hold"]
    path.write_text(json.dumps(record))
    runs.resume(Failing, tmp_path / "run")
    found = json.loads(path.read_text())
    assert found["finished"]


def test_a_checkpoint_of_another_run_is_refused(whole, tmp_path):
    path = broken_off(tmp_path / "run", 1, Settings(game="Acrobot-v1"))
    file = path / "checkpoint.safetensors"
    file.write_bytes((whole / "checkpoint.safetensors").read_bytes())
    said = r"is of tiny in CartPole-v1, and the run is of tiny in Acrobot-v1\. Put"
    with pytest.raises(runs.CheckpointError, match=said):
        runs.resume(Tiny, path)


def test_a_checkpoint_that_is_none_of_a_run_is_refused(tmp_path):
    """What is kept of the best agent is not enough to go on."""
    path = broken_off(tmp_path / "run", 1)
    state = checkpoint.load(path / "checkpoint.safetensors", only=("network",))
    checkpoint.save(path / "checkpoint.safetensors", state)
    with pytest.raises(runs.CheckpointError, match="is of no run, and"):
        runs.resume(Tiny, path)


def test_what_an_optimiser_remembers_is_not_shared():
    """Of a state in memory, two experiments can go on without disturbing each other."""
    settings = PPOSettings(total_frames=5_000)
    with (
        contextlib.closing(SmallPPO(settings)) as one,
        contextlib.closing(SmallPPO(settings)) as other,
    ):
        one.advance()
        state = deepcopy(one.get_state())
        losses = []
        for each in (one, other):
            each.set_state(state)
        for each in (one, other, one, other):
            losses.append(each.update()["loss"])
    assert losses[0] == losses[1]
    assert losses[2] == losses[3]
    mine, theirs = (
        {each.data_ptr() for kept in states.values() for each in kept.values()}
        for states in (one.optimizer.state, other.optimizer.state)
    )
    assert not mine & theirs


def test_dice_of_weights_and_actions_are_apart():
    experiment = Tiny(Settings())
    weights = torch.initial_seed()
    assert weights != experiment.generator.initial_seed()
    settings = experiment.settings
    games = spawn_seeds(settings.seed, settings.num_envs)
    assert {weights, experiment.generator.initial_seed()}.isdisjoint(games)
    experiment.close()


@pytest.mark.parametrize("number", [math.inf, -math.inf])
def test_what_is_infinite_stops_it_as_well(number):
    class Spoilt(Tiny):
        def spoilt(self, metrics: dict[str, float]) -> dict[str, float]:
            return metrics | {"loss": number}

    class Heavy(Tiny):
        def spoilt(self, metrics: dict[str, float]) -> dict[str, float]:
            torch.nn.init.constant_(next(self.network.parameters()), number)
            return metrics

    for kind, said in ((Spoilt, f"loss is {number}"), (Heavy, "a weight of the net")):
        with (
            contextlib.closing(kind(Settings())) as experiment,
            pytest.raises(runs.NotFiniteError, match=said),
        ):
            experiment.advance()


def test_what_is_left_is_said_of_a_run_that_goes_on_too(tmp_path):
    """It fails in the first update after it was resumed."""
    path = broken_off(tmp_path / "run", 3, minutes=0)
    Failing.fails_at = (3,)
    with pytest.raises(PowerFailureError) as caught:
        runs.resume(Failing, path)
    (note,) = caught.value.__notes__
    assert "is of 24 frames; to go on from there: " in note


def test_a_run_whose_last_row_was_not_written_is_not_finished(
    whole, tmp_path, monkeypatch
):
    path, write = tmp_path / "run", curve.Curve._write

    def full(self: Any, row: Any) -> None:
        write(self, row)
        if self._experiment.done:
            raise runs.RunError("progress.csv can't be written")

    monkeypatch.setattr(curve.Curve, "_write", full)
    with pytest.raises(runs.RunError, match="can't be written"):
        runs.train(Tiny, Settings(), folder=path)
    monkeypatch.undo()
    assert not json.loads((path / "run.json").read_text())["finished"]
    (path / "progress.csv").unlink()
    runs.resume(Tiny, path)
    assert_same_run(whole, path)


def test_numbers_that_explode_at_once_leave_their_folder(tmp_path):
    path = tmp_path / "run"
    with pytest.raises(runs.NotFiniteError, match="of 0 frames, is"):
        runs.train(Tiny, Settings(spoil_at=-1), folder=path)
    assert json.loads((path / "run.json").read_text())["frames"] == 0


def test_the_time_before_a_stop_is_kept(tmp_path, monkeypatch):
    now = [50.0]
    monkeypatch.setattr(curve, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with contextlib.closing(Tiny(Settings())) as experiment:
        before = curve.Curve(RunFolder(tmp_path), experiment)
        now[0] += 15
        state = before.get_state()
        after = curve.Curve(RunFolder(tmp_path), experiment)
        after.set_state(state)
        now[0] += 20
        assert after.get_state()["seconds"] == 35


def test_an_environment_that_goes_elsewhere_takes_no_run_along(tmp_path, monkeypatch):
    """There, a run of the same name may lie, and would be overwritten."""
    reset, elsewhere = CartPoleEnv.reset, tmp_path / "elsewhere"
    (elsewhere / "runs" / "one").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def away(self: Any, *, seed: int | None = None, options: Any = None) -> Any:
        os.chdir(elsewhere)
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(CartPoleEnv, "reset", away)
    found = runs.train(Tiny, Settings(total_frames=16), folder="runs/one")
    assert found == Path("runs/one")
    assert not list((elsewhere / "runs" / "one").iterdir())
    assert checkpoint.load(tmp_path / "runs/one/checkpoint.safetensors")["frames"] == 16


def test_what_an_environment_lacks_is_not_missed_in_the_checkpoint(
    tmp_path, monkeypatch
):
    """It plays its episode again, and may have been changed meanwhile."""
    path = broken_off(tmp_path / "run", 3, minutes=0)
    monkeypatch.setattr(CartPoleEnv, "step", lambda *_: operator.getitem({}, "gold"))
    with pytest.raises(KeyError, match="gold"):
        runs.resume(Tiny, path)


def test_a_checkpoint_that_lacks_something_is_refused(tmp_path):
    path = broken_off(tmp_path / "run", 1)
    state = checkpoint.load(path / "checkpoint.safetensors")
    for name in ("optimizer", "curve", "evaluations", "frames"):
        rest = {key: value for key, value in state.items() if key != name}
        checkpoint.save(path / "checkpoint.safetensors", rest)
        with pytest.raises(runs.CheckpointError, match=f"it has no '{name}'"):
            runs.resume(Tiny, path)
