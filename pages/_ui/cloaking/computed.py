"""Cached results of the pages that show a release, and their errors on people left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.evaluation import comparison as baseline
from dpgp_core.evaluation.comparison import HeldOutFold, held_out_errors
from dpgp_core.evaluation.errors import held_out_rmse
from dpgp_core.gp.uncertainty import Predictive
from dpgp_core.mechanisms import CATALOGUE
from dpgp_core.table import Dataset
from pages._ui import left_out
from pages._ui.cloaking import results, staged
from pages._ui.cloaking.results import HeldOutErrors, Intervals, Numbers, Result, Scene
from pages._ui.cloaking.staged import Growth
from pages._ui.left_out import SEED, without_privacy, without_privacy_soon
from pages._ui.look import offers
from pages._ui.look.controls import HERE, Menu, menu
from pages._ui.look.sidebar import ReleaseSettings
from pages._ui.model import PAPER_DESIGN, Budget, Design, Draw, Model, mechanism_of, usual
from pages._ui.work import cached, waiting
from pages._ui.work.cached import Get, Prefetch


def scene(name: str) -> Scene:
    """Return the test points of a shipped data set, by name."""
    return cached.value("Loading the data", results.scene_of, name, given=(cached.dataset(name),))


Beside = Literal["bayes", "published", "none"]
BESIDE: Menu[Beside] = menu(
    "Beside it",
    "beside",
    {"bayes": "Bayes cloaking beside it", "published": "Method of 2018 beside it", "none": "Alone"},
    buttons=True,
    section=HERE,
    earlier={"true": "published", "false": "none"},
)


def may_stand_beside(chosen: ReleaseSettings) -> list[Beside]:
    """Return the releases that may be shown next to the page's own: Bayes cloaking if it is quick, and that of 2018."""
    has_answer = "bayes" in offers.mechanisms(chosen.dataset) and not chosen.design.in_stages
    return ["bayes", "published"] if has_answer else ["published"]


def compared(chosen: ReleaseSettings, beside: Beside) -> tuple[Result, Result | None, HeldOutErrors | None]:
    """Return a release, the one next to it, and the errors of both.

    Errors are computed only with the overlay. If no other release is shown, they are compared with those of the first
    one that may be. Results for a map include how far privacy noise moves them.
    """
    settings = chosen.model, chosen.design, chosen.draw
    other = _beside(may_stand_beside(chosen)[0] if beside == "none" else beside, *settings)
    if chosen.overlay:
        _foresee(*settings)
    ours, *others = runs([settings, *(() if beside == "none" else (other,))])
    return ours, others[0] if others else None, _errors_of(settings, other) if chosen.overlay else None


def _beside(which: Beside, model: Model, _: Design, draw: Draw) -> tuple[Model, Design, Draw]:
    """Return settings of a release next to the page's own: same budget and number, and its own model if it has one."""
    draw = replace(draw, calibration="analytic", shrinkage=False)
    if which == "bayes":
        return usual(model.dataset), Design("bayes"), draw
    return model, PAPER_DESIGN, replace(draw, calibration="hall")


Settings = tuple[Model, Design, Draw]


def runs(every: Sequence[Settings]) -> list[Result]:
    """Return several releases under one progress bar. Those for a map know how far privacy noise moves them."""
    found, shares = [], [share for _, design, draw in every for share in (_duration(design, draw), 0.3)]
    with waiting.whole(shares) as part_is_done:
        for each in every:
            result = run(*each)
            part_is_done()
            found.append(with_noise(result) if result.scene.is_map else result)
            part_is_done()
    return found


def _duration(design: Design, draw: Draw) -> float:
    """Return about how long a release takes; noise that is added once is quickly drawn again."""
    return 2.0 * draw.draws if design.in_stages else 1.0


Given = tuple[Dataset, Scene]


def _takes_milliseconds(model: Model) -> bool:
    """Return whether matrices of a data set are small, so that a page computes with them sooner than it gets a turn."""
    return not exhibit(model.dataset).smooth_only


def run(model: Model, design: Design, draw: Draw) -> Result:
    """Return a release with these settings, computed in all its steps."""
    given = cached.dataset(model.dataset), scene(model.dataset)
    with waiting.whole([0.2, 0.2, _duration(design, draw)]) as part_is_done:
        plain = curve_without_privacy(model.dataset)
        part_is_done()
        step: Any = {"given": given, "here": _takes_milliseconds(model)}
        fit = cached.value("Computing the cloaking matrix C", results.stage_matrix, model, **step)
        part_is_done()
        return (_run_staged if design.in_stages else _run_once)(model, design, draw, given, plain, fit)


def run_published(model: Model, draw: Draw) -> Result:
    """Return the published method at the same budget and number: log-det objective, Hall's calibration."""
    return run(*_beside("published", model, PAPER_DESIGN, draw))


def _run_once(model: Model, design: Design, draw: Draw, given: Given, plain: FloatArray, fit: Predictive) -> Result:
    """Return a release of a mechanism that adds noise once. Only scaling and sampling the noise depend on the
    budget.
    """
    plan = cached.value("Designing the noise: λ and M", results.stage_plan, model, design, given=(*given, fit))
    stage_3: Any = {"given": (*given, plan), "here": True}
    samples, guarantee = cached.value("Drawing the noise", results.stage_draws, model, design, draw, **stage_3)
    one = replace(draw, draws=1, seed=1)  # intervals have the same width in every simulated release
    halves = cached.value("Simulating intervals", results.stage_halves, model, design, one, **stage_3)
    return Result(
        model,
        design,
        draw,
        *given,
        plain,
        fit,
        plan,
        samples,
        guarantee,
        Intervals.about(samples, *halves),
    )


def _run_staged(model: Model, design: Design, draw: Draw, given: Given, plain: FloatArray, fit: Predictive) -> Result:
    """Return a release of Bayes cloaking. Its numbers depend on the budget, but not on the model that reads them."""
    budget, is_read = Budget(model.dataset, draw.epsilon, draw.delta), model == usual(model.dataset)
    numbers: tuple[Numbers, ...] = ()
    with waiting.whole([*[1.0] * draw.draws, 0.0 if is_read else 0.6 * draw.draws]) as part_is_done:
        for number in _prefetched(budget, draw):
            numbers = (*numbers, first_numbers(budget, number))
            part_is_done()
        if is_read:
            samples = np.stack([each.curve for each in numbers])
            intervals = Intervals.together([each.intervals for each in numbers])
        else:
            read = {"given": (*given, numbers)}
            samples, intervals = cached.value("Reading the numbers", staged.curves, budget, draw, model, **read)
    return Result(
        model,
        design,
        draw,
        *given,
        plain,
        fit,
        None,
        samples,
        numbers[0].guarantee.repeated(draw.draws),
        intervals,
        budget=budget,
        numbers=numbers,
    )


def first_numbers(budget: Budget, number: int) -> Numbers:
    """Return the numbers of one simulated release of Bayes cloaking."""
    given = cached.dataset(budget.dataset), scene(budget.dataset)
    return cached.value(f"Measuring draw {number}", staged.measure, budget, number, given=given)


def _prefetched(budget: Budget, draw: Draw) -> range:
    """Return the numbers of all simulated releases. An idle process begins with the last while a page asks for the
    first.
    """
    every, given = range(draw.seed, draw.seed + draw.draws), (cached.dataset(budget.dataset), scene(budget.dataset))
    absent = (each for each in reversed(every[1:]) if cached.find(staged.measure, budget, each) is None)
    cached.prefetch(*(Prefetch(staged.measure, (budget, number), given) for number in absent))
    return every


def with_noise(result: Result) -> Result:
    """Return a result that knows how far privacy noise moves it, for Bayes cloaking too."""
    if result.intervals.noise is not None:
        return result
    given = result.dataset, result.scene, result.numbers[0]
    one = replace(result.draw, draws=1)
    noise = cached.value("Measuring the noise", staged.noise_half, result.budget, one, result.model, given=given)
    return replace(result, intervals=replace(result.intervals, noise=noise))


def curve_without_privacy(name: str) -> FloatArray:
    """Return the curve without privacy noise at every row of the scene (P,), in the output's unit. It is not
    private.
    """
    given = cached.dataset(name), scene(name)
    return cached.value("Fitting without privacy", _without_privacy, name, given=given)


def _without_privacy(data: Dataset, scene: Scene, _name: str) -> FloatArray:
    return baseline.without_privacy(data, scene.X_test)


def growth_of(result: Result) -> Growth:
    """Return the centiles of people from the first simulated release of a result."""
    if not result.numbers:
        return staged.by_one_noise(result)
    given = result.dataset, result.scene, result.numbers[0]
    return cached.value("Drawing the centiles", staged.released, result.budget, result.draw, result.model, given=given)


def growth_without_privacy(name: str) -> Growth:
    """Return the centiles of people without privacy noise. They are not private."""
    given = cached.dataset(name), scene(name)
    return cached.value("Drawing the centiles without privacy", staged.without_privacy, name, given=given)


def _errors_of(ours: Settings, other: Settings) -> HeldOutErrors | None:
    """Return the errors of two releases of the same data. A page that did not get all is drawn again when they are
    ready.
    """
    model = ours[0]
    without = without_privacy_soon(model.dataset, model)
    if without is None:
        waiting.afterwards(lambda: without_privacy(model.dataset, model))
        return None
    return HeldOutErrors(soon(*ours), soon(*other), other[1], without)


def errors(model: Model, design: Design, draw: Draw) -> FloatArray:
    """Return the error on people left out of each simulated release with these settings (D,)."""
    found = _errors_by(cached.answer, model, design, draw)
    assert found is not None  # the page waits for it
    return found


def soon(model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """Return these errors if they are ready soon; otherwise None, and the page is drawn again when they are."""
    found = _errors_by(cached.soon, model, design, draw)
    if found is None:
        waiting.afterwards(lambda: errors(model, design, draw))
    return found


def _errors_by(get: Get, model: Model, design: Design, draw: Draw) -> FloatArray | None:
    """Return errors that are kept, or that ``get`` computes step by step; None if ``get`` returns None.

    The errors are those of all simulated releases, whichever is on screen. Errors that are likely to be needed next are
    requested in advance.
    """
    if design.in_stages:
        budget = Budget(model.dataset, draw.epsilon, draw.delta)
        found = _errors_in_stages(get, budget, model)
        if found is not None:
            cached.prefetch(
                *(fold for each in _likely(budget) for fold in left_out.missing_folds(left_out.fold_residuals, each))
            )
        return found
    design = replace(design, focus="records")
    last = (_errors, model, design, replace(draw, draws=1, seed=SEED))
    kept: FloatArray | None = cached.find(*last)
    if kept is not None:
        return kept
    held = left_out.plans_held(get, model, design)
    if held is None:
        return None
    step: Any = {"given": (held,), "here": _takes_milliseconds(model)}
    made: FloatArray = cached.value(f"Errors of {CATALOGUE[design.mechanism].title}", *last, **step)
    return made


def _errors_in_stages(get: Get, budget: Budget, model: Model) -> FloatArray | None:
    """Return errors of Bayes cloaking. If the page's model was changed, the same releases are read with it."""
    if model == usual(model.dataset):
        found = left_out.simulated_errors(budget, get)
        return None if found is None else found.errors
    kept: FloatArray | None = cached.find(_errors_read, budget, model)
    if kept is not None:
        return kept
    numbers = left_out.of_all_folds(get, left_out.fold_measurements, budget)
    if numbers is None:
        return None
    read = get("Reading them with this model", _errors_read, budget, model, given=(numbers,))
    return None if read is None else read.value


def _foresee(model: Model, design: Design, draw: Draw) -> None:
    """Let an idle process begin with the people left out while the page computes something else."""
    if design.in_stages:
        function = left_out.fold_residuals if model == usual(model.dataset) else left_out.fold_measurements
        cached.prefetch(*left_out.missing_folds(function, Budget(model.dataset, draw.epsilon, draw.delta)))
        return
    design = replace(design, focus="records")
    if cached.find(_errors, model, design, replace(draw, draws=1, seed=SEED)) is None:
        cached.prefetch(Prefetch(left_out.hold, (model, design), (cached.dataset(model.dataset),)))


def opening(name: str) -> Iterator[Prefetch]:
    """Yield the slow results with which a page opens for a data set, besides its errors. No control changes them."""
    given = cached.dataset(name), scene(name)
    yield Prefetch(_without_privacy, (name,), given)
    if exhibit(name).scene == "curve":
        yield Prefetch(staged.without_privacy, (name,), given)


def _likely(budget: Budget) -> list[Budget]:
    """Return the budgets that are one step of a slider away."""
    return [
        *(replace(budget, epsilon=float(each)) for each in offers.neighbours(offers.EPSILONS, budget.epsilon)),
        *(replace(budget, delta=each) for each in offers.neighbours(offers.DELTAS, budget.delta)),
    ]


def _errors(held: list[HeldOutFold], model: Model, design: Design, draw: Draw) -> FloatArray:
    draws = CATALOGUE[design.mechanism].simulated
    return held_out_errors(mechanism_of(model, design, draw), held, draws, SEED)


def _errors_read(
    parts: list[left_out.FoldMeasurements],
    budget: Budget,
    model: Model,
    *,
    progress: Callable[[float], None] = lambda fraction: None,
) -> FloatArray:
    """Return the RMSE on people left out (D,) of simulated releases read with a model. It is not private."""
    residuals = []
    for fold, measured in parts:
        residuals.append(staged.read(fold.train, fold.X_test, measured, budget, model).values - fold.truth)
        progress(len(residuals) / len(parts))
    return held_out_rmse(residuals)
