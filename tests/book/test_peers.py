"""Frame for frame equal to other libraries, wherever they define the same thing.

Each of these tests plays thousands of steps of real games on both sides, with the same
random actions. Observations, rewards and ends must be equal to the last bit, apart from
what is masked here by name. What is masked, `test_peers_differ.py` pins.
"""

from typing import Any

import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from stable_baselines3.common.atari_wrappers import AtariWrapper

from benchmarks.games_players import camel
from labml_rl.game import Game
from labml_rl.screen import Pixels
from tests.book.peers import (
    Moment,
    Replay,
    ale_vector,
    console,
    our_game,
    share_dice,
    side_by_side,
)

STEPS = 1000


def same_end(moment: Moment) -> None:
    """Reward, `terminated` and `truncated` are equal."""
    _, *ours = moment.ours
    _, *theirs = moment.theirs
    assert ours == [float(theirs[0]), bool(theirs[1]), bool(theirs[2])]


def same_pictures(moment: Moment) -> None:
    """All pictures of the stack that belong to steps of this episode are equal."""
    count = min(moment.age, len(moment.ours[0]))
    assert np.array_equal(moment.ours[0][-count:], moment.theirs[0][-count:])


# ---------------------------------------------------------- Stable-Baselines3


@pytest.mark.parametrize(
    ("name", "seed", "episodic_life"),
    [
        ("breakout", 1, True),
        ("pong", 2, True),
        ("qbert", 3, True),
        ("ms_pacman", 4, True),
        ("beam_rider", 5, True),
        ("breakout", 6, False),
        ("ms_pacman", 7, False),
    ],
)
def test_stable_baselines3(name, seed, episodic_life):
    clip = seed % 2 == 0
    ours = our_game(
        name,
        seed=seed,
        stack=1,
        channels_last=True,
        episodic_life=episodic_life,
        clip_rewards=clip,
        max_frames=1801,
    )
    theirs = AtariWrapper(
        console(name, max_frames=1801),
        terminal_on_life_loss=episodic_life,
        clip_reward=clip,
    )
    share_dice(ours, theirs)
    fires = "FIRE" in ours.get_action_meanings()

    # It presses FIRE, as we do, and then action 2, as we do not.
    def reset(game: Game) -> Pixels:
        observation, _ = game.reset()
        return game.step(2)[0] if fires else observation

    # Without that, its first picture of a game is of one frame, and ours of two.
    def first(ours: Pixels, theirs: Any) -> None:
        assert not fires or np.array_equal(ours, theirs)

    ends = 0
    for moment in side_by_side(ours, theirs, STEPS, reset=reset, first=first):
        same_end(moment)
        if moment.frames == 4:
            assert np.array_equal(moment.ours[0], moment.theirs[0])
        elif moment.frames < 3:
            assert np.array_equal(moment.previous, moment.theirs[0]), "stale"
        ends += moment.over
    assert ends > 0, "a run without an end shows nothing of it"


# ------------------------------------------------------------------ Gymnasium


@pytest.mark.parametrize(
    ("name", "seed", "sticky"),
    [
        ("breakout", 1, 0.0),
        ("pong", 2, 0.0),
        ("seaquest", 3, 0.25),
        ("ms_pacman", 4, 0.0),
        ("tennis", 5, 0.25),
    ],
)
def test_gymnasium(name, seed, sticky):
    options: dict[str, Any] = {
        "episodic_life": False,
        "fire_at_start": False,
        "max_frames": 1801,
        "sticky_actions": sticky,
    }
    ours = our_game(name, greyed=True, seed=seed, **options)
    theirs = FrameStackObservation(
        AtariPreprocessing(console(name, max_frames=1801, sticky_actions=sticky)),
        stack_size=4,
    )
    share_dice(ours, theirs)

    def first(ours: Pixels, theirs: Any) -> None:
        assert all(np.array_equal(theirs[0], picture) for picture in theirs)
        assert all(np.array_equal(ours[0], picture) for picture in ours)

    ends = 0
    for moment in side_by_side(ours, theirs, STEPS, first=first):
        same_end(moment)
        if not moment.over:
            same_pictures(moment)
        elif moment.frames < 4:
            assert np.array_equal(moment.theirs[0][-1], moment.previous[-1]), "stale"
        ends += moment.over
    assert ends > 0


# ------------------------------------------------------ ALE's vector environment


@pytest.mark.parametrize("name", ["breakout", "qbert", "ms_pacman", "space_invaders"])
def test_ale_vector(name):
    count = 2
    theirs = ale_vector(name, count, life_loss_info=True)
    options = {"episodic_life": False, "fire_at_start": False}
    games = [our_game(name, greyed=True, **options) for _ in range(count)]
    _, info = theirs.reset(seed=1)
    lives = [begin(game, info, i) for i, game in enumerate(games)]
    ages, ends, before = [0] * count, 0, np.zeros(0)
    random = np.random.default_rng(1)
    for actions in random.integers(games[0].action_space.n, size=(700, count)):
        observations, rewards, terminated, truncated, info = theirs.step(actions)
        for i, game in enumerate(games):
            frames = game._frames
            ours, reward, over, _, ours_info = game.step(actions[i])
            life_lost = 0 < ours_info["lives"] < lives[i]
            assert reward == rewards[i]
            assert (over or life_lost) == terminated[i]
            assert not truncated[i]
            lives[i], ages[i] = ours_info["lives"], ages[i] + 1
            if over:
                if game._frames - frames < 4:
                    final = info["final_obs"][i]
                    assert np.array_equal(final[-1], before[i][-1]), "stale"
                lives[i], ages[i] = begin(game, info, i), 0
                ends += 1
            else:
                assert info["lives"][i] == ours_info["lives"]
                fresh = min(ages[i], 4)
                assert np.array_equal(ours[-fresh:], observations[i][-fresh:])
        before = observations
    assert ends > 0


def begin(game: Game, info: dict[str, Any], which: int) -> int:
    """Begin a game after as many no-ops as the peer's has had. Return the lives."""
    dice: Any = Replay()
    dice.drawn = int(info["episode_frame_number"][which])
    game.np_random = dice
    game.reset(options={"new_game": True})
    assert game._frames == dice.drawn
    return game._lives


# --------------------------------------------------------------------- EnvPool


@pytest.mark.parametrize("name", ["breakout", "seaquest", "ms_pacman"])
def test_envpool(name):
    envpool = pytest.importorskip("envpool", reason="`make bench-setup` installs it")
    theirs = envpool.make(
        f"{camel(name)}-v5",
        env_type="gymnasium",
        num_envs=1,
        num_threads=1,
        noop_max=1,
        use_fire_reset=False,
    )
    options = {"episodic_life": False, "fire_at_start": False, "noop_max": 1}
    game = our_game(name, greyed=True, **options)
    game.reset()
    before, _ = theirs.reset()
    age = ends = 0
    for action in np.random.default_rng(1).integers(game.action_space.n, size=STEPS):
        frames = game._frames
        ours, *our_end, _ = game.step(action)
        observations, *end, _ = theirs.step(np.array([action]))
        age += 1
        fresh, frames = min(age, 4), game._frames - frames
        assert our_end == [each[0] for each in end]
        if frames < 3:
            assert np.array_equal(observations[0][-1], before[0][-1]), "stale"
        else:
            assert np.array_equal(ours[-fresh:], observations[0][-fresh:])
        if our_end[1]:
            game.reset()
            observations, *_ = theirs.step(np.array([0]))  # the step of the reset
            age, ends = 0, ends + 1
        before = observations
    assert ends > 0
