"""Planning stages over records: the strategy of each, for the covariance expected after those before it.

Nothing here reads an output: inputs, models, budget and range are public, and so is the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..gp.clipping import clipped
from ..strategies.bayes import bayes, grouped, risk
from ..strategies.risk_model import RiskModel, in_common_basis, with_noise_of_one_shape
from ..strategies.strategy import Strategy
from .engine import Observation, Posterior
from .filter_records import RecordFilter, State, leading
from .scatter import expected, log_prior, split_stage, usual_variance
from .spread import GAP
from .stages import CLIP, PLANNED_TIED, SAME, WIDTHS, Ends, PlannedStage, bias_sd, ends_of, on_the_grid, widest

MANY = 1000  # records above which plans rest on directions that rise above the noise
FEW = 1000  # records up to which plans are for people who scatter as much as is usual
LEFT_OUT = 2e-2  # eigenvalue, in units of the noise, up to which a direction of the covariance is left out then
_OF_RISK = 1e-3  # share of the whole risk that need not be avoided: a twentieth of a per cent of the error
_OF_GAP = 0.1  # or this of ``gap``, where that is more
_LOOSEST = 0.1  # gap of an early stage of very many records


def plan_stages(
    filtered: RecordFilter,
    multipliers: Sequence[float],
    *,
    clip: float = CLIP,
    importance: FloatArray | None = None,
    gap: float = 1e-3,
) -> tuple[PlannedStage, ...]:
    """Strategies of all stages, from public quantities alone, as if every z were as expected.

    Above ``MANY`` records, each stage is planned with leading eigenvectors of the covariance left (see ``leading``),
    in a basis that the models share, with noises of one shape, and starts from the stage before: risks, bounds and
    gaps are those of this compressed covariance, not of the whole one. ``leading`` leaves out at most ``LEFT_OUT`` of
    the noise along any direction; for the common basis no such bound is proven (benchmarks/results/speed.md
    compares with the whole covariance).

    Args:
        filtered: the models at the records and at the targets, whose f is to be predicted.
        multipliers: s_i of each stage.
        clip: half-width of an interval over the predictive standard deviation.
        importance: of the targets (P,), sum 1; default uniform.
        gap: relative gap of each strategy to stop at; a thousandth of the whole risk, or a tenth of ``gap`` of it,
            will do too. Above ``MANY`` records that is of the last stage; each one before may be twice as far off.
    """
    posterior = filtered.begin()
    targets = len(filtered.X_test)
    share = np.full(targets, 1 / targets) if importance is None else importance
    weights, planned, groups = posterior.weights, list[PlannedStage](), None
    last, many = None, filtered.n > MANY
    of_risk = max(_OF_RISK, _OF_GAP * gap)
    for stage, s in enumerate(multipliers):
        # early stages only centre the intervals of later ones, which make up for their errors
        looser = 2 ** (len(multipliers) - 1 - stage) if many else 1
        if many:
            compressed = (leading(*pair, LEFT_OUT) for pair in zip(filtered.models, posterior.states, strict=True))
            models, states = zip(*compressed, strict=True)
            filtered, posterior = replace(filtered, models=models), posterior._replace(states=states)
        s_sums, _ = split_stage(s, not filtered.biased or not planned)
        times = WIDTHS if filtered.biased else WIDTHS[:1]
        widths = tuple(clip * width for width in times) if planned else (math.inf,)
        intervals = [filtered.next_intervals(posterior, width) for width in widths]
        candidates = [risk_models(filtered, posterior, *ends, share) for ends in intervals]
        chosen = 0 if len(widths) == 1 else _chosen(candidates, planned[-1].planned.B, s_sums)
        models_of_stage = candidates[chosen]
        if many:
            models_of_stage = in_common_basis(with_noise_of_one_shape(models_of_stage), LEFT_OUT)
        groups = grouped(models_of_stage) if groups is None else groups
        tolerated = max(gap, min(gap * looser, _LOOSEST))
        best = bayes(models_of_stage, s_sums**2, gap=tolerated, of_risk=of_risk * looser, groups=groups, start=last)
        strategy = on_the_grid(best)
        last = strategy.B if many else None
        planned.append(PlannedStage(strategy=strategy, noise_multiplier=s, width=widths[chosen], widths=widths))
        if len(planned) == len(multipliers):
            break
        # z = 0 is expected, and leaves every mean at 0
        expected_z = Observation(strategy.B, *intervals[chosen], s_sums, np.zeros((1, strategy.rank)))
        posterior = filtered.after(posterior, expected_z)._replace(weights=weights)
    return tuple(planned)


def plan_distances(filtered: RecordFilter, s: float) -> Strategy:
    """Strategy of the distances to the curve, at noise multiplier s: public, from inputs, test inputs, box and budget.

    Args:
        filtered: any models at the records and at the targets of the scatter.
    """
    return plan_stages(filtered.distance_filter(), (s,), gap=GAP)[0].planned


def _chosen(candidates: Sequence[list[RiskModel]], B: FloatArray, s: float) -> int:
    """Which width to plan for, judged by the strategy of the stage before."""
    risks = np.array([[risk(models, B, s**2)] for models in candidates])
    before = sum(model.weight * model.prior_risk for model in candidates[0])
    return int(widest(risks, PLANNED_TIED * (before - risks.min(axis=0)))[0])


def importance_of(weights: Sequence[float] | None, tests: int) -> FloatArray:
    """Importance of the test inputs, sum 1.

    Args:
        weights: of the test inputs, >= 0, not all zero; None for uniform.
        tests: number of test inputs.

    Raises:
        ValueError: ``weights`` does not fit.
    """
    of_tests = np.ones(tests) if weights is None else np.asarray(weights, dtype=float)
    if of_tests.shape != (tests,) or not np.isfinite(of_tests).all() or (of_tests < 0).any() or of_tests.sum() == 0:
        raise ValueError(f"weights must be {tests} numbers >= 0, not all zero, one per test input")
    importance: FloatArray = of_tests / of_tests.sum()
    return importance


def planned_variance(n: int, half_range: float) -> float:
    """The noise variance that intervals are planned for: the prior's median, and its mean above ``FEW`` records.

    A plan for too much scatter measures few smooth sums, and cannot see detail when people scatter less; for too
    little, noise falls on directions that wide intervals do not measure. Many records can do with few sums.
    """
    return usual_variance(half_range) if n <= FEW else float(expected(log_prior()[None], half_range).variance[0])


def risk_models(
    filtered: RecordFilter, posterior: Posterior[State], low: FloatArray, high: FloatArray, importance: FloatArray
) -> list[RiskModel]:
    """Each model's expected posterior covariance, for outputs in units of their intervals' widths.

    K = diag(alpha / u) (Phi Phi^T - Q^T Q + noise) diag(alpha / u) + diag(extra / u^2), and the bias of clipping.

    Args:
        filtered: the models at the records and at the targets.
        posterior: of one draw.
        low, high: ends of intervals (1, n).
        importance: of the targets (P,), sum 1.
    """
    models, width, n, f = [], high[0] - low[0], filtered.n, filtered.tests
    b, ends, beta = slice(f.stop, None), Ends(low[0], high[0], width), np.zeros(1)
    if filtered.biased:
        ends = ends_of(low[0], high[0], (low[0] + high[0]) / 2, filtered.half_range)
        beta = bias_sd(ends.half_width, planned_variance(n, filtered.half_range), filtered.half_range)
    loadings = (beta / width)[:, None] * filtered.psi
    own = (1 - SAME) ** 0.5 * loadings
    for model, state, weight in zip(filtered.models, posterior.states, posterior.weights[0], strict=True):
        Q = state.shared[0]
        _, gain, extra = clipped(state.mean[0, :n], state.variance[0, :n], ends.low, ends.high)
        slope = (gain / width)[:, None]
        phi = slope * model.phi[:n] + SAME**0.5 * loadings @ model.phi[b]
        left = slope * Q[:, :n].T + SAME**0.5 * loadings @ Q[:, b].T
        models.append(
            RiskModel(
                noise=slope[:, 0] ** 2 * model.noise + extra / width**2,
                root=np.hstack([phi, own, left]),
                targets=(phi @ model.phi[f].T - left @ Q[:, f]) * np.sqrt(importance),
                prior_risk=float(importance @ state.variance[0, f]),
                weight=float(weight),
                signs=np.repeat([1.0, -1.0], [phi.shape[1] + own.shape[1], len(Q)]),
            )
        )
    return models
