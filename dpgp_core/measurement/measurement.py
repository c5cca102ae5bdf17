"""What is measured of private outputs: r numbers, integers plus discrete noise. All else is post-processing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import FloatArray
from .discrete import Bits
from .integers import GRID, Norm, check_intervals, exact_product, place_integers, strategy_integers
from .noise import GaussianNoise, LaplaceNoise, add_noise, add_teaching_noise

STEPS = GRID * GRID
"""Integers to a unit of z: 2^20 for the strategy times 2^20 for the places."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputMeasurement(ABC):
    """Common part of the two below: z = B q + noise, with q_j = (clip(y_j, low_j, high_j) - centre_j) / width_j.

    q_j lies in [-1/2, 1/2] whatever y_j is, so replacing y_j moves B q by at most the norm of column j of B, at most 1.
    In integers: q^ = rint(2^20 q) lies in [-2^19, 2^19] and columns of B^ = 2^20 B have norm 2^20 at most, so B^ q^
    moves by at most Delta = 2^40. No rounding error enters: q^_j depends on no output but y_j, and B^ q^ is exact.
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
        """What is added to the integers 2^40 B q."""

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

    def measure(self, y: FloatArray, bits: Bits | None = None) -> FloatArray:
        """Measure once, for real: z (r,), which may be published. Each call spends the guarantee again.

        Args:
            y: outputs (n,), in the unit of the bounds. Private.
            bits: source of randomness; default: the operating system's. Any other is for tests only.

        Raises:
            ValueError: y has another shape, or holds NaN.
        """
        return add_noise(self._exact(y), self.noise, STEPS, bits)

    def teaching(self, y: FloatArray, rng: np.random.Generator, draws: int = 1) -> FloatArray:
        """Numbered float draws for teaching (draws, r): of the same distribution to the eye, and not for release.

        Args:
            y: outputs (n,), in the unit of the bounds.
            rng: source of the draws: who knows its seed knows the noise.
            draws: how many, >= 1.

        Raises:
            ValueError: y has another shape or holds NaN, or draws < 1.
        """
        return add_teaching_noise(self._exact(y), self.noise, STEPS, rng, draws)

    def noiseless(self, y: FloatArray) -> FloatArray:
        """B q (r,), what the noise is added to. Not private."""
        return np.array([x / STEPS for x in self._exact(y)])

    def _exact(self, y: FloatArray) -> list[int]:
        integers = np.asarray(self.B * GRID, dtype=np.int64)  # exact: B is a multiple of 2^-20
        return exact_product(integers, place_integers(np.asarray(y, dtype=float), self.low, self.high))


@dataclass(frozen=True, kw_only=True, eq=False)
class Measurement(OutputMeasurement):
    """z = B q + s w, w standard normal to the eye and discrete in truth: (1/s)-GDP up to delta 1e-40. Proof: ``noise``.

    Args:
        B: strategy (r, n), columns of L2 norm <= 1; afterwards the multiple of 2^-20 that is used, see ``integers``.
        low: lower end of each output's interval (n,), in the output's unit, public.
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
