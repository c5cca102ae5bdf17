"""The posterior of what was released over records, by another computation: dense, observations of outputs stacked."""

import numpy as np
from scipy.linalg import block_diag

from dpgp_core.bayes.readers import measured_of
from dpgp_core.gp.clipping import clipped
from dpgp_core.gp.regression import output_covariance


def condition(A, Z, N, cross, K, prior):
    """Mean and covariance of a Gaussian x of covariance ``prior``, Cov(x, y) = ``cross``, given Z = A y + N(0, N)."""
    gain = np.linalg.solve(A @ K @ A.T + N, A @ cross.T).T
    return gain @ Z, prior - gain @ A @ cross.T


def clipped_observation(stage, mean, variance):
    """A, Z, N of a stage as a linear observation of outputs that were clipped to its intervals.

    With k, alpha, extra of y ~ N(m, v): A = B diag(alpha / u), Z = z - B ((k - alpha m - o) / u),
    N = B diag(extra / u^2) B^T + s^2 I.
    """
    B, low, high = stage.B, stage.low[0], stage.high[0]
    k, gain, extra = clipped(mean, variance, low, high)
    width, scaled = high - low, B * (np.sqrt(extra) / (high - low))
    Z = stage.z[0] - B @ ((k - gain * mean - (low + high) / 2) / width)
    return B * (gain / width), Z, scaled @ scaled.T + stage.noise_multiplier**2 * np.eye(len(B))


def posterior_of(statistics, kernel, noise, X_test):
    """Mean (P,) and covariance (P, P) of f at X_test, in model units, clipping taken to have no bias."""
    X = statistics.X
    K = output_covariance(kernel, X, noise)
    mean, covariance, seen = np.zeros(len(X)), K, []
    for stage in measured_of(statistics).stages:
        seen.append(clipped_observation(stage, mean, np.diag(covariance)))
        A, Z, N = (
            np.vstack([a for a, _, _ in seen]),
            np.concatenate([z for _, z, _ in seen]),
            block_diag(*[n for *_, n in seen]),
        )
        mean, covariance = condition(A, Z, N, K, K, K)
    return condition(A, Z, N, kernel(X_test, X), K, kernel(X_test, X_test))
