"""
---
title: python -m sidebyside
summary: The command line, for a Python whose programs are not in the path.
---

# `python -m sidebyside`

The same as the program `sidebyside`, with the Python of your choice.
"""

import sys

# What the command line needs of other people's packages.
NEEDED = "jinja2 markdown pygments pymdown-extensions pyyaml quickjs"


def main() -> int:
    """
    Start the [command line][sidebyside.cli], if all that it needs is there.

    Returns:
        The exit status.
    """
    try:
        from sidebyside.cli import main as run  # noqa: PLC0415

        return run()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sidebyside"):
            raise
        missing = f"there is no module `{error.name}`"
        print(f"sidebyside: {missing}; pip install {NEEDED}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
