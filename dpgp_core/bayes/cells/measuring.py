"""Two ways to measure over public cells: for real, in integers with exact noise, or as numbered draws for teaching.

One pass over the records a measurement, O(n) in all. Each record's numbers are computed from that record alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...arrays import FloatArray
from ...data import Dataset
from ...measurement.integers import GRID, person_weights
from ...measurement.measurement import CellCounts, KnownCounts, Measurement
from ...measurement.statistics import Above, CellStatistics, MeasuredDistances, Stage, StageSquares
from ..settings import reading_for
from .counts import known_counts
from .filter import CellObserved, Squares
from .grid import CellGrid
from .stages import CellReleased


class _Records(ABC):
    """Cells and residuals of the records. Private."""

    def __init__(self, dataset: Dataset, grid: CellGrid) -> None:
        self._X, self._y, self._grid = dataset.X, dataset.standardised(), grid
        self._cells = grid.place(dataset.X)
        self._weights = None if dataset.person is None else person_weights(dataset.person)

    def _residuals(self, g: FloatArray) -> FloatArray:
        return self._y - self._grid.at(self._X, g)

    def distances(
        self, measurement: Measurement, g: FloatArray, sd: float, count: Measurement | None
    ) -> MeasuredDistances:
        """See ``stages.Reader``."""
        r, above = self._residuals(g), None
        z = self._measure(measurement, np.abs(r))
        if count is not None:
            above = Above(measurement=count, z=self._measure(count, (r > 0).astype(float)))
        return MeasuredDistances(measurement=measurement, g=g, sd=sd, z=z, above=above)

    @abstractmethod
    def _measure(self, measurement: Measurement, values: FloatArray) -> FloatArray: ...


class CellsForTeaching(_Records):
    """Reads records, adds numbered float noise. Not for release.

    Args:
        dataset: the records.
        grid: public cells.
        rng: source of the noise.
    """

    def __init__(self, dataset: Dataset, grid: CellGrid, rng: np.random.Generator) -> None:
        super().__init__(dataset, grid)
        self._rng = rng

    def counts(self, measurement: CellCounts) -> FloatArray:
        """See ``stages.Reader``."""
        z: FloatArray = measurement.teaching(self._cells, self._rng, weights=self._weights)[0]
        return z

    def residuals(self, measurement: Measurement, g: FloatArray) -> FloatArray:
        """See ``stages.Reader``."""
        return self._measure(measurement, self._residuals(g))

    def squares(self, measurement: Measurement, g: FloatArray) -> float:
        """See ``stages.Reader``."""
        return float(self._measure(measurement, self._residuals(g) ** 2)[0])

    def _measure(self, measurement: Measurement, values: FloatArray) -> FloatArray:
        z: FloatArray = measurement.teaching(values, self._rng, cells=self._cells, weights=self._weights)[0]
        return z


class CellsSilently(_Records):
    """Reads records and adds no noise: what teaching draws are drawn around. Not private."""

    def counts(self, measurement: CellCounts) -> FloatArray:
        """See ``stages.Reader``."""
        return self._sums(measurement.B, np.ones(len(self._cells)))

    def residuals(self, measurement: Measurement, g: FloatArray) -> FloatArray:
        """See ``stages.Reader``."""
        return self._measure(measurement, self._residuals(g))

    def squares(self, measurement: Measurement, g: FloatArray) -> float:
        """See ``stages.Reader``."""
        return float(self._measure(measurement, self._residuals(g) ** 2)[0])

    def _measure(self, measurement: Measurement, values: FloatArray) -> FloatArray:
        low, high = measurement.low[self._cells], measurement.high[self._cells]
        return self._sums(measurement.B, (np.clip(values, low, high) - low) / (high - low) - 0.5)

    def _sums(self, B: FloatArray, values: FloatArray) -> FloatArray:
        own = values if self._weights is None else values * self._weights / GRID
        z: FloatArray = B @ np.bincount(self._cells, weights=own, minlength=B.shape[1])
        return z


class CellsExactly(_Records):
    """Reads records, measures once for real, and keeps what may be published. Each call spends."""

    def __init__(self, dataset: Dataset, grid: CellGrid) -> None:
        super().__init__(dataset, grid)
        self._stages: list[Stage] = []

    def counts(self, measurement: CellCounts) -> FloatArray:
        """See ``stages.Reader``."""
        return measurement.measure(self._cells, weights=self._weights)

    def residuals(self, measurement: Measurement, g: FloatArray) -> FloatArray:
        """See ``stages.Reader``."""
        z = self._measure(measurement, self._residuals(g))
        self._stages.append(Stage(measurement=measurement, g=g, z=z))
        return z

    def squares(self, measurement: Measurement, g: FloatArray) -> float:
        """See ``stages.Reader``."""
        z = self._measure(measurement, self._residuals(g) ** 2)
        self._stages[-1] = replace(self._stages[-1], squares=StageSquares(measurement=measurement, g=g, z=z))
        return float(z[0])

    def _measure(self, measurement: Measurement, values: FloatArray) -> FloatArray:
        return measurement.measure(values, cells=self._cells, weights=self._weights)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What was measured of residuals."""
        return tuple(self._stages)


def cell_statistics(
    dataset: Dataset, grid: CellGrid, released: CellReleased, stages: Sequence[Stage], promise: Mapping[str, Any]
) -> CellStatistics:
    """What may be kept in a file: nothing of the data set but what is public.

    Args:
        dataset: for names, units, box, bounds and the number of records.
        grid: public cells.
        released: counts and their noisy numbers.
        stages: residual sums.
        promise: the guarantee as plain JSON values.
    """
    counts, people = released.counts, dataset.person is not None
    return CellStatistics(
        counts=counts if isinstance(counts, CellCounts) else KnownCounts(numbers=counts.mean, people=people),
        z=released.z,
        stages=tuple(stages),
        n=dataset.people,
        per_side=grid.per_side,
        periods=grid.periods,
        x_names=dataset.x_names,
        x_units=dataset.x_units,
        x_box=dataset.x_box,
        y_name=dataset.y_name,
        y_unit=dataset.y_unit,
        bounds=dataset.y_bounds,
        y_scale=dataset.y_scale,
        guarantee=promise,
        reading=reading_for(dataset.y_kind),
        distances=released.distances,
        x_levels=dataset.x_levels,
    )


def released_of(statistics: CellStatistics) -> CellReleased:
    """The release as ``stages.cell_posterior`` takes it."""
    known = statistics.counts
    counts = known if isinstance(known, CellCounts) else known_counts(known.numbers)
    return CellReleased(counts, statistics.z, tuple(map(_observed, statistics.stages)), statistics.distances)


def _observed(stage: Stage) -> CellObserved:
    m, squares = stage.measurement, None
    if stage.squares is not None:
        of = stage.squares.measurement
        squares = Squares(of.high, of.noise_sd, float(stage.squares.z[0]))
    return CellObserved(m.B, m.low, m.high, stage.g, m.noise_sd, stage.z, squares)
