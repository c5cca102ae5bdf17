"""Best of a random number of private runs: what it costs to publish only the run with the highest score."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import lambertw

from ..arrays import FloatArray
from ..checks import check_share
from .gaussian import check_budget, check_delta
from .losses import ORDERS, GaussianLoss, PrivacyLoss, rdp_epsilon

Run = TypeVar("Run")


@dataclass(frozen=True)
class ParallelLoss:
    """Releases on disjoint parts of the data, each free to use the results of those before it: the worst one counts.

    A neighbour differs in one part only; what follows another part's release is post-processing of it
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


@dataclass(frozen=True)
class BestOfManyLoss:
    """The best of K private runs, K >= 1 truncated negative binomial (eta, gamma); only the best is published.

    e'(a) = e(a) + min_b [(1 + eta)(1 - 1/b) e(b) + (1 + eta) log(1/gamma) / b] + log E[K] / (a - 1)
    and, as divergence grows with the order, the least value at any larger a.

    Args:
        base: loss of one run, its score included.
        eta: shape >= 0; 1 is geometric, 0 logarithmic.
        gamma: in (0, 1).
        times: number of independent selections.

    Raises:
        ValueError: eta is negative, or gamma outside (0, 1).

    Source: Papernot & Steinke 2022, theorem 2.
    """

    base: PrivacyLoss
    eta: float = 0.0
    gamma: float = 0.01
    times: int = 1

    def __post_init__(self) -> None:
        check_shape(self.eta, self.gamma)

    def epsilon(self, delta: float) -> float:
        """By conversion of the Renyi curve."""
        return rdp_epsilon(self.rdp(ORDERS), delta)

    def rdp(self, orders: FloatArray) -> FloatArray:
        """The curve e' above, with a and b among ``orders`` (k,), ascending."""
        e = self.base.rdp(orders)
        penalty = (1 + self.eta) * float(((1 - 1 / orders) * e - math.log(self.gamma) / orders).min())
        curve = e + penalty + math.log(expected_runs(self.eta, self.gamma)) / (orders - 1)
        return self.times * np.minimum.accumulate(curve[::-1])[::-1]

    def repeated(self, times: int) -> BestOfManyLoss:
        """Independent selections."""
        return replace(self, times=self.times * times)


def expected_runs(eta: float, gamma: float) -> float:
    """E[K] = eta (1 - gamma) / (gamma (1 - gamma^eta)); for eta = 0 (1/gamma - 1) / log(1/gamma)."""
    if eta == 0:
        return (1 / gamma - 1) / math.log(1 / gamma)
    return eta * (1 - gamma) / (gamma * -math.expm1(eta * math.log(gamma)))


def draw_runs(eta: float, gamma: float, rng: np.random.Generator) -> int:
    """One draw of K >= 1: P(K = k) proportional to (1 - gamma)^k prod_{l < k} (l + eta) / (l + 1)."""
    check_shape(eta, gamma)
    if eta == 0:
        return int(rng.logseries(1 - gamma))
    while True:
        k = int(rng.negative_binomial(eta, gamma))
        if k:
            return k


def best_of_runs(run: Callable[[], tuple[float, Run] | None], runs: int) -> tuple[float, Run] | None:
    """The (score, result) of highest score among ``runs`` calls; None where a call is refused each time."""
    best: tuple[float, Run] | None = None
    for _ in range(runs):
        result = run()
        if result is not None and (best is None or result[0] > best[0]):
            best = result
    return best


def calibrate_runs(epsilon: float, delta: float, eta: float, gamma: float) -> GaussianLoss:
    """Largest Gaussian loss of one run for which the selection is (epsilon, delta)-DP.

    Raises:
        ValueError: the budget is out of range, or so small that no noise attains it with this eta and gamma.
    """
    check_budget(epsilon, delta)

    def excess(log_mu: float) -> float:
        return BestOfManyLoss(GaussianLoss(math.exp(log_mu)), eta, gamma).epsilon(delta) - epsilon

    low, high = math.log(1e-6), math.log(1e3)
    if excess(low) > 0:
        raise ValueError(f"epsilon = {epsilon} is out of reach with eta = {eta}, gamma = {gamma}; raise epsilon")
    if excess(high) < 0:
        return GaussianLoss(math.exp(high))
    return GaussianLoss(math.exp(brentq(excess, low, high, xtol=1e-12)) * (1 - 1e-9))


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
    """What each run may spend so that the whole selection is (epsilon, delta)-DP.

    epsilon = 3 e + 3 sqrt(2 d),  delta = t (1 - log t),  t = sqrt(2 d) / gamma = -delta / W_-1(-delta / exp(1)),
    T = ceil(log(1/t) / gamma)

    Args:
        gamma: chance in (0, 1) of stopping after each draw.

    Raises:
        ValueError: an argument is out of range, or epsilon is too small for this delta.

    Source: Liu & Talwar 2019, theorem 3.4; Honkela & Melkas 2021, appendix C.
    """
    check_budget(epsilon, delta)
    check_shape(1.0, gamma)
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


def check_shape(eta: float, gamma: float) -> None:
    """Raise ValueError unless eta >= 0 is finite and 0 < gamma < 1."""
    if not (math.isfinite(eta) and eta >= 0):
        raise ValueError(f"eta must be a finite number of at least 0, got {eta}")
    check_share("gamma", gamma)
