"""A covariance matrix of low rank, K_ff ~ V V^T, and inference with it.

Row i of V is phi(x_i)^T with phi(x) = L^-1 k(Z, x), Z the pivots and L L^T = k(Z, Z): V at any inputs is one
triangular solve. Pivoted Cholesky finds them in passes over blocks of inputs (``factorise``): they are chosen from
inputs alone, and the residual is measured over all inputs.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpstrf

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg import BLOCK, Columns, FactoredMatrix, Index, Rows, check_columns, column_norms, norms, upper
from .inducing import whitened_features


@dataclass(frozen=True, eq=False)
class Features:
    """Rows phi(x_i)^T = (L^-1 k(Z, x_i))^T, shape (n, r), computed on demand.

    Attributes:
        Z: pivots (r, D), some of the inputs.
        root: L (r, r), lower triangular, L L^T = k(Z, Z).
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
class StoredFeatures:
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
    return np.asarray(solve_triangular(T, solve_triangular(T, b, trans="T", check_finite=False), check_finite=False))


TOLERANCE = 1e-12
LARGEST_RANK = 2000
_LOWEST_TOLERANCE = 1e-13  # residuals are differences of numbers rounded at about 1e-14
_CANDIDATES = 2048  # inputs among which pivots are looked for at a time
_SUBSAMPLE = 32_768  # evenly spaced inputs whose residual is brought down first, where there are more
_ROUNDS = 8  # passes over all inputs; one or two suffice
_LARGEST_FACTOR = 5 * 10**8  # numbers in V, 4 GB
_MISSED = (
    "the residual asked for is not reached with {most} pivots; use a longer lengthscale, a smoother kernel, "
    "a larger tolerance, or inducing inputs (CloakingInducing)"
)


class ToleranceMissedError(ValueError):
    """The tolerance needs a larger rank than is allowed."""


def factorise(
    kernel: Kernel,
    X: FloatArray,
    tolerance: float = TOLERANCE,
    *,
    largest_rank: int | None = None,
    executor: Executor | None = None,
) -> LowRank:
    """Choose pivots until the residual is within ``tolerance``: greedily among some inputs, then where it is large.

    Args:
        tolerance: bound on tr(K_ff - V V^T) / tr K_ff, in [1e-13, 1).
        largest_rank: most pivots; default 2000, or as many as keep V within 4 GB.
        executor: runs the passes over blocks of inputs, see ``Columns.over_blocks``. Where its workers do not share
            this memory, V is not kept, and they compute their blocks of it when needed.

    Raises:
        ToleranceMissedError: the rank needed is larger.
        ValueError: tolerance is out of range.

    Source: Harbrecht, Peters & Schneider 2012 for the trace criterion; LAPACK dpstrf on the candidates.
    """
    check_tolerance(tolerance)
    n, prior = len(X), kernel.diagonal(X)
    most = min(n, LARGEST_RANK, max(1, _LARGEST_FACTOR // n)) if largest_rank is None else min(n, largest_rank)
    features, left = Features(kernel, X[:0], np.zeros((0, 0)), X), prior
    if n > _SUBSAMPLE:  # passes over all inputs are dear: start from the pivots of evenly spaced ones
        stricter = max(tolerance / 4, _LOWEST_TOLERANCE)
        features = factorise(kernel, X[:: -(-n // _SUBSAMPLE)], stricter, largest_rank=most).features.at(X)
    for round_ in range(_ROUNDS):
        before = len(features.Z)
        if round_ or not before:
            features = _extend(features, left, tolerance * float(prior.mean()), most)
        explained, triangle, V = _scan(features, executor)
        left = prior - explained
        residual = max(float(left.sum() / prior.sum()), 0.0)
        if residual <= tolerance:
            rows = features if V is None else StoredFeatures(features, V)
            return LowRank(features=features, rows=rows, triangle=triangle, residual=residual)
        if round_ and len(features.Z) == before:
            break
    raise ToleranceMissedError(_MISSED.format(most=len(features.Z)))


def check_tolerance(tolerance: float) -> None:
    """Raise ValueError unless ``tolerance`` is in [1e-13, 1)."""
    if not _LOWEST_TOLERANCE <= tolerance < 1:
        raise ValueError(f"tolerance must be in [{_LOWEST_TOLERANCE:g}, 1), got {tolerance}")


def _scan(features: Features, executor: Executor | None) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """|v_i|^2 (n,), the triangle and, where it is kept, V, by one pass over all inputs."""
    columns, V = Columns(features), None
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        V = np.empty(features.shape)
        for start, block in zip(columns.starts(), columns.over_blocks(Columns.values, executor), strict=True):
            V[start : start + BLOCK] = block.T
        columns = Columns(V)
    squares, triangles = zip(*columns.over_blocks(_block_scan, executor), strict=True)
    r = features.shape[1]
    return np.concatenate(squares), upper(np.vstack([*triangles, np.zeros((r, r))])), V


def _block_scan(block: Columns) -> tuple[FloatArray, FloatArray]:
    V = block.values().T
    return np.einsum("ij,ij->i", V, V), upper(V) if len(V) >= V.shape[1] else V


def _extend(features: Features, left: FloatArray, target: float, most: int) -> Features:
    """More pivots, among the inputs where much is left over (n,); the same if rounding leaves nothing to choose."""
    X = features.X[_candidates(left, target, first=len(features.Z) == 0)]
    V = features.at(X).values()
    # remainder about the pivots so far, S = k(X, X) - V V^T, in pivoted order A A^T
    S = features.kernel(X, X) - V @ V.T
    remaining = float(np.trace(S))
    A, order, rank, _ = dpstrf(S, lower=1, tol=target / 16, overwrite_a=1)
    A = np.tril(A[:, :rank])
    enough = int(np.searchsorted(column_norms(A).cumsum(), remaining - target / 16 * len(X))) + 1
    rank, old = min(rank, enough), len(features.Z)
    if old + rank > most:
        raise ToleranceMissedError(_MISSED.format(most=most))
    pivots = order[:rank] - 1
    root = np.zeros((old + rank, old + rank))
    root[:old, :old], root[old:, :old], root[old:, old:] = features.root, V[pivots], A[:rank, :rank]
    return Features(features.kernel, np.vstack([features.Z, X[pivots]]), root, features.X)


def _candidates(left: FloatArray, target: float, *, first: bool) -> NDArray[np.intp]:
    """Up to ``_CANDIDATES`` inputs: evenly spaced in their order at first, then half of them the worst."""
    large = np.arange(len(left)) if first else np.flatnonzero(left > target / 8)
    if len(large) <= _CANDIDATES:
        return large
    half = _CANDIDATES // 2
    spaced = large[:: -(-len(large) // (_CANDIDATES if first else half))]
    return spaced if first else np.union1d(spaced, large[np.argpartition(left[large], -half)[-half:]])
