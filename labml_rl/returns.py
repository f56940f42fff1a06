r"""
---
title: Returns and advantages
summary: >-
  What an action was worth: discounted returns, n-step returns and GAE, over the ends of
  episodes.
symbols:
  rewards: 'r_t'
  discount: '\gamma'
  gae_lambda: '\lambda'
  values: 'V(o_t)'
  following: 'F_t'
  returns: 'G_t'
  errors: '\delta_t'
  advantages: '\hat{A}_t'
---

# Returns and advantages

An action is rarely paid at once. In Breakout the agent acts another fifteen times
between the swing of the paddle and the breaking of a brick. To learn whether the swing
was good, it needs one number for *everything that followed*. The problem of finding out
which action earned which reward is called **credit assignment**.

This page computes three such numbers, each of which mends a fault of the one before:
[discounted returns][discounted_returns], [n-step returns][n_step_returns], and
[GAE][gae] (*generalized advantage estimation*), which PPO uses. The functions here take
tensors, and know nothing of games or networks:

```python
import torch

from labml_rl.returns import Rollout, gae

ends = torch.tensor([[False], [False], [True]])
rollout = Rollout(  # T = 3 steps of N = 1 game
    rewards=torch.tensor([[0.0], [0.0], [1.0]]),
    # One more, for what comes last.
    values=torch.tensor([[0.5], [0.6], [0.8], [0.0]]),
    terminated=ends,
    truncated=torch.zeros_like(ends),
)
gae(rollout, discount=0.9, gae_lambda=0.5)  # (T, N)
```

What comes out, 0.1345, 0.21 and 0.2, is [worked out below][gae].

## Pieces of play

The agent plays $N$ games at once, $T$ steps in each, and then learns from what it saw.
That is a **rollout**. Its arrays have a row for each step and a column for each game.

A rollout need not be as long as an episode. A long episode goes on in the next rollout,
and of short ones there are several in a column, one after the other. So a rollout
begins and stops in the middle of play, and something has to guess how its last episodes
will go on. That is the job of a network which has learned what return to expect after
an observation $o_t$. That return is the **value** $V(o_t)$, and $V$ is called the
**value function**. Putting a value in place of rewards that have not been seen yet is
called **bootstrapping**.

Here are six steps of one game. An episode ends with step 2:

```text
observation   o0   o1   o2   o3   o4   o5   o6
step             0    1    2    3    4    5
reward          r0   r1   r2   r3   r4   r5
                             |              |
              the episode ends              |
                              the rollout stops
```

Six steps have seven observations. The agent has not acted on `o6` yet, and the value of
`o6` stands for all that is still to come. And `o3` is the first of a *new* episode: it
has nothing to do with what step 2 led to.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class Rollout:
    r"""
    ## The rollout

    Each entry is given by name, since the [two kinds of ends][Rollout.following] are
    easily swapped.

    Args:
        rewards: $r_t$, shape `(T, N)`, float32 or float64. [The games](batch.py) pay
            float64, and networks answer in float32: convert one of the two.
        values: $V(o_t)$, shape `(T + 1, N)`, of the type of the rewards.
        terminated: whether the episode ended with step $t$, shape `(T, N)`, bool.
        truncated: whether it was cut off after step $t$, the same.
        final_values: the values of the final observations where it was cut off, shape
            `(T, N)`, of the type of the rewards. May be left out if it never was.

    Raises:
        ValueError: if the shapes do not fit together, or if final values are missing.
        TypeError: if an array has a type other than those given here.
    """

    rewards: Tensor
    values: Tensor
    terminated: Tensor
    truncated: Tensor
    final_values: Tensor | None = None

    def __post_init__(self) -> None:
        for name, each in vars(self).items():
            left_out = name == "final_values" and each is None
            if not isinstance(each, Tensor) and not left_out:
                raise TypeError(
                    f"{name} must be a tensor, not {type(each).__name__}: of an array "
                    "of NumPy, torch.from_numpy makes one"
                )
        shape, dtype = self.rewards.shape, self.rewards.dtype
        if len(shape) != 2 or shape[0] == 0:
            raise ValueError(
                f"rewards must have shape (T, N) with T > 0, not {tuple(shape)}"
            )

        # A network that computes in bfloat16, to be fast, gives values of not quite
        # three digits. A sum over a hundred steps needs more.
        if dtype not in (torch.float32, torch.float64):
            raise TypeError(f"rewards must be float32 or float64, not {dtype}")
        _check("values", self.values, (shape[0] + 1, shape[1]), dtype)
        _check("terminated", self.terminated, shape, torch.bool)
        _check("truncated", self.truncated, shape, torch.bool)
        if self.final_values is not None:
            _check("final_values", self.final_values, shape, dtype)
        elif (self.truncated & ~self.terminated).any():
            raise ValueError("final_values are missing, and episodes were truncated")

    @property
    def ends(self) -> Tensor:
        """Whether the episode was over after step $t$, shape `(T, N)`."""
        return self.terminated | self.truncated

    @property
    @torch.no_grad()
    def following(self) -> Tensor:
        r"""
        ### What follows a step

        An episode ends in one of two ways. With **termination**, nothing follows: the
        game is lost. With **truncation**, we only stopped watching, at a time limit for
        instance, and there would have been more. So what follows step $t$ is worth

        $$F_t = \begin{cases}
        0 & \text{if it was terminated} \\
        V(\bar{o}_t) & \text{if it was truncated} \\
        V(o_{t+1}) & \text{if the episode goes on}
        \end{cases}$$

        (If a step is said to be both, termination counts.) Here $\bar{o}_t$ is the
        final observation, which the agent never acted on. [The games](batch.py) have it
        in the `infos` of the step, in an array with a row for each game. With a
        function `value_of` that asks the critic, and `T` steps of `N` games:

        ```python
        final_values = torch.full((T, N), torch.nan)
        ...  # and in step t:
        if truncated.any():
            last = infos["final_obs"][truncated]
            last = np.stack(last)
            values = value_of(torch.from_numpy(last))
            final_values[t, truncated] = values
        ```

        All other entries are ignored. NaN is a good filler for them, since it shows if
        a mistake ever reads one. (Some simulators of many robots keep no final
        observation. Then the one before it is the nearest there is: `values[:-1]` for
        `final_values`, as in `rsl_rl`.)

        !!! warning "A time limit is not the end"
            Many programs have one array `done` for both, and let nothing follow.
            CleanRL does so in its PPO, and `labml_nn` in its GAE. Their agents learn
            that the best position is worth nothing when the time is up, and nothing on
            the screen tells the time. [Pardo et al.
            (2018)](https://arxiv.org/abs/1712.00378) show that this makes agents worse.
            But where the limit is part of the task, such as scoring as much as possible
            in a minute, it *is* an end. Then, they say, the agent must be shown how
            much time is left.

        !!! warning "The next observation is from another episode"
            With $V(o_{t+1})$ for a truncated step, the agent is paid for the beginning
            of an episode that it has yet to play. And all of this holds only for games
            that begin the next episode in the same step, as those of this book do.
            Others spend an extra step on that ([with
            `NEXT_STEP`][labml_rl.runner.Runner._step]), and it would be taken for
            experience. Gymnasium's own batches have that step, unless they are made
            with `autoreset_mode=SAME_STEP`.

        Returns:
            $F_t$, shape `(T, N)`.
        """
        values = self.values[1:]  # (T, N)
        if self.final_values is not None:
            values = torch.where(self.truncated, self.final_values, values)
        return torch.where(self.terminated, 0.0, values)


@torch.no_grad()
def discounted_returns(rollout: Rollout, *, discount: float) -> Tensor:
    r"""
    ## Discounted returns

    The return $G_t$ adds up all rewards from step $t$ on, each worth $\gamma$ times as
    much as if it had come a step earlier. This $\gamma$ is the **discount factor**:

    $$G_t = r_t + \gamma r_{t+1} + \gamma^2 r_{t+2} + \dots$$

    [The first page](__init__.py) says why. With $\gamma = 0.99$, a reward that comes a
    hundred steps later, which is seven seconds, counts for $0.99^{100} = 0.37$. (Some
    call the first $1 / (1 - \gamma)$ steps, here a hundred, the *horizon*.)

    Take $\gamma$ out of all terms but the first, and what is left in the brackets is
    the return of the next step. So one walk back through the rollout is enough:

    $$G_t = r_t + \gamma \begin{cases}
    G_{t+1} & \text{if the episode goes on} \\
    F_t & \text{otherwise}
    \end{cases}$$

    Otherwise means that the episode ends with this step, or that the rollout stops. If
    the episode terminates within the rollout, its returns are made of rewards alone,
    and are also called **Monte Carlo** returns.

    !!! warning "A target is a number"
        The network learns to bring $V(o_t)$ closer to $G_t$, and has its own part in
        $G_t$. If a gradient went through that, it could also do the reverse: change
        what it expects of the future until that agrees with what it expected before. So
        no function of this page lets one through.

    Args:
        rollout: what was seen.
        discount: $\gamma$, from 0 to 1.

    Returns:
        $G_t$, shape `(T, N)`.

    Raises:
        ValueError: if the discount is out of bounds.
    """
    check_fraction("discount", discount)
    rewards, ends, following = rollout.rewards, rollout.ends, rollout.following
    returns = torch.empty_like(rewards)  # (T, N)
    later = following[-1]  # (N,)
    for t in reversed(range(len(rewards))):
        later = rewards[t] + discount * torch.where(ends[t], following[t], later)
        returns[t] = later
    return returns


@torch.no_grad()
def n_step_returns(rollout: Rollout, *, discount: float, n: int) -> Tensor:
    r"""
    ## n-step returns

    Play on from one position twice, and the two returns can be far apart. A hundred
    rewards are in them, and chance had a hand in each: the game's, and the agent's own.
    That is **variance**, and it takes many games to average it out.

    The value of the next observation has little of it. Which one comes may be chance,
    but for the same one the network always gives the same answer. That answer may be
    wrong, though, and when learning begins it always is. This is **bias**, and no
    number of games averages it out.

    The **n-step return** has a part of both. It counts $n$ rewards that were seen, and
    for the rest it trusts the network:

    $$\begin{aligned}
    G_t^{(n)} = {} & r_t + \gamma r_{t+1} + \dots + \gamma^{n-1} r_{t+n-1} \\
    & {} + \gamma^n V(o_{t+n})
    \end{aligned}$$

    ![One reward and a value](../assets/figures/n-step-1.svg "n = 1")
    ![Two rewards and a value](../assets/figures/n-step-2.svg "n = 2")
    ![Three rewards and a value](../assets/figures/n-step-3.svg "n = 3")
    ![Five rewards and a value](../assets/figures/n-step-5.svg "n = 5")
    ![Eight rewards and a value](../assets/figures/n-step-8.svg "n = 8")
    ![Twelve rewards and a small value](../assets/figures/n-step-12.svg "n = 12")

    *How much each reward counts in a return, and how much the value after the last of
    them counts, with $\gamma = 0.9$. The later the value comes, the less a mistake in
    it matters.*

    In numbers, with $\gamma = 0.9$: three steps pay 0, 0 and 1, the third ends the
    episode, and the network's value is 0.6 for the second observation and 0.8 for the
    third. Then $G_0^{(1)} = 0.9 \cdot 0.6 = 0.54$, $G_0^{(2)} = 0.9^2 \cdot 0.8 =
    0.648$, and $G_0^{(3)} = 0.9^2 \cdot 1 = 0.81$, which is what really came.

    Where the episode ends sooner, or the rollout stops, the return counts as many
    rewards as there are, and $F$ stands for the rest.

    Args:
        rollout: what was seen.
        discount: $\gamma$, from 0 to 1.
        n: how many rewards, at least 1. With $T$ or more, it is the [discounted
            return][discounted_returns].

    Returns:
        $G_t^{(n)}$, shape `(T, N)`.

    Raises:
        ValueError: if a number is out of bounds.
    """
    check_fraction("discount", discount)
    if n < 1:
        raise ValueError(f"n must be at least 1, not {n}")
    rewards, following = rollout.rewards, rollout.following  # (T, N)

    # One reward, for all steps at once:
    # $$G_t^{(1)} = r_t + \gamma F_t$$
    returns = rewards + discount * following  # (T, N)

    # Each pass adds one reward. A sum of $n$ is this step's reward and, discounted, the
    # next step's sum of $n - 1$. The last row has no next step, and stays as it is.
    # $$G_t^{(n)} = r_t + \gamma \begin{cases}
    # G_{t+1}^{(n-1)} & \text{if the episode goes on} \\
    # F_t & \text{if it ends}
    # \end{cases}$$
    ends = rollout.ends[:-1]  # (T - 1, N)
    for _ in range(min(n, len(rewards)) - 1):
        later = torch.where(ends, following[:-1], returns[1:])  # (T - 1, N)
        returns[:-1] = rewards[:-1] + discount * later
    return returns


@torch.no_grad()
def gae(rollout: Rollout, *, discount: float, gae_lambda: float) -> Tensor:
    r"""
    ## Generalised advantage estimation

    A return says how well things went. In a good position they go well whatever you do.
    To judge the *action*, compare with what was expected before it. The difference is
    its **advantage**, and there is one for each $n$:

    $$\hat{A}_t^{(n)} = G_t^{(n)} - V(o_t)$$

    Which $n$ is best? [Schulman et al. (2016)](https://arxiv.org/abs/1506.02438) take
    them all. In their mixture each has $\lambda$ times the weight of the one before,
    with $\lambda$ between 0 and 1. Since
    $1 + \lambda + \lambda^2 + \dots = 1 / (1 - \lambda)$, a factor $1 - \lambda$ makes
    the weights add up to 1:

    $$\hat{A}_t = (1 - \lambda) \left( \hat{A}_t^{(1)} + \lambda \hat{A}_t^{(2)} +
    \lambda^2 \hat{A}_t^{(3)} + \dots \right)$$

    ### One sum instead of many

    The parts of this mixture need not be computed. Look at the **error** of a single
    step: how much better it went than expected (others call it the *temporal-difference
    error*):

    $$\delta_t = r_t + \gamma F_t - V(o_t)$$

    This is $\hat{A}_t^{(1)}$. While the episode goes on, $F_t$ is $V(o_{t+1})$. So in
    the sum $\delta_t + \gamma \delta_{t+1}$ the first error adds
    $\gamma V(o_{t+1})$, the second takes it away again, and what is left is
    $\hat{A}_t^{(2)}$. Each further error does the same with the next value:

    $$\hat{A}_t^{(n)} = \delta_t + \gamma \delta_{t+1} + \dots +
    \gamma^{n-1} \delta_{t+n-1}$$

    So $\gamma^k \delta_{t+k}$ is in every part of the mixture from $n = k + 1$ on. The
    weights of these parts, $(1 - \lambda)(\lambda^k + \lambda^{k+1} + \dots)$, add up
    to $\lambda^k$. The whole mixture is one sum, discounted by $\gamma\lambda$:

    $$\hat{A}_t = \delta_t + \gamma\lambda \delta_{t+1} +
    (\gamma\lambda)^2 \delta_{t+2} + \dots$$

    ![One step has an advantage, and no other](../assets/figures/gae-0.svg "λ = 0")
    ![A few steps before it have one](../assets/figures/gae-0.5.svg "λ = 0.5")
    ![The first step has hardly any](../assets/figures/gae-0.8.svg "λ = 0.8")
    ![The first step has a fifth](../assets/figures/gae-0.9.svg "λ = 0.9")
    ![The first step has two fifths](../assets/figures/gae-0.95.svg "λ = 0.95")
    ![All steps have nearly as much](../assets/figures/gae-1.svg "λ = 1")

    *A single step went better than expected, by 1. With $\lambda = 0$ only its own
    action is praised. The larger $\lambda$ is, the more of the praise goes to the steps
    before it, but never to those of another episode. ($\gamma = 0.99$.)*

    Where the episode ends or the rollout stops, the sum stops too. Say that $r_t$ and
    $r_{t+1}$ are the last rewards that are known. Then $\hat{A}_t^{(3)}$,
    $\hat{A}_t^{(4)}$ and so on can count only these two, and are all equal to
    $\hat{A}_t^{(2)}$. So it gets their weights, too, and the sum over errors just ends
    there.

    ### An example

    Three steps; the third ends the episode. With $\gamma = 0.9$ and $\lambda = 0.5$,
    an error counts $\gamma\lambda = 0.45$ times as much one step earlier:

    | step $t$ | 0 | 1 | 2 |
    |---|---|---|---|
    | reward $r_t$ | 0 | 0 | 1 |
    | value $V(o_t)$ | 0.5 | 0.6 | 0.8 |
    | what follows, $F_t$ | 0.6 | 0.8 | 0 |
    | error $\delta_t$ | 0.04 | 0.12 | 0.2 |
    | advantage $\hat{A}_t$ | 0.1345 | 0.21 | 0.2 |
    | with $\lambda = 0$ | 0.04 | 0.12 | 0.2 |
    | with $\lambda = 1$ | 0.31 | 0.3 | 0.2 |

    Read the last three rows from right to left, as they are computed: 0.21 is
    $0.12 + 0.45 \cdot 0.2$. Had step 2 been *truncated*, with a final observation that
    is worth 0.9, then $F_2$ would be 0.9, and the advantages 0.2985, 0.5745 and 1.01.

    The mixture of all $n$ gives the same. For step 1, $\hat{A}_1^{(1)}$ is 0.12, and
    $\hat{A}_1^{(2)}$ is $0.12 + 0.9 \cdot 0.2 = 0.3$. Then the episode is over. So the
    first counts $1 - \lambda = 0.5$, and the second all that is left, 0.5:
    $0.5 \cdot 0.12 + 0.5 \cdot 0.3 = 0.21$.

    ### What to choose

    | a $\lambda$ of | the advantage is | it has |
    |---|---|---|
    | 0 | $r_t + \gamma F_t - V(o_t)$ | least variance, most bias |
    | 0.95, as most take for Atari | the mixture | some of both |
    | 1 | $G_t - V(o_t)$ | most variance, least bias |

    Both $\gamma$ and $\lambda$ make what is far off count for less, but they are not
    alike. If all values were right, every $\lambda$ would be right on average: the
    errors of later steps would then have a mean of 0. So $\lambda$ is there because
    values are wrong. A smaller $\gamma$ asks for something else, however right they
    are: to be paid soon.

    The target for $V(o_t)$ is the same mixture of returns, called the **λ-return**
    (that of *TD(λ)*): what was expected plus what came on top, $V(o_t) + \hat{A}_t$.
    (TD(λ) itself waits for no rollout: it passes each new error back along *eligibility
    traces*, which every step multiplies by $\gamma\lambda$.)

    !!! warning "Whose end is it?"
        Here `terminated[t]` is what step $t$ returned. CleanRL and Stable-Baselines3
        store whether an episode *begins* with step $t$, and their arrays are one row
        later. Put in here, they would end every sum a step too late. With the names of
        CleanRL, `torch.cat([dones[1:], next_done[None]]).bool()` is what belongs here,
        and `torch.cat([values, next_value])` are the values.

    Args:
        rollout: what was seen.
        discount: $\gamma$, from 0 to 1.
        gae_lambda: $\lambda$, from 0 to 1.

    Returns:
        $\hat{A}_t$, shape `(T, N)`. Add `values[:-1]` for the targets of the values.

    Raises:
        ValueError: if a number is out of bounds.
    """
    check_fraction("discount", discount)
    check_fraction("gae_lambda", gae_lambda)
    rewards, values, ends = rollout.rewards, rollout.values, rollout.ends

    # $$\delta_t = r_t + \gamma F_t - V(o_t)$$
    errors = rewards + discount * rollout.following - values[:-1]  # (T, N)

    # $$\hat{A}_t = \delta_t + \gamma\lambda \begin{cases}
    # \hat{A}_{t+1} & \text{if the episode goes on} \\
    # 0 & \text{otherwise}
    # \end{cases}$$
    advantages = torch.empty_like(errors)  # (T, N)
    later = torch.zeros_like(errors[-1])  # (N,)
    for t in reversed(range(len(rewards))):
        later = errors[t] + discount * gae_lambda * torch.where(ends[t], 0.0, later)
        advantages[t] = later
    return advantages


def check_fraction(name: str, number: float) -> None:
    """
    ## Checks

    A discount of 99 instead of 0.99 gives large numbers, and no error.

    Raises:
        ValueError: if a number is not between 0 and 1.
    """
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be between 0 and 1, not {number}")


def _check(
    name: str, tensor: Tensor, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    # Broadcasting would turn a wrong shape into a wrong number, and say nothing.
    if tensor.shape != shape:
        raise ValueError(
            f"with these rewards {name} must have shape {tuple(shape)}, "
            f"not {tuple(tensor.shape)}"
        )
    if tensor.dtype != dtype:
        raise TypeError(
            f"with these rewards {name} must be {dtype}, not {tensor.dtype}"
        )


# ## Questions
#
# 1. Three steps pay 1, 0 and 2, and the third ends the game. With $\gamma = 0.5$, what
#    are their returns?
# 2. Now a time limit has cut the game off after the third step, and the network says
#    that the final observation is worth 4. What are the returns?
# 3. With $\gamma = 0.99$, after how many steps does a reward count for half? How long
#    is that, with 15 steps a second?
# 4. Only one step has an error, 0.4, and $\gamma\lambda = 0.5$. What is the advantage
#    two steps earlier, and what is it one step later?
#
# ??? tip "Answers"
#     1. 1.5, 1 and 2. Go backwards: 2, then $0 + 0.5 \cdot 2$, then $1 + 0.5 \cdot 1$.
#     2. 2, 2 and 4. The last is $2 + 0.5 \cdot 4$ now.
#     3. After 69, which are 4.6 seconds.
#     4. 0.1, and 0. Praise goes to what came before, and never to what came after.
