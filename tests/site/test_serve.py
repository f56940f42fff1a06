"""Live reload: a saved module is seen at once, a mistake is shown and forgiven."""

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from tests.press.sites import environment
from tests.site.conftest import ROOT, visit


@pytest.fixture
def project(tmp_path):
    """A copy of the project, in which files may be changed."""
    left_out = (".*", "build", "runs", "site", "tests", "__pycache__")
    return shutil.copytree(
        ROOT, tmp_path / "project", ignore=shutil.ignore_patterns(*left_out)
    )


@pytest.fixture
def address(project):
    """The address at which that copy is served."""
    server, log, port = started(project)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0, log.read_text()


def started(project):
    """A server at a free port, which somebody else may take before it is bound."""
    log = project / "log.txt"
    deadline = time.monotonic() + 240
    while True:
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        with log.open("w") as out:
            server = subprocess.Popen(
                [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
                cwd=project,
                env=environment(),
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        while server.poll() is None and "Serving on" not in log.read_text():
            if time.monotonic() > deadline:
                server.kill()
                pytest.fail(log.read_text())
            time.sleep(0.1)
        if server.poll() is None:
            return server, log, port
        assert "Address already in use" in log.read_text(), log.read_text()


@pytest.mark.timeout(900)
def test_saving_a_module_updates_its_open_page(browser, project, address):
    module = project / "labml_rl" / "worker.py"
    good = module.read_text(encoding="utf-8")
    with visit(browser, f"{address}/labml_rl/worker.html") as seen:
        page = seen.page
        module.write_text(good + "\n# A wombat has been added.\nx = 1\n")
        expect(page.get_by_text("A wombat has been added.")).to_be_visible()

        # A mistake is shown with its line, where the author is looking.
        module.write_text(good + "\nx = (\n")
        line = (good + "\nx = (").count("\n") + 1
        expect(page.get_by_text(f"Line {line}: this is not Python")).to_be_visible()

        # Once it is mended the page is back.
        module.write_text(good + "\n# An echidna, too.\nx = 1\n")
        expect(page.get_by_text("An echidna, too.")).to_be_visible()
        seen.complaints = [c for c in seen.complaints if "livereload" not in c]
