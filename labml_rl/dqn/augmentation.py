r"""
---
title: No picture twice (data augmentation)
summary: >-
  Pictures that are moved by a few pixels, and a little brighter or darker, every time
  that a network learns from them.
---

# No picture twice (data augmentation)

A network with millions of weights can learn a few hours of play by heart: *this* pixel
is lit, so the answer is 1.7. That makes the loss small, and says nothing about a screen
that it has not seen (it *overfits*).

Those who train networks on photographs know the remedy, **data augmentation**: show
each picture a little different every time, in a way that doesn't change the answer. A
screen that is [moved][shift] by a few pixels, or a bit [brighter][brighten], calls for
the same action. So the network has to find something that survives this, and a pixel
does not.

![The same screen of Breakout four times, with a ring in the same place. The first is as
the game shows it, with the ball in the middle of the ring. In the others everything is
moved by a few pixels, and darker or brighter](../../assets/figures/drq-varied.png)

*A picture as the game shows it, and three times as the network may see it. The ring is
always in the same place. Look at the ball and the score.*

These two are what [Kostrikov et al. (2021)](https://arxiv.org/abs/2004.13649) do to the
pictures of Atari games, and [the next page](drq.py) learns with them. Both functions
know nothing of DQN:

```python
import torch
from labml_rl.dqn.augmentation import brighten, shift

batch = torch.randint(256, (32, 4, 84, 84)).byte()
dice = torch.Generator().manual_seed(1)
varied = brighten(shift(batch, dice), dice)
varied.shape  # (32, 4, 84, 84)
```

Throw the dice anew for each batch, and for what is seen now and what is seen next.
While the agent plays, it sees the pictures as they are.
"""

import torch
from torch import Generator, Tensor


def shift(pictures: Tensor, generator: Generator, most: int = 4) -> Tensor:
    """
    ## A few pixels to the side

    Each observation is moved by up to four pixels, up or down and left or right. Its
    four pictures all move alike: otherwise a ball that stands still would seem to fly.
    Where a row or a column is missing at an edge, the one at that edge is repeated.

    Four pixels out of 84 can hardly be seen, but they change what the first convolution
    computes.

    Args:
        pictures: shape `(N, C, H, W)`.
        generator: the dice, on the device of the pictures.
        most: how far they may move, in pixels.

    Returns:
        The same, moved; the shape stays the same.
    """
    n, channels, height, width = pictures.shape
    device = pictures.device
    moves = torch.randint(
        -most, most + 1, (2, n, 1), generator=generator, device=device
    )

    # From which row and which column each pixel comes.
    rows = (torch.arange(height, device=device) + moves[0]).clamp(0, height - 1)
    columns = (torch.arange(width, device=device) + moves[1]).clamp(0, width - 1)
    places = rows[:, :, None] * width + columns[:, None, :]  # (N, H, W)

    places = places.view(n, 1, -1).expand(-1, channels, -1)  # (N, C, H · W)
    return pictures.flatten(2).gather(2, places).view_as(pictures)


def brighten(pictures: Tensor, generator: Generator, spread: float = 0.05) -> Tensor:
    r"""
    ## A little brighter or darker

    All pixels of an observation are multiplied by the same number, mostly between 0.95
    and 1.05, and never outside 0.9 and 1.1:

    $$1 + 0.05 \cdot \operatorname{clip}(u, -2, 2), \qquad u \sim \mathcal{N}(0, 1)$$

    The network [takes bytes][labml_rl.bodies.NatureBody.forward], so the products are
    rounded and cut off at 255.

    Args:
        pictures: uint8, shape `(N, …)`.
        generator: the dice, on the device of the pictures.
        spread: the 0.05 of the formula.

    Returns:
        The same with a different brightness, uint8.

    Raises:
        TypeError: if they are not bytes. Floats from 0 to 1 would all become black.
    """
    if pictures.dtype != torch.uint8:
        raise TypeError(f"pictures must be uint8, not {pictures.dtype}")
    n, device = len(pictures), pictures.device
    noise = torch.randn(n, 1, generator=generator, device=device).clamp(-2, 2)

    # There are only 256 products for each observation, and 28,224 pixels that need one.
    products = torch.arange(256, device=device) * (1 + spread * noise)  # (N, 256)
    products = products.round().clamp(0, 255).byte()
    return products.gather(1, pictures.flatten(1).long()).view_as(pictures)


# ## Questions
#
# 1. A picture may move by up to 4 pixels each way. In how many places can it be? How
#    many of these have no edge that is repeated?
# 2. Why must the four pictures of an observation move together?
# 3. Which Atari game would you *not* turn upside down to get more pictures?
#
# ??? tip "Answers"
#     1. In $9 \cdot 9 = 81$. One of them: not moved at all.
#     2. The network sees from them how things move. If each moved by itself, a ball at
#        rest would fly about.
#     3. Breakout, for example: the paddle is below, and the ball comes down to it.
#        Where two sides are alike, as left and right in Breakout or up and down in
#        Pong, the actions would have to change sides as well.
