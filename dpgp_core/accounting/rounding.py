"""Bounds for people: what must not be passed is rounded up, what may be spent is rounded down, never to nearest."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

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
        value: >= 0, a lower bound: what is left to spend.
        digits: >= 1.
    """
    return _rounded(value, digits, Decimal(1) + Decimal(TOLERANCE), ROUND_FLOOR)


def _rounded(value: float, digits: int, slack: Decimal, direction: str) -> Decimal:
    if value == 0 or not math.isfinite(value):
        return Decimal(value)
    exact = Decimal(value) * slack
    return exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=direction)
