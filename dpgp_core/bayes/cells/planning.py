"""What a stage over public cells should measure: the strategy of least Bayes risk for the covariance that is left.

Where strategies are planned once, before anything is measured, it is the mixture's risk sum_m pi_m risk_m(B). Where
every draw plans its stages on the way, it is the risk of one model with the mixture's second moments about what each of
its models expects, K = sum_m pi_m K_m and F = sum_m pi_m F_m: that of the best single linear estimator, which is never
below the mixture's,

    sum_m pi_m tr F_m^T B^T S_m^-1 B F_m >= tr F^T B^T S^-1 B F,    S = sum_m pi_m S_m,

since (F, S) -> F^T S^-1 F is jointly convex (Lieb & Ruskai 1974), and which has one covariance to be factorised where
the mixture has as many as there are kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...arrays import FloatArray
from ...strategies.bayes import bayes
from ...strategies.risk_model import RiskModel
from ...strategies.strategy import Strategy
from ..plan import on_the_grid
from .filter import KAPPA, CellState, Linear
from .models import CellModel

ROUGHEST = 0.03  # least weight in plans of the roughest curve, over its prior one: what nobody looks for is not seen
_LEAST_WEIGHT = 0.02  # of a kernel that is planned for
_STEPS = 200  # of the solver: where it needs more, with very many records, the strategy is good and not the best
_ROUGH_GAP, _ROUGH_STEPS = 0.3, 10  # of strategies that intervals are compared by
_LEAST = 1e-3  # eigenvalue, in units of the noise, that is kept
_NUMERICAL = (np.linalg.LinAlgError, ValueError, FloatingPointError)  # NaN, indefinite, overflown
_FLOOR = 1e-3  # of the mean variance of the sums, taken for noise of their own


class _Moments(NamedTuple):
    """Of the sums x and of f at the cells, given what was released.

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


class Seen(NamedTuple):
    """What a stage is planned from. Public: counts and states are functions of what was released.

    Attributes:
        models: the mixture (m).
        states: of each.
        weights: of each, sum 1 (m,).
        linear: the stage as linear measurements under each.
        counts: expected numbers of records (M,).
    """

    models: Sequence[CellModel]
    states: Sequence[CellState]
    weights: FloatArray
    linear: Sequence[Linear]
    counts: FloatArray


def plan_stage(seen: Seen, noise_multiplier: float, gap: float, begin: FloatArray | None = None) -> Strategy:
    """B (r, M), columns of norm <= 1, multiples of 2^-20: f at the cells should be known best where records are.

    Planned for second moments of the mixture, each kernel with the likeliest of its noises and all its weight.

    Args:
        seen: so far.
        noise_multiplier: s of the stage.
        gap: relative gap to stop at.
        begin: a B to start from.
    """
    try:
        best = bayes([moments_of(seen)], noise_multiplier**2, gap=gap, start=begin, max_iterations=_STEPS)
    except _NUMERICAL:
        return _each_cell(seen)
    return on_the_grid(best)


def rough_strategy(seen: Seen, noise_multiplier: float) -> Strategy:
    """A strategy that is good enough to compare intervals by."""
    try:
        return bayes([moments_of(seen)], noise_multiplier**2, gap=_ROUGH_GAP, max_iterations=_ROUGH_STEPS)
    except _NUMERICAL:
        return _each_cell(seen)


def plan_for_mixture(seen: Seen, noise_multiplier: float, gap: float) -> Strategy:
    """The same of least risk averaged over kernels, each of which has its own estimator: closer, and dearer."""
    try:
        return _best(risks_of(seen), noise_multiplier, gap)
    except _NUMERICAL:
        return _each_cell(seen)


def _each_cell(seen: Seen) -> Strategy:
    """Every cell by itself, B = I: valid always, and taken where numbers that were released make the best one fail.

    Stages are planned after the budget was charged, and whether that fails may depend on private values.
    """
    return Strategy(B=np.eye(len(seen.counts)), risk=math.inf, bound=0.0, gap=math.inf, iterations=0)


def moments_of(seen: Seen) -> RiskModel:
    """One model with the second moments of the mixture about what each kernel expects."""
    chosen = likeliest(seen.models, seen.weights)
    shares = np.array([share for _, share in chosen]) / sum(share for _, share in chosen)
    each = [_moments(seen, index) for index, _ in chosen]
    mean = _Moments(*(np.tensordot(shares, np.stack(parts), axes=1) for parts in zip(*each, strict=True)))
    return _risk_model(mean, seen.counts, 1.0)


def risks_of(seen: Seen) -> list[RiskModel]:
    """One model a kernel."""
    return [
        _risk_model(_moments(seen, index), seen.counts, share) for index, share in likeliest(seen.models, seen.weights)
    ]


def _best(risks: Sequence[RiskModel], noise_multiplier: float, gap: float) -> Strategy:
    return on_the_grid(bayes(risks, noise_multiplier**2, gap=gap, max_iterations=_STEPS))


def likeliest(models: Sequence[CellModel], weights: FloatArray) -> list[tuple[int, float]]:
    """Of each family of kernels that counts, the index of a model, and the weight of all of them.

    The model is the likeliest among those of the largest amplitude: for a curve that is believed too flat, too little
    would be measured. The roughest curves always count.
    """
    families = dict[object, list[int]]()
    for index, model in enumerate(models):
        families.setdefault(model.family, []).append(index)
    largest = [
        (max(each, key=lambda i: (models[i].features.kernel.variance, weights[i])), each) for each in families.values()
    ]
    chosen = list[tuple[int, float]]()
    for index, each in largest:
        share = float(weights[each].sum())
        least = ROUGHEST * models[index].weight if models[index].rough else 0.0
        if share >= _LEAST_WEIGHT or least:
            chosen.append((index, max(share, least)))
    return chosen


def _moments(seen: Seen, index: int) -> _Moments:
    """Of one model: K = T C T^T + rest, F = T C Phi^T."""
    model, state, linear = seen.models[index], seen.states[index], seen.linear[index]
    k = model.cells.shape[1]
    TC = linear.T @ state.covariance
    own = (
        linear.own
        + linear.T[:, k : k + len(model.cells)].diagonal() ** 2 * (1 + KAPPA) * seen.counts * model.noise_variance
    )
    variance = np.einsum("ij,ij->i", model.cells @ state.covariance[:k, :k], model.cells)
    return _Moments(TC @ linear.T.T + linear.rest, own, TC[:, :k] @ model.cells.T, variance)


def _risk_model(found: _Moments, counts: FloatArray, weight: float) -> RiskModel:
    """K and F W^(1/2), W the shares of the records.

    K is the records' own noise D plus V diag(values) V^T, in units of D: of these only what stands out from the noise
    is kept, and of F what lies along it (see ``bayes.records.leading``).
    """
    importance = counts / counts.sum()
    noise = found.own + _FLOOR * float(found.K.diagonal().mean())
    sd = np.sqrt(noise)
    values, V = np.linalg.eigh((found.K - np.diag(found.own)) / np.outer(sd, sd))
    long = np.abs(values) >= min(_LEAST, np.abs(values).max())
    values, V = values[long], V[:, long]
    targets = V @ (V.T @ (found.F / sd[:, None]))
    return RiskModel(
        noise=noise,
        root=sd[:, None] * V * np.sqrt(np.abs(values)),
        targets=sd[:, None] * targets * np.sqrt(importance),
        prior_risk=float(importance @ found.variance),
        weight=weight,
        signs=np.sign(values),
    )
