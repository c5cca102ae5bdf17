"""Controls of the start page."""

from __future__ import annotations

import streamlit as st

from pages._ui.look.offers import DropDown
from pages._ui.look.sidebar import choice, pick
from pages._ui.start.meaning import Family

FAMILY: DropDown[Family] = DropDown(
    "family",
    {
        "gaussian": "Gaussian: cloaking, GP prior, sparse DP-GP",
        "laplace": "Laplace: binning (δ = 0)",
        "any": "Any: nothing known but (ε, δ)",
    },
)


def prior() -> float:
    """The attacker's prior probability, for the start page."""
    return float(
        choice(
            "Attacker's belief beforehand [%]",
            "prior",
            (1, 5, 10, 25, 50, 75, 90),
            50,
            help="How likely the attacker thought it before seeing anything released.",
        )
        / 100
    )


def family() -> Family:
    """Which kind of noise the start page's attacker faces."""
    with st.sidebar:
        return pick("Kind of noise", FAMILY)
