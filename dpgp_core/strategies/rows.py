"""Rows of a strategy: where the descent starts, columns of norm 1, and their singular values."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, svd

from ..arrays import FloatArray
from .mixture_risk import MixtureRisk

_TINY = 1e-12
_FIRST_ROWS = 64
_WOBBLE, _SMALL_WOBBLE = 0.03, 1e-3  # size of random directions in the start, without and with a B to start from


def first_rows(risk: MixtureRisk, most_rows: int, start: FloatArray | None) -> FloatArray:
    """Given rows, or singular vectors of the targets by the square roots of their singular values."""
    if start is not None:
        return _padded(start[:most_rows], min(most_rows, len(start) + 2), _SMALL_WOBBLE)
    left, s, _ = thin_svd(risk.targets)
    rows = (left * np.sqrt(s / max(s[0], _TINY))).T
    return _padded(rows[: min(_FIRST_ROWS, most_rows)], min(_FIRST_ROWS, most_rows), _WOBBLE)


def _padded(rows: FloatArray, r: int, wobble: float) -> FloatArray:
    """Unit columns near those of ``rows``, in r rows: a row at zero would stay there."""
    V = wobble * np.random.default_rng(0).standard_normal((r, rows.shape[1]))
    V *= max(float(np.sqrt((rows**2).mean())), _TINY)
    V[: len(rows)] += rows
    return unit(V)


def unit(V: FloatArray) -> FloatArray:
    """Columns divided by their norms."""
    shrunk: FloatArray = V / np.maximum(np.sqrt(np.einsum("ij,ij->j", V, V)), 1e-300)
    return shrunk


def safe(B: FloatArray) -> FloatArray:
    """Column norms <= 1 also after rounding."""
    norms = np.sqrt(np.einsum("ij,ij->j", B, B)) * (1 + 4 * np.finfo(float).eps)
    shrunk: FloatArray = B / np.maximum(norms, 1.0)
    return shrunk


def thin_svd(A: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Thin singular value decomposition; the faster way sometimes fails on matrices with very small entries."""
    try:
        left, s, right = svd(A, full_matrices=False, check_finite=False)
    except LinAlgError:
        left, s, right = svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return left, s, right
