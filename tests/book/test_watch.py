"""Watching: whole games are counted, none is left out, and a film shows one."""

import json
import re
import sys
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import av
import gymnasium
import numpy as np
import pytest
import torch
from ale_py import Action
from gymnasium.spaces import Box, Discrete

from labml_rl import runs
from labml_rl.environments import Resumable, make_environments
from labml_rl.ppo.recurrent import SmallExperiment as Recurrent
from labml_rl.ppo.recurrent import SmallSettings as RecurrentSettings
from labml_rl.runs import Thoughts, checkpoint
from labml_rl.watch import (
    Watching,
    compare,
    in_words,
    main,
    picture,
    scores,
    summary,
    video,
    watch,
)
from labml_rl.watch.agent import Agent, Protocol, Saved
from labml_rl.watch.scores import (
    CHOOSING,
    FILMING,
    MEASURING,
    Played,
    Result,
    games_of_each,
    measure,
    seed_of,
)
from labml_rl.watch.video import Stage, Video, film
from tests.book.fake_atari import FakeAtari, Script
from tests.book.tiny_runs import Settings, Tiny


class ShortOrLong(gymnasium.Env[Any, Any]):
    """Episodes of 3 steps or of 90, by chance; each step pays a half."""

    metadata = gymnasium.Env.metadata | {
        "render_modes": ["rgb_array"],
        "render_fps": 25,
    }
    observation_space = Box(-1, 1, (4,), np.float32)
    action_space = Discrete(2)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.left = 3 if self.np_random.random() < 0.5 else 90
        return np.zeros(4, np.float32), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        return np.zeros(4, np.float32), 0.5, self.left == 0, False, {}

    def render(self) -> Any:
        return np.full((300, 450, 3), self.left, np.uint8)


gymnasium.register("labml_rl_tests/ShortOrLong-v0", f"{__name__}:ShortOrLong")
SHORT_OR_LONG = "labml_rl_tests/ShortOrLong-v0"


# Its last step is the last that it may have: it is terminated, and truncated as well.
gymnasium.register(
    "labml_rl_tests/AtItsLimit-v0", f"{__name__}:ShortOrLong", max_episode_steps=90
)


class Numbered(ShortOrLong):
    """It has numbers of its own in `episode`, and shows float64."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(4), {"episode": 1}

    def step(self, action: Any) -> Any:
        _, *rest, info = super().step(action)
        return np.zeros(4), *rest, info | {"episode": 1}


gymnasium.register(
    "labml_rl_tests/Numbered-v0", f"{__name__}:Numbered", disable_env_checker=True
)


class Unseen(ShortOrLong):
    """The same, and nobody thought of pictures."""

    def __init__(self) -> None:
        super().__init__()


gymnasium.register("labml_rl_tests/Unseen-v0", f"{__name__}:Unseen")


class WithLives(Tiny):
    """It was trained as A2C and PPO are."""

    @staticmethod
    def game_options(settings: Any) -> dict[str, Any]:
        return {"sticky_actions": 0.25}


def saved_of(game: str, folder: Path) -> Saved:
    runs.train(Tiny, Settings(game=game, total_frames=8), folder=folder)
    return Saved.of(folder, Tiny)


@pytest.fixture(scope="module")
def chance(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return saved_of(SHORT_OR_LONG, tmp_path_factory.mktemp("chance") / "run")


@pytest.fixture(scope="module")
def cart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cart") / "run"
    return runs.train(Tiny, Settings(total_frames=8), folder=folder)


@pytest.fixture(scope="module")
def breakout(tmp_path_factory: pytest.TempPathFactory) -> Saved:
    return saved_of("Breakout", tmp_path_factory.mktemp("breakout") / "run")


def test_every_game_that_was_begun_counts(chance):
    """Those of the first to end would nearly all be short."""
    result = measure(chance, Protocol(), games=40, workers=0)
    assert len(result.played) == 40
    with make_environments(
        SHORT_OR_LONG, 16, seed=seed_of(Protocol(), 0), workers=0
    ) as e:
        e.reset()
        lengths: list[list[int]] = [[] for _ in range(16)]
        for step in range(1, 400):
            *_, infos = e.step(np.zeros(16, np.int64))
            if "final_info" in infos:
                for row in map(int, np.flatnonzero(infos["final_info"]["_episode"])):
                    lengths[row].append(step - sum(lengths[row]))
        expected = [
            n
            for each, share in zip(lengths, games_of_each(40), strict=True)
            for n in each[:share]
        ]
    assert [game.steps for game in result.played] == expected
    assert result.points == [n / 2 for n in expected]
    assert 10 < expected.count(90) < 30


def test_what_ends_by_itself_at_its_limit_was_not_cut_off(tmp_path):
    saved = saved_of("labml_rl_tests/AtItsLimit-v0", tmp_path / "run")
    result = measure(saved, Protocol(), games=8, workers=0)
    assert {game.steps for game in result.played} == {3, 90}
    assert not any(game.capped for game in result.played)
    for seed in range(8):
        game = film(saved, Protocol(seed=seed), tmp_path / "film.mp4")
        assert not game.capped
        if game.steps == 90:
            return
    pytest.fail("no game was as long as it may be")


def test_games_are_shared_out_before_the_first():
    for games in range(1, 70):
        assert sum(games_of_each(games)) == games
        assert max(games_of_each(games)) - min(games_of_each(games)) <= 1
        assert len(games_of_each(games)) <= 16


def test_the_same_call_gives_the_same_and_another_seed_another(cart):
    saved = Saved.of(cart, Tiny)
    first = measure(saved, Protocol(), games=5, workers=0)
    assert measure(saved, Protocol(), games=5, workers=2) == first
    assert measure(saved, Protocol(seed=1), games=5, workers=0) != first


def test_numbers_by_hand():
    result = Result(tuple(Played(points, 1, False) for points in (1.0, 2.0, 6.0)))
    assert result.mean == 3
    assert result.median == 2
    assert result.deviation == pytest.approx(7**0.5)
    assert result.standard_error == pytest.approx((7 / 3) ** 0.5)
    assert summary(result) == (
        "mean 3.00 ± 1.53 (standard error), median 2.00, standard deviation 2.65, "
        "from 1 to 6, 3 games"
    )
    alone = Result((Played(1.5, 1, False),))
    assert summary(alone) == "1.50 points in a single game, which proves little"
    assert in_words(Played(1.0, 1, False)) == "1 point in 1 step"
    assert in_words(Played(2.0, 1200, True)) == "2 points in 1,200 steps, then cut off"


def test_seeds_are_not_those_of_training():
    ours = {
        seed_of(Protocol(seed=seed), purpose)
        for seed in range(20)
        for purpose in (MEASURING, FILMING, CHOOSING)
    }
    assert len(ours) == 60
    assert 2**40 < min(ours) < max(ours) < 2**63
    # The kept scores were played with these: another would give other games.
    assert seed_of(Protocol(), MEASURING) == 4334430513956379144


class Fixed(Tiny):
    """Always of the same opinion."""

    @staticmethod
    def think(network: Any, observations: torch.Tensor) -> Thoughts:
        count = len(observations)
        probabilities = torch.tensor([[0.1, 0.6, 0.3]]).expand(count, 3)
        return Thoughts(probabilities, torch.zeros(count))


def actions_of(cart: Path, protocol: Protocol) -> np.ndarray[Any, Any]:
    saved = replace(Saved.of(cart, Tiny), experiment_class=Fixed)
    space = Box(-1, 1, (4,), np.float32)
    agent = Agent(saved, space, Discrete(2), protocol)
    actions, _ = agent.act(np.zeros((20_000, 4), np.float32))
    return np.bincount(actions, minlength=3) / len(actions)


def test_no_game_is_played_twice_though_all_begin_alike(chance, tmp_path, monkeypatch):
    """What is filmed was neither measured nor used to choose, and the reverse."""
    first: dict[str, list[float]] = {}

    class Watched(Agent):
        def __init__(self, *arguments: Any, purpose: int) -> None:
            super().__init__(*arguments, purpose=purpose)
            first[f"purpose {purpose}"] = [*deepcopy(self._dice).random(3)]

    for module in (scores, video):
        monkeypatch.setattr(module, "Agent", Watched)
    monkeypatch.setattr(video, "Painter", mock.Mock())
    monkeypatch.setattr(video, "Video", mock.MagicMock())
    film(chance, Protocol(), tmp_path / "film.mp4")
    for purpose in (MEASURING, CHOOSING):
        measure(chance, Protocol(), games=1, workers=0, purpose=purpose)
    assert len(first) == 3
    assert len({number for numbers in first.values() for number in numbers}) == 9


def test_the_network_is_where_it_was_told_to_be(cart):
    saved = Saved.of(cart, Tiny)
    space = Box(-1, 1, (4,), np.float32)
    with mock.patch.object(torch.cuda, "is_available", return_value=True):
        agent = Agent(saved, space, Discrete(2), Protocol(), "cpu")
    assert agent.device == torch.device("cpu")
    with pytest.raises(ValueError, match="no device 'cuda' here"):
        measure(saved, Protocol(), games=1, workers=0, device="cuda")


@pytest.mark.parametrize("greedy", [False, True])
def test_an_answer_that_is_no_number_is_no_score(cart, greedy):
    saved, space = Saved.of(cart, Tiny), Box(-1, 1, (4,), np.float32)
    agent = Agent(saved, space, Discrete(2), Protocol(greedy=greedy))
    with pytest.raises(runs.NotFiniteError, match="whether all observations are"):
        agent.act(np.full((1, 4), np.nan, np.float32))


def test_how_it_decides(cart):
    assert np.allclose(actions_of(cart, Protocol()), [0.1, 0.6, 0.3], atol=0.015)
    assert actions_of(cart, Protocol(greedy=True)).tolist() == [0, 1, 0]
    mixed = actions_of(cart, Protocol(greedy=True, epsilon=0.3))
    assert np.allclose(mixed, [0.1, 0.8, 0.1], atol=0.015)


def test_whoever_learns_values_can_be_greedy_too(cart):
    class Valued(Tiny):
        evaluation_epsilon = 0.05

    saved = replace(Saved.of(cart, Tiny), experiment_class=Valued)
    usual = "It takes the best action, and any with probability 0.05"
    assert saved.how_it_decides(Protocol()) == usual
    greedy = Protocol(greedy=True)
    assert saved.how_it_decides(greedy) == "It takes the best action"
    assert saved.epsilon(greedy) == 0
    assert saved.epsilon(replace(greedy, epsilon=0.2)) == 0.2


def test_the_protocol_is_as_in_training_but_for_what_is_measured(breakout):
    saved = replace(breakout, experiment_class=WithLives)
    assert saved.game_options(Protocol()) == {
        "clip_rewards": False,
        "episodic_life": True,  # as a game is, where nobody says anything
        "noop_max": 30,
        "max_frames": 108_000,
        "sticky_actions": 0.25,
    }

    class WithoutLives(Settings):
        episodic_life = False

    without = replace(saved, settings=WithoutLives(game="Breakout"))
    assert not without.game_options(Protocol())["episodic_life"]

    class LivesSettings(Settings):
        episodic_life = clip_rewards = True

    saved = replace(saved, settings=LivesSettings(game="Breakout"))
    assert saved.game_options(Protocol())["episodic_life"]
    assert not saved.game_options(Protocol(serve=False))["episodic_life"]
    assert saved.value_is == "the return that it expects, of clipped rewards"
    assert saved.described(Protocol(noop_max=0, frames_cap=18_000, epsilon=0.05)) == (
        "Breakout, TINY after 32 frames. Actions are drawn from its policy, and any "
        "with probability 0.05. Whole games, raw points. No no-ops. Sticky actions "
        "with probability 0.25. The button is pressed for the agent after a lost life. "
        "At most 18,000 frames a game. Seed 0."
    )
    assert saved.described(Protocol(greedy=True, serve=False)) == (
        "Breakout, TINY after 32 frames. It takes the likeliest action. Whole games, "
        "raw points. 1 to 30 no-ops. No sticky actions. The button is not pressed for "
        "the agent after a lost life. At most 108,000 frames a game. Seed 0."
    ).replace("No sticky actions", "Sticky actions with probability 0.25")


def test_a_game_can_be_made_harder_for_the_measurement(breakout, cart):
    saved = replace(breakout, experiment_class=WithLives)
    assert saved.game_options(Protocol(sticky_actions=0.0))["sticky_actions"] == 0
    said = saved.described(Protocol(sticky_actions=0.5))
    assert "Sticky actions with probability 0.5." in said
    assert "All 18 actions" not in said
    with pytest.raises(ValueError, match="sticky_actions must be between 0 and 1"):
        Protocol(sticky_actions=2.0)
    with pytest.raises(ValueError, match="for Atari games, and CartPole-v1 is none"):
        measure(Saved.of(cart, Tiny), Protocol(sticky_actions=0.25), games=1)


def test_an_agent_with_all_actions_is_said_to_have_them(breakout):
    class AllActions(Tiny):
        @staticmethod
        def game_options(settings: Any) -> dict[str, Any]:
            return {"full_action_space": True}

    said = replace(breakout, experiment_class=AllActions).described(Protocol())
    assert "No sticky actions. All 18 actions. The button" in said


def test_a_score_is_of_the_whole_game_even_where_episodes_are_lives(
    breakout, monkeypatch
):
    script = Script(
        over_at=80, lives={0: 3, 20: 2, 40: 1, 60: 0}, points={10: 7, 30: 4, 50: 1}
    )
    fake = FakeAtari([script])
    monkeypatch.setattr(video, "loader", lambda *_: fake.load)
    monkeypatch.setattr(
        Saved, "game_options", lambda *_: {"noop_max": 0, "episodic_life": True}
    )
    stage = Stage(breakout, Protocol(), all_frames=False)
    stage.begin()
    points, game = 0.0, None
    while game is None:
        _, scored, _, game = stage.step(0)
        points += scored
        (screen,) = stage.pictures()
    assert game == Played(12, game.steps, False)
    assert points == 12
    # The sprite that is red in one frame and blue in the next is both.
    assert screen[170, 80].tolist() == [250, 0, 250]


@pytest.mark.parametrize(("over_at", "max_frames"), [(None, 6), (6, 100)])
def test_a_game_may_be_cut_off_between_two_of_its_lives(
    breakout, monkeypatch, over_at, max_frames
):
    script = Script(over_at=over_at, lives={0: 3, 1: 2}, points={1: 7})
    fake = FakeAtari([script], actions=list(map(Action, range(4))))
    monkeypatch.setattr("labml_rl.game._load", lambda *_: fake)
    monkeypatch.setattr("labml_rl.game.SAME_START", frozenset())
    options = {"noop_max": 0, "fire_at_start": False, "max_frames": max_frames}
    monkeypatch.setattr(Saved, "game_options", lambda *_: options)
    expected = Played(7, 1, over_at is None)
    assert measure(breakout, Protocol(), games=1, workers=0).played == (expected,)
    stage = Stage(breakout, Protocol(), all_frames=False)
    stage.begin()
    assert stage.step(0)[-1] == expected


def decoded(path: Path) -> tuple[Any, list[np.ndarray[Any, Any]]]:
    """The pictures a second of a film in H.264, and the pictures."""
    with av.open(path) as file:
        stream = file.streams.video[0]
        assert stream.codec_context.name == "h264"
        frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(stream)]
        return stream.average_rate, frames


def test_a_film_of_an_atari_game(breakout, tmp_path):
    protocol = Protocol(frames_cap=200, serve=False)
    game = film(breakout, protocol, tmp_path / "film.mp4")
    rate, frames = decoded(tmp_path / "film.mp4")
    assert rate == 15
    assert frames[0].shape == (720, 1280, 3)
    assert len(frames) == game.steps
    assert game.capped
    # The wall at the left is grey, and 8 pixels wide.
    assert np.allclose(frames[-1][300, 62:80], 142, atol=6)
    # The curve moves in from the right: what is more red than blue.
    length = (picture.RIGHT - 14 - picture.START) * (game.steps - 1) / (20 * 15 - 1)
    for frame, width in ((frames[0], 0), (frames[-1], length)):
        curve = frame[picture.CURVE_TOP : picture.CURVE_BOTTOM, picture.START :]
        drawn: Any = curve[..., 0].astype(int) - curve[..., 2] > 50
        columns = np.flatnonzero(drawn.any(0))
        assert columns.max() - columns.min() == pytest.approx(width + 5, abs=12)

    smooth = film(breakout, protocol, tmp_path / "smooth.mp4", all_frames=True)
    rate, frames = decoded(tmp_path / "smooth.mp4")
    assert smooth == game
    assert rate == 60
    assert 4 * game.steps - 4 < len(frames) <= 4 * game.steps


class Valued(Tiny):
    """Says what each action is worth."""

    @staticmethod
    def think(network: Any, observations: torch.Tensor) -> Thoughts:
        worth = torch.tensor([[3.0, 8.0]])
        return Thoughts(torch.tensor([[0.0, 1.0]]), worth.max(1).values, worth)


@pytest.mark.parametrize(
    ("experiment_class", "bars"), [(Tiny, None), (Valued, (3.0, 8.0))]
)
def test_what_is_said_in_a_film(chance, tmp_path, monkeypatch, experiment_class, bars):
    """Each step pays a half."""
    painter, seeds = mock.Mock(), mock.Mock(wraps=seed_of)
    monkeypatch.setattr(video, "Painter", painter)
    monkeypatch.setattr(video, "Video", mock.MagicMock())
    monkeypatch.setattr(video, "seed_of", seeds)
    saved = replace(chance, experiment_class=experiment_class)
    game = film(saved, Protocol(), tmp_path / "film.mp4")
    told = [each.args[0] for each in painter.return_value.panel.call_args_list]
    assert [said.points for said in told] == [0.5] * game.steps
    assert [said.score for said in told] == [n / 2 for n in range(1, game.steps + 1)]
    assert sum(told[0].bars) == pytest.approx(1 if bars is None else sum(bars))
    assert bars is None or told[0].bars == bars
    assert painter.call_args.kwargs["bars_are_values"] == (bars is not None)
    # It is none of the games that are measured.
    seeds.assert_called_once_with(Protocol(), FILMING)


def test_a_film_of_another_environment(chance, tmp_path):
    game = film(chance, Protocol(), tmp_path / "film.mp4")
    rate, frames = decoded(tmp_path / "film.mp4")
    assert rate == 25
    assert len(frames) == game.steps
    assert game.points == game.steps / 2
    left = [int(frame[360, 300].mean()) for frame in frames]
    assert np.allclose(left, range(game.steps - 1, -1, -1), atol=6)


def test_what_can_be_measured_can_be_filmed(tmp_path):
    saved = saved_of("labml_rl_tests/Numbered-v0", tmp_path / "run")
    measured = measure(saved, Protocol(), games=1, workers=0)
    assert measured.mean in (1.5, 45)
    game = film(saved, Protocol(), tmp_path / "film.mp4")
    assert game.points == game.steps / 2


def test_an_environment_that_can_not_be_filmed(cart, tmp_path, monkeypatch):
    def missing(self: Any) -> Any:
        raise gymnasium.error.DependencyNotInstalled("pygame is not installed")

    monkeypatch.setattr(Resumable, "render", missing, raising=False)
    watching = Watching(run=cart, video=tmp_path / "film.mp4")
    with pytest.raises(runs.RunError, match="pygame is not installed"):
        watch(Tiny, watching, Protocol())
    assert list(tmp_path.iterdir()) == []


def test_a_video_that_can_not_be_written(chance, tmp_path):
    with pytest.raises(
        runs.RunError, match=r"film\.mp4 can't be written: No such file"
    ):
        film(chance, Protocol(), tmp_path / "nowhere" / "film.mp4")


def test_a_film_that_can_not_be_taken_back_leaves_the_error_as_it_is(
    chance, tmp_path, monkeypatch
):
    def read_only(*_: Any, **__: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("labml_rl.watch.video.os.replace", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)
    with pytest.raises(runs.RunError, match=r"film\.mp4 can't be written: Read-only"):
        film(chance, Protocol(), tmp_path / "film.mp4")


def test_bars_and_marks():
    painter = picture.Painter(
        "A game",
        "An agent",
        ("a", "b"),
        value_is="",
        bars_are_values=False,
        steps_shown=9,
    )
    said = picture.Said(score=3, points=1, value=0.5, bars=(0.25, 0.75), action=1)
    panel = painter.panel(said)
    bars = panel[picture.BARS_TOP + 10], panel[picture.BARS_TOP + 54]
    room = (bars[0] == picture.RAISED).all(-1).sum() + (bars[0] == picture.FAINT).all(
        -1
    ).sum()
    assert (bars[0] == picture.FAINT).all(-1).sum() == pytest.approx(room / 4, abs=2)
    assert (bars[1] == picture.LINE).all(-1).sum() == pytest.approx(room * 3 / 4, abs=2)
    assert (panel[picture.CURVE_BOTTOM - 12] == picture.POINTS).all(-1).sum() == 3

    screen = np.random.default_rng(0).integers(0, 255, (210, 160, 3), np.uint8)
    whole = painter.place(panel, screen)
    assert (whole[45:675:3, 60:540:3] == screen).all()
    assert (whole[47:675:3, 62:540:3] == screen).all()
    assert (whole[:, picture.LEFT :] == panel[:, picture.LEFT :]).all()


def test_the_curve_of_values_goes_from_left_to_right():
    painter = picture.Painter(
        *("A game", "An agent", ("a",)),
        value_is="",
        bars_are_values=False,
        steps_shown=9,
    )
    for value in (0.0, 1.0):
        said = picture.Said(score=0, points=0, value=value, bars=(1.0,), action=0)
        panel = painter.panel(said)
    curve = panel[picture.CURVE_TOP : picture.CURVE_BOTTOM].astype(int)
    drawn: Any = (abs(curve - picture.LINE) < 20).all(-1)
    rows, columns = np.nonzero(drawn)
    # One step of eight is this wide, and at the right end there is a dot.
    width = (picture.RIGHT - 14 - picture.START) / 8
    assert columns.max() - columns.min() == pytest.approx(width, abs=8)
    assert drawn[:, columns.min() : columns.max() - 12].any(0).all()
    first = rows[columns == columns.min()].mean()
    last = rows[columns == columns.max()].mean()
    assert last < first - 100


def test_what_is_likely_lies_behind_the_curve():
    """Two returns are as likely as each other, and then one is certain."""
    painter = picture.Painter(
        *("A game", "An agent", ("a",)),
        value_is="",
        bars_are_values=True,
        steps_shown=3,
    )
    returns, split, sure = (-1.0, 0.0, 1.0), (0.5, 0.0, 0.5), (0.0, 0.0, 1.0)
    for value, chances in ((0.0, split), (0.0, split), (1.0, sure)):
        said = picture.Said(
            score=0,
            points=0,
            value=value,
            bars=(value,),
            action=0,
            returns=returns,
            chances=chances,
        )
        panel = painter.panel(said)
    top, bottom = picture.CURVE_TOP + 22, picture.CURVE_BOTTOM - 36
    left = panel[top - 4 : bottom + 5, picture.START + 40].astype(int)
    right = panel[top - 4 : bottom + 5, picture.RIGHT - 24].astype(int)
    bright = [abs(each - picture.LIKELY).sum(-1) < 40 for each in (left, right)]
    half = len(left) // 2
    assert bright[0][:half].any()
    assert bright[0][half:].any()
    assert bright[1][:half].any()
    assert not bright[1][half:].any()
    # In the middle of the two nothing is likely, and there is only the curve.
    dark = abs(left[half - 20 : half - 5] - picture.RAISED).sum(-1)
    assert (dark < 60).any()
    # Without it, all is as it was.
    plain = picture.Said(score=0, points=0, value=1.0, bars=(1.0,), action=0)
    for _ in range(3):
        panel = painter.panel(plain)
    assert not (panel == picture.LIKELY).all(-1).any()


@pytest.mark.parametrize("count", [1, 9, 18])
def test_any_number_of_actions_fits(count):
    painter = picture.Painter(
        "A game",
        "An agent",
        tuple(["DOWNRIGHTFIRE"] * count),
        value_is="",
        bars_are_values=True,
        steps_shown=9,
    )
    for step in range(20):
        said = picture.Said(
            score=-1234.5, points=-1, value=step, bars=(1.0,) * count, action=count - 1
        )
        panel = painter.panel(said)
    assert (panel[-picture.MARGIN + 1 :] == picture.GROUND).all()
    assert (panel[:, -picture.MARGIN + 4 :] == picture.GROUND).all()


def test_the_command(cart, tmp_path, capsys):
    main(Tiny, [str(cart), "--games", "3", "--greedy"], program="labml-rl")
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 5
    assert all(" points in " in line for line in said[:3])
    assert said[3].startswith("mean ")
    assert said[4] == (
        "CartPole-v1, TINY after 8 frames. It takes the likeliest action. Whole "
        "episodes, sums of rewards. Seed 0."
    )


def test_the_command_films_the_best(breakout, tmp_path, capsys):
    folder, file = tmp_path / "run", tmp_path / "film.mp4"
    runs.train(Tiny, breakout.settings, folder=folder)
    state = checkpoint.load(folder / "checkpoint.safetensors")
    best = {"network": state["network"], "of": state["of"], "frames": 4}
    checkpoint.save(folder / "best.safetensors", best)
    typed = ["--best", "--games", "0", "--frames-cap", "60"]
    film_it = ["--video", str(file), "--all-frames"]
    main(Tiny, [str(folder), *typed, *film_it], program="labml-rl")
    filmed, described = capsys.readouterr().out.splitlines()
    assert filmed.startswith(f"{file}: ")
    assert filmed.endswith(" steps, then cut off; it does not count")
    assert described.startswith("Breakout, TINY after 4 frames. ")
    rate, _ = decoded(file)
    assert rate == 60


@pytest.mark.parametrize("command", [main, compare.main])
def test_no_name_gives_orders_to_a_terminal(command, breakout, tmp_path, capsys):
    folder = tmp_path / "\x1bc"
    settings = replace(breakout.settings, game="Brea\x1bkout")
    runs.train(Tiny, settings, folder=folder)
    capsys.readouterr()
    command(Tiny, [str(folder), "--games", "1", "--frames-cap", "60"], program="a")
    said = capsys.readouterr().out
    assert "At most 60 frames a game" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--games", "-1"], "games must be at least 1"),
        (["--games", "0"], "or 0 with a video, not 0"),
        (["--all-frames"], "all_frames is for a film"),
        (["--video", "a.gif"], "must end in .mp4"),
        (["--frames-cap", "0"], "frames_cap must be at least 1, not 0"),
        (["--noop-max", "-1"], "noop_max must be at least 0, not -1"),
    ],
)
def test_what_makes_no_sense_is_refused(cart, capsys, typed, message):
    with pytest.raises(SystemExit):
        main(Tiny, [str(cart), *typed], program="labml-rl")
    assert message in " ".join(capsys.readouterr().err.replace("│", " ").split())


def test_what_can_not_be_played(cart):
    with pytest.raises(runs.RunError, match="workers must be at least 0, not -1"):
        main(Tiny, [str(cart), "--workers", "-1"], program="labml-rl")


@pytest.mark.parametrize("options", [[], ["--games", "0", "--video", "a.mp4"]])
def test_an_environment_that_is_gone_is_one_sentence(cart, options, monkeypatch):
    def gone(*_: Any, **__: Any) -> None:
        raise ModuleNotFoundError("No module named 'mine'")

    monkeypatch.setattr(gymnasium, "make", gone)
    with pytest.raises(
        runs.RunError, match=r"no environment .*: No module named 'mine'"
    ):
        main(Tiny, [str(cart), *options], program="labml-rl")


def test_a_cap_below_the_beginning_of_a_game_has_its_own_name(breakout):
    with pytest.raises(ValueError, match="frames_cap must be at least 35 with a noop_"):
        breakout.game_options(Protocol(frames_cap=34))
    assert breakout.game_options(Protocol(frames_cap=35))["max_frames"] == 35
    with pytest.raises(ValueError, match=r"frames_cap .* least 200005 .* not 108000"):
        breakout.game_options(Protocol(noop_max=200_000))


@pytest.mark.parametrize("name", ["Walk-v0", "nowhere/Walk-v0"])
def test_an_environment_that_only_its_program_knows_is_no_walker(name, monkeypatch):
    monkeypatch.setattr(gymnasium, "make", mock.Mock(side_effect=AssertionError))
    saved = Saved(Tiny, Settings(game=name), {}, 0)
    with pytest.raises(
        ValueError, match=f"no environment '{name}' here: .* If your"
    ) as e:
        saved.game_options(Protocol())
    assert f"train in module:{name}, which" in str(e.value)
    for known in ("CartPole-v1", "mine:Walk-v0", "CartPole-v99"):
        assert Saved(Tiny, Settings(game=known), {}, 0).game_options(Protocol()) == {}


def test_what_can_not_be_filmed(tmp_path):
    settings = Settings(game="labml_rl_tests/Unseen-v0", total_frames=8)
    folder = runs.train(Tiny, settings, folder=tmp_path / "run")
    with pytest.raises(
        runs.RunError, match=r"Unseen-v0 can't be filmed: .*render_mode"
    ):
        main(
            Tiny, [str(folder), "--video", str(tmp_path / "a.mp4")], program="labml-rl"
        )


@pytest.mark.filterwarnings("ignore:.*not in the possible render_modes")
def test_what_does_not_say_that_it_can_be_filmed(tmp_path, monkeypatch):
    monkeypatch.setitem(ShortOrLong.metadata, "render_modes", [])
    folder = runs.train(
        Tiny, Settings(game=SHORT_OR_LONG, total_frames=8), folder=tmp_path / "run"
    )
    close = mock.Mock()
    monkeypatch.setattr(ShortOrLong, "close", close)
    with pytest.raises(runs.RunError, match="its metadata has no 'rgb_array' among"):
        main(
            Tiny, [str(folder), "--video", str(tmp_path / "a.mp4")], program="labml-rl"
        )
    close.assert_called_once()


@pytest.mark.filterwarnings("ignore:.*RGB-array rendering")
@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (None, "object of shape ()"),
        (np.zeros((30, 40), np.uint8), "uint8 of shape (30, 40)"),
        (np.ones((30, 40, 3)), "float64 of shape (30, 40, 3)"),
        (np.zeros((0, 40, 3), np.uint8), "uint8 of shape (0, 40, 3)"),
    ],
)
def test_what_shows_no_picture_is_told_what_one_is(tmp_path, monkeypatch, shown, words):
    """Colours from 0 to 1 would make a black film, without a word."""
    saved = saved_of(SHORT_OR_LONG, tmp_path / "run")
    monkeypatch.setattr(ShortOrLong, "render", lambda _: shown)
    right = "its render() must return uint8 of shape (height, width, 3), and this is "
    with pytest.raises(ValueError, match=re.escape(right + words)):
        film(saved, Protocol(), tmp_path / "film.mp4")
    assert not list(tmp_path.glob("film*"))


@pytest.mark.filterwarnings("ignore:.*render_fps")
@pytest.mark.parametrize(("rate", "filmed"), [(None, 30), (0.5, 1), (29.97, 29)])
def test_how_many_pictures_a_second(monkeypatch, tmp_path, rate, filmed):
    monkeypatch.setitem(ShortOrLong.metadata, "render_fps", rate)
    saved = saved_of(SHORT_OR_LONG, tmp_path / "run")
    film(saved, Protocol(), tmp_path / "film.mp4")
    with av.open(tmp_path / "film.mp4") as file:
        assert file.streams.video[0].average_rate == filmed


def test_an_environment_that_is_filmed_does_not_end_the_program(monkeypatch, tmp_path):
    saved = saved_of(SHORT_OR_LONG, tmp_path / "run")
    monkeypatch.setattr(ShortOrLong, "render", lambda _: sys.exit(0))
    with pytest.raises(RuntimeError, match=r"called sys.exit\(0\)"):
        film(saved, Protocol(), tmp_path / "film.mp4")
    assert not list(tmp_path.glob("film*"))


def test_an_environment_that_goes_elsewhere_takes_no_film_along(monkeypatch, tmp_path):
    saved, reset = saved_of(SHORT_OR_LONG, tmp_path / "run"), ShortOrLong.reset
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)

    def away(self: Any, *, seed: int | None = None, options: Any = None) -> Any:
        monkeypatch.chdir(elsewhere)
        return reset(self, seed=seed, options=options)

    monkeypatch.setattr(ShortOrLong, "reset", away)
    film(saved, Protocol(), "film.mp4")
    assert (tmp_path / "film.mp4").exists()
    assert not list(elsewhere.iterdir())


def test_the_checkpoint_of_another_network(cart, tmp_path):
    folder = tmp_path / "run"
    runs.train(Tiny, Settings(game="Acrobot-v1", total_frames=8), folder=folder)
    file = folder / "checkpoint.safetensors"
    file.write_bytes((cart / "checkpoint.safetensors").read_bytes())
    with pytest.raises(runs.CheckpointError, match="is of tiny in CartPole-v1, and"):
        Saved.of(folder, Tiny)
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(record | {"algorithm": "other"}))
    with pytest.raises(runs.RunError, match="a run of other, not of tiny"):
        Saved.of(folder, Tiny)


def test_protocols_that_make_no_sense():
    for wrong in ({"epsilon": 1.5}, {"seed": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Protocol(**wrong)
    assert Protocol().epsilon is None


def test_a_game_that_is_cut_off_by_truncation_is_capped_and_forgotten(monkeypatch):
    """As in MountainCar, which nobody gets over by chance in its 200 steps."""
    settings = RecurrentSettings(game="MountainCar-v0", units=8)
    network = Recurrent.make_network(
        settings, Box(-2, 2, (2,), np.float32), Discrete(3)
    )
    saved = Saved(Recurrent, settings, network.state_dict(), 0)
    told: list[bool] = []
    monkeypatch.setattr(Agent, "forget", lambda agent, ended: told.append(*ended))
    result = measure(saved, Protocol(), games=1, workers=0)
    assert result.played == (Played(-200.0, 200, capped=True),)
    assert told == [False] * 199 + [True]


def test_each_game_that_counts_is_reported_once(chance):
    told: list[Played] = []
    result = measure(chance, Protocol(), games=20, workers=0, report=told.append)
    assert sorted(map(str, told)) == sorted(map(str, result.played))


def test_a_film_is_written_through_no_link(tmp_path):
    (tmp_path / "kept.txt").write_text("kept")
    (tmp_path / "film.mp4.partial").symlink_to(tmp_path / "kept.txt")
    with Video(tmp_path / "film.mp4", 15) as made:
        made.add(np.zeros((picture.HEIGHT, picture.WIDTH, 3), np.uint8))
    assert (tmp_path / "kept.txt").read_text() == "kept"
    assert not (tmp_path / "film.mp4").is_symlink()


def test_a_film_without_the_encoder_is_refused_in_a_sentence(tmp_path, monkeypatch):
    def unknown(*_: Any, **__: Any) -> Any:
        raise av.codec.codec.UnknownCodecError("libx264")

    container = mock.Mock(add_stream=unknown)
    monkeypatch.setattr(av, "open", lambda *_, **__: container)
    with pytest.raises(runs.RunError, match="built without libx264"):
        Video(tmp_path / "film.mp4", 15)
    assert container.close.called
    assert not list(tmp_path.iterdir())


def test_games_of_each_purpose_have_seeds_of_their_own(chance, monkeypatch):
    seeds: list[int] = []

    def noted(*given: Any, **options: Any) -> Any:
        seeds.append(options["seed"])
        return make_environments(*given, **options)

    monkeypatch.setattr(scores, "make_environments", noted)
    purposes = (MEASURING, FILMING, CHOOSING)
    for each in purposes:
        measure(chance, Protocol(), games=1, workers=0, purpose=each)
    assert seeds == [seed_of(Protocol(), each) for each in purposes]
