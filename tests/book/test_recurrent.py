"""PPO with a memory: what is remembered, when it is wiped out, and what is learned."""

import pickle
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, Discrete
from gymnasium.utils.env_checker import check_env

from labml_rl import runs, small
from labml_rl.batch import SerialGames
from labml_rl.environments import make_environments
from labml_rl.hidden import make_hidden_cart_pole
from labml_rl.networks import log_probs_of
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo.recurrent import Experiment, Settings, SmallExperiment
from labml_rl.ppo.recurrent import SmallSettings as Small
from labml_rl.ppo.remembering import RecurrentActorCritic, RememberingBody
from labml_rl.sampling import Sampler
from labml_rl.watch.agent import Agent, Protocol, Saved
from labml_rl.watch.scores import measure
from labml_rl.watch.video import film
from tests.book.test_learning import check_it_goes_on, frames_until
from tests.book.test_sampling import counter, counters

TINY = Small(num_envs=4, steps=8, minibatches=2, units=8, total_frames=4_000)
PIXELS: dict[str, Any] = {
    "game": "Pong",
    "precision": "float32",
    "num_envs": 4,
    "steps": 6,
    "minibatches": 2,
    "units": 16,
}


def make(shape=(3,), units=5):
    torch.manual_seed(1)
    return RecurrentActorCritic(shape, 2, units=units)


# --- the network ---


def test_a_step_is_what_the_page_says():
    body = RememberingBody((3,), 5)
    observations, memories = torch.randn(4, 3), torch.randn(4, 10)
    x, (h, c) = body.body(observations), memories.chunk(2, 1)
    lstm: Any = body.lstm
    bias = lstm.bias_ih_l0 + lstm.bias_hh_l0
    sums = x @ lstm.weight_ih_l0.T + h @ lstm.weight_hh_l0.T + bias
    i, f, g, o = sums.chunk(4, 1)
    kept = f.sigmoid() * c + i.sigmoid() * g.tanh()
    said = o.sigmoid() * kept.tanh()
    found, after = body.step(observations, memories)
    torch.testing.assert_close(found, said)
    torch.testing.assert_close(after, torch.cat([said, kept], 1))


def test_it_begins_orthogonal_and_keeps_three_quarters():
    body = RememberingBody((3,), 16)
    for layer in body.body.layers:
        if isinstance(layer, torch.nn.Linear):
            sizes = torch.linalg.svdvals(layer.weight)
            torch.testing.assert_close(sizes, torch.full_like(sizes, 2**0.5))
    lstm: Any = body.lstm
    for weight in (lstm.weight_ih_l0, lstm.weight_hh_l0):
        for matrix in weight.detach().chunk(4):
            rows = matrix @ matrix.T
            torch.testing.assert_close(rows, torch.eye(16), atol=1e-5, rtol=0)
    bias = (lstm.bias_ih_l0 + lstm.bias_hh_l0).detach()
    write, keep, what, say = bias.chunk(4)
    assert not write.any()
    assert not what.any()
    assert not say.any()
    assert keep.sigmoid().unique().item() == pytest.approx(0.73, abs=0.01)


@pytest.mark.parametrize("shape", [(3,), (1, 36, 36)], ids=["vectors", "pictures"])
def test_rows_are_many_steps_with_the_notes_wiped_out(shape):
    network = make(shape)
    observations = torch.randint(256, (4, 9, *shape), dtype=torch.uint8)
    memories = torch.randn(4, network.memory)
    begins = torch.zeros(4, 9, dtype=torch.bool)
    begins[0, [3, 4]] = begins[1, 8] = begins[2, 0] = True
    logits, values = network.rows(observations, memories, begins)
    notes = memories
    for t in range(9):
        notes = notes.masked_fill(begins[:, t, None], 0.0)
        expected, expected_values, notes = network(observations[:, t], notes)
        torch.testing.assert_close(logits[:, t], expected)
        torch.testing.assert_close(values[:, t], expected_values)
    assert logits.shape == (4, 9, 2)
    assert values.shape == (4, 9)


def test_a_gradient_runs_back_to_the_beginning_of_the_episode_and_no_further():
    network = make()
    observations = torch.randn(2, 9, 3, requires_grad=True)
    begins = torch.zeros(2, 9, dtype=torch.bool)
    begins[0, 4] = True
    logits, values = network.rows(observations, torch.randn(2, 20), begins)
    (logits[0, 7].sum() + values[0, 7]).backward()
    assert observations.grad is not None
    reached = observations.grad.abs().sum(-1) > 0
    assert reached[0].nonzero().flatten().tolist() == [4, 5, 6, 7]
    assert not reached[1].any()


def test_policy_and_value_of_vectors_have_notes_of_their_own():
    """What one of them is given does not matter to the other."""
    network = make()
    observations, memories = torch.randn(4, 3), torch.zeros(4, 20)
    logits, values, after = network(observations, memories)
    assert network.memory == after.shape[1] == 20
    memories[:, 10:] = 1.0
    others = network(observations, memories)
    assert torch.equal(others[0], logits)
    assert not torch.equal(others[1], values)
    assert make((1, 36, 36)).memory == 10


def test_the_body_is_the_only_part_in_16_bits():
    network = make((1, 36, 36))
    pictures = torch.randint(256, (2, 1, 36, 36), dtype=torch.uint8)
    with torch.autocast("cpu", torch.bfloat16):
        answers = network(pictures, torch.zeros(2, 10))
        assert network.body(pictures).dtype == torch.bfloat16
    assert {each.dtype for each in answers} == {torch.float32}


# --- while it plays ---


class Counting:
    """It notes how often it was asked in this episode, and says so in the value."""

    memory = 1

    def __call__(self, observations, memories):
        after = memories + 1
        logits = torch.zeros(len(observations), 2)
        return logits, observations[:, 0] + after[:, 0] / 10, after


def test_notes_go_on_until_the_episode_ends():
    """Of these, one ends after three steps, and the other is cut off after five."""
    sampler = Sampler(counters(copy=False), Counting(), steps=4)
    asked, noted, rollouts, kept = [], [], [], []
    for _ in range(2):
        samples = sampler.sample()
        rollouts.append(samples.rollout)
        kept.append(samples.memories)
        noted.append(samples.memories.flatten().tolist())
        values = samples.rollout.values[:-1] - samples.observations[..., 0]
        asked.append((10 * values).round())
    first, second = rollouts
    assert noted == [[0, 0], [1, 4]]
    assert [each.flatten().tolist() for each in kept] == noted
    assert torch.cat(asked)[:, 0].tolist() == [1, 2, 3, 1, 2, 3, 1, 2]
    assert torch.cat(asked)[:, 1].tolist() == [1, 2, 3, 4, 5, 1, 2, 3]
    # The value of what would have followed, with the notes of the episode that was cut.
    assert second.final_values is not None
    assert second.final_values[0, 1].item() == pytest.approx(205 + 0.6)
    # To be asked what it expects of the last observation is no step.
    assert second.values[-1].tolist() == pytest.approx([102 + 0.3, 203 + 0.4])
    assert first.values[-1].tolist() == pytest.approx([101 + 0.2, 204 + 0.5])


def test_two_that_take_turns_remember_what_one_does():
    whole = Sampler(counters(copy=False), Counting(), steps=7)
    halves = [
        SerialGames([partial(counter, first, terminates)], copy=False)
        for first, terminates in ((100, True), (200, False))
    ]
    turns = Sampler(halves, Counting(), steps=7)
    for _ in range(2):
        expected, found = whole.sample(), turns.sample()
        assert torch.equal(found.memories, expected.memories)
        assert torch.equal(found.rollout.values, expected.rollout.values)
    assert expected.memories.any()


@pytest.mark.usefixtures("nobody_stays")
def test_players_remember_what_one_process_does():
    settings = Settings(**PIXELS, episodic_life=False, workers=2)
    found = []
    for each in (settings, replace(settings, players=False, workers=0)):
        with closing(Experiment(each)) as experiment:
            for _ in range(3):
                experiment.advance()
            found.append(experiment.play())
    players, alone = found
    assert torch.equal(players.actions, alone.actions)
    torch.testing.assert_close(players.memories, alone.memories, atol=1e-4, rtol=0)
    assert players.memories.abs().max() > 0.01


# --- when it learns ---


@pytest.mark.parametrize("settings", [TINY, Settings(**PIXELS, workers=0)])
def test_before_the_first_step_all_ratios_are_one(settings):
    """The network is asked what it was asked when it played, ends of episodes too."""
    with closing(Experiment(settings)) as experiment:
        ends = 0
        for _ in range(5):
            batch = experiment.make_batch(experiment.play())
            batch = batch.rows(torch.tensor([2, 0]))
            ends += int(batch.begins.sum())
            logits, values = experiment.answers(batch)
            log_probs = log_probs_of(logits, batch.actions)
            torch.testing.assert_close(log_probs, batch.log_probs, atol=1e-5, rtol=0)
            torch.testing.assert_close(values, batch.values, atol=1e-5, rtol=0)
        assert batch.memories.any()
        assert ends > 0 or settings is not TINY


def test_a_batch_has_games_first_and_the_same_in_them():
    with closing(SmallExperiment(TINY)) as experiment:
        experiment.play()
        samples = experiment.play()
        batch = experiment.make_batch(samples)
        by_time = ppo.Experiment.make_batch(experiment, samples)
    assert len(batch) == 4
    assert batch.begins.shape == (4, 8)
    for name in vars(by_time):
        found = getattr(batch, name).unflatten(0, (4, 8)).transpose(0, 1)
        assert torch.equal(found.flatten(0, 1), getattr(by_time, name))
    some = batch.rows(torch.tensor([3, 1]))
    assert len(some) == 2
    for name, whole in vars(batch).items():
        expected = whole.unflatten(0, (4, -1))[[3, 1]].flatten(0, 1)
        assert torch.equal(getattr(some, name), expected)


def test_a_run_that_was_interrupted_comes_to_the_same_end(tmp_path):
    check_it_goes_on(SmallExperiment, TINY, tmp_path / "state", "memories")


# --- the pole ---


def test_the_hidden_pole_is_the_pole_without_its_speeds():
    hidden, whole = make_hidden_cart_pole(), gymnasium.make("CartPole-v1")
    found, _ = hidden.reset(seed=3)
    expected, _ = whole.reset(seed=3)
    over = False
    while not over:
        assert hidden.observation_space.contains(found)
        assert found * [4.8, 0.41887903] == pytest.approx(expected[::2], abs=1e-6)
        found, *rest = hidden.step(1)
        expected, *of_whole = whole.step(1)
        assert rest == of_whole
        over = bool(rest[1])


# A mark that is passed long before the end, and the part of the run that it may take.
GOOD, HALF = 150, 0.5


def forgetful(monkeypatch):
    """It begins each step with empty notes."""
    good = RememberingBody.step
    monkeypatch.setattr(
        RememberingBody, "step", lambda body, o, m: good(body, o, torch.zeros_like(m))
    )
    rows = RememberingBody.rows
    monkeypatch.setattr(
        RememberingBody,
        "rows",
        lambda body, o, m, b: rows(body, o, m, torch.ones_like(b)),
    )


def is_balanced(settings):
    (frames,) = frames_until(
        settings, GOOD, part=HALF, experiment_class=SmallExperiment
    )
    return frames < np.inf


@pytest.mark.timeout(900)
def test_the_pole_is_balanced_by_one_who_remembers():
    assert is_balanced(Small())


@pytest.mark.timeout(900)
@pytest.mark.long
def test_and_not_by_one_who_forgets(monkeypatch):
    forgetful(monkeypatch)
    assert not is_balanced(Small(total_frames=100_000))


@pytest.mark.timeout(900)
@pytest.mark.long
def test_ppo_without_a_memory_does_not_balance_it():
    settings = small.PPOSettings(game=Small().game)
    reached = frames_until(settings, GOOD, experiment_class=small.SmallPPO)
    assert reached == [np.inf]


# --- afterwards ---


def trained(folder, total_frames):
    runs.train(SmallExperiment, Small(total_frames=total_frames), folder=folder)
    return Saved.of(folder, SmallExperiment)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_whoever_watches_it_carries_its_notes(tmp_path, monkeypatch):
    protocol = Protocol()
    agent = trained(tmp_path / "run", 30_000)
    with_notes = measure(agent, protocol, games=16, workers=0).mean
    monkeypatch.setattr(Agent, "forget", lambda agent, ended: agent._notes.clear())
    without = measure(agent, protocol, games=16, workers=0).mean
    assert with_notes > 1.5 * without


def test_its_notes_are_wiped_out_where_an_episode_ends(tmp_path):
    space = Box(-1, 1, (2,), np.float32)
    agent = Agent(
        trained(tmp_path / "run", 1_000), space, Discrete(2), Protocol(), "cpu"
    )
    agent.forget(np.array([True, True, True]))
    seen = np.random.default_rng(1).normal(size=(3, 2)).astype(np.float32)
    _, fresh = agent.act(seen)
    _, going_on = agent.act(seen)
    agent.forget(np.array([False, True, False]))
    _, after = agent.act(seen)
    assert not torch.equal(fresh.values, going_on.values)
    same = (after.values - fresh.values).abs() < 1e-6
    assert same.tolist() == [False, True, False]


def test_a_film_wipes_out_the_notes_with_each_life(monkeypatch, tmp_path):
    settings = Settings(**PIXELS | {"game": "Breakout"}, workers=0)
    network = Experiment.make_network(
        settings, Box(0, 255, (1, 84, 84), np.uint8), Discrete(4)
    )
    saved = Saved(Experiment, settings, network.state_dict(), 0)
    told: list[bool] = []
    monkeypatch.setattr(Agent, "forget", lambda agent, ended: told.append(*ended))
    film(saved, Protocol(frames_cap=2_000), tmp_path / "film.mp4")
    assert sum(told) == 5


def test_without_notes_it_thinks_as_at_the_beginning():
    network = make()
    seen = torch.randn(4, 3)
    found = Experiment.think(network, seen)
    expected = Experiment.think(network, seen, torch.zeros(4, 20))
    assert torch.equal(found.values, expected.values)


# --- settings ---


def test_a_game_shows_one_picture_and_more_if_told_to():
    settings = Settings(**PIXELS, workers=0)
    for stack in (1, 3):
        with closing(Experiment(replace(settings, stack=stack))) as experiment:
            assert experiment.network.body.shape == (stack, 84, 84)
            experiment.advance()
    assert "stack" not in Experiment.game_options(TINY)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"minibatches": 3, "steps": 9}, "4 games can't be cut into 3 minibatches"),
        ({"minibatches": 8}, "4 games can't be cut into 8 minibatches"),
        ({"minibatches": 0}, "into 0 minibatches"),
        ({"stack": 0}, "stack must be at least 1"),
        ({"units": 0}, "units must be at least 1"),
        ({"compile": True}, "compile and graphs are for networks without a memory"),
        ({"graphs": True}, "compile and graphs are for networks without a memory"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(TINY, **changes)


def test_a_body_must_fit():
    with pytest.raises(ValueError, match="with a shape of 3 numbers, or vectors"):
        make((84, 84))


def test_only_atari_games_have_stacks():
    settings = replace(TINY, game="CartPole-v1", stack=4)
    with pytest.raises(ValueError, match=r"stack must be 1.* CartPole-v1 is none"):
        SmallExperiment(settings)


def test_its_memory_may_be_any_whole_number():
    class OfNumPy(SmallExperiment):
        @staticmethod
        def make_network(settings, observation_space, action_space):
            network = SmallExperiment.make_network(
                settings, observation_space, action_space
            )
            network.memory = np.int64(network.memory)  # type: ignore[assignment]
            return network

    with closing(OfNumPy(TINY)) as experiment:
        experiment.advance()


def test_the_hidden_pole_is_an_environment_as_gymnasium_wants_it():
    env = gymnasium.make("labml_rl.hidden:HiddenCartPole-v1")
    with pytest.warns(UserWarning, match="different from the unwrapped version"):
        check_env(env, skip_render_check=True)
    again = pickle.loads(pickle.dumps(env.spec)).make()
    assert again.observation_space == env.observation_space
    seen, _ = env.reset(seed=1)
    same, _ = again.reset(seed=1)
    whole, _ = gymnasium.make("CartPole-v1").reset(seed=1)
    np.testing.assert_array_equal(seen, same)
    np.testing.assert_allclose(seen, whole[::2] / [4.8, 24 / 180 * np.pi], rtol=1e-6)


@pytest.mark.usefixtures("nobody_stays")
def test_workers_find_the_hidden_pole_by_its_name():
    with make_environments(Small().game, 4, seed=1, workers=2) as games:
        assert games.single_observation_space.shape == (2,)
        games.reset()


def test_what_is_cut_off_is_over_as_well():
    with closing(SmallExperiment(TINY)) as experiment:
        for _ in range(3):
            samples = experiment.play()
        rollout = samples.rollout
        ends = rollout.ends
        assert ends[:-1].any()
        cut = replace(
            rollout,
            terminated=torch.zeros_like(ends),
            truncated=ends,
            final_values=torch.zeros_like(rollout.rewards),
        )
        batch = experiment.make_batch(replace(samples, rollout=cut))
    assert not batch.begins[:, 0].any()
    assert torch.equal(batch.begins[:, 1:], ends.T[:, :-1])


def test_heads_begin_as_those_of_other_networks_do():
    """The policy knows nothing yet: its logits are next to nothing."""
    for shape in ((3,), (1, 84, 84)):
        network = make(shape)
        for head, gain in ((network.policy, 0.01), (network.value, 1.0)):
            sizes = torch.linalg.svdvals(head.weight)
            torch.testing.assert_close(sizes, torch.full_like(sizes, gain))
            assert not head.bias.any()
