"""Planning stages over records: what each should measure, for the covariance that those before it should leave.

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
from .engine import Observed, Posterior
from .filter_records import RecordFilter, State, leading
from .scatter import expected, nothing_known, split, usual_variance
from .spread import GAP
from .stages import CLIP, PLANNED_TIED, SAME, WIDTHS, Ends, PlannedStage, bias_sd, ends_of, on_the_grid, widest

MANY = 1000  # records above which plans rest on what stands out from the noise
FEW = 1000  # records up to which plans are for people who scatter as much as is usual
LEFT_OUT = 2e-2  # eigenvalue, in units of the noise, up to which a direction of the covariance is left out then
_OF_RISK = 1e-3  # share of the whole risk that need not be avoided: a twentieth of a per cent of the error
_OF_GAP = 0.1  # or this of the gap asked for, where that is more
_LOOSEST = 0.1  # gap of an early stage of very many records


def plan_stages(
    of: RecordFilter,
    multipliers: Sequence[float],
    *,
    clip: float = CLIP,
    importance: FloatArray | None = None,
    gap: float = 1e-3,
) -> tuple[PlannedStage, ...]:
    """Strategies of all stages, from public quantities alone: what the stages would do if every z were expected.

    Above ``MANY`` records, each stage is planned with what stands out of the covariance that is left (see ``leading``),
    in a basis that the models share, with noises of one shape, and starts from the stage before: risks, bounds and
    gaps are those of this compressed covariance, not of the whole one. ``leading`` leaves out at most ``LEFT_OUT`` of
    the noise along any direction; for the common basis no such bound is proven (benchmarks/results/accuracy.md
    compares with the whole covariance).

    Args:
        of: the models at the records and at the targets, whose f is to be predicted.
        multipliers: s_i of each stage.
        clip: half-width of an interval over the predictive standard deviation.
        importance: of the targets (P,), sum 1; default uniform.
        gap: relative gap of each strategy to stop at; a thousandth of the whole risk, or a tenth of ``gap`` of it,
            will do too. Above ``MANY`` records that is of the last stage; each one before may be twice as far off.
    """
    now = of.begin()
    targets = len(of.X_test)
    share = np.full(targets, 1 / targets) if importance is None else importance
    weights, planned, groups = now.weights, list[PlannedStage](), None
    last, many = None, of.n > MANY
    of_risk = max(_OF_RISK, _OF_GAP * gap)
    for stage, s in enumerate(multipliers):
        # early stages only find the place for later ones, which make up for what they miss
        looser = 2 ** (len(multipliers) - 1 - stage) if many else 1
        if many:
            compressed = (leading(*pair, LEFT_OUT) for pair in zip(of.models, now.states, strict=True))
            models, states = zip(*compressed, strict=True)
            of, now = replace(of, models=models), now._replace(states=states)
        own, _ = split(s, not of.biased or not planned)
        widths = tuple(clip * times for times in (WIDTHS if of.biased else WIDTHS[:1])) if planned else (math.inf,)
        tried = [of.next_intervals(now, width) for width in widths]
        modelled = [risk_models(of, now, *ends, share) for ends in tried]
        chosen = 0 if len(tried) == 1 else _chosen(modelled, planned[-1].planned.B, own)
        models_of_stage = modelled[chosen]
        if many:
            models_of_stage = in_common_basis(with_noise_of_one_shape(models_of_stage), LEFT_OUT)
        groups = grouped(models_of_stage) if groups is None else groups
        tolerated = max(gap, min(gap * looser, _LOOSEST))
        best = bayes(models_of_stage, own**2, gap=tolerated, of_risk=of_risk * looser, groups=groups, start=last)
        strategy = on_the_grid(best)
        last = strategy.B if many else None
        planned.append(PlannedStage(strategy=strategy, noise_multiplier=s, width=widths[chosen], widths=widths))
        if len(planned) == len(multipliers):
            break
        # z = 0 is expected, and leaves every mean at 0
        observed = Observed(strategy.B, *tried[chosen], own, np.zeros((1, strategy.rank)))
        now = of.after(now, observed)._replace(weights=weights)
    return tuple(planned)


def plan_distances(of: RecordFilter, s: float) -> Strategy:
    """What to measure of distances to the curve: public, from inputs, test inputs, box and budget.

    Args:
        of: any models at the records and where the scatter should be known.
        s: noise multiplier.
    """
    return plan_stages(of.of_distances(), (s,), gap=GAP)[0].planned


def _chosen(tried: Sequence[list[RiskModel]], B: FloatArray, s: float) -> int:
    """Which width to plan for, judged by the strategy of the stage before."""
    risks = np.array([[risk(models, B, s**2)] for models in tried])
    before = sum(model.weight * model.prior_risk for model in tried[0])
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

    What is planned for too much scatter measures few smooth sums, and cannot see detail when people scatter less; too
    little, and noise falls on directions that wide intervals cannot tell. Many records can do with few sums.
    """
    return usual_variance(half_range) if n <= FEW else float(expected(nothing_known(), half_range))


def risk_models(
    of: RecordFilter, posterior: Posterior[State], low: FloatArray, high: FloatArray, importance: FloatArray
) -> list[RiskModel]:
    """Each model's posterior covariance as it is expected, for outputs in units of their intervals' widths.

    K = diag(alpha / u) (Phi Phi^T - Q^T Q + noise) diag(alpha / u) + diag(extra / u^2), and what clipping's bias adds.

    Args:
        of: the models at the records and at the targets.
        posterior: of one draw.
        low: lower ends of intervals (1, n).
        high: upper ends (1, n).
        importance: of the targets (P,), sum 1.
    """
    models, width, n, f = [], high[0] - low[0], of.n, of.tests
    b, ends, beta = slice(f.stop, None), Ends(low[0], high[0], width), np.zeros(1)
    if of.biased:
        ends = ends_of(low[0], high[0], (low[0] + high[0]) / 2, of.half_range)
        beta = bias_sd(ends.half_width, planned_variance(n, of.half_range), of.half_range)
    shown = (beta / width)[:, None] * of.psi
    own = (1 - SAME) ** 0.5 * shown
    for model, state, weight in zip(of.models, posterior.states, posterior.weights[0], strict=True):
        Q = state.shared[0]
        _, gain, extra = clipped(state.mean[0, :n], state.variance[0, :n], ends.low, ends.high)
        slope = (gain / width)[:, None]
        phi = slope * model.phi[:n] + SAME**0.5 * shown @ model.phi[b]
        left = slope * Q[:, :n].T + SAME**0.5 * shown @ Q[:, b].T
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
