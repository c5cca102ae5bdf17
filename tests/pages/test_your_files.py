"""Tables of every kind on Your data, from upload to zip as they are."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import date

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpgp_core.reading.look import MARK, proposal
from dpgp_core.reading.writing import Writing
from dpgp_core.release.json_text import spec_from_object
from dpgp_core.release.private_table import read_outcomes
from pages._ui.own import upload
from pages._ui.work import cached
from tests import other_programs as programs
from tests.core.release.test_as_it_is import CELLS, days, owners
from tests.hostile_files import SECRET, WRONG
from tests.kinds import AGES, DAYS, KINDS, Kind, N, table
from tests.odd_kinds import AGE, HEIGHT, ODD
from tests.pages import own

FIRST, LAST = map(date.fromisoformat, DAYS)
CLEAN = {"y": "height", "whose": "no", "total": 2.0, "epsilon": 1.0, "delta": 1e-5}
BY_AGE = CLEAN | {"x": ["age"], "box_low_age": AGES[0], "box_high_age": AGES[1], "grid_age": 5}
BY_DAY = CLEAN | {"x": ["day"], "from_day_day": FIRST, "to_day_day": LAST, "grid_day": 5}
LINES = {  # which lines the page offers to leave out, and what else is asked about odd tables
    "titles and notes": ({"button": "Leave out lines 1-2, 65"},),
    "units below the names": ({"button": "Leave out line 2"},),
    "a sum at the end": ({"button": "Leave out line 62"},),
    "a workbook with a title and notes": ({"button": "Leave out lines 1-2, 65"},),
    "a unit behind": ({"button": "Yes, in cm"},),
    "no date": ({"button": "year-month-day"}, {"missing": ["0000-00-00"]}),
}
ASKED = KINDS | {
    name: Kind(
        ODD[name].content,
        clicks=clicks,
        x="day" if ODD[name].dated else "age",
        n=len(ODD[name].y),
        left_out=N - len(ODD[name].y),
    )
    for name, clicks in LINES.items()
}


def answer(app, click):
    """One question of the page: a control, or a button that proposes its answer."""
    if "button" in click:
        return own.press(app, click["button"])
    if "encoding" in click:
        return app.selectbox(key="own_encoding").set_value(click["encoding"]).run()
    return own.declare(app, **click)


@pytest.mark.full_for(*(ASKED.keys() - {*LINES, "three words"}), "a workbook with a title and notes")
@pytest.mark.parametrize("name", ASKED)
def test_every_kind_of_file_is_released(open_page, ledgers, name):
    kind = ASKED[name]
    outcome = {"kind": "yes/no"} if kind.two_valued else {"low": 0.0, "high": 100_000.0}
    assert len(kind.clicks) <= 2
    app = own.uploaded(open_page, kind.content)
    before = [each for each in kind.clicks if "encoding" in each or each.get("button", "").startswith("Leave out")]
    for click in before:  # what columns there are is known then
        app = answer(app, click)
    app = own.fill(app, **(BY_DAY if kind.x == "day" else BY_AGE), **outcome)
    for click in kind.clicks[len(before) :]:
        assert not own.invited(app) or name == "codes for missing"  # which count as a bound until they are said
        app = answer(app, click)
    assert not app.exception
    [invited] = own.invited(app)
    read = f"{kind.n} complete rows of {N} read" if kind.left_out else f"{N} rows read"
    assert any(read in each.value for each in app.markdown)
    app = own.press(app, invited)
    assert not app.exception
    card = json.loads(own.last_zip(app).read("release.json"))
    assert (card["public"]["n"], card["public"]["left_out"]) == (kind.n, kind.left_out)
    for key in {"numbers", "encoding", "date_order"} & kind.declared.keys():
        assert card["config"][key] == kind.declared[key]


def test_a_sheet_is_chosen_by_its_name(open_page, ledgers, cold):
    book = openpyxl.Workbook()
    book.active.append(["a note"])
    sheet = book.create_sheet("measured")
    for row in [["age", "height"], *([age, 100 + age] for age in range(20, 80))]:
        sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    app = own.uploaded(open_page, stream.getvalue(), "mine.xlsx")
    assert not app.error
    chosen = app.selectbox(key="own_sheet")
    assert chosen.options == ["Sheet", "measured"]
    app = own.declare(chosen.set_value("measured").run(), y="height", x=["age"], whose="no", total=2.0)
    app = own.declare(app, low=0.0, high=200.0, box_low_age=18.0, box_high_age=80.0)
    assert own.invited(app)
    assert not cached.jobs._kept  # nothing of it is everybody's
    with pytest.raises(ValueError, match="the workbook has no such sheet; choose another"):
        upload.as_text(stream.getvalue(), "secret")


GROUPED = table("age,smoking,height", range(18, 78), ["never", "formerly", "smokes"] * 20, range(100, 160))


def test_words_are_groups_in_one_click(open_page, ledgers):
    app = own.filled(open_page, GROUPED, **BY_AGE | {"x": ["age", "smoking"], "low": 0.0, "high": 200.0})
    assert "smoking holds words: does it say which group somebody is in?" in own.said(app)
    app = own.press(app, "Yes: formerly, never, smokes")
    assert own.invited(app)
    assert own.spec_of(app).levels == {"smoking": ("formerly", "never", "smokes")}


def test_yes_no_words_need_one_click(open_page, ledgers):
    app = own.filled(open_page, KINDS["yes and no"].content, **BY_AGE)
    assert "height holds words: is it yes or no?" in own.said(app)
    app = own.press(app, "Yes, an outcome of yes or no")
    [kind] = own.controls(app, "kind")
    assert kind.value == "yes/no"
    app = own.declare(app, yes="no")  # whichever the owner asks about
    assert (own.spec_of(app).writing.yes, own.spec_of(app).writing.no) == (("no",), ("yes",))


APRIL = [f"{1 + at // 3}/04/2024" for at in range(81)]
ORDERS = {
    "both": (
        ["3/04/2024", "5/06/2024", "5/06/2024"] * 27,
        range(81),
        ["day/month/year: 5/06/2024 is 5 June 2024", "month/day/year: 5/06/2024 is 6 May 2024"],
    ),
    "one, and how numbers are written": (
        APRIL,
        ["5,9", "-200", "12,25"] * 27,
        ["day/month/year: 1/04/2024 is 1 April 2024; numbers as 1234,5"],
    ),
    "one, and numbers that two ways read": (
        APRIL,
        ["5,900", "1,250", "12,250"] * 27,
        ["day/month/year: 1/04/2024 is 1 April 2024"],
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_a_date_order_needs_one_click(open_page, ledgers, name):
    days, heights, offered = ORDERS[name]
    app = own.filled(open_page, table("day;height", days, heights, sep=";"), **BY_DAY)
    assert [each.label.replace("\\", "") for each in app.button if "/year" in each.label] == offered
    app = own.press(app, offered[0])
    written = [each.value for each in own.controls(app, "numbers")]
    assert ("1234,5" in written) == ("1234,5" in offered[0])
    assert own.controls(app, "holds_day")[0].value.endswith("(day/month/year)")
    assert "In which order?" not in own.said(app)


def test_incomplete_rows_are_dropped_only_if_declared(open_page, ledgers):
    app = own.filled(open_page, KINDS["words for missing"].content, **BY_AGE, low=0.0, high=200.0)
    assert "how to treat missing values (“Which of these mean that a value is missing?”)" in own.said(app)
    assert "Empty cells, NA and the like: 10 of height, in 60 rows" in own.captions(app)
    assert not own.invited(app)


def test_owners_are_warned_before_spending(open_page, ledgers):
    content = KINDS["codes for missing"].content
    app = own.filled(open_page, content, **BY_AGE | {"low": 100.0, "high": 250.0, "delta": 0.1})
    assert "For your eyes, in no file: 10 of 60 outcomes lie outside the bounds" in own.said(app)
    assert "delta = 0.1 is above 1/n = 0.017" in own.said(app)
    app = own.press(app, own.invited(app)[0])
    assert b"For your eyes" not in own.last_zip(app).read("card.html")
    assert b"outside the bounds and count" not in own.last_zip(app).read("release.json")


# ---- Tables of odder kinds: what the page's own reader makes of each.


READ = [name for name in ODD if not ODD[name].refused]
REFUSED_AT_ONCE = {
    "rows one longer than the names",
    "no names",
    "decimal commas between commas, not quoted",
    "thousands between commas, not quoted",
    "quotes escaped by a stroke",
    "JSON",
    "HTML",
    "a table compressed by bzip2",
    "a workbook of several sheets",
    "two zipped tables",
    "a workbook with formulas that nothing computed",
    "an OpenDocument spreadsheet with formulas that nothing computed",
}
ENCODED = {"UTF-16 without a mark": "utf-16", "old letters in a note": "cp1252"}


def taken(content, encoding=None):
    """A file as the page takes it, with the lines left out that it offers to leave out."""
    writing = Writing(encoding=encoding)
    if not upload.is_text(content):
        content, _, converted = upload.as_text(content, None)
        writing = Writing(separator=",") if converted else writing
    lines = upload.lines_around(content, writing)
    held = upload.opened(content, replace(writing, ignore=lines or None))
    if held.no_rows and not lines:  # offered once it is read
        held = upload.opened(content, replace(writing, ignore=held.no_rows))
    return held


@pytest.mark.parametrize("name", READ)
def test_the_page_reads_it_right(name):
    kind = ODD[name]
    held = taken(kind.content, ENCODED.get(name))
    known = owners(kind)
    assert {*known["x"], known["y"]} <= {*held.columns}
    found, _ = proposal(io.BytesIO(held.content), known["x"], known["y"])
    spec = spec_from_object({key: value for key, value in (found | known).items() if key != MARK})
    writing = {
        key: getattr(spec.writing, key) for key in ("numbers", "notations", "missing", "date_order", "yes", "no")
    }
    spec = replace(spec, writing=replace(held.writing, **writing))
    table = read_outcomes(io.BytesIO(held.content), spec)
    np.testing.assert_allclose(table.y, kind.y, rtol=1e-12)
    np.testing.assert_allclose(days(table, spec), kind.x)


@pytest.mark.parametrize("name", sorted(REFUSED_AT_ONCE))
def test_refusals_have_a_remedy_and_no_cell(name):
    with pytest.raises(ValueError, match=r"; |\. Add a line|: open and save it") as refused:
        taken(ODD[name].content)
    assert not CELLS.search(str(refused.value))


# ---- Files of other programs.


def of_a_survey(labels: dict[str, str]) -> bytes:
    frame = pd.DataFrame({"v1": [float(age) for age in AGE], "v2": [1.0, 2.0] * 30, "v3": HEIGHT})
    return programs.spss(frame, column_labels=labels, variable_value_labels={"v2": {1.0: "man", 2.0: "woman"}})


def test_file_labels_answer_questions(open_page, ledgers):
    app = own.uploaded(open_page, of_a_survey({"v1": "Age [years]", "v3": "Body height (cm)"}), "mine.sav")
    form = CLEAN | {"y": "v3", "x": ["v1", "v2"], "box_low_v1": 0.0, "box_high_v1": 100.0, "low": 0.0, "high": 250.0}
    app = own.fill(app, **form)
    assert "v3 is “Body height (cm)”" in own.captions(app)
    app = own.press(app, "Take these units: v1 in years, v3 in cm")
    assert not [each for each in app.button if "Take these units" in each.label]
    app = own.press(app, "Yes: man, woman")
    spec = own.spec_of(app)
    assert (spec.x_units[0], spec.y_unit, spec.levels) == ("years", "cm", {"v2": ("man", "woman")})
    assert spec.unit == "one person's body height"
    app = own.press(app, own.invited(app)[0])
    assert json.loads(own.last_zip(app).read("release.json"))["public"]["n"] == N


@pytest.mark.parametrize("kind", sorted(WRONG))
def test_unreadable_files_are_not_repeated(open_page, kind):
    app = own.uploaded(open_page, WRONG[kind], f"mine.{kind}")
    assert not app.exception
    assert app.error
    assert SECRET not in " ".join((own.said(app), own.captions(app), *(each.value for each in app.markdown)))
