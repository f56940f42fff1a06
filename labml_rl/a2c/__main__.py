"""
---
title: A2C, the program
summary: What python -m labml_rl.a2c runs.
---

# A2C, the program

`python -m labml_rl.a2c` is short for [`labml-rl train a2c`](../runs/command.py), and
takes the same options.
"""

from labml_rl import runs
from labml_rl.a2c.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
