"""From real numbers to integers: a strategy whose columns are short by exact count, scaled outputs, exact products.

Everything private is a multiple of 2^-20 from here on, so sums are exact, in any order, on any machine.
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

GRID = 1 << 20  # steps to a unit, of strategies and of scaled outputs
EXACT = 1 << 22  # columns of a product that int64 holds for certain
_NUMBERS = 1 << 22  # of a block of a strategy: 32 MB as floats
_HAIR = 1 + 1e-6  # column norms up to here are rounding errors of whoever computed the strategy: shrunk, not refused


def strategy_integers(B: FloatArray, norm: Norm = "L2") -> NDArray[np.int32]:
    """Integers B^ (r, n) near 2^20 B, every column of norm at most 2^20 by integer arithmetic.

    Entries are rounded to nearest; in columns which then are too long, towards zero after dividing by the norm, so
    that a column of norm 1 loses at most sqrt(r) 2^-20 of its length (L1: r 2^-20).

    Args:
        B: strategy (r, n), columns of norm <= 1; up to 1 + 1e-6 is taken for rounding and shrunk.
        norm: "L2", or "L1" for Laplace noise.

    Raises:
        ValueError: B is not a finite matrix, or a column is longer than 1 + 1e-6.
    """
    if B.ndim != 2 or 0 in B.shape or not np.isfinite(B).all():
        raise ValueError(f"the strategy must be a finite matrix (r, n) with r, n >= 1, got shape {B.shape}")
    if B.shape[0] > 1 << 20:
        raise ValueError(f"the strategy must have at most 2^20 rows, got {B.shape[0]}")
    lengths = np.abs(B).max(axis=0)  # first the largest entry: it cannot overflow
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
    # 1 - 1e-9: more than the rounding errors of a norm and a quotient, so that truncation ends below it for certain
    integers[:, long] = np.trunc(B[:, long] * (GRID * (1 - 1e-9) / lengths[long])).astype(np.int32)
    if _too_long(integers, norm).any():
        raise ArithmeticError("a column of the integer strategy is too long; nothing was measured")
    return integers


def _too_long(integers: NDArray[np.int32], norm: Norm) -> NDArray[np.bool_]:
    """Which columns have a norm above 2^20 (n,): at most 2^20 entries of at most 2^21, so squares fit 2^62."""
    if norm == "L1":
        return np.asarray(np.abs(integers).sum(axis=0, dtype=np.int64) > GRID)
    return np.asarray(np.einsum("ij,ij->j", integers, integers, dtype=np.int64) > GRID**2)


def output_integers(y: FloatArray, low: FloatArray, high: FloatArray) -> IntArray:
    """Integers q^ (n,) of outputs scaled to their intervals: rint(2^20 q), q = (clip(y) - low) / (high - low) - 1/2.

    Differences from the low end, not from the centre: nothing cancels and nothing overflows. Rounding errors are
    of no consequence to privacy: entry j depends on y_j only, and is clipped to [-2^19, 2^19] as an integer.

    Args:
        y: outputs (n,), not NaN.
        low: ends of the intervals (n,), checked by ``check_intervals``.
        high: the same.

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
    """Weights (n,) in units of 2^-20 by which everybody counts once: 2^20 / m for each row of a person with m.

    The remainder of the division goes to a person's first rows, one unit each, so that weights of one add up to 2^20.
    """
    _, index, rows = np.unique(person, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable")
    rank = np.empty(len(index), dtype=np.int64)  # of each row among those of its person
    rank[order] = np.arange(len(index)) - np.repeat(np.cumsum(rows) - rows, rows)
    each, over = np.divmod(GRID, rows.astype(np.int64))
    weights: IntArray = each[index] + (rank < over[index])
    return weights


def weighted(q: IntArray, weights: IntArray) -> IntArray:
    """Scaled outputs (n,) times weights (n,), towards zero: a person's add up to at most 2^19 in all, as one row's do.

    sum_j |trunc(w_j q_j / 2^20)| <= sum_j w_j 2^19 / 2^20 = 2^19; products are at most 2^39.
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
    inside = (low >= bounds[0]) & (high <= bounds[1])  # False for NaN too
    if not inside.all():
        j = int(inside.argmin())
        raise ValueError(f"interval {j} [{low[j]}, {high[j]}] must lie inside the declared bounds {bounds}; cut it")
    if not (low < high).all():
        j = int((low < high).argmin())
        raise ValueError(f"interval {j} [{low[j]}, {high[j]}] must have a width above zero; widen it")


def exact_product(B: IntArray, q: IntArray) -> list[int]:
    """B^ q^ (r,), exactly, for |B^| <= 2^20 and |q^| <= 2^19.

    A sum over 2^22 columns is at most 2^22 2^20 2^19 = 2^61 in absolute value, and so is every partial sum: int64
    holds it. Longer sums are split there and put together as integers without a limit.
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
    """Integers 2^40 B q (r,), B = strategy diag(widths), exactly as ``Measurement`` has them of the same B.

    A block of columns at a time, so that memory does not grow with n: column norms are checked in integers, and sums of
    blocks added as integers without a limit.

    Args:
        strategy: (r, n), columns of norm <= 1, an array or factored.
        widths: factors (n,) in [0, 1] of the columns.
        low: ends of the intervals (n,), in the output's unit.
        high: the same.
        norm: of the columns.

    Raises:
        ValueError: a column is longer than 1, or y has another shape or holds NaN.
    """
    q = output_integers(y, low, high)
    total = [0] * len(strategy)
    for block in blocks_of(strategy):
        B = strategy_integers(columns_of(strategy, block) * widths[block], norm)
        # a block has fewer than 2^22 columns: partial sums stay below 2^22 2^20 2^19 = 2^61
        total = [
            whole + int(more) for whole, more in zip(total, np.asarray(B.astype(np.int64) @ q[block]), strict=True)
        ]
    return total


def blocks_of(strategy: Matrix) -> list[slice]:
    """Consecutive blocks of columns, each of at most 2^22 numbers."""
    r, n = strategy.shape
    size = max(1, _NUMBERS // max(r, 1))
    return [slice(start, start + size) for start in range(0, n, size)]
