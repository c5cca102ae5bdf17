"""Sample paths of a Gaussian process at given points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cholesky, solve_triangular

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg import check_columns
from .regression import output_covariance

_JITTER = 1e-10  # relative to the variance, like white noise of 1e-5 prior standard deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class Process:
    """A Gaussian process f ~ GP(mean, covariance).

    Attributes:
        mean: function from inputs (P, D) to means (P,).
        covariance: function from inputs (P, D) and (Q, D) to covariances (P, Q).
        variance: upper bound on the variance of f(x) for all x; rounding errors are relative to it.
    """

    mean: Callable[[FloatArray], FloatArray]
    covariance: Callable[[FloatArray, FloatArray], FloatArray]
    variance: float


def posterior_process(
    kernel: Kernel, X: FloatArray, y: FloatArray, r: float, sigma: float, eta: float = 0.0
) -> Process:
    """Return the posterior GP(mu_D, sigma^2 k_D + eta^2 k). Its mean and covariance are private.

    mu_D(x) = k_x^T (K + r^2 I)^-1 y,    k_D(x, x') = k(x, x') - k_x^T (K + r^2 I)^-1 k_x'

    Args:
        kernel: normalised covariance function k.
        y: outputs (n,) in model units.
        r: square root of the effective ridge, > 0; the model's noise variance is sigma^2 r^2.
        sigma: kernel scale, > 0, in model units.
        eta: scale >= 0 of additional noise from the GP prior, in model units.

    Source: Rasmussen & Williams 2006, eqs 2.25-2.26; Maciazek 2026, eq. 5, for eta.
    """
    factor, lower = cho_factor(output_covariance(kernel, X, r * r), lower=True, overwrite_a=True)
    whitened_y = solve_triangular(factor, y, lower=lower)

    def whitened(Z: FloatArray) -> FloatArray:
        check_columns(X, Z)
        return solve_triangular(factor, kernel(X, Z), lower=lower)

    def covariance(Z: FloatArray, W: FloatArray) -> FloatArray:
        # with T T^T = K + r^2 I: k_D = k - (T^-1 k_z)^T (T^-1 k_w)
        reduced = whitened(Z).T @ whitened(W)
        return np.asarray((sigma**2 + eta**2) * kernel(Z, W) - sigma**2 * reduced)

    variance = (sigma**2 + eta**2) * kernel.variance
    return Process(mean=lambda Z: whitened(Z).T @ whitened_y, covariance=covariance, variance=variance)


def draw_paths(process: Process, X: FloatArray, draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return independent sample paths (draws, P) at X (P, D), and a factor L (P, k) of their covariance L L^T.

    Equal points get equal values. Sampling takes one Cholesky factorisation at the test points, P^3 / 3 operations for
    any number of paths. Matheron's rule is not used because it needs a prior path at all n inputs too.

    Args:
        process: process from which paths are sampled.
        X: test points (P, D).
    """
    rows = np.ascontiguousarray(X, dtype=float) + 0.0  # -0.0 and 0.0 are one point
    number = dict[bytes, int]()
    index = [number.setdefault(row.tobytes(), len(number)) for row in rows]
    points = np.array([np.frombuffer(key) for key in number])
    root = _cholesky(process.covariance(points, points), _JITTER * process.variance)
    values = process.mean(points) + rng.standard_normal((draws, len(points))) @ root.T
    return values[:, index], root[index]


def _cholesky(S: FloatArray, jitter: float) -> FloatArray:
    while True:
        try:
            return np.asarray(cholesky(S + jitter * np.eye(len(S)), lower=True))
        except np.linalg.LinAlgError:
            jitter *= 10
