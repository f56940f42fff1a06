r"""
---
title: Curiosity
summary: >-
  A reward for what is new: a network that never learns, another that tries to say what
  it says, and the error of the second.
symbols:
  observations: 'o'
  target: 'f'
  predictor: '\hat{f}'
---

# Curiosity

All agents of this book begin by trying things out at random. Sooner or later one of
these things earns a point, and from then on there is something to learn from. But what
if no point comes? In Montezuma's Revenge the first one is behind ladders, a rope and a
skull, and a wrong step only means beginning again.

A child in an empty room does not wait for points. It goes where it has not been. So pay
the agent for what is *new*, and let it learn from this pay as it learns from points.
(Such pay is called an **intrinsic reward**, or an exploration bonus. The points are the
**extrinsic** reward, and where they seldom come, it is **sparse**.)

## How new is it?

The plain way is to count (**count-based exploration**). But hardly any two pictures of
a game are the same in every pixel, so nearly every one is seen just once.

[Burda et al. (2019)](https://arxiv.org/abs/1810.12894) let two networks do the
counting. The first, the **target** $f$, has random weights, and keeps them. It turns
each observation into a row of numbers. They mean nothing, but are always the same for
the same observation. The second, the **predictor** $\hat{f}$, begins with other random
weights and learns to say the same numbers, from all that the agent sees. Its error is
the reward:

$$n(o) = \operatorname{mean} \Big( \big( \hat{f}(o) - f(o) \big)^2 \Big)$$

![One observation goes into the target, which never learns, and into the predictor,
which learns to agree with it. Each answers with 512 numbers: how far apart are
they?](../../assets/figures/rnd-networks.svg)

What was seen often is what the predictor has learned, and there the error is small. If
something is like nothing seen before, the predictor has to guess, and the guess is bad.
This is **random network distillation**, RND: one network is boiled down into the other.

In a loop of your own, with observations of eight numbers:

```python
import torch
from labml_rl.ppo.novelty import Novelty

novelty = Novelty((8,))
seen = torch.randn(32, 8)  # what the steps led to
novelty.add(seen)
with torch.no_grad():
    rewards = novelty(seen)  # (32,)
# And to learn:
novelty(seen).mean().backward()
```

Before these rewards are paid, [they get a size][labml_rl.ppo.rnd.Experiment.sized].

## Why a target that means nothing?

It seems more sensible to predict what the *game* shows next, and to be paid where that
fails. But then an agent in front of a television that shows noise is happy for ever
(the *noisy TV problem*): nobody can say what comes next. RND does not predict the
future. It predicts a function of the picture in front of it, and this function can be
learned: it never changes, there is no chance in it, and another network of its kind can
compute it.

Noise still pleases the agent for a while, since each picture of noise is new. But here
the error is one that learning can take away.

## What goes wrong

!!! warning "Sizes"
    A network that learns can get used to large numbers or small ones, but the target
    can't. If it sees too small ones, all its answers are alike, whatever is seen. So
    here each pixel is shifted and scaled by [what was seen of it so far][Moments], and
    cut off at five standard deviations.

!!! warning "One picture, not four"
    The policy sees four pictures, to know what moves. The predictor gets the newest of
    them alone. Otherwise each new way of moving in a well-known place would count as
    something new.

!!! warning "It fades"
    Nothing is as new the second time, so the same thing earns less and less. And the
    size of an error depends on the networks: by itself it says nothing. So [the
    experiment](rnd.py) adds up the errors of each game, and divides each error by the
    standard deviation of these sums so far. The errors still fade, and in the end
    points alone count.

!!! warning "A few smooth numbers"
    The predictor also learns what it was not shown, if it lies between two things that
    it was shown. With pictures that is little. With two numbers, such as where a car is
    and how fast it goes, that is everything. We tried this on `MountainCar-v0`, with a
    few sets of settings, and no agent got up the hill.
"""

import torch
from torch import Tensor, nn

from labml_rl.bodies import VectorBody
from labml_rl.networks import orthogonal_

FEATURES = 512  # numbers that the target makes of an observation
FARTHEST = 5.0  # standard deviations
MORE = 2  # layers of the predictor, beyond those of the target


class Moments(nn.Module):
    r"""
    ## What is usual

    The mean and variance of all that was ever [added][Moments.add], without keeping any
    of it. They are saved with the weights, since they are buffers of a module.

    Args:
        shape: of what is added.
    """

    mean: Tensor
    variance: Tensor
    count: Tensor

    def __init__(self, shape: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(shape))
        self.register_buffer("variance", torch.ones(shape))
        self.register_buffer("count", torch.zeros(()))

    @torch.no_grad()
    def add(self, numbers: Tensor) -> None:
        r"""
        Two heaps of numbers are put together. The means are weighted by the sizes of
        the heaps. The variance between the two is added to those within the heaps:

        $$\sigma^2 = \frac{n_1 \sigma_1^2 + n_2 \sigma_2^2}{n_1 + n_2} +
        \frac{n_1 n_2}{(n_1 + n_2)^2} (\mu_2 - \mu_1)^2$$

        [Chan et al. (1982)](https://doi.org/10.1007/978-3-642-51461-6_3) show why it is
        better not to add up squares: the variance would be a small difference between
        two large sums.

        Args:
            numbers: shape `(B, …)`, one or more.
        """
        variance, mean = torch.var_mean(numbers.float(), 0, correction=0)
        part = len(numbers) / (self.count + len(numbers))  # n2 / (n1 + n2)
        apart = mean - self.mean
        self.variance.lerp_(variance, part)
        self.variance += part * (1 - part) * apart.square()
        self.mean += part * apart
        self.count += len(numbers)

    @property
    def deviation(self) -> Tensor:
        """The standard deviation, and a little more, so that one can divide by it."""
        return (self.variance + 1e-8).sqrt()


class Novelty(nn.Module):
    """
    ## How new it is

    For pictures, both networks have the three convolutions of [the
    policy][labml_rl.bodies.NatureBody], with a slope of a hundredth in place of the
    flat half of each ReLU. For vectors they have its two small layers. The predictor
    has more layers than the target, so that it can be right.

    Args:
        shape: of one observation.
        channels_last: the channels are the last of three numbers.
        newest: look at the last of the channels alone, the newest of a stack of
            pictures.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        *,
        channels_last: bool = False,
        newest: bool = False,
    ) -> None:
        super().__init__()
        self.channels_last, self.newest = channels_last, newest
        blank = self.looked_at(torch.zeros(1, *shape))
        shape = tuple(blank.shape[1:])
        self.usual = Moments(shape)
        self.target, found = _eyes(shape)
        self.target.append(nn.Linear(found, FEATURES))

        self.predictor, found = _eyes(shape)
        for _ in range(MORE):
            width = FEATURES if len(shape) == 3 else found
            self.predictor.extend([nn.Linear(found, width), nn.ReLU()])
            found = width
        self.predictor.append(nn.Linear(found, FEATURES))
        orthogonal_(self, gain=2**0.5)
        self.target.requires_grad_(False)

    def looked_at(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            The part of them that matters, with channels first.
        """
        if self.channels_last:
            observations = observations.permute(0, 3, 1, 2)
        return observations[:, -1:] if self.newest else observations

    def add(self, observations: Tensor) -> None:
        """
        Update [what is usual][Moments.add].

        Args:
            observations: $o$, shape `(N, …)`.
        """
        self.usual.add(self.looked_at(observations))

    def forward(self, observations: Tensor) -> Tensor:
        r"""
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $n(o)$, shape `(N,)`, with a gradient for the predictor.
        """
        seen = self.looked_at(observations).float()
        seen = (seen - self.usual.mean) / self.usual.deviation
        seen = seen.clamp(-FARTHEST, FARTHEST)
        errors = self.predictor(seen) - self.target(seen)  # (N, F)
        return errors.square().mean(-1)


def _eyes(shape: tuple[int, ...]) -> tuple[nn.Sequential, int]:
    if len(shape) == 1:
        return nn.Sequential(VectorBody(shape)), VectorBody.features
    eyes = nn.Sequential(
        nn.Conv2d(shape[0], 32, kernel_size=8, stride=4),
        nn.LeakyReLU(),
        nn.Conv2d(32, 64, kernel_size=4, stride=2),
        nn.LeakyReLU(),
        nn.Conv2d(64, 64, kernel_size=3, stride=1),
        nn.LeakyReLU(),
        nn.Flatten(),
    )
    return eyes, eyes(torch.zeros(1, *shape)).shape[1]


# ## Questions
#
# 1. The first heap is one number, 4, and the second is three zeros. What are the mean
#    and variance of all four, by the formula on this page?
# 2. Suppose the predictor begins with the very weights of the target. What is the agent
#    paid?
# 3. The target answers with 512 numbers, and the predictor is off by 0.1 in each. What
#    is $n(o)$?
#
# ??? tip "Answers"
#     1. The mean is 1. Within the heaps nothing varies, so the variance is
#        $\frac{1 \cdot 3}{16} \cdot 4^2 = 3$.
#     2. Nothing, for anything. It is right about all that it has never seen.
#     3. 0.01. It is a mean, and so it would be the same with ten numbers.
