"""The game on the real emulator, against a plain account of what must happen."""

import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from ale_py import Action, ALEInterface, roms
from gymnasium.utils.env_checker import check_env

from labml_rl.game import SAME_START, Game, available_games, loader, make_game
from labml_rl.screen import Pixels
from labml_rl.wrappers import nature_dqn_env
from tests.book.peers import emulator
from tests.book.reference import picture

# With FIRE and lives; FIRE and no lives; neither; lives and no FIRE; and one that is
# played on at zero lives.
GAMES = ["breakout", "pong", "freeway", "ms_pacman", "bank_heist"]

Step = tuple[Pixels, float, bool, bool, dict[str, Any]]


def told_plainly(
    name: str, seed: int, actions: list[int], *, sticky: float, max_frames: int
) -> Iterator[Step]:
    """Play as the book says, frame by frame, and keep every screen of the game."""
    random = np.random.default_rng(seed)
    ale = emulator(name, int(random.integers(2**31)), sticky)
    buttons = ale.getMinimalActionSet()
    screens: list[Pixels] = []
    score = 0
    agent_steps = 0

    def over() -> bool:
        return ale.game_over(with_truncation=False) or len(screens) > max_frames

    def hold(action: Action, frames: int) -> int:
        nonlocal score
        points = 0
        for _ in range(frames):
            if not over():
                points += ale.act(action)
                screens.append(ale.getScreenRGB())
        score += points
        return points

    def begin() -> None:
        nonlocal score, agent_steps
        ale.reset_game()
        screens[:] = [ale.getScreenRGB()]
        score = agent_steps = 0
        hold(Action.NOOP, int(random.integers(1, 31)))
        if Action.FIRE in buttons:
            hold(Action.FIRE, 4)

    begin()
    stack = [picture(*screens[-2:])] * 4
    lives = ale.lives()
    yield np.stack(stack), 0.0, False, False, {"lives": lives}
    for action in actions:
        frames_before = len(screens)
        points = hold(buttons[action], 4)
        agent_steps += 1
        game_over = ale.game_over(with_truncation=False)
        early = game_over and len(screens) - frames_before < 4
        last = screens[-1:] if early else screens[-2:]
        stack = [*stack[1:], picture(*last)]
        life_lost = 0 < ale.lives() < lives
        lives = ale.lives()
        info: dict[str, Any] = {"lives": lives}
        if over():
            frames = len(screens) - 1
            info["episode"] = {"r": score, "l": agent_steps, "frames": frames}
            info["cut_off"] = not game_over
        truncated = over() and not game_over
        terminated = game_over or life_lost
        yield np.stack(stack), points, terminated, truncated, info
        if terminated or truncated:
            if over():
                begin()
            else:
                hold(Action.NOOP, 4)
                if Action.FIRE in buttons:
                    hold(Action.FIRE, 4)
                assert not over(), "choose another seed: the account stops here"
            stack = [picture(*screens[-2:])] * 4
            lives = ale.lives()
            yield np.stack(stack), 0.0, False, False, {"lives": lives}


def played(game: Game, actions: list[int], **reset: Any) -> Iterator[Step]:
    observation, info = game.reset(**reset)
    yield observation, 0.0, False, False, info
    for action in actions:
        step = game.step(action)
        yield step
        if step[2] or step[3]:
            observation, info = game.reset()
            yield observation, 0.0, False, False, info


def random_actions(game: Game, count: int, seed: int = 0) -> list[int]:
    chosen = np.random.default_rng(seed).integers(int(game.action_space.n), size=count)
    return [int(action) for action in chosen]


def assert_same(found: Iterator[Step], wanted: Iterator[Step]) -> list[Step]:
    steps = []
    for index, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert one[1:] == other[1:], f"step {index}"
        assert np.array_equal(one[0], other[0]), f"the pictures of step {index} differ"
        steps.append(one)
    return steps


@pytest.mark.parametrize("name", GAMES)
def test_game_is_what_the_book_says_frame_for_frame(name):
    game = make_game(name, seed=5, max_frames=2500)
    actions = random_actions(game, 1500)
    account = told_plainly(name, 5, actions, sticky=0.0, max_frames=2500)
    steps = assert_same(played(game, actions), account)
    assert any("episode" in info for *_, info in steps), "no game was played to its end"


def test_sticky_actions_are_the_emulators_in_every_frame():
    game = make_game("breakout", seed=5, sticky_actions=0.25, max_frames=2500)
    actions = random_actions(game, 600)
    account = told_plainly("breakout", 5, actions, sticky=0.25, max_frames=2500)
    assert_same(played(game, actions), account)


def test_sticky_actions_are_off_unless_asked_for():
    # The emulator itself would have them at 0.25.
    runs: list[list[Pixels]] = [[], []]
    for seed, run in enumerate(runs):
        game = make_game("breakout", seed=seed, noop_max=0)
        run += [obs for obs, *_ in played(game, random_actions(game, 200))]
    assert all(np.array_equal(a, b) for a, b in zip(*runs, strict=True))


@pytest.mark.parametrize("sticky_actions", [0.0, 0.25])
@pytest.mark.parametrize("name", ["Breakout", "BeamRider"])
def test_a_seed_reproduces_a_run_whatever_was_played_before(name, sticky_actions):
    # In Beam Rider the console remembers the game before; a fresh emulator does not.
    fresh = make_game(name, seed=7, sticky_actions=sticky_actions)
    used = make_game(name, seed=1, sticky_actions=sticky_actions)
    actions = random_actions(fresh, 300)
    assert len(list(played(used, actions))) > len(actions)
    assert_same(played(used, actions, seed=7), played(fresh, actions))


@pytest.mark.parametrize("name", sorted(SAME_START))
def test_a_game_that_forgets_begins_as_if_it_was_switched_on(name):
    kept, waited = make_game(name, seed=3), Game(loader(name), seed=3)
    anew = {"options": {"new_game": True}}
    for length in (1, 10, 60, 30):
        actions = random_actions(kept, length, seed=length)
        assert_same(played(kept, actions, **anew), played(waited, actions, **anew))


@pytest.mark.parametrize(
    ("name", "options", "resets"),
    [
        ("pong", {}, 1),
        ("pong", {"noop_max": 1}, 5),
        ("pong", {"noop_max": 0}, 5),
        ("pong", {"sticky_actions": 0.25}, 5),
        ("beam_rider", {}, 5),
        ("qbert", {}, 5),
    ],
)
def test_the_console_is_switched_on_again_only_if_it_must(
    monkeypatch, name, options, resets
):
    done = []

    class Counting(ALEInterface):
        def reset_game(self):
            done.append(1)
            super().reset_game()

    monkeypatch.setattr("labml_rl.game.ALEInterface", Counting)
    game = make_game(name, seed=3, **options)  # a seed that draws no single no-op
    for _ in range(5):
        game.reset()
    assert len(done) == resets


def test_ms_pac_man_listens_to_nobody_at_first():
    """So no-ops, which are over by then, only shift in which frames an agent acts."""

    def memory(frames, waiting):
        ale = emulator("ms_pacman", 1, 0.0)
        ale.reset_game()
        for frame in range(frames):
            ale.act(Action.NOOP if frame < waiting else Action.RIGHT)
        return ale.getRAM()

    np.testing.assert_array_equal(memory(264, 0), memory(264, 264))
    assert (memory(265, 0) != memory(265, 265)).any()
    assert (memory(300, 0) != memory(300, 300)).sum() > 2
    np.testing.assert_array_equal(memory(300, 2), memory(300, 6))


def test_breakout_has_four_beginnings():
    """Its ball waits for the button, so no-ops do no more than that there, either."""

    def seen(noops):
        ale = emulator("breakout", 1, 0.0)
        ale.reset_game()
        for _ in range(noops):
            ale.act(Action.NOOP)
        for step in range(150):
            turn = Action.RIGHT if step % 20 < 10 else Action.LEFT
            for _ in range(4):
                ale.act(turn if step else Action.FIRE)
            yield ale.getScreenGrayscale().tobytes()

    games = {noops: tuple(seen(noops)) for noops in range(1, 31)}
    assert all(games[noops] == games[noops - 4] for noops in range(5, 31))
    assert len(set(games.values())) == 4


def test_different_seeds_differ():
    game = make_game("MsPacman")
    actions = random_actions(game, 300)
    runs = [
        [observation for observation, *_ in played(game, actions, seed=seed)]
        for seed in (1, 2)
    ]
    length = min(map(len, runs))
    assert not np.array_equal(runs[0][:length], runs[1][:length])


def test_without_a_seed_runs_differ():
    seeds = {make_game("pong").np_random_seed for _ in range(2)}
    assert len(seeds) == 2


@pytest.mark.parametrize("make", [make_game, nature_dqn_env])
def test_a_seed_may_be_a_number_of_numpy(make):
    ours, theirs = (make("Pong", seed=seed).reset()[0] for seed in (7, np.int64(7)))
    assert np.array_equal(ours, theirs)
    again, _ = make("Pong", seed=1).reset(seed=np.int64(7))
    assert np.array_equal(ours, again)


@pytest.mark.filterwarnings("ignore:.*due to the environment not having a spec")
@pytest.mark.parametrize("options", [{}, {"stack": 1, "channels_last": True}])
def test_gymnasium_has_no_complaint(options):
    check_env(make_game("Breakout", seed=1, render_mode="rgb_array", **options))


def test_gymnasiums_vector_environments_take_it():
    make = partial(make_game, "Pong", seed=1)
    both = gymnasium.vector.SyncVectorEnv([make, make])
    observations, _ = both.reset(seed=[1, 2])
    assert observations.shape == (2, 4, 84, 84)
    assert both.step([0, 1])[1].tolist() == [0.0, 0.0]
    both.close()


def test_true_screen_is_rendered():
    game = make_game("Breakout", seed=1, noop_max=0, render_mode="rgb_array")
    game.reset()
    ale = emulator("breakout")
    ale.reset_game()
    for _ in range(4):
        ale.act(Action.FIRE)
    assert np.array_equal(game.render(), ale.getScreenRGB())


@pytest.mark.parametrize("channels_last", [False, True])
def test_observations_can_be_written_where_they_are_wanted(channels_last):
    options = {"channels_last": channels_last, "episodic_life": False}
    one, other = (make_game("Breakout", seed=3, **options) for _ in range(2))
    shape = (84, 84, 4) if channels_last else (4, 84, 84)
    place = np.zeros((2, *shape), np.uint8)
    one.observe_into(place[1])
    assert np.shares_memory(one.reset()[0], place[1])
    other.reset()
    for _ in range(50):
        observation, *_ = other.step(3)
        one.step(3)
        assert np.array_equal(place[1], observation)
    assert not place[0].any()


@pytest.mark.parametrize(
    "wrong", [np.zeros((84, 84, 4), np.uint8), np.zeros((4, 84, 84), np.float32)]
)
def test_a_place_that_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match=r"uint8 of shape \(4, 84, 84\)"):
        make_game("Pong", seed=1).observe_into(wrong)


def test_every_game_can_be_played():
    names = available_games()
    assert len(names) > 100
    for name in names:
        game = make_game(name, seed=0)
        observation, _ = game.reset()
        assert observation.shape == (4, 84, 84), name
        observation, reward, *_ = game.step(int(game.action_space.n) - 1)
        assert observation in game.observation_space, name
        assert isinstance(reward, float), name
        game.close()


@pytest.mark.parametrize("spelling", ["MsPacman", "ms_pacman", "Ms. Pac-Man"])
def test_games_are_found_in_any_spelling(spelling):
    assert make_game(spelling, seed=0).get_action_meanings()[1] == "UP"


@pytest.mark.parametrize(
    ("wrong", "nearest"), [("Brekout", "breakout"), ("SpaceInvader", "space_invaders")]
)
def test_unknown_game_gets_the_nearest_name(wrong, nearest):
    with pytest.raises(ValueError, match=rf"'{wrong}'.*'{nearest}'.*available_games"):
        make_game(wrong)


def test_invaders_are_invisible_in_the_mode_of_the_page():
    words = inspect.getdoc(loader)
    assert words
    names: dict[str, Any] = {}
    exec(words.split("```python\n")[1].split("```")[0], names)

    def lit(game: Game) -> list[int]:
        seen = []
        for _ in range(2):  # also in a second game
            game.reset(options={"new_game": True})
            for _ in range(20):
                picture = game.step(0)[0][-1]
            seen.append(int((picture[10:50] > 0).sum()))
        return seen

    assert lit(names["game"]) == [0, 0]
    assert min(lit(Game(loader("SpaceInvaders"), seed=1))) > 500


def test_game_that_the_emulator_cannot_load_is_refused():
    # The emulator would end the process over it.
    assert "joust" in roms.get_all_rom_ids()
    with pytest.raises(ValueError, match="no game 'joust'"):
        make_game("joust")


@pytest.mark.parametrize("name", ["lost_luggage", "skiing"])
def test_all_actions_are_18_even_where_the_button_is_not_allowed(name):
    games = [make_game(name, seed=1, full_action_space=True) for _ in range(2)]
    space = nature_dqn_env(name, full_action_space=True).action_space
    assert games[0].action_space == space == gymnasium.spaces.Discrete(18)
    assert np.array_equal(games[0].reset()[0], games[1].reset()[0])
    for button in (1, 10, 17):  # alone, and with a direction
        for actions in [(0, button)] * 10 + [(3, 3)] * 10:
            steps = [game.step(a) for game, a in zip(games, actions, strict=True)]
            assert np.array_equal(steps[0][0], steps[1][0])
            assert steps[0][1:4] == steps[1][1:4]


@pytest.mark.parametrize("there", [(), ("pong.bin",)])
def test_a_folder_for_other_programs_changes_nothing(there, tmp_path):
    for name in there:
        (tmp_path / name).write_bytes(b"no game")
    program = "from labml_rl.game import make_game; make_game('Pong').reset()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"ALE_ROMS_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_games_that_did_not_come_along_are_looked_for(monkeypatch, tmp_path):
    games = Path(roms.__file__).parent
    monkeypatch.setattr(roms, "__file__", str(tmp_path / "none" / "__init__.py"))
    monkeypatch.delenv("ALE_ROMS_DIR", raising=False)
    assert available_games.__wrapped__() == ()
    (tmp_path / "pong.bin").write_bytes((games / "pong.bin").read_bytes())
    monkeypatch.setenv("ALE_ROMS_DIR", str(tmp_path))
    assert available_games.__wrapped__() == ("pong",)
    assert make_game("Pong").reset()[1] == {"lives": 0}


def test_unknown_option_is_refused():
    with pytest.raises(TypeError, match="frame_stack"):
        make_game("Pong", frame_stack=4)


def test_emulator_prints_nothing():
    program = "from labml_rl.game import make_game; make_game('Pong').reset()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_importing_the_book_loads_nothing_heavy():
    program = (
        "import sys, labml_rl; print(labml_rl.__version__);"
        "heavy = {'ale_py', 'cv2', 'gymnasium', 'numpy', 'torch'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    version, loaded = done.stdout.split()
    assert version == importlib.import_module("labml_rl").__version__
    assert loaded == "[]"


def test_playing_loads_nothing_that_learns():
    program = (
        "import sys, labml_rl.native, labml_rl.worker, labml_rl.wrappers;"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]


def test_figures_are_what_the_emulator_shows(monkeypatch, tmp_path):
    figures = importlib.import_module("figures.game")
    monkeypatch.setattr(sys, "argv", ["figures.game", "--check"])
    figures.main()
    monkeypatch.setattr(figures, "FOLDER", Path(tmp_path))
    with pytest.raises(SystemExit, match=r"game-flicker\.png"):
        figures.main()
