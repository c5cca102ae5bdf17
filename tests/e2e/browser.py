"""A server and a browser to look at it with: shared by the browser tests and the screenshot script."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
BEGUN = "[data-testid=stMain] [data-testid=stElementContainer]"  # before, "not running" may mean "not yet"
READY = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
BUSY = "[data-testid=stSkeleton], [data-testid=stSpinner], [data-stale=true]"
# A slider tells the server 200 ms after it was moved, by a timer of the page: a later timer of the page comes after it.
TOLD = "() => new Promise(told => setTimeout(told, 300))"
# By the time the server has answered this, it has heard all that the page sent before; then the page draws.
ROUND_TRIP = """() => fetch("/_stcore/health").catch(() => null).then(
    () => new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 50))))"""


@contextlib.contextmanager
def serve(log: IO[bytes] | None = None, **settings: str) -> Iterator[str]:
    """A fresh dashboard server on a free loopback port, which does not warm unless set so; yields its address."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"}
    environment |= {"DPGP_WARM": "0"}  # the machine is for the tests
    to = log or subprocess.DEVNULL
    address = f"http://127.0.0.1:{port}/{settings.get('STREAMLIT_SERVER_BASE_URL_PATH', '')}".rstrip("/")
    with tempfile.TemporaryDirectory() as folder:  # ledgers of pictures and tests end with them
        environment = {"DPGP_STATE": str(Path(folder) / "state")} | environment | settings
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=to, stderr=to)
        try:
            wait_for(f"{address}/_stcore/health", process)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def free_port() -> int:
    """A port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    """Return once a server answers. Raises RuntimeError if it stops instead, or does not."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with exit code {process.returncode}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError(f"the server did not answer within {PATIENCE:g} s")


@contextlib.contextmanager
def launch() -> Iterator[Browser]:
    """A headless Chromium with a fresh profile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def new_context(browser: Browser, size: tuple[int, int] = (1280, 720), **options: Any) -> BrowserContext:
    """A context of fresh cookies whose waiting is as patient as everything else."""
    options.setdefault("viewport", {"width": size[0], "height": size[1]})
    context = browser.new_context(**options)
    context.set_default_timeout(1000 * PATIENCE)
    return context


def opened(context: BrowserContext, address: str) -> Page:
    """An address in a new tab, once it has been drawn."""
    page = context.new_page()
    page.goto(address)
    settle(page)
    return page


def settle(page: Page) -> None:
    """Wait until the script has run, nothing is stale, and charts and maps have been drawn."""
    page.wait_for_selector(BEGUN, state="attached", timeout=1000 * PATIENCE)
    for script in (TOLD, ROUND_TRIP, ROUND_TRIP):  # the script starts a little after the server has heard
        with contextlib.suppress(Error):  # the page is being left
            page.evaluate(script)
    while True:
        page.wait_for_selector(READY, timeout=1000 * PATIENCE)
        page.wait_for_function("selector => !document.querySelector(selector)", arg=BUSY, timeout=1000 * PATIENCE)
        with contextlib.suppress(Error):
            page.evaluate(TOLD)
        if page.locator(READY).count():  # else it is made again, with something better
            return
