"""Posterior of the curve given a release of another mechanism than Bayes cloaking.

In such a release the strategy B (r, n) has a column for each record. Under a model, y = f(X) + e. A stage released
z = B ((clip(y, low, high) - o) / u) + noise, with the notation of ``update``. The moments of clipping make it a linear
observation of y with the matrix H = B diag(alpha / u) and the noise covariance B diag(extra / u^2) B^T + s^2 I. The
prior covariance of y is Phi Phi^T + diag(noise), so that no matrix (n, n) is formed. Everything here is post-processing
of z.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import softmax

from ..arrays import FloatArray
from ..gp.clipping import clipped
from ..gp.pivoted import factorise
from ..linalg import column_norms, sturdy_cholesky
from ..measurement.statistics import Statistics
from .mixture import Mixture
from .model import Model

# share of the prior variance that the features leave out, for up to ``_MANY`` records and for more
_EXACT, _LOOSE = 1e-12, 1e-6
_MANY = 1000
_LOG_TWO_PI = math.log(2 * math.pi)


class RecordModel(NamedTuple):
    """One model at n records and P test inputs. The prior covariance of (y, f_*) is phi phi^T plus a diagonal matrix.

    Attributes:
        phi: features (n + P, k), records first.
        noise: variance of y at the records that the features do not describe (n,): the noise variance plus the error of
            the features.
        variance: prior variance of y at the records and of f at the test inputs (n + P,).
        weight: prior weight of the model.
    """

    phi: FloatArray
    noise: FloatArray
    variance: FloatArray
    weight: float


def record_models(models: Sequence[Model], X: FloatArray, X_test: FloatArray) -> list[RecordModel]:
    """Return every model at records X (n, D) and test inputs X_test (P, D).

    Pivots are chosen among the records only, because given f at the records, what the features leave out of f at a test
    input is independent of y.
    """
    n, both, tolerance = len(X), np.vstack([X, X_test]), _EXACT if len(X) <= _MANY else _LOOSE
    features, found = dict[object, FloatArray](), []
    for model in models:
        if model.kernel not in features:
            features[model.kernel] = factorise(model.kernel, X, tolerance).features.at(both).values()
        phi, variance = features[model.kernel], model.kernel.diagonal(both)
        noise = model.noise_variance + np.maximum(variance[:n] - column_norms(phi[:n].T), 0.0)
        variance = variance + np.where(np.arange(len(both)) < n, model.noise_variance, 0.0)
        found.append(RecordModel(phi, noise, variance, model.weight))
    return found


class RecordPosterior(NamedTuple):
    """Posterior of f at P test inputs under each of m models, in model units.

    Attributes:
        curve: the mixture of the predictions of the models.
        cross_covariances: Q (R, P) of each model, with which the covariance of f is K_** - Q^T Q.
        log_evidence: log p(z | model) (m,).
    """

    curve: Mixture
    cross_covariances: tuple[FloatArray, ...]
    log_evidence: FloatArray


def read_records(statistics: Statistics, models: Sequence[Model], X_test: FloatArray) -> RecordPosterior:
    """Return the posterior at X_test (P, D). Outcomes are assumed to be normal about the curve."""
    n, means, variances, shared, evidence = len(statistics.X), [], [], [], []
    for model in record_models(models, statistics.X, X_test):
        mean, variance, Q, log_density = _read(statistics, model)
        means.append(mean[n:])
        variances.append(np.maximum(variance[n:], 1e-14 * float(model.variance.max())))
        shared.append(Q[:, n:])
        evidence.append(log_density)
    log_evidence = np.array(evidence)
    curve = Mixture(
        means=np.array([means]),
        variances=np.array([variances]),
        noise_variances=np.array([model.noise_variance for model in models]),
        weights=softmax(np.log([model.weight for model in models]) + log_evidence)[None],
    )
    return RecordPosterior(curve, tuple(shared), log_evidence)


def _read(statistics: Statistics, model: RecordModel) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the posterior of y at the records and f at the test inputs under one model.

    The four values are the mean and the variance (n + P,), Q (R, n + P), and log p(z | model). With K the covariance
    before a stage, each stage computes

        S = H K H^T + B diag(extra / u^2) B^T + s^2 I = L L^T,    E z = B ((E clip(y) - o) / u),
        Q' = L^-1 H K,    mean += Q'^T L^-1 (z - E z),    variance -= squared norms of the columns of Q'.
    """
    n, phi, variance = len(statistics.X), model.phi, model.variance
    mean, Q, log_density = np.zeros(len(variance)), np.zeros((0, len(variance))), 0.0
    for stage in statistics.stages:
        m = stage.measurement
        low, high = ((end - statistics.midpoint) / statistics.y_scale for end in (m.low, m.high))
        width, middle, B = high - low, (high + low) / 2, m.B
        expected, gain, extra = clipped(mean[:n], variance[:n], low, high)
        H, scaled = B * (gain / width), B * (np.sqrt(extra) / width)
        cross = (H @ phi[:n]) @ phi.T - (H @ Q[:, :n].T) @ Q
        cross[:, :n] += H * model.noise
        S = cross[:, :n] @ H.T + scaled @ scaled.T + m.noise_sd**2 * np.eye(len(B))
        L = sturdy_cholesky(S, m.noise_sd**2)
        surprise = stage.z - B @ ((expected - middle) / width)
        white = solve_triangular(L, np.column_stack([surprise, cross]), lower=True, check_finite=False)
        w, new = white[:, 0], white[:, 1:]
        log_density -= 0.5 * float(w @ w) + float(np.log(L.diagonal()).sum()) + 0.5 * len(B) * _LOG_TWO_PI
        mean, variance, Q = mean + w @ new, variance - column_norms(new), np.vstack([Q, new])
    return mean, variance, Q, log_density
