"""Words and metrics of the excursion page."""

from __future__ import annotations

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from pages._ui.excursion.contender import MOST_EPSILON, Beside
from pages._ui.excursion.exploration import SIMULATED, Explored, View
from pages._ui.look import text
from pages._ui.look.text import Metric

TITLE = "Where is the level exceeded?"


def overlap_alt(explored: Explored, beside: Beside | None, best: float) -> str:
    """What the picture of the overlaps shows, with its values."""
    low, middle, high = np.percentile(explored.path_iou, [25, 50, 75])
    return (
        f"Overlap with the true area in simulated releases at the epsilon of one path. Paths (violet): half lie "
        f"between {low:.2f} and {high:.2f}, the middle one at {middle:.2f}. Bayes cloaking (orange): "
        f"{overlap_of(explored, beside)}. Without privacy {best:.2f}, painting everything "
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


def overlap_of(explored: Explored, beside: Beside | None) -> str:
    """Overlap of the area that Bayes cloaking says."""
    return f"none above ε = {MOST_EPSILON:g}" if beside is None else f"{explored.iou_of(beside.inside):.2f}"


def _cost(explored: Explored) -> str:
    count = len(explored.paths)
    epsilon = text.at_most(explored.guarantee.budget.epsilon)
    return f"Epsilon = **{epsilon}** buys {'one published path' if count == 1 else f'{count} published paths'}."


def metrics(explored: Explored, beside: Beside | None, best: float | None) -> list[Metric]:
    """Overlap of one path, without privacy and of Bayes cloaking, all under the overlay only; epsilon.

    Args:
        found, beside: what is published.
        best: overlap without privacy; None while the overlay is off.
    """
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
        Metric("Overlap, Bayes cloaking", overlap_of(explored, beside), "at the ε of one path"),
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
            "noisy counts of people in public cells and noisy sums of their clipped outputs, in six stages, at the ε "
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


def released(view: View, explored: Explored, beside: Beside | None) -> list[tuple[object, Guarantee]]:
    """Settings and guarantees of what is on screen."""
    paths: list[tuple[object, Guarantee]] = [(view, explored.guarantee)]
    return paths if beside is None else [*paths, (("bayes", view), beside.guarantee)]
