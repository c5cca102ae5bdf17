"""Arithmetic of dense matrices."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky

from ..arrays import FloatArray

_JITTERS = (0.0, 1e-12, 1e-9, 1e-6)  # of the mean of the diagonal


def column_norms(rows: FloatArray) -> FloatArray:
    """Squared Euclidean norm of each column of (r, n), shape (n,)."""
    norms: FloatArray = np.einsum("ij,ij->j", rows, rows)
    return norms


def sturdy_cholesky(S: FloatArray, least: float) -> FloatArray:
    """L (r, r), lower, with L L^T = S but for what rounding left of a covariance that it made indefinite. Never fails.

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
    signed: FloatArray = R.T * np.where(R.diagonal() < 0, -1.0, 1.0)
    return signed
