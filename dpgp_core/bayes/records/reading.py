"""Released sums over records, read with any models, anywhere: spends nothing, needs no outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray
from ...gp.exact import check_columns
from ...levels import check_codes
from ...measurement.conditioning import Posterior
from ...measurement.statistics import Statistics
from ..bias import Public
from ..intervals import Mixture
from ..models import Model, weights_of
from ..reading import ReadAt, Reading
from ..spread import Distances
from .filter import State, mixture_of
from .places import Places, places_of
from .released import distances_of, observed_of, public_of
from .spread import with_people
from .stages import Observed, posterior


@dataclass(frozen=True, kw_only=True, eq=False)
class RecordReading(Reading):
    """Stages over records.

    Attributes:
        models: the mixture, in model units.
        X: public inputs of the records (n, D).
        x_box: D public (low, high) pairs.
        public: of the table; None where stages are read as if outcomes were normal.
        observed: the stages, of one draw.
        distances: of the outcomes to the curve, if they were measured.
    """

    models: tuple[Model, ...]
    X: FloatArray
    x_box: Sequence[tuple[float, float]]
    public: Public | None
    observed: Sequence[Observed]
    distances: Distances | None = None

    def at(self, X_test: FloatArray) -> ReadAt:
        """See ``Reading``."""
        check_columns(self.X, X_test)
        check_codes(X_test, self.x_box)
        places = places_of(self.models, self.X, X_test, public=self.public)
        outcome = posterior(self.observed, places, weights_of(self.models))
        return _RecordsAt(
            models=self.models,
            X_test=X_test,
            curve=mixture_of(
                places,
                outcome.states,
                outcome.weights,
                [len(stage.B) for stage in self.observed] if self.public else (),
            ),
            log_evidence=np.array([float(state.log_evidence[0]) for state in outcome.states]),
            reading=self,
            places=places,
            states=outcome.states,
        )

    def log_evidence(self) -> FloatArray:
        """See ``Reading``."""
        return self.at(self.X[:1]).log_evidence


@dataclass(frozen=True, kw_only=True, eq=False)
class _RecordsAt(ReadAt):
    reading: RecordReading
    places: tuple[Places, ...]
    states: tuple[State, ...]

    def with_people(self) -> Mixture:
        """See ``ReadAt``."""
        of = self.reading
        return with_people(self.curve, of.distances, of.public, of.X, self.X_test)

    def posteriors(self) -> tuple[Posterior, ...]:
        """See ``ReadAt``."""
        return tuple(map(_of_one, self.places, self.states))


def read_records(statistics: Statistics, models: Sequence[Model]) -> RecordReading:
    """A released statistic, read with some models.

    Args:
        statistics: what was released.
        models: the mixture, in model units.
    """
    return RecordReading(
        models=tuple(models),
        X=statistics.X,
        x_box=statistics.x_box,
        public=public_of(statistics),
        observed=observed_of(statistics),
        distances=distances_of(statistics),
    )


def _of_one(place: Places, state: State) -> Posterior:
    return Posterior(
        mean=state.mean[0, place.tests],
        root=state.shared[0][:, place.tests],
        prior_variance=place.variance[place.tests],
        noise_variance=place.noise_variance,
        log_evidence=float(state.log_evidence[0]),
    )
