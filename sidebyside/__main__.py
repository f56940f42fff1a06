"""
---
title: python -m sidebyside
summary: The command line, for a Python whose programs are not in the path.
---

# `python -m sidebyside`

The same as the program `sidebyside`, with the Python of your choice.
"""

import sys

from sidebyside.cli import main

if __name__ == "__main__":
    sys.exit(main())
