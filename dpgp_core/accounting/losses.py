"""Privacy losses of one release, in the form in which it composes most tightly, and of several.

Renyi curves are on a grid of orders; ``rdp_epsilon`` turns a curve into the epsilon of a delta. Last, what each of a
random number of runs may cost if only the one with the highest score is published.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from scipy.special import lambertw

from ..arrays import FloatArray
from ..checks import check_positive, check_share
from .gaussian import LEAST_DELTA, check_budget, check_delta, epsilon_of

Numbers: TypeAlias = "float | FloatArray"

ORDERS: FloatArray = 1 + np.geomspace(1e-3, 1e5, 400)
"""Orders alpha > 1 on which curves are added up. A minimum over fewer orders is larger, so still valid."""


def conversion_penalty(x: Numbers, delta: Numbers) -> FloatArray:
    """Added to a Renyi bound at order alpha = 1 + x to make it an epsilon at this delta, by the tight conversion.

    log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)

    Arguments broadcast.

    Source: Canonne, Kamath & Steinke 2020, proposition 12.
    """
    log_order = np.log1p(x)
    return np.log(x) - log_order - (np.log(delta) + log_order) / x


def rdp_epsilon(rdp: FloatArray, delta: float, orders: FloatArray = ORDERS) -> float:
    """Smallest epsilon >= 0 that a Renyi curve gives at this delta, by the tight conversion.

    epsilon = min_alpha rdp(alpha) + log(1 - 1/alpha) - (log delta + log alpha) / (alpha - 1)

    Args:
        rdp: curve at ``orders`` (k,); inf where the divergence is not finite.
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


@dataclass(frozen=True)
class ParallelLoss:
    """Releases on disjoint parts of the data, each free to use the results of those before it: the worst one counts.

    A neighbour differs in one part only; later releases of another part are post-processing of it
    (Honkela & Melkas 2021, lemma 3, for any divergence).

    Args:
        losses: one for each part.
    """

    losses: tuple[PrivacyLoss, ...]

    def epsilon(self, delta: float) -> float:
        """The largest epsilon."""
        return max(loss.epsilon(delta) for loss in self.losses)

    def rdp(self, orders: FloatArray) -> FloatArray:
        """The largest divergence at each order."""
        return np.asarray(np.max([loss.rdp(orders) for loss in self.losses], axis=0))

    def repeated(self, times: int) -> ParallelLoss:
        """Independent releases on the same parts."""
        return ParallelLoss(tuple(loss.repeated(times) for loss in self.losses))


def compose(losses: list[PrivacyLoss], delta: float) -> float:
    """Smallest epsilon proven for all losses together at this delta in (0, 1); 0 for none.

    A single loss gives its own epsilon. Gaussian losses compose exactly. If others are among them, the smaller of
    two valid bounds: Renyi curves added up; exact Gaussian total plus the sum of the pure epsilons. Approximate
    losses take their epsilons and their deltas off the top (basic composition), and the rest is proven at the
    delta left over; inf if none is.

    Args:
        losses: of all releases; later ones may have been chosen after seeing earlier releases.

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


class LiuTalwar(NamedTuple):
    """Constants of the selection with geometric stopping.

    Attributes:
        t: sqrt(2 delta) / gamma, the chance delta_2 of reaching the last draw.
        delta: of one run.
        epsilon: of one run.
        draws: T, at most so many.
    """

    t: float
    delta: float
    epsilon: float
    draws: int


def liu_talwar_constants(epsilon: float, delta: float, gamma: float) -> LiuTalwar:
    """Budget of each run for a whole selection that is (epsilon, delta)-DP.

    epsilon = 3 e + 3 sqrt(2 d),  delta = t (1 - log t),  t = sqrt(2 d) / gamma = -delta / W_-1(-delta / exp(1)),
    T = ceil(log(1/t) / gamma)

    Args:
        gamma: chance in (0, 1) of stopping after each draw.

    Raises:
        ValueError: an argument is out of range, or epsilon is too small for this delta.

    Source: Liu & Talwar 2019, theorem 3.4; Honkela & Melkas 2021, appendix C.
    """
    check_budget(epsilon, delta)
    check_share("gamma", gamma)
    t = -delta / float(lambertw(-delta / math.e, k=-1).real)
    one_delta = (gamma * t) ** 2 / 2
    one_epsilon = epsilon / 3 - math.sqrt(2 * one_delta)
    check_budget(one_epsilon, one_delta)
    return LiuTalwar(t, one_delta, one_epsilon, math.ceil(math.log(1 / t) / gamma))


def zcdp_of(epsilon: float, delta: float) -> float:
    """Rho whose zCDP implies (epsilon, delta)-DP: (sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta)))^2.

    Source: Bun & Steinke 2016, proposition 1.3.
    """
    check_delta(delta)
    log_inverse = -math.log(delta)
    return (math.sqrt(epsilon + log_inverse) - math.sqrt(log_inverse)) ** 2
