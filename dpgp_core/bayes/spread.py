"""How far people scatter at each place: noisy sums of distances to the released curve, read as a curve of their own.

After the stages for the mean, which release g, one more measures a_j = min(|y_j - g(x_j)|, A) in [0, A], with g and A
functions of released numbers: z = B (a / A - 1/2) + s w, of columns of norm <= 1, so one record moves it by at most
|b_j| <= 1, and with 1/s_m^2 + 1/s^2 = 1/s_0^2 all together are exactly (1 / s_0)-GDP (adaptive composition: Dong, Roth
& Su 2022, corollary 3.3). Nothing is clipped but at A, so sums show the mean of a whatever outcomes are like.

For normal outcomes of noise variance sigma^2, with t = A / sigma,

    E min(|r|, A) = sigma sqrt(2 / pi) (1 - exp(-t^2 / 2)) + 2 A Phi(-t),

which grows with sigma; read backwards it gives sigma^2(x) from E a at x, averaged over the posterior of E a. For
other outcomes that makes the usual intervals as wide as people are apart. Where A is many sigma this is
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
from ..table import Kind
from .mixture import Mixture, People, skewness_of
from .models import Model, auto_models

SHARE = 0.05  # of 1/s^2 that goes to distances
SKEW_SHARE = 0.03  # and to who lies above the curve, where outcomes may be skewed
GAP = 0.03  # of the strategy
_VARIANCE = 0.15  # of 2 E a / A over the box, before anything is measured
_SHARED = (0.5,)  # of that variance, the share common to groups
_NOISES = (0.25, 0.5)  # standard deviations of a/A about its mean, over half its range; normal outcomes have .6
_SDS: FloatArray = np.linspace(0.0, 2.0, 401)  # sigma over A; beyond, nearly everybody is cut off
_HERMITE = np.polynomial.hermite_e.hermegauss(9)
_LEAST_SD = 1e-3  # of the reach, of people about the curve
_LEAST = 1e-6  # of the variance of yes and no, where all say the same


def usual_distance(sd: FloatArray) -> FloatArray:
    """E a / A of normal outcomes, sd in units of A: E min(|r|, 1), r ~ N(0, sd^2)."""
    t = 1 / np.maximum(sd, 1e-9)
    usual: FloatArray = sd * math.sqrt(2 / math.pi) * -np.expm1(-t * t / 2) + 2 * ndtr(-t)
    return usual


_MEANS = usual_distance(_SDS)


class Distances(NamedTuple):
    """Distances to the curve, of D draws, as released: all of it is public.

    Attributes:
        B: strategy (r, n), or (r, M) over cells.
        reach: A (D,), in model units.
        sd: of people about the curve, as far as the stages for the mean know it (D,), in model units.
        s: standard deviation of the noise on each entry of z.
        z: noisy sums (D, r).
        above: standard deviation of the noise, and the noisy number of outcomes above the curve (D,), if measured.
    """

    B: FloatArray
    reach: FloatArray
    sd: FloatArray
    s: float
    z: FloatArray
    above: tuple[float, FloatArray] | None = None


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
        variance: FloatArray = self.reach[:, None] ** 2 * square
        return variance

    def people(self, of_curve: FloatArray) -> FloatArray:
        """sigma^2 (D, P) of one more output about the true curve, in squared model units.

        Distances were taken from the released curve, whose own error they hold: its variance is taken off, up to half.

        Args:
            of_curve: variance of the curve (D, P).
        """
        whole = self.noise_variance
        least = (_LEAST_SD * self.reach[:, None]) ** 2  # where all are on the curve, as counts on few values may be
        variance: FloatArray = np.maximum(np.maximum(whole - of_curve, whole / 2), least)
        return variance


class Shares(NamedTuple):
    """Noise multipliers of all measurements of one budget.

    Attributes:
        curve: s of the stages for the mean together.
        distances: of the distances; None if there are none.
        above: of the number of outcomes above the curve; None if they are not counted.
    """

    curve: float
    distances: float | None
    above: float | None


def split_budget(s: float, kind: Kind = "number") -> Shares:
    """Shares of a budget whose noise multiplier is s: 1 / curve^2 + 1 / distances^2 + 1 / above^2 = 1 / s^2.

    How people scatter whose outcome is yes or no follows from the curve; skewness is measured where it is expected.
    """
    if kind == "yes/no":
        return Shares(s, None, None)
    of_skew = 0.0 if kind == "number" else SKEW_SHARE
    above = s / math.sqrt(of_skew) if of_skew else None
    return Shares(s / math.sqrt(1 - SHARE - of_skew), s / math.sqrt(SHARE), above)


def reach_of(square: FloatArray, half_range: float) -> FloatArray:
    """A: twice the root mean of E (y - g)^2 over people (D,), at most half the range, in model units."""
    reach: FloatArray = np.minimum(2 * np.sqrt(square), half_range)
    return reach


def spread_models(x_box: Sequence[tuple[float, float]]) -> tuple[Model, ...]:
    """Of 2 (a / A - usual), usual being E a / A where people scatter by ``sd``: automatic kernels of less variance.

    Groups share half of it: each has a scatter of its own, and small ones lean on the others.
    """
    return auto_models(x_box, 1.0, _NOISES, variance=_VARIANCE, shared=_SHARED)


def spread_of(scaled: Mixture, usual: FloatArray, reach: FloatArray) -> Spread:
    """E a / A from the prediction of 2 (a / A - usual).

    Args:
        scaled: at P places.
        usual: (D, 1).
        reach: A (D,).
    """
    square = np.einsum("dm,dmp->dp", scaled.weights, scaled.variances + scaled.means**2)
    return Spread(usual + scaled.mean / 2, np.maximum(square - scaled.mean**2, 0.0) / 4, reach)


def with_spread(prediction: Mixture, spread: Spread, distances: Distances, n: float) -> Mixture:
    """The same prediction with the scatter of people at its places, by distances of n records."""
    of_curve, skew = prediction.variance, None
    variance = spread.people(of_curve)
    if distances.above is not None:
        s, z = distances.above
        skew = skewness_of(z, s, n, (of_curve / variance).mean(axis=1))
    return replace(prediction, people=People(variance, skew))


def with_two_values(prediction: Mixture, half_range: float) -> Mixture:
    """The same prediction of outcomes at the ends of the range: sigma^2 = h^2 - m^2, m their mean."""
    variance = half_range**2 - np.clip(prediction.mean, -half_range, half_range) ** 2
    return replace(prediction, people=People(np.maximum(variance, _LEAST * half_range**2)))
