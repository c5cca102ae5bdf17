"""An own table in a browser: what somebody does with it until a zip is there, and what is in the zip."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Download, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from dpgp_core.release.check import check_folder
from tests.e2e import browser as tool
from tests.e2e.conftest import Visit


class Counted:
    """What somebody does, one action at a time."""

    def __init__(self, page) -> None:
        self.page, self.actions = page, 0

    def do(self, action, *values) -> object:
        """Do one thing, and count it."""
        self.actions += 1
        return action(self.page, *values)


class Handed(NamedTuple):
    """What a zip holds.

    Attributes:
        card: ``release.json``.
        rows: of ``values.csv``, by column.
        files: content by name.
    """

    card: dict[str, Any]
    rows: list[dict[str, str]]
    files: dict[str, bytes]


def upload(page: Page, name: str, content: bytes) -> None:
    with page.expect_response(lambda answer: "/upload_file/" in answer.url and answer.request.method == "PUT"):
        page.locator("[data-testid=stMain] input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": content}
        )
    page.get_by_text("of your file").wait_for()
    tool.settle(page)


def fill(page: Page, key: str, value: str) -> None:
    control = page.locator(f".st-key-own_f_{key} input").first
    control.fill(value)
    control.press("Enter")
    tool.settle(page)


def choose(page: Page, key: str, option: str) -> None:
    wanted = page.get_by_role("option", name=option, exact=True)
    for _ in range(30):
        page.locator(f".st-key-own_f_{key} input").first.click()
        with contextlib.suppress(PlaywrightTimeout):  # a rerun of the page closes the menu
            wanted.click(timeout=3000)
            break
    else:
        raise AssertionError(f"the menu of {key} does not offer {option}")
    if key == "x":
        page.keyboard.press("Escape")  # the menu of several stays open
    tool.settle(page)


def press(page: Page, label: str) -> None:
    """Click what the page offers: a button whose label begins so."""
    page.get_by_role("button", name=label).first.click()
    tool.settle(page)


def answer(page: Page, whose: str) -> None:
    page.locator(".st-key-own_f_whose").get_by_text(whose).click()
    tool.settle(page)


def declare(page: Page, x: str, y: str) -> None:
    choose(page, "y", y)
    choose(page, "x", x)
    answer(page, "No, every row is another person")
    for key, value in (
        ("unit", "one person's height"),
        ("low", "50"),
        ("high", "200"),
        (f"box_low_{x}", "0"),
        (f"box_high_{x}", "90"),
        ("delta", "0.0001"),
        ("total", "1.5"),
    ):
        fill(page, key, value)


def release(page: Page, number: int, said: str | None = None) -> None:
    """Press the button and wait for a release, or for this sentence instead."""
    made = (
        f"Release {number}: .*(These values may be published|It protects as promised)"  # noise may leave some useless
    )
    page.get_by_role("button", name=re.compile(f"Make release {number}")).click()
    page.get_by_text(re.compile(made if said is None else said)).wait_for()
    tool.settle(page)


def downloaded(page: Page) -> Download:
    with page.expect_download() as found:
        page.get_by_role("button", name=re.compile("Download release")).click()
    return found.value


def download(page: Page) -> bytes:
    return Path(downloaded(page).path()).read_bytes()


def handed_out(visit: Visit, user: Counted, most_actions: int, folder: Path) -> Handed:
    """Download the only release that the budget allows; it took few actions and follows from what was measured."""
    archive = zipfile.ZipFile(io.BytesIO(user.do(download)))
    assert user.actions <= most_actions
    archive.extractall(folder)
    assert check_folder(folder).startswith("The files are those that release.json describes")
    user.page.get_by_role("button", name="No release: nothing is left").wait_for()
    assert user.page.get_by_role("button", name="Make release").count() == 0
    assert visit.external == []
    assert visit.errors == []
    files = {name: archive.read(name) for name in archive.namelist()}
    rows = list(csv.DictReader(io.StringIO(files["values.csv"].decode())))
    return Handed(json.loads(files["release.json"]), rows, files)
