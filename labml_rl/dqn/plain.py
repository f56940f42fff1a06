r"""
---
title: DQN on one page
summary: >-
  The whole of DQN as one function, with the parts of the book and nothing around them,
  to read in one piece or to copy.
symbols:
  targets: 'y_t'
---

# DQN on one page

[The experiment](experiment.py) can be stopped, resumed, recorded and made faster, and
has a switch for each improvement. Here is the algorithm alone, as one function:

```sh
python -m labml_rl.dqn.plain
```

Within a minute or so it learns to hold a pole up for some 200 steps. Then it gets worse
again, as [is usual with DQN and a pole](../small.py). Nothing is left out of DQN
itself: the tests let this function and the experiment learn side by side, and compare
all weights.

| line | explained in |
|---|---|
| `make_environments`, `scores_of` | [Anything to play](../environments.py) |
| `final_observations` | [the same](../environments.py) |
| `check_spaces`: what is seen and done | [Playing to learn](../sampling.py) |
| `QNetwork` | [Networks](../networks.py) |
| `ReplayMemory` | [Replay](../replay/__init__.py) |
| `Linear`, `explore` | [Exploring](exploring.py) |
| `following_values`, `taken`, `td_loss` | [DQN](__init__.py) |

To begin a project of your own, copy this page, and make it yours line by line. For a
game, give it `make_environments("Pong", 16, seed=1, clip_rewards=True,
episodic_life=True, copy=False)`, a network that fits, `QNetwork((4, 84, 84), 6)`, a
memory with `stack=4` and `n=3`, and the [settings for games](fast.py), a discount of
0.99 among them. All of these have a place here, except `double`, the optimiser, which
is Adam, and `turns`. (The length is in steps here: ten million frames are
`total_steps=2_500_000`.) It all runs on the processor.
"""

from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from functools import partial

import torch
from torch import nn

from labml_rl.batch import Games
from labml_rl.dqn import following_values, taken, td_loss
from labml_rl.dqn.exploring import Linear, explore
from labml_rl.environments import final_observations, make_environments, scores_of
from labml_rl.networks import QNetwork
from labml_rl.replay import ReplayMemory
from labml_rl.sampling import check_spaces


def learn(
    games: Games,
    network: nn.Module,
    memory: ReplayMemory,
    generator: torch.Generator,
    *,
    total_steps: int = 60_000,
    warm_up_steps: int = 1_000,
    learn_every_steps: int = 8,
    batch_size: int = 128,
    sync_every_steps: int = 1_000,
    learning_rate: float = 1e-3,
    epsilon_end: float = 0.01,
    epsilon_steps: int = 10_000,
    max_gradient_norm: float = 10.0,
) -> Iterator[tuple[int, float]]:
    r"""
    ## Learn

    Args:
        games: a batch of games, made with `copy=False`.
        network: what learns: an action value for each action.
        memory: an empty one, for as many games.
        generator: the dice for exploring.
        total_steps: how many steps to play, in all games together. This default and all
            those that follow are for a pole.
        warm_up_steps: how many of these to play at random before anything is learned.
            From a memory with few steps, the same ones would be drawn again and again.
        learn_every_steps: how many to play from one batch to the next: a multiple of
            the number of games.
        batch_size: how many steps there are in a batch.
        sync_every_steps: how many to play until the target network is replaced.
        learning_rate: of Adam.
        epsilon_end: $\varepsilon$ at the end; at the beginning it is 1.
        epsilon_steps: how many steps after the warm-up it takes to get there.
        max_gradient_norm: longer gradients are cut to this length.

    Yields:
        After each step of all games: how many steps were played, and the mean score of
        the last hundred games.

    Raises:
        ValueError: if `learn_every_steps` is not a multiple, or if the memory has too
            few steps for a batch when the warm-up is over.
    """
    # `eps` is larger than usual, as in PPO. The target network begins as a copy.
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate, eps=1e-5)
    target = deepcopy(network).requires_grad_(False)
    schedule = Linear(1.0, epsilon_end, epsilon_steps)
    spaces = games.single_observation_space, games.single_action_space
    shape = (games.num_envs, int(check_spaces(*spaces)[1].n))
    if learn_every_steps % games.num_envs:
        raise ValueError(
            f"learn_every_steps must be a multiple of the {games.num_envs} games, not "
            f"{learn_every_steps}"
        )
    recent: deque[float] = deque(maxlen=100)
    played = 0

    observations, _ = games.reset()
    memory.begin(observations)
    while played < total_steps:
        # **Play** one step of each game: the best action that the network knows, or
        # with probability $\varepsilon$ one at random. In the warm-up all are random.
        epsilon = schedule(played - warm_up_steps)
        think = partial(network, torch.from_numpy(observations))
        with torch.no_grad():
            actions = explore(think, shape, epsilon, generator).numpy()  # (N,)

        # **Remember** it. Where an episode ended, `observations` has the first of the
        # next one, and the last of the old is needed as well.
        step = games.step(actions)
        observations, rewards, terminated, truncated, infos = step
        ends = terminated | truncated
        last = final_observations(infos, ends) if ends.any() else None
        played += games.num_envs
        recent.extend(score["r"] for score in scores_of(infos))
        memory.add(
            actions,
            rewards,
            terminated,
            truncated,
            observations,
            final_observations=last,
        )

        # **Learn** from steps of any time. An action should have been worth the reward,
        # and what the target network says of what follows. After the end of a game
        # nothing follows, and the discount is 0.
        # $$y_t = r_t + \gamma \max_a \bar{Q}(o_{t+1}, a)$$
        if played >= warm_up_steps and played % learn_every_steps == 0:
            batch = memory.sample(batch_size)
            with torch.no_grad():
                following = following_values(target(batch.next_observations))
            targets = batch.returns + batch.discounts * following  # (B,)
            values = taken(network(batch.observations), batch.actions)  # (B,)
            loss, _ = td_loss(values, targets)

            # One step of the optimiser.
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), max_gradient_norm)
            optimizer.step()

        # Now and then the target network becomes a copy of the network as it now is.
        # All games play at once, so `played` may jump over a multiple of
        # `sync_every_steps`. Just after one, the remainder is smaller than the number
        # of games.
        if played % sync_every_steps < games.num_envs:
            target.load_state_dict(network.state_dict())
        yield played, sum(recent) / max(len(recent), 1)


def main() -> None:
    """
    ## Balance a pole

    One thread is enough for a network as small as this, and faster than several.
    """
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dice = torch.Generator().manual_seed(2)
    with make_environments("CartPole-v1", 8, seed=1, workers=0, copy=False) as games:
        network = QNetwork((4,), 2)
        seen, _ = check_spaces(
            games.single_observation_space, games.single_action_space
        )
        memory = ReplayMemory(seen, 8, capacity=50_000, discount=0.95, seed=3)
        for played, score in learn(games, network, memory, dice):
            if played % 4_000 < 8:
                print(f"{played:>6,} steps, mean score {score:.1f}")


if __name__ == "__main__":
    main()
