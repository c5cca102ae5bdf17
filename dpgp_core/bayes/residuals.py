"""Residual variance of the outcomes about the curve, and the probabilities of the models that follow from it.

The evidence of clipped sums determines the noise variance only if outcomes are normal, and is confidently wrong if they
are not. Each stage but the first therefore measures one more number, sum_j min(r_j^2, A_j^2) / A_j^2 - 1/2, with A
three predicted standard deviations, and only these numbers determine the noise variance sigma^2, through
p(sigma^2 | squares) on a fine grid. Given sigma^2, the evidence determines how likely each kernel is (a cut posterior,
Plummer 2015). The models of each kernel have noise variances v_1 < v_2 < .... A sigma^2 between two of them is
shared by both models, linearly, so that the variances of the mixture are right on average, however coarse the v are.

There may be a few outliers: for example, most people pay nothing, and one in twenty pays a great deal. Squares that are
clipped at A have the mean p A^2 if a share p of records are outliers. Read as squares of normal outcomes, they would
imply a smaller variance the smaller A is, the next A would be smaller still, and in the end a mean of 31 would be
published as 17, with unjustified certainty. For each sigma^2 there is therefore one case without outliers, and one case
for each share p of ``OUTLIER_SHARES``, in which outliers at a distance of sigma / sqrt(p) account for all of the
variance:

    E min(r^2, A^2) = min(t^2, p A^2),    t^2 = sigma^2 + E (f - g)^2.

If the number p n of outliers is smaller than the noise, the squares cannot exclude outliers anywhere within the bounds.
If such outliers were always assumed, all intervals would be as wide as the bounds. Outliers are therefore assumed only
if a case with outliers has a log likelihood that exceeds that of the best case without by ``TUNING.outlier_gain``.
Squares with a single A cannot distinguish outliers from a larger variance. Therefore stages use different thresholds
once sigma is known (``thresholds_of_squares``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, softmax

from ..arrays import FloatArray
from .tuning import TUNING

ROUNDS = 4  # iterations for yes/no outcomes, whose residual variance follows from the curve and determines the models
# standard deviations of the grid, over half the range, which none can exceed; each is 1.16 times the previous one
_POINTS, _LEAST, _MOST = 47, 10 ** (-2 * 46 / 31), 1.0
OUTLIER_SHARES: FloatArray = np.array(TUNING.outlier_shares)
_GRID: FloatArray = np.tile(np.geomspace(_LEAST, _MOST, _POINTS) ** 2, 1 + len(OUTLIER_SHARES))


class ResidualVariance(NamedTuple):
    """Posterior of the residual variance, from which the clipping bias is computed.

    Attributes:
        variance: expected sigma^2, in squared model units.
        outliers: probability of each of ``OUTLIER_SHARES`` (K,); 0 if the squares do not identify outliers.
        outlier_sd: expected sigma given each share (K,), in model units.
    """

    variance: float
    outliers: FloatArray
    outlier_sd: FloatArray


def variances_of(half_range: float) -> FloatArray:
    """Return sigma^2 of all cases (S,), evenly spaced in log sigma: without outliers, then for each outlier share."""
    return half_range**2 * _GRID


def log_prior() -> FloatArray:
    """Return the prior log density of the cases (S,): sigma is log-normal with median 0.15 times half the range."""
    share = 0.5 * np.log(variances_of(1.0))
    prior: FloatArray = -0.5 * ((share - math.log(TUNING.usual_sd)) / TUNING.usual_spread) ** 2
    return prior


def has_outliers(log_densities: FloatArray) -> bool:
    """Whether the squares identify outliers, given the log densities of the cases (S,)."""
    found = log_densities - log_prior()
    return bool(found[_POINTS:].max() - found[:_POINTS].max() > TUNING.outlier_gain)


def probabilities(log_densities: FloatArray) -> FloatArray:
    """Return the probabilities of the cases (S,), given their log densities."""
    p: FloatArray = softmax(log_densities)
    if not has_outliers(log_densities):
        p[_POINTS:] = 0.0
        p /= p.sum()
    return p


def expected(log_densities: FloatArray, half_range: float) -> ResidualVariance:
    """Return the posterior of the residual variance, given the log densities of the cases (S,)."""
    p, variances = probabilities(log_densities), variances_of(half_range)
    of_shares = p[_POINTS:].reshape(len(OUTLIER_SHARES), _POINTS)
    outliers = of_shares.sum(axis=1)
    sd = of_shares @ np.sqrt(variances[:_POINTS]) / np.where(outliers > 0, outliers, 1.0)
    return ResidualVariance(float(p @ variances), outliers, sd)


def thresholds_of_squares(
    log_densities: FloatArray, mean_square: FloatArray, n: int, s: float, half_range: float, *, far: bool
) -> FloatArray:
    """Return the clipping thresholds A^2 of the squares in each column (M,), at most the square of the range.

    A is ``TUNING.threshold`` predicted standard deviations. Once sigma is known, A is increased up to
    ``TUNING.wide_threshold`` standard deviations, as far as the expected sum over n normal outcomes stays at least
    twice the noise. In every other stage A is then at least half the range, so that outliers can be distinguished from
    a larger variance.

    Args:
        log_densities: log densities of the cases (S,).
        mean_square: E (y - g)^2 in each column (M,), in squared model units.
        n: number of records, or of people if each counts once.
        s: standard deviation of the noise on the sum of squares.
        half_range: half the range of the outcomes, in model units.
        far: whether A is at least half the range in this stage, if sigma is known.
    """
    p, logs = probabilities(log_densities), np.log(variances_of(1.0))
    known = p @ logs**2 - (p @ logs) ** 2 < TUNING.known
    wide = min(max(math.sqrt(n / (2 * s)), TUNING.threshold), TUNING.wide_threshold)
    most = (wide if known else TUNING.threshold) ** 2 * mean_square
    if far and wide > TUNING.threshold and known:
        most = np.maximum(most, half_range**2)
    return np.minimum(most, (2 * half_range) ** 2)


def log_density(
    half_range: float, curve_mse: FloatArray, threshold: FloatArray, people: FloatArray, s: float, z: float
) -> FloatArray:
    """Return log p(z | case) up to a constant (S,), for every sigma^2 without outliers and with each share of them.

    With t^2 = sigma^2 + E (f - g)^2 and a = A / t, E min(r^2, A^2) = t^2 (1 - 2 Phi(-a) - 2 a phi(a)) + 2 A^2 Phi(-a)
    for normal outcomes. The uncertainty of E (f - g)^2 is about as large as its value. If outcomes consist of two
    groups and A is small, the mean is smaller than for normal outcomes, and sigma^2 would be underestimated. In each
    measurement, two groups are therefore as likely as normal outcomes: a fifth (``TUNING.two_groups``) are outliers and
    the others are on the curve, E min(r^2, A^2) = min(t^2, A^2 / 5).

    Args:
        half_range: half the range of the outcomes, in model units.
        curve_mse: E (f - g)^2 in each column (M,), in squared model units.
        threshold: A of each column (M,).
        people: numbers of records in the columns (M,).
        s: standard deviation of the noise on z.
        z: released sum of squares.
    """
    square = variances_of(half_range)[:_POINTS, None] + curve_mse
    a = threshold / np.sqrt(square)
    beyond, at = ndtr(-a), np.exp(-0.5 * a * a) / math.sqrt(2 * math.pi)
    normal = (1 - 2 * beyond - 2 * a * at) / a**2 + 2 * beyond
    two_groups = np.minimum(1 / a**2, TUNING.two_groups) @ people
    of_outliers = np.minimum((1 / a**2) @ people, OUTLIER_SHARES[:, None] * people.sum())
    each = np.minimum(TUNING.peaked / a**4, 0.25)
    unsure = people @ np.minimum(curve_mse / threshold**2, 0.5)
    own = s**2 + each @ people + unsure**2

    def likely(mean: FloatArray, loose: float) -> FloatArray:
        variance = own + (loose * mean) ** 2
        density: FloatArray = -0.5 * (z + 0.5 * people.sum() - mean) ** 2 / variance - 0.5 * np.log(variance)
        return density

    near = np.logaddexp(
        likely(normal @ people, TUNING.square_spread), likely(two_groups, TUNING.square_spread)
    ) - math.log(2)
    return np.concatenate([near, likely(of_outliers, TUNING.outlier_spread).ravel()])


def of_binary(half_range: float, square: float) -> FloatArray:
    """Return the log densities of the cases (S,) for yes/no outcomes, for which sigma^2 = h^2 - E f^2.

    Args:
        half_range: h, in model units.
        square: mean of E f^2 over the records, in squared model units.
    """
    sigma = max(half_range**2 - square, float(_GRID[0]) * half_range**2)
    difference = 0.5 * np.log(variances_of(half_range) / sigma)
    log_densities: FloatArray = -0.5 * (difference / TUNING.binary_spread) ** 2
    return log_densities


class NoiseShares(NamedTuple):
    """How the probability of each case of sigma^2 is divided among the models of a kernel, see ``noise_shares``.

    Attributes:
        hats: share of each model in each case (m, S); those of one kernel add up to 1.
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
    hats = np.empty((len(labels), len(_GRID)))
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
