"""What a stage over public cells should measure: the strategy of least Bayes risk for the covariance that is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import FloatArray
from ...strategies.bayes import bayes
from ...strategies.risk_model import RiskModel
from ...strategies.strategy import Strategy
from ..leading import LEAST
from ..planning import on_the_grid
from .filter import KAPPA, CellModel, CellState, Linear

_LEAST_WEIGHT = 0.02  # of a kernel that is planned for
_STEPS = 200  # of the solver: where it needs more, with very many records, the strategy is good and not the best
_FLOOR = 1e-3  # of the mean variance of the sums, taken for noise of their own


def plan_stage(
    models: Sequence[CellModel],
    states: Sequence[CellState],
    weights: FloatArray,
    linear: Sequence[Linear],
    counts: FloatArray,
    noise_multiplier: float,
    gap: float,
) -> Strategy:
    """B (r, M), columns of norm <= 1, multiples of 2^-20: f at the cells should be known best where records are.

    Each kernel is planned for with the likeliest of its noises and all its weight. Public: counts and states are
    functions of what was released.

    Args:
        models: the mixture (m).
        states: of each, so far.
        weights: (m,), sum 1.
        linear: the sums, as each model sees them.
        counts: n^ (M,).
        noise_multiplier: s of the stage.
        gap: relative gap to stop at.
    """
    families: dict[int, list[int]] = {}
    for index, model in enumerate(models):
        families.setdefault(id(model.nodes), []).append(index)
    risks = []
    for family in families.values():
        share, likeliest = float(weights[family].sum()), max(family, key=lambda index: weights[index])
        if share >= _LEAST_WEIGHT:
            risks.append(_risk_model(models[likeliest], states[likeliest], linear[likeliest], counts, share))
    return on_the_grid(bayes(risks, noise_multiplier**2, gap=gap, max_iterations=_STEPS))


def _risk_model(model: CellModel, state: CellState, linear: Linear, counts: FloatArray, weight: float) -> RiskModel:
    """Covariance of the sums, K = T C T^T + rest, and with f at the cells, F = T C Phi^T W^(1/2).

    K is the records' own noise D plus V diag(values) V^T, in units of D: of these only what stands out from the noise
    is kept, and of F what lies along it (see ``bayes.leading``).
    """
    k, importance = model.cells.shape[1], counts / counts.sum()
    TC = linear.T @ state.covariance
    K = TC @ linear.T.T + linear.rest
    own = linear.own + linear.T[:, k:].diagonal() ** 2 * (1 + KAPPA) * counts * model.noise_variance
    noise = own + _FLOOR * float(K.diagonal().mean())
    sd = np.sqrt(noise)
    values, V = np.linalg.eigh((K - np.diag(own)) / np.outer(sd, sd))
    long = np.abs(values) >= min(LEAST, np.abs(values).max())
    values, V = values[long], V[:, long]
    targets = V @ (V.T @ ((TC[:, :k] @ model.cells.T) / sd[:, None]))
    variance = np.einsum("ij,ij->i", model.cells @ state.covariance[:k, :k], model.cells)
    return RiskModel(
        noise=noise,
        root=sd[:, None] * V * np.sqrt(np.abs(values)),
        targets=sd[:, None] * targets * np.sqrt(importance),
        prior_risk=float(importance @ variance),
        weight=weight,
        signs=np.sign(values),
    )
