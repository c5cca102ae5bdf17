"""The promise of several fits of one estimator, or of its copies, made before the outputs are read."""

from __future__ import annotations

import math
import threading
import warnings
from dataclasses import dataclass, field, replace

from ..accounting.gaussian import rounded_up, written
from ..accounting.guarantee import Budget, Guarantee
from ..accounting.losses import GaussianLoss, PrivacyLoss, compose

ACROSS_FITS = "one person has at most one record in each fit, and all budgets were fixed before any result was seen"
PEOPLE_ACROSS_FITS = "groups name the same people in each fit, and all budgets were fixed before any result was seen"

COUNTING = threading.RLock()
"""Held while a fit is counted: of several threads that fit one estimator, none may overwrite the count of another."""


class SpentAgain(UserWarning):
    """An estimator that a fit is counted for, finished or interrupted, is about to measure and to spend again."""


def composed(earlier: Guarantee, latest: Guarantee) -> Guarantee:
    """The promise for both: mu^2 = mu_1^2 + mu_2^2, at the delta of the latest.

    Args:
        earlier: of Gaussian measurements.
        latest: of further ones.

    Raises:
        ValueError: they protect different things; a release that protects outputs alone exposes inputs.

    Source: Dong, Roth & Su 2022, corollary 3.3.
    """
    if earlier.protects != latest.protects:
        raise ValueError(
            f"this estimator has measured with protects={earlier.protects!r}, and a fit with {latest.protects!r} "
            "beside it would make one promise of two kinds. Use another estimator, and a Ledger for both"
        )
    if earlier.neighbours != latest.neighbours:
        raise ValueError(
            "this estimator has measured with other groups: one fit hides a row, the other all rows of a person; "
            "use another estimator"
        )
    first, second = earlier.loss, latest.loss
    assert isinstance(first, GaussianLoss)
    assert isinstance(second, GaussianLoss)
    across = PEOPLE_ACROSS_FITS if latest.rows is None else ACROSS_FITS
    loss, delta = GaussianLoss(math.hypot(first.mu, second.mu)), latest.budget.delta
    return replace(
        latest,
        budget=Budget(epsilon=loss.epsilon(delta), delta=delta),
        loss=loss,
        assumptions=tuple(dict.fromkeys([*earlier.assumptions, *latest.assumptions, across])),
        not_covered=tuple(dict.fromkeys([*earlier.not_covered, *latest.not_covered])),
        releases=earlier.releases + latest.releases,
    )


def warn(guarantee: Guarantee) -> None:
    """Warn of the sum of all fits."""
    budget = guarantee.budget
    warnings.warn(
        f"this estimator measures outputs again: its {guarantee.releases} fits together spend epsilon = "
        f"{written(rounded_up(budget.epsilon))} at delta = {budget.delta:g}, and guarantee_ says so. Predictions "
        "rest on the last fit; they are free, and need no further one",
        SpentAgain,
        stacklevel=3,
    )


class SpentByCopies(UserWarning):
    """Copies of one estimator are fitted one after another, and each fit spends; warned of once for all of them."""


@dataclass
class Copies:
    """Spending of an estimator and its clones in this process so far; they share it as an attribute, ``_copies``.

    Attributes:
        losses: of each real fit.
        delta: the largest of them.
        several: whether there are clones.
        warned: whether the warning was given.
    """

    losses: list[PrivacyLoss] = field(default_factory=list)
    delta: float = 0.0
    several: bool = False
    warned: bool = False

    @property
    def epsilon(self) -> float:
        """Of all fits together, at ``delta``; for somebody who is in every one of them."""
        return compose(self.losses, self.delta) if self.losses else 0.0

    def count(self, promise: Guarantee) -> None:
        """Count a real fit by its own promise, before it measures, and warn once of the sum."""
        self.losses.append(promise.loss)
        self.delta = max(self.delta, promise.budget.delta)
        if self.several and len(self.losses) > 1 and not self.warned:
            self.warned = True
            warnings.warn(
                f"copies of this estimator are fitted, as a search or cross-validation does, and every fit spends: "
                f"{len(self.losses)} so far, together epsilon = {written(rounded_up(self.epsilon))} at delta = "
                f"{self.delta:g}. The sum of all goes on in spent_by_copies(); choose without outcomes, or with a "
                "share of the budget",
                SpentByCopies,
                stacklevel=3,
            )
