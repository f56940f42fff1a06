r"""
---
title: IMPALA
summary: >-
  Actors that do not wait for the learner play by a policy that is out of date. V-trace
  makes up for it.
symbols:
  ratios: '\frac{\pi(a_t \mid o_t)}{\mu(a_t \mid o_t)}'
  rhos: '\rho_t'
  traces: 'c_t'
  targets: 'v_t'
  advantages: '\hat{A}_t'
---

# Playing while the learner learns (IMPALA)

[A2C](../a2c/__init__.py) and [PPO](../ppo/__init__.py) play and learn in turn. First
all games are played, and then the network learns. While it learns, nobody plays. That
is a pity where the two are done by different parts of a machine, the games by many
cores, say, and learning by a GPU. One of these is always idle:

```text
games    play 1          play 2          play 3
learner          learn 1         learn 2         learn 3
```

So let those that play go on. They are called **actors**. (Not the actor of
*actor-critic*, which is the policy: this one is a process.) While the learner learns
from one rollout, they play the next, with their own network:

```text
actors   play 1  play 2  play 3  play 4
learner          learn 1 learn 2 learn 3
```

This is the *importance weighted actor-learner architecture*, **IMPALA**, of [Espeholt
et al. (2018)](https://arxiv.org/abs/1802.01561). It has hundreds of actors on many
machines. [Here](actors.py) there are a few processes on one.

The idea has a price. Rollout 2 began before anything was learned from rollout 1. So by
the time it is learned from, the policy that played it is one update old (the *policy
lag*). But what A2C learns from has to be played by the policy that learns. This page is
about what goes wrong otherwise, and about **V-trace**, a way of computing returns that
puts it right. [The experiment](experiment.py) is the loop of A2C with these returns,
and [shows how much it matters](../../benchmarks/lag.md). V-trace itself knows nothing
of actors:

```python
import torch
from labml_rl.impala import vtrace
from labml_rl.returns import Rollout

ends = torch.tensor([[False], [False], [True]])
rollout = Rollout(  # T = 3 steps of N = 1 game
    rewards=torch.tensor([[0.0], [0.0], [1.0]]),
    # T + 1 of them, from the network that learns.
    values=torch.tensor([[0.5], [0.6], [0.8], [0.0]]),
    terminated=ends,
    truncated=torch.zeros_like(ends),
)
ratios = torch.tensor([[2.0], [0.5], [1.0]])
targets, advantages = vtrace(  # each (T, N)
    rollout, ratios.log(), discount=0.9
)
```

What comes out is [worked out below][vtrace].

## An old policy

Call the policy that learns $\pi$ (the *target policy*), and the one that played $\mu$
(the *behaviour policy*, or *behavior policy*), an earlier $\pi$. To learn from what
another policy did is to learn **off-policy**. (On the page of PPO these two were $\pi'$
and $\pi$.) Two things go wrong with that.

**The values.** What followed an observation is what follows if you play as $\mu$ does.
The critic should say what to expect of $\pi$.

**The policy.** Say that $\mu$ took some action half of the time, and $\pi$ has learned
to take it a tenth of the time. It is in the rollout five times as often as it should
be, and is praised, or blamed, five times as often.

## Importance sampling

The second of these has a simple remedy, **importance sampling**, as in
[PPO](../ppo/__init__.py#what-has-to-be-given-up). What is there five times too often
counts a fifth. Let $f(a)$ be anything whose mean we want to know, over the actions that
$\pi$ would draw. From those that $\mu$ *did* draw, this mean is

$$\operatorname{E}_{a \sim \pi} \big[ f(a) \big]
= \operatorname{E}_{a \sim \mu}
\left[ \frac{\pi(a \mid o)}{\mu(a \mid o)} \, f(a) \right]$$

All it takes is the ratio of two probabilities. The [samples][labml_rl.sampling.Samples]
have one of them: how likely each action was when it was taken. The other is what the
network says now. (In PPO a gradient goes through this ratio. Here it goes through
$\log \pi$. Where nothing is cut off, it comes to the same thing, since $\nabla \rho =
\rho \nabla \log \pi$.)

The observations are still those that $\mu$ got to. V-trace does not correct that, and
neither does PPO.

## Too many factors

And the values? A return is made of many steps, and the probability of them all is a
product. So each reward has to be multiplied by the ratios of all actions that led to
it. That is right on average, and of no use. Let both policies be nearly the same, with
ratios of 1.1 or of 0.9. A reward that comes after twenty steps of the one kind counts
$1.1^{20} = 6.7$ times, and after twenty of the other $0.9^{20} = 0.12$ times. A few
steps drown out all others, and chance decides which.

So cut the ratios off above 1. A product of such numbers can get small, but never large.
Then the return is no longer right on average, so it matters where we cut.

![Lines over twenty steps, on a scale from 0.1 to 10. In the first panel they spread
from 1 up to 6.7 and down to 0.12; in the second they go down to 0.12, and none is ever
above 1](../../assets/figures/vtrace-ratios.svg)

*How much a reward counts by the number of ratios before it, each of which is 1.1 or
0.9, on the toss of a coin. Thick: all are 1.1, or all 0.9.*
"""

import torch
from torch import Tensor

from labml_rl.a2c import check_constant, check_shapes
from labml_rl.returns import Rollout, check_fraction


@torch.no_grad()
def vtrace(
    rollout: Rollout,
    log_ratios: Tensor,
    *,
    discount: float,
    ratio_clip: float = 1.0,
    trace_clip: float = 1.0,
) -> tuple[Tensor, Tensor]:
    r"""
    ## V-trace

    ### The targets

    Begin with a single step. How much better did it go than expected? That is the error
    of [GAE][labml_rl.returns.gae], $r_t + \gamma F_t - V(o_t)$, where $F_t$ is the
    value of what follows. Here it counts as often as $\pi$ would have brought it about,
    up to $\bar{\rho}$ times:

    $$\rho_t = \min \left( \bar{\rho}, \,
    \frac{\pi(a_t \mid o_t)}{\mu(a_t \mid o_t)} \right)$$

    Later errors count as well, and the likelier $\pi$ is to take the actions that led
    to one, the more it counts. For that there is a second number, which is cut at
    $\bar{c}$:

    $$c_t = \min \left( \bar{c}, \,
    \frac{\pi(a_t \mid o_t)}{\mu(a_t \mid o_t)} \right)$$

    The target $v_t$ of the value is what was expected plus all of these errors, added
    up from the end of the rollout as in GAE:

    $$\begin{aligned}
    v_t - V(o_t) = {} & \rho_t \big( r_t + \gamma F_t - V(o_t) \big) \\
    & {} + \gamma c_t \big( v_{t+1} - V(o_{t+1}) \big)
    \end{aligned}$$

    The second line is 0 where the episode or the rollout ends with step $t$.

    Say that $\mu$ is $\pi$. All ratios are 1, and cuts of 1 or more do nothing. Then
    this is the recursion of GAE with $\lambda = 1$, and $v_t$ is the [discounted
    return][labml_rl.returns.discounted_returns]. So if the actors wait, these are the
    returns of A2C.

    ### Two cuts

    **$\bar{\rho}$ says what is learned.** The values come to rest where the targets,
    on average, ask for no change. With errors $\delta(a)$ after an action, and a single
    step, that is where

    $$\begin{aligned}
    &\sum_a \mu(a) \min \Big( \bar{\rho}, \frac{\pi(a)}{\mu(a)} \Big) \delta(a) \\
    &= \sum_a \min \big( \bar{\rho} \mu(a), \pi(a) \big) \delta(a) = 0
    \end{aligned}$$

    The values of a policy are those for which its mean error is 0. So take $\pi$, cut
    each probability at $\bar{\rho}$ times that of $\mu$, and divide by their sum, so
    that they add up to 1. The sum above stays 0, and the values that are learned are
    those of this policy. (It is theorem 1 of the paper, and exact if each observation
    has its own value, as in a table.) For two actions and $\bar{\rho} = 1$:

    | policy | left | right |
    |---|---|---|
    | $\mu$, which played | 0.9 | 0.1 |
    | $\pi$, which learns | 0.5 | 0.5 |
    | the smaller of the two | 0.5 | 0.1 |
    | the same, scaled to a sum of 1 | 0.83 | 0.17 |

    So the values are those of a policy somewhere between the two. With no cut at all
    they would be those of $\pi$, at the price of letting a single step count for a
    great deal.

    **$\bar{c}$ says how fast.** On its way back to step $t$, the error of step $t + 3$
    is multiplied by $c_t \, c_{t+1} \, c_{t+2}$. $\bar{c} = 1$ keeps this product from
    growing. This cut only decides how far back an error is felt. As long as it is not
    above $\bar{\rho}$, which the theorem needs, the same values come out in the end. So
    it costs nothing but time.

    ### The advantages

    The gradient of the policy needs to know how good an action was. That is its reward
    and the *target* of what follows, which knows more than the value does. It counts as
    often as $\pi$ would have taken the action:

    $$\hat{A}_t = \rho_t \big( r_t + \gamma v_{t+1} - V(o_t) \big)$$

    $F_t$ takes the place of $v_{t+1}$ where the episode or the rollout ends. If both
    cuts are the same, as they are here unless you say otherwise, this is $v_t -
    V(o_t)$, as for GAE. If not, the errors of later steps are multiplied by $\rho_t$ in
    the advantage, and by $c_t$ in the target. The advantage goes into [A2C's
    loss][labml_rl.a2c.policy_loss] as it is.

    ### An example

    This is the example of [GAE][labml_rl.returns.gae], three steps of which the third
    ends the episode, with $\gamma = 0.9$. The first action is one that $\pi$ has come
    to like, and the second one that it has turned away from:

    | step $t$ | 0 | 1 | 2 |
    |---|---|---|---|
    | reward $r_t$ | 0 | 0 | 1 |
    | value $V(o_t)$ | 0.5 | 0.6 | 0.8 |
    | what follows, $F_t$ | 0.6 | 0.8 | 0 |
    | error, as in GAE | 0.04 | 0.12 | 0.2 |
    | $\pi / \mu$ | 2 | 0.5 | 1 |
    | $\rho_t$ and $c_t$ | 1 | 0.5 | 1 |
    | target $v_t$ | 0.675 | 0.75 | 1 |
    | advantage $\hat{A}_t$ | 0.175 | 0.15 | 0.2 |
    | target if $\mu$ were $\pi$ | 0.81 | 0.9 | 1 |

    The target 0.75 is $0.6 + 0.5 \cdot 0.12 + 0.9 \cdot 0.5 \cdot 0.2$. What came of
    the second action counts for half, in its own target and in that of the step before
    it, since $\pi$ takes that action half as often. The first action counts no more
    than once, though $\pi$ likes it twice as much.

    !!! warning "Whose values?"
        Those of the network that learns, as it is now. The ones that the actors wrote
        down while they played are older. They are only good for what nobody else has
        seen: the observation after a [time limit][labml_rl.returns.Rollout.following].

    Args:
        rollout: what was seen. Its values are those of the network that learns.
        log_ratios: $\log \pi - \log \mu$ of each action that was taken, shape `(T, N)`.
        discount: $\gamma$, from 0 to 1.
        ratio_clip: $\bar{\rho}$.
        trace_clip: $\bar{c}$, not larger than `ratio_clip`.

    Returns:
        $v_t$ and $\hat{A}_t$, each of shape `(T, N)`.

    Raises:
        ValueError: if a number is out of bounds, or if the ratios differ in shape from
            the rewards, or have a gradient.
    """
    check_fraction("discount", discount)
    check_constant(log_ratios=log_ratios)
    if not 0 < trace_clip <= ratio_clip:
        raise ValueError(
            "trace_clip must be above 0 and not above ratio_clip, not "
            f"{trace_clip} with {ratio_clip}"
        )
    rewards, values, ends = rollout.rewards, rollout.values[:-1], rollout.ends  # (T, N)
    following = rollout.following  # (T, N)
    check_shapes(log_ratios=log_ratios, rewards=rewards)
    ratios = log_ratios.exp()  # (T, N)
    rhos, traces = ratios.clamp(max=ratio_clip), ratios.clamp(max=trace_clip)  # (T, N)

    # What is added to the values, from the last step to the first. Where an episode
    # ends, or the rollout, nothing comes from later steps:
    # $$\begin{aligned}
    # v_t - V(o_t) = {} & \rho_t \big( r_t + \gamma F_t - V(o_t) \big) \\
    # & {} + \gamma c_t \big( v_{t+1} - V(o_{t+1}) \big)
    # \end{aligned}$$
    errors = rhos * (rewards + discount * following - values)  # (T, N)
    added = torch.empty_like(errors)  # (T, N)
    later = torch.zeros_like(errors[-1])  # (N,)
    for t in reversed(range(len(rewards))):
        later = errors[t] + discount * traces[t] * torch.where(ends[t], 0.0, later)
        added[t] = later
    targets = values + added  # (T, N)

    # What follows a step is worth $v_{t+1}$, and at such an end $F_t$:
    # $$\hat{A}_t = \rho_t \big( r_t + \gamma v_{t+1} - V(o_t) \big)$$
    after = following.clone()  # (T, N)
    after[:-1] = torch.where(ends[:-1], following[:-1], targets[1:])
    advantages = rhos * (rewards + discount * after - values)  # (T, N)
    return targets, advantages


# ## Questions
#
# 1. $\mu$ took an action with probability 0.2, and $\pi$ takes it with 0.3. What are
#    $\rho_t$ and $c_t$ if both cuts are 1? And the other way around?
# 2. $\mu$ takes left and right equally often, and $\pi$ takes left with 0.8. Which
#    policy's values does V-trace learn, with $\bar{\rho} = 1$?
# 3. All ratios are 0.5, and $\gamma$ is 1. Only the third step of an episode has an
#    error, 1. By how much does it move the target of the first?
#
# ??? tip "Answers"
#     1. 1 and 1: what is above is cut. The other way around, ⅔ and ⅔.
#     2. The smaller of the two are 0.5 and 0.2. Scaled to a sum of 1, that is left with
#        0.71, and right with 0.29.
#     3. By $c_0 \, c_1 \, \rho_2 = 0.125$.
