r"""
---
title: Quantiles (QR-DQN)
summary: >-
  QR-DQN: atoms that are all equally likely, and move to where the returns are; and the
  loss that finds a quantile.
symbols:
  quantiles: 'z_i'
  levels: '\tau_i'
  targets: 'y_j'
  returns: 'R_t^{(n)}'
  discounts: '\gamma^n'
  following: '\bar{z}_j'
---

# Quantiles (QR-DQN)

The atoms of [C51](distribution.py) stand still, and the network says how likely each of
them is. So you have to know beforehand how large returns can be. [Dabney et al.
(2018)](https://arxiv.org/abs/1710.10044) turn it around. All atoms are equally likely,
and the network says *where* they are. If the agent gets better and its returns grow,
the atoms move with them. This is called **QR-DQN**, for *quantile regression*.

```sh
labml-rl train fast-dqn --game Breakout \
    --quantiles 51
```

Over 57 games they report a [human-normalised](../watch/many.py#one-scale) median of
211%, where C51 had 178% and DQN 79%. They had 200 atoms, an $\varepsilon$ that ended at
0.01, and Adam with a learning rate of 0.00005 and an epsilon of 0.01/32. Everything
else was as in [Nature](settings.py).

## What a quantile is

Play on from one position a hundred times, and sort the hundred returns. The one in the
middle is the *median*: half of all are less. The one at a tenth of the way has a tenth
below it. In general, the **quantile** at the level $\tau$ is the number below which a
return lies with probability $\tau$.

![An atom between both](../../assets/figures/quantiles-1.svg "1 atom")
![An atom for each side](../../assets/figures/quantiles-2.svg "2 atoms")
![One lies between both](../../assets/figures/quantiles-3.svg "3 atoms")
![Two for each side](../../assets/figures/quantiles-4.svg "4 atoms")
![Four for each side](../../assets/figures/quantiles-8.svg "8 atoms")
![Stairs like the curve](../../assets/figures/quantiles-16.svg "16 atoms")

*A rally of Pong that may end in a point for either side. The curve is the probability
that the return is below a number. The stairs are what atoms say of it: all steps have
the same height, and there is an atom at each.*

So cut the probability, from 0 to 1, into $K$ equal pieces, and let there be an atom for
the middle of each:

$$\tau_i = \frac{2 i - 1}{2 K}$$

With four atoms these are 1/8, 3/8, 5/8 and 7/8. The middles are the best choice. Think
of probability as sand. To turn the distribution into atoms, each grain has to be
carried some way, and with these the way is shortest on average. (That average is the
*Wasserstein distance* between the two.)

The agent acts as before, by the mean (which is [not quite
right][labml_rl.dqn.quantiles.leaning]). The mean is simple now:

$$Q(o, a) = \frac{1}{K} \sum_i z_i(o, a)$$

## What it has learned

With 51 quantiles, and the settings of [fast DQN](fast.py) as they are, it has learned
[Pong](../../results.md#pong-by-dqn-with-quantiles) in ten million frames, later than
DQN without them. The settings were made for DQN: in the paper the learning rate is a
fifth of this one. So the run shows that it works, and not that it is better.
"""

import torch
from torch import Tensor, nn

from labml_rl.a2c import check_constant, check_shapes
from labml_rl.dqn import huber


def levels_of(count: int) -> Tensor:
    r"""
    ## The levels

    Args:
        count: $K$, how many atoms there are, at least 1.

    Returns:
        $\tau_i$, shape `(K,)`.

    Raises:
        ValueError: if there are fewer.
    """
    if count < 1:
        raise ValueError(f"there must be at least 1 quantile, not {count}")
    return (torch.arange(count) + 0.5) / count


class QuantileNetwork(nn.Module):
    """
    ## The network

    It has an output for each atom of each action, as [that of
    C51][labml_rl.dqn.distribution.DistributionNetwork] has, and no softmax after them:
    each output *is* an atom. Nothing sorts them, since the mean is the same in any
    order.

    Code that only plays need not know any of this: a call gives action values.

    Args:
        network: gives the atoms, shape `(N, A, K)`.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    @property
    def body(self) -> nn.Module:
        """That of the network inside."""
        return self.network.get_submodule("body")

    def quantiles(self, observations: Tensor) -> Tensor:
        r"""
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $z_i(o, a)$, shape `(N, A, K)`.
        """
        return self.network(observations)  # (N, A, K)

    def forward(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $Q(o, a)$ for each action, shape `(N, A)`.
        """
        return self.quantiles(observations).mean(-1)


def leaning(errors: Tensor, levels: Tensor) -> Tensor:
    r"""
    ## How a quantile is found

    Nobody can sort the returns of a position, since each position is seen only once. So
    there must be a loss that is smallest, *on average*, at the quantile. For the mean
    there is one: the square of the error.

    Take the median first. At the median the absolute error $|y - z|$ is smallest, on
    average. Move $z$ up a little. The error grows for each return $y$ below it and
    shrinks for each above. So where there are as many on both sides, nothing is gained
    by moving. The median of 0, 1 and 5 is 1, and the three errors add up to 5. At the
    mean, which is 2, they add up to 6.

    For any other quantile let the sides cost differently: $\tau$ for each point that
    $y$ is above $z$, and $1 - \tau$ for each point that it is below. If a fraction $F$
    of the returns is below, moving $z$ up costs $(1 - \tau) F$ and saves
    $\tau (1 - F)$. The two are equal where $F = \tau$. (This is the **quantile loss**,
    or *pinball loss*.)

    ![Steep on the left](../../assets/figures/leaning-0.1.svg "τ = 0.1")
    ![Steeper on the left](../../assets/figures/leaning-0.3.svg "τ = 0.3")
    ![Both sides alike](../../assets/figures/leaning-0.5.svg "τ = 0.5")
    ![Steeper on the right](../../assets/figures/leaning-0.7.svg "τ = 0.7")
    ![Steep on the right](../../assets/figures/leaning-0.9.svg "τ = 0.9")

    *What an error costs (left), and its slope (right): without the round bottom, and
    with it. At the level 0.9 a return above the atom pulls it up nine times as hard as
    one below pulls it down. So it comes to rest where nine tenths are below.*

    There is one thing more. The slope jumps where the error is 0, so an atom that is
    nearly right is pulled as hard as one that is far off. With the [Huber
    loss][labml_rl.dqn.huber] $h$ in place of the absolute error, the bottom is round.
    This is the **quantile Huber loss**:

    $$\rho_\tau(u) = \begin{cases}
    \tau \, h(u) & \text{if } u \ge 0 \\
    (1 - \tau) \, h(u) & \text{if } u < 0
    \end{cases}$$

    !!! warning "Not quite a quantile"
        Where errors are less than 1, it is their squares that count more on one side,
        and not their sizes. What that finds is an *expectile*: a mean in which returns
        above count more, or less. With rewards of $\pm 1$, errors are as small as that
        in many positions. And expectiles that are taken for returns make, one step
        earlier, expectiles of expectiles: step by step, all atoms draw together
        ([Jullien et al., 2025](https://arxiv.org/abs/2305.16877)). Where a return is
        lopsided, the mean is wrong, too. Let it be 1 in one try out of ten, and
        otherwise 0: the mean of 51 atoms is 0.18 instead of 0.1. So don't read the
        atoms as probabilities. The round bottom pays off nevertheless: without it, the
        human-normalised median of the paper is 199% instead of 211%.

    Args:
        errors: $u$, how far what was seen is above the atom, shape `(…)`.
        levels: $\tau$, of a shape that fits.

    Returns:
        $\rho_\tau(u)$, shape `(…)`.
    """
    return torch.where(errors < 0, 1 - levels, levels) * huber(errors)


@torch.no_grad()
def quantile_targets(following: Tensor, returns: Tensor, discounts: Tensor) -> Tensor:
    r"""
    ## The target

    All atoms of the best action in the next observation, shrunk and moved:

    $$y_j = R_t^{(n)} + \gamma^n \bar{z}_j$$

    There is no projection.

    Args:
        following: $\bar{z}_j$, the target network's atoms for the best action, shape
            `(B, K)`.
        returns: $R_t^{(n)}$, the rewards, shape `(B,)`.
        discounts: $\gamma^n$, or 0 if the game was over by then, the same.

    Returns:
        $y_j$, shape `(B, K)`.

    Raises:
        ValueError: if the shapes do not fit.
    """
    check_shapes(returns=returns, discounts=discounts)
    if following.shape[:-1] != returns.shape:
        raise ValueError(
            f"with returns of shape {tuple(returns.shape)} following must have shape "
            f"{(*returns.shape, 'K')}, the atoms of each step, not "
            f"{tuple(following.shape)}"
        )
    return returns[:, None] + discounts[:, None] * following


def quantile_loss(
    quantiles: Tensor, targets: Tensor, weights: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    r"""
    ## The loss

    A step has $K$ targets, each as likely as the others. Every atom is compared with
    all of them, and the errors of all atoms are added up:

    $$\begin{aligned}
    u_{ij} &= y_j - z_i(o_t, a_t) \\
    L_t &= \sum_i \frac{1}{K} \sum_j \rho_{\tau_i}(u_{ij}) \\
    L &= \operatorname{mean} ( w_t \, L_t )
    \end{aligned}$$

    Say that two atoms are at 0 and 2. Their levels are ¼ and ¾, and the targets are 1
    and 3:

    | what an error costs | target 1 | target 3 | their mean |
    |---|---|---|---|
    | atom 0 | $0.25 \cdot 0.5 = 0.125$ | $0.25 \cdot 2.5 = 0.625$ | 0.375 |
    | atom 2 | $0.25 \cdot 0.5 = 0.125$ | $0.75 \cdot 0.5 = 0.375$ | 0.25 |

    So $L_t = 0.625$. In the second row, target 1 lies below the atom, and counts
    $1 - 0.75$.

    !!! warning "Three slips that no score shows"
        - **The other way round.** With $z_i - y_j$, the first atom learns the highest
          returns and the last the lowest. The mean is the same, and the agent plays no
          worse.
        - **The mean of both sums.** That divides the gradient by $K$. Adam hardly
          notices. RMSProp's epsilon does, and so does a limit on the length of
          gradients.
        - **Rows for columns.** The level belongs to the atom of the network, and not to
          that of the target. If it goes to the targets, all atoms learn the same.

    With [priorities](../replay/prioritised.py), what is the surprise? Not the loss.
    Where the outcome is open it is above 0 however right the network is, as [a
    cross-entropy is][labml_rl.dqn.distribution.distribution_loss]. So here it is how
    far the atoms are from the targets, once both are sorted:

    $$D_t = \frac{1}{K} \sum_i \big| z_{(i)} - y_{(i)} \big|$$

    That is 0 if they are the same. (The paper does not combine quantiles with
    priorities.)

    Args:
        quantiles: $z_i(o_t, a_t)$, with a gradient, shape `(B, K)`.
        targets: $y_j$, shape `(B, K)`.
        weights: $w_t$, shape `(B,)`.

    Returns:
        $L$, a single number, and the surprises $D_t$, shape `(B,)`, without a gradient.

    Raises:
        ValueError: if the shapes differ, or if the targets have a gradient.
    """
    check_shapes(quantiles=quantiles, targets=targets)
    check_constant(targets=targets)
    levels = levels_of(quantiles.shape[-1]).to(quantiles)  # (K,)
    errors = targets[:, None, :] - quantiles[:, :, None]  # (B, K, K)
    losses = leaning(errors, levels[:, None]).mean(-1).sum(-1)  # (B,)
    if weights is not None:
        check_shapes(losses=losses, weights=weights)
        losses = weights * losses
    apart = quantiles.detach().sort(-1).values - targets.sort(-1).values  # (B, K)
    return losses.mean(), apart.abs().mean(-1)


# ## Questions
#
# 1. There are two atoms. What are their levels, and where do they come to rest if the
#    return is 0, 1, 2 or 3, each as often as the others? (Leave the round bottom out.)
# 2. The game ends with a reward of 5. What are the targets? What would they be with the
#    atoms of [C51](distribution.py), from −10 to 10, and what with atoms from −2 to 2?
# 3. An action has the atoms −1, 0 and 4, another 1, 1 and 1. Which does the agent take?
#    Which would an agent that fears the worst take?
#
# ??? tip "Answers"
#     1. At ¼ and ¾. The first rests anywhere from 0 to 1, where one of four is below
#        it, and the second from 2 to 3.
#     2. All are 5. With C51 it is half of each of the atoms 4.8 and 5.2, or all on the
#        atom 2.
#     3. The two means are 1, so it takes either. One that fears the worst looks at the
#        lowest atoms, and takes the second.
