"""Quality of predictions: root mean square error, predictive density, coverage, and the epsilon needed for an error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from ..arrays import FloatArray
from ..checks import check_share


def rmse(predictions: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the root mean square error over the last axis.

    Args:
        predictions: predictions (..., P), in the unit of the output.
        truth: true values (P,), in the same unit.

    Returns:
        (...,), in the same unit.
    """
    squared: FloatArray = np.mean((predictions - truth) ** 2, axis=-1)
    return np.sqrt(squared)


def held_out_rmse(residuals: Sequence[FloatArray]) -> FloatArray:
    """Return the root mean square error over all folds together.

    Args:
        residuals: prediction minus truth of each fold (..., P_k), in the output's unit.

    Returns:
        (...,), in the same unit.
    """
    return rmse(np.concatenate(residuals, axis=-1), np.zeros(1))


def nlpd(mean: FloatArray, variance: FloatArray, truth: FloatArray) -> float:
    """Return the negative log predictive density of Gaussian predictions, averaged over P points, in nats.

    Args:
        mean: predictive means (P,), in the output's unit.
        variance: predictive variances > 0 (P,), in squared output units.
        truth: (P,), in the output's unit.
    """
    return float(np.mean(0.5 * np.log(2 * math.pi * variance) + (truth - mean) ** 2 / (2 * variance)))


def coverage(mean: FloatArray, variance: FloatArray, truth: FloatArray, level: float) -> float:
    """Return the share of P true values that are inside the central Gaussian interval with confidence level ``level``.

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
    """Return the interval score: the width, plus 2 / (1 - level) times the distance of the truth from the interval.

    Its expectation is smallest for the true quantiles.

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


def epsilon_on_curve(epsilons: Sequence[float], errors: FloatArray, target: float) -> float | None:
    """Return the smallest epsilon at which an interpolated curve of errors is at most ``target``.

    Between the given points, log error is linear in log epsilon.

    Args:
        epsilons: ascending values (E,), E >= 1.
        errors: expected error at each (E,), > 0.
        target: target error, in the same unit.

    Returns:
        The epsilon; the first one if its error is at most the target, None if no error is.
    """
    reached = np.flatnonzero(errors <= target)
    if not len(reached):
        return None
    at = int(reached[0])
    if at == 0:
        return float(epsilons[0])
    share = math.log(errors[at - 1] / target) / math.log(errors[at - 1] / errors[at])
    return float(epsilons[at - 1] * (epsilons[at] / epsilons[at - 1]) ** share)
