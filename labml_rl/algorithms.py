"""
---
title: The book's algorithms
summary: The names that the program knows, and what each stands for.
---

# The book's algorithms

`labml-rl train ppo` asks for an algorithm by name. Here is what each name stands for: a
module, and [an experiment](runs/experiment.py) in it. To add an algorithm to the book,
add a line here, and another for the help, and the program, `resume` and `watch` all
know it. Nothing is imported until it is asked for.
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

# What `labml-rl train --help` says of each.
ABOUT = {
    "a2c": "advantage actor-critic: learns once from each rollout",
    "impala": "actors play on while the learner learns",
    "ppo": "proximal policy optimisation: begin with this",
    "recurrent-ppo": "PPO with a memory, an LSTM",
    "rnd": "PPO that is paid for what is new to it, too",
    "dqn": "with the settings of the paper, for 200 million frames",
    "fast-dqn": "DQN on a small machine: more games, larger batches",
    "rainbow": "DQN with six improvements and the settings of the paper",
    "fast-rainbow": "the same on a small machine",
    "drq": "DQN for two hours of play",
    "pqn": "Q-learning in many games at once, without a memory",
    "small-a2c": "A2C balances a pole, in minutes",
    "small-impala": "IMPALA does the same",
    "small-ppo": "PPO does the same, in half a minute or more",
    "small-recurrent-ppo": "recurrent PPO balances a pole whose speed it can't see",
    "small-rnd": "RND finds a treasure",
    "small-dqn": "DQN swings up two rods",
    "small-pqn": "PQN balances the pole",
}
