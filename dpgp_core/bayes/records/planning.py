"""Planning the stages: what each should measure, for the covariance that those before it are expected to leave.

Nothing here reads an output: inputs, models, budget and range are public, and so is the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...arrays import FloatArray
from ...gp.clipping import clipped
from ...strategies.bayes import bayes, grouped, risk
from ...strategies.risk_model import RiskModel, in_common_basis, with_noise_of_one_shape
from ..bias import SAME, Ends, bias_sd, ends_of
from ..plan import PlannedStage, on_the_grid
from ..scatter import expected, nothing_known, split, usual_variance
from ..widths import CLIP, PLANNED_TIED, WIDTHS, widest
from .choosing import next_intervals
from .filter import State
from .leading import leading
from .places import Places
from .stages import Observed, Outcome, after, begin

MANY = 1000  # records above which plans rest on what stands out from the noise
FEW = 1000  # records up to which plans are for people who scatter as much as is usual
LEFT_OUT = 2e-2  # eigenvalue, in units of the noise, up to which a direction of the covariance is left out then
_OF_RISK = 1e-3  # share of the whole risk that need not be avoided: a twentieth of a per cent of the error
_OF_GAP = 0.1  # or this of the gap asked for, where that is more
_LOOSEST = 0.1  # gap of an early stage of very many records


def plan_stages(
    places: Sequence[Places],
    prior_weights: FloatArray,
    half_range: float,
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
        places: each model at the records and at the targets, whose f is to be predicted.
        prior_weights: of the models (M,), sum 1.
        half_range: half the public range of the outputs, in model units.
        multipliers: s_i of each stage.
        clip: half-width of an interval over the predictive standard deviation.
        importance: of the targets (P,), sum 1; default uniform.
        gap: relative gap of each strategy to stop at; a thousandth of the whole risk, or a tenth of ``gap`` of it,
            will do too. Above ``MANY`` records that is of the last stage; each one before may be twice as far off.
    """
    now = begin(places, prior_weights, draws=1)
    targets = places[0].tests.stop - places[0].n
    share = np.full(targets, 1 / targets) if importance is None else importance
    weights, planned, groups = now.weights, list[PlannedStage](), None
    last, many, biased = None, places[0].n > MANY, now.scatter is not None
    of_risk = max(_OF_RISK, _OF_GAP * gap)
    for stage, s in enumerate(multipliers):
        # early stages only find the place for later ones, which make up for what they miss
        looser = 2 ** (len(multipliers) - 1 - stage) if many else 1
        if many:
            compressed = (leading(place, state, LEFT_OUT) for place, state in zip(places, now.states, strict=True))
            places, states = zip(*compressed, strict=True)
            now = now._replace(states=states)
        own, _ = split(s, not biased or not planned)
        widths = tuple(clip * times for times in (WIDTHS if biased else WIDTHS[:1])) if planned else (math.inf,)
        tried = [_modelled(places, now, weights, half_range, width, share) for width in widths]
        chosen = 0 if len(tried) == 1 else _chosen([models for models, *_ in tried], planned[-1].strategy.B, own)
        models, low, high = tried[chosen]
        if many:
            models = in_common_basis(with_noise_of_one_shape(models), LEFT_OUT)
        groups = grouped(models) if groups is None else groups
        tolerated = max(gap, min(gap * looser, _LOOSEST))
        best = bayes(models, own**2, gap=tolerated, of_risk=of_risk * looser, groups=groups, start=last)
        strategy = on_the_grid(best)
        last = strategy.B if many else None
        planned.append(PlannedStage(strategy=strategy, noise_multiplier=s, width=widths[chosen], widths=widths))
        if len(planned) == len(multipliers):
            break
        # z = 0 is expected, and leaves every mean at 0
        observed = Observed(strategy.B, low, high, own, np.zeros((1, strategy.rank)))
        now = after(places, prior_weights, now, observed)._replace(weights=weights)
    return tuple(planned)


def _chosen(tried: Sequence[list[RiskModel]], B: FloatArray, s: float) -> int:
    """Which width to plan for, judged by the strategy of the stage before."""
    risks = [risk(models, B, s**2) for models in tried]
    before = sum(model.weight * model.prior_risk for model in tried[0])
    return widest(risks, PLANNED_TIED * (before - min(risks)))


def _modelled(
    places: Sequence[Places], now: Outcome, weights: FloatArray, half_range: float, width: float, share: FloatArray
) -> tuple[list[RiskModel], FloatArray, FloatArray]:
    """Risk models of a stage of some width, and its intervals."""
    low, high = next_intervals(now.states, weights, places[0].n, half_range, width)
    return risk_models(places, weights[0], now.states, low, high, share), low, high


def importance_of(weights: Sequence[float] | None, tests: int, records: int) -> FloatArray:
    """Importance of the test inputs, then of the records, sum 1: a record counts as much as the average test input.

    Args:
        weights: of the test inputs, >= 0, not all zero; None for uniform.
        tests: number of test inputs.
        records: number of records that are targets too.

    Raises:
        ValueError: ``weights`` does not fit.
    """
    of_tests = np.ones(tests) if weights is None else np.asarray(weights, dtype=float)
    if of_tests.shape != (tests,) or not np.isfinite(of_tests).all() or (of_tests < 0).any() or of_tests.sum() == 0:
        raise ValueError(f"weights must be {tests} numbers >= 0, not all zero, one per test input")
    whole = np.concatenate([of_tests, np.full(records, of_tests.mean())])
    importance: FloatArray = whole / whole.sum()
    return importance


def planned_variance(n: int, half_range: float) -> float:
    """The noise variance that intervals are planned for: the prior's median, and its mean above ``FEW`` records.

    What is planned for too much scatter measures few smooth sums, and cannot see detail when people scatter less; too
    little, and noise falls on directions that wide intervals cannot tell. Many records can do with few sums.
    """
    return usual_variance(half_range) if n <= FEW else float(expected(nothing_known(), half_range))


def risk_models(
    places: Sequence[Places],
    prior_weights: FloatArray,
    states: Sequence[State],
    low: FloatArray,
    high: FloatArray,
    importance: FloatArray,
) -> list[RiskModel]:
    """Each model's posterior covariance as it is expected, for outputs in units of their intervals' widths.

    K = diag(alpha / u) (Phi Phi^T - Q^T Q + noise) diag(alpha / u) + diag(extra / u^2), and what clipping's bias adds.
    """
    models, width = [], high[0] - low[0]
    noise = planned_variance(places[0].n, places[0].half_range or 1.0)
    for place, state, weight in zip(places, states, prior_weights, strict=True):
        n, Q, f, b = place.n, state.shared[0], place.tests, slice(place.tests.stop, None)
        ends, beta = Ends(low[0], high[0], width), np.zeros(1)
        if place.half_range:
            ends = ends_of(low[0], high[0], (low[0] + high[0]) / 2, place.half_range)
            beta = bias_sd(ends.half_width, noise, place.half_range)
        _, gain, extra = clipped(state.mean[0, :n], state.variance[0, :n], ends.low, ends.high)
        slope, shown = (gain / width)[:, None], (beta / width)[:, None] * place.bias
        phi = slope * place.phi[:n] + SAME**0.5 * shown @ place.phi[b]
        left = slope * Q[:, :n].T + SAME**0.5 * shown @ Q[:, b].T
        own = (1 - SAME) ** 0.5 * shown
        models.append(
            RiskModel(
                noise=slope[:, 0] ** 2 * place.noise + extra / width**2,
                root=np.hstack([phi, own, left]),
                targets=(phi @ place.phi[f].T - left @ Q[:, f]) * np.sqrt(importance),
                prior_risk=float(importance @ state.variance[0, f]),
                weight=float(weight),
                signs=np.repeat([1.0, -1.0], [phi.shape[1] + own.shape[1], len(Q)]),
            )
        )
    return models
