"""Measurements that somebody places by hand, and what is known of f from any measurements of noisy sums.

The prior is f ~ GP(0, kernel), y = f(X) + N(0, noise variance). Measured is z = B y + N(0, t I). It hides everybody if
no column of B is longer than 1 and t = (range / mu)^2.

And what a clip does to a mean of n outputs: a narrow interval needs little noise, and leaves a bias.

E clip(y, low, high) = low + int_low^high P(y > x) dx,    whatever the distribution of y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from ..linalg import check_columns
from .limits import functions


class Known(NamedTuple):
    """What noisy sums say of f at P test inputs.

    Attributes:
        reading: E f_* = reading z, (P, r).
        deviation: standard deviation of f_* given z (P,), in model units.
    """

    reading: FloatArray
    deviation: FloatArray

    @property
    def error(self) -> float:
        """Root mean square error over the test inputs, averaged over the worlds of the prior."""
        return float(np.sqrt((self.deviation**2).mean()))


def placed(X: FloatArray, at: FloatArray, width: float) -> FloatArray:
    """B (r, n): one sum for each place, of records near it; together they just keep the budget.

    b_ij = c exp(-|x_j - a_i|^2 / (2 width^2)),    c such that the longest column has length 1.

    Args:
        at: places (r, D); none is allowed.
        width: how far a record may be and still count, > 0, in the unit of the inputs.

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


def known_from(
    kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray, B: FloatArray, t: float
) -> Known:
    """What z = B y + N(0, t I) says of f at the test inputs.

    S = B (K + noise I) B^T + t I,    reading = K_*f B^T S^-1,    variance = k_** - diag(reading B K_f*).

    Args:
        noise_variance: of an output about f, >= 0.
        B: (r, n).
        t: noise variance of each number, > 0.

    Raises:
        ValueError: shapes disagree, or t is not positive.
    """
    check_columns(X, X_test)
    check_positive("t", t)
    if B.ndim != 2 or B.shape[1] != len(X):
        raise ValueError(f"B must have {len(X)} columns, one per record, got shape {B.shape}")
    K = kernel(X, X)
    K[np.diag_indices(len(X))] += noise_variance
    S = B @ K @ B.T + t * np.eye(len(B))
    moved = kernel(X_test, X) @ B.T
    reading = moved if not len(B) else cho_solve(cho_factor(S, lower=True), moved.T).T
    variance = kernel.diagonal(X_test) - (reading * moved).sum(axis=1)
    return Known(reading, np.sqrt(np.maximum(variance, 0.0)))


def world(
    kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """One world of the prior: outputs at X (n,) and f at the test inputs (P,), in model units.

    Args:
        noise_variance: of an output about f, >= 0.
        rng: of the world.
    """
    check_columns(X, X_test)
    [f] = functions(kernel, np.vstack([X, X_test]), 1, rng)
    y: FloatArray = f[: len(X)] + np.sqrt(noise_variance) * rng.standard_normal(len(X))
    return y, f[len(X) :]


Above = Callable[[FloatArray], FloatArray]
"""P(y > x) at each x."""
_POINTS = 20_001


class ClipError(NamedTuple):
    """Error of a private mean of clipped outputs, in the output's unit.

    Attributes:
        bias: E clip(y) - E y.
        noise: standard deviation of the privacy noise.
    """

    bias: float
    noise: float

    @property
    def error(self) -> float:
        """Root mean square of both."""
        return float(np.hypot(self.bias, self.noise))


def mean_of_clipped(above: Above, low: float, high: float) -> float:
    """E clip(y, low, high).

    Args:
        above: P(y > x).
        low: of the interval.
        high: of the interval, above ``low``.

    Raises:
        ValueError: the interval is empty.
    """
    if not low < high:
        raise ValueError(f"low must be below high, got low = {low:g} and high = {high:g}")
    x = np.linspace(low, high, _POINTS)
    middles = (x[1:] + x[:-1]) / 2
    return low + float(above(middles).mean()) * (high - low)


def clip_error(above: Above, mean: float, low: float, high: float, *, n: int, noise_multiplier: float) -> ClipError:
    """Bias and noise of a private mean of n outputs that are clipped to [low, high].

    noise = (high - low) s' / n: one person moves the mean by at most (high - low) / n.

    Args:
        above: P(y > x) of an output.
        mean: E y.
        low: of the interval.
        high: of the interval.
        n: number of people, >= 1.
        noise_multiplier: s', noise over sensitivity, > 0.

    Raises:
        ValueError: a value above is out of range.
    """
    check_positive("n", n)
    check_positive("noise_multiplier", noise_multiplier)
    return ClipError(mean_of_clipped(above, low, high) - mean, (high - low) * noise_multiplier / n)
