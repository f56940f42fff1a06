"""The mistakes of the book are the ones it says, and look as it says."""

import json
import math
import re
import sys
from contextlib import closing
from dataclasses import fields

import pytest
import torch

from benchmarks.mistakes import PAGES
from figures import mistakes as figures
from labml_rl import mistakes
from labml_rl.dqn.mistakes import MISTAKES as DQN_MISTAKES
from labml_rl.mistakes import MISTAKES
from labml_rl.returns import Rollout
from labml_rl.sampling import Samples
from labml_rl.small import PPOSettings, SmallPPO

NOTHING_LEARNED = ["wrong-sign", "one-buffer", "games-mixed", "every-pair", "no-ends"]
BADLY = [
    *("next-observation", "ends-late", "nothing-after", "large-rewards"),
    *("twice-softmax", "critic-of-pairs", "new-log-probs"),
]
UNNOTICED = ["old-gradients", "time-limit", "next-episode"]
SETTINGS = PPOSettings(num_envs=3, steps=8, minibatches=2, epochs=1)
T, N = SETTINGS.steps, SETTINGS.num_envs


def some(names, *short):
    """All of these, those that are not named as long: one of a kind shows it."""
    return [
        name if name in short else pytest.param(name, marks=pytest.mark.long)
        for name in names
    ]


def begun(name="right"):
    torch.manual_seed(1)
    return closing(({"right": SmallPPO} | MISTAKES)[name](SETTINGS))


@pytest.fixture
def samples():
    """A rollout with both kinds of ends, and all entries different."""
    torch.manual_seed(2)
    terminated, truncated = torch.zeros(2, T, N, dtype=torch.bool)
    terminated[2, 0] = terminated[5, 2] = truncated[3, 1] = True
    return Samples(
        observations=torch.randn(T, N, 4),
        actions=torch.randint(2, (T, N)),
        log_probs=torch.rand(T, N).log(),
        rollout=Rollout(
            rewards=torch.rand(T, N),
            values=torch.randn(T + 1, N),
            terminated=terminated,
            truncated=truncated,
            final_values=torch.randn(T, N),
        ),
        scores=[],
        memories=torch.zeros(N, 0),
    )


# What of a batch differs from that of the right program. The others differ later.
ADVANTAGES = {"advantages", "returns"}
DIFFERS = {
    "wrong-sign": {"advantages"},
    "one-buffer": {"observations"},
    "games-mixed": {"advantages"},
    "next-observation": {"observations"},
    "no-ends": ADVANTAGES,
    "ends-late": ADVANTAGES,
    "nothing-after": ADVANTAGES,
    "large-rewards": ADVANTAGES,
    "time-limit": ADVANTAGES,
    "next-episode": ADVANTAGES,
}


def test_all_mistakes_are_looked_at():
    assert sorted(MISTAKES) == sorted(NOTHING_LEARNED + BADLY + UNNOTICED)
    assert [len(each) for each in (NOTHING_LEARNED, BADLY, UNNOTICED)] == [5, 7, 3]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_batch_is_wrong_in_what_the_page_says_and_in_nothing_else(name, samples):
    with begun() as right, begun(name) as wrong:
        expected, found = right.make_batch(samples), wrong.make_batch(samples)
    differs = {
        each.name
        for each in fields(expected)
        if not torch.equal(getattr(expected, each.name), getattr(found, each.name))
    }
    assert differs == DIFFERS.get(name, set())


def test_where_ends_matter_the_advantages_are_those_of_the_mistake(samples):
    """Worked out for the one step before the end, where nothing else comes in."""
    discount = SETTINGS.discount
    rollout = samples.rollout
    expected = {
        # The value of what comes next, or none, in place of that of the last.
        "time-limit": rollout.rewards[3, 1] - rollout.values[3, 1],
        "next-episode": rollout.rewards[3, 1]
        + discount * rollout.values[4, 1]
        - rollout.values[3, 1],
    }
    for name, advantage in expected.items():
        with begun(name) as wrong:
            found = wrong.make_batch(samples).advantages.view(T, N)
        torch.testing.assert_close(found[3, 1], advantage)
    with begun("nothing-after") as wrong:
        found = wrong.make_batch(samples).advantages.view(T, N)
    torch.testing.assert_close(found[-1], rollout.rewards[-1] - rollout.values[-2])


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("every-pair", {"policy_loss", "value_loss", "entropy"}),
        ("critic-of-pairs", {"policy_loss", "value_loss", "entropy"}),
        ("new-log-probs", {"value_loss", "entropy"}),
    ],
)
def test_a_loss_is_wrong_in_what_the_page_says(name, same, samples):
    with begun() as right, begun(name) as wrong:
        batch = right.make_batch(samples)
        expected, found = right.losses(batch), wrong.losses(batch)
    assert found["loss"] != expected["loss"]
    for each in same:
        assert found[each] == expected[each]
    if name == "new-log-probs":
        assert (found["divergence"], found["clip_fraction"]) == (0, 0)


def test_probabilities_are_no_logits():
    """No action is likelier than e / (e + 1), whatever the network says."""
    with begun("twice-softmax") as wrong, torch.no_grad():
        for each in wrong.network.parameters():
            each.mul_(100)
        logits, _ = wrong.network(torch.randn(50, 4))
    likely = logits.softmax(-1).max()
    assert likely.item() == pytest.approx(math.e / (math.e + 1), abs=1e-3)
    p = math.e / (math.e + 1)
    assert -p * math.log(p) - (1 - p) * math.log(1 - p) == pytest.approx(0.58, abs=0.01)


def test_gradients_stay(samples):
    norms = {}
    for name in ("right", "old-gradients"):
        with begun(name) as experiment:
            batch = experiment.make_batch(samples)
            experiment.optimizer.param_groups[0]["lr"] = 0.0
            norms[name] = [experiment.learn(batch)["gradient_norm"] for _ in range(2)]
    assert norms["right"][0] == norms["right"][1] == norms["old-gradients"][0]
    assert norms["old-gradients"][1] > norms["right"][1]


# --- what the page says of the curves ---

VARIANTS = json.loads(PAGES["ppo"].path.read_text())["variants"]


@pytest.mark.parametrize(
    ("of", "mistakes"), [("ppo", MISTAKES), ("dqn", DQN_MISTAKES)], ids=["ppo", "dqn"]
)
def test_the_record_has_all_of_them(of, mistakes):
    page = PAGES[of]
    variants = json.loads(page.path.read_text())["variants"]
    assert sorted(variants) == sorted(["right", *mistakes])
    for each in variants.values():
        assert list(each["curves"]) == [str(seed) for seed in page.seeds]
        for curves in each["curves"].values():
            assert tuple(curves) == page.columns


def column(name, of):
    """All that the runs of a variant have in a column."""
    return [
        number for curves in VARIANTS[of]["curves"].values() for number in curves[name]
    ]


def late(name, of):
    """The same, in the second half."""
    found = []
    for curves in VARIANTS[of]["curves"].values():
        found += curves[name][len(curves[name]) // 2 :]
    return found


def test_the_right_program_learns_and_mistakes_do_as_they_are_sorted():
    right = VARIANTS["right"]
    assert right["lowest_at_the_end"] > 475
    for name in NOTHING_LEARNED:
        assert VARIANTS[name]["best"] < 100
    for name in BADLY:
        assert VARIANTS[name]["best"] < right["lowest_at_the_end"]
        assert VARIANTS[name]["at_the_end"] < 0.6 * right["at_the_end"]
    for name in UNNOTICED:
        assert VARIANTS[name]["at_the_end"] > 0.85 * right["at_the_end"]


def test_the_curves_look_as_the_page_says():
    """One after the other, as they stand there."""
    for name in ("wrong-sign", "games-mixed"):
        assert VARIANTS[name]["highest_at_the_end"] < 11
        assert min(late("explained_variance", name)) > 0.8
    assert max(late("entropy", "wrong-sign")) < 0.01
    assert VARIANTS["games-mixed"]["median"]["entropy"] < 0.05
    assert min(late("entropy", "one-buffer")) > 0.65
    assert max(map(abs, late("explained_variance", "one-buffer"))) < 0.2
    assert min(column("entropy", "every-pair")) > 0.69
    assert max(column("clip_fraction", "every-pair")) == 0
    assert min(late("explained_variance", "every-pair")) > 0.7
    assert VARIANTS["no-ends"]["median"]["explained_variance"] < -1

    clipped = [
        sum(share > 0.4 for share in each["clip_fraction"]) > 15
        for each in VARIANTS["next-observation"]["curves"].values()
    ]
    assert sum(clipped) == 3, "of five seeds"
    last = [
        each["score"][-1] for each in VARIANTS["next-observation"]["curves"].values()
    ]
    assert sum(score > 100 for score in last) == 1, "with one exception"
    assert max(late("explained_variance", "ends-late")) > 0.9
    assert 0.2 < VARIANTS["nothing-after"]["median"]["explained_variance"] < 0.3
    assert min(late("entropy", "large-rewards")) > 0.55
    assert max(column("clip_fraction", "large-rewards")) < 0.001
    assert min(column("entropy", "twice-softmax")) > 0.58
    ends = late("entropy", "twice-softmax")
    assert max(ends) - min(ends) < 0.02
    assert max(map(abs, late("explained_variance", "critic-of-pairs"))) < 0.3
    assert abs(VARIANTS["critic-of-pairs"]["median"]["explained_variance"]) < 0.05
    assert VARIANTS["critic-of-pairs"]["at_the_end"] < 250
    assert max(column("clip_fraction", "new-log-probs")) == 0
    assert VARIANTS["new-log-probs"]["median"]["entropy"] < 0.1

    whole = VARIANTS["right"]["all_the_way"]
    for name in ("old-gradients", "next-episode"):
        assert VARIANTS[name]["all_the_way"] == pytest.approx(whole, rel=0.03)
    lost = 1 - VARIANTS["time-limit"]["at_the_end"] / VARIANTS["right"]["at_the_end"]
    assert lost == pytest.approx(0.1, abs=0.02), "a tenth"


def test_ends_that_are_late_are_seen_late():
    """Up to a hundred points, by the critic alone."""

    def at(early, column, name):
        return [each[column][early] for each in VARIANTS[name]["curves"].values()]

    for early in range(5):
        right, wrong, other = (
            sum(at(early, "score", name))
            for name in ("right", "ends-late", "nothing-after")
        )
        assert wrong / right > 0.85
        assert other / right > 1
    right, wrong = (
        at(2, "explained_variance", name) for name in ("right", "ends-late")
    )
    assert max(wrong) < min(right)


def test_large_rewards_are_seen_in_the_gradient():
    """And what they leave of the actor's is less than Adam's epsilon."""
    for wrong in (False, True):
        kind = MISTAKES["large-rewards"] if wrong else SmallPPO
        with closing(kind(PPOSettings())) as experiment:
            for _ in range(20):
                metrics, _ = experiment.advance()
            experiment.learn(experiment.make_batch(experiment.play()))
            gradient = experiment.network.get_parameter("policy.weight").grad
            assert gradient is not None
            size = gradient.abs().mean().item()
        assert ((metrics["gradient_norm"] or 0) > 1_000) == wrong
        assert (size < experiment.settings.adam_epsilon) == wrong


def test_the_figures_say_what_the_record_says(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["figures.mistakes", "--check"])
    figures.main()
    for of, name, seed in (("ppo", "ends-late", "1"), ("dqn", "no-target", "31")):
        record = json.loads(PAGES[of].path.read_text())
        record["variants"][name]["curves"][seed]["score"][-1] = 0.0
        (tmp_path / PAGES[of].record).write_text(json.dumps(record))
    monkeypatch.setattr(figures, "RECORDS", tmp_path)
    with pytest.raises(SystemExit, match=r"-ends-late\.svg.*-no-target\.svg$"):
        figures.main()


# --- the program ---


def test_a_mistake_is_a_run_like_any_other(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--total-frames", "600", "--steps", "8"]
    with pytest.raises(SystemExit) as done:
        mistakes.main(["wrong-sign", *options])
    assert not done.value.code
    folder = tmp_path / "runs" / "wrong-sign" / "CartPole-v1" / "seed-1"
    record = json.loads((folder / "run.json").read_text())
    assert record["finished"]
    assert record["command"] == (
        f"python -m labml_rl.mistakes wrong-sign {' '.join(options)}"
    )
    with pytest.raises(SystemExit) as done:
        mistakes.main(["wrong-sign", "watch", str(folder), "--games", "2"])
    assert not done.value.code
    assert "2 games" in capsys.readouterr().out


@pytest.mark.parametrize("typed", [[], ["--help"], ["-h"]])
def test_all_names_are_said(typed, capsys):
    with pytest.raises(SystemExit) as done:
        mistakes.main(typed)
    assert not done.value.code
    said = capsys.readouterr().out
    assert all(name in said for name in MISTAKES)


def test_a_mistake_that_there_is_not(capsys):
    with pytest.raises(SystemExit) as done:
        mistakes.main(["sign"])
    assert done.value.code == 2
    said = capsys.readouterr().err
    assert re.search(r"(?s)no mistake 'sign'.*is one of wrong-sign", said)
