"""Results of the pages that release, and their errors on people left out, from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation import comparison as baseline
from dpgp_core.evaluation.comparison import Held, held_out_errors, hold_out, rung
from dpgp_core.gp.uncertainty import Predictive
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan
from dpgp_core.table import Dataset
from pages._ui.cloaking import results, staged
from pages._ui.cloaking.results import Draws, Intervals, Result, Scene
from pages._ui.cloaking.staged import Given, Growth, LeftOutNumbers
from pages._ui.left_out import SEED, Trio, folds_of, without_privacy, without_privacy_within
from pages._ui.model import PAPER_DESIGN, PICTURE_GAP, Budget, Design, Draw, Model, mechanism_of
from pages._ui.work import cached, waiting
from pages._ui.work.cached import Wish
from pages._ui.work.jobs import Answer


def scene(name: str) -> Scene:
    """The test points of a shipped dataset, by name."""
    return cached.value("Loading the data", results.scene_of, name, given=(cached.dataset(name),))


def run(model: Model, design: Design, draw: Draw, *, meanwhile: bool = False) -> Result:
    """All stages.

    Args:
        model, design, draw: settings.
        meanwhile: whether the nearest plan that is ready may measure first, and the page be made again with the best
            one (see ``staged.soon``).
    """
    public = cached.dataset(model.dataset), scene(model.dataset)
    fit = cached.answer("Computing the cloaking matrix C", results.stage_matrix, model, given=public)
    if design.in_stages:
        return _run_staged(model, design, draw, public, fit, meanwhile)
    return _run_once(model, design, draw, public, fit)


def _run_once(model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive]) -> Result:
    """Of a mechanism that adds noise once: only scaling and drawing it depend on the budget."""
    stage_2 = (*given, fit.value)
    plan = cached.answer("Designing the noise: λ and M", results.stage_plan, model, design, given=stage_2)
    stages = (*given, plan.value)
    stage_3 = (*stages, curve_without_privacy(model.dataset))
    outcome = cached.answer("Drawing the noise", results.stage_outcome, model, design, draw, given=stage_3, here=True)
    a_draw = replace(draw, draws=1, seed=1)  # intervals are as wide for every draw
    halves = cached.answer("Simulating intervals", results.stage_halves, model, design, a_draw, given=stages, here=True)
    return Result(
        model,
        design,
        draw,
        given[0],
        fit.value,
        plan.value,
        outcome.value,
        Intervals.about(outcome.value.samples, *halves.value),
        times={"C": fit, "λ, M": plan, "scale, draw": outcome, "intervals": halves},
    )


def _run_staged(
    model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive], meanwhile: bool
) -> Result:
    """Of Bayes cloaking: plan and numbers depend on the budget, and not on the model that reads them."""
    budget = Budget(model.dataset, design.focus, draw.epsilon, draw.delta)
    plan, budget = staged.soon(budget, given) if meanwhile else (staged.best(budget, given), budget)
    stages, draws = (*given, plan.value), Draws(budget, draw.seed, draw.draws)
    numbers = cached.answer("Measuring", staged.measure, draws, given=stages)
    reading = (*stages, numbers.value, curve_without_privacy(model.dataset))
    read = cached.answer("Reading the numbers", staged.outcome, draws, model, given=reading)
    mixed = replace(plan.value, models=staged.models(given[0], plan.value, model))
    return Result(
        model,
        design,
        draw,
        given[0],
        fit.value,
        mixed,
        *read.value,
        draws=draws,
        numbers=numbers.value,
        times={"C": fit, "plan": plan, "numbers": numbers, "reading": read},
    )


def growth_of(result: Result) -> Growth:
    """Centiles of people from the first draw of a result."""
    if result.numbers is None:
        return staged.by_one_noise(result)
    given = result.dataset, result.outcome.scene, result.plan, result.numbers
    return cached.value("Drawing the centiles", staged.released, result.draws, result.model, given=given)


def growth_without_privacy(name: str) -> Growth:
    """The same when nothing is hidden. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Drawing the centiles without privacy", staged.without_privacy, name, given=given)


def plan_of(budget: Budget) -> BayesPlan:
    """The plan of Bayes cloaking at a budget."""
    return staged.best(budget, (cached.dataset(budget.dataset), scene(budget.dataset))).value


def curve_without_privacy(name: str) -> FloatArray:
    """The curve when nothing is hidden at every row of the scene (P,), in the output's unit. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Fitting without privacy", _without_privacy, name, given=given)


def run_published(model: Model, draw: Draw) -> Result:
    """The published method at the same budget and draw: log-det objective, Hall's calibration."""
    hall = replace(draw, calibration="hall", shrinkage=False)
    return run(model, PAPER_DESIGN, hall)


def _without_privacy(data: Dataset, scene: Scene, _name: str) -> FloatArray:
    return baseline.without_privacy(data, scene.X_test)


def trio(ours: Result, paper: Result) -> Trio | None:
    """Of two releases of the same data; a page that got less than all is made again when more is there."""
    settings = ours.model.dataset, ours.model
    without = without_privacy_within(staged.PATIENCE_SECONDS, *settings)
    if without is None:
        waiting.afterwards(lambda: without_privacy(*settings))
        return None
    return Trio(soon(*ours.chosen), soon(*paper.chosen), without)


def errors(model: Model, design: Design, draw: Draw) -> FloatArray:
    """Of every simulated release with these settings (D,), on people left out."""
    model, design, draw = _concerned(model, design, draw)
    if (kept := _kept(model, design, draw)) is not None:
        return kept
    data, title = cached.dataset(model.dataset), CATALOGUE[design.mechanism].title
    function, settings = _held(model, design, draw)
    held = cached.value(f"Leaving people out: {title}", function, *settings, given=(data,))
    if not design.in_stages:
        return cached.value(f"Errors of {title}", _errors, model, design, draw, given=(held,))
    budget = _budget(model, draw)
    numbers = cached.value(f"Simulating {title}", _numbers, budget, given=(held,))
    cached.wish(*_next(budget, data))
    return cached.value(f"Errors of {title}", _errors_read, budget, model, given=(held, numbers))


def soon(model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """The same if it is there soon; else None, and a page that got that is made again when it is."""
    concerned = _concerned(model, design, draw)
    if (kept := _kept(*concerned)) is not None:
        return kept
    function, settings = _held(*concerned)
    patience, data = staged.PATIENCE_SECONDS, cached.dataset(model.dataset)
    held = cached.soon(patience, "Leaving people out", function, *settings, given=(data,))
    ready = held is not None
    if ready and design.in_stages:
        budget = _budget(model, draw)
        ready = cached.soon(patience, "Simulating releases", _numbers, budget, given=(held,)) is not None
    if not ready:
        waiting.afterwards(lambda: errors(*concerned))
        return None
    return errors(*concerned)


def foresee(model: Model, design: Design, draw: Draw) -> None:
    """An idle process begins with it, while a page that will ask computes something else."""
    concerned = _concerned(model, design, draw)
    function, settings = _held(*concerned)
    if _kept(*concerned) is None:
        cached.wish(Wish(function, settings, (cached.dataset(model.dataset),)))


def _kept(model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """Errors from the cache, without the results they follow from; those one step away are wished for."""
    budget = _budget(model, draw)
    settings = (_errors_read, budget, model) if design.in_stages else (_errors, model, design, draw)
    errors: FloatArray | None = cached.find(*settings)
    if errors is None:
        return None
    if design.in_stages:
        cached.wish(*_next(budget, cached.dataset(model.dataset)))
    return errors


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


def _concerned(model: Model, design: Design, draw: Draw) -> tuple[Model, Design, Draw]:
    """The settings as far as they matter: errors are those of one draw, whichever it is."""
    return model, replace(design, focus="records"), replace(draw, draws=1, seed=SEED)


def _next(budget: Budget, data: Dataset) -> Iterator[Wish]:
    for each in staged.likely(budget):
        held = cached.find(_hold_stages, _planned(each))
        yield Wish(_hold_stages, (_planned(each),), (data,)) if held is None else Wish(_numbers, (each,), (held,))


def _budget(model: Model, draw: Draw) -> Budget:
    return Budget(model.dataset, "records", draw.epsilon, draw.delta)


def _planned(budget: Budget) -> Budget:
    """The budget that folds are planned for."""
    return replace(budget, epsilon=rung(budget.epsilon))


def _held(
    model: Model, design: Design, draw: Draw
) -> tuple[Callable[..., list[Held]], tuple[Model | Design | Budget, ...]]:
    """The function that plans every fold, and the settings that it depends on: not all that a slider moves."""
    return (_hold_stages, (_planned(_budget(model, draw)),)) if design.in_stages else (_hold, (model, design))


def _hold(data: Dataset, model: Model, design: Design) -> list[Held]:
    """The plans do not depend on the budget: any will do."""
    return hold_out(mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01)), data, folds_of(data))


def _hold_stages(data: Dataset, budget: Budget) -> list[Held]:
    mechanism = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta, gap=PICTURE_GAP)
    return hold_out(mechanism, data, folds_of(data))


def _errors(held: list[Held], model: Model, design: Design, draw: Draw) -> FloatArray:
    draws = CATALOGUE[design.mechanism].simulated
    return held_out_errors(mechanism_of(model, design, draw), held, draws, SEED)


def _numbers(held: list[Held], budget: Budget) -> list[LeftOutNumbers]:
    return staged.left_out_numbers(held, budget, CATALOGUE["bayes"].simulated, SEED)


def _errors_read(held: list[Held], numbers: list[LeftOutNumbers], _budget: Budget, model: Model) -> FloatArray:
    return staged.left_out_errors(held, numbers, model)
