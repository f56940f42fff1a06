r"""
---
title: Remembering (LSTM)
summary: >-
  A network with a memory: what an LSTM keeps from step to step, what happens to it when
  an episode ends, and how it learns from whole rows of steps.
symbols:
  observations: 'o_t'
  memories: 'm_t'
  features: 'x_t'
---

# Remembering (LSTM)

Look at one picture of Pong. Where is the ball going? Nobody can tell, and so an agent
that sees one picture can't tell either. The usual remedy is to show it [the latest
four](../game.py). But what was seen five steps ago is lost all the same: which of two
keys was taken, or what is behind the door.

So let the agent take notes. The network gets two things in each step: what there is to
see, $o_t$, and what it noted itself in the step before, $m_t$. And it gives two: its
answer, and the notes for the next step.

```text
      o0              o1              o2
      ↓               ↓               ↓
m0 → network → m1 → network → m2 → network → m3 → …
      ↓               ↓               ↓
     answer          answer          answer
```

Such a network is called **recurrent**, and its notes are its **hidden state**. Here
they are $M$ numbers for each game, and all zeros when an episode begins.

Nobody tells the network what to note. The answer in step 9 depends on $m_9$, and $m_9$
on what the network did in step 8, and so on. So the gradient of a loss in step 9 runs
back through all steps before it, and says what would have been worth noting there.

[Hausknecht and Stone (2015)](https://arxiv.org/abs/1507.06527) gave DQN such a memory
(**DRQN**), and one picture at a time. All in all it played about as well as with a
stack of pictures. But when the screen went black now and then after training, it lost
less of its score than with a stack.

## To write without erasing

The plainest recurrent network computes all its notes anew in each step. Anything that
is to be kept for a hundred steps is then rewritten a hundred times, and little of it is
left in the end: if each step keeps nine tenths, $0.9^{100} = 0.00003$ of it. The
gradient that runs back fades just as much (the *vanishing gradient*).

A **long short-term memory** (LSTM, [Hochreiter and Schmidhuber,
1997](https://doi.org/10.1162/neco.1997.9.8.1735); its gate $f_t$ is from [Gers et al.,
2000](https://doi.org/10.1162/089976600300015015)) keeps numbers $c_t$ that stay as they
are unless something is done to them. It answers with a second list of numbers, and
$h_t$ is its answer in the step before. From that, and from the features $x_t$ of what
is seen, it computes

$$\begin{aligned}
i_t &= \sigma(W_i x_t + U_i h_t) && \text{write?} \\
f_t &= \sigma(W_f x_t + U_f h_t) && \text{keep?} \\
g_t &= \tanh(W_g x_t + U_g h_t) && \text{what to write} \\
o'_t &= \sigma(W_o x_t + U_o h_t) && \text{say it?}
\end{aligned}$$

where $W$ and $U$ are matrices of weights, and $\sigma(z) = 1 / (1 + e^{-z})$. (It is
$o'$ since $o$ is what is seen.) There is a bias in each of these sums, too. The three
with a $\sigma$ are **gates**: their numbers lie between 0, which is closed, and 1,
which is open. Then

$$\begin{aligned}
c_{t+1} &= f_t \odot c_t + i_t \odot g_t \\
h_{t+1} &= o'_t \odot \tanh(c_{t+1})
\end{aligned}$$

where $\odot$ multiplies number by number. With $f_t$ open and $i_t$ closed, a number in
$c$ is the same after the step as before, and the gradient passes through it unchanged.
The network works with $h$, and carries both along: $m_t = (h_t, c_t)$.

## What goes wrong

!!! warning "Notes of another episode"
    When an episode ends, the next one begins in the same place in the batch, and finds
    the notes of the finished one there. They have to be wiped out both [in
    playing][labml_rl.sampling.Player.moves] and [in learning][RememberingBody.rows], at
    the same step. If that is done in only one of them, no ratio in PPO means what it
    says, and nothing fails. But before the first step of the optimiser, all ratios must
    be 1, and that can be tested.

!!! warning "Shuffled steps"
    With a memory, a step makes no sense without those before it. So a minibatch takes
    all steps of some of the games, in order, and not [any
    steps][labml_rl.ppo.experiment.Experiment] of a rollout.

!!! warning "Watched without it"
    A program that [watches](../watch/agent.py) the agent later has to carry its notes
    from step to step, too, and to wipe them out where that was done in training.

## Where the gradient ends

A rollout is 128 steps, and a game goes on in the next. The notes go on, too, but as
mere numbers: no gradient runs back from one rollout into the one before it. This is
called **truncated backpropagation through time**. An agent can still remember for
longer than 128 steps. But it only learns to note what pays within them, be it in points
or in what the critic expects at their end.
"""

from typing import SupportsInt

import torch
from torch import Tensor, nn

from labml_rl.bodies import NatureBody, VectorBody, make_body
from labml_rl.networks import in_full, orthogonal_


class RememberingBody(nn.Module):
    r"""
    ## A body with a memory

    [The body](../bodies.py) says what there is to see, and the LSTM after it makes
    something of that, and of all that was seen before.

    Args:
        shape: of one observation.
        units: how many numbers $h_t$ has; $c_t$ has as many.
        channels_last: see [NatureBody][labml_rl.bodies.NatureBody].

    Raises:
        ValueError: if no body fits the observations.
    """

    def __init__(
        self, shape: tuple[int, ...], units: int, *, channels_last: bool = False
    ) -> None:
        super().__init__()
        self.body = make_body(shape, channels_last=channels_last)
        self.lstm = nn.LSTM(self.body.features, units, batch_first=True)
        self.memory = 2 * units  # M
        orthogonal_(self.body, gain=2**0.5)

        # $W_i$, $W_f$, $W_g$ and $W_o$ are stacked in one matrix, and the four $U$ in
        # another. Each of them [begins orthogonal][labml_rl.networks.orthogonal_] by
        # itself.
        for name, each in self.lstm.named_parameters():
            if name.startswith("weight"):
                for matrix in each.chunk(4):
                    nn.init.orthogonal_(matrix)
            else:
                nn.init.zeros_(each)

        # With biases of 0 all gates would begin half open, and half of what is noted
        # would be gone after each step. A bias of 1 [keeps
        # three-quarters](https://proceedings.mlr.press/v37/jozefowicz15.html).
        nn.init.ones_(self.lstm.get_parameter("bias_ih_l0").chunk(4)[1])

    def step(self, observations: Tensor, memories: Tensor) -> tuple[Tensor, Tensor]:
        """
        ### One step

        Args:
            observations: $o_t$, shape `(N, …)`.
            memories: $m_t$, shape `(N, M)`.

        Returns:
            $h_{t+1}$, shape `(N, units)`, and $m_{t+1}$, shape `(N, M)`.
        """
        features = self.body(observations)[:, None]  # (N, 1, F)
        _, (said, kept) = self.remember(features, memories)
        return said[0], torch.cat([said[0], kept[0]], -1)

    def rows(self, observations: Tensor, memories: Tensor, begins: Tensor) -> Tensor:
        r"""
        ### Rows of steps

        PyTorch's LSTM goes through many rows at once, but knows of no episodes. So each
        episode gets its own row. The shorter ones are padded to the length of the
        longest, and what comes out of the padding is left out again:

        ```text
        a a a a a b b b b b       a a a a a · · ·
        c c d d d d d d d d   →   b b b b b · · ·
                                  c c · · · · · ·
                                  d d d d d d d d
        ```

        Here *b* and *d* begin within the rollout, with empty notes. The notes with
        which *a* and *c* begin are given.

        Args:
            observations: $o_t$, shape `(B, T, …)`.
            memories: $m_t$ for the first of these steps, shape `(B, M)`.
            begins: whether an episode begins with a step, shape `(B, T)`, bool.

        Returns:
            $h_{t+1}$ of each step, shape `(B, T, units)`.
        """
        features = self.body(observations.flatten(0, 1))  # (B · T, F)

        # With all rows put end to end: where does each episode begin, and how many
        # steps does it have?
        firsts = begins.clone()
        firsts[:, 0] = True
        starts = firsts.flatten().nonzero().squeeze(1)  # (E,)
        edges = torch.cat([starts, starts.new_tensor([len(features)])])
        lengths = edges.diff()  # (E,)

        # Which step goes where? In the padding, the product makes the place 0. The very
        # first step is a filler there, and is left out below.
        numbers = torch.arange(int(lengths.max()), device=starts.device)  # (L,)
        is_step = numbers < lengths[:, None]  # (E, L)
        places = (starts[:, None] + numbers) * is_step  # (E, L)

        # An episode whose start is a multiple of $T$ comes first in the row of its
        # game. It has the notes that were given, unless it begins just there.
        notes = memories.new_zeros(len(starts), self.memory)  # (E, M)
        notes[starts % begins.shape[1] == 0] = memories.masked_fill(begins[:, :1], 0.0)
        said = self.remember(features[places], notes)[0]  # (E, L, units)
        return said[is_step].view(*begins.shape, -1)  # (B, T, units)

    def remember(
        self, features: Tensor, memories: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """
        Notes are sums over many steps. They are kept in the precision of the weights,
        even where the body computes with 16 bits.

        Args:
            features: $x_t$ of some steps, shape `(B, L, F)`.
            memories: $m_t$ for the first of them, shape `(B, M)`.

        Returns:
            $h_{t+1}$ of each, and $h$ and $c$ after the last.
        """
        said, kept = (each.contiguous()[None] for each in memories.chunk(2, -1))
        with torch.autocast(features.device.type, enabled=False):
            return self.lstm(features.to(memories.dtype), (said, kept))


class RecurrentActorCritic(nn.Module):
    r"""
    ## Policy and value, with a memory

    [As without one][labml_rl.networks.ActorCritic], there is a head for the policy and
    one for the value. For pictures they share a body, and with it the memory. For
    vectors each has its own, and $m_t$ is both memories, side by side.

    Args:
        shape: of one observation.
        num_actions: how many actions there are.
        units: how many numbers $h_t$ has.
        channels_last: see [NatureBody][labml_rl.bodies.NatureBody].

    Raises:
        ValueError: if no body fits the observations.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        num_actions: SupportsInt,
        *,
        units: int = 128,
        channels_last: bool = False,
    ) -> None:
        super().__init__()
        self.actor = RememberingBody(shape, units, channels_last=channels_last)
        self.critic = RememberingBody(shape, units) if len(shape) == 1 else None
        self.policy = nn.Linear(units, int(num_actions))
        self.value = nn.Linear(units, 1)
        orthogonal_(self.policy, gain=0.01)
        orthogonal_(self.value, gain=1.0)

        # Whoever plays with this network carries that many numbers along.
        self.memory = self.actor.memory * (1 if self.critic is None else 2)

    @property
    def body(self) -> NatureBody | VectorBody:
        """The part that sees. Observations are stored [in the order that it
        likes][labml_rl.speed.preparer]."""
        return self.actor.body

    def forward(
        self, observations: Tensor, memories: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """
        ### One step

        This is how it is [asked while it plays][labml_rl.sampling.Player.ask].

        Args:
            observations: $o_t$, shape `(N, …)`.
            memories: $m_t$, shape `(N, M)`.

        Returns:
            Logits, shape `(N, A)`, values, shape `(N,)`, and $m_{t+1}$, shape `(N, M)`.
        """
        if self.critic is None:
            said, memories = self.actor.step(observations, memories)
            return *self.answer(said, said), memories
        of_actor, of_critic = memories.chunk(2, -1)
        said, of_actor = self.actor.step(observations, of_actor)
        expected, of_critic = self.critic.step(observations, of_critic)
        memories = torch.cat([of_actor, of_critic], -1)  # (N, M)
        return *self.answer(said, expected), memories

    def rows(
        self, observations: Tensor, memories: Tensor, begins: Tensor
    ) -> tuple[Tensor, Tensor]:
        """
        ### Rows of steps

        And this is how it is asked when it learns.

        Args:
            observations: $o_t$, shape `(B, T, …)`.
            memories: $m_t$ for the first of these steps, shape `(B, M)`.
            begins: whether an episode begins with a step, shape `(B, T)`, bool.

        Returns:
            Logits, shape `(B, T, A)`, and values, shape `(B, T)`.
        """
        if self.critic is None:
            said = self.actor.rows(observations, memories, begins)
            return self.answer(said, said)
        of_actor, of_critic = memories.chunk(2, -1)
        said = self.actor.rows(observations, of_actor, begins)
        expected = self.critic.rows(observations, of_critic, begins)
        return self.answer(said, expected)

    def answer(self, said: Tensor, expected: Tensor) -> tuple[Tensor, Tensor]:
        """
        Args:
            said: what the policy is made of, shape `(…, units)`.
            expected: what the value is made of, the same.

        Returns:
            Logits, shape `(…, A)`, and values, shape `(…)`.
        """
        return in_full(self.policy, said), in_full(self.value, expected).squeeze(-1)


# ## Questions
#
# 1. Nothing is written, and the gate that keeps is 0.9 open in each step. How much of a
#    number is left after ten steps? And if it is 0.99 open?
# 2. An LSTM of 512 units plays 8 games. How many numbers does it carry from step to
#    step?
# 3. A key is seen in step 10, and the door in step 200 of an episode. Rollouts have 128
#    steps. Can the agent learn to note the key?
#
# ??? tip "Answers"
#     1. $0.9^{10} = 0.35$, and $0.99^{10} = 0.90$.
#     2. $c$ and $h$ for each game: $8 \cdot 2 \cdot 512 = 8192$.
#     3. Not at once: between the two there is the edge of a rollout, and the gradient
#        ends there. But if the notes happen to tell of the key, the critic can learn to
#        expect more with them. What it expects at the edge is then a reason to take
#        better notes.
