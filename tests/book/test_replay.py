"""The replay memory: against lists of everything that was ever played."""

import pickle
import sys
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Dict
from hypothesis import given, settings
from hypothesis import strategies as st

from figures import values as figure
from labml_rl.bodies import NatureBody, as_blocks
from labml_rl.game import make_game
from labml_rl.replay import ReplayMemory, frames
from labml_rl.replay.frames import Frames
from labml_rl.runs import checkpoint

SIDE = 8
DISCOUNT = 0.9


class Play:
    """
    Games of random length, in which no two pictures are the same, and what a memory
    that never forgets would know of them.
    """

    def __init__(self, num_envs, stack, seed=0, *, channels=1, ends=0.2, vectors=False):
        self.num_envs, self.stack, self.channels = num_envs, stack, channels
        self.dice = np.random.default_rng(seed)
        self.ends, self.vectors, self.count = ends, vectors, 0
        shape = (3,) if vectors else (stack * channels, SIDE, SIDE)
        dtype = np.float32 if vectors else np.uint8
        self.space = Box(0, 255, shape, dtype)
        # For each game a list of episodes; each has its pictures, actions, rewards.
        self.episodes: list[list[dict[str, Any]]] = [[] for _ in range(num_envs)]

    def picture(self):
        self.count += 1
        if self.vectors:
            return np.full(3, self.count, np.float32)
        # Some bytes for the number of the picture, and noise.
        picture = self.dice.integers(256, size=(self.channels, SIDE, SIDE))
        picture[0, 0, :4] = [self.count >> 8 * k & 255 for k in range(4)]
        return picture.astype(np.uint8)

    def observation(self, episode, t):
        if self.vectors:
            return episode["pictures"][t]
        times = [max(t - k, 0) for k in reversed(range(self.stack))]
        return np.concatenate([episode["pictures"][k] for k in times])

    def begin(self, game):
        episode = {
            "pictures": [self.picture()],
            "actions": [],
            "rewards": [],
            "end": "",
        }
        self.episodes[game].append(episode)
        return self.observation(episode, 0)

    def reset(self):
        return np.stack([self.begin(game) for game in range(self.num_envs)])

    def step(self):
        actions = self.dice.integers(5, size=self.num_envs)
        rewards = self.dice.normal(size=self.num_envs).astype(np.float32)
        kinds = self.dice.choice(
            ["", "terminated", "truncated"],
            p=[1 - self.ends, self.ends / 2, self.ends / 2],
            size=self.num_envs,
        )
        observations, final = [], []
        for game, kind in enumerate(kinds):
            episode = self.episodes[game][-1]
            episode["pictures"].append(self.picture())
            episode["actions"].append(int(actions[game]))
            episode["rewards"].append(float(rewards[game]))
            episode["end"] = str(kind)
            after = self.observation(episode, len(episode["actions"]))
            if kind:
                final.append(after)
                after = self.begin(game)
            observations.append(after)
        return (
            (actions, rewards, kinds == "terminated", kinds == "truncated"),
            np.stack(observations),
            np.stack(final) if final else None,
        )

    def play(self, memory, steps, *, begin=True):
        if begin:
            memory.begin(self.reset())
        for _ in range(steps):
            step, observations, final = self.step()
            memory.add(*step, observations, final_observations=final)

    def transitions(self, game, n):
        """All that is complete, the oldest first: with its number of places ago."""
        found, places = [], 0
        for episode in self.episodes[game]:
            length = len(episode["actions"])
            over = episode["end"]
            for t in range(length):
                taken = min(n, length - t)
                if taken < n and not over:
                    continue
                ends = bool(over) and t + taken == length
                found.append(
                    {
                        "place": places + t,
                        "oldest": places + max(t - self.stack + 1, 0),
                        "observation": self.observation(episode, t),
                        "action": episode["actions"][t],
                        "return": sum(
                            DISCOUNT**k * episode["rewards"][t + k]
                            for k in range(taken)
                        ),
                        "discount": 0.0
                        if ends and over == "terminated"
                        else DISCOUNT**taken,
                        "next": self.observation(episode, t + taken),
                    }
                )
            places += len(episode["pictures"])
        return found, places


def memory_for(play, capacity, *, n=1, blocks=False, seed=0, kind=ReplayMemory, **more):
    return kind(
        play.space,
        play.num_envs,
        capacity=capacity,
        stack=1 if play.vectors else play.stack,
        n=n,
        discount=DISCOUNT,
        blocks=blocks,
        seed=seed,
        **more,
    )


def expected_of(play, memory):
    """By place in the memory: what must come out, of all that can be drawn."""
    ring, expected = memory.size // play.num_envs, {}
    for game in range(play.num_envs):
        transitions, written = play.transitions(game, memory.n)
        for each in transitions:
            if each["oldest"] >= written - ring:
                expected[each["place"] % ring * play.num_envs + game] = each
    return expected


def assert_all_right(play, memory):
    expected = expected_of(play, memory)
    places = np.arange(memory.size)
    drawable = places[memory.can_be_drawn(places)]
    assert drawable.tolist() == sorted(expected)
    if not expected:
        return
    batch = memory.batch(drawable)
    for row, place in enumerate(drawable):
        each = expected[place]
        assert np.array_equal(batch.observations[row], each["observation"])
        assert np.array_equal(batch.next_observations[row], each["next"])
        assert batch.actions[row] == each["action"]
        assert batch.returns[row].item() == pytest.approx(each["return"], abs=1e-5)
        assert batch.discounts[row].item() == pytest.approx(each["discount"])


@settings(max_examples=150, deadline=None)
@given(
    num_envs=st.integers(1, 3),
    stack=st.integers(1, 4),
    n=st.integers(1, 4),
    more=st.integers(0, 30),
    steps=st.integers(0, 60),
    ends=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    vectors=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_what_can_be_drawn_is_what_was_played(
    *, num_envs, stack, n, more, steps, ends, vectors, seed
):
    play = Play(num_envs, 1 if vectors else stack, seed, ends=ends, vectors=vectors)
    memory = memory_for(play, capacity=num_envs * (play.stack + n + more), n=n)
    play.play(memory, steps)
    assert_all_right(play, memory)
    if steps < memory.size // num_envs and not ends:
        assert len(memory) == num_envs * steps
    assert len(memory) == np.count_nonzero(memory.outcomes)


@pytest.mark.parametrize("channels", [1, 3])
def test_in_blocks_it_is_the_same(channels):
    play = Play(2, 4, channels=channels)
    memory = memory_for(play, 60, blocks=True)
    play.play(memory, 50)
    places = np.flatnonzero(memory.can_be_drawn(np.arange(memory.size)))
    batch = memory.batch(places)
    expected = expected_of(play, memory)
    for name, found in (
        ("observation", batch.observations),
        ("next", batch.next_observations),
    ):
        whole = torch.from_numpy(np.stack([expected[each][name] for each in places]))
        assert torch.equal(found, as_blocks(whole))
        assert found.dtype == torch.uint8
        assert found.is_contiguous()
    (alone,) = memory.stacks(places)
    assert torch.equal(alone, batch.observations)


def test_a_batch_stays_what_it_is_as_long_as_somebody_has_it():
    """And when nobody has it, its memory is used again."""
    play = Play(2, 4)
    memory = memory_for(play, 60, blocks=True)
    play.play(memory, 50)
    held: list[tuple[Any, Any]] = []
    for size in (8, 8, 5, 8, 5, 8):
        batch = memory.sample(size)
        # A part of it is enough, and an array that looks at it.
        for part in (batch.observations[2:3], batch.next_observations.numpy()[1:]):
            held.append((part, np.asarray(part).copy()))
        del batch
    for part, before in held:
        assert np.array_equal(part, before)
    assert len({each[0].data_ptr() for each in held[::2]}) == 6

    del part, before, held
    first = memory.sample(8)
    where = {first.observations.data_ptr(), first.next_observations.data_ptr()}
    del first
    for _ in range(3):
        again = memory.sample(8)
        assert where == {
            again.observations.data_ptr(),
            again.next_observations.data_ptr(),
        }
        del again


def test_stacks_that_are_not_in_blocks_are_contiguous_too():
    play = Play(2, 4)
    memory = memory_for(play, 60)
    play.play(memory, 50)
    batch = memory.sample(8)
    assert batch.observations.shape == (8, 4, SIDE, SIDE)
    assert batch.observations.is_contiguous()


def test_an_atari_game_comes_out_as_it_went_in():
    """Random play, lives and all, in the real pipeline."""
    game = make_game("Breakout", seed=1)
    space = game.observation_space
    assert isinstance(space, Box)
    memory = ReplayMemory(space, 1, capacity=500, stack=4)
    observation, _ = game.reset()
    memory.begin(observation[None])
    seen, dice = [], np.random.default_rng(1)
    for _ in range(300):
        action = int(dice.integers(4))
        after, reward, terminated, truncated, _ = game.step(action)
        final = None
        seen.append((observation, after))
        if terminated or truncated:
            final, (after, _) = after[None], game.reset()
        memory.add(
            np.array([action]),
            np.array([reward]),
            np.array([terminated]),
            np.array([truncated]),
            after[None],
            final_observations=final,
        )
        observation = after
    places = np.flatnonzero(memory.can_be_drawn(np.arange(memory.size)))
    assert len(places) == len(seen)
    assert memory.written > 302  # lives were lost
    batch = memory.batch(places)
    for row, (before, after) in enumerate(seen):
        assert np.array_equal(batch.observations[row], before)
        assert np.array_equal(batch.next_observations[row], after)


def test_all_steps_are_drawn_equally_often():
    play = Play(2, 3, ends=0.3)
    memory = memory_for(play, 40)
    play.play(memory, 90)
    drawable = memory.can_be_drawn(np.arange(memory.size))
    draws = 20_000
    counts = np.zeros(memory.size)
    for _ in range(draws // 20):
        np.add.at(counts, memory.sample(20).places, 1)
    assert not counts[~drawable].any()
    mean = draws / drawable.sum()
    # Five standard deviations.
    assert np.abs(counts[drawable] - mean).max() < 5 * mean**0.5


def test_a_million_pictures_fit_into_seven_and_a_half_gigabytes(monkeypatch):
    """Counted, not filled: what is not written to takes no memory."""
    monkeypatch.setattr(frames, "memory_of_machine", lambda: 7_500_000_000)
    space = Box(0, 255, (4, 84, 84), np.uint8)
    memory = ReplayMemory(space, 8, capacity=1_000_000, stack=4)
    arrays = (memory.actions, memory.rewards, memory.outcomes, memory.ages)
    size = memory.frames.kept.nbytes + sum(each.nbytes for each in arrays)
    assert memory.frames.kept.nbytes == 1_000_000 * 84 * 84
    assert size < 7.5e9


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("steps", [7, 200])
def test_saved_and_restored_it_draws_the_same(tmp_path, steps, vectors):
    play = Play(2, 1 if vectors else 4, vectors=vectors)
    memory = memory_for(play, 60, n=2, blocks=True)
    play.play(memory, steps)
    memory.sample(4)
    checkpoint.save(tmp_path / "state", {"replay": memory.get_state()})
    state = checkpoint.load(tmp_path / "state")["replay"]
    # Nothing is in the file that was never written.
    assert len(state["kept"]) == memory.written

    other = memory_for(play, 60, n=2, blocks=True, seed=5)
    Play(2, play.stack, vectors=vectors).play(other, 40)
    other.set_state(state)
    # What fills the memory is used as it is: there may be no room for two.
    assert (other.frames.kept is state["kept"]) == (memory.written == memory.size)
    for _ in range(2):
        a, b = memory.sample(8), other.sample(8)
        for name, each in vars(a).items():
            assert np.array_equal(each, vars(b)[name]), name
        for step, observations, final in [play.step() for _ in range(30)]:
            for each in (memory, other):
                each.add(*step, observations, final_observations=final)
    assert not vectors or memory.sample(1).observations.dtype == torch.float32
    assert len(memory) == len(other)


def test_numbers_may_come_in_another_precision():
    kept = Frames((3,), np.float32, stack=1, places=2)
    kept.check(np.zeros((1, 3)), 1)


@pytest.mark.parametrize("steps", [5, 50])
def test_a_state_that_was_copied_can_be_used_again(steps):
    play = Play(1, 2)
    memory = memory_for(play, 20)
    play.play(memory, steps)
    state = deepcopy(memory.get_state())
    before = deepcopy(state)
    for _ in range(2):
        memory.set_state(state)
        play.play(memory, 5, begin=False)
        for name, each in state.items():
            assert np.array_equal(each, before[name]), name


@pytest.mark.parametrize("copied", [deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_memory_that_was_copied_goes_on_by_itself(copied):
    play = Play(1, 4)
    memory = memory_for(play, 40, blocks=True)
    play.play(memory, 10)
    other = copied(memory)
    for step, observations, final in [play.step() for _ in range(20)]:
        for each in (memory, other):
            each.add(*step, observations, final_observations=final)
    a, b = memory.sample(20), other.sample(20)
    assert torch.equal(a.observations, b.observations)
    assert torch.equal(a.next_observations, b.next_observations)


@pytest.mark.parametrize("steps", [5, 50])
def test_a_restored_memory_does_not_share_the_array_of_another(steps):
    play = Play(1, 2)
    memory, other = memory_for(play, 20), memory_for(play, 20)
    play.play(memory, steps)
    other.set_state(memory.get_state())
    before = deepcopy(other.get_state())
    play.play(memory, 5, begin=False)
    for name, each in other.get_state().items():
        assert np.array_equal(each, before[name]), name


def test_the_state_of_another_game_is_refused_and_nothing_is_changed():
    play, another = Play(2, 4), Play(2, 3)
    memory, wrong = memory_for(play, 60), memory_for(another, 60)
    play.play(memory, 30)
    another.play(wrong, 30)
    with pytest.raises(
        ValueError, match=r"of other games: .*\(3, 8, 8\).* would be .*\(4, 8, 8\)"
    ):
        memory.set_state(wrong.get_state())
    assert_all_right(play, memory)
    with pytest.raises(ValueError, match=r"80 places .* would be 60 places"):
        memory.set_state(memory_for(play, 80).get_state())
    with pytest.raises(ValueError, match=r"in blocks\. Here"):
        memory.set_state(memory_for(play, 60, blocks=True).get_state())


def test_a_memory_that_is_too_small_is_refused():
    play = Play(2, 4)
    with pytest.raises(ValueError, match=r"capacity of 13 .* need at least 14"):
        memory_for(play, 13, n=3)
    memory = memory_for(play, 14, n=3)
    play.play(memory, 100)
    assert_all_right(play, memory)


def test_a_memory_that_the_machine_does_not_have_is_refused(monkeypatch):
    space = Box(0, 255, (4, 84, 84), np.uint8)
    there = frames.memory_of_machine()
    # What the system says of itself, where it does.
    assert there is None or there > 100_000_000
    monkeypatch.setattr(frames, "memory_of_machine", lambda: 4_000_000_000)
    message = r"of 1,000,000 steps needs 7\.1 GB of memory, and this machine has 4\.0"
    with pytest.raises(ValueError, match=message):
        ReplayMemory(space, 8, capacity=1_000_000, stack=4)
    assert len(ReplayMemory(space, 8, capacity=500_000, stack=4)) == 0


@pytest.mark.parametrize(
    ("said", "expected"), [("1000000000\n", 1_000_000_000), ("max\n", None)]
)
@pytest.mark.parametrize("where", ["MEMORY_MAX", "MEMORY_LIMIT"])
def test_a_container_may_have_less(said, expected, where, tmp_path, monkeypatch):
    for name in ("MEMORY_MAX", "MEMORY_LIMIT"):
        monkeypatch.setattr(frames, name, tmp_path / "nowhere")
    whole = frames.memory_of_machine()
    monkeypatch.setattr(frames, where, tmp_path / "memory.max")
    (tmp_path / "memory.max").write_text(said)
    assert frames.memory_of_machine() == (expected or whole)


@pytest.mark.parametrize("error", [AttributeError, OSError, ValueError])
def test_where_the_system_does_not_tell_nothing_is_refused(error, monkeypatch):
    def silent(name):
        raise error(name)

    monkeypatch.setattr("os.sysconf", silent)
    assert frames.memory_of_machine() is None
    assert len(memory_for(Play(1, 2), 20)) == 0


def test_nothing_is_drawn_before_there_is_enough():
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60, n=3)
    with pytest.raises(ValueError, match="begin\\(\\) the memory"):
        memory.add(*play_step(2), np.zeros((2, 4, SIDE, SIDE), np.uint8))
    with pytest.raises(ValueError, match="can't draw 1 steps: there are 0"):
        memory.sample(1)
    play.play(memory, 4)
    with pytest.raises(ValueError, match="there are 8 in the memory, of which 4 are"):
        memory.sample(5)
    assert len(memory.sample(4).actions) == 4
    with pytest.raises(ValueError, match="batch_size must be at least 1, not 0"):
        memory.sample(0)


def play_step(num_envs):
    no = np.zeros(num_envs, np.bool_)
    return np.zeros(num_envs, np.int64), np.zeros(num_envs), no, no


def test_final_observations_must_be_there_and_nothing_is_written_without():
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    actions, rewards, no, _ = play_step(2)
    ended = np.array([True, False])
    observations = np.zeros((2, 4, SIDE, SIDE), np.uint8)
    with pytest.raises(ValueError, match=r"1 of 2 episodes ended, and there are 0"):
        memory.add(actions, rewards, ended, no, observations)
    with pytest.raises(ValueError, match=r"0 of 2 episodes ended, and there are 1"):
        memory.add(
            actions, rewards, no, no, observations, final_observations=observations[:1]
        )
    with pytest.raises(
        ValueError, match=r"actions must have shape \(2,\), .* not \(1,\)"
    ):
        memory.add(actions[:1], rewards, no, no, observations)
    assert_all_right(play, memory)


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("actions", np.array([0, -1]), "actions are numbered from 0, and one is -1"),
        ("rewards", np.array([0.0, np.nan]), "rewards must be finite"),
        ("rewards", np.array([-np.inf, np.inf]), "rewards must be finite"),
        ("observations", torch.zeros(2, 4, SIDE, SIDE), "an array, not Tensor"),
        ("observations", np.full((2, 4, SIDE, SIDE), 300), "must be uint8 of shape"),
        ("terminated", np.array([0.0, np.nan]), "terminated must be True or False"),
        ("truncated", np.array([0, 1]), "truncated must be True or False, not int64"),
    ],
)
def test_what_nothing_can_be_learned_from_is_not_kept(name, wrong, message):
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    actions, rewards, no, _ = play_step(2)
    observations = np.zeros((2, 4, SIDE, SIDE), np.uint8)
    step = {"actions": actions, "rewards": rewards, "observations": observations}
    step |= {"terminated": no, "truncated": no}
    with pytest.raises(ValueError, match=message):
        memory.add(**step | {name: wrong})
    assert_all_right(play, memory)


def after(memory):
    """What may come next in each game: its stack, and a picture more."""
    (stacks,) = memory.stacks(memory.heads)
    seen = stacks.numpy()
    return np.concatenate([seen[:, 1:], np.full_like(seen[:, :1], 148)], axis=1)


@pytest.mark.parametrize("steps", [0, 10])
def test_a_stack_that_another_picture_came_before_is_refused(steps):
    """Frames were skipped above the stack, say. It could not be made again."""
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, steps)
    actions, rewards, no, _ = play_step(2)
    right = after(memory)
    for game in (0, 1):
        wrong = right.copy()
        wrong[game] = np.roll(wrong[game], -1, axis=0)
        with pytest.raises(ValueError, match="the one before with one new picture"):
            memory.add(actions, rewards, no, no, wrong)
    first, ends = np.full_like(right, 148), np.array([True, False])
    begun = np.where(ends[:, None, None, None], first, right)
    final = np.roll(right[:1], -1, axis=1)
    with pytest.raises(ValueError, match="the one before with one new picture"):
        memory.add(actions, rewards, ends, no, begun, final_observations=final)
    assert_all_right(play, memory)
    memory.add(actions, rewards, ends, no, begun, final_observations=right[:1])


def test_observations_may_come_in_an_array_that_is_used_again():
    """As games that are made with `copy=False` show them."""
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    shown = play.reset()
    memory.begin(shown)
    for _ in range(10):
        step, shown[:], _ = play.step()
        memory.add(*step, shown)
    assert_all_right(play, memory)


def test_an_episode_begins_with_one_picture():
    """What stood in front of it is not kept, and a stack could not be made again."""
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    actions, rewards, no, _ = play_step(2)
    black = np.zeros((2, 4, SIDE, SIDE), np.uint8)
    padded = black.copy()
    padded[:, -1] = 148
    with pytest.raises(ValueError, match="must be 4 times the same picture"):
        memory.begin(padded)
    step = {"observations": padded, "final_observations": black[:1]}
    ends = np.array([False, True])
    with pytest.raises(ValueError, match="must be 4 times the same picture"):
        memory.add(actions, rewards, ends, no, **step)
    assert_all_right(play, memory)
    padded[1] = 148
    padded[0] = after(memory)[0]
    step["final_observations"] = after(memory)[1:]
    memory.add(actions, rewards, ends, no, **step)


def test_what_is_no_picture_may_come_in_tensors():
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    observations = after(memory)
    before = len(memory)
    memory.add(*(torch.from_numpy(each) for each in play_step(2)), observations)
    assert len(memory) == before + 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "n must be at least 1"),
        ({"num_envs": 0}, "num_envs must be at least 1"),
        ({"discount": 1.5}, "discount must be between 0 and 1"),
        ({"stack": 3}, r"shape \(4, 8, 8\) is no stack of 3"),
        ({"stack": 0}, "no stack of 0"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(changes, message):
    space = Box(0, 255, (4, SIDE, SIDE), np.uint8)
    with pytest.raises(ValueError, match=message):
        ReplayMemory(space, **{"num_envs": 1, "capacity": 50, "stack": 4} | changes)


def test_a_stack_may_have_more_pictures_than_a_byte_counts():
    stack, steps = 300, 320
    space = Box(0, 255, (stack, 1, 1), np.uint8)
    memory = ReplayMemory(space, 1, capacity=1000, stack=stack)
    seen = np.concatenate([np.zeros(stack - 1), np.arange(steps + 1)]).astype(np.uint8)

    def at(step: int) -> Any:
        return seen[step : step + stack].reshape(1, stack, 1, 1)

    memory.begin(at(0))
    zero, never = np.array([0]), np.array([False])
    for step in range(steps):
        memory.add(zero, zero, never, never, at(step + 1))
    batch = memory.batch(np.arange(steps - 1))
    expected = np.concatenate([at(step) for step in range(steps - 1)])
    assert np.array_equal(batch.observations.numpy(), expected)


def test_what_is_no_array_is_refused():
    space: Any = Dict({"picture": Box(0, 255, (4, SIDE, SIDE), np.uint8)})
    with pytest.raises(
        ValueError, match=r"must be arrays, not Dict.* FlattenObservation"
    ):
        ReplayMemory(space, 1, capacity=50)


def test_pictures_that_cannot_be_cut_are_kept_whole():
    kept = Frames((2, 6, 8), np.uint8, stack=2, places=3, blocks=True)
    assert not kept.blocks
    pictures = np.arange(2 * 6 * 8, dtype=np.uint8).reshape(1, 2, 6, 8)
    kept.write(np.array([1]), pictures)
    (stacks,) = kept.read(np.array([[1, 1]]))
    assert np.array_equal(stacks[0, 0], pictures[0, 1])


@pytest.mark.parametrize("shape", [(), (3,), (8, 8, 3), (4, 8, 8)])
def test_with_a_stack_of_1_observations_are_kept_as_they_are(shape):
    kept = Frames(shape, np.uint8, stack=1, places=6, blocks=True)
    observations = np.random.default_rng(1).integers(256, size=(6, *shape))
    observations = observations.astype(np.uint8)
    kept.write(np.arange(6), observations)
    (found,) = kept.read(np.array([[5], [2]]))
    assert np.array_equal(found, observations[[5, 2]])


def test_only_stacks_of_bytes_are_cut():
    assert not Frames((4, 8, 8), np.float32, stack=4, places=6, blocks=True).blocks
    assert not Frames((4, 8, 8, 4), np.uint8, stack=4, places=6, blocks=True).blocks
    assert Frames((2, 8, 8), np.uint8, stack=2, places=6, blocks=True).blocks


def test_blocks_that_look_like_pictures_are_not_made():
    """Nobody could tell the two apart, and the network takes them for pictures."""
    kept = Frames((9, 36, 144), np.uint8, stack=3, places=6, blocks=True)
    assert not kept.blocks
    assert not NatureBody((9, 36, 144)).blocks
    assert Frames((9, 36, 148), np.uint8, stack=3, places=6, blocks=True).blocks


def test_a_batch_goes_to_a_device():
    play = Play(1, 1)
    memory = memory_for(play, 20)
    play.play(memory, 15)
    batch = memory.sample(3).to("meta")
    assert batch.observations.device.type == "meta"
    assert batch.weights.device.type == "meta"
    assert isinstance(batch.places, np.ndarray)


def test_the_figures_are_what_is_done(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["figures.values", "--check"])
    figure.main()
    monkeypatch.setattr("figures.drawing.FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"dqn-huber\.svg"):
        figure.main()


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.array([0.5, 1.0]), "actions must be whole numbers, not float64"),
        (np.array([0, 2**32 + 5]), "actions go to 2147483647 here, .* 4294967301"),
        (
            np.zeros((2, 3), np.int64),
            r"actions must have shape \(2,\), one for each game, not \(2, 3\)",
        ),
        ([0.7, 0.2], "actions must be whole numbers, not float64"),
    ],
)
def test_actions_must_be_numbered(actions, message):
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    _, rewards, no, _ = play_step(2)
    observations = np.zeros((2, 4, SIDE, SIDE), np.uint8)
    with pytest.raises(ValueError, match=message):
        memory.add(actions, rewards, no, no, observations)
    assert_all_right(play, memory)


@pytest.mark.parametrize("wrong", [3.0, np.zeros((2, 1)), np.zeros(3), [0.0]], ids=str)
@pytest.mark.parametrize("name", ["rewards", "terminated", "truncated"])
def test_of_all_else_there_is_one_for_each_game(name, wrong):
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    actions, rewards, no, _ = play_step(2)
    step = {"rewards": rewards, "terminated": no, "truncated": no, name: wrong}
    observations = np.zeros((2, 4, SIDE, SIDE), np.uint8)
    with pytest.raises(ValueError, match=rf"{name} must have shape \(2,\), one for"):
        memory.add(actions + 1, observations=observations, **step)
    assert_all_right(play, memory)


def test_rewards_that_are_no_numbers_leave_all_as_it_is():
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    actions, _, no, _ = play_step(2)
    before = memory.get_state()["actions"].copy()
    words: Any = np.array(["one", "two"])
    with pytest.raises(ValueError, match="could not convert"):
        memory.add(actions + 7, words, no, no, np.zeros((2, 4, SIDE, SIDE), np.uint8))
    assert np.array_equal(memory.get_state()["actions"], before)


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((1, 4, SIDE, SIDE), np.uint8),
        np.zeros((4, SIDE, SIDE), np.uint8),
        np.full((2, 4, SIDE, SIDE), 0.7),
    ],
)
def test_observations_must_be_what_the_space_says(wrong):
    play = Play(2, 4, ends=0.0)
    memory = memory_for(play, 60)
    play.play(memory, 10)
    right = np.zeros((2, 4, SIDE, SIDE), np.uint8)
    actions, rewards, no, _ = play_step(2)
    message = r"observations must be uint8 of shape \(2, 4, 8, 8\), not"
    with pytest.raises(ValueError, match=message):
        memory.add(actions, rewards, no, no, wrong)
    final = np.full_like(right, 0.7, np.float64)
    with pytest.raises(ValueError, match=message):
        memory.add(actions, rewards, ~no, no, right, final_observations=final)
    with pytest.raises(ValueError, match=message):
        memory.begin(wrong)
    assert_all_right(play, memory)


@pytest.mark.parametrize(
    "wrong", [np.array([["1", "2"]]), np.array([[1, None]]), np.ones((1, 2), complex)]
)
def test_observations_must_be_numbers(wrong):
    memory = ReplayMemory(Box(-1, 1, (2,)), 1, capacity=9)
    with pytest.raises(ValueError, match="observations must be float32 of shape"):
        memory.begin(wrong)
    memory.begin(np.zeros((1, 2)))
    no = np.zeros(1, np.bool_)
    with pytest.raises(ValueError, match="observations must be float32 of shape"):
        memory.add(np.array([3]), np.array([5.0]), no, no, wrong)
    assert len(memory) == 0
    assert not memory.rewards.any()


@pytest.mark.parametrize(
    ("shape", "one"),
    [
        ((4, 3, 8, 8), (1, 3, 8, 8)),
        ((4, 5), (1, 5)),
        ((12, 8, 8), (3, 8, 8)),
        ((28, 20, 30), (7, 20, 30)),
        ((4, 8, 3), (1, 8, 3)),
    ],
)
def test_a_stack_may_be_of_anything(shape, one):
    """Gymnasium stacks coloured pictures and vectors with an axis of its own."""
    kept = Frames(shape, np.uint8, stack=4, places=6)
    assert kept.kept.shape == (6, *one)
    dice = np.random.default_rng(1)
    stacks = dice.integers(256, size=(6, *shape), dtype=np.uint8)
    kept.write(np.arange(6), stacks)
    (found,) = kept.read(np.array([[2, 3, 4, 5], [0, 0, 0, 1]]))
    assert found.shape == (2, *shape)
    assert np.array_equal(found[0, -one[0] :], stacks[5, -one[0] :])
    assert np.array_equal(found[1, : one[0]], stacks[0, -one[0] :])


@pytest.mark.parametrize(
    "shape", [(96, 96, 3), (84, 84, 12), (10, 84, 84), (8, 5), (8,), (4,)]
)
def test_what_is_no_stack_is_refused(shape):
    """The rows of a picture whose channels come last are none."""
    with pytest.raises(ValueError, match="is no stack of 4 pictures"):
        Frames(shape, np.uint8, stack=4, places=6)


def test_to_begin_again_is_to_forget():
    memory = memory_for(Play(2, 2), 20, n=2)
    Play(2, 2, seed=1).play(memory, 15)
    again = Play(2, 2, seed=2)
    again.play(memory, 0)
    assert (len(memory), memory.written) == (0, 2)
    assert_all_right(again, memory)
    again.play(memory, 5, begin=False)
    assert_all_right(again, memory)


def test_batches_in_blocks_may_have_any_size():
    play = Play(2, 4)
    memory = memory_for(play, 60, blocks=True)
    play.play(memory, 50)
    for size in (8, 3, 5, 8):
        batch = memory.sample(size)
        assert len(batch.observations) == len(batch.next_observations) == size
        again = memory.batch(batch.places)
        assert torch.equal(batch.observations, again.observations)
        del batch, again


@pytest.mark.parametrize(("stack", "n"), [(1, 1), (4, 1), (2, 3)])
def test_as_many_as_are_complete_can_be_drawn_and_no_more(stack, n):
    play = Play(2, stack, ends=0.1)
    memory = memory_for(play, 24, n=n)
    play.play(memory, 0)
    for _ in range(60):
        play.play(memory, 1, begin=False)
        ready = int(memory.can_be_drawn(np.arange(memory.size)).sum())
        if ready:
            memory.check(ready)
        with pytest.raises(ValueError, match=f"of which {ready} are complete"):
            memory.check(ready + 1)
