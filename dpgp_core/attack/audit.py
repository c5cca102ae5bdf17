"""Empirical lower bounds on epsilon: proven from a mechanism's releases, whatever it claims."""

from __future__ import annotations

import math

import numpy as np

from ..arrays import FloatArray
from ..checks import check_share
from .roc import Counts, clopper_pearson_high, clopper_pearson_low

_TAILS = np.geomspace(1e-5, 0.5, 200)
_LEVELS = np.concatenate([_TAILS, 1 - _TAILS])  # of quantiles: denser at both ends, where small probabilities compare


def epsilon_lower_bound(inside: FloatArray, outside: FloatArray, delta: float, confidence: float) -> float:
    """Lower bound >= 0 on epsilon from an attack's scores of independent single releases.

    For every event A, P_in(A) <= e^epsilon P_out(A) + delta, and the same with the two exchanged, so
    epsilon >= log((p - delta) / q) with p a lower and q an upper Clopper-Pearson bound, each missed with probability
    (1 - confidence) / 2. The event, scores above or below a threshold, is chosen on the first half of the scores and
    tested once, on the second: choosing it cannot raise the false-alarm rate.

    Args:
        inside: scores of releases from one data set (m,), in random order.
        outside: scores of releases from its neighbour (k,), in random order.

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
    """Bounds on epsilon (2, len(thresholds)): from scores above each threshold, and from the others."""
    in_below, out_below = (np.searchsorted(np.sort(each), thresholds, side="right") for each in (inside, outside))
    m, k = len(inside), len(outside)
    above = _log_ratio(m - in_below, m, k - out_below, k, delta, tail)
    return np.stack([above, _log_ratio(out_below, k, in_below, m, delta, tail)])


def _log_ratio(more: Counts, m: int, fewer: Counts, k: int, delta: float, tail: float) -> FloatArray:
    """log((p - delta) / q), or -inf where p <= delta."""
    excess = clopper_pearson_low(more, m, tail) - delta
    positive = np.maximum(excess, np.finfo(float).tiny)
    return np.where(excess > 0, np.log(positive / clopper_pearson_high(fewer, k, tail)), -math.inf)
