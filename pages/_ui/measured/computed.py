"""Plans of what is measured, from the cache."""

from __future__ import annotations

from dataclasses import replace

from pages._ui.measured import strategy
from pages._ui.measured.strategy import Asked, Measured
from pages._ui.work import cached


def at(asked: Asked) -> Measured:
    """The plan of one budget."""
    data = cached.dataset(asked.dataset)
    return cached.value(f"Planning what to measure at ε = {asked.epsilon:g}", strategy.plan, asked, given=(data,))


def over_epsilon(asked: Asked) -> tuple[Measured, ...]:
    """The plans over ``EPSILONS`` and the budget asked for, by epsilon."""
    epsilons = sorted({*map(float, strategy.EPSILONS), asked.epsilon})
    return tuple(at(replace(asked, epsilon=epsilon)) for epsilon in epsilons)
