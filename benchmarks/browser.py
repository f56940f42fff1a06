"""What the browsers of readers and authors see: weight, stillness, the saved page."""

import contextlib
import functools
import gzip
import http.server
import random
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Response, sync_playwright

from benchmarks.material import Site

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]
# Sums up what the browser calls layout shifts, from the first frame on.
SHIFTS = """
window.shift = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries())
    if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});
"""
# Checks at every frame whether the new text is on the page, and says when it is.
LOOK = """
(() => {
  const look = () => {
    const body = document.querySelector(".md-content");
    const found = body?.textContent.match(/Wombat (\\d+)/);
    // The next one will be on another page, and to look on would keep a core busy.
    if (found) window.seen(found[1], performance.timeOrigin + performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            timeout=120_000, executable_path=CHROMIUM, args=ARGUMENTS, headless=True
        )
        yield browser
        browser.close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """A web server that does not talk."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """The address at which the files of a folder are served."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def first_visit(
    browser: Browser, address: str, page: str
) -> tuple[dict[str, int], float]:
    """
    Visit a page with an empty cache.

    Returns:
        The compressed size of everything that it loads, by path, and the sum of its
        shifts.
    """
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(SHIFTS)
    tab = context.new_page()
    responses: list[Response] = []
    # Playwright sets an attribute of its handlers, which a built-in can't have.
    tab.on("response", lambda response: responses.append(response))  # noqa: PLW0108
    tab.goto(f"{address}/{page}", wait_until="networkidle")
    # By now nothing has arrived for half a second. Fonts need a moment to be drawn.
    tab.wait_for_timeout(300)
    shift = float(tab.evaluate("window.shift"))
    sizes = {
        urlsplit(response.url).path: compressed(response.body())
        for response in responses
        if response.url.startswith("http")
    }
    context.close()
    return sizes, shift


def compressed(body: bytes) -> int:
    """The size that a web server would send. Fonts and pictures don't get smaller."""
    return min(len(body), len(gzip.compress(body, 6)))


@contextlib.contextmanager
def serving(site: Site) -> Iterator[str]:
    """The address at which `make serve` would serve a site."""
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    log = site.folder / "serve.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            site.command("serve", "--livereload", "-a", f"127.0.0.1:{port}"),
            cwd=site.folder,
            stdout=out,
            stderr=subprocess.STDOUT,
            # Where a shell has started the benchmark in the background, it is deaf to
            # this signal, and so would the server be.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
    try:
        deadline = time.monotonic() + 300
        while "Serving on" not in log.read_text():
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{site.folder} is not served:\n{log.read_text()}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


class OpenPage:
    """
    An open page whose source is saved again and again.

    Args:
        browser: where it is open.
        url: its address.
        source: the file that it is made from.
        addition: what is put at the end of that file; `{}` stands for a number.
    """

    def __init__(self, browser: Browser, url: str, source: Path, addition: str) -> None:
        self.source = source
        self.addition = addition
        self.original = source.read_text(encoding="utf-8")
        self.seen: dict[str, float] = {}
        self.count = 0
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.expose_function("seen", self.note)
        context.add_init_script(LOOK)
        self.tab: Page = context.new_page()
        self.tab.goto(url)

    def note(self, number: str, milliseconds: float) -> None:
        """Note a new page: the page calls this itself, with the time on its clock."""
        self.seen[number] = milliseconds

    def save(self) -> float:
        """Save the source, and say how long it took until the page was new."""
        # Never save in step with a server that looks at its files twice a second.
        self.tab.wait_for_timeout(1500 + random.uniform(0, 1000))
        self.count += 1
        text = self.original + self.addition.format(self.count)
        start = time.time()
        self.source.write_text(text, encoding="utf-8")
        deadline = start + 120
        while str(self.count) not in self.seen:
            if time.time() > deadline:
                raise RuntimeError(f"{self.source} was saved and never seen")
            self.tab.wait_for_timeout(10)
        return self.seen[str(self.count)] / 1000 - start
