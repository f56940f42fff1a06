r"""
---
title: The dueling network
summary: >-
  Value and advantage in two streams, and why one of them must have a mean of zero.
symbols:
  values: 'V(o)'
  advantages: 'A(o, a)'
---

# The dueling network

Most of the time it hardly matters what the agent does: while the ball of Breakout is at
the top, any action is as good as the others. Still [their values](__init__.py) must all
be learned, each from the steps in which just that action was taken, and what they have
in common is learned over and over again.

[Wang et al. (2016)](https://arxiv.org/abs/1511.06581) give the network two streams. One
says how good the position is, the other how much better or worse each action is than
the average. Their sum is the action value, and nothing else changes.

![After the convolutions the network parts. One stream ends in one number, the value;
the other in one for each action, from which their mean is taken. Their sums are the
action values](../../assets/figures/dueling-streams.svg)

## Two streams

$$Q(o, a) = V(o) + A(o, a)
- \tfrac{1}{|\mathcal{A}|} \sum_{b \in \mathcal{A}} A(o, b)$$

where $\mathcal{A}$ is the set of actions.

### Why the mean goes

Without the last term, you could add 10 to $V$ and subtract 10 from each $A$, and the
sum would be the same. So the loss would not say what is value and what is advantage,
and the streams could drift anywhere (a lack of *identifiability*). With it, whatever
all advantages have in common cancels, and $V$ has to be the mean of the action values:

| the streams say | with the mean gone | action values |
|---|---|---|
| $V = 5$, $A = (3, 1)$ | $V = 5$, $A = (1, -1)$ | $(6, 4)$ |
| $V = 5$, $A = (13, 11)$ | $V = 5$, $A = (1, -1)$ | $(6, 4)$ |

If $V$ is to be the value of the best play, the *largest* advantage should be 0, and not
the mean. The paper has a formula for that as well. But which advantage is the largest
changes from one moment to the next. The authors found the mean steadier.

### Where the streams part

They part after the convolutions: each stream has its own hidden layer of 512 units. So
this network has about twice as many weights as [that of
Nature][labml_rl.networks.QNetwork]. The body gets the sum of the gradients of both
streams. Two gradients of the same length, in directions that have nothing to do with
each other, add up to one that is $\sqrt{2}$ times as long. So Wang et al. scale the sum
by $1 / \sqrt{2}$, and its length stays about what it was with one stream.

!!! warning "Units that die"
    Here all advantages begin at 0, and no action is better than another. If they were
    drawn at random, as is usual, the network would claim what it doesn't know, and
    would first have to take that back. The shortest way to do so is to switch off units
    of the advantages' hidden layer. In Pong nearly all of the picture stays the same.
    So a unit that is off for one screen is off for nearly all. It has no gradient then,
    and hardly ever comes back. In a run of [Rainbow](rainbow.py) in Pong, of which no
    record was kept, none of these 512 units was left after more than a million frames,
    and the actions could not depend on the screen. Units that fall silent (*dormant
    neurons*) are common in this field: [Sokar et al.
    (2023)](https://arxiv.org/abs/2302.12902) saw agents get better when such units were
    reset now and then.

### What it is worth

Over 57 games Wang et al. report a [human-normalised](../watch/many.py#one-scale) median
of 152%, and 133% with one stream of as many weights. Both had double Q-learning, and
gradients cut to a length of 10, so give `--double --max-gradient-norm 10` with
`--dueling`. Their learning rate was slightly lower than that of double DQN; they do not
say how much.
"""

from typing import SupportsInt

from torch import Tensor, nn

from labml_rl.bodies import NatureBody, make_body
from labml_rl.networks import in_full


class DuelingNetwork(nn.Module):
    """
    ## The network

    Both streams, after one [body][labml_rl.bodies.make_body].

    Args:
        shape: of one observation.
        num_actions: how many actions there are.
        channels_last: see [NatureBody][labml_rl.bodies.NatureBody].
        atoms: how many numbers there are for each action, if it is [a
            distribution](distribution.py); None is for an action value.

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
        hidden = features = self.body.features
        if isinstance(self.body, NatureBody):
            # The last layer of the body makes 512 features of what all places see. Here
            # each stream has such a layer.
            linear = self.body.layers[-2]
            assert isinstance(linear, nn.Linear)
            features = linear.in_features
            self.body.layers = nn.Sequential(*list(self.body.layers)[:-2])

        # Both hidden layers see the same input, so they are one layer of twice the
        # size.
        self.hidden = nn.Sequential(nn.Linear(features, 2 * hidden), nn.ReLU())
        each = atoms or 1
        self.atoms = atoms
        self.value = nn.Linear(hidden, each)
        self.advantage = nn.Linear(hidden, int(num_actions) * each)
        nn.init.zeros_(self.advantage.weight)
        nn.init.zeros_(self.advantage.bias)

    def forward(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $Q(o, a)$ for each action, shape `(N, A)`; or `(N, A, K)` with `K` atoms.
        """
        seen = self.body(observations)  # (N, F)

        # When the gradient of both streams comes back here, on its way into the body,
        # PyTorch calls this function with it, and goes on with what it returns. In the
        # target network there is no gradient.
        if seen.requires_grad:
            seen.register_hook(lambda gradient: gradient * 0.5**0.5)
        for_value, for_advantage = self.hidden(seen).chunk(2, dim=-1)
        values = in_full(self.value, for_value)  # (N, 1) or (N, K)
        advantages = in_full(self.advantage, for_advantage)  # (N, A) or (N, A · K)

        # With atoms, each has its own value and advantages, and the mean is still over
        # the actions.
        actions = -1
        if self.atoms:
            actions = -2
            values = values.unsqueeze(actions)  # (N, 1, K)
            advantages = advantages.unflatten(-1, (-1, self.atoms))  # (N, A, K)
        return values + advantages - advantages.mean(actions, keepdim=True)


# ## Questions
#
# 1. The streams say $V = 2$ and $A = (1, 2, 6)$. What are the action values?
# 2. Now the second stream says $A = (5, 6, 10)$. What are they?
# 3. What is the sum of the three advantages, once their mean is gone?
#
# ??? tip "Answers"
#     1. The mean of $A$ is 3, so they are $(0, 1, 5)$.
#     2. The same: what all advantages have in common does not count.
#     3. 0, always. So the mean of the action values is $V$.
