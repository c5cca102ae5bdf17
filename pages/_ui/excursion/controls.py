"""Sidebar of the excursion page, and its search for private settings."""

from __future__ import annotations

import bisect

import streamlit as st

from dpgp_core.accounting.gaussian import check_delta
from dpgp_core.checks import check_positive
from pages._ui.excursion import exploration
from pages._ui.excursion.exploration import Kind, View
from pages._ui.look.sidebar import as_number, choice, overlay, path_controls, pick
from pages._ui.settings import (
    CHOICES,
    DATA_NOISES,
    ETAS,
    LEVELS,
    LN_PRICES,
    PATH_DELTAS,
    PATH_LENGTHS,
    RIDGES,
    SEARCH_BUDGETS,
    SIGMAS,
)
from pages._ui.work import cached

_DEFAULTS: dict[str, tuple[float, float, float]] = {  # kind -> lengthscale, r, s: epsilon of 2 to 4
    "curve": (0.3, 8, 0.05),
    "plumes": (0.1, 8, 0.05),
    "london": (0.08, 8, 0.05),
}


def excursion_kind() -> Kind:
    """Which data: three tabs, bound to the address."""
    titles = {title: kind for kind, title in CHOICES["excursion"].items()}
    chosen = st.segmented_control(
        "Data", list(titles), default=next(iter(titles)), key="excursion", bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return titles[chosen]


def excursion_layer(show_overlay: bool) -> str:
    """What the London map shows."""
    return pick("The map shows", "excursion_layer", None if show_overlay else ["votes"])


def excursion_setting(kind: Kind) -> tuple[View, bool]:
    """The whole sidebar: what is released, of which data, and whether the overlay is on."""
    lengthscale, r, s = _DEFAULTS[kind]
    with st.sidebar:
        show = overlay()
    st.sidebar.subheader("Release")
    ridge, scale, paths = path_controls(s, r)
    eta = choice("η: added prior noise", "eta", ETAS, 0, help="Further noise from the GP prior; buys a smaller ε.")
    length = choice(
        "Lengthscale [share of the domain]",
        "length",
        PATH_LENGTHS,
        lengthscale,
        lambda raw: check_positive("lengthscale", as_number(raw)),
    )
    delta = choice("δ", "path_delta", PATH_DELTAS, 0.005, lambda raw: check_delta(as_number(raw)))
    seed = st.sidebar.number_input("Draw number", 1, 99999, 1, key="draw", bind="query-params")
    st.sidebar.subheader("Data")
    if kind == "london":
        threshold = choice("Threshold [ln GBP]", "ln_price", LN_PRICES, 13, help="13.0 is about GBP 442,000.")
        noise = exploration.LONDON_NOISE
    else:
        threshold = choice("Threshold", "level", LEVELS, 0)
        noise = choice("Noise in the data", "data_noise", DATA_NOISES, 0.3)
    st.sidebar.subheader("Find private settings")
    choice("for ε at most", "search_budget", SEARCH_BUDGETS, 3, help="Searched on simulated data, so it costs nothing.")
    st.sidebar.button("Find", on_click=_ask, width="stretch", icon=":material/search:")
    view = View(
        kind=kind,
        lengthscale=float(length),
        r=ridge,
        sigma=scale,
        L=paths,
        eta=float(eta),
        threshold=float(threshold),
        noise=float(noise),
        delta=float(delta),
        seed=int(seed),
    )
    return view, show


def _ask() -> None:
    st.session_state["search_asked"] = True


def search_if_asked() -> None:
    """Run the search before the controls are drawn, show its progress, and set them to what it found."""
    if not st.session_state.pop("search_asked", False):
        return
    state = st.session_state
    kind = next(kind for kind, title in CHOICES["excursion"].items() if title == state["excursion"])
    noise, delta = state.get("data_noise", exploration.LONDON_NOISE), float(state["path_delta"])
    budget, paths = float(state["search_budget"]), int(state["paths"])
    try:
        found = cached.found_settings(kind, float(noise), delta, paths, budget)
    except ValueError as error:
        st.warning(f"No setting keeps within epsilon = {budget:g}: {error}.")
        return
    _set_controls(kind, found.lengthscale, found.r, delta, paths, budget)


def _set_controls(kind: Kind, lengthscale: float, r: float, delta: float, paths: int, budget: float) -> None:
    """The nearest lengthscale, the next larger r, and the smallest s on the sliders that keeps the budget."""
    length = min(PATH_LENGTHS, key=lambda option: abs(option - lengthscale))
    ridge = RIDGES[min(bisect.bisect_left(RIDGES, r * (1 - 1e-9)), len(RIDGES) - 1)]
    fitting = [s for s in SIGMAS if exploration.epsilon_of(kind, length, ridge, s, delta, paths) <= budget]
    if not fitting:
        st.warning(f"No setting on the sliders keeps within epsilon = {budget:g}; try fewer paths or a larger budget.")
        return
    st.session_state.update({"length": length, "r": ridge, "sigma": fitting[0], "eta": 0})
    st.success(f"Found for epsilon at most {budget:g}: lengthscale {length:g}, r = {ridge:g}, s = {fitting[0]:g}.")
