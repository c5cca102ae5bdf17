"""Public cells for outcomes of any size, which end at 1, 2, 3, 5, 10, 20, ... declared units, and bounds from them.

From noisy counts of cells to the cells that bounds should hold is post-processing: only public numbers enter. An end
too far out is worse than one too near: cells grow by factors, so noise taken for people far away makes bounds useless,
and people outside by a little are clipped. So cells far from all others must be full beyond doubt, and cells next
to them need not be:

1. Everything between the outermost runs of 1, 2, 4, 8 or 16 cells whose noisy sum is above c times its noise; c makes
   all runs of empty cells together pass in one of 1000 releases (union bound).
2. Where outcomes have both signs: the mirror image of these cells about 0 too, if its cells hold more than 2
   standard deviations of their noise.
3. As long as the next one, two or three cells outwards hold more than 2 standard deviations of noise, they too.
4. The narrowest interval in there outside of which there is at most 1 % of all people, by the noisy counts.
5. One cell more at each end, if a cell with 1 % of all people may have been missed in step 3.

Where 1. has no such run, as may be if few people are spread over many cells, the run with the largest sum over its
noise is taken, or the two of the same sizes above and below 0: a guess, and called one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import ndtri

from .. import checks
from ..arrays import FloatArray
from ..measurement.measurement import Cells
from ..table import Kind

Sides = Literal["both signs", "0 or more", "above 0"]
"""Range of outcomes: any number; one of 0 or more, as wages; one whose logarithm is taken."""

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

    Sizes up to the unit u are one cell: [-u, u]; [0, u] where outcomes are 0 or more; where they are above 0 they go to
    the first, (u, 2u]. Sizes beyond 10^12 u go to the last.

    Args:
        unit: u, the smallest size that matters, for example a cent; from 1e-18 to 1000.

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

    @property
    def widest(self) -> tuple[float, float]:
        """(low, high) of all cells."""
        return self.interval(0, self.count - 1)

    def reaches_end(self, first: int, last: int) -> bool:
        """Whether these cells include an outermost one, which holds all larger outcomes too, however large."""
        return last == self.count - 1 or (self.sides == "both signs" and first == 0)


def declared_bounds(bounds: object, unit: float | None, kind: Kind, *, log: bool) -> tuple[float, float]:
    """The bounds as declared; where they are bought in cells of this unit and nothing is declared, those of all cells.

    Raises:
        ValueError: they are no bounds, neither declared nor bought, or there is nothing to buy.
    """
    widest = None if unit is None else RoundCells(unit=unit, sides=sides_of(kind, log=log)).widest
    if bounds is not None:
        return checks.interval("y_bounds", bounds)
    if widest is not None:
        return widest
    if kind == "yes/no":
        return 0.0, 1.0
    raise ValueError(
        "y_bounds must be [low, high]. Where nobody knows them, give bounds_unit, the smallest size of an outcome that "
        "matters. They are then bought with a share of the budget"
    )


MISSED = 0.01  # of all people, outside the bounds
FALSE_ALARM = 1e-3  # of a release, that a run of empty cells is taken for people
_RUNS = (1, 2, 4, 8, 16)
_NEXT, _NEAR = (1, 2, 3), 2.0
_CERTAIN = 1 / 3  # of all people: a cell that holds so many must pass the alarm

Run = tuple[int, int]
"""First and last cell."""


def alarm(cells: int) -> float:
    """c: standard deviations that a run of any length must pass."""
    return -float(ndtri(FALSE_ALARM / (len(_RUNS) * cells)))


def least_people(noise_sd: float, cells: int) -> int:
    """Fewest people among whom a cell that holds a third of them passes the alarm: with fewer, bounds cannot be had.

    Args:
        noise_sd: of each count.
    """
    return math.ceil(alarm(cells) * noise_sd / _CERTAIN)


def passes_alarm(counts: FloatArray, noise_sd: float) -> bool:
    """Whether any run of cells passes the alarm; if none does, the interval is a guess."""
    c = alarm(len(counts))
    return any(score > c for score, _ in _runs(counts, noise_sd))


def holding(counts: FloatArray, noise_sd: float, n: int, ends: FloatArray) -> Run:
    """First and last cell of the interval.

    Args:
        counts: noisy counts of people (K,).
        noise_sd: of each.
        ends: of the cells (K + 1,).
    """
    region = _mirrored(counts, noise_sd, _outermost(counts, noise_sd, ends), ends)
    region = _trimmed(counts, _next_to(counts, noise_sd, region), MISSED * n, ends)
    wider = int(_NEAR * noise_sd > MISSED * n)
    return max(region[0] - wider, 0), min(region[1] + wider, len(counts) - 1)


def _outermost(counts: FloatArray, noise_sd: float, ends: FloatArray) -> Run:
    """Step 1."""
    c, runs = alarm(len(counts)), list(_runs(counts, noise_sd))
    alarming = [run for score, run in runs if score > c]
    if alarming:  # no alarm lies outside of these two ends: the inner sides of the outermost runs
        first, last = sorted((min(last for _, last in alarming), max(first for first, _ in alarming)))
        return first, last
    if ends[0] < 0:
        mirrored = counts + counts[::-1]
        half = len(counts) // 2
        runs += [
            (score, (len(counts) - 1 - last, last))
            for score, (first, last) in _runs(mirrored, math.sqrt(2) * noise_sd)
            if first >= half
        ]
    return max(runs)[1]


def _runs(counts: FloatArray, noise_sd: float) -> Iterator[tuple[float, Run]]:
    """Sum of each run in units of its noise."""
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    for length in _RUNS:
        for first, total in enumerate(sums[length:] - sums[:-length]):
            yield float(total) / (noise_sd * math.sqrt(length)), (first, first + length - 1)


def _mirrored(counts: FloatArray, noise_sd: float, region: Run, ends: FloatArray) -> Run:
    """Step 2."""
    (first, last), most = region, len(counts) - 1
    image = [most - cell for cell in range(first, last + 1) if not first <= most - cell <= last]
    if ends[0] >= 0 or not image or counts[image].sum() <= _NEAR * noise_sd * math.sqrt(len(image)):
        return region
    return min(first, most - last), max(last, most - first)


def _next_to(counts: FloatArray, noise_sd: float, region: Run) -> Run:
    """Step 3."""
    first, last = region
    return first - _further(counts[:first][::-1], noise_sd), last + _further(counts[last + 1 :], noise_sd)


def _further(outwards: FloatArray, noise_sd: float) -> int:
    """How many of the cells that follow on a side belong to those before."""
    for k in _NEXT:
        if k <= len(outwards) and outwards[:k].sum() > _NEAR * noise_sd * math.sqrt(k):
            return k + _further(outwards[k:], noise_sd)
    return 0


def _trimmed(counts: FloatArray, region: Run, outside: float, ends: FloatArray) -> Run:
    """Step 4."""
    first, last = region
    held = counts[first : last + 1].sum()
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    runs = ((i, j) for i in range(first, last + 1) for j in range(i, last + 1))
    enough = [(ends[j + 1] - ends[i], (i, j)) for i, j in runs if held - (sums[j + 1] - sums[i]) <= outside]
    return min(enough)[1] if enough else region
