"""The released distances of outcomes to a public curve: how far people are apart, and on which side they lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from .cells import CellResiduals
from .measurement import Measurement


@dataclass(frozen=True, kw_only=True, eq=False)
class Above:
    """One number: how many outcomes lie above the curve, sum_j (1{y_j > g_j} - 1/2) plus noise. Public.

    Args:
        measurement: of the indicators, one row; intervals [0, 1].
        z: the noisy number (1,).

    Raises:
        ValueError: there is more than one row, or the number does not fit or is not finite.
    """

    measurement: Measurement | CellResiduals
    z: FloatArray

    def __post_init__(self) -> None:
        _check("the number above the curve", self.z, 1)
        if len(self.measurement.B) != 1:
            raise ValueError(f"the number above the curve must be one, got {len(self.measurement.B)} rows")


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredDistances:
    """Sums of distances min(|y_j - g_j|, A), and what came of them. Public.

    Args:
        measurement: of the distances; intervals [0, A] in model units, A for all.
        g: the curve, in model units, from earlier stages' z: at the records (n,), or at the nodes of public cells (F,).
        sd: of people about the curve as far as earlier stages know, in model units.
        z: the noisy sums (r,).
        above: number of outcomes above the curve, if it was measured.

    Raises:
        ValueError: z does not fit the strategy, the intervals differ, or a number is not finite or not positive.
    """

    measurement: Measurement | CellResiduals
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
        """Strategy (r, n), or (r, M) over cells."""
        return self.measurement.B

    @property
    def reach(self) -> float:
        """A, in model units."""
        return float(self.measurement.high[0])

    @property
    def measurements(self) -> tuple[Measurement | CellResiduals, ...]:
        """All that was spent on."""
        return (self.measurement,) if self.above is None else (self.measurement, self.above.measurement)


def _check(name: str, values: FloatArray, length: int) -> None:
    if values.shape != (length,) or not np.isfinite(values).all():
        raise ValueError(f"{name} must be {length} finite numbers, got shape {values.shape}")
