"""
---
title: IMPALA, the program
summary: What python -m labml_rl.impala runs.
---

# IMPALA, the program

`python -m labml_rl.impala` does the same as
[`labml-rl train impala`](../runs/command.py), and takes the same options. While other
programs are running, it is slower, unless it is told [how long threads may
spin][labml_rl.speed].
"""

from labml_rl import runs
from labml_rl.impala.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
