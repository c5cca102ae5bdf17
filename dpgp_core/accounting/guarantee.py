"""Promises, apart from how they are computed: budgets, guarantees, and promises to several rows of one person.

Replacing k rows is k replacements of one, one after the other, so that a promise grows with k:

    mu-GDP for one row is k mu-GDP for k rows (Dong, Roth & Su 2022, theorem 2.14), also of composed measurements;
    pure epsilon for one row is k epsilon for k rows (Dwork & Roth 2014, theorem 2.2), and rho-zCDP is k^2 rho-zCDP
    (Bun & Steinke 2016, proposition 1.9).

So a promise of (epsilon, delta) to k rows needs mu / k, or epsilon / k, for one, mu that of (epsilon, delta).
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
    "this numbered simulation itself: it is for teaching, and whoever knows its number can subtract the noise. The "
    "promise is that of a real release with the same settings"
)
OTHER_ROWS = "several rows of one person: each is hidden by itself, all k of them together k times less"
COMPLETE_ROWS = "which rows are complete is public; a record is replaced by a complete one"
COMPLETE_PEOPLE = (
    "which people have a complete row is public; a person's rows are replaced by rows of which one is complete"
)
BEYOND_ONE_RELEASE = (
    "the inputs (who is in the data, and where)",
    OTHER_ROWS,
    "settings chosen after looking at results",
    "further draws or other releases, unless the ledger adds them up",
)


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A pair (epsilon, delta).

    Args:
        epsilon: > 0; between neighbours no event's probability grows by more than a factor exp(epsilon) plus delta.
        delta: in [0, 1), that addition; 0 is pure differential privacy. It is not the chance that the odds of an
            outcome change by more than exp(epsilon): for Gaussian noise that chance is larger.

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
        loss: privacy loss of the release; with it the accounting can be redone from this value alone.
        protects: whose privacy the budget speaks of.
        neighbours: which data sets are held indistinguishable.
        unit: whom one record is about.
        theorem: behind the claim.
        assumptions: under which it holds.
        not_covered: harms that a reader might wrongly believe to be covered.
        established: False if the formula used is not proven at this budget; then ``budget`` is no
            promise, and ``proven_epsilon`` holds.
        releases: how many noise draws it covers.
        rows: how many rows of one person are hidden together: 1; k, see ``for_rows``; or None, all that there are.
        person: name of the column that says whose row each is, where all rows of a person are hidden together; ""
            where it has none.
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
        """Which rows are hidden together, in a few words."""
        if self.rows == 1:
            return "any one row"
        return "all rows of any one person" if self.rows is None else f"up to {self.rows} rows of any one person"

    @property
    def proven_epsilon(self) -> float:
        """Exact epsilon of this noise at the claimed delta, whatever formula chose the noise."""
        return self.loss.epsilon(self.budget.delta)

    def for_unit(self, unit: str) -> Guarantee:
        """The same promise, naming whom one record is about."""
        return replace(self, unit=unit)

    def taught(self) -> Guarantee:
        """The promise where noise is that of numbered draws: void, and the card says so first."""
        return replace(self, not_covered=(TEACHING, *self.not_covered))

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
        # Noise larger than needed (Hall's) may give epsilon 0 even so; the one claimed for one draw holds then.
        epsilon = loss.epsilon(self.budget.delta) or self.budget.epsilon
        budget = Budget(epsilon=epsilon, delta=self.budget.delta)
        return replace(self, budget=budget, loss=loss, established=True, releases=self.releases * releases)


def promise_of(guarantee: Guarantee) -> dict[str, Any]:
    """The promise in a file, as plain JSON values."""
    return {
        "epsilon": guarantee.budget.epsilon,
        "delta": guarantee.budget.delta,
        "protects": guarantee.protects,
        "neighbours": guarantee.neighbours,
        "unit": guarantee.unit,
        "theorem": guarantee.theorem,
    }


MOST_ROWS = 1000
_ROUND_UP = 1e-9  # of log delta: more noise than rounding can take away
_GAUSSIAN, _PURE = "Dong, Roth & Su 2022, theorem 2.14", "Dwork & Roth 2014, theorem 2.2"


def budget_of_one_row(epsilon: float, delta: float, rows: int) -> Budget:
    """The budget of one row with which k rows together are within (epsilon, delta).

    Of Gaussian noise it is one of the pairs (epsilon', delta') on the curve of mu / k: with epsilon' = mu / k.

    Args:
        epsilon: for all k rows.
        delta: likewise; 0 for a pure promise.
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
    named = max(1 / multiplier, LEAST_EPSILON)  # where its delta is neither next to 0 nor next to 1
    return Budget(epsilon=named, delta=math.exp(log_delta_of(multiplier, named) - _ROUND_UP))


def loss_of_rows(loss: PrivacyLoss, rows: int) -> PrivacyLoss:
    """The loss to k rows of one person of a release whose loss to one row this is.

    Raises:
        ValueError: no formula is known for such a loss.
    """
    if isinstance(loss, GaussianLoss):
        return GaussianLoss(rows * loss.mu)
    if isinstance(loss, PureLoss):
        rho = None if loss.rho is None else rows**2 * loss.rho
        return PureLoss(rows * loss.pure_epsilon, rho, loss.times)
    raise ValueError("this mechanism has no formula for several rows of one person; use 'bayes' or 'bayes_cells'")


def for_rows(guarantee: Guarantee, rows: int, budget: Budget) -> Guarantee:
    """The promise to k rows of one person together, of a mechanism that promises to one.

    Args:
        rows: k >= 1; nobody has more.
        budget: claimed for all of them; see ``budget_of_one_row``.

    Raises:
        ValueError: no formula is known for such a loss.
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
            f"more than {rows} rows of one person: who has more is hidden less",
        ),
    )
