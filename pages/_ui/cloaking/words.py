"""Results to tables and to the figures quoted in sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from dpgp_core.arrays import FloatArray
from dpgp_core.mechanisms.bayes_release import BayesPlan
from pages._ui.cloaking import staged
from pages._ui.cloaking.results import LEVEL, Result
from pages._ui.look import glossary, text
from pages._ui.look.metric import Metric
from pages._ui.look.plots import axis
from pages._ui.model import Draw


def at_records(result: Result, half: FloatArray) -> float:
    """Half of an interval (P,), median over the rows with a known truth."""
    return float(np.median(half[: result.outcome.scene.records]))


class Uncertain(NamedTuple):
    """What is uncertain about a typical record.

    Attributes:
        name: of a figure.
        meaning: of it.
        ours, other: half of the interval of ``LEVEL`` in two results.
    """

    name: str
    meaning: str
    ours: float
    other: float


def uncertainty(ours: Result, other: Result) -> Uncertain:
    """The privacy noise alone where both results add it once; else how far the curve may be from a released one."""
    one, two, level = ours.intervals, other.intervals, f"{100 * LEVEL:g} %"
    if one.noise is None or two.noise is None:
        meaning = f"Half of the {level} interval of the curve at a typical record, privacy noise included."
        return Uncertain("Known to", meaning, at_records(ours, one.curve.half), at_records(other, two.curve.half))
    meaning = f"What privacy moves the curve by at a typical record, at most, in {level} of releases."
    return Uncertain("Noise", meaning, at_records(ours, one.noise), at_records(other, two.noise))


Shown = Callable[[float], str]  # formats a value in the output's unit


def where(result: Result, shown: Shown) -> str:
    """Where what a map of the result opens with is least and most, among the places of the records."""
    noise, labels = result.intervals.noise, result.outcome.scene.labels
    assert labels is not None
    what, half = ("uncertainty", result.intervals.curve.half) if noise is None else ("noise", noise)
    half = half[: result.outcome.scene.records]
    least, most = (f"in {labels['borough'][row]} ({shown(half[row])})" for row in (half.argmin(), half.argmax()))
    return f"Where sales are, {what} is least {least} and most {most}."


def planned_for(result: Result) -> str:
    """The budget whose plan was measured by; nothing where it is the one asked for."""
    if result.planned_for is None:
        return ""
    epsilon, delta = result.planned_for
    return f"ε = {epsilon:g}" if delta == result.asked[2].delta else f"δ = {text.small(delta)}"


def meanwhile(result: Result, overlay: bool) -> str:
    """What is on screen until something better is computed; nothing where there is nothing better."""
    other, simulated, said = planned_for(result), len(result.outcome.draw_rmse), ""
    if other:
        said += f" Measured by the plan for {other}, which keeps this promise too, while the best one is made."
    if overlay and isinstance(result.plan, BayesPlan) and simulated < staged.SIMULATED_DRAWS:
        said += f" The error is that of {simulated} simulated releases so far."
    return said


def answer(ours: Result, paper: Result, draw: Draw, overlay: bool, shown: Shown, what: str) -> str:
    """The plain sentence under the question. Errors need the true data, so without the overlay it is about noise."""
    setting = f"At ε = {draw.epsilon:g} and δ = {text.small(draw.delta)} "
    if not overlay:
        found = uncertainty(ours, paper)
        if ours.intervals.noise is None:
            return (
                f"{setting}the {100 * LEVEL:g} % interval of the curve, privacy noise included, reaches "
                f"**{shown(found.ours)}** to either side at a typical record; the published method's "
                f"{shown(found.other)}."
            )
        return (
            f"{setting}privacy moves the curve at a typical record by at most **{shown(found.ours)}** in "
            f"{100 * LEVEL:g} of 100 releases; the published method needs {shown(found.other)}."
        )
    return (
        f"{setting}{what} is off by about **{shown(ours.outcome.mean_rmse)}** (root mean square); "
        f"without privacy {shown(ours.outcome.nonprivate_rmse)}, with the published method "
        f"{shown(paper.outcome.mean_rmse)}."
    )


def release_metrics(ours: Result, paper: Result, overlay: bool, shown: Shown) -> list[Metric]:
    """The figures above a release, against the published method; errors only under the overlay."""
    guarantee = ours.outcome.guarantee
    found, most = uncertainty(ours, paper), "" if ours.intervals.noise is None else "≤ "
    draws = f"{guarantee.releases} draw{'s' if guarantee.releases > 1 else ''}"
    errors = [
        Metric(
            "Error of one release",
            shown(ours.outcome.mean_rmse),
            f"published {shown(paper.outcome.mean_rmse)}",
            glossary.OWN.help,
        ),
        Metric("Error without privacy", shown(ours.outcome.nonprivate_rmse), glossary.OWN.beside, glossary.OWN.help),
    ]
    return [
        *(errors if overlay else [_size(ours)]),
        Metric(
            f"{found.name}, {100 * LEVEL:g} %",
            most + shown(found.ours),
            f"published {most}{shown(found.other)}",
            found.meaning,
        ),
        Metric(
            "Spent on screen",
            f"ε = {text.at_most(guarantee.proven_epsilon)}",
            f"{draws}, δ = {text.small(guarantee.budget.delta)}",
        ),
    ]


def free(result: Result) -> str:
    """What can be moved for nothing."""
    if not isinstance(result.plan, BayesPlan):
        return ""
    return "Kernel, lengthscale and noise variance only read these numbers: moving them is free."


def _size(result: Result) -> Metric:
    if isinstance(result.plan, BayesPlan):
        numbers = sum(stage.strategy.rank for stage in result.plan.stages)
        return Metric("Numbers measured", f"{numbers}", f"in {len(result.plan.stages)} stages")
    factor = result.plan.factor
    return Metric("Directions of noise", f"{factor.shape[1]}", f"of {len(factor)} test points")


def published_title(paper: Result) -> str:
    """Heading of the comparison; says so where Hall's formula is no promise."""
    held = paper.outcome.guarantee.established
    return "The published method" if held else "The published method (not established here)"


OVERLAY_NOTE = "Columns marked “not private” are the educational overlay."


def errors_alt(ours: Result, paper: Result) -> str:
    """Text alternative of the errors figure."""
    counts = [len(each.outcome.draw_rmse) for each in (ours, paper)]
    return (
        f"Errors of simulated releases at their own records: {counts[0]} of this setting orange, {counts[1]} of the "
        "published method purple. Computed with the true data, so not private."
    )


def curve_table(result: Result, overlay: bool, pinned: Result | None = None) -> pd.DataFrame:
    """One row a grid point: released draws, noise, a pinned draw; what is not private only under the overlay."""
    data, outcome, intervals = result.dataset, result.outcome, result.intervals
    grid = slice(outcome.scene.records, None)
    columns = {axis(data.x_names[0], data.x_units[0]): outcome.scene.X_test[grid, 0]}
    for index, sample in enumerate(outcome.samples, 1):
        columns[f"private draw {index} [{data.y_unit}]"] = sample[grid]
    if pinned is not None:
        columns[f"pinned (A) [{data.y_unit}]"] = pinned.outcome.samples[0, grid]
    for what, ends in (("the curve", intervals.curve), (f"one more {data.y_name}", intervals.output)):
        for name, end in zip(("from", "to"), ends.of(0)[:, grid], strict=True):
            columns[f"{100 * LEVEL:g} % of {what}, {name} [{data.y_unit}]"] = end
    if intervals.noise is not None:
        columns[f"± {100 * LEVEL:g} %: privacy noise [{data.y_unit}]"] = intervals.noise[grid]
    if overlay:
        columns[f"fit without noise [{data.y_unit}] (not private)"] = outcome.nonprivate[grid]
    return pd.DataFrame(columns).round(4)


def curves_alt(result: Result, colour: str) -> str:
    """Text alternative of the curves figure."""
    data, scene = result.dataset, result.outcome.scene
    grid = slice(scene.records, None)
    x, half = scene.X_test[grid, 0], result.intervals.output.half[grid]
    least, most = int(half.argmin()), int(half.argmax())
    return (
        f"{data.y_name.capitalize()} against {data.x_names[0]}. The {100 * LEVEL:g} % interval for one more "
        f"{data.y_name} about a released curve ({colour}), privacy noise included, is narrowest, "
        f"± {text.number(half[least])} {data.y_unit}, at {text.number(x[least])} {data.x_units[0]} and widest, "
        f"± {text.number(half[most])} {data.y_unit}, at {text.number(x[most], 3)} {data.x_units[0]}."
    )
