"""Bayes cloaking on the excursion page: its excursion set, and how well the sets of repeated releases overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import BoolArray, FloatArray
from dpgp_core.bayes.mixture import Mixture
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.evaluation.comparison import without_privacy as without
from dpgp_core.excursion.sets import iou
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.table import Dataset
from pages._ui.excursion.compute import Explored, View, data_of, of_data
from pages._ui.work import cached, waiting

MOST_TESTED = 50.0  # the largest probability that is tested against simulated truths
HALF, SURE = 0.5, 0.9
REPEATED = 5  # simulated releases; where a study opens, their median IoU has a standard error of 0.04 or less


@dataclass(frozen=True, eq=False)
class BayesSet:
    """The release read at one threshold, which is post-processing.

    Attributes:
        mean: mean of f (P,), in model units.
        probability: probability of being at or above the threshold (P,).
        guarantee: guarantee of the release.
    """

    mean: FloatArray
    probability: FloatArray
    guarantee: Guarantee

    @property
    def inside(self) -> BoolArray:
        """Points where being above is more probable than not (P,)."""
        return np.asarray(self.probability >= HALF)

    @property
    def sure(self) -> BoolArray:
        """Points where being above has at least the probability ``SURE`` (P,)."""
        return np.asarray(self.probability >= SURE)


def mechanism(lengthscale: float, epsilon: float, delta: float) -> BayesCloaking:
    """Return Bayes cloaking with the page's kernel and its neighbouring lengthscales in addition to the automatic
    models.
    """
    kernel = Matern12(variance=TUNING.curve_variance, lengthscale=lengthscale)
    return BayesCloaking(epsilon=epsilon, delta=delta, protects="inputs and outputs", kernels=[kernel])


def released(view: View, epsilon: float) -> Mixture:
    """Return the prediction of f from one simulated release, in model units, at the epsilon of one path. It may be
    published.

    Only data, lengthscale, delta and seed of ``view`` matter.
    """
    return next(_predictions(view, epsilon, [view.seed]))


def _predictions(view: View, epsilon: float, numbers: Iterable[int]) -> Iterator[Mixture]:
    """Yield the prediction of f from each of the simulated releases with these numbers."""
    dataset, grid, _ = data_of(view)
    bayes = mechanism(view.lengthscale, epsilon, view.delta)
    plan = bayes.plan_for(dataset, grid)
    for number in numbers:
        rng = np.random.default_rng([number, 4])
        yield bayes.measure(plan, dataset, grid, rng, mean=False).uncertainty.prediction


def read(prediction: Mixture, view: View, guarantee: Guarantee) -> BayesSet:
    """Return the release at the view's threshold; for outputs if the truth consists of outputs, as in London."""
    return BayesSet(prediction.mean[0], _above(prediction, view, view.level), guarantee)


def _above(prediction: Mixture, view: View, level: float) -> FloatArray:
    """Return the probability (P,) that the curve, or an output if the truth consists of outputs, is above a level."""
    levels = np.full(prediction.means.shape[-1], level)
    return np.asarray(1 - prediction.probability_below(levels, view.study.truth_of)[0])


def overlaps(
    view: View, epsilon: float, progress: Callable[[float], None] = lambda fraction: None
) -> dict[float, FloatArray]:
    """Return the IoU with the true area (``REPEATED``,) of the simulated releases 1, 2, ... of Bayes cloaking, at
    each threshold that can be read from one release. They are not private.

    Only data, lengthscale and delta of ``view`` matter.
    """
    study, (_, _, truth) = view.study, data_of(view)
    known, found = np.isfinite(truth), []
    levels = (0.0,) if study.thresholds.subtracted else study.thresholds.offered
    for prediction in _predictions(view, epsilon, range(1, REPEATED + 1)):
        sets = [_above(prediction, view, level)[known] >= HALF for level in levels]
        truly = [truth[known] >= level for level in levels]
        found.append([float(iou(inside, true)) for inside, true in zip(sets, truly, strict=True)])
        progress(len(found) / REPEATED)
    return dict(zip(levels, np.transpose(found), strict=True))


def median_error(values: FloatArray) -> float:
    """Return the standard error of the median of values (N,) that are about normal."""
    return float(np.sqrt(np.pi / 2 / len(values)) * np.std(values, ddof=1))


def bayes_set(curves: Explored) -> BayesSet | None:
    """Return the release of Bayes cloaking at the epsilon of one path; None if that is too large to be meaningful."""
    view, epsilon = curves.settings, curves.bayes_epsilon
    if epsilon > MOST_TESTED:
        return None
    prediction = cached.value("Releasing Bayes cloaking at the same ε", released, of_data(view), epsilon)
    guarantee = mechanism(view.lengthscale, epsilon, view.delta).guarantee
    return read(prediction, view, guarantee.for_unit(curves.dataset.privacy_unit))


def overlaps_of_bayes(curves: Explored) -> FloatArray | None:
    """Return the IoU of simulated releases of Bayes cloaking at the epsilon of one path; None if that is too large, or
    if they are not simulated yet. Then the page is drawn again when they are. They are not private.
    """
    if curves.bayes_epsilon > MOST_TESTED:
        return None
    of = overlaps, replace(of_data(curves.settings), seed=1), curves.bayes_epsilon
    found = cached.find(*of)
    if found is None:
        waiting.afterwards(lambda: cached.value("Repeating Bayes cloaking", *of))
        return None
    return found[curves.level]


def without_privacy(curves: Explored) -> FloatArray:
    """Return the prediction of Bayes cloaking's models without privacy noise (P,), in model units. It is not
    private.
    """
    of, given = of_data(curves.settings), (curves.dataset, curves.grid)
    return cached.value("Fitting without privacy", _without_privacy, of.name, of.noise, of.threshold, given=given)


def _without_privacy(dataset: Dataset, grid: FloatArray, _name: str, _noise: float, _threshold: float) -> FloatArray:
    return np.asarray((without(dataset, grid) - dataset.midpoint) / (dataset.output_range / 2))


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything that is shown of one view.

    Attributes:
        explored: paths and their sets.
        bayes: release of Bayes cloaking; None if it would be meaningless.
        plain: prediction without privacy noise (P,), in model units; None without the overlay.
        bayes_iou: IoU of simulated releases of Bayes cloaking; None without the overlay, or if there are none yet.
    """

    explored: Explored
    bayes: BayesSet | None
    plain: FloatArray | None = None
    bayes_iou: FloatArray | None = None

    @property
    def settings(self) -> tuple[View, bool, bool]:
        """All settings that determine them."""
        return self.explored.settings, self.plain is None, self.bayes_iou is None

    @property
    def public(self) -> Findings:
        """Return the findings without the overlay."""
        return replace(self, plain=None, bayes_iou=None)

    @property
    def best(self) -> float | None:
        """IoU without privacy, the larger one of both methods on the page; None without the overlay."""
        if self.plain is None:
            return None
        areas = self.explored.estimate, self.plain >= self.explored.level
        return max(map(self.explored.iou_of, areas))
