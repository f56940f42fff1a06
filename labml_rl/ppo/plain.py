r"""
---
title: PPO on one page
summary: >-
  The whole of PPO as one function, made of the parts of the book with nothing around
  them, to read in one go or to copy.
symbols:
  advantages: '\hat{A}_t'
  returns: 'G_t'
---

# PPO on one page

[The experiment](experiment.py) can be stopped, resumed, recorded and made faster, and
all that takes room. Here is the algorithm alone, from the first step to the last, as
one function:

```sh
python -m labml_rl.ppo.plain
```

It balances a pole within a minute or so. (On the way, the score falls and rises again.
That is normal.) Nothing is left out of PPO itself: the tests let this function and the
experiment learn side by side, and compare all weights.

| line | explained in |
|---|---|
| `make_environments` | [Anything to play](../environments.py) |
| `ActorCritic`, `log_probs_of`, `entropy_of` | [Networks](../networks.py) |
| `Sampler` | [Playing to learn](../sampling.py) |
| `gae` | [Returns and advantages](../returns.py) |
| `clipped_policy_loss`, `value_loss`, `normalised` | [PPO](__init__.py) |

To begin a project of your own, copy this page, and make it yours line by line. For a
game, give it `make_environments("Pong", 8, seed=1, clip_rewards=True,
episodic_life=True, copy=False)`, a network that fits, `ActorCritic((4, 84, 84), 6)`,
and the [settings for games][labml_rl.ppo.experiment.Settings]. Three more are [those of
A2C as well][labml_rl.onpolicy.PolicySettings]: `discount=0.99`,
`entropy_coefficient=0.01`, and the length, `total_steps=2_500_000`, which is ten
million frames. It all runs on the processor. When a run takes longer than you care to
wait, move on to the experiment, which can use a GPU as well.
"""

from collections import deque
from collections.abc import Iterator

import torch
from torch import nn

from labml_rl.batch import Games
from labml_rl.environments import make_environments
from labml_rl.networks import ActorCritic, entropy_of, log_probs_of
from labml_rl.ppo import clipped_policy_loss, normalised, value_loss
from labml_rl.returns import gae
from labml_rl.sampling import Sampler


def learn(
    games: Games,
    network: ActorCritic,
    *,
    total_steps: int = 150_000,
    steps: int = 32,
    epochs: int = 20,
    minibatches: int = 1,
    learning_rate: float = 1e-3,
    discount: float = 0.98,
    gae_lambda: float = 0.8,
    clip: float = 0.2,
    value_coefficient: float = 0.5,
    entropy_coefficient: float = 0.0,
    max_gradient_norm: float = 0.5,
    generator: torch.Generator | None = None,
) -> Iterator[tuple[int, float]]:
    r"""
    ## Learn

    Args:
        games: a batch of games, made with `copy=False`.
        network: what learns.
        total_steps: how many steps to play, in all games together. This default and all
            that follow are for [the pole](../small.py).
        steps: $T$, how many of them are played in each game before the network learns.
        epochs: how many times it learns from each of them.
        minibatches: into how many parts they are cut. All must be of one size.
        learning_rate: of Adam, at the beginning.
        discount: $\gamma$.
        gae_lambda: $\lambda$.
        clip: $\epsilon$, how far a ratio may move and still pay.
        value_coefficient: the weight of the critic's loss.
        entropy_coefficient: what the agent is paid for being undecided.
        max_gradient_norm: longer gradients are cut to this length.
        generator: the dice; `None` takes those that `torch.manual_seed` sets.

    Yields:
        After each update: how many steps were played, and the mean score of the last
        hundred games.
    """
    # `eps` is [larger than usual][labml_rl.ppo.experiment.Experiment.make_optimizer].
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, eps=1e-5)
    sampler = Sampler(games, network, steps=steps, generator=generator)
    recent: deque[float] = deque(maxlen=100)
    played = 0
    while played < total_steps:
        # The optimiser's steps get smaller, until they are 0 at the end.
        left = 1 - played / total_steps
        optimizer.param_groups[0]["lr"] = learning_rate * left

        # **Play.** Each game goes on for $T$ steps, wherever it is.
        samples = sampler.sample()
        played += samples.actions.numel()
        # The score `r` is the sum of the rewards of a whole game.
        recent.extend(score["r"] for score in samples.scores)

        # **Judge.** How much better was each action than the critic had expected? With
        # the old values added, that is what the critic should have said. (The last of
        # the $T + 1$ values is left out: nobody has acted there yet.)
        # $$G_t = \hat{A}_t + V(o_t)$$
        rollout = samples.rollout
        advantages = gae(rollout, discount=discount, gae_lambda=gae_lambda)  # (T, N)
        returns = advantages + rollout.values[:-1]  # (T, N)

        # From here on all games are one long list.
        observations = samples.observations.flatten(0, 1)  # (T · N, …)
        actions = samples.actions.flatten()  # (T · N,)
        old_log_probs = samples.log_probs.flatten()
        advantages, returns = advantages.flatten(), returns.flatten()

        # **Learn**, several times from the same steps, each time in another order.
        for _ in range(epochs):
            order = torch.randperm(len(actions), generator=generator)
            for rows in order.chunk(minibatches):
                logits, values = network(observations[rows])  # (B, A), (B,)
                log_probs = log_probs_of(logits, actions[rows])  # (B,)

                # The three losses: make good actions likelier, but not too far from
                # the policy that played; know what to expect; stay undecided.
                policy = clipped_policy_loss(
                    log_probs,
                    old_log_probs[rows],
                    normalised(advantages[rows]),
                    clip=clip,
                )
                value = value_loss(values, returns[rows])
                entropy = entropy_of(logits).mean()
                loss = policy + value_coefficient * value
                loss = loss - entropy_coefficient * entropy

                # One step of the optimiser.
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), max_gradient_norm)
                optimizer.step()

        # What was seen was played by an agent that no longer exists. So it is thrown
        # away.
        yield played, sum(recent) / max(len(recent), 1)


def main() -> None:
    """
    ## Balance a pole

    One thread is enough for a network as small as this, and faster than several.
    """
    torch.set_num_threads(1)
    torch.manual_seed(1)
    with make_environments("CartPole-v1", 8, seed=1, workers=0, copy=False) as games:
        network = ActorCritic((4,), 2)
        for update, (played, score) in enumerate(learn(games, network)):
            if update % 50 == 0:
                print(f"{played:>7,} steps, mean score {score:.1f}")
    print(f"{played:>7,} steps, mean score {score:.1f}")


if __name__ == "__main__":
    main()
