"""Public cells for outcomes of any size, which end at 1, 2, 3, 5, 10, 20, ... declared units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np

from ..arrays import FloatArray
from ..data import Kind
from ..measurement.measurement import Cells

Sides = Literal["both signs", "0 or more", "above 0"]
"""What outcomes may be: any number; one of 0 or more, as wages; one whose logarithm is taken."""

DECADES = 12
_FIGURES = (1, 2, 3, 5)  # a decade: about 10^(1/4) apart, and round
_ROUND = (*(figure * 10**decade for decade in range(DECADES) for figure in _FIGURES), 10**DECADES)
LEAST_UNIT, MOST_UNIT = 1e-18, 1e3  # units: the outermost ends are then bounds that can be computed with


def sides_of(kind: Kind, *, log: bool = False) -> Sides:
    """Which outcomes a declared kind may have.

    Raises:
        ValueError: they are yes/no.
    """
    if kind == "yes/no":
        raise ValueError("outcomes declared yes/no have the bounds 0 and 1: there is nothing to buy; declare these")
    if log:
        return "above 0"
    return "0 or more" if kind in ("amount", "count") else "both signs"


@dataclass(frozen=True, kw_only=True)
class RoundCells:
    """Cells (e_i, e_(i+1)] of sizes |y|, with e = u, 2u, 3u, 5u, 10u, ... 10^12 u; everything is public.

    What is as small as the unit u is one cell: [-u, u]; [0, u] where outcomes are 0 or more; and where they are above 0
    it goes to the first, (u, 2u]. What is beyond 10^12 u goes to the last.

    Args:
        unit: u, the smallest size that matters, for example a cent; from 1e-18 to 1000.
        sides: what outcomes may be.

    Raises:
        ValueError: unit is out of range.
    """

    unit: float
    sides: Sides = "both signs"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.unit) and LEAST_UNIT <= self.unit <= MOST_UNIT):
            raise ValueError(
                f"the unit of bounds must be a number from {LEAST_UNIT:g} to {MOST_UNIT:g}, got {self.unit}. "
                "Give the smallest size of an outcome that matters, or measure the output in another unit"
            )

    @cached_property
    def ends(self) -> FloatArray:
        """Ends of the cells (K + 1,), growing; each the double nearest to a round number of units."""
        unit = Decimal(repr(float(self.unit)))
        sizes = np.array([float(unit * figure) for figure in _ROUND])
        below: dict[Sides, FloatArray] = {"both signs": -sizes[::-1], "0 or more": np.zeros(1), "above 0": sizes[:0]}
        return np.concatenate([below[self.sides], sizes])

    @property
    def count(self) -> int:
        """K: 97, 49 or 48."""
        return len(self.ends) - 1

    def of(self, y: FloatArray) -> Cells:
        """Cell of each outcome (n,): a public function of that outcome alone.

        Raises:
            ValueError: an outcome is NaN, and so none.
        """
        if np.isnan(y).any():
            raise ValueError("y must not hold NaN; remove or fill missing values first")
        sizes = self.ends[self.ends > 0]
        cell = np.searchsorted(sizes, np.abs(y), side="left")  # 0 up to the unit
        if self.sides == "both signs":
            cell = len(sizes) - 1 + np.sign(y).astype(np.intp) * cell
        else:
            cell = np.where(y > 0, cell, 0) - (self.sides == "above 0")
        return np.asarray(np.clip(cell, 0, self.count - 1), dtype=np.intp)

    def interval(self, first: int, last: int) -> tuple[float, float]:
        """(low, high) of all cells from first to last; low is 0 where outcomes are 0 or more."""
        low = 0.0 if self.sides == "0 or more" else float(self.ends[first])
        return low, float(self.ends[last + 1])

    def reaches_end(self, first: int, last: int) -> bool:
        """Whether these cells include an outermost one, which holds whatever is larger, too: nobody knows how large."""
        return last == self.count - 1 or (self.sides == "both signs" and first == 0)
