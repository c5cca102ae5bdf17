"""Releases by Gaussian noise on a strategy: parameters, accounting, and the one path from outputs to curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..accounting.gaussian import Method, noise_multiplier
from ..accounting.guarantee import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..gp.uncertainty import Uncertainty
from ..table import Dataset
from .base import Plan, Release, promise_for, teaching
from .recorded import Measure, Measured, Place, Recorded, SimulatedInterval, exact, noiseless, numbered


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

    label: ClassVar[str]
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
        """What is made of the last curve before it is shown; by default nothing."""
        return curve

    def measured(self, plan: Plan, dataset: Dataset, measure: Measure) -> Iterator[Measured]:
        """Run stage after stage, each in intervals around the curve that those before it left.

        I_j = [g_j - c, g_j + c] cut to the bounds, of middle o_j and width u_j; measured is B diag(u / max u) q, so no
        record moves it by more than 1, and the curve is g_* + A (o - g) + max u L z, A = L B.

        Args:
            plan: of all stages.
            dataset: gives bounds; its outputs are not read here.
            measure: z of a stage.
        """
        n, middle = plan.strategy.shape[1], dataset.midpoint
        curve = np.zeros((1, n + len(plan.factor)))  # at [X; X_test], about the midpoint
        for stage, s, reach in zip(plan.stages, self.stage_multipliers, self.reaches(dataset), strict=True):
            g = curve[:, :n]
            low, high = (np.clip(middle + g + side * reach, *dataset.y_bounds) for side in (-1, 1))
            offset = (low - middle) / 2 + (high - middle) / 2 - g
            known = curve[:, n:] if stage is plan else curve
            if offset.any():
                known = known + (stage.factor @ (stage.strategy @ offset.T)).T
            interval = Place(low, high, (high - low).max(axis=1, keepdims=True), known)
            measured = Measured(stage, s, interval, measure(stage, s, interval))
            yield measured
            if stage is not plan:
                curve = np.clip(measured.curve(measured.z), -dataset.output_range / 2, dataset.output_range / 2)

    def plan(self, X: FloatArray, X_test: FloatArray) -> Plan:
        """Public plan for training inputs X (n, D) and test inputs X_test (P, D)."""
        raise NotImplementedError

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> Plan:
        """The same for the inputs of a data set."""
        return self.plan(dataset.X, X_test)

    def release(
        self, dataset: Dataset, X_test: FloatArray, rng: np.random.Generator | None = None, draws: int = 1
    ) -> Release:
        """Release predictions at X_test (P, D), in the output's unit; see ``Mechanism``."""
        return self.measure(self.plan_for(dataset, X_test), dataset, X_test, rng, draws)

    def measure(
        self,
        plan: Plan,
        dataset: Dataset,
        X_test: FloatArray,
        rng: np.random.Generator | None = None,
        draws: int = 1,
        *,
        mean: bool = True,
    ) -> Release:
        """Measure and map: the only step that depends on y, epsilon, delta or the draw.

        Args:
            plan: public plan for ``dataset.X`` and ``X_test``.
            dataset: supplies y, bounds and unit.
            X_test: test inputs (P, D), as planned.
            rng: None for a real release; a generator for numbered draws, see ``Mechanism``.
            draws: independent draws; more than one composes.
            mean: whether numbered draws come beside what they hide.

        Raises:
            ValueError: draws < 1, or the plan is another mechanism's or has another number of stages.
        """
        if len(plan.stages) != len(self.stage_multipliers):
            raise ValueError(f"the plan must have {len(self.stage_multipliers)} stages; make it with this mechanism")
        guarantee = promise_for(self.guarantee, self.label, dataset).repeated(draws)
        plan = self.mapped(plan, dataset)
        measure = exact(dataset, draws) if rng is None else numbered(dataset.clipped_y[None], rng, draws)
        stages = list(self.measured(plan, dataset, measure))
        last = stages[-1]
        curve = dataset.midpoint + last.curve(last.z)
        release = Release(
            X_test=X_test,
            samples=self.published(curve, dataset),
            guarantee=guarantee,
            statistics=self.recorded(plan, dataset, tuple(stage.z for stage in stages), guarantee),
            uncertainty=self.uncertainty(plan, dataset, curve),
            noise_factor=dataset.output_range * last.noise_multiplier * last.plan.factor if len(stages) == 1 else None,
        )
        if rng is None or not mean:
            return release if rng is None else replace(release, guarantee=guarantee.taught())
        silent = last.curve(noiseless(last.plan, last.place, dataset.clipped_y[None]))
        return teaching(release, dataset.midpoint + silent.mean(axis=0))

    def recorded(self, plan: Plan, dataset: Dataset, z: tuple[FloatArray, ...], guarantee: Guarantee) -> Sequence[Any]:
        """The released statistics, one a draw."""
        return Recorded(mechanism=self, plan=plan, public=dataset.public_part(), z=z, guarantee=guarantee)

    def uncertainty(self, plan: Plan, dataset: Dataset, curve: FloatArray) -> Uncertainty:
        """What ``Release.interval`` rests on, for released curves (draws, P)."""
        return SimulatedInterval(mechanism=self, plan=plan, public=dataset.public_part(), centre=curve)
