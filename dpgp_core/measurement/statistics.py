"""The released statistic: what was measured, how, and the noisy numbers. Everything after it is free."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..arrays import FloatArray
from ..levels import Levels, check_codes, check_levels, whole_box
from .cells import CellResiduals
from .distances import MeasuredDistances
from .measurement import LaplaceMeasurement, Measurement

Reading = Literal["any outcomes", "yes/no", "normal outcomes"]
"""What clipped sums are read as: of outcomes of any kind, of 0 and 1, or of normal ones, as once all were."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StageSquares:
    """One number of squares about a public curve, sum_j min((y_j - g_j)^2, high_j) / high_j - 1/2 plus noise. Public.

    Args:
        measurement: of the squares, one row; intervals [0, high_j] in squared model units.
        g: the curve at the records (n,), in model units, from earlier stages' z.
        z: the noisy number (1,).

    Raises:
        ValueError: there is more than one row, or a number does not fit or is not finite.
    """

    measurement: Measurement
    g: FloatArray
    z: FloatArray

    def __post_init__(self) -> None:
        shapes = {"z": (self.z, 1), "g": (self.g, self.measurement.B.shape[1])}
        if len(self.measurement.B) != 1:
            raise ValueError(f"squares must be one number, got {len(self.measurement.B)} rows")
        for name, (values, length) in shapes.items():
            if values.shape != (length,) or not np.isfinite(values).all():
                raise ValueError(f"{name} of squares must be {length} finite numbers, got shape {values.shape}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Stage:
    """One measurement and what came of it. Public.

    Args:
        measurement: strategy, intervals and noise, fixed before the outputs were read or from earlier stages' z.
        z: the noisy numbers (r,).
        squares: of the same records, if they were measured.

    Raises:
        ValueError: z does not fit the strategy, or is not finite.
    """

    measurement: Measurement | LaplaceMeasurement
    z: FloatArray
    squares: StageSquares | None = None

    def __post_init__(self) -> None:
        r = len(self.measurement.B)
        if self.z.shape != (r,) or not np.isfinite(self.z).all():
            raise ValueError(f"z must be {r} finite numbers to match the strategy, got shape {self.z.shape}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics:
    """All stages of one release, and what a reader needs to map them. It holds no private value and no seed.

    Args:
        stages: in the order measured; at least one, all of the same n columns and the same bounds.
        X: the public place of each column (n, D), in input units.
        x_names, x_units: D names and D units.
        x_box: D declared public (low, high) pairs.
        y_name, y_unit: name and unit of the output.
        y_scale: public constant, > 0: models speak of (y - midpoint) / y_scale.
        guarantee: the promise for all stages together, as plain JSON values.
        reading: what kind of outcomes the stages were made for.
        distances: of the outcomes to the curve, if they were measured.
        x_levels: of each input its levels, or None where it is a number; None: all are numbers.

    Raises:
        ValueError: shapes disagree, or a value cannot be written to a file.
    """

    stages: tuple[Stage, ...]
    X: FloatArray
    x_names: tuple[str, ...]
    x_units: tuple[str, ...]
    x_box: tuple[tuple[float, float], ...]
    y_name: str
    y_unit: str
    y_scale: float
    guarantee: Mapping[str, Any]
    reading: Reading = "normal outcomes"
    distances: MeasuredDistances | None = None
    x_levels: tuple[Levels | None, ...] | None = None

    def __post_init__(self) -> None:
        if not self.stages:
            raise ValueError("statistics must have at least one stage")
        n = self.stages[0].measurement.B.shape[1]
        if self.X.ndim != 2 or len(self.X) != n or self.X.shape[1] < 1 or not np.isfinite(self.X).all():
            raise ValueError(f"X must be a finite matrix ({n}, D) to match the strategies, got shape {self.X.shape}")
        if self.x_levels is not None:
            check_levels(self.x_levels)
            object.__setattr__(self, "x_box", whole_box(self.x_box, self.x_levels))
        if not len(self.x_names) == len(self.x_units) == len(self.x_box) == self.X.shape[1]:
            raise ValueError(
                f"x_names, x_units and x_box must each have {self.X.shape[1]} entries, one per column of X"
            )
        check_codes(self.X, self.x_box, self.x_names)
        if any(stage.measurement.B.shape[1] != n or stage.measurement.bounds != self.bounds for stage in self.stages):
            raise ValueError("all stages must have the same number of columns and the same bounds")
        if self.distances is not None and {len(self.distances.g), self.distances.measurement.B.shape[1]} != {n}:
            raise ValueError(f"distances must have {n} columns and a curve of {n} values, one per record")
        check_described(self.y_scale, self.guarantee)

    @property
    def measurements(self) -> tuple[Measurement | LaplaceMeasurement | CellResiduals, ...]:
        """All that was spent on: the sums of every stage, squares, and distances."""
        of_squares = (stage.squares.measurement for stage in self.stages if stage.squares is not None)
        of_distances = () if self.distances is None else self.distances.measurements
        return (*(stage.measurement for stage in self.stages), *of_squares, *of_distances)

    @property
    def bounds(self) -> tuple[float, float]:
        """Declared (low, high) of the output."""
        return self.stages[0].measurement.bounds

    @property
    def midpoint(self) -> float:
        """Public centre of the output, in its unit."""
        low, high = self.bounds
        return low + (high - low) / 2


def check_described(y_scale: float, guarantee: Mapping[str, Any]) -> None:
    """Raise ValueError unless the scale of the output is a positive number, and the promise can be written as JSON."""
    if not (math.isfinite(y_scale) and y_scale > 0):
        raise ValueError(f"y_scale must be a positive number, got {y_scale}")
    try:
        json.dumps(dict(guarantee), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError("the guarantee must be of texts, finite numbers, and lists and objects of them") from None
