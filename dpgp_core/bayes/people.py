"""One more person: how far from the curve, and more often on which side.

People's distances from the curve are sigma(x) times a standardised variable of mean 0 and variance 1: normal, or where
a release has counted who lies above the curve, a gamma variable of that skewness, shifted (mirrored where it is
negative). Of skewness c a gamma has shape k = 4 / c^2, and lies above its mean with probability Q(k, k), which is 1/2
for c = 0, .406 for gamma(2), .368 for an exponential. What the count says of c is Bayes' rule on a grid.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincc, gammaincinv, ndtri, softmax

from ..arrays import FloatArray

_SKEWS: FloatArray = np.linspace(-3.0, 3.0, 25)
_PRIOR_SD = 1.5  # of the skewness, before anybody is counted
_CENTILES: FloatArray = np.concatenate([np.geomspace(1e-6, 0.02, 30), np.linspace(0.03, 0.5, 48)])
_LEVELS: FloatArray = np.concatenate([_CENTILES, 1 - _CENTILES[-2::-1]])
_MOVED = 0.2  # of the people, who change sides if the curve moves by half a standard deviation: .4 / 2
_LEAST_SHAPE = 1e-12


class People(NamedTuple):
    """How people scatter about the curve at P places, of D draws.

    Attributes:
        variance: sigma^2 (D, P), in squared model units.
        skew: log density of the skewness (D, 25); None for normal.
    """

    variance: FloatArray
    skew: FloatArray | None = None

    def standard_quantile(self, probability: float) -> FloatArray:
        """Of the standardised variable (D, 1): averaged over what is not known of its skewness.

        Args:
            probability: in (0, 1).
        """
        if self.skew is None:
            return np.full((len(self.variance), 1), float(ndtri(probability)))
        each = np.array([_quantile(float(c), probability) for c in _SKEWS])
        quantiles: FloatArray = softmax(self.skew, axis=1) @ each
        return quantiles[:, None]

    def standard_below(self, values: FloatArray) -> FloatArray:
        """P(standardised variable <= values), values (D, P): by interpolation among its quantiles."""
        quantiles = np.hstack([self.standard_quantile(float(p)) for p in _LEVELS])
        below = [np.interp(row, at, _LEVELS, left=0.0, right=1.0) for row, at in zip(values, quantiles, strict=True)]
        return np.array(below)


def skewness_of(z: FloatArray, s: float, n: float, unsure: FloatArray) -> FloatArray:
    """Log density of the skewness given the number above the curve (D, 25): of z = sum_j (1{y_j > g_j} - 1/2) + noise.

    Where g is off by a share of people's standard deviation, as many change sides as lie in between.

    Args:
        z: released (D,).
        s: standard deviation of its noise.
        n: number of records.
        unsure: variance of the curve over that of people, on average (D,).
    """
    share = np.array([_above(float(c)) for c in _SKEWS])
    variance = s**2 + n * share * (1 - share) + ((_MOVED * n) ** 2 * unsure)[:, None]
    prior = -0.5 * (_SKEWS / _PRIOR_SD) ** 2
    log_density: FloatArray = prior - 0.5 * (z[:, None] - n * (share - 0.5)) ** 2 / variance - 0.5 * np.log(variance)
    return log_density


def _quantile(skew: float, probability: float) -> float:
    if skew < 0:
        return -_quantile(-skew, 1 - probability)
    if skew * skew < _LEAST_SHAPE:
        return float(ndtri(probability))
    shape = 4 / skew**2
    return float((gammaincinv(shape, probability) - shape) / math.sqrt(shape))


def _above(skew: float) -> float:
    if skew < 0:
        return 1 - _above(-skew)
    return 0.5 if skew * skew < _LEAST_SHAPE else float(gammaincc(4 / skew**2, 4 / skew**2))
