"""Local dispersion: the residual standard deviation as a function of the inputs, from clipped absolute residuals.

After the stages, which determine a curve g, one more measurement releases sums of a_j = min(|y_j - g(x_j)|, A) in
[0, A], where g and A are functions of released numbers: z = B (a / A - 1/2) + s w, with columns of B of norm at most 1,
so that one record changes it by at most |b_j| <= 1. The sums identify the mean of a for outcomes with any distribution.

For normal outcomes of noise variance sigma^2, with t = A / sigma,

    E min(|r|, A) = sigma sqrt(2 / pi) (1 - exp(-t^2 / 2)) + 2 A Phi(-t),

which grows with sigma. Its inverse gives sigma^2(x) from E a at x, averaged over the posterior of E a. If A is much
larger than sigma, the result is (pi / 2) (m^2 + v), with m and v the posterior mean and variance of E a. This simpler
formula is not used, because it is too small where A clips a part of the distances. For outcomes that are not normal,
the inverse of the formula for normal outcomes gives intervals of about the right width.
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
_LEAST = 1e-6  # smallest variance of yes/no outcomes, over h^2


def usual_distance(sd: FloatArray | float) -> FloatArray:
    """Return E a / A = E min(|r|, 1) for normal residuals r ~ N(0, sd^2), with sd in units of A."""
    t = 1 / np.maximum(sd, 1e-9)
    usual: FloatArray = sd * math.sqrt(2 / math.pi) * -np.expm1(-t * t / 2) + 2 * ndtr(-t)
    return usual


_MEANS = usual_distance(_SDS)


class LocalDispersion(NamedTuple):
    """Posterior of E a / A at P places.

    Attributes:
        mean, variance: posterior mean and variance (P,).
        threshold: clipping threshold A, in model units.
    """

    mean: FloatArray
    variance: FloatArray
    threshold: float

    @property
    def noise_variance(self) -> FloatArray:
        """Variance of an outcome about the released curve g (P,), in squared model units."""
        points, weights = _HERMITE
        shares = self.mean[:, None] + np.sqrt(self.variance)[:, None] * points
        square = np.interp(shares, _MEANS, _SDS) ** 2 @ (weights / weights.sum())
        return np.asarray(self.threshold**2 * square)

    def about_curve(self, of_curve: FloatArray) -> FloatArray:
        """Return the variance of an outcome about the true curve (P,), in squared model units.

        Residuals are taken from the released curve and therefore include its error. The variance of this error is
        subtracted, but at most half of the whole.

        Args:
            of_curve: posterior variance of the curve (P,), in squared model units.
        """
        whole = self.noise_variance
        # outcomes that are counts of few different values may all lie on the curve
        least = (TUNING.least_dispersion * self.threshold) ** 2
        return np.asarray(np.maximum(np.maximum(whole - of_curve, whole / 2), least))


def clipping_threshold(mean_square: float, half_range: float) -> float:
    """Return the clipping threshold A of absolute residuals, in model units.

    Args:
        mean_square: mean of E (y - g)^2 over the records, in squared model units.
        half_range: half the range of the outcomes, which A does not exceed.
    """
    return min(TUNING.distance_threshold * math.sqrt(mean_square), half_range)


def dispersion_models(x_box: Sequence[tuple[float, float]]) -> tuple[Model, ...]:
    """Return the models of 2 (a / A - usual), where ``usual`` is the expected a / A.

    They have the lengthscales of the automatic models and a smaller variance, half of which all groups have in common.
    Each group thus has a dispersion of its own, and that of a small group is estimated with the help of the other
    groups.
    """
    return auto_models(
        x_box, 1.0, TUNING.dispersion_noise_sds, variance=TUNING.dispersion_variance, shared=TUNING.dispersion_shared
    )


def dispersion_of(mean: FloatArray, variance: FloatArray, usual: float, threshold: float) -> LocalDispersion:
    """Posterior of E a / A from mean and variance of 2 (a / A - usual) at P places (P,)."""
    return LocalDispersion(usual + mean / 2, np.maximum(variance, 0.0) / 4, threshold)


def with_dispersion(prediction: Mixture, dispersion: LocalDispersion, distances: Distances, n: float) -> Mixture:
    """Return the prediction with the local dispersion of outcomes, from the absolute residuals of n records."""
    of_curve, skew = prediction.variance[0], None
    variance = dispersion.about_curve(of_curve)
    if distances.above is not None:
        s, z = distances.above
        skew = skewness_of(np.array([z]), s, n, np.array([(of_curve / variance).mean()]))
    return replace(prediction, outcomes=OutcomeDistribution(variance[None], skew))


def with_binary(prediction: Mixture, half_range: float) -> Mixture:
    """Return the prediction with the variance h^2 - m^2 of yes/no outcomes, where m is their mean."""
    variance = half_range**2 - np.clip(prediction.mean, -half_range, half_range) ** 2
    return replace(prediction, outcomes=OutcomeDistribution(np.maximum(variance, _LEAST * half_range**2)))
