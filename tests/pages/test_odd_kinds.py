"""Tables of odder kinds on Your data: what the page's own reader makes of each, and the clicks that the oddest need."""

import io
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from dpgp_core.reading import workbook as excel
from dpgp_core.reading.look import MARK, proposal
from dpgp_core.reading.writing import Writing
from dpgp_core.release.json_text import spec_from_object
from dpgp_core.release.publishing import read_outcomes
from pages._ui.own import upload
from tests.core.release.test_odd_kinds import CELLS, days, owners
from tests.odd_kinds import ODD
from tests.pages import own

READ = [name for name in ODD if not ODD[name].refused]
REFUSED_AT_ONCE = {
    "rows one longer than the names",
    "no names",
    "decimal commas between commas, not quoted",
    "a zipped table",
    "thousands between commas, not quoted",
    "quotes escaped by a stroke",
    "a table compressed by gzip",
    "JSON",
    "HTML",
    "a table compressed by bzip2",
    "an OpenDocument spreadsheet",
    "a workbook of several sheets",
}
ENCODED = {"UTF-16 without a mark": "utf-16", "old letters in a note": "cp1252"}


def taken(content, encoding=None):
    """A file as the page takes it, with the lines left out that it offers to leave out."""
    writing = Writing(encoding=encoding)
    if excel.is_workbook(content):
        content, writing = excel.as_csv(content, upload.MAX_BYTES), Writing(separator=",")
    lines = upload.lines_beside(content, writing)
    held = upload.opened("mine", content, replace(writing, ignore=lines or None))
    if held.no_rows and not lines:  # offered once it is read
        held = upload.opened("mine", content, replace(writing, ignore=held.no_rows))
    return held


@pytest.mark.parametrize("name", READ)
def test_the_page_reads_it_right(name):
    kind = ODD[name]
    held = taken(kind.content, ENCODED.get(name))
    known = owners(kind)
    assert {*known["x"], known["y"]} <= {*held.columns}
    found, _ = proposal(io.BytesIO(held.content), known["x"], known["y"])
    spec = spec_from_object({key: value for key, value in (found | known).items() if key != MARK})
    writing = {key: getattr(spec.writing, key) for key in ("numbers", "missing", "date_order", "yes", "no")}
    spec = replace(spec, writing=replace(held.writing, **writing))
    table = read_outcomes(io.BytesIO(held.content), spec)
    np.testing.assert_allclose(table.y, kind.y, rtol=1e-12)
    np.testing.assert_allclose(days(table, spec), kind.x)


@pytest.mark.parametrize("name", sorted(REFUSED_AT_ONCE))
def test_the_page_refuses_with_a_remedy_and_shows_no_cell(name):
    with pytest.raises(ValueError, match=r"; |\. Add a line") as refused:
        taken(ODD[name].content)
    assert not CELLS.search(str(refused.value))


CLEAN = {"whose": "no", "total": 2.0, "epsilon": 1.0, "delta": 1e-5}
CLICKS = {
    "titles and notes": ("Leave out lines 1-2, 65",),
    "units below the names": ("Leave out line 2",),
    "a sum at the end": ("Leave out line 62",),
    "a workbook with a title and notes": ("Leave out lines 1-2, 65",),
    "a unit behind": ("Yes, in cm",),
    "no date": ("year-month-day", {"missing": ["0000-00-00"]}),
}


@pytest.mark.parametrize("name", CLICKS)
def test_from_upload_to_an_offered_release_in_a_click_or_two_more(open_page, ledgers, name):
    kind = ODD[name]
    app = own.uploaded(open_page, kind.content, "mine.xlsx" if "workbook" in name else "mine.csv")
    clicks = list(CLICKS[name])
    if isinstance(clicks[0], str) and clicks[0].startswith("Leave"):
        app = own.press(app, clicks.pop(0))
    assert not app.error
    app = own.declare(app, y="height", x=["day" if kind.dated else "age"], **CLEAN)
    for click in clicks:
        assert not own.invited(app)
        app = own.press(app, click) if isinstance(click, str) else own.declare(app, **click)
    app = own.declare(app, low=0.0, high=300.0)
    if kind.dated:
        app = own.declare(app, from_day_day=date(2024, 3, 1), to_day_day=date(2024, 6, 30), grid_day=5)
    else:
        app = own.declare(app, box_low_age=18.0, box_high_age=80.0, grid_age=5)
    assert not app.exception
    assert own.invited(app)
    table = app.session_state["own_ready"][1]
    assert (table.n, table.left_out) == (len(kind.y), 60 - len(kind.y))
