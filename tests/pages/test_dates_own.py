"""A column of dates in Your data, from upload to zip."""

from __future__ import annotations

import csv
import io
import json
from datetime import date

import pytest

from pages._ui.own import practice
from pages._ui.own.columns import DATES
from tests.pages.own import declare, invited, last_zip, practised, press, said, uploaded
from tests.pages.reading import page_text

pytestmark = pytest.mark.usefixtures("ledgers")

YEAR_FIRST, DAY_FIRST, _ = DATES
DAYS = "day,day_first,visits\n" + "".join(
    f"20{19 + k // 100}-01-{k % 28 + 1:02d},{k % 28 + 1}.1.20{19 + k // 100},{10 + k % 7}\n" for k in range(300)
)


def chosen(open_page, x: str = "day"):
    return declare(uploaded(open_page, DAYS), y="visits", x=[x], whose="no", total=1.0, low=0.0, high=30.0)


def test_a_column_is_checked_as_soon_as_it_is_said_to_hold_dates(open_page):
    app = declare(uploaded(open_page, DAYS), x=["day"])
    assert "day holds dates. In which order?" in said(app)
    app = press(app, "year-month-day")
    assert "In which order?" not in said(app)
    app = declare(app, holds_day=DAY_FIRST)
    assert "day holds dates. In which order?" in said(app)


def test_dates_go_from_upload_to_zip(open_page):
    app = declare(chosen(open_page, "day_first"), holds_day_first=DAY_FIRST)
    app = declare(app, from_day_day_first=date(2019, 1, 1), to_day_day_first=date(2021, 12, 31), grid_day_first=13)
    app = press(declare(app, period_day_first="every year"), "Make release 1")
    assert not app.exception
    archive = last_zip(app)
    card = json.loads(archive.read("release.json"))
    assert card["config"]["x_box"] == [["2019-01-01", "2021-12-31"]]
    assert card["config"]["dates"] == {"day_first": {"format": "day/month/year", "period": "year"}}
    rows = list(csv.DictReader(io.StringIO(archive.read("values.csv").decode())))
    assert [rows[0]["day_first"], rows[-1]["day_first"], len(rows)] == ["01/01/2019", "31/12/2021", 13]
    assert app.dataframe[0].value["day_first"].tolist()[0] == "01/01/2019"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"to_day_day": date(2018, 1, 1)}, "must be [first, last], got [2019-01-01, 2018-01-01]; swap or widen them"),
        ({"to_day_day": date(2020, 1, 1), "period_day": "every year"}, "comes less than 2 times"),
        ({"to_day_day": date(2019, 6, 1)}, "rows have 'day' outside its x_box (2019-01-01, 2019-06-01)"),
    ],
)
def test_what_does_not_fit_is_a_sentence(open_page, changes, message):
    app = declare(chosen(open_page), holds_day=YEAR_FIRST, mechanism="Bayes cloaking (ours)")
    app = declare(app, **{"from_day_day": date(2019, 1, 1), "grid_day": 9} | changes)
    assert message in said(app)
    assert not invited(app)


def test_the_practice_table_of_daily_visits_fills_the_form(open_page):
    [table] = [each for each in practice.TABLES if each.file == practice.VISITS]
    app = practised(open_page, table)
    assert not app.error
    assert "5,000 rows read" in page_text(app)
    assert invited(app)
