"""Small sites, built as an author would build them."""

import os
import subprocess
import sys
from pathlib import Path


def build(
    site: Path, *options: str, strict: bool = True
) -> subprocess.CompletedProcess[str]:
    """What MkDocs says of a site, and whether it is built."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *["--strict"] * strict, *options],
        cwd=site,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
