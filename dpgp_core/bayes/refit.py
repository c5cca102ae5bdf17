"""A released statistic read again with other models: how outputs were clipped is part of the reading."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays import FloatArray
from ..gp.exact import check_columns
from ..kernels import Kernel
from ..levels import check_codes
from ..measurement.cell_statistics import CellStatistics
from ..measurement.conditioning import Posterior
from ..measurement.refit import Observe, Refit
from ..measurement.refit import refit as read
from ..measurement.statistics import Statistics
from .cells.refit import refit_cells
from .models import Model, across_levels, weights_of
from .records.filter import State, mixture_of
from .records.places import Places, places_of
from .records.released import clipped_observation, distances_of, observed_of, public_of
from .records.spread import with_people
from .records.stages import posterior


def refit(
    statistics: Statistics | CellStatistics,
    *,
    kernels: Sequence[Kernel],
    noise_variances: Sequence[float],
    X_test: FloatArray,
    observe: Observe | None = None,
) -> Refit:
    """Posterior of f at X_test given a released statistic, averaged over models. Spends nothing.

    Later stages clip to narrow intervals, and every first one to the bounds; the moments of a clipped normal output
    enter mean, intervals and evidence (``clipping.clipped``).

    Args:
        statistics: what was released; noisy counts and sums over cells where inputs are private too.
        kernels: covariance functions of f, in squared model units, (y - midpoint) / y_scale. Where inputs are
            categories, of the others; each is then taken for groups that share nothing, half, and nearly all.
        noise_variances: variances > 0 of outputs about f; every pair is one model.
        X_test: test points (P, D), in input units.
        observe: another way to read a stage where inputs are public; ``measurement.refit.linear_observation`` takes
            intervals to clip nothing.

    Raises:
        ValueError: no model, a variance is not positive, or the columns of X_test do not fit.
    """
    if isinstance(statistics, CellStatistics):
        return refit_cells(statistics, kernels=kernels, noise_variances=noise_variances, X_test=X_test)
    public = public_of(statistics)
    if observe is not None or public is None:
        how = observe or clipped_observation
        return read(statistics, kernels=kernels, noise_variances=noise_variances, X_test=X_test, observe=how)
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    check_columns(statistics.X, X_test)
    check_codes(X_test, statistics.x_box, statistics.x_names)
    pairs = (Model(kernel=kernel, noise_variance=variance) for kernel in kernels for variance in noise_variances)
    models = across_levels(pairs, statistics.x_box)
    places = places_of(models, statistics.X, X_test, public=public)
    found = posterior(observed_of(statistics), places, weights_of(models))
    prediction = mixture_of(places, found.states, found.weights)
    people = with_people(prediction, distances_of(statistics), public, statistics.X, X_test).people
    return Refit(
        X_test=X_test,
        posteriors=tuple(map(_of_one, places, found.states)),
        weights=found.weights[0],
        midpoint=statistics.midpoint,
        scale=statistics.y_scale,
        people=None if people is None else people.variance[0],
    )


def _of_one(place: Places, state: State) -> Posterior:
    return Posterior(
        mean=state.mean[0, place.tests],
        root=state.shared[0][:, place.tests],
        prior_variance=place.variance[place.tests],
        noise_variance=place.noise_variance,
        log_evidence=float(state.log_evidence[0]),
    )
