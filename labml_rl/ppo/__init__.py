r"""
---
title: PPO
summary: >-
  The clipped objective of proximal policy optimisation, derived step by step, and what
  to watch while it learns.
symbols:
  log_probs: '\log \pi(a_t \mid o_t)'
  ratios: '\rho_t'
  advantages: '\hat{A}_t'
  values: 'V(o_t)'
  old_values: 'V_\text{old}(o_t)'
  returns: 'G_t'
  clip: '\epsilon'
---

# Proximal policy optimisation (PPO)

[A2C](../a2c/__init__.py) plays, takes one step uphill, and throws away all it saw. That
is a pity: all of it had to be played, and there was more to learn from it. Why not take
several steps uphill? Because the direction uphill was found with the old policy. After
a step there is a new one, which would have played differently, and after a few steps
what was seen says little about it.

[Schulman et al. (2017)](https://arxiv.org/abs/1707.06347) take several steps
nevertheless: they make several passes through what was seen (each pass is an *epoch*),
a part at a time (a *minibatch*). And they have a rule: once an action's probability has
moved far enough, moving it further gains nothing. The rule is one line long, and it is
on this page, with the reason why it may be used. (An algorithm that learns only from
its own latest play is [on-policy](../sampling.py). PPO is called that, too: a few
passes later what was seen is thrown away, before it gets old.)

The functions here are the losses. The loop around them fits [on one page](plain.py),
and [the experiment](experiment.py) shows what an agent has learned with it.

## Learning from what another did

Let $\pi$ be the policy that played, and $\pi'$ the one that we are about to make from
it. How good is $\pi'$, if all we have is play by $\pi$?

### What is exactly true

Let $s$ be the whole state of the game. For the moment we pretend that the agent sees
it. Three averages of the discounted return have names:

- $V^{\pi}(s)$, if $\pi$ plays on from $s$;
- $Q^{\pi}(s, a)$, if the next action is $a$, whatever $\pi$ thinks of it, and $\pi$
  plays on after that;
- $J(\pi)$, if $\pi$ plays from the start of a game.

The advantage of an action is $A^{\pi}(s, a) = Q^{\pi}(s, a) - V^{\pi}(s)$: how much
better it is to do $a$ now than to do as $\pi$ does. Then

$$J(\pi') - J(\pi) = \operatorname{E}_{\text{games of } \pi'}
\Big[ \sum_t \gamma^t A^{\pi}(s_t, a_t) \Big]$$

That is: play by $\pi'$, and at each step ask how much better the action was than what
$\pi$ does there on average. Add these numbers up, discounted: that is the difference.
To see why, write the advantage out. On average, $Q^\pi(s_t, a_t)$ is
$r_t + \gamma V^{\pi}(s_{t+1})$. So the sum is, on average,

$$\begin{aligned}
&\sum_t \gamma^t \big( r_t + \gamma V^{\pi}(s_{t+1}) - V^{\pi}(s_t) \big) \\
&= \sum_t \gamma^t r_t - V^{\pi}(s_0)
\end{aligned}$$

All other values cancel: step $t$ adds $\gamma^{t+1} V^\pi(s_{t+1})$, and step $t + 1$
takes it away. On average the first sum is $J(\pi')$, since $\pi'$ plays these games,
and $V^\pi(s_0)$ is $J(\pi)$. This is the **performance difference lemma** of [Kakade
and Langford (2002)](https://dl.acm.org/doi/10.5555/645531.656005), and there is no
approximation in it.

In numbers: a game has one step, where left pays 5 and right pays 8. $\pi$ takes both
equally often, so $V^\pi$ is 6.5, and the advantages are $-1.5$ and $+1.5$. $\pi'$ takes
right with probability 0.9, and gets $0.1 \cdot 5 + 0.9 \cdot 8 = 7.7$ on average. The
difference is 1.2, and so is $0.1 \cdot (-1.5) + 0.9 \cdot 1.5$.

So a policy that in every state takes only actions with $A^\pi \ge 0$ is never worse
than $\pi$: the **policy improvement theorem**. (To improve again and again in this way
is *policy iteration*: [Sutton and Barto,
2018](http://incompleteideas.net/book/the-book-2nd.html), sections 4.2 and 4.3.)

### What has to be given up

The average in the lemma is over games of $\pi'$, which we do not have. Two things in it
depend on $\pi'$: which action is drawn in a state, and which states come up at all.

**The actions** are easy. If $\pi$ drew $a$ and $\pi'$ would have drawn it twice as
often, count it twice. This is called **importance sampling**. With the ratio
$\rho = \pi'(a \mid s) / \pi(a \mid s)$ it is exact for any two policies, as long as
$\pi$ never rules an action out, and a softmax never does:

$$\begin{aligned}
&\operatorname{E}_{a \sim \pi'} \big[ A^\pi(s, a) \big] \\
&\quad = \sum_a \pi(a \mid s) \frac{\pi'(a \mid s)}{\pi(a \mid s)} A^\pi(s, a) \\
&\quad = \operatorname{E}_{a \sim \pi} \big[ \rho \, A^\pi(s, a) \big]
\end{aligned}$$

In the example the ratios are $0.1 / 0.5 = 0.2$ and 1.8. Draws from $\pi$ then give
$0.5 \cdot 0.2 \cdot (-1.5) + 0.5 \cdot 1.8 \cdot 1.5$, which is 1.2 again.

**The states** could be corrected the same way, by the ratio of all actions that led to
them. But that is a product of hundreds of ratios, and it is nearly always about zero
and now and then huge. So they are *not* corrected. We take the states that $\pi$ came
to, and accept an error:

$$J(\pi') - J(\pi) \approx \operatorname{E}_{\text{games of } \pi}
\Big[ \sum_t \gamma^t \rho_t \, A^{\pi}(s_t, a_t) \Big]$$

The right side is called the **surrogate objective**. How large is the error? In short:
it grows with the *square* of the step from $\pi$ to $\pi'$. To take that on trust, skip
the argument, and go on from *Two lessons are in it*.

Let the two policies play with the same dice, and say that in any state they draw
different actions with a probability of at most $\alpha$. Then the error is a product of
two small numbers:

- What each state adds to an average is the mean of $A^\pi$ over the actions of $\pi'$.
  Over those of $\pi$ it would be 0, since $V^\pi$ is just the mean of $Q^\pi$ over
  these. The actions differ with a probability of at most $\alpha$, so what a state adds
  is at most $2\alpha \max |A^\pi|$ in size.
- After $t$ steps the two games are in different states with a probability of at most
  $1 - (1 - \alpha)^t$, which is not more than $t\alpha$. Where the states are the same,
  they add the same to both averages, that over games of $\pi$ and that over games of
  $\pi'$. Where they differ, each adds at most what the first point says. So the two
  averages differ by at most $2 t \alpha$ times that.

So the error at step $t$ is at most $2 t \alpha \cdot 2 \alpha \max |A^\pi|$. With
$\sum_t t \gamma^t = \gamma / (1 - \gamma)^2$ that is, summed over time,

$$\big| \text{error} \big| \le \frac{4 \gamma \alpha^2}{(1 - \gamma)^2}
\max_{s, a} \big| A^\pi(s, a) \big|$$

([Schulman et al., 2015](https://arxiv.org/abs/1502.05477), theorem 1). Two lessons are
in it. The error is *quadratic* in $\alpha$ and the gain is linear, so if the step is
small enough the gain wins. And it is the *policies* that have to be close, action by
action, not the weights.

The bound itself is of no use as a number: with $\gamma = 0.99$ its factor is 40,000. So
PPO keeps the idea and drops the bound. It limits how far each ratio may profitably move
from 1, and the limit is found by trying. (If the dice make two policies agree as often
as they can, their actions differ with a probability of half the mean of $|\rho - 1|$.
If all ratios stayed within $1 \pm \epsilon$, $\alpha$ would be at most $\epsilon / 2$.)

PPO's predecessor, TRPO (trust region policy optimisation), is from the paper with the
bound. It keeps the new policy in a **trust region** around the old one: their distance,
averaged over the states, must stay below a limit. That takes second derivatives.

Three more things change on the way to a program. The advantage is not known, so there
is [an estimate](../returns.py) in its place, $\hat{A}_t$. The agent sees $o_t$ and not
$s_t$. And the factor $\gamma^t$ in front is left out, as [in A2C](../a2c/__init__.py).
"""

import torch
from torch import Tensor

from labml_rl.a2c import check_constant, check_shapes


def normalised(advantages: Tensor) -> Tensor:
    r"""
    ## Advantages of one size

    In one game the advantages are about 0.01, in another about 10. With a mean of 0 and
    a standard deviation of 1, the same learning rate suits both, and still does when
    the agent gets better and returns grow.

    To subtract the mean is to subtract a [baseline][labml_rl.a2c.policy_loss], which
    costs next to nothing. It can flip a sign, though. If all actions of a minibatch
    were better than expected, the least good of them is now made less likely.

    This is **advantage normalisation** (*normalization*), and it has a price. Where all
    actions are equally good, the noise is enlarged to the same size, and the agent is
    pushed about for no reason. Still, most implementations do it, for each minibatch by
    itself, and so does this one. (To the standard deviation $10^{-8}$ is added, so that
    nothing is divided by 0.)

    Args:
        advantages: $\hat{A}_t$, more than one.

    Returns:
        The same, normalised; all 0 if they are all the same.

    Raises:
        ValueError: if there are fewer than two, which have no standard deviation.
    """
    if advantages.numel() < 2:
        raise ValueError("a single advantage has no standard deviation")
    centred = advantages - advantages.mean()
    sized = centred / (advantages.std() + 1e-8)

    # Rounded, the mean of equal numbers can be a last digit away from them. Enlarged,
    # that digit would praise all actions, or blame them all.
    return torch.where(advantages.max() == advantages.min(), 0.0, sized)


def clipped_policy_loss(
    log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, *, clip: float
) -> Tensor:
    r"""
    ## The clipped objective

    Let $\rho_t$ be the **probability ratio** of the action that was drawn, and
    $\hat{A}_t$ its advantage:

    $$\rho_t = \frac{\pi'(a_t \mid o_t)}{\pi(a_t \mid o_t)}$$

    If $\rho_t \hat{A}_t$ is made as large as it can be, the ratio of every good action
    grows until the action is certain, far beyond where the argument above holds. So the
    gain is counted only as long as the ratio stays within $1 \pm \epsilon$:

    $$\min \big( \rho_t \hat{A}_t, \;
    \operatorname{clip}(\rho_t, 1 - \epsilon, 1 + \epsilon) \, \hat{A}_t \big)$$

    ![Two curves over the ratio, one for a good action and one for a bad one: straight
    lines that turn flat where the gain is large
    enough](../../assets/figures/ppo-clip.svg)

    *What PPO makes larger, for an action that was good (left) and one that was bad
    (right), with $\epsilon = 0.2$, and without the clip (dashed). Each update begins at
    the dot.*

    So a good action that is likelier by enough has no gradient, nor has a bad one that
    is less likely by enough. One that went the wrong way is *not clipped*: it has the
    gradient of $\rho_t \hat{A}_t$. In numbers, with $\epsilon = 0.2$:

    | $\hat{A}_t$ | $\rho_t$ | $\rho_t \hat{A}_t$ | clipped | minimum | gradient |
    |---|---|---|---|---|---|
    | 2 | 1.1 | 2.2 | 2.2 | 2.2 | not clipped |
    | 2 | 1.6 | 3.2 | 2.4 | 2.4 | zero |
    | 2 | 0.6 | 1.2 | 1.6 | 1.2 | not clipped |
    | −2 | 0.6 | −1.2 | −1.6 | −1.6 | zero |
    | −2 | 1.6 | −3.2 | −2.4 | −3.2 | not clipped |

    PPO takes the minimum because of the actions that went the wrong way. With the
    clipped term alone, their gradient would be zero as well: an action whose
    probability fell although it was good, because of what others did to the shared
    weights, would be stuck there. With the minimum, the objective is nowhere above
    $\rho_t \hat{A}_t$: it is **pessimistic**. It counts a change for the worse in full,
    and a gain only up to a limit.

    !!! warning "It is no fence"
        Nothing keeps a ratio within the bounds. The gradient of one action stops there,
        and those of all the others go on and carry it along. After enough epochs ratios
        can be anywhere. So watch [how far the policy went][divergence]. If it is too
        far, [early stopping](experiment.py) helps: the setting `max_divergence`.

    On the first step of each batch $\pi'$ is $\pi$, all ratios are 1, and with the same
    advantages the gradient is that of A2C:
    $\nabla \rho_t = \rho_t \nabla \log \pi' = \nabla \log \pi'$. With one epoch and one
    minibatch there is no other step. So A2C is PPO with special settings: one of each,
    $\lambda = 1$, nothing normalised, and RMSProp ([Huang et al.,
    2022](https://arxiv.org/abs/2205.09123)).

    Language models are trained with this objective as well: an action is the next
    token. (Shorter answers are often padded. Then pass only the tokens that count,
    `log_probs[mask]` and so on, here and to [normalised][]: a mean takes all.) One
    variant, **GRPO** ([Shao et al., 2024](https://arxiv.org/abs/2402.03300)), has no
    critic. Its baseline is the mean of what several answers to the same question are
    paid.

    Args:
        log_probs: $\log \pi'(a_t \mid o_t)$, with a gradient, any shape.
        old_log_probs: $\log \pi(a_t \mid o_t)$ of the policy that played.
        advantages: $\hat{A}_t$.
        clip: $\epsilon$, above 0.

    Returns:
        The negative of the mean, to be minimised.

    Raises:
        ValueError: if the shapes differ, if what should be constant has a gradient, or
            if the clip is not above 0.
    """
    check_shapes(
        log_probs=log_probs, old_log_probs=old_log_probs, advantages=advantages
    )
    check_constant(old_log_probs=old_log_probs, advantages=advantages)
    if not clip > 0:
        raise ValueError(f"clip must be above 0, not {clip}")
    ratios = (log_probs - old_log_probs).exp()
    clipped = ratios.clamp(1 - clip, 1 + clip)
    return -torch.min(ratios * advantages, clipped * advantages).mean()


def value_loss(
    values: Tensor,
    returns: Tensor,
    *,
    old_values: Tensor | None = None,
    clip: float | None = None,
) -> Tensor:
    r"""
    ## The loss of the critic

    It is that of [A2C][labml_rl.a2c.value_loss]. The authors' first implementation of
    PPO also clips the values. This **value clipping** is not in the paper. Besides the
    value $V$ there is a clipped one. It may be no further than $\epsilon_V$, in points
    of reward, from the value that the network gave when it played. Each of the two has
    an error, and the larger one counts:

    $$\tfrac{1}{2} \operatorname{mean} \max \big( (V - G)^2, \;
    (V_\text{clipped} - G)^2 \big)$$

    $$V_\text{clipped} = V_\text{old} +
    \operatorname{clip}(V - V_\text{old}, -\epsilon_V, \epsilon_V)$$

    In numbers, with $V_\text{old} = 1$ and $\epsilon_V = 0.2$: the value has come to
    1.5, and the clipped one is 1.2. If the return is 2, the squared errors are 0.25 and
    0.64. The larger is that of the clipped one, which no longer moves with the weights:
    there is no gradient. If the return is 1, they are 0.25 and 0.04. The larger is that
    of the value itself, and the gradient pulls it back.

    There is little to be said for it. [Engstrom et al.
    (2020)](https://arxiv.org/abs/2005.12729) find no sign that it helps. [Andrychowicz
    et al. (2021)](https://arxiv.org/abs/2006.05990) find that it hurts, with any
    $\epsilon_V$ that they tried. It is here for those who want to compare, and off
    unless asked for.

    Args:
        values: $V(o_t)$, with a gradient, any shape.
        returns: $G_t$.
        old_values: $V_\text{old}(o_t)$, of the network that played. Only for clipping.
        clip: $\epsilon_V$, in points of reward, above 0; `None` does not clip.

    Returns:
        A single number.

    Raises:
        ValueError: if the shapes differ, if what should be constant has a gradient, if
            the clip is not above 0, or if there is a clip but no old values.
    """
    check_shapes(values=values, returns=returns)
    check_constant(returns=returns)
    errors = (values - returns).square()
    if clip is not None:
        if not clip > 0:
            raise ValueError(f"clip must be above 0, not {clip}")
        if old_values is None:
            raise ValueError("to clip the values, old_values are needed")
        check_shapes(values=values, old_values=old_values)
        check_constant(old_values=old_values)
        clipped = old_values + (values - old_values).clamp(-clip, clip)
        errors = torch.max(errors, (clipped - returns).square())
    return 0.5 * errors.mean()


def divergence(log_probs: Tensor, old_log_probs: Tensor) -> Tensor:
    r"""
    ## What to watch

    The score tells you whether an agent learns, but only after a long time. These
    curves tell you more, and from the first update on. The numbers are roughly those of
    the [recorded runs](../../results.md) of Breakout and Pong with eight games:

    | curve | when it learns | when something is wrong |
    |---|---|---|
    | `entropy` | falls from $\log A$, may rise again | soon 0: nothing new is tried |
    | `divergence` | 0.001 to 0.004, at the end 0 | 0.1: steps are too large |
    | `clip_fraction` | 0.05 to 0.15, at the end 0 | above a half: steps are too large |
    | `explained_variance` | goes up, to 0.5 to 0.9 | stays 0: no critic is learned |
    | `gradient_norm` | 0.6 to 3, mostly cut to 0.5 | hundreds of times as large |

    (At the end the learning rate is 0, and nothing moves.) The losses are not in the
    table, since they do not say how well the agent plays. `policy_loss` was between
    −0.014 and 0 in all of these runs, from beginning to end. `value_loss` decreased in
    Pong, and in Breakout it *increased*, to four to seven times what it was at first:
    where more is scored, there is more to foresee.

    [A page of its own](../mistakes.py) shows what the curves look like with fifteen
    mistakes in the program.

    ### When the score falls

    Now and then the reward of an episode suddenly drops, and comes back. If it stays
    down, performance has **collapsed** (some say that the agent *forgets*). Look at
    what came before:

    - A large `divergence`. Take smaller steps: with a smaller learning rate, with fewer
      epochs, or by stopping early (`--max-divergence`).
    - An `entropy` that goes to zero. The agent always takes the same action where it
      sees the same, and so finds no way back. Pay it more for being undecided
      (`--entropy-coefficient`).
    - Neither, and the run is long. A network that has been learning for a long time can
      lose its ability to learn (its *plasticity*). [Moalla et al.
      (2024)](https://arxiv.org/abs/2405.00662) saw PPO collapse together with that in
      Atari games, and sooner with more epochs.

    You need not be left with the last agent, either: a run can [keep the
    best](../watch/best.py).

    ### How far the policy went

    The **Kullback–Leibler divergence**, or KL divergence, says how different two
    distributions are. Draw actions from the old policy: how much smaller is the
    logarithm of their probability under the new one, on average? It is 0 if both are
    the same, and never less:

    $$\operatorname{KL}(\pi, \pi') = \operatorname{E}_{a \sim \pi}
    \big[ -\log \rho \big]$$

    The mean of $-\log \rho$ over the actions that were drawn is right on average, but
    can come out below zero, which a divergence never is. Add $\rho - 1$. Its average is
    zero, since $\sum_a \pi \rho = \sum_a \pi' = 1$, and now no term can be negative:
    the logarithm lies below its tangent, $\log \rho \le \rho - 1$. So the sum is right
    on average as well, and where the policies are close it varies much less. [Schulman
    (2020)](http://joschu.net/blog/kl-approx.html) calls the first estimate $k_1$ and
    this one $k_3$. In numbers: $\pi$ takes two actions equally often, and $\pi'$ takes
    them with 0.6 and 0.4, so the ratios are 1.2 and 0.8:

    | drawn | $k_1 = -\log \rho$ | $k_3 = \rho - 1 - \log \rho$ |
    |---|---|---|
    | the first | −0.182 | 0.018 |
    | the second | 0.223 | 0.023 |
    | on average | 0.020 | 0.020 |

    A small divergence means that the policies do nearly the same. If it is $D$, they
    need not differ in more than $\sqrt{D / 2}$ of all draws (*Pinsker's inequality*).
    That share is the $\alpha$ [of the bound](#what-has-to-be-given-up), averaged over
    the states. In the example it is at most $\sqrt{0.02 / 2} = 0.1$, as much as each
    probability has moved. A divergence of 0.004 allows 0.045, and one of 0.1 allows
    0.22. If the divergence reaches a tenth in an Atari game, the learning rate is too
    high, or there are too many epochs.

    !!! warning "Which of the two has learned?"
        Language models are kept close to a *reference*, which does not learn, while the
        actions are drawn from the policy that does. With the two the other way round,
        the estimate is still right, but its gradient is that of another divergence,
        $\operatorname{KL}(\pi_\text{ref}, \pi)$: it leaves out that the policy decides
        what is drawn. ([GRPO][clipped_policy_loss] has that gradient in its paper.) So
        `old_log_probs` with a gradient are refused here. Subtract
        $\log \pi - \log \pi_\text{ref}$, without a gradient and times a factor, from
        each reward: on average, that leads the right way.

    Args:
        log_probs: $\log \pi'(a_t \mid o_t)$, with a gradient, any shape.
        old_log_probs: $\log \pi(a_t \mid o_t)$, for actions that were drawn from it.

    Returns:
        An estimate of the divergence, in nats, with a gradient.

    Raises:
        ValueError: if the shapes differ, or if what should be constant has a gradient.
    """
    check_shapes(log_probs=log_probs, old_log_probs=old_log_probs)
    check_constant(old_log_probs=old_log_probs)
    difference = log_probs - old_log_probs

    # What is left where the policies are close is smaller than the last digit of a
    # ratio near 1. So the ratio is not rounded before 1 is subtracted from it.
    return (difference.expm1() - difference).mean()


@torch.no_grad()
def clip_fraction(log_probs: Tensor, old_log_probs: Tensor, *, clip: float) -> Tensor:
    r"""
    ### The clip fraction: how many are out of bounds

    Args:
        log_probs: $\log \pi'(a_t \mid o_t)$, any shape.
        old_log_probs: $\log \pi(a_t \mid o_t)$ of the policy that played, the same.
        clip: $\epsilon$.

    Returns:
        The fraction of all actions whose ratio is outside $1 \pm \epsilon$, on either
        side. Those that went the wrong way are among them, and are not clipped. If it
        is always 0, the clip does nothing. Then the steps could be larger, or there is
        only one for each batch, or [the old probabilities are
        new][labml_rl.mistakes.NewLogProbs].

    Raises:
        ValueError: if the shapes differ.
    """
    check_shapes(log_probs=log_probs, old_log_probs=old_log_probs)
    ratios = (log_probs - old_log_probs).exp()
    return ((ratios - 1).abs() > clip).float().mean()


@torch.no_grad()
def explained_variance(values: Tensor, returns: Tensor) -> Tensor:
    r"""
    ### How much the critic knows

    How much of what makes one return different from another did the critic foresee?
    This is the **explained variance**:

    $$1 - \frac{\operatorname{Var}(G - V)}{\operatorname{Var}(G)}$$

    It is 1 if the critic knows everything, 0 if it might as well always say the same
    number, and below 0 if it does harm. While it is about 0, the critic takes no noise
    out of the advantages.

    Read it with care. A variance does not see what is the same everywhere: a critic
    that is always 10 too high gets 1 as well. (`value_loss` shows it: 50.) The returns
    have the critic's own answers in them: everywhere if $\lambda$ is below 1, and in
    any case where the rollout stops. The critic foresees these easily. And where all
    returns are nearly the same, as with an agent that never drops the pole of CartPole,
    even a small error takes this number far below 0, and nothing is wrong.

    Args:
        values: $V(o_t)$, of the network that played.
        returns: $G_t$.

    Returns:
        The fraction; 0 where all returns are the same.

    Raises:
        ValueError: if the shapes differ.
    """
    check_shapes(values=values, returns=returns)
    unforeseen = (returns - values).var() / returns.var()

    # Rounded, the variance of equal numbers is not always 0.
    return torch.where(returns.max() > returns.min(), 1 - unforeseen, 0.0)


# ## Questions
#
# 1. An action had an advantage of $-1$, and $\epsilon$ is 0.2. What is its part of the
#    objective with a ratio of 0.7, and what with 1.5? Which of them has a gradient?
# 2. 8 games play 128 steps each, and then there are 4 epochs of 4 minibatches. How many
#    steps does the optimiser take, with how many steps of play each?
# 3. A program does not keep the old log-probabilities, but computes them for each
#    minibatch, with the network of that moment. What is wrong?
# 4. The standard deviation of the returns is 2, and the explained variance 0.75. What
#    is that of the critic's errors?
#
# ??? tip "Answers"
#     1. $-0.8$, without a gradient: it is less likely by enough. $-1.5$, with one: it
#        went the wrong way.
#     2. 16 steps, with 256 each. So each step of play is learned from four times.
#     3. All ratios are 1, always, and nothing is ever clipped. It is A2C's loss, and 16
#        steps with it from the same play.
#     4. 1. A quarter of the variance, which is 4, is left, and the root of 1 is 1.
