"""What a fit leaves: public numbers, enough to predict anywhere and for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..arrays import FloatArray
from ..bayes.cells.reading import reading_of
from ..bayes.joint import Joint
from ..bayes.models import weights_of
from ..bayes.reading import Reading
from ..bayes.records.reading import RecordReading
from ..bayes.settings import reading_for
from ..data import Dataset, Kind
from ..gp.uncertainty import Of
from ..mechanisms.bayes_cells import AnyBayesPlan
from ..mechanisms.bayes_cloaking import BayesCloaking
from ..mechanisms.bayes_release import BayesPlan, BayesRelease, MixtureUncertainty

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


def reading_of_release(
    mechanism: BayesCloaking, plan: AnyBayesPlan, dataset: Dataset, release: BayesRelease
) -> FittedReading:
    """What one draw leaves.

    Args:
        mechanism: that released it.
        plan: of the release.
        dataset: for what is public of it.
        release: of one draw.
    """
    read: Reading
    if isinstance(plan, BayesPlan):
        read = RecordReading(
            models=plan.models,
            X=dataset.X.copy(),
            x_box=plan.x_box,
            public=plan.public,
            observed=release.observed,
            distances=release.distances,
        )
    else:
        models = mechanism.models(dataset.x_box, plan.setting.half_range, reading_for(plan.kind), plan.setting.n)
        read = reading_of(plan.setting, models, release.cells[0])
    return FittedReading(
        read=read,
        bounds=dataset.y_bounds,
        y_scale=dataset.y_scale,
        kind=plan.kind,
        cut=() if isinstance(plan, BayesPlan) else ("outputs", "function"),
    )
