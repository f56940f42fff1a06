#!/usr/bin/env python
# A licence above the docstring stays with the code.
r"""
---
title: Every convention
summary: One module that uses each convention of annotated Python once.
---

# Every convention

Prose with $\gamma_t$ and a list:
1. first
2. second
   - nested

A display, with characters that Markdown would eat:

$$G_t = r_t + \gamma \, G_{t+1}$$
"""

import math

# ## A heading in a comment
#
# Two paragraphs, because of
# the bare `#` between them.
LIMIT = 4  # a trailing comment stays in the code

# The first of two blocks has prose and no code.

# The second has both.
TABLE = {
    # A comment inside a literal.
    "a": 1,
    # Another one.
    "b": [
        # And one inside a literal inside a literal.
        2,
    ],
}
#
plain = "# this is not a comment, and $5 is not a formula"


# Above a decorated function, a block joins its docstring.
@staticmethod
def decorated(
    x: int,
    # A comment inside a signature stays in the code.
    *rest: float,
    scale: "float | None" = None,
) -> list[float]:
    r"""
    The docstring of `decorated`, beside the whole signature.

    Args:
        x: the number, a backslash $\theta$ kept.
        rest: more numbers,
            on two lines.
        scale: unused.

    Returns:
        What came in.

    Raises:
        ValueError: never.
    """
    first = [x, *rest]

    # A comment in a body.
    return math.fsum(
        # A comment inside a call.
        first
    )


after = "code behind a function does not belong to the function"


class Outer(dict):
    """## The class

    With a link to [Outer.method][], one to [itself][Outer] and [the function][decorated].
    """

    field: int = 0

    def undocumented(self): return self.field

    # Above an undecorated function, a block joins it too.
    async def method(self):
        "A docstring in single quotes."
        def inner():
            """Inside a function."""
            if self.field:
                # Deep inside.
                return 1
            else:
                # In the other branch.
                return 2
            # Still inside, behind the last statement.

        return inner()

    # At the end of the class.


class Stubs:
    """Definitions that fit on one line stay beside the prose of their class."""

    def one(self): ...
    def two(self): ...

    x = 1

    # Interrupted.
    def three(self): ...
    def four(self): ...


# Behind the class.
if True:
    def conditional(): """Shares its line with code, so it is code."""
    # noqa: this speaks to a tool

# The end.
