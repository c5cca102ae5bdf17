"""Local dispersion: how far outcomes are from the curve at each place, from noisy sums of clipped distances.

After the stages for the mean, which release g, one more measures a_j = min(|y_j - g(x_j)|, A) in [0, A], with g and A
functions of released numbers: z = B (a / A - 1/2) + s w, with columns of norm <= 1, so that one record moves it by at
most |b_j| <= 1. Nothing else is clipped, so the sums show the mean of a for any outcomes.

For normal outcomes of noise variance sigma^2, with t = A / sigma,

    E min(|r|, A) = sigma sqrt(2 / pi) (1 - exp(-t^2 / 2)) + 2 A Phi(-t),

which grows with sigma. Its inverse gives sigma^2(x) from E a at x, averaged over the posterior of E a. For other
outcomes this makes the usual intervals as wide as people are apart. If A is many sigma, it is (pi / 2) (m^2 + v), with
m and v the posterior mean and variance of E a. This would be too little where the dispersion is so large that A clips a
part of the distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..arrays import FloatArray
from .mixture import Mixture, OutcomeDistribution, skewness_of
from .model import Model, auto_models
from .queries import Distances
from .tuning import TUNING

_SDS: FloatArray = np.linspace(0.0, 2.0, 401)  # sigma over A; for larger ones nearly all distances are clipped
_HERMITE = np.polynomial.hermite_e.hermegauss(9)
_LEAST = 1e-6  # of h^2; least variance of yes/no outcomes that are all equal


def usual_distance(sd: FloatArray | float) -> FloatArray:
    """E a / A for normal outcomes whose standard deviation is sd, in units of A: E min(|r|, 1), r ~ N(0, sd^2)."""
    t = 1 / np.maximum(sd, 1e-9)
    usual: FloatArray = sd * math.sqrt(2 / math.pi) * -np.expm1(-t * t / 2) + 2 * ndtr(-t)
    return usual


_MEANS = usual_distance(_SDS)


class LocalDispersion(NamedTuple):
    """Posterior of E min(|y - g|, A) / A at P places: mean and variance (P,); A, in model units."""

    mean: FloatArray
    variance: FloatArray
    threshold: float

    @property
    def noise_variance(self) -> FloatArray:
        """Variance of one more outcome about the released curve (P,), in squared model units."""
        points, weights = _HERMITE
        shares = self.mean[:, None] + np.sqrt(self.variance)[:, None] * points
        square = np.interp(shares, _MEANS, _SDS) ** 2 @ (weights / weights.sum())
        return np.asarray(self.threshold**2 * square)

    def about_curve(self, of_curve: FloatArray) -> FloatArray:
        """Variance of one more outcome about the true curve (P,), in squared model units.

        Distances were taken from the released curve and contain its error, whose variance is subtracted, up to half.

        Args:
            of_curve: variance of the curve (P,).
        """
        whole = self.noise_variance
        least = (
            TUNING.least_dispersion * self.threshold
        ) ** 2  # for counts on few values, all of which may be on the curve
        return np.asarray(np.maximum(np.maximum(whole - of_curve, whole / 2), least))


def clipping_threshold(mean_square: float, half_range: float) -> float:
    """A: twice the root of the mean of E (y - g)^2 over the records, at most half the range, in model units."""
    return min(TUNING.distance_threshold * math.sqrt(mean_square), half_range)


def dispersion_models(x_box: Sequence[tuple[float, float]]) -> tuple[Model, ...]:
    """Models of 2 (a / A - usual), ``usual`` being the expected a / A: automatic kernels of less variance.

    Groups share half of it: each group has its own dispersion, and small groups borrow from the others.
    """
    return auto_models(
        x_box, 1.0, TUNING.dispersion_noise_sds, variance=TUNING.dispersion_variance, shared=TUNING.dispersion_shared
    )


def dispersion_of(mean: FloatArray, variance: FloatArray, usual: float, threshold: float) -> LocalDispersion:
    """Posterior of E a / A from mean and variance of 2 (a / A - usual) at P places (P,)."""
    return LocalDispersion(usual + mean / 2, np.maximum(variance, 0.0) / 4, threshold)


def with_dispersion(prediction: Mixture, dispersion: LocalDispersion, distances: Distances, n: float) -> Mixture:
    """The same prediction with the local dispersion of outcomes, from the distances of n records."""
    of_curve, skew = prediction.variance[0], None
    variance = dispersion.about_curve(of_curve)
    if distances.above is not None:
        s, z = distances.above
        skew = skewness_of(np.array([z]), s, n, np.array([(of_curve / variance).mean()]))
    return replace(prediction, outcomes=OutcomeDistribution(variance[None], skew))


def with_binary(prediction: Mixture, half_range: float) -> Mixture:
    """The same prediction for outcomes at the ends of the range: sigma^2 = h^2 - m^2, m their mean."""
    variance = half_range**2 - np.clip(prediction.mean, -half_range, half_range) ** 2
    return replace(prediction, outcomes=OutcomeDistribution(np.maximum(variance, _LEAST * half_range**2)))
