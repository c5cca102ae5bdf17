"""What to measure next: clipping intervals and strategy of a stage, planned from the numbers released so far.

"How the next stage is planned" in docs/bayes_cloaking.md describes the steps. The risk of a mixture would need one
factorisation for each of its models. A strategy is therefore optimised for a single model with the average second
moments of the mixture, each about the mean of its own model, K = sum_m pi_m K_m and F = sum_m pi_m F_m. The risk of
this model is an upper bound of the risk of the mixture, because

    sum_m pi_m tr F_m^T B^T S_m^-1 B F_m >= tr F^T B^T S^-1 B F,    S_m = B K_m B^T + s^2 I,    S = sum_m pi_m S_m,

where (F, S) -> F^T S^-1 F is jointly convex (Lieb & Ruskai 1974). The bound is the risk of the best
linear estimator that is the same under all models.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..measurement.integers import GRID, strategy_integers
from ..strategies.bayes import optimal_strategy, risk
from ..strategies.risk_model import RiskModel
from ..strategies.strategy import Strategy
from .filter import Filter, Posterior
from .queries import NOTHING, Squares, StageMeasurement
from .residuals import core_is_known, threshold_of_excess
from .state import SHARED_CLIPPING_NOISE, ModelSet
from .tuning import TUNING
from .update import CurveMoments, LinearSums, curve_moments

# errors that linear algebra raises for values that are not finite, or for matrices that are not definite
_NUMERICAL = (np.linalg.LinAlgError, ValueError, FloatingPointError)


def next_stage(
    filtered: Filter, posterior: Posterior, s: float, width: float | None, B: FloatArray | None = None
) -> tuple[StageMeasurement, LinearSums]:
    """Plan the next stage: return its query, and its sums as a linear observation of the state.

    Args:
        s: noise multiplier of the sums.
        width: half-width of the intervals over the predictive standard deviation; None to choose it among
            ``TUNING.widths`` by the expected risk.
        B: strategy (r, M); None for the best one.
    """
    posterior = filtered.active(posterior)
    if width is not None:
        [query] = intervals(filtered, posterior, width)
        linear = filtered.linearised(posterior, query)
        B = plan_stage(filtered, posterior, linear, s).B if B is None else B
        return query._replace(B=B, s=s), linear
    query, strategy, moments = _of_least_risk(filtered, posterior, s)
    return query._replace(B=strategy.B, s=s), filtered.linearised(posterior, query, moments)


def intervals(filtered: Filter, posterior: Posterior, *clips: float) -> list[StageMeasurement]:
    """Return queries about the expected curve g, one for each relative half-width in ``clips``.

    The clipping interval of a bin is [-c, c] with c = clip sqrt(E (y - g)^2), restricted to values that a residual
    can have. The queries have no strategy yet. Before the first stage, g is 0.
    """
    g, h = filtered.curve(posterior), filtered.half_range
    # a polynomial may exceed the range next to a node at which the curve was clipped, and a mean may by rounding
    least, most = (np.clip(end, -h, h) for end in filtered.bins.extremes(g))
    sd, queries = np.sqrt(filtered.mean_square(posterior, g)), []
    for clip in clips:
        c = np.maximum(clip * sd, 2 * TUNING.narrowest * h)
        low, high = np.maximum(-c, -h - most), np.minimum(c, h - least)
        queries.append(StageMeasurement(NOTHING, low, high, np.nan, g, width=clip))
    return queries


def next_squares(filtered: Filter, posterior: Posterior, g: FloatArray, s: float, *, excess: bool) -> Squares:
    """Plan the squared residuals of a stage.

    Args:
        g: the curve from which residuals are taken, at the nodes (F,).
        s: noise multiplier of the squares.
        excess: whether the squares are planned for the excess of outliers, if the residual variance is known.
    """
    h = filtered.half_range
    if excess and core_is_known(posterior.log_densities):
        mse, people = filtered.curve_mse(posterior, g), filtered.counts.mean
        theta = threshold_of_excess(posterior.log_densities, mse, people, s, h)
        return Squares(g, np.full(filtered.bins.size, theta**2), s)
    return Squares(g, np.minimum(TUNING.threshold**2 * filtered.mean_square(posterior, g), (2 * h) ** 2), s)


def _of_least_risk(filtered: Filter, posterior: Posterior, s: float) -> tuple[StageMeasurement, Strategy, CurveMoments]:
    """Choose the width of the clipping intervals and the strategy.

    All widths are compared with one rough strategy for the narrowest intervals. If each had its own rough strategy, the
    errors of these could be as large as the differences between the widths.

    Returns the query with these intervals, the best strategy for it, and the moments of f - g under all models of the
    posterior.
    """
    index, shares = representative_models(filtered.models, posterior.weights, posterior.state.index)
    queries = intervals(filtered, posterior, *(filtered.clip * times for times in TUNING.widths))
    moments = curve_moments(posterior.state, queries[0].g)
    of_few = moments.only(np.searchsorted(posterior.state.index, index))
    few = posterior._replace(state=posterior.state.only(index))
    try:
        models = [mixture_risk(filtered, few, filtered.linearised(few, query, of_few), shares) for query in queries]
    except _NUMERICAL:
        return queries[0], identity_strategy(filtered.bins.size), moments
    rough = best_strategy(models[0], s, TUNING.rough_gap, TUNING.rough_steps).B
    chosen = choose_width(models, rough, s)
    return queries[chosen], quantised(best_strategy(models[chosen], s, filtered.gap, TUNING.steps, rough)), moments


def choose_width(models: Sequence[RiskModel], B: FloatArray, s: float) -> int:
    """Return the index of the widest intervals whose risk is near the smallest.

    Their risk may exceed the smallest one by ``TUNING.tied`` times the reduction of the risk by the stage. If the risk
    cannot be computed, the narrowest intervals are chosen.

    Args:
        models: the risk model for each width, in ascending order of the widths.
        B: strategy (r, M) with which the widths are compared.
    """
    try:
        risks = np.array([risk([model], B, s**2) for model in models])
    except _NUMERICAL:
        return 0
    least = float(risks.min())
    return int(np.flatnonzero(risks <= least + TUNING.tied * (models[0].prior_risk - least))[-1])


def plan_stage(filtered: Filter, posterior: Posterior, linear: LinearSums, s: float) -> Strategy:
    """Return the strategy B (r, M) that minimises the risk of f over the bins, weighted by their records.

    Args:
        linear: the sums of the stage under the active models.
    """
    index, shares = representative_models(filtered.models, posterior.weights, linear.index)
    try:
        model = mixture_risk(filtered, posterior, linear.only(index), shares)
    except _NUMERICAL:
        return identity_strategy(filtered.bins.size)
    return quantised(best_strategy(model, s, filtered.gap, TUNING.steps))


def best_strategy(model: RiskModel, s: float, gap: float, steps: int, start: FloatArray | None = None) -> Strategy:
    """Return the strategy that minimises the risk, or the identity if the best one cannot be computed.

    The budget has been charged, and a failure could depend on private values, so that no error may be raised. With very
    many records and a wide prior, B = I is nearly optimal and the solver converges slowly. If no start is given and the
    first steps of the solver do not improve on B = I, then B = I is returned.

    Args:
        gap: relative gap at which the solver stops.
        steps: largest number of steps of the solver.
        start: a strategy (r, M) from which the solver starts; None for its own.
    """
    best = partial(optimal_strategy, [model], s**2, of_risk=TUNING.saved_risk, gap=gap, start=start)
    alone = identity_strategy(len(model.noise))
    try:
        if start is None and steps > TUNING.rough_steps:
            first = best(max_iterations=TUNING.rough_steps)
            if first.iterations < TUNING.rough_steps:
                return first
            if (alone_risk := risk([model], alone.B, s**2)) <= first.risk:
                return replace(alone, risk=alone_risk, bound=first.bound, gap=1.0)
        return best(max_iterations=steps)
    except _NUMERICAL:
        return alone


def identity_strategy(bins: int) -> Strategy:
    """Return the strategy B = I (M, M), which measures every bin by itself. It is always valid."""
    return Strategy(B=np.eye(bins), risk=math.inf, bound=0.0, gap=math.inf, iterations=0)


def quantised(strategy: Strategy) -> Strategy:
    """Return the strategy as it will be measured: entries of B are multiples of 2^-20, and its columns are checked."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)


def representative_models(models: ModelSet, weights: FloatArray, among: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Choose the models for which a strategy is planned: one of each family of kernels that is likely enough.

    A family is represented by the likeliest of its models with the largest amplitude. A strategy that is planned for a
    smaller amplitude would measure too little if the curve varies more. Families that are ``always_planned_for`` are
    kept until the released numbers rule them out.

    Args:
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


class Moments(NamedTuple):
    """Posterior moments of the sums q and of the means of f over M bins.

    The arrays may have a leading axis of models.

    Attributes:
        K: covariance of q (M, M).
        independent: variances of the terms of q that are independent between bins (M,), a part of the diagonal of K.
        F: covariance of q with f (M, M).
        variance: variance of f (M,).
    """

    K: FloatArray
    independent: FloatArray
    F: FloatArray
    variance: FloatArray


def mixture_risk(filtered: Filter, posterior: Posterior, linear: LinearSums, shares: FloatArray) -> RiskModel:
    """Return the risk model with the average second moments of the models of ``linear``, each about its own mean.

    Args:
        linear: the sums of the stage under these models.
        shares: weights of these models (A,).
    """
    weights = shares / shares.sum()
    mean = Moments(*(np.tensordot(weights, part, axes=1) for part in moments_of(filtered, posterior, linear)))
    return risk_model(mean, filtered.counts.nonnegative)


def moments_of(filtered: Filter, posterior: Posterior, linear: LinearSums) -> Moments:
    """Return the moments of the sums and of the curve under each model of ``linear``.

    They are K = T C T^T + rest and F = T C Phi^T, with C = diag(prior) - rows^T rows. As Phi Phi^T is the prior
    covariance of f over the bins and v_eta the prior variance of eta,
    T diag(prior) T^T = diag(slope) Phi Phi^T diag(slope) + diag(gain^2 v_eta) + bias bias^T.
    """
    models, state = filtered.models, posterior.state.only(linear.index)
    k, M, slope = models.rank, filtered.bins.size, linear.slope[:, :, None]
    on_eta = state.rows[:, :, k : k + M] * linear.gain[:, None]
    TG = (state.rows_over_bins * linear.slope[:, None] + on_eta).swapaxes(1, 2)
    TG += linear.bias @ state.rows[:, :, k + M :].swapaxes(1, 2)
    prior = models.prior_over_bins[state.label]
    K = slope * prior * slope.swapaxes(1, 2) + linear.bias @ linear.bias.T - TG @ TG.swapaxes(1, 2)
    K.reshape(len(K), -1)[:, :: M + 1] += linear.gain**2 * state.prior[:, k : k + M]
    F = slope * prior - TG @ state.rows_over_bins
    if len(models.change_points.step_share):
        of_state, gain = state.covariance_of_change_points, linear.gain[:, :, None]
        of_sums = slope * of_state[:, :M] + gain * of_state[:, M : 2 * M] + linear.bias @ of_state[:, 2 * M :]
        K += slope.swapaxes(1, 2) * of_sums[..., :M] + gain.swapaxes(1, 2) * of_sums[..., M : 2 * M]
        K += of_sums[..., 2 * M :] @ linear.bias.T
        F += of_sums[..., :M]
    own = (
        linear.independent
        + linear.gain**2 * (1 + SHARED_CLIPPING_NOISE) * filtered.counts.nonnegative * state.noise_variance[:, None]
    )
    return Moments(K + linear.rest, own, F, state.variance_over_bins)


def risk_model(moments: Moments, counts: FloatArray) -> RiskModel:
    """Return the risk model of the sums, in which bins are weighted by their shares W of the records.

    The noise of the model is D = diag(independent + floor), where the floor keeps it positive, and its root follows
    from the eigendecomposition K - diag(independent) = D^(1/2) V diag(values) V^T D^(1/2). Eigenvectors V whose
    eigenvalue is smaller in absolute value than ``TUNING.kept_eigenvalue`` are left out, and the targets D^(-1/2) F
    W^(1/2) are projected onto the span of the others.

    Args:
        counts: numbers of records in the bins (M,).
    """
    importance = counts / counts.sum()
    noise = moments.independent + TUNING.noise_floor * float(moments.K.diagonal().mean())
    sd = np.sqrt(noise)
    values, V = np.linalg.eigh((moments.K - np.diag(moments.independent)) / np.outer(sd, sd))
    long = np.abs(values) >= min(TUNING.kept_eigenvalue, np.abs(values).max())
    values, V = values[long], V[:, long]
    targets = V @ (V.T @ (moments.F / sd[:, None]))
    return RiskModel(
        noise=noise,
        root=sd[:, None] * V * np.sqrt(np.abs(values)),
        targets=sd[:, None] * targets * np.sqrt(importance),
        prior_risk=float(importance @ moments.variance),
        signs=np.sign(values),
    )
