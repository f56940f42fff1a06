"""
---
title: labml-rl
summary: The program to train, resume, watch and compare agents with.
---

# labml-rl

The book's program has five commands. It passes them on to [the pages that do the
work][labml_rl.runs.command], and loads nothing until it knows what for.
"""

import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import NoReturn

from labml_rl import __version__
from labml_rl.algorithms import ALGORITHMS

# How often a thread that waits for others looks before it sleeps.
WAITING = {"GOMP_SPINCOUNT": "4000"}

# These keep each thread on a core of its own, and some clusters set them. But from when
# PyTorch is loaded, its first thread is the program itself, which would stay on one
# core, and so would all its workers.
BINDING = ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY")

# Names are not to be cut in two at the end of a line.
fill = partial(textwrap.fill, width=80, break_on_hyphens=False)

USAGE = f"""\
usage: labml-rl COMMAND ...

  labml-rl train ALGORITHM [OPTIONS]   train an agent
  labml-rl resume FOLDER               go on with a run that was interrupted
  labml-rl watch FOLDER [OPTIONS]      let a trained agent play, and measure it
  labml-rl compare FOLDER ...          set several runs side by side
  labml-rl games                       list the games that can be learned

{fill(f"ALGORITHM is one of {', '.join(ALGORITHMS)}.")}
Each of them with --help says more.
"""


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """
    Args:
        argv: what was typed; `None` looks it up.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        sys.exit(0 if arguments else 2)
    if arguments[0] == "--version":
        print(__version__)
        sys.exit(0)
    if os.name == "nt":
        sys.exit("labml-rl: this needs Linux or macOS. On Windows, WSL has a Linux")
    # PyTorch's threads [wait for each other][labml_rl.speed], and how they do so is
    # settled when it is loaded. If you have said something about it, you know better.
    if not {*WAITING, "OMP_WAIT_POLICY"} & os.environ.keys():
        os.environ |= WAITING
    for name in BINDING:
        os.environ.pop(name, None)

    # It takes a few seconds to load PyTorch, time enough to think better of it.
    try:
        command = import_module(".runs.command", __package__)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except ModuleNotFoundError as error:
        if not (message := missing(error)):
            raise
        sys.exit(f"labml-rl: {message}")
    command.dispatch(arguments)
    raise AssertionError("it exits")


def missing(error: ModuleNotFoundError) -> str:
    """
    ## What is not installed

    Args:
        error: what Python says of a module that it can't find.

    Returns:
        A sentence that has the remedy. It is empty if the module is one of the book or
        of Python, where there is no remedy.
    """
    package = str(error.name).partition(".")[0]
    if package == __package__ or package in sys.stdlib_module_names:
        return ""
    return (
        f"this needs {error.name}, which is not installed. "
        "In a copy of the book's repository, pip install '.[train]' has it"
    )


if __name__ == "__main__":
    main()
