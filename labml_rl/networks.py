r"""
---
title: Networks
summary: >-
  Networks for policies, values and action values in PyTorch, how actions are drawn from
  them, and how their weights begin.
symbols:
  observations: 'o'
  policy: '\pi'
  logits: '\ell_a'
  log_probs: '\log \pi(a \mid o)'
  values: 'V(o)'
  gain: 'g'
---

# Networks

[The body](bodies.py) has turned what the agent sees into 512 numbers. This page adds
**heads**, which turn these into an answer, and puts the two together into whole
networks. There are heads for three questions:

| question | answer | asked by |
|---|---|---|
| What should I do? | the policy $\pi(a \mid o)$ | A2C, PPO, IMPALA |
| How well will it go? | the value $V(o)$ | A2C, PPO, IMPALA |
| How well, if I do $a$ now? | the action value $Q(o, a)$ | DQN, PQN |

The last two belong together. If the agent goes on by its policy, the value is the mean
of the action values, $V(o) = \sum_a \pi(a \mid o) \, Q(o, a)$: where left brings 5 and
right 8, and each is taken half the time, it is 6.5. It does not work the other way
round. A value does not say which action is the better one, so there has to be a policy
beside it. Action values say it themselves.

Like the body, the heads fit any game:

```python
import torch
from labml_rl.game import make_game
from labml_rl.networks import ActorCritic

game = make_game("Breakout", seed=1)
network = ActorCritic(
    game.observation_space.shape,
    game.action_space.n,
)
obs, info = game.reset()
batch = torch.from_numpy(obs)[None]
batch.shape  # (1, 4, 84, 84)
logits, values = network(batch)  # (1, 4), (1,)
```
"""

from typing import SupportsInt

import torch
from torch import Tensor, nn

from labml_rl.bodies import VectorBody, make_body


class ActorCritic(nn.Module):
    r"""
    ## Policy and value: actor and critic

    The **actor** picks the actions and the **critic** says how well it will go. For
    pictures they share a body, in place of two separate networks. That takes half the
    time, and what one of them learns to see, the other sees too.

    The head of the actor has an output $\ell_a$ for each action, a **logit**. The
    larger it is, the likelier the action:

    $$\pi(a \mid o) = \frac{e^{\ell_a}}{\sum_b e^{\ell_b}}$$

    That is the softmax, and [the actions are drawn][draw] from it. The head of the
    critic has one output, the value.

    Args:
        shape: of one observation.
        num_actions: how many actions there are.
        channels_last: see [NatureBody][labml_rl.bodies.NatureBody].

    Raises:
        ValueError: if no body fits the observations.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        num_actions: SupportsInt,
        *,
        channels_last: bool = False,
    ) -> None:
        super().__init__()
        self.body = make_body(shape, channels_last=channels_last)
        self.policy = nn.Linear(self.body.features, int(num_actions))
        self.value = nn.Linear(self.body.features, 1)

        # With a few numbers a second body costs nothing, and a shared one does harm: it
        # would learn from [the sum of two losses][labml_rl.a2c.total_loss]. The errors
        # of the critic are large, tens of points in [CartPole](small.py), and their
        # gradients would drown those of the actor. With simulated robots, too, two
        # bodies were better in four problems out of five ([Andrychowicz et al.,
        # 2021](https://arxiv.org/abs/2006.05990)).
        self.value_body = VectorBody(shape) if len(shape) == 1 else None

        # The [gain][orthogonal_] is how much larger the numbers are when they leave a
        # layer, before its ReLU, than when they enter it.
        orthogonal_(self, gain=2**0.5)

        # At first no action should be likelier than another. An agent that prefers one
        # by chance sees only what comes of that one. With a gain of a hundredth, all
        # logits are close to 0, and all probabilities are equal, give or take two per
        # cent. In the experiments with robots, few choices mattered as much. After
        # the critic's head there is no ReLU, so a gain of 1 keeps the size.
        orthogonal_(self.policy, gain=0.01)
        orthogonal_(self.value, gain=1.0)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """
        ### Both at once

        The body may compute [with 16 bits][labml_rl.speed.precision_of] instead of 32,
        which leaves not quite three decimal digits. The heads go on in float32: PPO
        compares probabilities that differ by a few per cent, and [returns](returns.py)
        are sums of many numbers.

        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            Logits, shape `(N, num_actions)`, and values, shape `(N,)`.
        """
        features = self.body(observations)  # (N, F)
        logits = in_full(self.policy, features)  # (N, A)
        if self.value_body is not None:
            features = self.value_body(observations)  # (N, F)
        values = in_full(self.value, features)  # (N, 1)

        # !!! warning "(N, 1) is not (N,)"
        #     The difference of values of shape `(N, 1)` and returns of shape `(N,)` has
        #     the shape `(N, N)`: each value with each return. Its mean square is a
        #     number all the same, and the loss goes down. But every value is drawn
        #     towards the average of all returns. Many beginners have lost a day to
        #     this.
        return logits, values.squeeze(-1)  # (N, A), (N,)


def in_full(layer: nn.Linear, features: Tensor) -> Tensor:
    """A layer's answer, in the precision of its weights even under autocast."""
    with torch.autocast(features.device.type, enabled=False):
        return layer(features.to(layer.weight.dtype))


def draw(logits: Tensor, dice: Tensor) -> Tensor:
    r"""
    ## Drawing an action

    The policy is a distribution, and the agent draws from it (*sampling*). It must not
    simply take the likeliest action: an action that is never tried is never learned
    about.

    Side by side, the probabilities fill the line from 0 to 1. Each game throws one dart
    at it, and takes the action that the dart hits.

    Args:
        logits: shape `(…, A)`. If one is NaN, there is no error, and the action is 0.
            An action whose logit is $-\infty$ is never drawn (*action masking*, for
            what is invalid).
        dice: where each dart lands, from 0 to 1, shape `(…)`.

    Returns:
        Actions, shape `(…)`.

    Raises:
        ValueError: if there is not one dart for each game.
    """
    check_one_each(logits, dice=dice)

    edges = in_32_bits(logits).softmax(-1).cumsum(-1)  # (…, A), where each piece ends

    # Rounded, all probabilities together can be a little less than 1. A dart that lands
    # beyond that hits the last action whose probability is not 0.
    edges = edges.masked_fill(edges == edges[..., -1:], torch.inf)

    # A dart has as many edges on its left as there are actions before the one it hits.
    return (edges <= dice[..., None]).sum(-1)


def in_32_bits(logits: Tensor) -> Tensor:
    """
    ### Not in 16 bits

    Some networks answer in 16 bits. Sums of these are too coarse: near 1 there is
    nothing between 0.996 and 1, so an action with a probability of 0.003 might never be
    drawn. And beyond −8 the logarithms of probabilities are a sixteenth apart, so the
    ratio of two probabilities could be wrong by several per cent.

    Returns:
        The same numbers, with 32 bits or more each.
    """
    return logits.float() if logits.itemsize < 4 else logits


def log_probs_of(logits: Tensor, actions: Tensor) -> Tensor:
    r"""
    ## How likely it was

    Computed in one piece, the logarithm of the softmax does not overflow, and no
    probability is rounded to 0.

    $$\log \pi(a \mid o) = \ell_a - \log \sum_b e^{\ell_b}$$

    Args:
        logits: $\ell$, shape `(…, A)`.
        actions: $a$, int64 or int32, shape `(…)`.

    Returns:
        $\log \pi(a \mid o)$, shape `(…)`.

    Raises:
        ValueError: if there is not one action for each row of logits.
    """
    check_one_each(logits, actions=actions)
    each = in_32_bits(logits).log_softmax(-1)  # (…, A)
    return each.gather(-1, actions[..., None]).squeeze(-1)  # (…)


def entropy_of(logits: Tensor) -> Tensor:
    r"""
    ## How undecided it is

    The **entropy** of a policy is largest where all actions are equally likely. With
    $A$ of them it is then $\log A$. It is 0 where one action is certain:

    $$H(\pi) = -\sum_a \pi(a \mid o) \log \pi(a \mid o)$$

    A2C, PPO and IMPALA [pay a little for it][labml_rl.a2c.total_loss].

    Args:
        logits: $\ell$, shape `(…, A)`. An action whose logit is $-\infty$ can't be
            taken, and adds nothing.

    Returns:
        $H$, in nats (the unit of natural logarithms), shape `(…)`.
    """
    log_probs = in_32_bits(logits).log_softmax(-1)  # (…, A)
    # A probability of 0 times its logarithm, which is infinite, would be NaN.
    finite = log_probs.clamp(min=torch.finfo(log_probs.dtype).min)
    return -(log_probs.exp() * finite).sum(-1)


def orthogonal_(module: nn.Module, gain: float) -> None:
    r"""
    ## How the weights begin

    The weights of a layer begin at random. How large they are matters. The numbers that
    come out must not get smaller with each layer until nothing is left, nor may they
    get larger.

    Let $x$ be $n$ numbers, and let the rows of the matrix $W$ have length $g$ and
    random directions. A random direction catches an $n$-th of the squared length of $x$
    on average, and an $n$-th of the sum of squares is the mean square. So the mean
    square of the numbers in $Wx$ is on average $g^2$ times that of those in $x$.

    The ReLU after the layer sets the numbers below zero to zero, and those are half of
    them:

    $$\operatorname{mean}\left( \operatorname{ReLU}(Wx)^2 \right)
    \approx \tfrac{1}{2} g^2 \operatorname{mean}(x^2)$$

    So with $g = \sqrt{2}$ everything keeps its size through any number of layers ([He
    et al., 2015](https://arxiv.org/abs/1502.01852)). In an *orthogonal* matrix the rows
    are also at right angles, so that no two units begin by looking for the same thing
    ([Saxe et al., 2014](https://arxiv.org/abs/1312.6120)). Beginning like this is
    called **orthogonal initialisation**.

    A layer with more outputs than inputs gets orthogonal columns instead.

    Args:
        module: all its layers get such weights, and biases of zero.
        gain: $g$, the length of the rows, or of the columns if there are fewer.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.orthogonal_(layer.weight, gain)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


class QNetwork(nn.Module):
    r"""
    ## Action values

    The action value $Q(o, a)$ is the return to expect after $o$ if the agent does $a$
    now and goes on as well as it can. An agent that knows $Q$ needs no policy: it takes
    the action with the largest value. There is one output for each action, so that one
    pass through the network answers for all.

    These weights begin as PyTorch sets them by default, and as those of DQN's authors
    did: a layer with $n$ inputs draws its weights evenly between $-1 / \sqrt{n}$ and
    $1 / \sqrt{n}$. With such weights, the numbers get smaller from layer to layer of
    the body, down to a twenty-fifth in Breakout. So all answers begin near zero. That
    may help a network that [learns from its own answers](dqn/__init__.py): none is
    large by chance.

    Args:
        shape: of one observation.
        num_actions: how many actions there are.
        channels_last: see [NatureBody][labml_rl.bodies.NatureBody].
        atoms: how many numbers there are for each action, if it is [a
            distribution][labml_rl.dqn.distribution.DistributionNetwork]; None is for an
            action value.

    Raises:
        ValueError: if no body fits the observations.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        num_actions: SupportsInt,
        *,
        channels_last: bool = False,
        atoms: int | None = None,
    ) -> None:
        super().__init__()
        self.body = make_body(shape, channels_last=channels_last)
        self.atoms = atoms
        self.head = nn.Linear(self.body.features, int(num_actions) * (atoms or 1))

    def forward(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $Q(o, a)$ for each action, shape `(N, A)`; or `(N, A, K)` with `K` atoms.
        """
        answer = in_full(self.head, self.body(observations))
        if not self.atoms:
            return answer
        return torch.unflatten(answer, -1, (-1, self.atoms))  # also of none at all


def check_one_each(logits: Tensor, **others: Tensor) -> None:
    """
    ## A check

    With fewer actions than rows of logits, the actions would be broadcast, or the rest
    of the logits ignored, and nobody would know.

    Raises:
        ValueError: if there is not one number for each row of logits.
    """
    for name, each in others.items():
        if each.shape != logits.shape[:-1]:
            raise ValueError(
                f"{name} must have shape {tuple(logits.shape[:-1])}, one for each row "
                f"of logits, not {tuple(each.shape)}"
            )


# ## Questions
#
# 1. The logits of two actions are 0 and $\log 3$. How likely are the two? And if 5 is
#    added to both logits?
# 2. A game's dart lands at 0.3. Which of these two actions does the game take?
# 3. An agent that has learned nothing yet takes all actions equally often. What is its
#    entropy with the 4 actions of Breakout, and with all 18?
#
# ??? tip "Answers"
#     1. ¼ and ¾. The softmax divides 1 and 3 by their sum. With 5 more it is the same:
#        everything above and below the line is multiplied by $e^5$.
#     2. The second. The first has the line from 0 to 0.25.
#     3. $\log 4 = 1.39$ and $\log 18 = 2.89$. That is where the curves of `entropy`
#        begin.
