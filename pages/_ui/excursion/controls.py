"""Sidebar of the excursion page, and its search for private settings."""

from __future__ import annotations

import bisect

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from datasets import STUDIES
from datasets.study import Study
from pages._ui import session
from pages._ui.excursion import computed, exploration
from pages._ui.excursion.exploration import Explored, View
from pages._ui.excursion.figures import LAYERS
from pages._ui.look.bound import choice, folded, pick, segments, side
from pages._ui.look.offers import DELTA_TITLE, PATH_DELTAS, RIDGES, SIGMAS, DropDown
from pages._ui.look.sidebar import draw_number, overlay, path_controls, paths_released
from pages._ui.look.text import at_most

PATH_LENGTHS = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2)
ETAS = (0, 0.05, 0.1, 0.2, 0.5, 1)
SEARCH_BUDGETS = (1, 2, 3, 5, 10, 20)
STUDY = DropDown("excursion", {name: study.title for name, study in STUDIES.items()})
LAYER = DropDown("excursion_layer", {kind: layer.title for kind, layer in LAYERS.items()})


def chosen_study() -> Study:
    """Which data: three tabs, bound to the address."""
    return STUDIES[segments("Data", STUDY)]


def excursion_layer(show_overlay: bool, beside: bool) -> str:
    """What the London map shows; ``beside``: whether there is a Bayes release."""
    offered = [kind for kind, layer in LAYERS.items() if layer.private or show_overlay]
    return pick("The map shows", LAYER, [kind for kind in offered if beside or kind != "bayes"])


def excursion_settings(study: Study) -> tuple[View, bool, DeltaGenerator]:
    """The whole sidebar: what is released, whether the overlay is on, and the place above all for what it costs."""
    lengthscale, r, s = study.start
    thresholds, spent = study.thresholds, side().container()
    ridge, scale = path_controls(s, r)
    delta = choice(DELTA_TITLE, "path_delta", PATH_DELTAS, 1e-4)
    length = choice("Lengthscale [share of the domain]", f"length_{study.name}", PATH_LENGTHS, lengthscale)
    threshold = choice(thresholds.title, thresholds.key, thresholds.offered, thresholds.start, help=thresholds.help)
    show = overlay()
    with folded("Paths"):
        paths = paths_released()
        eta = choice("η: added prior noise", "eta", ETAS, 0, help="More noise from the prior; buys a smaller epsilon.")
        noise = (
            choice("Spread of the simulated data", "data_noise", study.noises, study.noise)
            if study.noises
            else study.noise
        )
        seed = draw_number()
    with folded("Find private settings"):
        help = "Searched on simulated data, so it costs nothing."
        choice("for epsilon at most", "search_budget", SEARCH_BUDGETS, 3, help=help)
        st.button("Find", on_click=session.SEARCH_ASKED.put, args=(True,), width="stretch", icon=":material/search:")
    view = View(
        name=study.name,
        lengthscale=float(length),
        r=ridge,
        sigma=scale,
        L=paths,
        eta=float(eta),
        threshold=thresholds.level_of(float(threshold)),
        noise=float(noise),
        delta=float(delta),
        seed=seed,
    )
    return view, show, spent


def said_of(explored: Explored, view: View, place: DeltaGenerator) -> None:
    """What of a release has no control here: its epsilon follows from others, and kernel and method are given."""
    epsilon = at_most(explored.guarantee.budget.epsilon)
    draws = "one path" if view.L == 1 else f"{view.L} paths"
    place.caption(
        f"**ε = {epsilon}** for {draws}: it follows from r, s and δ. Method: posterior paths, with an "
        "exponential kernel."
    )


def search_if_asked() -> None:
    """Run the search before the controls are drawn, show its progress, and set them to what it found."""
    if not session.SEARCH_ASKED.pop():
        return
    at = session.controls()
    study = STUDIES[STUDY.value(at[STUDY.key])]
    noise, delta = at.get("data_noise", study.noise), float(at["path_delta"])
    budget, paths = float(at["search_budget"]), int(at["paths"])
    try:
        best = computed.found_settings(study.name, float(noise), delta, paths, budget)
    except ValueError as error:
        st.warning(f"No setting keeps within epsilon = {budget:g}: {error}.")
        return
    _set_controls(study.name, best.lengthscale, best.r, delta, paths, budget)


def _set_controls(name: str, lengthscale: float, r: float, delta: float, paths: int, budget: float) -> None:
    """The nearest lengthscale, the next larger r, and the smallest s on the sliders that keeps the budget."""
    length = min(PATH_LENGTHS, key=lambda option: abs(option - lengthscale))
    ridge = RIDGES[min(bisect.bisect_left(RIDGES, r * (1 - 1e-9)), len(RIDGES) - 1)]
    fitting = [s for s in SIGMAS if exploration.epsilon_of(name, length, ridge, s, delta, paths) <= budget]
    if not fitting:
        st.warning(f"No setting on the sliders keeps within epsilon = {budget:g}; try fewer paths or a larger budget.")
        return
    session.move({f"length_{name}": length, "r": ridge, "sigma": fitting[0], "eta": 0})
    st.success(f"Found for epsilon at most {budget:g}: lengthscale {length:g}, r = {ridge:g}, s = {fitting[0]:g}.")
