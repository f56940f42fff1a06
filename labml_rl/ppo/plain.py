r"""
---
title: PPO on one page
summary: >-
  The whole of PPO in two functions, made of the parts of the book with nothing around
  them, to read in one go or to copy.
symbols:
  advantages: '\hat{A}_t'
  returns: 'G_t'
---

# PPO on one page

[The experiment](experiment.py) can be stopped, resumed, recorded and made faster, and
that takes room. Here is the algorithm alone, from the first step to the last, as two
functions: one plays, and the other learns.

```sh
python -m labml_rl.ppo.plain
```

It balances a pole within a minute or so. (With another seed the score may fall on the
way, or at the end. That is normal.) Nothing is left out of PPO itself: the tests let
this page and the experiment learn side by side, and compare all weights.

| line | explained in |
|---|---|
| `ActorCritic`, `draw`, `log_probs_of`, `entropy_of` | [Networks](../networks.py) |
| `Rollout`, `gae` | [Returns and advantages](../returns.py) |
| `clipped_policy_loss`, `value_loss`, `normalised` | [PPO](__init__.py) |

To begin a project of your own, copy this page and the five modules that it needs, which
are named above the title. It plays any batch that has the interface of
[Gymnasium](https://gymnasium.farama.org), with numbered actions. For a game, give it
one of [the book's](../environments.py), `make_environments("Pong", 8, seed=1,
clip_rewards=True, episodic_life=True, copy=False)`, a network that fits,
`ActorCritic((4, 84, 84), 6)`, and the [settings for
games][labml_rl.ppo.experiment.Settings]. Three more are [those of A2C as
well][labml_rl.onpolicy.PolicySettings]: `discount=0.99`, `entropy_coefficient=0.01`,
and the length, `total_steps=2_500_000`, which is ten million frames. It all runs on the
processor. When a run takes longer than you care to wait, move on to the experiment,
which can use a GPU as well.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from torch import Tensor, nn

from labml_rl.networks import ActorCritic, draw, entropy_of, log_probs_of
from labml_rl.ppo import clipped_policy_loss, normalised, value_loss
from labml_rl.returns import Rollout, gae


@torch.no_grad()
def play(
    games: VectorEnv[Any, Any, Any],
    network: nn.Module,
    first: Tensor,
    *,
    steps: int,
    generator: torch.Generator | None,
) -> tuple[Tensor, Tensor, Tensor, Rollout, list[float]]:
    r"""
    ## Play

    Each game goes on for $T$ steps, from where it was. What is seen and done is written
    down, a row for each step and a column for each game.

    Args:
        games: a batch of them.
        network: what plays: logits and values for observations.
        first: what the games show now, shape `(N, …)`.
        steps: $T$.
        generator: the dice; `None` takes those that `torch.manual_seed` sets.

    Returns:
        Observations, shape `(T + 1, N, …)`, actions, shape `(T, N)`, how likely these
        were, as logarithms, shape `(T, N)`, the rewards, values and ends, and the
        scores of the games that are over.

    Raises:
        ValueError: if the next episode would take a step of its own to begin, as it
            does in Gymnasium by default. That step would be taken for experience.
    """
    if games.metadata.get("autoreset_mode") != AutoresetMode.SAME_STEP:
        raise ValueError("the games must be made with autoreset_mode=SAME_STEP")
    num_envs, scores = games.num_envs, []
    observations = first.new_zeros((steps + 1, *first.shape))
    actions = torch.zeros(steps, num_envs, dtype=torch.int64)
    log_probs = torch.zeros(steps, num_envs)
    final_values = torch.full((steps, num_envs), torch.nan)
    rollout = Rollout(
        rewards=torch.zeros(steps, num_envs),
        values=torch.zeros(steps + 1, num_envs),
        terminated=torch.zeros(steps, num_envs, dtype=torch.bool),
        truncated=torch.zeros(steps, num_envs, dtype=torch.bool),
        final_values=final_values,
    )
    observations[0] = first
    dice = torch.rand(steps, num_envs, generator=generator)  # (T, N)
    for t in range(steps):
        # How likely the action was is kept: the network is about to change.
        logits, rollout.values[t] = network(observations[t])
        actions[t] = draw(logits, dice[t])
        log_probs[t] = log_probs_of(logits, actions[t])

        #
        seen, rewards, terminated, truncated, infos = games.step(actions[t].numpy())
        observations[t + 1] = torch.from_numpy(seen)
        rollout.rewards[t] = torch.from_numpy(rewards)
        rollout.terminated[t] = torch.from_numpy(terminated)
        rollout.truncated[t] = torch.from_numpy(truncated)

        # Where an episode was cut off, more would have followed. `seen` has the first
        # observation of the next one already; this is the last of the old.
        if truncated.any():
            last = torch.from_numpy(np.stack(list(infos["final_obs"][truncated])))
            _, final_values[t, rollout.truncated[t]] = network(last)

        # The score `r` is the sum of the rewards of a whole game. (One with several
        # lives may end between two of them, as the next begins.)
        for told in (infos.get("final_info", {}), infos):
            if "episode" in told:
                scores += told["episode"]["r"][told["_episode"]].tolist()

    # The value of what is seen last stands for all that is still to come.
    _, rollout.values[steps] = network(observations[steps])
    return observations, actions, log_probs, rollout, scores


def learn(
    games: VectorEnv[Any, Any, Any],
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
        games: a batch of them, which begins the next episode in the step that ends the
            one before.
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
    recent: deque[float] = deque(maxlen=100)
    played = 0
    seen = torch.from_numpy(games.reset()[0])  # (N, …)
    while played < total_steps:
        # The optimiser's steps get smaller, until they are 0 at the end.
        left = 1 - played / total_steps
        optimizer.param_groups[0]["lr"] = learning_rate * left

        # **Play.** Each game goes on for $T$ steps, wherever it is.
        observations, actions, old_log_probs, rollout, scores = play(
            games, network, seen, steps=steps, generator=generator
        )
        seen = observations[-1]
        played += actions.numel()
        recent.extend(scores)

        # **Judge.** How much better was each action than the critic had expected? With
        # the old values added, that is what the critic should have said. (The last of
        # the $T + 1$ values is left out: nobody has acted there yet.)
        # $$G_t = \hat{A}_t + V(o_t)$$
        advantages = gae(rollout, discount=discount, gae_lambda=gae_lambda)  # (T, N)
        returns = advantages + rollout.values[:-1]  # (T, N)

        # From here on all games are one long list.
        observations = observations[:-1].flatten(0, 1)  # (T · N, …)
        actions = actions.flatten()  # (T · N,)
        old_log_probs = old_log_probs.flatten()
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


def make_poles(num_envs: int, *, seed: int) -> VectorEnv[Any, Any, Any]:
    """
    ## Poles to balance

    Args:
        num_envs: how many.
        seed: decides everything random in them.

    Returns:
        A batch of Gymnasium's CartPole, whose episodes report their scores.
    """
    games = gymnasium.make_vec(
        "CartPole-v1",
        num_envs,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        wrappers=[RecordEpisodeStatistics],
    )

    # Later resets have no seed, and go on with the random numbers of this one.
    games.reset(seed=seed)
    return games


def main() -> None:
    """
    ## Balance a pole

    One thread is enough for a network as small as this, and faster than several.
    """
    torch.set_num_threads(1)
    torch.manual_seed(2)
    games = make_poles(8, seed=2)
    network = ActorCritic((4,), 2)
    for update, (played, score) in enumerate(learn(games, network)):
        if update % 50 == 0:
            print(f"{played:>7,} steps, mean score {score:.1f}")
    games.close()
    print(f"{played:>7,} steps, mean score {score:.1f}")


if __name__ == "__main__":
    main()
