"""Empirical lower bounds on epsilon: proven from a mechanism's releases, whatever it claims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..arrays import FloatArray
from ..checks import check_share
from ..mechanisms.base import Mechanism, TeachingRelease
from ..table import Dataset
from .linear import BATCH, draw_releases, fitted_attack, linear_attack
from .roc import Counts, clopper_pearson_high, clopper_pearson_low

Score = Literal["known noise", "fitted"]

_THRESHOLDS = 400
_LEAST_TRIALS = 100


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Result of an audit.

    Attributes:
        epsilon_lower: with probability ``confidence`` or more, the true epsilon at ``delta`` is at least this.
        claimed: the epsilon that the mechanism claims for one release at ``delta``.
        delta: the delta of both.
        confidence: of ``epsilon_lower``; a true claim is called false with probability 1 - confidence at most.
        trials: releases of each data set.
    """

    epsilon_lower: float
    claimed: float
    delta: float
    confidence: float
    trials: int

    @property
    def refuted(self) -> bool:
        """Whether the releases contradict the claim."""
        return self.epsilon_lower > self.claimed


def audit(
    mechanism: Mechanism,
    dataset: Dataset,
    neighbour: Dataset,
    X_test: FloatArray,
    rng: np.random.Generator,
    trials: int = 100_000,
    *,
    score: Score = "known noise",
    confidence: float = 1 - 1e-6,
) -> Audit:
    """Attack single releases from two neighbouring data sets and bound epsilon from below.

    The bound holds for any score and any pair of neighbours; a better score or a worse pair only makes it larger.

    Args:
        mechanism: to be audited, at its own delta.
        neighbour: the other, which differs in one record.
        rng: source of the releases.
        trials: releases of each data set, >= 100; half of them choose a threshold, the others test it.
        score: "known noise" uses means and noise factors; "fitted" learns from up to 10,000 further releases.

    Raises:
        ValueError: the data sets are not neighbours under the mechanism's guarantee, or a parameter is out of range.

    Source: Jagielski, Ullman & Oprea 2020, section 3 (Clopper-Pearson); Ding et al. 2018 (separate halves).
    """
    guarantee = mechanism.guarantee
    check_neighbours(dataset, neighbour, inputs_may_differ=guarantee.protects != "outputs")
    inside, outside = _scores(mechanism, (dataset, neighbour), X_test, rng, trials, score)
    return Audit(
        epsilon_lower=epsilon_lower_bound(inside, outside, guarantee.budget.delta, confidence),
        claimed=guarantee.budget.epsilon,
        delta=guarantee.budget.delta,
        confidence=confidence,
        trials=trials,
    )


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
    thresholds = np.unique(np.quantile(np.concatenate([first_in, first_out]), _levels(), method="lower"))
    bounds = _bounds(first_in, first_out, thresholds, delta, tail)
    event, best = np.unravel_index(int(bounds.argmax()), bounds.shape)
    tested = _bounds(last_in, last_out, thresholds[[best]], delta, tail)[event, 0]
    return max(0.0, float(tested))


def check_neighbours(dataset: Dataset, neighbour: Dataset, *, inputs_may_differ: bool) -> None:
    """Raise ValueError unless the data sets differ in exactly one record, and in its output only if so promised."""
    if dataset.X.shape != neighbour.X.shape:
        raise ValueError(f"neighbours must have the same shape of X, got {dataset.X.shape} and {neighbour.X.shape}")
    if dataset.y_bounds != neighbour.y_bounds or dataset.y_scale != neighbour.y_scale:
        raise ValueError("neighbours must share the public bounds and scale of the output")
    moved = (dataset.X != neighbour.X).any(axis=1)
    changed = int((moved | (dataset.clipped_y != neighbour.clipped_y)).sum())
    if changed != 1:
        raise ValueError(f"neighbours must differ in exactly 1 record after clipping, these differ in {changed}")
    if moved.any() and not inputs_may_differ:
        raise ValueError("this mechanism protects outputs only; give the neighbour the same inputs X")


def _scores(
    mechanism: Mechanism,
    pair: tuple[Dataset, Dataset],
    X_test: FloatArray,
    rng: np.random.Generator,
    trials: int,
    score: Score,
) -> list[FloatArray]:
    """Scores of ``trials`` single releases from each data set, with a score chosen before on other releases."""
    if trials < _LEAST_TRIALS:
        raise ValueError(f"trials must be at least {_LEAST_TRIALS}, got {trials}; 100,000 is a good number")
    if score == "known noise":
        inside, outside = (mechanism.release(data, X_test, rng) for data in pair)
        if not (isinstance(inside, TeachingRelease) and isinstance(outside, TeachingRelease)):
            raise ValueError("the mechanism does not say what its noise was added to; use score='fitted'")
        attack = linear_attack(inside, outside)
    elif score == "fitted":
        pilot = min(trials, BATCH)
        attack = fitted_attack(*(mechanism.release(data, X_test, rng, draws=pilot).samples for data in pair))
    else:
        raise ValueError(f"score must be 'known noise' or 'fitted', got {score!r}")
    return [
        np.concatenate([attack.score(samples) for samples in draw_releases(mechanism, data, X_test, rng, trials)])
        for data in pair
    ]


def _levels() -> FloatArray:
    """Quantile levels, denser towards both ends, where small probabilities are compared."""
    tails = np.geomspace(1e-5, 0.5, _THRESHOLDS // 2)
    return np.concatenate([tails, 1 - tails])


def _bounds(inside: FloatArray, outside: FloatArray, thresholds: FloatArray, delta: float, tail: float) -> FloatArray:
    """Bounds on epsilon (2, len(thresholds)): from scores above each threshold, and from the others."""
    sides = []
    for scores in (inside, outside):
        below = np.searchsorted(np.sort(scores), thresholds, side="right")
        sides.append((len(scores) - below, below, len(scores)))
    (in_above, in_below, m), (out_above, out_below, k) = sides
    above = _log_ratio(in_above, m, out_above, k, delta, tail)
    return np.stack([above, _log_ratio(out_below, k, in_below, m, delta, tail)])


def _log_ratio(more: Counts, m: int, fewer: Counts, k: int, delta: float, tail: float) -> FloatArray:
    """log((p - delta) / q), or -inf where p <= delta."""
    excess = clopper_pearson_low(more, m, tail) - delta
    positive = np.maximum(excess, np.finfo(float).tiny)
    return np.where(excess > 0, np.log(positive / clopper_pearson_high(fewer, k, tail)), -math.inf)
