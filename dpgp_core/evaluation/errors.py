"""Quality of predictions: root mean squared error, predictive density, coverage; the epsilon that an error needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from ..arrays import FloatArray
from ..checks import check_share


def rmse(predictions: FloatArray, truth: FloatArray) -> FloatArray:
    """Root mean squared error over the last axis.

    Args:
        predictions: (..., P), in the output's unit.
        truth: (P,), in the same unit.

    Returns:
        (...,), in the same unit.
    """
    squared: FloatArray = np.mean((predictions - truth) ** 2, axis=-1)
    return np.sqrt(squared)


def held_out_rmse(residuals: Sequence[FloatArray]) -> FloatArray:
    """Root mean squared error over all folds together.

    Args:
        residuals: prediction minus truth of each fold (..., P_k), in the output's unit.

    Returns:
        (...,), in the same unit.
    """
    return rmse(np.concatenate(residuals, axis=-1), np.zeros(1))


def nlpd(mean: FloatArray, variance: FloatArray, truth: FloatArray) -> float:
    """Negative log predictive density of Gaussian predictions, averaged over P points, in nats.

    Args:
        mean: predictive means (P,), in the output's unit.
        variance: predictive variances > 0 (P,), in squared output units.
        truth: (P,), in the output's unit.
    """
    return float(np.mean(0.5 * np.log(2 * math.pi * variance) + (truth - mean) ** 2 / (2 * variance)))


def coverage(mean: FloatArray, variance: FloatArray, truth: FloatArray, level: float) -> float:
    """Fraction of the P truths inside the central Gaussian interval of probability ``level``.

    Args:
        mean: predictive means (P,), in the output's unit.
        variance: predictive variances > 0 (P,), in squared output units.
        truth: (P,), in the output's unit.

    Raises:
        ValueError: level is outside (0, 1).
    """
    check_share("level", level)
    half_width = ndtri((1 + level) / 2) * np.sqrt(variance)
    return float(np.mean(np.abs(truth - mean) <= half_width))


def interval_score(low: FloatArray, high: FloatArray, truth: FloatArray, level: float) -> FloatArray:
    """Width of intervals, and 2 / (1 - level) times how far a truth lies outside: least for the true quantiles.

    Args:
        low: lower ends (..., P), in the output's unit.
        high: upper ends (..., P), in the same unit.
        truth: (P,), in the same unit.

    Returns:
        (..., P), in the same unit.

    Raises:
        ValueError: level is outside (0, 1).

    Source: Gneiting & Raftery 2007, equation 43.
    """
    check_share("level", level)
    outside = np.maximum(low - truth, 0.0) + np.maximum(truth - high, 0.0)
    return high - low + 2 / (1 - level) * outside


def epsilon_for_error(error: Callable[[float], float], target: float) -> float | None:
    """Smallest epsilon from 0.05 to 100 whose expected error is at most ``target``; None if not even 100 reaches it.

    Args:
        error: expected error at an epsilon; falls as epsilon grows, up to simulation noise.
        target: error wanted, in the same unit.
    """
    low, high = 0.05, 100.0
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
