r"""
---
title: A problem that takes a minute
summary: >-
  Settings of PPO, A2C and PQN for a pole on a cart, and of DQN for two rods on a hook,
  where you soon see whether anything learns.
---

# A problem that takes a minute

An Atari game takes half an hour to learn, or many hours. If you are new to this, you
want to see an agent learn today. If you have changed a line of an algorithm, you want
to know at once whether it still learns. The best known problem for that is CartPole: a
pole stands on a cart, and the agent pushes the cart to the left or to the right, so
that the pole does not fall.

```sh
labml-rl train small-ppo
labml-rl watch runs/small-ppo/CartPole-v1/seed-1
```

`tensorboard --logdir runs`, in another terminal, shows the curves of all runs as they
grow. And with `--video pole.mp4`, `watch` films the pole. For that, Gymnasium needs
pygame: `pip install "gymnasium[classic-control]"`.

There are no pixels. The agent sees four numbers: where the cart is, how far the pole
leans, and how fast both of these change. Each step is worth a point. An episode ends
when the pole falls or the cart leaves its track, or after 500 steps, so 500 points are
the maximum, and from 475 on Gymnasium calls it solved. Pushing at random scores about
20.

The algorithms are those of the games, and so is every line of their code. But their
settings for games are far too cautious here. So this page has other numbers, and
[another problem][DQNSettings] that suits DQN better. What all of them have in common:

| what | games | here | why |
|---|---|---|---|
| processes | one for each core | one | a step takes less time than a message |
| device | a GPU, if there is one | the processor | the way to a GPU takes longer |
| precision | 16 or 32 bits | 32 | the network is tiny, and rounding saves nothing |
| learning rate | small | larger | four numbers are easier to read than pixels |

(We have not measured the way to a GPU. The authors of Stable-Baselines3 [advise the
same](https://stable-baselines3.readthedocs.io/en/master/modules/ppo.html).)

## When it does not learn

Each run writes down more than its score, and what it writes says where to look: fifteen
mistakes were planted [in PPO](mistakes.py), and fifteen [in DQN](dqn/mistakes.py), to
show what each of them looks like.

Be patient before you search. A score that rises, falls and rises again is normal, for
A2C above all, and so is one that stops improving for a while (a *plateau*). And the A2C
below had 20 to 24 points in the first 26,000 of its 500,000 frames. Then make the
problem smaller: one seed, one change at a time.

Three curves of PPO look different here than [for games][labml_rl.ppo.divergence]. Its
settings below take larger steps, so that up to half of all ratios are clipped, and
`divergence` is a tenth now and then, where a game has a few thousandths. And once the
pole stands, all returns are alike, and `explained_variance` may be far below 0.

## Try it yourself

Each of these takes a minute or so, the first four with `labml-rl train small-ppo`.
Before each, say what you expect. Each needs its own folder, such as
`--folder runs/epochs-1`.

1. Train with `--seed` 2 to 5, in addition to the run with seed 1 that you have. How far
   apart are the five curves?
2. `--epochs 1`: what is `clip_fraction` now, and why?
3. `--gae-lambda 0`, then `--gae-lambda 1`: which has more bias, and which more
   variance?
4. `--discount 0.5`: how many steps away must a reward be to count for less than 1%?
5. Take the minus out of [policy_loss][labml_rl.a2c.policy_loss], and train `small-a2c`.

??? tip "Answers"
    1. Far enough that one seed shows little. Two programs can't be compared by one
       curve each.
    2. Zero. Each batch is one minibatch, so there is a single step in it, and until it
       is made $\pi'$ is $\pi$ and all ratios are 1. With a twentieth of the steps of
       the optimiser, it learns much less from as many frames.
    3. With 0 there is the most bias: the agent believes the critic after a single
       reward. With 1 there is the most variance: the luck of all that follows in the
       rollout, up to 32 steps, is in it. On the pole you see little of either. The
       critic is soon good, and there is little luck. But with 1 the curve of seed 1
       falls once more: on our two cores to less than half of what it was, with one
       thread by a fifth.
    4. Seven: $0.5^7 = 0.008$. With the 0.98 of this page it is 228. An agent that sees
       a fall only seven steps ahead does not learn to stay in the middle.
    5. It learns to let the pole fall, and scores less than pushing at random.
"""

from dataclasses import dataclass

from labml_rl.a2c import experiment as a2c
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn import settings as dqn_settings
from labml_rl.ppo import experiment as ppo
from labml_rl.pqn import experiment as pqn
from labml_rl.speed import Precision


@dataclass(frozen=True, kw_only=True)
class PPOSettings(ppo.Settings):
    """
    ## PPO

    Short rollouts, and many passes over each. The numbers are those of [RL Baselines3
    Zoo](https://github.com/DLR-RM/rl-baselines3-zoo), except for the length of the run,
    which is 100,000 frames there, and the clip, which goes down in the course of their
    runs. Their network has tanh where this one has ReLU, and their critic's loss counts
    twice as much. The agent is not paid for being undecided: with two actions, it will
    have tried both.

    ![The mean score of the last hundred games of PPO in CartPole, over the frames
    played: it ends at 500](../assets/figures/run-small-ppo-cartpolev1-seed-1.svg)
    """

    game: str = "CartPole-v1"
    total_frames: int = 150_000
    workers: int | None = 0
    device: str = "cpu"
    precision: Precision = "float32"
    steps: int = 32
    minibatches: int = 1
    epochs: int = 20
    learning_rate: float = 1e-3
    clip: float = 0.2
    gae_lambda: float = 0.8
    discount: float = 0.98
    entropy_coefficient: float = 0.0


class SmallPPO(ppo.Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "small-ppo"
    settings_class = PPOSettings


@dataclass(frozen=True, kw_only=True)
class A2CSettings(a2c.Settings):
    """
    ## A2C

    It takes one step for each rollout, where PPO takes twenty, so it needs more of
    them. The learning rate was chosen from three, with seeds other than that of the
    curve. (The epsilon is [the large one][labml_rl.a2c.RMSProp]. It does little harm
    here: gradients are longer, and spread over only 9,000 weights.)

    ![The mean score of the last hundred games of A2C in CartPole, over the frames
    played: it ends at 500](../assets/figures/run-small-a2c-cartpolev1-seed-3.svg)
    """

    game: str = "CartPole-v1"
    total_frames: int = 500_000
    num_envs: int = 8
    workers: int | None = 0
    device: str = "cpu"
    precision: Precision = "float32"
    learning_rate: float = 5e-3
    rms_epsilon: float = 1e-5
    entropy_coefficient: float = 0.0


class SmallA2C(a2c.Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "small-a2c"
    settings_class = A2CSettings


@dataclass(frozen=True, kw_only=True)
class DQNSettings(dqn_settings.Settings):
    r"""
    ## DQN

    Settings for a problem that suits DQN better than the pole. It learns once in eight
    steps, from 128 of the last 50,000, with Adam and with the targets of double DQN,
    which count [three rewards][labml_rl.dqn.td_loss]. The numbers were chosen from some
    twenty sets of settings, with other seeds than that of the curve. With a single
    reward, a larger learning rate and a newer target network, as in [the
    mistakes](dqn/mistakes.py), agents were good at one time and useless a few thousand
    frames later.

    Two rods hang from a hook, one below the other. A motor in the joint between them
    can turn the lower one to the left or to the right, or do nothing. The free end
    should come up to a line that is one rod's length above the hook. The motor is too
    weak for that, so the rods have to be swung up: this is
    [Acrobot](https://gymnasium.farama.org/environments/classic_control/acrobot/). The
    agent sees six numbers, the cosine and sine of both angles, and how fast these
    change. Each step costs a point until the line is reached. After 500 steps the
    episode is cut off, and random play seldom ends in any other way.

    ![The mean score of the last hundred games of DQN in Acrobot, over the frames
    played: it ends at −90](../assets/figures/run-small-dqn-acrobotv1-seed-31.svg)

    There is a check here that the pole does not offer. All rewards are −1 or 0, and
    losing a point at every step for ever adds up to $1 / (1 - \gamma)$, which is 100.
    So every action value lies between −100 and 0, and one that does not is certainly
    wrong.

    Gymnasium calls it solved at −100, and [the last
    network](../results.md#acrobot-by-dqn), measured by itself, does a little better
    than the curve.

    !!! note "Why not the pole?"
        It is harder for [DQN](dqn/__init__.py) than it looks. All actions are worth
        nearly the same, a hundred steps and more of standing, and DQN can unlearn ten
        thousand steps later what it has learned. `labml-rl train dqn --game
        CartPole-v1` and a dozen options make a good agent with one seed and none with
        the next.
    """

    game: str = "Acrobot-v1"
    lowest_return: float = -100.0
    highest_return: float = 0.0
    total_frames: int = 60_000
    num_envs: int = 8
    workers: int | None = 0
    device: str = "cpu"
    precision: Precision = "float32"
    capacity: int = 50_000
    warm_up_steps: int = 1_000
    learn_every_steps: int = 8
    batch_size: int = 128
    sync_every_steps: int = 1_000
    optimizer_name: dqn_settings.OptimizerName = "adam"
    learning_rate: float = 5e-4
    max_gradient_norm: float | None = 10.0
    epsilon_end: float = 0.05
    epsilon_steps: int = 10_000
    double: bool = True
    n: int = 3


class SmallDQN(dqn.Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "small-dqn"
    settings_class = DQNSettings


@dataclass(frozen=True, kw_only=True)
class PQNSettings(pqn.Settings):
    """
    ## PQN

    [PQN](pqn/__init__.py) learns action values, as DQN does, and it learns the pole.
    The targets of DQN count one reward or three, and those of PQN most of the rewards
    that were seen. It can still unlearn what it knew: with most seeds there is a fall
    somewhere in the curve.

    ![The mean score of the last hundred games of PQN in CartPole, over the frames
    played: it ends at 500](../assets/figures/run-small-pqn-cartpolev1-seed-11.svg)

    We began with the numbers of the authors'
    [program](https://github.com/mttga/purejaxql) for the pole. The learning rate is
    five times theirs, and stays the same, while theirs goes down. Exploring ends
    sooner, with a lower epsilon. Rewards are not made smaller, and the network is a
    quarter as wide. Eight sets of settings were tried with seeds from 1 to 4, and this
    was one of the best. The curve has another seed.
    """

    game: str = "CartPole-v1"
    total_frames: int = 250_000
    num_envs: int = 32
    workers: int | None = 0
    device: str = "cpu"
    precision: Precision = "float32"
    steps: int = 64
    epochs: int = 4
    minibatches: int = 16
    learning_rate: float = 5e-4
    td_lambda: float = 0.95
    epsilon_end: float = 0.05
    epsilon_steps: int = 30_000


class SmallPQN(pqn.Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "small-pqn"
    settings_class = PQNSettings
