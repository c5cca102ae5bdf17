"""Interior-point solver with cutting planes for the two noise-design objectives.

Both maximise a concave F(mu) over weights mu >= 0 on the columns b_j of B (r, n). The optimum has
g_j <= 1 for every j, and g_j = 1 wherever mu_j > 0. With S = B diag(mu) B^T:

    log-det:  F = log|S| - sum mu,          g_j = b_j^T S^-1 b_j,       noise covariance M = S
    trace:    F = 2 tr S^{1/2} - sum mu,    g_j = b_j^T S^{-1/2} b_j,   noise covariance M = S^{1/2}

At any mu, gap = max_j g_j * sum(mu) / (mu . g) - 1 certifies the distance from the optimum: after
rescaling to max_j g_j = 1, tr M is within a factor 1 + gap of the smallest possible, and log|M|
within r log(1 + gap). S is never formed (that would square the condition number): everything comes
from singular values of B diag(mu)^{1/2}.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, qr, svd

from .data import FloatArray

_MAX_STEPS = 100  # Newton steps per working set; about 10 suffice
_MAX_ROUNDS = 100  # cutting-plane rounds; about 5 suffice
_FIRST_GAP = 0.1  # the first working set is a guess: solve it loosely
_STEP_TO_BOUNDARY = 0.95
_CENTRING = 0.1
_NEGLIGIBLE = 1e-3  # total leverage that the columns leaving a working set may have


class Root(NamedTuple):
    """M = U diag(values) U^T with orthogonal U (r, r) and values (r,), descending."""

    U: FloatArray
    values: FloatArray

    def whiten(self, B: FloatArray) -> FloatArray:
        """M^{-1/2} B, up to a rotation: diag(values)^{-1/2} U^T B."""
        return (self.U.T @ B) / np.sqrt(self.values)[:, None]

    @property
    def factor(self) -> FloatArray:
        """L (r, r) with L L^T = M."""
        return self.U * np.sqrt(self.values)


@dataclass(frozen=True)
class Objective:
    """M = S^power, which is all that tells the two objectives apart, but for their curvature."""

    power: float

    def root(self, B: FloatArray, mu: FloatArray) -> Root:
        """Spectrum of M from B diag(mu)^{1/2} = U diag(s) W^T: M = U diag(s^{2 power}) U^T."""
        R = qr((B * np.sqrt(mu)).T, mode="r", check_finite=False)[0][: len(B)]
        _, s, Ut = svd(R, check_finite=False)
        return Root(Ut.T, s ** (2 * self.power))

    def to_leverage(self, rows: FloatArray, root: Root) -> FloatArray:
        """From M^{-1/2} b to S^{-1/2} b, up to a rotation; S = M^{1 / power}."""
        scale: FloatArray = root.values ** (0.5 - 0.5 / self.power)
        return rows * scale[:, None]

    def curvature(self, rows: FloatArray, root: Root) -> FloatArray:
        """-dg_j/dmu_k, shape (n, n), from the whitened columns ``rows`` (r, n)."""
        raise TypeError("use LOGDET or TRACE")


class _LogDet(Objective):
    def curvature(self, rows: FloatArray, root: Root) -> FloatArray:
        """(b_j^T S^-1 b_k)^2."""
        gram = rows.T @ rows
        return gram * gram


class _Trace(Objective):
    def curvature(self, rows: FloatArray, root: Root) -> FloatArray:
        """sum_ab q_ja q_ka q_jb q_kb / (s_a + s_b) with q the rows, to about 1 %.

        With 1/x = int exp(u - x e^u) du by the trapezoidal rule, each node is the elementwise square
        of a Gram matrix, so no r(r+1)/2 products are stored. A Newton direction needs no more digits.
        """
        s, step = root.values, 1.3
        nodes = np.arange(-np.log(2 * s[0]) - 5.0, -np.log(2 * s[-1]) + 2.0, step)
        total = np.zeros((rows.shape[1], rows.shape[1]))
        for node in nodes:
            damped = rows * np.exp(-s * np.exp(node) / 2)[:, None]
            gram = damped.T @ damped
            total += (step * np.exp(node)) * gram * gram
        return total


LOGDET = _LogDet(power=1.0)
TRACE = _Trace(power=0.5)


class Solution(NamedTuple):
    """Weights mu (n,) with sum 1, the spectrum of M(mu), certified gap, Newton steps used."""

    mu: FloatArray
    root: Root
    gap: float
    steps: int


def optimise(B: FloatArray, objective: Objective, gap: float) -> Solution:
    """Solve on a working set of columns, test all of them, add the worst violators, repeat.

    Args:
        B: columns to be masked (r, n), of full row rank r.
        objective: LOGDET or TRACE.
        gap: relative optimality gap to stop at; any value gives valid weights.
    """
    working = np.sort(_spanning(B, np.arange(B.shape[1]), blocks=2))
    weights = np.full(len(working), 1 / len(working))
    steps = 0
    for round_ in range(_MAX_ROUNDS):
        weights, used = _interior_point(B[:, working], objective, weights, gap / 2 if round_ else max(_FIRST_GAP, gap))
        steps += used
        root = objective.root(B[:, working], weights)
        rows = root.whiten(B)
        g = column_norms(rows)
        reached = _relative_gap(g, weights, g[working])
        if reached <= gap or round_ == _MAX_ROUNDS - 1:
            break
        level = weights @ g[working] / weights.sum()
        violators = np.setdiff1d(np.flatnonzero(g > level * (1 + gap / 2)), working, assume_unique=True)
        if len(violators) > len(B):
            violators = _spanning(rows * g, violators, blocks=1)
        # Drop by leverage mu_j b_j^T S^-1 b_j, not by weight: a tiny weight may be all that holds up a tiny
        # singular direction. Dropping leverage t in all leaves S' >= (1 - t) S, so the span is never lost.
        leverage = weights * column_norms(objective.to_leverage(rows[:, working], root))
        kept = leverage > _NEGLIGIBLE / len(working)
        working, weights = _merge(working[kept], weights[kept], violators)
    mu = np.zeros(B.shape[1])
    mu[working] = weights
    return Solution(mu / mu.sum(), objective.root(B, mu / mu.sum()), reached, steps)


def column_norms(rows: FloatArray) -> FloatArray:
    """Squared Euclidean norm of each column of (r, n), shape (n,)."""
    norms: FloatArray = np.einsum("ij,ij->j", rows, rows)
    return norms


def _interior_point(B: FloatArray, objective: Objective, mu: FloatArray, gap: float) -> tuple[FloatArray, int]:
    """Primal-dual Newton steps with mu > 0, z > 0 towards z = 1 - g, mu z = 0."""
    root = objective.root(B, mu)
    g = column_norms(root.whiten(B))
    # g(t mu) = t^-power g(mu): start with the largest g a little below its optimal value 1
    mu = mu * (1.1 * g.max()) ** (1 / objective.power)
    z = np.maximum(1 - g / (1.1 * g.max()), 1e-3)
    for step in range(_MAX_STEPS):
        root = objective.root(B, mu)
        rows = root.whiten(B)
        g = column_norms(rows)
        if _relative_gap(g, mu, g) <= gap:
            return mu, step
        tau = _CENTRING * (mu @ z) / len(mu)
        # (H + diag(z / mu)) dmu = g - 1 + tau / mu;    dz = tau / mu - z - (z / mu) dmu
        system = objective.curvature(rows, root)
        system[np.diag_indices_from(system)] += z / mu
        dmu = cho_solve(cho_factor(system, lower=True, check_finite=False), g - 1 + tau / mu, check_finite=False)
        dz = tau / mu - z - z / mu * dmu
        length = min(1.0, _STEP_TO_BOUNDARY / max((-dmu / mu).max(), (-dz / z).max(), 1e-300))
        mu, z = mu + length * dmu, z + length * dz
    return mu, _MAX_STEPS


def _relative_gap(g: FloatArray, weights: FloatArray, g_of_weights: FloatArray) -> float:
    return float(g.max() * weights.sum() / (weights @ g_of_weights) - 1)


def _spanning(B: FloatArray, among: NDArray[np.intp], blocks: int) -> NDArray[np.intp]:
    """Indices of well-spread columns: the pivots of ``blocks`` successive pivoted QR factorisations."""
    chosen: list[NDArray[np.intp]] = []
    for _ in range(blocks):
        pivots = qr(B[:, among], mode="r", pivoting=True, check_finite=False)[1][: len(B)]
        chosen.append(among[pivots])
        among = np.delete(among, pivots)
        if len(among) == 0:
            break
    return np.concatenate(chosen)


def _merge(
    working: NDArray[np.intp], weights: FloatArray, violators: NDArray[np.intp]
) -> tuple[NDArray[np.intp], FloatArray]:
    joined = np.concatenate([working, violators])
    start = np.concatenate([weights, np.full(len(violators), 0.1 * weights.mean())])
    order = np.argsort(joined)
    return joined[order], start[order]
