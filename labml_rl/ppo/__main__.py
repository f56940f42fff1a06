"""
---
title: PPO, the program
summary: What python -m labml_rl.ppo runs.
---

# PPO, the program

`python -m labml_rl.ppo` is short for [`labml-rl train ppo`](../runs/command.py), and
takes the same options.
"""

from labml_rl import runs
from labml_rl.ppo.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
