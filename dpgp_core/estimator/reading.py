"""What a fit leaves: public numbers, enough to predict anywhere and for ever."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..arrays import FloatArray
from ..bayes.bias import Public
from ..bayes.cells.refit import CellReading, reading_of
from ..bayes.intervals import Mixture
from ..bayes.joint import Joint
from ..bayes.models import Model, weights_of
from ..bayes.records.filter import mixture_of
from ..bayes.records.places import Places, places_of
from ..bayes.records.spread import with_people
from ..bayes.records.stages import Observed, Outcome, joint_of, posterior
from ..bayes.settings import reading_for
from ..bayes.spread import Distances
from ..data import Dataset, Kind
from ..gp.uncertainty import Of
from ..levels import check_codes
from ..mechanisms.bayes_cells import AnyBayesPlan
from ..mechanisms.bayes_cloaking import BayesCloaking
from ..mechanisms.bayes_release import BayesPlan, BayesRelease, MixtureUncertainty

_ROWS = 4096  # test inputs predicted at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading(ABC):
    """One release of Bayes cloaking, with the models it is read by. It holds no record: all of it is post-processing.

    Attributes:
        bounds: public (low, high) of the output.
        y_scale: unit of the model, in the output's unit.
        kind: of the outcome.
    """

    bounds: tuple[float, float]
    y_scale: float
    kind: Kind = "number"

    @property
    def midpoint(self) -> float:
        """Public centre of the output."""
        return (self.bounds[0] + self.bounds[1]) / 2

    def parts(self, X_test: FloatArray) -> Iterator[MixtureUncertainty]:
        """Predictions at X_test (P, D), some rows at a time."""
        for start in range(0, len(X_test), _ROWS):
            yield MixtureUncertainty(
                prediction=self._prediction(X_test[start : start + _ROWS]),
                bounds=self.bounds,
                midpoint=self.midpoint,
                y_scale=self.y_scale,
                cut=self._cut,
                two_valued=self.kind == "yes/no",
            )

    def mean_and_sd(self, X_test: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (P,), clipped to the bounds, and standard deviation (P,) of f, in the output's unit."""
        parts = list(self.parts(X_test))
        sds = [self.y_scale * np.sqrt(part.prediction.variance[0]) for part in parts]
        return np.concatenate([part.values[0] for part in parts]), np.concatenate(sds)

    @abstractmethod
    def joint(self, X_test: FloatArray) -> Joint:
        """Posterior of f at X_test (P, D) together, in model units."""

    @abstractmethod
    def log_evidence(self) -> float:
        """Log density of what was measured of the outputs under the mixture, prior weights included."""

    @abstractmethod
    def _prediction(self, X_test: FloatArray) -> Mixture: ...

    @property
    @abstractmethod
    def _cut(self) -> tuple[Of, ...]: ...


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingOfRecords(Reading):
    """Where inputs are public.

    Attributes:
        X: inputs of the records (n, D).
        observed: the stages, of one draw.
        models: the mixture, in model units.
        public: box, range and kind of outcome.
        distances: of the outcomes to the curve, if they were measured.
    """

    X: FloatArray
    observed: tuple[Observed, ...]
    models: tuple[Model, ...]
    public: Public
    distances: Distances | None = None

    def joint(self, X_test: FloatArray) -> Joint:
        """See ``Reading``."""
        return joint_of(self.models, X_test, len(self.X), self._outcome(X_test)[1])

    def log_evidence(self) -> float:
        """See ``Reading``."""
        states = self._outcome(self.X[:1])[1].states
        logs = [state.log_evidence[0] for state in states]
        return float(logsumexp(logs, b=weights_of(self.models)))

    def _prediction(self, X_test: FloatArray) -> Mixture:
        places, outcome = self._outcome(X_test)
        prediction = mixture_of(places, outcome.states, outcome.weights)
        return with_people(prediction, self.distances, self.public, self.X, X_test)

    @property
    def _cut(self) -> tuple[Of, ...]:
        return ()

    def _outcome(self, X_test: FloatArray) -> tuple[tuple[Places, ...], Outcome]:
        check_codes(X_test, self.public.x_box)
        places = places_of(self.models, self.X, X_test, public=self.public)
        return places, posterior(self.observed, places, weights_of(self.models))


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadingOfCells(Reading):
    """Where inputs are private: no input of a record is kept.

    Attributes:
        cells: counts and sums over public cells, read by the models.
    """

    cells: CellReading

    def joint(self, X_test: FloatArray) -> Joint:
        """See ``Reading``."""
        return self.cells.joint(X_test)

    def log_evidence(self) -> float:
        """See ``Reading``."""
        return float(logsumexp(self.cells.log_evidence, b=weights_of(self.cells.given)))

    def _prediction(self, X_test: FloatArray) -> Mixture:
        return self.cells.predict(X_test)

    @property
    def _cut(self) -> tuple[Of, ...]:
        return ("outputs", "function")


def reading_of_release(
    mechanism: BayesCloaking, plan: AnyBayesPlan, dataset: Dataset, release: BayesRelease
) -> Reading:
    """What one draw leaves.

    Args:
        mechanism: that released it.
        plan: of the release.
        dataset: for what is public of it.
        release: of one draw.
    """
    bounds, y_scale = dataset.y_bounds, dataset.y_scale
    if isinstance(plan, BayesPlan):
        return ReadingOfRecords(
            X=dataset.X.copy(),
            observed=release.observed,
            models=plan.models,
            public=plan.public,
            distances=release.distances,
            bounds=bounds,
            y_scale=y_scale,
            kind=plan.kind,
        )
    setting = plan.setting
    given = mechanism.models(dataset.x_box, setting.half_range, reading_for(plan.kind))
    return ReadingOfCells(
        cells=reading_of(setting, given, release.cells[0]), bounds=bounds, y_scale=y_scale, kind=plan.kind
    )
