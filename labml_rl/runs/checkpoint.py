"""
---
title: Checkpoints
summary: A run in a single file, written so that no accident can damage it.
---

# Checkpoints

A long run gets interrupted: the machine is needed for something else, the power fails,
someone presses Ctrl-C. So from time to time a run saves all that it consists of, the
model and more, in a **checkpoint**, from which training can later continue.

This page writes checkpoints and reads them, and promises four things about them:

- There is always a whole one. A run that dies while it writes, or a disk that is full,
  leaves the previous checkpoint as it was.
- If a disk gives back anything other than what it was given, the error is noticed.
- Opening a stranger's checkpoint is safe. No code in it is ever executed.
- Other programs can read the weights. The format is
  [safetensors](https://huggingface.co/docs/safetensors), which is widely used.

```python
from torch import nn
from labml_rl.runs import checkpoint

network = nn.Linear(4, 2)
state = {"network": network.state_dict(), "frames": 800}
checkpoint.save("run.safetensors", state)
state = checkpoint.load("run.safetensors")
```

!!! warning "A run from a stranger"
    Its checkpoint is safe, but `run.json` may name an environment, with [the module
    that registers it](../environments.py), and watching the agent imports that module.
    *Resuming* a run hands its saved games to the emulator, which does not check them.
    So look at `game` in `run.json` before you watch, and resume only runs from people
    you trust.

!!! warning "torch.load runs what it is told to"
    Files of `torch.save` are pickles: lists of instructions for making objects, which
    may call any Python function. To open one is to run its author's program.
    `weights_only=True` forbids most of that, but then most of what a run consists of
    can't be read.
"""

import contextlib
import errno
import json
import os
import zlib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

# A reader that finds a different version in the file does not guess. The number goes up
# when an older reader would misunderstand the file.
FORMAT = "labml_rl.checkpoint"
VERSION = "2"
METADATA = "__metadata__"
# If the table is longer than this, the library that reads a file calls it damaged.
LONGEST = 100_000_000
PARTIAL = ".partial"  # the end of the name of a file that is being written
TREE = ""  # the name of the tree among the checksums: no array has it

DTYPES = {
    torch.bool: "BOOL",
    torch.uint8: "U8",
    torch.uint16: "U16",
    torch.uint32: "U32",
    torch.uint64: "U64",
    torch.int8: "I8",
    torch.int16: "I16",
    torch.int32: "I32",
    torch.int64: "I64",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.float32: "F32",
    torch.float64: "F64",
}

State = Any


class CheckpointError(RuntimeError):
    """
    ## When it fails

    The message says which file it is about, what happened, and what is left.
    """


def _flatten(value: State, name: str, tensors: dict[str, Tensor]) -> Any:
    """
    ## The tree and its leaves

    What a run knows is a tree: dictionaries in dictionaries, with lists in them, and at
    the leaves numbers and arrays. The file has two parts. The arrays are kept side by
    side, each under the names on the way to it: `network.body.layers.0.weight`. The
    tree itself is text, with a name in place of each array.

    The text is JSON. That has no tuples, no bytes, and no dictionaries with numbers for
    keys, so these are written as `{"tuple": […]}` and the like. Here is a tree, and the
    text that it becomes:

    ```text
    {"network": {"bias": …}, "frames": 800}

    {"dict": [["network", {"dict": [["bias",
        {"tensor": "network.bias"}]]}],
        ["frames", 800]]}
    ```

    Args:
        value: a part of the tree.
        name: the way to it.
        tensors: where its arrays are put.

    Returns:
        What JSON can write.

    Raises:
        TypeError: if there is anything else in the tree.
        ValueError: if an array would have another's name, or no name.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return list(_flatten_each(enumerate(value), name, tensors))
    if isinstance(value, tuple):
        return {"tuple": list(_flatten_each(enumerate(value), name, tensors))}
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) for key in value):
            raise TypeError(f"{name}: a key is neither a string nor a whole number")
        flat = _flatten_each(value.items(), name, tensors)
        return {"dict": [list(pair) for pair in zip(value, flat, strict=True)]}
    if name in (METADATA, TREE):
        raise ValueError(f"an array can't have the name {name!r}: the file needs that")
    if name in tensors:
        raise ValueError(f"two arrays of the state have the same name, {name}")
    kind, tensors[name] = _as_tensor(value, name)
    return {kind: name}


def _flatten_each(items: Any, name: str, tensors: dict[str, Tensor]) -> Iterator[Any]:
    for key, value in items:
        # The table can't have half of a pair of characters (a *surrogate*) in a name.
        plain = str(key).encode(errors="backslashreplace").decode()
        yield _flatten(value, f"{name}.{plain}" if name else plain, tensors)


def _as_tensor(value: Any, name: str) -> tuple[str, Tensor]:
    if isinstance(value, bytes):
        return "bytes", torch.from_numpy(np.frombuffer(value, np.uint8).copy())
    kind = "tensor"
    if isinstance(value, np.ndarray):
        # PyTorch takes neither an array that is read backwards nor one that is
        # read-only.
        kind, value = "array", np.require(value, None, ["C", "W"])
        # Nor does it take one whose bytes are in another machine's order.
        with contextlib.suppress(TypeError, ValueError):
            value = torch.from_numpy(value)
    is_plain = isinstance(value, Tensor) and value.layout == torch.strided
    if not is_plain or value.is_nested or value.dtype not in DTYPES:
        of = f" of {value.dtype}" if hasattr(value, "dtype") else ""
        raise TypeError(f"{name}: a {type(value).__name__}{of} can't be saved")
    return kind, value.detach().cpu().contiguous()


def save(path: str | Path, state: State) -> None:
    """
    ## Write

    Args:
        path: where to write it.
        state: a tree of dictionaries, lists, tuples, strings, numbers, `None`, bytes,
            NumPy arrays and tensors.

    Raises:
        CheckpointError: if the file can't be written.
        TypeError: if there is anything else in the tree.
        ValueError: if an array would have another's name, or no name.
    """
    path = Path(path)
    tensors: dict[str, Tensor] = {}
    text = json.dumps(_flatten(state, "", tensors))

    try:
        with whole(path) as file:
            sums = {name: checksum(each) for name, each in tensors.items()}
            sums[TREE] = zlib.crc32(text.encode())
            metadata = {FORMAT: VERSION, "state": text, "sums": json.dumps(sums)}
            _write(file, tensors, metadata)
    except OSError as error:
        left = "the one before is whole" if path.exists() else "and there is none"
        raise CheckpointError(
            f"the checkpoint {path} could not be written, {left}: {error}"
        ) from error


@contextlib.contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """
    ### Whole or not at all

    The new file gets its name only once it is complete and on the disk. The system
    changes a name in one step: at any moment, the name leads to the whole old file or
    to the whole new one.

    !!! warning "The name may be faster"
        `fsync` waits until the file is on the disk. Without it, the name can get there
        before the contents do, and after a power failure there is a file with the right
        name, the right size, and nothing but zeros. The name itself is kept in the
        folder, so we wait for the folder, too.

    Args:
        path: of the file.

    Yields:
        The new file, to write to.

    Raises:
        OSError: if it can't be written. The old file is then still there.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        # The folder may be a stranger's, and a link of this name could lead anywhere.
        partial.unlink(missing_ok=True)
        with open(partial, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        _wait_for_name(path.parent)
    finally:
        with contextlib.suppress(OSError):
            partial.unlink()


def _wait_for_name(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems, network ones above all, can't do this for a folder. The new
        # file has its name all the same, so nothing has failed.
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _write(
    file: BinaryIO, tensors: dict[str, Tensor], metadata: dict[str, str]
) -> None:
    """
    ### The format

    A safetensors file begins with an 8-byte number, the length of what follows: a
    table, in JSON, of where each array is. Then come the arrays, as they are in memory.
    We write it ourselves: the library that reads it picks its own temporary file,
    leaves that behind if it is killed, and lets only the owner read the result.

    The widest numbers come first, and the table is padded to a multiple of 8 bytes. So
    each number is where processors like to find it.
    """
    names = sorted(tensors, key=lambda name: -tensors[name].element_size())
    table: dict[str, Any] = {METADATA: metadata}
    end = 0
    for name in names:
        tensor = tensors[name]
        start, end = end, end + tensor.nbytes
        table[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > LONGEST:
        raise CheckpointError(
            f"{file.name}: what is not in arrays takes {len(text):,} bytes, and more "
            f"than {LONGEST:,} can't be read. Long lists should be arrays. An "
            "environment that can't save itself has a list of all actions of its "
            "episode, so let none go on for ever: Gymnasium's TimeLimit cuts them off"
        )
    file.write(len(text).to_bytes(8, "little"))
    file.write(text)
    for name in names:
        file.write(_bytes_of(tensors[name]))


def _bytes_of(tensor: Tensor) -> Any:
    # PyTorch can't give the bytes of an array that has none.
    if not tensor.numel():
        return b""
    return tensor.reshape(-1).view(torch.uint8).numpy().data


def checksum(tensor: Tensor) -> int:
    """
    ### What was written

    A disk can give back a different bit from the one it was given, and so can a copy
    over the network. In a weight, that is easy to overlook: an agent that plays a
    little worse raises no error. So a checksum of each array is stored with it, and
    computed again when the array is read. For 5 GB this takes a second or two.

    Args:
        tensor: an array, in main memory.

    Returns:
        Its CRC-32, which changes if a single bit does.
    """
    return zlib.crc32(_bytes_of(tensor))


def load(path: str | Path, *, only: Collection[str | int] | None = None) -> State:
    """
    ## Read

    Args:
        path: a file that [save][] wrote.
        only: which entries of the state are wanted; `None` means all. Nothing else is
            read. (The replay memory of DQN is 7 GB.)

    Returns:
        The same tree. Tensors are in main memory, wherever they were before, and a
        single NumPy number is now one of Python's.

    Raises:
        CheckpointError: if there is no such file, or if it is broken, not what was
            written, or of another version.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            flat, sums = _tree(path, metadata)
            if only is not None:
                if not isinstance(flat, dict) or "dict" not in flat:
                    raise CheckpointError(f"{path} has no entries with names")
                wanted = [pair for pair in flat["dict"] if pair[0] in only]
                flat = {"dict": wanted}

            found: set[str] = set()

            def find(name: str) -> Tensor:
                # The same array a thousand times would fill any memory.
                if name in found:
                    raise ValueError(f"{name} is in it twice")
                found.add(name)
                # The library gives a view of the file.
                tensor: Tensor = file.get_tensor(name).clone()
                if sums[name] != checksum(tensor):
                    raise _damaged(path, name)
                return tensor

            return _restore(flat, find)
    except FileNotFoundError as error:
        # The library says the same of a file that it may not read.
        if os.path.exists(path):
            raise CheckpointError(f"{path} can't be read: no permission") from error
        raise CheckpointError(f"there is no checkpoint {path}") from error
    except (OSError, SafetensorError, ValueError, LookupError, TypeError) as error:
        raise CheckpointError(
            f"{path} is not a checkpoint, or is one that was cut short or damaged: "
            f"{error}"
        ) from error
    except RecursionError as error:
        raise CheckpointError(f"{path} is nested too deeply") from error


def _tree(path: str | Path, metadata: dict[str, str]) -> tuple[Any, dict[str, int]]:
    if FORMAT not in metadata:
        raise CheckpointError(f"{path} has tensors in it, but is not a checkpoint")
    if metadata[FORMAT] != VERSION:
        raise CheckpointError(
            f"{path} has version {metadata[FORMAT]} of the format, and this program "
            f"reads version {VERSION}. Use the labml_rl that run.json names"
        )

    text = metadata["state"]
    sums = json.loads(metadata["sums"])
    if sums[TREE] != zlib.crc32(text.encode()):
        raise _damaged(path, "its table")
    return json.loads(text), sums


def _damaged(path: str | Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"{path} is damaged: {what} is not what was written. If there is a copy of the "
        "file, use that"
    )


def _restore(flat: Any, find: Callable[[str], Tensor]) -> State:
    if isinstance(flat, list):
        return [_restore(each, find) for each in flat]
    if not isinstance(flat, dict):
        return flat
    ((kind, content),) = flat.items()
    if kind == "tuple":
        return tuple(_restore(each, find) for each in content)
    if kind == "dict":
        return {key: _restore(value, find) for key, value in content}
    return AS[kind](find(content))


AS: dict[str, Callable[[Tensor], Any]] = {
    "tensor": lambda tensor: tensor,
    "array": lambda tensor: tensor.numpy(),
    "bytes": lambda tensor: tensor.numpy().tobytes(),
}


def load_weights(network: nn.Module, weights: dict[str, Tensor]) -> None:
    """
    ## Loading weights into a network

    PyTorch has a function for this, `load_state_dict`. Where network and weights do not
    match, it prints a page. The usual cause is a checkpoint of another game, or of
    other settings, which takes only a few words to say.

    Args:
        network: what gets the weights.
        weights: those of a network made in the same way.

    Raises:
        CheckpointError: if they don't fit; the message names what differs.
    """
    if not isinstance(weights, dict):
        raise CheckpointError("the checkpoint has something else for weights")
    expected, found = _shapes(network.state_dict()), _shapes(weights)
    differences = [
        *(f"{name} is missing" for name in expected.keys() - found.keys()),
        *(f"{name} is one too many" for name in found.keys() - expected.keys()),
        *(
            f"{name} is {found[name]} and not {expected[name]}"
            for name in expected.keys() & found.keys()
            if expected[name] != found[name]
        ),
    ]
    if differences:
        shown = "; ".join(sorted(differences)[:5])
        more = f"; and {len(differences) - 5} more" if len(differences) > 5 else ""
        raise CheckpointError(f"the checkpoint is of another network: {shown}{more}")
    network.load_state_dict(weights)


# What a layer adds through `get_extra_state` may be anything.
def _shapes(weights: dict[str, Any]) -> dict[str, str]:
    def described(value: Any) -> str:
        if isinstance(value, Tensor):
            return f"of shape {tuple(value.shape)}"
        return "something else than an array"

    return {name: described(value) for name, value in weights.items()}
