r"""
---
title: A pole without speeds
summary: An environment of your own, in which a single observation does not say enough.
---

# A pole without speeds

[CartPole](small.py) shows four numbers: where the cart is, how far the pole leans, and
how fast both of these change. Here the agent is shown the first two, and not the
speeds. So the same two numbers may be those of a pole that is falling to the left, and
needs a push to the left, or of one that is just coming up, and needs a push to the
right. An agent that sees two observations in a row knows the difference. One that sees
a single observation, and remembers nothing, can't balance the pole.

Problems in which the agent is shown only part of the state are called **partially
observable**, and nearly all real ones are.

```sh
labml-rl train small-recurrent-ppo
labml-rl train small-ppo --total-frames 300_000 \
    --game labml_rl.hidden:HiddenCartPole-v1
```

The first has [a network that remembers](ppo/remembering.py), and keeps the pole up for
hundreds of steps. The second has none, and manages some forty. [Here are
both](../results.md#a-pole-without-speeds-by-recurrent-ppo).

This page is also an example of [an environment of your own](environments.py): a
function that makes it, and a name under which it is found.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box


def make_hidden_cart_pole(**options: Any) -> gymnasium.Env[Any, Any]:
    """
    ## The environment

    The pole leans by a fifth of a radian at most before the episode is over, and from
    one step to the next this changes by a hundredth or so. To a network, that is
    nearly the same number. So both numbers are divided by the bounds of Gymnasium's
    space, which are twice as far out as an episode goes.

    Args:
        options: of Gymnasium's environment, such as `render_mode`.

    Returns:
        CartPole that shows two numbers: where the cart is, and how far the pole leans.
        An episode ends when one of them goes beyond a half.
    """
    return WithoutSpeeds(gymnasium.make("CartPole-v1", **options))


class WithoutSpeeds(gymnasium.ObservationWrapper[Any, Any, Any]):
    """
    ## Without the speeds

    CartPole's four numbers are the place of the cart, its speed, how far the pole
    leans, and how fast that changes. `[::2]` takes the first and the third.

    Args:
        env: CartPole.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        super().__init__(env)
        assert isinstance(env.observation_space, Box)
        self.largest = env.observation_space.high[::2]
        self.observation_space = Box(-1.0, 1.0, (2,), np.float32)

    def observation(self, observation: Any) -> Any:
        """Two of the four numbers, each divided by its bound."""
        return observation[::2] / self.largest


gymnasium.register("HiddenCartPole-v1", entry_point=make_hidden_cart_pole)
