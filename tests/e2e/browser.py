"""A server and a browser to look at it with: shared by the browser tests and the screenshot script."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from playwright.sync_api import Browser, Page, sync_playwright

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
READY = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
BUSY = "[data-testid=stSkeleton], [data-testid=stSpinner], [data-stale=true]"


@contextlib.contextmanager
def serve(log: IO[bytes] | None = None, **settings: str) -> Iterator[str]:
    """A fresh dashboard server on a free loopback port, its lattice not warmed unless set so; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1", "DPGP_WARM": "0"}
    environment |= settings
    to = log or subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=to, stderr=to)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/_stcore/health", process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server stopped with exit code {process.returncode}")
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    raise RuntimeError("the server did not answer within 60 s")


@contextlib.contextmanager
def launch() -> Iterator[Browser]:
    """A headless Chromium with a fresh profile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def settle(page: Page) -> None:
    """Wait until the script has run, nothing is stale, and charts and maps have been drawn."""
    page.wait_for_timeout(300)
    page.wait_for_selector(READY, timeout=60_000)
    page.wait_for_function("selector => !document.querySelector(selector)", arg=BUSY, timeout=60_000)
    page.wait_for_timeout(300)
