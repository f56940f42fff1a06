"""The mistakes in DQN are the ones that the book says, and look as it says."""

import json
import re
import sys
from contextlib import closing
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from benchmarks.mistakes import PAGES
from labml_rl.dqn import huber
from labml_rl.dqn import mistakes as page
from labml_rl.dqn.mistakes import MISTAKES, Right, Settings
from labml_rl.small import DQNSettings
from tests.book.test_mistakes import some

NOTHING_LEARNED = [
    *("not-negative", "other-weights", "best-not-taken", "more-and-more"),
    *("all-pairs", "one-array", "never-copied"),
]
BADLY = ["no-target", "clipped-errors", "through-targets", "not-zeroed", "hundredfold"]
UNNOTICED = ["endless", "limits-are-ends", "same-dice"]
KINDS = {"right": Right} | MISTAKES
SETTINGS = Settings(num_envs=2, capacity=200, warm_up_steps=40, batch_size=16)
SETTINGS = replace(SETTINGS, learn_every_steps=2, sync_every_steps=8, turns=1)


def begun(name="right"):
    torch.manual_seed(1)
    return closing(KINDS[name](SETTINGS))


@pytest.fixture
def batch():
    """Steps that differ in everything; the fourth has ended its episode."""
    torch.manual_seed(2)
    with begun() as experiment:
        for _ in range(12):
            experiment.play(2)
        batch = experiment.memory.sample(8)
    discounts = batch.discounts.clone()
    discounts[3] = 0
    return replace(batch, returns=-torch.rand(8), discounts=discounts)


def apart(experiment):
    """A target network that differs from the one that learns."""
    torch.manual_seed(3)
    with torch.no_grad():
        for each in experiment.target.parameters():
            each.add_(0.3 * torch.randn_like(each))


def loss_of(name, batch):
    with begun(name) as experiment:
        apart(experiment)
        errors, seen = experiment.losses(batch)
        network = experiment.network
        seen["loss"].backward()
        gradient = torch.cat([each.grad.flatten() for each in network.parameters()])
    assert set(seen) == set(Right.measured)
    assert not errors.requires_grad
    return seen["loss"].item(), gradient


def test_all_mistakes_are_looked_at():
    assert sorted(MISTAKES) == sorted(NOTHING_LEARNED + BADLY + UNNOTICED)
    assert [len(each) for each in (NOTHING_LEARNED, BADLY, UNNOTICED)] == [7, 5, 3]


def test_the_right_program_differs_in_three_numbers_from_the_best_one():
    here, best = asdict(Settings()), asdict(DQNSettings())
    differ = {name: (here[name], best[name]) for name in here | best}
    assert {name: both for name, both in differ.items() if len(set(both)) > 1} == {
        "n": (1, 3),
        "learning_rate": (1e-3, 5e-4),
        "sync_every_steps": (200, 1_000),
    }
    assert PAGES["dqn"].variants["right"] is Right


def test_what_a_batch_is_taken_for(batch):
    """Those that are right for another batch."""
    with begun() as experiment:
        best = experiment.network(batch.observations).argmax(-1)
    assert (best != batch.actions).any()
    others = {
        "best-not-taken": {"actions": best},
        "one-array": {"observations": batch.next_observations},
        "hundredfold": {"returns": 100 * batch.returns},
        "endless": {"discounts": torch.full((8,), 0.99)},
    }
    right = loss_of("right", batch)
    for name, change in others.items():
        loss, gradient = loss_of(name, batch)
        expected, its_gradient = loss_of("right", replace(batch, **change))
        assert loss == expected != right[0]
        assert torch.equal(gradient, its_gradient)


def test_losses_by_hand(batch):
    with begun() as experiment, torch.no_grad():
        apart(experiment)
        values = experiment.network(batch.observations)
        values = values[range(8), batch.actions]
        best = experiment.network(batch.next_observations).argmax(-1)
        following = experiment.target(batch.next_observations)[range(8), best]
    targets = batch.returns + batch.discounts * following
    pairs = [huber(target - value) for target in targets for value in values]
    assert loss_of("all-pairs", batch)[0] == pytest.approx(np.mean(pairs), rel=1e-5)

    far = replace(batch, returns=batch.returns - 50)
    loss, gradient = loss_of("clipped-errors", far)
    assert loss == 0.5
    assert not gradient.any(), "what is most wrong is never learned"
    assert loss_of("right", far)[1].any()
    close = replace(batch, returns=0.1 * batch.returns, discounts=0 * batch.discounts)
    for found, expected in zip(
        loss_of("clipped-errors", close), loss_of("right", close), strict=True
    ):
        torch.testing.assert_close(found, expected)


def test_a_gradient_flows_through_the_target(batch):
    """That of the last biases by hand: the target's best action has one, too."""
    with begun("through-targets") as experiment:
        network = experiment.network
        _, seen = experiment.losses(batch)
        seen["loss"].backward()
        with torch.no_grad():
            following = network(batch.next_observations)
            values = network(batch.observations)[range(8), batch.actions]
        targets = batch.returns + batch.discounts * following.max(-1).values
        pulls = (targets - values).clamp(-1, 1) / 8
        expected = torch.zeros(3)
        expected.index_add_(0, following.argmax(-1), batch.discounts * pulls)
        expected.index_add_(0, batch.actions, -pulls)
        torch.testing.assert_close(network.head.bias.grad, expected)


def test_values_that_are_not_negative():
    with begun("not-negative") as wrong, begun() as right, torch.no_grad():
        seen = torch.randn(50, 6)
        expected = right.network(seen)
        assert (expected < 0).any()
        assert torch.equal(wrong.network(seen), expected.clamp(min=0))


def test_weights_that_nobody_uses():
    for name, moves in (("right", True), ("other-weights", False)):
        with begun(name) as experiment:
            experiment.play(20)
            before = [each.clone() for each in experiment.network.parameters()]
            experiment.learn()
            after = experiment.network.parameters()
            same = map(torch.equal, before, after)
            assert all(same) is not moves


def test_it_explores_more_and_more():
    with begun() as right, begun("more-and-more") as wrong:
        for frames in (0, 40, 2_540, 10_040, 12_000):
            right.frames = wrong.frames = frames
            assert right.epsilon + wrong.epsilon == pytest.approx(1.05)
        assert (right.epsilon, wrong.epsilon) == (0.05, 1.0)


def test_target_networks():
    with begun("no-target") as experiment:
        assert experiment.target is experiment.network
        experiment.sync()
    for name, copied in (("right", True), ("never-copied", False)):
        with begun(name) as experiment:
            apart(experiment)
            experiment.sync()
            pairs = zip(
                experiment.target.parameters(),
                experiment.network.parameters(),
                strict=True,
            )
            assert all(torch.equal(a, b) for a, b in pairs) is copied


def test_gradients_stay(monkeypatch):
    lengths: dict[str, list[float]] = {}
    for name in ("right", "not-zeroed"):
        with begun(name) as experiment:
            experiment.play(20)
            batch = experiment.memory.sample(16)
            monkeypatch.setattr(experiment.memory, "sample", lambda _, b=batch: b)
            experiment.optimizer.param_groups[0]["lr"] = 0.0
            lengths[name] = []
            for _ in range(2):
                experiment.learn()
                gradients = [each.grad for each in experiment.network.parameters()]
                lengths[name].append(torch.nn.utils.get_total_norm(gradients).item())
    once, twice = lengths["not-zeroed"]
    assert lengths["right"] == [once, once]
    assert twice == pytest.approx(2 * once)


def test_a_limit_is_an_end():
    for name, discount in (("right", 0.99), ("limits-are-ends", 0.0)):
        with begun(name) as experiment:
            memory, yes = experiment.memory, np.array([True, False])
            numbers, seen = np.zeros(2, np.int64), experiment.observations
            for ends in (yes, ~yes | yes):
                memory.add(
                    *(numbers, numbers, ends & False, ends, seen),
                    final_observations=seen[ends],
                )
            found = memory.batch(np.array([0, 3, 4]))
            assert found.discounts.tolist() == pytest.approx([discount] * 3)


def test_dice_that_are_made_anew():
    for name, same in (("right", False), ("same-dice", True)):
        with begun(name) as experiment:
            experiment.play(30)
            first, second = (experiment.memory.sample(16).places for _ in range(2))
            assert np.array_equal(first, second) is same


@pytest.mark.parametrize("name", some(MISTAKES, "not-negative", "no-target", "endless"))
def test_a_mistake_is_a_run_like_any_other(name, tmp_path, monkeypatch, capsys):
    """It ends, and can be read again and watched."""
    monkeypatch.chdir(tmp_path)
    options = "--total-frames 400 --capacity 400 --warm-up-steps 200 --batch-size 16"
    for typed in (
        [name, *options.split(), "--folder", "run"],
        [name, "watch", "run", "--games", "1"],
    ):
        monkeypatch.setattr(sys, "argv", ["mistakes", *typed])
        with pytest.raises(SystemExit) as done:
            page.main()
        assert not done.value.code
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["finished"]
    assert record["command"] == (
        f"python -m labml_rl.dqn.mistakes {name} {options} --folder run"
    )
    assert "a single game" in capsys.readouterr().out


def test_a_mistake_that_there_is_not(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mistakes", "sign"])
    with pytest.raises(SystemExit) as done:
        page.main()
    assert done.value.code == 2
    said = capsys.readouterr().err
    assert re.search(
        r"(?s)no mistake 'sign'.*dqn\.mistakes MISTAKE.*not-negative", said
    )


# --- what the page says of the curves ---

VARIANTS = json.loads(PAGES["dqn"].path.read_text())["variants"]
RIGHT = VARIANTS["right"]


def ends(name, of):
    """A column at the end, of each run."""
    return [curves[name][-1] for curves in VARIANTS[of]["curves"].values()]


def points(name, of):
    """A column of all runs, at each point."""
    runs = [curves[name] for curves in VARIANTS[of]["curves"].values()]
    return list(zip(*runs, strict=True))


def error(of):
    return VARIANTS[of]["median"]["td_error"] / RIGHT["median"]["td_error"]


def test_the_right_program_learns_and_mistakes_do_as_they_are_sorted():
    assert RIGHT["lowest_at_the_end"] > -150
    for name in NOTHING_LEARNED:
        assert VARIANTS[name]["at_the_end"] < -400
    for name in BADLY:
        assert -300 < VARIANTS[name]["at_the_end"] < 1.5 * RIGHT["at_the_end"]
    for name in UNNOTICED:
        assert VARIANTS[name]["at_the_end"] > 1.25 * RIGHT["at_the_end"]


def test_five_errors_are_too_small_to_be_true():
    small = {name for name in MISTAKES if error(name) < 0.5}
    assert small == {
        *("best-not-taken", "all-pairs", "one-array", "never-copied"),
        "through-targets",
    }


def test_the_curves_look_as_the_page_says():
    """One after the other, as they stand there."""
    assert VARIANTS["not-negative"]["median"]["action_value"] == 0
    assert all(e > 0.999 for p in points("td_error", "not-negative")[2:] for e in p)
    assert all(abs(v) < 0.2 for p in points("action_value", "other-weights") for v in p)
    assert sum(score > -150 for score in ends("score", "other-weights")) == 1
    for name in ("best-not-taken", "all-pairs", "one-array"):
        assert all(-97 < value < -92 for value in ends("action_value", name))
    assert np.mean(ends("td_error", "best-not-taken")) == pytest.approx(
        np.mean(ends("td_error", "right")) / 8, rel=0.06
    )
    early = max(max(point) for point in points("score", "more-and-more")[:6])
    assert early == VARIANTS["more-and-more"]["best"] > -200
    assert VARIANTS["more-and-more"]["highest_at_the_end"] < -490
    assert error("one-array") == pytest.approx(1 / 5, abs=0.03)
    assert VARIANTS["one-array"]["best"] < -350
    assert sum(score > -400 for score in ends("score", "never-copied")) == 1
    assert VARIANTS["never-copied"]["median"]["action_value"] == pytest.approx(
        -1, abs=0.1
    )
    assert error("never-copied") < 0.1

    assert 2 < error("no-target") < 3
    soon, late = (
        np.mean(points("td_error", "no-target")[place])
        / np.mean(points("td_error", "right")[place])
        for place in (1, -1)
    )
    assert (soon, late) == (pytest.approx(7, abs=0.5), pytest.approx(1.5, abs=0.1))
    soon = np.mean(points("action_value", "no-target")[1])
    assert soon / np.mean(points("action_value", "right")[1]) == pytest.approx(
        4, abs=0.5
    )
    quarter = [
        np.mean(points("action_value", name)[8]) for name in ("hundredfold", "right")
    ]
    assert quarter[0] / quarter[1] == pytest.approx(100, abs=10)
    assert error("hundredfold") == pytest.approx(200, abs=20)
    for name in ("no-target", "clipped-errors", "through-targets"):
        falls = [
            curves["score"][-1] < max(curves["score"]) - 20
            for curves in VARIANTS[name]["curves"].values()
        ]
        assert sum(falls) in (3, 4), "with most seeds"
    assert 2 < np.mean(ends("td_error", "clipped-errors")) < 3.1
    lowest = [
        min(curves["action_value"])
        for curves in VARIANTS["through-targets"]["curves"].values()
    ]
    assert all(low > -50 for low in lowest)
    assert all(value > -16 for value in ends("action_value", "through-targets"))
    assert error("not-zeroed") == pytest.approx(3, abs=0.3)
    for name in ("not-zeroed", "hundredfold"):
        assert VARIANTS[name]["all_the_way"] < 1.6 * RIGHT["all_the_way"]
    assert VARIANTS["hundredfold"]["median"]["action_value"] == pytest.approx(
        -6_000, rel=0.05
    )

    assert error("endless") == pytest.approx(0.5, abs=0.06)
    assert error("limits-are-ends") == pytest.approx(1, abs=0.1)
    full = 50_000 * len(points("score", "right")) // PAGES["dqn"].frames
    before, after = (
        [max(point) / min(point) for point in points("td_error", "same-dice")[part]]
        for part in (slice(5, full), slice(-2, None))
    )
    assert max(before) < 3 < min(after)


@pytest.mark.long
def test_hardly_a_gradient_is_cut_and_every_sum():
    shares = {}
    for name in ("right", "not-zeroed"):
        kind = KINDS[name]
        with closing(kind(Settings(seed=31, total_frames=6_000))) as experiment:
            lengths = []
            while not experiment.done:
                experiment.advance()
                gradients = [each.grad for each in experiment.network.parameters()]
                known = [each for each in gradients if each is not None]
                if known:
                    lengths.append(torch.nn.utils.get_total_norm(known).item())
        shares[name] = np.mean([length > 9.99 for length in lengths])
    assert shares["right"] < 0.05
    assert shares["not-zeroed"] > 0.75
