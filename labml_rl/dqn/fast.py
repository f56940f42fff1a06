r"""
---
title: DQN in an evening
summary: >-
  Settings of DQN for a small machine, and why each is as it is.
---

# DQN in an evening

The [settings of *Nature*](settings.py) are for one game at a time, and 38 days of play.
These are for a laptop and an evening. [Algorithm and loop](experiment.py) are the same.
[Ms. Pac-Man](mspacman.py) and [Breakout](../../results.md#breakout-by-dqn) were learned
with these settings, too.

```sh
labml-rl train fast-dqn --game Pong
```

| what | Nature | here | why |
|---|---|---|---|
| games at once | 1 | 16 | one answer of the network for all |
| a batch | 32 every 4 steps | 256 every 64 steps | large ones are faster |
| each step is learned from | 8 times | 4 times | half the work |
| optimiser | RMSProp | Adam | what most use today |
| long gradients | as they are | cut to 10 | a single batch does less harm |
| [double][labml_rl.dqn.following_values] | no | yes | values are less exaggerated |
| [n][labml_rl.dqn.td_loss] | 1 | 3 | news of a reward goes back faster |
| warm-up | 50,000 | 20,000 | the run is shorter |
| target network | every 10,000 | every 8,000 | the run is shorter |
| $\varepsilon$ goes down | in 1 million | in 250,000 | the run is shorter |
| its end | 0.1 | 0.01 | a random slip ends many a rally |
| memory | 1 million | 250,000 | 1.8 GB instead of 7 |

All counts are in steps of the agent. [How fast DQN
is](../../benchmarks/values.md#the-loop) has been measured with batches of both kinds.
What each line does to the scores has not.

## What it has learned

![The mean score of the last hundred games of DQN in Pong, over the frames played: it
ends at 19](../../assets/figures/run-fast-dqn-pong-seed-1.svg)

*Pong with these settings, for a twentieth of the frames that DQN had in* Nature.

At first the agent loses every rally, whatever it does, and nothing tells it what would
have been better. Now and then a random move sends the ball back, and later one of these
wins a point. Then the network begins to tell a good place for the paddle from a bad
one, and the score rises, for most of the run. If you stop too early, you see an agent
that learns nothing. This run and one with another seed, with their commands and their
scores, are on the [page of results](../../results.md#pong-by-dqn).

## Try it yourself

The first needs no training. Each of the others is a run of more than an hour on two
cores, with `labml-rl train fast-dqn --game Pong` and the options named here. `--folder`
keeps the runs apart.

1. Draw `action_value` and `return_mean` of
   `results/runs/fast-dqn/pong/seed-1/progress.csv` over the frames. When do they begin
   to rise?
2. `--no-double`: is `action_value` larger? Is the score?
3. `--n 1`: how many frames does it take until the mean score is above −19?
4. `--sync-every-steps 500`, then `80_000`: what changes?
5. `--prioritised --learning-rate 6.25e-5`: what can you say after one seed?

??? tip "Answer to the first"
    The score has its lowest point at 1.3 million frames, and is above −19 from 3.1
    million on. The action value turns at 2.3 million. It begins near 0, so before
    anything else the network has to learn how much it loses.
"""

from dataclasses import dataclass

from labml_rl.dqn import experiment, settings


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    """
    ## Settings

    Those of DQN, with other numbers.
    """

    total_frames: int = 10_000_000
    num_envs: int = 16
    capacity: int = 250_000
    warm_up_steps: int = 20_000
    learn_every_steps: int = 64
    batch_size: int = 256
    sync_every_steps: int = 8_000
    optimizer_name: settings.OptimizerName = "adam"
    max_gradient_norm: float | None = 10.0
    epsilon_end: float = 0.01
    epsilon_steps: int = 250_000
    double: bool = True
    n: int = 3
    turns: int = 16


class Experiment(experiment.Experiment):
    """
    ## The experiment

    Args:
        settings: see above.
    """

    algorithm = "fast-dqn"
    settings_class = Settings
