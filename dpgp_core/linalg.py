"""Linear algebra for matrices with very many columns.

Columns are processed in blocks, in this process or on a cluster, and matrices may be kept as products of two factors.
The singular value decomposition of such a product is computed from QR factorisations of its factors.
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
    """Return the squared Euclidean norm of each column of ``rows`` (..., r, n), shape (..., n)."""
    return np.asarray(np.einsum("...ij,...ij->...j", rows, rows))


def sturdy_cholesky(S: FloatArray, least: float) -> FloatArray:
    """Return a lower triangular L (r, r) with L L^T = S up to rounding, also if rounding errors made S indefinite.

    Small multiples of the identity are added to S first. If no Cholesky factorisation succeeds, eigenvalues below
    ``least`` are raised to it, and L is the transposed triangle of a QR factorisation of diag(sqrt(values)) V^T.
    Entries that are not finite are replaced by 0, so the function never fails.

    Args:
        S: symmetric matrix (r, r).
        least: > 0; lower bound on the eigenvalues of S in exact arithmetic, for example the noise variance.
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


BLOCK = 4096  # columns in a block: a few MB, about the size of a processor's cache
_JITTERS = (0.0, 1e-12, 1e-9, 1e-6)  # relative to the mean of the diagonal
Index = slice | NDArray[np.intp]
Result = TypeVar("Result")


class Rows(Protocol):
    """A matrix (n, r) whose rows are computed on demand. It is small, so it can be sent to another process."""

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (n, r)."""
        ...

    def __getitem__(self, index: Index) -> Rows | FloatArray:
        """Return the rows at ``index``, as an array or still to be computed."""
        ...

    def values(self) -> FloatArray:
        """Compute all rows, shape (n, r)."""
        ...


def values_of(rows: FloatArray | Rows) -> FloatArray:
    """Return ``rows`` as an array (n, r), computing them if necessary."""
    return rows if isinstance(rows, np.ndarray) else rows.values()


@dataclass(frozen=True, eq=False)
class Columns:
    """A matrix (k, n) with columns b_j = T v_j, where v_j is row j of a matrix (n, r).

    Attributes:
        rows: the vectors v_j (n, r), stored or computed on demand.
        transform: T (k, r); None for the identity.
    """

    rows: FloatArray | Rows
    transform: FloatArray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (k, n)."""
        n, r = self.rows.shape
        return (r if self.transform is None else len(self.transform)), n

    def __getitem__(self, index: Index) -> Columns:
        """Return the columns at ``index``."""
        return Columns(self.rows[index], self.transform)

    def values(self) -> FloatArray:
        """Compute all columns, shape (k, n)."""
        V = values_of(self.rows).T
        return V if self.transform is None else self.transform @ V

    def mapped(self, A: FloatArray) -> Columns:
        """Return the columns A b_j for a matrix A (m, k)."""
        if self.transform is None and isinstance(self.rows, np.ndarray):
            return Columns((A @ self.rows.T).T)
        return Columns(self.rows, A if self.transform is None else A @ self.transform)

    def starts(self) -> range:
        """Return the index of the first column of each block of ``BLOCK`` columns."""
        return range(0, self.shape[1], BLOCK)

    def over_blocks(self, work: Callable[[Columns], Result], executor: Executor | None = None) -> Iterator[Result]:
        """Apply ``work`` to consecutive blocks of columns and yield the results in the order of the blocks.

        Args:
            work: function of a block. It must be picklable if the workers of the executor are other processes.
            executor: runs the blocks, for example ``dask.distributed.Client.get_executor()``; default: this thread.
        """
        blocks = (self[slice(start, start + BLOCK)] for start in self.starts())
        return map(work, blocks) if executor is None else executor.map(work, list(blocks))

    def triangle(self, executor: Executor | None = None) -> FloatArray:
        """Return R (k, k) with R^T R = sum_j b_j b_j^T.

        R is computed by QR factorisations of the blocks and then of their factors. The Gram matrix is never formed,
        because it would square the condition number.
        """
        k = self.shape[0]
        return upper(np.vstack([*self.over_blocks(_block_triangle, executor), np.zeros((k, k))]))


@dataclass(frozen=True, eq=False)
class FactoredMatrix:
    """The matrix C = left rows^T, shape (P, n), kept as its two factors.

    Attributes:
        left: left factor (P, r).
        rows: right factor (n, r), stored or computed on demand.
        triangle: R (r, r) with R^T R = rows^T rows if it has been computed, else None.
    """

    left: FloatArray
    rows: FloatArray | Rows
    triangle: FloatArray | None = None

    __array_ufunc__ = None  # so that numpy leaves ``array @ matrix`` to ``__rmatmul__``

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (P, n)."""
        return len(self.left), self.rows.shape[0]

    def __len__(self) -> int:
        return len(self.left)

    def __matmul__(self, other: FloatArray) -> FloatArray:
        """Return C @ other for other (n,) or (n, k), block by block if the rows are computed on demand."""
        if isinstance(self.rows, np.ndarray):
            return self.left @ (self.rows.T @ other)
        columns = Columns(self.rows)
        blocks = zip(columns.starts(), columns.over_blocks(Columns.values), strict=True)
        total = sum(V @ other[start : start + BLOCK] for start, V in blocks)
        return np.asarray(self.left @ total)

    def __rmatmul__(self, other: FloatArray) -> FactoredMatrix:
        """Return other @ C for other (m, P)."""
        return FactoredMatrix(other @ self.left, self.rows, self.triangle)

    def dense(self) -> FloatArray:
        """Return C as an array (P, n)."""
        return self.left @ values_of(self.rows).T


Matrix = FloatArray | FactoredMatrix


def dense_of(C: Matrix) -> FloatArray:
    """Return a matrix as an array (P, n), multiplying its factors if necessary."""
    return C if isinstance(C, np.ndarray) else C.dense()


def columns_of(matrix: Matrix, block: slice) -> FloatArray:
    """Return the columns of ``matrix`` (P, n) at ``block`` as an array."""
    if isinstance(matrix, np.ndarray):
        return matrix[:, block]
    return matrix.left @ values_of(matrix.rows[block]).T


def column_lengths(matrix: Matrix) -> FloatArray:
    """Return |c_j|^2 for every column of ``matrix`` (P, n), shape (n,), computed block by block."""
    if isinstance(matrix, np.ndarray):
        return column_norms(matrix)
    return norms(Columns(matrix.rows), matrix.left)


def upper(A: FloatArray) -> FloatArray:
    """Return the triangular factor R (k, k) of A = Q R, for A (m, k) with m >= k."""
    return np.asarray(qr(A, mode="r", check_finite=False)[0][: A.shape[1]], dtype=np.float64)


def _block_triangle(block: Columns) -> FloatArray:
    V = block.values().T
    return upper(V) if len(V) >= V.shape[1] else V


def norms(columns: Columns, A: FloatArray, executor: Executor | None = None) -> FloatArray:
    """Return |A b_j|^2 for every column b_j, shape (n,)."""
    # (A T) v_j is less work than A (T v_j) unless r is much larger than k.
    whole = A if columns.transform is None else A @ columns.transform
    return np.concatenate(list(Columns(columns.rows).over_blocks(partial(_block_norms, whole), executor)))


def _block_norms(A: FloatArray, block: Columns) -> FloatArray:
    return column_norms(A @ block.values())


class Spectrum(NamedTuple):
    """Truncated singular value decomposition C = U diag(s) [v_1 ... v_n].

    Attributes:
        U: orthonormal columns (P, r).
        s: the r singular values that are kept, descending.
        units: the columns v_j (r, n).
        all_s: all singular values including those that are too small to be kept, descending.
    """

    U: FloatArray
    s: FloatArray
    units: Columns
    all_s: FloatArray


def spectrum_of(C: Matrix, tolerance: float, executor: Executor | None = None) -> Spectrum:
    """Return the singular value decomposition of C (P, n), truncated at ``tolerance`` times the largest singular value.

    If C has more than ``BLOCK`` columns or is factored, no matrix with n columns is decomposed as a whole.
    """
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
    # The direction of a small singular value s_k has an error of about eps s_1 / s_k, which would mix s_1 into row k
    # of U^T C. Each direction is therefore made orthogonal to those of larger singular values (Gram-Schmidt, computed
    # by a Cholesky factorisation of the Gram matrix, which is nearly the identity).
    U = solve_triangular(cholesky(U.T @ U), U.T, trans="T", check_finite=False).T
    return Spectrum(U, s[:rank], Columns(C.rows, (U.T @ C.left) / s[:rank, None]), s[: len(C.left)])
