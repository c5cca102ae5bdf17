"""The filter: all models given public numbers, and what to measure next.

Records share the columns of a strategy: public cells where inputs are private, and where they are public, clusters of
neighbouring records or single places. The filter never sees a record. Everything it computes is post-processing of
released numbers: it plans each stage, reads the noisy answer, and predicts the curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.grid import IndexArray
from ..measurement.fit import Fit, fits_of
from ..measurement.measurement import CellCounts
from ..strategies.bayes import risk
from ..strategies.risk_model import RiskModel
from ..strategies.strategy import Strategy
from .cells import CellGrid
from .changepoints import change_points_of
from .clipping import widest_near_optimal
from .clusters import Clusters
from .counts import Counts, Positions, counts_given, positions_given
from .dispersion import (
    LocalDispersion,
    dispersion_models,
    dispersion_of,
    usual_distance,
    with_binary,
    with_dispersion,
)
from .mixture import Mixture
from .model import Model
from .periodic import on_dates
from .queries import NOTHING, Distances, Squares, StageMeasurement
from .residuals import (
    ROUNDS,
    NoiseShares,
    ResidualVariance,
    expected,
    has_outliers,
    log_density,
    log_prior,
    model_weights,
    noise_shares,
    of_binary,
)
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
from .strategy import Moments, identity_strategy, likeliest, quantised, risk_model, solved
from .tuning import TUNING

Columns = CellGrid | Clusters
"""Columns of a strategy: cells of the box, or clusters of records with public inputs."""
_NUMERICAL = (np.linalg.LinAlgError, ValueError, FloatingPointError)  # NaN, indefinite, overflown


class Posterior(NamedTuple):
    """Posterior after some stages.

    Attributes:
        state: of all models that are read.
        log_densities: of the cases of the residual variance (S,), see ``residuals``.
        weights: probability of each model (m,).
        numbers: how many numbers were released in each stage; of the counts first, if they were noisy.
    """

    state: State
    log_densities: FloatArray
    weights: FloatArray
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class DispersionModels:
    """Models of the local dispersion on the same columns, made at their first use, once for all filters of one plan."""

    columns: Columns

    @cached_property
    def models(self) -> ModelSet:
        """From the box alone, see ``dispersion``."""
        return model_set(on_dates(dispersion_models(self.columns.box), self.columns.periods), self.columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Filter:
    """The mixture of models on M columns and at test inputs. All of it is public.

    Attributes:
        columns: of the strategies.
        models: the mixture on the columns.
        n: number of records, or of people where they count once each.
        half_range: half the range of the outcomes, in model units.
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy at which the solver stops.
        is_binary: whether every outcome is at one end of the range, as yes and no are.
        counts: of records in the columns, as public or released.
        X_test: test inputs (P, D).
        dispersion: models of the distances from the curve.
    """

    columns: Columns
    models: ModelSet
    n: int
    half_range: float
    clip: float = TUNING.clip
    gap: float = 1.0
    is_binary: bool = False
    counts: Counts
    X_test: FloatArray
    dispersion: DispersionModels

    @cached_property
    def least_noise(self) -> float:
        """Least variance of an outcome about the curve in any model.

        Where bounds are far wider than the residuals, the squared residuals may imply even less. Under a model with a
        larger standard deviation sigma, an interval of c sigma that nobody exceeds on one side would be taken to clip
        sigma (phi(c) - c Phi(-c)) off everybody's mean on the other, and every curve would be confidently wrong by it.
        """
        return float(self.models.noise_variance.min())

    @cached_property
    def noise_shares(self) -> NoiseShares:
        """How the models of each kernel share the cases of the residual variance."""
        models = self.models
        return noise_shares(models.noise_variance, models.weight, models.label.tolist(), self.half_range)

    @property
    def people(self) -> FloatArray:
        """Numbers of records in the columns (M,), none below 0, for shares."""
        return self.counts.numbers

    def with_counts(
        self, counts: CellCounts | Counts, z: FloatArray = NOTHING, positions: Positions | None = None
    ) -> Filter:
        """The same given counts, with noisy numbers z (M,) where they are not public, and noisy locations in cells."""
        if isinstance(counts, CellCounts):
            assert isinstance(self.columns, CellGrid)
            counts = counts_given(self.columns, self.n, counts.B, counts.noise_sd, z)
        if positions is None:
            return replace(self, counts=counts)
        assert isinstance(self.columns, CellGrid)
        grid, unknown = positions_given(self.columns, counts, positions)
        return replace(self, counts=counts, columns=grid, models=models_given_locations(self.models, grid, unknown))

    def at(self, X_test: FloatArray) -> Filter:
        """The same at other test inputs (P, D)."""
        return replace(self, X_test=X_test)

    # ---- reading

    def begin(self, log_densities: FloatArray | None = None) -> Posterior:
        """Posterior before any outcome is measured.

        Args:
            log_densities: of the cases of the residual variance (S,); None for the prior.
        """
        log_densities = log_prior() if log_densities is None else log_densities
        numbers = () if self.counts.misfit is None else (self.counts.misfit[1],)
        return self._weighed(Posterior(prior_state(self.models, self.counts), log_densities, NOTHING, numbers))

    def after(self, posterior: Posterior, stage: StageMeasurement, linear: Linear | None = None) -> Posterior:
        """Posterior after the sums of one more stage.

        Args:
            linear: the sums as an observation of the state, if it was computed before.
        """
        linear = self.linearised(posterior, stage) if linear is None else linear
        state = updated_state(posterior.state, linear, stage.B, stage.noise_multiplier, stage.z)
        posterior = posterior._replace(state=state, numbers=(*posterior.numbers, len(stage.B)))
        posterior = self._weighed(posterior)
        if not self.is_binary:
            return posterior
        share, zero = self.people / self.people.sum(), np.zeros(len(self.columns.nodes))
        for _ in range(ROUNDS):  # residual variance and models' weights each follow from the other
            square = self.mean_square(posterior, zero) @ share - self._noise_variance(posterior)
            posterior = self._weighed(posterior._replace(log_densities=of_binary(self.half_range, float(square))))
        return posterior

    def with_squares(self, posterior: Posterior, squares: Squares | None) -> Posterior:
        """Posterior after the squared residuals of a stage; the same if there are none."""
        if squares is None:
            return posterior
        noise = self.models.in_columns(self._noise_variance(posterior))
        curve_mse = np.maximum(self.mean_square(posterior, squares.g) - noise, 0.0)
        threshold = np.sqrt(squares.high)
        more = log_density(self.half_range, curve_mse, threshold, self.counts.mean, squares.s, squares.z)
        return self._weighed(posterior._replace(log_densities=posterior.log_densities + more))

    def with_squares_of_last(self, posterior: Posterior, stages: Sequence[StageMeasurement]) -> Posterior:
        """Posterior after the squared residuals of the last of some stages; the same if there are none.

        As soon as squares identify outliers, all stages are read again with the larger clipping bias that this implies.
        """
        before, posterior = posterior.log_densities, self.with_squares(posterior, stages[-1].squares)
        found = posterior.log_densities
        if has_outliers(before) or not has_outliers(found):
            return posterior
        again = self.begin(found)
        for stage in stages:
            again = self.after(again, stage)
        return again

    def read(self, stages: Sequence[StageMeasurement]) -> Posterior:
        """Posterior given stages that were released. Spends nothing."""
        posterior = self.begin()
        for number, stage in enumerate(stages, 1):
            posterior = self.with_squares_of_last(self.after(posterior, stage), stages[:number])
        return posterior

    def active(self, posterior: Posterior) -> IndexArray:
        """The models that are read further: all but those whose noise variance the squared residuals have ruled out.

        There is always one. All kernels stay: at one noise variance they share its probability, see
        ``residuals.model_weights``. Before the last stage, evidence rules out kernels that turn out to be right: where
        those below a probability of 1e-6 were left out, errors on planes rose by up to a factor of two.
        """
        candidates = posterior.state.index
        noises, of_noise = np.unique(self.models.noise_variance[candidates], return_inverse=True)
        shares = np.bincount(of_noise, posterior.weights[candidates], minlength=len(noises))
        likely = (shares >= TUNING.ruled_out * shares.max())[of_noise]
        return candidates[likely] if likely.any() else candidates

    def residuals(self, posterior: Posterior) -> ResidualVariance:
        """Posterior of the residual variance, for clipping bias."""
        return expected(posterior.log_densities, self.half_range)

    def linearised(
        self,
        posterior: Posterior,
        query: StageMeasurement,
        moments: CurveMoments | None = None,
        among: IndexArray | None = None,
    ) -> Linear:
        """The residual sums as observations of the state.

        Args:
            moments: of f - g under these models, if they were computed before.
            among: models that are read; None for all ``active`` ones.
        """
        state = posterior.state.only(self.active(posterior) if among is None else among)
        noise, residuals = state.noise_variance, self.residuals(posterior)
        if 0 < residuals.variance < self.least_noise:
            noise = np.full_like(noise, residuals.variance)
        return linearise(self.counts, state, query, self.half_range, residuals, moments, noise)

    def fit(self, posterior: Posterior) -> tuple[Fit, ...]:
        """Fit of the released numbers to the models; () before any stage."""
        if not posterior.numbers:
            return ()
        return fits_of(posterior.weights[None], posterior.state.misfit[None], posterior.numbers)

    def _noise_variance(self, posterior: Posterior) -> float:
        return float(posterior.weights @ self.models.noise_variance)

    def _weighed(self, posterior: Posterior) -> Posterior:
        """With the models' probabilities, from squares and evidence.

        Models that are not read any more have none. If no other model has any, the others' are equal.
        """
        evidence, read = posterior.state.log_evidence, posterior.state.read
        weights = model_weights(self.noise_shares, posterior.log_densities, evidence)
        if not read.all():
            weights = weights * read
            total = float(weights.sum())
            weights = weights / total if total > 0 else read / read.sum()
        return posterior._replace(weights=weights)

    # ---- the curve

    def mean_square(self, posterior: Posterior, g: FloatArray) -> FloatArray:
        """E (y - g)^2 over the records of each column (M,), for g at the nodes (F,)."""
        state, centre = posterior.state, self.columns.averages(g)
        variance = state.variance_over_cells + self.models.in_columns(state.noise_variance)
        return np.asarray(posterior.weights[state.index] @ (variance + (state.mean_over_cells - centre) ** 2))

    def curve(self, posterior: Posterior) -> FloatArray:
        """The expected curve at the nodes (F,), within the range."""
        mean = posterior.state.mean_at_nodes(posterior.weights[posterior.state.index])
        return np.clip(mean, -self.half_range, self.half_range)

    def predict(self, posterior: Posterior) -> Mixture:
        """The models' predictions at the test inputs.

        The variance is k(x, x) - |rows phi|^2, and that of the change points' heights and locations. A model that is
        not read any more has no weight, and predicts as it did before anything was released.
        """
        state, shapes_of, k = posterior.state, self.models.change_points, self.models.rank
        shapes, unsure = shapes_of.at(self.X_test), shapes_of.unsure_at(self.X_test)
        means, variances = np.zeros((2, len(self.models), len(self.X_test)))
        priors = [each.kernel.diagonal(self.X_test) for each in self.models.features]
        variances[:] = np.stack(priors)[self.models.label]
        means[state.index] = state.change_points.mean @ shapes.T
        variances[state.index] += state.change_points.square @ unsure.T
        for label, rows in self.models.kernels_of(state.index):
            phi, index = self.models.at(label, self.X_test), state.index[rows]
            Q = state.rows[rows, :, :k] @ phi.T
            smooth = np.maximum(priors[label] - np.einsum("ari,ari->ai", Q, Q), 1e-14 * priors[label])
            effects = shapes - Q.swapaxes(1, 2) @ state.change_points.G[rows]
            means[index] += state.coefficients[rows] @ phi.T
            variances[index] += smooth - priors[label] + state.change_points.only(rows).variance(effects)
        return Mixture(
            means=means[None],
            variances=variances[None],
            noise_variances=self.models.noise_variance,
            weights=posterior.weights[None],
            fit=self.fit(posterior),
        )

    def shared(self, posterior: Posterior) -> tuple[FloatArray, ...]:
        """Q (R, P) of each model: the covariance of f at the test inputs is K_** - Q^T Q + that of change points."""
        state, found = posterior.state, [np.zeros((0, len(self.X_test)))] * len(self.models)
        for label, rows in self.models.kernels_of(state.index):
            phi = self.models.at(label, self.X_test)
            for row in rows:
                found[state.index[row]] = np.asarray(state.rows[row, :, : self.models.rank] @ phi.T)
        return tuple(found)

    def of_change_points(self, posterior: Posterior) -> tuple[FloatArray, ...]:
        """What change points add to that covariance (P, P), of each model; () where curves have none."""
        shapes_of, state, P = self.models.change_points, posterior.state, len(self.X_test)
        if not len(shapes_of.sharp):
            return ()
        shapes, covariances = shapes_of.at(self.X_test), np.zeros((len(self.models), P, P))
        covariances[state.index] = shapes_of.covariance_of_places(self.X_test, state.change_points.square)
        for label, rows in self.models.kernels_of(state.index):
            Q = state.rows[rows, :, : self.models.rank] @ self.models.at(label, self.X_test).T
            effects = shapes - Q.swapaxes(1, 2) @ state.change_points.G[rows]
            covariances[state.index[rows]] += state.change_points.only(rows).covariance(effects, effects)
        return tuple(covariances)

    # ---- planning

    def intervals(self, posterior: Posterior, *clips: float) -> list[StageMeasurement]:
        """Queries with an interval [low, high] of the residuals about the expected curve, for each half-width.

        The interval is +-c with c = clip sqrt(E (y - g)^2), cut to the range of outcomes. Before any stage g is 0.
        """
        g, h = self.curve(posterior), self.half_range
        # a polynomial overshoots where the curve is cut, and the mean of a constant rounds
        least, most = (np.clip(end, -h, h) for end in self.columns.extremes(g))
        sd, queries = np.sqrt(self.mean_square(posterior, g)), []
        for clip in clips:
            c = np.maximum(clip * sd, 2 * TUNING.narrowest * h)
            low, high = np.maximum(-c, -h - most), np.minimum(c, h - least)
            queries.append(StageMeasurement(NOTHING, low, high, np.nan, g, width=clip))
        return queries

    def next_stage(
        self, posterior: Posterior, s: float, width: float | None, B: FloatArray | None = None
    ) -> tuple[StageMeasurement, Linear]:
        """The query of a stage, and its sums as an observation of the state. All of it follows from released numbers.

        Args:
            s: noise multiplier of the sums.
            width: half-width of the intervals over the predictive standard deviation; None for one of nearly least
                expected risk among ``TUNING.widths``.
            B: strategy (r, M); None for the best one.
        """
        posterior = posterior._replace(state=posterior.state.only(self.active(posterior)))
        start, moments = None, None
        if width is not None:
            [query] = self.intervals(posterior, width)
        else:
            query, start, moments = self._of_least_risk(posterior, s)
        linear = self.linearised(posterior, query, moments)
        B = self.plan_stage(posterior, linear, s, start).B if B is None else B
        return query._replace(B=B, noise_multiplier=s), linear

    def _of_least_risk(self, posterior: Posterior, s: float) -> tuple[StageMeasurement, FloatArray, CurveMoments]:
        """Intervals, the strategy (r, M) that they were compared by, and moments of f - g under each active model."""
        active = self.active(posterior)
        index, shares = likeliest(self.models, posterior.weights, active)
        queries = self.intervals(posterior, *(self.clip * times for times in TUNING.widths))
        moments = curve_moments(posterior.state.only(active), self.curve(posterior))
        of_likeliest = moments.only(np.searchsorted(active, index))
        few = posterior._replace(state=posterior.state.only(index))
        linears = [self.linearised(few, query, of_likeliest, index) for query in queries]
        B = self._strategy(few, linears[0], shares, s, gap=TUNING.rough_gap, max_iterations=TUNING.rough_steps).B
        return queries[self._width(few, linears, shares, B, s)], B, moments

    def _width(
        self, posterior: Posterior, linears: Sequence[Linear], shares: FloatArray, B: FloatArray, s: float
    ) -> int:
        """The widest interval whose risk exceeds the least by at most ``TUNING.tied`` of what the stage saves.

        All widths are judged by one strategy B (r, M), because strategies found for each width may differ by as much as
        the widths do. Where that fails numerically, the narrowest interval is taken.
        """
        try:
            models = [self.moments(posterior, linear, shares) for linear in linears]
            risks = np.array([risk([model], B, s**2) for model in models])
        except _NUMERICAL:
            return 0
        return widest_near_optimal(risks, TUNING.tied * (models[0].prior_risk - float(risks.min())))

    def plan_stage(self, posterior: Posterior, linear: Linear, s: float, start: FloatArray | None = None) -> Strategy:
        """Strategy B (r, M) of least risk of f over the columns, weighted by their records.

        Its columns have norm <= 1 and are multiples of 2^-20. It is planned for the second moments of the mixture, in
        which each kernel has the likeliest of its noise variances and all of its weight.

        Args:
            linear: the stage's sums under the models that are read.
            s: noise multiplier of the stage.
            start: a B to start from.
        """
        index, shares = likeliest(self.models, posterior.weights, linear.index)
        best = self._strategy(
            posterior, linear.only(index), shares, s, gap=self.gap, start=start, max_iterations=TUNING.steps
        )
        return quantised(best)

    def _strategy(self, posterior: Posterior, linear: Linear, shares: FloatArray, s: float, **options: Any) -> Strategy:
        """The best strategy; each column by itself where it cannot be found from the released numbers."""
        try:
            return solved(self.moments(posterior, linear, shares), s, **options)
        except _NUMERICAL:
            return identity_strategy(self.columns.size)

    def moments(self, posterior: Posterior, linear: Linear, shares: FloatArray) -> RiskModel:
        """One model with the second moments of the models of ``linear``, about the mean of each.

        Args:
            shares: weights of these models (A,).
        """
        weights = shares / shares.sum()
        mean = Moments(*(np.tensordot(weights, part, axes=1) for part in self.moments_of(posterior, linear)))
        return risk_model(mean, self.people, 1.0)

    def moments_of(self, posterior: Posterior, linear: Linear) -> Moments:
        """Moments of the sums and the curve under each model of ``linear``.

        K = T C T^T + rest and F = T C Phi^T with C = diag(prior) - rows^T rows. As Phi Phi^T is the prior covariance of
        f over the columns, T diag(prior) T^T = diag(unit) Phi Phi^T diag(unit) + diag(gain^2 eta) + bias bias^T.
        """
        state = posterior.state.only(linear.index)
        k, M, unit = self.models.rank, self.columns.size, linear.unit[:, :, None]
        on_eta = state.rows[:, :, k : k + M] * linear.gain[:, None]
        TG = (state.rows_over_cells * linear.unit[:, None] + on_eta).swapaxes(1, 2)
        TG += linear.bias @ state.rows[:, :, k + M :].swapaxes(1, 2)
        prior = self.models.prior_over_cells[state.label]
        K = unit * prior * unit.swapaxes(1, 2) + linear.bias @ linear.bias.T - TG @ TG.swapaxes(1, 2)
        K.reshape(len(K), -1)[:, :: M + 1] += linear.gain**2 * state.prior[:, k : k + M]
        F = unit * prior - TG @ state.rows_over_cells
        if len(self.models.change_points.sharp):
            of_state, gain = state.covariance_of_change_points, linear.gain[:, :, None]
            of_sums = unit * of_state[:, :M] + gain * of_state[:, M : 2 * M] + linear.bias @ of_state[:, 2 * M :]
            K += unit.swapaxes(1, 2) * of_sums[..., :M] + gain.swapaxes(1, 2) * of_sums[..., M : 2 * M]
            K += of_sums[..., 2 * M :] @ linear.bias.T
            F += of_sums[..., :M]
        own = linear.own + linear.gain**2 * (1 + KAPPA) * self.people * self.models.in_columns(state.noise_variance)
        return Moments(K + linear.rest, own, F, state.variance_over_cells)

    # ---- local dispersion

    def dispersion_filter(self) -> Filter:
        """Models of 2 (a / A - usual), see ``dispersion``, on the same columns and test inputs, from the box alone."""
        models, columns = self.dispersion.models, self.dispersion.columns
        return replace(self, columns=columns, models=models, half_range=1.0, gap=TUNING.distance_gap, is_binary=False)

    def plan_distances(self, usual: float, s: float) -> Strategy:
        """Strategy of the distances, ``usual`` being the expected a / A."""
        filtered = self.dispersion_filter()
        prior = filtered.begin()
        return filtered.plan_stage(prior, filtered.linearised(prior, filtered.distance_query(NOTHING, usual, s)), s)

    def distance_query(self, B: FloatArray, usual: float, s: float, z: FloatArray = NOTHING) -> StageMeasurement:
        """Sums of a / A - 1/2 = (v + 2 usual - 1) / 2 of the models' v = 2 (a / A - usual); none is clipped."""
        centre, one = 2 * usual - 1, np.ones(self.columns.size)
        zero = np.zeros(len(self.columns.nodes))
        return StageMeasurement(B, -one - centre, one - centre, s, zero, z, clips=False)

    def read_distances(self, distances: Distances) -> LocalDispersion:
        """E a at the test inputs, from noisy sums of distances. Spends nothing."""
        read, usual = self._distances_read(distances)
        scaled = self.dispersion_filter().predict(read)
        mean = scaled.mean[0]
        square = np.einsum("m,mp->p", scaled.weights[0], scaled.variances[0] + scaled.means[0] ** 2)
        return dispersion_of(mean, square - mean**2, usual, distances.threshold)

    def _distances_read(self, distances: Distances) -> tuple[Posterior, float]:
        """Posterior of 2 (a / A - usual) given noisy sums of distances, and the expected a / A."""
        filtered, usual = self.dispersion_filter(), float(usual_distance(distances.sd / distances.threshold))
        query = filtered.distance_query(distances.B, usual, distances.s, distances.z)
        return filtered.after(filtered.begin(), query), usual

    def with_local_noise(
        self, posterior: Posterior, stages: Sequence[StageMeasurement], distances: Distances | None
    ) -> Posterior:
        """Posterior given the same stages, read again with the local dispersion as noise variance. Spends nothing.

        Where the dispersion hardly differs between columns, the posterior stays as it is.
        """
        if distances is None or self.is_binary:
            return posterior
        read, usual = self._distances_read(distances)
        weights, state = read.weights[read.state.index], read.state
        mean = weights @ state.mean_over_cells
        square = weights @ (state.variance_over_cells + state.mean_over_cells**2)
        of_curve = self.mean_square(posterior, self.curve(posterior))
        of_curve = np.maximum(of_curve - self.models.in_columns(self._noise_variance(posterior)), 0.0)
        found = dispersion_of(mean, square - mean**2, usual, distances.threshold)
        local, share = found.about_curve(of_curve), self.people / self.people.sum()
        scatter = np.maximum(local / (share @ local), TUNING.least_scatter)
        uneven = math.sqrt(share @ (scatter - 1) ** 2) > TUNING.uneven
        if not uneven or share @ (found.mean - share @ found.mean) ** 2 < share @ found.variance:
            return posterior
        return replace(self, models=replace(self.models, scatter=scatter)).read(stages)

    def with_dispersion(self, prediction: Mixture, distances: Distances | None) -> Mixture:
        """The same prediction at the test inputs, with the local dispersion of outcomes there."""
        if self.is_binary:
            return with_binary(prediction, self.half_range)
        if distances is None:
            return prediction
        return with_dispersion(prediction, self.read_distances(distances), distances, self.n)


def filter_of(
    models: Sequence[Model],
    columns: Columns,
    n: int,
    half_range: float,
    *,
    clip: float = TUNING.clip,
    gap: float = 1.0,
    is_binary: bool = False,
    change_points: bool = True,
) -> Filter:
    """Every model on public columns; ``with_counts`` and ``at`` set the counts and test inputs.

    Args:
        n: number of records, or of people where they count once each.
        half_range: half the range of the outcomes, in model units.
        clip: half-width of the narrowest interval over the predictive standard deviation.
        gap: relative gap of each strategy at which the solver stops.
        is_binary: whether every outcome is at one end of the range.
        change_points: whether curves may have change points.
    """
    shapes = None
    if change_points:
        shapes = change_points_of(columns, TUNING.curve_variance * half_range**2)
    even = np.full(columns.size, n / columns.size)
    return Filter(
        columns=columns,
        models=model_set(models, columns, change_points=shapes),
        n=n,
        half_range=half_range,
        clip=clip,
        gap=gap,
        is_binary=is_binary,
        counts=Counts(even, np.zeros((columns.size, columns.size))),
        X_test=columns.centres[:1, : len(columns.box)],
        dispersion=DispersionModels(columns=columns),
    )
