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
from dataclasses import dataclass, replace
from itertools import repeat
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import softmax

from ...arrays import FloatArray
from ...measurement.cells import CellCounts, CellResiduals
from ...measurement.distances import MeasuredDistances
from ..intervals import Mixture
from ..planning import stage_multipliers
from ..scatter import REACH, SquaresSeen, expected, log_density, model_weights, nothing_known, of_two_values, split
from ..stages import ROUNDS
from ..widths import NARROWEST, TIED, WIDTHS, widest
from .counts import Counts, counts_given
from .filter import (
    CellModel,
    CellObserved,
    CellState,
    Linear,
    Outlook,
    Squares,
    cell_prior,
    cell_update,
    linearise,
    outlook,
)
from .grid import CellGrid
from .planning import Seen, likeliest, plan_stage, rough_strategy

COUNTS_SHARE = 0.15  # of mu^2

Ends = tuple[FloatArray, FloatArray, FloatArray]
"""Low and high of each cell's residuals (M,), and g (F,), which they are taken about."""


class Reader(Protocol):
    """The only part that reads records."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Measure z_0 (r,)."""
        ...

    def residuals(self, measurement: CellResiduals, g: FloatArray) -> FloatArray:
        """Measure z (r,) of residuals, in model units, about g, given at the grid's nodes (F,)."""
        ...

    def squares(self, measurement: CellResiduals, g: FloatArray) -> float:
        """Measure the one number z of squared residuals about g."""
        ...

    def distances(
        self, measurement: CellResiduals, g: FloatArray, sd: float, count: CellResiduals | None
    ) -> MeasuredDistances:
        """Measure z (r,) of distances to g, and by ``count`` how many outcomes lie above it."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSetting:
    """What stages are run with; all of it is public.

    Attributes:
        grid: M cells.
        models: the mixture on the grid.
        n: number of records.
        half_range: half the public range of the outputs, in model units.
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy to stop at.
        two_valued: whether every output stands at one end of the range, as yes and no do.
    """

    grid: CellGrid
    models: tuple[CellModel, ...]
    n: int
    half_range: float
    clip: float
    gap: float
    two_valued: bool = False

    @property
    def biased(self) -> bool:
        """Whether clipping may be, and squares say how people scatter: all but releases of before."""
        return bool(self.models[0].bias.shape[1])


class CellReleased(NamedTuple):
    """All that was released of one draw: counts, measured or public, residual sums, and distances."""

    counts: CellCounts | Counts
    z: FloatArray
    stages: tuple[CellObserved, ...]
    distances: MeasuredDistances | None = None


class Posterior(NamedTuple):
    """Counts, each model's state, log density of the squares (S,), and the models' probabilities (m,)."""

    counts: Counts
    states: tuple[CellState, ...]
    scatter: FloatArray
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
    strategies: Sequence[tuple[FloatArray, float]] | None = None,
) -> tuple[CellReleased, Posterior]:
    """Measure counts, then stage after stage, each planned from what was released before.

    Args:
        setting: models, cells and range.
        counts: stage 0, planned in advance; or the counts themselves, where inputs are public and nothing is measured.
        multipliers: s_i of the residual stages.
        reader: measures.
        strategies: B (r, M) of each residual stage and the half-width of its intervals over the predictive standard
            deviation, public, instead of planning them.
    """
    z = reader.counts(counts) if isinstance(counts, CellCounts) else np.zeros(0)
    seen, now = list[CellObserved](), start(setting, counts, z)
    for stage, s in enumerate(multipliers):
        own, of_squares = split(s, not setting.biased or not seen)
        if strategies is None:
            width, ends, begin, known = chosen(setting, now, own, first=not seen)
        else:
            width, known = strategies[stage][1], None
            ends = intervals(setting, now, width)
        linear = linearised(setting, now, ends, known)
        if strategies is None:
            so_far = Seen(setting.models, now.states, now.weights, linear, now.counts.mean)
            B = plan_stage(so_far, own, setting.gap, begin).B
        else:
            B = strategies[stage][0]
        low, high, g = ends
        limits = (-2 * setting.half_range, 2 * setting.half_range)
        measurement = CellResiduals(B=B, low=low, high=high, bounds=limits, noise_multiplier=own)
        released = reader.residuals(measurement, g)
        observed = CellObserved(measurement.B, low, high, g, measurement.noise_sd, released, width=width)
        now = after(setting, now, linear, observed)
        if of_squares is not None:
            squares = squares_of(setting, now, g, of_squares)
            observed = observed._replace(squares=Squares(squares.high, squares.noise_sd, reader.squares(squares, g)))
            now = with_squares(setting, now, observed)
        seen.append(observed)
    return CellReleased(counts, z, tuple(seen)), now


def cell_posterior(setting: CellSetting, released: CellReleased) -> Posterior:
    """What was released says this under any models: spends nothing."""
    now = start(setting, released.counts, released.z)
    for stage in released.stages:
        now = after(setting, now, linearised(setting, now, (stage.low, stage.high, stage.g)), stage)
        if stage.squares is not None:
            now = with_squares(setting, now, stage)
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
    scatter = nothing_known()
    return Posterior(found, states, scatter, _weights(setting, states, scatter))


def linearised(
    setting: CellSetting,
    now: Posterior,
    seen: Ends,
    known: Sequence[Outlook] | None = None,
) -> tuple[Linear, ...]:
    """The residual sums as each model sees them, for low (M,), high (M,), g (F,); ``known`` about g, if they are."""
    about_g: Sequence[Outlook | None] = known or [None] * len(setting.models)
    of_each = zip(setting.models, now.states, about_g, strict=True)
    more = setting.half_range, float(expected(now.scatter, setting.half_range))
    return tuple(
        linearise(model, setting.grid, now.counts, state, seen, *more, about) for model, state, about in of_each
    )


def after(setting: CellSetting, now: Posterior, linear: Sequence[Linear], seen: CellObserved) -> Posterior:
    """What is known after one more stage."""
    pairs = zip(now.states, linear, strict=True)
    states = tuple(cell_update(state, each, seen.B, seen.s, seen.z) for state, each in pairs)
    now = now._replace(states=states, weights=_weights(setting, states, now.scatter))
    return _two_valued(setting, now) if setting.two_valued else now


def _two_valued(setting: CellSetting, now: Posterior) -> Posterior:
    """What the curve says of the scatter about it, and that of the models, until both agree."""
    share = now.counts.mean / now.counts.mean.sum()
    zero = np.zeros(len(setting.grid.nodes))
    for _ in range(ROUNDS):
        noise = float(now.weights @ [model.noise_variance for model in setting.models])
        square = float(share @ mean_square(setting, now, zero)) - noise
        scatter = of_two_values(setting.half_range, np.array([square]))[0]
        now = now._replace(scatter=scatter, weights=_weights(setting, now.states, scatter))
    return now


def with_squares(setting: CellSetting, now: Posterior, seen: CellObserved) -> Posterior:
    """What is known once the squares about a stage's g are too."""
    assert seen.squares is not None
    noise = float(now.weights @ [model.noise_variance for model in setting.models])
    about = mean_square(setting, now, seen.g) - noise
    high, s, z = seen.squares
    scatter = now.scatter + log_density(setting.half_range, SquaresSeen(about, np.sqrt(high), now.counts.mean, s, z))
    return now._replace(scatter=scatter, weights=_weights(setting, now.states, scatter))


def squares_of(setting: CellSetting, now: Posterior, g: FloatArray, s: float) -> CellResiduals:
    """The measurement of the squares about g, A three predicted standard deviations: one number."""
    limit = (2 * setting.half_range) ** 2
    high = np.minimum(REACH**2 * mean_square(setting, now, g), limit)
    ones = np.ones((1, setting.grid.size))
    return CellResiduals(B=ones, low=0 * high, high=high, bounds=(0.0, limit), noise_multiplier=s)


def _weights(setting: CellSetting, states: Sequence[CellState], scatter: FloatArray) -> FloatArray:
    models, evidence = setting.models, np.array([state.log_evidence for state in states])
    if setting.biased:
        kernels = [id(model.nodes) for model in models]
        weights: FloatArray = model_weights(models, kernels, scatter[None], evidence[None], setting.half_range)[0]
        return weights
    return np.asarray(softmax([math.log(model.weight) + each for model, each in zip(models, evidence, strict=True)]))


class Chosen(NamedTuple):
    """Half-width and intervals of a stage, the strategy (r, M) they were compared by, and each model's outlook."""

    width: float
    ends: Ends
    begin: FloatArray | None = None
    known: Sequence[Outlook] | None = None


def chosen(setting: CellSetting, now: Posterior, s: float, first: bool) -> Chosen:
    """Intervals of least expected risk among ``WIDTHS``.

    All of it follows from what was released. The first stage takes the whole range.
    """
    if first:
        return Chosen(math.inf, intervals(setting, now, math.inf))
    few = likeliest(setting.models, now.weights)
    indices = [index for index, _ in few]
    less = replace(setting, models=tuple(setting.models[i] for i in indices))
    weights = np.array([share for _, share in few])
    state = now._replace(states=tuple(now.states[i] for i in indices), weights=weights / weights.sum())
    g, tried = curve(setting, now), []
    square = mean_square(setting, now, g)
    known = [outlook(*each, g) for each in zip(setting.models, repeat(setting.grid), now.states, strict=False)]
    for times in WIDTHS:
        width = setting.clip * times
        ends = _cut(setting, g, square, width)
        linear = linearised(less, state, ends, [known[i] for i in indices])
        strategy = rough_strategy(Seen(less.models, state.states, weights, linear, now.counts.mean), s)
        tried.append((strategy.risk, Chosen(width, ends, strategy.B, known)))
    risks = [risk for risk, _ in tried]
    return tried[widest(risks, TIED * min(risks))][1]


def mean_square(setting: CellSetting, now: Posterior, g: FloatArray) -> FloatArray:
    """E (y - g)^2 of each cell (M,), over the models."""
    grid, square = setting.grid, np.zeros(setting.grid.size)
    centre = grid.averages(g)
    for model, state, weight in zip(setting.models, now.states, now.weights, strict=True):
        k = model.cells.shape[1]
        variance = np.einsum("ij,ij->i", model.cells @ state.covariance[:k, :k], model.cells)
        square += weight * (variance + model.noise_variance + (model.cells @ state.mean[:k] - centre) ** 2)
    return square


def curve(setting: CellSetting, now: Posterior) -> FloatArray:
    """The expected curve at the nodes (F,), within the range."""
    mean = np.zeros(len(setting.grid.nodes))
    for model, state, weight in zip(setting.models, now.states, now.weights, strict=True):
        mean += weight * (model.nodes @ state.mean[: model.nodes.shape[1]])
    return np.clip(mean, -setting.half_range, setting.half_range)


def intervals(setting: CellSetting, now: Posterior, clip: float) -> Ends:
    """Interval [low, high] of each cell's residuals about g, and g, the expected curve, at the nodes.

    +-c, c = clip sqrt(E (y - g)^2), cut to where outputs can lie; before anything is measured g is 0.
    """
    g = curve(setting, now)
    return _cut(setting, g, mean_square(setting, now, g), clip)


def _cut(setting: CellSetting, g: FloatArray, square: FloatArray, clip: float) -> Ends:
    h = setting.half_range
    c = np.maximum(clip * np.sqrt(square), 2 * NARROWEST * h)
    least, most = setting.grid.extremes(g)
    return np.maximum(-c, -h - most), np.minimum(c, h - least), g
