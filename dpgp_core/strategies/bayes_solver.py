"""Quasi-Newton minimisation of the Bayes risk over matrices with columns of norm 1.

Steps start from the inverse of the two terms of ``curvature``, renewed now and then, with nu_j = |(B G)_j|, which at
the optimum is the multiplier of |b_j| <= 1; L-BFGS learns the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from .certificate import lower_bound
from .curvature import Curvature
from .limited_memory import LimitedMemory
from .mixture_risk import MixtureRisk, Point
from .rows import first_rows, safe, thin_svd, unit

_TINY = 1e-12
_FIRST_LOOK, _NEXT_LOOK = 0.5, (0.3, 0.7)  # of the gap, or of the last slack: where to look for a certificate
_STATIONARY = 0.02  # of the gap: the slack below which more rows are needed, not more steps
_RISING, _STEEP = 1.0001, 2.0  # eigenvalues above 1 promise a descent along a new row: some, and much
_PATIENCE = 20  # evaluations
_ADDED = (0.7, 0.3, 0.1, 0.03, 0.01)  # sizes tried of the largest column of new rows
_FLATTEST = 1e-3  # of the mean multiplier: a smaller one counts as that
_RENEWED = 20  # steps after which the curvature is computed anew
_SUFFICIENT = 1e-4  # share of the decrease that the slope promises
_SHORTEST = 1e-6  # step at which the line search gives up
_WORSE = 0.02  # of the gap asked for: how much larger the excess of fewer rows may be where the gap was not reached
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


class _Memory(LimitedMemory):
    """Steps and the curvature that they start from."""

    def __init__(self) -> None:
        super().__init__()
        self._curvature: Curvature | None = None
        self._age = 0

    def curvature(self, risk: MixtureRisk, place: _Place) -> Curvature:
        if self._curvature is None or self._age >= _RENEWED:
            self._curvature, self._age = Curvature(risk, place.point, _raised(place.nu)), 0
        self._age += 1
        return self._curvature


def minimise_risk(
    risk: MixtureRisk,
    most_rows: int,
    gap: float,
    start: FloatArray | None,
    most: int,
    of_risk: float = 0.0,
    fewest: int = 0,
    patience: int = _PATIENCE,
) -> Minimum:
    """Descend until the gap is certified, or ``most`` evaluations are used, or rounding ends the descent.

    Args:
        risk: what to minimise.
        most_rows: rows of B at most. Few are used at first: more where B is all but stationary and not optimal.
        gap: relative to the excess over the risk without privacy.
        start: rows to start from (any number, n); None: singular vectors of the targets.
        most: evaluations at most.
        of_risk: share of the whole risk that may be avoidable too, even where that is all of the excess.
        fewest: rows that are kept in any case.
        patience: evaluations after which rows with much to promise are added without waiting for a stationary B.
    """
    place: _Place | None = _place(risk, first_rows(risk, most_rows, start))
    used, memory, look, bound = 1, _Memory(), _FIRST_LOOK, -np.inf
    asked, wider = gap, None
    while place is not None:
        best, excess = place.point, max(place.point.risk - risk.least, 0.0)
        gap = max(asked, of_risk * best.risk / max(excess, _TINY * best.risk))
        goal = _RESERVE * min(gap, 1.0)
        if excess <= _RESERVE * of_risk * best.risk:
            break
        if place.slack <= look * gap * excess or excess == 0:
            bound = max(bound, lower_bound(risk, best, goal / (1 - goal) * excess))
            if best.risk - bound <= goal * excess:
                break
            nearly = min(max(goal * excess / (best.risk - bound), _NEXT_LOOK[0]), _NEXT_LOOK[1])
            look = nearly * place.slack / (gap * excess)
            if place.slack <= _STATIONARY * gap * excess:
                wider = _with_rows_added(risk, place, most_rows, _RISING)
        elif used >= patience and len(best.B) < most_rows:
            wider, patience = _with_rows_added(risk, place, most_rows, _STEEP), max(2 * used, used + _PATIENCE)
        if wider is not None:
            place, wider, memory, used = wider, None, _Memory(), used + len(_ADDED)
        if used >= most:
            break
        place, tried = _step(risk, place, memory)
        used += tried
    if bound == -np.inf:
        bound = lower_bound(risk, best)
    return _fewer_rows(risk, best, bound, (asked, of_risk), used, fewest)


def _step(risk: MixtureRisk, place: _Place, memory: _Memory) -> tuple[_Place | None, int]:
    """One quasi-Newton step with backtracking; None where no step descends."""
    B, curvature = place.point.B, memory.curvature(risk, place)
    while True:
        d = -_tangent(B, memory.applied(place.slope, curvature.solve))
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


def _with_rows_added(risk: MixtureRisk, place: _Place, most_rows: int, least: float) -> _Place | None:
    """Leave a saddle: rows along which the risk falls at second order.

    At a stationary B, adding a small row x changes the risk by x^T (diag(nu) - G) x / ... < 0 exactly where
    diag(nu)^-1/2 G diag(nu)^-1/2 has an eigenvalue above 1. The eigenvectors give the rows. None where no eigenvalue
    is above ``least`` or nothing is gained.
    """
    nu = _raised(place.nu)
    A = risk.residuals(place.point) / np.sqrt(nu * risk.t)[:, None]
    values, vectors = np.linalg.eigh(A.T @ A)
    count = min(int((values > least).sum()), max(most_rows // 4, 1))
    if count == 0:
        return None
    rows = ((A @ vectors[:, -count:]) / np.sqrt(nu)[:, None]).T
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->j", rows, rows)).max(), _TINY)
    _, s, old = thin_svd(place.point.B)
    old = (s[:, None] * old)[: most_rows - count]
    best = min((risk.at(unit(np.vstack([old, size * rows]))) for size in _ADDED), key=lambda point: point.risk)
    return _place(risk, best.B) if best.risk < place.point.risk else None


def _raised(nu: FloatArray) -> FloatArray:
    raised: FloatArray = np.maximum(nu, max(_FLATTEST * float(nu.mean()), 1e-300))
    return raised


def _place(risk: MixtureRisk, B: FloatArray) -> _Place:
    point = risk.at(B)
    gradient = risk.gradient(point)
    inner = np.einsum("ij,ij->j", B, gradient)
    nu = np.sqrt(np.einsum("ij,ij->j", gradient, gradient)) / 2
    return _Place(point, gradient - B * inner, nu, float(nu.sum() + inner.sum() / 2))


def _tangent(B: FloatArray, D: FloatArray) -> FloatArray:
    tangent: FloatArray = D - B * np.einsum("ij,ij->j", B, D)
    return tangent


def _fewer_rows(
    risk: MixtureRisk, point: Point, bound: float, shares: tuple[float, float], used: int, low: int
) -> Minimum:
    """Rotate B to rows of falling norm, and leave out as many as the gap allows, but more than ``low`` stay.

    Avoidable may be ``shares`` of the excess and of the whole risk, of the fewer rows' own; or little more than is now.
    """
    _, s, rows = thin_svd(point.B)
    rows = s[:, None] * rows
    excess, (gap, of_risk) = max(point.risk - risk.least, 1e-300), shares
    most = excess / (1 - _WORSE * min(max(gap, of_risk * point.risk / excess), 1.0))  # instead of this excess
    high, best = len(rows), risk.at(safe(rows))
    while high - low > 1:
        middle = (low + high) // 2
        tried = risk.at(safe(unit(rows[:middle])))
        used, left = used + 1, tried.risk - risk.least
        if left <= most or tried.risk - bound <= max(gap * left, of_risk * tried.risk):
            high, best = middle, tried
        else:
            low = middle
    return Minimum(best.B, best.risk, bound, used)
