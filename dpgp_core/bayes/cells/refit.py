"""Reading released counts and residual sums with any models, anywhere: spends nothing, needs no record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray
from ...gp.exact import check_columns
from ...kernels import Kernel
from ...levels import check_codes
from ...measurement.cell_statistics import CellStatistics
from ...measurement.conditioning import Posterior
from ...measurement.distances import MeasuredDistances
from ...measurement.refit import Refit
from ..intervals import Mixture
from ..joint import Joint
from ..models import Model, across_levels
from ..spread import two_valued
from ..waves import on_dates
from ..widths import CLIP
from .filter import CellModel, CellState, cell_models
from .grid import CellGrid
from .known import CellSetting, cell_mixture
from .known import Posterior as CellPosterior
from .measuring import released_of
from .spread import distances_setting, with_people
from .stages import CellReleased, cell_posterior


@dataclass(frozen=True, kw_only=True, eq=False)
class CellReading:
    """What a released statistic says under some models, anywhere. All of it is post-processing.

    Attributes:
        given: the models.
        models: the same on the cells.
        found: counts, states and probabilities of the models.
        setting: what they were found with.
        distances: to the curve, if they were measured.
    """

    given: tuple[Model, ...]
    models: tuple[CellModel, ...]
    found: CellPosterior
    setting: CellSetting
    distances: MeasuredDistances | None

    @property
    def log_evidence(self) -> FloatArray:
        """Log density of what was measured of the outputs, under each model (m,)."""
        return np.array([state.log_evidence for state in self.found.states])

    def predict(self, X_test: FloatArray) -> Mixture:
        """The models' predictions at X_test (P, D), one draw.

        Raises:
            ValueError: the columns of X_test do not fit, or one of levels holds something else.
        """
        check_columns(np.empty((1, len(self.setting.grid.box))), X_test)
        check_codes(X_test, self.setting.grid.box)
        prediction = cell_mixture(self.models, self.found, X_test)
        return people_at(self.setting, self.found, self.distances, prediction, X_test)

    def posteriors(self, X_test: FloatArray) -> tuple[Posterior, ...]:
        """Each model's posterior of f at X_test (P, D), in model units."""
        pairs = zip(self.models, self.found.states, strict=True)
        return tuple(_at(model, state, X_test) for model, state in pairs)

    def joint(self, X_test: FloatArray) -> Joint:
        """Curve at X_test (P, D) as a whole, in model units."""
        parts = self.posteriors(X_test)
        return Joint(
            models=self.given,
            X_test=X_test,
            means=np.stack([part.mean for part in parts]),
            shared=tuple(part.root for part in parts),
            weights=self.found.weights,
        )


def read_cells(statistics: CellStatistics, models: Sequence[Model]) -> CellReading:
    """Posterior of every model, given what was released.

    Args:
        statistics: what was released.
        models: the mixture, in model units.
    """
    grid = CellGrid(box=statistics.x_box, per_side=statistics.per_side, periods=statistics.periods)
    setting = CellSetting(
        grid=grid,
        models=cell_models(on_dates(models, grid.periods), grid, biased=statistics.reading != "normal outcomes"),
        n=statistics.n,
        half_range=statistics.half_range,
        clip=CLIP,
        gap=1.0,
        two_valued=statistics.reading == "yes/no",
    )
    return reading_of(setting, models, released_of(statistics))


def reading_of(setting: CellSetting, given: Sequence[Model], released: CellReleased) -> CellReading:
    """The same of numbers that are at hand.

    Args:
        setting: the models on the cells, and all else that is public.
        given: the models.
        released: counts and sums.
    """
    found = cell_posterior(setting, released)
    return CellReading(
        given=tuple(given), models=setting.models, found=found, setting=setting, distances=released.distances
    )


def people_at(
    setting: CellSetting,
    found: CellPosterior,
    distances: MeasuredDistances | None,
    prediction: Mixture,
    X_test: FloatArray,
) -> Mixture:
    """The same prediction at X_test (P, D), with what is known of how people scatter there.

    Args:
        setting: of the stages.
        found: what they say.
        distances: as released; None if there are none.
        prediction: of the curve, of one draw.
        X_test: where.
    """
    if setting.two_valued:
        return two_valued(prediction, setting.half_range)
    if distances is None:
        return prediction
    return with_people(distances_setting(setting.grid, setting.n), found.counts, distances, prediction, X_test)


def refit_cells(
    statistics: CellStatistics, *, kernels: Sequence[Kernel], noise_variances: Sequence[float], X_test: FloatArray
) -> Refit:
    """Posterior of f at X_test given a released statistic, averaged over models. Spends nothing.

    Args:
        statistics: what was released.
        kernels: covariance functions of f, in squared model units, (y - midpoint) / y_scale; of the inputs that are
            numbers.
        noise_variances: variances > 0 of outputs about f; every pair is one model.
        X_test: test points (P, D), in input units.

    Raises:
        ValueError: no model, a variance is not positive, or the columns of X_test do not fit.
    """
    if not kernels or not noise_variances:
        raise ValueError("give at least one kernel and one noise variance")
    pairs = (Model(kernel=kernel, noise_variance=variance) for kernel in kernels for variance in noise_variances)
    check_columns(np.empty((1, len(statistics.x_box))), X_test)
    read = read_cells(statistics, across_levels(pairs, statistics.x_box))
    people = read.predict(X_test).people
    return Refit(
        X_test=X_test,
        posteriors=read.posteriors(X_test),
        weights=read.found.weights,
        midpoint=statistics.midpoint,
        scale=statistics.y_scale,
        people=None if people is None else people.variance[0],
    )


def _at(model: CellModel, state: CellState, X_test: FloatArray) -> Posterior:
    """W = (I - C)^(1/2) phi^T: what was learnt of the features."""
    k, phi = model.cells.shape[1], model.at(X_test)
    values, vectors = np.linalg.eigh(np.eye(k) - state.covariance[:k, :k])
    return Posterior(
        mean=phi @ state.mean[:k],
        root=(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T) @ phi.T,
        prior_variance=model.features.kernel.diagonal(X_test),
        noise_variance=model.noise_variance,
        log_evidence=state.log_evidence,
    )
