"""Predictions of the curve at test inputs from the posterior of a filter. Everything here is post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..linalg import column_norms
from ..measurement.fit import fits_of
from .clipping import ends_of
from .filter import Filter, Posterior
from .mixture import Mixture
from .model import is_smooth
from .queries import StageMeasurement
from .residuals import (
    expected,
    farthest_outliers,
    has_outliers,
    may_have_outliers,
    mean_excess,
    outliers_are_certain,
)
from .tuning import TUNING
from .update import updated_state

_SEEN = 1.96  # number of standard deviations of the noise above which outliers are noticed
_EXACT = 1e-3  # standard deviation of the noise of an answer that is treated as exact, over that of the released one


def predict(filtered: Filter, posterior: Posterior, X_test: FloatArray) -> Mixture:
    """Return the predictions of the models at test inputs X_test (P, D).

    The variance under a model is k(x, x) - |rows phi(x)|^2, plus the variance that is due to the heights and locations
    of change points. A model that is not active has weight 0 and keeps its prior prediction.
    """
    models, state = filtered.models, posterior.state
    shapes, of_steps = models.change_points.at(X_test), models.change_points.step_variance_at(X_test)
    priors = [each.kernel.diagonal(X_test) for each in models.features]
    means, variances = np.zeros((len(models), len(X_test))), np.stack(priors)[models.label]
    means[state.index] = state.change_points.mean @ shapes.T
    variances[state.index] += state.change_points.square @ of_steps.T
    for label, rows in models.kernels_of(state.index):
        phi, index = models.at(label, X_test), state.index[rows]
        Q = state.rows[rows, :, : models.rank] @ phi.T
        smooth = np.maximum(priors[label] - column_norms(Q), 1e-14 * priors[label])
        effects = shapes - Q.swapaxes(1, 2) @ state.change_points.G[rows]
        means[index] += state.coefficients[rows] @ phi.T
        variances[index] += smooth - priors[label] + state.change_points.only(rows).variance(effects)
    sizes = posterior.stage_sizes
    return Mixture(
        means=means[None],
        variances=variances[None],
        noise_variances=models.noise_variance,
        weights=posterior.weights[None],
        fit=fits_of(posterior.weights[None], state.misfit[None], sizes) if sizes else (),
    )


def noise_variance(
    filtered: Filter, posterior: Posterior, stages: Sequence[StageMeasurement], X_test: FloatArray
) -> FloatArray:
    """Return an upper bound of the posterior variance of f at X_test (P,) that is due to privacy noise.

    Let z be the released answers of all stages, and a the exact answers to the same queries. By the law of total
    variance, Var(f | z) = E[Var(f | a) | z] + Var(E[f | a] | z). The last term is the variance that is due to noise.
    Under each model m, Var(f | a, m) follows from the queries alone, and the weights given z are the expected weights
    given a. The first term is therefore at least sum_m w_m Var(f | a, m), and Var(f | z) minus this sum is returned.
    """
    before = filtered.prior(posterior.log_densities)
    exact = before.state.only(posterior.state.index)
    before = before._replace(state=exact)
    # ``before`` is the posterior given z, in which sums are linearised as in the release, and ``exact`` that given
    # a. Without change points, its variance does not depend on the values of a, so that expected ones are used.
    for stage in stages:
        linear = filtered.linearised(before, stage)
        expected_z = linear.mean.mean(axis=0) @ stage.B.T
        exact = updated_state(exact, linear, stage.B, _EXACT * stage.s, expected_z)
        before = filtered.after(before, stage, linear)
    known = predict(filtered, posterior._replace(state=exact), X_test)
    total = predict(filtered, posterior, X_test)
    return np.asarray(np.maximum(total.variance[0] - known.weights[0] @ known.variances[0], 0.0))


def joint_covariances(
    filtered: Filter, posterior: Posterior, X_test: FloatArray
) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """Return Q = rows phi(X_test) (R, P) under each model, and the covariance (P, P) that change points add to f.

    The posterior covariance of f at the test inputs is K_** - Q^T Q plus the latter, which is () if curves have no
    change points. Under models that are not active, Q is (0, P) and change points add nothing.
    """
    models, state, P = filtered.models, posterior.state, len(X_test)
    shared, shapes = [np.zeros((0, P))] * len(models), models.change_points.at(X_test)
    added = np.zeros((len(models) if shapes.shape[1] else 0, P, P))
    if len(added):
        added[state.index] = models.change_points.step_covariance(X_test, state.change_points.square)
    for label, rows in models.kernels_of(state.index):
        Q = state.rows[rows, :, : models.rank] @ models.at(label, X_test).T
        for index, each in zip(state.index[rows], Q, strict=True):
            shared[index] = each
        if len(added):
            effects = shapes - Q.swapaxes(1, 2) @ state.change_points.G[rows]
            added[state.index[rows]] += state.change_points.only(rows).covariance(effects)
    return tuple(shared), tuple(added)


def unseen_outliers(filtered: Filter, posterior: Posterior, stages: Sequence[StageMeasurement]) -> float:
    """Return the largest share of the records that may be outliers without being noticed, given all stages.

    "Outliers that remain unseen" in docs/bayes_cloaking.md derives it. The share is 0 if no stage clips, or if the
    squared residuals identify outliers, because intervals then account for them. It is 1 if every stage clips.
    """
    clipped, information, h = False, 0.0, filtered.half_range
    for stage in stages:
        middle = filtered.bins.averages(stage.g)
        low, high = stage.low + middle, stage.high + middle
        clips = np.isfinite(ends_of(low, high, middle, h, clips=not filtered.is_binary).half_width)
        clipped |= bool(clips.any())
        far = np.where(clips, 0.0, 2 * h * filtered.counts.nonnegative / (high - low))
        information += float(((stage.B @ far) ** 2).sum()) / stage.s**2
    if not clipped or has_outliers(posterior.log_densities):
        return 0.0
    return min(_SEEN / math.sqrt(information), 1.0) if information else 1.0


def variance_of_plateaus(
    filtered: Filter,
    posterior: Posterior,
    stages: Sequence[StageMeasurement],
    dispersion: FloatArray,
    prediction: Mixture,
    X_test: FloatArray,
) -> FloatArray:
    """Return the variance to add to that of f at X_test (P,), because the prediction may smooth a plateau.

    A second posterior is computed from the stages, in which curves are smooth, plateaus are more probable, and the
    residual variance varies with the input ("Change points" in docs/bayes_cloaking.md). The result is 0 if no kernel is
    smooth.

    Args:
        dispersion: residual variance in each bin (M,); only its proportions matter.
        others: see ``variance_of_outliers``.
    """
    models, index = filtered.models, posterior.state.index
    smooth = np.array([is_smooth(each.kernel) for each in models.features])
    likely = smooth * np.bincount(models.label[index], posterior.weights[index], minlength=len(smooth))
    if not likely.any():
        return np.zeros(len(X_test))
    residuals = filtered.residuals(posterior)
    shapes = replace(models.change_points, plateau_share=TUNING.cautious_plateau_share)
    labels = np.flatnonzero(likely >= TUNING.least_weight * likely.max())
    kept = replace(models, change_points=shapes).with_noise(labels, residuals.core)
    noise = residuals.core * dispersion / np.average(dispersion, weights=filtered.counts.nonnegative)
    again = replace(filtered, models=kept, noise_over_bins=noise)
    second = again.prior(posterior.log_densities)
    for stage in stages:
        second = again.after(second, stage)
    return _added(prediction, predict(again, second, X_test))


def _added(prediction: Mixture, second: Mixture) -> FloatArray:
    """Return v' + (m' - m)^2 - v, or 0 if that is negative (P,), for the moments of a second posterior."""
    added = second.variance[0] + (second.mean[0] - prediction.mean[0]) ** 2 - prediction.variance[0]
    return np.asarray(np.maximum(added, 0.0))


def variance_of_outliers(
    filtered: Filter, posterior: Posterior, stages: Sequence[StageMeasurement], prediction: Mixture, X_test: FloatArray
) -> FloatArray:
    """Return the variance to add to that of f at X_test (P,), because outliers may differ from what the curve assumes.

    It is 0 unless the squares make outliers likely. Otherwise a second, more cautious posterior is computed from the
    stages ("Clipping bias" in docs/bayes_cloaking.md). If it has the mean m' and the variance v', and the
    prediction has the mean m and the variance v, the added variance is v' + (m' - m)^2 - v, or 0 if that is negative.

    Args:
        filtered: the filter, with counts and locations.
        posterior: posterior given all stages.
        stages: the stages.
        prediction: the prediction that intervals are about (``predict``).
        X_test: test inputs (P, D).
    """
    if filtered.is_binary or not may_have_outliers(posterior.log_densities):
        return np.zeros(len(X_test))
    h, prior = filtered.half_range, farthest_outliers(posterior.log_densities)
    residuals = expected(prior, h)
    excess = mean_excess(residuals, h)
    least, field = TUNING.outlier_excess, TUNING.outlier_field
    if outliers_are_certain(posterior.log_densities):
        least, field = TUNING.certain_excess, TUNING.certain_field
    if excess < least * math.sqrt(residuals.core):
        return np.zeros(len(X_test))
    kept, unclipped = list[StageMeasurement](), list[float]()
    for stage in stages:
        middle = filtered.bins.averages(stage.g)
        half_width = ends_of(stage.low + middle, stage.high + middle, middle, h).half_width
        # narrower intervals clip all residuals about the mean, and so show where most people are rather than the mean
        if np.median(half_width) >= TUNING.outlier_width * excess:
            kept.append(stage)
        if np.isinf(half_width).all():
            unclipped.append(stage.s**-2)
    # Intervals that clip nothing need not be centred on the curve. An error of a count then moves their sums in the
    # same direction in every stage, and the filter treats it as independent.
    times = sum(unclipped) ** 2 / sum(each**2 for each in unclipped) if unclipped else 1.0
    counts = filtered.counts._replace(covariance=times * filtered.counts.covariance)
    again = replace(filtered, counts=counts, outlier_field=field)
    second = again.prior(prior)
    for stage in kept:
        second = again.after(second, stage)
    return _added(prediction, predict(again, second, X_test))
