"""A covariance matrix of low rank, K_ff ~ V V^T, and what follows from it.

Row i of V is phi(x_i)^T with phi(x) = L^-1 k(Z, x), Z the pivots and L L^T = k(Z, Z): V at any inputs is one
triangular solve.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg.blocks import Columns, FactoredMatrix, Index, Rows, norms, upper
from ..linalg.dense import column_norms
from .exact import check_columns
from .variational import whitened_features


@dataclass(frozen=True, eq=False)
class Features:
    """Rows phi(x_i)^T = (L^-1 k(Z, x_i))^T, shape (n, r), computed when asked.

    Attributes:
        kernel: covariance function.
        Z: pivots (r, D), some of the inputs.
        root: L (r, r), lower triangular, L L^T = k(Z, Z).
        X: inputs (n, D).
    """

    kernel: Kernel
    Z: FloatArray
    root: FloatArray
    X: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(n, r)."""
        return len(self.X), len(self.Z)

    def __getitem__(self, index: Index) -> Features:
        """The features of the inputs at ``index``."""
        return Features(self.kernel, self.Z, self.root, self.X[index])

    def at(self, X: FloatArray) -> Features:
        """The features of other inputs X (m, D)."""
        return Features(self.kernel, self.Z, self.root, X)

    def values(self) -> FloatArray:
        """V (n, r)."""
        return np.ascontiguousarray(whitened_features(self.kernel, self.Z, self.root, self.X))


@dataclass(frozen=True, eq=False)
class Kept:
    """Features with V kept in memory, block by block as a cluster's workers compute it.

    Picked rows are computed anew, as they are there: a product over other columns rounds differently, and
    the noise design would then choose other working sets, with noise that is as good but not the same.
    """

    features: Features
    V: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """(n, r)."""
        return self.features.shape

    def __getitem__(self, index: Index) -> Features | FloatArray:
        """Rows of V for a slice; features, not yet computed, for picked rows."""
        return self.V[index] if isinstance(index, slice) else self.features[index]

    def values(self) -> FloatArray:
        """V (n, r)."""
        return self.V


@dataclass(frozen=True, kw_only=True, eq=False)
class LowRank:
    """K_ff ~ V V^T.

    Attributes:
        features: V as features of the training inputs.
        rows: V (n, r): the same, or kept as an array.
        triangle: R (r, r) with R^T R = V^T V.
        residual: tr(K_ff - V V^T) / tr K_ff over all n inputs, >= 0 up to rounding.
    """

    features: Features
    rows: Rows
    triangle: FloatArray
    residual: float

    @property
    def rank(self) -> int:
        """Number r of pivots."""
        return len(self.features.Z)

    def solved(self, noise_variance: float) -> FloatArray:
        """T (r, r), upper triangular, with T^T T = V^T V + noise_variance I; V^T V itself is never formed."""
        return upper(np.vstack([self.triangle, math.sqrt(noise_variance) * np.eye(self.rank)]))

    def matrix(self, X_test: FloatArray, noise_variance: float) -> FactoredMatrix:
        """C = V_* (V^T V + noise_variance I)^-1 V^T at test inputs X_test (P, D), as a product."""
        check_columns(self.features.X, X_test)
        V_test = self.features.at(X_test).values()
        return FactoredMatrix(_solve(self.solved(noise_variance), V_test.T).T, self.rows, self.triangle)

    def variance(self, X_test: FloatArray, noise_variance: float) -> FloatArray:
        """Posterior variance of f at X_test (P, D), shape (P,): K_** - Q_*f (Q_ff + noise I)^-1 Q_f*, its diagonal."""
        V_test = self.features.at(X_test).values()
        # diag(K_** - V_* V_*^T) + noise |T^-T v_*|^2
        spread = solve_triangular(self.solved(noise_variance), V_test.T, trans="T", check_finite=False)
        unexplained = np.maximum(self.features.kernel.diagonal(X_test) - column_norms(V_test.T), 0)
        return unexplained + noise_variance * column_norms(spread)

    def sensitivity(self, noise_variance: float, executor: Executor | None = None) -> float:
        """Largest RKHS shift of the posterior mean per unit change of one output, max_j |(V^T V + noise I)^-1 v_j|.

        The mean is f(x) = phi(x)^T w = sum_z (L^-T w)_z k(z, x), of squared norm w^T L^-1 k(Z, Z) L^-T w = |w|^2.
        """
        inverse = _solve(self.solved(noise_variance), np.eye(self.rank))
        return math.sqrt(norms(Columns(self.rows), inverse, executor).max())


def _solve(T: FloatArray, b: FloatArray) -> FloatArray:
    """(T^T T)^-1 b."""
    solved: FloatArray = solve_triangular(T, solve_triangular(T, b, trans="T", check_finite=False), check_finite=False)
    return solved
