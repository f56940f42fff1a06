"""The whole pipeline is the game: on scripts drawn at random, and on real games."""

from dataclasses import fields
from typing import Any

import gymnasium
import numpy as np
import pytest
from ale_py import Action
from ale_py.env import AtariEnv
from gymnasium.error import InvalidAction, ResetNeeded, UnsupportedMode
from gymnasium.utils.env_checker import check_env
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labml_rl import wrappers
from labml_rl.batch import SerialGames, spawn_seeds
from labml_rl.game import GameOptions, make_game
from labml_rl.worker import ParallelGames
from labml_rl.wrappers import (
    CountSteps,
    EpisodeStatistics,
    EpisodicLife,
    FireStart,
    Grey,
    NoopStart,
    RepeatAndMax,
    Resize,
    StackFrames,
    nature_dqn_env,
)
from tests.book.fake_atari import FakeAtari, Script, draw
from tests.book.fake_frames import ColourAtari, consoles, same

Env = gymnasium.Env[Any, Any]

NOOP, FIRE, RIGHT = Action.NOOP, Action.FIRE, Action.RIGHT


def assert_same_play(one, other, count, *, seed=0, reset_seed=None) -> dict[str, int]:
    """Play both with the same random actions, and count what happened."""
    random = np.random.default_rng(seed)
    seen = {"steps": 0, "lives": 0, "games": 0, "between": 0, "cut": 0}
    assert one.action_space == other.action_space
    assert one.observation_space == other.observation_space
    begun, begun_too = one.reset(seed=reset_seed), other.reset(seed=reset_seed)
    assert same(begun, begun_too), "the first observation"
    for index in range(count):
        action = int(random.integers(one.action_space.n))
        step, step_too = one.step(action), other.step(action)
        assert same(step, step_too), f"step {index}: {step[1:]}, {step_too[1:]}"
        seen["steps"] += 1
        _, _, terminated, truncated, info = step
        seen["cut"] += truncated
        seen["games"] += "episode" in info
        if terminated or truncated:
            seen["lives"] += "episode" not in info
            begun, begun_too = one.reset(), other.reset()
            assert same(begun, begun_too), f"after step {index}: {begun[1]}"
            seen["between"] += "episode" in begun[1]
    return seen


# ------------------------------------------------------------------ real games


# With FIRE and lives; FIRE and no lives; neither; lives and no FIRE; one that is played
# on at zero lives; one in which the emulator remembers the game before.
@pytest.mark.parametrize(
    "name", ["breakout", "pong", "freeway", "ms_pacman", "bank_heist", "beam_rider"]
)
def test_pipeline_is_the_game_over_thousands_of_steps(name):
    options: dict[str, Any] = {"seed": 5, "max_frames": 2500}
    seen = assert_same_play(
        make_game(name, **options), nature_dqn_env(name, **options), 1000
    )
    assert seen["games"] > 0
    if name in ("breakout", "ms_pacman"):
        assert seen["lives"] > 0
    if name in ("pong", "freeway"):
        assert seen["cut"] > 0


OPTIONS: list[dict[str, Any]] = [
    {"stack": 1, "channels_last": True},
    {"crop_scoreboard": True, "clip_rewards": True},
    {"full_action_space": True, "noop_max": 0},
    {"sticky_actions": 0.25, "episodic_life": False},
    {"fire_at_start": False, "channels_last": True},
    {"max_frames": 500, "render_mode": "rgb_array"},
]


def test_no_option_is_left_out():
    tried = {name for options in OPTIONS for name in options}
    assert tried == {each.name for each in fields(GameOptions)}, (
        "add a new option to OPTIONS"
    )


@pytest.mark.parametrize("options", OPTIONS)
def test_pipeline_is_the_game_with_every_option(options):
    one = make_game("SpaceInvaders", seed=3, **options)
    other = nature_dqn_env("SpaceInvaders", seed=3, **options)
    assert_same_play(one, other, 400)


def test_game_without_a_noop_of_its_own():
    one = make_game("Backgammon", seed=1, max_frames=400)
    other = nature_dqn_env("Backgammon", seed=1, max_frames=400)
    assert "NOOP" not in one.get_action_meanings()
    assert isinstance(other, gymnasium.Env)
    assert one.get_action_meanings() == other.get_wrapper_attr("get_action_meanings")()
    assert assert_same_play(one, other, 300)["cut"] > 0


def test_seed_at_reset_begins_all_over():
    used = nature_dqn_env("BeamRider", seed=1, sticky_actions=0.25)
    assert_same_play(used, make_game("BeamRider", seed=1, sticky_actions=0.25), 200)
    fresh = make_game("BeamRider", sticky_actions=0.25)
    assert_same_play(used, fresh, 300, reset_seed=7)


def test_without_a_seed_runs_differ():
    one, other = nature_dqn_env("Pong"), nature_dqn_env("Pong")
    assert one.np_random_seed != other.np_random_seed


@pytest.mark.parametrize("name", ["breakout", "ms_pacman"])
def test_wrappers_go_around_ales_own_environment(name):
    # Its dice are its own, so there is one no-op, which needs none.
    ale = AtariEnv(name, frameskip=1, repeat_action_probability=0)
    frames = StackFrames(EpisodeStatistics(ale), 2)
    env: Env = EpisodicLife(RepeatAndMax(NoopStart(frames, noop_max=1)))
    if name == "breakout":
        env = FireStart(env)
    env = CountSteps(StackFrames(Resize(Grey(env)), 4))
    game = make_game(name, noop_max=1, seed=0)
    random = np.random.default_rng(0)
    assert np.array_equal(env.reset()[0], game.reset()[0])
    games = 0
    while games < 1:
        action = int(random.integers(game.action_space.n))
        found, wanted = env.step(action), game.step(action)
        assert np.array_equal(found[0], wanted[0])
        assert found[1:4] == wanted[1:4]
        assert found[4].get("episode") == wanted[4].get("episode")
        games += "episode" in wanted[4]
        if wanted[2] or wanted[3]:
            assert np.array_equal(env.reset()[0], game.reset()[0])


def test_example_of_the_page_runs():
    assert wrappers.__doc__
    example = wrappers.__doc__.split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(example, names)
    env = names["env"]
    for _ in range(2):
        observation, info = env.reset(seed=1)
        assert observation.shape == (3, 64, 64)
        assert observation in env.observation_space
        assert info["lives"] == 5
    observation, *_ = env.step(2)
    assert observation in env.observation_space


@pytest.mark.filterwarnings("ignore:.*due to the environment not having a spec")
@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize("options", [{}, {"stack": 1, "channels_last": True}])
def test_gymnasium_has_no_complaint(options):
    env = nature_dqn_env("Breakout", seed=1, render_mode="rgb_array", **options)
    assert isinstance(env, gymnasium.Env)
    check_env(env)


def test_unknown_games_and_options_are_refused():
    with pytest.raises(ValueError, match="'breakout'"):
        nature_dqn_env("Brekout")
    with pytest.raises(ValueError, match="stack must be"):
        nature_dqn_env("Pong", stack=0)
    with pytest.raises(TypeError, match="frame_stack"):
        nature_dqn_env("Pong", frame_stack=4)


def test_rendering_shows_the_true_screen_at_the_true_speed():
    env = nature_dqn_env("Breakout", seed=1, render_mode="rgb_array")
    game = make_game("Breakout", seed=1, render_mode="rgb_array")
    env.reset()
    game.reset()
    assert np.array_equal(np.asarray(env.render()), game.render())
    assert env.metadata["render_fps"] == game.metadata["render_fps"] == 15
    with pytest.raises(UnsupportedMode, match="rgb_array"):
        nature_dqn_env("Breakout").render()


# ------------------------------------------------------------- scripted games


@st.composite
def scripts(draw_from):
    """Draw games in which much happens early on."""
    several = []
    for _ in range(draw_from(st.integers(1, 4))):
        frames = st.integers(1, 60)
        lives = {0: draw_from(st.integers(0, 3))}
        changes = draw_from(st.dictionaries(frames, st.integers(0, 4), max_size=6))
        points = draw_from(st.dictionaries(frames, st.integers(-9, 9), max_size=6))
        over_at = draw_from(st.none() | frames)
        several.append(Script(over_at, lives | changes, points))
    # The last one goes for all games after it, and must let them begin.
    return [*several, Script(over_at=70)]


choices = st.fixed_dictionaries(
    {
        "noop_max": st.integers(0, 6),
        "fire_at_start": st.booleans(),
        "episodic_life": st.booleans(),
        "clip_rewards": st.booleans(),
        "full_action_space": st.booleans(),
        "crop_scoreboard": st.booleans(),
        "stack": st.integers(1, 4),
        "max_frames": st.integers(11, 60),
    }
)


# A cap that falls between two lives, which hypothesis seldom finds.
between_lives = {
    "noop_max": 0,
    "fire_at_start": False,
    "episodic_life": True,
    "clip_rewards": False,
    "full_action_space": False,
    "crop_scoreboard": False,
    "stack": 1,
    "max_frames": 6,
}


@settings(max_examples=120, deadline=None)
@given(scripts(), choices, st.booleans(), st.integers(0, 99))
@example([Script(lives={0: 3, 1: 2}), Script()], between_lives, False, 0)
def test_pipeline_is_the_game_whatever_the_script(several, options, has_fire, seed):
    actions = [NOOP, FIRE, RIGHT] if has_fire else [NOOP, RIGHT]
    one, other = consoles(several, actions)
    assert_same_play(one.game(**options), other.wrapped(**options), 40, seed=seed)
    assert one.played == other.played, "frame by frame, the same actions"


@settings(max_examples=40, deadline=None)
@given(scripts(), st.integers(0, 99))
def test_resets_at_any_time_do_the_same(several, seed):
    one, other = consoles(several)
    options: dict[str, Any] = {"noop_max": 3, "fire_at_start": True}
    game, env = one.game(**options), other.wrapped(**options)
    assert same(game.reset(), env.reset())
    random = np.random.default_rng(seed)
    for _ in range(30):
        ways: list[dict[str, Any]] = [{}, {"options": {"new_game": True}}, {"seed": 3}]
        how = ways[random.integers(3)]
        step, step_too = game.step(0), env.step(0)
        assert same(step, step_too)
        if step[2] or step[3] or random.random() < 0.3:
            assert same(game.reset(**how), env.reset(**how)), how
    assert one.played == other.played
    assert one.seeds == other.seeds


@pytest.mark.parametrize("over_in", [1, 2, 3, 4])
def test_final_picture_holds_no_frame_of_the_step_before(over_in):
    one, other = consoles([Script(over_at=8 + over_in)])
    seen = assert_same_play(one.game(), other.wrapped(), 3)
    assert seen["games"] == 1


@pytest.mark.parametrize("cut_in", [1, 2, 3, 4])
@pytest.mark.parametrize("over_too", [False, True])
def test_final_picture_at_the_cap(cut_in, over_too):
    options = {"max_frames": 8 + cut_in}
    one, other = consoles([Script(over_at=8 + cut_in if over_too else None)])
    seen = assert_same_play(one.game(**options), other.wrapped(**options), 3)
    assert seen["games"] == 1
    assert seen["cut"] == (not over_too)


def test_observations_are_never_written_to_again():
    atari = ColourAtari([Script(lives={0: 3, 18: 2, 30: 1}, over_at=60)])
    env = atari.wrapped()
    kept = [env.reset()[0]]
    copies = [kept[0].copy()]
    for _ in range(20):
        observation, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            observation, _ = env.reset()
        kept.append(observation)
        copies.append(observation.copy())
        observation.setflags(write=True)
    for index, (one, copy) in enumerate(zip(kept, copies, strict=True)):
        assert np.array_equal(one, copy), f"observation {index} has changed"
        assert not any(np.shares_memory(one, other) for other in kept[:index])


def test_writing_into_an_observation_does_not_change_the_next():
    env, game = ColourAtari().wrapped(), FakeAtari().game()
    observation, _ = env.reset()
    observation[:] = 77
    game.reset()
    assert np.array_equal(env.step(0)[0], game.step(0)[0])


def test_steps_outside_an_episode_are_refused():
    script = Script(lives={0: 2, 1: 1}, over_at=12)
    env = ColourAtari([script, Script()]).wrapped(noop_max=0)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(0)
    env.reset()
    assert env.step(0)[2], "a life"
    with pytest.raises(ResetNeeded, match="life"):
        env.step(0)
    env.reset()
    assert env.step(0)[2], "the game"
    with pytest.raises(ResetNeeded, match="game"):
        env.step(0)


@pytest.mark.parametrize("action", [3, -1, 1.0, "NOOP", None])
@pytest.mark.parametrize("full", [False, True])
def test_actions_that_do_not_exist_are_refused(action, full):
    atari = ColourAtari()
    env = atari.wrapped(full_action_space=full)
    env.reset()
    if full and action == 3:
        action = 18
    with pytest.raises(InvalidAction, match="NOOP, FIRE, "):
        env.step(action)
    assert atari.frame == 0


def test_options_are_the_games_own():
    with pytest.raises(ValueError, match="max_frames"):
        GameOptions(max_frames=3)
    env = ColourAtari().wrapped(stack=3)
    assert env.observation_space.shape == (3, 84, 84)
    assert np.array_equal(env.unwrapped.reset()[0], draw(1, 0))


# -------------------------------------------------------------- several games


@pytest.mark.parametrize("workers", [0, 2])
def test_eight_space_invaders(workers):
    options: dict[str, Any] = {"channels_last": True, "clip_rewards": True}
    envs = nature_dqn_env("SpaceInvaders", 8, seed=1, workers=workers, **options)
    assert isinstance(envs, SerialGames if workers == 0 else ParallelGames)
    games = [make_game("SpaceInvaders", seed=s, **options) for s in spawn_seeds(1, 8)]
    with envs:
        observations, _ = envs.reset()
        assert (observations.shape, observations.dtype) == ((8, 84, 84, 4), np.uint8)
        first = [game.reset()[0] for game in games]
        assert np.array_equal(observations, first)
        assert len({each.tobytes() for each in observations}) > 1, "they differ"
        for action in range(6):
            observations, rewards, *_ = envs.step(np.full(8, action))
            played = [game.step(action) for game in games]
            assert np.array_equal(observations, [each[0] for each in played])
            assert np.array_equal(rewards, [each[1] for each in played])


def test_options_of_several_games_are_checked():
    with pytest.raises(ValueError, match="stack must be"):
        nature_dqn_env("Pong", 2, seed=1, workers=0, stack=0)
    with pytest.raises(ValueError, match="'pong'"):
        nature_dqn_env("Pongg", 2, seed=1, workers=0)
