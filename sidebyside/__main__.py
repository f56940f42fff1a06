"""
---
title: python -m sidebyside
summary: The command line, for a Python whose programs are not on the path.
---

# `python -m sidebyside`

The same as the program `sidebyside`, with the Python of your choice.
"""

import os
import signal
import sys


def main() -> int:
    """
    Start the [command line][sidebyside.cli], if everything that it needs is there.

    Returns:
        The exit status.
    """
    # A program may be started with nowhere to print to. Python then has `None` here.
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        from sidebyside.cli import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        # Whoever stops it knows that, and needs no traceback.
        return 128 + signal.SIGINT
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sidebyside"):
            raise
        print(
            f"sidebyside: this needs {error.name}, which is not installed. "
            "In a copy of the book's repository, pip install '.[press]' installs it",
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main())
