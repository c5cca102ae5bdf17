"""Measurements of private records: exact integer sums plus discrete noise. Everything else is post-processing.

Each column of a strategy belongs to a record, or to a public bin (a cell or a cluster) and all records in it.
Neighbouring data sets differ in the output of one record or, if bins depend on private inputs, in the input and output
of one record.

If people have several rows, neighbours replace all rows of one person by any number of other rows. Row j of a person
with m rows then has the weight a_j = 1 / m; in units of 2^-20 the weights of every person add up to exactly 1. The
contribution of a person to a sum sum_j a_j v_j lies in the convex hull of the contributions of single rows. Two points
of a convex hull are no further apart than two of its corners, so the sensitivity is that of a single row, and all rows
are used.

The integers of a record depend on that record only, and their size is checked in integer arithmetic. Records consist of
finite numbers (``Dataset`` checks this). A record is never refused for its values, which are clipped instead. NaN is
not a valid record and is refused.
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
"""Integer steps per unit of z: 2^20 for the strategy times 2^20 for the outputs."""
_ROWS = 1024  # number of cells that are compared with all others at a time

Cells = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputMeasurement(ABC):
    """Base class of measurements z = B q + noise, with q_j = (clip(y_j, low_j, high_j) - centre_j) / width_j.

    q_j lies in [-1/2, 1/2] for every y_j, so replacing y_j moves B q by at most the norm of column j of B, which is at
    most 1. In integers, q^ = rint(2^20 q) lies in [-2^19, 2^19] and the columns of B^ = 2^20 B have norm at most 2^20,
    so B^ q^ moves by at most Delta = 2^40. Rounding errors play no part, because q^_j depends on y_j only and B^ q^ is
    exact.

    If the columns belong to bins, q_a is the sum of the scaled outputs of the records in bin a, each clipped to the
    interval of the bin. Replacing a record moves B q by at most (|b_a| + |b_b|) / 2 <= 1. With several rows per
    person, q_a is the sum of a_j q_j, and the contribution of a person is at most max |b| / 2 long, like that of a
    single row.

    Attributes:
        B: strategy (r, n).
        low: lower end of the clipping interval of each column (n,), in the unit of the output.
        high: upper end (n,).
        bounds: declared (low, high) that contain all intervals.
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
        """Noise that is added to the integers 2^40 B q."""

    @property
    def width(self) -> FloatArray:
        """Widths of the clipping intervals (n,), in the unit of the output."""
        return self.high - self.low

    @property
    def centre(self) -> FloatArray:
        """Centres of the clipping intervals (n,), in the unit of the output."""
        return self.low + self.width / 2

    @property
    def noise_sd(self) -> float:
        """Standard deviation of each entry's noise, in units of z."""
        return self.noise.sd / STEPS

    def measure(
        self, y: FloatArray, bits: Bits | None = None, *, cells: Cells | None = None, weights: IntArray | None = None
    ) -> FloatArray:
        """Measure once with exact noise and return z (r,), which may be published. Every call spends the budget again.

        Args:
            y: outputs, in the unit of the bounds: (n,), or one for each record if ``cells`` are given. Private.
            cells: bin of each record, which is the index of its column; indices outside 0 ... n - 1 are clipped. None
                if record j has column j.
            weights: weights of rows by which every person counts once, see ``integers.person_weights``; None if every
                record counts once.

        Raises:
            ValueError: y has another shape or holds NaN.
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
        """Return simulated measurements (draws, r) with floating-point noise, for teaching. They must not be published.

        Whoever knows the seed of ``rng`` can subtract the noise. Other arguments and errors are those of ``measure``.
        """
        return add_teaching_noise(self._exact(y, cells, weights), self.noise, STEPS, rng, draws)

    def _exact(self, y: FloatArray, cells: Cells | None = None, weights: IntArray | None = None) -> list[int]:
        """Return the integers 2^40 B q (r,)."""
        y = np.asarray(y, dtype=float)
        if cells is None:
            integers = np.asarray(self.B * GRID, dtype=np.int64)  # exact, because B is a multiple of 2^-20
            return exact_product(integers, output_integers(y, self.low, self.high))
        inside = np.clip(cells, 0, self.B.shape[1] - 1)
        q = output_integers(y, self.low[inside], self.high[inside])
        sums = np.zeros(self.B.shape[1], dtype=np.int64)  # |sum| <= n 2^19
        np.add.at(sums, inside, q if weights is None else weighted(q, weights))
        return _product(self.B, sums, np.int64 if len(cells) <= EXACT else object)


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement(OutputMeasurement):
    """Measurement z = B q + s w with discrete Gaussian noise w of unit variance.

    It is (1/s)-GDP, up to a delta of 1e-40; the module ``noise`` has the proof.

    Args:
        B: strategy (r, n) with columns of L2 norm <= 1. It is rounded to multiples of 2^-20, see ``integers``.
        low: lower end of the clipping interval of each column (n,), in the unit of the output. Public.
        high: upper end (n,), above ``low``.
        bounds: declared (low, high) that contain all intervals.
        noise_multiplier: s, in [1e-6, 1e20].

    Raises:
        ValueError: shapes disagree, a column is longer than 1, an interval is empty or outside the bounds, or s is
            out of range.
    """

    noise_multiplier: float

    norm: ClassVar[Norm] = "L2"

    @property
    def noise(self) -> GaussianNoise:
        """Discrete Gaussian noise for the sensitivity 2^40."""
        return GaussianNoise(sensitivity=STEPS, noise_multiplier=self.noise_multiplier)


def from_zero(B: FloatArray, high: FloatArray, bounds: tuple[float, float], noise_multiplier: float) -> Measurement:
    """Return a measurement of numbers in [0, high_j], for ``high`` (n,) within ``bounds``."""
    return Measurement(B=B, low=np.zeros(len(high)), high=high, bounds=bounds, noise_multiplier=noise_multiplier)


@dataclass(frozen=True, kw_only=True, eq=False)
class LaplaceMeasurement(OutputMeasurement):
    """Measurement z = B q + discrete Laplace noise of scale 1 / epsilon on each entry.

    It is epsilon-DP with delta = 0; the module ``noise`` has the proof.

    Args:
        B: strategy (r, n) with columns of L1 norm <= 1, for example the indicators of disjoint bins.
        low, high, bounds: see ``Measurement``.
        epsilon: in [1e-20, 1e6].

    Raises:
        ValueError: as for ``Measurement``.
    """

    epsilon: float

    norm: ClassVar[Norm] = "L1"

    @property
    def noise(self) -> LaplaceNoise:
        """Discrete Laplace noise for the sensitivity 2^40."""
        return LaplaceNoise(sensitivity=STEPS, epsilon=self.epsilon)


@dataclass(frozen=True, kw_only=True, eq=False)
class CellCounts:
    """Measurement z = B N + s Delta w of the numbers N of records in M public cells.

    A record that moves from cell a to cell b changes B N by b_b - b_a. Delta is the largest distance between two
    columns and is computed in integers. It can be as large as 2 if the columns have norm 1. If all columns are equal,
    no record changes B N, because it then depends on the public n alone. Noise for a sensitivity of 1 is added
    nevertheless.

    Args:
        B: strategy (r, M) with columns of L2 norm <= 1. It is rounded to multiples of 2^-20.
        noise_multiplier: s, in [1e-6, 1e20].
        people: whether records are rows of people who count once each. N is then the sum of the weights of the rows.

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
        """Discrete Gaussian noise for the sensitivity 2^20 Delta, or 2^40 Delta if rows have weights, rounded up."""
        B = self.B * GRID
        squares = (B * B).sum(axis=0)
        # Columns have norm <= 2^20, so all numbers are integers below 2^43, and every partial sum is exact in floats.
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
        """Measure once with exact noise and return z (r,), which may be published; see ``Measurement.measure``.

        Args:
            cells: index of the cell of each record (n,); indices outside 0 ... M - 1 are clipped.
            weights: weights of the records (n,), see ``integers.person_weights``. They are required if ``people``, and
                must not be given otherwise.

        Raises:
            ValueError: weights are missing, or given although records are not rows of people.
        """
        return add_noise(self._exact(cells, weights), self.noise, GRID * self._unit, bits)

    def teaching(
        self, cells: Cells, rng: np.random.Generator, draws: int = 1, weights: IntArray | None = None
    ) -> FloatArray:
        """Return simulated measurements (draws, r) with floating-point noise. They must not be published."""
        return add_teaching_noise(self._exact(cells, weights), self.noise, GRID * self._unit, rng, draws)

    @property
    def _unit(self) -> int:
        """Integer steps per count of 1."""
        return GRID if self.people else 1

    def _exact(self, cells: Cells, weights: IntArray | None = None) -> list[int]:
        """Return the integers 2^20 B N (r,), or 2^40 B N if rows have weights."""
        if (weights is not None) != self.people:
            raise ValueError("counts of people need the weights of their rows, and no others take any")
        numbers = np.zeros(self.B.shape[1], dtype=np.int64)
        np.add.at(numbers, np.clip(cells, 0, len(numbers) - 1), 1 if weights is None else weights)
        whole = np.int64 if len(cells) <= EXACT and not self.people else object
        return _product(self.B, numbers, whole)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownCounts:
    """Numbers of records in M public cells if inputs are public. They are known and not measured.

    Args:
        numbers: whole numbers >= 0 (M,), or multiples of 2^-20 if records are rows of people who count once each.
        people: whether records are rows of people.
        node_sums: for each node (F,), the sum over the records of its cell of the interpolation polynomial that is 1 at
            this node and 0 at the other nodes of the cell. They describe where in the cells the records are.

    Raises:
        ValueError: numbers are negative, or not multiples of 1 or 2^-20.
    """

    numbers: FloatArray
    node_sums: FloatArray
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
    """Return the smallest whole number whose square is at least ``square``."""
    return math.isqrt(square - 1) + 1 if square > 0 else 0


def _product(B: FloatArray, sums: IntArray, whole: type) -> list[int]:
    """Return 2^20 B sums (r,) exactly; int64 suffices for sums over 2^22 records of at most 2^19, see ``integers``."""
    return [int(x) for x in np.asarray(B * GRID, dtype=np.int64).astype(whole) @ sums.astype(whole)]
