"""Power of an attack: the ROC curve, the area under it, and true positive rates at small false positive rates."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, betaincinv, ndtri

from ..arrays import FloatArray
from ..checks import check_share

Counts = NDArray[np.integer]


class Estimate(NamedTuple):
    """A measured value and its confidence interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Roc:
    """Scores of an attack on releases for which the truth is known. The attacker decides for "in" above a threshold.

    Attributes:
        inside: scores of releases with the target (m,), ascending.
        outside: scores of releases without it (k,), ascending.
    """

    inside: FloatArray
    outside: FloatArray

    @classmethod
    def of(cls, inside: FloatArray, outside: FloatArray) -> Roc:
        """Check and sort scores (m,) and (k,).

        Raises:
            ValueError: fewer than two scores of a kind, or one is not a number.
        """
        for name, scores in (("inside", inside), ("outside", outside)):
            if scores.ndim != 1 or len(scores) < 2:
                raise ValueError(f"{name} must hold at least 2 scores, got shape {scores.shape}; run more trials")
            if np.isnan(scores).any():
                raise ValueError(f"{name} holds scores that are not numbers; the attack's densities do not fit")
        return cls(inside=np.sort(inside), outside=np.sort(outside))

    def curve(self) -> tuple[FloatArray, FloatArray]:
        """Return false and true positive rates at every distinct threshold, ascending from (0, 0) to (1, 1)."""
        thresholds = np.unique(np.concatenate([self.inside, self.outside]))[::-1]
        rates = [
            np.append(0.0, 1 - np.searchsorted(scores, thresholds) / len(scores))
            for scores in (self.outside, self.inside)
        ]
        return rates[0], rates[1]

    def auc(self, confidence: float = 0.95) -> Estimate:
        """Return the area under the curve, P(in > out) + P(in = out) / 2, with DeLong's normal interval.

        Raises:
            ValueError: confidence is outside (0, 1).

        Source: DeLong, DeLong & Clarke-Pearson 1988.
        """
        check_share("confidence", confidence)
        placed_in, placed_out = _placements(self.inside, self.outside), _placements(self.outside, self.inside)
        area = float(placed_in.mean())
        variance = placed_in.var(ddof=1) / len(placed_in) + placed_out.var(ddof=1) / len(placed_out)
        half_width = float(ndtri((1 + confidence) / 2)) * math.sqrt(variance)
        return Estimate(area, max(area - half_width, 0.0), min(area + half_width, 1.0))

    def power_at(self, false_positive: float, confidence: float = 0.95) -> Estimate:
        """Return the true positive rate at a false positive rate, with a finite-sample interval.

        The threshold for this false positive rate lies between two order statistics of the outside scores (binomial
        distribution). The share of inside scores above each of them has a Clopper-Pearson bound. Each of the four tails
        has the probability (1 - confidence) / 4.

        Args:
            false_positive: false positive rate, in (0, 1).

        Raises:
            ValueError: an argument is outside (0, 1).
        """
        check_share("confidence", confidence)
        check_share("false_positive", false_positive)
        k, tail = len(self.outside), (1 - confidence) / 4
        fewest, most = (_binomial_quantile(level, k, false_positive) for level in (tail, 1 - tail))
        hits, low_hits, high_hits = (self._hits(above) for above in (math.floor(false_positive * k), fewest, most))
        m = len(self.inside)
        low = float(clopper_pearson_low(np.array(low_hits), m, tail))
        return Estimate(hits / m, low, float(clopper_pearson_high(np.array(high_hits), m, tail)))

    def _hits(self, above: int) -> int:
        """Return the number of inside scores above the threshold that ``above`` outside scores exceed."""
        if above >= len(self.outside):
            return len(self.inside)
        return len(self.inside) - int(np.searchsorted(self.inside, self.outside[-1 - above], side="right"))


def _binomial_quantile(share: float, trials: int, probability: float) -> int:
    """Return the smallest count that is not exceeded with at least this probability."""
    return bisect_left(range(trials + 1), share, key=lambda count: float(bdtr(count, trials, probability)))


def clopper_pearson_low(hits: Counts, trials: int, tail: float) -> FloatArray:
    """Return a lower bound on a probability after ``hits`` in ``trials``, wrong with probability at most ``tail``."""
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), trials - hits + 1, tail), 0.0)


def clopper_pearson_high(hits: Counts, trials: int, tail: float) -> FloatArray:
    """Return an upper bound on a probability after ``hits`` in ``trials``, wrong with probability at most ``tail``."""
    return 1 - clopper_pearson_low(trials - hits, trials, tail)


def _placements(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Return the share of ``others`` below each score (len(scores),), with ties counted half. Both are ascending."""
    below = np.searchsorted(others, scores, side="left") + np.searchsorted(others, scores, side="right")
    return below / (2 * len(others))
