"""Strategies and clipping intervals that a reader chooses by hand, for teaching.

The prior is f ~ GP(0, kernel), y = f(X) + N(0, noise variance). The measurement is z = B y + N(0, t I), and
``gp.regression.posterior_of_sums`` computes the posterior. It is mu-GDP if no column of B is longer than 1 and
t = (range / mu)^2.

The error of a private mean of n clipped outputs has two parts: a narrow clipping interval needs little noise, but
causes a bias. For every distribution of y, E clip(y, low, high) = low + int_low^high P(y > x) dx.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from ..linalg import check_columns
from .limits import simulate_prior


def local_sums(X: FloatArray, at: FloatArray, width: float) -> FloatArray:
    """Return a strategy B (r, n) with a sum over nearby records for each of r places.

    b_ij = c exp(-|x_j - a_i|^2 / (2 width^2)), where c scales the longest column to length 1.

    Args:
        at: places a_i (r, D); r may be 0.
        width: distance up to which records count, as a standard deviation, > 0, in input units.

    Raises:
        ValueError: shapes disagree, the width is not positive, or no record is near any place.
    """
    check_columns(X, at)
    check_positive("width", width)
    distances = ((at[:, None, :] - X[None]) ** 2).sum(axis=2)
    B: FloatArray = np.exp(-distances / (2 * width**2))
    if not len(B):
        return B
    longest = float(np.sqrt((B**2).sum(axis=0).max()))
    if not longest > 0:
        raise ValueError(f"no record is near any of the {len(B)} places; move one, or make width = {width:g} larger")
    return B / longest


def simulate_data_set(
    kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Simulate a data set from the prior: outputs at X (n,) and f at X_test (P,); see ``limits.simulate_prior``."""
    [y], [f] = simulate_prior(kernel, noise_variance, X, X_test, 1, rng)
    return y, f


Above = Callable[[FloatArray], FloatArray]
"""Function that returns P(y > x) for each x (k,)."""
_POINTS = 20_001


class ClipError(NamedTuple):
    """Error of a private mean of clipped outputs, in the unit of the output.

    Attributes:
        bias: E clip(y) - E y.
        noise: standard deviation of the privacy noise.
    """

    bias: float
    noise: float

    @property
    def error(self) -> float:
        """Root mean square error, sqrt(bias^2 + noise^2)."""
        return float(np.hypot(self.bias, self.noise))


def mean_of_clipped(above: Above, low: float, high: float) -> float:
    """Return E clip(y, low, high).

    Args:
        above: returns P(y > x).
        low: lower end of the clipping interval.
        high: upper end.

    Raises:
        ValueError: the interval is empty.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got low = {low:g} and high = {high:g}")
    x = np.linspace(low, high, _POINTS)
    middles = (x[1:] + x[:-1]) / 2
    return low + float(above(middles).mean()) * (high - low)


def clip_error(above: Above, mean: float, low: float, high: float, *, n: int, noise_multiplier: float) -> ClipError:
    """Return bias and noise of a private mean of n outputs that are clipped to [low, high].

    noise = (high - low) s / n, because one output moves the mean by at most (high - low) / n.

    Args:
        above: returns P(y > x) for an output y.
        mean: E y.
        low: lower end of the clipping interval.
        high: upper end.
        n: number of outputs.
        noise_multiplier: s, the standard deviation of the noise divided by the sensitivity, > 0.

    Raises:
        ValueError: a value above is out of range.
    """
    check_positive("n", n)
    check_positive("noise_multiplier", noise_multiplier)
    return ClipError(mean_of_clipped(above, low, high) - mean, (high - low) * noise_multiplier / n)
