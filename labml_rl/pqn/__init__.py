r"""
---
title: PQN
summary: >-
  Q-learning without a replay memory and without a target network: many games at once,
  layer normalisation, and lambda-returns.
symbols:
  action_values: 'Q(o, a)'
  epsilon: '\varepsilon'
  returns: 'G_t'
  td_lambda: '\lambda'
  discount: '\gamma'
---

# Q-learning without a memory (PQN)

[DQN](../dqn/__init__.py) learns action values with two helpers: a memory of a million
steps, and a second network that makes the targets. [Gallici et al.
(2025)](https://arxiv.org/abs/2407.04811) leave out both. They call what is left the
*parallelised Q-network*, **PQN**. It plays many games at once, learns from what they
have just shown, and throws that away, as [PPO](../ppo/__init__.py) does:

```text
DQN     games ---> memory ---> batch ---> network
                                 ^
                           target network

PQN     games ---> rollout ----> batch ---> network
```

By the end of this page you will have a network that stays calm without a target
network, and the targets that it learns. [The experiment](experiment.py) shows what it
has learned. From DQN you need to know how [the value of an action is tied to the values
one step later](../dqn/__init__.py#the-bellman-equation), and what
[ε-greedy](../dqn/exploring.py) is.

## What the memory was for

It served two purposes.

**Mixing.** Steps that follow each other look alike. If the network learns from them in
order, they pull it to one corner of the game, and then to the next. The memory mixes
hours of play. But 128 games, each of them somewhere else, are a mixture as well, and
one that is always up to date.

**Using a step more than once.** DQN draws 32 old steps after every four new ones, so it
learns from each about eight times. PQN goes through each rollout twice. Learning from
the same step again and again is worth most where steps are dear, for a robot, say. A
game on a computer gives as many as you like.

## What the target network was for

A network that learns from its own answers can end up chasing them. Here is a very small
case ([Sutton and Barto, 2018](http://incompleteideas.net/book/the-book-2nd.html),
section 11.2). The network has a single weight $w$. It sees one number $x$ of each
screen, a *feature*, and says that the screen is worth $w x$. There are two screens,
with $x = 1$ and with $x = 2$. The first leads to the second, and nothing is ever paid,
so $w$ should be 0. Let it be 1, and $\gamma = 0.99$. Look at a step from the first
screen to the second. What the second promises is taken as a fact, so only the value of
the first, $1 \cdot w$, is moved. Its derivative is 1, and $\eta$ is the learning rate:

$$\begin{aligned}
\delta &= 0 + \gamma \cdot 2 w - w = 0.98 \, w \\
w &\leftarrow w + \eta \, \delta
\end{aligned}$$

The second screen promises nearly 2, and the first says only 1. So $w$ grows. But that
makes the promise grow, too, and twice as fast. If the network learns from this one step
again and again, and from nothing else, that never ends. With $\eta = 0.1$:

| steps learned from | 0 | 10 | 20 | 30 |
|---|---|---|---|---|
| $w$, features 1 and 2 | 1 | 2.55 | 6.49 | 16.52 |
| $w$, features 1 and 1 | 1 | 0.99 | 0.98 | 0.97 |

In the second row both features are equally large. What is learned about the first
screen now moves its own value as far as that of the second. The error is
$(\gamma - 1) w$, and $w$ goes down, to where it should be.

(A step that *leaves* the second screen would have told the truth: nothing follows. An
agent that learns from all it does, as often as it does it, gets there in the end. One
that learns [off-policy](../dqn/__init__.py#what-goes-wrong) may not. PQN is off-policy,
too, since its targets are those of the best action, but the less so the less it
explores.)

A target network makes the promise stand still for a while. That slows the growth, and
here it does no more: $w$ grows to 1.98 times what it was, and then the promise is
renewed.

**Layer normalisation** ([Ba et al., 2016](https://arxiv.org/abs/1607.06450)) attacks
the cause, that one screen is *larger* than the other. With many features $x$ instead of
one, a value is $w \cdot x$, and its gradient with respect to $w$ is $x$. A step that
corrects an error $\delta$ moves $w$ by $\eta \delta x$, with the learning rate $\eta$,
and with it the value of any other screen $x'$ by $\eta \delta \, x \cdot x'$. For the
screen itself $x \cdot x$ is the square of the length of its features, and for another
$x \cdot x'$ is no more than the product of both lengths. (In the first row of the
table, these were $1 \cdot 1 = 1$ and $1 \cdot 2 = 2$, so the promise moved twice as far
as the value.) If all lengths are equal, no value moves further than the one that is
learned. And of what the next screen promises, only $\gamma$ times as much goes into the
target. So the target moves less than the value, and the gap between them closes, if the
steps are short.

So there is a norm after each layer of the body, before its ReLU. From each of the
numbers that the layer gives, it subtracts the mean of them all, and divides by their
standard deviation:

$$y_i = g_i \, \frac{x_i - \operatorname{mean}(x)}{\operatorname{std}(x)} + b_i$$

Here $g$ and $b$ are learned, and begin as 1 and 0. With those, (1, 2, 3) becomes
(−1.22, 0, 1.22), and so does (10, 20, 30). The $d$ numbers then have a length of
$\sqrt{d}$, even for a screen that was never seen. The ReLU takes about half of the
squares away, so after it the lengths are only nearly equal.

That is the idea, not a proof. Gallici et al. have one, but for a network whose weights
are also kept small by a penalty, and in their program for Atari they are not. It works
nevertheless: after 400 million frames, they report, the median over 57 games is about
that of [Rainbow](../dqn/rainbow.py), which had half as many.
"""

import torch
from torch import Tensor, nn

from labml_rl.bodies import NatureBody, VectorBody, make_body
from labml_rl.networks import in_full, orthogonal_
from labml_rl.returns import Rollout, check_fraction, gae


@torch.no_grad()
def lambda_returns(rollout: Rollout, *, discount: float, td_lambda: float) -> Tensor:
    r"""
    ## The targets

    Let $F_t$ be what follows step $t$ if play goes on as well as possible, by what the
    network says of the next observation:

    $$F_t = \max_a Q(o_{t+1}, a)$$

    It is 0 if the game ends there. If it is cut off there, $o_{t+1}$ is the final
    observation, and not the first of the next episode. DQN's target is
    $r_t + \gamma F_t$: one reward that was seen, and everything after it is believed.
    But a rollout of 32 steps shows more. The target of the next step, $G_{t+1}$, stands
    for the same as $F_t$, and has one more seen reward in it. So take a share $\lambda$
    of $G_{t+1}$, and $1 - \lambda$ of $F_t$. This is a **λ-return**, or lambda-return:

    $$G_t = r_t + \gamma \big( (1 - \lambda) F_t + \lambda G_{t+1} \big)$$

    Where the episode or the rollout ends with step $t$, there is no $G_{t+1}$, and
    $F_t$ takes its place.

    With $\lambda = 0$ that is DQN's target. With $\lambda = 1$ all rewards of the
    rollout are added up, and the network is believed only at its end. In between, a
    point is felt at once by all the steps that led to it, less so the further away they
    are. Gallici et al. use 0.65 for Atari.

    Take $V(o_t) = \max_a Q(o_t, a)$ for the value, and this is what
    [GAE][labml_rl.returns.gae] adds up. What is in brackets is
    $F_t + \lambda (G_{t+1} - F_t)$. Subtract $V(o_t)$ on both sides, write
    $\delta_t = r_t + \gamma F_t - V(o_t)$, and within an episode, where $F_t$ is
    $V(o_{t+1})$,

    $$G_t - V(o_t) = \delta_t
    + \gamma \lambda \big( G_{t+1} - V(o_{t+1}) \big)$$

    which is its recursion. So the code is one line, and the ends of episodes are taken
    care of.

    !!! note "Whose actions?"
        In $F_t$ the best action is taken, and in $G_{t+1}$ the one that *was* taken,
        now and then one at random. So with $\lambda > 0$ the network learns what an
        agent gets that does not always do its best. This is the **Q(λ)** of [Peng and
        Williams (1996)](https://doi.org/10.1007/BF00114731). That of Watkins goes back
        to $\lambda = 0$ wherever an action was not the best, and while the agent
        explores much, that is nearly everywhere. Peng's is less wrong the less the
        agent explores.

    Args:
        rollout: what was seen. Its values are the largest action values: those of each
            observation, and those of final observations.
        discount: $\gamma$, from 0 to 1.
        td_lambda: $\lambda$, from 0 to 1.

    Returns:
        $G_t$, shape `(T, N)`.

    Raises:
        ValueError: if a number is out of bounds.
    """
    check_fraction("td_lambda", td_lambda)
    advantages = gae(rollout, discount=discount, gae_lambda=td_lambda)
    return advantages + rollout.values[:-1]


def epsilon_greedy(action_values: Tensor, epsilon: Tensor | float) -> Tensor:
    r"""
    ## The policy

    An [ε-greedy](../dqn/exploring.py) agent has a policy, too. With probability
    $\varepsilon$ it draws one of the $A$ actions, all equally likely, and otherwise it
    takes the best:

    $$\pi(a \mid o) = \frac{\varepsilon}{A} + \begin{cases}
    1 - \varepsilon & \text{if } a \text{ is the best} \\
    0 & \text{otherwise}
    \end{cases}$$

    Written like this, it can be [drawn from][labml_rl.networks.draw] like any policy.

    Args:
        action_values: $Q(o, a)$, shape `(N, A)`.
        epsilon: $\varepsilon$, from 0 to 1.

    Returns:
        Probabilities, shape `(N, A)`.
    """
    count = action_values.shape[-1]
    first = action_values.argmax(-1, keepdim=True)  # (N, 1)
    best = torch.zeros_like(action_values).scatter(-1, first, 1.0)  # (N, A)
    return epsilon / count + (1 - epsilon) * best


class PQNetwork(nn.Module):
    r"""
    ## The network

    It is that [of DQN][labml_rl.networks.QNetwork] with a norm after each layer of the
    body. Its weights begin [orthogonal][labml_rl.networks.orthogonal_]. The norms take
    their size out again. After the last layer there is no norm, since the size of a
    value matters.

    The [sampler](../sampling.py) expects an actor and a critic, and this network poses
    as both. So whatever plays for PPO can play with it. It carries its own
    $\varepsilon$, which reaches [all processes](../players.py) together with the
    weights.

    Args:
        shape: of one observation.
        num_actions: how many actions there are.
        channels_last: see [NatureBody][labml_rl.bodies.NatureBody].

    Raises:
        ValueError: if no body fits the observations.
    """

    epsilon: Tensor

    def __init__(
        self, shape: tuple[int, ...], num_actions: int, *, channels_last: bool = False
    ) -> None:
        super().__init__()
        self.body = make_body(shape, channels_last=channels_last)
        add_norms(self.body)
        self.head = nn.Linear(self.body.features, int(num_actions))
        self.register_buffer("epsilon", torch.ones(()))
        orthogonal_(self.body, gain=2**0.5)
        orthogonal_(self.head, gain=1.0)

    def action_values(self, observations: Tensor) -> Tensor:
        """
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $Q(o, a)$, shape `(N, A)`.
        """
        return in_full(self.head, self.body(observations))

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        r"""
        Args:
            observations: $o$, shape `(N, …)`.

        Returns:
            $\log \pi(a \mid o)$, shape `(N, A)`, and $\max_a Q(o, a)$, shape `(N,)`.
        """
        action_values = self.action_values(observations)  # (N, A)
        policy = epsilon_greedy(action_values, self.epsilon)  # (N, A)
        return policy.log(), action_values.max(-1).values


def add_norms(body: NatureBody | VectorBody) -> None:
    """
    ## Adding norms to a body

    After a fully connected layer, all numbers of one observation together are brought
    to one size. After a convolution it is those of one *place*: the 32 or 64 channels
    that say what can be seen there. So at first a dim ball on black is as loud as a
    bright one. (Gallici et al. do it like this.)

    Args:
        body: is changed.
    """
    layers: list[nn.Module] = []
    for layer in body.layers:
        layers.append(layer)
        if isinstance(layer, nn.Conv2d):
            layers.append(PlaceNorm(layer.out_channels))
        elif isinstance(layer, nn.Linear):
            layers.append(nn.LayerNorm(layer.out_features))
    body.layers = nn.Sequential(*layers)


class PlaceNorm(nn.LayerNorm):
    """
    ### At each place

    PyTorch's norm wants what it adds up in the last dimension, and its convolutions
    have the channels in the second. Where observations come [in
    blocks][labml_rl.bodies.as_blocks], channels are side by side in memory, and nothing
    has to be moved for this.
    """

    def forward(self, pictures: Tensor) -> Tensor:
        """
        Args:
            pictures: what a convolution sees, shape `(N, C, H, W)`.

        Returns:
            The same with a mean of 0 and a variance of 1 over the channels, times $g$
            and plus $b$, shape `(N, C, H, W)`.
        """
        # With 16 bits, a GPU computes norms in full, and answers in full.
        normed = super().forward(pictures.permute(0, 2, 3, 1)).to(pictures.dtype)
        return normed.permute(0, 3, 1, 2)


# ## Questions
#
# 1. Three steps pay 0, 0 and 1, and the third ends the game. What follows them is worth
#    0.6, 0.8 and 0. What are the targets with $\gamma = 0.9$ and $\lambda = 0.5$?
# 2. And with $\lambda = 0$?
# 3. With $\varepsilon = 0.1$ and four actions, what are the probabilities of the
#    policy?
#
# ??? tip "Answers"
#     1. Go backwards: 1, then $0.9 \cdot (0.4 + 0.5) = 0.81$, then
#        $0.9 \cdot (0.3 + 0.405) = 0.6345$. These are the values and advantages of [the
#        example of GAE][labml_rl.returns.gae], added up.
#     2. 0.54, 0.72 and 1: only the last step hears of the point.
#     3. 0.925 for the best action, and 0.025 for each of the others.
