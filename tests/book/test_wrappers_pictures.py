"""Wrappers that look: each against a definition of what it shows."""

from typing import Any

import cv2
import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from labml_rl.wrappers import (
    CropRows,
    Grey,
    MaxBetweenFrames,
    MoveChannels,
    RepeatAndMax,
    Resize,
    ScaleToFloat,
    StackFrames,
)
from tests.book.reference import averages


class Show(gymnasium.Env[Any, Any]):
    """Shows one random picture after the other."""

    def __init__(self, *shape: int, dtype: type = np.uint8) -> None:
        self.observation_space = Box(0, 255, shape, dtype)
        self.action_space = Discrete(1)
        self.shown: list[np.ndarray] = []

    def show(self):
        random = np.random.default_rng(len(self.shown))
        shape = self.observation_space.shape
        dtype = self.observation_space.dtype
        picture = random.integers(0, 256, shape).astype(dtype)
        self.shown.append(picture)
        return picture

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.show(), {"seed": seed, "options": options}

    def step(self, action):
        return self.show(), 2, False, True, {"action": action}


def looked_at(wrapper, env):
    """Return what came out of `reset` and two steps, all of it in the space."""
    first, info = wrapper.reset(seed=3, options={"a": 1})
    assert info == {"seed": 3, "options": {"a": 1}}
    seen = [first]
    for _ in range(2):
        observation, *rest = wrapper.step(0)
        assert rest == [2, False, True, {"action": 0}]
        seen.append(observation)
    for observation in seen:
        assert observation in wrapper.observation_space
        assert observation.flags.c_contiguous
        assert not any(np.shares_memory(observation, shown) for shown in env.shown)
    return seen


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stack_is_along_any_new_axis(axis):
    env = Show(5, 7)
    wrapper = StackFrames(env, 3, axis=axis)
    first, second, third = looked_at(wrapper, env)
    a, b, c = env.shown
    assert wrapper.observation_space.dtype == np.uint8
    assert np.array_equal(first, np.stack([a, a, a], axis=axis))
    assert np.array_equal(second, np.stack([a, a, b], axis=axis))
    assert np.array_equal(third, np.stack([a, b, c], axis=axis))


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stack_is_along_any_axis_that_is_there(axis):
    env = Show(5, 7, 3)
    wrapper = StackFrames(env, 4, axis=axis, concatenate=True)
    *_, third = looked_at(wrapper, env)
    a, b, c = env.shown
    assert np.array_equal(third, np.concatenate([a, a, b, c], axis=axis))
    wanted = [5, 7, 3]
    wanted[axis] *= 4
    assert wrapper.observation_space.shape == tuple(wanted)


def test_stack_begins_anew():
    env = Show(2, 2)
    wrapper = StackFrames(env, 2)
    wrapper.reset()
    wrapper.step(0)
    observation, _ = wrapper.reset()
    assert np.array_equal(observation, np.stack([env.shown[2]] * 2))


class OneArray(Show):
    """Shows all of them in one array."""

    def show(self):
        picture = super().show()
        self.place = getattr(self, "place", picture.copy())
        self.place[:] = picture
        return self.place


def test_environments_may_write_all_into_one_array():
    env = OneArray(2, 2)
    wrapper = StackFrames(env, 3)
    wrapper.reset()
    wrapper.step(0)
    assert np.array_equal(wrapper.step(0)[0], env.shown)
    between = MaxBetweenFrames(OneArray(2, 2))
    between.reset()
    assert np.array_equal(between.step(0)[0], np.maximum(*env.shown[:2]))


def test_stack_keeps_the_bounds():
    env = Show(2)
    low, high = np.array([[-1, 0], [1, 5]], np.float32)
    env.observation_space = Box(low, high)
    space = StackFrames(env, 2).observation_space
    assert space == Box(np.stack([low, low]), np.stack([high, high]))


def test_grey_is_the_luminance():
    env = Show(30, 20, 3)
    seen = looked_at(Grey(env), env)
    for observation, picture in zip(seen, env.shown, strict=True):
        wanted = picture @ np.array([0.299, 0.587, 0.114])
        assert observation.dtype == np.uint8
        assert np.abs(observation - wanted).max() <= 0.51
        assert np.array_equal(observation, cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY))


@pytest.mark.parametrize("size", [(84, 84), (110, 84), (42, 100), (21, 16)])
def test_each_pixel_is_the_average_of_what_it_covers(size):
    env = Show(210, 160)
    wrapper = Resize(env, *size)
    assert wrapper.observation_space == Box(0, 255, size, np.uint8)
    height, width = size
    for observation, picture in zip(looked_at(wrapper, env), env.shown, strict=True):
        wanted = averages(height, 210) @ picture @ averages(width, 160).T
        assert np.abs(observation - wanted).max() <= 0.501
        bilinear = cv2.resize(picture, (width, height))
        assert not np.array_equal(observation, bilinear)


@pytest.mark.parametrize("colours", [1, 3, 4])
def test_pictures_keep_their_colours(colours):
    env = Show(30, 20, colours)
    wrapper = Resize(env, 10, 5)
    for observation, picture in zip(looked_at(wrapper, env), env.shown, strict=True):
        assert observation.shape == (10, 5, colours)
        for channel in range(colours):
            wanted = averages(10, 30) @ picture[..., channel] @ averages(5, 20).T
            assert np.abs(observation[..., channel] - wanted).max() <= 0.501


def test_rows_are_cut_out():
    env = Show(30, 20)
    wrapper = CropRows(env, 4, 6)
    assert wrapper.observation_space.shape == (6, 20)
    for observation, picture in zip(looked_at(wrapper, env), env.shown, strict=True):
        assert np.array_equal(observation, picture[4:10])
    assert CropRows(env, 0, 30).observation_space == env.observation_space


def test_channels_move_and_move_back():
    env = Show(6, 5, 3)
    wrapper = MoveChannels(env)
    assert wrapper.observation_space.shape == (3, 6, 5)
    for observation, picture in zip(looked_at(wrapper, env), env.shown, strict=True):
        assert np.array_equal(observation, picture.transpose(2, 0, 1))
    back = MoveChannels(wrapper, 0, -1)
    assert back.observation_space == env.observation_space
    assert np.array_equal(back.reset()[0], env.shown[-1])


def test_bytes_become_numbers_from_0_to_1():
    env = Show(6, 5)
    wrapper = ScaleToFloat(env)
    assert wrapper.observation_space == Box(0, 1, (6, 5), np.float32)
    for observation, picture in zip(looked_at(wrapper, env), env.shown, strict=True):
        assert observation.dtype == np.float32
        assert np.array_equal(observation, picture.astype(np.float32) / 255)
    assert wrapper.observation(np.full((6, 5), 255, np.uint8)).max() == 1.0


@pytest.mark.parametrize(
    ("make", "shape", "rule"),
    [
        (lambda env: StackFrames(env, 0), (5, 5), "at least 1, not 0"),
        (Grey, (5, 5), r"\(height, width, 3\), not \(5, 5\)"),
        (Grey, (3, 5, 5), r"not \(3, 5, 5\)"),
        (Resize, (5,), r"not \(5,\)"),
        (Resize, (5, 5, 5), r"up to 4 colours, not \(5, 5, 5\)"),
        (RepeatAndMax, (2, 5, 6), r"\(2, height, width, 3\), .* not \(2, 5, 6\)"),
        (lambda env: Resize(env, 0, 4), (5, 5), "0 pixels high and 4 wide"),
        (lambda env: Resize(env, 4, 0), (5, 5), "4 pixels high and 0 wide"),
        (lambda env: CropRows(env, 4, 2), (5, 5), r"\(5, 5\) has no rows 4 to 5"),
        (lambda env: CropRows(env, -1, 2), (5, 5), "no rows -1 to 0"),
        (lambda env: CropRows(env, 1, 0), (5, 5), "no rows 1 to 0"),
    ],
)
def test_wrappers_say_what_they_need(make, shape, rule):
    with pytest.raises(ValueError, match=rule):
        make(Show(*shape))


@pytest.mark.parametrize("wrapper", [Grey, Resize])
def test_floats_do_not_come_out_black(wrapper):
    with pytest.raises(ValueError, match="needs bytes from 0 to 255, not float32"):
        wrapper(ScaleToFloat(Show(5, 5, 3)))


def test_the_maximum_keeps_the_type():
    wrapper = RepeatAndMax(StackFrames(ScaleToFloat(Show(5, 6, 3)), 2))
    assert wrapper.observation_space == Box(0, 1, (5, 6, 3), np.float32)
    assert wrapper.reset()[0] in wrapper.observation_space


def test_floats_are_not_scaled_again():
    with pytest.raises(ValueError, match="not float32"):
        ScaleToFloat(ScaleToFloat(Show(5, 5)))


@pytest.mark.parametrize(
    ("wrapper", "rule"),
    [
        (lambda env: StackFrames(env, 2), "StackFrames needs arrays.*Discrete"),
        (MoveChannels, "MoveChannels needs arrays"),
        (Grey, "Grey needs pictures"),
        (Resize, "Resize needs single pictures"),
        (RepeatAndMax, "RepeatAndMax needs the last two frames"),
        (MaxBetweenFrames, "MaxBetweenFrames needs arrays"),
        (lambda env: CropRows(env, 0, 1), "no rows 0 to 0"),
    ],
)
def test_observations_must_be_arrays(wrapper, rule):
    env: gymnasium.Env = Show(5, 5)
    env.observation_space = Discrete(3)
    with pytest.raises(ValueError, match=rule):
        wrapper(env)
