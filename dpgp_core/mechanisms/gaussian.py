"""Parameters and accounting shared by Gaussian releases of a linear map of y."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..accounting.gaussian import Method, noise_multiplier
from ..accounting.guarantee import ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..data import Dataset
from .base import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, NotPrivate, Plan, Release


@dataclass(frozen=True, kw_only=True)
class GaussianMechanism:
    """Parameters and accounting common to Gaussian releases.

    Args:
        epsilon, delta: the budget of one draw.
        calibration: "analytic" (exact, default) or "hall" (the papers' formula, proven for epsilon <= 1).
        unproven: allow "hall" above epsilon 1; the guarantee is then marked as not established.

    Raises:
        ValueError: epsilon or delta out of range, or Hall's formula above epsilon 1 without ``unproven``.
    """

    epsilon: float
    delta: float
    calibration: Method = "analytic"
    unproven: bool = False

    theorem: ClassVar[str]

    def __post_init__(self) -> None:
        _ = self.noise_multiplier

    @property
    def noise_multiplier(self) -> float:
        """Noise scale s' at which a shift of at most 1 in the noise's metric is (epsilon, delta)-DP."""
        return noise_multiplier(self.epsilon, self.delta, self.calibration, unproven=self.unproven)

    @property
    def guarantee(self) -> Guarantee:
        """The promise for one draw, known before any data are read."""
        proof = {
            "analytic": "analytic Gaussian mechanism (Balle & Wang 2018, theorem 8)",
            "hall": "Gaussian mechanism of Hall et al. 2013, proposition 3 (proven for epsilon <= 1)",
        }[self.calibration]
        return Guarantee(
            budget=Budget(epsilon=self.epsilon, delta=self.delta),
            loss=GaussianLoss(1 / self.noise_multiplier),
            protects="outputs",
            neighbours=ONE_OUTPUT,
            unit="one record's output",
            theorem=f"{self.theorem}; {proof}",
            assumptions=FIXED_IN_ADVANCE,
            not_covered=BEYOND_ONE_RELEASE,
            established=self.calibration == "analytic" or self.epsilon <= 1,
        )

    def scale(self, dataset: Dataset) -> float:
        """Noise multiplier times the largest change d of one output, in the output's unit."""
        return self.noise_multiplier * dataset.d

    def release_planned(
        self, plan: Plan, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator, draws: int = 1
    ) -> Release:
        """Add noise to the planned values: the only step that depends on y, epsilon, delta or the draw.

        Args:
            plan: public plan for ``dataset.X`` and ``X_test``.
            dataset: supplies y, bounds and unit.
            X_test: test inputs (P, D), as planned.
            rng: source of the noise.
            draws: independent draws; more than one composes.

        Raises:
            ValueError: draws < 1.
        """
        guarantee = self.guarantee.for_unit(dataset.unit).repeated(draws)
        mean = dataset.in_data_units(plan.weights @ dataset.standardised())
        # d c_j in the output's unit: weights act on y / y_scale, so y_scale cancels
        noise_factor = self.scale(dataset) * plan.factor
        noise = rng.standard_normal((draws, noise_factor.shape[1])) @ noise_factor.T
        return Release(
            X_test=X_test,
            mean=NotPrivate(mean),
            noise_factor=noise_factor,
            samples=mean + noise,
            guarantee=guarantee,
        )
