"""The traps of an Atari wrapper, each one sprung by a scripted game.

Unless a test says otherwise the game starts without no-ops and FIRE, so that step n
covers the frames 4n - 3 to 4n.
"""

from typing import Any

import numpy as np
import pytest
import torch
from ale_py import Action
from gymnasium.error import InvalidAction, ResetNeeded, UnsupportedMode

from labml_rl.game import Game, GameOptions
from labml_rl.screen import Pixels, preprocess
from tests.book.fake_atari import FakeAtari, Script, draw
from tests.book.reference import picture, picture_by_definition

NOOP, FIRE, RIGHT = Action.NOOP, Action.FIRE, Action.RIGHT


def shown(game: int, *frames: int) -> Pixels:
    """What the network must see if these frames of the fake game came last."""
    return picture(*(draw(game, frame) for frame in frames))


def steps(game: Game, count: int, action: int = 0) -> list[tuple[Any, ...]]:
    return [game.step(action) for _ in range(count)]


# ------------------------------------------------------------------ the picture


@pytest.mark.parametrize(("crop", "height"), [(False, 84), (True, 110)])
def test_picture_is_luminance_and_area_average_of_the_maximum(crop, height):
    screens = np.random.default_rng(0).integers(0, 256, (2, 210, 160, 3), np.uint8)
    found = preprocess(screens, crop_scoreboard=crop)
    wanted = picture_by_definition(screens[0], screens[1], height)
    wanted = wanted[18:102] if crop else wanted
    assert found.shape == (84, 84)
    assert found.dtype == np.uint8
    # Half a unit is rounded away for grey, half a unit for the size.
    assert np.abs(found - wanted).max() <= 1.001


def test_maximum_is_taken_of_colours_before_grey():
    red, blue = np.zeros((2, 210, 160, 3), np.uint8)
    red[..., 0] = 250
    blue[..., 2] = 250
    both = preprocess(np.stack([red, blue]))
    assert both[0, 0] == round(0.299 * 250 + 0.114 * 250), "both colours must be there"


def test_each_picture_is_the_maximum_of_the_last_two_frames_of_its_step():
    game = FakeAtari().game()
    game.reset()
    observation, *_ = steps(game, 4)[-1]
    for place, (third, fourth) in enumerate([(3, 4), (7, 8), (11, 12), (15, 16)]):
        assert np.array_equal(observation[place], shown(1, third, fourth)), place


def test_only_the_two_frames_that_are_shown_are_fetched():
    atari = FakeAtari()
    game = atari.game()
    game.reset()
    atari.pictures_fetched = 0
    steps(game, 5)
    assert atari.pictures_fetched == 2 * 5


@pytest.mark.parametrize("over_in", [1, 2, 3, 4])
def test_final_observation_holds_no_frame_of_the_step_before(over_in):
    game = FakeAtari([Script(over_at=8 + over_in)]).game()
    game.reset()
    steps(game, 2)
    observation, _, terminated, truncated, _ = game.step(0)
    last = [11, 12] if over_in == 4 else [8 + over_in]
    assert (terminated, truncated) == (True, False)
    assert np.array_equal(observation[-1], shown(1, *last))
    assert np.array_equal(observation[-2], shown(1, 7, 8))


@pytest.mark.parametrize("cut_in", [1, 2, 3, 4])
def test_observation_at_the_cap_is_the_maximum_of_the_last_two_frames(cut_in):
    # What is bootstrapped from must be right, wherever in a step the cap falls.
    game = FakeAtari().game(max_frames=8 + cut_in)
    game.reset()
    steps(game, 2)
    observation, _, terminated, truncated, info = game.step(0)
    assert (terminated, truncated) == (False, True)
    assert info["episode"]["frames"] == 8 + cut_in
    assert np.array_equal(observation[-1], shown(1, 7 + cut_in, 8 + cut_in))


def test_first_picture_stands_for_all_four():
    game = FakeAtari().game()
    first, _ = game.reset()
    assert all(np.array_equal(each, shown(1, 0)) for each in first)
    second, *_ = game.step(0)
    assert all(np.array_equal(each, shown(1, 0)) for each in second[:3])
    assert np.array_equal(second[3], shown(1, 3, 4))


@pytest.mark.parametrize("noops", [1, 2, 5])
def test_first_picture_is_of_the_last_two_frames_and_of_no_game_before(noops):
    atari = FakeAtari([Script(over_at=40), Script()])
    game = atari.game(noop_max=noops)
    for number in (1, 2):
        observation, _ = game.reset()
        now = len(atari.played[number - 1])
        assert np.array_equal(observation[-1], shown(number, now - 1, now))
        while number == 1 and not game.step(0)[2]:
            pass


def test_without_noops_the_first_picture_is_of_no_game_before():
    game = FakeAtari([Script(over_at=8), Script()]).game()
    game.reset()
    steps(game, 2)
    observation, _ = game.reset()
    assert np.array_equal(observation[-1], shown(2, 0))


def test_new_episode_has_no_picture_of_the_old_one_in_its_stack():
    game = FakeAtari([Script(lives={0: 3, 6: 2})]).game()
    game.reset()
    assert steps(game, 2)[-1][2], "the life is lost in step 2"
    observation, _ = game.reset()
    assert all(np.array_equal(each, shown(1, 11, 12)) for each in observation)


def test_observations_are_never_written_to_again():
    game = FakeAtari([Script(lives={0: 3, 18: 2, 30: 1}, over_at=60)]).game()
    kept = [game.reset()[0]]
    copies = [kept[0].copy()]
    for _ in range(20):
        observation, _, terminated, truncated, _ = game.step(0)
        if terminated or truncated:
            kept.append(observation)
            copies.append(observation.copy())
            observation, _ = game.reset()
        kept.append(observation)
        copies.append(observation.copy())
    for index, (one, copy) in enumerate(zip(kept, copies, strict=True)):
        assert np.array_equal(one, copy), f"observation {index} has changed"
        assert not any(np.shares_memory(one, other) for other in kept[:index])


def test_another_array_goes_on_with_the_pictures_of_the_last():
    seen = []
    for moves in (False, True):
        game = FakeAtari().game()
        game.reset()
        for each in np.zeros((6, 4, 84, 84), np.uint8):
            if moves:
                game.observe_into(each)
            observation, *_ = game.step(0)
            assert not moves or observation is each
        seen.append(observation)
    assert np.array_equal(seen[0], seen[1])


def test_writing_into_an_observation_does_not_change_the_next():
    game = FakeAtari().game()
    observation, _ = game.reset()
    observation[:] = 77
    following, *_ = game.step(0)
    assert np.array_equal(following[0], shown(1, 0))


def test_stack_of_one_and_channels_last_show_the_same():
    seen = {}
    for stack in (1, 4):
        for last in (False, True):
            game = FakeAtari().game(stack=stack, channels_last=last)
            game.reset()
            observation, *_ = steps(game, 6)[-1]
            assert observation in game.observation_space
            assert observation.flags.c_contiguous
            seen[stack, last] = observation
    assert seen[4, True].shape == (84, 84, 4)
    assert seen[1, True].shape == (84, 84, 1)
    assert np.array_equal(np.moveaxis(seen[4, True], -1, 0), seen[4, False])
    assert np.array_equal(seen[1, False], seen[4, False][3:])
    assert np.array_equal(np.moveaxis(seen[1, True], -1, 0), seen[1, False])


def test_scoreboard_is_cropped():
    game = FakeAtari().game(crop_scoreboard=True)
    game.reset()
    observation, *_ = game.step(0)
    assert np.array_equal(observation[-1], picture(draw(1, 3), draw(1, 4), crop=True))


# ------------------------------------------------------------- the beginning


def test_noops_come_from_the_whole_range_and_from_the_games_own_generator():
    atari = FakeAtari()
    game = atari.game(noop_max=30)
    before = str(np.random.get_state())
    for _ in range(400):
        game.reset()
    assert {len(played) for played in atari.played} == set(range(1, 31))
    assert all(action == NOOP for played in atari.played for action in played)
    assert str(np.random.get_state()) == before, "the global generator was used"


def test_a_seed_fixes_noops_and_the_emulators_dice():
    def noops_and_dice(seed: int | None, reseed: int | None = None):
        atari = FakeAtari()
        game = atari.game(seed=seed, noop_max=30)
        game.reset(seed=reseed)
        for _ in range(5):
            game.reset()
        return [len(played) for played in atari.played], atari.seeds[-1]

    assert noops_and_dice(3) == noops_and_dice(3)
    assert noops_and_dice(3) != noops_and_dice(4)
    assert noops_and_dice(None) != noops_and_dice(None)
    assert noops_and_dice(9, reseed=3) == noops_and_dice(3)


def test_game_that_ends_during_noops_is_replaced_and_not_reported():
    atari = FakeAtari([Script(over_at=1, points={1: 5}), Script()])
    game = atari.game(noop_max=30)
    observation, info = game.reset()
    assert atari.games == 2
    assert info == {"lives": 3}
    now = len(atari.played[1])
    assert np.array_equal(observation[-1], shown(2, now - 1, now))
    assert game.step(0)[1] == 0, "the points of the first game belong to nobody"


@pytest.mark.parametrize("over_at", [1, 2, 3, 4])
def test_game_that_ends_during_fire_is_replaced_and_not_reported(over_at):
    atari = FakeAtari([Script(over_at=over_at), Script()])
    game = atari.game(fire_at_start=True)
    observation, info = game.reset()
    assert atari.games == 2
    assert info == {"lives": 3}
    assert np.array_equal(observation[-1], shown(2, 3, 4))
    assert not game.step(0)[2]


def test_game_that_ends_during_noops_is_not_fired_at():
    atari = FakeAtari([Script(over_at=1), Script()])
    atari.game(noop_max=3, fire_at_start=True).reset()
    assert atari.played[0] == [NOOP]


@pytest.mark.parametrize("full_action_space", [False, True])
@pytest.mark.parametrize("has_fire", [False, True])
def test_fire_is_pressed_where_it_does_something(has_fire, full_action_space):
    atari = FakeAtari(actions=[NOOP, FIRE, RIGHT] if has_fire else [NOOP, RIGHT])
    game = atari.game(fire_at_start=True, full_action_space=full_action_space)
    game.reset()
    assert atari.played == [[FIRE] * 4 if has_fire else []]
    assert len(game.get_action_meanings()) == (
        18 if full_action_space else 2 + has_fire
    )


def test_fire_can_be_left_to_the_agent():
    atari = FakeAtari()
    atari.game(fire_at_start=False).reset()
    assert atari.played == [[]]


def test_noop_is_the_action_of_that_name_and_not_number_0():
    # Backgammon and Video Checkers have FIRE as number 0, and no NOOP among their own.
    atari = FakeAtari(actions=[FIRE, RIGHT])
    atari.game(noop_max=5).reset()
    assert set(atari.played[0]) == {NOOP}


def test_actions_are_those_of_the_minimal_or_the_full_set():
    atari = FakeAtari()
    game = atari.game()
    game.reset()
    game.step(2)
    assert atari.played[-1] == [RIGHT] * 4
    assert game.get_action_meanings() == ["NOOP", "FIRE", "RIGHT"]
    atari = FakeAtari()
    game = atari.game(full_action_space=True)
    game.reset()
    game.step(np.int64(17))
    assert atari.played[-1] == [Action.DOWNLEFTFIRE] * 4


# -------------------------------------------------------------------- lives


def test_lost_life_ends_the_episode_and_not_the_game():
    atari = FakeAtari([Script(lives={0: 3, 6: 2})])
    game = atari.game(fire_at_start=True, noop_max=0)
    game.reset()
    _, _, terminated, truncated, info = game.step(2)
    assert (terminated, truncated) == (True, False)
    assert info == {"lives": 2}, "a score belongs to the end of a whole game"
    _, info = game.reset()
    assert info == {"lives": 2}
    assert atari.games == 1, "the game must go on"
    assert atari.played[0] == [FIRE] * 4 + [RIGHT] * 4 + [NOOP] * 4 + [FIRE] * 4
    assert not game.step(0)[2]


def test_lost_life_lets_the_action_run_its_four_frames():
    atari = FakeAtari([Script(lives={0: 3, 1: 2})])
    game = atari.game()
    game.reset()
    observation, *_ = game.step(0)
    assert len(atari.played[0]) == 4
    assert np.array_equal(observation[-1], shown(1, 3, 4))


def test_lives_can_be_left_out_of_it():
    atari = FakeAtari([Script(lives={0: 3, 6: 2, 10: 1, 14: 0}, over_at=15)])
    game = atari.game(episodic_life=False)
    game.reset()
    ends = [(terminated, info) for _, _, terminated, _, info in steps(game, 4)]
    score = {"r": 0.0, "l": 4, "frames": 15}
    assert [end for end, _ in ends] == [False, False, False, True]
    assert ends[-1][1] == {"lives": 0, "episode": score, "cut_off": False}


def test_game_that_is_played_on_at_zero_lives_goes_on():
    game = FakeAtari([Script(lives={0: 1, 6: 0}, over_at=20)]).game()
    game.reset()
    ends = [terminated for _, _, terminated, _, _ in steps(game, 5)]
    assert ends == [False, False, False, False, True]


def test_game_without_lives_ends_only_when_it_is_over():
    game = FakeAtari([Script(lives={0: 0}, over_at=12)]).game()
    game.reset()
    assert [end for _, _, end, _, _ in steps(game, 3)] == [False, False, True]


def test_life_won_and_lost_again_ends_the_episode():
    game = FakeAtari([Script(lives={0: 3, 6: 4, 10: 3})]).game()
    game.reset()
    assert [end for _, _, end, _, _ in steps(game, 3)] == [False, False, True]


@pytest.mark.parametrize("lost_at", [9, 13])
def test_life_lost_between_two_episodes_does_not_end_the_second(lost_at):
    # After the first life: no-op in frames 9 to 12, FIRE in 13 to 16.
    atari = FakeAtari([Script(lives={0: 3, 5: 2, lost_at: 1})])
    game = atari.game(fire_at_start=True)
    game.reset()
    assert game.step(0)[2]
    assert game.reset()[1] == {"lives": 1}
    assert not game.step(0)[2], "no life was lost in this step"


@pytest.mark.parametrize("over_at", [9, 12, 13, 16])
def test_game_that_ends_between_two_lives_is_reported_and_replaced(over_at):
    first = Script(lives={0: 2, 5: 1}, over_at=over_at, points={2: 1, 5: 10, 9: 100})
    atari = FakeAtari([first, Script()])
    game = atari.game(fire_at_start=True)
    game.reset()
    assert game.step(0)[2]
    observation, info = game.reset()
    assert info["episode"] == {"r": 111.0, "l": 1, "frames": over_at}
    assert not info["cut_off"]
    assert info["lives"] == 3, "of the new game"
    assert atari.games == 2
    assert np.array_equal(observation[-1], shown(2, 3, 4))
    assert not game.step(0)[2]


def test_cap_that_falls_between_two_lives_ends_the_game_there():
    atari = FakeAtari([Script(lives={0: 3, 1: 2}), Script()])
    game = atari.game(max_frames=6)
    game.reset()
    game.step(0)
    _, info = game.reset()
    assert info["episode"] == {"r": 0.0, "l": 1, "frames": 6}
    assert info["cut_off"]
    assert atari.games == 2


# -------------------------------------------------------------- reward and score


def test_score_is_raw_and_of_the_whole_game_with_noops_and_fire():
    # FIRE in 1 to 4, a life in 5 to 8, no-op and FIRE to 16, the rest in 17 to 20.
    points = {3: 1, 6: 20, 10: 300, 14: 4000, 18: -50000}
    script = Script(lives={0: 2, 7: 1}, over_at=20, points=points)
    game = FakeAtari([script, Script()]).game(fire_at_start=True, clip_rewards=True)
    game.reset()
    _, first, terminated, _, info = game.step(0)
    assert (first, terminated, "episode" in info) == (1.0, True, False)
    game.reset()
    _, second, terminated, _, info = game.step(0)
    assert (second, terminated) == (-1.0, True)
    assert info["episode"] == {"r": 4321.0 - 50000, "l": 2, "frames": 20}
    game.reset()
    assert "episode" not in game.step(0)[4]


def test_rewards_are_raw_unless_clipped():
    points = {1: 7, 4: 2.5, 5: -3}
    rewards = {}
    for clip in (False, True):
        game = FakeAtari([Script(points=points)]).game(clip_rewards=clip)
        game.reset()
        rewards[clip] = [reward for _, reward, *_ in steps(game, 3)]
        assert all(type(reward) is float for reward in rewards[clip])
    assert rewards[False] == [9.5, -3.0, 0.0]
    assert rewards[True] == [1.0, -1.0, 0.0]


def test_score_begins_anew_with_each_game():
    script = Script(over_at=8, points={3: 2})
    game = FakeAtari([script]).game()
    for _ in range(3):
        game.reset()
        info = steps(game, 2)[-1][4]
        assert info["episode"] == {"r": 2.0, "l": 2, "frames": 8}


# ------------------------------------------------------------------- the cap


def test_cap_truncates_and_does_not_terminate():
    game = FakeAtari().game(max_frames=16)
    game.reset()
    ends = [(end, cut, "episode" in info) for _, _, end, cut, info in steps(game, 4)]
    assert ends == [(False, False, False)] * 3 + [(False, True, True)]


def test_cap_counts_the_frames_of_the_whole_game_and_of_noops():
    atari = FakeAtari([Script(lives={0: 3, 8: 2})])
    game = atari.game(fire_at_start=True, max_frames=20)
    game.reset()  # 1 to 4
    game.step(0)  # 5 to 8
    game.reset()  # 9 to 16
    _, _, terminated, truncated, info = game.step(0)
    assert (terminated, truncated, info["episode"]["frames"]) == (False, True, 20)
    game.reset()
    assert atari.games == 2
    assert not game.step(0)[3], "the new game has its own frames"


def test_game_that_is_over_at_the_cap_has_terminated():
    game = FakeAtari([Script(over_at=16)]).game(max_frames=16)
    game.reset()
    *_, (_, _, terminated, truncated, _) = steps(game, 4)
    assert (terminated, truncated) == (True, False)


def test_life_lost_at_the_cap_begins_a_new_game():
    atari = FakeAtari([Script(lives={0: 3, 15: 2})])
    game = atari.game(max_frames=16)
    game.reset()
    _, _, terminated, truncated, info = steps(game, 4)[-1]
    assert (terminated, truncated, "episode" in info) == (True, True, True)
    assert info["cut_off"]
    assert game.reset()[1] == {"lives": 3}, "a score is reported once"
    assert atari.games == 2


# ------------------------------------------------------------- reset and errors


@pytest.mark.parametrize("how", [{"seed": 5}, {"options": {"new_game": True}}])
def test_new_game_can_be_had_after_a_lost_life(how):
    atari = FakeAtari([Script(lives={0: 3, 1: 2})])
    game = atari.game()
    game.reset()
    assert game.step(0)[2]
    game.reset(**how)
    assert atari.games == 2


def test_reset_in_the_middle_of_an_episode_begins_a_new_game():
    atari = FakeAtari([Script(lives={0: 3, 1: 2})])
    game = atari.game()
    game.reset()
    game.step(0)
    game.reset()
    game.step(0)
    game.reset()
    assert atari.games == 2


def test_steps_outside_an_episode_are_refused():
    game = FakeAtari([Script(lives={0: 2, 1: 1}, over_at=12), Script()]).game()
    with pytest.raises(ResetNeeded, match="reset"):
        game.step(0)
    game.reset()
    assert game.step(0)[2], "a life"
    with pytest.raises(ResetNeeded):
        game.step(0)
    game.reset()
    assert game.step(0)[2], "the game"
    with pytest.raises(ResetNeeded):
        game.step(0)


def test_steps_after_the_cap_are_refused():
    game = FakeAtari().game(max_frames=5)
    game.reset()
    steps(game, 2)
    with pytest.raises(ResetNeeded):
        game.step(0)


@pytest.mark.parametrize("action", [3, -1, 1.0, "NOOP", None])
def test_actions_that_do_not_exist_are_refused(action):
    atari = FakeAtari()
    game = atari.game()
    game.reset()
    with pytest.raises(InvalidAction, match="NOOP, FIRE, RIGHT"):
        game.step(action)
    assert atari.frame == 0


@pytest.mark.parametrize(
    "action", [np.array(1), np.int32(1), torch.tensor(1), torch.ones(1).long()[0]]
)
def test_an_action_may_come_in_any_whole_number(action):
    played = []
    for each in (1, action):
        atari = FakeAtari()
        game = atari.game()
        game.reset()
        game.step(each)
        played.append(atari.played)
    assert played[0] == played[1]


@pytest.mark.parametrize(
    ("option", "value", "rule"),
    [
        ("stack", 2.5, "a whole number"),
        ("noop_max", 2.5, "a whole number"),
        ("max_frames", 1e5, "a whole number"),
        ("episodic_life", "no", "True or False"),
        ("clip_rewards", 0, "True or False"),
        ("stack", 0, "at least 1"),
        ("noop_max", -1, "at least 0"),
        ("sticky_actions", 1.5, "between 0 and 1"),
        ("sticky_actions", -0.1, "between 0 and 1"),
        ("sticky_actions", True, "a number"),
        ("sticky_actions", "0.25", "a number"),
        ("sticky_actions", None, "a number"),
        ("max_frames", 34, "at least 35"),
        ("render_mode", "human", "'rgb_array'"),
    ],
)
def test_options_that_make_no_sense_are_refused(option, value, rule):
    with pytest.raises(ValueError, match=f"{option} must be .*{rule}.*{value}"):
        GameOptions(**{option: value})


def test_rendering_shows_the_screen_as_it_is():
    game = FakeAtari().game(render_mode="rgb_array")
    game.reset()
    steps(game, 2)
    frame = game.render()
    assert np.array_equal(frame, draw(1, 8))
    game.step(0)
    assert np.array_equal(frame, draw(1, 8)), "a rendered picture must stay as it is"


def test_rendering_must_be_asked_for():
    game = FakeAtari().game()
    game.reset()
    with pytest.raises(UnsupportedMode, match="rgb_array"):
        game.render()
