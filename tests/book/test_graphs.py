"""A step that is recorded learns the same as one that is not."""

import gc
import weakref
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch.nn.utils import parameters_to_vector

from labml_rl import graphs
from labml_rl.a2c import RMSProp
from labml_rl.graphs import WARM_UP, Recorded, copied
from labml_rl.ppo import experiment as ppo
from labml_rl.ppo import rnd
from labml_rl.pqn import experiment as pqn
from labml_rl.runs import checkpoint
from labml_rl.runs.experiment import load_optimizer
from labml_rl.speed import in_precision, make_adam
from tests.book.fake_graphs import pretend

SIZE: dict[str, Any] = {
    "game": "Pong",
    "workers": 0,
    "device": "cpu",
    "players": False,
    "num_envs": 4,
    "steps": 8,
    "minibatches": 4,
    "epochs": 2,
}
PPO = ppo.Settings(**SIZE, max_gradient_norm=0.05, learning_rate=1e-3)
UPDATES = 4
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def _pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch)


def prepared(experiment: Any) -> Any:
    """With an optimiser as it would be on a GPU, with graphs."""
    settings = experiment.settings
    if isinstance(experiment, ppo.Experiment):
        experiment.optimizer = make_adam(
            experiment.network.parameters(),
            lr=settings.learning_rate,
            eps=settings.adam_epsilon,
            recorded=experiment.device,
        )
    else:
        for group in experiment.optimizer.param_groups:
            group["capturable"] = True
    return experiment


def recorded(experiment: Any) -> Any:
    """As it would be there altogether."""
    experiment.how = Recorded(experiment.device, experiment.network)
    for player in experiment.games.players:
        player.how = Recorded(experiment.device, experiment.actor)
    return prepared(experiment)


def learned(experiment: Any, updates: int = UPDATES) -> tuple[Any, Any]:
    with closing(experiment):
        metrics = [experiment.advance()[0] for _ in range(updates)]
        weights = parameters_to_vector(experiment.network.parameters()).detach().clone()
    return metrics, weights


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("experiment_class", "settings"),
    [
        (ppo.Experiment, PPO),
        (ppo.Experiment, replace(PPO, value_clip=0.1, max_divergence=1e-4, epochs=3)),
        (rnd.Experiment, rnd.Settings(**SIZE)),
        (pqn.Experiment, pqn.Settings(**SIZE)),
    ],
    ids=["ppo", "ppo with clip and early stop", "rnd", "pqn"],
)
def test_it_learns_and_plays_the_same(experiment_class, settings, precision):
    """The games, too: after the first update they depend on what was learned."""
    settings = replace(settings, precision=precision)
    metrics, weights = learned(prepared(experiment_class(settings)))
    experiment = recorded(experiment_class(settings))
    its_metrics, its_weights = learned(experiment)
    assert its_metrics == metrics
    assert torch.equal(its_weights, weights)
    assert experiment.how.graph.replays == experiment.how.calls - WARM_UP
    (player,) = experiment.games.players
    assert player.how.graph.replays == UPDATES * settings.steps - WARM_UP


@pytest.mark.usefixtures("catch")
def test_with_the_casts_of_yesterday_it_plays_otherwise(monkeypatch):
    """The trap of the page: then what plays never learns."""
    settings = replace(PPO, precision="bfloat16", learning_rate=0.01)
    with closing(recorded(ppo.Experiment(settings))) as experiment:
        assert said_and_says(experiment) < 0.05
    monkeypatch.setattr(graphs, "fresh_casts", nullcontext)
    with closing(recorded(ppo.Experiment(settings))) as experiment:
        assert said_and_says(experiment) > 0.5


def said_and_says(experiment: Any) -> float:
    """How far the values on the sheet are from what the network says of them."""
    for _ in range(3):
        experiment.advance()
    experiment.play()
    sheet = experiment.games.sheet
    with in_precision(experiment.settings, experiment.device), torch.no_grad():
        values = torch.stack(
            [experiment.network(each)[1] for each in sheet.observations]
        )
    error = (values - sheet.values)[:-1].square().mean()
    return float((error / values.var()).sqrt())


@pytest.mark.usefixtures("catch")
def test_the_rate_goes_down_in_the_record_too():
    settings = replace(PPO, total_frames=4 * 4 * 8 * 4)
    with closing(recorded(ppo.Experiment(settings))) as experiment:
        for _ in range(4):
            experiment.advance()
        assert experiment.done
        assert experiment.how.graph is not None
        before = parameters_to_vector(experiment.network.parameters()).clone()
        experiment.update()
        after = parameters_to_vector(experiment.network.parameters())
    assert torch.equal(before, after)


@pytest.mark.usefixtures("catch")
def test_what_the_optimiser_remembers_is_saved(tmp_path):
    """A learning rate that is a tensor stays where it is."""
    path = tmp_path / "checkpoint.safetensors"
    with closing(recorded(ppo.Experiment(PPO))) as experiment:
        experiment.advance()
        state = {"optimizer": experiment.optimizer.state_dict()}
        checkpoint.save(path, state)
        rate = experiment.optimizer.param_groups[0]["lr"]
        address, number = rate.data_ptr(), rate.item()
        rate.fill_(7.0)
        load_optimizer(experiment.optimizer, checkpoint.load(path)["optimizer"])
        rate = experiment.optimizer.param_groups[0]["lr"]
        assert rate.item() == number
        assert rate.data_ptr() == address


@pytest.mark.usefixtures("catch")
def test_pqn_has_one_rate_and_another_is_refused():
    with closing(recorded(pqn.Experiment(pqn.Settings(**SIZE)))) as experiment:
        experiment.advance()
        experiment.optimizer.param_groups[0]["lr"] *= 0.5
        with pytest.raises(ValueError, match="must be a tensor on the GPU"):
            experiment.advance()


@pytest.mark.usefixtures("catch")
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda weights: torch.optim.SGD(weights, lr=0.1),
        lambda weights: RMSProp(weights, lr=0.1, decay=0.9, epsilon=1e-5),
    ],
    ids=["SGD", "RMSProp"],
)
def test_a_rate_that_would_stay_is_refused(optimizer):
    with closing(recorded(ppo.Experiment(PPO))) as experiment:
        experiment.optimizer = optimizer(experiment.network.parameters())
        with pytest.raises(ValueError, match=r"must be a tensor on the GPU.*a number"):
            experiment.advance()


@pytest.mark.usefixtures("catch")
def test_weights_that_were_replaced_are_refused():
    with closing(recorded(ppo.Experiment(PPO))) as experiment:
        experiment.advance()
        bias = experiment.network.value.bias
        bias.data = bias.data.clone()
        with pytest.raises(
            ValueError, match="than when a step was recorded: write new"
        ):
            experiment.advance()


class Weighted(ppo.Experiment):
    """With a number that is none of PyTorch's."""

    algorithm = "weighted-ppo"

    def losses(self, batch):
        return super().losses(batch) | {"weight": 0.5, "count": 3}


@pytest.mark.usefixtures("catch")
def test_numbers_may_be_drawn_that_are_no_tensors():
    with closing(recorded(Weighted(PPO))) as experiment:
        for _ in range(2):
            metrics, _ = experiment.advance()
    assert (metrics["weight"], metrics["count"]) == (0.5, 3)


@pytest.mark.usefixtures("catch", "nobody_stays")
@pytest.mark.parametrize("graphs", [False, True])
def test_what_is_forgotten_is_freed_at_once(graphs):
    """Without the collector, which comes when it likes: there is much memory in it."""
    gc.disable()
    try:
        experiment: Any = ppo.Experiment(PPO)
        if graphs:
            recorded(experiment)
        experiment.advance()
        experiment.close()
        forgotten = [
            weakref.ref(each)
            for each in (experiment, experiment.games.players[0], experiment.network)
        ]
        del experiment
        assert [each() for each in forgotten] == [None] * 3
    finally:
        gc.enable()


@dataclass(frozen=True)
class Numbers:
    """What a recorded function gets."""

    numbers: torch.Tensor


def double(given: Numbers) -> torch.Tensor:
    return 2 * given.numbers


def item(given: Numbers) -> float:
    return given.numbers.sum().item()


def check_each_call_is_done_once(device: torch.device) -> None:
    total = torch.zeros(3, device=device)

    def add(given):
        total.add_(given.numbers)
        return {"total": total.sum(), "twice": 2 * given.numbers}

    adds, expected = Recorded(device, None), torch.zeros(3)
    for call in range(WARM_UP + 4):
        numbers = torch.arange(3.0) + call
        expected += numbers
        seen = adds(add, Numbers(numbers.to(device)))
        assert torch.equal(total.cpu(), expected)
        assert torch.equal(seen["twice"].cpu(), 2 * numbers)
        kept = copied({"total": seen["total"]})
        assert kept["total"].item() == expected.sum()
    again = adds(add, Numbers(numbers.to(device)))
    assert again["total"] is seen["total"]
    assert kept["total"].item() == expected.sum()
    with pytest.raises(ValueError, match=r"numbers was recorded with shape \(3,\)"):
        adds(add, Numbers(torch.zeros(1, device=device)))


def check_what_waits_is_not_recorded(device: torch.device) -> None:
    waits = Recorded(device, None)
    numbers = Numbers(torch.ones(3, device=device))
    for _ in range(WARM_UP):
        assert waits(item, numbers) == 3
    with pytest.raises(RuntimeError) as raised:
        waits(item, numbers)
    assert "--no-graphs goes without" in raised.value.__notes__[0]


def test_each_call_is_done_once():
    check_each_call_is_done_once(CPU)


@pytest.mark.parametrize(
    "other", [torch.zeros(1), torch.zeros(3, 1), torch.zeros(3, dtype=torch.float64)]
)
def test_what_would_be_broadcast_or_converted_is_refused(other):
    doubles = Recorded(CPU, None)
    for _ in range(WARM_UP + 1):
        doubles(double, Numbers(torch.zeros(3)))
    with pytest.raises(ValueError, match=r"numbers was recorded with shape \(3,\) and"):
        doubles(double, Numbers(other))


def test_what_waits_for_the_gpu_is_not_recorded():
    check_what_waits_is_not_recorded(CPU)


def test_without_a_gpu_it_is_refused():
    with pytest.raises(ValueError, match="graphs is for a GPU, and the network is on"):
        ppo.Experiment(replace(PPO, graphs=True))
