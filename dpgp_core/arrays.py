"""Array types that every module shares, and the Cartesian product of axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def lattice(axes: Sequence[FloatArray]) -> FloatArray:
    """Return the Cartesian product of D >= 1 axes as points (P, D). The last coordinate varies fastest."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
