"""Gaussian noise for an (epsilon, delta) guarantee, and the guarantee of a given noise.

A release whose mean moves by at most Delta (in the noise's own metric) under noise of scale s
has noise multiplier s' = s / Delta. Figures for people are rounded here too: limits up, budgets to spend
down, never to nearest.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtr

from ..checks import check_positive

Method = Literal["analytic", "hall"]

_ROUND_UP = 1 + 1e-11  # err on the side of more noise: covers the rounding of delta within the limits below
LEAST_EPSILON, LEAST_DELTA = 1e-4, 1e-30


def log_delta_of(noise_multiplier: float, epsilon: float) -> float:
    """Log of the smallest delta for which noise multiplier s' gives (epsilon, delta)-DP.

    delta = Phi(1/(2s') - epsilon s') - exp(epsilon) Phi(-1/(2s') - epsilon s')

    Source: Balle & Wang 2018, theorem 8 ("analytic Gaussian mechanism"); exact.
    """
    half, drift = 0.5 / noise_multiplier, epsilon * noise_multiplier
    near, far = (drift - half) / math.sqrt(2), (drift + half) / math.sqrt(2)
    if near > -5:
        # With Phi(-t sqrt 2) = erfcx(t) exp(-t^2) / 2 and far^2 - near^2 = epsilon, both terms share exp(-near^2)
        difference = float(erfcx(near) - erfcx(far)) / 2
        return math.log(difference) - near**2 if difference > 0 else -math.inf
    # delta near 1, where erfcx would overflow
    return math.log1p(-float(ndtr(near * math.sqrt(2))) - math.exp(epsilon + float(log_ndtr(-half - drift))))


def noise_multiplier(epsilon: float, delta: float, method: Method = "analytic", *, unproven: bool = False) -> float:
    """Smallest noise multiplier s' (no unit) that the method allows for (epsilon, delta)-DP.

    Args:
        method: "analytic" is exact for every epsilon. "hall" is sqrt(2 log(2/delta)) / epsilon,
            proven for epsilon <= 1 only; above that it is refused.
        unproven: compute Hall's value above epsilon 1 all the same, for drawing as a counterexample.

    Raises:
        ValueError: epsilon or delta out of range, unknown method, or "hall" above epsilon 1.

    Source: Balle & Wang 2018; Hall, Rinaldo & Wasserman 2013, proposition 3.
    """
    check_budget(epsilon, delta)
    if method == "hall":
        if epsilon > 1 and not unproven:
            raise ValueError(f"epsilon must be <= 1 for Hall's formula, got {epsilon}; use method='analytic'")
        return math.sqrt(2 * math.log(2 / delta)) / epsilon
    if method != "analytic":
        raise ValueError(f"method must be 'analytic' or 'hall', got {method!r}")

    def excess(log_s: float) -> float:
        return max(log_delta_of(math.exp(log_s), epsilon), -1e9) - math.log(delta)

    low = high = 0.0
    while excess(low) < 0:
        low -= 2.0
    while excess(high) > 0:
        high += 2.0
    return math.exp(brentq(excess, low, high, xtol=1e-14)) * _ROUND_UP if low < high else _ROUND_UP


def epsilon_of(noise_multiplier: float, delta: float) -> float:
    """Smallest epsilon >= 0 that noise multiplier s' guarantees at this delta; inverts ``noise_multiplier``.

    Raises:
        ValueError: noise_multiplier is not positive, or delta is outside (0, 1).
    """
    check_positive("noise_multiplier", noise_multiplier)
    check_delta(delta)

    def excess(epsilon: float) -> float:
        return max(log_delta_of(noise_multiplier, epsilon), -1e9) - math.log(delta)

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-14))


def check_budget(epsilon: float, delta: float) -> None:
    """Raise ValueError unless epsilon >= 1e-4 is finite and 1e-30 <= delta < 1."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon must be a finite number above 0, got {epsilon}; smaller is more private")
    if epsilon < LEAST_EPSILON:
        raise ValueError(f"epsilon must be at least {LEAST_EPSILON:g} to be computed safely, got {epsilon}")
    check_delta(delta)


def check_delta(delta: float) -> None:
    """Raise ValueError unless 1e-30 <= delta < 1."""
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta}; 1 would promise nothing")
    if delta < LEAST_DELTA:
        raise ValueError(f"delta must be at least {LEAST_DELTA:g} to be computed safely, got {delta}")


TOLERANCE = 1e-9
"""Relative error of the root-finders that calibrate noise: a value this near a round one counts as it."""


def rounded_up(value: float, digits: int = 3) -> Decimal:
    """The least decimal of ``digits`` significant digits that is >= value (1 - TOLERANCE); infinity stays.

    Args:
        value: an upper bound: an epsilon, a factor, a share.
        digits: >= 1.
    """
    return _rounded(value, digits, Decimal(1) - Decimal(TOLERANCE), ROUND_CEILING)


def rounded_down(value: float, digits: int = 3) -> Decimal:
    """The largest decimal of ``digits`` significant digits that is <= value (1 + TOLERANCE); infinity stays.

    Args:
        value: >= 0, a lower bound, such as the budget left.
        digits: >= 1.
    """
    return _rounded(value, digits, Decimal(1) + Decimal(TOLERANCE), ROUND_FLOOR)


def written(value: Decimal) -> str:
    """In full and without zeros that say nothing: 0.3 and 1200, neither 0.300 nor 1.2E+3."""
    return f"{value.normalize():f}"


def _rounded(value: float, digits: int, slack: Decimal, direction: str) -> Decimal:
    if value == 0 or not math.isfinite(value):
        return Decimal(value)
    exact = Decimal(value) * slack
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=direction)
