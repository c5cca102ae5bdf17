"""Privacy losses of single releases, and their composition.

Each kind of release has a class of losses, in the form that composes most tightly. Renyi curves are evaluated on a grid
of orders, and ``rdp_epsilon`` converts a curve to an epsilon for a given delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from ..arrays import FloatArray
from ..checks import check_positive
from .gaussian import LEAST_DELTA, check_budget, check_delta, epsilon_of

Numbers: TypeAlias = "float | FloatArray"

ORDERS: FloatArray = 1 + np.geomspace(1e-3, 1e5, 400)
"""Orders alpha > 1 at which curves are added up. The minimum over a finite set of orders is still a valid bound."""


def conversion_penalty(x: Numbers, delta: Numbers) -> FloatArray:
    """Return the term that converts a Renyi divergence bound at order alpha = 1 + x to an epsilon at this delta.

    log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)

    The arguments broadcast.

    Source: Canonne, Kamath & Steinke 2020, proposition 12.
    """
    log_order = np.log1p(x)
    return np.log(x) - log_order - (np.log(delta) + log_order) / x


def rdp_epsilon(rdp: FloatArray, delta: float, orders: FloatArray = ORDERS) -> float:
    """Return the smallest epsilon >= 0 that a Renyi curve implies at this delta, by the conversion of Canonne et al.

    epsilon = min_alpha rdp(alpha) + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)

    Args:
        rdp: bounds on the Renyi divergence at ``orders`` (k,); inf where it is not finite.
        orders: orders alpha > 1 (k,).

    Raises:
        ValueError: delta is outside (0, 1).

    Source: Canonne, Kamath & Steinke 2020, proposition 12.
    """
    check_delta(delta)
    return max(0.0, float((rdp + conversion_penalty(orders - 1, delta)).min()))


class PrivacyLoss(Protocol):
    """The privacy loss of one release."""

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon that is proven at this delta in (0, 1)."""
        ...

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Return bounds on the Renyi divergence (k,) at orders alpha > 1 (k,)."""
        ...

    def repeated(self, times: int) -> PrivacyLoss:
        """Return the loss of ``times`` independent releases of this kind together."""
        ...


@dataclass(frozen=True)
class GaussianLoss:
    """Privacy loss of Gaussian noise (mu-GDP). It composes exactly: the values of mu^2 add up.

    Neighbouring data sets are at most as easy to distinguish as N(0, 1) and N(mu, 1).

    Args:
        mu: largest shift of the mean between neighbours, in standard deviations of the noise; > 0.

    Raises:
        ValueError: mu is not positive.

    Source: Dong, Roth & Su 2022, corollary 3.3.
    """

    mu: float

    def __post_init__(self) -> None:
        check_positive("mu", self.mu)

    def epsilon(self, delta: float) -> float:
        """Return the exact epsilon, by the analytic Gaussian formula."""
        return epsilon_of(1 / self.mu, delta)

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Return alpha mu^2 / 2 at orders alpha (k,)."""
        return orders * (self.mu**2 / 2)

    def repeated(self, times: int) -> GaussianLoss:
        """Return the loss of ``times`` releases: mu grows with the square root of their number."""
        return GaussianLoss(self.mu * math.sqrt(times))


@dataclass(frozen=True)
class PureLoss:
    """Privacy loss of a pure epsilon-DP release, for example with Laplace noise or by the exponential mechanism.

    Args:
        pure_epsilon: epsilon of one release, > 0.
        rho: zCDP parameter, if a better one than epsilon^2 / 2 is proven (exponential mechanism: epsilon^2 / 8).
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
        """Return the smaller of two valid bounds: the sum of the pure epsilons, and that by Renyi divergences."""
        total = self.times * self.pure_epsilon
        return min(total, rdp_epsilon(self.rdp(ORDERS), delta)) if delta > 0 else total

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Return times * min(epsilon, rho alpha) at orders alpha (k,)."""
        rho = self.pure_epsilon**2 / 2 if self.rho is None else self.rho
        return self.times * np.minimum(self.pure_epsilon, rho * orders)

    def repeated(self, times: int) -> PureLoss:
        """Return the loss of ``times`` independent releases of this kind."""
        return replace(self, times=self.times * times)


@dataclass(frozen=True)
class ApproximateLoss:
    """Privacy loss of a release for which only (epsilon, delta)-DP is proven, for example a private selection.

    Args:
        approximate_epsilon: epsilon of one release, > 0.
        approximate_delta: delta of one release, in (0, 1).
        times: number of independent releases. Their epsilons and deltas add up.

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
        """Return the sum of the epsilons; inf if ``delta`` is below the sum of the deltas."""
        # The tolerance allows for rounding errors of the sum.
        enough = delta * (1 + 1e-9) >= self.times * self.approximate_delta
        return self.times * self.approximate_epsilon if enough else math.inf

    def rdp(self, orders: FloatArray) -> FloatArray:
        """Return inf at every order, because (epsilon, delta)-DP implies no bound on Renyi divergences."""
        return np.full(orders.shape, math.inf)

    def repeated(self, times: int) -> ApproximateLoss:
        """Return the loss of ``times`` independent releases of this kind."""
        return replace(self, times=self.times * times)


def compose(losses: list[PrivacyLoss], delta: float) -> float:
    """Return the smallest epsilon proven for all releases together, at this delta in (0, 1); 0 if there are none.

    * Gaussian losses compose exactly.
    * If other losses are among them, the smaller of two valid bounds is taken: the sum of all Renyi curves, and the
      exact Gaussian total plus the sum of the pure epsilons.
    * Approximate losses add their epsilons and use up their deltas (basic composition). All other losses are composed
      at the delta that is left; the result is inf if none is left.

    Args:
        losses: losses of all releases. Later releases may have been chosen after seeing earlier ones.

    Raises:
        ValueError: delta is outside (0, 1).
    """
    if len(losses) == 1:
        return losses[0].epsilon(delta)
    approximate = [loss for loss in losses if isinstance(loss, ApproximateLoss)]
    if approximate:
        left = delta - sum(loss.times * loss.approximate_delta for loss in approximate)
        rest: list[PrivacyLoss] = [loss for loss in losses if not isinstance(loss, ApproximateLoss)]
        if left < -1e-9 * delta or (rest and left < LEAST_DELTA):
            return math.inf
        spent = sum(loss.times * loss.approximate_epsilon for loss in approximate)
        return spent + (compose(rest, left) if rest else 0.0)
    gaussian = [loss.mu for loss in losses if isinstance(loss, GaussianLoss)]
    pure = [loss for loss in losses if isinstance(loss, PureLoss)]
    exact = epsilon_of(1 / math.hypot(*gaussian), delta) if gaussian else 0.0
    if len(gaussian) == len(losses):
        return exact
    renyi = rdp_epsilon(np.sum([loss.rdp(ORDERS) for loss in losses], axis=0), delta)
    if len(gaussian) + len(pure) < len(losses):
        return renyi
    return min(renyi, exact + sum(loss.times * loss.pure_epsilon for loss in pure))
