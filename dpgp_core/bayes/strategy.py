"""Strategies of stages: for which models a strategy is optimised, and how.

The risk of a mixture would need one factorisation for each of its models. A strategy is therefore optimised for a
single model with the average second moments of the mixture, each about the mean of its own model,
K = sum_m pi_m K_m and F = sum_m pi_m F_m. Its risk is an upper bound of the risk of the mixture, because

    sum_m pi_m tr F_m^T B^T S_m^-1 B F_m >= tr F^T B^T S^-1 B F,    S_m = B K_m B^T + s^2 I,    S = sum_m pi_m S_m,

where (F, S) -> F^T S^-1 F is jointly convex (Lieb & Ruskai 1974). It is the risk of the best single linear estimator.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..measurement.integers import GRID, strategy_integers
from ..strategies.bayes import optimal_strategy, risk
from ..strategies.risk_model import RiskModel
from ..strategies.strategy import Strategy
from .state import ModelSet
from .tuning import TUNING


class Moments(NamedTuple):
    """Posterior moments of the sums x and of the means of f over M columns.

    The arrays may have a leading axis of models.

    Attributes:
        K: covariance of x (M, M).
        own: the part of its diagonal that is independent from column to column (M,).
        F: covariance of x with f (M, M).
        variance: variance of f (M,).
    """

    K: FloatArray
    own: FloatArray
    F: FloatArray
    variance: FloatArray


def quantised(strategy: Strategy) -> Strategy:
    """Return the strategy as it will be measured: entries of B are multiples of 2^-20, and its columns are checked."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)


def identity_strategy(columns: int) -> Strategy:
    """Return the strategy B = I, which measures every column by itself.

    It is always valid, and is used if the best strategy cannot be computed. Stages are planned after the budget has
    been charged, and a failure could depend on private values, so that no error may be raised then.
    """
    return Strategy(B=np.eye(columns), risk=math.inf, bound=0.0, gap=math.inf, iterations=0)


def representative_models(models: ModelSet, weights: FloatArray, among: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Choose the models for which a strategy is planned: one of each family of kernels that is likely enough.

    A family is represented by the likeliest of its models with the largest amplitude, because too little would be
    measured of a curve that is assumed to be too flat. Families that are ``always_planned_for`` are kept until the
    released numbers rule them out.

    Args:
        models: the mixture.
        weights: probabilities of all models (m,).
        among: indices of the models to choose from.

    Returns:
        Indices of the chosen models in ascending order, and for each the weight of its whole family.
    """
    families = dict[object, list[int]]()
    for index in among.tolist():
        families.setdefault(models.family[index], []).append(index)
    largest = [(max(each, key=lambda i: (models.amplitude[i], weights[i])), each) for each in families.values()]
    shares = [float(weights[each].sum()) for _, each in largest]
    enough, chosen = min(TUNING.least_weight, max(shares)), dict[int, float]()
    for (index, _), share in zip(largest, shares, strict=True):
        kept = models.always_planned_for[index] and share > TUNING.given_up
        least = TUNING.planned_for * models.weight[index] if kept else 0.0
        if share >= enough or least:
            chosen[index] = max(share, least)
    ordered = sorted(chosen)
    return np.array(ordered), np.array([chosen[index] for index in ordered])


def risk_model(moments: Moments, counts: FloatArray, weight: float) -> RiskModel:
    """Return the risk model of the sums, in which columns are weighted by their shares W of the records.

    K is factorised as diag(own) + D^(1/2) V diag(values) V^T D^(1/2), where D is the independent noise plus a floor.
    Eigenvectors V whose value is below ``TUNING.kept_eigenvalue`` are left out, and the targets D^(-1/2) F W^(1/2) are
    projected onto the span of the others.

    Args:
        moments: of the sums and the curve.
        counts: numbers of records in the columns (M,).
        weight: weight of the model.
    """
    importance = counts / counts.sum()
    noise = moments.own + TUNING.noise_floor * float(moments.K.diagonal().mean())
    sd = np.sqrt(noise)
    values, V = np.linalg.eigh((moments.K - np.diag(moments.own)) / np.outer(sd, sd))
    long = np.abs(values) >= min(TUNING.kept_eigenvalue, np.abs(values).max())
    values, V = values[long], V[:, long]
    targets = V @ (V.T @ (moments.F / sd[:, None]))
    return RiskModel(
        noise=noise,
        root=sd[:, None] * V * np.sqrt(np.abs(values)),
        targets=sd[:, None] * targets * np.sqrt(importance),
        prior_risk=float(importance @ moments.variance),
        weight=weight,
        signs=np.sign(values),
    )


def best_strategy(model: RiskModel, s: float, *, max_iterations: int, **options: Any) -> Strategy:
    """Return the strategy that minimises the risk, computed by ``strategies.bayes``.

    With very many records and a wide prior, B = I is nearly optimal and the solver converges slowly. If no start is
    given and the first steps of the solver do not improve on B = I, then B = I is returned.

    Args:
        model: the risk model.
        s: noise multiplier of the stage.
        max_iterations: largest number of steps of the solver.
        options: further arguments of the solver.
    """
    best = partial(optimal_strategy, [model], s**2, of_risk=TUNING.saved_risk, **options)
    if options.get("start") is None and max_iterations > TUNING.rough_steps:
        first = best(max_iterations=TUNING.rough_steps)
        if first.iterations < TUNING.rough_steps:
            return first
        alone = identity_strategy(len(model.noise))
        if (alone_risk := risk([model], alone.B, s**2)) <= first.risk:
            return replace(alone, risk=alone_risk, bound=first.bound, gap=1.0)
    return best(max_iterations=max_iterations)
