"""The analytic Gaussian mechanism: the noise for an (epsilon, delta) guarantee, and the guarantee of a given noise.

If replacing a record moves the mean of a release by at most Delta, in the metric of the noise, and the noise has the
standard deviation s Delta, then s is the noise multiplier. The module also rounds numbers that are shown to readers:
upper bounds are rounded up, and remaining budgets down.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

from scipy.optimize import brentq
from scipy.special import erfcx, log_ndtr, ndtr

from ..checks import check_positive

Method = Literal["analytic", "hall"]

_ROUND_UP = 1 + 1e-11  # adds more noise than the rounding errors of delta could take away, within the limits below
LEAST_EPSILON, LEAST_DELTA = 1e-4, 1e-30


def log_delta_of(noise_multiplier: float, epsilon: float) -> float:
    """Return the logarithm of the smallest delta for which noise multiplier s gives (epsilon, delta)-DP.

    delta = Phi(1/(2s) - epsilon s) - exp(epsilon) Phi(-1/(2s) - epsilon s)

    Source: Balle & Wang 2018, theorem 8 ("analytic Gaussian mechanism"); exact.
    """
    half, drift = 0.5 / noise_multiplier, epsilon * noise_multiplier
    near, far = (drift - half) / math.sqrt(2), (drift + half) / math.sqrt(2)
    if near > -5:
        # Phi(-t sqrt 2) = erfcx(t) exp(-t^2) / 2 and far^2 - near^2 = epsilon, so both terms share exp(-near^2).
        difference = float(erfcx(near) - erfcx(far)) / 2
        return math.log(difference) - near**2 if difference > 0 else -math.inf
    # Here delta is close to 1 and erfcx would overflow.
    return math.log1p(-float(ndtr(near * math.sqrt(2))) - math.exp(epsilon + float(log_ndtr(-half - drift))))


def noise_multiplier(epsilon: float, delta: float, method: Method = "analytic", *, unproven: bool = False) -> float:
    """Return the smallest noise multiplier s (no unit) that the method allows for (epsilon, delta)-DP.

    Args:
        method: "analytic" is exact for every epsilon. "hall" is sqrt(2 log(2/delta)) / epsilon, which is proven for
            epsilon <= 1 only and refused above.
        unproven: compute Hall's formula also for epsilon > 1, to show it as a counterexample.

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
    """Return the smallest epsilon >= 0 that noise multiplier s guarantees at this delta.

    This is the inverse of ``noise_multiplier``.

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
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta}; 1 would guarantee nothing")
    if delta < LEAST_DELTA:
        raise ValueError(f"delta must be at least {LEAST_DELTA:g} to be computed safely, got {delta}")


TOLERANCE = 1e-9
"""Relative error of the calibration of noise. Rounding treats a value this close to a round number as that number."""


def rounded_up(value: float, digits: int = 3) -> Decimal:
    """Round up: return the least decimal with ``digits`` significant digits that is >= value (1 - TOLERANCE).

    Infinity is returned unchanged.

    Args:
        value: an upper bound, for example an epsilon.
        digits: >= 1.
    """
    return _rounded(value, digits, Decimal(1) - Decimal(TOLERANCE), ROUND_CEILING)


def rounded_down(value: float, digits: int = 3) -> Decimal:
    """Round down: return the largest decimal with ``digits`` significant digits that is <= value (1 + TOLERANCE).

    Infinity is returned unchanged.

    Args:
        value: a lower bound >= 0, for example the remaining budget.
        digits: >= 1.
    """
    return _rounded(value, digits, Decimal(1) + Decimal(TOLERANCE), ROUND_FLOOR)


def written(value: Decimal) -> str:
    """Return a decimal as text without an exponent or trailing zeros: 0.3 and 1200, not 0.300 or 1.2E+3."""
    return f"{value.normalize():f}"


def _rounded(value: float, digits: int, slack: Decimal, direction: str) -> Decimal:
    if value == 0 or not math.isfinite(value):
        return Decimal(value)
    exact = Decimal(value) * slack
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=direction)
