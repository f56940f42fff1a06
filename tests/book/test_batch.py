"""Several environments as one: in this process and in others, the same."""

import sys
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import (
    AlreadyPendingCallError,
    ClosedEnvironmentError,
    InvalidAction,
    NoAsyncCallError,
    ResetNeeded,
)
from gymnasium.spaces import Box, Dict, Discrete, Graph, OneOf, Sequence, Text, Tuple
from gymnasium.vector import AutoresetMode

from labml_rl.batch import Games, SerialGames, spawn_seeds
from labml_rl.environments import Resumable
from labml_rl.game import Game, loader, make_game
from labml_rl.process import WorkerError
from labml_rl.worker import ParallelGames, make_games

KINDS: list[Any] = [
    SerialGames,
    partial(ParallelGames, workers=2),
    partial(ParallelGames, workers=2, joins=True),
]
IDS = ["serial", "parallel", "joins"]
kinds = pytest.mark.parametrize("kind", KINDS, ids=IDS)


class Counter(gymnasium.Env[Any, Any]):
    """Counts its steps. Its episodes end after `length` steps, of their own or not."""

    action_space = Discrete(5)
    observation_space = Box(0, 1000, (2,), np.int64)

    def __init__(self, length: int = 3, truncates: bool = False) -> None:
        self.length, self.truncates = length, truncates
        self.episodes = self.steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        self.episodes += 1
        self.seed, self.options = seed, options
        info = {"seed": seed, "options": options} if seed or options else {}
        return self.observation(), info

    def step(self, action):
        self.steps += 1
        over = self.steps >= self.length
        info = {"score": 10.0 * self.steps} if over else {}
        ends = (over and not self.truncates, over and self.truncates)
        return self.observation(), float(action), *ends, info

    def observation(self):
        return np.array([self.episodes, self.steps])

    def given(self):
        return self.options

    def seeded_with(self):
        return type(self.seed)

    def times(self, factor):
        return factor * self.length

    def render(self):
        return f"{self.episodes}.{self.steps}"


class Odd(Counter):
    """An environment whose observations have several parts."""

    observation_space = Dict(  # type: ignore[assignment]
        {"where": Box(0, 9, (2,), np.float32), "what": Tuple([Discrete(9)])}
    )

    def observation(self):
        where = np.array([self.episodes, self.steps], np.float32)
        return {"where": where, "what": (self.steps,)}


class Wordy(Counter):
    observation_space = Text(10)  # type: ignore[assignment]

    def observation(self):
        return "x" * self.steps


class Listing(Counter):
    observation_space = Sequence(Discrete(5))  # type: ignore[assignment]


class Linked(Counter):
    observation_space = Graph(Discrete(5), None)  # type: ignore[assignment]


class Either(Counter):
    observation_space = OneOf([Discrete(5), Discrete(9)])  # type: ignore[assignment]


class Steered(Counter):
    """Its actions are amounts, and so are its rewards."""

    action_space = Box(-9, 9, (1,), np.float32)  # type: ignore[assignment]

    def step(self, action):
        return super().step(action[0])


class Inverted(Game):
    def reset(self, **options):
        observation, info = super().reset(**options)
        return 255 - observation, info

    def step(self, action):
        observation, *rest = super().step(action)
        return 255 - observation, *rest


class OtherObservations(Counter):
    observation_space = Box(0, 1, (2,), np.int64)


class OtherActions(Counter):
    action_space = Discrete(6)


class Traced(Counter):
    """Leaves a file when it is closed."""

    def __init__(self, trace: Path, actions: int = 5, breaks: bool = False) -> None:
        super().__init__()
        self.trace, self.breaks = trace, breaks
        self.action_space = Discrete(actions)

    def step(self, action):
        if self.breaks:
            raise KeyError("the brick is missing")
        return super().step(action)

    def close(self):
        self.trace.touch()


LENGTHS = [2, 3, 5]


def counters(kind: Any, **options: Any) -> Games:
    games: Games = kind([partial(Counter, length) for length in LENGTHS], **options)
    return games


# ------------------------------------------------------- a batch is its environments


@pytest.mark.parametrize(
    ("workers", "start_method"),
    [(0, None), (1, "fork"), (2, "fork"), (2, "spawn"), (2, "forkserver"), (7, "fork")],
)
def test_batch_is_what_the_games_are_one_by_one(workers, start_method):
    games = make_games(
        "Breakout", 3, seed=7, workers=workers, start_method=start_method
    )
    alone = [make_game("Breakout", seed=seed) for seed in spawn_seeds(7, 3)]
    with games:
        observations, infos = games.reset()
        firsts = [game.reset() for game in alone]
        assert np.array_equal(observations, [first for first, _ in firsts])
        assert infos["lives"].tolist() == [info["lives"] for _, info in firsts]
        ended = scored = 0
        random = np.random.default_rng(0)
        for _ in range(400):
            actions = random.integers(4, size=3)
            observations, rewards, terminated, truncated, infos = games.step(actions)
            for row, game in enumerate(alone):
                observation, reward, end, cut, info = game.step(actions[row])
                if end or cut:
                    ended += 1
                    assert np.array_equal(infos["final_obs"][row], observation)
                    assert infos["final_info"]["lives"][row] == info["lives"]
                    if "episode" in info:
                        scored += 1
                        returns = infos["final_info"]["episode"]["r"]
                        assert returns[row] == info["episode"]["r"]
                    observation, info = game.reset()
                assert np.array_equal(observations[row], observation)
                assert (rewards[row], terminated[row], truncated[row]) == (
                    reward,
                    end,
                    cut,
                )
                assert infos["lives"][row] == info["lives"]
        assert ended > 20
        assert scored > 1


@kinds
def test_spaces_are_those_of_a_batch(kind):
    with counters(kind) as games:
        assert games.num_envs == 3
        assert games.single_observation_space == Counter.observation_space
        assert games.single_action_space == Counter.action_space
        assert games.observation_space.shape == (3, 2)
        observations, _ = games.reset()
        assert observations in games.observation_space
        assert games.step(games.action_space.sample())[0] in games.observation_space


@kinds
def test_observations_may_have_parts(kind):
    with kind([Odd, Odd, Odd]) as games:
        games.reset()
        observations, *_ = games.step([0, 0, 0])
        assert observations["where"].tolist() == [[1, 1]] * 3
        assert observations["what"][0].tolist() == [1, 1, 1]


@kinds
def test_an_agent_may_keep_what_it_got(kind):
    with counters(kind) as games:
        first, _ = games.reset()
        second, rewards, *_ = games.step([1, 2, 3])
        games.step([4, 4, 4])
        assert first.tolist() == [[1, 0]] * 3
        assert second.tolist() == [[1, 1]] * 3
        assert rewards.tolist() == [1, 2, 3]


@kinds
def test_without_a_copy_the_next_step_is_seen_in_the_same_array(kind):
    with counters(kind, copy=False) as games:
        first, _ = games.reset()
        games.step([0, 0, 0])
        assert first.tolist() == [[1, 1]] * 3


# ------------------------------------------------------------ the end of an episode


@kinds
@pytest.mark.parametrize("truncates", [False, True])
def test_same_step(kind, truncates):
    makers = [partial(Counter, length, truncates) for length in LENGTHS]
    with kind(makers) as games:
        assert games.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
        games.reset()
        games.step([0, 0, 0])
        observations, rewards, terminated, truncated, infos = games.step([1, 2, 3])
        assert observations.tolist() == [[2, 0], [1, 2], [1, 2]]
        assert rewards.tolist() == [1, 2, 3]
        ends, none = [True, False, False], [False] * 3
        assert terminated.tolist() == (none if truncates else ends)
        assert truncated.tolist() == (ends if truncates else none)
        assert infos["final_obs"][0].tolist() == [1, 2]
        assert infos["_final_obs"].tolist() == ends
        assert infos["final_info"]["score"].tolist() == [20, 0, 0]
        assert infos["final_info"]["_score"].tolist() == ends
        *_, infos = games.step([0, 0, 0])
        assert infos["_final_obs"].tolist() == [False, True, False]


@kinds
def test_next_step(kind):
    with counters(kind, autoreset_mode=AutoresetMode.NEXT_STEP) as games:
        assert games.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        games.reset()
        games.step([0, 0, 0])
        observations, _, terminated, _, infos = games.step([0, 0, 0])
        assert observations.tolist() == [[1, 2]] * 3
        assert terminated.tolist() == [True, False, False]
        assert infos["score"].tolist() == [20, 0, 0]
        observations, rewards, terminated, _, _ = games.step([4, 4, 4])
        assert observations.tolist() == [[2, 0], [1, 3], [1, 3]]
        assert rewards.tolist() == [0, 4, 4], "the action was ignored"
        assert terminated.tolist() == [False, True, False]


@kinds
def test_disabled(kind):
    with counters(kind, autoreset_mode=AutoresetMode.DISABLED) as games:
        games.reset()
        games.step([0, 0, 0])
        *_, terminated, _, _ = games.step([0, 0, 0])
        observations, _ = games.reset(options={"reset_mask": terminated})
        assert observations.tolist() == [[2, 0], [1, 2], [1, 2]]
        observations, *_ = games.step([0, 0, 0])
        assert observations.tolist() == [[2, 1], [1, 3], [1, 3]]


def test_disabled_asks_for_the_reset():
    games = counters(SerialGames, autoreset_mode=AutoresetMode.DISABLED)
    games.reset()
    games.step([0, 0, 0])
    games.step([0, 0, 0])
    with pytest.raises(ResetNeeded, match="reset_mask") as caught:
        games.step([0, 0, 0])
    assert caught.value.__notes__ == ["This happened in game 0."]


@kinds
def test_gymnasiums_wrappers_for_batches_work(kind):
    with counters(kind) as games:
        wrapped = gymnasium.wrappers.vector.RecordEpisodeStatistics(games)
        wrapped.reset()
        wrapped.step(np.array([1, 1, 1]))
        *_, infos = wrapped.step(np.array([1, 1, 1]))
        assert infos["episode"]["r"][0] == 2


# -------------------------------------------------------------------------- seeds


@kinds
def test_seeds_are_drawn_and_reach_the_environments(kind):
    with counters(kind) as games:
        _, infos = games.reset(seed=1)
        assert infos["seed"].tolist() == spawn_seeds(1, 3)
        games.reset(options={"reset_mask": [True] * 3})
        assert games.call("given") == ({}, {}, {}), "as Gymnasium does"
        games.reset()
        assert games.call("given") == (None, None, None)
        _, infos = games.reset(seed=[4, 5, 6], options={"new": True})
        assert infos["seed"].tolist() == [4, 5, 6]
        assert infos["options"]["new"].tolist() == [True] * 3
        _, infos = games.reset(seed=list(np.array([7, 8, 9])))
        assert infos["seed"].tolist() == [7, 8, 9]
        assert games.call("seeded_with") == (int,) * 3
        with pytest.raises(ValueError, match="2 seeds for 3 environments"):
            games.reset(seed=[1, 2])
        with pytest.raises(ValueError, match="1 entries in reset_mask for 3"):
            games.reset(options={"reset_mask": [True]})


def test_games_have_seeds_of_their_own():
    with make_games("Freeway", 4, seed=1, workers=0, stack=1) as games:
        first, _ = games.reset()
        again, _ = games.reset(seed=1)
    assert first.shape == (4, 1, 84, 84)
    assert len({each.tobytes() for each in first}) > 1
    assert np.array_equal(first, again), "the seed of the run and of reset are one"


def test_without_a_seed_runs_differ():
    runs = set()
    for _ in range(4):
        with make_games("Freeway", 2, workers=0, stack=1) as games:
            runs.add(games.reset()[0].tobytes())
    assert len(runs) > 1


def test_seeds_of_neighbouring_runs_have_nothing_in_common():
    seeds = [each for run in range(100) for each in spawn_seeds(run, 64)]
    assert len(set(seeds)) == len(seeds)
    assert all(type(each) is int for each in seeds)


def test_more_games_leave_the_seeds_of_the_others_as_they_are():
    assert spawn_seeds(5, 64)[:8] == spawn_seeds(5, 8)
    assert spawn_seeds(5, 8) == spawn_seeds(5, 8)
    with pytest.raises(ValueError, match="at least 1 game, not -3"):
        spawn_seeds(5, -3)


# ----------------------------------------------------------------------- mistakes


@kinds
@pytest.mark.parametrize(
    "actions",
    [[0, 0], [0] * 4, 3, [0, 0, 5], [0, -1, 0], [0.5, 0, 0], None, [0, 0, [1, 2]]],
)
def test_wrong_actions_are_refused_and_the_games_go_on(kind, actions):
    with counters(kind) as games:
        games.reset()
        with pytest.raises(InvalidAction):
            games.step(actions)
        assert games.step([0, 0, 0])[0].tolist() == [[1, 1]] * 3


class Amounts(Counter):
    """Is rewarded with its action, which is a number with a fraction."""

    action_space = Box(-1, 1, (1,), np.float32)  # type: ignore[assignment]

    def step(self, action):
        return super().step(action[0])


@kinds
def test_actions_may_be_amounts(kind):
    with kind([Amounts] * 3) as games:
        games.reset()
        for wrong in (2, 4):
            with pytest.raises(InvalidAction, match=f"{wrong} actions for 3 games"):
                games.step(np.zeros((wrong, 1), np.float32))
        for odd in (0.5, None, [[0], [0], [0, 1]]):
            with pytest.raises(InvalidAction, match="is not in Box"):
                games.step(odd)
        with pytest.raises(InvalidAction, match=r"must have shape \(3, 1\), not \(3,"):
            games.step(np.zeros((3, 2), np.float32))
        _, rewards, *_ = games.step(np.array([[0.5], [-1], [0.25]], np.float32))
        assert rewards.tolist() == [0.5, -1, 0.25]


@kinds
def test_if_one_can_not_be_made_the_others_are_closed(kind, tmp_path):
    def fail() -> Counter:
        raise KeyError("no such game")

    made = tmp_path / "made"
    with pytest.raises((KeyError, WorkerError), match="no such game"):
        kind([Counter, partial(Traced, made), fail])
    assert made.exists()


# What is wrong with a game of a worker is the worker's error. With `joins`, the last
# game is one of this process.
@pytest.mark.parametrize(
    ("kind", "error"),
    list(zip(KINDS, [ValueError, WorkerError, ValueError], strict=True)),
    ids=IDS,
)
@pytest.mark.parametrize(
    ("other", "which"), [(OtherObservations, "observation"), (OtherActions, "action")]
)
def test_spaces_that_differ_are_refused(kind, error, other, which):
    match = rf"same {which} space. That of game 2 is"
    with pytest.raises(error, match=match):
        kind([Counter, Counter, other])


@kinds
def test_games_that_are_refused_are_closed(kind, tmp_path):
    first, second, third = (tmp_path / name for name in ("0", "1", "2"))
    with pytest.raises((ValueError, WorkerError), match="action space"):
        kind(
            [partial(Traced, first), partial(Traced, second), partial(Traced, third, 6)]
        )
    assert first.exists()
    assert second.exists()
    assert third.exists()


def test_a_game_without_a_size_is_closed(monkeypatch):
    closed = []

    def close(env: Wordy) -> None:
        closed.append(env)

    monkeypatch.setattr(Wordy, "close", close)
    with pytest.raises(ValueError, match="fixed size"):
        SerialGames([Wordy])
    assert len(closed) == 1


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt])
def test_games_one_after_another_are_given_up_together(error, tmp_path, monkeypatch):
    games = SerialGames([Counter, partial(Traced, tmp_path / "last")])
    games.reset()

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Traced, "step", fail)
    with pytest.raises(error):
        games.step([0, 0])  # the first has played it, the last has not
    assert (tmp_path / "last").exists()
    with pytest.raises(ClosedEnvironmentError):
        games.reset()


def test_a_question_that_one_can_not_answer_leaves_games_open():
    games = SerialGames([Counter, Counter])
    games.reset()
    with pytest.raises(AttributeError):
        games.call("no_such_thing")
    games.step([0, 0])
    games.close()


class Stuck(Counter):
    """Does not close."""

    def close(self):
        raise OSError("the lid is stuck")


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2]], ids=[IDS[0], IDS[2]])
def test_one_that_does_not_close_leaves_no_other_open(kind, tmp_path):
    first, last = tmp_path / "first", tmp_path / "last"
    makers = [Counter, partial(Traced, first), Stuck, partial(Traced, last)]
    games = kind(makers)
    games.reset()
    with pytest.raises(OSError, match="stuck"):
        games.close()
    games.close()
    assert first.exists()
    assert last.exists()


def test_who_joins_closes_its_own_games_when_all_are_ended(tmp_path):
    makers: list[Any] = [Counter, partial(Traced, tmp_path / "own", breaks=True)]
    games = ParallelGames(makers, workers=2, joins=True)
    games.reset()
    with pytest.raises(KeyError, match="brick"):
        games.step([0, 0])
    assert (tmp_path / "own").exists()


@kinds
def test_options_of_other_batches_do_not_keep_games_open(kind, tmp_path):
    games = kind([partial(Traced, tmp_path / name) for name in "abc"])
    games.reset()
    games.close(timeout=1, terminate=True)
    assert all((tmp_path / name).exists() for name in "abc")


@kinds
def test_what_follows_an_end_may_be_a_name_of_gymnasium(kind):
    with counters(kind, autoreset_mode="NextStep") as games:
        assert games.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        games.reset()
        for _ in range(3):
            observations, *_ = games.step([0, 0, 0])
        assert observations.tolist() == [[2, 0], [1, 3], [1, 3]]
    with pytest.raises(ValueError, match="AutoresetMode"):
        counters(kind, autoreset_mode="never")


@kinds
def test_no_games_are_refused(kind):
    with pytest.raises(ValueError, match="make_envs is empty"):
        kind([])


@kinds
def test_observations_without_a_size_are_refused(kind):
    for wrong in (Wordy, Listing, Linked, Either):
        name = type(wrong.observation_space).__name__
        with pytest.raises(ValueError, match=f"fixed size.*{name}"):
            kind([wrong])


@kinds
def test_actions_that_were_handed_out_may_be_written_over(kind):
    with kind([Steered] * 4) as games:
        games.reset()
        actions = np.ones((4, 1), np.float32)
        games.step_async(actions)
        actions[:] = 7
        assert games.step_wait()[1].tolist() == [1] * 4


@kinds
def test_a_game_may_return_something_else_than_it_wrote(kind):
    makers = [partial(Inverted, loader("Pong"), seed=seed) for seed in (1, 2)]
    alone = [make() for make in makers]
    with kind(makers) as games:
        observations, _ = games.reset()
        expected = [each.reset()[0] for each in alone]
        assert np.array_equal(observations, expected)
        for _ in range(3):
            observations, *_ = games.step([2, 3])
            expected = [
                each.step(action)[0] for each, action in zip(alone, [2, 3], strict=True)
            ]
            assert np.array_equal(observations, expected)


@kinds
def test_calls_out_of_turn_are_refused(kind):
    with counters(kind) as games:
        games.reset()
        with pytest.raises(NoAsyncCallError):
            games.step_wait()
        games.step_async([0, 0, 0])
        with pytest.raises(AlreadyPendingCallError):
            games.step_async([0, 0, 0])
        with pytest.raises(AlreadyPendingCallError):
            games.reset()
        assert games.step_wait()[0].tolist() == [[1, 1]] * 3
    with pytest.raises(ClosedEnvironmentError):
        games.reset()


# ----------------------------------------------------------------------- the rest


@kinds
def test_methods_and_attributes_of_all_can_be_reached(kind):
    with counters(kind) as games:
        games.reset()
        assert games.call("length") == (2, 3, 5)
        assert games.call("times", 2) == games.call("times", factor=2) == (4, 6, 10)
        assert games.render() == ("1.0", "1.0", "1.0")


@kinds
def test_what_wrappers_are_put_around_is_found_in_them(kind):
    make = partial(gymnasium.wrappers.TimeLimit, Counter(4), 3)
    with kind([make] * 2) as games:
        assert games.call("length") == (4, 4)


@kinds
def test_attributes_can_be_set(kind):
    """One for all, or one for each, and in what a wrapper is put around."""
    makes = [partial(gymnasium.wrappers.TimeLimit, Counter(4), 3), Counter, Counter]
    with kind(makes) as games:
        games.set_attr("length", [7, 8, 9])
        assert games.get_attr("length") == games.call("length") == (7, 8, 9)
        games.set_attr("length", 2)
        assert games.get_attr("length") == (2, 2, 2)
        with pytest.raises(ValueError, match="2 values for 3 environments"):
            games.set_attr("length", (1, 2))


class Answers(Counter):
    """Returns what it was told to."""

    def __init__(self, *, reset: Any = None, step: Any = None) -> None:
        super().__init__()
        self.answers = reset, step

    def reset(self, **options):
        return super().reset(**options) if self.answers[0] is None else self.answers[0]

    def step(self, action):
        return self.answers[1]


SEEN = np.zeros(2, np.int64)


@pytest.mark.parametrize("wrapper", [lambda env: env, Resumable])
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((SEEN, 1.0, False, {}), "five things, .* not 4"),
        (SEEN, "five things, .* not ndarray"),
        ((SEEN, 1.0, False, False, None), "dictionary, not NoneType"),
        ((SEEN, 1.0, {"a": False}, {}, {}), "one agent"),
        ((SEEN, 1.0, False, {"a": False}, {}), "one agent"),
    ],
)
def test_a_step_as_it_was_before_gymnasium_is_refused(answer, message, wrapper):
    games = SerialGames([lambda: wrapper(Answers(step=answer))])
    games.reset(seed=1)
    with pytest.raises(TypeError, match=message):
        games.step([0])


def test_a_reset_without_a_dictionary_is_refused():
    games = SerialGames([lambda: Answers(reset=(SEEN, None))])
    with pytest.raises(TypeError, match="must be a dictionary, not NoneType"):
        games.reset(seed=1)


def test_five_things_may_be_in_a_list():
    games = SerialGames([lambda: Answers(step=[SEEN, 1.0, False, False, {}])])
    games.reset(seed=1)
    assert games.step([0])[1] == 1.0


@kinds
def test_as_many_names_as_environments(kind):
    with pytest.raises(ValueError, match="1 names for 2 environments"):
        kind([Counter] * 2, names=["one"])


@pytest.mark.parametrize("workers", [0, 2])
def test_gymnasium_finds_the_games(workers):
    games = gymnasium.make_vec(
        "labml_rl/Atari-v0", num_envs=2, game="Pong", seed=3, workers=workers
    )
    assert isinstance(games.unwrapped, ParallelGames if workers else SerialGames)
    assert games.reset()[0].shape == (2, 4, 84, 84)
    games.close()
    game = gymnasium.make("labml_rl/Atari-v0", game="Pong", seed=3)
    assert game.reset()[0].shape == (4, 84, 84)


class Contrary(gymnasium.Env[Any, Any]):
    """Observes something else than its space says."""

    observation_space = Box(0, 255, (4,), np.uint8)
    action_space = Discrete(2)

    def __init__(self, observation: Any, info: Any = None) -> None:
        self.observation, self.info = observation, info

    def reset(self, *, seed=None, options=None):
        return self.observation, {"told": self.info}


@pytest.mark.parametrize("observation", [np.full(4, 0.7), np.ones(1, np.uint8), 3])
def test_observations_that_contradict_their_space_are_refused(observation):
    with SerialGames([partial(Contrary, observation)], names=["odd"]) as games:
        with pytest.raises(ValueError, match=r"says uint8 of shape \(4,\)") as caught:
            games.reset()
        assert "This happened in game 0 (odd)." in caught.value.__notes__
    with SerialGames([partial(Contrary, np.arange(4))]) as games:
        assert games.reset()[0].tolist() == [[0, 1, 2, 3]], "whole numbers of any type"
    too_large = SerialGames([partial(Contrary, [300, 1, 2, 3])])
    with too_large as games, pytest.raises(ValueError, match="from 1 to 300, and its"):
        games.reset()


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (np.array([0.7, 1, 2, 3]), r"says uint8 of shape \(4,\), and this is float64"),
        (np.arange(3), r"and this is int64 of shape \(3,\)"),
        (np.array([0, 1, 2, -1]), "numbers from -1 to 2, and its space says uint8"),
        ([0, 1, 2, 300], "numbers from 0 to 300, and its space says uint8"),
    ],
)
def test_the_last_observation_of_an_episode_is_checked_as_well(last, said):
    class Ending(Contrary):
        def step(self, action):
            return last, 0.0, True, False, {}

    with SerialGames([partial(Ending, np.arange(4))]) as games:
        games.reset()
        with pytest.raises(ValueError, match=said):
            games.step([0])


@pytest.mark.parametrize("last", [np.array([0, 1, 2, 255]), [0, 1, 2, 255]])
def test_the_last_observation_has_the_type_of_its_space(last):
    class Ending(Contrary):
        def step(self, action):
            return last, 0.0, True, False, {}

    with SerialGames([partial(Ending, np.arange(4))]) as games:
        games.reset()
        *_, infos = games.step([0])
        assert infos["final_obs"][0].dtype == np.uint8
        assert infos["final_obs"][0].tolist() == [0, 1, 2, 255]


def test_an_environment_does_not_end_the_program():
    class Quitting(Counter):
        def step(self, action):
            sys.exit()

    with SerialGames([Quitting], names=["quits"]) as games:
        games.reset()
        with pytest.raises(RuntimeError, match=r"\(quits\) called sys.exit\(None\)"):
            games.step([0])


class Closes(Counter):
    """Ends the program where it is closed."""

    def close(self):
        sys.exit(3)


class Refuses(Counter):
    """Ends the program where it is made."""

    def __init__(self) -> None:
        sys.exit()


@kinds
def test_nor_when_it_is_made(kind):
    with pytest.raises(RuntimeError, match=r"\(quits\) called sys.exit\(None\)"):
        kind([Refuses], names=["quits"])


def test_nor_when_it_is_closed(tmp_path):
    trace = tmp_path / "closed"
    games = SerialGames([Closes, partial(Traced, trace)], names=["quits", "stays"])
    with pytest.raises(RuntimeError, match=r"\(quits\) called sys.exit\(3\)"):
        games.close()
    assert trace.exists()
    for makes in ([Closes], [Closes, Refuses]):
        with pytest.raises(RuntimeError, match=r"game 0 called sys.exit\(3\)"):
            ParallelGames(makes)
    with pytest.raises(RuntimeError, match=r"game 0 called sys.exit\(3\)"):
        SerialGames([Closes, Refuses])


class Thrifty(Counter):
    """It has one dictionary, and fills it anew."""

    def __init__(self) -> None:
        super().__init__(length=2)
        self.info: dict[str, Any] = {}

    def reset(self, **options):
        observation, _ = super().reset(**options)
        self.info["steps"] = 0
        return observation, self.info

    def step(self, action):
        observation, *rest, _ = super().step(action)
        self.info["steps"] = self.steps
        return observation, *rest, self.info


@kinds
def test_the_last_info_is_not_that_of_the_next_episode(kind):
    with kind([Thrifty, Thrifty]) as games:
        games.reset()
        games.step([0, 0])
        *_, infos = games.step([0, 0])
        assert infos["steps"].tolist() == [0, 0]
        assert infos["final_info"]["steps"].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 0.7), (True, 0.7), (True, 3), (np.int8(1), 300), (np.array([1]), [0.7])],
)
def test_no_number_of_infos_is_cut(first, second):
    """The first one would decide of what type all are."""

    class Telling(Counter):
        def __init__(self, told: Any) -> None:
            super().__init__()
            self.told = told

        def step(self, action):
            return *super().step(action)[:-1], {"in": {"told": self.told}}

    with SerialGames([partial(Telling, each) for each in (first, second)]) as games:
        games.reset()
        *_, infos = games.step([0, 0])
    told = infos["in"]["told"].tolist()
    assert told == [np.asarray(each).tolist() for each in (first, second)]
    assert infos["in"]["_told"].tolist() == [True, True]


@pytest.mark.parametrize("answer", [np.zeros(1), (np.zeros(1), {}, {})])
def test_a_reset_that_gives_no_infos_is_named(answer):
    class Old(Counter):
        def reset(self, **_):
            return answer

    with SerialGames([Old], names=["old"]) as games:
        with pytest.raises(TypeError, match="return the first observation and a") as e:
            games.reset()
        assert "This happened in game 0 (old)." in e.value.__notes__


def test_infos_that_do_not_fit_together_are_named():
    makes = [partial(Contrary, np.arange(4), np.zeros(each)) for each in (2, 3)]
    with SerialGames(makes) as games, pytest.raises(ValueError, match="shape") as found:
        games.reset()
    assert "infos of environment 1" in found.value.__notes__[0]


class Telling(Counter):
    def __init__(self, told: Any) -> None:
        super().__init__()
        self.told = told

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options)[0], {"told": self.told}


@pytest.mark.parametrize("second", [{"x": 1}, 2**70])
def test_so_are_those_that_gymnasium_does_not_expect(second):
    makes = [partial(Telling, each) for each in (1, second)]
    kinds_of_error = (AttributeError, OverflowError)
    with SerialGames(makes) as games, pytest.raises(kinds_of_error) as found:
        games.reset()
    assert "infos of environment 1" in found.value.__notes__[0]


@kinds
@pytest.mark.parametrize("truncates", [False, True])
def test_an_agent_may_keep_how_it_ended_and_all_parts_of_what_it_saw(kind, truncates):
    makers = [partial(Odd, length, truncates) for length in (1, 2)]
    with kind(makers) as games:
        first, _ = games.reset(seed=np.int64(1))
        second, _, *ends, _ = games.step([0, 0])
        games.step([0, 0])
        assert first["where"].tolist() == [[1, 0], [1, 0]]
        assert second["where"].tolist() == [[2, 0], [1, 1]]
        assert second["what"][0].tolist() == [0, 1]
        assert ends[truncates].tolist() == [True, False]
        assert ends[not truncates].tolist() == [False, False]
