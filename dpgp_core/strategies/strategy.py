"""A strategy: a linear measurement, and its certified distance from the best.

``lower_bound`` is a risk that no strategy can fall below, computed at any B.

For every model's Y_m (n, m) and every diagonal D with sum_m pi_m Y_m Y_m^T <= t D,

    tr F^T (K + t X^-1)^-1 F <= tr (F - Y)^T K^-1 (F - Y) + tr Y^T X Y / t,    sum_m pi_m tr Y_m^T X Y_m / t <= tr X D,

and tr X D <= tr D on {X >= 0, diag X <= 1}: risk(X) >= least + 2 u - v - tr D, with u = sum pi tr F^T K^-1 Y and
v = sum pi tr Y^T K^-1 Y. The best multiple of Y gives least + u^2 / (v + tr D), never below ``least``.

Here D = diag(nu), nu_j = |(B G)_j|, and Y is R with the singular values of (t D)^-1/2 [sqrt(pi_m) R_m] cut at 1. At an
optimal B nothing is cut and the bound is the risk. Near one, values above 1 lie in directions that B hardly measures,
and cutting costs only as much as B measures of them: making D larger instead would cost the excess times all of sum nu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .mixture_risk import MixtureRisk, Point
from .risk_model import Family, Member


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """The rows of B are measured: z = B y + noise. Public, made before any output is read.

    Attributes:
        B: strategy matrix (r, n); every column norm <= 1, so changing one record moves B y by at most its own change.
        risk: expected weighted squared error of the prediction from z, in squared model units.
        bound: no strategy has a smaller risk than this (certified), in the same units.
        gap: (risk - bound) / (risk - risk without privacy): the share of privacy's cost that might be
            avoidable. 0 where privacy costs nothing.
        iterations: evaluations of the risk that were used.
    """

    B: FloatArray
    risk: float
    bound: float
    gap: float
    iterations: int

    @property
    def avoidable(self) -> float:
        """(risk - bound) / risk: the share of the whole risk that might be avoidable."""
        return max(self.risk - self.bound, 0.0) / self.risk if self.risk > 0 else 0.0

    @property
    def rank(self) -> int:
        """Number r of combinations measured."""
        return int(self.B.shape[0])


_TINY = 1e-12  # of the largest multiplier: a smaller one counts as that
_ROUNDING, _LOST = 1e-10, 1e-13  # relative error of the cut, and of an eigenvalue relative to the largest; generously


def lower_bound(risk: MixtureRisk, point: Point, goal: float = np.inf) -> float:
    """Lower bound of the risk of every B with columns of norm <= 1.

    Args:
        risk: of the mixture.
        point: at any B, good or bad: the bound is tight only where B is optimal.
        goal: where the distance to a stationary B alone is more than this, no time is lost: minus infinity.
    """
    excess = point.risk - risk.least
    if not excess > 0:
        return risk.least
    H = risk.residuals(point)
    BG = (point.B @ H) @ H.T / risk.t
    nu = np.sqrt(np.einsum("ij,ij->j", BG, BG))
    if not nu.any():
        return risk.least
    nu = np.maximum(nu, _TINY * nu.max())
    if nu.sum() - risk.measured(point) > goal:
        return -np.inf
    values, vectors = np.linalg.eigh(H.T @ (H / (risk.t * nu)[:, None]))
    u, v = _bound_terms(risk, point, nu, H @ vectors[:, values > 1], np.sqrt(values[values > 1]))
    total = float(nu.sum()) * (1 + _ROUNDING + _LOST * float(values[-1]))
    return risk.least + max(u, 0.0) ** 2 / (v + total)


def _bound_terms(
    risk: MixtureRisk, point: Point, nu: FloatArray, long: FloatArray, s: FloatArray
) -> tuple[float, float]:
    """U and v for Y = R - left right^T R, which is R with the singular values s > 1 cut to 1.

    With long = H w, w the right singular vectors: D^1/2 times the left ones is long / (s sqrt t).
    K^-1 R = K^-1 F - B^T J gives sum pi tr F^T K^-1 R = excess and sum pi tr R^T K^-1 R = excess - t sum pi |J|^2.
    """
    excess = point.risk - risk.least
    u, v = excess, excess - risk.measured(point)
    if not len(s):
        return u, v
    left = long * ((1 - 1 / s) / (s * np.sqrt(risk.t)))
    right = long / (s * np.sqrt(risk.t) * nu[:, None])
    B_left = point.B @ left
    for (family, member), J in zip(risk.members, point.J, strict=True):
        cut = _products(risk, point, (family, member, J), right)  # right^T R
        of_left, with_targets = risk.inverse_products(family, member, left)  # left^T K^-1 left, left^T K^-1 F
        lost = float(np.vdot(cut, with_targets))  # tr F^T K^-1 (R - Y)
        u -= member.weight * lost
        v += member.weight * float(np.vdot(cut, of_left @ cut) - 2 * (lost - np.vdot(B_left.T @ J, cut)))
    return u, v


def _products(risk: MixtureRisk, point: Point, model: tuple[Family, Member, FloatArray], A: FloatArray) -> FloatArray:
    """A^T R of one model and its J, for A (n, a): R = Q (E - T signs (B U)^T J) - N B^T J."""
    family, member, J = model
    BU = point.BQ[:, family.columns] @ family.T
    inside = family.E - family.T @ (family.signs[:, None] * (BU.T @ J))
    noisy = (A * (member.level * risk.shapes[member.shape])[:, None]).T @ point.B.T
    gradient: FloatArray = (A.T @ risk.basis[:, family.columns]) @ inside - noisy @ J
    return gradient
