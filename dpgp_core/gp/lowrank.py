"""GP regression with K_ff ~ V V^T by pivoted Cholesky: O(n r^2) time and O(n r) memory for n records and rank r.

A smooth kernel in few dimensions has a covariance matrix of small numerical rank r whatever n. Row i of V is
phi(x_i)^T with phi(x) = L^-1 k(Z, x), Z the pivots and L L^T = k(Z, Z), so V of any inputs is one triangular
solve, and C = K_*f K^-1 ~ V_* (V^T V + noise I)^-1 V^T.

Privacy does not depend on the approximation: noise is calibrated to the very matrix C whose C y is released,
and pivots are chosen from inputs alone. What an approximation costs is accuracy, measured by its residual.
"""

from __future__ import annotations

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from .exact import check_columns
from .pivoted import TOLERANCE, factorise


def cloaking_matrix(
    kernel: Kernel, X: FloatArray, X_test: FloatArray, noise_variance: float, tolerance: float = TOLERANCE
) -> FloatArray:
    """C ~ K_*f K^-1 (P, n), as ``gp.exact.cloaking_matrix`` gives it but for the residual. Any C may be cloaked.

    Args:
        kernel: covariance function of the latent f.
        X: training inputs (n, D).
        X_test: test inputs (P, D).
        noise_variance: variance > 0 of the observation noise, in squared model units.
        tolerance: see ``factorise``.

    Raises:
        ValueError: as ``factorise``; noise_variance is not positive; X and X_test differ in their columns.
    """
    check_positive("noise_variance", noise_variance)
    check_columns(X, X_test)
    return factorise(kernel, X, tolerance).matrix(X_test, noise_variance).dense()


def posterior(
    kernel: Kernel,
    X: FloatArray,
    y: FloatArray,
    X_test: FloatArray,
    noise_variance: float,
    tolerance: float = TOLERANCE,
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean (P,) and covariance (P, P) of the latent f at X_test. Not private.

    Covariance K_** - Q_*f (Q_ff + noise I)^-1 Q_f* with Q = V V^T, which is
    K_** - V_* V_*^T + noise V_* (V^T V + noise I)^-1 V_*^T.

    Args:
        kernel: covariance function of the latent f.
        X: training inputs (n, D).
        y: outputs (n,) in model units, zero prior mean.
        X_test: test inputs (P, D).
        noise_variance: variance > 0 of the observation noise, in squared model units.
        tolerance: see ``factorise``.

    Raises:
        ValueError: as for ``cloaking_matrix``.
    """
    check_positive("noise_variance", noise_variance)
    check_columns(X, X_test)
    low = factorise(kernel, X, tolerance)
    C, V_test = low.matrix(X_test, noise_variance), low.features.at(X_test).values()
    covariance = kernel(X_test, X_test) - V_test @ V_test.T + noise_variance * C.left @ V_test.T
    return C @ y, covariance
