"""Exact products of a strategy of very many columns, a block of columns at a time: memory does not grow with n."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..linalg import Matrix, columns_of
from .integers import IntArray, Norm, place_integers, strategy_integers

_NUMBERS = 1 << 22  # of a block of the strategy: 32 MB as floats


def exact_sums(
    strategy: Matrix,
    widths: FloatArray,
    y: FloatArray,
    low: FloatArray,
    high: FloatArray,
    norm: Norm = "L2",
) -> list[int]:
    """Integers 2^40 B q (r,), B = strategy diag(widths), exactly what ``Measurement`` measures of the same B.

    Column norms are checked in integers, block by block; sums of blocks are added as integers without a limit.

    Args:
        strategy: (r, n), columns of norm <= 1, an array or factored.
        widths: factors (n,) in [0, 1] of the columns.
        y: outputs (n,). Private.
        low: ends of the intervals (n,), in the output's unit.
        high: the same.
        norm: of the columns.

    Raises:
        ValueError: a column is longer than 1, or y has another shape or holds NaN.
    """
    places = place_integers(y, low, high)
    total = [0] * len(strategy)
    for block in blocks_of(strategy):
        B = strategy_integers(columns_of(strategy, block) * widths[block], norm)
        # a block has fewer than 2^22 columns: partial sums stay below 2^22 2^20 2^19 = 2^61
        total = [whole + int(more) for whole, more in zip(total, _product(B, places[block]), strict=True)]
    return total


def blocks_of(strategy: Matrix) -> list[slice]:
    """Consecutive blocks of columns, each of at most 2^22 numbers."""
    r, n = strategy.shape
    size = max(1, _NUMBERS // max(r, 1))
    return [slice(start, start + size) for start in range(0, n, size)]


def _product(B: np.ndarray[tuple[int, ...], np.dtype[np.int32]], q: IntArray) -> IntArray:
    return np.asarray(B.astype(np.int64) @ q)
