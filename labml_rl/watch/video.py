"""
---
title: A film (video)
summary: One game as a video, with what the agent expected and meant to do.
---

# A film (video)

Numbers say how well an agent plays, but only a film shows *how*: that it has dug a
tunnel at the side of the wall, or that it hides in a corner where nothing shoots. This
page records a whole game, as an mp4 that every browser plays. It needs no display, so
it works on a server, too (*headless*). To watch live in a window, put Gymnasium's
`HumanRendering` around a game that was made with `render_mode="rgb_array"`; its
`utils.play` lets you play the game yourself. Each picture of the film is [the game and
what the agent thinks of it](picture.py), and [Ms. Pac-Man](../dqn/mspacman.py) shows
one.
"""

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self, cast

import av
import gymnasium
import numpy as np

from labml_rl.environments import Resumable, has_score, is_atari, no_environment
from labml_rl.game import FRAMES_PER_STEP, Emulator, Game, GameOptions, loader
from labml_rl.runner import staying
from labml_rl.runs.checkpoint import PARTIAL
from labml_rl.runs.experiment import Thoughts
from labml_rl.runs.folder import RunError, writing
from labml_rl.screen import Pixels, in_colour
from labml_rl.watch.agent import Agent, Protocol, Saved
from labml_rl.watch.picture import HEIGHT, WIDTH, Painter, Said
from labml_rl.watch.scores import FILMING, Played, seed_of

SECONDS_SHOWN = 20


class Camera:
    """
    ## The camera

    It sits between game and emulator, and keeps every frame that goes by.

    !!! warning "One frame is not enough"
        Many games [draw an object only in every other frame](../screen.py). A film of
        each step's last frame shows Asteroids without the ship, from beginning to end.

    Args:
        emulator: what is filmed. Everything else is passed on to it.
    """

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self.frames: list[Pixels] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._emulator, name)

    def act(self, action: Any) -> float:
        """One frame."""
        points = self._emulator.act(action)
        self.frames.append(in_colour(self._emulator))
        return points

    def take(self) -> list[Pixels]:
        """The frames since it was last asked."""
        taken, self.frames = self.frames, []
        return taken


class Stage:
    """
    ## What is filmed

    An environment, and what there is to see of it.

    Args:
        saved: whose game it is.
        protocol: how it is played.
        all_frames: whether to show all frames of a step, or one picture that combines
            the last two of them.

    Raises:
        ValueError: if there is no such environment, or if it can't be filmed.
        DependencyNotInstalled: if it draws with a package that is not there.
    """

    def __init__(self, saved: Saved, protocol: Protocol, *, all_frames: bool) -> None:
        name, options = saved.settings.game, saved.game_options(protocol)
        seed = seed_of(protocol, FILMING)
        self._camera: Camera | None = None
        self._name, self._all_frames = name, all_frames
        self.env: gymnasium.Env[Any, Any]
        if is_atari(name):
            chosen = GameOptions(render_mode="rgb_array", **options)
            load = loader(name, chosen)
            game = Game(partial(self._film, load), chosen, seed)
            self.env, self.actions = game, tuple(game.get_action_meanings())
            self.steps_per_second = 60 // FRAMES_PER_STEP
            self.rate = 60 if all_frames else self.steps_per_second
        else:
            try:
                made = gymnasium.make(name, render_mode="rgb_array", **options)
            except gymnasium.error.DependencyNotInstalled:
                raise
            except (gymnasium.error.Error, ImportError) as error:
                raise ValueError(no_environment(name, error)) from error
            except TypeError as error:
                raise ValueError(f"{name} can't be filmed: {error}") from error
            if "rgb_array" not in (made.metadata.get("render_modes") or ()):
                made.close()
                raise ValueError(
                    f"{name} can't be filmed: its metadata has no 'rgb_array' among "
                    "the render_modes"
                )
            self.env = Resumable(made, seed=seed)
            count = int(getattr(made.action_space, "n", 0))
            self.actions = tuple(f"action {each}" for each in range(count))
            self.rate = max(1, int(made.metadata.get("render_fps") or 30))
            self.steps_per_second = self.rate

    def _film(self, load: Callable[[int], Emulator], seed: int) -> Emulator:
        self._camera = Camera(load(seed))
        return cast(Emulator, self._camera)

    def begin(self) -> Any:
        """
        Returns:
            The first observation. What came before it is not shown.
        """
        observation, _ = self.env.reset()
        if self._camera is not None:
            self._camera.take()
        return observation

    def step(self, action: int) -> tuple[Any, float, bool, Played | None]:
        """
        Returns:
            The next observation, the points, whether an episode ended, and the game, if
            that ended, too.
        """
        observation, reward, terminated, truncated, info = self.env.step(action)
        ended = terminated or truncated
        if ended and not has_score(info):
            # A life was lost, and the game goes on.
            observation, info = self.env.reset()
        game = None
        if has_score(info):
            score, capped = info["episode"], bool(info.get("cut_off", False))
            game = Played(score["r"], score["l"], capped)
        return observation, float(reward), ended, game

    def pictures(self) -> list[Pixels]:
        """
        Returns:
            What there was to see in the last step, shapes `(height, width, 3)`.

        Raises:
            ValueError: if an environment shows something other than a picture.
        """
        frames = [] if self._camera is None else self._camera.take()
        if not frames:
            return [self._rendered()]
        if self._all_frames:
            return frames
        return [np.max(frames[-2:], axis=0)]

    def _rendered(self) -> Pixels:
        picture = np.asarray(self.env.render())
        # Colours from 0 to 1 would become a black film.
        is_picture = picture.shape[2:] == (3,) and picture.size > 0
        if picture.dtype.kind not in "ui" or not is_picture:
            raise ValueError(
                f"{self._name} can't be filmed: its render() must return uint8 of "
                f"shape (height, width, 3), and this is {picture.dtype} of shape "
                f"{picture.shape}"
            )
        return picture.astype(np.uint8, copy=False)


class Video:
    """
    ## The file

    H.264, which every browser plays. It gets its name when it is complete.

    Args:
        path: where to write it.
        rate: pictures a second.

    Raises:
        RunError: if it can't be written.
    """

    def __init__(self, path: Path, rate: int) -> None:
        self._path, self._partial = path, path.with_name(path.name + PARTIAL)
        with writing(path):
            # The folder may be a stranger's, and a link of this name could lead
            # anywhere.
            self._partial.unlink(missing_ok=True)
            self._file = av.open(
                self._partial,
                "w",
                format="mp4",
                # With its table of contents in front, it plays while it is loading.
                options={"movflags": "+faststart"},
            )
        try:
            self._stream = self._file.add_stream("libx264", rate)
        except av.codec.codec.UnknownCodecError as error:
            self._file.close()
            raise RunError(
                "the PyAV that is installed can't write H.264: it was built without "
                "libx264. The one that pip installs can (pip install --force-reinstall "
                "av)"
            ) from error
        self._stream.width, self._stream.height = WIDTH, HEIGHT
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "20", "preset": "veryfast"}

    def add(self, picture: Pixels) -> None:
        """One more."""
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        with writing(self._path):
            self._file.mux(self._stream.encode(frame))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                with writing(self._path):
                    self._file.mux(self._stream.encode(None))
                    self._file.close()
                    os.replace(self._partial, self._path)
        finally:
            with contextlib.suppress(OSError):
                self._file.close()
            with contextlib.suppress(OSError):
                self._partial.unlink()


def film(
    saved: Saved,
    protocol: Protocol,
    path: str | Path,
    *,
    all_frames: bool = False,
    device: str = "auto",
) -> Played:
    """
    ## A game on film

    Args:
        saved: the agent.
        protocol: how it plays.
        path: of the video.
        all_frames: show all 60 frames a second of an Atari game, instead of 15
            pictures.
        device: see [Agent][labml_rl.watch.agent.Agent].

    Returns:
        The game. It is not one of those that are measured with the same seed.

    Raises:
        RunError: if the video can't be written.
        ValueError: if that can't be played, or can't be filmed.
        CheckpointError: if the network does not fit the game.
        NotFiniteError: if what the network says is not finite.
        DependencyNotInstalled: if the environment draws with a package, such as pygame,
            that is not there.
        RuntimeError: if the environment calls `sys.exit`.
    """
    # An environment may change the folder that a relative path starts from.
    path = Path(path).absolute()
    painter: Painter | None = None
    score, game = 0.0, None
    with staying(saved.settings.game), contextlib.ExitStack() as stack:
        stage = Stage(saved, protocol, all_frames=all_frames)
        env = stack.enter_context(contextlib.closing(stage.env))
        spaces = env.observation_space, env.action_space
        agent = Agent(saved, *spaces, protocol, device, purpose=FILMING)
        video = stack.enter_context(Video(path, stage.rate))
        observation = stage.begin()
        while game is None:
            seen = np.asarray(observation, env.observation_space.dtype)
            actions, thoughts = agent.act(seen[None])
            action = int(actions[0])
            observation, points, ended, game = stage.step(action)
            agent.forget(np.array([ended]))
            score += points
            if painter is None:
                painter = Painter(
                    saved.settings.game,
                    f"{saved.name}.\n{saved.how_it_decides(protocol)}.",
                    stage.actions,
                    value_is=saved.value_is,
                    bars_are_values=thoughts.action_values is not None,
                    steps_shown=SECONDS_SHOWN * stage.steps_per_second,
                )
            bars = thoughts.probabilities
            if thoughts.action_values is not None:
                bars = thoughts.action_values
            said = Said(
                score=score,
                points=points,
                value=float(thoughts.values[0]),
                bars=tuple(bars[0].tolist()),
                action=action,
                **outlook(thoughts),
            )
            panel = painter.panel(said)
            for screen in stage.pictures():
                video.add(painter.place(panel, screen))
    return game


def outlook(thoughts: Thoughts) -> dict[str, tuple[float, ...]]:
    """
    Returns:
        What [Said][] has of returns and of how likely each is, if the agent says that.
    """
    if thoughts.atoms is None or thoughts.chances is None:
        return {}
    return {
        "returns": tuple(thoughts.atoms.tolist()),
        "chances": tuple(thoughts.chances[0].tolist()),
    }
