"""A released statistic read again with other models: how outputs were clipped is part of the reading."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays import FloatArray
from ..kernels import Kernel
from ..measurement.cell_statistics import CellStatistics
from ..measurement.refit import Observe, Refit
from ..measurement.refit import refit as read
from ..measurement.statistics import Statistics
from .cells.refit import refit_cells
from .released import clipped_observation


def refit(
    statistics: Statistics | CellStatistics,
    *,
    kernels: Sequence[Kernel],
    noise_variances: Sequence[float],
    X_test: FloatArray,
    observe: Observe = clipped_observation,
) -> Refit:
    """Posterior of f at X_test given a released statistic, averaged over models. Spends nothing.

    Later stages clip to narrow intervals, and every first one to the bounds; the moments of a clipped normal output
    enter mean, intervals and evidence (``clipping.clipped``).

    Args:
        statistics: what was released; noisy counts and sums over cells where inputs are private too.
        kernels: covariance functions of f, in squared model units, (y - midpoint) / y_scale.
        noise_variances: variances > 0 of outputs about f; every pair is one model.
        X_test: test points (P, D), in input units.
        observe: how a stage is read where inputs are public; ``measurement.refit.linear_observation`` takes
            intervals to clip nothing.

    Raises:
        ValueError: no model, a variance is not positive, or the columns of X_test do not fit.
    """
    if isinstance(statistics, CellStatistics):
        return refit_cells(statistics, kernels=kernels, noise_variances=noise_variances, X_test=X_test)
    return read(statistics, kernels=kernels, noise_variances=noise_variances, X_test=X_test, observe=observe)
