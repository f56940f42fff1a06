"""The questions at the end of a page have the answers that its functions give."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ale_py import Action
from gymnasium.spaces import Box
from torch import tensor

import labml_rl
from labml_rl.a2c import policy_loss, total_loss
from labml_rl.a2c import value_loss as critic_loss
from labml_rl.algorithms import ALGORITHMS
from labml_rl.bodies import NatureBody
from labml_rl.dqn import following_values, huber
from labml_rl.dqn.augmentation import shift
from labml_rl.dqn.distribution import expectation, make_atoms, project
from labml_rl.dqn.dueling import DuelingNetwork
from labml_rl.dqn.exploring import Linear, explore
from labml_rl.dqn.quantiles import (
    QuantileNetwork,
    leaning,
    levels_of,
    quantile_targets,
)
from labml_rl.game import Game, GameOptions, make_game
from labml_rl.impala import vtrace
from labml_rl.networks import draw, entropy_of, log_probs_of
from labml_rl.ppo import clip_fraction, clipped_policy_loss, explained_variance
from labml_rl.ppo.experiment import Settings
from labml_rl.ppo.novelty import Moments, Novelty
from labml_rl.ppo.remembering import RememberingBody
from labml_rl.pqn import epsilon_greedy, lambda_returns
from labml_rl.replay import ReplayMemory
from labml_rl.replay.prioritised import PrioritisedMemory
from labml_rl.returns import Rollout, discounted_returns, gae
from labml_rl.watch.scores import Played, Result
from tests.book.fake_atari import FakeAtari, Script

# A game whose screen is a number, and a memory of it.
NUMBER, SEEN, NO = Box(0, 1, (1,)), np.zeros((1, 1), np.float32), np.array([False])
KEPT: dict[str, Any] = {"capacity": 64, "stack": 1, "discount": 0.9}

PAGES = {
    path: path.read_text(encoding="utf-8")
    for path in Path(str(labml_rl.__file__)).parent.rglob("*.py")
    if "\n# ## Questions\n" in path.read_text(encoding="utf-8")
}


def parts(text):
    """The questions of a page, and their answers."""
    end = re.sub(r"^# ?", "", text.split("\n# ## Questions\n")[1], flags=re.MULTILINE)
    questions, answers = end.split('??? tip "Answers"\n')
    return [
        [" ".join(item.split()) for item in re.split(r"^\s*\d+\. ", part, flags=re.M)]
        for part in (questions, answers)
    ]


def answers(name):
    """Those of one page, the first with number 1."""
    return parts(inspect.getsource(import_module(f"labml_rl.{name}")))[1]


def one_game(rewards, *, cut_off=None):
    """A game of some steps, of which the last ends it."""
    steps = len(rewards)
    ends = torch.arange(steps)[:, None] == steps - 1
    final = None if cut_off is None else torch.full((steps, 1), float(cut_off))
    return Rollout(
        rewards=tensor(rewards, dtype=torch.float32)[:, None],
        values=torch.zeros(steps + 1, 1),
        terminated=ends & (cut_off is None),
        truncated=ends & (cut_off is not None),
        final_values=final,
    )


@pytest.mark.parametrize(
    "path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_each_question_has_an_answer(path):
    asked, answered = parts(PAGES[path])
    assert len(asked) == len(answered) > 2, "two at least, each with an answer"
    assert all("?" in each for each in asked[1:])


def test_each_page_with_questions_has_a_test():
    root = Path(str(labml_rl.__file__)).parent
    asks = {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in PAGES
    }
    tested = re.findall(r'\banswers\("([\w.]+)"\)', Path(__file__).read_text())
    assert asks == {*tested}, "compute the answers in a test of this file"


def test_of_the_game():
    steps, ball, brick = answers("game")[1:]
    assert "Two and a half million" in steps
    assert f"{10_000_000 / 60 / 3600:.0f} hours" in steps

    # The agent serves, does nothing, and loses the ball.
    game = make_game("Breakout", seed=1)
    for lives in (4, 3):
        game.reset()
        over = False
        while not over:
            _, _, over, truncated, info = game.step(0)
        assert not truncated
        assert info["lives"] == lives
    assert game.goes_on
    assert "`True`, `False` and 3" in ball
    game.reset()
    *_, info = game.step(0)
    assert info["lives"] == 3

    # A console on which the first step is worth 7, and the last.
    console = FakeAtari([Script(points={2: 7}, over_at=4)], actions=[Action.NOOP])
    game = Game(console.load, GameOptions(clip_rewards=True, noop_max=0), seed=1)
    game.reset()
    _, reward, _, _, info = game.step(0)
    assert (reward, info["episode"]["r"]) == (1, 7)
    assert brick.startswith("No.")


def test_of_returns():
    ended, cut, half, praise = answers("returns")[1:]
    rewards = [1, 0, 2]
    found = discounted_returns(one_game(rewards), discount=0.5)
    assert found[:, 0].tolist() == [1.5, 1, 2]
    assert ended.startswith("1.5, 1 and 2.")
    found = discounted_returns(one_game(rewards, cut_off=4), discount=0.5)
    assert found[:, 0].tolist() == [2, 2, 4]
    assert cut.startswith("2, 2 and 4.")
    steps = np.log(0.5) / np.log(0.99)
    assert half == f"After {steps:.0f}, which are {steps / 15:.1f} seconds."
    # The third of four steps is paid what nobody had expected.
    found = gae(one_game([0, 0, 0.4, 0]), discount=1, gae_lambda=0.5)
    assert found[[0, 3], 0].tolist() == pytest.approx([0.1, 0])
    assert praise.startswith("0.1, and 0.")


def test_of_networks():
    likely, dart, undecided = answers("networks")[1:]
    logits = tensor([0.0, np.log(3)])
    for more in (0, 5):
        probs = (logits + more).softmax(-1).tolist()
        assert probs == pytest.approx([1 / 4, 3 / 4])
    assert likely.startswith("¼ and ¾.")
    assert draw(logits, tensor(0.3)) == 1
    assert dart.startswith("The second.")
    for actions in (4, 18):
        entropy = entropy_of(torch.zeros(actions)).item()
        assert f"$\\log {actions} = {entropy:.2f}$" in undecided


def test_of_a2c():
    pushes, nothing, sign, doubled = answers("a2c")[1:]
    probs, moves = tensor([0.9, 0.1]), []
    for action in (0, 1):
        logits = probs.log().requires_grad_()
        loss = policy_loss(log_probs_of(logits, tensor(action)), tensor(1.0))
        (gradient,) = torch.autograd.grad(loss, logits)
        moves.append(-gradient)
    own = [moves[0][0].item(), moves[1][1].item()]
    assert own == pytest.approx([0.1, 0.9])
    assert pushes.startswith("By 0.1 and by 0.9,")
    average = probs[0] * moves[0] + probs[1] * moves[1]
    torch.testing.assert_close(average, torch.zeros(2))

    # With no advantage only the entropy pushes, and it makes them more alike.
    logits = probs.log().requires_grad_()
    silent = policy_loss(log_probs_of(logits, tensor(0)), tensor(0.0))
    (gradient,) = torch.autograd.grad(silent, logits, retain_graph=True)
    assert not gradient.any()
    loss = total_loss(
        silent,
        tensor(0.0),
        entropy_of(logits),
        value_coefficient=0.5,
        entropy_coefficient=0.01,
    )
    (gradient,) = torch.autograd.grad(loss, logits)
    assert gradient[0] > 0 > gradient[1]
    assert "more alike" in nothing
    assert sign.startswith("Nobody can tell")

    log_probs, advantages = tensor([-0.1, -2.0]), tensor([0.5, -3.0])
    torch.testing.assert_close(
        policy_loss(log_probs, 2 * advantages), 2 * policy_loss(log_probs, advantages)
    )
    values, returns = tensor([1.0, 2.0]), tensor([3.0, 1.0])
    torch.testing.assert_close(
        critic_loss(2 * values, 2 * returns), 4 * critic_loss(values, returns)
    )
    assert "twice as large" in doubled
    assert "four times as large" in doubled


def test_of_ppo():
    objective, batches, forgotten, unforeseen = answers("ppo")[1:]
    slopes = []
    for ratio, says in ((0.7, -0.8), (1.5, -1.5)):
        log_prob = tensor(ratio).log().requires_grad_()
        loss = clipped_policy_loss(log_prob, tensor(0.0), tensor(-1.0), clip=0.2)
        assert -loss.item() == pytest.approx(says)
        assert f"${says}$" in objective
        slopes.append(torch.autograd.grad(loss, log_prob)[0].item())
    assert slopes[0] == 0 != slopes[1]

    settings = Settings()
    assert (settings.num_envs, settings.steps) == (8, 128)
    assert (settings.epochs, settings.minibatches) == (4, 4)
    steps = settings.epochs * settings.minibatches
    each = settings.num_envs * settings.steps // settings.minibatches
    assert batches.startswith(f"{steps} steps, with {each} each.")

    # What was never kept is always the same as what is now.
    log_probs = tensor([-0.1, -2.0, -0.7], requires_grad=True)
    now, advantages = log_probs.detach(), tensor([0.5, -3.0, 1.0])
    assert clip_fraction(now, now, clip=0.2) == 0
    clipped = clipped_policy_loss(log_probs, now, advantages, clip=0.2)
    plain = policy_loss(log_probs, advantages)
    torch.testing.assert_close(
        torch.autograd.grad(clipped, log_probs), torch.autograd.grad(plain, log_probs)
    )
    assert "A2C's loss" in forgotten

    dice = torch.Generator().manual_seed(1)
    errors, values = torch.randn(2, 100_000, generator=dice)
    values *= 3**0.5
    assert (values + errors).std().item() == pytest.approx(2, abs=0.02)
    found = explained_variance(values, values + errors).item()
    assert found == pytest.approx(0.75, abs=0.01)
    assert unforeseen.startswith("1.")


def test_of_impala():
    cuts, policy, product = answers("impala")[1:]

    def counted(ratios, errors):
        rollout = one_game(errors)
        log_ratios = tensor(ratios).log()[:, None]
        targets, _ = vtrace(rollout, log_ratios, discount=1)
        return targets[0].item()

    assert counted([0.3 / 0.2], [1]) == 1
    assert counted([0.2 / 0.3], [1]) == pytest.approx(2 / 3)
    assert cuts.startswith("1 and 1:")
    assert cuts.endswith("⅔ and ⅔.")
    smaller = np.minimum([0.5, 0.5], [0.8, 0.2])
    left, right = smaller / smaller.sum()
    assert f"left with {left:.2f}, and right with {right:.2f}" in policy
    moved = counted([0.5] * 3, [0, 0, 1])
    assert product == f"By $c_0 \\, c_1 \\, \\rho_2 = {moved}$."


def test_of_dqn():
    targets, losses, too_large = answers("dqn")[1:]
    online, target = tensor([[2.5, 2.0]]), tensor([[2.0, 3.0]])
    plain = 1 + 0.99 * following_values(target).item()
    double = 1 + 0.99 * following_values(target, online).item()
    assert f"$1 + 0.99 \\cdot 3 = {plain:.2f}$" in targets
    assert f"$1 + 0.99 \\cdot 2 = {double:.2f}$" in targets
    found = []
    for error in (0.5, 3):
        size = tensor(error, dtype=torch.float32, requires_grad=True)
        loss = huber(size)
        (slope,) = torch.autograd.grad(loss, size)
        found.append(f"{loss.item():g} with a slope of {slope.item():g}")
    assert losses == f"{found[0]}, and {found[1]}."
    assert (online + 10).argmax() == online.argmax()
    assert too_large.startswith("No:")


def test_of_replay():
    hours, often, end = answers("replay")[1:]
    assert f"{4_000_000 / 60 / 3600:.1f} hours" in hours
    draws = 32 / 4
    assert (draws, round(np.exp(-draws), 4)) == (8, 0.0003)
    assert often.startswith("Eight times:")
    assert "e^{-8} = 0.0003$" in often
    missed = (1 - 1e-6) ** 8_000_000
    assert missed == pytest.approx(np.exp(-draws), rel=1e-4)

    def seen_of(terminated, truncated):
        """What a batch says of two steps, of which the second ends the episode."""
        memory = ReplayMemory(NUMBER, 1, **KEPT, n=3)
        memory.begin(SEEN)
        action = NO.astype(int)
        memory.add(action, ~NO, NO, NO, SEEN)
        memory.add(action, ~NO, terminated, truncated, SEEN, final_observations=SEEN)
        batch = memory.batch(np.array([0]))
        return batch.returns.item(), batch.discounts.item()

    assert seen_of(~NO, NO) == pytest.approx((1.9, 0))
    assert seen_of(NO, ~NO) == pytest.approx((1.9, 0.81))
    assert end.startswith("1.9 and 0.")
    assert "$0.9^2 = 0.81$" in end


def test_of_prioritised_replay():
    drawn, uniform, worth = answers("replay.prioritised")[1:]

    def drawn_of_two(exponent):
        """How often each is drawn, and what they count in a batch that has both."""
        memory = PrioritisedMemory(NUMBER, 1, **KEPT, n=1, exponent=exponent)
        memory.begin(SEEN)
        for _ in range(2):
            memory.add(NO.astype(int), NO, NO, NO, SEEN)
        powers = memory.tree.leaves
        places = np.flatnonzero(powers)
        assert len(places) == 2
        memory.update(places, np.array([3.0, -1.0]))
        memory.importance = 1.0
        batch = memory.sample(2)
        while len(set(batch.places)) < 2:
            batch = memory.sample(2)
        weights = batch.weights[np.argsort(batch.places)].tolist()
        return *(powers[places] / powers.sum()), *weights

    assert drawn_of_two(1.0) == pytest.approx((3 / 4, 1 / 4, 1 / 3, 1), abs=1e-5)
    assert drawn.startswith("Three quarters of the time and one quarter")
    assert drawn.endswith("The weights are ⅓ and 1.")
    assert drawn_of_two(0.0) == (1 / 2, 1 / 2, 1, 1)
    assert uniform.startswith("Both equally often, with a weight of 1")

    # The mean of a batch in which half of the tries have paid, and with their weights.
    paid, chance = np.array([1, 0]), np.array([1 / 2, 1 / 2])
    weights = np.array([1 / 4, 3 / 4]) / chance
    assert (chance * paid).sum() == 1 / 2
    assert (chance * weights * paid).sum() / (chance * weights).sum() == 1 / 4
    assert worth.startswith("A half.")


def test_of_the_distribution():
    moved, over, risk = answers("dqn.distribution")[1:]
    atoms, certain = tensor([0.0, 1.0, 2.0]), tensor([[0.0, 1.0, 0.0]])
    target = project(certain, atoms, tensor([0.5]), tensor([0.9]))
    assert target[0].tolist() == pytest.approx([0, 0.6, 0.4])
    assert expectation(target, atoms).item() == pytest.approx(1.4)
    assert moved.startswith("60% for the atom 1 and 40% for the atom 2.")
    target = project(certain, atoms, tensor([5.0]), tensor([0.0]))
    assert target[0].tolist() == [0, 0, 1]
    assert over.startswith("All on the last atom")
    means = expectation(tensor([[0, 1, 0, 0], [0.5, 0, 0, 0.5]]), torch.arange(4.0))
    assert means.tolist() == [1, 1.5]
    assert risk.startswith("The second, with a mean of 1.5.")


def test_of_quantiles():
    rest, over, worst = answers("dqn.quantiles")[1:]
    levels = levels_of(2)
    assert levels.tolist() == [1 / 4, 3 / 4]
    # A thousand times as far apart, the round bottom is of no matter.
    places = torch.arange(-1000.0, 4001.0, 50)
    returns = 1000 * torch.arange(4.0)
    for level, low, high in zip(levels, (0, 2000), (1000, 3000), strict=True):
        costs = leaning(returns - places[:, None], level).mean(-1)
        least = places[costs < costs.min() + 1]
        assert (least[0].item(), least[-1].item()) == (low, high)
    assert rest.startswith("At ¼ and ¾. The first rests anywhere from 0 to 1,")
    assert rest.endswith("and the second from 2 to 3.")

    end = tensor([5.0]), tensor([0.0])
    assert quantile_targets(tensor([[1.0, 2.0]]), *end).tolist() == [[5, 5]]
    certain = torch.full((1, 51), 1 / 51)
    atoms = make_atoms(-10, 10, 51)
    there = project(certain, atoms, *end)[0].nonzero()[:, 0]
    assert atoms[there].tolist() == pytest.approx([4.8, 5.2])
    halves = project(certain, atoms, *end)[0][there]
    assert halves.tolist() == pytest.approx([0.5, 0.5], abs=1e-4)
    narrow = project(certain, make_atoms(-2, 2, 51), *end)[0]
    assert narrow[-1].item() == pytest.approx(1)
    assert over.startswith("All are 5. With C51 it is half of each of the atoms 4.8")
    assert over.endswith("or all on the atom 2.")

    atoms = tensor([[[-1.0, 0.0, 4.0], [1.0, 1.0, 1.0]]])
    network = QuantileNetwork(torch.nn.Identity())
    assert network(atoms).tolist() == [[1, 1]]
    assert atoms.min(-1).values.argmax().item() == 1
    assert worst.startswith("The two means are 1, so it takes either.")


def test_of_seeing():
    sides, sees = answers("bodies")[1:]
    body, found = NatureBody((4, 64, 64)), []
    numbers = torch.zeros(1, 4, 64, 64, dtype=torch.uint8)
    for layer in body.layers:
        if isinstance(layer, torch.nn.Linear):
            inputs = layer.in_features
            break
        numbers = layer(numbers)
        found.append(numbers.shape[-1])
    assert found[:6:2] == [15, 6, 4]
    assert sides.startswith("15, 6 and 4 a side.")
    assert f"$64 \\cdot 4 \\cdot 4 = {inputs}$" in sides
    # A picture of that size has a single place in the last box, and one less has none.
    NatureBody((4, 36, 36))
    with pytest.raises(ValueError, match="too small"):
        NatureBody((4, 35, 36))
    assert sees.startswith("36 × 36 pixels.")
    assert f"$8 + 3 \\cdot 4 + 2 \\cdot 8 = {8 + 3 * 4 + 2 * 8}$" in sees


def test_of_exploring():
    best, none, quarter = answers("dqn.exploring")[1:]
    dice, times = torch.Generator().manual_seed(1), 100_000
    values = torch.zeros(times, 18)
    values[:, 3] = 1
    taken = explore(lambda: values, (times, 18), 0.1, dice) == 3
    often = 1 - 0.1 + 0.1 / 18
    assert taken.float().mean().item() == pytest.approx(often, abs=0.004)
    assert f"$1 - 0.1 + 0.1 / 18 = {often:.3f}$" in best
    assert f"$0.9^{{16}} = {0.9**16:.3f}$" in none
    epsilon = Linear(1.0, 0.1, 1_000_000)(1_000_000 / 4)
    assert quarter.startswith(f"{epsilon:g}:")


def test_of_the_dueling_network():
    values, same, total = answers("dqn.dueling")[1:]
    network = DuelingNetwork((4,), 3)
    torch.nn.init.zeros_(network.value.weight)
    for bias in ((1.0, 2.0, 6.0), (5.0, 6.0, 10.0)):
        with torch.no_grad():
            network.value.bias.fill_(2)
            network.advantage.bias.copy_(tensor(bias))
        found = network(torch.zeros(1, 4))[0]
        assert found.tolist() == [0, 1, 5]
        assert found.mean() == 2
    assert "$(0, 1, 5)$" in values
    assert same.startswith("The same:")
    assert total.startswith("0, always.")


def test_of_no_picture_twice():
    places, _, _ = answers("dqn.augmentation")[1:]
    image = torch.arange(81, dtype=torch.uint8).view(1, 1, 9, 9)
    images = image.expand(2_000, -1, -1, -1)
    moved = shift(images, torch.Generator().manual_seed(1)).unique(dim=0)
    whole = [each for each in moved if len(each.unique()) == 81]
    assert (len(moved), len(whole)) == (9 * 9, 1)
    assert places.startswith(r"In $9 \cdot 9 = 81$. One of them: not moved at all.")


def test_of_two_hours_of_play():
    double, often = answers("dqn.drq")[1:]
    says = torch.tensor([[1.0, 3.0, 2.0]])
    assert torch.equal(following_values(says, says), following_values(says))
    assert "both are the same network" in double

    def last_can_be_drawn(ends):
        """Whether the newest step is complete, with ten rewards."""
        memory = ReplayMemory(NUMBER, 1, **KEPT, n=10)
        memory.begin(SEEN)
        action = NO.astype(int)
        for _ in range(20):
            memory.add(action, NO, NO, NO, SEEN)
        final = SEEN if ends.any() else None
        memory.add(action, NO, ends, NO, SEEN, final_observations=final)
        return bool(memory.can_be_drawn(np.array([20]))[0])

    assert (last_can_be_drawn(NO), last_can_be_drawn(~NO)) == (False, True)
    assert often.startswith("Never, unless it ends a life:")
    assert round((32 / np.arange(1_600, 100_001)).sum(), -1) == 130
    assert "some 130 times each" in often


def test_of_pqn():
    targets, one_step, policy = answers("pqn")[1:]
    # What is worth 9 is the beginning of the next game.
    rollout = Rollout(
        rewards=tensor([[0.0], [0.0], [1.0]]),
        values=tensor([[0.5], [0.6], [0.8], [9.0]]),
        terminated=tensor([[False], [False], [True]]),
        truncated=tensor([[False]] * 3),
    )
    found = lambda_returns(rollout, discount=0.9, td_lambda=0.5)[:, 0]
    assert found.tolist() == pytest.approx([0.6345, 0.81, 1])
    assert "$0.9 \\cdot (0.4 + 0.5) = 0.81$" in targets
    assert "$0.9 \\cdot (0.3 + 0.405) = 0.6345$" in targets
    found = lambda_returns(rollout, discount=0.9, td_lambda=0)[:, 0]
    assert found.tolist() == pytest.approx([0.54, 0.72, 1])
    assert one_step.startswith("0.54, 0.72 and 1:")
    probs = epsilon_greedy(tensor([[0.0, 2.0, 1.0, 1.0]]), 0.1)[0]
    assert probs.tolist() == pytest.approx([0.025, 0.925, 0.025, 0.025])
    assert policy == "0.925 for the best action, and 0.025 for each of the others."


def test_of_remembering():
    left, numbers, _ = answers("ppo.remembering")[1:]
    assert left == f"$0.9^{{10}} = {0.9**10:.2f}$, and $0.99^{{10}} = {0.99**10:.2f}$."
    carried = 8 * RememberingBody((4,), 512).memory
    assert f"$8 \\cdot 2 \\cdot 512 = {carried}$" in numbers


def test_of_curiosity():
    heaps, nothing, off = answers("ppo.novelty")[1:]
    moments = Moments()
    moments.add(tensor([4.0]))
    moments.add(torch.zeros(3))
    assert (moments.mean.item(), moments.variance.item()) == (1, 3)
    assert heaps.startswith("The mean is 1.")
    assert heaps.endswith("$\\frac{1 \\cdot 3}{16} \\cdot 4^2 = 3$.")

    novelty, seen = Novelty((4,)), torch.randn(5, 4)
    assert (novelty(seen) > 0).all()
    novelty.predictor = novelty.target
    assert not novelty(seen).any()
    assert nothing.startswith("Nothing, for anything.")
    novelty.predictor = torch.nn.Sequential(novelty.target, Off())
    assert novelty(seen).tolist() == pytest.approx([0.01] * 5, rel=1e-4)
    assert off.startswith("0.01.")


class Off(torch.nn.Module):
    """A layer that makes all numbers too large by 0.1."""

    def forward(self, numbers):
        return numbers + 0.1


def test_of_watching():
    better, games, _ = answers("watch")[1:]
    points = np.array([1.0] * 5 + [-1.0] * 5)
    points = 400 + 120 * points / points.std(ddof=1)
    result = Result(tuple(Played(each, 100, capped=False) for each in points))
    assert result.deviation == pytest.approx(120)
    assert f"$120 / \\sqrt{{10}} = {result.standard_error:.0f}$" in better
    assert 3 * result.standard_error > 460 - 400
    assert games == f"A hundred: $120 / \\sqrt{{100}} = {120 / np.sqrt(100):.0f}$."


def test_short_answers_name_the_settings_of_the_book():
    page = (Path(__file__).parents[2] / "docs" / "questions.md").read_text()
    settings = {
        name: import_module(ALGORITHMS[name.lower()].partition(":")[0]).Settings()
        for name in ("A2C", "IMPALA", "PPO", "DQN", "PQN")
    }
    games = re.findall(r"(\d+) for (PPO|A2C|IMPALA|PQN)[,.]", page)
    assert len(games) == 4
    for count, name in games:
        assert int(count) == settings[name].num_envs
    rates = re.findall(r"([\d.]+e-4) for\s((?:[\s\w,]*\[[A-Z0-9]+\][(\[]\S+)+)", page)
    named = [
        (rate, n) for rate, links in rates for n in re.findall(r"\[(\w+)\]", links)
    ]
    assert len(named) == 5
    for rate, name in named:
        assert float(rate) == settings[name].learning_rate
