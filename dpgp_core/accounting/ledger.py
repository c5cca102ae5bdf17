"""The ledger: all releases of one data set, the budget that they spent together, and a limit on it."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from scipy.optimize import brentq

from .gaussian import epsilon_of, noise_multiplier, rounded_down, rounded_up, written
from .guarantee import Budget, Guarantee
from .losses import GaussianLoss, compose

_SPENDING = threading.Lock()  # so that two threads cannot overwrite each other's entries

_LEAST_SPENT = 1e-3  # smallest epsilon of a release from a table; if less is left, no release is possible


class BudgetExceeded(ValueError):
    """Raised when a release would exceed the limit of the ledger."""


class MixedProtection(ValueError):
    """Raised when a release would end the protection of inputs that another release guarantees."""


class MixedRows(ValueError):
    """Raised when a release has a different privacy unit than the releases before it, so that no total is valid."""


@dataclass(kw_only=True)
class Ledger:
    """Record of all releases of one data set; ``losses.compose`` computes their total privacy loss.

    Args:
        limit: total budget, which ``spend`` does not let releases exceed; None for no limit.
        entries: name and guarantee of each release.
        inputs_public: whether the owner declared the inputs public. A release that protects outputs only publishes
            noiseless functions of the inputs, such as the widths of its intervals. After such a release, inputs are no
            longer protected, whatever other releases guarantee. Both kinds are therefore accepted only after this
            declaration.
        begun_again: reason, given by the owner, why another ledger of the same table need not be counted; "" if there
            is no other ledger.
    """

    limit: Budget | None = None
    entries: list[tuple[str, Guarantee]] = field(default_factory=list)
    inputs_public: bool = False
    begun_again: str = ""

    def epsilon(self, delta: float) -> float:
        """Return the epsilon of all releases so far together, at this delta in (0, 1); 0 if there are none."""
        return compose([guarantee.loss for _, guarantee in self.entries], delta)

    def epsilon_left(self) -> float:
        """Return the epsilon of the largest further Gaussian release within the limit, inf without a limit."""
        if self.limit is None:
            return math.inf
        spent = [guarantee.loss for _, guarantee in self.entries]
        budget = self.limit

        def total(log_mu: float) -> float:
            return compose([*spent, GaussianLoss(math.exp(log_mu))], budget.delta)

        low, high = math.log(1e-6), -math.log(noise_multiplier(budget.epsilon, budget.delta))
        if total(low) >= budget.epsilon:
            return 0.0
        root = brentq(lambda log_mu: total(log_mu) - budget.epsilon, low, high + 1e-9, xtol=1e-12)
        return epsilon_of(math.exp(-root), budget.delta)

    def _remedy(self) -> str:
        """Return a sentence that says how much budget is left, or that none is."""
        left = self.epsilon_left()
        if left < _LEAST_SPENT:
            return "Nothing is left: no further release from this table is possible"
        return f"Use epsilon = {written(rounded_down(left))} or less"

    def spend(self, guarantees: Iterable[tuple[str, Guarantee]]) -> None:
        """Record releases as (name, guarantee) pairs: all of them, or none if an error is raised.

        Raises:
            BudgetExceeded: the limit would be exceeded. The message says how much is left.
            MixedProtection: some releases protect inputs and others do not.
            MixedRows: the releases have different privacy units: rows or persons, or persons that are identified by
                different columns. No total would be valid for both.
        """
        with _SPENDING:
            self._spend(guarantees)

    def _spend(self, guarantees: Iterable[tuple[str, Guarantee]]) -> None:
        """Do the work of ``spend`` while the lock is held."""
        proposed = Ledger(entries=[*self.entries, *guarantees])
        protected = {guarantee.protects for _, guarantee in proposed.entries}
        if len(protected) > 1 and not self.inputs_public:
            raise MixedProtection(
                "this ledger would hold releases that protect inputs and outputs as well as releases that protect "
                "outputs only. The latter publish noiseless functions of the inputs, which ends the protection of "
                "inputs. Nothing was released. Use a mechanism that protects the same, or declare the inputs public "
                "from now on"
            )
        hidden = dict.fromkeys(guarantee.hidden for _, guarantee in proposed.entries)
        if len(hidden) > 1:
            raise MixedRows(
                f"this ledger would add up releases that protect {' and releases that protect '.join(hidden)}. Its "
                "total would not be a valid guarantee for anybody. Nothing was released. Declare whose rows they are "
                "as before, or count this release in another ledger"
            )
        columns = dict.fromkeys(guarantee.person for _, guarantee in proposed.entries if guarantee.person)
        if len(columns) > 1:
            raise MixedRows(
                f"this ledger would add up releases in which {' and releases in which '.join(map(repr, columns))} "
                "identifies the person of each row. Its total would not be a valid guarantee for anybody. Nothing was "
                "released. Name the column that was named before, or count this release in another ledger"
            )
        if self.limit is not None:
            total, spent = proposed.epsilon(self.limit.delta), self.epsilon(self.limit.delta)
            if total > self.limit.epsilon * (1 + 1e-9):
                raise BudgetExceeded(
                    f"this would bring the total to epsilon = {written(rounded_up(total))} "
                    f"at delta = {self.limit.delta:g}, above the declared {self.limit.epsilon:g}. "
                    f"{written(rounded_up(spent))} is spent and nothing was released. {self._remedy()}"
                )
        self.entries = proposed.entries
