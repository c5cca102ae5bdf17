"""Strategies (linear measurements with columns of norm <= 1), and a certified lower bound on the risk of all of them.

The bound is computed at any B and holds for the risk of every strategy. Let Y_m (n, m) be a matrix for each model, and
D a diagonal matrix, with sum_m pi_m Y_m Y_m^T <= t D. Then

    tr F^T (K + t X^-1)^-1 F <= tr (F - Y)^T K^-1 (F - Y) + tr Y^T X Y / t,    sum_m pi_m tr Y_m^T X Y_m / t <= tr X D,

and tr X D <= tr D on {X >= 0, diag X <= 1}. It follows that risk(X) >= least + 2 u - v - tr D, with
u = sum pi tr F^T K^-1 Y and v = sum pi tr Y^T K^-1 Y. The best multiple of Y gives least + u^2 / (v + tr D), which is
never below ``least``.

The code takes D = diag(nu) with nu_j = |(B G)_j|, and Y is R with the singular values of (t D)^-1/2 [sqrt(pi_m) R_m]
clipped at 1. At an optimal B no singular value is above 1, and the bound equals the risk. Close to an optimal B, those
above 1 belong to directions that B hardly measures, and clipping them weakens the bound only a little. Making D larger
instead would weaken it by the excess of the singular value times sum nu.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .mixture_risk import MixtureRisk, Point
from .risk_model import Family, Member


@dataclass(frozen=True, kw_only=True, eq=False)
class Strategy:
    """A strategy B for measurements z = B y + noise. It is public and computed before any output is read.

    Attributes:
        B: strategy matrix (r, n). Columns have norm <= 1, so changing one output moves B y by at most this change.
        risk: expected weighted squared error of the prediction from z, in squared model units.
        bound: certified lower bound on the risk of every strategy, in the same units.
        gap: (risk - bound) / (risk - risk without privacy), the share of the cost of privacy that may be avoidable; 0
            if privacy costs nothing.
        iterations: number of evaluations of the risk.
    """

    B: FloatArray
    risk: float
    bound: float
    gap: float
    iterations: int

    @property
    def avoidable(self) -> float:
        """Share of the whole risk that may be avoidable, (risk - bound) / risk."""
        return max(self.risk - self.bound, 0.0) / self.risk if self.risk > 0 else 0.0

    @property
    def rank(self) -> int:
        """Number r of linear combinations that are measured."""
        return int(self.B.shape[0])


_TINY = 1e-12  # smallest multiplier, relative to the largest
_ROUNDING, _LOST = 1e-10, 1e-13  # upper bounds on relative errors: of the clipping, and of eigenvalues


def lower_bound(risk: MixtureRisk, point: Point, goal: float = np.inf) -> float:
    """Return a lower bound on the risk of every B with columns of norm <= 1.

    Args:
        risk: risk of the mixture.
        point: evaluation of the risk at any B. The bound is tight if B is optimal.
        goal: the result is minus infinity, without further computation, if the bound would be further than this below
            the risk because B is not stationary.
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
    """Return u and v for Y = R - left right^T R, which is R with the singular values s > 1 clipped to 1.

    ``long`` = H w with the right singular vectors w, so long / (s sqrt t) is D^1/2 times the left ones.
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
    """Return A^T R of one model with its J, for A (n, a), where R = Q (E - T signs (B U)^T J) - N B^T J."""
    family, member, J = model
    BU = point.BQ[:, family.columns] @ family.T
    inside = family.E - family.T @ (family.signs[:, None] * (BU.T @ J))
    noisy = (A * (member.level * risk.shapes[member.shape])[:, None]).T @ point.B.T
    gradient: FloatArray = (A.T @ risk.basis[:, family.columns]) @ inside - noisy @ J
    return gradient
