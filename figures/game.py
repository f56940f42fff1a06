"""Draw the figures that show games from the real emulator.

python -m figures.game           write them to docs/assets/figures/
python -m figures.game --check   fail if they differ from what the emulator shows
"""

import argparse
import sys

import cv2
import numpy as np
import torch
from ale_py import Action, ALEInterface, LoggerMode, roms

from figures.drawing import FOLDER
from labml_rl.dqn.augmentation import brighten, shift
from labml_rl.dqn.mspacman import look
from labml_rl.game import make_game
from labml_rl.screen import Pixels, preprocess

ORANGE = (255, 180, 84)
RING = 5  # pixels of the game from its middle

# Where a ghost is in the first and the last picture of Ms. Pac-Man: its row and column.
GHOST = (31.0, 53.0)

VARIED = 86  # a seed with which all three pictures move by three pixels or more


def two_frames(name: str, first: int) -> Pixels:
    """Return frame `first` of a game that nobody plays, and the frame after it."""
    ALEInterface.setLoggerMode(LoggerMode.Error)
    emulator = ALEInterface()
    emulator.setFloat("repeat_action_probability", 0.0)
    path = roms.get_rom_path(name)
    assert path is not None
    emulator.loadROM(path)
    emulator.reset_game()
    screens = np.zeros((2, *emulator.getScreenDims(), 3), np.uint8)
    for _ in range(first):
        emulator.act(Action.NOOP)
    for screen in screens:
        emulator.getScreenRGB(screen)
        emulator.act(Action.NOOP)
    return screens


def side_by_side(*pictures: Pixels, scale: int | tuple[int, ...], gap: int) -> Pixels:
    """Put pictures of one height in a row, on clear ground that a page shows through.

    Args:
        pictures: grey `(height, width)` or colour `(height, width, 3)`.
        scale: how many pixels each pixel becomes: one number, or one for each picture.
        gap: the space between two pictures, in pixels of the figure.

    Returns:
        Shape `(height, width, 4)`: red, green, blue, opacity.
    """
    scales = scale if isinstance(scale, tuple) else (scale,) * len(pictures)
    row: list[Pixels] = []
    for picture, times in zip(pictures, scales, strict=True):
        large = picture.repeat(times, axis=0).repeat(times, axis=1)
        code = cv2.COLOR_GRAY2RGBA if large.ndim == 2 else cv2.COLOR_RGB2RGBA
        row += [
            np.asarray(cv2.cvtColor(large, code), np.uint8),
            np.zeros((len(large), gap, 4), np.uint8),
        ]
    return np.concatenate(row[:-1], axis=1)


def two_by_two(
    pictures: Pixels, rings: list[tuple[float, float]], *, scale: int, gap: int
) -> Pixels:
    """Put four pictures in two rows, in reading order.

    Args:
        pictures: grey, shape `(4, height, width)`.
        rings: one for each, around this row and this column of it.
        scale: how many pixels each pixel becomes.
        gap: the space between two pictures, in pixels of the figure.

    Returns:
        Shape `(height, width, 4)`: red, green, blue, opacity.
    """
    large: list[Pixels] = []
    for picture, (row, column) in zip(pictures, rings, strict=True):
        grey = picture.repeat(scale, axis=0).repeat(scale, axis=1)
        colours = np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB), np.uint8)
        middle = round((column + 0.5) * scale), round((row + 0.5) * scale)
        cv2.circle(colours, middle, RING * scale, ORANGE, 2, cv2.LINE_AA)
        large.append(colours)
    above, below = (
        side_by_side(*pair, scale=1, gap=gap) for pair in (large[:2], large[2:])
    )
    between = np.zeros((gap, *above.shape[1:]), np.uint8)
    return np.concatenate([above, between, below])


def ball(pictures: Pixels) -> list[tuple[float, float]]:
    """Return the row and the column of what moves through four pictures."""
    moves = pictures > pictures.min(axis=0) + 20.0
    return [tuple(np.argwhere(each).mean(axis=0)) for each in moves]


def varied(picture: Pixels, times: int) -> Pixels:
    """Return a picture, and that many versions of it as DrQ sees it."""
    dice = torch.Generator().manual_seed(VARIED)
    copies = torch.from_numpy(picture)[None, None].expand(times, -1, -1, -1)
    seen: Pixels = brighten(shift(copies, dice), dice)[:, 0].numpy()
    return np.concatenate([picture[None], seen])


def draw() -> dict[str, Pixels]:
    """Return the figures by file name."""
    screens = two_frames("asteroids", first=60)
    together = screens.max(axis=0)
    grey = np.asarray(cv2.cvtColor(together, cv2.COLOR_RGB2GRAY), np.uint8)

    breakout = make_game("Breakout", seed=1)
    observation, _ = breakout.reset()
    for _ in range(8):
        observation, *_ = breakout.step(0)

    breakout_screens = np.stack([two_frames("breakout", first=60)[0]] * 2)
    return {
        "game-flicker.png": side_by_side(*screens, together, scale=2, gap=16),
        "game-shrink.png": side_by_side(
            grey, preprocess(screens), scale=(2, 5), gap=16
        ),
        "game-stack.png": two_by_two(observation, ball(observation), scale=5, gap=20),
        "game-crop.png": side_by_side(
            preprocess(breakout_screens),
            preprocess(breakout_screens, crop_scoreboard=True),
            scale=4,
            gap=16,
        ),
        "drq-varied.png": two_by_two(
            varied(observation[-1], 3), ball(observation)[-1:] * 4, scale=5, gap=20
        ),
        "mspacman-frames.png": two_by_two(look(), [GHOST] * 4, scale=5, gap=20),
    }


def main() -> None:
    """Write the figures, or check them."""
    parser = argparse.ArgumentParser(description="Draw the figures that show games.")
    parser.add_argument("--check", action="store_true", help="only compare")
    only_compare = parser.parse_args().check
    stale = []
    for name, figure in draw().items():
        path = FOLDER / name
        bgra = cv2.cvtColor(figure, cv2.COLOR_RGBA2BGRA)
        if not only_compare:
            FOLDER.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(path), bgra, [cv2.IMWRITE_PNG_COMPRESSION, 9])
        # Pixels are compared, not files: another PNG library may pack them differently.
        found = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
        if found is None or not np.array_equal(found, bgra):
            stale.append(str(path))
    if stale:
        sys.exit(f"not what the emulator shows; run python -m figures.game: {stale}")


if __name__ == "__main__":
    main()
