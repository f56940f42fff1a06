"""The command line: what can be typed, and what is said to what makes no sense."""

import io
import json
import multiprocessing
import os
import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

import labml_rl
from labml_rl import __main__ as program
from labml_rl import runs
from labml_rl.algorithms import ABOUT, ALGORITHMS
from labml_rl.game import available_games
from labml_rl.process import STOP_SIGNALS, WorkerError
from labml_rl.runs import command, curve, loop
from labml_rl.runs.bar import Bar
from labml_rl.runs.folder import write_whole
from labml_rl.small import PPOSettings, SmallPPO
from tests.book.test_gpu import TINY
from tests.book.tiny_runs import Settings, Tiny

SMALL = ["--total-frames", "16"]


def exit_of(do: Any, *arguments: Any) -> int | str | None:
    with pytest.raises(SystemExit) as caught:
        do(*arguments)
    return caught.value.code


def test_what_is_printed_has_no_orders_to_a_terminal():
    assert command.harmless("a\x1bc\x9b2J\nb") == "ac2J\nb"


def test_help_is_the_docstring_in_plain_words(capsys):
    assert exit_of(runs.main, Tiny, ["--help"]) == 0
    said = capsys.readouterr().out
    joined = " ".join(said.replace("│", " ").split())
    assert "Those of a small experiment." in joined
    assert "how many a round has, see Tiny and num_envs. (default: 4)" in joined
    assert "an Atari game, such as Breakout, or a Gymnasium environment" in joined
    assert "(default: CartPole-v1)" in joined
    assert "how often to save a checkpoint, and so how much work is at risk" in joined
    for mark in ("##", "`", "](", "]["):
        assert mark not in said


@dataclass(frozen=True, kw_only=True)
class Penalised(Settings):
    penalty: float = 0.5


def test_help_of_settings_without_a_docstring_has_no_signature(capsys):
    """`dataclass` writes one in its place."""

    class PenalisedTiny(Tiny):
        settings_class = Penalised

    assert str(Penalised.__doc__).startswith("Penalised(")
    assert exit_of(runs.main, PenalisedTiny, ["--help"]) == 0
    said = capsys.readouterr().out
    assert "Penalised(" not in said
    assert "--penalty" in said
    assert "an Atari game, such as Breakout" in " ".join(said.replace("│", " ").split())


def test_help_says_of_a_setting_what_the_algorithm_says_of_it(capsys):
    """And not what the settings say that it is derived from."""
    assert exit_of(program.main, ["train", "ppo", "--help"]) == 0
    joined = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "--learning-rate FLOAT of Adam, at the beginning." in joined
    assert "All games together then make the batch" in joined
    assert "--discount FLOAT the discount factor" in joined, "which it leaves to them"


def test_options_are_settings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--total-frames", "2e1", "--steps", "2", "--seed", "7", "--runs", "mine"]
    assert exit_of(runs.main, Tiny, options) == 0
    assert "complete: mine/tiny/CartPole-v1/seed-7" in capsys.readouterr().out
    record = json.loads(Path("mine/tiny/CartPole-v1/seed-7/run.json").read_text())
    expected = Settings(total_frames=20, steps=2, seed=7).decided()
    assert record["settings"] == vars(expected)
    assert record["command"].endswith(" ".join(options))


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--num-envs", "0"], "num_envs must be at least 1, not 0"),
        (["--num-env", "3"], "--num-envs"),
        (["--checkpoint-minutes", "-3"], "checkpoint_minutes must be at least 0, not"),
        (["--checkpoint-minutes", "nan"], "checkpoint_minutes must be at least 0, not"),
        (["--game", "Nonsense"], "no game 'Nonsense'. `labml-rl games`, or"),
        (["--seed", "one"], "one"),
        (["--game", "Pacmann"], "the nearest is 'pacman'"),
        (["--device", "cuda:77"], "no device 'cuda:77' here"),
        (["resume", "nothing"], "nothing is not the folder of a run"),
        (["resume"], "required"),
        (["watch", "nothing"], "nothing is not the folder of a run"),
        (["--folder", __file__], "test_runs_command.py is no folder"),
        (["resume", __file__], "is not the folder of a run"),
        (
            ["resume", "nothing", "--checkpoint-minutes", "-3"],
            "checkpoint_minutes must be at least 0, not -3",
        ),
    ],
)
def test_mistakes_are_answered_with_a_sentence(
    tmp_path, monkeypatch, capsys, typed, said
):
    monkeypatch.chdir(tmp_path)
    assert exit_of(runs.main, Tiny, typed) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kernel", ["ipykernel_launcher", "colab_kernel_launcher"])
def test_a_notebook_is_told_what_to_write_instead(monkeypatch, capsys, kernel):
    typed = [f"/usr/lib/python3/{kernel}.py", "-f", "/root/kernel-1.json"]
    monkeypatch.setattr(sys, "argv", typed)
    assert exit_of(runs.main, Tiny) == 2
    said = capsys.readouterr().err
    assert said.startswith("labml-rl: a notebook has no command line. ")
    assert "runs.train(Tiny, Settings(seed=1))" in said


def test_a_second_run_is_refused_with_what_to_type(tmp_path, capsys):
    folder = tmp_path / "a run"
    assert exit_of(runs.main, Tiny, [*SMALL, "--folder", str(folder)]) == 0
    assert exit_of(runs.main, Tiny, [*SMALL, "--folder", str(folder)]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "has a complete run already" in said
    assert f"resume '{folder}', with more total_frames" in said
    assert exit_of(runs.main, Tiny, ["resume", str(folder)]) == 0


def test_a_run_is_made_longer(tmp_path, capsys):
    folder = tmp_path / "run"
    assert exit_of(runs.main, Tiny, [*SMALL, "--folder", str(folder)]) == 0
    longer = ["resume", str(folder), "--total-frames", "3.2e1"]
    assert exit_of(runs.main, Tiny, longer) == 0
    record = json.loads((folder / "run.json").read_text())
    assert record["frames"] == record["settings"]["total_frames"] == 32
    assert record["finished"]


def test_a_run_that_fails_ends_with_one(tmp_path, capsys):
    folder = tmp_path / "run"
    typed = [*SMALL, "--spoil-at", "-1", "--folder", str(folder)]
    assert exit_of(runs.main, Tiny, typed) == 1
    assert "labml-rl: loss is nan after 8 frames" in capsys.readouterr().err


def test_a_disk_that_is_full_later_ends_it_with_what_is_left(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(curve.Curve, "_write", lambda *_: write_whole(tmp_path, ""))
    folder = tmp_path / "run"
    assert exit_of(runs.main, Tiny, [*SMALL, "--folder", str(folder)]) == 1
    said = capsys.readouterr().err
    assert f"{tmp_path} can't be written: Is a directory. The checkpoint" in said
    assert (
        f"of 8 frames; to go on from there: {command.program_of(Tiny)} resume" in said
    )


class Crowded(Tiny):
    """Another program has all the memory."""

    def update(self) -> dict[str, float]:
        if self.updates:
            (worker,) = multiprocessing.active_children()
            os.kill(worker.pid or 0, signal.SIGKILL)
        return super().update()


def test_a_worker_that_is_killed_ends_it_with_a_sentence(tmp_path, capsys):
    folder = tmp_path / "run"
    options = ["--num-envs", "6", "--workers", "2", "--folder", str(folder)]
    assert exit_of(runs.main, Crowded, options) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert re.search(
        r"labml-rl: worker 0 with .*, … .*: killed by SIGKILL, often because memory "
        r"ran out\. A run with fewer num_envs or workers needs less\. The checkpoint .*"
        f"to go on from there: .* resume {folder}",
        said,
    )


def test_what_a_worker_has_to_say_is_said():
    def fail() -> None:
        raise WorkerError("worker 0: Traceback …")

    with pytest.raises(WorkerError, match="Traceback"):
        command.run(fail)


def test_who_is_to_be_called_to_resume(monkeypatch):
    def begun_with(module: str | None) -> None:
        spec = None if module is None else SimpleNamespace(name=module)
        monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))

    of_the_book = (None, command.find_experiment("ppo"))
    begun_with("mine.game")
    assert command.program_of(Tiny) == "python -m mine.game"
    for each in of_the_book:
        assert command.program_of(each) == "labml-rl"
    for module in ("labml_rl.__main__", "labml_rl.ppo.__main__"):
        begun_with(module)
        for each in of_the_book:
            assert command.program_of(each) == "python -m labml_rl"
    begun_with(None)
    monkeypatch.setattr(sys, "argv", ["my game.py", "--seed", "2"])
    assert command.program_of(Tiny) == "python 'my game.py'"
    for each in of_the_book:
        assert command.program_of(each) == "labml-rl"


def test_what_a_stopped_run_says_is_there_to_be_typed(tmp_path):
    """Only with `python -m`, the folder that one is in is searched for modules."""
    (tmp_path / "mine.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Cart-v0', gymnasium.spec('CartPole-v1').entry_point)\n"
    )

    def say(*typed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "labml_rl", *typed],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    typed = ["train", "small-dqn", "--game", "mine:Cart-v0", "--total-frames", "1024"]
    assert "The run is complete" in say(*typed)
    assert "make it longer: python -m labml_rl resume" in say(*typed)
    record = json.loads(next(tmp_path.glob("runs/*/*/*/run.json")).read_text())
    assert record["command"] == f"python -m labml_rl {shlex.join(typed)}"


def test_the_gpu_is_tried_with_all_algorithms():
    large = {name for name in ALGORITHMS if not name.startswith("small-")}
    assert TINY.keys() == large, "TINY in tests/book/test_gpu.py has to have all"


def test_the_help_says_something_of_each_algorithm():
    assert list(ABOUT) == list(ALGORITHMS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_algorithms_are_found_and_explain_their_settings(algorithm, capsys):
    found = command.find_experiment(algorithm)
    assert found.algorithm == algorithm
    assert exit_of(program.main, ["train", algorithm, "--help"]) == 0
    said = capsys.readouterr().out
    # No formula, no mark, and no sentence that leads up to something.
    assert not re.search(r"[$`\\]|:[\s│]*─", said)
    assert f"usage: labml-rl train {algorithm}" in said
    assert "##" not in said


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ([], "usage: labml-rl COMMAND"),
        (["--help"], "labml-rl watch FOLDER"),
        (["--help"], f"ALGORITHM is one of {', '.join(ALGORITHMS)}."),
        (["train", "--help"], "  drq                  DQN for two hours of play"),
        (["train"], f"train what? There are {', '.join(ALGORITHMS)}."),
        (["train", "--seed", "1"], "train what?"),
        (["train", "sarsa"], "no algorithm 'sarsa'; there are"),
        (["train", "Small_PPO"], "no algorithm 'Small_PPO' (is it small-ppo?); there"),
        (["play"], "no command 'play'"),
        (["resume", "nothing"], "nothing is not the folder of a run"),
        (["watch", "nothing"], "nothing is not the folder of a run"),
    ],
)
def test_the_program_of_the_book(tmp_path, monkeypatch, capsys, typed, said):
    monkeypatch.chdir(tmp_path)
    assert exit_of(program.main, typed) == (0 if "--help" in typed else 2)
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert said in " ".join(lines) + printed.err
    assert all(len(line) <= 80 for line in lines)


def test_the_games_are_listed(capsys):
    assert exit_of(program.main, ["games"]) == 0
    assert capsys.readouterr().out.split() == list(available_games())


WRONG: dict[str, list[list[str]]] = {
    "ppo": [
        ["--epochs", "0"],
        ["--clip", "-1"],
        ["--value-clip", "-1"],
        ["--gae-lambda", "-2"],
        ["--discount", "1.5"],
        ["--max-divergence", "-1"],
        ["--max-gradient-norm", "-10"],
        ["--learning-rate", "inf"],
        ["--value-coefficient", "nan"],
        ["--adam-epsilon", "0"],
    ],
    "a2c": [["--decay", "3"], ["--rms-epsilon", "-1"], ["--entropy-coefficient", "-1"]],
    "dqn": [
        ["--max-gradient-norm", "-10"],
        ["--rms-decay", "3"],
        ["--epsilon-steps", "-4"],
        ["--sticky-actions", "2"],
        ["--total-frames", "200_000"],
    ],
}


@pytest.mark.parametrize(
    ("algorithm", "typed"),
    [(algorithm, each) for algorithm, all_of in WRONG.items() for each in all_of],
)
def test_settings_of_which_nothing_can_come_are_refused(
    tmp_path, monkeypatch, capsys, algorithm, typed
):
    monkeypatch.chdir(tmp_path)
    assert exit_of(program.main, ["train", algorithm, *typed]) == 2
    said = capsys.readouterr().err
    name = typed[0].removeprefix("--").replace("-", "_")
    assert f"{name} must be" in said or "warm_up_steps must be fewer" in said
    assert not list(tmp_path.iterdir())


def test_who_stops_reading_what_is_printed_sees_no_traceback():
    talk = "[print(each) for each in range(100_000)]"
    source = f"from labml_rl.runs.command import run; run(lambda: {talk})"
    script = f"{shlex.quote(sys.executable)} -c {shlex.quote(source)} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {script}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "0\n"
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("typed", ["train --help", "train ppo --help"])
def test_who_does_not_read_the_help_sees_no_traceback(typed):
    command = f"{shlex.quote(sys.executable)} -m labml_rl {typed}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | true"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE


def test_a_pipe_that_an_environment_has_lost_is_an_error():
    """Its simulator may have died. Nothing is wrong with what was printed."""

    def step() -> None:
        raise BrokenPipeError("to the simulator")

    with pytest.raises(BrokenPipeError, match="to the simulator"):
        command.run(step)


@pytest.mark.skipif(sys.platform != "linux", reason="the full disk is that of Linux")
def test_a_disk_on_which_there_is_no_room_for_what_is_printed_is_one_sentence():
    for flush in (True, False):
        talk = f"print('all of it', flush={flush})"
        source = f"from labml_rl.runs.command import run; run(lambda: {talk})"
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-c", source],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        assert done.returncode == 1
        assert done.stderr == (
            "labml-rl: what was to be printed can't be: No space left on device\n"
        )


@pytest.mark.skipif(sys.platform != "linux", reason="the full disk is that of Linux")
def test_an_error_that_nobody_can_hear_has_its_exit_status():
    source = "from labml_rl.runs.command import _refuse, run; run(_refuse, 'it fails')"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", source], stdout=full, stderr=full, check=False
        )
    assert done.returncode == 2


def test_a_file_that_is_missing_elsewhere_has_its_traceback():
    with pytest.raises(FileNotFoundError):
        command.run(lambda: print(Path("nowhere/to/be/found").read_text()))


@pytest.mark.usefixtures("same_signals")
@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_who_is_asked_to_stop_clears_up(number, monkeypatch):
    done = []

    def play():
        try:
            signal.raise_signal(number)
        finally:
            done.append("cleared up")

    before = signal.signal(number, signal.getsignal(number))
    assert exit_of(command.run, play) == 128 + number
    assert done == ["cleared up"]
    # An echo does nothing, and what comes later is answered as before.
    signal.raise_signal(number)
    monkeypatch.setattr("labml_rl.runs.signals.ECHO_SECONDS", 0)
    answer: Any = signal.getsignal(number)
    with mock.patch.object(signal, "raise_signal") as handed_on:
        answer(number, None)
    handed_on.assert_called_once_with(number)
    assert signal.getsignal(number) is before


def test_what_is_to_be_ignored_is_still_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert exit_of(command.run, signal.raise_signal, signal.SIGHUP) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_without_what_writes_films_nothing_else_is_missed(
    tmp_path, monkeypatch, capsys
):
    folder = str(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "av", None)
    monkeypatch.delitem(sys.modules, "labml_rl.watch.video", raising=False)
    assert exit_of(runs.main, Tiny, [*SMALL, "--folder", folder]) == 0
    assert exit_of(runs.main, Tiny, ["watch", folder, "--games", "1"]) == 0
    film = ["--video", str(tmp_path / "a.mp4")]
    assert exit_of(runs.main, Tiny, ["watch", folder, *film]) == 1
    said = capsys.readouterr().err
    assert "labml-rl: this needs av, which is not installed. In a copy of" in said


def test_what_your_own_code_needs_has_its_traceback():
    with pytest.raises(ModuleNotFoundError):
        command.run(lambda: print(__import__("nothing_of_this_name")))


def say(experiment):
    """What a run says after its first update."""
    bar = Bar(experiment)
    experiment.advance()
    bar.show()


@contextmanager
def closed(*streams):
    """As Python has it where streams were closed before it began."""
    with pytest.MonkeyPatch.context() as patch:
        for each in streams:
            patch.setattr(sys, each, None)
        yield
        for each in streams:
            opened = getattr(sys, each)
            if opened is not None:
                opened.close()


def test_a_run_of_a_program_of_ones_own_needs_nobody_to_read():
    experiment = Tiny(Settings())
    with closed("stdout", "stderr"):
        say(experiment)
    experiment.close()


def test_nobody_need_be_there_to_read_what_is_printed():
    def fail():
        print("it begins")
        raise runs.RunError("it fails")

    with closed("stdout", "stderr"):
        assert exit_of(command.run, print, "it ends") == 0
    with closed("stdout", "stderr"):
        assert exit_of(command.run, fail) == 2


def test_what_is_said_to_nobody_is_not_said_to_another(capsys):
    """Standard output is for results, even where standard error is closed."""
    experiment = Tiny(Settings())

    def fail():
        say(experiment)
        raise runs.RunError("it fails")

    with closed("stderr"):
        assert exit_of(command.run, fail) == 2
    experiment.close()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_help_has_no_marks_and_no_lists(algorithm):
    """Where a line begins with a number, tyro keeps the break in front of it."""
    settings = command.find_experiment(algorithm).settings_class
    said = command.plain_help(settings)
    assert not re.findall(r"^ *\d.*", said, re.MULTILINE)
    assert not re.findall(r"[`*$\\].*|\]\(.*", said)


def said_of(settings: Any) -> dict[str, str]:
    _, _, said = command.plain_help(settings).partition("Args:\n")
    lines = " ".join(said.split())
    names = [each.name for each in fields(settings)]
    parts = re.split(rf"(?:^| )({'|'.join(names)}): ", lines)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_help_says_for_what_its_numbers_are(algorithm):
    """Those of games are not those of a pole."""
    settings = command.find_experiment(algorithm).settings_class()
    batch = settings.num_envs * getattr(settings, "steps", 1)
    for text in said_of(type(settings)).values():
        for number in re.findall(r"(?:= |over )([\d,]+)(?= steps)", text):
            assert int(number.replace(",", "")) == batch or "for games" in text


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", ["blocks", "compile", "graphs", "halves", "players"])
def test_a_help_says_which_settings_are_refused(algorithm, name):
    settings: Any = command.find_experiment(algorithm).settings_class
    said = said_of(settings).get(name)
    if said is None:
        return
    try:
        settings(workers=2, **{name: not getattr(settings, name)})
    except ValueError:
        assert said.startswith("has to be o")
    else:
        assert not said.startswith("has to be o")


def test_a_run_of_ones_own_is_not_the_books(tmp_path, capsys):
    assert exit_of(runs.main, Tiny, [*SMALL, "--folder", str(tmp_path / "run")]) == 0
    assert exit_of(program.main, ["resume", str(tmp_path / "run")]) == 2
    assert "has a program of its own" in capsys.readouterr().err


@dataclass(frozen=True, kw_only=True)
class Taken(PPOSettings):
    """
    Args:
        folder: of something else.
    """

    folder: str = ""


def test_a_setting_is_not_called_as_what_each_program_has(capsys):
    mine = type("Mine", (SmallPPO,), {"algorithm": "mine", "settings_class": Taken})
    assert exit_of(runs.main, mine, []) == 2
    said = capsys.readouterr().err
    assert "no setting can be called so: folder" in said


class OtherPPO(SmallPPO):
    """Learns in another way, and has kept the name."""


def test_a_run_with_the_name_of_one_of_the_books_is_not_the_books(
    tmp_path, capsys, monkeypatch
):
    folder = str(tmp_path / "run")
    typed = ["--total-frames", "512", "--folder", folder]
    assert exit_of(runs.main, OtherPPO, typed) == 2
    said = capsys.readouterr().err
    assert "OtherPPO is not the small-ppo of the book" in said
    assert not Path(folder).exists()

    # There are runs from when that was not refused.
    with monkeypatch.context() as before:
        before.setattr(loop, "ALGORITHMS", {})
        assert exit_of(runs.main, OtherPPO, typed) == 0
    for what in ("resume", "watch"):
        assert exit_of(program.main, [what, folder]) == 2
        said = capsys.readouterr().err
        assert "is a run of tests.book.test_runs_command:OtherPPO, which only" in said
    assert exit_of(runs.main, OtherPPO, ["resume", folder]) == 0


def test_what_can_not_be_printed_is_printed_as_its_number(monkeypatch):
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="ascii"))
    assert exit_of(command.run, lambda: print("20.2 ± 0.2")) == 0
    assert printed.getvalue() == b"20.2 \\xb1 0.2\n"


@pytest.mark.parametrize("typed", ["--sticky-actions=0.25", "--full-action-space"])
def test_settings_of_atari_games_are_for_atari_games(
    typed, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for algorithm in ("small-ppo", "dqn"):
        arguments = ["train", algorithm, "--game", "CartPole-v1", typed]
        assert exit_of(program.main, arguments) == 2
        said = capsys.readouterr().err
        assert "is for Atari games, and CartPole-v1 is none" in said
    assert not list(tmp_path.rglob("*"))


def test_without_pytorch_it_says_what_to_install(monkeypatch):
    def missing(name: str, package: str) -> Any:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(program, "import_module", missing)
    said = exit_of(program.main, ["train", "ppo"])
    assert said == (
        "labml-rl: this needs torch, which is not installed. "
        "In a copy of the book's repository, pip install '.[train]' has it"
    )


@pytest.mark.parametrize(
    ("typed", "number"),
    [("40", 40), ("4_0", 40), ("4e1", 40), ("-4E+1", -40), ("1e2", 100)],
)
def test_whole_numbers(typed, number):
    found = command.whole_number(typed)
    assert (found, type(found)) == (number, int)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("1.5", "1.5 is not a whole number"),
        ("1e-3", "1e-3 is not a whole number"),
        ("inf", "inf is not a whole number"),
        ("many", "'many' is no number"),
        ("10M", "'10M' is no number"),
    ],
)
def test_what_is_no_whole_number(typed, said, capsys):
    assert exit_of(runs.main, Tiny, ["--total-frames", typed]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["fcntl", "labml_rl.runs.nowhere"])
def test_what_cannot_be_installed_is_no_missing_package(monkeypatch, name):
    def missing(_: str, package: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(program, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=name):
        program.main(["train", "ppo"])


def test_the_version(capsys):
    assert exit_of(program.main, ["--version"]) == 0
    assert capsys.readouterr().out == f"{labml_rl.__version__}\n"


@pytest.mark.usefixtures("same_signals")
def test_who_thinks_better_of_it_while_it_loads_sees_no_traceback(monkeypatch):
    def interrupted(_: str, package: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "import_module", interrupted)
    assert exit_of(program.main, ["train", "ppo"]) == 130


def test_the_program_loads_nothing_until_it_knows_what_for():
    heavy = "{'ale_py', 'gymnasium', 'numpy', 'torch', 'tyro'}"
    source = f"import sys, labml_rl.__main__; print({heavy} & sys.modules.keys())"
    command = [sys.executable, "-c", source]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.usefixtures("same_signals")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "4000"),
        ({"GOMP_SPINCOUNT": "7"}, "7"),
        ({"OMP_WAIT_POLICY": "ACTIVE"}, None),
    ],
)
def test_threads_wait_as_it_says_unless_somebody_said_otherwise(
    given, expected, monkeypatch
):
    """The environment is what it should be when PyTorch is loaded."""
    monkeypatch.setattr(os, "environ", dict(given))

    def load(name: str, package: str) -> Any:
        assert (name, package) == (".runs.command", "labml_rl")
        assert os.environ.get("GOMP_SPINCOUNT") == expected
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "import_module", load)
    assert exit_of(program.main, ["train", "ppo"]) == 130


@pytest.mark.skipif(sys.platform != "linux", reason="the library is that of Linux")
@pytest.mark.parametrize(
    "bound",
    [{"OMP_PROC_BIND": "true"}, {"OMP_PLACES": "cores"}, {"GOMP_CPU_AFFINITY": "0"}],
)
def test_what_keeps_threads_on_their_cores_does_not_keep_workers_there(bound):
    """A process that loads PyTorch would be on one core, and hand that on."""
    source = """if True:
        import os
        from labml_rl import __main__ as program
        cores = os.sched_getaffinity(0)
        def load(name, package):
            import torch
            assert os.sched_getaffinity(0) == cores
            raise KeyboardInterrupt
        program.import_module = load
        program.main(["train", "ppo"])
    """
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=Path(__file__).parents[2],
        env=os.environ | bound,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the library is that of Linux")
def test_the_library_behind_the_threads_has_heard_of_it():
    found = subprocess.run(
        [sys.executable, "-m", "labml_rl", "train", "ppo", "--help"],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"OMP_DISPLAY_ENV": "VERBOSE"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "GOMP_SPINCOUNT = '4000'" in found.stderr
