"""Bounds of the output: declared, or bought where nobody knows them."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.bounds.cells import LEAST_UNIT, MOST_UNIT
from dpgp_core.bounds.purchase import SHARE
from dpgp_core.release import Published, ReleaseSpec
from dpgp_core.release.bought import said
from pages._ui import session
from pages._ui.look.text import plain
from pages._ui.own.remembered import key

LABELS = ("y is at least", "y is at most")
BUY = "I do not know the bounds: buy them for a tenth of the budget"
_HELP = (
    "The release first counts, with noise, how many people lie in 0 to 1, 1 to 2, 2 to 3, 3 to 5, 5 to 10, ... times "
    "the size that you give, and takes bounds from these counts alone. It is part of the same release: nothing is "
    "spent twice."
)
_COST = (
    "All else is then measured with {more:.0f} % more noise. About one person in a hundred lies outside the bounds, "
    "more in small tables, and is moved to the nearer one. Fewer than some two hundred people at ε = 1 are too few: "
    "the page says so before anything is spent. Gains and losses together want a thousand."
)


def asked(low: DeltaGenerator, high: DeltaGenerator) -> dict[str, Any]:
    """Both bounds, or the smallest size that matters.

    Args:
        low: where the lower bound is asked for.
        high: the upper one.
    """
    if session.control(key("buy_bounds", False)):  # of the choice below
        unit = low.number_input(
            "Smallest y that matters",
            min_value=LEAST_UNIT,
            max_value=MOST_UNIT,
            value=None,
            format="%g",
            key=key("bounds_unit"),
            help="A public guess, for example 0.01 for a wage in pounds, 1 for a count. Whatever is smaller counts as "
            "nothing for the bounds. They can be found up to 10^12 times this size. Where people lie beyond, the "
            "release is of no use and is spent all the same.",
        )
        high.text_input("Bounds of y", "bought with the release", disabled=True, key="own_fixed_bought")
        return {"low": None, "high": None, "bounds_unit": unit, "bought": True}
    lower = low.number_input(
        LABELS[0],
        value=None,
        key=key("low"),
        help="What you knew before you saw the table, for example 0 for a wage. Lower values are moved up to it. A "
        "narrow range needs less noise.",
    )
    upper = high.number_input(
        LABELS[1],
        value=None,
        key=key("high"),
        help="What you knew before, for example 80 for an hour's wage. Higher values are moved down to it.",
    )
    return {"low": lower, "high": upper, "bounds_unit": None, "bought": False}


def offered() -> None:
    """The choice to buy, and what it costs."""
    if st.checkbox(BUY, key=key("buy_bounds", False), help=_HELP):
        st.caption(_COST.format(more=100 * ((1 - SHARE) ** -0.5 - 1)))


def missing(values: dict[str, Any]) -> dict[str, bool]:
    """What of it is still to declare, by name."""
    if values["bought"]:
        return {"the smallest y that matters": values["bounds_unit"] is None}
    return {"both bounds of y": None in (values["low"], values["high"])}


def declared(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a specification."""
    ends = None if values["bought"] else (values["low"], values["high"])
    return {"y_bounds": ends, "bounds_unit": values["bounds_unit"]}


def sentence(published: Published, spec: ReleaseSpec) -> str:
    """Which bounds were bought; nothing where they were declared."""
    words = plain(said(published.bought, spec))
    return f" {words}" if words else ""
