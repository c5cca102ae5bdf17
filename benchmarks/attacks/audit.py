"""Audits of a mechanism: single releases of two neighbours are attacked, and what they prove is held to the claim.

``audit`` draws the releases itself; ``benchmarks.audit_releases`` attacks finished zips instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.attack.audit import epsilon_lower_bound
from dpgp_core.attack.linear import BATCH, LinearAttack, draw_releases, gaussian_attack, linear_attack
from dpgp_core.mechanisms.base import Mechanism, TeachingRelease
from dpgp_core.table import Dataset

Score = Literal["known noise", "fitted"]

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


def fitted_attack(inside: FloatArray, outside: FloatArray) -> LinearAttack:
    """Linear score learnt from releases alone, for mechanisms whose noise is not known: Fisher's discriminant.

    w = S^-1 (mean_in - mean_out), S the pooled covariance of the releases.

    Args:
        inside: single releases (k, P) from one data set, k >= 2.
        outside: single releases (k', P) from its neighbour, k' >= 2.

    Raises:
        ValueError: fewer than two releases, or different test points.
    """
    check_releases(inside, outside)
    mean_in, mean_out = inside.mean(axis=0), outside.mean(axis=0)
    # S = (S_in + S_out) / 2, each a factor's L L^T with L = (samples - mean)^T / sqrt(k - 1)
    factor_in = (inside - mean_in).T / math.sqrt(len(inside) - 1)
    factor_out = (outside - mean_out).T / math.sqrt(len(outside) - 1)
    return gaussian_attack(mean_in, mean_out, np.hstack([factor_in, factor_out]) / math.sqrt(2))


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


def check_releases(inside: FloatArray, outside: FloatArray) -> None:
    """Raise ValueError unless there are two releases (k, P) of each kind, at the same test points."""
    if min(len(inside), len(outside)) < 2 or inside.shape[1:] != outside.shape[1:]:
        raise ValueError(f"need at least 2 releases (k, P) of each kind, got shapes {inside.shape}, {outside.shape}")


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
