r"""
---
title: Noisy networks
summary: >-
  Exploring with noise in the weights of the network, which learns how much of it to
  keep.
symbols:
  weight: '\mu'
  weight_noise: '\sigma'
  before: '\varepsilon_i'
  after: "\\varepsilon'_j"
---

# Noisy networks

With [epsilon](exploring.py), all screens are alike. When the ball is far away an agent
tries something else just as often as when one slip loses the point, and a good action
comes up as rarely as a hopeless one. And you have to say in advance when to stop
trying.

[Fortunato et al. (2018)](https://arxiv.org/abs/1706.10295) put the dice into the
network. Each of its weights is a mean and some noise, and how much noise is *learned*,
weight by weight. Where the noise makes the targets harder to meet, the loss makes it
smaller. The hope is that the agent stops trying where it knows its way, and goes on
where it does not. But the loss knows nothing of exploring, so this need not happen.
They saw the noise of one layer *grow* in some games.

Over 57 games they report a [human-normalised](../watch/many.py#one-scale) median of
123% instead of 83% for DQN, and of 172% instead of 132% with [two streams](dueling.py).

```sh
labml-rl train fast-dqn --game Pong --noisy
labml-rl train fast-dqn --game Pong --noisy \
    --epsilon-start 0 --epsilon-end 0 \
    --folder runs/noise-alone
```

The first has noise and epsilon, the second noise alone. (The warm-up is random in any
case.) When an agent is [watched or measured](../watch/__init__.py), the noise is off,
and each weight is its mean. But one action in twenty is then random, as for any agent
of DQN but DrQ's.

!!! warning "Noise is no promise"
    Where noise moves the values of all actions up or down together, it does not change
    which is best. And as long as the network says nearly the same of all screens, the
    agent may do the same on all of them. So look at what your agent does, and [keep
    epsilon][labml_rl.dqn.rainbow.FastSettings] if that is too little.

## A layer with noise

An ordinary layer computes $\mu x + b$. This one adds to each weight and to each
bias a random number with mean 0, scaled by a $\sigma$ that is learned like any
other weight:

$$y_j = \sum_i (\mu_{ji} + \sigma_{ji} \, \varepsilon_{ji}) \, x_i
+ b_j + \sigma_j \, \varepsilon_j$$

A layer with 3,136 inputs and 512 outputs would have to draw 1.6 million numbers for
each answer. So only as many are drawn as there are inputs and outputs, and each
weight gets the product of the two at its ends:

$$\begin{aligned}
\varepsilon_{ji} &= \varepsilon'_j \, \varepsilon_i, \qquad
\varepsilon_j = \varepsilon'_j \\
\varepsilon_i, \varepsilon'_j &= f(u) \quad \text{with } u \sim \mathcal{N}(0, 1) \\
f(u) &= \operatorname{sign}(u) \sqrt{|u|}
\end{aligned}$$

That is called *factorised* noise. Without the root, the product of two large ones would
now and then be very large.

In numbers: an output has the weights 0.5 and −0.2, no bias, and every $\sigma$ is
0.1. For the inputs 1 and 2 its mean is $0.5 - 0.4 = 0.1$. If the $\varepsilon_i$ of
the inputs are 0.5 and 1, and the $\varepsilon'_j$ of the output is −1, the noise is
$-(0.1 \cdot 0.5 \cdot 1 + 0.1 \cdot 1 \cdot 2 + 0.1) = -0.35$, and the answer
−0.25.

### No matrix of noise

Put the product into the first formula, and what belongs to an output alone can be
taken out of the sum:

$$y_j = (\mu x + b)_j
+ \varepsilon'_j \Big( \sum_i \sigma_{ji} \, (\varepsilon_i x_i)
+ \sigma_j \Big)$$

Both parts are ordinary layers, one of $x$ and one of $\varepsilon x$. So no matrix of
noise is ever made. In return for a second layer each row of the batch has its own
noise, where Fortunato et al. draw once for a batch. So sixteen games explore in sixteen
ways.

The noise is on while the network learns, too: without it, $\sigma$ would get no
gradient. It is on in the target network as well. All of it is drawn again whenever a
network is asked, and so at each step of a game, as Fortunato et al. do for DQN.
"""

import math

import torch
from torch import Tensor, nn


class NoisyLinear(nn.Linear):
    r"""
    ## The layer

    A linear layer that has a mean and a $\sigma$ for each weight and each bias.

    Args:
        in_features: how many inputs there are.
        out_features: how many outputs.
        noise: how large it is at the beginning: $\sigma$ is this, divided by the root
            of the number of inputs. With 3,136 of them and 0.5 that is 0.009, half as
            much as the largest weight that may be drawn.
    """

    def __init__(
        self, in_features: int, out_features: int, *, noise: float = 0.5
    ) -> None:
        super().__init__(in_features, out_features)
        size = noise / math.sqrt(in_features)
        self.weight_noise = nn.Parameter(torch.full_like(self.weight, size))
        self.bias_noise = nn.Parameter(torch.full_like(self.bias, size))

    def forward(self, numbers: Tensor) -> Tensor:
        r"""
        The dice are those that `torch.manual_seed` sets.

        Args:
            numbers: $x$, shape `(N, in_features)`.

        Returns:
            $y$, shape `(N, out_features)`; after `eval()` without any noise.
        """
        mean = super().forward(numbers)
        if not self.training:
            return mean
        before = squashed(torch.randn_like(numbers))  # (N, in_features)
        after = squashed(torch.randn_like(mean))  # (N, out_features)
        noisy = nn.functional.linear(
            before * numbers, self.weight_noise, self.bias_noise
        )
        return mean + after * noisy


def squashed(dice: Tensor) -> Tensor:
    """
    Args:
        dice: normally distributed.

    Returns:
        $f(u)$, the same shape: the root of each, with its sign.
    """
    return dice.sign() * dice.abs().sqrt()


def add_noise(network: nn.Module, noise: float = 0.5) -> None:
    """
    ## Adding noise to a network

    All its linear layers become noisy. Convolutions stay as they are, as in the paper.

    The means begin as the weights of the layer, which Fortunato et al. draw [as PyTorch
    does][labml_rl.networks.QNetwork], too.

    Args:
        network: is changed.
        noise: see [NoisyLinear][].

    Raises:
        ValueError: if a layer has no bias.
    """
    for name, layer in network.named_children():
        if type(layer) is nn.Linear:
            noisy = NoisyLinear(layer.in_features, layer.out_features, noise=noise)
            noisy.to(layer.weight).train(layer.training)
            if layer.bias is None:
                raise ValueError(f"{name} has no bias, and so none that can be noisy")
            noisy.weight, noisy.bias = layer.weight, layer.bias
            setattr(network, name, noisy)
        else:
            add_noise(layer, noise)
