"""One Bayes release beside posterior paths and Hall's: it protects the same, at the epsilon of one path.

No streamlit here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp_core.accounting.guarantee import Guarantee
from dpgp_core.arrays import BoolArray, FloatArray
from dpgp_core.bayes.mixture import Mixture
from dpgp_core.bayes.models import AUTO_VARIANCE
from dpgp_core.data import Dataset
from dpgp_core.kernels import Matern12
from dpgp_core.mechanisms import BayesCloaking
from pages._ui.excursion.exploration import View, data_of

MOST_EPSILON = 50.0  # up to which probabilities are tested against simulated truths
SURE = 0.9


@dataclass(frozen=True, eq=False)
class Said:
    """What one release says of f. It may be published.

    Attributes:
        prediction: the mixture's at the test points, in model units.
        guarantee: of the release.
    """

    prediction: Mixture
    guarantee: Guarantee


@dataclass(frozen=True, eq=False)
class Beside:
    """The release read at one threshold: post-processing.

    Attributes:
        mean: of f (P,), in model units.
        probability: of being at or above the threshold (P,).
        guarantee: of the release.
    """

    mean: FloatArray
    probability: FloatArray
    guarantee: Guarantee

    @property
    def inside(self) -> BoolArray:
        """Where being above is likelier than not (P,)."""
        likely: BoolArray = self.probability >= 0.5
        return likely

    @property
    def sure(self) -> BoolArray:
        """Where it has a probability of ``SURE`` (P,)."""
        surely: BoolArray = self.probability >= SURE
        return surely


def mechanism(lengthscale: float, epsilon: float, delta: float) -> BayesCloaking:
    """The page's kernel, of the automatic models' variance, mixed with its neighbours and with those models."""
    kernel = Matern12(variance=AUTO_VARIANCE, lengthscale=lengthscale)
    return BayesCloaking(epsilon=epsilon, delta=delta, protects="inputs and outputs", kernels=[kernel])


def released(view: View, epsilon: float) -> Said:
    """A numbered draw at the epsilon of one path; of ``view`` only data, lengthscale, delta and seed matter."""
    dataset, grid, _ = data_of(view)
    return said(mechanism(view.lengthscale, epsilon, view.delta), dataset, grid, np.random.default_rng([view.seed, 4]))


def said(bayes: BayesCloaking, dataset: Dataset, grid: FloatArray, rng: np.random.Generator) -> Said:
    """One release, read at ``grid`` (P, D)."""
    release = bayes.release(dataset, grid, rng)
    return Said(release.uncertainty.prediction, bayes.guarantee.for_unit(dataset.privacy_unit))


def read(announced: Said, view: View) -> Beside:
    """The release at the view's threshold: of outputs where the truth is one of them, as in London."""
    level = np.full(announced.prediction.means.shape[-1], view.level)
    above = 1 - announced.prediction.probability_below(level, view.study.truth_of)[0]
    return Beside(announced.prediction.mean[0], above, announced.guarantee)
