"""The best strategy of a stage over cells: for which models, and by which solver.

A strategy is that of least risk of one model with the mixture's second moments about the mean of each of its models,
K = sum_m pi_m K_m and F = sum_m pi_m F_m: that of the best single linear estimator, which is never below the mixture's,

    sum_m pi_m tr F_m^T B^T S_m^-1 B F_m >= tr F^T B^T S^-1 B F,    S = sum_m pi_m S_m,

since (F, S) -> F^T S^-1 F is jointly convex (Lieb & Ruskai 1974), and which has one covariance to be factorised where
the mixture has as many as there are kernels.
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
from ..strategies.bayes import bayes, risk
from ..strategies.risk_model import RiskModel
from ..strategies.strategy import Strategy
from .state import ModelSet
from .tuning import TUNING


class Moments(NamedTuple):
    """Posterior moments of the sums x and of f at the cells.

    Attributes:
        K: covariance of x (M, M).
        own: of its diagonal, the records' own noise (M,).
        F: covariance of x with f (M, M).
        variance: of f (M,).
    """

    K: FloatArray
    own: FloatArray
    F: FloatArray
    variance: FloatArray


def quantised(strategy: Strategy) -> Strategy:
    """The strategy with B as it will be measured: multiples of 2^-20 whose columns are checked in integers."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)


def identity_strategy(columns: int) -> Strategy:
    """Every column by itself, B = I. It is always valid, and is used where the best strategy cannot be found.

    Stages are planned after the budget was charged, and whether that fails may depend on private values.
    """
    return Strategy(B=np.eye(columns), risk=math.inf, bound=0.0, gap=math.inf, iterations=0)


def representative_models(models: ModelSet, weights: FloatArray, among: IndexArray) -> tuple[IndexArray, FloatArray]:
    """One model of each family of kernels that counts, ascending, and the weight of the whole family.

    The model is the likeliest among those of the largest amplitude: for a curve that is believed too flat, too little
    would be measured. Curves that are ``always_planned_for`` count until released numbers rule them out.

    Args:
        weights: probabilities of all models (m,).
        among: the models to choose from.
    """
    families = dict[object, list[int]]()
    for index in among.tolist():
        families.setdefault(models.family[index], []).append(index)
    largest = [(max(each, key=lambda i: (models.amplitude[i], weights[i])), each) for each in families.values()]
    shares = [float(weights[each].sum()) for _, each in largest]
    enough, chosen = min(TUNING.least_weight, max(shares)), dict[int, float]()
    for (index, _), share in zip(largest, shares, strict=True):
        sought = models.always_planned_for[index] and share > TUNING.given_up
        least = TUNING.planned_for * models.weight[index] if sought else 0.0
        if share >= enough or least:
            chosen[index] = max(share, least)
    ordered = sorted(chosen)
    return np.array(ordered), np.array([chosen[index] for index in ordered])


def risk_model(moments: Moments, counts: FloatArray, weight: float) -> RiskModel:
    """K and F W^(1/2), W the shares of the records.

    K is the records' own noise D plus V diag(values) V^T, in units of D. Only eigenvectors whose value is at least
    ``TUNING.kept_eigenvalue`` are kept, and of F its part along them.
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
    """The best strategy by ``bayes``, at noise multiplier s.

    Where people are very many and nothing is known, each cell by itself is as good as any: where the first steps from
    no start are not better, no more are made.
    """
    best = partial(bayes, [model], s**2, of_risk=TUNING.saved_risk, **options)
    if options.get("start") is None and max_iterations > TUNING.rough_steps:
        first = best(max_iterations=TUNING.rough_steps)
        if first.iterations < TUNING.rough_steps:
            return first
        alone = identity_strategy(len(model.noise))
        if (alone_risk := risk([model], alone.B, s**2)) <= first.risk:
            return replace(alone, risk=alone_risk, bound=first.bound, gap=1.0)
    return best(max_iterations=max_iterations)
