"""
---
title: Findings
summary: What a check has found, as a person or a program would read it.
---

# Findings

A finding is like a compiler's message, so that editors can go to the place, and it
always says what would be right.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from sidebyside.errors import harmless
from sidebyside.read import Source


@dataclass(frozen=True, order=True)
class Finding:
    """
    ## A finding

    Args:
        path: the file, as the user named it.
        line: the line, counted from 1.
        column: the column, counted from 1.
        code: the rule.
        message: what was found, as a clause without a full stop.
        remedy: what would be right, as a sentence.
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    remedy: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}:{self.column}"
        text = f"{where}: {self.code} {self.message} ({self.remedy.rstrip('.')})"
        return harmless(text)

    def as_command(self) -> str:
        """The finding as GitHub's Actions want it, to show it beside the line."""
        text = f"{self.message} ({self.remedy.rstrip('.')})"
        text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
        path = on_github(self.path)
        path = path.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        where = f"file={path},line={self.line},col={self.column}"
        return f"::error {where},title={self.code}::{text}"


def on_github(path: str) -> str:
    """
    A file as GitHub looks for it: from the folder of the repository, wherever the
    command was started.
    """
    root = Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    file = Path(path).resolve()
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else path


def found(
    source: Source, line: int, code: str, text: str, remedy: str, *, at: str = ""
) -> Finding:
    """
    A finding, with the column at which something begins in its line.

    Args:
        source: the module.
        line: the line.
        code: the rule.
        text: what was found.
        remedy: what would be right.
        at: the first words of it, which give the column.
    """
    whole = source.lines[line - 1] if line <= len(source.lines) else ""
    column = whole.find(at.partition("\n")[0]) if at else -1
    if column < 0:
        column = len(whole) - len(whole.lstrip(" \t\f"))
    return Finding(source.path, line, column + 1, code, text, remedy)
