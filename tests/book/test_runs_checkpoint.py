"""Checkpoints: everything comes back, and no accident costs the last one."""

import errno
import json
import math
import os
import pickle
import resource
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.torch import load_file, save_file
from torch import nn

from labml_rl.runs import checkpoint
from labml_rl.runs.checkpoint import CheckpointError, load, load_weights, save
from labml_rl.runs.experiment import load_optimizer
from labml_rl.runs.folder import write_whole

DTYPES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32"),
    *("int64", "float16", "float32", "float64"),
]


def same(a: Any, b: Any) -> bool:
    """Equal, of the same types, arrays bit for bit."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a.cpu(), b)
    if isinstance(a, np.ndarray):
        a, b = (a.dtype, a.shape, a.tobytes()), (b.dtype, b.shape, b.tobytes())
    return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


arrays = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, min_side=0))
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | arrays
)
# No dots, which could make two names one.
keys = st.integers() | st.text(st.characters(blacklist_characters=".")).filter(bool)
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(keys, inner).filter(
            lambda tree: len(set(map(str, tree))) == len(tree)
        )
    ),
    max_leaves=12,
)


@given(tree=trees)
@example(tree={"\ud800": b""})
def test_any_tree_comes_back(tree, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "tree"
    save(path, {"tree": tree})
    assert same(load(path), {"tree": tree})


def test_what_numpy_and_pytorch_have_besides(tmp_path):
    state: dict[str, Any] = {
        "bfloat16": torch.randn(3, 5).bfloat16(),
        "channels_last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "scalar": torch.tensor(3.5),
        "with gradient": nn.Parameter(torch.ones(2)),
        "backwards": np.arange(6)[::-2],
        "read-only": np.frombuffer(b"abc", np.uint8),
        "constant": np.broadcast_to(np.float32(1), (3, 2)),
        "dice": np.random.default_rng(1).bit_generator.state,
        "mersenne": np.random.RandomState(1).get_state(legacy=False),
        "ordered": OrderedDict(b=1, a=2),
    }
    save(tmp_path / "file", state)
    back = load(tmp_path / "file")
    for name in ("bfloat16", "channels_last", "scalar", "with gradient"):
        assert torch.equal(back[name], state[name].detach())
    assert same(back["backwards"], np.array([5, 3, 1]))
    assert back["read-only"].tobytes() == b"abc"
    assert same(back["constant"], np.ones((3, 2), np.float32))
    assert back["dice"] == state["dice"]
    assert same(back["mersenne"], state["mersenne"])
    assert same(back["ordered"], {"b": 1, "a": 2})
    assert same(load_numbers(tmp_path), [2.5, 7, True])


def load_numbers(folder: Path) -> Any:
    save(folder / "numbers", [np.float32(2.5), np.int64(7), np.bool_(True)])
    return load(folder / "numbers")


def test_a_part_can_be_read_alone(tmp_path, monkeypatch):
    network = nn.Linear(2, 1).state_dict()
    save(tmp_path / "file", {"network": network, "memory": np.ones(9), "frames": 3})
    read: list[torch.Tensor] = []
    monkeypatch.setattr(checkpoint, "AS", {"tensor": read.append})
    part = load(tmp_path / "file", only=("network", "frames"))
    assert sorted(part) == ["frames", "network"]
    assert len(read) == 2


def test_what_was_read_is_no_view_of_the_file(tmp_path):
    path = tmp_path / "file"
    save(path, {"weights": torch.ones(3)})
    back = load(path)
    path.write_bytes(bytes(path.stat().st_size))
    assert back["weights"].tolist() == [1, 1, 1]


def test_no_file_stays_open(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    save(tmp_path / "file", {"frames": 1})
    assert len(os.listdir("/proc/self/fd")) == before


def test_memory_that_two_share_comes_back_apart(tmp_path):
    memory = torch.arange(6)
    save(tmp_path / "file", {"all": memory, "half": memory[:3]})
    back = load(tmp_path / "file")
    back["all"][0] = 9
    assert back["half"].tolist() == [0, 1, 2]


def test_other_programs_find_the_weights_by_name(tmp_path):
    network = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    save(tmp_path / "file", {"frames": 7, "network": network.state_dict()})
    found = load_file(tmp_path / "file")
    assert sorted(found) == [
        *("network.0.bias", "network.0.weight", "network.2.bias", "network.2.weight")
    ]
    assert torch.equal(found["network.2.weight"], network.state_dict()["2.weight"])


@pytest.mark.parametrize("length", range(1, 9))
def test_each_number_is_where_processors_like_to_find_it(tmp_path, length):
    state = {"x" * length: np.ones(3, np.uint8), "half": np.ones(1, np.float16)}
    save(tmp_path / "file", state | {"wide": np.ones(2)})
    written = (tmp_path / "file").read_bytes()
    begin = 8 + int.from_bytes(written[:8], "little")
    table = json.loads(written[8:begin])
    del table["__metadata__"]
    for each in table.values():
        start, end = each["data_offsets"]
        assert (begin + start) % ((end - start) // each["shape"][0]) == 0


def test_anybody_may_read_it_whom_the_folder_lets(tmp_path):
    before = os.umask(0o022)
    try:
        save(tmp_path / "file", {})
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": {"b": object()}}, r"a\.b: a object can't be saved"),
        ({"a": [np.array(["text"])]}, r"a\.0: a ndarray of <U4 can't be saved"),
        (
            {"a": torch.zeros(1, dtype=torch.complex64)},
            "a: a Tensor of torch.complex64",
        ),
        ({"a": np.zeros(1, ">f4")}, "a: a ndarray of >f4 can't be saved"),
        ({"a": torch.eye(2).to_sparse()}, "a: a Tensor of torch.float32 can't be"),
        ({"a": {(1, 2): 3}}, "a: a key is neither"),
        ({"a": len}, "a: a builtin_function_or_method"),
    ],
)
def test_what_can_not_be_saved_is_named(tmp_path, state, message):
    save(tmp_path / "file", {"good": 1})
    with pytest.raises(TypeError, match=message):
        save(tmp_path / "file", state)
    assert load(tmp_path / "file") == {"good": 1}


def test_two_arrays_of_one_name_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"the same name, a\.b"):
        save(tmp_path / "file", {"a.b": np.ones(1), "a": {"b": np.ones(1)}})


@pytest.mark.parametrize(
    "state", [{"": np.ones(1)}, np.ones(1), {"__metadata__": np.ones(1)}]
)
def test_names_that_the_file_needs_are_refused(tmp_path, state):
    with pytest.raises(ValueError, match="an array can't have the name '"):
        save(tmp_path / "file", state)


@pytest.mark.parametrize("state", [[1, 2], (1, 2), "text", None])
def test_a_state_without_names_has_no_part(tmp_path, state):
    save(tmp_path / "file", state)
    assert load(tmp_path / "file") == state
    with pytest.raises(CheckpointError, match="file has no entries with names"):
        load(tmp_path / "file", only=("network",))


@contextmanager
def disk_full_after(size: int) -> Iterator[None]:
    """No file may grow beyond this size; Python ignores the signal that comes first."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 5, 300, 10_000, 19_000])
def test_a_full_disk_leaves_the_checkpoint_before(tmp_path, size):
    path = tmp_path / "file"
    save(path, {"frames": 1})
    with (
        disk_full_after(size),
        pytest.raises(
            CheckpointError, match=r"file could not be written, the one befo"
        ),
    ):
        save(path, {"frames": 2, "weights": torch.randn(5000)})
    assert load(path) == {"frames": 1}
    assert os.listdir(tmp_path) == ["file"]


def test_what_nobody_could_read_again_replaces_nothing(tmp_path, monkeypatch):
    """The library that reads files takes a longer table for damaged."""
    path = tmp_path / "file"
    save(path, {"frames": 1})
    monkeypatch.setattr(checkpoint, "LONGEST", 10_000)
    save(path, {"frames": 2, "actions": [1] * 2_000})
    with pytest.raises(CheckpointError, match=r"file.* bytes, and more than 10,000"):
        save(path, {"frames": 3, "actions": [1] * 6_000})
    assert load(path)["frames"] == 2
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_so_does_any_failure(tmp_path, monkeypatch, fails):
    def fail(*_: Any) -> None:
        raise OSError(5, "Input/output error")

    path = tmp_path / "file"
    save(path, {"frames": 1})
    monkeypatch.setattr(os, fails, fail)
    with pytest.raises(CheckpointError, match="Input/output error"):
        save(path, {"frames": 2})
    monkeypatch.undo()
    assert load(path) == {"frames": 1}
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("number", "fails"),
    [(errno.EINVAL, False), (errno.ENOTSUP, False), (errno.EIO, True)],
)
def test_a_file_system_that_waits_for_no_folder(tmp_path, monkeypatch, number, fails):
    fsync = os.fsync

    def no_folder(handle: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            raise OSError(number, os.strerror(number))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", no_folder)
    with pytest.raises(CheckpointError) if fails else nullcontext():
        save(tmp_path / "file", {"frames": 2})
    assert load(tmp_path / "file") == {"frames": 2}


@pytest.mark.parametrize(
    "write",
    [
        lambda path: save(path, {"frames": 1}),
        lambda path: write_whole(path, '{"frames": 1}'),
    ],
)
def test_the_file_is_on_the_disk_before_it_has_its_name(write, tmp_path, monkeypatch):
    done, sizes = [], []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(handle: int) -> None:
        done.append(("fsync", os.readlink(f"/proc/self/fd/{handle}")))
        sizes.append(os.fstat(handle).st_size)
        fsync(handle)

    def watched_replace(a: Path, b: Path) -> None:
        done.append(("replace", str(b)))
        replace(a, b)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    path = tmp_path / "file"
    write(path)
    assert done == [
        ("fsync", f"{path}.partial"),
        ("replace", str(path)),
        ("fsync", str(tmp_path)),
    ]
    assert sizes[0] == path.stat().st_size


def test_what_was_cut_short_or_is_another_is_refused(tmp_path):
    path = tmp_path / "file"
    save(path, {"weights": torch.ones(100)})
    whole = path.read_bytes()
    for size in (0, 4, 50, len(whole) - 200, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match="file is not a checkpoint, or is on"):
            load(path)
    path.write_bytes(b"%PDF-1.7" + bytes(1000))
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        load(path)
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        load(tmp_path)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        load(tmp_path / "nothing")
    save_file({"a": torch.ones(1)}, path)
    with pytest.raises(CheckpointError, match="has tensors in it, but is not"):
        load(path)


def test_a_bit_that_has_flipped_is_noticed(tmp_path):
    file = tmp_path / "a.safetensors"
    weights = torch.arange(300.0)
    state = {"weights": weights, "none": torch.zeros(0, 3), "frames": 800}
    checkpoint.save(file, state)
    written = file.read_bytes()
    in_weights, in_frames = len(written) - 7, written.index(b"800") + 1
    for place, name in ((in_weights, "weights"), (in_frames, "its table")):
        damaged = bytearray(written)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=f"damaged: {name} is not what was"):
            checkpoint.load(file)
    # Wherever it is, it never goes unnoticed that something is not what it was.
    for place in range(len(written)):
        damaged = bytearray(written)
        damaged[place] ^= 4
        file.write_bytes(damaged)
        try:
            found = checkpoint.load(file)
        except CheckpointError:
            continue
        assert found["frames"] == 800
        assert torch.equal(found["weights"], weights)


def test_another_version_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "VERSION", "99")
    save(tmp_path / "file", {"frames": 1})
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=r"version 99 .* reads version 2"):
        load(tmp_path / "file")


class Bomb:
    def __reduce__(self) -> Any:
        return os.mkdir, ("exploded",)


def test_loading_runs_no_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bomb = pickle.dumps(Bomb())
    (tmp_path / "pickle").write_bytes(bomb)
    with pytest.raises(CheckpointError):
        load(tmp_path / "pickle")
    save(tmp_path / "file", {"bytes": bomb})
    assert load(tmp_path / "file") == {"bytes": bomb}
    assert not (tmp_path / "exploded").exists()
    pickle.loads(bomb)  # it is a bomb indeed
    assert (tmp_path / "exploded").exists()


def test_weights_of_another_network_are_named():
    small = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
    load_weights(small, nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)).state_dict())
    before = {name: each.clone() for name, each in small.state_dict().items()}
    wider = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1), nn.Linear(1, 1))
    with pytest.raises(CheckpointError) as caught:
        load_weights(small, wider.state_dict())
    message = str(caught.value)
    assert "another network: 0.bias is of shape (4,) and not of shape (3,)" in message
    assert "2.weight is one too many" in message
    with pytest.raises(CheckpointError, match=r"2\.bias is missing; 2\.weight is miss"):
        load_weights(wider, nn.Sequential(*list(wider)[:2]).state_dict())
    assert all(torch.equal(small.state_dict()[name], before[name]) for name in before)


class Counting(nn.Linear):
    """A layer with something to remember that is no weight."""

    asked: Any = None

    def get_extra_state(self) -> Any:
        return {"asked": self.asked}

    def set_extra_state(self, state: Any) -> None:
        self.asked = state["asked"]


def test_what_a_layer_keeps_beside_its_weights_comes_back(tmp_path):
    layer, other = Counting(2, 3), Counting(2, 3)
    layer.asked = (7, "times")
    path = tmp_path / "weights.safetensors"
    checkpoint.save(path, {"network": layer.state_dict()})
    load_weights(other, checkpoint.load(path)["network"])
    assert other.asked == (7, "times")
    assert torch.equal(other.weight, layer.weight)
    spoiled = layer.state_dict() | {"bias": 0.5}
    with pytest.raises(CheckpointError, match=r"bias is something else than an"):
        load_weights(other, spoiled)
    with pytest.raises(CheckpointError, match="_extra_state is missing"):
        load_weights(other, nn.Linear(2, 3).state_dict())


@pytest.mark.parametrize("how", [{"foreach": False}, {"fused": True}])
def test_an_optimizer_goes_on_bit_for_bit(tmp_path, how):
    """In the layout that it had, and with a learning rate that stays where it is."""

    def make() -> tuple[nn.Module, torch.optim.Optimizer]:
        torch.manual_seed(1)
        network = nn.Conv2d(3, 8, 4).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        rate = torch.tensor(0.1)
        return network, torch.optim.Adam(network.parameters(), lr=rate, **how)

    def learn(network: nn.Module, optimizer: torch.optim.Optimizer, step: int) -> None:
        torch.manual_seed(step)
        optimizer.zero_grad()
        network(torch.randn(2, 3, 9, 9)).square().mean().backward()
        optimizer.step()

    network, optimizer = make()
    for step in range(3):
        learn(network, optimizer, step)
    optimizer.param_groups[0]["lr"].fill_(0.05)
    state = {"network": network.state_dict(), "optimizer": optimizer.state_dict()}
    save(tmp_path / "file", state)
    learn(network, optimizer, 3)

    state = load(tmp_path / "file")
    other, others = make()
    rate = others.param_groups[0]["lr"]
    load_weights(other, state["network"])
    load_optimizer(others, state["optimizer"])
    assert others.param_groups[0]["lr"] is rate
    assert math.isclose(rate.item(), 0.05, rel_tol=1e-6)
    learn(other, others, 3)
    for a, b in zip(network.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        for name, average in optimizer.state[a].items():
            assert torch.equal(average, others.state[b][name])
            assert average.stride() == others.state[b][name].stride()


def test_a_link_in_the_way_is_not_followed(tmp_path):
    """A folder that somebody else packed may have one, to any file of mine."""
    mine = tmp_path / "mine"
    mine.write_text("precious")
    path = tmp_path / "run" / "run.safetensors"
    path.parent.mkdir()
    path.with_name(path.name + checkpoint.PARTIAL).symlink_to(mine)
    save(path, {"frames": 8})
    assert mine.read_text() == "precious"
    assert not path.is_symlink()
    assert load(path) == {"frames": 8}


def damaged(path, flat):
    """A checkpoint with any tree, and with right sums."""
    tensors = {"x": torch.zeros(4)}
    text = flat if isinstance(flat, str) else json.dumps(flat)
    sums = {"x": checkpoint.checksum(tensors["x"]), "": zlib.crc32(text.encode())}
    metadata = {
        checkpoint.FORMAT: checkpoint.VERSION,
        "state": text,
        "sums": json.dumps(sums),
    }
    with path.open("wb") as file:
        checkpoint._write(file, tensors, metadata)
    return path


@pytest.mark.parametrize(
    ("flat", "said"),
    [
        ({"tuple": [{"tensor": "x"}] * 2}, "x is in it twice"),
        ("[" * 100_000, "nested too deeply"),
        ({"tensor": ["x"]}, "not a checkpoint, or is one that was cut short"),
        ({"tensor": "y"}, "not a checkpoint, or is one that was cut short"),
        ({"code": "x"}, "not a checkpoint, or is one that was cut short"),
        ({"dict": 5}, "not a checkpoint, or is one that was cut short"),
    ],
)
def test_a_tree_that_nobody_saves_is_refused(tmp_path, flat, said):
    path = damaged(tmp_path / "a.safetensors", flat)
    with pytest.raises(CheckpointError, match=said):
        load(path)


def test_something_else_than_weights_is_refused():
    wrong: list[Any] = [5, None, {"weight": 5, "bias": 5}]
    for weights in wrong:
        with pytest.raises(CheckpointError, match="something else"):
            load_weights(torch.nn.Linear(1, 1), weights)


def test_of_many_differences_the_first_are_named():
    network = nn.Sequential(*(nn.Linear(1, 1) for _ in range(4)))
    with pytest.raises(CheckpointError, match=r"2\.bias is missing; and 3 more$"):
        load_weights(network, {})


def test_where_there_is_no_checkpoint_none_is_promised(tmp_path):
    with pytest.raises(CheckpointError, match="not be written, and there is none:"):
        save(tmp_path / "nowhere" / "file", {})
