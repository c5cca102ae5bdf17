"""Exact GP regression by one Cholesky factorisation of K = K_ff + noise_variance I."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel


def output_covariance(kernel: Kernel, X: FloatArray, noise_variance: float) -> FloatArray:
    """Prior covariance of the observed outputs, K = K_ff + noise_variance I, shape (n, n).

    Raises:
        ValueError: noise_variance is not positive.
    """
    check_positive("noise_variance", noise_variance)
    K = kernel(X, X)
    K[np.diag_indices_from(K)] += noise_variance
    return K


def cloaking_matrix(kernel: Kernel, X: FloatArray, X_test: FloatArray, noise_variance: float) -> FloatArray:
    """C = K_*f K^-1 (P, n): the posterior mean at X_test is C y, so column j is what record j can do.

    Raises:
        ValueError: noise_variance is not positive, or X and X_test differ in their number of columns.

    Source: Smith et al. 2018, eq. 8.
    """
    check_columns(X, X_test)
    factor = cho_factor(output_covariance(kernel, X, noise_variance), lower=True, overwrite_a=True)
    # C = K_*f K^-1 = (K^-1 K_f*)^T, K symmetric
    return np.ascontiguousarray(cho_solve(factor, kernel(X, X_test)).T)


def posterior(
    kernel: Kernel, X: FloatArray, y: FloatArray, X_test: FloatArray, noise_variance: float
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean (P,) and covariance (P, P) of the latent f at X_test. Not private.

    The covariance does not depend on y and may be published where X is public.

    Args:
        y: outputs (n,) in model units, zero prior mean.

    Raises:
        ValueError: as for ``cloaking_matrix``.

    Source: Rasmussen & Williams 2006, eqs 2.25-2.26.
    """
    C = cloaking_matrix(kernel, X, X_test, noise_variance)
    # mean = C y;  covariance = K_** - K_*f K^-1 K_f* = K_** - C K_f*
    return C @ y, kernel(X_test, X_test) - C @ kernel(X, X_test)


def check_columns(X: FloatArray, X_test: FloatArray) -> None:
    """Raise ValueError unless X (n, D) and X_test (P, D) are matrices with the same number of columns."""
    if X.ndim != 2 or X_test.ndim != 2 or X.shape[1] != X_test.shape[1]:
        raise ValueError(f"X and X_test must be 2-D with equally many columns, got shapes {X.shape} and {X_test.shape}")
