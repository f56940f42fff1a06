"""
---
title: PQN, the program
summary: What python -m labml_rl.pqn runs.
---

# PQN, the program

`python -m labml_rl.pqn` is short for [`labml-rl train pqn`](../runs/command.py), and
takes the same options.
"""

from labml_rl import runs
from labml_rl.pqn.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
