"""Own tables in real browsers, from file to zip: visitors apart, people, visits."""

from __future__ import annotations

import io
import json
import shutil
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from datasets import kung
from dpgp_core.reading.kinds import SUFFIXES
from pages._ui.own import practice
from pages._ui.own.upload import MAX_BYTES
from tests.e2e import browser as tool
from tests.e2e.conftest import Visit
from tests.e2e.own_table import (
    Counted,
    answer,
    choose,
    declare,
    download,
    downloaded,
    fill,
    handed_out,
    press,
    release,
    upload,
)
from tests.waiting import PATIENCE

pytestmark = pytest.mark.full

MARK = "7316042"  # in every private number, and nowhere else
PRIVATE = "years,secretheight\n" + "\n".join(f"{age},{90 + age}.{MARK}{age}" for age in range(5, 65))


def values_of(content: bytes) -> bytes:
    return zipfile.ZipFile(io.BytesIO(content)).read("values.csv")


def test_a_visitor_releases_a_real_table_twice(visit):
    page = visit.open("your_data")
    upload(page, "kung.csv", kung.PATH.read_bytes())
    declare(page, "age_years", "height_cm")
    release(page, 1)
    release(page, 2)
    before = values_of(download(page))
    page.get_by_text("Release 2 is made. Use epsilon = ").wait_for()
    assert page.get_by_role("button", name="No release").is_disabled()
    page.reload()  # the session is new, the table gone, the ledger and what was paid for are not
    tool.settle(page)
    page.get_by_text("2 released").wait_for()
    assert page.get_by_text("In memory:").count() == 0
    assert values_of(download(page)) == before
    assert visit.external == []
    assert visit.errors == []


@pytest.fixture
def logged(tmp_path) -> Iterator[tuple[str, Path, Path]]:
    """A server of its own, its log, and the folder that all its temporary files go to."""
    log, folder = tmp_path / "log", Path(tempfile.mkdtemp(prefix="own"))  # short: sockets are in it
    with log.open("wb") as stream, tool.serve(stream, TMPDIR=str(folder)) as address:
        yield address, log, folder
    shutil.rmtree(folder)


class Watched(Visit):
    """A visitor of whom every address and every byte received is kept."""

    def __init__(self, page: Page, address: str) -> None:
        super().__init__(page, address)
        self.urls, self.received = [], []
        self.page.on("request", lambda request: self.urls.append(request.url))
        self.page.on("framenavigated", lambda frame: self.urls.append(frame.url))
        self.page.on("websocket", lambda socket: socket.on("framereceived", self._note))

    def _note(self, frame: str | bytes) -> None:
        self.received.append(frame if isinstance(frame, bytes) else frame.encode())


def fetched(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.read()
    except urllib.error.HTTPError as refused:
        return refused.read()


def test_no_byte_of_one_visitors_data_reaches_another(chromium, logged):
    address, log, folder = logged
    one, other = (Watched(tool.new_context(chromium).new_page(), address) for _ in range(2))
    page = one.open("your_data")
    other.open("your_data")
    broken = PRIVATE.replace(f"100.{MARK}10", f"{MARK}oops")
    upload(page, "broken.csv", broken.encode())
    declare(page, "years", "secretheight")
    page.get_by_text("has text instead of a number in line 7").wait_for()
    upload(page, "mine.csv", PRIVATE.encode())
    release(page, 1)
    given = downloaded(page)
    archive = zipfile.ZipFile(given.path())
    assert page.context.request.get(given.url).status == 200
    assert other.page.context.request.get(given.url).status == 404  # the address alone opens nothing
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
    for each in (one, other):
        each.page.context.close()
    text = log.read_bytes()
    assert b"Dashboard URL: http" in text  # the log is really captured
    assert MARK.encode() not in text
    assert b"secretheight" not in text


PASTE = """(area, [name, content]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([content], name, { type: "text/csv" }));
    area.dispatchEvent(new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: carried }));
}"""
NAME_SHOWN = "[...document.querySelectorAll('{}')].map(each => getComputedStyle(each, '::after').content)"


def dropped(page: Page, x: float, y: float, file: Path) -> None:
    """Drag a file of the desktop over a place of the page, and let it go there."""
    mouse = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        data = {"items": [], "files": [str(file)], "dragOperationsMask": 1}
        mouse.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
        tool.settle(page)


@pytest.mark.parametrize("way", ["choose", "drop", "paste"])
def test_the_name_of_a_file_is_never_sent(visit, tmp_path, way):
    page, sent = visit.page, []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.on("request", lambda request: sent.append(request.post_data_buffer or request.url))
    visit.open("your_data")
    name = 'of "ward" 7-QXJ.csv'
    area = page.locator("[data-testid=stMain] [data-testid=stFileUploaderDropzone]")
    if way == "choose":
        upload(page, name, PRIVATE.encode())
    elif way == "drop":
        (tmp_path / name).write_text(PRIVATE)
        box = area.bounding_box()
        dropped(page, box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, tmp_path / name)
    else:
        area.evaluate(PASTE, [name, PRIVATE])
    page.get_by_text("60 rows of your file").wait_for()
    tool.settle(page)
    assert page.get_by_text("Drag and drop a file here").count() == 0
    if way == "choose":  # a file that the uploader refuses takes no other's name away
        for refused, size in (("QXJ.pdf", 10), ("QXJ-large.csv", MAX_BYTES + 1)):
            area.locator("input").set_input_files({"name": refused, "mimeType": "text/csv", "buffer": b"1" * size})
            tool.settle(page)
        assert page.locator(".stFileChip[aria-invalid]").count() == 2
    [chip] = page.evaluate(NAME_SHOWN.format(".stFileChip:not([aria-invalid]) [data-testid=stFileChipName]"))
    [caption] = page.evaluate(NAME_SHOWN.format(".st-key-own_held [data-testid=stCaptionContainer] p"))
    assert (json.loads(chip), json.loads(caption)) == (name, f": {name}")
    frames = [frame if isinstance(frame, bytes) else frame.encode() for frame in sent]
    assert any(b"table.csv" in frame for frame in frames)  # the watch works
    assert not any(b"QXJ" in frame for frame in frames)


def test_files_of_every_kind_are_taken(visit):
    page = visit.open("your_data")
    for ending in (*SUFFIXES, "gz", "zip", "PARQUET"):
        table = {"name": f"QXJ.{ending}", "mimeType": "", "buffer": PRIVATE.encode()}  # its content decides what it is
        page.locator("[data-testid=stMain] input[type=file]").set_input_files(table)
        page.get_by_text("60 rows of your file").wait_for()
        tool.settle(page)
        assert page.locator(".stFileChip[aria-invalid]").count() == 0, ending


# ---- From file to zip in few actions: wages of people in several rows each, by age and sex; days of clinic visits.


def wages() -> bytes:
    """The practice table of people, with a last row of its own: nobody's practice."""
    [table] = [each for each in practice.TABLES if each.form["whose"] == "column"]
    return table.content() + b"P9999,woman,2023-05-01,40.0,21.5\n"


def test_wages_of_people_from_file_to_zip(visit, tmp_path):
    user = Counted(visit.open("your_data"))
    user.do(upload, "wages.csv", wages())
    user.page.get_by_text("3,001 rows").wait_for()
    user.do(choose, "y", "wage_an_hour")
    user.do(choose, "x", "age_years")
    user.do(choose, "x", "sex")
    user.page.get_by_text("sex holds words: does it say which group somebody is in?").wait_for()
    user.do(press, "Yes: man, woman")
    user.do(answer, "Yes, a column says whose row it is")
    user.do(choose, "person", "person")
    user.page.get_by_text("1,201 people in 3,001 rows").wait_for()
    ends = {"low": 0, "high": 80, "box_low_age_years": 18, "box_high_age_years": 90}
    for key, value in {**ends, "total": 1}.items():
        user.do(fill, key, str(value))
    assert user.page.get_by_text("3,001 rows read").count() == 0
    user.do(release, 1)
    card, rows, files = handed_out(visit, user, 15, tmp_path)
    assert (card["guarantee"]["rows"], card["guarantee"]["epsilon"], card["public"]["n"]) == (None, 1.0, 1201)
    assert "all rows of one person, inputs and outputs" in card["guarantee"]["neighbours"]
    assert "all rows of any one person" in files["card.html"].decode()
    assert [row["sex"] for row in rows[:4]] == ["man", "woman", "man", "woman"]
    middle = [row for row in rows if 35 <= float(row["age_years"]) <= 65]
    # the table's mean wage there is 22 to 26; some ten standard errors of privacy and people
    assert all(12 < float(row["value"]) < 40 for row in middle)
    assert not any(b"P0001" in content or b"P9999" in content for content in files.values())
