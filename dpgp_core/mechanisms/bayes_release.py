"""The public plan of Bayes cloaking, and what it releases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..bayes.intervals import Mixture, Of
from ..bayes.models import Model, weights_of
from ..bayes.stages import Observed, PlannedStage
from ..measurement.statistics import Statistics


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesPlan:
    """What will be measured. Public: it depends on inputs, models, budget and range, not on any output.

    Attributes:
        models: the mixture, in model units.
        stages: strategy and noise multiplier of each stage.
        half_range: half the public range of the outputs, in model units.
    """

    models: tuple[Model, ...]
    stages: tuple[PlannedStage, ...]
    half_range: float

    @property
    def prior_weights(self) -> FloatArray:
        """Of the models, sum 1 (M,)."""
        return weights_of(self.models)

    @property
    def gap(self) -> float:
        """Largest certified gap of any stage's strategy, as a share of what privacy costs it."""
        return max(stage.strategy.gap for stage in self.stages)


@dataclass(frozen=True, kw_only=True, eq=False)
class BayesRelease:
    """What was measured, and the mixture's predictions at P test inputs. All of it may be published.

    Attributes:
        X_test: (P, D).
        prediction: the mixture's, of D draws, in model units.
        bounds: public (low, high) of the output.
        midpoint: public centre of the output.
        y_scale: unit of the model, in the output's unit.
        guarantee: what holds for all draws together.
        observed: the stages of every draw, in model units.
        statistics: of each draw, for files and refits; empty for teaching draws.
    """

    X_test: FloatArray
    prediction: Mixture
    bounds: tuple[float, float]
    midpoint: float
    y_scale: float
    guarantee: Guarantee
    observed: tuple[Observed, ...]
    statistics: tuple[Statistics, ...] = ()

    @property
    def samples(self) -> FloatArray:
        """Posterior mean of each draw (draws, P), clipped to the bounds, in the output's unit."""
        return np.clip(self._in_unit(self.prediction.mean), *self.bounds)

    @property
    def model_weights(self) -> FloatArray:
        """Probability of each model given what was measured (draws, models)."""
        return self.prediction.weights

    def interval(self, level: float, of: Of = "outputs") -> tuple[FloatArray, FloatArray]:
        """Central posterior intervals (draws, P) each, privacy noise included, in the output's unit.

        Args:
            level: in (0, 1).
            of: "outputs", one more output at the test input, cut to the bounds; "function", the latent curve.

        Raises:
            ValueError: level is outside (0, 1), or ``of`` unknown.
        """
        low, high = (self._in_unit(end) for end in self.prediction.interval(level, of))
        return (np.clip(low, *self.bounds), np.clip(high, *self.bounds)) if of == "outputs" else (low, high)

    def _in_unit(self, values: FloatArray) -> FloatArray:
        return self.midpoint + self.y_scale * values
