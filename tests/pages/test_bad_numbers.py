"""Numbers that no control can take, and nothing at all, in the parameters of every kind of control."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._ui import session
from pages._ui.look import address
from tests import fuzz_links
from tests.pages.reading import ROOT

NOT_USED = [
    "",
    " ",
    "inf",
    "-inf",
    "+inf",
    "Infinity",
    "nan",
    "-nan",
    "1e400",
    "-1e400",
    "1e9999999999",
    "9" * 400,
    "-" + "9" * 400,
    "9" * 5000,
    "-1e308",
    "½",
    "²",
    "１e４００",
    "0x10",
    "\x00",
    "nothing",
    "None",
]


def page_of_every_kind() -> None:
    """Every kind of control that pages bind to the address, and those that may stand at nothing."""
    import streamlit as st

    from pages._ui.look import address, controls, offers

    controls.begin()
    with address.explained({}):
        controls.choice("Epsilon", "epsilon", offers.EPSILONS, 1)
        controls.pick("Kernel", offers.KERNEL)
        controls.switch("Overlay", "overlay")
        controls.note("draw", st.number_input("Draw", 1, 99, 1, key="draw", bind="query-params"), 1)
        controls.note("x1", st.slider("Position", 0.0, 10.0, 2.5, 0.5, key="x1", bind="query-params"), 2.5)
        controls.note("moved", st.slider("Moved", 1, 2, 1, 1, key="moved", bind="query-params"), 1)
        data = st.segmented_control("Data", ["a", "b"], default="a", key="data", bind="query-params", required=True)
        controls.note("data", data, "a")
        controls.note("hexagon", st.selectbox("Hexagon", ["a", "b"], None, key="hexagon", bind="query-params"), None)
        tolerance = st.number_input("Within", min_value=0.0, value=None, key="tolerance", bind="query-params")
        controls.note("tolerance", tolerance, None)
        target = st.number_input("Target", 0.001, 9.0, value=None, key="target", bind="query-params")
        controls.note("target", target, None, "8.5")
        word = st.selectbox("Word", ["a"], None, key="word", bind="query-params")
        controls.note("word", word, None, "usual")


def opened(**asked: str) -> AppTest:
    """The page at an address, of which the entry script has left what can be used."""
    app = AppTest.from_function(page_of_every_kind, default_timeout=60)
    app.session_state[session.ASKED.key] = asked
    for key, value in address.usable(asked, {}).items():
        app.query_params[key] = value
    return app.run()


@pytest.fixture(scope="module")
def known() -> dict[str, str]:
    return fuzz_links.controls(opened())


@pytest.mark.parametrize("value", NOT_USED, ids=lambda value: repr(value[:12]))
def test_every_kind_of_control_says_that_it_cannot_use_it(value, known):
    app = opened(**dict.fromkeys(known, value))
    assert not app.exception
    said = {warning.value.split()[4] for warning in app.warning}  # The link asks for <key> = ...
    assert said == known.keys()
    assert all(warning.value.endswith(" instead.") for warning in app.warning)


def test_pages_bind_no_other_kind_of_control():
    here = bound_kinds(Path(__file__)) | bound_kinds(ROOT / "pages/_ui/look/controls.py")
    here.add(("text_input", False))  # any text is one; the page says what of it is no age (test_how_cloaking_works)
    assert here == set().union(*(bound_kinds(path) for path in (ROOT / "pages").rglob("*.py")))


def bound_kinds(path: Path) -> set[tuple[str, bool]]:
    """Names of the bound controls that a module draws, and whether they may stand at nothing."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return {
        (call.func.attr, any(isinstance(each, ast.Constant) and each.value is None for each in given))
        for call in calls
        if isinstance(call.func, ast.Attribute) and any(option.arg == "bind" for option in call.keywords)
        for given in [[*call.args, *(option.value for option in call.keywords)]]
    }


def test_every_parameter_of_the_map_of_london_says_it():
    known = fuzz_links.controls(fuzz_links.open_at("london_noise_map", {}))
    app = fuzz_links.open_at("london_noise_map", dict.fromkeys(known, "-inf"))
    assert not app.exception
    assert "hexagon" in known
    assert len(app.warning) == len(known)
