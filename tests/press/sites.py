"""Small sites, built as an author would build them."""

import os
import subprocess
import sys
from pathlib import Path

ENVIRONMENT = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}


def build(
    site: Path, *options: str, strict: bool = True
) -> subprocess.CompletedProcess[str]:
    """What MkDocs says of a site, and whether it is built."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", *["--strict"] * strict, *options],
        cwd=site,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
