"""Controls of the lengthscale page."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from dpgp_core.accounting.gaussian import check_budget
from dpgp_core.accounting.guarantee import Guarantee
from pages._ui.lengthscale.choice import Budgets, Grid
from pages._ui.look.sidebar import as_number, choice, dataset, noise_control, pick, privacy
from pages._ui.model import Design, Model, mechanism_of
from pages._ui.settings import (
    CHOICES,
    EPSILONS,
    LENGTHSCALES,
    SELECTION_EPSILONS,
)


def choice_setting() -> tuple[Grid, Budgets, str, Guarantee]:
    """The sidebar of the lengthscale page: grid, budgets, unit of the lengthscale, the release's guarantee."""
    name = dataset("choice_dataset")
    draw = privacy(draws=False)
    selection = choice(
        "ε of the choice: more private ⟷ more accurate",
        "selection_epsilon",
        SELECTION_EPSILONS,
        1,
        lambda raw: check_budget(as_number(raw), 0.5),
        help="Budget of choosing the lengthscale. The slider above is the budget of the release that follows.",
    )
    st.sidebar.subheader("Model")
    noise = noise_control()
    with st.sidebar:
        kernel = pick("Kernel", "kernel")
    with st.sidebar.expander("Expert"):
        mechanism = pick("Choice by", "choice_by")
        objective = pick("Noise objective", "objective")
        calibration = pick("Calibration", "calibration")
    unit, lengthscales, default = LENGTHSCALES[name]
    grid = Grid(Model(name, kernel, float(default), noise), tuple(map(float, lengthscales)), objective)
    budgets = Budgets(float(selection), draw.epsilon, draw.delta, calibration, mechanism)
    release = mechanism_of(grid.model, Design("cloaking", objective), replace(draw, calibration=calibration))
    return grid, budgets, unit, release.guarantee


def carry_tile() -> None:
    """Callback: the clicked tile's lengthscale and epsilon become the state of the other pages."""
    points = st.session_state["tiles"]["selection"]["points"]
    if not points or "customdata" not in points[0]:
        return
    lengthscale, epsilon = points[0]["customdata"]
    name = next(
        name for name, title in CHOICES["choice_dataset"].items() if title == st.session_state["choice_dataset"]
    )
    taken = {f"lengthscale_{LENGTHSCALES[name][0]}": f"{lengthscale:g}"}
    if epsilon in EPSILONS:
        st.session_state["epsilon"] = next(option for option in EPSILONS if option == epsilon)
    st.session_state["carried"] = st.session_state.get("carried", {}) | taken
    st.session_state["tile"] = (lengthscale, epsilon)
