"""Columns on Your data: whose rows they are, dates, groups."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.figures.drawing import COLOURS
from dpgp_core.release import CHOICES, bundle, ledger_from_json
from dpgp_core.release.picture import groups_of
from dpgp_core.release.specification import EXAMPLE
from pages._ui.explore import statistic
from pages._ui.ledgers.store import Account
from pages._ui.look.plots import BINS, GUARANTEE, OTHER, PINNED, PRIVATE, RISK
from pages._ui.own import figures, practice, steps, upload
from pages._ui.own.questions import ABOUT_PEOPLE, DATES, ONLY_BAYES, USUAL
from tests.pages.own import (
    captions,
    controls,
    declare,
    filled,
    invited,
    last_zip,
    practised,
    press,
    said,
    spec_of,
    uploaded,
)
from tests.pages.reading import page_text, traces

pytestmark = pytest.mark.usefixtures("ledgers")

YEAR_FIRST, DAY_FIRST, _ = DATES


def row(at: int) -> str:
    sex = "woman" if at % 2 else "man" if at % 20 else "SECRET"
    year, day = 2018 + at // 20, at % 28 + 1
    return f"p{at % 20},{sex},{year}-01-{day:02d},{day}.1.{year},{at},{90 + at}\n"


PEOPLE = "who,sex,day,day_first,age,height\n" + "".join(map(row, range(5, 65)))
BY_AGE = {
    "y": "height",
    "x": ["age"],
    "total": 1.0,
    "low": 50.0,
    "high": 200.0,
    "box_low_age": 0.0,
    "box_high_age": 80.0,
    "delta": 1e-4,
}
ONE_ROW, BY_WHO = {"whose": "no"}, {"whose": "column", "person": "who"}
SEXES = {"x": ["age", "sex"], "holds_sex": "groups", "grid_age": 7}
PLANNED_FOR_PEOPLE = [CHOICES["bayes_cells"].title, CHOICES["bayes"].title]


def test_date_columns_are_not_called_numbers(open_page):
    app = filled(open_page, PEOPLE, **BY_AGE | ONE_ROW | {"x": ["day"]})
    assert controls(app, "holds_day")[0].value is None
    assert "day holds dates. In which order?" in said(app)
    assert not invited(app)
    assert controls(filled(open_page, PEOPLE, **BY_AGE), "holds_age")[0].value == "numbers"


def test_no_release_without_an_answer(open_page):
    app = filled(open_page, PEOPLE, **BY_AGE)
    assert "Still needed: whether somebody can have more than one row" in said(app)
    assert not invited(app)
    for answer in ("column", "at most"):  # half an answer is none
        app = declare(app, whose=answer)
        assert not invited(app)
    app = declare(app, whose="no")
    assert len(invited(app)) == 1
    assert controls(app, "unit")[0].placeholder == spec_of(app).unit == "one person's height"  # without being asked


@pytest.mark.full
def test_rows_of_people_are_not_public(open_page):
    app = filled(open_page, PEOPLE, **BY_AGE, **BY_WHO)
    assert f"20 people in 60 rows. {ABOUT_PEOPLE}" in captions(app)
    assert "20 people read." in page_text(app)
    assert "60 rows read" not in page_text(app)
    app = press(app, "Make release 1")
    assert [each.label for each in app.button if each.disabled] == ["No release: nothing is left"]
    assert not invited(app)
    card = json.loads(last_zip(app).read("release.json"))
    assert (card["config"]["person"], card["public"]["n"], card["guarantee"]["rows"]) == ("who", 20, None)
    assert ledger_from_json(json.dumps(card)).entries[0][1].hidden == "all rows of any one person"


def test_at_most_k_rows_is_noise_for_k(open_page):
    app = filled(open_page, PEOPLE, **BY_AGE, whose="at most", most_rows=4)
    assert spec_of(app).guarantee.rows == 4
    assert "60 rows read." in page_text(app)
    assert "at most 4 rows of one person" in page_text(app)
    app = declare(app, most_rows=8)
    assert spec_of(app).guarantee.rows == 8  # it is planned again


def test_limits_count_people_and_not_rows(monkeypatch):
    spec = replace(EXAMPLE, person="who", grid=(5,), y_bounds=(50.0, 200.0))
    monkeypatch.setattr(upload, "MAX_WORK", 100)  # 20 people by 5 points, in 60 rows
    assert upload.prepared(upload.opened(PEOPLE.encode()), spec).plan.n == 20


def test_a_chosen_column_is_checked_at_once(open_page):
    app = uploaded(open_page, PEOPLE)
    for changes, message in (
        ({"y": "day"}, "column 'day' holds dates; choose a column of numbers"),
        ({"y": "who"}, "holds no numbers in 60 of 60 rows, so it is no column of numbers; choose another"),
        ({"y": None, "x": ["who"]}, "who holds words: does it say which group somebody is in?"),
        ({"x": ["day"]}, "day holds dates. In which order?"),
    ):
        app = declare(app, **changes)
        assert message in said(app)
        assert "remove" not in said(app)
    app = press(app, "year-month-day")
    assert "In which order?" not in said(app)
    assert "day holds dates. In which order?" in said(declare(app, holds_day=DAY_FIRST))


def test_rows_without_a_person_are_dropped(open_page):
    app = filled(open_page, PEOPLE.replace("p7,", ","), **BY_AGE, **BY_WHO)
    assert "how to treat missing values (“Which of these mean that a value is missing?”)" in said(app)
    assert "p8" not in said(app)
    assert not invited(app)
    app = declare(app, missing=[USUAL])
    assert len(invited(app)) == 1


def test_single_row_mechanisms_are_not_offered(open_page):
    app = filled(open_page, PEOPLE, **BY_AGE, **ONE_ROW, mechanism=CHOICES["sparse"].title)
    assert len(controls(app, "mechanism")[0].options) == len(CHOICES)
    app = declare(declare(app, whose="column"), person="who")
    assert controls(app, "mechanism")[0].options == PLANNED_FOR_PEOPLE
    assert len(invited(app)) == 1


def test_impossible_releases_are_not_offered():
    one = replace(EXAMPLE, total_epsilon=1.0)
    people = replace(one, rows_per_person=3)
    spent = ("a", one.guarantee)
    for spec, limit, entries, why in (
        (one, 1.0, [], ""),
        (one, None, [], ""),
        (one, 1.0, [spent], "above the declared 1"),
        (one, 1.2, [spent], "Use epsilon = "),
        (one, 2.0, [spent], ""),
        (people, 5.0, [spent], "would not be a valid guarantee for anybody"),
    ):
        total = None if limit is None else Budget(epsilon=limit, delta=1e-5)
        account = Account(id="a", ledger=Ledger(limit=total, entries=entries), counts=True)
        refusal = steps.protection_refusal(spec, account)
        assert why in refusal
        assert bool(why) == bool(refusal)


def test_own_maps_have_east_across():
    east = replace(
        EXAMPLE,
        x=("lat", "lon"),
        x_units=("°", "°"),
        x_box=((51, 52), (-1, 0)),
        grid=(2, 3),
        lengthscale=(9, 9),
        coordinates=("lon", "lat"),
    )
    [group], oriented = groups_of(east)
    drawn, *_ = figures._map(oriented, np.arange(6.0)[group.rows], np.ones(6)).data
    assert (drawn.x[0], drawn.y[0]) == (-1.0, 51.0)
    np.testing.assert_array_equal(drawn.z, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("whose", [{"rows_per_person": 4}, {"person": "who"}])
def test_releases_of_people_can_be_explored(whose):
    spec = replace(EXAMPLE, y_bounds=(50.0, 200.0), grid=(5,), **whose)
    held = upload.opened(PEOPLE.encode())
    ledger = spec.new_ledger()
    ledger.spend([("a", spec.guarantee)])
    content = bundle(upload.released(held, upload.prepared(held, spec).plan), ledger)
    assert statistic.opened({"release.zip": content}).guarantee == spec.guarantee


# ---- A column of dates.


@pytest.mark.full
def test_dates_go_from_upload_to_zip(open_page):
    ends = {"from_day_day_first": date(2018, 1, 1), "to_day_day_first": date(2021, 12, 31)}
    dates = {"holds_day_first": DAY_FIRST, "period_day_first": "year", "grid_day_first": 13}
    app = press(filled(open_page, PEOPLE, **BY_AGE | ONE_ROW | {"x": ["day_first"]} | dates | ends), "Make release 1")
    assert not app.exception
    archive = last_zip(app)
    card = json.loads(archive.read("release.json"))
    assert card["config"]["x_box"] == [["2018-01-01", "2021-12-31"]]
    assert card["config"]["dates"] == {"day_first": {"format": "day/month/year", "period": "year"}}
    rows = list(csv.DictReader(io.StringIO(archive.read("values.csv").decode())))
    assert [rows[0]["day_first"], rows[-1]["day_first"], len(rows)] == ["01/01/2018", "31/12/2021", 13]
    assert app.dataframe[0].value["day_first"].tolist()[0] == "01/01/2018"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"to_day_day": date(2017, 1, 1)}, "must be [first, last], got [2018-01-01, 2017-01-01]; swap or widen them"),
        ({"to_day_day": date(2019, 1, 1), "period_day": "year"}, "comes less than 2 times"),
        ({"to_day_day": date(2019, 6, 1)}, "rows have 'day' outside its x_box (2018-01-01, 2019-06-01)"),
    ],
)
def test_what_does_not_fit_is_a_sentence(open_page, changes, message):
    dates = {"x": ["day"], "holds_day": YEAR_FIRST, "from_day_day": date(2018, 1, 1), "grid_day": 9}
    app = filled(open_page, PEOPLE, **BY_AGE | ONE_ROW | dates | {"mechanism": CHOICES["bayes"].title} | changes)
    assert message in said(app)
    assert not invited(app)


# ---- A column of groups.


def test_declared_categories_are_checked_at_once(open_page):
    app = filled(open_page, PEOPLE, **BY_AGE | ONE_ROW | SEXES)
    assert "Still needed: the groups of sex." in said(app)
    assert ONLY_BAYES in captions(app)
    assert controls(app, "mechanism")[0].options == PLANNED_FOR_PEOPLE
    assert not controls(app, "grid_sex")
    assert not controls(app, "box_low_sex")
    assert "must have 2 ... 20 levels, 'sex' has 1" in said(declare(app, levels_sex="woman"))
    app = declare(app, levels_sex="woman, man")
    assert "none of its levels in 3 of 60 rows, first in line 17 of the file" in said(app)
    assert "declare a level 'other'" in said(app)
    assert "SECRET" not in said(app)
    assert not invited(app)
    app = declare(app, levels_sex="woman, man, other")
    assert not app.error
    assert invited(app)


@pytest.mark.full
def test_releases_of_groups_have_a_curve_each(open_page):
    [table] = [each for each in practice.TABLES if each.form["whose"] == "column"]
    app = press(declare(practised(open_page, table), grid_age_years=7), "Make release 1")
    assert not app.exception
    assert not app.error
    rows = list(csv.DictReader(io.StringIO(last_zip(app).read("values.csv").decode())))
    assert [row["sex"] for row in rows] == app.dataframe[0].value["sex"].tolist() == ["woman", "man"] * 7
    assert {"woman", "man"} <= traces(app).keys()


def test_screen_and_file_use_the_same_colours():
    assert COLOURS == (PRIVATE, BINS, PINNED, OTHER, GUARANTEE, RISK)
