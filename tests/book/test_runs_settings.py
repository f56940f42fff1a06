"""Settings of runs: those that make no sense, and those of your own."""

import inspect
import json
import os
import re
import signal
from dataclasses import dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import gymnasium
import numpy as np
import pytest
import torch

from labml_rl import runs
from labml_rl.dqn import fast
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import rnd
from labml_rl.runs import record
from labml_rl.runs.experiment import find_device
from labml_rl.small import PPOSettings
from tests.book.tiny_runs import Settings, Tiny


def test_settings_of_another_algorithm_are_refused(tmp_path):
    """Those of what an experiment is derived from are not its own, either."""
    path = tmp_path / "run"
    with pytest.raises(runs.RunError, match=r"Tiny needs .*Settings, and these are"):
        runs.train(Tiny, ppo.Settings(), folder=path)
    with pytest.raises(runs.RunError, match=r"dqn\.fast\.Settings, and these are"):
        runs.train(fast.Experiment, DQNSettings(), folder=path)
    assert not path.exists()


@dataclass(frozen=True, kw_only=True)
class More(Settings):
    more: int = 1


def test_settings_that_the_experiment_does_not_know_are_refused(tmp_path):
    """Nobody could go on with such a run, or watch it."""
    path = tmp_path / "run"
    with pytest.raises(runs.RunError, match=r"Tiny needs .* settings_class = More"):
        runs.train(Tiny, More(), folder=path)
    with pytest.raises(runs.RunError, match=r"settings_class = Settings"):
        runs.train(ppo.Experiment, rnd.Settings(), folder=path)
    assert not path.exists()
    # Other defaults are fine.
    settings = PPOSettings(total_frames=256)
    path = runs.train(ppo.Experiment, settings, folder=path)
    found = json.loads((path / "run.json").read_text())
    assert vars(record.settings_of(found, ppo.Settings)) == vars(settings.decided())


def test_an_experiment_without_settings_of_its_own_has_those_of_all(tmp_path):
    class Plain(Tiny):
        algorithm = "plain"
        settings_class: ClassVar[Any] = runs.Experiment.settings_class

        def update(self) -> dict[str, float]:
            self.frames += 1
            return {}

    settings = runs.Settings(game="CartPole-v1", total_frames=8, workers=0)
    path = runs.train(Plain, settings, folder=tmp_path / "run")
    assert runs.resume(Plain, path) == path


def test_a_setting_beyond_its_limits_is_told_all_of_them():
    for limits, words in (
        ({"above": 0, "at_most": 1}, "above 0 and at most 1"),
        ({"at_least": 0, "at_most": 1}, "between 0 and 1"),
        ({"at_most": 1}, "at most 1"),
    ):
        with pytest.raises(ValueError, match=f"total_frames must be {words}, not 5$"):
            runs.require(Settings(total_frames=5), "total_frames", **limits)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("double", "no", "True or False"),
        ("double", 1, "True or False"),
        ("optimizer_name", "sgd", "'rmsprop' or 'adam'"),
        ("precision", "float16", "'auto' or 'float32' or 'bfloat16'"),
        ("total_frames", 4e7, "an int, a whole number without a point"),
        ("workers", 1.0, "an int, a whole number without a point"),
        ("stack", "4", "an int, a whole number without a point"),
        ("quantiles", True, "an int, a whole number without a point"),
        ("max_gradient_norm", True, "a number"),
        ("learning_rate", None, "a number"),
        ("max_gradient_norm", "10", "a number"),
    ],
)
def test_a_setting_of_another_kind_is_refused(name, value, right):
    """Most would be taken for something else, without a word."""
    message = f"{name} must be {right}, not {value!r}"
    with pytest.raises(ValueError, match=re.escape(message)):
        DQNSettings(**{name: value})


def test_settings_of_your_own_may_be_of_any_kind():
    @dataclass(frozen=True, kw_only=True)
    class Own(Settings):
        scale: float = 1
        either: int | str = "auto"
        choice: Literal["a", "b"] | None = None
        widths: tuple[int, ...] = (64, 64)
        quoted: "int" = 3

    assert Own().scale == 1
    assert Own(either=4, choice="b", widths=(), quoted=4).either == 4
    wrong: Any = "c"
    with pytest.raises(ValueError, match="choice must be 'a' or 'b', not 'c'"):
        Own(choice=wrong)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"game": "Pog"}, "nearest is 'pong'"),
        ({"game": "Cart-v1"}, r"no environment 'Cart-v1'.* in front, as in mine:Cart"),
        (
            {"game": "HalfCheetah-v5"},
            r"no environment 'HalfCheetah-v5': MuJoCo [^()]*$",
        ),
        ({"device": "abacus"}, "no device 'abacus' here"),
    ],
)
def test_what_is_not_there_is_named_and_nothing_is_left(tmp_path, settings, message):
    with pytest.raises(runs.RunError, match=message):
        runs.train(Tiny, Settings(**settings), runs=tmp_path)
    assert os.listdir(tmp_path) == []


def mistaken() -> gymnasium.Env[Any, Any]:
    return int("CartPole-v1")  # type: ignore[return-value]


gymnasium.register("labml_rl_tests/Mistaken-v0", f"{__name__}:mistaken")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_mistake_in_ones_own_environment_keeps_its_traceback(tmp_path, workers):
    """Its `ValueError` is no answer to what was typed."""
    settings = Settings(game="labml_rl_tests/Mistaken-v0", workers=workers)
    with pytest.raises(ValueError, match="invalid literal") as caught:
        runs.train(Tiny, settings, runs=tmp_path)
    assert caught.traceback[-1].name == "mistaken"
    assert "This happened" in " ".join(caught.value.__notes__)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["auto", "cuda"])
def test_a_gpu_on_which_nothing_can_be_computed_is_no_device(monkeypatch, name):
    """Such as one of 2016, for which today's PyTorch is no longer built."""
    ones = torch.ones

    def on_no_gpu(*shape, device):
        if device.type == "cuda":
            raise torch.AcceleratorError(
                "CUDA error: no kernel image is available for execution on the device\n"
                "Search for `cudaErrorNoKernelImageForDevice'."
            )
        return ones(*shape, device=device)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "empty", lambda *_, device: None)
    monkeypatch.setattr(torch, "Generator", lambda device: None)
    monkeypatch.setattr(torch, "ones", on_no_gpu)
    with pytest.raises(
        ValueError, match=r"no device .cuda. here: .* no kernel"
    ) as said:
        find_device(name)
    assert ("'cpu' does without" in str(said.value)) == (name == "auto")
    assert find_device("cpu").type == "cpu"


def test_a_run_does_not_go_on_where_its_device_is_missing(tmp_path):
    folder = tmp_path / "run"
    runs.train(Tiny, Settings(), folder=folder)
    record = json.loads((folder / "run.json").read_text())
    record["settings"]["device"] = "cuda:77"
    (folder / "run.json").write_text(json.dumps(record | {"finished": False}))
    with pytest.raises(
        runs.RunError,
        match=r"no device 'cuda:77' here: .* Its agent can be watched anywhere",
    ):
        runs.resume(Tiny, folder)


@pytest.mark.parametrize(
    "wrong", [{"num_envs": 0}, {"total_frames": 0}, {"seed": -1}, {"workers": -1}]
)
def test_settings_that_make_no_sense(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        Settings(**wrong)


class Undecorated(Settings):
    steps: int = 8
    beta: float = 1.0
    known: ClassVar[int] = 3


class Untyped(Settings):
    steps = 8


@dataclass(frozen=True, kw_only=True)
class Derived(Undecorated):
    gamma: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Mine(Settings):
    """Settings of one's own."""

    steps: int = 8
    beta: float = 1.0
    known: ClassVar[int] = 3


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Undecorated, r"Undecorated needs @dataclass\(.*ignored: beta, steps$"),
        (Derived, r"Undecorated needs @dataclass\(.*ignored: beta, steps$"),
        (Untyped, "Untyped needs .* ignored: steps$"),
    ],
)
def test_settings_that_nobody_would_hear_are_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()


def test_settings_of_ones_own_are_heard(tmp_path):
    class Experiment(Tiny):
        algorithm = "mine"
        settings_class = Mine

    with pytest.raises(SystemExit):
        runs.main(Experiment, ["--beta", "2", "--folder", str(tmp_path / "run")])
    written = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]
    assert (written["steps"], written["beta"]) == (8, 2.0)
    assert "known" not in written


class Colour(Enum):
    RED = 1


class Way(StrEnum):
    FAST = "fast"


class Size(NamedTuple):
    width: int
    height: int


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: int = 3


@dataclass(frozen=True, kw_only=True)
class WithOwn(Settings):
    """Settings of one's own, of any kind."""

    own: Any = None


@pytest.mark.parametrize(
    "value",
    [
        *([1, 2], ((1, [2]),), {1: 2}, {"a": (1,)}, Inner(), Path("there"), Colour.RED),
        *(Way.FAST, {"a": Way.FAST}, Size(1, 2), (3, (Size(1, 2),)), signal.SIGINT),
    ],
    ids=str,
)
def test_settings_that_would_not_come_back_are_refused(value, tmp_path):
    class Experiment(Tiny):
        algorithm = "mine"
        settings_class = WithOwn

    with pytest.raises(runs.RunError, match="the setting own would not come back"):
        runs.train(Experiment, WithOwn(own=value), folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "value",
    [(64, 64), ((1, "a"), (True, None)), {"a": 1}, (), "there", np.float64(0.1)],
    ids=str,
)
def test_settings_that_come_back_are_as_they_were(value, tmp_path):
    class Experiment(Tiny):
        algorithm = "mine"
        settings_class = WithOwn

    settings = WithOwn(own=value, total_frames=8)
    path = runs.train(Experiment, settings, folder=tmp_path / "run")
    found = json.loads((path / "run.json").read_text())
    assert record.settings_of(found, WithOwn) == settings.decided()


def test_the_settings_of_the_page_are_settings():
    page = inspect.getdoc(runs.Settings) or ""
    names: dict[str, Any] = {"__name__": __name__}
    exec(page.split("```python\n")[1].split("```")[0], names)
    settings = names["Penalised"].settings_class(penalty=2.0)
    assert (settings.learning_rate, settings.penalty) == (1e-3, 2.0)
