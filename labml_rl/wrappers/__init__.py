"""
---
title: The game as wrappers
summary: The Atari pipeline of the DQN paper as separate Gymnasium wrappers.
---

# The game as wrappers

[The game](../game.py) is one class that does everything. That is the fastest way, and
the easiest to get right. But if you want colours, another size, another number of
frames a step or random actions at the start, you have to rewrite it.

Here each part is a separate **wrapper**. A wrapper is an environment around another
environment: it changes one thing and passes on the rest. Put one around another, and
they make a pipeline. Most programs that play Atari are built that way, so these pages
also help you to read those programs.

At the end of this page, [nature_dqn_env][] puts the wrappers together as [Mnih et al.
(2015)](https://doi.org/10.1038/nature14236) describe. The result is the same game that
[make_game][labml_rl.game.make_game] makes, in every pixel, reward, end and score. It is
slower, because every single frame is copied out of the emulator.

## The order

The order matters more than any one wrapper. From the emulator up to the agent, with the
shape of an observation in Breakout wherever it changes:

| wrapper | what it does | shape |
|---|---|---|
| [Frames][] | one step is one frame | `(210, 160, 3)` |
| [EpisodeStatistics][] | adds up the score, before anything changes it | |
| [StackFrames][] | shows the last two frames | `(2, 210, 160, 3)` |
| [NoopStart][] | lets some frames pass before a game begins | |
| [RepeatAndMax][] | from here on, one step is four frames | `(210, 160, 3)` |
| [EpisodicLife][] | ends an episode when a life is lost | |
| [FireStart][] | presses the button when an episode begins | |
| [Grey][], [Resize][], [CropRows][] | make one small picture | `(84, 84)` |
| [StackFrames][], again | shows the last four pictures | `(4, 84, 84)` |
| [ClipReward][] | pays the sign of the points | |
| [MinimalActions][] | takes useless actions away | |
| [CountSteps][] | counts the steps of the agent | |

Another pipeline can go around any Atari environment that plays one frame a step. This
one starts with random actions, and sees colours:

```python
import ale_py
import gymnasium
from labml_rl.wrappers import (
    MoveChannels,
    RandomStart,
    RepeatAndMax,
    Resize,
    StackFrames,
)

gymnasium.register_envs(ale_py)
env = gymnasium.make(
    "ALE/Breakout-v5",
    frameskip=1,
    repeat_action_probability=0,
)
env = RandomStart(StackFrames(env, 2))
env = RepeatAndMax(env)
env = MoveChannels(Resize(env, 64, 64))  # (3, 64, 64)
```

A wrapper that does not find what it needs says so when it is made, and
[EpisodicLife][] at the first `reset`.

To train an agent in a pipeline of your own, register it [as any other
environment](../environments.py). It is treated like one, too: each of its steps is
counted as one frame, so a run of ten million frames has ten million steps. And the
settings of Atari games don't reach it: if you want clipped rewards, put [ClipReward][]
into the pipeline.
"""

from functools import partial
from typing import Any

import gymnasium

from labml_rl.batch import Games, SerialGames, spawn_seeds
from labml_rl.game import GameOptions, loader
from labml_rl.worker import ParallelGames
from labml_rl.wrappers.acting import (
    EpisodicLife,
    FireStart,
    MaxBetweenFrames,
    NoopStart,
    RandomStart,
    RepeatAndMax,
    SkipFrames,
)
from labml_rl.wrappers.frames import (
    ClipReward,
    CountSteps,
    EpisodeStatistics,
    Frames,
    MinimalActions,
)
from labml_rl.wrappers.pictures import (
    CropRows,
    Grey,
    MoveChannels,
    Resize,
    ScaleToFloat,
    StackFrames,
)

__all__ = [
    "ClipReward",
    "CountSteps",
    "CropRows",
    "EpisodeStatistics",
    "EpisodicLife",
    "FireStart",
    "Frames",
    "Grey",
    "MaxBetweenFrames",
    "MinimalActions",
    "MoveChannels",
    "NoopStart",
    "RandomStart",
    "RepeatAndMax",
    "Resize",
    "ScaleToFloat",
    "SkipFrames",
    "StackFrames",
    "nature_dqn_env",
    "wrap",
]


def wrap(frames: Frames, options: GameOptions) -> gymnasium.Env[Any, Any]:
    """
    ## The pipeline

    Args:
        frames: the game, frame by frame.
        options: those of [the game][labml_rl.game.GameOptions], except for what
            `frames` decides: `sticky_actions`, `max_frames` and `render_mode`.

    Returns:
        The same as a [Game][labml_rl.game.Game] with these options.
    """
    env: gymnasium.Env[Any, Any] = EpisodeStatistics(frames)

    # The two frames come first, so that the no-ops are among them.
    env = StackFrames(env, 2)
    if options.noop_max > 0:
        env = NoopStart(env, options.noop_max)
    env = RepeatAndMax(env)

    # The button is pressed in each episode.
    if options.episodic_life:
        env = EpisodicLife(env)
    if options.fire_at_start and "FIRE" in frames.minimal_actions():
        env = FireStart(env)

    env = Grey(env)
    env = CropRows(Resize(env, 110), 18, 84) if options.crop_scoreboard else Resize(env)
    env = StackFrames(env, options.stack, axis=-1 if options.channels_last else 0)

    if options.clip_rewards:
        env = ClipReward(env)
    if not options.full_action_space:
        env = MinimalActions(env)
    return CountSteps(env)


def nature_dqn_env(
    game: str,
    n_games: int | None = None,
    seed: int | None = None,
    *,
    workers: int | None = None,
    **options: Any,
) -> gymnasium.Env[Any, Any] | Games:
    """
    ## All together

    One game, or several, which are played [in worker processes](../worker.py) at the
    same time.

    ```python
    from labml_rl.wrappers import nature_dqn_env

    env = nature_dqn_env("SpaceInvaders", seed=1)
    obs, info = env.reset()  # uint8, (4, 84, 84)

    if __name__ == "__main__":
        envs = nature_dqn_env("SpaceInvaders", 8, seed=1)
        obs, infos = envs.reset()  # (8, 4, 84, 84)
        envs.close()
    ```

    Args:
        game: its name in any spelling.
        n_games: how many; `None` for a single one, with no batch.
        seed: decides everything random; `None` draws one. Each of several games gets [a
            seed of its own][labml_rl.batch.spawn_seeds] from it.
        workers: how many processes; `None` is one for each core, and with 0 all games
            are played [in this one][labml_rl.batch.SerialGames].
        options: any of [GameOptions][labml_rl.game.GameOptions].

    Returns:
        An environment; or, of several games, a `VectorEnv`.

    Raises:
        ValueError: if there is no such game, or an option makes no sense.
        TypeError: if there is no such option.
    """
    if n_games is None:
        return _one_game(game, seed, options)
    seeds = spawn_seeds(seed, n_games)
    make_envs = [partial(_one_game, game, each, options) for each in seeds]
    if workers == 0:
        return SerialGames(make_envs)
    return ParallelGames(make_envs, workers=workers)


def _one_game(
    game: str, seed: int | None, options: dict[str, Any]
) -> gymnasium.Env[Any, Any]:
    chosen = GameOptions(**options)
    load = loader(game, chosen)
    frames = Frames(load, chosen.max_frames, chosen.render_mode, seed)
    return wrap(frames, chosen)


# ## If you come from elsewhere
#
# Many readers know these steps from two much-copied programs, [a notebook about
# A2C](https://github.com/450586509/reinforcement-learning-practice/blob/master/07_A2C.ipynb)
# and a post about DQN in `MsPacman-v0`, or by the names that Baselines and Gymnasium
# give them.
#
# **The A2C notebook**
#
# | there, and here | what was wrong there |
# |---|---|
# | `EpisodicLife`: [EpisodicLife][] | its step between two lives can end the game |
# | `FireReset`: [FireStart][] | can show a finished game; presses action 2 |
# | `StartWithRandomActions`: [RandomStart][] | global dice; plays on after the end |
# | `ImagePreprocessing`: [Grey][], [Resize][] | bilinear; swaps height and width |
# | `MaxBetweenFrames`: [MaxBetweenFrames][] | forgets the seed given to `reset` |
# | `SkipFrames`: [SkipFrames][] | nothing |
# | `QueueFrames`: [StackFrames][] | forgets the seed given to `reset` |
# | `ClipReward`: [ClipReward][] | nothing |
# | `TFSummaries`: [EpisodeStatistics][] | TensorFlow 2 has no `tf.contrib` |
# | `SpaceBatch`: Gymnasium's `batch_space` | cannot be sent to a process |
# | `EnvBatch`, `SingleEnvBatch`: [SerialGames][] | throws last observations away |
# | `ParallelEnvBatch`: [ParallelGames][] | throws last observations away |
# | `nature_dqn_env`: [nature_dqn_env][] | eight games with one seed begin alike |
#
# There, rewards are clipped and the stack is the last axis. Here both must be asked
# for: `clip_rewards=True, channels_last=True`.
#
# **The DQN post**
#
# | there, and here | what was wrong there |
# |---|---|
# | `MaxAndSkipEnv`: [RepeatAndMax][] | maximum of 16 frames: trails everywhere |
# | `ProcessFrame84`: [Grey][], [Resize][] | 0.229 for 0.299: white becomes 237 |
# | `BufferWrapper`: [StackFrames][] | all observations are one array |
# | `ImageToPyTorch`: [MoveChannels][] | promises 0 to 1, and passes on bytes |
# | `ScaledFloatFrame`: [ScaleToFloat][] | makes the replay memory four times as large |
# | `make_env`: [nature_dqn_env][] | sticky actions, which nobody asked for |
#
# **Names of games**
#
# | in Gymnasium | frames a step | sticky actions |
# |---|---|---|
# | `BreakoutNoFrameskip-v4` | 1 | none |
# | `Breakout-v4` | 2, 3 or 4, at random | none |
# | `Breakout-v0` | 2, 3 or 4, at random | 0.25 |
# | `ALE/Breakout-v5` | 4 | 0.25 |
#
# Most programs put their wrappers around the first, and that is what `"Breakout"` is
# here. With `sticky_actions=0.25` it is as sticky as the last. A wrapper that repeats
# actions, around one of the other three, repeats what is repeated already.
#
# Since version 1.0, Gymnasium knows these names only after `import ale_py`, and says
# `NamespaceNotFound` or `NameNotFound` without it. Two kinds of names are gone from
# ale-py 0.12: `BreakoutDeterministic-v4` is now `ALE/Breakout-v5` with
# `repeat_action_probability=0`, and `Breakout-ram-v4` the same with `obs_type="ram"`.
#
# **Baselines, Stable-Baselines3, CleanRL**
#
# | there, and here | what is different there |
# |---|---|
# | `NoopResetEnv`: [NoopStart][] | a game that ends during no-ops gets only the rest |
# | `MaxAndSkipEnv`: [RepeatAndMax][] | old frames if the end comes early |
# | `EpisodicLifeEnv`: [EpisodicLife][] | in Baselines, its own step can end the game |
# | `FireResetEnv`: [FireStart][] | can show a finished game; presses action 2 |
# | `WarpFrame`: [Grey][], [Resize][] | a third axis, `(84, 84, 1)` |
# | `ClipRewardEnv`: [ClipReward][] | nothing |
# | `FrameStack`: [StackFrames][] | `LazyFrames`, which share their pictures |
# | `VecFrameStack`: [StackFrames][] | black pictures at the beginning |
# | `make_atari`, `wrap_deepmind`: [nature_dqn_env][] | what differs in their parts |
# | `AtariWrapper`: [nature_dqn_env][] | the same, and no stack |
#
# **Gymnasium**
#
# | there, and here | what is different there |
# |---|---|
# | `RecordEpisodeStatistics`: [EpisodeStatistics][] | its `"l"` would count frames |
# | `FrameStackObservation`: [StackFrames][] | the new axis is always the first |
# | `RepeatAction`: [SkipFrames][] | can be terminated and truncated at once |
# | `MaxAndSkipObservation`: [RepeatAndMax][] | old frames if the end comes early |
# | `GrayscaleObservation`: [Grey][] | weights 0.2125, 0.7154 and 0.0721 |
# | `ResizeObservation`: [Resize][] | nothing |
# | `ClipReward`: [ClipReward][] | with −1 and 1 it leaves 0.5 as it is |
# | `AtariPreprocessing`: [nature_dqn_env][] | a lost life can restart the game |
