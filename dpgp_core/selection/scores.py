"""Scores for private selection of hyperparameters: cross-validated squared errors, and their sensitivity to one record.

The utility of candidate r, for a given epsilon of the regression, is u_r = -(SSE_r + (d s)^2 sum_k tr M_rk): the
negative sum of the held-out squared error and the expected squared noise of the private release. Only SSE_r depends on
the outputs, so the sensitivity is the same for every epsilon of the regression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from ..evaluation.cross_validation import FoldPlan
from ..table import Dataset

_ROUND_UP = 1 + 1e-9  # covers rounding errors of the scores and of the sensitivity itself
_LEAST = 1e-6  # smallest sensitivity relative to d^2, for candidates that agree up to rounding errors


@dataclass(frozen=True, kw_only=True, eq=False)
class GridScores:
    """Cross-validation of R candidates, for any epsilon of the regression. In model units.

    Attributes:
        sse: held-out sum of squared errors of the release without noise (R,). It is not private.
        noise_trace: sum_k tr M_k (R,), for noise multiplier 1 and a unit change of one output. It is public.
        sensitivity: sensitivity Delta of ``sse``, in squared model units. It is public.
        tested: number N of held-out predictions.
        d: largest change of one output.
        y_scale: constant by which outputs are divided.
    """

    sse: FloatArray
    noise_trace: FloatArray
    sensitivity: float
    tested: int
    d: float
    y_scale: float

    def expected_noise(self, noise_multiplier: float) -> FloatArray:
        """Return the expected squared noise (d s)^2 sum_k tr M_k of each candidate (R,), in squared model units."""
        return (self.d * noise_multiplier) ** 2 * self.noise_trace

    def rmse(self, squared_errors: FloatArray) -> FloatArray:
        """Return sqrt(squared errors / N), any shape, in the unit of the output."""
        return self.y_scale * np.sqrt(squared_errors / self.tested)


def grid_scores(plans: Sequence[FoldPlan], dataset: Dataset) -> GridScores:
    """Score a grid of candidates on one data set.

    Args:
        plans: plan of each candidate, at least two, all with the same folds.
        dataset: data set with outputs, their bounds and their scale.

    Raises:
        ValueError: fewer than two candidates, or their folds differ.
    """
    d, y = dataset.output_range / dataset.y_scale, dataset.standardised()
    sse = np.array([float(((plan.residual_map @ y) ** 2).sum()) for plan in plans])
    return GridScores(
        sse=sse,
        noise_trace=np.array([plan.noise_trace.sum() for plan in plans]),
        sensitivity=difference_sensitivity(plans, d),
        tested=plans[0].tested,
        d=d,
        y_scale=dataset.y_scale,
    )


def difference_sensitivity(plans: Sequence[FoldPlan], d: float) -> float:
    """Return half the largest change of any SSE_r - SSE_q between neighbours, in squared units of d. It is exact.

    SSE_r = y^T G_r y with G_r = R_r^T R_r. The exponential mechanism and permute-and-flip depend on differences of
    utilities only. Their proofs use only that u_r - u_q changes by at most 2 Delta, so a change that is common to all
    candidates does not matter.

    Proof. Let H = G_r - G_q, g = |H_jj|, h = d/2, and let y_j vary within [-h, h]. The difference is then a quadratic
    H_jj y_j^2 + 2 y_j t plus a constant, with t = sum_{l != j} H_jl y_l and |t| <= s = h sum_{l != j} |H_jl|. The range
    of a quadratic over [-h, h] grows with |t|. It is 4 h s if the vertex lies outside (s >= g h), and (g h + s)^2 / g
    otherwise. The outputs y_l = h sign(H_jl) attain it.

    Args:
        plans: plan of each candidate, at least two.
        d: largest change of one output, in model units; outputs lie in [-d/2, d/2].

    Raises:
        ValueError: fewer than two candidates, their folds differ, or d is not positive.
    """
    _check_grid(plans, d, least=2)
    grams = [plan.residual_map.T @ plan.residual_map for plan in plans]
    largest = max(float(_quadratic_range(G - other, d / 2).max()) for G, other in combinations(grams, 2))
    return max(largest / 2, _LEAST * d**2) * _ROUND_UP


def sse_sensitivity(plans: Sequence[FoldPlan], d: float) -> float:
    """Return the sensitivity to the output of one record of an SSE whose predictions are clipped to [-d/2, d/2].

    It is the maximum over candidates and records j of sum_i (2 d delta_ij - delta_ij^2), delta_ij = d min(|R_ij|, 1).

    Proof. If y_j moves by at most d, held-out residual i moves by at most d |R_ij|, where entry R_ij of the residual
    map is 1 if i tests j, the weight of y_j in the prediction if j is in the training set, and 0 otherwise. Clipping
    the predictions is 1-Lipschitz and changes nothing. Residuals lie in [-d, d], so residual i moves by at most
    delta_ij. For e, e' in [-d, d] at distance t, |e^2 - e'^2| = t |e + e'| <= t (2 d - t), which grows with t up to
    t = d, where it is d^2. The changes add up over i; a record that is tested in several folds counts in each.

    Args:
        plans: plan of each candidate.
        d: largest change of one output, in model units.

    Raises:
        ValueError: no candidate, their folds differ, or d is not positive.
    """
    _check_grid(plans, d)
    deltas = (d * np.minimum(np.abs(plan.residual_map), 1.0) for plan in plans)
    return max(float((delta * (2 * d - delta)).sum(axis=0).max()) for delta in deltas) * _ROUND_UP


def published_sensitivity(plans: Sequence[FoldPlan], d: float) -> float:
    """Return the published sensitivity, which is WRONG and serves for comparison only.

    It is the largest over candidates of 9 d^2 plus the K - 1 largest d^2 max_j |c_jk|^2. Moving predictions by delta
    changes |r|^2 by 2 delta . r + |delta|^2, and the published argument omits the first term.

    Args:
        plans: plan of each candidate.
        d: largest change of one output, in model units.

    Raises:
        ValueError: no candidate, their folds differ, or d is not positive.

    Source: Smith et al. 2018, supplement, "Hyperparameter selection".
    """
    _check_grid(plans, d)
    columns = [sorted(float((A**2).sum(axis=0).max()) for A in plan.matrices()) for plan in plans]
    return d**2 * max(9 + sum(squares[1:]) for squares in columns)


def _quadratic_range(H: FloatArray, h: float) -> FloatArray:
    """Return the largest change of y^T H y, |y_l| <= h, if only y_j changes, for each j (n,)."""
    g = np.abs(np.diag(H))
    s = h * (np.abs(H).sum(axis=1) - g)
    # f(x) = g x^2 + 2 s x on [-h, h] is largest at h and smallest at -v, the vertex or the end of the interval.
    v = np.divide(s, g, out=np.full_like(s, h), where=s < g * h)
    return np.asarray(g * (h**2 - v**2) + 2 * s * (h + v))


def _check_grid(plans: Sequence[FoldPlan], d: float, least: int = 1) -> None:
    check_positive("d", d)
    if len(plans) < least:
        raise ValueError(f"a choice needs at least {least} candidates, got {len(plans)}")
    first = plans[0].folds
    for plan in plans[1:]:
        if len(plan.folds) != len(first) or not all(map(np.array_equal, plan.folds, first)):
            raise ValueError("all candidates must be scored on the same folds; plan them with one set of folds")
