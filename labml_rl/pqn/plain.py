r"""
---
title: PQN on one page
summary: >-
  The whole of PQN as one function, with the parts of the book and nothing around them,
  to read in one piece or to copy.
symbols:
  returns: 'G_t'
  epsilon: '\varepsilon'
---

# PQN on one page

[The experiment](experiment.py) can be stopped, resumed, recorded and made faster. Here
is the algorithm alone, as one function. It plays in the same way as [PPO on one
page](../ppo/plain.py).

```sh
python -m labml_rl.pqn.plain
```

It balances a pole within a minute or so. Of all the algorithms in this book it has the
least to explain. Nothing is left out of PQN itself: the tests let this function and the
experiment learn side by side, and compare all weights.

| line | explained in |
|---|---|
| `play`, `make_poles` | [PPO on one page](../ppo/plain.py) |
| `Linear` | [Exploring](../dqn/exploring.py) |
| `taken` | [DQN](../dqn/__init__.py) |
| `value_loss` | [A2C](../a2c/__init__.py) |
| `PQNetwork`, `lambda_returns` | [PQN](__init__.py) |

To begin a project of your own, copy this page and the modules that it needs, which are
named above the title. For a game, give it one of [the book's](../environments.py),
`make_environments("SpaceInvaders", 128, seed=1, clip_rewards=True, episodic_life=True,
copy=False)`, a network that fits, `PQNetwork((4, 84, 84), 6)`, and the [settings for
games][labml_rl.pqn.experiment.Settings]. (The length is in steps here: ten million
frames are `total_steps=2_500_000`.) It all runs on the processor.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import torch
from gymnasium.vector import VectorEnv
from torch import nn

from labml_rl.a2c import value_loss
from labml_rl.dqn import taken
from labml_rl.dqn.exploring import Linear
from labml_rl.ppo.plain import make_poles, play
from labml_rl.pqn import PQNetwork, lambda_returns


def learn(
    games: VectorEnv[Any, Any, Any],
    network: PQNetwork,
    *,
    total_steps: int = 250_000,
    steps: int = 64,
    epochs: int = 4,
    minibatches: int = 16,
    learning_rate: float = 5e-4,
    discount: float = 0.99,
    td_lambda: float = 0.95,
    epsilon_start: float = 1.0,
    epsilon_end: float = 0.05,
    epsilon_steps: int = 30_000,
    max_gradient_norm: float = 10.0,
    generator: torch.Generator | None = None,
) -> Iterator[tuple[int, float]]:
    r"""
    ## Learn

    Args:
        games: a batch of them, which begins the next episode in the step that ends the
            one before.
        network: what learns.
        total_steps: how many steps to play, in all games together. This default and all
            those that follow are for [the pole][labml_rl.small.PQNSettings].
        steps: $T$, for how many steps each game is played before the network learns.
        epochs: how often it then learns from each of these steps.
        minibatches: into how many parts the steps of all games are cut.
        learning_rate: of RAdam.
        discount: $\gamma$.
        td_lambda: $\lambda$.
        epsilon_start: $\varepsilon$ at the beginning.
        epsilon_end: the same at the end.
        epsilon_steps: how many steps it takes to get there.
        max_gradient_norm: longer gradients are cut to this length.
        generator: the dice; `None` takes those that `torch.manual_seed` sets.

    Yields:
        After each update: how many steps were played, and the mean score of the last
        hundred games.
    """
    optimizer = torch.optim.RAdam(network.parameters(), lr=learning_rate)
    epsilon = Linear(epsilon_start, epsilon_end, epsilon_steps)
    recent: deque[float] = deque(maxlen=100)
    played = 0
    seen = torch.from_numpy(games.reset()[0])  # (N, …)
    while played < total_steps:
        # **Play.** Each game goes on for $T$ steps, wherever it is, by the action with
        # the largest value, or with probability $\varepsilon$ by any.
        network.epsilon.fill_(epsilon(played))
        observations, actions, _, rollout, scores = play(
            games, network, seen, steps=steps, generator=generator
        )
        seen = observations[-1]
        played += actions.numel()
        recent.extend(scores)

        # **Judge.** What should the network have said of each action? What it was paid,
        # and what followed, of which a part is seen and a part believed.
        # $$G_t = r_t + \gamma \big( (1 - \lambda) F_t + \lambda G_{t+1} \big)$$
        returns = lambda_returns(
            rollout, discount=discount, td_lambda=td_lambda
        )  # (T, N)

        # From here on all games are one long list.
        observations = observations[:-1].flatten(0, 1)  # (T · N, …)
        actions, returns = actions.flatten(), returns.flatten()  # (T · N,)

        # **Learn**, several times from the same steps, each time in another order.
        for _ in range(epochs):
            order = torch.randperm(len(actions), generator=generator)
            for rows in order.chunk(minibatches):
                action_values = network.action_values(observations[rows])  # (B, A)
                values = taken(action_values, actions[rows])  # (B,)
                loss = value_loss(values, returns[rows])

                # One step of the optimiser.
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), max_gradient_norm)
                optimizer.step()

        # What was seen is thrown away.
        yield played, sum(recent) / max(len(recent), 1)


def main() -> None:
    """
    ## Balance a pole

    One thread is enough for a network as small as this, and faster than several.
    """
    torch.set_num_threads(1)
    torch.manual_seed(1)
    games = make_poles(32, seed=1)
    network = PQNetwork((4,), 2)
    for update, (played, score) in enumerate(learn(games, network)):
        if update % 10 == 0:
            print(f"{played:>7,} steps, mean score {score:.1f}")
    games.close()
    print(f"{played:>7,} steps, mean score {score:.1f}")


if __name__ == "__main__":
    main()
