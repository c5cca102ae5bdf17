"""Counts and sums over public cells, where inputs are private too: neighbours replace a record, input and output.

Where people have several rows, neighbours replace all rows of one person by any number of any others, and row j counts
a_j = 1 / m of its person's m rows, in units of 2^-20 that add up to 1 over anybody's rows. What somebody adds to a sum
sum_j a_j v_j then lies in the convex hull of what single rows may add, and two points of a hull are no further apart
than two of its corners: sensitivity is that of one row, and no row is left out.

Each class releases exact integer sums over records plus discrete Gaussian noise, which is (1/s)-GDP up to delta 1e-40,
see ``noise``. A record's integers depend on that record only, and their size is checked in integers. Records are finite
numbers, as ``Dataset`` sees to, and none is refused for which numbers they are: they are moved into range. NaN is no
record, and is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from .discrete import Bits
from .integers import EXACT, GRID, IntArray, check_intervals, place_integers, strategy_integers, weighted
from .measurement import STEPS
from .noise import GaussianNoise, add_noise, add_teaching_noise

_ROWS = 1024  # cells compared with all others at a time

Cells = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class CellCounts:
    """z = B N + s Delta w, N the numbers of records in M public cells.

    A record that moves from cell a to cell b moves B N by b_b - b_a. Delta, the largest distance of two columns, is
    found in integers; it can reach 2 where columns have norm 1. Where all columns are equal no record moves B N at all
    (a budget so small that nothing but the public n is asked for); noise as for a change of 1 is added all the same.

    Args:
        B: strategy (r, M), columns of L2 norm <= 1; afterwards the multiple of 2^-20 that is used.
        noise_multiplier: s, in [1e-6, 1e20].
        people: whether records are rows of people, who count once each: then N is of weights.

    Raises:
        ValueError: a column is longer than 1, or s is out of range.
    """

    B: FloatArray
    noise_multiplier: float
    people: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "B", strategy_integers(np.asarray(self.B, dtype=float)) / GRID)
        _ = self.noise

    @cached_property
    def noise(self) -> GaussianNoise:
        """Discrete Gaussian for a change of 2^20 Delta, rounded up, and at least 1; in units of 2^-40 for weights."""
        B = self.B * GRID
        squares = (B * B).sum(axis=0)
        # Integers below 2^43 throughout: columns have norm <= 2^20, so every partial sum is exact in floats too.
        largest = max(
            int((squares[i : i + _ROWS, None] + squares - 2 * (B[:, i : i + _ROWS].T @ B)).max())
            for i in range(0, B.shape[1], _ROWS)
        )
        sensitivity = _root_up(largest) or GRID
        return GaussianNoise(sensitivity=sensitivity * self._unit, noise_multiplier=self.noise_multiplier)

    @property
    def noise_sd(self) -> float:
        """Standard deviation of each entry's noise, in units of z: s Delta, rounded up."""
        return self.noise.sd / (GRID * self._unit)

    def measure(self, cells: Cells, bits: Bits | None = None, weights: IntArray | None = None) -> FloatArray:
        """Measure once, for real: z (r,), which may be published; see ``Measurement.measure``.

        Args:
            cells: cell of each record (n,); numbers outside 0 ... M - 1 are moved to the nearest of them.
            bits: source of randomness; default: the operating system's.
            weights: of the records (n,), see ``integers.person_weights``; for people only, and needed there.

        Raises:
            ValueError: weights are missing, or given where every record is somebody else's.
        """
        return add_noise(self._exact(cells, weights), self.noise, GRID * self._unit, bits)

    def teaching(
        self, cells: Cells, rng: np.random.Generator, draws: int = 1, weights: IntArray | None = None
    ) -> FloatArray:
        """Numbered float draws for teaching (draws, r). Not for release."""
        return add_teaching_noise(self._exact(cells, weights), self.noise, GRID * self._unit, rng, draws)

    @property
    def _unit(self) -> int:
        """Steps to a record's count of 1."""
        return GRID if self.people else 1

    def _exact(self, cells: Cells, weights: IntArray | None = None) -> list[int]:
        if (weights is not None) != self.people:
            raise ValueError("counts of people need the weights of their rows, and no others take any")
        numbers = np.zeros(self.B.shape[1], dtype=np.int64)
        np.add.at(numbers, np.clip(cells, 0, len(numbers) - 1), 1 if weights is None else weights)
        whole = np.int64 if len(cells) <= EXACT and not self.people else object
        return _product(self.B, numbers, whole)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellResiduals:
    """z = B Q + s w, Q_a the sum over the records of cell a of q_j = (clip(r_j, low_a, high_a) - centre_a) / width_a.

    |q_j| <= 1/2, so replacing a record moves B Q by at most (|b_a| + |b_b|) / 2 <= 1: in integers by 2^40. Of people,
    Q_a is the sum of a_j q_j, and what one of them adds is no longer than max |b| / 2, as one row.

    Args:
        B: strategy (r, M), columns of L2 norm <= 1; afterwards the multiple of 2^-20 that is used.
        low: lower end of the interval of each cell's residuals (M,), public.
        high: upper end (M,).
        bounds: declared (low, high) that all intervals lie in.
        noise_multiplier: s, in [1e-6, 1e20].

    Raises:
        ValueError: as for ``Measurement``.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    bounds: tuple[float, float]
    noise_multiplier: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "B", strategy_integers(np.asarray(self.B, dtype=float)) / GRID)
        check_intervals(self.low, self.high, self.bounds, self.B.shape[1])
        _ = self.noise

    @property
    def noise(self) -> GaussianNoise:
        """Discrete Gaussian for a change of 2^40."""
        return GaussianNoise(sensitivity=STEPS, noise_multiplier=self.noise_multiplier)

    @property
    def noise_sd(self) -> float:
        """Standard deviation of each entry's noise, in units of z."""
        return self.noise.sd / STEPS

    def measure(
        self, cells: Cells, residuals: FloatArray, bits: Bits | None = None, weights: IntArray | None = None
    ) -> FloatArray:
        """Measure once, for real: z (r,), which may be published; see ``Measurement.measure``.

        Args:
            cells: cell of each record (n,); numbers outside 0 ... M - 1 are moved to the nearest of them.
            residuals: output minus a public function at the record's own input (n,), not NaN.
            bits: source of randomness; default: the operating system's.
            weights: of people's rows (n,), see ``integers.person_weights``.

        Raises:
            ValueError: a residual is NaN, so that there is no record.
        """
        return add_noise(self._exact(cells, residuals, weights), self.noise, STEPS, bits)

    def teaching(
        self,
        cells: Cells,
        residuals: FloatArray,
        rng: np.random.Generator,
        draws: int = 1,
        weights: IntArray | None = None,
    ) -> FloatArray:
        """Numbered float draws for teaching (draws, r). Not for release."""
        return add_teaching_noise(self._exact(cells, residuals, weights), self.noise, STEPS, rng, draws)

    def _exact(self, cells: Cells, residuals: FloatArray, weights: IntArray | None = None) -> list[int]:
        inside = np.clip(cells, 0, self.B.shape[1] - 1)
        places = place_integers(residuals, self.low[inside], self.high[inside])
        sums = np.zeros(self.B.shape[1], dtype=np.int64)  # |sum| <= n 2^19
        np.add.at(sums, inside, places if weights is None else weighted(places, weights))
        return _product(self.B, sums, np.int64 if len(cells) <= EXACT else object)


def _root_up(square: int) -> int:
    """Smallest whole number whose square is at least ``square``."""
    return math.isqrt(square - 1) + 1 if square > 0 else 0


def _product(B: FloatArray, sums: IntArray, whole: type) -> list[int]:
    """2^20 B sums (r,), exactly; int64 holds it for sums over 2^22 records of at most 2^19 each, see ``integers``."""
    return [int(x) for x in np.asarray(B * GRID, dtype=np.int64).astype(whole) @ sums.astype(whole)]
