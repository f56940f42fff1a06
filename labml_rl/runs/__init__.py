"""
---
title: Runs
summary: Training that is recorded, can be killed at any moment, and goes on unchanged.
---

# Runs

A page of mathematics and a loop of twenty lines make an agent learn. Then the questions
begin. Does it learn? How long will it take? Is this curve the one with the larger
batch? The machine went down last night: is it all lost?

This chapter answers them, once, for all the algorithms in the book. By its end you will
have a training loop that keeps its own records, can be killed at any moment, and goes
on as if nothing had happened:

1. [Checkpoints](checkpoint.py): a run in one file, which no accident can damage.
2. [An experiment](experiment.py): what a run consists of, so that it can go on
   unchanged.
3. [Settings of Atari games](games.py): what an agent meets, and what it learns from.
4. [The folder of a run](folder.py): where everything is, and who may write.
5. [What was run](record.py): settings, commit, versions, machine.
6. [The curve](curve.py): CSV and TensorBoard.
7. [How far it has got](bar.py): the progress bar.
8. [Stopping a run](signals.py): Ctrl-C.
9. [The loop](loop.py): train, save, resume.
10. [The command line](command.py): settings become options.

You need nothing here to understand how an agent learns. If you came for that, go on to
[watching](../watch/__init__.py) and to [DQN](../dqn/__init__.py), and come back before
you start a three-day run.

```python
from labml_rl import runs
from labml_rl.small import PPOSettings, SmallPPO

if __name__ == "__main__":
    runs.train(SmallPPO, PPOSettings(seed=2))
```
"""

from labml_rl.runs.checkpoint import CheckpointError, State
from labml_rl.runs.command import main
from labml_rl.runs.experiment import (
    Experiment,
    NotFiniteError,
    Settings,
    Thoughts,
    require,
)
from labml_rl.runs.folder import RunError
from labml_rl.runs.loop import resume, train
from labml_rl.runs.signals import Stopped

__all__ = [
    "CheckpointError",
    "Experiment",
    "NotFiniteError",
    "RunError",
    "Settings",
    "State",
    "Stopped",
    "Thoughts",
    "main",
    "require",
    "resume",
    "train",
]
