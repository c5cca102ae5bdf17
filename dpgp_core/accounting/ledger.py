"""The budget spent on one data set, and the refusal to spend more."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from scipy.optimize import brentq

from .gaussian import epsilon_of, noise_multiplier, rounded_down, rounded_up, written
from .guarantee import Budget, Guarantee
from .losses import GaussianLoss, compose

_SPENDING = threading.Lock()  # of several threads, none may overwrite the entries of another

_LEAST_SPENT = 1e-3  # epsilon, by any release from a table


class BudgetExceeded(ValueError):
    """A release was refused because the ledger's limit would be passed."""


class MixedProtection(ValueError):
    """A release was refused because it would void the protection of inputs that another one promises."""


class MixedRows(ValueError):
    """A release was refused because it hides other rows together than those before it, or other people's."""


@dataclass(kw_only=True)
class Ledger:
    """Releases of one data set; see ``losses.total_epsilon`` for how it adds up.

    Args:
        limit: optional total that ``spend`` refuses to pass.
        inputs_public: whether the owner declared the inputs public. A release that protects outputs only publishes
            noiseless functions of the inputs (where the noise is large, where the model is sure): beside it no other
            release protects them, whatever its own promise. So the two kinds mix only after this declaration.
    """

    limit: Budget | None = None
    entries: list[tuple[str, Guarantee]] = field(default_factory=list)
    inputs_public: bool = False
    begun_again: str = ""

    def epsilon(self, delta: float) -> float:
        """Epsilon of everything spent so far, at this delta in (0, 1); 0 if nothing was."""
        return compose([guarantee.loss for _, guarantee in self.entries], delta)

    def epsilon_left(self) -> float:
        """Epsilon of the largest further Gaussian release that the limit allows, at its delta; inf without one."""
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
        """A sentence on the budget left within the limit, or that there is none."""
        left = self.epsilon_left()
        if left < _LEAST_SPENT:
            return "Nothing is left: no further release from this table is possible"
        return f"Use epsilon = {written(rounded_down(left))} or less"

    def spend(self, guarantees: Iterable[tuple[str, Guarantee]]) -> None:
        """Record (name, guarantee) pairs, all or none.

        Raises:
            BudgetExceeded: the limit would be passed; nothing is recorded, the message says how much is left.
            MixedProtection: some releases protect inputs and others do not; nothing is recorded.
            MixedRows: some hide one row, others several rows of a person, or two columns say whose rows they are; no
                total would be true of both.
        """
        with _SPENDING:
            self._spend(guarantees)

    def _spend(self, guarantees: Iterable[tuple[str, Guarantee]]) -> None:
        """``spend``, while no other thread does."""
        proposed = Ledger(entries=[*self.entries, *guarantees])
        protected = {guarantee.protects for _, guarantee in proposed.entries}
        if len(protected) > 1 and not self.inputs_public:
            raise MixedProtection(
                "this ledger would hold releases that protect inputs and outputs beside releases that protect outputs "
                "only. The latter publish noiseless functions of the inputs, which ends the protection of inputs. "
                "Nothing was released. Use a mechanism that protects the same, or declare the inputs public from now on"
            )
        hidden = dict.fromkeys(guarantee.hidden for _, guarantee in proposed.entries)
        if len(hidden) > 1:
            raise MixedRows(
                f"this ledger would add up releases that hide {' and releases that hide '.join(hidden)}. Its total "
                "would be no promise to anybody. Nothing was released. Declare whose rows they are as before, or count "
                "this release in another ledger"
            )
        columns = dict.fromkeys(guarantee.person for _, guarantee in proposed.entries if guarantee.person)
        if len(columns) > 1:
            raise MixedRows(
                f"this ledger would add up releases in which {' and releases in which '.join(map(repr, columns))} says "
                "whose row each is. Its total would be no promise to anybody. Nothing was released. Name the column "
                "that was named before, or count this release in another ledger"
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
