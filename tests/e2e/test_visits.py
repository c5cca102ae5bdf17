"""5,000 days of clinic visits, from file to zip in a browser: the season is in the file, and so are its dates."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from pages._ui.own import practice
from tests.e2e.own_table import Counted, answer, choose, fill, handed_out, press, release, upload

pytestmark = pytest.mark.full

MOST_ACTIONS = 14


def visits() -> bytes:
    """The practice table of dates, without its last day: nobody's practice."""
    [table] = [each for each in practice.TABLES if each.file == practice.VISITS]
    return b"\n".join(table.content().split(b"\n")[:-2]) + b"\n"


def day(page, which: str, said: str) -> None:
    """Type a day into a date field."""
    fill(page, f"{which}_day_day", said)


def test_days_of_visits_from_file_to_zip(visit, tmp_path):
    user = Counted(visit.open("your_data"))
    user.do(upload, "visits.csv", visits())
    user.do(choose, "y", "visits")
    user.do(choose, "x", "day")
    user.page.get_by_text("day holds dates. In which order?").wait_for()
    user.do(press, "year-month-day")
    user.do(answer, "No, every row is another person")
    user.do(choose, "kind", "A count")
    user.do(choose, "period_day", "every year")
    user.do(day, "from", "2010-01-01")
    user.do(day, "to", "2023-09-08")
    for key, value in (("low", "0"), ("high", "60"), ("total", "1")):
        user.do(fill, key, value)
    user.do(release, 1)
    card, rows, _ = handed_out(visit, user, MOST_ACTIONS, tmp_path)
    assert card["config"]["dates"] == {"day": {"format": "year-month-day", "period": "year"}}
    assert card["public"]["n"] == practice.DAYS - 1
    days = [date.fromisoformat(row["day"]) for row in rows]
    assert (days[0], days[-1]) == (date(2010, 1, 1), date(2023, 9, 8))
    values = np.array([float(row["value"]) for row in rows])
    winter = np.array([each.month in (1, 2) for each in days])
    summer = np.array([each.month in (7, 8) for each in days])
    # the table's season is 8 visits up and down; the curve's error is .6 to .8 of one
    assert 9 < values[winter].mean() - values[summer].mean() < 17
