"""
---
title: IMPALA, the program
summary: What python -m labml_rl.impala runs.
---

# IMPALA, the program

`python -m labml_rl.impala` is short for [`labml-rl train impala`](../runs/command.py),
and takes the same options.
"""

from labml_rl import runs
from labml_rl.impala.experiment import Experiment

if __name__ == "__main__":
    runs.main(Experiment)
