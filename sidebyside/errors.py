"""
---
title: Errors that say where
summary: One exception for everything that can be wrong, with file, line and remedy.
---

# Errors that say where

Whatever is wrong with a module, its author needs three things: where it happened, what
was found there, and what would be right. Every stage says all three with the exception
on this page.
"""

import re
from collections.abc import Callable
from typing import Never


class PressError(Exception):
    """
    ## A mistake in a source file

    Its text reads like a compiler's message, `file:line: what was found. Remedy.`, so
    that editors and terminals turn the front of it into a link.

    Args:
        path: the file, as the author would name it.
        line: the line in that file, counted from 1.
        found: what was found there, without a final full stop.
        remedy: what would be right, as one sentence.
        column: the column, counted from 1, if it is known.
        at: what is written there, from which the column can be found if it is not
            known.
    """

    def __init__(
        self,
        path: str,
        line: int,
        found: str,
        remedy: str,
        *,
        column: int = 1,
        at: str = "",
    ) -> None:
        stop = "" if found.endswith("?") else "."
        super().__init__(f"{path}:{line}: {found}{stop} {remedy}")
        self.path = path
        self.line = line
        self.found = found
        self.remedy = remedy
        self.column = column
        self.at = at

    def __str__(self) -> str:
        return harmless(super().__str__(), keep="\t\n")

    def in_file(self, path: str) -> "PressError":
        """The same mistake, with another name for its file."""
        return PressError(
            path, self.line, self.found, self.remedy, column=self.column, at=self.at
        )


CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f]")


def harmless(text: str, keep: str = "") -> str:
    """
    A text to be shown in a terminal, to which no control character in it can give an
    order: they are spelled out.

    Args:
        text: what is to be shown.
        keep: those that may stay.
    """
    return CONTROL.sub(
        lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text
    )


def too_deep(path: str) -> PressError:
    """The mistake in a file that exhausts Python's stack: a mistake like any other."""
    found = "something in this file is nested too deeply"
    return PressError(path, 1, found, "Take it apart, or leave the file out.")


Report = Callable[[PressError], None]


def stop(error: PressError) -> Never:
    """
    ## Stop, or go on

    Whatever finds a mistake hands it to a function. This is the usual one: it stops at
    the first mistake. If the function returns instead, the work goes on as well as it
    can: a link that leads nowhere becomes plain words, and a formula that can't be set
    is shown as its source.

    Args:
        error: what was found.
    """
    raise error
