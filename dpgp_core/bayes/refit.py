"""A released statistic read again with other models: how outputs were clipped is part of the reading."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..gp.exact import check_columns
from ..kernels import Kernel
from ..levels import check_codes
from ..measurement.refit import Observe, Refit
from ..measurement.refit import refit as refit_linear
from ..measurement.statistics import CellStatistics, Statistics
from .cells.reading import read_cells
from .models import Model, across_levels
from .reading import Reading
from .records.reading import read_records
from .records.released import clipped_observation, public_of


def read(statistics: Statistics | CellStatistics, models: Sequence[Model]) -> Reading:
    """A released statistic, of records or of cells, read with some models (M), in model units."""
    if isinstance(statistics, CellStatistics):
        return read_cells(statistics, models)
    return read_records(statistics, models)


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
    if isinstance(statistics, Statistics) and (observe is not None or public_of(statistics) is None):
        how = observe or clipped_observation
        return refit_linear(statistics, kernels=kernels, noise_variances=noise_variances, X_test=X_test, observe=how)
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    check_columns(np.empty((1, len(statistics.x_box))), X_test)
    check_codes(X_test, statistics.x_box, statistics.x_names)
    pairs = (Model(kernel=kernel, noise_variance=variance) for kernel in kernels for variance in noise_variances)
    models = across_levels(pairs, statistics.x_box)
    reading = read(statistics, models).at(X_test)
    people = reading.with_people().people
    return Refit(
        X_test=X_test,
        posteriors=reading.posteriors(),
        weights=reading.curve.weights[0],
        midpoint=statistics.midpoint,
        scale=statistics.y_scale,
        people=None if people is None else people.variance[0],
        fit=next(iter(reading.curve.fit), None),
    )
