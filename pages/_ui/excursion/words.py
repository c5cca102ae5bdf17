"""Words and metrics of the excursion page."""

from __future__ import annotations

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from pages._ui.excursion.contender import MOST_EPSILON, Beside
from pages._ui.excursion.exploration import SIMULATED, Explored, View
from pages._ui.look import text
from pages._ui.look.metric import Metric

OVERLAP = (
    "Overlap with the true set, each at the ε of one path: posterior paths (orange), Hall's release (purple), the set "
    "of one Bayes release (green). All three protect inputs and outputs. Not private."
)

TABLE = "The released paths and the probability of the Bayes release are private; what is marked is not."


def overlap_of(found: Explored, beside: Beside | None) -> str:
    """IoU of the set that the Bayes release says."""
    return f"none above ε = {MOST_EPSILON:g}" if beside is None else f"{found.iou_of(beside.inside):.2f}"


def _cost(found: Explored) -> str:
    epsilon = f"ε = {text.at_most(found.guarantee.budget.epsilon)}"
    count = len(found.paths)
    return f"{count} released path{'s cost' if count > 1 else ' costs'} **{epsilon}**"


def metrics(found: Explored, beside: Beside | None, overlay: bool) -> list[Metric]:
    """Overlap of one path, of the estimate, of Hall's and the Bayes release, all under the overlay only; epsilon."""
    spent = Metric(
        "ε for the paths shown",
        text.at_most(found.guarantee.budget.epsilon),
        f"{len(found.paths)} released, δ = {text.at_most(found.guarantee.budget.delta, 2)}",
    )
    if not overlay:
        return [Metric("Protects", "inputs, outputs", "one record replaced"), spent]
    quartiles = np.percentile(found.path_iou, [25, 75])
    hall = f"Hall {text.number(float(np.median(found.hall_iou)))}" if len(found.hall_iou) else "no promise to match"
    return [
        Metric(
            "IoU of one path (median)",
            f"{np.median(found.path_iou):.2f}",
            f"half within {quartiles[0]:.2f} to {quartiles[1]:.2f}; {hall}",
        ),
        Metric("IoU without privacy", f"{found.estimate_iou:.2f}", f"everything {found.everything_iou:.2f}"),
        Metric("IoU of one Bayes release", overlap_of(found, beside), "at the ε of one path"),
        spent,
    ]


def answer(found: Explored, beside: Beside | None, overlay: bool) -> str:
    """The plain sentence under the question."""
    if not overlay:
        return f"{_cost(found)}; inputs and outputs are both protected."
    return (
        f"One released path overlaps the true set by about **{np.median(found.path_iou):.2f}** (intersection over "
        f"union; 1 is perfect); without privacy {found.estimate_iou:.2f}, declaring everything "
        f"{found.everything_iou:.2f}. At the ε of one path, a Bayes release comes to **{overlap_of(found, beside)}**. "
        f"{_cost(found)}."
    )


def steps(found: Explored, view: View) -> list[tuple[str, str]]:
    """The computation with the current numbers put in."""
    return [
        (
            "Release",
            f"whole paths of GP(μ, s² k_D), exponential kernel, lengthscale {view.lengthscale:g}, ridge r² = "
            f"{view.r**2:g}, s = {view.sigma:g}, η = {view.eta:g}; more points of a path later cost nothing",
        ),
        (
            "Bayes release",
            "noisy counts of records in public cells and noisy sums of clipped outputs over them, in six stages, at "
            "the ε of one path; probabilities average Gaussian process models by their evidence: the page's kernel, "
            "half and twice its lengthscale, and models made from box and bounds. "
            "Another threshold, curve or kernel is free",
        ),
        (
            "What each protects",
            "all three: one record, position and value, replaced by any other; the number of records is public. "
            "Further paths, and further releases of Hall's kind, add to ε; reading one Bayes release again does not",
        ),
        (
            "Non-private estimate",
            f"{{p ≥ {found.cutoff:.2f}}}, the cutoff chosen on separate simulated data; effective dimension "
            f"{text.number(found.d_eff)}, cross-entropy {text.number(found.bce)} nats",
        ),
        ("Distribution", f"{len(found.path_iou)} paths, of which {SIMULATED} are simulated for this picture only"),
        ("Hall's release", "kernel sum plus prior noise, exact Gaussian accounting at the ε of one path"),
        ("Accounting", "Rényi curve with proven sensitivity, signed covariance term, tight conversion"),
        *(
            [("Map", "a 2-pixel Gaussian filter smooths every path: post-processing")]
            if view.study.scene == "field"
            else []
        ),
    ]


def released(view: View, found: Explored, beside: Beside | None) -> list[tuple[object, Guarantee]]:
    """Settings and guarantees of what is on screen."""
    paths: list[tuple[object, Guarantee]] = [(view, found.guarantee)]
    return paths if beside is None else [*paths, (("bayes", view), beside.guarantee)]
