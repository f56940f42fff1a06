"""Who plays games for the benchmark, and one measurement of one of them.

Each measurement has its own process, so that no player finds the machine as another
left it. `benchmarks.games` starts it, and reads the one line that it prints.
"""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Actions = NDArray[np.int64]  # (steps, games)
FRAMES_PER_STEP = 4
NOOP_MAX = 30
STACK = 4


@dataclass(frozen=True)
class Task:
    """
    Args:
        player: a name in `PLAYERS`.
        game: ALE's name for it.
        games: how many at once.
        workers: how many processes or threads, where a player has the choice.
        warm_up: steps of each game before the clock is started.
        steps: steps of each game on the clock.
    """

    player: str
    game: str
    games: int
    workers: int
    warm_up: int
    steps: int


@dataclass(frozen=True)
class Measured:
    """
    Args:
        seconds: for all steps of all games.
        processes: how many there were.
        pss_mb: their memory, with a page that several share counted once.
        rss_mb: the same, with such a page counted in each.
    """

    seconds: float
    processes: int
    pss_mb: float
    rss_mb: float


@dataclass(frozen=True)
class Player:
    """
    Args:
        actions: how many a game has.
        play: takes actions, and returns when all of them have been done.
        close: ends it.
    """

    actions: int
    play: Callable[[Actions], None]
    close: Callable[[], None]


def vector_player(envs: Any, actions: int) -> Player:
    """Play in any environment that takes an action for each game."""

    def play(plan: Actions) -> None:
        for row in plan:
            envs.step(row)

    envs.reset()
    return Player(actions, play, envs.close)


def camel(name: str) -> str:
    """Spell the name of a game as Gymnasium and EnvPool do."""
    return "".join(word.capitalize() for word in name.split("_"))


def ours(task: Task, workers: int, *, joins: bool = False) -> Player:
    """Our games, in worker processes or, with 0 of them, in this one."""
    from labml_rl.worker import make_games  # noqa: PLC0415

    envs: Any = make_games(
        task.game,
        task.games,
        seed=1,
        workers=workers,
        joins=joins,
        episodic_life=False,
    )
    return vector_player(envs, int(envs.single_action_space.n))


def parallel(task: Task) -> Player:
    """`ParallelGames`."""
    return ours(task, min(task.workers, task.games))


def joined(task: Task) -> Player:
    """`ParallelGames` with this process in place of one worker."""
    return ours(task, min(task.workers, task.games), joins=True)


def serial(task: Task) -> Player:
    """`SerialGames`."""
    return ours(task, 0)


def native(task: Task) -> Player:
    """`NativeGames`, which is ALE's own vector environment: threads."""
    from labml_rl.native import NativeGames  # noqa: PLC0415

    envs: Any = NativeGames(
        task.game, task.games, seed=1, threads=task.workers, episodic_life=False
    )
    return vector_player(envs, int(envs.single_action_space.n))


def raw_console(game: str) -> Any:
    """Gymnasium's environment for a game, one frame a step, never sticky."""
    import ale_py  # noqa: PLC0415
    import gymnasium  # noqa: PLC0415

    gymnasium.register_envs(ale_py)
    return gymnasium.make(
        f"ALE/{camel(game)}-v5", frameskip=1, repeat_action_probability=0.0
    )


def gymnasium_game(game: str) -> Any:
    """One game in Gymnasium's wrappers."""
    from gymnasium.wrappers import (  # noqa: PLC0415
        AtariPreprocessing,
        FrameStackObservation,
    )

    return FrameStackObservation(
        AtariPreprocessing(raw_console(game), noop_max=NOOP_MAX), STACK
    )


def gymnasium_async(task: Task) -> Player:
    """Gymnasium's `AsyncVectorEnv`: a process for each game. It has no FIRE."""
    from gymnasium.vector import AsyncVectorEnv  # noqa: PLC0415

    envs: Any = AsyncVectorEnv([partial(gymnasium_game, task.game)] * task.games)
    return vector_player(envs, int(envs.single_action_space.n))


def sb3_game(game: str) -> Any:
    """One game in Stable-Baselines3's wrappers."""
    from stable_baselines3.common.atari_wrappers import AtariWrapper  # noqa: PLC0415

    return AtariWrapper(
        raw_console(game),
        noop_max=NOOP_MAX,
        terminal_on_life_loss=False,
        clip_reward=False,
    )


def sb3(task: Task) -> Player:
    """Stable-Baselines3's `SubprocVecEnv`: a process for each game."""
    from stable_baselines3.common.vec_env import (  # noqa: PLC0415
        SubprocVecEnv,
        VecFrameStack,
    )

    envs = SubprocVecEnv([partial(sb3_game, task.game)] * task.games)
    return vector_player(VecFrameStack(envs, STACK), int(envs.action_space.n))


def envpool(task: Task) -> Player:
    """EnvPool: threads."""
    import envpool  # noqa: PLC0415

    envs = envpool.make(
        f"{camel(task.game)}-v5",
        env_type="gymnasium",
        num_envs=task.games,
        num_threads=task.workers,
        seed=1,
    )
    return vector_player(envs, int(envs.action_space.n))


def emulator(task: Task) -> Player:
    """The bare emulator, in as many processes: the most that could be reached."""
    context = get_context("spawn")
    count = min(task.workers, task.games)
    shares = np.array_split(np.arange(task.games), count)
    lines, processes = [], []
    for share in shares:
        line, child = context.Pipe()
        process = context.Process(
            target=emulate, args=(child, task.game, len(share)), daemon=True
        )
        process.start()
        lines.append(line)
        processes.append(process)

    def play(plan: Actions) -> None:
        for line, share in zip(lines, shares, strict=True):
            line.send(plan[:, share])
        for line in lines:
            line.recv()

    def close() -> None:
        for line in lines:
            line.send(None)
        for process in processes:
            process.join()

    return Player(lines[0].recv(), play, close)


def emulate(line: Connection, game: str, count: int) -> None:
    """Do what is asked, with 4 frames an action, and nothing else."""
    from ale_py import ALEInterface, LoggerMode, roms  # noqa: PLC0415

    rom = roms.get_rom_path(game)
    assert rom is not None, f"ALE has no game {game!r}"

    ALEInterface.setLoggerMode(LoggerMode.Error)
    emulators = []
    for seed in range(count):
        ale = ALEInterface()
        ale.setInt("random_seed", seed)
        ale.setFloat("repeat_action_probability", 0.0)
        ale.loadROM(rom)
        ale.reset_game()
        emulators.append(ale)
    actions = emulators[0].getMinimalActionSet()
    line.send(len(actions))
    while (plan := line.recv()) is not None:
        for row in plan:
            for ale, number in zip(emulators, row, strict=True):
                action = actions[number]
                for _ in range(FRAMES_PER_STEP):
                    ale.act(action)
                if ale.game_over(with_truncation=False):
                    ale.reset_game()
        line.send(None)


PLAYERS: dict[str, Callable[[Task], Player]] = {
    "parallel": parallel,
    "joined": joined,
    "serial": serial,
    "native": native,
    "envpool": envpool,
    "gymnasium": gymnasium_async,
    "sb3": sb3,
    "emulator": emulator,
}


@contextmanager
def playing(task: Task) -> Iterator[Player]:
    """Make a player, and close it afterwards."""
    player = PLAYERS[task.player](task)
    try:
        yield player
    finally:
        player.close()


def measure(task: Task) -> Measured:
    """Let a player play: first to warm up, then on the clock."""
    with playing(task) as player:
        random = np.random.default_rng(1)
        length = task.warm_up + task.steps
        plan = random.integers(player.actions, size=(length, task.games))
        player.play(plan[: task.warm_up])
        start = perf_counter()
        player.play(plan[task.warm_up :])
        seconds = perf_counter() - start
        family = descendants(os.getpid())
        return Measured(seconds, len(family), *memory(family))


def descendants(ancestor: int) -> list[int]:
    """List a process, all that it has started, what these have started, and so on."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The name of the program is in brackets, and may have brackets of its own.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
    found = [ancestor]
    for process in found:  # which grows on the way
        found += [child for child, parent in parents.items() if parent == process]
    return found


def memory(processes: list[int]) -> tuple[float, float]:
    """Add up the memory of processes, in megabytes: PSS and RSS."""
    total = {"Pss:": 0, "Rss:": 0}
    for process in processes:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
        for line in text.splitlines():
            name, *rest = line.split()
            if name in total:
                total[name] += int(rest[0])
    return round(total["Pss:"] / 1024, 1), round(total["Rss:"] / 1024, 1)


def main() -> None:
    """Measure once, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", help="the fields of a Task, as JSON")
    print(json.dumps(asdict(measure(Task(**json.loads(parser.parse_args().task))))))


if __name__ == "__main__":
    main()
