"""Quasi-Newton minimisation of the Bayes risk over matrices with columns of norm 1.

The minimisation uses L-BFGS (``LimitedMemory``, Nocedal and Wright 2006, algorithm 7.4). Its initial inverse Hessian is
that of ``Curvature``, an approximation of the Hessian of the Lagrangian, which is computed again every few steps.

The Lagrangian has multipliers nu_j of the constraints |b_j| <= 1; at the optimum, nu_j = |(B G)_j|. With D = diag(nu),
a change dB of an optimal B changes the Lagrangian, to second order, by

    tr dB D dB^T + tr Lambda dB (Y^-1 / t) dB^T + smaller and mixed terms,    Lambda = B G B^T = t sum pi J J^T,

where Y^-1 = (K^-1 + X / t)^-1 is the posterior covariance of y. ``Curvature`` consists of the first two terms. The
second one makes the problem ill-conditioned if there is little noise: the curvature for adding a weakly measured
direction to a strongly measured row is as large as the ratio of their strengths. Lambda has r eigenvectors and Y^-1 has
at most n that matter, so the inverse of the sum of both terms is computed in these eigenvectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..arrays import FloatArray
from .mixture_risk import MixtureRisk, Point, canonical, first_rows, safe, thin_svd, unit
from .strategy import lower_bound

_MEMORY = 15  # number of stored steps
_CURVED = 1e-10  # the curvature along a step counts as positive if s . y is above this share of |s| |y|


class LimitedMemory:
    """The last steps and changes of the gradient, which approximate the inverse Hessian (L-BFGS two-loop recursion)."""

    def __init__(self) -> None:
        self._pairs: list[tuple[FloatArray, FloatArray, float]] = []

    def __len__(self) -> int:
        return len(self._pairs)

    def add(self, s: FloatArray, y: FloatArray) -> None:
        """Store a step s and the change y of the gradient along it, unless the curvature along it is not positive."""
        product = float(np.vdot(s, y))
        if product > _CURVED * np.sqrt(float(np.vdot(s, s)) * float(np.vdot(y, y))):
            self._pairs = [*self._pairs[1 - _MEMORY :], (s, y, 1 / product)]

    def clear(self) -> None:
        """Delete all stored steps."""
        self._pairs = []

    def applied(self, slope: FloatArray, first: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return the approximate inverse Hessian times ``slope``; ``first`` applies the initial one, up to a factor."""
        q, steps = slope.copy(), []
        for s, y, rho in reversed(self._pairs):
            steps.append(rho * float(np.vdot(s, q)))
            q -= steps[-1] * y
        q = first(q)
        if self._pairs:
            _, y, rho = self._pairs[-1]
            q /= rho * float(np.vdot(y, first(y)))
        for (s, y, rho), a in zip(self._pairs, reversed(steps), strict=True):
            q += (a - rho * float(np.vdot(y, q))) * s
        return q


_RIDGE = 1e-10  # relative to the diagonal; keeps the Gram matrix of a basis regular


class Curvature:
    """The first two terms of the second-order expansion at B (r, n), see the docstring of the module.

    They are exact on the directions in which the roots exceed the noise; elsewhere Y^-1 is taken to be the noise.

    Args:
        risk: risk of the mixture.
        point: evaluation of the risk at B.
        nu: multipliers (n,) > 0.
    """

    def __init__(self, risk: MixtureRisk, point: Point, nu: FloatArray) -> None:
        weights = [member.weight * float(np.vdot(J, J)) for (_, member), J in zip(risk.members, point.J, strict=True)]
        shares = np.array(weights) / sum(weights)
        Lambda = np.zeros((len(point.B), len(point.B)))
        for (_, member), J in zip(risk.members, point.J, strict=True):
            Lambda += risk.t * member.weight * (J @ J.T)
        own, self._turned = np.linalg.eigh(Lambda)
        self._own = np.maximum(own, 0.0)
        self._root = np.sqrt(nu)
        basis = _orthonormal(risk.above_noise / self._root[:, None])
        inner = _posterior_products(risk, point, basis / self._root[:, None], shares) / risk.t
        self._theirs, vectors = np.linalg.eigh(inner)
        self._theirs = np.maximum(self._theirs, 0.0)
        self._basis = basis @ vectors
        self._rest = _noise(risk, shares) / (risk.t * nu)

    def solve(self, slope: FloatArray) -> FloatArray:
        """Return the change dB (r, n) at which the gradient of the two terms is ``slope`` (r, n)."""
        scaled = (self._turned.T @ slope) / self._root
        inside = scaled @ self._basis
        outside = (scaled - inside @ self._basis.T) / (1 + np.outer(self._own, self._rest))
        inside = inside / (1 + np.outer(self._own, self._theirs)) - outside @ self._basis
        solution: FloatArray = self._turned @ ((outside + inside @ self._basis.T) / self._root)
        return solution


def _orthonormal(A: FloatArray) -> FloatArray:
    """Return orthonormal columns that span the columns of A (n, p); the identity if p >= n."""
    n, p = A.shape
    if p >= n:
        return np.eye(n)
    gram = A.T @ A
    scale = np.sqrt(gram.diagonal())
    gram /= np.outer(scale, scale)
    gram.flat[:: p + 1] += _RIDGE
    L = cholesky(gram, lower=True, check_finite=False)
    Q: FloatArray = solve_triangular(L, (A / scale).T, lower=True, check_finite=False).T
    return Q


def _posterior_products(risk: MixtureRisk, point: Point, A: FloatArray, shares: FloatArray) -> FloatArray:
    """Return sum_m shares_m A^T (K_m - K_m B^T S_m^-1 B K_m) A (a, a), for A (n, a)."""
    total = np.zeros((A.shape[1], A.shape[1]))
    products = [((A * shape[:, None]).T @ A, (A * shape[:, None]).T @ point.B.T) for shape in risk.shapes]
    grams = [(point.B * shape) @ point.B.T for shape in risk.shapes]
    for (family, member), share in zip(risk.members, shares, strict=True):
        AU = A.T @ (risk.basis[:, family.columns] @ family.T)
        BU = (point.BQ[:, family.columns] @ family.T) * family.signs
        own, across = products[member.shape]
        across = member.level * across + AU @ BU.T
        S = member.level * grams[member.shape] + BU @ (BU * family.signs).T
        S.flat[:: len(S) + 1] += risk.t
        white = solve_triangular(cholesky(S, lower=True), across.T, lower=True)
        total += share * (member.level * own + (AU * family.signs) @ AU.T - white.T @ white)
    return total


def _noise(risk: MixtureRisk, shares: FloatArray) -> FloatArray:
    """Return sum_m shares_m noise_m (n,)."""
    levels = np.zeros(len(risk.shapes))
    for (_, member), share in zip(risk.members, shares, strict=True):
        levels[member.shape] += share * member.level
    noise: FloatArray = levels @ np.array(risk.shapes)
    return noise


_TINY = 1e-12
# A lower bound is computed when the slack has fallen to _FIRST_CHECK times the gap, and then again when it has fallen
# to a share of its last value that lies within _NEXT_CHECK.
_FIRST_CHECK, _NEXT_CHECK = 0.5, (0.3, 0.7)
_STATIONARY = 0.02  # slack, relative to the gap, below which B counts as stationary, so that only more rows can help
_RISING, _STEEP = 1.0001, 2.0  # eigenvalues above 1 mean descent along a new row; above _STEEP, a steep one
_PATIENCE = 20  # number of evaluations
_ADDED = (0.7, 0.3, 0.1, 0.03, 0.01)  # sizes of the largest column of new rows that are tried
_FLATTEST = 1e-3  # smallest multiplier, relative to their mean
_RENEWED = 20  # number of steps after which the curvature is computed again
_SUFFICIENT = 1e-4  # share of the linearly predicted decrease that a step must reach (Armijo condition)
_SHORTEST = 1e-6  # step length at which the line search stops
_WORSE = 0.02  # if the gap is not reached, dropping rows may increase the excess by this share of ``gap``
_RESERVE = 0.9  # share of ``gap`` at which the descent stops; the rest is left for dropping rows


class Minimum(NamedTuple):
    """Result of a minimisation: B (r, n), its risk, a lower bound on the smallest risk, and the evaluations used."""

    B: FloatArray
    risk: float
    bound: float
    used: int


class _Iterate(NamedTuple):
    point: Point
    slope: FloatArray  # gradient (r, n), projected on the tangent spaces of the unit spheres
    nu: FloatArray  # multipliers (n,)
    slack: float  # sum nu - tr B G B^T, which is 0 only at a stationary B


class _Memory(LimitedMemory):
    """The stored steps, and the initial curvature."""

    def __init__(self) -> None:
        super().__init__()
        self._curvature: Curvature | None = None
        self._age = 0

    def curvature(self, risk: MixtureRisk, iterate: _Iterate) -> Curvature:
        if self._curvature is None or self._age >= _RENEWED:
            self._curvature, self._age = Curvature(risk, iterate.point, _raised(iterate.nu)), 0
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
    """Minimise until the gap is certified, ``most`` evaluations are used, or rounding errors prevent further descent.

    Args:
        risk: risk to be minimised.
        most_rows: largest number of rows of B. The descent starts with few rows, and adds more when B is nearly
            stationary but not optimal.
        gap: gap to stop at, relative to the excess over the risk without privacy.
        start: B (any number of rows, n) to start from; None for singular vectors of the targets.
        most: largest number of evaluations.
        of_risk: the descent also stops if at most this share of the whole risk is avoidable.
        fewest: smallest number of rows that is returned, if there are so many.
        patience: number of evaluations after which rows with a steep descent are added before B is stationary.
    """
    iterate: _Iterate | None = _iterate_at(risk, first_rows(risk, most_rows, start))
    used, memory, check_at, bound = 1, _Memory(), _FIRST_CHECK, -np.inf
    gap_in_excess, wider = gap, None
    while iterate is not None:
        best, excess = iterate.point, max(iterate.point.risk - risk.least, 0.0)
        gap = max(gap_in_excess, of_risk * best.risk / max(excess, _TINY * best.risk))
        goal = _RESERVE * min(gap, 1.0)
        if excess <= _RESERVE * of_risk * best.risk:
            break
        if iterate.slack <= check_at * gap * excess or excess == 0:
            bound = max(bound, lower_bound(risk, best, goal / (1 - goal) * excess))
            if best.risk - bound <= goal * excess:
                break
            nearly = min(max(goal * excess / (best.risk - bound), _NEXT_CHECK[0]), _NEXT_CHECK[1])
            check_at = nearly * iterate.slack / (gap * excess)
            if iterate.slack <= _STATIONARY * gap * excess:
                wider = _with_rows_added(risk, iterate, most_rows, _RISING)
        elif used >= patience and len(best.B) < most_rows:
            wider, patience = _with_rows_added(risk, iterate, most_rows, _STEEP), max(2 * used, used + _PATIENCE)
        if wider is not None:
            iterate, wider, memory, used = wider, None, _Memory(), used + len(_ADDED)
        if used >= most:
            break
        iterate, more = _step(risk, iterate, memory)
        used += more
    if bound == -np.inf:
        bound = lower_bound(risk, best)
    return _fewer_rows(risk, best, bound, (gap_in_excess, of_risk), used, fewest)


def _step(risk: MixtureRisk, iterate: _Iterate, memory: _Memory) -> tuple[_Iterate | None, int]:
    """Make a quasi-Newton step with backtracking; return the new iterate (None if no step descends) and evaluations."""
    B, curvature = iterate.point.B, memory.curvature(risk, iterate)
    while True:
        d = -_tangent(B, memory.applied(iterate.slope, curvature.solve))
        slope = float(np.vdot(d, iterate.slope))
        if slope < 0 or not len(memory):
            break
        memory.clear()
    length, used = 1.0, 0
    while slope < 0 and length > _SHORTEST:
        new, used = _iterate_at(risk, unit(B + length * d)), used + 1
        rise = new.point.risk - iterate.point.risk
        if rise <= _SUFFICIENT * length * slope:
            memory.add(new.point.B - B, new.slope - iterate.slope)
            return new, used
        length *= min(0.5, max(0.1, -length * slope / (2 * (rise - length * slope))))
    if len(memory):
        memory.clear()
        new_iterate, more = _step(risk, iterate, memory)
        return new_iterate, used + more
    return None, used


def _with_rows_added(risk: MixtureRisk, iterate: _Iterate, most_rows: int, least: float) -> _Iterate | None:
    """Leave a saddle point by adding rows along which the risk decreases to second order.

    At a stationary B, adding a small row x changes the risk by a positive multiple of x^T (diag(nu) - G) x. This can be
    negative only if diag(nu)^-1/2 G diag(nu)^-1/2 has an eigenvalue above 1, and its eigenvectors give the rows. The
    result is None if no eigenvalue is above ``least`` or the risk does not decrease.
    """
    nu = _raised(iterate.nu)
    A = risk.residuals(iterate.point) / np.sqrt(nu * risk.t)[:, None]
    values, vectors = np.linalg.eigh(A.T @ A)
    count = min(int((values > least).sum()), max(most_rows // 4, 1))
    if count == 0:
        return None
    rows = ((A @ vectors[:, -count:]) / np.sqrt(nu)[:, None]).T
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->j", rows, rows)).max(), _TINY)
    _, s, old = thin_svd(iterate.point.B)
    old = (s[:, None] * old)[: most_rows - count]
    best = min((risk.at(unit(np.vstack([old, size * rows]))) for size in _ADDED), key=lambda point: point.risk)
    return _iterate_at(risk, best.B) if best.risk < iterate.point.risk else None


def _raised(nu: FloatArray) -> FloatArray:
    raised: FloatArray = np.maximum(nu, max(_FLATTEST * float(nu.mean()), 1e-300))
    return raised


def _iterate_at(risk: MixtureRisk, B: FloatArray) -> _Iterate:
    point = risk.at(B)
    gradient = risk.gradient(point)
    inner = np.einsum("ij,ij->j", B, gradient)
    nu = np.sqrt(np.einsum("ij,ij->j", gradient, gradient)) / 2
    return _Iterate(point, gradient - B * inner, nu, float(nu.sum() + inner.sum() / 2))


def _tangent(B: FloatArray, D: FloatArray) -> FloatArray:
    tangent: FloatArray = D - B * np.einsum("ij,ij->j", B, D)
    return tangent


def _fewer_rows(
    risk: MixtureRisk, point: Point, bound: float, shares: tuple[float, float], used: int, low: int
) -> Minimum:
    """Rotate B to rows of decreasing norm, and drop the last rows as long as the gap allows it.

    More than ``low`` rows are kept. The gap may become as large as ``shares``, relative to the excess and to the whole
    risk. If B has not reached this gap, the excess of the remaining rows may be slightly larger than that of B.
    """
    _, s, rows = thin_svd(point.B)
    rows = s[:, None] * rows
    excess, (gap, of_risk) = max(point.risk - risk.least, 1e-300), shares
    most = excess / (1 - _WORSE * min(max(gap, of_risk * point.risk / excess), 1.0))  # slightly more than the excess
    high, best = len(rows), risk.at(safe(rows))
    while high - low > 1:
        middle = (low + high) // 2
        tried = risk.at(safe(unit(rows[:middle])))
        used, left = used + 1, tried.risk - risk.least
        if left <= most or tried.risk - bound <= max(gap * left, of_risk * tried.risk):
            high, best = middle, tried
        else:
            low = middle
    return Minimum(safe(canonical(best.B)), best.risk, bound, used)
