"""The part of How cloaking works about what Bayes cloaking measures."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpgp_core.data import Dataset
from pages._ui.cloaking import computed as cloaking
from pages._ui.hiding import measured_figures as figures
from pages._ui.hiding import steps, strategy
from pages._ui.hiding.strategy import Measured
from pages._ui.look import bound, frame, pictures, text
from pages._ui.look.picture import as_it_is
from pages._ui.look.plots import axis
from pages._ui.look.sheet import of_inputs
from pages._ui.look.text import Metric
from pages._ui.model import PICTURE_GAP, Budget, Draw
from pages._ui.work import cached

STAGES = (1, 2, 3, 4, 5)


def show(dataset: str, draw: Draw, top: DeltaGenerator) -> None:
    """Rows of B of a stage; on demand how many there are against epsilon, and what the expected error is made of."""
    data, budget = cached.dataset(dataset), Budget(dataset, "records", draw.epsilon, draw.delta)
    measured = plan_at(budget)
    with top:
        frame.heading(steps.TITLE, answer(measured, data))
    with bound.into(st.container()):
        stage = bound.choice("Stage", "stage", STAGES, STAGES[-1], help="Each stage looks closer than those before.")
    rows = cached.drawn(figures.rows, measured, data, stage, of=(budget, stage))
    said = row_of(measured, data, stage)
    pictures.chart(rows, "rows_of_B", said, as_it_is(rows, of_inputs(data, said)))
    frame.metrics(metrics(measured, data.y_unit), "measured")
    if bound.switch("How many sums, and what privacy costs", "more_measured"):
        _against_epsilon(data, measured, budget)
    with st.expander("Table of the weights"):
        frame.table(row_table(measured, data, stage), f"{dataset}_B_stage_{stage}", PUBLIC)
    st.caption(f"Planned to within {100 * PICTURE_GAP:g} % of what is avoidable, from public values alone.")


def _against_epsilon(data: Dataset, measured: Measured, budget: Budget) -> None:
    every = over_epsilon(budget)
    left, right = st.columns(2)
    with left:
        st.subheader("More epsilon, more numbers")
        st.markdown(growth(every))
        ranks = cached.drawn(figures.ranks, every, budget.epsilon, of=budget)
        pictures.chart(ranks, "ranks", RANKS_ALT, as_it_is(ranks, of_inputs(data, RANKS_ALT)))
    with right:
        st.subheader("What no budget buys, and what privacy costs")
        st.markdown(parts(measured, data.y_unit))
        split = cached.drawn(figures.split, every, budget.epsilon, data.y_unit, of=budget)
        said = split_alt(measured, data.y_unit)
        pictures.chart(split, "split", said, as_it_is(split, of_inputs(data, said)))


def plan_at(budget: Budget) -> Measured:
    """The plan of one budget."""
    public = cached.dataset(budget.dataset), cloaking.plan_of(budget)
    return cached.value("What the plan expects", strategy.describe, budget, given=public)


def over_epsilon(budget: Budget) -> tuple[Measured, ...]:
    """The plans over ``EPSILONS`` and the budget asked for, by epsilon."""
    epsilons = sorted({*map(float, strategy.EPSILONS), budget.epsilon})
    return tuple(plan_at(replace(budget, epsilon=epsilon)) for epsilon in epsilons)


PUBLIC = "Nothing here depends on any outcome."


def answer(measured: Measured, data: Dataset) -> str:
    """What is measured, and what comes of it."""
    return (
        f"Bayes cloaking adds no noise to a finished curve. It measures **{sum(measured.ranks)} noisy sums** of "
        f"{data.y_name}s, in {len(measured.ranks)} stages, and computes the curve from them. At epsilon = "
        f"{measured.settings.epsilon:g} the expected error of the curve is "
        f"**{text.number(measured.error)} {data.y_unit}**."
    )


def row_of(measured: Measured, data: Dataset, stage: int) -> str:
    """What one curve of the picture says."""
    later = (
        f"Stage {stage} looks at each {data.y_name} only near the curve known so far, so the same noise hides less."
        if stage > 1
        else f"Stage 1 knows nothing yet: each {data.y_name} may lie anywhere within the bounds."
    )
    return (
        f"Each line is one sum of stage {stage}, which measures {measured.ranks[stage - 1]} sums of {data.n} people. "
        f"Its height is the weight of the people of that {data.x_names[0]}. {later} {PUBLIC}"
    )


def growth(measured: tuple[Measured, ...]) -> str:
    """How the number of measurements grows."""
    low, high = measured[0], measured[-1]
    return (
        f"At epsilon = {low.settings.epsilon:g} the last stage measures {low.ranks[-1]} sums; at epsilon = "
        f"{high.settings.epsilon:g} it measures {high.ranks[-1]}. Only a sum that says more than its noise hides is "
        "worth it."
    )


def parts(measured: Measured, unit: str) -> str:
    """What the expected error is made of."""
    error, floor, price = (text.number(value) for value in (measured.error, measured.unbuyable, measured.price))
    return (
        f"The expected error of the curve is **{error} {unit}**. No budget buys **{floor} {unit}** of it. "
        f"**Privacy costs {price} {unit}** (squares add up: {floor}² + {price}² = {error}²)."
    )


def metrics(measured: Measured, unit: str) -> list[Metric]:
    """The split in three figures."""
    of = "Of the curve where people are, on average over what the models expect. Nobody's outcome was read."
    return [
        Metric("Expected error of the curve", f"{text.number(measured.error)} {unit}", "under the prior", of),
        Metric("No budget buys", f"{text.number(measured.unbuyable)} {unit}", "everybody known", of),
        Metric("Privacy costs", f"{text.number(measured.price)} {unit}", "root of the difference of squares", of),
        Metric("Nothing measured", f"{text.number(measured.unmeasured)} {unit}", "the prior alone", of),
    ]


def row_table(measured: Measured, data: Dataset, stage: int) -> pd.DataFrame:
    """One row a record: its public inputs and its weight in each number of a stage."""
    columns = {
        axis(name, unit): data.X[:, i] for i, (name, unit) in enumerate(zip(data.x_names, data.x_units, strict=True))
    }
    for index, row in enumerate(measured.strategies[stage - 1], 1):
        columns[f"weight in number {index}"] = row.round(4)
    return pd.DataFrame(columns).sort_values(axis(data.x_names[0], data.x_units[0]))


RANKS_ALT = "How many numbers each stage measures, against ε; darker bars are later stages."


def split_alt(measured: Measured, unit: str) -> str:
    """Text alternative of the split."""
    return (
        "Expected error of the curve against ε. "
        f"No budget buys {text.number(measured.unbuyable)} {unit} of it. {PUBLIC}"
    )
