"""Releases with Gaussian noise on a strategy: parameters, accounting, and the computation from outputs to curves.

``GaussianMechanism.measured`` runs the stages of a release. Real and simulated releases, their statistics and their
simulated intervals all use it.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..accounting.gaussian import Method, noise_multiplier
from ..accounting.guarantee import BEYOND_ONE_RELEASE, FIXED_IN_ADVANCE, ONE_OUTPUT, Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..checks import check_positive
from ..gp.regression import InferenceChoice
from ..gp.uncertainty import IntervalTarget, Predictive, Uncertainty, mixture_half_width, predictive
from ..kernels import Kernel
from ..linalg import column_norms, columns_of
from ..measurement.integers import exact_sums
from ..measurement.measurement import STEPS, Measurement
from ..measurement.noise import GaussianNoise, with_noise
from ..measurement.statistics import Stage
from ..table import Dataset
from .base import FACTORED_ROWS, Draws, LazyStatistics, Mechanism, NoiselessCurve, Plan, Release


class ClippedStage(NamedTuple):
    """A stage with its clipping intervals, which are the same for all releases (k = 1) or differ (k releases).

    Attributes:
        plan: strategy and map of the stage.
        noise_multiplier: s.
        low: lower ends of the intervals (k, n), in the unit of the output.
        high: upper ends (k, n).
        widest: largest width u (k, 1). Columns of the strategy are multiplied by width / u.
        offset: noiseless part of the curve (k, P), relative to the midpoint.
    """

    plan: Plan
    noise_multiplier: float
    low: FloatArray
    high: FloatArray
    widest: FloatArray
    offset: FloatArray

    def curve(self, z: FloatArray) -> FloatArray:
        """Return the curve offset + u L z (draws, P), relative to the midpoint, for measured numbers z (draws, r)."""
        return self.offset + self.widest * (z @ self.plan.factor.T)


Measure = Callable[[ClippedStage], FloatArray]
"""Function that returns the measured numbers z (draws, r) of a stage."""


def measure_exactly(stage: ClippedStage, dataset: Dataset, draws: int) -> FloatArray:
    """Measure with exact integers and discrete noise from the operating system, which is new at every call."""
    noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=stage.noise_multiplier)
    sums = [
        exact_sums(stage.plan.strategy, (high - low) / widest, dataset.clipped_y, low, high)
        for low, high, widest in zip(stage.low, stage.high, stage.widest, strict=True)
    ]
    each = sums * draws if len(sums) == 1 else sums
    return np.concatenate([with_noise(own, noise, STEPS) for own in each])


def simulate_measurement(stage: ClippedStage, y: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray:
    """Simulate a measurement in floating-point numbers, for teaching and for simulated outputs.

    Args:
        stage: the stage.
        y: outputs (1, n), or (draws, n) if they differ between releases.
    """
    noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=stage.noise_multiplier)
    return noiseless(stage, y) + noise.teaching(rng, (draws, len(stage.plan.strategy))) / STEPS


def noiseless(stage: ClippedStage, y: FloatArray) -> FloatArray:
    """Return the measurement without noise, B diag(width / u) q (k, r), of outputs y (1, n) or (k, n). Not private."""
    q = (np.clip(y, stage.low, stage.high) - (stage.low / 2 + stage.high / 2)) / stage.widest
    return (stage.plan.strategy @ q.T).T


@dataclass(frozen=True, kw_only=True)
class GaussianMechanism(Mechanism):
    """Base class of mechanisms with Gaussian noise: parameters, accounting and measurement.

    Args:
        calibration: "analytic" (exact, default) or "hall" (the formula of the papers, proven for epsilon <= 1).
        unproven: whether to allow "hall" for epsilon > 1. The guarantee is then marked as not established.

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
        """Noise multiplier s: noise of this scale makes a shift of at most 1 (epsilon, delta)-DP."""
        return noise_multiplier(self.epsilon, self.delta, self.calibration, unproven=self.unproven)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one release. It is known before any data are read."""
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

    def clip_half_widths(self, dataset: Dataset) -> tuple[float, ...]:
        """Return half-widths of the clipping intervals of the stages, in the unit of the output.

        Intervals surround the curve of the stage before. The first stage covers the whole range of the bounds.
        """
        return (dataset.output_range,)

    def mapped(self, plan: Plan, dataset: Dataset) -> Plan:
        """Return the plan with the map that is used. Post-processing that depends on the budget is applied here."""
        return plan

    def measured(self, plan: Plan, dataset: Dataset, measure: Measure) -> Iterator[tuple[ClippedStage, FloatArray]]:
        """Run all stages, and yield each with its measured numbers z (draws, r).

        The clipping interval of record j is [g_j - c, g_j + c], intersected with the bounds, where g is the curve of
        the stage before. Let o_j be its centre and u_j its width. The stage measures B diag(u / max u) q, which no
        record moves by more than 1, and its curve is g_* + A (o - g) + max u L z with A = L B.
        """
        n, middle = plan.strategy.shape[1], dataset.midpoint
        curve = np.zeros((1, n + len(plan.factor)))  # at [X; X_test], about the midpoint
        for part, s, reach in zip(plan.stages, self.stage_multipliers, self.clip_half_widths(dataset), strict=True):
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
        """Return the public plan for inputs X (n, D) and test inputs X_test (P, D)."""

    def plan_for(self, dataset: Dataset, X_test: FloatArray) -> Plan:
        """Return the public plan for the inputs of a data set and test inputs X_test (P, D)."""
        return self.plan(dataset.X, X_test)

    def drawn(self, plan: Plan, dataset: Dataset, X_test: FloatArray, draws: Draws) -> tuple[Release, NoiselessCurve]:
        """See ``Mechanism``. This is the only step that depends on y, epsilon, delta and the noise."""
        if len(plan.stages) != len(self.stage_multipliers):
            raise ValueError(f"the plan must have {len(self.stage_multipliers)} stages; make it with this mechanism")
        plan, (count, rng, guarantee) = self.mapped(plan, dataset), draws

        def measure(stage: ClippedStage) -> FloatArray:
            if rng is None:
                return measure_exactly(stage, dataset, count)
            return simulate_measurement(stage, dataset.clipped_y[None], rng, count)

        stages, numbers = zip(*self.measured(plan, dataset, measure), strict=True)
        last: ClippedStage = stages[-1]
        curve = dataset.midpoint + last.curve(numbers[-1])
        release = Release(
            X_test=X_test,
            samples=curve,
            guarantee=guarantee,
            statistics=self.recorded(plan, dataset, numbers, guarantee),
            uncertainty=self.uncertainty(plan, dataset, curve),
            noise_factor=dataset.output_range * last.noise_multiplier * last.plan.factor if len(stages) == 1 else None,
        )

        def hidden() -> FloatArray:
            silent = last.curve(noiseless(last, dataset.clipped_y[None]))
            return np.asarray(dataset.midpoint + silent.mean(axis=0))

        return release, hidden

    def recorded(self, plan: Plan, dataset: Dataset, z: tuple[FloatArray, ...], guarantee: Guarantee) -> Sequence[Any]:
        """Return the statistics of each release."""
        public = dataset.public_part()
        return LazyStageStatistics(mechanism=self, plan=plan, public=public, z=z, guarantee=guarantee)

    def uncertainty(self, plan: Plan, dataset: Dataset, curve: FloatArray) -> Uncertainty:
        """Return the object that computes the intervals about released curves (draws, P)."""
        return SimulatedInterval(mechanism=self, plan=plan, public=dataset.public_part(), centre=curve)


@dataclass(frozen=True, kw_only=True)
class ModelBasedMechanism(InferenceChoice, GaussianMechanism):
    """Base class of mechanisms that release C y with Gaussian noise, C the cloaking matrix of a public GP model.

    Args:
        inference, tolerance: exact or low-rank inference, see ``InferenceChoice``.
        epsilon, delta, calibration, unproven: see ``GaussianMechanism``.
    """

    kernel: Kernel
    noise_variance: float

    max_rows: ClassVar[int] = FACTORED_ROWS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("noise_variance", self.noise_variance)
        self.check_inference()

    def plan(self, X: FloatArray, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Return the public plan for inputs X (n, D) and test inputs X_test (P, D)."""
        return self.plan_of(self.model_for(X, X_test, executor), X_test, executor)

    def model_for(self, X: FloatArray, X_test: FloatArray, executor: Executor | None = None) -> Predictive:
        """Return the prediction of the declared model, which mechanisms with equal models can share."""
        return predictive(self, self.kernel, X, X_test, self.noise_variance, executor)

    @abstractmethod
    def plan_of(self, model: Predictive, X_test: FloatArray, executor: Executor | None = None) -> Plan:
        """Return the public plan, given the prediction of the declared model at X_test (P, D)."""


_SIMULATED = 400  # number of simulated sets of outputs; each counts twice, with its mirror image
_AT_ONCE = 1 << 22  # number of outputs that are simulated at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class LazyStageStatistics(LazyStatistics):
    """The statistics of each release, recomputed from the numbers z of its stages."""

    mechanism: GaussianMechanism
    plan: Plan

    @property
    def size(self) -> int:
        """Number of entries of all strategies."""
        return sum(math.prod(stage.strategy.shape) for stage in self.plan.stages)

    def stages(self, draw: int) -> list[Stage]:
        """Return the measurements and noisy numbers of all stages of one release."""
        stages = []
        for stage, (z,) in self._replayed(draw):
            low, high = stage.low[0], stage.high[0]
            B = columns_of(stage.plan.strategy, slice(None)) * ((high - low) / stage.widest[0])
            measurement = Measurement(
                B=B, low=low, high=high, bounds=self.public.y_bounds, noise_multiplier=stage.noise_multiplier
            )
            stages.append(Stage(measurement=measurement, z=z))
        return stages

    def mapped(self, draw: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return offset (P,), map (P, r) and z (r,) of the last stage of one release."""
        *_, (last, (z,)) = self._replayed(draw)
        return self.public.midpoint + last.offset[0], last.widest[0] * last.plan.factor, z

    def _replayed(self, draw: int) -> Iterator[tuple[ClippedStage, FloatArray]]:
        """Run the stages of one release again, with its measured numbers."""
        waiting = iter(self.z)
        return self.mechanism.measured(self.plan, self.public, lambda stage: next(waiting)[[draw]])


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedInterval:
    """Intervals about released curves, computed from outputs that are simulated by the declared model.

    Let y ~ N(0, K), and let R(y) be the curve released from it. The error is f - R = (f - C y) + (C y - R). The first
    term is N(0, variance) and independent of the second, and the noise of the last stage is Gaussian too. Clipping and
    earlier stages are simulated, so the distribution of f - R is a mixture of Gaussians, one for each simulated y.

    Attributes:
        plan: its plan; ``plan.model`` is the declared model.
        public: public part of the data set.
        centre: released curves (draws, P), in the unit of the output.
    """

    mechanism: GaussianMechanism
    plan: Plan
    public: Dataset
    centre: FloatArray

    def interval(self, level: float, of: IntervalTarget) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``."""
        half = self.half_width(level, of)
        return self.centre - half, self.centre + half

    def half_width(self, level: float, of: IntervalTarget) -> FloatArray:
        """Return the half-width of each interval (P,), in the unit of the output. It is the same for every release."""
        model, (bias, _, noise) = self._model, self._simulated
        variance = model.variance + (model.noise_variance if of == "outputs" else 0.0)
        return mixture_half_width(bias, noise + self.public.y_scale**2 * variance, level)

    def noise_half_width(self, level: float) -> FloatArray:
        """Return how far privacy moves the curve (P,), in the unit of the output, with probability ``level``.

        The distance is that between the released curve and C clip(y), the model's prediction from the clipped outputs
        without noise. For mechanisms with one stage it is the exact quantile of the noise. For several stages the
        probability refers to data from the declared model.
        """
        _, moved, noise = self._simulated
        return mixture_half_width(moved, noise, level)

    @property
    def _model(self) -> Predictive:
        assert self.plan.model is not None
        return self.plan.model

    @cached_property
    def _simulated(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Simulated C y - R (S, P) and C clip(y) - R (S, P), and the variance of the noise of the last stage.

        R is simulated without this noise. The variance is (S, P), or (1, P) if it is similar in all simulations.
        Everything is in the unit of the output.
        """
        model, scale, half = self._model, self.public.y_scale, self.public.output_range / 2
        rng = np.random.default_rng(0)  # fixed seed: outputs and noise are simulated, nothing is private
        size = max(1, min(_SIMULATED, _AT_ONCE // self.public.n))
        bias, moved, variances = [], [], []
        for _ in range(0, _SIMULATED, size):
            y = scale * model.outputs(rng, size)
            measure = partial(self._last_noiseless, self.public.midpoint + y, rng)
            *_, (last, z) = self.mechanism.measured(self.plan, self.public, measure)
            curve = last.curve(z)
            bias.append((model.C @ y.T).T - curve)
            moved.append((model.C @ np.clip(y, -half, half).T).T - curve)
            sd = last.noise_multiplier * last.widest
            variances.append(sd**2 * column_norms(last.plan.factor.T))
        variance = np.concatenate(variances)
        if (variance.max(axis=0) <= 2 * variance.min(axis=0)).all():  # replacing them by their mean changes little
            variance = variance.mean(axis=0)[None]
        return np.concatenate(bias), np.concatenate(moved), variance

    def _last_noiseless(self, y: FloatArray, rng: np.random.Generator, stage: ClippedStage) -> FloatArray:
        return noiseless(stage, y) if stage.plan is self.plan else simulate_measurement(stage, y, rng, len(y))
