"""The released statistic over public cells: counts, noisy where inputs are private, and noisy residual sums."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..levels import Interval, Levels, LevelSide, check_levels, whole_box
from ..seasons import Periods, phase_cells
from .cells import CellCounts, CellResiduals
from .distances import MeasuredDistances
from .integers import GRID
from .measurement import Measurement
from .statistics import Reading, check_described

NODES = 3  # to a cell and side that is of numbers: where the public functions are given


def cells_along(box: Sequence[Interval], per_side: int, periods: Periods = ()) -> tuple[int, ...]:
    """Cells along each side of a box: ``per_side``, or one for each level; then those of each period."""
    along = tuple(side.levels if isinstance(side, LevelSide) else per_side for side in box)
    return along + phase_cells(periods)


def nodes_along(box: Sequence[Interval], per_side: int, periods: Periods = ()) -> tuple[int, ...]:
    """Nodes along each side: three to a cell, or one for each level."""
    return cells_along(box, NODES * per_side) + tuple(NODES * cells for cells in phase_cells(periods))


def sizes_of(box: Sequence[Interval], per_side: int, periods: Periods) -> tuple[int, int]:
    """Numbers of cells and of nodes of a box."""
    return math.prod(cells_along(box, per_side, periods)), math.prod(nodes_along(box, per_side, periods))


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownCounts:
    """Numbers of records in M public cells where inputs are public: nothing is measured of them.

    Args:
        numbers: whole numbers >= 0 (M,); of people who count once each, multiples of 2^-20.
        people: whether they are of people.

    Raises:
        ValueError: they are not.
    """

    numbers: FloatArray
    people: bool = False

    def __post_init__(self) -> None:
        _check("numbers", self.numbers, len(self.numbers))
        steps = self.numbers * (GRID if self.people else 1)
        if (steps < 0).any() or (steps != np.rint(steps)).any():
            raise ValueError("numbers of records must be whole and not negative")


@dataclass(frozen=True, kw_only=True, eq=False)
class CellSquares:
    """One number of squared residuals, sum_j min(r_j^2, high) / high - 1/2 plus noise. Public.

    Args:
        measurement: of r^2, one row; intervals [0, high] in squared model units.
        z: the noisy number (1,).

    Raises:
        ValueError: there is more than one row, or z does not fit or is not finite.
    """

    measurement: CellResiduals
    z: FloatArray

    def __post_init__(self) -> None:
        _check("z of squares", self.z, 1)
        if len(self.measurement.B) != 1:
            raise ValueError(f"squares must be one number, got {len(self.measurement.B)} rows")


@dataclass(frozen=True, kw_only=True, eq=False)
class CellStage:
    """One measurement of residuals and what came of it. Public.

    Args:
        measurement: strategy, intervals (model units) and noise, a function of earlier stages' z.
        g: what residuals were taken about (F,), in model units: values at nodes that divide each cell's sides in
            three, linear between them.
        z: the noisy numbers (r,).
        squares: of the same residuals, if they were measured.

    Raises:
        ValueError: z does not fit the strategy, or a number is not finite.
    """

    measurement: CellResiduals
    g: FloatArray
    z: FloatArray
    squares: CellSquares | None = None

    def __post_init__(self) -> None:
        _check("z", self.z, len(self.measurement.B))
        _check("g", self.g, len(self.g))


@dataclass(frozen=True, kw_only=True, eq=False)
class CellStatistics:
    """All of one release. It holds no record's input or output, no private number without noise, no seed.

    Args:
        counts: strategy and noise of the counts; the counts themselves where inputs are public.
        z: the noisy counts (r,); none where they are public.
        stages: residual sums, in the order measured; at least one.
        n: number of records, public.
        per_side: cells along each side of the box that is of numbers; along a category there is one for each level, and
            all are divided by periods.
        x_names, x_units: D names and D units.
        x_box: D declared public (low, high) pairs.
        y_name, y_unit: name and unit of the output.
        bounds: declared (low, high) of the output.
        y_scale: public constant, > 0: models speak of (y - midpoint) / y_scale.
        guarantee: the promise for all stages together, as plain JSON values.
        reading: what kind of outcomes the stages were made for.
        distances: of the outcomes to the curve, if they were measured.
        x_levels: of each input its levels, or None where it is a number; None: all are numbers.
        periods: of each input, whose phase divides the cells too; () where none has one.

    Raises:
        ValueError: shapes disagree, or a value cannot be written to a file.
    """

    counts: CellCounts | KnownCounts
    z: FloatArray
    stages: tuple[CellStage, ...]
    n: int
    per_side: int
    x_names: tuple[str, ...]
    x_units: tuple[str, ...]
    x_box: tuple[tuple[float, float], ...]
    y_name: str
    y_unit: str
    bounds: tuple[float, float]
    y_scale: float
    guarantee: Mapping[str, Any]
    reading: Reading = "any outcomes"
    distances: MeasuredDistances | None = None
    x_levels: tuple[Levels | None, ...] | None = None
    periods: Periods = ()

    def __post_init__(self) -> None:
        if self.x_levels is not None:
            check_levels(self.x_levels)
            object.__setattr__(self, "x_box", whole_box(self.x_box, self.x_levels))
        if not self.stages:
            raise ValueError("statistics must have at least one stage")
        if self.n < 1:
            raise ValueError(f"n must be at least 1, got {self.n}")
        _check("z", self.z, len(self.counts.B) if isinstance(self.counts, CellCounts) else 0)
        M, nodes = sizes_of(self.x_box, self.per_side, self.periods)
        columns = self.counts.B.shape[1] if isinstance(self.counts, CellCounts) else len(self.counts.numbers)
        if {columns, *(each.B.shape[1] for each in self.measurements)} != {M}:
            raise ValueError(f"every strategy must have {M} columns, one per cell of the box")
        if isinstance(self.counts, KnownCounts) and self.counts.numbers.sum() != self.n:
            raise ValueError(f"the counts must add up to {self.n} records, not {self.counts.numbers.sum():g}")
        if self.distances is not None and len(self.distances.g) != nodes:
            raise ValueError(f"the curve of the distances must have {nodes} values, one per node of the box")
        if any(len(stage.g) != nodes for stage in self.stages):
            raise ValueError(f"every g must have {nodes} values, one per node of the box")
        if not len(self.x_names) == len(self.x_units) == len(self.x_box):
            raise ValueError(f"x_names and x_units must each have {len(self.x_box)} entries, one per side of the box")
        check_described(self.y_scale, self.guarantee)

    @property
    def measurements(self) -> tuple[CellResiduals | Measurement, ...]:
        """All that was spent on outputs: the sums of every stage, squares, and distances."""
        of_squares = (stage.squares.measurement for stage in self.stages if stage.squares is not None)
        of_distances = () if self.distances is None else self.distances.measurements
        return (*(stage.measurement for stage in self.stages), *of_squares, *of_distances)

    @property
    def midpoint(self) -> float:
        """Public centre of the output, in its unit."""
        low, high = self.bounds
        return low + (high - low) / 2

    @property
    def half_range(self) -> float:
        """Half the public range of the outputs, in model units."""
        return (self.bounds[1] - self.bounds[0]) / self.y_scale / 2


def _check(name: str, values: FloatArray, length: int) -> None:
    if values.shape != (length,) or not np.isfinite(values).all():
        raise ValueError(f"{name} must be {length} finite numbers, got shape {values.shape}")
