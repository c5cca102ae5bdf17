"""Ends of clipping intervals, and the prior of the bias that clipping causes. (``strategy`` chooses the intervals.)

"Clipping bias" in docs/bayes_cloaking.md has the formulas. The bias of a stage is beta(c) times the field
psi(x)^T b ~ GP(0, (1 + k) / 2), where k is the mean over the inputs of EQ kernels with lengthscales of a quarter of the
box. Along a categorical input, k is [same category], because the skewness of groups may be similar or not. Mean and
median never differ by more than sigma. Their difference is close to sigma only for outcomes with two values, and only
these have a sigma near half the range. Therefore beta / sigma grows with sigma.

| E clip(r, -c, c) divided by the standard deviation of r | c = 0.75 | 1.5 | 3 standard deviations |
|---|---|---|---|
| gamma(2) | 0.10 | 0.07 | 0.01 |
| log-normal(0.8) | 0.15 | 0.09 | 0.03 |
| yes/no with probability 0.2 | 0.25 | 0.10 | 0 |
| 3 % outliers | 0.20 | 0.18 | 0.15 |
| normal | 0 | 0 | 0 |
| beta / sigma | 0.18 | 0.10 | 0.05 |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.pivoted import factorise
from ..kernels import EQ
from ..levels import LevelSide
from .residuals import OUTLIERS, ResidualVariance
from .tuning import TUNING

_TOLERANCE = 1e-3  # share of the field's variance that its features leave out
_PIVOTS = 16  # points along each side from which pivots are chosen
_FAR = 1e6  # distance of an end that clips nothing, over half the range
_TOUCHES = 1e-6  # distance from a bound, over half the range, below which an end is at the bound


class Ends(NamedTuple):
    """Ends of clipping intervals. Ends that clip nothing are far away, so that formulas treat them as infinite.

    Attributes:
        low, high: ends of the intervals, in model units.
        half_width: distance from the centre to the nearer end that clips; infinite if neither does.
    """

    low: FloatArray
    high: FloatArray
    half_width: FloatArray


def ends_of(low: FloatArray, high: FloatArray, centre: FloatArray, half_range: float, *, clips: bool = True) -> Ends:
    """Return the ends of clipping intervals of outcomes, with ends that clip nothing moved far away.

    Arrays have the same shape, and values are in model units.

    Args:
        low, high: ends of the intervals.
        centre: expected outcomes, from which half-widths are measured.
        half_range: half the range of the outcomes.
        clips: False if no outcome can lie beyond any end.
    """
    least, far = _TOUCHES * half_range, _FAR * half_range
    if not clips:
        return Ends(np.full_like(low, -far), np.full_like(high, far), np.full_like(low, np.inf))
    low = np.where(low <= -half_range + least, -far, low)
    high = np.where(high >= half_range - least, far, high)
    whole = (low == -far) & (high == far)
    return Ends(low, high, np.where(whole, np.inf, np.maximum(np.minimum(centre - low, high - centre), 0.0)))


def bias_sd(half_width: FloatArray, noise_variance: float, half_range: float) -> FloatArray:
    """Return beta(c) for half-widths c, without outliers; an array with the shape of half_width."""
    sd = np.sqrt(noise_variance)
    decay = np.where(np.isinf(half_width), 0.0, (1 - TUNING.far_bias) * np.exp(-half_width / sd) + TUNING.far_bias)
    share = TUNING.bias + (1 - TUNING.bias) * np.minimum(noise_variance / half_range**2, 1.0) ** 2
    return np.asarray(share * sd * decay)


class Bias(NamedTuple):
    """Prior of the bias that clipping causes in each bin.

    Attributes:
        mean: mean of the bias (M,), in model units. It is 0 unless outliers can be on one side only.
        sd: its standard deviation beta(c) (M,), in model units.
        variance: variance that outliers add to a clipped outcome (M,), in squared model units; 0 if nothing is clipped,
            because the noise variance of the models includes outliers.
    """

    mean: FloatArray
    sd: FloatArray
    variance: FloatArray


def bias_of(half_width: FloatArray, centre: FloatArray, residuals: ResidualVariance, half_range: float) -> Bias:
    """Return the prior of the clipping bias of each bin, including the bias that outliers may cause.

    "Clipping bias" in docs/bayes_cloaking.md has the formulas.

    Args:
        half_width: half-width c of the clipping interval of each bin (M,).
        centre: expected outcome of each bin (M,), in model units.
        residuals: posterior of the residual variance.
        half_range: half the range of the outcomes, in model units.
    """
    near = bias_sd(half_width, residuals.variance, half_range)
    mean, variance = np.zeros((2, *near.shape))
    if not residuals.outliers.any():
        return Bias(mean, near, variance)
    square = max(1 - residuals.outliers.sum(), 0.0) * near**2
    # Outliers are on one side everywhere. If each bin had a side of its own, the mean would jump between bins.
    room_above, room_below = half_range - centre.max(), half_range + centre.min()
    for (share, distance), probability in zip(OUTLIERS, residuals.outliers, strict=True):
        least = TUNING.outlier_room * distance * half_range
        side = float(room_below >= least) - float(room_above >= least)
        excess = share * np.maximum(distance * half_range - half_width, 0.0)
        mean += probability * side * excess
        variance += probability * share * np.minimum(distance * half_range, half_width) ** 2
        square += probability * (1 + side**2 * residuals.field**2) * excess**2
    variance = np.where(np.isinf(half_width), 0.0, variance)
    return Bias(mean, np.sqrt(np.maximum(square - mean**2, 0.0)), variance)


def bias_features(box: Sequence[tuple[float, float]], X: FloatArray) -> FloatArray:
    """Return the features psi (n, k_b) at X (n, D) of the field psi b, b ~ N(0, I).

    Pivots follow from the box alone, so that the features at a point do not depend on the other points.
    """
    each = [_along(side, X[:, d : d + 1]) for d, side in enumerate(box)]
    return np.hstack([np.full((len(X), 1), 0.5**0.5), *(part / len(box) ** 0.5 for part in each)])


def _along(side: tuple[float, float], x: FloatArray) -> FloatArray:
    """Return the features that vary with one input x (n, 1)."""
    if isinstance(side, LevelSide):
        return np.asarray(0.5**0.5 * (x == np.arange(side.levels)))
    low, high = side
    points = low + (high - low) * ((np.arange(_PIVOTS) + 0.5) / _PIVOTS)[:, None]
    kernel = EQ(variance=0.5, lengthscale=TUNING.bias_lengthscale * (high - low))
    return factorise(kernel, points, _TOLERANCE).features.at(x).values()
