"""Two ways to measure a stage: for real, in integers with exact noise, or as numbered float draws for teaching."""

from __future__ import annotations

import numpy as np

from ..accounting.guarantee import Guarantee
from ..arrays import FloatArray
from ..data import Dataset
from ..measurement import Measurement
from ..measurement.statistics import Stage, Statistics
from .stages import Measure, PlannedStage


class ExactMeasure:
    """Measures the outputs of a data set for real, one draw, and keeps what may be published.

    Args:
        dataset: supplies outputs, bounds and unit. Each stage that is measured is spent.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._stages: list[Stage] = []

    def __call__(self, stage: PlannedStage, low: FloatArray, high: FloatArray) -> FloatArray:
        """Noisy numbers z (1, r) of one stage, given its intervals (1, n) in model units."""
        bounds = self._dataset.y_bounds
        # changing units rounds: cut again, so that no end leaves the bounds
        ends = [np.clip(self._dataset.in_data_units(end[0]), *bounds) for end in (low, high)]
        measurement = Measurement(
            B=stage.strategy.B, low=ends[0], high=ends[1], bounds=bounds, noise_multiplier=stage.noise_multiplier
        )
        self._stages.append(Stage(measurement=measurement, z=measurement.measure(self._dataset.y)))
        return self._stages[-1].z[None]

    def statistics(self, guarantee: Guarantee) -> Statistics:
        """All that was measured, with the promise for it."""
        data = self._dataset
        promise = {
            "epsilon": guarantee.budget.epsilon,
            "delta": guarantee.budget.delta,
            "protects": guarantee.protects,
            "neighbours": guarantee.neighbours,
            "unit": guarantee.unit,
            "theorem": guarantee.theorem,
        }
        return Statistics(
            stages=tuple(self._stages),
            X=data.X,
            x_names=data.x_names,
            x_units=data.x_units,
            x_box=data.x_box,
            y_name=data.y_name,
            y_unit=data.y_unit,
            y_scale=data.y_scale,
            guarantee=promise,
        )


def teaching(dataset: Dataset, rng: np.random.Generator, draws: int) -> Measure:
    """Measure D draws side by side in floats: of the same distribution to the eye, and not for release.

    Args:
        dataset: supplies outputs, bounds and unit.
        rng: source of the noise.
        draws: D.
    """
    y = dataset.standardised()

    def measure(stage: PlannedStage, low: FloatArray, high: FloatArray) -> FloatArray:
        q = (np.clip(y, low, high) - (low + high) / 2) / (high - low)
        B = stage.strategy.B
        z: FloatArray = q @ B.T + stage.noise_multiplier * rng.standard_normal((draws, len(B)))
        return z

    return measure
