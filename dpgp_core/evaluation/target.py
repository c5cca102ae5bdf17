"""The epsilon that an error asked for needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq

from ..arrays import FloatArray


def epsilon_for_error(
    error: Callable[[float], float], target: float, low: float = 0.05, high: float = 100.0
) -> float | None:
    """Smallest epsilon in [low, high] whose expected error is at most ``target``; None if not even ``high`` reaches it.

    Args:
        error: expected error at an epsilon; falls as epsilon grows, up to simulation noise.
        target: error wanted, in the same unit.
        low: returned if it reaches the target already.
        high: largest epsilon considered.
    """
    if error(high) > target:
        return None
    if error(low) <= target:
        return low
    root = brentq(lambda log_epsilon: error(math.exp(log_epsilon)) - target, math.log(low), math.log(high), xtol=1e-3)
    return float(math.exp(root))


def epsilon_on_curve(epsilons: Sequence[float], errors: FloatArray, target: float) -> float | None:
    """Smallest epsilon at which a curve through (epsilon, error), straight on logarithmic axes, is at most ``target``.

    Args:
        epsilons: rising (E,), E >= 1.
        errors: expected error at each (E,), > 0.
        target: error wanted, in the same unit.

    Returns:
        The epsilon; the first if that reaches the target already, None if none does.
    """
    reached = np.flatnonzero(errors <= target)
    if not len(reached):
        return None
    at = int(reached[0])
    if at == 0:
        return float(epsilons[0])
    share = math.log(errors[at - 1] / target) / math.log(errors[at - 1] / errors[at])
    return float(epsilons[at - 1] * (epsilons[at] / epsilons[at - 1]) ** share)
