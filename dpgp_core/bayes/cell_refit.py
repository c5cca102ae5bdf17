"""Reading released counts and residual sums with any models, anywhere: spends nothing, needs no record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..gp.exact import check_columns
from ..kernels import Kernel
from ..measurement.cell_statistics import CellStatistics
from ..measurement.conditioning import Posterior
from ..measurement.refit import Refit
from .cell_filter import CellModel, CellState, cell_models
from .cell_grid import CellGrid
from .cell_measuring import released_of
from .cell_stages import CellSetting, cell_posterior
from .models import Model
from .stages import CLIP


def refit_cells(
    statistics: CellStatistics, *, kernels: Sequence[Kernel], noise_variances: Sequence[float], X_test: FloatArray
) -> Refit:
    """Posterior of f at X_test given a released statistic, averaged over models. Spends nothing.

    Args:
        statistics: what was released.
        kernels: covariance functions of f, in squared model units, (y - midpoint) / y_scale.
        noise_variances: variances > 0 of outputs about f; every pair is one model.
        X_test: test points (P, D), in input units.

    Raises:
        ValueError: no model, a variance is not positive, or the columns of X_test do not fit.
    """
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    grid = CellGrid(box=statistics.x_box, per_side=statistics.per_side)
    check_columns(grid.centres, X_test)
    pairs = [Model(kernel=kernel, noise_variance=variance) for kernel in kernels for variance in noise_variances]
    models = cell_models(pairs, grid)
    setting = CellSetting(
        grid=grid, models=models, n=statistics.n, half_range=statistics.half_range, clip=CLIP, gap=1.0
    )
    found = cell_posterior(setting, released_of(statistics))
    return Refit(
        X_test=X_test,
        posteriors=tuple(_at(model, state, X_test) for model, state in zip(models, found.states, strict=True)),
        weights=found.weights,
        midpoint=statistics.midpoint,
        scale=statistics.y_scale,
    )


def _at(model: CellModel, state: CellState, X_test: FloatArray) -> Posterior:
    """W = (I - C)^(1/2) phi^T: what was learnt of the features."""
    k, phi = model.cells.shape[1], model.features.at(X_test).values()
    values, vectors = np.linalg.eigh(np.eye(k) - state.covariance[:k, :k])
    return Posterior(
        mean=phi @ state.mean[:k],
        root=(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T) @ phi.T,
        prior_variance=model.features.kernel.diagonal(X_test),
        noise_variance=model.noise_variance,
        log_evidence=state.log_evidence,
    )
