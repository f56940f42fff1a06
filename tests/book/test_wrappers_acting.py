"""Each wrapper that acts, alone on a scripted game, in all the ways a game can end."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from ale_py import Action
from gymnasium.error import InvalidAction, ResetNeeded

from labml_rl.wrappers import (
    ClipReward,
    CountSteps,
    EpisodeStatistics,
    EpisodicLife,
    FireStart,
    Frames,
    MaxBetweenFrames,
    MinimalActions,
    NoopStart,
    RandomStart,
    RepeatAndMax,
    SkipFrames,
    StackFrames,
)
from tests.book.fake_atari import Script, draw
from tests.book.fake_frames import ColourAtari, NoiseAtari, consoles, same

Env = gymnasium.Env[Any, Any]
NOOP, FIRE, RIGHT = Action.NOOP, Action.FIRE, Action.RIGHT


class Corridor(gymnasium.Env[np.ndarray[Any, Any], Any]):
    """An environment that has nothing to do with Atari."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Box(0, 9, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action):
        return np.ones(1, np.float32), 1, False, False, {}


def shown(*frames: int, game: int = 1):
    return np.max([draw(game, frame) for frame in frames], axis=0)


# ---------------------------------------------------------------------- Frames


def test_frame_by_frame():
    atari = ColourAtari([Script(lives={0: 3, 2: 2}, points={2: 7}, over_at=3)])
    env = atari.frames()
    with pytest.raises(ResetNeeded):
        env.step(0)
    observation, info = env.reset()
    assert observation in env.observation_space
    assert np.array_equal(observation, draw(1, 0))
    assert info == {"lives": 3}
    assert same(env.step(0), (draw(1, 1), 0.0, False, False, {"lives": 3}))
    assert same(env.step(3), (draw(1, 2), 7.0, False, False, {"lives": 2}))
    assert same(env.step(1), (draw(1, 3), 0.0, True, False, {"lives": 2}))
    assert atari.played == [[NOOP, RIGHT, FIRE]]
    with pytest.raises(ResetNeeded):
        env.step(0)
    assert np.array_equal(env.reset()[0], draw(2, 0))


def test_there_is_no_score_before_the_first_game():
    frames = ColourAtari().frames()
    env = EpisodeStatistics(frames)
    frames.reset()  # behind its back
    with pytest.raises(ResetNeeded):
        env.step(0)


@pytest.mark.parametrize("over_at", [None, 2])
def test_frames_are_cut_off_at_the_cap(over_at):
    env = ColourAtari([Script(over_at=over_at)]).frames(max_frames=2)
    for _ in range(2):
        env.reset()
        assert env.step(0)[2:4] == (False, False)
        assert env.step(0)[2:4] == (over_at == 2, True)
        with pytest.raises(ResetNeeded):
            env.step(0)


def test_all_actions_are_there_and_the_minimal_ones_known():
    env = ColourAtari(actions=[FIRE, RIGHT]).frames()
    assert env.action_space.n == 18
    assert env.get_action_meanings()[:4] == ["NOOP", "FIRE", "UP", "RIGHT"]
    assert env.minimal_actions() == ["FIRE", "RIGHT"]
    env.reset()
    wrongs: list[Any] = [18, -1, None]
    for wrong in wrongs:
        with pytest.raises(InvalidAction, match="NOOP, FIRE, UP"):
            env.step(wrong)


def test_a_seed_loads_a_fresh_emulator_and_sets_the_dice():
    atari = ColourAtari()
    env = atari.frames(seed=4)
    assert len(atari.seeds) == 1
    env.reset()
    env.reset(options={"new_game": True})
    assert len(atari.seeds) == 1
    env.reset(seed=4)
    assert atari.seeds[0] == atari.seeds[1]
    first = env.np_random.integers(10**9)
    env.reset(seed=4)
    assert env.np_random.integers(10**9) == first


def test_minimal_actions_are_translated():
    atari = ColourAtari(actions=[FIRE, RIGHT])
    env = MinimalActions(atari.frames())
    assert env.action_space == gymnasium.spaces.Discrete(2)
    assert env.get_action_meanings() == ["FIRE", "RIGHT"]
    env.reset()
    env.step(1)
    env.step(np.int64(0))
    assert atari.played == [[RIGHT, FIRE]]
    for wrong in (2, -1):
        with pytest.raises(InvalidAction, match="they are FIRE, RIGHT"):
            env.step(wrong)


@pytest.mark.parametrize(
    ("points", "paid"), [(7, 1.0), (-0.5, -1.0), (0, 0.0), (400, 1.0)]
)
def test_reward_is_the_sign_of_the_points(points, paid):
    env = ClipReward(ColourAtari([Script(points={1: points})]).frames())
    env.reset()
    reward = env.step(0)[1]
    assert (reward, type(reward)) == (paid, float)
    assert [env.reward(points) for points in (True, np.True_)] == [1.0, 1.0]


# ------------------------------------------------------------------ statistics


class OneInfo(gymnasium.Wrapper):
    """Has one dictionary for all its infos."""

    def reset(self, **options):
        observation, info = self.env.reset(**options)
        self.info = info
        return observation, info

    def step(self, action):
        *rest, info = self.env.step(action)
        self.info.update(info)
        return *rest, self.info


def test_a_score_is_reported_once():
    scripts = [Script(over_at=2, lives={0: 2, 1: 1}), Script()]
    frames = OneInfo(ColourAtari(scripts).frames())
    env = FireStart(EpisodicLife(EpisodeStatistics(frames)))
    env.reset()
    *_, info = env.step(0)
    assert info["episode"]["frames"] == 2
    assert frames.info.keys() == {"lives"}
    _, info = env.reset()
    assert info.keys() == {"lives"}


def test_score_is_raw_whatever_is_done_further_out():
    script = Script(points={1: 5, 3: -20, 4: 3}, over_at=5, lives={0: 2, 4: 1})
    env = ClipReward(EpisodicLife(EpisodeStatistics(ColourAtari([script]).frames())))
    env.reset()
    infos = []
    for _ in range(4):
        *_, terminated, _, info = env.step(0)
        infos.append(info)
    assert terminated, "a life"
    assert all("episode" not in info for info in infos)
    # The no-op after the life ends the game.
    _, info = env.reset()
    assert info["episode"] == {"r": -12.0, "frames": 5}


def test_score_begins_anew_with_each_game():
    atari = ColourAtari([Script(points={1: 1}, over_at=2), Script(over_at=3)])
    env = EpisodeStatistics(atari.frames())
    scores = []
    for frames in (2, 3):
        env.reset()
        for _ in range(frames):
            info = env.step(0)[4]
        scores.append(info["episode"])
    assert scores == [{"r": 1.0, "frames": 2}, {"r": 0.0, "frames": 3}]


def test_truncated_game_has_a_score():
    env = EpisodeStatistics(ColourAtari().frames(max_frames=1))
    env.reset()
    assert env.step(0)[4]["episode"] == {"r": 0.0, "frames": 1}


def test_steps_of_the_agent_are_counted_from_the_top():
    env: Env = EpisodeStatistics(ColourAtari([Script(over_at=11)]).frames())
    env = CountSteps(SkipFrames(NoopStart(env, 1)))
    for _ in range(2):
        env.reset()
        assert "episode" not in env.step(0)[4]
        env.step(0)
        assert env.step(0)[4]["episode"] == {"r": 0.0, "l": 3, "frames": 11}


def test_a_step_that_is_refused_is_not_counted():
    atari = ColourAtari([Script(over_at=8)])
    env = CountSteps(SkipFrames(EpisodeStatistics(atari.frames())))
    env.reset()
    with pytest.raises(InvalidAction):
        env.step(99)
    env.step(0)
    *_, info = env.step(0)
    assert info["episode"]["l"] == 2


def test_game_without_a_step_of_the_agent_has_no_score():
    atari = ColourAtari([Script(over_at=1), Script(over_at=2)])
    env = CountSteps(NoopStart(EpisodeStatistics(atari.frames()), 1))
    assert env.reset()[1] == {"lives": 3}
    assert env.step(0)[4]["episode"]["l"] == 1


def test_counting_needs_statistics():
    with pytest.raises(ValueError, match="EpisodeStatistics"):
        CountSteps(ColourAtari().frames())


# ---------------------------------------------------------------------- no-ops


@pytest.mark.parametrize("wrapper", [NoopStart, RandomStart])
def test_number_of_noops_is_drawn_from_the_environments_own_dice(wrapper):
    atari = NoiseAtari()
    env = wrapper(atari.frames(), 5)
    before = str(np.random.get_state())
    for _ in range(60):
        env.reset()
    assert {len(played) for played in atari.played} == {1, 2, 3, 4, 5}
    assert str(np.random.get_state()) == before, "the global generator was used"
    env.reset(seed=1)
    again = len(atari.played)
    for _ in range(5):
        env.reset()
    env.reset(seed=1)
    for _ in range(5):
        env.reset()
    assert atari.played[again : again + 5] == atari.played[again + 6 :]


def test_noops_do_nothing_and_random_actions_anything():
    for wrapper, wanted in [(NoopStart, 1), (RandomStart, 18)]:
        atari = NoiseAtari()
        env = wrapper(atari.frames(), 30)
        for _ in range(60):
            env.reset()
        assert len({action for played in atari.played for action in played}) == wanted
        assert wrapper is RandomStart or set(atari.played[0]) == {NOOP}


def test_random_actions_are_those_below():
    atari = NoiseAtari(actions=[NOOP, RIGHT])
    env = RandomStart(MinimalActions(atari.frames()), 30)
    for _ in range(20):
        env.reset()
    assert {a for played in atari.played for a in played} == {NOOP, RIGHT}


@pytest.mark.parametrize("over_at", [1, 2])
def test_game_that_ends_during_noops_is_replaced(over_at):
    atari = ColourAtari([Script(over_at=over_at), Script(over_at=1), Script()])
    env = NoopStart(atari.frames(seed=1), 30)
    observation, info = env.reset(seed=6)
    assert atari.games == 3
    assert np.array_equal(observation, draw(3, len(atari.played[2])))
    assert info == {"lives": 3}
    assert len(atari.seeds) == 2, "the seed is used once"


def test_noops_at_the_cap():
    atari = ColourAtari()
    env = NoopStart(atari.frames(seed=0, max_frames=3), 3)
    for _ in range(10):
        env.reset()
        assert atari.frame < 3
        env.step(0)


@pytest.mark.parametrize("wrapper", [NoopStart, EpisodicLife, FireStart])
def test_acting_needs_actions_with_names(wrapper):
    with pytest.raises(ValueError, match=f"{wrapper.__name__} needs .*get_action_mea"):
        wrapper(Corridor())
    name = "FIRE" if wrapper is FireStart else "NOOP"
    atari = ColourAtari(actions=[RIGHT])
    with pytest.raises(ValueError, match=f"needs an action {name}, .*'RIGHT'"):
        wrapper(MinimalActions(atari.frames()))


def test_buttons_are_found_by_name():
    atari = ColourAtari([Script(lives={0: 3, 3: 2})], [RIGHT, FIRE, NOOP])
    env: Env = NoopStart(MinimalActions(atari.frames()), 1)
    env = FireStart(EpisodicLife(env))
    env.reset()
    assert env.step(0)[2]
    env.reset()
    assert atari.played == [[NOOP, FIRE, RIGHT, NOOP, FIRE]]


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda env: NoopStart(env, 0), "noop_max must be at least 1"),
        (lambda env: SkipFrames(env, 0), "frames must be at least 1"),
        (RepeatAndMax, "put StackFrames"),
        (lambda env: RepeatAndMax(StackFrames(env, 3)), r"not \(3, 210, 160, 3\)"),
        (lambda env: MinimalActions(Corridor()), "Frames at the bottom"),
    ],
)
def test_wrappers_say_what_they_need(make, rule):
    with pytest.raises(ValueError, match=rule):
        make(ColourAtari().frames())


# -------------------------------------------------------------- repeat and max


def repeated(script: Script, **options: Any) -> tuple[ColourAtari, Env]:
    atari = ColourAtari([script])
    return atari, RepeatAndMax(StackFrames(atari.frames(**options), 2))


def test_action_is_held_for_four_frames_and_the_last_two_are_shown():
    atari, env = repeated(Script(points={1: 1, 2: 2, 5: 8}))
    assert env.observation_space == atari.frames().observation_space
    env.reset()
    assert same(env.step(3), (shown(3, 4), 3.0, False, False, {"lives": 3}))
    assert same(env.step(1), (shown(7, 8), 8.0, False, False, {"lives": 3}))
    assert atari.played == [[RIGHT] * 4 + [FIRE] * 4]


def test_flickering_objects_are_both_in_the_maximum():
    _, env = repeated(Script())
    env.reset()
    assert env.step(0)[0][160, 80].tolist() == [250, 0, 250], "red and blue"


@pytest.mark.parametrize("over_in", [1, 2, 3, 4])
def test_final_frame_of_a_game_that_ends_early_stands_alone(over_in):
    _, env = repeated(Script(over_at=4 + over_in, points={4 + over_in: 5}))
    env.reset()
    env.step(0)
    last = [7, 8] if over_in == 4 else [4 + over_in]
    assert same(env.step(0), (shown(*last), 5.0, True, False, {"lives": 3}))


@pytest.mark.parametrize("cut_in", [1, 2, 3, 4])
def test_game_that_is_cut_off_shows_its_last_two_frames(cut_in):
    _, env = repeated(Script(), max_frames=4 + cut_in)
    env.reset()
    env.step(0)
    last = shown(3 + cut_in, 4 + cut_in)
    assert same(env.step(0), (last, 0.0, False, True, {"lives": 3}))


def test_game_that_is_over_is_not_cut_off():
    _, env = repeated(Script(over_at=3), max_frames=3)
    env.reset()
    assert env.step(0)[2:4] == (True, False)


def test_early_end_is_forgotten_with_the_next_game():
    _, env = repeated(Script(over_at=5))
    for _ in range(2):
        env.reset()
        observation, *_ = env.step(0)
        env.step(0)
    assert np.array_equal(observation, shown(3, 4, game=2))


def test_first_picture_is_a_maximum_too():
    atari = ColourAtari()
    env = RepeatAndMax(NoopStart(StackFrames(atari.frames(), 2), 30))
    observation, _ = env.reset()
    assert np.array_equal(observation, shown(atari.frame - 1, atari.frame))


def test_any_number_of_frames():
    atari = ColourAtari()
    env = RepeatAndMax(StackFrames(atari.frames(), 2), 16)
    env.reset()
    assert np.array_equal(env.step(0)[0], shown(15, 16))
    assert env.metadata["render_fps"] == 60 / 16


def test_two_wrappers_show_the_same_but_for_a_final_picture():
    script = Script(over_at=18, points={3: 2, 9: 5, 18: 1})
    one, other = consoles([script])
    single = RepeatAndMax(NoopStart(StackFrames(one.frames(), 2), 3))
    double = SkipFrames(NoopStart(MaxBetweenFrames(other.frames()), 3))
    ends = 0
    assert single.observation_space == double.observation_space
    for _ in range(20):
        assert same(single.reset(), double.reset())
        over = False
        while not over:
            step, step_too = single.step(0), double.step(0)
            over = step[2]
            assert step[1:] == step_too[1:]
            early = over and (18 - len(one.played[-1])) % 4 == 0
            if over and not np.array_equal(step[0], step_too[0]):
                last = [np.zeros((42, 32, 3), np.uint8) for _ in range(2)]
                for back in (0, 1):
                    other.frame = 18 - back
                    other.getScreenRGB(last[back])
                other.frame = 18
                assert np.array_equal(step[0], last[0])
                assert np.array_equal(step_too[0], np.maximum(*last))
                ends += 1
            elif not over:
                assert same(step, step_too), early
    assert ends > 0


def test_skipping_shows_the_last_frame():
    env = SkipFrames(ColourAtari([Script(over_at=6)]).frames())
    env.reset()
    assert np.array_equal(env.step(0)[0], draw(1, 4))
    assert same(env.step(0), (draw(1, 6), 0.0, True, False, {"lives": 3}))


def test_maximum_between_frames_hands_out_nothing_that_it_keeps():
    env = MaxBetweenFrames(ColourAtari().frames())
    env.reset()[0][:] = 255
    observation, *_ = env.step(0)
    assert np.array_equal(observation, shown(0, 1))
    observation[:] = 255
    assert np.array_equal(env.step(0)[0], shown(1, 2))


# ----------------------------------------------------------------------- lives


def lived(*scripts: Script, frames: int = 1, **options: Any):
    atari = ColourAtari(scripts)
    env: Env = EpisodeStatistics(atari.frames(**options))
    return atari, EpisodicLife(SkipFrames(env, frames))


def test_lost_life_ends_the_episode_and_the_game_goes_on():
    atari, env = lived(Script(lives={0: 3, 2: 2}))
    env.reset()
    assert env.step(3)[2:4] == (False, False)
    assert env.step(3)[2:] == (True, False, {"lives": 2})
    assert env.life_lost
    with pytest.raises(ResetNeeded):
        env.step(0)
    assert same(env.reset(), (draw(1, 3), {"lives": 2}))
    assert atari.played == [[RIGHT, RIGHT, NOOP]]
    assert env.step(0)[2:4] == (False, False)


@pytest.mark.parametrize("how", [{"seed": 5}, {"options": {"new_game": True}}])
def test_new_game_can_be_asked_for_between_two_lives(how):
    atari, env = lived(Script(lives={0: 3, 1: 2}))
    env.reset()
    assert env.step(0)[2]
    env.reset(**how)
    assert atari.games == 2
    assert len(atari.seeds) == (2 if "seed" in how else 1)


def test_reset_in_the_middle_of_a_life_begins_a_new_game():
    atari, env = lived(Script(lives={0: 3, 1: 2}))
    env.reset()
    env.step(0)
    env.reset()
    env.step(0)
    assert atari.games == 1
    env.reset()
    assert atari.games == 2


@pytest.mark.parametrize("lives", [{0: 1, 2: 0}, {0: 0}, {0: 3, 2: 4}])
def test_zero_lives_or_more_lives_are_no_end(lives):
    _, env = lived(Script(lives=lives, over_at=6))
    env.reset()
    assert [env.step(0)[2] for _ in range(6)] == [False] * 5 + [True]


def test_life_that_was_won_can_be_lost():
    _, env = lived(Script(lives={0: 3, 2: 4, 4: 3}))
    env.reset()
    assert [env.step(0)[2] for _ in range(4)] == [False, False, False, True]


@pytest.mark.parametrize("frames", [1, 4])
def test_game_that_ends_in_the_noop_after_a_life_is_replaced_and_reported(frames):
    first = Script(lives={0: 2, 4: 1}, over_at=5, points={2: 3, 5: 9})
    atari, env = lived(first, Script(), frames=frames)
    env.reset()
    while not env.step(0)[2]:
        pass
    observation, info = env.reset()
    assert atari.games == 2
    assert np.array_equal(observation, draw(2, 0))
    score = {"r": 12.0, "frames": 5}
    assert info == {"lives": 3, "episode": score, "cut_off": False}
    assert not env.step(0)[2]


def test_life_lost_in_the_noop_ends_nothing():
    _, env = lived(Script(lives={0: 3, 2: 2, 3: 1}))
    env.reset()
    env.step(0)
    assert env.step(0)[2]
    assert env.reset()[1] == {"lives": 1}
    assert env.step(0)[2:4] == (False, False)


def test_cap_between_two_lives_begins_a_new_game():
    atari, env = lived(Script(lives={0: 3, 2: 2}), Script(), max_frames=3)
    env.reset()
    env.step(0)
    assert env.step(0)[2:4] == (True, False)
    _, info = env.reset()
    assert atari.games == 2
    assert info["episode"]["frames"] == 3
    assert info["cut_off"]


def test_life_lost_at_the_cap_or_at_the_end_begins_a_new_game():
    for over_at, cap, ends in [(2, 9, (True, False)), (None, 2, (True, True))]:
        script = Script(lives={0: 3, 2: 2}, over_at=over_at)
        atari, env = lived(script, max_frames=cap)
        env.reset()
        env.step(0)
        assert env.step(0)[2:4] == ends
        env.reset()
        assert atari.games == 2


def test_lives_must_be_told():
    class Meaningful(Corridor):
        def get_action_meanings(self):
            return ["NOOP", "GO"]

    with pytest.raises(ValueError, match=r"info\['lives'\]"):
        EpisodicLife(Meaningful()).reset()


# ------------------------------------------------------------------- the button


def fired(*scripts: Script, **options: Any) -> tuple[ColourAtari, Env]:
    atari, env = lived(*scripts, **options)
    return atari, CountSteps(FireStart(env))


def test_button_is_pressed_after_each_life():
    atari, env = fired(Script(lives={0: 3, 3: 2}))
    observation, _ = env.reset()
    assert np.array_equal(observation, draw(1, 1))
    env.step(3)
    assert env.step(3)[2]
    env.reset()
    assert atari.played == [[FIRE, RIGHT, RIGHT, NOOP, FIRE]]


@pytest.mark.parametrize("episodic", [True, False])
def test_game_that_ends_at_the_button_is_replaced_and_not_reported(episodic):
    atari = ColourAtari([Script(over_at=1), Script(over_at=1), Script()])
    env: Env = EpisodeStatistics(atari.frames())
    env = CountSteps(FireStart(EpisodicLife(env) if episodic else env))
    observation, info = env.reset(seed=3)
    assert atari.games == 3
    assert np.array_equal(observation, draw(3, 1)), "the button was pressed again"
    assert info == {"lives": 3}
    assert len(atari.seeds) == 2, "the seed is used once"
    assert not env.step(0)[2]


def test_game_that_ends_at_the_button_between_two_lives_is_reported():
    first = Script(lives={0: 2, 2: 1}, over_at=4, points={1: 1, 2: 10, 4: 100})
    atari, env = fired(first, Script(over_at=1, points={1: 7}), Script())
    env.reset()
    assert env.step(0)[2]
    observation, info = env.reset()
    assert atari.games == 3
    score = {"r": 111.0, "l": 1, "frames": 4}
    assert info == {"lives": 3, "episode": score, "cut_off": False}
    assert np.array_equal(observation, draw(3, 1))


def test_cap_at_the_button_begins_a_new_game():
    atari, env = fired(Script(lives={0: 3, 2: 2}), Script(), max_frames=4)
    env.reset()
    assert env.step(0)[2], "a life; then come the step of nothing and the button"
    observation, info = env.reset()
    assert atari.played == [[FIRE, NOOP, NOOP, FIRE], [FIRE]]
    assert info["episode"] == {"r": 0.0, "l": 1, "frames": 4}
    assert info["cut_off"]
    assert np.array_equal(observation, draw(2, 1))


def test_life_lost_at_the_button_ends_nothing():
    atari, env = fired(Script(lives={0: 3, 1: 2, 3: 1}))
    assert env.reset()[1] == {"lives": 2}
    assert atari.played == [[FIRE]]
    assert env.step(0)[2:4] == (False, False)
    assert env.step(0)[2:4] == (True, False), "and the next is noticed"
    env.reset()
    assert atari.games == 1


def test_options_reach_the_environment_below():
    asked = []

    class Asks(gymnasium.Wrapper):
        def reset(self, *, seed=None, options=None):
            asked.append((seed, options))
            return super().reset(seed=seed, options=options)

    env: Env = Asks(ColourAtari([Script(over_at=1), Script()]).frames())
    env = NoopStart(StackFrames(EpisodeStatistics(env), 2), 1)
    env = CountSteps(MaxBetweenFrames(FireStart(EpisodicLife(RepeatAndMax(env)))))
    env.reset(seed=3, options={"mine": 1})
    assert asked == [(3, {"mine": 1}), (None, {"mine": 1})]


def test_frames_can_be_made_without_a_seed():
    assert isinstance(ColourAtari().frames(seed=None), Frames)
