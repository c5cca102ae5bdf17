"""Periodic inputs: the kernel of periodic components, and phases as additional inputs.

The periodic kernel is an EQ kernel on the circle: with u(x) = (cos, sin)(2 pi x / p), the distance |u - u'| is
2 |sin(pi (x - x') / p)|, so that exp(-|u - u'|^2 / (2 l^2)) = exp(-2 sin^2(pi (x - x') / p) / l^2) (MacKay 1998,
Introduction to Gaussian processes, section 5). Multiplied by an EQ kernel of x itself, the periodic component may
change slowly from period to period.

The phase of an input is its position within its period. Inputs X (n, D) with K periods are *lifted* to (n, D + K) by
appending their phases. Cells over inputs and phases can resolve a weekly component over many years, for which cells
over the inputs alone would be too wide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from .arrays import FloatArray
from .checks import check_positive
from .kernels import Kernel

Periods = tuple[float | None, ...]
"""Period of each input, in its unit; None for an input without a period."""
WEEK, YEAR = 7.0, 365.2425  # days
FEWEST = 2  # periods that must fit into the side of the box
_MIDDAY = 0.5  # shift of phases by which whole days lie in the middle of cells that are one day wide
_MOST_PHASES = 12  # largest number of cells of a period: a month each, if the period is a year


@dataclass(frozen=True, kw_only=True)
class Seasonal:
    """Kernel of a trend plus one periodic component for each period p_k.

    k(x, x') = trend(x, x') + sum_k wave EQ(x, x') exp(-2 sin^2(pi d_k / p_k) / l^2), d_k the difference in input k

    Args:
        trend: kernel of the part that is not periodic.
        periods: period of each input; not all None.
        wave: variance of each periodic component, >= 0, in squared model units; 0 for a trend alone.
        slow: lengthscales of EQ, over which periodic components change, > 0, one per input, in its unit.
        smooth: l > 0. With l = 1 a component has about one maximum and one minimum in each period.

    Raises:
        ValueError: a hyperparameter is out of range.
    """

    trend: Kernel
    periods: Periods
    wave: float = 0.0
    slow: tuple[float, ...] = ()
    smooth: float = 1.0

    def __post_init__(self) -> None:
        check_positive("smooth", self.smooth)
        if self.wave and len(self.slow) != len(self.periods):
            raise ValueError(f"slow must have {len(self.periods)} entries, one per input, got {len(self.slow)}")
        for length in self.slow:
            check_positive("slow", length)

    @property
    def variance(self) -> float:
        """k(x, x), in squared model units."""
        return self.trend.variance + self.wave * len(periodic(self.periods))

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Prior variances k(x_i, x_i), shape (n,)."""
        return np.full(len(X), self.variance)

    def __call__(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Covariance matrix (n, m) between X (n, D) and Z (m, D); either may be lifted."""
        dim = len(self.periods)
        lifted_X, lifted_Z = lifted(X, self.periods), lifted(Z, self.periods)
        K = self.trend(lifted_X[:, :dim], lifted_Z[:, :dim])
        if self.wave:
            r = cdist(lifted_X[:, :dim] / self.slow, lifted_Z[:, :dim] / self.slow)
            slow = self.wave * np.exp(-0.5 * r * r)
            for k, (_, period) in enumerate(periodic(self.periods), start=dim):
                half_chord = np.sin(np.pi / period * (lifted_X[:, k, None] - lifted_Z[:, k]))
                K = K + slow * np.exp(-2 * (half_chord / self.smooth) ** 2)
        return K


def periodic(periods: Periods) -> list[tuple[int, float]]:
    """Return the index of each input that has a period, with the period."""
    return [(d, period) for d, period in enumerate(periods) if period is not None]


def lifted(X: FloatArray, periods: Periods) -> FloatArray:
    """Append the phases to X (n, D), which gives (n, D + K). Inputs that are lifted already are returned unchanged."""
    waves = periodic(periods)
    if not waves or X.shape[1] == len(periods) + len(waves):
        return X
    return np.column_stack([X, *(np.mod(X[:, d] + _MIDDAY, period) for d, period in waves)])


def lifted_box(box: Sequence[tuple[float, float]], periods: Periods) -> tuple[tuple[float, float], ...]:
    """Return the box of the lifted inputs: D + K pairs (low, high)."""
    return (*box, *((0.0, period) for _, period in periodic(periods)))


def phase_cells(periods: Periods) -> tuple[int, ...]:
    """Return the number of cells of each of K periods: cells are one unit (day) wide, and there are 2 to 12."""
    return tuple(max(2, min(_MOST_PHASES, math.ceil(period))) for _, period in periodic(periods))


def check_room(name: str, period: float, side: tuple[float, float]) -> None:
    """Raise ValueError unless at least two periods fit into a side of a box."""
    width = side[1] - side[0]
    if FEWEST * period > width:
        raise ValueError(
            f"{name} is {period:g}, which comes less than {FEWEST} times in a box of width {width:g}, so nobody can "
            "see that it comes again. Leave the period out, or widen the box"
        )


def check_periods(periods: Sequence[float | None] | None, inputs: int) -> Periods:
    """Return declared periods as a tuple, () if there are none; raise ValueError unless each is None or > 0."""
    if periods is None or all(period is None for period in periods):
        return ()
    if len(periods) != inputs:
        raise ValueError(f"periods must have {inputs} entries, one per input, got {len(periods)}")
    for period in periods:
        if period is not None:
            check_positive("each period", period)
    return tuple(None if period is None else float(period) for period in periods)
