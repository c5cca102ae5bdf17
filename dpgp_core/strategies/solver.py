"""Interior-point solver for the two objectives of noise design.

Both objectives maximise a concave F(mu) over weights mu >= 0 of the columns b_j of B (r, n). The optimum has g_j <= 1
for every j, and g_j = 1 if mu_j > 0. With S = B diag(mu) B^T:

    log-det:  F = log|S| - sum mu,          g_j = b_j^T S^-1 b_j,       noise covariance M = S
    trace:    F = 2 tr S^{1/2} - sum mu,    g_j = b_j^T S^{-1/2} b_j,   noise covariance M = S^{1/2}

At any mu, gap = max_j g_j * sum(mu) / (mu . g) - 1 certifies the distance from the optimum: after scaling to
max_j g_j = 1, tr M is within a factor 1 + gap of the smallest possible value, and log|M| within r log(1 + gap). S is
never formed, because that would square the condition number. Everything is computed from singular values of B
diag(mu)^{1/2}.

``interior_point`` solves the problem for columns that fit in memory. ``optimise`` solves it for any number of columns:
it solves for a working set, evaluates g on all columns, adds the worst violators of g <= 1, and repeats. Passes over
all columns are sums and maxima over blocks, so they also run on a cluster. The certificate is the gap over all columns,
and does not depend on how the working set was chosen.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr, svd

from ..arrays import FloatArray
from ..linalg import BLOCK, Columns, column_norms, norms

_MAX_STEPS = 100  # largest number of Newton steps per working set; usually about 10 are needed
_STEP_TO_BOUNDARY = 0.95
_CENTRING = (1e-3, 0.5)  # smallest and largest centring parameter: target complementarity relative to the present one
_NODES = 1.3  # distance of quadrature nodes, for an error of about 1 %
_TILE = 256  # number of columns of the curvature that are computed at a time
_UNDAMPED, _VANISHED = 3e-3, 5.0  # exp(-x) is taken to be 1 for smaller x, and 0 for larger x


class Root(NamedTuple):
    """Eigendecomposition M = U diag(values) U^T with orthogonal U (r, r) and descending values (r,)."""

    U: FloatArray
    values: FloatArray

    def whiten(self, B: FloatArray) -> FloatArray:
        """Return M^{-1/2} B up to a rotation, as diag(values)^{-1/2} U^T B (r, n)."""
        return (self.U.T @ B) / np.sqrt(self.values)[:, None]

    @property
    def factor(self) -> FloatArray:
        """Factor L (r, r) with L L^T = M."""
        return self.U * np.sqrt(self.values)

    def times(self, t: float) -> Root:
        """Return the eigendecomposition of t M."""
        return Root(self.U, t * self.values)


@dataclass(frozen=True)
class Objective:
    """An objective with M = S^power. The two objectives differ in this power and in their curvature."""

    power: float

    def root(self, B: FloatArray, mu: FloatArray) -> Root:
        """Return the eigendecomposition of M: with B diag(mu)^{1/2} = U diag(s) W^T, M = U diag(s^{2 power}) U^T."""
        R = qr((B * np.sqrt(mu)).T, mode="r", check_finite=False)[0][: len(B)]
        _, s, Ut = svd(R, check_finite=False)
        return Root(Ut.T, s ** (2 * self.power))

    def to_leverage(self, rows: FloatArray, root: Root) -> FloatArray:
        """Convert M^{-1/2} b to S^{-1/2} b, both up to a rotation, for each column b; S = M^{1 / power}."""
        scale: FloatArray = root.values ** (0.5 - 0.5 / self.power)
        return rows * scale[:, None]

    def curvature(self, rows: FloatArray, root: Root) -> FloatArray:
        """Return -dg_j/dmu_k (n, n) for whitened columns ``rows`` (r, n); only entries with j >= k are computed."""
        raise TypeError("use LOGDET or TRACE")


class _LogDet(Objective):
    def curvature(self, rows: FloatArray, root: Root) -> FloatArray:
        """Return (b_j^T S^-1 b_k)^2 (n, n)."""
        gram = rows.T @ rows
        return gram * gram


class _Trace(Objective):
    def curvature(self, rows: FloatArray, root: Root) -> FloatArray:
        """Return sum_ab q_ja q_ka q_jb q_kb / (s_a + s_b) (n, n), with an error of about 1 %; q_ja is ``rows[a, j]``.

        The fraction is written as 1/x = int exp(u - x e^u) du and integrated by the trapezoidal rule. Each node of the
        rule contributes the elementwise square of a Gram matrix, so the r(r+1)/2 products are not stored. A Newton
        direction needs no higher accuracy. Nodes are taken from large u to small. A row is at first damped so strongly
        that it is left out, then partly damped, and finally counted without damping.
        """
        s, n = root.values, rows.shape[1]
        nodes = np.exp(np.arange(-np.log(2 * s[0]) - 5.0, -np.log(2 * s[-1]) + 2.0, _NODES))[::-1]
        # s, and therefore the exponent s node / 2, decreases with the index: rows first ... last are partly damped.
        first, last = (np.searchsorted(-s, -2 * x / nodes) for x in (_VANISHED, _UNDAMPED))
        pieces = []
        for node, i, j, end in zip(nodes, first, last, [len(s), *last], strict=False):
            pieces.append((_NODES * node, rows[i:j] * np.exp(-s[i:j, None] * (node / 2)), rows[j:end]))
        total = np.empty((n, n))
        for start in range(0, n, _TILE):  # tiles of the lower triangle stay in the cache
            tile = slice(start, start + _TILE)
            whole, sums = np.zeros((2, n - start, min(_TILE, n - start)))
            for weight, damped, undamped in pieces:
                if len(undamped):
                    whole += undamped[:, start:].T @ undamped[:, tile]
                gram = damped[:, start:].T @ damped[:, tile]
                gram += whole
                gram *= gram
                gram *= weight
                sums += gram
            total[start:, tile] = sums
        return total


LOGDET = _LogDet(power=1.0)
TRACE = _Trace(power=0.5)


class Weighted(NamedTuple):
    """Weights mu (n,) > 0, the eigendecomposition of M(mu), g (n,), and the number of steps."""

    mu: FloatArray
    root: Root
    g: FloatArray
    steps: int


def interior_point(B: FloatArray, objective: Objective, mu: FloatArray, gap: float) -> Weighted:
    """Solve z = 1 - g, mu z = 0 with mu > 0, z > 0 by primal-dual Newton steps.

    Args:
        B: columns to be masked (r, n), with full row rank r.
        objective: LOGDET or TRACE.
        mu: weights > 0 to start from (n,).
        gap: relative optimality gap among these columns to stop at.

    Source: Mehrotra 1992 for the predictor, which chooses the centring, and the corrector.
    """
    root = objective.root(B, mu)
    rows = root.whiten(B)
    g = column_norms(rows)
    # g(t mu) = t^-power g(mu). The start is scaled so that the largest g is a little below its optimal value 1.
    t = 1.1 * float(g.max())
    mu, root, rows, g = mu * t ** (1 / objective.power), root.times(t), rows / np.sqrt(t), g / t
    z = np.maximum(1 - g, 1e-3)
    step = 0
    while relative_gap(g, mu, g) > gap and step < _MAX_STEPS:
        dmu, dz = _newton_step(objective.curvature(rows, root), g, mu, z)
        length = min(1.0, _STEP_TO_BOUNDARY * _to_boundary(mu, z, dmu, dz))
        mu, z, step = mu + length * dmu, z + length * dz, step + 1
        root = objective.root(B, mu)
        rows = root.whiten(B)
        g = column_norms(rows)
    return Weighted(mu, root, g, step)


def _newton_step(H: FloatArray, g: FloatArray, mu: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve (H + diag(z / mu)) dmu = g - 1 + c / mu,  dz = c / mu - z - (z / mu) dmu,  c = tau - second-order term."""
    H[np.diag_indices_from(H)] += z / mu
    factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)

    def towards(c: FloatArray | float) -> tuple[FloatArray, FloatArray]:
        dmu = cho_solve(factor, g - 1 + c / mu, check_finite=False)
        return dmu, c / mu - z - z / mu * dmu

    dmu, dz = towards(0.0)
    length = min(1.0, _to_boundary(mu, z, dmu, dz))
    before, after = mu @ z, (mu + length * dmu) @ (z + length * dz)
    centring = np.clip((after / before) ** 3, *_CENTRING)
    return towards(centring * before / len(mu) - length**2 * dmu * dz)


def _to_boundary(mu: FloatArray, z: FloatArray, dmu: FloatArray, dz: FloatArray) -> float:
    """Return the longest step that keeps mu and z non-negative."""
    return 1 / max(float((-dmu / mu).max()), float((-dz / z).max()), 1e-300)


def relative_gap(g: FloatArray, weights: FloatArray, g_of_weights: FloatArray) -> float:
    """Return max_j g_j sum(mu) / (mu . g) - 1, for weights mu (m,) and g of their columns (m,)."""
    return float(g.max() * weights.sum() / (weights @ g_of_weights) - 1)


_MAX_ROUNDS = 100  # largest number of working sets; usually about 5 are needed
_FIRST_GAP = 0.1  # gap for the first working set, which is a guess and need not be solved accurately
_TIGHTEN = 0.2  # gap for the next working set, relative to the gap over all columns
_NEGLIGIBLE = 1e-3  # largest total leverage of columns that are removed from a working set


class Solution(NamedTuple):
    """Weights mu (n,) with sum 1, the eigendecomposition of M(mu), the certified gap, and the number of steps."""

    mu: FloatArray
    root: Root
    gap: float
    steps: int


def optimise(B: FloatArray | Columns, objective: Objective, gap: float, executor: Executor | None = None) -> Solution:
    """Optimise the objective over all columns to a certified relative gap.

    Args:
        B: columns to be masked (r, n), with full row rank r.
        objective: LOGDET or TRACE.
        gap: relative optimality gap to stop at. The weights are valid for any value.
        executor: runs blocks of columns, see ``Columns.over_blocks``.
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
        # The gap on the working set is reduced only in step with the gap over all columns, so that the weights are not
        # fitted to a working set that still lacks important columns.
        target = max(gap / 2, min(_FIRST_GAP, _TIGHTEN * reached))
        level = weights @ g_own / weights.sum()
        violators = np.setdiff1d(np.flatnonzero(g > level * (1 + gap / 2)), working, assume_unique=True)
        if len(violators) > r:
            worst = np.sort(violators[np.argsort(-g[violators], kind="stable")[:BLOCK]])
            violators = worst[_spanning(root.whiten(columns[worst].values()) * g[worst], 1)]
        # Columns are removed by their leverage mu_j b_j^T S^-1 b_j and not by their weight, because a column with a
        # tiny weight may be the only one in a direction with a tiny singular value. If the removed leverage is t in
        # total, S' >= (1 - t) S, so no direction is lost.
        leverage = weights * column_norms(objective.to_leverage(root.whiten(own), root))
        kept = leverage > _NEGLIGIBLE / len(working)
        working, weights = _merge(working[kept], weights[kept], violators)
    mu = np.zeros(n)
    mu[working] = weights / weights.sum()
    return Solution(mu, root.times(weights.sum() ** -objective.power), reached, steps)


def shifts(columns: Columns, root: Root, executor: Executor | None = None) -> FloatArray:
    """Return g_j = b_j^T M^-1 b_j for every column (n,)."""
    return norms(columns, (root.U / np.sqrt(root.values)).T, executor)


def _first_guess(columns: Columns, executor: Executor | None) -> NDArray[np.intp]:
    """Return indices of about 2 r well-spread columns with full row rank, chosen from candidates of each block."""
    among = np.arange(columns.shape[1])
    if len(columns.starts()) > 1:
        winners = columns.over_blocks(_block_pivots, executor)
        among = np.concatenate([start + own for start, own in zip(columns.starts(), winners, strict=True)])
    return among[_spanning(columns[among].values(), 2)]


def _block_pivots(block: Columns) -> NDArray[np.intp]:
    return np.sort(_spanning(block.values(), 1))


def _spanning(B: FloatArray, times: int) -> NDArray[np.intp]:
    """Return indices of well-spread columns: the pivots of ``times`` successive pivoted QR factorisations."""
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
