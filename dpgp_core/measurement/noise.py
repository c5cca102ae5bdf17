"""Discrete noise for integer sums, and the proof that it has the guarantee of continuous noise.

**Gaussian.** Stage i releases z^_i = x^_i + e_i. The entries of e_i are independent integers with probability
proportional to exp(-e^2 / (2 sigma^2)). One record moves the integers x^_i by at most Delta_i in the L2 norm, and

    sigma^2 = sigma_1^2 + sigma_2^2,    sigma_1 >= s_i Delta_i (1 + 1e-9),    sigma_2 = 3.

A stage may depend on numbers released earlier. Let r <= 10^6 be the number of all released numbers,
mu^2 = sum_i 1 / s_i^2, and delta(epsilon, mu) the analytic Gaussian formula. Then all stages together are
(epsilon, delta)-DP for every epsilon >= 0, with delta = max(delta(epsilon, mu), 1e-40) if 1e-20 <= mu <= 30, and with
delta = delta(epsilon, mu) + 2e-70 for any mu.

*Proof.* (1) Let c be x^_i plus *continuous* Gaussian noise of standard deviation sigma_1. Round each entry of c at
random, to the integer k with probability g(k - c, sigma_2) / S(c), g(t, v) = exp(-t^2 / 2 v^2) / (sqrt(2 pi) v), S(c)
= sum_k g(k - c, sigma_2). Rounding uses c only, so all stages together are mu'-GDP, mu' = mu / (1 + 1e-9).

(2) By Poisson's summation formula S(c) = 1 + 2 sum_{m >= 1} exp(-2 pi^2 sigma_2^2 m^2) cos(2 pi m c), which lies
within 1 +- eta, eta = 2 sum_m exp(-18 pi^2 m^2) < 1.5e-77. So, with two Gaussians convolved, an entry is rounded to k
with probability int g(c - x, sigma_1) g(k - c, sigma_2) / S(c) dc = g(k - x, sigma) / (1 + theta), |theta| <= eta.
The discrete Gaussian has g(k - x, sigma) / sum_j g(j - x, sigma) instead, and the sum lies in [1, 1 + eta] for
integer x, by the same formula. The two differ by a factor within exp(+-3 eta), those of all r entries by one within
exp(+-xi), xi = 5e-71.

(3) For neighbours' distributions P, Q of z^ and any event A therefore P(A) <= e^xi (e^(epsilon - 2 xi) e^xi Q(A) +
delta(epsilon - 2 xi, mu')) = e^epsilon Q(A) + e^xi delta(epsilon - 2 xi, mu'). Neither delta nor its derivative in
epsilon, -e^epsilon Phi(-epsilon / mu - mu / 2), exceeds 1 in absolute value, so the last term is at most
delta(epsilon, mu') + 4 xi, and 4 xi = 2e-70. The second claim follows, as delta grows with mu.

(4) For the first claim, note that the derivative of delta in mu is phi(a), where a = epsilon / mu - mu / 2 >= -mu / 2.
If delta(epsilon, mu) >= 1e-40, then a <= 13.4, because delta <= Phi(-a). When mu grows over the upper half of the
interval from mu' to mu, delta grows by at least 4e-10 mu phi(a) (1 - 1e-6). This is more than 2e-70, because
phi(a) >= 1e-40 if |a| <= 13.4, and because a < -13.4 implies mu >= 26 and phi(a) >= phi(15) > 1e-50. If
delta(epsilon, mu) < 1e-40, consider the smaller epsilon at which it equals 1e-40, or epsilon = 0 if there is none. The
claim holds at that epsilon, and therefore at all larger ones. So half of the margin 1e-9 is enough. The other half
exceeds the rounding error of s.

**Laplace.** Let the entries of e have probability proportional to exp(-|e| / b) with b >= Delta / epsilon, where Delta
is the largest change in the L1 norm. Then P(z^) / Q(z^) <= exp(Delta / b) <= exp(epsilon) for every z^, which is
exactly epsilon-DP.

Source: Canonne, Kamath & Steinke 2020 (samplers); Peikert 2010, section 3 (convolution); Dong, Roth & Su 2022,
theorem 2.7 and corollary 3.3 (mu-GDP, composition); Balle & Wang 2018, theorem 8 (delta).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .. import checks
from ..arrays import FloatArray
from .discrete import Bits, discrete_gaussian, discrete_laplace

MARGIN = Fraction(1, 10**9)
ROUNDING_SD = 3  # sigma_2, in steps


@dataclass(frozen=True, kw_only=True)
class GaussianNoise:
    """Discrete Gaussian noise of variance sigma_1^2 + 9, with sigma_1 = ceil(s Delta (1 + 1e-9)).

    Args:
        sensitivity: Delta, the largest L2 change of the integers, >= 1.
        noise_multiplier: s, in [1e-6, 1e20].

    Raises:
        ValueError: either is out of range.
    """

    sensitivity: int
    noise_multiplier: float

    def __post_init__(self) -> None:
        if self.sensitivity < 1:
            raise ValueError(f"sensitivity must be a whole number of at least 1, got {self.sensitivity}")
        if not 1e-6 <= self.noise_multiplier <= 1e20:
            raise ValueError(f"noise_multiplier must be a number from 1e-6 to 1e20, got {self.noise_multiplier}")

    @property
    def variance(self) -> int:
        """The parameter sigma^2 of the discrete Gaussian, in squared integer steps."""
        sigma_1 = math.ceil(Fraction(self.noise_multiplier) * self.sensitivity * (1 + MARGIN))
        return sigma_1**2 + ROUNDING_SD**2

    @property
    def sd(self) -> float:
        """Standard deviation sigma in integer steps, to a relative 1e-70."""
        return math.sqrt(self.variance)

    def draw(self, size: int, bits: Bits | None = None) -> list[int]:
        """Return ``size`` exact samples, by default with random bits of the operating system."""
        return discrete_gaussian(self.variance, size, bits)

    def teaching(self, rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        """Return floating-point samples of a continuous Gaussian with the same variance, in steps. Not for release."""
        return self.sd * rng.standard_normal(shape)


@dataclass(frozen=True, kw_only=True)
class LaplaceNoise:
    """Discrete Laplace noise of scale b = ceil(Delta / epsilon).

    Args:
        sensitivity: Delta, the largest L1 change of the integers, >= 1.
        epsilon: in [1e-20, 1e6].

    Raises:
        ValueError: either is out of range.
    """

    sensitivity: int
    epsilon: float

    def __post_init__(self) -> None:
        if self.sensitivity < 1:
            raise ValueError(f"sensitivity must be a whole number of at least 1, got {self.sensitivity}")
        if not 1e-20 <= self.epsilon <= 1e6:
            raise ValueError(f"epsilon must be a number from 1e-20 to 1e6, got {self.epsilon}")

    @property
    def scale(self) -> int:
        """The parameter b of the discrete Laplace distribution, in integer steps."""
        return math.ceil(self.sensitivity / Fraction(self.epsilon))

    @property
    def sd(self) -> float:
        """Standard deviation in steps: sqrt(2 p) / (1 - p) with p = exp(-1 / b), that is 1 / (sqrt(2) sinh(1 / 2b))."""
        return 1 / (math.sqrt(2) * math.sinh(0.5 / self.scale))

    def draw(self, size: int, bits: Bits | None = None) -> list[int]:
        """Return ``size`` exact samples, by default with random bits of the operating system."""
        return discrete_laplace(self.scale, size, bits)

    def teaching(self, rng: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
        """Return floating-point samples of a continuous Laplace with the same scale, in steps. Not for release."""
        return self.scale * rng.laplace(size=shape)


def add_noise(
    exact: Sequence[int], noise: GaussianNoise | LaplaceNoise, steps: int, bits: Bits | None = None
) -> FloatArray:
    """Return (exact + noise) / steps (r,), correctly rounded quotients of integers. They may be published.

    Args:
        exact: integers x^ (r,). Private.
        noise: distribution of the noise.
        steps: integer steps per unit.
    """
    return np.array([(x + e) / steps for x, e in zip(exact, noise.draw(len(exact), bits), strict=True)])


def with_noise(
    exact: Sequence[int],
    noise: GaussianNoise | LaplaceNoise,
    steps: int,
    rng: np.random.Generator | None = None,
    draws: int = 1,
) -> FloatArray:
    """Return measurements (draws, r): real ones with independent exact noise, or simulated ones if ``rng`` is given."""
    if rng is not None:
        return add_teaching_noise(exact, noise, steps, rng, draws)
    return np.array([add_noise(exact, noise, steps) for _ in range(draws)])


def add_teaching_noise(
    exact: Sequence[int], noise: GaussianNoise | LaplaceNoise, steps: int, rng: np.random.Generator, draws: int
) -> FloatArray:
    """Return simulated measurements (draws, r) with floating-point noise, which the seed of ``rng`` reveals.

    They must not be published.

    Raises:
        ValueError: draws < 1.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")
    return np.array([x / steps for x in exact]) + noise.teaching(rng, (draws, len(exact))) / steps


class ZeroNoise(np.random.Generator):
    """A generator whose noise is 0, with which measurements return the noiseless numbers. These are not private."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return zeros."""
        return np.zeros(size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return zeros."""
        return np.zeros(size)


class NotBatchable(ValueError):
    """Raised if noise for one simulated release is requested from a generator of several; simulate them one by one."""


class NumberedDraws(np.random.Generator):
    """A generator for several simulated releases at once: row k of its arrays comes from ``default_rng(first + k)``.

    A simulated release therefore has the same noise whether it is simulated alone or together with others. With one
    shared generator, its noise in later stages would depend on how many releases are simulated together.

    Only ``standard_normal`` and ``laplace`` are replaced, because mechanisms take all noise from them.

    Args:
        first: number of the first simulated release, >= 0.
        count: number of simulated releases, >= 1.

    Raises:
        ValueError: a number is out of range.
    """

    def __init__(self, first: int, count: int) -> None:
        checks.whole("first", first, 0, 2**63)
        checks.whole("count", count, 1, 10**6)
        super().__init__(np.random.PCG64(first))
        self._each = [np.random.default_rng(number) for number in range(first, first + count)]

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Return standard normal numbers, shape ``size`` = (count, ...).

        Raises:
            NotBatchable: the first side of ``size`` is not ``count``.
        """
        rest = self._of_one(size)
        return np.stack([each.standard_normal(rest) for each in self._each])

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return Laplace numbers, shape ``size`` = (count, ...).

        Raises:
            NotBatchable: the first side of ``size`` is not ``count``.
        """
        rest = self._of_one(size)
        rows: FloatArray = np.stack([each.laplace(loc, scale, rest) for each in self._each])
        return rows

    def _of_one(self, size: Any) -> tuple[int, ...]:
        if not isinstance(size, tuple) or not size or size[0] != len(self._each):
            raise NotBatchable(f"numbered draws are made {len(self._each)} at a time, got the shape {size}")
        return size[1:]
