"""Where other libraries do otherwise, on purpose or not.

What the book says of them is shown here on both sides: ours, and theirs. When one of
these tests fails after an update, a peer has changed, and a page has to.
"""

from typing import Any

import cv2
import gymnasium
import numpy as np
import pytest
from ale_py import Action, ALEInterface
from gymnasium.wrappers import (
    AtariPreprocessing,
    FrameStackObservation,
    GrayscaleObservation,
    ResizeObservation,
)
from stable_baselines3.common.atari_wrappers import (
    AtariWrapper,
    MaxAndSkipEnv,
)
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack

from labml_rl.screen import Pixels
from tests.book.fake_atari import FakeAtari, Script, draw
from tests.book.peers import (
    FakeConsole,
    ale_vector,
    console,
    emulator,
    our_game,
)
from tests.book.reference import picture

NOOP, FIRE, RIGHT = Action.NOOP, Action.FIRE, Action.RIGHT


def luminance(screen: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(screen, cv2.COLOR_RGB2GRAY), np.uint8)


class Console(FakeConsole):
    """A scripted console that can also be asked for grey, as Gymnasium does."""

    def __init__(self, *scripts: Script, actions: Any = (NOOP, RIGHT)) -> None:
        self.atari = FakeAtari(scripts or [Script()], actions)
        super().__init__(self.atari)
        self.atari.getScreenGrayscale = self._grey  # type: ignore[attr-defined]

    def _screen(self) -> Pixels:
        return draw(self.atari.games, self.atari.frame)

    def _grey(self, buffer: Pixels) -> None:
        buffer[:] = luminance(self._screen())


def greys(*frames: int) -> Pixels:
    """Return the maximum of greys of these frames of the first fake game."""
    every = np.stack([luminance(draw(1, frame)) for frame in frames])
    return np.asarray(every.max(axis=0), np.uint8)


def shrunk(grey: Pixels) -> Pixels:
    return np.asarray(cv2.resize(grey, (84, 84), interpolation=cv2.INTER_AREA))


def colours(*frames: int) -> Pixels:
    return picture(*(draw(1, frame) for frame in frames))


def gymnasiums(*scripts: Script, **options: Any) -> Any:
    quiet = {"noop_max": 0}
    return AtariPreprocessing(Console(*scripts), **(quiet | options))


def sb3s(*scripts: Script, actions: Any = (NOOP, RIGHT), **options: Any) -> Any:
    quiet = {"noop_max": 0, "clip_reward": False}
    return AtariWrapper(Console(*scripts, actions=actions), **(quiet | options))


# ------------------------------------------------------------------ the picture


def test_gymnasium_takes_the_maximum_of_greys():
    theirs, ours = gymnasiums(), FakeAtari().game()
    theirs.reset(), ours.reset()
    observation = theirs.step(0)[0]
    assert np.array_equal(observation, shrunk(greys(3, 4)))
    assert np.array_equal(ours.step(0)[0][-1], colours(3, 4))
    # A red and a blue sprite in turn: the brighter one, or both.
    assert observation[68, 42] == round(0.299 * 250)
    assert colours(3, 4)[68, 42] == round(0.299 * 250 + 0.114 * 250)


@pytest.mark.parametrize("name", ["breakout", "ms_pacman", "seaquest", "qbert"])
def test_of_a_single_frame_ales_grey_is_ours(name):
    ale = emulator(name)
    for frame in range(200):
        ale.act(Action.RIGHT if frame % 40 else Action.FIRE)
        assert np.array_equal(luminance(ale.getScreenRGB()), ale.getScreenGrayscale())


@pytest.mark.parametrize(
    ("name", "at_least", "at_most"),
    [("breakout", 0, 0), ("space_invaders", 0, 0), ("ms_pacman", 30, 40)],
)
def test_in_some_games_the_order_makes_no_difference_and_in_others_much(
    name, at_least, at_most
):
    options: dict[str, Any] = {"stack": 1, "episodic_life": False}
    ours, greyed = (our_game(name, greyed=grey, **options) for grey in (False, True))
    ours.reset(), greyed.reset()
    worst = 0
    for action in np.random.default_rng(0).integers(ours.action_space.n, size=500):
        picture, *_, over, _, _ = ours.step(action)
        of_greys, *_ = greyed.step(action)
        worst = max(worst, np.abs(picture.astype(int) - of_greys).max())
        if over:
            ours.reset(), greyed.reset()
    assert at_least <= worst <= at_most


def test_cleanrl_shrinks_in_colour():
    # Its Atari programs put these one on the other, and then make the picture grey.
    theirs: Any = ResizeObservation(MaxAndSkipEnv(console("ms_pacman"), 4), (84, 84))
    ours = our_game("ms_pacman", noop_max=0, episodic_life=False)
    theirs.reset(), ours.reset()
    differences = []
    for _ in range(100):
        shown = ours.step(2)[0][-1].astype(int)
        differences.append(np.abs(shown - luminance(theirs.step(2)[0])))
    assert np.max(differences) == 1, "rounded once more on the way"


def test_gymnasiums_wrapper_for_grey_weighs_colours_otherwise():
    blue = Console()
    blue._screen = lambda: np.full((210, 160, 3), (0, 0, 200), np.uint8)  # type: ignore[method-assign]
    grey, _ = GrayscaleObservation(blue).reset()
    assert grey[0, 0] == int(0.0721 * 200)
    assert luminance(blue._screen())[0, 0] == round(0.114 * 200)


# ---------------------------------------------------------- the first observation


def test_first_picture_of_the_peers_is_of_a_single_frame():
    ours, _ = FakeAtari().game(noop_max=1).reset()
    assert np.array_equal(ours[-1], colours(0, 1))
    theirs, _ = gymnasiums(noop_max=1).reset()
    assert np.array_equal(theirs, shrunk(greys(1)))
    theirs, _ = sb3s(noop_max=1).reset()
    assert np.array_equal(theirs[..., 0], colours(1))


def test_first_stack_is_repeated_by_some_and_zeros_in_others():
    repeated, _ = FrameStackObservation(gymnasiums(), stack_size=4).reset()
    assert all(np.array_equal(each, repeated[-1]) for each in repeated)
    assert repeated.any()

    zeros: Any = VecFrameStack(DummyVecEnv([sb3s]), n_stack=4).reset()
    assert not zeros[0, ..., :3].any()
    assert zeros[0, ..., 3].any()

    zeros, _ = ale_vector("pong", 1).reset(seed=1)
    assert not zeros[0, :3].any()
    assert zeros[0, 3].any()


# ---------------------------------------------------------- the last observation


@pytest.mark.parametrize("over_in", [1, 2, 3, 4])
def test_stable_baselines3_shows_a_stale_picture_at_the_end(over_in):
    theirs = sb3s(Script(over_at=4 + over_in))
    theirs.reset()
    theirs.step(0)
    observation, _, terminated, *_ = theirs.step(0)
    assert terminated
    # In frame 1 or 2: the step before. In frame 3: that frame, and one of long ago.
    shown = {1: (3, 4), 2: (3, 4), 3: (4, 7), 4: (7, 8)}[over_in]
    assert np.array_equal(observation[..., 0], colours(*shown))


@pytest.mark.parametrize("over_in", [1, 2, 3, 4])
def test_gymnasium_shows_a_stale_picture_at_the_end(over_in):
    theirs = gymnasiums(Script(over_at=4 + over_in))
    theirs.reset()
    theirs.step(0)
    observation, _, terminated, *_ = theirs.step(0)
    assert terminated
    # It leaves before it fetches. The final frame is never seen, whichever it is.
    shown = {1: (3, 4), 2: (3, 4), 3: (3, 4), 4: (3, 4, 7)}[over_in]
    assert np.array_equal(observation, shrunk(greys(*shown)))


@pytest.mark.parametrize(("name", "ends_in"), [("pong", {1, 2, 3}), ("freeway", {4})])
def test_ale_vector_shows_a_stale_picture_at_the_end(name, ends_in):
    envs, ale = ale_vector(name, 1, noop_max=1), emulator(name)
    actions, random = ale.getMinimalActionSet(), np.random.default_rng(0)

    def begin(noops: int) -> list[Pixels]:
        ale.reset_game()
        for _ in range(noops):
            ale.act(NOOP)
        return []

    before = frames = begin(envs.reset(seed=1)[1]["episode_frame_number"][0])
    seen: set[int] = set()
    while seen != ends_in:
        action = int(random.integers(len(actions)))
        before, frames = frames, []
        for _ in range(4):
            ale.act(actions[action])
            frames.append(ale.getScreenGrayscale())
            if ale.game_over(with_truncation=False):
                break
        _, _, (terminated,), _, info = envs.step(np.array([action]))
        assert terminated == ale.game_over(with_truncation=False)
        if terminated:
            over_in = len(frames)
            # The last two that it fetched: of the step before, and perhaps the third.
            fetched = before[2:] + (frames[2:3] if over_in == 4 else [])
            final = info["final_obs"][0][-1]
            assert np.array_equal(final, shrunk(np.max(fetched, axis=0)))
            now = shrunk(np.max(frames[-2:], axis=0))
            assert not np.array_equal(final, now), "of which it shows nothing"
            seen.add(over_in)
            frames = begin(info["episode_frame_number"][0])


# -------------------------------------------------------------------------- lives


def test_gymnasium_restarts_the_game_when_a_life_is_lost():
    theirs = gymnasiums(Script(lives={0: 3, 6: 2}), terminal_on_life_loss=True)
    theirs.reset()
    theirs.step(0)
    observation, _, terminated, *_ = theirs.step(0)
    assert terminated
    assert theirs.unwrapped.atari.frame == 6, "and does not finish the step"
    assert np.array_equal(observation, shrunk(greys(3, 4))), "which makes this stale"
    theirs.reset()
    assert theirs.unwrapped.atari.games == 2

    atari = FakeAtari([Script(lives={0: 3, 6: 2})])
    ours = atari.game()
    ours.reset()
    ours.step(0)
    assert ours.step(0)[2]
    ours.reset()
    assert atari.games == 1


def test_gymnasium_takes_zero_lives_for_the_end():
    theirs = gymnasiums(
        Script(lives={0: 1, 6: 0}, over_at=20), terminal_on_life_loss=True
    )
    theirs.reset()
    assert [theirs.step(0)[2] for _ in range(2)] == [False, True]
    theirs = sb3s(Script(lives={0: 1, 6: 0}, over_at=20))
    theirs.reset()
    assert [theirs.step(0)[2] for _ in range(5)] == [False] * 4 + [True]


def lose_a_life(envs: Any, fire: int = 1, right: int = 2) -> tuple[Any, ...]:
    """Play Breakout badly, until an episode ends."""
    for step in range(1000):
        answer: tuple[Any, ...] = envs.step(np.array([right if step % 4 else fire]))
        if answer[2][0]:
            return answer
    raise AssertionError("the ball was never lost")


def test_ale_vector_restarts_the_game_with_episodic_life():
    envs = ale_vector("breakout", 1, noop_max=1, episodic_life=True)
    envs.reset(seed=1)
    *_, info = lose_a_life(envs)
    assert info["lives"] == [5]
    assert info["episode_frame_number"] == [0]


def test_ale_vector_goes_on_with_life_loss_info():
    envs = ale_vector("breakout", 1, noop_max=1, life_loss_info=True)
    envs.reset(seed=1)
    final, *_, info = lose_a_life(envs)
    assert info["lives"] == [4]
    frames = info["episode_frame_number"][0]
    assert frames >= 100
    observations, *_, info = envs.step(np.array([0]))
    assert info["episode_frame_number"] == [frames + 4], "no no-op, and no reset"
    assert np.array_equal(observations[0][:3], final[0][1:]), "of the old episode"


@pytest.mark.parametrize("fire", [False, True])
def test_envpool_goes_on_with_no_ops_and_with_old_pictures(fire):
    envpool = pytest.importorskip("envpool", reason="`make bench-setup` installs it")
    envs = envpool.make(
        "Breakout-v5",
        env_type="gymnasium",
        num_envs=1,
        num_threads=1,
        noop_max=30,
        seed=5,
        use_fire_reset=fire,
        episodic_life=True,
    )
    _, info = envs.reset()
    ale, waited = emulator("breakout"), []
    ale.reset_game()
    waited.append(no_ops_until(ale, info["ram"][0], fire=fire))
    for lives in (4, 3, 2, 1):
        for step in range(1000):
            action = 2 if step % 4 else 1  # FIRE serves the ball
            final, _, (terminated,), _, info = envs.step(np.array([action]))
            for _ in range(4):
                ale.act(RIGHT if step % 4 else FIRE)
            if terminated:
                break
        assert info["lives"] == [lives]
        observations, *_, info = envs.step(np.array([0]))  # the step of the reset
        assert info["lives"] == [lives], "the game goes on"
        waited.append(no_ops_until(ale, info["ram"][0], fire=fire))
        assert np.array_equal(observations[0][:3], final[0][1:]), "of the old episode"
    assert max(waited) > 20, waited
    assert all(0 <= count - (not fire) <= 29 for count in waited)


def no_ops_until(ale: ALEInterface, memory: Pixels, *, fire: bool) -> int:
    """Find how many no-ops, and FIRE if so, bring the console into this state."""
    before = ale.cloneState()
    for count in range(31):
        ale.restoreState(before)
        for _ in range(count):
            ale.act(Action.NOOP)
        if fire:
            ale.act(Action.FIRE)
        if np.array_equal(ale.getRAM(), memory):
            return count
    raise AssertionError("no number of no-ops explains it")


# ------------------------------------------------------- how a game begins


def test_ale_vector_has_0_to_29_no_ops_and_fires_before_them():
    frames = {}
    for fire in (False, True):
        envs = ale_vector("breakout", 1, noop_max=30, use_fire_reset=fire)
        counted, _ = set(), envs.reset(seed=1)
        for _ in range(120):
            _, info = envs.reset()
            counted.add(int(info["episode_frame_number"][0]))
        frames[fire] = counted
    assert {0, 29} <= frames[False] <= set(range(30))
    # FIRE for one frame, and 0 to 28 no-ops.
    assert {1, 29} <= frames[True] <= set(range(1, 30))


def test_ale_vector_fires_first():
    envs, ale = ale_vector("breakout", 1, use_fire_reset=True), emulator("breakout")
    envs.reset(seed=1)
    for _ in range(5):
        observations, info = envs.reset()
        noops = [NOOP] * (int(info["episode_frame_number"][0]) - 1)
        pictures = []
        for actions in ([FIRE, *noops], [*noops, FIRE]):
            ale.reset_game()
            for action in actions:
                ale.act(action)
            pictures.append(shrunk(ale.getScreenGrayscale()))
        assert np.array_equal(pictures[0], observations[0][-1])
        assert len(noops) < 5 or not np.array_equal(pictures[1], observations[0][-1])


def test_ale_vector_does_not_count_no_ops_under_its_cap():
    envs = ale_vector("pong", 1, noop_max=30, max_num_frames_per_episode=100)
    for seed in range(3):
        _, info = envs.reset(seed=seed)
        for _ in range(24):
            assert not envs.step(np.array([0]))[3][0]
        assert envs.step(np.array([0]))[3][0], info


def test_stable_baselines3_presses_action_2_at_the_start():
    theirs = sb3s(actions=(NOOP, FIRE, RIGHT))
    theirs.reset()
    assert theirs.unwrapped.atari.played == [[FIRE] * 4 + [RIGHT] * 4]
    ours = FakeAtari()
    ours.game(fire_at_start=True).reset()
    assert ours.played == [[FIRE] * 4]


def test_stable_baselines3_begins_with_a_picture_of_what_is_over():
    # The game ends under action 2, in frames 5 to 8. A new one is begun, and not shown.
    theirs = sb3s(Script(over_at=8), Script(), actions=(NOOP, FIRE, RIGHT))
    observation, _ = theirs.reset()
    assert theirs.unwrapped.atari.games == 2
    assert theirs.unwrapped.atari.frame == 0
    assert np.array_equal(observation[..., 0], colours(7, 8))

    atari = FakeAtari([Script(over_at=4), Script()])
    observation, _ = atari.game(fire_at_start=True).reset()
    assert np.array_equal(observation[-1], picture(draw(2, 3), draw(2, 4)))


def test_stable_baselines3_loses_a_life_unseen_while_it_fires():
    # FIRE and action 2 to 8, the step in which a life is lost to 12, a no-op to 16,
    # FIRE to 20, action 2 to 24, and there another life is lost.
    theirs = sb3s(Script(lives={0: 3, 9: 2, 24: 1}), actions=(NOOP, FIRE, RIGHT))
    theirs.reset()
    assert theirs.step(0)[2]
    observation, _ = theirs.reset()
    assert theirs.unwrapped.atari.frame == 28, "one more no-op"
    assert np.array_equal(observation[..., 0], colours(23, 24)), "which is not shown"


def test_ale_v5_is_sticky_and_skips_frames_by_default():
    spec = gymnasium.spec("ALE/Breakout-v5")
    assert spec.kwargs["repeat_action_probability"] == 0.25
    assert spec.kwargs["frameskip"] == 4
