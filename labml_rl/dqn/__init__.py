r"""
---
title: DQN
summary: >-
  Q-learning with a deep network, derived from the Bellman equation: targets, the target
  network, double Q-learning, and the Huber loss.
symbols:
  actions: 'a_t'
  targets: 'y_t'
  errors: '\delta_t'
  action_values: 'Q(o_t, a)'
  target_values: '\bar{Q}(o_{t+1}, a)'
---

# Deep Q-networks (DQN)

If somebody told us, for each action, what return it will bring, there would be nothing
left to decide: take the largest. So learn that. It needs no policy and no gradient
through one, only a network that answers the question *how well will it go, if I do
this now?* [Mnih et al. (2015)](https://doi.org/10.1038/nature14236) learned 49 Atari
games like this, with one set of numbers for all, and most of what is called deep
reinforcement learning came after it.

This page derives what such a network has to learn, and says what goes wrong if one just
does it, and the two things that make it go right. At its end there are three short
functions. Then come the parts that were added later, each with a switch of its own:

| part | where | it changes |
|---|---|---|
| exploring | [a page](exploring.py) | which actions are taken |
| replay | [a chapter](../replay/__init__.py) | what is learned from |
| double | [below][following_values] | the target |
| n-step | [look ahead][labml_rl.replay.rings.Rings.look_ahead] | the target |
| dueling | [a page](dueling.py) | the network |
| prioritised | [a page](../replay/prioritised.py) | what is drawn, and its weight |

[The experiment](experiment.py) puts them together.

## The Bellman equation

### What the best agent knows

Let $Q(o, a)$ be the return that one can expect who sees $o$, does $a$ now, and after
that plays *as well as possible*. Think of one step of it. There is a reward $r$, and
then the next observation $o'$. From there on the best that one can do is the action
with the largest $Q(o', a')$. So

$$Q(o, a) = \mathbb{E} \big[ r + \gamma \max_{a'} Q(o', a') \big]$$

where the average is over what the game may do. This is the **Bellman equation**
(Bellman, 1957). There is no far future in it any more. It ties the value of one action
to those one step later, and if it holds everywhere, all values are right.

Who wrote $\pi$ in it? Nobody. The step may have been taken by any agent, a random one
or one of last week. The game answers an action in the same way whoever takes it, and
what is said of the rest is said of the best play, not of anybody's. This is called
**off-policy** learning, and it is why old steps may be used again, out of a [replay
memory](../replay/__init__.py).

### Make it true

With a table of all observations, one would go through the steps that were played, and
move each entry a little way to what the right side says. That is **Q-learning**
([Watkins and Dayan, 1992](https://doi.org/10.1007/BF00992698)). If each action is tried
again and again everywhere, it gets to the right values for certain, since the right
side shrinks errors: two tables that differ by no more than $e$ anywhere have right
sides that differ by no more than $\gamma e$.

Nobody has a table of all screens of Breakout. So there is a network with weights
$\theta$ for the left side, and each step gives it a number to learn, its **target**:

$$y_t = r_t + \gamma \max_{a'} Q_\theta(o_{t+1}, a'), \qquad
\delta_t = y_t - Q_\theta(o_t, a_t)$$

It looks like regression, and it is not. In regression the targets are facts. Here they
come from the network that learns.

### What goes wrong

Three things are in this that do no harm in pairs. The network generalises: to learn
about one screen changes what it says of all that look like it. It bootstraps: its
targets are made of its own answers. And it is off-policy: what it learns from is not
what it would do itself. Together, they are known as the **deadly triad** ([Sutton and
Barto, 2018](http://incompleteideas.net/book/the-book-2nd.html), chapter 11.3).

Say that it takes a step, and $Q(o_t, a_t)$ goes up a little. The next screen looks
nearly the same, so its values go up as well. That is the target. Now the target is
higher, so $Q(o_t, a_t)$ has to go up again, and so on. Nothing outside stops that, for
if a value is wrong, an agent that is off-policy need not go there and see.

### Two remedies

**Replay** mixes steps of hours of play, so that one screen does not pull all others
along. **The target network** stops the circle: a copy of the network, with weights
$\bar\theta$, makes the targets. It stands still for 10,000 steps, and is then replaced
by what the network has become. In between, it *is* regression, with targets that are
facts for a while.

Mnih et al. tried with and without (their extended data, table 3; scores after 10
million frames, the best of three learning rates):

| game | both | replay alone | target network alone | neither |
|---|---|---|---|---|
| Breakout | 316.8 | 240.7 | 10.2 | 3.2 |
| Enduro | 1,006.3 | 831.4 | 141.9 | 29.1 |
| River Raid | 7,446.6 | 4,102.8 | 2,867.7 | 1,453.0 |
| Seaquest | 2,894.4 | 822.6 | 1,003.0 | 275.8 |
| Space Invaders | 1,088.9 | 826.3 | 373.2 | 302.0 |
"""

import torch
from torch import Tensor

from labml_rl.a2c import check_shapes


@torch.no_grad()
def following_values(
    target_values: Tensor, online_values: Tensor | None = None
) -> Tensor:
    r"""
    ## What follows

    The target asks what the next observation is worth, if one plays on as well as one
    can. According to the target network, that is its largest value:

    $$\max_a \bar{Q}(o_{t+1}, a)$$

    ### The largest is too large

    The values are estimates, and each has an error. The largest of them is likely to be
    one whose error is *positive*: that is how it came to be the largest. So the maximum
    is too large on average, even if no estimate is.

    An example: there are two actions, and both are worth 0. The estimates are
    $+1$ or $-1$, as a coin falls. In three of four cases at least one of them is $+1$:

    | estimates | the maximum | their mean |
    |---|---|---|
    | $+1$ and $+1$ | $+1$ | $+1$ |
    | $+1$ and $-1$ | $+1$ | 0 |
    | $-1$ and $+1$ | $+1$ | 0 |
    | $-1$ and $-1$ | $-1$ | $-1$ |
    | on average | $+\tfrac{1}{2}$ | 0 |

    It gets worse with more actions, with eighteen of them 1.0 to within ten in a
    million. And Q-learning puts this into the next target, and the next, so that it
    adds up over the way back.

    ### Ask another

    **Double Q-learning** ([van Hasselt,
    2010](https://papers.nips.cc/paper/2010/hash/091d584fced301b442654dd8c23b3fc9-Abstract.html))
    has two estimates of everything. One chooses the action, and the *other* says what
    it is worth. If their errors are independent, the second has no reason to err on the
    positive side just there. In the example: whichever action is chosen, the other coin
    says 0 on average.

    DQN has two networks already. So the one that learns chooses, and the target network
    says what that is worth ([van Hasselt et al.,
    2016](https://arxiv.org/abs/1509.06461)):

    $$\bar{Q} \big( o_{t+1}, \arg\max_a Q(o_{t+1}, a) \big)$$

    The two are related, so it is half a remedy, and it costs one more look at the next
    observations. It is never larger than the maximum. Over 49 games, van Hasselt et al.
    report a median of 114.7% of a human's score in place of 93.5%, and values that are
    about what the agent then gets, where those of DQN can be many times as large.

    Args:
        target_values: $\bar{Q}(o_{t+1}, a)$, shape `(B, A)`.
        online_values: $Q(o_{t+1}, a)$ of the network that learns, the same; `None` is
            plain DQN.

    Returns:
        What follows, shape `(B,)`.

    Raises:
        ValueError: if the shapes differ.
    """
    if online_values is None:
        return target_values.max(-1).values
    check_shapes(target_values=target_values, online_values=online_values)
    chosen = online_values.argmax(-1, keepdim=True)  # (B, 1)
    return target_values.gather(-1, chosen).squeeze(-1)


def taken(action_values: Tensor, actions: Tensor) -> Tensor:
    r"""
    ## Of the action that was taken

    Only this one was tried, so nothing can be learned about the others.

    Args:
        action_values: $Q(o_t, a)$, shape `(B, A)`.
        actions: $a_t$, shape `(B,)`.

    Returns:
        $Q(o_t, a_t)$, shape `(B,)`.
    """
    return action_values.gather(-1, actions[:, None]).squeeze(-1)


def huber(errors: Tensor, limit: float = 1.0) -> Tensor:
    r"""
    ## The Huber loss

    ![Two curves over the error: a parabola, and one that goes on as a straight line
    from where the error is 1; beside them their
    slopes](../../assets/figures/dqn-huber.svg)

    *The loss (left) and its slope, the pull on the network (right). An error of 3 pulls
    no harder than one of 1.*

    The gradient of a square grows with the error. Now and then a target is far off: a
    ghost turned blue, or the target network has just been replaced. One such step would
    pull the weights as hard as a hundred others, and there is nothing to be learned
    from it that could not be learned as well in small steps. So Mnih et al. cut the
    error off at $\pm 1$ where it comes into the gradient. The function whose gradient
    that is, is a square in the middle and goes on straight:

    $$h(\delta) = \begin{cases}
    \tfrac{1}{2} \delta^2 & \text{if } |\delta| \le 1 \\
    |\delta| - \tfrac{1}{2} & \text{else}
    \end{cases}$$

    [Huber (1964)](https://doi.org/10.1214/aoms/1177703732) has it from statistics. What
    is large is a matter of the units: 1 is a good limit since rewards are clipped to
    $\pm 1$.

    !!! warning "What was clipped?"
        "Clip the error between −1 and 1", says the paper, and some programs clip
        $\delta$ *before* they square it. Then an error of more than 1 has no gradient
        at all, and what is most wrong is never learned.

    Args:
        errors: $\delta$, any shape.
        limit: where the straight line begins, above 0.

    Returns:
        $h(\delta)$, the same shape.
    """
    size = errors.abs()
    return torch.where(
        size <= limit, 0.5 * errors.square(), limit * (size - 0.5 * limit)
    )


def td_loss(
    values: Tensor, targets: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""
    ## The loss

    $$y_t = G_t^{(n)} + \gamma^n \bar{V}_{t+n}, \qquad
    L = \operatorname{mean} \big( w_t \, h(y_t - Q(o_t, a_t)) \big)$$

    The difference $\delta_t$ is called the **temporal-difference error**: what one
    knows after the step, less what one thought before it. All weights $w_t$ are 1
    unless the [memory is prioritised](../replay/prioritised.py).

    !!! warning "One side only"
        The targets are numbers. If a gradient went through them, the network could make
        the error smaller by expecting less of the future, which is none of its choice.
        So the function refuses targets that have one.

    Args:
        values: $Q(o_t, a_t)$, with a gradient, shape `(B,)`.
        targets: $y_t$, the same. With a [batch][labml_rl.replay.Batch] they are
            `returns + discounts * following`: a step that has ended the game has a
            discount of 0.
        weights: $w_t$, the same.

    Returns:
        $L$, a single number, and the errors $\delta_t$, shape `(B,)`, without a
        gradient.

    Raises:
        ValueError: if the shapes differ, or if the targets have a gradient.
    """
    check_shapes(values=values, targets=targets)
    if targets.requires_grad:
        raise ValueError("the targets have a gradient: detach() them")
    errors = targets - values
    losses = huber(errors)
    if weights is not None:
        check_shapes(values=values, weights=weights)
        losses = weights * losses
    return losses.mean(), errors.detach()
