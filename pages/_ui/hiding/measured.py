"""Step about the measurements of Bayes cloaking: what one simulated release measured in each stage."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from dpgp_core.arrays import FloatArray
from dpgp_core.bayes.dispersion import predict_release
from dpgp_core.bayes.prediction import predict
from dpgp_core.bayes.tuning import TUNING
from dpgp_core.evaluation.limits import least_error
from dpgp_core.table import Dataset
from pages._ui.cloaking import computed as cloaking
from pages._ui.cloaking import staged, variants
from pages._ui.cloaking.figures import DRAWS
from pages._ui.cloaking.results import Numbers
from pages._ui.hiding import steps
from pages._ui.look import layout, settings, tables, text
from pages._ui.look.about import About, of_release
from pages._ui.look.controls import HERE, Slider
from pages._ui.look.plots import (
    HEIGHT,
    PRIVATE,
    TRUTH,
    axis,
    draw_line,
    faded,
    finish,
    level_line,
)
from pages._ui.look.text import Metric
from pages._ui.model import Budget, Draw, usual
from pages._ui.work import cached

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

NUMBER = 1  # of the draw


@dataclass(frozen=True, eq=False)
class Measured:
    """What one simulated release measured, and the errors that the models expect of its curve. It is public.

    Attributes:
        settings: the budget, on which it depends besides the number of the release.
        strategies: B of each stage (r, n), with a column for each record. Rows are ordered by decreasing weight, and
            the largest entry of each is positive.
        expected: root mean square error of the curve at the records after each stage (S,), in the output's unit. It
            falls on average over releases; in a single one it may rise, if its numbers favour models that disagree.
        unmeasured: expected error before anything is measured.
        unbuyable: expected error if every outcome were known.
    """

    settings: Budget
    strategies: tuple[FloatArray, ...]
    expected: FloatArray
    unmeasured: float
    unbuyable: float

    @property
    def ranks(self) -> tuple[int, ...]:
        """Count of numbers that each stage measures."""
        return tuple(len(B) for B in self.strategies)

    @property
    def error(self) -> float:
        """Expected error of the whole release."""
        return float(self.expected[-1])

    @property
    def price(self) -> float:
        """Error added by privacy, as a root mean square, because squares of errors add up."""
        return math.sqrt(max(self.error**2 - self.unbuyable**2, 0.0))


def describe(dataset: Dataset, numbers: Numbers, budget: Budget) -> Measured:
    """Return the strategies of one simulated release, and the expected errors after each of its stages.

    After a stage, the models have the probabilities that follow from the numbers so far. ``unbuyable`` uses those after
    the last stage, whose expected error is that of the release and includes what its intervals allow for.
    """
    X, stages = dataset.X, numbers.measured.stages
    filtered = staged.filter_for(dataset, budget, usual(budget.dataset))
    assert numbers.measured.counts is not None
    filtered = filtered.with_counts(numbers.measured.counts)
    after = [predict(filtered, filtered.given(stages[:count]), X) for count in range(len(stages))]
    after.append(predict_release(filtered, filtered.given(stages), numbers.measured, X))
    expected = dataset.y_scale * np.sqrt([float(each.variance.mean()) for each in after])
    mixed = staged.models(dataset, budget, usual(budget.dataset))
    weights = after[-1].weights[0].tolist()
    likely = [replace(model, weight=weight) for model, weight in zip(mixed, weights, strict=True) if weight]
    bins = filtered.bins.index(X)
    return Measured(
        settings=budget,
        strategies=tuple(_upright(stage.B)[:, bins] for stage in stages),
        expected=expected[1:],
        unmeasured=float(expected[0]),
        unbuyable=dataset.y_scale * least_error(likely, X, X),
    )


def _upright(B: FloatArray) -> FloatArray:
    """Return each row with a positive largest entry: -b y + noise contains as much information as b y + noise."""
    sign = np.where(-B.min(axis=1) > B.max(axis=1), -1.0, 1.0)
    return np.asarray(B * sign[:, None])


_SECONDS = 0.7  # for which a row is highlighted in the animation


def rows_figure(measured: Measured, data: Dataset, stage: int) -> go.Figure:
    """Draw the rows of B of a stage (1, 2, ...) over the first input: all of them pale, and each once more for the
    animation.
    """
    order = np.argsort(data.X[:, 0], kind="stable")
    figure, x = go.Figure(), data.X[order, 0]
    rows = measured.strategies[stage - 1][:, order].round(4)
    for index, row in enumerate(rows, 1):
        draw_line(figure, x, row, f"number {index}", faded(PRIVATE, 0.6), width=1)
    for index, row in enumerate(rows):
        draw_line(figure, x, row, "", PRIVATE, width=2.6, legendgroup=DRAWS, hoverinfo="skip")
        figure.data[-1].opacity = float(index == 0)  # the others are shown by the animation
    figure.update_traces(showlegend=False)
    level_line(figure, 0, {"color": TRUTH, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=axis(data.x_names[0], data.x_units[0]), range=[x[0], x[-1]])
    figure.update_yaxes(title=f"weight of each {data.y_name} in the sum", range=[-1.05, 1.05])
    return finish(figure, HEIGHT)


_STAGE = Slider(
    "stage",
    "Stage",
    TUNING.stages,
    tuple(range(1, TUNING.stages + 1)),
    help="Each stage measures in more detail than the one before. At small ε there are only three.",
    section=HERE,
)


def show(dataset: str, draw: Draw, top: DeltaGenerator) -> None:
    """Draw the rows of B of a stage, and the parts of the expected error."""
    data, budget = cached.dataset(dataset), Budget(dataset, draw.epsilon, draw.delta)
    measured = measured_at(budget)
    with top:
        layout.headline(answer(measured, data))
    stage = min(settings.value_of(_STAGE), len(measured.strategies))
    player = st.container()
    rows = cached.drawn(rows_figure, measured, data, stage, of=(budget, stage))
    numbers = tables.of_figure(rows)
    alt = row_of(measured, data, stage)
    caption = f"Each line is one sum of stage {stage}: the weight of the people of that {data.x_names[0]} in it."
    steps.chart(rows, "rows_of_B", _about(data, budget, alt), numbers, caption=caption)
    variants.player(
        {"rows_of_B": rows},
        player,
        f"{measured.ranks[stage - 1]} sums, one by one",
        measured.ranks[stage - 1],
        _SECONDS,
        still="The first",
    )
    layout.metrics(metrics(measured, data.y_unit), "measured")
    with st.expander("Table of the weights"):
        layout.table(numbers, f"{dataset}_B_stage_{stage}", CHOSEN)
    st.caption(f"Simulated release {NUMBER}. Another one plans its later stages differently.")


def _about(data: Dataset, budget: Budget, shows: str) -> About:
    made = f"Bayes cloaking, simulated release {NUMBER}"
    return of_release(data, budget.mechanism.guarantee, made, shows, finding=shows)


def measured_at(budget: Budget) -> Measured:
    """Return what the release at one budget measured."""
    public = cached.dataset(budget.dataset), cloaking.first_numbers(budget, NUMBER)
    return cached.value("What the models expect", describe, budget, given=public)


CHOSEN = "The weights were chosen from public values and from numbers released before."


def answer(measured: Measured, data: Dataset) -> str:
    """Return the headline: the number of sums, and the expected error."""
    return (
        f"Bayes cloaking adds no noise to a finished curve. It measures **{sum(measured.ranks)} noisy sums** of "
        f"{data.y_name}s, in {len(measured.ranks)} stages, and computes the curve from them. At epsilon = "
        f"{measured.settings.epsilon:g} the expected error of the curve is "
        f"**{text.number(measured.error)} {data.y_unit}**."
    )


def row_of(measured: Measured, data: Dataset, stage: int) -> str:
    """Return what one curve of the picture means."""
    later = (
        f"Stage {stage} measures each {data.y_name} only near the curve known so far, so that less noise protects it."
        if stage > 1
        else f"Stage 1 knows nothing yet: each {data.y_name} may lie anywhere within the bounds."
    )
    return (
        f"Each line is one sum of stage {stage}, which measures {measured.ranks[stage - 1]} sums of {data.n} people. "
        f"Its height is the weight of the people of that {data.x_names[0]}. {later} {CHOSEN}"
    )


def metrics(measured: Measured, unit: str) -> list[Metric]:
    """Return the parts of the expected error as metrics."""
    of = "Of the curve where people are, as the models expect it from the released numbers."
    rows = (
        ("Expected error of the curve", measured.error, "given what was released"),
        ("Remains at any budget", measured.unbuyable, "every outcome known"),
        ("Privacy costs", measured.price, "root of the difference of squares"),
        ("Before any measurement", measured.unmeasured, "the prior alone"),
    )
    return [Metric(label, f"{text.number(error)} {unit}", note, of) for label, error, note in rows]
