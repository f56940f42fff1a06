r"""
---
title: Rainbow
summary: >-
  All six improvements of DQN at once, with the settings of the paper, and with others
  that do not take a week.
---

# Rainbow

Between 2015 and 2017 DQN was improved again and again, each time in a different place.
[Hessel et al. (2018)](https://arxiv.org/abs/1710.02298) switched six of these
improvements on at once and called that **Rainbow**. Over 57 games and 200 million
frames, its [human-normalised](../watch/many.py#one-scale) median was 223%. The best
agent that they compare it with has only the distribution of returns, and reaches 164%.
DQN had 79%. (The 164% is from their own runs; the [authors](distribution.py) of that
part report 178%.)

| part | what it is for |
|---|---|
| [double Q-learning][labml_rl.dqn.following_values] | values that are not exaggerated |
| [three steps][labml_rl.dqn.td_loss] (*multi-step*) | a reward comes back faster |
| [priorities](../replay/prioritised.py) | more of what was a surprise |
| [two streams](dueling.py) (*dueling*) | what actions have in common is learned once |
| [distributions](distribution.py) (*distributional*) | more to learn from each step |
| [noise](noisy.py) | exploring without a schedule |

Each part has its own page, and is a switch of [the experiment](experiment.py). What is
left is two lists of numbers.

```sh
labml-rl train rainbow --game Breakout
labml-rl train fast-rainbow --game Pong
```

## What each is worth

Hessel et al. also took the parts away, one at a time (an *ablation*). This is what the
median did:

| without | the median |
|---|---|
| the three steps, or priorities | fell most |
| distributions | fell less, and not before 40 million frames |
| noise | fell less still |
| the two streams, or double Q-learning | was about the same |

But games differ: a part helps in some, and does harm in others.

A switch that begins with `no-` takes one away here:

```sh
labml-rl train fast-rainbow --game Pong \
    --no-prioritised --folder runs/no-priorities
```

Without the noise something else has to explore. `fast-rainbow` has epsilon as well, and
`rainbow` has to be given one.

## How they fit together

- **Priorities** are [divergences][labml_rl.dqn.distribution.distribution_loss], and not
  errors of the mean: divergences are what the loss makes smaller.
- **Double Q-learning** and exploring look at the means alone.
- **Two streams**: the first gives 51 numbers, one for each atom. The second gives 51
  for each action, and for each atom the mean over the actions is subtracted from them.
  The sum of both [goes through the
  softmax][labml_rl.dqn.distribution.DistributionNetwork]. So the first is no longer the
  value of the position.
- **Noise** is in all linear layers of both streams. The network and the target network
  each draw their own, so a target does not share the noise of the answer it corrects.

## What it has learned

![The mean score of the last hundred games of Rainbow in Pong, over the frames played,
and beside it that of two runs of DQN, which rise earlier: it ends at
−16](../../assets/figures/run-fast-rainbow-pong-seed-1.svg)

*Pong, with the [fast settings][FastSettings], beside the two recorded runs of [fast
DQN](fast.py).*

So all six at once did *not* pay off here. Fast DQN has two of them already, and it
began to win points about a million frames earlier and rose faster. That does not
contradict the paper. It is one game, one seed, and a run that ends where those of the
paper have hardly begun. The settings were chosen for DQN, and they have one batch of
256 where the paper has sixteen of 32.

Is this slow for a Rainbow? The authors of Dopamine [publish five
runs](https://github.com/google/dopamine/tree/master/baselines/atari) of theirs in this
game. Their Rainbow has three of the six parts (three steps, priorities and
distributions), batches like those of the paper, and [sticky
actions](../watch/__init__.py#what-a-score-means). Here are the lowest and the highest
of the five, each the mean of all games in a million frames, and the last hundred games
of this run when that million was over:

| million | third | fourth | fifth | sixth | seventh |
|---|---|---|---|---|---|
| Dopamine, lowest | −19.8 | −17.9 | −15.4 | −10.6 | −0.9 |
| Dopamine, highest | −17.7 | −13.8 | −9.3 | 8.2 | 12.7 |
| this run | −20.3 | −18.1 | −16.1 | – | – |

So it is a little behind the slowest of theirs, with a sixteenth of the steps of the
optimiser. And it ends where theirs are about to win.

![A minute of a game of Pong. Beside it are a band that shows how likely the agent holds
each return, and what it expects of each
action](../../assets/films/run-fast-rainbow-pong-seed-1.mp4){ width=1280 height=720 }

*A minute of that agent, as it was at the end. The blue band is [the
distribution](distribution.py): the brighter, the likelier it holds a return to be. The
band falls just before a point is lost (the red marks).*

The run, with its command and its scores, is on the [page of
results](../../results.md#pong-by-rainbow).

!!! note "Ten is not the most"
    The atoms lie between −10 and 10. Even with [clipped rewards](../runs/games.py),
    Hessel et al. found returns that were often higher than 10, so that the values were
    too *small*. They suppose that this is why double Q-learning makes so little
    difference here: values that cannot exceed 10 are hard to exaggerate.
"""

from dataclasses import dataclass

from labml_rl.dqn import experiment, fast, settings


@dataclass(frozen=True, kw_only=True)
class Settings(settings.Settings):
    r"""
    ## The settings of the paper

    They are those of table 1 of Hessel et al., and anything not named here is as in
    [Nature](settings.py). There are two exceptions:

    - The warm-up is played at random, where [DQN
      Zoo](https://github.com/google-deepmind/dqn_zoo) has the network play with its
      noise.
    - There is less noise.

    Gradients longer than 10 are cut, as for [two streams](dueling.py) alone. Their
    table does not say so, but [the first author
    does](https://github.com/Kaixhin/Rainbow/wiki/Matteo's-Notes).

    Their own program was, as far as we know, never published. These differences are
    known: priorities are divergences, as in their paper, and [not
    cross-entropies][labml_rl.dqn.distribution.distribution_loss]; all advantages [begin
    at 0](dueling.py); when the agent is [measured](../watch/__init__.py), one action in
    twenty is random. From DQN Zoo ours differs in more. The gradient of the two streams
    is [made smaller](dueling.py) before it goes into the body. Each row of a batch has
    [noise of its own](noisy.py), which is not cut off at ±2, and the two streams share
    that of their inputs. The last layers have a bias besides that of their noise.
    Priorities are not cut off at 100, all steps are drawn by them, and an agent that is
    measured has no noise.

    !!! warning "How much noise?"
        They have 0.5, like Fortunato et al. But a footnote says that they drew the
        noise on a GPU, that TensorFlow's noise "can be unreliable" there, and that 0.1
        "may be helpful" for those who draw it on the CPU. So nobody knows how much
        noise there was with their 0.5. DQN Zoo has 0.1, and so has this page.
    """

    epsilon_start: float = 0.0
    epsilon_end: float = 0.0
    warm_up_steps: int = 20_000
    sync_every_steps: int = 8_000
    optimizer_name: settings.OptimizerName = "adam"
    learning_rate: float = 6.25e-5
    adam_epsilon: float = 1.5e-4
    max_gradient_norm: float | None = 10.0
    double: bool = True
    dueling: bool = True
    n: int = 3
    distributional: bool = True
    noisy: bool = True
    noise: float = 0.1
    prioritised: bool = True
    priority_exponent: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        explores = (self.noisy and self.noise) or self.epsilon_start or self.epsilon_end
        if not explores:
            raise ValueError(
                "without noise nothing tries out other actions: give epsilon_start and "
                "epsilon_end as well, such as 1 and 0.01"
            )


class Experiment(experiment.Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "rainbow"
    settings_class = Settings


@dataclass(frozen=True, kw_only=True)
class FastSettings(fast.Settings):
    r"""
    ## In an evening

    The same six parts, with everything else from [the fast settings](fast.py) of DQN:
    sixteen games at once, and a batch of 256 for every 64 steps. Double Q-learning and
    the three steps are on in those already, so they are not in the list below. The
    learning rate is the fast one as well, four times that of the paper, which had
    batches of 32. Adam adds 1e-5 to its divisor, as there, and not the 1.5e-4 of the
    paper. The exponent of the priorities is that of the paper.

    Besides its noise, the agent explores with epsilon, as in the fast settings.

    !!! warning "Four runs that learned nothing"
        Before the run that is shown above, there were four others of Pong with other
        settings. Those agents lost nearly every point, with the same action on nearly
        every screen. We looked into the last two:

        - In the third, with noise of 0.5 and epsilon, [no unit was left
          alive](dueling.py#where-the-streams-part) in the stream of the advantages. Two
          things kill them, each on its own, in three hundred batches: advantages that
          begin at random, and noise of 0.5. A unit that is off sends 0, and the noise
          of the weights after it is multiplied by that 0. So switching units off is a
          way to make the answers less noisy.
        - In the fourth, with advantages that begin at 0 and noise of 0.1, the units
          lived but learned next to nothing, in 2.7 million frames. Adam added
          $1.5 \cdot 10^{-4}$ to its divisor, as in the paper. In the body and in the
          hidden layer, gradients are smaller than that, most of them below $10^{-5}$,
          and so the steps are much shorter than the learning rate. With batches of 32,
          gradients are hardly larger. But there are sixteen times as many of these
          short steps in the paper. With $10^{-5}$, a network that learned from random
          play told screens apart after 600 batches. With the number of the paper it did
          not.

        The fifth run, with advantages that begin at 0, noise of 0.1 and $10^{-5}$, is
        the one above. The settings were chosen on the game that they are shown in, so
        other games have yet to confirm them. No record was kept of the four runs and
        the trials.
    """

    dueling: bool = True
    distributional: bool = True
    noisy: bool = True
    noise: float = 0.1
    prioritised: bool = True
    priority_exponent: float = 0.5


class FastExperiment(experiment.Experiment):
    """
    ### The experiment

    Args:
        settings: see above.
    """

    algorithm = "fast-rainbow"
    settings_class = FastSettings
