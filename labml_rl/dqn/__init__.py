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

If we were told, for each action, what [return](../__init__.py) it will bring, there
would be nothing left to decide: take the action with the largest. So let a network
learn that. It answers one question: *how well will it go, if I do this now?* There is
no policy to learn. [Mnih et al. (2015)](https://doi.org/10.1038/nature14236) tried this
on 49 Atari games, with one set of settings for all of them, and called it **DQN**. In
29 of them it got more than three quarters of the way from random play to a human
tester.

This page derives what such a network has to learn. It says what goes wrong if the
network learns just that, and gives two remedies. The other parts have pages of their
own, and those that came after the paper can be switched on one by one:

| part | it changes | in the paper |
|---|---|---|
| [exploring](exploring.py) | which actions are taken | yes |
| [replay](../replay/__init__.py) | what is learned from | yes |
| [double Q-learning][following_values] | the target | no |
| [n steps][td_loss] | the target | no |
| [the dueling network](dueling.py) | the network | no |
| [priorities](../replay/prioritised.py) | which steps are drawn | no |
| [distributions](distribution.py) | what is learned of each step | no |
| [quantiles](quantiles.py) | the same, in another way | no |
| [noisy networks](noisy.py) | which actions are taken | no |

[The experiment](experiment.py) puts them together. With all that came after the paper,
except quantiles, it is [Rainbow](rainbow.py). And [DrQ](drq.py) is DQN for two hours of
play.

## The Bellman equation

### What the best agent knows

Let $Q(o, a)$ be the return to expect after observation $o$ if the agent does $a$ now,
and after that plays *as well as possible*. It is called an **action value**, or
Q-value, and $Q$ the **action-value function**, or Q-function. (Others write $Q^*$ for
this, the *optimal* action values, and call taking the action with the largest the
*optimal policy*.) Look at one step of it: there is a reward $r$, and then the next
observation $o'$. From there on the best that can be done is the action $a'$ with the
largest $Q(o', a')$. So

$$Q(o, a) = \operatorname{E} \big[ r + \gamma \max_{a'} Q(o', a') \big]$$

where the average is over what the game may do, and $\gamma$ is the discount. This is
the **Bellman optimality equation** ([Sutton and Barto,
2018](http://incompleteideas.net/book/the-book-2nd.html), section 3.6). The far future
no longer appears in it. It ties the value of an action to the values one step later,
and if it holds everywhere, all values are right. (One thing is taken for granted: that
an observation shows all that matters for what comes next, which makes the game a
**Markov decision process**. Four pictures do that, or nearly.)

There is no policy $\pi$ in the equation. The step may have been taken by any agent, a
random one or last week's: the game answers an action in the same way whoever takes it,
and the value of what comes after is that of the best play. Learning from what another
agent did is called **off-policy**. This is why old steps can be used again, from a
[replay memory](../replay/__init__.py). (With the action that the agent does take next
in place of the best one, this is the *Bellman expectation equation*, and the algorithm
is **SARSA**. It is on-policy: it learns what the agent's own play is worth, its random
actions included.)

### Q-learning

With a table of $Q(o, a)$ for all observations and actions, you would go through the
steps that were played, and move the entry of each a little way towards what the right
side of the equation says:

$$\begin{aligned}
\delta &= r + \gamma \max_{a'} Q(o', a') - Q(o, a) \\
Q(o, a) &\leftarrow Q(o, a) + \eta \, \delta
\end{aligned}$$

That is **Q-learning** ([Watkins and Dayan, 1992](https://doi.org/10.1007/BF00992698)).
One step shows one reward and one next observation, and not the average that the
equation asks for. So the entry goes only part of the way, by the learning rate $\eta$,
and over many steps luck averages out. Here are three screens in a row, with one action
each. The third pays 1 and ends the game. With $\gamma = 0.9$ and $\eta = 0.5$, the news
of that point goes back by one screen each time you go through the three steps in order:

| times | first | second | third |
|---|---|---|---|
| 0 | 0 | 0 | 0 |
| 1 | 0 | 0 | 0.5 |
| 2 | 0 | 0.225 | 0.75 |
| 3 | 0.101 | 0.45 | 0.875 |
| in the end | 0.81 | 0.9 | 1 |

If each action is tried again and again everywhere, and these moves get smaller, neither
too slowly nor too fast, the table is certain to reach the right values. The reason is
that the right side (the *Bellman operator*) shrinks errors. Take two tables that differ
by no more than $e$ anywhere. For each observation, their largest entries differ by no
more than $e$ either: those of (3, 5) and (4, 4.5) are 5 and 4.5. The rewards are the
same, and so the right sides differ by no more than $\gamma e$. A rule that takes any
two tables to at most $\gamma$ times their distance, with $\gamma < 1$, is called a
**contraction**. Let one of the two have the right values, which the rule leaves as they
are. Then the other comes closer to them in each round. With $\gamma = 0.99$, an error
of 10 is no more than 3.7 after a hundred rounds. (Putting the right side into the whole
table again and again is called **value iteration**, a kind of *dynamic programming*. It
needs the average, and so the rules of the game.)

No table can hold all the screens of Breakout. So a network with weights $\theta$
provides the left side, and each step gives it a number to learn, its **target**:

$$\begin{aligned}
y_t &= r_t + \gamma \max_{a'} Q_\theta(o_{t+1}, a') \\
\delta_t &= y_t - Q_\theta(o_t, a_t)
\end{aligned}$$

The network learns to make the **error** $\delta_t$ small. An example, with three
actions and $\gamma = 0.99$:

| what | number |
|---|---|
| what the network says of $a_t$ | 3.0 |
| the reward $r_t$ | 1 |
| what it says of the next observation | 2.0, **2.5** and 1.0 |
| the target $y_t$ | $1 + 0.99 \cdot 2.5 = 3.475$ |
| the error $\delta_t$ | $3.475 - 3.0 = 0.475$ |

So $a_t$ was better than the network thought, and the next time it should say a little
more. If the game ends with the step, nothing follows, and the target is the reward
alone.

This is not regression, where the targets are facts. Here they come from the network
that learns, and change with it (they are *non-stationary*, a *moving target*).

### What goes wrong

Three things come together here. With any two of them alone, learning can be made safe:

- The network *generalises*: learning about one screen changes what it says of all that
  look like it.
- It *bootstraps*: its targets are made of its own answers.
- It is *off-policy*: what it learns from is not what it would do itself.

Together they are the **deadly triad** ([Sutton and Barto,
2018](http://incompleteideas.net/book/the-book-2nd.html), section 11.3). Say that
$Q(o_t, a_t)$ goes up a little. The next screen looks nearly the same, so its values go
up as well. They make the target. Now the target is higher, so $Q(o_t, a_t)$ has to go
up again, and so on. Nothing guarantees that this stops. An agent that learns from its
own play would go where its values are too high, and find out. One that learns
off-policy may never go there.

In practice it mostly does stop. [Van Hasselt et al.
(2018)](https://arxiv.org/abs/1812.02648) let many variants of DQN learn Atari games.
They saw values larger than any return can be, but none that grew without end.

### Two remedies: replay and a target network

**Experience replay** mixes steps from hours of play, so that one screen does not pull
all the others along. **The target network** slows the vicious circle. It is a copy of
the network, with weights $\bar\theta$ and values $\bar{Q}$, and makes the targets. It
stands still for 10,000 steps, and then becomes a copy of the network as it is by then.
In between, learning *is* regression, with targets that are facts for a while.

![The network sends actions to the game, and the steps of the game go to the memory. A
batch of them goes to the network and to the target network. Their answers meet in the
loss, whose gradient changes the network. Now and then the target becomes a copy of the
network](../../assets/figures/dqn-parts.svg)

Mnih et al. tried DQN with and without each of the two. Agents were measured now and
then within 10 million steps, with three learning rates, and these are the best scores
(their extended data, table 3, which calls the steps frames; [why they are
steps][labml_rl.dqn.exploring.Linear]):

| game | both | replay alone | target network alone | neither |
|---|---|---|---|---|
| Breakout | 316.8 | 240.7 | 10.2 | 3.2 |
| Enduro | 1,006.3 | 831.4 | 141.9 | 29.1 |
| River Raid | 7,446.6 | 4,102.8 | 2,867.7 | 1,453.0 |
| Seaquest | 2,894.4 | 822.6 | 1,003.0 | 275.8 |
| Space Invaders | 1,088.9 | 826.3 | 373.2 | 302.0 |

Replay does more, except in Seaquest. (Random play scores 1.7 in Breakout and 1,339 in
River Raid, so without either of the two, little is learned there.)
"""

import torch
from torch import Tensor

from labml_rl.a2c import check_constant, check_shapes


@torch.no_grad()
def following_values(
    target_values: Tensor, online_values: Tensor | None = None
) -> Tensor:
    r"""
    ## What follows

    The target needs to know what the next observation is worth, if play goes on as well
    as possible. According to the target network, that is its largest value:

    $$\max_a \bar{Q}(o_{t+1}, a)$$

    ### The largest is too large: overestimation

    The values are estimates, and each has an error. The largest of them is likely to be
    one whose error is *positive*: that is how it came to be the largest. So the maximum
    is too large on average, even if each estimate is right on average. This is the
    **overestimation bias**, or maximisation bias.

    An example: there are two actions, and both are worth 0. The estimates are $+1$ or
    $-1$, each by the toss of a coin. In three cases out of four at least one of them is
    $+1$:

    | estimates | the maximum | their mean |
    |---|---|---|
    | $+1$ and $+1$ | $+1$ | $+1$ |
    | $+1$ and $-1$ | $+1$ | 0 |
    | $-1$ and $+1$ | $+1$ | 0 |
    | $-1$ and $-1$ | $-1$ | $-1$ |
    | on average | $+\tfrac{1}{2}$ | 0 |

    With eighteen actions it is 0.99999 instead of a half. And Q-learning puts the
    maximum into the target, and that into the next one, so that the errors add up.

    ### Double Q-learning

    **Double Q-learning** ([van Hasselt,
    2010](https://papers.nips.cc/paper/2010/hash/091d584fced301b442654dd8c23b3fc9-Abstract.html))
    has two estimates of everything. One chooses the action, and the *other* says what
    it is worth. If their errors are independent, the second has no reason to err on the
    positive side just there. In the example, toss a second coin for each action:
    whichever action the first coins choose, its second coin says 0 on average. (Where
    one action is better, the answer is too *small*, since now and then the first coins
    choose the other.)

    ![Two panels with a dot for each of eighteen actions, above and below a line at 0. A
    ring is around the highest dot of the first, and around that of the same action in
    the second, which is at the
    line](../../assets/figures/dqn-overestimation.svg)

    *Eighteen actions, all worth 0, and two estimates of each. (Their errors are normal,
    with a standard deviation of 1.) The first chooses the action with the ring. The
    averages are those of 100,000 such draws.*

    DQN has two networks already. So the one that learns chooses, and the target network
    says what that is worth. This is **double DQN** ([van Hasselt et al.,
    2016](https://arxiv.org/abs/1509.06461)):

    $$\bar{Q} \big( o_{t+1}, \arg\max_a Q(o_{t+1}, a) \big)$$

    This is never larger than the maximum. But one network was copied from the other, so
    their errors are not independent, and this is only half a remedy. Over 49 games, van
    Hasselt et al. report a [human-normalised](../watch/many.py#one-scale) median of
    114.7% instead of 93.5%, where 0% is random play, and 100% a human tester. The
    values of double DQN come close to the returns that the agent then gets. Those of
    plain DQN can be many times as large.

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
    return taken(target_values, online_values.argmax(-1))


def taken(action_values: Tensor, actions: Tensor) -> Tensor:
    r"""
    ## The value of the action that was taken

    The network has a value for each action. Only one was tried, so nothing can be
    learned about the others, and their values get no gradient.

    Args:
        action_values: $Q(o_t, a)$, shape `(B, A)`; or [a
            distribution](distribution.py) for each action, shape `(B, A, K)`.
        actions: $a_t$, int64 or int32, shape `(B,)`.

    Returns:
        $Q(o_t, a_t)$, shape `(B,)`; or `(B, K)`.

    Raises:
        ValueError: if there is not one action for each row. With actions of shape `(B,
            1)`, as some replay memories have them, the whole batch would be compared
            with the whole batch.
    """
    if actions.shape != action_values.shape[:1]:
        raise ValueError(
            f"actions must have shape {tuple(action_values.shape[:1])}, one for each "
            f"row of values, not {tuple(actions.shape)}"
        )
    return action_values[torch.arange(len(actions), device=actions.device), actions]


def huber(errors: Tensor) -> Tensor:
    r"""
    ## The Huber loss

    ![Two curves over the error: a parabola, and one that goes on as a straight line
    from where the error is 1; beside them their
    slopes](../../assets/figures/dqn-huber.svg)

    *The loss (left) and its slope, the pull on the network (right). An error of 3 pulls
    no harder than one of 1.*

    The gradient of a square grows with the error. Now and then a target is far off,
    because a life was lost, or because the target network has just been replaced. One
    such step would pull the weights as hard as many others together. So Mnih et al. cut
    the error off at $\pm 1$ where it enters the gradient. That makes the loss a square
    in the middle, and a straight line beyond:

    $$h(\delta) = \begin{cases}
    \tfrac{1}{2} \delta^2 & \text{if } |\delta| \le 1 \\
    |\delta| - \tfrac{1}{2} & \text{else}
    \end{cases}$$

    It comes from statistics: [Huber (1964)](https://doi.org/10.1214/aoms/1177703732).
    What counts as large depends on the units: 1 is a good limit since rewards are
    clipped to $\pm 1$.

    The optimiser matters, too. [Obando-Ceron and Castro
    (2021)](https://arxiv.org/abs/2011.14826) compared both losses in 60 games. With
    RMSProp, which Mnih et al. used, this one tends to be better than the plain square.
    But Adam with the plain square was far better than RMSProp with this one.

    !!! warning "Not quite a mean"
        The Bellman equation asks for a mean. Where errors are larger than 1, what is
        rare and large counts too little in this loss, and it finds something else. Say
        that a try brings 10 one time in ten, and otherwise nothing. A value of 0.11 is
        pulled up by 1 once, and down by 0.11 nine times. So it rests there, though the
        mean is 1. While all errors are smaller than 1, it is the mean that is found.

    !!! warning "What was clipped?"
        The paper says that the error is clipped to be between −1 and 1, and some
        programs clip $\delta$ *before* they square it. Then an error of more than 1 has
        no gradient at all, and what is most wrong is never learned.

    Args:
        errors: $\delta$, any shape.

    Returns:
        $h(\delta)$, the same shape.
    """
    size = errors.abs()
    return torch.where(size <= 1, 0.5 * errors.square(), size - 0.5)


def td_loss(
    values: Tensor, targets: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""
    ## The loss

    $$\begin{aligned}
    y_t &= R_t^{(n)} + \gamma^n \bar{V}_{t+n} \\
    L &= \operatorname{mean} \big( w_t \, h(y_t - Q(o_t, a_t)) \big)
    \end{aligned}$$

    The difference $\delta_t = y_t - Q(o_t, a_t)$ is called the **temporal-difference
    error**: what is known after the step, minus what was thought before it.

    With $n = 1$ the target is the one from above. With a larger $n$, the news of a
    reward moves back by $n$ steps each time that it is learned. The target counts $n$
    rewards before it trusts the network: $R_t^{(n)}$ is their [discounted
    sum][labml_rl.replay.ReplayMemory.batch], and $\bar{V}_{t+n}$ is [what
    follows][following_values] after them. If the game ends within the $n$ steps,
    nothing follows, and the batch has a 0 in place of $\gamma^n$. If it is cut off
    after $m$ of them, the batch has $\gamma^m$. All weights $w_t$ are 1 unless the
    [memory is prioritised](../replay/prioritised.py).

    With $n = 3$ and $\gamma = 0.99$, rewards of 0, 0 and 1, and 2.5 for what follows
    them, the target is $0.99^2 + 0.99^3 \cdot 2.5 = 3.41$.

    With $n > 1$ it matters again who played: the $n - 1$ actions after $a_t$ are those
    of the agent of that time, which need not be the best. Nothing corrects that here.
    With a small $n$, hearing of rewards sooner seems worth that error.
    ([Retrace](https://arxiv.org/abs/1606.02647) corrects it, by ratios that are cut off
    at 1, as [V-trace][labml_rl.impala.vtrace] does for values.)

    !!! warning "One side only"
        The targets are numbers. If a gradient went through them, the network could also
        make the error smaller by changing what it expects of the future, until that
        agrees with what it says now. So the function refuses targets that have one. (A
        method that learns from one side only is called *semi-gradient*.)

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
    check_constant(targets=targets)
    errors = targets - values
    losses = huber(errors)
    if weights is not None:
        check_shapes(values=values, weights=weights)
        losses = weights * losses
    return losses.mean(), errors.detach()


# ## Questions
#
# 1. The reward is 1, and $\gamma = 0.99$. Of the two actions that may follow, the
#    network says 2.5 and 2, and the target network 2 and 3. What is the target? And
#    with double Q-learning?
# 2. What are the Huber losses of errors of 0.5 and of 3, and what are their slopes?
# 3. Everything a network says is too large by 10. Does it play any worse for that?
#
# ??? tip "Answers"
#     1. $1 + 0.99 \cdot 3 = 3.97$. With double Q-learning the network chooses the first
#        action, and it is $1 + 0.99 \cdot 2 = 2.98$.
#     2. 0.125 with a slope of 0.5, and 2.5 with a slope of 1.
#     3. No: the largest is still the largest. Harm is done where some values are too
#        large by more than others.
