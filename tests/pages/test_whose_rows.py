"""Your data asks whose rows they are, checks each column as it is chosen, and offers nothing that is not left."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from dpgp_core.accounting.guarantee import Budget
from dpgp_core.accounting.ledger import Ledger
from dpgp_core.release import CHOICES, bundle, ledger_from_json
from dpgp_core.release.specification import EXAMPLE
from pages._ui.explore import statistic
from pages._ui.explore.statistic import CARD, FILE
from pages._ui.ledgers.store import Account
from pages._ui.own import figures, practice, steps, upload
from pages._ui.own.columns import USUAL
from tests.pages.own import captions, controls, declare, invited, last_zip, practised, press, said, spec_of, uploaded
from tests.pages.reading import page_text

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
    content = bundle(upload.released(held, spec, found.plan), spec, ledger)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        explored = statistic.opened({name: archive.read(name) for name in (CARD, FILE)})
    assert explored.guarantee == spec.guarantee
