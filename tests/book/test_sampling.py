"""What is written down while the network plays."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import DiscretizeAction
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from labml_rl.batch import SerialGames
from labml_rl.bodies import NatureBody
from labml_rl.environments import Resumable, make_environments
from labml_rl.networks import ActorCritic, log_probs_of
from labml_rl.returns import gae
from labml_rl.sampling import Sampler, check_spaces, memory_of


class Counter(gymnasium.Env[Any, Any]):
    """Shows how many steps it has had, and pays as much. Ends at 3, or is cut at 5."""

    observation_space = Box(-1000, 1000, (1,), np.float32)
    action_space: Any = Discrete(2)

    def __init__(self, first: int, *, terminates: bool) -> None:
        self.first, self.terminates = first, terminates

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.show(), {}

    def show(self):
        return np.array([self.first + self.steps], np.float32)

    def step(self, action):
        self.steps += 1
        ends, cut = self.terminates and self.steps == 3, self.steps == 5
        return self.show(), float(self.steps), ends, cut, {}


def counters(**options):
    makers = [partial(counter, 100, True), partial(counter, 200, False)]
    return SerialGames(makers, **options)


def counter(first, terminates):
    return Resumable(Counter(first, terminates=terminates))


def network(observations):
    """Action 1 always, and a value that says which observation it saw."""
    numbers = observations[:, 0].float()
    logits = torch.stack([torch.zeros_like(numbers), torch.full_like(numbers, 50.0)])
    return logits.T, numbers / 1000


def test_everything_is_in_its_place():
    samples = Sampler(counters(copy=False), network, steps=7).sample()
    seen = samples.observations[..., 0]  # (T, N)
    assert seen[:, 0].tolist() == [100, 101, 102, 100, 101, 102, 100]
    assert seen[:, 1].tolist() == [200, 201, 202, 203, 204, 200, 201]
    rollout = samples.rollout
    assert rollout.rewards[:, 0].tolist() == [1, 2, 3, 1, 2, 3, 1]
    assert rollout.terminated[:, 0].nonzero().flatten().tolist() == [2, 5]
    assert not rollout.truncated[:, 0].any()
    assert rollout.truncated[:, 1].nonzero().flatten().tolist() == [4]
    torch.testing.assert_close(rollout.values[:-1], seen / 1000)
    # The last value is of the observation on which nobody has acted.
    torch.testing.assert_close(rollout.values[-1], torch.tensor([0.101, 0.202]))
    # Where it was cut off, the value is of 205, not of the 200 that came next.
    assert rollout.final_values is not None
    assert rollout.final_values[4, 1].item() == pytest.approx(0.205)
    assert rollout.final_values.isnan().sum() == 13
    assert (samples.actions == 1).all()
    assert [score["r"] for score in samples.scores] == [6, 15, 6]
    assert gae(rollout, discount=0.99, gae_lambda=0.95).isfinite().all()


class Careless(Counter):
    """It says that it shows float32, and shows what NumPy makes by itself."""

    def show(self):
        return np.array([self.first + self.steps])


def test_all_that_a_network_sees_is_of_the_type_of_the_space():
    seen = []

    def noting(observations):
        seen.append(observations.dtype)
        return network(observations)

    games = SerialGames([lambda: Resumable(Careless(100, terminates=False))])
    samples = Sampler(games, noting, steps=7).sample()
    assert samples.rollout.truncated.any()
    assert set(seen) == {torch.float32}


def test_a_network_may_say_values_in_16_bits():
    """Those of final observations are written in another way than all others."""

    def in_16_bits(observations):
        logits, values = network(observations)
        return logits.bfloat16(), values.bfloat16()

    rollout = Sampler(counters(copy=False), in_16_bits, steps=7).sample().rollout
    assert rollout.final_values is not None
    assert rollout.final_values[4, 1].item() == pytest.approx(0.205, abs=0.001)


@pytest.mark.parametrize(
    ("logits", "values"), [((2, 2), ()), ((2, 2), (1,)), ((2, 1), (2,)), ((2, 3), (2,))]
)
def test_a_network_answers_for_each_game(logits, values):
    def network(observations):
        return torch.zeros(logits), torch.zeros(values)

    with pytest.raises(ValueError, match=r"logits of shape \(2, 2\) and values of"):
        Sampler(counters(copy=False), network, steps=2).sample()


def test_the_next_rollout_goes_on_where_the_last_one_stopped():
    whole = Sampler(counters(copy=False), network, steps=8).sample()
    sampler = Sampler(counters(copy=False), network, steps=4)
    for part in (slice(0, 4), slice(4, 8)):
        found = sampler.sample()
        torch.testing.assert_close(found.observations, whole.observations[part])
        torch.testing.assert_close(found.rollout.rewards, whole.rollout.rewards[part])


def test_a_rollout_stays_what_it_was():
    """Only observations and actions are the sampler's own arrays."""
    sampler = Sampler(counters(copy=False), network, steps=4)
    first = sampler.sample()
    kept = [*vars(first.rollout).values(), first.log_probs, first.memories]
    before = [each.clone() for each in kept]
    second = sampler.sample()
    torch.testing.assert_close(kept, before, equal_nan=True)
    assert not torch.equal(second.rollout.rewards, first.rollout.rewards)
    ours = {each.data_ptr() for each in sampler.sheet.parts()}
    assert not ours & {each.data_ptr() for each in kept if each.numel()}


def test_log_probabilities_are_of_the_network_that_played():
    torch.manual_seed(1)
    games = make_environments("CartPole-v1", 3, seed=1, workers=0, copy=False)
    policy = ActorCritic((4,), 2)
    with torch.no_grad():
        policy.policy.weight.mul_(100)
    samples = Sampler(games, policy, steps=20).sample()
    with torch.no_grad():
        logits, values = policy(samples.observations.flatten(0, 1))
    again = log_probs_of(logits.view(20, 3, 2), samples.actions)
    torch.testing.assert_close(samples.log_probs, again)
    torch.testing.assert_close(samples.rollout.values[:-1], values.view(20, 3))
    assert samples.log_probs.std() > 0.02
    games.close()


def test_observations_in_blocks_are_the_same_ones():
    def play(prepare):
        torch.manual_seed(1)
        games = make_environments("Breakout", 2, seed=1, workers=0, copy=False)
        policy = ActorCritic((4, 84, 84), 4)
        body = policy.body
        assert isinstance(body, NatureBody)
        sampler = Sampler(
            games,
            policy,
            steps=12,
            generator=torch.Generator().manual_seed(1),
            prepare=body.prepared if prepare else None,
        )
        samples = sampler.sample()
        games.close()
        return body, samples

    _, plain = play(prepare=False)
    body, blocks = play(prepare=True)
    assert torch.equal(plain.actions, blocks.actions)
    expected = body.prepared(plain.observations.flatten(0, 1))
    assert torch.equal(blocks.observations.flatten(0, 1), expected)
    # Each observation lies in memory as the processor likes it.
    assert blocks.observations[3].is_contiguous()


@pytest.mark.parametrize("others", [[], ["CartPole-v1", "Acrobot-v1"]])
def test_batches_of_one_kind_are_needed(others):
    games = [make_environments(name, 1, workers=0) for name in others]
    with pytest.raises(ValueError, match="games of one kind"):
        Sampler(games, network, steps=2)


def test_all_batches_are_closed_whatever_happens():
    games = halves()
    sampler = Sampler(games, network, steps=2)

    def fails(**_: Any) -> None:
        raise RuntimeError("no way")

    games[1].close = fails
    with pytest.raises(RuntimeError, match="no way"):
        sampler.close()
    assert games[0].closed


def test_what_cannot_be_played_is_refused():
    for none in (0, -1):
        with pytest.raises(ValueError, match=f"at least 1, not {none}"):
            Sampler(counters(), network, steps=none)
    with pytest.raises(ValueError, match="autoreset_mode=SAME_STEP"):
        Sampler(counters(autoreset_mode=AutoresetMode.NEXT_STEP), network, steps=2)
    games = make_environments("Pendulum-v1", 1, seed=1, workers=0)
    with pytest.raises(ValueError, match="actions must be numbered"):
        Sampler(games, network, steps=2)
    with pytest.raises(ValueError, match=r"DiscretizeAction.* continuous=False"):
        check_spaces(Box(-1, 1, (4,)), Box(-1, 1, (2,)))
    with pytest.raises(ValueError, match="TransformAction can add 1 to each"):
        check_spaces(Box(-1, 1, (4,)), Discrete(3, start=1))
    with pytest.raises(ValueError, match=r"\[2 3\].* Number all their combinations"):
        check_spaces(Box(-1, 1, (4,)), MultiDiscrete([2, 3]))
    games = make_environments("Blackjack-v1", 1, seed=1, workers=0)
    with pytest.raises(ValueError, match="observations must be arrays"):
        Sampler(games, network, steps=2)
    games = counters()
    games.single_observation_space = Box(0.0, 1.0, (84, 84, 3), np.float32)
    with pytest.raises(ValueError, match=r"bytes .* not float32"):
        Sampler(games, network, steps=2)
    board = Box(-1, 1, (6, 7, 2), np.int8)
    with pytest.raises(ValueError, match=r"such as a board, FlattenObservation"):
        check_spaces(board, Discrete(7))


def test_what_is_no_batch_of_games_is_refused():
    """With a word on what to do, and not in the first step."""
    make = partial(counter, 100, True)
    same_step = SyncVectorEnv([make], autoreset_mode=AutoresetMode.SAME_STEP)
    wrapped: Any = RecordEpisodeStatistics(counters())
    for games in (SyncVectorEnv([make]), same_step, wrapped, make()):
        with pytest.raises(TypeError, match=r"is no batch of games.* SerialGames"):
            Sampler(games, network, steps=2)  # type: ignore[arg-type]
    silent = counters()
    silent.metadata = {}
    with pytest.raises(ValueError, match="SAME_STEP, not None"):
        Sampler(silent, network, steps=2)


def test_actions_that_are_amounts_can_be_numbered():
    pendulum = gymnasium.make("Pendulum-v1")
    numbered = DiscretizeAction(pendulum, bins=5)
    check_spaces(numbered.observation_space, numbered.action_space)
    assert numbered.action_space == Discrete(5)


def halves(**options):
    """The same as `counters`, in two batches."""
    return [
        SerialGames([partial(counter, first, terminates)], copy=False, **options)
        for first, terminates in ((100, True), (200, False))
    ]


def test_two_that_take_turns_see_what_one_does():
    whole = Sampler(counters(copy=False), network, steps=7)
    turns = Sampler(halves(), network, steps=7)
    for _ in range(2):
        expected, found = whole.sample(), turns.sample()
        for name in ("observations", "actions", "log_probs"):
            torch.testing.assert_close(getattr(found, name), getattr(expected, name))
        torch.testing.assert_close(
            vars(found.rollout), vars(expected.rollout), equal_nan=True
        )
        assert sorted(map(str, found.scores)) == sorted(map(str, expected.scores))


def test_saved_games_go_on_in_other_batches():
    sampler = Sampler(halves(), network, steps=4)
    sampler.sample()
    states = sampler.get_states()
    expected = sampler.sample().observations.clone()
    for games in (counters(copy=False), halves()):
        other = Sampler(games, network, steps=4)
        seen = other.set_states(states)
        assert torch.equal(other.sample().observations, expected)
        assert seen.tolist() == expected[0].tolist()


class Noted(SerialGames):
    """Writes down when its games get their actions, and when somebody waits."""

    def __init__(self, name: str, diary: list[str]) -> None:
        super().__init__([partial(counter, 100, True)], copy=False)
        self.name, self.diary = name, diary

    def step_async(self, actions):
        self.diary.append(f"{self.name} plays")
        super().step_async(actions)

    def step_wait(self):
        self.diary.append(f"{self.name} is awaited")
        return super().step_wait()


def test_the_network_is_asked_while_the_other_half_plays():
    diary: list[str] = []

    def asked(observations):
        diary.append("network")
        return network(observations)

    games = [Noted("A", diary), Noted("B", diary)]
    Sampler(games, asked, steps=3).sample()
    turn = ["A is awaited", "network", "A plays", "B is awaited", "network", "B plays"]
    begins = ["network", "A plays", "network", "B plays"]
    # The last answers are the values of the observations on which nobody acts.
    ends = ["A is awaited", "network", "B is awaited", "network"]
    assert diary == begins + turn + turn + ends


def test_a_part_that_is_called_memory_is_no_number_of_notes():
    network = ActorCritic((4,), 2)
    assert memory_of(network) == 0
    network.memory = torch.nn.Linear(2, 2)
    assert memory_of(network) == 0
