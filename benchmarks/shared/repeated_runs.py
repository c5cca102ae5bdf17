"""Best of a truncated negative binomial number of private runs, accounted by Renyi divergence (Papernot & Steinke).

The repeated choice of ``dpgp_core.selection.hyperparameters`` with another law of the number of runs: far less noise
for the same budget. ``sparse_tables`` compares both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from dpgp_core.accounting.gaussian import check_budget
from dpgp_core.accounting.losses import ORDERS, GaussianLoss, PrivacyLoss, rdp_epsilon
from dpgp_core.arrays import FloatArray
from dpgp_core.checks import check_share
from dpgp_core.mechanisms import SparseVariational
from dpgp_core.selection.hyperparameters import Candidate, HyperparameterChoice, best_of_random_runs
from dpgp_core.table import Dataset


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


def choose_repeatedly(
    mechanism: SparseVariational,
    candidates: Sequence[Candidate],
    dataset: Dataset,
    rng: np.random.Generator | None = None,
    eta: float = 1.0,
    gamma: float = 0.01,
) -> HyperparameterChoice:
    """The best of a truncated negative binomial number of runs, scored on records that are not fitted.

    Args:
        mechanism: as for ``choose_liu_talwar``.
        dataset: even rows are fitted, odd rows are scored.
        eta: shape of the number of runs, see ``BestOfManyLoss``; 0 spends less, but most often makes few runs.
        gamma: its other parameter, in (0, 1).

    Raises:
        ValueError: no candidates, fewer than two records, or the budget is out of reach.

    Source: Papernot & Steinke 2022, theorem 2.
    """
    base = calibrate_runs(mechanism.epsilon, mechanism.delta, eta, gamma)
    return best_of_random_runs(
        mechanism,
        candidates,
        dataset,
        rng,
        number=lambda public: draw_runs(eta, gamma, public),
        multiplier=1 / base.mu,
        rho=base.mu**2 / 2,  # CoinPress then has the same Gaussian loss as the fit, and works on the other half
        loss=BestOfManyLoss(base, eta, gamma),
        theorem="Papernot & Steinke 2022, theorem 2 (truncated negative binomial), with Honkela & Melkas 2021, lemma 3",
    )


def check_shape(eta: float, gamma: float) -> None:
    """Raise ValueError unless eta >= 0 is finite and 0 < gamma < 1."""
    if not (math.isfinite(eta) and eta >= 0):
        raise ValueError(f"eta must be a finite number of at least 0, got {eta}")
    check_share("gamma", gamma)
