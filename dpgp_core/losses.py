"""Privacy losses: what one release spends, in the form in which it composes most tightly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .calibration import epsilon_of
from .data import FloatArray
from .kernels import check_positive
from .renyi import ORDERS, rdp_epsilon


class Loss(Protocol):
    """The privacy loss of one release."""

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that it proves at this delta in (0, 1)."""
        ...

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Renyi divergence bound at orders alpha > 1 (k,)."""
        ...

    def repeated(self, times: int) -> Loss:
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


def total_epsilon(losses: list[Loss], delta: float) -> float:
    """Smallest epsilon proven for all losses together at this delta in (0, 1); 0 for none.

    A single loss gives its own epsilon. Gaussian losses compose exactly. If others are among them, the smaller of
    two valid bounds: Renyi curves added up; exact Gaussian total plus the sum of the pure epsilons.

    Args:
        losses: what was spent; later ones may have been chosen after seeing earlier releases.
        delta: in (0, 1).

    Raises:
        ValueError: delta is outside (0, 1).
    """
    if len(losses) == 1:
        return losses[0].epsilon(delta)
    gaussian = [loss.mu for loss in losses if isinstance(loss, GaussianLoss)]
    pure = [loss for loss in losses if isinstance(loss, PureLoss)]
    exact = epsilon_of(1 / math.hypot(*gaussian), delta) if gaussian else 0.0
    if len(gaussian) == len(losses):
        return exact
    renyi = rdp_epsilon(np.sum([loss.rdp(ORDERS) for loss in losses], axis=0), delta)
    if len(gaussian) + len(pure) < len(losses):
        return renyi
    return min(renyi, exact + sum(loss.times * loss.pure_epsilon for loss in pure))
