"""CoinPress: a private mean of bounded numbers whose bounds are far too wide, tightened step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..accounting.losses import GaussianLoss
from ..arrays import FloatArray
from ..checks import check_positive
from ..measurement.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class CoinPress:
    """Private mean of n numbers near an interval centre +- radius.

    Each step t clips to the interval widened by sd sqrt(2 log(2n / beta)), whose half-width is w_t, and releases
        m_t = mean + N(0, (2 w_t / n)^2 / (2 rho_t));
    the next interval is m_t +- sqrt(2 log(2 / beta) (sd^2 / n + (2 w_t / n)^2 / (2 rho_t))). The last m_t counts.
    One number moves a clipped mean by at most 2 w_t / n: step t is rho_t-zCDP whatever the numbers are. That they are
    spread like a Gaussian of this sd is needed for accuracy only.

    Args:
        rho: zCDP budget > 0 of all steps.
        steps: number of steps, >= 1.
        last_share: share of rho in (0, 1) for the last step; the others share the rest equally.
        sd: standard deviation > 0 that the numbers are taken to have at most.
        beta: chance in (0, 1) of failure of each step that the interval's width is chosen for.

    Raises:
        ValueError: a parameter is out of range.

    Source: Biswas, Dong, Kamath & Ullman 2020, algorithm 1 (one dimension); shares as in Honkela & Melkas 2021.
    """

    rho: float
    steps: int = 12
    last_share: float = 0.75
    sd: float = 1.0
    beta: float = 0.01

    def __post_init__(self) -> None:
        check_positive("rho", self.rho)
        check_positive("sd", self.sd)
        if self.steps < 1:
            raise ValueError(f"steps must be at least 1, got {self.steps}")
        for name, value in (("last_share", self.last_share), ("beta", self.beta)):
            if not 0 < value < 1:
                raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}")

    @property
    def loss(self) -> GaussianLoss:
        """Adaptive composition of Gaussian mechanisms: mu^2 / 2 = rho."""
        return GaussianLoss(math.sqrt(2 * self.rho))

    @property
    def shares(self) -> tuple[float, ...]:
        """Budget of each step, adding up to rho."""
        if self.steps == 1:
            return (self.rho,)
        early = (1 - self.last_share) / (self.steps - 1)
        return (early * self.rho,) * (self.steps - 1) + (self.last_share * self.rho,)

    def mean(self, values: FloatArray, centre: float, radius: float, rng: np.random.Generator | None = None) -> float:
        """Private mean of ``values`` (n,), n public, from the public interval centre +- radius.

        Each step is a ``Measurement`` of one number, the sum of the places that the values have in the interval.

        Args:
            values: finite numbers (n,), n >= 1. Private.
            centre: of the public interval, in the unit of the values.
            radius: of the public interval, > 0, in the same unit.
            rng: None for a real release, in integers with noise from the operating system; a generator for a numbered
                draw, for teaching only.

        Raises:
            ValueError: there are no values, or radius is not positive.
        """
        check_positive("radius", radius)
        n = len(values)
        if n < 1:
            raise ValueError("there are no values to take the mean of; give at least one")
        tail = self.sd * math.sqrt(2 * math.log(2 * n / self.beta))
        for share in self.shares:
            low, high = centre - radius - tail, centre + radius + tail
            ends = np.full(n, low), np.full(n, high)
            total = Measurement(
                B=np.ones((1, n)), low=ends[0], high=ends[1], bounds=(low, high), noise_multiplier=_multiplier(share)
            )
            z = total.measure(values) if rng is None else total.teaching(values, rng)[0]
            noise_sd = (high - low) / n * total.noise_sd
            centre = low + (high - low) * (float(z[0]) / n + 0.5)
            radius = math.sqrt(2 * math.log(2 / self.beta) * (self.sd**2 / n + noise_sd**2))
        return centre


def _multiplier(rho: float) -> float:
    """Noise multiplier s = 1 / mu of a Gaussian mechanism that is rho-zCDP: mu^2 / 2 = rho."""
    return 1 / math.sqrt(2 * rho)
