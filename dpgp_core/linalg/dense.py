"""Arithmetic of dense matrices."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray


def column_norms(rows: FloatArray) -> FloatArray:
    """Squared Euclidean norm of each column of (r, n), shape (n,)."""
    norms: FloatArray = np.einsum("ij,ij->j", rows, rows)
    return norms
