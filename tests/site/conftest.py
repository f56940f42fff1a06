"""The site as built, and a browser to look at it with."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    expect,
)

from benchmarks.browser import CHROMIUM, chromium, web_server
from tests.press.sites import build

ROOT = Path(__file__).parents[2]
# How long to wait for what should happen at once, in milliseconds: for a slow machine.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, built strictly, and once for all workers of pytest."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "site"
    with open(shared / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            done = build(ROOT, "--site-dir", str(shared / "site.part"))
            assert done.returncode == 0, done.stderr
            (shared / "site.part").rename(folder)
    return folder


@pytest.fixture(scope="session")
def server(site: Path) -> Iterator[str]:
    """The address of a web server that serves the site."""
    with web_server(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        if os.environ.get("REQUIRE_BROWSER"):
            pytest.fail("there is no Chromium in the PATH, and REQUIRE_BROWSER is set")
        pytest.skip("there is no Chromium in the PATH")
    with chromium() as browser:
        yield browser


@dataclass
class Visit:
    """A page that is open, and what went wrong while it was."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert not self.complaints, "\n".join(self.complaints)


@contextlib.contextmanager
def visit(browser: Browser, url: str, **options: Any) -> Iterator[Visit]:
    """Open a page. Console errors and requests to other hosts count as failures."""
    context: BrowserContext = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    visited = Visit(page)
    home = url.split("/")[2] if url.startswith("http") else ""

    def complain(words):
        visited.complaints.append(f"{page.url}: {words}")

    def on_request(request):
        scheme, _, rest = request.url.partition(":")
        if scheme in ("http", "https") and rest.split("/")[2] != home:
            complain(f"asks another host: {request.url}")

    def on_console(message):
        if message.type in ("error", "warning"):
            complain(f"console: {message.text}")

    def on_failure(request):
        # Whoever leaves a page aborts what it was still loading.
        if request.failure != "net::ERR_ABORTED":
            complain(f"failed: {request.url}: {request.failure}")

    context.on("request", on_request)
    context.on("console", on_console)
    context.on("weberror", lambda e: complain(f"script: {e.error}"))
    page.on("requestfailed", on_failure)
    try:
        page.goto(url)
        yield visited
        visited.check()
    finally:
        context.close()
