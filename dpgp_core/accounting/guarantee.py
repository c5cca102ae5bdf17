"""Budgets, guarantees, and group privacy: guarantees for several rows of one person.

Replacing k rows can be done by k replacements of one row. Therefore (group privacy)

    mu-GDP for one row implies k mu-GDP for k rows (Dong, Roth & Su 2022, theorem 2.14), also for compositions;
    epsilon-DP for one row implies k epsilon-DP for k rows (Dwork & Roth 2014, theorem 2.2), and
    rho-zCDP for one row implies k^2 rho-zCDP for k rows (Bun & Steinke 2016, proposition 1.9).

To guarantee (epsilon, delta) for k rows, a mechanism must guarantee mu / k for one row, with the mu that corresponds to
(epsilon, delta), or epsilon / k if delta = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from .gaussian import LEAST_EPSILON, check_budget, log_delta_of, noise_multiplier
from .losses import GaussianLoss, PrivacyLoss, PureLoss

Protects = Literal["outputs", "inputs and outputs"]

ONE_OUTPUT = "one record's output replaced by any value within the public bounds; inputs and n fixed"
FIXED_IN_ADVANCE = (
    "hyperparameters fixed in advance or without the private outputs, or by a private choice that the ledger counts",
    "inputs, their number and the test points are public",
    "outputs are clipped to bounds declared without looking at them",
)
TEACHING = (
    "this simulated release itself: it is for teaching, and anybody who knows its number can subtract the noise. The "
    "guarantee is that of a real release with the same settings"
)
OTHER_ROWS = "several rows of one person: each is protected separately, and k of them together k times less"
COMPLETE_ROWS = "which rows are complete is public; a record is replaced by a complete one"
COMPLETE_PEOPLE = (
    "which people have a complete row is public; a person's rows are replaced by rows of which one is complete"
)
BEYOND_ONE_RELEASE = (
    "the inputs (who is in the data, and where)",
    OTHER_ROWS,
    "settings chosen after looking at results",
    "further releases, unless the ledger adds them up",
)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A pair (epsilon, delta).

    Args:
        epsilon: > 0. For neighbouring data sets and every event, P(event) <= exp(epsilon) P'(event) + delta.
        delta: in [0, 1); 0 is pure differential privacy. For Gaussian noise delta is smaller than the probability that
            the odds change by more than a factor exp(epsilon), see ``tradeoff.chance_beyond``.

    Raises:
        ValueError: either is out of range.
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_budget(self.epsilon, self.delta if self.delta != 0 else 0.5)


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Privacy guarantee of one release. It is known before any private value is read.

    Args:
        budget: the claimed (epsilon, delta).
        loss: privacy loss of the release, from which the accounting can be repeated.
        protects: whether outputs are protected, or inputs and outputs.
        neighbours: definition of neighbouring data sets.
        unit: the privacy unit, in words.
        theorem: theorem that proves the claim.
        assumptions: assumptions under which it holds.
        not_covered: what a reader might wrongly believe to be covered.
        established: False if the formula used is not proven at this budget. Then ``budget`` is not guaranteed, and
            ``proven_epsilon`` is.
        releases: number of releases that it covers.
        rows: number of rows of one person that are protected together: 1; k, see ``for_rows``; or None for all rows.
        person: name of the column that identifies the person of a row, if all rows of a person are protected together;
            "" if there is none.
    """

    budget: Budget
    loss: PrivacyLoss
    protects: Protects
    neighbours: str
    unit: str
    theorem: str
    assumptions: tuple[str, ...]
    not_covered: tuple[str, ...]
    established: bool = True
    releases: int = 1
    rows: int | None = 1
    person: str = ""

    @property
    def hidden(self) -> str:
        """Phrase that says which rows are protected together."""
        if self.rows == 1:
            return "any one row"
        return "all rows of any one person" if self.rows is None else f"up to {self.rows} rows of any one person"

    @property
    def proven_epsilon(self) -> float:
        """Epsilon that is proven for the noise used, at the claimed delta, whatever formula chose the noise."""
        return self.loss.epsilon(self.budget.delta)

    def for_unit(self, unit: str) -> Guarantee:
        """Return the same guarantee for a privacy unit named ``unit``."""
        return replace(self, unit=unit)

    @property
    def is_simulation(self) -> bool:
        """Whether this is the guarantee of a simulated release."""
        return TEACHING in self.not_covered

    def for_simulation(self) -> Guarantee:
        """Return the guarantee of a simulated release, which lists first that the simulation itself is not private."""
        return replace(self, not_covered=(TEACHING, *self.not_covered))

    def repeated(self, releases: int) -> Guarantee:
        """Return the guarantee for ``releases`` independent releases together.

        Raises:
            ValueError: releases < 1.
        """
        if releases < 1:
            raise ValueError(f"releases must be at least 1, got {releases}")
        if releases == 1:
            return self
        loss = self.loss.repeated(releases)
        # Hall's noise can be so large that epsilon is 0 even so. Then the epsilon claimed for one release is kept.
        epsilon = loss.epsilon(self.budget.delta) or self.budget.epsilon
        budget = Budget(epsilon=epsilon, delta=self.budget.delta)
        return replace(self, budget=budget, loss=loss, established=True, releases=self.releases * releases)


def guarantee_fields(guarantee: Guarantee) -> dict[str, Any]:
    """Return the part of a guarantee that belongs to a statistic, as plain JSON values.

    The fields of a simulated release contain ``"simulated": True``; such a statistic is not written to a file.
    """
    fields = {
        "epsilon": guarantee.budget.epsilon,
        "delta": guarantee.budget.delta,
        "protects": guarantee.protects,
        "neighbours": guarantee.neighbours,
        "unit": guarantee.unit,
        "theorem": guarantee.theorem,
    }
    return fields | ({"simulated": True} if guarantee.is_simulation else {})


MOST_ROWS = 1000
_ROUND_UP = 1e-9  # subtracted from log delta, so that rounding errors cannot make the noise too small
_GAUSSIAN, _PURE = "Dong, Roth & Su 2022, theorem 2.14", "Dwork & Roth 2014, theorem 2.2"


def budget_of_one_row(epsilon: float, delta: float, rows: int) -> Budget:
    """Return a budget of one row that guarantees (epsilon, delta) for k rows together.

    If delta > 0, the noise is Gaussian with mu / k for one row. Of the pairs (epsilon', delta') that describe this
    noise, the one with epsilon' = mu / k is returned.

    Args:
        epsilon: budget of all k rows together.
        delta: likewise; 0 for pure differential privacy.
        rows: k >= 1.

    Raises:
        ValueError: a budget is out of range, or too small for so many rows.
    """
    if rows == 1:
        return Budget(epsilon=epsilon, delta=delta)
    share = epsilon / rows
    if share < LEAST_EPSILON:
        raise ValueError(
            f"epsilon = {epsilon:g} for {rows} rows of one person leaves one row less than {LEAST_EPSILON:g}. That is "
            "too little to be computed safely. Raise epsilon, or keep fewer rows of everybody"
        )
    if delta == 0:
        return Budget(epsilon=share, delta=0.0)
    multiplier = rows * noise_multiplier(epsilon, delta)
    named = max(1 / multiplier, LEAST_EPSILON)  # at this epsilon, delta is close neither to 0 nor to 1
    return Budget(epsilon=named, delta=math.exp(log_delta_of(multiplier, named) - _ROUND_UP))


def loss_of_rows(loss: PrivacyLoss, rows: int) -> PrivacyLoss:
    """Return the privacy loss for k rows of one person, given that for one row.

    Raises:
        ValueError: group privacy is not implemented for this kind of loss.
    """
    if isinstance(loss, GaussianLoss):
        return GaussianLoss(rows * loss.mu)
    if isinstance(loss, PureLoss):
        rho = None if loss.rho is None else rows**2 * loss.rho
        return PureLoss(rows * loss.pure_epsilon, rho, loss.times)
    raise ValueError("this mechanism has no formula for several rows of one person; use 'bayes' or 'bayes_cells'")


def for_rows(guarantee: Guarantee, rows: int, budget: Budget) -> Guarantee:
    """Return the guarantee for k rows of one person together, given that of a mechanism for one row.

    Args:
        guarantee: guarantee for one row.
        rows: k >= 1, the largest number of rows of one person.
        budget: budget claimed for all k rows together; see ``budget_of_one_row``.

    Raises:
        ValueError: group privacy is not implemented for this kind of loss.
    """
    if rows == 1:
        return guarantee
    replaced = f"at most {rows} rows of one person"
    outputs = f"the outputs of {replaced} replaced by any values within the public bounds; inputs and n fixed"
    both = f"{replaced}, inputs and outputs, replaced by any others; n fixed"
    loss = loss_of_rows(guarantee.loss, rows)
    source = _PURE if isinstance(loss, PureLoss) else _GAUSSIAN
    return replace(
        guarantee,
        budget=budget,
        loss=loss,
        rows=rows,
        neighbours=outputs if guarantee.protects == "outputs" else both,
        theorem=f"{guarantee.theorem}; group privacy for {rows} rows ({source})",
        assumptions=(f"nobody has more than {rows} rows", *guarantee.assumptions),
        not_covered=(
            *(each for each in guarantee.not_covered if each != OTHER_ROWS),
            f"more than {rows} rows of one person: people with more rows are protected less",
        ),
    )
