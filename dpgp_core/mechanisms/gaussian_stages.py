"""Stages of a Gaussian release: how they measure, their statistics, and simulated intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..gp.uncertainty import Of, Predictive, mixture_half_width
from ..linalg import column_norms, columns_of
from ..measurement.integers import exact_sums
from ..measurement.measurement import STEPS, Measurement
from ..measurement.noise import GaussianNoise, with_noise
from ..measurement.statistics import Stage
from ..table import Dataset
from .base import EachDraw, Plan


class ClippedStage(NamedTuple):
    """One stage as it is measured: in intervals in the output's unit, one row for all draws or one for each.

    Attributes:
        noise_multiplier: s.
        low, high: ends of the intervals (k, n), k = 1 or draws.
        widest: u (k, 1), the largest width; columns of the strategy shrink by width / u.
        offset: the part of the curve without noise (k, P), about the midpoint.
    """

    plan: Plan
    noise_multiplier: float
    low: FloatArray
    high: FloatArray
    widest: FloatArray
    offset: FloatArray

    def curve(self, z: FloatArray) -> FloatArray:
        """Offset + u L z (draws, rows), about the midpoint, for measured numbers z (draws, r)."""
        return np.asarray(self.offset + self.widest * (z @ self.plan.factor.T))


Measure = Callable[[ClippedStage], FloatArray]
"""z (draws, r) of a stage."""


def exact(dataset: Dataset, draws: int) -> Measure:
    """Measure for real: exact integers, discrete noise from the operating system, fresh at every call."""

    def measure(stage: ClippedStage) -> FloatArray:
        noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=stage.noise_multiplier)
        sums = [
            exact_sums(stage.plan.strategy, (high - low) / widest, dataset.clipped_y, low, high)
            for low, high, widest in zip(stage.low, stage.high, stage.widest, strict=True)
        ]
        each = sums * draws if len(sums) == 1 else sums
        return np.concatenate([with_noise(own, noise, STEPS) for own in each])

    return measure


def numbered(y: FloatArray, rng: np.random.Generator, draws: int) -> Measure:
    """The same in floats, for teaching and for outputs that are made up.

    Args:
        y: outputs (1, n), or (draws, n) for others in every draw.
    """

    def measure(stage: ClippedStage) -> FloatArray:
        noise = GaussianNoise(sensitivity=STEPS, noise_multiplier=stage.noise_multiplier)
        return noiseless(stage, y) + noise.teaching(rng, (draws, len(stage.plan.strategy))) / STEPS

    return measure


def noiseless(stage: ClippedStage, y: FloatArray) -> FloatArray:
    """B diag(width / u) q (k, r), without noise, of outputs y (1 or k, n). Not private."""
    q = (np.clip(y, stage.low, stage.high) - (stage.low / 2 + stage.high / 2)) / stage.widest
    return np.asarray((stage.plan.strategy @ q.T).T)


_SIMULATED = 400  # made-up outputs; each counts twice, with its mirror image
_AT_ONCE = 1 << 22  # numbers


Run = Callable[[Plan, Dataset, Measure], Iterator[tuple[ClippedStage, FloatArray]]]
"""All stages of a plan with their z (draws, r), one after another: ``GaussianMechanism.measured``."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EachDrawOfStages(EachDraw):
    """The statistics of draws, from each stage's numbers: intervals and maps follow from z."""

    run: Run
    plan: Plan

    @property
    def size(self) -> int:
        """Numbers in all strategies."""
        return sum(stage.strategy.shape[0] * stage.strategy.shape[1] for stage in self.plan.stages)

    def stages(self, draw: int) -> list[Stage]:
        """Strategies, intervals and outcomes of one draw."""
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
        """Offset, map and z of one draw, of its last stage."""
        *_, (last, (z,)) = self._replayed(draw)
        return self.public.midpoint + last.offset[0], last.widest[0] * last.plan.factor, z

    def _replayed(self, draw: int) -> Iterator[tuple[ClippedStage, FloatArray]]:
        """The stages of one draw as they were."""
        waiting = iter(self.z)
        return self.run(self.plan, self.public, lambda stage: next(waiting)[[draw]])


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedInterval:
    """Intervals about released curves, from outputs that the declared model makes up.

    With y ~ N(0, K) and R(y) the curve released of it, f - R = (f - C y) + (C y - R): the first is N(0, variance) and
    independent of the second, whose last noise is Gaussian too. Clipping and earlier stages are simulated, so
    f - R is a mixture of Gaussians, one for each simulated y.

    Attributes:
        run, plan: of the release; ``plan.model`` is the declared model.
        centre: released curves (draws, P), in the output's unit.
    """

    run: Run
    plan: Plan
    public: Dataset
    centre: FloatArray

    def interval(self, level: float, of: Of) -> tuple[FloatArray, FloatArray]:
        """See ``Uncertainty``."""
        half = self.half_width(level, of)
        return self.centre - half, self.centre + half

    def half_width(self, level: float, of: Of) -> FloatArray:
        """Half of each interval (P,), in the output's unit: the same for every draw."""
        model, simulated = self._model, self._simulated
        variance = model.variance + (model.noise_variance if of == "outputs" else 0.0)
        return mixture_half_width(simulated.bias, simulated.variance + self.public.y_scale**2 * variance, level)

    def noise_half_width(self, level: float) -> FloatArray:
        """How far privacy moves the curve (P,): with probability ``level`` no further from C clip(y), the
        model's prediction from the same clipped outputs without noise, in the output's unit.

        Exactly s times the quantile of the noise for mechanisms that add noise once; in several stages it holds on data
        from the declared model.
        """
        return mixture_half_width(self._simulated.without_noise, self._simulated.variance, level)

    @property
    def _model(self) -> Predictive:
        assert self.plan.model is not None
        return self.plan.model

    @cached_property
    def _simulated(self) -> _Simulated:
        model, scale, middle = self._model, self.public.y_scale, self.public.midpoint
        rng = np.random.default_rng(0)  # of outputs and noise that are made up
        size = max(1, min(_SIMULATED, _AT_ONCE // self.public.n))
        bias, without, variances = [], [], []
        for _ in range(0, _SIMULATED, size):
            y = scale * model.outputs(rng, size)
            *_, (last, z) = self.run(self.plan, self.public, self._last_noiseless(middle + y, rng))
            curve = last.curve(z)
            inside = np.clip(y, -self.public.output_range / 2, self.public.output_range / 2)
            bias.append((model.C @ y.T).T - curve)
            without.append((model.C @ inside.T).T - curve)
            sd = last.noise_multiplier * last.widest
            variances.append(sd**2 * column_norms(last.plan.factor.T))
        variance = np.concatenate(variances)
        if (variance.max(axis=0) <= 2 * variance.min(axis=0)).all():  # they barely differ in shape from their mean
            variance = variance.mean(axis=0)[None]
        return _Simulated(np.concatenate(bias), np.concatenate(without), variance)

    def _last_noiseless(self, y: FloatArray, rng: np.random.Generator) -> Measure:
        with_noise = numbered(y, rng, len(y))

        def measure(stage: ClippedStage) -> FloatArray:
            return noiseless(stage, y) if stage.plan is self.plan else with_noise(stage)

        return measure


class _Simulated(NamedTuple):
    """Simulated errors, in the output's unit; R is the curve released of made-up outputs y without the last noise.

    Attributes:
        bias: C y - R (S, P).
        without_noise: C clip(y) - R (S, P).
        variance: of the last noise (S, P), or (1, P) where it is much the same in all.
    """

    bias: FloatArray
    without_noise: FloatArray
    variance: FloatArray
