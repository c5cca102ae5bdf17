"""Gaussian process posterior given linear observations of the outputs: privacy noise is part of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import block_diag, cholesky, solve_triangular

from ..arrays import FloatArray
from ..gp.exact import check_columns, output_covariance
from ..kernels import Kernel


@dataclass(frozen=True, kw_only=True, eq=False)
class Observation:
    """One stage as a linear observation of the outputs: Z = A y + e, e ~ N(0, N), in model units of zero prior mean.

    Attributes:
        A: (r, n).
        Z: (r,).
        N: covariance (r, r) of everything in Z that is not A y: privacy noise, and what clipping adds.
    """

    A: FloatArray
    Z: FloatArray
    N: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Posterior:
    """Gaussian posterior of f at P test points under one model, in model units, privacy noise included.

    Attributes:
        mean: K_*f A^T S^-1 Z (P,).
        root: W (R, P) with W^T W = K_*f A^T S^-1 A K_f*: what was learnt.
        prior_variance: k(x, x) at the test points (P,).
        noise_variance: of the model's observation noise.
        log_evidence: log N(Z; 0, S).
    """

    mean: FloatArray
    root: FloatArray
    prior_variance: FloatArray
    noise_variance: float
    log_evidence: float

    @property
    def variance(self) -> FloatArray:
        """Of f at each test point (P,)."""
        variance: FloatArray = self.prior_variance - np.einsum("ij,ij->j", self.root, self.root)
        return np.maximum(variance, 0.0)


def condition(
    observations: Sequence[Observation], kernel: Kernel, noise_variance: float, X: FloatArray, X_test: FloatArray
) -> Posterior:
    """Posterior of f at X_test given stacked observations Z = A y + e of y = f(X) + noise.

    S = A K A^T + N, K = K_ff + noise_variance I; mean = K_*f A^T S^-1 Z, covariance = K_** - K_*f A^T S^-1 A K_f*.

    Args:
        observations: one or more.
        kernel: covariance function of f, in squared model units.
        noise_variance: > 0, of the outputs about f, in squared model units.
        X: place of each column (n, D).
        X_test: test points (P, D).

    Raises:
        ValueError: noise_variance is not positive, or X and X_test differ in their number of columns.

    Source: Rasmussen & Williams 2006, eqs 2.25-2.26 and 2.30, for the linear map A.
    """
    check_columns(X, X_test)
    A, L, white = _whitened(observations, output_covariance(kernel, X, noise_variance))
    root = solve_triangular(L, A @ kernel(X, X_test), lower=True, check_finite=False)
    # log N(Z; 0, S) = -|L^-1 Z|^2 / 2 - sum log L_ii - (R / 2) log 2 pi
    evidence = -white @ white / 2 - np.log(np.diag(L)).sum() - len(white) / 2 * math.log(2 * math.pi)
    return Posterior(
        mean=root.T @ white,
        root=root,
        prior_variance=kernel.diagonal(X_test),
        noise_variance=noise_variance,
        log_evidence=float(evidence),
    )


def predict_outputs(
    observations: Sequence[Observation], kernel: Kernel, noise_variance: float, X: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean (n,) and variance (n,) of the very outputs that were measured, in model units.

    mean = K A^T S^-1 Z, variance = diag(K - K A^T S^-1 A K), K = K_ff + noise_variance I: their own noise was
    measured with them, so this is not the prediction of other outputs at the same places.

    Args:
        observations: one or more.
        kernel: covariance function of f, in squared model units.
        noise_variance: > 0, of the outputs about f, in squared model units.
        X: place of each column (n, D).

    Raises:
        ValueError: noise_variance is not positive.
    """
    K = output_covariance(kernel, X, noise_variance)
    A, L, white = _whitened(observations, K)
    root = solve_triangular(L, A @ K, lower=True, check_finite=False)
    return root.T @ white, np.diag(K) - np.einsum("ij,ij->j", root, root)


def _whitened(observations: Sequence[Observation], K: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Stacked A, L with L L^T = S = A K A^T + N, and L^-1 Z."""
    A, Z = np.vstack([o.A for o in observations]), np.concatenate([o.Z for o in observations])
    L = cholesky(A @ K @ A.T + block_diag(*[o.N for o in observations]), lower=True, check_finite=False)
    return A, L, solve_triangular(L, Z, lower=True, check_finite=False)
