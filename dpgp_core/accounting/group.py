"""Several rows of one person hidden together, by a mechanism that hides one: noise for k rows.

Replacing k rows is k replacements of one, one after the other, so that a promise grows with k:

    mu-GDP for one row is k mu-GDP for k rows (Dong, Roth & Su 2022, theorem 2.14), also of composed measurements;
    pure epsilon for one row is k epsilon for k rows (Dwork & Roth 2014, theorem 2.2), and rho-zCDP is k^2 rho-zCDP
    (Bun & Steinke 2016, proposition 1.9).

So a promise of (epsilon, delta) to k rows needs mu / k, or epsilon / k, for one, mu that of (epsilon, delta).
"""

from __future__ import annotations

import math
from dataclasses import replace

from .gaussian import LEAST_EPSILON, log_delta_of, noise_multiplier
from .guarantee import OTHER_ROWS, Budget, Guarantee
from .losses import GaussianLoss, PrivacyLoss, PureLoss

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
            f"epsilon = {epsilon:g} for {rows} rows of one person leaves one row less than {LEAST_EPSILON:g}. That "
            "is too little to be computed safely. Raise epsilon, or keep fewer rows of everybody"
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
        guarantee: of one row.
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
