"""Low-rank GP inference by a pivoted Cholesky factorisation K_ff ~ V V^T.

Row i of V is phi(x_i)^T with phi(x) = L^-1 k(Z, x), where Z are the pivots and L L^T = k(Z, Z). Features at any inputs
are therefore computed by one triangular solve. ``factorise`` chooses the pivots in passes over blocks of inputs. It
uses inputs only, and computes the residual over all of them.
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
    """Matrix V (n, r) with rows phi(x_i)^T = (L^-1 k(Z, x_i))^T, computed on demand.

    Attributes:
        kernel: covariance function k.
        Z: pivots (r, D), some of the inputs.
        root: L (r, r), lower triangular, with L L^T = k(Z, Z).
    """

    kernel: Kernel
    Z: FloatArray
    root: FloatArray
    X: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, r)."""
        return len(self.X), len(self.Z)

    def __getitem__(self, index: Index) -> Features:
        """Return the features of the inputs at ``index``, not computed yet."""
        return Features(self.kernel, self.Z, self.root, self.X[index])

    def at(self, X: FloatArray) -> Features:
        """Return the features of other inputs X (m, D), not computed yet."""
        return Features(self.kernel, self.Z, self.root, X)

    def values(self) -> FloatArray:
        """Compute V (n, r)."""
        return np.ascontiguousarray(whitened_features(self.kernel, self.Z, self.root, self.X))


@dataclass(frozen=True, eq=False)
class StoredFeatures:
    """Features with V kept in memory, computed block by block.

    Rows that are picked by an index array are computed again, as the workers of a cluster do. Taking them from V would
    give different rounding errors. The noise design would then choose other working sets, and the noise would be
    equally good but not the same.
    """

    features: Features
    V: FloatArray

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, r)."""
        return self.features.shape

    def __getitem__(self, index: Index) -> Features | FloatArray:
        """Return rows of V for a slice, and features that are not computed yet for an index array."""
        return self.V[index] if isinstance(index, slice) else self.features[index]

    def values(self) -> FloatArray:
        """Return V (n, r)."""
        return self.V


@dataclass(frozen=True, kw_only=True, eq=False)
class LowRank:
    """A low-rank factorisation K_ff ~ V V^T.

    Attributes:
        features: features of the training inputs, whose rows form V.
        rows: V (n, r), as ``features`` or kept in memory.
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
        """Return T (r, r), upper triangular, with T^T T = V^T V + noise_variance I, without forming V^T V."""
        return upper(np.vstack([self.triangle, math.sqrt(noise_variance) * np.eye(self.rank)]))

    def matrix(self, X_test: FloatArray, noise_variance: float) -> FactoredMatrix:
        """Return C = V_* (V^T V + noise_variance I)^-1 V^T at test inputs X_test (P, D), as a product of factors."""
        check_columns(self.features.X, X_test)
        V_test = self.features.at(X_test).values()
        return FactoredMatrix(_solve(self.solved(noise_variance), V_test.T).T, self.rows, self.triangle)

    def variance(self, X_test: FloatArray, noise_variance: float) -> FloatArray:
        """Return the posterior variance (P,) of f at X_test (P, D): diag(K_** - Q_*f (Q_ff + noise I)^-1 Q_f*)."""
        V_test = self.features.at(X_test).values()
        # diag(K_** - V_* V_*^T) + noise |T^-T v_*|^2
        spread = solve_triangular(self.solved(noise_variance), V_test.T, trans="T", check_finite=False)
        unexplained = np.maximum(self.features.kernel.diagonal(X_test) - column_norms(V_test.T), 0)
        return unexplained + noise_variance * column_norms(spread)

    def sensitivity(self, noise_variance: float, executor: Executor | None = None) -> float:
        """Return the largest change of the posterior mean, in the RKHS norm, per unit change of one output.

        It is max_j |(V^T V + noise I)^-1 v_j|, because the mean f(x) = phi(x)^T w = sum_z (L^-T w)_z k(z, x) has the
        squared norm w^T L^-1 k(Z, Z) L^-T w = |w|^2.
        """
        inverse = _solve(self.solved(noise_variance), np.eye(self.rank))
        return math.sqrt(norms(Columns(self.rows), inverse, executor).max())


def _solve(T: FloatArray, b: FloatArray) -> FloatArray:
    """Return (T^T T)^-1 b."""
    return np.asarray(solve_triangular(T, solve_triangular(T, b, trans="T", check_finite=False), check_finite=False))


TOLERANCE = 1e-12
LARGEST_RANK = 2000
_LOWEST_TOLERANCE = 1e-13  # residuals are differences of numbers with rounding errors of about 1e-14
_CANDIDATES = 2048  # number of inputs from which pivots are chosen at a time
_SUBSAMPLE = 32_768  # if there are more inputs, pivots are first chosen from so many evenly spaced ones
_ROUNDS = 8  # largest number of passes over all inputs; usually one or two are needed
_LARGEST_FACTOR = 5 * 10**8  # largest number of entries of V, 4 GB
_MISSED = (
    "the residual asked for is not reached with {most} pivots; use a longer lengthscale, a smoother kernel, "
    "a larger tolerance, or inducing inputs (CloakingInducing)"
)


class ToleranceMissedError(ValueError):
    """Raised when the tolerance needs a larger rank than is allowed."""


def factorise(
    kernel: Kernel,
    X: FloatArray,
    tolerance: float = TOLERANCE,
    *,
    largest_rank: int | None = None,
    executor: Executor | None = None,
) -> LowRank:
    """Factorise K_ff: choose pivots until the residual is at most ``tolerance``.

    Pivots are chosen greedily from a subset of the inputs. Then further ones are added where the residual is large.

    Args:
        tolerance: bound on tr(K_ff - V V^T) / tr K_ff, in [1e-13, 1).
        largest_rank: largest number of pivots; default 2000, or fewer if V would exceed 4 GB.
        executor: runs the passes over blocks of inputs, see ``Columns.over_blocks``. If its workers do not share this
            memory, V is not kept, and they compute their blocks of it when needed.

    Raises:
        ToleranceMissedError: the rank needed is larger.
        ValueError: tolerance is out of range.

    Source: Harbrecht, Peters & Schneider 2012 for the trace criterion; LAPACK dpstrf on the candidates.
    """
    check_tolerance(tolerance)
    n, prior = len(X), kernel.diagonal(X)
    most = min(n, LARGEST_RANK, max(1, _LARGEST_FACTOR // n)) if largest_rank is None else min(n, largest_rank)
    features, left = Features(kernel, X[:0], np.zeros((0, 0)), X), prior
    if n > _SUBSAMPLE:  # passes over all inputs are expensive, so start with pivots of evenly spaced inputs
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
    """Return |v_i|^2 (n,), the triangle R and, if it is kept, V, in one pass over all inputs."""
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
    """Add pivots among inputs with large residuals ``left`` (n,); if there are none, return ``features`` unchanged."""
    X = features.X[_candidates(left, target, first=len(features.Z) == 0)]
    V = features.at(X).values()
    # The Schur complement S = k(X, X) - V V^T of the pivots so far is factorised in pivoted order, S = A A^T.
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
    """Return indices of up to ``_CANDIDATES`` inputs among which pivots are chosen.

    At first they are evenly spaced in the order of the inputs. Later, half of them are those with the largest
    residuals.
    """
    large = np.arange(len(left)) if first else np.flatnonzero(left > target / 8)
    if len(large) <= _CANDIDATES:
        return large
    half = _CANDIDATES // 2
    spaced = large[:: -(-len(large) // (_CANDIDATES if first else half))]
    return spaced if first else np.union1d(spaced, large[np.argpartition(left[large], -half)[-half:]])
