"""What every mechanism is and returns; the arithmetic shared by Gaussian releases of a linear map of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NewType, Protocol, runtime_checkable

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..data import Dataset
from ..gp.inference import Inference
from ..linalg.blocks import Matrix
from ..linalg.dense import column_norms
from ..strategies.noise_design import NoiseDesign

NotPrivate = NewType("NotPrivate", FloatArray)
"""An array computed from private data without noise. It may be drawn for teaching, never published."""

FIXED_IN_ADVANCE = (
    "hyperparameters fixed in advance or without the private outputs, or by a private choice that the ledger counts",
    "inputs, their number and the test points are public",
    "outputs are clipped to bounds declared without looking at them",
)
BEYOND_ONE_RELEASE = (
    "the inputs (who is in the data, and where)",
    "settings chosen after looking at results",
    "further draws or other releases, unless the ledger adds them up",
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """The outcome of one mechanism on one data set.

    Attributes:
        X_test: test inputs (P, D).
        mean: what the noise was added to (P,), in the output's unit. Not private.
        noise_factor: (P, k), L with noise covariance L L^T, in the output's unit. Public.
        samples: released values (draws, P), in the output's unit: these may be published.
        guarantee: what holds for all ``samples`` together.
    """

    X_test: FloatArray
    mean: NotPrivate
    noise_factor: FloatArray
    samples: FloatArray
    guarantee: Guarantee

    @property
    def noise_sd(self) -> FloatArray:
        """Standard deviation of the privacy noise at each test point (P,), in the output's unit. Public."""
        return np.sqrt(column_norms(self.noise_factor.T))

    def noise_covariance(self) -> FloatArray:
        """Covariance of the privacy noise (P, P), in squared output units. Public."""
        return self.noise_factor @ self.noise_factor.T


class Mechanism(Protocol):
    """A private release of GP predictions."""

    label: ClassVar[str]
    reference: ClassVar[str]

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw, known before any data are read."""
        ...

    def release(self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1) -> Release:
        """Release predictions at X_test (P, D); ``draws`` > 1 composes and says so in the guarantee."""
        ...


@runtime_checkable
class Planned(Mechanism, Protocol):
    """A mechanism whose public part is computed once and reused at any budget."""

    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D)."""
        ...

    def release_planned(
        self, plan: Plan, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1
    ) -> Release:
        """The only step that depends on y, epsilon, delta or the draw."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The public part of a Gaussian release: values A y plus noise L z, z standard normal, in model units.

    Attributes:
        weights: A (P, n). Column j is how far record j can move the values, per unit of its output.
        factor: L (P, k) for noise multiplier 1 and unit change: |L^+ a_j| <= 1 for every j.
            For very many records it is kept as a product (``FactoredMatrix``): only A y is ever needed.
        design: the optimised noise, for mechanisms that have one.
        inference: how A was computed, for mechanisms that have a choice.
    """

    weights: Matrix
    factor: FloatArray
    design: NoiseDesign | None = None
    inference: Inference | None = None
