"""What a clip does to a mean of n outputs: a narrow interval needs little noise, and leaves a bias.

E clip(y, low, high) = low + int_low^high P(y > x) dx,    whatever the distribution of y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive

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
