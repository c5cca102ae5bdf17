"""Quasi-Newton minimisation of the Bayes risk over matrices with columns of norm 1.

The gradient of column j is divided by nu_j = |(B G)_j|, which at the optimum is the multiplier of |b_j| <= 1 and so
the curvature along its sphere: records that matter little move as fast as others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import svd

from ..data import FloatArray
from .mixture_risk import MixtureRisk, Point

_TINY = 1e-12
_WOBBLE = 0.03  # of random directions in the start: a row at zero would stay there
_MEMORY = 15
_FLATTEST = 1e-3  # of the mean multiplier: a smaller one counts as that
_SUFFICIENT = 1e-4  # share of the decrease that the slope promises
_SHORTEST = 1e-6  # step at which the line search gives up
_CURVED = 1e-10
_RESERVE = 0.9  # of the gap asked for; the rest may be spent on fewer rows


class Minimum(NamedTuple):
    """B (r, n), its risk, a lower bound of the least risk, evaluations used."""

    B: FloatArray
    risk: float
    bound: float
    used: int


class _Place(NamedTuple):
    point: Point
    slope: FloatArray  # gradient on the spheres (r, n)
    nu: FloatArray  # (n,)
    slack: float  # sum nu - tr B G B^T: 0 only at a stationary B


def minimise_risk(risk: MixtureRisk, r: int, gap: float, start: FloatArray | None, most: int) -> Minimum:
    """Descend until the gap is certified, or ``most`` evaluations are used, or rounding ends the descent.

    Args:
        risk: what to minimise.
        r: rows of B.
        gap: relative to the excess over the risk without privacy.
        start: rows to start from (any number, n); None: singular vectors of the targets.
        most: evaluations at most.
    """
    place, used, memory = _place(risk, _start(risk, r, start)), 1, _Memory()
    best, bound, threshold = place.point, -np.inf, 0.05 * gap
    while used < most:
        excess = place.point.risk - risk.least
        if place.slack <= threshold * excess or excess <= 0:
            goal = _RESERVE * gap
            found = risk.bound(place.point, goal / (1 - goal) * excess)
            bound = max(bound, found)
            if place.point.risk - bound <= goal * excess:
                break
            threshold = 0.3 * place.slack / excess
        place, step_used = _step(risk, place, memory)
        used += step_used
        if place is None:
            break
        best = place.point
    if bound == -np.inf:
        bound = risk.bound(best)
    return _fewer_rows(risk, best, bound, gap, used)


class _Memory:
    """The last steps and changes of slope, and what they say of the curvature (L-BFGS two-loop recursion)."""

    def __init__(self) -> None:
        self._pairs: list[tuple[FloatArray, FloatArray, float]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def add(self, s: FloatArray, y: FloatArray) -> None:
        product = float(np.vdot(s, y))
        if product > _CURVED * np.sqrt(float(np.vdot(s, s)) * float(np.vdot(y, y))):
            self._pairs = [*self._pairs[1 - _MEMORY :], (s, y, 1 / product)]

    def clear(self) -> None:
        self._pairs = []

    def applied(self, slope: FloatArray, scale: FloatArray) -> FloatArray:
        """Approximate inverse Hessian times slope; ``scale`` (n,) is the initial inverse Hessian up to a factor."""
        q, steps = slope.copy(), []
        for s, y, rho in reversed(self._pairs):
            steps.append(rho * float(np.vdot(s, q)))
            q -= steps[-1] * y
        q *= scale
        if self._pairs:
            _, y, rho = self._pairs[-1]
            q /= rho * float(np.vdot(y, scale * y))
        for (s, y, rho), a in zip(self._pairs, reversed(steps), strict=True):
            q += (a - rho * float(np.vdot(y, q))) * s
        return q


def _step(risk: MixtureRisk, place: _Place, memory: _Memory) -> tuple[_Place | None, int]:
    """One quasi-Newton step with backtracking; None where no step descends."""
    B, scale = place.point.B, 1 / np.maximum(place.nu, max(_FLATTEST * float(place.nu.mean()), 1e-300))
    while True:
        d = -_tangent(B, memory.applied(place.slope, scale))
        slope = float(np.vdot(d, place.slope))
        if slope < 0 or not len(memory):
            break
        memory.clear()
    length, used = 1.0, 0
    while slope < 0 and length > _SHORTEST:
        new, used = _place(risk, unit(B + length * d)), used + 1
        rise = new.point.risk - place.point.risk
        if rise <= _SUFFICIENT * length * slope:
            memory.add(new.point.B - B, new.slope - place.slope)
            return new, used
        length *= min(0.5, max(0.1, -length * slope / (2 * (rise - length * slope))))
    if len(memory):
        memory.clear()
        again, more = _step(risk, place, memory)
        return again, used + more
    return None, used


def _place(risk: MixtureRisk, B: FloatArray) -> _Place:
    point = risk.at(B)
    gradient = risk.gradient(point)
    inner = np.einsum("ij,ij->j", B, gradient)
    nu = np.sqrt(np.einsum("ij,ij->j", gradient, gradient)) / 2
    return _Place(point, gradient - B * inner, nu, float(nu.sum() + inner.sum() / 2))


def _tangent(B: FloatArray, D: FloatArray) -> FloatArray:
    tangent: FloatArray = D - B * np.einsum("ij,ij->j", B, D)
    return tangent


def _start(risk: MixtureRisk, r: int, start: FloatArray | None) -> FloatArray:
    wobble = np.random.default_rng(0).standard_normal((r, risk.n))
    if start is None:
        left, s, _ = svd(risk.targets, full_matrices=False)
        start = (left * np.sqrt(s / max(s[0], _TINY))).T
    rows = np.zeros((r, risk.n))
    rows[: min(r, len(start))] = start[:r]
    return unit(rows + _WOBBLE * max(float(np.sqrt((rows**2).sum() / rows.size)), _TINY) * wobble)


def unit(V: FloatArray) -> FloatArray:
    """Columns divided by their norms."""
    shrunk: FloatArray = V / np.maximum(np.sqrt(np.einsum("ij,ij->j", V, V)), 1e-300)
    return shrunk


def _fewer_rows(risk: MixtureRisk, point: Point, bound: float, gap: float, used: int) -> Minimum:
    """Rotate B to rows of falling norm, and leave out as many as the gap allows."""
    _, s, rows = svd(point.B, full_matrices=False)
    rows = s[:, None] * rows
    now = (point.risk - bound) / max(point.risk - risk.least, 1e-300)
    allowed = max(gap, now * 1.02)
    low, high = 0, len(rows)
    best = risk.at(safe(rows))
    while high - low > 1:
        middle = (low + high) // 2
        tried = risk.at(safe(unit(rows[:middle])))
        used += 1
        if tried.risk - bound <= allowed * (tried.risk - risk.least):
            high, best = middle, tried
        else:
            low = middle
    return Minimum(best.B, best.risk, bound, used)


def safe(B: FloatArray) -> FloatArray:
    """Column norms <= 1 also after rounding."""
    norms = np.sqrt(np.einsum("ij,ij->j", B, B)) * (1 + 4 * np.finfo(float).eps)
    shrunk: FloatArray = B / np.maximum(norms, 1.0)
    return shrunk
