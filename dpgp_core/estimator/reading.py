"""What a fit leaves: public numbers, enough to predict anywhere and for ever."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ..arrays import FloatArray
from ..bayes.intervals import mixture_of
from ..bayes.joint import Joint, joint_of
from ..bayes.models import Model, Places, places_of, weights_of
from ..bayes.stages import Observed, Outcome, posterior
from ..mechanisms.bayes_release import MixtureUncertainty

_ROWS = 4096  # test inputs predicted at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """One release of Bayes cloaking, with the models it is read by. It holds no output: all of it is post-processing.

    Attributes:
        X: public inputs of the records (n, D).
        observed: the stages, of one draw.
        models: the mixture, in model units.
        bounds: public (low, high) of the output.
        y_scale: unit of the model, in the output's unit.
    """

    X: FloatArray
    observed: tuple[Observed, ...]
    models: tuple[Model, ...]
    bounds: tuple[float, float]
    y_scale: float

    @property
    def midpoint(self) -> float:
        """Public centre of the output."""
        return (self.bounds[0] + self.bounds[1]) / 2

    def parts(self, X_test: FloatArray) -> Iterator[MixtureUncertainty]:
        """Predictions at X_test (P, D), some rows at a time."""
        for start in range(0, len(X_test), _ROWS):
            places, outcome = self._outcome(X_test[start : start + _ROWS])
            prediction = mixture_of(places, outcome.states, outcome.weights)
            yield MixtureUncertainty(
                prediction=prediction, bounds=self.bounds, midpoint=self.midpoint, y_scale=self.y_scale
            )

    def mean_and_sd(self, X_test: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (P,), clipped to the bounds, and standard deviation (P,) of f, in the output's unit.

        Variance of the mixture: sum_m w_m (variance_m + (mean_m - mean)^2).
        """
        means, sds = [], []
        for part in self.parts(X_test):
            found = part.prediction
            spread = found.variances[0] + (found.means[0] - found.mean[0]) ** 2
            means.append(part.values[0])
            sds.append(self.y_scale * np.sqrt(found.weights[0] @ spread))
        return np.concatenate(means), np.concatenate(sds)

    def joint(self, X_test: FloatArray) -> Joint:
        """Posterior of f at X_test (P, D) together, in model units."""
        return joint_of(self.models, X_test, len(self.X), self._outcome(X_test)[1])

    def log_evidence(self) -> float:
        """Log density of all that was measured under the mixture, prior weights included."""
        states = self._outcome(self.X[:1])[1].states
        logs = [state.log_evidence[0] for state in states]
        return float(logsumexp(logs, b=weights_of(self.models)))

    def _outcome(self, X_test: FloatArray) -> tuple[tuple[Places, ...], Outcome]:
        places = places_of(self.models, self.X, X_test)
        return places, posterior(self.observed, places, weights_of(self.models))
