"""Array types that every module shares, and all combinations of values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def lattice(axes: Sequence[FloatArray]) -> FloatArray:
    """All points (P, D) with one coordinate from each of D >= 1 axes, the last running fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
