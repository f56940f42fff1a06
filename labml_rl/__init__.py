"""
---
title: Deep reinforcement learning on Atari
summary: A book whose every page is a Python module that runs.
---

# Deep reinforcement learning on Atari
"""
