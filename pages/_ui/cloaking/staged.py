"""Bayes cloaking on a page, in three stages: what is measured, the numbers, and how they are read. No streamlit here.

Plan and numbers rest on the automatic models, so they depend on inputs, outputs and budget alone; the numbers are read
with the page's model, mixed with its neighbours and the automatic ones, which is post-processing and spends nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.engine import together
from dpgp_core.bayes.filter_records import record_filter
from dpgp_core.bayes.mixture import MixtureUncertainty
from dpgp_core.bayes.models import Model as Mixed
from dpgp_core.data import Dataset
from dpgp_core.evaluation.comparison import Held, plan_near
from dpgp_core.evaluation.errors import rmse
from dpgp_core.measurement.noise import Apart, NumberedDraws
from dpgp_core.mechanisms import BayesCloaking
from dpgp_core.mechanisms.bayes_cloaking import BayesPlan, BayesRelease
from pages._ui.cloaking.results import LEVEL, Draws, Ends, Intervals, Numbers, Outcome, Scene
from pages._ui.model import PICTURE_GAP, Budget, Model, usual


class LeftOutNumbers(NamedTuple):
    """What simulated draws without some of the people released.

    Attributes:
        plan: they were measured by.
        numbers: in model units, of the curve alone.
        values: curves by the automatic models where those people are (draws, P), in the output's unit.
    """

    plan: BayesPlan
    numbers: Numbers
    values: FloatArray


def plan_stages(dataset: Dataset, scene: Scene, budget: Budget) -> BayesPlan:
    """What each stage measures best; public."""
    weights = scene.at_records if budget.focus == "records" else None
    mechanism = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta, weights=weights, gap=PICTURE_GAP)
    half_range = dataset.output_range / dataset.y_scale / 2
    return mechanism.plan(dataset.X, scene.X_test, x_box=dataset.x_box, half_range=half_range)


def measure(dataset: Dataset, scene: Scene, plan: BayesPlan, draws: Draws) -> Numbers:
    """Numbered draws, side by side where that fits into memory; each is the same beside any others.

    Stages choose how narrowly they clip by what the curve gains where it is drawn, so all of the scene enters.
    """
    mechanism = BayesCloaking(epsilon=draws.budget.epsilon, delta=draws.budget.delta)

    def some(first: int, count: int) -> BayesRelease:
        rng = NumberedDraws(first, count)
        return mechanism.measure(plan, dataset, scene.X_test, rng, count, mean=False)

    try:
        released = [some(draws.first, draws.count)]
    except Apart:
        released = [some(number, 1) for number in range(draws.first, draws.first + draws.count)]
    promise = released[0].guarantee
    measured = together([part for each in released for part in each.measured])
    return Numbers(measured, promise if len(released) == 1 else promise.repeated(draws.count))


def models(dataset: Dataset, plan: BayesPlan, model: Model) -> tuple[Mixed, ...]:
    """The page's model, its neighbours and the automatic ones; these alone where the page's model was not touched."""
    if model == usual(model.dataset):
        return plan.models
    declared = BayesCloaking(epsilon=1.0, delta=0.01, kernels=(model.build(),), noise_variances=(model.noise,))
    return declared.models(dataset.x_box, plan.half_range)


def read(dataset: Dataset, X_test: FloatArray, plan: BayesPlan, numbers: Numbers, model: Model) -> MixtureUncertainty:
    """What the numbers say at X_test (P, D)."""
    mixed = models(dataset, plan, model)
    filtered = record_filter(mixed, dataset.X, X_test, public=plan.public)
    prediction = filtered.read_and_predict(numbers.measured.stages)
    return MixtureUncertainty(
        prediction=filtered.with_people(prediction, numbers.measured.distances),
        bounds=dataset.y_bounds,
        midpoint=dataset.midpoint,
        y_scale=dataset.y_scale,
    )


def left_out_numbers(held: Sequence[Held], budget: Budget, draws: int, seed: int) -> list[LeftOutNumbers]:
    """Of simulated draws on each fold, as in ``held_out_errors``.

    Args:
        held: each fold.
        budget: of one draw.
        draws: simulated releases.
        seed: of the simulation.
    """
    mechanism = BayesCloaking(epsilon=budget.epsilon, delta=budget.delta)
    numbers = []
    for index, fold in enumerate(held):
        plan, rng = plan_near(mechanism, fold), np.random.default_rng([seed, index])
        released = mechanism.measure(plan, fold.train, fold.X_test, rng, draws, mean=False)
        of_curve = Numbers(released.measured[0]._replace(distances=None), released.guarantee)
        numbers.append(LeftOutNumbers(plan, of_curve, released.samples))
    return numbers


def left_out_errors(held: Sequence[Held], numbers: Sequence[LeftOutNumbers], model: Model) -> FloatArray:
    """RMSE on people left out of each draw (draws,), in the output's unit, read with a model. Not private."""
    curves = [each.values for each in numbers]
    if model != usual(model.dataset):
        curves = [
            read(fold.train, fold.X_test, each.plan, each.numbers, model).values
            for fold, each in zip(held, numbers, strict=True)
        ]
    missed = [curve - fold.truth for curve, fold in zip(curves, held, strict=True)]
    return rmse(np.concatenate(missed, axis=1), np.zeros(1))


def outcome(
    dataset: Dataset,
    scene: Scene,
    plan: BayesPlan,
    numbers: Numbers,
    nonprivate: FloatArray,
    _draws: Draws,
    model: Model,
) -> tuple[Outcome, Intervals]:
    """Released curves and their intervals.

    Args:
        dataset: the records.
        scene: where.
        plan: from ``plan_stages``.
        numbers: from ``measure``.
        nonprivate: the curve without privacy (P,), in the output's unit.
        model: read with it, among others.
    """
    uncertainty = read(dataset, scene.X_test, plan, numbers, model)
    published = Outcome(samples=uncertainty.values, guarantee=numbers.guarantee, scene=scene, nonprivate=nonprivate)
    ends = Ends(*uncertainty.interval(LEVEL, "outputs")), Ends(*uncertainty.interval(LEVEL, "function"))
    return published, Intervals(*ends, scatter=uncertainty.scatter[0])
