"""The stages from the cache.

Of noise that is added once, only the third and the intervals, both quick, depend on epsilon, delta or the draw; of
Bayes cloaking plan and numbers do, and only what reads them depends on the model.
"""

from __future__ import annotations

from dataclasses import replace

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation import baseline
from dpgp_core.gp.uncertainty import Predictive
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from pages._ui.cloaking import growth, pipeline, plans, staged
from pages._ui.cloaking.growth import Growth
from pages._ui.cloaking.plans import Given
from pages._ui.cloaking.results import Draws, Result, Scene
from pages._ui.model import PAPER_DESIGN, Budget, Design, Draw, Model
from pages._ui.work import cached
from pages._ui.work.jobs import Answer


def scene(name: str) -> Scene:
    """Where the pages predict for a shipped dataset, by name."""
    return cached.value("Loading the data", pipeline.scene_of, name, given=(cached.dataset(name),))


def run(model: Model, design: Design, draw: Draw, *, meanwhile: bool = False) -> Result:
    """All stages.

    Args:
        model, design, draw: settings.
        meanwhile: a page may show something first, and be made again with what is better: measured by the nearest
            plan that is ready (see ``plans.soon``).
    """
    public = cached.dataset(model.dataset), scene(model.dataset)
    fit = cached.answer("Computing the cloaking matrix C", pipeline.stage_matrix, model, given=public)
    if design.in_stages:
        return _run_staged(model, design, draw, public, fit, meanwhile)
    return _run_once(model, design, draw, public, fit)


def _run_once(model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive]) -> Result:
    """Of a mechanism that adds noise once: only scaling and drawing it depend on the budget."""
    stage_2 = (*given, fit.value)
    plan = cached.answer("Designing the noise: λ and M", pipeline.stage_plan, model, design, given=stage_2)
    stages = (*given, plan.value)
    stage_3 = (*stages, without_privacy(model.dataset))
    outcome = cached.answer("Drawing the noise", pipeline.stage_outcome, model, design, draw, given=stage_3, here=True)
    a_draw = replace(draw, draws=1, seed=1)  # intervals are as wide for every draw
    halves = cached.answer(
        "Simulating intervals", pipeline.stage_halves, model, design, a_draw, given=stages, here=True
    )
    return Result(
        model, design, draw, given[0], fit.value, plan.value, outcome.value,
        intervals=halves.value.about(outcome.value.samples),
        times={"C": fit, "λ, M": plan, "scale, draw": outcome, "intervals": halves},
    )  # fmt: skip


def _run_staged(
    model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive], meanwhile: bool
) -> Result:
    """Of Bayes cloaking: plan and numbers depend on the budget, and not on the model that reads them."""
    budget = Budget(model.dataset, design.focus, draw.epsilon, draw.delta)
    plan, budget = plans.soon(budget, given) if meanwhile else (plans.best(budget, given), budget)
    stages, draws = (*given, plan.value), Draws(budget, draw.seed, draw.draws)
    numbers = cached.answer("Measuring", staged.measure, draws, given=stages)
    reading = (*stages, numbers.value, without_privacy(model.dataset))
    read = cached.answer("Reading the numbers", staged.outcome, draws, model, given=reading)
    mixed = replace(plan.value, models=staged.models(given[0], plan.value, model))
    return Result(
        model, design, draw, given[0], fit.value, mixed, *read.value, draws=draws, numbers=numbers.value,
        times={"C": fit, "plan": plan, "numbers": numbers, "reading": read},
    )  # fmt: skip


def growth_of(result: Result) -> Growth:
    """Centiles of people from the first draw of a result."""
    if result.numbers is None:
        return growth.by_one_noise(result)
    given = result.dataset, result.outcome.scene, result.plan, result.numbers
    return cached.value("Drawing the centiles", growth.released, result.draws, result.model, given=given)


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


def _without_privacy(data: Dataset, scene: Scene, _name: str) -> FloatArray:
    return baseline.without_privacy(data, scene.X_test)
