"""Tables of people on Your data: what could be read wrong is asked about, with examples, and never guessed."""

from __future__ import annotations

import json

import pytest

from tests.core.reading.test_people_tables import AGES, PAY, RATES, RECOVERED, by_age, replaced, table
from tests.pages.own import captions, controls, declare, fill, filled, invited, last_zip, press, said, uploaded

pytestmark = pytest.mark.usefixtures("ledgers")

FORM = {
    "y": "y",
    "x": ["age"],
    "total": 2.0,
    "whose": "no",
    "low": 0.0,
    "high": 100.0,
    "box_low_age": 0.0,
    "box_high_age": 90.0,
    "grid_age": 5,
    "delta": 1e-4,
}


def config_of(app):
    """The configuration that was released."""
    return json.loads(last_zip(app).read("release.json"))["config"]


def released(app):
    app = press(app, "Make release 1")
    assert not app.exception
    return config_of(app)


@pytest.mark.parametrize(("mark", "ways"), [(".", ["1.234,5", "1234.5"]), (",", ["1,234.5", "1234,5"])])
def test_both_readings_are_shown_and_none_is_taken(open_page, mark, ways):
    cells = [cell.replace(".", mark) for cell in PAY]
    app = filled(open_page, by_age(cells), **FORM | {"high": 10_000.0})
    [question] = controls(app, "reading")
    assert question.value is None
    example = question.label.split()[1]
    assert example in cells
    whole, fraction = int(example.replace(mark, "")), float(example.replace(mark, "."))
    assert question.label == f"y: {example} is {whole:,} or {fraction:g}?"
    assert f"Still needed: what {example} means" in said(app)
    assert not app.error
    assert not invited(app)
    assert released(declare(app, reading=ways[0]))["numbers"] == ways[0]


def test_declared_censored_values_are_not_missing(open_page):
    app = filled(open_page, by_age(replaced(RATES, 3, "<5", ">90")), **FORM)
    assert "30 of 90 rows of y hold censored values, such as <5 or 80+, which count as their limit." in said(app)
    assert "Still needed: how y is written" in said(app)
    assert not app.error
    assert not controls(app, "missing")
    assert not invited(app)
    app = press(app, "Yes, read y so")
    assert not app.error
    assert controls(app, "notations")[0].value == ["censored"]
    assert "90 rows read." in "\n".join(each.value for each in app.markdown)
    assert released(app)["notations"] == ["censored"]


def test_a_date_may_mean_yes(open_page):
    app = filled(open_page, by_age(RECOVERED), **FORM)
    assert "y holds dates and other values: does a date mean yes or no?" in said(app)
    app = press(app, "Yes, an outcome of yes or no")
    assert "what a date means" in said(app)
    app = declare(declare(app, dates_mean="yes"), yes="1", no="0")
    assert not app.error
    found = released(app)
    assert (found["yes"], found["no"]) == (["1", "any date"], ["0"])


def test_columns_with_one_name_are_numbered(open_page):
    content = table("age;y;y", AGES, RATES, AGES)
    app = filled(open_page, content, **FORM | {"y": "y (column 3)"})
    assert controls(app, "y")[0].options == ["age", "y (column 2)", "y (column 3)"]
    assert released(app)["y"] == "y (column 3)"


def test_a_repeating_column_may_identify_people(open_page):
    content = table("who;age;y", [f"P{at // 2}" for at in range(90)], AGES, RATES)
    app = filled(open_page, content, **FORM | {"whose": None})
    assert "who has 45 values in 90 rows. Does it say whose row it is?" in said(app)
    app = press(app, "Yes, who")
    assert "45 people in 90 rows" in captions(app)
    assert released(app)["person"] == "who"


@pytest.mark.parametrize(
    "changes", [{"low": 200.0, "high": 300.0}, {"box_low_age": 200.0, "box_high_age": 300.0}, {"kind": "count"}]
)
def test_unlikely_declarations_must_be_confirmed(open_page, changes):
    app = filled(open_page, by_age(RATES), **FORM | changes)
    assert "the declaration is probably wrong, as it fits less than half of the table" in said(app)
    assert not invited(app)
    assert "No release: see above" in [each.label for each in app.button if each.disabled]
    [insists] = [each for each in app.checkbox if each.key == "own_anyway"]
    app = insists.check().run()
    assert len(invited(app)) == 1
    assert "probably wrong" not in said(app)
    released(app)


def test_a_second_header_line_may_be_ignored(open_page):
    app = uploaded(open_page, table("age;y", ["years", *AGES], ["kg", *RATES]))
    assert "Line 2 may not be a row of the table" in said(app)
    undecided = fill(app, **FORM)
    assert "has text instead of a number in a line that may not be a row; leave it out above" in said(undecided)
    assert "own_f_missing" not in [each.key for each in undecided.multiselect]  # neither years nor kg is offered
    app = press(undecided, "Leave out line 2")
    assert len(invited(app)) == 1
