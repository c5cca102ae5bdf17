"""Pivoted Cholesky of a covariance matrix, K_ff ~ V V^T, in passes over blocks of inputs.

Pivots are chosen from inputs alone, and the residual is measured over all of them; see ``factored`` for V.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpstrf

from ..arrays import FloatArray
from ..kernels import Kernel
from ..linalg.blocks import BLOCK, Columns, upper
from ..linalg.dense import column_norms
from .factored import Features, Kept, LowRank

TOLERANCE = 1e-12
LARGEST_RANK = 2000
_LOWEST_TOLERANCE = 1e-13  # residuals are differences of numbers rounded at about 1e-14
_CANDIDATES = 2048  # inputs among which pivots are looked for at a time
_SUBSAMPLE = 32_768  # evenly spaced inputs whose residual is brought down first, where there are more
_ROUNDS = 8  # passes over all inputs; one or two suffice
_LARGEST_FACTOR = 5 * 10**8  # numbers in V, 4 GB
_MISSED = (
    "the residual asked for is not reached with {most} pivots; use a longer lengthscale, a smoother kernel, "
    "a larger tolerance, or inducing inputs (CloakingInducing)"
)


class ToleranceMissedError(ValueError):
    """The residual asked for needs a larger rank than is allowed."""


def factorise(
    kernel: Kernel,
    X: FloatArray,
    tolerance: float = TOLERANCE,
    *,
    largest_rank: int | None = None,
    executor: Executor | None = None,
) -> LowRank:
    """Choose pivots until the residual is within ``tolerance``: greedily among some inputs, then where it is large.

    Args:
        kernel: covariance function.
        X: inputs (n, D).
        tolerance: bound on tr(K_ff - V V^T) / tr K_ff, in [1e-13, 1).
        largest_rank: most pivots; default 2000, or what keeps V within 4 GB.
        executor: runs the passes over blocks of inputs, see ``Columns.over_blocks``. Where its workers do not share
            this memory, V is not kept, and they compute their blocks of it when needed.

    Raises:
        ToleranceMissedError: the rank needed is larger.
        ValueError: tolerance is out of range.

    Source: Harbrecht, Peters & Schneider 2012 for the trace criterion; LAPACK dpstrf on the candidates.
    """
    check_tolerance(tolerance)
    n, prior = len(X), kernel.diagonal(X)
    most = min(n, LARGEST_RANK, max(1, _LARGEST_FACTOR // n)) if largest_rank is None else min(n, largest_rank)
    features, left = Features(kernel, X[:0], np.zeros((0, 0)), X), prior
    if n > _SUBSAMPLE:  # passes over all inputs are dear: start from the pivots of evenly spaced ones
        stricter = max(tolerance / 4, _LOWEST_TOLERANCE)
        features = factorise(kernel, X[:: -(-n // _SUBSAMPLE)], stricter, largest_rank=most).features.at(X)
    for round_ in range(_ROUNDS):
        before = len(features.Z)
        if round_ or not before:
            features = _extend(features, left, tolerance * float(prior.mean()), most)
        scan = _scan(features, executor)
        left = prior - scan.norms
        residual = max(float(left.sum() / prior.sum()), 0.0)
        if residual <= tolerance:
            rows = features if scan.rows is None else Kept(features, scan.rows)
            return LowRank(features=features, rows=rows, triangle=scan.triangle, residual=residual)
        if round_ and len(features.Z) == before:
            break
    raise ToleranceMissedError(_MISSED.format(most=len(features.Z)))


def check_tolerance(tolerance: float) -> None:
    """Raise ValueError unless ``tolerance`` is in [1e-13, 1)."""
    if not _LOWEST_TOLERANCE <= tolerance < 1:
        raise ValueError(f"tolerance must be in [{_LOWEST_TOLERANCE:g}, 1), got {tolerance}")


class _Scan(NamedTuple):
    norms: FloatArray  # |v_i|^2 (n,)
    triangle: FloatArray
    rows: FloatArray | None


def _scan(features: Features, executor: Executor | None) -> _Scan:
    """One pass over all inputs."""
    columns, V = Columns(features), None
    if executor is None or isinstance(executor, ThreadPoolExecutor):
        V = np.empty(features.shape)
        for start, block in zip(columns.starts(), columns.over_blocks(Columns.values, executor), strict=True):
            V[start : start + BLOCK] = block.T
        columns = Columns(V)
    squares, triangles = zip(*columns.over_blocks(_block_scan, executor), strict=True)
    r = features.shape[1]
    return _Scan(np.concatenate(squares), upper(np.vstack([*triangles, np.zeros((r, r))])), V)


def _block_scan(block: Columns) -> tuple[FloatArray, FloatArray]:
    V = block.values().T
    return np.einsum("ij,ij->i", V, V), upper(V) if len(V) >= V.shape[1] else V


def _extend(features: Features, left: FloatArray, target: float, most: int) -> Features:
    """More pivots, among the inputs where much is left over (n,); the same if rounding leaves nothing to choose."""
    X = features.X[_candidates(left, target, first=len(features.Z) == 0)]
    V = features.at(X).values()
    # what the pivots so far do not explain, S = k(X, X) - V V^T, in pivoted order A A^T
    S = features.kernel(X, X) - V @ V.T
    remaining = float(np.trace(S))
    A, order, rank, _ = dpstrf(S, lower=1, tol=target / 16, overwrite_a=1)
    A = np.tril(A[:, :rank])
    enough = int(np.searchsorted(column_norms(A).cumsum(), remaining - target / 16 * len(X))) + 1
    rank, old = min(rank, enough), len(features.Z)
    if old + rank > most:
        raise ToleranceMissedError(_MISSED.format(most=most))
    pivots = order[:rank] - 1
    root = np.zeros((old + rank, old + rank))
    root[:old, :old], root[old:, :old], root[old:, old:] = features.root, V[pivots], A[:rank, :rank]
    return Features(features.kernel, np.vstack([features.Z, X[pivots]]), root, features.X)


def _candidates(left: FloatArray, target: float, *, first: bool) -> NDArray[np.intp]:
    """Up to ``_CANDIDATES`` inputs: evenly spaced in their order at first, then half of them the worst."""
    large = np.arange(len(left)) if first else np.flatnonzero(left > target / 8)
    if len(large) <= _CANDIDATES:
        return large
    half = _CANDIDATES // 2
    spaced = large[:: -(-len(large) // (_CANDIDATES if first else half))]
    return spaced if first else np.union1d(spaced, large[np.argpartition(left[large], -half)[-half:]])
