"""The filter: it computes the posterior under all models of the mixture from the noisy answers of every stage.

Records are divided into bins: equal cells if inputs are private, and clusters of neighbouring records, or the distinct
inputs, if they are public. The filter never sees a record: everything it computes is post-processing of released
numbers. ``strategy`` uses it to plan the stages, and ``prediction`` and ``dispersion`` use it to predict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..measurement.measurement import CellCounts
from .cells import CellGrid
from .changepoints import change_points_of, with_masses_at_ends
from .clusters import Bins
from .counts import Locations, RecordCounts, counts_given, known_counts, locations_given
from .model import Model, dispersion_models
from .periodic import with_phases
from .queries import NOTHING, Squares, StageMeasurement
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
from .state import ModelSet, State, model_set, models_given_locations, prior_state
from .tuning import TUNING
from .update import CurveMoments, LinearSums, linearise, updated_state


class Posterior(NamedTuple):
    """Everything that the released numbers determine after some stages.

    Attributes:
        state: posterior of the curve under each active model.
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
class Filter:
    """The mixture of models on M bins, with the counts of records. All of it is public.

    A filter is immutable. What the released numbers imply is in a ``Posterior``, which its methods take and return.

    Attributes:
        bins: the bins into which records are divided.
        models: the m models of the mixture on these bins.
        n: number of records, or of people if each counts once.
        half_range: half the range of the outcomes, in model units.
        clip: half-width of the narrowest clipping interval over the predictive standard deviation of a residual.
        gap: relative gap at which the solver of strategies stops.
        is_binary: whether outcomes are yes/no, and therefore at one end of the range each.
        outlier_field: relative standard deviation of the excess of outliers from bin to bin.
        noise_over_bins: variance of an outcome about f in each bin (M,), which replaces that of every model; None for
            the variances of the models.
        counts: posterior of the numbers of records in the bins.
        of_distances: filter of the scaled distances on the same bins without locations, see ``dispersion``; None if
            no distances are measured.
    """

    bins: Bins
    models: ModelSet
    n: int
    half_range: float
    clip: float = TUNING.clip
    gap: float = 1.0
    is_binary: bool = False
    outlier_field: float = TUNING.outlier_field
    noise_over_bins: FloatArray | None = None
    counts: RecordCounts
    of_distances: Filter | None = None

    @cached_property
    def noise_shares(self) -> NoiseShares:
        """How the probability of each case of sigma^2 is divided among models, see ``residuals.noise_shares``."""
        models = self.models
        return noise_shares(models.noise_variance, models.weight, models.label.tolist(), self.half_range)

    def with_counts(
        self, counts: CellCounts | RecordCounts, z: FloatArray = NOTHING, locations: Locations | None = None
    ) -> Filter:
        """Return the filter with the counts and locations of records.

        Args:
            counts: the numbers of records if they are public, and otherwise how they were measured.
            z: noisy numbers of records (M,), if they were measured.
            locations: noisy locations of the records within cells, if they were measured.
        """
        if isinstance(counts, CellCounts):
            assert isinstance(self.bins, CellGrid)
            counts = counts_given(self.bins, self.n, counts.B, counts.noise_sd, z)
        bins, models = self.bins, self.models
        if locations is not None:
            assert isinstance(bins, CellGrid)
            bins, unknown = locations_given(bins, counts, locations)
            models = models_given_locations(models, bins, unknown)
        models = replace(models, change_points=with_masses_at_ends(models.change_points, counts))
        return replace(self, counts=counts, bins=bins, models=models)

    # ---- updates

    def prior(self, log_densities: FloatArray | None = None) -> Posterior:
        """Return the posterior before any outcome is measured.

        Args:
            log_densities: log density of each case of the residual variance (S,); None for the prior.
        """
        log_densities = log_prior() if log_densities is None else log_densities
        numbers = () if self.counts.misfit is None else (self.counts.misfit[1],)
        state = prior_state(self.models, self.counts, self.noise_over_bins)
        return self._reweighted(Posterior(state, log_densities, NOTHING, numbers))

    def after(self, posterior: Posterior, stage: StageMeasurement, linear: LinearSums | None = None) -> Posterior:
        """Return the posterior after the sums of one more stage. ``with_squares_of_last`` then adds its squares.

        Args:
            stage: the query and its noisy answer.
            linear: the sums as an observation of the state, if it has been computed already.
        """
        linear = self.linearised(self.active(posterior), stage) if linear is None else linear
        state = updated_state(posterior.state, linear, stage.B, stage.s, stage.z)
        posterior = posterior._replace(state=state, stage_sizes=(*posterior.stage_sizes, len(stage.B)))
        posterior = self._reweighted(posterior)
        if not self.is_binary:
            return posterior
        share, zero = self.counts.nonnegative / self.counts.nonnegative.sum(), np.zeros(len(self.bins.nodes))
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
        """Return the posterior after the squared residuals of the last of all stages so far, if these were measured.

        When squares identify outliers for the first time, the sums of all stages are processed again with the larger
        clipping bias that outliers imply.
        """
        before, posterior = posterior.log_densities, self.with_squares(posterior, stages[-1].squares)
        found = posterior.log_densities
        if has_outliers(before) or not has_outliers(found):
            return posterior
        again = self.prior(found)
        for stage in stages:
            again = self.after(again, stage)
        return again

    def given(self, stages: Sequence[StageMeasurement]) -> Posterior:
        """Return the posterior given released stages. This is post-processing and spends no budget."""
        posterior = self.prior()
        for number, stage in enumerate(stages, 1):
            posterior = self.with_squares_of_last(self.after(posterior, stage), stages[:number])
        return posterior

    def active(self, posterior: Posterior) -> Posterior:
        """Return the posterior without the models whose noise variance the squares have ruled out.

        At least one model remains. A noise variance is ruled out with all its kernels, and never a single kernel: the
        evidence may favour a kernel later that it disfavours early. When kernels with a probability below 1e-6 were
        left out, errors on planes increased by up to a factor of two.
        """
        candidates = posterior.state.index
        noises, of_noise = np.unique(self.models.noise_variance[candidates], return_inverse=True)
        shares = np.bincount(of_noise, posterior.weights[candidates], minlength=len(noises))
        likely = (shares >= TUNING.ruled_out * shares.max())[of_noise]
        return posterior._replace(state=posterior.state.only(candidates[likely])) if likely.any() else posterior

    def residuals(self, posterior: Posterior) -> ResidualVariance:
        """Return the posterior of the residual variance, which determines the clipping bias."""
        return expected(posterior.log_densities, self.half_range)._replace(field=self.outlier_field)

    def linearised(
        self, posterior: Posterior, query: StageMeasurement, moments: CurveMoments | None = None
    ) -> LinearSums:
        """Express the sums of a query as a linear observation of the state, under the models of the posterior.

        ``moments`` are those of f - g under these models, if they have been computed already. See ``update.linearise``.
        """
        noise, residuals = posterior.state.noise_variance[:, None], self.residuals(posterior)
        # In two cases the noise variances of the models would be too large here. A normal distribution whose variance
        # includes outliers expects many residuals beyond a narrow interval. And if the squares imply a smaller sigma
        # than any model has, the models expect clipping where nothing is clipped, which shifts the curve.
        if self.noise_over_bins is not None:
            noise = np.broadcast_to(self.noise_over_bins, (len(noise), self.bins.size))
        elif residuals.outliers.any() or 0 < residuals.variance < self.models.noise_variance.min():
            noise = np.full_like(noise, residuals.core)
        return linearise(self.counts, posterior.state, query, self.half_range, residuals, moments, noise)

    def _noise_variance(self, posterior: Posterior) -> float:
        return float(posterior.weights @ self.models.noise_variance)

    def _reweighted(self, posterior: Posterior) -> Posterior:
        """Return the posterior with the probabilities of the models, which follow from squares and evidence.

        Models that are not active have probability 0. If all active ones have probability 0, they are equally likely.
        """
        evidence, active = posterior.state.log_evidence, posterior.state.active
        weights = model_weights(self.noise_shares, posterior.log_densities, evidence)
        if not active.all():
            weights = weights * active
            total = float(weights.sum())
            weights = weights / total if total > 0 else active / active.sum()
        return posterior._replace(weights=weights)

    # ---- the curve

    def mean_square(self, posterior: Posterior, g: FloatArray) -> FloatArray:
        """Return E (y - g)^2 over the records of each bin (M,), for g given at the nodes (F,)."""
        state, centre = posterior.state, self.bins.averages(g)
        variance = state.variance_over_bins + state.noise_variance[:, None]
        return np.asarray(posterior.weights[state.index] @ (variance + (state.mean_over_bins - centre) ** 2))

    def curve_mse(self, posterior: Posterior, g: FloatArray) -> FloatArray:
        """Return E (f - g)^2 over the records of each bin (M,), for g given at the nodes (F,)."""
        return np.maximum(self.mean_square(posterior, g) - self._noise_variance(posterior), 0.0)

    def curve(self, posterior: Posterior) -> FloatArray:
        """Return the expected curve at the nodes (F,), clipped to the range of the outcomes."""
        mean = posterior.state.mean_at_nodes(posterior.weights[posterior.state.index])
        return np.clip(mean, -self.half_range, self.half_range)


def filter_of(
    models: Sequence[Model],
    bins: Bins,
    n: int,
    half_range: float,
    *,
    clip: float = TUNING.clip,
    gap: float = 1.0,
    is_binary: bool = False,
    change_points: bool = True,
) -> Filter:
    """Return the filter for a mixture of models on public bins.

    All bins have the same number of records until ``with_counts`` sets the counts.

    Args:
        n: number of records, or of people if each counts once.
        half_range: half the range of the outcomes, in model units.
        clip: half-width of the narrowest clipping interval over the predictive standard deviation.
        gap: relative gap at which the solver of strategies stops.
    """
    shapes = change_points_of(bins, TUNING.curve_variance * half_range**2) if change_points else None
    even = known_counts(np.full(bins.size, n / bins.size))
    filtered = Filter(
        bins=bins,
        models=model_set(models, bins, change_points=shapes),
        n=n,
        half_range=half_range,
        clip=clip,
        gap=gap,
        is_binary=is_binary,
        counts=even,
    )
    if is_binary:
        return filtered
    of_distances = model_set(with_phases(dispersion_models(bins.box), bins.periods), bins)
    return replace(filtered, of_distances=replace(filtered, models=of_distances, half_range=1.0))
