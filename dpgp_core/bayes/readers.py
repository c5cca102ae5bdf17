"""All that reads records: for real, in integers with exact noise; or as numbered draws for teaching, also of no noise.

Each reader takes a public query (``engine.Observation``, ``Squares``, ``Distances``) and returns it with the numbers.
Nothing else of Bayes cloaking sees an output, or where inputs are private, an input. Also: the statistic that may be
kept in a file, and the way back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..accounting.guarantee import Guarantee, promise_of
from ..arrays import FloatArray
from ..measurement.integers import person_weights
from ..measurement.measurement import CellCounts, KnownCounts, Measurement, from_zero
from ..measurement.statistics import (
    Above,
    CellStatistics,
    MeasuredDistances,
    MeasuredPositions,
    Stage,
    StageSquares,
    Statistics,
)
from ..table import Dataset, Kind
from .cells import CellGrid, OccupiedGrid
from .counts import Counts, Positions, known_counts
from .engine import NOTHING, Measured, Observation, Reader, Squares
from .settings import reading_for
from .spread import Distances
from .stages import Public


class ExactRecords(Reader):
    """Measures the outputs of a data set for real, one draw, and keeps the released numbers.

    Args:
        dataset: supplies outputs, bounds and unit. Each stage that is measured is spent.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._stages: list[Stage] = []
        self._distances: MeasuredDistances | None = None

    def sums(self, query: Observation) -> Observation:
        """See ``engine.Reader``; of one draw."""
        data = self._dataset
        # changing units rounds: cut again, so that no end leaves the bounds
        low, high = (np.clip(data.in_data_units(end[0]), *data.y_bounds) for end in (query.low, query.high))
        s, bounds = query.noise_multiplier, data.y_bounds
        measurement = Measurement(B=query.B, low=low, high=high, bounds=bounds, noise_multiplier=s)
        self._stages.append(Stage(measurement=measurement, z=measurement.measure(data.y)))
        return _observed(self._stages[-1], data.midpoint, data.y_scale)

    def squares(self, query: Squares) -> Squares:
        """See ``engine.Reader``; of one draw."""
        limit, g, s = (self._dataset.output_range / self._dataset.y_scale) ** 2, query.g[0], query.s
        ones, high = np.ones((1, len(g))), np.minimum(query.high[0], limit)
        measurement = from_zero(ones, high, (0.0, limit), s)
        z = measurement.measure((self._dataset.standardised() - g) ** 2)
        squares = StageSquares(measurement=measurement, g=g, z=z)
        self._stages[-1] = replace(self._stages[-1], squares=squares)
        return _squares(squares)

    def distances(self, query: Distances, g: FloatArray) -> Distances:
        """See ``engine.Reader``; of one draw."""
        residuals = self._dataset.standardised() - g[0]
        self._distances = _measured_distances(query, g[0], residuals, Measurement.measure)
        return distances_of(self._distances)

    def statistics(self, measured: Measured, guarantee: Guarantee) -> Statistics:
        """All measurements, with the promise for them."""
        data = self._dataset
        return Statistics(
            stages=tuple(self._stages),
            X=data.X,
            columns=data.columns,
            y_name=data.y_name,
            y_unit=data.y_unit,
            y_scale=data.y_scale,
            guarantee=promise_of(guarantee),
            reading=reading_for(data.y_kind),
            distances=self._distances,
        )


class RecordsInFloats(Reader):
    """Measures D draws side by side in floats: of the same distribution to the eye, and not for release.

    Args:
        y: outputs (n,), or of each draw (D, n), in model units.
        noise: standard normals (D, r) for r rows.
    """

    def __init__(self, y: FloatArray, noise: Callable[[int], FloatArray]) -> None:
        self._y, self._noise = y, noise

    def sums(self, query: Observation) -> Observation:
        """See ``engine.Reader``."""
        low, high, B = query.low, query.high, query.B
        q = (np.clip(self._y, low, high) - (low + high) / 2) / (high - low)
        return query._replace(z=q @ B.T + query.noise_multiplier * self._noise(len(B)))

    def squares(self, query: Squares) -> Squares:
        """See ``engine.Reader``."""
        sums = (np.minimum((self._y - query.g) ** 2, query.high) / query.high - 0.5).sum(axis=1)
        return query._replace(z=sums + query.s * self._noise(1)[:, 0])

    def distances(self, query: Distances, g: FloatArray) -> Distances:
        """See ``engine.Reader``."""
        shares, above = np.minimum(np.abs(self._y - g) / query.reach[:, None], 1.0), None
        z = (shares - 0.5) @ query.B.T + query.s * self._noise(len(query.B))
        if query.above is not None:
            s = query.above[0]
            above = s, ((self._y > g) - 0.5).sum(axis=1) + s * self._noise(1)[:, 0]
        return query._replace(z=z, above=above)


class CellReader:
    """Measures over public cells: one pass over the records a measurement, O(n) in all.

    Each record's numbers are computed from that record alone.

    Args:
        rng: None to measure for real, where each call spends; a generator for numbered float noise, not for release.
    """

    def __init__(self, dataset: Dataset, grid: CellGrid, rng: np.random.Generator | None) -> None:
        self._dataset, self._y, self._grid, self._rng = dataset, dataset.standardised(), grid, rng
        self._cells, self._at = grid.index(dataset.X), grid.at(dataset.X)
        self._weights = None if dataset.person is None else person_weights(dataset.person)
        self._stages: list[Stage] = []
        self._distances: MeasuredDistances | None = None
        self._positions: MeasuredPositions | None = None

    def counts(self, measurement: CellCounts) -> FloatArray:
        """See ``engine.Reader``."""
        if self._rng is None:
            return measurement.measure(self._cells, weights=self._weights)
        return np.asarray(measurement.teaching(self._cells, self._rng, weights=self._weights)[0])

    def positions(self, query: Positions) -> Positions:
        """See ``engine.Reader``."""
        X, cells = self._dataset.X, self._grid.size
        measurement = from_zero(np.eye(cells), np.ones(cells), (0.0, 1.0), query.s)
        z = np.array([self._measured(measurement, t) for t in self._grid.offsets(X)[self._grid.numbers]])
        self._positions, self._at = MeasuredPositions(measurement=measurement, z=z), self._grid.polynomial(X)
        return query._replace(s=measurement.noise_sd, z=z)

    def sums(self, query: Observation) -> Observation:
        """See ``engine.Reader``."""
        assert query.g is not None
        most, s = self._dataset.output_range / self._dataset.y_scale, query.noise_multiplier
        measurement = Measurement(
            B=query.B, low=query.low[0], high=query.high[0], bounds=(-most, most), noise_multiplier=s
        )
        z = self._measured(measurement, self._residuals(query.g))
        self._stages.append(Stage(measurement=measurement, g=query.g[0], z=z))
        return _observed_cells(self._stages[-1])._replace(width=query.width)

    def squares(self, query: Squares) -> Squares:
        """See ``engine.Reader``."""
        limit = (self._dataset.output_range / self._dataset.y_scale) ** 2
        high = np.minimum(query.high[0], limit)
        measurement = from_zero(np.ones((1, len(high))), high, (0.0, limit), query.s)
        z = self._measured(measurement, self._residuals(query.g) ** 2)
        self._stages[-1] = replace(self._stages[-1], squares=StageSquares(measurement=measurement, g=query.g[0], z=z))
        return query._replace(high=high[None], s=measurement.noise_sd, z=z)

    def distances(self, query: Distances, g: FloatArray) -> Distances:
        """See ``engine.Reader``."""
        self._distances = _measured_distances(query, g[0], self._residuals(g), self._measured)
        return distances_of(self._distances)

    def statistics(self, measured: Measured, guarantee: Guarantee) -> CellStatistics:
        """All measurements, with the promise for them and the public part of the data set."""
        data, counts = self._dataset, measured.counts
        assert counts is not None
        return CellStatistics(
            counts=counts if isinstance(counts, CellCounts) else self._known(counts),
            z=measured.z,
            positions=self._positions,
            stages=tuple(self._stages),
            n=data.people,
            per_side=self._grid.per_side,
            periods=self._grid.periods,
            columns=data.columns,
            y_name=data.y_name,
            y_unit=data.y_unit,
            bounds=data.y_bounds,
            y_scale=data.y_scale,
            guarantee=promise_of(guarantee),
            reading=reading_for(data.y_kind),
            distances=self._distances,
        )

    def _known(self, counts: Counts) -> KnownCounts:
        """Of public inputs."""
        places = self._grid.places if isinstance(self._grid, OccupiedGrid) else NOTHING
        return KnownCounts(numbers=counts.mean, people=self._weights is not None, places=places)

    def _residuals(self, g: FloatArray) -> FloatArray:
        """Of every record about g, given at the nodes (1, F)."""
        return self._y - self._at(g[0])

    def _measured(self, measurement: Measurement, values: FloatArray) -> FloatArray:
        """Z (r,) of the records' values, with the reader's noise."""
        if self._rng is None:
            return measurement.measure(values, cells=self._cells, weights=self._weights)
        return np.asarray(measurement.teaching(values, self._rng, cells=self._cells, weights=self._weights)[0])


def _measured_distances(
    query: Distances, g: FloatArray, residuals: FloatArray, measure: Callable[[Measurement, FloatArray], FloatArray]
) -> MeasuredDistances:
    """Distances to g (n,) or (F,), from the records' residuals about it, and how many of these are above 0."""
    ones, above = np.ones((1, query.B.shape[1])), None
    measurement = from_zero(query.B, query.reach[0] * ones[0], (0.0, float(query.reach[0])), query.s)
    z = measure(measurement, np.abs(residuals))
    if query.above is not None:
        count = from_zero(ones, ones[0], (0.0, 1.0), query.above[0])
        above = Above(measurement=count, z=measure(count, (residuals > 0).astype(float)))
    return MeasuredDistances(measurement=measurement, g=g, sd=float(query.sd[0]), z=z, above=above)


def distances_of(measured: MeasuredDistances) -> Distances:
    """The same numbers as one draw."""
    above, m = measured.above, measured.measurement
    count = None if above is None else (above.measurement.noise_sd, above.z)
    return Distances(m.B, np.array([measured.reach]), np.array([measured.sd]), m.noise_sd, measured.z[None], count)


def measured_of(statistics: Statistics | CellStatistics) -> Measured:
    """One release as the engine reads it, in model units."""
    distances = None if statistics.distances is None else distances_of(statistics.distances)
    if isinstance(statistics, Statistics):
        stages = (_observed(stage, statistics.midpoint, statistics.y_scale) for stage in statistics.stages)
        return Measured(tuple(stages), distances)
    released = statistics.counts
    counts = released if isinstance(released, CellCounts) else known_counts(released.numbers)
    measured = statistics.positions
    positions = None if measured is None else Positions(measured.measurement.noise_sd, measured.z)
    return Measured(tuple(map(_observed_cells, statistics.stages)), distances, counts, statistics.z, positions)


def public_of(statistics: Statistics) -> Public | None:
    """Bounds and box for a reading of the stages; None where outcomes are read as normal."""
    if statistics.reading == "normal outcomes":
        return None
    low, high = statistics.bounds
    kind: Kind = "yes/no" if statistics.reading == "yes/no" else "number"
    return Public(statistics.x_box, (high - low) / statistics.y_scale / 2, kind)


def _observed(stage: Stage, midpoint: float, y_scale: float) -> Observation:
    """A stage over records in model units."""
    m = stage.measurement
    low, high = ((end - midpoint)[None] / y_scale for end in (m.low, m.high))
    squares = None if stage.squares is None else _squares(stage.squares)
    return Observation(m.B, low, high, m.noise_sd, stage.z[None], squares)


def _squares(squares: StageSquares) -> Squares:
    """Squares over records."""
    m = squares.measurement
    return Squares(squares.g[None], m.high[None], m.noise_sd, squares.z)


def _observed_cells(stage: Stage) -> Observation:
    """A stage over cells."""
    m, g, squares = stage.measurement, stage.g[None], None
    if stage.squares is not None:
        of_squares = stage.squares.measurement
        squares = Squares(g, of_squares.high[None], of_squares.noise_sd, stage.squares.z)
    return Observation(m.B, m.low[None], m.high[None], m.noise_sd, stage.z[None], squares, g)
