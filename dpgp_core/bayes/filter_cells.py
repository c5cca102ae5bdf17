"""Records share the columns of public cells: for private inputs, or for very many records. The mixture on the cells.

Every stage and its width are planned from numbers released before: one draw at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..linalg import column_norms
from ..measurement.measurement import CellCounts
from ..strategies.risk_model import RiskModel
from ..strategies.strategy import Strategy
from .breaks import breaks_of
from .cell_moments import (
    KAPPA,
    CellModel,
    CellState,
    CurveMoments,
    Linear,
    cell_models,
    cell_prior,
    cell_update,
    curve_moments,
    downdate,
    linearise,
    not_read,
    placed_models,
)
from .cell_strategies import Moments, likeliest, risk_model, solved
from .cells import CellGrid
from .counts import Counts, Positions, counts_given, positions_given
from .engine import NOTHING, Filter, Observation, Posterior
from .mixture import Mixture
from .models import AUTO_VARIANCE, Model
from .spread import GAP, spread_models
from .stages import CLIP, NARROWEST, TIED, WIDTHS, PlannedStage, each_column, on_the_grid, widest
from .waves import on_dates

_STEPS = 200  # of the solver: where it needs more, with very many records, the strategy is good and not the best
_ROUGH_GAP, _ROUGH_STEPS = 0.3, 10  # of strategies that intervals are compared by
_NUMERICAL = (np.linalg.LinAlgError, ValueError, FloatingPointError)  # NaN, indefinite, overflown
_OUT = 1e-9  # probability of people's noise below which its models are read no further


@dataclass(frozen=True, kw_only=True, eq=False)
class SpreadOn:
    """Models of distances on a grid of cells, made at their first use, once for all filters of one plan."""

    grid: CellGrid

    @cached_property
    def models(self) -> tuple[CellModel, ...]:
        """From the box alone, see ``spread``."""
        return cell_models(on_dates(spread_models(self.grid.box), self.grid.periods), self.grid)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellFilter(Filter[CellState]):
    """The mixture on M public cells, and at test inputs; all of it is public.

    Attributes:
        models: the mixture on the grid.
        labels: of their kernels.
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy to stop at.
        two_valued: whether every output is at one end of the range, as yes and no are.
        counts: of records in the cells, as public or released.
        spread: models of distances to the curve.
    """

    grid: CellGrid
    models: tuple[CellModel, ...]
    labels: tuple[int, ...]
    n: int
    half_range: float
    clip: float = CLIP
    gap: float = 1.0
    two_valued: bool = False
    counts: Counts
    X_test: FloatArray
    spread: SpreadOn

    @property
    def biased(self) -> bool:
        """See ``Filter``."""
        return bool(self.models[0].bias.shape[1])

    @cached_property
    def least_noise(self) -> float:
        """Variance of people about the curve in the model that has least of it.

        Where bounds are far wider than outcomes scatter, squares may say less. Under a model that has people scatter by
        sigma more, an interval of c sigma that nobody passes on one side would be taken to cut sigma (phi(c) -
        c Phi(-c)) off everybody's mean on the other, and every curve would be off by that, with certainty.
        """
        return min(model.noise_variance for model in self.models)

    @property
    def people(self) -> FloatArray:
        """Numbers of records (M,), none below 0."""
        return self.counts.numbers

    @property
    def expected_people(self) -> FloatArray:
        """Expected numbers of records (M,)."""
        return self.counts.mean

    @property
    def zero(self) -> FloatArray:
        """A curve that is 0."""
        return np.zeros((1, len(self.grid.nodes)))

    def with_counts(
        self, counts: CellCounts | Counts, z: FloatArray = NOTHING, positions: Positions | None = None
    ) -> CellFilter:
        """The same given counts, of noisy numbers z (r,) where they are not public, and noisy positions in cells."""
        if isinstance(counts, CellCounts):
            counts = counts_given(self.grid, self.n, counts.B, counts.noise_sd, z, rough=self.biased)
        if positions is None:
            return replace(self, counts=counts)
        grid, unknown = positions_given(self.grid, counts, positions)
        return replace(self, counts=counts, grid=grid, models=placed_models(self.models, grid, unknown))

    def at(self, X_test: FloatArray) -> CellFilter:
        """The same at other test inputs (P, D)."""
        return replace(self, X_test=X_test)

    def prior(self, draws: int) -> tuple[tuple[CellState, ...], tuple[int, ...]]:
        """Of one draw."""
        numbers = () if self.counts.misfit is None else (self.counts.misfit[1],)
        return tuple(cell_prior(model, self.counts) for model in self.models), numbers

    def active(self, posterior: Posterior[CellState]) -> list[int]:
        """The models that are read further, never none: all but those of a noise that squares have ruled out.

        Kernels stay all of them: at one noise they share its probability (see ``scatter.model_weights``).
        """
        of_noise = dict[float, float]()
        candidates = [i for i, state in enumerate(posterior.states) if not state.ruled_out]
        for i in candidates:
            noise = self.models[i].noise_variance
            of_noise[noise] = of_noise.get(noise, 0.0) + float(posterior.weights[0, i])
        least = _OUT * max(of_noise.values())
        return [i for i in candidates if of_noise[self.models[i].noise_variance] >= least] or candidates

    def linearised(
        self,
        posterior: Posterior[CellState],
        query: Observation,
        moments: Mapping[int, CurveMoments] | None = None,
        among: Iterable[int] | None = None,
    ) -> dict[int, Linear]:
        """The residual sums under each active model, or each among some; ``moments`` of f - g save computing them."""
        linear, expected = dict[int, Linear](), self.expected_scatter(posterior)
        noise = 0.0 if expected is None else float(expected.variance[0])
        for i in self.active(posterior) if among is None else among:
            model, before = self.models[i], None if moments is None else moments[i]
            noise_variance = noise if 0 < noise < self.least_noise else model.noise_variance
            linear[i] = linearise(
                model, self.counts, posterior.states[i], query, self.half_range, expected, before, noise_variance
            )
        return linear

    def updated(
        self, posterior: Posterior[CellState], observation: Observation, linear: Any = None
    ) -> tuple[CellState, ...]:
        """See ``Filter``."""
        linear = self.linearised(posterior, observation) if linear is None else linear
        B, s, z = observation.B, observation.noise_multiplier, observation.z[0]
        return tuple(
            cell_update(model, state, linear[i], B, s, z) if i in linear else not_read(state)
            for i, (model, state) in enumerate(zip(self.models, posterior.states, strict=True))
        )

    def _weighed(self, posterior: Posterior[CellState]) -> Posterior[CellState]:
        """See ``Filter``; models ruled out have no weight, and where nothing else has any, the others' is equal."""
        weighed, possible = super()._weighed(posterior), np.array([not state.ruled_out for state in posterior.states])
        if possible.all():
            return weighed
        weights = weighed.weights * possible
        total = float(weights.sum())
        return weighed._replace(weights=weights / total if total > 0 else possible[None] / possible.sum())

    def mean_square(self, posterior: Posterior[CellState], g: FloatArray) -> FloatArray:
        """E (y - g)^2 of each cell (1, M), over the models."""
        square, centre = np.zeros(self.grid.size), self.grid.averages(g[0])
        for i in self.active(posterior):
            model, state, weight = self.models[i], posterior.states[i], posterior.weights[0, i]
            variance = model.variance_over_cells(state) + model.noise_variance
            square += weight * (variance + (model.mean_over_cells(state) - centre) ** 2)
        return square[None]

    def curve(self, posterior: Posterior[CellState]) -> FloatArray:
        """The expected curve at the nodes (1, F), within the range."""
        of_kernel, shapes, breaks = dict[int, tuple[FloatArray, FloatArray]](), self.models[0].breaks.nodes, 0.0
        for model, state, weight in zip(self.models, posterior.states, posterior.weights[0], strict=True):
            k = model.nodes.shape[1]
            a = weight * (state.mean[:k] - state.breaks.moved[:k] @ state.breaks.mean)
            before = of_kernel.get(model.label)
            of_kernel[model.label] = model.nodes, a if before is None else before[1] + a
            breaks = breaks + weight * state.breaks.mean
        mean = sum((nodes @ a for nodes, a in of_kernel.values()), shapes @ breaks)
        return np.clip(mean, -self.half_range, self.half_range)[None]

    def intervals(self, posterior: Posterior[CellState], *clips: float) -> list[Observation]:
        """Intervals [low, high] of each cell's residuals about the expected curve, for each half-width.

        +-c, c = clip sqrt(E (y - g)^2), cut to the range of outputs; before any stage g is 0.
        """
        g, h = self.curve(posterior), self.half_range
        # a polynomial overshoots where the curve is cut, and the mean of a constant rounds
        least, most = (np.clip(end, -h, h) for end in self.grid.extremes(g[0]))
        square = self.mean_square(posterior, g)[0]
        queries = []
        for clip in clips:
            c = np.maximum(clip * np.sqrt(square), 2 * NARROWEST * h)
            low, high = np.maximum(-c, -h - most), np.minimum(c, h - least)
            queries.append(Observation(NOTHING, low[None], high[None], math.nan, g=g, width=clip))
        return queries

    def next_stage(
        self, posterior: Posterior[CellState], stage: PlannedStage, s: float, first: bool
    ) -> tuple[Observation, dict[int, Linear]]:
        """Intervals of least expected risk among ``WIDTHS``, and the best strategy for them, unless both are given.

        All of it follows from released numbers. The first stage takes the whole range.
        """
        start, moments = None, None
        if stage.strategy is not None or first:
            [query] = self.intervals(posterior, stage.width)
        else:
            query, start, moments = self._of_least_risk(posterior, s)
        linear = self.linearised(posterior, query, moments)
        B = stage.strategy.B if stage.strategy is not None else self.plan_stage(posterior, linear, s, start).B
        return query._replace(B=B, noise_multiplier=s), linear

    def _of_least_risk(
        self, posterior: Posterior[CellState], s: float
    ) -> tuple[Observation, FloatArray, dict[int, CurveMoments]]:
        """Intervals, the strategy (r, M) they were compared by, and moments under each active model."""
        active = self.active(posterior)
        pairs = likeliest(self.models, posterior.weights[0], active)
        queries = self.intervals(posterior, *(self.clip * times for times in WIDTHS))
        g = self.curve(posterior)[0]
        moments = {i: curve_moments(self.models[i], posterior.states[i], g) for i in active}
        strategies = []
        for query in queries:
            linear = self.linearised(posterior, query, moments, [i for i, _ in pairs])
            strategies.append(self._strategy(posterior, linear, pairs, s, gap=_ROUGH_GAP, max_iterations=_ROUGH_STEPS))
        risks = np.array([[strategy.risk] for strategy in strategies])
        best = int(widest(risks, TIED * risks.min(axis=0))[0])
        return queries[best], strategies[best].B, moments

    def plan_stage(
        self, posterior: Posterior[CellState], linear: Mapping[int, Linear], s: float, start: FloatArray | None = None
    ) -> Strategy:
        """B (r, M), columns of norm <= 1, multiples of 2^-20, of least risk of f at the cells, weighted by records.

        Planned for second moments of the mixture, each kernel with the likeliest of its noises and all its weight.

        Args:
            posterior: so far.
            linear: the stage's sums under each model.
            s: noise multiplier of the stage.
            start: a B to start from.
        """
        pairs = likeliest(self.models, posterior.weights[0], self.active(posterior))
        return on_the_grid(
            self._strategy(posterior, linear, pairs, s, gap=self.gap, start=start, max_iterations=_STEPS)
        )

    def _strategy(
        self,
        posterior: Posterior[CellState],
        linear: Mapping[int, Linear],
        pairs: Sequence[tuple[int, float]],
        s: float,
        **options: Any,
    ) -> Strategy:
        """The best one by ``solved``; where it fails on released numbers, every cell by itself."""
        try:
            return solved(self.moments(posterior, linear, pairs), s, **options)
        except _NUMERICAL:
            return each_column(self.grid.size)

    def moments(
        self, posterior: Posterior[CellState], linear: Mapping[int, Linear], pairs: Sequence[tuple[int, float]]
    ) -> RiskModel:
        """One model with the second moments of models, given with their weights, about the mean of each."""
        shares = np.array([share for _, share in pairs]) / sum(share for _, share in pairs)
        each = [self.moments_of(i, posterior, linear[i]) for i, _ in pairs]
        mean = Moments(*(np.tensordot(shares, np.stack(parts), axes=1) for parts in zip(*each, strict=True)))
        return risk_model(mean, self.people, 1.0)

    def moments_of(self, i: int, posterior: Posterior[CellState], linear: Linear) -> Moments:
        """Of one model: K = T C T^T + rest, F = T C Phi^T, C = diag(prior) - rows^T rows; and of its breaks."""
        model, state, k = self.models[i], posterior.states[i], self.models[i].cells.shape[1]
        T_prior, TG = linear.T * state.prior, linear.T @ state.rows.T
        own = (
            linear.own
            + linear.T[:, k : k + len(model.cells)].diagonal() ** 2 * (1 + KAPPA) * self.people * model.noise_variance
        )
        K, F = T_prior @ linear.T.T - TG @ TG.T, T_prior[:, :k] @ model.cells.T - TG @ state.rows_over_cells
        of_sums = linear.unit[:, None] * model.breaks.cells - linear.T @ state.breaks.moved
        K += state.breaks.covariance(of_sums, of_sums)
        F += state.breaks.covariance(of_sums, model.effects_over_cells(state))
        return Moments(K + linear.rest, own, F, model.variance_over_cells(state))

    def predict(self, posterior: Posterior[CellState]) -> Mixture:
        """The models' predictions at the test inputs.

        Variance = k(x, x) - |rows phi|^2 + that of breaks' heights + that of their places.
        """
        means, variances, breaks = [], [], self.models[0].breaks
        shapes, unsure = breaks.at(self.X_test), breaks.unsure_at(self.X_test)
        for model, state in zip(self.models, posterior.states, strict=True):
            phi, k = model.at(self.X_test), model.cells.shape[1]
            prior = model.features.kernel.diagonal(self.X_test)
            means.append(model.mean(state, phi, shapes))
            smooth = np.maximum(prior - column_norms(state.rows[:, :k] @ phi.T), 1e-14 * prior)
            heights = state.breaks.variance(model.effects(state, phi, shapes))
            variances.append(smooth + heights + unsure @ state.breaks.square)
        return Mixture(
            means=np.array([means]),
            variances=np.array([variances]),
            noise_variances=np.array([model.noise_variance for model in self.models]),
            weights=posterior.weights,
            fit=self.fit(posterior),
        )

    def shared(self, posterior: Posterior[CellState]) -> tuple[FloatArray, ...]:
        """See ``Filter``."""
        return tuple(downdate(*each, self.X_test) for each in zip(self.models, posterior.states, strict=True))

    def of_breaks(self, posterior: Posterior[CellState]) -> tuple[FloatArray, ...]:
        """See ``Filter``."""
        breaks = self.models[0].breaks
        if not len(breaks.sharp):
            return ()
        shapes = breaks.at(self.X_test)
        of_places = breaks.covariance_of_places(
            self.X_test, np.array([state.breaks.square for state in posterior.states])
        )
        covariances = []
        for model, state, places in zip(self.models, posterior.states, of_places, strict=True):
            effects = model.effects(state, model.at(self.X_test), shapes)
            covariances.append(state.breaks.covariance(effects, effects) + places)
        return tuple(covariances)

    def distance_filter(self) -> CellFilter:
        """See ``Filter``."""
        models = self.spread.models
        labels = tuple(model.label for model in models)
        grid = self.spread.grid
        return replace(self, grid=grid, models=models, labels=labels, half_range=1.0, gap=GAP, two_valued=False)

    def plan_distances(self, usual: float, s: float) -> Strategy:
        """See ``Filter``."""
        filtered = self.distance_filter()
        prior = filtered.begin()
        query = filtered.distance_observation(NOTHING, np.array([usual]), s)
        return filtered.plan_stage(prior, filtered.linearised(prior, query), s)


def cell_filter(
    models: Sequence[Model],
    grid: CellGrid,
    n: int,
    half_range: float,
    *,
    clip: float = CLIP,
    gap: float = 1.0,
    two_valued: bool = False,
    biased: bool = True,
    broken: bool = True,
) -> CellFilter:
    """Every model on public cells; ``with_counts`` and ``at`` set its counts and test inputs.

    Args:
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy to stop at.
        two_valued: whether every output is at one end of the range.
        biased: whether clipping may be; False for releases that were made, and are read, as if it were not.
        broken: whether curves may break.
    """
    breaks = breaks_of(grid, AUTO_VARIANCE * half_range**2) if biased and broken else None
    on_grid = cell_models(models, grid, biased=biased, breaks=breaks)
    even = np.full(grid.size, n / grid.size)
    return CellFilter(
        grid=grid,
        models=on_grid,
        labels=tuple(model.label for model in on_grid),
        n=n,
        half_range=half_range,
        clip=clip,
        gap=gap,
        two_valued=two_valued,
        counts=Counts(even, np.zeros((grid.size, grid.size))),
        X_test=grid.centres[:1, : len(grid.box)],
        spread=SpreadOn(grid=grid),
    )
