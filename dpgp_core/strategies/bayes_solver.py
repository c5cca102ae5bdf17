"""First-order minimisation of the Bayes risk over matrices with columns of norm 1, and its certificate.

With J = S^-1 B F and R = F - K B^T J: d risk / dB = -2 J R^T, and -d risk / dX = G = R R^T / t for X = B^T B.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, svd
from scipy.optimize import minimize

from ..data import FloatArray

_RANK_TOLERANCE = 1e-6  # singular values of the targets below this share of the largest are not asked for
_TINY = 1e-12
_CHECKS = 50  # evaluations between two certificates
_DUAL_STEPS = 20


class Model(Protocol):
    """What the solver reads of a model; see ``bayes.RiskModel``."""

    noise: FloatArray
    root: FloatArray
    targets: FloatArray
    prior_risk: float
    weight: float
    signs: FloatArray | None


class Point(NamedTuple):
    """At one B: the risk, J_m (r, m) and R_m (n, m) of every model."""

    risk: float
    J: list[FloatArray]
    R: list[FloatArray]


class Mixture:
    """The risk of B (r, n) under several models, in O(n r k) operations."""

    def __init__(self, models: Sequence[Model], t: float) -> None:
        self.models, self.t, self.n = list(models), t, len(models[0].noise)
        self.signs = [np.ones(m.root.shape[1]) if m.signs is None else m.signs for m in models]

    @cached_property
    def targets(self) -> FloatArray:
        """All targets side by side, each model's times sqrt(pi_m): (n, sum of m)."""
        return np.hstack([np.sqrt(m.weight) * m.targets for m in self.models])

    @cached_property
    def target_rank(self) -> int:
        """Number of combinations of the outputs that the targets ask for."""
        s = svd(self.targets, compute_uv=False)
        return int((s > _RANK_TOLERANCE * s[0]).sum())

    @cached_property
    def least_risk(self) -> float:
        """K^-1 = N^-1 - N^-1 U (diag(signs) + U^T N^-1 U)^-1 U^T N^-1, for U the root and N the noise."""
        total = 0.0
        for m, signs in zip(self.models, self.signs, strict=True):
            scaled = m.root / m.noise[:, None]
            cross = scaled.T @ m.targets
            known = (m.targets**2 / m.noise[:, None]).sum()
            known -= (cross * np.linalg.solve(np.diag(signs) + scaled.T @ m.root, cross)).sum()
            total += m.weight * (m.prior_risk - float(known))
        return total

    def at(self, B: FloatArray) -> Point:
        """Risk, J and R at B."""
        risk, Js, Rs = 0.0, [], []
        for m, signs in zip(self.models, self.signs, strict=True):
            BU, BF = B @ m.root, B @ m.targets
            S = (B * m.noise) @ B.T + (BU * signs) @ BU.T
            S[np.diag_indices_from(S)] += self.t
            J = cho_solve(cho_factor(S, lower=True), BF)
            Rs.append(m.targets - m.root @ ((signs[:, None] * BU.T) @ J) - m.noise[:, None] * (B.T @ J))
            Js.append(J)
            risk += m.weight * (m.prior_risk - float((BF * J).sum()))
        return Point(risk, Js, Rs)

    def gradient(self, point: Point) -> FloatArray:
        """d risk / dB = -2 sum_m pi_m J_m R_m^T, (r, n)."""
        total = np.zeros((len(point.J[0]), self.n))
        for m, J, R in zip(self.models, point.J, point.R, strict=True):
            total -= 2 * m.weight * (J @ R.T)
        return total

    def bound(self, B: FloatArray) -> float:
        """Largest certified lower bound found at B; see ``bayes.certificate``.

        Y = a R gives least risk + 2 a e - a^2 (e + c) with e the excess risk at B and
        c = (sum nu) / t - t |J|^2, so a = e / (e + c) is best: least risk + e^2 / (e + c).
        """
        point = self.at(B)
        H = np.hstack([np.sqrt(m.weight) * R for m, R in zip(self.models, point.R, strict=True)])
        kept = self.t * sum(m.weight * float((J * J).sum()) for m, J in zip(self.models, point.J, strict=True))
        excess = point.risk - self.least_risk
        slack = max(_dual_norm(H, B) / self.t - kept, 0.0)
        return self.least_risk + excess * excess / (excess + slack) if excess > 0 else self.least_risk


def _dual_norm(H: FloatArray, B: FloatArray) -> float:
    """An upper bound of max tr H^T X H over X >= 0, diag X <= 1: sum nu for a diag(nu) >= H H^T.

    X = V^T V with unit columns v_j is improved by v_j <- the direction of (V H H^T)_j, an ascent since H H^T >= 0;
    nu_j = |(V H H^T)_j| is scaled until it is feasible: lambda_max(H^T diag(nu)^-1 H) = 1.
    """
    best, V = np.inf, B
    for _ in range(_DUAL_STEPS):
        V = (V @ H) @ H.T
        nu = np.sqrt((V * V).sum(axis=0))
        if not nu.max() > 0:
            return 0.0 if not H.any() else best
        V = V / np.maximum(nu, _TINY * nu.max())
        nu = np.maximum(nu, _TINY * nu.max())
        top = float(np.linalg.eigvalsh(H.T @ (H / nu[:, None]))[-1])
        best = min(best, float(nu.sum()) * top * (1 + 1e-12))
    return best


def minimise(
    mixture: Mixture, r: int, gap: float, start: FloatArray | None, most: int
) -> tuple[FloatArray, float, int]:
    """B (r', n), r' <= r, a lower bound of the least risk, and the number of evaluations."""
    V, used, bound = _start(mixture, r, start), 0, -np.inf
    scale = max(mixture.at(_unit(V)).risk - mixture.least_risk, _TINY * abs(mixture.least_risk))

    def objective(flat: FloatArray) -> tuple[float, FloatArray]:
        W = flat.reshape(V.shape)
        norms = np.maximum(np.sqrt((W * W).sum(axis=0)), _TINY)
        B = W / norms
        point = mixture.at(B)
        gradient = mixture.gradient(point)
        gradient = (gradient - B * (B * gradient).sum(axis=0)) / norms
        return (point.risk - mixture.least_risk) / scale, gradient.ravel() / scale

    while used < most:
        options = {
            "maxiter": _CHECKS,
            "maxfun": max(1, min(2 * _CHECKS, most - used)),
            "maxcor": 20,
            "ftol": 0,
            "gtol": 0,
        }
        found = minimize(objective, V.ravel(), jac=True, method="L-BFGS-B", options=options)
        used += int(found.nfev)
        V = _unit(found.x.reshape(V.shape))
        excess = mixture.at(V).risk - mixture.least_risk
        bound = max(bound, mixture.bound(V))
        if excess <= 0 or mixture.least_risk + excess - bound <= gap * excess or found.nit < _CHECKS:
            break
    return _compressed(V), bound, used


def _start(mixture: Mixture, r: int, start: FloatArray | None) -> FloatArray:
    """Given rows, or singular vectors of the targets; and a little of every direction, or it would stay at zero."""
    wobble = np.random.default_rng(0).standard_normal((r, mixture.n))
    if start is None:
        left, s, _ = svd(mixture.targets, full_matrices=False)
        start = (left * np.sqrt(s / max(s[0], _TINY))).T
    rows = np.zeros((r, mixture.n))
    rows[: min(r, len(start))] = start[:r]
    return _unit(rows + 0.03 * max(float(np.sqrt((rows**2).sum() / rows.size)), _TINY) * wobble)


def _unit(V: FloatArray) -> FloatArray:
    return V / np.maximum(np.sqrt((V * V).sum(axis=0)), _TINY)


def _compressed(B: FloatArray) -> FloatArray:
    """Rotated rows of falling norm, without those that hold nothing; column norms <= 1 for certain."""
    _, s, rows = svd(B, full_matrices=False)
    kept = s > 1e-9 * s[0]
    B = s[kept, None] * rows[kept]
    return B / np.maximum(np.sqrt((B * B).sum(axis=0)) * (1 + 4 * np.finfo(float).eps), 1.0)
