"""How much a matrix X >= 0 with diagonal at most 1 can weigh in a given direction: the certificate's only hard part."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray

_TINY = 1e-12  # of the largest multiplier: a smaller one counts as that
_STEPS = 40
_ASCENT = 1e-4  # relative growth at which the ascent ends
_ROUNDING = 1e-10  # relative error of an eigenvalue, generously


def narrow(H: FloatArray) -> FloatArray:
    """A matrix with the same H H^T and at most as many columns as rows."""
    if H.shape[1] <= H.shape[0]:
        return H
    R: FloatArray = np.asarray(np.linalg.qr(H.T, mode="r"))
    return R.T


def dual_norm(H: FloatArray, V: FloatArray, goal: float = np.inf) -> float:
    """An upper bound of max tr H^T X H over X >= 0, diag X <= 1: sum nu for a diag(nu) >= H H^T; infinite if > goal.

    X = V^T V with unit columns v_j is improved by v_j <- the direction of (V H H^T)_j, an ascent since H H^T >= 0;
    nu_j = |(V H H^T)_j| is scaled until it is feasible: lambda_max(H^T diag(nu)^-1 H) = 1. Before scaling, sum nu =
    tr V_next G V^T is at most the maximum (Cauchy-Schwarz), so that above the goal there is nothing to hope for.
    """
    reached = 0.0
    for _ in range(_STEPS):
        VH = V @ H
        V = VH @ H.T
        nu = np.sqrt(np.einsum("ij,ij->j", V, V))
        before, reached = reached, float(nu.sum())
        if not reached > 0:
            return np.inf if H.any() else 0.0
        if reached > goal * (1 + _ROUNDING):
            return np.inf
        nu = np.maximum(nu, _TINY * nu.max())
        V /= nu
        if reached < before * (1 + _ASCENT):
            break
    top = float(np.linalg.eigvalsh(H.T @ (H / nu[:, None]))[-1])
    return float(nu.sum()) * top * (1 + _ROUNDING)
