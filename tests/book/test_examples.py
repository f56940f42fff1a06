"""The examples in numbers: each table of a page is what its functions compute."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import closing
from copy import deepcopy
from functools import partial
from inspect import cleandoc
from pathlib import Path
from textwrap import indent
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

import labml_rl
from benchmarks.record import ROOT
from labml_rl import (
    a2c,
    environments,
    impala,
    networks,
    onpolicy,
    players,
    replay,
    small,
)
from labml_rl.dqn import augmentation, td_loss
from labml_rl.dqn import experiment as dqn_experiment
from labml_rl.game import make_game
from labml_rl.networks import log_probs_of
from labml_rl.ppo import clipped_policy_loss, novelty
from labml_rl.ppo import experiment as ppo_experiment
from labml_rl.replay import prioritised
from labml_rl.returns import Rollout, gae
from labml_rl.runs import checkpoint, experiment, loop
from labml_rl.watch import agent, many, scores
from sidebyside.press import find_modules, load_all
from sidebyside.references import needs


def table(text: str, begin: str) -> dict[str, list[str]]:
    """The rows of the table that begins with a cell, by the first cell of each."""
    lines = text[text.index(f"| {begin} |") :].split("\n\n", maxsplit=1)[0].splitlines()
    cells = [[cell.strip() for cell in line.strip(" |").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


def numbers(cells: list[str]) -> list[float]:
    return [float(cell.replace("−", "-").rstrip("%")) for cell in cells]


def page_of(of: Any) -> str:
    return str(of.__doc__)


def test_three_steps_of_advantages():
    rows = table(page_of(gae), "step $t$")
    values = torch.tensor([*numbers(rows["value $V(o_t)$"]), 7.0]).view(4, 1)

    def rollout(*, cut: bool = False) -> Rollout:
        end = torch.tensor([[False], [False], [True]])
        never = torch.zeros_like(end)
        return Rollout(
            rewards=torch.tensor(numbers(rows["reward $r_t$"])).view(3, 1),
            values=values,
            terminated=never if cut else end,
            truncated=end if cut else never,
            final_values=torch.full((3, 1), 0.9),
        )

    def advantages(gae_lambda: float, *, cut: bool = False) -> list[float]:
        found = gae(rollout(cut=cut), discount=0.9, gae_lambda=gae_lambda)
        return [round(each, 4) for each in found.flatten().tolist()]

    for name, gae_lambda in (
        (r"advantage $\hat{A}_t$", 0.5),
        (r"error $\delta_t$", 0.0),
        (r"with $\lambda = 0$", 0.0),
        (r"with $\lambda = 1$", 1.0),
    ):
        assert numbers(rows[name]) == pytest.approx(advantages(gae_lambda)), name
    following = rollout().following.flatten().tolist()
    assert numbers(rows["what follows, $F_t$"]) == pytest.approx(following)
    said = re.search(r"advantages ([\d.]+),\s+([\d.]+) and ([\d.]+)\.", page_of(gae))
    assert said is not None
    assert numbers(list(said.groups())) == pytest.approx(advantages(0.5, cut=True))


def test_five_cases_of_the_clip():
    text = page_of(clipped_policy_loss)
    rows = text[text.index(r"| $\hat{A}_t$ |") :].split("\n\n")[0].splitlines()[2:]
    assert len(rows) == 5
    for row in rows:
        *cells, gradient = [cell.strip() for cell in row.strip(" |").split("|")]
        advantage, ratio, plain, clipped, least = numbers(cells)
        log_probs = torch.tensor([ratio]).log().requires_grad_()
        loss = clipped_policy_loss(
            log_probs, torch.zeros(1), torch.tensor([advantage]), clip=0.2
        )
        loss.backward()
        assert plain == pytest.approx(advantage * ratio)
        assert clipped == pytest.approx(advantage * min(max(ratio, 0.8), 1.2))
        assert least == pytest.approx(-loss.item())
        assert log_probs.grad is not None
        assert {"zero": 0.0, "not clipped": -plain}[gradient] == pytest.approx(
            log_probs.grad.item()
        )


@pytest.mark.parametrize(("column", "baseline"), [(0, 0.0), (1, 6.5)])
def test_a_baseline_in_numbers(column, baseline):
    rows = table(page_of(a2c.policy_loss), "drawn")
    pushes = []
    for action, (name, paid) in enumerate((("left", 5.0), ("right", 8.0))):
        logits = torch.zeros(1, 2, requires_grad=True)
        log_probs = log_probs_of(logits, torch.tensor([action]))
        a2c.policy_loss(log_probs, torch.tensor([paid - baseline])).backward()
        assert logits.grad is not None
        pushes.append(-logits.grad[0])
        said = numbers(rows[name][column].split(", "))
        assert said == pytest.approx(pushes[-1].tolist())
    average = torch.stack(pushes).mean(0).tolist()
    assert numbers(rows["on average"][column].split(", ")) == pytest.approx(average)


def test_what_a_discount_leaves_out():
    text = " ".join(str(labml_rl.__doc__).split())
    assert r"with $\gamma = 0.99$, two points that come seventy steps later" in text
    assert 2 * 0.99**70 < 1


def test_a_value_is_the_mean_of_action_values():
    text = " ".join(str(networks.__doc__).split())
    assert "where left brings 5 and right 8, and each is taken half the time" in text
    assert "it is 6.5." in text
    policy = torch.tensor([0.0, 0.0]).softmax(0)
    assert (policy * torch.tensor([5.0, 8.0])).sum() == 6.5


@pytest.mark.parametrize(
    ("push", "first", "other", "average"),
    [(torch.exp, 0.09, -0.09, 0.072), (torch.clone, 0.1, -0.9, 0.0)],
)
def test_what_the_logarithm_is_for(push, first, other, average):
    text = " ".join(str(a2c.__doc__).split())
    if average:
        assert f"up by {first}, and drawing the other" in text
        assert f"up by {average} on average" in text
    else:
        assert f"up by {first} or down by {-other}, and on average stays" in text
    policy, moved = torch.tensor([0.9, 0.1]), []
    for action in (0, 1):
        logits = policy.log().requires_grad_()
        push(log_probs_of(logits, torch.tensor(action))).backward()
        assert logits.grad is not None
        moved.append(logits.grad[0].item())
    assert moved == pytest.approx([first, other])
    assert 0.9 * moved[0] + 0.1 * moved[1] == pytest.approx(average, abs=1e-6)


def test_two_more_points_for_each_step_and_the_line_is_not_worth_reaching():
    text = " ".join(page_of(environments).split())
    assert "in a hundred steps is then worth 64, and never reaching it 100." in text
    rewards = [-1.0] * 99 + [0.0]
    found = sum(0.99**t * (reward + 2) for t, reward in enumerate(rewards))
    assert round(found) == 64
    assert round(1 / (1 - 0.99)) == 100

    # The step that reaches the line costs nothing.
    env = gymnasium.make("Acrobot-v1")
    env.reset(seed=1)
    assert env.step(1)[1] == -1
    env.unwrapped.state = np.array([np.pi, 0.0, 0.0, 0.0])  # type: ignore[attr-defined]
    assert env.step(1)[1:3] == (0.0, True)


def test_what_a_wrong_move_costs():
    text = page_of(dqn_experiment)
    assert r"$5 \cdot (1 - 0.99^2)$, which is not quite 0.1" in text
    assert 0.095 < 5 * (1 - 0.99**2) <= 0.1


def test_when_the_pole_counts_as_solved():
    assert "from 475 on Gymnasium calls it solved" in " ".join(page_of(small).split())
    assert gymnasium.spec("CartPole-v1").reward_threshold == 475


def test_what_prioritised_replay_draws_and_how_much_it_counts():
    rows = table(page_of(prioritised), "error")
    powers = np.array(numbers(rows["error"])) ** 0.6
    chances = 100 * powers / powers.sum()
    assert numbers(rows["how likely it is drawn"]) == chances.round().tolist()
    for beta in (0.4, 1):
        said = numbers(rows[rf"its weight with $\beta = {beta}$"])
        assert said == ((powers.min() / powers) ** beta).round(2).tolist()


@pytest.mark.parametrize("name", ["mine", "agents.mine"])
def test_the_book_can_be_copied_under_another_name(tmp_path, name):
    """As the README says."""
    said = (ROOT / "README.md").read_text()
    (replace,) = re.findall(r"`(grep -rlI .*)`", said)
    folder = name.replace(".", "/")
    first, path, rest = replace.partition("mine")
    replace = first + path.replace("mine", folder) + rest.replace("mine", name)
    copied = shutil.copytree(ROOT / "labml_rl", tmp_path / folder)
    subprocess.run(replace, shell=True, cwd=tmp_path, check=True)
    program = (
        f"import sys, {name}.ppo.plain, {name}.dqn.experiment, {name} as mine;"
        f"import {name}.worker, {name}.runs.command as command;"
        "command.find_experiment('small-ppo');"
        "assert mine.__file__.startswith(sys.argv[1]);"
        "assert not [each for each in sys.modules if each.startswith('labml_rl')]"
    )
    subprocess.run(
        [sys.executable, "-c", program, str(copied)], cwd=tmp_path, check=True
    )


def test_stable_baselines3_learns_the_games():
    make = partial(make_game, "SpaceInvaders", clip_rewards=True, max_frames=1200)
    games = DummyVecEnv([make] * 2)
    learner = PPO("CnnPolicy", games, n_steps=400, batch_size=400, n_epochs=1, seed=1)
    learner.learn(800)
    assert learner.num_timesteps == 800
    # An invader is worth 5 points or more, and 1 if it is clipped.
    scores = [score["r"] for score in learner.ep_info_buffer]
    assert len(scores) == 2
    assert all(score % 5 == 0 for score in scores)
    assert sum(scores) > 0
    games.close()
    game = gymnasium.make("labml_rl.worker:labml_rl/Atari-v0", game="Pong")
    assert game.reset(seed=1)[0].shape == (4, 84, 84)
    game.close()


def programs(page: str) -> list[str]:
    """The examples of a page, in the order in which they stand there."""
    return re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def typed(folder: Path, *words: str) -> str:
    """What is printed when it is typed in that folder."""
    command = [sys.executable, *words]
    return subprocess.check_output(command, cwd=folder, text=True)


def test_an_experiment_of_ones_own_is_a_program(tmp_path):
    (program,) = programs(str(experiment.__doc__))
    (tmp_path / "one_step.py").write_text(program, encoding="utf-8")
    games = ("--game", "CartPole-v1", "--workers", "0", "--num-envs", "2")
    said = typed(tmp_path, "one_step.py", *games, "--total-frames", "100")
    run = said.split()[-1]
    typed(tmp_path, "one_step.py", "resume", run, "--total-frames", "200")
    watched = typed(tmp_path, "one_step.py", "watch", run, "--games", "2")
    assert "ONE-STEP after 200 frames" in watched


def test_a_network_of_ones_own_learns(tmp_path):
    said = cleandoc(str(onpolicy.PolicyExperiment.make_network.__doc__))
    (program,) = programs(said)
    (tmp_path / "my_ppo.py").write_text(program, encoding="utf-8")
    run = typed(tmp_path, "my_ppo.py", "--total-frames", "300").split()[-1]
    watched = typed(tmp_path, "my_ppo.py", "watch", run, "--games", "2")
    assert "MY-PPO after 512 frames" in watched


def test_a_clip_goes_down_and_the_run_goes_on_as_if_it_had_not_stopped(monkeypatch):
    said = cleandoc(str(onpolicy.PolicyExperiment.anneal.__doc__))
    (program,) = programs(said)
    names: dict[str, Any] = {"__name__": "fading"}
    exec(program, names)
    clips: list[float] = []

    def noted(*arguments: Any, clip: float) -> torch.Tensor:
        clips.append(clip)
        return clipped_policy_loss(*arguments, clip=clip)

    monkeypatch.setattr(ppo_experiment, "clipped_policy_loss", noted)
    settings = ppo_experiment.Settings(
        game="CartPole-v1",
        workers=0,
        device="cpu",
        total_frames=64,
        steps=8,
        num_envs=2,
        minibatches=1,
        epochs=1,
    )
    with closing(names["Fading"](settings)) as whole:
        whole.advance()
        whole.advance()
        state = deepcopy(whole.get_state())
        while not whole.done:
            whole.advance()
    assert clips == pytest.approx([0.1, 0.075, 0.05, 0.025])
    with closing(names["Fading"](settings)) as resumed:
        resumed.set_state(state)
        while not resumed.done:
            resumed.advance()
    assert clips[4:] == clips[2:4]
    for one, other in zip(
        whole.network.parameters(), resumed.network.parameters(), strict=True
    ):
        assert torch.equal(one, other)


def test_a_run_that_is_good_enough_is_over(tmp_path):
    (program,) = programs(cleandoc(str(experiment.Experiment.done.__doc__)))
    program = program.replace("47_500", "4_000")
    (tmp_path / "enough.py").write_text(program, encoding="utf-8")
    run = typed(tmp_path, "enough.py").split()[-1]
    record = json.loads((tmp_path / run / "run.json").read_text(encoding="utf-8"))
    assert record["finished"]
    assert record["frames"] < record["settings"]["total_frames"]
    assert typed(tmp_path, "enough.py", "resume", run).split()[-1] == run


def test_an_environment_of_ones_own_is_found(tmp_path):
    _, mine = programs(str(environments.__doc__))
    (tmp_path / "mine.py").write_text(mine, encoding="utf-8")
    of_the_page = re.findall(r"python -m (labml_rl .*)", str(environments.__doc__))
    train, watch = (each.split() for each in of_the_page)
    typed(tmp_path, "-m", *train, "--total-frames", "300")
    assert "mine:Cards-v0" in typed(tmp_path, "-m", *watch, "--games", "2")


def test_a_sweep_goes_on_where_it_was(tmp_path):
    first, _, sweep = programs(str(loop.__doc__))
    imports = first[: first.index("if __name__")]
    sweep = sweep.replace("seed=seed,", "seed=seed, total_frames=600, workers=0,")
    (tmp_path / "sweep.py").write_text(imports + sweep, encoding="utf-8")
    typed(tmp_path, "sweep.py")
    # As if the second had not begun when it was stopped.
    shutil.rmtree(tmp_path / "runs/rate-0.001/seed-2")
    typed(tmp_path, "sweep.py")
    paths = sorted(tmp_path.glob("runs/*/*/run.json"))
    records = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    assert all(record["finished"] for record in records)
    ways = [record["settings"] for record in records]
    assert [(way["learning_rate"], way["seed"]) for way in ways] == [
        *((3e-4, 1), (3e-4, 2), (1e-3, 1), (1e-3, 2)),
    ]


def test_a_trained_agent_plays_a_whole_game_and_is_exported(tmp_path):
    program, export = programs(str(agent.__doc__))
    names: dict[str, Any] = {}
    exec(program.replace("results/", f"{ROOT}/results/"), names)
    assert names["info"]["lives"] == 0
    assert names["info"]["episode"]["r"] > 200

    exec(export.replace("breakout.pt2", str(tmp_path / "breakout.pt2")), names)
    module = torch.export.load(tmp_path / "breakout.pt2").module()
    found, meant = module(names["shown"]), names["agent"].network(names["shown"])
    for each, other in zip(found, meant, strict=True):
        torch.testing.assert_close(each, other)


def test_a_policy_from_elsewhere_is_measured():
    shown, mine = programs(str(scores.__doc__))
    names: dict[str, Any] = {}
    exec("\n".join(line for line in shown.splitlines() if "import" in line), names)
    torch.manual_seed(1)
    exec(mine.replace("games=10", "games=4"), names)
    points = names["result"].points
    assert len(points) == 4
    assert 0 < sum(points) < 40


def test_the_interval_of_an_environment_of_ones_own():
    imported, example = programs(str(many.__doc__))
    names: dict[str, Any] = {}
    exec(imported, names)
    exec(example.replace("interval(", "found = interval("), names)
    assert names["found"] == (412, 441)


def test_the_body_goes_on_in_another_game():
    further, body, *_ = programs(cleandoc(str(loop.lengthen.__doc__)))
    kept = ROOT / "results/runs/ppo/breakout/seed-1"
    further = further.replace("runs/ppo/pong/seed-1", str(kept))
    whole = re.search(r" +checkpoint\.load_weights\(.*?\n +\)\n", further, re.DOTALL)
    assert whole
    names: dict[str, Any] = {"__name__": "further"}
    program = further.replace(whole[0], indent(body, " " * 8))
    exec(program, names)
    settings = ppo_experiment.Settings(
        game="Pong", workers=0, num_envs=1, minibatches=1
    )
    with closing(names["Further"](settings)) as experiment:
        state = experiment.network.state_dict()
    old = checkpoint.load(names["OLD"], only=("network",))["network"]
    body_of = [name for name in state if name.startswith("body.")]
    assert body_of
    assert all(torch.equal(state[name], old[name]) for name in body_of)


def test_players_are_made_by_hand(tmp_path):
    (program,) = programs(str(players.__doc__))
    (tmp_path / "by_hand.py").write_text(program, encoding="utf-8")
    assert typed(tmp_path, "by_hand.py") == "torch.Size([128, 8])\n"


def test_v_trace_without_actors():
    (program,) = programs(str(impala.__doc__))
    names: dict[str, Any] = {}
    exec(program, names)
    rows = table(cleandoc(str(impala.vtrace.__doc__)), "step $t$")
    for row, found in (
        (r"target $v_t$", names["targets"]),
        (r"advantage $\hat{A}_t$", names["advantages"]),
    ):
        assert found.flatten().tolist() == pytest.approx(numbers(rows[row]), abs=5e-4)


def test_novelty_in_a_loop_of_ones_own():
    (program,) = programs(str(novelty.__doc__))
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["rewards"].shape == (32,)
    assert (names["rewards"] > 0).all()
    learned = {
        name.partition(".")[0]
        for name, weights in names["novelty"].named_parameters()
        if weights.grad is not None
    }
    assert learned == {"predictor"}


def test_pictures_of_a_batch_are_varied():
    (program,) = programs(str(augmentation.__doc__))
    names: dict[str, Any] = {}
    exec(program, names)
    batch, varied = names["batch"], names["varied"]
    assert (varied.shape, varied.dtype) == ((32, 4, 84, 84), torch.uint8)
    assert not any(torch.equal(*each) for each in zip(batch, varied, strict=True))


def test_a_single_environment_fills_a_memory():
    _, program = programs(str(replay.__doc__))
    begin, step = program.split("...  # and in each step:\n")
    env = gymnasium.make("CartPole-v1")
    space: Any = env.observation_space
    env.action_space.seed(1)
    memory = replay.ReplayMemory(space, 1, capacity=200)
    names = {"np": np, "env": env, "memory": memory, "obs": env.reset(seed=1)[0]}
    exec(begin, names)
    played = {}
    for _ in range(100):
        before, names["action"] = names["obs"], env.action_space.sample()
        exec(step, names)
        after = names["obs"] if names["final"] is None else names["final"][0]
        played[before.tobytes()] = names["action"], after, names["terminated"]
    batch = memory.sample(100)
    for i, each in enumerate(batch.observations.numpy()):
        action, after, ends = played[each.tobytes()]
        assert batch.actions[i] == action
        assert batch.discounts[i] == (0 if ends else pytest.approx(0.99))
        assert ends or np.array_equal(batch.next_observations[i].numpy(), after)
    assert 0 < (batch.discounts == 0).sum() < 100
    env.close()


def test_a_single_environment_may_write_into_the_same_array():
    class Same(gymnasium.Env[Any, Any]):
        observation_space = gymnasium.spaces.Box(0, 9, (1,), np.float32)
        action_space: Any = gymnasium.spaces.Discrete(2)
        shown = np.zeros(1, np.float32)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.shown[:] = 0
            return self.shown, {}

        def step(self, action):
            self.shown += 1
            return self.shown, 1.0, False, bool(self.shown[0] == 3), {}

    _, program = programs(str(replay.__doc__))
    begin, step = program.split("...  # and in each step:\n")
    memory = replay.ReplayMemory(Same.observation_space, 1, capacity=50)
    env = Same()
    names = {"np": np, "env": env, "memory": memory, "obs": env.reset(seed=1)[0]}
    exec(begin, names)
    for names["action"] in [0] * 12:
        exec(step, names)
    batch = memory.sample(12)
    assert set(batch.observations.flatten().tolist()) == {0, 1, 2}
    assert (batch.next_observations == batch.observations + 1).all()


def test_priorities_in_a_loop_of_ones_own():
    (program,) = programs(cleandoc(str(prioritised.PrioritisedMemory.__doc__)))
    space = gymnasium.spaces.Box(-1, 1, (2,))
    memory = prioritised.PrioritisedMemory(space, 1, capacity=100, seed=1)
    memory.begin(np.zeros((1, 2), np.float32))
    zero, never = np.array([0]), np.array([False])
    for _ in range(50):
        memory.add(zero, zero, never, never, np.ones((1, 2), np.float32))
    names: dict[str, Any] = {"memory": memory, "td_loss": td_loss}
    names |= {"values": torch.zeros(32), "targets": torch.linspace(0, 1, 32)}
    exec(program, names)
    times = Counter(
        place for _ in range(60) for place in memory.sample(32).places.tolist()
    )
    # If a step was in the batch twice, its last error counts.
    errors = dict(zip(names["batch"].places.tolist(), names["targets"], strict=True))
    least, *_, most = sorted(errors, key=errors.__getitem__)
    assert times[most] > 3 * times[least]


COPIES = table((ROOT / "README.md").read_text(encoding="utf-8"), "to have")


def files_of(row: str) -> list[str]:
    """All that is to be copied for it, that of other rows included."""
    files = re.findall(r"`([^`]+)`", COPIES[row][0])
    if row == "games in parallel":
        files += files_of("games")
    return files


def test_a_run_needs_what_keeps_the_best_agent():
    """It is imported by name, since it imports the loop itself."""
    needed = needs(load_all(find_modules(ROOT / "labml_rl", ROOT)))
    for name in ("runs.loop", "ppo.experiment", "__main__"):
        others = {each.module for each in needed[f"labml_rl.{name}"]}
        assert "labml_rl.watch.best" in others, name


def test_files_that_are_to_be_copied_are_all_that_is_needed():
    """And no more of them than the pages say."""
    sources = load_all(find_modules(ROOT / "labml_rl", ROOT))
    needed = needs(sources)
    paths = {source.module: source.path for source in sources}
    for row in list(COPIES)[2:]:
        files = {f"labml_rl/{name}" for name in files_of(row)}
        modules = {
            name
            for name, path in paths.items()
            if path in files or path.rpartition("/")[0] + "/" in files
        }
        others = {each.module for name in modules for each in needed.get(name, ())}
        assert others <= modules, row


@pytest.mark.parametrize("row", list(COPIES)[2:])
def test_files_that_were_copied_work_alone(row, tmp_path):
    copy = tmp_path / "labml_rl"
    copy.mkdir()
    (copy / "__init__.py").touch()
    for name in files_of(row):
        source, target = ROOT / "labml_rl" / name, copy / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(source, target)
    modules = [
        ".".join(path.relative_to(tmp_path).with_suffix("").parts)
        for path in copy.rglob("*.py")
    ]
    program = "import sys, " + ", ".join(modules) + "; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    for name, package in (("Gymnasium", "gymnasium"), ("ale-py", "ale_py")):
        if name not in COPIES[row][1] and "as they do" not in COPIES[row][1]:
            assert package not in loaded
