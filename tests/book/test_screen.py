"""The fast way from screens to a picture, against the recipe."""

import numpy as np
import pytest
from ale_py import Action

from labml_rl.game import available_games, make_game
from labml_rl.screen import Screens, preprocess
from tests.book.fake_atari import FakeAtari, draw


@pytest.mark.parametrize("name", available_games())
def test_screens_of_every_game_give_what_the_recipe_gives(name):
    emulator = make_game(name, seed=1)._emulator
    emulator.reset_game()
    whole, cropped = (Screens(emulator, crop_scoreboard=crop) for crop in (False, True))
    random = np.random.default_rng(0)
    actions = [Action(int(number)) for number in random.integers(18, size=15)]
    before = colours_of(emulator)
    for action in actions:
        for _ in range(7):
            emulator.act(action)
        now = colours_of(emulator)
        for screens, crop in ((whole, False), (cropped, True)):
            screens.fetch()
            recipe = preprocess(np.stack([now, before]), crop_scoreboard=crop)
            assert np.array_equal(screens.picture(), recipe)
        before = now


def colours_of(emulator):
    screen = np.zeros((*emulator.getScreenDims(), 3), np.uint8)
    emulator.getScreenRGB(screen)
    return screen


def test_a_repeated_screen_stands_alone():
    atari = FakeAtari()
    screens = Screens(atari)
    atari.reset_game()
    for _ in range(2):
        atari.act(Action.NOOP)
        screens.fetch()
    screens.repeat()
    alone = preprocess(np.stack([draw(1, 2)] * 2))
    assert np.array_equal(screens.picture(), alone)


def test_pictures_are_right_however_often_they_are_asked_for():
    # What has changed is counted from the last picture, not from the last frame.
    atari = FakeAtari()
    atari.reset_game()
    screens = Screens(atari)
    for pause in (1, 3, 1, 0, 2, 7):
        for _ in range(pause):
            atari.act(Action.NOOP)
            screens.fetch()
        frames = [draw(1, max(0, atari.frame - back)) for back in (0, 1)]
        assert np.array_equal(screens.picture(), preprocess(np.stack(frames)))


def test_colours_are_asked_for_only_when_there_are_new_ones(monkeypatch):
    asked = []
    ask = FakeAtari.getScreenRGB

    def remember_and_ask(atari, screen):
        asked.append(atari.frame)
        ask(atari, screen)

    monkeypatch.setattr(FakeAtari, "getScreenRGB", remember_and_ask)
    atari = FakeAtari()
    atari.reset_game()
    screens = Screens(atari)
    for _ in range(20):
        atari.act(Action.NOOP)
        screens.fetch()
    # Once at the beginning, and for the red sprite that the blue one alternates with.
    assert asked == [0, 1]
