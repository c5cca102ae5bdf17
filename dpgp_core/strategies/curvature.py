"""How steeply the risk bends along each change of B: what a quasi-Newton step starts from.

With the multipliers D = diag(nu) of |b_j| <= 1 in the Lagrangian, a change dB at an optimal B adds, to second order,

    tr dB D dB^T + tr Lambda dB (Y^-1 / t) dB^T + smaller and mixed terms,    Lambda = B G B^T = t sum pi J J^T,

Y^-1 = (K^-1 + X / t)^-1 the posterior covariance of y. The second term is what makes the problem hard where there is
little noise: adding a weakly measured direction to a strongly measured row bends the risk as much as the strengths
differ. Lambda and Y^-1 have eigenvectors of their own (r and at most n), so both terms are inverted together.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..arrays import FloatArray
from .mixture_risk import MixtureRisk, Point

_RIDGE = 1e-10  # of the largest: directions of the basis below it are not told apart


class Curvature:
    """The two terms at one B (r, n): exact where roots rise above the noise, outside of that with Y^-1 = noise.

    Args:
        risk: of the mixture.
        point: at B.
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
        """The change dB (r, n) whose two terms have this slope (r, n)."""
        scaled = (self._turned.T @ slope) / self._root
        inside = scaled @ self._basis
        outside = (scaled - inside @ self._basis.T) / (1 + np.outer(self._own, self._rest))
        inside = inside / (1 + np.outer(self._own, self._theirs)) - outside @ self._basis
        solution: FloatArray = self._turned @ ((outside + inside @ self._basis.T) / self._root)
        return solution


def _orthonormal(A: FloatArray) -> FloatArray:
    """Orthonormal columns that span those of A (n, p); where p >= n, all directions."""
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
    """Sum_m shares_m A^T (K_m - K_m B^T S_m^-1 B K_m) A for A (n, a)."""
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
    """Sum_m shares_m noise_m (n,)."""
    levels = np.zeros(len(risk.shapes))
    for (_, member), share in zip(risk.members, shares, strict=True):
        levels[member.shape] += share * member.level
    noise: FloatArray = levels @ np.array(risk.shapes)
    return noise
