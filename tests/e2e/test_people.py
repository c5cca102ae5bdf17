"""Wages of 1,200 people in 3,000 rows, by age and sex, from file to zip in a browser: the promise is checked."""

from __future__ import annotations

import pytest

from pages._ui.own import practice
from tests.e2e.own_table import Counted, answer, choose, fill, handed_out, press, release, upload

pytestmark = pytest.mark.full

MOST_ACTIONS = 15


def wages() -> bytes:
    """The practice table of people, under another name and with a last row of its own: nobody's practice."""
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
    for key, value in (
        ("low", "0"),
        ("high", "80"),
        ("box_low_age_years", "18"),
        ("box_high_age_years", "90"),
        ("total", "1"),
    ):
        user.do(fill, key, value)
    assert user.page.get_by_text("3,001 rows read").count() == 0
    user.do(release, 1)
    card, rows, files = handed_out(visit, user, MOST_ACTIONS, tmp_path)
    assert (card["guarantee"]["rows"], card["guarantee"]["epsilon"], card["public"]["n"]) == (None, 1.0, 1201)
    assert "all rows of one person, inputs and outputs" in card["guarantee"]["neighbours"]
    assert card["guarantee"]["unit"] == "one person's wage_an_hour"
    assert "all rows of any one person" in files["card.html"].decode()
    assert [row["sex"] for row in rows[:4]] == ["man", "woman", "man", "woman"]
    assert card["config"]["x_levels"] == [None, ["man", "woman"]]
    figure = files["figure.svg"].decode()
    assert figure.count("<polygon") == 2
    assert ">woman</text>" in figure
    middle = [row for row in rows if 35 <= float(row["age_years"]) <= 65]
    # the table's mean wage there is 22 to 26; some ten standard errors of privacy and people
    assert all(12 < float(row["value"]) < 40 for row in middle)
    assert not any(b"P0001" in content or b"P9999" in content for content in files.values())
