"""Records share the columns of public cells: for private inputs, or for very many records. The mixture on the cells.

Every stage and its width are planned from numbers released before: one draw at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from ..strategies.bayes import risk
from ..strategies.risk_model import RiskModel
from ..strategies.strategy import Strategy
from .breaks import breaks_of
from .cell_strategies import Moments, likeliest, risk_model, solved
from .cells import CellGrid
from .counts import Counts, Positions, counts_given, positions_given
from .engine import NOTHING, Filter, Observation, Posterior
from .mixture import Mixture
from .models import AUTO_VARIANCE, Model
from .spread import GAP, spread_models
from .stages import CLIP, NARROWEST, TIED, WIDTHS, IntArray, PlannedStage, each_column, on_the_grid, widest
from .state import (
    KAPPA,
    CurveMoments,
    Linear,
    ModelSet,
    State,
    curve_moments,
    linearise,
    model_set,
    models_given_locations,
    prior_state,
    updated_state,
)
from .waves import on_dates

_STEPS = 200  # of the solver: where it needs more, with very many records, the strategy is good and not the best
_ROUGH_GAP, _ROUGH_STEPS = 0.1, 30  # of strategies that intervals are compared by
_NUMERICAL = (np.linalg.LinAlgError, ValueError, FloatingPointError)  # NaN, indefinite, overflown
_OUT = 1e-3  # probability of people's noise below which its models are read no further


@dataclass(frozen=True, kw_only=True, eq=False)
class SpreadOn:
    """Models of distances on a grid of cells, made at their first use, once for all filters of one plan."""

    grid: CellGrid

    @cached_property
    def models(self) -> ModelSet:
        """From the box alone, see ``spread``."""
        return model_set(on_dates(spread_models(self.grid.box), self.grid.periods), self.grid)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellFilter(Filter[State]):
    """The mixture on M public cells, and at test inputs; all of it is public.

    Attributes:
        models: the mixture on the grid.
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy to stop at.
        two_valued: whether every output is at one end of the range, as yes and no are.
        counts: of records in the cells, as public or released.
        spread: models of distances to the curve.
    """

    grid: CellGrid
    models: ModelSet
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
        return bool(self.models.bias.shape[1])

    @property
    def noise_variances(self) -> FloatArray:
        """See ``Filter``."""
        return self.models.noise_variance

    @property
    def prior_weights(self) -> FloatArray:
        """See ``Filter``."""
        return self.models.weight

    @property
    def labels(self) -> tuple[int, ...]:
        """See ``Filter``."""
        return tuple(self.models.label.tolist())

    @cached_property
    def least_noise(self) -> float:
        """Least variance of an output about the curve in any model.

        Where bounds are far wider than the residuals, the squared residuals may imply even less. Under a model with a
        larger standard deviation sigma, an interval of c sigma that nobody exceeds on one side would be taken to clip
        sigma (phi(c) - c Phi(-c)) off everybody's mean on the other, and every curve would be confidently wrong by it.
        """
        return float(self.models.noise_variance.min())

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
        return replace(self, counts=counts, grid=grid, models=models_given_locations(self.models, grid, unknown))

    def at(self, X_test: FloatArray) -> CellFilter:
        """The same at other test inputs (P, D)."""
        return replace(self, X_test=X_test)

    def prior(self, draws: int) -> tuple[State, tuple[int, ...]]:
        """See ``Filter``; of one release."""
        numbers = () if self.counts.misfit is None else (self.counts.misfit[1],)
        return prior_state(self.models, self.counts), numbers

    def evidence_of(self, state: State) -> FloatArray:
        """See ``Filter``."""
        return state.log_evidence[None]

    def misfit_of(self, state: State) -> FloatArray:
        """See ``Filter``."""
        return state.misfit[None]

    def active(self, posterior: Posterior[State]) -> IntArray:
        """The models that are read further: all but those whose noise variance the squared residuals have ruled out.

        There is always one. All kernels stay: at one noise variance they share its probability, see
        ``scatter.model_weights``.
        """
        candidates = posterior.states.index
        noises, of_noise = np.unique(self.models.noise_variance[candidates], return_inverse=True)
        shares = np.bincount(of_noise, posterior.weights[0, candidates], minlength=len(noises))
        likely = (shares >= _OUT * shares.max())[of_noise]
        return candidates[likely] if likely.any() else candidates

    def linearised(
        self,
        posterior: Posterior[State],
        query: Observation,
        moments: CurveMoments | None = None,
        among: IntArray | None = None,
    ) -> Linear:
        """The residual sums under the models that are read, or some of them; ``moments`` of f - g save computing them.

        Args:
            among: models that are read; None for all ``active`` ones.
        """
        state, expected = posterior.states.only(self.active(posterior) if among is None else among), None
        noise = state.noise_variance
        if posterior.scatter is not None:
            expected = self.expected_scatter(posterior)
            assert expected is not None
            if 0 < expected.variance[0] < self.least_noise:
                noise = np.full_like(noise, expected.variance[0])
        return linearise(self.counts, state, query, self.half_range, expected, moments, noise)

    def updated(self, posterior: Posterior[State], observation: Observation, linear: Any = None) -> State:
        """See ``Filter``."""
        linear = self.linearised(posterior, observation) if linear is None else linear
        return updated_state(
            posterior.states, linear, observation.B, observation.noise_multiplier, observation.z[0]
        )

    def _weighed(self, posterior: Posterior[State]) -> Posterior[State]:
        """See ``Filter``; models ruled out have no weight, and where nothing else has any, the others' is equal."""
        weighed, possible = super()._weighed(posterior), posterior.states.read
        if possible.all():
            return weighed
        weights = weighed.weights * possible
        total = float(weights.sum())
        return weighed._replace(weights=weights / total if total > 0 else possible[None] / possible.sum())

    def mean_square(self, posterior: Posterior[State], g: FloatArray) -> FloatArray:
        """E (y - g)^2 of each cell (1, M), over the models."""
        state, centre = posterior.states, self.grid.averages(g[0])
        variance = state.variance_over_cells + state.noise_variance[:, None]
        each = variance + (state.mean_over_cells - centre) ** 2
        return posterior.weights[:, state.index] @ each

    def curve(self, posterior: Posterior[State]) -> FloatArray:
        """The expected curve at the nodes (1, F), within the range."""
        state = posterior.states
        mean = state.mean_at_nodes(posterior.weights[0, state.index])
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
        self, posterior: Posterior[State], stage: PlannedStage, s: float, first: bool
    ) -> tuple[Observation, Linear]:
        """Intervals of least expected risk among ``WIDTHS``, and the best strategy for them, unless both are given.

        All of it follows from released numbers. The first stage takes the whole range.
        """
        posterior = posterior._replace(states=posterior.states.only(self.active(posterior)))
        start, moments = None, None
        if stage.strategy is not None or first:
            [query] = self.intervals(posterior, stage.width)
        else:
            query, start, moments = self._of_least_risk(posterior, s)
        linear = self.linearised(posterior, query, moments)
        B = stage.strategy.B if stage.strategy is not None else self.plan_stage(posterior, linear, s, start).B
        return query._replace(B=B, noise_multiplier=s), linear

    def _of_least_risk(
        self, posterior: Posterior[State], s: float
    ) -> tuple[Observation, FloatArray, CurveMoments]:
        """Intervals, the strategy (r, M) they were compared by, and moments under each active model."""
        active = self.active(posterior)
        index, shares = likeliest(self.models, posterior.weights[0], active)
        queries = self.intervals(posterior, *(self.clip * times for times in WIDTHS))
        moments = curve_moments(posterior.states.only(active), self.curve(posterior)[0])
        of_likeliest = moments.only(np.searchsorted(active, index))
        linears = [self.linearised(posterior, query, of_likeliest, index) for query in queries]
        B = self._strategy(posterior, linears[0], shares, s, gap=_ROUGH_GAP, max_iterations=_ROUGH_STEPS).B
        return queries[self._width(posterior, linears, shares, B, s)], B, moments

    def _width(
        self, posterior: Posterior[State], linears: Sequence[Linear], shares: FloatArray, B: FloatArray, s: float
    ) -> int:
        """The widest interval whose risk exceeds the least by at most ``TIED`` of what the stage saves; else the first.

        All widths are judged by one strategy B (r, M): where noise leaves most of the risk, strategies found for each
        width differ by as much as the widths do.
        """
        try:
            models = [self.moments(posterior, linear, shares) for linear in linears]
            risks = np.array([[risk([model], B, s**2)] for model in models])
        except _NUMERICAL:
            return 0
        return int(widest(risks, TIED * (models[0].prior_risk - risks.min(axis=0)))[0])

    def plan_stage(
        self, posterior: Posterior[State], linear: Linear, s: float, start: FloatArray | None = None
    ) -> Strategy:
        """B (r, M), columns of norm <= 1, multiples of 2^-20, of least risk of f at the cells, weighted by records.

        Planned for second moments of the mixture, each kernel with the likeliest of its noises and all its weight.

        Args:
            posterior: so far.
            linear: the stage's sums under the models that are read.
            s: noise multiplier of the stage.
            start: a B to start from.
        """
        index, shares = likeliest(self.models, posterior.weights[0], linear.index)
        return on_the_grid(
            self._strategy(posterior, linear.only(index), shares, s, gap=self.gap, start=start, max_iterations=_STEPS)
        )

    def _strategy(
        self, posterior: Posterior[State], linear: Linear, shares: FloatArray, s: float, **options: Any
    ) -> Strategy:
        """The best one by ``solved``; where it fails on released numbers, every cell by itself."""
        try:
            return solved(self.moments(posterior, linear, shares), s, **options)
        except _NUMERICAL:
            return each_column(self.grid.size)

    def moments(self, posterior: Posterior[State], linear: Linear, shares: FloatArray) -> RiskModel:
        """One model with the second moments of the models of ``linear``, about the mean of each.

        Args:
            shares: weights of these models (A,).
        """
        weights = shares / shares.sum()
        each = self.moments_of(posterior, linear)
        mean = Moments(*(np.tensordot(weights, part, axes=1) for part in each))
        return risk_model(mean, self.people, 1.0)

    def moments_of(self, posterior: Posterior[State], linear: Linear) -> Moments:
        """Of each model of ``linear``: K = T C T^T + rest and F = T C Phi^T, C = diag(prior) - rows^T rows.

        As Phi Phi^T is the prior covariance of f over the cells, T diag(prior) T^T = diag(unit) Phi Phi^T diag(unit)
        + diag(gain^2 eta) + bias bias^T.
        """
        state = posterior.states.only(linear.index)
        k, M, unit = self.models.rank, self.grid.size, linear.unit[:, :, None]
        on_eta = state.rows[:, :, k : k + M] * linear.gain[:, None]
        TG = (state.rows_over_cells * linear.unit[:, None] + on_eta).swapaxes(1, 2)
        TG += linear.bias @ state.rows[:, :, k + M :].swapaxes(1, 2)
        prior = self.models.prior_over_cells[state.label]
        K = unit * prior * unit.swapaxes(1, 2) + linear.bias @ linear.bias.T - TG @ TG.swapaxes(1, 2)
        K.reshape(len(K), -1)[:, :: M + 1] += linear.gain**2 * state.prior[:, k : k + M]
        F = unit * prior - TG @ state.rows_over_cells
        of_sums = unit * self.models.breaks.cells - TG @ state.breaks.G
        K += state.breaks.covariance(of_sums, of_sums)
        F += state.breaks.covariance(of_sums, state.effects_over_cells)
        own = linear.own + linear.gain**2 * (1 + KAPPA) * self.people * state.noise_variance[:, None]
        return Moments(K + linear.rest, own, F, state.variance_over_cells)

    def predict(self, posterior: Posterior[State]) -> Mixture:
        """The models' predictions at the test inputs.

        Variance = k(x, x) - |rows phi|^2 + that of breaks' heights + that of their places. A model that is not read
        any more has no weight, and predicts as it did before anything was released.
        """
        state, breaks, k = posterior.states, self.models.breaks, self.models.rank
        shapes, unsure = breaks.at(self.X_test), breaks.unsure_at(self.X_test)
        means, variances = np.zeros((2, len(self.models), len(self.X_test)))
        means[state.index] = state.breaks.mean @ shapes.T
        variances[state.index] = state.breaks.square @ unsure.T
        for label in range(len(self.models.features)):
            prior = self.models.features[label].kernel.diagonal(self.X_test)
            variances[self.models.label == label] += prior
        for label, rows in self.models.kernels_of(state.index):
            phi, index = self.models.at(label, self.X_test), state.index[rows]
            prior = self.models.features[label].kernel.diagonal(self.X_test)
            Q = state.rows[rows, :, :k] @ phi.T
            smooth = np.maximum(prior - np.einsum("ari,ari->ai", Q, Q), 1e-14 * prior)
            effects = shapes - Q.swapaxes(1, 2) @ state.breaks.G[rows]
            means[index] += state.coefficients[rows] @ phi.T
            variances[index] += smooth - prior + state.breaks.only(rows).variance(effects)
        return Mixture(
            means=means[None],
            variances=variances[None],
            noise_variances=self.models.noise_variance,
            weights=posterior.weights,
            fit=self.fit(posterior),
        )

    def shared(self, posterior: Posterior[State]) -> tuple[FloatArray, ...]:
        """See ``Filter``."""
        state, k = posterior.states, self.models.rank
        found = [np.zeros((0, len(self.X_test)))] * len(self.models)
        for label, rows in self.models.kernels_of(state.index):
            phi = self.models.at(label, self.X_test)
            for row in rows:
                found[state.index[row]] = np.asarray(state.rows[row, :, :k] @ phi.T)
        return tuple(found)

    def of_breaks(self, posterior: Posterior[State]) -> tuple[FloatArray, ...]:
        """See ``Filter``."""
        breaks, state, k = self.models.breaks, posterior.states, self.models.rank
        if not len(breaks.sharp):
            return ()
        shapes, P = breaks.at(self.X_test), len(self.X_test)
        covariances = np.zeros((len(self.models), P, P))
        covariances[state.index] = breaks.covariance_of_places(self.X_test, state.breaks.square)
        for label, rows in self.models.kernels_of(state.index):
            Q = state.rows[rows, :, :k] @ self.models.at(label, self.X_test).T
            effects = shapes - Q.swapaxes(1, 2) @ state.breaks.G[rows]
            covariances[state.index[rows]] += state.breaks.only(rows).covariance(effects, effects)
        return tuple(covariances)

    def distance_filter(self) -> CellFilter:
        """See ``Filter``."""
        models, grid = self.spread.models, self.spread.grid
        return replace(self, grid=grid, models=models, half_range=1.0, gap=GAP, two_valued=False)

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
    even = np.full(grid.size, n / grid.size)
    return CellFilter(
        grid=grid,
        models=model_set(models, grid, biased=biased, breaks=breaks),
        n=n,
        half_range=half_range,
        clip=clip,
        gap=gap,
        two_valued=two_valued,
        counts=Counts(even, np.zeros((grid.size, grid.size))),
        X_test=grid.centres[:1, : len(grid.box)],
        spread=SpreadOn(grid=grid),
    )
