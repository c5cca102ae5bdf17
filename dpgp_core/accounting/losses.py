"""Privacy losses: what one release spends, in the form in which it composes most tightly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from .gaussian import check_budget, epsilon_of
from .renyi import ORDERS, rdp_epsilon


class PrivacyLoss(Protocol):
    """The privacy loss of one release."""

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that it proves at this delta in (0, 1)."""
        ...

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Renyi divergence bound at orders alpha > 1 (k,)."""
        ...

    def repeated(self, times: int) -> PrivacyLoss:
        """The loss of ``times`` independent releases of this kind."""
        ...


@dataclass(frozen=True)
class GaussianLoss:
    """Gaussian noise: N(0, 1) against N(mu, 1) at worst. Composes exactly, mu^2 adding up.

    Args:
        mu: largest shift between neighbours in units of the noise, > 0.

    Raises:
        ValueError: mu is not positive.

    Source: Dong, Roth & Su 2022, corollary 3.3.
    """

    mu: float

    def __post_init__(self) -> None:
        check_positive("mu", self.mu)

    def epsilon(self, delta: float) -> float:
        """Exact, by the analytic Gaussian formula."""
        return epsilon_of(1 / self.mu, delta)

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Order alpha: alpha mu^2 / 2."""
        return orders * (self.mu**2 / 2)

    def repeated(self, times: int) -> GaussianLoss:
        """Mu grows by the square root of the number of releases."""
        return GaussianLoss(self.mu * math.sqrt(times))


@dataclass(frozen=True)
class PureLoss:
    """A pure epsilon-DP release, for example Laplace noise or the exponential mechanism.

    Args:
        pure_epsilon: > 0.
        rho: zCDP parameter if a better one than epsilon^2 / 2 is proven (exponential mechanism: epsilon^2 / 8).
        times: number of independent releases.

    Raises:
        ValueError: a number is not positive.

    Source: Bun & Steinke 2016, proposition 3.3; Cesar & Rogers 2021, lemma 3.4, for epsilon^2 / 8.
    """

    pure_epsilon: float
    rho: float | None = None
    times: int = 1

    def __post_init__(self) -> None:
        check_positive("pure_epsilon", self.pure_epsilon)
        check_positive("rho", 1.0 if self.rho is None else self.rho)
        check_positive("times", self.times)

    def epsilon(self, delta: float) -> float:
        """The smaller of the sum of the pure epsilons and the Renyi conversion."""
        total = self.times * self.pure_epsilon
        return min(total, rdp_epsilon(self.rdp(ORDERS), delta)) if delta > 0 else total

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Order alpha: min(epsilon, rho alpha) for each release."""
        rho = self.pure_epsilon**2 / 2 if self.rho is None else self.rho
        return self.times * np.minimum(self.pure_epsilon, rho * orders)

    def repeated(self, times: int) -> PureLoss:
        """Independent releases."""
        return replace(self, times=self.times * times)


@dataclass(frozen=True)
class ApproximateLoss:
    """A release known only to be (epsilon, delta)-DP, for example a private selection proven in no better form.

    Args:
        approximate_epsilon: > 0.
        approximate_delta: in (0, 1).
        times: number of independent releases; both numbers add up.

    Raises:
        ValueError: a number is out of range.

    Source: Dwork & Roth 2014, theorem 3.16 (basic composition).
    """

    approximate_epsilon: float
    approximate_delta: float
    times: int = 1

    def __post_init__(self) -> None:
        check_budget(self.approximate_epsilon, self.approximate_delta)
        check_positive("times", self.times)

    def epsilon(self, delta: float) -> float:
        """The sum of the epsilons; inf at any delta below the sum of the deltas."""
        # a relative rounding error of the sum is not a promise broken
        enough = delta * (1 + 1e-9) >= self.times * self.approximate_delta
        return self.times * self.approximate_epsilon if enough else math.inf

    def rdp(self, orders: FloatArray) -> FloatArray:
        """No Renyi divergence is bounded: inf."""
        return np.full(orders.shape, math.inf)

    def repeated(self, times: int) -> ApproximateLoss:
        """Independent releases."""
        return replace(self, times=self.times * times)
