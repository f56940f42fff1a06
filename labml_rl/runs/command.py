"""
---
title: The command line
summary: How settings become options, and mistakes become sentences.
---

# The command line

An algorithm has two to four dozen settings. Each needs a value, an explanation, and a
check that refuses nonsense. Nobody should have to write that twice, once for the code
and once for the command line:

```sh
labml-rl train ppo --game Breakout --seed 2
labml-rl resume runs/ppo/breakout/seed-2
labml-rl watch runs/ppo/breakout/seed-2
labml-rl compare runs/ppo/breakout/seed-*
```

This page turns an experiment into a program. The options are the fields of the
algorithm's `Settings`, and `--help` explains each in the words of its docstring. An
experiment of your own gets the same with two lines at the end of its module:

```python
if __name__ == "__main__":
    runs.main(Experiment)
```

```sh
python mine.py --game Pong
python mine.py resume runs/mine/pong/seed-1
python mine.py watch runs/mine/pong/seed-1
python mine.py compare runs/*/pong/seed-1
```
"""

import io
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, make_dataclass
from difflib import get_close_matches
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, NoReturn

import tyro
from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
)

from labml_rl.__main__ import missing
from labml_rl.algorithms import ABOUT, ALGORITHMS, PACKAGE
from labml_rl.process import WorkerDiedError
from labml_rl.runs import loop
from labml_rl.runs.bar import say
from labml_rl.runs.checkpoint import CheckpointError
from labml_rl.runs.experiment import Experiment, NotFiniteError
from labml_rl.runs.folder import RunError, RunFolder
from labml_rl.runs.record import is_of_the_book, place_of
from labml_rl.runs.signals import Stopped, tidy


def find_experiment(algorithm: str) -> type[Experiment[Any]]:
    """
    ## An algorithm by its name

    Args:
        algorithm: [its name](../algorithms.py).

    Raises:
        RunError: if the book has none of that name.
    """
    if algorithm not in ALGORITHMS:
        spelled = algorithm.lower().replace("_", "-")
        near = get_close_matches(spelled, ALGORITHMS, n=1)
        meant = f" (is it {near[0]}?)" if near else ""
        raise RunError(
            f"no algorithm {algorithm!r}{meant}; there are {', '.join(ALGORITHMS)}. "
            "One of your own has a program of its own, which also resumes, watches and "
            "compares its runs"
        )
    module, _, name = ALGORITHMS[algorithm].partition(":")
    return getattr(import_module(module), name)


def program_of(experiment_class: type[Experiment[Any]] | None) -> str:
    """
    The book's program has two names. `python -m labml_rl` finds modules in the current
    folder, and `labml-rl` does not. So a run that was begun with one goes on with it:
    [the environment](../environments.py) may be in such a module.

    Args:
        experiment_class: that of the algorithm; `None` is any of the book's.

    Returns:
        What to type in front of `resume`.
    """
    started = getattr(sys.modules["__main__"], "__spec__", None)
    module = "" if started is None else started.name.removesuffix(".__main__")
    if experiment_class is None or is_of_the_book(experiment_class):
        is_inside = f"{module}.".startswith(f"{PACKAGE}.")
        return f"python -m {PACKAGE}" if is_inside else "labml-rl"
    if module:
        return f"python -m {module}"
    return shlex.join(["python", sys.argv[0]])


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """
    ## Options of every run

    These decide where a run is kept, and nothing about how it goes.

    Args:
        runs: the folder of all runs. Each run gets one in there, named after algorithm,
            game and seed.
        folder: the folder of this run, if it is to be a different one.
        checkpoint_minutes: how often to save a checkpoint, and so how much work is at
            risk.
    """

    runs: Path = Path("runs")
    folder: Path | None = None
    checkpoint_minutes: float = loop.CHECKPOINT_MINUTES


def plain_help(documented: type[Any]) -> str:
    """
    ## Help

    A docstring of this book is Markdown, and a terminal is not the place for that.

    Args:
        documented: a dataclass. What its bases say of their fields counts as well.

    Returns:
        A docstring without a heading, and without links and marks.
    """
    own, *_ = _parts(documented)
    summary = " ".join(re.sub(r"^#.*\n*", "", own).split("\n\n")[0].split())
    # A sentence that ends in a colon leads up to an example, and help has none.
    summary = re.sub(r"(^|(?<=\.) )[^.]*:$", "", summary)

    # Where something is said twice, the last counts: bases come first.
    bases = reversed(documented.__mro__[:-1])
    arguments = "\n".join(_parts(each)[1] for each in bases)
    text = f"{summary}\n\nArgs:\n{arguments}"
    text = re.sub(r"\[([^\]]+)\](\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"\$\\?(\w+)\$", r"\1", text)
    return re.sub("[`*]", "", text)


def _parts(documented: type[Any]) -> tuple[str, str]:
    own = documented.__doc__ or ""
    # For a class without a docstring, `dataclass` writes how to call it.
    if own.startswith(f"{documented.__name__}("):
        own = ""
    text, _, rest = cleandoc(own).partition("Args:\n")
    arguments = re.match(r"(?:(?: .*)?\n)*", rest + "\n")
    assert arguments is not None
    return text.strip(), arguments.group().rstrip()


def whole_number(text: str) -> int:
    """
    ## Large numbers

    Forty million is easily mistyped. It may be written as `40_000_000` or as `4e7`.

    Args:
        text: what was typed.

    Returns:
        The number.

    Raises:
        ValueError: if it is not a number, or not a whole one.
    """
    try:
        return int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            raise ValueError(f"{text!r} is no number") from None
        if not number.is_integer():
            raise ValueError(f"{text} is not a whole number") from None
        return int(number)


RULES = ConstructorRegistry()


@RULES.primitive_rule
def _whole_numbers(
    option: PrimitiveTypeInfo,
) -> PrimitiveConstructorSpec[int] | None:
    if option.type is not int:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda words: whole_number(words[0]),
        is_instance=lambda found: isinstance(found, int),
        str_from_instance=lambda number: [str(number)],
    )


def parse(
    parts: dict[str, type[Any]],
    arguments: Sequence[str],
    *,
    command: str,
    description: str,
) -> list[Any]:
    """
    ## Options

    [tyro](https://brentyi.github.io/tyro/) turns the fields of dataclasses into
    options.

    Args:
        parts: dataclasses by name. All their fields become options side by side.
        arguments: what was typed.
        command: what was typed before, for the help.
        description: what the command does.

    Returns:
        One of each.
    """
    # tyro takes its help from the docstring. So it gets classes that differ only in
    # that.
    plain = {
        name: type(part.__name__, (part,), {"__doc__": plain_help(part)})
        for name, part in parts.items()
    }
    with RULES:
        parsed: Any = tyro.cli(
            make_dataclass("Options", plain.items()),
            args=list(arguments),
            prog=command,
            config=(tyro.conf.OmitArgPrefixes,),
            description=description,
        )
    return [part(**vars(getattr(parsed, name))) for name, part in parts.items()]


def train(
    experiment_class: type[Experiment[Any]],
    arguments: Sequence[str],
    *,
    program: str,
    command: str,
) -> None:
    """
    ## Train

    Args:
        experiment_class: that of the algorithm.
        arguments: what was typed after `command`.
        program: see [program_of][].
        command: what was typed before.

    Raises:
        RunError: if a setting has the name of an option that every program has.
    """
    kept = {each.name for each in fields(Keeping)}
    if taken := kept & {each.name for each in fields(experiment_class.settings_class)}:
        raise RunError(
            "each program has options of these names, so no setting can be called so: "
            f"{', '.join(sorted(taken))}"
        )
    settings, keeping = parse(
        {"settings": experiment_class.settings_class, "keeping": Keeping},
        arguments,
        command=command,
        description=f"Train an agent with {experiment_class.algorithm}.",
    )
    folder = loop.train(
        experiment_class,
        settings,
        runs=keeping.runs,
        folder=keeping.folder,
        checkpoint_minutes=keeping.checkpoint_minutes,
        command=f"{command} {shlex.join(arguments)}".strip(),
        program=program,
    )
    print(f"The run is complete: {folder}")


@dataclass(frozen=True, kw_only=True)
class Resuming:
    """
    ## What is to go on

    Args:
        run: the folder of the run.
        total_frames: make the run longer than was planned. That can't be done where
            something follows a plan, as the learning rate of A2C, PPO and IMPALA does.
        checkpoint_minutes: how often to save a checkpoint, and so how much work is at
            risk.
    """

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    total_frames: int | None = None
    checkpoint_minutes: float = loop.CHECKPOINT_MINUTES


def resume(
    experiment_class: type[Experiment[Any]] | None,
    arguments: Sequence[str],
    *,
    program: str,
) -> None:
    """
    ## Resume

    The numbers are [the same](experiment.py) as if the run had never stopped, or it
    says [why they may not be][labml_rl.runs.loop.why_not_the_same].

    Args:
        experiment_class: that of the algorithm; `None` finds it.
        arguments: what was typed.
        program: see [program_of][].
    """
    (asked,) = parse(
        {"resuming": Resuming},
        arguments,
        command=f"{program} resume",
        description="Go on with a run that was interrupted.",
    )
    folder = asked.run
    if experiment_class is None:
        experiment_class = experiment_of(folder)
    loop.resume(
        experiment_class,
        folder,
        total_frames=asked.total_frames,
        checkpoint_minutes=asked.checkpoint_minutes,
        program=program,
    )
    print(f"The run is complete: {folder}")


def experiment_of(folder: Path) -> type[Experiment[Any]]:
    """
    Raises:
        RunError: if there is no run, or if it is not one of the book's algorithms.
    """
    record = RunFolder(folder).read_record()
    found = find_experiment(record["algorithm"])
    place = record.get("experiment", place_of(found))
    if place != place_of(found):
        raise RunError(
            f"{folder} is a run of {place}, which only has the name of an algorithm of "
            "the book. It is resumed and watched with your own program"
        )
    return found


def main(
    experiment_class: type[Experiment[Any]],
    argv: Sequence[str] | None = None,
    *,
    program: str | None = None,
) -> NoReturn:
    """
    ## The program of an algorithm

    Args:
        experiment_class: that of the algorithm.
        argv: what was typed; `None` looks it up.
        program: what was typed before that; `None` [finds it][program_of].
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    # What is in `sys.argv` of a notebook was typed by nobody.
    if argv is None and Path(sys.argv[0]).stem.endswith("kernel_launcher"):
        run(_refuse, _instead_in_a_notebook(experiment_class))
    command = program
    if program is None:
        program = command = program_of(experiment_class)
        if is_of_the_book(experiment_class):
            command = f"{program} train {experiment_class.algorithm}"
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        run(COMMANDS[name], experiment_class, rest, program=program)
    run(train, experiment_class, arguments, program=program, command=command)


def dispatch(arguments: list[str]) -> NoReturn:
    """
    ## The program of the book

    Args:
        arguments: what was typed after `labml-rl`.
    """
    program = program_of(None)
    match arguments:
        case ["train", algorithm, *rest] if not algorithm.startswith("-"):
            command = f"{program} train {algorithm}"
            run(
                lambda: train(
                    find_experiment(algorithm), rest, program=program, command=command
                )
            )
        case ["train", "-h" | "--help"]:
            run(_help_to_train, program)
        case ["train", *_]:
            what = f"train what? There are {', '.join(ALGORITHMS)}"
            run(_refuse, f"{what}. {program} train ppo --help lists the options of one")
        case ["games", *_]:
            run(_list_games)
        case [name, *rest] if name in COMMANDS:
            run(COMMANDS[name], None, rest, program=program)
        case _:
            run(_refuse, f"no command {arguments[0]!r}; see labml-rl --help")


def _help_to_train(program: str) -> None:
    print(f"usage: {program} train ALGORITHM [OPTIONS]\n\nALGORITHM is one of\n")
    for name in ALGORITHMS:
        print(f"  {name:20} {ABOUT[name]}")
    print(f"\n{program} train ppo --help lists the options of one.")


def _list_games() -> None:
    print(*import_module("..game", __package__).available_games(), sep="\n")


def _watch(*arguments: Any, **options: Any) -> None:
    import_module("..watch", __package__).main(*arguments, **options)


def _compare(*arguments: Any, **options: Any) -> None:
    import_module("..watch.compare", __package__).main(*arguments, **options)


COMMANDS: dict[str, Callable[..., None]] = {
    "resume": resume,
    "watch": _watch,
    "compare": _compare,
}


def _refuse(message: str) -> None:
    raise RunError(message)


def _instead_in_a_notebook(experiment_class: type[Experiment[Any]]) -> str:
    name, settings = experiment_class.__qualname__, experiment_class.settings_class
    return (
        "a notebook has no command line. There, "
        f"runs.train({name}, {settings.__qualname__}(seed=1)) trains, and "
        f"runs.resume({name}, folder) goes on with a run"
    )


def run(do: Callable[..., None], *arguments: Any, **options: Any) -> NoReturn:
    """
    ## An error in one sentence

    A mistake in what was typed is answered with a sentence, and the exit status 2. A
    run that fails later ends with 1, and one that was stopped with 128 plus the number
    of the signal, as programs do. With `python -X dev`, every error comes with its
    traceback.

    Args:
        do: does it.
        arguments: for it, as are the `options`.
    """
    # A program may be started without anywhere to print to.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115

    # After an hour of games, a ± that can't be printed should not be all there is.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    status, message = 0, ""
    try:
        with tidy():
            _print_all_of(do, *arguments, **options)
    except OSError as error:
        had_enough = isinstance(error, BrokenPipeError)
        if (sys.flags.dev_mode and not had_enough) or _can_print():
            raise
        _print_no_more()
        # The reader of the output has had enough: `labml-rl watch RUN | head`.
        status = 128 + signal.SIGPIPE if had_enough else 1
        if not had_enough:
            message = f"labml-rl: what was to be printed can't be: {error.strerror}"
    except ModuleNotFoundError as error:
        # A module that your own environment needs is named with a traceback.
        found = missing(error) if loop.raised_by_the_book(error) else ""
        if sys.flags.dev_mode or not found:
            raise
        status, message = 1, f"labml-rl: {found}"
    except (RunError, CheckpointError, NotFiniteError, WorkerDiedError) as error:
        if sys.flags.dev_mode:
            raise
        # A run that has begun leaves a note of what can still be done.
        notes = getattr(error, "__notes__", [])
        status = 2 if isinstance(error, RunError) and not notes else 1
        died = error.exitcode if isinstance(error, WorkerDiedError) else None
        if died == -signal.SIGKILL:
            notes = ["A run with fewer num_envs or workers needs less", *notes]
        message = ". ".join([f"labml-rl: {error}", *notes])
    except Stopped as stopped:
        status, message = 128 + stopped.signal, str(stopped)
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    if message:
        say(harmless(message))
    sys.exit(status)


def harmless(words: str) -> str:
    """
    Args:
        words: what is to be printed. Some of it may come from a `run.json`.

    Returns:
        The same without the characters that are orders to a terminal.
    """
    return re.sub(r"[\0-\x08\x0b-\x1f\x7f-\x9f]", "", words)


def _print_all_of(do: Callable[..., None], *arguments: Any, **options: Any) -> None:
    try:
        do(*arguments, **options)
    except SystemExit:  # after --help
        sys.stdout.flush()
        raise
    sys.stdout.flush()


# An error may be about some other file, or about a pipe to a simulator. So we try to
# print once more.
def _can_print() -> bool:
    try:
        print(flush=True)
    except OSError:
        return False
    return True


# Python would try once more at the end.
def _print_no_more() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
