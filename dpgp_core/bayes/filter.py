"""The filter: it plans each stage, reads the noisy answer with all models, and predicts the curve.

Records share the columns of a strategy. These are equal cells if inputs are private, and clusters of neighbouring
records or single places if they are public. The filter never sees a record: everything it computes is post-processing
of released numbers.
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
from .changepoints import change_points_of, with_masses_at_ends
from .clipping import ends_of, widest_near_optimal
from .clusters import Clusters
from .counts import Counts, Positions, counts_given, locations_given
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
from .periodic import with_phases
from .queries import NOTHING, Distances, Squares, StageMeasurement
from .residuals import (
    ROUNDS,
    NoiseShares,
    ResidualVariance,
    core_is_known,
    expected,
    has_outliers,
    log_density,
    log_prior,
    model_weights,
    noise_shares,
    of_binary,
    threshold_of_excess,
)
from .state import (
    KAPPA,
    CurveMoments,
    LinearSums,
    ModelSet,
    State,
    curve_moments,
    linearise,
    model_set,
    models_given_locations,
    prior_state,
    updated_state,
)
from .strategy import Moments, best_strategy, identity_strategy, quantised, representative_models, risk_model
from .tuning import TUNING

Columns = CellGrid | Clusters
"""Columns of a strategy: cells of the box, or clusters of records with public inputs."""
_SEEN = 1.96  # number of standard deviations of the noise above which outliers are noticed
# errors that linear algebra raises for values that are not finite, or for matrices that are not definite
_NUMERICAL = (np.linalg.LinAlgError, ValueError, FloatingPointError)
_EXACT = 1e-3  # noise with which an exact answer is read, over that of the released one


class Posterior(NamedTuple):
    """Everything that the released numbers determine after some stages.

    Attributes:
        state: posterior of the curve under each model that is still read.
        log_densities: log density of each case of the residual variance (S,), see ``residuals``.
        weights: probability of each model (m,).
        stage_sizes: how many numbers were released in each measurement: the counts first, if they are noisy, then each
            stage.
    """

    state: State
    log_densities: FloatArray
    weights: FloatArray
    stage_sizes: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class DispersionModels:
    """Models of the local dispersion. They are computed at their first use and shared by all filters of one plan.

    Attributes:
        columns: the columns on which the models are computed.
    """

    columns: Columns

    @cached_property
    def models(self) -> ModelSet:
        """The models on the columns. Their kernels follow from the box alone, see ``dispersion``."""
        return model_set(with_phases(dispersion_models(self.columns.box), self.columns.periods), self.columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Filter:
    """The mixture of models on M columns, with counts and test inputs. All of it is public.

    A filter does not change. What it has read is in a ``Posterior``, which its methods take and return.

    Attributes:
        columns: the columns of the strategies.
        models: the m models of the mixture on these columns.
        n: number of records, or of people if each counts once.
        half_range: half the range of the outcomes, in model units.
        clip: half-width of the narrowest clipping interval over the predictive standard deviation of a residual.
        gap: relative gap at which the solver of strategies stops.
        is_binary: whether outcomes are yes/no, and therefore at one end of the range each.
        counts: posterior of the numbers of records in the columns.
        X_test: test inputs (P, D).
        dispersion: models of the local dispersion.
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
        """Smallest variance of an outcome about the curve in any model, in squared model units.

        If the bounds are far wider than the residuals, the squared residuals may imply an even smaller variance. This
        smaller variance then replaces that of the models in the moments of clipping. A model with a standard deviation
        sigma assumes that an interval ending c sigma above the curve reduces the mean of clipped outcomes by
        sigma (phi(c) - c Phi(-c)). If sigma is too large, no outcome is clipped there in truth, and the curve would be
        confidently wrong by this amount.
        """
        return float(self.models.noise_variance.min())

    @cached_property
    def noise_shares(self) -> NoiseShares:
        """How the probability of each case of sigma^2 is divided among models, see ``residuals.noise_shares``."""
        models = self.models
        return noise_shares(models.noise_variance, models.weight, models.label.tolist(), self.half_range)

    @property
    def record_counts(self) -> FloatArray:
        """Expected numbers of records in the columns (M,), or 0 if they are negative."""
        return self.counts.nonnegative

    def with_counts(
        self, counts: CellCounts | Counts, z: FloatArray = NOTHING, positions: Positions | None = None
    ) -> Filter:
        """Return the filter with the counts and locations of records.

        Args:
            counts: the numbers of records if they are public, and otherwise how they were measured.
            z: noisy numbers of records (M,), if they were measured.
            positions: noisy locations of the records within cells, if they were measured.
        """
        if isinstance(counts, CellCounts):
            assert isinstance(self.columns, CellGrid)
            counts = counts_given(self.columns, self.n, counts.B, counts.noise_sd, z)
        columns, models = self.columns, self.models
        if positions is not None:
            assert isinstance(columns, CellGrid)
            columns, unknown = locations_given(columns, counts, positions)
            models = models_given_locations(models, columns, unknown)
        models = replace(models, change_points=with_masses_at_ends(models.change_points, counts))
        return replace(self, counts=counts, columns=columns, models=models)

    def at(self, X_test: FloatArray) -> Filter:
        """Return the filter with test inputs X_test (P, D)."""
        return replace(self, X_test=X_test)

    # ---- reading

    def prior(self, log_densities: FloatArray | None = None) -> Posterior:
        """Return the posterior before any outcome is measured.

        Args:
            log_densities: log density of each case of the residual variance (S,); None for the prior.
        """
        log_densities = log_prior() if log_densities is None else log_densities
        numbers = () if self.counts.misfit is None else (self.counts.misfit[1],)
        return self._reweighted(Posterior(prior_state(self.models, self.counts), log_densities, NOTHING, numbers))

    def after(self, posterior: Posterior, stage: StageMeasurement, linear: LinearSums | None = None) -> Posterior:
        """Return the posterior after the sums of one more stage. ``with_squares_of_last`` then adds its squares.

        Args:
            posterior: the posterior after the previous stages.
            stage: the query and its noisy answer.
            linear: the sums as an observation of the state, if it has been computed already.
        """
        linear = self.linearised(posterior, stage) if linear is None else linear
        state = updated_state(posterior.state, linear, stage.B, stage.noise_multiplier, stage.z)
        posterior = posterior._replace(state=state, stage_sizes=(*posterior.stage_sizes, len(stage.B)))
        posterior = self._reweighted(posterior)
        if not self.is_binary:
            return posterior
        share, zero = self.record_counts / self.record_counts.sum(), np.zeros(len(self.columns.nodes))
        for _ in range(ROUNDS):  # the residual variance and the weights of the models each follow from the other
            square = self.mean_square(posterior, zero) @ share - self._noise_variance(posterior)
            posterior = self._reweighted(posterior._replace(log_densities=of_binary(self.half_range, float(square))))
        return posterior

    def with_squares(self, posterior: Posterior, squares: Squares | None) -> Posterior:
        """Return the posterior after the squared residuals of a stage, or unchanged if these were not measured."""
        if squares is None:
            return posterior
        curve_mse, threshold = self.curve_mse(posterior, squares.g), np.sqrt(squares.high)
        more = log_density(self.half_range, curve_mse, threshold, self.counts.mean, squares.s, squares.z)
        return self._reweighted(posterior._replace(log_densities=posterior.log_densities + more))

    def with_squares_of_last(self, posterior: Posterior, stages: Sequence[StageMeasurement]) -> Posterior:
        """Return the posterior after the squared residuals of the last stage, if these were measured.

        When squares identify outliers for the first time, all stages are read again with the larger clipping bias that
        outliers imply.

        Args:
            posterior: the posterior after the sums of all stages, and the squares of all but the last.
            stages: all stages so far.
        """
        before, posterior = posterior.log_densities, self.with_squares(posterior, stages[-1].squares)
        found = posterior.log_densities
        if has_outliers(before) or not has_outliers(found):
            return posterior
        again = self.prior(found)
        for stage in stages:
            again = self.after(again, stage)
        return again

    def read(self, stages: Sequence[StageMeasurement]) -> Posterior:
        """Return the posterior given released stages. This is post-processing and spends no budget."""
        posterior = self.prior()
        for number, stage in enumerate(stages, 1):
            posterior = self.with_squares_of_last(self.after(posterior, stage), stages[:number])
        return posterior

    def active(self, posterior: Posterior) -> IndexArray:
        """Return the models that are still read (A,): those whose noise variance has not been ruled out by the squares.

        At least one model remains. No kernel is ruled out, because the probability of a noise variance is divided among
        its kernels by the evidence (``residuals.model_weights``), which may favour kernels later that it disfavours
        early: leaving out those below a probability of 1e-6 increased errors on planes by up to a factor of two.
        """
        candidates = posterior.state.index
        noises, of_noise = np.unique(self.models.noise_variance[candidates], return_inverse=True)
        shares = np.bincount(of_noise, posterior.weights[candidates], minlength=len(noises))
        likely = (shares >= TUNING.ruled_out * shares.max())[of_noise]
        return candidates[likely] if likely.any() else candidates

    def residuals(self, posterior: Posterior) -> ResidualVariance:
        """Return the posterior of the residual variance, which determines the clipping bias."""
        return expected(posterior.log_densities, self.half_range)

    def linearised(
        self,
        posterior: Posterior,
        query: StageMeasurement,
        moments: CurveMoments | None = None,
        among: IndexArray | None = None,
    ) -> LinearSums:
        """Express the sums of a query as a linear observation of the state, see ``state.linearise``.

        Args:
            posterior: the posterior after the previous stages.
            query: the query, with or without its answer.
            moments: moments of f - g under these models, if they have been computed already.
            among: the models to consider (A,); None for all ``active`` ones.
        """
        state = posterior.state.only(self.active(posterior) if among is None else among)
        noise, residuals = state.noise_variance, self.residuals(posterior)
        # a normal distribution with the variance of outliers would expect many residuals beyond a narrow interval
        if residuals.outliers.any() or 0 < residuals.variance < self.least_noise:
            noise = np.full_like(noise, residuals.core)
        return linearise(self.counts, state, query, self.half_range, residuals, moments, noise)

    def fit(self, posterior: Posterior) -> tuple[Fit, ...]:
        """Return how well the released numbers fit the models, as a tuple of one ``Fit``; () before any measurement."""
        if not posterior.stage_sizes:
            return ()
        return fits_of(posterior.weights[None], posterior.state.misfit[None], posterior.stage_sizes)

    def _noise_variance(self, posterior: Posterior) -> float:
        return float(posterior.weights @ self.models.noise_variance)

    def _reweighted(self, posterior: Posterior) -> Posterior:
        """Return the posterior with the probabilities of the models, which follow from squares and evidence.

        Models that are no longer read have probability 0. If that would leave no model, those still read are equally
        likely.
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
        """Return E (y - g)^2 over the records of each column (M,), for g given at the nodes (F,)."""
        state, centre = posterior.state, self.columns.averages(g)
        variance = state.variance_over_cells + state.noise_variance[:, None]
        return np.asarray(posterior.weights[state.index] @ (variance + (state.mean_over_cells - centre) ** 2))

    def curve_mse(self, posterior: Posterior, g: FloatArray) -> FloatArray:
        """Return E (f - g)^2 over the records of each column (M,), for g given at the nodes (F,)."""
        return np.maximum(self.mean_square(posterior, g) - self._noise_variance(posterior), 0.0)

    def curve(self, posterior: Posterior) -> FloatArray:
        """Return the expected curve at the nodes (F,), clipped to the range of the outcomes."""
        mean = posterior.state.mean_at_nodes(posterior.weights[posterior.state.index])
        return np.clip(mean, -self.half_range, self.half_range)

    def predict(self, posterior: Posterior) -> Mixture:
        """Return the predictions of the models at the test inputs.

        The variance under a model is k(x, x) - |rows phi(x)|^2, plus the variance that is due to the heights and
        locations of change points. A model that is no longer read has weight 0 and keeps its prior prediction.
        """
        state, shapes_of, k = posterior.state, self.models.change_points, self.models.rank
        shapes, unsure = shapes_of.at(self.X_test), shapes_of.step_variance_at(self.X_test)
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

    def noise_variance(self, posterior: Posterior, stages: Sequence[StageMeasurement]) -> FloatArray:
        """Return an upper bound of the posterior variance of f at the test inputs (P,) that is due to privacy noise.

        Let z be the released answers of the stages, and y the exact answers to the same queries. By the law of total
        variance,

            Var(f | z) = E[Var(f | y) | z] + Var(E[f | y] | z).

        The last term is the variance that is due to noise: that of the curve which exact answers would give. It
        includes the effect of noise on the weights of the models. Under each model, Var(f | y) follows from the
        queries, and the weights given z are the expected weights given y. The first term is therefore at least
        sum_m w_m Var(f | y, m), and the difference of Var(f | z) and this sum is returned.

        Args:
            posterior: the posterior given all stages.
            stages: all stages.
        """
        filtered, index = replace(self, models=posterior.state.models), posterior.state.index
        before = filtered.prior(posterior.log_densities)
        exact = before.state
        for stage in stages:
            linear = filtered.linearised(before, stage, among=index)
            expected_z = linear.mean.mean(axis=0) @ stage.B.T
            exact = updated_state(exact, linear, stage.B, _EXACT * stage.noise_multiplier, expected_z)
            before = filtered.after(before, stage, linear)
        known = filtered.predict(posterior._replace(state=exact))
        total = filtered.predict(posterior)
        return np.asarray(np.maximum(total.variance[0] - known.weights[0] @ known.variances[0], 0.0))

    def cross_covariances(self, posterior: Posterior) -> tuple[FloatArray, ...]:
        """Return Q = rows phi(X_test) (R, P) of each model; (0, P) for models that are no longer read.

        The posterior covariance of f at the test inputs is K_** - Q^T Q, plus ``change_point_covariances``.
        """
        state, found = posterior.state, [np.zeros((0, len(self.X_test)))] * len(self.models)
        for label, rows in self.models.kernels_of(state.index):
            phi = self.models.at(label, self.X_test)
            for row in rows:
                found[state.index[row]] = np.asarray(state.rows[row, :, : self.models.rank] @ phi.T)
        return tuple(found)

    def change_point_covariances(self, posterior: Posterior) -> tuple[FloatArray, ...]:
        """Return the covariance (P, P) that change points add to f at the test inputs under each model.

        It is () if curves have no change points.
        """
        shapes_of, state, P = self.models.change_points, posterior.state, len(self.X_test)
        if not len(shapes_of.sharp):
            return ()
        shapes, covariances = shapes_of.at(self.X_test), np.zeros((len(self.models), P, P))
        covariances[state.index] = shapes_of.step_covariance(self.X_test, state.change_points.square)
        for label, rows in self.models.kernels_of(state.index):
            Q = state.rows[rows, :, : self.models.rank] @ self.models.at(label, self.X_test).T
            effects = shapes - Q.swapaxes(1, 2) @ state.change_points.G[rows]
            covariances[state.index[rows]] += state.change_points.only(rows).covariance(effects, effects)
        return tuple(covariances)

    # ---- planning

    def intervals(self, posterior: Posterior, *clips: float) -> list[StageMeasurement]:
        """Return queries about the expected curve g, one for each relative half-width in ``clips``.

        The clipping interval of a column is [-c, c] with c = clip sqrt(E (y - g)^2), restricted to values that a
        residual can have. The queries have no strategy yet. Before any stage g is 0.
        """
        g, h = self.curve(posterior), self.half_range
        # a polynomial may exceed the range next to a node at which the curve was clipped, and a mean may by rounding
        least, most = (np.clip(end, -h, h) for end in self.columns.extremes(g))
        sd, queries = np.sqrt(self.mean_square(posterior, g)), []
        for clip in clips:
            c = np.maximum(clip * sd, 2 * TUNING.narrowest * h)
            low, high = np.maximum(-c, -h - most), np.minimum(c, h - least)
            queries.append(StageMeasurement(NOTHING, low, high, np.nan, g, width=clip))
        return queries

    def next_stage(
        self, posterior: Posterior, s: float, width: float | None, B: FloatArray | None = None
    ) -> tuple[StageMeasurement, LinearSums]:
        """Plan the next stage: return its query, and its sums as a linear observation of the state.

        The plan is a function of released numbers.

        Args:
            posterior: the posterior after the previous stages.
            s: noise multiplier of the sums.
            width: half-width of the intervals over the predictive standard deviation; None to choose it among
                ``TUNING.widths`` by the expected risk.
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

    def next_squares(self, posterior: Posterior, g: FloatArray, s: float, *, excess: bool) -> Squares:
        """Plan the squared residuals of a stage. The plan is a function of released numbers.

        Args:
            posterior: the posterior after the sums of the stage.
            g: the curve from which residuals are taken, at the nodes (F,).
            s: noise multiplier of the squares.
            excess: whether the squares are planned for the excess of outliers, if the residual variance is known.
        """
        if excess and core_is_known(posterior.log_densities):
            mse, people = self.curve_mse(posterior, g), self.counts.mean
            A = threshold_of_excess(posterior.log_densities, mse, people, s, self.half_range)
            return Squares(g, np.full(self.columns.size, A**2), s)
        most = (2 * self.half_range) ** 2
        return Squares(g, np.minimum(TUNING.threshold**2 * self.mean_square(posterior, g), most), s)

    def _of_least_risk(self, posterior: Posterior, s: float) -> tuple[StageMeasurement, FloatArray, CurveMoments]:
        """Choose the width of the clipping intervals.

        Returns the query with these intervals, the rough strategy (r, M) by which widths were compared, and the moments
        of f - g under the active models.
        """
        active = self.active(posterior)
        index, shares = representative_models(self.models, posterior.weights, active)
        queries = self.intervals(posterior, *(self.clip * times for times in TUNING.widths))
        moments = curve_moments(posterior.state.only(active), self.curve(posterior))
        of_likeliest = moments.only(np.searchsorted(active, index))
        few = posterior._replace(state=posterior.state.only(index))
        linears = [self.linearised(few, query, of_likeliest, index) for query in queries]
        B = self._strategy(few, linears[0], shares, s, gap=TUNING.rough_gap, max_iterations=TUNING.rough_steps).B
        return queries[self._width(few, linears, shares, B, s)], B, moments

    def _width(
        self, posterior: Posterior, linears: Sequence[LinearSums], shares: FloatArray, B: FloatArray, s: float
    ) -> int:
        """Return the index of the widest intervals whose risk is near the smallest.

        It may exceed the smallest risk by ``TUNING.tied`` times the reduction of the risk by the stage. All widths are
        compared with one strategy B (r, M), because approximate solutions for different widths may differ by as much as
        the widths do. If the risk cannot be computed, the narrowest intervals are chosen.
        """
        try:
            models = [self.moments(posterior, linear, shares) for linear in linears]
            risks = np.array([risk([model], B, s**2) for model in models])
        except _NUMERICAL:
            return 0
        return widest_near_optimal(risks, TUNING.tied * (models[0].prior_risk - float(risks.min())))

    def plan_stage(
        self, posterior: Posterior, linear: LinearSums, s: float, start: FloatArray | None = None
    ) -> Strategy:
        """Return the strategy B (r, M) that minimises the risk of f over the columns, weighted by their records.

        Its columns have norm at most 1, and its entries are multiples of 2^-20. The risk is that of the second moments
        of the mixture, in which each family of kernels is represented by one model (``representative_models``).

        Args:
            posterior: the posterior after the previous stages.
            linear: the sums of the stage under the models that are still read.
            s: noise multiplier of the stage.
            start: a strategy (r, M) from which the solver starts; None for its own.
        """
        index, shares = representative_models(self.models, posterior.weights, linear.index)
        best = self._strategy(
            posterior, linear.only(index), shares, s, gap=self.gap, start=start, max_iterations=TUNING.steps
        )
        return quantised(best)

    def _strategy(
        self, posterior: Posterior, linear: LinearSums, shares: FloatArray, s: float, **options: Any
    ) -> Strategy:
        """Return the best strategy, or the identity if the best one cannot be computed.

        The stage has been paid for, so that no error may be raised here.
        """
        try:
            return best_strategy(self.moments(posterior, linear, shares), s, **options)
        except _NUMERICAL:
            return identity_strategy(self.columns.size)

    def moments(self, posterior: Posterior, linear: LinearSums, shares: FloatArray) -> RiskModel:
        """Return the risk model with the average second moments of the models of ``linear``, each about its own mean.

        Args:
            shares: weights of these models (A,).
        """
        weights = shares / shares.sum()
        mean = Moments(*(np.tensordot(weights, part, axes=1) for part in self.moments_of(posterior, linear)))
        return risk_model(mean, self.record_counts, 1.0)

    def moments_of(self, posterior: Posterior, linear: LinearSums) -> Moments:
        """Return the moments of the sums and of the curve under each model of ``linear``.

        They are K = T C T^T + rest and F = T C Phi^T, with C = diag(prior) - rows^T rows. As Phi Phi^T is the prior
        covariance of f over the columns and v_eta the prior variance of eta,
        T diag(prior) T^T = diag(unit) Phi Phi^T diag(unit) + diag(gain^2 v_eta) + bias bias^T.
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
        own = linear.own + linear.gain**2 * (1 + KAPPA) * self.record_counts * state.noise_variance[:, None]
        return Moments(K + linear.rest, own, F, state.variance_over_cells)

    # ---- local dispersion

    def dispersion_filter(self) -> Filter:
        """Return the filter for the scaled distances 2 (a / A - usual), on the same columns and test inputs.

        See ``dispersion``. Its models follow from the box alone.
        """
        models, columns = self.dispersion.models, self.dispersion.columns
        return replace(self, columns=columns, models=models, half_range=1.0, gap=TUNING.distance_gap, is_binary=False)

    def plan_distances(self, usual: float, s: float) -> Strategy:
        """Return the strategy for measuring distances.

        Args:
            usual: expected a / A.
            s: noise multiplier of the distances.
        """
        filtered = self.dispersion_filter()
        prior = filtered.prior()
        return filtered.plan_stage(prior, filtered.linearised(prior, filtered.distance_query(NOTHING, usual, s)), s)

    def distance_query(self, B: FloatArray, usual: float, s: float, z: FloatArray = NOTHING) -> StageMeasurement:
        """Return the query for sums of a / A - 1/2, as the dispersion filter sees it.

        The dispersion filter infers v = 2 (a / A - usual). The query is a / A - 1/2 = (v + 2 usual - 1) / 2, and clips
        no v.

        Args:
            B: strategy (r, M).
            usual: expected a / A.
            s: standard deviation of the noise on each entry of z.
            z: released numbers (r,), once they are measured.
        """
        centre, one = 2 * usual - 1, np.ones(self.columns.size)
        zero = np.zeros(len(self.columns.nodes))
        return StageMeasurement(B, -one - centre, one - centre, s, zero, z, clips=False)

    def read_distances(self, distances: Distances) -> LocalDispersion:
        """Return the posterior of E a / A at the test inputs, given noisy sums of distances. Spends no budget."""
        filtered, usual = self.dispersion_filter(), float(usual_distance(distances.sd / distances.threshold))
        query = filtered.distance_query(distances.B, usual, distances.s, distances.z)
        scaled = filtered.predict(filtered.after(filtered.prior(), query))
        mean = scaled.mean[0]
        square = np.einsum("m,mp->p", scaled.weights[0], scaled.variances[0] + scaled.means[0] ** 2)
        return dispersion_of(mean, square - mean**2, usual, distances.threshold)

    def unseen_outliers(self, posterior: Posterior, stages: Sequence[StageMeasurement]) -> float:
        """Return the largest share of the records that may be outliers without being noticed.

        Sums in narrow intervals hardly depend on outliers; only sums that clip nothing show them. If a share p of the
        records of every column is 2 h away from the curve, B x of a stage that clips nothing changes by p B v with v_c
        = 2 h n_c / u_c. The change is noticed if it exceeds ``_SEEN`` standard deviations of the noise,

            p^2 sum_i |B_i v_i|^2 / s_i^2 > _SEEN^2.

        The share is 0 if no stage clips, or if the squared residuals identify outliers, because intervals then account
        for them. It is 1 if every stage clips.

        Args:
            posterior: the posterior given all stages.
            stages: all stages.
        """
        clipped, information = False, 0.0
        for stage in stages:
            middle = self.columns.averages(stage.g)
            low, high = stage.low + middle, stage.high + middle
            clips = np.isfinite(ends_of(low, high, middle, self.half_range, clips=not self.is_binary).half_width)
            clipped |= bool(clips.any())
            far = np.where(clips, 0.0, 2 * self.half_range * self.record_counts / (high - low))
            information += float(((stage.B @ far) ** 2).sum()) / stage.noise_multiplier**2
        if not clipped or has_outliers(posterior.log_densities):
            return 0.0
        return min(_SEEN / math.sqrt(information), 1.0) if information else 1.0

    def with_dispersion(self, prediction: Mixture, distances: Distances | None) -> Mixture:
        """Return a prediction at the test inputs with the local dispersion of outcomes.

        For yes/no outcomes the dispersion follows from the mean. For others it is unknown unless distances were
        measured, and the prediction is returned unchanged.
        """
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
    """Return the filter for a mixture of models on public columns.

    Its counts are equal and its test input is a placeholder, until ``with_counts`` and ``at`` set them.

    Args:
        models: the models of the mixture.
        columns: the columns of the strategies.
        n: number of records, or of people if each counts once.
        half_range: half the range of the outcomes, in model units.
        clip: half-width of the narrowest clipping interval over the predictive standard deviation.
        gap: relative gap at which the solver of strategies stops.
        is_binary: whether outcomes are yes/no.
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
