"""Controls of the attack page."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpgp_core.accounting.gaussian import check_delta
from pages._ui.attack.attacks import OutputAttack, PathAttack
from pages._ui.look.sidebar import (
    as_number,
    choice,
    path_controls,
    pick,
    privacy,
)
from pages._ui.model import Model
from pages._ui.settings import (
    PATH_DELTAS,
    SHADOWS,
)


def attack_setting() -> tuple[str, Any]:
    """The sidebar of the attack page: what is attacked ("paths" or outputs), and the attack's settings."""
    with st.sidebar:
        st.subheader("Attack on")
        kind = pick("Attack on", "attack_on", label_visibility="collapsed")
    if kind != "paths":
        draw = privacy(draws=False)
        trials = choice("Simulated releases", "shadows", SHADOWS, 10000)
        return kind, OutputAttack(Model("kung", "EQ", 25.0, 0.3), kind, draw, int(trials))
    st.sidebar.subheader("Posterior paths")
    r, sigma, L = path_controls(0.5, 1)
    delta = choice("δ", "path_delta", PATH_DELTAS, 0.05, lambda raw: check_delta(as_number(raw)))
    trials = choice("Shadow data sets", "shadows", SHADOWS, 10000, help="Data sets like the real one, of each kind.")
    with st.sidebar:
        inputs = pick("Other records", "inputs", help="Where the other nine records lie.")
    return kind, PathAttack(float(r), float(sigma), int(L), float(delta), inputs, int(trials), 1)
