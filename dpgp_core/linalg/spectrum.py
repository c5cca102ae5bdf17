"""Singular values and directions of a matrix with very many columns, from QR factorisations of its factors."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd

from ..arrays import FloatArray
from .blocks import BLOCK, Columns, FactoredMatrix, Matrix


class Spectrum(NamedTuple):
    """C = U diag(s) [v_1 ... v_n].

    Attributes:
        U: orthonormal columns (P, r).
        s: singular values, descending; ``spectrum_of`` gives all of them, of which the first r have directions.
        units: v_j (r, n).
    """

    U: FloatArray
    s: FloatArray
    units: Columns

    def kept(self, rank: int) -> Spectrum:
        """The ``rank`` largest singular values."""
        return Spectrum(self.U[:, :rank], self.s[:rank], self.units.first(rank))


def spectrum_of(C: Matrix, tolerance: float, executor: Executor | None = None) -> Spectrum:
    """Singular values of C, all of them, with the directions above ``tolerance``; never a decomposition of P x n."""
    if isinstance(C, np.ndarray):
        if C.shape[1] <= BLOCK:
            U, s, Vt = svd(C, full_matrices=False, check_finite=False)
            return Spectrum(U, s, Columns(Vt.T))
        C = FactoredMatrix(np.eye(len(C)), C.T)
    # left = Q_l R_l, rows = Q_r R_r: C = Q_l (R_l R_r^T) Q_r^T with R_l R_r^T = U' diag(s) W^T
    R_left = Columns(C.left).triangle()
    R_rows = C.triangle if C.triangle is not None else Columns(C.rows).triangle(executor)
    _, s, Wt = svd(R_left @ R_rows.T, check_finite=False)
    rank = rank_of(s, tolerance)
    # C Q_r W = left R_r^T W = Q_l U' diag(s)
    U = C.left @ ((R_rows.T @ Wt[:rank].T) / s[:rank])
    # Small singular values leave their directions eps s_1 / s_k off. Clear them of the larger ones, in that order
    # (Gram-Schmidt, by Cholesky of the nearly identical Gram matrix), or U^T C would mix s_1 into row k.
    U = solve_triangular(cholesky(U.T @ U), U.T, trans="T", check_finite=False).T
    return Spectrum(U, s[: len(C.left)], Columns(C.rows, (U.T @ C.left) / s[:rank, None]))


def rank_of(s: FloatArray, tolerance: float) -> int:
    """How many singular values s, descending, are above ``tolerance`` times the largest."""
    return int((s > tolerance * s[0]).sum())
