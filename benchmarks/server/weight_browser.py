"""What each page weighs in a real browser: a first visit with nothing cached there, and one step of epsilon.

    python -m benchmarks weight_browser                          # all pages, a few minutes
    python -m benchmarks weight_browser --pages compare attack

Files are scripts, styles, fonts and pictures, as they come over the wire; the websocket carries what the page shows.
Everything was computed before, by another visitor, so that no picture of a curve that is still growing is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.server.latency_browser import slider
from benchmarks.shared.options import options_of
from benchmarks.shared.table import show
from benchmarks.shared.timing import machine
from pages._ui import menu
from tests.e2e import browser as tool

_BUDGET = re.compile("(ε|s): more")  # of posterior paths epsilon follows from s


@dataclass
class Scales:
    """What a page has fetched so far.

    Attributes:
        requests: of files.
        files: their bytes over the wire, with headers.
        socket: bytes of messages to the page.
    """

    requests: int = 0
    files: int = 0
    socket: int = 0

    def watch(self, page: Any) -> None:
        """Count from now on."""
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.on("Network.loadingFinished", self._finished)
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _finished(self, event: dict[str, Any]) -> None:
        self.requests += 1
        self.files += round(event["encodedDataLength"])

    def _received(self, payload: str | bytes) -> None:
        self.socket += len(payload)


def weighed(browser: Any, address: str, file: str) -> tuple[Scales, int | None]:
    """A visitor's first visit of a page, and the bytes that one step of epsilon then sends; None if none is there."""
    context = tool.new_context(browser, viewport={"width": 1280, "height": 720})
    page, seen = context.new_page(), Scales()
    seen.watch(page)
    page.goto(f"{address}/{'' if file == 'start' else file}")
    tool.settle(page)
    first, budget = replace(seen), page.locator("[data-testid=stSidebar]").get_by_role("slider", name=_BUDGET)
    if not budget.count():
        context.close()
        return first, None
    slider(budget.first).there()
    tool.settle(page)
    context.close()
    return first, seen.socket - first.socket


def row(browser: Any, address: str, file: str) -> dict[str, object]:
    """One row a page: what the second of two visitors fetches."""
    weighed(browser, address, file)
    first, step = weighed(browser, address, file)
    sizes = {"files": first.files, "websocket": first.socket, "a step of epsilon": step}
    shown = {f"{what} [kB]": "–" if size is None else f"{size / 1000:,.0f}" for what, size in sizes.items()}
    return {"page": file, "requests": first.requests} | shown


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print the table, row by row."""
    pages = options_of(__doc__, argv, {"pages": [page.file for page in menu.PAGES]}).pages
    print(machine())
    with tool.serve() as address, tool.launch() as browser:
        show(row(browser, address, file) for file in pages)
