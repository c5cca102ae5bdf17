"""Errors on people left out of a release that pages draw, from the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.evaluation.comparison import Held, held_out_errors, hold_out, plan_near, rung
from dpgp_core.mechanisms import CATALOGUE, BayesCloaking
from pages._ui.cloaking import plans, staged
from pages._ui.cloaking.results import Result
from pages._ui.cloaking.staged import LeftOutNumbers
from pages._ui.left_out import SEED, LeftOut, Trio, folds_of, without_privacy
from pages._ui.model import PICTURE_GAP, Budget, Design, Draw, Model, mechanism_of
from pages._ui.work import cached, waiting
from pages._ui.work.ahead import Wish


def trio(ours: Result, paper: Result) -> Trio:
    """Of two releases of the same data; a page that got less than all is made again when more is there."""
    return Trio(soon(*ours.chosen), soon(*paper.chosen), without_privacy(ours.model.dataset, ours.model))


def errors(model: Model, design: Design, draw: Draw) -> LeftOut:
    """Of a release with these settings."""
    model, design, draw = _concerned(model, design, draw)
    data, title = cached.dataset(model.dataset), CATALOGUE[design.mechanism].title
    function, settings = _held(model, design, draw)
    held = cached.value(f"Leaving people out: {title}", function, *settings, given=(data,))
    if not design.in_stages:
        return LeftOut(cached.value(f"Errors of {title}", _errors, model, design, draw, given=(held,)))
    budget = _budget(model, draw)
    numbers = cached.value(f"Simulating {title}", _numbers, budget, given=(held,))
    cached.wish(*_next(budget, data))
    return LeftOut(cached.value(f"Errors of {title}", _errors_read, budget, model, given=(held, numbers)))


def soon(model: Model, design: Design, draw: Draw) -> LeftOut | None:
    """The same if it is there soon; else None, and a page that got that is made again when it is."""
    concerned = _concerned(model, design, draw)
    function, settings = _held(*concerned)
    if cached.find(function, *settings) is None:
        data = cached.dataset(model.dataset)
        if cached.within(plans.PATIENCE_SECONDS, "Leaving people out", function, *settings, given=(data,)) is None:
            waiting.afterwards(lambda: errors(*concerned))
            return None
    return errors(*concerned)


def foresee(model: Model, design: Design, draw: Draw) -> None:
    """An idle process begins with it, while a page that will ask computes something else."""
    function, settings = _held(*_concerned(model, design, draw))
    cached.wish(Wish(function, settings, (cached.dataset(model.dataset),)))


def _concerned(model: Model, design: Design, draw: Draw) -> tuple[Model, Design, Draw]:
    """The settings as far as they matter: errors are those of one draw, whichever it is."""
    return model, replace(design, focus="records"), replace(draw, draws=1, seed=SEED)


def _next(budget: Budget, data: Dataset) -> Iterator[Wish]:
    for each in plans.likely(budget):
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
    """What plans every fold, and the settings that it depends on: not all that a slider moves."""
    return (_hold_stages, (_planned(_budget(model, draw)),)) if design.in_stages else (_hold, (model, design))


def _hold(data: Dataset, model: Model, design: Design) -> list[Held]:
    """What is planned does not depend on the budget: any will do."""
    return hold_out(mechanism_of(model, design, Draw(epsilon=1.0, delta=0.01)), data, folds_of(data))


def _hold_stages(data: Dataset, budget: Budget) -> list[Held]:
    mechanism = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta, gap=PICTURE_GAP)
    held = hold_out(mechanism, data, folds_of(data))
    for fold in held:
        plan_near(mechanism, fold)
    return held


def _errors(held: list[Held], model: Model, design: Design, draw: Draw) -> FloatArray:
    draws = CATALOGUE[design.mechanism].simulated
    return held_out_errors(mechanism_of(model, design, draw), held, draws, SEED, intervals=False).rmse


def _numbers(held: list[Held], budget: Budget) -> list[LeftOutNumbers]:
    return staged.left_out_numbers(held, budget, CATALOGUE["bayes"].simulated, SEED)


def _errors_read(held: list[Held], numbers: list[LeftOutNumbers], _budget: Budget, model: Model) -> FloatArray:
    return staged.left_out_errors(held, numbers, model)
