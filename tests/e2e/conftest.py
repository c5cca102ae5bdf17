from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request

from pages._ui.work.cached import LOOK_AGAIN
from tests.e2e import browser as tool

MOST_LOOKS = 5
KNOWN_NOISE = (
    "status of 404",  # /<page>/_stcore/health and /host-config on deep links: streamlit asks, then falls back
    "luma.gl",
    "GPU stall due to ReadPixels",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/e2e/"):
            item.add_marker(pytest.mark.e2e)


class Visit:
    """One browser page that remembers what it asked for and what it complained about."""

    def __init__(self, page: Page, address: str, path: str = "", noted: tuple[str, ...] = ("error",)) -> None:
        self.page, self.address, self.path, self.noted = page, address, path, noted
        self.external: list[str] = []
        self.errors: list[str] = []
        self._noted = (
            ("request", self._note_request),
            ("console", self._note_console),
            ("pageerror", self._note_error),
        )
        for event, note in self._noted:
            page.on(event, note)

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.address}/{path}")
        tool.settle(self.page)
        again = self.page.get_by_role("button", name=LOOK_AGAIN)
        for _ in range(MOST_LOOKS):  # beside tests that keep every processor busy a page may ask for it, as of anybody
            if not again.count():
                break
            again.first.click()
            tool.settle(self.page)
        return self.page

    def end(self) -> None:
        """Leave the tab to the next visit: what it asks for is not this one's."""
        for event, note in self._noted:
            self.page.remove_listener(event, note)

    def _note_error(self, error: Error) -> None:
        self.errors.append(str(error))

    def _note_request(self, request: Request) -> None:
        if not request.url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.external.append(request.url)

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in self.noted and not any(known in message.text for known in KNOWN_NOISE):
            self.errors.append(message.text)


# While it lives, no other browser can be driven and no asyncio.run called in this process: one file's time
@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if tool.CHROMIUM is None:
        pytest.skip("NO BROWSER: chromium is not installed, so no browser test ran")
    with tool.launch() as browser:
        yield browser


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with tool.serve() as address:
        yield address


@pytest.fixture
def visit(chromium: Browser, server: str) -> Iterator[Visit]:
    with tool.new_context(chromium, (1440, 900)) as context:
        yield Visit(context.new_page(), server)


@pytest.fixture
def opened(chromium: Browser, server: str) -> Iterator[Callable[..., Page]]:
    """A page in a browser of its own, with the size and the options that are asked for."""
    with contextlib.ExitStack() as contexts:

        def open_it(path: str, *size: tuple[int, int], **options: Any) -> Page:
            context = contexts.enter_context(tool.new_context(chromium, *size, **options))
            return tool.opened(context, f"{server}/{path}")

        yield open_it
