"""Reading released counts and residual sums with any models, anywhere: spends nothing, needs no record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray
from ...gp.exact import check_columns
from ...levels import check_codes
from ...measurement.conditioning import Posterior
from ...measurement.statistics import CellStatistics, MeasuredDistances
from ..intervals import Mixture
from ..models import Model
from ..reading import ReadAt, Reading
from ..spread import two_valued
from ..waves import on_dates
from ..widths import CLIP
from .filter import CellState
from .grid import CellGrid
from .known import CellSetting, cell_mixture
from .known import Posterior as CellPosterior
from .measuring import released_of
from .models import CellModel, cell_models
from .spread import distances_setting, with_people
from .stages import CellReleased, cell_posterior


@dataclass(frozen=True, kw_only=True, eq=False)
class CellReading(Reading):
    """Counts and residual sums over cells.

    Attributes:
        models: the mixture, in model units.
        setting: the same on the cells, and all else that is public.
        posterior: counts, states and probabilities of the models.
        distances: to the curve, if they were measured.
    """

    models: tuple[Model, ...]
    setting: CellSetting
    posterior: CellPosterior
    distances: MeasuredDistances | None

    def at(self, X_test: FloatArray) -> ReadAt:
        """See ``Reading``."""
        check_columns(np.empty((1, len(self.setting.grid.box))), X_test)
        check_codes(X_test, self.setting.grid.box)
        return _CellsAt(
            models=self.models,
            X_test=X_test,
            curve=cell_mixture(self.setting.models, self.posterior, X_test),
            log_evidence=self.log_evidence(),
            reading=self,
        )

    def log_evidence(self) -> FloatArray:
        """See ``Reading``."""
        return np.array([state.log_evidence for state in self.posterior.states])


@dataclass(frozen=True, kw_only=True, eq=False)
class _CellsAt(ReadAt):
    reading: CellReading

    def with_people(self) -> Mixture:
        """See ``ReadAt``."""
        of = self.reading
        return people_at(of.setting, of.posterior, of.distances, self.curve, self.X_test)

    def posteriors(self) -> tuple[Posterior, ...]:
        """See ``ReadAt``."""
        pairs = zip(self.reading.setting.models, self.reading.posterior.states, strict=True)
        return tuple(_of_one(model, state, self.X_test) for model, state in pairs)


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


def reading_of(setting: CellSetting, models: Sequence[Model], released: CellReleased) -> CellReading:
    """The same of numbers that are at hand.

    Args:
        setting: the models on the cells, and all else that is public.
        models: the mixture, in model units.
        released: counts and sums.
    """
    posterior = cell_posterior(setting, released)
    return CellReading(models=tuple(models), setting=setting, posterior=posterior, distances=released.distances)


def people_at(
    setting: CellSetting,
    posterior: CellPosterior,
    distances: MeasuredDistances | None,
    prediction: Mixture,
    X_test: FloatArray,
) -> Mixture:
    """The same prediction at X_test (P, D), with what is known of how people scatter there.

    Args:
        setting: of the stages.
        posterior: what they say.
        distances: as released; None if there are none.
        prediction: of the curve, of one draw.
        X_test: where.
    """
    if setting.two_valued:
        return two_valued(prediction, setting.half_range)
    if distances is None:
        return prediction
    return with_people(distances_setting(setting.grid, setting.n), posterior.counts, distances, prediction, X_test)


def _of_one(model: CellModel, state: CellState, X_test: FloatArray) -> Posterior:
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
