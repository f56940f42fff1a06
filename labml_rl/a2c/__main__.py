"""
---
title: A2C, the program
summary: What python -m labml_rl.a2c runs.
---

# A2C, the program

`python -m labml_rl.a2c` does the same as [`labml-rl train a2c`](../runs/command.py),
and takes the same options. While other programs are running, it is slower, unless it is
told [how long threads may spin][labml_rl.speed].
"""

from labml_rl import runs
from labml_rl.a2c.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
