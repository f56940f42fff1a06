r"""
---
title: Prioritised replay
summary: >-
  Draw surprising steps more often, and weigh them so that the answer stays the same.
symbols:
  errors: '\delta_i'
  exponent: '\alpha'
  importance: '\beta'
  weights: 'w_i'
---

# Prioritised replay

Most of a million steps are dull: the ball flies, nothing comes of it, and the network
has known that for a long time. Then there is one in which a life is lost, which nobody
expected. It should be looked at more often.

[Schaul et al. (2016)](https://arxiv.org/abs/1511.05952), who call this *prioritized
experience replay* (PER), draw each step in proportion to how wrong the network was
about it when it last looked. On top of double Q-learning they report higher scores in
42 of 57 games, and a [human-normalised](../watch/many.py#one-scale) median of 128%
instead of 111%. (Their games begin at points that a human had reached. So don't compare
this with the medians on other pages.)

## What is drawn

The **priority** of step $i$ is the size of its [error][labml_rl.dqn.td_loss], and a
little more, so that none is ever forgotten. (This is the *proportional* variant of the
paper, and not its *rank-based* one.) The exponent $\alpha$ says how much the priority
matters: with 0 all are equal, with 1 a step that is twice as wrong comes up twice as
often.

$$p_i = |\delta_i| + \epsilon, \qquad
P(i) = \frac{p_i^\alpha}{\sum_k p_k^\alpha}$$

![All are drawn equally often](../../assets/figures/priorities-0.svg "α = 0")
![The most wrong, 31%](../../assets/figures/priorities-0.2.svg "α = 0.2")
![The most wrong, 38%](../../assets/figures/priorities-0.4.svg "α = 0.4")
![The most wrong, 44%](../../assets/figures/priorities-0.6.svg "α = 0.6")
![The most wrong, 50%](../../assets/figures/priorities-0.8.svg "α = 0.8")
![The most wrong, 56%](../../assets/figures/priorities-1.svg "α = 1")

*Four steps, and how often each is drawn.*

A new step has no error yet. It gets the largest priority that there has been so far,
and at least 1, so that it is looked at soon.

Why draw, and not always take those with the largest errors? An error is that of the
last time the step was looked at. A step with a small one might never be looked at
again, though the network may have unlearned it. And one with a reward that is a matter
of luck would come up again and again.

The little more is $10^{-6}$ here. Schaul et al. had
[0.01](https://github.com/chainer/chainerrl/pull/301), and cut errors off at 1, which is
not done here.

## How much each counts

A mean over a batch stands for the mean over the memory. If some steps are drawn more
often, it stands for another mean: in a game that pays 1 in one try out of ten, the
tries that pay are a surprise each time. Draw them half the time, and the network learns
that a try is worth a half.

So what is drawn more often must count less. Let there be $M$ steps in the memory, and
let $x_i$ be what each has to say, its gradient for instance. The mean over all of them
is

$$\begin{aligned}
\frac{1}{M} \sum_i x_i &= \sum_i P(i) \, \frac{1}{M \, P(i)} \, x_i \\
&= \operatorname{E}_{i \sim P} \Big[ \frac{1}{M \, P(i)} \, x_i \Big]
\end{aligned}$$

So with $1 / (M P(i))$ as the **importance weight** of step $i$, the mean of a batch is
right on average. This is **importance sampling**, as in [PPO](../ppo/__init__.py).
While the network knows nothing, it does not matter much if the mean is a little off, so
the weights get an exponent $\beta$, which goes in a straight line from 0.4, where the
run begins, to 1, where it ends. And some importance weights are above 1. With these a
batch changes the network too much now and then. So all are divided by the largest in
the batch $B$, that of the step with the smallest priority. How much each step counts
beside the others in its batch stays the same. (But each batch has its own largest
weight, and a dull step brings a large one. So dull steps count too little, even with
$\beta = 1$.)

$$\begin{aligned}
w_i &= \left( \frac{1}{M \, P(i)} \right)^\beta \bigg/
\max_{k \in B} \left( \frac{1}{M \, P(k)} \right)^\beta \\
&= \left( \frac{\min_{k \in B} p_k^\alpha}{p_i^\alpha} \right)^\beta
\end{aligned}$$

$M$ and the sum of all priorities cancel. With four steps, and $\alpha = 0.6$:

| error | 2 | 1 | 0.5 | 0.1 |
|---|---|---|---|---|
| how likely it is drawn | 44% | 29% | 19% | 7% |
| its weight with $\beta = 0.4$ | 0.49 | 0.58 | 0.68 | 1 |
| its weight with $\beta = 1$ | 0.17 | 0.25 | 0.38 | 1 |

In the last row, probability times weight is the same for all.

!!! warning "The largest of what?"
    Baselines divides by the largest weight that any step in the *memory* would have,
    and many have copied that, with a second tree in which they look it up. But among a
    million steps there is always one whose error is next to nothing. If errors are
    spread as on a bell curve, with $\alpha = 0.6$ and $\beta = 1$, the mean weight is
    then about half a thousandth, and gradients shrink by that factor. Beside an
    optimiser's $\epsilon$ they are nothing, and learning fades away as $\beta$ grows.
    In a batch of 256 the mean weight is a sixth. Schaul et al. [divide by the largest
    in the batch](https://github.com/chainer/chainerrl/issues/278), too.

!!! warning "Shorter steps"
    The steps that are drawn have larger errors than usual, so their gradients are
    longer. Schaul et al. divide the learning rate of DQN by 4. The settings of this
    book don't do that by themselves:

    ```sh
    labml-rl train dqn --game Breakout \
        --prioritised --learning-rate 6.25e-5
    ```

    [DQN Zoo](https://github.com/google-deepmind/dqn_zoo) divides RMSProp's $\epsilon$
    by 16 as well. Then a weight whose gradients are tiny, so that [$\epsilon$ decides
    how far it moves](../dqn/rmsprop.py), moves as far as before. Here that is
    `--rms-epsilon 6.1e-7`. And it weights the error first and then cuts it off at
    $\pm 1$. The [loss][labml_rl.dqn.td_loss] of this book, like that of Baselines, cuts
    it off first.
"""

from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from torch import Tensor

from labml_rl.replay import Batch, ReplayMemory
from labml_rl.replay.frames import Places
from labml_rl.replay.trees import SumTree

EPSILON = 1e-6
SMALLEST, LARGEST = 1e-300, 1e300  # power of a priority


class PrioritisedMemory(ReplayMemory):
    r"""
    ## The memory

    It is begun and filled like [any other](__init__.py). After each batch it hears how
    wrong the network was, from [the loss][labml_rl.dqn.td_loss]:

    ```python
    batch = memory.sample(32)
    ...  # values and targets of these steps
    loss, errors = td_loss(
        values, targets, batch.weights
    )
    memory.update(batch.places, errors)
    ```

    Args:
        observation_space: that of one game.
        num_envs: how many games.
        capacity: how many steps to keep, of all games together.
        exponent: $\alpha$, at least 0.
        importance: $\beta$, from 0 to 1. It stays what it is: let it go up to 1 in your
            loop, `memory.importance = ...`, as [the
            experiment][labml_rl.dqn.experiment.Experiment.learn] does.
        options: see [ReplayMemory][].

    Raises:
        ValueError: if a number makes no sense, or if the capacity is too small.
    """

    def __init__(
        self,
        observation_space: Box,
        num_envs: int,
        *,
        capacity: int,
        exponent: float = 0.6,
        importance: float = 0.4,
        **options: Any,
    ) -> None:
        super().__init__(observation_space, num_envs, capacity=capacity, **options)
        if not 0 <= exponent < np.inf:
            raise ValueError(f"exponent must be at least 0, not {exponent}")
        self.exponent, self.importance = exponent, importance

        # Around the heads, steps become complete, and others are overwritten. These are
        # the places to look at after each step. Behind a head, the step $n$ places back
        # has become complete, or the one before it, if a final observation was written
        # as well. Ahead of it, stacks may have lost their oldest picture.
        stack = self.frames.stack
        self._around = num_envs * np.arange(-self.n - 1, stack + 1)  # (P,)

    @property
    def importance(self) -> float:
        r"""$\beta$, from 0 to 1."""
        return self._importance

    @importance.setter
    def importance(self, importance: float) -> None:
        if not 0 <= importance <= 1:
            raise ValueError(f"importance must be between 0 and 1, not {importance}")
        self._importance = importance

    def _forget(self) -> None:
        super()._forget()
        # All numbers in the tree are $p_i^\alpha$. Where there is no step that can be
        # drawn they are 0.
        self.tree = SumTree(self.size)
        self.largest = 1.0

    def add(self, *arguments: Any, **options: Any) -> None:
        """
        ### One step of all games

        Args:
            arguments: these and the `options` are those of
                [Rings.add][labml_rl.replay.rings.Rings.add].
        """
        super().add(*arguments, **options)
        places = (self.heads[:, None] + self._around).ravel() % self.size  # (N P,)
        drawable, known = self.can_be_drawn(places), self.tree.leaves[places] > 0

        # One that could be drawn before keeps its priority.
        changed = drawable != known
        powers = np.where(drawable[changed], self.largest, 0.0)
        self.tree.set(places[changed], powers)

    def sample(self, batch_size: int) -> Batch:
        r"""
        ### Draw

        [The tree draws][labml_rl.replay.trees.SumTree.draw], each step as often as its
        priority says.

        Args:
            batch_size: how many steps. The same may come twice.

        Raises:
            ValueError: if fewer than that can be drawn.
        """
        self.check(batch_size)
        places = self.tree.draw(batch_size, self._dice)

        # $$w_i = \left( \frac{\min_{k \in B} p_k^\alpha}{p_i^\alpha} \right)^\beta$$
        powers = self.tree.leaves[places]  # (B,)
        weights = (powers.min() / powers) ** self.importance
        return self.batch(places, weights=weights)

    def update(self, places: Places, errors: Tensor | NDArray[Any]) -> None:
        r"""
        ### What was learned

        The network has just looked at these steps again. How wrong it was this time
        becomes their priority. That is the error alone, without the weight $w_i$. With
        it, a step would count as less of a surprise the more often it is drawn.

        !!! warning "Before the next step"
            A place is known by its number, and the next step may be written there. So
            give the errors before anything is added.

        Args:
            places: those of the batch, shape `(B,)`.
            errors: $\delta_i$, the same. Their sign does not matter.

        Raises:
            ValueError: if an error is not finite, or if a place has no step that can be
                drawn. No priority is changed then.
        """
        if isinstance(errors, Tensor):
            errors = errors.detach().cpu().double().numpy()
        sizes = np.abs(np.asarray(errors, np.float64))
        self.set_priorities(places, sizes + EPSILON)

    def set_priorities(self, places: Places, priorities: NDArray[Any]) -> None:
        r"""
        ### Priorities of another kind

        Args:
            places: of steps that can be drawn, shape `(B,)`.
            priorities: $p_i$, above 0, the same.

        Raises:
            ValueError: if one is not above 0 and finite, or if a place has no step that
                can be drawn. Nothing is changed then.
        """
        places = np.asarray(places, np.int64)
        priorities = np.asarray(priorities, np.float64)
        if priorities.shape != places.shape:
            raise ValueError(
                f"for a batch of shape {places.shape}, one priority for each step is "
                f"needed, and these have shape {priorities.shape}"
            )
        wrong = ~(np.isfinite(priorities) & (priorities > 0))
        if wrong.any():
            found = priorities[wrong][0]
            raise ValueError(
                f"priorities must be finite and above 0, and that of place "
                f"{places[wrong][0]} is {found}"
            )
        inside = (places >= 0) & (places < self.size)
        if not inside.all() or not (self.tree.leaves[places] > 0).all():
            raise ValueError(
                "a place has no step that can be drawn: it was overwritten, or never "
                "written. Update the priorities before the next step is added"
            )
        # With a large exponent a small priority could become 0, and be lost. A large
        # one could become infinite, and then all others would be lost.
        with np.errstate(over="ignore"):
            powers = np.clip(priorities**self.exponent, SMALLEST, LARGEST)
        self.largest = max(self.largest, float(powers.max(initial=0)))
        self.tree.set(places, powers)

    @property
    def nbytes(self) -> int:
        """How much memory it takes when it is full, without the sums in the tree."""
        return super().nbytes + self.tree.leaves.nbytes

    def get_state(self) -> dict[str, Any]:
        """
        ### Saved with the run

        Returns:
            The state, priorities included.
        """
        return super().get_state() | {
            "priorities": self.tree.leaves[: self.written],
            "largest": self.largest,
        }

    @property
    def described(self) -> str:
        """What can be drawn, and so has a priority, depends on `n`."""
        return f"{super().described}, with priorities and n = {self.n}"

    def set_state(self, state: dict[str, Any]) -> None:
        """
        Args:
            state: what [PrioritisedMemory.get_state][] returned, for the same games.

        Raises:
            ValueError: if it is of another memory. Everything is then as it was.
        """
        if "priorities" not in state:
            raise ValueError("this replay memory was without priorities")
        super().set_state(state)
        powers = state["priorities"]
        self.tree.leaves[: len(powers)] = powers
        self.tree.rebuild()
        self.largest = state["largest"]


# ## Questions
#
# 1. Two steps have errors of 3 and $-1$, and $\alpha$ is 1. How often is each drawn?
#    What are their weights if both are in the batch and $\beta$ is 1?
# 2. And with $\alpha = 0$?
# 3. A return is 1 in one try out of four, and 0 in the others. The try that pays is
#    drawn half the time, and $\beta$ is 0. What does the network learn that the try is
#    worth?
#
# ??? tip "Answers"
#     1. Three quarters of the time and one quarter: the sign does not matter. The
#        weights are ⅓ and 1.
#     2. Both equally often, with a weight of 1: that is replay without priorities.
#     3. A half. With $\beta = 1$ and batches of 32 it would be a quarter, which is
#        right. (With batches of one step the weight is always 1, and it stays a half.)
