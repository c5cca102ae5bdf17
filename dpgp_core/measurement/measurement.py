"""Measurements of private records: r numbers, integers plus discrete noise. All else is post-processing.

A column of a strategy belongs to a record, or to a public cell and all records in it; neighbours replace a record's
output, or over cells its input and output.

Where people have several rows, neighbours replace all rows of one person by any number of any others, and row j counts
a_j = 1 / m of its person's m rows, in units of 2^-20 that add up to 1 over anybody's rows. Anybody's part of a sum
sum_j a_j v_j then lies in the convex hull of the parts of single rows, and two points of a hull are no further apart
than two of its corners: sensitivity is that of one row, and no row is left out.

A record's integers depend on that record only, and their size is checked in integers. Records are finite numbers, as
``Dataset`` sees to, and none is refused for which numbers they are: they are moved into range. NaN is no record, and is
refused.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import FloatArray
from .discrete import Bits
from .integers import (
    EXACT,
    GRID,
    IntArray,
    Norm,
    check_intervals,
    exact_product,
    output_integers,
    strategy_integers,
    weighted,
)
from .noise import GaussianNoise, LaplaceNoise, add_noise, add_teaching_noise

STEPS = GRID * GRID
"""Integers to a unit of z: 2^20 for the strategy times 2^20 for the outputs."""
_ROWS = 1024  # cells compared with all others at a time

Cells = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputMeasurement(ABC):
    """Common part of the two below: z = B q + noise, with q_j = (clip(y_j, low_j, high_j) - centre_j) / width_j.

    q_j lies in [-1/2, 1/2] whatever y_j is, so replacing y_j moves B q by at most the norm of column j of B, at most 1.
    In integers: q^ = rint(2^20 q) lies in [-2^19, 2^19] and columns of B^ = 2^20 B have norm 2^20 at most, so B^ q^
    moves by at most Delta = 2^40. No rounding error enters: q^_j depends on no output but y_j, and B^ q^ is exact.

    Over cells q_a is the sum over the records of cell a, clipped to the cell's interval: replacing a record moves B q
    by at most (|b_a| + |b_b|) / 2 <= 1. Of people, it is the sum of a_j q_j, and the part of each is no longer than
    max |b| / 2, as one row.
    """

    B: FloatArray
    low: FloatArray
    high: FloatArray
    bounds: tuple[float, float]

    norm: ClassVar[Norm]

    def __post_init__(self) -> None:
        B = strategy_integers(np.asarray(self.B, dtype=float), self.norm) / GRID
        arrays = {"B": B, "low": np.array(self.low, dtype=float), "high": np.array(self.high, dtype=float)}
        check_intervals(arrays["low"], arrays["high"], self.bounds, B.shape[1])
        for name, array in arrays.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        _ = self.noise

    @property
    @abstractmethod
    def noise(self) -> GaussianNoise | LaplaceNoise:
        """Added to the integers 2^40 B q."""

    @property
    def width(self) -> FloatArray:
        """Widths of the intervals (n,), in the output's unit."""
        return self.high - self.low

    @property
    def centre(self) -> FloatArray:
        """Middles of the intervals (n,), in the output's unit."""
        return self.low + self.width / 2

    @property
    def noise_sd(self) -> float:
        """Standard deviation of each entry's noise, in units of z."""
        return self.noise.sd / STEPS

    def measure(
        self, y: FloatArray, bits: Bits | None = None, *, cells: Cells | None = None, weights: IntArray | None = None
    ) -> FloatArray:
        """Measure once, for real: z (r,), which may be published. Each call spends the guarantee again.

        Args:
            y: outputs (n,), in the unit of the bounds; over cells, of each record. Private.
            cells: column of each record; numbers outside 0 ... n - 1 are moved to the nearest of them. None: record j
                has column j.
            weights: of people's rows, see ``integers.person_weights``.

        Raises:
            ValueError: y has another shape, or holds NaN, so that there is no record.
        """
        return add_noise(self._exact(y, cells, weights), self.noise, STEPS, bits)

    def teaching(
        self,
        y: FloatArray,
        rng: np.random.Generator,
        draws: int = 1,
        *,
        cells: Cells | None = None,
        weights: IntArray | None = None,
    ) -> FloatArray:
        """Numbered float draws for teaching (draws, r): of the same distribution to the eye, and not for release.

        Arguments and errors as of ``measure``; who knows the seed of ``rng`` knows the noise.
        """
        return add_teaching_noise(self._exact(y, cells, weights), self.noise, STEPS, rng, draws)

    def _exact(self, y: FloatArray, cells: Cells | None = None, weights: IntArray | None = None) -> list[int]:
        """2^40 B q (r,)."""
        y = np.asarray(y, dtype=float)
        if cells is None:
            integers = np.asarray(self.B * GRID, dtype=np.int64)  # exact: B is a multiple of 2^-20
            return exact_product(integers, output_integers(y, self.low, self.high))
        inside = np.clip(cells, 0, self.B.shape[1] - 1)
        q = output_integers(y, self.low[inside], self.high[inside])
        sums = np.zeros(self.B.shape[1], dtype=np.int64)  # |sum| <= n 2^19
        np.add.at(sums, inside, q if weights is None else weighted(q, weights))
        return _product(self.B, sums, np.int64 if len(cells) <= EXACT else object)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement(OutputMeasurement):
    """z = B q + s w, w standard normal to the eye and discrete in truth: (1/s)-GDP up to delta 1e-40. Proof: ``noise``.

    Args:
        B: strategy (r, n), columns of L2 norm <= 1; afterwards the multiple of 2^-20 that is used, see ``integers``.
        low: lower end of each column's interval (n,), in the output's unit, public.
        high: upper end (n,), above ``low``.
        bounds: declared (low, high) that all intervals lie in.
        noise_multiplier: s, in [1e-6, 1e20].

    Raises:
        ValueError: shapes disagree, a column is longer than 1, an interval is empty or outside the bounds, or s is
            out of range.
    """

    noise_multiplier: float

    norm: ClassVar[Norm] = "L2"

    @property
    def noise(self) -> GaussianNoise:
        """Discrete Gaussian for a change of 2^40."""
        return GaussianNoise(sensitivity=STEPS, noise_multiplier=self.noise_multiplier)


def from_zero(B: FloatArray, high: FloatArray, bounds: tuple[float, float], noise_multiplier: float) -> Measurement:
    """A measurement of numbers in [0, high_j] (n,), which lie in ``bounds``."""
    return Measurement(B=B, low=np.zeros(len(high)), high=high, bounds=bounds, noise_multiplier=noise_multiplier)


@dataclass(frozen=True, kw_only=True, eq=False)
class LaplaceMeasurement(OutputMeasurement):
    """z = B q + Laplace noise of scale 1 / epsilon on each entry: epsilon-DP with delta = 0. Proof: ``noise``.

    Args:
        B: strategy (r, n), columns of L1 norm <= 1, such as the indicators of disjoint bins.
        low, high, bounds: see ``Measurement``.
        epsilon: in [1e-20, 1e6].

    Raises:
        ValueError: as for ``Measurement``.
    """

    epsilon: float

    norm: ClassVar[Norm] = "L1"

    @property
    def noise(self) -> LaplaceNoise:
        """Discrete Laplace for a change of 2^40."""
        return LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellCounts:
    """z = B N + s Delta w, N the numbers of records in M public cells.

    A record that moves from cell a to cell b moves B N by b_b - b_a. Delta, the largest distance of two columns, is
    computed in integers; it can reach 2 where columns have norm 1. Where all columns are equal no record moves B N
    (of a budget so small that only the public n is measured); noise as for a change of 1 is added all the same.

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
        """2^20 B N (r,), of people in units of 2^-40."""
        if (weights is not None) != self.people:
            raise ValueError("counts of people need the weights of their rows, and no others take any")
        numbers = np.zeros(self.B.shape[1], dtype=np.int64)
        np.add.at(numbers, np.clip(cells, 0, len(numbers) - 1), 1 if weights is None else weights)
        whole = np.int64 if len(cells) <= EXACT and not self.people else object
        return _product(self.B, numbers, whole)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownCounts:
    """Numbers of records in M public cells where inputs are public: nothing is measured of them.

    Args:
        numbers: whole numbers >= 0 (M,); of people who count once each, multiples of 2^-20.
        people: whether they are of people.
        places: where in the cells they are, see ``bayes.cells.OccupiedGrid``, one number for each node (F,).

    Raises:
        ValueError: they are not.
    """

    numbers: FloatArray
    places: FloatArray
    people: bool = False

    def __post_init__(self) -> None:
        steps = self.numbers * (GRID if self.people else 1)
        if (
            self.numbers.ndim != 1
            or not np.isfinite(steps).all()
            or (steps < 0).any()
            or (steps != np.rint(steps)).any()
        ):
            raise ValueError("numbers of records must be whole and not negative")


def _root_up(square: int) -> int:
    """Smallest whole number whose square is at least ``square``."""
    return math.isqrt(square - 1) + 1 if square > 0 else 0


def _product(B: FloatArray, sums: IntArray, whole: type) -> list[int]:
    """2^20 B sums (r,), exactly; int64 holds it for sums over 2^22 records of at most 2^19 each, see ``integers``."""
    return [int(x) for x in np.asarray(B * GRID, dtype=np.int64).astype(whole) @ sums.astype(whole)]
