"""What a fit leaves: public numbers, enough to predict anywhere and for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..arrays import FloatArray
from ..bayes.mixture import Joint, MixtureUncertainty
from ..bayes.models import weights_of
from ..bayes.reading import Reading
from ..data import Dataset, Kind
from ..gp.uncertainty import Of
from ..mechanisms.bayes_cloaking import BayesPlan, BayesRelease

_ROWS = 4096  # test inputs predicted at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedReading:
    """One release of Bayes cloaking, with the models it is read by. It holds no outcome: all of it is post-processing.

    Attributes:
        read: the release and its models.
        bounds: public (low, high) of the output.
        y_scale: unit of the model, in the output's unit.
        kind: of the outcome.
        cut: the kinds of interval that are cut to the bounds, see ``MixtureUncertainty``.
    """

    read: Reading
    bounds: tuple[float, float]
    y_scale: float
    kind: Kind = "number"
    cut: tuple[Of, ...] = ()

    @property
    def midpoint(self) -> float:
        """Public centre of the output."""
        return (self.bounds[0] + self.bounds[1]) / 2

    def parts(self, X_test: FloatArray) -> Iterator[MixtureUncertainty]:
        """Predictions at X_test (P, D), some rows at a time."""
        for start in range(0, len(X_test), _ROWS):
            yield MixtureUncertainty(
                prediction=self.read.at(X_test[start : start + _ROWS]).with_people(),
                bounds=self.bounds,
                midpoint=self.midpoint,
                y_scale=self.y_scale,
                cut=self.cut,
                two_valued=self.kind == "yes/no",
            )

    def mean_and_sd(self, X_test: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (P,), clipped to the bounds, and standard deviation (P,) of f, in the output's unit."""
        parts = list(self.parts(X_test))
        sds = [self.y_scale * np.sqrt(part.prediction.variance[0]) for part in parts]
        return np.concatenate([part.values[0] for part in parts]), np.concatenate(sds)

    def joint(self, X_test: FloatArray) -> Joint:
        """Posterior of f at X_test (P, D) together, in model units."""
        return self.read.at(X_test).joint()

    def log_evidence(self) -> float:
        """Log density of what was measured of the outputs under the mixture, prior weights included."""
        return float(logsumexp(self.read.log_evidence(), b=weights_of(self.read.models)))


def reading_of_release(plan: BayesPlan, dataset: Dataset, release: BayesRelease) -> FittedReading:
    """What one draw leaves.

    Args:
        plan: of the release.
        dataset: for what is public of it.
        release: of one draw.
    """
    return FittedReading(
        read=Reading(
            models=plan.models,
            measured=release.measured[0],
            x_box=plan.x_box,
            cells=plan.cells,
            X=None if plan.cells else dataset.X.copy(),
            public=plan.public,
        ),
        bounds=dataset.y_bounds,
        y_scale=dataset.y_scale,
        kind=plan.kind,
        cut=() if plan.cells is None else ("outputs", "function"),
    )
