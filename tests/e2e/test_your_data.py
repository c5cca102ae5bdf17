"""An own table in real browsers: two releases and a refusal, and nothing of one visitor within another's reach."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from datasets import kung
from tests.e2e import browser as tool
from tests.e2e.own_table import declare, download, downloaded, release, upload
from tests.waiting import PATIENCE

pytestmark = pytest.mark.full

MARK = "7316042"  # in every private number, and nowhere else
PRIVATE = "years,secretheight\n" + "\n".join(f"{age},{90 + age}.{MARK}{age}" for age in range(5, 65))


def test_a_real_table_two_releases_a_refusal_a_zip_and_a_reload(visit):
    page = visit.open("your_data")
    upload(page, "kung.csv", kung.PATH.read_bytes())
    declare(page, "age_years", "height_cm")
    release(page, 1)
    release(page, 2)
    archive = zipfile.ZipFile(io.BytesIO(download(page)))
    measured = ["release.json", "reproduce.py", "statistics.npz", "values.csv"]
    assert sorted(archive.namelist()) == ["card.html", "figure.svg", *measured]
    card = json.loads(archive.read("release.json"))
    assert card["guarantee"]["unit"] == "one person's height"
    values = list(csv.reader(io.StringIO(archive.read("values.csv").decode())))
    ends = ["curve_low_95", "curve_high_95", "output_low_95", "output_high_95"]
    assert values[0] == ["age_years", "value", *ends]
    assert len(values) == 52
    page.get_by_text("Release 2 is made. Use epsilon = ").wait_for()
    assert page.get_by_role("button", name="No release").is_disabled()
    page.reload()  # the session is new, the table gone, the ledger and what was paid for are not
    tool.settle(page)
    page.get_by_text("2 released").wait_for()
    assert page.get_by_text("In memory: kung.csv").count() == 0
    assert zipfile.ZipFile(io.BytesIO(download(page))).read("values.csv") == archive.read("values.csv")
    assert visit.external == []
    assert visit.errors == []


def test_a_rate_and_centiles_from_click_to_zip(visit):
    page = visit.open("your_data")
    page.get_by_role("button", name="Simulated vaccinations").click()
    tool.settle(page)
    assert page.get_by_label("y is at most").is_disabled()
    release(page, 1)
    page.get_by_text("vaccinated [% yes]").first.wait_for()  # the axis
    page.get_by_role("button", name="Forget the table").click()
    tool.settle(page)
    page.get_by_role("button", name="Simulated wages", exact=True).click()
    tool.settle(page)
    page.get_by_text("Publish centiles too").click()
    tool.settle(page)
    release(page, 2)
    page.get_by_text("Below a thin line lie as many in 100 further people").wait_for()
    archive = zipfile.ZipFile(io.BytesIO(download(page)))
    header = next(csv.reader(io.StringIO(archive.read("values.csv").decode())))
    assert header[-5:] == [f"centile_{each}" for each in (3, 15, 50, 85, 97)]
    assert visit.external == []
    assert visit.errors == []


@pytest.fixture
def logged(tmp_path) -> Iterator[tuple[str, Path, Path]]:
    """A server of its own, its log, and the folder that all its temporary files go to."""
    log, folder = tmp_path / "log", Path(tempfile.mkdtemp(prefix="own"))  # short: sockets are in it
    with log.open("wb") as stream, tool.serve(stream, TMPDIR=str(folder)) as address:
        yield address, log, folder
    shutil.rmtree(folder)


class Watched:
    """A visitor of whom every address and every byte received is kept."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address, self.urls, self.received = address, [], []
        self.context = tool.new_context(browser)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.urls.append(request.url))
        self.page.on("framenavigated", lambda frame: self.urls.append(frame.url))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._note))

    def _note(self, frame: str | bytes) -> None:
        self.received.append(frame if isinstance(frame, bytes) else frame.encode())

    def open(self, path: str) -> Page:
        self.page.goto(f"{self.address}/{path}")
        tool.settle(self.page)
        return self.page


def fetched(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.read()
    except urllib.error.HTTPError as refused:
        return refused.read()


def test_no_byte_of_one_visitors_data_reaches_another(chromium, logged):
    address, log, folder = logged
    one, other = Watched(chromium, address), Watched(chromium, address)
    page = one.open("your_data")
    other.open("your_data")
    broken = PRIVATE.replace(f"100.{MARK}10", f"{MARK}oops")
    upload(page, "broken.csv", broken.encode())
    declare(page, "years", "secretheight")
    page.get_by_text("has text instead of a number in line 7").wait_for()
    upload(page, "mine.csv", PRIVATE.encode())
    page.get_by_text("Preview without privacy").click()
    page.get_by_role("button", name=re.compile("I may see the table")).click()
    page.get_by_text("NOT PRIVATE: the fit without noise.").wait_for()
    release(page, 1)
    given = downloaded(page)
    archive = zipfile.ZipFile(given.path())
    assert one.context.request.get(given.url).status == 200
    assert other.context.request.get(given.url).status == 404  # the address alone opens nothing
    assert any(b"secretheight" in frame for frame in one.received)  # the watch works
    # The other visitor looks around, and asks for every address that the first one used
    for path in ("kung_curves", "explore_release", "your_data"):
        other.open(path)
    other.page.get_by_text("Nothing has been released yet.").wait_for()
    found = [*other.received, *(fetched(url) for url in set(one.urls) if url.startswith(address))]
    found += [url.encode() for url in one.urls + other.urls]
    found += [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    found += [str(path).encode() for path in folder.rglob("*")]
    found += [archive.read(name) for name in archive.namelist()]
    for marked in (MARK.encode(), b"mine.csv", b"broken.csv"):
        assert not any(marked in piece for piece in found)
    assert not any(b"secretheight" in piece for piece in other.received)
    for context in (one.context, other.context):
        context.close()
    text = log.read_bytes()
    assert b"Dashboard URL: http" in text  # the log is really captured
    assert MARK.encode() not in text
    assert b"secretheight" not in text
