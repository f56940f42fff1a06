r"""
---
title: Seeing
summary: >-
  The body of the Nature network in PyTorch: its shapes, why it takes bytes, and the
  order in which a processor likes them best.
symbols:
  observations: 'o'
---

# Seeing

An agent has to base its decision on 28,224 bytes, the pixels of four pictures. Its
network has two parts. A **body** turns what the agent sees into 512 numbers that say
what matters in it: where the ball is, where it is going. A **head** turns these into an
answer, on [the next page](networks.py).

The sizes of the body's layers follow from what the agent sees, so it fits any game:

```python
import torch
from labml_rl.bodies import make_body
from labml_rl.game import make_game

game = make_game("Breakout", seed=1)
shape = game.observation_space.shape
body = make_body(shape)
obs, info = game.reset()
batch = torch.from_numpy(obs)[None]
batch.shape  # (1, 4, 84, 84)
features = body(batch)  # (1, 512)
```
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d

SIDE = 4  # of a block, in pixels: as far as the first window moves


class NatureBody(nn.Module):
    """
    ## The body for pictures

    This is the network of [Mnih et al. (2015)](https://doi.org/10.1038/nature14236), in
    *Nature*: the *Nature CNN*, a convolutional neural network.

    Three of its four layers are **convolutions**. Such a layer looks through a small
    window, moves it on by its *stride*, and looks again, with the same weights
    everywhere: a ball is a ball wherever it flies. Each of its 32 or 64 sets of
    weights, its **filters**, looks for something different, and what one of them finds
    is a picture again, a **channel**. (The four pictures that come in are channels,
    too.) The windows of the three are 8, 4 and 3 wide and high, and the strides are
    4, 2 and 1. After each of the four comes a ReLU, which sets whatever is below
    zero to zero.

    ![Four pictures of 84 × 84; below them three boxes, each smaller: 32 channels of
    20 × 20, then 64 of 9 × 9, then 64 of 7 × 7; a bar of 512 features; and two heads,
    policy and value](../assets/figures/networks-shapes.svg)

    *One observation on its way. The squares on the picture show what a single place of
    each box can see of it, in the colour of the box; the dot in the box is the place.*

    Args:
        shape: of one observation: channels, height and width. There may be any number
            of channels, and there must be 36 pixels or more each way.
        channels_last: the channels are the last of the three, as in most environments
            that come with Gymnasium.

    Raises:
        ValueError: if it is not a picture, or is too small.
    """

    features = 512

    def __init__(self, shape: tuple[int, ...], *, channels_last: bool = False) -> None:
        super().__init__()
        if len(shape) != 3:
            raise ValueError(
                "observations must be pictures, with a shape of 3 numbers, or vectors, "
                f"with 1; not {tuple(shape)}. Grey pictures without a channel get one "
                "from Gymnasium's GrayscaleObservation(keep_dim=True), or from its "
                "FrameStackObservation. Its FlattenObservation makes a vector of all "
                "else"
            )
        self.shape = tuple(shape)
        self.channels_last = channels_last

        # The first convolution looks through all four pictures at once, so it can see
        # which way something moves.
        #
        # There is no pooling between the layers: that would keep only the largest of
        # the numbers at a few neighbouring places. In a photograph it may not matter
        # where the cat sits. In a game it matters where the ball is.
        channels, *sides = (shape[2], *shape[:2]) if channels_last else shape
        convolutions = [
            FirstConvolution(channels, 32, kernel_size=8, stride=SIDE),
            nn.Conv2d(32, 64, kernel_size=4, stride=2),
            nn.Conv2d(64, 64, kernel_size=3, stride=1),
        ]

        self.blocks = shape_in_blocks(self.shape, channels_last=channels_last)

        # A window begins at every fourth pixel, say, as long as it fits: on 84 pixels,
        # one of 8 fits $(84 - 8) / 4 + 1 = 20$ times. No window sees what is left over
        # on the right and at the bottom. With 84 pixels, nothing is.
        layers: list[nn.Module] = []
        for layer in convolutions:
            kernel, stride = layer.kernel_size[0], layer.stride[0]
            sides = [(side - kernel) // stride + 1 for side in sides]
            layers += [layer, nn.ReLU()]
        if min(sides) < 1:
            others = shape[1:] if channels_last else shape[:2]
            way = (
                "Gymnasium's ResizeObservation makes it larger. What is no picture, "
                "such as a board, its FlattenObservation makes a vector of"
            )
            if min(others) >= 36:
                way = f"With channels_last={not channels_last} it is large enough"
            raise ValueError(
                f"{self.shape} is too small a picture: this network needs 36 pixels "
                f"each way. {way}"
            )

        # After the last convolution there are 7 × 7 places, with 64 numbers each that
        # say what is there. The last layer puts all of them together. Of the 1,684,128
        # weights of the body, it has 1,606,144.
        height, width = sides
        self.layers = nn.Sequential(
            *layers,
            nn.Flatten(),
            nn.Linear(64 * height * width, self.features),
            nn.ReLU(),
        )

    def forward(self, observations: Tensor) -> Tensor:
        """
        ### Bytes in

        The pictures come in as the bytes they are stored as, at a quarter of the size
        that floats would have.

        !!! warning "Divided twice"
            Some pipelines have a wrapper that divides by 255, such as Baselines'
            `ScaledFloatFrame`. If the network divides too, the brightest pixel is
            0.004. Everything is nearly black, nothing fails, and the agent learns
            badly. So floats are refused here.

        Args:
            observations: $o$, uint8, shape `(N, C, H, W)`; or `(N, H, W, C)` with
                `channels_last`; or either [in blocks][as_blocks].

        Returns:
            The features, shape `(N, F)`. There are 512 of them, unless the last layer
            has been replaced, as in [the dueling network](dqn/dueling.py).

        Raises:
            ValueError: if an observation has another shape.
            TypeError: if they are not bytes, or not in a tensor.
        """
        check_tensor(observations)
        if observations.dtype != torch.uint8:
            raise TypeError(
                f"observations must be uint8, not {observations.dtype}: the network "
                "takes bytes from 0 to 255, and divides by 255 itself"
            )
        in_blocks = observations.shape[1:] == self.blocks
        if not in_blocks and observations.shape[1:] != self.shape:
            raise ValueError(
                f"observations must have shape (N, {', '.join(map(str, self.shape))}), "
                f"not {tuple(observations.shape)}"
            )
        if in_blocks or self.channels_last:
            observations = observations.permute(0, 3, 1, 2)  # (N, C, H, W)
        return self.layers(observations)  # (N, F)

    def prepared(self, observations: Tensor) -> Tensor:
        """
        ### The order that it likes best

        The layer below is faster if the pixels of an observation are in a different
        order in memory. They are sorted [once][labml_rl.speed.preparer], here.

        Args:
            observations: as above, shape `(N, …)`.

        Returns:
            The same bytes, [in blocks][as_blocks] if the pictures can be cut.
        """
        if not self.blocks:
            return observations
        if self.channels_last:
            observations = observations.permute(0, 3, 1, 2)
        return as_blocks(observations)


class FirstConvolution(nn.Conv2d):
    r"""
    ## The layer that takes bytes

    This layer computes nothing new. It only takes less time. If you came for what
    networks do, go on to [the body for a few numbers][VectorBody].

    ### Dividing by 255

    The network should see numbers from 0 to 1, so the bytes have to be divided.
    Dividing all pixels takes longer than anything else here: a batch of 256
    observations has seven million of them. But a product is the same whichever factor
    is divided,

    $$w \cdot \frac{x}{255} = \frac{w}{255} \cdot x$$

    and there are only 8,192 weights, so these are divided instead. That is also more
    exact with 16-bit numbers, which hold each byte as it is, but a 255th of it only
    roughly.

    The layer has the options of `nn.Conv2d`, but pads with zeros only, and takes only
    batches. [Blocks][as_blocks] are for a stride of 4 without padding.
    """

    def forward(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: bytes, shape `(N, C, H, W)`. If there are more channels than
                the layer has, they are those of [blocks][as_blocks].

        Returns:
            What it sees, shape `(N, 32, …)`.
        """
        # Autocast changes the type of floats, and would leave bytes as they are.
        dtype, device = self.weight.dtype, observations.device.type
        if torch.is_autocast_enabled(device):
            dtype = torch.get_autocast_dtype(device)
        weight, stride = self.weight / 255, self.stride
        if observations.shape[1] != self.in_channels:
            weight = as_blocks(weight).permute(0, 3, 1, 2)
            stride = (1, 1)
        pictures = observations.to(dtype)
        how: Any = stride, self.padding, self.dilation, self.groups
        return conv2d(pictures, weight.to(dtype), self.bias, *how)


def as_blocks(pictures: Tensor) -> Tensor:
    """
    ### In blocks

    A layer with 4 channels and windows of 8 × 8 is an awkward job for a processor that
    multiplies in blocks of 16 or 32 numbers. But the window moves by 4, and 4 divides 8
    and 84. So cut the pictures into squares of 4 × 4, and call the 64 pixels of each
    square its channels. Now the same sums are those of a layer with 64 channels, whose
    windows of 2 × 2 move by 1:

    ```text
               as they are     in blocks
    pictures   (N, 4, 84, 84)  (N, 21, 21, 64)
    weights    (32, 4, 8, 8)   (32, 2, 2, 64)
    ```

    Nothing is computed here, only sorted. How much that is worth [has been
    measured](../benchmarks/policies.md).

    Args:
        pictures: or weights; shape `(N, C, H, W)`, with sides that can be cut.

    Returns:
        The same in blocks, shape `(N, H / 4, W / 4, 16 · C)`. The channels come last,
        so those of a block are neighbours in memory. PyTorch's layers expect the
        channels in second place, and are fastest when they [are laid out in memory like
        this](https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html).
    """
    n, channels, height, width = pictures.shape
    across, down = width // SIDE, height // SIDE

    # The four bytes of a row of a block stay neighbours. Moving them as one 32-bit
    # number takes a fifth of the time. (First all rows are put below one another:
    # PyTorch turns four bytes into one number only if 4 divides each stride.)
    if pictures.dtype == torch.uint8:
        words = pictures.contiguous().view(-1, width).view(torch.int32)
        cut = words.view(n, channels, down, SIDE, across)
        moved = cut.permute(0, 2, 4, 1, 3)  # (N, H', W', C, 4)
        moved = moved.clone(memory_format=torch.contiguous_format)
        blocks = moved.view(torch.uint8)  # (N, H', W', C, 16)
    else:
        cut = pictures.reshape(n, channels, down, SIDE, across, SIDE)
        blocks = cut.permute(0, 2, 4, 1, 3, 5)  # (N, H', W', C, 4, 4)
    return blocks.flatten(3)  # (N, H', W', C')


def shape_in_blocks(
    shape: tuple[int, ...], *, channels_last: bool = False
) -> tuple[int, ...]:
    """
    ### Not every picture

    Sides that 4 does not divide can't be cut. And nine channels of 36 × 144 pixels have
    the same shape in blocks as they have without: the two could not be told apart, so
    they are not cut either.

    Args:
        shape: of a picture, `(C, H, W)`.
        channels_last: it is `(H, W, C)`.

    Returns:
        Its shape [in blocks][as_blocks], or nothing, `()`, if it is not cut.
    """
    channels, *sides = (shape[2], *shape[:2]) if channels_last else shape
    blocks = (sides[0] // SIDE, sides[1] // SIDE, channels * SIDE**2)
    can_be_cut = not any(side % SIDE for side in sides) and blocks != shape
    return blocks if can_be_cut else ()


class VectorBody(nn.Module):
    """
    ## The body for a few numbers

    Some environments show not a picture but a list of numbers. [CartPole](small.py)
    shows four: where the cart and the pole are, and how fast they move. Two small
    layers will do for that, each with 64 outputs and a ReLU after it: a *multilayer
    perceptron* (MLP).

    Args:
        shape: of one observation: how many numbers it has.
    """

    features = 64

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape = tuple(shape)
        (count,) = shape
        self.layers = nn.Sequential(
            nn.Linear(count, self.features),
            nn.ReLU(),
            nn.Linear(self.features, self.features),
            nn.ReLU(),
        )

    def forward(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, D)`, or with more axes in front. Bytes, such
                as the console's memory, are divided by 255, and anything else is taken
                as it is.

        Returns:
            The features, shape `(N, 64)`, or with as many axes in front.

        Raises:
            ValueError: if an observation has another shape, or comes without a batch.
            TypeError: if they are not in a tensor.
        """
        check_tensor(observations)
        if observations.ndim < 2 or observations.shape[-1:] != self.shape:
            raise ValueError(
                f"observations must have shape (N, {self.shape[0]}), not "
                f"{tuple(observations.shape)}"
            )
        numbers = observations.to(next(self.parameters()).dtype)
        if observations.dtype == torch.uint8:
            numbers = numbers / 255
        return self.layers(numbers)  # (N, 64)


def check_tensor(observations: Any) -> None:
    """
    Raises:
        TypeError: if they are anything else, such as a NumPy array.
    """
    if not isinstance(observations, Tensor):
        raise TypeError(
            f"observations must be a tensor, not {type(observations).__name__}: "
            "torch.from_numpy() makes one of an array"
        )


def make_body(
    shape: tuple[int, ...], *, channels_last: bool = False
) -> NatureBody | VectorBody:
    """
    ### The body that fits

    Args:
        shape: of one observation. With three numbers it is a picture, with one a
            vector.
        channels_last: see [NatureBody][].

    Raises:
        ValueError: if it is neither, or too small a picture.
    """
    if len(shape) == 1:
        return VectorBody(shape)
    return NatureBody(shape, channels_last=channels_last)


# ## Questions
#
# 1. A game has pictures of 64 × 64 pixels. How large are they after each of the three
#    convolutions? How many inputs does the last layer have?
# 2. How much of the picture can one place of the last box see?
#
# ??? tip "Answers"
#     1. 15, 6 and 4 a side. So there are $64 \cdot 4 \cdot 4 = 1024$ inputs.
#     2. 36 × 36 pixels. The first window is 8 pixels wide. The second adds three more
#        of these, each 4 pixels further, and the third adds two more of those, each 8
#        pixels further: $8 + 3 \cdot 4 + 2 \cdot 8 = 36$.
