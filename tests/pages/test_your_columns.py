"""Columns on Your data: whose rows they are, dates, groups, each from upload to zip."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.release import CHOICES, bundle, ledger_from_json
from dpgp_core.release.figure import COLOURS
from dpgp_core.release.specification import EXAMPLE
from pages._ui.explore import statistic
from pages._ui.explore.statistic import CARD, FILE
from pages._ui.ledgers.store import Account
from pages._ui.look.plots import BINS, GUARANTEE, OTHER, PINNED, PRIVATE, RISK
from pages._ui.own import figures, practice, steps, upload
from pages._ui.own.questions import DATES, ONLY_BAYES, USUAL
from tests.pages.own import captions, controls, declare, invited, last_zip, practised, press, said, spec_of, uploaded
from tests.pages.reading import page_text, traces

pytestmark = pytest.mark.usefixtures("ledgers")

PEOPLE = "who,day,age,height\n" + "\n".join(
    f"p{at % 20},2020-01-{at % 28 + 1:02d},{at},{90 + at}" for at in range(5, 65)
)


def of_people(open_page, content: str = PEOPLE):
    app = declare(uploaded(open_page, content), y="height", x=["age"], total=1.0)
    return declare(app, low=50.0, high=200.0, box_low_age=0.0, box_high_age=80.0, delta=1e-4)


def test_no_release_without_an_answer(open_page):
    app = of_people(open_page)
    assert "Still to declare: whether somebody can have more than one row" in said(app)
    assert not invited(app)
    for answer in ("column", "at most"):  # half an answer is none
        app = declare(app, whose=answer)
        assert not invited(app)
    app = declare(app, whose="no")
    assert len(invited(app)) == 1


def test_people_are_counted_and_their_rows_are_not_said_to_be_public(open_page):
    app = declare(declare(of_people(open_page), whose="column"), person="who")
    assert (
        "20 people in 60 rows. The number of people will stand on the card. The number of rows stays hidden "
        "where inputs are private." in captions(app)
    )
    assert "20 people read." in page_text(app)
    assert "60 rows read" not in page_text(app)
    app = press(app, "Make release 1")
    card = json.loads(last_zip(app).read("release.json"))
    assert (card["config"]["person"], card["public"]["n"]) == ("who", 20)
    assert (card["guarantee"]["unit"], card["guarantee"]["rows"]) == ("one person's height", None)
    assert ledger_from_json(json.dumps(card)).entries[0][1].hidden == "all rows of any one person"


def test_at_most_k_rows_is_noise_for_k(open_page):
    app = declare(declare(of_people(open_page), whose="at most"), most_rows=4)
    assert spec_of(app).guarantee.rows == 4
    assert "60 rows read." in page_text(app)
    assert "at most 4 rows of one person" in page_text(app)
    app = declare(app, most_rows=8)
    assert spec_of(app).guarantee.rows == 8  # it is planned again


def test_a_limit_on_work_counts_people_and_not_their_rows(monkeypatch):
    spec = replace(EXAMPLE, person="who", grid=(5,), y_bounds=(50.0, 200.0))
    monkeypatch.setattr(upload, "MAX_WORK", 100)  # 20 people by 5 points, in 60 rows
    assert upload.prepared(upload.opened("mine.csv", PEOPLE.encode()), spec).plan.n == 20


def test_a_column_is_checked_as_soon_as_it_is_chosen(open_page):
    app = uploaded(open_page, PEOPLE)
    for changes, message in (
        ({"y": "day"}, "column 'day' holds dates; choose a column of numbers"),
        ({"y": "who"}, "holds no numbers in 60 of 60 rows, so it is no column of numbers; choose another"),
        ({"y": None, "x": ["day"]}, "day holds dates. In which order?"),
        ({"x": ["who"]}, "who holds words: does it say which group somebody is in?"),
    ):
        app = declare(app, **changes)
        assert message in said(app)
        assert "remove" not in said(app)


def test_rows_of_nobody_are_left_out_where_that_is_said(open_page):
    app = declare(of_people(open_page, PEOPLE.replace("p7,", ",")), whose="column")
    app = declare(app, person="who")
    assert "whether rows that lack a value are left out" in said(app)
    assert "p8" not in said(app)
    assert not invited(app)
    app = declare(app, missing=[USUAL])
    assert len(invited(app)) == 1


def test_mechanisms_that_hide_one_row_are_not_offered_for_people(open_page):
    app = declare(declare(of_people(open_page), whose="no"), mechanism=CHOICES["sparse"].title)
    assert len(controls(app, "mechanism")[0].options) == len(CHOICES)
    app = declare(declare(app, whose="column"), person="who")
    assert controls(app, "mechanism")[0].options == [CHOICES["bayes_cells"].title, CHOICES["bayes"].title]
    assert len(invited(app)) == 1


def test_what_is_hidden_has_a_name_without_being_asked(open_page):
    app = declare(of_people(open_page), whose="no")
    assert controls(app, "unit")[0].placeholder == "one person's height"
    assert spec_of(app).unit == "one person's height"


def account(limit: float | None, *entries) -> Account:
    total = None if limit is None else Budget(epsilon=limit, delta=1e-5)
    return Account(id="a", ledger=Ledger(limit=total, entries=list(entries)), counts=True)


def test_a_release_that_would_be_refused_is_not_offered():
    one = replace(EXAMPLE, total_epsilon=1.0)
    spent = ("a", one.guarantee)
    assert steps.protection_refusal(one, account(1.0)) == ""
    assert steps.protection_refusal(one, account(None)) == ""
    assert "above the declared 1" in steps.protection_refusal(one, account(1.0, spent))
    assert "Use epsilon = " in steps.protection_refusal(one, account(1.2, spent))
    assert steps.protection_refusal(one, account(2.0, spent)) == ""
    people = replace(one, rows_per_person=3)
    assert "would be no promise to anybody" in steps.protection_refusal(people, account(5.0, spent))
    assert Budget(epsilon=1.0, delta=1e-5) == people.guarantee.budget


def test_the_button_says_when_nothing_is_left(open_page):
    app = press(declare(of_people(open_page), whose="no"), "Make release 1")
    assert [each.label for each in app.button if each.disabled] == ["No release: nothing is left"]
    assert not invited(app)


def test_the_practice_table_of_people(open_page):
    [table] = [each for each in practice.TABLES if each.form["whose"] == "column"]
    held = upload.practice(table)
    assert held.columns == ("person", "sex", "asked_on", "age_years", "wage_an_hour")
    assert (held.rows, held.survey["person"].values, held.survey["sex"].values) == (3_000, 1_200, 2)
    assert held.survey["wage_an_hour"].unread["1234.5"] == (0, 0)
    rows = np.genfromtxt(io.BytesIO(held.content), delimiter=",", names=True, dtype=None, encoding="utf-8")
    assert {2020, 2023} <= {int(day[:4]) for day in rows["asked_on"]}
    assert (rows["wage_an_hour"] > 80).mean() < 0.01
    app = practised(open_page, table)
    assert "1,200 people read." in page_text(app)
    assert len(invited(app)) == 1


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
    [drawn] = figures.previewed(east, np.arange(6.0)).data
    assert (drawn.x[0], drawn.y[0]) == (-1.0, 51.0)
    np.testing.assert_array_equal(drawn.z, [[0, 1, 2], [3, 4, 5]])


@pytest.mark.parametrize("whose", [{"rows_per_person": 4}, {"person": "who"}])
def test_a_release_to_people_can_be_explored_and_its_promise_is_to_them(whose):
    yes = "who,age,height\n" + "\n".join(f"p{at % 20},{at},{at % 2}" for at in range(60))
    spec = replace(EXAMPLE, y_kind="yes/no", y_bounds=(0.0, 1.0), y_unit="", grid=(5,), **whose)
    held = upload.opened("mine.csv", yes.encode())
    found = upload.prepared(held, spec)
    ledger = spec.new_ledger()
    ledger.spend([("a", spec.guarantee)])
    content = bundle(upload.released(held, found.plan), ledger)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        explored = statistic.opened({name: archive.read(name) for name in (CARD, FILE)})
    assert explored.guarantee == spec.guarantee


# ---- A column of dates in Your data, from upload to zip.


YEAR_FIRST, DAY_FIRST, _ = DATES
DAYS = "day,day_first,visits\n" + "".join(
    f"20{19 + k // 100}-01-{k % 28 + 1:02d},{k % 28 + 1}.1.20{19 + k // 100},{10 + k % 7}\n" for k in range(300)
)


def dated(open_page, x: str = "day"):
    return declare(uploaded(open_page, DAYS), y="visits", x=[x], whose="no", total=1.0, low=0.0, high=30.0)


def test_a_column_is_checked_as_soon_as_it_is_said_to_hold_dates(open_page):
    app = declare(uploaded(open_page, DAYS), x=["day"])
    assert "day holds dates. In which order?" in said(app)
    app = press(app, "year-month-day")
    assert "In which order?" not in said(app)
    app = declare(app, holds_day=DAY_FIRST)
    assert "day holds dates. In which order?" in said(app)


def test_dates_go_from_upload_to_zip(open_page):
    app = declare(dated(open_page, "day_first"), holds_day_first=DAY_FIRST)
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
    app = declare(dated(open_page), holds_day=YEAR_FIRST, mechanism="Bayes cloaking (ours)")
    app = declare(app, **{"from_day_day": date(2019, 1, 1), "grid_day": 9} | changes)
    assert message in said(app)
    assert not invited(app)


def test_the_practice_table_of_daily_visits_fills_the_form(open_page):
    [table] = [each for each in practice.TABLES if each.file == practice.VISITS]
    app = practised(open_page, table)
    assert not app.error
    assert "5,000 rows read" in page_text(app)
    assert invited(app)


# ---- A column of groups in Your data, from upload to zip.


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
