"""
---
title: The book's algorithms
summary: The names that the program knows, and what each stands for.
---

# The book's algorithms

`labml-rl train ppo` asks for an algorithm by name. Here is what each name stands for: a
module, and [an experiment](runs/experiment.py) in it. To add an algorithm to the book,
add a line here, and the program, its help, `resume` and `watch` all know it. Nothing is
imported until it is asked for.
"""

PACKAGE = __name__.rpartition(".")[0]

ALGORITHMS = {
    "a2c": f"{PACKAGE}.a2c.experiment:Experiment",
    "impala": f"{PACKAGE}.impala.experiment:Experiment",
    "ppo": f"{PACKAGE}.ppo.experiment:Experiment",
    "recurrent-ppo": f"{PACKAGE}.ppo.recurrent:Experiment",
    "rnd": f"{PACKAGE}.ppo.rnd:Experiment",
    "dqn": f"{PACKAGE}.dqn.experiment:Experiment",
    "fast-dqn": f"{PACKAGE}.dqn.fast:Experiment",
    "rainbow": f"{PACKAGE}.dqn.rainbow:Experiment",
    "fast-rainbow": f"{PACKAGE}.dqn.rainbow:FastExperiment",
    "drq": f"{PACKAGE}.dqn.drq:Experiment",
    "pqn": f"{PACKAGE}.pqn.experiment:Experiment",
    "small-a2c": f"{PACKAGE}.small:SmallA2C",
    "small-impala": f"{PACKAGE}.impala.experiment:SmallExperiment",
    "small-ppo": f"{PACKAGE}.small:SmallPPO",
    "small-recurrent-ppo": f"{PACKAGE}.ppo.recurrent:SmallExperiment",
    "small-rnd": f"{PACKAGE}.ppo.rnd:SmallExperiment",
    "small-dqn": f"{PACKAGE}.small:SmallDQN",
    "small-pqn": f"{PACKAGE}.small:SmallPQN",
}
