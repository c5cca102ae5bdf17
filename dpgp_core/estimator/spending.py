"""Guarantee of several fits of an estimator, and spending of its copies. Both are counted before outputs are read."""

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
"""Lock that is held while a fit is counted, so that threads that fit the same estimator do not lose counts."""


class SpentAgain(UserWarning):
    """Warning that an estimator which has measured before, even if interrupted, is about to spend budget again."""


def composed(earlier: Guarantee, latest: Guarantee) -> Guarantee:
    """Return the guarantee of two fits together: mu^2 = mu_1^2 + mu_2^2, at the delta of the latest.

    Args:
        earlier: guarantee of Gaussian measurements.
        latest: guarantee of further Gaussian measurements.

    Raises:
        ValueError: they protect different things. A release that protects outputs only exposes inputs.

    Source: Dong, Roth & Su 2022, corollary 3.3.
    """
    if earlier.protects != latest.protects:
        raise ValueError(
            f"this estimator has measured with protects={earlier.protects!r}, and a fit with {latest.protects!r} "
            "cannot be covered by the same guarantee. Use another estimator, and a Ledger for both"
        )
    if earlier.neighbours != latest.neighbours:
        raise ValueError(
            "this estimator has measured with other groups: one fit protects a row, the other all rows of a person; "
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
    """Warn that a further fit spends budget, and state the total of all fits."""
    budget = guarantee.budget
    warnings.warn(
        f"this estimator measures outputs again: its {guarantee.releases} fits together spend epsilon = "
        f"{written(rounded_up(budget.epsilon))} at delta = {budget.delta:g}, and guarantee_ says so. Predictions "
        "use the last fit and spend nothing, so that they need no further fit",
        SpentAgain,
        stacklevel=3,
    )


class SpentByCopies(UserWarning):
    """Warning that copies of an estimator are fitted, each of which spends budget. It is given once for all copies."""


@dataclass
class Copies:
    """Spending of an estimator and its clones in this process. They share this object as the attribute ``_copies``.

    Attributes:
        losses: privacy loss of each real fit.
        delta: largest delta of the fits.
        several: whether there are clones.
        warned: whether the warning was given.
    """

    losses: list[PrivacyLoss] = field(default_factory=list)
    delta: float = 0.0
    several: bool = False
    warned: bool = False

    @property
    def epsilon(self) -> float:
        """Epsilon of all fits together at ``delta``, for a person who is in every one of them."""
        return compose(self.losses, self.delta) if self.losses else 0.0

    def count(self, promise: Guarantee) -> None:
        """Count a real fit by its guarantee, before it measures, and warn once if copies are fitted."""
        self.losses.append(promise.loss)
        self.delta = max(self.delta, promise.budget.delta)
        if self.several and len(self.losses) > 1 and not self.warned:
            self.warned = True
            warnings.warn(
                f"copies of this estimator are fitted, as a search or cross-validation does, and every fit spends: "
                f"{len(self.losses)} so far, together epsilon = {written(rounded_up(self.epsilon))} at delta = "
                f"{self.delta:g}. spent_by_copies() returns the total of all fits. Choose settings without "
                "outcomes, or with a share of the budget",
                SpentByCopies,
                stacklevel=3,
            )
