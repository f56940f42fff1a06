"""
---
title: Runs
summary: Training that is recorded, can be killed at any moment, and goes on the same.
---

# Runs
"""

from labml_rl.runs.experiment import Experiment, NotFiniteError, Settings, Thoughts

__all__ = ["Experiment", "NotFiniteError", "Settings", "Thoughts"]
