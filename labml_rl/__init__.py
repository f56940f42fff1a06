r"""
---
title: Deep reinforcement learning on Atari
summary: What reinforcement learning is, why Atari, and how to read this book.
symbols:
  observation: 'o_t'
  action: 'a_t'
  reward: 'r_t'
  discount: '\gamma'
  policy: '\pi'
---

# Deep reinforcement learning on Atari

Nobody wrote down how to play Breakout. You can learn it nevertheless: press buttons,
watch the screen, and keep doing what raises the score. **Reinforcement learning** makes
a program that learns like that, and *deep* reinforcement learning gives it a neural
network for the watching and deciding.

This book builds such programs from the first frame on. It assumes Python and a little
deep learning; you need not know anything about reinforcement learning. Each page is a
Python module that runs, and that you can import and use.

## The words

There is an **agent**, which decides, and an **environment**, which is everything else.
They take turns:

![An arrow leads from the agent to the game: the action, which buttons it presses.
Another leads back: observation and reward, what it sees and what it is
paid](../assets/figures/agent-and-game.svg)

At time $t$ the agent gets an **observation** $o_t$, what the game looks like now, and
answers with an **action** $a_t$, which buttons to press. The environment moves on, and
pays a **reward** $r_t$: a number, for instance the points just scored. Then comes
$o_{t+1}$, and so on, until the **episode** is over: the ball is lost, the game is won.

An observation is not everything: one picture does not show which way the ball is
flying. The machine that runs the game knows that, and everything else that decides,
together with the action, what happens next. All of that is its **state**. The agent
sees only the observation, and has to decide from that. (In other books this is a
**partially observable Markov decision process**, or POMDP.)

One thing makes this harder than learning from examples. Nobody says which action would
have been right; there is a reward, often much later, for something that was done at
some point before it. In Breakout the points come when the ball hits a brick. The swing
that sent it there was more than a second earlier, and most moves in between had no part
in it.

So the agent does not go after the next reward. It goes after the **return**, the sum of
all the rewards that follow:

$$G_t = r_t + \gamma r_{t+1} + \gamma^2 r_{t+2} + \dots$$

The **discount** $\gamma$, a number a little below 1 such as 0.99, makes a reward count
for less the longer it takes to come. With $\gamma = 0.9$, rewards of 0, 0 and 1 make a
return of $0.9^2 \cdot 1 = 0.81$. The discount keeps the sum finite: a reward of 1 at
each step, for ever, makes $1 + \gamma + \gamma^2 + \dots = 1 / (1 - \gamma)$, which is
100 with $\gamma = 0.99$. And the later a reward comes, the less the action $a_t$ had to
do with it. If late rewards counted in full, chance would hide what the action itself
was worth.

In a game that ends, $\gamma = 1$ is allowed as well. And the score of a game is a plain
sum. So an agent with a discount goes after something a little different from what it is
measured by: with $\gamma = 0.99$, two points that come seventy steps later are worth
less to it than one point now.

How the agent picks its actions is its **policy**, written $\pi(a \mid o)$: the
probability of each action after an observation. To learn is to change the policy so
that the return, on average, grows. Every algorithm is a way of doing that. And each has
to try things out, which is called *exploration*: what an agent never tries, it never
learns about.

## Why Atari

Because it is hard in the right ways and cheap to try. The agent sees what a person
sees, pixels and no more. There are a hundred games, made to amuse people and not to
suit an algorithm: some call for quick reactions, some for a plan, and one program with
the same settings should learn them all. People have played them, so we know what a good
score is. And a computer plays them a hundred times faster than they were meant to be
played, on a single core, so an experiment fits into an evening.

[Mnih et al. (2015)](https://doi.org/10.1038/nature14236) showed with 49 of these games
that one program with the same settings, trained anew for each, learns to play from
pixels. Most of what the field has tried since then has been measured on the same games,
so it can be compared.

## The five algorithms

Three learn a policy, and a **value**: the return to expect after an observation. With
it they judge whether an action turned out better or worse than expected. (They are
*policy gradient* methods and, since they have a value, *actor-critic* methods.)

| what | [A2C][labml_rl.a2c] | [PPO][labml_rl.ppo] | [IMPALA][labml_rl.impala] |
|---|---|---|---|
| learns from | its latest steps, once | its latest steps, 4 times | older steps, once |
| tries things out | by drawing actions | by drawing actions | by drawing actions |
| games at once | 16 | 8 | 32 |
| memory for steps | little | little | little |
| choose it | to see the idea | first, for a new problem | if frames are cheap |

IMPALA is like A2C, but its games go on while the network learns, so its steps are a
little old.

The other two learn a value for each action, the return to expect if it is taken now.
Their policy is then simple, and not learned: take the action with the largest value.
(They are *value-based* methods.)

| what | [DQN](dqn/__init__.py) | [PQN](pqn/__init__.py) |
|---|---|---|
| learns from | old steps, 4 to 8 times | its latest steps, twice |
| tries things out | at random, now and then | at random, now and then |
| games at once | 1, or 16 to be fast | 128 |
| memory for steps | 2 to 7 GB | little |
| choose it | to learn from old play | if many games can be played at once |

### PPO or DQN?

Neither kind is better in all Atari games: in [our runs](../results.md), PPO scores more
than DQN in Pong, and less in Ms. Pac-Man.

A policy is learned by climbing towards what is wanted, a larger return, and it may mix
its actions, which can be best where an observation does not show everything. But what
was played is soon out of date. Values are learned by making them agree with each other
from one step to the next. DQN can use any play for that, again and again. But values
can agree [although the agent plays badly](dqn/mistakes.py).

(All five are *model-free*: they learn what to do, and not what the game will do.
*Model-based* agents learn to predict it.)

## How to read a page

The prose is on the left. The code that it describes is beside it, on the right (on a
small screen, below it), and all of the code is there: from top to bottom, a page is the
whole file. Only where a chapter begins with more prose than code, as here, does the
prose come first. What you see is what the tests run.

Some chapters end with questions, and the answers are folded up below them.

Shapes follow the lines that make them: `# (4, 84, 84)` is an array of four pictures, 84
rows by 84 columns each. A box like the one below marks a place where many programs go
wrong, and names some of these programs: the emulator ALE, and the libraries Gymnasium,
EnvPool, Baselines, Stable-Baselines3, CleanRL and `labml_nn`. You need not know them:

!!! warning "Frames or steps?"
    The emulator draws 60 *frames* a second. The agent decides once every 4 frames, and
    that is one *step*. Ten million frames are two and a half million steps. Papers
    sometimes count one and sometimes the other.

## The pages

### The short way

Half of the pages are about speed and safety. If you want to know how agents learn, read
these first, in this order. ([How to install the book](../index.md#try-it) is on the
front page.)

1. This page. Then, from [the game](game.py), the introduction, the sections [The
   options][labml_rl.game.GameOptions], [The game][labml_rl.game.Game] and [The
   beginning of an episode][labml_rl.game.Game.reset], and the questions at the end of
   the page.
2. [Seeing](bodies.py), without *The layer that takes bytes*, [networks](networks.py),
   [returns and advantages](returns.py), [A2C](a2c/__init__.py) and [its
   experiment](a2c/experiment.py).
3. [A problem that takes a minute](small.py), the part above *When it does not learn*:
   train an agent.
4. [PPO](ppo/__init__.py), [all of it on one page](ppo/plain.py), and [its
   experiment](ppo/experiment.py), to the end of *The loss*. Then go back to [the
   problem that takes a minute](small.py), for *When it does not learn* and *Try it
   yourself*.
5. [DQN](dqn/__init__.py), [exploring](dqn/exploring.py), [replay](replay/__init__.py),
   [all of it on one page](dqn/plain.py), [its experiment](dqn/experiment.py) without
   the losses of distributions and quantiles, and [the fast settings](dqn/fast.py).
6. [What a score means](watch/__init__.py).

### All of it

The whole book, in order and with what each chapter gives you, is [on the front
page](../index.md#the-chapters).
"""

from importlib.metadata import PackageNotFoundError, version

# Importing the book loads nothing heavy: if you want one page, you do not pay for the
# others. A folder that was copied into another project has no version.
try:
    __version__ = version("labml-rl")
except PackageNotFoundError:
    __version__ = "unknown"
