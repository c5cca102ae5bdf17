"""The curator: the only part of Bayes cloaking that sees records. It answers public queries with noisy numbers.

A real release is measured in integers with exact noise, and a simulated one in floating-point numbers with noise from a
seeded generator. Nothing else sees an outcome or, if inputs are private, an input. The curator also makes the
``CellStatistics`` that a file stores, and ``measured_of`` converts them back into queries with answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..accounting.guarantee import Guarantee, guarantee_fields
from ..arrays import FloatArray
from ..measurement.integers import person_weights
from ..measurement.measurement import CellCounts, KnownCounts, Measurement, from_zero
from ..measurement.statistics import Above, CellStatistics, MeasuredDistances, MeasuredLocations, Stage, StageSquares
from ..table import Dataset
from .cells import LocatedGrid
from .clusters import Bins, Clusters
from .counts import Locations, RecordCounts, known_counts
from .queries import Distances, Measured, Squares, StageMeasurement
from .settings import outcome_model_for


class Curator:
    """Answers queries from the records of a data set, in one pass over the records for each measurement.

    The values that a record contributes are computed from that record alone.

    Args:
        dataset: the data set, which supplies inputs, outcomes, bounds and units.
        bins: the bins into which records are divided.
        rng: None for a real release, in which each call spends budget; a generator for a simulated release.
    """

    def __init__(self, dataset: Dataset, bins: Bins, rng: np.random.Generator | None) -> None:
        self._dataset, self._y, self._bins, self._rng = dataset, dataset.standardised(), bins, rng
        self._cells, self._at = bins.index(dataset.X), bins.at(dataset.X)
        self._weights = None if dataset.person is None else person_weights(dataset.person)
        self._stages: list[Stage] = []
        self._distances: MeasuredDistances | None = None
        self._locations: MeasuredLocations | None = None

    def counts(self, measurement: CellCounts) -> FloatArray:
        """Return noisy numbers of records in the cells (M,)."""
        if self._rng is None:
            return measurement.measure(self._cells, weights=self._weights)
        return np.asarray(measurement.teaching(self._cells, self._rng, weights=self._weights)[0])

    def locations(self, query: Locations) -> Locations:
        """Return the query with noisy sums of the locations of records within cells."""
        X, cells = self._dataset.X, self._bins.size
        measurement = from_zero(np.eye(cells), np.ones(cells), (0.0, 1.0), query.s)
        z = np.array([self._measured(measurement, t) for t in self._bins.offsets(X)[self._bins.numeric_sides]])
        self._locations, self._at = MeasuredLocations(measurement=measurement, z=z), self._bins.polynomial(X)
        return query._replace(s=measurement.noise_sd, z=z)

    def sums(self, query: StageMeasurement) -> StageMeasurement:
        """Return the query of a stage with noisy sums of clipped residuals."""
        most, s = self._dataset.output_range / self._dataset.y_scale, query.s
        measurement = Measurement(B=query.B, low=query.low, high=query.high, bounds=(-most, most), noise_multiplier=s)
        z = self._measured(measurement, self._residuals(query.g))
        self._stages.append(Stage(measurement=measurement, g=query.g, z=z))
        return _stage_of(self._stages[-1])._replace(width=query.width)

    def squares(self, query: Squares) -> Squares:
        """Return the query with the noisy sum of clipped squared residuals. It belongs to the last stage."""
        limit = (self._dataset.output_range / self._dataset.y_scale) ** 2
        high = np.minimum(query.high, limit)
        measurement = from_zero(np.ones((1, len(high))), high, (0.0, limit), query.s)
        z = self._measured(measurement, self._residuals(query.g) ** 2)
        squares = StageSquares(measurement=measurement, g=query.g, z=z)
        self._stages[-1] = replace(self._stages[-1], squares=squares)
        return _squares_of(squares, query.g)

    def distances(self, query: Distances, g: FloatArray) -> Distances:
        """Return the query with noisy sums of clipped absolute residuals about g, which is given at the nodes (F,).

        The number of outcomes above g is also measured if the query asks for it.
        """
        residuals, ones, above = self._residuals(g), np.ones((1, query.B.shape[1])), None
        measurement = from_zero(query.B, query.threshold * ones[0], (0.0, query.threshold), query.s)
        z = self._measured(measurement, np.abs(residuals))
        if query.above is not None:
            count = from_zero(ones, ones[0], (0.0, 1.0), query.above[0])
            above = Above(measurement=count, z=self._measured(count, (residuals > 0).astype(float)))
        self._distances = MeasuredDistances(measurement=measurement, g=g, sd=query.sd, z=z, above=above)
        return _distances_of(self._distances)

    def statistics(self, measured: Measured, guarantee: Guarantee) -> CellStatistics:
        """Return all measurements as a statistic, with their guarantee and the public part of the data set.

        Args:
            measured: supplies the counts, exact or noisy. All other measurements are those that this curator has made.
            guarantee: the guarantee for all measurements together.
        """
        data, counts, bins = self._dataset, measured.counts, self._bins
        assert counts is not None
        return CellStatistics(
            counts=counts if isinstance(counts, CellCounts) else self._known(counts),
            z=measured.z,
            locations=self._locations,
            stages=tuple(self._stages),
            n=data.people,
            per_side=None if isinstance(bins, Clusters) else bins.per_side,
            clusters=bins.ends if isinstance(bins, Clusters) else None,
            periods=bins.periods,
            columns=data.columns,
            y_name=data.y_name,
            y_unit=data.y_unit,
            bounds=data.y_bounds,
            y_scale=data.y_scale,
            guarantee=guarantee_fields(guarantee),
            outcome_model=outcome_model_for(data.y_kind),
            distances=self._distances,
        )

    def _known(self, counts: RecordCounts) -> KnownCounts:
        """Return the counts of records with public inputs as a statistic."""
        assert isinstance(self._bins, LocatedGrid | Clusters)
        return KnownCounts(numbers=counts.mean, people=self._weights is not None, node_sums=self._bins.node_sums)

    def _residuals(self, g: FloatArray) -> FloatArray:
        """Return the residuals (n,) of all records about g, which is given at the nodes (F,)."""
        return self._y - self._at(g)

    def _measured(self, measurement: Measurement, values: FloatArray) -> FloatArray:
        """Return noisy sums (r,) of the values (n,) of all records."""
        if self._rng is None:
            return measurement.measure(values, cells=self._cells, weights=self._weights)
        return np.asarray(measurement.teaching(values, self._rng, cells=self._cells, weights=self._weights)[0])


def measured_of(statistics: CellStatistics) -> Measured:
    """Convert released statistics into queries with answers, in model units, as the filter expects them."""
    distances = None if statistics.distances is None else _distances_of(statistics.distances)
    released, located = statistics.counts, statistics.locations
    counts = released if isinstance(released, CellCounts) else known_counts(released.numbers)
    locations = None if located is None else Locations(located.measurement.noise_sd, located.z)
    return Measured(tuple(map(_stage_of, statistics.stages)), distances, counts, statistics.z, locations)


def _distances_of(measured: MeasuredDistances) -> Distances:
    above, m = measured.above, measured.measurement
    count = None if above is None else (above.measurement.noise_sd, float(above.z[0]))
    return Distances(m.B, measured.threshold, measured.sd, m.noise_sd, measured.z, count)


def _stage_of(stage: Stage) -> StageMeasurement:
    m, squares = stage.measurement, stage.squares
    found = None if squares is None else _squares_of(squares, stage.g)
    return StageMeasurement(m.B, m.low, m.high, m.noise_sd, stage.g, stage.z, found)


def _squares_of(squares: StageSquares, g: FloatArray) -> Squares:
    m = squares.measurement
    return Squares(g, m.high, m.noise_sd, float(squares.z[0]))
