"""Small sites, built as an author would build them."""

import os
import subprocess
import sys
import zlib
from base64 import b64decode
from pathlib import Path

# A package of two modules, and the options of its site.
CONFIG = """
site_name: Small
use_directory_urls: false
theme: {name: material, font: false}
plugins:
  - search
  - sidebyside:
      packages: [book]
validation: {links: {anchors: warn}}
nav: [index.md, book/index.md, book/game.md]
"""
MODULES = {
    "__init__.py": '"""# The book\n\nStart with [the game][book.game].\n"""\n',
    "game.py": (
        '"""\n---\ntitle: The game\nsummary: About $x$.\n---\n\n# The game\n"""\n\n\n'
        "class Game:\n"
        '    """## One *game*\n\n    With [Game.step][] and $g_t$.\n    """\n\n'
        "    def step(self):\n"
        "        # A phrase about marsupials.\n"
        "        return '<b>' & \"$\"\n"
    ),
}
# With this replaced, each module has a page of the reference as well.
REFERENCE = (
    "[book]\n",
    "[book]\n      reference: ref/{module}.md\n  - mkdocstrings: {handlers: {python: "
    "{options: {extensions: [{sidebyside.reference: {page: 'ref/{module}.md'}}]}}}}\n",
)
# A picture of one pixel.
DOT = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def environment() -> dict[str, str]:
    """As it is now: where tests are recorded, a variable says which one this is."""
    return {**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}


def listed(*lines: str) -> bytes:
    """An `objects.inv`."""
    head = b"# Sphinx inventory version 2\n# Project: P\n# Version: 1\n# zlib\n"
    return head + zlib.compress("".join(f"{line}\n" for line in lines).encode())


def build(
    site: Path, *options: str, strict: bool = True
) -> subprocess.CompletedProcess[str]:
    """What MkDocs says of a site, and whether it is built."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *["--strict"] * strict, *options],
        cwd=site,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
