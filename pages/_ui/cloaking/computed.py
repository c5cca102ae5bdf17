"""Results of the pages that release, and their errors on people left out, from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.engine import Measured
from dpgp_core.evaluation import comparison as baseline
from dpgp_core.evaluation.comparison import Held, held_out_errors, hold_out, rung
from dpgp_core.evaluation.errors import held_out_rmse
from dpgp_core.gp.uncertainty import Predictive
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from dpgp_core.table import Dataset
from pages._ui.cloaking import results, staged
from pages._ui.cloaking.results import Intervals, Result, Scene
from pages._ui.cloaking.staged import Given, Growth
from pages._ui.left_out import SEED, Trio, folds_of, without_privacy, without_privacy_soon
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.model import PAPER_DESIGN, PICTURE_GAP, Budget, Design, Draw, Model, mechanism_of, usual
from pages._ui.work import cached, waiting
from pages._ui.work.cached import Wish
from pages._ui.work.jobs import Answer


def scene(name: str) -> Scene:
    """The test points of a shipped dataset, by name."""
    return cached.value("Loading the data", results.scene_of, name, given=(cached.dataset(name),))


def compared(chosen: ReleaseSettings) -> tuple[Result, Result, Trio | None]:
    """A release and the published method beside it, as a page opens with them; and their errors under the overlay.

    The nearest plan that is ready may measure first, and the page be made again with the best one; see ``staged.soon``.
    """
    model, design, draw = chosen.model, chosen.design, chosen.draw
    if chosen.overlay:
        _foresee(model, design, draw)
    ours, paper = run(model, design, draw, meanwhile=True), run_published(model, draw)
    return ours, paper, _trio(ours, paper) if chosen.overlay else None


def run(model: Model, design: Design, draw: Draw, *, meanwhile: bool = False) -> Result:
    """All stages; ``meanwhile``: the nearest plan that is ready may measure first."""
    given = cached.dataset(model.dataset), scene(model.dataset)
    fit = cached.answer("Computing the cloaking matrix C", results.stage_matrix, model, given=given)
    if design.in_stages:
        return _run_staged(model, design, draw, given, fit, meanwhile)
    return _run_once(model, design, draw, given, fit)


def run_published(model: Model, draw: Draw) -> Result:
    """The published method at the same budget and draw: log-det objective, Hall's calibration."""
    return run(model, PAPER_DESIGN, replace(draw, calibration="hall", shrinkage=False))


def _run_once(model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive]) -> Result:
    """Of a mechanism that adds noise once: only scaling and drawing it depend on the budget."""
    stage_2 = (*given, fit.value)
    plan = cached.answer("Designing the noise: λ and M", results.stage_plan, model, design, given=stage_2)
    stage_3 = (*given, plan.value)
    drawn = cached.answer("Drawing the noise", results.stage_draws, model, design, draw, given=stage_3, here=True)
    one = replace(draw, draws=1, seed=1)  # intervals are as wide for every draw
    halves = cached.answer("Simulating intervals", results.stage_halves, model, design, one, given=stage_3, here=True)
    samples, guarantee = drawn.value
    return Result(
        model,
        design,
        draw,
        *given,
        curve_without_privacy(model.dataset),
        fit.value,
        plan.value,
        samples,
        guarantee,
        Intervals.about(samples, *halves.value),
        times={"C": fit, "λ, M": plan, "scale, draw": drawn, "intervals": halves},
    )


def _run_staged(
    model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive], meanwhile: bool
) -> Result:
    """Of Bayes cloaking: plan and numbers depend on the budget, and not on the model that reads them."""
    budget = Budget(model.dataset, design.focus, draw.epsilon, draw.delta)
    plan, budget = staged.soon(budget, given) if meanwhile else (staged.best(budget, given), budget)
    stages = (*given, plan.value)
    numbers = cached.answer("Measuring", staged.measure, budget, draw, given=stages)
    read = cached.answer("Reading the numbers", staged.curves, budget, draw, model, given=(*stages, numbers.value))
    samples, intervals = read.value
    return Result(
        model,
        design,
        draw,
        *given,
        curve_without_privacy(model.dataset),
        fit.value,
        replace(plan.value, models=staged.models(given[0], plan.value, model)),
        samples,
        numbers.value.guarantee,
        intervals,
        times={"C": fit, "plan": plan, "numbers": numbers, "reading": read},
        budget=budget,
        numbers=numbers.value,
    )


def curve_without_privacy(name: str) -> FloatArray:
    """The curve when nothing is hidden at every row of the scene (P,), in the output's unit. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Fitting without privacy", _without_privacy, name, given=given)


def _without_privacy(data: Dataset, scene: Scene, _name: str) -> FloatArray:
    return baseline.without_privacy(data, scene.X_test)


def growth_of(result: Result) -> Growth:
    """Centiles of people from the first draw of a result."""
    if result.numbers is None:
        return staged.by_one_noise(result)
    given = result.dataset, result.scene, result.plan, result.numbers
    return cached.value("Drawing the centiles", staged.released, result.budget, result.draw, result.model, given=given)


def growth_without_privacy(name: str) -> Growth:
    """The same when nothing is hidden. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Drawing the centiles without privacy", staged.without_privacy, name, given=given)


def plan_of(budget: Budget) -> BayesPlan:
    """The plan of Bayes cloaking at a budget."""
    return staged.best(budget, (cached.dataset(budget.dataset), scene(budget.dataset))).value


def _trio(ours: Result, paper: Result) -> Trio | None:
    """Errors of two releases of the same data; a page that got less than all is made again when more is there."""
    settings = ours.model.dataset, ours.model
    without = without_privacy_soon(*settings)
    if without is None:
        waiting.afterwards(lambda: without_privacy(*settings))
        return None
    return Trio(soon(*ours.chosen), soon(*paper.chosen), without)


def errors(model: Model, design: Design, draw: Draw) -> FloatArray:
    """Of every simulated release with these settings (D,), on people left out."""
    found = _errors_by(cached.answer, model, design, draw)
    assert found is not None  # it was waited for
    return found


def soon(model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """The same if it is there soon; else None, and a page that got that is made again when it is."""
    found = _errors_by(cached.soon, model, design, draw)
    if found is None:
        waiting.afterwards(lambda: errors(model, design, draw))
    return found


def _errors_by(get: Callable[..., Answer[Any] | None], model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """Errors that are kept, or by steps that ``get`` gives; None where it gives None. Likely next ones are wished for.

    Args:
        get: ``cached.answer`` or ``cached.soon``.
    """
    first, last = _steps(model, design, draw)
    budget, data = _budget(model, draw), cached.dataset(model.dataset)
    found: FloatArray | None = cached.find(*last)
    if found is None:
        title = CATALOGUE[design.mechanism].title
        held = get(f"Leaving people out: {title}", *first, given=(data,))
        if held is None:
            return None
        given: tuple[Any, ...] = (held.value,)
        if design.in_stages:
            numbers = get(f"Simulating {title}", _numbers, budget, given=given)
            if numbers is None:
                return None
            given = held.value, numbers.value
        found = cached.value(f"Errors of {title}", *last, given=given)
    if design.in_stages:
        cached.wish(*_next(budget, data))
    return found


def _foresee(model: Model, design: Design, draw: Draw) -> None:
    """An idle process begins with people left out, while a page that will ask for them computes something else."""
    (function, *settings), last = _steps(model, design, draw)
    if cached.find(*last) is None:
        cached.wish(Wish(function, tuple(settings), (cached.dataset(model.dataset),)))


Step = tuple[Any, ...]  # a function and its settings


def _steps(model: Model, design: Design, draw: Draw) -> tuple[Step, Step]:
    """What plans every fold, and what gives the errors, which are those of one draw, whichever it is."""
    if design.in_stages:
        budget = _budget(model, draw)
        return (_hold_stages, _planned(budget)), (_errors_read, budget, model)
    design = replace(design, focus="records")
    return (_hold, model, design), (_errors, model, design, replace(draw, draws=1, seed=SEED))


def opening(model: Model, draw: Draw) -> Iterator[Wish]:
    """The slow results of a page that opens with Bayes cloaking, without the steps that only lead to them."""
    name = model.dataset
    data, budget = cached.dataset(name), _budget(model, draw)
    given = data, scene(name)
    yield Wish(staged.plan_stages, (budget,), given)
    if exhibit(name).scene == "curve":
        yield Wish(staged.without_privacy, (name,), given)
    held = _hold_stages(data, _planned(budget))
    yield Wish(_errors_read, (budget, model), (held, _numbers(held, budget)))


def _next(budget: Budget, data: Dataset) -> Iterator[Wish]:
    for each in staged.likely(budget):
        held = cached.find(_hold_stages, _planned(each))
        yield Wish(_hold_stages, (_planned(each),), (data,)) if held is None else Wish(_numbers, (each,), (held,))


def _budget(model: Model, draw: Draw) -> Budget:
    return Budget(model.dataset, "records", draw.epsilon, draw.delta)


def _planned(budget: Budget) -> Budget:
    """The budget that folds are planned for."""
    return replace(budget, epsilon=rung(budget.epsilon))


def _hold(data: Dataset, model: Model, design: Design) -> list[Held]:
    """The plans do not depend on the budget: any will do."""
    return hold_out(mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01)), data, folds_of(data))


def _hold_stages(data: Dataset, budget: Budget) -> list[Held]:
    mechanism = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta, gap=PICTURE_GAP)
    return hold_out(mechanism, data, folds_of(data))


def _errors(held: list[Held], model: Model, design: Design, draw: Draw) -> FloatArray:
    draws = CATALOGUE[design.mechanism].simulated
    return held_out_errors(mechanism_of(model, design, draw), held, draws, SEED)


class LeftOutNumbers(NamedTuple):
    """Numbers of simulated draws without some of the people.

    Attributes:
        plan: they were measured by.
        measured: in model units, of the curve alone.
        values: curves by the automatic models where those people are (draws, P), in the output's unit.
    """

    plan: BayesPlan
    measured: Measured
    values: FloatArray


def _numbers(held: list[Held], budget: Budget) -> list[LeftOutNumbers]:
    """Of simulated draws on each fold, as in ``held_out_errors``; the budget is that of one draw."""
    mechanism, draws = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta), CATALOGUE["bayes"].simulated
    numbers = []
    for index, fold in enumerate(held):
        plan, rng = fold.plan_for(mechanism), np.random.default_rng([SEED, index])
        released = mechanism.measure(plan, fold.train, fold.X_test, rng, draws, mean=False)
        numbers.append(LeftOutNumbers(plan, released.measured[0]._replace(distances=None), released.samples))
    return numbers


def _errors_read(held: list[Held], numbers: list[LeftOutNumbers], _budget: Budget, model: Model) -> FloatArray:
    """RMSE on people left out of each draw (draws,), in the output's unit, read with a model. Not private."""
    curves = [each.values for each in numbers]
    if model != usual(model.dataset):
        curves = [
            staged.read(fold.train, fold.X_test, each.plan, each.measured, model).values
            for fold, each in zip(held, numbers, strict=True)
        ]
    return held_out_rmse([curve - fold.truth for curve, fold in zip(curves, held, strict=True)])
