"""Numbers that no control can take, and nothing at all, in the parameters of every kind of control."""

from __future__ import annotations

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
            Search("hexagon", "Hexagon", options=["a", "b"], place=HERE),
            Number("tolerance", "Within", low=0.0),
            Number("target", "Target", low=0.001, high=9.0, usual="8.5"),
        ):
            settings.stand(control)


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


def test_a_fraction_is_no_whole_number():
    [said] = [warning.value for warning in opened(moved="1.5", x1="0.872").warning]
    assert said == (
        "The link asks for moved = `1.5`: it must be a whole number within the range of this control. "
        "Showing moved = 1 instead."
    )


def test_only_controls_that_are_data_are_bound_to_the_address():
    bound = [path for path in (ROOT / "pages").rglob("*.py") if "query-params" in path.read_text()]
    assert bound == [ROOT / "pages/_ui/look/controls.py"]


def test_every_parameter_of_the_map_of_london_says_it():
    known = fuzz_links.controls(fuzz_links.open_at("london_noise_map", {}))
    app = fuzz_links.open_at("london_noise_map", dict.fromkeys(known, "-inf"))
    assert not app.exception
    assert "hexagon" in known
    assert len(app.warning) == len(known)
