"""Measuring residuals over public cells in stages, where inputs are private as well as outputs.

Stage 0 releases counts z_0 = B_0 N + s_0 Delta w, Delta the largest distance of two columns of B_0; every later stage
residual sums z = B x + s_i w, which one record moves by at most (|b_a| + |b_b|) / 2 <= 1, see ``measurement.cells``.
Strategies, intervals and g of a stage are functions of what earlier stages released: stage i is (1 / s_i)-GDP, and all
together are exactly (1 / s)-GDP with sum 1 / s_i^2 = 1 / s^2 (adaptive composition: Dong, Roth & Su 2022, corollary
3.3). Neighbours replace one record, input and output. Only a ``Reader`` sees records.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import softmax

from ...arrays import FloatArray
from ...measurement.cells import CellCounts, CellResiduals
from ..intervals import Mixture
from ..planning import stage_multipliers
from ..stages import NARROWEST
from .counts import Counts, counts_given
from .filter import CellModel, CellObserved, CellState, Linear, cell_prior, cell_update, linearise
from .grid import CellGrid
from .planning import Seen, plan_stage

COUNTS_SHARE = 0.15  # of mu^2


class Reader(Protocol):
    """The only part that reads records."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Measure z_0 (r,)."""
        ...

    def residuals(self, measurement: CellResiduals, g: FloatArray) -> FloatArray:
        """Measure z (r,) of residuals, in model units, about g, given at the grid's nodes (F,)."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSetting:
    """What stages are run with; all of it is public.

    Attributes:
        grid: M cells.
        models: the mixture on the grid.
        n: number of records.
        half_range: half the public range of the outputs, in model units.
        clip: half-width of an interval over the predictive standard deviation.
        gap: relative gap of each strategy to stop at.
    """

    grid: CellGrid
    models: tuple[CellModel, ...]
    n: int
    half_range: float
    clip: float
    gap: float


class CellReleased(NamedTuple):
    """All that was released of one draw: counts, measured or public, and residual sums."""

    counts: CellCounts | Counts
    z: FloatArray
    stages: tuple[CellObserved, ...]


class Posterior(NamedTuple):
    """Counts, each model's state, and the models' probabilities (m,)."""

    counts: Counts
    states: tuple[CellState, ...]
    weights: FloatArray


def cell_multipliers(noise_multiplier: float, stages: int) -> tuple[float, tuple[float, ...]]:
    """s_0 of the counts, with ``COUNTS_SHARE`` of 1/s^2, and s_i of the stages, which double."""
    left = stage_multipliers(noise_multiplier / math.sqrt(1 - COUNTS_SHARE), stages)
    return noise_multiplier / math.sqrt(COUNTS_SHARE), left


def run_cells(
    setting: CellSetting,
    counts: CellCounts | Counts,
    multipliers: Sequence[float],
    reader: Reader,
    strategies: Sequence[FloatArray] | None = None,
) -> tuple[CellReleased, Posterior]:
    """Measure counts, then stage after stage, each planned from what was released before.

    Args:
        setting: models, cells and range.
        counts: stage 0, planned in advance; or the counts themselves, where inputs are public and nothing is measured.
        multipliers: s_i of the residual stages.
        reader: measures.
        strategies: B (r, M) of each residual stage, public, instead of planning them.
    """
    z = reader.counts(counts) if isinstance(counts, CellCounts) else np.zeros(0)
    seen, now = list[CellObserved](), start(setting, counts, z)
    for stage, s in enumerate(multipliers):
        low, high, g = intervals(setting, now, first=not seen)
        linear = linearised(setting, now, (low, high, g))
        if strategies is None:
            so_far = Seen(setting.models, now.states, now.weights, linear, now.counts.mean)
            B = plan_stage(so_far, s, setting.gap).B
        else:
            B = strategies[stage]
        ends = (-2 * setting.half_range, 2 * setting.half_range)
        measurement = CellResiduals(B=B, low=low, high=high, bounds=ends, noise_multiplier=s)
        released = reader.residuals(measurement, g)
        seen.append(CellObserved(measurement.B, low, high, g, measurement.noise_sd, released))
        now = after(setting, now, linear, seen[-1])
    return CellReleased(counts, z, tuple(seen)), now


def cell_posterior(setting: CellSetting, released: CellReleased) -> Posterior:
    """What was released says this under any models: spends nothing."""
    now = start(setting, released.counts, released.z)
    for stage in released.stages:
        now = after(setting, now, linearised(setting, now, (stage.low, stage.high, stage.g)), stage)
    return now


def cell_mixture(models: Sequence[CellModel], found: Posterior, X_test: FloatArray) -> Mixture:
    """The models' predictions at X_test (P, D), one draw.

    Variance = k(x, x) - phi^T phi + phi^T C phi.
    """
    means, variances = [], []
    for model, state in zip(models, found.states, strict=True):
        phi, k = model.features.at(X_test).values(), model.cells.shape[1]
        left = phi @ state.covariance[:k, :k] - phi
        prior = model.features.kernel.diagonal(X_test)
        means.append(phi @ state.mean[:k])
        variances.append(np.maximum(prior + np.einsum("ij,ij->i", left, phi), 1e-14 * prior))
    return Mixture(
        means=np.array([means]),
        variances=np.array([variances]),
        noise_variances=np.array([model.noise_variance for model in models]),
        weights=found.weights[None],
    )


def start(setting: CellSetting, counts: CellCounts | Counts, z: FloatArray) -> Posterior:
    """What is known before any residual is measured, z (r,) being what was released of counts that are not public."""
    if isinstance(counts, CellCounts):
        found = counts_given(setting.grid, setting.n, counts.B, counts.noise_sd, z)
    else:
        found = counts
    states = tuple(cell_prior(model, found) for model in setting.models)
    return Posterior(found, states, _weights(setting.models, states))


def linearised(
    setting: CellSetting, now: Posterior, seen: tuple[FloatArray, FloatArray, FloatArray]
) -> tuple[Linear, ...]:
    """The residual sums as each model sees them, for low (M,), high (M,), g (F,)."""
    pairs = zip(setting.models, now.states, strict=True)
    return tuple(linearise(model, setting.grid, now.counts, state, seen) for model, state in pairs)


def after(setting: CellSetting, now: Posterior, linear: Sequence[Linear], seen: CellObserved) -> Posterior:
    """What is known after one more stage."""
    pairs = zip(now.states, linear, strict=True)
    states = tuple(cell_update(state, each, seen.B, seen.s, seen.z) for state, each in pairs)
    return Posterior(now.counts, states, _weights(setting.models, states))


def _weights(models: Sequence[CellModel], states: Sequence[CellState]) -> FloatArray:
    logs = [math.log(model.weight) + state.log_evidence for model, state in zip(models, states, strict=True)]
    return np.asarray(softmax(logs))


def intervals(setting: CellSetting, now: Posterior, first: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Interval [low, high] of each cell's residuals about g, and g at the nodes: at first the whole range about 0.

    Later +-c, c = clip sqrt(E (y - g)^2), cut to where outputs can lie.
    """
    h, grid = setting.half_range, setting.grid
    if first:
        return np.full(grid.size, -h), np.full(grid.size, h), np.zeros(len(grid.nodes))
    mean, square = np.zeros(len(grid.nodes)), np.zeros(grid.size)
    for model, state, weight in zip(setting.models, now.states, now.weights, strict=True):
        mean += weight * (model.nodes @ state.mean[: model.nodes.shape[1]])
    g = np.clip(mean, -h, h)
    centre = grid.averages(g)
    for model, state, weight in zip(setting.models, now.states, now.weights, strict=True):
        k = model.cells.shape[1]
        variance = np.einsum("ij,ij->i", model.cells @ state.covariance[:k, :k], model.cells)
        square += weight * (variance + model.noise_variance + (model.cells @ state.mean[:k] - centre) ** 2)
    c = np.maximum(setting.clip * np.sqrt(square), 2 * NARROWEST * h)
    return np.maximum(-c, -h - centre), np.minimum(c, h - centre), g
