"""Controls, words and figures of the excursion page."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from datasets import STUDIES
from dpgp_core.accounting.guarantee import Guarantee
from pages._ui import session
from pages._ui.excursion import compute, figures
from pages._ui.excursion.bayes import MOST_TESTED, REPEATED, Findings, median_error
from pages._ui.excursion.compute import SIMULATED, Explored, View
from pages._ui.excursion.figures import LAYERS
from pages._ui.look import about as pictured
from pages._ui.look import offers, pictures, settings, text
from pages._ui.look.about import About
from pages._ui.look.controls import HERE, SIDE, TOP, Slider, menu
from pages._ui.look.offers import PATH_DELTAS, RIDGES, path_controls
from pages._ui.look.pictures import Public, as_it_is
from pages._ui.look.settings import Settings, control
from pages._ui.look.text import Metric, at_most
from pages._ui.work import cached

PATH_LENGTHS = (0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2)
ETAS = (0, 0.05, 0.1, 0.2, 0.5, 1)
STUDY = menu("Data", "excursion", {name: study.title for name, study in STUDIES.items()}, buttons=True, section=HERE)
LAYER = menu("The map shows", "excursion_layer", {kind: layer.title for kind, layer in LAYERS.items()}, section=HERE)


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


def _ridge(chosen: Any) -> Slider[float]:
    return replace(path_controls(*STUDIES[chosen.study].start[1:])[0], section="Paths")


def _find(_: Any) -> None:
    st.button(
        "Find the best r and lengthscale",
        on_click=session.SEARCH_REQUESTED.put,
        args=(True,),
        help="For this ε. Searched on simulated data, so it costs nothing.",
        width="stretch",
        icon=":material/search:",
    )


@dataclass(frozen=True, kw_only=True)
class ExcursionSettings(Settings):
    """Whole sidebar, and the tabs above the figure: data, release, whether the overlay is on."""

    study: str = control(STUDY)
    epsilon: float = control(offers.EPSILON)
    delta: float = control(
        replace(offers.PROMISED, key="path_delta", options=PATH_DELTAS, default=1e-4, help=None, section=SIDE)
    )
    lengthscale: float = control(_length)
    threshold: float = control(_threshold)
    overlay: bool = control(offers.OVERLAY)
    paths: int = control(offers.PATHS_RELEASED)
    eta: float = control(
        Slider(
            "eta",
            "η: added prior noise",
            0,
            ETAS,
            help="More noise from the prior allows a smaller s.",
            section="Paths",
        )
    )
    ridge: float = control(_ridge, below=_find)
    noise: float = control(_noise, when=lambda chosen: bool(STUDIES[chosen.study].noises))
    number: int = control(replace(offers.DRAW, section="Paths"))

    @cached_property
    def release(self) -> View:
        """Settings of the release: r and s follow from epsilon.

        Raises:
            ValueError: no r on offer can keep within epsilon.
        """
        length, eta = float(self.lengthscale), float(self.eta)
        r, sigma = compute.settings_for(
            self.study, length, float(self.ridge), float(self.delta), self.paths, eta, float(self.epsilon)
        )
        return View(
            name=self.study,
            lengthscale=length,
            r=r,
            sigma=sigma,
            L=self.paths,
            eta=eta,
            threshold=STUDIES[self.study].thresholds.level_of(float(self.threshold)),
            noise=float(self.noise),
            delta=float(self.delta),
            seed=self.number,
        )


def release_caption(view: View) -> None:
    """Write kernel and method of a release, which have no control here, and r and s, which follow from epsilon."""
    with settings.container(TOP):
        st.caption("Method: posterior paths, with an exponential kernel.")
    with settings.container("Paths"):
        st.caption(f"For this ε: r = {view.r:g}, s = {view.sigma:g}.")


def _paths(explored: Explored, one: str = "1", kind: str = "") -> str:
    """Return how many paths were released, in words."""
    count = len(explored.paths)
    return f"{one} {kind}path" if count == 1 else f"{count} {kind}paths"


def search_on_request() -> None:
    """Run the requested search before the controls are drawn, show its progress, and set the controls to its result.

    This is the nearest lengthscale and the next larger r on the sliders; s follows.
    """
    if not session.SEARCH_REQUESTED.pop():
        return
    at = session.controls()
    study = STUDIES[STUDY.value(at[STUDY.key])]
    name, noise, delta = study.name, float(at.get("data_noise", study.noise)), float(at["path_delta"])
    budget, paths = float(at["epsilon"]), int(at["paths"])
    doing = "Searching settings on simulated data"
    try:
        best = cached.value(doing, compute.find_settings, name, noise, delta, paths, budget)
    except ValueError as error:
        st.warning(f"No setting keeps within ε = {budget:g}: {error}.")
        return
    length = min(PATH_LENGTHS, key=lambda option: abs(option - best.lengthscale))
    ridge = RIDGES[min(bisect.bisect_left(RIDGES, best.r * (1 - 1e-9)), len(RIDGES) - 1)]
    session.move({f"length_{name}": length, "r": ridge, "eta": 0})
    st.success(f"Found for ε = {budget:g}: lengthscale {length:g} and r = {ridge:g}.")


TITLES = {
    "curve": "Where is the curve above the threshold?",
    "field": "Where is the map above the threshold?",
    "cells": "Where are prices above the threshold?",
}


def overlap_alt(found: Findings) -> str:
    """Return the description of the overlaps for screen readers, with their values."""
    low, middle, high = np.percentile(found.explored.path_iou, [25, 50, 75])
    return (
        "IoU with the true area in simulated releases. Half of the paths (violet) lie "
        f"between {low:.2f} and {high:.2f}, around {middle:.2f}. Bayes cloaking (orange): "
        f"{', '.join(overlap_of_bayes(found))}. Without privacy: {found.best:.2f}. Colouring everything: "
        f"{found.explored.everything_iou:.2f}. All protect inputs and outputs."
    )


OVERLAP = "How much of the area releases find. Left of the dotted line, colouring everything would be better."
CURVE = "Two releases against the threshold: a published path, and Bayes cloaking."
CURVE_WITH_TRUTH = f"{CURVE} The truth, and the estimate without privacy, are drawn too."
SETS = "Where each of them is above the threshold."
SETS_WITH_TRUTH = f"{SETS} Green is found, grey is missed, orange is false."
FIELD = "Share of published paths above the threshold. The boundary of Bayes cloaking is dashed."
TRUTH_MAP = "The truth, and where it exceeds the threshold (dotted)."
OVERLAP_MAP = "Where the first published path is right (green), misses (grey) or is false (orange)."
LONDON = (
    "What is protected is one hexagon's median, not one sale. Where the hexagons with sales lie is private too, so "
    "prices are predicted for all hexagons of a declared box."
)
TABLE = "Columns marked “not private” show true data. The others may be published."


def overlap_of_bayes(found: Findings) -> tuple[str, str]:
    """Return the median IoU of releases of Bayes cloaking, and between which values their middle half lies; of the
    release on screen while no others are simulated yet.
    """
    if found.bayes is None:
        return f"none above ε = {MOST_TESTED:g}", "at the ε of one path"
    if found.bayes_iou is None:
        return f"{found.explored.iou_of(found.bayes.inside):.2f}", "this release alone; more are being simulated"
    low, middle, high = np.percentile(found.bayes_iou, [25, 50, 75])
    return f"{middle:.2f}", f"middle half: {low:.2f} to {high:.2f}; at the ε of one path"


def metrics(found: Findings) -> list[Metric]:
    """Return epsilon; with the overlay also the overlap of one path, without privacy, and of Bayes cloaking."""
    explored, budget = found.explored, found.explored.guarantee.budget
    spent = Metric(
        "ε of what is published", at_most(budget.epsilon), f"{_paths(explored)}, δ = {at_most(budget.delta, 2)}"
    )
    if found.best is None:
        return [spent, Metric("Protects", "inputs, outputs", "of one person")]
    low, middle, high = np.percentile(explored.path_iou, [25, 50, 75])
    hall = "no promise to match"
    if len(explored.hall_iou):
        hall = f"Hall {text.number(float(np.median(explored.hall_iou)))}"
    return [
        spent,
        Metric("IoU, one path", f"{middle:.2f}", f"middle half: {low:.2f} to {high:.2f}; {hall}", IOU_HELP),
        Metric("IoU, Bayes cloaking", *overlap_of_bayes(found), IOU_HELP),
        Metric(
            "IoU without privacy",
            f"{found.best:.2f}",
            f"reference method; colouring everything scores {explored.everything_iou:.2f}",
        ),
    ]


IOU_HELP = (
    "Intersection over union: the area that is both found and true, over the area that is either. 1 is perfect. Shown "
    "is the median over simulated releases."
)


def answer(found: Findings, epsilon: float) -> str:
    """Return the headline sentences."""
    explored = found.explored
    if found.best is None:
        return (
            f"At ε = {epsilon:g}, {_paths(explored, 'one', 'published ')} and Bayes cloaking show where it is. Inputs "
            "and outputs are both protected."
        )
    bayes = "" if found.bayes_iou is None else f", the area of Bayes cloaking with **{overlap_of_bayes(found)[0]}**"
    return (
        f"At ε = {epsilon:g}, the area of one path overlaps the true one with a median IoU of "
        f"**{np.median(explored.path_iou):.2f}**{bayes} (1 is perfect)."
    )


def steps(found: Findings) -> list[tuple[str, str]]:
    """Return the computation with the current numbers."""
    explored, view = found.explored, found.explored.settings
    error = (
        "" if found.bayes_iou is None else f", whose median has a standard error of {median_error(found.bayes_iou):.2f}"
    )
    return [
        (
            "Release",
            f"whole paths of GP(μ, s² k_D), exponential kernel, lengthscale {view.lengthscale:g}, ridge r² = "
            f"{view.r**2:g}, s = {view.sigma:g}, η = {view.eta:g}. More points of a path later cost nothing",
        ),
        (
            "Bayes release",
            "noisy counts of people in public cells, if there are many also their mean locations, and noisy sums of "
            "their clipped outputs in stages, at the ε of one path. Probabilities average Gaussian process models by "
            "their evidence. The models are the page's kernel with half and twice its lengthscale, and others made "
            "from box and bounds. Another level, curve or kernel is free",
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
        (
            "Distribution",
            f"{len(explored.path_iou)} paths, of which {SIMULATED} are simulated for this picture only, and "
            f"{REPEATED} releases of Bayes cloaking{error}",
        ),
        ("Hall's release", "kernel sum plus prior noise, exact Gaussian accounting at the ε of one path"),
        ("Accounting", "Rényi curve with proven sensitivity, signed covariance term, tight conversion"),
        *(
            [("Map", "a 2-pixel Gaussian filter smooths every path: post-processing")]
            if view.study.scene == "field"
            else []
        ),
    ]


def released(found: Findings) -> list[tuple[object, Guarantee]]:
    """Return settings and guarantees of the releases on screen."""
    view, bayes = found.explored.settings, found.bayes
    paths: list[tuple[object, Guarantee]] = [(view, found.explored.guarantee)]
    return paths if bayes is None else [*paths, (("bayes", view), bayes.guarantee)]


def pictures_of(found: Findings, numbers: pd.DataFrame) -> None:
    """Draw the releases, and with the overlay the truth next to them."""
    {"curve": _curve, "field": _field, "cells": _map}[found.explored.settings.study.scene](found, numbers)


def _curve(found: Findings, numbers: pd.DataFrame) -> None:
    for figure, key, public_alt, alt, rows in (
        (figures.curve, "path_curves", CURVE, CURVE_WITH_TRUTH, numbers),
        (figures.sets, "path_sets", SETS, SETS_WITH_TRUTH, None),
    ):
        public = Public(partial(figure, found.public), _about(found.explored, public_alt))
        pictures.chart(cached.drawn(figure, found), key, public_alt if found.plain is None else alt, public, rows)


def _field(found: Findings, numbers: pd.DataFrame) -> None:
    about = _about(found.explored, FIELD)
    if found.plain is None:
        drawn = cached.drawn(figures.field, found)
        pictures.chart(drawn, "field", FIELD, as_it_is(drawn, about), numbers)
        return
    left, right = st.columns(2)
    with left:
        truth = cached.drawn(figures.truth_map, found.explored)
        pictures.chart(truth, "field_truth", TRUTH_MAP, numbers=numbers)
    with right:
        public = Public(partial(figures.field, found.public), about)
        pictures.chart(cached.drawn(figures.overlap_map, found.explored), "field", OVERLAP_MAP, public, numbers)


def _map(found: Findings, numbers: pd.DataFrame) -> None:
    show = found.plain is not None
    offered = [kind for kind, layer in LAYERS.items() if layer.private or show]
    offered = [kind for kind in offered if found.bayes is not None or kind != "bayes"]
    layer = LAYERS[settings.value_of(LAYER.among(offered))]
    container = st.container()
    picked = pictures.pick_hexagon(numbers)
    with container:
        about = _about(found.explored, layer.title)
        pictures.hexagon_map(numbers, layer, "excursion", "excursion_map", picked, boroughs=show, about=about)
    st.info(LONDON)


def _about(explored: Explored, shows: str) -> About:
    made = f"{_paths(explored, kind='posterior ')}, simulated release"
    epsilon = at_most(explored.guarantee.budget.epsilon)
    finding = f"Where the threshold is exceeded, by {_paths(explored, kind='posterior ')} at ε = {epsilon}"
    return pictured.of_release(explored.dataset, explored.guarantee, made, shows, finding=finding)
