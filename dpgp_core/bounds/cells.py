"""Public cells for outcomes of any size, with ends at 1, 2, 3, 5, 10, 20, ... declared units, and bounds from them.

The choice of cells from their noisy counts is post-processing. An end that is too far away is worse than one that is
too near. The sizes of cells grow by factors, so if noise far away is mistaken for people, the bounds are useless,
whereas people who are slightly outside the bounds are only clipped. Cells far from all others are therefore included
only if they are certainly not empty, and less evidence suffices for cells next to included ones:

1. Include all cells between the outermost runs of 1, 2, 4, 8 or 16 cells whose noisy sum exceeds c times its noise.
With
   this c, a run of empty cells exceeds it in at most one of 1000 releases (union bound over all runs).
2. If outcomes have both signs, include the mirror image of these cells about 0, if its noisy sum exceeds 2 standard
   deviations of its noise.
3. Include the next one, two or three cells outwards if their noisy sum exceeds 2 standard deviations of its noise, and
   repeat this.
4. Shrink to the narrowest interval outside of which there is at most 1 % of all people, by the noisy counts.
5. Add one cell at each end if step 3 may have missed a cell with 1 % of all people.

If step 1 finds no run, which is possible if few people are spread over many cells, the run with the largest ratio of
sum to noise is taken, or a run together with its mirror image. The bounds are then a guess, and are reported as such.
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
"""Range of outcomes: any number; numbers of 0 or more, such as wages; numbers whose logarithm is measured."""

DECADES = 12
_FIGURES = (1, 2, 3, 5)  # leading digits of the ends: round numbers whose ratios are about 10^(1/4)
_ROUND = (*(figure * 10**decade for decade in range(DECADES) for figure in _FIGURES), 10**DECADES)
LEAST_UNIT, MOST_UNIT = 1e-18, 1e3  # limits of the unit, within which all ends are valid bounds


def sides_of(kind: Kind, *, log: bool = False) -> Sides:
    """Return the range of outcomes of a declared kind.

    Raises:
        ValueError: the kind is yes/no.
    """
    if kind == "yes/no":
        raise ValueError("outcomes declared yes/no have the bounds 0 and 1: there is nothing to buy; declare these")
    if log:
        return "above 0"
    return "0 or more" if kind in ("amount", "count") else "both signs"


@dataclass(frozen=True, kw_only=True)
class RoundCells:
    """Public cells (e_i, e_(i+1)] of sizes |y|, with e = u, 2u, 3u, 5u, 10u, ... 10^12 u.

    Sizes up to the unit u form one cell: [-u, u], or [0, u] if outcomes are 0 or more. If outcomes are above 0, these
    sizes belong to the first cell, (u, 2u]. Sizes beyond 10^12 u belong to the last cell.

    Args:
        unit: u, the smallest size that matters, for example a cent; from 1e-18 to 1000.
        sides: range of outcomes.

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
        """Ends of the cells (K + 1,), ascending. Each is the double closest to a round multiple of the unit."""
        unit = Decimal(repr(float(self.unit)))
        sizes = np.array([float(unit * figure) for figure in _ROUND])
        below: dict[Sides, FloatArray] = {"both signs": -sizes[::-1], "0 or more": np.zeros(1), "above 0": sizes[:0]}
        return np.concatenate([below[self.sides], sizes])

    @property
    def count(self) -> int:
        """Number K of cells: 97, 49 or 48."""
        return len(self.ends) - 1

    def of(self, y: FloatArray) -> Cells:
        """Return the index of the cell of each outcome (n,), which depends on that outcome only.

        Raises:
            ValueError: an outcome is NaN.
        """
        if np.isnan(y).any():
            raise ValueError("y must not hold NaN; remove or fill missing values first")
        sizes = self.ends[self.ends > 0]
        cell = np.searchsorted(sizes, np.abs(y), side="left")  # 0 for sizes up to the unit
        if self.sides == "both signs":
            cell = len(sizes) - 1 + np.sign(y).astype(np.intp) * cell
        else:
            cell = np.where(y > 0, cell, 0) - (self.sides == "above 0")
        return np.asarray(np.clip(cell, 0, self.count - 1), dtype=np.intp)

    def interval(self, first: int, last: int) -> tuple[float, float]:
        """Return (low, high) of the cells from ``first`` to ``last``; low is 0 if outcomes are 0 or more."""
        low = 0.0 if self.sides == "0 or more" else float(self.ends[first])
        return low, float(self.ends[last + 1])

    @property
    def widest(self) -> tuple[float, float]:
        """The interval (low, high) of all cells."""
        return self.interval(0, self.count - 1)

    def reaches_end(self, first: int, last: int) -> bool:
        """Whether these cells include an outermost one, which also contains all outcomes beyond the scale."""
        return last == self.count - 1 or (self.sides == "both signs" and first == 0)


def declared_bounds(bounds: object, unit: float | None, kind: Kind, *, log: bool) -> tuple[float, float]:
    """Return the declared bounds. If none are declared and bounds are bought with this unit, return those of all cells.

    Raises:
        ValueError: bounds are invalid, are neither declared nor bought, or cannot be bought for this kind.
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


MISSED = 0.01  # share of all people that may be outside the bounds
FALSE_ALARM = 1e-3  # probability that a run of empty cells passes in a release
_RUNS = (1, 2, 4, 8, 16)  # lengths of runs in step 1
_NEXT, _NEAR = (1, 2, 3), 2.0  # number of next cells in step 3, and the threshold in standard deviations
_CERTAIN = 1 / 3  # a cell with this share of all people must pass

Run = tuple[int, int]
"""Indices of the first and last cell."""


def alarm(cells: int) -> float:
    """Return the threshold c that the sum of a run must exceed, in standard deviations of its noise."""
    return -float(ndtri(FALSE_ALARM / (len(_RUNS) * cells)))


def least_people(noise_sd: float, cells: int) -> int:
    """Return the smallest number of people for which a cell with a third of them exceeds the threshold.

    With fewer people no bounds can be bought.

    Args:
        noise_sd: standard deviation of the noise of each count.
        cells: number of cells.
    """
    return math.ceil(alarm(cells) * noise_sd / _CERTAIN)


def passes_alarm(counts: FloatArray, noise_sd: float) -> bool:
    """Whether any run of cells exceeds the threshold; if none does, the interval is a guess."""
    c = alarm(len(counts))
    return any(score > c for score, _ in _runs(counts, noise_sd))


def bounding_cells(counts: FloatArray, noise_sd: float, n: int, ends: FloatArray) -> Run:
    """Return the first and last cell of the bounds, by the five steps above.

    Args:
        counts: noisy numbers of people (K,).
        noise_sd: standard deviation of the noise of each.
        ends: ends of the cells (K + 1,).
    """
    region = _mirrored(counts, noise_sd, _outermost(counts, noise_sd, ends), ends)
    region = _trimmed(counts, _next_to(counts, noise_sd, region), MISSED * n, ends)
    wider = int(_NEAR * noise_sd > MISSED * n)
    return max(region[0] - wider, 0), min(region[1] + wider, len(counts) - 1)


def _outermost(counts: FloatArray, noise_sd: float, ends: FloatArray) -> Run:
    """Return the cells of step 1, or a guess if no run exceeds the threshold."""
    c, runs = alarm(len(counts)), list(_runs(counts, noise_sd))
    alarming = [run for score, run in runs if score > c]
    if alarming:  # from the last cell of the run that ends first, to the first cell of the run that begins last
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
    """Yield each run with its sum, in standard deviations of its noise."""
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    for length in _RUNS:
        for first, total in enumerate(sums[length:] - sums[:-length]):
            yield float(total) / (noise_sd * math.sqrt(length)), (first, first + length - 1)


def _mirrored(counts: FloatArray, noise_sd: float, region: Run, ends: FloatArray) -> Run:
    """Extend the cells by their mirror image about 0, as in step 2."""
    (first, last), most = region, len(counts) - 1
    image = [most - cell for cell in range(first, last + 1) if not first <= most - cell <= last]
    if ends[0] >= 0 or not image or counts[image].sum() <= _NEAR * noise_sd * math.sqrt(len(image)):
        return region
    return min(first, most - last), max(last, most - first)


def _next_to(counts: FloatArray, noise_sd: float, region: Run) -> Run:
    """Extend the cells outwards, as in step 3."""
    first, last = region
    return first - _further(counts[:first][::-1], noise_sd), last + _further(counts[last + 1 :], noise_sd)


def _further(outwards: FloatArray, noise_sd: float) -> int:
    """Return how many of the cells that follow on one side are included."""
    for k in _NEXT:
        if k <= len(outwards) and outwards[:k].sum() > _NEAR * noise_sd * math.sqrt(k):
            return k + _further(outwards[k:], noise_sd)
    return 0


def _trimmed(counts: FloatArray, region: Run, outside: float, ends: FloatArray) -> Run:
    """Return the narrowest interval that leaves at most ``outside`` people outside, as in step 4."""
    first, last = region
    held = counts[first : last + 1].sum()
    sums = np.concatenate([[0.0], np.cumsum(counts)])
    runs = ((i, j) for i in range(first, last + 1) for j in range(i, last + 1))
    enough = [(ends[j + 1] - ends[i], (i, j)) for i, j in runs if held - (sums[j + 1] - sums[i]) <= outside]
    return min(enough)[1] if enough else region
