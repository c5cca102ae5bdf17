"""Your data with an outcome of each kind: a practice table each, from a click to its zip."""

from __future__ import annotations

import io

import numpy as np
import pytest

from dpgp_core.release import CHOICES, read_table, spec_from_json
from pages._ui.own import practice, upload
from tests.pages.own import controls, declare, invited, last_zip, of_kind, practised, press, said, uploaded
from tests.pages.reading import numbers, page_text, traces

pytestmark = pytest.mark.usefixtures("ledgers")


def test_there_is_a_table_of_each_kind_and_what_is_made_up_says_so():
    assert [each.kind for each in practice.TABLES] == ["number", "amount", "count", "yes/no", "amount", "count"]
    for each in practice.TABLES[1:]:
        assert each.file.startswith("simulated_")
        assert each.button.startswith("Simulated")


def test_the_tables_are_the_same_whenever_they_are_made():
    for each, content in zip(practice.TABLES, practice.contents(), strict=True):
        assert each.content() == content
        assert upload.is_practice(upload.opened("renamed.csv", content))
    assert not upload.is_practice(upload.opened("mine.csv", b"age_years,vaccinated\n1,0\n"))


@pytest.mark.parametrize(
    "kind", ["number", *(pytest.param(kind, marks=pytest.mark.full) for kind in ("amount", "count"))]
)
def test_a_practice_table_of_each_kind_is_released(open_page, kind):
    released(practised(open_page, of_kind(kind)), kind)


def released(app, kind):
    app = press(app, "Make release 1")
    assert not app.error
    assert "**1 released**" in page_text(app)
    spec = spec_from_json(last_zip(app).read("release.json"))
    assert spec.y_kind == kind
    data = read_table(io.BytesIO(of_kind(kind).content()), spec)
    assert data.y_kind == kind
    assert data.clipped_count < 0.01 * data.n  # the bounds that are declared are sensible
    return app


def kept(app):
    """The values in the zip."""
    return np.genfromtxt(io.BytesIO(last_zip(app).read("values.csv")), delimiter=",", names=True)


def test_yes_and_no_have_their_bounds_and_come_back_in_per_cent(open_page):
    app = practised(open_page, of_kind("yes/no"))
    assert not any(controls(app, key) for key in ("low", "centiles", "log"))
    assert {"0, no", "1, yes"} <= {each.value for each in app.text_input if each.disabled}
    app = press(app, "Work it out")
    assert not app.exception
    shown = app.dataframe[0].value
    assert list(shown["ε"]) == list(upload.OUTLOOK)
    widths = shown["curve within ± [percentage points], 95 %"].astype(float)
    assert 1 < widths.iloc[-1] < widths.iloc[0] < 100
    app = released(app, "yes/no")
    [shown] = [each.value for each in app.dataframe if "share of yes [%]" in each.value]
    rates = shown["share of yes [%]"]
    assert not any("output" in name for name in shown)  # one more person is yes or no
    np.testing.assert_allclose(rates, 100 * kept(app)["value"])
    assert ((rates >= 0) & (rates <= 100)).all()
    np.testing.assert_allclose(numbers(traces(app)["released"]["y"]), rates)
    assert not any("centile" in name for name in kept(app).dtype.names)


@pytest.mark.parametrize("kind", ["number", "amount"])  # and a count is an amount: its scatter may be skewed
def test_centiles_are_shown_and_published_on_request(open_page, kind):
    app = press(declare(practised(open_page, of_kind(kind)), centiles=True), "Make release 1")
    names = [f"{each} % are below" for each in (3, 15, 50, 85, 97)]
    shown = app.dataframe[0].value[names].to_numpy()
    assert (np.diff(shown, axis=1) >= 0).all()
    np.testing.assert_allclose(shown[:, 4], kept(app)["centile_97"])
    drawn = [name for name in traces(app) if "centile " in name or "half of people" in name]
    assert drawn == ["centile 3", "centile 15", "half of people below", "centile 85", "centile 97"]
    assert not controls(declare(app, mechanism=CHOICES["refined"].title), "centiles")  # nobody's scatter is measured


@pytest.mark.parametrize(("kind", "wrong"), [("yes/no", "2"), ("count", "0.7316")])
def test_outcomes_of_another_kind_are_told_to_the_owner_and_refuse_nothing(open_page, kind, wrong):
    table = of_kind(kind)
    content = practice.contents()[practice.TABLES.index(table)]
    app = uploaded(open_page, content + f"50.0,{wrong}\n".encode())
    for key, value in (table.form | {"kind": kind}).items():
        app.session_state[f"own_f_{key}"] = value
    app.run()
    if kind == "yes/no":  # it is asked what a third value means
        assert "which word means yes, and which no" in said(app)
        assert not invited(app)
        return
    [told] = [each.value for each in app.warning if "not of its kind" in each.value]
    assert told.startswith("1 of ")
    assert wrong not in told.partition("not of its kind")[2]
    assert invited(app)
    app = declare(app, kind="number")
    assert not any("not of its kind" in each.value for each in app.warning)
