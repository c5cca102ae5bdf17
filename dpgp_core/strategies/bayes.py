"""The strategy with the smallest Bayes risk: the r noisy linear combinations that predict best under Gaussian priors.

Under model m the outputs y (n,) have covariance K, and cross-covariance K_f* with the targets f_*, which have weights
W. With F = K_f* W^(1/2) and z = B y + N(0, t I),

    risk(B) = tr W K_** - tr F^T B^T S^-1 B F,    S = B K B^T + t I.

The risk of a mixture is sum_m pi_m risk_m(B). As a function of X = B^T B, the subtracted term is
tr F^T (K + t X^-1)^-1 F. This is a parallel sum, which is operator concave (Anderson and Duffin 1969), so the risk is
convex on {X >= 0, diag X <= 1}.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from .bayes_solver import minimise_risk
from .mixture_risk import MixtureRisk, positive_solve
from .risk_model import Labels, RiskModel, features, nearest_of_spread, of_sums, sums
from .strategy import Strategy

LARGEST_RANK = 256
_UNGROUPED, _GROUPS = 1000, 600  # with more than 1000 records, B first has equal columns within 600 groups of them
_PATIENCE, _PATIENCE_AFTER = 20, 5  # ``patience`` of the minimisation for groups, without and with a starting strategy
_GROUPED = 0.5  # gap of the minimisation for groups, relative to ``gap``
_FEWER = 8  # largest number of rows by which the final strategy may be smaller than that of groups


def risk(models: Sequence[RiskModel], B: FloatArray, t: float) -> float:
    """Return the Bayes risk of measuring B y with noise variance t, averaged over the models.

    Args:
        models: models of the mixture.
        B: strategy (r, n).
        t: noise variance of each row of z, in squared model units.
    """
    _check_mixture(models, t)
    return sum(model.weight * (model.prior_risk - _explained(model, B, t)) for model in models)


def _explained(model: RiskModel, B: FloatArray, t: float) -> float:
    """Return tr F^T B^T S^-1 B F with S = B (diag(noise) + root diag(signs) root^T) B^T + t I."""
    BU, BF = B @ model.root, B @ model.targets
    S = (B * model.noise) @ B.T + (BU if model.signs is None else BU * model.signs) @ BU.T
    S.flat[:: len(S) + 1] += t
    return float(np.vdot(BF, positive_solve(S, BF)))


def risk_without_privacy(models: Sequence[RiskModel]) -> float:
    """Return the risk if y itself were known: sum_m pi_m (tr W K_** - tr F^T K^-1 F)."""
    return _mixture(models, 1.0).least


def optimal_strategy(
    models: Sequence[RiskModel],
    t: float,
    *,
    rank: int | None = None,
    gap: float = 1e-2,
    of_risk: float = 0.0,
    start: FloatArray | None = None,
    max_iterations: int = 1000,
    groups: Labels | None = None,
) -> Strategy:
    """Minimise the risk over matrices B with columns of norm <= 1.

    The result has as few rows as the gap allows. It is valid for any gap, and its gap is always reported.

    Args:
        models: models of the mixture, all with the same number n of outputs.
        t: noise variance of each row of z, in squared model units.
        rank: largest number of rows of B; default 256. With several models the best B may have more rows than there
            are targets.
        gap: relative gap to stop at: the share of the excess over the risk without privacy that may be avoidable.
        of_risk: the minimisation also stops if at most this share of the whole risk is avoidable. It saves time if
            privacy costs very little.
        start: matrix B with any number of rows to start from, for example the result for another t. If ``groups`` are
            given, its columns are summed over the groups.
        max_iterations: approximate largest number of evaluations of the risk. A strategy is returned in any case.
        groups: labels 0, 1, ... (n,) of groups of records. B is first minimised with equal columns within each group,
            which makes most steps as cheap as if each group were a single record, and then without this restriction.
            By default those of ``grouped``.

    Raises:
        ValueError: a value above is out of range or of the wrong shape.
    """
    mixture = _mixture(models, t)
    n = mixture.n
    _check_options(n, rank, gap, of_risk, start, groups)
    r = min(n, LARGEST_RANK if rank is None else rank)
    used, fewest = 0, 0
    if start is None and groups is None:
        groups = grouped(models)
    if groups is not None and groups.max() + 1 < n:
        small = _mixture(of_sums(models, groups), t)
        first = None if start is None else sums(start.T, groups).T
        patience, shares = _PATIENCE if first is None else _PATIENCE_AFTER, (_GROUPED * gap, _GROUPED * of_risk)
        coarse = minimise_risk(small, min(r, small.n), shares[0], first, max_iterations, shares[1], patience=patience)
        start, used, fewest = coarse.B[:, groups], coarse.used, max(len(coarse.B) - _FEWER, 0)
    refined = minimise_risk(mixture, r, gap, start, max(max_iterations - used, 1), of_risk, fewest)
    excess = refined.risk - mixture.least
    return Strategy(
        B=refined.B,
        risk=refined.risk,
        bound=refined.bound,
        gap=max(refined.risk - refined.bound, 0.0) / excess if excess > 0 else 0.0,
        iterations=used + refined.used,
    )


def grouped(models: Sequence[RiskModel]) -> Labels | None:
    """Return labels of 600 groups of records with similar rows of the roots; None for 1,000 records or fewer."""
    if len(models[0].noise) <= _UNGROUPED:
        return None
    return nearest_of_spread(features(models), _GROUPS)


def _check_options(
    n: int, rank: int | None, gap: float, of_risk: float, start: FloatArray | None, groups: Labels | None
) -> None:
    check_positive("gap", gap)
    if not of_risk >= 0:
        raise ValueError(f"of_risk must be at least 0, got {of_risk}")
    if start is not None and (start.ndim != 2 or start.shape[1] != n or not np.isfinite(start).all()):
        raise ValueError(f"start must be a finite matrix with {n} columns, one per record, got shape {start.shape}")
    if rank is not None and rank < 1:
        raise ValueError(f"rank must be at least 1, got {rank}; leave it out for the default")
    if groups is not None and (groups.shape != (n,) or not np.array_equal(np.unique(groups), range(groups.max() + 1))):
        raise ValueError(f"groups must be {n} labels 0, 1, ... without a hole, one per record")


def _mixture(models: Sequence[RiskModel], t: float) -> MixtureRisk:
    _check_mixture(models, t)
    return MixtureRisk(models, t)


def _check_mixture(models: Sequence[RiskModel], t: float) -> None:
    check_positive("t", t)
    if not models:
        raise ValueError("models is empty; give at least one RiskModel")
    sizes = sorted({len(model.noise) for model in models})
    if len(sizes) > 1:
        raise ValueError(f"all models must have the same number of outputs, got {sizes}")
