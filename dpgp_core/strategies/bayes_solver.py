"""Quasi-Newton minimisation of the Bayes risk over matrices with columns of norm 1."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd
from scipy.optimize import OptimizeResult, minimize

from ..data import FloatArray
from .mixture_risk import MixtureRisk

_TINY = 1e-12
_WOBBLE = 0.03
_MEMORY = 20
_CHECK_AT = 0.5


class _Search:
    """State of one minimisation: the best B, its bound, evaluations used."""

    def __init__(self, risk: MixtureRisk, gap: float, V: FloatArray) -> None:
        self.risk, self.gap = risk, gap
        self.shape = V.shape
        self.used = 0
        self.bound = -np.inf
        self.scale = max(risk.at(V).risk - risk.least, _TINY * abs(risk.least))
        self.slack = np.inf
        self.threshold = _CHECK_AT * gap

    def objective(self, flat: FloatArray) -> tuple[float, FloatArray]:
        W = flat.reshape(self.shape)
        norms = np.maximum(np.sqrt(np.einsum("ij,ij->j", W, W)), _TINY)
        self.B = W / norms
        self.point = self.risk.at(self.B)
        G = self.risk.gradient(self.point)
        inner = np.einsum("ij,ij->j", self.B, G)
        self.slack = float((np.sqrt(np.einsum("ij,ij->j", G, G)) + inner).sum()) / 2
        self.used += 1
        return (self.point.risk - self.risk.least) / self.scale, ((G - self.B * inner) / (norms * self.scale)).ravel()

    def callback(self, intermediate_result: OptimizeResult) -> None:
        excess = self.point.risk - self.risk.least
        if self.slack > self.threshold * excess:
            return
        self.bound = max(self.bound, self.risk.bound(self.point))
        if self.risk.least + excess - self.bound <= self.gap * excess:
            raise StopIteration
        self.threshold /= 3


def minimise_risk(
    risk: MixtureRisk, r: int, gap: float, start: FloatArray | None, most: int
) -> tuple[FloatArray, float, int]:
    """B (r', n), r' <= r, a lower bound of the least risk, and the number of evaluations."""
    V = _start(risk, r, start)
    search = _Search(risk, gap, V)
    options = {"maxiter": most, "maxfun": most, "maxcor": _MEMORY, "ftol": 0, "gtol": 0}
    found = minimize(
        search.objective, V.ravel(), jac=True, method="L-BFGS-B", options=options, callback=search.callback
    )
    B = _unit(found.x.reshape(V.shape))
    bound = max(search.bound, risk.bound(risk.at(B)))
    return _compressed(B), bound, search.used


def _start(risk: MixtureRisk, r: int, start: FloatArray | None) -> FloatArray:
    """Given rows, or singular vectors of the targets; and a little of every direction, or it would stay at zero."""
    wobble = np.random.default_rng(0).standard_normal((r, risk.n))
    if start is None:
        left, s, _ = svd(risk.targets, full_matrices=False)
        start = (left * np.sqrt(s / max(s[0], _TINY))).T
    rows = np.zeros((r, risk.n))
    rows[: min(r, len(start))] = start[:r]
    return _unit(rows + _WOBBLE * max(float(np.sqrt((rows**2).sum() / rows.size)), _TINY) * wobble)


def _unit(V: FloatArray) -> FloatArray:
    unit: FloatArray = V / np.maximum(np.sqrt(np.einsum("ij,ij->j", V, V)), _TINY)
    return unit


def _compressed(B: FloatArray) -> FloatArray:
    """Rotated rows of falling norm, without those that hold nothing; column norms <= 1 for certain."""
    _, s, rows = svd(B, full_matrices=False)
    kept = s > 1e-9 * s[0]
    B = s[kept, None] * rows[kept]
    shrunk: FloatArray = B / np.maximum(np.sqrt((B * B).sum(axis=0)) * (1 + 4 * np.finfo(float).eps), 1.0)
    return shrunk
