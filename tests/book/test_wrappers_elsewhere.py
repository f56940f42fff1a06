"""What the pages say of others' wrappers, around the same scripted game as ours."""

from typing import Any

import cv2
import numpy as np
import pytest
from gymnasium import wrappers as theirs
from stable_baselines3.common import atari_wrappers as sb3

from labml_rl.wrappers import (
    ClipReward,
    EpisodeStatistics,
    EpisodicLife,
    FireStart,
    Grey,
    NoopStart,
    RepeatAndMax,
    Resize,
    ScaleToFloat,
    SkipFrames,
    StackFrames,
)
from tests.book.fake_atari import Script, draw
from tests.book.fake_frames import ColourAtari, NoiseAtari, same


def both(wrap, wrap_too, script):
    """Play the same game in both, and return what came out."""
    seen = []
    for make in (wrap, wrap_too):
        env = make(ColourAtari([script]).frames())
        seen.append([env.reset(), *(env.step(0) for _ in range(6))])
    return zip(*seen, strict=True)


@pytest.mark.parametrize(
    ("ours", "other"),
    [
        (lambda e: Resize(e, 84, 60), lambda e: theirs.ResizeObservation(e, (84, 60))),
        (lambda e: StackFrames(e, 3), lambda e: theirs.FrameStackObservation(e, 3)),
        (ClipReward, lambda e: theirs.ClipReward(e, -1, 1)),
        (SkipFrames, lambda e: theirs.RepeatAction(e, 4)),
        (lambda e: RepeatAndMax(StackFrames(e, 2)), sb3.MaxAndSkipEnv),
        (lambda e: RepeatAndMax(StackFrames(e, 2)), theirs.MaxAndSkipObservation),
    ],
)
def test_these_do_the_same(ours, other):
    script = Script(points={2: 3, 5: -8, 9: 1})
    for one, another in both(ours, other, script):
        assert np.array_equal(one[0], another[0])
        assert one[1:] == another[1:]


def test_gymnasium_leaves_half_a_point():
    env = theirs.ClipReward(ColourAtari([Script(points={1: 0.5})]).frames(), -1, 1)
    env.reset()
    assert env.step(0)[1] == 0.5


def test_gymnasium_has_other_weights_for_grey():
    weights = np.array([0.2125, 0.7154, 0.0721])
    wanted = (draw(1, 0) * weights).sum(-1).astype(np.uint8)
    frames = ColourAtari().frames()
    assert np.array_equal(theirs.GrayscaleObservation(frames).reset()[0], wanted)
    assert not np.array_equal(Grey(ColourAtari().frames()).reset()[0], wanted)


def test_gymnasium_repeats_into_both_ends():
    ends = []
    for wrapper in (SkipFrames, theirs.RepeatAction):
        env = wrapper(ColourAtari([Script(over_at=3)]).frames(max_frames=3), 4)
        env.reset()
        ends.append(env.step(0)[2:4])
    assert ends == [(True, False), (True, True)]


@pytest.mark.parametrize("wrapper", [theirs.MaxAndSkipObservation, sb3.MaxAndSkipEnv])
@pytest.mark.parametrize("over_in", [1, 2])
def test_others_show_frames_of_the_step_before(wrapper, over_in):
    env = wrapper(ColourAtari([Script(over_at=4 + over_in)]).frames())
    env.reset()
    before, *_ = env.step(0)
    final, _, terminated, *_ = env.step(0)
    assert terminated
    assert np.array_equal(final, before)


@pytest.mark.parametrize("wrapper", [theirs.MaxAndSkipObservation, sb3.MaxAndSkipEnv])
def test_first_picture_of_others_is_a_single_frame(wrapper):
    atari = ColourAtari()
    env = wrapper(NoopStart(atari.frames(), 30))
    assert np.array_equal(env.reset()[0], draw(1, atari.frame))


def test_stable_baselines3_returns_the_finished_game():
    atari = ColourAtari([Script(over_at=2), Script()])
    assert np.array_equal(sb3.FireResetEnv(atari.frames()).reset()[0], draw(1, 2))
    assert atari.games == 2
    atari = ColourAtari([Script(over_at=1), Script()])
    assert np.array_equal(FireStart(atari.frames()).reset()[0], draw(2, 1))


def test_score_of_a_life_is_not_a_score():
    script = Script(lives={0: 2, 2: 1}, over_at=5, points={1: 10, 4: 1})
    env = theirs.RecordEpisodeStatistics(
        EpisodicLife(EpisodeStatistics(ColourAtari([script]).frames())),
        stats_key="theirs",
    )
    infos = []
    for _ in range(2):
        env.reset()
        over = False
        while not over:
            _, _, over, _, info = env.step(0)
        infos.append(info)
    assert [info["theirs"]["r"] for info in infos] == [10.0, 1.0]
    assert "episode" not in infos[0]
    assert infos[1]["episode"] == {"r": 11.0, "frames": 5}


def test_gymnasium_counts_frames_at_the_bottom():
    atari = NoiseAtari([Script(over_at=8)])
    env = SkipFrames(theirs.RecordEpisodeStatistics(atari.frames()))
    env.reset()
    env.step(0)
    assert env.step(0)[4]["episode"]["l"] == 8


def test_third_argument_of_resize_is_not_the_interpolation():
    picture = np.random.default_rng(0).integers(0, 256, (210, 160), np.uint8)
    by_place = cv2.resize(picture, (84, 84), cv2.INTER_AREA)  # type: ignore[call-overload]
    assert np.array_equal(by_place, cv2.resize(picture, (84, 84)))
    assert not np.array_equal(
        by_place, cv2.resize(picture, (84, 84), interpolation=cv2.INTER_AREA)
    )


def test_a_ball_can_vanish_with_bilinear_interpolation():
    picture = np.zeros((210, 160), np.uint8)
    picture[4, 80] = 255
    vanished = 0
    for row in range(20):
        ball = np.roll(picture, row, axis=0)
        area = cv2.resize(ball, (84, 84), interpolation=cv2.INTER_AREA)
        assert area.max() > 20
        vanished += cv2.resize(ball, (84, 84)).max() == 0
    assert vanished > 0


def test_white_of_the_post_is_237():
    assert int(255 * (0.229 + 0.587 + 0.114)) == 237


def test_floats_take_four_times_the_memory():
    env = StackFrames(Resize(Grey(NoiseAtari().frames())), 4)
    as_bytes, _ = env.reset()
    as_floats, _ = ScaleToFloat(env).reset()
    assert (as_bytes.nbytes, as_floats.nbytes) == (28_224, 112_896)


def test_same_is_strict():
    one: Any = (np.zeros(2), 1.0, False, False, {})
    assert same(one, (np.zeros(2), 1.0, False, False, {}))
    for other in [
        (np.ones(2), 1.0, False, False, {}),
        (np.zeros(2, np.uint8), 1.0, False, False, {}),
        (np.zeros(2), 1, False, False, {}),
        (np.zeros(2), 1.0, False, False, {"lives": 3}),
    ]:
        assert not same(one, other)
