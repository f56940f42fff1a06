"""A small experiment on CartPole, as a program of its own: it learns in a second."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from labml_rl import runs
from labml_rl.batch import Games
from labml_rl.environments import frames_per_step, scores_of
from labml_rl.networks import ActorCritic

HELD = 20  # the update in which a run can be held


@dataclass(frozen=True, kw_only=True)
class Settings(runs.Settings):
    """
    ## Settings

    Those of a [small](tiny.py) experiment.

    Args:
        steps: how many a round has, see [Tiny][] and `num_envs`.
        spoil_at: after so many updates, a weight becomes NaN; or, if negative, the
            loss does.
        hold: in update 20, wait until there is a file of this name.
    """

    game: str = "CartPole-v1"
    total_frames: int = 640
    num_envs: int = 2
    workers: int | None = 0
    steps: int = 4
    spoil_at: int | None = None
    hold: str = ""


class Tiny(runs.Experiment[Settings]):
    """REINFORCE of a kind, with all the state that a real one has."""

    algorithm = "tiny"
    settings_class = Settings
    games: Games

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.games = self.make_games(copy=False)
        self.network = self.make_network(
            settings,
            self.games.single_observation_space,
            self.games.single_action_space,
        ).to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.observations = self.games.reset()[0].copy()

    @staticmethod
    def make_network(settings: Any, observation_space: Any, action_space: Any) -> Any:
        return ActorCritic(observation_space.shape, action_space.n)

    @staticmethod
    def think(network: Any, observations: Tensor) -> runs.Thoughts:
        logits, values = network(observations)
        return runs.Thoughts(logits.softmax(-1), values)

    def update(self) -> dict[str, float]:
        losses = []
        for _ in range(self.settings.steps):
            logits, values = self.network(torch.from_numpy(self.observations))
            actions = torch.multinomial(logits.softmax(-1), 1, generator=self.generator)
            after, rewards, *_, infos = self.games.step(actions[:, 0].numpy())
            self.observations = after.copy()
            self.scores += scores_of(infos)
            # From the global dice, as dropout would draw.
            noise = torch.rand(len(rewards))
            advantages = torch.from_numpy(rewards.astype(np.float32)) - noise
            log_probs = logits.log_softmax(-1).gather(1, actions)[:, 0]
            losses.append(
                (values - noise).square().mean() - (log_probs * advantages).mean()
            )
            self.frames += len(rewards) * frames_per_step(self.settings.game)
        loss = torch.stack(losses).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        metrics = {"loss": loss.item(), "round": float(self.updates)}
        return self.spoilt(metrics)

    def spoilt(self, metrics: dict[str, float]) -> dict[str, float]:
        spoil_at, hold = self.settings.spoil_at, self.settings.hold
        if spoil_at is not None and self.updates + 1 == abs(spoil_at):
            if spoil_at < 0:
                metrics["loss"] = float("nan")
            else:
                nn.init.constant_(next(self.network.parameters()), float("nan"))
        while hold and self.updates + 1 == HELD and not Path(hold).exists():
            time.sleep(0.01)
        return metrics

    def set_state(self, state: runs.State) -> Any:
        self.observations = super().set_state(state).copy()
        return self.observations


if __name__ == "__main__":
    runs.main(Tiny)
