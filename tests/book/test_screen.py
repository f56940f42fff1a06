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
    screens = Screens(emulator)
    random = np.random.default_rng(0)
    actions = [Action(int(number)) for number in random.integers(18, size=15)]
    before = colours_of(emulator)
    for action in actions:
        for _ in range(7):
            emulator.act(action)
        screens.fetch()
        now = colours_of(emulator)
        for crop in (False, True):
            picture = screens.picture(crop_scoreboard=crop)
            recipe = preprocess(np.stack([now, before]), crop_scoreboard=crop)
            assert np.array_equal(picture, recipe)
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


def test_a_picture_does_not_change_afterwards():
    atari = FakeAtari()
    screens = Screens(atari)
    first = screens.picture()
    kept = first.copy()
    atari.reset_game()
    screens.fetch()
    assert not np.array_equal(screens.picture(), kept)
    assert np.array_equal(first, kept)


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
