"""The folder of a run: who may write there, and what if it is full or gone."""

import contextlib
import errno
import fcntl
import json
import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from tensorboard.summary.writer.record_writer import RecordWriter

from labml_rl import runs
from labml_rl.batch import SerialGames
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.ppo import experiment as ppo
from labml_rl.runs import checkpoint
from labml_rl.runs.folder import RunFolder, default_folder
from tests.book.interrupted import assert_same_run, broken_off
from tests.book.tiny_runs import Settings, Tiny


def test_a_second_run_never_overwrites_a_first(whole):
    before = {each.name: each.read_bytes() for each in whole.iterdir()}
    with pytest.raises(runs.RunError, match=r"complete run already, of 640 .*resume"):
        runs.train(Tiny, Settings(), folder=whole)
    assert {each.name: each.read_bytes() for each in whole.iterdir()} == before


def test_a_folder_with_other_things_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(runs.RunError, match=r"not empty \(thesis.tex\)"):
        runs.train(Tiny, Settings(), folder=tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_program_that_was_killed_while_it_began(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    (path / "checkpoint.safetensors.partial").touch()
    runs.train(Tiny, Settings(), folder=path)
    for each in path.iterdir():
        if each.name != "checkpoint.safetensors":
            each.unlink()
    before = (path / "checkpoint.safetensors").read_bytes()
    with pytest.raises(runs.RunError, match=r"no run.json.*: rm .*checkpoint\.safe"):
        runs.train(Tiny, Settings(), folder=path)
    assert (path / "checkpoint.safetensors").read_bytes() == before
    (path / "checkpoint.safetensors").unlink()
    runs.train(Tiny, Settings(), folder=path)


def waits_in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 100, 2))
    impatient = SimpleNamespace(monotonic=clock.__next__, sleep=time.sleep)
    monkeypatch.setattr("labml_rl.runs.folder.time", impatient)


def test_two_programs_can_not_go_on_with_one_run(tmp_path, monkeypatch):
    path = broken_off(tmp_path / "run", 5)
    with RunFolder(path) as first:
        first.reopen()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            runs.resume(Tiny, path)
        monkeypatch.undo()
    runs.resume(Tiny, path)


def test_two_programs_on_two_machines_can_not_either(tmp_path, monkeypatch):
    """The file systems between them lock only what is open for writing."""
    flock = fcntl.flock

    def strict(handle: int, how: int) -> None:
        mode = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE
        if how & fcntl.LOCK_EX and mode == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(handle, how)

    runs.train(Tiny, Settings(total_frames=8), folder=tmp_path)
    monkeypatch.setattr(fcntl, "flock", strict)
    with RunFolder(tmp_path) as first:
        first.reopen()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            runs.resume(Tiny, tmp_path)


def test_a_folder_that_can_not_be_cleared_hides_no_error(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path / "run")
    folder.claim()

    def read_only(*_: Any, **__: Any) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    folder.discard()


def discard_at_next_lock(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a folder back while somebody else waits for its lock."""
    flock = fcntl.flock

    def discarded_meanwhile(handle: int, how: int) -> None:
        monkeypatch.undo()
        folder.discard()
        folder.__exit__()
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", discarded_meanwhile)


def test_a_folder_that_is_taken_back_is_said_to_be(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with RunFolder(path) as first, RunFolder(path) as second:
        first.claim()
        discard_at_next_lock(first, monkeypatch)
        with pytest.raises(runs.RunError, match="was taken back just now; try again"):
            second.claim()


def test_a_lock_that_is_taken_back_is_no_lock(tmp_path, monkeypatch):
    """Somebody waits for the folder of a run that can't begin."""
    first = RunFolder(tmp_path)
    first.claim()
    discard_at_next_lock(first, monkeypatch)
    with RunFolder(tmp_path) as second, RunFolder(tmp_path) as third:
        second.claim()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            third.claim()


def test_two_programs_can_not_begin_one_run(tmp_path, monkeypatch):
    path = tmp_path / "run"
    with RunFolder(path) as first:
        first.claim()
        waits_in_no_time(monkeypatch)
        with pytest.raises(runs.RunError, match="is running right now"):
            runs.train(Tiny, Settings(total_frames=8), folder=path)
        monkeypatch.undo()
    runs.train(Tiny, Settings(total_frames=8), folder=path)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(runs.RunError, match="Permission denied"):
        runs.train(Tiny, Settings(), folder=tmp_path / "run")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everywhere")
def test_a_folder_that_may_not_be_searched(tmp_path):
    tmp_path.chmod(0)
    with pytest.raises(runs.RunError, match="Permission denied"):
        runs.train(Tiny, Settings(), folder=tmp_path / "run")


def test_a_place_where_there_can_be_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(runs.RunError, match="can't be written: Not a directory"):
        runs.train(Tiny, Settings(), folder=tmp_path / "file" / "run")


def test_no_room_is_noticed_before_the_first_frame(tmp_path, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    with pytest.raises(runs.RunError, match="no room for checkpoints"):
        runs.train(Tiny, Settings(), folder=tmp_path / "a" / "run")
    assert os.listdir(tmp_path) == []


def test_room_is_asked_for_the_memory_that_will_be_full(tmp_path, monkeypatch):
    """The first checkpoint holds next to none of it, and the last one all."""
    usage = shutil.disk_usage(tmp_path)._replace(free=500_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    settings = DQNSettings(game="Pong", workers=0, capacity=250_000, warm_up_steps=40)
    with pytest.raises(runs.RunError, match="no room for checkpoints"):
        runs.train(dqn.Experiment, settings, folder=tmp_path / "run")
    # A short run never fills it.
    short = replace(settings, total_frames=320)
    runs.train(dqn.Experiment, short, folder=tmp_path / "run")


@pytest.mark.parametrize(
    ("experiment", "settings", "refuses"),
    [
        (dqn.Experiment, DQNSettings(workers=0), "dqn.experiment.ReplayMemory"),
        (ppo.Experiment, ppo.Settings(workers=0, players=False), "onpolicy.Sampler"),
    ],
)
def test_games_are_closed_if_the_rest_can_not_be_made(
    monkeypatch, experiment, settings, refuses
):
    def no_room(*_: Any, **__: Any) -> None:
        raise MemoryError

    made = []

    class Noted(SerialGames):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            made.append(self)

    monkeypatch.setattr(f"labml_rl.{refuses}", no_room)
    monkeypatch.setattr("labml_rl.worker.SerialGames", Noted)
    with pytest.raises(MemoryError):
        experiment(replace(settings, game="CartPole-v1"))
    (games,) = made
    assert games.closed


def test_a_disk_that_is_full_at_once_has_nothing_left_on_it(tmp_path, monkeypatch):
    replace = os.replace

    def full(old: Path, new: Path) -> None:
        if new.name == "run.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(old, new)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(runs.RunError, match=r"run\.json can't be written: No space"):
        runs.train(Tiny, Settings(), folder=tmp_path / "a" / "run")
    assert os.listdir(tmp_path) == []


def test_a_file_system_without_locks_is_good_enough(tmp_path, monkeypatch):
    def flock(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("labml_rl.runs.folder.fcntl.flock", flock)
    runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")


def test_a_disk_that_fills_up_later_costs_what_was_since_the_last_one(
    whole, tmp_path, monkeypatch
):
    path = tmp_path / "run"
    save, saved = checkpoint.save, []

    def fails_the_third_time(*arguments: Any) -> None:
        saved.append(1)
        if len(saved) == 3:
            raise checkpoint.CheckpointError("No space left on device")
        save(*arguments)

    monkeypatch.setattr(checkpoint, "save", fails_the_third_time)
    with pytest.raises(runs.CheckpointError, match="No space left"):
        runs.train(Tiny, Settings(), folder=path, checkpoint_minutes=0)
    monkeypatch.undo()
    assert json.loads((path / "run.json").read_text())["frames"] == 8
    runs.resume(Tiny, path)
    assert_same_run(whole, path)


class Moved(Tiny):
    """While it learns, somebody moves its folder away.

    At once, as a folder is not deleted: TensorBoard's thread may write a file into one
    that is half deleted.
    """

    folder: ClassVar[Path]

    def update(self) -> Any:
        if self.frames:
            self.folder.rename(self.folder.with_name("away"))
            raise OSError("the network is down")
        return super().update()


def test_a_folder_that_is_gone_is_not_said_to_be_there(tmp_path):
    Moved.folder = tmp_path / "run"
    with pytest.raises(OSError, match="is down") as caught:
        runs.train(Moved, Settings(), folder=tmp_path / "run")
    (note,) = caught.value.__notes__
    file = tmp_path / "run" / "checkpoint.safetensors"
    assert note == f"There is no {file} any more to go on from"


class Replaced(Tiny):
    """While it learns, its folder is moved away, and another run begins there."""

    folder: ClassVar[Path]
    fails: ClassVar[bool]

    def update(self) -> Any:
        if self.frames and not self.folder.with_name("away").exists():
            self.folder.rename(self.folder.with_name("away"))
            runs.train(Tiny, Settings(total_frames=8), folder=self.folder)
            if self.fails:
                raise OSError("the network is down")
        return super().update()


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("minutes", [0, 5])
def test_a_folder_in_which_another_run_has_begun_is_that_runs(
    tmp_path, monkeypatch, fails, minutes
):
    # TensorBoard's thread, which opens its file anew for each record, may be late.
    writers = []

    def late(self, data, write=RecordWriter.write):
        writers.append(self)
        if self is writers[0]:
            time.sleep(0.05)
        write(self, data)

    monkeypatch.setattr(RecordWriter, "write", late)
    Replaced.folder, Replaced.fails = tmp_path / "run", fails
    says = "the network is down" if fails else "another run has begun there"
    with pytest.raises((OSError, runs.RunError), match=says) as caught:
        runs.train(
            Replaced, Settings(), folder=Replaced.folder, checkpoint_minutes=minutes
        )
    assert not hasattr(caught.value, "__notes__")
    alone = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "alone")
    assert_same_run(alone, Replaced.folder)
    assert len(list(Replaced.folder.glob("events*"))) == 1
    assert json.loads((Replaced.folder / "run.json").read_text())["finished"]


def test_who_can_not_begin_takes_nothing_of_another_run_away(tmp_path):
    first = RunFolder(tmp_path / "run")
    first.claim()
    (tmp_path / "run").rename(tmp_path / "away")
    runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    first.discard()
    assert RunFolder(tmp_path / "run").read_record()["frames"] == 8


def test_a_folder_without_a_lock_is_held(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.check_held()
    with folder:
        folder.claim()
        folder.lock.unlink()
        folder.check_held()


def test_there_must_be_room_for_two(tmp_path, monkeypatch):
    """While the last checkpoint is written, the one before is there."""
    settings = Settings(total_frames=8)
    path = runs.train(Tiny, settings, folder=tmp_path / "run")
    last = (path / "checkpoint.safetensors").stat().st_size
    usage = shutil.disk_usage(tmp_path)
    for part, fits in ((1.6, False), (2.4, True)):
        now = usage._replace(free=int(part * last))
        monkeypatch.setattr(shutil, "disk_usage", lambda _, now=now: now)
        with contextlib.nullcontext() if fits else pytest.raises(runs.RunError):
            runs.train(Tiny, settings, folder=tmp_path / "another")


def test_the_folder_of_an_environment_has_its_name_in_one_piece():
    settings = Settings(game="mine/Walk-v0", seed=3)
    found = default_folder("runs", "tiny", settings)
    assert found == Path("runs/tiny/mine-Walk-v0/seed-3")


def writes_meanwhile(
    first: RunFolder, frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While somebody waits for the lock, who has it writes `run.json` and goes."""
    flock = fcntl.flock

    def written_meanwhile(handle: int, how: int) -> None:
        monkeypatch.undo()
        first.write_record(RECORD | {"frames": frames})
        first.__exit__()
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", written_meanwhile)


RECORD = {"algorithm": "tiny", "settings": {}, "finished": False, "sessions": []}


def test_what_somebody_else_has_begun_meanwhile_is_not_overwritten(
    tmp_path, monkeypatch
):
    with RunFolder(tmp_path) as first, RunFolder(tmp_path) as second:
        first.claim()
        writes_meanwhile(first, 8, monkeypatch)
        with pytest.raises(runs.RunError, match="has a run already, of 8 frames"):
            second.claim()


def test_what_somebody_else_has_done_meanwhile_is_read(tmp_path, monkeypatch):
    with RunFolder(tmp_path) as first, RunFolder(tmp_path) as second:
        first.claim()
        first.write_record(RECORD | {"frames": 8})
        writes_meanwhile(first, 16, monkeypatch)
        assert second.reopen()["frames"] == 16


def test_who_is_about_to_leave_is_waited_for(tmp_path, monkeypatch):
    """The workers of a program that was killed have its lock a little longer."""
    flock, tried = fcntl.flock, []

    def held(handle: int, how: int) -> None:
        tried.append(how)
        if len(tried) == 1:
            raise BlockingIOError
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", held)
    with RunFolder(tmp_path) as folder:
        folder.claim()
    assert len(tried) == 3  # twice to have it, and once to give it back


@pytest.mark.parametrize("name", ["algorithm", "frames", "finished", "sessions"])
def test_a_record_that_lacks_something_is_none(name, tmp_path):
    path = runs.train(Tiny, Settings(total_frames=8), folder=tmp_path / "run")
    found = json.loads((path / "run.json").read_text())
    del found[name]
    (path / "run.json").write_text(json.dumps(found))
    with pytest.raises(runs.RunError, match=r"run\.json is not what a run has written"):
        runs.resume(Tiny, path)
