"""Links that ask for what no control can take: each value is used or explained."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pages._ui import menu, session
from pages._ui.look import address, text
from tests.pages.addresses import bound_controls, is_used, open_at
from tests.pages.own import uploaded
from tests.pages.reading import ROOT

SPELT = ("1e-5", "0.00001", "1E-5", "1e-05", ".00001", "+1e-5", "01e-5", "10e-6", " 1e-5", "1.e-5")


@pytest.mark.parametrize(
    ("key", "spelt", "written"),
    [
        *(("delta", spelt, "1e-05") for spelt in SPELT),
        *(("draw", spelt, "0") for spelt in ("-0", "-0.0")),
        *(("draw", "+2", "2"), ("draw", "007", "7"), ("draw", "2.0", "2")),
        *(("draw", spelt, spelt) for spelt in ("9" * 30, "two", "2x")),
    ],
)
def test_numbers_are_normalised_before_controls(key, spelt, written):
    assert address.usable({key: spelt}, {}) == {key: written}


@pytest.mark.full
@pytest.mark.parametrize(
    ("page", "address"),
    [
        ("start", {"delta": "1e-5", "epsilon": "2.0"}),
        ("kung_curves", {"draw": "7", "overlay": "FALSE", "noise": "1"}),
        ("kung_curves", {"mechanism": "cloaking", "draws": "5"}),
        ("kung_curves", {"epsilon": ["5", "2"], "draw": ["3", "4"]}),
        ("how_cloaking_works", {"x1": "1", "two_l": "5.0", "moved": "2"}),
        ("compare", {"target_cm": "9", "compare_dataset": "kung"}),
        ("excursion_sets", {"excursion": "plumes", "draw": "2"}),
    ],
)
def test_good_links_are_not_explained(page, address):
    app = open_at(page, address)
    assert not app.exception
    assert not app.warning
    for key, value in address.items():
        assert is_used(app, key, value[-1] if isinstance(value, list) else value), key


def test_bad_links_keep_the_page_usable(seen):
    names_kept_in_the_session = {"page": "attack", "carried": "x", "explained": "y", "last_address": "z"}
    good = {"delta": SPELT[0], "mechanism": "refined"}
    app = open_at("kung_curves", {"draw": "0", "overlay": "maybe"} | good | names_kept_in_the_session)
    assert not app.exception
    assert len(app.warning) == 2
    assert float(app.session_state["delta"]) == 1e-5
    assert app.metric[0].value == seen("kung_curves", mechanism="refined").metric[0].value
    app.toggle(key="overlay").set_value(False).run()
    assert not app.warning
    app.select_slider(key="epsilon").set_value(0.5).run()  # without true data nobody is left out at a new epsilon
    app.number_input(key="draw").set_value(12).run()
    assert not app.warning


@pytest.mark.full
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.text(max_size=300))
def test_the_sentence_quotes_the_value_as_code(raw):
    line = text.bad_link_value("epsilon", raw, "it must be a number.", 1)
    assert line.count("`") == 2
    assert line.isprintable()
    assert not set("<>[]$") & set(line)
    assert len(line) < 200


PAGES = [page.file for page in menu.PAGES]
QUICK = ("attack", "your_data")
EVERY = [page if page in QUICK else pytest.param(page, marks=pytest.mark.full) for page in PAGES]


@pytest.mark.parametrize("page", EVERY)
def test_a_parameter_may_have_any_name(page):
    kept_by_streamlit = ("", "$$ID-x", "$$WIDGET_ID-x")
    app = open_at(page, dict.fromkeys(kept_by_streamlit, "&&==") | {"unknown": "2"})
    assert not app.exception
    assert not app.warning
    assert len(app.title) == 1


def page_that_takes_several_runs() -> None:
    """One that ends before its second control in its first run, and is made again after its second."""
    import streamlit as st

    from pages._ui.look import address, offers, settings
    from pages._ui.work import waiting

    number = st.session_state["number"] = st.session_state.get("number", 0) + 1
    waiting.reserve()
    settings.begin()
    with address.explained():
        settings.value_of(offers.EPSILON)
        if number == 1:
            waiting.end_page()
        settings.value_of(offers.PROMISED)
        if number == 2:
            waiting.afterwards(int)
        if number > 4:
            settings.value_of(offers.NOISE)
    if number > 2:
        waiting.finish()


def test_sentences_stay_until_a_complete_page():
    app = AppTest.from_function(page_that_takes_several_runs, default_timeout=60)
    for key in ("epsilon", "delta", "noise"):
        app.query_params[key] = "quark"
    told = []
    for _ in range(6):
        app.run()
        told.append([warning.value.split()[4] for warning in app.warning])
    both = ["epsilon", "delta"]
    assert told == [["epsilon"], both, both, [], ["noise"], []]


def test_moved_controls_are_not_explained():
    app = AppTest.from_function(page_that_takes_several_runs, default_timeout=60)
    app.query_params["epsilon"] = "quark"
    app.run()
    assert len(app.warning) == 1
    app.select_slider(key="epsilon").set_value(5).run()
    assert not app.warning


def test_a_sentence_waits_for_its_control(open_page, ledgers):
    app = open_page("your_data", tolerance="quark")
    assert not app.warning
    app = uploaded(lambda _: app, "x,y\n1,2\n")
    assert [warning.value for warning in app.warning] == [
        "The link asks for tolerance = `quark`: this control has no such value. Showing tolerance = nothing instead."
    ]


# ---- Numbers that no control can take, and nothing at all, in the parameters of every kind of control.


NOT_USED = [
    *("", " ", "\x00", "½", "²", "0x10", "nothing", "None"),
    *("inf", "-inf", "+inf", "Infinity", "nan", "-nan"),
    *("1e400", "-1e400", "1e9999999999", "１e４００", "-1e308", "9" * 400, "-" + "9" * 400, "9" * 5000),
]


def page_of_every_kind() -> None:
    """Every kind of control that pages bind to the address, and those that may stand at nothing."""
    from dataclasses import replace

    from pages._ui.look import address, offers, settings
    from pages._ui.look.controls import HERE, Menu, Number, Range, Search

    settings.begin()
    with address.explained():
        for control in (
            offers.EPSILON,
            offers.KERNEL,
            offers.OVERLAY,
            replace(offers.DRAW, high=99),
            Range("x1", "Position", 2.5, 0.0, 10.0, 0.5),
            Range("moved", "Moved", 1, 1, 2, 1),
            Menu("data", "Data", "a", {"a": "a", "b": "b"}, "ab", buttons=True),
            Search("hexagon", "Hexagon", options=["a", "b"], section=HERE),
            Number("tolerance", "Within", None, 0.0, None),
            Number("target", "Target", None, 0.001, 9.0, usual="8.5"),
        ):
            settings.value_of(control)


def opened(**asked: str) -> AppTest:
    """The page at an address, of which the entry script has left what can be used."""
    app = AppTest.from_function(page_of_every_kind, default_timeout=60)
    app.session_state[session.REQUESTED.key] = asked
    for key, value in address.usable(asked, {}).items():
        app.query_params[key] = value
    return app.run()


@pytest.fixture(scope="module")
def known() -> dict[str, str]:
    return bound_controls(opened())


@pytest.mark.parametrize("value", NOT_USED, ids=lambda value: repr(value[:12]))
def test_every_control_explains_invalid_values(value, known):
    app = opened(**dict.fromkeys(known, value))
    assert not app.exception
    said = {warning.value.split()[4] for warning in app.warning}  # The link asks for <key> = ...
    assert said == known.keys()
    assert all(warning.value.endswith(" instead.") for warning in app.warning)


OFFERED = "it is not offered here; the choices are "
WHOLE, WITHIN = (f"it must be {what} within the range of this control" for what in ("a whole number", "a number"))


@pytest.mark.parametrize(
    ("key", "value", "reason", "shown"),
    [
        ("epsilon", "0.37", f"{OFFERED}0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 50, 100", "1"),
        ("data", "Venus", f"{OFFERED}a, b", "a"),
        ("data", "", "it is empty", "a"),
        ("draw", "inf", "it must be a finite number", "1"),
        ("draw", "1e9", WHOLE, "1"),
        ("draw", "2.5", WHOLE, "2"),
        ("moved", "1.5", WHOLE, "1"),
        ("x1", "99", WITHIN, "2.5"),
        ("target", "-3", WITHIN, "8.5"),
        ("overlay", "maybe", "it must be true or false", "True"),
        ("hexagon", "Atlantis 1", "this control has no such value", "nothing"),
    ],
)
def test_a_sentence_names_the_shown_value(key, value, reason, shown):
    [warning] = opened(**{key: value}).warning
    assert warning.value == f"The link asks for {key} = `{value}`: {reason}. Showing {key} = {shown} instead."


@pytest.mark.full
def test_only_data_controls_are_in_addresses():
    bound = [path for path in (ROOT / "pages").rglob("*.py") if "query-params" in path.read_text()]
    assert bound == [ROOT / "pages/_ui/look/controls.py"]
