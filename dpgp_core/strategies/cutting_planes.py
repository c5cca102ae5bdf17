"""Noise design over any number of columns: solve on a working set, test all of them, add the worst violators, repeat.

Passes over all columns are sums and maxima over blocks, so they run unchanged on a cluster. What is certified
is the gap over all columns; the working set only decides how soon it is reached.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from ..arrays import FloatArray
from ..linalg.blocks import BLOCK, Columns, norms
from ..linalg.dense import column_norms
from .solver import Objective, Root, interior_point, relative_gap

_MAX_ROUNDS = 100  # about 5 suffice
_FIRST_GAP = 0.1  # the first working set is a guess: solve it loosely
_TIGHTEN = 0.2  # next gap asked of the working set, as a share of the gap now reached over all columns
_NEGLIGIBLE = 1e-3  # total leverage that the columns leaving a working set may have


class Solution(NamedTuple):
    """Weights mu (n,) with sum 1, the spectrum of M(mu), certified gap, Newton steps used."""

    mu: FloatArray
    root: Root
    gap: float
    steps: int


def optimise(B: FloatArray | Columns, objective: Objective, gap: float, executor: Executor | None = None) -> Solution:
    """Minimise the objective over all columns to a certified relative gap.

    Args:
        B: columns to be masked (r, n), of full row rank r.
        objective: LOGDET or TRACE.
        gap: relative optimality gap to stop at; any value gives valid weights.
        executor: runs the passes over blocks of columns, see ``Columns.over_blocks``.
    """
    columns = B if isinstance(B, Columns) else Columns(B.T)
    r, n = columns.shape
    working = np.sort(_first_guess(columns, executor))
    weights = np.full(len(working), 1 / len(working))
    steps, target = 0, max(_FIRST_GAP, gap) if len(working) < n else gap
    for round_ in range(_MAX_ROUNDS):
        own = columns[working].values()
        weights, root, g_own, used = interior_point(own, objective, weights, target)
        steps += used
        g = shifts(columns, root, executor)
        reached = relative_gap(g, weights, g_own)
        if reached <= gap or round_ == _MAX_ROUNDS - 1:
            break
        # Well-centred loose weights hardly overfit the working set: tighten only as all columns allow.
        target = max(gap / 2, min(_FIRST_GAP, _TIGHTEN * reached))
        level = weights @ g_own / weights.sum()
        violators = np.setdiff1d(np.flatnonzero(g > level * (1 + gap / 2)), working, assume_unique=True)
        if len(violators) > r:
            worst = np.sort(violators[np.argsort(-g[violators], kind="stable")[:BLOCK]])
            violators = worst[_spanning(root.whiten(columns[worst].values()) * g[worst], 1)]
        # Drop by leverage mu_j b_j^T S^-1 b_j, not by weight: a tiny weight may be all that holds up a tiny
        # singular direction. Dropping leverage t in all leaves S' >= (1 - t) S, so the span is never lost.
        leverage = weights * column_norms(objective.to_leverage(root.whiten(own), root))
        kept = leverage > _NEGLIGIBLE / len(working)
        working, weights = _merge(working[kept], weights[kept], violators)
    mu = np.zeros(n)
    mu[working] = weights / weights.sum()
    return Solution(mu, root.times(weights.sum() ** -objective.power), reached, steps)


def shifts(columns: Columns, root: Root, executor: Executor | None = None) -> FloatArray:
    """g_j = b_j^T M^-1 b_j of every column (n,)."""
    return norms(columns, (root.U / np.sqrt(root.values)).T, executor)


def _first_guess(columns: Columns, executor: Executor | None) -> NDArray[np.intp]:
    """Indices of about 2 r well-spread columns of full row rank: each block sends its own to a final."""
    among = np.arange(columns.shape[1])
    if len(columns.starts()) > 1:
        winners = columns.over_blocks(_block_pivots, executor)
        among = np.concatenate([start + own for start, own in zip(columns.starts(), winners, strict=True)])
    return among[_spanning(columns[among].values(), 2)]


def _block_pivots(block: Columns) -> NDArray[np.intp]:
    return np.sort(_spanning(block.values(), 1))


def _spanning(B: FloatArray, times: int) -> NDArray[np.intp]:
    """Indices of well-spread columns: the pivots of ``times`` successive pivoted QR factorisations."""
    chosen: list[NDArray[np.intp]] = []
    rest = np.arange(B.shape[1])
    while len(chosen) < times and len(rest):
        pivots = qr(B[:, rest], mode="r", pivoting=True, check_finite=False)[1][: len(B)]
        chosen.append(rest[pivots])
        rest = np.delete(rest, pivots)
    return np.concatenate(chosen)


def _merge(
    working: NDArray[np.intp], weights: FloatArray, violators: NDArray[np.intp]
) -> tuple[NDArray[np.intp], FloatArray]:
    joined = np.concatenate([working, violators])
    start = np.concatenate([weights, np.full(len(violators), 0.1 * weights.mean())])
    order = np.argsort(joined)
    return joined[order], start[order]
