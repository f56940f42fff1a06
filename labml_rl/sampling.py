r"""
---
title: Playing to learn
summary: >-
  How the network plays many games at once, and what is kept of it for the learner.
symbols:
  observations: 'o_t'
  actions: 'a_t'
  logits: '\ell_a'
  log_probs: '\log \pi(a_t \mid o_t)'
---

# Playing to learn

A2C and PPO take turns. First the network plays for a while, all games at once, and
everything is written down. Then the network is changed so that what went well becomes
likelier. Then it plays again, and what was written down is thrown away: it shows how
an agent played that is no more. Algorithms that may only learn from their own latest
play are called **on-policy**.

This page is the first half. At its end there is a [Sampler][], which plays on for $T$
steps wherever it stopped, and gives [what was seen][Samples]:

```python
from labml_rl.environments import make_environments
from labml_rl.networks import ActorCritic
from labml_rl.sampling import Sampler

games = make_environments(
    "Pong", 8, seed=1, copy=False
)
network = ActorCritic((4, 84, 84), 6)
sampler = Sampler(games, network, steps=128)
samples = sampler.sample()
# (128, 8, 4, 84, 84)
samples.observations.shape
```
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from torch import Tensor

from labml_rl.batch import Games
from labml_rl.environments import final_observations, scores_of
from labml_rl.returns import Rollout

ActorCriticFunction = Callable[[Tensor], tuple[Tensor, Tensor]]


@dataclass(frozen=True, kw_only=True)
class Samples:
    r"""
    ## What was seen

    All that a learner needs of $T$ steps in $N$ games. How likely each action was is
    kept as well: once the network has learned, it can no longer be asked.

    Args:
        observations: $o_t$, shape `(T, N, …)`.
        actions: $a_t$, int64, shape `(T, N)`.
        log_probs: $\log \pi(a_t \mid o_t)$ of the network that played, shape `(T, N)`.
        rollout: rewards, values and ends, as [returns are made of](returns.py).
        scores: of the games that ended, see [scores_of][].
    """

    observations: Tensor
    actions: Tensor
    log_probs: Tensor
    rollout: Rollout
    scores: list[dict[str, float]]


class Sampler:
    r"""
    ## The sampler

    One step of all games needs an answer of the network, since what it does next
    depends on what it sees. So the games wait for the network, and the network for the
    games, $T$ times, and whatever is done in between costs time that nothing can hide.
    Hence the arrays are made once. Each observation goes straight from the [memory of
    the games](worker.py) to its place in the rollout, as bytes, and the learner will
    find it there. And what can be computed for all steps at once is left for the end.

    Args:
        games: what is played. Make them with `copy=False`, since they are copied here.
        network: gives logits and values for observations, as
            [ActorCritic][labml_rl.networks.ActorCritic] does.
        steps: $T$, how many to play in each game.
        device: where the network is, and where the rollout is to be.
        generator: the dice for the actions, on the same device.
        prepare: puts observations into the order that [the network likes
            best][labml_rl.bodies.NatureBody.prepared], and in which they are kept.

    Raises:
        ValueError: if the games do not begin the next episode in the step that ends the
            one before, or if their actions can't be counted.
    """

    def __init__(
        self,
        games: Games,
        network: ActorCriticFunction,
        *,
        steps: int,
        device: torch.device | str = "cpu",
        generator: torch.Generator | None = None,
        prepare: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        actions = check_spaces(games)
        self.games, self.network, self.steps = games, network, steps
        self.device, self.generator = torch.device(device), generator
        self.prepare = prepare or (lambda observations: observations)
        num_envs = games.num_envs

        def empty(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=self.device)

        # There is one observation more than there are steps. The last was not acted on
        # yet, and its value stands for all that is to come. In memory the numbers of
        # each lie in the order in which they were prepared.
        first = self.on_device(games.reset()[0])  # (N, …)
        self.observations = torch.stack([first] * (steps + 1))  # (T + 1, N, …)
        self.actions = empty(steps, num_envs, dtype=torch.int64)
        self.logits = empty(steps, num_envs, int(actions.n))
        self.values = empty(steps + 1, num_envs)

    def on_device(self, observations: Any) -> Tensor:
        """
        Args:
            observations: an array of the games.

        Returns:
            The same as the network gets it.
        """
        return self.prepare(torch.from_numpy(observations)).to(self.device)

    def begin(self, observations: Any) -> None:
        """Go on from these, shape `(N, …)`: those of games that were just restored."""
        self.observations[-1] = self.on_device(observations)

    @torch.no_grad()
    def sample(self) -> Samples:
        r"""
        ### T steps

        No gradient is kept of any of this. The learner [looks
        again][labml_rl.onpolicy.PolicyExperiment.evaluate] at what it learns from.

        Returns:
            What was seen. Its observations and actions are the sampler's own arrays,
            and the next call overwrites them.
        """
        shape = (self.steps, self.games.num_envs)
        rewards = np.zeros(shape, np.float32)
        terminated, truncated = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        final_values = torch.full(shape, torch.nan, device=self.device)
        scores: list[dict[str, float]] = []

        # It goes on where the last rollout stopped.
        self.observations[0] = self.observations[-1]
        for t in range(self.steps):
            logits, values = self.network(self.observations[t])  # (N, A), (N,)
            self.logits[t], self.values[t] = logits, values
            actions = draw(logits, self.generator)  # (N,)
            self.actions[t] = actions

            after, rewards[t], terminated[t], truncated[t], infos = self.games.step(
                actions.cpu().numpy()
            )
            self.observations[t + 1] = self.on_device(after)

            # Where an episode was cut off, what would have followed is worth what the
            # network says of its last observation. That is seldom, and not worth a
            # place in the batch.
            if truncated[t].any():
                last = self.on_device(final_observations(infos, truncated[t]))
                cut = torch.from_numpy(truncated[t]).to(self.device)
                final_values[t, cut] = self.network(last)[1]
            if infos:
                scores += scores_of(infos)
        self.values[-1] = self.network(self.observations[-1])[1]

        def moved(array: np.ndarray[Any, Any]) -> Tensor:
            return torch.from_numpy(array).to(self.device)

        return Samples(
            observations=self.observations[:-1],
            actions=self.actions,
            log_probs=log_probs_of(self.logits, self.actions),
            rollout=Rollout(
                rewards=moved(rewards),
                values=self.values.clone(),
                terminated=moved(terminated),
                truncated=moved(truncated),
                final_values=final_values,
            ),
            scores=scores,
        )


def draw(logits: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """
    ## Drawing an action

    The policy is a distribution, and the agent draws from it. It must not simply take
    the likeliest action: an action that is never tried is never learned about.

    Args:
        logits: shape `(N, A)`.
        generator: the dice.

    Returns:
        Actions, shape `(N,)`.
    """
    chances = logits.softmax(-1)  # (N, A)
    return torch.multinomial(chances, 1, generator=generator).squeeze(-1)


def log_probs_of(logits: Tensor, actions: Tensor) -> Tensor:
    r"""
    ## How likely it was

    With the logarithm of the softmax in one piece, nothing overflows, and no
    probability is rounded to 0.

    $$\log \pi(a \mid o) = \ell_a - \log \sum_b e^{\ell_b}$$

    Args:
        logits: $\ell$, shape `(…, A)`.
        actions: $a$, shape `(…)`.

    Returns:
        $\log \pi(a \mid o)$, shape `(…)`.
    """
    each = logits.log_softmax(-1)  # (…, A)
    return each.gather(-1, actions[..., None]).squeeze(-1)  # (…)


def entropy_of(logits: Tensor) -> Tensor:
    r"""
    ## How undecided it is

    The **entropy** of a policy is largest where all actions are equally likely. With
    $A$ of them it is $\log A$ then. It is 0 where one is certain:

    $$H(\pi) = -\sum_a \pi(a \mid o) \log \pi(a \mid o)$$

    An agent that always does the same sees only what comes of that, and never learns
    whether something else is better. So A2C and PPO pay a little for entropy.

    Args:
        logits: $\ell$, shape `(…, A)`.

    Returns:
        $H$, in nats (so it is called with natural logarithms), shape `(…)`.
    """
    log_probs = logits.log_softmax(-1)  # (…, A)
    return -(log_probs.exp() * log_probs).sum(-1)


def check_spaces(games: Games) -> Discrete:
    """
    ## What can be played

    Returns:
        The actions of one game.

    Raises:
        ValueError: unless the observations are arrays, those of pictures bytes, the
            actions are numbered from 0, and an episode begins in the step that ends the
            one before.
    """
    observations, actions = games.single_observation_space, games.single_action_space
    if not isinstance(observations, Box):
        raise ValueError(
            f"observations must be arrays, not those of {observations}. Gymnasium's "
            "FlattenObservation makes one array of numbers and of dictionaries"
        )
    if len(observations.shape) == 3 and observations.dtype != np.uint8:
        raise ValueError(
            f"pictures must be bytes from 0 to 255, not {observations.dtype}: the "
            "network divides by 255 itself. Leave out the wrapper that does so before"
        )
    if not isinstance(actions, Discrete) or actions.start != 0:
        raise ValueError(
            f"actions must be numbered from 0, Discrete(n); these are {actions}. Some "
            "environments have an option for that, as CarRacing-v3 has continuous=False"
        )
    mode = games.metadata["autoreset_mode"]
    if mode != AutoresetMode.SAME_STEP:
        raise ValueError(
            f"the games must be made with autoreset_mode=SAME_STEP, not {mode}: the "
            "step after an end would be taken for experience"
        )
    return actions
