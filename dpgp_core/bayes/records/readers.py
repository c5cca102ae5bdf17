"""The two that read records: for real, in integers with exact noise, and in floats, for teaching.

Nothing else of the inference over records sees an output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...accounting.guarantee import Guarantee, promise_of
from ...arrays import FloatArray
from ...data import Dataset
from ...measurement import Measurement
from ...measurement.statistics import Above, MeasuredDistances, Stage, StageSquares, Statistics
from ..plan import PlannedStage
from ..spread import Distances, PlannedDistances, as_read
from .stages import Measure, Squares


class ExactMeasure:
    """Measures the outputs of a data set for real, one draw, and keeps what may be published.

    Args:
        dataset: supplies outputs, bounds and unit. Each stage that is measured is spent.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._stages: list[Stage] = []
        self._distances: MeasuredDistances | None = None

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

    def squares(self, s: float, g: FloatArray, high: FloatArray) -> Squares:
        """See ``stages.Measure``; of one draw."""
        limit = (self._dataset.output_range / self._dataset.y_scale) ** 2
        ones, high = np.ones((1, g.shape[1])), np.minimum(high, limit)
        measurement = Measurement(B=ones, low=0 * high[0], high=high[0], bounds=(0.0, limit), noise_multiplier=s)
        z = measurement.measure((self._dataset.standardised() - g[0]) ** 2)
        self._stages[-1] = replace(self._stages[-1], squares=StageSquares(measurement=measurement, g=g[0], z=z))
        return Squares(g, high, measurement.noise_sd, z)

    def distances(self, planned: PlannedDistances, g: FloatArray, reach: FloatArray, sd: FloatArray) -> Distances:
        """See ``stages.Measure``; of one draw."""
        y, shares, above, n = self._dataset.standardised(), planned.shares, None, g.shape[1]
        assert shares.distances is not None
        measurement = _from_zero(planned.strategy.B, float(reach[0]), shares.distances)
        z = measurement.measure(np.abs(y - g[0]))
        if shares.above is not None:
            count = _from_zero(np.ones((1, n)), 1.0, shares.above)
            above = Above(measurement=count, z=count.measure((y > g[0]).astype(float)))
        distances = MeasuredDistances(measurement=measurement, g=g[0], sd=float(sd[0]), z=z, above=above)
        self._distances = distances
        return as_read(distances)

    def statistics(self, guarantee: Guarantee) -> Statistics:
        """All that was measured, with the promise for it."""
        data = self._dataset
        return Statistics(
            stages=tuple(self._stages),
            X=data.X,
            x_names=data.x_names,
            x_units=data.x_units,
            x_box=data.x_box,
            y_name=data.y_name,
            y_unit=data.y_unit,
            y_scale=data.y_scale,
            guarantee=promise_of(guarantee),
            reading="yes/no" if data.y_kind == "yes/no" else "any outcomes",
            distances=self._distances,
            x_levels=data.x_levels,
        )


def _from_zero(B: FloatArray, most: float, s: float) -> Measurement:
    n = B.shape[1]
    return Measurement(B=B, low=np.zeros(n), high=np.full(n, most), bounds=(0.0, most), noise_multiplier=s)


def teaching(dataset: Dataset, rng: np.random.Generator, draws: int) -> Measure:
    """Measure D draws side by side in floats: of the same distribution to the eye, and not for release.

    Args:
        dataset: supplies outputs, bounds and unit.
        rng: source of the noise.
        draws: D.
    """
    return InFloats(dataset.standardised(), lambda rows: rng.standard_normal((draws, rows)))


class InFloats:
    """Measures in floats. Not for release.

    Args:
        y: outputs (n,), or of each draw (D, n), in model units.
        noise: standard normals (D, r) for r rows.
    """

    def __init__(self, y: FloatArray, noise: Callable[[int], FloatArray]) -> None:
        self._y, self._noise = y, noise

    def __call__(self, stage: PlannedStage, low: FloatArray, high: FloatArray) -> FloatArray:
        """See ``stages.Measure``."""
        q = (np.clip(self._y, low, high) - (low + high) / 2) / (high - low)
        B = stage.strategy.B
        z: FloatArray = q @ B.T + stage.noise_multiplier * self._noise(len(B))
        return z

    def squares(self, s: float, g: FloatArray, high: FloatArray) -> Squares:
        """See ``stages.Measure``."""
        sums = (np.minimum((self._y - g) ** 2, high) / high - 0.5).sum(axis=1)
        return Squares(g, high, s, sums + s * self._noise(1)[:, 0])

    def distances(self, planned: PlannedDistances, g: FloatArray, reach: FloatArray, sd: FloatArray) -> Distances:
        """See ``stages.Measure``."""
        B, shares, above = planned.strategy.B, planned.shares, None
        assert shares.distances is not None
        shares_of_reach = np.minimum(np.abs(self._y - g) / reach[:, None], 1.0)
        z = (shares_of_reach - 0.5) @ B.T + shares.distances * self._noise(len(B))
        if shares.above is not None:
            above = shares.above, ((self._y > g) - 0.5).sum(axis=1) + shares.above * self._noise(1)[:, 0]
        return Distances(B, reach, sd, shares.distances, z, above)
