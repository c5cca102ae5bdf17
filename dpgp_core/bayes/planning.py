"""Planning the stages: what each should measure, for the covariance that those before it are expected to leave.

Nothing here reads an output: inputs, models, budget and range are public, and so is the plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..gp.clipping import clipped
from ..measurement.integers import GRID, strategy_integers
from ..strategies.bayes import bayes, grouped
from ..strategies.risk_model import RiskModel, in_common_basis, with_noise_of_one_shape
from ..strategies.strategy import Strategy
from .filter import State
from .leading import leading
from .models import Places
from .stages import CLIP, Observed, PlannedStage, after, next_intervals, start

MANY = 1000  # records above which plans rest on what stands out from the noise
LEFT_OUT = 2e-2  # eigenvalue, in units of the noise, up to which a direction of the covariance is left out then
_OF_RISK = 1e-3  # share of the whole risk that need not be avoided: a twentieth of a per cent of the error
_OF_GAP = 0.1  # or this of the gap asked for, where that is more
_LOOSEST = 0.1  # gap of an early stage of very many records


def stage_multipliers(noise_multiplier: float, stages: int) -> tuple[float, ...]:
    """s_i = s / sqrt(share_i), shares of 1/s^2 proportional to 1, 2, 4, ...: early stages only find the place."""
    whole = 2**stages - 1
    return tuple(noise_multiplier * math.sqrt(whole / 2**i) for i in range(stages))


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
    the noise along any direction; for the common basis no such bound is proven (docs/benchmarks.md compares with the
    whole covariance).

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
    targets = len(places[0].variance) - places[0].n
    share = np.full(targets, 1 / targets) if importance is None else importance
    weights, planned, groups = prior_weights[None], list[PlannedStage](), None
    last, many = None, places[0].n > MANY
    of_risk = max(_OF_RISK, _OF_GAP * gap)
    states, (low, high) = start(places, half_range, draws=1)
    for stage, s in enumerate(multipliers):
        # early stages only find the place for later ones, which make up for what they miss
        looser = 2 ** (len(multipliers) - 1 - stage) if many else 1
        if many:
            compressed = (leading(place, state, LEFT_OUT) for place, state in zip(places, states, strict=True))
            places, states = zip(*compressed, strict=True)
        models = risk_models(places, prior_weights, states, low, high, share)
        if many:
            models = in_common_basis(with_noise_of_one_shape(models), LEFT_OUT)
        groups = grouped(models) if groups is None else groups
        asked = max(gap, min(gap * looser, _LOOSEST))
        found = bayes(models, s**2, gap=asked, of_risk=of_risk * looser, groups=groups, start=last)
        strategy = on_the_grid(found)
        last = strategy.B if many else None
        planned.append(PlannedStage(strategy=strategy, noise_multiplier=s))
        if len(planned) == len(multipliers):
            break
        # z = 0 is expected, and leaves every mean at 0
        observed = Observed(strategy.B, low, high, s, np.zeros((1, strategy.rank)))
        states = after(places, states, observed)
        low, high = next_intervals(states, weights, places[0].n, half_range, clip)
    return tuple(planned)


def rescaled(planned: Sequence[PlannedStage], noise_multiplier: float) -> tuple[PlannedStage, ...]:
    """The same strategies at another budget: valid at any, if no longer the best."""
    multipliers = stage_multipliers(noise_multiplier, len(planned))
    return tuple(replace(stage, noise_multiplier=s) for stage, s in zip(planned, multipliers, strict=True))


def importance_of(weights: Sequence[float] | None, tests: int, records: int) -> FloatArray:
    """Importance of the test inputs, then of the records, sum 1: a record counts as much as the average test input.

    Args:
        weights: of the test inputs, >= 0, not all zero; None for uniform.
        tests: number of test inputs.
        records: number of records that are targets too.

    Raises:
        ValueError: ``weights`` does not fit.
    """
    given = np.ones(tests) if weights is None else np.asarray(weights, dtype=float)
    if given.shape != (tests,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
        raise ValueError(f"weights must be {tests} numbers >= 0, not all zero, one per test input")
    whole = np.concatenate([given, np.full(records, given.mean())])
    importance: FloatArray = whole / whole.sum()
    return importance


def on_the_grid(strategy: Strategy) -> Strategy:
    """The strategy with B as it will be measured: multiples of 2^-20 whose columns are checked in integers."""
    return replace(strategy, B=strategy_integers(strategy.B) / GRID)


def risk_models(
    places: Sequence[Places],
    prior_weights: FloatArray,
    states: Sequence[State],
    low: FloatArray,
    high: FloatArray,
    importance: FloatArray,
) -> list[RiskModel]:
    """Each model's posterior covariance as it is expected, for outputs in units of their intervals' widths.

    K = diag(alpha / u) (Phi Phi^T - Q^T Q + noise) diag(alpha / u) + diag(extra / u^2).
    """
    models = []
    for place, state, weight in zip(places, states, prior_weights, strict=True):
        n, Q = place.n, state.shared[0]
        _, gain, extra = clipped(state.mean[0, :n], state.variance[0, :n], low[0], high[0])
        slope, width = gain / (high[0] - low[0]), high[0] - low[0]
        covariance = place.phi[:n] @ place.phi[n:].T - Q[:, :n].T @ Q[:, n:]
        models.append(
            RiskModel(
                noise=slope**2 * place.noise + extra / width**2,
                root=slope[:, None] * np.hstack([place.phi[:n], Q[:, :n].T]),
                targets=slope[:, None] * covariance * np.sqrt(importance),
                prior_risk=float(importance @ state.variance[0, n:]),
                weight=float(weight),
                signs=np.repeat([1.0, -1.0], [place.phi.shape[1], len(Q)]),
            )
        )
    return models
