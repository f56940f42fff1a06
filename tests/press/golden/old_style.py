"""
---
title: Bandits
summary: An old module, annotated years ago for another tool.
---

# Many-armed bandits

This has all the habits that annotated code of that time has:
* lists without a blank line above,
* TeX in docstrings that are not raw: $\frac{1}{n} \sum_t r_t$ and \(not this\),
* raw HTML, <a id="top"></a>, and <b>bold</b>.

Here are [the paper](https://example.org/bandits.pdf) and
[![A badge](https://example.org/badge.svg)](https://example.org).
"""

from typing import List

import numpy as np

from somewhere import Module, module, experiment


# ------------------------------------------------------------
# Constants
# ------------------------------------------------------------

STEPS = 8  #: for each episode
"""How long one takes.

See https://example.org/steps (and $HOME or the like; 5$)."""

#############################################################
# A paragraph in a frame is none the more a title for it.
# It has two lines.
#############################################################
ARMS = 10


class Bandit(Module):
    """
    ## A bandit

    Its value is estimated by
    $$Q_{n+1} = Q_n + \alpha \big(r_n - Q_n\big)$$
    where

    * $\alpha$ is the step,
      on two lines
    * $r_n$ is the reward

    #### A deeper heading
    """

    n_arms: int
    """How many there are."""
    # The step $\alpha$
    alpha: float = 0.1

    def __init__(self, n_arms: int, *,
                 alpha: float = 0.1):
        """
        * `n_arms` is the number of arms
        * `alpha` is $\alpha$
        """
        super().__init__()
        # One estimate for each arm
        self.q = np.zeros(n_arms)
        self.model = Module(
            # First layer
            module(n_arms, 8),
            # Second layer,
            # on two lines
            module(8, 8),

            # No comment on this one but this
            module(8, 1))

        #
        self.n = 0

    @property
    def best(self):
        # No docstring
        return self.q.argmax()

    def __call__(self, arm: int, reward: float):
        # $$r_n - Q_n$$
        error = reward - self.q[arm]

        def step(x):
            """
            ### Nested
            """
            # Inside
            return x * self.alpha

        # --- Back outside ---
        # 1) one
        # 2) two
        self.q[arm] += step(error)

        if error > 0:
            # Better than thought
            self.n += 1
        # At the end of a block
        else:
            pass

        # Return $Q$
        return self.q
        # After the return


@experiment.option(
    Bandit,
    # Inside a decorator
    'default')
@module
def bandit(c):
    """Options"""
    return Bandit(c.n_arms)


def main():
    # Create the bandit
    b = Bandit(10)
    # ##### A heading in a comment
    #
    # ```python
    # b(1, 2.0)
    # ```
    b(1, 2.0)


#
if __name__ == '__main__':
    main()
