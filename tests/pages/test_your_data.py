"""Your data: a table comes in, all that is public about it is declared, and tables for practice of each kind."""

from __future__ import annotations

import gzip
import io
import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from dpgp_core.release import CHOICES, plan_release, read_table, spec_from_json
from dpgp_core.release.specification import EXAMPLE
from pages._ui.look.text import plain
from pages._ui.own import intake, practice, upload
from pages._ui.work import cached
from tests import other_programs
from tests.pages.own import (
    HEIGHTS,
    ROWS,
    controls,
    declare,
    declared,
    filled,
    invited,
    last_zip,
    of_kind,
    practised,
    press,
    said,
    spec_of,
    uploaded,
)
from tests.pages.reading import numbers, page_text, traces

pytestmark = pytest.mark.usefixtures("ledgers")


def _in_stata(text: str) -> bytes:
    return other_programs.stata(pd.read_csv(io.StringIO(text)))


def again(app, content: str):
    """The page once another file has come in."""
    return app.file_uploader[0].upload("again.csv", content.encode(), "text/csv").run()


def outlook(app):
    """Widths of the curve at other budgets, and their column's name."""
    table = next(each.value for each in app.dataframe if "ε" in each.value)
    assert list(table["ε"]) == list(upload.OUTLOOK)
    name = table.columns[1]
    widths = table[name].astype(float)
    assert (widths.diff().dropna() < 0).all()
    return name, widths


def wanting(app, precision: float):
    [wanted] = [each for each in app.number_input if each.label.startswith("I need the curve")]
    return page_text(wanted.set_value(precision).run())


def test_nothing_is_inferred_from_the_table(open_page):
    app = uploaded(open_page, ROWS)
    empty = [each.key for each in app.number_input if each.value is None]
    assert empty == ["own_f_low", "own_f_high", "own_f_total", "tolerance"]
    assert "Still needed: the private column, an input column" in said(app)
    app = declare(app, y="height", x=["age"])
    assert controls(app, "box_low_age")[0].value is None
    app = declare(app, mechanism=CHOICES["refined"].title)
    assert controls(app, "length_age")[0].value is None
    assert not app.get("plotly_chart")
    assert not invited(app)


def test_other_columns_begin_an_empty_form(open_page):
    app = declared(open_page, kind="amount", epsilon=3.0)
    for content, values in (
        (ROWS + "\n65,170", [3.0, "amount", "height", ["age"], "no", 50.0, 200.0]),
        (ROWS.replace("age", "years", 1), [1.0, "number", None, [], None, None, None]),
    ):
        app = again(app, content)
        assert [controls(app, key)[0].value for key in ("epsilon", "kind", "y", "x", "whose", "low", "high")] == values
        assert not app.exception


def test_a_link_sets_the_tolerance(open_page):
    app = declared(lambda page: open_page(page, tolerance="7.5"))
    assert controls(app, "tolerance")[0].value == spec_of(app).tolerance == 7.5


def test_other_budgets_are_foreseen_at_no_cost(open_page):
    app = press(declared(open_page), "Work it out")
    _, widths = outlook(app)
    assert "Nothing has been released yet" in page_text(app)
    assert "**ε = 0.5** is the smallest of these" in wanting(app, float(widths[2]))


@pytest.mark.full
def test_logarithms_speak_in_factors(open_page):
    app = declare(declared(open_page, log=True), tolerance=1.2)
    assert "The curve will be known to about **a factor of 1." in page_text(app)
    app = press(app, "Work it out")
    name, widths = outlook(app)
    assert name == "curve within a factor of, 95 %"
    assert (widths > 1).all()
    assert "**ε = 0.5** is the smallest of these" in wanting(app, float(widths[2]) + 0.01)
    app = press(app, "Make release 1")
    assert not app.exception
    assert "of 51 points the curve is not known to within a factor of 1.2" in said(app)
    assert app.dataframe[-1].value["released value [cm]"].between(30, 400).all()
    assert "must lie above 0 where logarithms are measured" in said(declare(app, low=0.0))


@pytest.mark.full
def test_degrees_are_declared_and_lengthscales_are_in_km(open_page):
    rows = "lon,lat,price\n" + "\n".join(f"{-0.5 + i % 9 / 10},{51.3 + i % 7 / 20},{9 + i}e4" for i in range(60))
    app = filled(open_page, rows, **HEIGHTS | {"y": "price", "x": ["lon", "lat"], "low": 1e4, "high": 1e6})
    assert not controls(app, "degrees")  # no domain is declared yet
    app = declare(app, box_low_lon=-0.6, box_high_lon=0.4, box_low_lat=51.2, box_high_lat=200.0)
    assert not controls(app, "degrees")
    app = declare(app, box_high_lat=51.8)
    assert controls(app, "degrees")[0].options == [
        "No",
        "lon is east, lat is north",
        "lat is east, lon is north",
    ]
    app = declare(app, degrees="lon is east, lat is north")
    assert [each.label for each in app.number_input if "ength" in each.label] == ["Lengthscale [km]"] * 2
    points = [each.value for each in app.number_input if each.label == "Points"]
    assert points == [20, 20]  # though the first input alone would have a curve's
    app = declare(app, length_lon=8.0, length_lat=8.0, grid2_lon=5, grid2_lat=4)
    for number, x in enumerate((["lon", "lat"], ["lat", "lon"]), start=1):
        app = press(declare(app, x=x), f"Make release {number}")
        assert not app.exception
        assert spec_of(app).coordinates == ("lon", "lat")
        layout = json.loads(app.get("plotly_chart")[0].proto.spec)["layout"]
        assert layout["xaxis"]["title"]["text"] == "lon"
        assert layout["yaxis"]["scaleratio"] == pytest.approx(1.6, abs=0.02)  # 111.2 km to 69.4 km


def test_many_rows_use_a_low_rank_form(open_page):
    app = declared(open_page, "age,height\n" + "\n".join(f"{5 + 60 * i / 1600},{100 + i % 7}" for i in range(1600)))
    assert "1,600 rows read." in page_text(app)
    assert "a low-rank form of the model is used: rank " in page_text(app)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "empty"),
        (b"PK\x03\x04" + b"0" * 100, "the file is a zip that cannot be read; copy or save it again"),
        ("age,height\n1,2\n3,secret7316\n", "column 'height' has text instead of a number in line 3"),
        ("age,height\n9999,100\n9998,120\n", "outside"),
        (ROWS.replace(",", ";").replace(".", ","), 'say that they are "1234,5"'),  # nothing is guessed
    ],
    ids=["empty", "zip", "text", "outside the box", "decimal commas"],
)
def test_a_bad_file_is_explained_without_cells(open_page, content, sentence):
    app = declared(open_page, content)
    assert not app.exception
    assert sentence in said(app)
    assert "secret7316" not in said(app)


def test_a_declared_separator_takes_precedence(open_page):
    app = uploaded(open_page, ROWS.replace(",", ";").replace(".", ","))
    assert not app.error
    app.segmented_control(key="own_separator").set_value("commas").run()
    assert "fields where the header has 1" in said(app)


@pytest.mark.parametrize(
    ("kept", "asked"),
    [(str.encode, True), (lambda text: gzip.compress(text.encode()), True), (_in_stata, False)],
    ids=["CSV", "packed CSV", "Stata"],
)
def test_only_text_has_a_separator(open_page, kept, asked):
    app = uploaded(open_page, kept(ROWS))
    assert not app.exception
    assert not app.error
    assert ("own_separator" in {each.key for each in app.get("button_group")}) == asked


def test_nothing_is_asked_before_there_is_a_file(open_page):
    assert not open_page("your_data").get("button_group")


def test_a_large_file_is_a_sentence():
    with pytest.raises(ValueError, match="more than 5 MB"):
        upload.opened(b"x" * (upload.MAX_BYTES + 1))


def test_formula_like_names_are_plain_text(open_page):
    named = {key.replace("age", "=1+1"): value for key, value in HEIGHTS.items()} | {"x": ["=1+1"]}
    app = press(filled(open_page, ROWS.replace("age", "=1+1", 1), **named), "Make release 1")
    assert not app.exception
    assert app.dataframe[0].value.columns[0].startswith("'=")
    assert last_zip(app).read("values.csv").decode().startswith('"\'=1+1"')


@pytest.mark.full
def test_tables_enter_no_address_or_shared_cache(cold, open_page, monkeypatch):
    monkeypatch.setattr(intake, "_AT_ONCE", 0)  # as of a large table
    app = press(declared(open_page), "Make release 1")
    assert dict(app.query_params) == {}
    assert not cached.jobs._kept


def test_forgetting_a_table_drops_streamlits_copy(open_page, monkeypatch):
    app, dropped = uploaded(open_page, ROWS), []
    monkeypatch.setattr(MemoryUploadedFileManager, "remove_session_files", lambda _, session: dropped.append(session))
    app = press(app, "Forget the table")
    assert "own_table" not in app.session_state  # nor is it read once more
    assert len(dropped) == 1
    assert all(dropped)  # the session's own


def test_servers_without_uploads_offer_practice(open_page, monkeypatch):
    monkeypatch.setenv("DPGP_UPLOADS", "0")
    app = open_page("your_data")
    assert not app.exception
    assert not app.file_uploader
    said = app.info[0].value
    assert -1 < said.find("python -m dpgp_core release") < said.find("--check") < said.find("--out")  # a dry run first
    assert len(invited(practised(open_page))) == 1


def test_too_large_tables_and_grids_are_explained(monkeypatch):
    spec = replace(EXAMPLE, x=("age",), y="height", grid=(50,))
    monkeypatch.setattr(upload, "MAX_WORK", 99)
    held = upload.opened(b"age,height\n10,120\n20,150\n")
    plan = plan_release(spec, np.array([[10.0], [20.0]]))
    for use in (
        partial(upload.prepared, held, spec),
        partial(upload.released, held, plan),
    ):
        with pytest.raises(
            ValueError, match=r"2 rows by 50 points of the grid are more than 99 together, the limit here"
        ):
            use()


def test_private_inputs_outside_are_not_mentioned(open_page):
    outside = declared(open_page, ROWS.replace("\n7,", "\n7000,"))
    assert "outside" in said(outside)  # public inputs may be spoken of
    for app in (declared(open_page), outside):
        app = declare(app, mechanism=CHOICES["sparse"].title, epsilon=0.3)
        assert not app.error
        assert not app.exception
        assert "60 rows read." in page_text(app)


@pytest.mark.full
def test_bayes_cloaking_is_the_default_method(open_page):
    app = practised(open_page)
    [mechanism] = controls(app, "mechanism")
    assert mechanism.value == CHOICES["bayes_cells"].title == mechanism.options[0]
    of_models = ("kernel", "noise", "cells", "length_age_years")
    assert not any(controls(app, key) for key in of_models)
    assert [each.value for each in app.text_input if each.label == "Model"] == ["automatic"]
    assert "known only with the release" in page_text(app)
    assert "protects the inputs" in page_text(app)
    assert "inputs and outputs" in page_text(app)
    app = declare(app, mechanism=CHOICES["bayes"].title)
    assert "protects the inputs" not in page_text(app)
    app = declare(app, mechanism=CHOICES["refined"].title)
    assert all(controls(app, key) for key in ("kernel", "noise", "length_age_years"))


# ---- Your data with an outcome of each kind: a practice table each.


def test_practice_tables_are_reproducible_and_labelled():
    assert [each.kind for each in practice.TABLES] == ["number", "amount", "count", "yes/no", "amount", "count"]
    for each in practice.TABLES[1:]:
        assert each.file.startswith("simulated_")
        assert each.button.startswith("Simulated")
    for each in practice.TABLES:
        content = practice.contents()[each.file]
        assert each.content() == content
        assert upload.is_practice(upload.opened(content))
    assert not upload.is_practice(upload.opened(b"age_years,vaccinated\n1,0\n"))


@pytest.mark.parametrize("table", practice.TABLES, ids=lambda table: table.file)
def test_a_practice_table_fills_the_form(open_page, table):
    app = practised(open_page, table)
    assert not app.error
    assert len(invited(app)) == 1
    spec = spec_of(app)
    assert spec.y_kind == table.kind
    data = read_table(io.BytesIO(table.content()), spec)
    assert f"{data.people:,} {'people' if spec.person else 'rows'} read." in page_text(app)
    assert data.clipped_count < 0.01 * data.n


@pytest.mark.full
def test_yes_no_outcomes_return_in_per_cent(open_page):
    app = practised(open_page, of_kind("yes/no"))
    assert not any(controls(app, key) for key in ("low", "centiles", "log"))
    assert {"0, no", "1, yes"} <= {each.value for each in app.text_input if each.disabled}
    app = press(app, "Work it out")
    assert not app.exception
    name, widths = outlook(app)
    assert name == "curve within ± [percentage points], 95 %"
    assert 1 < widths.iloc[-1] < widths.iloc[0] < 100
    app = press(app, "Make release 1")
    assert not app.error
    [shown] = [each.value for each in app.dataframe if "share of yes [%]" in each.value]
    rates, kept = shown["share of yes [%]"], values_of(app)
    assert not any("output" in name for name in shown)  # one more person is yes or no
    np.testing.assert_allclose(rates, 100 * kept["value"])
    assert ((rates >= 0) & (rates <= 100)).all()
    np.testing.assert_allclose(numbers(traces(app)["released"]["y"]), rates)
    assert not any("centile" in name for name in kept.dtype.names)


def values_of(app):
    """The values in the zip."""
    return np.genfromtxt(io.BytesIO(last_zip(app).read("values.csv")), delimiter=",", names=True)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["number", "amount"])  # and a count is an amount: its scatter may be skewed
def test_centiles_are_shown_and_published_on_request(open_page, kind):
    table = of_kind(kind)
    app, unit = press(declare(practised(open_page, table), centiles=True), "Make release 1"), table.form["y_unit"]
    assert spec_from_json(last_zip(app).read("release.json")).y_kind == kind
    names = [f"{each} % are below [{unit}]" for each in (3, 15, 50, 85, 97)]
    shown = app.dataframe[0].value[names].to_numpy()
    assert (np.diff(shown, axis=1) >= 0).all()
    np.testing.assert_allclose(shown[:, 4], values_of(app)["centile_97"])
    drawn = [name for name in traces(app) if "centile " in name or "half of people" in name]
    assert drawn == ["centile 3", "centile 15", "half of people below", "centile 85", "centile 97"]
    assert not controls(declare(app, mechanism=CHOICES["refined"].title), "centiles")  # nobody's scatter is measured


@pytest.mark.parametrize(("kind", "wrong"), [("yes/no", "2"), ("count", "0.7316")])
def test_moved_outcomes_are_reported_to_the_owner(open_page, kind, wrong):
    table = of_kind(kind)
    app = filled(open_page, table.content() + f"50.0,{wrong}\n".encode(), **table.form | {"kind": kind})
    if kind == "yes/no":  # it is asked what a third value means
        assert "which word means yes, and which no" in said(app)
        assert not invited(app)
        return
    [told] = [each.value for each in app.warning if "not of its kind" in each.value]
    assert told.startswith(plain("For your eyes, in no file: 1 of "))
    assert wrong not in told.partition("not of its kind")[2]
    assert invited(app)
    app = declare(app, kind="number")
    assert not any("not of its kind" in each.value for each in app.warning)
