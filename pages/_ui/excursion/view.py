"""Controls, words and pictures of the excursion page."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from datasets import STUDIES
from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import FloatArray
from pages._ui import session
from pages._ui.excursion import compute, figures
from pages._ui.excursion.compute import MOST_TESTED, SIMULATED, BayesSet, Explored, View
from pages._ui.excursion.figures import LAYERS
from pages._ui.look import offers, pictures, settings, sheet, text
from pages._ui.look.controls import HERE, SIDE, TOP, Slider, menu
from pages._ui.look.offers import PATH_DELTAS, RIDGES, SIGMAS, path_controls
from pages._ui.look.pictures import Public
from pages._ui.look.settings import Settings, carried
from pages._ui.look.sheet import About
from pages._ui.look.text import Metric, at_most
from pages._ui.work import cached

PATH_LENGTHS = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2)
ETAS = (0, 0.05, 0.1, 0.2, 0.5, 1)
SEARCH_BUDGETS = (1, 2, 3, 5, 10, 20)
STUDY = menu("Data", "excursion", {name: study.title for name, study in STUDIES.items()}, buttons=True, section=HERE)
LAYER = menu("The map shows", "excursion_layer", {kind: layer.title for kind, layer in LAYERS.items()}, section=HERE)
_BUDGET = Slider(
    "search_budget",
    "for epsilon at most",
    3,
    SEARCH_BUDGETS,
    help="Searched on simulated data, so it costs nothing.",
    section="Find private settings",
)
_ETA: Slider[float] = Slider(
    "eta", "η: added prior noise", 0, ETAS, help="More noise from the prior; buys a smaller epsilon.", section="Paths"
)
_DELTA = replace(offers.PROMISED, key="path_delta", options=PATH_DELTAS, default=1e-4, help=None, section=SIDE)


def _length(chosen: Any) -> Slider[float]:
    key, label, start = f"length_{chosen.study}", "Lengthscale [share of the domain]", STUDIES[chosen.study].start[0]
    return Slider(key, label, start, PATH_LENGTHS)


def _threshold(chosen: Any) -> Slider[float]:
    offered = STUDIES[chosen.study].thresholds
    return Slider(offered.key, offered.title, offered.start, offered.offered, help=offered.help)


def _noise(chosen: Any) -> Slider[float]:
    study = STUDIES[chosen.study]
    label = "Spread of the simulated data"
    return Slider("data_noise", label, study.noise, study.noises, section="Paths")


def _find(_: Any) -> None:
    st.button("Find", on_click=session.SEARCH_REQUESTED.put, args=(True,), width="stretch", icon=":material/search:")


@dataclass(frozen=True, kw_only=True)
class ExcursionSettings(Settings):
    """The whole sidebar, and the tabs above the picture: data, release, whether the overlay is on."""

    study: str = carried(STUDY)
    r: float = carried(lambda chosen: path_controls(*STUDIES[chosen.study].start[1:])[0])
    sigma: float = carried(lambda chosen: path_controls(*STUDIES[chosen.study].start[1:])[1])
    delta: float = carried(_DELTA)
    lengthscale: float = carried(_length)
    threshold: float = carried(_threshold)
    overlay: bool = carried(offers.OVERLAY)
    paths: int = carried(offers.PATHS_RELEASED)
    eta: float = carried(_ETA)
    noise: float = carried(_noise, when=lambda chosen: bool(STUDIES[chosen.study].noises))
    number: int = carried(replace(offers.DRAW, section="Paths"))
    budget: int = carried(_BUDGET, below=_find)

    @property
    def release(self) -> View:
        """Settings of the release."""
        return View(
            name=self.study,
            lengthscale=float(self.lengthscale),
            r=float(self.r),
            sigma=float(self.sigma),
            L=self.paths,
            eta=float(self.eta),
            threshold=STUDIES[self.study].thresholds.level_of(float(self.threshold)),
            noise=float(self.noise),
            delta=float(self.delta),
            seed=self.number,
        )


def release_caption(explored: Explored, view: View) -> None:
    """Epsilon, kernel and method of a release, which have no control here: epsilon follows from others."""
    epsilon = at_most(explored.guarantee.budget.epsilon)
    draws = "one path" if view.L == 1 else f"{view.L} paths"
    with settings.container(TOP):
        st.caption(
            f"**ε = {epsilon}** for {draws}: it follows from r, s and δ. Method: posterior paths, with an "
            "exponential kernel."
        )


def search_on_request() -> None:
    """Run the search before the controls are drawn, show its progress, and set them to its result."""
    if not session.SEARCH_REQUESTED.pop():
        return
    at = session.controls()
    study = STUDIES[STUDY.value(at[STUDY.key])]
    noise, delta = at.get("data_noise", study.noise), float(at["path_delta"])
    budget, paths = float(at["search_budget"]), int(at["paths"])
    try:
        best = cached.value(
            "Searching settings on simulated data",
            compute.find_settings,
            study.name,
            float(noise),
            delta,
            paths,
            budget,
        )
    except ValueError as error:
        st.warning(f"No setting keeps within epsilon = {budget:g}: {error}.")
        return
    _set_controls(study.name, best.lengthscale, best.r, delta, paths, budget)


def _set_controls(name: str, lengthscale: float, r: float, delta: float, paths: int, budget: float) -> None:
    """The nearest lengthscale, the next larger r, and the smallest s on the sliders that keeps the budget."""
    length = min(PATH_LENGTHS, key=lambda option: abs(option - lengthscale))
    ridge = RIDGES[min(bisect.bisect_left(RIDGES, r * (1 - 1e-9)), len(RIDGES) - 1)]
    fitting = [s for s in SIGMAS if compute.epsilon_of(name, length, ridge, s, delta, paths) <= budget]
    if not fitting:
        st.warning(f"No setting on the sliders keeps within epsilon = {budget:g}; try fewer paths or a larger budget.")
        return
    session.move({f"length_{name}": length, "r": ridge, "sigma": fitting[0], "eta": 0})
    st.success(f"Found for epsilon at most {budget:g}: lengthscale {length:g}, r = {ridge:g}, s = {fitting[0]:g}.")


TITLE = "Where is the level exceeded?"


def overlap_alt(explored: Explored, bayes: BayesSet | None, best: float) -> str:
    """Text alternative of the overlaps, with their values."""
    low, middle, high = np.percentile(explored.path_iou, [25, 50, 75])
    return (
        "Overlap with the true area in simulated releases at the epsilon of one path. Half of the paths (violet) lie "
        f"between {low:.2f} and {high:.2f}, around {middle:.2f}. Bayes cloaking (orange): "
        f"{overlap_of(explored, bayes)}. Without privacy: {best:.2f}. Painting everything: "
        f"{explored.everything_iou:.2f}. All protect inputs and outputs."
    )


CURVE = "Two releases against the level: a published path, and Bayes cloaking."
CURVE_WITH_TRUTH = f"{CURVE} Beside them is the truth, and what is known without privacy."
SETS = "Where each of them is above the level."
SETS_WITH_TRUTH = f"{SETS} Green is found, grey is missed, red is false."
FIELD = "Share of published paths above the level. The boundary of Bayes cloaking is dashed."
TRUTH_MAP = "The truth, and where it exceeds the level (dotted)."
OVERLAP_MAP = "Where the first published path is right (green), misses (grey) or is false (red)."
LONDON = (
    "What is protected is one hexagon's median, not one sale. Where the hexagons with sales lie is private too, so "
    "prices are predicted for all hexagons of a declared box."
)
TABLE = "Columns marked “not private” show true data. The others may be published."


def overlap_of(explored: Explored, bayes: BayesSet | None) -> str:
    """Overlap of the area of Bayes cloaking."""
    return f"none above ε = {MOST_TESTED:g}" if bayes is None else f"{explored.iou_of(bayes.inside):.2f}"


def _cost(explored: Explored) -> str:
    count = len(explored.paths)
    epsilon = text.at_most(explored.guarantee.budget.epsilon)
    return f"Epsilon = **{epsilon}** buys {'one published path' if count == 1 else f'{count} published paths'}."


def metrics(explored: Explored, bayes: BayesSet | None, best: float | None) -> list[Metric]:
    """Overlap of one path, without privacy (``best``, None while the overlay is off) and of Bayes cloaking; epsilon."""
    spent = Metric(
        "ε of what is published",
        text.at_most(explored.guarantee.budget.epsilon),
        f"{len(explored.paths)} path{'s' if len(explored.paths) > 1 else ''}, "
        f"δ = {text.at_most(explored.guarantee.budget.delta, 2)}",
    )
    if best is None:
        return [spent, Metric("Protects", "inputs, outputs", "of one person")]
    quartiles = np.percentile(explored.path_iou, [25, 75])
    hall = "no promise to match"
    if len(explored.hall_iou):
        hall = f"Hall {text.number(float(np.median(explored.hall_iou)))}"
    return [
        spent,
        Metric(
            "Overlap, one path",
            f"{np.median(explored.path_iou):.2f}",
            f"half of all: {quartiles[0]:.2f} to {quartiles[1]:.2f}; {hall}",
        ),
        Metric("Overlap without privacy", f"{best:.2f}", f"painting everything: {explored.everything_iou:.2f}"),
        Metric("Overlap, Bayes cloaking", overlap_of(explored, bayes), "at the ε of one path"),
    ]


def answer(explored: Explored, best: float | None) -> str:
    """The plain sentences under the question."""
    if best is None:
        return f"{_cost(explored)} Inputs and outputs are both protected."
    return (
        f"{_cost(explored)} One path finds the area with an overlap of **{np.median(explored.path_iou):.2f}** (1 is "
        f"perfect); painting everything gives {explored.everything_iou:.2f}. Without privacy the best is {best:.2f}."
    )


def steps(explored: Explored, view: View) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    return [
        (
            "Release",
            f"whole paths of GP(μ, s² k_D), exponential kernel, lengthscale {view.lengthscale:g}, ridge r² = "
            f"{view.r**2:g}, s = {view.sigma:g}, η = {view.eta:g}. More points of a path later cost nothing",
        ),
        (
            "Bayes release",
            "noisy counts of people in public cells, of many also where in them they are, and noisy sums of their "
            "clipped outputs, in stages, at the ε "
            "of one path. Probabilities average Gaussian process models by their evidence. The models are the page's "
            "kernel with half and twice its lengthscale, and others made from box and bounds. Another level, curve or "
            "kernel is free",
        ),
        (
            "What each protects",
            "all three: one person's position and value, replaced by any other. The number of people is public. "
            "Further paths, and further releases of Hall's kind, add to ε. Reading one Bayes release again does not",
        ),
        (
            "Without privacy",
            f"{{p ≥ {explored.cutoff:.2f}}}, with a cutoff chosen on separate simulated data. Effective dimension "
            f"{text.number(explored.d_eff)}, cross-entropy {text.number(explored.bce)} nats",
        ),
        ("Distribution", f"{len(explored.path_iou)} paths, of which {SIMULATED} are simulated for this picture only"),
        ("Hall's release", "kernel sum plus prior noise, exact Gaussian accounting at the ε of one path"),
        ("Accounting", "Rényi curve with proven sensitivity, signed covariance term, tight conversion"),
        *(
            [("Map", "a 2-pixel Gaussian filter smooths every path: post-processing")]
            if view.study.scene == "field"
            else []
        ),
    ]


def released(view: View, explored: Explored, bayes: BayesSet | None) -> list[tuple[object, Guarantee]]:
    """Settings and guarantees of the releases on screen."""
    paths: list[tuple[object, Guarantee]] = [(view, explored.guarantee)]
    return paths if bayes is None else [*paths, (("bayes", view), bayes.guarantee)]


def pictures_of(
    view: View, explored: Explored, bayes: BayesSet | None, plain: FloatArray | None, numbers: pd.DataFrame
) -> None:
    """The releases, and under the overlay (``plain`` is not None) the truth beside them."""
    {"curve": _curve, "field": _field}.get(view.study.scene, _map)(view, explored, bayes, plain, numbers)


def _curve(
    view: View, explored: Explored, bayes: BayesSet | None, plain: FloatArray | None, numbers: pd.DataFrame
) -> None:
    for figure, key, public_alt, alt, rows in (
        (figures.curve, "path_curves", CURVE, CURVE_WITH_TRUTH, numbers),
        (figures.sets, "path_sets", SETS, SETS_WITH_TRUTH, None),
    ):
        drawn = cached.drawn(figure, explored, bayes, plain, of=(view, plain is None))
        public = _public(explored, partial(figure, explored, bayes, None), public_alt)
        pictures.chart(drawn, key, public_alt if plain is None else alt, public, rows)


def _field(
    view: View, explored: Explored, bayes: BayesSet | None, plain: FloatArray | None, numbers: pd.DataFrame
) -> None:
    if plain is None:
        drawn = cached.drawn(figures.field, explored, bayes, of=view)
        pictures.chart(drawn, "field", FIELD, _public(explored, lambda: drawn, FIELD), numbers)
        return
    left, right = st.columns(2)
    with left:
        pictures.chart(cached.drawn(figures.truth_map, explored, of=view), "field_truth", TRUTH_MAP, numbers=numbers)
    with right:
        public = _public(explored, partial(figures.field, explored, bayes), FIELD)
        pictures.chart(cached.drawn(figures.overlap_map, explored, of=view), "field", OVERLAP_MAP, public, numbers)


def _map(
    view: View, explored: Explored, bayes: BayesSet | None, plain: FloatArray | None, numbers: pd.DataFrame
) -> None:
    show = plain is not None
    offered = [kind for kind, layer in LAYERS.items() if layer.private or show]
    layer = LAYERS[settings.value_of(LAYER.among([kind for kind in offered if bayes is not None or kind != "bayes"]))]
    container = st.container()
    picked = pictures.pick_hexagon(numbers)
    with container:
        pictures.hexagon_map(
            numbers, layer, "excursion", "excursion_map", picked, boroughs=show, about=_about(explored, layer.title)
        )
    st.info(LONDON)


def _public(explored: Explored, figure: Callable[[], go.Figure], shows: str) -> Public:
    return Public(figure, _about(explored, shows))


def _about(explored: Explored, shows: str) -> About:
    many = f"{len(explored.paths)} posterior path{'s' if len(explored.paths) > 1 else ''}"
    return sheet.of_release(explored.dataset, explored.guarantee, f"{many}, example draw", shows)
