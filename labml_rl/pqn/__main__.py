"""
---
title: PQN, the program
summary: What python -m labml_rl.pqn runs.
---

# PQN, the program

`python -m labml_rl.pqn` trains what [`labml-rl train pqn`](../runs/command.py) trains,
and takes the same options. While other programs run, it is slower, unless it is told
[how long threads may spin][labml_rl.speed].
"""

from labml_rl import runs
from labml_rl.pqn.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
