"""Linear algebra: columns in blocks, here or on a cluster, factored matrices, and singular values of a product.

Singular values and directions of a matrix with very many columns come from QR factorisations of its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, qr, solve_triangular, svd

from .arrays import FloatArray


def check_columns(X: FloatArray, X_test: FloatArray) -> None:
    """Raise ValueError unless X (n, D) and X_test (P, D) are matrices with the same number of columns."""
    if X.ndim != 2 or X_test.ndim != 2 or X.shape[1] != X_test.shape[1]:
        raise ValueError(f"X and X_test must be 2-D with equally many columns, got shapes {X.shape} and {X_test.shape}")


def column_norms(rows: FloatArray) -> FloatArray:
    """Squared Euclidean norm of each column of (r, n), shape (n,)."""
    return np.asarray(np.einsum("ij,ij->j", rows, rows))


def sturdy_cholesky(S: FloatArray, least: float) -> FloatArray:
    """L (r, r), lower, with L L^T = S up to rounding, of a covariance that rounding made indefinite. Never fails.

    A little more of the diagonal is tried first; then eigenvalues below ``least`` are raised to it, and L is the
    transposed triangle of a QR factorisation of diag(sqrt(values)) V^T. Numbers that are not finite count as 0.

    Args:
        S: symmetric (r, r).
        least: > 0, a variance that S has along every direction if nothing was rounded: that of the noise.
    """
    S = np.nan_to_num((S + S.T) / 2, nan=0.0, posinf=0.0, neginf=0.0)
    level = float(np.abs(S.diagonal()).mean())
    for jitter in _JITTERS:
        try:
            L: FloatArray = cholesky(S + jitter * level * np.eye(len(S)), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        if np.isfinite(L).all():
            return L
    values, V = np.linalg.eigh(S)
    R = np.asarray(np.linalg.qr(np.sqrt(np.maximum(values, least))[:, None] * V.T, mode="r"), dtype=float)
    return np.asarray(R.T * np.where(R.diagonal() < 0, -1.0, 1.0))


BLOCK = 4096  # columns worked on at a time: some MB, about the size of a processor's cache
_JITTERS = (0.0, 1e-12, 1e-9, 1e-6)  # of the mean of the diagonal
Index = slice | NDArray[np.intp]
Result = TypeVar("Result")


class Rows(Protocol):
    """A matrix (n, r) that is computed on demand, a few rows at a time; small to send to another process."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, r)."""
        ...

    def __getitem__(self, index: Index) -> Rows | FloatArray:
        """The rows at ``index``, computed or not."""
        ...

    def values(self) -> FloatArray:
        """All rows (n, r)."""
        ...


def values_of(rows: FloatArray | Rows) -> FloatArray:
    """Rows as an array (n, r)."""
    return rows if isinstance(rows, np.ndarray) else rows.values()


@dataclass(frozen=True, eq=False)
class Columns:
    """n columns b_j = T v_j of length k, with v_j the rows of a matrix (n, r).

    Attributes:
        rows: v_j (n, r), kept or computed on demand.
        transform: T (k, r); None for the identity.
    """

    rows: FloatArray | Rows
    transform: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(k, n)."""
        n, r = self.rows.shape
        return (r if self.transform is None else len(self.transform)), n

    def __getitem__(self, index: Index) -> Columns:
        """The columns at ``index``."""
        return Columns(self.rows[index], self.transform)

    def values(self) -> FloatArray:
        """All columns (k, n)."""
        V = values_of(self.rows).T
        return V if self.transform is None else self.transform @ V

    def mapped(self, A: FloatArray) -> Columns:
        """The columns A b_j."""
        if self.transform is None and isinstance(self.rows, np.ndarray):
            return Columns((A @ self.rows.T).T)
        return Columns(self.rows, A if self.transform is None else A @ self.transform)

    def starts(self) -> range:
        """Index of the first column of each block of ``BLOCK`` columns."""
        return range(0, self.shape[1], BLOCK)

    def over_blocks(self, work: Callable[[Columns], Result], executor: Executor | None = None) -> Iterator[Result]:
        """``work`` applied to consecutive blocks of columns; results in order, whoever computes them.

        Args:
            work: to be picklable where the executor's workers are other processes.
            executor: runs the blocks, for example ``dask.distributed.Client.get_executor()``; default: this thread.
        """
        blocks = (self[slice(start, start + BLOCK)] for start in self.starts())
        return map(work, blocks) if executor is None else executor.map(work, list(blocks))

    def triangle(self, executor: Executor | None = None) -> FloatArray:
        """R (k, k) with R^T R = sum_j b_j b_j^T, by QR of blocks and then of their factors: never squared."""
        k = self.shape[0]
        return upper(np.vstack([*self.over_blocks(_block_triangle, executor), np.zeros((k, k))]))


@dataclass(frozen=True, eq=False)
class FactoredMatrix:
    """C = left rows^T, shape (P, n), never formed.

    Attributes:
        left: (P, r).
        rows: (n, r), kept or computed on demand.
        triangle: R (r, r) with R^T R = rows^T rows, where it is known already.
    """

    left: FloatArray
    rows: FloatArray | Rows
    triangle: FloatArray | None = None

    __array_ufunc__ = None  # an array times this matrix is this class's business

    @property
    def shape(self) -> tuple[int, int]:
        """(P, n)."""
        return len(self.left), self.rows.shape[0]

    def __len__(self) -> int:
        return len(self.left)

    def __matmul__(self, other: FloatArray) -> FloatArray:
        """C other for other (n,) or (n, k), block by block where rows are computed on demand."""
        if isinstance(self.rows, np.ndarray):
            return self.left @ (self.rows.T @ other)
        columns = Columns(self.rows)
        blocks = zip(columns.starts(), columns.over_blocks(Columns.values), strict=True)
        total = sum(V @ other[start : start + BLOCK] for start, V in blocks)
        return np.asarray(self.left @ total)

    def __rmatmul__(self, other: FloatArray) -> FactoredMatrix:
        """Other C for other (m, P)."""
        return FactoredMatrix(other @ self.left, self.rows, self.triangle)

    def dense(self) -> FloatArray:
        """C as an array (P, n)."""
        return self.left @ values_of(self.rows).T


Matrix = FloatArray | FactoredMatrix


def dense_of(C: Matrix) -> FloatArray:
    """A matrix as an array (P, n), formed if it was not."""
    return C if isinstance(C, np.ndarray) else C.dense()


def columns_of(matrix: Matrix, block: slice) -> FloatArray:
    """The columns of C (P, n) at ``block`` as an array."""
    if isinstance(matrix, np.ndarray):
        return matrix[:, block]
    return matrix.left @ values_of(matrix.rows[block]).T


def column_lengths(matrix: Matrix) -> FloatArray:
    """|c_j|^2 for every column of C (P, n), shape (n,), block by block."""
    if isinstance(matrix, np.ndarray):
        return column_norms(matrix)
    return norms(Columns(matrix.rows), matrix.left)


def upper(A: FloatArray) -> FloatArray:
    """R (k, k) of A = Q R, for A (m, k) with m >= k."""
    return np.asarray(qr(A, mode="r", check_finite=False)[0][: A.shape[1]], dtype=np.float64)


def _block_triangle(block: Columns) -> FloatArray:
    V = block.values().T
    return upper(V) if len(V) >= V.shape[1] else V


def norms(columns: Columns, A: FloatArray, executor: Executor | None = None) -> FloatArray:
    """|A b_j|^2 for every column (n,)."""
    # (A T) v_j, not A (T v_j): less work where r is not much more than k
    whole = A if columns.transform is None else A @ columns.transform
    return np.concatenate(list(Columns(columns.rows).over_blocks(partial(_block_norms, whole), executor)))


def _block_norms(A: FloatArray, block: Columns) -> FloatArray:
    return column_norms(A @ block.values())


class Spectrum(NamedTuple):
    """C = U diag(s) [v_1 ... v_n], up to singular values that are too small.

    Attributes:
        U: orthonormal columns (P, r).
        s: singular values (r), descending.
        units: v_j (r, n).
        all_s: singular values, the small ones too, descending.
    """

    U: FloatArray
    s: FloatArray
    units: Columns
    all_s: FloatArray


def spectrum_of(C: Matrix, tolerance: float, executor: Executor | None = None) -> Spectrum:
    """Singular values of C above ``tolerance`` times the largest; never a decomposition of P x n."""
    if isinstance(C, np.ndarray):
        if C.shape[1] <= BLOCK:
            U, s, Vt = svd(C, full_matrices=False, check_finite=False)
            rank = int((s > tolerance * s[0]).sum())
            return Spectrum(U[:, :rank], s[:rank], Columns(Vt[:rank].T), s)
        C = FactoredMatrix(np.eye(len(C)), C.T)
    # left = Q_l R_l, rows = Q_r R_r: C = Q_l (R_l R_r^T) Q_r^T with R_l R_r^T = U' diag(s) W^T
    R_left = Columns(C.left).triangle()
    R_rows = C.triangle if C.triangle is not None else Columns(C.rows).triangle(executor)
    _, s, Wt = svd(R_left @ R_rows.T, check_finite=False)
    rank = int((s > tolerance * s[0]).sum())
    # C Q_r W = left R_r^T W = Q_l U' diag(s)
    U = C.left @ ((R_rows.T @ Wt[:rank].T) / s[:rank])
    # Small singular values leave their directions eps s_1 / s_k off. Clear them of the larger ones, in that order
    # (Gram-Schmidt, by Cholesky of the nearly identical Gram matrix), or U^T C would mix s_1 into row k.
    U = solve_triangular(cholesky(U.T @ U), U.T, trans="T", check_finite=False).T
    return Spectrum(U, s[:rank], Columns(C.rows, (U.T @ C.left) / s[:rank, None]), s[: len(C.left)])
