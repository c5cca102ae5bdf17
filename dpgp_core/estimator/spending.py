"""What several fits of one estimator promise together, said before the outputs are read."""

from __future__ import annotations

import math
import threading
import warnings
from dataclasses import replace

from ..accounting.gaussian import rounded_up
from ..accounting.guarantee import Budget, Guarantee
from ..accounting.losses import GaussianLoss
from ..mechanisms.base import TEACHING

ACROSS_FITS = "one person has at most one record in each fit, and all budgets were fixed before any result was seen"
PEOPLE_ACROSS_FITS = "groups name the same people in each fit, and all budgets were fixed before any result was seen"

COUNTING = threading.RLock()
"""Held while a fit is counted: of several threads that fit one estimator, none may overwrite what another counted."""


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


def marked(guarantee: Guarantee, *, taught: bool) -> Guarantee:
    """The promise, which covers nothing where the noise is that of a numbered draw."""
    return replace(guarantee, not_covered=(TEACHING, *guarantee.not_covered)) if taught else guarantee


def warn(guarantee: Guarantee) -> None:
    """Say what all fits together spend."""
    budget = guarantee.budget
    warnings.warn(
        f"this estimator measures outputs again: its {guarantee.releases} fits together spend epsilon = "
        f"{rounded_up(budget.epsilon).normalize():f} at delta = {budget.delta:g}, and guarantee_ says so. Predictions "
        "rest on the last fit; they are free, and need no further one",
        SpentAgain,
        stacklevel=3,
    )
