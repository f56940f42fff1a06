"""The tricks that make it faster, and that they can be switched off."""

import contextlib
import math
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

from labml_rl.a2c import experiment as a2c
from labml_rl.dqn import experiment as dqn
from labml_rl.dqn.settings import Settings as DQNSettings
from labml_rl.networks import ActorCritic, in_full
from labml_rl.ppo.experiment import Batch, Experiment, Settings
from labml_rl.pqn import PQNetwork
from labml_rl.small import PQNSettings, SmallPQN
from labml_rl.speed import (
    SpeedSettings,
    few_threads,
    in_precision,
    make_adam,
    precision_of,
)
from labml_rl.worker import available_cores

CPU = torch.device("cpu")


pytestmark = pytest.mark.usefixtures("same_threads_afterwards")


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ({"amx_bf16": True, "avx512_bf16": True}, torch.bfloat16),
        ({"avx512_bf16": True, "cpu_name": "AMD EPYC"}, torch.bfloat16),
        ({"avx512_bf16": True, "cpu_name": "Intel Xeon"}, torch.float32),
        (
            {"amx_bf16": True, "avx512_bf16": True, "cpu_name": "Intel Xeon"},
            torch.bfloat16,
        ),
        ({"avx512_f": True, "amx_bf16": False}, torch.float32),
        ({}, torch.float32),
    ],
)
def test_16_bits_where_there_are_units_for_it(features, expected):
    with mock.patch.object(torch.cpu, "get_capabilities", return_value=features):
        assert precision_of(SpeedSettings(), CPU) == expected
        assert precision_of(SpeedSettings(precision="float32"), CPU) == torch.float32
        assert precision_of(SpeedSettings(precision="bfloat16"), CPU) == torch.bfloat16


@pytest.mark.parametrize(
    ("features", "expected"), [({"amx_bf16": True}, "bfloat16"), ({}, "float32")]
)
def test_a_run_writes_down_what_auto_was(features, expected):
    with mock.patch.object(torch.cpu, "get_capabilities", return_value=features):
        settings = Settings(workers=None, device="cpu").decided()
        assert settings.precision == expected
        assert settings.device == "cpu"
        assert settings.workers == available_cores()
        for kept in (replace(settings, workers=0), replace(settings, workers=3)):
            assert kept.decided() == kept
        chosen = replace(settings, precision="float32")
        assert chosen.decided() == chosen


def test_an_experiment_has_decided():
    """Whoever asks in each batch can't be compiled in one piece."""
    settings = Settings(
        game="CartPole-v1", workers=0, num_envs=1, steps=4, minibatches=1, device="cpu"
    )
    assert settings.precision == "auto"
    with contextlib.closing(Experiment(settings)) as experiment:
        assert experiment.settings == settings.decided()
        assert experiment.settings.precision != "auto"


def test_the_network_computes_in_that_precision():
    network = ActorCritic((4, 84, 84), 4)
    observations = torch.randint(256, (2, 4, 84, 84), dtype=torch.uint8)
    seen = {}
    for precision in ("float32", "bfloat16"):
        settings = SpeedSettings(precision=precision)
        with torch.no_grad(), in_precision(settings, CPU):
            seen[precision] = network.body(observations)
    assert seen["float32"].dtype == torch.float32
    assert seen["bfloat16"].dtype == torch.bfloat16
    torch.testing.assert_close(
        seen["bfloat16"].float(), seen["float32"], rtol=0.05, atol=0.05
    )


@pytest.mark.parametrize(
    ("experiment_class", "options"),
    [
        (Experiment, {"steps": 4, "minibatches": 1}),
        (Experiment, {"steps": 4, "minibatches": 1, "players": False}),
        (a2c.Experiment, {}),
        (
            dqn.Experiment,
            {"total_frames": 400, "warm_up_steps": 40, "capacity": 200}
            | {"epsilon_start": 0.0, "epsilon_end": 0.0},
        ),
    ],
    ids=["ppo", "ppo without players", "a2c", "dqn"],
)
def test_it_plays_and_learns_in_that_precision(experiment_class, options):
    settings = experiment_class.settings_class(
        **{"game": "CartPole-v1", "workers": 0, "num_envs": 1, "precision": "bfloat16"},
        **options,
    )
    seen: set[Any] = set()

    def noted(module: nn.Module, given: Any, answer: Tensor) -> None:
        seen.add((torch.is_grad_enabled(), answer.dtype))

    with contextlib.closing(experiment_class(settings)) as experiment:
        experiment.network.body.register_forward_hook(noted)
        experiment.advance()
    # Only who learns needs a gradient.
    assert seen == {(False, torch.bfloat16), (True, torch.bfloat16)}


def test_one_thread_for_a_while():
    torch.set_num_threads(2)
    with few_threads(SpeedSettings()):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    with few_threads(SpeedSettings(few_threads=False)):
        assert torch.get_num_threads() == 2
    with pytest.raises(KeyError), few_threads(SpeedSettings()):
        raise KeyError
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("own", [False, True])
def test_with_vectors_one_thread_also_learns(own):
    torch.set_num_threads(2)
    seen = []
    experiment = (PlainPPO if own else Experiment)(
        Settings(game="CartPole-v1", workers=0, steps=4, minibatches=1)
    )
    learn = experiment.learn

    def watched(batch):
        seen.append(torch.get_num_threads())
        return learn(batch)

    with mock.patch.object(experiment, "learn", watched):
        experiment.advance()
    experiment.close()
    assert seen == [1] * 4
    assert torch.get_num_threads() == 2


def test_with_vectors_one_thread_also_learns_action_values():
    torch.set_num_threads(2)
    seen = []
    settings = DQNSettings(
        game="CartPole-v1",
        workers=0,
        capacity=200,
        warm_up_steps=40,
        turns=20,
        precision="float32",
    )
    with contextlib.closing(PlainDQN(settings)) as experiment:
        learn = experiment.learn

        def watched():
            seen.append(torch.get_num_threads())
            return learn()

        with mock.patch.object(experiment, "learn", watched):
            experiment.advance()
            experiment.advance()
    assert set(seen) == {1}


def test_adam_is_adam():
    def three_steps(make):
        torch.manual_seed(1)
        layer = torch.nn.Linear(5, 3)
        optimizer = make(layer.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            layer(torch.ones(2, 5)).square().sum().backward()
            optimizer.step()
        return layer.weight

    torch.testing.assert_close(
        three_steps(lambda parameters: make_adam(parameters, lr=0.1, eps=1e-5)),
        three_steps(lambda parameters: torch.optim.Adam(parameters, 0.1, eps=1e-5)),
    )


def test_blocks_change_nothing_but_the_last_digits():
    """One update, with the same dice: the weights come out the same."""
    settings = Settings(
        game="Pong",
        workers=0,
        num_envs=2,
        steps=8,
        minibatches=1,
        epochs=1,
        precision="float32",
    )
    weights = []
    for blocks in (True, False):
        experiment = Experiment(replace(settings, blocks=blocks))
        experiment.advance()
        experiment.close()
        weights.append(experiment.network.get_parameter("body.layers.0.weight"))
    torch.testing.assert_close(*weights, rtol=1e-3, atol=2e-4)


class Plain(nn.Module):
    """A network that knows nothing of this book."""

    def __init__(self, shape: tuple[int, ...], outputs: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(math.prod(shape), 8)
        self.last = nn.Linear(8, outputs)

    def forward(self, observations: Tensor) -> Any:
        pixels = observations.flatten(1).float() / 255
        return self.last(self.hidden(pixels).relu())


class PlainActorCritic(Plain):
    """The same with the answers that PPO wants."""

    def forward(self, observations: Tensor) -> Any:
        answers = super().forward(observations)
        return answers[:, 1:], answers[:, 0]


class PlainPPO(Experiment):
    """PPO with that, and with something of its own in the loss."""

    algorithm = "plain"

    @staticmethod
    def make_network(settings, observation_space, action_space):
        return PlainActorCritic(observation_space.shape, int(action_space.n) + 1)

    def make_batch(self, samples):
        return Longer(
            **vars(super().make_batch(samples)),
            brightness=samples.observations.flatten(0, 1).float().flatten(1).mean(1),
        )

    def losses(self, batch):
        assert batch.brightness.shape == batch.actions.shape
        seen = super().losses(batch)
        return seen | {"loss": seen["loss"] + 1e6 + batch.brightness.mean()}


@dataclass(frozen=True)
class Longer(Batch):
    """A batch with one thing more."""

    brightness: Tensor


class PlainDQN(dqn.Experiment):
    """DQN with it."""

    algorithm = "plain-dqn"

    @staticmethod
    def make_network(settings, observation_space, action_space):
        return Plain(observation_space.shape, int(action_space.n))


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("players", [True, False])
def test_ppo_learns_with_any_network(players):
    settings = Settings(game="Pong", workers=0, num_envs=2, steps=8, players=players)
    with contextlib.closing(PlainPPO(settings)) as experiment:
        before = parameters_to_vector(experiment.network.parameters()).clone()
        metrics, _ = experiment.advance()
        after = parameters_to_vector(experiment.network.parameters())
    assert (metrics["loss"] or 0.0) > 1e6
    assert not torch.equal(before, after)


@pytest.mark.usefixtures("catch")
def test_dqn_learns_with_any_network():
    settings = DQNSettings(
        game="Pong",
        workers=0,
        total_frames=4_000,
        capacity=200,
        warm_up_steps=40,
        turns=20,
        sync_every_steps=20,
        precision="float32",
    )
    with contextlib.closing(PlainDQN(settings)) as experiment:
        before = parameters_to_vector(experiment.network.parameters()).clone()
        metrics, _ = experiment.advance()
        after = parameters_to_vector(experiment.network.parameters())
    assert math.isfinite(metrics["loss"] or math.nan)
    assert not torch.equal(before, after)


ROUGH = DQNSettings(
    game="CartPole-v1",
    workers=0,
    capacity=200,
    warm_up_steps=40,
    device="cpu",
    precision="bfloat16",
)


class InFull(Plain):
    """The same for action values."""

    def forward(self, observations: Tensor) -> Any:
        return in_full(self.last, self.hidden(observations).relu())


class InFullDQN(PlainDQN):
    """DQN with a network whose last layer answers with 32 bits."""

    @staticmethod
    def make_network(settings, observation_space, action_space):
        return InFull(observation_space.shape, int(action_space.n))


def test_action_values_of_16_bits_are_refused():
    settings = ROUGH
    with pytest.raises(ValueError, match=r"Plain answers in torch.bfloat16.*in_full"):
        PlainDQN(settings)
    InFullDQN(settings).close()
    PlainDQN(replace(settings, precision="float32")).close()

    # To ask for them changes nothing that is drawn later.
    states = []
    for precision in ("bfloat16", "float32"):
        dqn.Experiment(replace(settings, precision=precision, noisy=True)).close()
        states.append(torch.get_rng_state())
    assert torch.equal(*states)


def test_so_they_are_by_pqn():
    class Rough(PQNetwork):
        def action_values(self, observations):
            return super().action_values(observations).bfloat16()

    class RoughPQN(SmallPQN):
        @staticmethod
        def make_network(settings, observation_space, action_space):
            return Rough(observation_space.shape, int(action_space.n))

    settings = PQNSettings(workers=0, device="cpu", precision="bfloat16")
    with pytest.raises(ValueError, match=r"Rough answers in torch.bfloat16.*in_full"):
        RoughPQN(settings)
    SmallPQN(settings).close()

    # They are no finer where everything else has 32 bits.
    with pytest.raises(ValueError, match=r"Rough answers in torch.bfloat16.*float32"):
        RoughPQN(replace(settings, precision="float32"))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_target_that_follows_slowly_arrives(precision):
    """Though each of its steps is smaller than what 16 bits can tell apart."""

    class Soft(dqn.Experiment):
        @torch.no_grad()
        def sync(self) -> None:
            ours = self.network.parameters()
            for mine, theirs in zip(self.target.parameters(), ours, strict=True):
                mine.lerp_(theirs, 0.01)

    settings = replace(ROUGH, precision=precision)
    with contextlib.closing(Soft(settings)) as experiment:
        with torch.no_grad():
            for each in experiment.network.parameters():
                each.mul_(1.1).add_(0.01)
        for _ in range(2_000):
            experiment.sync()
        ours = experiment.network.parameters()
        for mine, theirs in zip(experiment.target.parameters(), ours, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("stack", "places"), [(None, (1, 84, 84)), (1, (0, 84, 84))])
@pytest.mark.usefixtures("catch")
def test_the_memory_of_dqn_keeps_each_picture_once(stack, places):
    settings = DQNSettings(
        game="Pong", workers=0, capacity=200, warm_up_steps=40, stack=stack
    )
    with contextlib.closing(dqn.Experiment(settings)) as experiment:
        kept = experiment.memory.frames
        assert (kept.channels, *kept.shape[1:]) == places


def test_pictures_that_have_others_in_them_are_no_stack():
    settings = DQNSettings(game="Pong", workers=0, capacity=200, warm_up_steps=40)
    with pytest.raises(ValueError, match="stack must be 4 for an Atari game, or 1"):
        dqn.Experiment(replace(settings, stack=2))


@pytest.mark.usefixtures("catch")
def test_one_program_of_the_losses_computes_the_same(monkeypatch):
    """All but the last step, in which a compiler makes code for this very machine."""
    original = torch.compile

    def without_the_last_step(losses):
        return original(losses, backend="aot_eager")

    monkeypatch.setattr(torch, "compile", without_the_last_step)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    learned = []
    for compiles in (False, True):
        settings = Settings(
            game="Pong",
            workers=0,
            num_envs=2,
            steps=8,
            minibatches=2,
            precision="bfloat16",
            device="cpu",
            value_clip=0.1,
            compile=compiles,
        )
        with contextlib.closing(Experiment(settings)) as experiment:
            metrics = [experiment.advance()[0] for _ in range(2)]
            weights = parameters_to_vector(experiment.network.parameters())
        learned.append((metrics, weights.detach().clone()))
    (plain, weights), (compiled, its_weights) = learned
    for ours, theirs in zip(compiled, plain, strict=True):
        assert ours == pytest.approx(theirs, rel=0.05, abs=0.01)
    torch.testing.assert_close(its_weights, weights, rtol=0.0, atol=0.01)
    # It is one program, in no more than one piece, and made once.
    counters = torch._dynamo.utils.counters
    assert not counters["graph_break"]
    assert counters["stats"]["unique_graphs"] == 1
