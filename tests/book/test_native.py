"""ALE's own vector environment behind our interface. See also test_peers_differ.py."""

from typing import Any

import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, InvalidAction

from labml_rl.native import NativeGames
from labml_rl.worker import make_games
from tests.book.peers import ale_vector


def play(games: Any, steps: int, seed: int = 0) -> Any:
    random = np.random.default_rng(seed)
    for _ in range(steps):
        yield games.step(
            random.integers(games.single_action_space.n, size=games.num_envs)
        )


def test_the_interface_is_that_of_the_other_batches():
    options: dict[str, Any] = {"seed": 1, "stack": 2}
    with (
        NativeGames("SpaceInvaders", 3, **options) as native,
        make_games("SpaceInvaders", 3, workers=0, **options) as ours,
    ):
        assert native.observation_space == ours.observation_space
        assert native.action_space == ours.action_space
        assert native.metadata["autoreset_mode"] == ours.metadata["autoreset_mode"]
        for one, other in zip(native.reset(), ours.reset(), strict=True):
            assert type(one) is type(other)
        for one, other in zip(next(play(native, 1)), next(play(ours, 1)), strict=True):
            assert type(one) is type(other)
            if isinstance(one, np.ndarray):
                assert (one.shape, one.dtype) == (other.shape, other.dtype)
            else:
                assert one.keys() == other.keys()


def test_it_plays_what_ale_plays():
    games = NativeGames("Breakout", 2, episodic_life=False, fire_at_start=False)
    ale = ale_vector("breakout", 2)
    observations, _ = games.reset(seed=[3, 4])
    wanted, _ = ale.reset(seed=np.array([3, 4]))
    assert np.array_equal(observations, wanted)
    ends = 0
    random = np.random.default_rng(0)
    for _ in range(300):
        actions = random.integers(4, size=2)
        observations, rewards, *over, infos = games.step(actions)
        wanted, points, *wanted_over, wanted_infos = ale.step(actions)
        assert np.array_equal(observations, wanted)
        assert np.array_equal(rewards, points)
        assert np.array_equal(over, wanted_over)
        for row in np.flatnonzero(over[0]):
            ends += 1
            assert np.array_equal(
                infos["final_obs"][row], wanted_infos["final_obs"][row]
            )
    assert ends > 0


def test_observations_can_be_kept():
    games = NativeGames("Pong", 1, seed=1)
    first, _ = games.reset()
    kept = first.copy()
    for _ in play(games, 30):
        pass
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("clip_rewards", [False, True])
def test_scores_are_those_of_whole_games_and_unclipped(clip_rewards):
    games = NativeGames("SpaceInvaders", 2, seed=5, clip_rewards=clip_rewards)
    games.reset()
    returns, lengths, scores, lives = np.zeros(2), np.zeros(2), [], 0
    for _, rewards, terminated, _, infos in play(games, 1500):
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(terminated):
            final = infos["final_info"]
            if "episode" in final and final["_episode"][row]:
                score, length = (final["episode"][key][row] for key in ("r", "l"))
                assert length == lengths[row]
                scores.append(score)
                assert score > returns[row] if clip_rewards else score == returns[row]
                returns[row] = lengths[row] = 0
            else:
                lives += 1
                assert infos["lives"][row] in (1, 2)
    assert len(scores) > 2
    assert lives >= 2 * len(scores) - 2


def test_the_cap_truncates():
    games = NativeGames("Pong", 1, seed=1, max_frames=200)
    games.reset()
    ends = [
        (bool(cut[0]), bool(end[0]), int(infos["final_info"]["episode"]["l"][0]))
        for _, _, end, cut, infos in play(games, 120)
        if end[0] or cut[0]
    ]
    assert ends[:2] == [(True, False, 50)] * 2


def test_a_seed_reproduces_a_run():
    def run(seed: int) -> bytes:
        with NativeGames("Breakout", 2, seed=seed, sticky_actions=0.25) as games:
            observations, _ = games.reset()
            seen = [observations, *(step[0] for step in play(games, 60))]
        return np.stack(seen).tobytes()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_after_a_seed_later_resets_go_on_from_there():
    def second(seed: int) -> bytes:
        with NativeGames("Breakout", 2, seed=seed, sticky_actions=0.25) as games:
            games.reset(seed=5)
            observations, _ = games.reset()
            seen = [observations, *(step[0] for step in play(games, 60))]
        return np.stack(seen).tobytes()

    assert second(1) == second(2)


def test_some_games_can_be_reset_alone():
    games = NativeGames("Breakout", 2, seed=1)
    games.reset()
    (*_, (before, *_)) = play(games, 20)
    after, _ = games.reset(options={"reset_mask": [False, True]})
    assert np.array_equal(before[0], after[0])
    assert not np.array_equal(before[1], after[1])


@pytest.mark.parametrize("option", [{"channels_last": True}, {"crop_scoreboard": True}])
def test_what_ale_does_not_have_is_refused(option):
    with pytest.raises(ValueError, match=f"no {next(iter(option))}"):
        NativeGames("Pong", 1, **option)


def test_no_games_are_refused():
    with pytest.raises(ValueError, match="at least 1 game, not 0"):
        NativeGames("Pong", 0)


def test_mistakes_are_refused():
    with pytest.raises(ValueError, match="'pong'"):
        NativeGames("Pongo", 1)
    games = NativeGames("Pong", 2)
    games.reset()
    with pytest.raises(InvalidAction):
        games.step([0, 6])
    with pytest.raises(NotImplementedError, match="no call"):
        games.call("lives")
    games.close()
    games.close()
    with pytest.raises(ClosedEnvironmentError):
        games.reset()


def test_it_plays_while_the_agent_does_something_else(monkeypatch):
    games = NativeGames("Pong", 4, seed=1, threads=2)
    games.reset()
    calls: list[str] = []
    for name in ("send", "recv"):

        def note(*arguments: Any, name: str = name, ale: Any = games._ale) -> Any:
            calls.append(name)
            return getattr(type(ale), name)(ale, *arguments)

        monkeypatch.setattr(games._ale, name, note)
    games.step_async([0, 0, 0, 0])
    assert calls == ["send"]
    games.step_wait()
    assert calls == ["send", "recv"]
