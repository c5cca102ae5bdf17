"""Sidebar of the excursion page, and its search for private settings."""

from __future__ import annotations

import bisect
from typing import NamedTuple

import streamlit as st

from dpgp_core.accounting.gaussian import check_delta
from dpgp_core.checks import check_positive
from pages._ui import session
from pages._ui.excursion import computed, exploration
from pages._ui.excursion.exploration import Kind, View
from pages._ui.excursion.figures import LAYERS
from pages._ui.look import state
from pages._ui.look.offers import PATH_DELTAS, RIDGES, SIGMAS, DropDown
from pages._ui.look.sidebar import as_number, choice, draw_number, folded, overlay, path_controls, pick

PATH_LENGTHS = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2)
ETAS = (0, 0.05, 0.1, 0.2, 0.5, 1)
DATA_NOISES = (0.1, 0.3, 0.5, 0.6)
LEVELS = (-0.4, -0.2, 0, 0.2, 0.4)
LN_PRICES = (12.6, 12.8, 13, 13.2, 13.4, 13.6)
SEARCH_BUDGETS = (1, 2, 3, 5, 10, 20)
KIND: DropDown[Kind] = DropDown("excursion", {"curve": "1-D", "plumes": "2-D plumes", "london": "London hexagons"})
LAYER = DropDown("excursion_layer", {kind: layer.title for kind, layer in LAYERS.items()})
_DEFAULTS: dict[Kind, tuple[float, float, float]] = {  # kind -> lengthscale, r, s: epsilon of 3 to 5
    "curve": (0.3, 8, 0.05),
    "plumes": (0.1, 8, 0.05),
    "london": (0.08, 8, 0.05),
}


def excursion_kind() -> Kind:
    """Which data: three tabs, bound to the address."""
    titles = list(KIND.titles.values())
    chosen = st.segmented_control(
        "Data", titles, default=titles[0], key=KIND.key, bind="query-params", required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    kind = KIND.value(chosen)
    state.note(KIND.key, chosen, titles[0], kind)
    return kind


def excursion_layer(show_overlay: bool) -> str:
    """What the London map shows."""
    return pick("The map shows", LAYER, None if show_overlay else ["votes"])


class ExcursionSettings(NamedTuple):
    """What is released, of which data, and whether the overlay is on."""

    view: View
    overlay: bool


def excursion_settings(kind: Kind) -> ExcursionSettings:
    """The whole sidebar."""
    lengthscale, r, s = _DEFAULTS[kind]
    released = path_controls(s, r)
    delta = choice("δ", "path_delta", PATH_DELTAS, 1e-4, lambda raw: check_delta(as_number(raw)))
    show = overlay()
    with folded("Model"):
        eta = choice("η: added prior noise", "eta", ETAS, 0, help="Further noise from the GP prior; buys a smaller ε.")
        length = choice(
            "Lengthscale [share of the domain]",
            f"length_{kind}",
            PATH_LENGTHS,
            lengthscale,
            lambda raw: check_positive("lengthscale", as_number(raw)),
        )
        seed = draw_number()
    if kind == "london":
        threshold: float = choice("Threshold [ln GBP]", "ln_price", LN_PRICES, 13, help="13.0 is about GBP 442,000.")
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
        r=released.r,
        sigma=released.sigma,
        L=released.L,
        eta=float(eta),
        threshold=float(threshold),
        noise=float(noise),
        delta=float(delta),
        seed=seed,
    )
    return ExcursionSettings(view, show)


def _ask() -> None:
    session.SEARCH_ASKED.put(True)


def search_if_asked() -> None:
    """Run the search before the controls are drawn, show its progress, and set them to what it found."""
    if not session.SEARCH_ASKED.pop():
        return
    at = session.controls()
    kind = KIND.value(at[KIND.key])
    noise, delta = at.get("data_noise", exploration.LONDON_NOISE), float(at["path_delta"])
    budget, paths = float(at["search_budget"]), int(at["paths"])
    try:
        found = computed.found_settings(kind, float(noise), delta, paths, budget)
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
    session.move({f"length_{kind}": length, "r": ridge, "sigma": fitting[0], "eta": 0})
    st.success(f"Found for epsilon at most {budget:g}: lengthscale {length:g}, r = {ridge:g}, s = {fitting[0]:g}.")
