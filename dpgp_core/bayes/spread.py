"""How far people scatter at each place: noisy sums of distances to the released curve, read as a curve of their own.

After the stages for the mean, which release g, one more measures a_j = min(|y_j - g(x_j)|, A) in [0, A], with g and A
functions of what was released: z = B (a / A - 1/2) + s w, of columns of norm <= 1, so one record moves it by at most
|b_j| <= 1, and with 1/s_m^2 + 1/s^2 = 1/s_0^2 all together are exactly (1 / s_0)-GDP (adaptive composition: Dong, Roth
& Su 2022, corollary 3.3). Nothing is clipped but at A, so sums show the mean of a whatever outcomes are like.

For normal outcomes of noise variance sigma^2, with t = A / sigma,

    E min(|r|, A) = sigma sqrt(2 / pi) (1 - exp(-t^2 / 2)) + 2 A Phi(-t),

which grows with sigma; read backwards it gives sigma^2(x) from E a at x, averaged over what is not known of E a. For
other outcomes that is what makes the usual intervals as wide as people are apart. Where A is many sigma this is
(pi / 2) (m^2 + v), m and v the posterior mean and variance of E a; where people scatter more than elsewhere, and A cuts
off a part of them, that would be too little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ..arrays import FloatArray
from ..strategies.strategy import Strategy
from .bias import Public
from .intervals import mixture_of
from .models import Model, Places, auto_models, places_of, weights_of
from .planning import plan_stages
from .stages import Observed, posterior

SHARE = 0.15  # of 1/s^2 that goes to distances
_VARIANCE = 0.15  # of 2 E a / A over the box, before anything is measured
_NOISES = (0.25, 0.5)  # standard deviations of a/A about its mean, over half its range; normal outcomes have .6
_SDS: FloatArray = np.linspace(0.0, 2.0, 401)  # sigma over A; beyond, nearly everybody is cut off
_HERMITE = np.polynomial.hermite_e.hermegauss(9)
_TOLERANCE = 1e-6  # of the prior variance, left out of the features


def _mean_distance(sd: FloatArray) -> FloatArray:
    """E min(|r|, 1), r ~ N(0, sd^2)."""
    t = 1 / np.maximum(sd, 1e-9)
    found: FloatArray = sd * math.sqrt(2 / math.pi) * -np.expm1(-t * t / 2) + 2 * ndtr(-t)
    return found


_MEANS = _mean_distance(_SDS)


class Distances(NamedTuple):
    """Distances to the curve, of D draws, as released: all of it is public.

    Attributes:
        B: strategy (r, n).
        g: curve at the records (D, n), in model units.
        reach: A (D,), in model units.
        sd: of people about the curve, as far as the stages for the mean know it (D,), in model units.
        s: standard deviation of the noise on each entry of z.
        z: noisy sums (D, r).
    """

    B: FloatArray
    g: FloatArray
    reach: FloatArray
    sd: FloatArray
    s: float
    z: FloatArray


class Spread(NamedTuple):
    """E min(|y - g|, A) / A at P places of D draws: mean and variance (D, P); A (D,), in model units."""

    mean: FloatArray
    variance: FloatArray
    reach: FloatArray

    @property
    def noise_variance(self) -> FloatArray:
        """sigma^2 (D, P) of one more output, in squared model units."""
        points, weights = _HERMITE
        shares = self.mean[..., None] + np.sqrt(self.variance)[..., None] * points
        square = np.interp(shares, _MEANS, _SDS) ** 2 @ (weights / weights.sum())
        found: FloatArray = self.reach[:, None] ** 2 * square
        return found


def split(s: float) -> tuple[float, float]:
    """Noise multipliers of the stages for the mean, and of the distances: 1 / s_m^2 + 1 / s_s^2 = 1 / s^2."""
    return s / math.sqrt(1 - SHARE), s / math.sqrt(SHARE)


def spread_places(x_box: Sequence[tuple[float, float]], X: FloatArray, X_test: FloatArray) -> tuple[Places, ...]:
    """Models of 2 a / A - 1 in [-1, 1] at records X (n, D) and test inputs X_test (P, D), from the box alone."""
    public = Public(x_box, 1.0)  # nothing is cut off at its ends
    return places_of(_models(x_box), X, X_test, public=public, tolerance=_TOLERANCE)


def plan_spread(x_box: Sequence[tuple[float, float]], X: FloatArray, X_test: FloatArray, s: float) -> Strategy:
    """What to measure of distances: public, from inputs, box and budget.

    Args:
        x_box: D public (low, high) pairs.
        X: records (n, D).
        X_test: where the scatter should be known (P, D).
        s: noise multiplier.
    """
    places = spread_places(x_box, X, X_test)
    return plan_stages(places, _weights(x_box), 1.0, (s,), gap=0.03)[0].strategy


def reach_of(low: FloatArray, high: FloatArray, half_range: float) -> FloatArray:
    """A (D,): half the median width of the intervals for outputs so far (D, P), at most half the range."""
    return np.minimum(np.median(high - low, axis=1) / 2, half_range)


def read_spread(seen: Distances, x_box: Sequence[tuple[float, float]], X: FloatArray, X_test: FloatArray) -> Spread:
    """What noisy sums of distances say of E a at X_test (P, D): spends nothing.

    Args:
        seen: as released, of records X (n, D).
        x_box: D public (low, high) pairs.
        X, X_test: as of ``plan_spread``.
    """
    places, ends = spread_places(x_box, X, X_test), np.ones_like(seen.g)
    usual = _mean_distance(seen.sd / seen.reach)[:, None]
    z = seen.z - (usual - 0.5) * seen.B.sum(axis=1)
    outcome = posterior([Observed(seen.B, -ends, ends, seen.s, z)], places, _weights(x_box))
    found = mixture_of(places, outcome.states, outcome.weights)
    square = np.einsum("dm,dmp->dp", found.weights, found.variances + found.means**2)
    return Spread(usual + found.mean / 2, np.maximum(square - found.mean**2, 0.0) / 4, seen.reach)


def _models(x_box: Sequence[tuple[float, float]]) -> tuple[Model, ...]:
    """Of 2 (a / A - usual), usual being E a / A where people scatter by ``sd``: the kernels of the automatic models, of less variance."""
    found = auto_models(x_box, 1.0, _NOISES)
    return tuple(replace(m, kernel=replace(m.kernel, variance=_VARIANCE)) for m in found)


def _weights(x_box: Sequence[tuple[float, float]]) -> FloatArray:
    return weights_of(_models(x_box))
