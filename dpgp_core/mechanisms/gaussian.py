"""Releases by Gaussian noise on a strategy: parameters, accounting, and the one path from outputs to curves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..accounting.gaussian import Method, noise_multiplier
from ..accounting.guarantee import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.regression import InferenceChoice
from ..gp.uncertainty import Predictive, Uncertainty, predictive
from ..kernels import Kernel
from ..table import Dataset
from .base import FACTORED_ROWS, Draws, Hidden, Mechanism, Plan, Release
from .gaussian_stages import ClippedStage, EachDrawOfStages, Measure, SimulatedInterval, exact, noiseless, numbered


@dataclass(frozen=True, kw_only=True)
class GaussianMechanism(Mechanism):
    """Parameters and accounting common to Gaussian releases.

    Args:
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

    @cached_property
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

    @property
    def stage_multipliers(self) -> tuple[float, ...]:
        """Noise multiplier of each stage."""
        return (self.noise_multiplier,)

    def reaches(self, dataset: Dataset) -> tuple[float, ...]:
        """How far from the curve so far each stage's intervals reach, in the output's unit; the first: everywhere."""
        return (dataset.output_range,)

    def mapped(self, plan: Plan, dataset: Dataset) -> Plan:
        """The plan whose map is used: post-processing that depends on the budget comes in here."""
        return plan

    def published(self, curve: FloatArray, dataset: Dataset) -> FloatArray:
        """Post-processing of the last curve; by default none."""
        return curve

    def measured(self, plan: Plan, dataset: Dataset, measure: Measure) -> Iterator[tuple[ClippedStage, FloatArray]]:
        """Run stage after stage, each in intervals around the curve that those before it left; with z (draws, r).

        I_j = [g_j - c, g_j + c] cut to the bounds, of middle o_j and width u_j; measured is B diag(u / max u) q, so no
        record moves it by more than 1, and the curve is g_* + A (o - g) + max u L z, A = L B.
        """
        n, middle = plan.strategy.shape[1], dataset.midpoint
        curve = np.zeros((1, n + len(plan.factor)))  # at [X; X_test], about the midpoint
        for part, s, reach in zip(plan.stages, self.stage_multipliers, self.reaches(dataset), strict=True):
            g = curve[:, :n]
            low, high = (np.clip(middle + g + side * reach, *dataset.y_bounds) for side in (-1, 1))
            shift = (low - middle) / 2 + (high - middle) / 2 - g
            offset = curve[:, n:] if part is plan else curve
            if shift.any():
                offset = offset + (part.factor @ (part.strategy @ shift.T)).T
            stage = ClippedStage(part, s, low, high, (high - low).max(axis=1, keepdims=True), offset)
            z = measure(stage)
            yield stage, z
            if part is not plan:
                curve = np.clip(stage.curve(z), -dataset.output_range / 2, dataset.output_range / 2)

    @abstractmethod
    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D)."""

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> Plan:
        """The same for the inputs of a data set."""
        return self.plan(dataset.X, X_test)

    def drawn(self, plan: Plan, dataset: Dataset, X_test: FloatArray, draws: Draws) -> tuple[Release, Hidden]:
        """See ``Mechanism``: the only step that depends on y, epsilon, delta or the draw."""
        if len(plan.stages) != len(self.stage_multipliers):
            raise ValueError(f"the plan must have {len(self.stage_multipliers)} stages; make it with this mechanism")
        plan, (count, rng, promise) = self.mapped(plan, dataset), draws
        measure = exact(dataset, count) if rng is None else numbered(dataset.clipped_y[None], rng, count)
        stages, numbers = zip(*self.measured(plan, dataset, measure), strict=True)
        last: ClippedStage = stages[-1]
        curve = dataset.midpoint + last.curve(numbers[-1])
        release = Release(
            X_test=X_test,
            samples=self.published(curve, dataset),
            guarantee=promise,
            statistics=self.recorded(plan, dataset, numbers, promise),
            uncertainty=self.uncertainty(plan, dataset, curve),
            noise_factor=dataset.output_range * last.noise_multiplier * last.plan.factor if len(stages) == 1 else None,
        )

        def hidden() -> FloatArray:
            silent = last.curve(noiseless(last, dataset.clipped_y[None]))
            return np.asarray(dataset.midpoint + silent.mean(axis=0))

        return release, hidden

    def recorded(self, plan: Plan, dataset: Dataset, z: tuple[FloatArray, ...], guarantee: Guarantee) -> Sequence[Any]:
        """The released statistics, one a draw."""
        public = dataset.public_part()
        return EachDrawOfStages(run=self.measured, plan=plan, public=public, z=z, guarantee=guarantee)

    def uncertainty(self, plan: Plan, dataset: Dataset, curve: FloatArray) -> Uncertainty:
        """Behind ``Release.interval``, for released curves (draws, P)."""
        return SimulatedInterval(run=self.measured, plan=plan, public=dataset.public_part(), centre=curve)


@dataclass(frozen=True, kw_only=True)
class OfModel(InferenceChoice, GaussianMechanism):
    """Gaussian noise around C y, C the cloaking matrix of a public GP model, exact or low-rank."""

    kernel: Kernel
    noise_variance: float

    max_rows: ClassVar[int] = FACTORED_ROWS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("noise_variance", self.noise_variance)
        self.check_inference()

    def plan(self, X: FloatArray, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D)."""
        return self.plan_of(predictive(self, self.kernel, X, X_test, self.noise_variance, executor), X_test, executor)

    @abstractmethod
    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """The same from the declared model at X_test (P, D), where that is in hand."""
