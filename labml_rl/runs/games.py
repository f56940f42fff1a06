"""
---
title: Settings of Atari games
summary: What an agent meets in a game, and how much of that holds when it is measured.
---

# Settings of Atari games

Some things about a game can be chosen, and all the algorithms in the book offer the
same choices. There are two kinds:

- What **the game** is: which actions there are, and whether they are always obeyed. An
  agent that learned in such a game is watched and measured in it, too.
- What helps **to learn** it: what counts as a reward, and where an episode ends. These
  do not hold when an agent is measured: [scores](../watch/scores.py) are the raw points
  of whole games.

Other Gymnasium environments, such as CartPole, have none of these.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

from labml_rl.batch import Games
from labml_rl.environments import is_atari
from labml_rl.runs.experiment import Experiment, Settings, require


@dataclass(frozen=True, kw_only=True)
class GameSettings(Settings):
    """
    ## Settings

    Args:
        clip_rewards: learn from the sign of a reward alone, in Atari games. Scores are
            raw in any case.
        episodic_life: in Atari games, each lost life ends an episode. Scores are of
            whole games in any case.
        sticky_actions: the probability that an Atari game ignores an action and repeats
            the one before.
        full_action_space: give the agent all 18 actions in every Atari game, not only
            those that do something in it.
    """

    clip_rewards: bool = True
    episodic_life: bool = True
    sticky_actions: float = 0.0
    full_action_space: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "sticky_actions", at_least=0, at_most=1)


S = TypeVar("S", bound=GameSettings)


class GameExperiment(Experiment[S]):
    """
    ## An experiment with these

    Args:
        settings: of the algorithm.
    """

    @staticmethod
    def game_options(settings: GameSettings) -> dict[str, Any]:
        """
        ### For training and after

        Args:
            settings: of an algorithm.

        Returns:
            Options for [make_environments][labml_rl.environments.make_environments]
            that hold when the agent is watched, too.

        Raises:
            ValueError: if there are any for a game that is not an Atari game.
        """
        options = {
            "sticky_actions": settings.sticky_actions,
            "full_action_space": settings.full_action_space,
        }
        if is_atari(settings.game):
            return options
        for name, value in options.items():
            if value:
                raise ValueError(
                    f"{name} is for Atari games, and {settings.game} is none: "
                    f"make it {type(value)()}"
                )
        return {}

    @staticmethod
    def training_options(settings: GameSettings) -> dict[str, Any]:
        """
        ### For training only

        Args:
            settings: of an algorithm.

        Returns:
            Options for [make_environments][labml_rl.environments.make_environments]
            that do not hold when the agent is watched.
        """
        if not is_atari(settings.game):
            return {}
        return {
            "clip_rewards": settings.clip_rewards,
            "episodic_life": settings.episodic_life,
        }

    def make_games(self, **options: Any) -> Games:
        """
        Args:
            options: more of them, for training only.

        Returns:
            As many games as the settings say, for training.
        """
        return super().make_games(**self.training_options(self.settings), **options)
