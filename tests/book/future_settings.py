"""Settings in a module whose types are kept as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from labml_rl import runs


@dataclass(frozen=True, kw_only=True)
class FutureSettings(runs.Settings):
    """Two of its own."""

    rate: float = 0.5
    how: Literal["slow", "fast"] = "slow"
