"""What is promised, apart from how it is computed: budgets, guarantees, and what has been spent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from scipy.optimize import brentq

from .calibration import check_budget, epsilon_of, noise_multiplier
from .losses import GaussianLoss, Loss, total_epsilon

Protects = Literal["outputs", "inputs and outputs"]

ONE_OUTPUT = "one record's output replaced by any value within the public bounds; inputs and n fixed"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A pair (epsilon, delta).

    Args:
        epsilon: > 0, the log of the largest factor by which an outcome's odds may change.
        delta: in [0, 1), the probability mass exempted from that; 0 is pure differential privacy.

    Raises:
        ValueError: either is out of range.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta if self.delta != 0 else 0.5)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The promise made by one release, known before any data are read.

    Args:
        budget: the (epsilon, delta) claimed.
        loss: what the release spends; with it the accounting can be redone from this value alone.
        protects: whose privacy the budget speaks of.
        neighbours: which data sets are held indistinguishable.
        unit: whom one record is about.
        theorem: what the claim rests on.
        assumptions: what must be true for it to hold.
        not_covered: what a reader might wrongly believe to be covered.
        established: False if the formula used is not proven at this budget; then ``budget`` is no
            promise, and ``proven_epsilon`` is what does hold.
        releases: how many noise draws it covers.
    """

    budget: Budget
    loss: Loss
    protects: Protects
    neighbours: str
    unit: str
    theorem: str
    assumptions: tuple[str, ...]
    not_covered: tuple[str, ...]
    established: bool = True
    releases: int = 1

    @property
    def proven_epsilon(self) -> float:
        """Exact epsilon of this noise at the claimed delta, whatever formula chose the noise."""
        return self.loss.epsilon(self.budget.delta)

    def for_unit(self, unit: str) -> Guarantee:
        """The same promise, naming whom one record is about."""
        return replace(self, unit=unit)

    def repeated(self, releases: int) -> Guarantee:
        """The promise for ``releases`` independent draws.

        Raises:
            ValueError: releases < 1.
        """
        if releases < 1:
            raise ValueError(f"releases must be at least 1, got {releases}")
        if releases == 1:
            return self
        loss = self.loss.repeated(releases)
        # Noise larger than asked for (Hall's) may give epsilon 0 even so; the one claimed for one draw stands then.
        epsilon = loss.epsilon(self.budget.delta) or self.budget.epsilon
        budget = Budget(epsilon=epsilon, delta=self.budget.delta)
        return replace(self, budget=budget, loss=loss, established=True, releases=self.releases * releases)


class BudgetExceeded(ValueError):
    """A release was refused because the ledger's limit would be passed."""


@dataclass(kw_only=True)
class Ledger:
    """What has been spent on one data set; see ``losses.total_epsilon`` for how it adds up.

    Args:
        limit: optional total that ``spend`` refuses to pass.
    """

    limit: Budget | None = None
    entries: list[tuple[str, Guarantee]] = field(default_factory=list)

    def epsilon(self, delta: float) -> float:
        """Epsilon of everything spent so far, at this delta in (0, 1); 0 if nothing was."""
        return total_epsilon([guarantee.loss for _, guarantee in self.entries], delta)

    def epsilon_left(self) -> float:
        """Epsilon of the largest further Gaussian release that the limit allows, at its delta; inf without one."""
        if self.limit is None:
            return math.inf
        spent = [guarantee.loss for _, guarantee in self.entries]
        budget = self.limit

        def total(log_mu: float) -> float:
            return total_epsilon([*spent, GaussianLoss(math.exp(log_mu))], budget.delta)

        low, high = math.log(1e-6), -math.log(noise_multiplier(budget.epsilon, budget.delta))
        if total(low) >= budget.epsilon:
            return 0.0
        root = brentq(lambda log_mu: total(log_mu) - budget.epsilon, low, high + 1e-9, xtol=1e-12)
        return epsilon_of(math.exp(-root), budget.delta)

    def spend(self, guarantees: Iterable[tuple[str, Guarantee]]) -> None:
        """Record (what, guarantee) pairs, all or none.

        Raises:
            BudgetExceeded: the limit would be passed; nothing is recorded, the message says what is left.
        """
        proposed = Ledger(entries=[*self.entries, *guarantees])
        if self.limit is not None:
            total, spent = proposed.epsilon(self.limit.delta), self.epsilon(self.limit.delta)
            if total > self.limit.epsilon * (1 + 1e-9):
                raise BudgetExceeded(
                    f"this would bring the total to epsilon = {total:.3g} at delta = {self.limit.delta:g}, "
                    f"above the declared {self.limit.epsilon:g}; {spent:.3g} is spent and nothing was released. "
                    f"Use epsilon = {self.epsilon_left():.3g} or less"
                )
        self.entries = proposed.entries
