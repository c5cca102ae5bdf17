"""The released statistic: measurements and their noisy numbers. Everything after it is free.

It is of records, each with a column of its own, or of public cells, where the records of a cell share one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..arrays import FloatArray
from ..levels import Interval, LevelSide, check_codes
from ..seasons import Periods, lifted_box, phase_cells
from ..table import Inputs
from .measurement import CellCounts, KnownCounts, LaplaceMeasurement, Measurement

Reading = Literal["any outcomes", "yes/no"]
"""Clipped sums are read as those of outcomes of any kind, or of outcomes that are 0 or 1."""

_OFF = 1e-9  # of the records, by which rounding puts sums of places off
_PLACES = 1.875**3  # weight of one record at a node at most: in a corner of a cell of three sides
_STAR = 2.25  # the same at the middle of a star, for each of its sides
NODES = 3  # to a cell and side that is of numbers, for public functions


def cells_along(box: Sequence[Interval], per_side: int, periods: Periods = ()) -> tuple[int, ...]:
    """Cells along each side of a box: ``per_side``, or one for each level; then those of each period."""
    along = tuple(side.levels if isinstance(side, LevelSide) else per_side for side in box)
    return along + phase_cells(periods)


def nodes_along(box: Sequence[Interval], per_side: int, periods: Periods = ()) -> tuple[int, ...]:
    """Nodes along each side: three to a cell, or one for each level."""
    return cells_along(box, NODES * per_side) + tuple(NODES * cells for cells in phase_cells(periods))


def split_by_cell(cells: Sequence[int], nodes: Sequence[int]) -> tuple[int, ...]:
    """Cells, and nodes of each, along each side in turn: a shape in which every second axis is within cells."""
    return tuple(count for each, fine in zip(cells, nodes, strict=True) for count in (each, fine // each))


def sizes_of(box: Sequence[Interval], per_side: int, periods: Periods) -> tuple[int, int]:
    """Numbers of cells and of nodes of a box."""
    return math.prod(cells_along(box, per_side, periods)), math.prod(nodes_along(box, per_side, periods))


def nodes_of_cluster(numbers: int) -> int:
    """Number of nodes in a cluster of so many sides of numbers: all products of three along up to two, else a star."""
    return NODES**numbers if numbers <= 2 else 1 + 2 * numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class StageSquares:
    """One number of squares about a public curve, sum_j min((y_j - g_j)^2, high_j) / high_j - 1/2 plus noise. Public.

    Args:
        measurement: of the squares, one row; intervals [0, high] in squared model units.
        g: the curve, in model units, from earlier stages' z, at the nodes of the columns (F,).
        z: the noisy number (1,).

    Raises:
        ValueError: there is more than one row, or a number does not fit or is not finite.
    """

    measurement: Measurement
    g: FloatArray
    z: FloatArray

    def __post_init__(self) -> None:
        if len(self.measurement.B) != 1:
            raise ValueError(f"squares must be one number, got {len(self.measurement.B)} rows")
        _check("z of squares", self.z, 1)
        _check("g of squares", self.g, len(self.g))


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """One measurement and its noisy numbers. Public.

    Args:
        measurement: strategy, intervals and noise, fixed before the outputs were read or from earlier stages' z; over
            cells of residuals, in model units.
        z: the noisy numbers (r,).
        g: over cells the curve subtracted from outputs (F,), in model units: values at nodes that divide each cell's
            sides in three, linear between them, or of second degree within a cell where people's places are known. None
            where outputs themselves were measured.
        squares: of the same records, if they were measured.

    Raises:
        ValueError: z does not fit the strategy, or a number is not finite.
    """

    measurement: Measurement | LaplaceMeasurement
    z: FloatArray
    g: FloatArray = field(default_factory=lambda: np.zeros(0))
    squares: StageSquares | None = None

    def __post_init__(self) -> None:
        _check("z", self.z, len(self.measurement.B))
        _check("g", self.g, len(self.g))


@dataclass(frozen=True, kw_only=True, eq=False)
class Above:
    """One number: how many outcomes lie above the curve, sum_j (1{y_j > g_j} - 1/2) plus noise. Public.

    Args:
        measurement: of the indicators, one row; intervals [0, 1].
        z: the noisy number (1,).

    Raises:
        ValueError: there is more than one row, or the number does not fit or is not finite.
    """

    measurement: Measurement
    z: FloatArray

    def __post_init__(self) -> None:
        _check("the number above the curve", self.z, 1)
        if len(self.measurement.B) != 1:
            raise ValueError(f"the number above the curve must be one, got {len(self.measurement.B)} rows")


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredDistances:
    """Noisy sums of distances min(|y_j - g_j|, A), of how far people are apart. Public.

    Args:
        measurement: of the distances; intervals [0, A] in model units, A for all.
        g: the curve, in model units, from earlier stages' z, at the nodes of the columns (F,).
        sd: of people about the curve as far as earlier stages know, in model units.
        z: the noisy sums (r,).
        above: number of outcomes above the curve, if it was measured.

    Raises:
        ValueError: z does not fit the strategy, the intervals differ, or a number is not finite or not positive.
    """

    measurement: Measurement
    g: FloatArray
    sd: float
    z: FloatArray
    above: Above | None = None

    def __post_init__(self) -> None:
        _check("z of distances", self.z, len(self.measurement.B))
        _check("g of distances", self.g, len(self.g))
        low, high = self.measurement.low, self.measurement.high
        if (low != 0).any() or (high != high[0]).any():
            raise ValueError("distances must all be cut at the same reach and begin at 0")
        if not (np.isfinite(self.sd) and self.sd > 0):
            raise ValueError(f"sd of distances must be a positive number, got {self.sd}")

    @property
    def B(self) -> FloatArray:
        """Strategy (r, M)."""
        return self.measurement.B

    @property
    def reach(self) -> float:
        """A, in model units."""
        return float(self.measurement.high[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredPositions:
    """Noisy sums of t - 1/2 over the records of each cell, t from 0 to 1 along a side of it. Public.

    Args:
        measurement: of one side, each cell by itself; intervals [0, 1].
        z: the noisy sums (sides, M), along all sides of numbers.

    Raises:
        ValueError: z does not fit, or a number is not finite.
    """

    measurement: Measurement
    z: FloatArray

    def __post_init__(self) -> None:
        cells = len(self.measurement.B)
        if self.z.ndim != 2 or not len(self.z):
            raise ValueError(f"positions must have a row for each side, got shape {self.z.shape}")
        for row in self.z:
            _check("z of positions", row, cells)


class _InUnits:
    """Units of a release: models are of (y - midpoint) / y_scale."""

    bounds: tuple[float, float]
    y_scale: float

    @property
    def midpoint(self) -> float:
        """Public centre of the output, in its unit."""
        low, high = self.bounds
        return low + (high - low) / 2

    @property
    def half_range(self) -> float:
        """Half the public range of the outputs, in model units."""
        return (self.bounds[1] - self.bounds[0]) / self.y_scale / 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Released(_InUnits, Inputs):
    """Common part of the two below: stages, and units and box to map them. It holds no private value, no seed.

    Args:
        stages: in the order measured; at least one.
        y_name, y_unit: name and unit of the output.
        y_scale: public constant, > 0.
        guarantee: the promise for all stages together, as plain JSON values.

    Raises:
        ValueError: shapes disagree, or a value cannot be written to a file.
    """

    stages: tuple[Stage, ...]
    y_name: str
    y_unit: str
    y_scale: float
    guarantee: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError("statistics must have at least one stage")
        if not (math.isfinite(self.y_scale) and self.y_scale > 0):
            raise ValueError(f"y_scale must be a positive number, got {self.y_scale}")
        try:
            json.dumps(dict(self.guarantee), allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("the guarantee must be of texts, finite numbers, and lists and objects of them") from None

    @property
    def measured(self) -> tuple[tuple[Measurement | LaplaceMeasurement, FloatArray], ...]:
        """All measurements of outputs, with their noisy numbers: sums of every stage."""
        return tuple((stage.measurement, stage.z) for stage in self.stages)

    @property
    def measurements(self) -> tuple[Measurement | LaplaceMeasurement, ...]:
        """All measurements of outputs."""
        return tuple(measurement for measurement, _ in self.measured)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics(Released):
    """All stages of one release over records.

    Args:
        X: the public place of each column (n, D), in input units; all stages are of these n columns.

    Attributes:
        bounds: declared (low, high) of the output, those of every stage.
    """

    X: FloatArray
    bounds: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        first, dim = self.stages[0].measurement, len(self.x_box)
        n = first.B.shape[1]
        object.__setattr__(self, "bounds", first.bounds)
        if self.X.shape != (n, dim) or dim < 1 or not np.isfinite(self.X).all():
            raise ValueError(
                f"X must be a finite matrix ({n}, {dim}) to match strategies and box, got shape {self.X.shape}"
            )
        check_codes(self.X, self.x_box, self.x_names)
        if any(stage.measurement.B.shape[1] != n or stage.measurement.bounds != self.bounds for stage in self.stages):
            raise ValueError("all stages must have the same number of columns and the same bounds")


@dataclass(frozen=True, kw_only=True, eq=False)
class CellStatistics(Released):
    """All of one release over public columns: cells of the box, or clusters of records with public inputs.

    Args:
        counts: strategy and noise of the counts; the counts themselves where inputs are public.
        z: the noisy counts (r,); none where they are public.
        per_side: cells along each side of the box that is of numbers; along a category there is one for each level, and
            all are divided by periods. None where the columns are clusters.
        clusters: low and high end of each cluster along each side, periods included (2, M, S); None where the columns
            are cells.
        bounds: declared (low, high) of the output.
        reading: kind of outcomes that the stages were made for.
        distances: of the outcomes to the curve, if they were measured.
        periods: of each input, whose phase divides the cells too; () where none has one.
        positions: of records in their cells, if they were measured.
    """

    counts: CellCounts | KnownCounts
    z: FloatArray
    n: int
    per_side: int | None
    bounds: tuple[float, float]
    reading: Reading = "any outcomes"
    distances: MeasuredDistances | None = None
    periods: Periods = ()
    clusters: FloatArray | None = None
    positions: MeasuredPositions | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n < 1:
            raise ValueError(f"n must be at least 1, got {self.n}")
        counts = self.counts
        _check("z", self.z, len(counts.B) if isinstance(counts, CellCounts) else 0)
        if (self.per_side is None) == (self.clusters is None):
            raise ValueError("the columns must be cells or clusters: give per_side or clusters, and not both")
        cells, nodes = self._sizes()
        columns = counts.B.shape[1] if isinstance(counts, CellCounts) else len(counts.numbers)
        if {columns, *(each.B.shape[1] for each in self.measurements)} != {cells}:
            raise ValueError(f"every strategy must have {cells} columns, one per cell of the box")
        if isinstance(counts, KnownCounts):
            self._check_known(counts, nodes)
        curves = [stage.g for stage in self.stages] + ([] if self.distances is None else [self.distances.g])
        sides = len(self._numbers)
        if self.positions is not None and len(self.positions.z) != sides:
            raise ValueError(f"positions must have {sides} rows, one for each side of numbers")
        if any(len(g) != nodes for g in curves):
            raise ValueError(f"every g must have {nodes} values, one per node of the box")

    @property
    def measured(self) -> tuple[tuple[Measurement | LaplaceMeasurement, FloatArray], ...]:
        """See ``Released``; and squares, distances, and locations, a measurement for each side."""
        squares = (stage.squares for stage in self.stages)
        above = None if self.distances is None else self.distances.above
        parts = [(part.measurement, part.z) for part in (*squares, self.distances, above) if part is not None]
        positions = () if self.positions is None else ((self.positions.measurement, row) for row in self.positions.z)
        return (*super().measured, *parts, *positions)

    @property
    def _numbers(self) -> list[int]:
        """Sides that are of numbers, or phases."""
        return [d for d, side in enumerate(lifted_box(self.x_box, self.periods)) if not isinstance(side, LevelSide)]

    def _sizes(self) -> tuple[int, int]:
        """Numbers of columns and of nodes."""
        if self.per_side is not None:
            return sizes_of(self.x_box, self.per_side, self.periods)
        assert self.clusters is not None
        if not isinstance(self.counts, KnownCounts) or self.positions is not None:
            raise ValueError("the inputs of clusters are public: their counts and places are known, and not measured")
        sides, ends = lifted_box(self.x_box, self.periods), self.clusters
        if ends.ndim != 3 or ends.shape[0] != 2 or ends.shape[1] < 1 or ends.shape[2] != len(sides):
            raise ValueError(f"clusters must have the shape (2, M, {len(sides)}), got {ends.shape}")
        (low, high), categories = np.array(sides).T, [d for d in range(len(sides)) if d not in self._numbers]
        within = (low <= ends[0]).all() and (ends[0] <= ends[1]).all() and (ends[1] <= high).all()
        if not (np.isfinite(ends).all() and within):
            raise ValueError("the ends of the clusters must lie within the box, the low one first")
        levels = ends[:, :, categories]
        if (levels[0] != levels[1]).any() or (levels != np.rint(levels)).any():
            raise ValueError("every cluster must be of one level of a category")
        if not (self.counts.numbers > 0).all():
            raise ValueError("every cluster must hold a record")
        return ends.shape[1], ends.shape[1] * nodes_of_cluster(len(self._numbers))

    def _check_known(self, counts: KnownCounts, nodes: int) -> None:
        """Raise ValueError unless the numbers add up to n, and the places of each cell to its number."""
        if counts.numbers.sum() != self.n:
            raise ValueError(f"the counts must add up to {self.n} records, not {counts.numbers.sum():g}")
        _check("places", counts.places, nodes)
        largest = max(_PLACES, _STAR * len(self._numbers))
        if self.per_side is None:
            by_cell = counts.places.reshape(len(counts.numbers), -1)
        else:
            given = self.x_box, self.per_side, self.periods
            by_cell = counts.places.reshape(split_by_cell(cells_along(*given), nodes_along(*given)))
        of_nodes = tuple(range(1, by_cell.ndim, 2))
        sums, most = by_cell.sum(axis=of_nodes).ravel(), np.abs(by_cell).max(axis=of_nodes).ravel()
        if (np.abs(sums - counts.numbers) > _OFF * self.n).any() or (most > largest * (counts.numbers + _OFF)).any():
            raise ValueError("the places in a cell must add up to its number of records")


def _check(name: str, values: FloatArray, length: int) -> None:
    if values.shape != (length,) or not np.isfinite(values).all():
        raise ValueError(f"{name} must be {length} finite numbers, got shape {values.shape}")
