"""The stages from the cache.

Of noise that is added once, only the third and the intervals, both quick, depend on epsilon, delta or the draw; of
Bayes cloaking plan and numbers do, and only what reads them depends on the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation import baseline
from dpgp_core.gp.predictive import Predictive
from dpgp_core.mechanisms import Plan
from dpgp_core.mechanisms.bayes_release import BayesPlan
from pages._ui.cloaking import growth, pipeline, plans, results, staged
from pages._ui.cloaking.growth import Growth
from pages._ui.cloaking.results import Halves, Intervals, Outcome, Result, Scene
from pages._ui.cloaking.staged import Asked
from pages._ui.model import PAPER_DESIGN, Budget, Design, Draw, Model
from pages._ui.work import cached
from pages._ui.work.jobs import Answer

Times = Mapping[str, Answer[Any]]


def scene(name: str) -> Scene:
    """Where the pages predict for a shipped dataset, by name."""
    return cached.value("Loading the data", _scene, name, given=(cached.dataset(name),))


def run(model: Model, design: Design, draw: Draw, *, meanwhile: bool = False) -> Result:
    """All stages.

    Args:
        model, design, draw: settings.
        meanwhile: a page may show something first, and be made again with what is better: measured by the nearest
            plan that is ready (see ``plans.soon``).
    """
    return _run_staged(model, design, draw, meanwhile) if design.in_stages else _run_once(model, design, draw)


def _run_once(model: Model, design: Design, draw: Draw) -> Result:
    """Of a mechanism that adds noise once: only scaling and drawing it depend on the budget."""
    data, place = cached.dataset(model.dataset), scene(model.dataset)
    fit = _cloaking_matrix(model)
    plan = cached.answer("Designing the noise: λ and M", _plan, model, design, given=(data, place, fit.value))
    stages = (data, place, plan.value)
    given = (*stages, without_privacy(model.dataset))
    outcome = cached.answer("Drawing the noise", _outcome, model, design, draw, given=given, here=True)
    a_draw = replace(draw, draws=1, seed=1)  # intervals are as wide for every draw
    halves = cached.answer("Simulating intervals", _halves, model, design, a_draw, given=stages, here=True)
    times: Times = {"C": fit, "λ, M": plan, "scale, draw": outcome, "intervals": halves}
    intervals = halves.value.about(outcome.value.samples)
    return _result((model, design, draw), data, fit.value, plan.value, outcome.value, intervals, times)


def _run_staged(model: Model, design: Design, draw: Draw, meanwhile: bool) -> Result:
    """Of Bayes cloaking: plan and numbers depend on the budget, and not on the model that reads them."""
    data, place = cached.dataset(model.dataset), scene(model.dataset)
    fit = _cloaking_matrix(model)
    budget = Budget(model.dataset, design.focus, draw.epsilon, draw.delta)
    plan, budget = plans.soon(budget, (data, place)) if meanwhile else (plans.best(budget, (data, place)), budget)
    stages = (data, place, plan.value)
    asked = Asked(budget, draw.seed, draw.draws)
    numbers = cached.answer("Measuring", staged.measure, asked, given=stages)
    given = (*stages, numbers.value, without_privacy(model.dataset))
    drawn = cached.answer("Reading the numbers", staged.outcome, asked, model, given=given)
    times: Times = {"C": fit, "plan": plan, "numbers": numbers, "reading": drawn}
    read = replace(plan.value, models=staged.models(data, plan.value, model))
    found = _result((model, design, draw), data, fit.value, read, *drawn.value, times)
    return replace(found, planned_for=budget.planned_for)


def _result(
    asked: tuple[Model, Design, Draw],
    data: Dataset,
    fit: Predictive,
    plan: Plan | BayesPlan,
    outcome: Outcome,
    intervals: Intervals,
    times: Times,
) -> Result:
    return Result(
        asked=asked,
        dataset=data,
        fit=fit,
        plan=plan,
        outcome=outcome,
        intervals=intervals,
        seconds={stage: each.seconds for stage, each in times.items()},
        computed=frozenset(stage for stage, each in times.items() if each.computed),
    )


def growth_of(result: Result) -> Growth:
    """Centiles of people from the first draw of a result."""
    model, design, draw = result.asked
    if not isinstance(result.plan, BayesPlan):
        return growth.by_one_noise(result)
    data, place = cached.dataset(model.dataset), scene(model.dataset)
    epsilon, delta = result.planned_for or (draw.epsilon, draw.delta)
    budget = replace(Budget(model.dataset, design.focus, draw.epsilon, draw.delta), planned_for=result.planned_for)
    plan = plans.best(Budget(model.dataset, design.focus, epsilon, delta), (data, place)).value
    asked = Asked(budget, draw.seed, draw.draws)
    numbers = cached.answer("Measuring", staged.measure, asked, given=(data, place, plan)).value
    return cached.value("Drawing the centiles", growth.released, asked, model, given=(data, place, plan, numbers))


def growth_without_privacy(name: str) -> Growth:
    """The same when nothing is hidden. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Drawing the centiles without privacy", growth.without_privacy, name, given=given)


def plan_of(budget: Budget) -> BayesPlan:
    """What Bayes cloaking measures at a budget."""
    return plans.best(budget, (cached.dataset(budget.dataset), scene(budget.dataset))).value


def without_privacy(name: str) -> FloatArray:
    """The curve when nothing is hidden at every row of the scene (P,), in the output's unit. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Fitting without privacy", _without_privacy, name, given=given)


def run_published(model: Model, draw: Draw) -> Result:
    """The published method at the same budget and draw: log-det objective, Hall's calibration."""
    hall = replace(draw, calibration="hall", shrinkage=False)
    return run(model, PAPER_DESIGN, hall)


def _cloaking_matrix(model: Model) -> Answer[Predictive]:
    given = (cached.dataset(model.dataset), scene(model.dataset))
    return cached.answer("Computing the cloaking matrix C", _fit, model, given=given)


def _scene(data: Dataset, name: str) -> Scene:
    shown = exhibit(name)
    return results.make_scene(data, shown.scene, shown.drawn)


def _fit(data: Dataset, place: Scene, model: Model) -> Predictive:
    return pipeline.stage_matrix(data, place, model)


def _plan(data: Dataset, place: Scene, fit: Predictive, model: Model, design: Design) -> Plan:
    return pipeline.stage_plan(data, place, model, fit, design)


def _without_privacy(data: Dataset, place: Scene, _name: str) -> FloatArray:
    return baseline.without_privacy(data, place.X_test)


def _outcome(
    data: Dataset, place: Scene, plan: Plan, nonprivate: FloatArray, model: Model, design: Design, draw: Draw
) -> Outcome:
    return pipeline.stage_outcome(data, place, plan, nonprivate, model, design, draw)


def _halves(data: Dataset, place: Scene, plan: Plan, model: Model, design: Design, draw: Draw) -> Halves:
    return pipeline.stage_halves(data, place, plan, model, design, draw)
