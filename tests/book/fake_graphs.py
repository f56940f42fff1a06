"""CUDA graphs without a GPU: what is recorded, and what is done when it is replayed.

While a graph is recorded, nothing is done: whatever was written to is put back. A
replay does the same operations once more, with the same memory. That is all that a
graph knows. Whatever asks for a number is refused, as a GPU refuses it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Self

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from labml_rl import graphs

ASKS = {torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default}


def tensors(value: Any) -> list[Tensor]:
    return [each for each in tree_leaves(value) if isinstance(each, Tensor)]


def written(order: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """What an operation writes to, of what it is given."""
    for place, wanted in enumerate(order._schema.arguments):
        if wanted.alias_info is not None and wanted.alias_info.is_write:
            found = arguments[place] if place < len(arguments) else None
            yield from tensors(named.get(wanted.name, found))


class Recorder(TorchDispatchMode):
    """It notes each operation, and what has to be put back in the end."""

    def __init__(self, graph: "FakeGraph") -> None:
        super().__init__()
        self.graph = graph
        self.before: dict[int, tuple[Tensor, Tensor]] = {}
        self.own: set[int] = set()

    def __torch_dispatch__(
        self, order: Any, _: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if order in ASKS:
            raise RuntimeError("operation not permitted when stream is capturing")
        kwargs = kwargs or {}
        for each in written(order, args, kwargs):
            address = each.untyped_storage().data_ptr()
            if address not in self.own:
                self.before.setdefault(address, (each, each.detach().clone()))
        # They have been converted already.
        with torch.autocast("cpu", enabled=False):
            answer = order(*args, **kwargs)
        given = {each.untyped_storage().data_ptr() for each in tensors((args, kwargs))}
        for each in tensors(answer):
            if each.untyped_storage().data_ptr() not in given:
                self.own.add(each.untyped_storage().data_ptr())
        self.graph.orders.append((order, args, kwargs, answer))
        return answer


class FakeGraph:
    """In place of `torch.cuda.CUDAGraph`."""

    def __init__(self) -> None:
        self.orders: list[tuple[Any, Any, Any, Any]] = []
        self.replays = 0

    @torch.no_grad()
    @torch.autocast("cpu", enabled=False)
    def replay(self) -> None:
        self.replays += 1
        for order, arguments, named, kept in self.orders:
            again = order(*arguments, **named)
            for place, new in zip(tensors(kept), tensors(again), strict=True):
                if place.data_ptr() != new.data_ptr():
                    place.detach().copy_(new)


@contextmanager
def capture(graph: FakeGraph, stream: Any) -> Iterator[None]:
    """In place of `torch.cuda.graph`."""
    assert isinstance(stream, Stream)
    recorder = Recorder(graph)
    try:
        with recorder:
            yield
    finally:
        with torch.no_grad():
            for place, number in recorder.before.values():
                place.detach().copy_(number)


class Stream:
    """In place of `torch.cuda.Stream`: here all is done in order anyway."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def wait_stream(self, other: Self) -> None:
        assert isinstance(other, Stream)


def pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let graphs be recorded on the processor."""
    monkeypatch.setattr(torch.cuda, "CUDAGraph", FakeGraph)
    monkeypatch.setattr(torch.cuda, "graph", capture)
    monkeypatch.setattr(torch.cuda, "Stream", Stream)
    monkeypatch.setattr(torch.cuda, "current_stream", Stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: nullcontext())
    # Otherwise it keeps its count in a tensor on GPUs alone.
    radam = sys.modules[torch.optim.RAdam.__module__]
    name = "_get_capturable_supported_devices"
    monkeypatch.setattr(radam, name, lambda **_: ["cpu"])
    casts = partial(graphs.fresh_casts, "cpu")
    monkeypatch.setattr(graphs, "fresh_casts", casts)
