"""Empirical lower bounds on epsilon, computed from releases of a mechanism and independent of its claim."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import FloatArray
from ..checks import check_share
from .roc import Counts, clopper_pearson_high, clopper_pearson_low

_TAILS = np.geomspace(1e-5, 0.5, 200)
_LEVELS = np.concatenate([_TAILS, 1 - _TAILS])  # levels of quantiles, denser at both ends


def epsilon_lower_bound(inside: FloatArray, outside: FloatArray, delta: float, confidence: float) -> float:
    """Return a lower confidence bound >= 0 on epsilon from the scores of an attack on independent releases.

    For every event A, P_in(A) <= e^epsilon P_out(A) + delta, and the same with "in" and "out" exchanged. It follows
    that epsilon >= log((p - delta) / q), with a lower Clopper-Pearson bound p and an upper one q, each of which is
    wrong with probability (1 - confidence) / 2. The event is that a score is above or below a threshold. It is chosen
    on the first half of the scores and tested once, on the second half, so that choosing it cannot raise the
    false-alarm rate.

    Args:
        inside: scores of releases from one data set (m,), in random order.
        outside: scores of releases from its neighbour (k,), in random order.
        delta: delta at which epsilon is bounded, in [0, 1).

    Raises:
        ValueError: an argument is out of range, or fewer than four scores of a kind.
    """
    check_share("confidence", confidence)
    if not 0 <= delta < 1:
        raise ValueError(f"delta must lie in [0, 1), got {delta}")
    if min(len(inside), len(outside)) < 4:
        raise ValueError(f"need at least 4 scores of each kind, got {len(inside)} and {len(outside)}")
    tail = (1 - confidence) / 2
    first_in, last_in = np.array_split(inside, 2)
    first_out, last_out = np.array_split(outside, 2)
    thresholds = np.unique(np.quantile(np.concatenate([first_in, first_out]), _LEVELS, method="lower"))
    bounds = _bounds(first_in, first_out, thresholds, delta, tail)
    event, best = np.unravel_index(int(bounds.argmax()), bounds.shape)
    tested = _bounds(last_in, last_out, thresholds[[best]], delta, tail)[event, 0]
    return max(0.0, float(tested))


def _bounds(inside: FloatArray, outside: FloatArray, thresholds: FloatArray, delta: float, tail: float) -> FloatArray:
    """Return bounds on epsilon (2, len(thresholds)), from scores above each threshold and from scores below it."""
    in_below, out_below = (np.searchsorted(np.sort(each), thresholds, side="right") for each in (inside, outside))
    m, k = len(inside), len(outside)
    above = _log_ratio(m - in_below, m, k - out_below, k, delta, tail)
    return np.stack([above, _log_ratio(out_below, k, in_below, m, delta, tail)])


def _log_ratio(more: Counts, m: int, fewer: Counts, k: int, delta: float, tail: float) -> FloatArray:
    """Return log((p - delta) / q), or -inf if p <= delta."""
    excess = clopper_pearson_low(more, m, tail) - delta
    positive = np.maximum(excess, np.finfo(float).tiny)
    return np.where(excess > 0, np.log(positive / clopper_pearson_high(fewer, k, tail)), -math.inf)
