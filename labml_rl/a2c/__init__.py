r"""
---
title: A2C
summary: >-
  The policy gradient, derived; why a baseline costs nothing; and the three losses of
  advantage actor-critic.
symbols:
  log_probs: '\log \pi(a_t \mid o_t)'
  advantages: '\hat{A}_t'
  values: 'V(o_t)'
  returns: 'G_t'
---

# Advantage actor-critic (A2C)

Make an action likelier if it went well, and less likely if it went badly. That is the
whole idea, and this page turns it into a loss that PyTorch can minimise. At its end
there are three short functions and an optimiser. [The experiment](experiment.py) puts
them into a loop, and shows what agents have learned with them.

The method is that of [Mnih et al. (2016)](https://arxiv.org/abs/1602.01783), who called
it A3C: many copies of the agent, each with its own game, sent their gradients to a
common network whenever they were ready (*asynchronous*). Waiting for all of them, and
learning from one batch, [turned out to be just as
good](https://openai.com/index/openai-baselines-acktr-a2c/), and suits a graphics card
much better. That is A2C.

## The policy gradient

### One action

Let us forget time for a moment. The agent sees $o$ once, draws an action $a$ from its
policy $\pi_\theta(a \mid o)$, is paid $G$, and the game is over. (A game of one step is
called a *bandit*.) The numbers $\theta$ are the weights of the network. Let $J$ be what
the agent gets on average. That depends on the policy, and through it on the weights, so
here it is written $J(\theta)$:

$$J(\theta) = \sum_a \pi_\theta(a \mid o) \, G(a)$$

To make $J$ larger we need its gradient $\nabla J$: how $J$ changes with each weight.
The payment $G(a)$ does not depend on the weights. Only the probabilities do:

$$\nabla J(\theta) = \sum_a \nabla \pi_\theta(a \mid o) \, G(a)$$

This sum is over all actions, and the agent took only one. A sum can be estimated from
whatever happens to be drawn if each term is multiplied by the probability of drawing
it. The **log-derivative trick** brings that factor in. The derivative of a logarithm is
$\nabla \log \pi = \nabla \pi / \pi$, so $\nabla \pi = \pi \nabla \log \pi$, and

$$\begin{aligned}
\nabla J(\theta)
&= \sum_a \pi_\theta(a \mid o) \, \nabla \log \pi_\theta(a \mid o) \, G(a) \\
&= \operatorname{E}_{a \sim \pi_\theta}
\big[ \nabla \log \pi_\theta(a \mid o) \, G(a) \big]
\end{aligned}$$

where $\operatorname{E}$ is the mean over actions that are drawn from the policy. So a
single one of them gives an estimate that is right on average:
$\nabla \log \pi_\theta(a \mid o) \, G$. This is the **score function** estimator. It
asks for little: nobody has to know why that action was paid $G$, and no gradient goes
through the game.

(Why not push by $\nabla \pi_\theta(a \mid o) \, G$, without the logarithm? What is
likely is drawn often as well, and would count for more. Let two actions have the
probabilities 0.9 and 0.1, by a softmax, and let both pay 1, so that neither is better.
Without the logarithm, drawing the first moves its logit up by 0.09, and drawing the
other moves it down by as much. That is up by 0.072 on average. With the logarithm it
goes up by 0.1 or down by 0.9, and on average stays where it is.)

### Many steps

A game has many actions. The probability that a game goes exactly like this one is a
product: of the policy's probability for each action, and of the game's for what happens
next. The logarithm makes that product a sum,

$$\begin{aligned}
\log p_\theta(\text{this game}) =
&\sum_t \log \pi_\theta(a_t \mid o_t) \\
{} + &\sum_t \log p(o_{t+1} \mid \text{all before})
\end{aligned}$$

and the second sum has no $\theta$ in it: the agent does not make the rules. The same
trick as above, with whole games (*trajectories*) in place of actions, then gives

$$\begin{aligned}
\nabla J(\theta) = \operatorname{E} \Big[
&\sum_t \nabla \log \pi_\theta(a_t \mid o_t) \\
&\cdot \big( r_0 + r_1 + \dots \big) \Big]
\end{aligned}$$

One thing in it is silly: the action at time $t$ is praised for rewards that came before
it, and in which it had no part. Leave them out, and the average does not change. To see
why, take all games that are the same up to $o_t$. Each earlier reward is the same
number in all of them, and [the next section][policy_loss] shows that such a number adds
nothing on average. What is left is the return $G_t$ from $t$ on, also called the
**reward-to-go**:

$$\nabla J(\theta) = \operatorname{E} \Big[
\sum_t \nabla \log \pi_\theta(a_t \mid o_t) \, G_t \Big]$$

This is REINFORCE ([Williams, 1992](https://doi.org/10.1007/BF00992696)). With the
action value, which is the mean of $G_t$ after $a_t$, in place of $G_t$, it is the
**policy gradient theorem** ([Sutton et al.,
1999](https://proceedings.neurips.cc/paper/1999/hash/464d828b85b0bed98e80ade0a5c43b0f-Abstract.html)).

With discounting, $J$ multiplies the reward at time $t$ by $\gamma^t$. The rewards from
step $t$ on then add up to $\gamma^t G_t$, where $G_t$ is now the [discounted
return](../returns.py). So the term of step $t$ gets the factor $\gamma^t$. But with
$\gamma = 0.99$, the term of step 500 would count for 0.007, and the agent would learn
next to nothing from what comes late in a game. So nearly everybody leaves that factor
out. The result is no longer the gradient of any function ([Nota and Thomas,
2020](https://arxiv.org/abs/1906.07073)). It works nevertheless. It can be seen as an
estimate of the gradient *without* a discount: a little wrong, but with much less noise.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


def policy_loss(log_probs: Tensor, advantages: Tensor) -> Tensor:
    r"""
    ## The loss of the actor

    ### A baseline costs nothing

    In a game that takes no points away, all returns may be positive. Then every action
    that is drawn is made likelier, good or bad, and the average comes out right only
    because the good ones are pushed up harder. That takes very many draws.

    So subtract something. Let $b$ be any number that does not depend on the action.
    What it adds to the gradient is, on average,

    $$\begin{aligned}
    \operatorname{E}_{a \sim \pi} \big[ \nabla \log \pi(a \mid o) \, b \big]
    &= b \sum_a \nabla \pi(a \mid o) \\
    &= b \, \nabla \sum_a \pi(a \mid o) \\
    &= b \, \nabla 1 = 0
    \end{aligned}$$

    Nothing: the probabilities add up to 1, whatever the weights are. So we may choose
    $b$ to our liking, and the natural choice is what was to be expected, $V(o_t)$. Now
    an action is praised only if things went *better than expected*. That is the
    advantage, $\hat{A}_t = G_t - V(o_t)$.

    ![The returns of two actions as two heaps of points, first as they are, then less
    their average](../../assets/figures/a2c-baseline.svg)

    *The action "left" pays 5 on average and "right" pays 8, with some noise. Each dot
    is one draw of an action. Without a baseline, in the first panel, both are pushed
    up. With one, the better one goes up and the other down.*

    In numbers: the two are equally likely, and now left always pays 5, and right always
    8. With logits $\ell$ and a softmax,

    $$\begin{aligned}
    \frac{\partial \log \pi(a \mid o)}{\partial \ell_c}
    &= \frac{\partial}{\partial \ell_c}
    \Big( \ell_a - \log \sum_k e^{\ell_k} \Big) \\
    &= [a = c] - \pi(c \mid o)
    \end{aligned}$$

    where $[a = c]$ is 1 for the same action and 0 for another. (The logarithm of the
    sum has the derivative $e^{\ell_c} / \sum_k e^{\ell_k}$: $\pi(c \mid o)$.) So it is
    $1 - \pi(a \mid o)$ for the logit of $a$ itself, and $-\pi(c \mid o)$ for that of
    another action $c$. Here these are $\tfrac12$ and $-\tfrac12$. So drawing an action
    moves its own logit by $\tfrac12(G - b)$, times the learning rate, and the other one
    by the same amount the other way. Without that rate:

    | drawn | moves left and right, no baseline | with $b = 6.5$ |
    |---|---|---|
    | left | +2.5, −2.5 | −0.75, +0.75 |
    | right | −4, +4 | −0.75, +0.75 |
    | on average | −0.75, +0.75 | −0.75, +0.75 |

    The average is the same. But without the baseline each draw pushes up whatever was
    drawn, and only the average of many is right. With it, each single draw is right
    here. With noise, as in the figure, most are.

    As a baseline, the critic may be as wrong as it likes: that only adds noise, and the
    average stays right. But at the end of an [n-step
    return][labml_rl.returns.n_step_returns], its value stands for rewards that were not
    seen. There its error is in $G_t$, and so in the gradient. (With returns that are
    made of rewards alone, the method is *REINFORCE with baseline*.)

    ### A loss to minimise

    PyTorch makes a loss smaller, and computes the gradient itself. The loss whose
    gradient is the negative of the above is

    $$L_\text{policy} = -\operatorname{mean} \big(
    \log \pi(a_t \mid o_t) \, \hat{A}_t \big)$$

    The formula above has a sum over the steps of one game, and this one has a mean over
    the steps of many. On average that makes the gradient shorter, and leaves its
    direction as it is.

    This is not a loss in the sense of supervised learning: its value says nothing, may
    be below zero, and does not get smaller as the agent gets better.

    !!! warning "Detach the advantage"
        The advantage is a number here, not a function of the weights, so `detach()` the
        values that it is made of. If a gradient goes through a value, this loss gets
        smaller the larger that value is, since no logarithm of a probability is above
        zero. [The value's own loss][value_loss] pulls back. Where the two balance, the
        critic is too high by the [entropy][labml_rl.networks.entropy_of] of the policy,
        divided by the weight of that loss. The returns that are made with such values
        are wrong in turn, and nothing fails. So the function refuses an advantage that
        still has a gradient.

    !!! warning "The sign"
        Without the minus the agent learns to lose, and learns it fast.

    Args:
        log_probs: $\log \pi(a_t \mid o_t)$, with a gradient, any shape.
        advantages: $\hat{A}_t$, the same shape.

    Returns:
        $L_\text{policy}$, a single number.

    Raises:
        ValueError: if the shapes differ, or if the advantages have a gradient.
    """
    check_shapes(log_probs=log_probs, advantages=advantages)
    check_constant(advantages=advantages)
    return -(log_probs * advantages).mean()


def value_loss(values: Tensor, returns: Tensor) -> Tensor:
    r"""
    ## The loss of the critic

    The critic should say what return to expect. That is plain regression: of all
    numbers, the mean of the returns has the smallest mean squared error.

    $$L_\text{value} = \tfrac{1}{2} \operatorname{mean} \big( (V(o_t) - G_t)^2 \big)$$

    The half is there because the derivative of a square brings a 2. Not everybody
    writes it, so the weight of this loss differs in meaning from program to program.

    Args:
        values: $V(o_t)$, with a gradient, any shape.
        returns: $G_t$, the same shape.

    Returns:
        $L_\text{value}$, a single number.

    Raises:
        ValueError: if the shapes differ, or if the returns have a gradient.
    """
    check_shapes(values=values, returns=returns)
    check_constant(returns=returns)
    return 0.5 * (values - returns).square().mean()


def total_loss(
    policy: Tensor,
    value: Tensor,
    entropy: Tensor,
    *,
    value_coefficient: float,
    entropy_coefficient: float,
) -> Tensor:
    r"""
    ## All together

    Actor and critic share a body, so their losses are added. The **entropy** is
    subtracted, which pays the agent for being undecided: an **entropy bonus**, or
    *entropy regularisation* (*regularization*). Without it, a policy that has found
    something that works (a *local optimum*) will soon do nothing else, and never find
    what works better. (In *maximum entropy* methods, such as SAC, it is part of the
    return.)

    $$L = L_\text{policy} + c_v L_\text{value} - c_e \operatorname{mean}(H)$$

    How much each should weigh depends on how large rewards are. That is one more reason
    to clip them, and pay [only their sign][labml_rl.game.GameOptions].

    Args:
        policy: $L_\text{policy}$.
        value: $L_\text{value}$.
        entropy: $\operatorname{mean}(H)$: the mean
            [entropy][labml_rl.networks.entropy_of] of the policy.
        value_coefficient: $c_v$.
        entropy_coefficient: $c_e$.

    Returns:
        $L$, a single number.
    """
    return policy + value_coefficient * value - entropy_coefficient * entropy


class RMSProp(torch.optim.Optimizer):
    r"""
    ## The optimiser

    RMSProp divides each gradient by the size it usually has, so that all weights move
    at about the same speed. For each weight $\theta$ with the gradient $g$ it keeps a
    running mean $s$ of the squares:

    $$s \leftarrow \alpha s + (1 - \alpha) g^2, \qquad
    \theta \leftarrow \theta - \eta \frac{g}{\sqrt{s + \epsilon}}$$

    !!! warning "Two optimisers, one name"
        PyTorch's RMSProp begins with $s = 0$ and has its $\epsilon$ outside the root.
        That of TensorFlow 1, with which A2C's settings were found, begins with $s = 1$
        and has it inside. With $\alpha = 0.99$ it takes nearly two thousand updates for
        $s$ to come down to $10^{-8}$. So its first steps are small, and PyTorch's are
        large. With the settings of one in the other, A2C can be unstable. The one here
        is TensorFlow's.

    !!! warning "A large epsilon"
        Inside the root, $\epsilon$ is added to the *squares* of gradients, and these
        are small. The loss is a mean over 80 steps, and its gradient, with a length of
        0.05 to 0.33 in the first half million frames of Breakout, is spread over 1.7
        million weights: that makes squares of $10^{-9}$ to $6 \cdot 10^{-8}$ on
        average. Baselines has $\epsilon = 10^{-5}$, a hundred to ten thousand times as
        much. Once $s$ has come down, the root is nearly the same for most weights, and
        what is left is plain gradient descent in small steps. In PyTorch's RMSProp, an
        $\epsilon$ of $10^{-5}$ is outside the root, which is like $10^{-10}$ inside. So
        this book has $10^{-10}$. It had $10^{-5}$ at first, and in Breakout its A2C
        [got nowhere for ten million frames](experiment.py#what-it-has-learned).
        ([DQN](../dqn/rmsprop.py) has the same trap.)

    Args:
        parameters: what is to be learned.
        lr: $\eta$, the learning rate.
        decay: $\alpha$, of the mean of the squares.
        epsilon: $\epsilon$, inside the root.
    """

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        lr: float,
        *,
        decay: float = 0.99,
        epsilon: float = 1e-10,
    ) -> None:
        super().__init__(parameters, {"lr": lr, "decay": decay, "epsilon": epsilon})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """
        Move the parameters by their gradients.

        Args:
            closure: not used. It is here because all optimisers take one.
        """
        for group in self.param_groups:
            learned = [each for each in group["params"] if each.grad is not None]
            if not learned:
                continue
            for each in learned:
                if not self.state[each]:
                    self.state[each]["squares"] = torch.ones_like(each)

            # All parameters at once: a call for each would take longer than the
            # arithmetic.
            # $$s \leftarrow \alpha s + (1 - \alpha) g^2$$
            squares = [self.state[each]["squares"] for each in learned]
            gradients = [each.grad for each in learned]
            torch._foreach_mul_(squares, group["decay"])
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - group["decay"])

            # $$\theta \leftarrow \theta - \eta \frac{g}{\sqrt{s + \epsilon}}$$
            roots = torch._foreach_add(squares, group["epsilon"])
            torch._foreach_sqrt_(roots)
            torch._foreach_addcdiv_(learned, gradients, roots, -group["lr"])


def check_shapes(**tensors: Tensor) -> None:
    """
    ## Checks

    Different shapes would be broadcast, and the loss would be a number all the same.

    Raises:
        ValueError: if the shapes differ.
    """
    if len({tensor.shape for tensor in tensors.values()}) > 1:
        found = ", ".join(f"{name} {tuple(t.shape)}" for name, t in tensors.items())
        raise ValueError(f"these must have the same shape: {found}")


def check_constant(**tensors: Tensor) -> None:
    """
    What was seen is given, and is not to be learned: no gradient may go into it.

    Raises:
        ValueError: if one of them has a gradient.
    """
    for name, tensor in tensors.items():
        if tensor.requires_grad:
            raise ValueError(
                f"{name} must be numbers that were seen, and have a gradient: "
                "detach() them"
            )


# ## Questions
#
# 1. The two actions of a policy have the probabilities 0.9 and 0.1. Whichever is drawn,
#    its advantage is 1. How far does that push its own logit up? What does that do on
#    average?
# 2. All advantages of a batch are 0. Does the policy change?
# 3. Yesterday `policy_loss` was $-0.02$, and today it is 0.01. Is the agent worse?
# 4. All rewards are doubled. How do the three parts of the loss change?
#
# ??? tip "Answers"
#     1. By 0.1 and by 0.9, 1 minus the probability. The rare one is pushed nine times
#        as hard, and drawn a ninth as often. So on average neither gets likelier, as it
#        should be where both are equally good.
#     2. Its own loss has no gradient then. But the entropy bonus has one: it makes the
#        probabilities more alike. And a body that it shares with the critic changes
#        with that.
#     3. Nobody can tell from that. The value of this loss means nothing.
#     4. Once the critic has learned the new returns, advantages are twice as large and
#        so is the loss of the actor. That of the critic is four times as large. The
#        entropy stays the same, and so counts for less.
