"""Sums of one vector a record, where inputs are private too: neighbours replace one record, input and output."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..arrays import FloatArray
from .discrete import Bits
from .integers import IntArray
from .noise import MARGIN, GaussianNoise, add_noise, add_teaching_noise

_ROWS = 4096  # records worked on at a time
_FINE = 1 << 30  # steps to a radius


@dataclass(frozen=True, kw_only=True)
class RecordSum:
    """z = sum_j v_j + s S w, one vector v_j (k,) for each record, |v_j| <= radius, |v_j - v_j'| <= S: see ``noise``.

    Nothing is refused for what a private value is: it is moved into the ball. v^_j = rint(2^30 v_j / radius), and one
    that is longer than 2^30 even so is cut towards zero, so that S = 2 radius holds in integers.

    Args:
        radius: largest length of a vector, > 0, public.
        noise_multiplier: s, in [1e-6, 1e20].
        sensitivity: S where a proof gives less than 2 radius: the claim then rests on that proof, for vectors as
            computed. Rounding, at most sqrt(k) + 1.2 steps a vector, is added to it.

    Raises:
        ValueError: a number is out of range.
    """

    radius: float
    noise_multiplier: float
    sensitivity: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.radius < math.inf:
            raise ValueError(f"radius must be a finite number above 0, got {self.radius}")
        if self.sensitivity is not None and not 0 < self.sensitivity < math.inf:
            raise ValueError(f"sensitivity must be a finite number above 0, got {self.sensitivity}")
        _ = self.noise(1)

    def noise(self, k: int) -> GaussianNoise:
        """Discrete Gaussian for the change of a sum of vectors (k,), in steps."""
        steps = 2 * _FINE
        if self.sensitivity is not None:
            share = Fraction(self.sensitivity) / Fraction(self.radius) * (1 + MARGIN)
            steps = min(steps, math.ceil(share * _FINE) + 2 * math.isqrt(k) + 5)
        return GaussianNoise(sensitivity=steps, noise_multiplier=self.noise_multiplier)

    def noise_sd(self, k: int) -> float:
        """Standard deviation of each entry's noise, in units of z."""
        return self.noise(k).sd / _FINE * self.radius

    def measure(self, blocks: Iterable[FloatArray], bits: Bits | None = None) -> FloatArray:
        """Measure once, for real: z (k,), which may be published; see ``Measurement.measure``.

        Args:
            blocks: vectors of all records, in blocks (any number, k); ``[V]`` for one array.
            bits: source of randomness; default: the operating system's.
        """
        exact = self._exact(blocks)
        return self.radius * add_noise(exact, self.noise(len(exact)), _FINE, bits)

    def teaching(self, blocks: Iterable[FloatArray], rng: np.random.Generator, draws: int = 1) -> FloatArray:
        """Numbered float draws for teaching (draws, k). Not for release."""
        exact = self._exact(blocks)
        return self.radius * add_teaching_noise(exact, self.noise(len(exact)), _FINE, rng, draws)

    def integers(self, V: FloatArray) -> IntArray:
        """v^ (n, k) of vectors (n, k): every row of length at most 2^30, by integer arithmetic."""
        with np.errstate(all="ignore"):  # whatever is not finite becomes 0
            lengths = np.linalg.norm(V, axis=1, keepdims=True)
            ball = np.where(np.isfinite(lengths), V / np.maximum(lengths, self.radius), 0.0)
        integers: IntArray = np.rint(ball * _FINE).astype(np.int64)
        long = _squares(integers) > _FINE**2
        integers[long] = np.trunc(ball[long] * (_FINE * (1 - 1e-9))).astype(np.int64)
        integers[_squares(integers) > _FINE**2] = 0  # never, if floats round as they should; then safe all the same
        return integers

    def _exact(self, blocks: Iterable[FloatArray]) -> list[int]:
        total: list[int] | None = None
        for block in blocks:
            for start in range(0, len(block), _ROWS):
                # at most 4096 numbers of at most 2^30 each
                part = [int(v) for v in self.integers(block[start : start + _ROWS]).sum(axis=0)]
                total = part if total is None else [a + b for a, b in zip(total, part, strict=True)]
        if total is None:
            raise ValueError("there must be at least one record")
        return total


def _squares(integers: IntArray) -> IntArray:
    squares: IntArray = np.einsum("ij,ij->i", integers, integers)
    return squares
