"""Measurements that somebody places by hand, and the bias of clipping by hand.

The prior is f ~ GP(0, kernel), y = f(X) + N(0, noise variance). Measured is z = B y + N(0, t I), read by
``gp.regression.posterior_of_sums``. It hides everybody if no column of B is longer than 1 and t = (range / mu)^2.

Clipping a mean of n outputs: a narrow interval needs little noise, and leaves a bias.

E clip(y, low, high) = low + int_low^high P(y > x) dx,    whatever the distribution of y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from ..linalg import check_columns
from .limits import made_up


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


def world(
    kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw one data set from the prior: outputs at X (n,) and f at the test inputs (P,); see ``limits.made_up``."""
    [y], [f] = made_up(kernel, noise_variance, X, X_test, 1, rng)
    return y, f


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
        noise_multiplier: s', noise over sensitivity, > 0.

    Raises:
        ValueError: a value above is out of range.
    """
    check_positive("n", n)
    check_positive("noise_multiplier", noise_multiplier)
    return ClipError(mean_of_clipped(above, low, high) - mean, (high - low) * noise_multiplier / n)
