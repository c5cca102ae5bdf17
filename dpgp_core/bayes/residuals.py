"""Residual variance of the outcomes about the curve, and the probabilities of the models that follow from it.

"Residual variance and outliers" and "Weights of the models" in docs/bayes_cloaking.md have the formulas. Only the
clipped squared residuals ("squares") determine the residual variance sigma^2, on a grid of *cases*. Given sigma^2, the
evidence of the sums determines how likely each kernel is. theta is the clipping threshold of the squares, p the share
of outliers and d their distance from the curve.

Cases with outliers are needed because, for example, most people may pay nothing and one in twenty a great deal. Without
such cases, the variance that clipped squares imply would shrink with the threshold theta, the next stage would choose a
smaller theta, and in the end a mean of 31 would be published as 17, with unjustified certainty. On the other hand, a
small number of outliers is hidden by the noise, so that the squares can never exclude it. If outliers were always
assumed, all intervals would be as wide as the bounds. Outliers are therefore assumed only if the squares make them more
likely (``has_outliers``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, ndtr, softmax

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from .tuning import TUNING

ROUNDS = 4  # iterations for yes/no outcomes, whose residual variance follows from the curve and determines the models
# standard deviations of the grid, over half the range, which is their upper limit; each is 1.16 times the previous one
_POINTS, _LEAST, _MOST = 47, 10 ** (-2 * 46 / 31), 1.0
_SDS: FloatArray = np.geomspace(_LEAST, _MOST, _POINTS)
_EVERY = 2  # cases with outliers use every second of these standard deviations
OUTLIERS: FloatArray = np.array(list(product(TUNING.outlier_shares, TUNING.outlier_distances)))
"""Pairs of a share p and a distance d over half the range, one for each kind of outliers (K, 2)."""
_THRESHOLDS: FloatArray = np.geomspace(2.0, 2e-3, 24)  # thresholds theta that are compared, over half the range


class Cases(NamedTuple):
    """Cases of the residuals: those without outliers first, then those with outliers. Lengths are over half the range.

    Attributes:
        core: index of the standard deviation of the core in ``_SDS`` (S,).
        outliers: row of ``OUTLIERS`` (S,); -1 without outliers.
        variance: residual variance, outliers included (S,).
        log_prior: log prior probability given whether there are outliers (S,).
    """

    core: IndexArray
    outliers: IndexArray
    variance: FloatArray
    log_prior: FloatArray


def _cases() -> Cases:
    """Return the cases.

    The prior of the standard deviation of the core is log-normal with median ``TUNING.usual_sd``. All rows of
    ``OUTLIERS`` are equally likely.
    """
    pairs = np.array(
        [
            *((i, -1) for i in range(_POINTS)),
            *(
                (i, k)
                for k, (_, distance) in enumerate(OUTLIERS)
                for i in range(0, _POINTS, _EVERY)
                if _SDS[i] * TUNING.outlier_contrast <= distance
            ),
        ]
    )
    core, outliers = pairs.T
    share, distance = np.where(outliers[:, None] >= 0, OUTLIERS[outliers], 0.0).T
    log_prior = -0.5 * (np.log(_SDS[core] / TUNING.usual_sd) / TUNING.usual_spread) ** 2
    for part in (outliers < 0, outliers >= 0):
        log_prior[part] -= logsumexp(log_prior[part])
    return Cases(core, outliers, (1 - share) * _SDS[core] ** 2 + share * distance**2, log_prior)


CASES = _cases()


class ResidualVariance(NamedTuple):
    """Posterior of the residual variance, from which the clipping bias is computed.

    Attributes:
        variance: expected sigma^2, in squared model units.
        core: expected variance of the core, in squared model units.
        outliers: probability of each row of ``OUTLIERS`` (K,); 0 if the squares do not identify outliers.
        field: relative standard deviation of the excess of outliers from bin to bin.
    """

    variance: float
    core: float
    outliers: FloatArray
    field: float = TUNING.outlier_field


def log_prior() -> FloatArray:
    """Return the log density of the cases (S,) before any square is measured."""
    return CASES.log_prior.copy()


def variances_of(half_range: float) -> FloatArray:
    """Return sigma^2 of all cases (S,), in squared model units."""
    return np.asarray(half_range**2 * CASES.variance)


def has_outliers(log_densities: FloatArray) -> bool:
    """Whether the squares identify outliers, given the log densities of the cases (S,).

    They do if the log Bayes factor of outliers against no outliers exceeds ``TUNING.outlier_gain``.
    """
    return _log_bayes_factor(log_densities) > TUNING.outlier_gain


def may_have_outliers(log_densities: FloatArray) -> bool:
    """Whether outliers are likely enough that intervals must allow for them, given the log densities of the cases (S,).

    ``TUNING.outlier_caution`` is smaller than the log Bayes factor above which the published curve assumes outliers.
    """
    return _log_bayes_factor(log_densities) > TUNING.outlier_caution


def outliers_are_certain(log_densities: FloatArray) -> bool:
    """Whether the log Bayes factor of outliers exceeds ``TUNING.outlier_certain``, given the log densities (S,)."""
    return _log_bayes_factor(log_densities) > TUNING.outlier_certain


def farthest_outliers(log_densities: FloatArray) -> FloatArray:
    """Return the log densities of the cases (S,) if outliers have the largest distances that the squares allow.

    Squares whose thresholds theta are all below a distance d cannot distinguish it from larger ones, whereas p d, by
    which outliers change the mean, grows with it. Each share p is therefore given the largest distance at which its log
    density is within ``TUNING.outlier_support`` of its maximum over d. The densities of smaller distances are added to
    the density at this distance.
    """
    kept = np.full_like(log_densities, -np.inf)
    log_of = np.array([np.logaddexp.reduce(log_densities[CASES.outliers == k]) for k in range(len(OUTLIERS))])
    for share in TUNING.outlier_shares:
        rows = np.flatnonzero(OUTLIERS[:, 0] == share)
        farthest = rows[log_of[rows] >= log_of[rows].max() - TUNING.outlier_support].max()
        target = {core: i for i, core in enumerate(CASES.core) if CASES.outliers[i] == farthest}
        for i in np.flatnonzero(np.isin(CASES.outliers, rows[rows <= farthest])):
            at = target[CASES.core[i]]
            kept[at] = np.logaddexp(kept[at], log_densities[i])
    return kept


def mean_excess(residuals: ResidualVariance, half_range: float) -> float:
    """Return the mean excess E p d, by which outliers on one side of the curve change the mean, in model units."""
    return half_range * float(residuals.outliers @ OUTLIERS.prod(axis=1))


def _log_bayes_factor(log_densities: FloatArray) -> float:
    """Return the log Bayes factor of outliers, given the log densities of the cases (S,)."""
    none, outliers = (np.logaddexp.reduce(part) for part in np.split(log_densities, [_POINTS]))
    return float(outliers - none)


def probabilities(log_densities: FloatArray) -> FloatArray:
    """Return the probabilities of the cases (S,), given their log densities.

    Cases with outliers have probability 0 if the squares do not identify outliers.
    """
    if has_outliers(log_densities):
        return np.asarray(softmax(log_densities))
    return np.asarray(softmax(np.where(CASES.outliers < 0, log_densities, -np.inf)))


def expected(log_densities: FloatArray, half_range: float) -> ResidualVariance:
    """Return the posterior of the residual variance, given the log densities of the cases (S,)."""
    p = probabilities(log_densities)
    of_outliers = np.bincount(CASES.outliers + 1, p, minlength=len(OUTLIERS) + 1)[1:]
    core = half_range**2 * float(p @ _SDS[CASES.core] ** 2)
    return ResidualVariance(float(p @ variances_of(half_range)), core, np.asarray(of_outliers, dtype=float))


def threshold_of_excess(
    log_densities: FloatArray, curve_mse: FloatArray, people: FloatArray, s: float, half_range: float
) -> float:
    """Return the threshold theta, in model units, whose squares best determine the mean excess p d of outliers.

    "Which threshold" in docs/bayes_cloaking.md has the criterion. Here outliers have the probability that the squares
    so far imply, even if that is too small for ``has_outliers``.

    Args:
        log_densities: log densities of the cases (S,).
        curve_mse: E (f - g)^2 in each bin (M,), in squared model units.
        people: numbers of records in the bins (M,).
        s: standard deviation of the noise on the sum of squares.
        half_range: half the range of the outcomes, in model units.
    """
    weights, excess = softmax(log_densities), np.append(OUTLIERS.prod(axis=1), 0.0)[CASES.outliers]
    excess -= weights @ excess
    gains = []
    for threshold in half_range * _THRESHOLDS:
        mean, variance = _sum_of_squares(half_range, curve_mse, np.full(len(people), threshold), people, s)
        deviation = mean - (weights * mean).sum() / len(mean)
        gains.append((weights * deviation * excess).sum() ** 2 / (weights * (deviation**2 + variance)).sum())
    return float(half_range * _THRESHOLDS[np.argmax(gains)])


def core_is_known(log_densities: FloatArray) -> bool:
    """Whether log sigma would have a posterior variance below ``TUNING.known`` if there were no outliers."""
    p, log_sd = softmax(log_densities[:_POINTS]), np.log(_SDS)
    return bool(p @ log_sd**2 - (p @ log_sd) ** 2 < TUNING.known)


def log_density(
    half_range: float, curve_mse: FloatArray, threshold: FloatArray, people: FloatArray, s: float, z: float
) -> FloatArray:
    """Return log p(z | case) up to a constant for every case (S,).

    Args:
        half_range: half the range of the outcomes, in model units.
        curve_mse: E (f - g)^2 in each bin (M,), in squared model units.
        threshold: theta of each bin (M,).
        people: numbers of records in the bins (M,).
        s: standard deviation of the noise on z.
        z: released sum of squares.
    """
    mean, variance = _sum_of_squares(half_range, curve_mse, threshold, people, s)
    densities = -0.5 * (z + 0.5 * people.sum() - mean) ** 2 / variance - 0.5 * np.log(variance)
    return np.asarray(np.logaddexp(*densities) - math.log(2))


def _sum_of_squares(
    half_range: float, curve_mse: FloatArray, threshold: FloatArray, people: FloatArray, s: float
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of sum_j min(r_j^2, theta^2) / theta^2 for two shapes of the core and all cases (2, S).

    The core is normal, or it consists of two groups of records that are far apart. For two groups and a small theta, a
    normal core would underestimate the variance. (f - g)^2 is taken to have a standard deviation equal to its mean.
    Arguments are those of ``log_density``.
    """
    a = threshold / np.sqrt((_SDS[:, None] * half_range) ** 2 + curve_mse)
    beyond, at = ndtr(-a), np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
    normal = ((1 - 2 * beyond - 2 * a * at) / a**2 + 2 * beyond) @ people
    core = np.stack([normal, np.minimum(1 / a**2, TUNING.two_groups) @ people])[:, CASES.core]
    of_records = (np.minimum(TUNING.peaked / a**4, 0.25) @ people)[CASES.core]
    sd_of_curve = people @ np.minimum(curve_mse / threshold**2, 0.5)
    share, distance = np.vstack([OUTLIERS, [0.0, 0.0]]).T  # the last row is that of no outliers
    outliers = (share * (np.minimum(distance[:, None] * half_range / threshold, 1.0) ** 2 @ people))[CASES.outliers]
    mean = (1 - share[CASES.outliers]) * core + outliers
    # residuals are not exactly normal, and outliers are not all at one distance
    of_shape = (TUNING.square_spread * core) ** 2 + (TUNING.outlier_spread * outliers) ** 2
    return mean, s**2 + of_records + sd_of_curve**2 + of_shape


def of_binary(half_range: float, square: float) -> FloatArray:
    """Return the log densities of the cases (S,) for yes/no outcomes, for which sigma^2 = h^2 - E f^2.

    Args:
        half_range: h, in model units.
        square: mean of E f^2 over the records, in squared model units.
    """
    variance = max(half_range**2 - square, (_LEAST * half_range) ** 2)
    difference = 0.5 * np.log(variances_of(half_range) / variance)
    log_densities = -0.5 * (difference / TUNING.binary_spread) ** 2
    return np.where(CASES.outliers < 0, log_densities, -np.inf)


class NoiseShares(NamedTuple):
    """How the probability of each case of sigma^2 is divided among the models of a kernel, see ``noise_shares``.

    Attributes:
        hats: share of each model in each case (m, S), a hat function of sigma^2; those of one kernel add up to 1.
        of_kernel: 1 where a model has a kernel, else 0 (K, m).
        log_prior: log prior weight of each kernel (K,).
    """

    hats: FloatArray
    of_kernel: FloatArray
    log_prior: FloatArray


def noise_shares(
    noise_variances: FloatArray, prior_weights: FloatArray, kernels: Sequence[int], half_range: float
) -> NoiseShares:
    """Return the shares of the models in the cases of sigma^2, linear between the noise variances of each kernel.

    Args:
        noise_variances: noise variance of each model (m,), in squared model units.
        prior_weights: prior weight of each model (m,).
        kernels: index of the kernel of each model (m,).
        half_range: half the range of the outcomes, in model units.
    """
    labels = np.array(kernels)
    hats = np.empty((len(labels), len(CASES.variance)))
    of_kernel = (labels == np.unique(labels)[:, None]).astype(float)
    for row in of_kernel:
        own = np.flatnonzero(row)
        hats[own] = _hats(noise_variances[own].tolist(), half_range).T
    return NoiseShares(hats, of_kernel, np.log(of_kernel @ prior_weights))


def model_weights(shares: NoiseShares, log_densities: FloatArray, evidence: FloatArray) -> FloatArray:
    """Return the probabilities of the models (m,).

    Args:
        shares: how the models share the cases.
        log_densities: log densities of the cases of sigma^2 (S,).
        evidence: log density of the sums under each model (m,).
    """
    logs = shares.log_prior[:, None] + shares.of_kernel @ (evidence[:, None] * shares.hats)
    likely = softmax(logs, axis=0) * probabilities(log_densities)  # (K, S)
    return np.asarray(((shares.of_kernel.T @ likely) * shares.hats).sum(axis=1))


def _hats(variances: Sequence[float], half_range: float) -> FloatArray:
    """Return the share of each of L variances in each sigma^2 of the grid (S, L), by linear interpolation.

    Equal variances have equal shares.
    """
    distinct = sorted(set(variances))
    grid = np.clip(variances_of(half_range), distinct[0], distinct[-1])
    hats = np.stack([np.interp(grid, distinct, row) for row in np.eye(len(distinct))], axis=1)
    chosen = [distinct.index(v) for v in variances]
    return np.asarray(hats[:, chosen] / np.bincount(chosen)[chosen])
