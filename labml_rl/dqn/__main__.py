"""
---
title: DQN, the program
summary: What python -m labml_rl.dqn runs.
---

# DQN, the program

`python -m labml_rl.dqn` is short for [`labml-rl train dqn`](../runs/command.py), and
takes the same options.
"""

from labml_rl import runs
from labml_rl.dqn.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
