r"""
---
title: Faster on the same machine
summary: >-
  What makes learning several times as fast on one computer, each trick by itself: what
  it saves, what it changes, and how to switch it off.
---

# Faster on the same machine

Much of the work in this field is waiting. What takes a night can be tried once a day,
and what takes an hour, many times a day. Nothing on this page makes an agent learn from
fewer games. Its tricks only get more steps a second (*throughput*) out of the same
machine.

This is what an ordinary loop spends its time on, and what can be done about it. The
gain has been measured [for DQN](../benchmarks/values.md) and [for
PPO](../benchmarks/policies.md), and for PPO once more without each of the tricks that
can be switched off.

| spent on | what helps | see |
|---|---|---|
| fetching each frame | two of four are enough | [screens](screen.py) |
| waiting for games | several games a process, shared memory | [workers](worker.py) |
| waiting for the network | each process has its own | [players](players.py) |
| dividing pixels | dividing weights | [one layer][labml_rl.bodies.FirstConvolution] |
| sorting pixels | blocks of 4 × 4 | [blocks][labml_rl.bodies.as_blocks] |
| picking a batch | a picture at a time | [rows][labml_rl.ppo.experiment.Batch.rows] |
| multiplying | numbers of 16 bits | [16 bits][precision_of] |
| waking threads | one thread while playing | [few threads][few_threads] |
| many small updates | one for all weights | [fused Adam][make_adam] |
| asking for memory | keeping what you have | [keeping memory][keep_memory] |
| giving orders to a GPU | recording them | [a step, recorded](graphs.py) |
| learning, with a GPU | playing on meanwhile | [overlap](ppo/overlap.py) |

Of those that can be switched off, 16 bits gain the most on two processors, and *few
threads* come second. On [a third](../benchmarks/policies.md#other-processors), 16 bits
make PPO slower, and are off. There blocks gain the most (1.4 times as many steps a
second), then few threads (1.3 times) and players (1.2 times). Keeping memory gains
nothing for PPO on any of them, and about a tenth for DQN with many games. So measure on
yours.

## Several runs at once

A run plays and learns on all cores that it may use. Start two, and there are twice as
many threads and processes as cores, and they wait for each other. Threads that learn
are the worst. After each layer all of them wait for the last, which may have no core
just then. So give each run cores of its own. On Linux, a run counts only the cores that
it is given:

```sh
taskset -c 0-3 labml-rl train ppo --seed 1 &
taskset -c 4-7 labml-rl train ppo --seed 2 &
```

Where that can't be done, it matters *how* a thread waits. It does not go to sleep at
once, since waking it would take longer than most layers do. It looks to see whether the
others are done, and looks again, which is called **spinning**. On Linux, the library
behind PyTorch's threads lets it do so 300,000 times. That takes milliseconds, and all
the while it holds a core, perhaps the one that the awaited thread needs. On a crowded
machine, most of the time goes into it.

So `labml-rl` lets threads look only 4,000 times, which makes no difference to any
number that is learned. Its effect on speed [has been
measured](../benchmarks/policies.md#beside-other-programs). The number has to be set
before PyTorch is loaded. So set it yourself for a program of your own, and for
`python -m labml_rl.ppo`:

```sh
GOMP_SPINCOUNT=4000 python mine.py
```

(On some clusters `OMP_PROC_BIND`, `OMP_PLACES` or the like is set. With that, a program
that loads PyTorch stays on a single core, and its workers with it. `labml-rl` ignores
it. For a program of your own, `unset` it.)

Or let a run learn with a single thread, which has no other to wait for:

```sh
OMP_NUM_THREADS=1 labml-rl train ppo --seed 1
```

One run can't play on all cores of a large machine: a game is played by one process, and
PPO has eight games.

## With a GPU

A run uses a GPU if there is one, and the games stay on the processor. On [sixteen cores
with a large GPU](../benchmarks/gpu.md), PPO plays and learns nearly as fast as the
games alone can be played. So there, more cores make it faster, and a larger GPU does
not.

A GPU is done with eight observations before Python has asked about the next eight. It
should be asked seldom, and about a lot at once:

- **More games at once**, several for each core. The batch grows with them, and with a
  larger one the agent learns differently. There are fewer updates, too: with eight
  times the games, an eighth of them in the same number of frames. With fewer steps of
  each game the batch keeps its size, but then advantages look less far ahead, and trust
  the critic more.
- **By turns**: one half of the games is played while [the network
  answers][labml_rl.sampling.take_turns] for the other.
- **One order**: what it does in each step is [recorded once and replayed](graphs.py).
- **At the same time**: with `--overlap`, it learns from one rollout [while the next is
  played](ppo/overlap.py).
- **One program**: [network and losses][labml_rl.ppo.experiment.Experiment.losses] of
  PPO are compiled into one, which does the same in fewer operations.

```bash
labml-rl train ppo --num-envs 128 --steps 32 \
  --minibatches 8 --halves --graphs
```

All of that is for PPO. PQN has all but the last two, and so has A2C, where only the
playing is recorded, and not the learning. With IMPALA, [the actors](impala/actors.py)
play on the processor while the GPU learns. DQN learns on a GPU, too, and waits there
for each batch.
"""

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeVar

import gymnasium
import torch
from gymnasium.spaces import Box
from torch import Tensor, nn

from labml_rl.runs.experiment import Metrics, Score
from labml_rl.runs.games import GameExperiment, GameSettings

Precision = Literal["auto", "float32", "bfloat16"]


@dataclass(frozen=True, kw_only=True)
class SpeedSettings(GameSettings):
    """
    ## What can be switched off

    Args:
        precision: of the network's body: `float32`, `bfloat16`, or `auto` for bfloat16
            where the machine computes with it.
        blocks: keep observations in blocks of 4 × 4 pixels, where they can be cut.
        few_threads: use one thread while playing, and all while learning from pictures.
            From vectors, one thread learns, too.
        keep_memory: don't give back memory that will be needed again at once.
    """

    precision: Precision = "auto"
    blocks: bool = True
    few_threads: bool = True
    keep_memory: bool = True

    def decided(self) -> Self:
        """
        ### What `auto` is

        Returns:
            The same [with all decided][labml_rl.runs.experiment.Settings.decided] that
            depends on the machine.
        """
        here = super().decided()
        dtype = precision_of(here, torch.device(here.device))
        in_16_bits = dtype == torch.bfloat16
        return replace(here, precision="bfloat16" if in_16_bits else "float32")


def precision_of(settings: SpeedSettings, device: torch.device) -> torch.dtype:
    """
    ## 16 bits

    A float32 has 24 bits for its digits and 8 for its size. A bfloat16 keeps those 8,
    so that nothing overflows that did not before, and has only 8 bits for its digits:
    not quite three decimal digits. Processors with units for it (AMX or AVX-512 BF16,
    most GPUs since 2020) can multiply several times as many of these in the same time,
    and move twice as many through memory.

    Is it enough? Each product is rounded, and there are thousands in each sum, whose
    errors average out. The sums themselves are kept in 32 bits, and so are the weights,
    their updates, and [the heads][labml_rl.networks.ActorCritic.forward]. (All this is
    *mixed precision*.) PPO has learned a small game from its pixels both ways, [over
    several seeds](../benchmarks/tricks.md):

    ![Balls caught over the frames: thin lines in three colours that go up together, and
    three thick ones for their means](../assets/figures/speed-tricks.svg)

    *Balls caught by PPO with 16 bits, blocks and few threads, with 32 bits in place of
    16, and without any of the three. A thin line is one run, and a thick one the mean
    of five.*

    !!! warning "Where it is slow"
        PyTorch computes with bfloat16 on any processor. Without units for it, that is a
        matter of converting there and back, and slower than float32.

        Units are not enough, either. On an Intel processor that has AVX-512 BF16 and no
        AMX, PyTorch multiplies even large matrices more slowly with bfloat16, and [so
        PPO is slower, too](../benchmarks/policies.md#other-processors). On one of
        AMD's, with the same instructions, it is much faster. So `auto` asks for AMX, or
        for an AVX-512 BF16 that is not Intel's. `--precision bfloat16` tries it on
        yours.

    !!! note "32 bits that are 19"
        Many GPUs compute convolutions and LSTMs of float32 with 11 bits for the digits
        and 8 for the size, a format called TF32, and PyTorch lets them.
        `torch.backends.cudnn.allow_tf32 = False` forbids it.

    Args:
        settings: what is wanted.
        device: where the network is.

    Returns:
        The type in which the body computes.
    """
    if settings.precision != "auto":
        in_16_bits = settings.precision == "bfloat16"
    elif device.type == "cuda":
        with torch.cuda.device(device):
            in_16_bits = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        has = torch.cpu.get_capabilities()
        intel = str(has.get("cpu_name")).startswith("Intel")
        in_16_bits = bool(has.get("amx_bf16") or (has.get("avx512_bf16") and not intel))
    return torch.bfloat16 if in_16_bits else torch.float32


def in_precision(settings: SpeedSettings, device: torch.device) -> torch.autocast:
    """
    ### How it is done

    Inside this, PyTorch converts what goes into a layer, including its weights. It
    remembers the converted weights until the outermost `with` is left. So put one
    around a whole rollout, and 1.7 million weights are converted once. With one around
    each step, they would be converted 128 times.

    Args:
        settings: what is wanted.
        device: where the network is.

    Returns:
        What goes after `with`.
    """
    dtype = precision_of(settings, device)
    return torch.autocast(device.type, dtype, enabled=dtype != torch.float32)


@torch.no_grad()
def check_action_values(
    network: nn.Module,
    shown: Tensor,
    num_actions: int,
    settings: SpeedSettings,
    ask: Callable[[Any, Tensor], Any] = nn.Module.__call__,
) -> None:
    """
    ## Values that can be told apart

    A bfloat16 has not quite three digits. Rounded to that, several actions are often
    worth the same, and the agent takes the first of them, whichever is best. So a body
    may compute [with 16 bits][labml_rl.speed.precision_of], and a head may not.

    Args:
        network: of an agent that goes by action values.
        shown: observations of all games, shape `(N, …)`.
        num_actions: how many there are, $A$.
        settings: what is wanted.
        ask: what asks a network for its action values.

    Raises:
        ValueError: if the network does not answer with action values, shape `(N, A)`,
            of 32 bits or more.
    """
    # It is asked before the first frame, since DQN does not ask it for a long time. The
    # run must not notice that: a layer may throw dice, or count how often it was
    # called.
    cuda = [shown.device] if shown.device.type == "cuda" else []
    with torch.random.fork_rng(cuda), in_precision(settings, shown.device):
        answer = ask(deepcopy(network), shown)
    name, shape = type(network).__name__, (len(shown), num_actions)
    is_tensor = isinstance(answer, Tensor)
    found = tuple(answer.shape) if is_tensor else type(answer).__name__
    if found != shape:
        raise ValueError(
            f"{name} must answer {len(shown)} observations with the values of "
            f"{num_actions} actions each, a tensor of shape {shape}, not {found}"
        )
    if answer.dtype not in (torch.float32, torch.float64):
        remedy = "Its last layer should answer in torch.float32"
        if precision_of(settings, shown.device) != torch.float32:
            remedy = (
                "labml_rl.networks.in_full keeps its last layer out of that, and the "
                'setting precision="float32" all of it'
            )
        raise ValueError(
            f"{name} answers in {answer.dtype}, in which action values can't be told "
            f"apart. {remedy}"
        )


@contextmanager
def few_threads(settings: SpeedSettings, count: int = 1) -> Iterator[None]:
    """
    ## One thread while playing

    PyTorch cuts each operation into parts for all cores. A batch of 256 is worth that.
    With eight observations it gains little, and there is a hidden price: between two
    operations the other threads [spin](speed.py#several-runs-at-once), on the very
    cores on which the games should run.

    Args:
        settings: what is wanted.
        count: how many threads to use, if they are to be few.
    """
    threads = torch.get_num_threads()
    if settings.few_threads:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def preparer(
    network: nn.Module, settings: SpeedSettings
) -> Callable[[Tensor], Tensor] | None:
    """
    ## Pixels are sorted once

    Observations are sorted once, when they are written down, and not each time that the
    network looks at them.

    Args:
        network: of the agent.
        settings: what is wanted.

    Returns:
        What puts observations into the order that the network [likes
        best][labml_rl.bodies.NatureBody.prepared], if it likes one, and if that is
        wanted.
    """
    if not settings.blocks:
        return None
    return getattr(getattr(network, "body", None), "prepared", None)


def make_adam(
    parameters: Iterable[nn.Parameter],
    *,
    lr: float,
    eps: float,
    recorded: torch.device | None = None,
) -> torch.optim.Adam:
    """
    ## One update for all weights

    Adam does a dozen small things to each weight. PyTorch can do all of them for all
    weights in one pass through memory, which it calls *fused*. The numbers are the same
    but for the last digit.

    Args:
        parameters: what is to be learned.
        lr: the learning rate.
        eps: what keeps it from dividing by zero.
        recorded: the GPU, if its steps are to be [recorded](graphs.py) there. All that
            changes from step to step is then kept as a tensor on it.
    """
    is_recorded = recorded is not None
    rate = torch.tensor(lr, device=recorded) if is_recorded else lr
    return torch.optim.Adam(
        parameters, lr=rate, eps=eps, fused=True, capturable=is_recorded
    )


def numbers_of(
    seen: Mapping[str, Tensor | float], device: torch.device
) -> dict[str, Tensor]:
    """
    ## What is worth plotting

    A loss of your own may have more to say than that of the book. What it gives may be
    tensors or plain numbers, but a curve has one number for each update.

    Args:
        seen: what was measured in a batch, by name.
        device: where the network is.

    Returns:
        The same as tensors without a gradient, each a single number.

    Raises:
        ValueError: if something is more than a single number.
    """
    numbers = {
        name: (
            torch.full((), each, device=device)
            if isinstance(each, int | float)
            else torch.as_tensor(each, device=device).detach()
        )
        for name, each in seen.items()
    }
    for name, number in numbers.items():
        if number.ndim:
            raise ValueError(
                "what is worth plotting must be single numbers, and "
                f"{name} has shape {tuple(number.shape)}; give its mean"
            )
    return numbers


def means_of(learned: Sequence[dict[str, Tensor]]) -> dict[str, float]:
    """
    ## One message from the GPU

    A GPU works through a list of orders, and Python writes them far ahead of it, until
    it asks for a number. Then it has to wait for everything on the list before that. So
    what is measured in each batch is asked for once, after the last.

    Args:
        learned: what was measured in each batch, by name, single numbers. All have the
            same names.

    Returns:
        The means over all batches.
    """
    names = learned[0].keys()
    numbers = torch.stack([seen[name] for seen in learned for name in names])
    means = numbers.view(len(learned), -1).mean(0).tolist()
    return dict(zip(names, means, strict=True))


def keep_memory(settings: SpeedSettings) -> None:
    """
    ## Keeping memory

    The output of a layer for 256 observations takes a few megabytes. The C library asks
    the system for that much, and gives it back as soon as it is free. For the next
    batch it asks for the same again. New memory has to be all zeros, so the system
    clears it, page by page, 4 KB each, when the program first writes to it. With a
    batch of 256, that happens thousands of times. With these two numbers the C library
    keeps what it has.

    Without them it may learn to do so by itself, or not. The same program, started
    twice, had 6,000 pages of memory cleared for each update of PPO in one run, and
    52,000 in the other.

    It is done for the whole process, and only with glibc, the C library of most
    Linuxes.

    Args:
        settings: what is wanted.
    """
    if settings.keep_memory and sys.platform == "linux":
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):
            library.mallopt(M_MMAP_THRESHOLD, 32 << 20)
            library.mallopt(M_TRIM_THRESHOLD, 512 << 20)


# From glibc's `malloc.h`: blocks from this size on are asked for one by one, and this
# much may be free before some is given back.
M_MMAP_THRESHOLD, M_TRIM_THRESHOLD = -3, -1

S = TypeVar("S", bound=SpeedSettings)


class SpeedExperiment(GameExperiment[S]):
    """
    ## An experiment with all this

    What concerns the whole of an experiment is done here, for all algorithms.

    Where an observation is [a few numbers][labml_rl.bodies.VectorBody] and not a
    picture, a layer takes less time than it takes to wake a thread. If other programs
    need the cores as well, threads that wait for each other make it far slower still.
    So here one thread does everything, learning too.

    Args:
        settings: of the algorithm.
    """

    # That of one game. Whoever makes the games sets it.
    observation_space: gymnasium.Space[Any] | None = None

    def __init__(self, settings: S) -> None:
        super().__init__(settings)
        keep_memory(settings)

        # What `auto` is does not change, and asking again in each batch would cut [what
        # is compiled][labml_rl.ppo.experiment.Experiment.losses] into pieces.
        self.settings = self.settings.decided()

    def advance(self) -> tuple[Metrics, list[Score]]:
        """
        Returns:
            What any experiment [returns][labml_rl.runs.experiment.Experiment.advance].
        """
        space = self.observation_space
        vectors = isinstance(space, Box) and len(space.shape) == 1
        with few_threads(self.settings) if vectors else nullcontext():
            return super().advance()
