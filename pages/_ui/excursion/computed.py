"""Excursion sets, the Bayes release beside them and the search for settings, from the cache."""

from __future__ import annotations

from dataclasses import replace

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.baseline import without_privacy as without
from dpgp_core.excursion.search import PathSetting as Found
from pages._ui.excursion import contender, exploration
from pages._ui.excursion.contender import Beside
from pages._ui.excursion.exploration import Explored, View
from pages._ui.work import cached


def explored(view: View) -> Explored:
    """Excursion sets of one view."""
    # The cutoff depends on neither threshold, paths, seed nor budget.
    plain = replace(_plain(view), delta=0.01, seed=1)
    cutoff = cached.value("Choosing the cutoff on simulated data", exploration.cutoff_of, plain)
    return cached.value("Drawing posterior paths", exploration.explore, view, cutoff)


def beside(view: View, curves: Explored) -> Beside | None:
    """The Bayes release at the epsilon of one path; None where that is too large to mean anything."""
    epsilon = curves.path_epsilon
    if epsilon > contender.MOST_EPSILON:
        return None
    said = cached.value("Releasing Bayes cloaking at the same ε", contender.released, _of_data(view), epsilon)
    return contender.read(said, view)


def without_privacy(view: View, curves: Explored) -> FloatArray:
    """What Bayes cloaking's models say when nothing is hidden (P,), in model units. Not private."""
    public = curves.dataset, curves.grid
    return cached.value("Fitting without privacy", _without_privacy, replace(_of_data(view), seed=1), given=public)


def _without_privacy(dataset: Dataset, grid: FloatArray, _view: View) -> FloatArray:
    predicted: FloatArray = (without(dataset, grid) - dataset.midpoint) / (dataset.output_range / 2)
    return predicted


def best_without(curves: Explored, plain: FloatArray) -> float:
    """Overlap of the best area that is found with nothing hidden: of both methods on the page."""
    return max(curves.estimate_iou, curves.iou_of(plain >= curves.level))


def _plain(view: View) -> View:
    return replace(view, L=1, eta=0.0, threshold=view.study.thresholds.level_of(view.study.thresholds.start))


def _of_data(view: View) -> View:
    """Neither r, s nor the threshold enters, but where outputs are measured from the threshold."""
    plain = _plain(view)
    return replace(plain, r=1.0, sigma=1.0, threshold=(view if view.study.thresholds.subtracted else plain).threshold)


def found_settings(name: str, noise: float, delta: float, paths: int, budget: float) -> Found:
    """Best settings within a budget. Raises ValueError if there are none."""
    settings = (name, noise, delta, paths, budget)
    return cached.value("Searching settings on simulated data", exploration.find_settings, *settings)
