"""Your data with an outcome of each kind: a practice table each, from a click to its zip."""

from __future__ import annotations

import base64
import io
import zipfile

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpgp_core.release import CHOICES, read_table, spec_from_json
from pages._ui.own import practice, upload
from tests.pages.reading import page_text, traces
from tests.pages.test_your_data import declare, last_zip, ledgers, press, said, uploaded  # noqa: F401


def of_kind(kind: str) -> practice.Practice:
    return next(each for each in practice.TABLES if each.kind == kind)


def practised(open_page, kind: str) -> AppTest:
    app = open_page("your_data")
    [button] = [each for each in app.button if each.label == of_kind(kind).button]  # not one that begins so
    app = button.click().run()
    assert not app.exception
    return app


def control(app: AppTest, kind: str, key: str):
    return [each for each in getattr(app, kind) if each.key == f"own_f_{key}"]


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
    "kind", ["number", "yes/no", *(pytest.param(kind, marks=pytest.mark.full) for kind in ("amount", "count"))]
)
def test_a_practice_table_of_each_kind_is_released(open_page, kind):
    app = press(practised(open_page, kind), "Make release 1")
    assert not app.error
    assert "**1 released**" in page_text(app)
    archive = last_zip(app)
    spec = spec_from_json(archive.read("release.json"))
    assert spec.y_kind == kind
    data = read_table(io.BytesIO(of_kind(kind).content()), spec)
    assert data.y_kind == kind
    assert data.clipped_count < 0.01 * data.n  # the bounds that are declared are sensible


def test_yes_and_no_have_their_bounds_and_come_back_in_per_cent(open_page):
    app = practised(open_page, "yes/no")
    assert not control(app, "number_input", "low")
    assert not control(app, "checkbox", "centiles")
    assert not control(app, "checkbox", "log")
    assert {"0, no", "1, yes"} <= {each.value for each in app.text_input if each.disabled}
    app = press(app, "Make release 1")
    shown = app.dataframe[0].value
    rates = shown["share of yes [%]"]
    assert not any("output" in name for name in shown)  # one more person is yes or no
    kept = np.genfromtxt(io.BytesIO(last_zip(app).read("values.csv")), delimiter=",", names=True)
    np.testing.assert_allclose(rates, 100 * kept["value"])
    assert ((rates >= 0) & (rates <= 100)).all()
    drawn = traces(app)["released"]["y"]
    np.testing.assert_allclose(np.frombuffer(base64.b64decode(drawn["bdata"]), drawn["dtype"]), rates)


@pytest.mark.parametrize("kind", ["number", "amount", "count"])
def test_centiles_are_shown_and_published_on_request(open_page, kind):
    app = practised(open_page, kind)
    [box] = control(app, "checkbox", "centiles")
    app = press(box.check().run(), "Make release 1")
    names = [f"{each} % are below" for each in (3, 15, 50, 85, 97)]
    shown = app.dataframe[0].value[names].to_numpy()
    assert (np.diff(shown, axis=1) >= 0).all()
    kept = np.genfromtxt(io.BytesIO(last_zip(app).read("values.csv")), delimiter=",", names=True)
    np.testing.assert_allclose(shown[:, 4], kept["centile_97"])
    drawn = [name for name in traces(app) if "centile " in name or "half of people" in name]
    assert drawn == ["centile 3", "centile 15", "half of people below", "centile 85", "centile 97"]


def test_centiles_are_offered_only_where_people_are_measured(open_page):
    app = practised(open_page, "amount")
    assert control(app, "checkbox", "centiles")
    assert not control(declare(app, mechanism=CHOICES["refined"].title), "checkbox", "centiles")


@pytest.mark.parametrize(
    ("kind", "wrong"), [("yes/no", "2"), ("count", "-1"), ("count", "0.7316"), ("amount", "-0.7316")]
)
def test_an_outcome_of_another_kind_is_a_sentence_and_spends_nothing(open_page, kind, wrong):
    table = of_kind(kind)
    content = practice.contents()[practice.TABLES.index(table)] + f"50.0,{wrong}\n".encode()
    app = uploaded(open_page, content)
    for key, value in (table.form | {"kind": kind}).items():
        app.session_state[f"own_f_{key}"] = value
    app.run()
    assert f"declared {kind} must all be" in said(app)
    assert wrong not in said(app).replace("0 or 1", "").replace("0 or more", "")
    assert "Nothing has been released yet" in page_text(app)
    assert not [each for each in app.button if each.label.startswith("Make release")]


def test_the_outlook_works_for_yes_and_no(open_page):
    app = press(practised(open_page, "yes/no"), "Work it out")
    assert not app.exception
    shown = app.dataframe[0].value
    assert list(shown["ε"]) == list(upload.OUTLOOK)
    widths = shown["curve within ± [percentage points], 95 %"].astype(float)
    assert 1 < widths.iloc[-1] < widths.iloc[0] < 100


def test_the_zip_of_a_rate_holds_no_centiles(open_page):
    app = press(practised(open_page, "yes/no"), "Make release 1")
    with zipfile.ZipFile(io.BytesIO(app.session_state["own_released"][0].bundle)) as archive:
        assert b"centile" not in archive.read("values.csv")
