"""Posterior of the curve given measured stages, computed densely with the joint covariance of all records."""

import numpy as np
from scipy.linalg import block_diag
from scipy.stats import multivariate_normal

from dpgp_core.bayes.queries import NOTHING, StageMeasurement
from dpgp_core.bayes.residuals import OUTLIERS, ResidualVariance
from dpgp_core.gp.clipping import clipped


def conditioned(model, X, X_test, stages):
    """Mean and covariance of (y, f_*) in model units and log evidence, if clipping has no bias.

    A stage is a linear observation of outputs clipped to its intervals. With k, alpha, extra of y ~ N(m, v):
    A = B diag(alpha / u), Z = z - B ((k - alpha m - o) / u), N = B diag(extra / u^2) B^T + s^2 I.
    """
    n, everywhere = len(X), np.vstack([X, X_test])
    joint = model.kernel(everywhere, everywhere) + model.noise_variance * np.diag([1.0] * n + [0.0] * len(X_test))
    A, Z, N = np.zeros((0, n)), np.zeros(0), np.zeros((0, 0))
    mean, covariance, log_evidence = np.zeros(len(joint)), joint, 0.0
    for stage in stages:
        low, high = stage.low, stage.high
        k, gain, extra = clipped(mean[:n], np.diag(covariance)[:n], low, high)
        u, o = high - low, (low + high) / 2
        A = np.vstack([A, stage.B * (gain / u)])
        Z = np.concatenate([Z, stage.z - stage.B @ ((k - gain * mean[:n] - o) / u)])
        own = stage.B @ np.diag(extra / u**2) @ stage.B.T + stage.s**2 * np.eye(len(stage.B))
        N = block_diag(N, own) if len(N) else own
        S = A @ joint[:n, :n] @ A.T + N
        log_evidence = multivariate_normal(np.zeros(len(S)), S).logpdf(Z)
        gain_matrix = joint[:, :n] @ A.T @ np.linalg.inv(S)
        mean, covariance = gain_matrix @ Z, joint - gain_matrix @ A @ joint[:n]
    return mean, covariance, log_evidence


def stages_of(statistics):
    """Stages of a statistic whose strategy has a column for each record, in model units."""
    found = []
    for stage in statistics.stages:
        m = stage.measurement
        low, high = ((end - statistics.midpoint) / statistics.y_scale for end in (m.low, m.high))
        found.append(StageMeasurement(m.B, low, high, m.noise_sd, NOTHING, stage.z))
    return found


def residual_variance_of(variance):
    """A known residual variance without outliers, for the clipping bias."""
    return ResidualVariance(variance, variance, np.zeros(len(OUTLIERS)))
