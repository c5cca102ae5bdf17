"""Conversion of strategies and outputs to integers, and exact products of them.

Everything private becomes a multiple of 2^-20 here. Sums are therefore exact, in any order and on any machine, and the
norms of the columns of a strategy are checked exactly.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from ..linalg import Matrix, columns_of

IntArray = NDArray[np.int64]
Norm = Literal["L1", "L2"]

GRID = 1 << 20  # steps per unit, of strategies and of scaled outputs
EXACT = 1 << 22  # largest number of columns for which a product is certain to fit into int64
_NUMBERS = 1 << 22  # number of entries of a block of a strategy: 32 MB as floats
_HAIR = 1 + 1e-6  # column norms up to this are attributed to rounding errors, and the column is shrunk


def strategy_integers(B: FloatArray, norm: Norm = "L2") -> NDArray[np.int32]:
    """Return integers B^ (r, n) close to 2^20 B, whose columns have norm at most 2^20 by integer arithmetic.

    Entries are rounded to nearest. Columns that are then too long are divided by their norm and rounded towards zero,
    so that a column of norm 1 loses at most sqrt(r) 2^-20 of its length (r 2^-20 for the L1 norm).

    Args:
        B: strategy (r, n) with columns of norm <= 1. Norms up to 1 + 1e-6 are attributed to rounding and shrunk.
        norm: "L2", or "L1" for Laplace noise.

    Raises:
        ValueError: B is not a finite matrix, or a column is longer than 1 + 1e-6.
    """
    if B.ndim != 2 or 0 in B.shape or not np.isfinite(B).all():
        raise ValueError(f"the strategy must be a finite matrix (r, n) with r, n >= 1, got shape {B.shape}")
    if B.shape[0] > 1 << 20:
        raise ValueError(f"the strategy must have at most 2^20 rows, got {B.shape[0]}")
    lengths = np.abs(B).max(axis=0)  # unlike the norm, the largest entry cannot overflow
    if lengths.max() <= _HAIR:
        lengths = np.linalg.norm(B, ord=2 if norm == "L2" else 1, axis=0)
    worst = int(lengths.argmax())
    if lengths[worst] > _HAIR:
        raise ValueError(
            f"column {worst} of the strategy has {norm} norm {lengths[worst]:.9g}, above 1: one record would move the "
            "measurement further than the noise covers; divide the strategy by its largest column norm"
        )
    integers = np.rint(B * GRID).astype(np.int32)
    long = _too_long(integers, norm)
    # The factor 1 - 1e-9 exceeds the rounding errors of the norm and the quotient, so that the truncated column is
    # certainly short enough.
    integers[:, long] = np.trunc(B[:, long] * (GRID * (1 - 1e-9) / lengths[long])).astype(np.int32)
    if _too_long(integers, norm).any():
        raise ArithmeticError("a column of the integer strategy is too long; nothing was measured")
    return integers


def _too_long(integers: NDArray[np.int32], norm: Norm) -> NDArray[np.bool_]:
    """Return which columns have a norm above 2^20, shape (n,).

    A column has at most 2^20 entries of absolute value at most 2^21, so sums of squares fit into int64.
    """
    if norm == "L1":
        return np.asarray(np.abs(integers).sum(axis=0, dtype=np.int64) > GRID)
    return np.asarray(np.einsum("ij,ij->j", integers, integers, dtype=np.int64) > GRID**2)


def output_integers(y: FloatArray, low: FloatArray, high: FloatArray) -> IntArray:
    """Return integers q^ = rint(2^20 q) (n,) of scaled outputs q = (clip(y) - low) / (high - low) - 1/2.

    Differences are taken from the low end rather than the centre, so that nothing cancels or overflows. Rounding errors
    do not affect privacy, because entry j depends on y_j only and is clipped to [-2^19, 2^19] as an integer.

    Args:
        y: outputs (n,), not NaN.
        low: lower ends of the clipping intervals (n,), checked by ``check_intervals``.
        high: upper ends (n,).

    Raises:
        ValueError: another shape, or a NaN.
    """
    if y.shape != low.shape:
        raise ValueError(f"y must have shape {low.shape} to match the intervals, got {y.shape}")
    if np.isnan(y).any():
        raise ValueError("y must not hold NaN; remove or fill missing values first")
    share = (np.clip(y, low, high) - low) / (high - low)
    q = np.rint((share - 0.5) * GRID).astype(np.int64)
    return np.clip(q, -GRID // 2, GRID // 2)


def person_weights(person: NDArray[np.generic]) -> IntArray:
    """Return weights of rows (n,) in units of 2^-20 by which every person counts once.

    Each of the m rows of a person has the weight 2^20 / m, rounded down. The remainder is given to the person's first
    rows, one unit each, so that the weights of every person add up to 2^20.

    Args:
        person: identifies the person of each row (n,).
    """
    _, index, rows = np.unique(person, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable")
    rank = np.empty(len(index), dtype=np.int64)  # position of each row among the rows of its person
    rank[order] = np.arange(len(index)) - np.repeat(np.cumsum(rows) - rows, rows)
    each, over = np.divmod(GRID, rows.astype(np.int64))
    weights: IntArray = each[index] + (rank < over[index])
    return weights


def weighted(q: IntArray, weights: IntArray) -> IntArray:
    """Return scaled outputs (n,) times weights (n,), rounded towards zero.

    The absolute values of one person's rows add up to at most 2^19, which is also the largest value of a single row:
    sum_j |trunc(w_j q_j / 2^20)| <= sum_j w_j 2^19 / 2^20 = 2^19. Products are at most 2^39.
    """
    products = np.abs(q) * weights >> 20
    result: IntArray = np.sign(q) * products
    return result


def check_intervals(low: FloatArray, high: FloatArray, bounds: tuple[float, float], n: int) -> None:
    """Raise ValueError unless the n intervals [low, high] lie inside the declared bounds and none has width zero."""
    if low.shape != (n,) or high.shape != (n,):
        raise ValueError(f"low and high must have shape ({n},) to match the strategy, got {low.shape} and {high.shape}")
    if not 0 < bounds[1] - bounds[0] < math.inf:
        raise ValueError(f"bounds must be (low, high) with low < high, a finite number apart, got {bounds}")
    inside = (low >= bounds[0]) & (high <= bounds[1])  # also False for NaN
    if not inside.all():
        j = int(inside.argmin())
        raise ValueError(f"interval {j} [{low[j]}, {high[j]}] must lie inside the declared bounds {bounds}; cut it")
    if not (low < high).all():
        j = int((low < high).argmin())
        raise ValueError(f"interval {j} [{low[j]}, {high[j]}] must have a width above zero; widen it")


def exact_product(B: IntArray, q: IntArray) -> list[int]:
    """Return the exact product B^ q^ (r,), for |B^| <= 2^20 and |q^| <= 2^19.

    Sums over 2^22 columns and all their partial sums are at most 2^22 2^20 2^19 = 2^61 in absolute value and fit into
    int64. Longer sums are split, and the parts are added as Python integers.
    """
    total = [0] * len(B)
    for start in range(0, B.shape[1], EXACT):
        block = slice(start, start + EXACT)
        total = [whole + int(more) for whole, more in zip(total, B[:, block] @ q[block], strict=True)]
    return total


def exact_sums(
    strategy: Matrix,
    widths: FloatArray,
    y: FloatArray,
    low: FloatArray,
    high: FloatArray,
    norm: Norm = "L2",
) -> list[int]:
    """Return the integers 2^40 B q (r,) for B = strategy diag(widths); they are the same as those of ``Measurement``.

    Columns are processed in blocks, so that memory does not grow with n. Their norms are checked in integers, and the
    sums of blocks are added as Python integers.

    Args:
        strategy: matrix (r, n) with columns of norm <= 1, as an array or factored.
        widths: factors of the columns (n,), in [0, 1].
        y: outputs (n,). Private.
        low: lower ends of the clipping intervals (n,), in the unit of the output.
        high: upper ends (n,).
        norm: norm of the columns.

    Raises:
        ValueError: a column is longer than 1, or y has another shape or holds NaN.
    """
    q = output_integers(y, low, high)
    total = [0] * len(strategy)
    for block in blocks_of(strategy):
        B = strategy_integers(columns_of(strategy, block) * widths[block], norm)
        # A block has at most 2^22 columns, so partial sums are at most 2^22 2^20 2^19 = 2^61.
        total = [
            whole + int(more) for whole, more in zip(total, np.asarray(B.astype(np.int64) @ q[block]), strict=True)
        ]
    return total


def blocks_of(strategy: Matrix) -> list[slice]:
    """Return consecutive blocks of columns, each with at most 2^22 entries."""
    r, n = strategy.shape
    size = max(1, _NUMBERS // max(r, 1))
    return [slice(start, start + size) for start in range(0, n, size)]
