r"""
---
title: The optimiser of DQN
summary: >-
  Centred RMSProp as the authors of DQN wrote it, and what its epsilon is when losses
  are averaged.
symbols:
  gradients: 'g'
  means: 'm'
  squares: 's'
---

# The optimiser of DQN

**RMSProp** divides each gradient by the size it usually has, so that all weights move
at about the same speed. [A2C][labml_rl.a2c.RMSProp] uses it, too. The authors of DQN
had their own version, and their learning rate goes with it.

This page is for those who want to repeat what they did. Others may skip it: [the fast
settings](fast.py) use Adam, as nearly everyone does today.
"""

from collections.abc import Iterable

import torch
from torch import nn


class CentredRMSProp(torch.optim.Optimizer):
    r"""
    ## Centred RMSProp

    For each weight $\theta$ with the gradient $g$, it keeps two running means: $s$ of
    $g^2$, and $m$ of $g$ itself. Both begin with 0, where the $s$ of A2C begins with 1.
    Gradients are then divided by their standard deviation, not by their size: where
    they always point the same way, steps are longer.

    $$m \leftarrow \alpha m + (1 - \alpha) g, \quad
    s \leftarrow \alpha s + (1 - \alpha) g^2$$

    $$\theta \leftarrow \theta - \eta \frac{g}{\sqrt{s - m^2 + \epsilon}}$$

    Where a gradient hardly changes, the difference under the root is nearly nothing,
    and it is $\epsilon$ that keeps the step short. With the $\epsilon$ of the settings,
    a weight whose gradient is 0.1 and −0.1 in turn moves by $\eta$ each time, and one
    whose gradient is always 0.1, in the long run, by $32 \eta$.

    !!! warning "0.01 is not 0.01"
        Mnih et al. have $\epsilon = 0.01$ and *add up* the losses of a batch of 32.
        Everyone else takes their mean. Then gradients are 32 times smaller, and their
        squares $32^2$ times. Divide $\epsilon$ by that as well, and it is the same
        optimiser. With 0.01 and a mean, steps are up to 32 times shorter. And PyTorch's
        `RMSprop(centered=True)` has its $\epsilon$ outside the root.

    !!! warning "No momentum"
        The table of the paper has a "gradient momentum" and a "squared gradient
        momentum", both 0.95. These are the $\alpha$ of the two means. There is no
        momentum in the usual sense.

    Args:
        parameters: what is to be learned.
        lr: $\eta$, the learning rate.
        decay: $\alpha$, of both means.
        epsilon: $\epsilon$, inside the root.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float,
        *,
        decay: float = 0.95,
        epsilon: float = 0.01 / 32**2,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "decay": decay, "epsilon": epsilon})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """
        Move the parameters by their gradients.

        Args:
            closure: not used; it is there because all optimisers have it.
        """
        for group in self.param_groups:
            learned = [each for each in group["params"] if each.grad is not None]
            if not learned:
                continue
            for each in learned:
                if not self.state[each]:
                    self.state[each]["means"] = torch.zeros_like(each)
                    self.state[each]["squares"] = torch.zeros_like(each)
            gradients = [each.grad for each in learned]
            means = [self.state[each]["means"] for each in learned]
            squares = [self.state[each]["squares"] for each in learned]

            # $$m \leftarrow \alpha m + (1 - \alpha) g, \quad
            # s \leftarrow \alpha s + (1 - \alpha) g^2$$
            decay = group["decay"]
            torch._foreach_lerp_(means, gradients, 1 - decay)
            torch._foreach_mul_(squares, decay)
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - decay)

            # $$\theta \leftarrow \theta - \eta \frac{g}{\sqrt{s - m^2 + \epsilon}}$$
            # The difference is a variance, and rounding must not make it less than
            # zero.
            roots = torch._foreach_addcmul(squares, means, means, -1)
            torch._foreach_clamp_min_(roots, 0)
            torch._foreach_add_(roots, group["epsilon"])
            torch._foreach_sqrt_(roots)
            torch._foreach_addcdiv_(learned, gradients, roots, -group["lr"])
