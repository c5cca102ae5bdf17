"""The stages from the cache. Only the third and the intervals, both quick, depend on epsilon, delta or the draw."""

from __future__ import annotations

from dataclasses import replace

from datasets import exhibit
from dpgp_core.arrays import FloatArray
from dpgp_core.data import Dataset
from dpgp_core.gp.predictive import Predictive
from dpgp_core.mechanisms import Plan
from pages._ui.cloaking import pipeline
from pages._ui.cloaking.pipeline import Halves, Outcome, Result, Scene
from pages._ui.model import PAPER_DESIGN, Design, Draw, Model
from pages._ui.work import cached
from pages._ui.work.jobs import Answer


def scene(name: str) -> Scene:
    """Where the pages predict for a shipped dataset, by name."""
    return cached.value("Loading the data", _scene, name, given=(cached.dataset(name),))


def run(model: Model, design: Design, draw: Draw) -> Result:
    """All stages."""
    data, place = cached.dataset(model.dataset), scene(model.dataset)
    fit = _cloaking_matrix(model)
    plan = cached.answer("Designing the noise: λ and M", _plan, model, design, given=(data, place, fit.value))
    stages = (data, place, fit.value, plan.value)
    outcome = cached.answer("Drawing the noise", _outcome, model, design, draw, given=stages, here=True)
    a_draw = replace(draw, draws=1, seed=1)  # intervals are as wide for every draw
    halves = cached.answer(
        "Simulating intervals", _halves, model, design, a_draw, given=stages[:2] + stages[3:], here=True
    )
    return Result(
        settings=(model, design, draw),
        dataset=data,
        fit=fit.value,
        plan=plan.value,
        outcome=outcome.value,
        halves=halves.value,
        seconds={
            "C": fit.seconds,
            "λ, M": plan.seconds,
            "scale, draw": outcome.seconds,
            "intervals": halves.seconds,
        },
        computed=frozenset(
            name
            for name, computed in (
                ("C", fit.computed),
                ("λ, M", plan.computed),
                ("scale, draw", outcome.computed),
                ("intervals", halves.computed),
            )
            if computed
        ),
    )


def nonprivate(model: Model) -> FloatArray:
    """The fit without noise at every row of the scene (P,), in the output's unit. Not private."""
    data = cached.dataset(model.dataset)
    return data.in_data_units(_cloaking_matrix(model).value.C @ data.standardised())


def run_published(model: Model, draw: Draw) -> Result:
    """The published method at the same budget and draw: log-det objective, Hall's calibration."""
    hall = replace(draw, calibration="hall", shrinkage=False)
    return run(model, PAPER_DESIGN, hall)


def _cloaking_matrix(model: Model) -> Answer[Predictive]:
    given = (cached.dataset(model.dataset), scene(model.dataset))
    return cached.answer("Computing the cloaking matrix C", _fit, model, given=given)


def _scene(data: Dataset, name: str) -> Scene:
    shown = exhibit(name)
    return pipeline.make_scene(data, shown.scene, shown.drawn)


def _fit(data: Dataset, place: Scene, model: Model) -> Predictive:
    return pipeline.stage_matrix(data, place, model)


def _plan(data: Dataset, place: Scene, fit: Predictive, model: Model, design: Design) -> Plan:
    return pipeline.stage_plan(data, place, model, fit, design)


def _outcome(
    data: Dataset, place: Scene, fit: Predictive, plan: Plan, model: Model, design: Design, draw: Draw
) -> Outcome:
    return pipeline.stage_outcome(data, place, model, fit, plan, design, draw)


def _halves(data: Dataset, place: Scene, plan: Plan, model: Model, design: Design, draw: Draw) -> Halves:
    return pipeline.stage_halves(data, place, plan, model, design, draw)
