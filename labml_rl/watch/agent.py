"""
---
title: A trained agent
summary: The network of a run, and how what it says becomes an action.
---

# A trained agent

After training, all that is left of an agent is a folder. This page makes an agent
out of it again: it builds the network as it was built then, gives it its weights, and
lets it act. In your own program, a game of Breakout by the agent that comes with the
book looks like this:

```python
import numpy as np
from labml_rl.game import make_game
from labml_rl.ppo.experiment import Experiment
from labml_rl.watch.agent import Agent, Protocol, Saved

protocol = Protocol()
run = "results/runs/ppo/breakout/seed-1"
saved = Saved.of(run, Experiment)
game = make_game("Breakout", seed=1,
                 **saved.game_options(protocol))
agent = Agent(saved, game.observation_space,
              game.action_space, protocol)

observation, info = game.reset()
while "episode" not in info:
    actions, thoughts = agent.act(observation[None])
    observation, _, *ends, info = game.step(actions[0])
    agent.forget(np.array([any(ends)]))
    if any(ends) and "episode" not in info:
        # The next life of the same game.
        observation, info = game.reset()
info["episode"]["r"]  # its points
```

An episode may be one life of several. The game is over when `info` has its score.

To use the network in a program without this book, export it:

```python
import torch

shown = torch.from_numpy(observation[None])
program = torch.export.export(agent.network, (shown,))
torch.export.save(program, "breakout.pt2")
```

There, `torch.export.load("breakout.pt2").module()` is the network. It says the same of
an observation, logits and a value, as long as the pictures are [made in the same
way](../game.py).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from labml_rl.environments import is_atari
from labml_rl.game import GameOptions, shortest_cap
from labml_rl.runs import checkpoint
from labml_rl.runs.experiment import (
    Experiment,
    NotFiniteError,
    Settings,
    Thoughts,
    find_device,
    require,
)
from labml_rl.runs.folder import RunError, RunFolder
from labml_rl.runs.record import (
    check_algorithm,
    check_origin,
    origin,
    settings_of,
)


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """
    ## The protocol

    How the agent plays when it counts. Anything not said here is [as in
    training](__init__.py).

    Args:
        greedy: take the likeliest action, instead of drawing one from the policy; or
            with DQN and PQN, always the best one.
        epsilon: with this probability, take any action instead, so that the agent can't
            get stuck. None means the usual one: 0.05 for DQN, 0.001 for DrQ and PQN,
            unless they are to be greedy, and 0 for those that draw their actions.
        sticky_actions: with this probability an Atari game ignores an action and
            repeats the one before. None means as in training.
        serve: press the button for the agent after each lost life, if that was done in
            its training. Otherwise the agent has to do so itself.
        noop_max: each Atari game begins with 1 to this many frames without an action,
            so that they don't all begin alike; 0 means none.
        frames_cap: an Atari game is cut off after this many frames. None means 108,000,
            half an hour of play. For other environments it is a number of steps, and
            None leaves it to them.
        seed: decides everything random, and has nothing to do with the run's.
    """

    greedy: bool = False
    epsilon: float | None = None
    sticky_actions: float | None = None
    serve: bool = True
    noop_max: int = 30
    frames_cap: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require(self, "epsilon", "sticky_actions", at_least=0, at_most=1)
        require(self, "frames_cap", at_least=1)
        require(self, "noop_max", "seed", at_least=0)


@dataclass(frozen=True)
class Saved:
    """
    ## What a run has saved

    Args:
        experiment_class: that of its algorithm.
        settings: those it was run with.
        weights: of its network.
        frames: how many the run had had.
    """

    experiment_class: type[Experiment[Any]]
    settings: Settings
    weights: dict[str, torch.Tensor]
    frames: int

    @staticmethod
    def of(
        path: str | Path,
        experiment_class: type[Experiment[Any]],
        *,
        best: bool = False,
    ) -> "Saved":
        """
        A run can be watched while it goes on: checkpoints are always whole.

        Args:
            path: the folder of the run.
            experiment_class: that of its algorithm.
            best: the [best so far](best.py), instead of the last.

        Raises:
            RunError: if there is no such run, or if `best` is asked for and the run has
                kept none.
            CheckpointError: if its checkpoint is gone, or can't be read.
        """
        folder = RunFolder(path)
        record = folder.read_record()
        check_algorithm(path, record, experiment_class.algorithm)
        settings = settings_of(record, experiment_class.settings_class)
        file = folder.best if best else folder.checkpoint
        if best and not file.exists():
            raise RunError(
                f"{path} has no best agent, or none any more: its "
                f"evaluate_every_frames is {settings.evaluate_every_frames:,}, and it "
                f"has had {record['frames']:,} frames"
            )
        if record["finished"] and not file.exists():
            raise checkpoint.CheckpointError(
                f"there is no {file} any more; this trains the agent anew: "
                f"{record['command']}"
            )
        state = checkpoint.load(file, only=("network", "frames", "of"))
        check_origin(file, state, origin(experiment_class.algorithm, settings))
        if not {"network", "frames"} <= state.keys():
            raise checkpoint.CheckpointError(f"{file} has no network in it")
        return Saved(experiment_class, settings, state["network"], state["frames"])

    @property
    def name(self) -> str:
        """Who plays."""
        return f"{self.experiment_class.algorithm.upper()} after {self.frames:,} frames"

    @property
    def value_is(self) -> str:
        """
        A value counts what the agent was paid in its training, which need not be
        points.
        """
        clipped = is_atari(self.settings.game) and getattr(
            self.settings, "clip_rewards", False
        )
        return f"the return that it expects{', of clipped rewards' if clipped else ''}"

    def epsilon(self, protocol: Protocol) -> float:
        """
        Args:
            protocol: how it is to be played.

        Returns:
            The probability with which it takes any action.
        """
        if protocol.epsilon is not None:
            return protocol.epsilon
        usual = self.experiment_class.evaluation_epsilon or 0.0
        return 0.0 if protocol.greedy else usual

    def how_it_decides(self, protocol: Protocol) -> str:
        """In words."""
        decides = "Actions are drawn from its policy"
        if self.experiment_class.evaluation_epsilon is not None:
            decides = "It takes the best action"
        elif protocol.greedy:
            decides = "It takes the likeliest action"
        if epsilon := self.epsilon(protocol):
            decides += f", and any with probability {epsilon:g}"
        return decides

    def game_options(self, protocol: Protocol) -> dict[str, Any]:
        """
        Args:
            protocol: how it is to be played.

        Returns:
            The options of the games: those that change the game itself are as in
            training, all others as the protocol says.

        Raises:
            ValueError: if it can't be played like this.
        """
        options = dict(self.experiment_class.game_options(self.settings))
        cap, sticky = protocol.frames_cap, protocol.sticky_actions
        if not is_atari(self.settings.game):
            if sticky is not None:
                raise ValueError(
                    f"sticky_actions is for Atari games, and {self.settings.game} is "
                    "none"
                )
            check_registered(self.settings.game)
            return options | ({} if cap is None else {"max_episode_steps": cap})
        cap = GameOptions.max_frames if cap is None else cap
        if sticky is not None:
            options["sticky_actions"] = sticky
        least = shortest_cap(protocol.noop_max)
        if cap < least:
            raise ValueError(
                f"frames_cap must be at least {least} with a noop_max of "
                f"{protocol.noop_max}, not {cap}"
            )
        return options | {
            "clip_rewards": False,
            # Scores are those of whole games, with or without this. It only says
            # whether the button is pressed after a lost life, as in training.
            "episodic_life": protocol.serve
            and getattr(self.settings, "episodic_life", GameOptions.episodic_life),
            "noop_max": protocol.noop_max,
            "max_frames": cap,
        }

    def described(self, protocol: Protocol) -> str:
        """
        Returns:
            Who plays what, and how. It belongs beside every score.
        """
        return f"{self.settings.game}, {self.name}. {self.conditions(protocol)}"

    def conditions(self, protocol: Protocol) -> str:
        """
        Returns:
            The protocol in words.
        """
        options = self.game_options(protocol)
        said = [self.how_it_decides(protocol)]
        if is_atari(self.settings.game):
            noops = f"1 to {protocol.noop_max}" if protocol.noop_max else "No"
            sticky = "No sticky actions"
            if probability := options.get("sticky_actions"):
                sticky = f"Sticky actions with probability {probability:g}"
            said += ["Whole games, raw points", f"{noops} no-ops", sticky]
            if options.get("full_action_space"):
                said.append("All 18 actions")
            button = "pressed" if options["episodic_life"] else "not pressed"
            said += [
                f"The button is {button} for the agent after a lost life",
                f"At most {options['max_frames']:,} frames a game",
            ]
        else:
            said.append("Whole episodes, sums of rewards")
            if protocol.frames_cap is not None:
                said.append(f"At most {protocol.frames_cap:,} steps")
        said.append(f"Seed {protocol.seed}")
        return " ".join(f"{each}." for each in said)


def check_registered(name: str) -> None:
    """
    ### An environment of your own

    Gymnasium knows of it only after some code has registered it. If that code is in the
    program that trained, no other program finds it.

    Args:
        name: of an environment that is not an Atari game.

    Raises:
        ValueError: if there is no such environment; the message has a remedy.
    """
    if ":" in name:
        return
    try:
        gymnasium.spec(name)
    except (gymnasium.error.NameNotFound, gymnasium.error.NamespaceNotFound) as error:
        raise ValueError(
            f"no environment {name!r} here: {error} If your own program registers it, "
            f"let a module do so, and train in module:{name}, which is found everywhere"
        ) from error
    except gymnasium.error.Error:
        return


class Agent:
    """
    ## The agent

    Args:
        saved: what its run has saved.
        observation_space: that of one game.
        action_space: the same.
        protocol: how it decides.
        device: where the network is to be: `cpu`, `cuda`, or `auto` for a GPU if there
            is one.
        purpose: [what it plays for][labml_rl.watch.scores.seed_of]. Many games have
            only a few beginnings. With the same dice, a game that is filmed could be
            one that was measured.

    Raises:
        CheckpointError: if the weights are those of another network.
        ValueError: if there is no such device.
    """

    def __init__(
        self,
        saved: Saved,
        observation_space: gymnasium.Space[Any],
        action_space: gymnasium.Space[Any],
        protocol: Protocol,
        device: str = "auto",
        *,
        purpose: int = 0,
    ) -> None:
        self._think = saved.experiment_class.think
        self._greedy, self._epsilon = protocol.greedy, saved.epsilon(protocol)
        self.device = find_device(device)
        self.network: nn.Module = saved.experiment_class.make_network(
            saved.settings, observation_space, action_space
        )
        checkpoint.load_weights(self.network, saved.weights)
        self.network.to(self.device).eval()
        self._notes: list[torch.Tensor] = []
        self._dice = np.random.default_rng([protocol.seed, 1, purpose])

    @torch.no_grad()
    def act(self, observations: Any) -> tuple[NDArray[np.int64], Thoughts]:
        """
        Args:
            observations: shape `(N, …)`.

        Returns:
            An action for each, shape `(N,)`, and what the network said, in main memory.

        Raises:
            NotFiniteError: if that is not finite.
        """
        seen = torch.from_numpy(np.asarray(observations)).to(self.device)
        said = vars(self._think(self.network, seen, *self._notes))
        self._notes = [] if said["memories"] is None else [said["memories"]]
        here: dict[str, Any] = {
            name: None if each is None else each.float().cpu()
            for name, each in said.items()
        }
        thoughts = Thoughts(**here)
        chances = thoughts.probabilities.double().numpy()  # (N, A)
        # With NaN it would always take the first action, and get a score for that.
        if not (np.isfinite(chances).all() and thoughts.values.isfinite().all()):
            raise NotFiniteError(
                "what the network says is not finite: look whether all observations are"
            )
        if self._greedy:
            actions = chances.argmax(1)
        else:
            # Each action has a share of the line from 0 to 1. A random number falls
            # into one of these shares, and draws that action.
            ends = chances.cumsum(1) / chances.sum(1, keepdims=True)
            actions = (self._dice.random((len(chances), 1)) >= ends[:, :-1]).sum(1)
        anything = self._dice.integers(chances.shape[1], size=len(chances))
        instead = self._dice.random(len(chances)) < self._epsilon
        return np.where(instead, anything, actions), thoughts

    def forget(self, ended: NDArray[np.bool_]) -> None:
        """
        ### When an episode ends

        What the agent [remembers](../ppo/remembering.py) of it, if anything, is wiped
        out, as in its training.

        Args:
            ended: in which of the games one has ended, shape `(N,)`.
        """
        rows = torch.from_numpy(ended).to(self.device)[:, None]
        self._notes = [notes.masked_fill(rows, 0.0) for notes in self._notes]
