"""The pages of labml_nn on DQN, for tests that compare."""

import importlib
import sys
import types
import warnings

import pytest


@pytest.fixture
def labml_dqn(monkeypatch):
    """They want a package that writes logs, and can do without."""
    labml = types.ModuleType("labml")
    labml.tracker = types.SimpleNamespace(add=lambda *_: None)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "labml", labml)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield importlib.import_module("labml_nn.rl.dqn")
    for name in [each for each in sys.modules if each.startswith("labml_nn.rl.dqn")]:
        del sys.modules[name]
