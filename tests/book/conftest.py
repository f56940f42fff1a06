"""What several tests of the book need."""

import pytest

from labml_rl import game
from tests.book.catch import Catch


@pytest.fixture
def catch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small console in place of ALE's. No two of its games begin alike."""
    monkeypatch.setattr(game, "_load", lambda name, sticky, seed: Catch(seed))
    monkeypatch.setattr(game, "SAME_START", frozenset())
