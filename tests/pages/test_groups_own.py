"""A column of groups in Your data, from upload to zip."""

from __future__ import annotations

import csv
import io
import json
from datetime import date

import numpy as np
import pytest

from dpgp_core.release import CHOICES
from dpgp_core.release.figure import COLOURS
from pages._ui.look.plots import BINS, GUARANTEE, OTHER, PINNED, PRIVATE, RISK
from pages._ui.own import practice
from pages._ui.own.columns import ONLY_BAYES
from tests.pages.own import captions, controls, declare, invited, last_zip, practised, press, said, uploaded
from tests.pages.reading import traces

pytestmark = pytest.mark.usefixtures("ledgers")

SEXES = "age,sex,wage\n" + "".join(
    f"{20 + k % 60},{('woman', 'man', 'SECRET')[0 if k % 2 else 1 if k % 50 else 2]},{20 + k % 7 + k % 2}\n"
    for k in range(400)
)


def chosen(open_page, levels: str):
    app = declare(uploaded(open_page, SEXES), y="wage", x=["age", "sex"], whose="no", total=1.0)
    app = declare(app, low=0.0, high=40.0, box_low_age=20.0, box_high_age=80.0, holds_sex="groups")
    return declare(app, levels_sex=levels, grid_age=7)


def test_groups_are_checked_as_soon_as_they_are_declared(open_page):
    app = chosen(open_page, "")
    assert "Still to declare: the groups of sex." in said(app)
    assert not controls(app, "grid_sex")
    assert not controls(app, "box_low_sex")
    assert "must have 2 ... 20 levels, 'sex' has 1" in said(declare(app, levels_sex="woman"))
    app = declare(app, levels_sex="woman, man")
    assert "none of its levels in 8 of 400 rows, first in line 2 of the file" in said(app)
    assert "declare a level 'other'" in said(app)
    assert "SECRET" not in said(app)
    assert not invited(app)
    app = declare(app, levels_sex="woman, man, other")
    assert not app.error
    assert invited(app)


def test_only_mechanisms_that_take_groups_are_offered(open_page):
    app = declare(chosen(open_page, "woman, man, other"), holds_sex="numbers")
    app = declare(declare(app, mechanism=CHOICES["refined"].title), holds_sex="groups")
    [mechanism] = controls(app, "mechanism")
    assert mechanism.options == [CHOICES[each].title for each in ("bayes_cells", "bayes")]
    assert ONLY_BAYES in captions(app)


def test_the_practice_table_goes_to_a_zip_with_its_groups(open_page):
    [table] = [each for each in practice.TABLES if each.form["whose"] == "column"]
    app = declare(practised(open_page, table), grid_age_years=7)
    app = press(app, "Make release 1")
    assert not app.exception
    assert not app.error
    archive = last_zip(app)
    card = json.loads(archive.read("release.json"))
    assert card["config"]["x_levels"] == [None, ["woman", "man"]]
    assert (card["config"]["person"], card["public"]["n"]) == ("person", 1200)
    rows = list(csv.DictReader(io.StringIO(archive.read("values.csv").decode())))
    assert [row["sex"] for row in rows] == ["woman", "man"] * 7
    assert app.dataframe[0].value["sex"].tolist() == ["woman", "man"] * 7
    assert {"woman", "man"} <= traces(app).keys()
    figure = archive.read("figure.svg").decode()
    assert figure.count("<polygon") == 2
    assert ">woman</text>" in figure
    drawn = traces(app, 1)["woman less man"]
    assert app.session_state["own_apart"][0][1:] == ("woman", "man")
    values = np.array([float(row["value"]) for row in rows])
    found = app.session_state["own_apart"][1]
    np.testing.assert_allclose(found.mean, values[::2] - values[1::2], atol=0.5)  # each was rounded
    low, high = found.interval()
    assert (low < found.mean).all()
    assert (found.mean < high).all()
    assert len(drawn["x"]) > 0


@pytest.mark.full
def test_groups_stand_beside_dates_that_come_again(open_page):
    days = "".join(
        f"20{20 + k // 360}-{k // 30 % 12 + 1:02d}-{k % 28 + 1:02d},{k % 2},{10 + k % 5}\n" for k in range(900)
    )
    app = declare(uploaded(open_page, f"day,who,visits\n{days}"), y="visits", x=["who", "day"], whose="no")
    app = declare(
        app, holds_who="groups", holds_day="dates, as 2024-03-31 (year-month-day)", low=0.0, high=30.0, total=1.0
    )
    app = declare(app, levels_who="0, 1", from_day_day=date(2020, 1, 1), to_day_day=date(2022, 12, 31), grid_day=7)
    app = press(declare(app, period_day="every year"), "Make release 1")
    assert not app.exception
    assert not app.error
    rows = list(csv.DictReader(io.StringIO(last_zip(app).read("values.csv").decode())))
    ends = [("0", "2022-12-31"), ("1", "2020-01-01")]
    assert [(row["who"], row["day"]) for row in rows[6:8]] == ends
    assert {"0", "1"} <= traces(app).keys()


def test_screen_and_file_draw_a_release_in_the_same_colours():
    assert COLOURS == (PRIVATE, BINS, PINNED, OTHER, GUARANTEE, RISK)
