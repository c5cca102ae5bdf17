"""What is promised, apart from how it is computed: budgets, guarantees, and what has been spent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from .calibration import check_budget, epsilon_of, noise_multiplier

Protects = Literal["outputs", "inputs and outputs"]

ONE_OUTPUT = "one record's output replaced by any value within the public bounds; inputs and n fixed"


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A pair (epsilon, delta).

    Args:
        epsilon: > 0, the log of the largest factor by which an outcome's odds may change.
        delta: in (0, 1), the probability mass exempted from that.

    Raises:
        ValueError: either is out of range.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """The promise made by one Gaussian release, known before any data are read.

    Args:
        budget: the (epsilon, delta) claimed.
        mu: Gaussian-DP parameter, the largest shift between neighbours in units of the noise;
            with it the accounting can be redone from this value alone.
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
    mu: float
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
        return epsilon_of(1 / self.mu, self.budget.delta)

    def for_unit(self, unit: str) -> Guarantee:
        """The same promise, naming whom one record is about."""
        return replace(self, unit=unit)

    def repeated(self, releases: int) -> Guarantee:
        """The promise for ``releases`` independent draws: mu grows by the square root of their number.

        Raises:
            ValueError: releases < 1.
        """
        if releases < 1:
            raise ValueError(f"releases must be at least 1, got {releases}")
        if releases == 1:
            return self
        mu = self.mu * math.sqrt(releases)
        # Noise larger than asked for (Hall's) may give epsilon 0 even so; the one claimed for one draw stands then.
        epsilon = epsilon_of(1 / mu, self.budget.delta) or self.budget.epsilon
        budget = Budget(epsilon=epsilon, delta=self.budget.delta)
        return replace(self, budget=budget, mu=mu, established=True, releases=self.releases * releases)


class BudgetExceeded(ValueError):
    """A release was refused because the ledger's limit would be passed."""


@dataclass(kw_only=True)
class Ledger:
    """What has been spent on one data set. Gaussian releases compose exactly: mu^2 = sum mu_i^2.

    Args:
        limit: optional total that ``spend`` refuses to pass.
    """

    limit: Budget | None = None
    entries: list[tuple[str, Guarantee]] = field(default_factory=list)

    @property
    def mu(self) -> float:
        """Gaussian-DP parameter of everything spent so far; 0 if nothing was."""
        return math.hypot(*(guarantee.mu for _, guarantee in self.entries))

    def epsilon(self, delta: float) -> float:
        """Exact epsilon of everything spent so far, at this delta; 0 if nothing was."""
        return epsilon_of(1 / self.mu, delta) if self.entries else 0.0

    def epsilon_left(self) -> float:
        """Epsilon of the largest further Gaussian release that the limit allows, at its delta; inf without one."""
        if self.limit is None:
            return math.inf
        # mu^2 adds up, so what is left is the difference of squares
        left = noise_multiplier(self.limit.epsilon, self.limit.delta) ** -2 - self.mu**2
        return epsilon_of(1 / math.sqrt(left), self.limit.delta) if left > 0 else 0.0

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
