"""Sparse GP regression with inducing inputs: FITC, and the variational sparse GP of Titsias.

FITC has few degrees of freedom, so that isolated records move its mean less than that of the exact GP. In the
variational sparse GP the data enter only by two sums over records, A and B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import ClusterError, kmeans2
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from ..arrays import FloatArray
from ..checks import check_positive
from ..kernels import Kernel
from ..linalg import check_columns

_STEPS, _AT_A_TIME = 50, 5  # largest number of steps of k-means, and after how many it is checked whether it goes on
_RESTARTS = 5  # k-means finds local optima only; the best of a few runs is kept


def inducing_matrix(
    kernel: Kernel, X: FloatArray, X_test: FloatArray, Z: FloatArray, noise_variance: float
) -> FloatArray:
    """Return C = K_*u Q^-1 K_uf D^-1 (P, n): the FITC posterior mean at X_test is C y. The rank of C is at most m.

    D = diag(k(x, x) - k_u^T K_uu^-1 k_u + noise_variance),    Q = K_uu + K_uf D^-1 K_fu

    A jitter of 10 m eps tr(K_uu) is added to the diagonal of K_uu, about 1e-13 kernel variances for m = 10. With Z = X,
    C is the cloaking matrix of the exact GP up to a relative error of jitter / noise_variance.

    Args:
        Z: inducing inputs (m, D), chosen without the outputs.

    Raises:
        ValueError: noise_variance is not positive, or X, X_test and Z differ in their number of columns.

    Source: Snelson & Ghahramani 2006; Quinonero-Candela & Rasmussen 2005, eq. 24b; for cloaking, Lawrence 2017.
    """
    check_positive("noise_variance", noise_variance)
    check_columns(X, X_test)
    if Z.ndim != 2 or Z.shape[1] != X.shape[1] or len(Z) < 1:
        raise ValueError(f"Z must be one or more rows of {X.shape[1]} columns, like X, got shape {Z.shape}")
    # K_uu = L L^T;  V = L^-1 K_uf, so that K_fu K_uu^-1 K_uf = V^T V
    L = inducing_root(kernel, Z)
    V, V_test = (whitened_features(kernel, Z, L, inputs).T for inputs in (X, X_test))
    # The variance explained by the inducing inputs is at most k(x, x); rounding errors could make it larger.
    D = np.maximum(kernel.diagonal(X) - np.einsum("ij,ij->j", V, V), 0) + noise_variance
    # Q = L (I + V D^-1 V^T) L^T, so C = V_*^T (I + V D^-1 V^T)^-1 V D^-1
    scaled = V / D
    A = np.eye(len(Z)) + scaled @ V.T
    return np.asarray(V_test.T @ cho_solve(cho_factor(A, lower=True), scaled))


def declared_inputs(
    Z: Sequence[Sequence[float]] | None, number: object, *, different: bool = False
) -> tuple[tuple[float, ...], ...] | None:
    """Return declared inducing inputs as m rows of D numbers; None if their ``number`` is declared instead.

    Args:
        Z: inducing inputs, or None.
        number: number of inducing inputs, or None.
        different: whether all rows must be different.

    Raises:
        ValueError: both or neither are given, or the rows are invalid.
    """
    if (Z is None) == (number is None):
        raise ValueError("give either Z, the inducing inputs, or n_inducing, their number; not both, not neither")
    if Z is None:
        return None
    rows = tuple(tuple(float(value) for value in row) for row in Z)
    repeated = different and len(set(rows)) < len(rows)
    if not rows or len({len(row) for row in rows}) > 1 or not np.isfinite(rows).all() or repeated:
        kind = "different rows" if different else "rows"
        raise ValueError(f"Z must be one or more {kind} of equally many finite numbers, got {Z!r}")
    return rows


def choose_inducing(X: FloatArray, m: int, rng: np.random.Generator) -> FloatArray:
    """Choose inducing inputs Z (m, D) as the k-means centres of the public inputs, sorted.

    Columns are divided by their standard deviation for the clustering. If X has at most m distinct rows, Z is these
    rows.

    Args:
        m: number of inducing inputs, >= 1.
        rng: source of the random starting centres.

    Raises:
        ValueError: m < 1, or X is not a non-empty finite matrix.

    Source: Lloyd 1982; starting centres by k-means++ (Arthur & Vassilvitskii 2007).
    """
    if m < 1:
        raise ValueError(f"m must be at least 1 inducing input, got {m}")
    if X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise ValueError(f"X must be a finite matrix (n, D) with n, D >= 1, got shape {X.shape}")
    distinct = np.unique(X, axis=0)
    if len(distinct) <= m:
        return distinct
    scale = X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    centres = _kmeans(X / scale, m, rng)
    # If a cluster became empty in every run, some of the inputs themselves are taken.
    Z = rng.choice(distinct, m, replace=False) if centres is None else centres * scale
    return Z[np.lexsort(Z.T[::-1])]


def _kmeans(points: FloatArray, m: int, rng: np.random.Generator) -> FloatArray | None:
    """Return the centres of the best of a few k-means runs; None if a cluster became empty in each."""
    best, least = None, np.inf
    for _ in range(_RESTARTS):
        try:
            centres, nearest = _lloyd(points, m, rng)
        except ClusterError:
            continue
        spread = float(((points - centres[nearest]) ** 2).sum())
        if spread < least:
            best, least = centres, spread
    return best


def _lloyd(points: FloatArray, m: int, rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.integer[Any]]]:
    """Return centres (m, D) after ``_STEPS`` steps of Lloyd's algorithm, or fewer if more would change nothing, and the
    nearest centre of each point (n,) before the last step.

    Raises:
        ClusterError: a cluster became empty.
    """
    centres, nearest = kmeans2(points, m, iter=_AT_A_TIME, minit="++", missing="raise", rng=rng)
    for _ in range(_AT_A_TIME, _STEPS, _AT_A_TIME):
        before = centres
        centres, nearest = kmeans2(points, before, iter=_AT_A_TIME, minit="matrix", missing="raise")
        if np.array_equal(centres, before):
            break
    return centres, nearest


Features = Callable[[FloatArray], FloatArray]
"""Function that maps inputs (n, D) to features phi (n, m)."""

BLOCK = 8192  # number of rows processed at a time: a few MB for tens of inducing inputs


def inducing_root(kernel: Kernel, Z: FloatArray) -> FloatArray:
    """Return L (m, m), lower triangular, with L L^T = K_ZZ + jitter I and jitter = 10 m eps tr(K_ZZ).

    Raises:
        ValueError: Z is not a matrix with at least one row.
    """
    if Z.ndim != 2 or len(Z) < 1:
        raise ValueError(f"Z must be one or more rows of inducing inputs (m, D), got shape {Z.shape}")
    K = kernel(Z, Z)
    K[np.diag_indices_from(K)] += 10 * len(Z) * np.finfo(float).eps * np.trace(K)
    return np.asarray(cholesky(K, lower=True))


def whitened_features(kernel: Kernel, Z: FloatArray, root: FloatArray, X: FloatArray) -> FloatArray:
    """Return whitened features phi(x) = L^-1 k(Z, x) of inputs X (n, D), a row for each input, shape (n, m).

    |phi(x)|^2 = k_Z^T K_ZZ^-1 k_Z <= k(x, x) for any Z.

    Args:
        root: L of ``inducing_root`` (m, m), for this kernel or another one.

    Raises:
        ValueError: X and Z differ in their number of columns.
    """
    check_columns(X, Z)
    return np.asarray(solve_triangular(root, kernel(Z, X), lower=True).T)


def row_blocks(X: FloatArray, y: FloatArray, rows: int = BLOCK) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield X (n, D) and y (n,) in consecutive blocks of at most ``rows`` records."""
    for start in range(0, len(X), rows):
        yield X[start : start + rows], y[start : start + rows]


def sum_statistics(
    features: Features, blocks: Iterable[tuple[FloatArray, FloatArray]]
) -> tuple[FloatArray, FloatArray]:
    """Return A = sum_i y_i phi_i (m,) and B = sum_i phi_i phi_i^T (m, m), in one pass over the records. Private.

    Args:
        features: maps inputs (b, D) to features (b, m).
        blocks: at least one pair of inputs (b, D) and outputs (b,) in model units. They may be read from a file one by
            one.

    Raises:
        ValueError: there are no blocks.
    """
    A, B = None, None
    for X, y in blocks:
        phi = features(X)
        A = phi.T @ y if A is None else A + phi.T @ y
        B = phi.T @ phi if B is None else B + phi.T @ phi
    if A is None or B is None:
        raise ValueError("there are no records; give at least one block of inputs and outputs")
    return A, B


def posterior(
    kernel: Kernel, X: FloatArray, y: FloatArray, X_test: FloatArray, Z: FloatArray, noise_variance: float
) -> tuple[FloatArray, FloatArray]:
    """Return posterior mean (P,) and covariance (P, P) of the latent f at X_test. They are not private.

    mean = phi_*^T S A / noise_variance,  covariance = K_** - phi_*^T (I - S) phi_*,  S = (I + B / noise_variance)^-1

    Args:
        y: outputs (n,) in model units, zero prior mean.
        Z: inducing inputs (m, D). Z = X gives the exact posterior, up to jitter.

    Raises:
        ValueError: noise_variance is not positive, or X, X_test and Z differ in their number of columns.

    Source: Titsias 2009, eq. 10, whitened by u = L alpha.
    """
    check_positive("noise_variance", noise_variance)
    check_columns(X, X_test)
    root = inducing_root(kernel, Z)
    A, B = sum_statistics(lambda rows: whitened_features(kernel, Z, root, rows), row_blocks(X, y))
    phi = whitened_features(kernel, Z, root, X_test)
    # S phi_* / noise_variance = (noise_variance I + B)^-1 phi_*
    solved = cho_solve(cho_factor(B + noise_variance * np.eye(len(Z)), lower=True), phi.T)
    covariance = kernel(X_test, X_test) - phi @ phi.T + noise_variance * phi @ solved
    return A @ solved, covariance
