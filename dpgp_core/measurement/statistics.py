"""What a release keeps of its measurements: strategies, clipping intervals, noise multipliers and noisy numbers.

Everything that is computed from them is post-processing. A strategy has one column for each record in ``Statistics``,
and one for each public bin, a cell or a cluster of records, in ``CellStatistics``.
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

OutcomeModel = Literal["any outcomes", "yes/no"]
"""Model with which sums of clipped outcomes are interpreted: for outcomes of any kind, or for outcomes 0 and 1."""

_OFF = 1e-9  # tolerance for rounding errors of sums of node weights, relative to the number of records
_PLACES = 1.875**3  # largest weight of one record at a node, for a record in a corner of a cell with three sides
_STAR = 2.25  # largest weight of one record at the central node of a star, for each of its sides
NODES = 3  # number of nodes along each numerical side of a cell


def cells_along(box: Sequence[Interval], per_side: int, periods: Periods = ()) -> tuple[int, ...]:
    """Return the number of cells along each side, ``per_side`` or one per category, then those of each period."""
    along = tuple(side.levels if isinstance(side, LevelSide) else per_side for side in box)
    return along + phase_cells(periods)


def nodes_along(box: Sequence[Interval], per_side: int, periods: Periods = ()) -> tuple[int, ...]:
    """Return the number of nodes along each side: three per cell, or one for each category."""
    return cells_along(box, NODES * per_side) + tuple(NODES * cells for cells in phase_cells(periods))


def split_by_cell(cells: Sequence[int], nodes: Sequence[int]) -> tuple[int, ...]:
    """Return a shape with two axes for each side: its cells, and the nodes within a cell."""
    return tuple(count for each, fine in zip(cells, nodes, strict=True) for count in (each, fine // each))


def sizes_of(box: Sequence[Interval], per_side: int, periods: Periods) -> tuple[int, int]:
    """Return the number of cells and the number of nodes of a box."""
    return math.prod(cells_along(box, per_side, periods)), math.prod(nodes_along(box, per_side, periods))


def nodes_of_cluster(numbers: int) -> int:
    """Return the number of nodes of a cluster with so many numerical sides.

    With at most two sides the nodes form a grid of three along each side; with more they form a star, two nodes on each
    axis through a central one.
    """
    return NODES**numbers if numbers <= 2 else 1 + 2 * numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class StageSquares:
    """Noisy sum of clipped squared residuals, sum_j min((y_j - g_j)^2, high_j) / high_j - 1/2 plus noise. It is public.

    Args:
        measurement: measurement of the squares, with one row and intervals [0, high] in squared model units.
        g: the curve estimated from earlier stages, in model units, at the nodes of the bins (F,).
        z: the noisy sum (1,).

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
    """One measurement and its noisy numbers. They are public.

    Args:
        measurement: strategy, clipping intervals and noise, which were fixed in advance or computed from earlier
            stages. In ``CellStatistics``, residuals are measured, in model units.
        z: the noisy numbers (r,).
        g: in ``CellStatistics``, the curve that was subtracted from the outputs, in model units, at the nodes of the
            bins (F,). Between nodes it is linear, or quadratic within a cell if locations are known. Empty if
            outputs themselves were measured.
        squares: clipped squared residuals of the same records, if they were measured.

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
    """Noisy number of outcomes above the curve, as sum_j (1{y_j > g_j} - 1/2) plus noise. It is public.

    Args:
        measurement: measurement of the indicators, with one row and intervals [0, 1].
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
    """Noisy sums of clipped absolute residuals min(|y_j - g_j|, theta), which identify the dispersion. They are public.

    Args:
        measurement: measurement of the absolute residuals, with the interval [0, theta] in model units in all bins.
        g: the curve estimated from earlier stages, in model units, at the nodes of the bins (F,).
        sd: residual standard deviation estimated from earlier stages, in model units.
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
            raise ValueError("distances must all be clipped at the same threshold and begin at 0")
        if not (np.isfinite(self.sd) and self.sd > 0):
            raise ValueError(f"sd of distances must be a positive number, got {self.sd}")

    @property
    def B(self) -> FloatArray:
        """Strategy (r, M)."""
        return self.measurement.B

    @property
    def threshold(self) -> float:
        """Clipping threshold theta, in model units."""
        return float(self.measurement.high[0])


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredLocations:
    """Noisy sums of the locations of records within each cell. They are public.

    Along each numerical side, the location t of a record increases from 0 to 1 across its cell; t - 1/2 is summed.

    Args:
        measurement: measurement along one side, with a sum for each cell and intervals [0, 1].
        z: the noisy sums (sides, M), along all numerical sides.

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
    """Conversion between the unit of the output and model units, (y - midpoint) / y_scale."""

    bounds: tuple[float, float]
    y_scale: float

    @property
    def midpoint(self) -> float:
        """Public centre of the output, in its unit."""
        low, high = self.bounds
        return low + (high - low) / 2

    @property
    def half_range(self) -> float:
        """Half the width of the public bounds, in model units."""
        return (self.bounds[1] - self.bounds[0]) / self.y_scale / 2


@dataclass(frozen=True, kw_only=True, eq=False)
class Released(_InUnits, Inputs):
    """Base class of released statistics: stages, with the units and the box that describe them.

    It contains neither private values nor seeds.

    Args:
        stages: all stages, in the order in which they were measured; at least one.
        y_name: name of the output.
        y_scale: public constant > 0 by which outputs are divided.
        guarantee: guarantee of all stages together, as plain JSON values.

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
        """All measurements of outputs with their noisy numbers, in the order of the stages."""
        return tuple((stage.measurement, stage.z) for stage in self.stages)

    @property
    def measurements(self) -> tuple[Measurement | LaplaceMeasurement, ...]:
        """All measurements of outputs."""
        return tuple(measurement for measurement, _ in self.measured)


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics(Released):
    """Statistics of a release whose strategies have a column for each record.

    Args:
        X: public inputs of the n records (n, D), in input units.

    Attributes:
        bounds: declared (low, high) of the output, the same in every stage.
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
    """Statistics of a release in which records are divided into M bins: cells of the box, or clusters of public inputs.

    The strategies have a column for each bin.

    Args:
        counts: strategy and noise with which records were counted, or the counts themselves if inputs are public.
        z: the noisy counts (r,); empty if counts are public.
        n: public number of records, or of people if they count once each.
        per_side: number of cells along each numerical side of the box; None if the bins are clusters. Along a
            categorical side there is a cell for each category. Phases of periods divide the cells further.
        bounds: declared (low, high) of the output.
        outcome_model: kind of outcomes that the stages were made for.
        distances: clipped absolute residuals, if they were measured.
        periods: period of each input, None for an input without one; () if no input has one.
        clusters: low and high end of each cluster along each side, phases included (2, M, S); None if the bins are
            cells.
        locations: locations of records within their cells, if they were measured.

    Raises:
        ValueError: shapes disagree, or the parts do not fit each other.
    """

    counts: CellCounts | KnownCounts
    z: FloatArray
    n: int
    per_side: int | None
    bounds: tuple[float, float]
    outcome_model: OutcomeModel = "any outcomes"
    distances: MeasuredDistances | None = None
    periods: Periods = ()
    clusters: FloatArray | None = None
    locations: MeasuredLocations | None = None

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
        if self.locations is not None and len(self.locations.z) != sides:
            raise ValueError(f"positions must have {sides} rows, one for each side of numbers")
        if any(len(g) != nodes for g in curves):
            raise ValueError(f"every g must have {nodes} values, one per node of the box")

    @property
    def measured(self) -> tuple[tuple[Measurement | LaplaceMeasurement, FloatArray], ...]:
        """All measurements with their noisy numbers, those of squares, distances and locations included."""
        squares = (stage.squares for stage in self.stages)
        above = None if self.distances is None else self.distances.above
        parts = [(part.measurement, part.z) for part in (*squares, self.distances, above) if part is not None]
        locations = () if self.locations is None else ((self.locations.measurement, row) for row in self.locations.z)
        return (*super().measured, *parts, *locations)

    @property
    def mu(self) -> float:
        """Smallest mu for which the noise of all measurements together is mu-GDP for one record, or one person."""
        noisy = [measurement for measurement, _ in self.measured]
        if not all(isinstance(each, Measurement) for each in noisy):
            return math.inf
        parts = [
            each.noise_multiplier**-2 for each in (self.counts, *noisy) if isinstance(each, CellCounts | Measurement)
        ]
        return math.sqrt(math.fsum(parts))

    @property
    def _numbers(self) -> list[int]:
        """Indices of the numerical sides, phases included."""
        return [d for d, side in enumerate(lifted_box(self.x_box, self.periods)) if not isinstance(side, LevelSide)]

    def _sizes(self) -> tuple[int, int]:
        """Return the number of bins and the number of nodes, after checking the clusters."""
        if self.per_side is not None:
            return sizes_of(self.x_box, self.per_side, self.periods)
        assert self.clusters is not None
        if not isinstance(self.counts, KnownCounts) or self.locations is not None:
            raise ValueError("clusters need public inputs, whose counts and places are known and not measured")
        sides, ends = lifted_box(self.x_box, self.periods), self.clusters
        if ends.ndim != 3 or ends.shape[0] != 2 or ends.shape[1] < 1 or ends.shape[2] != len(sides):
            raise ValueError(f"clusters must have the shape (2, M, {len(sides)}), got {ends.shape}")
        (low, high), categories = np.array(sides).T, [d for d in range(len(sides)) if d not in self._numbers]
        within = (low <= ends[0]).all() and (ends[0] <= ends[1]).all() and (ends[1] <= high).all()
        if not (np.isfinite(ends).all() and within):
            raise ValueError("the ends of the clusters must lie within the box, the low one first")
        levels = ends[:, :, categories]
        if (levels[0] != levels[1]).any() or (levels != np.rint(levels)).any():
            raise ValueError("every cluster must belong to one category")
        if not (self.counts.numbers > 0).all():
            raise ValueError("every cluster must hold a record")
        return ends.shape[1], ends.shape[1] * nodes_of_cluster(len(self._numbers))

    def _check_known(self, counts: KnownCounts, nodes: int) -> None:
        """Raise ValueError unless public counts add up to n, and the node weights of each cell to its count."""
        if counts.numbers.sum() != self.n:
            raise ValueError(f"the counts must add up to {self.n} records, not {counts.numbers.sum():g}")
        _check("places", counts.node_sums, nodes)
        largest = max(_PLACES, _STAR * len(self._numbers))
        if self.per_side is None:
            by_cell = counts.node_sums.reshape(len(counts.numbers), -1)
        else:
            given = self.x_box, self.per_side, self.periods
            by_cell = counts.node_sums.reshape(split_by_cell(cells_along(*given), nodes_along(*given)))
        of_nodes = tuple(range(1, by_cell.ndim, 2))
        sums, most = by_cell.sum(axis=of_nodes).ravel(), np.abs(by_cell).max(axis=of_nodes).ravel()
        if (np.abs(sums - counts.numbers) > _OFF * self.n).any() or (most > largest * (counts.numbers + _OFF)).any():
            raise ValueError("the places in a cell must add up to its number of records")


def _check(name: str, values: FloatArray, length: int) -> None:
    if values.shape != (length,) or not np.isfinite(values).all():
        raise ValueError(f"{name} must be {length} finite numbers, got shape {values.shape}")
