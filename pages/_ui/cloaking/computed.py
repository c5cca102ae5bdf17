"""Results of the pages that release, and their errors on people left out, from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation import comparison as baseline
from dpgp_core.evaluation.comparison import Held, held_out_errors, hold_out
from dpgp_core.evaluation.errors import held_out_rmse
from dpgp_core.gp.uncertainty import Predictive
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.table import Dataset
from pages._ui import left_out
from pages._ui.cloaking import results, staged
from pages._ui.cloaking.results import Intervals, Numbers, Result, Scene
from pages._ui.cloaking.staged import Growth
from pages._ui.left_out import SEED, Get, Trio, folds_of, without_privacy, without_privacy_soon
from pages._ui.look import offers
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.model import PAPER_DESIGN, Budget, Design, Draw, Model, mechanism_of, usual
from pages._ui.work import cached, waiting
from pages._ui.work.cached import Wish
from pages._ui.work.jobs import Answer


def scene(name: str) -> Scene:
    """The test points of a shipped dataset, by name."""
    return cached.value("Loading the data", results.scene_of, name, given=(cached.dataset(name),))


def compared(chosen: ReleaseSettings) -> tuple[Result, Result, Trio | None]:
    """A release and the published method beside it, as a page opens with them; and their errors under the overlay."""
    model, design, draw = chosen.model, chosen.design, chosen.draw
    if chosen.overlay:
        _foresee(model, design, draw)
    ours, paper = run(model, design, draw), run_published(model, draw)
    return ours, paper, _trio(ours, paper) if chosen.overlay else None


Given = tuple[Dataset, Scene]


def run(model: Model, design: Design, draw: Draw) -> Result:
    """All stages of a release with these settings."""
    given = cached.dataset(model.dataset), scene(model.dataset)
    fit = cached.answer("Computing the cloaking matrix C", results.stage_matrix, model, given=given)
    if design.in_stages:
        return _run_staged(model, design, draw, given, fit)
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


def _run_staged(model: Model, design: Design, draw: Draw, given: Given, fit: Answer[Predictive]) -> Result:
    """Of Bayes cloaking: the numbers depend on the budget, and not on the model that reads them."""
    budget = Budget(model.dataset, draw.epsilon, draw.delta)
    measured = [_measured(budget, number) for number in _wished(budget, draw)]
    numbers = tuple(each.value for each in measured)
    together = Answer(numbers, any(each.computed for each in measured), sum(each.seconds for each in measured))
    read = cached.answer("Reading the numbers", staged.curves, budget, draw, model, given=(*given, numbers))
    samples, intervals = read.value
    return Result(
        model,
        design,
        draw,
        *given,
        curve_without_privacy(model.dataset),
        fit.value,
        None,
        samples,
        numbers[0].guarantee.repeated(draw.draws),
        intervals,
        times={"C": fit, "numbers": together, "reading": read},
        budget=budget,
        numbers=numbers,
    )


def first_numbers(budget: Budget, number: int) -> Numbers:
    """What one numbered draw of Bayes cloaking released."""
    return _measured(budget, number).value


def _measured(budget: Budget, number: int) -> Answer[Numbers]:
    doing, data = f"Measuring draw {number}", cached.dataset(budget.dataset)
    return cached.answer(doing, staged.measure, budget, number, given=(data,))


def _wished(budget: Budget, draw: Draw) -> range:
    """The numbers of all draws: while a page asks for one after another, an idle process begins at the other end."""
    every, data = range(draw.seed, draw.seed + draw.draws), cached.dataset(budget.dataset)
    absent = (each for each in reversed(every[1:]) if cached.find(staged.measure, budget, each) is None)
    cached.wish(*(Wish(staged.measure, (budget, number), (data,)) for number in absent))
    return every


def curve_without_privacy(name: str) -> FloatArray:
    """The curve when nothing is hidden at every row of the scene (P,), in the output's unit. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Fitting without privacy", _without_privacy, name, given=given)


def _without_privacy(data: Dataset, scene: Scene, _name: str) -> FloatArray:
    return baseline.without_privacy(data, scene.X_test)


def growth_of(result: Result) -> Growth:
    """Centiles of people from the first draw of a result."""
    if not result.numbers:
        return staged.by_one_noise(result)
    given = result.dataset, result.scene, result.numbers[0]
    return cached.value("Drawing the centiles", staged.released, result.budget, result.draw, result.model, given=given)


def growth_without_privacy(name: str) -> Growth:
    """The same when nothing is hidden. Not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Drawing the centiles without privacy", staged.without_privacy, name, given=given)


def _trio(ours: Result, paper: Result) -> Trio | None:
    """Errors of two releases of the same data; a page that got less than all is made again when more is there."""
    settings = ours.model.dataset, ours.model
    without = without_privacy_soon(*settings)
    if without is None:
        waiting.afterwards(lambda: without_privacy(*settings))
        return None
    return Trio(soon(*ours.settings), soon(*paper.settings), without)


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


def _errors_by(get: Get, model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """Errors that are kept, or by steps that ``get`` gives; None where it gives None. Likely next ones are wished for.

    Errors are those of simulated releases, whichever draw is on screen.
    """
    if design.in_stages:
        budget = Budget(model.dataset, draw.epsilon, draw.delta)
        found = _errors_in_stages(get, budget, model)
        if found is not None:
            cached.wish(*(wish for each in _likely(budget) for wish in left_out.missing(left_out.simulated, each)))
        return found
    design = replace(design, focus="records")
    last = (_errors, model, design, replace(draw, draws=1, seed=SEED))
    kept: FloatArray | None = cached.find(*last)
    if kept is not None:
        return kept
    title = CATALOGUE[design.mechanism].title
    held = get(f"Leaving people out: {title}", _hold, model, design, given=(cached.dataset(model.dataset),))
    return None if held is None else cached.value(f"Errors of {title}", *last, given=(held.value,))


def _errors_in_stages(get: Get, budget: Budget, model: Model) -> FloatArray | None:
    """Errors of Bayes cloaking; where the page's model was moved, of the same releases read with it."""
    if model == usual(model.dataset):
        found = left_out.simulated_errors(budget, get)
        return None if found is None else found.errors
    kept: FloatArray | None = cached.find(_errors_read, budget, model)
    if kept is not None:
        return kept
    numbers = left_out.parts_of(get, left_out.numbers, budget)
    if numbers is None:
        return None
    read = get("Reading them with this model", _errors_read, budget, model, given=(numbers,))
    return None if read is None else read.value


def _foresee(model: Model, design: Design, draw: Draw) -> None:
    """An idle process begins with people left out, while a page that will ask for them computes something else."""
    if design.in_stages:
        function = left_out.simulated if model == usual(model.dataset) else left_out.numbers
        cached.wish(*left_out.missing(function, Budget(model.dataset, draw.epsilon, draw.delta)))
        return
    design = replace(design, focus="records")
    if cached.find(_errors, model, design, replace(draw, draws=1, seed=SEED)) is None:
        cached.wish(Wish(_hold, (model, design), (cached.dataset(model.dataset),)))


def opening(name: str) -> Iterator[Wish]:
    """The slow results of a page that opens with a data set, besides its errors."""
    if exhibit(name).scene == "curve":
        yield Wish(staged.without_privacy, (name,), (cached.dataset(name), scene(name)))


def _likely(budget: Budget) -> list[Budget]:
    """Budgets one step of a slider away."""
    return [
        *(replace(budget, epsilon=float(each)) for each in offers.neighbours(offers.EPSILONS, budget.epsilon)),
        *(replace(budget, delta=each) for each in offers.neighbours(offers.DELTAS, budget.delta)),
    ]


def _hold(data: Dataset, model: Model, design: Design) -> list[Held]:
    """The plans do not depend on the budget: any will do."""
    return hold_out(mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01)), data, folds_of(data))


def _errors(held: list[Held], model: Model, design: Design, draw: Draw) -> FloatArray:
    draws = CATALOGUE[design.mechanism].simulated
    return held_out_errors(mechanism_of(model, design, draw), held, draws, SEED)


def _errors_read(
    parts: list[left_out.Numbers],
    budget: Budget,
    model: Model,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> FloatArray:
    """RMSE on people left out of each simulated release (D,), in the output's unit, read with a model. Not private."""
    residuals = []
    for fold, measured in parts:
        residuals.append(staged.read(fold.train, fold.X_test, measured, budget, model).values - fold.truth)
        progress(len(residuals) / len(parts))
    return held_out_rmse(residuals)
