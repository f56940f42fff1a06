r"""
---
title: A step, recorded
summary: >-
  What a GPU does in one step, recorded once as a CUDA graph and replayed, instead of a
  hundred orders from Python.
---

# A step, recorded

A GPU waits for orders. Each operation of PyTorch is an order or two: *multiply these*,
*add those*, *set what is below zero to zero*. Python puts each on a list, which takes
some ten microseconds. The GPU works down the list.

For one step of the optimiser there are about two hundred orders: the network, the loss,
the way back, Adam. With 256 observations, the GPU is done with most of these orders in
two or three microseconds. So it mostly waits for Python. A faster GPU would wait
longer.

But the orders are the same in each step. So let the driver take them down once, and
from then on say only: *the same again*. Such a record is called a **CUDA graph**:

```text
asked      Python  a...b...c...d...e...f...
           GPU      a   b   c   d   e   f

recorded   Python  again.
           GPU        abcdef
```

With the setting `graphs`, each step in which PPO or [PQN](pqn/experiment.py) learns is
such a record, and so is each in which the network is asked what to do:

```bash
labml-rl train ppo --num-envs 128 --steps 32 \
  --minibatches 8 --halves --graphs
```

With eight games, the default, that makes PPO [one and a half times as
fast](../benchmarks/gpu.md). It changes nothing: on a processor, with a stand-in for the
driver, an agent that is recorded plays and learns the same in the tests, bit for bit.
(Only its learning rate, as a tensor, has 32 bits in place of 64.) On a GPU, whose last
digits are never the same twice, it learns the same to a few digits.

!!! warning "What was not taken down is not done"
    Only orders to the GPU are on the record. What Python did meanwhile, it did once: a
    number that it computed is in the record as it was, and a counter that it counted up
    stays as it is. So whatever changes from step to step must be in a tensor, and must
    be changed in place, as the weights are, and the learning rate: [Adam has it as a
    tensor][labml_rl.speed.make_adam] then. If an experiment of your own computes
    something in its `losses` from a number that changes, don't set `graphs`.

    What Python has to *wait* for can't be on the record at all: `item()`, or an `if`
    that asks for a number of the GPU. PyTorch refuses to record that. It also refuses
    if a loss from before has been kept, or anything else that was computed from the
    weights with a gradient.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

Given = TypeVar("Given")
Answer = TypeVar("Answer")

# How often it is asked before it is recorded. The libraries below PyTorch look around
# in the first calls: they ask for memory, and try which of their programs is fastest.
WARM_UP = 3


class Recorded:
    """
    ## A function, recorded

    Each call of it is one call of the function, including the first ones. So the
    function can be a step of the optimiser, which must not be done twice.

    Args:
        device: the GPU.
        network: whose weights it works with. They must stay where they are.
    """

    def __init__(self, device: torch.device, network: Any) -> None:
        self.device, self.network = device, network
        self.calls = 0
        self.graph: torch.cuda.CUDAGraph | None = None

        # A record belongs to no place on the usual list of orders, so it is taken down
        # on a list of its own, a *stream*.
        self.stream = torch.cuda.Stream(device)

    def __call__(self, function: Callable[[Given], Answer], given: Given) -> Answer:
        """
        ### Do it, or do it again

        Args:
            function: does something on the GPU with the tensors that it is given, and
                doesn't wait for it. What it returns may be anything, with tensors in
                it. The function must be the same each time.
            given: a dataclass of tensors, with the same shapes each time.

        Returns:
            What the function returns. Its tensors are the same memory each time, and
            the next call writes over them.

        Raises:
            ValueError: if something has a different shape or type than when it was
                recorded, or if weights or buffers of the network were replaced.
            RuntimeError: if something in the function can't be recorded.
        """
        self.calls += 1
        usual = torch.cuda.current_stream(self.device)
        if self.calls <= WARM_UP:
            self.stream.wait_stream(usual)
            with torch.cuda.stream(self.stream), fresh_casts():
                answer = function(given)
            usual.wait_stream(self.stream)
            return answer
        if self.graph is None:
            # If PyTorch refuses to record, it stays on the stream of the record. The
            # `with` leads back to the usual one.
            with torch.cuda.stream(usual):
                self.record(function, given)
        else:
            self.put(given)
        assert self.graph is not None
        self.graph.replay()
        return self.answer

    def record(self, function: Callable[[Any], Any], given: Any) -> None:
        """
        ### Record

        A record knows its tensors by their addresses, and not by what is in them. So it
        gets its own places for what it is given, and [whatever comes later is put
        there][Recorded.put]. While it is recorded, nothing is done.

        Args:
            function: as in a call.
            given: the same.
        """
        kept = {name: each.clone() for name, each in vars(given).items()}
        self.given = replace(given, **kept)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, stream=self.stream), fresh_casts():
                self.answer: Any = function(self.given)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            error.add_note(
                "This happened while a step was recorded for the GPU, with the setting "
                "graphs. What waits for the GPU, such as item(), can't be recorded, "
                "nor can a step while a loss from before is kept, or anything else "
                "with a gradient: --no-graphs goes without"
            )
            raise
        self.graph, self.places = graph, addresses(self.network)

    def put(self, given: Any) -> None:
        """
        Args:
            given: what is to take the place of what it was recorded with.

        Raises:
            ValueError: if it has another shape or type, which copying would make fit,
                or if the network is somewhere else.
        """
        check_addresses(self.network, self.places, "a step was recorded")
        for name, place in vars(self.given).items():
            each = vars(given)[name]
            if each.shape != place.shape or each.dtype != place.dtype:
                raise ValueError(
                    f"{name} was recorded with shape {tuple(place.shape)} and "
                    f"{place.dtype}, and now has {tuple(each.shape)} and {each.dtype}"
                )
            place.copy_(each)


def addresses(network: Any) -> list[int]:
    """
    Args:
        network: or any function, of which nothing is known.

    Returns:
        Where its weights and buffers are in memory.
    """
    if not isinstance(network, nn.Module):
        return []
    return [each.data_ptr() for each in held_by(network)]


def held_by(network: nn.Module) -> list[Tensor]:
    """
    Returns:
        All that a network has learned or keeps, in order: its weights and buffers.
    """
    return [*network.parameters(), *network.buffers()]


@torch.no_grad()
def take_over(network: nn.Module, numbers: Sequence[Tensor]) -> None:
    """
    Args:
        network: whose numbers are to be others. They stay where they are in memory.
        numbers: what they are to be, as [another one like it holds][held_by] them.
    """
    for own, number in zip(held_by(network), numbers, strict=True):
        own.copy_(number)


def check_addresses(network: Any, known: list[int], since: str) -> None:
    """
    Args:
        network: as above.
        known: where its numbers were.
        since: when that was, in words.

    Raises:
        ValueError: if some are somewhere else.
    """
    if addresses(network) != known:
        raise ValueError(
            f"weights or buffers of the network are somewhere else than when {since}: "
            "write new ones into the old ones, as load_state_dict and copy_ do"
        )


def asked(function: Callable[[Given], Answer], given: Given) -> Answer:
    """
    ## Without a record

    In place of a [record][Recorded], where there is none.

    Args:
        function: what to do.
        given: with what.

    Returns:
        What the function returns.
    """
    return function(given)


def check_rates(
    optimizer: torch.optim.Optimizer, constant: float | None = None
) -> None:
    """
    ## A rate that goes down

    Args:
        optimizer: whose step is to be recorded.
        constant: a rate that is never changed, if there is one.

    Raises:
        ValueError: if any other learning rate is a number. In the record it would stay
            as it was when the record was made.
    """
    rates = [each["lr"] for each in optimizer.param_groups]
    if not all(isinstance(rate, Tensor) or rate == constant for rate in rates):
        raise ValueError(
            "with graphs, a learning rate must be a tensor on the GPU, and be changed "
            "in place, with fill_(). Otherwise the recorded step goes on with the "
            f"first. In {type(optimizer).__name__} it is a number"
        )


def fresh_casts(kind: str = "cuda") -> torch.autocast:
    """
    ## Weights that have been converted

    [Autocast][labml_rl.speed.in_precision] remembers the weights that it has converted
    to 16 bits. In a record that would be a trap: it would go on with the converted
    weights of the step in which it was made, and not see that the agent learns. So in
    here nothing is remembered, and converting them is part of the record.

    Args:
        kind: of device.

    Returns:
        The present autocast, without its memory.
    """
    return torch.autocast(
        kind,
        torch.get_autocast_dtype(kind),
        enabled=torch.is_autocast_enabled(kind),
        cache_enabled=False,
    )


def copied(seen: dict[str, Tensor]) -> dict[str, Tensor]:
    """
    ## What was measured

    The next step writes its numbers over those of this one. These are asked for [once,
    after the last][labml_rl.speed.means_of], so until then they are kept in a copy.

    Args:
        seen: what a step has measured, by name, single numbers.

    Returns:
        The same, in memory of their own.
    """
    numbers = torch.stack([*seen.values()])
    return dict(zip(seen, numbers, strict=True))
