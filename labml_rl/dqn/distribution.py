r"""
---
title: The distribution of returns (categorical DQN, C51)
summary: >-
  Distributional DQN, or C51: how likely each return is instead of their mean, the
  projection onto fixed atoms, and the loss.
symbols:
  atoms: 'z_i'
  probs: 'p_i'
  returns: 'R_t^{(n)}'
  discounts: '\gamma^n'
  target_probs: 'm_i'
  log_probs: '\log p_i(o_t, a_t)'
---

# The distribution of returns (categorical DQN, C51)

In Pong, say that a rally is about to end, and nobody can see yet who will win it. The
agent gets $+1$ or $-1$, on the toss of a coin, and the mean of that is 0. Now say that
nothing at all is going to happen for a while. The mean is 0 as well. To
[DQN](__init__.py) these two screens are the same, since an action value is a mean.

[Bellemare et al. (2017)](https://arxiv.org/abs/1707.06887) let the network say how
likely *each* return is. That is its **distribution**, and the action value is its mean.
The agent acts as before: it takes the action with the largest mean. Only what it learns
is richer. Over 57 games they report a [human-normalised](../watch/many.py#one-scale)
median of 178%, where DQN had 79%, and double Q-learning, [dueling](dueling.py) and
[priorities](../replay/prioritised.py) together 172%. There, a return may have only 51
values, the categories. So it is called **C51**, or *categorical DQN*.

```sh
labml-rl train fast-dqn --game Pong \
    --distributional
```

The authors also have an $\varepsilon$ that ends at 0.01, and Adam with a learning rate
of 0.00025 and an epsilon of 0.01/32. Everything else is as in [Nature](settings.py):

```sh
labml-rl train dqn --game Pong \
    --distributional --optimizer-name adam \
    --adam-epsilon 3.1e-4 --epsilon-end 0.01
```

## Why should it help?

Nobody knows for certain. The agent looks at nothing but the mean, so the rest of the
distribution seems useless. With a table that can be true: then the means are, step by
step, the same as those learned without a distribution ([Lyle et al.,
2019](https://arxiv.org/abs/1901.11084)). With networks they are not. So the reason
seems to be in how networks learn. Two guesses:

- Each step has more to teach. To say "a point, or none, but nothing between" a network
  must see more on the screen than to say "a half, on average", and what it has learned
  to see helps with everything else.
- It is no longer regression but classification, and that is what networks are best at.
  [Farebrother et al. (2024)](https://arxiv.org/abs/2403.03950) cut the numbers into
  many classes, and let the network say in which of them the *mean* is. Such a network
  does not learn how much the returns differ from try to try. Yet this helps as much, or
  more.

## The same equation

Let $Z(o, a)$ be the return itself, before any mean is taken: a number that differs from
try to try. It has an equation of the same form:

$$\begin{aligned}
Q(o, a) &= \operatorname{E} \big[ r + \gamma \, Q(o', a') \big] \\
Z(o, a) &\overset{d}{=} r + \gamma \, Z(o', a')
\end{aligned}$$

where $a'$ is the action with the largest mean, and $\overset{d}{=}$ says that both
sides have the same distribution. So the target of a step is a distribution, too. Take
that of the next observation, shrink it by $\gamma$ and move it by $r$.

One thing is lost. With a table, the means are certain to reach the right values, since
their equation is a [contraction](__init__.py). The distributions need not settle: where
two actions have the same mean, one or the other may be the best, from one moment to the
next, and their distributions can be quite different.
"""

import torch
from torch import Tensor, nn

from labml_rl.a2c import check_constant, check_shapes
from labml_rl.dqn import taken


def make_atoms(lowest: float, highest: float, count: int) -> Tensor:
    r"""
    ## Atoms

    A distribution over all numbers is more than a network can say. So returns may only
    have a few values, evenly spaced, the **atoms** $z_1, \dots, z_K$.

    Bellemare et al. have 51 of them from −10 to 10, which they chose by trying them out
    in a few games, with rewards clipped to $\pm 1$. So atoms are 0.4 apart. A wider
    range needs more atoms, or has them further apart. But with $\gamma = 0.99$ returns
    can reach $\pm 100$, and a point at every tenth step already makes 10. What is
    beyond the last atom counts as the last, and no message says so. If `action_value`
    stays close to 10, or if rewards are not clipped, choose another range. This one is
    twice as wide, and atoms are again 0.4 apart:

    ```sh
    labml-rl train fast-dqn --game Breakout \
        --distributional --atoms 101 \
        --lowest-return -20 --highest-return 20
    ```

    In [Acrobot][labml_rl.small.DQNSettings] returns lie between −100 and 0, and so do
    its atoms. With those from −10 to 10, nearly all would be taken for −10, and all
    actions would look alike. [Quantiles](quantiles.py) need no range.

    Args:
        lowest: the lowest return that can be expressed, $z_1$.
        highest: the highest, $z_K$.
        count: $K$, how many there are, at least 2.

    Returns:
        $z_i$, shape `(K,)`.

    Raises:
        ValueError: if there are fewer, or if the lowest is not below the highest.
    """
    if count < 2:
        raise ValueError(f"there must be at least 2 atoms, not {count}")
    if not lowest < highest:
        raise ValueError(
            f"the highest return must be above the lowest, {lowest}, not {highest}"
        )
    return torch.linspace(lowest, highest, count)


def expectation(probs: Tensor, atoms: Tensor) -> Tensor:
    r"""
    ## Back to the mean

    $$Q(o, a) = \sum_i p_i(o, a) \, z_i$$

    Args:
        probs: $p_i$, shape `(…, K)`.
        atoms: $z_i$, shape `(K,)`.

    Returns:
        The mean of each distribution, shape `(…)`.
    """
    return (probs * atoms).sum(-1)


class DistributionNetwork(nn.Module):
    """
    ## The network

    It has an output for each atom of each action. In Pong that is 6 actions times 51
    atoms: 306 numbers instead of 6. The softmax over the 51 of one action turns them
    into probabilities. With three atoms and three actions, it may say:

    | action | atom −1 | atom 0 | atom 1 | mean |
    |---|---|---|---|---|
    | first | 45% | 10% | 45% | 0 |
    | second | 5% | 90% | 5% | 0 |
    | third | 10% | 20% | 70% | 0.6 |

    The agent takes the third.

    Code that only plays need not know any of this: a call gives action values.

    Args:
        network: gives a number for each atom, shape `(N, A, K)`.
        atoms: shape `(K,)`.
    """

    atoms: Tensor

    def __init__(self, network: nn.Module, atoms: Tensor) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("atoms", atoms, persistent=False)

    @property
    def body(self) -> nn.Module:
        """That of the network inside."""
        return self.network.get_submodule("body")

    def log_probs(self, observations: Tensor) -> Tensor:
        r"""
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $\log p_i(o, a)$, shape `(N, A, K)`.
        """
        logits: Tensor = self.network(observations)  # (N, A, K)
        return logits.log_softmax(-1)

    def forward(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $Q(o, a)$ for each action, shape `(N, A)`.
        """
        return expectation(self.log_probs(observations).exp(), self.atoms)


@torch.no_grad()
def project(probs: Tensor, atoms: Tensor, returns: Tensor, discounts: Tensor) -> Tensor:
    r"""
    ## The target

    ![Both lie between atoms](../../assets/figures/projection-0.75.svg "reward 0.75")
    ![The first hits an atom](../../assets/figures/projection-1.svg "reward 1")
    ![Both lie between atoms](../../assets/figures/projection-1.25.svg "reward 1.25")
    ![The second hits the last](../../assets/figures/projection-1.5.svg "reward 1.5")
    ![The second lies beyond it](../../assets/figures/projection-1.75.svg "reward 1.75")
    ![All is on the last atom](../../assets/figures/projection-2.svg "reward 2")

    *How a target is made from two equally likely returns, with a discount of 0.5 and
    several rewards.*

    The target network says that the next return is $z_j$ with probability $p_j$. Seen
    from this step, that is another return: shrunk by $\gamma^n$, and moved by the
    rewards on the way. With a reward of 0.75, the atom 0 goes to
    $0.5 \cdot 0 + 0.75 = 0.75$, and the atom 1 to 1.25. In general, $z_j$ goes to

    $$\hat{z}_j = \Big[ R_t^{(n)} + \gamma^n z_j \Big]_{z_1}^{z_K}$$

    where $[x]_a^b$ is $x$, or $a$ if it is less, or $b$ if it is more: what would lie
    beyond the ends is moved to them. There need not be an atom at $\hat{z}_j$. So its
    probability is shared by the two atoms beside it, and the nearer one gets more:
    0.75 is three quarters of the way from 0 to 1, so 1 gets three quarters
    of it. That is called the **projection**. Let $\Delta$ be the distance from one atom
    to the next. Atom $z_i$ gets the probability $m_i$, the sum of all the shares that
    fall to it:

    $$m_i = \sum_j \Big[ 1 - \frac{|\hat{z}_j - z_i|}{\Delta} \Big]_0^1 \, p_j$$

    The mean stays what it was: a quarter at 0 and three quarters at 1 have a mean of
    0.75. Only what was moved to the ends changes it. The width does not stay: each
    projection spreads the distribution a little.

    If the game ends with the step, the discount is 0. All atoms are moved to one place,
    the return that was seen. Still the target can have two halves: with atoms at 0.8
    and 1.2, a return of 1 is half of each.

    !!! warning "An atom that was hit"
        Algorithm 1 of the paper takes the atom below and the atom above, and gives each
        a share according to how far away the *other* one is. Where a return falls on an
        atom, both are that atom, both distances are 0, and the probability is gone.
        That happens to all that is moved to the ends. And if a game ends with a reward
        of 0, the target is 0 everywhere, and the step teaches nothing. The formula
        above, which is in the paper too, has no such case.

    Args:
        probs: $p_j$ of [what follows][following_probs], shape `(B, K)`.
        atoms: $z_i$, evenly spaced, shape `(K,)`.
        returns: $R_t^{(n)}$, the rewards, shape `(B,)`.
        discounts: $\gamma^n$, or 0 if the game was over by then, the same.

    Returns:
        $m_i$, the distribution to learn, shape `(B, K)`.

    Raises:
        ValueError: if the shapes do not fit.
    """
    check_shapes(returns=returns, discounts=discounts)
    if probs.shape != (*returns.shape, *atoms.shape):
        raise ValueError(
            f"with returns of shape {tuple(returns.shape)} probs must have shape "
            f"{(*returns.shape, *atoms.shape)}, one probability for each atom of each "
            f"step, not {tuple(probs.shape)}"
        )
    moved = returns[:, None] + discounts[:, None] * atoms  # (B, K)
    moved = moved.clamp(atoms[0], atoms[-1])
    apart = (moved[:, None, :] - atoms[:, None]).abs()  # (B, K, K)
    width = (atoms[-1] - atoms[0]) / (len(atoms) - 1)
    shares = (1 - apart / width).clamp(min=0)
    return (shares * probs[:, None, :]).sum(-1)  # (B, K)


@torch.no_grad()
def following_probs(target_probs: Tensor, values: Tensor) -> Tensor:
    r"""
    ### What follows

    It is the distribution of the best action: the one with the largest mean. Double
    Q-learning [asks another network][labml_rl.dqn.following_values] which one that is.

    Args:
        target_probs: of the target network for the next observations, shape
            `(B, A, K)`.
        values: the means that say which action is the best, shape `(B, A)`: those of
            the network that learns for double Q-learning, otherwise the target
            network's.

    Returns:
        The distribution of the best action, shape `(B, K)`.

    Raises:
        ValueError: if the shapes do not fit.
    """
    if target_probs.shape[:2] != values.shape:
        raise ValueError(
            f"values must have shape {tuple(target_probs.shape[:2])}, as target_probs "
            f"has it, not {tuple(values.shape)}"
        )
    return taken(target_probs, values.argmax(-1))


def distribution_loss(
    log_probs: Tensor, target_probs: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""
    ## The loss

    How far one distribution is from another is measured by their **Kullback–Leibler
    divergence**, which is 0 if they are equal and above 0 if not:

    $$\begin{aligned}
    D_t &= \sum_i m_i \big( \log m_i - \log p_i(o_t, a_t) \big) \\
    L &= \operatorname{mean} ( w_t \, D_t )
    \end{aligned}$$

    Where $m_i$ is 0, as it often is, so is its term. (Typed as it stands, the first
    line gives 0 times minus infinity there, which is NaN. `torch.xlogy` gives 0.)

    The first term does not depend on the network. So the gradient is that of the
    *cross-entropy* alone, $-\sum_i m_i \log p_i$, with which networks learn to tell
    cats from dogs: each atom is a class.

    Why not the [Wasserstein distance](quantiles.py#what-a-quantile-is), which knows how
    far apart atoms are? A step shows one outcome, and not the distribution of what
    follows. For a return that is 1 in three tries out of ten and otherwise 0, the
    distribution that is nearest to each outcome, on average, says 0 for certain. The
    one with the least cross-entropy says 30%.

    There is no need for the [Huber loss][labml_rl.dqn.huber], which is there to limit
    the gradient. Here the slope for each output before the softmax is $p_i - m_i$ (as
    [with logits of actions][labml_rl.a2c.policy_loss]), and that is never beyond
    $\pm 1$.

    With two atoms, let the target be 60% and 40%, and let the network say 50% for each.
    Then $D_t = 0.6 \log 1.2 + 0.4 \log 0.8 = 0.02$. The slopes are $-0.1$ and $0.1$, so
    a step of the optimiser moves the first output up and the second down.

    With [priorities](../replay/prioritised.py), $D_t$ is the surprise, as in the paper
    on [Rainbow](rainbow.py). (Its program took the cross-entropy, [says its first
    author](https://github.com/Kaixhin/Rainbow/wiki/Matteo's-Notes).)

    !!! warning "The surprise without the first term"
        For the gradient the cross-entropy is enough. For the priority it is not. Say
        that the target has two halves, and that the network says exactly that. Then
        $D_t$ is 0, but the cross-entropy is $\log 2 \approx 0.69$. With that as the
        priority, steps whose outcome is open would be drawn again and again.

    Args:
        log_probs: $\log p_i(o_t, a_t)$, with a gradient, shape `(B, K)`.
        target_probs: $m_i$, shape `(B, K)`.
        weights: $w_t$, shape `(B,)`.

    Returns:
        $L$, a single number, and the surprises $D_t$, shape `(B,)`, without a gradient.

    Raises:
        ValueError: if the shapes differ, or if the targets have a gradient.
    """
    check_shapes(log_probs=log_probs, target_probs=target_probs)
    check_constant(target_probs=target_probs)
    known = torch.xlogy(target_probs, target_probs)
    divergences = (known - target_probs * log_probs).sum(-1)  # (B,)
    losses = divergences
    if weights is not None:
        check_shapes(divergences=divergences, weights=weights)
        losses = weights * losses
    return losses.mean(), divergences.detach()


# ## Questions
#
# 1. The atoms are 0, 1 and 2, the discount is 0.9, and the reward 0.5. The target
#    network is certain that what follows is worth 1. What is the target?
# 2. The game ends with a reward of 5. What is the target now?
# 3. One action brings 1 for certain, the other 0 or 3, on the toss of a coin. Which
#    does the agent take?
#
# ??? tip "Answers"
#     1. 60% for the atom 1 and 40% for the atom 2. All is moved to 1.4, and the mean of
#        these is 1.4.
#     2. All on the last atom, 2. The network can't say more.
#     3. The second, with a mean of 1.5. The agent knows the risk, but acts by the mean.
