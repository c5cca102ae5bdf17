"""What Bayes cloaking measures at a budget: the best plan, or meanwhile the nearest one that is ready.

A strategy is valid at every budget, as its noise is scaled to the one asked for: by another budget's plan a draw has
the same guarantee, and only its error is larger.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from datasets import exhibit
from dpgp_core.bayes.schedule import rescaled
from dpgp_core.data import Dataset
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from pages._ui.cloaking import staged
from pages._ui.cloaking.results import Scene
from pages._ui.look import offers
from pages._ui.model import Budget
from pages._ui.work import cached, waiting
from pages._ui.work.ahead import Wish
from pages._ui.work.jobs import Answer

PATIENCE_SECONDS = 1.0  # for what is best, before something else serves

Given = tuple[Dataset, Scene]  # whose budgets these are


def best(budget: Budget, given: Given) -> Answer[BayesPlan]:
    """The plan that is made for a budget."""
    return cached.answer(_what(budget), staged.plan_stages, budget, given=given)


def soon(budget: Budget, given: Given) -> tuple[Answer[BayesPlan], Budget]:
    """The best plan if it is there soon, else the nearest one that is ready; and the budget, with what that is for.

    A page that got the latter is made again as soon as the best is there. Idle processes go on with the plans of
    ``likely`` budgets.
    """
    near = nearest(budget)
    cached.wish(*(Wish(staged.plan_stages, (each,), given) for each in likely(budget)))
    if near is None or near == budget:
        return best(budget, given), budget
    ready = cached.within(PATIENCE_SECONDS, _what(budget), staged.plan_stages, budget, given=given)
    if ready is not None:
        return ready, budget
    waiting.afterwards(lambda: best(budget, given))
    plan = best(near, given).value
    scaled = replace(plan, stages=rescaled(plan.stages, _noise(budget)))
    return Answer(scaled, False, 0.0), replace(budget, planned_for=(near.epsilon, near.delta))


def nearest(budget: Budget) -> Budget | None:
    """Whose plan is ready, and whose noise is closest: this budget, or one of another epsilon or another delta."""
    offered = {
        budget,
        *(replace(budget, epsilon=float(epsilon)) for epsilon in offers.EPSILONS),
        *(replace(budget, delta=delta) for delta in offers.DELTAS),
    }
    noise = _noise(budget)
    by_noise = sorted(offered, key=lambda each: abs(math.log(_noise(each) / noise)))
    return next(filter(_is_ready, by_noise), None)


def likely(budget: Budget) -> list[Budget]:
    """What is asked for next: one step of a slider away; then, where a plan takes little, the rest of epsilon's."""

    def at(epsilons: Iterable[float]) -> Iterator[Budget]:
        return (replace(budget, epsilon=float(epsilon)) for epsilon in epsilons)

    rest = offers.EPSILONS if exhibit(budget.dataset).scene == "curve" else ()
    steps = [
        *at(offers.beside(offers.EPSILONS, budget.epsilon)),
        *(replace(budget, delta=delta) for delta in offers.beside(offers.DELTAS, budget.delta)),
        *at(sorted(rest, key=lambda other: abs(math.log(other / budget.epsilon)))),
    ]
    return [each for each in dict.fromkeys(steps) if each != budget]


def _is_ready(budget: Budget) -> bool:
    return cached.find(staged.plan_stages, budget) is not None


def _noise(budget: Budget) -> float:
    return BayesCloaking(epsilon=budget.epsilon, delta=budget.delta).shares("number").curve


def _what(budget: Budget) -> str:
    return f"Planning what to measure at ε = {budget.epsilon:g}"
