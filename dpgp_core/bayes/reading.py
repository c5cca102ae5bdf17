"""What was released, read with some models: the same questions of records and of cells. Spends nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..measurement.conditioning import Posterior
from .intervals import Mixture
from .joint import Joint
from .models import Model


@dataclass(frozen=True, kw_only=True, eq=False)
class ReadAt(ABC):
    """What is known of the curve, and of people about it, at P places; of one draw, in model units.

    Attributes:
        models: the mixture (M).
        X_test: the places (P, D).
        curve: the models' predictions.
        log_evidence: log density of what was measured of the outcomes, under each model (M,).
    """

    models: tuple[Model, ...]
    X_test: FloatArray
    curve: Mixture
    log_evidence: FloatArray

    @abstractmethod
    def with_people(self) -> Mixture:
        """``curve``, with what is known of how people scatter."""

    @abstractmethod
    def posteriors(self) -> tuple[Posterior, ...]:
        """Of f under each model."""

    def joint(self) -> Joint:
        """Of f at all places together."""
        each = self.posteriors()
        return Joint(
            models=self.models,
            X_test=self.X_test,
            means=np.stack([posterior.mean for posterior in each]),
            shared=tuple(posterior.root for posterior in each),
            weights=self.curve.weights[0],
            fit=self.curve.fit,
        )


class Reading(ABC):
    """One release and the models it is read by. It holds no outcome: all of it is post-processing."""

    models: tuple[Model, ...]

    @abstractmethod
    def at(self, X_test: FloatArray) -> ReadAt:
        """What it says at X_test (P, D).

        Raises:
            ValueError: the columns of X_test do not fit, or one of levels holds something else.
        """

    @abstractmethod
    def log_evidence(self) -> FloatArray:
        """Log density of what was measured of the outcomes, under each model (M,)."""
