"""Plans of what is measured, from the cache: those that the curve page measures with."""

from __future__ import annotations

from dataclasses import replace

from pages._ui.cloaking import computed as cloaking
from pages._ui.measured import strategy
from pages._ui.measured.strategy import Measured
from pages._ui.model import Budget
from pages._ui.work import cached


def at(budget: Budget) -> Measured:
    """The plan of one budget."""
    given = cached.dataset(budget.dataset), cloaking.plan_of(budget)
    return cached.value("What the plan expects", strategy.describe, budget, given=given)


def over_epsilon(budget: Budget) -> tuple[Measured, ...]:
    """The plans over ``EPSILONS`` and the budget asked for, by epsilon."""
    epsilons = sorted({*map(float, strategy.EPSILONS), budget.epsilon})
    return tuple(at(replace(budget, epsilon=epsilon)) for epsilon in epsilons)
