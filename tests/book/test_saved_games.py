"""Games and other environments that are continued from a saved state."""

import copy
import json
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Tuple
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit, TransformReward

from labml_rl.batch import SerialGames
from labml_rl.environments import (
    Resumable,
    ended,
    environment_makers,
    final_observations,
    is_atari,
    make_environments,
    no_environment,
    scores_of,
)
from labml_rl.game import make_game
from labml_rl.wrappers import ClipReward, CountSteps, EpisodeStatistics, EpisodicLife


def play(games, steps, seed):
    """Everything that happens in a number of steps."""
    dice = np.random.default_rng(seed)
    seen = []
    for _ in range(steps):
        actions = dice.integers(games.single_action_space.n, size=games.num_envs)
        observations, *rest, infos = games.step(actions)
        seen.append((observations.copy(), *rest, repr(infos)))
    return seen


def assert_same(first, second):
    for one, other in zip(first, second, strict=True):
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda state: {}, "no state of a game: it has no"),
        (lambda state: state | {"stack": state["stack"][:1]}, r"shape \(1, 84, 84\)"),
        (lambda state: state | {"emulator": of_pong()}, "another game"),
    ],
)
def test_the_state_of_another_game_leaves_the_game_as_it_was(changed, message):
    games = [make_game("Breakout", seed=1, max_frames=400) for _ in range(2)]
    states = []
    for game in games:
        game.reset()
        for _ in range(5):
            game.step(3)
        states.append(game.get_state())
        game.step(2)
    with pytest.raises(ValueError, match=message):
        games[0].set_state(changed(states[0]))
    for _ in range(8):
        (one, *rest), (other, *others) = (game.step(1) for game in games)
        assert np.array_equal(one, other)
        assert rest == others


def of_pong():
    game = make_game("Pong", seed=1)
    game.reset()
    return game.get_state()["emulator"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_is_a_game_that_was_given_the_state(copied):
    game, other = make_game("Breakout", seed=1), make_game("Breakout", seed=2)
    game.reset()
    with pytest.raises(TypeError, match=r"set_state\(get_state\(\)\) makes them equal"):
        copied(game)
    other.set_state(game.get_state())
    for action in (2, 3, 3, 1):
        assert np.array_equal(game.step(action)[0], other.step(action)[0])


def test_before_it_has_begun_there_is_no_state():
    with pytest.raises(ResetNeeded, match="no game has begun"):
        make_game("Pong", seed=1).get_state()


@pytest.mark.parametrize("name", ["Breakout", "BeamRider", "Tennis", "CartPole-v1"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_saved_batch_goes_on_the_same(name, workers):
    """In another process, made with another seed, over several ends."""
    options: dict[str, Any] = {"max_frames": 900} if "-v" not in name else {}
    with make_environments(name, 3, seed=1, workers=workers, **options) as games:
        games.reset()
        play(games, 200, seed=2)
        states = games.get_states()
        after = play(games, 200, seed=3)
    assert any((step[2] | step[3]).any() for step in after)
    with make_environments(name, 3, seed=9, workers=0, **options) as others:
        others.reset()
        play(others, 10, seed=5)
        observations = others.set_states(states)
        np.testing.assert_array_equal(observations, others._batch.observations)
        assert_same(after, play(others, 200, seed=3))


@pytest.mark.parametrize("name", ["CartPole-v1", "Breakout"])
def test_a_batch_saved_at_an_end_begins_the_next_episode(name):
    def make():
        makers, _ = environment_makers(name, 2, seed=1)
        return SerialGames(makers, autoreset_mode=AutoresetMode.NEXT_STEP)

    games, others = make(), make()
    games.reset()
    while not games.step([1, 1])[2].any():
        pass
    others.set_states(games.get_states())
    assert_same(play(games, 50, seed=3), play(others, 50, seed=3))


def test_a_state_is_plain_data():
    def plain(value):
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, bytes | np.ndarray):
            return len(value)
        return value

    game = make_game("Pong", seed=1)
    game.reset()
    json.dumps(plain(game.get_state()))
    cart = Resumable(gymnasium.make("CartPole-v1"), seed=1)
    cart.reset()
    json.dumps(cart.get_state())


def test_saving_changes_nothing():
    def run(saves):
        game = make_game("Breakout", seed=3)
        game.reset()
        total = 0
        for step in range(300):
            if saves and step % 50 == 0:
                game.get_state()
            observation, _, terminated, *_ = game.step(step % 4)
            total += int(observation.sum())
            if terminated:
                game.reset()
        return total

    assert run(saves=True) == run(saves=False)


def test_the_observation_of_a_restored_game_is_its_own():
    game = make_game("Pong", seed=1)
    before, _ = game.reset()
    state = game.get_state()
    for _ in range(60):
        after, *_ = game.step(2)
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(game.set_state(state), before)


def test_seeds_decide_all_episodes():
    def starts(seed):
        cart = Resumable(gymnasium.make("CartPole-v1"), seed=seed)
        return [tuple(cart.reset()[0]) for _ in range(5)]

    assert starts(1) == starts(1)
    assert len(set(starts(1) + starts(2))) == 10


def test_actions_of_any_kind_are_played_again():
    pendulum = Resumable(gymnasium.make("Pendulum-v1"), seed=1)
    pendulum.reset()
    for _ in range(20):
        pendulum.step(np.array([0.5], np.float32))
    state = json.loads(json.dumps(pendulum.get_state()))
    expected = pendulum.step(np.array([1.0], np.float32))
    again = Resumable(gymnasium.make("Pendulum-v1"), seed=2)
    again.set_state(state)
    found = again.step(np.array([1.0], np.float32))
    np.testing.assert_array_equal(found[0], expected[0])


class Halves(gymnasium.Env[Any, Any]):
    """It has points of its own: a whole number, or halves."""

    observation_space = Box(0, 1, (1,), np.float32)
    action_space = Discrete(2)

    def __init__(self, points: float) -> None:
        self.points = points

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        info = {"episode": {"r": self.points}}
        return np.zeros(1, np.float32), 0.0, True, False, info


def test_a_whole_number_does_not_cut_the_scores_of_other_games():
    with SerialGames(
        [lambda: Resumable(Halves(3)), lambda: Resumable(Halves(1.5))]
    ) as games:
        games.reset()
        *_, infos = games.step([0, 0])
    assert [score["r"] for score in scores_of(infos)] == [3.0, 1.5]


def test_scores_of_episodes():
    with make_environments("CartPole-v1", 1, seed=1, workers=0) as games:
        games.reset()
        steps = 0
        while True:
            *_, infos = games.step([0])
            steps += 1
            if "final_info" in infos:
                break
        episode = infos["final_info"]["episode"]
        assert (episode["r"][0], episode["l"][0]) == (steps, steps)


def test_what_cannot_be_saved_says_so():
    cart = Resumable(gymnasium.make("CartPole-v1"), seed=1)
    cart.reset(options={"low": 0.01, "high": 0.02})
    with pytest.raises(ValueError, match="an episode with options"):
        cart.get_state()
    with make_environments("CartPole-v1", 2, seed=1, workers=0) as games:
        games.reset()
        with pytest.raises(ValueError, match="1 states for 2 environments"):
            games.set_states([{}])


class Careless(gymnasium.Env[Any, Any]):
    """Does not mind whether an episode has begun."""

    action_space = Discrete(2)
    observation_space = Discrete(1)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, 0.0, False, False, {}


def test_before_the_first_episode_there_is_nothing_to_play_or_to_save():
    env = Resumable(Careless())
    with pytest.raises(ResetNeeded, match="no episode going on"):
        env.step(0)
    with pytest.raises(ResetNeeded, match="no episode going on"):
        env.get_state()
    again = Resumable(Careless())
    for of_something_else in ({}, {"dice": {}, "emulator": b""}):
        with pytest.raises(ValueError, match="no state of an episode: it has no"):
            again.set_state(of_something_else)
    env.reset()
    again.set_state(env.get_state())
    again.step(0)


class Paid(gymnasium.Wrapper):
    """Each step of a pole is worth the same."""

    def __init__(self, reward: Any) -> None:
        super().__init__(gymnasium.make("CartPole-v1"))
        self.reward = reward

    def step(self, action):
        observation, _, *rest = self.env.step(action)
        return observation, self.reward, *rest


@pytest.mark.parametrize("reward", [None, np.ones(2)])
def test_what_is_no_reward_is_named(reward):
    env = Resumable(Paid(reward), seed=1)
    env.reset()
    with pytest.raises(TypeError, match="a reward must be a number, not"):
        env.step(0)


@pytest.mark.parametrize("reward", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_not_finite_is_named(reward):
    """In the loss it would be found, too, but not in which game."""
    env = Resumable(Paid(reward), seed=1)
    with SerialGames([lambda: env], names=["paid"]) as games:
        games.reset()
        with pytest.raises(ValueError, match=f"must be finite, not {reward}") as error:
            games.step([0])
    assert "This happened in game 0 (paid)." in error.value.__notes__


def test_what_an_environment_lacks_is_not_looked_for_in_this_folder():
    missing = ModuleNotFoundError("No module named 'simulator'")
    for name in ("mine:Walk-v0", "sim:Walk-v0", "simulators.mine:Walk-v0"):
        assert no_environment(name, missing).endswith("'simulator'")
    for name in ("simulator:Walk-v0", "simulator.mine:Walk-v0"):
        assert "looks for modules in this folder" in no_environment(name, missing)


def test_unknown_names():
    with pytest.raises(ValueError, match="no environment 'CartPoll-v1'"):
        make_environments("CartPoll-v1", 1)
    with pytest.raises(ValueError, match="'Pong' is the name of the game"):
        make_environments("PongNoFrameskip-v4", 1)
    atari = ("ALE/Pong-v5", "Pong-v4", "Pong-v9", "Pong-ram-v0")
    for name in (*atari, "ale_py:ALE/Pong-v5", "ale_py:PongNoFrameskip-v4"):
        with pytest.raises(ValueError, match="'Pong' is the name of the game"):
            make_environments(name, 1)
    for name in ("CartPole", "cartpole"):
        with pytest.raises(ValueError, match=r"end in a version: 'CartPole-v1'"):
            make_environments(name, 1)
    with pytest.raises(ValueError, match=r"'nowhere:Cart-v1': No module .*python -m"):
        make_environments("nowhere:Cart-v1", 1)


def test_names_that_gymnasium_shares_with_the_console():
    assert is_atari("Blackjack")
    assert not is_atari("Blackjack-v1")


def test_a_package_in_front_of_the_name_is_imported():
    with make_environments("gymnasium.envs:CartPole-v1", 1, workers=0) as games:
        assert games.single_observation_space.shape == (4,)


gymnasium.register(
    "labml_rl_tests/Breakout-v0",
    "labml_rl.game:make_game",
    kwargs={"game": "Breakout", "clip_rewards": True},
)
gymnasium.register(
    "labml_rl_tests/Pipeline-v0",
    "labml_rl.wrappers:nature_dqn_env",
    kwargs={"game": "Breakout", "episodic_life": True, "clip_rewards": True},
)
WRAPPED = pytest.mark.parametrize(
    "wrapped", ["labml_rl_tests/Breakout-v0", "labml_rl_tests/Pipeline-v0"]
)


@WRAPPED
def test_a_game_under_another_name_goes_on_after_a_life(wrapped):
    """And its score is that of the game, in points, as without anything around it."""
    ends, lives = [], []
    with make_environments(wrapped, 1, seed=1, workers=0) as games:
        games.reset()
        for _, _, terminated, _, infos in games_steps(games, 600):
            if terminated[0]:
                lives.append((infos["final_info"]["lives"][0], infos["lives"][0]))
                ends += scores_of(infos)
    assert lives[:5] == [(4, 4), (3, 3), (2, 2), (1, 1), (0, 5)]
    games_played = sum(before == 0 for before, _ in lives)
    assert len(ends) == games_played > 1
    steps = sum(each["l"] for each in ends)
    assert 100 * games_played < steps < 600, "all lives count, and not the last alone"


def games_steps(games, steps):
    dice = np.random.default_rng(0)
    for _ in range(steps):
        yield games.step(dice.integers(4, size=games.num_envs))


@WRAPPED
def test_a_game_under_another_name_is_saved_between_two_of_its_lives(wrapped):
    with make_environments(wrapped, 2, seed=1, workers=0) as games:
        games.reset()
        play(games, 100, seed=2)
        states = json.loads(json.dumps(games.get_states()))
        after = play(games, 200, seed=3)
    assert any(None in state["actions"] for state in states)
    with make_environments(wrapped, 2, seed=9, workers=0) as others:
        others.reset()
        others.set_states(states)
        assert_same(after, play(others, 200, seed=3))


class Impatient(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Ends an episode after 50 steps, as a rule of its own."""

    def __init__(self, env):
        super().__init__(env)
        self.steps = 0

    def reset(self, **options):
        self.steps = 0
        return self.env.reset(**options)

    def step(self, action):
        self.steps += 1
        observation, reward, terminated, *rest = self.env.step(action)
        return observation, reward, terminated or self.steps == 50, *rest


def test_an_episode_that_a_wrapper_has_ended_has_a_score():
    env = Resumable(Impatient(make_game("Pong", seed=1)), seed=1)
    with SerialGames([lambda: env]) as games:
        games.reset()
        scores = [
            score for *_, infos in games_steps(games, 300) for score in scores_of(infos)
        ]
        assert [score["l"] for score in scores] == [50] * 6
        assert games.get_states()[0]["actions"] == []


class Own(gymnasium.Env[Any, Any]):
    """Has something of its own where scores are."""

    observation_space = Discrete(1)
    action_space: Any = Discrete(2)

    def __init__(self, own: Any) -> None:
        self.own = own

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, 5.0, True, False, {"episode": self.own}


@pytest.mark.parametrize("own", [3, {"id": 3}, None])
def test_what_is_no_score_gives_way_to_one(own):
    *_, info = stepped(Own(own), 1)
    assert info["episode"] == {"r": 5.0, "l": 1}


def test_a_score_of_its_own_stays():
    *_, info = stepped(Own({"r": 7.0, "l": 9, "t": 1}), 1)
    assert info["episode"] == {"r": 7.0, "l": 9, "t": 1}


def test_points_of_its_own_get_their_steps():
    *_, info = stepped(Own({"r": 7.0}), 1)
    assert info["episode"] == {"r": 7.0, "l": 1}
    for points in (np.nan, -np.inf):
        with pytest.raises(ValueError, match=f"a score must be finite, not {points}"):
            stepped(Own({"r": points}), 1)


class TwoLives(gymnasium.Env[Any, Any]):
    """Seven points a frame. The second life ends in the next frame, or later."""

    observation_space = Box(0, 255, (2,), np.uint8)
    action_space = Discrete(2)

    def __init__(self) -> None:
        self.games = 0

    def get_action_meanings(self):
        return ["NOOP", "FIRE"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.frame, self.games = 0, self.games + 1
        self.end = 4 if self.games % 2 else 6
        return np.zeros(2, np.uint8), {"lives": 2}

    def step(self, action):
        self.frame += 1
        over = self.frame >= self.end
        lives = 0 if over else 1 + (self.frame < 3)
        return np.zeros(2, np.uint8), 7.0, over, False, {"lives": lives}


@pytest.mark.parametrize("counts", [False, True])
def test_nothing_on_the_way_can_falsify_a_score(counts):
    """Rewards are clipped, lives are episodes, and some games end between two."""

    def make():
        env = ClipReward(EpisodicLife(EpisodeStatistics(TwoLives())))
        return Resumable(CountSteps(env) if counts else env, seed=1)

    scores = []
    with SerialGames([make]) as games:
        games.reset()
        for _ in range(16):
            *_, infos = games.step(np.array([0]))
            scores += scores_of(infos)
    short, long = {"r": 28.0, "l": 3}, {"r": 42.0, "l": 5}
    assert scores == [short, long, short, long]


def make_in_hundredths(**options: Any) -> gymnasium.Env[Any, Any]:
    env = RecordEpisodeStatistics(gymnasium.make("CartPole-v1", **options))
    return TransformReward(env, lambda reward: float(reward) / 100)


gymnasium.register(
    "labml_rl_tests/Hundredths-v0", make_in_hundredths, max_episode_steps=20
)


def test_neither_can_a_limit_around_what_counts_it():
    """Some poles fall before it; all are paid a hundredth, and have whole points."""
    name, found = "labml_rl_tests/Hundredths-v0", []
    dice = np.random.default_rng(0)
    with make_environments(name, 4, seed=1, workers=0) as games:
        games.reset()
        for _ in range(80):
            *_, infos = games.step(dice.integers(2, size=4))
            found += ended(infos)
    assert {cut_off for *_, cut_off in found} == {False, True}
    assert all(points == steps for _, points, steps, _ in found)


def test_nor_one_around_the_pipeline_of_the_book():
    env = TimeLimit(ClipReward(EpisodeStatistics(TwoLives())), 2)
    resumable = Resumable(env, seed=1)
    resumable.reset()
    resumable.step(0)
    *_, info = resumable.step(0)
    assert info["cut_off"]
    assert info["episode"] == {"r": 14.0, "l": 2}


def test_a_list_of_scores_is_no_score():
    env: Any = Own(None)
    env.episode_returns = [1.0, 2.0]
    *_, info = stepped(env, 1)
    assert info["episode"] == {"r": 5.0, "l": 1}


def stepped(env, action):
    resumable = Resumable(env, seed=1)
    resumable.reset()
    return resumable.step(action)


@pytest.mark.parametrize(
    ("space", "action", "noted"),
    [
        (Box(0, 1, (2,)), [0.5, 0.25], [[0.5, 0.25]]),
        (Box(0, 1, ()), 0.5, [0.5]),
        (MultiDiscrete([3, 3]), [1, 2], [[1, 2]]),
        (Discrete(3), np.array([2]), [2]),
        (Discrete(3), 2, [2]),
    ],
)
def test_actions_may_be_written_as_one_likes(space, action, noted):
    env = Own(None)
    env.action_space = space
    resumable = Resumable(env, seed=1)
    resumable.reset()
    resumable.step(action)
    assert resumable.get_state()["actions"] == [noted]


class Pushed(gymnasium.Env[Any, Any]):
    """What its actions say is what it becomes."""

    observation_space = Box(-9, 9, (2,), np.float32)
    action_space: Any = Dict(left=Discrete(3), force=Box(-1, 1, (2,)))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.random(2).astype(np.float32)
        return self.at, {}

    def step(self, action):
        self.at = (self.at + action["force"]) / (1 + action["left"])
        return self.at, 0.0, False, False, {}


class PushedByTwo(Pushed):
    """The same in another order."""

    action_space = Tuple((Discrete(3), Box(-1, 1, (2,))))

    def step(self, action):
        return super().step({"left": action[0], "force": action[1]})


@pytest.mark.parametrize("kind", [Pushed, PushedByTwo])
def test_actions_with_parts_are_played_again(kind):
    env, again = Resumable(kind(), seed=1), Resumable(kind(), seed=2)
    env.reset()
    env.action_space.seed(1)
    for _ in range(10):
        expected, *_ = env.step(env.action_space.sample())
    state = json.loads(json.dumps(env.get_state()))
    np.testing.assert_array_equal(again.set_state(state), expected)


def test_names_need_no_version():
    gymnasium.register("Pushed", f"{__name__}:Pushed")
    for name in ("Pushed", "tests.book.test_saved_games:Pushed"):
        assert not is_atari(name)
        with make_environments(name, 1, workers=0) as games:
            assert games.single_observation_space.shape == (2,)
    with pytest.raises(ValueError, match="no environment 'lab/Cart'"):
        make_environments("lab/Cart", 1)


def test_what_is_no_score_is_none():
    assert scores_of({"episode": np.array([3]), "_episode": np.array([True])}) == []


def test_last_observations_must_be_told():
    with pytest.raises(ValueError, match="autoreset_mode=SAME_STEP"):
        final_observations({}, np.array([True]))
