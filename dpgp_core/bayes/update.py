"""How a stage updates the state: its sums as a linear observation, and the Kalman update of all models by them.

"Moments of a clipped residual" and "State and update" in docs/bayes_cloaking.md have the formulas. A stage released
z = B q + noise, where entry c of q is the sum of (clip(r_j, low_c, high_c) - o_c) / u_c over the n_c records of bin c.
Here r_j = y_j - g(x_j) is the residual about the public curve g, and o_c and u_c are the middle and the width of the
clipping interval. Let Phi be the means of the features over the bins, n^_c = E n_c (``RecordCounts``), and mean, alpha
(``gain``) and extra the moments of one clipped residual (``gp.clipping``). Then

    q = n^ (mean - o) / u + T ((a, eta, b) - E(a, eta, b)) + rest,
    T = [diag(slope) Phi, diag(alpha / u), bias],    slope = alpha n^ / u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dtrsm

from ..arrays import FloatArray
from ..gp.clipping import Clipped, clipped, clipped_mean
from ..gp.grid import IndexArray
from ..linalg import column_norms, sturdy_cholesky
from .clipping import bias_of, ends_of
from .counts import RecordCounts
from .queries import StageMeasurement
from .residuals import ResidualVariance
from .state import SHARED_CLIPPING_NOISE, State
from .tuning import TUNING

_HERMITE = np.polynomial.hermite_e.hermegauss(15)
_TINY = 1e-14  # smallest posterior variance of f over the noise variance
_FAILED = 1e4  # subtracted from the log evidence of a model that cannot be computed
_LOG_TWO_PI = math.log(2 * math.pi)


class CurveMoments(NamedTuple):
    """Posterior moments of f - g over the bins, under A models. They do not depend on the clipping interval.

    Attributes:
        shift: posterior mean of the average of f - g over each bin (A, M).
        V: posterior covariance of the averages of f (A, M, M).
        v: its diagonal, kept positive (A, M).
        within: expected variance of f - g within each bin (A, M): over its records if their locations are known, and
            over evenly spread records otherwise.
    """

    shift: FloatArray
    V: FloatArray
    v: FloatArray
    within: FloatArray

    def only(self, rows: IndexArray) -> CurveMoments:
        """Return the moments under the models with the indices ``rows``."""
        return CurveMoments(*(each[rows] for each in self))


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearSums:
    """Sums of clipped residuals as a linear observation of the state, under A models.

    q = mean + T ((a, eta, b) - E(a, eta, b)) + rest, with T = [diag(slope) bin_features, diag(gain), bias].

    Attributes:
        index: the models (A,).
        mean: E q without change points (A, M).
        slope: derivative of E q with respect to the mean of f over the bin (A, M).
        gain: derivative of q with respect to eta (A, M).
        bias: derivative of q with respect to b (M, k_b), the same under all models.
        label: kernels of the models (A,).
        bin_features: means of the features of each kernel over the bins (K, M, k).
        rest: covariance of the rest (A, M, M).
        independent: variances of the terms of the rest that are independent between bins (A, M). They are a part of its
            diagonal.
        shared_location: the part of ``independent`` that arises if the records of a bin are at one unknown location
            (A, M).
    """

    index: IndexArray
    mean: FloatArray
    slope: FloatArray
    gain: FloatArray
    bias: FloatArray
    label: IndexArray
    bin_features: FloatArray
    rest: FloatArray
    independent: FloatArray
    shared_location: FloatArray

    def only(self, index: IndexArray) -> LinearSums:
        """Return the observation restricted to the models ``index``, which are some of its models."""
        rows = np.searchsorted(self.index, index)
        parts = {name: each[rows] for name, each in vars(self).items() if name not in ("index", "bias", "bin_features")}
        return replace(self, index=index, **parts)

    def weighted(self, B: FloatArray) -> FloatArray:
        """Return B T (A, r, N) for a strategy B (r, M)."""
        of_f = np.stack(
            [(B * slope) @ self.bin_features[label] for slope, label in zip(self.slope, self.label, strict=True)]
        )
        of_bias = np.broadcast_to(B @ self.bias, (len(of_f), len(B), self.bias.shape[1]))
        return np.concatenate([of_f, B * self.gain[:, None], of_bias], axis=2)

    @property
    def T(self) -> FloatArray:
        """The matrix T (A, M, N)."""
        return self.weighted(np.eye(len(self.bias)))


def curve_moments(state: State, g: FloatArray) -> CurveMoments:
    """Return the posterior moments of f - g, for g given at the nodes (F,)."""
    models, bins = state.models, state.models.bins
    shift = state.mean_over_bins - bins.averages(g)
    smooth, V = state.smooth_covariance, state.covariance_over_bins
    v = np.maximum(np.diagonal(V, axis1=1, axis2=2), _TINY * state.noise_variance[:, None])
    square = state.star_variance + (state.mean_at_star - g[bins.star.ravel()]) ** 2
    square = square.reshape(len(square), bins.size, -1)
    if models.even is None:
        of_mean = np.diagonal(smooth, axis1=1, axis2=2) + shift**2
        return CurveMoments(shift, V, v, np.maximum((square * bins.star_weights).sum(axis=2) - of_mean, 0.0))
    prior = np.einsum("amk,amk->am", models.even, models.even)[state.label]
    of_mean = prior - column_norms(state.rows_over_even) + (state.mean_over_even - bins.even_averages(g)) ** 2
    return CurveMoments(shift, V, v, np.maximum((square * bins.even_star_weights).sum(axis=2) - of_mean, 0.0))


def linearise(
    counts: RecordCounts,
    state: State,
    query: StageMeasurement,
    half_range: float,
    residuals: ResidualVariance,
    moments: CurveMoments | None = None,
    noise_variance: FloatArray | None = None,
) -> LinearSums:
    """Express the sums of clipped residuals that a stage measures as a linear observation of the state.

    Args:
        query: the clipping intervals of the residuals, and g.
        half_range: half the range of the outcomes, in model units.
        residuals: posterior of the residual variance, which determines the clipping bias.
        moments: posterior moments of f - g, if they have been computed already.
        noise_variance: variance of an output about f, (A, M) or (A, 1), that replaces each model's own in the moments
            of clipping; None to use the models' own.
    """
    low, high, g, models = query.low, query.high, query.g, state.models
    k, M, n = models.rank, models.bins.size, counts.mean
    u, centre, middle = high - low, (low + high) / 2, models.bins.averages(g)
    low, high, half_width = ends_of(low + middle, high + middle, middle, half_range, clips=query.clips)
    bias = bias_of(half_width, middle, residuals, half_range)
    beta = bias.sd
    low, high = low - middle, high - middle
    shift, V, v, within = moments or curve_moments(state, g)
    noise = state.noise_variance[:, None] if noise_variance is None else noise_variance
    one = clipped(shift, v + within + noise, low, high)
    clips = np.isfinite(half_width).any()
    common = _common(one, shift, v, within + noise, low, high) if clips else np.zeros_like(v)
    own = np.maximum(one.extra - common - SHARED_CLIPPING_NOISE * one.gain**2 * noise, 0.0)
    field = TUNING.bias_shared**0.5 * beta * (state.mean[:, k + M :] @ models.bias.T)
    # If all records of a bin share a location, its effect on their sum is the same in every stage. The filter treats
    # the effects in different stages as independent and therefore averages them. Their variance is multiplied by about
    # the number of stages with narrow intervals, so that the average has the variance of the single effect.
    people = counts.nonnegative
    open_within = models.open_variance(state.label, within) + models.change_points.within(state.change_points)
    shared_location = TUNING.shared_location_factor * people**2 * (one.gain**2 * open_within)
    own = (people * (own + bias.variance) + shared_location) / u**2
    gain, off = one.gain / u, (one.mean + bias.mean + field - centre) / u
    biased = (n * beta / u)[:, None] * models.bias
    # The covariance of the rest has four parts: the error of linearising clipping in f, whose correlation is the square
    # of that of f; the error n_c - n^_c of the counts; the bias that stages do not share; and, independent from bin to
    # bin, the clipping noise of each record and the unknown variation of f within a bin. One model is computed at a
    # time, because arrays (A, M, M) exceed the caches of a processor.
    rest, of_bias, curved = np.empty_like(V), (1 - TUNING.bias_shared) * biased @ biased.T, np.sqrt(common) / (v * u)
    of_counts, squared_counts = counts.covariance, counts.covariance + _outer(n)
    for row, each in enumerate(rest):
        if clips:
            np.multiply(_outer(curved[row]), V[row], out=each)
            each *= squared_counts
        else:
            each[:] = 0.0
        if of_counts.any():
            each += of_counts * _outer(gain[row])
            each *= V[row]
            each += of_counts * _outer(off[row])
        else:
            each *= V[row]
        each += of_bias
        each.flat[:: M + 1] += own[row]
    of_change_points = (state.effects @ state.change_points.mean[:, :, None])[..., 0]
    return LinearSums(
        index=state.index,
        mean=n * (off - gain * of_change_points) + gain * state.mean[:, k : k + M],
        slope=gain * n,
        gain=gain,
        bias=TUNING.bias_shared**0.5 * biased,
        label=state.label,
        bin_features=models.bin_features,
        rest=rest,
        independent=own,
        shared_location=shared_location / u**2,
    )


def updated_state(state: State, linear: LinearSums, B: FloatArray, s: float, z: FloatArray) -> State:
    """Return the posterior after the measurement z = B q + noise. With C the covariance before,

        S = B (T C T^T + rest) B^T + s^2 I = L L^T,    Q = L^-1 B T C,
        mean += Q^T L^-1 (z - B E q),    C -= Q^T Q.

    A model for which this is not finite keeps its state and its log evidence is reduced by 10,000.

    Args:
        state: the state before. Models that ``linear`` does not contain are dropped from the active ones.
        linear: the sums q as an observation of the state.
        B: strategy (r, M).
        s: standard deviation of the noise on each entry of z.
        z: released numbers (r,).
    """
    state, models, k = state.only(linear.index), state.models, state.models.rank
    H = linear.weighted(B)
    on_rows = H @ state.rows.swapaxes(1, 2)
    cross = H * state.prior[:, None] - on_rows @ state.rows
    S = cross @ H.swapaxes(1, 2) + B @ linear.rest @ B.T
    S.reshape(len(S), -1)[:, :: len(B) + 1] += s**2
    surprise = z - linear.mean @ B.T
    of_change_points = (B * linear.slope[:, None]) @ models.change_points.over_bins - on_rows @ state.change_points.G
    L, white, log_density = _whitened(S, surprise, s)
    Q, G = _solved(L, cross), _solved(L, of_change_points)
    log_densities = np.repeat(log_density[:, None], len(TUNING.location_shares), axis=1)
    if linear.shared_location.any():
        P = (B * linear.shared_location[:, None]) @ B.T
        for i, share in enumerate(TUNING.location_shares[:-1]):
            log_densities[:, i] = _whitened(S - (1 - share) * P, surprise, s)[2]
    # The budget has been charged, and a failure could depend on private values, so that no error may be raised here.
    good = np.asarray(np.isfinite(np.column_stack([log_densities, white])).all(axis=1))
    good &= np.isfinite(Q).all(axis=(1, 2)) & np.isfinite(G).all(axis=(1, 2))
    if not good.all():
        Q, G, white = (np.where(good[:, None, None], each, 0.0) for each in (Q, G, white[..., None]))
        white, log_densities = white[..., 0], np.where(good[:, None], log_densities, -_FAILED)
    of_f = Q[..., :k]
    over_bins = _over_bins(of_f, linear.bin_features, linear.label)
    even = of_f[..., :0] if models.even is None else _over_bins(of_f, models.even, linear.label)
    change_points = models.change_points.updated(
        state.change_points, G, white, models.change_point_variances[state.index]
    )
    effects = np.empty(state.effects.shape)
    for now, before, of_bins, of_stage in zip(effects, state.effects, over_bins, G, strict=True):
        np.matmul(of_bins.T, of_stage, out=now)  # one model at a time, within the caches of a processor
        np.subtract(before, now, out=now)
    log_evidences_by_share = state.log_evidences_by_share + log_densities
    log_evidence = state.log_evidence.copy()
    of_smooth_curve = np.logaddexp.reduce(log_evidences_by_share, axis=1) - math.log(len(TUNING.location_shares))
    log_evidence[state.index] = of_smooth_curve + change_points.log_evidence
    return replace(
        state,
        mean=state.mean + (white[:, None] @ Q)[:, 0],
        rows=np.concatenate([state.rows, Q], axis=1),
        rows_over_bins=np.concatenate([state.rows_over_bins, over_bins], axis=1),
        rows_over_even=np.concatenate([state.rows_over_even, even], axis=1),
        applied=state.rows.shape[1],
        covariance_before=state.smooth_covariance,
        star_variance_before=state.star_variance,
        log_evidences_by_share=log_evidences_by_share,
        squared_norms=np.column_stack([state.squared_norms, (white * white).sum(axis=1)]),
        change_points=change_points,
        effects=effects,
        log_evidence=log_evidence,
    )


def _over_bins(of_f: FloatArray, phi: FloatArray, label: IndexArray) -> FloatArray:
    """Return the products (A, r, M) of ``of_f`` (A, r, k) with the features of each model's kernel, phi (K, M, k)."""
    return np.stack([each @ phi[kernel].T for each, kernel in zip(of_f, label, strict=True)])


def _whitened(S: FloatArray, surprise: FloatArray, s: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return L, w = L^-1 surprise and log N(surprise; 0, S) for S = L L^T (A, r, r) and surprises (A, r)."""
    L = cholesky_factors(S, s**2)
    white = _solved(L, surprise[..., None])[..., 0]
    half_log_det: FloatArray = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
    log_density = -0.5 * (white * white).sum(axis=1) - half_log_det - 0.5 * S.shape[1] * _LOG_TWO_PI
    return L, white, log_density


def _solved(L: FloatArray, b: FloatArray) -> FloatArray:
    """Return L^-1 b for lower triangular L (A, r, r) and b (A, r, n). Zeros on a diagonal give infinities."""
    # the transposes are stored by columns, as BLAS expects matrices: X^T = b^T L^-T
    return np.stack([dtrsm(1.0, root.T, each.T, side=1).T for root, each in zip(L, b, strict=True)])


def cholesky_factors(S: FloatArray, least: float) -> FloatArray:
    """Return the Cholesky factors of A covariances (A, r, r), even if rounding has made some of them indefinite.

    Args:
        least: a lower bound of their eigenvalues, see ``linalg.sturdy_cholesky``.
    """
    try:
        L = np.linalg.cholesky(S)
        if np.isfinite(L).all():
            return np.asarray(L)
    except np.linalg.LinAlgError:
        pass
    return np.stack([sturdy_cholesky(each, least) for each in S])


def _outer(a: FloatArray) -> FloatArray:
    """Return the outer product of ``a`` (M,) with itself."""
    return np.outer(a, a)


def _common(
    one: Clipped, shift: FloatArray, v: FloatArray, spread: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Return the variance of E(clip(r) | f) about its linear part (A, M), by Gauss-Hermite quadrature over f.

    The records of a bin have this variance in common, because they share f.

    Args:
        one: moments of a clipped residual.
        shift: posterior mean of f - g (A, M).
        v: posterior variance of f (A, M).
        spread: variance of a residual given f (A, M).
        low, high: clipping interval of each bin (M,).
    """
    points, weights = _HERMITE
    off = clipped_mean(shift + np.sqrt(v) * points[:, None, None], spread, low, high) - one.mean
    square = np.tensordot(weights / weights.sum(), off * off, axes=1)
    common: FloatArray = np.clip(square - one.gain**2 * v, 0.0, one.extra)
    return common
