"""Posterior paths and Hall's release on a grid, in batches of training sets, and their pointwise distributions."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from ..arrays import FloatArray
from ..gp.exact import posterior
from ..kernels import Kernel
from .sets import Targets

_LEAST_VARIANCE = 1e-12  # of k_D, where rounding would make it negative
_LEAST_JITTER, _MOST_JITTER = 1e-12, 1e-6  # relative to the largest variance


def posterior_marginals(
    kernel: Kernel, X: FloatArray, y: FloatArray, grid: FloatArray, ridges: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean mu_D and variance k_D (both (R, P)) at every grid point for R ridges. Not private.

    K = U diag(v) U^T and A = K_*f U give, for every q without another factorisation,
    mu = A (U^T y / (v + q)) and k_D = k(x, x) - A^2 / (v + q).

    Args:
        kernel: covariance function with k(x, x) = 1.
        X: inputs (n, D).
        y: outputs (n,), in model units.
        grid: test points (P, D).
        ridges: q = r^2 > 0, (R,).
    """
    v, U = np.linalg.eigh(kernel(X, X))
    A = kernel(grid, X) @ U
    inverse = 1 / (np.maximum(v, 0.0) + ridges[:, None])
    mean = (inverse * (U.T @ y)) @ A.T
    variance = kernel.diagonal(grid) - inverse @ (A * A).T
    return mean, np.maximum(variance, _LEAST_VARIANCE)


def posterior_paths(
    kernel: Kernel, targets: Targets, ridge: float, scale: float, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw paths f ~ GP(mu_D, s^2 k_D) on the grid, (T, count, P), in model units.

    f = mu_D + s F z, F F^T = k_D, z standard normal.

    Args:
        kernel: covariance function with k(x, x) = 1.
        targets: T training sets and their grid.
        ridge: q = r^2 > 0.
        scale: s >= 0; the model's noise variance is s^2 q.
        count: paths per training set.
        rng: source of the paths.

    Source: Maciazek 2026, eq. 1.
    """
    paths = np.empty((len(targets), count, len(targets.grid)))
    for path, X, y in zip(paths, targets.X, targets.y, strict=True):
        mean, covariance = posterior(kernel, X, y, targets.grid, ridge)
        path[:] = mean + scale * _draws(_factor(covariance), count, rng)
    return paths


def hall_mean(kernel: Kernel, X: FloatArray, y: FloatArray, grid: FloatArray, ridge: float) -> FloatArray:
    """Kernel sum (1/q) sum_i y_i k(x, x_i) at every grid point (P,), in model units. Not private."""
    return kernel(grid, X) @ y / ridge


def hall_paths(
    kernel: Kernel, targets: Targets, ridge: float, noise: float, count: int, rng: np.random.Generator
) -> FloatArray:
    """Draw (1/q)[sum_i y_i k(., x_i) + c G], G ~ GP(0, k), on the grid: (T, count, P), in model units.

    Args:
        kernel: non-negative covariance function with k(x, x) = 1.
        targets: T training sets and their grid.
        ridge: q = r^2 > 0.
        noise: c, in model units.
        count: paths per training set.
        rng: source of the paths.

    Source: Hall, Rinaldo & Wasserman 2013, with the kernel sum as the released function.
    """
    F = _factor(kernel(targets.grid, targets.grid))
    means = [hall_mean(kernel, X, y, targets.grid, ridge) for X, y in zip(targets.X, targets.y, strict=True)]
    return np.stack([mean + noise / ridge * _draws(F, count, rng) for mean in means])


def _draws(F: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((count, len(F))) @ F.T


def _factor(covariance: FloatArray) -> FloatArray:
    """Lower F with F F^T = covariance + jitter: independent noise on a release costs no privacy."""
    largest, jitter = covariance.diagonal().max(), _LEAST_JITTER
    while True:
        try:
            factor: FloatArray = cholesky(covariance + jitter * largest * np.eye(len(covariance)), lower=True)
            return factor
        except LinAlgError:
            if jitter >= _MOST_JITTER:
                raise
            jitter *= 100
